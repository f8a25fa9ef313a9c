// Words at four places of wasm memory as one vector: what records of four lanes have.
import type { WasmFunction } from '../wasm/emit.ts';

const LANES = [0, 1, 2, 3] as const;

/** Four places; its locals are of the function being written. */
export class FourPlaces {
  private readonly fn: WasmFunction;
  private readonly at: readonly number[];

  constructor(fn: WasmFunction) {
    this.fn = fn;
    this.at = LANES.map(() => fn.local('i32'));
  }

  /** The places are those in a vector (a local) from now on. */
  set(places: number): void {
    for (const lane of LANES) {
      this.fn
        .get(places)
        .lane('i32x4.extract_lane', lane)
        .set(this.at[lane] as number);
    }
  }

  /** Sets a vector to the words at so many bytes behind the places. */
  gather(into: number, offset: number): void {
    const { fn } = this;
    for (const lane of LANES) {
      fn.get(this.at[lane] as number);
      if (lane === 0) fn.memory('v128.load32_zero', offset);
      else fn.get(into).memoryLane('v128.load32_lane', lane, offset);
      fn.set(into);
    }
  }

  /** Stores the words of a vector at so many bytes behind the places. */
  put(words: number, offset: number): void {
    for (const lane of LANES) {
      this.fn
        .get(this.at[lane] as number)
        .get(words)
        .memoryLane('v128.store32_lane', lane, offset);
    }
  }

  /** Does `work` for each place (a local) and its lane. */
  each(work: (at: number, lane: number) => void): void {
    for (const lane of LANES) work(this.at[lane] as number, lane);
  }
}
