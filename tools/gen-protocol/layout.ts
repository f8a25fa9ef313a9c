// Where the fields of a struct are: natural alignment, as C++ lays plain integers out. A struct of a message ends on 8 bytes only when it has
// 64-bit fields, and its texts follow without padding.
import type { Field, FieldType, Struct } from './schema.ts';

const SIZES: Readonly<Record<FieldType, number>> = {
  u32: 4,
  u64: 8,
  i64: 8,
  place: 8,
  text: 0,
  bytes: 0,
  rest: 0,
};

export const isText = (field: Field): boolean => SIZES[field.type] === 0;

export interface Layout {
  readonly fixed: readonly (Field & { readonly offset: number })[];
  readonly texts: readonly Field[];
  /** Bytes of the fixed fields. */
  readonly size: number;
}

/** A struct with holes is refused: what fills them would be sent. */
export function layoutOf(struct: Struct): Layout {
  const fixed: (Field & { readonly offset: number })[] = [];
  let at = 0;
  for (const field of struct.fields) {
    if (isText(field)) continue;
    const size = SIZES[field.type];
    if (at % size !== 0) throw new Error(`${struct.name}.${field.name} would need padding before it.`);
    fixed.push({ ...field, offset: at });
    at += size;
  }
  const widest = Math.max(0, ...fixed.map((f) => SIZES[f.type]));
  if (widest > 0 && at % widest !== 0) throw new Error(`${struct.name} would end with padding.`);
  if (struct.shared !== undefined && struct.shared.size !== at) throw new Error(`${struct.name} has ${at} bytes.`);
  const texts = struct.fields.filter(isText);
  if (struct.fields.findIndex(isText) >= 0 && struct.fields.findIndex(isText) < fixed.length) {
    throw new Error(`${struct.name}: texts come last.`);
  }
  return { fixed, texts, size: at };
}
