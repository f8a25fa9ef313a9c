// Replays a capture: the same kernel, or an edited one, on the captured memory at the captured addresses. The first run is followed byte by
// byte where the device can do that; the verdict says whether the result is the captured one.
import { WavesmithError } from '../base/index.ts';
import {
  type Device,
  DeviceFault,
  type DispatchRequest,
  type DispatchResult,
  type FaultKind,
  SimDevice,
  type SimDispatchRequest,
} from '../device/index.ts';
import { TouchedBytes, type UnknownRead } from '../device/sim/tools/index.ts';
import { type Evidence, type Verdict, verdictOf } from '../verdict/index.ts';
import { replayBudget } from './budget.ts';
import type { Capture } from './capture.ts';
import {
  type ComparedBuffer,
  compareBuffers,
  compareWrites,
  countedBytes,
  type Expected,
  expectationOf,
  quickComparison,
  type WriteReport,
  writtenChunks,
} from './compare.ts';
import { hex } from './fields.ts';
import type { CaptureAllocation } from './manifest.ts';
import { type PlacedCapture, placeCapture } from './place.ts';
import type { PlacedChunk } from './placed-chunk.ts';

export interface ReplayOptions {
  /** Dispatches (default 1). Memory is put back between them unless `recopy` is false. */
  readonly iterations?: number | undefined;
  readonly recopy?: boolean | undefined;
  /** A code object to run instead of the captured one. */
  readonly code?: Uint8Array | undefined;
  /** The capture whose result is expected, instead of the own one. */
  readonly against?: Capture | undefined;
  /** Only equal bits are equal. */
  readonly exact?: boolean | undefined;
  /** False: the first run is not followed byte by byte. */
  readonly follow?: boolean | undefined;
  /** Default: many times what the captured dispatch took. */
  readonly maxInstructions?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** What is known about the code beside its replay. */
  readonly evidence?: Pick<Evidence, 'notBuilt' | 'objections' | 'force'> | undefined;
  readonly onProgress?: ((iteration: number, iterations: number) => void) | undefined;
}

/** Milliseconds of the dispatches. */
export interface ReplayTimes {
  /** Whose time it is: the virtual GPU has no clock, so its dispatches are timed on the host. */
  readonly clock: 'host' | 'device';
  readonly average: number;
  readonly median: number;
  readonly least: number;
  /** From before the first to after the last iteration, without opening the device. */
  readonly wall: number;
  /** Median time of an iteration beyond its dispatch: memory put back, results compared. */
  readonly overhead: number;
}

export interface ReplayResult extends Verdict {
  readonly kernel: string;
  readonly device: string;
  readonly iterations: number;
  readonly recopy: boolean;
  readonly dispatch: DispatchResult | undefined;
  readonly times: ReplayTimes | undefined;
  /** Bytes that were compared. */
  readonly bytes: number;
  readonly buffers: readonly ComparedBuffer[];
  readonly writes: WriteReport | undefined;
  /** Reads of what the capture does not hold. */
  readonly outside: readonly UnknownRead[];
  /** What ended the kernel early. */
  readonly stopped: StoppedBy | undefined;
}

/** A fault of the replayed kernel. */
export interface StoppedBy {
  /** `sim/budget`, `rocm/memory-fault`, … */
  readonly code: string;
  readonly kind: FaultKind;
  readonly message: string;
  readonly hint: string | undefined;
  /** Of the kind `budget`: the instructions that it may take, and those of the captured dispatch, as far as they are known. */
  readonly budget?: { readonly allowed: number | undefined; readonly captured: number | undefined } | undefined;
}

/** Where an address is, in words: `'argument 1' + 0x40`. */
export function placeText(capture: Capture, address: number): string {
  const { allocations } = capture.manifest.memory;
  const found = allocations.find((a) => address >= a.address && address < a.address + a.size);
  if (found === undefined) return `${hex(address)}, in no captured allocation`;
  return `${hex(address)}, ${nameOf(found)} + 0x${(address - found.address).toString(16)}`;
}

function nameOf({ label, kind }: CaptureAllocation): string {
  return label === '' ? `an allocation of kind ${kind}` : `'${label}'`;
}

/** A run of a placed capture. */
export interface PlacedRun {
  readonly dispatch: DispatchResult | undefined;
  /** What ended the kernel early, as a sentence. */
  readonly failure: string | undefined;
  /** The same as the device said it. */
  readonly fault: DeviceFault | undefined;
  readonly milliseconds: number;
  readonly touched: TouchedBytes | undefined;
  readonly outside: readonly UnknownRead[];
}

