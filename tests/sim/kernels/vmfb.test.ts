// Kernels of a compiled language model (IREE, gfx942) one dispatch at a time, with the grids and constants its host program computes.
// A sample; `tools/run-vmfb-dispatches.ts` runs all 167. Skips without the reference data.
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { BF16, decodeSmall, encodeSmall, F16, FP8_FNUZ } from '../../../src/base/elements/formats.ts';
import { sharedPath } from '../../support/shared.ts';
import { type DerivedDispatch, deriveDispatches, fillerFor, type KernelRun, VmfbRunner } from './vmfb.ts';

const path = sharedPath('vmfb', 'llama8b-fp8.gfx942.vmfb');

describe.skipIf(path === undefined)('a language model compiled by IREE', () => {
  let derived: DerivedDispatch[];
  let runner: VmfbRunner;
  beforeAll(() => {
    const module = readFileSync(path as string);
    derived = deriveDispatches(module, { tokens: 32, pages: 1, cachePages: 8 });
    runner = new VmfbRunner(module);
  });

  const run = async (start: string, workgroups: number): Promise<KernelRun> => {
    const one = derived.find((d) => d.kernel.startsWith(start));
    if (one?.dispatch === undefined) throw new Error(`no dispatch of ${start}`);
    return await runner.run(one.kernel, one.dispatch, workgroups, fillerFor(one));
  };
  /** The bytes of a binding as words; mapped bindings repeat one block. */
  const view = (run: KernelRun, binding: number): { bytes: Uint8Array; u16: (at: number) => number } => {
    const bytes = run.bindings[binding] as Uint8Array;
    const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return { bytes, u16: (at) => data.getUint16(at % bytes.length, true) };
  };

  test('every kernel has a dispatch; only attention scales, read from the parameters, are assumed', () => {
    expect(derived.length).toBe(167);
    expect(derived.filter((d) => d.dispatch === undefined)).toEqual([]);
    const assumed = derived.filter((d) => d.assumedConstants > 0);
    expect(assumed.length).toBe(33);
    expect(assumed.filter((d) => !d.kernel.includes('attention') || d.assumedConstants > 1)).toEqual([]);
  });

  test('bf16 parameters become f16', async () => {
    const result = await run('_initializer_0_dispatch_0', 4);
    const [from, to] = [view(result, 0), view(result, 1)];
    for (let n = 0; n < 2048; n++) {
      expect(to.u16(2 * n)).toBe(encodeSmall(F16, decodeSmall(BF16, from.u16(2 * n))));
    }
  });

  test('the embedding gathers rows of f16', async () => {
    const result = await run('decode_bs4$async_dispatch_0_', 32);
    const [table, out] = [view(result, 0), view(result, 2)];
    // Token t is number t, and the table begins here in the parameters.
    for (let n = 0; n < 4 * 4096; n += 7) expect(out.u16(2 * n)).toBe(table.u16(2101360640 + 2 * n));
  });

  test('whole numbers become f32', async () => {
    const result = await run('decode_bs4$async_dispatch_7_', 1);
    expect([...new Float32Array(view(result, 1).bytes.buffer, 77824, 4)]).toEqual([0, 1, 2, 3]);
  });

  test('a matrix product of FP8 numbers is exact', async () => {
    const result = await run('decode_bs4$async_dispatch_19_', 4);
    const [x, w, out] = [0, 1, 2].map((n) => view(result, n).bytes) as [Uint8Array, Uint8Array, Uint8Array];
    const fp8 = (bytes: Uint8Array, at: number): number => decodeSmall(FP8_FNUZ, bytes[at % bytes.length] as number);
    const results = new DataView(out.buffer);
    for (let row = 0; row < 2; row++) {
      for (let n = 0; n < 4; n++) {
        let sum = 0;
        for (let k = 0; k < 4096; k++) sum += fp8(x, 49216 + row * 4096 + k) * fp8(w, 2202058816 + n * 4096 + k);
        expect(results.getFloat32(111680 + row * 57344 + n * 4, true)).toBe(sum);
      }
    }
  });

  test('a matrix product of f16 numbers', async () => {
    const result = await run('decode_bs4$async_dispatch_581_', 4);
    const [x, w, out] = [view(result, 0), view(result, 1), view(result, 2)];
    for (let n = 0; n < 4; n++) {
      let sum = 0;
      for (let k = 0; k < 4096; k++) {
        sum += decodeSmall(F16, x.u16(32768 + 2 * k)) * decodeSmall(F16, w.u16(3152048128 + 2 * (n * 4096 + k)));
      }
      expect(Math.abs(decodeSmall(F16, out.u16(2 * n)) - sum)).toBeLessThan(2 ** -10 * Math.max(16, Math.abs(sum)));
    }
  });

  // Reductions, rotary embedding, scatter into the cache, attention, products with an epilogue: they run, stay in bounds, repeat.
  test.each([
    'prefill_bs4$async_dispatch_8_elementwise',
    'prefill_bs4$async_dispatch_12_scatter',
    'prefill_bs4$async_dispatch_15_attention',
    'decode_bs4$async_dispatch_1_reduction',
    'decode_bs4$async_dispatch_2_matmul',
    'decode_bs4$async_dispatch_8_elementwise',
    'decode_bs4$async_dispatch_13_scatter',
    'decode_bs4$async_dispatch_15_attention',
  ])('%s repeats exactly', async (start) => {
    const [first, second] = [await run(start, 1), await run(start, 1)];
    expect(first.changed).toBeGreaterThan(0);
    expect(second.hash).toBe(first.hash);
  });
});
