// One run of a kernel on an input: what it left in memory, what it touched, what strict mode says of it, how long it takes.
import {
  formatRunFinding,
  type RunFinding,
  type RunOrder,
  type SimDispatchRequest,
  type SimDispatchResult,
} from '../../device/index.ts';
import { FloatReference, type KeptNumbers } from '../../device/sim/reference/float-reference.ts';
import { LateLoads } from '../../device/sim/schedules/late-loads.ts';
import type { Chip } from '../../device/sim/timing/chip.ts';
import { type LaunchTime, TimingModel } from '../../device/sim/timing/model.ts';
import { WRITTEN } from '../../device/sim/tools/index.ts';
import { flagsAt, writesElsewhere } from '../../snapshot/compare.ts';
import { placeText } from '../../snapshot/index.ts';
import type { PlacedChunk } from '../../snapshot/placed-chunk.ts';
import { runPlaced } from '../../snapshot/replay.ts';
import type { Input } from './inputs.ts';
import type { OwnLaunch } from './launches.ts';
import { type MemoryEdit, placeName } from './place.ts';
import { type EditedChunk, Stand, standFor } from './stand.ts';

/** How an input is run. */
export interface RunHow {
  /** Followed byte by byte: what it reads and writes is known. */
  readonly follow?: boolean | undefined;
  readonly strict?: boolean | undefined;
  readonly order?: RunOrder | undefined;
  /** Loads return as late as the waits allow. */
  readonly lateLoads?: boolean | undefined;
  /** Followed in f64: what floats would be without rounding. */
  readonly inF64?: boolean | undefined;
  /** The chip whose clock times it. */
  readonly chip?: Chip | undefined;
  readonly maxInstructions?: number | undefined;
  /** Only these workgroups, by their number in the grid. */
  readonly only?: readonly number[] | undefined;
  /** Instead of the captured launch. */
  readonly launch?: OwnLaunch | undefined;
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
  /** Of a run in f64: the floats in memory, by their address. */
  readonly numbers: KeptNumbers | undefined;
}

/** A finding as one line. */
export const findingLine = (found: RunFinding): string =>
  (formatRunFinding(found, 'kernel').split('\n')[0] ?? '').trim();

/** Runs `code` on an input, from memory as that says. What the kernel does wrong is in the outcome. */
export async function runInput(input: Input, code: Uint8Array, how: RunHow = {}): Promise<Outcome> {
  const {
    follow = false,
    strict = false,
    order,
    lateLoads = false,
    inF64 = false,
    chip,
    maxInstructions,
    only,
    launch,
  } = how;
  const stand = strict ? new Stand(input.capture, code, false) : standFor(input.capture, code);
  try {
    const { device, placed } = stand;
    const edited = editsOf(input, placed.chunks);
    const before = stand.prepare(edited);
    const reference = inF64 ? new FloatReference() : undefined;
    const fields: Partial<SimDispatchRequest> = {
      ...input.request,
      ...launch,
      only,
      order,
      maxInstructions,
      workers: 1,
      monitors: reference !== undefined ? [reference] : lateLoads ? [new LateLoads()] : undefined,
      strict: strict ? {} : undefined,
      timing: chip === undefined ? undefined : new TimingModel(chip, { knowsPages: true }),
    };
    const run = await runPlaced(device, placed, follow, fields);
    const dispatch = run.dispatch as SimDispatchResult | undefined;
    const findings = dispatch?.findings ?? [];
    const after = stand.memory();
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
        const own = flags === undefined ? undefined : writtenOf(flags);
        if (own !== undefined) written.set(placeName(placed, chunk), own);
      }
      for (const address of writesElsewhere(placed, touched)) {
        strays.push(`It writes to 0x${address.toString(16)}, where the captured launch writes nothing.`);
        break;
      }
    }
    return {
      failure: run.failure ?? (isCut ? findings.at(-1)?.message : undefined),
      before,
      after,
      written,
      strays,
      findings,
      instructions: dispatch?.instructions ?? 0,
      byEncoding: dispatch?.instructionsByEncoding ?? {},
      time: dispatch?.timing,
      numbers: reference?.memory,
    };
  } finally {
    stand.leave();
  }
}

/** One flag for each byte that was written; undefined for none. */
function writtenOf(flags: Uint8Array): Uint8Array | undefined {
  const words = new Uint32Array(flags.buffer, flags.byteOffset, flags.length >> 2);
  const rest = flags.subarray(words.length * 4);
  if (!words.some((word) => (word & WRITTEN_WORD) !== 0) && !rest.some((flag) => (flag & WRITTEN) !== 0))
    return undefined;
  const written = new Uint8Array(flags.length);
  for (let i = 0; i < flags.length; i++) written[i] = ((flags[i] as number) & WRITTEN) >> 1;
  return written;
}

/** The flag of any of four bytes. */
const WRITTEN_WORD = WRITTEN * 0x0101_0101;

/** By input: the chunks of its capture with its edits, by their address. */
const edits = new WeakMap<Input, ReadonlyMap<number, EditedChunk>>();

function editsOf(input: Input, chunks: readonly PlacedChunk[]): ReadonlyMap<number, EditedChunk> {
  let found = edits.get(input);
  if (found === undefined) {
    found = editedChunks(chunks, input.edits);
    edits.set(input, found);
  }
  return found;
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
