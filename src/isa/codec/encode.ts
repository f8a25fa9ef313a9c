// Instructions to bytes: the inverse of decode.ts, from the same row fields.
// Source: LLVM's AMDGPUMCCodeEmitter.cpp (operand encodings, implicit op_sel_hi bits, literals).
import { operandClass } from '../table/operand-classes.ts';
import type { Instruction, InstructionRow, Operand } from '../types.ts';

/** How an operand's class becomes the bits of its field. */
type Code = (operand: Operand) => number;

/** What rows of one shape share. */
interface Encoder {
  /**
   * For each operand with bits: its index, the number of its code, the number of its pieces, and for each piece where it goes:
   * value bits from `shift` on, `mask` wide, to `low` of dword `word`, as `word, low, mask, shift`. One array, because thousands
   * of encoders in objects of objects do not stay in a processor's cache.
   */
  readonly steps: Int32Array;
  /** Source operands that may be a literal following the instruction: of 4-byte encodings only. */
  readonly sources: readonly number[];
}

const LITERAL_CODE = 255;

function scalarCode(operand: Operand): number {
  switch (operand.kind) {
    case 'reg':
      return operand.encoding;
    case 'inline':
      return operand.encoding;
    case 'literal':
      return LITERAL_CODE;
    case 'imm':
      return operand.value;
  }
}

/** Register number with bit 9 set for AGPRs. */
function numberWithBank(operand: Operand): number {
  if (operand.kind !== 'reg') return scalarCode(operand);
  return operand.file === 'a' ? operand.index | 512 : operand.index;
}

function sourceWithBank(operand: Operand): number {
  return operand.kind === 'reg' && operand.file === 'a' ? operand.encoding | 512 : scalarCode(operand);
}

function registerNumber(operand: Operand): number {
  return operand.kind === 'reg' ? operand.index : scalarCode(operand);
}

function sdwaSource(operand: Operand): number {
  return operand.kind === 'reg' && operand.file === 'v' ? operand.index : scalarCode(operand) | 256;
}

function sdwaDestination(operand: Operand): number {
  const code = scalarCode(operand);
  return operand.kind === 'reg' && code === 106 ? 0 : code | 128;
}

function value(operand: Operand): number {
  return operand.kind === 'imm' ? operand.value : operand.kind === 'literal' ? operand.bits : scalarCode(operand);
}

const CODES: Readonly<Record<string, Code>> = {
  imm: value,
  literal: value,
  vgpr: registerNumber,
  agpr: registerNumber,
  sreg: scalarCode,
  bool: scalarCode,
  src9: scalarCode,
  srcA9: scalarCode,
  srcAV10: sourceWithBank,
  av10: numberWithBank,
  avLdSt: numberWithBank,
  sdwaSrc: sdwaSource,
  sdwaDst: sdwaDestination,
};
const CODE_LIST: readonly Code[] = [...new Set(Object.values(CODES))];

/** op_sel_hi bits 14, 59, 60 of sources that a VOP3P instruction does not have are 1. */
function implicitOpSelHi(row: InstructionRow): readonly [number, number] {
  if (!row.flags.has('VOP3P') && !/^v_accvgpr_(read|write)_b32$/.test(row.operation)) return [0, 0];
  const has = (name: string): boolean => row.operands.some((o) => o.name === name);
  if (has('op_sel_hi')) {
    if (has('src2')) return [0, 0];
    return has('src1') ? [1 << 14, 0] : [1 << 14, 1 << 28];
  }
  return [1 << 14, 3 << 27];
}

/** The bits that every instruction of a row has. */
function wordsOf(row: InstructionRow): readonly number[] {
  const words = row.fixedBits.map((bits) => bits | 0);
  const [low, high] = implicitOpSelHi(row);
  words[0] |= low;
  if (high !== 0) words[1] |= high;
  return words;
}

function encoderOf(row: InstructionRow): Encoder {
  const pieces: number[][] = row.operands.map(() => []);
  for (const { operand, at, width, shift } of row.fields) {
    pieces[operand].push(at >> 5, at & 31, width === 32 ? -1 : (1 << width) - 1, shift);
  }
  const classes = row.operands.map((o) => operandClass(o.cls));
  const steps = pieces.flatMap((list, operand) =>
    list.length === 0 ? [] : [operand, CODE_LIST.indexOf(CODES[classes[operand].decode]), list.length / 4, ...list],
  );
  const sources = row.size > 4 ? [] : row.operands.map((_, i) => i).filter((i) => classes[i].inline);
  return { steps: Int32Array.from(steps), sources };
}

/** By number of the shape. */
const encoders: (Encoder | undefined)[] = [];
/** By row id. */
const rowWords: (readonly number[] | undefined)[] = [];
const buffer = new Int32Array(4);

/** Writes an instruction at `offset` and returns its size; `bytes` must have room for 20 bytes there. */
export function encodeInto(instruction: Instruction, bytes: Uint8Array, offset: number): number {
  const { row, operands } = instruction;
  let encoder = encoders[row.shape];
  if (encoder === undefined) {
    encoder = encoderOf(row);
    encoders[row.shape] = encoder;
  }
  let words = rowWords[row.id];
  if (words === undefined) {
    words = wordsOf(row);
    rowWords[row.id] = words;
  }
  const { steps, sources } = encoder;
  for (let i = 0; i < words.length; i++) buffer[i] = words[i];
  for (let s = 0; s < steps.length; ) {
    const bits = CODE_LIST[steps[s + 1]](operands[steps[s]]);
    const end = s + 3 + steps[s + 2] * 4;
    for (s += 3; s < end; s += 4) buffer[steps[s]] |= ((bits >> steps[s + 3]) & steps[s + 2]) << steps[s + 1];
  }
  let at = offset;
  for (let i = 0; i < words.length; i++) {
    put32(bytes, at, buffer[i]);
    at += 4;
  }
  for (const index of sources) {
    const operand = operands[index];
    if (operand.kind === 'literal') {
      put32(bytes, at, operand.bits);
      return at + 4 - offset;
    }
  }
  return at - offset;
}

function put32(bytes: Uint8Array, at: number, word: number): void {
  bytes[at] = word;
  bytes[at + 1] = word >> 8;
  bytes[at + 2] = word >> 16;
  bytes[at + 3] = word >> 24;
}

const scratch = new Uint8Array(20);

/** The bytes of an instruction. */
export function encode(instruction: Instruction): Uint8Array {
  return scratch.slice(0, encodeInto(instruction, scratch, 0));
}
