// The class `bounded`: other orders and other roundings of the same sums are right; fewer bits, fewer terms and other values are wrong. No types are given:
// the baseline's operations, run in f64, say what is a float and how far it may be.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { chipNamed } from '../src/device/sim/timing/chips/index.ts';
import { capturedInput } from '../src/optimize/evaluate/inputs.ts';
import { runInput } from '../src/optimize/evaluate/run.ts';
import { Evaluator } from '../src/optimize/index.ts';
import { openCapture } from '../src/snapshot/index.ts';
import { record } from './support/captures.ts';
import { CHEATS } from './support/optimize/cheats.ts';
import { objectOf, SUBJECTS, type SubjectName } from './support/optimize/subjects.ts';
import { type Variant, variantObject } from './support/optimize/variants.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-bounded-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const evaluators = new Map<SubjectName, Promise<Evaluator>>();
function evaluatorOf(name: SubjectName): Promise<Evaluator> {
  const make = async (): Promise<Evaluator> => {
    const { args, grid, block } = SUBJECTS[name];
    await record(folder, `${name}.wscap`, { code: objectOf(name), args, grid, block });
    const options = { chip: chipNamed('mi300x'), class: 'bounded' } as const;
    return Evaluator.open(openCapture(join(folder, `${name}.wscap`)), options);
  };
  const found = evaluators.get(name) ?? make();
  evaluators.set(name, found);
  return found;
}

const FMA = 'v_fmac_f32_e32 v2, s17, v3';
const RIGHT: readonly Variant[] = [
  {
    name: 'product and sum rounded apart',
    of: 'dot',
    replace: [[FMA, 'v_mul_f32_e32 v3, s17, v3\n  v_add_f32_e32 v2, v2, v3']],
  },
  {
    name: 'two sums',
    of: 'dot',
    replace: [
      ['v_mov_b32_e32 v2, 0', 'v_mov_b32_e32 v2, 0\n  v_mov_b32_e32 v5, 0'],
      [FMA, 'v_fma_f32 v6, s17, v3, v5\n  v_mov_b32_e32 v5, v2\n  v_mov_b32_e32 v2, v6'],
      ['store:', 'store:\n  v_add_f32_e32 v2, v2, v5'],
    ],
  },
];

test.each(RIGHT)('$name is right', async (variant) => {
  const { verdict, reached, rungs } = await (await evaluatorOf(variant.of)).evaluate(variantObject(variant));
  expect([verdict, reached], JSON.stringify(rungs.at(-1))).toEqual(['not-faster', 'bounded']);
});

describe('wrong', () => {
  const names = [
    'half precision inside',
    'bfloat16 by cutting bits',
    'every other term',
    'constant output',
    'the input is copied',
    'alpha is hard-coded',
    'K is hard-coded',
    'terms that are zero end the sum',
    'infinities are cut off',
    'nothing is stored',
  ];
  test.each(CHEATS.filter(({ name }) => names.includes(name)))('$name', async (cheat) => {
    const evaluator = await evaluatorOf(cheat.of);
    const { verdict } = await evaluator.evaluate(variantObject(cheat, evaluator.oracle.capture));
    expect(verdict).toBe('rejected');
  });
});

test('the result in f64 is the sum in f64, and its bound is that of its terms', async () => {
  const { oracle } = await evaluatorOf('dot');
  const { numbers, before } = await runInput(capturedInput(oracle.capture), oracle.code, { inF64: true });
  const [a, b] = ['argument 1', 'argument 2'].map((label) => {
    const [, bytes] = [...before].find(([name]) => name.includes(label)) as [string, Uint8Array];
    return new Float32Array(bytes.slice().buffer);
  }) as [Float32Array, Float32Array];
  const { address } = oracle.capture.manifest.memory.allocations.find(({ label }) => label === 'argument 0') as {
    address: number;
  };
  for (const row of [0, 41, 99]) {
    let [value, magnitude] = [0, 0];
    for (let k = 0; k < 32; k++) {
      const term = (a[32 * row + k] as number) * (b[k] as number);
      value += term;
      magnitude += Math.abs(term);
    }
    const real = numbers?.get(address + 4 * row)?.real;
    expect(real).toMatchObject({ type: 'f32', roundings: 64 });
    expect(real?.value).toBeCloseTo(value, 12);
    expect(real?.magnitude).toBeCloseTo(magnitude, 12);
  }
  expect(numbers?.get(address + 400)).toBeUndefined();
});
