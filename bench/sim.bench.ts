// Speed of the virtual GPU: kernels compiled from C by clang on the compiled engine (1 and 2 workers), on the interpreter, and the same
// source compiled for this host, one thread. Also time to the first result, and compile time. Rounds are interleaved, figures medians.
// Matrix products: sim-gemm and sim-matrix; memory instructions: sim-memory.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { build } from 'esbuild';
import { assembleAndLink } from '../src/asm/index.ts';
import { createDevice } from '../src/device/index.ts';
import { nodeWorkerHost } from '../src/device/node/index.ts';
import { compile } from '../src/device/sim/wasm/compile.ts';
import { kernelSource } from '../tests/support/kernel-source.ts';
import { llvmTool } from '../tests/support/llvm.ts';

const ROUNDS = 5;
const root = dirname(process.argv[1] as string).replace(/\/bench$/, '');
/** The worker thread's code, bundled from the sources. */
async function makeWorkerHost(): Promise<ReturnType<typeof nodeWorkerHost>> {
  const outfile = join(root, 'node_modules', '.cache', 'wavesmith', 'bench-sim-worker.mjs');
  await build({
    entryPoints: [join(root, 'src/device/node/sim-worker.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'warning',
  });
  return nodeWorkerHost(outfile);
}
const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] as number;

/** 1,000 vector and scalar instructions without a loop. */
const straight = Array.from(
  { length: 1000 },
  (_, i) =>
    [
      `v_fma_f32 v${1 + (i % 6)}, v${1 + ((i + 1) % 6)}, v7, v${1 + ((i + 2) % 6)}`,
      `v_add_u32 v${1 + (i % 6)}, v${1 + ((i + 3) % 6)}, v7`,
      `v_lshlrev_b32 v${1 + (i % 6)}, 3, v${1 + ((i + 5) % 6)}`,
      `s_add_u32 s${8 + (i % 4)}, s${8 + ((i + 1) % 4)}, 5`,
    ][i % 4],
).join('\n');

nodeWorkerHost('none');
const started = performance.now();
const first = await createDevice('sim', { target: 'gfx942' });
const object = assembleAndLink(kernelSource({ code: straight, args: [[8, 'global_buffer']] }));
const loaded = performance.now();
const module = first.load(object);
await first.dispatch({ kernel: module.kernel('k'), grid: [1, 1, 1], block: [64, 1, 1], args: [first.alloc(64)] });
console.log(
  `first result of a 1,000-instruction kernel in a cold process: ${(performance.now() - loaded).toFixed(0)} ms to load, compile and run it ` +
    `(${(loaded - started).toFixed(0)} ms to assemble it before)`,
);
const elf = await import('../src/codeobject/index.ts').then(({ readCodeObject }) => readCodeObject(object).elf);
const text = elf.sections.find((s) => s.name === '.text');
if (text !== undefined) {
  const image = object.subarray(text.offset, text.offset + text.size);
  const options = { target: 'gfx942', mfma: 'exact', shared: true } as const;
  const times: number[] = [];
  const hostTimes: number[] = [];
  let bytes = 0;
  for (let round = 0; round < 9; round++) {
    const begin = performance.now();
    const code = compile(image, { pc: 0, mode: 0xf0 }, options);
    times.push(performance.now() - begin);
    bytes = code.bytes.length;
    const middle = performance.now();
    new WebAssembly.Module(code.bytes);
    hostTimes.push(performance.now() - middle);
  }
  console.log(
    `compile time of 1,000 instructions: written in ${median(times).toFixed(1)} ms (first ${times[0]?.toFixed(1)}), ` +
      `${median(hostTimes).toFixed(1)} ms in the host (lazy), ${bytes} bytes of WebAssembly`,
  );
}

interface Case {
  readonly name: string;
  readonly kernel: string;
  readonly groups: number;
  /** Groups for the interpreter, which is slower by orders of magnitude. */
  readonly few: number;
  /** Bytes moved by a group, for memory-bound kernels. */
  readonly bytes?: number;
}
const CASES: readonly Case[] = [
  { name: 'f32 VALU', kernel: 'valu', groups: 64, few: 1 },
  { name: 'integer, branches', kernel: 'branch', groups: 64, few: 1 },
  { name: 'copy', kernel: 'copy', groups: 1024, few: 64, bytes: 2 * 65536 },
  { name: 'LDS reduction', kernel: 'reduce', groups: 1024, few: 64, bytes: 16384 },
];

const clang = llvmTool('clang-22');
if (clang === undefined) {
  console.log('clang-22 is not installed: no kernels from C.');
  process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), 'wavesmith-bench-'));
