// Twenty more kernels with a known limiter, written after the rules of the classifier were fixed and not used to change them: other
// instructions, loops, shapes and constants than those of kernels.ts. `npm run bench classify -- --held-out` shows what becomes of them.
import { type LimitedKernel, lines, loop, WAIT } from './kernels.ts';
import { measured } from './measured.ts';

const MB = 2 ** 20;
/** v2 = 16 times the number of the work-item in the launch, of workgroups of 2 ** bits. */
const ownSlice = (bits: number): string =>
  `s_lshl_b32 s10, s8, ${bits}\nv_add_u32_e32 v2, s10, v0\nv_lshlrev_b32_e32 v2, 4, v2`;
const shared = { groups: 456, threads: 512, bytes: 65536, vgprs: 40 } as const;

const memory: LimitedKernel[] = [
  {
    name: 'add-two-arrays',
    limiter: 'memory-bandwidth',
    because: 'two arrays are read, added and written to a third one',
    code: `${ownSlice(9)}
v_add_u32_e32 v3, 0x1000000, v2
global_load_dwordx4 v[4:7], v2, s[2:3]
global_load_dwordx4 v[8:11], v3, s[2:3]
v_add_u32_e32 v3, 0x2000000, v2
${WAIT}
${lines(4, (i) => `v_add_f32_e32 v${4 + i}, v${4 + i}, v${8 + i}`)}
global_store_dwordx4 v3, v[4:7], s[2:3]`,
    groups: 2048,
    threads: 512,
    bytes: 48 * MB,
  },
  {
    name: 'grid-stride-sum',
    limiter: 'memory-bandwidth',
    because: 'waves that walk through an array and add all of it up, eight wide loads at a time',
    code: `${ownSlice(8)}
${loop(
  2,
  `${lines(8, (i) => `global_load_dwordx4 v[${8 + 4 * i}:${11 + 4 * i}], v2, s[2:3]\nv_add_u32_e32 v2, 0x260000, v2`)}
${WAIT}
${lines(8, (i) => `v_add_f32_e32 v4, v4, v${8 + 4 * i}`)}`,
)}`,
    groups: 608,
    threads: 256,
    bytes: 64 * MB,
    vgprs: 48,
  },
  {
    name: 'scale-in-place',
    limiter: 'memory-bandwidth',
    because: 'every value is read, multiplied and written back',
    code: `${ownSlice(8)}
${lines(2, (i) => `v_add_u32_e32 v${20 + i}, ${`0x${(i * 0x1000000).toString(16)}`}, v2`)}
${lines(2, (i) => `global_load_dwordx4 v[${4 + 4 * i}:${7 + 4 * i}], v${20 + i}, s[2:3]`)}
${WAIT}
${lines(8, (i) => `v_mul_f32_e32 v${4 + i}, 2.0, v${4 + i}`)}
${lines(2, (i) => `global_store_dwordx4 v${20 + i}, v[${4 + 4 * i}:${7 + 4 * i}], s[2:3]`)}`,
    groups: 4096,
    threads: 256,
    bytes: 32 * MB,
  },
  {
    name: 'lists-of-two',
    limiter: 'memory-latency',
    because: 'each step reads the place of the next one, in 128-byte nodes all over the memory',
    code: `s_lshl_b32 s10, s8, 7
v_add_u32_e32 v2, s10, v0
v_lshlrev_b32_e32 v2, 9, v2
v_and_b32_e32 v2, ${32 * MB - 128}, v2
${loop(40, `global_load_dwordx2 v[4:5], v2, s[2:3]\n${WAIT}\nv_add_u32_e32 v2, v4, v5`)}`,
    groups: 120,
    threads: 128,
    bytes: 32 * MB,
    fill: (words) => {
      for (let at = 0; at < words.length; at += 32)
        words[at] = (Math.imul(at + 12_345, 40_503) * 128) & (32 * MB - 1) & ~127;
    },
  },
  {
    name: 'index-then-value',
    limiter: 'memory-latency',
    because: 'an index is loaded, then what it points to, then what that points to; one wave a compute unit',
    code: `v_lshlrev_b32_e32 v2, 8, v0
s_lshl_b32 s10, s8, 14
v_add_u32_e32 v2, s10, v2
v_and_b32_e32 v2, ${16 * MB - 64}, v2
${loop(
  25,
  lines(3, () => `global_load_dword v2, v2, s[2:3]\n${WAIT}\nv_and_b32_e32 v2, ${16 * MB - 64}, v2`),
)}`,
    groups: 240,
    threads: 64,
    bytes: 16 * MB,
    fill: (words) => {
      for (let at = 0; at < words.length; at++) words[at] = Math.imul(at, 0x9e3779b1) >>> 7;
    },
  },
];

