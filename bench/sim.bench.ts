// Speed of the virtual GPU's reference interpreter: wave instructions per second by kind, interleaved, median of the rounds, and
// the IREE f16 matmul of the fixture as a whole.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { codeObjectsOf, openContainer, readDispatches, readVmfb } from '../src/codeobject/index.ts';
import { createDevice } from '../src/device/index.ts';
import { bindInstruction } from '../src/device/sim/program.ts';
import { makeWave, parse } from '../tests/support/one-instruction.ts';

const ROUNDS = 5;
const SLICE_MS = 60;
const lanes = Array.from({ length: 64 }, (_, lane) => lane);
const CASES: readonly string[] = [
  'v_add_u32 v0, v1, v2',
  'v_fma_f32 v0, v1, v2, v3',
  'v_pk_fma_f16 v0, v1, v2, v3',
  'v_fma_f64 v[4:5], v[6:7], v[8:9], v[10:11]',
  'v_exp_f32 v0, v1',
  'v_cmp_lt_f32 vcc, v1, v2',
  'v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf',
  's_add_u32 s0, s1, s2',
  's_and_b64 s[0:1], s[2:3], s[4:5]',
  'ds_read_b128 v[12:15], v16',
  'global_load_dwordx4 v[12:15], v16, s[96:97]',
  'v_mfma_f32_16x16x16_f16 v[20:23], v[24:25], v[26:27], v[20:23]',
  'v_mfma_f32_32x32x8_f16 v[32:47], v[24:25], v[26:27], v[32:47]',
  'v_mfma_f32_16x16x32_fp8_fp8 v[20:23], v[24:25], v[26:27], v[20:23]',
  'v_mfma_f32_16x16x4_f32 v[20:23], v24, v25, v[20:23]',
];

const wave = makeWave('gfx942', { v1: lanes, v2: 0x3f800000, v3: 0x40000000, v16: lanes.map((x) => 16 * x) });
const steps = CASES.map((text) => bindInstruction(parse('gfx942', text), 'gfx942'));
const rates = CASES.map((): number[] => []);
for (let round = 0; round < ROUNDS; round++) {
  for (const [i, step] of steps.entries()) {
    const started = performance.now();
    let count = 0;
    while (performance.now() - started < SLICE_MS) {
      for (let n = 0; n < 20; n++) step(wave);
      count += 20;
    }
    rates[i].push(count / (performance.now() - started));
  }
}
const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1];
console.log(`reference interpreter, one thread: thousand wave instructions a second, median of ${ROUNDS}`);
const base = median(rates[1]);
for (const [i, text] of CASES.entries()) {
  const rate = median(rates[i]);
  console.log(`  ${text.padEnd(68)} ${rate.toFixed(1).padStart(8)}  ${(rate / base).toFixed(2)}× v_fma_f32`);
}

const root = dirname(process.argv[1]).replace(/\/bench$/, '');
const bytes = readFileSync(join(root, 'fixtures', 'matmul_f16.gfx942', 'baseline.vmfb'));
const [codeObject] = codeObjectsOf(openContainer(bytes, 'fixture'));
const grid = readDispatches(readVmfb(bytes))[0].workgroupCount as [number, number, number];
const times: number[] = [];
let instructions = 0;
for (let round = 0; round < ROUNDS; round++) {
  const device = await createDevice('sim', { target: 'gfx942' });
  const kernel = device.load(codeObject.bytes).kernels[0];
  const args = [32768, 32768, 65536].map((size) => device.alloc(size));
  const started = performance.now();
  const block = kernel.requiredWorkgroupSize ?? [256, 1, 1];
  instructions = (await device.dispatch({ kernel, grid, block, args })).instructions;
  times.push(performance.now() - started);
}
console.log(`128×128×128 f16 matmul by IREE: ${instructions} instructions, ${median(times).toFixed(0)} ms`);
