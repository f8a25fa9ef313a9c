// Values of scalar registers that are known while code runs, as far as branch targets need them: addresses made with s_getpc_b64
// and the constants added to them. Source: the sequences LLVM and Tensile emit for calls and far branches.
import type { Instruction, Operand } from '../isa/index.ts';
import type { CodeInstruction } from './types.ts';

/** The low dword of a scalar register. Code objects are smaller than 4 GiB, so it tells an address apart. */
export interface KnownValue {
  readonly low: number;
  /** Made from the program counter. */
  readonly isAddress: boolean;
}

/** Known values by slot; a slot that is absent can hold anything. */
export type Knowledge = Map<number, readonly KnownValue[]>;

/** More values than this in one register are given up. */
const MAX_VALUES = 32;

function isSame(a: KnownValue, b: KnownValue): boolean {
  return a.low === b.low && a.isAddress === b.isAddress;
}

function union(a: readonly KnownValue[], b: readonly KnownValue[]): readonly KnownValue[] | undefined {
  const extra = b.filter((x) => !a.some((y) => isSame(x, y)));
  if (extra.length === 0) return a;
  return a.length + extra.length > MAX_VALUES ? undefined : [...a, ...extra];
}

/** Joins what is known on two paths into `into`; whether it changed. */
export function joinKnowledge(into: Knowledge, from: Knowledge): boolean {
  let changed = false;
  for (const [slot, values] of into) {
    const other = from.get(slot);
    const joined = other && union(values, other);
    if (joined === values) continue;
    changed = true;
    if (joined === undefined) into.delete(slot);
    else into.set(slot, joined);
  }
  return changed;
}

function valuesOf(operand: Operand | undefined, known: Knowledge): readonly KnownValue[] | undefined {
  switch (operand?.kind) {
    case 'reg':
      return known.get(operand.encoding);
    case 'literal':
      return [{ low: operand.bits | 0, isAddress: false }];
    case 'imm':
      return [{ low: operand.value | 0, isAddress: false }];
    case 'inline': {
      const { encoding } = operand;
      if (encoding > 208) return undefined;
      return [{ low: encoding <= 192 ? encoding - 128 : 192 - encoding, isAddress: false }];
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
      out = out && union(out, [{ low: apply(x.low, y.low) | 0, isAddress: x.isAddress || y.isAddress }]);
    }
  }
  return out;
}

type Evaluate = (sources: readonly (readonly KnownValue[] | undefined)[]) => readonly KnownValue[] | undefined;

const ADD: Evaluate = ([a, b]) => combine(a, b, (x, y) => x + y);
const SUBTRACT: Evaluate = ([a, b]) => combine(a, b, (x, y) => x - y);

/** The scalar operations that address sequences are made of, by their low dword. */
const OPERATIONS: Readonly<Record<string, Evaluate>> = {
  s_mov_b32: ([a]) => a,
  s_mov_b64: ([a]) => a,
  s_movk_i32: ([a]) => a,
  s_add_u32: ADD,
  s_add_i32: ADD,
  s_addk_i32: ADD,
  s_sub_u32: SUBTRACT,
  s_sub_i32: SUBTRACT,
  s_lshl_b32: ([a, b]) => combine(a, b, (x, y) => x << y),
  s_and_b32: ([a, b]) => combine(a, b, (x, y) => x & y),
  s_cselect_b32: ([a, b]) => a && b && union(a, b),
  s_cselect_b64: ([a, b]) => a && b && union(a, b),
};

function sourcesOf(instruction: Instruction, known: Knowledge): (readonly KnownValue[] | undefined)[] {
  const out: (readonly KnownValue[] | undefined)[] = [];
  instruction.row.operands.forEach((operand, i) => {
    if (!operand.isOut) out.push(valuesOf(instruction.operands[i], known));
  });
  return out;
}

/** Changes `known` as the instruction changes the registers. */
export function stepKnowledge(code: CodeInstruction, known: Knowledge): void {
  const { instruction, effects, pc } = code;
  const { row, operands } = instruction;
  let result: readonly KnownValue[] | undefined;
  if (row.operation === 's_getpc_b64' || row.flags.has('isCall')) {
    result = [{ low: (pc + instruction.size) | 0, isAddress: true }];
  } else if (known.size > 0 || row.flags.has('SALU')) {
    const evaluate = Object.hasOwn(OPERATIONS, row.operation) ? OPERATIONS[row.operation] : undefined;
    result = evaluate?.(sourcesOf(instruction, known));
  }
  if (known.size > 0) {
    for (const { first, count } of effects.defs) {
      if (first < 256) for (let slot = first; slot < first + count; slot++) known.delete(slot);
    }
  }
  const out = row.operands[0]?.isOut ? operands[0] : undefined;
  if (result !== undefined && out?.kind === 'reg') known.set(out.encoding, result);
}

/** Where an s_setpc or s_swappc goes; undefined when it cannot be told. */
export function targetsOf(instruction: Instruction, known: Knowledge): readonly number[] | undefined {
  const index = instruction.row.operands.findIndex((o) => !o.isOut);
  const values = valuesOf(instruction.operands[index], known);
  if (values === undefined || values.some((v) => !v.isAddress)) return undefined;
  return values.map((v) => v.low >>> 0);
}
