// In which memory the lanes of a flat access are: mostly all in one, and then the access is one of that memory. Source: LLVM AMDGPUUsage, "Address Spaces": the high word of an address says whether it is in an aperture.
import { PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH } from '../../../apertures.ts';
import { LANES, VGPR_BYTES } from '../../state/layout.ts';
import { EXEC } from '../../state/wave.ts';
import type { WasmFunction, WasmModule } from '../emit.ts';
import { Code } from './code.ts';

/** Memories, a bit each. */
export const IN_SEVERAL = 0;
export const IN_GLOBAL = 1;
export const IN_LDS = 2;
export const IN_SCRATCH = 4;

const VECTOR = 16;

/** (wave, place in the wave block of the first of the two registers with the addresses) → in which memory all active lanes are; IN_SEVERAL where there are none, too. */
export function apertureFunction(module: WasmModule): WasmFunction {
  return module.helper('memory.flat.aperture', ['i32', 'i32'], ['i32'], (fn) => {
    const [wave, register] = [0, 1] as const;
    const code = new Code(fn);
    const [left, high, at] = [fn.local('i64'), fn.local('i32'), fn.local('i32')];
    const [others, inApertures, negative] = [fn.local('v128'), fn.local('v128'), fn.local('v128')];
    const [words, active] = [fn.local('v128'), fn.local('v128')];
    fn.get(wave)
      .memory('i64.load', 4 * EXEC)
      .tee(left)
      .op('i64.eqz');
    fn.if().i32(IN_SEVERAL).return().end();
    fn.get(wave).get(register).op('i32.add').tee(at);
    fn.get(left)
      .op('i64.ctz')
      .op('i32.wrap_i64')
      .i32(2)
      .op('i32.shl')
      .op('i32.add')
      .memory('i32.load', VGPR_BYTES)
      .set(high);
    const splat = (word: number): WasmFunction => fn.v128(word, word, word, word);
    const gather = (into: number, push: () => void): void => {
      fn.get(into);
      push();
      fn.op('v128.or').set(into);
    };
    code.loop((again) => {
      fn.get(left).op('i32.wrap_i64').op('i32x4.splat');
      fn.v128(1, 2, 4, 8).op('v128.and').v128(1, 2, 4, 8).op('i32x4.eq').set(active);
      fn.get(at).memory('v128.load', VGPR_BYTES).set(words);
      gather(others, () => fn.get(words).get(high).op('i32x4.splat').op('v128.xor').get(active).op('v128.and'));
      gather(inApertures, () => {
        fn.get(words);
        splat(SHARED_APERTURE_HIGH | 0)
          .op('i32x4.eq')
          .get(words);
        splat(PRIVATE_APERTURE_HIGH | 0)
          .op('i32x4.eq')
          .op('v128.or')
          .get(active)
          .op('v128.and');
      });
      gather(negative, () => fn.get(at).memory('v128.load').get(active).op('v128.and'));
      fn.get(at).i32(VECTOR).op('i32.add').set(at);
      fn.get(left).i64(4n).op('i64.shr_u').tee(left).i64(0n).op('i64.ne');
      code.brIf(again);
    });
    fn.get(inApertures).op('v128.any_true').op('i32.eqz').if().i32(IN_GLOBAL).return().end();
    fn.get(others).op('v128.any_true').if().i32(IN_SEVERAL).return().end();
    // The sum with the constant must not leave the aperture.
    fn.get(negative).i32(31).op('i32x4.shr_u').op('v128.any_true').if().i32(IN_SEVERAL).return().end();
    fn.i32(IN_LDS)
      .i32(IN_SCRATCH)
      .get(high)
      .i32(SHARED_APERTURE_HIGH | 0)
      .op('i32.eq')
      .select();
  });
}

/** The same, but IN_SEVERAL where the first active lane is in none of the apertures: whether the others are is not looked at. */
export function nearFunction(module: WasmModule): WasmFunction {
  const aperture = apertureFunction(module);
  return module.helper('memory.flat.near', ['i32', 'i32'], ['i32'], (fn) => {
    const [wave, register] = [0, 1] as const;
    const [exec, high] = [fn.local('i64'), fn.local('i32')];
    fn.get(wave)
      .memory('i64.load', 4 * EXEC)
      .tee(exec)
      .op('i64.eqz');
    fn.if().i32(IN_SEVERAL).return().end();
    fn.get(exec).op('i64.ctz').op('i32.wrap_i64').i32(2).op('i32.shl').get(wave).op('i32.add').get(register);
    fn.op('i32.add').memory('i32.load', VGPR_BYTES).tee(high);
    fn.i32(SHARED_APERTURE_HIGH | 0)
      .op('i32.eq')
      .get(high)
      .i32(PRIVATE_APERTURE_HIGH | 0)
      .op('i32.eq')
      .op('i32.or');
    fn.if('i32').get(wave).get(register).call(aperture).else().i32(IN_SEVERAL).end();
  });
}

/**
 * (wave, place in the wave block of the first of the two registers with the addresses, where the lanes of IN_GLOBAL, IN_LDS and IN_SCRATCH go in wasm memory, an i64 each)
 * → in which memories the active lanes are, a bit each; 0 where a lane may be in another one than its address says.
 */
export function splitFunction(module: WasmModule): WasmFunction {
  return module.helper('memory.flat.split', ['i32', 'i32', 'i32'], ['i32'], (fn) => {
    const [wave, register, where] = [0, 1, 2] as const;
    const code = new Code(fn);
    const [at, lane, negative] = [fn.local('i32'), fn.local('i32'), fn.local('v128')];
    const [exec, lds, scratch] = [fn.local('i64'), fn.local('i64'), fn.local('i64')];
    const inAperture = fn.local('v128');
    fn.get(wave).get(register).op('i32.add').set(at);
    fn.get(wave)
      .memory('i64.load', 4 * EXEC)
      .set(exec);
    code.loop((again) => {
      for (const [high, lanes] of [
        [SHARED_APERTURE_HIGH, lds],
        [PRIVATE_APERTURE_HIGH, scratch],
      ] as const) {
        const word = high | 0;
        fn.get(at).memory('v128.load', VGPR_BYTES).v128(word, word, word, word).op('i32x4.eq').tee(inAperture);
        fn.op('i32x4.bitmask').op('i64.extend_i32_u').get(lane).op('i64.extend_i32_u').op('i64.shl');
        fn.get(lanes).op('i64.or').set(lanes);
        fn.get(at).memory('v128.load').get(inAperture).op('v128.and').get(negative).op('v128.or').set(negative);
      }
      fn.get(at).i32(VECTOR).op('i32.add').set(at);
      fn.get(lane).i32(4).op('i32.add').tee(lane).i32(LANES).op('i32.lt_u');
      code.brIf(again);
    });
    // The sum with the constant must not leave the aperture.
    fn.get(negative).i32(31).op('i32x4.shr_u').op('v128.any_true').if().i32(0).return().end();
    fn.get(where).get(exec).get(lds).get(scratch).op('i64.or').i64(-1n).op('i64.xor').op('i64.and');
    fn.memory('i64.store', 0);
    for (const [at, lanes] of [
      [8, lds],
      [16, scratch],
    ] as const)
      fn.get(where).get(exec).get(lanes).op('i64.and').memory('i64.store', at);
    for (const [n, bit] of [IN_GLOBAL, IN_LDS, IN_SCRATCH].entries()) {
      fn.get(where)
        .memory('i64.load', 8 * n)
        .i64(0n)
        .op('i64.ne')
        .i32(Math.log2(bit))
        .op('i32.shl');
      if (n > 0) fn.op('i32.or');
    }
  });
}
