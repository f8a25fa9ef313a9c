// Modelled against measured times of whole programs on MI300A (../shared/timing): leave-one-program-out first, then all.
// `npm run bench timing -- [--every N] [--seconds S] [--recordings FILE] [--write]`. A file of recordings
// keeps what programs did: the fit can be repeated without running them again. `--write` makes docs/timing-accuracy.md, the error bars of printed times
// (src/device/sim/timing/accuracy-data.ts) and the fitted numbers (chips/mi300a-fitted.ts). Needs clang 22 and the native build.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeChip } from '../src/device/sim/timing/chip.ts';
import { CHIP_NAMES, chipFile } from '../src/device/sim/timing/chips/index.ts';
import { addRecording, collect, loadRecordings, replaySpeed } from './timing/collect.ts';
import { Fit, type FitRow } from './timing/fit.ts';
import { matrixRows, mi300xRows } from './timing/micro.ts';
import { accuracyPage, accuracyTable, fittedNumbers, type Outcome, summary } from './timing/pages.ts';
import { pairTimes } from './timing/pairs.ts';
import { compileProgram, measurementsFolder, readMeasured, readPoints } from './timing/programs.ts';
import { traceRows } from './timing/traces.ts';

/** The programs whose times the chip's numbers may be fitted to; the others are only compared. */
const FITTED = ['atax', 'bitonicsort', 'matrixmultiplication', 'memcopy', 'spmv', 'vectoradd'];
const CHIP = 'mi300a';

const root = process.cwd();
const option = (name: string, otherwise: number): number => {
  const at = process.argv.indexOf(name);
  const value = at < 0 ? otherwise : Number(process.argv[at + 1]);
  if (Number.isInteger(value) && value > 0) return value;
  console.error(`bench: ${name} takes a whole number from 1.`);
  process.exit(2);
};
const every = option('--every', 1);
const seconds = option('--seconds', 60);

const folder = measurementsFolder(root);
if (folder === undefined) {
  console.log('bench: ../shared/timing/mi300a is not beside the checkout; nothing to compare with.');
  process.exit(0);
}
const started = performance.now();
const measured = readMeasured(folder);
const again = readMeasured(folder, 'measured-120cu.csv');
const all = readPoints(folder);
const points = all.filter((_, n) => n % every === 0);
const base = chipFile(CHIP);
const chip = makeChip(base);
const rows: (FitRow & { readonly size: number; readonly series: string })[] = [];
const missing: string[] = [];
const times: number[] = [];
const kept = process.argv[process.argv.indexOf('--recordings') + 1];
const recordings = process.argv.includes('--recordings') && kept !== undefined ? kept : undefined;
const known = recordings !== undefined && existsSync(recordings) ? loadRecordings(recordings) : undefined;
for (const { program, args, size, series } of points) {
  const command = [program, ...args].join(' ');
  let result = known?.get(command);
  if (result === undefined) {
    result = await collect(root, chip, compileProgram(root, folder, program), args, seconds);
    if (recordings !== undefined) addRecording(recordings, { command, result });
  }
  times.push(result.seconds);
  const name = `${program} ${args.join(' ')}`;
  if (result.failure !== undefined) missing.push(`${name}: ${result.failure}`);
  for (const row of result.rows) {
    const time = measured.get(row.key);
    if (time === undefined) missing.push(`${row.key}: not measured`);
    else
      rows.push({
        program,
        measured: time,
        row,
        size,
        series: row.kind === 'copy' ? (row.key.split(',')[0] ?? '') : series,
      });
  }
  process.stderr.write(`\r${rows.length} points, ${name}                    `);
}
process.stderr.write('\n');

const programs = [...new Set(rows.map((r) => r.program))];
const fit = new Fit(base, rows);
const choices = [(p: string) => FITTED.includes(p), ...programs.map((left) => (p: string) => p !== left)];
const [half = [], ...without] = fit.run(choices, (text) => console.error(text));
const outcome = (r: (typeof rows)[number], modelled: number): Outcome => ({
  ...r,
  key: r.row.key,
  kind: r.row.kind,
  modelled,
  again: again.get(r.row.key),
});
const left = programs.flatMap((program, n) => {
  const own = rows.filter((r) => r.program === program);
  return fit
    .residuals(without[n] ?? [], own)
    .map((log, i) => outcome(own[i] as FitRow & Outcome, (own[i] as FitRow).measured * Math.exp(log)));
});
const full = fit
  .residuals(half)
  .map((log, i) => outcome(rows[i] as FitRow & Outcome, (rows[i] as FitRow).measured * Math.exp(log)));

const sorted = [...times].sort((a, b) => a - b);
const micro = [...(await mi300xRows()), ...matrixRows()];
const pairs = await pairTimes('mi300x');
const { rows: traces, unknown } = await traceRows(root);
for (const name of unknown) missing.push(`${name}: the launch of the traced kernel is not known`);
if (every === 1) {
  const modelled = new Set(rows.map((r) => r.row.key));
  for (const key of measured.keys()) if (!modelled.has(key)) missing.push(`${key}: measured, and no time here`);
}
const result = {
  micro,
  pairs,
  traces,
  leftOut: left,
  full,
  fitted: FITTED,
  chip: CHIP,
  product: base.product,
  others: CHIP_NAMES.filter((name) => name !== CHIP).map((name) => chipFile(name)),
  values: half,
  missing,
  points: points.length,
  allPoints: all.length,
  medianSeconds: sorted[Math.floor(sorted.length / 2)] ?? 0,
  maxSeconds: sorted.at(-1) ?? 0,
};
console.log(summary(result));
console.log(
  `${((performance.now() - started) / 1000).toFixed(0)} s; a point takes ${result.medianSeconds.toFixed(1)} s (median), ${result.maxSeconds.toFixed(1)} s at most`,
);
const speed = replaySpeed(
  rows.map((r) => r.row),
  chip,
);
console.log(`the machine replays ${(speed / 1e6).toFixed(2)} M wave instructions in a second of processor time`);
if (process.argv.includes('--write')) {
  const timing = join(root, 'src/device/sim/timing');
  writeFileSync(join(root, 'docs/timing-accuracy.md'), accuracyPage(result));
  writeFileSync(join(timing, 'accuracy-data.ts'), accuracyTable(result));
  writeFileSync(join(timing, 'chips/mi300a-fitted.ts'), fittedNumbers(half, FITTED));
}
