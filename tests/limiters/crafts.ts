// Twenty-six kernels of many trades (crafts.c), written before any rule's answer to them was known. Their limiters are those that
// `npm run bench classify -- --crafts --what-if` shows on MI300X; it has not been run on the other chips.
import { type CompiledKernel, limited, MB } from './compiled.ts';
import { measured } from './measured.ts';

const noise = (words: Int32Array): void => {
  for (let at = 0; at < words.length; at++) words[at] = Math.imul(at ^ (at >>> 11), 0x9e3779b1) ^ (at >>> 9);
};
const full = { groups: 1216, threads: 256, bytes: 16 * MB } as const;

export const CRAFT_KERNELS: readonly CompiledKernel[] = measured(
  [
    limited('memory-bandwidth', 'grid_sum', { groups: 2048, threads: 256, bytes: 72 * MB }, 'all in once'),
    limited('memory-bandwidth', 'volume_step', { groups: 16384, threads: 256, bytes: 32 * MB }, 'all in and out once'),
    limited('lds', 'sort_tile', { ...full, fill: noise }, 'two loads and two stores of LDS for each comparison'),
    limited(
      'memory-latency',
      'odd_gemm',
      { groups: 608, threads: 256, bytes: 64 * MB },
      'memory-latency 46%, under-occupied 33%: each tile is waited for',
    ),
    {
      ...limited(
        'under-occupied',
        'attend',
        { groups: 1216, threads: 256, bytes: 40 * MB },
        'one sum after the other, and few waves; nothing is worth more than 12% on MI300X',
      ),
      balanced: ['mi300x'],
    },
    limited(
      'memory-latency',
      'image_bins',
      { groups: 512, threads: 256, bytes: 24 * MB, fill: noise },
      'a load for each count, and it is waited for',
    ),
    limited('atomics', 'line_counters', { ...full, groups: 608 }, 'all lanes on 64 lines'),
    limited('atomics', 'scatter_add', full, 'an atomic for each load'),
    limited('memory-bandwidth', 'sparse_rows', { groups: 4096, threads: 256, bytes: 72 * MB }, 'a line for each lane'),
    limited(
      'under-occupied',
      'spectrum',
      { groups: 1216, threads: 256, bytes: 16 * MB },
      'memory, LDS and barriers one after the other, and LDS lets two workgroups on a compute unit',
    ),
    limited('memory-latency', 'prefix', { groups: 608, threads: 1024, bytes: 16 * MB }, 'as short as a load'),
    limited('atomics', 'hash_insert', { ...full, bytes: 4 * MB }, 'each place is tried by an atomic'),
    limited('compute', 'boards', full, 'integer operations and nothing else'),
    limited('compute', 'bodies64', { ...full, bytes: 32 * MB }, 'double precision and nothing else'),
    limited('compute', 'quantised', { ...full, groups: 608 }, 'matrix products, four at a time'),
    limited(
      'under-occupied',
      'half_tiles',
      { groups: 1216, threads: 256, bytes: 32 * MB },
      'each tile is waited for, and LDS lets two workgroups on a compute unit',
    ),
    limited('instruction-fetch', 'straight', { groups: 1216, threads: 64, bytes: MB }, '80 KB of code, twice'),
    limited('launch', 'bias', { groups: 16, threads: 256, bytes: MB, launches: 24 }, 'as short as a launch'),
    limited('memory-bandwidth', 'turned', { groups: 2048, threads: 256, bytes: 64 * MB }, 'all in and out once'),
    limited('under-occupied', 'wide_state', { groups: 1216, threads: 256, bytes: 32 * MB }, '160 registers of state'),
    limited('barrier', 'producer', { groups: 304, threads: 512, bytes: 4 * MB }, 'seven waves wait for one'),
    limited(
      'memory-latency',
      'lists',
      { groups: 64, threads: 64, bytes: 24 * MB, fill: noise },
      'one load behind the other',
    ),
    limited('divergence', 'fractal', full, 'a lane in sixteen goes on'),
    limited('scalar', 'uniform', full, 'all lanes have the same numbers'),
    limited('memory-bandwidth', 'columns', { groups: 256, threads: 256, bytes: 80 * MB }, 'a line for each lane'),
    limited('under-occupied', 'decoder', full, 'one workgroup a compute unit, because of its tables'),
  ],
  'mi300x',
  {
    image_bins: { gains: 'memory-latency 51%, under-occupied 49%, instruction-fetch 2%', equals: ['under-occupied'] },
    half_tiles: { gains: 'memory-latency 60%, under-occupied 48%, lds 16%', equals: ['memory-latency'] },
    straight: {
      gains: 'under-occupied 38%, instruction-fetch 38%',
      limiter: 'under-occupied',
      equals: ['instruction-fetch'],
    },
    wide_state: { gains: 'under-occupied 36%, memory-latency 35%, compute 8%', equals: ['memory-latency'] },
    decoder: { gains: 'memory-latency 74%, under-occupied 56%, lds 5%', equals: ['memory-latency'] },
  },
);
