// What the code of a kernel says before it runs, which compiled code counts on where it looks at accesses.
import type { Launch } from '../dispatch/launch.ts';
import type { LoadedCode } from '../interpreter/loaded-code.ts';
import type { StrictPlan } from './plan.ts';
import { handsOver, learns, polls, pollsForUpdate, precedesAtomic, precedesLdsAtomic } from './races/polls.ts';
import { storesScalars } from './races/scalar-stores.ts';
import { waitsBehind } from './races/waits-behind.ts';
import { isLateLoad, quietLoads } from './registers/quiet-loads.ts';

/** Of the kernel of a launch; places are in the image. */
export class KernelTraits {
  private readonly loaded: LoadedCode;
  private readonly launch: Launch;
  private readonly base: number;
  /** Whether the wavefronts of a workgroup may be ordered through LDS without barriers. */
  readonly handsOver: boolean;
  /** Whether a wavefront can learn what others have done, other than at barriers. */
  readonly learns: boolean;

  constructor(loaded: LoadedCode, launch: Launch) {
    this.loaded = loaded;
    this.launch = launch;
    this.base = loaded.region.base;
    this.handsOver = handsOver(loaded, launch);
    this.learns = learns(loaded, launch);
  }

  /** Whether there are scalar stores that stay in their cache: every access of memory is to be looked at for what they leave there. */
  get storesScalars(): boolean {
    return storesScalars(this.loaded, this.launch.entry);
  }

  /** Whether the instruction at a place waits for other wavefronts. */
  isPoll(pc: number): boolean {
    return polls(this.loaded, this.base + pc);
  }

  /** Whether the wavefront waits for others behind the instruction at a place, before it accesses memory. */
  waitsBehind(pc: number, { instruction }: StrictPlan): boolean {
    return waitsBehind(this.loaded, this.launch, this.base + pc + instruction.size);
  }

  /** Whether no code can race with the load of LDS at a place, for wavefronts that have come from one barrier (quiet-loads.ts). */
  isQuiet(pc: number): boolean {
    return !this.handsOver && quietLoads(this.loaded, this.launch.entry).has(this.base + pc);
  }

  /** Whether the instruction at a place is a load of LDS, or a flat one, that may be outstanding at a barrier (quiet-loads.ts). */
  isLate(pc: number, { access }: StrictPlan): boolean {
    if (access?.kind !== 'load' || (access.space !== 'lds' && access.space !== 'flat') || access.toLds) return false;
    return isLateLoad(this.loaded, this.launch.entry, this.base + pc);
  }

  /** Whether an instruction that polls LDS does so by an atomic, or before one. */
  pollsForUpdate(pc: number, { access }: StrictPlan): boolean {
    return access?.kind === 'atomic' || pollsForUpdate(this.loaded, this.base + pc);
  }

  /** Whether a load of LDS at a place is none by which an update of LDS may begin: no atomic can follow it. */
  isOnlyLoad(pc: number, { access }: StrictPlan): boolean {
    return access?.kind === 'load' && this.handsOver && !precedesLdsAtomic(this.loaded, this.base + pc);
  }

  /** Whether a load at a place may read what atomics of others are changing, because one can follow, and what it finds there counts. */
  looksAhead(pc: number): boolean {
    return this.learns && precedesAtomic(this.loaded, this.base + pc);
  }
}
