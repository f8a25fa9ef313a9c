// Prints an ELF file as `llvm-readelf -hlSsrnd --dyn-syms` does (GNU style).
// Source: the layout of LLVM's llvm-readelf; names from the System V gABI and AMDGPUUsage.

import { metadataToYaml } from '../kernel/metadata-yaml.ts';
import { decodeMsgPack } from '../kernel/msgpack.ts';
import { AMDGPU_NOTE_OWNER, NT_AMDGPU_METADATA, readNotes } from './notes.ts';
import { SectionFlag, SymbolType } from './object-model.ts';
import {
  type ElfFile,
  ElfMachine,
  type ElfSection,
  ElfSectionType,
  type ElfSegment,
  type ElfSymbol,
  SegmentType,
} from './read.ts';
import { relocationName } from './relocation.ts';
import { processorOfFlags } from './target-id.ts';
import { dynamicText } from './text-dynamic.ts';

/** A line that is built by columns; a column that is already passed costs one space. */
function columns(...fields: readonly (readonly [column: number, text: string])[]): string {
  let line = '';
  for (const [column, text] of fields) {
    line += ' '.repeat(column === 0 ? 0 : Math.max(1, column - line.length)) + text;
  }
  return line;
}

const hex = (value: number | bigint, width = 0) => value.toString(16).padStart(width, '0');
const right = (value: number | string, width: number) => String(value).padStart(width);

/** The whole text: header, sections, segments, dynamic table, relocations, symbols, notes. */
export function elfText(elf: ElfFile): string {
  const parts = [headerText(elf), sectionsText(elf), segmentsText(elf), dynamicText(elf), relocationsText(elf)];
  return `${[...parts, symbolsText(elf), notesText(elf)].join('')}`;
}

const TYPES: Readonly<Record<number, string>> = {
  0: 'NONE (None)',
  1: 'REL (Relocatable file)',
  2: 'EXEC (Executable file)',
  3: 'DYN (Shared object file)',
  4: 'CORE (Core file)',
};
const OS_ABIS: Readonly<Record<number, string>> = {
  0: 'UNIX - System V',
  3: 'UNIX - GNU',
  64: 'AMDGPU - HSA',
  65: 'AMDGPU - PAL',
  66: 'AMDGPU - MESA3D',
};
const MACHINES: Readonly<Record<number, string>> = {
  [ElfMachine.X86_64]: 'Advanced Micro Devices X86-64',
  [ElfMachine.AARCH64]: 'AArch64',
  [ElfMachine.AMDGPU]: 'EM_AMDGPU',
};

function flagsText(elf: ElfFile): string {
  const { flags, machine, abiVersion } = elf.header;
  const names: string[] = [];
  if (machine === ElfMachine.AMDGPU) {
    const processor = processorOfFlags(flags);
    if (processor !== undefined) names.push(processor);
    if (abiVersion <= 1) {
      if ((flags & 0x100) !== 0) names.push('xnack');
      if ((flags & 0x200) !== 0) names.push('sramecc');
    } else {
      const signs = ['', '', '-', '+'];
      const xnack = (flags >> 8) & 3;
      const sramecc = (flags >> 10) & 3;
      if (xnack !== 0) names.push(`xnack${signs[xnack]}`);
      if (sramecc !== 0) names.push(`sramecc${signs[sramecc]}`);
      if (abiVersion >= 4 && flags >>> 24 !== 0) names.push(`generic_v${flags >>> 24}`);
    }
  }
  return [`0x${hex(flags)}`, ...names].join(', ');
}

function headerText(elf: ElfFile): string {
  const h = elf.header;
  const rows: [string, string | number][] = [
    ['Class', 'ELF64'],
    ['Data', "2's complement, little endian"],
    ['Version', '1 (current)'],
    ['OS/ABI', OS_ABIS[h.osAbi] ?? `0x${hex(h.osAbi).toUpperCase()}`],
    ['ABI Version', h.abiVersion],
    ['Type', TYPES[h.type] ?? `0x${hex(h.type).toUpperCase()}`],
    ['Machine', MACHINES[h.machine] ?? `0x${hex(h.machine).toUpperCase()}`],
    ['Version', `0x${hex(h.version)}`],
    ['Entry point address', `0x${hex(h.entry)}`],
    ['Start of program headers', `${h.programHeaderOffset} (bytes into file)`],
    ['Start of section headers', `${h.sectionHeaderOffset} (bytes into file)`],
    ['Flags', flagsText(elf)],
    ['Size of this header', `${h.headerSize} (bytes)`],
    ['Size of program headers', `${h.programHeaderSize} (bytes)`],
    ['Number of program headers', h.programHeaderCount],
    ['Size of section headers', `${h.sectionHeaderSize} (bytes)`],
    ['Number of section headers', h.sectionHeaderCount],
    ['Section header string table index', h.sectionNameIndex],
  ];
  const magic = [...h.ident].map((byte) => hex(byte, 2)).join(' ');
  const lines = rows.map(([name, value]) => columns([2, `${name}:`], [37, String(value)]));
  return `ELF Header:\n  Magic:   ${magic}\n${lines.join('\n')}\n`;
}

