// Instructions by their bytes. Code repeats itself, so each distinct encoding is decoded, printed and checked once; a
// position in a section then costs a hash lookup or two.

import type { TextOutput } from '../../base/index.ts';
import { PairTable } from '../../base/pair-table.ts';
import { type Decoder, decoderFor } from '../../isa/codec/decode.ts';
import { operandNamed } from '../../isa/operand.ts';
import { MAX_INSTRUCTION_TEXT, type TextWriter, textWriterFor } from '../../isa/print/text-writer.ts';
import { operandClass } from '../../isa/table/operand-classes.ts';
import type { Instruction, InstructionRow, Operand, TargetName } from '../../isa/types.ts';
import { wordAt } from './data.ts';

const NO_INSTRUCTION = PairTable.NONE;

/** The part an instruction can play in branches and address computations. */
export type Role = 'branch' | 'getPc' | 'addLow' | 'addHigh' | 'addOffset';

/** What is known of an instruction that plays a part. */
export interface CodeRole {
  readonly role: Role;
  readonly instruction: Instruction;
  /** Of a branch: bytes from the next instruction to the target. */
  readonly displacement: number;
  /** Of the address computations: index of the scalar register written; of a pair its first. */
  readonly register: number;
  /** Of the address computations: the literal. */
  readonly literal: number;
}

/** Operations of the two instruction sequences that compute an address from the program counter. */
const ROLES: ReadonlyMap<string, Role> = new Map([
  ['s_getpc_b64', 'getPc'],
  ['s_add_u32', 'addLow'],
  ['s_addc_u32', 'addHigh'],
  ['s_add_i32', 'addOffset'],
]);
const INLINE_FOUR = 132;

function scalarIndex(operand: Operand | undefined): number {
  return operand?.kind === 'reg' && operand.file === 's' ? operand.index : -1;
}

function literalBits(operand: Operand | undefined): number | undefined {
  return operand?.kind === 'literal' ? operand.bits : undefined;
}

/** The part that instructions of a row can play. */
function roleOf(row: InstructionRow): Role | undefined {
  if (row.operands.some((o) => operandClass(o.cls).operandType === 'PCREL')) return 'branch';
  return ROLES.get(row.operation);
}

/** The part that an instruction plays, by its operands; undefined when it plays none. */
function describe(instruction: Instruction, role: Role): CodeRole | undefined {
  const { row, operands } = instruction;
  const plain: CodeRole = { role, instruction, displacement: 0, register: -1, literal: 0 };
  if (role === 'branch') {
    const offset = operands[row.operands.findIndex((o) => operandClass(o.cls).operandType === 'PCREL')];
    if (offset.kind !== 'imm') return undefined;
    return { ...plain, displacement: ((offset.value << 16) >> 16) * 4 };
  }
  const register = scalarIndex(operandNamed(instruction, 'sdst'));
  const first = operandNamed(instruction, 'src0');
  const second = operandNamed(instruction, 'src1');
  switch (role) {
    case 'getPc':
      return register < 0 ? undefined : { ...plain, register };
    case 'addLow': {
      const literal = literalBits(second);
      if (literal === undefined || register < 0 || scalarIndex(first) !== register) return undefined;
      return { ...plain, register, literal };
    }
    case 'addHigh':
      return register < 0 || scalarIndex(first) !== register ? undefined : { ...plain, register };
    default: {
      const literal = literalBits(first);
      const isOffset = second?.kind === 'inline' && second.encoding === INLINE_FOUR;
      return literal === undefined || !isOffset ? undefined : { ...plain, literal };
    }
  }
}

/** Bytes that only grow. */
class BytePool {
  bytes: Uint8Array;
  size = 0;

  constructor(size: number) {
    this.bytes = new Uint8Array(size);
  }

  /** Makes room for `count` more bytes. */
  room(count: number): void {
    if (this.size + count <= this.bytes.length) return;
    const bigger = new Uint8Array(this.bytes.length * 2 + count);
    bigger.set(this.bytes);
    this.bytes = bigger;
  }
}

const TAB = 9;
const NEWLINE = 10;

