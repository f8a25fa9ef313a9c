// Source lines of a code object's instructions: the line number programs of .debug_line, DWARF versions 2 to 5.
// Source: DWARF Debugging Information Format 5, section 6.2. Damaged tables give the lines that were read up to the damage.
import { debugInfo } from './debug-info.ts';
import { debugSection } from './debug-section.ts';
import type { DebugCall, DebugInfo } from './debug-types.ts';
import { DwarfCursor as Cursor, Damaged } from './dwarf-cursor.ts';
import type { ElfFile } from './read.ts';

/** A place in a source file. */
export interface DebugLine {
  readonly file: string;
  /** From 1; 0 is never returned. */
  readonly line: number;
}

/** Source lines by address. */
export interface DebugLines {
  /** The line that the instruction at an address (as in the ELF file) was made from. */
  at(address: number): DebugLine | undefined;
  /** The lines from which the code at an address was inlined, the innermost call first; empty without further debug information. */
  callsAt(address: number): readonly DebugLine[];
  /** The line of a call that was inlined; undefined when the tables do not have it. */
  lineOf(call: DebugCall): DebugLine | undefined;
  /** Source files that instructions were made from, each once. */
  files(): readonly string[];
  /**
   * Where the code of a line begins: each address at which it is entered from the code of another line. A line without code gives the next
   * one that has some. `file` is the name in the table, or the end of one (`kernel.hip` for `src/kernel.hip`) or begins elsewhere
   * (`/work/src/kernel.hip`); when none is, a file of that name alone: it was compiled elsewhere. Undefined when nothing was made from that line or later ones.
   */
  addresses(file: string, line: number): { readonly line: number; readonly addresses: readonly number[] } | undefined;
  /** The lines of a file, from one to another, that have code, in their order: those that `addresses` has addresses of. */
  linesWithCode(file: string, from: number, to: number): readonly number[];
  /** Where a function that begins at an address and ends before another has its frame and parameters in their places. */
  bodyOf(begin: number, end: number): number | undefined;
}

/** Rows and file names that are kept of one code object. */
const MAX_ROWS = 4_000_000;
const MAX_FILES = 100_000;

interface Row {
  readonly address: number;
  /** Index in the list of file names, or -1 where a sequence ends. */
  readonly file: number;
  readonly line: number;
  /** The function's frame and parameters are in their places here. */
  readonly endsPrologue: boolean;
  /** A place to stop at; other rows only say which line their code is of. */
  readonly isStatement: boolean;
}

interface Sections {
  readonly line: Uint8Array;
  readonly lineStrings: Uint8Array | undefined;
  readonly strings: Uint8Array | undefined;
}

interface Table {
  readonly rows: readonly Row[];
  readonly files: readonly string[];
  /** Of each unit by its offset: where file number 0 of its table would be in `files`. */
  readonly units: ReadonlyMap<number, number>;
}

/** The line table of a code object, or undefined when it has none. Nothing is decoded before the first question. */
export function debugLines(elf: ElfFile): DebugLines | undefined {
  const section = (name: string): Uint8Array | undefined => {
    const found = debugSection(elf, name);
    return found === undefined || found.length === 0 ? undefined : found;
  };
  const line = section('.debug_line');
  if (line === undefined) return undefined;
  let read: Table | undefined;
  let info: DebugInfo | undefined;
  const table = (): Table => {
    read ??= readTable({ line, lineStrings: section('.debug_line_str'), strings: section('.debug_str') });
    return read;
  };
  const lineOf = ({ table: at, file: number, line: from }: DebugCall): DebugLine | undefined => {
    const { units, files } = table();
    const first = units.get(at);
    const file = first === undefined ? undefined : files[first + number];
    return file === undefined || from < 1 ? undefined : { file, line: from };
  };
  return {
    at: (address) => find(table().rows, table().files, address),
    callsAt: (address) => {
      info ??= debugInfo(elf);
      return (info?.frames(address) ?? []).flatMap(({ call }) => (call === undefined ? [] : (lineOf(call) ?? [])));
    },
    lineOf,
    files: () => {
      const { rows, files } = table();
      return [...new Set(rows.flatMap((row) => files[row.file] ?? []))];
    },
    addresses: (file, wanted) => findLine(table(), file, wanted),
    linesWithCode: (file, from, to) => {
      const found = entriesOf(table(), file).map(({ line }) => line);
      return [...new Set(found)].filter((line) => line >= from && line <= to).sort((a, b) => a - b);
    },
    bodyOf: (begin, end) =>
      table().rows.find((row) => row.endsPrologue && row.address >= begin && row.address < end)?.address,
  };
}

