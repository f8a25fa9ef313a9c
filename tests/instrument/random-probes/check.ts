// Random kernels with random probes: outputs are those of the original, and the probe finds what an observer of the original sees.
// Many small kernels are compiled and probed at once: that takes a tenth of the time of one after the other.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCodeObject } from '../../../src/codeobject/index.ts';
import { createDevice, randomNumbers, type SimDispatchRequest } from '../../../src/device/index.ts';
import { type Instrumented, instrument, type ProbeDefinition } from '../../../src/instrument/index.ts';
import type { TargetName } from '../../../src/isa/types.ts';
import { type Build, hasEmptyRegion } from '../../sim/random-kernels/check.ts';
import { randomKernel, randomKernels } from '../../sim/random-kernels/generate.ts';
import { SHAPE } from '../../sim/random-kernels/prelude.ts';
import { llvmTool } from '../../support/llvm.ts';
import { randomProbe, TOTALS } from './generate.ts';
import { Oracle, rowText } from './oracle.ts';

/** Limits of registers that kernels are compiled with, in turn: none, then fewer and fewer. */
const LIMITS = [
  '',
  ', amdgpu_num_vgpr(64)',
  ', amdgpu_num_vgpr(32), amdgpu_num_sgpr(48)',
  ', amdgpu_num_vgpr(24)',
] as const;

/** A code object with random kernels. */
export interface RandomCode {
  readonly code: Uint8Array;
  readonly seeds: readonly number[];
  /** Kernels of which the compiler may have lost a block: what they compute may depend on what registers hold at the start. */
  readonly lost: ReadonlySet<string>;
}

/** Compiles the kernels of seeds. A kernel that is alone has functions that are called where the compiler does not inline them. */
export function compileRandom(seeds: readonly number[], build: Build, size: 'small' | 'full' = 'full'): RandomCode {
  const limit = (seed: number): string => LIMITS[seed % LIMITS.length] as string;
  const [first = 0] = seeds;
  const source = seeds.length === 1 ? randomKernel(first, size, limit(first)) : randomKernels(seeds, size, limit);
  const code = compiled(source, build);
  const lost = hasEmptyRegion(code) ? lostKernels(code) : new Set<string>();
  return { code, seeds, lost };
}

/** The kernels whose own code, or that of their functions, has an empty region. */
function lostKernels(code: Uint8Array): ReadonlySet<string> {
  const { elf, kernels } = readCodeObject(code);
  const bad = elf.symbols.filter(({ value, size }) => {
    const section = elf.sections.find((s) => Number(value) >= s.address && Number(value) < s.address + s.bytes.length);
    const at = Number(value) - (section?.address ?? 0);
    return section !== undefined && hasEmptyRegion(section.bytes.subarray(at, at + Number(size)));
  });
  return new Set(
    kernels.flatMap(({ name }) => {
      const suffix = name.replace('random_kernel', '');
      return bad.some((symbol) => suffix === '' || symbol.name.endsWith(suffix)) ? [name] : [];
    }),
  );
}