/** Runs a placed capture once; a kernel that does what it must not is a failure of the run, other errors are thrown. */
export async function runPlaced(
  device: Device,
  placed: PlacedCapture,
  follow: boolean,
  fields: Partial<SimDispatchRequest> = {},
): Promise<PlacedRun> {
  const { capture, kernel } = placed;
  let queue = -1;
  const touched =
    follow && device instanceof SimDevice
      ? new TouchedBytes({
          keepsBefore: false,
          kernargSize: kernel.kernargSize,
          // The device's own queue stands for one whose memory nobody captured.
          isKnown: (address) => placed.isKnown(address) || (queue >= 0 && address >= queue && address < queue + 256),
          onStart: ({ launch }) => {
            if (capture.manifest.dispatch.queue === null) queue = launch.queue;
          },
        })
      : undefined;
  const request: DispatchRequest = {
    ...placed.request,
    ...fields,
    ...(touched === undefined ? {} : { monitors: [touched] }),
  };
  const started = performance.now();
  try {
    const dispatch = await device.dispatch(request);
    const milliseconds = performance.now() - started;
    const outside = touched?.unknownReads.slice() ?? [];
    return { dispatch, failure: undefined, fault: undefined, milliseconds, touched, outside };
  } catch (error) {
    if (!(error instanceof DeviceFault)) throw error;
    const milliseconds = performance.now() - started;
    return {
      dispatch: undefined,
      failure: faultText(placed, error),
      fault: error,
      milliseconds,
      touched,
      outside: touched?.unknownReads.slice() ?? [],
    };
  }
}

function faultText({ capture }: PlacedCapture, error: DeviceFault): string {
  const { access } = error.fault;
  const { allocations, chunks } = capture.manifest.memory;
  if (access?.space === 'global') {
    const { address } = access;
    const inside = allocations.some((a) => address >= a.address && address < a.address + a.size);
    if (inside && chunks.length > 0) {
      const pc = error.position.pc === undefined ? '' : ` at pc 0x${error.position.pc.toString(16)}`;
      const what = access.isWrite === true ? 'writes' : 'reads';
      return `The kernel${pc} ${what} ${placeText(capture, address)}: memory that is not in the capture.`;
    }
  }
  return error.message;
}

/** The sentence for a read of what the capture does not hold. */
function outsideText(capture: Capture, { address, bytes, pc, workgroup, wavefront }: UnknownRead): string {
  return `The instruction at pc 0x${pc.toString(16)} (workgroup ${workgroup.join(',')}, wave ${wavefront}) reads ${bytes} bytes at ${placeText(capture, address)} that the capture does not hold.`;
}

function stoppedBy({ manifest }: Capture, error: DeviceFault, allowed: number | undefined): StoppedBy {
  const { code, message, hint, fault } = error;
  if (fault.kind !== 'budget') return { code, kind: fault.kind, message, hint };
  const captured = manifest.dispatch.instructions;
  const known = captured === undefined ? '' : ` The captured dispatch took ${captured}.`;
  return {
    code,
    kind: 'budget',
    message,
    hint: `It may loop for ever, or wait for what nobody does.${known} A larger budget lets it go on (--budget N).`,
    budget: { allowed, captured },
  };
}

const median = (sorted: readonly number[]): number => {
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
};

/**
 * Replays a capture on a device that nothing else uses: its addresses must be free. `device/address-taken` names one that is not. What the
 * kernel does wrong is in the verdict; the device is as before afterwards.
 */
export async function replayCapture(
  device: Device,
  capture: Capture,
  options: ReplayOptions = {},
): Promise<ReplayResult> {
  const { iterations = 1, recopy = true, follow = true, code, against, exact, signal } = options;
  const budgetOf = (isFollowed: boolean): number | undefined =>
    options.maxInstructions ?? replayBudget(device, capture.manifest, isFollowed);
  checkTarget(device, capture);
  const placed = placeCapture(device, capture, { code });
  try {
    const expected = expectationOf(placed, against);
    const bytes = countedBytes(expected);
    placed.restore();
    const first = await runPlaced(device, placed, follow, { maxInstructions: budgetOf(follow), signal });
    const buffers = first.failure === undefined ? compareBuffers(device, capture, expected, { exact }) : [];
    const isFollowed = first.touched !== undefined && first.failure === undefined;
    const writes = isFollowed && against === undefined ? compareWrites(placed, first.touched) : undefined;
    const failures = failuresOf(capture, first, writes);
    const stopped = first.fault === undefined ? undefined : stoppedBy(capture, first.fault, budgetOf(follow));
    const timed =
      first.failure === undefined
        ? await timedRuns(device, placed, expected, first, { ...options, maxInstructions: budgetOf(false) })
        : undefined;
    if (timed !== undefined && timed.changed > 0) {
      failures.push(`${timed.changed} of ${iterations} iterations ended with other bytes than the first.`);
    }
    const verdict = verdictOf({
      ...options.evidence,
      comparisons: buffers.map((b) => b.comparison),
      failures,
      remarks: remarksOf(capture, placed, recopy, iterations),
      exact,
    });
    return {
      ...verdict,
      kernel: capture.manifest.dispatch.kernel,
      device: device.kind,
      iterations,
      recopy,
      dispatch: first.dispatch,
      times: timed?.times,
      bytes,
      buffers,
      writes,
      outside: first.outside,
      stopped,
    };
  } finally {
    placed.free();
  }
}

/**
 * Runs a capture's dispatch once, followed byte by byte: gives what it did that the captured dispatch did not, as sentences, and its count of
 * instructions. Values are not compared.
 */
