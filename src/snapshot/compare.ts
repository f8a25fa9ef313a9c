// What a replay left in memory beside what it should have: by element where a buffer's type is known, by byte elsewhere.
import { bytesOfElements, elementType } from '../base/index.ts';
import type { Device } from '../device/index.ts';
import { CHUNK_BYTES, type TouchedBytes, WRITTEN } from '../device/sim/tools/index.ts';
import { type Comparison, compareElements, comparisonVerdict } from '../verdict/index.ts';
import type { Capture } from './capture.ts';
import { hex } from './fields.ts';
import type { Annotation, CaptureAllocation } from './manifest.ts';
import { bytesOfRuns, runsOf } from './masks.ts';
import type { PlacedCapture } from './place.ts';
import type { PlacedChunk } from './placed-chunk.ts';

/** What a chunk should hold. */
export interface Expected {
  readonly bytes: Uint8Array;
  /** One flag for each byte that counts. */
  readonly counts: Uint8Array;
}

/** One allocation, or annotated buffer, compared. */
export interface ComparedBuffer {
  readonly label: string;
  readonly address: number;
  readonly comparison: Comparison;
  /** Address of the first element that decides. */
  readonly first: number | null;
}

/** What a monitored replay did to memory beyond its result. */
export interface WriteReport {
  /** Bytes that the replay writes and the captured dispatch does not, and the first of them. */
  readonly extra: number;
  readonly firstExtra: number | null;
  /** Bytes that the captured dispatch writes and the replay leaves as they were. */
  readonly missing: number;
  readonly firstMissing: number | null;
}

/** Memory of a chunk as the replay left it. */
export const contentOf = (device: Device, { buffer, offset, length }: PlacedChunk, into?: Uint8Array): Uint8Array =>
  device.read(buffer, offset, length, into);

/**
 * What each placed chunk should hold after a replay: of bytes that the capture knows the result of. `against` is another capture of the same
 * addresses whose result is expected instead. Bytes that vary with the order of waves do not count.
 */
export function expectationOf(placed: PlacedCapture, against: Capture | undefined): Map<PlacedChunk, Expected> {
  const varying = [placed.capture, ...(against === undefined ? [] : [against])].flatMap(
    (c) => c.manifest.determinism?.varying ?? [],
  );
  const other = new Map((against?.chunks ?? []).map((c) => [c.address, c]));
  const expected = new Map<PlacedChunk, Expected>();
  if (!(against ?? placed.capture).manifest.memory.hasResult) return expected;
  for (const one of placed.chunks) {
    const source = other.get(one.address);
    const isOwn = against === undefined;
    const post = isOwn ? one.post : source?.post();
    const writes = isOwn ? one.writes : source?.writes();
    const before = isOwn ? one.initial : source?.pre();
    const known = isOwn ? one.known : source?.known();
    const bytes = post ?? before;
    if (bytes === undefined || bytes.length !== one.length) continue;
    const counts = new Uint8Array(one.length);
    if (writes !== undefined) {
      // Without a state after it, what is written is as before: as poison where nobody knows that.
      counts.set(writes);
    } else if (post !== undefined || known !== null) {
      // Nobody followed the writes: everything that is known counts; instructions do not.
      if (known === undefined || (post !== undefined && one.allocation.kind !== 'code')) counts.fill(1);
      else if (known !== null) counts.set(known);
    }
    for (const { address, bytes: size } of varying) {
      const from = Math.max(0, address - one.address);
      const to = Math.min(one.length, address + size - one.address);
      if (to > from) counts.fill(0, from, to);
    }
    expected.set(one, { bytes, counts });
  }
  return expected;
}

/** Bytes that count, over all chunks. */
export function countedBytes(expected: ReadonlyMap<PlacedChunk, Expected>): number {
  let sum = 0;
  for (const { counts } of expected.values()) sum += bytesOfRuns(runsOf(counts));
  return sum;
}

