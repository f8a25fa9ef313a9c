// The table of the migraphx dialect says of each operation whether it is lowered: each that is has a kernel here that computes it, on
// every target with WAVESMITH_ROCMLIR_TARGETS=all (`npm run rocmlir`), and in `npm test` each kernel on one target.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SimDevice } from '../src/device/sim/sim-device.ts';
import { fullName, parseMlir, walk } from '../src/mlir/parse.ts';
import { defaultFeatures, runModule } from '../src/rocmlir/index.ts';
import { onlyFunction } from '../src/rocmlir/lower/kernel-function.ts';
import { functionsOf } from '../src/rocmlir/lower/lower.ts';
import { readFunction } from '../src/rocmlir/lower/read.ts';
import { environment, hasIree } from './support/rocmlir.ts';

const root = join(import.meta.dirname, '..');
const text = readFileSync(join(root, 'tests', 'fixtures', 'rocmlir', 'operations.mlir'), 'utf8');
const document = parseMlir(text);
const kernels = functionsOf(document).map((operation) => ({
  name: readFunction(document, operation).name,
  text: onlyFunction(document, operation).text,
  operations: new Set([...walk(operation.regions[0].operations)].map(fullName)),
}));

const TARGETS = ['gfx90a', 'gfx942', 'gfx950'] as const;
const all = process.env.WAVESMITH_ROCMLIR_TARGETS === 'all';
const cases = kernels.flatMap((kernel, i) =>
  TARGETS.filter((_, t) => all || t === i % TARGETS.length).map(
    (target) => [target, kernel.name, kernel.text] as const,
  ),
);

/** The operations that the table calls lowered. */
function loweredInTable(): string[] {
  const table = readFileSync(join(root, 'docs', 'migraphx-operations.md'), 'utf8');
  return table.split('\n').flatMap((line) => {
    const cells = line.split('|').map((cell) => cell.trim());
    const name = /^`([\w.]+)`/.exec(cells[1] ?? '')?.[1];
    return name !== undefined && cells[4] === 'lowered' ? [`migraphx.${name}`] : [];
  });
}

test('every operation that the table calls lowered is in a kernel that is run', () => {
  const lowered = loweredInTable();
  expect(lowered.length).toBeGreaterThan(50);
  const run = new Set(kernels.flatMap(({ operations }) => [...operations]));
  expect(lowered.filter((name) => !run.has(name))).toEqual([]);
});

describe.skipIf(!hasIree())('operations', () => {
  test.each(cases)(
    '%s %s: computes what its operations mean',
    async (arch, _, module) => {
      const report = await runModule(module, {
        arch,
        features: defaultFeatures(arch),
        environment: environment(),
        openDevice: async (target) => new SimDevice(target),
        seed: 3,
        reference: 'direct',
      });
      expect(report.verdict?.verdict, JSON.stringify(report.comparisons)).toMatch(/^(?:equal|within-tolerance)$/);
      expect(report.comparisons.length).toBe(report.tensors.filter(({ kind }) => kind === 'output').length);
    },
    60_000,
  );
});
