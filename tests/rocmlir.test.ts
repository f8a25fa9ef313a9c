// Every module of examples/migraphx through gen, gpu-module-to-binary, merge and the virtual GPU, against IREE's CPU backend.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { SimDevice } from '../src/device/sim/sim-device.ts';
import type { TargetName } from '../src/isa/types.ts';
import { moduleAttribute } from '../src/mlir/edit.ts';
import { parseMlir, rangeText } from '../src/mlir/parse.ts';
import { type GenResult, generate } from '../src/rocmlir/gen.ts';
import { functionsOf, lowerModule } from '../src/rocmlir/lower/lower.ts';
import { merge, readMerged } from '../src/rocmlir/merge.ts';
import { compileForCpu, kernelFunction, makeInputs, runOnCpu, runOnDevice, tensorsOf } from '../src/rocmlir/run.ts';
import { compareElements, comparisonVerdict } from '../src/verdict/index.ts';
import {
  environment,
  examplesFolder,
  hasIree,
  hasMlirOpt,
  hostModule,
  mlirOpt,
  moduleToBinary,
  temporaryFolder,
} from './support/rocmlir.ts';

const names = readdirSync(examplesFolder).filter((name) => name.endsWith('.mlir'));
const ready = hasIree() && hasMlirOpt();

/** The other targets run a few modules that use their matrix instructions. */
const OTHER_TARGETS: readonly [TargetName, string][] = [
  ['gfx90a', 'gemm_bias_relu.mlir'],
  ['gfx90a', 'gemm_batched_broadcast.mlir'],
  ['gfx90a', 'quant_dot.mlir'],
  ['gfx950', 'gemm_f16_gelu.mlir'],
  ['gfx950', 'conv_bias_relu.mlir'],
  ['gfx950', 'quant_dot.mlir'],
];
const cases: readonly [TargetName, string][] = [
  ...names.map((name) => ['gfx942', name] as [TargetName, string]),
  ...OTHER_TARGETS,
];

interface Prepared {
  readonly text: string;
  readonly function: string;
  readonly tensors: ReturnType<typeof tensorsOf>;
  readonly lowered: string;
}

const prepared = new Map<string, Prepared>();
const generated = new Map<string, GenResult>();
/** Modules after gpu-module-to-binary, in the order of `cases`. */
let binaries: string[] = [];
let cpuModule = '';

describe.skipIf(!ready)('migraphx modules', () => {
  beforeAll(async () => {
    for (const name of names) {
      const text = readFileSync(join(examplesFolder, name), 'utf8');
      const document = parseMlir(text, name);
      const parts = kernelFunction(document);
      const lowered = lowerModule(document, { fuseAttention: false, reader: 'processor' });
      prepared.set(name, { text, function: parts.name, tensors: tensorsOf(document, parts), lowered });
    }
    // One compilation for the CPU of all functions, while the kernels are generated two at a time.
    const functions = [...prepared.values()].map(({ lowered }) => {
      const document = parseMlir(lowered);
      return functionsOf(document)
        .map((o) => rangeText(document, o.first, o.last))
        .join('\n');
    });
    const cpu = compileForCpu(`module {\n${functions.join('\n')}\n}\n`, environment(), temporaryFolder());
    const queue = [...cases];
    const worker = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const [arch, name] = next;
        const options = { arch, features: '+sramecc,-xnack', environment: environment() };
        generated.set(`${arch} ${name}`, await generate(prepared.get(name)?.text ?? '', options));
      }
    };
    await Promise.all([worker(), worker()]);
    cpuModule = await cpu;
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
  }, 240_000);

  test('there are at least 20, and IREE makes one kernel of each', () => {
    expect(names.length).toBeGreaterThanOrEqual(20);
    for (const [key, result] of generated)
      expect([key, result.status, result.failure?.message]).toEqual([key, 'generated', undefined]);
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
    expect(printed.match(/gpu\.kernel_metadata</g)).toHaveLength(cases.length);
    expect(printed).not.toContain('rock_kernel');
    expect(printed).not.toContain('iree.export');
  });

  test.each(cases)(
    '%s %s: the merged module computes what the CPU computes',
    async (arch, name) => {
      const { tensors, function: functionName } = prepared.get(name) as Prepared;
      const index = cases.findIndex(([a, n]) => a === arch && n === name);
      const merged = merge(binaries[index], environment());
      expect(merged.failure?.message).toBeUndefined();
      expect(merged).toMatchObject({ status: 'merged', launches: 1 });
      const program = readMerged(merged.text);
      const inputs = makeInputs(tensors, 7);
      const device = new SimDevice(arch);
      const { outputs } = await runOnDevice(device, program, tensors, inputs);
      device.close();
      const expected = await runOnCpu(cpuModule, functionName, tensors, inputs, environment());
      const results = tensors.filter((tensor) => tensor.kind === 'output');
      expect(outputs).toHaveLength(results.length);
      results.forEach(({ element, shape }, i) => {
        const comparison = compareElements(expected[i], outputs[i], element, { shape });
        expect(comparisonVerdict(comparison), JSON.stringify(comparison)).not.toBe('different');
        // A kernel that wrote nothing would not be found equal.
        expect(outputs[i].some((byte) => byte !== 0)).toBe(true);
      });
    },
    60_000,
  );
});
