// Distinct texts as the bytes that files have them in, so that a text that was met before is never made a string.

/** Of a column with more texts, most are there once: their bytes are not kept. */
const MOST_KEPT = 1 << 18;
/** Bytes of texts that are kept together. */
const KEPT = 1 << 18;

/** Texts with dense numbers, in order of first use. */
export class ByteTexts {
  /** How many there are. */
  count = 0;
  /** Numbers of texts from 1 on, by their hash; 0 for none. */
  private slots = new Int32Array(1 << 8);
  private hashes = new Int32Array(1 << 7);
  private sizes = new Int32Array(1 << 7);
  private places = new Int32Array(1 << 7);
  private readonly kept: DataView[] = [];
  private readonly pieceOf: number[] = [];
  private room = 0;

  /** The number of a text that was kept, -1 for another one. All calls must have the same hash of the same bytes. */
  find(hash: number, view: DataView, start: number, size: number): number {
    const { slots } = this;
    const mask = slots.length - 1;
    for (let slot = hash & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const entry = slots[slot] - 1;
      if (this.hashes[entry] === hash && this.isAt(entry, view, start, size)) return entry;
    }
    return -1;
  }

  /** Whether a text that was kept is this one. */
  isAt(entry: number, view: DataView, start: number, size: number): boolean {
    return this.sizes[entry] === size && isSame(this.kept[this.pieceOf[entry]], this.places[entry], view, start, size);
  }

  /** Keeps a text that `find` did not find; its number, -1 where there are too many. */
  add(hash: number, view: DataView, start: number, size: number): number {
    if (this.count === MOST_KEPT) return -1;
    const entry = this.count++;
    if (entry === this.hashes.length) this.grow();
    this.hashes[entry] = hash;
    this.sizes[entry] = size;
    let piece = this.kept.at(-1);
    if (piece === undefined || piece.byteLength - this.room < size) {
      piece = new DataView(new ArrayBuffer(Math.max(KEPT, size)));
      this.kept.push(piece);
      this.room = 0;
    }
    this.pieceOf.push(this.kept.length - 1);
    this.places[entry] = this.room;
    new Uint8Array(piece.buffer).set(new Uint8Array(view.buffer, view.byteOffset + start, size), this.room);
    this.room += size;
    this.place(entry);
    return entry;
  }

  private place(entry: number): void {
    const mask = this.slots.length - 1;
    let slot = this.hashes[entry] & mask;
    while (this.slots[slot] !== 0) slot = (slot + 1) & mask;
    this.slots[slot] = entry + 1;
  }

  private grow(): void {
    for (const name of ['hashes', 'sizes', 'places'] as const) {
      const bigger = new Int32Array(2 * this[name].length);
      bigger.set(this[name]);
      this[name] = bigger;
    }
    this.slots = new Int32Array(2 * this.slots.length);
    for (let entry = 0; entry < this.count - 1; entry++) this.place(entry);
  }
}

/** FNV over words of four bytes, in two interleaved halves, because each step waits for its multiplication. */
export function hashOf(view: DataView, start: number, size: number): number {
  const PRIME = 0x01000193;
  let [a, b] = [size ^ 0x11c9dc5, 0x50c5d1f];
  let at = start;
  const end = start + size;
  for (; at + 8 <= end; at += 8) {
    a = Math.imul(a ^ view.getUint32(at, true), PRIME);
    b = Math.imul(b ^ view.getUint32(at + 4, true), PRIME);
    a ^= a >>> 15;
    b ^= b >>> 13;
  }
  for (; at < end; at++) a = Math.imul(a ^ view.getUint8(at), PRIME);
  a = Math.imul(a ^ (b >>> 16) ^ (b << 7), 0x85ebca6b);
  return a ^ (a >>> 13);
}

function isSame(a: DataView, from: number, b: DataView, start: number, size: number): boolean {
  let i = 0;
  for (; i + 16 <= size; i += 16) {
    const first = a.getInt32(from + i, true) ^ b.getInt32(start + i, true);
    const second = a.getInt32(from + i + 4, true) ^ b.getInt32(start + i + 4, true);
    const third = a.getInt32(from + i + 8, true) ^ b.getInt32(start + i + 8, true);
    const fourth = a.getInt32(from + i + 12, true) ^ b.getInt32(start + i + 12, true);
    if ((first | second | third | fourth) !== 0) return false;
  }
  for (; i + 4 <= size; i += 4) if (a.getInt32(from + i, true) !== b.getInt32(start + i, true)) return false;
  for (; i < size; i++) if (a.getUint8(from + i) !== b.getUint8(start + i)) return false;
  return true;
}
