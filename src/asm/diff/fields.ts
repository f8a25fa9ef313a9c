// Differences of named values: descriptor fields, resources, and metadata documents flattened to paths.
import {
  type CodeObject,
  descriptorRegisters,
  type Kernel,
  type KernelDescriptor,
  kernelOccupancy,
  type MsgPackValue,
} from '../../codeobject/index.ts';

export type FieldValue = string | number | boolean | null;

/** One value that differs; null where a side does not have it. */
export interface FieldChange {
  readonly field: string;
  readonly a: FieldValue;
  readonly b: FieldValue;
}

export type Fields = ReadonlyMap<string, FieldValue>;

/** The fields that differ, in the order of `a`, then those only in `b`. */
export function changedFields(a: Fields, b: Fields): FieldChange[] {
  const changes: FieldChange[] = [];
  for (const [field, value] of a) {
    const other = b.get(field) ?? null;
    if (other !== value) changes.push({ field, a: value, b: other });
  }
  for (const [field, value] of b) if (!a.has(field) && value !== null) changes.push({ field, a: null, b: value });
  return changes;
}

/** Every field of a descriptor but the entry offset, which is a matter of layout. */
export function descriptorFields(descriptor: KernelDescriptor | undefined): Fields {
  const fields = new Map<string, FieldValue>();
  if (descriptor === undefined) return fields;
  for (const [name, value] of Object.entries(descriptor)) {
    if (typeof value === 'number') fields.set(name, value);
    else if (typeof value === 'object') {
      for (const [bits, number] of Object.entries<number>(value)) fields.set(`${name}.${bits}`, number);
    }
  }
  return fields;
}

/** What a kernel occupies, as allocated by its descriptor. */
export function resourceFields(kernel: Kernel, codeObject: CodeObject): Fields {
  const { descriptor } = kernel;
  const fields = new Map<string, FieldValue>();
  if (descriptor === undefined) return fields;
  const { totalVgprs, vgprs, agprs, sgprs } = descriptorRegisters(descriptor);
  fields.set('VGPRs and AGPRs', totalVgprs).set('VGPRs', vgprs).set('AGPRs', agprs).set('SGPRs', sgprs);
  fields.set('LDS bytes', descriptor.groupSegmentFixedSize).set('scratch bytes', descriptor.privateSegmentFixedSize);
  fields.set('kernarg bytes', descriptor.kernargSize);
  const occupancy = kernelOccupancy(kernel, codeObject.target.processor);
  if (occupancy !== undefined) fields.set('waves per SIMD', occupancy.wavesPerSimd);
  return fields;
}

/** A metadata value as `path → scalar`: `.args[0].offset → 8`. */
export function metadataFields(value: MsgPackValue | undefined, skip: ReadonlySet<string> = new Set()): Fields {
  const fields = new Map<string, FieldValue>();
  if (value !== undefined) flatten(value, '', skip, fields);
  return fields;
}

function flatten(value: MsgPackValue, path: string, skip: ReadonlySet<string>, fields: Map<string, FieldValue>): void {
  if (Array.isArray(value)) {
    value.forEach((item, i) => {
      flatten(item, `${path}[${i}]`, skip, fields);
    });
    return;
  }
  if (value instanceof Map) {
    for (const [key, item] of value) {
      if (path === '' && skip.has(String(key))) continue;
      flatten(item, path === '' ? String(key) : `${path}${String(key).startsWith('.') ? '' : '.'}${key}`, skip, fields);
    }
    return;
  }
  if (value === null || typeof value === 'string' || typeof value === 'boolean') fields.set(path, value);
  else if (typeof value === 'number') fields.set(path, value);
  else if (typeof value === 'bigint')
    fields.set(path, Number.isSafeInteger(Number(value)) ? Number(value) : `${value}`);
  else fields.set(path, value instanceof Uint8Array ? `${value.length} bytes` : `extension ${value.type}`);
}
