// Every shipped probe in every kernel that the tests can run: outputs are those of the original bit for bit, and what instr-count says is what
// the virtual GPU counts. `npm run probe-transparency -- [--tool NAME] [--family NAME] [--every N] [--only TEXT] [--seconds N]` prints a table of tools and families. Besides the shipped probes there are every-counter and every-record, at both
// sides of every instruction; reg-values is put behind every instruction.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type CodeObject, readCodeObject } from '../src/codeobject/index.ts';
import { type Instrumented, instrument, type ProbeDefinition, TOOLS } from '../src/instrument/index.ts';
import { AITER_KERNELS } from '../tests/sim/kernels/aiter-cases.ts';
import { changedRuns } from '../tests/sim/kernels/support.ts';
import { TENSILE_KERNELS } from '../tests/sim/kernels/tensile-cases.ts';
import { deriveDispatches, fillerFor, VmfbRunner } from '../tests/sim/kernels/vmfb.ts';
import { EVERY_COUNTER, EVERY_RECORD } from '../tests/support/every-point.ts';
import { runCode } from '../tests/support/probe-runs.ts';
import { sharedPath } from '../tests/support/shared.ts';
import { clangSubjects, EVERY_BUILD, type StrictSubject, tritonSubjects } from '../tests/support/strict-kernels.ts';

const { values } = parseArgs({
  options: {
    tool: { type: 'string' },
    family: { type: 'string' },
    only: { type: 'string' },
    every: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '900' },
  },
});
const end = performance.now() + 1000 * Number(values.seconds);

const probes = [...Object.values(TOOLS), EVERY_COUNTER, EVERY_RECORD] as unknown as ProbeDefinition[];
const chosen = probes.filter(({ name }) => values.tool === undefined || values.tool.split(',').includes(name));

/** Settings that put a probe at as many points as it has. */
const WIDE: Readonly<Record<string, Readonly<Record<string, string>>>> = { 'reg-values': { at: ' ' } };

function put(codeObject: CodeObject, probe: ProbeDefinition): Instrumented {
  const result = instrument(codeObject, probe, { settings: WIDE[probe.name] });
  if (result.findings.length > 0)
    throw new Error(`finding ${result.findings[0]?.rule}: ${result.findings[0]?.message}`);
  return result;
}

interface Cell {
  runs: number;
  points: number;
  rejected: number;
  readonly wrong: string[];
  unrun: number;
}
const cells = new Map<string, Cell>();
function cell(tool: string, family: string): Cell {
  const key = `${tool}\t${family}`;
  let known = cells.get(key);
  if (known === undefined) {
    known = { runs: 0, points: 0, rejected: 0, wrong: [], unrun: 0 };
    cells.set(key, known);
  }
  return known;
}

function note(tool: string, family: string, name: string, problem: unknown): void {
  const text = problem instanceof Error ? problem.message : String(problem);
  cell(tool, family).wrong.push(`${name}: ${text}`);
  console.log(`WRONG ${tool}, ${family}: ${name}: ${text}`);
}

function countOf(result: Instrumented, memory: Uint8Array | undefined): number {
  return Number(result.report(memory ?? new Uint8Array()).instructions);
}

async function compiled(family: string, subjects: readonly StrictSubject[]): Promise<void> {
  for (const [n, subject] of subjects.entries()) {
    if (n % Number(values.every) !== 0 || !subject.name.includes(values.only ?? '')) continue;
    const original = await runCode(subject, subject.codeObject, { address: 0, size: 0 }, false);
    for (const probe of chosen) {
      const at = cell(probe.name, family);
      if (performance.now() > end) {
        at.unrun++;
        continue;
      }
      try {
        const result = put(readCodeObject(subject.codeObject), probe);
        at.points += result.placed;
        at.rejected += result.rejected.length;
        const changed = await runCode(subject, result.codeObject.bytes, result.memory, false);
        at.runs++;
        const differs = changed.contents.findIndex(
          (bytes, i) => Buffer.compare(bytes, original.contents[i] as Uint8Array) !== 0,
        );
        if (differs >= 0 || changed.contents.length !== original.contents.length)
          throw new Error(`buffer ${differs} differs`);
        if (probe.name === 'instr-count' && countOf(result, changed.memory) !== original.run.instructions)
          throw new Error(
            `${countOf(result, changed.memory)} instructions counted, ${original.run.instructions} executed`,
          );
      } catch (error) {
        note(probe.name, family, subject.name, error);
      }
    }
  }
}

type Cases = readonly (readonly [string, number, () => Promise<unknown>])[];

