// Sequences of accesses of memory by several workgroups: plain ones, past the caches, atomics that change memory or leave it as it is, and what hands data over
// between them. Compiled code finds what the interpreter finds, and leaves the same bytes.
import { expect, test } from 'vitest';
import { factsOf, onBothEngines } from '../../../../tests/support/both-engines.ts';
import fc from '../../../../tests/support/fast-check.ts';
import type { TargetName } from '../../../isa/types.ts';

const BUFFER_BYTES = 3 * 4096;
/** Bytes that are written before the dispatch. */
const WRITTEN = 2 * 4096 + 1024;

const ATOMICS = [
  'cmpswap',
  'cmpswap',
  'cmpswap',
  'add',
  'add',
  'swap',
  'or',
  'umax',
  'add_f32',
  'add_f32',
  'cmpswap_x2',
  'add_x2',
  'add_f64',
] as const;

/** Of the lanes' addresses: a place, and the lane's number times something. */
const place = fc.record({
  offset: fc.constantFrom(0, 0, 0, 4, 8, 256, 512, 4080, 8192 + 960),
  step: fc.constantFrom(0, 0, 4, 4, 4, 8, 12),
});
const access = fc.record({
  place,
  kind: fc.constantFrom(
    'load',
    'load',
    'store',
    'store',
    'past',
    'past',
    'scoped',
    'release',
    'release',
    'acquire',
    'acquire',
    'write back',
    'invalidate',
    'atomic',
    'fetch',
    'fetch',
    'fetch',
  ),
  size: fc.constantFrom('dword', 'dword', 'dword', 'dwordx2', 'short', 'byte'),
  atomic: fc.constantFrom(...ATOMICS),
  /** What is put there, and what a comparison expects. */
  data: fc.constantFrom(0, 0, 1, 7, 0x3f800000, 1),
  expected: fc.constantFrom(0, 0, 1, 7),
  exec: fc.constantFrom('-1', '-1', '-1', '0xffff', '0x5555', '1', '1', '2'),
  /** The workgroups that execute it: a bit each. */
  groups: fc.constantFrom(0b111, 0b111, 0b111, 0b001, 0b010, 0b110),
  wait: fc.constantFrom(true, true, true, false),
  /** What is left outstanding in front of a release, at most. */
  left: fc.constantFrom(0, 0, 0, 1, 2),
  isMet: fc.constantFrom(false, false, false, true),
  /** Of MODE: rounds towards zero, and loses denormals. */
  mode: fc.constantFrom(0xf0, 0xf0, 0xf0, 0xf3, 0xc0),
});
type Access = typeof access extends fc.Arbitrary<infer T> ? T : never;

const pair = (first: number, isPair: boolean): string => (isPair ? `v[${first}:${first + 1}]` : `v${first}`);

/** v6 has the offsets of the lanes; v[16:19] are data. */
function instructions(target: TargetName, { kind, size, atomic, exec, left }: Access): readonly string[] {
  const isOld = target === 'gfx90a';
  const [scope, returns, wait] = [isOld ? 'glc' : 'sc1', isOld ? 'glc' : 'sc0', 's_waitcnt vmcnt(0)'];
  const narrow = { byte: 'ubyte', short: 'ushort' }[size as 'byte' | 'short'] ?? size;
  const wide = size === 'dwordx2';
  const past = wide ? size : 'dword';
  const isWide = /x2|f64/.test(atomic);
  const data = pair(16, isWide || atomic === 'cmpswap');
  const both = atomic === 'cmpswap_x2' ? 'v[16:19]' : data;
  const invalidate = isOld ? 'buffer_wbinvl1_vol' : 'buffer_inv sc1';
  const writeBack = ['s_mov_b64 exec, -1', isOld ? 'buffer_wbl2' : 'buffer_wbl2 sc1', `s_mov_b64 exec, ${exec}`];
  const fetch = `global_atomic_${atomic} ${pair(24, isWide)}, v6, ${both}, s[4:5] ${returns}`;
  switch (kind) {
    case 'load':
      return [`global_load_${narrow} ${pair(20, wide)}, v6, s[4:5]`];
    case 'store':
      return [`global_store_${size} v6, ${pair(16, wide)}, s[4:5]`];
    case 'past':
      return [`global_load_${past} ${pair(22, wide)}, v6, s[4:5] ${scope}`];
    case 'scoped':
      return [`global_store_${past} v6, ${pair(16, wide)}, s[4:5] ${scope}`];
    case 'release':
      return [
        ...(isOld ? [] : writeBack),
        `s_waitcnt vmcnt(${left})`,
        size === 'short'
          ? `global_atomic_add v6, v16, s[4:5]`
          : `global_store_${past} v6, ${pair(16, wide)}, s[4:5] ${scope}`,
      ];
    case 'acquire':
      return [
        size === 'short' ? fetch : `global_load_${past} ${pair(22, wide)}, v6, s[4:5] ${scope}`,
        wait,
        invalidate,
      ];
    case 'write back':
      return writeBack;
    case 'invalidate':
      return [invalidate];
    case 'atomic':
      return [`global_atomic_${atomic} v6, ${both}, s[4:5]`];
    case 'fetch':
      return [fetch];
  }
}

