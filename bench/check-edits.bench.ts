// What `check --against` notices of the mistakes that people make in machine code: 25 kinds, made one at a time in kernels that clang and
// Triton have compiled, or with `--hand-written` in those of tests/fixtures/hand-written, AMD AITER and hipBLASLt. The virtual GPU decides
// which change what the kernel computes. `--max N`: mutants of a kind per kernel (default 6); `--each N`: N of every kind in all, half of
// them in compiled kernels and half in hand-written ones; `--kernels TEXT` only kernels whose name has the text; `--kind TEXT,…` only such
// kinds; `--list` prints those that are wrong and not reported. Fails when less than 98 % of the wrong ones are reported.

import {
  compiledSubject,
  type EditSubject,
  type EditVerdict,
  handWrittenSubjects,
  judgeEach,
  judgeEdits,
} from '../tests/support/edit-judge.ts';
import { EDIT_MUTATIONS } from '../tests/support/edit-mutations.ts';
import { clangSubjects, EVERY_BUILD, strictSubjects, tritonSubjects } from '../tests/support/strict-kernels.ts';

const args = process.argv.slice(2);
const textOf = (flag: string): string | undefined =>
  args.includes(flag) ? (args[args.indexOf(flag) + 1] ?? '') : undefined;
const most = Number(textOf('--max') ?? 6);
const each = Number(textOf('--each') ?? 0);
const only = textOf('--kernels') ?? '';
const asked = (textOf('--kind') ?? '').split(',');
const kinds = EDIT_MUTATIONS.filter(({ name }) => asked.some((part) => name.includes(part)));
const handWritten = handWrittenSubjects().filter(([name]) => name.includes(only));
const verdicts: EditVerdict[] = [];

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
async function made(subjects: typeof handWritten): Promise<EditSubject[]> {
  const list: EditSubject[] = [];
  for (const [, make] of subjects) list.push(await make());
  return list;
}
const compiled = (all: ReturnType<typeof strictSubjects>): typeof handWritten =>
  all.filter((s) => s.name.includes(only)).map((s) => [s.name, () => compiledSubject(s)] as const);
if (each > 0) {
  const builds = EVERY_BUILD.filter(([, target, level]) => level > 0 && target !== 'gfx90a');
  const machine = await made(compiled([...clangSubjects(builds), ...tritonSubjects()]));
  const written = await made(handWritten);
  console.error(`${machine.length} compiled kernels, ${written.length} hand-written ones`);
  verdicts.push(...(await judgeEach(machine, written, kinds, each, row)));
} else {
  for (const [name, make] of args.includes('--hand-written') ? handWritten : compiled(strictSubjects())) {
    console.error(name);
    verdicts.push(...(await judgeEdits(await make(), kinds, most)));
  }
}
if (args.includes('--list')) {
  for (const v of verdicts.filter((one) => one.isWrong && one.findings.length === 0)) {
    console.log(`  not reported: ${v.kernel}: ${v.kind}: line ${v.what}`);
  }
}
if (each === 0) {
  for (const { name } of kinds)
    row(
      name,
      verdicts.filter((v) => v.kind === name),
    );
}
row('all', verdicts);
const wrong = verdicts.filter((v) => v.isWrong);
const reported = wrong.filter((v) => v.findings.length > 0).length;
const share = wrong.length === 0 ? 100 : (100 * reported) / wrong.length;
console.log(
  `reported: ${reported} of ${wrong.length} (${share.toFixed(1)} %), in ${new Set(verdicts.map((v) => v.kernel)).size} kernels`,
);
if (share < 98) process.exitCode = 1;
