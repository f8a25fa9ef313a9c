// `npm run bench prove`, or `node scripts/run-ts.mjs bench/prove.bench.ts [FILE…] [--edits N] [--mutants N] [--seed N] [--part I --of N]`:
// how much `prove` proves, how long it takes, and whether it is ever wrong. Kernels: the C kernels of the tests at four levels for three
// targets, Triton's, and all kernels of the reference corpus, or the files given. `--part I --of N` takes every N-th from the I-th on;
// `--runnable` only those with a known launch, `--only TEXT` those whose name has the text. For each kernel: the same code compared as if it were different, N random edits that keep
// the function, N random mistakes that the virtual GPU computes something else with (or strict mode objects to). A proved one is UNSOUND.
// Timed: `proveKernel` inside a warm process, without reading the files; milliseconds per 1,000 instructions of both kernels.
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { randomNumbers, WavesmithError } from '../src/base/index.ts';
import { type CodeObject, readCodeObject } from '../src/codeobject/index.ts';
import { type Proof, proveKernel } from '../src/equivalence/index.ts';
import { type CodeEdit, EditableKernel, legalEdit } from '../tests/support/prove-edits.ts';
import { mutant } from '../tests/support/prove-mutants.ts';
import { isWorse, type ProveSubject, runnableSubjects, subjectsOf } from '../tests/support/prove-subjects.ts';

const values: Record<string, number> = { '--edits': 6, '--mutants': 20, '--seed': 1, '--part': 0, '--of': 1 };
const files: string[] = [];
let only = '';
const args = process.argv.slice(2);
for (let i = 0; i < args.length; i++) {
  const name = args[i] as string;
  if (name in values) values[name] = Number(args[++i]);
  else if (name === '--only') only = args[++i] ?? '';
  else if (name !== '--runnable') files.push(name);
}
const [edits, mutants, seed, part, of] = Object.values(values) as [number, number, number, number, number];

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

/** Every kernel, made when its turn comes. */
function all(): (() => ProveSubject)[] {
  if (files.length > 0) return subjectsOf(files).map((subject) => () => subject);
  const runnable = runnableSubjects(only);
  return args.includes('--runnable')
    ? runnable
    : [
        ...runnable,
        ...subjectsOf(corpus())
          .filter(({ name }) => name.includes(only))
          .map((s) => () => s),
      ];
}

const random = randomNumbers(seed + 1000 * part);
const pick = (bound: number): number => Math.floor(random() * bound);
const counts = new Map<string, number>();
const count = (what: string): void => {
  counts.set(what, (counts.get(what) ?? 0) + 1);
};
const speeds: number[] = [];
let worst: Proof | undefined;
let baseline: { readonly subject: ProveSubject; readonly codeObject: CodeObject } | undefined;

function prove(subject: ProveSubject, bytes: Uint8Array): Proof {
  if (baseline?.subject !== subject) baseline = { subject, codeObject: readCodeObject(subject.codeObject) };
  const proof = proveKernel(baseline.codeObject, readCodeObject(bytes), subject.kernel, {
    ignoreIdentity: true,
  });
  const { instructions, milliseconds } = proof.effort;
  if (proof.verdict === 'proved' && instructions > 100) speeds.push((1000 * milliseconds) / instructions);
  if (worst === undefined || milliseconds > worst.effort.milliseconds) worst = proof;
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
    console.log(`UNSOUND: ${subject.name}: ${edit.what}`);
  }
}

for (const make of all().filter((_, i) => i % of === part)) {
  const subject = make();
  const same = prove(subject, subject.codeObject);
  count(`identity ${same.verdict}`);
  if (same.verdict !== 'proved') console.log(`identity: ${subject.name}: ${same.reason}`);
  const kernel = new EditableKernel(subject.codeObject, subject.kernel);
  for (let i = 0; i < edits; i++) {
    const edit = legalEdit(kernel, pick, i);
    if (edit === undefined) continue;
    const proof = prove(subject, edit.bytes);
    if (proof.verdict === 'proved') count(`${edit.kind} proved`);
    else if (isHazard(proof)) count(`${edit.kind} breaks a hazard rule`);
    else {
      count(`${edit.kind} NOT PROVED`);
      console.log(`${edit.kind}: ${subject.name}: ${edit.what}: ${proof.reason}`);
    }
  }
  await tryMistakes(subject, kernel);
}
speeds.sort((a, b) => a - b);
console.log('Timed: proving inside one process, which is warm after the first kernels; reading files is not included.');
for (const [what, n] of [...counts].sort()) console.log(`${what.padEnd(40)} ${n}`);
console.log(`median ms per 1,000 instructions          ${speeds[speeds.length >> 1]?.toFixed(0) ?? '-'}`);
console.log(`worst kernel                              ${worst?.effort.milliseconds} ms (${worst?.kernel})`);
process.exit(counts.has('mutants UNSOUND') ? 1 : 0);
