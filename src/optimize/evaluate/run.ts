// One run of a kernel on an input: what it left in memory, what it touched, what strict mode says of it, how long it takes.
import {
  formatRunFinding,
  type RunFinding,
  type RunOrder,
  type SimDevice,
  type SimDispatchRequest,
  type SimDispatchResult,
} from '../../device/index.ts';
import { LateLoads } from '../../device/sim/schedules/late-loads.ts';
import type { Chip } from '../../device/sim/timing/chip.ts';
import { type LaunchTime, TimingModel } from '../../device/sim/timing/model.ts';
import { CHUNK_BYTES, WRITTEN } from '../../device/sim/tools/index.ts';
import type { Chunk } from '../../snapshot/capture.ts';
import { contentOf, flagsAt, writesElsewhere } from '../../snapshot/compare.ts';
import { deviceFor, placeText } from '../../snapshot/index.ts';
import { type ChunkSides, placeCapture } from '../../snapshot/place.ts';
import type { PlacedChunk } from '../../snapshot/placed-chunk.ts';
import { runPlaced } from '../../snapshot/replay.ts';
import type { Input } from './inputs.ts';
import { RecentModules } from './modules.ts';
import { type MemoryEdit, placeName } from './place.ts';

/** How an input is run. */
export interface RunHow {
  /** Followed byte by byte: what it reads and writes is known. */
  readonly follow?: boolean | undefined;
  readonly strict?: boolean | undefined;
  readonly order?: RunOrder | undefined;
  /** Loads return as late as the waits allow. */
  readonly lateLoads?: boolean | undefined;
  /** The chip whose clock times it. */
  readonly chip?: Chip | undefined;
  readonly maxInstructions?: number | undefined;
  /** Only these workgroups, by their number in the grid. */
  readonly only?: readonly number[] | undefined;
}

export interface Outcome {
  /** Why the run ended early, as a sentence. */
  readonly failure: string | undefined;
  /** Memory before and after, by the name of its place. */
  readonly before: ReadonlyMap<string, Uint8Array>;
  readonly after: ReadonlyMap<string, Uint8Array>;
  /** Of a followed run: one flag for each byte that it writes. */
  readonly written: ReadonlyMap<string, Uint8Array>;
  /** Of a followed run: writes to the code object and reads of what the capture does not hold, one sentence each. */
  readonly strays: readonly string[];
  readonly findings: readonly RunFinding[];
  readonly instructions: number;
  readonly byEncoding: Readonly<Record<string, number>>;
  readonly time: LaunchTime | undefined;
}

/** A finding as one line. */
export const findingLine = (found: RunFinding): string =>
  (formatRunFinding(found, 'kernel').split('\n')[0] ?? '').trim();

/**
 * Runs `code` on an input, on a device of its own: freed addresses of a device are not given out again at once. What the kernel does wrong is
 * in the outcome.
 */