const units: LimitedKernel[] = [
  {
    ...shared,
    name: 'lds-eight-way',
    limiter: 'lds',
    because: 'eight lanes of each half wave meet in a bank',
    code: `v_lshlrev_b32_e32 v3, 5, v0
v_and_b32_e32 v3, 0x3fff, v3
${loop(20, `${lines(6, (i) => `ds_read_b32 v${8 + i}, v3 offset:${4 * i}`)}\ns_waitcnt lgkmcnt(0)\nv_add_f32_e32 v4, v8, v9`)}`,
    lds: 20_480,
  },
  {
    ...shared,
    name: 'lds-adds-to-one',
    limiter: 'lds',
    because: 'all lanes add to one word of LDS',
    code: `v_mov_b32_e32 v3, 0\nv_mov_b32_e32 v4, 1\n${loop(8, `${lines(4, () => 'ds_add_u32 v3, v4')}\ns_waitcnt lgkmcnt(0)`)}`,
    lds: 4096,
    threads: 256,
  },
  {
    ...shared,
    name: 'one-lane-in-eight',
    limiter: 'divergence',
    because: 'eight lanes far from each other work',
    code: `s_mov_b32 exec_lo, 0x01010101\ns_mov_b32 exec_hi, 0x01010101\n${loop(
      30,
      lines(24, (i) => `v_mul_f32_e32 v${8 + (i % 12)}, v0, v${8 + (i % 12)}`),
    )}`,
  },
  {
    ...shared,
    name: 'four-ways',
    limiter: 'divergence',
    because: 'four branches of sixteen lanes each are run one after the other',
    code: loop(
      16,
      [0, 1, 2, 3]
        .map(
          (part) =>
            `s_mov_b32 exec_lo, ${part < 2 ? (part === 0 ? '0xffff' : '0xffff0000') : '0'}
s_mov_b32 exec_hi, ${part < 2 ? '0' : part === 2 ? '0xffff' : '0xffff0000'}
${lines(16, (i) => `v_fma_f32 v${8 + (i % 8)}, v0, v1, v${8 + (i % 8)}`)}`,
        )
        .join('\n'),
    ),
  },
  {
    ...shared,
    name: 'polynomial',
    limiter: 'compute',
    because: 'Horner steps of eight polynomials a work-item',
    code: loop(
      30,
      lines(40, (i) => `v_fmac_f32_e32 v${8 + (i % 8)}, v${8 + (i % 8)}, v1`),
    ),
  },
  {
    ...shared,
    name: 'packed-halves',
    limiter: 'compute',
    because: 'packed products of 16-bit numbers',
    code: loop(
      30,
      lines(40, (i) => `v_pk_fma_f16 v${8 + (i % 10)}, v0, v1, v${8 + (i % 10)}`),
    ),
  },
  {
    ...shared,
    name: 'mfma-4x4',
    limiter: 'compute',
    because: 'sixteen small matrix products at once',
    code: loop(
      30,
      lines(
        12,
        (i) =>
          `v_mfma_f32_4x4x4_16b_f16 v[${8 + 4 * (i % 8)}:${11 + 4 * (i % 8)}], v[0:1], v[2:3], v[${8 + 4 * (i % 8)}:${11 + 4 * (i % 8)}]`,
      ),
    ),
  },
];

