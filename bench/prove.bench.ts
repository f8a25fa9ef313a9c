// `npm run bench prove`, or `node scripts/run-ts.mjs bench/prove.bench.ts [FILE…] [--edits N] [--mutants N] [--seed N] [--part I --of N]`
// (every N-th kernel from the I-th on): how much `prove` proves and how long it takes. For each kernel: the
// same code compared as if it were different, N random edits that keep the function, N random mistakes. The virtual GPU runs every
// mistake that was proved (kernels with a known launch only): one that changes a result or that strict mode objects to is UNSOUND.
// Timed: `proveKernel` inside a warm process, without reading the files; milliseconds per 1,000 instructions of both kernels.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { randomNumbers, WavesmithError } from '../src/base/index.ts';
import { codeObjectsOf, openContainer, readCodeObject } from '../src/codeobject/index.ts';
import { type Proof, proveKernel } from '../src/equivalence/index.ts';
import { EditableKernel, legalEdit, mutant } from '../tests/support/prove-edits.ts';
import { changesResult, type ProveSubject, proveSubjects } from '../tests/support/prove-subjects.ts';

interface Arguments {
  readonly files: readonly string[];
  readonly edits: number;
  readonly mutants: number;
  readonly seed: number;
  readonly part: number;
  readonly of: number;
}

function parse(args: readonly string[]): Arguments {
  const values: Record<string, number> = { '--edits': 4, '--mutants': 20, '--seed': 1, '--part': 0, '--of': 1 };
  const files: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const name = args[i] as string;
    if (name in values) values[name] = Number(args[++i]);
    else files.push(name);
  }
  return {
    files,
    edits: values['--edits'] as number,
    mutants: values['--mutants'] as number,
    seed: values['--seed'] as number,
    part: values['--part'] as number,
    of: values['--of'] as number,
  };
}

/** Kernels of files; they have no launch. */
function subjectsOf(files: readonly string[]): ProveSubject[] {
  return files.flatMap((file) =>
    codeObjectsOf(openContainer(new Uint8Array(readFileSync(file)), file)).flatMap(({ bytes }) =>
      readCodeObject(bytes).kernels.map(({ name }) => ({
        name: `${basename(file)} ${name}`,
        kernel: name,
        codeObject: bytes,
        outputs: undefined,
      })),
    ),
  );
}

const { files, edits, mutants, seed, part, of } = parse(process.argv.slice(2));
const random = randomNumbers(seed);
const pick = (bound: number): number => Math.floor(random() * bound);
const counts = new Map<string, number>();
const count = (what: string): void => {
  counts.set(what, (counts.get(what) ?? 0) + 1);
};
const speeds: number[] = [];
let worst: Proof | undefined;

function prove(subject: ProveSubject, bytes: Uint8Array): Proof {
  const proof = proveKernel(readCodeObject(subject.codeObject), readCodeObject(bytes), subject.kernel, {
    ignoreIdentity: true,
  });
  const { instructions, milliseconds } = proof.effort;
  if (proof.verdict === 'proved' && instructions > 100) speeds.push((1000 * milliseconds) / instructions);
  if (worst === undefined || milliseconds > worst.effort.milliseconds) worst = proof;
  return proof;
}

/** Whether the checker, and not the comparison, stopped a legal edit: the random order broke a hazard rule. */
const isHazard = ({ reason }: Proof): boolean => reason?.startsWith('The checker objects') === true;

const subjects = files.length > 0 ? subjectsOf(files) : proveSubjects();
for (const subject of subjects.filter((_, i) => i % of === part)) {
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
  for (let i = 0; i < mutants; i++) {
    const edit = mutant(kernel, pick);
    if (edit === undefined) continue;
    let proof: Proof;
    try {
      proof = prove(subject, edit.bytes);
    } catch (error) {
      // A mutant whose entry is no instruction any more.
      if (!(error instanceof WavesmithError)) throw error;
      count('mutant refused');
      continue;
    }
    count(`mutant ${proof.verdict}`);
    if (proof.verdict !== 'proved' || !(await changesResult(subject, edit.bytes))) continue;
    count('mutant UNSOUND');
    console.log(`UNSOUND: ${subject.name}: ${edit.what}`);
  }
}
speeds.sort((a, b) => a - b);
for (const [what, n] of [...counts].sort()) console.log(`${what.padEnd(40)} ${n}`);
console.log(`median ms per 1,000 instructions          ${speeds[speeds.length >> 1]?.toFixed(0) ?? '-'}`);
console.log(`worst kernel                              ${worst?.effort.milliseconds} ms (${worst?.kernel})`);
process.exit(counts.has('mutant UNSOUND') ? 1 : 0);