const SECTION_TYPES: ReadonlyMap<number, string> = new Map([
  [0, 'NULL'],
  [1, 'PROGBITS'],
  [2, 'SYMTAB'],
  [3, 'STRTAB'],
  [4, 'RELA'],
  [5, 'HASH'],
  [6, 'DYNAMIC'],
  [7, 'NOTE'],
  [8, 'NOBITS'],
  [9, 'REL'],
  [10, 'SHLIB'],
  [11, 'DYNSYM'],
  [14, 'INIT_ARRAY'],
  [15, 'FINI_ARRAY'],
  [16, 'PREINIT_ARRAY'],
  [17, 'GROUP'],
  [18, 'SYMTAB SECTION INDICES'],
  [19, 'RELR'],
  [0x6fff4c03, 'LLVM_ADDRSIG'],
  [0x6ffffff6, 'GNU_HASH'],
  [0x6ffffffd, 'VERDEF'],
  [0x6ffffffe, 'VERNEED'],
  [0x6fffffff, 'VERSYM'],
  [0x70000001, 'X86_64_UNWIND'],
]);

const FLAG_LETTERS: readonly (readonly [number, string])[] = [
  [SectionFlag.WRITE, 'W'],
  [SectionFlag.ALLOC, 'A'],
  [SectionFlag.EXECINSTR, 'X'],
  [SectionFlag.MERGE, 'M'],
  [SectionFlag.STRINGS, 'S'],
  [SectionFlag.INFO_LINK, 'I'],
  [SectionFlag.LINK_ORDER, 'L'],
  [0x100, 'O'],
  [SectionFlag.GROUP, 'G'],
  [SectionFlag.TLS, 'T'],
  [0x800, 'C'],
  [SectionFlag.GNU_RETAIN, 'R'],
  [SectionFlag.EXCLUDE, 'E'],
];

function sectionFlags(flags: bigint): string {
  return FLAG_LETTERS.filter(([bit]) => (flags & BigInt(bit)) !== 0n)
    .map(([, letter]) => letter)
    .join('');
}

function sectionsText(elf: ElfFile): string {
  if (elf.sections.length === 0) return 'There are no sections in this file.\n';
  const start = `0x${hex(elf.header.sectionHeaderOffset)}`;
  const lines = elf.sections.map((s) =>
    columns(
      [2, `[${right(s.index, 2)}]`],
      [7, s.name],
      [25, SECTION_TYPES.get(s.type) ?? `<unknown>: 0x${hex(s.type)}`],
      [41, hex(s.address, 16)],
      [58, hex(s.offset, 6)],
      [65, hex(s.size, 6)],
      [72, hex(s.entrySize, 2)],
      [75, right(sectionFlags(s.flags), 3)],
      [79, right(s.link, 2)],
      [82, right(s.info, 3)],
      [86, right(s.alignment, 2)],
    ),
  );
  const large = elf.header.machine === ElfMachine.X86_64 ? 'l (large), ' : '';
  return `There are ${elf.sections.length} section headers, starting at offset ${start}:

Section Headers:
  [Nr] Name              Type            Address          Off    Size   ES Flg Lk Inf Al
${lines.join('\n')}
Key to Flags:
  W (write), A (alloc), X (execute), M (merge), S (strings), I (info),
  L (link order), O (extra OS processing required), G (group), T (TLS),
  C (compressed), x (unknown), o (OS specific), E (exclude),
  R (retain), ${large}p (processor specific)
`;
}

