// Sixty small kernels whose limiter is known because they were written so: five of each kind. They are run on the virtual GPU under the
// timing model, profiled, and classified (classify.ts); a person can say of each, without any tool, what holds it up.
import type { BottleneckClass } from '../../src/profile/analysis/bottleneck-types.ts';
import { measured } from './measured.ts';

/** How a kernel is launched, on a buffer of `bytes`. */
export interface Launch {
  readonly groups: number;
  readonly threads: number;
  readonly bytes: number;
  /** Dispatches of the kernel, one after the other. */
  readonly launches?: number;
  /** Fills the buffer, which is zero otherwise. */
  readonly fill?: (words: Int32Array) => void;
}

/** A kernel and its launch. The code has the buffer's address in s[2:3], the workgroup's number in s8, the work-item's in v0, 4 v0 in v1. */
/** What limits a kernel, and where `npm run bench classify -- --what-if` shows something else. */
export interface Labels {
  readonly name: string;
  readonly limiter: BottleneckClass;
  /** Why it is so. */
  readonly because: string;
  /** Chips on which something else limits it. */
  readonly elsewhere?: Readonly<Record<string, BottleneckClass>> | undefined;
  /** By chip, classes that are worth as much as the limiter there (`equalsOf` in what-if.ts): either may come first. */
  readonly equals?: Readonly<Record<string, readonly BottleneckClass[]>> | undefined;
  /** Chips on which nothing is worth a seventh of the time: nothing limits it there. */
  readonly balanced?: readonly string[] | undefined;
}

export interface LimitedKernel extends Launch, Labels {
  readonly code: string;
  readonly vgprs?: number;
  readonly lds?: number;
}

const MB = 2 ** 20;
export const lines = (n: number, line: (i: number) => string): string =>
  Array.from({ length: n }, (_, i) => line(i)).join('\n');
export const loop = (turns: number, body: string): string => `s_mov_b32 s9, ${turns}
.Lturn:
${body}
s_sub_u32 s9, s9, 1
s_cmp_lg_u32 s9, 0
s_cbranch_scc1 .Lturn`;

/** v2 = (global work-item number) << shift; `bits` is log2 of the work-items of a group. */
const globalOffset = (shift: number, bits = 8): string => `s_lshl_b32 s10, s8, ${bits}
v_add_u32_e32 v2, s10, v0
v_lshlrev_b32_e32 v2, ${shift}, v2`;
export const WAIT = 's_waitcnt vmcnt(0) lgkmcnt(0)';

/** Streams that every work-item reads and writes once. */
const streams: LimitedKernel[] = [
  ...([1, 2, 4] as const).map((dwords): LimitedKernel => {
    const suffix = dwords === 1 ? 'dword' : `dwordx${dwords}`;
    const registers = dwords === 1 ? 'v4' : `v[4:${3 + dwords}]`;
    const groups = 8192 / dwords;
    return {
      name: `copy-${suffix}`,
      limiter: 'memory-bandwidth',
      because: 'each byte is read once and written once',
      code: `${globalOffset(1 + Math.log2(2 * dwords))}
global_load_${suffix} ${registers}, v2, s[2:3]
${WAIT}
v_add_u32_e32 v2, 0x1000000, v2
global_store_${suffix} v2, ${registers}, s[2:3]`,
      groups: 2 * groups,
      threads: 256,
      bytes: 32 * MB,
    };
  }),
  {
    name: 'read-only',
    limiter: 'memory-bandwidth',
    because: 'four independent wide loads a work-item, and nothing else',
    code: `${globalOffset(4)}
global_load_dwordx4 v[4:7], v2, s[2:3]
v_add_u32_e32 v2, 0x1000000, v2
global_load_dwordx4 v[8:11], v2, s[2:3]
${WAIT}
v_add_f32_e32 v4, v4, v8`,
    groups: 4096,
    threads: 256,
    bytes: 32 * MB,
  },
  {
    name: 'fill',
    limiter: 'memory-bandwidth',
    because: 'wide stores and nothing else',
    code: `${globalOffset(4)}
${lines(8, () => 'global_store_dwordx4 v2, v[4:7], s[2:3]\nv_add_u32_e32 v2, 0x400000, v2')}`,
    groups: 1024,
    threads: 256,
    bytes: 32 * MB,
  },
];

