// Scratch addressing: each lane has its own bytes, interleaved by dwords so that one offset of all lanes is a row of 256 bytes. Also
// used for scratch behind flat addresses and for the private segments of gfx90a, which are swizzled buffers.
// Source: LLVM AMDGPUUsage, "Flat Scratch"; AMD CDNA3 ISA, "Scratch Space (Private)".
import { gpuWindow, LIMITS, VGPR_BYTES, WAVE_SCRATCH_BYTES, WRITABLE } from '../../state/layout.ts';
import type { WasmFunction, WasmModule } from '../emit.ts';
import type { Label } from './code.ts';
import { FLAT_SCRATCH_AT } from './frame.ts';
import { type BoundMode, locate, type Mode, word } from './mode.ts';
import { extentFunction, rangeFunction } from './scatter.ts';
import type { Frame, Transfer } from './transfer.ts';
import { moveLane, overQuads, progressionFunction, spanFunction } from './window.ts';

const PAGE = 4096;

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

/** Whether all lanes can be moved at once. */
export const hasSwizzledWave = (t: Transfer): boolean =>
  t.bytes < 4 ? t.narrow !== undefined : t.pieces === 1 || t.row !== undefined;

/** All 64 lanes with one offset: every word is a row of 256 bytes. Moves them and goes to `done`, or falls through. */
export function swizzledWave(f: Frame, t: Transfer, s: Swizzled, done: Label): void {
  const { code } = f;
  const { row, narrow } = t;
  if (!hasSwizzledWave(t)) return;
  const from = code.local('i32');
  if (t.bytes < 4) {
    code.fn.get(s.offset).i32(3).op('i32.and').set(from);
    code.fn.get(s.offset).get(from).op('i32.sub').set(s.offset);
  }
  placeSwizzled(f, t, s, VGPR_BYTES * t.pieces);
  code.if(() => {
    overQuads(f, s.a, 16, () => {
      if (t.bytes < 4) narrow?.(f, s.a, from);
      else if (row === undefined) t.contiguous(f, s.a);
      else for (let n = 0; n < t.pieces; n++) row(f, n, s.a, n * VGPR_BYTES);
    });
    code.br(done);
  });
}

/** Whether lanes with offsets of their own can be moved four at a time. */
const movesApart = (t: Transfer): boolean => t.pieces === 1 || t.words !== undefined;

/** Sets four locals to the window offsets of the elements of four lanes, whose offsets are in a vector (a local). */
function placeApart(f: Frame, { base }: Swizzled, offsets: number, addresses: readonly number[]): void {
  const { code } = f;
  const { fn } = code;
  const all = code.local('v128');
  fn.get(offsets).i32(2).op('i32x4.shr_u').i32(8).op('i32x4.shl').get(offsets).v128(3, 3, 3, 3).op('v128.and');
  fn.op('v128.or').get(base).get(f.at).op('i32.add').op('i32x4.splat').op('i32x4.add');
  fn.v128(0, 4, 8, 12).op('i32x4.add').set(all);
  for (const [lane, a] of addresses.entries()) fn.get(all).lane('i32x4.extract_lane', lane).set(a);
}

/** Moves the elements of four lanes whose first dwords are at the addresses in four locals. */
function moveApart(f: Frame, t: Transfer, addresses: readonly number[]): void {
  if (t.pieces === 1) {
    t.scattered(f, addresses);
    return;
  }
  const { code } = f;
  const { fn } = code;
  const words = code.local('v128');
  for (let n = 0; n < t.pieces; n++) {
    const row = n * VGPR_BYTES;
    if (t.write) fn.get(f.laneWord).memory('v128.load', row).set(words);
    for (const [lane, a] of addresses.entries()) {
      fn.get(a);
      if (t.write) fn.get(words).memoryLane('v128.store32_lane', lane, row);
      else if (lane === 0) fn.memory('v128.load32_zero', row).set(words);
      else fn.get(words).memoryLane('v128.load32_lane', lane, row).set(words);
    }
    if (!t.write) fn.get(f.laneWord).get(words).memory('v128.store', row);
  }
}

/**
 * Four lanes whose offsets are in a vector (a local): moves them and goes to `next` where all are in range, with pieces in one dword each, and on pages that are live as a whole, or
 * falls through.
 */
function apartQuad(f: Frame, t: Transfer, s: Swizzled, limit: number, offsets: number, next: Label): void {
  const { code } = f;
  const { fn } = code;
  const last = 4 - t.piece;
  const addresses = [0, 1, 2, 3].map(() => code.local('i32'));
  fn.get(offsets).get(limit).op('i32x4.splat').op('i32x4.le_u');
  fn.get(offsets).v128(3, 3, 3, 3).op('v128.and');
  fn.v128(last, last, last, last).op('i32x4.le_u').op('v128.and').op('i32x4.all_true');
  fn.get(limit).i32(0).op('i32.ge_s').op('i32.and');
  code.if(() => {
    placeApart(f, s, offsets, addresses);
    for (const [lane, a] of addresses.entries()) {
      // The first row and the last one: those between are of the page of one of them.
      for (const row of t.pieces === 1 ? [0] : [0, rowBytes(t)]) {
        fn.get(a).i32(row).op('i32.add').i32(12).op('i32.shr_u').i32(1).op('i32.shl');
        fn.memory('i32.load16_u', t.write ? WRITABLE : LIMITS);
        if (row > 0) fn.op('i32.and');
      }
      if (lane > 0) fn.op('i32.and');
    }
    fn.i32(PAGE).op('i32.eq');
    code.if(() => {
      moveApart(f, t, addresses);
      code.br(next);
    });
  });
}

