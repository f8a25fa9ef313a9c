// `.file`, `.loc` and the `.cfi_*` directives that clang emits for AMDGPU.
// Source: llvm/lib/MC/MCParser/AsmParser.cpp (parseDirectiveFile, parseDirectiveLoc, parseDirectiveCFI*).
import { type Lexer, Tok } from '../../../isa/text/lexer.ts';
import type { Assembler } from '../assembler.ts';
import { LineFlag } from './debug-info.ts';
import type { DirectiveHandler } from './handler.ts';

const MAX_FILES = 65536;

/** The statement as written, for printing. */
function echo(a: Assembler, lexer: Lexer, name: string, start: number): void {
  a.streamer?.line(`\t${name}\t${lexer.text.slice(start, lexer.start()).trimEnd()}`);
}

/** A string operand; undefined after a diagnostic. */
function readString(lexer: Lexer): string | undefined {
  if (!lexer.is(Tok.String)) return lexer.fail(lexer.start(), "unexpected token in '.file' directive");
  const value = lexer.stringValue();
  lexer.lex();
  return value;
}

/** 128 bits, most significant byte first; undefined after a diagnostic. */
function readMd5(lexer: Lexer): Uint8Array | undefined {
  const text = lexer.tokenText();
  if (!/^0[xX][0-9a-fA-F]{1,32}$/.test(text))
    return lexer.fail(lexer.start(), 'MD5 checksum must be a 128-bit hexadecimal number');
  lexer.lex();
  const digits = text.slice(2).padStart(32, '0');
  return Uint8Array.from({ length: 16 }, (_, i) => Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16));
}

/** `.file "name"` has no effect on AMDGPU; `.file N ["dir"] "name" [md5 0x…]` numbers a file for `.loc`. */
const file: DirectiveHandler = (a, lexer, name, offset) => {
  const start = lexer.start();
  if (!lexer.is(Tok.Integer)) {
    if (readString(lexer) !== undefined) a.endOfStatement(lexer);
    return;
  }
  const number = lexer.number();
  lexer.lex();
  if (!(number >= 0 && number < MAX_FILES)) {
    lexer.fail(start, `file number must be from 0 to ${MAX_FILES - 1}`);
    return;
  }
  let fileName = readString(lexer);
  if (fileName === undefined) return;
  let directory = '';
  if (lexer.is(Tok.String)) {
    directory = fileName;
    fileName = readString(lexer);
    if (fileName === undefined) return;
  } else if (number !== 0 && fileName.includes('/') && !fileName.endsWith('/')) {
    const cut = fileName.lastIndexOf('/');
    directory = cut === 0 ? '/' : fileName.slice(0, cut);
    fileName = fileName.slice(cut + 1);
  }
  let md5: Uint8Array | undefined;
  if (lexer.isIdentifier('md5')) {
    lexer.lex();
    md5 = readMd5(lexer);
    if (md5 === undefined) return;
  }
  if (lexer.isIdentifier('source')) {
    lexer.fail(lexer.start(), "embedded sources of '.file' are not supported by this assembler; use '--engine llvm'");
    return;
  }
  if (!a.endOfStatement(lexer)) return;
  const existing = a.debug.files.get(number);
  if (existing !== undefined && (existing.name !== fileName || existing.directory !== directory)) {
    lexer.fail(offset, 'file number already allocated');
    return;
  }
  a.debug.files.set(number, { name: fileName, directory, md5 });
  if (number === 0) a.debug.version = 5;
  echo(a, lexer, name, start);
};

const FLAG_NAMES: Readonly<Record<string, number>> = {
  basic_block: LineFlag.BASIC_BLOCK,
  prologue_end: LineFlag.PROLOGUE_END,
  epilogue_begin: LineFlag.EPILOGUE_BEGIN,
};

/** An optional number; undefined after a diagnostic. */
function readNumber(lexer: Lexer, what: string): number | undefined {
  if (!lexer.is(Tok.Integer)) return 0;
  const value = lexer.number();
  if (!(value >= 0 && value <= 0xffffffff))
    return lexer.fail(lexer.start(), `${what} less than zero in '.loc' directive`);
  lexer.lex();
  return value;
}

