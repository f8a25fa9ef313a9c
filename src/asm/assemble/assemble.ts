// Room `asm/assemble`: the assembler of LLVM's AMDGPU dialect: statements, labels, macros, conditions, diagnostics. It builds the
// object that ../object lays out.
// Begin with this file, the loop over statements; assembler.ts is the state that they change, directives/table.ts the list of
// directives.
//
// The assembler: reads statements of LLVM-dialect AMDGPU assembly and builds a relocatable object in memory.
// Sources: llvm/lib/MC/MCParser/AsmParser.cpp (statements), AMDGPUAsmParser.cpp (target side), MCELFStreamer.cpp.
import { WavesmithError } from '../../base/index.ts';
import type { ObjectModel } from '../../codeobject/elf/object-model.ts';
import { flagsOfTargetId, formatTargetId } from '../../codeobject/elf/target-id.ts';
import { Lexer, Tok } from '../../isa/text/lexer.ts';
import { ObjectBuilder } from '../object/fixups.ts';
import { layoutSections } from '../object/layout.ts';
import { Assembler } from './assembler.ts';
import { placeRelocation } from './directives/reloc.ts';
import { DIRECTIVES, GENERIC_DIRECTIVES } from './directives/table.ts';
import { assembleInstruction, repeatInstruction } from './instructions.ts';
import { instantiateMacro } from './macros.ts';
import type { AssembleOptions, AssembleResult } from './options.ts';
import { type Location, type SourceBuffer, toByteText } from './source.ts';

/** An assembly that reads its source: begin at `run`. */
class Assembly extends Assembler {
  /** Assembles a whole source. */
  run(source: string | Uint8Array): AssembleResult {
    const buffer: SourceBuffer = { name: this.options.file ?? '<stdin>', text: toByteText(source) };
    this.push({ buffer, lexer: new Lexer(buffer.text), kind: 'file', conditionDepth: 0 });
    if (this.targetId !== undefined && this.os === 'amdhsa') this.streamer?.target(formatTargetId(this.targetId));
    this.emitter.initSections();
    for (;;) {
      while (this.knownStatement()) {}
      if (!this.nextStatement()) break;
      this.statement(this.lexer);
      this.drain();
    }
    const end = this.location(buffer.text.length, buffer);
    if (this.conditionals.isOpen) this.error(end, 'unmatched .ifs or .elses');
    for (const { symbol, location } of this.forwardLabels) {
      if (!symbol.isDefined) this.error(location, 'directional label undefined');
    }
    const object = this.hasErrors || this.streamer !== undefined ? undefined : this.finish(end);
    return {
      ...(object !== undefined && !this.hasErrors ? { object } : {}),
      diagnostics: this.diagnostics,
      target: this.targetId,
      lines: object === undefined ? undefined : this.lines?.finish(),
    };
  }

  private finish(end: Location): ObjectModel | undefined {
    const target = this.targetId;
    if (target === undefined) {
      this.error(end, "the target is not known: the source has no '.amdgcn_target' (or use --target gfx942)");
      return undefined;
    }
    const report = (location: Location, message: string) => this.error(location, message);
    this.debug.finish();
    for (const pending of this.pendingRelocations) placeRelocation(this, pending);
    if (this.hasErrors) return undefined;
    const sections = this.emitter.sections.list;
    if (!layoutSections(sections, this.evaluation, report, this.limits.maxOutputBytes)) {
      throw new WavesmithError('asm/too-large', `The sections hold more than ${this.limits.maxOutputBytes} bytes.`, {
        file: this.options.file,
        hint: 'Check the counts of .fill, .zero, .org and .p2align.',
      });
    }
    if (this.hasErrors) return undefined;
    const isHsa = this.os === 'amdhsa';
    const builder = new ObjectBuilder(this.symbols, this.evaluation, report, end);
    return builder.build(sections, this.addressSignificant, {
      flags: flagsOfTargetId(target, isHsa ? this.codeObjectVersion : 3),
      osAbi: isHsa ? 64 : 0,
      abiVersion: isHsa ? this.codeObjectVersion - 2 : 0,
    });
  }

