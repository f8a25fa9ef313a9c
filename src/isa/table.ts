// The instruction table: rows expanded on first use from the generated text, and their indexes by target.
// Source: tools/gen-isa (LLVM 22 TableGen records).
import { ROWS } from './generated/rows.ts';
import { SHAPES } from './generated/shapes.ts';
import type { EncodedField, InstructionRow, OperandDef, TargetName } from './types.ts';

/** Targets in the order of the generated bit sets. */
export const TARGET_NAMES: readonly TargetName[] = ['gfx90a', 'gfx942', 'gfx950'];

interface ShapeText {
  s: number;
  m: string;
  f: [number, number, number, number][];
  t: string;
  n: string;
  g: number;
  o: [string, string, number, number][];
  u: string[];
  d: string[];
  l: string[];
  c: string;
  a: number;
  k: number;
  p: string[];
  v: string;
  w: string[];
  e: string;
}

/** What rows of one form share. */
type Shape = Omit<InstructionRow, 'id' | 'name' | 'mnemonic' | 'operation' | 'fixedBits'> & {
  readonly targetSet: number;
};

function dwordsOfHex(hex: string, size: number): number[] {
  const padded = hex.padStart(size * 2, '0');
  const out: number[] = [];
  for (let end = padded.length; end > 0; end -= 8) out.push(Number.parseInt(padded.slice(end - 8, end), 16));
  return out;
}

const shapeLines = SHAPES.split('\n');
const shapes: (Shape | undefined)[] = [];

function shapeAt(index: number): Shape {
  const known = shapes[index];
  if (known !== undefined) return known;
  const raw = JSON.parse(shapeLines[index] as string) as ShapeText;
  const shape: Shape = {
    size: raw.s,
    fixedMask: dwordsOfHex(raw.m, raw.s),
    fields: raw.f.map(([operand, at, width, shift]): EncodedField => ({ operand, at, width, shift })),
    template: raw.t,
    namespace: raw.n,
    targetSet: raw.g,
    targets: TARGET_NAMES.filter((_, i) => (raw.g >> i) & 1),
    operands: raw.o.map(([cls, name, out, tiedTo]): OperandDef => ({ name, cls, isOut: out === 1, tiedTo })),
    uses: raw.u,
    defs: raw.d,
    flags: new Set(raw.l),
    constraints: raw.c,
    asmOnly: raw.a === 1,
    codeGenOnly: raw.k === 1,
    predicates: raw.p,
    conversion: raw.v,
    schedule: raw.w,
    encoding: raw.e,
  };
  shapes[index] = shape;
  return shape;
}

/** A row; everything it shares with others is expanded on first use. */
class Row implements InstructionRow {
  readonly id: number;
  readonly name: string;
  readonly mnemonic: string;
  readonly operation: string;
  private readonly shapeIndex: number;
  private readonly bitsText: string;
  private bits: readonly number[] | undefined;

  constructor(id: number, line: string) {
    const [name, mnemonic, shape, bits] = line.split('\t') as [string, string, string, string];
    this.id = id;
    this.name = name;
    this.mnemonic = mnemonic;
    this.operation = operationOf(mnemonic);
    this.shapeIndex = Number.parseInt(shape, 36);
    this.bitsText = bits;
  }
  get fixedBits(): readonly number[] {
    this.bits ??= dwordsOfHex(this.bitsText, this.size);
    return this.bits;
  }
  private get shape(): Shape {
    return shapes[this.shapeIndex] ?? shapeAt(this.shapeIndex);
  }
  get targetSet(): number {
    return this.shape.targetSet;
  }
  get size(): number {
    return this.shape.size;
  }
  get fixedMask(): readonly number[] {
    return this.shape.fixedMask;
  }
  get fields(): readonly EncodedField[] {
    return this.shape.fields;
  }
  get template(): string {
    return this.shape.template;
  }
  get namespace(): string {
    return this.shape.namespace;
  }
  get targets(): readonly TargetName[] {
    return this.shape.targets;
  }
  get operands(): readonly OperandDef[] {
    return this.shape.operands;
  }
  get uses(): readonly string[] {
    return this.shape.uses;
  }
  get defs(): readonly string[] {
    return this.shape.defs;
  }
  get flags(): ReadonlySet<string> {
    return this.shape.flags;
  }
  get constraints(): string {
    return this.shape.constraints;
  }
  get asmOnly(): boolean {
    return this.shape.asmOnly;
  }
  get codeGenOnly(): boolean {
    return this.shape.codeGenOnly;
  }
  get predicates(): readonly string[] {
    return this.shape.predicates;
  }
  get conversion(): string {
    return this.shape.conversion;
  }
  get schedule(): readonly string[] {
    return this.shape.schedule;
  }
  get encoding(): string {
    return this.shape.encoding;
  }
}

/** The operation of a printed mnemonic: without `_e32`, `_e64`, `_sdwa`, `_dpp`. */
export function operationOf(mnemonic: string): string {
  return mnemonic.replace(/_(?:e32|e64|sdwa|dpp)$/, '');
}

/** The rows of one target and their indexes. */
export interface InstructionTable {
  readonly target: TargetName;
  /** In table order; LLVM's assembler and decoder preferences are made from the rows, not from this order. */
  readonly rows: readonly InstructionRow[];
  /** By LLVM's record name. */
  byName(name: string): InstructionRow | undefined;
  /** By printed mnemonic, suffix included: `v_add_f32_e64`. */
  byMnemonic(mnemonic: string): readonly InstructionRow[];
  /** By operation: every encoding of `v_add_f32`. */
  byOperation(operation: string): readonly InstructionRow[];
}

class Table implements InstructionTable {
  readonly target: TargetName;
  readonly rows: readonly InstructionRow[];
  private names: Map<string, InstructionRow> | undefined;
  private mnemonics: Map<string, InstructionRow[]> | undefined;
  private operations: Map<string, InstructionRow[]> | undefined;

  constructor(target: TargetName) {
    const bit = 1 << TARGET_NAMES.indexOf(target);
    this.target = target;
    this.rows = allRows().filter((row) => ((row as Row).targetSet & bit) !== 0);
  }
  byName(name: string): InstructionRow | undefined {
    this.names ??= new Map(this.rows.map((row) => [row.name, row]));
    return this.names.get(name);
  }
  byMnemonic(mnemonic: string): readonly InstructionRow[] {
    this.mnemonics ??= group(this.rows, (row) => row.mnemonic);
    return this.mnemonics.get(mnemonic) ?? [];
  }
  byOperation(operation: string): readonly InstructionRow[] {
    this.operations ??= group(this.rows, (row) => row.operation);
    return this.operations.get(operation) ?? [];
  }
}

function group(rows: readonly InstructionRow[], key: (row: InstructionRow) => string): Map<string, InstructionRow[]> {
  const groups = new Map<string, InstructionRow[]>();
  for (const row of rows) {
    const found = groups.get(key(row));
    if (found === undefined) groups.set(key(row), [row]);
    else found.push(row);
  }
  return groups;
}

let rows: readonly InstructionRow[] | undefined;
const tables = new Map<TargetName, Table>();

/** Every row of every target; `row.id` is its index. */
export function allRows(): readonly InstructionRow[] {
  rows ??= ROWS.split('\n').map((line, id) => new Row(id, line));
  return rows;
}

/** The table of a target. */
export function tableFor(target: TargetName): InstructionTable {
  let table = tables.get(target);
  if (table === undefined) {
    table = new Table(target);
    tables.set(target, table);
  }
  return table;
}
