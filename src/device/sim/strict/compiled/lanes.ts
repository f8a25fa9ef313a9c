// Compiled code looks for lanes of one store that have the same address: a table of the addresses that the store has had so far. A wavefront
// has its own; an entry is the number of the store and the address. Addresses that share a slot can hide each other, nothing is invented:
// whether the values differ is looked at by TypeScript (lane-conflicts.ts).
import type { StoreOperation } from '../../../../isa/semantics/index.ts';
import { pairOffsets } from '../../interpreter/memory-access.ts';
import { LANES, WAVE_SHADOW } from '../../state/layout.ts';
import { EXEC } from '../../state/wave.ts';
import type { FunctionContext } from '../../wasm/context.ts';
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { splat4 } from '../../wasm/lanes.ts';
import { Code } from '../../wasm/memory/code.ts';
import { type Frame, type Look, namedVector } from '../../wasm/memory/index.ts';
import type { StrictPlan } from '../plan.ts';
import { isIndexed } from '../races/lane-conflicts.ts';
import { LANE_SLOTS, SHADOW_ADDRESSES, SHADOW_LANES, SHADOW_STAMP } from '../registers/shadow-layout.ts';
import { rowsApartFunction } from './rows-apart.ts';

const DWORD = 4;
/** Nobody has asked yet whether the addresses ascend. */
const UNKNOWN = -1;

/** (shadow, address) → 1 when a lane of the store has had the address before. */
function laneFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.lane', ['i32', 'i32'], ['i32'], (fn) => {
    const [shadow, address] = [0, 1] as const;
    const [slot, key] = [fn.local('i32'), fn.local('i64')];
    fn.get(address)
      .i32(0x9e3779b1)
      .op('i32.mul')
      .i32(32 - Math.log2(LANE_SLOTS))
      .op('i32.shr_u');
    fn.i32(3).op('i32.shl').get(shadow).op('i32.add').set(slot);
    fn.get(shadow).memory('i64.load32_u', SHADOW_STAMP).i64(32n).op('i64.shl');
    fn.get(address).op('i64.extend_i32_u').op('i64.or').set(key);
    fn.get(slot).memory('i64.load', SHADOW_LANES).get(key).op('i64.eq');
    fn.get(slot).get(key).memory('i64.store', SHADOW_LANES);
  });
}

/** (address of a register) → 1 when its words ascend from lane to lane; some `mayStay` the same. */
export function ascendingFunction(module: WasmModule, mayStay = false): WasmFunction {
  return module.helper(`strict.ascending${mayStay ? '.stay' : ''}`, ['i32'], ['i32'], (fn) => {
    for (let lane = 0; lane < LANES; lane += 4) {
      const at = Math.min(lane, LANES - 5);
      fn.get(0).memory('v128.load', 4 * at);
      fn.get(0).memory('v128.load', 4 * at + 4);
      fn.op(mayStay ? 'i32x4.le_u' : 'i32x4.lt_u');
      if (lane > 0) fn.op('v128.and');
    }
    fn.op('i32x4.all_true');
  });
}

