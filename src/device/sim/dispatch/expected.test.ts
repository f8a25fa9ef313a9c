// How long a dispatch will take, by the last one of its kernel.
import { describe, expect, it } from 'vitest';
import { kernelObject } from '../../../../tests/support/kernel-source.ts';
import type { LoadedCode } from '../interpreter/loaded-code.ts';
import { SimDevice } from '../sim-device.ts';
import { expectedMs, guessedMs, noteRun } from './expected.ts';
import type { Launch } from './launch.ts';
import type { Progress } from './progress.ts';

const ran = (instructions: number, done: number, ms?: number, own = instructions) => ({
  progress: { instructions, done, ran: own } as Progress,
  ms,
});
const launch = (entry: number, workgroups: number): Launch => ({ entry, workgroups }) as Launch;

describe('expectedMs', () => {
  it('should go by the time and the instructions of the last dispatch of the same kernel', () => {
    const loaded = {} as LoadedCode;
    expect(expectedMs(loaded, launch(64, 10))).toBeUndefined();
    // Without a time nothing is known.
    noteRun(loaded, launch(64, 10), ran(1000, 10));
    expect(expectedMs(loaded, launch(64, 10))).toBeUndefined();
    noteRun(loaded, launch(64, 10), ran(1000, 10, 5));
    expect(expectedMs(loaded, launch(64, 30))).toBeCloseTo(15);
    expect(expectedMs(loaded, launch(128, 30))).toBeUndefined();
    expect(expectedMs({} as LoadedCode, launch(64, 30))).toBeUndefined();
  });

  it('should go by the instructions of this thread where several share a dispatch', () => {
    const loaded = {} as LoadedCode;
    noteRun(loaded, launch(0, 10), ran(1000, 10, 5, 250));
    expect(expectedMs(loaded, launch(0, 10))).toBeCloseTo(20);
  });

  it('should take the least time of an instruction and the latest number of them', () => {
    const loaded = {} as LoadedCode;
    noteRun(loaded, launch(0, 1), ran(1000, 1, 4));
    noteRun(loaded, launch(0, 1), ran(1000, 1, 40));
    expect(expectedMs(loaded, launch(0, 1))).toBeCloseTo(4);
    noteRun(loaded, launch(0, 1), ran(500, 1));
    expect(expectedMs(loaded, launch(0, 1))).toBeCloseTo(2);
    noteRun(loaded, launch(0, 1), ran(0, 0, 1));
    expect(expectedMs(loaded, launch(0, 1))).toBeCloseTo(2);
  });
});

describe('guessedMs', () => {
  const loop = 's_mov_b32 s8, s9\n.Lloop:\ns_sub_u32 s8, s8, 1\ns_cbranch_scc1 .Lloop';
  const guess = (code: string, workgroups: number, more: Partial<Launch> = {}) => {
    const device = new SimDevice('gfx942');
    const { module, entry } = device.load(kernelObject({ code }).bytes).kernel('k');
    const one = { entry, workgroups, wavesPerGroup: 4, engine: 'compiled', ...more } as Launch;
    return guessedMs(module.loaded, one);
  };

  it('should grow with waves and code, and more with a loop', () => {
    const straight = guess('v_mov_b32_e32 v0, v1\nv_mov_b32_e32 v0, v1', 1000);
    expect(straight).toBeGreaterThan(0);
    expect(guess(loop, 1000)).toBeGreaterThan(20 * straight);
    expect(guess(loop, 2000)).toBeCloseTo(2 * guess(loop, 1000));
    expect(guess(loop, 1000, { engine: 'interpreter' })).toBeCloseTo(100 * guess(loop, 1000));
  });

  it('should not guess at few workgroups, or at kernels that may wait for a time of the host', () => {
    expect(guess(loop, 200)).toBe(0);
    expect(guess(`s_memrealtime s[4:5]\n${loop}`, 1000)).toBeGreaterThan(0);
    expect(guess(`s_memrealtime s[4:5]\n${loop}`, 1000, { hostClockOffset: 0 })).toBe(0);
  });
});
