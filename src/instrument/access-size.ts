// How many bytes a memory instruction accesses for each lane, and how far behind the address of an LDS instruction.
// Source: CDNA3 ISA manual, "Data Share Operations".
import type { Instruction } from '../isa/index.ts';
import { immediateOf } from '../isa/operand.ts';

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
  return TWO.test(operation) ? 2 * one : one;
}

/** LDS instructions with two addresses, each an element behind the base by its own offset. */
const TWO = /^ds_(read|write|wrxchg)2/;
/** What the offsets of instructions with `st64` in their name count: elements. */
const FAR = 64;

/** Bytes from the address register to what an LDS instruction accesses: one place, or two for those with two offsets. */
export function ldsOffsets(instruction: Instruction): readonly number[] {
  const { operation } = instruction.row;
  if (!TWO.test(operation)) return [immediateOf(instruction, 'offset')];
  const unit = (accessSize(operation) / 2) * (operation.includes('2st64') ? FAR : 1);
  return [unit * immediateOf(instruction, 'offset0'), unit * immediateOf(instruction, 'offset1')];
}