/** Every load's address is the value of the one before. */
const chases: LimitedKernel[] = (
  [
    [64, 64, 8 * MB],
    [64, 4096, 8 * MB],
    [304, 256, 16 * MB],
    [64, 128, 1 * MB],
    [152, 8192, 24 * MB],
  ] as const
).map(([groups, stride, bytes], n) => ({
  name: `chase-${n + 1}`,
  limiter: 'memory-latency',
  because: 'each load waits for the one before: one wave a compute unit, 64 chains',
  code: `s_lshl_b32 s10, s8, 6
v_add_u32_e32 v2, s10, v0
v_lshlrev_b32_e32 v2, 6, v2
v_and_b32_e32 v2, ${bytes - 64}, v2
${loop(60, `global_load_dword v2, v2, s[2:3]\n${WAIT}`)}`,
  groups,
  threads: 64,
  bytes,
  fill: (words) => {
    const mask = words.length * 4 - 1;
    for (let at = 0; at < words.length; at += 16)
      words[at] = (Math.imul(at * 4 + stride * 64, 1) + stride) & mask & ~63;
  },
}));

const ldsLoop = (shift: number, body: string): string => `v_lshlrev_b32_e32 v3, ${shift}, v0
v_and_b32_e32 v3, 0x7fff, v3
${loop(12, `${body}\ns_waitcnt lgkmcnt(0)`)}`;
const lds: LimitedKernel[] = (
  [
    [
      'read-stride-32',
      ldsLoop(
        7,
        lines(8, (i) => `ds_read_b32 v${4 + i}, v3`),
      ),
      'all lanes read one bank',
    ],
    [
      'read-stride-16',
      ldsLoop(
        6,
        lines(8, (i) => `ds_read_b32 v${4 + i}, v3`),
      ),
      'all lanes read two banks',
    ],
    [
      'write-stride-32',
      ldsLoop(
        7,
        lines(8, (i) => `ds_write_b32 v3, v${4 + i}`),
      ),
      'all lanes write one bank',
    ],
    [
      'read-b64-stride',
      ldsLoop(
        8,
        lines(4, (i) => `ds_read_b64 v[${4 + 2 * i}:${5 + 2 * i}], v3`),
      ),
      'wide reads of one pair of banks',
    ],
    [
      'wide',
      ldsLoop(
        4,
        lines(4, (i) => `ds_read_b128 v[${4 + 4 * i}:${7 + 4 * i}], v3`),
      ),
      'LDS delivers all the bytes that it can',
    ],
  ] as const
).map(([name, code, because]) => ({
  name: `lds-${name}`,
  limiter: 'lds',
  because,
  code,
  groups: 608,
  threads: 256,
  bytes: 65536,
  vgprs: 32,
  lds: 32768,
}));

const fma = (n: number): string => lines(n, (i) => `v_fma_f32 v${4 + (i % 16)}, v0, v1, v${4 + (i % 16)}`);
/** Work of a few lanes of each wave. */
const divergent: LimitedKernel[] = [1, 2, 4, 8, 12].map((lanes) => ({
  name: `lanes-${lanes}`,
  limiter: 'divergence',
  because: `${lanes} of 64 lanes work`,
  code: `s_mov_b64 exec, ${2 ** lanes - 1}\n${loop(24, fma(32))}`,
  groups: 608,
  threads: 256,
  bytes: 65536,
  vgprs: 32,
}));

