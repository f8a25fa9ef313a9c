// Counters whose code is kept with the loaded code: who counts a dispatch takes a counter that nobody uses, and gives it back behind the dispatch.
import type { Engine, EngineJob } from '../dispatch/engine.ts';
import type { DispatchInfo, Monitor } from '../dispatch/monitor.ts';
import type { BoundInstruction, LoadedCode } from '../interpreter/loaded-code.ts';
import type { Wave } from '../state/wave.ts';
import type { Workgroup } from '../state/workgroup.ts';
import { CompiledCounter } from './compiled-counts.ts';
import { addCounts, type ExecutionCounts, noCounts } from './counts.ts';
import { addBankCounts, type LdsBankCount } from './lds-banks.ts';

/** By loaded code, counters that are not in use: those that count bank conflicts, and others. */
const kept = new WeakMap<LoadedCode, readonly [withBanks: CompiledCounter[], without: CompiledCounter[]]>();

function unused(loaded: LoadedCode, countsBanks: boolean): CompiledCounter[] {
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
  /** Of the dispatch that runs. */
  private running: { readonly loaded: LoadedCode; readonly counter: CompiledCounter } | undefined;
  private counted = noCounts();
  private banks: LdsBankCount | undefined;

  /** `countsBanks`: bank conflicts are asked for, too. */
  constructor(countsBanks = true) {
    this.countsBanks = countsBanks;
  }

  private counterOf(loaded: LoadedCode): CompiledCounter {
    if (this.running === undefined) {
      const counter = unused(loaded, this.countsBanks).pop() ?? new CompiledCounter(loaded, this.countsBanks);
      counter.reset();
      this.running = { loaded, counter };
    }
    return this.running.counter;
  }

  engine(job: EngineJob): Engine {
    return this.counterOf(job.loaded).engine(job);
  }

  startDispatch(info: DispatchInfo): void {
    this.counterOf(info.loaded).startDispatch(info);
  }

  startWorkgroup(group: Workgroup, waves: readonly Wave[]): void {
    this.running?.counter.startWorkgroup(group, waves);
  }

  before(w: Wave, pc: number, bound: BoundInstruction): void {
    this.running?.counter.before(w, pc, bound);
  }

  endDispatch(): void {
    if (this.running === undefined) return;
    const { loaded, counter } = this.running;
    this.counted = addCounts(this.counted, counter.counts());
    this.banks = addBankCounts(this.banks, counter.ldsBanks());
    this.running = undefined;
    unused(loaded, this.countsBanks).push(counter);
  }

  /** What has run in all dispatches that have ended, by address. */
  counts(): ExecutionCounts {
    return this.counted;
  }

  /** Their bank conflicts; undefined on targets without a model. */
  ldsBanks(): LdsBankCount | undefined {
    return this.banks;
  }
}
