// Records one dispatch of the virtual GPU: the monitor follows its bytes, the chunks that it reads before it writes them become the state
// before, those that it writes the state after. The capture is then replayed with everything else poisoned, which proves that it is
// complete, and in other orders, which shows what of the result the kernel does not determine.
import { totalmem } from 'node:os';
import { WavesmithError } from '../base/index.ts';
import { readCodeObject } from '../codeobject/index.ts';
import { type Monitor, SimDevice } from '../device/index.ts';
import { nodeSimOptions } from '../device/node/index.ts';
import type { DispatchInfo } from '../device/sim/dispatch/monitor.ts';
import type { RunOrder } from '../device/sim/dispatch/order.ts';
import type { SimKernel } from '../device/sim/module.ts';
import { LateLoads } from '../device/sim/schedules/late-loads.ts';
import { WINDOW_BYTES } from '../device/sim/state/layout.ts';
import type { ModuleCache } from '../device/sim/state/module-cache.ts';
import type { Region } from '../device/sim/state/region.ts';
import { CHUNK_BYTES, READ_FIRST, READ_LATER, TouchedBytes, WRITTEN } from '../device/sim/tools/index.ts';
import { isTargetName } from '../isa/index.ts';
import { patienceFor } from './budget.ts';
import { type Capture, readCapture } from './capture.ts';
import { contentOf } from './compare.ts';
import { hex } from './fields.ts';
import { MANIFEST, TRAILER } from './files.ts';
import { constantsOf, instructionRanges, outsideOf } from './image.ts';
import {
  type AllocationKind,
  type CaptureAlias,
  type CaptureAllocation,
  type ChunkEntry,
  type DeterminismSection,
  type MemoryMode,
  manifestText,
  type UnsupportedRecord,
  type VaryingRange,
} from './manifest.ts';
import { maskOf, runsOf } from './masks.ts';
import { keptPages, sha256, trailerText } from './pages.ts';
import { placeCapture } from './place.ts';
import type { PlacedChunk } from './placed-chunk.ts';
import { followCapture, runPlaced } from './replay.ts';
import { type CaptureDescription, CaptureWriter, type WriteOptions } from './writer.ts';

/** What is known of an allocation beside its place. */
export type RegionFacts = Partial<Pick<CaptureAllocation, 'kind' | 'flags' | 'provenance' | 'label'>>;

/** An allocation that a dispatch touched. */
export interface RecordedRegion {
  readonly base: number;
  readonly size: number;
  readonly label: string;
  /** Other addresses of the same memory that the dispatch used. */
  readonly mappings: readonly { readonly address: number; readonly size: number }[];
}

export interface RecordOptions {
  readonly kernel: SimKernel;
  /** The ELF that the kernel was loaded from. */
  readonly codeObject: Uint8Array;
  readonly producer: CaptureDescription['producer'];
  /** `touched` (default): what the dispatch touches. `full`: all live memory. */
  readonly memory?: Exclude<MemoryMode, 'reachable'> | undefined;
  /** Bytes of its chunks, at most; more is `capture/too-much-memory` (default: MOST_BYTES). */
  readonly mostBytes?: number | undefined;
  /** Number of the dispatch in its program (default 0). */
  readonly sequence?: number | undefined;
  readonly describe?: ((region: RecordedRegion) => RegionFacts) | undefined;
  /** Target with features, when it is known better than from the code object. */
  readonly target?: string | undefined;
  /** What could not be captured; read after the last call of `describe`. */
  readonly unsupported?: readonly UnsupportedRecord[] | undefined;
}

export interface FinishOptions extends WriteOptions {
  /** False: the capture is not replayed to prove it. */
  readonly prove?: boolean | undefined;
  /** False: it is not replayed in other orders. */
  readonly orders?: boolean | undefined;
  /** Instructions of the dispatch, when they are known: a replay that needs many times as many waits for something that does not come. */
  readonly instructions?: number | undefined;
  /** The dispatch waited for others: a replay in which nothing can go on is not complete. */
  readonly waited?: boolean | undefined;
  /** What is being done, for a person who waits. */
  readonly onStep?: ((text: string) => void) | undefined;
}

/** What a recording came to. */
export interface RecordSummary {
  readonly path: string;
  readonly manifestHash: string;
  readonly proved: boolean;
  readonly determinism: DeterminismSection | null;
  readonly chunks: number;
  readonly allocations: number;
  /** Bytes of memory in the capture, and of its pages as they are stored. */
  readonly bytes: number;
  readonly stored: number;
}

