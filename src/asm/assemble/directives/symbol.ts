// Symbol directives: `.set` and friends, binding, visibility, type, size, commons, address significance.
// Sources: llvm/lib/MC/MCParser/ELFAsmParser.cpp, AsmParser.cpp, llvm/lib/MC/MCELFStreamer.cpp (emitSymbolAttribute).
import {
  SectionFlag,
  SectionType,
  SymbolBinding,
  SymbolType,
  SymbolVisibility,
} from '../../../codeobject/elf/object-model.ts';
import { type Lexer, Tok } from '../../../isa/text/lexer.ts';
import type { AsmSymbol } from '../../object/model.ts';
import type { Assembler } from '../assembler.ts';
import type { DirectiveHandler } from './handler.ts';

/** Applies `apply` to each name of a comma list. */
function eachName(
  a: Assembler,
  lexer: Lexer,
  apply: (symbol: AsmSymbol, at: number) => void,
  comma = 'expected comma',
): void {
  if (lexer.is(Tok.EndOfStatement)) return;
  for (;;) {
    const at = lexer.start();
    const name = a.identifier(lexer);
    if (name === undefined) {
      lexer.fail(lexer.start(), 'expected identifier');
      return;
    }
    const symbol = a.symbols.getOrCreate(name);
    symbol.location ??= a.location(at);
    apply(symbol, at);
    if (lexer.is(Tok.EndOfStatement)) return;
    if (!lexer.skip(Tok.Comma)) {
      lexer.fail(lexer.start(), comma);
      return;
    }
  }
}

const BINDING_NAMES = ['STB_LOCAL', 'STB_GLOBAL', 'STB_WEAK'];

function setBinding(a: Assembler, lexer: Lexer, symbol: AsmSymbol, binding: number, at: number): void {
  a.symbols.register(symbol);
  if (symbol.binding !== undefined && symbol.binding !== binding) {
    const message = `${symbol.name} changed binding to ${BINDING_NAMES[binding]}`;
    if (binding === SymbolBinding.WEAK) a.warn(at, message);
    else lexer.fail(at, message);
  }
  symbol.binding = binding;
}

function bindings(directive: string, binding: number): DirectiveHandler {
  return (a, lexer, _name, offset) => {
    eachName(a, lexer, (symbol) => {
      setBinding(a, lexer, symbol, binding, offset);
      a.streamer?.attribute(directive, symbol.name);
    });
  };
}

const globals: DirectiveHandler = (a, lexer, _name, offset) => {
  eachName(
    a,
    lexer,
    (symbol, at) => {
      if (symbol.isTemporary) {
        lexer.fail(at, 'non-local symbol required');
        return;
      }
      setBinding(a, lexer, symbol, SymbolBinding.GLOBAL, offset);
      a.streamer?.attribute('.globl', symbol.name);
    },
    'unexpected token',
  );
};

function visibilities(directive: string, visibility: number): DirectiveHandler {
  return (a, lexer) => {
    eachName(a, lexer, (symbol) => {
      a.symbols.register(symbol);
      symbol.visibility = visibility;
      a.streamer?.attribute(directive, symbol.name);
    });
  };
}

/** Accepted names of types, with the symbol type and LLVM's printed form. */
const TYPE_NAMES: ReadonlyMap<string, readonly [number, string]> = new Map([
  ['STT_FUNC', [SymbolType.FUNC, 'function']],
  ['function', [SymbolType.FUNC, 'function']],
  ['STT_OBJECT', [SymbolType.OBJECT, 'object']],
  ['object', [SymbolType.OBJECT, 'object']],
  ['STT_TLS', [SymbolType.TLS, 'tls_object']],
  ['tls_object', [SymbolType.TLS, 'tls_object']],
  ['STT_COMMON', [SymbolType.OBJECT, 'common']],
  ['common', [SymbolType.OBJECT, 'common']],
  ['STT_NOTYPE', [SymbolType.NOTYPE, 'notype']],
  ['notype', [SymbolType.NOTYPE, 'notype']],
]);

/** Order in which types win when a symbol gets several (MCELFStreamer.cpp, CombineSymbolTypes). */
const TYPE_ORDER: readonly number[] = [SymbolType.NOTYPE, SymbolType.OBJECT, SymbolType.FUNC, SymbolType.TLS];

const type: DirectiveHandler = (a, lexer) => {
  const name = a.identifier(lexer);
  if (name === undefined) {
    lexer.fail(lexer.start(), 'expected identifier');
    return;
  }
  const symbol = a.symbols.getOrCreate(name);
  symbol.location ??= a.location(lexer.start());
  lexer.skip(Tok.Comma);
  const isMarker = lexer.is(Tok.At) || lexer.is(Tok.Hash) || lexer.is(Tok.Percent);
  if (!isMarker && !lexer.is(Tok.Identifier) && !lexer.is(Tok.String)) {
    lexer.fail(lexer.start(), "expected STT_<TYPE_IN_UPPER_CASE>, '#<type>', '@<type>', '%<type>' or \"<type>\"");
    return;
  }
  if (isMarker) lexer.lex();
  const at = lexer.start();
  const typeName = a.identifier(lexer);
  if (typeName === undefined) {
    lexer.fail(at, 'expected symbol type');
    return;
  }
  const found = TYPE_NAMES.get(typeName);
  if (found === undefined) {
    lexer.fail(at, 'unsupported attribute');
    return;
  }
  if (!a.endOfStatement(lexer)) return;
  const [value, printed] = found;
  a.symbols.register(symbol);
  if (TYPE_ORDER.indexOf(value) > TYPE_ORDER.indexOf(symbol.type)) symbol.type = value;
  a.streamer?.type(name, printed);
};

