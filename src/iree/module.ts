// An IREE module as the hijack loop sees it: code objects with the kernels the host program launches from each.
// An executable may hold several images (linked modules with more than one ELF); every image is one entry here.
import { WavesmithError } from '../base/index.ts';
import { ElfMachine, readElf } from '../codeobject/elf/read.ts';
import { readDispatches } from '../codeobject/vmfb/dispatch.ts';
import type { ExecutableImage } from '../codeobject/vmfb/executable.ts';
import { patchExecutables } from '../codeobject/vmfb/patch.ts';
import { isVmfb, readVmfb, type Vmfb, type VmfbExecutable } from '../codeobject/vmfb/vmfb.ts';
import type { DispatchSite } from './dispatches.ts';
import { readFacts } from './facts.ts';

/** Bit 0 of a binding's flags in IREE's executable definitions. */
const READ_ONLY = 1;

export interface ModuleKernel {
  readonly name: string;
  /** Work-items per workgroup as the host program launches it. */
  readonly workgroupSize: readonly [number, number, number];
  /** 32-bit constants after the binding pointers. */
  readonly constants: number;
  readonly bindings: readonly { readonly readOnly: boolean }[];
}

export interface ModuleExecutable {
  /** Position in the list of all images of the module. */
  readonly index: number;
  /** The executable's symbol where the module keeps it (`matmul_dispatch_0`), else undefined. */
  readonly name: string | undefined;
  /** `HIP1`, `AMD1` or `ELF`. */
  readonly format: string;
  readonly codeObject: Uint8Array;
  /** Where it is: executable and image within that. */
  readonly place: { readonly executable: number; readonly image: number };
  readonly kernels: readonly ModuleKernel[];
}

/** A module, read once. */
export interface IreeModule {
  readonly vmfb: Vmfb;
  /** Its AMDGPU code objects, in the module's order. */
  readonly executables: readonly ModuleExecutable[];
}

/** True when the bytes are an IREE module. */
export function isModule(bytes: Uint8Array): boolean {
  return isVmfb(bytes);
}

/** Reads a module; errors are those of `readVmfb`, and `elf/…` for code that is none. */
export function readModule(bytes: Uint8Array): IreeModule {
  const vmfb = readVmfb(bytes);
  const modules: ModuleExecutable[] = [];
  for (const executable of vmfb.executables) {
    for (const [i, image] of executable.images.entries()) {
      // A raw ELF may be CPU code: modules can be compiled for several devices.
      if (executable.format === 'ELF' && readElf(image.bytes).header.machine !== ElfMachine.AMDGPU) continue;
      const single = executable.images.length === 1;
      const name = /^(.*)_rocm_hsaco_fb$/.exec(executable.name)?.[1];
      modules.push({
        index: modules.length,
        name: name === undefined || single ? name : `${name}_${i}`,
        format: executable.format,
        codeObject: image.bytes,
        place: { executable: executable.index, image: i },
        kernels: executable.format === 'ELF' ? kernelsOfImage(image) : kernelsOfExports(executable, i),
      });
    }
  }
  return { vmfb, executables: modules };
}

function kernelsOfExports(executable: VmfbExecutable, image: number): ModuleKernel[] {
  return executable.exports
    .filter((e) => e.image === image)
    .map((e) => ({
      name: e.kernelName,
      workgroupSize: e.workgroupSize,
      constants: e.constantCount,
      bindings: e.bindingFlags.map((flags) => ({ readOnly: (flags & READ_ONLY) !== 0 })),
    }));
}

/** A raw ELF has no export table: what the kernels need is in their metadata. */
function kernelsOfImage(image: ExecutableImage): ModuleKernel[] {
  return [...readFacts(image.bytes).kernels.values()].flatMap(({ name, metadata }) => {
    if (metadata === undefined) return [];
    const args = metadata.args.filter((a) => !a.valueKind.startsWith('hidden_'));
    const pointers = args.filter((a) => a.valueKind === 'global_buffer');
    return {
      name,
      workgroupSize: metadata.reqdWorkgroupSize ?? [metadata.maxFlatWorkgroupSize, 1, 1],
      constants: args.length - pointers.length,
      bindings: pointers.map((a) => ({ readOnly: a.actualAccess === 'read_only' || a.access === 'read_only' })),
    };
  });
}

/**
 * Every distinct dispatch by kernel name, from the host program's bytecode. Throws `vmfb/bytecode-version` for a module of an
 * IREE release whose bytecode is not known.
 */
export function readModuleDispatches({ vmfb }: IreeModule): Map<string, DispatchSite[]> {
  const sites = new Map<string, Map<string, DispatchSite>>();
  for (const dispatch of readDispatches(vmfb)) {
    if (dispatch.kernelName === null) continue;
    const [x, y, z] = dispatch.workgroupCount;
    const site: DispatchSite = {
      grid: x === null || y === null || z === null ? null : [x, y, z],
      constants: dispatch.constants,
      bindings: dispatch.bindings.map(({ slot, offset, length }, i) => ({
        // A buffer that is no slot of the binding table has no name here: it counts as one of its own.
        buffer: slot === null ? `binding ${i}` : `slot ${slot}`,
        offset: slot === null || offset === null ? null : Number(offset),
        length: length === null ? null : Number(length),
      })),
    };
    const known = sites.get(dispatch.kernelName) ?? new Map<string, DispatchSite>();
    known.set(JSON.stringify(site), site);
    sites.set(dispatch.kernelName, known);
  }
  return new Map([...sites].map(([name, known]) => [name, [...known.values()]]));
}

/** The module with some code objects replaced; everything else keeps its bytes and place. */
export function replaceCode(
  { vmfb, executables }: IreeModule,
  changes: readonly { readonly index: number; readonly codeObject: Uint8Array }[],
): Uint8Array {
  return patchExecutables(
    vmfb,
    changes.map(({ index, codeObject }) => {
      const place = executables[index]?.place;
      if (place === undefined)
        throw new WavesmithError('hijack/bad-manifest', `The module has no code object ${index}.`);
      return { ...place, elf: codeObject };
    }),
  ).bytes;
}