/** (register address, addend) → the bits that any of the 64 values plus the addend has. */
function anyBitsFunction(module: WasmModule): WasmFunction {
  return module.helper('memory.bits', ['i32', 'i32'], ['i32'], (fn) => {
    const [register, addend] = [0, 1] as const;
    const bits = fn.local('v128');
    for (let at = 0; at < VGPR_BYTES; at += 16) {
      fn.get(register).memory('v128.load', at).get(addend).op('i32x4.splat').op('i32x4.add');
      if (at > 0) fn.get(bits).op('v128.or');
      fn.set(bits);
    }
    fn.get(bits).get(bits).get(bits).shuffle32(2, 3, 0, 1).op('v128.or').tee(bits);
    fn.get(bits).get(bits).shuffle32(1, 0, 3, 2).op('v128.or').lane('i32x4.extract_lane', 0);
  });
}

/** All 64 lanes, whose offsets are the words of a register and a sum in a local: moves them and goes to `done`, or falls through. */
function apartWave(
  f: Frame,
  t: Transfer,
  s: Swizzled,
  limit: number,
  [register, scalar]: readonly [number, number],
  done: Label,
): void {
  const { code, module } = f;
  const { fn } = code;
  const [least, most, offsets] = [code.local('i32'), code.local('i32'), code.local('v128')];
  const addresses = [0, 1, 2, 3].map(() => code.local('i32'));
  const pushRow = (offset: number): void => {
    fn.get(offset).i32(2).op('i32.shr_u').i32(8).op('i32.shl').get(s.base).op('i32.add');
  };
  fn.get(register).get(scalar).call(extentFunction(module)).set(most).set(least);
  fn.get(most).get(limit).op('i32.le_u').get(limit).i32(0).op('i32.ge_s').op('i32.and');
  code.if(() => {
    pushRow(least);
    pushRow(most);
    fn.i32(rowBytes(t) + VGPR_BYTES - 1)
      .op('i32.add')
      .call(rangeFunction(module, t.write));
    if (t.piece > 1) {
      fn.get(register).get(scalar).call(anyBitsFunction(module));
      fn.i32(t.piece - 1)
        .op('i32.and')
        .op('i32.eqz')
        .op('i32.and');
    }
    code.if(() => {
      overQuads(f, s.a, 0, () => {
        fn.get(register).get(f.at).op('i32.add').memory('v128.load').get(scalar).op('i32x4.splat').op('i32x4.add');
        fn.set(offsets);
        placeApart(f, s, offsets, addresses);
        moveApart(f, t, addresses);
      });
      code.br(done);
    });
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
export function bindSwizzled(f: Frame, t: Transfer): Swizzled & { readonly limit: number; inRange(): void } {
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
    .i32(gpuWindow.high)
    .op('i32.ne');
  // Nor is it where its end is before its beginning.
  fn.get(base).get(limit).i32(6).op('i32.shl').op('i32.add').get(base).op('i32.lt_u').op('i32.or');
  code.if(() => fn.i32(-1).set(limit));
  const inRange = (): void => {
    fn.get(offset).get(limit).op('i32.le_u').get(limit).i32(0).op('i32.ge_s').op('i32.and');
    inDwords(f, t, offset);
    fn.op('i32.and');
  };
  return { offset, base, a, limit, inRange };
}

function bindScratch(f: Frame, t: Transfer, register: number | undefined, scalar: number): BoundMode {
  const { code } = f;
  const { fn } = code;
  if (register !== undefined) locate(f, register);
  const offsets = code.local('v128');
  const swizzled = bindSwizzled(f, t);
  const { offset, limit, inRange } = swizzled;
  return {
    full: (done) => {
      if (!hasSwizzledWave(t)) return;
      if (register === undefined) fn.get(scalar).set(offset).i32(1);
      else {
        fn.get(register).i32(0).call(progressionFunction(f.module, false));
        fn.get(register).memory('i32.load').get(scalar).op('i32.add').set(offset);
      }
      inRange();
      fn.op('i32.and');
      code.if(() => swizzledWave(f, t, swizzled, done));
      if (register !== undefined && movesApart(t)) apartWave(f, t, swizzled, limit, [register, scalar], done);
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
      if (register === undefined || !movesApart(t)) return;
      fn.get(offsets).get(scalar).op('i32x4.splat').op('i32x4.add').set(offsets);
      apartQuad(f, t, swizzled, limit, offsets, next);
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
