// What the benchmark of the clock prints and writes: statistics of outcomes, the page of docs, the error bars, the fitted numbers.
import type { ChipFile } from '../../src/device/sim/timing/chip.ts';
import { fittedValue, PARAMETERS, type Values } from './fit.ts';
import type { MicroRow } from './micro.ts';
import type { PairTime } from './pairs.ts';
import { errorFactor, geometricMean, geometricSigma, type Pair, slopeError, spearman, wmape } from './statistics.ts';
import { stepError, type TraceRow, timeError } from './traces.ts';

/** A measured point and its model. Times in ms. */
export interface Outcome extends Pair {
  readonly program: string;
  readonly key: string;
  readonly kind: string;
  readonly series: string;
  readonly size: number;
  /** The same point in the second file of measured times. */
  readonly again: number | undefined;
}

export interface Result {
  /** Each program with numbers fitted to the others. */
  readonly leftOut: readonly Outcome[];
  /** With the numbers fitted to `fitted`, which are what `exec --timing` uses. */
  readonly full: readonly Outcome[];
  readonly fitted: readonly string[];
  readonly chip: string;
  readonly product: string;
  readonly others: readonly ChipFile[];
  readonly values: Values;
  readonly missing: readonly string[];
  readonly micro: readonly MicroRow[];
  readonly pairs: readonly PairTime[];
  readonly traces: readonly TraceRow[];
  readonly points: number;
  readonly allPoints: number;
  readonly medianSeconds: number;
  readonly maxSeconds: number;
}

const percent = (part: number): string => `${(100 * part).toFixed(1)}%`;

function groups<T>(items: readonly T[], key: (item: T) => string): [string, T[]][] {
  const out = new Map<string, T[]>();
  for (const item of items) out.set(key(item), [...(out.get(key(item)) ?? []), item]);
  return [...out];
}

/** Mean error of the slope of time over size of all series. */
function meanSlopeError(outcomes: readonly Outcome[]): number {
  const errors = groups(outcomes, (o) => o.series).flatMap(([, own]) => slopeError(own) ?? []);
  return errors.reduce((a, b) => a + b, 0) / Math.max(1, errors.length);
}

const COLUMNS = ['points', 'WMAPE', 'σ', 'model/measured', 'factor', 'Spearman', 'slope error'];

function figures(outcomes: readonly Outcome[]): string[] {
  return [
    String(outcomes.length),
    percent(wmape(outcomes)),
    geometricSigma(outcomes).toFixed(3),
    geometricMean(outcomes).toFixed(2),
    errorFactor(outcomes).toFixed(2),
    outcomes.length < 3 ? '–' : spearman(outcomes).toFixed(3),
    percent(meanSlopeError(outcomes)),
  ];
}

/** How the hardware's second measurement does as a model of its first. */
const hardware = (outcomes: readonly Outcome[]): Outcome[] =>
  outcomes.flatMap((o) => (o.again === undefined ? [] : [{ ...o, modelled: o.again }]));

/** The outcomes as if only the second measurement were known. */
const afresh = (outcomes: readonly Outcome[]): Outcome[] =>
  outcomes.flatMap((o) => (o.again === undefined ? [] : [{ ...o, measured: o.again }]));

/** Measured times, in ms, below which host and clock make two measurements differ. */
const LONG = 0.5;
/** Part by which two measurements of a long point differ that do not agree. */
const UNLIKE = 0.1;

/** Long points whose two measurements do not agree. */
function unlike(outcomes: readonly Outcome[]): string {
  const found = outcomes.filter(({ measured, again }) => {
    return again !== undefined && measured >= LONG && Math.abs(Math.log(again / measured)) > UNLIKE;
  });
  return found.map((o) => `\`${o.key}\` (${o.measured} and ${o.again} ms)`).join(', ');
}

