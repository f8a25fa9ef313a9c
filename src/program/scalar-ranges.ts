// What scalar registers can hold where an index chooses a jump: a bounded number, an address in the code object that such a number was
// added to, a dword that was loaded with such an address, and the sum of both.
// Source: the jump tables that compilers emit (table of distances, compare against the last index) and computed jumps written by hand.
import type { Instruction, Operand } from '../isa/index.ts';
import { immediateOf, operandNamed } from '../isa/operand.ts';
import { valuesOf } from './constants.ts';
import { Slot, slotsOf } from './slots.ts';
import type { CodeInstruction, Origin } from './types.ts';

/** The numbers from `min` to `max` that are `min` and a multiple of `step`; 0 for one number. */
export interface Range {
  readonly min: number;
  readonly max: number;
  readonly step: number;
}

/** The low dword of a register. An address has the file's addresses; an entry was loaded from one of the addresses of its range. */
export type ScalarValue =
  | { readonly kind: 'number'; readonly range: Range }
  | { readonly kind: 'address'; readonly range: Range; readonly from: Origin }
  | { readonly kind: 'entry'; readonly range: Range; readonly bytes: 4 | 8 }
  | { readonly kind: 'sum'; readonly base: number; readonly from: Origin; readonly range: Range; readonly pc: number };

/** By slot; a slot that is absent can hold anything. */
export type ScalarValues = Map<number, ScalarValue>;

const MOST = 2 ** 32 - 1;
const MOST_SIGNED = 2 ** 31 - 1;
const ANY: Range = { min: 0, max: MOST, step: 1 };

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}

function number(range: Range): ScalarValue | undefined {
  return range.max > MOST || range.min < 0 ? undefined : { kind: 'number', range };
}

function constant(value: number): ScalarValue {
  return { kind: 'number', range: { min: value, max: value, step: 0 } };
}

/** A constant operand as an unsigned dword. */
function constantOf(operand: Operand | undefined): number | undefined {
  if (operand === undefined || operand.kind === 'reg') return undefined;
  const [value] = valuesOf(operand, new Map()) ?? [];
  return value === undefined ? undefined : value.low >>> 0;
}

function slotOf(operand: Operand | undefined): number | undefined {
  return operand?.kind === 'reg' ? slotsOf(operand)?.first : undefined;
}

function plus(a: Range, b: Range): Range {
  return { min: a.min + b.min, max: a.max + b.max, step: gcd(a.step, b.step) };
}

function times({ min, max, step }: Range, factor: number): Range {
  return { min: min * factor, max: max * factor, step: step * factor };
}

function isOne({ min, max }: Range): boolean {
  return min === max;
}

/** The sum of two values, made by an instruction; `literal`: one of them is its constant. */
function sum(a: ScalarValue, b: ScalarValue, pc: number, literal: boolean): ScalarValue | undefined {
  if (a.kind === 'number' && b.kind === 'number') return number(plus(a.range, b.range));
  const [address, other] = a.kind === 'address' ? [a, b] : [b, a];
  if (address.kind !== 'address') return undefined;
  if (other.kind === 'entry' && other.bytes === 4 && isOne(address.range))
    return { kind: 'sum', base: address.range.min, from: address.from, range: other.range, pc };
  if (other.kind !== 'number') return undefined;
  const from = literal ? { ...address.from, sums: [...address.from.sums, pc] } : address.from;
  // Distances are signed.
  const distance = isOne(other.range) ? constant(other.range.min | 0) : other;
  return distance.kind === 'number' ? { kind: 'address', range: plus(address.range, distance.range), from } : undefined;
}

const SHIFTED_SUM = /^s_lshl([1-4])_add_u32$/;

