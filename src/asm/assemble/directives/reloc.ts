// `.reloc offset, R_AMDGPU_NAME[, symbol + addend]`: a relocation the source asks for.
// Source: llvm/lib/MC/MCObjectStreamer.cpp (emitRelocDirective, resolvePendingFixups).
import { RelocationType } from '../../../codeobject/elf/object-model.ts';
import { exprText } from '../../../isa/text/expr.ts';
import type { Expr } from '../../../isa/text/expr-tree.ts';
import { type Lexer, Tok } from '../../../isa/text/lexer.ts';
import type { AsmFixup } from '../../object/model.ts';
import type { Assembler, PendingRelocation } from '../assembler.ts';

const ZERO: Expr = { kind: 'const', value: 0n };

function relocationType(name: string): number | undefined {
  if (name === 'BFD_RELOC_NONE') return RelocationType.NONE;
  const key = name.replace(/^R_AMDGPU_/, '');
  const types: Readonly<Record<string, number>> = RelocationType;
  return key !== name && Object.hasOwn(types, key) ? types[key] : undefined;
}

/** Handles the directive. */
export function reloc(a: Assembler, lexer: Lexer): void {
  const at = lexer.start();
  const place = a.expression(lexer);
  if (place === undefined) return;
  if (!lexer.skip(Tok.Comma)) {
    lexer.fail(lexer.start(), 'expected comma');
    return;
  }
  const nameAt = lexer.start();
  const name = lexer.is(Tok.Identifier) ? lexer.tokenText() : undefined;
  if (name === undefined) {
    lexer.fail(nameAt, 'expected relocation name');
    return;
  }
  lexer.lex();
  let expr: Expr | undefined;
  if (lexer.skip(Tok.Comma)) {
    expr = a.expression(lexer);
    if (expr === undefined) return;
  }
  if (!a.endOfStatement(lexer)) return;
  const type = relocationType(name);
  if (type === undefined) {
    lexer.fail(nameAt, 'unknown relocation name');
    return;
  }
  if (place.kind === 'const' && place.value < 0n) {
    lexer.fail(at, 'expression is negative');
    return;
  }
  a.streamer?.line(`\t.reloc ${exprText(place)}, ${name}${expr === undefined ? '' : `, ${exprText(expr)}`}`);
  if (expr !== undefined) a.emitter.useSymbols(expr);
  const location = a.location(at);
  const pending = { place, type, expr: expr ?? ZERO, location };
  if (place.kind === 'const') {
    a.emitter.sections.data().fixups.push(fixupAt(Number(place.value), pending));
  } else a.pendingRelocations.push(pending);
}

function fixupAt(offset: number, { type, expr, location }: PendingRelocation): AsmFixup {
  return { offset, kind: 'literal', expr, location, relocation: type };
}

/** Attaches a relocation to the fragment that its label is in. */
export function placeRelocation(a: Assembler, pending: PendingRelocation): void {
  const value = a.evaluation.relocatable(pending.place);
  const place = value?.add === undefined || value.sub !== undefined ? undefined : a.evaluation.placeOf(value.add.name);
  if (value === undefined || place?.fragment.kind !== 'data') {
    a.error(pending.location, 'unresolved relocation offset');
    return;
  }
  place.fragment.fixups.push(fixupAt(Number(place.offset + value.constant), pending));
}
