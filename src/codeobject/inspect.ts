// What `inspect` reports and what `extract` writes, as plain data made from an opened container.
import { WavesmithError } from '../base/index.ts';
import type { CodeObject, Kernel } from './code-object.ts';
import { type Container, codeObjectsOf, openContainer } from './container.ts';
import { formatProcessorAndFeatures } from './elf/target-id.ts';
import { descriptorRegisters } from './kernel/descriptor.ts';
import { kernelOccupancy, type Occupancy } from './kernel/occupancy.ts';
import { readDispatches, type VmfbDispatch } from './vmfb/dispatch.ts';
import type { ExecutableExport } from './vmfb/executable.ts';

export interface ContainerReport {
  readonly kind: string;
  readonly name: string;
  readonly detail: string;
  readonly size: number;
  readonly children: readonly ContainerReport[];
}

export interface ArgumentReport {
  readonly name: string | undefined;
  readonly typeName: string | undefined;
  readonly kind: string;
  readonly addressSpace: string | undefined;
  readonly offset: number;
  readonly size: number;
}

export interface KernelReport {
  readonly name: string;
  readonly entry: number | undefined;
  readonly codeSize: number;
  /** Counts from the metadata. */
  readonly vgprCount: number | undefined;
  readonly agprCount: number | undefined;
  readonly sgprCount: number | undefined;
  readonly vgprSpillCount: number | undefined;
  readonly sgprSpillCount: number | undefined;
  /** Allocation by the descriptor: VGPRs below accum_offset, AGPRs from there on, SGPRs. */
  readonly allocated: { readonly vgprs: number; readonly agprs: number; readonly sgprs: number } | undefined;
  readonly ldsBytes: number;
  readonly scratchBytes: number;
  readonly usesDynamicStack: boolean;
  readonly kernargBytes: number;
  readonly kernargAlign: number | undefined;
  /** Dwords of the kernarg segment that arrive in SGPRs. */
  readonly kernargPreload: { readonly length: number; readonly offset: number };
  readonly requiredWorkgroupSize: readonly [number, number, number] | undefined;
  readonly maxWorkgroupSize: number | undefined;
  readonly wavefrontSize: number;
  readonly arguments: readonly ArgumentReport[];
  readonly occupancy: Occupancy | undefined;
  /** Launch facts that an IREE module keeps beside the code. */
  readonly iree: ExecutableExport | undefined;
}

export interface CodeObjectReport {
  readonly path: readonly string[];
  readonly targetId: string;
  readonly codeObjectVersion: number | undefined;
  readonly relocatable: boolean;
  readonly size: number;
  readonly textSize: number;
  readonly metadataTarget: string | undefined;
  readonly kernels: readonly KernelReport[];
}

export interface InspectReport {
  readonly container: ContainerReport;
  readonly codeObjects: readonly CodeObjectReport[];
  /** The dispatches of an IREE module's host program; empty for other files. */
  readonly dispatches: readonly VmfbDispatch[];
  /** Why the host program could not be read, if so. */
  readonly dispatchesError: string | undefined;
}

/** Opens a file and reports everything, the grids in an IREE module's host program included. */
export function inspectFile(bytes: Uint8Array, name: string): InspectReport {
  const container = openContainer(bytes, name);
  const report = inspectContainer(container);
  if (container.module === undefined) return report;
  try {
    return { ...report, dispatches: readDispatches(container.module) };
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    return { ...report, dispatchesError: error.message };
  }
}

/** What an opened container holds, as data. */
export function inspectContainer(container: Container): InspectReport {
  const exports = new Map<CodeObject, readonly ExecutableExport[]>();
  const walk = (node: Container) => {
    for (const child of node.children) {
      if (child.codeObject !== undefined) exports.set(child.codeObject, node.exports);
      walk(child);
    }
  };
  walk(container);
  return {
    container: reportOf(container),
    codeObjects: codeObjectsOf(container).map((object) => inspectCodeObject(object, exports.get(object) ?? [])),
    dispatches: [],
    dispatchesError: undefined,
  };
}

function reportOf({ kind, name, detail, size, children }: Container): ContainerReport {
  return { kind, name, detail, size, children: children.map(reportOf) };
}

