// The memory of a probe: counters, counters by site, and records. It lies in the image of the code object, so no argument of the kernel
// and no change of the launch is needed; whoever loads the code object reads it from there.
import { WavesmithError } from '../base/index.ts';

/**
 * What points do to a counter, without sign. Memory begins as zeros, so `min` and `and` keep the complement: before anything came they
 * read as 2^64 - 1.
 */
export type Gathering = 'add' | 'max' | 'min' | 'or' | 'and' | 'xor';

/** One 64-bit counter. */
export interface Counter {
  readonly kind: 'counter';
  readonly by: Gathering;
}

/** A 64-bit counter for each point that adds to it. */
export interface Counters {
  readonly kind: 'counters';
  readonly by: Gathering;
  /** Each wave counts in scalar registers, as far as there are any, and adds to memory when it ends. */
  readonly inRegisters: boolean;
}

/** 64-bit counters by a number that points compute. */
export interface Table {
  readonly kind: 'table';
  readonly length: number;
  readonly by: Gathering;
}

/** How a field of a record is stored: once, or once for each lane. */
export type FieldType = 'u32' | 'u64' | 'lane32' | 'lane64';

export type RecordFields = Readonly<Record<string, FieldType>>;

/** Records that points append; when they are full, further ones are counted and dropped. */
export interface Records<F extends RecordFields = RecordFields> {
  readonly kind: 'records';
  readonly fields: F;
  readonly capacity: number;
}

/** Memory as the probe's own code uses it: variables of hooks. */
export interface Bytes {
  readonly kind: 'bytes';
  readonly size: number;
}

/** One piece of a probe's memory. */
export type StateShape = Counter | Counters | Table | Records | Bytes;

/** The memory of a probe by name. */
export type StateShapes = Readonly<Record<string, StateShape>>;

const GATHERINGS: readonly string[] = ['add', 'max', 'min', 'or', 'and', 'xor'] satisfies readonly Gathering[];

function gathering(by: Gathering): Gathering {
  if (GATHERINGS.includes(by)) return by;
  throw new WavesmithError('probe/type', `A counter gathers by ${GATHERINGS.join(', ')}, not by '${String(by)}'.`);
}

/** A 64-bit counter of a probe. Errors: `probe/type`. */
export function u64({ by = 'add' }: { readonly by?: Gathering } = {}): Counter {
  return { kind: 'counter', by: gathering(by) };
}

/**
 * 64-bit counters of a probe, one for each point that adds to it. With `inRegisters` each wave counts in scalar registers, as far as any
 * are free, and adds to memory when it ends: a count then costs an instruction or two, and waves that do not end may count nothing.
 * Errors: `probe/type`.
 */
export function u64PerSite({
  by = 'add',
  inRegisters = false,
}: {
  readonly by?: Gathering;
  readonly inRegisters?: boolean;
} = {}): Counters {
  if (inRegisters && by !== 'add')
    throw new WavesmithError('probe/type', `Counters in registers gather by add, not by '${String(by)}'.`);
  return { kind: 'counters', by: gathering(by), inRegisters };
}

/** So many 64-bit counters; a point adds to the one whose number it computes. Errors: `probe/records` when it would be too large. */
export function u64Table(length: number, { by = 'add' }: { readonly by?: Gathering } = {}): Table {
  if (!Number.isInteger(length) || length < 1 || 8 * length > MAX_RECORD_BYTES)
    throw new WavesmithError('probe/records', `A table of ${length} counters is not between one and 64 MiB.`);
  return { kind: 'table', length, by: gathering(by) };
}

/** Most bytes of records: they are part of the loaded image. */
const MAX_RECORD_BYTES = 1 << 26;

/** A list of records with these fields. Errors: `probe/records` when it would be too large. */
export function records<const F extends RecordFields>(fields: F, options: { readonly capacity: number }): Records<F> {
  const { capacity } = options;
  const bytes = capacity * recordSize(fields);
  if (!Number.isInteger(capacity) || capacity < 1 || bytes > MAX_RECORD_BYTES) {
    throw new WavesmithError(
      'probe/records',
      `${capacity} records of ${recordSize(fields)} bytes are not between one and 64 MiB.`,
    );
  }
  return { kind: 'records', fields, capacity };
}

const LANES = 64;

/** Bytes of a field. */
export function fieldSize(type: FieldType): number {
  return type === 'u32' ? 4 : type === 'u64' ? 8 : type === 'lane32' ? 4 * LANES : 8 * LANES;
}

/** Offset of each field: in their order, each on a multiple of 8; every record begins with its site, in 8 bytes. */
export function fieldOffsets(fields: RecordFields): ReadonlyMap<string, number> {
  const out = new Map<string, number>();
  let at = 8;
  for (const [name, type] of Object.entries(fields)) {
    out.set(name, at);
    at += Math.max(8, fieldSize(type));
  }
  return out;
}

/** Bytes of a record. */
export function recordSize(fields: RecordFields): number {
  return Object.values(fields).reduce((sum, type) => sum + Math.max(8, fieldSize(type)), 8);
}

/** Where a counter was added to or a record appended: an instruction of the original. */
export interface Site {
  readonly index: number;
  readonly pc: number;
  readonly kernel: string;
}

/** A record as it is read: numbers by lane for fields that are stored by lane. */
export type RecordOf<F extends RecordFields> = { readonly site: Site } & {
  readonly [K in keyof F]: F[K] extends 'u32'
    ? number
    : F[K] extends 'u64'
      ? bigint
      : F[K] extends 'lane32'
        ? Uint32Array
        : BigUint64Array;
};

