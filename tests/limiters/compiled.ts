// Twenty-four kernels with a known limiter as clang compiles them (compiled.c), in forms that kernels.ts and held-out.ts do not have: tiles with
// masks, persistent workgroups, phases, tails, gathers, reductions. Written after the rules of the classifier were fixed.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BottleneckClass } from '../../src/profile/analysis/bottleneck-types.ts';
import type { Labels, Launch } from './kernels.ts';
import { measured } from './measured.ts';

export interface CompiledKernel extends Launch, Labels {}

export const MB = 2 ** 20;
const noise = (words: Int32Array): void => {
  for (let at = 0; at < words.length; at++) words[at] = Math.imul(at ^ (at >>> 7), 0x9e3779b1);
};
const counting = (words: Int32Array): void => {
  for (let at = 0; at < words.length; at++) words[at] = at;
};
/** A kernel of a compiled source. */
export const limited = (
  limiter: BottleneckClass,
  name: string,
  launch: Launch,
  because: string,
  elsewhere?: CompiledKernel['elsewhere'],
): CompiledKernel => ({
  name,
  limiter,
  because,
  elsewhere,
  ...launch,
});
const full = { groups: 1216, threads: 256, bytes: 4 * MB } as const;

export const COMPILED_KERNELS: readonly CompiledKernel[] = measured<CompiledKernel>(
  [
    limited(
      'memory-bandwidth',
      'tile_add',
      { groups: 4096, threads: 256, bytes: 128 * MB },
      'reads and writes all once',
    ),
    limited(
      'memory-bandwidth',
      'softmax',
      { groups: 2048, threads: 256, bytes: 32 * MB },
      'a row is read and written once',
    ),
    limited(
      'memory-bandwidth',
      'persistent_axpy',
      { groups: 304, threads: 1024, bytes: 64 * MB },
      'two reads, one write',
    ),
    limited(
      'memory-bandwidth',
      'gather',
      { groups: 2048, threads: 256, bytes: 256 * MB },
      'a line is fetched for each word',
    ),
    limited(
      'memory-bandwidth',
      'scatter',
      { groups: 1024, threads: 256, bytes: 64 * MB },
      'a part of a line for each word',
    ),
    limited('memory-bandwidth', 'stream_then_reduce', { groups: 1024, threads: 256, bytes: 64 * MB }, 'reads all once'),
    limited(
      'memory-latency',
      'probe_chain',
      { groups: 304, threads: 64, bytes: 32 * MB, fill: noise },
      'a chain of loads',
    ),
    limited(
      'memory-bandwidth',
      'binary_search',
      { groups: 608, threads: 256, bytes: 36 * MB, fill: counting },
      'each lane loads a line of its own',
    ),
    limited('compute', 'horner_double', full, 'fused operations of doubles, four chains a lane'),
    limited('compute', 'dot_int8', full, 'integer products, four chains a lane'),
    limited('compute', 'half_chain', full, 'packed halves, eight chains a lane'),
    limited('compute', 'load_then_work', { ...full, bytes: 8 * MB }, '3,840 fused operations for 16 bytes'),
    limited(
      'compute',
      'matrix_tiles',
      { groups: 608, threads: 256, bytes: 4 * MB },
      'matrix operations, four chains a wave',
    ),
    limited('divergence', 'escape_time', full, 'one lane in sixteen works a hundred times as long'),
    limited(
      'compute',
      'lds_histogram',
      full,
      'compute 26%, LDS nothing: hashes, and the lanes of a wave meet in eight words',
    ),
    limited('lds', 'transpose_in_lds', { groups: 608, threads: 256, bytes: MB }, 'columns of a tile without padding'),
    limited('atomics', 'global_histogram', { groups: 1024, threads: 256, bytes: MB }, 'all lanes add to 128 words'),
    limited(
      'under-occupied',
      'one_group_sum',
      { groups: 1, threads: 1024, bytes: 8 * MB },
      'one compute unit of all works',
    ),
    limited('under-occupied', 'long_tail', { groups: 1216, threads: 64, bytes: MB }, 'at the end ten waves are left'),
    limited(
      'under-occupied',
      'hoarder',
      { groups: 1216, threads: 64, bytes: 32 * MB, fill: noise },
      'LDS for one wave',
    ),
    limited(
      'launch',
      'next_step',
      { groups: 1, threads: 64, bytes: MB, launches: 60 },
      'sixty launches that do next to nothing',
    ),
    limited('barrier', 'relay', { groups: 608, threads: 256, bytes: MB }, 'one wave works, three wait for it'),
    limited('scalar', 'uniform_hash', { groups: 2432, threads: 64, bytes: MB }, 'the same numbers for all lanes'),
    limited('instruction-fetch', 'unrolled', { groups: 304, threads: 64, bytes: MB }, '96 KB of code without a loop'),
  ],
  'mi300x',
  {
    one_group_sum: { gains: 'memory-latency 66%, under-occupied 50%, memory-bandwidth 3%', equals: ['memory-latency'] },
    probe_chain: { gains: 'memory-latency 15%, under-occupied 14%, memory-bandwidth 8%', equals: ['under-occupied'] },
    escape_time: { gains: 'compute 14%, under-occupied 2%', balanced: true },
    hoarder: {
      gains: 'memory-latency 16%, under-occupied 15%, memory-bandwidth 7%',
      limiter: 'memory-latency',
      equals: ['under-occupied'],
    },
  },
);

/** A source of this folder (`compiled.c`) for a target; undefined where clang 22 is not installed. */
export function compiledObject(name: string, target: string): Uint8Array | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-limiters-'));
  try {
    const out = join(folder, 'kernels.co');
    const source = `tests/limiters/${name}`;
    const options = ['--target=amdgcn-amd-amdhsa', `-mcpu=${target}`, '-O3', '-nogpulib', '-o', out, source];
    const done = spawnSync('clang-22', options, { encoding: 'utf8' });
    if (done.error !== undefined) return undefined;
    if (done.status !== 0) throw new Error(done.stderr);
    return new Uint8Array(readFileSync(out));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
