// An instruction explained: encodings with bit layout, operands, registers touched, wait counter, matrix passes.
// Everything comes from the rows; source of the wait counters: CDNA ISA manuals, section "Manually inserted wait states".

import { decoderFor } from '../codec/decode.ts';
import { type Expr, semanticsOf } from '../semantics/index.ts';
import { type OperandClass, operandClass } from '../table/operand-classes.ts';
import { closeMatches } from '../table/suggest.ts';
import { tableFor } from '../table/table.ts';
import type { InstructionRow, TargetName } from '../types.ts';
import { hazardNotes } from './hazard-notes.ts';
import { printInstruction } from './print.ts';
import { proseOf } from './prose.ts';

/** One field of an encoding, from bit `low` to `high`. */
export interface FieldDescription {
  readonly low: number;
  readonly high: number;
  /** The operand's bits (`src0[8:0]`), or the fixed bits in binary; bits that mean nothing are left out. */
  readonly content: string;
}

export interface OperandDescription {
  readonly name: string;
  readonly direction: 'in' | 'out' | 'in/out';
  /** `register`, `source`, `modifiers` or `immediate`. */
  readonly kind: string;
  /** What is allowed, in words. */
  readonly accepts: string;
  readonly bits: number;
}

export interface EncodingDescription {
  readonly mnemonic: string;
  readonly encoding: string;
  readonly record: string;
  readonly bytes: number;
  readonly syntax: string;
  readonly targets: readonly TargetName[];
  readonly fields: readonly FieldDescription[];
  readonly operands: readonly OperandDescription[];
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Counters of s_waitcnt that the instruction increments. */
  readonly waitCounters: readonly string[];
  readonly flags: readonly string[];
  /** Passes of the matrix unit (4 cycles each), when the schedule says. */
  readonly matrixPasses: number | undefined;
  /** Waits and wait states that it brings on the target. */
  readonly hazards: readonly string[];
}

export interface InstructionDescription {
  readonly mnemonic: string;
  readonly target: TargetName;
  /** What it does, in sentences and formulas; empty when nothing says it. */
  readonly prose: readonly string[];
  /** The semantic expressions, one statement a line; empty when there are none. */
  readonly meaning: readonly string[];
  readonly encodings: readonly EncodingDescription[];
}

const WAIT_COUNTERS: Readonly<Record<string, string>> = { VM_CNT: 'vmcnt', LGKM_CNT: 'lgkmcnt', EXP_CNT: 'expcnt' };

function fixedFields(row: InstructionRow): FieldDescription[] {
  const fields: FieldDescription[] = [];
  const bit = (words: readonly number[], at: number): number => ((words[at >> 5] as number) >>> (at & 31)) & 1;
  for (let low = 0; low < row.size * 8; low++) {
    if (bit(row.fixedMask, low) === 0) continue;
    let high = low;
    while (high + 1 < row.size * 8 && (high + 1) % 32 !== 0 && bit(row.fixedMask, high + 1) === 1) high++;
    let content = '';
    for (let at = high; at >= low; at--) content += bit(row.fixedBits, at);
    fields.push({ low, high, content });
    low = high;
  }
  return fields;
}

function operandFields(row: InstructionRow): FieldDescription[] {
  return row.fields.map(({ operand, at, width, shift }) => ({
    low: at,
    high: at + width - 1,
    content: `${(row.operands[operand] as { name: string }).name}[${shift + width - 1}:${shift}]`,
  }));
}

function accepts(cls: OperandClass, row: InstructionRow): string {
  const { registers } = cls;
  const parts: string[] = [];
  if (registers !== undefined) {
    const files = [registers.vgpr && 'VGPR', registers.agpr && 'AGPR', registers.scalar && 'SGPR'].filter(Boolean);
    const width = registers.dwords === 1 ? '' : ` ×${registers.dwords}`;
    parts.push(files.join(' or ') + width + (registers.even ? ' (even)' : ''));
  }
  if (cls.inline) parts.push('inline constant');
  // Only the 4-byte encodings have room for a literal on these targets.
  if (cls.literal && row.size === 4) parts.push('32-bit literal');
  if (parts.length === 0) parts.push(cls.match === '' ? 'number' : cls.match);
  return cls.type === 'none' ? parts.join(', ') : `${parts.join(', ')}; as ${cls.type}`;
}

function kindOf(cls: OperandClass): string {
  if (cls.operandType === 'INPUT_MODS') return 'modifiers';
  if (cls.inline) return 'source';
  return cls.registers === undefined ? 'immediate' : 'register';
}

