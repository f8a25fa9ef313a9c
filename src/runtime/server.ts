// Room `runtime`: the device process of `wavesmith exec`: programs of the user connect, and the virtual GPU is their GPU.
// Begin with this file (connections), then session.ts (one program), aql-queue.ts (its packets) and sim-runtime.ts (its device).
//
// The device process's socket: accepts programs of the same user, one session each, one kernel on the device at a time.
// The address is abstract (unix(7)): nothing is left in the file system whoever dies when.
import { randomBytes } from 'node:crypto';
import { createServer, type OnReadOpts, type Server, Socket, type SocketConstructorOpts } from 'node:net';
import { WavesmithError } from '../base/index.ts';
import type { Addon } from './addon.ts';
import type { HelloReply } from './generated/messages.ts';
import { encodeMessage, MessageStream } from './protocol.ts';
import type { DispatchPacket, RuntimeDevice } from './runtime-device.ts';
import { Session, type SessionHost } from './session.ts';
import { SharedMemory } from './shared-memory.ts';

/** A Node socket's file descriptor; Node has no public name for it. */
interface SocketInternals {
  readonly _handle: { readonly fd: number } | null;
}

const READ_BYTES = 65536;
/**
 * sizeof sockaddr_un.sun_path (unix(7)). The libraries connect to a name of this length; Node 20 fills the rest with zeros, later releases
 * take an abstract name as long as it is given.
 */
const SOCKET_NAME_BYTES = 108;

/**
 * The same connection as a socket that reads into one buffer. Node's own reading allocates 64 KiB for every message; collecting that
 * garbage takes as long as an empty kernel.
 */
function withOneBuffer(accepted: Socket, addon: Addon, onBytes: (bytes: Uint8Array) => void): Socket {
  const fd = addon.duplicate((accepted as unknown as SocketInternals)._handle?.fd ?? -1);
  accepted.destroy();
  const options: SocketConstructorOpts & { readonly onread: OnReadOpts } = {
    fd,
    readable: true,
    writable: true,
    onread: {
      buffer: new Uint8Array(READ_BYTES),
      callback: (size, buffer) => {
        onBytes(new Uint8Array(buffer.subarray(0, size)));
        return true;
      },
    },
  };
  return new Socket(options);
}

export class RuntimeServer implements SessionHost {
  readonly device: RuntimeDevice;
  readonly memory: SharedMemory;
  readonly hello: HelloReply;
  /** Value for WAVESMITH_SOCKET. */
  readonly address: string;
  private readonly addon: Addon;
  private readonly server: Server;
  private readonly sessions = new Map<Socket, Session>();
  private readonly report: (text: string) => void;
  private waiters: (() => void)[] = [];
  private busy: Promise<void> = Promise.resolve();
  /** Sessions whose program is gone, while they free what was its. */
  private readonly ending = new Set<Promise<void>>();

  /** Hears of every fault of a kernel. */
  onFault: (text: string) => void = () => {};

  /** `report` gets one line for each refused or misbehaving peer. */
  constructor(device: RuntimeDevice, addon: Addon, hello: HelloReply, report: (text: string) => void) {
    this.device = device;
    this.addon = addon;
    this.hello = hello;
    this.report = report;
    this.memory = new SharedMemory(device, addon);
    this.address = `@wavesmith-${randomBytes(16).toString('hex')}`;
    this.server = createServer({ pauseOnConnect: true }, (socket) => this.accept(socket));
  }

  /** Programs connected now. */
  get programs(): number {
    return this.sessions.size;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(`\0${this.address.slice(1)}`.padEnd(SOCKET_NAME_BYTES, '\0'), resolve);
    });
  }

  async close(): Promise<void> {
    this.server.close();
    for (const socket of this.sessions.keys()) socket.destroy();
    await Promise.all([...this.ending, ...[...this.sessions.values()].map((session) => session.close())]);
    this.sessions.clear();
  }

  dispatch(packet: DispatchPacket, signal: AbortSignal): Promise<void> {
    const run = this.busy.then(() => this.device.dispatch(packet, signal));
    this.busy = run.catch(() => undefined);
    return run;
  }

  faulted(text: string): void {
    this.onFault(text);
  }

  signalsChanged(): Promise<void> {
    return new Promise((resolve) => this.waiters.push(resolve));
  }
  announceChange(): void {
    const waiting = this.waiters;
    this.waiters = [];
    for (const resolve of waiting) resolve();
  }

  private accept(accepted: Socket): void {
    const descriptor = (accepted as unknown as SocketInternals)._handle?.fd ?? -1;
    const peer = this.addon.peer(descriptor);
    if (peer.uid !== process.getuid?.()) {
      this.report(`refused a connection of user ${peer.uid} (process ${peer.pid})`);
      accepted.destroy();
      return;
    }
    const stream = new MessageStream();
    const socket = withOneBuffer(accepted, this.addon, (bytes) => {
      try {
        for (const message of stream.push(bytes)) session.handle(message);
      } catch (error) {
        const text = error instanceof WavesmithError ? error.message : String(error);
        this.report(`closed the connection of process ${peer.pid}: ${text}`);
        socket.destroy();
      }
    });
    const session = new Session(this, (type, id, payload) => {
      if (!socket.destroyed) socket.write(encodeMessage(type, id, payload));
    });
    this.sessions.set(socket, session);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      this.sessions.delete(socket);
      // Queues that wait for a signal of this program must see that they were destroyed.
      const ending = session.close().finally(() => this.ending.delete(ending));
      this.ending.add(ending);
      this.announceChange();
    });
  }
}
