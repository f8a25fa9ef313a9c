// Strict mode on correct kernels has nothing to say, whatever executes them; with any wait weakened it has.
import { describe, expect, test } from 'vitest';
import { readCodeObject } from '../src/codeobject/index.ts';
import { createDevice, type RunFinding, type SimDispatchRequest } from '../src/device/index.ts';
import { liftCodeObject } from '../src/program/index.ts';
import {
  clangSubjects,
  orderedSubjects,
  type StrictSubject,
  tritonSubjects,
  waitingSubjects,
} from './support/strict-kernels.ts';
import { contextOf, explainWait, patchWait, waitsOf, weakerWaits } from './support/wait-mutations.ts';

async function findings(
  subject: StrictSubject,
  bytes: Uint8Array,
  engine: 'compiled' | 'interpreter' = 'compiled',
  order?: SimDispatchRequest['order'],
): Promise<readonly RunFinding[]> {
  const device = await createDevice('sim', { target: subject.target });
  try {
    return ((await subject.run(device, bytes, {}, { engine, order })).diagnostics ?? []).filter(
      ({ severity }) => severity !== 'note',
    );
  } finally {
    device.close();
  }
}

const waiting = waitingSubjects();
const clang = [...clangSubjects(), ...waiting];
const triton = tritonSubjects();
if (triton.length === 0)
  console.warn('skipped: the Triton kernels of the reference data are not beside this checkout.');

describe.skipIf(clang.length === 0)('kernels of clang', () => {
  test.each(clang)('$name has no findings', async (subject) => {
    expect(await findings(subject, subject.codeObject)).toEqual([]);
    expect(await findings(subject, subject.codeObject, 'interpreter')).toEqual([]);
  });

  test.each([...waiting, ...orderedSubjects()])(
    '$name has none in any order of workgroups and wavefronts',
    async (subject) => {
      const orders = [undefined, 'descending' as const, ...Array.from({ length: 4 }, (_, seed) => ({ seed }))];
      for (const order of orders) {
        expect(await findings(subject, subject.codeObject, 'compiled', order), JSON.stringify(order)).toEqual([]);
      }
      expect(await findings(subject, subject.codeObject, 'interpreter', { seed: 5 })).toEqual([]);
    },
  );

  test.each(clang.filter((s) => /^(reduction|stencil|mixed|generic|uniform)/.test(s.name)))(
    '$name: every weakened wait is found',
    async (subject) => {
      const program = liftCodeObject(readCodeObject(subject.codeObject));
      const f = program.functions.find((g) => g.kernel?.name === subject.kernel);
      if (f === undefined) throw new Error('the kernel has no code');
      const missed: string[] = [];
      for (const wait of waitsOf(program, f)) {
        for (const bits of weakerWaits(wait)) {
          const found = await findings(subject, patchWait(program, wait, bits));
          // These workgroups are one wavefront: nobody else reads LDS behind the barrier.
          const isForOthers = explainWait(contextOf(program, f), wait, bits).startsWith('order of memory');
          if (!isForOthers && !found.some((d) => d.rule.startsWith('waits/'))) {
            missed.push(`0x${wait.pc.toString(16)} ${bits}`);
          }
        }
      }
      expect(missed).toEqual([]);
    },
  );
});

describe.skipIf(triton.length === 0)('kernels of Triton', () => {
  test.each(triton)('$name has no findings', async (subject) => {
    expect(await findings(subject, subject.codeObject)).toEqual([]);
  });
});