/** A few lines: what was left out first. */
export function summary({ leftOut, full, fitted, missing, points, micro, pairs, traces }: Result): string {
  const held = full.filter((o) => !fitted.includes(o.program));
  const large = (outcomes: readonly Outcome[]): Outcome[] => outcomes.filter((o) => o.measured >= 0.01);
  const lines: [string, readonly Outcome[]][] = [
    ['leave one program out', leftOut],
    ['  of them ≥ 0.01 ms', large(leftOut)],
    [`fitted to ${fitted.length}: the others`, held],
    [`fitted to ${fitted.length}: all`, full],
    ['  of them ≥ 0.01 ms', large(full)],
    ['left out, measured again', afresh(leftOut)],
    ['hardware against itself', hardware(leftOut)],
  ];
  const row = (name: string, cells: readonly string[]): string =>
    name.padEnd(28) + cells.map((c) => c.padStart(15)).join('');
  const programs = groups(leftOut, (o) => o.program).map(([name, own]) => row(`  ${name}`, figures(own)));
  return [
    `${points} commands, ${leftOut.length} measured rows, ${missing.length} without a time`,
    row('', COLUMNS),
    ...lines.map(([name, own]) => row(name, figures(own))),
    'microbenchmarks:',
    ...micro.map(
      (m) =>
        `  ${m.what.padEnd(60)} ${m.chip} ${m.measured.toPrecision(4)} ${m.unit}: modelled ${m.modelled.toPrecision(4)}`,
    ),
    `order of ${pairs.length} pairs: ${orderText(pairs)}`,
    'thread traces of gfx950:',
    ...traces.map((t) => `  ${traceText(t)}`),
    'left out, by program:',
    ...programs,
    ...missing.map((m) => `  no time: ${m}`),
  ].join('\n');
}

const table = (head: readonly string[], lines: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** How many pairs are in their order. */
function orderText(pairs: readonly PairTime[]): string {
  const seen = pairs.filter((p) => Math.abs(p.slow / p.fast - 1) >= 0.05);
  const right = seen.filter((p) => p.slow > p.fast);
  return `${seen.length} differ by 5% or more in the model, and ${right.length} of them (${percent(right.length / seen.length)}) are in the right order`;
}

/** How far a trace is from its model, in a sentence. */
function traceText(t: TraceRow): string {
  const span = `${t.span.waves} waves last ${t.span.measured} cycles (median), modelled ${t.span.modelled.toFixed(0)}`;
  if (t.instructions.length === 0) return `${t.kernel}: ${span}`;
  const errors = `median error ${percent(timeError(t))} of the time since the wave's start, ${percent(stepError(t))} of the time to the next one`;
  return `${t.kernel}: ${t.instructions.length} instructions of ${t.waves} waves, ${errors}; ${span}`;
}

/** Measured and modelled values as a chart that Markdown viewers draw. */
function chart(title: string, x: readonly string[], y: string, lines: readonly (readonly number[])[]): string {
  return [
    '```mermaid',
    'xychart-beta',
    `  title "${title}"`,
    `  x-axis [${x.map((label) => `"${label}"`).join(', ')}]`,
    `  y-axis "${y}"`,
    ...lines.map((line) => `  line [${line.map((v) => Number(v.toPrecision(4))).join(', ')}]`),
    '```',
  ].join('\n');
}

/** The figures of one footprint or size each: the rows whose names differ in their last number. */
function curves(micro: readonly MicroRow[]): string {
  const series = groups(
    micro.filter((m) => /\d [KMG]B\b/.test(m.what)),
    (m) => m.what.replace(/,? (?:of )?\d+ [KMG]B/, ''),
  );
  return series
    .filter(([, rows]) => rows.length > 2)
    .map(([name, rows]) =>
      chart(
        `${name}: measured, then modelled`,
        rows.map((m) => /\d+ [KMG]B/.exec(m.what)?.[0] ?? ''),
        rows[0]?.unit ?? '',
        [rows.map((m) => m.measured), rows.map((m) => m.modelled)],
      ),
    )
    .join('\n\n');
}

/** The section on thread traces. */
function traceSection(traces: readonly TraceRow[]): string {
  const long = traces.filter((t) => t.instructions.length > 0);
  return `## Thread traces

gfx950 hardware (\`../shared/profiles/sqtt\`) against MI350X: when the traced waves came to each instruction, in cycles since their start. Every launch
is the first of its process: nothing is in a cache, and no address has been translated. \`l1i.miss\` and \`tlb.miss\` were taken from the
waves whose instructions are traced; all other waves were not looked at for them.

${traces.map((t) => `- ${traceText(t)}.`).join('\n')}

${long
  .map((t) =>
    chart(
      `${t.kernel}: measured, then modelled`,
      t.instructions.map((_, n) => String(n)),
      'cycles since the start of the wave',
      [t.instructions.map((i) => i.measured), t.instructions.map((i) => i.modelled)],
    ),
  )
  .join('\n\n')}

${long
  .map((t) =>
    table(
      ['instruction', 'measured', 'modelled'],
      t.instructions.map((i) => [`\`${i.text}\``, i.measured.toFixed(0), i.modelled.toFixed(0)]),
    ),
  )
  .join('\n\n')}