const LABEL_KINDS: Readonly<Record<string, AllocationKind>> = {
  'kernarg segment': 'kernarg',
  'dispatch packet': 'packet',
  queue: 'queue',
};
const PACKET_BYTES = 64;
/**
 * Bytes of chunks of one dispatch that are kept at most: what the device has that they are replayed in, and a tenth of the memory of this machine.
 * Recording and proving took 7.7 bytes of it for each (383 MiB of chunks, 2.96 GB).
 */
const MOST_BYTES = Math.floor(
  Math.min(WINDOW_BYTES, Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY) / 10),
);

interface RecordedChunk {
  readonly region: Region;
  readonly index: number;
  readonly pre: Uint8Array;
  readonly post: Uint8Array;
  readonly flags: Uint8Array;
}

interface Image {
  readonly base: number;
  readonly size: number;
  /** Instructions, and constants that are as the code object has them. */
  readonly inCode: readonly (readonly [number, number])[];
}

interface Recorded {
  readonly launch: DispatchInfo['launch'];
  readonly image: Image;
  readonly packet: Uint8Array;
  readonly kernarg: Uint8Array;
  readonly regions: readonly Region[];
  readonly aliases: readonly CaptureAlias[];
  readonly chunks: readonly RecordedChunk[];
  /** Bytes that the dispatch read and did not write, and that changed while it ran; the address of the first. */
  readonly changed: { readonly bytes: number; readonly first: number };
}

/** Records the dispatch that its monitor observes. */
export class Recorder {
  /** For the dispatch's `monitors`, alone. */
  readonly monitor: Monitor;
  private readonly options: RecordOptions;
  private recorded: Recorded | undefined;
  private isTooMuch = false;

  constructor(options: RecordOptions) {
    this.options = options;
    this.monitor = new TouchedBytes({
      kernargSize: options.kernel.kernargSize,
      mostBytes: options.mostBytes ?? MOST_BYTES,
      onEnd: (touched, info) => {
        this.isTooMuch = touched.isTooMuch;
        if (!this.isTooMuch) this.recorded = collect(touched, info, options);
      },
    });
  }

  /** Writes the capture of the dispatch, which must have completed. */
  async finish(path: string, finish: FinishOptions = {}): Promise<RecordSummary> {
    const { recorded, options } = this;
    if (this.isTooMuch) throw tooMuch(options);
    if (recorded === undefined) throw new WavesmithError('capture/nothing', 'No dispatch was recorded.');
    const writer = CaptureWriter.create(path, describe(recorded, options), finish);
    try {
      writer.pages.kept = new Map();
      writer.setChunks(entriesOf(recorded, writer, options.memory ?? 'touched'), recorded.kernarg);
      for (const { what, message } of options.unsupported ?? []) writer.unsupported(what, message);
      const { bytes, first } = recorded.changed;
      if (bytes > 0) {
        writer.unsupported(
          'others-wrote',
          `The program, or another dispatch, wrote ${bytes} bytes from ${hex(first)} on while the dispatch ran and read them: they are in the capture as they were at its end.`,
        );
      }
    } catch (error) {
      writer.abandon();
      throw error;
    }
    return await finishProved(writer, path, finish);
  }
}

/**
 * Completes a capture that has all its memory: it is replayed with poison and in other orders, unless `finish` leaves that out. After a failure
 * nothing is left of it.
 */
export async function finishProved(
  writer: CaptureWriter,
  path: string,
  finish: Omit<FinishOptions, keyof WriteOptions> = {},
): Promise<RecordSummary> {
  try {
    let proved = false;
    let determinism: DeterminismSection | null = null;
    let { instructions } = finish;
    if (finish.prove !== false) {
      const capture = unfinishedCapture(writer);
      finish.onStep?.('proving that the capture is complete');
      instructions = await prove(capture, instructions, finish.waited);
      proved = true;
      if (finish.orders !== false) determinism = await runOrders(capture, instructions, finish.onStep);
    }
    // What waits for others counts instructions by the clock.
    const manifestHash = writer.finish({ proved, determinism, instructions: finish.waited ? undefined : instructions });
    const { pages } = writer.pages;
    return {
      path,
      manifestHash,
      proved,
      determinism,
      chunks: writer.chunks().length,
      allocations: writer.allocations.length,
      bytes: [...pages.values()].reduce((sum, p) => sum + p.bytes, 0),
      stored: [...pages.values()].reduce((sum, p) => sum + p.stored, 0),
    };
  } catch (error) {
    writer.abandon();
    throw error;
  }
}