const compute = (name: string, body: string, because: string, vgprs = 32): LimitedKernel => ({
  name,
  limiter: 'compute',
  because,
  code: loop(24, body),
  groups: 608,
  threads: 256,
  bytes: 65536,
  vgprs,
});
const vector: LimitedKernel[] = [
  compute('fma-f32', fma(32), 'independent fused multiply-adds'),
  compute(
    'fma-f64',
    lines(
      16,
      (i) => `v_fma_f64 v[${4 + 2 * (i % 8)}:${5 + 2 * (i % 8)}], 1.0, 1.0, v[${4 + 2 * (i % 8)}:${5 + 2 * (i % 8)}]`,
    ),
    'the same in double precision',
  ),
  compute(
    'pk-fma-f32',
    lines(
      32,
      (i) =>
        `v_pk_fma_f32 v[${4 + 2 * (i % 8)}:${5 + 2 * (i % 8)}], v[0:1], v[0:1], v[${4 + 2 * (i % 8)}:${5 + 2 * (i % 8)}]`,
    ),
    'packed fused multiply-adds',
  ),
  compute(
    'integer',
    lines(32, (i) => `v_mad_u32_u24 v${4 + (i % 16)}, v0, v1, v${4 + (i % 16)}`),
    'independent integer operations',
  ),
  compute(
    'exp',
    lines(32, (i) => `v_exp_f32_e32 v${4 + (i % 16)}, v0`),
    'transcendental operations, at a quarter of the rate',
  ),
];
const product = (name: string, n: number, line: (at: number) => string): LimitedKernel =>
  compute(
    `mfma-${name}`,
    lines(8, (i) => line(16 + n * (i % 4))),
    'independent matrix products',
    96,
  );
const range = (first: number, count: number): string => `v[${first}:${first + count - 1}]`;
const matrix: LimitedKernel[] = [
  product('f16', 4, (d) => `v_mfma_f32_16x16x16_f16 ${range(d, 4)}, v[4:5], v[6:7], ${range(d, 4)}`),
  product('bf16', 16, (d) => `v_mfma_f32_32x32x8_bf16 ${range(d, 16)}, v[4:5], v[6:7], ${range(d, 16)}`),
  product('f32', 16, (d) => `v_mfma_f32_32x32x2_f32 ${range(d, 16)}, v4, v6, ${range(d, 16)}`),
  product('f64', 8, (d) => `v_mfma_f64_16x16x4_f64 ${range(d, 8)}, v[4:5], v[6:7], ${range(d, 8)}`),
  product('i8', 4, (d) => `v_mfma_i32_16x16x32_i8 ${range(d, 4)}, v[4:5], v[6:7], ${range(d, 4)}`),
];

/** Loads that other waves would hide, if there were any: registers or LDS let few of them on a compute unit. */
const crowded: LimitedKernel[] = (
  [
    ['vgprs-512', 512, 0, 256],
    ['vgprs-384', 384, 0, 256],
    ['lds-64k', 32, 65536, 256],
    ['lds-40k', 32, 40960, 128],
    ['one-wave-lds', 32, 65536, 64],
  ] as const
).map(([name, vgprs, ldsBytes, threads]) => ({
  name: `crowded-${name}`,
  limiter: 'under-occupied',
  because: 'loads are behind each other with work between them, and few waves fit beside each other',
  code: `${globalOffset(2, Math.log2(threads))}
v_and_b32_e32 v2, 0xffffff, v2
${loop(12, `global_load_dword v20, v2, s[2:3]\n${WAIT}\nv_add_u32_e32 v2, 0x40000, v2\nv_and_b32_e32 v2, 0xffffff, v2\n${fma(40)}`)}`,
  groups: 2432,
  threads,
  bytes: 16 * MB + 65536,
  vgprs,
  lds: ldsBytes,
}));

const scalar: LimitedKernel[] = (
  [
    ['adds', lines(32, (i) => `s_add_u32 s${12 + (i % 8)}, s${12 + (i % 8)}, s8`)],
    ['multiplies', lines(32, (i) => `s_mul_i32 s${12 + (i % 8)}, s8, s9`)],
    ['bits', lines(32, (i) => `s_bcnt1_i32_b64 s${12 + (i % 8)}, s[2:3]`)],
    ['shifts', lines(32, (i) => `s_lshl_b64 s[${12 + 2 * (i % 4)}:${13 + 2 * (i % 4)}], s[2:3], 3`)],
    ['compares', lines(16, (i) => `s_cmp_lg_u32 s8, ${i}\ns_cselect_b32 s${12 + (i % 8)}, s8, s9`)],
  ] as const
).map(([name, body]) => ({
  name: `scalar-${name}`,
  limiter: 'scalar',
  because: 'the scalar unit does all the work',
  code: loop(24, body),
  groups: 608,
  threads: 256,
  bytes: 65536,
}));

