// Captures with one part left out: a chunk, its state before, its state after. A replay of each must fail, or nobody needs that part.
import { randomNumbers, WavesmithError } from '../../src/base/index.ts';
import { type Capture, Chunk } from '../../src/snapshot/capture.ts';
import type { ChunkEntry } from '../../src/snapshot/manifest.ts';
import { budgetBeside, replayOnce } from './capture-subjects.ts';

/** The capture with other chunks; its pages are those of the original. */
function withChunks(capture: Capture, entries: readonly ChunkEntry[]): Capture {
  const { manifest, pages } = capture;
  const chunks = entries.map((entry) => {
    const allocation = manifest.memory.allocations[entry.allocation];
    if (allocation === undefined) throw new Error(`no allocation ${entry.allocation}`);
    return new Chunk(entry, allocation, pages);
  });
  return { ...capture, chunks, manifest: { ...manifest, memory: { ...manifest.memory, chunks: entries } } };
}

/**
 * Replays a capture without each of its parts, at most so many of them by the seed; gives those that it replays equal without. `instructions`
 * are those of the whole capture's dispatch: without its flags a kernel waits for ever.
 */
export async function needlessParts(
  capture: Capture,
  most: number,
  seed: number,
  instructions: number,
): Promise<{ readonly tried: number; readonly needless: readonly string[] }> {
  const { chunks } = capture.manifest.memory;
  const parts = chunks.flatMap((entry, n) => {
    const without = (what: string, change: readonly ChunkEntry[]) => ({
      what: `${what} ${n} (allocation ${entry.allocation}, index ${entry.index})`,
      entries: [...chunks.slice(0, n), ...change, ...chunks.slice(n + 1)],
    });
    const { pre, post, known, ...rest } = entry;
    return [
      without('chunk', []),
      ...(pre === undefined ? [] : [without('before', [{ ...rest, post }])]),
      // Without its state after, a chunk stays as before: nothing is lost of one that ends as it began.
      ...(post === undefined || post === pre ? [] : [without('after', [{ ...rest, pre, known }])]),
    ];
  });
  const random = randomNumbers(seed);
  while (parts.length > most) parts.splice(Math.floor(random() * parts.length), 1);
  const needless: string[] = [];
  const maxInstructions = budgetBeside(instructions);
  for (const { what, entries } of parts) {
    try {
      if ((await replayOnce(withChunks(capture, entries), { maxInstructions })).ok) needless.push(what);
    } catch (error) {
      if (!(error instanceof WavesmithError)) throw error;
    }
  }
  return { tried: parts.length, needless };
}
