// Dispatches of many different kernels to capture: compiled C and Triton kernels with their launches, hand-written kernels of the reference
// corpus, and dispatches of an IREE module, each with what it takes to record it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCodeObject } from '../../src/codeobject/index.ts';
import { isSimKernel } from '../../src/device/sim/module.ts';
import type { SimDispatchRequest, SimDispatchResult } from '../../src/device/sim/options.ts';
import { SimDevice } from '../../src/device/sim/sim-device.ts';
import {
  type Capture,
  deviceFor,
  type FinishOptions,
  Recorder,
  type RecordSummary,
  type ReplayOptions,
  type ReplayResult,
  replayCapture,
  rewriteCapture,
} from '../../src/snapshot/index.ts';
import { AITER_KERNELS } from '../sim/kernels/aiter-cases.ts';
import { hasCorpus } from '../sim/kernels/support.ts';
import { TENSILE_KERNELS } from '../sim/kernels/tensile-cases.ts';
import { deriveDispatches, fillerFor, VmfbRunner } from '../sim/kernels/vmfb.ts';
import { sharedPath } from './shared.ts';
import { strictSubjects } from './strict-kernels.ts';

/** A dispatch that can be made; `run` makes at least one on devices of this process. */
export interface CaptureSubject {
  readonly name: string;
  readonly run: () => Promise<unknown>;
}

/** All subjects, those of the reference corpus only where it is. */
export function captureSubjects(): CaptureSubject[] {
  const compiled = strictSubjects().map(
    (subject): CaptureSubject => ({
      name: subject.name,
      run: async () => {
        const device = new SimDevice(subject.target);
        try {
          await subject.run(device, subject.codeObject, undefined);
        } finally {
          device.close();
        }
      },
    }),
  );
  const handWritten = !hasCorpus
    ? []
    : Object.entries(AITER_KERNELS).flatMap(([family, cases]) =>
        cases.map(([name, , run]): CaptureSubject => ({ name: `aiter ${family} ${name}`, run })),
      );
  const library = !hasCorpus
    ? []
    : TENSILE_KERNELS.map(([name, , run]): CaptureSubject => ({ name: `hipblaslt gfx90a ${name}`, run }));
  return [...compiled, ...library, ...handWritten, ...moduleSubjects()];
}

/** Small dispatches of the language model. */
function moduleSubjects(): CaptureSubject[] {
  const path = sharedPath('vmfb', 'llama8b-fp8.gfx942.vmfb');
  if (path === undefined) return [];
  const module = readFileSync(path);
  const derived = deriveDispatches(module, { tokens: 32, pages: 1, cachePages: 8 });
  let runner: VmfbRunner | undefined;
  return [
    '_initializer_0_dispatch_0',
    'decode_bs4$async_dispatch_0_',
    'decode_bs4$async_dispatch_1_',
    'decode_bs4$async_dispatch_2_',
  ].flatMap((start) => {
    const one = derived.find((d) => d.kernel.startsWith(start));
    const { dispatch } = one ?? {};
    if (one === undefined || dispatch === undefined) return [];
    return [
      {
        name: `iree ${one.kernel}`,
        run: () => {
          runner ??= new VmfbRunner(module);
          return runner.run(one.kernel, dispatch, 1, fillerFor(one));
        },
      },
    ];
  });
}

/** What modules were loaded from. */
const codes = new WeakMap<object, Uint8Array>();

/** A capture of each kernel's first compiled dispatch that `work` makes, and how long that took in milliseconds of recording. */
export async function recordFirst(
  work: () => Promise<unknown>,
  path: string,
  finish: FinishOptions = {},
): Promise<RecordSummary & { readonly kernel: string }> {
  const { load, dispatch } = SimDevice.prototype;
  let recorder: Recorder | undefined;
  let kernelName = '';
  SimDevice.prototype.load = function (this: SimDevice, codeObject, address) {
    const module = load.call(this, codeObject, address);
    codes.set(module, codeObject);
    return module;
  };
  SimDevice.prototype.dispatch = async function (
    this: SimDevice,
    request: SimDispatchRequest,
  ): Promise<SimDispatchResult> {
    const { kernel } = request;
    const code = isSimKernel(kernel) ? codes.get(kernel.module) : undefined;
    if (recorder !== undefined || code === undefined || !isSimKernel(kernel)) return await dispatch.call(this, request);
    const made = new Recorder({ kernel, codeObject: code, producer: { name: 'test', version: '1', device: 'sim' } });
    recorder = made;
    kernelName = kernel.name;
    return await dispatch.call(this, { ...request, engine: 'compiled', monitors: [made.monitor] });
  };
  try {
    await work();
  } finally {
    Object.assign(SimDevice.prototype, { load, dispatch });
  }
  if (recorder === undefined) throw new Error('nothing was dispatched');
  return { ...(await recorder.finish(path, finish)), kernel: kernelName };
}

