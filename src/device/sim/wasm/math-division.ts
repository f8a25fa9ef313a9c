// v_div_scale and v_div_fixup as SIMD code. Counterpart: interpreter/division.ts; the cases are applied from the last to the first.
import type { WasmFunction } from './emit.ts';
import type { MathFunction } from './math-tools.ts';

interface Format {
  readonly vector: 'f32x4' | 'f64x2';
  readonly integer: 'i32x4' | 'i64x2';
  readonly fraction: number;
  readonly top: number;
  readonly emin: number;
  readonly farApart: number;
  /** Exponents up to this size are far from all of these: two of them are less than `farApart` apart. */
  readonly ordinary: number;
  readonly step: number;
  readonly tiny: number;
  readonly underflow: number;
}
export const F32: Format = {
  vector: 'f32x4',
  integer: 'i32x4',
  fraction: 23,
  top: 255,
  emin: -126,
  farApart: 96,
  ordinary: 47,
  step: 64,
  tiny: 23,
  underflow: -150,
};
export const F64: Format = {
  vector: 'f64x2',
  integer: 'i64x2',
  fraction: 52,
  top: 2047,
  emin: -1022,
  farApart: 768,
  ordinary: 380,
  step: 128,
  tiny: 53,
  underflow: -1075,
};

class Writer {
  readonly fn: WasmFunction;
  readonly f: Format;
  constructor(fn: WasmFunction, format: Format) {
    this.fn = fn;
    this.f = format;
  }
  float(value: number): void {
    if (this.f === F32) {
      const [w] = new Int32Array(Float32Array.of(value).buffer) as unknown as [number];
      this.fn.v128(w, w, w, w);
    } else {
      const [low, high] = new Int32Array(Float64Array.of(value).buffer) as unknown as [number, number];
      this.fn.v128(low, high, low, high);
    }
  }
  integer(value: number): void {
    if (this.f === F32) this.fn.v128(value, value, value, value);
    else this.fn.v128(value, value >> 31, value, value >> 31);
  }
  op(name: string): this {
    this.fn.op(`${this.f.vector}.${name}`);
    return this;
  }
  /** A local set by `push`. */
  keep(push: () => void): number {
    const local = this.fn.local('v128');
    push();
    this.fn.set(local);
    return local;
  }
  /** The biased exponent field of a local. */
  field(x: number): number {
    return this.keep(() => {
      this.fn.get(x).i32(this.f.fraction).op(`${this.f.integer}.shr_u`);
      this.integer(this.f.top);
      this.fn.op('v128.and');
    });
  }
  isZero(x: number): void {
    this.fn.get(x);
    this.float(0);
    this.op('eq');
  }
  isInfinite(x: number): void {
    this.fn.get(x);
    this.op('abs');
    this.float(Infinity);
    this.op('eq');
  }
  isNaN(x: number): void {
    this.fn.get(x).get(x);
    this.op('ne');
  }
  /** Pushes whether the sizes of two locals are so near to 1 that no quotient of them comes near an end of the range. */
  areOrdinary(x: number, y: number): void {
    for (const [n, local] of [x, y].entries()) {
      const size = this.keep(() => {
        this.fn.get(local);
        this.op('abs');
      });
      this.fn.get(size);
      this.float(2 ** -this.f.ordinary);
      this.op('ge').fn.get(size);
      this.float(2 ** this.f.ordinary);
      this.op('le').fn.op('v128.and');
      if (n > 0) this.fn.op('v128.and');
    }
  }
  /** Returns `value` when `mask` is set in all lanes. */
  returnWhere(mask: () => void, value: () => void): void {
    mask();
    this.fn.op(`${this.f.integer}.all_true`).if();
    value();
    this.fn.return().end();
  }
  /** target = mask ? value : target */
  when(target: number, mask: () => void, value: () => void): void {
    value();
    this.fn.get(target);
    mask();
    this.fn.op('v128.bitselect').set(target);
  }
}

/** Whether |numerator / denominator| is a denormal of f64, of two f64 locals. */
function pushDenormalQuotient(w: Writer, numerator: () => void, denominator: () => void, emin: number): void {
  const { fn } = w;
  const q = fn.local('v128');
  const bound = new Int32Array(Float64Array.of(2 ** emin).buffer) as unknown as [number, number];
  numerator();
  denominator();
  fn.op('f64x2.div').op('f64x2.abs').tee(q);
  fn.v128(bound[0], bound[1], bound[0], bound[1]).op('f64x2.lt').get(q).v128(0, 0, 0, 0).op('f64x2.ne').op('v128.and');
  fn.release('v128', q);
}

/** Mask of lanes where numerator / denominator, computed in f64, is denormal in the format. */
function denormalQuotient(w: Writer, numerator: number | 1, denominator: number, isOne: boolean): number {
  const { fn } = w;
  return w.keep(() => {
    if (w.f === F64) {
      pushDenormalQuotient(
        w,
        () => (isOne ? void fn.v128(0, 0x3ff00000, 0, 0x3ff00000) : void fn.get(numerator)),
        () => void fn.get(denominator),
        w.f.emin,
      );
      return;
    }
    for (const half of [0, 1]) {
      const promote = (x: number): void => {
        fn.get(x).get(x);
        fn.shuffle32(2 * half, 2 * half + 1, 0, 0).op('f64x2.promote_low_f32x4');
      };
      pushDenormalQuotient(
        w,
        () => (isOne ? void fn.v128(0, 0x3ff00000, 0, 0x3ff00000) : promote(numerator)),
        () => promote(denominator),
        w.f.emin,
      );
    }
    fn.shuffle32(0, 2, 4, 6);
  });
}