/** Straight code that no instruction cache holds, walked by waves that are not in step. */
const fetched: LimitedKernel[] = [12_000, 16_000, 20_000, 24_000, 32_000].map((count) => ({
  name: `code-${(count * 8) / 1000}k`,
  limiter: 'instruction-fetch',
  because: `${(count * 8) / 1000} KB of code run through once a turn`,
  code: `s_mov_b32 s9, 2
.Lturn:
${lines(count, (i) => `v_fma_f32 v${4 + (i % 16)}, v0, v1, v${4 + (i % 16)}`)}
s_sub_u32 s9, s9, 1
s_cmp_lg_u32 s9, 0
s_cbranch_scc0 .Lout
s_getpc_b64 s[10:11]
.Lhere:
s_sub_u32 s10, s10, .Lhere-.Lturn
s_subb_u32 s11, s11, 0
s_setpc_b64 s[10:11]
.Lout:`,
  groups: 304,
  threads: 64,
  bytes: 65536,
  vgprs: 32,
}));

/** One wave of a workgroup works, the others wait for it. */
const barriers: LimitedKernel[] = [4, 8, 16, 8, 4].map((waves, n) => ({
  name: `barrier-${n + 1}`,
  limiter: 'barrier',
  because: `one of ${waves} waves works while the others stand at the barrier`,
  code: `v_readfirstlane_b32 s12, v0
${loop(
  10,
  `s_cmp_lg_u32 s12, 0
s_cbranch_scc1 .Lwait
${lines(20 + 10 * n, () => 'v_rcp_f32_e32 v4, v4')}
.Lwait:
s_barrier`,
)}`,
  groups: 304,
  threads: 64 * waves,
  bytes: 65536,
  vgprs: 32,
}));

/** Kernels over at once. */
const launches: LimitedKernel[] = [1, 2, 4, 8, 16].map((groups) => ({
  name: `tiny-${groups}`,
  limiter: 'launch',
  because: 'many launches of next to nothing',
  code: 'v_mov_b32_e32 v4, 0',
  groups,
  threads: 64,
  bytes: 65536,
  launches: 12,
}));

const atomic = (name: string, body: string, because: string): LimitedKernel => ({
  name: `atomic-${name}`,
  limiter: 'atomics',
  because,
  code: `v_mov_b32_e32 v4, 1\nv_and_b32_e32 v5, 0x7c, v1\n${loop(4, `${body}\n${WAIT}`)}`,
  groups: 608,
  threads: 256,
  bytes: 65536,
});
const atomics: LimitedKernel[] = [
  atomic('one-word', 'v_mov_b32_e32 v6, 0\nglobal_atomic_add v6, v4, s[2:3]', 'all lanes add to one word'),
  atomic('one-line', 'global_atomic_add v5, v4, s[2:3]', 'all lanes add to one line'),
  atomic(
    'returned',
    'global_atomic_add v7, v5, v4, s[2:3] sc0',
    'all lanes add to one line and wait for the old value',
  ),
  atomic('max', 'global_atomic_umax v5, v4, s[2:3]', 'all lanes take the maximum of one line'),
  atomic(
    'histogram',
    'v_and_b32_e32 v6, 0x3fc, v1\nglobal_atomic_add v6, v4, s[2:3]',
    'all workgroups add to the same few lines',
  ),
];

/** All of them, by kind. */
export const LIMITED_KERNELS: readonly LimitedKernel[] = measured(
  [
    ...streams,
    ...chases,
    ...lds,
    ...divergent,
    ...vector,
    ...matrix,
    ...crowded,
    ...scalar,
    ...fetched,
    ...barriers,
    ...launches,
    ...atomics,
  ],
  'mi300x',
  {
    'crowded-vgprs-512': { gains: 'memory-latency 72%, under-occupied 49%', equals: ['memory-latency'] },
    'crowded-vgprs-384': { gains: 'memory-latency 72%, under-occupied 49%', equals: ['memory-latency'] },
    'crowded-lds-64k': { gains: 'memory-latency 72%, under-occupied 49%', equals: ['memory-latency'] },
    'crowded-lds-40k': { gains: 'memory-latency 72%, under-occupied 50%', equals: ['memory-latency'] },
    'crowded-one-wave-lds': { gains: 'memory-latency 72%, under-occupied 50%', equals: ['memory-latency'] },
  },
);