/** Replays on a device of its own. */
export async function replayOnce(capture: Capture, options: ReplayOptions = {}): Promise<ReplayResult> {
  const device = deviceFor(capture);
  try {
    return await replayCapture(device, capture, options);
  } finally {
    device.close();
  }
}

/** Instructions after which a wrong version of a dispatch of so many does not end: it waits for what nobody writes, or runs away. */
export const budgetBeside = (instructions: number): number => 20 * instructions + 10_000;

const S_ENDPGM = 0xbf810000;

/** The code object with a kernel that ends at once. */
export function endedAtOnce(capture: Capture): Uint8Array {
  const code = capture.codeObject().slice();
  const object = readCodeObject(code);
  const kernel = object.kernels.find((k) => k.name === capture.manifest.dispatch.kernel);
  const address =
    Number(kernel?.descriptorSymbol?.value ?? 0n) + Number(kernel?.descriptor?.kernelCodeEntryByteOffset ?? 0n);
  const segment = object.elf.segments.find(
    (s) => s.type === 1 && address >= s.virtualAddress && address < s.virtualAddress + s.fileSize,
  );
  if (segment === undefined) throw new Error('the kernel has no code');
  const at = segment.offset + address - segment.virtualAddress;
  const view = new DataView(code.buffer);
  view.setUint32(at, S_ENDPGM, true);
  // Behind the code that loads preloaded arguments.
  view.setUint32(at + 256, S_ENDPGM, true);
  return code;
}

/** Wrong versions of a captured dispatch: code, or a changed capture that is judged by the result of the original. */
export function wrongVersions(
  capture: Capture,
  folder: string,
): { readonly name: string; readonly path?: string; readonly code?: Uint8Array }[] {
  const { manifest } = capture;
  const { gridWorkItems, block, kernarg } = manifest.dispatch;
  const versions: { name: string; path?: string; code?: Uint8Array }[] = [
    { name: 'no-op', code: endedAtOnce(capture) },
  ];
  const grid = (name: string, change: (n: number, d: number) => number): void => {
    const changed = gridWorkItems.map((n, d) => change(n, d)) as [number, number, number];
    if (changed.every((n, d) => n === gridWorkItems[d])) return;
    const path = join(folder, `${name}.wscap`);
    rewriteCapture(capture, path, { replace: true }, () => ({
      dispatch: { ...manifest.dispatch, gridWorkItems: changed },
    }));
    versions.push({ name, path });
  };
  const widest = [0, 1, 2].reduce(
    (best, d) =>
      (gridWorkItems[d] as number) / (block[d] as number) > (gridWorkItems[best] as number) / (block[best] as number)
        ? d
        : best,
    0,
  );
  const groups = (d: number): number => Math.ceil((gridWorkItems[d] as number) / (block[d] as number));
  grid('half of the grid', (n, d) =>
    d === widest && groups(d) > 1 ? Math.floor(groups(d) / 2) * (block[d] as number) : n,
  );
  grid('one workgroup less', (n, d) => (d === widest && groups(d) > 1 ? (groups(d) - 1) * (block[d] as number) : n));
  const pointers = kernarg.slots.filter((s) => s.points !== undefined && !s.kind.startsWith('hidden_'));
  const written = pointers.find((s) =>
    capture.chunks.some((c) => c.entry.post !== undefined && c.entry.allocation === s.points?.allocation),
  );
  const other = pointers.find((s) => s !== written && Buffer.compare(s.bytes, written?.bytes ?? s.bytes) !== 0);
  if (written !== undefined && other !== undefined) {
    const path = join(folder, 'swapped.wscap');
    rewriteCapture(capture, path, { replace: true }, (pages) => ({
      memory: {
        ...manifest.memory,
        chunks: capture.chunks.map((chunk) => {
          const at = kernarg.address - chunk.address;
          if (at < 0 || at >= chunk.length || chunk.entry.pre === undefined) return chunk.entry;
          const bytes = (chunk.pre() as Uint8Array).slice();
          bytes.set(written.bytes, at + other.offset);
          bytes.set(other.bytes, at + written.offset);
          return { ...chunk.entry, pre: pages.put(bytes) };
        }),
      },
    }));
    versions.push({ name: 'swapped arguments', path });
  }
  return versions;
}
