// The "vmcnt placement" experiment on a loop of its own: which ways of moving a wait are safe, and what the checker says about the rest.
import { expect, test } from 'vitest';
import { checkCodeObject } from '../src/check/index.ts';
import { kernelObject } from './support/kernel-source.ts';

const TILES = [0, 1, 2, 3];
/** Requests a tile into four registers each, from `base`. */
const requests = (base: number) =>
  TILES.map((i) => `buffer_load_dwordx4 v[${base + 4 * i}:${base + 4 * i + 3}], v1, s[4:7], 0 offen offset:${16 * i}`);
const toLds = (base: number) =>
  TILES.map((i) => `ds_write_b128 v2, v[${base + 4 * i}:${base + 4 * i + 3}] offset:${16 * i}`);
const requestsToLds = TILES.map((i) => `buffer_load_dword v1, s[4:7], 0 offen offset:${64 * i} lds`);
const compute = ['ds_read_b32 v3, v2', 's_waitcnt lgkmcnt(0)', 'v_add_f32 v4, v4, v3'];
const end = ['s_sub_u32 s8, s8, 1', 's_cmp_lg_u32 s8, 0', 's_cbranch_scc1 .Lloop'];
const start = [
  's_mov_b64 s[4:5], s[0:1]',
  's_mov_b32 s6, -1',
  's_mov_b32 s7, 0x20000',
  's_mov_b32 s8, 9',
  's_mov_b32 m0, 0',
  'v_lshlrev_b32 v1, 6, v0',
  'v_lshlrev_b32 v2, 6, v0',
  'v_mov_b32 v4, 0',
];

/** Rules and first words of what is reported, errors and warnings. */
function found(lines: readonly string[], against?: readonly string[]): string[] {
  const build = (code: readonly string[]) =>
    kernelObject({
      code: code.join('\n'),
      descriptor: { next_free_vgpr: 64, accum_offset: 64, group_segment_fixed_size: 4096 },
      metadata: { '.vgpr_count': 64, '.group_segment_fixed_size': 4096 },
    });
  const baseline = against === undefined ? undefined : build(against);
  return checkCodeObject(build(lines), { against: baseline })
    .filter((f) => f.severity !== 'note')
    .map(
      (f) =>
        `${f.severity} ${f.rule} ${f.registers.join(',')} ${/s_waitcnt ([^b]*?) before/.exec(f.fix ?? '')?.[1] ?? ''}`,
    );
}

/** One iteration that uses `from`, in which the next tile is requested into `into` before or after the wait. */
function iteration(wait: string, from: number, into: number, isFirst: boolean, isWaitLate = false): string[] {
  const waiting = isWaitLate ? ['s_barrier', wait] : [wait, 's_barrier'];
  const head = isFirst ? [...requests(into), ...waiting] : waiting;
  const tail = isFirst ? [] : requests(into);
  return [...head, ...toLds(from), ...tail, 's_waitcnt lgkmcnt(0)', 's_barrier', ...compute, 's_barrier'];
}

const original = [...start, ...requests(8), '.Lloop:', ...iteration('s_waitcnt vmcnt(0)', 8, 8, false), ...end];
/** Two sets of registers, the loop unrolled by two. */
const twoSets = (wait: string) => [
  ...start,
  ...requests(8),
  '.Lloop:',
  ...iteration(wait, 8, 24, true),
  ...iteration(wait, 24, 8, true),
  ...end,
];

test('the original is right', () => {
  expect(found(original)).toEqual([]);
});

test('loads first, into other registers: vmcnt(4) is safe, vmcnt(5) is not', () => {
  expect(found(twoSets('s_waitcnt vmcnt(4)'))).toEqual([]);
  expect(found(twoSets('s_waitcnt vmcnt(5)')).sort()).toEqual([
    'error waits/read-before-return v[20:23] vmcnt(4)',
    'error waits/read-before-return v[36:39] vmcnt(4)',
    // What the loads before the loop wrote.
    'warning waits/read-before-return v[20:23] vmcnt(4)',
  ]);
});

test('loads first, into the same registers: what is read is what the new loads write', () => {
  const edit = [...start, ...requests(8), '.Lloop:', ...iteration('s_waitcnt vmcnt(4)', 8, 8, true), ...end];
  expect(found(edit)).toEqual(
    ['v[8:11] vmcnt(3)', 'v[12:15] vmcnt(2)', 'v[16:19] vmcnt(1)', 'v[20:23] vmcnt(0)'].map(
      (what) => `error waits/read-before-return ${what}`,
    ),
  );
});

test('the wait behind the barrier is as good for registers', () => {
  const edit = [...start, ...requests(8), '.Lloop:', ...iteration('s_waitcnt vmcnt(0)', 8, 8, false, true), ...end];
  expect(found(edit, original)).toEqual([]);
});

/** Loads go straight to LDS; every wavefront reads what all have loaded. */
const direct = (wait: readonly string[], isFirst: boolean) => [
  ...start,
  ...requestsToLds,
  '.Lloop:',
  ...(isFirst ? requestsToLds : []),
  ...wait,
  's_barrier',
  ...compute,
  's_barrier',
  ...(isFirst ? [] : requestsToLds),
  ...end,
];

test('loads to LDS: a larger count is an error, loads before the barrier a warning, no wait an error without a baseline too', () => {
  const baseline = direct(['s_waitcnt vmcnt(0)'], false);
  expect(found(baseline)).toEqual([]);
  expect(found(baseline, baseline)).toEqual([]);
  expect(found(direct(['s_waitcnt vmcnt(1)'], false), baseline)).toContain('error waits/order-lost  vmcnt(0)');
  const first = found(direct(['s_waitcnt vmcnt(4)'], true), baseline);
  expect(first.length).toBeGreaterThan(0);
  expect(first.filter((line) => !/^warning (?:waits\/order-lost|control-flow\/barrier-changed)/.test(line))).toEqual(
    [],
  );
  expect(first.some((line) => line.startsWith('warning waits/order-lost'))).toBe(true);
  // Of the pipelined loop itself, one more outstanding is an older load.
  const pipelined = direct(['s_waitcnt vmcnt(4)'], true);
  expect(found(pipelined)).toEqual([]);
  expect(found(direct(['s_waitcnt vmcnt(5)'], true), pipelined)).toContain('error waits/order-lost  vmcnt(4)');
  expect(found(direct([], false)).map((line) => line.split(' ')[1])).toContain('waits/lds-dma');
});
