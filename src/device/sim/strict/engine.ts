// The engine of strict runs: compiled code with checks. Wavefronts that come back to a state they were in, or run suspiciously long,
// are looked at on the interpreter, where a deadlock can be proved (deadlock.ts).
import { descriptorRegisters } from '../../../codeobject/index.ts';
import type { Engine, EngineJob } from '../dispatch/engine.ts';
import type { LoadedCode } from '../interpreter/loaded-code.ts';
import type { Wave } from '../state/wave.ts';
import { CompiledEngine } from '../wasm/engine.ts';
import type { StrictChecker } from './checker.ts';
import { StrictInstrument } from './compiled/compiled.ts';
import { scratchOf } from './deadlock.ts';
import { announcing, handsOver, learns } from './races/polls.ts';
import { storesScalars } from './races/scalar-stores.ts';
import { trailVectors } from './races/trails.ts';
import { hasLdsLoads } from './registers/quiet-loads.ts';
import { ALL_REGISTERS } from './registers/wave-shadow.ts';

/** Instructions of one wavefront in a workgroup before its turns are compared. */
const PATIENCE = 200_000;
/** Instructions after which a wavefront's loops are looked at on the interpreter in any case, and for how long. */
const SUSPECT_AFTER = 20_000_000;
const EXAMINE = 1_000_000;
/**
 * They are looked at no longer once something has let them go on so often: a deadlock is not proved then, and workgroups that wait for each other for long are no
 * deadlock. Handing rows to a neighbour and waiting for its answer took 97 times as long in strict mode without.
 */
const MOST_PROGRESS = 8;

/** The state of a wavefront at the end of a turn. */
interface Snapshot {
  readonly pc: number;
  readonly scc: boolean;
  readonly executed: number;
  readonly scalars: Int32Array;
  readonly vectors: Int32Array;
  /** Where code without optimisation has its variables. */
  readonly scratch: Int32Array;
  /** Turns until the next one is taken, and how many of them are left. */
  readonly period: number;
  left: number;
}

const instruments = new WeakMap<LoadedCode, Map<string, StrictInstrument>>();

/** Code with checks is kept as long as the loaded code, for each matrix mode, register allocation and way of looking at LDS, atomics and stores. */
function instrumentOf({ loaded, launch }: EngineJob, checker: StrictChecker): StrictInstrument {
  let all = instruments.get(loaded);
  if (all === undefined) {
    all = new Map();
    instruments.set(loaded, all);
  }
  const vectors = trailVectors(loaded, launch);
  // Which loads are quiet, or late, depends on the kernel.
  const entry = hasLdsLoads(loaded, launch.entry) ? launch.entry : 0;
  const key = `${entry} ${launch.mfma} ${vectors} ${handsOver(loaded, launch)} ${learns(loaded, launch)} ${announcing(loaded, launch)} ${storesScalars(loaded, launch.entry)} ${Object.values(descriptorRegisters(launch.descriptor)).join()}`;
  let instrument = all.get(key);
  if (instrument === undefined || instrument.blocks.areMany) {
    instrument = new StrictInstrument(checker, loaded, vectors);
    all.set(key, instrument);
  }
  return instrument;
}

function isEqual(a: Int32Array, b: Int32Array): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Compiled code with checks; wavefronts that run suspiciously long are looked at on the interpreter now and then. */
export class StrictEngine implements Engine {
  readonly slice: number;
  private readonly checker: StrictChecker;
  private readonly compiled: CompiledEngine;
  private readonly instrument: StrictInstrument;
  private readonly loaded: LoadedCode;
  private counts: number[] = [];
  /** Instructions left of an examination. */
  private examining = 0;
  /** What the interpreter has executed may have named any register. */
  private hasExamined = false;
  private nextExamination = SUSPECT_AFTER;
  private nextComparison = PATIENCE;
  private readonly snapshots = new WeakMap<Wave, Snapshot>();

  constructor(job: EngineJob, checker: StrictChecker) {
    this.checker = checker;
    this.instrument = instrumentOf(job, checker);
    this.compiled = new CompiledEngine(job, this.instrument);
    this.loaded = job.loaded;
    this.slice = this.compiled.slice;
    checker.named = () => this.registers;
    checker.blocks = this.instrument.blocks;
  }

  get registers(): readonly [number, number] {
    return this.hasExamined ? ALL_REGISTERS : this.compiled.registers;
  }

  runWave(w: Wave, limit: number, isTurnStart: boolean): boolean {
    this.instrument.checker = this.checker;
    if (this.examining <= 0 && w.executed > this.nextExamination) {
      this.examining = EXAMINE;
      this.hasExamined = true;
      this.checker.examine();
    }
    if (this.examining <= 0) {
      const ends = this.compiled.runWave(w, limit, isTurnStart);
      // A wavefront that is where it was, bit for bit, is worth a closer look.
      if (w.executed > this.nextComparison && w.isRunning && this.repeats(w)) this.nextExamination = 0;
      return ends;
    }
    this.checker.run(w);
    const before = w.executed;
    const ends = this.runExamined(w, limit, isTurnStart);
    this.examining = this.checker.progress > MOST_PROGRESS ? 0 : this.examining - (w.executed - before);
    if (this.examining <= 0 && this.checker.isPatient()) this.examining = EXAMINE;
    if (this.examining <= 0) {
      this.nextExamination = 4 * Math.max(w.executed, SUSPECT_AFTER / 4);
      this.nextComparison = 4 * Math.max(w.executed, PATIENCE);
    }
    return ends;
  }

  /** Whether a wavefront ends its turn in a state that it ended one in before (Brent's cycle finding over turns). */
  private repeats(w: Wave): boolean {
    const last = this.snapshots.get(w);
    const isSame = last !== undefined && last.executed < w.executed;
    if (isSame && last.pc === w.pc && last.scc === w.scc && isEqual(last.scalars, w.sgprs)) {
      if (isEqual(last.vectors, w.vgprs) && isEqual(last.scratch, scratchOf(w))) return true;
    }
    if (isSame && --last.left > 0) return false;
    const period = isSame ? Math.min(1024, 2 * last.period) : 1;
    this.snapshots.set(w, {
      pc: w.pc,
      scc: w.scc,
      executed: w.executed,
      scalars: w.sgprs.slice(),
      vectors: w.vgprs.slice(),
      scratch: scratchOf(w).slice(),
      period,
      left: period,
    });
    return false;
  }

  /** The interpreter's loop with the checker around each instruction. */
  private runExamined(w: Wave, limit: number, isTurnStart: boolean): boolean {
    const { loaded, checker, counts } = this;
    for (let n = 0; n < limit && w.isRunning; n++) {
      const pc = w.pc;
      const bound = loaded.at(pc);
      if (bound.landsLate && !(isTurnStart && n === 0) && !w.inLoadRow) return true;
      w.refresh();
      checker.before(w, pc, bound);
      w.pc = pc + bound.size;
      try {
        bound.step(w);
      } catch (error) {
        w.pc = pc;
        throw error;
      }
      if (bound.loadRow !== undefined) w.inLoadRow = bound.loadRow;
      checker.after(w, pc, bound);
      w.executed++;
      w.workgroup.clock++;
      counts[bound.family] = (counts[bound.family] ?? 0) + 1;
    }
    return false;
  }

  takeCounts(counts: number[]): void {
    this.compiled.takeCounts(counts);
    this.counts.forEach((n, i) => {
      counts[i] = (counts[i] ?? 0) + n;
    });
    this.counts = [];
  }
}
