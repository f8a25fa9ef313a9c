// What `check --against` notices of the mistakes that people make in machine code: 25 kinds, made one at a time in kernels that clang and
// Triton have compiled, or with `--hand-written` in kernels of AMD AITER. The virtual GPU decides which change what the kernel computes. `--max N`: mutants of a kind per kernel (default 6);
// `--kernels TEXT` only kernels whose name has the text; `--list` prints those that are wrong and not reported.

import {
  compiledSubject,
  type EditSubject,
  type EditVerdict,
  handWrittenSubjects,
  judgeEdits,
} from '../tests/support/edit-judge.ts';
import { EDIT_MUTATIONS } from '../tests/support/edit-mutations.ts';
import { strictSubjects } from '../tests/support/strict-kernels.ts';

const args = process.argv.slice(2);
const at = args.indexOf('--max');
const most = at < 0 ? 6 : Number(args[at + 1]);
const verdicts: EditVerdict[] = [];
const only = args.includes('--kernels') ? (args[args.indexOf('--kernels') + 1] ?? '') : '';
const isHandWritten = args.includes('--hand-written');
const subjects: (() => Promise<EditSubject>)[] = isHandWritten
  ? (await handWrittenSubjects()).filter((s) => s.name.includes(only)).map((s) => async () => s)
  : strictSubjects()
      .filter((s) => s.name.includes(only))
      .map((s) => () => compiledSubject(s));
for (const make of subjects) {
  const subject = await make();

  console.error(subject.name);
  const own = await judgeEdits(subject, EDIT_MUTATIONS, most);
  verdicts.push(...own);
  if (!args.includes('--list')) continue;
  for (const v of own.filter((one) => one.isWrong && one.findings.length === 0)) {
    console.log(`  not reported: ${subject.name}: ${v.kind}: line ${v.what}`);
  }
}
const columns = ['mutants', 'wrong', 'errors', 'warnings', 'notes', 'missed', 'reported though right'];
console.log(`${'kind'.padEnd(30)} ${columns.map((c) => c.padStart(9)).join(' ')}`);
const has = (v: EditVerdict, severity: string): boolean => v.findings.some((f) => f.severity === severity);
function row(name: string, all: readonly EditVerdict[]): void {
  const wrong = all.filter((v) => v.isWrong);
  const errors = wrong.filter((v) => has(v, 'error'));
  const warnings = wrong.filter((v) => !has(v, 'error') && has(v, 'warning'));
  const notes = wrong.filter((v) => v.findings.length > 0 && !has(v, 'error') && !has(v, 'warning'));
  const missed = wrong.filter((v) => v.findings.length === 0);
  const loud = all.filter((v) => !v.isWrong && (has(v, 'error') || has(v, 'warning')));
  const cells = [all, wrong, errors, warnings, notes, missed, loud].map((list) => String(list.length).padStart(9));
  console.log(`${name.padEnd(30)} ${cells.join(' ')}`);
}
for (const { name } of EDIT_MUTATIONS)
  row(
    name,
    verdicts.filter((v) => v.kind === name),
  );
row('all', verdicts);
