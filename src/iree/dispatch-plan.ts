// How one recorded dispatch is run by itself: which allocations, what lies in them, and the launch.
// Kernarg layout of IREE's HIP driver: one 8-byte pointer per binding, then the 32-bit constants.
import {
  bytesOfElements,
  type ElementType,
  findElementType,
  KNOWN_TYPES,
  type Pattern,
  WavesmithError,
} from '../base/index.ts';
import type { Dim3 } from '../device/device.ts';
import type { LaunchPlan } from '../device/plan.ts';
import { type Allocation, gapsOf, makeContents, type TensorPlace } from '../verdict/index.ts';
import type { BindingTensor, DispatchSite } from './dispatches.ts';
import type { ManifestKernel } from './manifest.ts';

/** What a plan is made with where IREE recorded nothing, or instead of it. */
export interface PlanOptions {
  /** Grid in workgroups. */
  readonly grid?: Dim3 | undefined;
  /** Sizes and element types of bindings, by binding number. */
  readonly buffers: ReadonlyMap<number, { bytes: number | undefined; elementType: string | undefined }>;
  readonly constants: ReadonlyMap<number, number>;
}

/** Where a binding lies. Its tensors are those from `firstTensor` on in the list of its allocation. */
export interface PlannedBinding {
  readonly binding: number;
  readonly readOnly: boolean;
  readonly bytes: number;
  readonly allocation: number;
  readonly offset: number;
  readonly firstTensor: number;
  readonly tensors: readonly TensorPlace[];
}

/** A dispatch with memory of its own. */
export interface DispatchPlan {
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly bindings: readonly PlannedBinding[];
  readonly allocations: readonly Allocation[];
  readonly constants: readonly number[];
}

/** An element type that a record or the command line names; an unknown one is `hijack/element-type`. */
export function hijackElement(name: string): ElementType {
  const type = findElementType(name);
  if (type !== undefined) return type;
  throw new WavesmithError('hijack/element-type', `There is no element type '${name}'.`, { hint: KNOWN_TYPES });
}

/** All buffers of a dispatch together; host and device hold several copies. */
const MOST_BYTES = 2 ** 29;

/** Plans a dispatch; what is neither recorded nor given is `hijack/no-grid`, `no-constant`, `no-size` or `no-type`. */
export function planDispatch(kernel: ManifestKernel, site: DispatchSite, options: PlanOptions): DispatchPlan {
  const grid = options.grid ?? site.grid;
  if (grid === null) {
    throw new WavesmithError('hijack/no-grid', `The grid of kernel '${kernel.name}' is not recorded.`, {
      hint: 'It depends on run-time shapes, or the module does not tell: give --grid X,Y,Z (workgroups).',
    });
  }
  const constants = Array.from({ length: kernel.constants }, (_, i) => {
    const value = options.constants.get(i) ?? site.constants[i] ?? null;
    if (value !== null) return value;
    throw new WavesmithError('hijack/no-constant', `Constant ${i} of kernel '${kernel.name}' is not recorded.`, {
      hint: `Give --constant ${i}=VALUE (a 32-bit integer).`,
    });
  });
  const sizes = kernel.bindings.map((_, i) => bindingSize(kernel, site, i, options));
  const { starts, spans } = placeBindings(site, sizes);
  const total = spans.reduce((sum, size) => sum + size, 0);
  if (!(total <= MOST_BYTES)) {
    throw new WavesmithError(
      'hijack/too-large',
      `The buffers of kernel '${kernel.name}' are ${total} bytes together; the limit is ${MOST_BYTES}.`,
      { hint: 'Compile the model with smaller shapes, or give smaller sizes with --buffer N=BYTES.' },
    );
  }
  const placed: TensorPlace[][] = spans.map(() => []);
  const bindings = kernel.bindings.map(({ readOnly }, i): PlannedBinding => {
    const { allocation, offset } = starts[i];
    const tensors = tensorsOf(kernel, i, sizes[i], options).map((t) => ({ ...t, offset: offset + t.offset }));
    const firstTensor = placed[allocation].length;
    placed[allocation].push(...tensors);
    return { binding: i, readOnly, bytes: sizes[i], allocation, offset, firstTensor, tensors };
  });
  const allocations = spans.map((bytes, n) => ({ bytes, tensors: placed[n] }));
  return { grid, block: kernel.workgroupSize, bindings, allocations, constants };
}