/** (address of a register, EXEC) → 1 when its words ascend from active lane to active lane, above 0 with 1 added to them; or no two lanes are active. */
export function activeAscendingFunction(module: WasmModule): WasmFunction {
  const all = ascendingFunction(module);
  return module.helper('strict.ascending.active', ['i32', 'i64'], ['i32'], (fn) => {
    const [register, exec] = [0, 1] as const;
    const vector = (): number => fn.local('v128');
    const [bits, active, words] = [vector(), vector(), vector()] as const;
    // `most`: the largest word of the lanes before, in the last lane.
    const [most, before, fails] = [vector(), vector(), vector()] as const;
    fn.get(exec).i64(-1n).op('i64.eq').if().get(register).call(all).return().end();
    pushAreSeveral(fn, exec).op('i32.eqz').if().i32(1).return().end();
    fn.v128(0, 0, 0, 0).tee(most).set(fails);
    for (let lane = 0; lane < LANES; lane += 4) {
      if (lane % 32 === 0) {
        fn.get(exec).i64(BigInt(lane)).op('i64.shr_u').op('i32.wrap_i64').op('i32x4.splat').set(bits);
      }
      const own = [0, 1, 2, 3].map((n) => 1 << ((lane % 32) + n)) as [number, number, number, number];
      fn.get(bits)
        .v128(...own)
        .op('v128.and')
        .v128(...own)
        .op('i32x4.eq')
        .set(active);
      fn.get(register)
        .memory('v128.load', 4 * lane)
        .v128(...splat4(-1))
        .op('i32x4.sub')
        .get(active)
        .op('v128.and')
        .set(words);
      // The largest of the lanes before each: of one, then of two more.
      fn.get(most).get(words).shuffle32(3, 4, 5, 6).set(before);
      fn.get(before).get(most).get(before).shuffle32(3, 4, 5, 6).op('i32x4.max_u').set(before);
      fn.get(before).get(most).get(before).shuffle32(3, 3, 4, 5).op('i32x4.max_u').set(before);
      fn.get(words).get(before).op('i32x4.le_u').get(active).op('v128.and').get(fails).op('v128.or').set(fails);
      fn.get(before).get(words).op('i32x4.max_u').set(most);
    }
    fn.get(fails).op('v128.any_true').op('i32.eqz');
  });
}

/** (address of a register, EXEC) → 1 when no two active lanes have the same word there: they ascend, as activeAscendingFunction says, or are rows of all lanes that are apart. */
function activeApartFunction(module: WasmModule): WasmFunction {
  const [ascending, rows] = [activeAscendingFunction(module), rowsApartFunction(module)];
  return module.helper('strict.apart.active', ['i32', 'i64'], ['i32'], (fn) => {
    const [register, exec] = [0, 1] as const;
    fn.get(register).get(exec).call(ascending).if().i32(1).return().end();
    fn.get(exec).i64(-1n).op('i64.eq').if('i32').get(register).call(rows).else().i32(0).end();
  });
}

/** Leaves 1 when two lanes or more are in a mask. */
function pushAreSeveral(fn: WasmFunction, mask: number): WasmFunction {
  return fn.get(mask).get(mask).i64(1n).op('i64.sub').op('i64.and').op('i64.eqz').op('i32.eqz');
}

/**
 * (wave, where a register begins in the wave block) → 1 when two active lanes have elements of so many bytes there that overlap without having the same address. First it is
 * asked what mostly is so, of all lanes: that all addresses leave the same behind multiples of the bytes, or that they ascend by no less than these.
 */
