// Captures of dispatches whose memory is hard to capture: pointers in memory, structures and variables, mappings, dynamic LDS, no arguments.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDevice, type DeviceBuffer, type SimDevice, type SimDispatchRequest } from '../src/device/index.ts';
import { isSimKernel } from '../src/device/sim/module.ts';
import {
  type Capture,
  deviceFor,
  openCapture,
  Recorder,
  replayCapture,
  rewriteCapture,
} from '../src/snapshot/index.ts';
import { llvmTool } from './support/llvm.ts';

const clang = llvmTool('clang-22');
const folder = mkdtempSync(join(tmpdir(), 'wavesmith-capture-memory-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function compile(target: string, name: string, ...flags: string[]): Uint8Array {
  const output = join(folder, `${name}.co`);
  const args = ['-target', 'amdgcn-amd-amdhsa', `-mcpu=${target}`, '-nogpulib', '-O2', '-I', 'examples', ...flags];
  const run = spawnSync(clang as string, [...args, 'tests/sim/capture.c', '-o', output], { encoding: 'utf8' });
  if (run.status !== 0) throw new Error(run.stderr);
  return readFileSync(output);
}

const u32 = (...values: number[]): Uint8Array => new Uint8Array(Uint32Array.from(values).buffer);
const pointer = (address: number): Uint8Array => new Uint8Array(BigUint64Array.of(BigInt(address)).buffer);
const joined = (...parts: Uint8Array[]): Uint8Array => Uint8Array.from(parts.flatMap((p) => [...p]));

async function replay(capture: Capture, code?: Uint8Array) {
  const device = deviceFor(capture);
  try {
    return await replayCapture(device, capture, { code, iterations: 2 });
  } finally {
    device.close();
  }
}

describe.skipIf(clang === undefined).each(['gfx90a', 'gfx942'] as const)('on %s', (target) => {
  let object: Uint8Array;
  let device: SimDevice;
  beforeAll(async () => {
    object = compile(target, target);
    device = await createDevice('sim', { target });
  });
  afterAll(() => device.close());

  function put(bytes: Uint8Array, label: string, address?: number): DeviceBuffer {
    const buffer =
      address === undefined ? device.alloc(bytes.length, label) : device.allocAt(address, bytes.length, label);
    device.write(buffer, bytes);
    return buffer;
  }

  /** Records a dispatch and proves that its capture replays, and that it needs each of its chunks. */
  async function capture(
    name: string,
    request: Omit<SimDispatchRequest, 'kernel' | 'grid' | 'block'>,
    grid = 1,
  ): Promise<Capture> {
    const kernel = device.load(object).kernel(name);
    if (!isSimKernel(kernel)) throw new Error('not on the virtual GPU');
    const recorder = new Recorder({
      kernel,
      codeObject: object,
      producer: { name: 'test', version: '1', device: 'sim' },
    });
    await device.dispatch({ ...request, kernel, grid: [grid, 1, 1], block: [64, 1, 1], monitors: [recorder.monitor] });
    const path = join(folder, `${target}-${name}.wscap`);
    await recorder.finish(path, { replace: true });
    const made = openCapture(path);
    expect(made.manifest.memory.proved).toBe(true);
    expect(await replay(made)).toMatchObject({ verdict: 'equal', reasons: [] });
    const { memory } = made.manifest;
    for (const chunk of memory.chunks) {
      const less = join(folder, 'less.wscap');
      const chunks = memory.chunks.filter((one) => one !== chunk);
      rewriteCapture(made, less, { replace: true }, () => ({ memory: { ...memory, chunks } }));
      const ok = await replay(openCapture(less)).then(
        (result) => result.ok,
        (error: { code?: string }) => {
          expect(error.code).toBe('capture/no-arguments');
          return false;
        },
      );
      expect(ok, `without chunk ${chunk.allocation}.${chunk.index}`).toBe(false);
    }
    return made;
  }

  test('a linked list over several allocations, far apart', async () => {
    const out = put(u32(0), 'out');
    const last = put(joined(pointer(0), u32(30)), 'last', 0x7f12_3456_0000);
    const middle = put(joined(pointer(last.address), u32(20)), 'middle', 0x5_0000_0000);
    const head = put(joined(pointer(middle.address), u32(10)), 'head');
    const made = await capture('list', { args: [head, out] });
    expect(made.chunks.map((c) => c.allocation.label)).toEqual(
      expect.arrayContaining(['head', 'middle', 'last', 'out']),
    );
    expect(new Uint32Array(device.read(out).buffer)).toEqual(Uint32Array.of(60));
  });

  test('pointers in a structure by value', async () => {
    const input = put(u32(...Array.from({ length: 64 }, (_, i) => i)), 'in');
    const out = put(new Uint8Array(256), 'out');
    await capture('by_value', { args: [joined(pointer(input.address), u32(3, 0), pointer(out.address))] });
  });

  test('a variable that points to another one, both as earlier dispatches left them', async () => {
    const out = put(new Uint8Array(512), 'out');
    const made = await capture('variables', { args: [out] }, 2);
    const variables = made.manifest.code.variables.map((v) => v.name);
    expect(variables).toEqual(expect.arrayContaining(['table', 'pointer', 'calls']));
    expect(
      made.chunks.some((c) => c.allocation.kind === 'code' && c.entry.pre !== undefined && c.entry.post !== undefined),
    ).toBe(true);
    // Other code, whose variables are elsewhere or in another order, gets their contents by name.
    const edited = compile(target, `${target}-O1`, '-O1', '-fno-data-sections');
    const result = await replay(made, edited);
    expect(result.reasons).toEqual([]);
    expect(result.verdict).toBe('equal');
  });

  test('constants in the code object', async () => {
    const input = put(u32(...Array.from({ length: 64 }, (_, i) => i)), 'in');
    const out = put(new Uint8Array(256), 'out');
    const made = await capture('constants', { args: [out, input] });
    expect(made.chunks.every((c) => c.allocation.kind !== 'code')).toBe(true);
    expect([...device.read(out).subarray(4, 8)]).toEqual([3, 0, 0, 0]);
  });

  test('a kernel without arguments', async () => {
    const made = await capture('nothing', {});
    expect(made.manifest.dispatch.kernarg.slots.filter((s) => !s.kind.startsWith('hidden_'))).toEqual([]);
  });

  test('dynamic LDS', async () => {
    const input = put(u32(...Array.from({ length: 128 }, (_, i) => i * i)), 'in');
    const out = put(new Uint8Array(512), 'out');
    const made = await capture('reverse', { args: [out, input], dynamicLds: 256 }, 2);
    expect(made.manifest.dispatch.dynamicLds).toBe(256);
  });

  test('a mapping of memory at another address', async () => {
    const input = put(u32(...Array.from({ length: 64 }, (_, i) => i + 1)), 'in');
    const out = put(new Uint8Array(256), 'out');
    const alias = 0x7e00_0000_0000;
    device.memory.map(alias, 256, input.address, false);
    const made = await capture('reverse', {
      args: [out, { address: alias, size: 256, label: 'alias' }],
      dynamicLds: 256,
    });
    expect(made.manifest.memory.aliases).toEqual([{ address: alias, size: 256, source: input.address }]);
    device.memory.free(alias);
  });

  test('a result that depends on the order of workgroups, and one by atomics that does not', async () => {
    const next = put(u32(0), 'next');
    const out = put(new Uint8Array(64), 'out');
    const made = await capture('order', { args: [next, out] }, 16);
    const { determinism } = made.manifest;
    expect(determinism?.runs[0]?.outcome).toBe('same');
    expect(determinism?.runs[1]?.outcome).toMatch(/bytes differ/);
    expect(determinism?.varying.every((v) => v.address >= out.address && v.address < out.address + 64)).toBe(true);
    const bins = put(u32(...new Array<number>(16).fill(5)), 'bins');
    const input = put(u32(...Array.from({ length: 256 }, (_, i) => i * 7)), 'in');
    const sum = await capture('count', { args: [bins, input] }, 4);
    expect(sum.manifest.determinism?.varying).toEqual([]);
  });

  test('workgroups that wait for each other: flags that are read behind their stores may be read before them in another order', async () => {
    const sums = put(new Uint8Array(4 * 64 * 6), 'sums');
    const flags = put(new Uint8Array(64), 'flags');
    const input = put(u32(...Array.from({ length: 64 * 6 }, (_, i) => i)), 'in');
    const made = await capture('chain', { args: [sums, flags, input] }, 6);
    expect(made.manifest.determinism?.runs.map(({ outcome }) => outcome)).not.toContainEqual(
      expect.stringMatching(/bytes differ/),
    );
    expect(made.manifest.determinism?.varying).toEqual([]);
  });

  test('a sum of floats by atomics: the bytes that vary are marked, and no replay compares them', async () => {
    const total = put(new Uint8Array(64), 'total');
    const values = Float32Array.from({ length: 256 }, (_, i) => (i % 3 === 0 ? 1e7 : 1e-3) * (1 + i / 7));
    const input = put(new Uint8Array(values.buffer), 'in');
    const made = await capture('float_sum', { args: [total, input] }, 4);
    const { determinism } = made.manifest;
    expect(determinism?.runs[0]?.outcome).toBe('same');
    expect(determinism?.runs.some((r) => /bytes differ/.test(r.outcome))).toBe(true);
    // Only low bits of the one float vary.
    expect(determinism?.varying.length).toBeGreaterThan(0);
    expect(
      determinism?.varying.every((v) => v.address >= total.address && v.address + v.bytes < total.address + 4),
    ).toBe(true);
    const result = await replay(made);
    expect(result.remarks.join()).toMatch(/bytes depend on the order of waves/);
  });
});
