// The dynamic table as llvm-readelf prints it. Source: System V gABI chapter 5, "Dynamic Section".
import { type ElfFile, ElfSectionType } from './read.ts';

type ValueKind = 'address' | 'bytes' | 'count' | 'needed' | 'soname' | 'runpath';

const TAGS: ReadonlyMap<number, readonly [name: string, kind: ValueKind]> = new Map([
  [0, ['NULL', 'address']],
  [1, ['NEEDED', 'needed']],
  [2, ['PLTRELSZ', 'bytes']],
  [3, ['PLTGOT', 'address']],
  [4, ['HASH', 'address']],
  [5, ['STRTAB', 'address']],
  [6, ['SYMTAB', 'address']],
  [7, ['RELA', 'address']],
  [8, ['RELASZ', 'bytes']],
  [9, ['RELAENT', 'bytes']],
  [10, ['STRSZ', 'bytes']],
  [11, ['SYMENT', 'bytes']],
  [12, ['INIT', 'address']],
  [13, ['FINI', 'address']],
  [14, ['SONAME', 'soname']],
  [17, ['REL', 'address']],
  [18, ['RELSZ', 'bytes']],
  [19, ['RELENT', 'bytes']],
  [22, ['TEXTREL', 'address']],
  [23, ['JMPREL', 'address']],
  [25, ['INIT_ARRAY', 'address']],
  [26, ['FINI_ARRAY', 'address']],
  [27, ['INIT_ARRAYSZ', 'bytes']],
  [28, ['FINI_ARRAYSZ', 'bytes']],
  [29, ['RUNPATH', 'runpath']],
  [32, ['PREINIT_ARRAY', 'address']],
  [33, ['PREINIT_ARRAYSZ', 'bytes']],
  [0x6ffffef5, ['GNU_HASH', 'address']],
  [0x6ffffff0, ['VERSYM', 'address']],
  [0x6ffffff9, ['RELACOUNT', 'count']],
  [0x6ffffffe, ['VERNEED', 'address']],
  [0x6fffffff, ['VERNEEDNUM', 'count']],
]);

/** The dynamic table, or nothing when the file has none. */
export function dynamicText(elf: ElfFile): string {
  const entries = elf.dynamicEntries;
  const section = elf.sections.find((s) => s.type === ElfSectionType.DYNAMIC);
  if (entries.length === 0 || section === undefined) return '';
  const strings = elf.sections[section.link];
  const text = (offset: bigint) => {
    if (strings === undefined || offset >= BigInt(strings.bytes.length)) return '<corrupt>';
    const end = strings.bytes.indexOf(0, Number(offset));
    return new TextDecoder().decode(strings.bytes.subarray(Number(offset), end < 0 ? undefined : end));
  };
  const nameOf = (tag: bigint) => TAGS.get(Number(tag))?.[0] ?? `<unknown:>0x${tag.toString(16)}`;
  const width = Math.max(...entries.map((e) => nameOf(e.tag).length)) + 2;
  const at = `0x${section.offset.toString(16)}`;
  let out = `Dynamic section at offset ${at} contains ${entries.length} entries:\n`;
  out += `  Tag${' '.repeat(16)}Type${' '.repeat(width - 3)}Name/Value\n`;
  for (const { tag, value } of entries) {
    const kind = TAGS.get(Number(tag))?.[1] ?? 'address';
    let shown = `0x${value.toString(16)}`;
    if (kind === 'bytes') shown = `${value} (bytes)`;
    else if (kind === 'count') shown = String(value);
    else if (kind === 'needed') shown = `Shared library: [${text(value)}]`;
    else if (kind === 'soname') shown = `Library soname: [${text(value)}]`;
    else if (kind === 'runpath') shown = `Library runpath: [${text(value)}]`;
    out += `  0x${tag.toString(16).padStart(16, '0')} ${`(${nameOf(tag)})`.padEnd(width)} ${shown}\n`;
  }
  return out;
}
