// The checker and strict mode on the same mistakes: what a run shows is reported statically, and what only the checker reports has a
// reason. `npm run bench -- check-agreement` does it for all kernels and more waits.
import { describe, expect, test } from 'vitest';
import { checkOrder, checkStrongWaits, checkWaits } from '../src/check/index.ts';
import { readCodeObject } from '../src/codeobject/index.ts';
import type { Finding } from '../src/finding/index.ts';
import { liftCodeObject } from '../src/program/index.ts';
import { hasLlvm } from './support/build.ts';
import { agreementOf } from './support/check-agreement.ts';
import { comparedWith } from './support/check-mutations.ts';
import { clangSubjects, tritonSubjects } from './support/strict-kernels.ts';
import { contextOf, withWait } from './support/wait-mutations.ts';

const clang = hasLlvm() ? clangSubjects().filter((s) => /^(reduction|gather|stencil|mixed)/.test(s.name)) : [];
const allTriton = tritonSubjects();
const triton = allTriton.filter((s) => /rmsnorm|matmul_fp32|attn/.test(s.name));
if (triton.length === 0)
  console.warn('skipped: the Triton kernels of the reference data are not beside this checkout.');

describe.skipIf(clang.length + triton.length === 0)('wait mutants, judged twice', () => {
  test.each([...clang, ...triton])('$name', async (subject) => {
    const verdicts = await agreementOf(subject, 5);
    expect(verdicts.length).toBeGreaterThan(0);
    expect(verdicts.filter((v) => v.isDynamic && !v.isStatic)).toEqual([]);
    expect(verdicts.filter((v) => v.why === 'not explained')).toEqual([]);
    expect(verdicts.some((v) => v.isDynamic)).toBe(true);
  });
});

/** The wait that a `waits/too-strong` note proposes, as the immediate of s_waitcnt. */
function proposed({ edits }: Finding): number {
  const [edit] = edits;
  if (edit?.kind !== 'set-wait') throw new Error('the note carries no wait');
  const { vmcnt = 63, expcnt = 7, lgkmcnt = 15 } = edit.counters;
  return (vmcnt & 15) | ((vmcnt & 0x30) << 10) | (expcnt << 4) | (lgkmcnt << 8);
}

describe.skipIf(allTriton.length === 0)('waits that are called too strong', () => {
  test.each(allTriton)('$name: each proposal alone is as safe', (subject) => {
    const program = liftCodeObject(readCodeObject(subject.codeObject));
    for (const f of program.functions) {
      const before = checkWaits(contextOf(program, f)).length;
      for (const note of checkStrongWaits(contextOf(program, f))) {
        const code = program.at(note.place.pc ?? -1);
        if (code === undefined) throw new Error(note.message);
        const context = comparedWith(program, withWait(program, code, proposed(note)), f);
        expect(checkWaits(context).length, note.message).toBe(before);
        expect(checkOrder(context), note.message).toEqual([]);
      }
    }
  });
});
