// The ladder on wrong and right changes of small kernels: no wrong one is accepted, each is rejected at its rung, no right one is rejected.
// Here every wrong one and a slice of the right ones, `npm run bench optimize` has all.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { chipNamed } from '../src/device/sim/timing/chips/index.ts';
import { Evaluator } from '../src/optimize/index.ts';
import { openCapture } from '../src/snapshot/index.ts';
import { record } from './support/captures.ts';
import { ADVERSARY } from './support/optimize/adversary.ts';
import { CHEATS } from './support/optimize/cheats.ts';
import { FRAUDS } from './support/optimize/frauds.ts';
import { GAINS } from './support/optimize/gains.ts';
import { HONEST } from './support/optimize/honest.ts';
import { IMPROVEMENTS } from './support/optimize/improvements.ts';
import { objectOf, SUBJECTS, type SubjectName } from './support/optimize/subjects.ts';
import { SURROUNDINGS } from './support/optimize/surroundings.ts';
import { TRICKS } from './support/optimize/tricks.ts';
import { TRIGGERS } from './support/optimize/triggers.ts';
import { variantObject } from './support/optimize/variants.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-evaluate-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const evaluators = new Map<SubjectName, Promise<Evaluator>>();

/** Records a subject when it is first asked for. */
function evaluatorOf(name: SubjectName): Promise<Evaluator> {
  const make = async (): Promise<Evaluator> => {
    const { args, grid, block } = SUBJECTS[name];
    await record(folder, `${name}.wscap`, { code: objectOf(name), args, grid, block });
    return Evaluator.open(openCapture(join(folder, `${name}.wscap`)), { chip: chipNamed('mi300x') });
  };
  let known = evaluators.get(name);
  if (known === undefined) {
    known = make();
    evaluators.set(name, known);
  }
  return known;
}

test('the tables are as long as they must be', () => {
  expect(CHEATS.length).toBeGreaterThanOrEqual(40);
  expect(HONEST.length).toBeGreaterThanOrEqual(40);
});

describe('wrong', () => {
  test.each([...CHEATS, ...ADVERSARY, ...TRICKS, ...FRAUDS, ...TRIGGERS, ...SURROUNDINGS])(
    '$name ($of)',
    async (cheat) => {
      const evaluator = await evaluatorOf(cheat.of);
      const evaluation = await evaluator.evaluate(variantObject(cheat, evaluator.oracle.capture));
      expect([evaluation.verdict, evaluation.rung], evaluation.rungs.at(-1)?.evidence.join('\n')).toEqual([
        'rejected',
        cheat.rung,
      ]);
      expect(evaluation.rungs.at(-1)?.evidence.length).toBeGreaterThan(0);
    },
  );
});

describe('right', () => {
  test.each([...HONEST.filter((_, n) => n % 8 === 0), ...IMPROVEMENTS, ...GAINS.filter((_, n) => n % 4 === 0)])(
    '$name ($of)',
    async (honest) => {
      const evaluation = await (await evaluatorOf(honest.of)).evaluate(variantObject(honest));
      expect(evaluation.verdict, JSON.stringify(evaluation.rungs.at(-1))).not.toBe('rejected');
    },
  );
});
