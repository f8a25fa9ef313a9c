// Checks of device memory addresses against the limits table, and of address registers for lanes that follow each other.
// The table holds, for each 4 KiB page of the window, the number of live bytes from the page's start.

import { gpuWindow, LIMITS, VGPR_BYTES, WRITABLE } from '../../state/layout.ts';
import type { WasmFunction, WasmModule } from '../emit.ts';
import { choosing } from '../features.ts';
import type { Code, Label, QuadLocals } from './code.ts';
import { locateFunction } from './mapped.ts';
import type { Frame, Transfer } from './transfer.ts';

/** Leaves 1 when `bytes` bytes at the window offset in a local lie inside the live part of their page. */
export function checkPage(fn: WasmFunction, low: number, bytes: number, write: boolean): void {
  fn.get(low).i32(4095).op('i32.and').i32(bytes).op('i32.add');
  fn.get(low).i32(12).op('i32.shr_u').i32(1).op('i32.shl');
  fn.memory('i32.load16_u', write ? WRITABLE : LIMITS).op('i32.le_u');
}

/** (offset, bytes) -> 1 when up to a page of bytes is live; it may cross into the next page of the same allocation. */
export function spanFunction(module: WasmModule, write: boolean): WasmFunction {
  const table = write ? WRITABLE : LIMITS;
  return module.helper(`memory.span.${write ? 'store' : 'load'}`, ['i32', 'i32'], ['i32'], (fn) => {
    const start = 0;
    const bytes = 1;
    const page = fn.local('i32');
    const inPage = fn.local('i32');
    fn.get(start).i32(12).op('i32.shr_u').i32(1).op('i32.shl').set(page);
    fn.get(start).i32(4095).op('i32.and');
    fn.get(bytes).op('i32.add').tee(inPage);
    fn.get(page).memory('i32.load16_u', table).op('i32.le_u');
    fn.if('i32').i32(1).else();
    // The first page is live to its end, and the rest lies in the next one. The last page of the window is never live.
    fn.get(page).memory('i32.load16_u', table).i32(4096).op('i32.eq');
    fn.if('i32');
    fn.get(inPage)
      .i32(4096)
      .op('i32.sub')
      .get(page)
      .memory('i32.load16_u', table + 2)
      .op('i32.le_u');
    fn.else().i32(0).end().end();
  });
}

/** (register address, stride) -> 1 when lane l holds lane 0's value + l × stride (modulo 2^32), in the wide form with lane 0's high word. */
export function progressionFunction(module: WasmModule, wide: boolean): WasmFunction {
  const name = `memory.progression.${wide ? 'wide' : 'narrow'}`;
  return module.helper(name, ['i32', 'i32'], ['i32'], (fn) => {
    const register = 0;
    const stride = 1;
    const expected = fn.local('v128');
    const step = fn.local('v128');
    const wrong = fn.local('v128');
    const high = wide ? fn.local('v128') : -1;
    if (wide) fn.get(register).memory('v128.load32_splat', VGPR_BYTES).set(high);
    fn.get(register).memory('v128.load32_splat');
    fn.v128(0, 1, 2, 3).get(stride).op('i32x4.splat').op('i32x4.mul').op('i32x4.add').set(expected);
    fn.get(stride).i32(2).op('i32.shl').op('i32x4.splat').set(step);
    for (let quad = 0; quad < 16; quad++) {
      fn.get(register)
        .memory('v128.load', 16 * quad)
        .get(expected)
        .op('v128.xor');
      fn.get(wrong).op('v128.or');
      if (wide) {
        fn.get(register).memory('v128.load', VGPR_BYTES + 16 * quad);
        fn.get(high).op('v128.xor').op('v128.or');
      }
      fn.set(wrong);
      if (quad < 15) fn.get(expected).get(step).op('i32x4.add').set(expected);
    }
    fn.get(wrong).op('v128.any_true').op('i32.eqz');
  });
}

/** What the helpers of a kind of access are called. */
const accessName = (write: boolean, isAtomic: Transfer['isAtomic']): string =>
  isAtomic === undefined ? (write ? 'store' : 'load') : 'atomic';

