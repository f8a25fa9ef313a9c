// Section directives: `.section` and its short forms, the stacks of sections, `.ident`.
// Source: llvm/lib/MC/MCParser/ELFAsmParser.cpp.
import { type ObjectGroup, SectionFlag, SectionType } from '../../../codeobject/elf/object-model.ts';
import { type Lexer, Tok } from '../../../isa/text/lexer.ts';
import type { AsmSymbol, SectionDescription } from '../../object/model.ts';
import type { Assembler } from '../assembler.ts';
import { quoteString } from '../llvm-mc-printer.ts';
import { byteTextBytes } from '../source.ts';
import type { DirectiveHandler } from './handler.ts';

const { ALLOC, WRITE, EXECINSTR, TLS, MERGE, STRINGS, GROUP, LINK_ORDER, EXCLUDE, GNU_RETAIN } = SectionFlag;

function shortForm(name: string, type: number, flags: number): DirectiveHandler {
  return (a, lexer) => {
    let subsection = 0;
    if (!lexer.is(Tok.EndOfStatement)) {
      const number = readSubsection(a, lexer);
      if (number === undefined) return;
      subsection = number;
    }
    const section = a.emitter.section({ name, type, flags, entrySize: 0 });
    a.emitter.switchTo(section, subsection);
    a.streamer?.section(section.description, subsection);
  };
}

function readSubsection(a: Assembler, lexer: Lexer): number | undefined {
  const at = lexer.start();
  const number = a.absolute(lexer);
  if (number === undefined) return undefined;
  if (number < 0n || number > 0x7fffffffn) {
    return lexer.fail(at, `subsection number ${number} is not within [0,2147483647]`);
  }
  return Number(number);
}

const FLAG_LETTERS: Readonly<Record<string, number>> = {
  a: ALLOC,
  e: EXCLUDE,
  x: EXECINSTR,
  w: WRITE,
  o: LINK_ORDER,
  M: MERGE,
  S: STRINGS,
  T: TLS,
  G: GROUP,
  R: GNU_RETAIN,
};

const TYPES: Readonly<Record<string, number>> = {
  init_array: SectionType.INIT_ARRAY,
  fini_array: SectionType.FINI_ARRAY,
  preinit_array: SectionType.PREINIT_ARRAY,
  nobits: SectionType.NOBITS,
  progbits: SectionType.PROGBITS,
  note: SectionType.NOTE,
  unwind: 0x70000001,
  llvm_odrtab: 0x6fff4c00,
  llvm_linker_options: 0x6fff4c01,
  llvm_dependent_libraries: 0x6fff4c04,
  llvm_sympart: 0x6fff4c05,
  llvm_call_graph_profile: 0x6fff4c09,
  llvm_bb_addr_map: 0x6fff4c0a,
  llvm_offloading: 0x6fff4c0b,
  llvm_lto: 0x6fff4c0c,
};

function hasPrefix(name: string, prefix: string): boolean {
  return name === prefix || name.startsWith(`${prefix}.`);
}

function defaultFlags(name: string): number {
  if (hasPrefix(name, '.rodata') || name === '.rodata1') return ALLOC;
  if (name === '.fini' || name === '.init' || hasPrefix(name, '.text')) return ALLOC | EXECINSTR;
  const data = ['.data', '.bss', '.init_array', '.fini_array', '.preinit_array'];
  if (name === '.data1' || data.some((prefix) => hasPrefix(name, prefix))) return ALLOC | WRITE;
  if (hasPrefix(name, '.tdata') || hasPrefix(name, '.tbss')) return ALLOC | WRITE | TLS;
  return 0;
}

function defaultType(name: string): number {
  if (name.startsWith('.note')) return SectionType.NOTE;
  if (hasPrefix(name, '.init_array')) return SectionType.INIT_ARRAY;
  if (hasPrefix(name, '.bss') || hasPrefix(name, '.tbss')) return SectionType.NOBITS;
  if (hasPrefix(name, '.fini_array')) return SectionType.FINI_ARRAY;
  return hasPrefix(name, '.preinit_array') ? SectionType.PREINIT_ARRAY : SectionType.PROGBITS;
}

