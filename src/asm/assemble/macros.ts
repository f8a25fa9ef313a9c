// The macro language: `.macro`, `.rept`, `.irp`, `.irpc` and their expansion into instantiation buffers.
// Source: llvm/lib/MC/MCParser/AsmParser.cpp (parseDirectiveMacro, parseMacroArguments, expandMacro).
import { isBinaryOperator } from '../../isa/text/expr.ts';
import { type Lexer, Tok } from '../../isa/text/lexer.ts';
import type { Assembler } from './assembler.ts';
import type { Argument, ArgumentToken, Macro, Parameter } from './macro-definition.ts';

const IDENTIFIER_CHARACTER = /[A-Za-z0-9_$.]/;

const ARGUMENT_OPERATORS = new Set([Tok.Tilde, Tok.Dot, Tok.Equal]);

function isArgumentOperator(kind: Tok): boolean {
  return (isBinaryOperator(kind) && kind !== Tok.Percent) || ARGUMENT_OPERATORS.has(kind);
}

/** Reads the statements up to the matching end directive; the raw text between, or undefined without an end. */
function readBody(lexer: Lexer, opens: readonly string[], closes: readonly string[]): string | undefined {
  let start: number | undefined;
  let depth = 0;
  while (lexer.nextStatement()) {
    start ??= lexer.start();
    if (!lexer.is(Tok.Identifier)) continue;
    const word = lexer.tokenText();
    if (closes.includes(word)) {
      if (depth === 0) return lexer.text.slice(start, lexer.start());
      depth--;
    } else if (opens.includes(word)) depth++;
  }
  return undefined;
}

/** `.macro name parameters` … `.endm`. */
export function defineMacro(a: Assembler, lexer: Lexer, offset: number): void {
  const location = offset;
  const name = a.identifier(lexer);
  if (name === undefined) {
    lexer.fail(lexer.start(), "expected identifier in '.macro' directive");
    return;
  }
  lexer.skip(Tok.Comma);
  const parameters: Parameter[] = [];
  while (!lexer.is(Tok.EndOfStatement)) {
    const last = parameters[parameters.length - 1];
    if (last?.vararg === true) {
      lexer.fail(lexer.start(), `vararg parameter '${last.name}' should be the last parameter`);
      return;
    }
    const parameter = readParameter(a, lexer, name, parameters);
    if (parameter === undefined) return;
    parameters.push(parameter);
    lexer.skip(Tok.Comma);
  }
  const body = readBody(lexer, ['.macro'], ['.endm', '.endmacro']);
  if (body === undefined) {
    lexer.fail(location, "no matching '.endmacro' in definition");
    return;
  }
  lexer.lex();
  if (!lexer.is(Tok.EndOfStatement)) {
    lexer.fail(lexer.start(), "unexpected token in '.endm' directive");
    return;
  }
  if (a.macros.has(name)) {
    lexer.fail(location, `macro '${name}' is already defined`);
    return;
  }
  a.macros.set(name, { name, body, parameters, count: 0 });
  a.leaveEndOfStatement(lexer);
}

function readParameter(a: Assembler, lexer: Lexer, macro: string, earlier: readonly Parameter[]) {
  const name = a.identifier(lexer);
  if (name === undefined) return lexer.fail(lexer.start(), "expected identifier in '.macro' directive");
  if (earlier.some((p) => p.name === name)) {
    return lexer.fail(lexer.start(), `macro '${macro}' has multiple parameters named '${name}'`);
  }
  let required = false;
  let vararg = false;
  if (lexer.skip(Tok.Colon)) {
    const at = lexer.start();
    const qualifier = a.identifier(lexer);
    if (qualifier === undefined) {
      return lexer.fail(at, `missing parameter qualifier for '${name}' in macro '${macro}'`);
    }
    if (qualifier === 'req') required = true;
    else if (qualifier === 'vararg') vararg = true;
    else {
      return lexer.fail(at, `${qualifier} is not a valid parameter qualifier for '${name}' in macro '${macro}'`);
    }
  }
  let value: Argument = [];
  if (lexer.skip(Tok.Equal)) {
    const at = lexer.start();
    const parsed = readArgument(lexer, false);
    if (parsed === undefined) return undefined;
    value = parsed;
    if (required) {
      a.warn(at, `pointless default value for required parameter '${name}' in macro '${macro}'`);
    }
  }
  return { name, required, vararg, value };
}

