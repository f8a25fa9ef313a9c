// Runs the kernels of an IREE module dispatch by dispatch: grids, constants and binding lengths come from the module's host
// program (`readDispatches`, with the sizes of one call assumed), the bytes of the bindings are made here.
// Bindings too large for the virtual GPU's memory (model weights) are one block of memory mapped again and again.
import { randomNumbers } from '../../../src/base/index.ts';
import {
  type CodeObject,
  codeObjectsOf,
  openContainer,
  readDispatches,
  readVmfb,
  type VmfbDispatch,
} from '../../../src/codeobject/index.ts';
import type { DeviceKernel, Dim3, RunFinding, StrictOptions } from '../../../src/device/index.ts';
import { SimDevice } from '../../../src/device/sim/sim-device.ts';

/** Sizes of the call: tokens of a prefill, pages of the cache a sequence uses, pages in the cache. */
export interface CallSizes {
  readonly tokens: number;
  readonly pages: number;
  readonly cachePages: number;
}

/** A kernel with the dispatch it is run by, or why there is none. */
export interface DerivedDispatch {
  readonly kernel: string;
  readonly dispatch: VmfbDispatch | undefined;
  /** Constants the host program reads from the parameters when it starts: any number is right, a scale near one is used. */
  readonly assumedConstants: number;
  readonly reason: string | undefined;
}

/** Reads 1.0 as f16 in the low half and about 1.0 as f32. */
const SCALE_NEAR_ONE = 0x3f803c00;

/** One dispatch per kernel, in the order of the module's host program. */
export function deriveDispatches(module: Uint8Array, sizes: CallSizes): DerivedDispatch[] {
  const vmfb = readVmfb(module);
  const all = readDispatches(vmfb, {
    dimension: ({ function: name, argument, dimension }) => {
      if (name.startsWith('prefill')) {
        return argument === 0 && dimension === 1 ? sizes.tokens : argument === 2 ? sizes.pages : sizes.cachePages;
      }
      return argument === 3 ? sizes.pages : sizes.cachePages;
    },
  });
  const byKernel = new Map<string, VmfbDispatch[]>();
  for (const d of all)
    if (d.kernelName !== null) byKernel.set(d.kernelName, [...(byKernel.get(d.kernelName) ?? []), d]);
  return [...byKernel].map(([kernel, list]) => {
    const known = list.filter((d) => !d.workgroupCount.includes(null) && d.bindings.every((b) => b.length !== null));
    const best = known.find((d) => !d.constants.includes(null)) ?? known[0];
    const assumedConstants = best?.constants.filter((c) => c === null).length ?? 0;
    const reason = best === undefined ? 'the grid or a binding length is computed at run time' : undefined;
    return { kernel, dispatch: best, assumedConstants, reason };
  });
}

const BLOCK = 2 ** 23;
/** Above this a binding is mapped, not allocated. */
const LARGEST_ALLOCATION = 2 ** 26;
/** Where mapped bindings begin: far outside the window of ordinary allocations. */
const MAPPED = 0x3000_0000_0000;
const MAPPED_STEP = 2 ** 36;

/** What a run of a kernel gave. */
export interface KernelRun {
  readonly instructions: number;
  readonly workgroups: number;
  /** Of a strict run. */
  readonly diagnostics: readonly RunFinding[];
  /** Bytes of all bindings that changed. */
  readonly changed: number;
  /** A hash of all bindings after the run. */
  readonly hash: number;
  /** The binding's bytes after the run: the whole binding, or the block it is made of. */
  readonly bindings: readonly Uint8Array[];
}

/** Fills a binding before the run. */
export type Filler = (binding: number, bytes: Uint8Array) => void;

/** Bytes that are a moderate finite number as f32, f16, bf16 and FP8, at every alignment of two. */
export function fillNumbers(seed: number, bytes: Uint8Array): void {
  const random = randomNumbers(seed);
  for (let n = 0; n < bytes.length; n++) {
    const code = Math.floor(random() * 24);
    bytes[n] = code < 12 ? 0x30 + code : 0xb0 + code - 12;
  }
}

/** Whole numbers 0 … 3 as i64: indices that are inside everything. */
export function fillIndices(bytes: Uint8Array): void {
  bytes.fill(0);
  for (let n = 0; n < bytes.length; n += 8) bytes[n] = (n >> 3) & 3;
}

