// A code object: an AMDGPU ELF with its target, metadata and kernels, and where it was found.
// Source: LLVM's AMDGPUUsage, "Code Object".
import { WavesmithError } from '../base/index.ts';
import { metadataNotes } from './elf/notes.ts';
import { RelocationType } from './elf/object-model.ts';
import { type ElfFile, ElfMachine, type ElfSymbol, ElfType, readElf } from './elf/read.ts';
import { codeObjectVersion, formatTargetId, type TargetId, targetIdOfFlags } from './elf/target-id.ts';
import { decodeDescriptor, KERNEL_DESCRIPTOR_SIZE, type KernelDescriptor } from './kernel/descriptor.ts';
import { type CodeObjectMetadata, type KernelMetadata, readMetadata } from './kernel/metadata.ts';

/** A kernel of a code object. */
export interface Kernel {
  readonly name: string;
  /** Undefined when the descriptor's symbol is missing. */
  readonly descriptor: KernelDescriptor | undefined;
  readonly descriptorSymbol: ElfSymbol | undefined;
  /** Address of the entry point (in a relocatable object: offset in .text); undefined when it cannot be told. */
  readonly entry: number | undefined;
  /** Size of the code in bytes by its symbol; 0 when unknown. */
  readonly codeSize: number;
  /** Undefined when no metadata note lists the kernel. */
  readonly metadata: KernelMetadata | undefined;
}

export interface CodeObject {
  /** How to get there from the opened file: `['libfoo.so', '.hip_fatbin', 'hipv4-…gfx942']`. */
  readonly path: readonly string[];
  readonly bytes: Uint8Array;
  readonly elf: ElfFile;
  readonly target: TargetId;
  /** `amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-`. */
  readonly targetId: string;
  /** 2 to 6; undefined for another OS ABI. */
  readonly version: number | undefined;
  readonly isRelocatable: boolean;
  /** One per metadata note; several when objects with metadata were linked. Read when first asked for. */
  readonly metadata: readonly CodeObjectMetadata[];
  /** Read when first asked for, with the metadata. */
  readonly kernels: readonly Kernel[];
}

/** Reads an AMDGPU ELF. What is wrong with its metadata is thrown by the first to ask for metadata or kernels. */
export function readCodeObject(bytes: Uint8Array, path: readonly string[] = []): CodeObject {
  const elf = readElf(bytes);
  const { machine, flags, osAbi, abiVersion, type } = elf.header;
  if (machine !== ElfMachine.AMDGPU) {
    throw new WavesmithError('elf/not-amdgpu', `The ELF file is for machine ${machine}, not for an AMD GPU.`, {
      byteOffset: 18,
    });
  }
  const target = targetIdOfFlags(flags, osAbi, abiVersion);
  let metadata: CodeObjectMetadata[] | undefined;
  let kernels: Kernel[] | undefined;
  return {
    path,
    bytes,
    elf,
    target,
    targetId: formatTargetId(target),
    version: codeObjectVersion(osAbi, abiVersion),
    isRelocatable: type === ElfType.REL,
    get metadata() {
      metadata ??= metadataNotes(elf).map((note) => readMetadata(note.description, note.offset));
      return metadata;
    },
    get kernels() {
      kernels ??= readKernels(elf, this.metadata);
      return kernels;
    },
  };
}

function readKernels(elf: ElfFile, metadata: readonly CodeObjectMetadata[]): Kernel[] {
  const symbols = elf.symbols.length > 0 ? elf.symbols : elf.dynamicSymbols;
  const byName = new Map<string, ElfSymbol>();
  for (const symbol of symbols) if (symbol.section !== undefined) byName.set(symbol.name, symbol);
  const listed = new Map<string, KernelMetadata>();
  for (const kernel of metadata.flatMap((m) => m.kernels)) listed.set(kernel.symbol, kernel);
  const names = new Set<string>();
  for (const symbol of byName.keys()) if (symbol.endsWith('.kd')) names.add(symbol);
  for (const symbol of listed.keys()) names.add(symbol);
  const kernels: Kernel[] = [];
  for (const symbolName of names) {
    const symbol = byName.get(symbolName);
    const known = listed.get(symbolName);
    const name = known?.name ?? symbolName.replace(/\.kd$/, '');
    const bytes = symbol && elf.bytesOf(symbol, KERNEL_DESCRIPTOR_SIZE);
    if (bytes === undefined && known === undefined) continue;
    const descriptor = bytes && decodeDescriptor(bytes);
    const code = byName.get(symbolName.replace(/\.kd$/, ''));
    kernels.push({
      name,
      descriptor,
      descriptorSymbol: symbol,
      entry: descriptor && symbol && entryOf(elf, symbol, descriptor),
      codeSize: code === undefined ? 0 : Number(code.size),
      metadata: known,
    });
  }
  return kernels;
}

/** In a relocatable object the entry is what the relocation of the descriptor's offset field refers to. */
function entryOf(elf: ElfFile, symbol: ElfSymbol, descriptor: KernelDescriptor): number | undefined {
  if (elf.header.type !== ElfType.REL) return Number(symbol.value + descriptor.kernelCodeEntryByteOffset);
  const at = Number(symbol.value) + 16;
  for (const table of elf.relocationSections) {
    if (table.target !== symbol.section) continue;
    const found = table.relocations.find((r) => r.offset === at && r.type === RelocationType.REL64);
    if (found?.symbol !== undefined) return Number(found.symbol.value + (found.addend ?? 0n)) - 16;
  }
  return undefined;
}
