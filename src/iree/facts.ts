// What a code object says about its kernels, as far as replacing one by an edited one needs it: descriptor, metadata, code
// bytes, and the registers its instructions name. Source: LLVM's AMDGPUUsage, "Kernel Descriptor", "Code Object Metadata".
import { WavesmithError } from '../base/index.ts';
import { decodeDescriptor, KERNEL_DESCRIPTOR_SIZE, type KernelDescriptor } from '../codeobject/descriptor.ts';
import { type ElfFile, type ElfSection, type ElfSymbol, ElfType, readElf } from '../codeobject/elf.ts';
import { type KernelMetadata, readMetadata } from '../codeobject/metadata.ts';
import { metadataNotes } from '../codeobject/notes.ts';
import { SectionType } from '../codeobject/object-model.ts';
import { type TargetId, targetIdOfFlags } from '../codeobject/target-id.ts';
import { decoderFor } from '../isa/decode.ts';
import { isTargetName } from '../isa/targets.ts';
import type { TargetName } from '../isa/types.ts';

const ALLOC = 2n;

/** Registers that instructions name: one more than the highest index of each file. */
export interface RegisterUse {
  readonly vgprs: number;
  readonly agprs: number;
  readonly sgprs: number;
}

export interface KernelFacts {
  readonly name: string;
  readonly descriptor: KernelDescriptor;
  readonly descriptorBytes: Uint8Array;
  /** Undefined when the metadata does not list the kernel. */
  readonly metadata: KernelMetadata | undefined;
  /** Address of the first instruction. */
  readonly entry: number;
  /** From the entry to the end of the function. */
  readonly code: Uint8Array;
}

export interface CodeObjectFacts {
  readonly bytes: Uint8Array;
  readonly target: TargetId;
  readonly targetName: TargetName;
  readonly metadataTarget: string | undefined;
  readonly text: Uint8Array;
  readonly textAddress: number;
  /** Loaded sections with content of the program's own besides code; descriptors' code offsets are zeroed in them. */
  readonly data: readonly { readonly name: string; readonly bytes: Uint8Array }[];
  readonly kernels: ReadonlyMap<string, KernelFacts>;
}

/** Reads a loadable code object. */
export function readFacts(bytes: Uint8Array): CodeObjectFacts {
  const elf = readElf(bytes);
  const target = targetIdOfFlags(elf.header.flags, elf.header.osAbi, elf.header.abiVersion);
  if (!isTargetName(target.processor)) {
    throw new WavesmithError('hijack/target', `The code object is for ${target.processor}, which is not supported.`, {
      hint: 'Supported targets are gfx90a, gfx942 and gfx950.',
    });
  }
  if (elf.header.type !== ElfType.DYN) {
    throw new WavesmithError('hijack/not-loadable', 'The code object is not linked: it is no shared object.', {
      hint: 'Link it with ld.lld -shared, or let this tool assemble the text.',
    });
  }
  const text = elf.section('.text');
  const metadata = metadataNotes(elf).map((note) => readMetadata(note.description, note.offset));
  const kernels = new Map<string, KernelFacts>();
  const listed = new Map(metadata.flatMap((m) => m.kernels).map((k) => [k.symbol, k]));
  for (const [name, kernel] of readKernels(elf)) {
    kernels.set(name, { ...kernel, metadata: listed.get(`${name}.kd`) });
  }
  return {
    bytes,
    target,
    targetName: target.processor,
    metadataTarget: metadata[0]?.target,
    text: text?.bytes ?? new Uint8Array(),
    textAddress: text?.address ?? 0,
    data: dataSections(elf, text),
    kernels,
  };
}

function dataSections(elf: ElfFile, text: ElfSection | undefined): { name: string; bytes: Uint8Array }[] {
  const sections = elf.sections.filter(
    (s) => s.type === SectionType.PROGBITS && (s.flags & ALLOC) !== 0n && s !== text,
  );
  return sections.map((section) => {
    const bytes = new Uint8Array(section.bytes);
    for (const symbol of descriptorSymbols(elf)) {
      if (symbol.section !== section) continue;
      const at = Number(symbol.value) - section.address;
      bytes.fill(0, at + 16, at + 24);
    }
    return { name: section.name, bytes };
  });
}

/** The `.kd` symbols; .dynsym is what a loader sees, .symtab may be stripped. */
function descriptorSymbols(elf: ElfFile): ElfSymbol[] {
  const symbols = elf.dynamicSymbols.length > 0 ? elf.dynamicSymbols : elf.symbols;
  return symbols.filter((symbol) => symbol.name.endsWith('.kd') && symbol.section !== undefined);
}

function* readKernels(elf: ElfFile): Generator<[string, Omit<KernelFacts, 'metadata'>]> {
  const functions = new Map<string, ElfSymbol>();
  for (const symbol of [...elf.symbols, ...elf.dynamicSymbols]) {
    if (symbol.section !== undefined) functions.set(symbol.name, symbol);
  }
  for (const symbol of descriptorSymbols(elf)) {
    const descriptorBytes = elf.bytesOf(symbol, KERNEL_DESCRIPTOR_SIZE);
    if (descriptorBytes === undefined) continue;
    const name = symbol.name.slice(0, -3);
    const descriptor = decodeDescriptor(descriptorBytes);
    const entry = Number(symbol.value + descriptor.kernelCodeEntryByteOffset);
    const candidate = functions.get(name);
    const named = candidate !== undefined && Number(candidate.value) === entry ? candidate : undefined;
    const section = named?.section ?? elf.sections.find((s) => entry >= s.address && entry < s.address + s.size);
    if (section === undefined || entry < section.address || entry >= section.address + section.bytes.length) {
      throw new WavesmithError('hijack/entry', `The entry point of kernel '${name}' is outside the code.`, {
        pc: entry,
        hint: 'The kernel descriptor is damaged.',
      });
    }
    const end = named === undefined ? section.bytes.length : entry - section.address + Number(named.size);
    const code = section.bytes.subarray(entry - section.address, Math.min(end, section.bytes.length));
    yield [name, { name, descriptor, descriptorBytes, entry, code }];
  }
}

/** The registers that the instructions of some code name. */
export function registerUse(code: Uint8Array, target: TargetName): RegisterUse {
  const decoder = decoderFor(target);
  const use = { v: 0, a: 0, s: 0 };
  for (let at = 0; at + 4 <= code.length; ) {
    const instruction = decoder.decode(code, at);
    if (instruction === undefined) {
      at += 4;
      continue;
    }
    for (const operand of instruction.operands) {
      if (operand.kind !== 'reg') continue;
      const { file, index, dwords } = operand;
      if (file === 'v' || file === 'a' || file === 's') use[file] = Math.max(use[file], index + dwords);
    }
    at += instruction.size;
  }
  return { vgprs: use.v, agprs: use.a, sgprs: use.s };
}
