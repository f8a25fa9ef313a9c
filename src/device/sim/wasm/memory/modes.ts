// How vector memory instructions find their lanes' addresses: flat and global, LDS. Each mode has a path for the whole
// wavefront (lanes that follow each other, or all read one address), one for four lanes and one for a lane; what none of them
// can prove harmless is left to the interpreter. Source: AMD CDNA3 ISA, "Flat Memory Instructions", "Data Share".

import { PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH } from '../../../apertures.ts';
import { gpuWindow, LANES, VGPR_BYTES, WAVE_LDS_BASE, WAVE_LDS_BYTES } from '../../state/layout.ts';
import type { Label } from './code.ts';
import { locateFunction, moveLanesIndex } from './mapped.ts';
import { type BoundMode, locate, type Mode, word } from './mode.ts';
import { bindSwizzled, swizzledLane } from './scratch.ts';
import type { Frame, Transfer } from './transfer.ts';
import {
  adjacent,
  checkPage,
  ifAdmitted,
  moveLane,
  offsetWaveFunction,
  overQuads,
  progressionFunction,
  pushSome,
  type QuadLocals,
  quadLocals,
  wideWaveFunction,
  windowQuad,
  windowSome,
} from './window.ts';

/** Tests lane 1 minus lane 0 of a register: runs `ascending` when it is the element size, `same` when it is 0. */
function byStride(f: Frame, register: number, bytes: number, ascending: () => void, same?: () => void): void {
  const { code } = f;
  const { fn } = code;
  const stride = code.local('i32');
  fn.get(register).memory('i32.load', 4).get(register).memory('i32.load').op('i32.sub').tee(stride);
  fn.i32(bytes).op('i32.eq');
  code.if(ascending);
  if (same === undefined) return;
  fn.get(stride).op('i32.eqz');
  code.if(same);
}

/** The whole wavefront at offset `a` of wasm memory (consecutive or one address), which is on the stack too; 0 is none. */
function wholeWave(f: Frame, t: Transfer, a: number, done: Label, one: boolean): void {
  const { code } = f;
  code.if(() => {
    ifAdmitted(f, t, [a], () => {
      moveWave(f, t, a, one);
      code.br(done);
    });
  });
}

/** Moves all lanes, whose elements follow each other from `a` on or are all there. */
function moveWave(f: Frame, t: Transfer, a: number, one: boolean): void {
  if (t.wave !== undefined) t.wave(f, a, one ? t.bytes : LANES * t.bytes);
  else if (one) overQuads(f, a, 0, () => t.broadcast?.(f, a));
  else overQuads(f, a, 4 * t.bytes, () => t.contiguous(f, a));
}

/** 4 GiB pieces of the addresses behind the window's that its device's memory may take. */
const BEYOND = 64;

/** Has all lanes moved at once when they begin beyond the window: `high` leaves the high word of an address of theirs. */
function moveBeyond(
  f: Frame,
  t: Transfer,
  high: () => void,
  place: { readonly register: number; readonly isWide: boolean; readonly constant: number },
): Pick<BoundMode, 'many'> {
  const { words } = t;
  if (words === undefined || t.isAtomic || t.isPair) return {};
  const { code, module } = f;
  const { fn } = code;
  return {
    many: (done) => {
      high();
      fn.i32(gpuWindow.high + 1)
        .op('i32.sub')
        .i32(BEYOND)
        .op('i32.lt_u');
      code.if(() => {
        fn.get(f.wave)
          .get(place.register)
          .i32(place.isWide ? 1 : 0);
        fn.get(place.constant).op('i32.wrap_i64').get(place.constant).i64(32n).op('i64.shr_s').op('i32.wrap_i64');
        fn.get(f.data)
          .i32(t.write ? -words : words)
          .call(moveLanesIndex(module));
        code.if(() => code.br(done));
      });
    },
  };
}

/** 64-bit addresses in a register pair plus a constant: FLAT and GLOBAL without a scalar base. */
export function wideMode(flat: boolean): Mode {
  return {
    key: flat ? 'flat' : 'global',
    parameters: ['i32', 'i64'],
    bind: (f, t, [register, offset]) => bindWide(f, t, register as number, offset as number, flat),
  };
}

