// `npm run bench prove`, or `node scripts/run-ts.mjs bench/prove.bench.ts [FILE…] [--edits N] [--mutants N] [--seed N] [--part I --of N]`:
// how much `prove` proves, how long it takes, and whether it is ever wrong. Kernels: the C kernels of the tests at four levels for three
// targets, Triton's, and all kernels of the reference corpus, or the files given. `--part I --of N` takes every N-th from the I-th on;
// `--runnable` only those with a known launch, `--only TEXT` those whose name has the text, `--seconds N` begins no kernel after that
// time. `--record FILE` appends a line per kernel and passes over those that the file has with this seed; with `--total` only the sums
// of the file are printed. For each kernel: the same code compared as if it were different, N random edits that keep
// the function, N random mistakes that the virtual GPU computes something else with (or strict mode objects to). A proved one is UNSOUND.
// Timed: `proveKernel` inside a warm process, without reading the files: processor time, in milliseconds per 1,000 instructions of both
// kernels.
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { randomNumbers, WavesmithError } from '../src/base/index.ts';
import { type CodeObject, readCodeObject } from '../src/codeobject/index.ts';
import { processorTime } from '../src/equivalence/budget.ts';
import { type Proof, proveKernel } from '../src/equivalence/index.ts';
import { type CodeEdit, EditableKernel, legalEdit } from '../tests/support/prove-edits.ts';
import { mutant } from '../tests/support/prove-mutants.ts';
import { isWorse, type ProveSubject, runnableSubjects, subjectsOf } from '../tests/support/prove-subjects.ts';

const values: Record<string, number> = {
  '--edits': 6,
  '--mutants': 20,
  '--seed': 1,
  '--part': 0,
  '--of': 1,
  '--seconds': Number.POSITIVE_INFINITY,
};
const files: string[] = [];
let only = '';
let record: string | undefined;
const args = process.argv.slice(2);
for (let i = 0; i < args.length; i++) {
  const name = args[i] as string;
  if (name in values) values[name] = Number(args[++i]);
  else if (name === '--only') only = args[++i] ?? '';
  else if (name === '--record') record = args[++i];
  else if (name !== '--runnable' && name !== '--total') files.push(name);
}
const [edits, mutants, seed, part, of, seconds] = Object.values(values) as [
  number,
  number,
  number,
  number,
  number,
  number,
];

/** What was found about one kernel: a line of the record. */
interface Line {
  readonly name: string;
  readonly seed: number;
  readonly counts: Readonly<Record<string, number>>;
  /** Milliseconds per 1,000 instructions of each proof. */
  readonly speeds: readonly number[];
  readonly worst: { readonly milliseconds: number; readonly kernel: string };
  /** What was said. */
  readonly log: readonly string[];
}

/** Code objects and modules of the reference data beside the checkout. */
function corpus(): string[] {
  const shared = join(dirname(dirname(resolve(process.argv[1] ?? '.'))), '..', 'shared');
  return ['corpus/gfx942', 'corpus/gfx950', 'corpus/gfx90a', 'vmfb'].flatMap((name) => {
    const folder = join(shared, name);
    if (!existsSync(folder)) return [];
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(?:co|vmfb)$/.test(file))
      .sort()
      .map((file) => join(folder, file));
  });
}

/** Every kernel by its name, made when its turn comes. */
function all(): (readonly [string, () => ProveSubject])[] {
  const named = (list: readonly ProveSubject[]) => list.map((s) => [s.name, () => s] as const);
  if (files.length > 0) return named(subjectsOf(files));
  const runnable = runnableSubjects(only);
  if (args.includes('--runnable')) return runnable;
  return [...runnable, ...named(subjectsOf(corpus()).filter(({ name }) => name.includes(only)))];
}

/** Begins anew with every kernel, so that a run that goes on where another stopped makes the same edits. */
let random = randomNumbers(seed);
const startRandom = (name: string): void => {
  random = randomNumbers([...name].reduce((hash, c) => (hash * 31 + c.charCodeAt(0)) % 1_000_003, seed));
};
const pick = (bound: number): number => Math.floor(random() * bound);
let counts: Record<string, number> = {};
const count = (what: string): void => {
  counts[what] = (counts[what] ?? 0) + 1;
};
let speeds: number[] = [];
let worst = { milliseconds: 0, kernel: '' };
let log: string[] = [];
const say = (text: string): void => {
  log.push(text);
  console.log(text);
};
let baseline: { readonly subject: ProveSubject; readonly codeObject: CodeObject } | undefined;

function prove(subject: ProveSubject, bytes: Uint8Array): Proof {
  if (baseline?.subject !== subject) baseline = { subject, codeObject: readCodeObject(subject.codeObject) };
  const edited = readCodeObject(bytes);
  const started = processorTime();
  const proof = proveKernel(baseline.codeObject, edited, subject.kernel, { ignoreIdentity: true });
  const milliseconds = Math.round(processorTime() - started);
  const { instructions } = proof.effort;
  if (proof.verdict === 'proved' && instructions > 100) speeds.push((1000 * milliseconds) / instructions);
  if (milliseconds > worst.milliseconds) worst = { milliseconds, kernel: subject.name };
  return proof;
}

