// What a device and its worker threads tell each other.
import { type Position, WavesmithError } from '../../../base/index.ts';
import type { TargetName } from '../../../isa/types.ts';
import { DeviceFault, type Fault } from '../../fault.ts';
import type { BeyondWindow, FrameArea } from '../state/frames.ts';
import type { MemoryOptions } from '../state/memory.ts';
import type { Place } from '../state/places.ts';
import type { RegionRecord } from '../state/region.ts';
import type { CompiledUnit } from '../wasm/unit.ts';
import type { Launch } from './launch.ts';
import type { WaitFacts } from './spin.ts';
import type { ScratchPlace } from './wave-start.ts';

/** A place by wasm offsets: views do not travel. */
export interface PlaceRecord {
  readonly waveBlocks: readonly number[];
  readonly lds: number;
  readonly ldsBytes: number;
  readonly scratch: ScratchPlace | undefined;
}

/** First message: the device's memory, and the address of its window. */
export interface MemoryMessage {
  readonly kind: 'memory';
  readonly window: number;
  readonly memory: WebAssembly.Memory;
  readonly bulkModule: WebAssembly.Module;
  readonly thread: NonNullable<MemoryOptions['thread']>;
  /** Offset of the word with the ticket of the run that the thread may begin. */
  readonly gate: number;
  /** What is beyond the window; the thread makes its own `show` and `view` of the source. */
  readonly beyond: Omit<BeyondWindow, 'show' | 'view'> | undefined;
}

/** What need not be found out again. */
export interface CodeFacts {
  readonly compiled: readonly CompiledUnit[];
  readonly waits: WaitFacts;
}

/** Runs workgroups of a dispatch until none is left. A thread that finds another ticket at its gate has come too late, and does not answer. */
export interface RunMessage {
  readonly kind: 'run';
  readonly ticket: number;
  readonly launch: Launch;
  readonly code: {
    /** Different for every loaded module. */
    readonly id: number;
    readonly target: TargetName;
    readonly base: number;
    readonly codeRanges: readonly (readonly [number, number])[];
  };
  /** What the device's own thread knows of the code, when the thread is asked to run it for the first time. */
  readonly known: CodeFacts | undefined;
  readonly regions: readonly RegionRecord[];
  readonly frameArea: FrameArea | undefined;
  readonly place: PlaceRecord;
}

/** An error of a workgroup. */
export interface FailureRecord {
  readonly group: number;
  /** Undefined for an error that is not typed: a defect. */
  readonly code: string | undefined;
  readonly message: string;
  readonly position: Position;
  readonly hint: string | undefined;
  readonly stack: string | undefined;
  readonly fault: Fault | undefined;
}

/** Answer to a run. */
export interface DoneMessage {
  readonly kind: 'done';
  readonly instructionsByEncoding: Readonly<Record<string, number>>;
  readonly wavefronts: number;
  /** As `Runner.waited`. */
  readonly waited: number;
  readonly failure: FailureRecord | undefined;
}

export function placeRecord(place: Place): PlaceRecord {
  return {
    waveBlocks: place.waveBlocks.map((b) => b.byteOffset),
    lds: place.lds.byteOffset,
    ldsBytes: place.lds.byteLength,
    scratch: place.scratch,
  };
}

export function failureRecord(group: number, error: unknown): FailureRecord {
  if (error instanceof WavesmithError) {
    const { code, message, position, hint } = error;
    const fault = error instanceof DeviceFault ? error.fault : undefined;
    return { group, code, message, position, hint, stack: undefined, fault };
  }
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return { group, code: undefined, message, position: {}, hint: undefined, stack, fault: undefined };
}

/** The error that a record describes. */
export function failureError({ code, message, position, hint, stack, fault }: FailureRecord): Error {
  if (code !== undefined && fault !== undefined) return new DeviceFault(code, message, fault, { ...position, hint });
  if (code !== undefined) return new WavesmithError(code, message, { ...position, hint });
  const error = new Error(message);
  if (stack !== undefined) error.stack = stack;
  return error;
}