/** One argument; undefined after a diagnostic. Arguments end at a comma or at a space that is not part of an expression. */
function readArgument(lexer: Lexer, vararg: boolean): Argument | undefined {
  if (vararg) {
    if (lexer.is(Tok.EndOfStatement)) return [];
    const text = lexer.restOfStatement();
    lexer.skipStatement();
    return [{ kind: 'text', text }];
  }
  const tokens: ArgumentToken[] = [];
  let parentheses = 0;
  let end = lexer.start();
  for (;;) {
    const kind = lexer.kind();
    const hasSpace = lexer.start() > end;
    if (kind === Tok.Equal) return lexer.fail(lexer.start(), 'unexpected token in macro instantiation');
    if (parentheses === 0) {
      if (kind === Tok.Comma) break;
      if (isArgumentOperator(kind)) {
        tokens.push({ kind: 'text', text: lexer.tokenText() });
        lexer.lex();
        end = lexer.start();
        continue;
      }
      if (hasSpace) break;
    } else if (hasSpace) tokens.push({ kind: 'text', text: lexer.text.slice(end, lexer.start()) });
    if (kind === Tok.EndOfStatement) break;
    if (kind === Tok.LParen) parentheses++;
    else if (kind === Tok.RParen && parentheses > 0) parentheses--;
    tokens.push({ kind: kind === Tok.String ? 'string' : 'text', text: lexer.tokenText() });
    end = lexer.end();
    lexer.lex();
  }
  if (parentheses !== 0) return lexer.fail(lexer.start(), 'unbalanced parentheses in macro argument');
  return tokens;
}

/** `%expr` and `<text>` of `.altmacro`, else a plain argument. */
function readAnyArgument(a: Assembler, lexer: Lexer, vararg: boolean): Argument | undefined {
  if (a.altMacro && lexer.is(Tok.Percent)) {
    const at = lexer.start();
    lexer.lex();
    const expr = a.expression(lexer);
    if (expr === undefined) return undefined;
    const value = a.evaluation.absolute(expr);
    if (value === undefined) return lexer.fail(at, 'expected absolute expression');
    return [{ kind: 'value', text: value.toString() }];
  }
  if (a.altMacro && lexer.text[lexer.start()] === '<') {
    const end = angleEnd(lexer.text, lexer.start());
    if (end !== undefined) {
      const text = lexer.text.slice(lexer.start() + 1, end - 1).replace(/!(.?)/gs, '$1');
      while (!lexer.is(Tok.EndOfStatement) && lexer.start() < end) lexer.lex();
      return [{ kind: 'angle', text }];
    }
  }
  return readArgument(lexer, vararg);
}

function angleEnd(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at++) {
    const c = text[at];
    if (c === '>') return at + 1;
    if (c === '\n' || c === '\r') return undefined;
    if (c === '!') at++;
  }
  return undefined;
}

/** The arguments of an instantiation, defaults filled in; undefined after a diagnostic. */
function readArguments(a: Assembler, lexer: Lexer, macro: Macro | undefined): Argument[] | undefined {
  const parameters = macro?.parameters ?? [];
  const count = parameters.length;
  const given: Argument[] = parameters.map(() => []);
  let named = false;
  const hasVararg = count > 0 && parameters[count - 1].vararg;
  for (let position = 0; count === 0 || position < count; position++) {
    const at = lexer.start();
    let index = position;
    let name: string | undefined;
    if (lexer.is(Tok.Identifier) && lexer.kind(1) === Tok.Equal) {
      name = lexer.tokenText();
      lexer.lex();
      lexer.lex();
      named = true;
    }
    if (named && name === undefined) return lexer.fail(at, 'cannot mix positional and keyword arguments');
    const value = readAnyArgument(a, lexer, hasVararg && position === count - 1);
    if (value === undefined) return undefined;
    if (name !== undefined) {
      index = parameters.findIndex((p) => p.name === name);
      if (index < 0) return lexer.fail(at, `parameter named '${name}' does not exist for macro '${macro?.name ?? ''}'`);
    }
    if (value.length > 0) {
      while (given.length <= index) given.push([]);
      given[index] = value;
    }
    if (lexer.is(Tok.EndOfStatement)) return withDefaults(lexer, macro, given);
    lexer.skip(Tok.Comma);
  }
  return lexer.fail(lexer.start(), 'too many positional arguments');
}

function withDefaults(lexer: Lexer, macro: Macro | undefined, given: Argument[]): Argument[] | undefined {
  let failed = false;
  macro?.parameters.forEach((parameter, i) => {
    if (given[i].length > 0) return;
    if (parameter.required) {
      lexer.fail(lexer.start(), `missing value for required parameter '${parameter.name}' in macro '${macro.name}'`);
      failed = true;
    }
    given[i] = parameter.value;
  });
  return failed ? undefined : given;
}

function argumentText(argument: Argument, isVararg: boolean, altMacro: boolean): string {
  let text = '';
  for (const token of argument) {
    if (token.kind === 'string' && !isVararg) text += token.text.slice(1, -1);
    else if (token.kind === 'angle' && !altMacro) text += `<${token.text}>`;
    else text += token.text;
  }
  return text;
}

