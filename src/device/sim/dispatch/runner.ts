// Runs workgroups in one thread: waves take turns, barriers release, workgroups that wait for others give way to them.

import { DeviceFault } from '../../fault.ts';
import { Interpreter } from '../interpreter/interpreter.ts';
import { KernelStop } from '../interpreter/kernel-stop.ts';
import type { LoadedCode } from '../interpreter/loaded-code.ts';
import type { DeviceMemory } from '../state/memory.ts';
import type { Place, RepeatablePlaces } from '../state/places.ts';
import { Wave, type WaveRemainder } from '../state/wave.ts';
import { type DispatchContext, Workgroup, type WorkgroupClock } from '../state/workgroup.ts';
import { type Engine, QUANTUM } from './engine.ts';
import { budgetError, explain } from './faults.ts';
import type { Launch } from './launch.ts';
import { type Monitor, Rewind, type Rewindable, type RunnerState } from './monitor.ts';
import { SHUFFLED_WORKGROUPS, type Turns, turnOrder } from './order.ts';
import { LocalProgress, type LocalProgressState, type Progress } from './progress.ts';
import { isPolledLoop, isSpinLoop, mayWait } from './spin.ts';
import { groupId, groupItems, startWave } from './wave-start.ts';

/**
 * Instructions of a turn that begins in a loop that waits, and after which a longer turn is first looked at once a wave has come to such a loop: some rounds of it. With 1000 most of the
 * time of kernels that synchronise was waiting: workgroups that hand rows on took five times as long (4.8 and 1.0 ms), 304 at barriers of the grid half as long again (18.8 and 12.6 ms);
 * 32 and 128 are no better.
 */
const WAITING_TURN = 64;
/** Instructions of a turn in a loop that may wait for others while it works, and after which a longer turn is first looked at. */
const POLLING_TURN = 1000;
/**
 * Instructions a workgroup runs before others get a turn though it does not seem to wait; and of kernels that have code by which one waits, at first.
 * Four workgroups of code without optimisation, each of which waits for the next one by exchanges, took more than 20 s in strict mode with the first number
 * alone, 1.6 s with both.
 */
const LONG_TURN = 100_000_000;
const DOUBTFUL_TURN = 1_000_000;
/** The least that this becomes. */
const LEAST_TURN = 4000;

/** A workgroup that has begun and not ended. */
interface Resident {
  readonly number: number;
  readonly group: Workgroup;
  /** In the order of their turns. */
  readonly waves: readonly Wave[];
  readonly place: Place;
  /** Whose turn it is. */
  at: number;
  /** All waves that had a turn in this round wait in a loop. */
  isSpinning: boolean;
  /** Instructions since the workgroup was chosen. */
  ran: number;
  /** A turn has ended in a loop that may wait for others while it works: turns are short from then on. */
  polls: boolean;
}

export interface RunnerJob {
  readonly memory: DeviceMemory;
  readonly loaded: LoadedCode;
  readonly launch: Launch;
  /** The workgroups to run, by their number in the grid; all by default. */
  readonly only?: readonly number[] | undefined;
  readonly context: DispatchContext;
  readonly engine: Engine;
  readonly progress: Progress;
  /** Workgroups that may be resident at once. */
  readonly window: number;
  readonly takePlace: () => Place;
  readonly givePlace: (place: Place) => void;
  /** Of observed dispatches, which can go back: what `takePlace` takes from. */
  readonly repeatable?: RepeatablePlaces | undefined;
  readonly monitors: readonly Monitor[];
}

/** A workgroup's failure. */
export interface GroupFailure {
  readonly group: number;
  readonly error: unknown;
}

/** All of an observed dispatch between two slices, but its memory. */
interface SavedRunner extends RunnerState {
  readonly residents: readonly {
    readonly resident: Resident;
    readonly at: number;
    readonly isSpinning: boolean;
    readonly ran: number;
    readonly polls: boolean;
    readonly clock: WorkgroupClock;
    readonly waves: readonly WaveRemainder[];
  }[];
  readonly current: number;
  readonly left: number;
  readonly spent: number;
  readonly isTurnStart: boolean;
  readonly wavefronts: number;
  readonly arrived: number;
  readonly patience: number;
  readonly firstLook: number;
  readonly progress: LocalProgressState;
  readonly counts: readonly number[];
  readonly places: ReturnType<RepeatablePlaces['save']>;
}

