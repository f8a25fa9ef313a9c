// What `.file`, `.loc` and `.cfi_*` collect, and the .debug_frame and .debug_line sections made of it at the end.
// Sources: llvm/lib/MC/MCDwarf.cpp (line tables, frame tables); DWARF 4 and 5, sections 6.2 and 6.4.
import { SectionFlag, SectionType } from '../../../codeobject/elf/object-model.ts';
import type { Expr } from '../../../isa/text/expr-tree.ts';
import { encodeLeb } from '../../object/layout.ts';
import type { AsmSection, AsmSymbol, Fragment } from '../../object/model.ts';
import type { SymbolTable } from '../../object/symbols.ts';
import type { Emitter } from '../emit.ts';
import { byteTextBytes, type Location } from '../source.ts';

/** Flags of a `.loc`. */
export const LineFlag = { IS_STMT: 1, BASIC_BLOCK: 2, PROLOGUE_END: 4, EPILOGUE_BEGIN: 8 } as const;

/** A `.loc`: the source position of the code that follows. */
export interface LineLocation {
  readonly file: number;
  readonly line: number;
  readonly column: number;
  readonly flags: number;
  readonly isa: number;
  readonly discriminator: number;
}

/** A `.file NUMBER`. */
export interface DebugFile {
  readonly name: string;
  readonly directory: string;
  readonly md5: Uint8Array | undefined;
}

interface LineEntry extends LineLocation {
  readonly fragment: Fragment;
  readonly offset: number;
}

interface Frame {
  readonly begin: AsmSymbol;
  readonly end: AsmSymbol;
}

/** What debug information asks of the assembly it belongs to. */
export interface DebugInfoHost {
  readonly symbols: SymbolTable;
  readonly emitter: Emitter;
  /** Where the current statement is. */
  readonly currentLocation: Location;
}

const LINE_BASE = -5;
const LINE_RANGE = 14;
const OPCODE_BASE = 13;
const MIN_INSTRUCTION_LENGTH = 4n;
const MAX_SPECIAL_ADDRESS_DELTA = BigInt(Math.floor((255 - OPCODE_BASE) / LINE_RANGE));
const STANDARD_OPCODE_LENGTHS = [0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1];
/** Program counter in LLVM's DWARF register numbers of AMDGPU. */
const RETURN_ADDRESS_REGISTER = 16;

const Standard = {
  COPY: 1,
  ADVANCE_PC: 2,
  ADVANCE_LINE: 3,
  SET_FILE: 4,
  SET_COLUMN: 5,
  NEGATE_STMT: 6,
  SET_BASIC_BLOCK: 7,
  CONST_ADD_PC: 8,
  SET_PROLOGUE_END: 10,
  SET_EPILOGUE_BEGIN: 11,
  SET_ISA: 12,
} as const;
const Extended = { END_SEQUENCE: 1, SET_ADDRESS: 2, SET_DISCRIMINATOR: 4 } as const;
const Content = { PATH: 1, DIRECTORY_INDEX: 2, MD5: 5 } as const;
const Form = { UDATA: 0x0f, DATA16: 0x1e, LINE_STRP: 0x1f } as const;

function uleb(value: number | bigint): number[] {
  return [...encodeLeb(BigInt(value), false)];
}

/** Collects line positions and frames while statements are read. */
export class DebugInfo {
  /** Files by number; number 0 is the root file of DWARF 5. */
  readonly files = new Map<number, DebugFile>();
  /** DWARF 5 once `.file 0` is there. */
  version = 4;
  /** `.cfi_sections` asked for .debug_frame and for .eh_frame. */
  wantsDebugFrame = false;
  wantsEhFrame = true;
  private pending: LineLocation | undefined;
  current: LineLocation = { file: 1, line: 1, column: 0, flags: LineFlag.IS_STMT, isa: 0, discriminator: 0 };
  private readonly entries = new Map<AsmSection, LineEntry[]>();
  private openFrame: AsmSymbol | undefined;
  private readonly frames: Frame[] = [];
  private readonly a: DebugInfoHost;

