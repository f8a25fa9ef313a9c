// Records dispatches of a program. The tools library in the program (native/tool) isolates a chosen dispatch and describes it, on the virtual
// runtime as on AMD's: nothing else runs, its code object, packet, arguments and all live memory are told. The contents of memory come from
// the virtual GPU, which follows the dispatch byte by byte (`touched`), or from the library, which copies it before and after (`reachable`,
// `full`): the only way on hardware.
import { WavesmithError } from '../base/index.ts';
import type { Monitor } from '../device/index.ts';
import type { SimKernel } from '../device/sim/module.ts';
import type { DispatchPacket } from '../runtime/runtime-device.ts';
import type { IsolatedDispatch, StartingDispatch, ToolAllocation } from '../runtime/tool-records.ts';
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
  readonly failures: readonly CaptureFailure[];
  /** Kernels that the program dispatched, and how often, as far as the device says that. */
  readonly kernels: ReadonlyMap<string, number | undefined>;
  /** What the virtual GPU said of the first kernel that failed. */
  readonly fault: string | undefined;
}

/** A chosen dispatch that is in no capture. */
export interface CaptureFailure {
  readonly kernel: string;
  readonly sequence: number;
  /** Code of an error, or the word of the tools library for what it could not do. */
  readonly code: string;
  readonly message: string;
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

/**
 * Milliseconds that the program waits for a dispatch that runs alone where nobody sees what that does. It is long where the program's going on would
 * be in the copies of memory.
 */
const PATIENCE_MS = { followed: 5_000, copied: 30_000, hardware: 2_000 } as const;

/** A dispatch that the device is about to run for the library. */
interface Armed {
  readonly dispatch: StartingDispatch;
  readonly records: UnsupportedRecord[];
  /** With `touched`. */
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

  const fail = (kernel: string, sequence: bigint, code: string, message: string): void => {
    failures.push({ kernel, sequence: Number(sequence), code, message });
    report(`dispatch ${sequence} of ${kernel} was not captured: ${message} (${code})`);
  };
  const failWith = (kernel: string, sequence: bigint, { code, message, hint }: WavesmithError): void =>
    fail(kernel, sequence, code, hint === undefined ? message : `${message} ${hint}`);
  const record = async (dispatch: IsolatedDispatch, recording: Armed | undefined): Promise<void> => {
    const { kernel, sequence, status } = dispatch;
    const path = pathOf(count++);
    const more = { instructions: recording?.instructions, waited: status === 'not-alone' };
    try {
      const summary =
        recording?.recorder === undefined
          ? await finishProved(
              writeCopied(path, copiedDispatch(dispatch, memory, producer), finish),
              path,
              device.kind === 'sim' ? { ...finish, ...more } : { ...finish, prove: false },
            )
          : await recording.recorder.finish(path, { ...finish, ...more });
      captures.push({ ...summary, kernel, sequence: Number(sequence) });
    } catch (error) {
      if (!(error instanceof WavesmithError)) throw error;
      if (status === 'not-alone' && error.code === 'capture/not-complete')
        failWith(kernel, sequence, waited(error.message));
      else failWith(kernel, sequence, error);
    }
  };
  const observe = (kernel: SimKernel, packet: DispatchPacket, codeObject: Uint8Array): Monitor | undefined => {
    const one = armed.get(keyOf(packet.kernelObject, packet.kernargAddress));
    if (one === undefined) return undefined;
    one.recorder = recorderOf(kernel, codeObject, one, producer);
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
        const { kernelObject, kernarg } = dispatch.fields;
        armed.set(keyOf(kernelObject, kernarg), {
          dispatch,
          records: [],
          recorder: undefined,
          instructions: undefined,
        });
        if (memory === 'touched') return 'none';
        return memory === 'full' ? 'all' : 'reachable';
      },
      onIsolated: (dispatch) => {
        const key = keyOf(dispatch.fields.kernelObject, dispatch.fields.kernarg);
        const recording = armed.get(key);
        armed.delete(key);
        const { kernel, sequence, status, notes } = dispatch;
        if (status === 'not-alone' && memory !== 'touched' && (device.kind === 'rocm' || !finish.prove)) {
          failWith(kernel, sequence, waited('What others wrote meanwhile cannot be told from what it wrote.'));
        } else if (status === 'done' || status === 'not-alone') {
          for (const { text } of notes) report(`dispatch ${sequence}: ${text}`);
          work = work.then(() => record(dispatch, recording));
        } else if (status === 'not-isolated') {
          const note = notes.at(-1);
          fail(kernel, sequence, note?.code ?? 'not-isolated', note?.text ?? 'It could not be isolated.');
        } else {
          const isEnd = status === 'incomplete';
          fail(kernel, sequence, isEnd ? 'program-ended' : 'dispatch-failed', isEnd ? ENDED : 'it failed.');
        }
      },
      onPassed: ({ kernel, sequence, note }) =>
        fail(kernel, sequence, note?.code ?? 'not-isolated', note?.text ?? 'It could not be isolated.'),
      onNote: (note) => {
        if (note.sequence === undefined) report(note.text);
      },
    },
    {
      device,
      command: options.command,
      range,
      show: options.show,
      observe: memory === 'touched' ? observe : undefined,
      patience:
        memory === 'touched' ? PATIENCE_MS.followed : PATIENCE_MS[device.kind === 'sim' ? 'copied' : 'hardware'],
      onKernel: (name, { instructions }, packet) => {
        kernels.set(name, (kernels.get(name) ?? 0) + 1);
        const one = armed.get(keyOf(packet.kernelObject, packet.kernargAddress));
        if (one !== undefined) one.instructions = instructions;
      },
      report,
    },
  );
  await work;
  return { status: run.status, captures, failures, kernels, fault: run.fault };
}

const ENDED = 'the program ended in the middle of it.';

const waited = (text: string): WavesmithError =>
  new WavesmithError(
    'capture/waits-for-others',
    `It could not run alone: it, or a dispatch beside it, waited for what the program did meanwhile. Nobody does that in a replay. ${text}`,
  );

const keyOf = (kernelObject: number, kernarg: number): string => `${kernelObject}.${kernarg}`;

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
