// The engine of traced dispatches: what the filter takes is executed one instruction at a time, the rest as it is. Waves take
// turns at the same instructions as on the interpreter, so that the trace is the same even where it depends on who was first.
import { type Engine, type EngineJob, QUANTUM } from '../dispatch/engine.ts';
import { INTERPRETED_SLICE } from '../interpreter/interpreter.ts';
import type { BoundInstruction } from '../interpreter/loaded-code.ts';
import type { Wave } from '../state/wave.ts';
import { CompiledEngine } from '../wasm/engine.ts';
import type { Instrument } from '../wasm/instrument.ts';
import { BLOCK_LIMIT } from '../wasm/walk.ts';
import { matchesPc, type TraceFilter } from './filter.ts';

/** Instructions by which compiled code may run beyond its limit: the rest of a block and its branch. */
const BEYOND = BLOCK_LIMIT + 1;

/** What traces; the monitor of ./trace.ts. */
export interface Tracer {
  /** Nothing more is traced. */
  readonly isDone: boolean;
  /** Whether instructions of a wave may be traced. */
  wants(w: Wave): boolean;
  before(w: Wave, pc: number, bound: BoundInstruction): void;
  after(w: Wave, pc: number, bound: BoundInstruction): void;
}

/** Has the instructions executed one by one that `isLeftOut` says, and shows them to the tracer. */
function instrumentOf(tracer: Tracer, isLeftOut: (pc: number) => boolean): Instrument {
  return {
    imports: {},
    declare: () => {},
    wants: () => false,
    emit: () => {},
    enter: () => {},
    isLeftOut,
    compilesSteps: true,
    step: (w, pc, bound) => tracer.before(w, pc, bound),
    stepped: (w, pc, bound) => tracer.after(w, pc, bound),
  };
}

/** What tells compiled code apart that a filter leaves something out of; of one loaded code and one matrix mode. */
export interface TraceInstruments {
  /** For waves some of whose instructions are traced, when the filter is of places; for all instructions. */
  readonly some: Instrument | undefined;
  readonly all: Instrument;
}

/** The instruments of a tracer's filter. */
export function traceInstruments(tracer: Tracer, filter: TraceFilter): TraceInstruments {
  const takes = (pc: number): boolean => matchesPc(filter, pc);
  return {
    some: filter.pc === undefined ? undefined : instrumentOf(tracer, takes),
    all: instrumentOf(tracer, () => true),
  };
}

/** Executes what a filter takes one by one. */
export class TraceEngine implements Engine {
  readonly slice = QUANTUM;
  private readonly tracer: Tracer;
  /** For waves that are not traced; for waves some of whose instructions are; for all instructions. */
  private readonly plain: CompiledEngine;
  private readonly some: CompiledEngine | undefined;
  private readonly all: CompiledEngine;
  private readonly budget: number;
  /** By all waves. */
  private executed = 0;

  constructor(job: EngineJob, tracer: Tracer, { some, all }: TraceInstruments) {
    this.tracer = tracer;
    this.budget = job.launch.budget;
    this.plain = new CompiledEngine(job);
    this.some = some === undefined ? undefined : new CompiledEngine(job, some);
    this.all = new CompiledEngine(job, all);
  }

  private get engines(): readonly CompiledEngine[] {
    return this.some === undefined ? [this.plain, this.all] : [this.plain, this.some, this.all];
  }

  get registers(): readonly [number, number] {
    const named = this.engines.map(({ registers }) => registers);
    return [Math.max(...named.map(([v]) => v)), Math.max(...named.map(([, a]) => a))];
  }

  prepare(w: Wave): void {
    this.plain.prepare(w);
  }

  runWave(w: Wave, limit: number, isTurnStart: boolean): boolean {
    if (this.tracer.isDone) return this.plain.runWave(w, limit, isTurnStart);
    const before = w.executed;
    // A budget ends the dispatch where it does on the interpreter.
    const isLast = this.executed + limit > this.budget;
    try {
      return this.runExactly(w, isLast ? Math.min(limit, INTERPRETED_SLICE) : limit, isTurnStart);
    } finally {
      this.executed += w.executed - before;
    }
  }

  /** Compiled code as far as it is sure to end in the limit; then one by one. */
  private runExactly(w: Wave, limit: number, isTurnStart: boolean): boolean {
    const fast = this.tracer.wants(w) ? this.some : this.plain;
    const before = w.executed;
    if (fast !== undefined && limit > BEYOND && fast.runWave(w, limit - BEYOND, isTurnStart)) return true;
    const done = w.executed - before;
    if (done >= limit || !w.isRunning) return false;
    return this.all.runWave(w, limit - done, isTurnStart && done === 0);
  }

  takeCounts(counts: number[]): void {
    for (const engine of this.engines) engine.takeCounts(counts);
  }
}