  constructor(a: DebugInfoHost) {
    this.a = a;
  }

  /** Whether code must ask for `place` before it is written. */
  get isPending(): boolean {
    return this.pending !== undefined;
  }

  /** `.loc`. */
  setLocation(location: LineLocation): void {
    if (this.pending !== undefined) this.place();
    this.pending = location;
    this.current = location;
  }

  /** The next bytes belong to the pending location. */
  place(): void {
    const location = this.pending;
    if (location === undefined) return;
    this.pending = undefined;
    const fragment = this.a.emitter.sections.data();
    let list = this.entries.get(fragment.section);
    if (list === undefined) {
      list = [];
      this.entries.set(fragment.section, list);
    }
    list.push({ ...location, fragment, offset: fragment.data.length });
  }

  get isInFrame(): boolean {
    return this.openFrame !== undefined;
  }

  /** `.cfi_startproc` and `.cfi_endproc`. */
  beginFrame(): void {
    this.openFrame = this.labelHere();
  }

  endFrame(): void {
    if (this.openFrame === undefined) return;
    this.frames.push({ begin: this.openFrame, end: this.labelHere() });
    this.openFrame = undefined;
  }

  private labelHere(): AsmSymbol {
    const symbol = this.a.symbols.createTemporary();
    this.a.emitter.label(symbol);
    return symbol;
  }

  private difference(end: AsmSymbol, start: AsmSymbol): Expr {
    const operand = (symbol: AsmSymbol): Expr => ({ kind: 'symbol', name: symbol.key });
    return { kind: 'binary', op: '-', lhs: operand(end), rhs: operand(start) };
  }

  private section(name: string, flags = 0, entrySize = 0): AsmSection {
    return this.a.emitter.section({ name, type: SectionType.PROGBITS, flags, entrySize });
  }

  /** Writes the sections; called once, after the last statement. */
  finish(): void {
    const lineEnds = new Map<AsmSection, AsmSymbol>();
    const { emitter } = this.a;
    if (this.frames.length > 0 && this.wantsDebugFrame) this.writeFrames();
    if (this.files.size === 0) return;
    for (const section of this.entries.keys()) {
      const last = section.subsections[section.subsections.length - 1];
      emitter.switchTo(section, last.number);
      lineEnds.set(section, this.labelHere());
    }
    this.writeLines(lineEnds);
  }

  private emit(bytes: readonly number[] | Uint8Array): void {
    this.a.emitter.bytes(bytes instanceof Uint8Array ? bytes : Uint8Array.from(bytes));
  }

  private value(expr: Expr, size: number): void {
    this.a.emitter.value(expr, size, this.a.currentLocation);
  }

  private writeFrames(): void {
    const { emitter } = this.a;
    const section = this.section('.debug_frame');
    emitter.switchTo(section);
    const pad = () => emitter.align(8, { value: 0n, size: 1, code: false }, 0, this.a.currentLocation);
    pad();
    const cie = this.labelHere();
    emitter.integer(12n, 4);
    emitter.integer(0xffffffffn, 4);
    this.emit([4, 0, 8, 0, 4, 4, RETURN_ADDRESS_REGISTER]);
    pad();
    for (const { begin, end } of this.frames) {
      emitter.integer(20n, 4);
      this.value({ kind: 'symbol', name: cie.key }, 4);
      this.value({ kind: 'symbol', name: begin.key }, 8);
      this.value(this.difference(end, begin), 8);
      pad();
    }
  }

