// A code object as LLVM-dialect assembler text that assembles (here and with clang) and links to the same code,
// descriptors, metadata and data. Source: AMDGPUUsage, "Code Object" and "Assembler Directives".
import { WavesmithError } from '../base/index.ts';
import {
  codeObjectVersion,
  ElfFile,
  ElfMachine,
  ElfType,
  formatProcessorAndFeatures,
  formatTargetId,
  metadataNotes,
  readMetadata,
  SectionIndex,
  SymbolBinding,
  SymbolType,
  type TargetId,
  targetIdOfFlags,
} from '../codeobject/index.ts';
import { isTargetName, type TargetName, targetInfo } from '../isa/index.ts';
import { InstructionCache } from './disassemble-cache.ts';
import { canonicalCheckFor } from './disassemble-canonical.ts';
import { CodeSection, type Range } from './disassemble-code.ts';
import type { RegisterCounts } from './disassemble-descriptor.ts';
import { Image, type ImageSection, type ImageSymbol } from './disassemble-image.ts';
import { noteLines } from './disassemble-notes.ts';
import { DataSection, findKernels, isProtectedLater, type Kernel, sectionHeader } from './disassemble-sections.ts';
import { bindingLines } from './disassemble-symbols.ts';
import { Labels } from './labels.ts';

export interface DisassembleOptions {
  /** Leave out the other kernels (their code, descriptors and metadata); everything else stays. */
  readonly kernel?: string | undefined;
}

/** What the ELF header says, checked to be something that can be disassembled. */
interface Header {
  readonly target: TargetName;
  readonly id: TargetId;
  readonly version: number;
}

/** Disassembles a linked code object or a relocatable object (v3 to v6). */
export function disassembleCodeObject(codeObject: ElfFile | Uint8Array, options: DisassembleOptions = {}): string {
  const elf = codeObject instanceof ElfFile ? codeObject : new ElfFile(codeObject);
  const header = readHeader(elf);
  const image = new Image(elf);
  const labels = new Labels(image);
  const info = targetInfo(header.target);
  const kernels = findKernels(
    image,
    {
      architectedFlatScratch: info.architectedFlatScratch,
      reservesXnackMask: header.id.xnack === 'on' || header.id.xnack === 'any',
    },
    registerCounts(elf),
  );
  const isKept = keptKernels(kernels, options.kernel);
  const cache = new InstructionCache(header.target, canonicalCheckFor(header.target, header.id));
  const code = new Map<ImageSection, CodeSection>();
  const data = new Map<ImageSection, DataSection>();
  for (const section of image.sections) {
    if (section.kind === 'code') {
      const part = new CodeSection(image, section, labels, cache);
      part.scan();
      code.set(section, part);
    } else {
      const part = new DataSection(image, section, labels, kernels);
      part.scan();
      data.set(section, part);
    }
  }
  labels.assign();

  const out = headerLines(image, header, options.kernel);
  const byEntry = new Map<ImageSymbol, Kernel>();
  for (const kernel of kernels.values()) byEntry.set(kernel.entry, kernel);
  const isProtectedByDirective = (symbol: ImageSymbol) => {
    const kernel = byEntry.get(symbol);
    return kernel !== undefined && Array.isArray(kernel.directives) && isProtectedLater(kernel.descriptor, symbol);
  };
  // Code comes first: `.amdhsa_kernel` copies binding and visibility from the function's directives.
  for (const [section, part] of code) {
    out.push('', ...sectionHeader(image, section));
    part.print(out, isProtectedByDirective, isKept === undefined ? [] : skippedRanges(section, byEntry, isKept));
  }
  for (const [section, part] of data) {
    if (section.size === 0 && section.symbols.length === 0) continue;
    out.push('', ...sectionHeader(image, section));
    part.print(out, isKept ?? (() => true));
  }
  out.push(...symbolTableLines(image));
  const keepInMetadata = options.kernel === undefined ? undefined : (name: string) => name === options.kernel;
  const notes = noteLines(elf, keepInMetadata);
  if (notes.length > 0) out.push('', ...notes);
  return `${out.join('\n')}\n`;
}

function readHeader(elf: ElfFile): Header {
  const { machine, type, flags, osAbi, abiVersion } = elf.header;
  const fail = (code: string, message: string, byteOffset: number, hint?: string) =>
    new WavesmithError(code, message, { byteOffset, hint });
  if (machine !== ElfMachine.AMDGPU) {
    throw fail('disasm/not-amdgpu', `The ELF file is for machine ${machine}, not for AMDGPU.`, 18);
  }
  if (type !== ElfType.DYN && type !== ElfType.REL && type !== ElfType.EXEC) {
    throw fail('disasm/file-type', `An ELF file of type ${type} cannot be disassembled.`, 16);
  }
  const version = codeObjectVersion(osAbi, abiVersion);
  if (version === undefined || version < 3) {
    throw fail('disasm/version', `Code object version ${version ?? '?'} (OS ABI ${osAbi}) is not supported.`, 7);
  }
  const id = targetIdOfFlags(flags, osAbi, abiVersion);
  if (!isTargetName(id.processor)) {
    throw fail(
      'disasm/target',
      `There is no instruction table for ${id.processor}.`,
      48,
      'Supported: gfx90a, gfx942, gfx950.',
    );
  }
  if (elf.sections.length === 0) {
    throw fail(
      'disasm/no-sections',
      'The code object has no section headers.',
      40,
      'Use the file before it was stripped of them.',
    );
  }
  return { target: id.processor, id, version };
}

