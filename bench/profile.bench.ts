// Profile analysis at scale: a one-million-row kernel trace as CSV, rocpd and JSON from file to report, also with 200,000 kernels; raw thread traces. CSV also with
// 1,000 kernels in no order on four queues, with names of 4 KB, and with a million API calls and a million markers beside it.
// `npm run bench -- profile --only WORD…` takes the cases whose names contain one of the words.
// Each case runs in a process of its own, so that the peak memory is its own. Targets: 5 s, 400 MB; with calls 8 s; each export 10 s; 30 MB/s.
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  const dist = join(process.cwd(), 'dist');
  const boot = createRequire(import.meta.url)(join(dist, 'boot.cjs')) as {
    start: (dist: string, argv: string[]) => Promise<number>;
  };
  const more = exporter === undefined ? [] : [exporter, join(out, 'export.json')];
  if ((await boot.start(dist, ['profile', path, '-o', out, '--arch', 'gfx950', ...more])) !== 0)
    throw new Error(`profile of ${path} failed`);
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
  // The threads that read large files are there in a built command only.
  const built = spawnSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' });
  if (built.status !== 0) throw new Error('dist/ could not be built');
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-bench-'));
  try {
    main(
      folder,
      process.argv.slice(2).filter((word) => !word.startsWith('--')),
    );
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

/** Writes a text line by line, many lines at once. */
function writeLines(path: string, header: string, line: (i: number) => string): void {
  const fd = openSync(path, 'w');
  writeSync(fd, `${header}\n`);
  for (let first = 0; first < ROWS; first += 10_000) {
    let text = '';
    for (let i = first; i < first + 10_000; i++) text += `${line(i)}\n`;
    writeSync(fd, text);
  }
  closeSync(fd);
}

/** Numbers below `n` in no order, the same in each run. */
function chance(): (n: number) => number {
  let state = 7;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

/** Names of `length` bytes, of every tenth kernel `longest`. */
function kernelNames(kernels: number, length: number, longest = length): string[] {
  return Array.from({ length: kernels }, (_, k) =>
    `void ns::kernel<${k}, ns::Tuple<int, `.padEnd(k % 10 === 0 ? longest : length, `ns::Sequence<${k}, 4>, `),
  );
}

/** Writes a folder with a trace of kernels whose names have `length` bytes, of every tenth `longest`. */
function writeTrace(folder: string, kernels: number, length: number, longest = length): string {
  mkdirSync(folder);
  const any = chance();
  const names = kernelNames(kernels, length, longest);
  const header = kernelTraceCsv(0).trim();
  let time = 1_550_000_000_000_000;
  writeLines(join(folder, '500_kernel_trace.csv'), header, (i) => {
    // Each kernel is there, and with few kernels some far more often than others.
    const k = kernels > 10_000 ? (i * 7919) % kernels : Math.min(any(kernels), any(kernels));
    const [queue, ns, groups] = [1 + any(4), 1000 + any(20_000), 64 << any(4)];
    time += (ns >> 1) + any(4000);
    return `"KERNEL_DISPATCH","Agent 2",${queue},${queue},77,${i + 1},${k + 10},"${names[k]}",${i + 1},${time},${time + ns},${(k % 4) * 1024},0,${16 + 8 * (k % 8)},0,32,256,1,1,${256 * groups},1,1`;
  });
  return folder;
}

function writeCalls(path: string, domain: string, name: (i: number) => string): void {
  const any = chance();
  const header = '"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"';
  let time = 1_550_000_000_000_000;
  writeLines(path, header, (i) => {
    time += 200 + any(5000);
    return `"${domain}","${name(i)}",500,${77 + any(4)},${i + 1},${time},${time + 150}`;
  });
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

function main(folder: string, words: readonly string[]): void {
  /** Makes a file when it is asked for first. */
  const once = (make: () => string): (() => string) => {
    let path: string | undefined;
    return () => (path ??= make());
  };
  const written = (name: string, write: (path: string) => void): (() => string) =>
    once(() => {
      write(join(folder, name));
      return join(folder, name);
    });
  const csv = written('kernel_trace.csv', (path) => {
    const block = kernelTraceCsv(10_000);
    const body = block.slice(block.indexOf('\n') + 1);
    const fd = openSync(path, 'w');
    writeSync(fd, block.slice(0, block.indexOf('\n') + 1));
    // Each block starts later than the one before: the first eight digits of the times count up.
    for (let i = 0; i < ROWS / 10_000; i++) writeSync(fd, body.replaceAll(',15500000', `,${15500000 + i}`));
    closeSync(fd);
  });
  const thousand = once(() => writeTrace(join(folder, 'thousand'), 1000, 200));
  // Three grids each: there are 600,000 different launches.
  const kernels = { kernels: kernelNames(200_000, 200), grids: 3 };
  const calls = once(() => {
    const path = join(folder, 'calls');
    writeTrace(path, 1000, 200);
    writeCalls(join(path, '500_hip_api_trace.csv'), 'HIP_RUNTIME_API', (i) => `hipFunction${i % 8}`);
    writeCalls(join(path, '500_marker_api_trace.csv'), 'MARKER_CORE_API', (i) => `step ${Math.floor(i / 10)}`);
    return path;
  });
  const all = [
    ['kernel trace CSV', csv, [], 5],
    ['1,000 kernels', thousand, [], 5],
    ['200,000 kernels', once(() => writeTrace(join(folder, 'many'), 200_000, 200)), [], 5],
    ['200,000 in rocpd', written('many.db', (path) => writeRocpd(path, ROWS, undefined, kernels)), [], 5],
    ['200,000 in JSON', written('many.json', (path) => writeFileSync(path, rocprofJson(ROWS, kernels))), [], 5],
    ['names of 4 KB', once(() => writeTrace(join(folder, 'long'), 1000, 200, 4096)), [], 5],
    ['calls and markers', calls, [], 8],
    ['rocpd database', written('results.db', (path) => writeRocpd(path, ROWS)), [], 5],
    ['rocprofv3 JSON', written('results.json', (path) => writeFileSync(path, rocprofJson(ROWS))), [], 5],
    ['CSV and Perfetto', thousand, ['--perfetto'], 10],
    ['CSV and speedscope', thousand, ['--speedscope'], 10],
  ] as const;
  const isAsked = (name: string): boolean => words.length === 0 || words.some((word) => name.includes(word));
  const cases = all.flatMap(([name, make, more, target]) =>
    isAsked(name) ? [[name, make(), more, target] as const] : [],
  );
  if (cases.length > 0) timeReports(folder, cases);
  if (isAsked('raw thread trace')) timeTraces();
}

type ReportCase = readonly [name: string, path: string, options: readonly string[], target: number];

function timeReports(folder: string, cases: readonly ReportCase[]): void {
  const results = cases.map(() => [] as Record<string, number>[]);
  for (let round = 0; round < ROUNDS; round++) {
    cases.forEach(([, file, more], i) => {
      results[i].push(child('report', file, join(folder, 'out'), ...more));
    });
  }
  console.log(
    'Timed: the built command inside a process of its own each, process start not included. CPU is that of all threads.',
  );
  console.log(`${ROWS} dispatches, file to report, median of ${ROUNDS} interleaved rounds`);
  cases.forEach(([name, file, , target], i) => {
    const seconds = median(results[i].map((r) => r.ms)) / 1000;
    const rss = Math.max(...results[i].map((r) => r.rss));
    const files = statSync(file).isDirectory() ? readdirSync(file).map((name) => join(file, name)) : [file];
    const size = files.reduce((sum, path) => sum + statSync(path).size, 0) / 1e6;
    const cpu = median(results[i].map((r) => r.cpu));
    console.log(
      `  ${name.padEnd(18)} ${size.toFixed(0).padStart(4)} MB  ${seconds.toFixed(2).padStart(6)} s (${target} s / x${(target / seconds).toFixed(1)}), CPU ${cpu.toFixed(2)} s  ` +
        `${rss.toFixed(0).padStart(4)} MB peak (${rss < 400 ? 'under' : 'OVER'} 400 MB)`,
    );
  });
}

function timeTraces(): void {
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