function bindWide(f: Frame, t: Transfer, register: number, offset: number, flat: boolean): BoundMode {
  const { code, module } = f;
  const { fn } = code;
  locate(f, register);
  const a = code.local('i32');
  const address = code.local('i64');
  const q = quadLocals(code);
  const whole = (stride: number, done: Label): void => {
    fn.get(f.wave).get(register).get(offset).i32(stride).i32(spanned(t, stride));
    fn.call(wideWaveFunction(module, t)).tee(a);
    wholeWave(f, t, a, done, stride === 0);
  };
  const { broadcast } = t;
  const high = (): void => {
    fn.get(register).memory('i32.load', VGPR_BYTES);
  };
  return {
    ...moveBeyond(f, t, high, { register, isWide: true, constant: offset }),
    full: (done) =>
      byStride(
        f,
        register,
        t.bytes,
        () => whole(t.bytes, done),
        broadcast === undefined ? undefined : () => whole(0, done),
      ),
    quad: (next) => {
      fn.get(register).get(f.at).op('i32.add').tee(a).memory('v128.load', VGPR_BYTES);
      fn.v128(gpuWindow.high, gpuWindow.high, gpuWindow.high, gpuWindow.high).op('i32x4.eq').op('i32x4.all_true');
      code.if(() => {
        fn.get(a).memory('v128.load').get(offset).op('i32.wrap_i64').op('i32x4.splat').op('i32x4.add').set(q.low);
        windowQuad(f, t, q, next);
      });
    },
    ...(t.lanes === undefined
      ? {}
      : {
          some: (next, bits) => {
            pushSome(f, register, bits, VGPR_BYTES);
            fn.v128(gpuWindow.high, gpuWindow.high, gpuWindow.high, gpuWindow.high);
            fn.op('i32x4.eq').op('i32x4.all_true');
            code.if(() => {
              pushSome(f, register, bits);
              fn.get(offset).op('i32.wrap_i64').op('i32x4.splat').op('i32x4.add').set(q.low);
              windowSome(f, t, q, bits, next);
            });
          },
        }),
    lane: () => {
      word(f, register);
      fn.op('i64.extend_i32_u');
      word(f, register, VGPR_BYTES);
      fn.op('i64.extend_i32_u').i64(32n).op('i64.shl').op('i64.or').get(offset).op('i64.add').set(address);
      windowLane(f, t, address, a, flat);
    },
  };
}

/** A lane at a 64-bit address: device memory or, for flat, LDS and scratch in their apertures. */
function windowLane(f: Frame, t: Transfer, address: number, a: number, flat: boolean): void {
  const { code, module } = f;
  const { fn } = code;
  const high = code.local('i32');
  code.block((moved) => {
    const move = (): void => {
      moveLane(f, t, a, 4);
      code.br(moved);
    };
    fn.get(address).op('i32.wrap_i64').set(a);
    fn.get(address).i64(32n).op('i64.shr_u').op('i32.wrap_i64').tee(high);
    fn.i32(gpuWindow.high).op('i32.eq');
    code.if(() => {
      checkPage(fn, a, t.bytes, t.write);
      code.if(move);
    });
    if (flat) {
      fn.get(high).i32(SHARED_APERTURE_HIGH).op('i32.eq');
      code.if(() => {
        fn.get(a).op('i64.extend_i32_u').i64(BigInt(t.bytes)).op('i64.add');
        fn.get(f.wave).memory('i32.load', WAVE_LDS_BYTES).op('i64.extend_i32_u').op('i64.le_u');
        code.if(() => {
          fn.get(a).get(f.wave).memory('i32.load', WAVE_LDS_BASE).op('i32.add').set(a);
          move();
        });
        f.resume();
      });
      fn.get(high).i32(PRIVATE_APERTURE_HIGH).op('i32.eq');
      code.if(() => {
        if (t.isAtomic === undefined) {
          const scratch = bindSwizzled(f, t);
          fn.get(a).set(scratch.offset);
          scratch.inRange();
          code.if(() => swizzledLane(f, t, scratch, moved));
        }
        f.resume();
      });
    }
    fn.get(f.wave)
      .get(address)
      .i32(t.bytes)
      .call(locateFunction(module, t.write, t.isAtomic !== undefined))
      .tee(a);
    code.if(move);
    f.resume();
  });
}

