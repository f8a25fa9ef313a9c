// Numbers that compiled code counts in wasm memory: i64 words in chunks that one counter holds.
import type { DeviceMemory } from '../state/memory.ts';

/** Bytes of wasm memory that records are cut from. */
const CHUNK = 65536;

/** The records of a counter. Places are byte offsets in wasm memory. */
export class Records {
  /** Of the dispatches that count; all of one loaded code have the same. */
  memory: DeviceMemory | undefined;
  private readonly chunks: Uint8Array[] = [];
  private used = CHUNK;

  /** A new record, all 0; at most 64 KiB. */
  take(bytes: number): number {
    if (this.used + bytes > CHUNK) {
      this.chunks.push(this.reserve());
      this.used = 0;
    }
    const at = (this.chunks[this.chunks.length - 1] as Uint8Array).byteOffset + this.used;
    this.used += bytes;
    return at;
  }

  private reserve(): Uint8Array {
    if (this.memory === undefined) throw new Error('the dispatch has not begun');
    return this.memory.reserve(CHUNK, 'counters').fill(0);
  }

  /** What is at a record and behind it. */
  viewAt(record: number): DataView {
    const chunk = this.chunks.find(
      ({ byteOffset }) => record >= byteOffset && record < byteOffset + CHUNK,
    ) as Uint8Array;
    return new DataView(chunk.buffer, record);
  }

  read(at: number): number {
    return Number(this.viewAt(at).getBigInt64(0, true));
  }

  add(at: number, amount: number): void {
    const view = this.viewAt(at);
    view.setBigInt64(0, view.getBigInt64(0, true) + BigInt(amount), true);
  }

  /** All records become 0. */
  clear(): void {
    for (const [n, chunk] of this.chunks.entries()) {
      chunk.fill(0, 0, n + 1 < this.chunks.length ? CHUNK : this.used);
    }
  }
}
