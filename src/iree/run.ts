// Running the baseline's and the modified module's kernels on the same seeded inputs, and comparing every buffer afterwards.
// Kernarg layout of IREE's HIP driver: one 8-byte pointer per binding, then the 32-bit constants.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { WavesmithError } from '../base/index.ts';
import type { Device, DeviceModule, Dim3 } from '../device/device.ts';
import { type Execution, execute, type LaunchPlan } from '../device/plan.ts';
import type { TargetName } from '../isa/types.ts';
import { readBaseline } from './build.ts';
import { type Comparison, compareBuffers, elementType, fillRandom, randomSource } from './compare.ts';
import type { BindingTensor, DispatchSite } from './dispatches.ts';
import { type CodeObjectFacts, readFacts, sameBytes, sameCode, sameKernel } from './facts.ts';
import { readWhole } from './files.ts';
import { type ManifestKernel, readManifest } from './manifest.ts';
import { type ModuleExecutable, readModule } from './module.ts';

export interface RunOptions {
  /** Opens a device for a target; each side of the comparison gets one. */
  readonly openDevice: (target: TargetName) => Promise<Device>;
  /** The modified module; default DIR/modified.vmfb. */
  readonly modified?: string | undefined;
  /** Kernel or executable names to run instead of the changed ones. */
  readonly dispatches: readonly string[];
  /** Run every kernel. */
  readonly all: boolean;
  readonly seed: number;
  /** Grid in workgroups where IREE recorded none (or to override it). */
  readonly grid?: Dim3 | undefined;
  /** Sizes and element types of bindings, by binding number. */
  readonly buffers: ReadonlyMap<number, { bytes: number | undefined; elementType: string | undefined }>;
  readonly constants: ReadonlyMap<number, number>;
  /** Fail on any different bit. */
  readonly exact: boolean;
  /** Replaces the element types' own tolerances. */
  readonly tolerance?: number | undefined;
  /** Limit of executed instructions per dispatch; the modified kernel's default is 20 times what the baseline took. */
  readonly maxInstructions?: number | undefined;
}

export interface BufferResult {
  readonly binding: number;
  readonly readOnly: boolean;
  /** Byte offset of the compared tensor in the binding. */
  readonly offset: number;
  readonly comparison: Comparison;
}

/** `failed`: the modified kernel did not finish. */
export type Verdict = 'identical' | 'within-tolerance' | 'different' | 'failed';

export interface SideResult {
  /** null on a device that does not count them. */
  readonly instructions: number | null;
  readonly wavefronts: number;
  readonly instructionsByEncoding: Readonly<Record<string, number>>;
  readonly seconds: number;
}

export interface DispatchRun {
  readonly kernel: string;
  readonly executable: string;
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly baseline: SideResult;
  readonly modified: SideResult | null;
  /** Why the modified kernel did not finish. */
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly buffers: readonly BufferResult[];
  readonly verdict: Verdict;
}

export interface RunResult {
  readonly target: string;
  readonly seed: number;
  readonly exact: boolean;
  readonly runs: readonly DispatchRun[];
  /** True when no run is `different` or `failed` (with `exact`: all are `identical`). */
  readonly ok: boolean;
}

interface Selected {
  readonly executable: string;
  readonly index: number;
  readonly kernel: ManifestKernel;
}