/** A scalar base plus 32-bit unsigned lane offsets: GLOBAL with saddr. The parameter is the base with the constant added. */
export const scalarBaseMode: Mode = {
  key: 'global.scalar',
  parameters: ['i32', 'i64'],
  bind: (f, t, [register, base]) => bindScalarBase(f, t, register as number, base as number),
};

function bindScalarBase(f: Frame, t: Transfer, register: number, base: number): BoundMode {
  const { code } = f;
  const { fn } = code;
  locate(f, register);
  const a = code.local('i32');
  const low = code.local('i32');
  const address = code.local('i64');
  const q = quadLocals(code);
  const inWindow = (): void => {
    fn.get(base).i64(32n).op('i64.shr_u').i64(BigInt(gpuWindow.high)).op('i64.eq');
  };
  fn.get(base).op('i32.wrap_i64').set(low);
  const high = (): void => {
    fn.get(base).i64(32n).op('i64.shr_u').op('i32.wrap_i64');
  };
  return {
    ...moveBeyond(f, t, high, { register, isWide: false, constant: base }),
    full: (done) => offsetWave(f, t, register, base, a, () => fn.i64(BigInt(2 ** 32 - 1)), done),
    quad: (next) => {
      inWindow();
      code.if(() => {
        fn.get(register).get(f.at).op('i32.add').memory('v128.load');
        offsetQuad(f, t, q, low, next);
      });
    },
    ...(t.lanes === undefined
      ? {}
      : {
          some: (next, bits) => {
            inWindow();
            code.if(() => {
              pushSome(f, register, bits);
              ifWithin(f, q, low, () => windowSome(f, t, q, bits, next));
            });
          },
        }),
    lane: () => {
      word(f, register);
      fn.op('i64.extend_i32_u').get(base).op('i64.add').set(address);
      windowLane(f, t, address, a, false);
    },
  };
}

/** Bytes of a whole wavefront's elements, which follow each other or are one. */
const spanned = (t: Transfer, stride: number): number => (stride === 0 ? t.bytes : 64 * t.bytes);

/** All lanes at the address `base` + the register's value, which must not exceed at its end the i64 that `limit` leaves. */
export function offsetWave(
  f: Frame,
  t: Transfer,
  register: number,
  base: number,
  a: number,
  limit: () => void,
  done: Label,
): void {
  const { code, module } = f;
  const { fn } = code;
  const whole = (stride: number): void => {
    fn.get(f.wave).get(register).get(base);
    limit();
    fn.i32(stride).i32(spanned(t, stride)).call(offsetWaveFunction(module, t)).tee(a);
    wholeWave(f, t, a, done, stride === 0);
  };
  const same = t.broadcast === undefined ? undefined : () => whole(0);
  byStride(f, register, t.bytes, () => whole(t.bytes), same);
}

/** Four lanes whose offsets from `low` are on the stack. */
export function offsetQuad(f: Frame, t: Transfer, q: QuadLocals, low: number, next: Label): void {
  ifWithin(f, q, low, () => windowQuad(f, t, q, next));
}

/** Sets `q.low` to `low` plus the offsets on the stack, and goes on with `then` where none of the sums wraps. */
function ifWithin(f: Frame, q: QuadLocals, low: number, then: () => void): void {
  const { code } = f;
  const { fn } = code;
  const base = code.local('v128');
  fn.get(low).op('i32x4.splat').tee(base).op('i32x4.add').tee(q.low);
  fn.get(base).op('i32x4.ge_u').op('i32x4.all_true');
  code.if(then);
}

/**
 * DS addressing: a 32-bit register plus a constant, modulo 2^32 (compilers fold a positive constant onto a negative base), checked
 * against the workgroup's LDS. The second element of a pair is `delta`, its first transfer parameter, further on.
 */
export const ldsMode: Mode = {
  key: 'ds',
  parameters: ['i32', 'i32'],
  bind: (f, t, [register, offset]) => bindLds(f, t, register as number, offset as number),
};

