// How many bytes a memory instruction accesses for each lane.

const UNITS: readonly (readonly [RegExp, number])[] = [
  [/dwordx(\d+)|b(96|128)$/, 4],
  [/_[su]?byte|_[iu]8|_b8(_|$)/, 1],
  [/_[su]?short|_[iu]16|_b16(_|$)|d16/, 2],
  [/_x2$|_b64|_f64|_u64|_i64|_pk_add_f64/, 8],
];

/** Bytes for each lane by the operation's name. */
export function accessSize(operation: string): number {
  const many = /dwordx(\d+)/.exec(operation)?.[1];
  if (many !== undefined) return 4 * Number(many);
  const wide = /_b(96|128)(_|$)/.exec(operation)?.[1];
  if (wide !== undefined) return Number(wide) / 8;
  const one = UNITS.find(([pattern]) => pattern.test(operation))?.[1] ?? 4;
  return /^ds_(read|write)2/.test(operation) ? 2 * one : one;
}