`;
}

/** docs/timing-accuracy.md. */
export function accuracyPage(r: Result): string {
  const { leftOut, full, fitted } = r;
  const byKey = new Map(full.map((o) => [o.key, o.modelled]));
  const held = full.filter((o) => !fitted.includes(o.program));
  return `# How far modelled times are from measured ones

<!-- Written by \`npm run bench timing -- --write\`. Do not edit. -->

Measured: ${r.product}, 228 CUs, the least of 51 launches between two events (sarchlab/mgpusim, \`gpu_perf_scripts\`). ${r.points} of ${r.allPoints} commands of
13 HIP programs, evenly spread, were compiled by clang 22 and run under the clock; ${leftOut.length} rows have both times. WMAPE is the sum of errors over the sum of measured
times. σ is the geometric standard deviation of modelled / measured. The factor is the root mean square of its logarithm, so it counts a
constant error too. The slope error is |modelled / measured - 1| of the slope of a least-squares line of time over size, averaged over the series of
three sizes and more: each counts the same, the four of \`fir\`, whose measured times grow by 1 to 2 µs, as the one of \`nbody\`. A series has points that
differ in size alone, so \`conv2d\` has one for each mask.

${table(
  ['', ...COLUMNS],
  [
    ['**leave one program out**', ...figures(leftOut)],
    [`fitted to ${fitted.join(', ')}: the other programs`, ...figures(held)],
    ['the same: all programs', ...figures(full)],
    ['leave one program out, against the second measurement', ...figures(afresh(leftOut))],
    ['the hardware against itself: second measurement over first', ...figures(hardware(leftOut))],
  ],
)}

**The first line is the one to believe.** Each program is modelled there with numbers fitted to the other programs. The form of the model is
not left out: it was made by people who had seen the times of all thirteen programs, and so were the numbers that the fit starts from.

There is a second file of times of the same programs, of 5 launches each. Its name says 120 CUs, but kernels that keep the whole chip busy with
arithmetic take as long there (\`nbody\`, \`matrixmultiplication\`): it is the same chip measured again. The last line is what a model without any
error would show. Long points that the hardware itself did not repeat within ${percent(UNLIKE)}: ${unlike(leftOut)}.

A program is often compiled otherwise than it was when it was measured. The programs here are built as they were (\`hipcc -O2\`), with one more
option: \`-mllvm -amdgpu-sched-strategy=max-memory-clause\`. Without it clang 22 waits for each of the 18 loads of \`stencil2d\`, which alone takes
longer than the whole measured kernel; LLVM 19, which is of the time of the measurements, sends them together.

## By class, left out

${table(
  ['class', ...COLUMNS],
  groups(leftOut, (o) => o.kind).map(([kind, own]) => [kind, ...figures(own)]),
)}

Printed times carry the factor of their class, when it has three points.

## By program, left out

${table(
  ['program', ...COLUMNS],
  groups(leftOut, (o) => o.program).map(([name, own]) => [name, ...figures(own)]),
)}

## Other chips

${r.others.map((c) => `- ${c.name}: ${c.validation === 'none' ? 'never compared with hardware.' : `compared with ${c.validation}; no whole programs.`}`).join('\n')}

## Microbenchmarks

MI300X: slopes over the length of small kernels (\`../shared/timing/mi300x\`). The measured programs' code is not published, so a loop here is a
guess at theirs. Packed f32 FMAs of 4 waves are the row that is off: waves that take turns and lose a slot of the vector unit with each taken branch would
take 12.0 cycles, f64 and f16 20.0, but \`nbody\`, \`matrixmultiplication\` and \`fir\` fit better with the oldest wave first. Matrix instructions: cycles by AMD's matrix instruction calculator against the model's throughput of 4 waves on a SIMD.

${table(
  ['what', 'chip', 'unit', 'measured', 'modelled', 'ratio'],
  r.micro.map((m) => [
    m.what,
    m.chip,
    m.unit,
    m.measured.toPrecision(4),
    m.modelled.toPrecision(4),
    (m.modelled / m.measured).toFixed(2),
  ]),
)}

${curves(r.micro)}

${traceSection(r.traces)}
## Order of variants

Pairs of small kernels of which one is known to be faster, by what is published about banks, coalescing, wide accesses, loads in flight,
unrolling, occupancy, barriers and rates. They are rules, not measured pairs. MI300X, ${r.pairs.length} pairs: ${orderText(r.pairs)}.

${table(
  ['pair', 'faster, cycles', 'slower, cycles', 'ratio'],
  r.pairs.map((p) => [p.name, p.fast.toFixed(0), p.slow.toFixed(0), (p.slow / p.fast).toFixed(2)]),
)}

## Fitted numbers

${table(
  ['number', 'before', 'width', 'fitted', 'what is known without programs'],
  PARAMETERS.map((p, n) => [
    `\`${p.field}\``,
    String(p.prior),
    `×${Math.exp(p.width).toFixed(2)}`,
    String(fittedValue(p, r.values[n] ?? 0)),
    p.source,
  ]),
)}