function bindLds(f: Frame, t: Transfer, register: number, offset: number): BoundMode {
  const { code, module } = f;
  const { fn } = code;
  locate(f, register);
  const base = code.local('i32');
  const limit = code.local('i32');
  const a = code.local('i32');
  const q = quadLocals(code);
  const [delta] = f.extra;
  const { broadcast } = t;
  const starts: readonly (number | undefined)[] = t.isPair ? [undefined, delta] : [undefined];
  // Largest offset that is in range; negative when there is none.
  fn.get(f.wave).memory('i32.load', WAVE_LDS_BYTES).i32(t.bytes).op('i32.sub').set(limit);
  fn.get(f.wave).memory('i32.load', WAVE_LDS_BASE).set(base);
  /** Leaves 1 when the elements of a lane, `more` bytes after those at `a`, are in range. */
  const inRange = (more: number): void => {
    fn.get(limit).i32(0).op('i32.ge_s');
    for (const further of starts) {
      fn.get(a);
      if (further !== undefined) fn.get(further).op('i32.add');
      if (more !== 0) fn.i32(more).op('i32.add');
      fn.get(limit).op('i32.le_u').op('i32.and');
    }
  };
  const whole = (stride: number, done: Label): void => {
    fn.get(register).i32(stride).call(progressionFunction(module, false));
    fn.get(register).memory('i32.load').get(offset).op('i32.add').set(a);
    // Lane 0 and lane 63 in range: with LDS far smaller than 2^32 so are those between.
    inRange(0);
    fn.op('i32.and');
    if (stride !== 0) {
      inRange(63 * stride);
      fn.op('i32.and');
    }
    code.if(() => {
      fn.get(a).get(base).op('i32.add').set(a);
      moveWave(f, t, a, stride === 0);
      code.br(done);
    });
  };
  /** Leaves 1 when the elements of the lanes at the addresses in `low` are in range. */
  const areInRange = (): void => {
    fn.get(limit).i32(0).op('i32.ge_s');
    for (const further of starts) {
      fn.get(q.low);
      if (further !== undefined) fn.get(further).op('i32x4.splat').op('i32x4.add');
      fn.get(limit).op('i32x4.splat').op('i32x4.le_u').op('i32x4.all_true').op('i32.and');
    }
  };
  const someOf = (): Pick<BoundMode, 'some'> => {
    const { lanes } = t;
    if (lanes === undefined) return {};
    return {
      some: (next, bits) => {
        pushSome(f, register, bits);
        fn.get(offset).op('i32x4.splat').op('i32x4.add').set(q.low);
        areInRange();
        code.if(() => {
          fn.get(q.low).get(base).op('i32x4.splat').op('i32x4.add').set(q.low);
          lanes(f, q.low, bits);
          code.br(next);
        });
      },
    };
  };
  return {
    full: (done) =>
      byStride(
        f,
        register,
        t.bytes,
        () => whole(t.bytes, done),
        t.broadcast === undefined ? undefined : () => whole(0, done),
      ),
    quad: (next) => {
      fn.get(register).get(f.at).op('i32.add').memory('v128.load').get(offset).op('i32x4.splat').op('i32x4.add');
      fn.set(q.low);
      areInRange();
      code.if(() => {
        const [first] = q.addresses;
        fn.get(q.low).get(base).op('i32x4.splat').op('i32x4.add').tee(q.low).lane('i32x4.extract_lane', 0).set(first);
        adjacent(fn, q.low, first, t.bytes);
        code.if(
          () => t.contiguous(f, first),
          () => {
            // Tiles of products: several lanes use one row.
            if (broadcast !== undefined) {
              fn.get(q.low).get(first).op('i32x4.splat').op('i32x4.eq').op('i32x4.all_true');
              code.if(() => {
                broadcast(f, first);
                code.br(next);
              });
            }
            if (t.lanes !== undefined) t.lanes(f, q.low);
            else {
              for (let i = 1; i < 4; i++)
                fn.get(q.low)
                  .lane('i32x4.extract_lane', i)
                  .set(q.addresses[i] as number);
              t.scattered(f, q.addresses);
            }
          },
        );
        code.br(next);
      });
    },
    ...someOf(),
    lane: () => {
      word(f, register);
      fn.get(offset).op('i32.add').set(a);
      inRange(0);
      fn.op('i32.eqz');
      code.if(() => f.resume());
      fn.get(a).get(base).op('i32.add').set(a);
      moveLane(f, t, a, 4);
    },
  };
}
