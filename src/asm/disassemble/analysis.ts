// The first pass over a code object: header, printable image, kernels, decoded code and the labels that it needs.
// The disassembler prints the result and the diff aligns it. Source: AMDGPUUsage, "ELF Code Object".
import { WavesmithError } from '../../base/index.ts';
import {
  codeObjectVersion,
  type ElfFile,
  ElfMachine,
  ElfType,
  metadataNotes,
  readElf,
  readMetadata,
  type TargetId,
  targetIdOfFlags,
} from '../../codeobject/index.ts';
import { isTargetName, type TargetName, targetInfo } from '../../isa/index.ts';
import { InstructionCache } from './cache.ts';
import { CodeSection } from './code.ts';
import type { RegisterCounts } from './descriptor.ts';
import { Image, type ImageSection, type ImageSymbol } from './image.ts';
import { Labels } from './labels.ts';
import { DataSection, findKernels, type Kernel } from './sections.ts';

/** What the ELF header says, checked to be something that can be disassembled. */
export interface CodeObjectHeader {
  readonly target: TargetName;
  readonly id: TargetId;
  readonly version: number;
}

/** Everything that printing and comparing need; labels have their names. */
export interface Analysis {
  readonly elf: ElfFile;
  readonly header: CodeObjectHeader;
  readonly image: Image;
  readonly labels: Labels;
  readonly cache: InstructionCache;
  /** By descriptor symbol. */
  readonly kernels: ReadonlyMap<ImageSymbol, Kernel>;
  readonly code: ReadonlyMap<ImageSection, CodeSection>;
  readonly data: ReadonlyMap<ImageSection, DataSection>;
}

/** Reads and decodes a linked code object or a relocatable object. */
export function analyseCodeObject(codeObject: Uint8Array | { readonly elf: ElfFile }): Analysis {
  const elf = codeObject instanceof Uint8Array ? readElf(codeObject) : codeObject.elf;
  const header = readHeader(elf);
  const image = new Image(elf);
  const labels = new Labels(image);
  const { xnack } = header.id;
  const target = {
    architectedFlatScratch: targetInfo(header.target).architectedFlatScratch,
    reservesXnackMask: xnack === 'on' || xnack === 'any',
  };
  const kernels = findKernels(image, target, registerCounts(elf));
  const cache = new InstructionCache(header.target);
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
  return { elf, header, image, labels, cache, kernels, code, data };
}

/** Reads the ELF header and refuses what cannot be disassembled. */
export function readHeader(elf: ElfFile): CodeObjectHeader {
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