export class Runner implements Rewindable {
  private readonly job: RunnerJob;
  private progress: Progress;
  private readonly residents: Resident[] = [];
  private current = 0;
  private readonly turns: Turns;
  private readonly waves = new Map<Uint8Array, Wave>();
  /** Places of workgroups that have ended, for the next ones; and the LDS that the launch has of each place. */
  private readonly spare: Place[] = [];
  private readonly ldsOf = new Map<Place, Uint8Array>();
  /** Left of the current wave's turn; 0 when none has begun. */
  private left = 0;
  /** Instructions of that turn so far. */
  private spent = 0;
  private isTurnStart = true;
  wavefronts = 0;
  /** Cycles that reads of the cycle counter have added for a workgroup that waits, of the one with most. */
  waited = 0;
  /** When the first wave began (`performance.now()`). */
  began: number | undefined;
  /** Wavefronts that have come to the grid barrier, one of each workgroup. */
  private arrived = 0;
  /** Turns of workgroups that only waited, one after the other. */
  private waits = 0;
  /** Instructions of a workgroup that may wait, where that is not seen, before others get a turn: fewer each time. */
  private patience = DOUBTFUL_TURN;
  /** Instructions after which a turn is first looked at. */
  private firstLook = POLLING_TURN;
  /** A workgroup has read the host's clock: it may wait for a time, which workgroups that are resident together wait for together. */
  followsHostClock = false;
  failure: GroupFailure | undefined;

  constructor(job: RunnerJob) {
    this.job = job;
    this.progress = job.progress;
    this.turns = turnOrder(job.launch.order, job.only?.length ?? job.launch.workgroups);
  }

  /** Goes on with other progress, which has taken over what there was. */
  share(progress: Progress): void {
    this.progress = progress;
  }

  /** Nothing here can go on before the host, or another thread, has done something. */
  get isWaiting(): boolean {
    return this.waits > this.residents.length;
  }

  /** Runs until everything is done (true), or until about `deadline` (`performance.now()`) or everything waits. */
  run(deadline: number): boolean {
    const { engine } = this.job;
    let sinceLook = 0;
    this.waits = 0;
    for (;;) {
      if (this.isWaiting) return false;
      const r = this.choose();
      if (r === undefined) {
        this.progress.settle();
        return true;
      }
      const w = r.waves[r.at] as Wave;
      const left = this.budgetLeft(r, w);
      if (left <= 0) continue;
      const before = w.executed;
      let turnEnds = true;
      try {
        if (this.began === undefined) {
          engine.prepare?.(w);
          this.began = performance.now();
        }
        turnEnds = engine.runWave(w, this.nextSlice(Math.min(engine.slice, left)), this.isTurnStart);
      } catch (error) {
        this.fail(r, w, error);
      }
      const executed = w.executed - before;
      this.afterSlice(r, w, executed, turnEnds);
      sinceLook += executed + 100;
      if (sinceLook < engine.slice) continue;
      sinceLook = 0;
      if (performance.now() > deadline) return false;
    }
  }

  /** The same with observers, on the interpreter. */
  async runObserved(pause: () => Promise<void>, sliceMs: number): Promise<void> {
    const { monitors } = this.job;
    const engine = this.interpreter();
    let deadline = performance.now() + sliceMs;
    for (;;) {
      const r = this.choose();
      if (r === undefined) {
        if (this.progress.isAborted || (await this.endsHere())) return;
        continue;
      }
      const w = r.waves[r.at] as Wave;
      const left = this.budgetLeft(r, w);
      if (left <= 0) continue;
      for (const monitor of monitors) monitor.betweenSlices?.(this);
      const before = w.executed;
      let turnEnds = true;
      try {
        turnEnds = await engine.runObserved(
          w,
          this.nextSlice(Math.min(engine.slice, left)),
          this.isTurnStart,
          monitors,
        );
        if (w.state === 'ended') for (const monitor of monitors) monitor.endWave?.(w);
      } catch (error) {
        const rewind = error instanceof Rewind ? error : await this.showFault(w, error);
        if (rewind !== undefined) {
          this.restore(rewind);
          continue;
        }
        this.fail(r, w, error);
      }
      this.afterSlice(r, w, w.executed - before, turnEnds);
      if (performance.now() < deadline) continue;
      await pause();
      deadline = performance.now() + sliceMs;
    }
  }

