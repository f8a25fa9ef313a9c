// Speed of the virtual GPU: kernels compiled from C by clang on the compiled engine (1 and 2 workers), on the interpreter, and the same
// source compiled for this host, one thread. Also time to the first result from process start, compile time, scaling to 2 workers on a
// long dispatch, and matrix products (sim-gemm). Rounds are interleaved, figures medians. More: sim-matrix, sim-memory.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { assembleAndLink } from '../src/asm/index.ts';
import { createDevice } from '../src/device/index.ts';
import { nodeWorkerHost } from '../src/device/node/index.ts';
import { compile } from '../src/device/sim/wasm/compile.ts';
import { kernelSource } from '../tests/support/kernel-source.ts';
import { llvmTool } from '../tests/support/llvm.ts';
import { bundledWorkerHost } from '../tests/support/sim-worker.ts';
import { clockCost } from './support/clock-cost.ts';

const ROUNDS = 5;
const root = dirname(process.argv[1] as string).replace(/\/bench$/, '');
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

console.log(
  'Dispatches inside one process, its start not included, the engine warm; rows that say so are whole processes.',
);
console.log(
  `load average of this machine: ${loadavg()
    .map((x) => x.toFixed(1))
    .join(' ')}`,
);
nodeWorkerHost('none');
const object = assembleAndLink(kernelSource({ code: straight, args: [[8, 'global_buffer']] }));
firstResults();

/** `wavesmith run` from process start to its end: wall time and CPU time, with an empty cache of modules and with a filled one. */
function firstResults(): void {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-bench-'));
  try {
    writeFileSync(join(folder, 'k.co'), object);
    const run = ['run', join(folder, 'k.co'), '--kernel', 'k', '--grid', '1', '--block', '64', '--arg', 'f32[64]'];
    const cli = join(root, 'bin', 'wavesmith');
    const cases = [
      { name: 'node alone', args: ['-e', '0'], clear: false },
      { name: 'empty module cache', args: [cli, ...run], clear: true },
      { name: 'filled module cache', args: [cli, ...run], clear: false },
    ];
    const times = cases.map((): { wall: number[]; cpu: number[] } => ({ wall: [], cpu: [] }));
    for (let round = -1; round < ROUNDS; round++) {
      for (const [n, { args, clear }] of cases.entries()) {
        if (clear) rmSync(join(folder, 'cache'), { recursive: true, force: true });
        const before = childCpu();
        const begin = performance.now();
        const env = { ...process.env, WAVESMITH_CACHE: join(folder, 'cache') };
        const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
        if (status !== 0) throw new Error(stderr);
        // The first round builds what is stale.
        if (round < 0) continue;
        times[n]?.wall.push(performance.now() - begin);
        times[n]?.cpu.push(childCpu() - before);
      }
    }
    console.log('first result of a 1,000-instruction kernel, from process start to process end (wavesmith run):');
    for (const [n, { name }] of cases.entries()) {
      const { wall, cpu } = times[n] as { wall: number[]; cpu: number[] };
      console.log(
        `  ${name.padEnd(20)}${median(wall).toFixed(0).padStart(6)} ms, CPU time ${median(cpu).toFixed(0)} ms`,
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** CPU time, ms, of ended children; Linux counts it in ticks of 10 ms. */
function childCpu(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  return 10 * (Number(fields[13]) + Number(fields[14]));
}

const elf = await import('../src/codeobject/index.ts').then(({ readCodeObject }) => readCodeObject(object).elf);
const text = elf.sections.find((s) => s.name === '.text');
if (text !== undefined) {
  const image = object.subarray(text.offset, text.offset + text.size);
  const options = { target: 'gfx942', mfma: 'exact', shared: true } as const;
  const times: number[] = [];
  const cpu: number[] = [];
  const hostTimes: number[] = [];
  let bytes = 0;
  for (let round = 0; round < 21; round++) {
    const begin = performance.now();
    const used = process.cpuUsage();
    const code = compile(image, { pc: 0, mode: 0xf0 }, options);
    times.push(performance.now() - begin);
    const { user, system } = process.cpuUsage(used);
    cpu.push((user + system) / 1000);
    bytes = code.bytes.length;
    const middle = performance.now();
    new WebAssembly.Module(code.bytes);
    hostTimes.push(performance.now() - middle);
  }
  console.log(
    `compile time of 1,000 instructions: written in ${median(times).toFixed(1)} ms (first ${times[0]?.toFixed(1)}; CPU time ${median(cpu).toFixed(1)}, first ${cpu[0]?.toFixed(1)}), ` +
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
  { name: 'f32 VALU, long', kernel: 'valu', groups: 400, few: 0 },
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
const workerHost = await bundledWorkerHost(root);
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
      if (round < 2 && few > 0) {
        const interpreted = await run('interpreter', 1, few);
        slow.push(interpreted.instructions / interpreted.ms / 1000);
      }
      const { stdout } = spawnSync(native, [kernel, String(256 * groups)], { encoding: 'utf8' });
      host.push(Number(stdout) / 1e6);
    }
    const ms = median(one);
    console.log(
      `${name.padEnd(20)}${(instructions / ms / 1000).toFixed(1).padStart(15)}${`${(ms / median(two)).toFixed(2)}×`.padStart(11)}` +
        `${(few > 0 ? median(slow).toFixed(3) : '').padStart(13)}${(bytes === undefined ? '' : ((bytes * groups) / ms / 1e6).toFixed(2)).padStart(8)}` +
        `${ms.toFixed(1).padStart(9)}${median(host).toFixed(1).padStart(11)}${`${(ms / median(host)).toFixed(1)}×`.padStart(8)}`,
    );
    device.close();
  }
  console.log(
    'without a clock (--timing off), CPU time of one thread, before and after dispatches under a clock, in turns:',
  );
  for (const [kernel, groups] of [
    ['valu', 8],
    ['branch', 256],
    ['copy', 512],
    ['reduce', 512],
  ] as const) {
    const { never, off, ratio, on, isSame } = await clockCost(code, `${kernel}_kernel`, groups, 2 * ROUNDS + 1);
    console.log(
      `  ${kernel.padEnd(18)} never ${never.toFixed(1)} ms, off ${off.toFixed(1)} ms, off/never ${ratio.toFixed(3)}; under the clock ${on.toFixed(1)} ms; ` +
        `instructions and memory ${isSame ? 'the same' : 'DIFFER'}`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const gemm = [join(root, 'scripts', 'run-ts.mjs'), join(root, 'bench', 'sim-gemm.bench.ts')];
process.exit(spawnSync(process.execPath, gemm, { stdio: 'inherit' }).status ?? 1);