/** A section name: a string, or all adjacent tokens up to a comma. */
function readName(lexer: Lexer): string | undefined {
  if (lexer.is(Tok.String)) {
    const name = lexer.tokenText().slice(1, -1);
    lexer.lex();
    return name;
  }
  const start = lexer.start();
  let end = start;
  while (!lexer.is(Tok.Comma) && !lexer.is(Tok.EndOfStatement) && (end === start || lexer.start() === end)) {
    end = lexer.end();
    lexer.lex();
  }
  return end === start ? undefined : lexer.text.slice(start, end);
}

/** `"awx"`, a number, or letters with `?` for "the group of the current section". */
function readFlags(lexer: Lexer): { flags: number; useLastGroup: boolean } | undefined {
  const text = lexer.tokenText().slice(1, -1);
  lexer.lex();
  if (/^(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)$/.test(text)) {
    const value = /^0[0-7]+$/.test(text) ? Number.parseInt(text, 8) : Number(text);
    return { flags: value, useLastGroup: false };
  }
  let flags = 0;
  let useLastGroup = false;
  for (const letter of text) {
    if (letter === '?') useLastGroup = true;
    else if (Object.hasOwn(FLAG_LETTERS, letter)) flags = (flags | FLAG_LETTERS[letter]) >>> 0;
    else return lexer.fail(lexer.start(), 'unknown flag');
  }
  return { flags, useLastGroup };
}

function readType(a: Assembler, lexer: Lexer): string | undefined {
  const isMarker = lexer.is(Tok.At) || lexer.is(Tok.Percent);
  if (!isMarker && !lexer.is(Tok.String)) {
    return lexer.fail(lexer.start(), "expected '@<type>', '%<type>' or \"<type>\"");
  }
  if (isMarker) lexer.lex();
  if (lexer.is(Tok.Integer)) {
    const text = lexer.tokenText();
    lexer.lex();
    return text;
  }
  const name = a.identifier(lexer);
  return name ?? lexer.fail(lexer.start(), 'expected identifier');
}

/** What stands after the name of a `.section`. */
interface Arguments {
  flags: number;
  explicitFlags: number;
  typeName: string | undefined;
  entrySize: number;
  group: ObjectGroup | undefined;
  linkedTo: AsmSymbol | undefined;
  uniqueId: number | undefined;
  subsection: number;
}

function readGroup(a: Assembler, lexer: Lexer): ObjectGroup | undefined {
  if (!lexer.skip(Tok.Comma)) return lexer.fail(lexer.start(), 'expected group name');
  let signature: string | undefined;
  if (lexer.is(Tok.Integer)) {
    signature = lexer.tokenText();
    lexer.lex();
  } else signature = a.identifier(lexer);
  if (signature === undefined) return lexer.fail(lexer.start(), 'invalid group name');
  let comdat = false;
  if (lexer.is(Tok.Comma) && lexer.isIdentifier('comdat', 1)) {
    lexer.lex();
    lexer.lex();
    comdat = true;
  } else if (lexer.is(Tok.Comma) && !lexer.isIdentifier('unique', 1)) {
    return lexer.fail(lexer.start(1), "Linkage must be 'comdat'");
  }
  return { signature, comdat };
}

