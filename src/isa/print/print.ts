// Room `isa/print`: an instruction to text, character for character as LLVM 22 prints it, and facts about an instruction for people
// and tools.
// Begin with this file; describe.ts is what `wavesmith isa` shows.
//
// Instructions to text, exactly as LLVM 22 prints them. Each row's template becomes a list of small functions once.
// Source: LLVM's AMDGPUInstPrinter.cpp and the rows' assembly templates.

import { operandIndex } from '../operand.ts';
import { SDWA_SELECTORS, SDWA_UNUSED } from '../table/field-names.ts';
import {
  isMember,
  type OperandClass,
  operandClass,
  type RegisterClass,
  type ValueType,
} from '../table/operand-classes.ts';
import { targetInfo } from '../table/targets.ts';
import type { Immediate, Instruction, InstructionRow, Operand, Register, TargetName } from '../types.ts';
import {
  printEndpgm,
  printFormat,
  printHwreg,
  printIndexMode,
  printSendMessage,
  printSwizzle,
  printWaitCount,
} from './immediates.ts';

/** A number in a text: what stands before it, and how the value of an immediate is written. */
export interface NumberText {
  readonly prefix: string;
  readonly style: 'decimal' | 'hex' | 'signed hex';
  /** The bits of the value that are written. */
  readonly mask: number;
  /** Zero is no text at all. */
  readonly omitsZero: boolean;
}

/** A part of a row's text that depends on operands. */
export interface Piece {
  /** The operands that decide the text. */
  readonly reads: readonly number[];
  /** Pieces with equal keys print equal operands alike, whatever their rows. */
  readonly key: string;
  readonly text: (operands: readonly Operand[]) => string;
  /** What `text` does with a decoded immediate, for those that are plain numbers. */
  readonly number?: NumberText;
}

const FLOATS: readonly string[] = ['0.5', '-0.5', '1.0', '-1.0', '2.0', '-2.0', '4.0', '-4.0', '0.15915494'];
/** Bit patterns that a 32-bit literal shares with inline constants; printed inside `lit(…)`. */
const FLOAT32_BITS: readonly number[] = [
  0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000, 0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983,
];
const FLOAT16_BITS: readonly number[] = [0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118];
const BFLOAT16_BITS: readonly number[] = [0x3f00, 0xbf00, 0x3f80, 0xbf80, 0x4000, 0xc000, 0x4080, 0xc080, 0x3e22];
const FLOAT64_HIGH: readonly number[] = [
  0x3fe00000, 0xbfe00000, 0x3ff00000, 0xbff00000, 0x40000000, 0xc0000000, 0x40100000, 0xc0100000,
];

function hex(value: number): string {
  return `0x${(value >>> 0).toString(16)}`;
}

function value(operand: Operand | undefined): number {
  return (operand as Immediate).value;
}

/** The text of an inline constant: integers in decimal, floats by value. */
export function inlineText(encoding: number, wide: boolean): string {
  if (encoding < 193) return String(encoding - 128);
  if (encoding <= 208) return String(192 - encoding);
  if (encoding === 248 && wide) return '0.15915494309189532';
  return FLOATS[encoding - 240] as string;
}

/** Literals that some type of operand prints in a way of its own. */
const SPECIAL_LITERALS: ReadonlySet<number> = new Set([
  ...FLOAT32_BITS,
  ...FLOAT16_BITS,
  ...BFLOAT16_BITS,
  ...FLOAT64_HIGH,
]);

function isSpecial(bits: number): boolean {
  return bits <= 64 || SPECIAL_LITERALS.has(bits);
}

/** Whether operands of every type print a literal as a hexadecimal number, 16-bit types its low half. */
export function isPlainLiteral(bits: number): boolean {
  const half = bits & 0xffff;
  return bits < 0xfffffff0 && half < 0xfff0 && !isSpecial(bits >>> 0) && !isSpecial(half);
}

function isInlineInteger(bits: number): boolean {
  const signed = bits | 0;
  return signed >= -16 && signed <= 64;
}

/** Whether a literal of this type has the value of an inline constant, so that LLVM prints `lit(…)`. */
function hidesInline(bits: number, type: ValueType): boolean {
  switch (type) {
    case 'int64':
      return bits <= 64;
    case 'fp16':
      return isInlineInteger((bits << 16) >> 16) || FLOAT16_BITS.includes(bits & 0xffff);
    case 'bf16':
      return isInlineInteger((bits << 16) >> 16) || BFLOAT16_BITS.includes(bits & 0xffff);
    case 'v2fp16':
    case 'v2fp16splat':
      return isInlineInteger(bits) || FLOAT16_BITS.includes(bits);
    case 'v2bf16':
      return isInlineInteger(bits) || BFLOAT16_BITS.includes(bits);
    default:
      return isInlineInteger(bits) || FLOAT32_BITS.includes(bits);
  }
}