/** What a report reads a piece of state as. */
export type StateReader<T> =
  T extends Records<infer F>
    ? { readonly records: readonly RecordOf<F>[]; readonly dropped: number; readonly appended: number }
    : T extends Table
      ? { readonly values: readonly bigint[] }
      : T extends Counters
        ? { readonly sites: readonly { readonly site: Site; readonly value: bigint }[] }
        : T extends Bytes
          ? { readonly bytes: Uint8Array }
          : { readonly value: bigint };

/** A piece of state with its place. */
export interface PlacedState {
  readonly name: string;
  readonly shape: StateShape;
  offset: number;
  size: number;
  readonly sites: Site[];
}

/** Places the state once all sites are known; the bytes of the whole. */
export function placeState(states: readonly PlacedState[]): number {
  let at = 0;
  for (const state of states) {
    const { shape } = state;
    state.offset = at;
    if (shape.kind === 'counter') state.size = 8;
    else if (shape.kind === 'bytes') state.size = shape.size;
    else if (shape.kind === 'table') state.size = 8 * shape.length;
    else if (shape.kind === 'counters') state.size = 8 * Math.max(1, state.sites.length);
    else state.size = 8 + shape.capacity * recordSize(shape.fields);
    at += Math.ceil(state.size / 64) * 64;
  }
  return at;
}

/** All ones. */
export const MAX_COUNT = (1n << 64n) - 1n;

/** Whether memory has the complement of what is gathered. */
export function isComplement(by: Gathering): boolean {
  return by === 'min' || by === 'and';
}

/** Two counts in memory as one. */
function gathered(by: Gathering, a: bigint, b: bigint): bigint {
  if (by === 'add') return (a + b) & MAX_COUNT;
  if (by === 'xor') return a ^ b;
  return by === 'or' || by === 'and' ? a | b : a > b ? a : b;
}

/** Reads the state from the bytes of the memory. */
export function readState(states: readonly PlacedState[], memory: Uint8Array): Record<string, unknown> {
  const view = new DataView(memory.buffer, memory.byteOffset, memory.byteLength);
  const out: Record<string, unknown> = {};
  for (const { name, shape, offset, sites } of states) {
    if (shape.kind === 'bytes') out[name] = { bytes: memory.slice(offset, offset + shape.size) };
    else if (shape.kind === 'records') out[name] = readRecords(shape, sites, view, memory, offset);
    else {
      const flip = isComplement(shape.by) ? MAX_COUNT : 0n;
      const at = (i: number): bigint => view.getBigUint64(offset + 8 * i, true) ^ flip;
      if (shape.kind === 'counter') out[name] = { value: at(0) };
      else if (shape.kind === 'table') out[name] = { values: Array.from({ length: shape.length }, (_, i) => at(i)) };
      else out[name] = { sites: sites.map((site, i) => ({ site, value: at(i) })) };
    }
  }
  return out;
}

function readRecords(shape: Records, sites: readonly Site[], view: DataView, memory: Uint8Array, offset: number) {
  const appended = Number(view.getBigUint64(offset, true));
  const count = Math.min(appended, shape.capacity);
  const size = recordSize(shape.fields);
  const offsets = fieldOffsets(shape.fields);
  const list: Record<string, unknown>[] = [];
  for (let i = 0; i < count; i++) {
    const start = offset + 8 + i * size;
    const record: Record<string, unknown> = { site: sites[view.getUint32(start, true)] };
    for (const [name, type] of Object.entries(shape.fields)) {
      const at = start + (offsets.get(name) as number);
      const bytes = memory.slice(at, at + fieldSize(type)).buffer;
      if (type === 'u32') record[name] = view.getUint32(at, true);
      else if (type === 'u64') record[name] = view.getBigUint64(at, true);
      else record[name] = type === 'lane32' ? new Uint32Array(bytes) : new BigUint64Array(bytes);
    }
    list.push(record);
  }
  return { records: list, appended, dropped: appended - count };
}

/** One memory of several of the same probe: counters are gathered; records follow each other as far as there is room. */
export function mergeMemories(
  states: readonly PlacedState[],
  memories: readonly Uint8Array[],
  size: number,
): Uint8Array {
  const out = new Uint8Array(size);
  const view = new DataView(out.buffer);
  for (const memory of memories) {
    const from = new DataView(memory.buffer, memory.byteOffset, memory.byteLength);
    for (const { shape, offset, size: bytes } of states) {
      if (shape.kind === 'bytes') {
        const own = memory.subarray(offset, offset + bytes);
        // Variables of the process that came last.
        if (own.some((byte) => byte !== 0)) out.set(own, offset);
      } else if (shape.kind === 'records') {
        const one = recordSize(shape.fields);
        const [old, more] = [view.getBigUint64(offset, true), from.getBigUint64(offset, true)];
        const [has, adds] = [old, more].map((n) => Math.min(Number(n), shape.capacity)) as [number, number];
        const count = Math.min(adds, shape.capacity - has);
        out.set(memory.subarray(offset + 8, offset + 8 + count * one), offset + 8 + has * one);
        view.setBigUint64(offset, old + more, true);
      } else {
        for (let at = offset; at < offset + bytes; at += 8)
          view.setBigUint64(at, gathered(shape.by, view.getBigUint64(at, true), from.getBigUint64(at, true)), true);
      }
    }
  }
  return out;
}
