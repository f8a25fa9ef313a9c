import { expect, test } from 'vitest';
import type { ThreadTrace, WaveInstruction } from '../records.ts';
import { gapsInFlight } from './gaps-in-flight.ts';

const LINES = [
  'v_add_f32_e32 v0, v0, v0',
  'global_load_dword v1, v[2:3], off',
  's_waitcnt vmcnt(0)',
  's_waitcnt vmcnt(1)',
  's_waitcnt lgkmcnt(0)',
];
const [ADD, LOAD, ALL, ONE, SCALARS] = LINES.keys();

/** The share of a wave of 1,000 cycles; each step is a line, its begin and its duration. */
function shareOf(...steps: readonly (readonly [line: number, time: number, duration: number])[]) {
  const instructions = steps.map(
    ([line, time, duration]): WaveInstruction => ({ line, time, duration, stall: 0, category: '' }),
  );
  const lines = LINES.map((text) => ({ text }));
  const waves = steps.length === 0 ? [] : [{ begin: 0, end: 1000, instructions }];
  return gapsInFlight({ lines, waves } as unknown as ThreadTrace);
}

test('gaps between a load and the wait for it count', () => {
  expect(shareOf([LOAD, 100, 4], [ADD, 204, 4], [ALL, 308, 50])).toEqual({ value: 0.2 });
});

test('not those before the load, behind the wait, or before a wait that is over at once', () => {
  expect(shareOf([LOAD, 100, 4], [ALL, 104, 50], [ADD, 500, 4])).toEqual({ value: 0 });
  expect(shareOf([LOAD, 100, 4], [ADD, 204, 4], [ALL, 308, 4])).toEqual({ value: 0 });
});

test('a wait that leaves one outstanding is for the load before that; no gap counts twice', () => {
  expect(shareOf([LOAD, 0, 4], [LOAD, 104, 4], [ONE, 208, 50])).toEqual({ value: 0.2 });
  expect(shareOf([LOAD, 0, 4], [LOAD, 104, 4], [ONE, 208, 50], [ALL, 308, 50])).toEqual({ value: 0.25 });
});

test('a wait for other things says nothing of loads', () => {
  expect(shareOf([LOAD, 0, 4], [SCALARS, 504, 50])).toEqual({ value: 0 });
});

test('without instructions of a wave it is unknown', () => {
  expect('unknown' in shareOf()).toBe(true);
});