function operandsOf(row: InstructionRow): OperandDescription[] {
  return row.operands.map((operand, index) => {
    const cls = operandClass(operand.cls);
    const tied = operand.tiedTo >= 0 || row.operands.some((o) => o.tiedTo === index);
    const bits = row.fields.filter((f) => f.operand === index).reduce((sum, f) => sum + f.width, 0);
    const direction = tied ? 'in/out' : operand.isOut ? 'out' : 'in';
    return { name: operand.name, direction, kind: kindOf(cls), accepts: accepts(cls, row), bits };
  });
}

/** Passes (4 cycles each) of a matrix instruction as the row's schedule says; undefined where no public source says. */
function passesOf(row: InstructionRow): number | undefined {
  for (const write of row.schedule) {
    const passes = /^Write(\d+)PassMAI$/.exec(write)?.[1];
    if (passes !== undefined) return Number(passes);
  }
  return undefined;
}

/** An expression of the semantics table, as calls: `f32.add(src0, src1)`. */
function expressionText(expr: Expr, sources: readonly string[]): string {
  if (expr.op === 'const') return String(expr.value);
  if (expr.op === 'source') {
    const name = sources[Number(expr.value)] ?? `source${expr.value}`;
    return expr.part === 0 ? name : `${name}.${expr.part}`;
  }
  if (expr.args.length === 0) return expr.op;
  return `${expr.op}(${expr.args.map((a) => expressionText(a, sources)).join(', ')})`;
}

/** What an operation does, line by line, from the semantics table; empty when the table does not have it. */
function meaningOf(operation: string): string[] {
  const semantics = semanticsOf(operation);
  if (semantics === undefined) return [];
  if (semantics.kind === 'vector' || semantics.kind === 'scalar') {
    const names = semantics.sources.map((s) => s.operand);
    const text = (e: Expr): string => expressionText(e, names);
    const lines = [`sources: ${semantics.sources.map((s) => `${s.operand} as ${s.type}`).join(', ') || 'none'}`];
    if (semantics.kind === 'vector') {
      semantics.result.forEach((e, i) => {
        lines.push(`result${semantics.result.length > 1 ? `.${i}` : ''} (${semantics.resultType}) = ${text(e)}`);
      });
      if (semantics.mask !== undefined) lines.push(`mask bit = ${text(semantics.mask)}`);
      return lines;
    }
    if (semantics.result !== undefined) lines.push(`result (${semantics.resultType}) = ${text(semantics.result)}`);
    if (semantics.when !== undefined) lines.push(`written when ${text(semantics.when)}`);
    if (semantics.scc === 'nonzero') lines.push('SCC = result is not zero');
    else if (semantics.scc !== undefined) lines.push(`SCC = ${text(semantics.scc)}`);
    if (semantics.exec !== undefined) lines.push(`EXEC = ${text(semantics.exec)}`);
    return lines;
  }
  const facts: string[] = [];
  for (const [key, value] of Object.entries(semantics)) {
    if (key === 'kind' || value === undefined || value === false) continue;
    const shown = isExpression(value)
      ? expressionText(value, [])
      : Array.isArray(value)
        ? value.map((v) => (isExpression(v) ? expressionText(v, ['memory', 'data', 'data2']) : String(v))).join('; ')
        : String(value);
    facts.push(`${key} ${shown}`);
  }
  return [`${semantics.kind}: ${facts.join(', ')}`];
}

function isExpression(value: unknown): value is Expr {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}

/** The assembler syntax, optional operands in brackets. */
function syntaxOf(row: InstructionRow): string {
  const text = row.template.replace(/(\S?)\$(\w+)/g, (_, before: string, name: string) => {
    const operand = row.operands.find((o) => o.name === name);
    const optional = operand !== undefined && operandClass(operand.cls).optional;
    return `${before === '' || before === ',' ? before : `${before} `}${optional ? `[${name}]` : name}`;
  });
  return row.mnemonic + text.replace(/^(?=\S)/, ' ').replace(/,(?=\S)/g, ', ');
}