export function overlapFunction(module: WasmModule, bytes: number): WasmFunction {
  const isPower = (bytes & (bytes - 1)) === 0;
  return module.helper(`strict.overlap.${bytes}`, ['i32', 'i32'], ['i32'], (fn) => {
    const [wave, register, at, distance] = [0, 1, fn.local('i32'), fn.local('i32')] as const;
    const [exec, found, words, step] = [fn.local('i64'), fn.local('i64'), fn.local('v128'), fn.local('v128')];
    const code = new Code(fn);
    const leave = (result: 0 | 1): void => code.if(() => fn.i32(result).return());
    fn.get(wave)
      .memory('i64.load', 4 * EXEC)
      .set(exec);
    pushAreSeveral(fn, exec).op('i32.eqz');
    leave(0);
    fn.get(wave).get(register).op('i32.add').set(at);
    if (isPower) {
      fn.get(at).memory('v128.load32_splat').set(words);
      for (let lane = 0; lane < LANES; lane += 4) {
        fn.get(at)
          .memory('v128.load', 4 * lane)
          .get(words)
          .op('v128.xor');
        if (lane > 0) fn.op('v128.or');
      }
      fn.v128(...splat4(bytes - 1))
        .op('v128.and')
        .op('v128.any_true')
        .op('i32.eqz');
      leave(0);
    }
    if (isPower) {
      // The same of active lanes: others mostly have older values.
      fn.get(at).get(exec).op('i64.ctz').op('i32.wrap_i64').i32(2).op('i32.shl').op('i32.add');
      fn.memory('v128.load32_splat').set(words);
      for (let half = 0; half < LANES; half += 32) {
        fn.get(exec).i64(BigInt(half)).op('i64.shr_u').op('i32.wrap_i64').op('i32x4.splat').set(step);
        for (let lane = 0; lane < 32; lane += 4) {
          fn.get(step)
            .v128(...([0, 1, 2, 3].map((n) => 1 << (lane + n)) as [number, number, number, number]))
            .op('v128.and')
            .v128(0, 0, 0, 0)
            .op('i32x4.ne');
          fn.get(at)
            .memory('v128.load', 4 * (half + lane))
            .get(words)
            .op('v128.xor')
            .op('v128.and');
          if (half + lane > 0) fn.op('v128.or');
        }
      }
      fn.v128(...splat4(bytes - 1))
        .op('v128.and')
        .op('v128.any_true')
        .op('i32.eqz');
      leave(0);
    }
    for (let lane = 0; lane < LANES; lane += 4) {
      const first = Math.min(lane, LANES - 5);
      fn.get(at)
        .memory('v128.load', 4 * first + 4)
        .tee(step);
      fn.get(at)
        .memory('v128.load', 4 * first)
        .tee(words)
        .op('i32x4.gt_u');
      fn.get(step)
        .get(words)
        .op('i32x4.sub')
        .v128(...splat4(bytes))
        .op('i32x4.ge_u')
        .op('v128.and');
      if (lane > 0) fn.op('v128.and');
    }
    fn.op('i32x4.all_true');
    leave(0);
    fn.i32(1).set(distance);
    code.loop((again) => {
      fn.i64(0n).set(found);
      for (let lane = 0; lane < LANES; lane += 4) {
        fn.get(at).get(distance).i32(2).op('i32.shl').op('i32.add');
        fn.memory('v128.load', 4 * lane)
          .get(at)
          .memory('v128.load', 4 * lane)
          .op('i32x4.sub')
          .tee(step);
        fn.v128(...splat4(bytes - 1)).op('i32x4.add');
        fn.v128(...splat4(2 * bytes - 1))
          .op('i32x4.lt_u')
          .get(step)
          .v128(0, 0, 0, 0)
          .op('i32x4.ne')
          .op('v128.and');
        fn.op('i32x4.bitmask')
          .op('i64.extend_i32_u')
          .i64(BigInt(lane))
          .op('i64.shl')
          .get(found)
          .op('i64.or')
          .set(found);
      }
      // Behind the last lane there are none.
      fn.get(exec).get(exec).get(distance).op('i64.extend_i32_u').op('i64.shr_u').op('i64.and');
      fn.get(found).op('i64.and').op('i64.eqz').op('i32.eqz');
      leave(1);
      fn.get(distance).i32(1).op('i32.add').tee(distance).i32(LANES).op('i32.lt_u');
      code.brIf(again);
    });
    fn.i32(0);
  });
}

/** Leaves 1 when lanes of a store of wide elements may overlap, which TypeScript is to look at; undefined where that is not asked. */
export function pushMayOverlapEachOther(
  { fn, module, wave }: FunctionContext,
  { instruction }: StrictPlan,
  { bytes, pairStride }: StoreOperation,
): WasmFunction | undefined {
  const register = isIndexed(instruction) ? undefined : namedVector(instruction, 'vaddr', 'addr');
  const [first, second] = pairStride === undefined ? [0, 0] : pairOffsets(instruction, pairStride);
  const length = second === first + bytes ? 2 * bytes : bytes;
  if (register === undefined || length <= DWORD) return undefined;
  return fn.get(wave).i32(register).call(overlapFunction(module, length));
}

/** Notes for `apart` which register has the addresses of a store, 0 for none that has all of them. */
export function emitAddressRegister({ fn, wave }: FunctionContext, shadow: number, { instruction }: StrictPlan): void {
  // The word of an index can have the same bytes as that of another one.
  const register = isIndexed(instruction) ? undefined : namedVector(instruction, 'vaddr', 'addr');
  fn.get(shadow);
  if (register === undefined) fn.i32(0);
  else fn.get(wave).i32(register).op('i32.add');
  fn.memory('i32.store', SHADOW_ADDRESSES);
}

