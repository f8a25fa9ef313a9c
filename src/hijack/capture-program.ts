// Records dispatches of a program. The tools library in the program (native/tool) isolates a chosen dispatch and describes it, on the virtual
// runtime as on AMD's: nothing else runs, its code object, packet, arguments and all live memory are told. The contents of memory come from
// the virtual GPU, which follows the dispatch byte by byte (`touched`), or from the library, which copies it before and after (`reachable`,
// `full`): the only way on hardware.
import { WavesmithError } from '../base/index.ts';
import type { Monitor } from '../device/index.ts';
import type { SimKernel } from '../device/sim/module.ts';
import type { DispatchPacket } from '../runtime/runtime-device.ts';
import type { IsolatedDispatch, StartingDispatch, ToolAllocation, ToolNote } from '../runtime/tool-records.ts';
import type { DispatchRange } from '../runtime/tool-server.ts';
import {
  type AllocationKind,
  type CopiedMemory,
  type FinishOptions,
  finishProved,
  type Manifest,
  type MemoryMode,
  Recorder,
  type RecordSummary,
  type RegionFacts,
  type UnsupportedRecord,
  writeCopied,
} from '../snapshot/index.ts';
import { type ProgramDevice, type ProgramRun, runProgram } from './program-host.ts';

export interface CaptureProgramOptions {
  readonly command: readonly string[];
  readonly device: ProgramDevice;
  /** Names of kernels (mangled). */
  readonly kernel: RegExp;
  /** Which dispatches of these, in each process of the program. */
  readonly range: DispatchRange;
  /** `touched` needs the virtual GPU. */
  readonly memory: MemoryMode;
  readonly producer: Manifest['producer'];
  /** The path of the nth capture. */
  readonly pathOf: (n: number) => string;
  readonly finish: FinishOptions;
  /** What the program's standard output is joined to. */
  readonly show: 'inherit' | 'none';
  /** One line for each thing that a person should know. */
  readonly report: (text: string) => void;
}

export interface CapturedProgram {
  readonly status: number;
  readonly captures: readonly (RecordSummary & { readonly kernel: string; readonly sequence: number })[];
  /** Chosen dispatches that are in no capture, and why. */
  readonly failures: readonly { readonly kernel: string; readonly sequence: number; readonly message: string }[];
  /** Kernels that the program dispatched, and how often, as far as the device says that. */
  readonly kernels: ReadonlyMap<string, number | undefined>;
  /** What the virtual GPU said of the first kernel that failed. */
  readonly fault: string | undefined;
}

const KINDS: Readonly<Record<ToolAllocation['kind'], AllocationKind>> = {
  coarse: 'coarse',
  fine: 'fine',
  host: 'host',
  kernarg: 'kernarg',
  locked: 'host',
  virtual: 'vmem',
  module: 'variable',
};

/** HSA's flags of a memory pool (hsa_ext_amd.h). */
const POOL_FLAGS: readonly (readonly [number, string])[] = [
  [1, 'kernarg-init'],
  [2, 'fine-grained'],
  [4, 'coarse-grained'],
  [8, 'extended-scope-fine-grained'],
];

function factsOf({ kind, flags, origin }: ToolAllocation): Required<RegionFacts> {
  return {
    kind: KINDS[kind],
    flags: POOL_FLAGS.filter(([bit]) => (flags & bit) !== 0).map(([, name]) => name),
    provenance: origin,
    label: '',
  };
}

/** Memory of the virtual GPU that is not the program's: its dispatch queue, and what a packet lies in. */
const DEVICE_LABELS = new Set(['queue', 'kernarg segment', 'dispatch packet', 'code object']);

/** After so long a person is told that a dispatch that runs alone may be waiting for the program, which waits for it. */
const PATIENCE_SECONDS = 10;

/** A dispatch that the device is about to run for the library. */
interface Armed {
  readonly dispatch: StartingDispatch;
  readonly records: UnsupportedRecord[];
  recorder: Recorder | undefined;
  /** Of the dispatch, once it has run. */
  instructions: number | undefined;
}

