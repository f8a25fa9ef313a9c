// Whether lanes of a store that have the same address have the same data.
import { LANES, VGPR_BYTES } from '../../state/layout.ts';
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { splat4 } from '../../wasm/lanes.ts';
import { Code } from '../../wasm/memory/code.ts';
import { ascendingFunction } from './lanes.ts';

const DWORD = 4;

/**
 * (where the addresses of lanes are, where the register with their data is, the lanes) → 1 when lanes that have the same address have the same data, and no others overlap. What lies behind the addresses may
 * be read.
 */
export function agreeFunction(module: WasmModule, bytes: number, isHigh: boolean): WasmFunction {
  const neverDescend = ascendingFunction(module, true);
  const name = `strict.repeated.agree.${bytes}${isHigh ? '.high' : ''}`;
  return module.helper(name, ['i32', 'i32', 'i64'], ['i32'], (fn) => {
    const code = new Code(fn);
    const [addresses, data, exec] = [0, 1, 2] as const;
    const [distance, other, far, found] = [fn.local('i32'), fn.local('i32'), fn.local('i32'), fn.local('i64')];
    const areBeside = fn.local('i32');
    const used = bytes >= DWORD ? -1 : isHigh ? ~0xffff : 2 ** (8 * bytes) - 1;
    /** Leaves the bits of the data of four lanes that those which `push` leaves have otherwise. */
    const pushDifference = (lane: number, push: (at: number) => void): WasmFunction => {
      for (let part = 0; part < Math.max(1, bytes / DWORD); part++) {
        fn.get(data).memory('v128.load', 4 * lane + VGPR_BYTES * part);
        push(VGPR_BYTES * part);
        fn.op('v128.xor');
        if (part > 0) fn.op('v128.or');
      }
      return used === -1 ? fn : fn.v128(used, used, used, used).op('v128.and');
    };
    const addMask = (lane: number): void => {
      fn.op('i32x4.bitmask').op('i64.extend_i32_u').i64(BigInt(lane)).op('i64.shl').get(found).op('i64.or').set(found);
    };
    /** Leaves where the word of the first lane is behind a place. */
    const pushFirst = (place: number): WasmFunction => {
      fn.get(exec).op('i64.ctz').op('i32.wrap_i64').i32(63).op('i32.and').i32(2).op('i32.shl');
      return fn.get(place).op('i32.add');
    };
    const isPower = (bytes & (bytes - 1)) === 0;
    if (bytes > DWORD) {
      // Elements that are as far behind multiples of their size as each other overlap only where they are one.
      if (!isPower) {
        fn.i32(0);
        return;
      }
      pushFirst(addresses).set(other);
      for (let lane = 0; lane < LANES; lane += 4) {
        fn.get(other)
          .memory('v128.load32_splat')
          .get(addresses)
          .memory('v128.load', 4 * lane)
          .op('v128.xor');
        fn.v128(...splat4(bytes - 1))
          .op('v128.and')
          .v128(0, 0, 0, 0)
          .op('i32x4.ne');
        addMask(lane);
      }
      fn.get(found).get(exec).op('i64.and').op('i64.eqz').op('i32.eqz').if().i32(0).return().end().i64(0n).set(found);
    }
    pushFirst(data).set(other);
    for (let lane = 0; lane < LANES; lane += 4) {
      pushDifference(lane, (at) => fn.get(other).memory('v128.load32_splat', at))
        .v128(0, 0, 0, 0)
        .op('i32x4.ne');
      addMask(lane);
    }
    fn.get(found).get(exec).op('i64.and').op('i64.eqz');
    code.if(() => fn.i32(1).return());
    // Where addresses never descend, lanes that have the same one are beside each other.
    fn.get(exec).i64(-1n).op('i64.eq').get(addresses).call(neverDescend).op('i32.and').set(areBeside);
    fn.i32(1).set(distance);
    code.loop((again) => {
      fn.get(distance).i32(2).op('i32.shl').tee(other).get(data).op('i32.add').set(far);
      fn.get(other).get(addresses).op('i32.add').set(other);
      fn.i64(0n).set(found);
      for (let lane = 0; lane < LANES; lane += 4) {
        fn.get(addresses)
          .memory('v128.load', 4 * lane)
          .get(other)
          .memory('v128.load', 4 * lane)
          .op('i32x4.eq');
        pushDifference(lane, (at) => fn.get(far).memory('v128.load', 4 * lane + at))
          .v128(0, 0, 0, 0)
          .op('i32x4.ne');
        fn.op('v128.and');
        addMask(lane);
      }
      // Behind the last lane there are none.
      fn.get(exec)
        .get(exec)
        .get(distance)
        .op('i64.extend_i32_u')
        .op('i64.shr_u')
        .op('i64.and')
        .get(found)
        .op('i64.and');
      fn.op('i64.eqz').op('i32.eqz').if().i32(0).return().end();
      fn.get(areBeside).if().i32(1).return().end();
      fn.get(distance).i32(1).op('i32.add').tee(distance).i32(LANES).op('i32.lt_u');
      code.brIf(again);
    });
    fn.i32(1);
  });
}