/** Register counts by kernel name as the metadata records them; damaged metadata records none. */
function registerCounts(elf: ElfFile): Map<string, RegisterCounts> {
  const counts = new Map<string, RegisterCounts>();
  try {
    for (const note of metadataNotes(elf)) {
      for (const { name, vgprCount, sgprCount } of readMetadata(note.description).kernels) {
        counts.set(name, { vgprs: vgprCount, sgprs: sgprCount });
      }
    }
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
  }
  return counts;
}

function keptKernels(
  kernels: ReadonlyMap<ImageSymbol, Kernel>,
  name: string | undefined,
): ((kernel: Kernel) => boolean) | undefined {
  if (name === undefined) return undefined;
  const names = [...kernels.values()].map((kernel) => kernel.name);
  if (!names.includes(name)) {
    throw new WavesmithError('disasm/no-kernel', `The code object has no kernel '${name}'.`, {
      hint: names.length === 0 ? 'It has no kernels at all.' : `It has ${shortList(names)}.`,
    });
  }
  return (kernel) => kernel.name === name;
}

function shortList(names: readonly string[]): string {
  const shown = names.slice(0, 8).map((name) => `'${name}'`);
  return names.length > shown.length ? `${shown.join(', ')} and ${names.length - shown.length} more` : shown.join(', ');
}

/** The code of the kernels that are left out, up to the next function. */
function skippedRanges(
  section: ImageSection,
  byEntry: ReadonlyMap<ImageSymbol, Kernel>,
  isKept: (kernel: Kernel) => boolean,
): Range[] {
  const functions = section.symbols.filter((s) => s.elf.type === SymbolType.FUNC);
  const ranges: Range[] = [];
  functions.forEach((symbol, i) => {
    const kernel = byEntry.get(symbol);
    if (kernel === undefined || isKept(kernel)) return;
    const next = functions.slice(i + 1).find((f) => f.offset > symbol.offset);
    ranges.push({ start: symbol.offset, end: next?.offset ?? section.size });
  });
  return ranges;
}

function headerLines(image: Image, header: Header, kernel: string | undefined): string[] {
  const processor = formatProcessorAndFeatures(header.id);
  const kind = image.isRelocatable ? 'relocatable object' : 'code object';
  const lines = [
    `; Disassembled by wavesmith: ${header.target} ${kind}, version ${header.version}.`,
    `; Assemble: wavesmith asm FILE.s -o FILE.co, or clang -x assembler -target amdgcn-amd-amdhsa -mcpu=${processor}`,
  ];
  if (kernel !== undefined) lines.push(`; Other kernels than ${kernel} are left out.`);
  if (image.omitted.length > 0) lines.push(`; Sections left out: ${image.omitted.map((s) => s.name).join(' ')}`);
  lines.push(`\t.amdgcn_target "${formatTargetId(header.id)}"`);
  if (header.version >= 4) lines.push(`\t.amdhsa_code_object_version ${header.version}`);
  else
    lines.push(
      '; LLVM 22 no longer writes code object version 3; the result is version 4.',
      '\t.amdhsa_code_object_version 4',
    );
  return lines;
}

/** Undefined, LDS and absolute symbols. */
function symbolTableLines(image: Image): string[] {
  const lines: string[] = [];
  for (const { name, elf } of image.externals) {
    lines.push(...bindingLines(name, elf));
    if (elf.sectionIndex === SectionIndex.AMDGPU_LDS) lines.push(`\t.amdgpu_lds ${name}, ${elf.size}, ${elf.value}`);
    else if (elf.sectionIndex === SectionIndex.COMMON) lines.push(`\t.comm ${name}, ${elf.size}, ${elf.value}`);
  }
  for (const { name, elf } of image.absolutes) {
    if (elf.binding !== SymbolBinding.LOCAL) lines.push(...bindingLines(name, elf));
    lines.push(`\t.set ${name}, ${absoluteValue(elf.value)}`);
  }
  return lines.length === 0 ? lines : ['', ...lines];
}

function absoluteValue(value: bigint): string {
  return value < 0x10000n ? `${value}` : `0x${value.toString(16)}`;
}
