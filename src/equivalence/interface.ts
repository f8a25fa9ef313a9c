// What must be equal before code is compared: arguments, the registers a kernel starts with, what the runtime reads in the metadata.
import { descriptorRegisters, type Kernel, type KernelDescriptor, type KernelMetadata } from '../codeobject/index.ts';
import type { TargetInfo } from '../isa/index.ts';

/** Work-items of a workgroup at most. */
const MOST_WORK_ITEMS = 1024;
/** Fields that say what the dispatcher puts into registers, and how floating point begins. */
const LAUNCH_FIELDS = ['rsrc2', 'properties', 'preload'] as const;
const MODE_FIELDS = [
  'floatRoundMode32',
  'floatRoundMode16_64',
  'floatDenormMode32',
  'floatDenormMode16_64',
  'enableDx10Clamp',
  'enableIeeeMode',
  'fp16Ovfl',
] as const;
/** Granulated sizes and trap enables change no value. */
const SIZES = new Set(['granulatedLdsSize', 'enableTrapHandler', 'reserved', 'reserved0', 'reserved1']);

/** What the runtime reserves or allows by the metadata; an edited kernel must not get or allow less. */
const SHRINKING = [
  'kernargSegmentSize',
  'kernargSegmentAlign',
  'maxFlatWorkgroupSize',
] as const satisfies readonly (keyof KernelMetadata)[];

/** By what, when and how a runtime launches a kernel. `.kind` tells those that run when the file is loaded or unloaded. */
const launchText = ({ symbol, raw, wavefrontSize, uniformWorkGroupSize = 0 }: KernelMetadata): string =>
  `${symbol}, ${raw.get('.kind') ?? 'normal'}, wave${wavefrontSize}, uniform=${uniformWorkGroupSize}`;

const STB_LOCAL = 0;
/** Visibilities that other files see: default and protected. */
const VISIBLE: ReadonlySet<number> = new Set([0, 3]);

/** Whether a runtime finds the kernel by name. */
const isExported = ({ descriptorSymbol }: Kernel): boolean =>
  descriptorSymbol !== undefined && descriptorSymbol.binding !== STB_LOCAL && VISIBLE.has(descriptorSymbol.visibility);

/** Whether two kernels are given as many registers and as much LDS. */
export function hasSameAllocation(x: KernelDescriptor, y: KernelDescriptor): boolean {
  const sizes = ({ rsrc1, rsrc3, groupSegmentFixedSize }: KernelDescriptor): string =>
    JSON.stringify([
      rsrc1.granulatedWorkitemVgprCount,
      rsrc1.granulatedWavefrontSgprCount,
      rsrc3.accumOffset,
      groupSegmentFixedSize,
    ]);
  return sizes(x) === sizes(y);
}

/** The most work-items that a workgroup may have by the metadata and by the registers of a compute unit. */
function largestWorkgroup({ descriptor, metadata }: Kernel, info: TargetInfo): number {
  const { vgprGranule, vgprTotal, maxWavesPerSimd, simdsPerCu, wavefrontSize } = info;
  const vgprs = descriptorRegisters(descriptor as KernelDescriptor).totalVgprs;
  const granules = Math.max(1, Math.ceil(vgprs / vgprGranule)) * vgprGranule;
  const waves = Math.min(Math.floor(vgprTotal / granules), maxWavesPerSimd) * simdsPerCu;
  return Math.min(metadata?.maxFlatWorkgroupSize ?? MOST_WORK_ITEMS, MOST_WORK_ITEMS, waves * wavefrontSize);
}

/** What the runtime reserves for a workgroup and a work-item by the metadata. */
const MEMORY = [
  'groupSegmentFixedSize',
  'privateSegmentFixedSize',
] as const satisfies readonly (keyof KernelMetadata)[];

/** The first difference that makes two kernels different to their caller, as a sentence's end; undefined: there is none. */
export function interfaceDifference(a: Kernel, b: Kernel, info: TargetInfo): string | undefined {
  return callDifference(a, b, info) ?? shrinkage(a, b);
}

/** The same without what the edited kernel may have less of when it needs less: LDS and scratch. */
export function callDifference(a: Kernel, b: Kernel, info: TargetInfo): string | undefined {
  const [x, y] = [a.descriptor, b.descriptor];
  if (x === undefined || y === undefined) return 'a kernel has no descriptor';
  if (isExported(a) && !isExported(b)) return 'the loader does not find the edited kernel: its symbol is not exported';
  const [most, fewer] = [largestWorkgroup(a, info), largestWorkgroup(b, info)];
  if (fewer < most) return `workgroups may have ${most} and only ${fewer} work-items with so many registers`;
  return descriptorDifference(x, y) ?? metadataDifference(a, b);
}

/**
 * The same for kernels that a compiler made of sources: it chooses the registers to start with, and which hidden arguments it asks for. `workgroup`: no
 * launch has more work-items in a workgroup. `block`: workgroups of the edited kernel are of that size, whatever the baseline's are.
 */
