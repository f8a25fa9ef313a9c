// Forty kernels with a known limiter that clang compiles (wide.c): widths, units one by one, stragglers, scratch. What the classifier first
// made of them is in docs/profile.md.
import { type CompiledKernel, limited, MB } from './compiled.ts';
import { measured } from './measured.ts';

const full = { groups: 1216, threads: 256, bytes: 8 * MB } as const;
const noise = (words: Int32Array): void => {
  for (let at = 0; at < words.length; at++) words[at] = Math.imul(at ^ (at >>> 9), 0x85ebca6b) ^ (at >>> 3);
};
export const WIDE_KERNELS: readonly CompiledKernel[] = measured<CompiledKernel>(
  [
    limited(
      'memory-bandwidth',
      'triad',
      { groups: 8192, threads: 256, bytes: 192 * MB },
      'two reads and a write of all',
    ),
    limited(
      'memory-bandwidth',
      'copy_short',
      { groups: 8192, threads: 256, bytes: 128 * MB },
      'two bytes a lane, all once',
    ),
    limited(
      'memory-bandwidth',
      'stride_read',
      { groups: 2048, threads: 256, bytes: 268 * MB },
      'a line is fetched for each word',
    ),
    limited('memory-bandwidth', 'fill_pattern', { groups: 8192, threads: 256, bytes: 70 * MB }, 'stores alone'),
    limited('memory-bandwidth', 'row_norm', { groups: 1216, threads: 256, bytes: 134 * MB }, 'reads all once'),
    limited(
      'memory-bandwidth',
      'l2_reuse',
      { groups: 2432, threads: 256, bytes: 20 * MB },
      '2 MB again and again, too much for L1',
    ),
    limited('memory-bandwidth', 'l1_reuse', { groups: 2432, threads: 256, bytes: 20 * MB }, '16 KB again and again'),
    limited('memory-bandwidth', 'structs', { groups: 8192, threads: 256, bytes: 132 * MB }, 'all once, in parts'),
    limited(
      'memory-bandwidth',
      'chase_waves',
      { groups: 304, threads: 256, bytes: 64 * MB, fill: noise },
      'each lane has a list of its own: a line for each word',
    ),
    limited(
      'memory-latency',
      'hash_probe',
      { groups: 608, threads: 64, bytes: 60 * MB, fill: noise },
      'what to load next is what was loaded',
      { mi210: 'memory-bandwidth' },
    ),
    limited(
      'memory-latency',
      'page_walk',
      { groups: 304, threads: 64, bytes: 260 * MB },
      'a chain of loads from page to page',
    ),
    limited(
      'memory-bandwidth',
      'indirect',
      { groups: 304, threads: 128, bytes: 100 * MB, fill: noise },
      'a line for each word',
    ),
    limited('compute', 'fma_eight', full, 'eight chains a lane'),
    limited('compute', 'dmul', full, 'products of doubles'),
    limited('compute', 'imul', full, 'products of integers, a quarter as fast'),
    limited('compute', 'trans', full, 'exponentials, roots, sines'),
    limited('compute', 'mfma_half', full, 'matrix products of halves'),
    limited('compute', 'mfma_byte', full, 'matrix products of bytes'),
    limited('compute', 'mfma_double', full, 'matrix products of doubles'),
    limited('compute', 'wide_ints', full, 'shifts and sums of 64 bits'),
    limited('compute', 'bits', full, 'bit counts and reversals'),
    limited('lds', 'lds_stride', full, 'sixteen lanes meet in a bank'),
    limited('lds', 'lds_wide', full, 'sixteen bytes a lane without conflicts', { mi350x: 'compute' }),
    limited('compute', 'lds_bins', full, 'a hash for each count'),
    limited('divergence', 'switches', full, 'sixteen cases in a wave'),
    limited('divergence', 'few_lanes', full, 'five lanes of a wave work'),
    limited('memory-bandwidth', 'big_tile', { groups: 1216, threads: 64, bytes: 40 * MB }, 'a line for each word'),
    limited('under-occupied', 'few_groups', { groups: 20, threads: 256, bytes: 40 * MB }, 'twenty workgroups'),
    limited('under-occupied', 'straggler', full, 'one workgroup works a hundred times as long'),
    limited(
      'under-occupied',
      'dependent',
      { groups: 304, threads: 64, bytes: MB },
      'one chain a lane, one wave a compute unit',
    ),
    limited(
      'barrier',
      'take_turns',
      { groups: 608, threads: 512, bytes: 4 * MB },
      'one wave of eight works, the others wait for it',
    ),
    limited(
      'launch',
      'tiny_saxpy',
      { groups: 4, threads: 64, bytes: MB, launches: 80 },
      'eighty launches of 256 lanes',
    ),
    limited(
      'launch',
      'small_steps',
      { groups: 200, threads: 256, bytes: MB, launches: 50 },
      'fifty launches of a microsecond',
    ),
    limited('scalar', 'scalars', { groups: 4864, threads: 64, bytes: MB }, 'the same numbers for all lanes'),
    limited('atomics', 'one_counter', { groups: 1216, threads: 256, bytes: MB }, 'one word for all'),
    limited('atomics', 'cas_min', { groups: 608, threads: 64, bytes: MB }, 'eight words for all'),
    limited('atomics', 'tickets', { groups: 608, threads: 256, bytes: 8 * MB }, '256 words for all, with results'),
    limited(
      'instruction-fetch',
      'long_code',
      { groups: 304, threads: 64, bytes: MB },
      'code beyond the cache, one wave a compute unit',
    ),
    limited(
      'memory-bandwidth',
      'private_array',
      { groups: 2432, threads: 256, bytes: 8 * MB },
      'arrays of lanes in scratch',
      { mi350x: 'memory-latency' },
    ),
    limited(
      'memory-latency',
      'scalar_table',
      { groups: 608, threads: 64, bytes: 8 * MB, fill: noise },
      'a chain of scalar loads',
    ),
  ],
  'mi300x',
  {
    few_groups: { gains: 'memory-latency 84%, under-occupied 50%, memory-bandwidth 3%', equals: ['memory-latency'] },
    l2_reuse: { gains: 'memory-bandwidth 20%, memory-latency 19%, under-occupied 4%', equals: ['memory-latency'] },
    hash_probe: { gains: 'memory-bandwidth 31%, memory-latency 20%, under-occupied 17%', limiter: 'memory-bandwidth' },
    long_code: { gains: 'under-occupied 50%, instruction-fetch 39%, memory-latency 4%', limiter: 'under-occupied' },
    private_array: { gains: 'memory-latency 21%, memory-bandwidth 17%, scalar 4%', limiter: 'memory-latency' },
  },
);
