// Results of steps in locals of a function that is being written.
import type { WasmFunction } from './emit.ts';

export class KeptLocals {
  readonly fn: WasmFunction;
  private readonly locals: number[] = [];

  constructor(fn: WasmFunction) {
    this.fn = fn;
  }

  /** A v128 local with the result of `push`. */
  keep(push: () => void): number {
    const local = this.fn.local('v128');
    this.locals.push(local);
    push();
    this.fn.set(local);
    return local;
  }

  /** Gives all of them back. */
  release(): void {
    for (const local of this.locals.splice(0)) this.fn.release('v128', local);
  }
}
