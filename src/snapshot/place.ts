// A capture in the memory of a device: every kept chunk at its own address, and nothing else, so that a touch of anything that is not in
// the capture is a fault. Bytes that the captured dispatch writes before anybody reads them hold poison until then.
import { randomBytes, WavesmithError } from '../base/index.ts';
import type {
  Device,
  DeviceBuffer,
  DeviceKernel,
  DeviceModule,
  Dim3,
  DispatchRequest,
  DispatchSegment,
} from '../device/index.ts';
import type { Capture, Chunk } from './capture.ts';
import { hex } from './fields.ts';
import { constantsOf } from './image.ts';
import type { CaptureAlias } from './manifest.ts';
import { runsOf } from './masks.ts';
import { loadCode, moveVariables } from './place-code.ts';
import type { PlacedChunk } from './placed-chunk.ts';

export interface PlaceOptions {
  /** Runs this code object instead of the captured one. */
  readonly code?: Uint8Array | undefined;
  /** Poison depends on it. */
  readonly seed?: number | undefined;
  /** False: what is not known stays unwritten, for a device that tells such bytes from others (strict mode). */
  readonly poison?: boolean | undefined;
  /** What chunks hold, from one placement of the capture to the next: it is made once. */
  readonly kept?: Map<Chunk, ChunkSides> | undefined;
}

/** What a chunk holds before, and what is known of it. */
export type ChunkSides = Pick<PlacedChunk, 'initial' | 'known' | 'post' | 'writes'>;

/** A capture on a device, ready to be dispatched any number of times. */
export interface PlacedCapture {
  readonly capture: Capture;
  readonly module: DeviceModule;
  readonly kernel: DeviceKernel;
  readonly request: DispatchRequest;
  readonly chunks: readonly PlacedChunk[];
  /** What the verdict should say of the placement, one sentence each. */
  readonly remarks: readonly string[];
  /** Puts memory into the state before the dispatch; of `only` these chunks. */
  restore(only?: ReadonlySet<PlacedChunk>): void;
  /** Whether the capture knows the byte at an address. */
  isKnown(address: number): boolean;
  /** Frees everything. */
  free(): void;
}

const PAGE = 4096;
const MIX = 0x5bd1e995;

/** What nobody should read: noise, and the complement of what the dispatch writes, so that a byte that is not written differs. */
function poison(chunk: Chunk, post: Uint8Array | undefined, writes: Uint8Array | undefined, seed: number): Uint8Array {
  const bytes = randomBytes(chunk.length, seed ^ Math.imul(chunk.entry.index + 1, MIX));
  const written = post === undefined ? [] : writes === undefined ? [0, chunk.length] : runsOf(writes);
  for (let i = 0; i < written.length; i += 2) {
    for (let at = written[i] as number; at < (written[i + 1] as number); at++)
      bytes[at] = ~((post as Uint8Array)[at] as number);
  }
  return bytes;
}

/** What is known, with poison where it is not. */
function initialOf(
  chunk: Chunk,
  known: PlacedChunk['known'],
  seed: number,
  post: Uint8Array | undefined,
  writes: Uint8Array | undefined,
): Uint8Array {
  const pre = known === null ? undefined : chunk.pre();
  if (pre !== undefined && (known === undefined || known === null)) return pre;
  const bytes = poison(chunk, post, writes, seed);
  if (pre === undefined) return bytes;
  for (let i = 0; i < bytes.length; i++) if ((known as Uint8Array)[i] === 1) bytes[i] = pre[i] as number;
  return bytes;
}

/** Chunks of one allocation that follow each other. */
function runsOfChunks(chunks: readonly Chunk[]): Chunk[][] {
  const runs: Chunk[][] = [];
  for (const chunk of chunks) {
    const last = runs.at(-1)?.at(-1);
    const follows = last?.allocation === chunk.allocation && last.entry.index + 1 === chunk.entry.index;
    if (follows) runs.at(-1)?.push(chunk);
    else runs.push([chunk]);
  }
  return runs;
}

/**
 * Places a capture. Every address is the captured one: a device that cannot give it fails with `device/address-taken`, and nothing stays
 * allocated. Edited code whose image does not fit in the place of the captured one is loaded elsewhere, which is a remark.
 */