/** A quick answer to whether every byte that counts is as it should be, for many runs. */
export function quickComparison(device: Device, expected: ReadonlyMap<PlacedChunk, Expected>): () => boolean {
  const parts = [...expected].map(([placed, { bytes, counts }]) => ({
    placed,
    bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length),
    runs: runsOf(counts),
  }));
  const written = parts.filter(({ runs }) => runs.length > 0);
  // New arrays for every run would be work for the collector, in the middle of what is timed.
  const content = new Uint8Array(CHUNK_BYTES);
  return () =>
    written.every(({ placed, bytes, runs }) => {
      const now = contentOf(device, placed, content.subarray(0, placed.length));
      for (let i = 0; i < runs.length; i += 2) {
        const [from, to] = [runs[i] as number, runs[i + 1] as number];
        if (bytes.compare(now, from, to, from, to) !== 0) return false;
      }
      return true;
    });
}

/** Compares everything that counts: one result for each annotated buffer, and one for each allocation's other bytes. */
export function compareBuffers(
  device: Device,
  capture: Capture,
  expected: ReadonlyMap<PlacedChunk, Expected>,
  options: { readonly exact?: boolean | undefined } = {},
): ComparedBuffer[] {
  const pieces = [...expected].map(([placed, { bytes, counts }]) => ({
    placed,
    bytes,
    counts: counts.slice(),
    now: contentOf(device, placed),
  }));
  const results: ComparedBuffer[] = [];
  for (const annotation of capture.manifest.annotations) {
    const result = compareAnnotated(annotation, pieces, options.exact === true);
    if (result !== undefined) results.push(result);
  }
  const byAllocation = new Map<CaptureAllocation, typeof pieces>();
  for (const piece of pieces) {
    const { allocation } = piece.placed;
    byAllocation.set(allocation, [...(byAllocation.get(allocation) ?? []), piece]);
  }
  for (const [allocation, all] of byAllocation) {
    const parts = all.map((piece) => ({ ...piece, runs: runsOf(piece.counts) }));
    const size = parts.reduce((sum, { runs }) => sum + bytesOfRuns(runs), 0);
    if (size === 0) continue;
    const want = new Uint8Array(size);
    const got = new Uint8Array(size);
    let first: number | null = null;
    let at = 0;
    for (const { placed, bytes, runs, now } of parts) {
      for (let i = 0; i < runs.length; i += 2) {
        const [from, to] = [runs[i] as number, runs[i + 1] as number];
        want.set(bytes.subarray(from, to), at);
        got.set(now.subarray(from, to), at);
        if (first === null && Buffer.compare(bytes.subarray(from, to), now.subarray(from, to)) !== 0) {
          let k = from;
          while (bytes[k] === now[k]) k++;
          first = placed.address + k;
        }
        at += to - from;
      }
    }
    const comparison = compareElements(want, got, 'u8', { bitwise: true });
    results.push({ label: labelOf(allocation), address: allocation.address, comparison, first });
  }
  return results;
}

export function labelOf({ label, kind, address }: CaptureAllocation): string {
  return label === '' ? `${kind} ${hex(address)}` : label;
}

interface Piece {
  readonly placed: PlacedChunk;
  readonly bytes: Uint8Array;
  readonly counts: Uint8Array;
  readonly now: Uint8Array;
}

/** Compares a buffer by its elements; its bytes do not count a second time. Bytes that do not count are equal. */
function compareAnnotated(
  annotation: Annotation,
  pieces: readonly Piece[],
  exact: boolean,
): ComparedBuffer | undefined {
  const { address, shape, tolerance, name } = annotation;
  const size = annotationBytes(annotation);
  const want = new Uint8Array(size);
  const got = new Uint8Array(size);
  let counted = 0;
  for (const { placed, bytes, counts, now } of pieces) {
    const start = placed.address;
    const from = Math.max(0, address - start);
    const to = Math.min(counts.length, address + size - start);
    for (let i = from; i < to; i++) {
      const at = start + i - address;
      want[at] = bytes[i] as number;
      got[at] = counts[i] === 1 ? (now[i] as number) : (bytes[i] as number);
      counted += counts[i] as number;
      counts[i] = 0;
    }
  }
  if (counted === 0) return undefined;
  const bitwise = exact || tolerance === 0;
  const comparison = compareElements(want, got, annotation.elementType, {
    shape,
    ...(bitwise ? { bitwise } : { tolerance }),
  });
  const { first } = comparison;
  const width = size / Math.max(1, comparison.elements);
  return { label: name, address, comparison, first: first === null ? null : address + Math.floor(first.index * width) };
}

