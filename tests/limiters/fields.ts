// Twenty-one kernels of several fields (fields.c), whose limiters are those that `npm run bench classify -- --fields --what-if` shows. A
// resource of the chip is the limit where the kernel gains a quarter or more when it costs half: then half of the time goes to it. Where none
// is, it is what gains most, twice as many workgroups among them. That rule was chosen after the classes on MI300X had been seen.
import { type CompiledKernel, limited, MB } from './compiled.ts';
import { measured } from './measured.ts';

const noise = (words: Int32Array): void => {
  for (let at = 0; at < words.length; at++) words[at] = Math.imul(at ^ (at >>> 11), 0x9e3779b1) ^ (at >>> 9);
};
const full = { groups: 608, threads: 256, bytes: 16 * MB } as const;

export const FIELD_KERNELS: readonly CompiledKernel[] = measured(
  [
    limited('memory-bandwidth', 'gain_half', { groups: 8192, threads: 256, bytes: 64 * MB }, 'all in and out once'),
    limited('memory-bandwidth', 'heat_plane', { groups: 16384, threads: 256, bytes: 32 * MB }, 'all in and out once', {
      mi210: 'launch',
    }),
    limited('compute', 'nearest_centre', { groups: 2048, threads: 256, bytes: 40 * MB }, '32 distances a lane'),
    limited('memory-bandwidth', 'embedding_bag', { groups: 2048, threads: 256, bytes: 68 * MB }, 'rows from anywhere'),
    limited(
      'memory-bandwidth',
      'hash_join',
      { groups: 1216, threads: 256, bytes: 20 * MB, fill: noise },
      'each lane loads a line of its own',
    ),
    limited('memory-latency', 'ray_spheres', full, 'a scalar load for each sphere', { mi210: 'compute' }),
    limited('memory-latency', 'fir_registers', full, 'a scalar load for each tap', { mi210: 'compute' }),
    limited('memory-bandwidth', 'matrix_vectors', { groups: 4096, threads: 256, bytes: 96 * MB }, 'all in once'),
    limited('compute', 'philox_store', { groups: 4864, threads: 256, bytes: 8 * MB }, 'twenty wide products a word'),
    limited(
      'under-occupied',
      'pivot_rows',
      { groups: 608, threads: 512, bytes: 4 * MB },
      'seven waves wait for the eighth',
      { mi210: 'compute' },
    ),
    limited('lds', 'column_sums', { groups: 1216, threads: 64, bytes: 4 * MB }, 'all lanes meet in a bank'),
    limited('under-occupied', 'radix_count', full, 'two workgroups a compute unit, each of them short'),
    limited('atomics', 'global_best', full, 'all lanes meet in a line'),
    limited('atomics', 'append_list', { ...full, groups: 304 }, 'tickets of eight lines'),
    limited('under-occupied', 'single_group', { groups: 1, threads: 256, bytes: 20 * MB }, 'one workgroup'),
    limited(
      'under-occupied',
      'chained_products',
      { groups: 1216, threads: 64, bytes: 4 * MB },
      'one wave a SIMD, and each product waits for the last',
      { mi210: 'compute' },
    ),
    limited('launch', 'small_step', { groups: 256, threads: 256, bytes: MB, launches: 20 }, 'as short as a launch'),
    limited('under-occupied', 'lexer', full, 'each load of LDS waits for the last, and two workgroups a compute unit', {
      mi210: 'lds',
    }),
    limited(
      'divergence',
      'collisions',
      full,
      'a lane in thirty-two works: cheaper instructions are what it gains from',
    ),
    limited(
      'under-occupied',
      'unrolled_rounds',
      { groups: 608, threads: 64, bytes: MB },
      'two waves a compute unit fetch code that is run once',
    ),
    limited(
      'memory-bandwidth',
      'lut_walk',
      { groups: 608, threads: 256, bytes: 8 * MB, fill: noise },
      'each lane loads a line of its own',
    ),
  ],
  'mi300x',
  {
    ray_spheres: {
      gains: 'under-occupied 47%, memory-latency 45%, instruction-fetch 6%',
      limiter: 'under-occupied',
      equals: ['memory-latency'],
    },
    single_group: { gains: 'memory-latency 86%, under-occupied 50%, memory-bandwidth 3%', equals: ['memory-latency'] },
  },
);