function tooMuch({ kernel, mostBytes = MOST_BYTES }: RecordOptions): WavesmithError {
  const [chunk, most] = [CHUNK_BYTES / 2 ** 10, Math.floor(mostBytes / 2 ** 20)];
  return new WavesmithError(
    'capture/too-much-memory',
    `The dispatch of '${kernel.name}' touches more than ${most} MiB of memory, counted in chunks of ${chunk} KiB: no capture made here holds so much.`,
    { hint: 'Capture a dispatch of a smaller problem, or one that touches less.' },
  );
}

/** Copies what the dispatch touched before it goes away. */
function collect(touched: TouchedBytes, { launch, memory, loaded }: DispatchInfo, options: RecordOptions): Recorded {
  const image = loaded.region;
  // What is as the code object has it is not captured a second time.
  const inCode = constantsOf(options.codeObject, image.base)
    .filter(({ from, bytes }) => {
      const at = from - image.base;
      return Buffer.compare(image.bytes.subarray(at, at + bytes.length), bytes) === 0;
    })
    .map(({ from, to }) => [from, to] as const);
  inCode.push(...instructionRanges(options.codeObject, image.base));
  const chunks: RecordedChunk[] = [];
  const regions = new Map<number, Region>();
  const changed = { bytes: 0, first: 0 };
  for (const { region, chunks: all } of touched.regions.values()) {
    for (const [index, { offset, before, flags }] of all) {
      ignore(flags, region, offset, launch.packet, launch.packet + PACKET_BYTES);
      if (region.base === image.base) for (const [from, to] of inCode) ignore(flags, region, offset, from, to);
      if (runsOf(flags, READ_FIRST).length + runsOf(flags, WRITTEN).length === 0) continue;
      regions.set(region.base, region);
      const post = memory.copyOf(region, offset, before.length);
      for (let i = 0; i < flags.length; i++) {
        if (flags[i] !== READ_FIRST || before[i] === post[i]) continue;
        before[i] = post[i] as number;
        if (changed.bytes++ === 0) changed.first = region.base + offset + i;
      }
      chunks.push({ region, index, pre: before, post, flags });
    }
  }
  if (options.memory === 'full') addAll(touched, memory, image, regions, chunks);
  return {
    launch,
    image: { base: image.base, size: image.size, inCode },
    packet: readMemory(memory, launch.packet, PACKET_BYTES),
    kernarg: readMemory(memory, launch.kernarg, options.kernel.kernargSize),
    regions: [...regions.values()],
    aliases: [...touched.aliases.values()].map(({ region, owner }) => ({
      address: region.base,
      size: region.size,
      source: owner.base + region.offset - owner.offset,
    })),
    chunks,
    changed,
  };
}

function readMemory(memory: DispatchInfo['memory'], address: number, size: number): Uint8Array {
  if (size === 0) return new Uint8Array();
  const region = memory.access(address, size, false);
  return region.bytes.slice(address - region.base, address - region.base + size);
}

/** Forgets touches of an address range: the packet is in the manifest, code is in the code object. */
function ignore(flags: Uint8Array, region: Region, offset: number, from: number, to: number): void {
  const start = region.base + offset;
  const first = Math.max(0, from - start);
  const end = Math.min(flags.length, to - start);
  if (end > first) flags.fill(0, first, end);
}

/** Every chunk of live memory that was not touched. */
function addAll(
  touched: TouchedBytes,
  memory: DispatchInfo['memory'],
  image: Region,
  regions: Map<number, Region>,
  chunks: RecordedChunk[],
): void {
  const known = new Set(chunks.map(({ region, index }) => `${region.base}.${index}`));
  for (const { base, size } of memory.snapshot()) {
    const region = memory.find(base, 1);
    const isOther = base === image.base || ['scratch', 'dispatch packet'].includes(region?.label ?? '');
    if (region === undefined || isOther || memory.ownerOf(region) !== region || !touched.wasLive(base)) continue;
    regions.set(base, region);
    for (let index = 0; index * CHUNK_BYTES < size; index++) {
      if (known.has(`${base}.${index}`)) continue;
      const pre = memory.copyOf(region, index * CHUNK_BYTES, CHUNK_BYTES);
      chunks.push({ region, index, pre, post: pre, flags: new Uint8Array(pre.length) });
    }
  }
}