/** Runs what was edited (or asked for) in both modules. */
export async function run(folder: string, options: RunOptions): Promise<RunResult> {
  const manifest = readManifest(folder);
  const baseline = readModule(readBaseline(folder, manifest));
  const path = options.modified ?? join(folder, 'modified.vmfb');
  if (options.modified === undefined && !existsSync(path)) {
    throw new WavesmithError('hijack/no-modified', `There is no '${path}' to compare with.`, {
      hint: `Build it with 'wavesmith hijack build ${folder}'.`,
    });
  }
  const modified = readModule(readWhole(path, 'the modified module'));
  const known: Selected[] = manifest.executables.flatMap((entry) => {
    const executable = baseline[entry.index];
    const facts = executable === undefined ? undefined : readFacts(executable.codeObject);
    return entry.kernels.map((kernel) => {
      if (!facts?.kernels.has(kernel.name)) {
        throw new WavesmithError('hijack/bad-manifest', `The baseline module has no kernel '${kernel.name}'.`, {
          hint: 'Make the folder anew with hijack init.',
        });
      }
      return { executable: entry.name, index: entry.index, kernel };
    });
  });
  const selected = select(known, baseline, modified, options);
  const runs: DispatchRun[] = [];
  const sides = [new Side(options), new Side(options)] as const;
  try {
    for (const item of selected) {
      const before = baseline[item.index];
      const after = owner(modified, item.kernel.name, path);
      const seen = new Set<string>();
      for (const site of item.kernel.dispatches.length === 0 ? [UNKNOWN_SITE] : item.kernel.dispatches) {
        // Sites that the options make equal are run once.
        const key = JSON.stringify(placePlan(item.kernel, site, options));
        if (seen.has(key)) continue;
        seen.add(key);
        runs.push(await runOne(item, site, [before, after], sides, options));
      }
    }
  } finally {
    for (const side of sides) side.close();
  }
  const accepted: readonly Verdict[] = options.exact ? ['identical'] : ['identical', 'within-tolerance'];
  return {
    target: manifest.target,
    seed: options.seed,
    exact: options.exact,
    runs,
    ok: runs.every((r) => accepted.includes(r.verdict)),
  };
}

const UNKNOWN_SITE: DispatchSite = { grid: null, constants: [], bindings: [] };

function owner(module: readonly ModuleExecutable[], kernel: string, path: string): ModuleExecutable {
  const found = module.find((executable) => executable.kernels.some((k) => k.name === kernel));
  if (found !== undefined) return found;
  throw new WavesmithError('hijack/kernel-name', `'${path}' has no kernel '${kernel}'.`, {
    hint: 'Give the module that hijack build made from this folder.',
  });
}

function select(
  known: readonly Selected[],
  baseline: readonly ModuleExecutable[],
  modified: readonly ModuleExecutable[],
  options: RunOptions,
): Selected[] {
  if (options.all) return [...known];
  if (options.dispatches.length > 0) {
    return options.dispatches.flatMap((name) => {
      const found = known.filter((item) => item.kernel.name === name || item.executable === name);
      if (found.length > 0) return found;
      const names = known.map((item) => item.kernel.name);
      throw new WavesmithError('hijack/no-such-dispatch', `There is no kernel or executable '${name}'.`, {
        hint: `There are: ${names.slice(0, 6).join(', ')}${names.length > 6 ? `, and ${names.length - 6} more` : ''}.`,
      });
    });
  }
  const facts = new Map<ModuleExecutable, CodeObjectFacts>();
  const factsOf = (executable: ModuleExecutable): CodeObjectFacts => {
    const read = facts.get(executable) ?? readFacts(executable.codeObject);
    facts.set(executable, read);
    return read;
  };
  const differs = (item: Selected): boolean => {
    const before = baseline[item.index];
    const after = modified.find((executable) => executable.kernels.some((k) => k.name === item.kernel.name));
    if (after === undefined || sameBytes(after.codeObject, before.codeObject)) return false;
    const [a, b] = [before, after].map((executable) => factsOf(executable).kernels.get(item.kernel.name));
    return a === undefined || b === undefined || !sameKernel(a, b);
  };
  const changed = new Set(known.filter(differs));
  return known.filter((item) => {
    if (changed.has(item)) return true;
    const after = modified.find((executable) => executable.kernels.some((k) => k.name === item.kernel.name));
    const before = baseline[item.index];
    if (after === undefined || sameBytes(after.codeObject, before.codeObject)) return false;
    // A change outside every kernel (shared functions or data) may reach all of them.
    return (
      !known.some((other) => other.index === item.index && changed.has(other)) &&
      !sameCode(factsOf(before), factsOf(after))
    );
  });
}