/** `.loc file [line [column]] [basic_block] [prologue_end] [epilogue_begin] [is_stmt N] [isa N] [discriminator N]`. */
const loc: DirectiveHandler = (a, lexer, name) => {
  const start = lexer.start();
  if (!lexer.is(Tok.Integer)) {
    lexer.fail(start, "unexpected token in '.loc' directive");
    return;
  }
  const fileNumber = lexer.number();
  lexer.lex();
  if (!a.debug.files.has(fileNumber)) {
    lexer.fail(start, "unassigned file number in '.loc' directive");
    return;
  }
  const line = readNumber(lexer, 'line number');
  if (line === undefined) return;
  const column = readNumber(lexer, 'column position');
  if (column === undefined) return;
  let flags = a.debug.current.flags & LineFlag.IS_STMT;
  const numbers = { isa: 0, discriminator: 0 };
  while (!lexer.is(Tok.EndOfStatement)) {
    const at = lexer.start();
    const word = lexer.is(Tok.Identifier) ? lexer.tokenText() : '';
    lexer.lex();
    if (Object.hasOwn(FLAG_NAMES, word)) flags |= FLAG_NAMES[word];
    else if (word === 'is_stmt' || word === 'isa' || word === 'discriminator') {
      const value = a.absolute(lexer);
      if (value === undefined) return;
      if (value < 0n || (word === 'is_stmt' && value > 1n) || value > 0xffffffffn) {
        lexer.fail(at, word === 'is_stmt' ? 'is_stmt value not 0 or 1' : `${word} value out of range`);
        return;
      }
      if (word === 'is_stmt') flags = (flags & ~LineFlag.IS_STMT) | Number(value);
      else numbers[word] = Number(value);
    } else {
      lexer.fail(at, "unknown sub-directive in '.loc' directive");
      return;
    }
  }
  a.debug.setLocation({ file: fileNumber, line, column, flags, ...numbers });
  echo(a, lexer, name, start);
};

const cfiSections: DirectiveHandler = (a, lexer, name) => {
  const start = lexer.start();
  let debugFrame = false;
  let ehFrame = false;
  do {
    const section = a.identifier(lexer);
    if (section === '.debug_frame') debugFrame = true;
    else if (section === '.eh_frame') ehFrame = true;
    else {
      lexer.fail(lexer.start(), 'expected .eh_frame or .debug_frame');
      return;
    }
  } while (lexer.skip(Tok.Comma));
  if (!a.endOfStatement(lexer)) return;
  a.debug.wantsDebugFrame = debugFrame;
  a.debug.wantsEhFrame = ehFrame;
  echo(a, lexer, name, start);
};

const cfiStart: DirectiveHandler = (a, lexer, _name, offset) => {
  if (!a.endOfStatement(lexer)) return;
  if (a.debug.isInFrame) {
    lexer.fail(offset, 'starting new .cfi frame before finishing the previous one');
    return;
  }
  if (a.debug.wantsEhFrame) {
    lexer.fail(offset, "only '.cfi_sections .debug_frame' is supported by this assembler; use '--engine llvm'");
    return;
  }
  a.debug.beginFrame();
  a.streamer?.line('\t.cfi_startproc');
};

const cfiEnd: DirectiveHandler = (a, lexer, _name, offset) => {
  if (!a.endOfStatement(lexer)) return;
  if (!a.debug.isInFrame) {
    lexer.fail(offset, 'this directive must appear between .cfi_startproc and .cfi_endproc directives');
    return;
  }
  a.debug.endFrame();
  a.streamer?.line('\t.cfi_endproc');
};

export const DEBUG_DIRECTIVES: Readonly<Record<string, DirectiveHandler>> = {
  '.file': file,
  '.loc': loc,
  '.cfi_sections': cfiSections,
  '.cfi_startproc': cfiStart,
  '.cfi_endproc': cfiEnd,
};
