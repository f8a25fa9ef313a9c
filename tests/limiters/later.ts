// Fifteen kernels more that clang compiles (later.c), written after the rules had been changed for those of unseen.ts: what the classifier
// first made of these is in docs/profile.md.
import type { CompiledKernel } from './compiled.ts';
import { limited, MB } from './compiled.ts';
import { measured } from './measured.ts';

const full = { groups: 1216, threads: 256, bytes: 4 * MB } as const;
const noise = (words: Int32Array): void => {
  for (let at = 0; at < words.length; at++) words[at] = Math.imul(at ^ (at >>> 11), 0xc2b2ae35) >>> 3;
};

export const LATER_KERNELS: readonly CompiledKernel[] = measured<CompiledKernel>(
  [
    limited('memory-bandwidth', 'edges', { groups: 8192, threads: 256, bytes: 130 * MB }, 'reads and writes all once'),
    limited(
      'memory-bandwidth',
      'transpose_rows',
      { groups: 4096, threads: 256, bytes: 50 * MB },
      'a part of a line for each word written',
    ),
    limited(
      'memory-bandwidth',
      'from_l2',
      { groups: 1216, threads: 256, bytes: 8 * MB },
      '256 bytes of L2 an instruction',
    ),
    limited('memory-latency', 'lists', { groups: 304, threads: 64, bytes: 32 * MB, fill: noise }, 'a chain of loads'),
    limited(
      'memory-latency',
      'scalar_list',
      { groups: 304, threads: 64, bytes: 20 * MB, fill: noise },
      'a chain of scalar loads',
    ),
    limited('compute', 'monte_carlo', full, 'integer and float operations without memory'),
    limited('compute', 'butterflies', { ...full, bytes: 8 * MB }, 'sixteen operations a stage and number'),
    limited('barrier', 'scan', { groups: 304, threads: 1024, bytes: 2 * MB }, '160 barriers of sixteen waves'),
    limited('atomics', 'compare_and_swap', { groups: 1216, threads: 64, bytes: MB }, 'four words for all'),
    limited('atomics', 'queues', { groups: 512, threads: 256, bytes: 4 * MB }, 'eight counters for all'),
    limited(
      'divergence',
      'quarter_waves',
      { groups: 9728, threads: 16, bytes: MB },
      'a quarter of each wave is empty lanes',
    ),
    limited('under-occupied', 'recurrence', { groups: 304, threads: 64, bytes: MB }, 'one wave a compute unit'),
    limited(
      'launch',
      'short_pass',
      { groups: 16, threads: 128, bytes: MB, launches: 60 },
      'sixty launches of 2,048 lanes',
    ),
    limited(
      'instruction-fetch',
      'opcodes',
      { groups: 1216, threads: 64, bytes: MB },
      '150 KB of code, few waves share it',
    ),
    limited('lds', 'columns', { groups: 608, threads: 256, bytes: MB }, 'the lanes of a wave meet in few banks'),
  ],
  'mi300x',
  {
    lists: { gains: 'memory-latency 17%, under-occupied 16%, memory-bandwidth 8%', equals: ['under-occupied'] },
    scan: { gains: 'under-occupied 37%, lds 26%, barrier 16%', limiter: 'under-occupied' },
    compare_and_swap: {
      gains: 'under-occupied 50%, atomics 49%, memory-latency 24%',
      limiter: 'under-occupied',
      equals: ['atomics'],
    },
  },
);
