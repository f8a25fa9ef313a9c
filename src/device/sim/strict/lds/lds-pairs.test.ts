// DS read2 and write2, which wavefronts exchange data by: compiled code finds what the interpreter finds.
import { describe, expect, test } from 'vitest';
import { agreedRules, factsOf, namedFactsOf } from '../../../../../tests/support/both-engines.ts';
import fc from '../../../../../tests/support/fast-check.ts';

const BYTES = 4096;

/** Where the elements of an access are. */
interface Place {
  readonly bytes: 4 | 8;
  /** Of lanes: in a row or further apart, pairs of a sorting network, or such that two lanes have each. */
  readonly lanes: { readonly by: 'stride' | 'network' | 'modulo'; readonly size: number };
  /** In elements: what a further wavefront adds, the first one, and the two offsets, or those of 64 each. */
  readonly wave: number;
  readonly first: number;
  readonly offsets: readonly [first: number, second: number];
  readonly isFar: boolean;
  /** Bytes that are added. */
  readonly skew: number;
}

interface Step {
  readonly kind: 'load' | 'store' | 'barrier';
  readonly place: Place;
  /** Active lanes, and whether only those of the second wavefront are. */
  readonly exec: readonly [low: number, high: number];
  readonly isSecond: boolean;
  readonly data: 'own' | 'same';
  /** Whether accesses, or what has not been waited for in front of a barrier, are waited for. */
  readonly waits: boolean;
}

const BEGIN = `v_and_b32_e32 v0, 0x3ff, v0
v_lshrrev_b32_e32 v4, 6, v0
v_and_b32_e32 v3, 63, v0
v_mov_b32_e32 v8, 0
v_add_u32_e32 v20, 1, v0
v_mov_b32_e32 v21, v0
v_mov_b32_e32 v22, 7
v_mov_b32_e32 v23, 7
v_mov_b32_e32 v24, 7
v_mov_b32_e32 v25, 7
v_lshlrev_b32_e32 v9, 4, v0
s_mov_b32 m0, -1`;
/** All of LDS is written. */
const FILL = `ds_write_b128 v9, v[22:25]
ds_write_b128 v9, v[22:25] offset:2048
s_waitcnt lgkmcnt(0)
s_barrier`;
/** Compiled code finds that it is: a load where something is stored before the next barrier is looked at. */
const KNOWN = 'ds_read2_b32 v[10:11], v9 offset1:128\nds_write_b32 v9, v22\ns_waitcnt lgkmcnt(0)\ns_barrier';
const END = 'v_lshlrev_b32_e32 v5, 2, v0\ns_nop 1\nglobal_store_dword v5, v8, s[4:5]';

const INDEX: Readonly<Record<Place['lanes']['by'], (size: number) => string>> = {
  stride: (size) => `v_mul_u32_u24_e32 v5, ${size}, v3`,
  network: (size) => `v_and_b32_e32 v5, ${2 ** size - 1}, v3\nv_lshlrev_b32_e32 v6, 1, v3\nv_sub_u32_e32 v5, v6, v5`,
  modulo: () => 'v_and_b32_e32 v5, 31, v3',
};

