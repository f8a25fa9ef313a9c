// Decoded instructions by their bytes. Code repeats itself, so each distinct encoding is decoded, printed and checked
// once; a position in a section then costs one hash lookup.
import { type Decoder, decoderFor } from '../../isa/codec/decode.ts';
import { type Instruction, type Operand, operandClass, type TargetName } from '../../isa/index.ts';
import { type Printer, printerFor } from '../../isa/print/print.ts';
import { wordAt } from './data.ts';

const EMPTY = -1;
const INITIAL_SLOTS = 1 << 12;

/** Maps a pair of words to a small integer; open addressing over typed arrays. */
class PairTable {
  private first = new Uint32Array(INITIAL_SLOTS);
  private second = new Uint32Array(INITIAL_SLOTS);
  private values = new Int32Array(INITIAL_SLOTS).fill(EMPTY);
  private mask = INITIAL_SLOTS - 1;
  private used = 0;

  get(a: number, b: number): number {
    let slot = hash(a, b) & this.mask;
    while (this.values[slot] !== EMPTY) {
      if (this.first[slot] === a && this.second[slot] === b) return this.values[slot];
      slot = (slot + 1) & this.mask;
    }
    return EMPTY;
  }

  set(a: number, b: number, value: number): void {
    if (this.used * 2 > this.mask) this.grow();
    this.insert(a, b, value);
    this.used++;
  }

  private insert(a: number, b: number, value: number): void {
    let slot = hash(a, b) & this.mask;
    while (this.values[slot] !== EMPTY) slot = (slot + 1) & this.mask;
    this.first[slot] = a;
    this.second[slot] = b;
    this.values[slot] = value;
  }

  private grow(): void {
    const { first, second, values } = this;
    const size = values.length * 2;
    this.first = new Uint32Array(size);
    this.second = new Uint32Array(size);
    this.values = new Int32Array(size).fill(EMPTY);
    this.mask = size - 1;
    for (let slot = 0; slot < values.length; slot++) {
      if (values[slot] !== EMPTY) this.insert(first[slot], second[slot], values[slot]);
    }
  }
}

function hash(a: number, b: number): number {
  let h = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b);
  h ^= h >>> 15;
  return Math.imul(h, 0x2c1b3c6d) ^ (h >>> 13);
}

/** The part an instruction can play in branches, address computations and padding. */
export type Role = 'plain' | 'branch' | 'getPc' | 'addLow' | 'addHigh' | 'addOffset';

/** What is known of a distinct encoding beside the instruction. */
export interface CodeData {
  readonly text: string;
  /** The text as it is printed; kept so that equal lines share one string. */
  readonly line: string;
  readonly role: Role;
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

/** The operand in a named slot. */
export function operandNamed(instruction: Instruction, name: string): Operand | undefined {
  const index = instruction.row.operands.findIndex((o) => o.name === name);
  return index < 0 ? undefined : instruction.operands[index];
}

function scalarIndex(operand: Operand | undefined): number {
  return operand?.kind === 'reg' && operand.file === 's' ? operand.index : -1;
}

function literalBits(operand: Operand | undefined): number | undefined {
  return operand?.kind === 'literal' ? operand.bits : undefined;
}

function describe(instruction: Instruction, text: string): CodeData {
  const plain: CodeData = { text, line: `\t${text}`, role: 'plain', displacement: 0, register: -1, literal: 0 };
  const { row, operands } = instruction;
  const target = row.operands.findIndex((o) => operandClass(o.cls).operandType === 'PCREL');
  if (target >= 0) {
    const offset = operands[target];
    if (offset.kind !== 'imm') return plain;
    return { ...plain, role: 'branch', displacement: ((offset.value << 16) >> 16) * 4 };
  }
  const role = ROLES.get(row.operation);
  if (role === undefined) return plain;
  const register = scalarIndex(operandNamed(instruction, 'sdst'));
  const first = operandNamed(instruction, 'src0');
  const second = operandNamed(instruction, 'src1');
  switch (role) {
    case 'getPc':
      return register < 0 ? plain : { ...plain, role, register };
    case 'addLow': {
      const literal = literalBits(second);
      if (literal === undefined || register < 0 || scalarIndex(first) !== register) return plain;
      return { ...plain, role, register, literal };
    }
    case 'addHigh':
      return register < 0 || scalarIndex(first) !== register ? plain : { ...plain, role, register };
    default: {
      const literal = literalBits(first);
      const isOffset = second?.kind === 'inline' && second.encoding === INLINE_FOUR;
      return literal === undefined || !isOffset ? plain : { ...plain, role, literal };
    }
  }
}

/** One distinct encoding. */
export interface CachedInstruction {
  readonly instruction: Instruction;
  readonly data: CodeData;
  readonly encoding: Uint8Array;
}

/** Decodes and prints through a cache. */
export class InstructionCache {
  private readonly decoder: Decoder;
  private readonly printer: Printer;
  private readonly entries: CachedInstruction[] = [];
  private readonly short = new PairTable();
  private readonly long = new PairTable();

  constructor(target: TargetName) {
    this.decoder = decoderFor(target);
    this.printer = printerFor(target);
  }

  /** The id of the instruction at `offset`, or a negative number when there is none before `end`. */
  idAt(bytes: Uint8Array, offset: number, end: number): number {
    if (end - offset < 4) return EMPTY;
    const first = wordAt(bytes, offset);
    const short = this.short.get(first, 0);
    if (short !== EMPTY) return short;
    if (end - offset < 8) return this.add(bytes, offset, end);
    const second = wordAt(bytes, offset + 4);
    const long = this.long.get(first, second);
    if (long !== EMPTY) return long;
    const id = this.add(bytes, offset, end);
    const size = id < 0 ? 0 : this.entries[id].instruction.size;
    if (size === 4) this.short.set(first, 0, id);
    else if (size === 8) this.long.set(first, second, id);
    return id;
  }

  entry(id: number): CachedInstruction {
    return this.entries[id];
  }

  /** Every distinct encoding, by id. */
  all(): readonly CachedInstruction[] {
    return this.entries;
  }

  private add(bytes: Uint8Array, offset: number, end: number): number {
    const instruction = this.decoder.decode(bytes, offset, end);
    if (instruction === undefined) return -1;
    const text = this.printer.print(instruction);
    const encoding = bytes.subarray(offset, offset + instruction.size);
    return this.entries.push({ instruction, data: describe(instruction, text), encoding }) - 1;
  }
}
