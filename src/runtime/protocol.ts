// Cuts the bytes of a socket into messages, and writes messages. What the messages say: generated/messages.ts.
import { ByteReader, ByteWriter, WavesmithError } from '../base/index.ts';
import {
  MAX_PAYLOAD,
  putLoadReply,
  putMessageHeader,
  putSymbolRecord,
  readMessageHeader,
} from './generated/messages.ts';

const HEADER = 16;

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
      const { size, type, id } = readMessageHeader(header);
      if (size > MAX_PAYLOAD) {
        throw new WavesmithError('runtime/bad-message', `A message of ${size} bytes was announced.`, {
          hint: 'The peer is not a Wavesmith runtime library of this version.',
        });
      }
      if (this.available < HEADER + size) return messages;
      this.take(HEADER);
      messages.push({
        type,
        id,
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
  const w = new ByteWriter(HEADER + payload.byteLength);
  return putMessageHeader(w, { size: payload.byteLength, type, id }).raw(payload).finish();
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
  putLoadReply(w, { module, loadAddress: address, loadSize: size, count: symbols.length });
  for (const { kind, dynamicStack, ...rest } of symbols) {
    putSymbolRecord(w, { ...rest, kind: kind === 'kernel' ? 1 : 0, dynamicStack: dynamicStack ? 1 : 0 });
  }
  return w.finish();
}
