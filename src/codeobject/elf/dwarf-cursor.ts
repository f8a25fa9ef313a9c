// Reading DWARF sections: little-endian numbers, LEB128, texts. Source: DWARF Debugging Information Format 5, section 7.6.

/** Reads little-endian data; past the end it stops the reading of its table. */
export class DwarfCursor {
  readonly bytes: Uint8Array;
  at: number;
  readonly end: number;

  constructor(bytes: Uint8Array, at: number, end: number) {
    this.bytes = bytes;
    this.at = at;
    this.end = Math.min(end, bytes.length);
  }

  get isDone(): boolean {
    return this.at >= this.end;
  }

  u8(): number {
    if (this.at >= this.end) throw new Damaged();
    return this.bytes[this.at++] as number;
  }
  s8(): number {
    return (this.u8() << 24) >> 24;
  }
  u16(): number {
    return this.u8() | (this.u8() << 8);
  }
  u32(): number {
    return (this.u16() | (this.u16() << 16)) >>> 0;
  }
  u64(): number {
    const low = this.u32();
    return this.u32() * 4294967296 + low;
  }
  uleb(): number {
    let value = 0;
    let scale = 1;
    for (let n = 0; n < 10; n++) {
      const byte = this.u8();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
    throw new Damaged();
  }
  sleb(): number {
    let value = 0;
    let scale = 1;
    for (let n = 0; n < 10; n++) {
      const byte = this.u8();
      value += (byte & 127) * scale;
      scale *= 128;
      if (byte < 128) return (byte & 64) !== 0 ? value - scale : value;
    }
    throw new Damaged();
  }
  /** An LEB128 number of any of 64 bits: a double has 53. */
  leb(isSigned: boolean): bigint {
    let value = 0n;
    for (let n = 0; n < 10; n++) {
      const byte = this.u8();
      value |= BigInt(byte & 127) << BigInt(7 * n);
      if (byte < 128) return isSigned ? BigInt.asIntN(7 * (n + 1), value) : value;
    }
    throw new Damaged();
  }
  /** So many bytes as a number, exact. */
  bits(bytes: number): bigint {
    let value = 0n;
    for (let n = 0; n < bytes; n++) value |= BigInt(this.u8()) << BigInt(8 * n);
    return value;
  }
  text(): string {
    const start = this.at;
    while (this.u8() !== 0);
    return new TextDecoder().decode(this.bytes.slice(start, this.at - 1));
  }
  skip(n: number): void {
    if (!(n >= 0 && this.at + n <= this.end)) throw new Damaged();
    this.at += n;
  }
}

/** Thrown where a table cannot be read further; the readers end there, and it never leaves them. */
export class Damaged extends Error {}
