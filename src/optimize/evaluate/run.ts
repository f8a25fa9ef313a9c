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
import { WRITTEN } from '../../device/sim/tools/index.ts';
import { contentOf, flagsAt, writesElsewhere } from '../../snapshot/compare.ts';
import { deviceFor, placeText } from '../../snapshot/index.ts';
import { type PlacedCapture, placeCapture } from '../../snapshot/place.ts';
import { runPlaced } from '../../snapshot/replay.ts';
import type { Input } from './inputs.ts';
import { placeName } from './place.ts';

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
  const { follow = false, strict = false, order, lateLoads = false, chip, maxInstructions } = how;
  const device = deviceFor(input.capture);
  try {
    const placed = placeCapture(device, input.capture, { code, poison: !strict });
    placed.restore();
    const before = new Map(placed.chunks.map((c) => [placeName(placed, c), c.initial]));
    for (const edit of input.edits) write(device, placed, before, edit);
    const fields: Partial<SimDispatchRequest> = {
      ...input.request,
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
      after: new Map(placed.chunks.map((c) => [placeName(placed, c), contentOf(device, c)])),
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

/** Puts other bytes into memory; what is not in the capture stays as it is. */
function write(
  device: SimDevice,
  placed: PlacedCapture,
  before: Map<string, Uint8Array>,
  { address, bytes }: { readonly address: number; readonly bytes: Uint8Array },
): void {
  for (const chunk of placed.chunks) {
    const from = Math.max(address, chunk.address);
    const to = Math.min(address + bytes.length, chunk.address + chunk.length);
    if (from >= to) continue;
    const part = bytes.subarray(from - address, to - address);
    device.write(chunk.buffer, part, chunk.offset + from - chunk.address);
    const name = placeName(placed, chunk);
    const known = before.get(name) as Uint8Array;
    const own = known === chunk.initial ? known.slice() : known;
    own.set(part, from - chunk.address);
    before.set(name, own);
  }
}