interface PlannedBinding {
  readonly binding: number;
  readonly readOnly: boolean;
  readonly bytes: number;
  /** Which allocation, and where in it. */
  readonly allocation: number;
  readonly offset: number;
  readonly tensors: readonly { offset: number; bytes: number; elementType: string }[];
}

interface Plan {
  readonly launch: LaunchPlan;
  readonly bindings: readonly PlannedBinding[];
}

/** A modified kernel may execute this many instructions in any case: an edited small kernel may well be slower. */
const LEAST_LIMIT = 200_000;

async function runOne(
  item: Selected,
  site: DispatchSite,
  [before, after]: readonly [ModuleExecutable, ModuleExecutable],
  [first, second]: readonly [Side, Side],
  options: RunOptions,
): Promise<DispatchRun> {
  const { name } = item.kernel;
  const plan = makePlan(item, site, options);
  const { grid, block } = plan.launch;
  const base = await first.run(before, name, plan.launch, options.maxInstructions);
  const baseline = sideResult(base);
  const common = { kernel: name, executable: item.executable, grid, block };
  let edited: Execution;
  try {
    const most = options.maxInstructions ?? Math.max(LEAST_LIMIT, 20 * (baseline.instructions ?? 0));
    edited = await second.run(after, name, plan.launch, most);
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    const failure = { code: error.code, message: error.format() };
    return { ...common, baseline, modified: null, error: failure, buffers: [], verdict: 'failed' };
  }
  const buffers = plan.bindings.flatMap((binding) =>
    binding.tensors.map((tensor): BufferResult => {
      const from = binding.offset + tensor.offset;
      const [a, b] = [base, edited].map((l) => l.contents[binding.allocation].subarray(from, from + tensor.bytes));
      return {
        binding: binding.binding,
        readOnly: binding.readOnly,
        offset: tensor.offset,
        comparison: compareBuffers(a, b, tensor.elementType, options.tolerance),
      };
    }),
  );
  const verdict: Verdict = buffers.some((b) => b.comparison.outside > 0)
    ? 'different'
    : buffers.some((b) => b.comparison.different > 0)
      ? 'within-tolerance'
      : 'identical';
  return { ...common, baseline, modified: sideResult(edited), error: null, buffers, verdict };
}

/** A plan without contents: where everything is, and what is passed. */
interface PlacedPlan {
  readonly grid: Dim3;
  readonly constants: readonly number[];
  readonly sizes: readonly number[];
  readonly starts: readonly { readonly allocation: number; readonly offset: number }[];
  readonly spans: readonly number[];
}

function placePlan(kernel: ManifestKernel, site: DispatchSite, options: RunOptions): PlacedPlan {
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
  return { grid, constants, sizes, ...placeBindings(site, sizes) };
}