/** (wave, address, bytes) -> offset in wasm memory of that many live bytes of one allocation, at most a page, or 0. */
function liveFunction(module: WasmModule, { write, isAtomic }: Transfer): WasmFunction {
  const span = spanFunction(module, write);
  const locate = locateFunction(module, write, isAtomic !== undefined);
  return module.helper(`memory.live.${accessName(write, isAtomic)}`, ['i32', 'i64', 'i32'], ['i32'], (fn) => {
    const [wave, address, bytes] = [0, 1, 2] as const;
    const low = fn.local('i32');
    fn.get(address).i64(32n).op('i64.shr_u').i64(BigInt(gpuWindow.high)).op('i64.eq');
    fn.if();
    fn.get(address).op('i32.wrap_i64').tee(low).get(bytes).call(span);
    fn.if().get(low).return().end();
    fn.i32(0).return().end();
    fn.get(wave).get(address).get(bytes).call(locate);
  });
}

/**
 * (wave, register, constant, stride, bytes) -> offset in wasm memory of `bytes` live bytes from lane 0's address on, when the lanes' 64-bit
 * addresses are `stride` apart; else 0. The constant is added to them.
 */
export function wideWaveFunction(module: WasmModule, t: Transfer): WasmFunction {
  const progression = progressionFunction(module, true);
  const live = liveFunction(module, t);
  return module.helper(
    `memory.wave.wide.${accessName(t.write, t.isAtomic)}`,
    ['i32', 'i32', 'i64', 'i32', 'i32'],
    ['i32'],
    (fn) => {
      const [wave, register, constant, stride, bytes] = [0, 1, 2, 3, 4] as const;
      const low = fn.local('i32');
      fn.get(register).get(stride).call(progression);
      // The lanes' low words do not wrap.
      fn.get(register)
        .memory('i32.load')
        .tee(low)
        .get(stride)
        .i32(63)
        .op('i32.mul')
        .op('i32.add')
        .get(low)
        .op('i32.ge_u');
      fn.op('i32.and').if();
      fn.get(wave);
      fn.get(register).memory('i64.load32_u', VGPR_BYTES).i64(32n).op('i64.shl');
      fn.get(register).memory('i64.load32_u').op('i64.or').get(constant).op('i64.add');
      fn.get(bytes).call(live).return().end();
      fn.i32(0);
    },
  );
}

/**
 * (wave, register, base, limit, stride, bytes) -> the same for lanes at a base plus 32-bit offsets, when the last offset is at most `limit`.
 */
export function offsetWaveFunction(module: WasmModule, t: Transfer): WasmFunction {
  const progression = progressionFunction(module, false);
  const live = liveFunction(module, t);
  const types = ['i32', 'i32', 'i64', 'i64', 'i32', 'i32'] as const;
  return module.helper(`memory.wave.offset.${accessName(t.write, t.isAtomic)}`, types, ['i32'], (fn) => {
    const [wave, register, base, limit, stride, bytes] = [0, 1, 2, 3, 4, 5] as const;
    const first = fn.local('i64');
    fn.get(register).get(stride).call(progression);
    fn.get(register).memory('i64.load32_u').tee(first);
    fn.get(stride).i32(63).op('i32.mul').op('i64.extend_i32_u').op('i64.add').get(limit).op('i64.le_u');
    fn.op('i32.and').if();
    fn.get(wave).get(base).get(first).op('i64.add').get(bytes).call(live).return().end();
    fn.i32(0);
  });
}

/** Lane numbers times `step`. */
export function ramp(fn: WasmFunction, step: number): void {
  fn.v128(0, step, 2 * step, 3 * step);
}

/** Runs a transfer's four-lane body over all 64 lanes from the address in local `a`, moving `a` on by `step` each time. */
export function overQuads(f: Frame, a: number, step: number, body: () => void): void {
  const { code } = f;
  const { fn } = code;
  fn.i32(0).set(f.at);
  code.loop((again) => {
    fn.get(f.data).get(f.at).op('i32.add').set(f.laneWord);
    body();
    if (step !== 0) fn.get(a).i32(step).op('i32.add').set(a);
    fn.get(f.at).i32(16).op('i32.add').tee(f.at).i32(VGPR_BYTES).op('i32.lt_u');
    code.brIf(again);
  });
}

export function quadLocals(code: Code): QuadLocals {
  const address = (): number => code.local('i32');
  return { low: code.local('v128'), addresses: [address(), address(), address(), address()] };
}

