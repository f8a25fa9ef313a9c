// Values of registers that are known while code runs: constants, addresses made with s_getpc_b64 (where calls and far branches go) and
// addresses of kernel arguments. Source: the sequences LLVM and Tensile emit for calls and far branches.
import type { Instruction, InstructionRow, Operand } from '../isa/index.ts';
import { Slot, slotsOf } from './slots.ts';
import type { CodeInstruction } from './types.ts';

/** The low dword of a register. Code objects and kernarg segments are smaller than 4 GiB, so it tells an address apart. */
export interface KnownValue {
  /** A number, or bytes from the base. */
  readonly low: number;
  /** `pc`: an address in the code object. `kernarg`: an address in the kernarg segment. */
  readonly base: 'none' | 'pc' | 'kernarg';
}

/** Known values by slot; a slot that is absent can hold anything. */
export type Knowledge = Map<number, readonly KnownValue[]>;

/** More values than this in one register are given up. */
const MAX_VALUES = 32;
/** Operands of a vector operation without modifiers (SDWA and DPP forms have more, and do something else). */
const MAX_OPERANDS = 4;

function isSame(a: KnownValue, b: KnownValue): boolean {
  return a.low === b.low && a.base === b.base;
}

function union(a: readonly KnownValue[], b: readonly KnownValue[]): readonly KnownValue[] | undefined {
  const extra = b.filter((x) => !a.some((y) => isSame(x, y)));
  if (extra.length === 0) return a;
  return a.length + extra.length > MAX_VALUES ? undefined : [...a, ...extra];
}

/** Joins what is known on two paths into `into`, registers with more than `most` values being given up; whether it changed. */
export function joinKnowledge(into: Knowledge, from: Knowledge, most = MAX_VALUES): boolean {
  let changed = false;
  for (const [slot, values] of into) {
    const other = from.get(slot);
    const all = other && union(values, other);
    const joined = all !== undefined && all.length > most ? undefined : all;
    if (joined === values) continue;
    changed = true;
    if (joined === undefined) into.delete(slot);
    else into.set(slot, joined);
  }
  return changed;
}

/** What an operand can hold; undefined when that is not known. */
export function valuesOf(operand: Operand | undefined, known: Knowledge): readonly KnownValue[] | undefined {
  switch (operand?.kind) {
    case 'reg':
      return known.get(slotsOf(operand)?.first ?? -1);
    case 'literal':
      return [{ low: operand.bits | 0, base: 'none' }];
    case 'imm':
      return [{ low: operand.value | 0, base: 'none' }];
    case 'inline': {
      const { encoding } = operand;
      if (encoding > 208) return undefined;
      return [{ low: encoding <= 192 ? encoding - 128 : 192 - encoding, base: 'none' }];
    }
    default:
      return undefined;
  }
}

function combine(
  a: readonly KnownValue[] | undefined,
  b: readonly KnownValue[] | undefined,
  apply: (a: number, b: number) => number,
): readonly KnownValue[] | undefined {
  if (a === undefined || b === undefined || a.length * b.length > MAX_VALUES) return undefined;
  let out: readonly KnownValue[] | undefined = [];
  for (const x of a) {
    for (const y of b) {
      if (x.base !== 'none' && y.base !== 'none') return undefined;
      const base = x.base === 'none' ? y.base : x.base;
      out = out && union(out, [{ low: apply(x.low, y.low) | 0, base }]);
    }
  }
  return out;
}

type Known = readonly KnownValue[] | undefined;
/** What an operation of one or two sources gives. */
type Evaluate = (a: Known, b: Known) => Known;

const ADD: Evaluate = (a, b) => combine(a, b, (x, y) => x + y);
const SUBTRACT: Evaluate = (a, b) => combine(a, b, (x, y) => x - y);
const SHIFT: Evaluate = (a, b) => combine(a, b, (x, y) => x << y);
const SHIFT_BY: Evaluate = (a, b) => combine(b, a, (x, y) => x << y);
const AND: Evaluate = (a, b) => combine(a, b, (x, y) => x & y);
const OR: Evaluate = (a, b) => combine(a, b, (x, y) => x | y);
const MULTIPLY: Evaluate = (a, b) => (isZero(a) ? a : isZero(b) ? b : combine(a, b, Math.imul));

/** Whether a value is known to be zero. */
export function isZero(values: readonly KnownValue[] | undefined): boolean {
  return values !== undefined && values.length === 1 && values[0]?.low === 0 && values[0].base === 'none';
}