/** Expands a body once. */
function expand(
  a: Assembler,
  macro: Macro,
  parameters: readonly string[],
  values: readonly string[],
  withCounter: boolean,
): string {
  const { body } = macro;
  const counter = withCounter ? String(a.instantiations) : undefined;
  const total = String(macro.count);
  macro.count++;
  const textOf = (name: string) => {
    const index = parameters.indexOf(name);
    return index < 0 ? undefined : values[index];
  };
  if (!a.altMacro && !body.includes('\\')) return body;
  let out = '';
  let i = 0;
  while (i < body.length) {
    if (body[i] === '\\' && i + 1 < body.length) {
      if (body[i + 1] === '@' && counter !== undefined) {
        out += counter;
        i += 2;
      } else if (body[i + 1] === '+') {
        out += total;
        i += 2;
      } else if (body[i + 1] === '(' && body[i + 2] === ')') i += 3;
      else {
        const start = ++i;
        while (i < body.length && IDENTIFIER_CHARACTER.test(body[i])) i++;
        const name = body.slice(start, i);
        if (a.altMacro && body[i] === '&') i++;
        out += textOf(name) ?? `\\${name}`;
      }
      continue;
    }
    const start = i;
    if (!a.altMacro) {
      const next = body.indexOf('\\', i + 1);
      i = next < 0 ? body.length : next;
      out += body.slice(start, i);
      continue;
    }
    if (!IDENTIFIER_CHARACTER.test(body[i])) {
      out += body[i++];
      continue;
    }
    while (i < body.length && IDENTIFIER_CHARACTER.test(body[i])) i++;
    const word = body.slice(start, i);
    const value = textOf(word);
    if (value !== undefined && body[i] === '&') i++;
    out += value ?? word;
  }
  return out;
}

/** Instantiates a macro whose name has just been read. */
export function instantiateMacro(a: Assembler, lexer: Lexer, macro: Macro, offset: number): void {
  if (!a.mayNest(lexer)) return;
  const values = readArguments(a, lexer, macro);
  if (values === undefined) return;
  const { parameters } = macro;
  if (parameters.length !== values.length && parameters.length > 0) {
    lexer.fail(lexer.start(), 'Wrong number of arguments');
    return;
  }
  if (parameters.length === 0 && values.some((value) => value.length > 0)) {
    lexer.fail(lexer.start(), 'Wrong number of arguments');
    return;
  }
  const texts = parameters.map((p, i) => argumentText(values[i], p.vararg, a.altMacro));
  const body = expand(
    a,
    macro,
    parameters.map((p) => p.name),
    texts,
    true,
  );
  a.enterInstantiation(lexer, body, offset, 'macro');
}

const REPEATS = ['.rep', '.rept', '.irp', '.irpc'];

function readRepeatBody(lexer: Lexer, offset: number): string | undefined {
  const body = readBody(lexer, REPEATS, ['.endr']);
  if (body === undefined) return lexer.fail(offset, "no matching '.endr' in definition");
  lexer.lex();
  if (!lexer.is(Tok.EndOfStatement)) return lexer.fail(lexer.start(), 'expected newline');
  return body;
}

/** `.rept count` … `.endr`. */
export function repeat(a: Assembler, lexer: Lexer, directive: string, offset: number): void {
  const at = lexer.start();
  const expr = a.expression(lexer);
  if (expr === undefined) return;
  const count = a.evaluation.absolute(expr);
  if (count === undefined || count < 0n) {
    lexer.fail(at, count === undefined ? 'unexpected token in directive' : 'Count is negative');
    if (a.options.reportCascades !== true) readBody(lexer, REPEATS, ['.endr']);
    return;
  }
  if (!lexer.is(Tok.EndOfStatement)) {
    lexer.fail(lexer.start(), `unexpected token in '${directive}' directive`);
    return;
  }
  const body = readRepeatBody(lexer, offset);
  if (body === undefined || count === 0n) return;
  const macro: Macro = { name: directive, body, parameters: [], count: 0 };
  if (!a.mayExpand(lexer, offset, Number(count) * body.length)) return;
  const parts: string[] = [];
  for (let i = 0n; i < count; i++) parts.push(expand(a, macro, [], [], false));
  a.enterInstantiation(lexer, parts.join(''), offset, 'repeat');
}

/** `.irp name, a, b, …` and `.irpc name, text`, up to `.endr`. */
export function repeatForEach(a: Assembler, lexer: Lexer, directive: '.irp' | '.irpc', offset: number): void {
  const name = a.identifier(lexer);
  if (name === undefined) {
    lexer.fail(lexer.start(), `expected identifier in '${directive}' directive`);
    return;
  }
  if (!lexer.skip(Tok.Comma)) {
    lexer.fail(lexer.start(), 'expected comma');
    return;
  }
  const given = readArguments(a, lexer, undefined);
  if (given === undefined) return;
  let values: string[];
  if (directive === '.irp') values = given.map((value) => argumentText(value, false, a.altMacro));
  else {
    if (given.length !== 1 || given[0].length !== 1) {
      lexer.fail(lexer.start(), "unexpected token in '.irpc' directive");
      return;
    }
    values = [...given[0][0].text];
  }
  const body = readRepeatBody(lexer, offset);
  if (body === undefined) return;
  const macro: Macro = { name: directive, body, parameters: [], count: 0 };
  if (!a.mayExpand(lexer, offset, values.length * body.length)) return;
  const parts = values.map((value) => expand(a, macro, [name], [value], true));
  a.enterInstantiation(lexer, parts.join(''), offset, 'repeat');
}