const source = join(root, 'bench', 'sim-kernels.c');
function buildKernels(name: string, flags: readonly string[]): string {
  const output = join(folder, name);
  const result = spawnSync(clang as string, ['-O3', ...flags, source, '-o', output], { encoding: 'utf8' });
  if (result.status !== 0) throw new Error(result.stderr);
  return output;
}
const workerHost = await makeWorkerHost();
try {
  const native = buildKernels('native', ['-march=native']);
  const code = readFileSync(buildKernels('gpu', ['-target', 'amdgcn-amd-amdhsa', '-mcpu=gfx942', '-nogpulib']));
  console.log(
    `${'kernel'.padEnd(20)}${'M wave-instr/s'.padStart(15)}${'2 workers'.padStart(11)}${'interpreter'.padStart(13)}` +
      `${'GB/s'.padStart(8)}${'ms'.padStart(9)}${'native ms'.padStart(11)}${'ratio'.padStart(8)}`,
  );
  for (const { name, kernel, groups, few, bytes } of CASES) {
    const device = await createDevice('sim', { target: 'gfx942', workerHost });
    const module = device.load(code);
    const size = Math.max(1 << 20, 65536 * groups);
    const args = [device.alloc(size), device.alloc(size)];
    device.write(args[1] as (typeof args)[number], new Uint8Array(Float32Array.of(0.5, 1.5).buffer));
    const run = async (engine: 'compiled' | 'interpreter', workers: number, count: number) => {
      const begin = performance.now();
      const request = { kernel: module.kernel(`${kernel}_kernel`), grid: [count, 1, 1], block: [256, 1, 1] } as const;
      const { instructions } = await device.dispatch({ ...request, args, engine, workers });
      return { instructions, ms: performance.now() - begin };
    };
    const one: number[] = [];
    const two: number[] = [];
    const slow: number[] = [];
    const host: number[] = [];
    let instructions = 0;
    await run('compiled', 1, groups);
    await run('compiled', 2, groups);
    for (let round = 0; round < ROUNDS; round++) {
      const single = await run('compiled', 1, groups);
      instructions = single.instructions;
      one.push(single.ms);
      two.push((await run('compiled', 2, groups)).ms);
      if (round < 2) {
        const interpreted = await run('interpreter', 1, few);
        slow.push(interpreted.instructions / interpreted.ms / 1000);
      }
      const { stdout } = spawnSync(native, [kernel, String(256 * groups)], { encoding: 'utf8' });
      host.push(Number(stdout) / 1e6);
    }
    const ms = median(one);
    console.log(
      `${name.padEnd(20)}${(instructions / ms / 1000).toFixed(1).padStart(15)}${`${(ms / median(two)).toFixed(2)}×`.padStart(11)}` +
        `${median(slow).toFixed(3).padStart(13)}${(bytes === undefined ? '' : ((bytes * groups) / ms / 1e6).toFixed(2)).padStart(8)}` +
        `${ms.toFixed(1).padStart(9)}${median(host).toFixed(1).padStart(11)}${`${(ms / median(host)).toFixed(1)}×`.padStart(8)}`,
    );
    device.close();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