/** Whether one path is the end of the other, by whole names. */
function isSameFile(a: string, b: string): boolean {
  const plain = (path: string): string => path.replaceAll('\\', '/').replace(/^(\.\/)+/, '');
  const [x, y] = [plain(a), plain(b)];
  return x === y || x.endsWith(`/${y}`) || y.endsWith(`/${x}`);
}

/** The rows at which lines of a file are entered. */
function entriesOf({ rows, files }: Table, file: string): Row[] {
  const byPath = files.map((name) => isSameFile(name, file));
  const base = (path: string): string => path.replace(/^.*[/\\]/, '');
  const inFile = byPath.includes(true) ? byPath : files.map((name) => base(name) === base(file));
  /** Whether the rows before, of the same line, have a place to stop at. */
  let isEntered = false;
  return rows.filter((row, i) => {
    const before = rows[i - 1];
    if (before?.line !== row.line || before.file !== row.file) isEntered = false;
    // The last row of an address counts; a row after one of the same line does not enter it.
    if (isEntered || !row.isStatement || rows[i + 1]?.address === row.address) return false;
    isEntered = true;
    // Line 0 is code of no line.
    return inFile[row.file] === true && row.line > 0;
  });
}

function findLine(table: Table, file: string, wanted: number): { line: number; addresses: number[] } | undefined {
  if (wanted < 1) return undefined;
  const entries = entriesOf(table, file).filter((row) => row.line >= wanted);
  const line = entries.reduce((least, row) => Math.min(least, row.line), Number.POSITIVE_INFINITY);
  const addresses = entries.filter((row) => row.line === line).map(({ address }) => address);
  return addresses.length === 0 ? undefined : { line, addresses };
}

function find(rows: readonly Row[], files: readonly string[], address: number): DebugLine | undefined {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rows[middle] as Row).address <= address) low = middle + 1;
    else high = middle;
  }
  const row = rows[low - 1];
  const file = row === undefined ? undefined : files[row.file];
  return row === undefined || file === undefined || row.line < 1 ? undefined : { file, line: row.line };
}

function readTable(sections: Sections): Table {
  const rows: Row[] = [];
  const files: string[] = [];
  const units = new Map<number, number>();
  let at = 0;
  while (at + 4 <= sections.line.length && rows.length < MAX_ROWS && files.length < MAX_FILES) {
    const cursor = new Cursor(sections.line, at, sections.line.length);
    const start = at;
    try {
      let length = cursor.u32();
      const is64 = length === 0xffffffff;
      if (is64) length = cursor.u64();
      const end = cursor.at + length;
      if (length === 0 || end > sections.line.length) break;
      at = end;
      const first = files.length;
      const firstNumber = readUnit(new Cursor(sections.line, cursor.at, end), is64, sections, rows, files);
      units.set(start, first - firstNumber);
    } catch (error) {
      if (!(error instanceof Damaged)) throw error;
      if (at <= cursor.at && cursor.isDone) break;
    }
  }
  // Where sequences touch, the start of the one wins over the end of the other.
  rows.sort((a, b) => a.address - b.address || a.file - b.file);
  return { rows, files, units };
}

interface UnitHeader {
  readonly minimumLength: number;
  readonly isStatement: boolean;
  readonly lineBase: number;
  readonly lineRange: number;
  readonly opcodeBase: number;
  readonly operandCounts: readonly number[];
  /** Number of the unit's first file in the table and in the list of all names. */
  readonly firstFile: number;
  readonly fileOffset: number;
}

/** Reads a unit; gives the number of its first file. */
function readUnit(c: Cursor, is64: boolean, sections: Sections, rows: Row[], files: string[]): number {
  const version = c.u16();
  const firstFile = version === 5 ? 0 : 1;
  if (version < 2 || version > 5) return firstFile;
  if (version === 5) c.skip(2);
  const headerLength = is64 ? c.u64() : c.u32();
  const program = c.at + headerLength;
  const minimumLength = c.u8();
  if (version >= 4) c.skip(1);
  const isStatement = c.u8() !== 0;
  const lineBase = c.s8();
  const lineRange = c.u8();
  const opcodeBase = c.u8();
  if (lineRange === 0 || opcodeBase === 0) return firstFile;
  const operandCounts = Array.from({ length: opcodeBase - 1 }, () => c.u8());
  const fileOffset = files.length;
  if (version === 5) readNames5(c, is64, sections, files);
  else readNames4(c, files);
  if (program > c.end) return firstFile;
  c.at = program;
  run(c, { minimumLength, isStatement, lineBase, lineRange, opcodeBase, operandCounts, firstFile, fileOffset }, rows);
  return firstFile;
}

