// Twenty kernels with a known limiter that clang compiles (mixed.c), written after the rules had been changed for library.ts: what the
// classifier first made of them is in docs/profile.md.
import { type CompiledKernel, limited, MB } from './compiled.ts';
import { measured } from './measured.ts';

const full = { groups: 1216, threads: 256, bytes: 8 * MB } as const;
const noise = (words: Int32Array): void => {
  for (let at = 0; at < words.length; at++) words[at] = (Math.imul(at ^ (at >>> 12), 0xc2b2ae35) ^ (at >>> 2)) >>> 1;
};
export const MIXED_KERNELS: readonly CompiledKernel[] = measured<CompiledKernel>(
  [
    limited('memory-bandwidth', 'dot', { groups: 2432, threads: 256, bytes: 244 * MB }, 'reads two arrays once'),
    limited(
      'memory-bandwidth',
      'permute',
      { groups: 8192, threads: 256, bytes: 164 * MB },
      'rows of 256 bytes, read and written once',
    ),
    limited('memory-bandwidth', 'deinterleave', { groups: 65536, threads: 256, bytes: 212 * MB }, 'all once', {
      mi210: 'launch',
    }),
    limited('memory-bandwidth', 'blur', { groups: 65536, threads: 256, bytes: 164 * MB }, 'neighbours come from L1'),
    limited(
      'memory-latency',
      'four_lists',
      { groups: 608, threads: 64, bytes: 100 * MB, fill: noise },
      'four chains of loads a wave',
    ),
    limited(
      'memory-latency',
      'through_memory',
      { groups: 608, threads: 64, bytes: 20 * MB },
      'each load waits for the store before it',
    ),
    limited('compute', 'packed', full, 'packed fused operations'),
    limited('compute', 'mfma_bf16', full, 'matrix products of bfloat16'),
    limited('compute', 'philox', full, 'products with high halves'),
    limited('lds', 'lds_columns', full, 'a column is in one bank'),
    limited('lds', 'lds_one_bin', full, 'two words for all lanes'),
    limited('divergence', 'fading', full, 'most lanes end early'),
    limited('under-occupied', 'forty', { groups: 40, threads: 1024, bytes: 20 * MB }, 'forty workgroups'),
    limited(
      'under-occupied',
      'roots',
      { groups: 304, threads: 128, bytes: MB },
      'one chain a lane, two waves a compute unit',
    ),
    limited('barrier', 'hand_over', { groups: 608, threads: 512, bytes: 4 * MB }, 'one wave works, seven wait for it'),
    limited(
      'launch',
      'eighty_small',
      { groups: 40, threads: 256, bytes: MB, launches: 80 },
      'eighty launches of 10,240 lanes',
    ),
    limited('scalar', 'lfsr', { groups: 4864, threads: 64, bytes: MB }, 'the same numbers for all lanes'),
    limited('atomics', 'minimum', { groups: 1216, threads: 256, bytes: MB }, 'sixteen words for all'),
    limited('atomics', 'work_queue', { groups: 2432, threads: 64, bytes: 8 * MB }, 'one word for all'),
    limited(
      'instruction-fetch',
      'phases',
      { groups: 304, threads: 64, bytes: MB },
      'code beyond the cache, one wave a compute unit',
    ),
  ],
  'mi300x',
  {
    forty: { gains: 'memory-latency 85%, under-occupied 50%', equals: ['memory-latency'] },
    blur: { gains: 'memory-bandwidth 13%, memory-latency 3%, under-occupied 2%', balanced: true },
    lds_one_bin: { gains: 'under-occupied 46%, memory-latency 24%, instruction-fetch 15%', limiter: 'under-occupied' },
    phases: { gains: 'under-occupied 50%, instruction-fetch 42%', limiter: 'under-occupied' },
  },
);
