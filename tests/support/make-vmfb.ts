// Makes small IREE modules and executables at test time: a forward-writing FlatBuffer builder and IREE's zip framing.
import { ByteWriter } from '../../src/base/index.ts';
import { crc32 } from '../../src/codeobject/vmfb/zip.ts';

type Field =
  | undefined
  | { u8: number }
  | { u32: number }
  | { u64: number }
  | { inline: number[] }
  | { bytes: Uint8Array | string }
  | { u64s: number[] }
  | { structs: Uint8Array; count: number }
  | { table: Field[] }
  | { tables: Field[][] }
  | { strings: string[] };

const utf8 = new TextEncoder();

function fieldSize(f: Exclude<Field, undefined>): { size: number; alignment: number } {
  if ('u8' in f) return { size: 1, alignment: 1 };
  if ('u64' in f) return { size: 8, alignment: 8 };
  if ('inline' in f) return { size: 4 * f.inline.length, alignment: 4 };
  return { size: 4, alignment: 4 };
}

/** Writes a table (its vtable in front) and everything below it; returns the table's position. */
function writeTable(w: ByteWriter, fields: Field[]): number {
  w.align(2);
  const offsets: number[] = [];
  let size = 4;
  for (const f of fields) {
    if (f === undefined) {
      offsets.push(0);
      continue;
    }
    const s = fieldSize(f);
    size = Math.ceil(size / s.alignment) * s.alignment;
    offsets.push(size);
    size += s.size;
  }
  while ((w.length + 4 + 2 * fields.length) % 8 !== 0) w.u8(0);
  const vtable = w.length;
  w.u16(4 + 2 * fields.length).u16(size);
  for (const offset of offsets) w.u16(offset);
  const table = w.length;
  w.u32(table - vtable).fill(size - 4);
  fields.forEach((f, i) => {
    if (f === undefined) return;
    const at = table + offsets[i];
    if ('u8' in f) w.setU32(at, f.u8);
    else if ('u32' in f) w.setU32(at, f.u32);
    else if ('u64' in f) w.setU64(at, f.u64);
    else if ('inline' in f) for (const [k, value] of f.inline.entries()) w.setU32(at + 4 * k, value);
    else w.setU32(at, writeTarget(w, f) - at);
  });
  return table;
}

function writeString(w: ByteWriter, value: Uint8Array | string): number {
  const bytes = typeof value === 'string' ? utf8.encode(value) : value;
  w.align(4);
  const at = w.length;
  w.u32(bytes.length).raw(bytes).u8(0);
  return at;
}

function writeTarget(w: ByteWriter, f: Exclude<Field, undefined>): number {
  if ('bytes' in f) return writeString(w, f.bytes);
  if ('table' in f) return writeTable(w, f.table);
  w.align(4);
  if ('u64s' in f || 'structs' in f) {
    while ((w.length + 4) % 8 !== 0) w.u8(0);
    const at = w.length;
    if ('u64s' in f) {
      w.u32(f.u64s.length);
      for (const value of f.u64s) w.u64(value);
    } else w.u32(f.count).raw(f.structs);
    return at;
  }
  const at = w.length;
  const items = 'tables' in f ? f.tables : 'strings' in f ? f.strings : [];
  w.u32(items.length).fill(4 * items.length);
  items.forEach((item, i) => {
    const target = typeof item === 'string' ? writeString(w, item) : writeTable(w, item);
    w.setU32(at + 4 + 4 * i, target - (at + 4 + 4 * i));
  });
  return at;
}

function flatbuffer(identifier: string, fields: Field[]): Uint8Array {
  const w = new ByteWriter(1024).u32(0).text(identifier);
  w.setU32(0, writeTable(w, fields));
  return w.align(8).finish();
}

export interface MadeKernel {
  name: string;
  workgroupSize: [number, number, number];
  constants: number;
  bindings: number[];
}

/** An executable blob: HIP1 or AMD1, with or without IREE's 64-byte header. */
export function makeExecutable(
  format: 'HIP1' | 'AMD1',
  elf: Uint8Array,
  kernels: MadeKernel[],
  hasHeader: boolean,
): Uint8Array {
  const debug: Field = { table: [{ bytes: 'debug_name' }, { table: [{ bytes: 'k.mlir' }, { u32: 7 }] }] };
  const exports = kernels.map((k): Field[] =>
    format === 'HIP1'
      ? [
          undefined,
          { bytes: k.name },
          { inline: k.workgroupSize },
          undefined,
          k.constants === 0 ? undefined : { u32: k.constants },
          { u64s: k.bindings },
          debug,
        ]
      : [{ bytes: `${k.name}.kd` }, { inline: k.workgroupSize }, { u32: k.constants }, { u64s: k.bindings }, debug],
  );
  const sources: Field = { tables: [[{ bytes: 'k.mlir' }, { bytes: 'func.func @k() { return }' }]] };
  const images: Field = { tables: [[{ bytes: elf }]] };
  const lists: Field[] = [{ tables: exports }, images, sources];
  const content = flatbuffer(format, format === 'HIP1' ? lists : [{ bytes: 'gfx942' }, ...lists]);
  if (!hasHeader) return content;
  return new ByteWriter(64).text(format).u32(0).u64(content.length).fill(48).raw(content).finish();
}

export interface MadeSegment {
  /** Entry name; embedded in the FlatBuffer when left out. */
  name?: string;
  bytes: Uint8Array;
}