/** The launch of a plan with memory made by `makeContents`. Under the pattern `zeros` the host writes tensors only. */
export function launchOf(plan: DispatchPlan, seed: number, pattern: Pattern): LaunchPlan {
  const { grid, block, bindings, constants } = plan;
  const contents = makeContents(plan.allocations, seed, pattern);
  return {
    grid,
    block,
    allocations: plan.allocations.map((allocation, n) => ({
      label: labelOf(bindings, n),
      bytes: contents[n],
      untouched: pattern === 'zeros' ? gapsOf(allocation, (tensor) => tensor.access !== 'write') : [],
    })),
    arguments: [
      ...bindings.map(({ allocation, offset }) => ({ kind: 'binding', allocation, offset }) as const),
      ...constants.map((value) => ({ kind: 'value', value: new Uint8Array(new Uint32Array([value]).buffer) }) as const),
    ],
  };
}

/** The bindings that lie in an allocation. */
export function labelOf(bindings: readonly PlannedBinding[], allocation: number): string {
  const users = bindings.filter((b) => b.allocation === allocation).map((b) => b.binding);
  return users.length === 1 ? `binding ${users[0]}` : `bindings ${users.join(', ')}`;
}

/** Bindings that overlap in one underlying buffer share an allocation; all others get their own, so faults are seen. */
function placeBindings(
  site: DispatchSite,
  sizes: readonly number[],
): { starts: { allocation: number; offset: number }[]; spans: number[] } {
  const starts: { allocation: number; offset: number }[] = [];
  const spans: number[] = [];
  const placed: { binding: number; buffer: string; from: number; to: number }[] = [];
  for (const [i, size] of sizes.entries()) {
    const range = site.bindings[i];
    const from = range?.offset ?? null;
    const shared =
      range === undefined || from === null
        ? undefined
        : placed.find((p) => p.buffer === range.buffer && from < p.to && p.from < from + size);
    if (shared === undefined || from === null || range === undefined || from < shared.from) {
      starts.push({ allocation: spans.length, offset: 0 });
      spans.push(size);
    } else {
      const { allocation, offset } = starts[shared.binding];
      const start = offset + from - shared.from;
      starts.push({ allocation, offset: start });
      spans[allocation] = Math.max(spans[allocation], start + size);
    }
    if (range !== undefined && from !== null) placed.push({ binding: i, buffer: range.buffer, from, to: from + size });
  }
  return { starts, spans };
}

function bindingSize(kernel: ManifestKernel, site: DispatchSite, binding: number, options: PlanOptions): number {
  const given = options.buffers.get(binding)?.bytes;
  const derived = given ?? site.bindings[binding]?.length ?? extentOf(kernel.bindings[binding].tensors);
  if (derived !== null) return derived;
  throw new WavesmithError(
    'hijack/no-size',
    `The size of binding ${binding} of kernel '${kernel.name}' is not recorded.`,
    { hint: `Give --buffer ${binding}=BYTES:TYPE, for example --buffer ${binding}=16384:f32.` },
  );
}

/** Bytes that statically shaped tensors at known offsets span, else null. */
function extentOf(tensors: readonly BindingTensor[]): number | null {
  let extent: number | null = null;
  for (const tensor of tensors) {
    const bytes = tensorBytes(tensor);
    if (bytes === null || tensor.offset === null) return null;
    extent = Math.max(extent ?? 0, tensor.offset + bytes);
  }
  return extent;
}

function tensorBytes(tensor: BindingTensor): number | null {
  let count = 1;
  for (const dimension of tensor.shape) {
    if (dimension === null) return null;
    count *= dimension;
  }
  return bytesOfElements(hijackElement(tensor.elementType), count);
}

/** What a binding holds: its tensors where they are known to lie inside it, else the whole of it as one element type. */
function tensorsOf(kernel: ManifestKernel, binding: number, size: number, options: PlanOptions): TensorPlace[] {
  const { tensors: recorded, readOnly } = kernel.bindings[binding];
  const asked = options.buffers.get(binding)?.elementType;
  // A binding that may be written and of which no more is known may hold data, too.
  const whole = (type: string): TensorPlace[] => {
    hijackElement(type);
    return [{ offset: 0, bytes: size, elementType: type, access: readOnly ? 'read' : 'unknown' }];
  };
  if (asked !== undefined) return whole(asked);
  if (recorded.length === 0) {
    throw new WavesmithError(
      'hijack/no-type',
      `The element type of binding ${binding} of kernel '${kernel.name}' is not recorded.`,
      { hint: `Give --buffer ${binding}=TYPE, for example --buffer ${binding}=f16 (${size} bytes).` },
    );
  }
  const placed: TensorPlace[] = [];
  for (const { offset, elementType, shape, access } of recorded) {
    const bytes = tensorBytes({ offset, elementType, shape, access });
    if (offset === null || bytes === null || offset + bytes > size) return whole(recorded[0].elementType);
    placed.push({ offset, bytes, elementType, shape, access: readOnly ? 'read' : access });
  }
  return placed;
}
