// A model of LDS bank conflicts, from addresses: 32 banks of 4 bytes; a wavefront's access is served in phases of lanes that do not
// conflict across phases; a phase takes as many cycles as the busiest bank has different dwords (atomics: lanes).
// Phases: 32 lanes for up to 4 bytes, 16 lanes for 8 bytes (AMD OpenCL optimisation guide, "Local memory bank conflicts");
// 8 lanes for 16 bytes, in the lane order of AMD Composable Kernel's "LDS bank conflicts" page. For gfx90a and gfx942.

import { immediateOf, operandNamed } from '../../../isa/operand.ts';
import { semanticsOf } from '../../../isa/semantics/index.ts';
import { targetInfo } from '../../../isa/table/targets.ts';
import type { Instruction, TargetName } from '../../../isa/types.ts';
import type { BoundInstruction } from '../interpreter/loaded-code.ts';
import { vectorBase } from '../interpreter/operands.ts';
import type { Wave } from '../state/wave.ts';

/** Banks of 4 bytes. */
export const BANKS = 32;

/** What the model counted. */
export interface LdsBankCount {
  /** Instructions that the model covers. */
  readonly instructions: number;
  /** LDS instructions whose phases are not published (12-byte accesses, append, transposing reads, …). */
  readonly notModelled: number;
  /** Cycles without any conflict: one per phase with an active lane. */
  readonly phases: number;
  /** Cycles on top of those. */
  readonly conflictCycles: number;
}

/** The sums of two runs; undefined where none was counted. */
export function addBankCounts(a: LdsBankCount | undefined, b: LdsBankCount | undefined): LdsBankCount | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return {
    instructions: a.instructions + b.instructions,
    notModelled: a.notModelled + b.notModelled,
    phases: a.phases + b.phases,
    conflictCycles: a.conflictCycles + b.conflictCycles,
  };
}

const range = (first: number, count: number): number[] => Array.from({ length: count }, (_, i) => first + i);
const groupsOf = (size: number): number[][] => range(0, 64 / size).map((n) => range(n * size, size));

/** Lanes served together, by bytes per lane. */
const WORD_PHASES = groupsOf(32);
const PAIR_PHASES = groupsOf(16);
const QUAD_STORE_PHASES = groupsOf(8);
const QUAD_LOAD_PHASES = [0, 32].flatMap((half) =>
  [
    [0, 20],
    [4, 16],
    [8, 28],
    [12, 24],
  ].map(([a, b]) => [...range(half + (a as number), 4), ...range(half + (b as number), 4)]),
);

/** What one access of an LDS instruction asks of the banks. */
export interface BankAccess {
  /** First word of its address register in the wave's vector registers. */
  readonly base: number;
  /** Bytes added to the addresses. */
  readonly offset: number;
  /** Of each lane: 1, 2, 4, 8 or 16. */
  readonly bytes: number;
  readonly atomic: boolean;
  /** Lanes served together. */
  readonly phases: readonly (readonly number[])[];
}

function phasesOf(bytes: number, isLoad: boolean): readonly (readonly number[])[] | undefined {
  if (bytes <= 4) return WORD_PHASES;
  if (bytes === 8) return PAIR_PHASES;
  if (bytes === 16) return isLoad ? QUAD_LOAD_PHASES : QUAD_STORE_PHASES;
  return undefined;
}

/** The accesses of an instruction; undefined when the model does not cover it; read2 and write2 are two accesses. */
export function accessesOf(instruction: Instruction): BankAccess[] | undefined {
  const op = semanticsOf(instruction.row.operation);
  if (op === undefined || (op.kind !== 'load' && op.kind !== 'store' && op.kind !== 'atomic')) return undefined;
  const address = operandNamed(instruction, 'addr');
  if (op.space !== 'lds' || address?.kind !== 'reg') return undefined;
  const base = vectorBase(address);
  const bytes = op.kind === 'atomic' ? (/64/.test(op.type) ? 8 : 4) : op.bytes;
  const phases = phasesOf(bytes, op.kind === 'load');
  if (phases === undefined) return undefined;
  const offsets =
    op.pairStride === undefined
      ? [immediateOf(instruction, 'offset')]
      : ['offset0', 'offset1'].map((name) => immediateOf(instruction, name) * (op.pairStride as number));
  return offsets.map((offset) => ({ base, offset, bytes, atomic: op.kind === 'atomic', phases }));
}