const SEGMENT_TYPES: ReadonlyMap<number, string> = new Map([
  [0, 'NULL'],
  [1, 'LOAD'],
  [2, 'DYNAMIC'],
  [3, 'INTERP'],
  [4, 'NOTE'],
  [5, 'SHLIB'],
  [6, 'PHDR'],
  [7, 'TLS'],
  [0x6474e550, 'GNU_EH_FRAME'],
  [0x6474e551, 'GNU_STACK'],
  [0x6474e552, 'GNU_RELRO'],
  [0x6474e553, 'GNU_PROPERTY'],
]);
const PT = { LOAD: 1, DYNAMIC: 2, PHDR: 6, TLS: 7, GNU_RELRO: 0x6474e552 } as const;

function segmentsText(elf: ElfFile): string {
  let text: string;
  if (elf.segments.length === 0) text = '\nThere are no program headers in this file.\n';
  else {
    const lines = elf.segments.map((p) => {
      const flags = `${p.flags & 4 ? 'R' : ' '}${p.flags & 2 ? 'W' : ' '}${p.flags & 1 ? 'E' : ' '}`;
      const line = columns(
        [2, SEGMENT_TYPES.get(p.type) ?? `<unknown>: 0x${hex(p.type)}`],
        [17, `0x${hex(p.offset, 6)}`],
        [26, `0x${hex(p.virtualAddress, 16)}`],
        [45, `0x${hex(p.physicalAddress, 16)}`],
        [64, `0x${hex(p.fileSize, 6)}`],
        [73, `0x${hex(p.memorySize, 6)}`],
        [82, flags],
        [86, `0x${hex(p.alignment)}`],
      );
      if (p.type !== SegmentType.INTERP) return line;
      const path = new TextDecoder().decode(elf.bytes.subarray(p.offset, p.offset + p.fileSize)).replace(/\0.*$/s, '');
      return `${line}\n      [Requesting program interpreter: ${path}]`;
    });
    text = `
Elf file type is ${TYPES[elf.header.type] ?? `0x${hex(elf.header.type)}`}
Entry point 0x${hex(elf.header.entry)}
There are ${elf.segments.length} program headers, starting at offset ${elf.header.programHeaderOffset}

Program Headers:
  Type           Offset   VirtAddr           PhysAddr           FileSiz  MemSiz   Flg Align
${lines.join('\n')}
`;
  }
  const inNone = new Set(elf.sections.filter((s) => s.type !== ElfSectionType.NULL));
  text += '\n Section to Segment mapping:\n  Segment Sections...\n';
  elf.segments.forEach((p, i) => {
    text += `   ${String(i).padStart(2, '0')}     `;
    for (const s of elf.sections) {
      if (s.type === ElfSectionType.NULL || !isInSegment(p, s)) continue;
      text += `${s.name} `;
      inNone.delete(s);
    }
    text += '\n';
  });
  return `${text}   None   ${[...inNone].map((s) => `${s.name} `).join('')}\n`;
}

function isInSegment(p: ElfSegment, s: ElfSection): boolean {
  const isTls = (s.flags & BigInt(SectionFlag.TLS)) !== 0n;
  if (
    isTls ? p.type !== PT.TLS && p.type !== PT.GNU_RELRO && p.type !== PT.LOAD : p.type === PT.TLS || p.type === PT.PHDR
  ) {
    return false;
  }
  const least = s.size === 0 ? 1 : s.size;
  if (s.type !== ElfSectionType.NOBITS) {
    if (s.offset < p.offset || s.offset + least > p.offset + p.fileSize) return false;
  }
  if ((s.flags & BigInt(SectionFlag.ALLOC)) === 0n) return true;
  return s.address >= p.virtualAddress && s.address + least <= p.virtualAddress + p.memorySize;
}

/** A symbol's name; section symbols go by their section. */
function symbolName(symbol: ElfSymbol): string {
  return symbol.type === SymbolType.SECTION && symbol.name === '' ? (symbol.section?.name ?? '') : symbol.name;
}

