// What the probes of global memory share: a record of each access, and how many bytes an instruction accesses for each lane.
import type { ProbeInstruction, ProbeProgram } from '../select.ts';
import { records } from '../state.ts';
import type { Points } from '../types.ts';

/** The state of a probe that records accesses: the active lanes and the address of each. */
export const ACCESSES = { accesses: records({ exec: 'u64', address: 'lane64' }, { capacity: 1 << 15 }) };

/** Records every vector access of global memory. */
export function recordAccesses(program: ProbeProgram, at: Points<typeof ACCESSES>): void {
  for (const one of program.instructions()) {
    if (one.memory !== 'global' && one.memory !== 'flat' && one.memory !== 'buffer') continue;
    at.before(one, (p) => p.append('accesses', { exec: p.exec, address: p.address }));
  }
}

const UNITS: readonly (readonly [RegExp, number])[] = [
  [/dwordx(\d+)|b(96|128)$/, 4],
  [/_[su]?byte|_[iu]8|_b8(_|$)/, 1],
  [/_[su]?short|_[iu]16|_b16(_|$)|d16/, 2],
  [/_x2$|_b64|_f64|_u64|_i64|_pk_add_f64/, 8],
];

/** Bytes for each lane by the operation's name. */
export function accessSize({ operation }: ProbeInstruction): number {
  const many = /dwordx(\d+)/.exec(operation)?.[1];
  if (many !== undefined) return 4 * Number(many);
  const wide = /_b(96|128)(_|$)/.exec(operation)?.[1];
  if (wide !== undefined) return Number(wide) / 8;
  const one = UNITS.find(([pattern]) => pattern.test(operation))?.[1] ?? 4;
  return /^ds_(read|write)2/.test(operation) ? 2 * one : one;
}
