// How vector memory instructions find their lanes' addresses: flat and global, LDS, scratch. Each mode has a path for the whole
// wavefront (lanes that follow each other, or all read one address), one for four lanes and one for a lane; what none of them
// can prove harmless is left to the interpreter. Source: AMD CDNA3 ISA, "Flat Memory Instructions", "Data Share".

import { VGPR_BYTES, WAVE_LDS_BASE, WAVE_LDS_BYTES, WAVE_SCRATCH_BYTES, WINDOW_HIGH } from '../../layout.ts';
import { PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH } from '../../operands.ts';
import type { ValType } from '../emit.ts';
import type { Label } from './code.ts';
import { FLAT_SCRATCH_AT } from './frame.ts';
import { locateFunction } from './mapped.ts';
import type { Frame, Transfer } from './transfer.ts';
import {
  adjacent,
  checkPage,
  moveLane,
  overQuads,
  progressionFunction,
  type QuadLocals,
  quadLocals,
  spanFunction,
  windowQuad,
} from './window.ts';

/** Paths of one helper, bound to its parameters. */
export interface BoundMode {
  /** All 64 lanes active: moves them and goes to `done`, or falls through. */
  full?: (done: Label) => void;
  /** Four active lanes: moves them and goes to `next`, or falls through. */
  quad?: (next: Label) => void;
  /** One lane: moves it, or leaves by `resume`. */
  lane: () => void;
}

export interface Mode {
  readonly key: string;
  readonly parameters: readonly ValType[];
  bind(f: Frame, t: Transfer, parameters: readonly number[]): BoundMode;
}

/** Sets `register` (a parameter) to the address of lane 0 of the register it names. */
function locate(f: Frame, register: number): void {
  f.code.fn.get(f.wave).get(register).op('i32.add').set(register);
}

/** Leaves the word of the current lane of a register. */
function word(f: Frame, register: number, offset = 0): void {
  f.code.fn.get(register).get(f.at).op('i32.add').memory('i32.load', offset);
}

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

/** The whole wavefront at window offset `a` (consecutive or one address), when the memory is live. */
function wholeWave(f: Frame, t: Transfer, a: number, done: Label, one: boolean): void {
  const { code, module } = f;
  if (one) checkPage(code.fn, a, t.bytes, t.write);
  else
    code.fn
      .get(a)
      .i32(64 * t.bytes)
      .call(spanFunction(module, t.write));
  code.if(() => {
    if (one) overQuads(f, a, 0, () => t.broadcast?.(f, a));
    else overQuads(f, a, 4 * t.bytes, () => t.contiguous(f, a));
    code.br(done);
  });
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
  /** Sets `a` to lane 0's window offset. The sum may only wrap into the first or last page, which are never live. */
  const first = (): void => {
    fn.get(register).memory('i32.load').get(offset).op('i32.wrap_i64').op('i32.add').set(a);
  };
  const whole = (stride: number, done: Label): void => {
    fn.get(register).i32(stride).call(progressionFunction(module, true));
    code.if(() => {
      first();
      wholeWave(f, t, a, done, stride === 0);
    });
  };
  const { broadcast } = t;
  return {
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
      fn.v128(WINDOW_HIGH, WINDOW_HIGH, WINDOW_HIGH, WINDOW_HIGH).op('i32x4.eq').op('i32x4.all_true');
      code.if(() => {
        fn.get(a).memory('v128.load').get(offset).op('i32.wrap_i64').op('i32x4.splat').op('i32x4.add').set(q.low);
        windowQuad(f, t, q, next);
      });
    },
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
    fn.i32(WINDOW_HIGH).op('i32.eq');
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
        if (!t.lanesOnly) {
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
      .call(locateFunction(module, t.bytes, t.write))
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
    fn.get(base).i64(32n).op('i64.shr_u').i64(BigInt(WINDOW_HIGH)).op('i64.eq');
  };
  fn.get(base).op('i32.wrap_i64').set(low);
  return {
    full: (done) => {
      inWindow();
      code.if(() => offsetWave(f, t, register, low, a, 2 ** 32 - 1, done));
    },
    quad: (next) => {
      inWindow();
      code.if(() => {
        fn.get(register).get(f.at).op('i32.add').memory('v128.load');
        offsetQuad(f, t, q, low, next);
      });
    },
    lane: () => {
      word(f, register);
      fn.op('i64.extend_i32_u').get(base).op('i64.add').set(address);
      windowLane(f, t, address, a, false);
    },
  };
}

