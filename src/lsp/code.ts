// The code behind a source: lifted, with the way from statements to instructions and back.

import { registerFromText } from '../isa/table/registers.ts';
import type { CodeInstruction, Program, SlotRange } from '../program/index.ts';
import { slotsOf } from '../program/index.ts';
import { classify, type Piece } from './classify.ts';
import type { SourceDocument } from './document.ts';
import type { Places } from './places.ts';
import type { Statement } from './scan.ts';

/** A source's program with its places. */
export class SourceCode {
  readonly document: SourceDocument;
  readonly program: Program;
  readonly places: Places;
  /** By line of the source, from 1: the instructions that it became; several for a call of a macro. */
  private lines: Map<number, CodeInstruction[]> | undefined;

  constructor(document: SourceDocument, program: Program, places: Places) {
    this.document = document;
    this.program = program;
    this.places = places;
  }

  /** The instructions of a line, from 0, in address order. */
  onLine(line: number): readonly CodeInstruction[] {
    if (this.lines === undefined) {
      this.lines = new Map();
      for (const code of this.program.instructions) {
        const at = this.places.ownLine(code.pc);
        if (at === undefined) continue;
        const known = this.lines.get(at);
        if (known === undefined) this.lines.set(at, [code]);
        else known.push(code);
      }
    }
    return this.lines.get(line + 1) ?? [];
  }

  /** The line of an instruction, from 0; undefined when it comes from an included file. */
  lineOf({ pc }: CodeInstruction): number | undefined {
    const line = this.places.ownLine(pc);
    return line === undefined ? undefined : line - 1;
  }
}

const known = new WeakMap<SourceDocument, SourceCode>();

/** Keeps what an analysis has found for the requests about the same version. */
export function keepCode(code: SourceCode): void {
  known.set(code.document, code);
}

/** The code of a source's version; undefined before its analysis, or when it does not assemble. */
export function codeOf(document: SourceDocument): SourceCode | undefined {
  return known.get(document);
}

/** A register that is written out in a statement. */
export interface WrittenRegister {
  readonly start: number;
  readonly end: number;
  readonly slots: SlotRange;
  /** It is the statement's first operand. */
  readonly isFirst: boolean;
}

function written(document: SourceDocument, { start, end }: Piece): SlotRange | undefined {
  const register = registerFromText(document.text.slice(start, end).replaceAll(/\s/g, ''));
  return register && slotsOf(register);
}

/** The registers of a statement in the order of the text. */
export function registersOf(document: SourceDocument, statement: Statement): WrittenRegister[] {
  let isFirst = true;
  return classify(document, statement).flatMap((piece) => {
    const slots = piece.type === 'register' ? written(document, piece) : undefined;
    if (slots === undefined) return [];
    const one = { start: piece.start, end: piece.end, slots, isFirst };
    isFirst = false;
    return [one];
  });
}

/** The register at an offset. */
export function registerAt(
  document: SourceDocument,
  offset: number,
): (WrittenRegister & { readonly statement: Statement }) | undefined {
  const found = document.statementAt(offset);
  if (found === undefined || found.statement.region !== 'code' || document.scan.isComment(offset)) return undefined;
  const { statement } = found;
  const register = registersOf(document, statement).find((r) => r.start <= offset && offset <= r.end);
  return register && { ...register, statement };
}
