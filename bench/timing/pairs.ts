// Pairs of kernel variants whose order on hardware is known, from what publications say about LDS banks, coalescing, wide accesses,
// unrolling, occupancy, barriers and instruction rates. The model must put them in that order where it sees a difference.
import { type Micro, microCycles } from './micro.ts';

export interface Pair {
  readonly name: string;
  readonly fast: Micro;
  readonly slow: Micro;
}

export interface PairTime {
  readonly name: string;
  readonly fast: number;
  readonly slow: number;
}

const lines = (n: number, line: (i: number) => string): string =>
  Array.from({ length: n }, (_, i) => line(i)).join('\n');
const loop = (turns: number, body: string): string =>
  `s_mov_b32 s9, ${turns}\n.Lturn:\n${body}\ns_sub_u32 s9, s9, 1\ns_cmp_lg_u32 s9, 0\ns_cbranch_scc1 .Lturn`;
const WAIT = 's_waitcnt vmcnt(0) lgkmcnt(0)';
/** Whole kernels: one length is enough. */
const kernel = (code: string, more: Partial<Micro> = {}): Micro => ({
  code: () => code,
  lengths: [0, 1],
  threads: 256,
  groups: 304,
  ...more,
});
const lds = (code: string): Micro => kernel(code, { ldsBytes: 65536 });

/** LDS loads with so many bytes between lanes. */
function ldsStride(width: 32 | 64 | 128, bytes: number): Micro {
  const last = 8 + width / 32 - 1;
  const to = width === 32 ? 'v8' : `v[8:${last}]`;
  return lds(
    `v_and_b32 v3, 63, v0\nv_mul_u32_u24 v3, ${bytes}, v3\n${loop(40, `${lines(8, () => `ds_read_b${width} ${to}, v3`)}\n${WAIT}`)}`,
  );
}

/** Loads of one dword a lane with so many bytes between lanes. */
const strided = (bytes: number): Micro =>
  kernel(
    `v_mul_u32_u24 v3, ${bytes}, v0\n${loop(20, `${lines(8, (i) => `global_load_dword v${8 + i}, v3, s[2:3]`)}\n${WAIT}\nv_add_u32 v3, 64, v3`)}`,
    { bytes: 1 << 20 },
  );

/** The same bytes by loads of so many dwords. */
function wide(dwords: 1 | 2 | 4): Micro {
  const suffix = { 1: 'dword', 2: 'dwordx2', 4: 'dwordx4' }[dwords];
  const to = dwords === 1 ? 'v8' : `v[8:${7 + dwords}]`;
  const body = `${lines(8 / dwords, (i) => `global_load_${suffix} ${to}, v3, s[2:3] offset:${(i * 1024) % 4096}`)}`;
  return kernel(`v_lshlrev_b32 v3, ${2 + Math.log2(dwords)}, v0\n${loop(60, `${body}\n${WAIT}`)}`, { bytes: 1 << 16 });
}

/** So many loads in flight before each wait. */
const inFlight = (n: number): Micro =>
  kernel(
    `v_mov_b32 v3, v1\n${loop(64 / n, `${lines(n, (i) => `global_load_dword v${8 + i}, v3, s[2:3] offset:${256 * (i % 8)}`)}\n${WAIT}`)}`,
    { threads: 64, bytes: 1 << 16 },
  );

/** A loop of 64 additions, so many in a turn. */
const unrolled = (n: number): Micro =>
  kernel(
    loop(
      256 / n,
      lines(n, (i) => `v_add_f32 v${8 + (i % 16)}, v4, v5`),
    ),
    { threads: 64 },
  );

/** Independent chains of matrix products. */
const chains = (n: number): Micro =>
  kernel(
    loop(
      60,
      lines(
        8,
        (i) =>
          `v_mfma_f32_4x4x4_16b_f16 v[${8 + 4 * (i % n)}:${11 + 4 * (i % n)}], v[4:5], v[6:7], v[${8 + 4 * (i % n)}:${11 + 4 * (i % n)}]`,
      ),
    ),
    { threads: 64 },
  );

/** A kernel that waits for memory, with registers for so many waves. */
const occupancy = (vgprs: number): Micro =>
  kernel(`v_mov_b32 v3, v1\n${loop(16, `global_load_dword v8, v3, s[2:3]\n${WAIT}\nv_add_u32 v3, 1024, v3`)}`, {
    groups: 2432,
    bytes: 1 << 20,
    vgprs,
  });

