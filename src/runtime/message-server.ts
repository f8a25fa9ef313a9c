// A listening socket for programs of the same user: cuts what they send into messages and sends messages back.
// The address is abstract (unix(7)): nothing is left in the file system whoever dies when.
import { randomBytes } from 'node:crypto';
import { createServer, type OnReadOpts, type Server, Socket, type SocketConstructorOpts } from 'node:net';
import { WavesmithError } from '../base/index.ts';
import type { Addon } from './addon.ts';
import { encodeMessage, type Message, MessageStream } from './protocol.ts';

/** A Node socket's file descriptor; Node has no public name for it. */
interface SocketInternals {
  readonly _handle: { readonly fd: number } | null;
}

const READ_BYTES = 65536;
/** How long silent connections are waited for when a program has ended: they are those of others that live on. */
const SETTLE_MS = 5;
const SETTLE_ROUNDS = 20;
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

/** Sends one message. */
export type Send = (type: number, id: bigint, payload: Uint8Array) => void;

/** What answers one program. */
export interface Connection {
  /** A message that no library of this version sends throws `runtime/bad-message`. */
  handle(message: Message): void;
  /** The program has ended or was cut off. */
  closed(): void;
}

export class MessageServer {
  /** Value of the environment variable that leads programs here. */
  readonly address: string;
  private readonly addon: Addon;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private received = 0;
  private readonly open: (send: Send, pid: number) => Connection;
  private readonly report: (text: string) => void;

  /** `open` makes what answers a new program; `report` gets one line for each refused or misbehaving peer. */
  constructor(addon: Addon, open: (send: Send, pid: number) => Connection, report: (text: string) => void) {
    this.addon = addon;
    this.open = open;
    this.report = report;
    this.address = `@wavesmith-${randomBytes(16).toString('hex')}`;
    this.server = createServer({ pauseOnConnect: true }, (socket) => this.accept(socket));
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(`\0${this.address.slice(1)}`.padEnd(SOCKET_NAME_BYTES, '\0'), resolve);
    });
  }

  /**
   * Resolves when the connections of programs that have ended are closed: the system closes its end with a process, and what was sent before
   * is still read. A program that still runs is not waited for.
   */
  async settle(): Promise<void> {
    for (let rounds = 0; rounds < SETTLE_ROUNDS && this.sockets.size > 0; rounds++) {
      const before = this.received;
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      if (this.received !== before) rounds = 0;
    }
  }

  /** Cuts off all programs. */
  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
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
      this.received += bytes.byteLength;
      try {
        for (const message of stream.push(bytes)) connection.handle(message);
      } catch (error) {
        const text = error instanceof WavesmithError ? error.message : String(error);
        this.report(`closed the connection of process ${peer.pid}: ${text}`);
        socket.destroy();
      }
    });
    const connection = this.open((type, id, payload) => {
      if (!socket.destroyed) socket.write(encodeMessage(type, id, payload));
    }, peer.pid);
    this.sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      this.sockets.delete(socket);
      connection.closed();
    });
  }
}
