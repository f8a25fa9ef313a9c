// Counters and profiles are the same whoever runs the kernel: compiled code, the interpreter that was asked for, or the one that another monitor needs.
import { expect, test, vi } from 'vitest';
import { debuggedCode } from '../../../../tests/support/debugged.ts';
import { kernelObject } from '../../../../tests/support/kernel-source.ts';
import type { Monitor } from '../dispatch/monitor.ts';
import { SimDevice } from '../sim-device.ts';
import { CompiledEngine } from '../wasm/engine.ts';
import { RunTools } from './session.ts';

/** Lanes of a wavefront part at the branch over the barrier's exchange; an instruction behind that reads a register that M0 moves. */
const CODE = debuggedCode(7).replace(
  'back:',
  'back:\ns_mov_b64 s[16:17], exec\nv_cmp_gt_u32_e32 vcc, 20, v0\ns_and_b64 exec, exec, vcc\nv_add_u32_e32 v2, 1, v2\ns_mov_b64 exec, s[16:17]\ns_mov_b32 s16, 1\ns_set_gpr_idx_on s16, gpr_idx(SRC0)\nv_mov_b32_e32 v3, v1\ns_set_gpr_idx_off',
);

const object = kernelObject({
  code: CODE,
  args: [[8, 'global_buffer']],
  descriptor: { system_sgpr_workgroup_id_x: 1, next_free_sgpr: 32, group_segment_fixed_size: 512, next_free_vgpr: 8 },
  metadata: { '.group_segment_fixed_size': 512 },
});

async function counted(engine: 'compiled' | 'interpreter', others: readonly Monitor[]) {
  const device = new SimDevice('gfx942', {});
  try {
    const kernel = device.load(object.bytes).kernel('k');
    const tools = new RunTools(kernel, object, { counters: true, profile: true });
    const args = [device.alloc(4096, 'data')];
    const monitors = [...tools.monitors, ...others];
    const { instructions } = await device.dispatch({
      kernel,
      grid: [2, 1, 1],
      block: [128, 1, 1],
      args,
      engine,
      monitors,
    });
    return { instructions, counters: tools.counters(), profile: tools.profile() };
  } finally {
    device.close();
  }
}

test('counts do not depend on who runs the kernel', async () => {
  const compiled = await counted('compiled', []);
  expect(compiled.profile?.instructions).toBe(compiled.instructions);
  expect(compiled.profile?.utilisation).toBeLessThan(1);
  let seen = 0;
  const other: Monitor = {
    before: () => {
      seen++;
    },
  };
  expect(await counted('interpreter', [])).toEqual(compiled);
  expect(await counted('compiled', [other])).toEqual(compiled);
  expect(seen).toBe(compiled.instructions);
});

test('the code of counters is kept for the next who count, and nobody counts what others run', async () => {
  const device = new SimDevice('gfx942', {});
  const compile = vi.spyOn(CompiledEngine.prototype, 'prepare');
  try {
    const kernel = device.load(object.bytes).kernel('k');
    const args = [device.alloc(4096, 'data')];
    const run = async (groups: number, tools = new RunTools(kernel, object, { counters: true })) => {
      await device.dispatch({ kernel, grid: [groups, 1, 1], block: [128, 1, 1], args, monitors: tools.monitors });
      return tools;
    };
    const value = (tools: RunTools, name: string): unknown => tools.counters()?.counters[name];
    const lds = (tools: RunTools): number => (value(tools, 'SQ_INSTS_LDS') as { value: number }).value;
    const first = await run(2);
    const one = first.counters()?.counters;
    // At the same time, and of other sizes.
    const [second, third] = await Promise.all([run(2), run(3)]);
    expect(first.counters()?.counters).toEqual(one);
    expect(second.counters()?.counters).toEqual(one);
    expect(value(third, 'SQ_WAVES')).toEqual({ value: 6 });
    expect(new Set(compile.mock.contexts).size).toBeLessThan(3);
    // Of several dispatches, the sum.
    await run(3, first);
    expect(value(first, 'SQ_WAVES')).toEqual({ value: 10 });
    expect(lds(first)).toBe(lds(second) + lds(third));
  } finally {
    device.close();
    compile.mockRestore();
  }
});