export function placeCapture(device: Device, capture: Capture, options: PlaceOptions = {}): PlacedCapture {
  const { code, seed = 1, poison: withPoison = true, kept } = options;
  const { loadAddress } = capture.manifest.code;
  const buffers: DeviceBuffer[] = [];
  const chunks: PlacedChunk[] = [];
  const remarks: string[] = [];
  let module: DeviceModule | undefined;
  const free = (): void => {
    for (const buffer of buffers.splice(0).reverse()) device.free(buffer);
    module?.unload();
  };
  const [heapStart, heapEnd] = device.heapRange;
  const isOwn = (address: number): boolean => address >= heapStart && address < heapEnd;
  try {
    const isImage = (chunk: Chunk): boolean => chunk.allocation.kind === 'code';
    const steps = runsOfChunks(capture.chunks.filter((c) => !isImage(c))).map(
      (run): PlaceStep => ({
        address: (run[0] as Chunk).address,
        place: () => {
          const first = run[0] as Chunk;
          const last = run[run.length - 1] as Chunk;
          const { label, provenance, address } = first.allocation;
          const size = last.address + last.length - first.address;
          const buffer = device.allocAt(first.address, size, label || provenance || hex(address));
          buffers.push(buffer);
          if (buffer.address !== first.address) throw relocated('an allocation', first.address, buffer.address);
          for (const chunk of run) chunks.push(placed(chunk, buffer, seed, kept));
        },
      }),
    );
    const loading: PlaceStep = {
      address: loadAddress,
      place: () => {
        module = loadCode(device, capture, code, remarks);
      },
    };
    const all = [loading, ...steps, ...packetSteps(device, capture, buffers)];
    // Edited code that has grown gives way to what lies behind the captured one.
    const loadingLast = code === undefined ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    const orderOf = (step: PlaceStep): number => (step === loading ? loadingLast : step.address);
    // Memory elsewhere takes room of the device's own addresses: those that are wanted come first.
    // From low to high: what lies behind was never used and reads as zeros.
    all.sort((a, b) => Number(isOwn(b.address)) - Number(isOwn(a.address)) || orderOf(a) - orderOf(b));
    for (const { place } of all) place();
    const loaded = module as DeviceModule | undefined;
    if (loaded === undefined) throw new Error('the code was not loaded');
    const isMoved = code !== undefined || loaded.address !== loadAddress;
    const image: DeviceBuffer = { address: loaded.address, size: loaded.size, label: 'code object' };
    const imageChunks = capture.chunks.filter(isImage).map((chunk) => placed(chunk, image, seed, kept));
    if (!isMoved) chunks.push(...imageChunks);
    else chunks.push(...moveVariables(capture, loaded, image, imageChunks, remarks));
    for (const alias of capture.manifest.memory.aliases) buffers.push(...mapAlias(device, alias, chunks));
    const kernel = loaded.kernel(capture.manifest.dispatch.kernel);
    const request = requestOf(device, capture, kernel, chunks, buffers);
    chunks.sort((a, b) => a.address - b.address);
    const { packet } = capture.manifest.dispatch;
    const others: { readonly address: number; readonly size: number }[] = [
      { address: packet.address, size: packet.bytes.length },
    ];
    // Edited code brings its own data; only what it has in common with the captured code is that of the capture.
    if (isMoved) others.push(image);
    const isConstant = isInCode(capture, loaded);
    let last: PlacedChunk | undefined;
    return {
      capture,
      module: loaded,
      kernel,
      request,
      chunks,
      remarks,
      restore: (only) => {
        for (const one of chunks) if (only === undefined || only.has(one)) restoreChunk(device, one, withPoison);
      },
      isKnown: (address) => {
        if (last === undefined || address < last.address || address >= last.address + last.length) {
          last = findChunk(chunks, address);
        }
        if (last === undefined) {
          return isConstant(address) || others.some((b) => address >= b.address && address < b.address + b.size);
        }
        const { known } = last;
        if (known === undefined || (known !== null && known[address - last.address] === 1)) return true;
        return last.allocation.kind === 'code' && isConstant(address);
      },
      free,
    };
  } catch (error) {
    free();
    throw error;
  }
}

function placed(chunk: Chunk, buffer: DeviceBuffer, seed: number, kept?: Map<Chunk, ChunkSides>): PlacedChunk {
  const { address, length, allocation } = chunk;
  let sides = kept?.get(chunk);
  if (sides === undefined) {
    sides = sidesOf(chunk, seed);
    kept?.set(chunk, sides);
  }
  return { address, length, allocation, buffer, offset: address - buffer.address, ...sides };
}

function sidesOf(chunk: Chunk, seed: number): ChunkSides {
  const known = chunk.entry.pre === undefined ? null : chunk.known();
  const post = chunk.post();
  // A chunk without a state after it was not written, when somebody followed the dispatch.
  const writes = chunk.writes();
  return { initial: initialOf(chunk, known, seed, post, writes), known, post, writes };
}

