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
import type { CaptureAllocation } from './manifest.ts';

/** A chunk in device memory. */
export interface PlacedChunk {
  readonly chunk: Chunk;
  readonly buffer: DeviceBuffer;
  /** Where it is in the buffer. */
  readonly offset: number;
  /** What is written before a run. */
  readonly initial: Uint8Array;
  /** One flag for each byte of `initial` that the capture knows; undefined for all, null for none. */
  readonly known: Uint8Array | undefined | null;
  readonly post: Uint8Array | undefined;
  readonly writes: Uint8Array | undefined;
}

export interface PlaceOptions {
  /** Runs this code object instead of the captured one. */
  readonly code?: Uint8Array | undefined;
  /** Poison depends on it. */
  readonly seed?: number | undefined;
  /** False: what is not known stays unwritten, for a device that tells such bytes from others (strict mode). */
  readonly poison?: boolean | undefined;
}

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

const MIX = 0x5bd1e995;

/** What nobody should read: noise, and the complement of what the dispatch writes, so that a byte that is not written differs. */
function poison(chunk: Chunk, post: Uint8Array | undefined, writes: Uint8Array | undefined, seed: number): Uint8Array {
  const bytes = randomBytes(chunk.length, seed ^ Math.imul(chunk.entry.index + 1, MIX));
  for (let i = 0; i < bytes.length; i++) {
    if (post !== undefined && (writes === undefined || writes[i] === 1)) bytes[i] = ~(post[i] as number);
    else if (bytes[i] === 0) bytes[i] = 0xa5;
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
  const { manifest } = capture;
  const { code, seed = 1, poison: withPoison = true } = options;
  const buffers: DeviceBuffer[] = [];
  const chunks: PlacedChunk[] = [];
  const remarks: string[] = [];
  let module: DeviceModule | undefined;
  const free = (): void => {
    for (const buffer of buffers.splice(0)) device.free(buffer);
    module?.unload();
  };
  try {
    const place = (chunk: Chunk, buffer: DeviceBuffer, offset: number): void => {
      const known = chunk.entry.pre === undefined ? null : chunk.known();
      const post = chunk.post();
      const writes = chunk.writes();
      chunks.push({ chunk, buffer, offset, initial: initialOf(chunk, known, seed, post, writes), known, post, writes });
    };
    const isImage = ({ kind }: CaptureAllocation): boolean => kind === 'code';
    for (const run of runsOfChunks(capture.chunks.filter((c) => !isImage(c.allocation)))) {
      const first = run[0] as Chunk;
      const last = run[run.length - 1] as Chunk;
      const size = last.address + last.length - first.address;
      const { label, provenance, address } = first.allocation;
      const buffer = device.allocAt(first.address, size, label || provenance || hex(address));
      buffers.push(buffer);
      for (const chunk of run) place(chunk, buffer, chunk.address - first.address);
    }
    module = loadCode(device, capture, code, remarks);
    const image: DeviceBuffer = { address: module.address, size: module.size, label: 'code object' };
    const isMoved = module.address !== manifest.code.loadAddress;
    const imageChunks = capture.chunks.filter((c) => isImage(c.allocation));
    if (code === undefined)
      for (const chunk of imageChunks) place(chunk, image, chunk.address - manifest.code.loadAddress);
    else if (imageChunks.length > 0) remarks.push(...moveVariables(device, capture, module, image, imageChunks));
    if (isMoved && code === undefined) throw relocated('code object', manifest.code.loadAddress, module.address);
    const kernel = module.kernel(manifest.dispatch.kernel);
    const request = requestOf(device, capture, kernel, chunks, buffers);
    const byAddress = new Map(chunks.map((placed) => [placed.chunk.address, placed]));
    const starts = [...byAddress.keys()].sort((a, b) => a - b);
    let last: PlacedChunk | undefined;
    const others = buffers.filter((b) => !chunks.some((c) => c.buffer === b));
    return {
      capture,
      module,
      kernel,
      request,
      chunks,
      remarks,
      restore: (only) => {
        for (const placed of chunks)
          if (only === undefined || only.has(placed)) restoreChunk(device, placed, withPoison);
      },
      isKnown: (address) => {
        if (last === undefined || address < last.chunk.address || address >= last.chunk.address + last.chunk.length) {
          last = findChunk(byAddress, starts, address);
        }
        if (last === undefined) return others.some((b) => address >= b.address && address < b.address + b.size);
        const { known, chunk } = last;
        return known === undefined || (known !== null && known[address - chunk.address] === 1);
      },
      free,
    };
  } catch (error) {
    free();
    throw error;
  }
}

function findChunk(
  byAddress: ReadonlyMap<number, PlacedChunk>,
  starts: readonly number[],
  address: number,
): PlacedChunk | undefined {
  let low = 0;
  let high = starts.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = byAddress.get(starts[middle] as number) as PlacedChunk;
    if (address < found.chunk.address) high = middle - 1;
    else if (address >= found.chunk.address + found.chunk.length) low = middle + 1;
    else return found;
  }
  return undefined;
}