/** Runs a program to its end and writes a capture of every chosen dispatch, each as soon as it has run. */
export async function captureProgram(options: CaptureProgramOptions): Promise<CapturedProgram> {
  const { device, memory, report, range, kernel: pattern, finish, producer, pathOf } = options;
  if (memory === 'touched' && device.kind !== 'sim') {
    throw new WavesmithError(
      'capture/needs-virtual-gpu',
      'Only the virtual GPU knows which bytes a dispatch touches.',
      {
        hint: "Use --memory reachable or --memory full, then 'wavesmith capture slim'.",
      },
    );
  }
  const captures: CapturedProgram['captures'][number][] = [];
  const failures: CapturedProgram['failures'][number][] = [];
  const kernels = new Map<string, number | undefined>();
  const armed = new Map<string, Armed>();
  let work: Promise<void> = Promise.resolve();
  let count = 0;
  let waiting: NodeJS.Timeout | undefined;
  /** The dispatch that the device runs, if it is one to be recorded. */
  let running: Armed | undefined;

  const fail = (kernel: string, sequence: bigint, message: string): void => {
    failures.push({ kernel, sequence: Number(sequence), message });
    report(`dispatch ${sequence} of ${kernel} was not captured: ${message}`);
  };
  const record = async (dispatch: IsolatedDispatch, recording: Armed | undefined): Promise<void> => {
    const { kernel, sequence } = dispatch;
    const path = pathOf(count++);
    try {
      const summary =
        recording?.recorder === undefined
          ? await finishProved(
              writeCopied(path, copiedDispatch(dispatch, memory, producer), finish),
              path,
              device.kind === 'sim' ? finish : { ...finish, prove: false },
            )
          : await recording.recorder.finish(path, { ...finish, instructions: recording.instructions });
      captures.push({ ...summary, kernel, sequence: Number(sequence) });
    } catch (error) {
      if (!(error instanceof WavesmithError)) throw error;
      fail(kernel, sequence, error.hint === undefined ? error.message : `${error.message} ${error.hint}`);
    }
  };
  const observe = (kernel: SimKernel, packet: DispatchPacket, codeObject: Uint8Array): Monitor | undefined => {
    const one = armed.get(keyOf(packet.kernelObject, packet.kernargAddress));
    if (one === undefined) return undefined;
    one.recorder = recorderOf(kernel, codeObject, one, producer);
    running = one;
    return one.recorder.monitor;
  };
  const run: ProgramRun = await runProgram(
    {
      plan: ({ object }) => ({
        kernels: object.kernels
          .filter(({ name }) => pattern.test(name))
          .map(({ name }) => ({ kernel: name, isolate: true })),
      }),
      onDispatch: ({ kernel }) => {
        if (kernel !== undefined && !kernels.has(kernel)) kernels.set(kernel, undefined);
      },
      onIsolating: (dispatch) => {
        clearTimeout(waiting);
        waiting = setTimeout(() => {
          report(
            `dispatch ${dispatch.sequence} of ${dispatch.kernel} has been running alone for ${PATIENCE_SECONDS} s. If it waits for the program, it does not come to an end: leave it out with --kernel or --dispatch.`,
          );
        }, 1000 * PATIENCE_SECONDS);
        if (memory === 'full') return 'all';
        if (memory === 'reachable') return 'reachable';
        const { kernelObject, kernarg } = dispatch.fields;
        armed.set(keyOf(kernelObject, kernarg), {
          dispatch,
          records: [],
          recorder: undefined,
          instructions: undefined,
        });
        return 'none';
      },
      onIsolated: (dispatch) => {
        clearTimeout(waiting);
        const key = keyOf(dispatch.fields.kernelObject, dispatch.fields.kernarg);
        const recording = armed.get(key);
        armed.delete(key);
        if (dispatch.status !== 'done') {
          const why = dispatch.status === 'incomplete' ? 'the program ended in the middle of it.' : 'it failed.';
          fail(dispatch.kernel, dispatch.sequence, why);
          return;
        }
        work = work.then(() => record(dispatch, recording));
      },
      onNote: (note) => report(noteText(note)),
    },
    {
      device,
      command: options.command,
      range,
      show: options.show,
      observe: memory === 'touched' ? observe : undefined,
      onKernel: (name, { instructions }) => {
        kernels.set(name, (kernels.get(name) ?? 0) + 1);
        if (running !== undefined) running.instructions = instructions;
        running = undefined;
      },
      report,
    },
  );
  clearTimeout(waiting);
  await work;
  return { status: run.status, captures, failures, kernels, fault: run.fault };
}

