// A small bounds-checked FlatBuffer reader that keeps byte positions, because patching needs to know where a field is.
// (Generated readers hide positions.) Source: the FlatBuffers binary format description, "FlatBuffers internals".
import { ByteReader, WavesmithError } from '../../base/index.ts';

/** The bytes of one FlatBuffer and a budget that keeps damaged, self-overlapping data from costing more than its size. */
export class FlatBuffer {
  readonly reader: ByteReader;
  private budget: number;

  constructor(bytes: Uint8Array, what: string) {
    this.reader = new ByteReader(bytes, what, 'flatbuffer/truncated');
    this.budget = 16 * bytes.length + (1 << 20);
  }

  /** The root table, at the u32 offset stored at `at`. */
  root(at = 0): FlatTable {
    return new FlatTable(this, at + this.reader.u32(at));
  }

  /** Counts `size` bytes of work against the budget. */
  spend(size: number, at: number): void {
    this.budget -= size;
    if (this.budget < 0) {
      throw new WavesmithError('flatbuffer/overlap', 'The FlatBuffer refers to the same bytes far too often.', {
        byteOffset: at,
      });
    }
  }
}

/** A vector or string: where its elements start and how many there are. */
export interface FlatVector {
  readonly at: number;
  readonly length: number;
}

/** One table. Fields count from 0; an absent field is undefined. Positions are absolute in the FlatBuffer's bytes. */
export class FlatTable {
  readonly buffer: FlatBuffer;
  readonly at: number;
  private readonly vtable: number;
  private readonly vtableSize: number;

  constructor(buffer: FlatBuffer, at: number) {
    const { reader } = buffer;
    this.buffer = buffer;
    this.at = at;
    this.vtable = at - reader.i32(at);
    this.vtableSize = reader.u16(this.vtable);
    reader.check(this.vtable, this.vtableSize);
    buffer.spend(8, at);
  }

  /** Where a field is stored, or undefined. */
  position(field: number): number | undefined {
    const entry = 4 + 2 * field;
    if (entry + 2 > this.vtableSize) return undefined;
    const offset = this.buffer.reader.u16(this.vtable + entry);
    return offset === 0 ? undefined : this.at + offset;
  }

  u8(field: number): number {
    const at = this.position(field);
    return at === undefined ? 0 : this.buffer.reader.u8(at);
  }
  u32(field: number): number {
    const at = this.position(field);
    return at === undefined ? 0 : this.buffer.reader.u32(at);
  }
  i32(field: number): number {
    const at = this.position(field);
    return at === undefined ? 0 : this.buffer.reader.i32(at);
  }
  u64(field: number): number {
    const at = this.position(field);
    return at === undefined ? 0 : this.buffer.reader.u64AsNumber(at);
  }

  /** Where an offset field points. */
  private target(field: number): number | undefined {
    const at = this.position(field);
    return at === undefined ? undefined : at + this.buffer.reader.u32(at);
  }

  table(field: number): FlatTable | undefined {
    const at = this.target(field);
    return at === undefined ? undefined : new FlatTable(this.buffer, at);
  }

  /** A vector of elements of `elementSize` bytes; its extent is checked. */
  vector(field: number, elementSize: number): FlatVector | undefined {
    const at = this.target(field);
    if (at === undefined) return undefined;
    const length = this.buffer.reader.u32(at);
    this.buffer.reader.check(at + 4, length * elementSize);
    return { at: at + 4, length };
  }

  /** A string's bytes. */
  string(field: number): FlatVector | undefined {
    return this.vector(field, 1);
  }

  text(field: number): string | undefined {
    const found = this.string(field);
    if (found === undefined) return undefined;
    this.buffer.spend(found.length, found.at);
    return this.buffer.reader.text(found.at, found.length);
  }

  /** The tables of a vector of tables. */
  tables(field: number): FlatTable[] {
    const vector = this.vector(field, 4);
    const tables: FlatTable[] = [];
    for (let i = 0; i < (vector?.length ?? 0); i++) {
      const at = vector!.at + 4 * i;
      tables.push(new FlatTable(this.buffer, at + this.buffer.reader.u32(at)));
    }
    return tables;
  }

  /** The strings of a vector of strings. */
  texts(field: number): string[] {
    const vector = this.vector(field, 4);
    const { reader } = this.buffer;
    const texts: string[] = [];
    for (let i = 0; i < (vector?.length ?? 0); i++) {
      const at = vector!.at + 4 * i + reader.u32(vector!.at + 4 * i);
      const length = reader.u32(at);
      this.buffer.spend(length + 8, at);
      texts.push(reader.text(at + 4, length));
    }
    return texts;
  }
}
