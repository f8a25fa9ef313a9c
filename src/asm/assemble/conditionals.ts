// Conditional assembly: the `.if` family, `.elseif`, `.else`, `.endif`.
// Source: llvm/lib/MC/MCParser/AsmParser.cpp (parseDirectiveIf and the functions after it).
import { type Lexer, Tok } from '../../isa/text/lexer.ts';

/** What conditions ask of the assembly they belong to; the functions of the assembler's names. */
export interface ConditionHost {
  absolute(lexer: Lexer): bigint | undefined;
  identifier(lexer: Lexer): string | undefined;
  endOfStatement(lexer: Lexer): boolean;
  isDefined(name: string): boolean;
}

interface Condition {
  readonly kind: 'none' | 'if' | 'elseif' | 'else';
  /** A branch of this conditional has been taken. */
  readonly met: boolean;
  /** Statements are skipped. */
  readonly ignore: boolean;
}

const TOP: Condition = { kind: 'none', met: false, ignore: false };

/** The stack of open conditionals. */
export class Conditionals {
  private current: Condition = TOP;
  private readonly stack: Condition[] = [];

  get ignore(): boolean {
    return this.current.ignore;
  }

  get depth(): number {
    return this.stack.length;
  }

  get isOpen(): boolean {
    return this.current.kind !== 'none';
  }

  /** Leaves every conditional opened since the stack had `depth` entries (`.exitm`). */
  unwind(depth: number): void {
    while (this.stack.length > depth) this.current = this.stack.pop() as Condition;
  }

  /** Handles a conditional directive; false when `name` is none. */
  handle(a: ConditionHost, lexer: Lexer, name: string, offset: number): boolean {
    const test = TESTS[name];
    if (test !== undefined) {
      this.open(a, lexer, test);
      return true;
    }
    if (name === '.elseif') this.elseIf(a, lexer, offset);
    else if (name === '.else') this.otherwise(a, lexer, offset);
    else if (name === '.endif') this.end(a, lexer, offset);
    else return false;
    return true;
  }

  private open(a: ConditionHost, lexer: Lexer, test: Test): void {
    this.stack.push(this.current);
    if (this.current.ignore) {
      this.current = { kind: 'if', met: false, ignore: true };
      return;
    }
    const met = test(a, lexer);
    this.current = { kind: 'if', met: met === true, ignore: met === false };
  }

  private elseIf(a: ConditionHost, lexer: Lexer, offset: number): void {
    if (this.current.kind !== 'if' && this.current.kind !== 'elseif') {
      lexer.fail(offset, "Encountered a .elseif that doesn't follow an .if or  an .elseif");
      return;
    }
    const outer = this.stack[this.stack.length - 1]?.ignore ?? false;
    if (outer || this.current.met) {
      this.current = { kind: 'elseif', met: this.current.met, ignore: true };
      return;
    }
    const value = a.absolute(lexer);
    if (value === undefined || !a.endOfStatement(lexer)) {
      this.current = { kind: 'elseif', met: false, ignore: false };
      return;
    }
    this.current = { kind: 'elseif', met: value !== 0n, ignore: value === 0n };
  }

  private otherwise(a: ConditionHost, lexer: Lexer, offset: number): void {
    if (!a.endOfStatement(lexer)) return;
    if (this.current.kind !== 'if' && this.current.kind !== 'elseif') {
      lexer.fail(offset, "Encountered a .else that doesn't follow  an .if or an .elseif");
      return;
    }
    const outer = this.stack[this.stack.length - 1]?.ignore ?? false;
    this.current = { kind: 'else', met: this.current.met, ignore: outer || this.current.met };
  }

  private end(a: ConditionHost, lexer: Lexer, offset: number): void {
    if (!a.endOfStatement(lexer)) return;
    if (this.current.kind === 'none' || this.stack.length === 0) {
      lexer.fail(offset, "Encountered a .endif that doesn't follow an .if or .else");
      return;
    }
    this.current = this.stack.pop() as Condition;
  }
}

/** Undefined after a diagnostic. */
type Test = (a: ConditionHost, lexer: Lexer) => boolean | undefined;

function compareZero(accept: (value: bigint) => boolean): Test {
  return (a, lexer) => {
    const value = a.absolute(lexer);
    if (value === undefined || !a.endOfStatement(lexer)) return undefined;
    return accept(value);
  };
}

function blank(expected: boolean): Test {
  return (_a, lexer) => (lexer.restOfStatement().trim() === '') === expected;
}

function sameText(expected: boolean): Test {
  return (_a, lexer) => {
    const start = lexer.start();
    while (!lexer.is(Tok.Comma) && !lexer.is(Tok.EndOfStatement)) lexer.lex();
    const first = lexer.text.slice(start, lexer.start()).trim();
    if (!lexer.skip(Tok.Comma)) return lexer.fail(lexer.start(), 'unexpected token in comparison');
    return (first === lexer.restOfStatement().trim()) === expected;
  };
}

function sameString(expected: boolean): Test {
  const directive = expected ? '.ifeqs' : '.ifnes';
  return (a, lexer) => {
    if (!lexer.is(Tok.String))
      return lexer.fail(lexer.start(), `expected string parameter for '${directive}' directive`);
    const first = lexer.tokenText();
    lexer.lex();
    if (!lexer.skip(Tok.Comma)) {
      return lexer.fail(lexer.start(), `expected comma after first string for '${directive}' directive`);
    }
    if (!lexer.is(Tok.String))
      return lexer.fail(lexer.start(), `expected string parameter for '${directive}' directive`);
    const second = lexer.tokenText();
    lexer.lex();
    return a.endOfStatement(lexer) ? (first === second) === expected : undefined;
  };
}

function defined(expected: boolean): Test {
  const directive = expected ? '.ifdef' : '.ifndef';
  return (a, lexer) => {
    const name = a.identifier(lexer);
    if (name === undefined) return lexer.fail(lexer.start(), `expected identifier after '${directive}'`);
    if (!a.endOfStatement(lexer)) return undefined;
    return a.isDefined(name) === expected;
  };
}

const TESTS: Readonly<Record<string, Test>> = {
  '.if': compareZero((v) => v !== 0n),
  '.ifne': compareZero((v) => v !== 0n),
  '.ifeq': compareZero((v) => v === 0n),
  '.ifge': compareZero((v) => v >= 0n),
  '.ifgt': compareZero((v) => v > 0n),
  '.ifle': compareZero((v) => v <= 0n),
  '.iflt': compareZero((v) => v < 0n),
  '.ifb': blank(true),
  '.ifnb': blank(false),
  '.ifc': sameText(true),
  '.ifnc': sameText(false),
  '.ifeqs': sameString(true),
  '.ifnes': sameString(false),
  '.ifdef': defined(true),
  '.ifndef': defined(false),
  '.ifnotdef': defined(false),
};