/** Bytes of an annotated buffer. */
export function annotationBytes({ elementType: name, shape }: Pick<Annotation, 'elementType' | 'shape'>): number {
  return bytesOfElements(
    elementType(name),
    shape.reduce((product, n) => product * n, 1),
  );
}

/** Whether any of the buffers decides against the replay. */
export const isDifferent = (buffers: readonly ComparedBuffer[]): boolean =>
  buffers.some(({ comparison }) => comparisonVerdict(comparison) === 'different');

/** Beside the result: what the replay wrote, and did not write, that the captured dispatch did. */
export function compareWrites(placed: PlacedCapture, touched: TouchedBytes): WriteReport {
  let [extra, missing] = [0, 0];
  let firstExtra: number | null = null;
  let firstMissing: number | null = null;
  for (const one of placed.chunks) {
    const { address, writes } = one;
    if (writes === undefined) continue;
    const flags = flagsAt(touched, one);
    if (isSameRuns(runsOf(writes), flags === undefined ? [] : runsOf(flags, WRITTEN))) continue;
    for (let i = 0; i < writes.length; i++) {
      const isWritten = ((flags?.[i] ?? 0) & WRITTEN) !== 0;
      const should = writes[i] === 1;
      if (isWritten && !should) {
        extra++;
        firstExtra ??= address + i;
      }
      if (should && !isWritten) {
        missing++;
        firstMissing ??= address + i;
      }
    }
  }
  for (const address of writesElsewhere(placed, touched)) {
    extra++;
    firstExtra ??= address;
  }
  return { extra, firstExtra, missing, firstMissing };
}

const isSameRuns = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((end, i) => end === b[i]);

/** Addresses of bytes that a followed run wrote and that are in none of the placed chunks: variables, packets, queues. */
export function* writesElsewhere(placed: PlacedCapture, touched: TouchedBytes): Generator<number> {
  for (const { region, chunks } of touched.regions.values()) {
    const own = placed.chunks.filter((c) => c.buffer.address === region.base);
    for (const { offset, flags } of chunks.values()) {
      if (own.some((c) => c.offset <= offset && c.offset + c.length >= offset + flags.length)) continue;
      for (let i = 0; i < flags.length; i++) {
        const at = offset + i;
        if (((flags[i] as number) & WRITTEN) === 0) continue;
        if (!own.some((c) => at >= c.offset && at < c.offset + c.length)) yield region.base + at;
      }
    }
  }
}

/** Flags of the bytes of a placed chunk that a followed run touched; undefined when it touched none. */
export function flagsAt(touched: TouchedBytes, { buffer, offset, length }: PlacedChunk): Uint8Array | undefined {
  const chunks = touched.regions.get(buffer.address)?.chunks;
  if (chunks === undefined) return undefined;
  const whole = chunks.get(offset / CHUNK_BYTES);
  if (whole !== undefined && whole.flags.length === length) return whole.flags;
  const flags = new Uint8Array(length);
  for (const chunk of chunks.values()) {
    const from = Math.max(offset, chunk.offset);
    const to = Math.min(offset + length, chunk.offset + chunk.flags.length);
    if (from < to) flags.set(chunk.flags.subarray(from - chunk.offset, to - chunk.offset), from - offset);
  }
  return flags;
}

const NONE = new Uint8Array();

/** The chunks that a monitored replay wrote. */
export function writtenChunks(placed: PlacedCapture, touched: TouchedBytes): Set<PlacedChunk> {
  const written = new Set<PlacedChunk>();
  for (const one of placed.chunks) {
    if (one.post !== undefined || runsOf(flagsAt(touched, one) ?? NONE, WRITTEN).length > 0) written.add(one);
  }
  return written;
}
