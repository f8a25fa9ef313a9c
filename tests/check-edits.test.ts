// A slice of `npm run bench -- check-edits`: mistakes in compiled kernels that change what they compute are noticed against the original.
import { describe, expect, test } from 'vitest';
import { hasLlvm } from './support/build.ts';
import { compiledSubject, judgeEdits } from './support/edit-judge.ts';
import { EDIT_MUTATIONS } from './support/edit-mutations.ts';
import { clangSubjects } from './support/strict-kernels.ts';

const subjects = hasLlvm()
  ? clangSubjects([
      ['reduction', 'gfx942', 3],
      ['scan', 'gfx950', 2],
    ])
  : [];
if (subjects.length === 0) console.warn('skipped: LLVM 22 is not installed.');

describe.skipIf(subjects.length === 0)('mistakes that change the result', () => {
  test('there are 25 kinds of them', () => {
    expect(new Set(EDIT_MUTATIONS.map(({ name }) => name)).size).toBe(25);
  });

  test.each(subjects)(
    '$name',
    async (subject) => {
      const verdicts = await judgeEdits(await compiledSubject(subject), EDIT_MUTATIONS, 1);
      const wrong = verdicts.filter((v) => v.isWrong);
      expect(wrong.length).toBeGreaterThan(2);
      expect(wrong.filter((v) => v.findings.length === 0).map((v) => `${v.kind}: ${v.what}`)).toEqual([]);
    },
    60_000,
  );
});
