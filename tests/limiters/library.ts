// Thirty-three kernels with a known limiter that clang compiles (library.c), as libraries have them. What the classifier first
// made of them is in docs/profile.md.
import { type CompiledKernel, limited, MB } from './compiled.ts';
import { measured } from './measured.ts';

const full = { groups: 1216, threads: 256, bytes: 8 * MB } as const;
const noise = (words: Int32Array): void => {
  for (let at = 0; at < words.length; at++) words[at] = Math.imul(at ^ (at >>> 13), 0x9e3779b1) ^ (at >>> 5);
};
export const LIBRARY_KERNELS: readonly CompiledKernel[] = measured<CompiledKernel>(
  [
    limited(
      'memory-bandwidth',
      'layernorm',
      { groups: 4096, threads: 256, bytes: 132 * MB },
      'a row is read and written once',
    ),
    limited(
      'memory-bandwidth',
      'embedding',
      { groups: 16384, threads: 256, bytes: 180 * MB },
      'rows of 512 bytes, read and written once',
      { mi210: 'launch' },
    ),
    limited(
      'memory-bandwidth',
      'stencil',
      { groups: 32768, threads: 256, bytes: 120 * MB },
      'neighbours come from caches',
    ),
    limited('memory-bandwidth', 'matvec', { groups: 2432, threads: 256, bytes: 212 * MB }, 'the matrix is read once'),
    limited('memory-bandwidth', 'zero', { groups: 4096, threads: 1024, bytes: 68 * MB }, 'stores alone'),
    limited('memory-bandwidth', 'quantize', { groups: 16384, threads: 256, bytes: 180 * MB }, 'all once'),
    limited(
      'memory-latency',
      'naive_gemm',
      { groups: 1024, threads: 256, bytes: 16 * MB },
      'a scalar and a vector load for each product',
    ),
    limited(
      'memory-latency',
      'one_lane_list',
      { groups: 608, threads: 64, bytes: 64 * MB, fill: noise },
      'a chain of loads of one lane',
    ),
    limited(
      'memory-latency',
      'tree',
      { groups: 608, threads: 64, bytes: 66 * MB, fill: noise },
      'what to load next is what was loaded',
    ),
    limited(
      'memory-latency',
      'automaton',
      { groups: 608, threads: 64, bytes: 6 * MB, fill: noise },
      'the next state is what was loaded',
    ),
    limited('compute', 'nbody', full, 'products and a root for each pair'),
    limited('compute', 'rounds', full, 'shifts and sums'),
    limited('compute', 'ddiv', full, 'quotients of doubles'),
    limited('compute', 'mfma_f32', full, 'matrix products of floats'),
    limited('compute', 'mfma_lds', full, 'four matrix products for each load'),
    limited('lds', 'fft_passes', full, 'lanes meet in a bank'),
    limited('lds', 'lookups', full, 'random words of LDS'),
    limited('lds', 'lds_copy', full, 'loads and stores of LDS'),
    limited('divergence', 'collatz', full, 'few lanes of a wave work long'),
    limited('divergence', 'branches', full, 'one lane after the other'),
    limited('under-occupied', 'hoarded', { groups: 912, threads: 64, bytes: 24 * MB }, 'LDS for one wave, which waits'),
    limited('under-occupied', 'few_big', { groups: 8, threads: 1024, bytes: 16 * MB }, 'eight workgroups'),
    limited(
      'under-occupied',
      'triangle',
      { groups: 1216, threads: 64, bytes: MB },
      'few workgroups work two hundred times as long',
    ),
    limited(
      'barrier',
      'reduce_tree',
      { groups: 304, threads: 1024, bytes: 4 * MB },
      'eleven barriers of sixteen waves for each round',
    ),
    limited('barrier', 'leader', { groups: 608, threads: 512, bytes: 4 * MB }, 'one wave works, seven wait for it'),
    limited('launch', 'tiny_add', { groups: 12, threads: 256, bytes: MB, launches: 64 }, '64 launches of 3,072 lanes'),
    limited('launch', 'tiny_scalar', { groups: 1, threads: 64, bytes: MB, launches: 64 }, '64 launches of one lane'),
    limited('scalar', 'crc', { groups: 4864, threads: 64, bytes: MB }, 'the same numbers for all lanes'),
    limited('atomics', 'accumulate', { groups: 1216, threads: 256, bytes: MB }, '64 words for all'),
    limited('atomics', 'maximum', { groups: 1216, threads: 64, bytes: MB }, 'one word for all'),
    limited(
      'atomics',
      'counting',
      { groups: 608, threads: 256, bytes: 40 * MB, fill: noise },
      'sixteen counters for all, with results',
    ),
    limited(
      'instruction-fetch',
      'once',
      { groups: 304, threads: 64, bytes: MB },
      'straight code, which one wave a compute unit runs once',
    ),
    limited(
      'instruction-fetch',
      'big_loop',
      { groups: 304, threads: 64, bytes: MB },
      'a loop of code beyond the cache',
    ),
  ],
  'mi300x',
  {
    few_big: { gains: 'memory-latency 88%, under-occupied 50%', equals: ['memory-latency'] },
    hoarded: { gains: 'memory-latency 83%, under-occupied 50%, lds 3%', equals: ['memory-latency'] },
    once: { gains: 'under-occupied 50%, instruction-fetch 44%', limiter: 'under-occupied' },
    big_loop: { gains: 'under-occupied 50%, instruction-fetch 45%', limiter: 'under-occupied' },
    embedding: { gains: 'memory-bandwidth 15%, memory-latency 10%, under-occupied 7%', balanced: true },
    reduce_tree: { gains: 'under-occupied 46%, barrier 36%, lds 33%', limiter: 'under-occupied' },
    maximum: {
      gains: 'under-occupied 50%, memory-latency 49%, atomics 16%',
      limiter: 'under-occupied',
      equals: ['memory-latency'],
    },
  },
);