function describe(recorded: Recorded, options: RecordOptions): CaptureDescription {
  const { launch, image, regions, packet } = recorded;
  const { kernel, codeObject, producer, sequence = 0, memory = 'touched' } = options;
  const target = options.target ?? readCodeObject(codeObject).targetId.replace(/^.*--/, '');
  return {
    producer,
    target,
    kernel: kernel.name,
    codeObject,
    loadAddress: image.base,
    imageSize: image.size,
    variables: kernel.module.variables,
    dispatch: {
      sequence,
      gridWorkItems: launch.workItems,
      block: launch.block,
      staticLds: kernel.ldsSize,
      dynamicLds: launch.ldsBytes - kernel.ldsSize,
      scratch: launch.scratchPerLane,
      packet: { address: launch.packet, bytes: packet },
      queue: { address: launch.queue },
    },
    kernarg: { address: launch.kernarg, size: kernel.kernargSize },
    allocations: [
      ...regions.filter((r) => r.base !== image.base).map((region) => allocationOf(region, recorded.aliases, options)),
      { address: image.base, size: image.size, kind: 'code' as const, flags: [], provenance: '', label: 'code object' },
    ],
    aliases: recorded.aliases,
    memory,
  };
}

function allocationOf(
  { base, size, label }: Region,
  aliases: Recorded['aliases'],
  { describe: facts }: RecordOptions,
): CaptureAllocation {
  const mappings = aliases.filter(({ source }) => source >= base && source < base + size);
  return {
    address: base,
    size,
    // The own code object has its own entry: others are memory with variables.
    kind: label === 'code object' ? 'variable' : (LABEL_KINDS[label] ?? 'coarse'),
    flags: [],
    provenance: '',
    label,
    ...facts?.({ base, size, label, mappings }),
  };
}

/** Stores the chunks' pages; the entries are in order. */
function entriesOf({ chunks, image }: Recorded, writer: CaptureWriter, memory: MemoryMode): ChunkEntry[] {
  const { pages, allocations } = writer;
  const numbers = new Map(allocations.map(({ address }, i) => [address, i]));
  return chunks
    .map(({ region, index, pre, post, flags }): ChunkEntry => {
      const isImage = region.base === image.base;
      const isRead = runsOf(flags, READ_FIRST | READ_LATER).length > 0;
      const isWritten = runsOf(flags, WRITTEN).length > 0;
      const has = (bit: number) => maskOf(flags, bit, pages);
      const before = isRead || memory === 'full' ? { id: pages.put(pre), bytes: pre } : undefined;
      return {
        allocation: numbers.get(region.base) as number,
        index,
        ...(before === undefined ? {} : { pre: before.id }),
        ...(isWritten ? { post: pages.put(post, before) } : {}),
        ...(isImage && isRead ? { known: memoryMask(image, index, pre.length, writer) } : {}),
        reads: has(READ_FIRST),
        writes: has(WRITTEN),
      };
    })
    .sort((a, b) => a.allocation - b.allocation || a.index - b.index);
}

/** Of an image what is in the code object is no memory. */
function memoryMask({ base, inCode }: Image, index: number, length: number, writer: CaptureWriter) {
  const flags = new Uint8Array(length);
  const start = base + index * CHUNK_BYTES;
  for (const [from, to] of outsideOf(inCode, start, start + length)) flags.fill(1, from - start, to - start);
  return maskOf(flags, 1, writer.pages);
}

/** The capture as its files are before the last ones are written. */
function unfinishedCapture(writer: CaptureWriter): Capture {
  const files = writer.files;
  const manifest = new TextEncoder().encode(
    manifestText(writer.manifest('complete', writer.chunks(), { proved: true })),
  );
  const trailer = new TextEncoder().encode(trailerText({ manifest: sha256(manifest), pages: writer.pages.pages }));
  const { kept } = writer.pages;
  return readCapture(
    {
      path: files.path,
      size: (name) => (name === TRAILER ? trailer.length : files.size(name)),
      readPart: (name, at, length) => files.readPart(name, at, length),
      read: (name) => (name === MANIFEST ? manifest : name === TRAILER ? trailer : files.read(name)),
    },
    {},
    kept === undefined ? undefined : keptPages(kept),
  );
}

/** A virtual GPU for a capture. `moduleCache`: where its compiled modules are kept, instead of on disk. */
export function deviceFor(capture: Capture, moduleCache?: ModuleCache): SimDevice {
  const processor = capture.manifest.code.target.split(':')[0] ?? '';
  if (!isTargetName(processor)) {
    throw new WavesmithError('device/unsupported-target', `No device runs code for ${processor}.`, {
      file: capture.path,
    });
  }
  const options = nodeSimOptions();
  return new SimDevice(processor, moduleCache === undefined ? options : { ...options, moduleCache });
}

/**
 * Replays with everything else poisoned: gives the instructions of the dispatch, or fails with `capture/not-complete`. Values that differ do not
 * matter here: a dispatch may be complete and not determined.
 */
