// Keeps of a capture what its dispatch touches: it is run once with everything it holds, followed byte by byte, and written again with the
// chunks that were read before they were written, and those that were written. What comes out is proved like a recording.
import { rmSync } from 'node:fs';
import { WavesmithError } from '../base/index.ts';
import { READ_FIRST, READ_LATER, WRITTEN } from '../device/sim/tools/index.ts';
import { replayBudget } from './budget.ts';
import { type Capture, openCapture } from './capture.ts';
import { compareBuffers, contentOf, expectationOf, flagsAt, isDifferent } from './compare.ts';
import type { ChunkEntry, DeterminismSection } from './manifest.ts';
import { maskOf, runsOf } from './masks.ts';
import { placeCapture } from './place.ts';
import { deviceFor, prove, runOrders } from './record.ts';
import { placeText, runPlaced } from './replay.ts';
import { rewriteCapture } from './rewrite.ts';
import type { WriteOptions } from './writer.ts';

export interface SlimResult {
  readonly path: string;
  readonly manifestHash: string;
  readonly before: { readonly chunks: number; readonly stored: number };
  readonly after: { readonly chunks: number; readonly stored: number };
  readonly determinism: DeterminismSection | null;
}

const COMPUTED = {
  what: 'result',
  message: 'The result was computed on the virtual GPU: no hardware gave it.',
};

const storedBytes = (capture: Capture): number => [...capture.stored.values()].reduce((sum, p) => sum + p.stored, 0);

/** Slims and proves. A capture whose dispatch does not give its own result on the virtual GPU is `capture/not-complete`. */
export async function slimCapture(
  capture: Capture,
  path: string,
  options: WriteOptions & { readonly orders?: boolean | undefined } = {},
): Promise<SlimResult> {
  const slim = await touchedOf(capture);
  const before = { chunks: capture.chunks.length, stored: storedBytes(capture) };
  const temporary = `${path}.slim-${process.pid}`;
  rewriteCapture(capture, temporary, { replace: true }, (pages) => ({
    memory: { ...capture.manifest.memory, mode: 'touched', proved: true, hasResult: true, chunks: slim(pages) },
    unsupported: capture.manifest.memory.hasResult
      ? capture.manifest.unsupported
      : [...capture.manifest.unsupported, COMPUTED],
  }));
  try {
    const small = openCapture(temporary);
    const instructions = await prove(small);
    const determinism = options.orders === false ? capture.manifest.determinism : await runOrders(small, instructions);
    const manifestHash = rewriteCapture(small, path, options, () => ({
      dispatch: { ...small.manifest.dispatch, instructions },
      determinism,
    }));
    return {
      path,
      manifestHash,
      before,
      after: { chunks: small.chunks.length, stored: storedBytes(openCapture(path)) },
      determinism,
    };
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Runs the dispatch; gives what makes the entries of the chunks it touched. */
async function touchedOf(capture: Capture): Promise<(pages: Parameters<typeof maskOf>[2]) => ChunkEntry[]> {
  const device = deviceFor(capture);
  try {
    const placed = placeCapture(device, capture);
    placed.restore();
    const run = await runPlaced(device, placed, true, {
      maxInstructions: replayBudget(device, capture.manifest, true),
    });
    const refuse = (message: string): WavesmithError =>
      new WavesmithError(
        'capture/not-complete',
        `The dispatch of the capture does not give its result on the virtual GPU: ${message}`,
        {
          file: capture.path,
        },
      );
    if (run.failure !== undefined) throw refuse(run.failure);
    const [read] = run.outside;
    if (read !== undefined)
      throw refuse(`it reads ${placeText(capture, read.address)}, which the capture does not hold.`);
    const buffers = compareBuffers(device, capture, expectationOf(placed, undefined));
    if (isDifferent(buffers)) {
      const bad = buffers.filter((b) => isDifferent([b])).map((b) => b.label);
      throw refuse(`${bad.join(', ')} differ.`);
    }
    const { touched } = run;
    if (touched === undefined) throw refuse('the device does not follow bytes.');
    const parts = placed.chunks.flatMap((one) => {
      const flags = flagsAt(touched, one);
      const chunk = capture.chunks.find((c) => c.address === one.address);
      if (chunk === undefined || !flags?.some((f) => f !== 0)) return [];
      // What was not written is as before, or nobody knows it.
      const post = contentOf(device, one);
      const pre = chunk.pre();
      for (let i = 0; i < post.length; i++) if (((flags[i] as number) & WRITTEN) === 0) post[i] = pre?.[i] ?? 0;
      return [{ entry: chunk.entry, flags, post }];
    });
    return (pages) =>
      parts
        .sort((a, b) => a.entry.allocation - b.entry.allocation || a.entry.index - b.entry.index)
        .map(({ entry, flags, post }): ChunkEntry => {
          const has = (bit: number) => maskOf(flags, bit, pages);
          const { pre, post: _post, reads: _reads, writes: _writes, known, ...place } = entry;
          const isRead = runsOf(flags, READ_FIRST | READ_LATER).length > 0;
          const isWritten = runsOf(flags, WRITTEN).length > 0;
          return {
            ...place,
            ...(isRead ? { pre } : {}),
            ...(isRead && known !== undefined ? { known } : {}),
            ...(isWritten ? { post: pages.put(post) } : {}),
            reads: has(READ_FIRST),
            writes: has(WRITTEN),
          };
        });
  } finally {
    device.close();
  }
}