/** `,"flags",@type,entsize,linked,group,comdat,unique,id`; false after a diagnostic. */
function readArguments(a: Assembler, lexer: Lexer, args: Arguments, isPush: boolean): boolean {
  if (!lexer.skip(Tok.Comma)) return a.endOfStatement(lexer);
  if (isPush && !lexer.is(Tok.String)) {
    const number = readSubsection(a, lexer);
    if (number === undefined) return false;
    args.subsection = number;
    if (!lexer.skip(Tok.Comma)) return a.endOfStatement(lexer);
  }
  const fail = (message: string) => {
    lexer.fail(lexer.start(), message);
    return false;
  };
  if (!lexer.is(Tok.String)) return fail('expected string');
  const read = readFlags(lexer);
  if (read === undefined) return false;
  args.explicitFlags = read.flags;
  args.flags = (args.flags | read.flags) >>> 0;
  const isMergeable = (args.flags & MERGE) !== 0;
  const isGroup = (args.flags & GROUP) !== 0;
  if (isGroup && read.useLastGroup) {
    return fail('Section cannot specifiy a group name while also acting as a member of the last group');
  }
  if (lexer.skip(Tok.Comma)) {
    args.typeName = readType(a, lexer);
    if (args.typeName === undefined) return false;
  } else {
    if (isMergeable) return fail('Mergeable section must specify the type');
    if (isGroup) return fail('Group section must specify the type');
    if (!lexer.is(Tok.EndOfStatement)) return fail('expected newline');
  }
  if (isMergeable) {
    if (!lexer.skip(Tok.Comma)) return fail('expected the entry size');
    const at = lexer.start();
    const size = a.absolute(lexer);
    if (size === undefined) return false;
    if (size <= 0n || size > 0xffffffffn) {
      lexer.fail(at, 'entry size must be positive');
      return false;
    }
    args.entrySize = Number(size);
  }
  if ((args.flags & LINK_ORDER) !== 0) {
    if (!lexer.skip(Tok.Comma)) return fail('expected linked-to symbol');
    const at = lexer.start();
    if (lexer.is(Tok.Integer) && lexer.tokenText() === '0') lexer.lex();
    else {
      const name = a.identifier(lexer);
      if (name === undefined) return fail('invalid linked-to symbol');
      const symbol = a.symbols.lookup(name);
      if (symbol?.isLabel !== true) {
        lexer.fail(at, `linked-to symbol is not in a section: ${name}`);
        return false;
      }
      args.linkedTo = symbol;
    }
  }
  if (isGroup) {
    args.group = readGroup(a, lexer);
    if (args.group === undefined) return false;
  } else if (read.useLastGroup) {
    args.group = a.emitter.currentSection.description.group;
    if (args.group !== undefined) args.flags |= GROUP;
  }
  if (lexer.skip(Tok.Comma)) {
    if (!lexer.isIdentifier('unique')) return fail("expected 'unique'");
    lexer.lex();
    if (!lexer.skip(Tok.Comma)) return fail('expected comma');
    const at = lexer.start();
    const id = a.absolute(lexer);
    if (id === undefined) return false;
    if (id < 0n || id >= 0xffffffffn) {
      lexer.fail(at, id < 0n ? 'unique id must be positive' : 'unique id is too large');
      return false;
    }
    args.uniqueId = Number(id);
  }
  return a.endOfStatement(lexer);
}

function section(a: Assembler, lexer: Lexer, offset: number, isPush: boolean): boolean {
  const name = readName(lexer);
  if (name === undefined) {
    lexer.fail(lexer.start(), 'expected identifier');
    return false;
  }
  const args: Arguments = {
    flags: defaultFlags(name),
    explicitFlags: 0,
    typeName: undefined,
    entrySize: 0,
    group: undefined,
    linkedTo: undefined,
    uniqueId: undefined,
    subsection: 0,
  };
  if (!readArguments(a, lexer, args, isPush)) return false;
  let type = defaultType(name);
  if (args.typeName !== undefined) {
    const named = TYPES[args.typeName] ?? Number(args.typeName);
    if (!Number.isInteger(named)) {
      lexer.fail(lexer.start(), 'unknown section type');
      return false;
    }
    type = named;
  }
  const { flags, entrySize, group, linkedTo, uniqueId, subsection } = args;
  const description: SectionDescription = { name, type, flags, entrySize, group, linkedTo, uniqueId };
  const found = a.emitter.section(description);
  a.emitter.switchTo(found, subsection);
  a.streamer?.section(found.description, subsection);
  const existing = found.description;
  const isExplicit = args.explicitFlags !== 0 || entrySize !== 0 || args.typeName !== undefined;
  if (args.typeName !== undefined && existing.type !== type) {
    lexer.fail(offset, `changed section type for ${name}, expected: 0x${existing.type.toString(16)}`);
  }
  if (isExplicit && existing.flags !== flags) {
    lexer.fail(offset, `changed section flags for ${name}, expected: 0x${existing.flags.toString(16)}`);
  }
  if (isExplicit && existing.entrySize !== entrySize) {
    lexer.fail(offset, `changed section entsize for ${name}, expected: ${existing.entrySize}`);
  }
  return true;
}

