// Counters whose code is kept with the loaded code: who counts a dispatch takes a counter that counts none, and leaves it there behind the dispatch. What it has counted is
// read when somebody asks for it, or somebody else takes the counter.
import type { Engine, EngineJob } from '../dispatch/engine.ts';
import type { DispatchInfo, Monitor } from '../dispatch/monitor.ts';
import type { BoundInstruction, LoadedCode } from '../interpreter/loaded-code.ts';
import type { Wave } from '../state/wave.ts';
import type { Workgroup } from '../state/workgroup.ts';
import { CompiledCounter } from './compiled-counts.ts';
import { addCounts, type ExecutionCounts, noCounts } from './counts.ts';
import { addBankCounts, type LdsBankCount } from './lds-banks.ts';

/** A counter that counts no dispatch now; with `of`, who has not taken yet what it has counted. */
interface Idle {
  readonly counter: CompiledCounter;
  of: WeakRef<KeptCounter> | undefined;
}

/** By loaded code: those that count bank conflicts, and others. */
const kept = new WeakMap<LoadedCode, readonly [withBanks: Idle[], without: Idle[]]>();

function idle(loaded: LoadedCode, countsBanks: boolean): Idle[] {
  let all = kept.get(loaded);
  if (all === undefined) {
    all = [[], []];
    kept.set(loaded, all);
  }
  return all[countsBanks ? 0 : 1];
}

/** A monitor that counts the dispatches of one loaded code that it is given to. Others may count other dispatches of that code at the same time. */
export class KeptCounter implements Monitor {
  private readonly countsBanks: boolean;
  /** Whose counts are not in `counted` yet; `rest` is undefined while a dispatch runs. */
  private held: { readonly loaded: LoadedCode; readonly counter: CompiledCounter; rest: Idle | undefined } | undefined;
  private counted = noCounts();
  private banks: LdsBankCount | undefined;

  /** `countsBanks`: bank conflicts are asked for, too. */
  constructor(countsBanks = true) {
    this.countsBanks = countsBanks;
  }

  private counterOf(loaded: LoadedCode): CompiledCounter {
    const all = idle(loaded, this.countsBanks);
    if (this.held?.loaded !== loaded) this.settle();
    if (this.held?.rest !== undefined) {
      // It goes on with its own.
      all.splice(all.indexOf(this.held.rest), 1);
      this.held.rest = undefined;
    }
    if (this.held === undefined) {
      const free = all.findIndex(({ of }) => of === undefined);
      const [taken] = all.splice(Math.max(0, free), 1);
      taken?.of?.deref()?.settle();
      const counter = taken?.counter ?? new CompiledCounter(loaded, this.countsBanks);
      counter.reset();
      this.held = { loaded, counter, rest: undefined };
    }
    return this.held.counter;
  }

  /** Takes what its counter has counted, which is for others then. */
  private settle(): void {
    if (this.held?.rest === undefined) return;
    const { counter, rest } = this.held;
    this.counted = addCounts(this.counted, counter.counts());
    this.banks = addBankCounts(this.banks, counter.ldsBanks());
    rest.of = undefined;
    this.held = undefined;
  }

  engine(job: EngineJob): Engine {
    return this.counterOf(job.loaded).engine(job);
  }

  startDispatch(info: DispatchInfo): void {
    this.counterOf(info.loaded).startDispatch(info);
  }

  startWorkgroup(group: Workgroup, waves: readonly Wave[]): void {
    this.held?.counter.startWorkgroup(group, waves);
  }

  before(w: Wave, pc: number, bound: BoundInstruction): void {
    this.held?.counter.before(w, pc, bound);
  }

  endDispatch(): void {
    if (this.held === undefined || this.held.rest !== undefined) return;
    const { loaded, counter } = this.held;
    this.held.rest = { counter, of: new WeakRef(this) };
    idle(loaded, this.countsBanks).push(this.held.rest);
  }

  /** What has run in all dispatches that have ended, by address. */
  counts(): ExecutionCounts {
    this.settle();
    return this.counted;
  }

  /** Their bank conflicts; undefined on targets without a model. */
  ldsBanks(): LdsBankCount | undefined {
    this.settle();
    return this.banks;
  }
}
