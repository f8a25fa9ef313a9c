// `wavesmith capture -- PROGRAM` with programs that were not written for it: `iree-run-module` with a whole IREE module, and Triton's own driver
// where `npm run clients` has installed it. What is captured replays without them.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { elementType, fillRandom, randomNumbers } from '../src/base/index.ts';
import { findIreeTool } from '../src/iree/tools.ts';
import { type Capture, openCapture } from '../src/snapshot/index.ts';
import { mutationScore } from './support/capture-mutants.ts';
import { endedAtOnce, replayOnce } from './support/capture-subjects.ts';
import { type HipRun, run } from './support/hip.ts';
import { hasNativeBuild, root } from './support/native.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-capture-frameworks-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = (name: string): string => join(folder, name);

async function capture(
  name: string,
  options: readonly string[],
  program: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<HipRun & { readonly captures: readonly Capture[] }> {
  const command = ['bin/wavesmith', 'capture', ...options, '-o', path(`${name}.wscap`), '--', ...program];
  const result = await run(process.execPath, command, environment);
  const made = readdirSync(folder).filter((file) => file.startsWith(`${name}.`) && file.endsWith('.wscap'));
  const captures = made.sort().map((file) => openCapture(path(file)));
  captures.sort((a, b) => a.manifest.dispatch.sequence - b.manifest.dispatch.sequence);
  return { ...result, captures };
}

/** Memory that a capture has of an address on: before the dispatch, or after it. */
function memoryAt(capture: Capture, address: number, size: number, side: 'pre' | 'post'): Buffer {
  const chunk = capture.chunks.find((c) => address >= c.address && address + size <= c.address + c.length);
  const bytes = chunk?.[side]();
  if (chunk === undefined || bytes === undefined) throw new Error(`the capture has nothing at ${address}`);
  return Buffer.from(bytes.subarray(address - chunk.address, address - chunk.address + size));
}

const pointersOf = (capture: Capture): number[] =>
  capture.manifest.dispatch.kernarg.slots
    .filter((s) => s.points !== undefined)
    .map((s) => Number(Buffer.from(s.bytes).readBigUInt64LE()));

const tools = ['iree-compile', 'iree-run-module'].map((name) => findIreeTool(name as 'iree-compile')?.path);
const [compiler, runner] = tools;

describe.skipIf(compiler === undefined || runner === undefined || !hasNativeBuild())('an IREE module', () => {
  test('has its dispatches captured, each with what the program gave and took', async () => {
    const module = path('two.vmfb');
    const flags = ['--iree-hal-target-backends=rocm', '--iree-rocm-target=gfx942'];
    const made = spawnSync(compiler as string, [...flags, join(root, 'examples/two_matmuls.mlir'), '-o', module]);
    expect(made.status, made.stderr.toString()).toBe(0);
    const shapes = ['64x64xf16', '64x96xf16', '96x32xf16'];
    const inputs = shapes.map((shape, n) => {
      const [rows, columns] = shape.split('x').map(Number) as [number, number];
      const bytes = new Uint8Array(rows * columns * 2);
      fillRandom(bytes, elementType('f16'), randomNumbers(n + 1));
      writeFileSync(path(`${n}.bin`), bytes);
      return bytes;
    });
    const program = [
      ...[runner as string, '--device=hip', `--module=${module}`, '--function=two_matmuls'],
      ...shapes.map((shape, n) => `--input=${shape}=@${path(`${n}.bin`)}`),
      `--output=@${path('out.bin')}`,
    ];
    const { status, stderr, captures } = await capture('two', ['--dispatch', '0-9'], program);
    expect(status, stderr).toBe(0);
    expect(stderr.match(/proved complete/g), stderr).toHaveLength(captures.length);
    expect(captures.length).toBeGreaterThan(1);
    // The first reads what the program gave, the last leaves what it took.
    const [first, last] = [captures[0], captures.at(-1)] as [Capture, Capture];
    const [a = 0] = pointersOf(first);
    expect(memoryAt(first, a, 8192, 'pre').equals(inputs[0] as Uint8Array)).toBe(true);
    const output = readFileSync(path('out.bin'));
    const results = pointersOf(last).flatMap((at) => {
      try {
        return [memoryAt(last, at, output.length, 'post')];
      } catch {
        return [];
      }
    });
    expect(results.some((bytes) => bytes.equals(output))).toBe(true);
    for (const one of captures) {
      expect(await replayOnce(one, { iterations: 2 })).toMatchObject({ verdict: 'equal', reasons: [] });
      expect((await replayOnce(one, { code: endedAtOnce(one) })).ok).toBe(false);
    }
    const { changed, missed } = await mutationScore(last, 2);
    expect([changed.stale > 0, missed]).toEqual([true, []]);
    const kernel = last.manifest.dispatch.kernel;
    const one = await capture('one', ['--kernel', `^${kernel.replaceAll('$', '\\$')}$`, '--no-orders'], program);
    expect(one.captures.map((c) => c.manifest.dispatch.kernel)).toEqual([kernel]);
  });
});

const python = join(root, '.wavesmith/clients/bin/python');
const hasTriton = existsSync(join(root, '.wavesmith/clients/.stamp'));
if (!hasTriton) console.warn("skipped: Triton is not installed ('npm run clients' installs it).");

describe.skipIf(!hasTriton || !hasNativeBuild())('Triton', () => {
  test('has a kernel captured that its own driver launched', async () => {
    const environment = {
      PYTHONPATH: join(root, 'tests/clients/triton'),
      TRITON_CACHE_DIR: join(root, '.wavesmith/triton-cache'),
    };
    const program = [python, '-W', 'ignore', 'tests/clients/triton/tutorials.py', 'fused_softmax'];
    const { status, stderr, captures } = await capture('triton', ['--kernel', 'softmax'], program, environment);
    expect(status, stderr).toBe(0);
    const [made] = captures as [Capture];
    expect(made.manifest.dispatch.kernel).toBe('softmax_kernel');
    expect(await replayOnce(made)).toMatchObject({ verdict: 'equal', reasons: [] });
    const { changed, missed } = await mutationScore(made, 2);
    expect([changed.further > 0, changed.stale > 0, missed]).toEqual([true, true, []]);
  });
});
