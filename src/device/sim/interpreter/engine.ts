// What executes a wavefront's instructions: the reference interpreter here, compiled code in wasm/. Both act on the wave block.
import type { Launch } from '../dispatch/launch.ts';
import type { Monitor } from '../dispatch/monitor.ts';
import type { DeviceMemory } from '../state/memory.ts';
import type { Wave } from '../state/wave.ts';
import { CompiledEngine } from '../wasm/engine.ts';
import { ENCODINGS, type Program } from './program.ts';

/** Instructions a wave runs before the next wave of its workgroup gets a turn. */
export const QUANTUM = 20_000;

export interface Engine {
  /** Instructions between two looks at the clock. */
  readonly slice: number;
  /** Vector registers that the code run so far can name, `[vgprs, agprs]`, at least one each: no others need clearing after it. */
  readonly registers: readonly [number, number];
  /**
   * Runs a wave until it ends or reaches a barrier, or has executed about `limit` instructions. True ends its turn early: the next
   * instruction loads into LDS. `isTurnStart` says that nothing of the turn has run yet. `w.executed` and `workgroup.clock` are exact
   * afterwards; when it throws (KernelStop, MemoryFault), `w.pc` is the failing instruction.
   */
  runWave(w: Wave, limit: number, isTurnStart: boolean): boolean;
  /** Adds the instructions executed since the last call to `counts`, by index in ENCODINGS. */
  takeCounts(counts: number[]): void;
}

/** The instructions an engine has executed since this was last asked, by encoding family. */
export function countsByEncoding(engine: Engine): Record<string, number> {
  const counts: number[] = [];
  engine.takeCounts(counts);
  const byEncoding: Record<string, number> = {};
  counts.forEach((n, i) => {
    if (n > 0) byEncoding[ENCODINGS[i] as string] = n;
  });
  return byEncoding;
}

/** What an engine is made for. */
export interface EngineJob {
  readonly program: Program;
  readonly launch: Launch;
  readonly memory: DeviceMemory;
}

/** The engine that a launch asks for. */
export function createEngine(job: EngineJob): Engine {
  return job.launch.engine === 'compiled' ? new CompiledEngine(job) : new Interpreter(job.program);
}

/** The reference interpreter. */
export class Interpreter implements Engine {
  readonly slice = 1000;
  readonly registers = [256, 256] as const;
  private readonly program: Program;
  private counts: number[] = [];

  constructor(program: Program) {
    this.program = program;
  }

  runWave(w: Wave, limit: number, isTurnStart: boolean): boolean {
    const { program, counts } = this;
    const group = w.workgroup;
    const first = isTurnStart ? 0 : -1;
    let pc = w.pc;
    let n = 0;
    try {
      for (; n < limit && w.isRunning; n++) {
        pc = w.pc;
        const bound = program.at(pc);
        if (bound.landsLate && n > first) return true;
        w.pc = pc + bound.size;
        bound.step(w);
        counts[bound.family] = (counts[bound.family] ?? 0) + 1;
        group.clock++;
      }
    } catch (error) {
      w.pc = pc;
      throw error;
    } finally {
      w.executed += n;
    }
    return false;
  }

  /** The same with observers; an instruction waits for what `before` promises. */
  async runObserved(w: Wave, limit: number, isTurnStart: boolean, monitors: readonly Monitor[]): Promise<boolean> {
    const { program, counts } = this;
    const group = w.workgroup;
    const first = isTurnStart ? 0 : -1;
    for (let n = 0; n < limit && w.isRunning; n++) {
      const pc = w.pc;
      const bound = program.at(pc);
      if (bound.landsLate && n > first) return true;
      for (const monitor of monitors) {
        const pause = monitor.before?.(w, pc, bound);
        if (pause !== undefined) await pause;
      }
      w.pc = pc + bound.size;
      try {
        bound.step(w);
      } catch (error) {
        w.pc = pc;
        throw error;
      }
      w.executed++;
      group.clock++;
      counts[bound.family] = (counts[bound.family] ?? 0) + 1;
      for (const monitor of monitors) monitor.after?.(w, pc, bound);
    }
    return false;
  }

  takeCounts(counts: number[]): void {
    for (let i = 0; i < ENCODINGS.length; i++) {
      const n = this.counts[i];
      if (n !== undefined) counts[i] = (counts[i] ?? 0) + n;
    }
    this.counts = [];
  }
}