## Every point

Milliseconds. "Left out" is the model whose numbers were fitted without the program.

${table(
  ['program and size', 'class', 'measured', 'again', 'left out', 'ratio', 'fitted', 'ratio'],
  leftOut.map((o) => {
    const now = byKey.get(o.key) ?? Number.NaN;
    const ratio = (t: number): string => (t / o.measured).toFixed(2);
    const times = [o.measured, o.again].map((t) => t?.toFixed(4) ?? '–');
    return [o.key, o.kind, ...times, o.modelled.toFixed(4), ratio(o.modelled), now.toFixed(4), ratio(now)];
  }),
)}
${r.missing.length === 0 ? '' : `\nWithout a time:\n\n${r.missing.map((m) => `- ${m}`).join('\n')}\n`}`;
}

/** accuracy-data.ts: the errors of left-out programs by class. */
export function accuracyTable({ leftOut, chip }: Result): string {
  const classes = groups(leftOut, (o) => o.kind).filter(([kind]) => kind !== 'copy');
  const lines = classes.map(
    ([kind, own]) => `    ${kind}: { points: ${own.length}, factor: ${Number(errorFactor(own).toFixed(3))} },`,
  );
  return `// Written by \`npm run bench timing -- --write\`. Do not edit.
import type { ClassAccuracy } from './limits.ts';

export const ACCURACY: Readonly<Record<string, Readonly<Record<string, ClassAccuracy>>>> = {
  ${chip}: {
${lines.join('\n')}
  },
};
`;
}

/** chips/mi300a-fitted.ts. */
export function fittedNumbers(values: Values, fitted: readonly string[]): string {
  const lines = PARAMETERS.map(
    (p, n) => `  '${p.field}': [${fittedValue(p, values[n] ?? 0)}, \`\${FIT}; before: ${p.prior}, ${p.source}\`],`,
  );
  return `// Written by \`npm run bench timing -- --write\`. Do not edit.
import type { ChipNumbers } from '../chip.ts';

const FIT =
  'fitted to ${fitted.join(', ')} on MI300A (docs/timing-accuracy.md)';

export const MI300A_FITTED: ChipNumbers = {
${lines.join('\n')}
};
`;
}