  // ── statements ────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Assembles the next line if it is an instruction that was read before; false, with nothing done, if not. */
  private knownStatement(): boolean {
    const { lexer } = this;
    if (!this.known.isUseful || this.ended || this.conditionals.ignore || this.brokenRegisterCounts) return false;
    const known = this.known.find(lexer);
    if (known === undefined || (this.macros.size > 0 && this.macros.has(known.mnemonic))) return false;
    this.countStatement();
    lexer.skipLine(known.indent);
    repeatInstruction(this, lexer, known);
    return true;
  }

  private statement(lexer: Lexer): void {
    for (;;) {
      const { at } = lexer;
      const offset = lexer.start();
      const kind = lexer.kind();
      let name: string;
      switch (kind) {
        case Tok.EndOfStatement: {
          if (this.streamer !== undefined) this.printBlank(lexer, offset);
          return;
        }
        case Tok.HashDirective:
          this.readLineMarker(lexer);
          lexer.lex();
          this.leaveEndOfStatement(lexer);
          return;
        case Tok.Integer:
          if (this.conditionals.ignore) return;
          if (lexer.kind(1) !== Tok.Colon) {
            lexer.fail(offset, 'unexpected token at start of statement');
            return;
          }
          this.defineNumericLabel(lexer, offset);
          if (lexer.is(Tok.EndOfStatement)) return;
          continue;
        case Tok.Identifier:
          name = lexer.tokenText();
          lexer.lex();
          break;
        case Tok.Dot:
          name = '.';
          lexer.lex();
          break;
        default: {
          const read = this.identifier(lexer);
          if (read === undefined) {
            if (!this.conditionals.ignore) {
              const message = kind === Tok.Error ? lexer.errorText() : 'unexpected token at start of statement';
              lexer.fail(offset, message);
            }
            return;
          }
          name = read;
        }
      }
      const isDirective = name.charCodeAt(0) === 46 && name.length > 1;
      if (isDirective && this.conditionals.handle(this, lexer, name.toLowerCase(), offset)) return;
      if (this.conditionals.ignore) return;
      const next = lexer.kind();
      if (next === Tok.Colon) {
        lexer.lex();
        if (name === '.') {
          lexer.fail(offset, "invalid use of pseudo-symbol '.' as a label");
          return;
        }
        this.defineLabel(lexer, this.symbols.getOrCreate(name), offset);
        if (lexer.is(Tok.EndOfStatement)) return;
        continue;
      }
      if (next === Tok.Equal) {
        lexer.lex();
        this.assign(lexer, name, true, false);
        return;
      }
      const macro = this.macros.size > 0 ? this.macros.get(name) : undefined;
      if (macro !== undefined) {
        instantiateMacro(this, lexer, macro, offset);
        return;
      }
      if (isDirective) this.directive(lexer, name, offset);
      else {
        lexer.at = at;
        assembleInstruction(this, lexer, offset);
      }
      return;
    }
  }

  private directive(lexer: Lexer, name: string, offset: number): void {
    const handler = DIRECTIVES.get(name) ?? GENERIC_DIRECTIVES.get(name.toLowerCase());
    if (handler === undefined) lexer.fail(offset, 'unknown directive');
    else handler(this, lexer, name, offset);
  }

  private defineNumericLabel(lexer: Lexer, offset: number): void {
    const symbol = this.symbols.defineDirectional(lexer.bigint());
    lexer.lex();
    lexer.lex();
    this.defineLabel(lexer, symbol, offset);
  }
}

/** Assembles source text to a relocatable object; problems in the source are diagnostics, not exceptions. */
export function assemble(source: string | Uint8Array, options: AssembleOptions = {}): AssembleResult {
  return new Assembly(options).run(source);
}
