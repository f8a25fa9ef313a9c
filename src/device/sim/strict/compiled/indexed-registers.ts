// Vector registers of an instruction under s_set_gpr_idx, which M0 moves: compiled code asks whether those are defined that it reads, and notes those that it writes.
import { INDEXED_OPERANDS } from '../../interpreter/loaded-code.ts';
import { VGPR_BYTES } from '../../state/layout.ts';
import type { FunctionContext } from '../../wasm/context.ts';
import { pushOffsets, releaseOffsets } from '../../wasm/indexed.ts';
import { HIGH, LOW, type StrictPlan } from '../plan.ts';

/** The slot of the first vector register. */
const FIRST_VECTOR = 256;
/** Bytes of the shadow of a vector register: a bit of each lane for either half. */
const SHADOW_BYTES = 16;

/** A half of a register of an operand (its number). */
interface MovedHalf {
  readonly register: number;
  readonly isHigh: boolean;
  readonly operand: number;
}

/** What an instruction reads and writes in its active lanes. */
export interface MovedRegisters {
  readonly reads: readonly MovedHalf[];
  readonly writes: readonly MovedHalf[];
}

/** Undefined where more is to be known than which operands the registers belong to. */
export function indexedRegisters(plan: StrictPlan): MovedRegisters | undefined {
  const { instruction, special, effects, access, role, outputModifier, partReads, laneSources } = plan;
  if (special !== 'none' || access !== undefined || role.kind !== undefined) return undefined;
  if (outputModifier !== undefined || laneSources !== undefined) return undefined;
  if (partReads.length + effects.keeps.length > 0 || plan.reads.some(({ isWhole }) => isWhole)) return undefined;
  if (plan.writes.some(({ isWhole }) => isWhole)) return undefined;
  const { operands } = instruction.row;
  /** The only operand of those that are read, or written, that a register belongs to. */
  const operandOf = (register: number, isOut: boolean): number | undefined => {
    const all = instruction.operands.flatMap((operand, k) => {
      const definition = operands[k];
      if (operand.kind !== 'reg' || operand.file !== 'v' || definition?.isOut !== isOut) return [];
      if (!INDEXED_OPERANDS.includes(definition.name)) return [];
      return register >= operand.index && register < operand.index + operand.dwords ? [k] : [];
    });
    return all.length === 1 ? all[0] : undefined;
  };
  const half = (register: number, isHigh: boolean, isOut: boolean): MovedHalf | undefined => {
    const operand = operandOf(register, isOut);
    return operand === undefined ? undefined : { register, isHigh, operand };
  };
  const sources = plan.copies.map(({ from }) => from - FIRST_VECTOR).filter((register) => register >= 0);
  // As segments ask for them (races/segments.ts).
  const reads = [
    ...plan.reads.map((read) => half(read.register, read.half === HIGH, false)),
    ...sources.map((register) => half(register, false, false)),
  ];
  const writes = plan.writes.flatMap(({ register, halves }) =>
    [LOW, HIGH].filter((one) => (halves & one) !== 0).map((one) => half(register, one === HIGH, true)),
  );
  // What is written and read, too, is read by an operand of another name.
  const read = instruction.operands.reduce(
    (sum, o, k) => sum + (o.kind === 'reg' && o.file === 'v' && operands[k]?.isOut === false ? o.dwords : 0),
    0,
  );
  if (reads.length !== read) return undefined;
  return [...reads, ...writes].includes(undefined)
    ? undefined
    : { reads: reads as MovedHalf[], writes: writes as MovedHalf[] };
}

/** Written inside of a block: leaves it where a register that is read is not defined in all active lanes (the local `exec`), or one does not exist. */
export function emitIndexedRegisters(
  context: FunctionContext,
  shadow: number,
  exec: number,
  { instruction }: StrictPlan,
  { reads, writes }: MovedRegisters,
): void {
  const { fn } = context;
  const offsets = pushOffsets(context, instruction);
  fn.brIf(0);
  /** Leaves the shadow of what M0 adds to a register of an operand. */
  const place = ({ operand }: MovedHalf): void => {
    fn.get(shadow);
    const offset = offsets.get(operand);
    if (offset !== undefined)
      fn.get(offset)
        .i32(Math.log2(VGPR_BYTES / SHADOW_BYTES))
        .op('i32.shr_u')
        .op('i32.add');
  };
  const at = ({ register, isHigh }: MovedHalf): number => SHADOW_BYTES * register + (isHigh ? SHADOW_BYTES / 2 : 0);
  reads.forEach((half, n) => {
    place(half);
    fn.memory('i64.load', at(half));
    if (n > 0) fn.op('i64.and');
  });
  if (reads.length > 0) fn.i64(-1n).op('i64.xor').get(exec).op('i64.and').i64(0n).op('i64.ne').brIf(0);
  for (const half of writes) {
    place(half);
    place(half);
    fn.memory('i64.load', at(half)).get(exec).op('i64.or').memory('i64.store', at(half));
  }
  releaseOffsets(fn, offsets);
}