export async function followCapture(
  device: Device,
  capture: Capture,
  fields: Partial<SimDispatchRequest>,
): Promise<{ readonly failures: readonly string[]; readonly instructions: number }> {
  checkTarget(device, capture);
  const placed = placeCapture(device, capture);
  try {
    placed.restore();
    const run = await runPlaced(device, placed, true, fields);
    const isFollowed = run.touched !== undefined && run.failure === undefined;
    const writes = isFollowed ? compareWrites(placed, run.touched) : undefined;
    return { failures: failuresOf(capture, run, writes), instructions: run.dispatch?.instructions ?? 0 };
  } finally {
    placed.free();
  }
}

/** Compares what a placed capture's memory holds now with the captured result, without having followed the run. */
export function judgePlaced(device: Device, placed: PlacedCapture): Verdict & { readonly bytes: number } {
  const expected = expectationOf(placed, undefined);
  const buffers = compareBuffers(device, placed.capture, expected);
  const verdict = verdictOf({
    comparisons: buffers.map((b) => b.comparison),
    remarks: remarksOf(placed.capture, placed, true, 1),
  });
  return { ...verdict, bytes: countedBytes(expected) };
}

function checkTarget(device: Device, capture: Capture): void {
  const processor = capture.manifest.code.target.split(':')[0];
  if (processor === device.target) return;
  throw new WavesmithError('device/wrong-target', `The capture is of ${processor}, the device is ${device.target}.`, {
    file: capture.path,
  });
}

function failuresOf(capture: Capture, run: PlacedRun, writes: WriteReport | undefined): string[] {
  const failures = run.outside.slice(0, 4).map((read) => outsideText(capture, read));
  if (run.failure !== undefined) failures.push(run.failure);
  if (writes !== undefined && writes.extra > 0) {
    failures.push(
      `The replay writes ${writes.extra} bytes that the captured dispatch does not write, first ${placeText(capture, writes.firstExtra as number)}.`,
    );
  }
  if (writes !== undefined && writes.missing > 0) {
    failures.push(
      `The replay leaves ${writes.missing} bytes as they were that the captured dispatch writes, first ${placeText(capture, writes.firstMissing as number)}.`,
    );
  }
  return failures;
}

function remarksOf(capture: Capture, placed: PlacedCapture, recopy: boolean, iterations: number): string[] {
  const { determinism, memory, unsupported } = capture.manifest;
  const remarks = [...placed.remarks];
  const varying = (determinism?.varying ?? []).reduce((sum, v) => sum + v.bytes, 0);
  if (varying > 0) remarks.push(`${varying} bytes depend on the order of waves and are not compared`);
  if (!memory.proved) remarks.push("the capture is not proved complete ('wavesmith capture slim' does that)");
  if (!recopy && iterations > 1) remarks.push('memory was kept between iterations: only the first is compared');
  if (unsupported.length > 0)
    remarks.push(
      `${unsupported.length === 1 ? '1 thing' : `${unsupported.length} things`} could not be captured: ${unsupported.map((u) => u.what).join(', ')}`,
    );
  return remarks;
}

/** The runs that are timed. A single iteration is the first run itself unless that was followed. */
async function timedRuns(
  device: Device,
  placed: PlacedCapture,
  expected: ReadonlyMap<PlacedChunk, Expected>,
  first: PlacedRun,
  { iterations = 1, recopy = true, maxInstructions, signal, onProgress }: ReplayOptions,
): Promise<{ times: ReplayTimes; changed: number }> {
  const dirty = first.touched === undefined ? undefined : writtenChunks(placed, first.touched);
  const isAsExpected = quickComparison(device, expected);
  const isFirst = isAsExpected();
  const times: number[] = [];
  const beside: number[] = [];
  let clock: ReplayTimes['clock'] = 'device';
  let changed = 0;
  const started = performance.now();
  for (let n = 0; n < iterations; n++) {
    const begun = performance.now();
    if (n === 0 || recopy) placed.restore(dirty);
    const run = await runPlaced(device, placed, false, { maxInstructions, signal });
    if (run.failure !== undefined)
      throw new WavesmithError('replay/iteration', `Iteration ${n + 1} failed: ${run.failure}`);
    const { nanoseconds } = run.dispatch ?? {};
    if (nanoseconds === undefined) clock = 'host';
    times.push(nanoseconds === undefined ? run.milliseconds : nanoseconds / 1e6);
    if ((recopy || n === 0) && isAsExpected() !== isFirst) changed++;
    beside.push(performance.now() - begun - run.milliseconds);
    onProgress?.(n + 1, iterations);
  }
  const wall = performance.now() - started;
  const sum = times.reduce((a, b) => a + b, 0);
  const sorted = [...times].sort((a, b) => a - b);
  return {
    changed,
    times: {
      clock,
      average: sum / iterations,
      median: median(sorted),
      least: sorted[0] as number,
      wall,
      overhead: median(beside.sort((a, b) => a - b)),
    },
  };
}
