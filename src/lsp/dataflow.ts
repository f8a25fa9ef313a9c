// Where the value of a register comes from and where it goes: reaching definitions and the reads of a definition, as places in a source.
import type { DocumentHighlight, Location, Range } from 'vscode-languageserver';
import { DocumentHighlightKind } from 'vscode-languageserver';
import { type CodeInstruction, overlaps, type Program, type SlotRange } from '../program/index.ts';
import { codeOf, registerAt, registersOf, type SourceCode } from './code.ts';
import type { SourceDocument } from './document.ts';
import type { Statement } from './scan.ts';

/** The instructions that write and read one value. */
interface Web {
  readonly writes: ReadonlySet<CodeInstruction>;
  readonly reads: ReadonlySet<CodeInstruction>;
}

const at = (program: Program, index: number): CodeInstruction => program.instructions[index] as CodeInstruction;
const writes = ({ effects }: CodeInstruction, slots: SlotRange): boolean => overlaps(effects.defs, [slots]);
const keeps = ({ effects }: CodeInstruction, slots: SlotRange): boolean => overlaps(effects.keeps, [slots]);
const reads = ({ effects }: CodeInstruction, slots: SlotRange): boolean =>
  overlaps(effects.uses, [slots]) || overlaps(effects.keeps, [slots]);

/** The instructions whose value a slot may hold before an instruction. */
function reaching(program: Program, code: CodeInstruction, slot: SlotRange, out: Set<CodeInstruction>): void {
  const start = program.blockAt(code.pc);
  if (start === undefined) return;
  const seen = new Set<number>();
  const open = [{ block: start, from: code.index - 1 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { block, from } = next;
    let isFound = false;
    for (let i = from; i >= block.first && !isFound; i--) {
      const one = at(program, i);
      if (!writes(one, slot)) continue;
      out.add(one);
      isFound = !keeps(one, slot);
    }
    if (isFound) continue;
    for (const index of block.predecessors) {
      const before = program.blocks[index];
      if (before === undefined || seen.has(index)) continue;
      seen.add(index);
      open.push({ block: before, from: before.end - 1 });
    }
  }
}

/** The instructions that may read what an instruction leaves in a slot. */
function readers(program: Program, code: CodeInstruction, slot: SlotRange, out: Set<CodeInstruction>): void {
  const start = program.blockAt(code.pc);
  if (start === undefined) return;
  const seen = new Set<number>();
  const open = [{ block: start, from: code.index + 1 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { block, from } = next;
    let isOver = false;
    for (let i = from; i < block.end && !isOver; i++) {
      const one = at(program, i);
      if (reads(one, slot)) out.add(one);
      isOver = writes(one, slot) && !keeps(one, slot);
    }
    if (isOver) continue;
    for (const index of block.successors) {
      const after = program.blocks[index];
      if (after === undefined || seen.has(index)) continue;
      seen.add(index);
      open.push({ block: after, from: after.first });
    }
  }
}

/** A register at an offset with the instructions of its statement; undefined where there is none, or the source does not assemble. */
function subject(document: SourceDocument, offset: number) {
  const register = registerAt(document, offset);
  const code = codeOf(document);
  if (register === undefined || code === undefined) return undefined;
  const own = code.onLine(document.position(register.start).line);
  return own.length === 0 ? undefined : { code, own, slots: register.slots, isFirst: register.isFirst };
}

function webAt(document: SourceDocument, offset: number): { web: Web; code: SourceCode; slots: SlotRange } | undefined {
  const found = subject(document, offset);
  if (found === undefined) return undefined;
  const { code, own, slots, isFirst } = found;
  const definitions = new Set<CodeInstruction>();
  const uses = new Set<CodeInstruction>();
  for (let slot = slots.first; slot < slots.first + slots.count; slot++) {
    const one = { first: slot, count: 1 };
    for (const instruction of own) {
      const starts = new Set<CodeInstruction>();
      if (isFirst && writes(instruction, one)) starts.add(instruction);
      else if (reads(instruction, one)) {
        uses.add(instruction);
        reaching(code.program, instruction, one, starts);
      }
      for (const start of starts) {
        definitions.add(start);
        readers(code.program, start, one, uses);
      }
    }
  }
  return { web: { writes: definitions, reads: uses }, code, slots };
}

/** The text of a register where an instruction names it; the whole statement where it is inside of a macro, or implicit. */
function rangesOf(code: SourceCode, instruction: CodeInstruction, slots: SlotRange, isWrite: boolean): Range[] {
  const { document } = code;
  const line = code.lineOf(instruction);
  if (line === undefined) return [];
  const start = document.assemblerLine(line + 1);
  const { scan } = document;
  const first = Math.max(0, scan.statementBefore(start));
  const statement = [first, first + 1]
    .map((i) => scan.statements[i])
    .find((s): s is Statement => s !== undefined && document.position(s.start).line === line);
  if (statement === undefined) return [];
  const named = registersOf(document, statement).filter((r) => overlaps([r.slots], [slots]));
  const chosen = named.filter((r) => (isWrite ? r.isFirst : !r.isFirst));
  const places = chosen.length > 0 ? chosen : named;
  if (places.length > 0) return places.map((r) => document.range(r.start, r.end));
  const from = statement.head < 0 ? statement.start : scan.start(statement.head);
  return [document.range(from, statement.end)];
}

/** Where the value of the register at an offset is written. */
export function registerDefinitions(document: SourceDocument, offset: number): Location[] {
  const found = webAt(document, offset);
  if (found === undefined) return [];
  const { web, code, slots } = found;
  return sorted([...web.writes].flatMap((one) => rangesOf(code, one, slots, true))).map((range) => ({
    uri: document.uri,
    range,
  }));
}

/** Where the value of the register at an offset is read. */
export function registerReferences(document: SourceDocument, offset: number, withDefinitions: boolean): Location[] {
  return registerHighlights(document, offset)
    .filter(({ kind }) => withDefinitions || kind === DocumentHighlightKind.Read)
    .map(({ range }) => ({ uri: document.uri, range }));
}

/** The writes and reads of the value in the register at an offset, in the order of the text. */
export function registerHighlights(document: SourceDocument, offset: number): DocumentHighlight[] {
  const found = webAt(document, offset);
  if (found === undefined) return [];
  const { web, code, slots } = found;
  const places = new Map<string, DocumentHighlight>();
  const add = (range: Range, kind: DocumentHighlightKind): void => {
    const key = `${range.start.line}:${range.start.character}`;
    if (!places.has(key)) places.set(key, { range, kind });
  };
  for (const one of web.writes) for (const r of rangesOf(code, one, slots, true)) add(r, DocumentHighlightKind.Write);
  for (const one of web.reads) for (const r of rangesOf(code, one, slots, false)) add(r, DocumentHighlightKind.Read);
  return [...places.values()].sort((a, b) => before(a.range, b.range));
}

const before = (a: Range, b: Range): number => a.start.line - b.start.line || a.start.character - b.start.character;
const sorted = (ranges: Range[]): Range[] => ranges.sort(before);