function join(folder: string | undefined, name: string): string {
  return folder === undefined || folder === '' || name.startsWith('/') ? name : `${folder}/${name}`;
}

function readNames4(c: Cursor, files: string[]): void {
  const folders: string[] = [''];
  for (let name = c.text(); name !== ''; name = c.text()) folders.push(name);
  for (let name = c.text(); name !== '' && files.length < MAX_FILES; name = c.text()) {
    files.push(join(folders[c.uleb()], name));
    c.uleb();
    c.uleb();
  }
}

const LNCT_PATH = 1;
const LNCT_DIRECTORY = 2;

function readNames5(c: Cursor, is64: boolean, sections: Sections, files: string[]): void {
  const entries = (): { path: string; folder: number }[] => {
    const formats = Array.from({ length: c.u8() }, () => [c.uleb(), c.uleb()] as const);
    const count = c.uleb();
    const out: { path: string; folder: number }[] = [];
    if (formats.length === 0) return out;
    for (let n = 0; n < count && out.length < MAX_FILES; n++) {
      let path = '';
      let folder = 0;
      for (const [content, form] of formats) {
        const value = readForm(c, form, is64, sections);
        if (content === LNCT_PATH && typeof value === 'string') path = value;
        else if (content === LNCT_DIRECTORY && typeof value === 'number') folder = value;
      }
      out.push({ path, folder });
    }
    return out;
  };
  const folders = entries().map((entry) => entry.path);
  // Directory 0 is where the compiler ran: names relative to it are told as they were given.
  for (const { path, folder } of entries()) files.push(folder === 0 ? path : join(folders[folder], path));
}

function readForm(c: Cursor, form: number, is64: boolean, sections: Sections): string | number | undefined {
  switch (form) {
    case 0x08:
      return c.text();
    case 0x0e:
    case 0x1f: {
      const offset = is64 ? c.u64() : c.u32();
      const strings = form === 0x0e ? sections.strings : sections.lineStrings;
      if (strings === undefined || offset >= strings.length) return '';
      return new Cursor(strings, offset, strings.length).text();
    }
    case 0x0b:
      return c.u8();
    case 0x05:
      return c.u16();
    case 0x06:
      return c.u32();
    case 0x07:
      return c.u64();
    case 0x0f:
      return c.uleb();
    case 0x1e:
      c.skip(16);
      return undefined;
    case 0x09:
      c.skip(c.uleb());
      return undefined;
    default:
      throw new Damaged();
  }
}

/** Runs a unit's line number program; appends its rows. */
function run(c: Cursor, h: UnitHeader, rows: Row[]): void {
  let address = 0;
  let file = 1;
  let line = 1;
  let endsPrologue = false;
  let { isStatement } = h;
  const append = (isEnd = false): void => {
    const own = isEnd ? -1 : h.fileOffset + file - h.firstFile;
    const ends = endsPrologue && !isEnd;
    if (rows.length < MAX_ROWS) rows.push({ address, file: own, line, endsPrologue: ends, isStatement });
    endsPrologue = false;
  };
  while (!c.isDone && rows.length < MAX_ROWS) {
    const opcode = c.u8();
    if (opcode >= h.opcodeBase) {
      const adjusted = opcode - h.opcodeBase;
      address += Math.floor(adjusted / h.lineRange) * h.minimumLength;
      line += h.lineBase + (adjusted % h.lineRange);
      append();
      continue;
    }
    switch (opcode) {
      case 0: {
        const length = c.uleb();
        const next = c.at + length;
        if (length === 0 || next > c.end) throw new Damaged();
        const extended = c.u8();
        if (extended === 1) {
          append(true);
          address = 0;
          file = 1;
          line = 1;
          ({ isStatement } = h);
        } else if (extended === 2) address = length === 9 ? c.u64() : c.u32();
        c.at = next;
        break;
      }
      case 1:
        append();
        break;
      case 2:
        address += c.uleb() * h.minimumLength;
        break;
      case 3:
        line += c.sleb();
        break;
      case 4:
        file = c.uleb();
        break;
      case 6:
        isStatement = !isStatement;
        break;
      case 8:
        address += Math.floor((255 - h.opcodeBase) / h.lineRange) * h.minimumLength;
        break;
      case 9:
        address += c.u16();
        break;
      case 10:
        endsPrologue = true;
        break;
      default:
        for (let n = 0; n < (h.operandCounts[opcode - 1] ?? 0); n++) c.uleb();
    }
  }
}
