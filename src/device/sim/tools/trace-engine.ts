// The engine of traced dispatches. Lines of text are written by compiled code behind the instructions that the filter takes
// (line-code.ts); for events these instructions are executed one at a time. Waves take turns at the same instructions as on the
// interpreter, so that the trace is the same even where it depends on who was first.

import { semanticsOf } from '../../../isa/semantics/index.ts';
import { type Engine, type EngineJob, QUANTUM } from '../dispatch/engine.ts';
import { INTERPRETED_SLICE } from '../interpreter/interpreter.ts';
import type { BoundInstruction, LoadedCode } from '../interpreter/loaded-code.ts';
import type { Wave } from '../state/wave.ts';
import { CompiledEngine } from '../wasm/engine.ts';
import type { Instrument } from '../wasm/instrument.ts';
import { BLOCK_LIMIT, itemsOf } from '../wasm/walk.ts';
import { matchesPc, type TraceFilter } from './filter.ts';
import { declareLineImports, type LineCode } from './line-code.ts';

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
  /** Of tracers whose lines compiled code writes: the wave that runs next; the instruction that runs next, which touches memory. */
  enter(w: Wave): void;
  note(pc: number, bound: BoundInstruction): void;
  /** There is no more room for lines. */
  flush(): void;
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

/** What is added to the code of waves that are traced; of one loaded code and one matrix mode. */
export interface TraceInstruments {
  /** Of whole blocks; undefined: these waves run one instruction at a time. */
  readonly blocks: Instrument | undefined;
  /** Of single instructions, by which a turn ends where it does on the interpreter. */
  readonly steps: Instrument;
}

/** The instruments of a tracer's filter. */
export function traceInstruments(tracer: Tracer, filter: TraceFilter): TraceInstruments {
  const takes = (pc: number): boolean => matchesPc(filter, pc);
  return {
    blocks: filter.pc === undefined ? undefined : instrumentOf(tracer, takes),
    steps: instrumentOf(tracer, () => true),
  };
}

/** The instruments of a tracer of lines. */
export function lineInstruments(
  tracer: Tracer,
  filter: TraceFilter,
  loaded: LoadedCode,
  code: LineCode,
): TraceInstruments {
  const { base } = loaded.region;
  const takes = (pc: number): boolean => matchesPc(filter, pc);
  const leftOut: (boolean | undefined)[] = [];
  const isLeftOut = (pc: number): boolean => {
    const instruction = loaded.decodeAt(pc);
    if (instruction === undefined || !takes(pc)) return false;
    return !code.compiles({ pc, instruction, operation: semanticsOf(instruction.row.operation) });
  };
  const blocks: Instrument = {
    imports: {
      traceNote: (_wave, pc) => tracer.note(pc, loaded.at(base + pc)),
      traceFlush: () => tracer.flush(),
    },
    declare: declareLineImports,
    wants: (block, index) => {
      const items = itemsOf(block);
      const [last, next] = [items[index - 1], items[index]];
      if (last !== undefined && takes(last.pc)) return true;
      return next !== undefined && takes(next.pc) && (index === block.items.length || code.hasMemory(next));
    },
    emit: (context, block, index) => {
      const items = itemsOf(block);
      const [last, next] = [items[index - 1], items[index]];
      if (last !== undefined && takes(last.pc)) code.behind(context, last);
      if (next === undefined || !takes(next.pc)) return;
      if (index === block.items.length) code.branch(context, next);
      else code.before(context, next);
    },
    finish: (context, { items }) => {
      const last = items.at(-1);
      if (last !== undefined && takes(last.pc)) code.behind(context, last);
    },
    enter: (w) => tracer.enter(w),
    isLeftOut: (pc) => {
      if ((pc & 3) !== 0) return false;
      leftOut[pc >>> 2] ??= isLeftOut(pc);
      return leftOut[pc >>> 2] as boolean;
    },
    compilesSteps: true,
    step: (w, pc, bound) => tracer.before(w, pc, bound),
    stepped: (w, pc, bound) => tracer.after(w, pc, bound),
  };
  // Code is kept with its instrument.
  return { blocks, steps: { ...blocks } };
}

/** Runs what a filter takes so that it is traced. */
export class TraceEngine implements Engine {
  readonly slice = QUANTUM;
  private readonly tracer: Tracer;
  /** For waves that are not traced: blocks, single instructions. */
  private readonly plain: CompiledEngine;
  private readonly plainSteps: CompiledEngine;
  /** For waves that are. */
  private readonly blocks: CompiledEngine | undefined;
  private readonly steps: CompiledEngine;
  private readonly budget: number;
  /** By all waves. */
  private executed = 0;

  constructor(job: EngineJob, tracer: Tracer, { blocks, steps }: TraceInstruments) {
    this.tracer = tracer;
    this.budget = job.launch.budget;
    this.plain = new CompiledEngine(job);
    this.plainSteps = new CompiledEngine(job, undefined, true);
    this.blocks = blocks === undefined ? undefined : new CompiledEngine(job, blocks);
    this.steps = new CompiledEngine(job, steps, true);
  }

  private get engines(): readonly CompiledEngine[] {
    const { plain, plainSteps, blocks, steps } = this;
    return blocks === undefined ? [plain, plainSteps, steps] : [plain, plainSteps, blocks, steps];
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

  /** Compiled code as far as it is sure to end in the limit; before and behind it one by one. */
  private runExactly(w: Wave, limit: number, isTurnStart: boolean): boolean {
    const isTraced = this.tracer.wants(w);
    const fast = isTraced ? this.blocks : this.plain;
    const steps = isTraced ? this.steps : this.plainSteps;
    const start = w.executed;
    const isStart = (): boolean => isTurnStart && w.executed === start;
    if (fast !== undefined && limit > BEYOND) {
      // A turn that begins inside of a block goes on in it to its end: code of the rest alone would be compiled at each such place.
      const most = start > 0 ? BLOCK_LIMIT : 0;
      while (w.executed - start < most && w.isRunning && !fast.isCompiled(w))
        if (steps.runWave(w, 1, isStart())) return true;
      const left = limit - BEYOND - (w.executed - start);
      if (left > 0 && w.isRunning && fast.runWave(w, left, isStart())) return true;
    }
    const left = limit - (w.executed - start);
    if (left <= 0 || !w.isRunning) return false;
    return steps.runWave(w, left, isStart());
  }

  takeCounts(counts: number[]): void {
    for (const engine of this.engines) engine.takeCounts(counts);
  }
}
