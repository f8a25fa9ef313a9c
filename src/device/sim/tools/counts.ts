// How often each instruction ran and with how many lanes: what counters and the profile are derived from.

import type { Instruction } from '../../../isa/types.ts';
import { effectsOf, overlaps, Slot } from '../../../program/index.ts';
import type { BoundInstruction } from '../interpreter/loaded-code.ts';
import { EXEC, type Wave } from '../state/wave.ts';
import { popcount } from './lanes.ts';

/** One instruction of the code and how often it ran; sums over all wavefronts. */
export interface SiteCount {
  readonly pc: number;
  readonly instruction: Instruction;
  /** Executions, once per wavefront. */
  hits: number;
  /** Lanes that were active, summed over the executions. */
  lanes: number;
  /** Executions of vector instructions that s_setvskip passed over; part of `hits`. */
  skipped: number;
}

/** The same with what only an observer of every instruction sees. */
export interface InstructionCount extends SiteCount {
  readonly isBranch: boolean;
  readonly writesExec: boolean;
  /** Of a class that s_setvskip passes over. */
  readonly isVector: boolean;
  /** Executions with all 64 lanes. */
  full: number;
  /** Branches: executions that went elsewhere than to the next instruction. */
  taken: number;
  /** Writers of EXEC: active lanes afterwards, summed. */
  lanesAfter: number;
  /** Writers of EXEC: executions that left some, but not all, of the lanes that were active. */
  split: number;
}

/** Wavefronts by active work-items at their start, as SQ_WAVES_* tell them apart. */
export interface WaveCounts {
  waves: number;
  items: number;
  equal64: number;
  below64: number;
  below48: number;
  below32: number;
  below16: number;
}

/** What counters and traffic are derived from. */
export interface SiteCounts {
  /** Instructions that ran, by address. */
  readonly instructions: readonly SiteCount[];
  readonly waves: WaveCounts;
}

/** What a counting run leaves. */
export interface ExecutionCounts extends SiteCounts {
  readonly instructions: readonly InstructionCount[];
}

/** No waves yet. */
export function noWaves(): WaveCounts {
  return { waves: 0, items: 0, equal64: 0, below64: 0, below48: 0, below32: 0, below16: 0 };
}

/** Nothing has run yet. */
export function noCounts(): ExecutionCounts {
  return { instructions: [], waves: noWaves() };
}

/** The sums of two runs of the same code. */
export function addCounts(a: ExecutionCounts, b: ExecutionCounts): ExecutionCounts {
  if (a.instructions.length === 0) return b;
  const sites = new Map(a.instructions.map((site) => [site.pc, { ...site }]));
  for (const site of b.instructions) {
    const sum = sites.get(site.pc);
    if (sum === undefined) sites.set(site.pc, { ...site });
    else for (const field of SUMS) sum[field] += site[field];
  }
  const waves = noWaves();
  for (const field of Object.keys(waves) as (keyof WaveCounts)[]) waves[field] = a.waves[field] + b.waves[field];
  return { instructions: [...sites.values()].sort((one, other) => one.pc - other.pc), waves };
}

const SUMS = ['hits', 'lanes', 'skipped', 'full', 'taken', 'lanesAfter', 'split'] as const;

/** Adds waves that are about to start. */
export function countWaves(sum: WaveCounts, waves: readonly Wave[]): void {
  for (const w of waves) {
    const items = activeLanes(w);
    sum.waves++;
    sum.items += items;
    if (items === 64) sum.equal64++;
    if (items < 64) sum.below64++;
    if (items < 48) sum.below48++;
    if (items < 32) sum.below32++;
    if (items < 16) sum.below16++;
  }
}

const EXEC_SLOTS = [{ first: Slot.EXEC, count: 2 }];
const VECTOR_CLASSES = ['VALU', 'DS', 'FLAT', 'MUBUF', 'MTBUF'];

/** An instruction that has not run. */
export function newSite(pc: number, instruction: Instruction): InstructionCount {
  const { flags } = instruction.row;
  return {
    pc,
    instruction,
    hits: 0,
    lanes: 0,
    full: 0,
    skipped: 0,
    taken: 0,
    lanesAfter: 0,
    split: 0,
    isBranch: flags.has('isBranch') || flags.has('isCall'),
    writesExec: overlaps(effectsOf(instruction).defs, EXEC_SLOTS),
    isVector: VECTOR_CLASSES.some((name) => flags.has(name)),
  };
}

/** A monitor that counts executions. */
export class CountingMonitor {
  private readonly sites: (InstructionCount | undefined)[] = [];
  private readonly waves = noWaves();
  private active = 0;
  private readonly base: number;

  /** `base`: loaded address of the code object. */
  constructor(base: number) {
    this.base = base;
  }

  startWorkgroup(_group: unknown, waves: readonly Wave[]): void {
    countWaves(this.waves, waves);
  }

  before(w: Wave, pc: number, bound: BoundInstruction): void {
    const at = pc - this.base;
    const site = this.sites[at >>> 2] ?? this.add(at, bound);
    const active = activeLanes(w);
    site.hits++;
    site.lanes += active;
    if (active === 64) site.full++;
    if (site.isVector && w.vskip) site.skipped++;
    this.active = active;
  }

  after(w: Wave, pc: number, bound: BoundInstruction): void {
    const site = this.sites[(pc - this.base) >>> 2] as InstructionCount;
    if (site.isBranch && w.pc !== pc + bound.size) site.taken++;
    if (site.writesExec) {
      const active = activeLanes(w);
      site.lanesAfter += active;
      if (active > 0 && active < this.active) site.split++;
    }
  }

  private add(pc: number, bound: BoundInstruction): InstructionCount {
    const site = newSite(pc, bound.instruction);
    this.sites[pc >>> 2] = site;
    return site;
  }

  /** The counts so far. */
  counts(): ExecutionCounts {
    const instructions = this.sites.filter((site) => site !== undefined);
    return { instructions, waves: { ...this.waves } };
  }
}

function activeLanes(w: Wave): number {
  return popcount(w.sgprs[EXEC] as number) + popcount(w.sgprs[EXEC + 1] as number);
}