/**
 * What a kernel's bindings hold, judged by its name: index tables are short, or lie in the shared buffer of scatters and i64
 * kernels; the last binding is written.
 */
export function fillerFor({ kernel, dispatch }: DerivedDispatch): Filler {
  const last = (dispatch?.bindings.length ?? 0) - 1;
  const indexed = /scatter|_i64$|i64xf32/.test(kernel);
  return (binding, bytes) => {
    const isTable = bytes.length <= 512 || (indexed && bytes.length !== BLOCK);
    if (isTable && binding !== last) fillIndices(bytes);
    else fillNumbers(binding + 1, bytes);
  };
}

/** The module's kernels on one device. */
export class VmfbRunner {
  private readonly device: SimDevice;
  private readonly kernels = new Map<string, DeviceKernel>();

  /** Loads all code objects, each as `change` makes it. */
  constructor(module: Uint8Array, change: (object: CodeObject) => Uint8Array = (object) => object.bytes) {
    const objects = codeObjectsOf(openContainer(module, 'module'));
    this.device = new SimDevice('gfx942');
    for (const object of objects) {
      for (const kernel of this.device.load(change(object)).kernels) this.kernels.set(kernel.name, kernel);
    }
  }

  /** Runs the first `limit` workgroups of a dispatch. */
  async run(
    kernelName: string,
    dispatch: VmfbDispatch,
    limit: number,
    fill: Filler,
    strict?: StrictOptions,
  ): Promise<KernelRun> {
    const kernel = this.kernels.get(kernelName);
    if (kernel?.requiredWorkgroupSize === undefined) throw new Error(`no kernel ${kernelName} with a workgroup size`);
    const memory = this.device.memory;
    const owned: number[] = [];
    const blocks = dispatch.bindings.map(({ offset, length }, binding) => {
      const size = Number(length) - Number(offset ?? 0n);
      const isMapped = size > LARGEST_ALLOCATION;
      const region = memory.alloc(isMapped ? BLOCK : size, `binding ${binding}`);
      owned.push(region.base);
      fill(binding, region.bytes);
      if (!isMapped) return { region, address: region.base };
      const address = MAPPED + binding * MAPPED_STEP;
      for (let at = 0; at < size; at += BLOCK) {
        memory.map(address + at, Math.min(BLOCK, size - at), region.base, true);
        owned.push(address + at);
      }
      return { region, address };
    });
    try {
      const before = blocks.map(({ region }) => region.bytes.slice());
      const kernargs = new Uint8Array(kernel.kernargSize);
      const view = new DataView(kernargs.buffer);
      for (const [n, { address }] of blocks.entries()) view.setBigUint64(8 * n, BigInt(address), true);
      for (const [n, constant] of dispatch.constants.entries()) {
        view.setUint32(8 * blocks.length + 4 * n, constant ?? SCALE_NEAR_ONE, true);
      }
      const grid = limitGrid(dispatch.workgroupCount as Dim3, limit);
      const { instructions, diagnostics = [] } = await this.device.dispatch({
        kernel,
        strict,
        grid,
        block: kernel.requiredWorkgroupSize,
        kernargs,
      });
      const bindings = blocks.map(({ region }) => region.bytes.slice());
      return {
        instructions,
        diagnostics,
        workgroups: grid[0] * grid[1] * grid[2],
        bindings,
        ...difference(before, bindings),
      };
    } finally {
      for (const base of owned.reverse()) memory.free(base);
    }
  }
}

function limitGrid([x, y, z]: Dim3, limit: number): Dim3 {
  const gx = Math.min(x, limit);
  const gy = Math.min(y, Math.max(1, Math.floor(limit / gx)));
  return [gx, gy, Math.min(z, Math.max(1, Math.floor(limit / (gx * gy))))];
}

function difference(before: readonly Uint8Array[], after: readonly Uint8Array[]): { changed: number; hash: number } {
  let changed = 0;
  let hash = 2166136261;
  for (const [n, bytes] of after.entries()) {
    const old = before[n] as Uint8Array;
    for (let i = 0; i < bytes.length; i++) {
      if (bytes[i] !== old[i]) changed++;
      hash = Math.imul(hash ^ (bytes[i] as number), 16777619);
    }
  }
  return { changed, hash: hash >>> 0 };
}
