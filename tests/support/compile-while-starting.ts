// A device starts the first thread of its process, and compiles code that uses relaxed SIMD before that thread is there. Prints what the flags of V8 allow
// at each moment, and what the code computed.
import { createDevice } from '../../src/device/index.ts';
import { WasmModule } from '../../src/device/sim/wasm/emit.ts';
import { matrixFeatures } from '../../src/device/sim/wasm/features.ts';
import { kernelObject } from './kernel-source.ts';
import { bundledWorkerHost } from './sim-worker.ts';

/** Whether V8 takes relaxed SIMD now. */
function isOn(): boolean {
  const module = new WasmModule({ module: 'host', name: 'memory', initial: 0, maximum: 1, shared: false });
  const one = module.function([], ['f32']);
  for (let n = 0; n < 3; n++) one.f32(1).op('f32x4.splat');
  one.op('f32x4.relaxed_madd').lane('f32x4.extract_lane', 0);
  module.export('one', one);
  return WebAssembly.validate(module.finish());
}

const objectOf = (code: string): Uint8Array =>
  kernelObject({
    code: `s_load_dwordx2 s[4:5], s[0:1], 0x0
v_lshlrev_b32_e32 v1, 3, v0
s_lshl_b32 s6, s2, 9
v_add_u32_e32 v1, s6, v1
v_cvt_f64_u32_e32 v[2:3], v0
${code}
s_waitcnt lgkmcnt(0)
global_store_dwordx2 v1, v[2:3], s[4:5]`,
    descriptor: { next_free_vgpr: 16, accum_offset: 16, next_free_sgpr: 32, system_sgpr_workgroup_id_x: 1 },
  }).bytes;

const bundled = await bundledWorkerHost(process.argv[2] as string);
const begun: boolean[] = [];
const start = () => {
  const thread = bundled.start();
  begun.push(isOn());
  return thread;
};
const device = await createDevice('sim', { target: 'gfx942', workerHost: { ...bundled, startMs: 0, start } });
const long = device
  .load(
    objectOf(`s_movk_i32 s8, 2000
.Lloop:
v_fma_f64 v[2:3], v[2:3], 1.0, 1.0
s_sub_u32 s8, s8, 1
s_cmp_lg_u32 s8, 0
s_cbranch_scc1 .Lloop`),
  )
  .kernel('k');
const short = device.load(objectOf('v_fma_f64 v[2:3], v[2:3], v[2:3], 0.5')).kernel('k');
const GROUPS = 1024;
const out = device.alloc(GROUPS * 512, 'out');
const after = device.alloc(512, 'after');
const sizes = { grid: [GROUPS, 1, 1], block: [64, 1, 1] } as const;
const running = device.dispatch({ kernel: long, ...sizes, args: [out], workers: 2 });
while (begun.length === 0) await new Promise((resolve) => setImmediate(resolve));
const beside = device.dispatch({
  kernel: short,
  grid: [1, 1, 1],
  block: [64, 1, 1],
  args: [after],
  workers: 1,
  concurrent: true,
});
await Promise.all([running, beside]);
const sums = new Float64Array(device.read(out).slice().buffer);
const squares = new Float64Array(device.read(after).slice().buffer);
console.log(
  JSON.stringify({
    begun,
    ended: isOn(),
    features: matrixFeatures(),
    areSums: sums.every((sum, n) => sum === 2000 + (n % 64)),
    areSquares: squares.every((square, n) => square === n * n + 0.5),
  }),
);
device.close();