  private writeLines(ends: ReadonlyMap<AsmSection, AsmSymbol>): void {
    const { symbols, emitter } = this.a;
    emitter.switchTo(this.section('.debug_line'));
    const strings =
      this.version >= 5 ? this.section('.debug_line_str', SectionFlag.MERGE | SectionFlag.STRINGS, 1) : undefined;
    const text: string[] = [];
    const end = symbols.createTemporary();
    this.lengthField(end);
    emitter.integer(BigInt(this.version), 2);
    if (this.version >= 5) this.emit([8, 0]);
    const headerEnd = symbols.createTemporary();
    this.lengthField(headerEnd);
    this.emit([Number(MIN_INSTRUCTION_LENGTH), 1, 1, LINE_BASE & 0xff, LINE_RANGE, OPCODE_BASE]);
    this.emit(STANDARD_OPCODE_LENGTHS);
    if (strings === undefined) this.writeFileTable4();
    else this.writeFileTable5(strings, text);
    emitter.label(headerEnd);
    for (const [section, entries] of this.entries) this.writeSequence(entries, ends.get(section) as AsmSymbol);
    emitter.label(end);
    if (strings !== undefined) {
      emitter.switchTo(strings);
      this.emit(byteTextBytes(text.map((t) => `${t}\0`).join('')));
    }
  }

  /** A 32-bit length that counts from behind itself to `end`. */
  private lengthField(end: AsmSymbol): void {
    const start = this.a.symbols.createTemporary();
    this.value(this.difference(end, start), 4);
    this.a.emitter.label(start);
  }

  private directories(): string[] {
    const root = this.files.get(0)?.directory;
    const names: string[] = [];
    for (const [number, { directory }] of this.files) {
      if (number !== 0 && directory !== '' && directory !== root && !names.includes(directory)) names.push(directory);
    }
    return names;
  }

  private highestFile(): number {
    return Math.max(...this.files.keys());
  }

  private writeFileTable4(): void {
    const directories = this.directories();
    const cstring = (text: string) => [...byteTextBytes(text), 0];
    for (const directory of directories) this.emit(cstring(directory));
    this.emit([0]);
    for (let number = 1; number <= this.highestFile(); number++) {
      const file = this.files.get(number);
      if (file === undefined) continue;
      this.emit([...cstring(file.name), ...uleb(directories.indexOf(file.directory) + 1), 0, 0]);
    }
    this.emit([0]);
  }

  private writeFileTable5(strings: AsmSection, text: string[]): void {
    const directories = this.directories();
    const root = this.files.get(0) ?? this.files.get(1);
    const reference = (name: string) => {
      let at = 0;
      const known = text.indexOf(name);
      if (known < 0) text.push(name);
      for (const earlier of text.slice(0, known < 0 ? text.length - 1 : known)) at += earlier.length + 1;
      const symbol: Expr = { kind: 'symbol', name: strings.symbol.key };
      this.value({ kind: 'binary', op: '+', lhs: symbol, rhs: { kind: 'const', value: BigInt(at) } }, 4);
    };
    this.emit([1, Content.PATH, Form.LINE_STRP, ...uleb(directories.length + 1)]);
    reference(root?.directory ?? '');
    for (const directory of directories) reference(directory);
    const hasMd5 = [...this.files.values()].every((file) => file.md5 !== undefined);
    this.emit([hasMd5 ? 3 : 2, Content.PATH, Form.LINE_STRP, Content.DIRECTORY_INDEX, Form.UDATA]);
    if (hasMd5) this.emit([Content.MD5, Form.DATA16]);
    this.emit(uleb(this.highestFile() + 1));
    for (let number = 0; number <= this.highestFile(); number++) {
      const file = this.files.get(number) ?? root;
      if (file === undefined) continue;
      reference(file.name);
      this.emit(uleb(directories.indexOf(file.directory) + 1));
      if (hasMd5 && file.md5 !== undefined) this.emit(file.md5);
    }
  }