const keyOf = (kernelObject: number, kernarg: number): string => `${kernelObject}.${kernarg}`;

const noteText = ({ sequence, text }: ToolNote): string =>
  sequence === undefined ? text : `dispatch ${sequence}: ${text}`;

function recorderOf(
  kernel: SimKernel,
  codeObject: Uint8Array,
  { dispatch, records }: Armed,
  producer: Manifest['producer'],
): Recorder {
  records.push(...unsupportedOf(dispatch));
  const byAddress = [...dispatch.allocations].sort((a, b) => a.address - b.address);
  return new Recorder({
    kernel,
    codeObject,
    sequence: Number(dispatch.sequence),
    producer,
    unsupported: records,
    describe: ({ base, size, label, mappings }) => {
      const places = [{ address: base, size }, ...mappings];
      const found = byAddress.find((a) =>
        places.some((p) => a.address < p.address + p.size && a.address + a.size > p.address),
      );
      if (found !== undefined) return factsOf(found);
      if (!DEVICE_LABELS.has(label)) {
        records.push({
          what: 'runtime-memory',
          message: `The dispatch touches memory of the runtime at 0x${base.toString(16)} (signals, or a buffer for calls to the host): nobody answers there in a replay.`,
        });
      }
      return label === 'allocation' || label === 'program memory' ? { label: '', kind: 'unknown' } : {};
    },
  });
}

/** Kinds of arguments whose meaning lies outside of memory. */
const OUTSIDE: Readonly<Record<string, string>> = {
  image: 'an image',
  sampler: 'a sampler',
  pipe: 'a pipe',
  queue: 'a queue',
  hidden_hostcall_buffer: 'the buffer for calls to the host',
};

/** What of a dispatch no capture can hold. */
function unsupportedOf({ code, kernel: name, kernarg, notes }: StartingDispatch): UnsupportedRecord[] {
  const args = code.object.kernels.find((k) => k.name === name)?.metadata?.args ?? [];
  const records = notes.map(({ code: what, text: message }) => ({ what, message }));
  for (const { valueKind, offset, size } of args) {
    const text = OUTSIDE[valueKind];
    const isGiven = kernarg.subarray(offset, offset + size).some((byte) => byte !== 0);
    if (text === undefined || !isGiven) continue;
    records.push({
      what: valueKind.replace(/^hidden_/, ''),
      message: `The kernel takes ${text}, which is no memory: a replay has its address only.`,
    });
  }
  return records;
}

function copiedDispatch(
  dispatch: IsolatedDispatch,
  mode: MemoryMode,
  producer: Manifest['producer'],
): Parameters<typeof writeCopied>[1] {
  const { code, fields, before, after, allocations } = dispatch;
  return {
    producer,
    mode,
    kernel: dispatch.kernel,
    codeObject: code.bytes,
    loadAddress: code.delta,
    imageSize: code.loadBase + code.loadSize - code.delta,
    sequence: Number(dispatch.sequence),
    gridWorkItems: fields.grid,
    block: fields.block,
    lds: fields.groupSegment,
    scratch: fields.privateSegment,
    packet: dispatch.packet,
    kernarg: { address: fields.kernarg, bytes: dispatch.kernarg },
    memory: allocations.map((allocation): CopiedMemory => {
      const { id, address, size } = allocation;
      // The library sends the first chunk of all memory that it copies.
      const isCopied = before.offsets(id).length > 0;
      return {
        address,
        size,
        ...factsOf(allocation),
        before: isCopied ? (offset) => before.chunk(id, offset) : undefined,
        changed: after.offsets(id).map((offset) => ({ offset, bytes: after.chunk(id, offset) as Uint8Array })),
      };
    }),
    unsupported: unsupportedOf(dispatch),
  };
}