async function written(family: string, cases: Cases): Promise<void> {
  for (const [n, [name, , run]] of cases.entries()) {
    if (n % Number(values.every) !== 0 || !name.includes(values.only ?? '')) continue;
    for (const probe of chosen) {
      const at = cell(probe.name, family);
      if (performance.now() > end) {
        at.unrun++;
        continue;
      }
      changedRuns.change = (bytes) => {
        const result = put(readCodeObject(bytes), probe);
        at.points += result.placed;
        at.rejected += result.rejected.length;
        return {
          bytes: result.codeObject.bytes,
          compare: ({ device, kernel, original }) => {
            at.runs++;
            if (probe.name !== 'instr-count') return;
            const symbol = result.codeObject.kernels.find((k) => k.name === kernel.name)?.descriptorSymbol;
            const { address, size } = result.memory;
            const place = kernel.descriptorAddress - Number(symbol?.value) + address;
            const region = device.memory.find(place, size);
            const counted = countOf(result, region?.bytes.slice(place - region.base, place - region.base + size));
            region?.bytes.fill(0, place - region.base, place - region.base + size);
            if (counted !== original.instructions)
              throw new Error(`${counted} instructions counted, ${original.instructions} executed`);
          },
        };
      };
      try {
        await run();
      } catch (error) {
        note(probe.name, family, name, error);
      } finally {
        changedRuns.change = undefined;
      }
    }
  }
}

async function module(file: string): Promise<void> {
  const bytes = readFileSync(file);
  const derived = deriveDispatches(bytes, { tokens: 4, pages: 1, cachePages: 8 });
  const wanted = derived.filter(
    ({ kernel, dispatch }, n) =>
      dispatch !== undefined && n % Number(values.every) === 0 && kernel.includes(values.only ?? ''),
  );
  const originals = new Map<string, number>();
  const runner = new VmfbRunner(bytes);
  const hashOf = async (from: VmfbRunner, one: (typeof wanted)[number]): Promise<number> => {
    const { hash } = await from.run(one.kernel, one.dispatch as NonNullable<typeof one.dispatch>, 1, fillerFor(one));
    return hash;
  };
  for (const probe of chosen) {
    const at = cell(probe.name, 'IREE module');
    if (performance.now() > end) {
      at.unrun += wanted.length;
      continue;
    }
    const names = new Set(wanted.map(({ kernel }) => kernel));
    const changed = new VmfbRunner(bytes, (object) => {
      if (!object.kernels.some((k) => names.has(k.name))) return object.bytes;
      try {
        const result = put(object, probe);
        at.points += result.placed;
        at.rejected += result.rejected.length;
        return result.codeObject.bytes;
      } catch (error) {
        note(probe.name, 'IREE module', object.kernels[0]?.name ?? '', error);
        return object.bytes;
      }
    });
    for (const one of wanted) {
      if (performance.now() > end) {
        at.unrun++;
        continue;
      }
      // What the given sizes do not let run as it is says nothing of probes.
      const hash = originals.get(one.kernel) ?? (await hashOf(runner, one).catch(() => undefined));
      if (hash === undefined) {
        at.unrun++;
        continue;
      }
      originals.set(one.kernel, hash);
      try {
        at.runs++;
        if ((await hashOf(changed, one)) !== hash) throw new Error('a binding differs');
      } catch (error) {
        note(probe.name, 'IREE module', one.kernel, error);
      }
    }
  }
}

const wants = (family: string): boolean => values.family === undefined || values.family === family;
if (wants('clang')) await compiled('clang', clangSubjects(EVERY_BUILD));
if (wants('Triton')) await compiled('Triton', tritonSubjects());
if (sharedPath('corpus') !== undefined) {
  if (wants('aiter')) await written('aiter', Object.values(AITER_KERNELS).flat());
  if (wants('hipBLASLt')) await written('hipBLASLt', TENSILE_KERNELS);
}
const file = sharedPath('vmfb', 'llama8b-fp8.gfx942.vmfb');
if (file !== undefined && wants('IREE')) await module(file);

console.log('\nprobe                family          launches  same  points placed  left out   not run');
let failures = 0;
for (const [key, { runs, points, rejected, wrong, unrun }] of cells) {
  const [tool = '', family = ''] = key.split('\t');
  failures += wrong.length;
  console.log(
    `${tool.padEnd(20)} ${family.padEnd(15)} ${String(runs).padStart(8)} ${String(Math.max(0, runs - wrong.length)).padStart(5)} ${String(points).padStart(14)} ${String(rejected).padStart(9)} ${String(unrun).padStart(9)}`,
  );
}
console.log(failures === 0 ? 'every output is as the original leaves it' : `${failures} WRONG`);
process.exit(failures === 0 ? 0 : 1);
