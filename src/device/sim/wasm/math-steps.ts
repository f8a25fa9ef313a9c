// A writer of f64 vector code in named steps, for the functions in math-fused.ts and math-directed.ts.

import { choosing } from './features.ts';
import { KeptLocals } from './kept-locals.ts';
import { double } from './math-tools.ts';

const SIGNS: [number, number, number, number] = [0, -0x80000000, 0, -0x80000000];

export class Steps extends KeptLocals {
  /** Pushes x op y. */
  with(x: number, y: number | { readonly f64: number }, name: string): void {
    this.fn.get(x);
    if (typeof y === 'number') this.fn.get(y);
    else double(this.fn, y.f64);
    this.fn.op(`f64x2.${name}`);
  }

  result(x: number, y: number | { readonly f64: number }, name: string): number {
    return this.keep(() => this.with(x, y, name));
  }

  /** |value| with the sign of a local. */
  signed(value: number, of: number): number {
    return this.keep(() => {
      double(this.fn, value);
      this.fn
        .get(of)
        .v128(...SIGNS)
        .op('v128.and')
        .op('v128.or');
    });
  }

  madd(a: number, b: number, c: number): number {
    return this.keep(() => void this.fn.get(a).get(b).get(c).op('f64x2.relaxed_madd'));
  }

  /** c - a·b */
  nmadd(a: number, b: number, c: number): number {
    return this.keep(() => void this.fn.get(a).get(b).get(c).op('f64x2.relaxed_nmadd'));
  }

  /** mask ? a : b */
  choose(a: number, b: number, mask: () => void): number {
    return this.keep(() => {
      this.fn.get(a).get(b);
      mask();
      this.fn.op(choosing());
    });
  }
}