/** All lanes at window offset `low` + the register's value, which must not exceed the constant or local `limit` at its end. */
export function offsetWave(
  f: Frame,
  t: Transfer,
  register: number,
  low: number,
  a: number,
  limit: number | { readonly local: number },
  done: Label,
): void {
  const { code, module } = f;
  const { fn } = code;
  const whole = (stride: number): void => {
    fn.get(register).i32(stride).call(progressionFunction(module, false));
    // Neither the lanes' offsets nor the sum with the base may wrap.
    fn.get(register)
      .memory('i32.load')
      .op('i64.extend_i32_u')
      .i64(BigInt(63 * stride))
      .op('i64.add');
    if (typeof limit === 'number') fn.i64(BigInt(limit));
    else fn.get(limit.local).op('i64.extend_i32_u');
    fn.op('i64.le_u').op('i32.and');
    fn.get(register).memory('i32.load').get(low).op('i32.add').tee(a).get(low).op('i32.ge_u').op('i32.and');
    code.if(() => wholeWave(f, t, a, done, stride === 0));
  };
  const same = t.broadcast === undefined ? undefined : () => whole(0);
  byStride(f, register, t.bytes, () => whole(t.bytes), same);
}

/** Four lanes whose offsets from `low` are on the stack. */
export function offsetQuad(f: Frame, t: Transfer, q: QuadLocals, low: number, next: Label): void {
  const { code } = f;
  const { fn } = code;
  const base = code.local('v128');
  fn.get(low).op('i32x4.splat').tee(base).op('i32x4.add').tee(q.low);
  fn.get(base).op('i32x4.ge_u').op('i32x4.all_true');
  code.if(() => windowQuad(f, t, q, next));
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
      if (stride === 0) overQuads(f, a, 0, () => t.broadcast?.(f, a));
      else overQuads(f, a, 4 * t.bytes, () => t.contiguous(f, a));
      code.br(done);
    });
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
      fn.get(limit).i32(0).op('i32.ge_s');
      for (const further of starts) {
        fn.get(q.low);
        if (further !== undefined) fn.get(further).op('i32x4.splat').op('i32x4.add');
        fn.get(limit).op('i32x4.splat').op('i32x4.le_u').op('i32x4.all_true').op('i32.and');
      }
      code.if(() => {
        const [first] = q.addresses;
        fn.get(q.low).get(base).op('i32x4.splat').op('i32x4.add').tee(q.low).lane('i32x4.extract_lane', 0).set(first);
        adjacent(fn, q.low, first, t.bytes);
        code.if(
          () => t.contiguous(f, first),
          () => {
            for (let i = 1; i < 4; i++)
              fn.get(q.low)
                .lane('i32x4.extract_lane', i)
                .set(q.addresses[i] as number);
            t.scattered(f, q.addresses);
          },
        );
        code.br(next);
      });
    },
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

/**
 * Scratch: dword d of lane l is at FLAT_SCRATCH + d·256 + l·4. Parameters: the register with the lane's offset (when there is
 * one) and the sum of scalar offset and constant.
 */
export function scratchMode(register: boolean): Mode {
  return {
    key: register ? 'scratch.vector' : 'scratch',
    parameters: ['i32', 'i32'],
    bind: (f, t, [vaddr, scalar]) => bindScratch(f, t, register ? (vaddr as number) : undefined, scalar as number),
  };
}

/** Four lanes, or one, of swizzled memory: dword d of lane l at base + d·256 + l·4. */
export interface Swizzled {
  /** Local: the lane's offset; in range, and its pieces do not straddle dwords. */
  readonly offset: number;
  /** Local: window offset of lane 0's dword 0. */
  readonly base: number;
  readonly a: number;
}

/** Sets `a` to the window offset of the current lane's first piece and leaves 1 when `bytes` bytes from there are live. */
function placeSwizzled(f: Frame, t: Transfer, { offset, base, a }: Swizzled, bytes: number): void {
  const { fn } = f.code;
  fn.get(offset).i32(2).op('i32.shr_u').i32(8).op('i32.shl').get(offset).i32(3).op('i32.and').op('i32.or');
  fn.get(base).op('i32.add').get(f.at).op('i32.add').tee(a);
  fn.i32(bytes).call(spanFunction(f.module, t.write));
  fn.get(a).get(base).op('i32.ge_u').op('i32.and');
}

const rowBytes = (t: Transfer): number => VGPR_BYTES * (t.pieces - 1);

/** Four lanes with one offset: moves them and goes to `next`, or falls through. */
export function swizzledQuad(f: Frame, t: Transfer, s: Swizzled, next: Label): void {
  const { code } = f;
  const { fn } = code;
  const { row } = t;
  if (t.pieces > 1 && row === undefined) return;
  const addresses = t.bytes < 4 ? [0, 1, 2, 3].map(() => code.local('i32')) : [];
  placeSwizzled(f, t, s, rowBytes(t) + 16);
  code.if(() => {
    addresses.forEach((to, i) => {
      fn.get(s.a)
        .i32(4 * i)
        .op('i32.add')
        .set(to);
    });
    if (t.bytes < 4) t.scattered(f, addresses);
    else if (t.bytes === 4) t.contiguous(f, s.a);
    else for (let n = 0; n < t.pieces; n++) row?.(f, n, s.a, n * VGPR_BYTES);
    code.br(next);
  });
}

