// Words at four places of wasm memory as one vector: what records of four lanes have.
import type { WasmFunction } from '../../wasm/emit.ts';

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

  /** Sets two vectors to the words at so many bytes behind the places, and to those behind them. */
  gatherPairs(first: number, second: number, offset = 0): void {
    const { fn } = this;
    for (const [half, into] of [first, second].entries()) {
      const [a, b] = [this.at[2 * half] as number, this.at[2 * half + 1] as number];
      fn.get(a).memory('v128.load64_zero', offset).set(into);
      fn.get(b).get(into).memoryLane('v128.load64_lane', 1, offset).set(into);
    }
    fn.get(first).get(second).shuffle32(0, 2, 4, 6);
    fn.get(first).get(second).shuffle32(1, 3, 5, 7).set(second).set(first);
  }

  /** Sets two vectors to the first and the third of the four words at each place. */
  gatherWhole(first: number, third: number): void {
    const { fn } = this;
    const pair = (a: number): void => {
      fn.get(this.at[a] as number).memory('v128.load');
      fn.get(this.at[a + 1] as number).memory('v128.load');
      fn.shuffle32(0, 2, 4, 6);
    };
    pair(0);
    fn.set(first);
    pair(2);
    fn.set(third);
    fn.get(first).get(third).shuffle32(0, 2, 4, 6);
    fn.get(first).get(third).shuffle32(1, 3, 5, 7).set(third).set(first);
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
