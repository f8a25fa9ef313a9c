// Progress lines with a made-up clock.
import { expect, test } from 'vitest';
import { duration, LaunchesProgress, Progress } from './run-progress.ts';

function watch(isTTY: boolean) {
  let now = 0;
  const out: string[] = [];
  const progress = new Progress({ isTTY, write: (text) => out.push(text) }, () => now);
  return {
    out,
    progress,
    at: (ms: number, done: number) => {
      now = ms;
      progress.update(done, 100);
    },
  };
}

test('a terminal line is rewritten after the first second, and removed', () => {
  const { out, progress, at } = watch(true);
  at(500, 10);
  expect(out).toEqual([]);
  at(1000, 20);
  at(1100, 21);
  at(1300, 50);
  progress.clear();
  expect(out[0]).toBe('\r20 of 100 workgroups (20 %) in 1 s, about 4 s left');
  expect(out[1]).toBe('\r50 of 100 workgroups (50 %) in 1 s, about 1 s left');
  expect(out[2]).toMatch(/^\r +\r$/);
  expect(out).toHaveLength(3);
});

test('a log gets a line every ten seconds', () => {
  const { out, progress, at } = watch(false);
  for (let ms = 0; ms <= 25_000; ms += 500) at(ms, ms / 500);
  progress.clear();
  expect(out).toEqual([
    '2 of 100 workgroups (2 %) in 1 s, about 49 s left\n',
    '22 of 100 workgroups (22 %) in 11 s, about 39 s left\n',
    '42 of 100 workgroups (42 %) in 21 s, about 29 s left\n',
  ]);
});

test('no time is promised before a hundredth has ended', () => {
  const { out, at } = watch(false);
  at(1500, 0);
  expect(out).toEqual(['0 of 100 workgroups (0 %) in 2 s\n']);
});

test.each([
  [0, '0 s'],
  [59_400, '59 s'],
  [60_000, '1:00'],
  [3_599_000, '59:59'],
  [3_907_000, '1:05:07'],
])('%i ms is %s', (ms, text) => {
  expect(duration(ms)).toBe(text);
});

test('launches one after the other are timed each from its own start, and leave no line', () => {
  let now = 0;
  const out: string[] = [];
  const progress = new LaunchesProgress({ isTTY: true, write: (text) => out.push(text) }, () => now);
  for (const [ms, done] of [
    [0, 0],
    [2000, 50],
    [3000, 100],
    [3000, 0],
    [3900, 10],
    [5000, 50],
  ]) {
    now = ms;
    progress.update(done, 100);
  }
  expect(out[0]).toBe('\r50 of 100 workgroups (50 %) in 2 s, about 2 s left');
  expect(out.filter((text) => text.includes('50 of 100'))).toHaveLength(2);
  expect(out.at(-1)).toBe('\r50 of 100 workgroups (50 %) in 2 s, about 2 s left');
  expect(out.some((text) => text.includes('10 of 100'))).toBe(false);
});