function restoreChunk(
  device: Device,
  { chunk, buffer, offset, initial, known }: PlacedChunk,
  withPoison: boolean,
): void {
  const isImage = chunk.allocation.kind === 'code';
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

function relocated(what: string, wanted: number, got: number): WavesmithError {
  return new WavesmithError(
    'replay/relocated',
    `The device put the ${what} at ${hex(got)}, not at ${hex(wanted)}: the replay would not be faithful.`,
  );
}

function loadCode(device: Device, capture: Capture, code: Uint8Array | undefined, remarks: string[]): DeviceModule {
  const { loadAddress } = capture.manifest.code;
  if (code === undefined) return device.load(capture.codeObject(), loadAddress);
  try {
    return device.load(code, loadAddress);
  } catch (error) {
    if (!(error instanceof WavesmithError) || error.code !== 'device/address-taken') throw error;
    const module = device.load(code);
    remarks.push(
      `the edited code does not fit in the place of the captured one and is at ${hex(module.address)}: pointers into code or variables that lie in memory are not valid`,
    );
    return module;
  }
}

/** Gives the variables of edited code what those of the same name hold in the capture. */
function moveVariables(
  device: Device,
  capture: Capture,
  module: DeviceModule,
  image: DeviceBuffer,
  chunks: readonly Chunk[],
): string[] {
  const remarks: string[] = [];
  for (const variable of capture.manifest.code.variables) {
    const target = module.variables.find((v) => v.name === variable.name);
    const bytes = new Uint8Array(variable.size);
    let isKnown = false;
    for (const chunk of chunks) {
      const pre = chunk.pre();
      const known = chunk.known();
      if (pre === undefined) continue;
      const from = Math.max(variable.address, chunk.address);
      const to = Math.min(variable.address + variable.size, chunk.address + chunk.length);
      for (let at = from; at < to; at++) {
        if (known !== undefined && known[at - chunk.address] !== 1) continue;
        bytes[at - variable.address] = pre[at - chunk.address] as number;
        isKnown = true;
      }
    }
    if (!isKnown) continue;
    if (target === undefined || target.size !== variable.size) {
      remarks.push(
        `the edited code has no variable '${variable.name}' of ${variable.size} bytes: its captured content is not used`,
      );
      continue;
    }
    device.write(image, bytes, target.address - image.address);
    if (target.address !== variable.address)
      remarks.push(`variable '${variable.name}' is at another address in the edited code`);
  }
  return remarks;
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
    chunks.some(({ chunk }) => chunk.address <= address && address + size <= chunk.address + chunk.length);
  if (kernarg.size > 0 && !isPlaced(kernarg.address, 1)) {
    throw new WavesmithError('capture/no-arguments', 'The capture does not hold the kernarg segment.', {
      file: capture.path,
      hint: 'Record it again; without its arguments no dispatch can be replayed.',
    });
  }
  if (!isPlaced(packet.address, packet.bytes.length)) {
    const buffer = device.allocAt(packet.address, packet.bytes.length, 'dispatch packet');
    buffers.push(buffer);
    device.write(buffer, packet.bytes);
  }
  const segment: DispatchSegment = {
    kernarg: kernarg.address,
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
