// f16 and bf16 bit patterns to f32 values and back, rounding to nearest even, denormals kept, NaNs canonical.
// Source: IEEE 754-2019, binary16; bfloat16 is the upper half of binary32.
import type { WasmFunction, WasmModule } from '../emit.ts';

/** (16 bits) -> the f32 of the same value. */
export function decodeHalf(module: WasmModule): WasmFunction {
  return module.helper('memory.half.decode', ['i32'], ['f32'], (fn) => {
    const bits = 0;
    const magnitude = fn.local('i32');
    // The exponent field moves to f32's place; scaling by 2^112 corrects its bias, denormals included.
    fn.get(bits).i32(0x7fff).op('i32.and').tee(magnitude);
    fn.i32(0x7c00).op('i32.ge_u').if('i32');
    fn.get(magnitude).i32(13).op('i32.shl').i32(0x7f800000).op('i32.or');
    fn.else();
    fn.get(magnitude)
      .i32(13)
      .op('i32.shl')
      .op('f32.reinterpret_i32')
      .f32(2 ** 112)
      .op('f32.mul');
    fn.op('i32.reinterpret_f32').end();
    fn.get(bits).i32(0x8000).op('i32.and').i32(16).op('i32.shl').op('i32.or').op('f32.reinterpret_i32');
  });
}

/** (f32) -> the bits of f16 or bf16. */
export function encodeHalf(module: WasmModule, brain: boolean): WasmFunction {
  return module.helper(`memory.half.encode.${brain ? 'bf16' : 'f16'}`, ['f32'], ['i32'], (fn) => {
    const value = 0;
    const bits = fn.local('i32');
    const magnitude = fn.local('i32');
    fn.get(value).op('i32.reinterpret_f32').set(bits);
    fn.get(value).get(value).op('f32.ne').if();
    fn.i32(brain ? 0x7fc0 : 0x7e00)
      .return()
      .end();
    if (brain) {
      // bits + 0x7fff + the lowest kept bit
      fn.get(bits).i32(16).op('i32.shr_u').i32(1).op('i32.and').i32(0x7fff).op('i32.add').get(bits).op('i32.add');
      fn.i32(16).op('i32.shr_u');
      return;
    }
    const sign = fn.local('i32');
    fn.get(bits).i32(16).op('i32.shr_u').i32(0x8000).op('i32.and').set(sign);
    fn.get(bits).i32(0x7fffffff).op('i32.and').tee(magnitude);
    // 65520 and above round to infinity.
    fn.i32(0x477ff000).op('i32.ge_u').if();
    fn.get(sign).i32(0x7c00).op('i32.or').return().end();
    fn.get(magnitude).i32(0x38800000).op('i32.lt_u').if();
    // Below 2^-14: adding 0.5 leaves the multiple of 2^-24 in the low bits, rounded by the addition.
    fn.get(magnitude).op('f32.reinterpret_i32').f32(0.5).op('f32.add').op('i32.reinterpret_f32');
    fn.i32(0x3f000000).op('i32.sub').get(sign).op('i32.or').return().end();
    fn.get(magnitude)
      .i32(13)
      .op('i32.shr_u')
      .i32(1)
      .op('i32.and')
      .i32(0xfff)
      .op('i32.add')
      .get(magnitude)
      .op('i32.add');
    fn.i32(13)
      .op('i32.shr_u')
      .i32(112 << 10)
      .op('i32.sub')
      .get(sign)
      .op('i32.or');
  });
}