  private interpreter(): Interpreter {
    const { engine } = this.job;
    if (!(engine instanceof Interpreter)) throw new Error('observers need the interpreter');
    return engine;
  }

  /** Shows observers what is about to end the dispatch; a rewind when one of them goes back. */
  private async showFault(w: Wave, error: unknown): Promise<Rewind | undefined> {
    const { loaded, monitors } = this.job;
    const fault = explain(loaded, w, error);
    if (!(fault instanceof DeviceFault)) return undefined;
    return rewindOf(async () => {
      for (const monitor of monitors) await monitor.fault?.(w, fault);
    });
  }

  /** All workgroups have ended. False when an observer went back. */
  private async endsHere(): Promise<boolean> {
    if (this.failure !== undefined) return true;
    const rewind = await rewindOf(async () => {
      for (const monitor of this.job.monitors) await monitor.ended?.();
    });
    if (rewind !== undefined) this.restore(rewind);
    return rewind === undefined;
  }

  spans(): readonly { readonly offset: number; readonly size: number }[] {
    return this.repeatable().spans();
  }

  save(): RunnerState {
    const { residents, current, left, spent, isTurnStart, wavefronts, arrived, patience, firstLook } = this;
    const state: SavedRunner = {
      residents: residents.map((resident) => ({
        resident,
        at: resident.at,
        isSpinning: resident.isSpinning,
        ran: resident.ran,
        polls: resident.polls,
        clock: resident.group.saveClock(),
        waves: resident.waves.map((w) => w.save()),
      })),
      current,
      left,
      spent,
      isTurnStart,
      wavefronts,
      arrived,
      patience,
      firstLook,
      progress: this.localProgress().save(),
      counts: this.interpreter().saveCounts(),
      places: this.repeatable().save(),
    };
    return state;
  }

  private restore({ to, arrived }: Rewind): void {
    const state = to as SavedRunner;
    this.residents.length = 0;
    for (const w of this.waves.values()) w.forgetStart();
    for (const { resident, at, isSpinning, ran, polls, clock, waves } of state.residents) {
      resident.at = at;
      resident.isSpinning = isSpinning;
      resident.ran = ran;
      resident.polls = polls;
      resident.group.restoreClock(clock);
      resident.waves.forEach((w, i) => {
        w.restore(waves[i] as WaveRemainder);
      });
      this.residents.push(resident);
    }
    this.current = state.current;
    this.left = state.left;
    this.spent = state.spent;
    this.isTurnStart = state.isTurnStart;
    this.wavefronts = state.wavefronts;
    this.arrived = state.arrived;
    this.patience = state.patience;
    this.firstLook = state.firstLook;
    this.failure = undefined;
    this.localProgress().restore(state.progress);
    this.interpreter().restoreCounts(state.counts);
    this.repeatable().restore(state.places);
    arrived();
  }

  private repeatable(): RepeatablePlaces {
    const { repeatable } = this.job;
    if (repeatable === undefined) throw new Error('the places of this dispatch cannot be taken again');
    return repeatable;
  }

  private localProgress(): LocalProgress {
    const { progress } = this;
    if (!(progress instanceof LocalProgress)) throw new Error('observed dispatches run in one thread');
    return progress;
  }

  /** The workgroup whose wave `at` runs next; undefined when there is none left. */
  private choose(): Resident | undefined {
    for (;;) {
      const r = this.residents[this.current] ?? this.start();
      if (r === undefined) return undefined;
      if (this.progress.isCut(r.number)) {
        this.end(r);
        continue;
      }
      if (this.left > 0) return r;
      while (r.at < r.waves.length && !(r.waves[r.at] as Wave).isRunning) r.at++;
      if (r.at < r.waves.length) {
        const w = r.waves[r.at] as Wave;
        this.left = this.turnOf(r, w);
        this.isTurnStart = true;
        this.spent = 0;
        return r;
      }
      this.endRound(r);
    }
  }