function describeRow(row: InstructionRow, target: TargetName): EncodingDescription {
  // LLVM flags all buffer instructions with EXP_CNT; on these targets only GWS instructions use it.
  const counters = Object.keys(WAIT_COUNTERS).filter(
    (flag) => row.flags.has(flag) && (flag !== 'EXP_CNT' || row.flags.has('GWS')),
  );
  return {
    mnemonic: row.mnemonic,
    encoding: row.encoding,
    record: row.name,
    bytes: row.size,
    syntax: syntaxOf(row),
    targets: row.targets,
    fields: [...fixedFields(row), ...operandFields(row)].sort((a, b) => a.low - b.low),
    operands: operandsOf(row),
    reads: row.uses,
    writes: row.defs,
    waitCounters: counters.map((flag) => WAIT_COUNTERS[flag] as string),
    flags: [...row.flags].filter((flag) => WAIT_COUNTERS[flag] === undefined).sort(),
    matrixPasses: passesOf(row),
    hazards: hazardNotes(row, target),
  };
}

/** Explains a mnemonic, with or without encoding suffix; undefined when the target does not have it. */
export function describeInstruction(mnemonic: string, target: TargetName): InstructionDescription | undefined {
  const table = tableFor(target);
  const exact = table.byMnemonic(mnemonic);
  const rows = (exact.length > 0 && /_(e32|e64|sdwa|dpp)$/.test(mnemonic) ? exact : table.byOperation(mnemonic)).filter(
    (row) => !row.codeGenOnly,
  );
  if (rows.length === 0) return undefined;
  const { operation } = rows[0] as InstructionRow;
  const encodings = rows.map((row) => describeRow(row, target));
  return { mnemonic, target, prose: proseOf(operation), meaning: meaningOf(operation), encodings };
}

/** Explains the instruction that some bytes begin with, in the one encoding that they have; undefined when they are none. */
export function describeBytes(
  bytes: Uint8Array,
  target: TargetName,
): { readonly text: string; readonly size: number; readonly description: InstructionDescription } | undefined {
  const instruction = decoderFor(target).decode(bytes, 0);
  if (instruction === undefined) return undefined;
  const { row, size } = instruction;
  const description = {
    mnemonic: row.mnemonic,
    target,
    prose: proseOf(row.operation),
    meaning: meaningOf(row.operation),
    encodings: [describeRow(row, target)],
  };
  return { text: printInstruction(target, instruction), size, description };
}

/** Every operation of a target, sorted. */
export function listOperations(target: TargetName): string[] {
  return [
    ...new Set(
      tableFor(target)
        .rows.filter((row) => !row.codeGenOnly)
        .map((row) => row.operation),
    ),
  ].sort();
}

/** What a list of near matches has at most. */
const MOST_SIMILAR = 8;

/** Operations whose names are close to `name`, fit it where it has `*`, contain each of its words, or most of them with what they do. */
export function similarOperations(name: string, target: TargetName): string[] {
  const all = listOperations(target);
  const query = name.slice(0, 64).toLowerCase();
  const words = wordsOf(query);
  if (words.length === 0) return [];
  const close = words.length > 1 || query.includes('*') ? [] : closeMatches(query, all, 3);
  const named = close.length > 0 ? close : all.filter((n) => words.every((word) => isPart(word, n)));
  return (named.length > 0 || query.includes('*') ? named : describedBy(words, all)).slice(0, MOST_SIMILAR);
}

/** The words of a question, without plurals; a number of dwords is a word as names have it: `16 dwords` is `dwordx16`. */
function wordsOf(query: string): string[] {
  return query
    .replace(/\b(\d+) dwords?\b/g, 'dwordx$1')
    .split(/[^a-z0-9_*]+/)
    .filter((word) => /[a-z0-9]/.test(word))
    .map((word) => (/^[a-z]{4,}s$/.test(word) ? word.slice(0, -1) : word));
}

/** Operations that have more than half of the words in their name or in the sentences about them, those with the most first. */
function describedBy(words: readonly string[], operations: readonly string[]): string[] {
  const found = operations.flatMap((operation) => {
    const prose = proseOf(operation).join(' ').toLowerCase();
    const inName = words.filter((word) => isPart(word, operation)).length;
    const inAll = words.filter((word) => isPart(word, operation) || prose.includes(word)).length;
    return 2 * inAll > words.length ? [{ operation, rank: inAll + inName / 100 }] : [];
  });
  return found.sort((a, b) => b.rank - a.rank).map(({ operation }) => operation);
}

/** Whether an operation has a word in its name; `*` is any text, and `lds` is what instructions on it begin with. */
function isPart(word: string, operation: string): boolean {
  if (word.includes('*')) return new RegExp(`^${word.replace(/[*]+/g, '.*')}$`).test(operation);
  return operation.includes(word) || (word === 'lds' && operation.startsWith('ds_'));
}
