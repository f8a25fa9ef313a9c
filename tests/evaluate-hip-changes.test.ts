// The ladder on changes of HIP kernels, compiled by clang: no wrong one gets through, no right one is refused. Here a part of them, `WAVESMITH_EXAMPLES=all`
// has all.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { chipNamed } from '../src/device/sim/timing/chips/index.ts';
import { Evaluator } from '../src/optimize/index.ts';
import { openCapture } from '../src/snapshot/index.ts';
import { record } from './support/captures.ts';
import { canCompileHip, root, run } from './support/hip.ts';
import { llvmTool } from './support/llvm.ts';
import { HIP_KERNELS, HIP_RIGHT, HIP_WRONG, type HipChange } from './support/optimize/hip-changes.ts';
import { ROUNDING_KERNELS, ROUNDING_RIGHT, ROUNDING_WRONG } from './support/optimize/hip-rounding.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-hip-changes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const FLAGS = ['-x', 'hip', '-std=c++17', '-O3', '--rocm-path=/usr', '-D__AMDGCN_WAVEFRONT_SIZE=64'];
const TARGET = ['--offload-arch=gfx942', '--cuda-device-only', '--no-gpu-bundle-output'];
const LIBRARIES = `--rocm-device-lib-path=${join(root, '.wavesmith', 'hip-device-libs')}`;

async function compiled(source: string, flags: readonly string[] = []): Promise<Uint8Array> {
  const [file, object] = [join(folder, 'k.hip'), join(folder, 'k.co')];
  writeFileSync(file, `#include <hip/hip_runtime.h>\n${source}`);
  const argv = [...FLAGS, ...TARGET, LIBRARIES, ...flags, file, '-o', object];
  const { status, stderr } = await run(llvmTool('clang++') ?? '', argv);
  expect([status, stderr]).toEqual([0, expect.not.stringContaining('error:')]);
  return new Uint8Array(readFileSync(object));
}

const KERNELS = { ...HIP_KERNELS, ...ROUNDING_KERNELS };
type Change = HipChange<keyof typeof KERNELS>;

const evaluators = new Map<string, Evaluator>();

/** The judge of a kernel, as that of a HIP project. */
async function evaluatorOf({ of, class: asked = 'bit' }: Change): Promise<Evaluator> {
  const name = `${of}-${asked}`;
  const known = evaluators.get(name);
  if (known !== undefined) return known;
  const { source, args, grid, block } = KERNELS[of];
  await record(folder, `${name}.wscap`, { code: await compiled(source), args, grid, block });
  const workgroup = block[0] * block[1] * block[2];
  const options = { chip: chipNamed('mi300x'), class: asked, isRebuilt: true, workgroup };
  const made = await Evaluator.open(openCapture(join(folder, `${name}.wscap`)), options);
  evaluators.set(name, made);
  return made;
}

/** Kernels whose changes are tried in every run. */
const SOME = new Set<keyof typeof KERNELS>(['scale', 'softmax', 'quantize']);
const chosen = (all: readonly Change[]) =>
  all.filter(({ of }) => process.env.WAVESMITH_EXAMPLES === 'all' || SOME.has(of));

describe.skipIf(!canCompileHip())('changes of HIP kernels', () => {
  test.each(chosen([...HIP_RIGHT, ...ROUNDING_RIGHT]))('right: $name ($of)', async (change) => {
    const { verdict, rungs } = await (await evaluatorOf(change)).evaluate(await compiled(change.source, change.flags));
    expect(verdict, rungs.at(-1)?.evidence.join('\n')).not.toBe('rejected');
  });

  test.each(chosen([...HIP_WRONG, ...ROUNDING_WRONG]))('wrong: $name ($of)', async (change) => {
    const { verdict, rungs } = await (await evaluatorOf(change)).evaluate(await compiled(change.source, change.flags));
    expect(verdict).toBe('rejected');
    expect(rungs.at(-1)?.evidence[0]).toMatch(/\.$/);
  });
});