/** The place in the wave block of the register with the data of a part of a store to LDS, 0 where that is not known. */
export function dataPlace({ instruction, operation }: StrictPlan, part: number): number {
  if (operation?.kind !== 'store') return 0;
  const register = part === 0 ? namedVector(instruction, 'data0', 'data', 'vdata') : namedVector(instruction, 'data1');
  return register ?? 0;
}

/**
 * A transfer that looks at a store, and asks TypeScript when two of its lanes have one address. Addresses that follow each other from the
 * first lane to the last are none of its business; of others it asks first whether those of active lanes ascend, or are rows of a tile: then no two are the same. `lanes`, where there
 * is one, looks at lanes in place of the transfer, and calls `ask` where it does not see itself whether they are apart. `pushAgree`, where there is one, leaves 1 where lanes that have one
 * address may.
 */
export function apart(
  look: Look,
  {
    lanes,
    pushAgree,
  }: {
    readonly lanes?: (f: Frame, addresses: number, bits: number | undefined, ask: () => void) => void;
    readonly pushAgree?: (f: Frame) => WasmFunction;
  } = {},
): Look {
  let [shadow, ascends] = [0, 0];
  /** `push` leaves the addresses of so many lanes, one at a time. `bits`: the lanes that have them, where not all have. */
  const leave = (f: Frame, lanes: number, push: (lane: number) => void, bits?: number): void => {
    const { fn } = f.code;
    fn.get(ascends).i32(UNKNOWN).op('i32.eq');
    f.code.if(() => {
      fn.get(shadow).memory('i32.load', SHADOW_ADDRESSES).tee(ascends).if('i32');
      fn.get(ascends)
        .get(f.wave)
        .memory('i64.load', 4 * EXEC)
        .call(activeApartFunction(f.module));
      fn.else().i32(0).end().set(ascends);
      if (pushAgree === undefined) return;
      fn.get(ascends).op('i32.eqz');
      f.code.if(() => pushAgree(f).set(ascends));
    });
    fn.get(ascends).op('i32.eqz');
    f.code.if(() => {
      for (let lane = 0; lane < lanes; lane++) {
        if (bits !== undefined)
          fn.get(bits)
            .i32(1 << lane)
            .op('i32.and')
            .if('i32');
        fn.get(shadow);
        push(lane);
        fn.call(laneFunction(f.module));
        if (bits !== undefined) fn.else().i32(0).end();
        if (lane > 0) fn.op('i32.or');
      }
      f.code.if(() => f.resume());
    });
  };
  return {
    ...look,
    lanes: (f, addresses, bits) => {
      const ask = (): void => leave(f, 4, (lane) => f.code.fn.get(addresses).lane('i32x4.extract_lane', lane), bits);
      if (lanes !== undefined) {
        lanes(f, addresses, bits, ask);
        return;
      }
      ask();
      look.lanes(f, addresses, bits);
    },
    prologue: (f) => {
      look.prologue?.(f);
      [shadow, ascends] = [f.code.local('i32'), f.code.local('i32')];
      const { fn } = f.code;
      fn.get(f.wave).memory('i32.load', WAVE_SHADOW).tee(shadow);
      fn.get(shadow).memory('i32.load', SHADOW_STAMP).i32(1).op('i32.add').memory('i32.store', SHADOW_STAMP);
      fn.i32(UNKNOWN).set(ascends);
    },
    contiguous: (f, a) => {
      leave(f, 1, () => f.code.fn.get(a));
      look.contiguous(f, a);
    },
    scattered: (f, addresses) => {
      leave(f, addresses.length, (lane) => f.code.fn.get(addresses[lane] as number));
      look.scattered(f, addresses);
    },
    move: (f, n, a, offset) => {
      if (n === 0) leave(f, 1, () => f.code.fn.get(a));
      look.move(f, n, a, offset);
    },
  };
}