  private writeSequence(entries: readonly LineEntry[], sectionEnd: AsmSymbol): void {
    const { emitter, symbols } = this.a;
    let file = 1;
    let line = 1;
    let column = 0;
    let flags: number = LineFlag.IS_STMT;
    let isa = 0;
    let last: AsmSymbol | undefined;
    const label = (entry: LineEntry): AsmSymbol => {
      const symbol = symbols.createTemporary();
      symbol.fragment = entry.fragment;
      symbol.offset = entry.offset;
      return symbol;
    };
    for (const entry of entries) {
      const bytes: number[] = [];
      if (entry.file !== file) bytes.push(Standard.SET_FILE, ...uleb(entry.file));
      if (entry.column !== column) bytes.push(Standard.SET_COLUMN, ...uleb(entry.column));
      if (entry.discriminator !== 0) {
        const value = uleb(entry.discriminator);
        bytes.push(0, ...uleb(value.length + 1), Extended.SET_DISCRIMINATOR, ...value);
      }
      if (entry.isa !== isa) bytes.push(Standard.SET_ISA, ...uleb(entry.isa));
      if (((entry.flags ^ flags) & LineFlag.IS_STMT) !== 0) bytes.push(Standard.NEGATE_STMT);
      if ((entry.flags & LineFlag.BASIC_BLOCK) !== 0) bytes.push(Standard.SET_BASIC_BLOCK);
      if ((entry.flags & LineFlag.PROLOGUE_END) !== 0) bytes.push(Standard.SET_PROLOGUE_END);
      if ((entry.flags & LineFlag.EPILOGUE_BEGIN) !== 0) bytes.push(Standard.SET_EPILOGUE_BEGIN);
      this.emit(bytes);
      const here = label(entry);
      if (last === undefined) {
        this.emit([0, 9, Extended.SET_ADDRESS]);
        this.value({ kind: 'symbol', name: here.key }, 8);
        this.emit(advance(entry.line - line, 0n));
      } else {
        const lineDelta = entry.line - line;
        emitter.computed(this.difference(here, last), (delta) => advance(lineDelta, delta));
      }
      file = entry.file;
      column = entry.column;
      isa = entry.isa;
      flags = entry.flags;
      line = entry.line;
      last = here;
    }
    if (last !== undefined) emitter.computed(this.difference(sectionEnd, last), (delta) => endSequence(delta));
  }
}

/** The opcodes that advance line and address and add a row (MCDwarfLineAddr::encode). */
function advance(lineDelta: number, addressBytes: bigint): number[] {
  const delta = addressBytes / MIN_INSTRUCTION_LENGTH;
  const bytes: number[] = [];
  let special = lineDelta - LINE_BASE;
  let needsCopy = false;
  let remaining = lineDelta;
  if (special < 0 || special >= LINE_RANGE || special + OPCODE_BASE > 255) {
    bytes.push(Standard.ADVANCE_LINE, ...encodeLeb(BigInt(lineDelta), true));
    remaining = 0;
    special = -LINE_BASE;
    needsCopy = true;
  }
  if (remaining === 0 && delta === 0n) return [...bytes, Standard.COPY];
  special += OPCODE_BASE;
  if (delta < 256n + MAX_SPECIAL_ADDRESS_DELTA) {
    const opcode = special + Number(delta) * LINE_RANGE;
    if (opcode <= 255) return [...bytes, opcode];
    const after = special + Number(delta - MAX_SPECIAL_ADDRESS_DELTA) * LINE_RANGE;
    if (after <= 255) return [...bytes, Standard.CONST_ADD_PC, after];
  }
  bytes.push(Standard.ADVANCE_PC, ...uleb(delta));
  return [...bytes, needsCopy ? Standard.COPY : special];
}

function endSequence(addressBytes: bigint): number[] {
  const delta = addressBytes / MIN_INSTRUCTION_LENGTH;
  const end = [0, 1, Extended.END_SEQUENCE];
  if (delta === MAX_SPECIAL_ADDRESS_DELTA) return [Standard.CONST_ADD_PC, ...end];
  return delta === 0n ? end : [Standard.ADVANCE_PC, ...uleb(delta), ...end];
}