/** The report of one code object; `exports` are IREE's launch facts where there are any. */
export function inspectCodeObject(object: CodeObject, exports: readonly ExecutableExport[] = []): CodeObjectReport {
  return {
    path: object.path,
    targetId: object.targetId,
    codeObjectVersion: object.version,
    relocatable: object.isRelocatable,
    size: object.bytes.length,
    textSize: object.elf.section('.text')?.size ?? 0,
    metadataTarget: object.metadata[0]?.target,
    kernels: object.kernels.map((kernel) => {
      const known = exports.find((e) => e.kernelName === kernel.name);
      return inspectKernel(kernel, object.target.processor, known);
    }),
  };
}

function inspectKernel(kernel: Kernel, processor: string, iree: ExecutableExport | undefined): KernelReport {
  const { metadata, descriptor } = kernel;
  const registers = descriptor && descriptorRegisters(descriptor);
  return {
    name: kernel.name,
    entry: kernel.entry,
    codeSize: kernel.codeSize,
    vgprCount: metadata?.vgprCount,
    agprCount: metadata?.agprCount,
    sgprCount: metadata?.sgprCount,
    vgprSpillCount: metadata?.vgprSpillCount,
    sgprSpillCount: metadata?.sgprSpillCount,
    allocated: registers && { vgprs: registers.vgprs, agprs: registers.agprs, sgprs: registers.sgprs },
    ldsBytes: descriptor?.groupSegmentFixedSize ?? metadata?.groupSegmentFixedSize ?? 0,
    scratchBytes: descriptor?.privateSegmentFixedSize ?? metadata?.privateSegmentFixedSize ?? 0,
    usesDynamicStack: descriptor?.properties.usesDynamicStack === 1 || metadata?.usesDynamicStack === true,
    kernargBytes: metadata?.kernargSegmentSize ?? descriptor?.kernargSize ?? 0,
    kernargAlign: metadata?.kernargSegmentAlign,
    kernargPreload: { length: descriptor?.preload.length ?? 0, offset: descriptor?.preload.offset ?? 0 },
    requiredWorkgroupSize: metadata?.reqdWorkgroupSize,
    maxWorkgroupSize: metadata?.maxFlatWorkgroupSize,
    wavefrontSize: metadata?.wavefrontSize ?? (descriptor?.properties.enableWavefrontSize32 === 1 ? 32 : 64),
    arguments: (metadata?.args ?? []).map((a) => ({
      name: a.name,
      typeName: a.typeName,
      kind: a.valueKind,
      addressSpace: a.addressSpace,
      offset: a.offset,
      size: a.size,
    })),
    occupancy: kernelOccupancy(kernel, processor),
    iree,
  };
}

/** A code object with the file name it is extracted to. */
export interface ExtractedCodeObject {
  readonly fileName: string;
  readonly bytes: Uint8Array;
  readonly path: readonly string[];
  readonly targetId: string;
  readonly kernels: readonly string[];
}

const MAX_NAME = 120;

/** Letters, digits, `.`, `_`, `+` and `-` stay; a name never starts with a dot and is never too long. */
function safeName(text: string): string {
  const name = text.replace(/[^A-Za-z0-9._+-]+/g, '_').replace(/^[.-]+/, '');
  return name.slice(0, MAX_NAME) || 'code-object';
}

/** Every code object of a container with a safe, readable, unique file name. */
export function extractCodeObjects(container: Container): ExtractedCodeObject[] {
  const taken = new Set<string>(['manifest.json']);
  return codeObjectsOf(container).map((object) => {
    const target = safeName(formatProcessorAndFeatures(object.target).replaceAll(':', '-'));
    const [file, ...inner] = object.path;
    const known = inner.filter((part) => !/^(image|bundle|\.hip_fatbin|host|hip)/.test(part));
    const stem = safeName((known.at(-1) ?? file).replace(/\.(co|hsaco|o|so|vmfb|exe)$/, ''));
    const extension = object.isRelocatable ? 'o' : 'hsaco';
    const base = stem.endsWith(target) ? stem : `${stem}.${target}`;
    let fileName = `${base}.${extension}`;
    for (let i = 2; taken.has(fileName.toLowerCase()); i++) fileName = `${base}-${i}.${extension}`;
    taken.add(fileName.toLowerCase());
    return {
      fileName,
      bytes: object.bytes,
      path: object.path,
      targetId: object.targetId,
      kernels: object.kernels.map((kernel) => kernel.name),
    };
  });
}
