// Twenty-four kernels more that clang compiles (unseen.c), written when the rules of the classifier were done: what they first made of these
// is in docs/profile.md.
import type { CompiledKernel } from './compiled.ts';
import { limited, MB } from './compiled.ts';
import { measured } from './measured.ts';

const full = { groups: 1216, threads: 256, bytes: 4 * MB } as const;
const noise = (words: Int32Array): void => {
  for (let at = 0; at < words.length; at++) words[at] = Math.imul(at ^ (at >>> 9), 0x85ebca6b);
};

export const UNSEEN_KERNELS: readonly CompiledKernel[] = measured<CompiledKernel>(
  [
    limited(
      'memory-bandwidth',
      'heat_step',
      { groups: 8192, threads: 256, bytes: 130 * MB },
      'reads and writes all once',
    ),
    limited('memory-bandwidth', 'records_to_arrays', { groups: 4096, threads: 256, bytes: 64 * MB }, 'all once'),
    limited('memory-bandwidth', 'matrix_vector', { groups: 2048, threads: 256, bytes: 34 * MB }, 'the matrix once'),
    limited('memory-bandwidth', 'clear', { groups: 2048, threads: 256, bytes: 64 * MB }, 'writes all once'),
    limited('memory-bandwidth', 'blend', { groups: 8192, threads: 64, bytes: 96 * MB }, 'two reads, one write'),
    limited(
      'memory-latency',
      'tree_walk',
      { groups: 304, threads: 64, bytes: 64 * MB, fill: noise },
      'a chain of loads',
    ),
    limited(
      'memory-latency',
      'sparse_rows',
      { groups: 304, threads: 64, bytes: 32 * MB, fill: noise },
      'a chain of loads',
    ),
    limited(
      'compute',
      'gravity',
      { ...full, bytes: 8 * MB },
      'twenty operations for each sixteen bytes of LDS, which all lanes share',
    ),
    limited('compute', 'proof_of_work', full, 'integer operations, four chains a lane'),
    limited('compute', 'price_options', full, 'transcendental operations at a quarter of the rate'),
    limited(
      'compute',
      'matrix_32',
      { groups: 608, threads: 256, bytes: 4 * MB },
      'matrix operations, two chains a wave',
    ),
    limited('lds', 'column_sums', { groups: 608, threads: 256, bytes: MB }, 'all lanes in one bank'),
    // On the MI350X LDS gives 256: twice its rate saves 0.2% there, instructions at half the cost 19%.
    limited('lds', 'lookup_rows', { groups: 1216, threads: 256, bytes: 2 * MB }, 'LDS gives 128 bytes a cycle', {
      mi350x: 'compute',
    }),
    limited('divergence', 'interpreter', full, 'a lane in eight is active'),
    limited('divergence', 'rays', full, 'waves last as long as their longest lane'),
    limited('atomics', 'tickets', { groups: 512, threads: 256, bytes: 4 * MB }, 'two counters for all'),
    limited('atomics', 'group_by', { groups: 1024, threads: 256, bytes: MB }, 'sixteen words for all'),
    limited('under-occupied', 'few_groups', { groups: 16, threads: 256, bytes: MB }, 'sixteen compute units work'),
    limited(
      'under-occupied',
      'private_tables',
      { groups: 1216, threads: 64, bytes: 16 * MB, fill: noise },
      'LDS for one wave, which waits',
    ),
    limited('barrier', 'eliminate', { groups: 608, threads: 256, bytes: MB }, 'one lane works, 255 wait for it'),
    limited('scalar', 'automaton', { groups: 2432, threads: 64, bytes: MB }, 'one state for all lanes'),
    limited('instruction-fetch', 'generated', { groups: 304, threads: 64, bytes: MB }, '190 KB of code without a loop'),
    limited(
      'launch',
      'small_step',
      { groups: 4, threads: 256, bytes: MB, launches: 60 },
      'sixty launches of a few instructions',
    ),
  ],
  'mi300x',
  {
    sparse_rows: { gains: 'memory-latency 28%, under-occupied 26%, memory-bandwidth 8%', equals: ['under-occupied'] },
    interpreter: {
      gains: 'scalar 12%, under-occupied 11%',
      limiter: 'scalar',
      equals: ['under-occupied'],
      balanced: true,
    },
    private_tables: { gains: 'under-occupied 50%, memory-latency 49%, lds 7%', equals: ['memory-latency'] },
    automaton: { gains: 'under-occupied 16%, scalar 15%', limiter: 'under-occupied', equals: ['scalar'] },
  },
);