/** VM bytecode that dispatches export 0 with this grid, one constant (42) and one binding (slot 0, 1024 bytes). */
export function makeDispatchProgram(grid: [number, number, number]): Uint8Array {
  const w = new ByteWriter(256).u8(0x79);
  for (const [i, value] of [...grid, 0, 42].entries()) w.u8(0x0d).u32(value).u16(i);
  w.u8(0x0e).u16(6).u8(0x0f).u64(1024).u16(8).u8(0x10).u16(0x8000);
  const list = (values: number[]) => {
    w.align(2).u16(values.length);
    for (const value of values) w.u16(value);
  };
  w.u8(0x59).u32(0x80000000);
  list([...Array(7).fill(0xffff), 1, 1]);
  list([0x8000, 0x8000, 3, 0, 1, 2, 6, 4, 3, 3, 0x8000, 6, 8]);
  list([]);
  w.u8(0x5a);
  list([]);
  return w.finish();
}

/** An IREE module with these rodata segments, in a zip archive or bare. */
export function makeVmfb(
  segments: MadeSegment[],
  isArchive: boolean,
  grid: [number, number, number] = [4, 2, 1],
): Uint8Array {
  const program = makeDispatchProgram(grid);
  const align = (value: number, to: number) => Math.ceil(value / to) * to;
  const external = segments.filter((s) => s.name !== undefined);
  const places: number[] = [];
  const paddings: number[] = [];
  const layout = (base: number) => {
    let at = base;
    external.forEach((s, i) => {
      const header = isArchive ? 30 + utf8.encode(s.name).length + 24 : 0;
      const start = align(at + header, 16);
      paddings[i] = start - at - header;
      places[i] = start - base;
      at = start + s.bytes.length;
    });
  };
  const module = () => {
    const rodata = segments.map((s): Field[] => {
      if (s.name === undefined) return [undefined, undefined, { bytes: s.bytes }];
      const place = places[external.indexOf(s)];
      const offset = place === 0 ? undefined : { u64: place };
      return [undefined, undefined, undefined, offset, { u64: s.bytes.length }];
    });
    const functions = new ByteWriter(20).u32(0).u32(program.length).u32(0).u16(0).u16(1).u16(1).u16(1).finish();
    return flatbuffer('IREE', [
      { bytes: 'module' },
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      { tables: [[{ bytes: 'hal.command_buffer.dispatch' }, { table: [{ bytes: '0rriiiiICiDCiirIID_v' }] }]] },
      { tables: [[{ bytes: 'main' }, undefined]] },
      { tables: [[{ bytes: '0r_r' }, { tables: [[{ bytes: 'iree.abi.declaration' }, { bytes: 'func @main' }]] }]] },
      { tables: rodata },
      undefined,
      undefined,
      { structs: functions, count: 1 },
      { u32: 17 << 16 },
      { bytes: program },
    ]);
  };
  const start = isArchive ? 64 : 0;
  layout(0);
  const size = module().length;
  const base = align(start + 4 + size, 64);
  layout(base);
  const flat = module();
  const w = new ByteWriter(4096);
  const records: { name: string; crcAt: number; at: number; data: number; size: number }[] = [];
  const localHeader = (name: string, length: number, padding: number) => {
    const at = w.length;
    const encoded = utf8.encode(name);
    w.u32(0x04034b50).u16(0x2d).u16(0).u16(0).u16(0).u16(0x21).u32(0).u32(0xffffffff).u32(0xffffffff);
    w.u16(encoded.length)
      .u16(24 + padding)
      .raw(encoded);
    w.u16(0xfeca).u16(padding).fill(padding).u16(1).u16(16).u64(length).u64(length);
    records.push({ name, crcAt: at + 14, at, data: w.length, size: length });
  };
  if (isArchive) localHeader('module.fb', flat.length, 1);
  w.u32(flat.length).raw(flat).align(64);
  external.forEach((s, i) => {
    if (isArchive) localHeader(s.name!, s.bytes.length, paddings[i]);
    else w.fill(paddings[i]);
    w.raw(s.bytes);
  });
  if (!isArchive) return w.finish();
  const body = w.finish();
  const crcs = records.map((r) => crc32(body.subarray(r.data, r.data + r.size)));
  records.forEach((r, i) => {
    w.setU32(r.crcAt, crcs[i]);
  });
  const directory = w.length;
  records.forEach((r, i) => {
    const encoded = utf8.encode(r.name);
    w.u32(0x02014b50).u16(0x031e).u16(0x2d).u16(0).u16(0).u16(0).u16(0x21).u32(crcs[i]);
    w.u32(0xffffffff).u32(0xffffffff).u16(encoded.length).u16(28).u16(0).u16(0).u16(0).u32(0).u32(0xffffffff);
    w.raw(encoded).u16(1).u16(24).u64(r.size).u64(r.size).u64(r.at);
  });
  const end = w.length;
  w.u32(0x06064b50).u64(44).u16(0x2d).u16(0x2d).u32(0).u32(0).u64(records.length).u64(records.length);
  w.u64(end - directory).u64(directory);
  w.u32(0x07064b50).u32(0).u64(end).u32(1);
  w.u32(0x06054b50)
    .u16(0)
    .u16(0)
    .u16(records.length)
    .u16(records.length)
    .u32(end - directory)
    .u32(0xffffffff)
    .u16(0);
  return w.finish();
}
