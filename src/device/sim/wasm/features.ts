// What the host's WebAssembly engine can do for matrix code and others: relaxed SIMD, whether its multiply-add rounds once.
// Source: WebAssembly relaxed SIMD proposal (the rounding of relaxed_madd is the host's choice, fixed while the process runs).
import { WasmModule } from './emit.ts';

export interface MatrixFeatures {
  /** Relaxed SIMD instructions validate. */
  readonly relaxed: boolean;
  /** f32x4.relaxed_madd, f64x2.relaxed_madd and f64x2.relaxed_nmadd round once. */
  readonly fused: boolean;
  /** i32x4.relaxed_trunc_f32x4_s makes -2^31 of 2^31, so that it makes the word with one bit of each power of two below 2^32. */
  readonly powers: boolean;
}

/** No relaxed SIMD: what matrix code assumes at least. */
export const PLAIN_SIMD: MatrixFeatures = { relaxed: false, fused: false, powers: false };

/** (1 + u)² - (1 + 2u) is u² when rounded once and 0 when the product is rounded first, and so is its negative. */
function probe(): Uint8Array<ArrayBuffer> {
  const module = new WasmModule({ module: 'host', name: 'memory', initial: 0, maximum: 1, shared: false });
  const single = module.function([], ['f32']);
  const u = 2 ** -12;
  single
    .f32(1 + u)
    .op('f32x4.splat')
    .f32(1 + u)
    .op('f32x4.splat')
    .f32(-(1 + 2 * u))
    .op('f32x4.splat');
  single.op('f32x4.relaxed_madd').lane('f32x4.extract_lane', 0);
  module.export('single', single);
  const v = 2 ** -27;
  for (const [name, sign] of [
    ['madd', -1],
    ['nmadd', 1],
  ] as const) {
    const double = module.function([], ['f64']);
    for (const operand of [1 + v, 1 + v, sign * (1 + 2 * v)]) double.f64(operand).op('f64x2.splat');
    double.op(`f64x2.relaxed_${name}`).lane('f64x2.extract_lane', 0);
    module.export(name, double);
  }
  const power = module.function([], ['i32']);
  power
    .f32(2 ** 31)
    .op('f32x4.splat')
    .op('i32x4.relaxed_trunc_f32x4_s')
    .lane('i32x4.extract_lane', 0);
  module.export('power', power);
  return module.finish();
}

let known: MatrixFeatures | undefined;

/** Features of this host, found out once. */
export function matrixFeatures(): MatrixFeatures {
  if (known !== undefined) return known;
  const bytes = probe();
  if (!WebAssembly.validate(bytes)) {
    known = PLAIN_SIMD;
    return known;
  }
  const memory = new WebAssembly.Memory({ initial: 0, maximum: 1 });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { host: { memory } });
  const run = (name: string): number => (exports[name] as () => number)();
  known = {
    relaxed: true,
    fused: run('single') === 2 ** -24 && run('madd') === 2 ** -54 && run('nmadd') === -(2 ** -54),
    powers: run('power') === -(2 ** 31),
  };
  return known;
}

/**
 * The instruction that takes a where a mask has ones and b elsewhere, of masks of whole bytes: relaxed SIMD lets hosts look at a byte's highest
 * bit, for which x64 has one instruction and takes three for the plain one.
 */
export const choosing = (): string => (matrixFeatures().relaxed ? 'i8x16.relaxed_laneselect' : 'v128.bitselect');