function makePlan(item: Selected, site: DispatchSite, options: RunOptions): Plan {
  const { kernel } = item;
  const { grid, constants, sizes, starts, spans } = placePlan(kernel, site, options);
  const total = spans.reduce((sum, size) => sum + size, 0);
  if (!(total <= MOST_BYTES)) {
    throw new WavesmithError(
      'hijack/too-large',
      `The buffers of kernel '${kernel.name}' are ${total} bytes together; the limit is ${MOST_BYTES}.`,
      { hint: 'Compile the model with smaller shapes, or give smaller sizes with --buffer N=BYTES.' },
    );
  }
  const allocations = spans.map((size) => new Uint8Array(size));
  const random = randomSource(options.seed);
  const bindings = kernel.bindings.map((binding, i): PlannedBinding => {
    const { allocation, offset } = starts[i];
    const tensors = tensorsOf(kernel, i, sizes[i], options);
    for (const tensor of tensors) {
      const at = offset + tensor.offset;
      fillRandom(allocations[allocation].subarray(at, at + tensor.bytes), tensor.elementType, random);
    }
    return { binding: i, readOnly: binding.readOnly, bytes: sizes[i], allocation, offset, tensors };
  });
  return {
    bindings,
    launch: {
      grid,
      block: kernel.workgroupSize,
      allocations: allocations.map((bytes, i) => ({ label: allocationLabel(bindings, i), bytes })),
      arguments: [
        ...bindings.map(({ allocation, offset }) => ({ kind: 'binding', allocation, offset }) as const),
        ...constants.map(
          (value) => ({ kind: 'value', value: new Uint8Array(new Uint32Array([value]).buffer) }) as const,
        ),
      ],
    },
  };
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

/** All buffers of a dispatch together; host and device hold several copies. */
const MOST_BYTES = 2 ** 29;

function bindingSize(kernel: ManifestKernel, site: DispatchSite, binding: number, options: RunOptions): number {
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
  return count * elementType(tensor.elementType).bytes;
}

/** What a binding holds: its tensors where they are known to lie inside it, else the whole of it as one element type. */
function tensorsOf(
  kernel: ManifestKernel,
  binding: number,
  size: number,
  options: RunOptions,
): { offset: number; bytes: number; elementType: string }[] {
  const recorded = kernel.bindings[binding].tensors;
  const asked = options.buffers.get(binding)?.elementType;
  const whole = (type: string) => [{ offset: 0, bytes: size, elementType: type }];
  if (asked !== undefined) return whole(asked);
  if (recorded.length === 0) {
    throw new WavesmithError(
      'hijack/no-type',
      `The element type of binding ${binding} of kernel '${kernel.name}' is not recorded.`,
      { hint: `Give --buffer ${binding}=TYPE, for example --buffer ${binding}=f16 (${size} bytes).` },
    );
  }
  const placed = recorded.map((tensor) => ({
    offset: tensor.offset,
    bytes: tensorBytes(tensor),
    elementType: tensor.elementType,
  }));
  const fits = placed.every((t) => t.offset !== null && t.bytes !== null && t.offset + t.bytes <= size);
  if (!fits) return whole(recorded[0].elementType);
  return placed.map((t) => ({ offset: t.offset ?? 0, bytes: t.bytes ?? 0, elementType: t.elementType }));
}

/** One side of the comparison: its device, opened for the first launch, and its code objects, loaded once each. */
class Side {
  private readonly options: RunOptions;
  private readonly devices = new Map<TargetName, Device>();
  private readonly modules = new Map<ModuleExecutable, { readonly device: Device; readonly module: DeviceModule }>();

  constructor(options: RunOptions) {
    this.options = options;
  }

  async run(
    executable: ModuleExecutable,
    kernel: string,
    plan: LaunchPlan,
    maxInstructions: number | undefined,
  ): Promise<Execution> {
    const { device, module } = this.modules.get(executable) ?? (await this.load(executable));
    return execute(device, module.kernel(kernel), plan, { fields: { maxInstructions } });
  }

  private async load(
    executable: ModuleExecutable,
  ): Promise<{ readonly device: Device; readonly module: DeviceModule }> {
    const { targetName } = readFacts(executable.codeObject);
    const device = this.devices.get(targetName) ?? (await this.options.openDevice(targetName));
    this.devices.set(targetName, device);
    const loaded = { device, module: device.load(executable.codeObject) };
    this.modules.set(executable, loaded);
    return loaded;
  }

  close(): void {
    for (const device of this.devices.values()) device.close();
  }
}

function sideResult({ dispatch, seconds }: Execution): SideResult {
  const { instructions = null, wavefronts, instructionsByEncoding = {} } = dispatch;
  return { instructions, wavefronts, instructionsByEncoding, seconds };
}

function allocationLabel(bindings: readonly PlannedBinding[], allocation: number): string {
  const users = bindings.filter((b) => b.allocation === allocation).map((b) => b.binding);
  return users.length === 1 ? `binding ${users[0]}` : `bindings ${users.join(', ')}`;
}
