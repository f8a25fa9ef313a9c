// What replayed waves did, instruction by instruction: when a wave could go on, when it issued, when it could go on again. The simulated
// form of a thread trace.
import { Float64List, Int32List } from './growing.ts';

/** One replayed wave. Times are cycles of the replay. */
export interface ReplayedWave {
  /** Number of the workgroup in the replay, and of the wave in it. */
  readonly group: number;
  readonly index: number;
  /** Compute unit of the die, SIMD, and slot of the SIMD. */
  readonly unit: number;
  readonly simd: number;
  readonly slot: number;
  readonly begin: number;
  end: number;
  /** Instruction numbers of the kernel code in order of issue. */
  readonly instructions: Int32List;
  /** Three for each instruction: when the wave was ready for it, when it issued, when the wave could go on. */
  readonly times: Float64List;
}

/** Where a wave is. */
export type WavePlace = Pick<ReplayedWave, 'group' | 'index' | 'unit' | 'simd'>;

/** Collects waves by their number in the replay. */
export class WaveLog {
  readonly waves: ReplayedWave[] = [];
  /** Slots that are taken, by SIMD. */
  private readonly slots = new Map<number, boolean[]>();
  private readonly simds: number;

  constructor(simds: number) {
    this.simds = simds;
  }

  start(place: WavePlace, begin: number): void {
    const key = place.unit * this.simds + place.simd;
    const taken = this.slots.get(key) ?? [];
    this.slots.set(key, taken);
    const free = taken.indexOf(false);
    const slot = free < 0 ? taken.length : free;
    taken[slot] = true;
    this.waves.push({ ...place, slot, begin, end: begin, instructions: new Int32List(), times: new Float64List() });
  }

  issue(wave: number, instruction: number, ready: number, issued: number, next: number): void {
    const w = this.waves[wave] as ReplayedWave;
    w.instructions.push(instruction);
    w.times.push(ready);
    w.times.push(issued);
    w.times.push(next);
  }

  /** The wave is let out of the barrier that it issued last: it stood there until `issued`. */
  release(wave: number, issued: number, next: number): void {
    const { times } = this.waves[wave] as ReplayedWave;
    times.data[times.length - 2] = issued;
    times.data[times.length - 1] = next;
  }

  end(wave: number, time: number): void {
    const w = this.waves[wave] as ReplayedWave;
    w.end = time;
    const taken = this.slots.get(w.unit * this.simds + w.simd);
    if (taken !== undefined) taken[w.slot] = false;
  }
}
