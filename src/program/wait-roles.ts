// How each instruction takes part in the wait counters: which counter it raises and in which order its result comes back.
// Source: CDNA3 ISA manual, section "Data Dependency Resolution"; LLVM's SIInsertWaitcnts.cpp for the counters of each class.
import type { Immediate, Instruction, InstructionRow } from '../isa/index.ts';

/**
 * `vm`: vector memory, returns in order on vmcnt. `lds`: returns in order on lgkmcnt. `scalar`: returns out of order on lgkmcnt.
 * `flat`: on both counters, and out of order on both, because the address decides which memory answers.
 */
export type MemoryKind = 'vm' | 'lds' | 'scalar' | 'flat';

/** What matters of a row. */
export interface WaitRole {
  readonly kind: MemoryKind | undefined;
  /** Writes memory. */
  readonly stores: boolean;
  readonly isWait: boolean;
  readonly isBarrier: boolean;
}

const roles: (WaitRole | undefined)[] = [];

function kindOf(row: InstructionRow): MemoryKind | undefined {
  const { flags } = row;
  if (flags.has('SMRD')) return 'scalar';
  if (flags.has('DS')) return flags.has('GWS') || row.operands.length === 0 ? undefined : 'lds';
  if (flags.has('FLAT') && !flags.has('FlatGlobal') && !flags.has('FlatScratch')) return 'flat';
  if (!flags.has('VM_CNT')) return undefined;
  const touchesData = flags.has('mayLoad') || flags.has('mayStore') || row.operands.some((o) => o.isOut);
  return touchesData ? 'vm' : undefined;
}

/** The role of a row; cache maintenance (buffer_inv, buffer_wbl2) has none: how it counts differs between targets. */
export function waitRole(row: InstructionRow): WaitRole {
  let role = roles[row.id];
  if (role === undefined) {
    role = {
      kind: kindOf(row),
      stores: row.flags.has('mayStore'),
      isWait: row.operands.some((o) => o.cls === 'SWaitCnt'),
      isBarrier: row.operation === 's_barrier',
    };
    roles[row.id] = role;
  }
  return role;
}

/** The most operations that a counter can count: a field of all ones does not wait, and a full counter stalls issue. */
export const VM_FULL = 63;
export const LGKM_FULL = 15;
export const EXP_FULL = 7;

/** Flat operations: bits of the counters that have not been drained since. */
export const FLAT_VM = 1;
export const FLAT_LGKM = 2;

/** The counts of an s_waitcnt. */
export interface WaitCounts {
  readonly vm: number;
  readonly exp: number;
  readonly lgkm: number;
}

/** The counts that an s_waitcnt waits for. */
export function waitCounts(instruction: Instruction): WaitCounts {
  const bits = (instruction.operands[0] as Immediate).value;
  return { vm: (bits & 15) | ((bits >> 10) & 0x30), exp: (bits >> 4) & 7, lgkm: (bits >> 8) & 15 };
}

/** The weakest wait that proves an operation complete; `age` counts the operations of its kind issued since, for flat its undrained counters. */
export function neededWait(kind: MemoryKind, age: number): { readonly vmcnt?: number; readonly lgkmcnt?: number } {
  switch (kind) {
    case 'vm':
      return { vmcnt: Math.min(age, VM_FULL - 1) };
    case 'lds':
      return { lgkmcnt: Math.min(age, LGKM_FULL - 1) };
    case 'scalar':
      return { lgkmcnt: 0 };
    case 'flat':
      return { ...((age & FLAT_VM) !== 0 ? { vmcnt: 0 } : {}), ...((age & FLAT_LGKM) !== 0 ? { lgkmcnt: 0 } : {}) };
  }
}