/** The distinct encodings of a code object by number, with their lines: a tab, the text, a newline. */
export class InstructionCache {
  private readonly decoder: Decoder;
  private readonly writer: TextWriter;
  private readonly short = new PairTable();
  private readonly long = new PairTable();
  /** By row id: what its instructions can be, asked once. */
  private readonly rowRoles: (Role | null | undefined)[] = [];
  private readonly lines = new BytePool(1 << 16);
  private readonly encodings = new BytePool(1 << 14);
  /** By number, and behind the last: where the line and the encoding start. */
  private readonly lineStarts: number[] = [0];
  private readonly encodingStarts: number[] = [0];
  private readonly rows: InstructionRow[] = [];
  private readonly roles: (CodeRole | undefined)[] = [];

  constructor(target: TargetName) {
    this.decoder = decoderFor(target);
    this.writer = textWriterFor(target);
  }

  /** How many distinct encodings there are. */
  get count(): number {
    return this.rows.length;
  }

  /** The number of the instruction at `offset`, or a negative one when there is none before `end`. */
  idAt(bytes: Uint8Array, offset: number, end: number): number {
    if (end - offset < 4) return NO_INSTRUCTION;
    const first = wordAt(bytes, offset);
    const short = this.short.get(first, 0);
    if (short !== NO_INSTRUCTION) return short;
    if (end - offset < 8) return this.add(bytes, offset, end);
    const second = wordAt(bytes, offset + 4);
    const long = this.long.get(first, second);
    if (long !== NO_INSTRUCTION) return long;
    const id = this.add(bytes, offset, end);
    const size = id < 0 ? 0 : this.sizeOf(id);
    if (size === 4) this.short.set(first, 0, id);
    else if (size === 8) this.long.set(first, second, id);
    return id;
  }

  /** Size of an instruction in bytes. */
  sizeOf(id: number): number {
    return this.encodingStarts[id + 1] - this.encodingStarts[id];
  }

  rowOf(id: number): InstructionRow {
    return this.rows[id];
  }

  /** The part the instruction plays; undefined for most. */
  roleOf(id: number): CodeRole | undefined {
    return this.roles[id];
  }

  /** The bytes of the instruction. */
  encodingOf(id: number): Uint8Array {
    return this.encodings.bytes.subarray(this.encodingStarts[id], this.encodingStarts[id + 1]);
  }

  /** The text without tab and newline. */
  textOf(id: number): string {
    return this.textBetween(this.lineStarts[id] + 1, this.lineStarts[id + 1] - 1);
  }

  /** The lines of these instructions, one behind the other. */
  linesOf(ids: Int32Array): string {
    let size = 0;
    for (const id of ids) size += this.lineStarts[id + 1] - this.lineStarts[id];
    const text = new Uint8Array(size);
    let at = 0;
    for (const id of ids) {
      for (let from = this.lineStarts[id], end = this.lineStarts[id + 1]; from < end; from++) {
        text[at++] = this.lines.bytes[from];
      }
    }
    return ascii.decode(text);
  }

  private textBetween(start: number, end: number): string {
    return ascii.decode(this.lines.bytes.subarray(start, end));
  }

  /** Writes the line. */
  writeLine(id: number, out: TextOutput): void {
    const start = this.lineStarts[id];
    const end = this.lineStarts[id + 1];
    out.room(end - start);
    const from = this.lines.bytes;
    const to = out.bytes;
    let at = out.at;
    for (let i = start; i < end; i++) to[at++] = from[i];
    out.at = at;
  }

  private add(bytes: Uint8Array, offset: number, end: number): number {
    const { writer, lines, encodings } = this;
    const size = writer.match(bytes, offset, end);
    if (size === 0) return NO_INSTRUCTION;
    lines.room(MAX_INSTRUCTION_TEXT + 2);
    lines.bytes[lines.size] = TAB;
    const stop = writer.writeText(lines.bytes, lines.size + 1);
    lines.bytes[stop] = NEWLINE;
    lines.size = stop + 1;
    this.lineStarts.push(lines.size);
    encodings.room(size);
    for (let i = 0; i < size; i++) encodings.bytes[encodings.size + i] = bytes[offset + i];
    encodings.size += size;
    this.encodingStarts.push(encodings.size);
    const row = writer.row as InstructionRow;
    const role = this.roleOfRow(row);
    this.roles.push(
      role === undefined ? undefined : describe(this.decoder.decode(bytes, offset, end) as Instruction, role),
    );
    return this.rows.push(row) - 1;
  }

  private roleOfRow(row: InstructionRow): Role | undefined {
    let role = this.rowRoles[row.id];
    if (role === undefined) {
      role = roleOf(row) ?? null;
      this.rowRoles[row.id] = role;
    }
    return role ?? undefined;
  }
}

const ascii = new TextDecoder();