  /** Instructions of the turn that a wave begins. */
  private turnOf({ polls }: Resident, { pc }: Wave): number {
    if (isSpinLoop(this.job.loaded, pc)) return WAITING_TURN;
    return polls ? POLLING_TURN : Math.min(this.patience, this.turns.length(QUANTUM));
  }

  /** A wave that comes to a loop that waits does so for no longer than it worked before in its turn. */
  private nextSlice(most: number): number {
    return Math.min(this.left, most, Math.max(this.firstLook, this.spent));
  }

  /**
   * Instructions that may still be executed; at least these, where other threads have not told of all of theirs. When there are none, the workgroup whose
   * wave would go on has failed.
   */
  private budgetLeft(r: Resident, w: Wave): number {
    const { launch, loaded } = this.job;
    const { instructions } = this.progress;
    if (instructions >= launch.budget) this.fail(r, w, budgetError(loaded, w, instructions));
    return launch.budget - instructions;
  }

  private afterSlice(r: Resident, w: Wave, executed: number, turnEnds: boolean): void {
    const { launch, loaded } = this.job;
    const { progress } = this;
    r.ran += executed;
    this.left -= executed;
    this.spent += executed;
    this.isTurnStart = false;
    if (progress.add(executed) > launch.budget) {
      this.fail(r, w, budgetError(loaded, w, progress.instructions));
    }
    if (w.state === 'grid barrier') this.arriveAtGridBarrier();
    const isCut = !turnEnds && w.isRunning;
    if (isCut && isSpinLoop(loaded, w.pc)) {
      this.left = 0;
      this.firstLook = WAITING_TURN;
    }
    if (isCut && this.left > 0) return;
    if (isCut && !r.polls) r.polls = isPolledLoop(loaded, launch.entry, w.pc);
    if (w.isRunning && !(this.left <= 0 && isSpinLoop(loaded, w.pc))) r.isSpinning = false;
    this.left = 0;
    const comesToLoads = turnEnds && w.isRunning;
    if (!comesToLoads || !this.turns.goesOn()) r.at++;
  }

  /** A cooperative launch has the barrier wait for one wavefront of every workgroup. */
  private arriveAtGridBarrier(): void {
    if (++this.arrived < this.progress.total) return;
    this.arrived = 0;
    this.waits = 0;
    for (const monitor of this.job.monitors) monitor.gridBarrier?.(this.residents.map(({ group }) => group));
    for (const { waves } of this.residents) {
      for (const w of waves) if (w.state === 'grid barrier') w.state = 'running';
    }
  }

  /** A workgroup can only go on when others come to the grid barrier. */
  private waitForGrid(r: Resident): void {
    const residents = this.residents.length;
    this.rotate(r, this.job.window);
    if (this.residents.length > residents || this.residents.some(({ waves }) => waves.some((w) => w.isRunning))) return;
    const w = r.waves.find(({ state }) => state === 'grid barrier') as Wave;
    const why = `${this.arrived} of ${this.progress.total} workgroups have come to the grid's barrier, and the others`;
    const message =
      this.progress.taken < this.progress.total ? `${why} find no room beside them.` : `${why} have ended.`;
    this.fail(r, w, new KernelStop('sim/grid-barrier', message, 'Launch the kernel with hipLaunchCooperativeKernel.'));
  }

  /** Every running wave of a workgroup has had its turn. */
  private endRound(r: Resident): void {
    let running = 0;
    let waiting = 0;
    let atGrid = 0;
    for (const w of r.waves) {
      if (w.isRunning) running++;
      else if (w.state === 'barrier') waiting++;
      else if (w.state === 'grid barrier') atGrid++;
    }
    const { isSpinning } = r;
    r.at = 0;
    r.isSpinning = true;
    if (running > 0) {
      const { hasReadClock } = r.group;
      const ofHost = this.job.launch.hostClockOffset !== undefined;
      // The kernel's own clock goes on only while it runs.
      this.waits = isSpinning && (ofHost || !hasReadClock) ? this.waits + 1 : 0;
      r.group.hasReadClock = false;
      const waitsForTime = hasReadClock && ofHost;
      if (waitsForTime) this.followsHostClock = true;
      if (isSpinning || waitsForTime || r.polls || this.isLong(r)) this.rotate(r, this.job.window);
      else if (this.turns.gives()) this.rotate(r, Math.min(this.job.window, SHUFFLED_WORKGROUPS));
    } else if (atGrid > 0) {
      this.waitForGrid(r);
    } else if (waiting > 0) {
      this.waits = 0;
      for (const w of r.waves) if (w.state === 'barrier') w.state = 'running';
      for (const monitor of this.job.monitors) monitor.barrier?.(r.group);
    } else {
      for (const monitor of this.job.monitors) monitor.endWorkgroup?.(r.group);
      this.progress.finish();
      this.waited = Math.max(this.waited, r.group.waited);
      this.end(r);
    }
  }