/** What an instruction leaves in the low dword of its result; undefined when that can be anything. */
function resultOf({ instruction, pc }: CodeInstruction, known: ScalarValues): ScalarValue | undefined {
  const { operation } = instruction.row;
  const value = (name: string): ScalarValue | undefined => {
    const operand = operandNamed(instruction, name);
    const own = constantOf(operand);
    return own === undefined ? known.get(slotOf(operand) ?? -1) : constant(own);
  };
  const isConstant = (name: string): boolean => constantOf(operandNamed(instruction, name)) !== undefined;
  const rangeOf = (name: string): Range => {
    const one = value(name);
    return one?.kind === 'number' ? one.range : ANY;
  };
  const shifted = (range: Range, by: number): ScalarValue | undefined => number(times(range, 2 ** by));
  const factor = SHIFTED_SUM.exec(operation)?.[1];
  if (factor !== undefined) {
    const [a, b] = [shifted(rangeOf('src0'), Number(factor)), value('src1')];
    return a && b && sum(a, b, pc, isConstant('src1'));
  }
  switch (operation) {
    case 's_getpc_b64': {
      const at = pc + instruction.size;
      return { kind: 'address', range: { min: at, max: at, step: 0 }, from: { getPc: pc, sums: [] } };
    }
    case 's_mov_b32':
    case 's_mov_b64':
      return value('src0');
    case 's_movk_i32':
      return constant(immediateOf(instruction, 'simm16') >>> 0);
    case 's_add_u32':
    case 's_add_i32': {
      const [a, b] = [value('src0'), value('src1')];
      return a && b && sum(a, b, pc, isConstant('src0') || isConstant('src1'));
    }
    case 's_lshl_b32':
    case 's_lshl_b64': {
      const by = rangeOf('src1');
      return isOne(by) && by.min < 32 ? shifted(rangeOf('src0'), by.min) : undefined;
    }
    case 's_mul_i32': {
      const [a, b] = [rangeOf('src0'), rangeOf('src1')];
      return isOne(b) ? number(times(a, b.min)) : isOne(a) ? number(times(b, a.min)) : undefined;
    }
    case 's_lshr_b32': {
      const by = rangeOf('src1');
      return isOne(by) ? number({ min: 0, max: Math.floor(MOST / 2 ** (by.min & 31)), step: 1 }) : undefined;
    }
    case 's_and_b32': {
      const max = Math.min(rangeOf('src0').max, rangeOf('src1').max);
      const mask = [rangeOf('src0'), rangeOf('src1')].find(isOne)?.min ?? 0;
      return number({ min: 0, max, step: mask === 0 ? 1 : (mask & -mask) >>> 0 });
    }
    case 's_min_u32':
      return number({ min: 0, max: Math.min(rangeOf('src0').max, rangeOf('src1').max), step: 1 });
    case 's_bfe_u32': {
      const field = rangeOf('src1');
      return isOne(field)
        ? number({ min: 0, max: 2 ** Math.min(32, (field.min >>> 16) & 127) - 1, step: 1 })
        : undefined;
    }
    case 's_load_dword':
    case 's_load_dwordx2': {
      const [base, offset] = [value('sbase'), value('soffset')];
      if (base?.kind !== 'address') return undefined;
      const isPlain = operandNamed(instruction, 'soffset') === undefined;
      if (!isPlain && offset?.kind !== 'number') return undefined;
      const fixed = { min: immediateOf(instruction, 'offset'), max: immediateOf(instruction, 'offset'), step: 0 };
      const index = offset?.kind === 'number' ? plus(offset.range, fixed) : fixed;
      return { kind: 'entry', range: plus(base.range, index), bytes: operation === 's_load_dword' ? 4 : 8 };
    }
    default:
      return undefined;
  }
}

/** Changes `known` as the instruction changes the scalar registers. */
export function stepScalars(code: CodeInstruction, known: ScalarValues): void {
  const result = resultOf(code, known);
  for (const { first, count } of code.effects.defs)
    if (first < Slot.SCC) for (let slot = first; slot < first + count; slot++) known.delete(slot);
  const slot = slotOf(operandNamed(code.instruction, 'sdst'));
  if (result !== undefined && slot !== undefined) known.set(slot, result);
}

/** A number that a branch compares with a constant. */
export interface Comparison {
  readonly slot: number;
  /** What it is when SCC is set, and when it is not. */
  readonly isSet: Range;
  readonly isClear: Range;
  /** Numbers from 2^31 on count as negative ones. */
  readonly isSigned: boolean;
}

const COMPARE = /^s_cmpk?_(eq|lg|lt|le|gt|ge)_[ui]32$/;

