// A device with a capture and a code object in place, for runs one after another: memory is put into it once, and then only what a run or another
// input has changed. A run begins as on a device of its own: what it could leave behind is put back, or the device is not used again.
import type { SimDevice } from '../../device/index.ts';
import type { Chunk } from '../../snapshot/capture.ts';
import { type Capture, deviceFor } from '../../snapshot/index.ts';
import { type ChunkSides, type PlacedCapture, placeCapture } from '../../snapshot/place.ts';
import type { PlacedChunk } from '../../snapshot/placed-chunk.ts';
import { RecentModules } from './modules.ts';
import { placeName } from './place.ts';

/** A chunk with an input's edits. */
export interface EditedChunk {
  readonly bytes: Uint8Array;
  /** The edits, by their offset in the chunk. */
  readonly parts: { readonly at: number; readonly bytes: Uint8Array }[];
}

const modules = new RecentModules();

/** What chunks of a capture hold, made once for all devices. */
const sides = new WeakMap<Capture, Map<Chunk, ChunkSides>>();

function sidesOf(capture: Capture): Map<Chunk, ChunkSides> {
  let found = sides.get(capture);
  if (found === undefined) {
    found = new Map();
    sides.set(capture, found);
  }
  return found;
}

/** The stand that was used last and that nobody uses now. */
let kept: Stand | undefined;

/** A stand for runs that need nothing of the device but its memory; the last one when that is of the same capture and code. */
export function standFor(capture: Capture, code: Uint8Array): Stand {
  const last = kept;
  kept = undefined;
  if (last?.capture === capture && last.code === code) return last;
  last?.device.close();
  return new Stand(capture, code, true);
}

export class Stand {
  readonly capture: Capture;
  readonly code: Uint8Array;
  readonly device: SimDevice;
  readonly placed: PlacedCapture;
  /** What is not known holds poison; otherwise it stays unwritten, for strict mode, which tells such bytes from others. */
  private readonly hasPoison: boolean;
  /** What each chunk holds; undefined before the first run. */
  private readonly now = new Map<PlacedChunk, Uint8Array>();
  /** Memory beside the chunks, as no run may leave it otherwise: code, its data, packets. */
  private readonly rest: readonly { readonly bytes: Uint8Array; readonly copy: Uint8Array }[];
  /** What chunks of the loaded code object hold before a run. */
  private readonly images = new Map<PlacedChunk, Uint8Array>();
  private isClean = false;

  constructor(capture: Capture, code: Uint8Array, hasPoison: boolean) {
    this.capture = capture;
    this.code = code;
    this.hasPoison = hasPoison;
    this.device = deviceFor(capture, modules);
    this.placed = placeCapture(this.device, capture, { code, poison: hasPoison, kept: sidesOf(capture) });
    const { memory } = this.device;
    this.rest = memory.snapshot().flatMap(({ base, size }) => {
      const { bytes } = memory.access(base, size, false);
      return gapsOf(this.placed.chunks, base, size).map(({ from, to }) => {
        const part = bytes.subarray(from, to);
        return { bytes: part, copy: part.slice() };
      });
    });
  }

  /** Puts memory into the state before a run, with an input's edits by chunk address. Gives it by the names of places. */
  prepare(edited: ReadonlyMap<number, EditedChunk>): Map<string, Uint8Array> {
    const { device, placed, hasPoison, now } = this;
    this.isClean = false;
    const before = new Map<string, Uint8Array>();
    if (!hasPoison) placed.restore();
    for (const chunk of placed.chunks) {
      const found = edited.get(chunk.address);
      const bytes = found?.bytes ?? chunk.initial;
      before.set(placeName(placed, chunk), bytes);
      if (hasPoison) {
        if (now.get(chunk) === bytes) continue;
        const image = this.images.get(chunk);
        if (image !== undefined) device.write(chunk.buffer, image, chunk.offset);
        else if (found === undefined) placed.restore(new Set([chunk]));
        else device.write(chunk.buffer, bytes, chunk.offset);
        // Of a code object only what is known was written: the rest is as it was loaded.
        if (chunk.allocation.kind === 'code' && image === undefined)
          this.images.set(chunk, this.content(chunk).slice());
      } else for (const part of found?.parts ?? []) device.write(chunk.buffer, part.bytes, chunk.offset + part.at);
      now.set(chunk, bytes);
    }
    return before;
  }

  /** Memory after a run, by the names of places; what the run left as it was is the array that it was. */
  memory(): Map<string, Uint8Array> {
    const { placed, now } = this;
    const after = new Map<string, Uint8Array>();
    for (const chunk of placed.chunks) {
      const was = now.get(chunk) as Uint8Array;
      const bytes = this.content(chunk);
      const is = Buffer.compare(bytes, was) === 0 ? was : bytes.slice();
      now.set(chunk, is);
      after.set(placeName(placed, chunk), is);
    }
    this.isClean = this.rest.every(({ bytes, copy }) => Buffer.compare(bytes, copy) === 0);
    return after;
  }

  private content({ buffer, offset, length }: PlacedChunk): Uint8Array {
    const { bytes } = this.device.memory.access(buffer.address, buffer.size, false);
    return bytes.subarray(offset, offset + length);
  }

  /** Ends the use by a run. */
  leave(): void {
    // Scratch lies where the device has room: only on a new device at the same place each time.
    if (!this.hasPoison || !this.isClean || this.placed.kernel.scratchSize > 0) {
      this.device.close();
      return;
    }
    this.device.memory.forgetFreed();
    kept?.device.close();
    kept = this;
  }
}

/** The parts of an allocation that are in no chunk, as offsets. Chunks are sorted by address. */
function gapsOf(chunks: readonly PlacedChunk[], base: number, size: number): { from: number; to: number }[] {
  const gaps: { from: number; to: number }[] = [];
  let from = 0;
  for (const { buffer, offset, length } of chunks) {
    if (buffer.address !== base) continue;
    if (offset > from) gaps.push({ from, to: offset });
    from = Math.max(from, offset + length);
  }
  if (from < size) gaps.push({ from, to: size });
  return gaps;
}