/** Waits for others until a dword is 0, which it is: what they hand over at barriers is followed then. */
const POLL = (scope: string): readonly string[] => [
  'v_mov_b32_e32 v31, 0x800',
  's_mov_b64 exec, 1',
  'poll:',
  `global_load_dword v30, v31, s[4:5] ${scope}`,
  's_waitcnt vmcnt(0)',
  'v_readfirstlane_b32 s9, v30',
  's_cmp_lg_u32 s9, 0',
  's_cbranch_scc1 poll',
  's_mov_b64 exec, -1',
];

function code(target: TargetName, all: readonly Access[], polls: boolean): string {
  const lines: string[] = ['v_and_b32_e32 v8, 63, v0'];
  if (polls) lines.push(...POLL(target === 'gfx90a' ? 'glc' : 'sc1'));
  all.forEach((one, n) => {
    const { offset, step } = one.place;
    lines.push(
      `s_lshr_b32 s8, 0x${one.groups.toString(16)}, s2`,
      's_and_b32 s8, s8, 1',
      `s_cbranch_scc0 skip${n}`,
      `s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), ${one.mode}`,
      `v_mul_u32_u24_e32 v6, ${step}, v8`,
      `v_add_u32_e32 v6, ${offset}, v6`,
      ...[16, 17, 18, 19].map(
        (r) =>
          `v_mov_b32_e32 v${r}, ${r === (/x2/.test(one.atomic) ? 18 : 17) ? one.expected : r === 16 ? one.data : 0}`,
      ),
      `s_mov_b64 exec, ${one.exec}`,
      ...instructions(target, one),
      ...(one.wait ? ['s_waitcnt vmcnt(0)'] : []),
      's_mov_b64 exec, -1',
      `skip${n}:`,
    );
    if (one.isMet) lines.push('s_barrier');
  });
  lines.push('s_waitcnt vmcnt(0)');
  return lines.join('\n');
}

const run = (target: TargetName, text: string, waves: number) =>
  onBothEngines(text, {
    target,
    descriptor: { accum_offset: 40 },
    grid: [3, 1, 1],
    block: [64 * waves, 1, 1],
    bufferBytes: BUFFER_BYTES,
    written: WRITTEN,
    isZeroed: true,
  });

const PLAIN: Access = {
  place: { offset: 0, step: 0 },
  kind: 'load',
  size: 'dword',
  atomic: 'cmpswap',
  data: 0,
  expected: 0,
  exec: '-1',
  groups: 7,
  wait: true,
  left: 0,
  isMet: false,
  mode: 0xf0,
};

/** What longer runs have found: an atomic that changes memory as MODE of the compiled code has it that calls the checks, where others have stored. */
const DENORMAL: Access[] = [
  { ...PLAIN, kind: 'fetch', atomic: 'add_f32', data: 7, place: { offset: 256, step: 0 } },
  { ...PLAIN, kind: 'store', place: { offset: 8, step: 4 } },
];
/** On gfx90a, a flag of two dwords the second one of which is read by a plain load. */
const WIDE_FLAG: Access[] = [
  { ...PLAIN, place: { offset: 8, step: 0 } },
  PLAIN,
  { ...PLAIN, kind: 'store' },
  { ...PLAIN, kind: 'past' },
  { ...PLAIN, kind: 'release', size: 'dwordx2', exec: '1', place: { offset: 4, step: 0 } },
];
/** A load in front of an atomic, of what the wavefront itself has updated last: it learns nothing there. */
const OWN_UPDATE: Access[][] = [
  [
    { ...PLAIN, kind: 'atomic', place: { offset: 4, step: 0 } },
    { ...PLAIN, place: { offset: 4, step: 4 } },
    { ...PLAIN, kind: 'release', groups: 1 },
    { ...PLAIN, kind: 'fetch', place: { offset: 256, step: 0 } },
    PLAIN,
  ],
  [
    { ...PLAIN, kind: 'atomic' },
    { ...PLAIN, exec: '0xffff' },
    { ...PLAIN, kind: 'atomic' },
    { ...PLAIN, kind: 'store' },
    { ...PLAIN, kind: 'acquire' },
  ],
];
/** Two that learn of others and come back at one wait: in their order. */
const TOGETHER: Access[] = [
  { ...PLAIN, kind: 'fetch', data: 0x3f800000, exec: '2', place: { offset: 0, step: 4 }, wait: false },
  { ...PLAIN, place: { offset: 512, step: 4 } },
  { ...PLAIN, kind: 'atomic', place: { offset: 0, step: 12 } },
  { ...PLAIN, kind: 'store' },
];

test.each(['gfx90a', 'gfx942', 'gfx950'] as const)('of %s', async (target) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(access, { minLength: 1, maxLength: 14 }),
      fc.constantFrom(1, 2),
      fc.boolean(),
      async (all, waves, polls) => {
        const text = code(target, all, polls);
        const { compiled, interpreted } = await run(target, text, waves);
        expect(factsOf(compiled), text).toEqual(factsOf(interpreted));
        expect(compiled.bytes).toEqual(interpreted.bytes);
      },
    ),
    {
      numRuns: Number(process.env.FUZZ_RUNS ?? 60),
      examples: [DENORMAL, WIDE_FLAG, TOGETHER, ...OWN_UPDATE].map((all): [Access[], number, boolean] => [
        all,
        1,
        false,
      ]),
    },
  );
});