export async function prove(capture: Capture, instructions?: number, waited = false): Promise<number> {
  const device = deviceFor(capture);
  const ending = new AbortController();
  let waits = 0;
  const onWaiting = (): void => {
    if (++waits > WAITS) ending.abort();
  };
  try {
    const maxInstructions = instructions === undefined ? undefined : patienceFor(instructions);
    const following = followCapture(device, capture, {
      maxInstructions,
      ...(waited ? { hostAnswers: true, onWaiting, signal: ending.signal } : {}),
    });
    const { failures, instructions: count } = await following.catch((error: unknown) => {
      if (!ending.signal.aborted) throw error;
      return { failures: ['Nothing of it can go on: it waits.'], instructions: 0 };
    });
    if (failures.length > 0 && capture.chunks.some((c) => c.entry.post !== undefined)) {
      throw new WavesmithError(
        'capture/not-complete',
        `The replay of the capture is not the recorded dispatch: ${failures.join(' ')}`,
        {
          file: capture.path,
          hint:
            capture.manifest.memory.mode === 'reachable'
              ? 'A pointer that it computes leads elsewhere: --memory full keeps all memory, and --no-proof records it all the same.'
              : 'What it touches depends on time, on the host, or on memory that nobody wrote. --no-proof records it all the same.',
        },
      );
    }
    return count;
  } finally {
    device.close();
  }
}

/** Whether a chunk that is not written is as it was placed. */
function isUntouched({ post, initial, allocation, known }: PlacedChunk, now: Uint8Array): boolean {
  const isMemory = allocation.kind !== 'code' || known === undefined;
  return post === undefined && isMemory && Buffer.compare(now, initial) === 0;
}

const ORDERS: readonly RunOrder[] = ['ascending', 'descending', { seed: 1 }, { seed: 2 }, { seed: 3 }];
/**
 * Seeded orders of shorter dispatches are interpreted, some 10^6 instructions a second: a turn may end behind any instruction, and loads return
 * as late as their waits allow.
 */
const MOST_INTERPRETED = 1_000_000;
/** Sleeps of a dispatch in which nothing can go on, of a millisecond each: kernels that wait for a time wait less. */
const WAITS = 100;

const orderName = (order: RunOrder): string => (typeof order === 'string' ? order : `seed ${order.seed}`);

/** Replays in two orders and with three seeds: poison and turns differ. Bytes that differ from the recorded ones vary. */
export async function runOrders(
  capture: Capture,
  instructions: number,
  onStep?: (text: string) => void,
): Promise<DeterminismSection> {
  const runs: { order: string; outcome: string }[] = [];
  const varying = new Map<number, Uint8Array>();
  for (const [n, order] of ORDERS.entries()) {
    const name = orderName(order);
    const isInterpreted = typeof order !== 'string' && instructions <= MOST_INTERPRETED;
    onStep?.(`replaying in order ${name}`);
    const device = deviceFor(capture);
    try {
      const placed = placeCapture(device, capture, { seed: n + 2 });
      placed.restore();
      const { failure } = await runPlaced(device, placed, false, {
        order,
        maxInstructions: patienceFor(instructions),
        ...(isInterpreted ? { monitors: [new LateLoads()] } : {}),
      });
      let count = 0;
      if (failure === undefined) {
        for (const one of placed.chunks) {
          const { address, length, writes, post, initial, known, allocation } = one;
          const now = contentOf(device, one);
          if (isUntouched(one, now)) continue;
          const flags = varying.get(address) ?? new Uint8Array(length);
          for (let i = 0; i < length; i++) {
            const isWritten = post !== undefined && (writes === undefined || writes[i] === 1);
            // Of an image only the variables are memory of the capture.
            const isMemory = allocation.kind !== 'code' || known === undefined || known?.[i] === 1;
            if (!isWritten && !isMemory) continue;
            if (now[i] === (isWritten ? (post as Uint8Array)[i] : initial[i])) continue;
            flags[i] = 1;
            count++;
          }
          if (flags.some((f) => f === 1)) varying.set(address, flags);
        }
      }
      runs.push({ order: name, outcome: failure ?? (count === 0 ? 'same' : `${count} bytes differ`) });
    } finally {
      device.close();
    }
  }
  const ranges: VaryingRange[] = [...varying.entries()]
    .sort(([a], [b]) => a - b)
    .flatMap(([address, flags]) => {
      const ends = runsOf(flags);
      return ends.flatMap((from, i) =>
        i % 2 === 0 ? [{ address: address + from, bytes: (ends[i + 1] as number) - from }] : [],
      );
    });
  return { runs, varying: ranges };
}

/** Whether the orders that were run agree. */
export const isDeterministic = ({ runs }: DeterminismSection): boolean => runs.every((r) => r.outcome === 'same');
