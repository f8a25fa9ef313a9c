// Macro definitions, repeats, includes, messages, and directives that LLVM has but this assembler does not.
// Source: llvm/lib/MC/MCParser/AsmParser.cpp.
import { type Lexer, Tok } from '../../../isa/text/lexer.ts';
import type { Assembler } from '../assembler.ts';
import { defineMacro, repeat, repeatForEach } from '../macros.ts';
import type { DirectiveHandler } from './handler.ts';
import { reloc } from './reloc.ts';

/** A string operand with its escapes replaced; undefined after a diagnostic. */
function readString(lexer: Lexer): string | undefined {
  if (!lexer.is(Tok.String))
    return lexer.fail(lexer.start(), lexer.is(Tok.Error) ? lexer.errorText() : 'expected string');
  const value = lexer.stringValue();
  lexer.lex();
  return value;
}

const include: DirectiveHandler = (a, lexer, _name, offset) => {
  const at = lexer.start();
  const file = lexer.is(Tok.String) ? readString(lexer) : lexer.fail(at, "expected string in '.include' directive");
  if (file === undefined || !a.endOfStatement(lexer)) return;
  if (!a.enterInclude(lexer, file, offset)) lexer.fail(at, `Could not find include file '${file}'`);
};

/** `.error`, `.warning`: an optional text. */
function message(isError: boolean): DirectiveHandler {
  const name = isError ? '.error' : '.warning';
  return (a, lexer, _name, offset) => {
    let text = `${name} directive invoked in source file`;
    if (!lexer.is(Tok.EndOfStatement)) {
      if (!lexer.is(Tok.String)) {
        lexer.fail(lexer.start(), `${name} argument must be a string`);
        return;
      }
      text = lexer.tokenText().slice(1, -1);
      lexer.lex();
    }
    if (!isError && !a.endOfStatement(lexer)) return;
    if (isError) lexer.fail(offset, text);
    else a.warn(offset, text);
  };
}

const print: DirectiveHandler = (a, lexer) => {
  if (!lexer.is(Tok.String)) {
    lexer.fail(lexer.start(), 'expected double quoted string after .print');
    return;
  }
  const text = lexer.tokenText().slice(1, -1);
  lexer.lex();
  if (!a.endOfStatement(lexer)) return;
  a.streamer?.print(text);
};

const exitMacro: DirectiveHandler = (a, lexer, name) => {
  if (!a.endOfStatement(lexer)) return;
  if (!a.exitMacro()) lexer.fail(lexer.start(), `unexpected '${name}' in file, no current macro definition`);
};

const endMacro: DirectiveHandler = (_a, lexer, name) => {
  lexer.fail(lexer.start(), `unexpected '${name}' in file, no current macro definition`);
};

const endRepeat: DirectiveHandler = (_a, lexer) => {
  lexer.fail(lexer.start(), "unmatched '.endr' directive");
};

const purgeMacro: DirectiveHandler = (a, lexer, _name, offset) => {
  for (;;) {
    const name = a.identifier(lexer);
    if (name === undefined) {
      lexer.fail(lexer.start(), "expected identifier in '.purgem' directive");
      return;
    }
    if (!a.macros.delete(name)) {
      lexer.fail(offset, `macro '${name}' is not defined`);
      return;
    }
    if (lexer.is(Tok.EndOfStatement)) return;
    if (!lexer.skip(Tok.Comma)) {
      lexer.fail(lexer.start(), 'expected comma');
      return;
    }
  }
};

function alternate(on: boolean): DirectiveHandler {
  return (a, lexer) => {
    if (a.endOfStatement(lexer)) a.altMacro = on;
  };
}

/** `.line N`: accepted and without effect, as in LLVM. */
const line: DirectiveHandler = (a, lexer) => {
  if (lexer.is(Tok.Integer)) lexer.lex();
  a.endOfStatement(lexer);
};

/** Directives whose effect would be missing from the object: an error is better than a silent gap. */
const unsupported: DirectiveHandler = (_a, lexer, name, offset) => {
  lexer.fail(offset, `'${name}' is not supported by this assembler; use '--engine llvm'`);
};

const UNSUPPORTED = [
  '.loc_label',
  '.cfi_def_cfa',
  '.cfi_def_cfa_offset',
  '.cfi_def_cfa_register',
  '.cfi_llvm_def_aspace_cfa',
  '.cfi_adjust_cfa_offset',
  '.cfi_offset',
  '.cfi_rel_offset',
  '.cfi_register',
  '.cfi_undefined',
  '.cfi_same_value',
  '.cfi_restore',
  '.cfi_remember_state',
  '.cfi_restore_state',
  '.cfi_escape',
  '.cfi_return_column',
  '.cfi_signal_frame',
  '.cfi_personality',
  '.cfi_lsda',
  '.symver',
  '.weakref',
  '.version',
  '.cg_profile',
  '.pseudoprobe',
  '.lto_discard',
  '.stabs',
  '.bundle_align_mode',
  '.bundle_lock',
  '.bundle_unlock',
  '.dcb',
  '.ds',
  '.cv_file',
  '.cv_loc',
];

function repeatDirective(a: Assembler, lexer: Lexer, name: string, offset: number): void {
  repeat(a, lexer, name, offset);
}

export const MISC_DIRECTIVES: Readonly<Record<string, DirectiveHandler>> = {
  '.macro': (a, lexer, _name, offset) => defineMacro(a, lexer, offset),
  '.endm': endMacro,
  '.endmacro': endMacro,
  '.exitm': exitMacro,
  '.purgem': purgeMacro,
  '.rep': repeatDirective,
  '.rept': repeatDirective,
  '.irp': (a, lexer, _name, offset) => repeatForEach(a, lexer, '.irp', offset),
  '.irpc': (a, lexer, _name, offset) => repeatForEach(a, lexer, '.irpc', offset),
  '.endr': endRepeat,
  '.altmacro': alternate(true),
  '.noaltmacro': alternate(false),
  '.include': include,
  '.reloc': reloc,
  '.error': message(true),
  '.err': (_a, lexer, _name, offset) => {
    lexer.fail(offset, '.err encountered');
  },
  '.warning': message(false),
  '.print': print,
  '.end': (a) => a.end(),
  '.line': line,
  '.extern': () => {},
  ...Object.fromEntries(UNSUPPORTED.map((d) => [d, unsupported])),
};