  /** Whether a workgroup has run for so long that it may be others whom it needs. */
  private isLong({ ran }: Resident): boolean {
    if (ran <= this.patience) return false;
    const { loaded, launch } = this.job;
    if (!mayWait(loaded, launch.entry)) return ran > LONG_TURN;
    this.patience = Math.max(LEAST_TURN, this.patience / 4);
    return true;
  }

  /** Lets another workgroup run: a new one, as long as the hardware could hold it too, else the next in turn. */
  private rotate(r: Resident, window: number): void {
    r.ran = 0;
    if (window === 1) return;
    if (this.residents.length < window && this.start() !== undefined) {
      this.waits = 0;
      this.current = this.residents.length - 1;
    } else this.current = (this.current + 1) % this.residents.length;
  }

  /** After one ends, the oldest goes on: it may have waited for it. */
  private end(r: Resident): void {
    this.waits = 0;
    this.residents.splice(this.residents.indexOf(r), 1);
    for (const w of r.waves) w.used = this.job.engine.registers;
    // What goes back takes the same places again.
    if (this.job.repeatable === undefined) this.spare.push(r.place);
    else this.job.givePlace(r.place);
    this.current = 0;
    this.left = 0;
  }

  private fail(r: Resident, w: Wave, error: unknown): void {
    const { loaded } = this.job;
    if (this.failure === undefined || r.number < this.failure.group) {
      this.failure = { group: r.number, error: explain(loaded, w, error) };
    }
    this.progress.fail(r.number);
  }

  private start(): Resident | undefined {
    const { launch, only, context, memory, loaded, monitors } = this.job;
    const number = this.progress.take();
    if (number < 0) return undefined;
    const place = this.spare.pop() ?? this.job.takePlace();
    let lds = this.ldsOf.get(place);
    if (lds === undefined) {
      lds = place.lds.subarray(0, launch.ldsBytes);
      this.ldsOf.set(place, lds);
    }
    const nth = this.turns.workgroup(number);
    const id = groupId(launch, only?.[nth] ?? nth);
    const size = groupItems(launch, id);
    memory.clear(lds.byteOffset, lds.byteLength);
    const group = new Workgroup(context, lds, id);
    if (place.scratch !== undefined) this.clearScratch(place.scratch.offset);
    const count = Math.ceil((size[0] * size[1] * size[2]) / 64);
    const waves = place.waveBlocks.slice(0, count).map((block, index) => {
      let w = this.waves.get(block);
      if (w === undefined) {
        w = new Wave(memory, group, block);
        this.waves.set(block, w);
      }
      startWave(launch, loaded.region.base, w, group, index, size, place.scratch);
      return w;
    });
    this.wavefronts += count;
    const resident: Resident = {
      number,
      group,
      waves: this.turns.waves(waves),
      place,
      at: 0,
      isSpinning: true,
      ran: 0,
      polls: false,
    };
    this.residents.push(resident);
    for (const monitor of monitors) monitor.startWorkgroup?.(group, waves);
    return resident;
  }

  private clearScratch(offset: number): void {
    const { launch, memory } = this.job;
    memory.clear(offset, launch.scratchPerWave * launch.wavesPerGroup);
  }

  /** Gives back the places, those of workgroups that did not end among them. */
  close(): void {
    for (const r of this.residents.splice(0)) this.job.givePlace(r.place);
    for (const place of this.spare.splice(0)) this.job.givePlace(place);
  }
}

/** The rewind that a call ends with, if it does. */
async function rewindOf(call: () => Promise<void>): Promise<Rewind | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    if (error instanceof Rewind) return error;
    throw error;
  }
}
