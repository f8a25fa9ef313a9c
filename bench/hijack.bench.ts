// `hijack build --via patch` on the 1.6 MB module with 167 kernels (or, without the reference data, on the fixture): the whole
// command as a user runs it, process start included, and the same with everything assembled by either engine.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { readManifest } from '../src/iree/manifest.ts';

const root = dirname(process.argv[1]).replace(/\/bench$/, '');
const ROUNDS = 7;
const large = join(root, '..', 'shared', 'vmfb', 'llama8b-fp8.gfx942.vmfb');
const module = existsSync(large) ? large : join(root, 'fixtures', 'matmul_f16.gfx942', 'baseline.vmfb');
const work = mkdtempSync(join(tmpdir(), 'wavesmith-bench-'));

function wavesmith(args: readonly string[]): number {
  const started = performance.now();
  const run = spawnSync(process.execPath, [join(root, 'bin', 'wavesmith'), ...args], { encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`wavesmith ${args.join(' ')} failed:\n${run.stderr}`);
  return performance.now() - started;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}

try {
  const folder = join(work, 'module');
  wavesmith(['hijack', 'init', module, '-o', folder]);
  const { baseline, executables } = readManifest(folder);
  const kernels = executables.reduce((n, e) => n + e.kernels.length, 0);
  const asm = join(folder, executables[0].asm);
  const text = readFileSync(asm, 'utf8');
  const edited = text.replace(/^\tv_mfma_/m, '\ts_nop 1\n$&');
  const pristine = join(folder, 'baseline');
  const cases = [
    { name: 'untouched', text, flags: [], whole: false },
    { name: 'one kernel edited', text: edited, flags: [], whole: false },
    { name: 'one kernel edited, everything assembled', text: edited, flags: [], whole: true },
    { name: 'the same by clang and ld.lld', text: edited, flags: ['--engine', 'llvm'], whole: true },
  ];
  const measure = (c: (typeof cases)[number]): number => {
    writeFileSync(asm, c.text);
    if (c.whole) renameSync(pristine, `${pristine}.away`);
    const time = wavesmith(['hijack', 'build', folder, ...c.flags]);
    if (c.whole) renameSync(`${pristine}.away`, pristine);
    return time;
  };
  const times = cases.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, c] of cases.entries()) times[i].push(measure(c));
  }
  console.log(`hijack build --via patch, ${baseline.bytes} bytes, ${kernels} kernels, median of ${ROUNDS} runs`);
  const base = median(times[1]);
  for (const [i, { name }] of cases.entries()) {
    const time = median(times[i]);
    console.log(`  ${name.padEnd(42)} ${time.toFixed(0).padStart(6)} ms  ${(time / base).toFixed(2)}×`);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