function textOf({ kind, place, exec, isSecond, data, waits }: Step): string {
  if (kind === 'barrier') return waits ? 's_waitcnt lgkmcnt(0)\ns_barrier' : 's_barrier';
  const { bytes, lanes, wave, first, offsets, isFar, skew } = place;
  const address = `${INDEX[lanes.by](lanes.size)}
v_mul_u32_u24_e32 v7, ${wave}, v4
v_add_u32_e32 v5, v5, v7
v_add_lshl_u32 v5, v5, ${first}, ${Math.log2(bytes)}
v_add_u32_e32 v5, ${skew}, v5`;
  const [a, b] = lanes.by === 'network' ? [0, 2 ** lanes.size] : offsets;
  const far = isFar && lanes.by !== 'network';
  const at = `offset0:${far ? a & 1 : a} offset1:${far ? b & 1 : b}`;
  const name = `2${far ? 'st64' : ''}_b${8 * bytes}`;
  const from = data === 'own' ? 20 : 22;
  const source = bytes === 4 ? `v${from}, v${from}` : `v[${from}:${from + 1}], v[${from}:${from + 1}]`;
  const access =
    kind === 'load'
      ? `ds_read${name} v[10:${bytes === 4 ? 11 : 13}], v5 ${at}\ns_waitcnt lgkmcnt(0)\nv_add_u32_e32 v8, v10, v8`
      : `ds_write${name} v5, ${source} ${at}${waits ? '\ns_waitcnt lgkmcnt(0)' : ''}`;
  return `${address}
v_cmp_eq_u32_e32 vcc, 1, v4
s_mov_b32 exec_lo, ${exec[0]}
s_mov_b32 exec_hi, ${exec[1]}${isSecond ? '\ns_and_b64 exec, exec, vcc' : ''}
${access}
s_mov_b64 exec, -1`;
}

const ALL = 0xffffffff;
const element = fc.constantFrom(0, 1, 2, 3, 4, 8, 16, 64);
const place: fc.Arbitrary<Place> = fc.record({
  bytes: fc.constantFrom<4 | 8>(4, 8),
  lanes: fc.record({
    by: fc.constantFrom<Place['lanes']['by']>('stride', 'network', 'network', 'modulo'),
    size: fc.constantFrom(1, 1, 2, 3, 4),
  }),
  wave: fc.constantFrom(0, 0, 1, 128, 128, 128),
  first: fc.constantFrom(0, 0, 0, 1, 2, 8),
  offsets: fc.tuple(element, element),
  isFar: fc.boolean(),
  skew: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 4, 2),
});
/** Mostly several accesses have one place. */
const steps = fc.tuple(place, place).chain((places) =>
  fc.array(
    fc.record({
      kind: fc.constantFrom<Step['kind']>('load', 'load', 'load', 'store', 'store', 'barrier', 'barrier'),
      place: fc.constantFrom(places[0], places[0], places[1]),
      exec: fc.constantFrom<Step['exec']>(
        [ALL, ALL],
        [ALL, ALL],
        [ALL, ALL],
        [0x6f31c08f, 0xf80a5512],
        [0, 0x00f03000],
        [ALL, 0],
        [0, 0],
      ),
      isSecond: fc.constantFrom(false, false, true),
      data: fc.constantFrom<Step['data']>('own', 'own', 'same'),
      waits: fc.boolean(),
    }),
    { minLength: 1, maxLength: 8 },
  ),
);

test('pairs of elements of LDS are found to be wrong as on the interpreter', async () => {
  const found = new Set<string>();
  let right = 0;
  await fc.assert(
    fc.asyncProperty(steps, fc.constantFrom(FILL, FILL, FILL, ''), async (all, fill) => {
      const code = [BEGIN, fill, ...all.map(textOf), END].join('\n');
      const rules = await agreedRules(code, { lds: BYTES, block: [128, 1, 1] });
      if (rules.length === 0) right++;
      for (const rule of rules) found.add(rule);
    }),
    { numRuns: 400 },
  );
  expect(right).toBeGreaterThan(20);
  expect([...found].sort()).toEqual(['memory/uninitialised', 'races/lanes', 'races/lds', 'waits/barrier-before-write']);
});

