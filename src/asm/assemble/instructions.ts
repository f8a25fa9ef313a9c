// Instruction statements: parse, encode, and the fixups of operands that name symbols.
// Source: llvm/lib/Target/AMDGPU/MCTargetDesc/AMDGPUMCCodeEmitter.cpp (getLitEncoding, needsPCRel).

import type { ByteWriter } from '../../base/index.ts';
import { readU32 } from '../../isa/codec/decode-operand.ts';
import { encodeInto } from '../../isa/codec/encode.ts';
import { type Fixup, InstructionParser } from '../../isa/parse/parse.ts';
import type { Expr } from '../../isa/text/expr-tree.ts';
import type { Lexer } from '../../isa/text/lexer.ts';
import type { AsmFixupKind, InstructionFixup } from '../object/model.ts';
import type { Assembler } from './assembler.ts';
import type { KnownStatement } from './known-statements.ts';

const NO_FIXUPS: readonly InstructionFixup[] = [];
const scratch = new Uint8Array(32);
const parsers = new WeakMap<Lexer, InstructionParser>();

/** Whether a literal with this expression counts from its own address (AMDGPUMCCodeEmitter.cpp, needsPCRel). */
function isPcRelative(expr: Expr): boolean {
  switch (expr.kind) {
    case 'symbol':
      return expr.specifier !== 'abs32@lo' && expr.specifier !== 'abs32@hi' && expr.specifier !== 'abs64';
    case 'unary':
      return isPcRelative(expr.sub);
    case 'binary':
      return expr.op !== '-' && (isPcRelative(expr.lhs) || isPcRelative(expr.rhs));
    default:
      return false;
  }
}

function fixupKind(fixup: Fixup): AsmFixupKind {
  if (fixup.kind === 'branch16') return 'fixup_si_sopp_br';
  if (fixup.kind === 'simm16') return 'FK_Data_2';
  return isPcRelative(fixup.expr) ? 'FK_PCRel_4' : 'FK_Data_4';
}

/** Where the statement names the first symbol of an expression. */
function symbolOffset(lexer: Lexer, expr: Expr): number | undefined {
  switch (expr.kind) {
    case 'const':
    case 'call':
      return undefined;
    case 'unary':
      return symbolOffset(lexer, expr.sub);
    case 'binary':
      return symbolOffset(lexer, expr.lhs) ?? symbolOffset(lexer, expr.rhs);
    case 'symbol': {
      for (let ahead = 1 - lexer.count; ahead < 0; ahead++) {
        if (lexer.tokenText(ahead).startsWith(expr.name)) return lexer.start(ahead);
      }
      return undefined;
    }
  }
}

/** Assembles the instruction whose mnemonic is the current token. */
export function assembleInstruction(a: Assembler, lexer: Lexer, offset: number): void {
  let parser = parsers.get(lexer);
  if (parser === undefined) {
    if (a.requireTarget(lexer, offset) === undefined) return;
    parser = new InstructionParser(lexer, a.known);
    parsers.set(lexer, parser);
  }
  const isFirst = lexer.at === 0;
  const mnemonic = lexer.tokenText();
  a.known.begin();
  const parsed = parser.parse();
  if (parsed === undefined) return;
  if (a.brokenRegisterCounts) {
    lexer.fail(offset, '.amdgcn.next_free_{v,s}gpr symbols must be absolute expressions');
    return;
  }
  const { instruction, fixups } = parsed;
  const size = encodeInto(instruction, scratch, 0);
  const bytes = scratch.subarray(0, size);
  if (isFirst && a.known.isUseful) a.known.add(lexer, mnemonic, offset - lexer.statementStart, parsed);
  const resolved = fixups.length === 0 ? NO_FIXUPS : resolve(a, lexer, offset, fixups);
  const data = placeInstruction(a, offset);
  for (let at = 0; at < size; at += 4) data.u32(readU32(bytes, at));
  a.streamer?.instruction(a.target, instruction, bytes, resolved);
}

/** Assembles the instruction of a line that was read before. */
export function repeatInstruction(a: Assembler, lexer: Lexer, known: KnownStatement): void {
  const { words, instruction, lastRegisters } = known;
  a.usesRegisters(lastRegisters);
  const data = placeInstruction(a, lexer.start());
  for (let i = 0; i < words.length; i++) data.u32(words[i] as number);
  if (instruction === undefined) return;
  const bytes = new Uint8Array(Int32Array.from(words).buffer);
  a.streamer?.instruction(a.target, instruction, bytes, NO_FIXUPS);
}

/** The data of the current section, where the instruction at `offset` of the text goes next. */
function placeInstruction(a: Assembler, offset: number): ByteWriter {
  if (a.debug.isPending) a.debug.place();
  const fragment = a.emitter.sections.data();
  if (a.lines !== undefined) a.lines.add(fragment, a.fileLine(offset));
  return fragment.data;
}

/** Puts the fixups of an instruction where it will be placed. */
function resolve(a: Assembler, lexer: Lexer, offset: number, fixups: readonly Fixup[]): InstructionFixup[] {
  if (a.debug.isPending) a.debug.place();
  return fixups.map((fixup) => {
    const { byteOffset, operandIndex } = fixup;
    const expr = a.bind(fixup.expr);
    const kind = fixupKind(fixup);
    a.emitter.fixup(kind, byteOffset, expr, a.location(symbolOffset(lexer, fixup.expr) ?? offset));
    return { kind, byteOffset, expr, operandIndex };
  });
}