export async function runInput(input: Input, code: Uint8Array, how: RunHow = {}): Promise<Outcome> {
  const { follow = false, strict = false, order, lateLoads = false, chip, maxInstructions, only } = how;
  const device = deviceFor(input.capture, modules);
  const stage = stageOf(input);
  try {
    const placed = placeCapture(device, input.capture, { code, poison: !strict, kept: stage.sides });
    stage.edited ??= editedChunks(placed.chunks, input.edits);
    const { edited } = stage;
    const before = new Map(placed.chunks.map((c) => [placeName(placed, c), edited.get(c.address)?.bytes ?? c.initial]));
    placed.restore(new Set(placed.chunks.filter((c) => strict || !edited.has(c.address))));
    for (const c of placed.chunks) {
      const found = edited.get(c.address);
      // Strict mode tells bytes that nobody wrote from others: there the edits are written and nothing else.
      const parts = strict ? (found?.parts ?? []) : found === undefined ? [] : [{ at: 0, bytes: found.bytes }];
      for (const { at, bytes } of parts) device.write(c.buffer, bytes, c.offset + at);
    }
    const fields: Partial<SimDispatchRequest> = {
      ...input.request,
      only,
      order,
      maxInstructions,
      workers: 1,
      monitors: lateLoads ? [new LateLoads()] : undefined,
      strict: strict ? {} : undefined,
      timing: chip === undefined ? undefined : new TimingModel(chip, { knowsPages: true }),
    };
    const run = await runPlaced(device, placed, follow, fields);
    const dispatch = run.dispatch as SimDispatchResult | undefined;
    const findings = dispatch?.findings ?? [];
    const isCut = dispatch?.isComplete === false;
    const strays = run.outside.map(
      ({ address, bytes, pc }) =>
        `The instruction at pc 0x${pc.toString(16)} reads ${bytes} bytes at ${placeText(input.capture, address)} that the baseline does not read.`,
    );
    const { touched } = run;
    const written = new Map<string, Uint8Array>();
    if (touched !== undefined) {
      for (const chunk of placed.chunks) {
        const flags = flagsAt(touched, chunk);
        if (flags !== undefined)
          written.set(
            placeName(placed, chunk),
            flags.map((f) => (f & WRITTEN) >> 1),
          );
      }
      for (const address of writesElsewhere(placed, touched)) {
        strays.push(`It writes to 0x${address.toString(16)}, where the captured launch writes nothing.`);
        break;
      }
    }
    return {
      failure: run.failure ?? (isCut ? findings.at(-1)?.message : undefined),
      before,
      after: new Map(
        placed.chunks.map((c) => {
          const name = placeName(placed, c);
          return [name, contentNow(device, c, before.get(name) as Uint8Array)];
        }),
      ),
      written,
      strays,
      findings,
      instructions: dispatch?.instructions ?? 0,
      byEncoding: dispatch?.instructionsByEncoding ?? {},
      time: dispatch?.timing,
    };
  } finally {
    device.close();
  }
}

const modules = new RecentModules();

/** A chunk with an input's edits. */
interface EditedChunk {
  readonly bytes: Uint8Array;
  /** The edits, by their offset in the chunk. */
  readonly parts: { readonly at: number; readonly bytes: Uint8Array }[];
}

/** What all runs of an input have in common. */
interface Stage {
  readonly sides: Map<Chunk, ChunkSides>;
  /** By address. */
  edited: ReadonlyMap<number, EditedChunk> | undefined;
}

const stages = new WeakMap<Input, Stage>();

function stageOf(input: Input): Stage {
  let stage = stages.get(input);
  if (stage === undefined) {
    stage = { sides: new Map(), edited: undefined };
    stages.set(input, stage);
  }
  return stage;
}

/** Chunks in which other bytes stand; what is not in the capture stays as it is. `chunks` are sorted by address. */
function editedChunks(chunks: readonly PlacedChunk[], edits: readonly MemoryEdit[]): Map<number, EditedChunk> {
  const edited = new Map<number, EditedChunk>();
  for (const { address, bytes } of edits) {
    for (let n = firstBehind(chunks, address); n < chunks.length; n++) {
      const chunk = chunks[n] as PlacedChunk;
      const from = Math.max(address, chunk.address);
      const to = Math.min(address + bytes.length, chunk.address + chunk.length);
      if (from >= to) break;
      const found = edited.get(chunk.address) ?? { bytes: chunk.initial.slice(), parts: [] };
      const part = { at: from - chunk.address, bytes: bytes.subarray(from - address, to - address) };
      found.bytes.set(part.bytes, part.at);
      found.parts.push(part);
      edited.set(chunk.address, found);
    }
  }
  return edited;
}

/** The first chunk that ends behind an address. */
function firstBehind(chunks: readonly PlacedChunk[], address: number): number {
  let [low, high] = [0, chunks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const { address: start, length } = chunks[middle] as PlacedChunk;
    if (start + length <= address) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Bytes as they are now: `before` itself when nothing changed. */
function contentNow(device: SimDevice, chunk: PlacedChunk, before: Uint8Array): Uint8Array {
  const now = contentOf(device, chunk, scratch.subarray(0, chunk.length));
  return Buffer.compare(now, before) === 0 ? before : now.slice();
}

const scratch = new Uint8Array(CHUNK_BYTES);
