// Profile analysis at scale: a one-million-row kernel trace as CSV, rocpd and JSON from file to report, raw thread traces.
// Each case runs in a process of its own, so that the peak memory is its own. Targets: 5 s, 400 MB; each export 10 s; 30 MB/s.
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../src/cli/profile.ts';
import { LoadedCode, readSqtt } from '../src/profile/index.ts';
import { kernelTraceCsv, rocprofJson, sampleCodeObject, sampleSqtt, writeRocpd } from '../tests/profile-fixtures.ts';

const ROWS = 1_000_000;
const ROUNDS = 3;

const [mode, path, out] = process.argv.slice(2);
if (mode === 'report') {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = () => true;
  const started = performance.now();
  const exporter = process.argv[5];
  await run([
    path,
    '-o',
    out,
    '--arch',
    'gfx950',
    ...(exporter === undefined ? [] : [exporter, join(out, 'export.json')]),
  ]);
  const ms = performance.now() - started;
  process.stdout.write = write;
  console.log(JSON.stringify({ ms, cpu: cpuSeconds(), rss: process.resourceUsage().maxRSS / 1024 }));
} else if (mode === 'sqtt') {
  const code = new LoadedCode(sampleCodeObject(), 'sample.o');
  const bytes = sampleSqtt(0x10000, 20_000, 3, 40);
  const source = { path: 'big.att', size: bytes.length, read: (at: number, n: number) => bytes.subarray(at, at + n) };
  const before = cpuSeconds();
  const started = performance.now();
  const result = readSqtt(source, path === 'stitched' ? { codes: [code] } : {});
  const ms = performance.now() - started;
  const cpu = cpuSeconds() - before;
  console.log(
    JSON.stringify({ ms, cpu, bytes: bytes.length, tokens: result.tokens.tokens, matched: result.stitched.matched }),
  );
} else {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-bench-'));
  try {
    main(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** User and system time of this process so far; on a busy machine this says more than the clock. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function child(...args: string[]): Record<string, number> {
  const done = spawnSync(process.execPath, ['scripts/run-ts.mjs', 'bench/profile.bench.ts', ...args], {
    encoding: 'utf8',
  });
  if (done.status !== 0) throw new Error(done.stderr);
  return JSON.parse(done.stdout) as Record<string, number>;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

function main(folder: string): void {
  const csv = join(folder, 'kernel_trace.csv');
  const block = kernelTraceCsv(10_000);
  const body = block.slice(block.indexOf('\n') + 1);
  const fd = openSync(csv, 'w');
  writeSync(fd, block.slice(0, block.indexOf('\n') + 1));
  // Each block starts later than the one before: the first eight digits of the times count up.
  for (let i = 0; i < ROWS / 10_000; i++) writeSync(fd, body.replaceAll(',15500000', `,${15500000 + i}`));
  closeSync(fd);
  const db = join(folder, 'results.db');
  writeRocpd(db, ROWS);
  const json = join(folder, 'results.json');
  writeFileSync(json, rocprofJson(ROWS));
  const cases = [
    ['kernel trace CSV', csv, [], 5],
    ['rocpd database', db, [], 5],
    ['rocprofv3 JSON', json, [], 5],
    ['CSV and Perfetto', csv, ['--perfetto'], 10],
    ['CSV and speedscope', csv, ['--speedscope'], 10],
  ] as const;
  const results = cases.map(() => [] as Record<string, number>[]);
  for (let round = 0; round < ROUNDS; round++) {
    cases.forEach(([, file, more], i) => {
      results[i].push(child('report', file, join(folder, 'out'), ...more));
    });
  }
  console.log(
    'Timed: the command inside a process of its own each, process start not included. The rows differ in their times only.',
  );
  console.log(`${ROWS} dispatches, file to report, median of ${ROUNDS} interleaved rounds`);
  cases.forEach(([name, file, , target], i) => {
    const seconds = median(results[i].map((r) => r.ms)) / 1000;
    const rss = Math.max(...results[i].map((r) => r.rss));
    const size = statSync(file).size / 1e6;
    const cpu = median(results[i].map((r) => r.cpu));
    console.log(
      `  ${name.padEnd(18)} ${size.toFixed(0).padStart(4)} MB  ${seconds.toFixed(2).padStart(6)} s (${target} s / x${(target / seconds).toFixed(1)}), CPU ${cpu.toFixed(2)} s  ` +
        `${rss.toFixed(0).padStart(4)} MB peak (${rss < 400 ? 'under' : 'OVER'} 400 MB)`,
    );
  });
  const traces = { decoded: [] as number[], stitched: [] as number[] };
  const cpuRates = { decoded: [] as number[], stitched: [] as number[] };
  let bytes = 0;
  for (let round = 0; round < ROUNDS; round++) {
    for (const kind of ['decoded', 'stitched'] as const) {
      const result = child('sqtt', kind);
      bytes = result.bytes;
      traces[kind].push(result.bytes / 1e3 / result.ms);
      cpuRates[kind].push(result.bytes / 1e6 / result.cpu);
    }
  }
  console.log(`raw gfx9 thread trace of ${(bytes / 1e6).toFixed(0)} MB`);
  for (const kind of ['decoded', 'stitched'] as const) {
    const rate = median(traces[kind]);
    console.log(
      `  ${kind.padEnd(18)} ${rate.toFixed(1).padStart(6)} MB/s (30 MB/s x ${(rate / 30).toFixed(1)}), per CPU second ${median(cpuRates[kind]).toFixed(1)} MB`,
    );
  }
}