/** Whether the checker, and not the comparison, stopped a legal edit: the random order broke a hazard rule. */
const isHazard = ({ reason }: Proof): boolean => reason?.startsWith('The checker objects') === true;

/** Mistakes about time, which change no result of the virtual GPU outside of strict mode. */
const IN_TIME = new Set(['wait', 'moved', 'swapped', 'deleted', 'copied', 'intruder']);

/** The proof of a mistake; undefined: it is no kernel any more. */
function proofOf(subject: ProveSubject, { bytes }: CodeEdit): Proof | undefined {
  try {
    return prove(subject, bytes);
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    return undefined;
  }
}

async function tryMistakes(subject: ProveSubject, kernel: EditableKernel): Promise<void> {
  const { outputs } = subject;
  if (outputs === undefined) return;
  const right = (await outputs(subject.codeObject, undefined)).memory;
  let found = 0;
  for (let i = 0; i < 5 * mutants && found < mutants; i++) {
    const edit = mutant(kernel, pick);
    if (edit === undefined) continue;
    const isOther = (await outputs(edit.bytes, undefined)).memory !== right;
    if (!isOther && !IN_TIME.has(edit.kind)) continue;
    const proof = proofOf(subject, edit);
    const isWrong = isOther || (proof?.verdict === 'proved' && (await isWorse(subject, edit.bytes)));
    if (!isWrong) continue;
    found++;
    count('mutants that change results');
    count(`  ${edit.kind.split(' ')[0]}`);
    if (proof?.verdict !== 'proved') continue;
    count('mutants UNSOUND');
    say(`UNSOUND: ${subject.name}: ${edit.what}`);
  }
}

async function measure(subject: ProveSubject): Promise<Line> {
  [counts, speeds, worst, log] = [{}, [], { milliseconds: 0, kernel: '' }, []];
  startRandom(subject.name);
  const same = prove(subject, subject.codeObject);
  count(`identity ${same.verdict}`);
  if (same.verdict !== 'proved') say(`identity: ${subject.name}: ${same.reason}`);
  const kernel = new EditableKernel(subject.codeObject, subject.kernel);
  for (let i = 0; i < edits; i++) {
    const edit = legalEdit(kernel, pick, i);
    if (edit === undefined) continue;
    const proof = prove(subject, edit.bytes);
    if (proof.verdict === 'proved') count(`${edit.kind} proved`);
    else if (isHazard(proof)) count(`${edit.kind} breaks a hazard rule`);
    else {
      count(`${edit.kind} NOT PROVED`);
      say(`${edit.kind}: ${subject.name}: ${edit.what}: ${proof.reason}`);
    }
  }
  await tryMistakes(subject, kernel);
  return { name: subject.name, seed, counts, speeds, worst, log };
}

function printTotal(lines: readonly Line[]): void {
  const total = new Map<string, number>();
  for (const line of lines) {
    for (const [what, n] of Object.entries(line.counts)) total.set(what, (total.get(what) ?? 0) + n);
  }
  const all = lines.flatMap((line) => line.speeds).sort((a, b) => a - b);
  const longest = lines.map((line) => line.worst).sort((a, b) => b.milliseconds - a.milliseconds)[0];
  console.log(
    'Timed: processor time of proving inside one process, which is warm after the first kernels; reading files is not included.',
  );
  console.log(`${'kernels'.padEnd(40)} ${new Set(lines.map(({ name }) => name)).size}`);
  for (const [what, n] of [...total].sort()) console.log(`${what.padEnd(40)} ${n}`);
  const sum = (end: string): number =>
    [...total].reduce((n, [what, m]) => (what.endsWith(end) && !what.startsWith('identity') ? n + m : n), 0);
  console.log(`edits that keep the function: proved     ${sum(' proved')} of ${sum(' proved') + sum('NOT PROVED')}`);
  console.log(`median ms per 1,000 instructions          ${all[all.length >> 1]?.toFixed(0) ?? '-'}`);
  console.log(`worst kernel                              ${longest?.milliseconds} ms (${longest?.kernel})`);
  if (total.has('mutants UNSOUND')) process.exitCode = 1;
}

const recorded: Line[] =
  record !== undefined && existsSync(record)
    ? readFileSync(record, 'utf8')
        .split('\n')
        .filter((text) => text !== '')
        .map((text) => JSON.parse(text) as Line)
    : [];
if (args.includes('--total')) {
  for (const text of recorded.flatMap((line) => line.log)) console.log(text);
} else {
  const started = performance.now();
  const known = new Set(recorded.filter((line) => line.seed === seed).map(({ name }) => name));
  for (const [name, make] of all().filter((_, i) => i % of === part)) {
    if (known.has(name)) continue;
    if (performance.now() - started > 1000 * seconds) break;
    const line = await measure(make());
    recorded.push(line);
    if (record !== undefined) appendFileSync(record, `${JSON.stringify(line)}\n`);
  }
}
printTotal(recorded);
