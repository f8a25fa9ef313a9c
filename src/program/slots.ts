// One number per 32-bit register of a wavefront, for bit sets and side tables over all register files.
// Source: scalar source encodings of the CDNA3 ISA manual, section "Scalar ALU Operands".
import type { Register } from '../isa/index.ts';

/** SGPRs and scalar specials have their source encoding (vcc_lo 106, m0 124, exec_lo 126); `VGPR0 + n` is vN, `AGPR0 + n` is aN. */
export const Slot = {
  FLAT_SCRATCH: 102,
  XNACK_MASK: 104,
  VCC: 106,
  TTMP0: 108,
  M0: 124,
  EXEC: 126,
  /** Not an encoding: the MODE register. */
  MODE: 128,
  SCC: 253,
  VGPR0: 256,
  AGPR0: 512,
} as const;

/** Number of slots. */
export const SLOT_COUNT = 768;

/** Words of a bit set over all slots. */
export const SLOT_WORDS = SLOT_COUNT / 32;

/** Slots that follow each other: the dwords of one register tuple. */
export interface SlotRange {
  readonly first: number;
  readonly count: number;
}

const ranges: (SlotRange | null)[] = [];

/** The slots of a register, or undefined for constants in register clothes (`src_shared_base`, `null`, …). */
export function slotsOf(register: Register): SlotRange | undefined {
  let range = ranges[register.id];
  if (range === undefined) {
    range = makeRange(register) ?? null;
    ranges[register.id] = range;
  }
  return range ?? undefined;
}

function makeRange(register: Register): SlotRange | undefined {
  switch (register.file) {
    case 'v':
      return { first: Slot.VGPR0 + register.index, count: register.dwords };
    case 'a':
      return { first: Slot.AGPR0 + register.index, count: register.dwords };
    default: {
      const { encoding, dwords } = register;
      if (encoding === Slot.SCC) return { first: Slot.SCC, count: 1 };
      if (encoding === 251) return { first: Slot.VCC, count: 2 };
      if (encoding === 252) return { first: Slot.EXEC, count: 2 };
      return encoding < 128 && encoding !== 125 ? { first: encoding, count: dwords } : undefined;
    }
  }
}

const NAMES: Readonly<Record<number, string>> = {
  102: 'flat_scratch_lo',
  103: 'flat_scratch_hi',
  104: 'xnack_mask_lo',
  105: 'xnack_mask_hi',
  106: 'vcc_lo',
  107: 'vcc_hi',
  124: 'm0',
  126: 'exec_lo',
  127: 'exec_hi',
  128: 'mode',
  253: 'scc',
};

/** The assembler's name of one slot: `v3`, `a0`, `s7`, `vcc_lo`, `m0`, `scc`. */
export function slotName(slot: number): string {
  if (slot >= Slot.AGPR0) return `a${slot - Slot.AGPR0}`;
  if (slot >= Slot.VGPR0) return `v${slot - Slot.VGPR0}`;
  return NAMES[slot] ?? (slot >= Slot.TTMP0 && slot < Slot.M0 ? `ttmp${slot - Slot.TTMP0}` : `s${slot}`);
}

/** Names of many slots, neighbours joined as the assembler writes tuples: `v[4:7]`, `s2`. */
export function slotNames(slots: Iterable<number>): string[] {
  const sorted = [...slots].sort((a, b) => a - b);
  const out: string[] = [];
  for (let i = 0; i < sorted.length; ) {
    const first = sorted[i] as number;
    const start = slotName(first);
    let end = i + 1;
    const tuple = /^([vas]|ttmp)\d+$/.exec(start)?.[1];
    if (tuple !== undefined) {
      while (sorted[end] === first + (end - i) && slotName(sorted[end] as number).startsWith(tuple)) end++;
    }
    const last = first + (end - i) - 1;
    out.push(end === i + 1 ? start : `${tuple}[${start.slice(tuple?.length)}:${slotName(last).slice(tuple?.length)}]`);
    i = end;
  }
  return out;
}

/** The names of the registers of ranges. */
export function rangeNames(ranges: readonly SlotRange[]): string[] {
  return slotNames(ranges.flatMap(({ first, count }) => Array.from({ length: count }, (_, i) => first + i)));
}
