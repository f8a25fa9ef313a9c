// Bounds-checked little-endian reading and growing writing. Every parser of outside bytes reads through ByteReader.
import { WavesmithError } from './error.ts';

const utf8 = new TextDecoder();
const utf8Encoder = new TextEncoder();

/** Reads little-endian values at absolute offsets; reading outside the bytes throws `code` with the offset. */
export class ByteReader {
  readonly bytes: Uint8Array;
  readonly length: number;
  private readonly view: DataView;
  private readonly code: string;
  private readonly what: string;

  /** `what` names the thing being read for messages ("ELF header"); `code` is the error code of a short read. */
  constructor(bytes: Uint8Array, what = 'file', code = 'bytes/truncated') {
    this.bytes = bytes;
    this.length = bytes.byteLength;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.what = what;
    this.code = code;
  }

  /** Throws unless `size` bytes exist at `offset`. Sizes from outside must pass here before anything is allocated. */
  check(offset: number, size: number): void {
    if (!(offset >= 0 && size >= 0 && offset + size <= this.length)) {
      throw new WavesmithError(
        this.code,
        `${this.what} ends before ${size} bytes at offset ${offset} (it has ${this.length} bytes).`,
        {
          byteOffset: Math.max(0, Math.min(offset, this.length)),
          hint: 'The file is truncated or damaged; get a fresh copy.',
        },
      );
    }
  }

  u8(offset: number): number {
    this.check(offset, 1);
    return this.view.getUint8(offset);
  }
  u16(offset: number): number {
    this.check(offset, 2);
    return this.view.getUint16(offset, true);
  }
  u32(offset: number): number {
    this.check(offset, 4);
    return this.view.getUint32(offset, true);
  }
  i32(offset: number): number {
    this.check(offset, 4);
    return this.view.getInt32(offset, true);
  }
  u64(offset: number): bigint {
    this.check(offset, 8);
    return this.view.getBigUint64(offset, true);
  }
  i64(offset: number): bigint {
    this.check(offset, 8);
    return this.view.getBigInt64(offset, true);
  }
  /** A 64-bit value as a number; values above 2^53-1 throw (no file here is that long). */
  u64AsNumber(offset: number): number {
    const value = this.u64(offset);
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) {
      throw new WavesmithError(this.code, `${this.what} holds an impossible size or offset 0x${value.toString(16)}.`, {
        byteOffset: offset,
      });
    }
    return Number(value);
  }
  /** A view (no copy) of `size` bytes at `offset`. */
  slice(offset: number, size: number): Uint8Array {
    this.check(offset, size);
    return this.bytes.subarray(offset, offset + size);
  }
  /** UTF-8 text of `size` bytes. */
  text(offset: number, size: number): string {
    return utf8.decode(this.slice(offset, size));
  }
  /** NUL-terminated text starting at `offset`; the end of the bytes also ends it. */
  cstring(offset: number): string {
    this.check(offset, 0);
    let end = this.bytes.indexOf(0, offset);
    if (end < 0) end = this.length;
    return utf8.decode(this.bytes.subarray(offset, end));
  }
}

/** A growing little-endian byte buffer. */
export class ByteWriter {
  private buffer: Uint8Array;
  private view: DataView;
  private used = 0;

  constructor(capacity = 256) {
    this.buffer = new Uint8Array(Math.max(16, capacity));
    this.view = new DataView(this.buffer.buffer);
  }

  get length(): number {
    return this.used;
  }

  private grow(extra: number): number {
    const at = this.used;
    const needed = at + extra;
    if (needed > this.buffer.byteLength) {
      const bigger = new Uint8Array(Math.max(needed, this.buffer.byteLength * 2));
      bigger.set(this.buffer.subarray(0, at));
      this.buffer = bigger;
      this.view = new DataView(bigger.buffer);
    }
    this.used = needed;
    return at;
  }

  u8(value: number): this {
    const at = this.grow(1);
    this.view.setUint8(at, value);
    return this;
  }
  u16(value: number): this {
    const at = this.grow(2);
    this.view.setUint16(at, value, true);
    return this;
  }
  u32(value: number): this {
    const at = this.grow(4);
    this.view.setUint32(at, value, true);
    return this;
  }
  u64(value: bigint | number): this {
    const at = this.grow(8);
    this.view.setBigUint64(at, BigInt.asUintN(64, BigInt(value)), true);
    return this;
  }
  raw(bytes: Uint8Array): this {
    const at = this.grow(bytes.byteLength);
    this.buffer.set(bytes, at);
    return this;
  }
  /** UTF-8 text without a terminator. */
  text(value: string): this {
    return this.raw(utf8Encoder.encode(value));
  }
  fill(count: number, value = 0): this {
    const at = this.grow(count);
    this.buffer.fill(value, at, at + count);
    return this;
  }
  /** Pads with `value` up to the next multiple of `alignment` bytes. */
  align(alignment: number, value = 0): this {
    const rest = this.used % alignment;
    return rest === 0 ? this : this.fill(alignment - rest, value);
  }
  setU32(offset: number, value: number): void {
    this.view.setUint32(offset, value, true);
  }
  setU64(offset: number, value: bigint | number): void {
    this.view.setBigUint64(offset, BigInt.asUintN(64, BigInt(value)), true);
  }
  /** The written bytes (a copy of exactly `length` bytes). */
  finish(): Uint8Array {
    return this.buffer.slice(0, this.used);
  }
}
