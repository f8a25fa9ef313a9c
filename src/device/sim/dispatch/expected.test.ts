// How long a dispatch will take, by the last one of its kernel.
import { describe, expect, it } from 'vitest';
import type { LoadedCode } from '../interpreter/loaded-code.ts';
import { expectedMs, noteRun } from './expected.ts';
import type { Launch } from './launch.ts';

const launch = (entry: number, workgroups: number): Launch => ({ entry, workgroups }) as Launch;

describe('expectedMs', () => {
  it('should go by the time and the instructions of the last dispatch of the same kernel', () => {
    const loaded = {} as LoadedCode;
    expect(expectedMs(loaded, launch(64, 10))).toBe(0);
    // Threads that share a dispatch say nothing of the time in one.
    noteRun(loaded, launch(64, 10), { instructions: 1000, workgroups: 10 });
    expect(expectedMs(loaded, launch(64, 10))).toBe(0);
    noteRun(loaded, launch(64, 10), { instructions: 1000, workgroups: 10, ms: 5 });
    expect(expectedMs(loaded, launch(64, 30))).toBeCloseTo(15);
    expect(expectedMs(loaded, launch(128, 30))).toBe(0);
    expect(expectedMs({} as LoadedCode, launch(64, 30))).toBe(0);
  });

  it('should take the least time of an instruction and the latest number of them', () => {
    const loaded = {} as LoadedCode;
    noteRun(loaded, launch(0, 1), { instructions: 1000, workgroups: 1, ms: 4 });
    noteRun(loaded, launch(0, 1), { instructions: 1000, workgroups: 1, ms: 40 });
    expect(expectedMs(loaded, launch(0, 1))).toBeCloseTo(4);
    noteRun(loaded, launch(0, 1), { instructions: 500, workgroups: 1 });
    expect(expectedMs(loaded, launch(0, 1))).toBeCloseTo(2);
    noteRun(loaded, launch(0, 1), { instructions: 0, workgroups: 0, ms: 1 });
    expect(expectedMs(loaded, launch(0, 1))).toBeCloseTo(2);
  });
});
