// Which registers an instruction reads and writes, from its row: operand classes and widths, tied operands, implicit registers.
// Source: LLVM's operand definitions and implicit uses and defs (SIInstrInfo.td), through the generated tables.
import type { Instruction, InstructionRow } from '../isa/index.ts';
import { SLOT_WORDS, Slot, type SlotRange, slotsOf } from './slots.ts';

/** The registers one instruction reads and writes. */
export interface Effects {
  /** Read for their value, tied accumulators included. */
  readonly uses: readonly SlotRange[];
  /**
   * Read only to keep the bits and lanes that the result leaves as they were: the tied input of loads into half a register.
   * Never part of `uses`.
   */
  readonly keeps: readonly SlotRange[];
  readonly defs: readonly SlotRange[];
}

const IMPLICIT: Readonly<Record<string, SlotRange>> = {
  EXEC: { first: Slot.EXEC, count: 2 },
  VCC: { first: Slot.VCC, count: 2 },
  FLAT_SCR: { first: Slot.FLAT_SCRATCH, count: 2 },
  M0: { first: Slot.M0, count: 1 },
  SCC: { first: Slot.SCC, count: 1 },
  MODE: { first: Slot.MODE, count: 1 },
};

/** What the row alone says. */
interface Plan {
  readonly uses: readonly number[];
  readonly keeps: readonly number[];
  readonly defs: readonly number[];
  readonly implicitUses: readonly SlotRange[];
  readonly implicitDefs: readonly SlotRange[];
}

/** Loads of half a register whose records do not tie the other half (LLVM ties it for MUBUF and DS, not for FLAT and formats). */
const HALF_LOAD = /_(?:[su]byte|short)_d16(?:_hi)?$|_format_d16_hi_x$/;

/** What adds to its result, or replaces a part of it, though LLVM's records tie nothing to that. Source: AMD CDNA3 ISA, VOP2 and VOP3 opcodes. */
const ACCUMULATES: ReadonlySet<string> = new Set(['v_pk_fmac_f16', 'v_cvt_pkaccum_u8_f32']);
const plans: (Plan | undefined)[] = [];

function planOf(row: InstructionRow): Plan {
  let plan = plans[row.id];
  if (plan === undefined) {
    plan = makePlan(row);
    plans[row.id] = plan;
  }
  return plan;
}

function makePlan(row: InstructionRow): Plan {
  const uses: number[] = [];
  const keeps: number[] = [];
  const defs: number[] = [];
  const isPlainLoad = row.flags.has('mayLoad') && !row.flags.has('IsAtomicRet') && !row.flags.has('VALU');
  row.operands.forEach((operand, i) => {
    if (operand.isOut) defs.push(i);
    else if (isPlainLoad && operand.tiedTo >= 0) keeps.push(i);
    else uses.push(i);
  });
  if (isPlainLoad && keeps.length === 0 && HALF_LOAD.test(row.operation)) keeps.push(...defs);
  if (ACCUMULATES.has(row.operation)) uses.push(...defs);
  const implicit = (names: readonly string[]) =>
    names.map((name) => IMPLICIT[name]).filter((range): range is SlotRange => range !== undefined);
  return { uses, keeps, defs, implicitUses: implicit(row.uses), implicitDefs: implicit(row.defs) };
}

const NONE: readonly SlotRange[] = [];

function ranges(
  instruction: Instruction,
  indexes: readonly number[],
  implicit: readonly SlotRange[],
): readonly SlotRange[] {
  if (indexes.length === 0) return implicit;
  const out: SlotRange[] = [];
  for (const i of indexes) {
    const operand = instruction.operands[i];
    if (operand?.kind !== 'reg') continue;
    const range = slotsOf(operand);
    if (range !== undefined) out.push(range);
  }
  for (const range of implicit) out.push(range);
  return out;
}

/** The registers that an instruction reads and writes. */
export function effectsOf(instruction: Instruction): Effects {
  const plan = planOf(instruction.row);
  return {
    uses: ranges(instruction, plan.uses, plan.implicitUses),
    keeps: ranges(instruction, plan.keeps, NONE),
    defs: ranges(instruction, plan.defs, plan.implicitDefs),
  };
}

/** Adds ranges to a bit set of `SLOT_WORDS` words. */
export function addSlots(set: Uint32Array, slots: readonly SlotRange[]): void {
  for (const { first, count } of slots) {
    for (let slot = first; slot < first + count; slot++) {
      set[slot >>> 5] = (set[slot >>> 5] as number) | (1 << (slot & 31));
    }
  }
}

/** Ranges as a bit set: bit `slot & 31` of word `slot >>> 5`. */
export function slotSet(slots: readonly SlotRange[]): Uint32Array {
  const set = new Uint32Array(SLOT_WORDS);
  addSlots(set, slots);
  return set;
}

/** Whether two lists of ranges have a slot in common. */
export function overlaps(a: readonly SlotRange[], b: readonly SlotRange[]): boolean {
  for (const x of a) {
    for (const y of b) if (x.first < y.first + y.count && y.first < x.first + x.count) return true;
  }
  return false;
}