const launchesAndWaves: LimitedKernel[] = [
  {
    name: 'registers-for-one',
    limiter: 'under-occupied',
    because: 'loads with work between them, and registers for one wave on a SIMD',
    code: `${ownSlice(7)}
v_and_b32_e32 v2, 0xffffff, v2
${loop(10, `global_load_dwordx2 v[20:21], v2, s[2:3]\n${WAIT}\nv_add_u32_e32 v2, 0x30000, v2\nv_and_b32_e32 v2, 0xffffff, v2\n${lines(30, (i) => `v_fma_f32 v${30 + (i % 10)}, v20, v21, v${30 + (i % 10)}`)}`)}`,
    groups: 3000,
    threads: 128,
    bytes: 16 * MB + 65536,
    vgprs: 448,
  },
  {
    name: 'one-workgroup-in-lds',
    limiter: 'under-occupied',
    because: 'each workgroup of three waves takes more than half of the LDS while it waits for memory',
    code: `${ownSlice(8)}
v_and_b32_e32 v2, 0xffffff, v2
${loop(14, `global_load_dword v20, v2, s[2:3]\n${WAIT}\nv_add_u32_e32 v2, 0x50000, v2\nv_and_b32_e32 v2, 0xffffff, v2\n${lines(36, (i) => `v_add_f32_e32 v${22 + (i % 8)}, v20, v${22 + (i % 8)}`)}`)}`,
    groups: 1800,
    threads: 192,
    bytes: 16 * MB + 65536,
    vgprs: 32,
    lds: 36_864,
  },
  {
    ...shared,
    name: 'scalar-search',
    limiter: 'scalar',
    because: 'a search that needs no lanes',
    code: loop(
      40,
      lines(
        10,
        (i) => `s_bfe_u32 s${12 + (i % 8)}, s8, 0x50003\ns_cmp_gt_u32 s${12 + (i % 8)}, ${i}\ns_addc_u32 s20, s20, 0`,
      ),
    ),
    threads: 256,
  },
  {
    name: 'short-words-of-code',
    limiter: 'instruction-fetch',
    because: '112 KB of instructions of four bytes, run through once',
    code: lines(28_000, (i) => `v_add_f32_e32 v${8 + (i % 12)}, v0, v${8 + (i % 12)}`),
    groups: 500,
    threads: 64,
    bytes: 65536,
    vgprs: 32,
  },
  {
    name: 'barrier-after-one',
    limiter: 'barrier',
    because: 'the last of six waves takes square roots, the others stand at the barrier',
    code: `v_readfirstlane_b32 s12, v0
${loop(12, `s_cmp_lg_u32 s12, 320\ns_cbranch_scc1 .Lwait\n${lines(35, () => 'v_sqrt_f32_e32 v4, v4')}\n.Lwait:\ns_barrier`)}`,
    groups: 280,
    threads: 384,
    bytes: 65536,
    vgprs: 32,
  },
  {
    name: 'small-copies',
    limiter: 'launch',
    because: 'twenty launches that copy 32 KB each',
    code: `${ownSlice(8)}\nglobal_load_dwordx4 v[4:7], v2, s[2:3]\n${WAIT}\nv_add_u32_e32 v2, 0x10000, v2\nglobal_store_dwordx4 v2, v[4:7], s[2:3]`,
    groups: 8,
    threads: 256,
    bytes: MB,
    launches: 20,
  },
  {
    name: 'float-adds',
    limiter: 'atomics',
    because: 'floats are added to sixteen words by all lanes',
    code: `v_and_b32_e32 v5, 0x3c, v1\nv_mov_b32_e32 v4, 1.0\n${loop(5, `global_atomic_add_f32 v5, v4, s[2:3]\n${WAIT}`)}`,
    groups: 500,
    threads: 256,
    bytes: 65536,
  },
  {
    name: 'compare-and-swap',
    limiter: 'atomics',
    because: 'all lanes try to swap eight words and look at what was there',
    code: `v_and_b32_e32 v5, 0x1c, v1\nv_mov_b32_e32 v6, v0\n${loop(4, `global_atomic_cmpswap v4, v5, v[6:7], s[2:3] sc0\n${WAIT}\nv_mov_b32_e32 v7, v4`)}`,
    groups: 400,
    threads: 256,
    bytes: 65536,
  },
];

/** All of them. */
export const HELD_OUT_KERNELS: readonly LimitedKernel[] = measured(
  [...memory, ...units, ...launchesAndWaves],
  'mi300x',
  {
    'one-workgroup-in-lds': {
      gains: 'memory-latency 61%, under-occupied 46%, memory-bandwidth 3%',
      equals: ['memory-latency'],
    },
    'registers-for-one': {
      gains: 'memory-latency 71%, under-occupied 45%, memory-bandwidth 3%',
      equals: ['memory-latency'],
    },
    'lists-of-two': {
      gains: 'memory-latency 71%, under-occupied 50%, instruction-fetch 5%',
      limiter: 'under-occupied',
      equals: ['memory-latency'],
    },
    'lds-adds-to-one': {
      gains: 'under-occupied 50%, instruction-fetch 28%, memory-latency 16%',
      limiter: 'under-occupied',
    },
    'short-words-of-code': { gains: 'under-occupied 50%, instruction-fetch 41%', limiter: 'under-occupied' },
  },
);