/** A literal by its operand's type. The high half of a double prints as the double when that is an inline constant. */
function literalText(bits: number, type: ValueType): string {
  if (type === 'fp64') {
    if (bits === 0) return '0';
    const float = FLOAT64_HIGH.indexOf(bits);
    return float >= 0 ? (FLOATS[float] as string) : hex(bits);
  }
  if (hidesInline(bits, type)) return `lit(${hex(bits)})`;
  return hex(type === 'fp16' || type === 'int16' ? bits & 0xffff : bits);
}

/** A 32-bit immediate as LLVM prints it in a plain operand: small integers and inline floats by value, else hex. */
function immediate32(bits: number): string {
  if (isInlineInteger(bits)) return String(bits | 0);
  const float = FLOAT32_BITS.indexOf(bits >>> 0);
  return float >= 0 ? (FLOATS[float] as string) : hex(bits);
}

/** Registers that read as constants; LLVM prints them anywhere without a remark. */
function isConstant(register: Register): boolean {
  return register.encoding === 125 || (register.encoding >= 230 && register.encoding < 254);
}

/** Lane masks have a class by wavefront size in LLVM, which its printer does not check. */
function isLaneMask(registers: RegisterClass): boolean {
  return registers.name.startsWith('SReg_1') && registers.dwords === 2;
}

/** Registers outside the operand's class are printed with LLVM's remark. */
function registerText(register: Register, cls: OperandClass): string {
  const registers = cls.registers;
  if (registers === undefined || isLaneMask(registers) || isMember(register, registers) || isConstant(register)) {
    return register.text;
  }
  return `${register.text}/*Invalid register, operand has '${registers.name}' register class*/`;
}

const regulars = new Map<OperandClass, (operand: Operand) => string>();

/** Prints operands of a class; the rows share what was printed before. */
function regular(cls: OperandClass): (operand: Operand) => string {
  let print = regulars.get(cls);
  if (print === undefined) {
    print = makeRegular(cls);
    regulars.set(cls, print);
  }
  return print;
}

function makeRegular(cls: OperandClass): (operand: Operand) => string {
  const wide = cls.type === 'int64' || cls.type === 'fp64';
  const short = cls.type === 'int16';
  const cache: string[] = [];
  return (operand) => {
    switch (operand.kind) {
      case 'reg': {
        let text = cache[operand.id];
        if (text === undefined) {
          text = registerText(operand, cls);
          cache[operand.id] = text;
        }
        return text;
      }
      case 'inline': {
        const text =
          short && operand.encoding >= 240 && operand.written !== true
            ? hex(FLOAT16_BITS[operand.encoding - 240] as number)
            : inlineText(operand.encoding, wide);
        return cls.inline ? text : `${text}/*Invalid immediate*/`;
      }
      case 'literal':
        if (operand.written === true) return `lit(${hex(operand.bits)})`;
        return cls.inline ? literalText(operand.bits, cls.type) : `${immediate32(operand.bits)}/*Invalid immediate*/`;
      default:
        return immediate32(operand.value);
    }
  };
}

const SOURCE_NEG = 1;
const SOURCE_ABS = 2;
const SOURCE_SEXT = 16;
const OP_SEL = 4;
const OP_SEL_HI = 8;
const NEG_HI = 2;

/** Mnemonics that decide how operands are printed; all else that decides it is the row's shape. */
const NAMED = /^(?:v_cndmask_b32_e32$|v_mfma_f64)/;

/** Printer of one target; rows are compiled on first use. */
export class Printer {
  readonly target: TargetName;
  private readonly scoped: boolean;
  private readonly hasGds: boolean;
  /** By row id, and by number of the shape for rows whose name does not matter: they share the pieces. */
  private readonly compiled: (readonly (string | Piece)[] | undefined)[] = [];
  private readonly compiledShapes: (readonly (string | Piece)[] | undefined)[] = [];

  constructor(target: TargetName) {
    this.target = target;
    this.scoped = targetInfo(target).scopedCachePolicy;
    this.hasGds = targetInfo(target).features.has('GDS');
  }

  /** The text of an instruction, mnemonic first. */
  print(instruction: Instruction): string {
    const row = instruction.row;
    const operands = instruction.operands;
    const pieces = this.pieces(row);
    let text = row.mnemonic;
    for (let i = 0; i < pieces.length; i++) {
      const piece = pieces[i] as string | Piece;
      text += typeof piece === 'string' ? piece : piece.text(operands);
    }
    return text;
  }

