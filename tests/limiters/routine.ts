// Twenty-three kernels of everyday programs with a known limiter, which clang compiles (routine.c). What the classifier first made of
// them is in docs/profile.md. Five were written with another label; making resources cheaper moved it.
import { type CompiledKernel, limited, MB } from './compiled.ts';
import { measured } from './measured.ts';

const full = { groups: 1216, threads: 256, bytes: 8 * MB } as const;
const noise = (words: Int32Array): void => {
  for (let at = 0; at < words.length; at++) words[at] = Math.imul(at ^ (at >>> 11), 0x9e3779b1) ^ (at >>> 9);
};
const rising = (words: Int32Array): void => {
  for (let at = 0; at < words.length; at++) words[at] = at;
};
const twoRising = (words: Int32Array): void => {
  for (let at = 0; at < words.length; at++) words[at] = at % MB;
};
export const ROUTINE_KERNELS: readonly CompiledKernel[] = measured<CompiledKernel>(
  [
    limited(
      'memory-bandwidth',
      'rms_norm',
      { groups: 4096, threads: 256, bytes: 128 * MB },
      'each row in and out once',
    ),
    limited(
      'memory-bandwidth',
      'gemv_rows',
      { groups: 2048, threads: 256, bytes: 137 * MB },
      'the matrix is read once',
    ),
    limited(
      'memory-bandwidth',
      'transpose_pad',
      { groups: 16384, threads: 256, bytes: 128 * MB },
      'all in and out once',
    ),
    limited('memory-bandwidth', 'aos_soa', { groups: 4096, threads: 256, bytes: 112 * MB }, 'all in and out once'),
    limited(
      'memory-latency',
      'csr_rows',
      { groups: 1216, threads: 256, bytes: 32 * MB, fill: noise },
      'two loads for a product, the second where the first says',
    ),
    limited(
      'memory-bandwidth',
      'lower_bound',
      { groups: 1216, threads: 64, bytes: 66 * MB, fill: rising },
      'each lane searches on its own, so each word takes a line',
    ),
    limited(
      'memory-latency',
      'btree',
      { groups: 608, threads: 64, bytes: 66 * MB, fill: noise },
      'the child is what was loaded',
    ),
    limited(
      'memory-bandwidth',
      'merge_path',
      { groups: 1024, threads: 256, bytes: 20 * MB, fill: twoRising },
      'each lane searches and merges on its own, so each word takes a line',
    ),
    limited('compute', 'sha_rounds', full, 'sums and rotations of registers'),
    limited('compute', 'attention_qk', full, 'four matrix products for each load of LDS'),
    limited('compute', 'dgemm_tile', full, 'matrix products of doubles'),
    limited('lds', 'bitonic', full, 'every stage loads and stores all of LDS'),
    limited('lds', 'column_tile', full, 'lanes meet in a bank'),
    limited('compute', 'local_bins', full, 'a product, sums and shifts for each addition to LDS'),
    limited('divergence', 'mandel_samples', full, 'one lane in eight goes on'),
    limited('divergence', 'materials', full, 'one of eight ways after the other'),
    limited(
      'under-occupied',
      'halo_tile',
      { groups: 1216, threads: 256, bytes: 68 * MB },
      'LDS for four waves, which wait',
    ),
    limited(
      'memory-bandwidth',
      'particle_state',
      { groups: 4864, threads: 64, bytes: 18 * MB, fill: noise },
      'each lane follows a list of its own, so each word takes a line',
    ),
    limited(
      'barrier',
      'scan_steps',
      { groups: 304, threads: 1024, bytes: 2 * MB },
      '80 barriers of sixteen waves, a sum each',
    ),
    limited('launch', 'tiny_norm', { groups: 1, threads: 64, bytes: MB, launches: 64 }, '64 launches of one wave'),
    limited('atomics', 'dark_picture', { groups: 1216, threads: 256, bytes: MB }, 'most lanes add to a few words'),
    limited('atomics', 'scatter_add', { groups: 1216, threads: 256, bytes: MB }, 'every lane adds to a word of 16 KB'),
    limited(
      'instruction-fetch',
      'interpreter',
      { groups: 304, threads: 64, bytes: MB },
      'each opcode comes from beyond the cache',
    ),
  ],
  'mi300x',
  {
    halo_tile: { gains: 'memory-latency 74%, under-occupied 50%, lds 10%', equals: ['memory-latency'] },
    csr_rows: { gains: 'memory-bandwidth 83%, memory-latency 44%, under-occupied 3%', limiter: 'memory-bandwidth' },
    local_bins: { gains: 'under-occupied 16%, compute 11%, instruction-fetch 10%', limiter: 'under-occupied' },
    mandel_samples: { gains: 'scalar 17%, under-occupied 13%, compute 5%', limiter: 'scalar' },
    scan_steps: { gains: 'under-occupied 41%, lds 15%, memory-latency 13%', limiter: 'under-occupied' },
    interpreter: { gains: 'under-occupied 58%, instruction-fetch 53%, compute 2%', limiter: 'under-occupied' },
  },
);