function mapAlias(
  device: Device,
  { address, size, source }: CaptureAlias,
  chunks: readonly PlacedChunk[],
): DeviceBuffer[] {
  const made: DeviceBuffer[] = [];
  const buffers = new Set(chunks.map((c) => c.buffer));
  for (const buffer of buffers) {
    const from = Math.max(source, buffer.address);
    const to = Math.min(source + size, buffer.address + buffer.size);
    if (from < to) made.push(device.map(address + from - source, to - from, from));
  }
  return made;
}

function findChunk(chunks: readonly PlacedChunk[], address: number): PlacedChunk | undefined {
  let low = 0;
  let high = chunks.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = chunks[middle] as PlacedChunk;
    if (address < found.address) high = middle - 1;
    else if (address >= found.address + found.length) low = middle + 1;
    else return found;
  }
  return undefined;
}

function restoreChunk(
  device: Device,
  { allocation, buffer, offset, initial, known }: PlacedChunk,
  withPoison: boolean,
): void {
  const isImage = allocation.kind === 'code';
  if (known === undefined || (withPoison && !isImage)) {
    device.write(buffer, initial, offset);
    return;
  }
  if (known === null) return;
  // Only what is known: the rest is code, or stays unwritten.
  for (let at = 0; at < known.length; at++) {
    if (known[at] !== 1) continue;
    const start = at;
    while (at < known.length && known[at] === 1) at++;
    device.write(buffer, initial.subarray(start, at), offset + start);
  }
}

/** Whether an address is in a part of the loaded code object that is as the file has it, unless the capture says otherwise. */
function isInCode(capture: Capture, { address: base, size }: DeviceModule): (address: number) => boolean {
  // Where nobody captured variables, they are as the code object has them.
  if (!capture.manifest.memory.hasResult) return (address) => address >= base && address < base + size;
  const constants = constantsOf(capture.codeObject(), base);
  return (address) => constants.some(({ from, to }) => address >= from && address < to);
}

function relocated(what: string, wanted: number, got: number): WavesmithError {
  return new WavesmithError(
    'replay/relocated',
    `The device put ${what} at ${hex(got)}, not at ${hex(wanted)}: the replay would not be faithful.`,
  );
}

/** A place of memory that has an address of its own. */
interface PlaceStep {
  readonly address: number;
  readonly place: () => void;
}

/** The packet, when no chunk holds it and the device puts it where it lay. */
function packetSteps(device: Device, capture: Capture, buffers: DeviceBuffer[]): PlaceStep[] {
  const { address, bytes } = capture.manifest.dispatch.packet;
  const isChunk = capture.chunks.some((c) => c.address <= address && address + bytes.length <= c.address + c.length);
  if (!device.placesDispatch || isChunk) return [];
  // A packet lies somewhere in its queue's ring: devices place whole pages.
  const page = Math.floor(address / PAGE) * PAGE;
  const place = (): void => {
    const buffer = device.allocAt(page, PAGE, 'dispatch packet');
    buffers.push(buffer);
    device.write(buffer, bytes, address - page);
  };
  return [{ address: page, place }];
}

/** The dispatch as it was: sizes, arguments, packet and queue where they lay. */
function requestOf(
  device: Device,
  capture: Capture,
  kernel: DeviceKernel,
  chunks: readonly PlacedChunk[],
  buffers: DeviceBuffer[],
): DispatchRequest {
  const { dispatch } = capture.manifest;
  const { block, gridWorkItems, packet, queue, kernarg } = dispatch;
  const isPlaced = (address: number, size: number): boolean =>
    chunks.some((c) => c.address <= address && address + size <= c.address + c.length);
  if (kernarg.size > 0 && !isPlaced(kernarg.address, 1)) {
    throw new WavesmithError('capture/no-arguments', 'The capture does not hold the kernarg segment.', {
      file: capture.path,
      hint: 'Record it again; without its arguments no dispatch can be replayed.',
    });
  }
  let kernargAddress = kernarg.address;
  if (kernarg.size === 0 && !isPlaced(kernargAddress, 1)) {
    // The kernel takes no arguments and the program may have given any address: nobody reads there.
    const empty = device.alloc(PAGE, 'kernarg segment');
    buffers.push(empty);
    kernargAddress = empty.address;
  }
  const segment: DispatchSegment = {
    kernarg: kernargAddress,
    packet: packet.address,
    ...(queue !== null && isPlaced(queue, 256) ? { queue } : {}),
  };
  const grid: Dim3 = [0, 1, 2].map((d) => Math.ceil((gridWorkItems[d] as number) / (block[d] as number))) as [
    number,
    number,
    number,
  ];
  return {
    kernel,
    grid,
    block,
    gridWorkItems,
    segment,
    dynamicLds: dispatch.dynamicLds,
    scratch: dispatch.scratch,
  };
}
