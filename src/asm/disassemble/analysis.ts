// The first pass over a code object: header, printable image, kernels, decoded code and the labels that it needs.
// The disassembler prints the result and the diff aligns it. Source: AMDGPUUsage, "ELF Code Object".
import { WavesmithError } from '../../base/index.ts';
import { type ElfFile, metadataNotes, readElf, readMetadata } from '../../codeobject/index.ts';
import { targetInfo } from '../../isa/table/targets.ts';
import { InstructionCache } from './cache.ts';
import { CodeSection } from './code.ts';
import type { RegisterCounts } from './descriptor.ts';
import { type CodeObjectHeader, readHeader } from './header.ts';
import { Image, type ImageSection, type ImageSymbol } from './image.ts';
import { Labels } from './labels.ts';
import { DataSection, findKernels, type Kernel } from './sections.ts';

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
