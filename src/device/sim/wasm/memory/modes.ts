// How vector memory instructions find their lanes' addresses: flat and global. Each mode has a path for the whole
// wavefront (lanes that follow each other, or all read one address), one for four lanes and one for a lane; what none of them
// can prove harmless is left to the interpreter. Source: AMD CDNA3 ISA, "Flat Memory Instructions".

import { PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH } from '../../../apertures.ts';
import { gpuWindow, LANES, VGPR_BYTES, WAVE_LDS_BASE, WAVE_LDS_BYTES } from '../../state/layout.ts';
import type { WasmFunction } from '../emit.ts';
import type { Label, QuadLocals } from './code.ts';
import { locateFunction, moveLanesIndex } from './mapped.ts';
import { maskOfQuad } from './masks.ts';
import { type BoundMode, locate, type Mode, word } from './mode.ts';
import { canScatter, scatters, scatterWave } from './scatter.ts';
import { bindSwizzled, swizzledLane } from './scratch.ts';
import type { Frame, Transfer } from './transfer.ts';
import { byStride, canBeOne, wholeWave } from './whole-wave.ts';
import {
  checkPage,
  moveLane,
  offsetWaveFunction,
  progressionFunction,
  pushSome,
  quadLocals,
  wideWaveFunction,
  windowQuad,
  windowSome,
} from './window.ts';

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
  const high = (): void => {
    fn.get(register).memory('i32.load', VGPR_BYTES);
  };
  const scattered = (done: Label): void => {
    fn.get(register).i32(VGPR_BYTES).op('i32.add').i32(0).call(progressionFunction(module, false));
    high();
    fn.i32(gpuWindow.high).op('i32.eq').op('i32.and');
    code.if(() => {
      fn.get(offset).op('i32.wrap_i64').set(a);
      canScatter(f, t, register, a, () => fn.i32(-1));
      code.if(() => {
        scatterWave(f, t, register, a, q);
        code.br(done);
      });
    });
  };
  return {
    ...moveBeyond(f, t, high, { register, isWide: true, constant: offset }),
    full: (done) =>
      byStride(f, register, t.bytes, {
        ascending: () => whole(t.bytes, done),
        same: canBeOne(t) ? () => whole(0, done) : undefined,
        other: scatters(t) ? () => scattered(done) : undefined,
      }),
    ...(t.masked === undefined
      ? {}
      : {
          masked: (exec) => {
            fn.get(offset).op('i32.wrap_i64').set(a);
            t.masked?.(f, register, a, exec, () => pushIsInWindow(f, register, exec));
          },
        }),
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

/** Leaves 1 when neither `low` plus the word of the first active lane wraps, nor that of the last one. */
function pushEndsWithin({ code }: Frame, register: number, low: number, exec: number): WasmFunction {
  const { fn } = code;
  const pushIsWithin = (): WasmFunction => {
    fn.op('i32.wrap_i64').i32(2).op('i32.shl').get(register).op('i32.add').memory('i32.load');
    return fn.get(low).op('i32.add').get(low).op('i32.ge_u');
  };
  fn.get(exec).op('i64.ctz');
  pushIsWithin();
  fn.i64(BigInt(LANES - 1))
    .get(exec)
    .op('i64.clz')
    .op('i64.sub');
  return pushIsWithin().op('i32.and');
}

/** Leaves 1 when the high words of the addresses of all active lanes are the window's. */
function pushIsInWindow({ code }: Frame, register: number, exec: number): void {
  const { fn } = code;
  for (let quad = 0; quad < LANES / 4; quad++) {
    fn.get(register).memory('v128.load', VGPR_BYTES + 16 * quad);
    fn.v128(gpuWindow.high, gpuWindow.high, gpuWindow.high, gpuWindow.high).op('v128.xor');
    maskOfQuad(fn, exec, quad);
    fn.op('v128.and');
    if (quad > 0) fn.op('v128.or');
  }
  fn.op('v128.any_true').op('i32.eqz');
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
    full: (done) => offsetWave(f, t, { register, base, a, low, limit: undefined, inWindow, q }, done),
    ...(t.masked === undefined
      ? {}
      : {
          masked: (exec) =>
            t.masked?.(f, register, low, exec, () => {
              inWindow();
              pushEndsWithin(f, register, low, exec).op('i32.and');
            }),
        }),
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

/** Lanes at the address `base` + a register's value, which must not exceed `limit` (local; undefined: 2^32 - 1). */
interface Offsets {
  readonly register: number;
  /** Locals: the base, and its low word. */
  readonly base: number;
  readonly low: number;
  readonly limit: number | undefined;
  /** Leaves 1 when the base is in the window. */
  readonly inWindow: () => void;
  readonly a: number;
  readonly q: QuadLocals;
}

/** All lanes at a base plus offsets: moves them and goes to `done`, or falls through. */
export function offsetWave(f: Frame, t: Transfer, offsets: Offsets, done: Label): void {
  const { code, module } = f;
  const { fn } = code;
  const { register, base, low, limit, inWindow, a, q } = offsets;
  const whole = (stride: number): void => {
    fn.get(f.wave).get(register).get(base);
    if (limit === undefined) fn.i64(BigInt(2 ** 32 - 1));
    else fn.get(limit).op('i64.extend_i32_u');
    fn.i32(stride).i32(spanned(t, stride)).call(offsetWaveFunction(module, t)).tee(a);
    wholeWave(f, t, a, done, stride === 0);
  };
  const scattered = (): void => {
    inWindow();
    code.if(() => {
      // The largest offset that does not wrap.
      fn.get(low).i32(-1).op('i32.xor').set(a);
      canScatter(f, t, register, low, () => {
        fn.get(a);
        if (limit !== undefined) fn.get(limit).get(a).get(limit).op('i32.lt_u').select();
      });
      code.if(() => {
        scatterWave(f, t, register, low, q);
        code.br(done);
      });
    });
  };
  byStride(f, register, t.bytes, {
    ascending: () => whole(t.bytes),
    same: canBeOne(t) ? () => whole(0) : undefined,
    other: scatters(t) ? scattered : undefined,
  });
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