function compiled(text: string, { target, level }: Build): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-'));
  try {
    const [source, object] = [join(folder, 'kernel.c'), join(folder, 'kernel.co')];
    writeFileSync(source, text);
    const flags = ['-w', '-ffp-contract=off', '-target', 'amdgcn-amd-amdhsa', `-mcpu=${target}`, '-nogpulib'];
    const result = spawnSync(llvmTool('clang-22') as string, [...flags, `-O${level}`, source, '-o', object], {
      encoding: 'utf8',
    });
    if (result.status !== 0) throw new Error(`clang: ${result.stderr.slice(0, 2000)}`);
    return readFileSync(object);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What one probe in the kernels of a code object showed. */
export interface ProbeReport {
  readonly placed: number;
  readonly rejected: Readonly<Record<string, number>>;
  /** Points whose values were not compared. */
  readonly tainted: number;
  /** What was wrong; empty when all was right. */
  readonly problems: readonly string[];
}

interface Ran {
  /** By kernel. */
  readonly outputs: readonly Uint8Array[];
  readonly memory: Uint8Array | undefined;
  readonly findings: readonly string[];
}

/** Runs all kernels of a code object; the bytes at an address of its file are read when they have ended. */
async function run(
  [code, other]: readonly [Uint8Array, Uint8Array],
  input: Uint32Array,
  lost: ReadonlySet<string>,
  place: Instrumented['memory'],
  options: (base: number, places: readonly (readonly [number, number])[]) => Partial<SimDispatchRequest>,
): Promise<Ran> {
  const object = readCodeObject(code);
  const device = await createDevice('sim', { target: object.target.processor as TargetName });
  try {
    const from = device.alloc(input.byteLength, 'in');
    const to = device.alloc(4 * SHAPE.groups * SHAPE.block * SHAPE.results, 'out');
    const counters = device.alloc(4 * SHAPE.counters, 'counters');
    device.write(from, new Uint8Array(input.buffer));
    // Both are loaded in one order, so that everything else is at the same addresses.
    const modules = [code, other]
      .sort((a, b) => a.length - b.length)
      .map((bytes) => ({ bytes, module: device.load(bytes) }));
    const { module } = modules.find((m) => m.bytes === code) as (typeof modules)[number];
    const [known] = object.kernels;
    const base = module.kernel(known?.name ?? '').descriptorAddress - Number(known?.descriptorSymbol?.value);
    const places = modules.map(
      ({ bytes, module: { loaded } }) =>
        [loaded.region.base, loaded.region.base + Math.max(bytes.length, loaded.region.size)] as const,
    );
    const more = options(base, places);
    const outputs: Uint8Array[] = [];
    const findings: string[] = [];
    for (const { name } of object.kernels) {
      if (lost.has(name)) continue;
      device.write(to, new Uint8Array(to.size));
      device.write(counters, new Uint8Array(counters.size));
      const result = await device.dispatch({
        kernel: module.kernel(name),
        grid: [SHAPE.groups, 1, 1],
        block: [SHAPE.block, 1, 1],
        args: [from, to, counters],
        maxInstructions: 200_000_000,
        ...more,
      });
      outputs.push(Uint8Array.from([...device.read(to), ...device.read(counters)]));
      for (const d of result.findings ?? [])
        if (!d.rule.endsWith('/uninitialised')) findings.push(`${name}: ${d.rule}: ${d.message}`);
    }
    const region = place.size === 0 ? undefined : device.memory.find(base + place.address, place.size);
    const at = base + place.address - (region?.base ?? 0);
    return { outputs, memory: region?.bytes.slice(at, at + place.size), findings };
  } finally {
    device.close();
  }
}

/** Puts the random probe of a seed into kernels, runs both, and compares everything. The interpreter begins sooner, compiled code runs faster. */
export async function checkProbe(
  { code, seeds, lost }: RandomCode,
  seed: number,
  strict: boolean,
  engine: 'interpreter' | 'compiled' = 'compiled',
): Promise<ProbeReport> {
  const random = randomNumbers(seed);
  const input = Uint32Array.from({ length: SHAPE.inputs }, () =>
    random() < 0.3 ? Math.floor(random() * 64) : Math.floor(random() * 2 ** 32),
  );
  const { probe, points } = randomProbe(seed, seeds.length === 1 ? undefined : 20);
  const growth = random() < 0.7;
  let result: Instrumented;
  try {
    result = instrument(readCodeObject(code), probe as unknown as ProbeDefinition, { growth });
  } catch (error) {
    const problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { placed: 0, rejected: {}, tainted: 0, problems: [problem] };
  }
  const rejected: Record<string, number> = {};
  for (const { reason } of result.rejected) rejected[reason] = (rejected[reason] ?? 0) + 1;
  const left = new Set(result.rejected.map(({ point }) => point));
  const wanted = points.filter((_, i) => !left.has(i));
  const problems: string[] = result.findings.map(
    (f) => `finding ${f.rule} at 0x${f.place?.pc?.toString(16)}: ${f.message}`,
  );
  const borrowers = new Map(
    result.costs
      .filter(({ scratch: [before, after] }) => after > before)
      .map(({ kernel, scratch }) => [kernel, scratch[0]]),
  );
  let oracle: Oracle | undefined;
  const pair = [code, result.codeObject.bytes] as const;
  const original = await run(pair, input, lost, { address: 0, size: 0 }, (base, places) => {
    oracle = new Oracle(base, wanted, places, borrowers);
    return { monitors: [oracle], engine: 'interpreter' };
  });
  const expected = (oracle as unknown as Oracle).expected;
  let changed: Ran;
  try {
    changed = await run([result.codeObject.bytes, code], input, lost, result.memory, () =>
      strict ? { strict: {} } : { engine },
    );
  } catch (error) {
    return {
      placed: result.placed,
      rejected,
      tainted: 0,
      problems: [...problems, `the probed kernel: ${(error as Error).message}`],
    };
  }
  const wrong = original.outputs.flatMap((output, n) =>
    Buffer.compare(output, changed.outputs[n] as Uint8Array) === 0 ? [] : [n],
  );
  if (wrong.length > 0) problems.push(`the outputs differ of kernels ${wrong.join(', ')} of ${seeds.join(', ')}`);
  if (strict) {
    const before = await run(pair, input, lost, { address: 0, size: 0 }, () => ({ strict: {} }));
    for (const finding of changed.findings.slice(before.findings.length, before.findings.length + 3))
      problems.push(`strict: ${finding}`);
  }
  problems.push(...differences(result, changed.memory ?? new Uint8Array(), expected));
  return { placed: result.placed, rejected, tainted: expected.tainted.size, problems };
}

/** What the probe found and should not have, or the other way round. */
function differences(result: Instrumented, memory: Uint8Array, expected: Oracle['expected']): string[] {
  const out: string[] = [];
  const { totals, sites, table, rows } = result.report(memory) as {
    totals: bigint[];
    table: bigint[];
    sites: { site: { pc: number }; value: bigint }[];
    rows: {
      records: { site: { pc: number }; number: number; wide: bigint; lanes: Uint32Array; wideLanes: BigUint64Array }[];
      appended: number;
    };
  };
  for (const [n, name] of TOTALS.entries()) {
    const wanted = expected.totals.get(name) ?? 0n;
    if (!expected.taintedTotals.has(name) && totals[n] !== wanted) out.push(`${name} ${totals[n]} for ${wanted}`);
  }
  if (!expected.isTableTainted && table.join() !== expected.table.join())
    out.push(`the table ${table.join()} for ${expected.table.join()}`);
  const found = new Map<number, bigint>();
  for (const { site, value } of sites) found.set(site.pc, BigInt.asUintN(64, (found.get(site.pc) ?? 0n) + value));
  for (const pc of new Set([...found.keys(), ...expected.sites.keys()])) {
    if (expected.tainted.has(pc)) continue;
    const [a, b] = [found.get(pc) ?? 0n, expected.sites.get(pc) ?? 0n];
    if (a !== b) out.push(`at 0x${pc.toString(16)}: ${a} for ${b}`);
  }
  if (!expected.isAppendedTainted && rows.appended !== expected.appended)
    out.push(`${rows.appended} records for ${expected.appended}`);
  const left = new Map(expected.rows);
  for (const { site, number, wide, lanes, wideLanes } of rows.records) {
    if (expected.tainted.has(site.pc)) continue;
    const row = rowText(site.pc, number, wide, lanes, wideLanes);
    const count = left.get(row) ?? 0;
    if (count === 0) out.push(`a record at 0x${site.pc.toString(16)} that should not be: ${row.slice(0, 100)}`);
    else left.set(row, count - 1);
  }
  return out.slice(0, 8);
}