  /** The parts of a row's text behind the mnemonic, in order. */
  pieces(row: InstructionRow): readonly (string | Piece)[] {
    return this.compiled[row.id] ?? this.add(row);
  }

  private add(row: InstructionRow): readonly (string | Piece)[] {
    const isNamed = NAMED.test(row.mnemonic);
    const pieces = (isNamed ? undefined : this.compiledShapes[row.shape]) ?? this.compile(row);
    if (!isNamed) this.compiledShapes[row.shape] = pieces;
    this.compiled[row.id] = pieces;
    return pieces;
  }

  private compile(row: InstructionRow): readonly (string | Piece)[] {
    const pieces: (string | Piece)[] = [];
    const push = (piece: string | Piece) => {
      const last = pieces.length - 1;
      if (typeof piece === 'string' && typeof pieces[last] === 'string') pieces[last] = `${pieces[last]}${piece}`;
      else pieces.push(piece);
    };
    for (const match of row.template.matchAll(/\$(\w+)|[^$]+/g)) {
      if (match[1] === undefined) push(match[0]);
      else {
        push(this.operandPiece(row, operandIndex(row, match[1])));
        if (match[1] === 'soffset' && row.encoding === 'MTBUF') {
          push(one(operandIndex(row, 'format'), 'format', (op) => printFormat(value(op))));
        }
      }
    }
    return pieces;
  }

  private operandPiece(row: InstructionRow, index: number): Piece {
    const cls = operandClass((row.operands[index] as { cls: string }).cls);
    const [style, name, asHex, always] = cls.print.split(':') as [string, string, string, string];
    switch (style) {
      case 'NamedBit':
        if (name === 'gds' && !this.hasGds) return { reads: [], key: 'nothing', text: () => '' };
        return one(index, cls.print, (op) => (value(op) !== 0 ? ` ${name}` : ''));
      case 'NamedInt': {
        const text = asHex === '1' ? signedHex : String;
        return one(index, cls.print, (op) => {
          const v = value(op);
          return v === 0 && always !== '1' ? '' : ` ${name}:${text(v)}`;
        });
      }
      case 'Operand':
      case 'VOPDst':
        return this.plainPiece(row, index, cls);
      case 'AVLdSt32Align2RegOp':
        return one(index, cls.print, (op) => (op as Register).text);
      case 'OperandAndFPInputMods':
        return floatModifiers(row, index);
      case 'OperandAndIntInputMods':
        return integerModifiers(row, index);
      default:
        return this.fieldPiece(row, index, style);
    }
  }

  /** Plain operands, with the implicit VCC of VOPC and V_CNDMASK. */
  private plainPiece(row: InstructionRow, index: number, cls: OperandClass): Piece {
    if (cls.operandType === 'PCREL') {
      const text = (op: Operand) => {
        const distance = op as Immediate;
        return String(distance.written === true ? distance.value : distance.value & 0xffff);
      };
      return { ...one(index, 'distance', text), number: decimal('', 0xffff) };
    }
    if (cls.operandType === 'UNKNOWN') {
      return { ...one(index, 'number', (op) => String(value(op))), number: decimal('', ALL_BITS) };
    }
    const print = regular(cls);
    const name = row.operands[index]?.name;
    if (index === 0 && row.encoding === 'VOPC' && row.defs.includes('VCC')) {
      return one(index, `vcc, ${cls.name}`, (op) => `vcc, ${print(op)}`);
    }
    if (name === 'src1' && row.mnemonic === 'v_cndmask_b32_e32') {
      return one(index, `${cls.name}, vcc`, (op) => `${print(op)}, vcc`);
    }
    return one(index, cls.name, print);
  }

