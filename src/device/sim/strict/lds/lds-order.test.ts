// Wavefronts that hand over data through LDS by atomics that return values and by flags that they poll, with and without barriers: compiled code finds what the interpreter
// finds.
import { expect, test } from 'vitest';
import fc from '../../../../../tests/support/fast-check.ts';
import { type StrictRun, strictFindings } from '../../../../../tests/support/strict.ts';

/** Bytes of LDS. */
const BYTES = 1024;

/** By kind, the instruction and the bytes of its element. */
const KINDS = {
  fetch: ['ds_add_rtn_u32 v8, v5, v6', 4],
  fetchWide: ['ds_add_rtn_u64 v[8:9], v5, v[6:7]', 8],
  swap: ['ds_wrxchg_rtn_b32 v8, v5, v6', 4],
  compare: ['ds_cmpst_rtn_b32 v8, v5, v6, v7', 4],
  poll: ['ds_read_b32 v8, v5', 4],
  pollWide: ['ds_read_b64 v[8:9], v5', 8],
  lock: ['ds_cmpst_rtn_b32 v8, v5, v6, v7', 4],
  lockWide: ['ds_cmpst_rtn_b64 v[8:9], v5, v[6:7], v[12:13]', 8],
  dma: ['s_mov_b32 m0, 0\nv_lshlrev_b32_e32 v5, 2, v3\nglobal_load_lds_dword v5, s[4:5]', 4],
  dmaLate: ['s_mov_b32 m0, 0\nv_lshlrev_b32_e32 v5, 2, v3\nglobal_load_lds_dword v5, s[4:5]', 4],
  dmaWide: ['s_mov_b32 m0, 0\nv_lshlrev_b32_e32 v5, 4, v3\nglobal_load_lds_dwordx4 v5, s[4:5]', 4],
  add: ['ds_add_u32 v5, v6', 4],
  addAskew: ['ds_add_u32 v5, v6 offset:2', 4],
  addWide: ['ds_add_u64 v5, v[6:7]', 8],
  write: ['ds_write_b32 v5, v4', 4],
  writePair: ['ds_write2_b32 v5, v4, v4 offset1:3', 4],
  writeHalf: ['ds_write_b16 v5, v4', 2],
  writeWide: ['ds_write_b64 v5, v[6:7]', 8],
  read: ['ds_read_b32 v8, v5', 4],
  readByte: ['ds_read_u8 v8, v5', 1],
  readWide: ['ds_read_b128 v[8:11], v5', 16],
  barrier: ['s_barrier', 4],
  store: ['v_lshlrev_b32_e32 v5, 2, v4\nglobal_store_dword v5, v4, s[4:5]', 4],
} as const;
type Kind = keyof typeof KINDS;
/** In a loop as if the wavefront waited for others: it is left at once. */
const POLLS: readonly Kind[] = ['poll', 'pollWide', 'lock', 'lockWide'];

interface Step {
  readonly kind: Kind;
  /** Makes of the number of the work-item that of the element. */
  readonly factor: number;
  readonly more: number;
  /** The wavefront is left out of the number: all have the same elements. */
  readonly isShared: boolean;
  /** Elements that there are. */
  readonly count: number;
  /** The only wavefront that does it; all where there is no such wavefront. */
  readonly by: number;
  /** Of EXEC, low and high. */
  readonly lanes: readonly [string, string];
}

/** v3: the lane; v4: the work-item; s6: the wavefront. LDS is written by so many lanes, 16 bytes each. */
const beginning = (lanes: string): string => `v_and_b32_e32 v4, 0x3ff, v0
v_and_b32_e32 v3, 63, v4
v_lshrrev_b32_e32 v5, 6, v4
s_nop 0
v_readfirstlane_b32 s6, v5
v_mov_b32_e32 v6, 1
v_mov_b32_e32 v7, 0
v_lshlrev_b32_e32 v5, 4, v3
v_mov_b32_e32 v12, 0
v_mov_b32_e32 v13, 0
v_mov_b32_e32 v14, 0
v_mov_b32_e32 v15, 0
s_cmp_lg_u32 s6, 0
s_cbranch_scc1 .Lwritten
s_mov_b64 exec, ${lanes}
ds_write_b128 v5, v[12:15]
s_waitcnt lgkmcnt(0)
s_mov_b64 exec, -1
.Lwritten:
s_barrier`;

