// Compiles a random kernel for the host and for GPU targets, runs both, and compares every bit.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDevice, randomNumbers } from '../../../src/device/index.ts';
import type { TargetName } from '../../../src/isa/types.ts';
import { llvmTool } from '../../support/llvm.ts';
import { randomKernel } from './generate.ts';
import { SHAPE } from './prelude.ts';

/** How a kernel is compiled for the GPU. */
export interface Build {
  readonly target: TargetName;
  readonly level: 0 | 1 | 2 | 3;
}

const TARGETS: readonly TargetName[] = ['gfx90a', 'gfx942', 'gfx950'];
export const ALL_BUILDS: readonly Build[] = TARGETS.flatMap((target) =>
  ([0, 1, 2, 3] as const).map((level) => ({ target, level })),
);

export interface Mismatch extends Build {
  readonly seed: number;
  /** Words that differ, and the first of them; or what stopped the kernel. */
  readonly text: string;
}

function compile(flags: readonly string[], source: string, output: string): void {
  const clang = llvmTool('clang-22') as string;
  const result = spawnSync(clang, ['-w', '-ffp-contract=off', ...flags, source, '-o', output], { encoding: 'utf8' });
  if (result.status !== 0) throw new Error(`clang ${flags.join(' ')}: ${result.stderr.slice(0, 2000)}`);
}

function inputs(seed: number): Uint32Array {
  const random = randomNumbers(seed + 1);
  return Uint32Array.from({ length: SHAPE.inputs }, () =>
    random() < 0.3 ? Math.floor(random() * 64) : Math.floor(random() * 2 ** 32),
  );
}

/**
 * Whether the code has an empty region, `s_and_saveexec_b64 sX, …` then `s_or_b64 exec, exec, sX`. clang 22 at -O1 and above leaves one
 * where it has lost the moves of a block (`a || b ? x : y` with x and y in memory or an array); its -O0 and the host then disagree with it.
 */
export function hasEmptyRegion(codeObject: Uint8Array): boolean {
  const view = new DataView(codeObject.buffer, codeObject.byteOffset, codeObject.byteLength);
  for (let at = 0; at + 8 <= codeObject.length; at += 4) {
    const first = view.getUint32(at, true);
    if ((first & 0xff80ff00) >>> 0 !== 0xbe802000) continue;
    if (view.getUint32(at + 4, true) === (0x87fe007e | (((first >>> 16) & 0x7f) << 8)) >>> 0) return true;
  }
  return false;
}

/** Runs one build; undefined when every bit is right, else what is wrong. Instructions are added to `count`. */
async function runBuild(
  object: Uint8Array,
  target: TargetName,
  input: Uint32Array,
  expected: Uint32Array,
  engine: 'compiled' | 'interpreter',
  count: { instructions: number },
): Promise<string | undefined> {
  const device = await createDevice('sim', { target });
  try {
    const from = device.alloc(input.byteLength, 'in');
    const to = device.alloc(4 * SHAPE.groups * SHAPE.block * SHAPE.results, 'out');
    const counters = device.alloc(4 * SHAPE.counters, 'counters');
    device.write(from, new Uint8Array(input.buffer));
    const { instructions } = await device.dispatch({
      kernel: device.load(object).kernel('random_kernel'),
      grid: [SHAPE.groups, 1, 1],
      block: [SHAPE.block, 1, 1],
      args: [from, to, counters],
      maxInstructions: 50_000_000,
      engine,
    });
    count.instructions += instructions;
    const got = new Uint32Array([...words(device.read(to)), ...words(device.read(counters))]);
    const wrong = Array.from(expected.keys()).filter((i) => got[i] !== expected[i]);
    const first = wrong[0];
    if (first === undefined) return undefined;
    const item = `work-item ${Math.floor(first / SHAPE.results)}, word ${first % SHAPE.results}`;
    return `${wrong.length} words differ; ${item}: ${got[first]} for ${expected[first]}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    device.close();
  }
}

/** What a seed showed. */
export interface SeedReport {
  readonly mismatches: readonly Mismatch[];
  /** Executed on the virtual GPU, both engines. */
  readonly instructions: number;
  /** Builds that were not run because the compiler may have lost a block. */
  readonly skipped: number;
}

/** The native result, then each build's on both engines; the builds that differ. */
export async function checkSeed(seed: number, builds: readonly Build[]): Promise<SeedReport> {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-'));
  try {
    const source = join(folder, 'kernel.c');
    writeFileSync(source, randomKernel(seed));
    const input = inputs(seed);
    const program = join(folder, 'host');
    compile(['-O2', '-lm'], source, program);
    const run = spawnSync(program, { input: new Uint8Array(input.buffer) });
    if (run.status !== 0) throw new Error(`seed ${seed}: the native program failed (${run.status ?? run.signal})`);
    const expected = words(run.stdout);
    const mismatches: Mismatch[] = [];
    const count = { instructions: 0 };
    let skipped = 0;
    for (const build of builds) {
      const object = join(folder, 'gpu');
      const { target, level } = build;
      compile(['-target', 'amdgcn-amd-amdhsa', `-mcpu=${target}`, '-nogpulib', `-O${level}`], source, object);
      const code = readFileSync(object);
      if (hasEmptyRegion(code)) {
        skipped++;
        continue;
      }
      for (const engine of ['interpreter', 'compiled'] as const) {
        const text = await runBuild(code, target, input, expected, engine, count);
        if (text !== undefined) mismatches.push({ seed, ...build, text: `${engine}: ${text}` });
      }
    }
    return { mismatches, instructions: count.instructions, skipped };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const words = (bytes: Uint8Array): Uint32Array => new Uint32Array(Uint8Array.from(bytes).buffer);
