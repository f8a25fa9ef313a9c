// What mem-coalescing makes of records: lines of the target's cache, bytes that lanes share.
import { expect, test } from 'vitest';
import coalescing from './mem-coalescing.ts';

type Context = Parameters<typeof coalescing.report>[0];

function report(target: string, address: readonly bigint[]) {
  const one = { text: 'global_load_dword v0, v[2:3], off', operation: 'global_load_dword', accessSize: 4 };
  const exec = (1n << BigInt(address.length)) - 1n;
  const accesses = { records: [{ site: { pc: 16 }, exec, address }], appended: 1, dropped: 0 };
  const context = { program: { target, at: () => one }, state: { accesses } } as unknown as Context;
  return (coalescing.report(context).instructions as unknown[])[0];
}

test('two words a line apart touch two lines where one would do', () => {
  expect(report('gfx90a', [0n, 64n])).toMatchObject({ lines: 2, needed: 1, efficiency: 0.5 });
  expect(report('gfx942', [0n, 64n])).toMatchObject({ lines: 1, needed: 1, efficiency: 1 });
  expect(report('gfx950', [0n, 128n])).toMatchObject({ lines: 2, needed: 1, efficiency: 0.5 });
});

test('whole lines are fully efficient on each target', () => {
  const row = Array.from({ length: 32 }, (_, lane) => BigInt(4 * lane));
  expect(report('gfx90a', row)).toMatchObject({ lines: 2, needed: 2, efficiency: 1 });
  expect(report('gfx942', row)).toMatchObject({ lines: 1, needed: 1, efficiency: 1 });
});

test('bytes that lanes share are needed once', () => {
  const overlapping = Array.from({ length: 63 }, (_, lane) => BigInt(lane));
  expect(report('gfx942', overlapping)).toMatchObject({ lines: 1, needed: 1, efficiency: 1 });
});
