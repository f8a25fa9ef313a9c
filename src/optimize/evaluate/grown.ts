// A capture with more of everything: more workgroups, an argument that counts more, buffers that are as much larger. What is cut to the captured
// sizes is wrong here. The baseline says whether such a launch makes sense: a kernel whose buffers do not grow like that fails on it by itself.
import { randomNumbers } from '../../base/index.ts';
import { CHUNK_BYTES } from '../../device/sim/tools/index.ts';
import { Chunk } from '../../snapshot/capture.ts';
import type { Capture, CaptureAllocation } from '../../snapshot/index.ts';
import { type ChunkEntry, chunkLength } from '../../snapshot/manifest.ts';
import type { PageSource } from '../../snapshot/pages.ts';
import { FIXED } from './place.ts';

/** Bytes of all buffers of a grown capture. */
export const MOST_GROWN = 2 ** 24;

/** Bytes of the buffers that would grow. */
export function growingBytes({ manifest: { memory } }: Capture): number {
  return memory.allocations.reduce((sum, a, i) => sum + (grows(a, i, memory.chunks) ? a.size : 0), 0);
}

const grows = ({ kind }: CaptureAllocation, index: number, chunks: readonly ChunkEntry[]): boolean =>
  !FIXED.has(kind) && kind !== 'variable' && chunks.some((c) => c.allocation === index);

/**
 * A capture whose buffers are `factor` times as large; they lie where they lay, so there must be room (moved.ts). What is behind the captured
 * bytes, and what nobody knows of them, is drawn from what is known.
 */
export function grownCapture(capture: Capture, factor: number, seed: number): Capture {
  const { memory } = capture.manifest;
  const random = randomNumbers(seed);
  const contents = new Map<string, Uint8Array>();
  const pages: PageSource = { page: (id, length) => contents.get(id) ?? capture.pages.page(id, length) };
  const allocations: CaptureAllocation[] = [];
  const entries: ChunkEntry[] = [];
  for (const [i, allocation] of memory.allocations.entries()) {
    if (!grows(allocation, i, memory.chunks)) {
      allocations.push(allocation);
      entries.push(...memory.chunks.filter((c) => c.allocation === i));
      continue;
    }
    const bytes = grownBytes(
      capture.chunks.filter((c) => c.entry.allocation === i),
      allocation.size,
      factor,
      random,
    );
    const grown = { ...allocation, size: bytes.length };
    allocations.push(grown);
    for (let index = 0; index * CHUNK_BYTES < bytes.length; index++) {
      const pre = `grown ${i} ${index}`;
      const start = index * CHUNK_BYTES;
      contents.set(pre, bytes.subarray(start, start + chunkLength(grown, index)));
      entries.push({ allocation: i, index, pre });
    }
  }
  const { annotations } = capture.manifest;
  const of = (address: number): number =>
    memory.allocations.findIndex((a) => address >= a.address && address < a.address + a.size);
  // One annotation of a buffer is about all of it.
  const isAlone = (address: number): boolean => annotations.filter((a) => of(a.address) === of(address)).length === 1;
  const manifest = {
    ...capture.manifest,
    memory: { ...memory, allocations, chunks: entries },
    annotations: annotations.map((a) =>
      isAlone(a.address) ? { ...a, shape: [a.shape.reduce((x, y) => x * y, factor)] } : a,
    ),
  };
  const chunks = entries.map((e) => new Chunk(e, allocations[e.allocation] as CaptureAllocation, pages));
  return { ...capture, manifest, chunks, pages, codeObject: () => capture.codeObject() };
}

function grownBytes(chunks: readonly Chunk[], size: number, factor: number, random: () => number): Uint8Array {
  const words = new Uint32Array(Math.ceil((size * factor) / 4));
  const known: number[] = [];
  const bytes = new Uint8Array(words.buffer, 0, size * factor);
  const isKnown = new Uint8Array(Math.ceil(size / 4));
  for (const chunk of chunks) {
    const pre = chunk.pre();
    if (pre === undefined) continue;
    const flags = chunk.known();
    const at = chunk.entry.index * CHUNK_BYTES;
    bytes.set(pre, at);
    for (let word = 0; 4 * word + 4 <= pre.length; word++) {
      if (flags !== undefined && flags[4 * word] !== 1) continue;
      isKnown[(at >> 2) + word] = 1;
      known.push(words[(at >> 2) + word] as number);
    }
  }
  const draw = (): number =>
    known.length === 0 ? Math.floor(random() * 2 ** 32) : (known[Math.floor(random() * known.length)] as number);
  for (let i = 0; i < words.length; i++) if (i >= isKnown.length || isKnown[i] === 0) words[i] = draw();
  return bytes;
}
