// Overhead of the virtual runtime: an empty kernel from hipLaunchKernel to completion, and host-to-device copies against memcpy.
// Needs clang 22 and the native build (`npm run setup`). The program is bench/runtime/latency.cpp.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = process.cwd();
const clang = '/usr/lib/llvm-22/bin/clang++';
const deviceLibraries = join(root, '.wavesmith', 'hip-device-libs');
const libraries = join(process.env.WAVESMITH_NATIVE ?? join(root, 'native', 'build'), 'lib');
const ROUNDS = 3;
const LAUNCHES = 1000;
const SIZES = [4096, 65536, 1 << 20, 16 << 20, 128 << 20];

for (const path of [clang, deviceLibraries, join(libraries, 'libamdhip64.so')]) {
  if (existsSync(path)) continue;
  console.error(`bench: ${path} is missing; 'npm run setup' makes it.`);
  process.exit(1);
}

function run(command: string, args: readonly string[]): string {
  const result = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (result.status === 0) return result.stdout;
  console.error(result.stderr);
  process.exit(1);
}

const quantile = (sorted: readonly number[], q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] as number;
const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-bench-'));
try {
  const program = join(folder, 'latency');
  const hip = ['-x', 'hip', '--offload-arch=gfx942', '-D__AMDGCN_WAVEFRONT_SIZE=64', '--rocm-path=/usr'];
  const source = join(root, 'bench/runtime/latency.cpp');
  run(clang, [
    ...hip,
    `--rocm-device-lib-path=${deviceLibraries}`,
    '-O2',
    source,
    '-o',
    program,
    `-L${libraries}`,
    '-lamdhip64',
  ]);
  const exec = (...args: string[]): number[][] =>
    run(process.execPath, [join(root, 'bin/wavesmith'), 'exec', '--', program, ...args])
      .trim()
      .split('\n')
      .map((line) => line.split(' ').map(Number));

  console.log(
    'Timed: by the program itself inside `wavesmith exec`, process start not included; the same launch or copy repeats.',
  );
  console.log(`empty kernel, hipLaunchKernel to completion, ${LAUNCHES} launches a round (µs; goal: median ≤ 100)`);
  for (let round = 1; round <= ROUNDS; round++) {
    const times = sorted(exec('launch', String(LAUNCHES)).map(([t]) => t as number));
    const at = (q: number): string => quantile(times, q).toFixed(0).padStart(6);
    console.log(`  round ${round}: least ${at(0)}  median ${at(0.5)}  90 % ${at(0.9)}  99 % ${at(0.99)}`);
  }
  console.log('host to device, hipMemcpy against memcpy, alternating (GB/s; target: ratio ≤ 2)');
  for (const size of SIZES) {
    const count = Math.max(9, Math.min(201, Math.round((64 << 20) / size)));
    const pairs = exec('copy', String(size), String(count));
    const [plain, copy] = [0, 1].map((n) => quantile(sorted(pairs.map((p) => p[n] as number)), 0.5)) as [
      number,
      number,
    ];
    const speed = (seconds: number): string => (size / seconds / 1e9).toFixed(2).padStart(7);
    const ratio = (copy / plain).toFixed(2);
    console.log(
      `  ${String(size).padStart(10)} bytes: memcpy ${speed(plain)}  hipMemcpy ${speed(copy)}  time ratio ${ratio}`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