/** What an instruction compares with a constant that is not negative; undefined when it is no such comparison. */
export function comparisonOf({ row, operands }: Instruction): Comparison | undefined {
  const [, how] = COMPARE.exec(row.operation) ?? [];
  const [a, b] = operands;
  if (how === undefined) return undefined;
  const isSwapped = a?.kind !== 'reg';
  const [operand, value] = isSwapped ? [b, constantOf(a)] : [a, constantOf(b)];
  const slot = slotOf(operand);
  if (slot === undefined || value === undefined) return undefined;
  const isSigned = row.operation.endsWith('_i32');
  if (isSigned && value > MOST_SIGNED) return undefined;
  const below: Range = { min: 0, max: value - 1, step: 1 };
  const upTo: Range = { min: 0, max: value, step: 1 };
  const above: Range = { min: value + 1, max: MOST, step: 1 };
  const from: Range = { min: value, max: MOST, step: 1 };
  const only: Range = { min: value, max: value, step: 0 };
  const ways: Readonly<Record<string, readonly [Range, Range]>> = {
    eq: [only, ANY],
    lg: [ANY, only],
    lt: isSwapped ? [above, upTo] : [below, from],
    le: isSwapped ? [from, below] : [upTo, above],
    gt: isSwapped ? [below, from] : [above, upTo],
    ge: isSwapped ? [upTo, above] : [from, below],
  };
  const [isSet, isClear] = ways[how] as readonly [Range, Range];
  return { slot, isSet, isClear, isSigned };
}

/** What is left of a value that a comparison puts in a range; 'never' when nothing is. */
export function narrowed(
  value: ScalarValue | undefined,
  to: Range,
  isSigned: boolean,
): ScalarValue | 'never' | undefined {
  if (to === ANY || (value !== undefined && value.kind !== 'number')) return value;
  const { min, max, step } = value?.range ?? ANY;
  const isOpen = isSigned && max > MOST_SIGNED;
  // Negative numbers are below every constant, and above none.
  if (isOpen && to.min === 0 && to.max < MOST && to.max > 0) return value;
  const low = to.min <= min ? min : step === 0 ? to.min : min + Math.ceil((to.min - min) / step) * step;
  const high = Math.min(max, to.max, isOpen ? MOST_SIGNED : MOST);
  if (low > high) return isOpen ? value : 'never';
  return { kind: 'number', range: { min: low, max: high, step: low === high ? 0 : step } };
}

function isSameOrigin(a: Origin, b: Origin): boolean {
  return a.getPc === b.getPc && a.sums.join() === b.sums.join();
}

function isSameRange(a: Range, b: Range): boolean {
  return a.min === b.min && a.max === b.max && a.step === b.step;
}

/** The range of both; where `widen` says so its end goes to the next of these ascending numbers. */
function joined(a: Range, b: Range, widen: readonly number[] | undefined): Range {
  if (isSameRange(a, b)) return a;
  const min = Math.min(a.min, b.min);
  const max = Math.max(a.max, b.max);
  const step = gcd(gcd(a.step, b.step), Math.abs(a.min - b.min));
  if (widen === undefined || max <= a.max) return { min, max, step };
  return { min, max: widen.find((n) => n >= max) ?? MOST, step: 1 };
}

function joinedValues(a: ScalarValue, b: ScalarValue, widen: readonly number[] | undefined): ScalarValue | undefined {
  if (a.kind === 'number' && b.kind === 'number') return number(joined(a.range, b.range, widen));
  if (a.kind === 'address' && b.kind === 'address' && isSameOrigin(a.from, b.from) && isSameRange(a.range, b.range))
    return a;
  if (a.kind === 'entry' && b.kind === 'entry' && a.bytes === b.bytes && isSameRange(a.range, b.range)) return a;
  if (a.kind === 'sum' && b.kind === 'sum' && a.pc === b.pc && a.base === b.base && isSameRange(a.range, b.range))
    return a;
  return undefined;
}

/** Joins what two paths know into `into`; whether it changed. */
export function joinScalars(into: ScalarValues, from: ScalarValues, widen: readonly number[] | undefined): boolean {
  let isChanged = false;
  for (const [slot, value] of into) {
    const other = from.get(slot);
    const both = other && joinedValues(value, other, widen);
    if (both === undefined) into.delete(slot);
    else if (both.kind === 'number' && value.kind === 'number' && isSameRange(both.range, value.range)) continue;
    else if (both === value) continue;
    else into.set(slot, both);
    isChanged = true;
  }
  return isChanged;
}