function textOf({ kind, factor, more, isShared, count, by, lanes }: Step, n: number, waves: number): string {
  const [instruction, bytes] = KINDS[kind];
  if (kind === 'barrier') return 's_waitcnt vmcnt(0) lgkmcnt(0)\ns_barrier';
  const place = `v_add_u32_e32 v5, ${more}, ${isShared ? 'v3' : 'v4'}
v_mul_lo_u32 v5, v5, s9
v_and_b32_e32 v5, s8, v5
v_lshlrev_b32_e32 v5, ${Math.log2(bytes)}, v5`;
  const again = POLLS.includes(kind)
    ? `s_waitcnt lgkmcnt(0)\nv_readfirstlane_b32 s11, v8\ns_cmp_eq_u32 s11, 0x7ffffff1\ns_cbranch_scc1 .Lagain${n}`
    : '';
  const guard = by < waves ? `s_cmp_lg_u32 s6, ${by}\ns_cbranch_scc1 .Lstep${n}` : '';
  return `${guard}
s_movk_i32 s8, ${Math.min(count, BYTES / 2 / bytes) - 1}\ns_mov_b32 s9, ${factor}
s_mov_b32 exec_lo, ${lanes[0]}\ns_mov_b32 exec_hi, ${lanes[1]}
${place}
.Lagain${n}:
${instruction}
${again}
s_waitcnt ${kind === 'dmaLate' ? '' : 'vmcnt(0) '}lgkmcnt(0)
s_mov_b64 exec, -1
.Lstep${n}:`;
}

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom<Kind>(
      ...(['poll', 'poll', 'poll', 'pollWide', 'lock', 'lock', 'lockWide', 'dma', 'dmaLate', 'dmaWide'] as const),
      ...([
        'fetch',
        'fetch',
        'fetch',
        'fetch',
        'swap',
        'compare',
        'fetchWide',
        'add',
        'addAskew',
        'addWide',
        'store',
      ] as const),
      ...(['write', 'write', 'write', 'writePair', 'writeHalf', 'writeWide'] as const),
      ...(['read', 'read', 'read', 'readByte', 'readWide', 'barrier', 'barrier'] as const),
    ),
    factor: fc.constantFrom(1, 1, 1, 3, 5, 12, 0),
    more: fc.constantFrom(0, 0, 1, 64),
    isShared: fc.boolean(),
    count: fc.constantFrom(1, 4, 64, 256),
    by: fc.constantFrom(0, 1, 2, 16, 16),
    lanes: fc.constantFrom<Step['lanes']>(
      ['-1', '-1'],
      ['-1', '-1'],
      ['0x0f0f0ff1', '0x70000001'],
      ['1', '0'],
      ['0', '1'],
    ),
  }),
  { minLength: 3, maxLength: 9 },
);

test('what hands over data through LDS is found to be wrong as on the interpreter', async () => {
  const found = new Map<string, number>();
  let clean = 0;
  await fc.assert(
    fc.asyncProperty(
      steps,
      fc.constantFrom(2, 3, 5, 9, 16),
      fc.constantFrom('-1', '-1', '0xff'),
      async (list, waves, lanes) => {
        // Only gfx950 has the wide loads into LDS.
        const target = list.some(({ kind }) => kind === 'dmaWide') ? 'gfx950' : 'gfx942';
        const all = list.map((step, n) => textOf(step, n, waves)).join('\n');
        // What a wavefront finds may be used.
        const code = `${beginning(lanes)}\n${all}\nds_add_rtn_u32 v8, v12, v6 offset:${BYTES - 4}\ns_waitcnt lgkmcnt(0)`;
        const run: StrictRun = {
          target,
          block: [64 * waves, 1, 1],
          lds: BYTES,
          bufferBytes: 4096 * 2,
          metadata: { '.max_flat_workgroup_size': 1024 },
        };
        const findings = async (engine: 'compiled' | 'interpreter'): Promise<string[]> =>
          (await strictFindings(code, { ...run, engine })).map(({ rule, place }) => `${rule} ${place.pc}`);
        const expected = await findings('interpreter');
        expect(await findings('compiled')).toEqual(expected);
        for (const one of expected) {
          const rule = one.split(' ')[0] as string;
          found.set(rule, (found.get(rule) ?? 0) + 1);
        }
        if (expected.length === 0) clean++;
      },
    ),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
  );
  expect(found.get('races/lds') ?? 0).toBeGreaterThan(20);
  expect(clean).toBeGreaterThan(10);
});