/** All 64 lanes with one offset: every word is a row of 256 bytes. Moves them and goes to `done`, or falls through. */
export function swizzledWave(f: Frame, t: Transfer, s: Swizzled, done: Label): void {
  const { code } = f;
  const { row } = t;
  if (t.bytes < 4 || (t.pieces > 1 && row === undefined)) return;
  placeSwizzled(f, t, s, VGPR_BYTES * t.pieces);
  code.if(() => {
    overQuads(f, s.a, 16, () => {
      if (row === undefined) t.contiguous(f, s.a);
      else for (let n = 0; n < t.pieces; n++) row(f, n, s.a, n * VGPR_BYTES);
    });
    code.br(done);
  });
}

/** One lane: moves it, or falls through. */
export function swizzledLane(f: Frame, t: Transfer, s: Swizzled, moved: Label): void {
  placeSwizzled(f, t, s, rowBytes(t) + t.piece);
  f.code.if(() => {
    moveLane(f, t, s.a, VGPR_BYTES);
    f.code.br(moved);
  });
}

/** Leaves 1 when the pieces at the offset in a local do not straddle dwords. */
export function inDwords(f: Frame, t: Transfer, offset: number): void {
  f.code.fn
    .get(offset)
    .i32(3)
    .op('i32.and')
    .i32(4 - t.piece)
    .op('i32.le_u');
}

/** Scratch of the wave at FLAT_SCRATCH; `inRange` leaves 1 when `offset` is in range and its pieces do not straddle dwords. */
function bindSwizzled(f: Frame, t: Transfer): Swizzled & { inRange(): void } {
  const { code } = f;
  const { fn } = code;
  const limit = code.local('i32');
  const offset = code.local('i32');
  const base = code.local('i32');
  const a = code.local('i32');
  fn.get(f.wave).memory('i32.load', WAVE_SCRATCH_BYTES).i32(t.bytes).op('i32.sub').set(limit);
  fn.get(f.wave).memory('i32.load', FLAT_SCRATCH_AT).set(base);
  // Outside the window: nothing is in range, so the interpreter decides.
  fn.get(f.wave)
    .memory('i32.load', FLAT_SCRATCH_AT + 4)
    .i32(WINDOW_HIGH)
    .op('i32.ne');
  code.if(() => fn.i32(-1).set(limit));
  const inRange = (): void => {
    fn.get(offset).get(limit).op('i32.le_u').get(limit).i32(0).op('i32.ge_s').op('i32.and');
    inDwords(f, t, offset);
    fn.op('i32.and');
  };
  return { offset, base, a, inRange };
}

function bindScratch(f: Frame, t: Transfer, register: number | undefined, scalar: number): BoundMode {
  const { code } = f;
  const { fn } = code;
  if (register !== undefined) locate(f, register);
  const offsets = code.local('v128');
  const swizzled = bindSwizzled(f, t);
  const { offset, inRange } = swizzled;
  return {
    full: (done) => {
      if (t.bytes < 4) return;
      if (register === undefined) fn.get(scalar).set(offset).i32(1);
      else {
        fn.get(register).i32(0).call(progressionFunction(f.module, false));
        fn.get(register).memory('i32.load').get(scalar).op('i32.add').set(offset);
      }
      inRange();
      fn.op('i32.and');
      code.if(() => swizzledWave(f, t, swizzled, done));
    },
    quad: (next) => {
      if (register === undefined) fn.get(scalar).set(offset).i32(1);
      else {
        fn.get(register).get(f.at).op('i32.add').memory('v128.load').tee(offsets);
        fn.get(offsets).lane('i32x4.extract_lane', 0).tee(offset).op('i32x4.splat').op('i32x4.eq').op('i32x4.all_true');
        fn.get(offset).get(scalar).op('i32.add').set(offset);
      }
      inRange();
      fn.op('i32.and');
      code.if(() => swizzledQuad(f, t, swizzled, next));
    },
    lane: () => {
      code.block((moved) => {
        if (register === undefined) fn.get(scalar).set(offset);
        else {
          word(f, register);
          fn.get(scalar).op('i32.add').set(offset);
        }
        inRange();
        code.if(() => swizzledLane(f, t, swizzled, moved));
        f.resume();
      });
    },
  };
}
