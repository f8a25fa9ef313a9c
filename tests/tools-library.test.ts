// The tools library by itself: what it tells of an isolated dispatch, and how it comes in through rocprofiler-sdk's registration.
import { describe, expect, it } from 'vitest';
import { runProgram } from '../src/hijack/program-host.ts';
import type { IsolatedDispatch, ToolDispatch } from '../src/runtime/tool-records.ts';
import { nativeTests } from './support/native.ts';

const native = nativeTests();

describe.skipIf(native === undefined)('an isolated dispatch', () => {
  const { file, kernels } = native ?? { file: String, kernels: String };

  it('comes with its code, packet, arguments and all memory before and after it', async () => {
    const isolated: IsolatedDispatch[] = [];
    const told: ToolDispatch[] = [];
    const run = await runProgram(
      {
        plan: ({ object }) => ({ kernels: object.kernels.map(({ name }) => ({ kernel: name, isolate: true })) }),
        onIsolated: (dispatch) => isolated.push(dispatch),
        onDispatch: (dispatch) => told.push(dispatch),
      },
      {
        device: { kind: 'sim', target: 'gfx942', run: {} },
        command: [file('hsa-dispatch'), kernels('gfx942')],
        range: { first: 0n, last: 200n, step: 100n },
        show: 'none',
        report: () => {},
      },
    );
    expect(run.status).toBe(0);
    expect(told.map((d) => d.kernel)).toContain('scale');
    expect(isolated.map((d) => [d.kernel, d.index, d.status])).toEqual([
      ['scale', 0n, 'done'],
      ['scale', 100n, 'done'],
      ['scale', 200n, 'done'],
    ]);
    const [first] = isolated as [IsolatedDispatch];
    expect(first.fields.grid).toEqual([1000, 1, 1]);
    expect(first.packet).toHaveLength(64);
    expect(first.allocations.some((a) => a.kind === 'module' && a.address === first.code.loadBase)).toBe(true);
    // What changed is where an argument points to, and the rest is as it was.
    const pointers = new BigUint64Array(first.kernarg.slice(0, 16).buffer);
    const changed = first.allocations.filter((a) => first.after.offsets(a.id).length > 0);
    expect(changed).toHaveLength(1);
    const [output] = changed as [(typeof changed)[0]];
    expect([...pointers].map(Number)).toContain(output.address);
    const words = (image: typeof first.before): Float32Array =>
      new Float32Array(image.bytes(output.id, 0, output.size).buffer);
    expect(words(first.after)).not.toEqual(words(first.before));
    expect(first.before.bytes(output.id, 0, 4)).toHaveLength(4);
  });
});
