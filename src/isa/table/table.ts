// Room `isa/table`: the facts: rows of instructions, operand classes, registers, and targets as data.
// Begin with this file (how rows are found), then targets.ts, where everything that differs between targets stands, and
// operand-classes.ts.
//
// The instruction table: rows expanded on first use from the generated text, and their indexes by target.
// Source: tools/gen-isa (LLVM 22 TableGen records).
import { ROWS } from '../generated/rows.ts';
import { SHAPES } from '../generated/shapes.ts';
import type { EncodedField, InstructionRow, OperandDef, TargetName } from '../types.ts';
import { TARGET_NAMES } from './target-names.ts';

interface ShapeText {
  f: [number, number, number, number][];
  t: string;
  o: [string, string, number, number][];
  u: string[];
  d: string[];
  l: string[];
  c: string;
  p: string[];
  v: string;
  w: string[];
  e: string;
}

/** The part of a shape that decoding by fixed bits needs. */
interface Head {
  readonly size: number;
  readonly fixedMask: readonly number[];
  readonly targetSet: number;
  readonly asmOnly: boolean;
  readonly codeGenOnly: boolean;
  readonly namespace: string;
}

type HeadKeys = 'size' | 'fixedMask' | 'asmOnly' | 'codeGenOnly' | 'namespace';

/** The rest of what rows of one form share. */
type Shape = Omit<InstructionRow, 'id' | 'shape' | 'name' | 'mnemonic' | 'operation' | 'fixedBits' | HeadKeys>;

function dwordsOfHex(hex: string, size: number): number[] {
  if (hex.length <= 8) {
    const first = Number.parseInt(hex, 16);
    return size === 4 ? [first] : size === 8 ? [first, 0] : [first, 0, 0, 0];
  }
  const out: number[] = [];
  for (let end = hex.length; out.length < size / 4; end -= 8) {
    out.push(end <= 0 ? 0 : Number.parseInt(hex.slice(Math.max(0, end - 8), end), 16));
  }
  return out;
}

const TAB = '\t';
let shapeLines: readonly string[] | undefined;
const heads: (Head | undefined)[] = [];
const shapes: (Shape | undefined)[] = [];

/** A line of the shapes. */
function shapeLine(index: number): string {
  shapeLines ??= SHAPES.split('\n');
  return shapeLines[index] as string;
}

function headAt(index: number): Head {
  const known = heads[index];
  if (known !== undefined) return known;
  const [sizeText, mask, targets, availability, namespace] = shapeLine(index).split(TAB, 5) as [
    string,
    string,
    string,
    string,
    string,
  ];
  const size = Number(sizeText);
  const only = Number(availability);
  const head: Head = {
    size,
    fixedMask: dwordsOfHex(mask, size),
    targetSet: Number(targets),
    asmOnly: (only & 1) !== 0,
    codeGenOnly: (only & 2) !== 0,
    namespace,
  };
  heads[index] = head;
  return head;
}

function shapeAt(index: number): Shape {
  const known = shapes[index];
  if (known !== undefined) return known;
  const head = headAt(index);
  const line = shapeLine(index);
  const raw = JSON.parse(line.slice(line.lastIndexOf(TAB) + 1)) as ShapeText;
  const shape: Shape = {
    fields: raw.f.map(([operand, at, width, shift]): EncodedField => ({ operand, at, width, shift })),
    template: raw.t,
    targets: TARGET_NAMES.filter((_, i) => (head.targetSet >> i) & 1),
    operands: raw.o.map(([cls, name, out, tiedTo]): OperandDef => ({ name, cls, isOut: out === 1, tiedTo })),
    uses: raw.u,
    defs: raw.d,
    flags: new Set(raw.l),
    constraints: raw.c,
    predicates: raw.p,
    conversion: raw.v,
    schedule: raw.w,
    encoding: raw.e,
  };
  shapes[index] = shape;
  return shape;
}

/** A row; its parts are made of the generated text on first use. */
class Row implements InstructionRow {
  readonly id: number;
  private readonly line: string;
  private nameText: string | undefined;
  private mnemonicText: string | undefined;
  private ownHead: Head | undefined;
  private ownShape: Shape | undefined;
  private shapeNumber = -1;
  private bits: readonly number[] | undefined;
  private operationText: string | undefined;

  constructor(id: number, line: string) {
    this.id = id;
    this.line = line;
  }
  get name(): string {
    this.nameText ??= this.line.slice(0, this.line.indexOf(TAB));
    return this.nameText;
  }
  get mnemonic(): string {
    if (this.mnemonicText === undefined) {
      const start = this.line.indexOf(TAB) + 1;
      this.mnemonicText = this.line.slice(start, this.line.indexOf(TAB, start));
    }
    return this.mnemonicText;
  }
  get operation(): string {
    this.operationText ??= operationOf(this.mnemonic);
    return this.operationText;
  }
  get fixedBits(): readonly number[] {
    this.bits ??= dwordsOfHex(this.line.slice(this.line.lastIndexOf(TAB) + 1), this.size);
    return this.bits;
  }
  get shape(): number {
    if (this.shapeNumber < 0) {
      const end = this.line.lastIndexOf(TAB);
      this.shapeNumber = Number.parseInt(this.line.slice(this.line.lastIndexOf(TAB, end - 1) + 1, end), 36);
    }
    return this.shapeNumber;
  }
  private get shared(): Shape {
    this.ownShape ??= shapeAt(this.shape);
    return this.ownShape;
  }
  private get head(): Head {
    this.ownHead ??= headAt(this.shape);
    return this.ownHead;
  }
  get targetSet(): number {
    return this.head.targetSet;
  }
  get size(): number {
    return this.head.size;
  }
  get fixedMask(): readonly number[] {
    return this.head.fixedMask;
  }
  get fields(): readonly EncodedField[] {
    return this.shared.fields;
  }
  get template(): string {
    return this.shared.template;
  }
  get namespace(): string {
    return this.head.namespace;
  }
  get targets(): readonly TargetName[] {
    return this.shared.targets;
  }
  get operands(): readonly OperandDef[] {
    return this.shared.operands;
  }
  get uses(): readonly string[] {
    return this.shared.uses;
  }
  get defs(): readonly string[] {
    return this.shared.defs;
  }
  get flags(): ReadonlySet<string> {
    return this.shared.flags;
  }
  get constraints(): string {
    return this.shared.constraints;
  }
  get asmOnly(): boolean {
    return this.head.asmOnly;
  }
  get codeGenOnly(): boolean {
    return this.head.codeGenOnly;
  }
  get predicates(): readonly string[] {
    return this.shared.predicates;
  }
  get conversion(): string {
    return this.shared.conversion;
  }
  get schedule(): readonly string[] {
    return this.shared.schedule;
  }
  get encoding(): string {
    return this.shared.encoding;
  }
}

/** The operation of a printed mnemonic: without `_e32`, `_e64`, `_sdwa`, `_dpp`. */
export function operationOf(mnemonic: string): string {
  const at = mnemonic.lastIndexOf('_');
  switch (at < 0 ? '' : mnemonic.slice(at)) {
    case '_e32':
    case '_e64':
    case '_sdwa':
    case '_dpp':
      return mnemonic.slice(0, at);
    default:
      return mnemonic;
  }
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
  if (rows === undefined) {
    rows = ROWS.split('\n').map((line, id) => new Row(id, line));
  }
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