export function rebuiltDifference(
  a: Kernel,
  b: Kernel,
  info: TargetInfo,
  workgroup = Number.POSITIVE_INFINITY,
  block?: readonly number[],
): string | undefined {
  const [x, y] = [a.descriptor, b.descriptor];
  if (x === undefined || y === undefined) return 'a kernel has no descriptor';
  if (isExported(a) && !isExported(b)) return 'the loader does not find the edited kernel: its symbol is not exported';
  const [most, fewer] = [
    block === undefined ? largestWorkgroup(a, info) : block.reduce((x, y) => x * y, 1),
    largestWorkgroup(b, info),
  ];
  if (fewer < Math.min(most, workgroup))
    return `workgroups may have ${most} and only ${fewer} work-items with so many registers`;
  const mode = modeDifference(x, y) ?? exceptionDifference(x, y);
  if (mode !== undefined) return mode;
  const [was, is] = [a, b].map((k) => argumentShapes(k)) as [ArgumentShapes, ArgumentShapes];
  if (JSON.stringify(was.given) !== JSON.stringify(is.given)) return 'the metadata describe different arguments';
  const hidden = is.hidden.find((shape) => !was.hidden.includes(shape));
  if (hidden !== undefined)
    return `the edited kernel asks for a hidden argument that the baseline does not have, ${hidden}`;
  const required = block === undefined ? a.metadata?.reqdWorkgroupSize : b.metadata?.reqdWorkgroupSize && block;
  if (JSON.stringify(required) !== JSON.stringify(b.metadata?.reqdWorkgroupSize)) {
    return 'the metadata require different workgroup sizes';
  }
  return undefined;
}

/** Arguments that the host gives, and those that the runtime adds. */
interface ArgumentShapes {
  readonly given: readonly string[];
  readonly hidden: readonly string[];
}

function argumentShapes({ metadata }: Kernel): ArgumentShapes {
  const shapes = (metadata?.args ?? []).map(({ offset, size, valueKind, addressSpace }) => ({
    isHidden: valueKind.startsWith('hidden_'),
    text: `${valueKind} of ${size} bytes at ${offset}${addressSpace === undefined ? '' : ` (${addressSpace})`}`,
  }));
  return {
    given: shapes.filter((s) => !s.isHidden).map((s) => s.text),
    hidden: shapes.filter((s) => s.isHidden).map((s) => s.text),
  };
}

function shrinkage({ descriptor: x, metadata: m }: Kernel, { descriptor: y, metadata: n }: Kernel): string | undefined {
  if (x === undefined || y === undefined) return undefined;
  if (y.groupSegmentFixedSize < x.groupSegmentFixedSize)
    return `LDS shrinks from ${x.groupSegmentFixedSize} to ${y.groupSegmentFixedSize} bytes`;
  if (y.privateSegmentFixedSize < x.privateSegmentFixedSize) {
    return `scratch shrinks from ${x.privateSegmentFixedSize} to ${y.privateSegmentFixedSize} bytes`;
  }
  if (m === undefined || n === undefined) return undefined;
  const shrunk = MEMORY.find((name) => n[name] < m[name]);
  return shrunk === undefined ? undefined : `the metadata's ${shrunk} shrinks from ${m[shrunk]} to ${n[shrunk]}`;
}

function descriptorDifference(x: KernelDescriptor, y: KernelDescriptor): string | undefined {
  for (const word of LAUNCH_FIELDS) {
    const [p, q] = [x[word], y[word]] as unknown as readonly [Record<string, number>, Record<string, number>];
    for (const name of Object.keys(p)) {
      if (!SIZES.has(name) && p[name] !== q[name]) return `descriptor field ${name} is ${p[name]} and ${q[name]}`;
    }
  }
  const mode = modeDifference(x, y);
  if (mode !== undefined) return mode;
  if (y.kernargSize !== x.kernargSize) return `the kernarg segment has ${x.kernargSize} and ${y.kernargSize} bytes`;
  return undefined;
}

/** Which exceptions end a wavefront. */
function exceptionDifference({ rsrc2: x }: KernelDescriptor, { rsrc2: y }: KernelDescriptor): string | undefined {
  const names = (Object.keys(x) as (keyof typeof x)[]).filter((name) => name.startsWith('enableException'));
  const name = names.find((n) => x[n] !== y[n]);
  return name === undefined ? undefined : `descriptor field ${name} is ${x[name]} and ${y[name]}`;
}

/** How floating point begins, and whether workgroups are split. */
function modeDifference(x: KernelDescriptor, y: KernelDescriptor): string | undefined {
  for (const name of MODE_FIELDS) {
    if (x.rsrc1[name] !== y.rsrc1[name]) return `descriptor field ${name} is ${x.rsrc1[name]} and ${y.rsrc1[name]}`;
  }
  return x.rsrc3.tgSplit === y.rsrc3.tgSplit ? undefined : 'one of the kernels runs with split workgroups (tg_split)';
}

function metadataDifference(a: Kernel, b: Kernel): string | undefined {
  const [x, y] = [a.metadata, b.metadata];
  if (x !== undefined && y !== undefined) {
    const shrunk = SHRINKING.find((name) => y[name] < x[name]);
    if (shrunk !== undefined) return `the metadata's ${shrunk} shrinks from ${x[shrunk]} to ${y[shrunk]}`;
    if (launchText(x) !== launchText(y)) return `the metadata say ${launchText(x)} and ${launchText(y)}`;
  }
  const shape = (k: Kernel): string =>
    JSON.stringify(
      k.metadata?.args.map((arg) => [arg.offset, arg.size, arg.valueKind, arg.addressSpace, arg.pointeeAlign]),
    );
  if (shape(a) !== shape(b)) return 'the metadata describe different arguments';
  if (JSON.stringify(a.metadata?.reqdWorkgroupSize) !== JSON.stringify(b.metadata?.reqdWorkgroupSize)) {
    return 'the metadata require different workgroup sizes';
  }
  return undefined;
}
