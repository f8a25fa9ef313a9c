// The reference interpreter: executes a wavefront's instructions one by one, with observers where there are any.
import type { Engine } from '../dispatch/engine.ts';
import type { Monitor } from '../dispatch/monitor.ts';
import type { Wave } from '../state/wave.ts';
import { ENCODINGS, type LoadedCode } from './loaded-code.ts';

/** Instructions that are interpreted between two looks at the clock and the budget. */
export const INTERPRETED_SLICE = 1000;

/** The reference interpreter. */
export class Interpreter implements Engine {
  readonly slice = INTERPRETED_SLICE;
  readonly registers = [256, 256] as const;
  private readonly loaded: LoadedCode;
  private counts: number[] = [];

  constructor(loaded: LoadedCode) {
    this.loaded = loaded;
  }

  runWave(w: Wave, limit: number, isTurnStart: boolean): boolean {
    const { loaded, counts } = this;
    const group = w.workgroup;
    const first = isTurnStart ? 0 : -1;
    let pc = w.pc;
    let n = 0;
    try {
      for (; n < limit && w.isRunning; n++) {
        pc = w.pc;
        const bound = loaded.at(pc);
        if (bound.landsLate && n > first && !w.inLoadRow) return true;
        w.pc = pc + bound.size;
        bound.step(w);
        if (bound.loadRow !== undefined) w.inLoadRow = bound.loadRow;
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
    const { loaded, counts } = this;
    const group = w.workgroup;
    const first = isTurnStart ? 0 : -1;
    for (let n = 0; n < limit && w.isRunning; n++) {
      const pc = w.pc;
      const bound = loaded.at(pc);
      if (bound.landsLate && n > first && !w.inLoadRow) return true;
      for (const monitor of monitors) {
        const pause = monitor.before?.(w, pc, bound);
        if (pause !== undefined) await pause;
      }
      if (w.pc !== pc) {
        // An observer has sent the wave elsewhere.
        n--;
        continue;
      }
      w.pc = pc + bound.size;
      try {
        bound.step(w);
      } catch (error) {
        w.pc = pc;
        throw error;
      }
      if (bound.loadRow !== undefined) w.inLoadRow = bound.loadRow;
      w.executed++;
      group.clock++;
      counts[bound.family] = (counts[bound.family] ?? 0) + 1;
      for (const monitor of monitors) monitor.after?.(w, pc, bound);
    }
    return false;
  }

  /** Counts so far, for `restoreCounts`. */
  saveCounts(): readonly number[] {
    return [...this.counts];
  }
  restoreCounts(counts: readonly number[]): void {
    this.counts = [...counts];
  }

  takeCounts(counts: number[]): void {
    for (let i = 0; i < ENCODINGS.length; i++) {
      const n = this.counts[i];
      if (n !== undefined) counts[i] = (counts[i] ?? 0) + n;
    }
    this.counts = [];
  }
}