  private fieldPiece(row: InstructionRow, index: number, style: string): Piece {
    const target = this.target;
    const field = (text: (v: number) => string, key = style): Piece => one(index, key, (op) => text(value(op)));
    const named = (names: readonly string[], prefix: string): Piece =>
      field((v) => `${prefix}:${names[v] ?? names[0]}`);
    switch (style) {
      case 'Offset':
        return {
          ...field((v) => (v !== 0 ? ` offset:${v & 0xffff}` : '')),
          number: { ...decimal(' offset:', 0xffff), omitsZero: true },
        };
      case 'FlatOffset':
        return {
          ...field((v) => (v !== 0 ? ` offset:${v}` : '')),
          number: { ...decimal(' offset:', ALL_BITS), omitsZero: true },
        };
      case 'SMEMOffset':
        return {
          ...field(signedHex),
          number: { prefix: '', style: 'signed hex', mask: ALL_BITS, omitsZero: false },
        };
      case 'CPol': {
        const scalar = row.encoding === 'SMEM';
        const texts = cachePolicies(this.scoped, scalar);
        return field((v) => texts[v] as string, `CPol:${scalar}`);
      }
      case 'U16ImmOperand':
      case 'U32ImmOperand': {
        const mask = style === 'U16ImmOperand' ? 0xffff : ALL_BITS;
        const text = (op: Operand) => {
          if (op.kind === 'literal' && op.written === true) return `lit(${hex(op.bits)})`;
          return hex(op.kind === 'literal' ? (op.shown ?? op.bits) : value(op) & mask);
        };
        return { ...one(index, style, text), number: { prefix: '', style: 'hex', mask, omitsZero: false } };
      }
      case 'OModSI':
        return field((v) => ['', ' mul:2', ' mul:4', ' div:2'][v] as string);
      case 'DppBoundCtrl':
        return field((v) => (v !== 0 ? ' bound_ctrl:1' : ''));
      case 'DppFI':
        return field((v) => (v !== 0 ? ' fi:1' : ''));
      case 'DPPCtrl': {
        const doubles = isDoubleDpp(row);
        return field((v) => dppControl(v, doubles), `DPPCtrl:${doubles}`);
      }
      case 'SDWADstSel':
        return named(SDWA_SELECTORS, 'dst_sel');
      case 'SDWASrc0Sel':
        return named(SDWA_SELECTORS, 'src0_sel');
      case 'SDWASrc1Sel':
        return named(SDWA_SELECTORS, 'src1_sel');
      case 'SDWADstUnused':
        return named(SDWA_UNUSED, 'dst_unused');
      case 'BLGP':
        return this.scoped && /^v_mfma_f64/.test(row.mnemonic)
          ? field(negBlgp, 'neg')
          : field((v) => (v !== 0 ? ` blgp:${v}` : ''));
      case 'BitOp3':
        return field((v) => (v === 0 ? '' : ` bitop3:${v <= 10 ? v : hex(v)}`));
      case 'R128A16':
        return field((v) => (v !== 0 ? ' a16' : ''));
      case 'FORMAT':
        return { reads: [], key: 'nothing', text: () => '' };
      case 'OpSel':
        return packedPiece(row, ' op_sel:[', OP_SEL);
      case 'OpSelHi':
        return packedPiece(row, ' op_sel_hi:[', OP_SEL_HI);
      case 'NegLo':
        return packedPiece(row, ' neg_lo:[', SOURCE_NEG);
      case 'NegHi':
        return packedPiece(row, ' neg_hi:[', NEG_HI);
      case 'GPRIdxMode':
        return field(printIndexMode);
      case 'Endpgm':
        return field(printEndpgm);
      case 'Hwreg':
        return field((v) => printHwreg(v, target));
      case 'SendMsg':
        return field(printSendMessage);
      case 'SWaitCnt':
        return field(printWaitCount);
      case 'Swizzle':
        return field(printSwizzle);
      default:
        throw new RangeError(`no printer for operand style ${style}`);
    }
  }
}

const ALL_BITS = -1;

function decimal(prefix: string, mask: number): NumberText {
  return { prefix, style: 'decimal', mask, omitsZero: false };
}

/** A piece that one operand decides. */
function one(index: number, key: string, text: (operand: Operand) => string): Piece {
  return { reads: [index], key, text: (ops) => text(ops[index] as Operand) };
}

function signedHex(v: number): string {
  return v < 0 ? `-0x${(-v).toString(16)}` : `0x${v.toString(16)}`;
}

/** The text of every cache policy. */
function cachePolicies(scoped: boolean, scalar: boolean): readonly string[] {
  const texts: string[] = [];
  for (let bits = 0; bits < 32; bits++) {
    let text = '';
    if (bits & 1) text += scoped && !scalar ? ' sc0' : ' glc';
    if (bits & 2) text += scoped ? ' nt' : ' slc';
    if (bits & 16) text += scoped ? ' sc1' : ' scc';
    texts.push(text);
  }
  return texts;
}

/** Float source with `-`, `|…|` or `neg(…)`. The operand after the modifiers is the source. */
function floatModifiers(row: InstructionRow, index: number): Piece {
  const { cls } = row.operands[index + 1] as { cls: string };
  const print = regular(operandClass(cls));
  const text = (ops: readonly Operand[]) => {
    const modifiers = value(ops[index]);
    const operand = ops[index + 1] as Operand;
    let text = print(operand);
    const isPlainConstant = operand.kind !== 'reg' && !text.startsWith('lit(');
    if ((modifiers & SOURCE_ABS) !== 0) text = `|${text}|`;
    if ((modifiers & SOURCE_NEG) !== 0) {
      text = isPlainConstant && (modifiers & SOURCE_ABS) === 0 ? `neg(${text})` : `-${text}`;
    }
    return text;
  };
  return { reads: [index, index + 1], key: `${cls} with float modifiers`, text };
}