/** The operations that address sequences and offsets are made of, by their low dword. */
const OPERATIONS: Readonly<Record<string, Evaluate>> = {
  s_mov_b32: (a) => a,
  s_mov_b64: (a) => a,
  s_movk_i32: (a) => a,
  s_add_u32: ADD,
  s_add_i32: ADD,
  s_addk_i32: ADD,
  s_sub_u32: SUBTRACT,
  s_sub_i32: SUBTRACT,
  s_lshl_b32: SHIFT,
  s_and_b32: AND,
  s_or_b32: OR,
  s_mul_i32: MULTIPLY,
  s_cselect_b32: (a, b) => a && b && union(a, b),
  s_cselect_b64: (a, b) => a && b && union(a, b),
};

/** The vector operations among them: known in the lanes that are active. */
const VECTOR_OPERATIONS: Readonly<Record<string, Evaluate>> = {
  v_mov_b32: (a) => a,
  v_add_u32: ADD,
  v_lshlrev_b32: SHIFT_BY,
  v_and_b32: AND,
  v_or_b32: OR,
  v_mul_lo_u32: MULTIPLY,
  v_mul_u32_u24: MULTIPLY,
};

/** What a row alone says about the values of its results. */
interface RowPlan {
  /** Its result is the address behind it. */
  readonly isAddress: boolean;
  readonly scalar: Evaluate | undefined;
  readonly vector: Evaluate | undefined;
  /** Indexes of the source operands. */
  readonly sources: readonly number[];
}

const plans: (RowPlan | undefined)[] = [];

function planOf(row: InstructionRow): RowPlan {
  let plan = plans[row.id];
  if (plan === undefined) {
    plan = makePlan(row);
    plans[row.id] = plan;
  }
  return plan;
}

function makePlan({ operation, operands, flags }: InstructionRow): RowPlan {
  const find = (from: Readonly<Record<string, Evaluate>>): Evaluate | undefined =>
    Object.hasOwn(from, operation) ? from[operation] : undefined;
  return {
    isAddress: operation === 's_getpc_b64' || flags.has('isCall'),
    scalar: find(OPERATIONS),
    vector: operands.length <= MAX_OPERANDS ? find(VECTOR_OPERATIONS) : undefined,
    sources: operands.flatMap((operand, i) => (operand.isOut ? [] : [i])),
  };
}

/** Whether `stepKnowledge` without vector registers can change anything at an instruction. */
export function changesScalars({ instruction, effects }: CodeInstruction): boolean {
  const { isAddress, scalar } = planOf(instruction.row);
  return isAddress || scalar !== undefined || effects.defs.some(({ first }) => first < Slot.VGPR0);
}

/**
 * The slot that `stepKnowledge` may know the value of behind an instruction, and the slots that it knows it from; undefined when it
 * knows no result of such an instruction.
 */
export function computedFrom({
  row,
  operands,
}: Instruction): { readonly slot: number; readonly from: readonly number[] } | undefined {
  const { isAddress, scalar, vector, sources } = planOf(row);
  if (!isAddress && scalar === undefined && vector === undefined) return undefined;
  const out = row.operands[0]?.isOut ? operands[0] : undefined;
  const slot = out?.kind === 'reg' ? slotsOf(out)?.first : undefined;
  if (slot === undefined) return undefined;
  const from = sources.slice(0, 2).flatMap((index) => {
    const operand = operands[index];
    const range = operand?.kind === 'reg' ? slotsOf(operand) : undefined;
    return range === undefined ? [] : [range.first];
  });
  return { slot, from: isAddress ? [] : from };
}

/** Changes `known` as the instruction changes the registers; of vector registers only with `hasVectors`. */
export function stepKnowledge(code: CodeInstruction, known: Knowledge, hasVectors = false): void {
  const { instruction, effects, pc } = code;
  const { row, operands } = instruction;
  const plan = planOf(row);
  let result: readonly KnownValue[] | undefined;
  if (plan.isAddress) {
    result = [{ low: (pc + instruction.size) | 0, base: 'pc' }];
  } else {
    const evaluate = plan.scalar ?? (hasVectors ? plan.vector : undefined);
    result = evaluate?.(
      valuesOf(operands[plan.sources[0] ?? -1], known),
      valuesOf(operands[plan.sources[1] ?? -1], known),
    );
  }
  if (known.size > 0) {
    for (const { first, count } of effects.defs) {
      if (first < Slot.VGPR0 || hasVectors) for (let slot = first; slot < first + count; slot++) known.delete(slot);
    }
  }
  if (result === undefined) return;
  const out = row.operands[0]?.isOut ? operands[0] : undefined;
  const slot = out?.kind === 'reg' ? slotsOf(out)?.first : undefined;
  if (slot !== undefined) known.set(slot, result);
}

/** Where an s_setpc or s_swappc goes; undefined when it cannot be told. */
export function targetsOf(instruction: Instruction, known: Knowledge): readonly number[] | undefined {
  const index = instruction.row.operands.findIndex((o) => !o.isOut);
  const values = valuesOf(instruction.operands[index], known);
  if (values === undefined || values.some((v) => v.base !== 'pc')) return undefined;
  return values.map((v) => v.low >>> 0);
}
