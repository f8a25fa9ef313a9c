// An executable's FlatBuffer with a bigger image in the old one's place: what lies behind the image (vtables, as a rule) moves, and
// every reference across the image is corrected. The tables are walked along IREE's schemas; a field that they do not know means
// that nothing is moved. Source: IREE's runtime/src/iree/schemas/{hip,amdgpu}_executable_def.fbs, executable_debug_info.fbs.
import { ByteReader, WavesmithError } from '../../base/index.ts';
import { EXECUTABLE_HEADER_SIZE, type ExecutableImage } from './executable.ts';

/** What a field of a table holds. */
type Field = 'scalar' | 'reference' | { readonly table: Schema } | { readonly tables: Schema };
type Schema = readonly Field[];

const LOCATION: Schema = ['reference', 'scalar'];
const DEBUG: Schema = ['reference', { table: LOCATION }, { tables: ['reference', { table: LOCATION }] }];
const SOURCE: Schema = ['reference', 'reference'];
const HIP: Schema = [
  { tables: ['scalar', 'reference', 'scalar', 'scalar', 'scalar', 'reference', { table: DEBUG }] },
  { tables: ['reference'] },
  { tables: SOURCE },
];
const AMDGPU: Schema = [
  'reference',
  { tables: ['reference', 'scalar', 'scalar', 'reference', { table: DEBUG }] },
  { tables: ['reference'] },
  { tables: SOURCE },
];

const MOST_TABLES = 1 << 20;
/** FlatBuffers align to at most this much here. */
const ALIGNMENT = 16;

interface Found {
  /** Positions of references (u32 distance forward to their target). */
  readonly references: Set<number>;
  /** Positions of tables (i32 distance back to their vtable). */
  readonly tables: Set<number>;
}

/**
 * The blob with `elf` instead of the image; undefined when the blob has something that the schemas do not describe. Positions of
 * `image` are relative to the blob.
 */
export function growImage(
  blob: Uint8Array,
  hasHeader: boolean,
  image: Pick<ExecutableImage, 'offset' | 'size'>,
  elf: Uint8Array,
): Uint8Array | undefined {
  const base = hasHeader ? EXECUTABLE_HEADER_SIZE : 0;
  const found = walkBlob(blob, base);
  if (found === undefined) return undefined;
  // The string's end is a NUL; what is behind it moves.
  const cut = image.offset + image.size + 1;
  const delta = Math.ceil(Math.max(0, elf.length - image.size) / ALIGNMENT) * ALIGNMENT;
  const moved = (at: number): number => (at >= cut ? at + delta : at);
  const out = new Uint8Array(blob.length + delta);
  out.set(blob.subarray(0, image.offset));
  out.set(elf, image.offset);
  out.set(blob.subarray(cut), cut + delta);
  const [old, view] = [blob, out].map((b) => new DataView(b.buffer, b.byteOffset, b.byteLength));
  for (const at of found.references) view.setUint32(moved(at), moved(at + old.getUint32(at, true)) - moved(at), true);
  for (const at of found.tables) view.setInt32(moved(at), moved(at) - moved(at - old.getInt32(at, true)), true);
  view.setUint32(image.offset - 4, elf.length, true);
  if (hasHeader) view.setBigUint64(8, BigInt(out.length - EXECUTABLE_HEADER_SIZE), true);
  return out;
}

function walkBlob(blob: Uint8Array, base: number): Found | undefined {
  const reader = new ByteReader(blob, 'executable', 'vmfb/truncated');
  const identifier = reader.text(base + 4, 4);
  const schema = identifier === 'HIP1' ? HIP : identifier === 'AMD1' ? AMDGPU : undefined;
  const found: Found = { references: new Set([base]), tables: new Set() };
  if (schema === undefined) return undefined;
  try {
    return walkTable(reader, base + reader.u32(base), schema, found) ? found : undefined;
  } catch (error) {
    if (error instanceof WavesmithError) return undefined;
    throw error;
  }
}

/** Notes the references of a table and of those below it; false for a field that the schema does not have. */
function walkTable(reader: ByteReader, at: number, schema: Schema, found: Found): boolean {
  if (found.tables.has(at)) return true;
  if (found.tables.size >= MOST_TABLES) return false;
  found.tables.add(at);
  const vtable = at - (reader.u32(at) | 0);
  const count = (reader.u16(vtable) - 4) / 2;
  for (let number = 0; number < count; number++) {
    const offset = reader.u16(vtable + 4 + 2 * number);
    if (offset === 0) continue;
    const field = schema[number];
    if (field === undefined) return false;
    if (field === 'scalar') continue;
    const reference = at + offset;
    const target = reference + reader.u32(reference);
    found.references.add(reference);
    if (field === 'reference') continue;
    if ('table' in field) {
      if (!walkTable(reader, target, field.table, found)) return false;
      continue;
    }
    const count = reader.u32(target);
    for (let n = 0; n < count; n++) {
      const item = target + 4 + 4 * n;
      found.references.add(item);
      if (!walkTable(reader, item + reader.u32(item), field.tables, found)) return false;
    }
  }
  return true;
}
