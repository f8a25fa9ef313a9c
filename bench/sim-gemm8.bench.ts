// A 1024³ matrix product (f16 and FP8 MFMA, 64×64 tile a wavefront, fragments straight from global memory) on the virtual GPU, one core.
// Run: npm run bench sim-gemm [SIZE]. Needs clang-22. Checks a sample of the result against f64 sums; median of three rounds.
// Timed: the dispatch alone, inside one process; the kernel is compiled in the first round, so the median is of compiled code.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BF8_FNUZ, decodeSmall, encodeSmall, F16, FP8_FNUZ, type SmallFormat } from '../src/base/elements/formats.ts';
import { createDevice } from '../src/device/index.ts';
import { enableRelaxedSimd } from '../src/device/node/v8-flags.ts';
import { llvmTool } from '../tests/support/llvm.ts';

enableRelaxedSimd();
console.log(
  'Timed: the dispatch inside one process, its start not included; the median is of rounds whose code is compiled already.',
);

/** A kernel: element type, elements of one lane's fragment, MFMA builtin, its operand type. */
const source = (
  name: string,
  element: string,
  perLane: number,
  k: number,
  builtin: string,
  operand: string,
): string => `
typedef float f4 __attribute__((ext_vector_type(4)));
typedef ${operand} fragment;
#define G __attribute__((address_space(1)))
__attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(64, 64)))
void ${name}(G const ${element} *a, G const ${element} *b, G float *c, int n) {
  int lane = __builtin_amdgcn_workitem_id_x();
  int row = 64 * __builtin_amdgcn_workgroup_id_x(), column = 64 * __builtin_amdgcn_workgroup_id_y();
  int r = lane & 15, g = lane >> 4;
  f4 sum[4][4] = {};
  for (int k = 0; k < n; k += ${k}) {
    fragment x[4], y[4];
    for (int t = 0; t < 4; t++) {
      x[t] = *(G const fragment *)(a + (row + 16 * t + r) * n + k + ${perLane} * g);
      y[t] = *(G const fragment *)(b + (column + 16 * t + r) * n + k + ${perLane} * g);
    }
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) sum[i][j] = ${builtin}(x[i], y[j], sum[i][j], 0, 0, 0);
  }
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      for (int e = 0; e < 4; e++) c[(row + 16 * i + 4 * g + e) * n + column + 16 * j + r] = sum[i][j][e];
}
`;

interface Case {
  readonly name: string;
  readonly format: SmallFormat;
  readonly code: string;
}
const HALF4 = '_Float16 __attribute__((ext_vector_type(4)))';
const CASES: readonly Case[] = [
  {
    name: 'gemm_f16',
    format: F16,
    code: source('gemm_f16', '_Float16', 4, 16, '__builtin_amdgcn_mfma_f32_16x16x16f16', HALF4),
  },
  {
    name: 'gemm_fp8',
    format: FP8_FNUZ,
    code: source('gemm_fp8', 'char', 8, 32, '__builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8', 'long'),
  },
  {
    name: 'gemm_bf8',
    format: BF8_FNUZ,
    code: source('gemm_bf8', 'char', 8, 32, '__builtin_amdgcn_mfma_f32_16x16x32_bf8_bf8', 'long'),
  },
];

function compile(clang: string, code: string): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-gemm-'));
  try {
    writeFileSync(join(folder, 'k.c'), code);
    const flags = ['-target', 'amdgcn-amd-amdhsa', '-mcpu=gfx942', '-O3', '-nogpulib', '-x', 'c'];
    execFileSync(clang, [...flags, join(folder, 'k.c'), '-o', join(folder, 'k.co')]);
    return readFileSync(join(folder, 'k.co'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const clang = llvmTool('clang-22');
if (clang === undefined) process.exit(0);
const n = Number(process.argv.slice(2).find((x) => /^\d+$/.test(x)) ?? 1024);
for (const { name, format, code } of CASES) {
  const device = await createDevice('sim', { target: 'gfx942' });
  const kernel = device.load(compile(clang, code)).kernel(name);
  const bytes = format.bits / 8;
  const codes = [0, 1].map((side) =>
    Uint16Array.from({ length: n * n }, (_, i) => encodeSmall(format, Math.sin(i * (side + 1.37)) * 2)),
  ) as [Uint16Array, Uint16Array];
  const buffers = codes.map((values, i) => {
    const buffer = device.alloc(n * n * bytes, `input ${i}`);
    device.write(buffer, bytes === 2 ? new Uint8Array(values.buffer) : Uint8Array.from(values));
    return buffer;
  });
  const result = device.alloc(4 * n * n, 'result');
  const scalar = new Uint8Array(Int32Array.of(n).buffer);
  for (const mfma of ['fast', 'exact'] as const) {
    const seconds: number[] = [];
    const cpu: number[] = [];
    let instructions = 0;
    for (let round = 0; round < 8; round++) {
      const start = performance.now();
      const used = process.cpuUsage();
      ({ instructions } = await device.dispatch({
        kernel,
        grid: [n / 64, n / 64, 1],
        block: [64, 1, 1],
        args: [...buffers, result, scalar] as never,
        mfma,
        workers: 1,
      }));
      seconds.push((performance.now() - start) / 1000);
      const { user, system } = process.cpuUsage(used);
      cpu.push((user + system) / 1e6);
    }
    const c = new Float32Array(device.read(result).slice().buffer);
    let worst = 0;
    for (let sample = 0; sample < 200; sample++) {
      const i = (sample * 7919) % n;
      const j = (sample * 104729) % n;
      let sum = 0;
      let size = 0;
      for (let k = 0; k < n; k++) {
        const p =
          decodeSmall(format, codes[0][i * n + k] as number) * decodeSmall(format, codes[1][j * n + k] as number);
        sum += p;
        size += Math.abs(p);
      }
      worst = Math.max(worst, Math.abs((c[i * n + j] as number) - sum) / size);
    }
    if (!(worst < (1.5 * n) / 2 ** 24)) throw new Error(`${name} ${mfma}: relative error ${worst}`);
    const median = seconds.sort((x, y) => x - y)[1] as number;
    const used = cpu.sort((x, y) => x - y)[0] as number;
    console.log(
      `${name} ${n}³ ${mfma.padEnd(5)} ${median.toFixed(3)} s (slowest ${(seconds.at(-1) as number).toFixed(3)}, CPU time ${used.toFixed(3)}), ${((n ** 3 / median) * 1e-9).toFixed(2)} GMAC/s, ${instructions} instructions, relative error ${worst.toExponential(1)}`,
    );
  }
  device.close();
}
