// Fuzz target: what a program may send to the device process, cut into pieces at any place, with the whole virtual GPU behind it.
import { ByteWriter } from '../../src/base/index.ts';
import type { Addon } from '../../src/runtime/addon.ts';
import { MessageType, PROTOCOL_VERSION } from '../../src/runtime/generated/messages.ts';
import { encodeMessage, MessageStream } from '../../src/runtime/protocol.ts';
import { Session, type SessionHost } from '../../src/runtime/session.ts';
import { SharedMemory } from '../../src/runtime/shared-memory.ts';
import { SimRuntime } from '../../src/runtime/sim-runtime.ts';
import { makeCodeObject } from '../support/make-code-object.ts';

const ADDRESS = 0x7000_0000_0000;

function message(type: number, id: number, write: (w: ByteWriter) => void = () => {}): Uint8Array {
  const w = new ByteWriter();
  write(w);
  return encodeMessage(type, BigInt(id), w.finish());
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const w = new ByteWriter();
  for (const part of parts) w.raw(part);
  return w.finish();
}

const hello = message(MessageType.Hello, 0, (w) => w.u32(PROTOCOL_VERSION).u32(1));
const three = (a: number, b: number, c: number) => (w: ByteWriter) => void w.u64(a).u64(b).u64(c);
const one = (a: number) => (w: ByteWriter) => void w.u64(a);

function seeds(): Uint8Array[] {
  return [
    joined(
      hello,
      message(MessageType.Allocate, 1, three(1000, 4096, 0)),
      message(MessageType.Allocate, 2, three(8192, 4096, ADDRESS)),
      message(MessageType.Map, 3, (w) =>
        w
          .u64(ADDRESS + 0x10000)
          .u64(4096)
          .u64(ADDRESS + 4096)
          .u64(3),
      ),
      message(MessageType.Unmap, 4, one(ADDRESS + 0x10000)),
      message(MessageType.Free, 5, one(ADDRESS)),
    ),
    joined(
      hello,
      message(MessageType.Adopt, 1, (w) => w.u64(ADDRESS).u64(0x4000)),
      message(MessageType.QueueCreate, 2, (w) =>
        w
          .u64(ADDRESS)
          .u64(ADDRESS + 0x3000)
          .u64(ADDRESS + 0x3008)
          .u64(ADDRESS + 0x3010)
          .u32(64)
          .u32(0),
      ),
      message(MessageType.Doorbell, 0, one(1)),
      message(MessageType.Kick, 0),
      message(MessageType.QueueDestroy, 3, one(1)),
      message(MessageType.Disown, 4, one(ADDRESS)),
    ),
    joined(
      hello,
      message(MessageType.Load, 1, (w) => w.raw(makeCodeObject())),
      message(MessageType.Unload, 2, one(1)),
    ),
  ];
}

let host: SessionHost | undefined;

function makeHost(): SessionHost {
  const addon: Addon = {
    mapMemory: () => 3,
    showFrame: () => {},
    viewFile: (_descriptor, _offset, size) => new ArrayBuffer(size),
    discard: () => {},
    wake: () => 0,
    peer: () => ({ pid: 1, uid: 0 }),
    duplicate: (descriptor) => descriptor,
    endWithParent: () => {},
  };
  const device = new SimRuntime({ target: 'gfx942' }, addon);
  return {
    device,
    memory: new SharedMemory(device, addon),
    hello: device.hello(),
    dispatch: (packet, signal) => device.dispatch(packet, signal),
    signalsChanged: () => Promise.resolve(),
    announceChange: () => {},
    stayAwake: () => {},
    // One session: what it shares is its own, and freed with the first of them.
    share: () => {},
    release: (address) => {
      if (device.offsetOf(address, 1) !== undefined) device.free(address);
    },
    explain: (error) => error,
    faulted: () => {},
  };
}

export default {
  name: 'runtime-messages',
  seeds,
  async run(bytes: Uint8Array): Promise<void> {
    host ??= makeHost();
    const stream = new MessageStream();
    const session = new Session(host, () => {});
    try {
      // Pieces whose length depends on the content, so that every header is cut somewhere.
      for (let at = 0; at < bytes.length; ) {
        const size = 1 + ((bytes[at] ?? 0) % 61);
        for (const received of stream.push(bytes.slice(at, at + size))) session.handle(received);
        at += size;
      }
    } finally {
      await session.close();
    }
  },
};
