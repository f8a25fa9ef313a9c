// Registers of a kernel for moves that need some or change their names: which are free over a stretch of code, instructions with other registers, and a
// kernel that reserves more.
import { descriptorRegisters } from '../../codeobject/index.ts';
import { encode, type Instruction, registerTuple } from '../../isa/index.ts';
import { addSlots, type CodeInstruction, hasSlot, SLOT_WORDS, Slot } from '../../program/index.ts';
import type { KernelChange } from '../../rewrite/index.ts';
import type { KernelView } from './view.ts';

/** Vector registers are given out so many at a time. Source: LLVM's AMDGPUUsage, `GRANULATED_WORKITEM_VGPR_COUNT` of GFX90A. */
export const GRANULE = 8;
/** What calls or names registers by a number in a register: then nobody knows which are used. */
const OPEN = /^(?:s_swappc|s_setpc|s_call|s_set_gpr_idx|s_movrel|v_movrel|v_indirect)/;
/** Registers behind the last scalar one that the hardware uses itself: VCC, FLAT_SCRATCH, XNACK_MASK. */
const SPECIAL_SCALARS = 6;

/** Whether all registers that a kernel uses are named in its code. */
export function namesAllRegisters(view: KernelView): boolean {
  for (const { instruction } of view.instructions()) if (OPEN.test(instruction.row.operation)) return false;
  return true;
}

/** Slots that hold something, or are named, anywhere in a stretch of code. */
export function slotsInUse(view: KernelView, codes: readonly CodeInstruction[]): Uint32Array {
  const used = new Uint32Array(SLOT_WORDS);
  for (const code of codes) {
    const { defs, uses, keeps } = code.effects;
    for (const ranges of [defs, uses, keeps]) addSlots(used, ranges);
    for (const live of [view.liveness.before(code), view.liveness.after(code)]) {
      for (let w = 0; w < SLOT_WORDS; w++) used[w] = (used[w] as number) | (live[w] as number);
    }
  }
  return used;
}

/** Free registers of one file, handed out one tuple after the other. */
export class FreeRegisters {
  private readonly used: Uint32Array;
  private readonly file: 'v' | 's';
  private readonly end: number;
  /** One behind the last register that was handed out. */
  last = 0;

  /** `end`: registers that there may be. */
  constructor(used: Uint32Array, file: 'v' | 's', end: number) {
    this.used = used.slice();
    this.file = file;
    this.end = end;
  }

  /** The first register of a free tuple, on an even number when it has several (scalar ones of four and more: on a multiple of four). */
  take(dwords: number): number | undefined {
    const step = dwords === 1 ? 1 : this.file === 's' && dwords > 2 ? 4 : 2;
    const base = this.file === 'v' ? Slot.VGPR0 : 0;
    for (let first = 0; first + dwords <= this.end; first += step) {
      const isFree = Array.from({ length: dwords }, (_, i) => base + first + i).every((s) => !hasSlot(this.used, s));
      if (!isFree) continue;
      addSlots(this.used, [{ first: base + first, count: dwords }]);
      this.last = Math.max(this.last, first + dwords);
      return first;
    }
    return undefined;
  }
}

/** Scalar registers that a kernel may name. */
export function scalarsOf(view: KernelView): number {
  const { descriptor } = view.kernel;
  return descriptor === undefined ? 0 : descriptorRegisters(descriptor).sgprs - SPECIAL_SCALARS;
}

/** Whether a kernel names accumulators: then the others cannot become more without moving these. */
function hasAccumulators(view: KernelView): boolean {
  for (const { effects } of view.instructions()) {
    for (const { first, count } of [...effects.defs, ...effects.uses]) if (first + count > Slot.AGPR0) return true;
  }
  return false;
}

/** Vector registers that a kernel could have: those that it has, or more where it has no accumulators. */
export const vectorLimit = (view: KernelView): number => (hasAccumulators(view) ? view.vectors : 256);

/** What gives a kernel so many vector and accumulator registers. */
export function reserved(vectors: number, accumulators: number): KernelChange {
  const offset = Math.max(4, Math.ceil(vectors / 4) * 4);
  const total = Math.ceil((accumulators === 0 ? vectors : offset + accumulators) / GRANULE) * GRANULE;
  return {
    descriptor: (d) => {
      d.rsrc3.accumOffset = offset / 4 - 1;
      d.rsrc1.granulatedWorkitemVgprCount = total / GRANULE - 1;
    },
    metadata: new Map([['.vgpr_count', BigInt(total)]]),
  };
}

/** What gives a kernel the vector registers below `end`; undefined when it has them. */
export const grown = (view: KernelView, end: number): KernelChange | undefined =>
  end <= view.vectors ? undefined : reserved(end, 0);

/** An instruction with other registers: `place` gives the new slot of an old one. Undefined when a tuple would come apart or does not fit. */
export function withRegisters(
  { row, operands, size }: Instruction,
  place: (slot: number, isOut: boolean) => number,
): Instruction | undefined {
  const changed = operands.map((operand, i) => {
    if (operand.kind !== 'reg' || !/^[vas]$/.test(operand.file)) return operand;
    const base = operand.file === 'v' ? Slot.VGPR0 : operand.file === 'a' ? Slot.AGPR0 : 0;
    const isOut = row.operands[i]?.isOut === true;
    const first = place(base + operand.index, isOut);
    for (let n = 1; n < operand.dwords; n++) if (place(base + operand.index + n, isOut) !== first + n) return undefined;
    return first === base + operand.index ? operand : registerTuple(operand.file, first - base, operand.dwords);
  });
  if (changed.includes(undefined)) return undefined;
  const result = { row, operands: changed as Instruction['operands'], size };
  // Operands that must be one register are one still.
  const isTied = row.operands.every((o, i) => o.tiedTo < 0 || result.operands[i] === result.operands[o.tiedTo]);
  return isTied ? result : undefined;
}

/** The machine code of several instructions. */
export const encoded = (instructions: readonly Instruction[]): Uint8Array[] => instructions.map((i) => encode(i));