const pushSection: DirectiveHandler = (a, lexer, _name, offset) => {
  if (a.emitter.sections.stackDepth >= 1000) {
    lexer.fail(offset, 'sections are pushed more than 1000 deep');
    return;
  }
  a.emitter.sections.push();
  if (!section(a, lexer, offset, true)) a.emitter.sections.pop();
};

const popSection: DirectiveHandler = (a, lexer) => {
  if (!a.emitter.sections.pop()) {
    lexer.fail(lexer.start(), '.popsection without corresponding .pushsection');
    return;
  }
  printPosition(a);
  a.leaveEndOfStatement(lexer);
};

const previous: DirectiveHandler = (a, lexer) => {
  const position = a.emitter.sections.previous;
  if (position === undefined) {
    lexer.fail(lexer.start(), '.previous without corresponding .section');
    return;
  }
  a.emitter.switchTo(position.section, position.subsection);
  printPosition(a);
  a.leaveEndOfStatement(lexer);
};

const subsection: DirectiveHandler = (a, lexer) => {
  let number: number | undefined = 0;
  if (!lexer.is(Tok.EndOfStatement)) {
    number = readSubsection(a, lexer);
    if (number === undefined || !a.endOfStatement(lexer)) return;
  }
  a.emitter.switchTo(a.emitter.currentSection, number);
  printPosition(a);
};

function printPosition(a: Assembler): void {
  const position = a.emitter.sections.position;
  if (position !== undefined) a.streamer?.section(position.section.description, position.subsection);
}

const ident: DirectiveHandler = (a, lexer) => {
  if (!lexer.is(Tok.String)) {
    lexer.fail(lexer.start(), 'expected string');
    return;
  }
  const text = lexer.tokenText().slice(1, -1);
  lexer.lex();
  if (!a.endOfStatement(lexer)) return;
  const { sections } = a.emitter;
  sections.push();
  const comment = a.emitter.section({
    name: '.comment',
    type: SectionType.PROGBITS,
    flags: MERGE | STRINGS,
    entrySize: 1,
  });
  const isFirst = !comment.isRegistered;
  a.emitter.switchTo(comment);
  if (isFirst) a.emitter.integer(0n, 1);
  a.emitter.bytes(byteTextBytes(text));
  a.emitter.integer(0n, 1);
  sections.pop();
  a.streamer?.line(`\t.ident\t${quoteString(text)}`);
};

export const SECTION_DIRECTIVES: Readonly<Record<string, DirectiveHandler>> = {
  '.data': shortForm('.data', SectionType.PROGBITS, WRITE | ALLOC),
  '.text': shortForm('.text', SectionType.PROGBITS, EXECINSTR | ALLOC),
  '.bss': shortForm('.bss', SectionType.NOBITS, WRITE | ALLOC),
  '.rodata': shortForm('.rodata', SectionType.PROGBITS, ALLOC),
  '.tdata': shortForm('.tdata', SectionType.PROGBITS, WRITE | ALLOC | TLS),
  '.tbss': shortForm('.tbss', SectionType.NOBITS, WRITE | ALLOC | TLS),
  '.data.rel': shortForm('.data.rel', SectionType.PROGBITS, WRITE | ALLOC),
  '.data.rel.ro': shortForm('.data.rel.ro', SectionType.PROGBITS, WRITE | ALLOC),
  '.eh_frame': shortForm('.eh_frame', SectionType.PROGBITS, WRITE | ALLOC),
  '.section': (a, lexer, _name, offset) => {
    section(a, lexer, offset, false);
  },
  '.pushsection': pushSection,
  '.popsection': popSection,
  '.previous': previous,
  '.subsection': subsection,
  '.ident': ident,
};
