// Kernels that leave their code, stop for a debugger that is not there, or read by scalars what is no memory: both engines say the same.
import { describe, expect, test } from 'vitest';
import { DeviceFault } from '../../src/device/index.ts';
import { engineRun } from '../support/strict.ts';

const STORE = 'v_mov_b32_e32 v2, 7\nglobal_store_dword v1, v2, s[4:5]';

describe.each(['compiled', 'interpreter'] as const)('%s', (engine) => {
  const run = (code: string) => engineRun(code, { engine, isPlain: true });
  const faultOf = async (code: string): Promise<DeviceFault> => {
    const error: unknown = await run(code).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (error instanceof DeviceFault) return error;
    throw new Error('no fault', { cause: error });
  };

  test('a debugtrap goes on, other traps end the kernel', async () => {
    const { bytes } = await run(`s_trap 3\n${STORE}`);
    expect(bytes[0]).toBe(7);
    for (const id of [1, 2, 4]) expect((await faultOf(`s_trap ${id}\n${STORE}`)).code).toBe('sim/trap');
  });

  test.each([-20000, 20000])('a branch out of the code, by %i instructions, is named by where it goes', async (by) => {
    const error = await faultOf(`s_mov_b32 s6, 0\nfrom:\ns_branch ${by}`);
    expect(error.code).toBe('sim/bad-pc');
    const { pc = 0 } = error.position;
    const named = Number(/pc is (0x[0-9a-f]+)\./.exec(error.message)?.[1]);
    expect(Math.sign(pc)).toBe(Math.sign(by));
    // The image begins at a page.
    expect((named - pc) % 4096).toBe(0);
    expect(String(error.toString())).not.toContain('0x-');
  });

  test('a scalar load that faults has no lane', async () => {
    const error = await faultOf(`${STORE}\ns_mov_b32 s7, 0x1234\ns_mov_b32 s6, 0\ns_load_dword s8, s[6:7], 0x0`);
    expect(error.fault.lane).toBeUndefined();
    expect(error.message).toMatch(/load of 4 bytes at 0x123400000000 is outside live memory/);
    const ofLanes = await faultOf('v_mov_b32_e32 v3, 0x1234\nv_mov_b32_e32 v2, 0\nglobal_load_dword v4, v[2:3], off');
    expect(ofLanes.fault.lane).toBe(0);
  });
});