/** Dwords that one phase asks of each bank, and how many; at most 64 lanes of 4 dwords. */
const LIMIT = 256;
const asked = new Int32Array(BANKS * LIMIT);
const counts = new Int32Array(BANKS);

/** Adds one lane's access to the phase; the most that a bank serves then. */
function ask(address: number, bytes: number, atomic: boolean, most: number): number {
  let busiest = most;
  const last = (address + bytes - 1) >>> 2;
  for (let dword = address >>> 2; dword <= last; dword++) {
    const bank = dword % BANKS;
    const first = bank * LIMIT;
    const end = first + (counts[bank] as number);
    let at = first;
    if (atomic) at = end;
    else while (at < end && asked[at] !== (dword | 0)) at++;
    if (at < end) continue;
    asked[at] = dword;
    counts[bank] = at + 1 - first;
    if (at + 1 - first > busiest) busiest = at + 1 - first;
  }
  return busiest;
}

/** Cycles of one phase: the most dwords (atomics: lanes) that one bank has to serve. */
export function phaseCycles(addresses: readonly number[], bytes: number, atomic: boolean): number {
  counts.fill(0);
  let most = 0;
  for (const address of addresses) most = ask(address, bytes, atomic, most);
  return most;
}

/** Whether the model covers a target: not where the LDS has other banks, whose phases are not published (gfx950). */
export function hasLdsBankModel(target: TargetName): boolean {
  return targetInfo(target).publishedLdsBanks;
}

/** A monitor that counts conflicts. */
export class LdsBankMonitor {
  private readonly known: (BankAccess[] | null | undefined)[] = [];
  private instructions = 0;
  private notModelled = 0;
  private phases = 0;
  private conflictCycles = 0;
  private readonly base: number;

  /** `base`: loaded address of the code object. */
  constructor(base: number) {
    this.base = base;
  }

  before(w: Wave, pc: number, bound: BoundInstruction): void {
    const at = (pc - this.base) >>> 2;
    let accesses = this.known[at];
    if (accesses === undefined) {
      accesses = accessesOf(bound.instruction) ?? null;
      this.known[at] = accesses;
    }
    if (accesses === null) {
      if (bound.instruction.row.encoding === 'DS' && !w.vskip && usesBanks(bound.instruction)) this.notModelled++;
      return;
    }
    if (w.vskip) return;
    this.instructions++;
    for (const access of accesses) this.count(w, access);
  }

  private count(w: Wave, { base, offset, bytes, atomic, phases }: BankAccess): void {
    for (const lanes of phases) {
      counts.fill(0);
      let most = 0;
      for (const lane of lanes) {
        if (!w.isActive(lane)) continue;
        most = ask(((w.vgprs[base + lane] as number) >>> 0) + offset, bytes, atomic, most);
      }
      if (most === 0) continue;
      this.phases++;
      this.conflictCycles += most - 1;
    }
  }

  /** Adds what was counted elsewhere. */
  add(more: LdsBankCount): void {
    this.instructions += more.instructions;
    this.notModelled += more.notModelled;
    this.phases += more.phases;
    this.conflictCycles += more.conflictCycles;
  }

  /** The sums so far. */
  result(): LdsBankCount {
    const { instructions, notModelled, phases, conflictCycles } = this;
    return { instructions, notModelled, phases, conflictCycles };
  }
}

/** Lane permutations go through the LDS crossbar and touch no bank. */
export function usesBanks(instruction: Instruction): boolean {
  const op = semanticsOf(instruction.row.operation);
  return !(op?.kind === 'structural' && ['permute', 'bpermute', 'swizzle', 'nop'].includes(op.name));
}
