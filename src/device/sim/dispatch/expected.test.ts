// How long a dispatch will take, by the last one of its kernel.
import { describe, expect, it } from 'vitest';
import type { LoadedCode } from '../interpreter/loaded-code.ts';
import { expectedMs, noteRun } from './expected.ts';
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
    expect(expectedMs(loaded, launch(64, 10))).toBe(0);
    // Without a time nothing is known.
    noteRun(loaded, launch(64, 10), ran(1000, 10));
    expect(expectedMs(loaded, launch(64, 10))).toBe(0);
    noteRun(loaded, launch(64, 10), ran(1000, 10, 5));
    expect(expectedMs(loaded, launch(64, 30))).toBeCloseTo(15);
    expect(expectedMs(loaded, launch(128, 30))).toBe(0);
    expect(expectedMs({} as LoadedCode, launch(64, 30))).toBe(0);
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
