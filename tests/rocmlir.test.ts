// Modules of examples/migraphx through gen, gpu-module-to-binary, merge and the virtual GPU, against the direct evaluation of its
// operations: a slice of them here, all of them on all targets with WAVESMITH_ROCMLIR_TARGETS=all (`npm run rocmlir`).
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { SimDevice } from '../src/device/sim/sim-device.ts';
import type { TargetName } from '../src/isa/types.ts';
import { moduleAttribute } from '../src/mlir/edit.ts';
import { type Document, parseMlir, rangeText } from '../src/mlir/parse.ts';
import { defaultFeatures } from '../src/rocmlir/compile.ts';
import { type GenResult, generate } from '../src/rocmlir/gen.ts';
import { decomposeAttention } from '../src/rocmlir/lower/decompose-attention.ts';
import type { FunctionParts } from '../src/rocmlir/lower/read.ts';
import { merge, readMerged } from '../src/rocmlir/merge.ts';
import { expectedOf, kernelFunction, makeInputs, runOnDevice, tensorsOf } from '../src/rocmlir/run.ts';
import { compareElements, comparisonVerdict } from '../src/verdict/index.ts';
import {
  environment,
  examplesFolder,
  hasIree,
  hasMlirOpt,
  hostModule,
  mlirOpt,
  moduleToBinary,
} from './support/rocmlir.ts';

const names = readdirSync(examplesFolder).filter((name) => name.endsWith('.mlir'));
const ready = hasIree() && hasMlirOpt();

const TARGETS: readonly TargetName[] = ['gfx90a', 'gfx942', 'gfx950'];
const all = process.env.WAVESMITH_ROCMLIR_TARGETS === 'all';
/** A third of the modules, each on one target, the targets in turn. */
const cases: readonly (readonly [TargetName, string])[] = names.flatMap((name, i) =>
  TARGETS.filter((_, t) => all || (i % 3 === 0 && (i / 3) % TARGETS.length === t)).map(
    (target) => [target, name] as const,
  ),
);

interface Prepared {
  readonly text: string;
  readonly document: Document;
  readonly parts: FunctionParts;
  readonly tensors: ReturnType<typeof tensorsOf>;
}

const prepared = new Map<string, Prepared>();
const generated = new Map<string, GenResult>();
/** Modules after gpu-module-to-binary, in the order of `cases`. */
let binaries: string[] = [];

describe.skipIf(!ready)('migraphx modules', () => {
  beforeAll(async () => {
    for (const name of names) {
      const text = readFileSync(join(examplesFolder, name), 'utf8');
      const document = decomposeAttention(parseMlir(text, name));
      const parts = kernelFunction(document);
      prepared.set(name, { text, document, parts, tensors: tensorsOf(document, parts) });
    }
    const queue = [...cases];
    const worker = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const [arch, name] = next;
        const options = { arch, features: defaultFeatures(arch), environment: environment() };
        generated.set(`${arch} ${name}`, await generate(prepared.get(name)?.text ?? '', options));
      }
    };
    await Promise.all([worker(), worker()]);
    // The attribute is on the module while mlir-opt turns rocMLIR's own kernel into a binary.
    const hosts = cases.map(([arch, name], i) => {
      const result = generated.get(`${arch} ${name}`);
      const document = parseMlir(result?.text ?? '');
      const attribute = moduleAttribute(document, 'iree.export');
      const text = attribute === undefined ? '' : rangeText(document, attribute.first, attribute.last);
      const count = prepared.get(name)?.tensors.length ?? 0;
      return hostModule(count, { chip: arch, attribute: text, sizes: i % 2 === 0 ? 'index' : 'i64' });
    });
    binaries = moduleToBinary(hosts.join('// -----\n')).split('// -----\n');
  }, 900_000);

  test('there are at least 50, and each becomes one kernel or a sequence of them', () => {
    expect(names.length).toBeGreaterThanOrEqual(50);
    for (const [key, result] of generated)
      expect([key, result.status, result.failure?.message]).toEqual([key, 'generated', undefined]);
    const plain = [...generated.values()].filter(({ sequence }) => sequence?.steps[0].arguments === undefined);
    expect(plain.length).toBeGreaterThan(generated.size / 2);
  });

  test('mlir-opt parses and verifies what gen wrote', () => {
    const all = [...generated.values()].map((result) => result.text).join('\n// -----\n');
    expect(mlirOpt(all, ['--split-input-file', '--verify-each']).match(/iree\.export = #gpu\.object/g)).toHaveLength(
      cases.length,
    );
  });

  test('mlir-opt parses and verifies what merge wrote', () => {
    const all = binaries.map((text) => merge(text, environment()).text).join('\n// -----\n');
    const printed = mlirOpt(all, ['--split-input-file', '--verify-each']);
    expect(printed.match(/gpu\.binary @/g)).toHaveLength(cases.length);
    expect(printed).not.toContain('rock_kernel');
    expect(printed).not.toContain('iree.export');
  });

  test.each(cases)(
    '%s %s: the merged module computes what its operations mean',
    async (arch, name) => {
      const { tensors, document, parts } = prepared.get(name) as Prepared;
      const index = cases.findIndex(([a, n]) => a === arch && n === name);
      const merged = merge(binaries[index], environment());
      expect(merged.failure?.message).toBeUndefined();
      expect(merged).toMatchObject({ status: 'merged', launches: 1 });
      const program = readMerged(merged.text);
      const inputs = makeInputs(tensors, 7);
      const device = new SimDevice(arch);
      const { outputs } = await runOnDevice(device, program, tensors, inputs);
      device.close();
      const { expected, tolerances } = expectedOf(document, parts, tensors, inputs, outputs);
      const results = tensors.filter((tensor) => tensor.kind === 'output');
      expect(outputs).toHaveLength(results.length);
      results.forEach(({ element, shape }, i) => {
        const compare = (tolerance?: number) => compareElements(expected[i], outputs[i], element, { shape, tolerance });
        let comparison = compare();
        if (comparisonVerdict(comparison) === 'different') comparison = compare(tolerances()[i]);
        expect(comparisonVerdict(comparison), JSON.stringify(comparison)).not.toBe('different');
        // A kernel that wrote nothing would not be found equal.
        expect(outputs[i].some((byte) => byte !== 0)).toBe(true);
      });
    },
    60_000,
  );
});