function divScale(fn: WasmFunction, format: Format, flag: boolean): void {
  const w = new Writer(fn, format);
  const [a, b, c] = [0, 1, 2] as const;
  // Nothing is scaled.
  w.returnWhere(
    () => w.areOrdinary(b, c),
    () => void (flag ? fn.v128(0, 0, 0, 0) : fn.get(a)),
  );
  const fb = w.field(b);
  const fc = w.field(c);
  const reciprocal = denormalQuotient(w, 0, b, true);
  const quotient = denormalQuotient(w, c, b, false);
  if (format === F64) {
    // c / b may be zero, too.
    w.when(
      quotient,
      () => {
        fn.get(c).get(b);
        w.op('div');
        w.float(0);
        w.op('eq');
        w.isInfinite(b);
        fn.op('v128.not').op('v128.and');
      },
      () => void fn.v128(-1, -1, -1, -1),
    );
  }
  const up = w.keep(() => {
    fn.get(a);
    w.float(2 ** format.step);
    w.op('mul');
  });
  const down = w.keep(() => {
    fn.get(a);
    w.float(2 ** -format.step);
    w.op('mul');
  });
  const result = w.keep(() => void (flag ? fn.v128(0, 0, 0, 0) : fn.get(a)));
  const set = (mask: () => void, value: () => void, isFlagged: boolean): void =>
    w.when(result, mask, flag ? () => void (isFlagged ? fn.v128(-1, -1, -1, -1) : fn.v128(0, 0, 0, 0)) : value);
  /** Pushes `scaled` where a is `other`, else a. */
  const ifSame = (scaled: number, other: number) => (): void => {
    fn.get(scaled).get(a).get(a).get(other);
    w.op('eq');
    fn.op('v128.bitselect');
  };
  const compareField = (x: number, op: string, value: number) => (): void => {
    fn.get(x);
    w.integer(value);
    fn.op(`${format.integer}.${op}`);
  };
  set(compareField(fc, 'le_s', format.tiny), () => void fn.get(up), false);
  set(() => void fn.get(quotient), ifSame(up, c), true);
  set(
    () => void fn.get(reciprocal),
    () => void fn.get(down),
    false,
  );
  set(() => void fn.get(reciprocal).get(quotient).op('v128.and'), ifSame(down, b), true);
  set(compareField(fb, 'eq', 0), () => void fn.get(up), false);
  set(
    () => {
      fn.get(fc).get(fb).op(`${format.integer}.sub`);
      w.integer(format.farApart);
      fn.op(`${format.integer}.ge_s`);
    },
    ifSame(up, b),
    true,
  );
  set(
    () => {
      w.isZero(b);
      w.isZero(c);
      fn.op('v128.or');
    },
    () => w.float(NaN),
    false,
  );
  fn.get(result);
}

function divFixup(fn: WasmFunction, format: Format): void {
  const w = new Writer(fn, format);
  const [a, b, c] = [0, 1, 2] as const;
  const quotient = (magnitude: () => void): void => {
    magnitude();
    fn.get(b).get(c).op('v128.xor');
    w.float(-0);
    fn.op('v128.and').op('v128.or');
  };
  w.returnWhere(
    () => {
      w.areOrdinary(b, c);
      fn.get(a).get(a);
      w.op('eq');
      fn.op('v128.and');
    },
    () =>
      quotient(() => {
        fn.get(a);
        w.op('abs');
      }),
  );
  const size = w.keep(() => {
    fn.get(a);
    w.op('abs');
  });
  const or =
    (...masks: (() => void)[]) =>
    (): void => {
      masks.forEach((mask, n) => {
        mask();
        if (n > 0) fn.op('v128.or');
      });
    };
  const and = (x: () => void, y: () => void) => (): void => {
    x();
    y();
    fn.op('v128.and');
  };
  const zero = (x: number) => () => w.isZero(x);
  const infinite = (x: number) => () => w.isInfinite(x);
  const nan = (x: number) => () => w.isNaN(x);
  const fb = w.field(b);
  const fc = w.field(c);
  w.when(
    size,
    () => {
      fn.get(fc).get(fb).op(`${format.integer}.sub`);
      w.integer(format.underflow);
      fn.op(`${format.integer}.lt_s`);
    },
    () => w.float(0),
  );
  w.when(size, nan(a), () => w.float(Infinity));
  w.when(size, or(infinite(b), zero(c)), () => w.float(0));
  w.when(size, or(zero(b), infinite(c)), () => w.float(Infinity));
  const invalid = or(nan(b), nan(c), and(zero(b), zero(c)), and(infinite(b), infinite(c)));
  w.when(size, invalid, () => w.float(NaN));
  quotient(() => void fn.get(size));
}

export const DIVISION: Record<string, MathFunction> = {
  'div_scale.f32': { parameters: 3, build: (fn) => divScale(fn, F32, false) },
  'div_scale.f64': { parameters: 3, build: (fn) => divScale(fn, F64, false) },
  'div_scale_flag.f32': { parameters: 3, build: (fn) => divScale(fn, F32, true) },
  'div_scale_flag.f64': { parameters: 3, build: (fn) => divScale(fn, F64, true) },
  'div_fixup.f32': { parameters: 3, build: (fn) => divFixup(fn, F32) },
  'div_fixup.f64': { parameters: 3, build: (fn) => divFixup(fn, F64) },
};