describe('what else uses what a pair does', () => {
  const CASES: readonly [name: string, waves: number, code: string, finds: readonly string[]][] = [
    [
      'the second elements of a store, behind a barrier',
      2,
      'v_xor_b32_e32 v10, 0x400, v9\nds_write2_b32 v9, v22, v23 offset1:128\ns_barrier\nds_read_b32 v8, v10 offset:512\ns_waitcnt lgkmcnt(0)',
      ['waits/barrier-before-write'],
    ],
    [
      'stores that lie apart, behind a barrier',
      2,
      'v_lshlrev_b32_e32 v9, 10, v4\nv_lshl_add_u32 v9, v3, 4, v9\nv_xor_b32_e32 v10, 0x400, v9\nds_write2_b32 v9, v22, v23 offset1:1\ns_barrier\ns_mov_b32 exec_lo, 0\nds_read_b32 v8, v10\ns_mov_b64 exec, -1\ns_waitcnt lgkmcnt(0)',
      ['waits/barrier-before-write'],
    ],
    [
      'a store behind loads of both wavefronts, of which its own has loaded twice',
      2,
      'v_lshlrev_b32_e32 v9, 2, v3\nds_read2_b32 v[10:11], v9 offset1:128\ns_waitcnt lgkmcnt(0)\nds_read2_b32 v[10:11], v9 offset1:128\ns_waitcnt lgkmcnt(0)\nv_cmp_eq_u32_e32 vcc, 1, v4\ns_and_b64 exec, exec, vcc\nds_write2_b32 v9, v20, v20 offset1:128\ns_mov_b64 exec, -1\ns_waitcnt lgkmcnt(0)',
      ['races/lds'],
    ],
    [
      'a store to what has been loaded across dwords, which may still be on its way behind a barrier',
      2,
      'v_add_u32_e32 v9, 2, v9\nv_xor_b32_e32 v12, 0x400, v9\nds_read2_b32 v[10:11], v9 offset1:128\ns_barrier\nds_write_b32 v12, v20\ns_waitcnt lgkmcnt(0)',
      ['races/lds'],
    ],
    [
      'stores in rows, further apart than they are long, behind a barrier',
      2,
      'v_lshlrev_b32_e32 v9, 10, v4\nv_lshl_add_u32 v9, v3, 4, v9\nv_xor_b32_e32 v10, 0x400, v9\nds_write2_b32 v9, v22, v23 offset1:1\ns_barrier\nv_cmp_eq_u32_e32 vcc, 63, v3\ns_and_b64 exec, exec, vcc\nds_read_b32 v8, v10 offset:4\ns_mov_b64 exec, -1\ns_waitcnt lgkmcnt(0)',
      ['waits/barrier-before-write'],
    ],
    [
      'loads across dwords, which stores of the other wavefront meet',
      2,
      'v_add_u32_e32 v12, 2, v9\nds_read2_b32 v[10:11], v12 offset1:128\ns_waitcnt lgkmcnt(0)\nv_xor_b32_e32 v12, 0x400, v9\ns_nop 0\nds_write_b32 v12, v20\ns_waitcnt lgkmcnt(0)',
      ['races/lds', 'races/lds'],
    ],
    [
      'stores across dwords, which loads of the other wavefront meet',
      2,
      'v_add_u32_e32 v12, 2, v9\nds_write2_b32 v12, v22, v23 offset1:128\ns_waitcnt lgkmcnt(0)\nv_xor_b32_e32 v12, 0x400, v9\nds_read_b32 v10, v12\ns_waitcnt lgkmcnt(0)',
      ['races/lds', 'races/lds'],
    ],
    [
      'what a load from memory brings to the second elements of a load',
      1,
      's_movk_i32 m0, 0x200\ns_nop 0\nglobal_load_lds_dword v9, s[4:5]\nds_read2_b32 v[10:11], v9 offset1:128\ns_waitcnt lgkmcnt(0)\nv_mov_b32_e32 v8, v10\ns_waitcnt vmcnt(0)',
      ['waits/lds-before-return'],
    ],
  ];
  for (const [name, waves, code, finds] of CASES) {
    test(name, async () => {
      const own = `${BEGIN}\n${FILL}\nv_lshlrev_b32_e32 v9, 10, v4\nv_lshl_add_u32 v9, v3, 2, v9\n${KNOWN}\n${code}\n${END}`;
      // Of reads of a wavefront that has read before, compiled code keeps the first one.
      const facts = name.includes('loaded twice') ? factsOf : namedFactsOf;
      expect(await agreedRules(own, { lds: BYTES, block: [64 * waves, 1, 1] }, facts)).toEqual(finds);
    });
  }
});
