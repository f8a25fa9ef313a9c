// Room `asm/disassemble`: a code object as assembler text that assembles to the same bytes, here and with clang.
// Begin with this file, which walks the sections; code.ts prints code, sections.ts data, descriptor.ts kernel descriptors.
//
// A code object as LLVM-dialect assembler text that assembles (here and with clang) and links to the same code,
// descriptors, metadata and data. Source: AMDGPUUsage, "Code Object" and "Assembler Directives".
import { TextOutput, WavesmithError } from '../../base/index.ts';
import {
  debugLines,
  type ElfFile,
  formatProcessorAndFeatures,
  formatTargetId,
  SectionIndex,
  SymbolBinding,
  SymbolType,
} from '../../codeobject/index.ts';
import { analyseCodeObject } from './analysis.ts';
import { areCanonical } from './canonical.ts';
import type { Range } from './code.ts';
import type { CodeComments } from './comments.ts';
import { pushAll } from './data.ts';
import type { CodeObjectHeader } from './header.ts';
import type { Image, ImageSection, ImageSymbol } from './image.ts';
import { noteLines } from './notes.ts';
import { isProtectedLater, type Kernel, sectionHeader } from './sections.ts';
import { bindingLines } from './symbols.ts';

export interface DisassembleOptions {
  /** Leave out the other kernels (their code, descriptors and metadata); everything else stays. */
  readonly kernel?: string | undefined;
  /** Write `// file:line` before the instructions of a source line, where the code object has `.debug_line`. */
  readonly sourceLines?: boolean | undefined;
  /** Write each instruction's address behind it, as a comment. */
  readonly addresses?: boolean | undefined;
  /** Write each instruction's encoding behind it, as a comment. */
  readonly encodings?: boolean | undefined;
}

/** Disassembles a linked code object or a relocatable object (v3 to v6). */
export function disassembleCodeObject(
  codeObject: Uint8Array | { readonly elf: ElfFile },
  options: DisassembleOptions = {},
): string {
  const decoder = new TextDecoder();
  let text = '';
  const out = new TextOutput((chunk) => {
    text += decoder.decode(chunk, { stream: true });
  });
  disassembleInto(out, codeObject, options);
  out.finish();
  return text + decoder.decode();
}

/** The same line by line, for texts that need not be in memory as a whole. Errors come before the first line. */
export function disassembleInto(
  out: TextOutput,
  codeObject: Uint8Array | { readonly elf: ElfFile },
  options: DisassembleOptions = {},
): void {
  const analysis = analyseCodeObject(codeObject);
  const { elf, header, image, kernels } = analysis;
  const isKept = keptKernels(kernels, options.kernel);
  pushAll(out, headerLines(image, header, options.kernel));
  const byEntry = new Map<ImageSymbol, Kernel>();
  for (const kernel of kernels.values()) byEntry.set(kernel.entry, kernel);
  const isProtectedByDirective = (symbol: ImageSymbol) => {
    const kernel = byEntry.get(symbol);
    return kernel !== undefined && Array.isArray(kernel.directives) && isProtectedLater(kernel.descriptor, symbol);
  };
  const isCanonical = areCanonical(analysis.cache, header.target, header.id);
  const comments = commentsOf(elf, options);
  // Code comes first: `.amdhsa_kernel` copies binding and visibility from the function's directives.
  for (const [section, part] of analysis.code) {
    out.push('', ...sectionHeader(image, section));
    part.print(
      out,
      isCanonical,
      isProtectedByDirective,
      isKept === undefined ? [] : skippedRanges(section, byEntry, isKept),
      comments,
    );
  }
  for (const [section, part] of analysis.data) {
    if (section.size === 0 && section.symbols.length === 0) continue;
    out.push('', ...sectionHeader(image, section));
    part.print(out, isKept ?? (() => true));
  }
  pushAll(out, symbolTableLines(image));
  const keepInMetadata = options.kernel === undefined ? undefined : (name: string) => name === options.kernel;
  const notes = noteLines(elf, keepInMetadata);
  if (notes.length > 0) pushAll(out, ['', ...notes]);
}

function commentsOf(elf: ElfFile, options: DisassembleOptions): CodeComments | undefined {
  const lines = options.sourceLines === true ? debugLines(elf) : undefined;
  const [addresses, encodings] = [options.addresses === true, options.encodings === true];
  return lines === undefined && !addresses && !encodings ? undefined : { lines, addresses, encodings };
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

function headerLines(image: Image, header: CodeObjectHeader, kernel: string | undefined): string[] {
  const processor = formatProcessorAndFeatures(header.id);
  const kind = image.isRelocatable ? 'relocatable object' : 'code object';
  const lines = [
    `; Disassembled by wavesmith: ${header.target} ${kind}, version ${header.version}.`,
    `; Assemble: wavesmith asm FILE.s -o FILE.co, or clang -x assembler -target amdgcn-amd-amdhsa -mcpu=${processor}`,
  ];
  if (kernel !== undefined) lines.push(`; Other kernels than ${kernel} are left out.`);
  if (image.omitted.length > 0) lines.push(`; Sections left out: ${image.omitted.map((s) => s.name).join(' ')}`);
  if (image.lostGotSlots > 0) {
    lines.push(
      `; Warning: ${image.lostGotSlots} entries of the global offset table are used in a way that was not recognised;`,
    );
    lines.push('; they will be missing, and code that reads them must be corrected by hand.');
  }
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
