// The messages between a program's runtime libraries and the device process. native/common/protocol.h is the same in C++ and says what
// each field means; a test compares the numbers of the two.
import { ByteReader, ByteWriter, WavesmithError } from '../base/index.ts';

export const PROTOCOL_VERSION = 1;
export const SOCKET_VARIABLE = 'WAVESMITH_SOCKET';
/** Longest payload that is accepted. */
export const MAX_PAYLOAD = 2 ** 28;
const HEADER = 16;

export const MessageType = {
  Hello: 1,
  Allocate: 2,
  Free: 3,
  Load: 4,
  Unload: 5,
  QueueCreate: 6,
  QueueDestroy: 7,
  Doorbell: 8,
  Kick: 9,
  Adopt: 10,
  Disown: 11,
  Map: 12,
  Unmap: 13,
  Reply: 100,
  Error: 101,
  Fault: 102,
  Log: 103,
} as const;

export const ErrorCode = {
  BadMessage: 1,
  OutOfMemory: 2,
  BadAddress: 3,
  WrongTarget: 4,
  BadCodeObject: 5,
  Unsupported: 6,
  Busy: 7,
} as const;
export type ErrorCodeValue = (typeof ErrorCode)[keyof typeof ErrorCode];

export const FaultKind = { Memory: 1, IllegalInstruction: 2, Trap: 3, Budget: 4, Strict: 5, Other: 6 } as const;
export type FaultKindValue = (typeof FaultKind)[keyof typeof FaultKind];

/** Byte offsets in a signal (64 bytes in shared memory). */
export const SIGNAL = {
  value: 8,
  deviceWaits: 28,
  startTicks: 32,
  endTicks: 40,
  sleepers: 48,
  futex: 52,
  size: 64,
} as const;

/** One received message. */
export interface Message {
  readonly type: number;
  readonly id: bigint;
  readonly payload: ByteReader;
}

/** Cuts a byte stream into messages. A header that no peer of ours sends is `runtime/bad-message`. */
export class MessageStream {
  private chunks: Uint8Array[] = [];
  private available = 0;

  /** Adds received bytes and returns the messages that are complete. */
  push(chunk: Uint8Array): Message[] {
    this.chunks.push(chunk);
    this.available += chunk.byteLength;
    const messages: Message[] = [];
    for (;;) {
      if (this.available < HEADER) return messages;
      const header = new ByteReader(this.peek(HEADER), 'message header');
      const size = header.u32(0);
      if (size > MAX_PAYLOAD) {
        throw new WavesmithError('runtime/bad-message', `A message of ${size} bytes was announced.`, {
          hint: 'The peer is not a Wavesmith runtime library of this version.',
        });
      }
      if (this.available < HEADER + size) return messages;
      this.take(HEADER);
      messages.push({
        type: header.u32(4),
        id: header.u64(8),
        payload: new ByteReader(this.take(size), 'message', 'runtime/bad-message'),
      });
    }
  }

  private peek(size: number): Uint8Array {
    const first = this.chunks[0] as Uint8Array;
    if (first.byteLength >= size) return first.subarray(0, size);
    const joined = new Uint8Array(this.available);
    let at = 0;
    for (const chunk of this.chunks) {
      joined.set(chunk, at);
      at += chunk.byteLength;
    }
    this.chunks = [joined];
    return joined.subarray(0, size);
  }

  private take(size: number): Uint8Array {
    if (size === 0) return new Uint8Array(0);
    const bytes = this.peek(size);
    const first = this.chunks[0] as Uint8Array;
    if (first.byteLength === size) this.chunks.shift();
    else this.chunks[0] = first.subarray(size);
    this.available -= size;
    return bytes;
  }
}

/** The bytes of a message. */
export function encodeMessage(type: number, id: bigint, payload: Uint8Array): Uint8Array {
  return new ByteWriter(HEADER + payload.byteLength).u32(payload.byteLength).u32(type).u64(id).raw(payload).finish();
}

/** u32 length and UTF-8 bytes. */
export function putText(w: ByteWriter, text: string): void {
  const bytes = new TextEncoder().encode(text);
  w.u32(bytes.byteLength).raw(bytes);
}

/** What a new program is told. */
export interface Hello {
  readonly devicePid: number;
  readonly memoryDescriptor: number;
  readonly computeUnits: number;
  readonly windowAddress: number;
  readonly windowSize: number;
  readonly wavefrontSize: number;
  readonly maxWorkgroupSize: number;
  readonly ldsBytes: number;
  readonly clockKhz: number;
  readonly target: string;
  readonly name: string;
}

export function encodeHello(h: Hello): Uint8Array {
  const w = new ByteWriter(128);
  w.u32(PROTOCOL_VERSION).u32(h.devicePid).u32(h.memoryDescriptor).u32(h.computeUnits);
  w.u64(h.windowAddress).u64(h.windowSize);
  w.u32(h.wavefrontSize).u32(h.maxWorkgroupSize).u32(h.ldsBytes).u32(h.clockKhz);
  putText(w, h.target);
  putText(w, h.name);
  return w.finish();
}

/** A symbol of a loaded code object. */
export interface LoadedSymbol {
  readonly name: string;
  readonly kind: 'variable' | 'kernel';
  readonly address: number;
  /** Variables: bytes. */
  readonly size: number;
  readonly kernargSize: number;
  readonly kernargAlignment: number;
  readonly groupSegment: number;
  readonly privateSegment: number;
  readonly dynamicStack: boolean;
}

export function encodeLoad(
  module: bigint,
  address: number,
  size: number,
  symbols: readonly LoadedSymbol[],
): Uint8Array {
  const w = new ByteWriter(64 + 96 * symbols.length);
  // The reply's struct ends with padding to 8 bytes.
  w.u64(module).u64(address).u64(size).u32(symbols.length).u32(0);
  for (const s of symbols) {
    w.u32(s.kind === 'kernel' ? 1 : 0)
      .u32(s.kernargSize)
      .u32(s.kernargAlignment)
      .u32(s.groupSegment)
      .u32(s.privateSegment)
      .u32(s.dynamicStack ? 1 : 0)
      .u64(s.address)
      .u64(s.size);
    putText(w, s.name);
  }
  return w.finish();
}
