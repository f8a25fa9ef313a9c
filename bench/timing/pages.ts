// What the benchmark of the clock prints and writes: statistics of outcomes, the page of docs, the error bars, the fitted numbers.
import type { ChipFile } from '../../src/device/sim/timing/chip.ts';
import { fittedValue, PARAMETERS, type Values } from './fit.ts';
import type { MicroRow } from './micro.ts';
import type { PairTime } from './pairs.ts';
import { errorFactor, geometricMean, geometricSigma, type Pair, slopeError, spearman, wmape } from './statistics.ts';

/** A measured point and its model. Times in ms. */
export interface Outcome extends Pair {
  readonly program: string;
  readonly key: string;
  readonly kind: string;
  readonly series: string;
  readonly size: number;
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

/** A few lines: what was left out first. */
export function summary({ leftOut, full, fitted, missing, points, micro, pairs }: Result): string {
  const held = full.filter((o) => !fitted.includes(o.program));
  const large = (outcomes: readonly Outcome[]): Outcome[] => outcomes.filter((o) => o.measured >= 0.01);
  const lines: [string, readonly Outcome[]][] = [
    ['leave one program out', leftOut],
    ['  of them ≥ 0.01 ms', large(leftOut)],
    [`fitted to ${fitted.length}: the others`, held],
    [`fitted to ${fitted.length}: all`, full],
    ['  of them ≥ 0.01 ms', large(full)],
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
constant error too. The slope error is that of a least-squares line of time over size, averaged over series.

${table(
  ['', ...COLUMNS],
  [
    ['**leave one program out**', ...figures(leftOut)],
    [`fitted to ${fitted.join(', ')}: the other programs`, ...figures(held)],
    ['the same: all programs', ...figures(full)],
  ],
)}

**The first line is the one to believe.** Each program is modelled there with numbers fitted to the other programs. The form of the model is
not left out: it was made by people who had seen ten of the thirteen programs, and so were the numbers that the fit starts from.

A program is often compiled otherwise than it was when it was measured. \`stencil2d\` waits for each of its 18 loads in clang 22's code, which
alone takes longer than the whole measured kernel.

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
guess at theirs. Matrix instructions: cycles by AMD's matrix instruction calculator against the model's throughput of 4 waves on a SIMD.

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
  ['program and size', 'class', 'measured', 'left out', 'ratio', 'fitted', 'ratio'],
  leftOut.map((o) => {
    const now = byKey.get(o.key) ?? Number.NaN;
    const ratio = (t: number): string => (t / o.measured).toFixed(2);
    return [o.key, o.kind, o.measured.toFixed(4), o.modelled.toFixed(4), ratio(o.modelled), now.toFixed(4), ratio(now)];
  }),
)}
${r.missing.length === 0 ? '' : `\nWithout a time:\n\n${r.missing.map((m) => `- ${m}`).join('\n')}\n`}`;
}

/** accuracy-data.ts: the errors of left-out programs by class. */
export function accuracyTable({ leftOut, chip }: Result): string {
  const classes = groups(leftOut, (o) => o.kind).filter(([kind]) => kind !== 'copy');
  const lines = classes.map(
    ([kind, own]) => `    ${kind}: { points: ${own.length}, factor: ${errorFactor(own).toFixed(3)} },`,
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

const FIT = 'fitted to ${fitted.join(', ')} on MI300A (docs/timing-accuracy.md)';

export const MI300A_FITTED: ChipNumbers = {
${lines.join('\n')}
};
`;
}