function integerModifiers(row: InstructionRow, index: number): Piece {
  const { cls } = row.operands[index + 1] as { cls: string };
  const print = regular(operandClass(cls));
  const text = (ops: readonly Operand[]) => {
    const text = print(ops[index + 1] as Operand);
    return (value(ops[index]) & SOURCE_SEXT) !== 0 ? `sext(${text})` : text;
  };
  return { reads: [index, index + 1], key: `${cls} with integer modifiers`, text };
}

const SOURCES = ['src0', 'src1', 'src2'];

/** `op_sel:[…]`, `neg_lo:[…]` …: one bit per source from its modifiers, nothing when all have the default. */
function packedPiece(row: InstructionRow, prefix: string, bit: number): Piece {
  const find = (name: string) => operandIndex(row, name);
  const indexes: number[] = [];
  for (const source of SOURCES) {
    if (find(source) < 0) break;
    indexes.push(find(`${source}_modifiers`));
  }
  const expected = bit === OP_SEL_HI && row.flags.has('IsPacked');
  const destination = bit === OP_SEL && row.flags.has('VOP3_OPSEL') && indexes.length > 0;
  const key = `${prefix}${indexes.map((at) => (at < 0 ? '-' : '+')).join('')}${expected}${destination}`;
  const text = (ops: readonly Operand[]) => {
    let isDefault = true;
    let text = prefix;
    for (let i = 0; i < indexes.length; i++) {
      const at = indexes[i] as number;
      const set = at >= 0 && (value(ops[at]) & bit) !== 0;
      if (set !== expected) isDefault = false;
      text += i === 0 ? (set ? '1' : '0') : set ? ',1' : ',0';
    }
    if (destination) {
      const set = (indexes[0] as number) >= 0 && (value(ops[indexes[0] as number]) & 8) !== 0;
      if (set) isDefault = false;
      text += set ? ',1' : ',0';
    }
    return isDefault ? '' : `${text}]`;
  };
  return { reads: indexes.filter((at) => at >= 0), key, text };
}

function negBlgp(bits: number): string {
  return bits === 0 ? '' : ` neg:[${bits & 1},${(bits >> 1) & 1},${(bits >> 2) & 1}]`;
}

/** Double-precision ALU operations take only row_newbcast. */
function isDoubleDpp(row: InstructionRow): boolean {
  return row.operands.some((o) => operandClass(o.cls).registers?.dwords === 2);
}

function dppControl(control: number, doubles: boolean): string {
  if (doubles && !(control >= 0x150 && control <= 0x15f)) return ' /* DP ALU dpp only supports row_newbcast */';
  if (control <= 0xff) {
    return `quad_perm:[${control & 3},${(control >> 2) & 3},${(control >> 4) & 3},${(control >> 6) & 3}]`;
  }
  const low = control & 15;
  if (control > 0x100 && control <= 0x10f) return `row_shl:${low}`;
  if (control > 0x110 && control <= 0x11f) return `row_shr:${low}`;
  if (control > 0x120 && control <= 0x12f) return `row_ror:${low}`;
  if (control >= 0x150 && control <= 0x15f) return `row_newbcast:${low}`;
  if (control >= 0x160 && control <= 0x16f) return '/* row_xmask is not supported on ASICs earlier than GFX10 */';
  return DPP_SINGLES[control] ?? '/* Invalid dpp_ctrl value */';
}

const DPP_SINGLES: Readonly<Record<number, string>> = {
  304: 'wave_shl:1',
  308: 'wave_rol:1',
  312: 'wave_shr:1',
  316: 'wave_ror:1',
  320: 'row_mirror',
  321: 'row_half_mirror',
  322: 'row_bcast:15',
  323: 'row_bcast:31',
};

const printers = new Map<TargetName, Printer>();

/** The printer of a target. */
export function printerFor(target: TargetName): Printer {
  let printer = printers.get(target);
  if (printer === undefined) {
    printer = new Printer(target);
    printers.set(target, printer);
  }
  return printer;
}

/** The text of an instruction on a target, as LLVM 22 prints it. */
export function printInstruction(target: TargetName, instruction: Instruction): string {
  return printerFor(target).print(instruction);
}
