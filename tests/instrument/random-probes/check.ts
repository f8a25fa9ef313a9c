// Random kernels with random probes: outputs are those of the original, and the probe finds what an observer of the original sees.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCodeObject } from '../../../src/codeobject/index.ts';
import { createDevice, randomNumbers, type SimDevice, type SimDispatchRequest } from '../../../src/device/index.ts';
import { type Instrumented, instrument, type ProbeDefinition } from '../../../src/instrument/index.ts';
import type { TargetName } from '../../../src/isa/types.ts';
import { type Build, hasEmptyRegion } from '../../sim/random-kernels/check.ts';
import { randomKernel } from '../../sim/random-kernels/generate.ts';
import { SHAPE } from '../../sim/random-kernels/prelude.ts';
import { llvmTool } from '../../support/llvm.ts';
import { randomProbe } from './generate.ts';
import { Oracle, rowText } from './oracle.ts';

const KERNEL = 'random_kernel';
/** Limits of registers that kernels are compiled with, in turn: none, then fewer and fewer. */
const LIMITS = [
  '',
  ', amdgpu_num_vgpr(64)',
  ', amdgpu_num_vgpr(32), amdgpu_num_sgpr(48)',
  ', amdgpu_num_vgpr(24)',
] as const;

/** Compiles the kernel of a seed; undefined when the compiler may have lost a block of it. */
export function compileRandom(
  seed: number,
  { target, level }: Build,
  kernelSize: 'small' | 'full' = 'full',
): Uint8Array | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-'));
  try {
    const [source, object] = [join(folder, 'kernel.c'), join(folder, 'kernel.co')];
    const limit = LIMITS[seed % LIMITS.length] as string;
    const size = 'amdgpu_flat_work_group_size(BLOCK, BLOCK)';
    writeFileSync(source, randomKernel(seed, kernelSize).replace(size, `${size}${limit}`));
    const flags = [
      '-w',
      '-ffp-contract=off',
      '-target',
      'amdgcn-amd-amdhsa',
      `-mcpu=${target}`,
      '-nogpulib',
      `-O${level}`,
    ];
    const result = spawnSync(llvmTool('clang-22') as string, [...flags, source, '-o', object], { encoding: 'utf8' });
    if (result.status !== 0) throw new Error(`clang: ${result.stderr.slice(0, 2000)}`);
    const code = readFileSync(object);
    return hasEmptyRegion(code) ? undefined : code;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What one probe in one kernel showed. */
export interface ProbeReport {
  readonly placed: number;
  readonly rejected: Readonly<Record<string, number>>;
  /** Points whose values were not compared. */
  readonly tainted: number;
  /** What was wrong; empty when all was right. */
  readonly problems: readonly string[];
}

interface Ran {
  readonly output: Uint8Array;
  readonly memory: Uint8Array | undefined;
  readonly instructions: number;
  readonly findings: readonly string[];
}

/** Runs a code object; the bytes at an address of its file are read when it has ended. */
async function run(
  [code, other]: readonly [Uint8Array, Uint8Array],
  input: Uint32Array,
  place: Instrumented['memory'],
  options: (device: SimDevice, base: number) => Partial<SimDispatchRequest>,
): Promise<Ran> {
  const object = readCodeObject(code);
  const device = await createDevice('sim', { target: object.target.processor as TargetName });
  try {
    const from = device.alloc(input.byteLength, 'in');
    const to = device.alloc(4 * SHAPE.groups * SHAPE.block * SHAPE.results, 'out');
    const counters = device.alloc(4 * SHAPE.counters, 'counters');
    device.write(from, new Uint8Array(input.buffer));
    device.write(to, new Uint8Array(to.size));
    device.write(counters, new Uint8Array(counters.size));
    // Both are loaded in one order, so that everything else is at the same addresses.
    const modules = [code, other]
      .sort((a, b) => a.length - b.length)
      .map((bytes) => ({ bytes, module: device.load(bytes) }));
    const kernel = (modules.find((m) => m.bytes === code) as (typeof modules)[number]).module.kernel(KERNEL);
    const symbol = object.kernels.find((k) => k.name === KERNEL)?.descriptorSymbol;
    const base = kernel.descriptorAddress - Number(symbol?.value);
    const result = await device.dispatch({
      kernel,
      grid: [SHAPE.groups, 1, 1],
      block: [SHAPE.block, 1, 1],
      args: [from, to, counters],
      maxInstructions: 200_000_000,
      ...options(device, base),
    });
    const region = place.size === 0 ? undefined : device.memory.find(base + place.address, place.size);
    const at = base + place.address - (region?.base ?? 0);
    return {
      output: Uint8Array.from([...device.read(to), ...device.read(counters)]),
      memory: region?.bytes.slice(at, at + place.size),
      instructions: result.instructions,
      findings: (result.findings ?? [])
        .filter((d) => !d.rule.endsWith('/uninitialised'))
        .map((d) => `${d.rule}: ${d.message}`),
    };
  } finally {
    device.close();
  }
}

/** Puts the random probe of a seed into a kernel, runs both, and compares everything. The interpreter begins sooner, compiled code runs faster. */
export async function checkProbe(
  code: Uint8Array,
  seed: number,
  strict: boolean,
  engine: 'interpreter' | 'compiled' = 'compiled',
): Promise<ProbeReport> {
  const random = randomNumbers(seed);
  const input = Uint32Array.from({ length: SHAPE.inputs }, () =>
    random() < 0.3 ? Math.floor(random() * 64) : Math.floor(random() * 2 ** 32),
  );
  const { probe, points } = randomProbe(seed);
  const growth = seed % 3 !== 0;
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
  let oracle: Oracle | undefined;
  const pair = [code, result.codeObject.bytes] as const;
  const original = await run(pair, input, { address: 0, size: 0 }, (_, base) => {
    oracle = new Oracle(base, wanted);
    return { monitors: [oracle], engine: 'interpreter' };
  });
  const expected = (oracle as unknown as Oracle).expected;
  let changed: Ran;
  try {
    changed = await run([result.codeObject.bytes, code], input, result.memory, () =>
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
  if (Buffer.compare(original.output, changed.output) !== 0) problems.push('the outputs differ');
  if (strict) {
    const before = await run(pair, input, { address: 0, size: 0 }, () => ({ strict: {} }));
    for (const finding of changed.findings.slice(before.findings.length, before.findings.length + 3))
      problems.push(`strict: ${finding}`);
  }
  problems.push(...differences(result, changed.memory ?? new Uint8Array(), expected));
  return { placed: result.placed, rejected, tainted: expected.tainted.size, problems };
}

/** What the probe found and should not have, or the other way round. */
function differences(result: Instrumented, memory: Uint8Array, expected: Oracle['expected']): string[] {
  const out: string[] = [];
  const { total, sites, rows } = result.report(memory) as {
    total: bigint;
    sites: { site: { pc: number }; value: bigint }[];
    rows: {
      records: { site: { pc: number }; number: number; wide: bigint; lanes: Uint32Array; wideLanes: BigUint64Array }[];
      appended: number;
    };
  };
  if (!expected.isTotalTainted && total !== expected.total) out.push(`total ${total} for ${expected.total}`);
  const found = new Map<number, bigint>();
  for (const { site, value } of sites) found.set(site.pc, BigInt.asUintN(64, (found.get(site.pc) ?? 0n) + value));
  for (const pc of new Set([...found.keys(), ...expected.sites.keys()])) {
    if (expected.tainted.has(pc)) continue;
    const [a, b] = [found.get(pc) ?? 0n, expected.sites.get(pc) ?? 0n];
    if (a !== b) out.push(`at 0x${pc.toString(16)}: ${a} for ${b}`);
  }
  if (!expected.isTotalTainted && rows.appended !== expected.appended)
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