function relocationsText(elf: ElfFile): string {
  let text = '';
  for (const { section, relocations } of elf.relocationSections) {
    const hasAddend = section.type === ElfSectionType.RELA;
    const at = `0x${hex(section.offset)}`;
    text += `\nRelocation section '${section.name}' at offset ${at} contains ${relocations.length} entries:\n`;
    text += `    Offset             Info             Type               Symbol's Value  Symbol's Name${hasAddend ? ' + Addend' : ''}\n`;
    for (const r of relocations) {
      const info = (BigInt(r.symbolIndex) << 32n) | BigInt(r.type);
      const isAmdgpu = elf.header.machine === ElfMachine.AMDGPU;
      const name = (isAmdgpu ? relocationName(r.type) : undefined) ?? 'Unknown';
      const symbol = r.symbol === undefined ? '' : symbolName(r.symbol);
      let addend = '';
      if (r.addend !== undefined) {
        const magnitude = hex(r.addend < 0n ? -r.addend : r.addend);
        addend =
          symbol === '' ? (r.addend < 0n ? `-${magnitude}` : magnitude) : ` ${r.addend < 0n ? '-' : '+'} ${magnitude}`;
      }
      text += `${columns([0, hex(r.offset, 16)], [18, hex(info, 16)], [35, name], [58, r.symbol === undefined ? '' : hex(r.symbol.value, 16)], [69, symbol])}${addend}\n`;
    }
  }
  return text === '' ? '\nThere are no relocations in this file.\n' : text;
}

const SYMBOL_TYPES = ['NOTYPE', 'OBJECT', 'FUNC', 'SECTION', 'FILE', 'COMMON', 'TLS'];
const BINDINGS = ['LOCAL', 'GLOBAL', 'WEAK'];
const VISIBILITIES = ['DEFAULT', 'INTERNAL', 'HIDDEN', 'PROTECTED'];

function symbolTypeName(type: number): string {
  if (type === SymbolType.AMDGPU_HSA_KERNEL) return 'AMDGPU_HSA_KERNEL';
  return SYMBOL_TYPES[type] ?? `<unknown>: ${type}`;
}

function symbolPlace(symbol: ElfSymbol): string {
  const { sectionIndex, section } = symbol;
  if (section !== undefined) return String(section.index);
  if (sectionIndex === 0) return 'UND';
  if (sectionIndex === 0xfff1) return 'ABS';
  if (sectionIndex === 0xfff2) return 'COM';
  const kind = sectionIndex <= 0xff1f ? 'PRC' : sectionIndex <= 0xff3f ? 'OS' : 'RSV';
  return `${kind}[0x${hex(sectionIndex)}]`;
}

function symbolsText(elf: ElfFile): string {
  let text = '';
  for (const type of [ElfSectionType.DYNSYM, ElfSectionType.SYMTAB]) {
    const table = elf.sections.find((s) => s.type === type);
    if (table === undefined) continue;
    const symbols = elf.symbolsOf(table);
    text += `\nSymbol table '${table.name}' contains ${symbols.length} entries:\n`;
    text += '   Num:    Value          Size Type    Bind   Vis       Ndx Name\n';
    for (const s of symbols) {
      text += `${columns(
        [0, `${right(s.index, 6)}:`],
        [8, hex(s.value, 16)],
        [25, right(String(s.size), 5)],
        [31, symbolTypeName(s.type)],
        [39, BINDINGS[s.binding] ?? `<unknown>: ${s.binding}`],
        [46, VISIBILITIES[s.visibility]],
        [56, right(symbolPlace(s), 3)],
        [60, symbolName(s)],
      )}\n`;
    }
  }
  return text;
}

function notesText(elf: ElfFile): string {
  let text = '';
  for (const section of elf.sections.filter((s) => s.type === ElfSectionType.NOTE)) {
    text += `${text === '' ? '' : '\n'}Displaying notes found in: ${section.name}\n  Owner                Data size \tDescription\n`;
    for (const note of readNotes(section.bytes, section.alignment, section.offset)) {
      const isMetadata = note.owner === AMDGPU_NOTE_OWNER && note.type === NT_AMDGPU_METADATA;
      const isBuildId = note.owner === 'GNU' && note.type === 3;
      let what = `Unknown note type: (0x${hex(note.type, 8)})`;
      if (isMetadata) what = 'NT_AMDGPU_METADATA (AMDGPU Metadata)';
      else if (isBuildId) what = 'NT_GNU_BUILD_ID (unique build ID bitstring)';
      text += `  ${note.owner.padEnd(20)} 0x${hex(note.description.length, 8)}\t${what}\n`;
      if (isMetadata) {
        text += `    AMDGPU Metadata:\n        ${metadataToYaml(decodeMsgPack(note.description, note.offset))}\n`;
      } else if (isBuildId) {
        text += `    Build ID: ${[...note.description].map((byte) => hex(byte, 2)).join('')}\n`;
      } else {
        text += `   description data: ${[...note.description].map((byte) => `${hex(byte, 2)} `).join('')}\n`;
      }
    }
  }
  return text;
}