/** Leaves 1 when the four addresses of `low` follow each other at the element size. */
export function adjacent(fn: WasmFunction, low: number, first: number, bytes: number): void {
  fn.get(low).get(first).op('i32x4.splat');
  ramp(fn, bytes);
  fn.op('i32x4.add').op('i32x4.eq').op('i32x4.all_true');
}

/** Runs `move` when the lanes whose elements begin at the addresses in these locals can be moved at once. */
export function ifAdmitted(f: Frame, t: Transfer, addresses: readonly number[], move: () => void): void {
  if (t.isAtomic === undefined) {
    move();
    return;
  }
  t.isAtomic.admits(f, addresses);
  f.code.if(move);
}

/** Leaves 1 when the four offsets in a vector are in one page. */
function samePage(fn: WasmFunction, low: number): void {
  fn.get(low)
    .get(low)
    .get(low)
    .shuffle32(0, 0, 0, 0)
    .op('v128.xor')
    .i32(12)
    .op('i32x4.shr_u')
    .op('v128.any_true')
    .op('i32.eqz');
}

/** Four lanes at the window offsets in `low`: moves them and goes to `next`, or falls through when one is not live. */
export function windowQuad(f: Frame, t: Transfer, q: QuadLocals, next: Label): void {
  const { code } = f;
  const { fn } = code;
  const [first] = q.addresses;
  fn.get(q.low).lane('i32x4.extract_lane', 0).set(first);
  adjacent(fn, q.low, first, t.bytes);
  code.if(() => {
    checkPage(fn, first, 4 * t.bytes, t.write);
    code.if(() => {
      ifAdmitted(f, t, [first], () => {
        t.contiguous(f, first);
        code.br(next);
      });
    });
  });
  for (let i = 1; i < 4; i++)
    fn.get(q.low)
      .lane('i32x4.extract_lane', i)
      .set(q.addresses[i] as number);
  samePage(fn, q.low);
  fn.if('i32');
  // One look at the table: the largest offset in the page.
  fn.get(q.low).v128(4095, 4095, 4095, 4095).op('v128.and');
  fn.get(first)
    .i32(12)
    .op('i32.shr_u')
    .i32(1)
    .op('i32.shl')
    .memory('i32.load16_u', t.write ? WRITABLE : LIMITS);
  fn.i32(t.bytes).op('i32.sub').op('i32x4.splat').op('i32x4.le_s').op('i32x4.all_true');
  fn.else();
  q.addresses.forEach((a, i) => {
    checkPage(fn, a, t.bytes, t.write);
    if (i > 0) fn.op('i32.and');
  });
  fn.end();
  code.if(() => {
    ifAdmitted(f, t, q.addresses, () => {
      if (t.lanes !== undefined) t.lanes(f, q.low);
      else t.scattered(f, q.addresses);
      code.br(next);
    });
  });
}

/** Leaves a vector of four lanes of a register, the ones whose bits are not set with the word of the first that is. */
export function pushSome(f: Frame, register: number, bits: number, offset = 0): void {
  const { fn } = f.code;
  const row = f.code.local('i32');
  fn.get(register).get(f.at).op('i32.add').tee(row).memory('v128.load', offset);
  fn.get(row).get(bits).op('i32.ctz').i32(2).op('i32.shl').op('i32.add').memory('v128.load32_splat', offset);
  fn.get(bits).op('i32x4.splat').v128(1, 2, 4, 8).op('v128.and').v128(1, 2, 4, 8).op('i32x4.eq');
  fn.op(choosing());
}

/** Some of four lanes, all at window offsets in `low`, those without a bit at one of the others': as windowQuad. */
export function windowSome(f: Frame, t: Transfer, q: QuadLocals, bits: number, next: Label): void {
  const { code } = f;
  const { fn } = code;
  for (const [lane, a] of q.addresses.entries()) fn.get(q.low).lane('i32x4.extract_lane', lane).set(a);
  q.addresses.forEach((a, i) => {
    checkPage(fn, a, t.bytes, t.write);
    if (i > 0) fn.op('i32.and');
  });
  code.if(() => {
    t.lanes?.(f, q.low, bits);
    code.br(next);
  });
}

/** All pieces of a lane whose words are `step` bytes apart. */
export function moveLane(f: Frame, t: Transfer, a: number, step: number): void {
  for (let n = 0; n < t.pieces; n++) t.move(f, n, a, step * n);
  t.commit(f);
}