const size: DirectiveHandler = (a, lexer) => {
  const name = a.identifierAndComma(lexer);
  if (name === undefined) return;
  const at = lexer.start();
  const expr = a.expression(lexer);
  if (expr === undefined || !a.endOfStatement(lexer)) return;
  const symbol = a.symbols.getOrCreate(name);
  symbol.location ??= a.location(at);
  symbol.size = expr;
  a.streamer?.size(name, expr);
};

function set(redefinable: boolean): DirectiveHandler {
  return (a, lexer) => {
    const name = a.identifierAndComma(lexer);
    if (name === undefined) return;
    a.assign(lexer, name, redefinable, true);
  };
}

const MAX_ALIGNMENT_POWER = 31n;

/** Common symbols; the alignment operand is a power of two, as AMDGPU's assembler syntax has it. */
function common(isLocal: boolean): DirectiveHandler {
  return (a, lexer) => {
    const at = lexer.start();
    const name = a.identifierAndComma(lexer, 'expected identifier in directive');
    if (name === undefined) return;
    const sizeAt = lexer.start();
    const bytes = a.absolute(lexer);
    if (bytes === undefined) return;
    let power = 0n;
    if (lexer.skip(Tok.Comma)) {
      const alignAt = lexer.start();
      const given = a.absolute(lexer);
      if (given === undefined) return;
      if (isLocal) {
        lexer.fail(alignAt, 'alignment not supported on this target');
        return;
      }
      power = given;
    }
    if (!a.endOfStatement(lexer)) return;
    if (bytes < 0n) {
      lexer.fail(sizeAt, 'size must be non-negative');
      return;
    }
    if (power < 0n || power > MAX_ALIGNMENT_POWER) {
      lexer.fail(sizeAt, "invalid '.comm' or '.lcomm' directive alignment, can't be less than zero or above 31");
      return;
    }
    const symbol = a.symbols.getOrCreate(name);
    if (symbol.isDefined) {
      lexer.fail(at, 'invalid symbol redefinition');
      return;
    }
    symbol.location = a.location(at);
    a.symbols.register(symbol);
    if (isLocal) symbol.binding = SymbolBinding.LOCAL;
    symbol.binding ??= SymbolBinding.GLOBAL;
    symbol.type = SymbolType.OBJECT;
    symbol.size = { kind: 'const', value: bytes };
    if (symbol.binding === SymbolBinding.LOCAL) placeLocalCommon(a, symbol, bytes, 2 ** Number(power));
    else symbol.common = { size: bytes, alignment: 1n << power, lds: false };
    a.streamer?.common(isLocal ? '.lcomm' : '.comm', name, bytes, power);
  };
}

function placeLocalCommon(a: Assembler, symbol: AsmSymbol, bytes: bigint, alignment: number): void {
  const { sections } = a.emitter;
  sections.push();
  const flags = SectionFlag.WRITE | SectionFlag.ALLOC;
  a.emitter.switchTo(a.emitter.section({ name: '.bss', type: SectionType.NOBITS, flags, entrySize: 0 }));
  const location = symbol.location!;
  a.emitter.align(alignment, { value: 0n, size: 1, code: false }, 0, location);
  a.emitter.label(symbol);
  a.emitter.fill({ kind: 'const', value: bytes }, 1, 0n, location);
  sections.pop();
}

const addressSignificance: DirectiveHandler = (a, lexer) => {
  if (!a.endOfStatement(lexer)) return;
  a.addressSignificant ??= [];
  a.streamer?.line('\t.addrsig');
};

const addressSignificantSymbol: DirectiveHandler = (a, lexer) => {
  const at = lexer.start();
  const name = a.identifier(lexer);
  if (name === undefined) {
    lexer.fail(lexer.start(), 'expected identifier');
    return;
  }
  if (!a.endOfStatement(lexer)) return;
  const symbol = a.symbols.getOrCreate(name);
  symbol.location ??= a.location(at);
  a.symbols.register(symbol);
  a.addressSignificant ??= [];
  a.addressSignificant.push(symbol);
  a.streamer?.line(`\t.addrsig_sym ${name}`);
};

/** Symbol directives of ELF. */
export const SYMBOL_DIRECTIVES: Readonly<Record<string, DirectiveHandler>> = {
  '.weak': bindings('.weak', SymbolBinding.WEAK),
  '.local': bindings('.local', SymbolBinding.LOCAL),
  '.hidden': visibilities('.hidden', SymbolVisibility.HIDDEN),
  '.protected': visibilities('.protected', SymbolVisibility.PROTECTED),
  '.internal': visibilities('.internal', SymbolVisibility.INTERNAL),
  '.type': type,
  '.size': size,
};

/** Symbol directives of the generic parser. */
export const GENERIC_SYMBOL_DIRECTIVES: Readonly<Record<string, DirectiveHandler>> = {
  '.globl': globals,
  '.global': globals,
  '.set': set(true),
  '.equ': set(true),
  '.equiv': set(false),
  '.comm': common(false),
  '.common': common(false),
  '.lcomm': common(true),
  '.addrsig': addressSignificance,
  '.addrsig_sym': addressSignificantSymbol,
};