/** Rounds through LDS, with or without barriers. */
const barriers = (count: number): Micro =>
  lds(
    loop(
      40,
      `ds_write_b32 v1, v4\n${lines(count, () => `s_waitcnt lgkmcnt(0)\ns_barrier`)}\nds_read_b32 v4, v1\n${WAIT}`,
    ),
  );

const valu = (instruction: string): Micro =>
  kernel(
    loop(
      60,
      lines(8, () => instruction),
    ),
  );

export const PAIRS: readonly Pair[] = [
  ...([32, 64, 128] as const).flatMap((width) =>
    [2, 4, 8, 16].map(
      (times): Pair => ({
        name: `ds_read_b${width} of neighbours against ${times} elements apart`,
        fast: ldsStride(width, width / 8),
        slow: ldsStride(width, (times * width) / 8),
      }),
    ),
  ),
  { name: 'LDS rows of 33 dwords against 32', fast: ldsStride(32, 132), slow: ldsStride(32, 128) },
  { name: 'LDS rows of 17 dwords against 16', fast: ldsStride(32, 68), slow: ldsStride(32, 64) },
  ...[8, 16, 64, 128].map(
    (bytes): Pair => ({
      name: `global loads of neighbours against ${bytes} bytes apart`,
      fast: strided(4),
      slow: strided(bytes),
    }),
  ),
  { name: 'dwordx2 loads against dword', fast: wide(2), slow: wide(1) },
  { name: 'dwordx4 loads against dword', fast: wide(4), slow: wide(1) },
  { name: 'dwordx4 loads against dwordx2', fast: wide(4), slow: wide(2) },
  ...[2, 4, 8, 16].map((n): Pair => ({ name: `${n} loads in flight against 1`, fast: inFlight(n), slow: inFlight(1) })),
  { name: '16 loads in flight against 4', fast: inFlight(16), slow: inFlight(4) },
  ...[4, 16, 64].map((n): Pair => ({ name: `unrolled ${n} times against not`, fast: unrolled(n), slow: unrolled(1) })),
  { name: '2 chains of products against 1', fast: chains(2), slow: chains(1) },
  { name: '4 chains of products against 1', fast: chains(4), slow: chains(1) },
  { name: '64 registers against 128', fast: occupancy(64), slow: occupancy(128) },
  { name: '64 registers against 256', fast: occupancy(64), slow: occupancy(256) },
  { name: '128 registers against 256', fast: occupancy(128), slow: occupancy(256) },
  { name: 'one barrier against two', fast: barriers(1), slow: barriers(2) },
  { name: 'no barrier against one', fast: barriers(0), slow: barriers(1) },
  { name: 'no barrier against three', fast: barriers(0), slow: barriers(3) },
  { name: 'v_add_f32 against v_rcp_f32', fast: valu('v_add_f32 v8, v4, v5'), slow: valu('v_rcp_f32 v8, v4') },
  { name: 'v_fma_f32 against v_exp_f32', fast: valu('v_fma_f32 v8, v4, v5, v6'), slow: valu('v_exp_f32 v8, v4') },
  {
    name: 'v_mul_u32_u24 against v_mul_lo_u32',
    fast: valu('v_mul_u32_u24 v8, v4, v5'),
    slow: valu('v_mul_lo_u32 v8, v4, v5'),
  },
  {
    name: 'one packed FMA against two',
    fast: valu('v_pk_fma_f32 v[8:9], v[4:5], v[6:7], v[10:11]'),
    slow: valu('v_fma_f32 v8, v4, v5, v6\nv_fma_f32 v9, v4, v5, v6'),
  },
  {
    name: 'atomics of a wave to its own line against all to one',
    fast: kernel(
      `v_readfirstlane_b32 s10, v1\ns_lshl_b32 s11, s8, 10\nv_mov_b32 v3, s11\nv_add_u32 v3, s10, v3\nv_mov_b32 v2, 1\ns_mov_b64 exec, 1\n${lines(16, () => 'global_atomic_add v3, v2, s[2:3]')}\n${WAIT}`,
      { bytes: 1 << 20 },
    ),
    slow: kernel(
      `v_mov_b32 v3, 0\nv_mov_b32 v2, 1\ns_mov_b64 exec, 1\n${lines(16, () => 'global_atomic_add v3, v2, s[2:3]')}\n${WAIT}`,
      { bytes: 1 << 20 },
    ),
  },
];

/** Modelled cycles of both sides of each pair. */
export async function pairTimes(chip: string, pairs = PAIRS): Promise<PairTime[]> {
  const out: PairTime[] = [];
  for (const { name, fast, slow } of pairs) {
    out.push({ name, fast: await microCycles(chip, fast, 0), slow: await microCycles(chip, slow, 0) });
  }
  return out;
}
