// The operand class table: what each operand holds, how it decodes, prints and parses, as structural properties.
// Source: the operand records of LLVM's SIRegisterInfo.td, SIInstrInfo.td and VOP*Instructions.td, through tools/gen-isa.
import { CLASSES } from '../generated/classes.ts';
import type { Register } from '../types.ts';

/**
 * How the field's bits become an operand.
 * - `imm`: the bits are the value.
 * - `vgpr`, `agpr`: 8-bit register number. `sreg`: 7-bit scalar register code.
 * - `src9`: 9-bit source (register, inline constant, literal). `srcA9`: the same with AGPRs for 256 and up.
 * - `srcAV10`: `src9` whose bit 9 selects AGPRs. `av10`: 8-bit register number whose bit 9 selects AGPRs.
 * - `avLdSt`: `av10` of memory data; without a bit of its own it follows the row's `vdst` (or `data0`) into the AGPR file.
 * - `bool`: 64-bit lane mask source. `sdwaSrc`: 8-bit VGPR number, bit 8 selects a scalar source. `sdwaDst`: bit 7 clear means VCC.
 * - `literal`: the 32-bit constant of V_MADMK and the like.
 */
export type DecodeKind =
  | 'imm'
  | 'vgpr'
  | 'agpr'
  | 'sreg'
  | 'src9'
  | 'srcA9'
  | 'srcAV10'
  | 'av10'
  | 'avLdSt'
  | 'bool'
  | 'sdwaSrc'
  | 'sdwaDst'
  | 'literal';

/** The value type that a source operand's constants are interpreted in. */
export type ValueType =
  | 'int16'
  | 'int32'
  | 'int64'
  | 'fp16'
  | 'bf16'
  | 'fp32'
  | 'fp64'
  | 'v2int16'
  | 'v2fp16'
  | 'v2fp16splat'
  | 'v2bf16'
  | 'v2int32'
  | 'v2fp32'
  | 'none';

/** A set of registers of one width. */
export interface RegisterClass {
  /** The name on these targets, as LLVM prints it: `VReg_64_Align2`, `SReg_32_XM0_XEXEC`. */
  readonly name: string;
  /** Members by file. */
  readonly vgpr: boolean;
  readonly agpr: boolean;
  readonly scalar: boolean;
  readonly dwords: number;
  /** VGPR and AGPR tuples must start at an even register. */
  readonly even: boolean;
  /** Scalar encodings that are not members (`XM0` 124, `XEXEC` 126–127, …). */
  readonly excluded: ReadonlySet<number>;
}

/** One operand class. */
export interface OperandClass {
  readonly name: string;
  readonly decode: DecodeKind;
  /** Width in dwords of a register or source; 0 for immediates and modifiers. */
  readonly dwords: number;
  /** The registers allowed, undefined for immediates and modifiers. */
  readonly registers: RegisterClass | undefined;
  /** Type of constants in a source operand; `none` when the class takes no constants. */
  readonly type: ValueType;
  /** Inline constants are allowed. */
  readonly inline: boolean;
  /** A 32-bit literal is allowed (by the class; the encoding family decides too: VOP3 has none on these targets). */
  readonly literal: boolean;
  /** LLVM's operand type without prefix: `REG_IMM_FP32`, `REGISTER`, `IMMEDIATE`, `INPUT_MODS`, `KIMM32`, `PCREL`, `UNKNOWN`, … */
  readonly operandType: string;
  /** The print method without `print`: `Operand`, `VOPDst`, `CPol`, `NamedBit:gds`, `NamedInt:offset:hex:zero`, … */
  readonly print: string;
  /** The integer type of an immediate: `i1`, `i8`, `i16`, `i32`; empty for registers. */
  readonly immediateType: string;
  /** The immediate is signed: a field of `n` bits is sign-extended when decoded. */
  readonly signed: boolean;
  /** LLVM's asm match class (`VSrc_f32`, `CPol_GLC`, `FlatOffset`, `RegOrImmWithFP32InputMods`), empty for plain registers. */
  readonly match: string;
  /** Match predicate without `is` (`SMEMOffset`, `CPolGLC`), empty when the parser alone decides. */
  readonly predicate: string;
  /** Parser: `NamedInt:PREFIX:BITS` (0: any), `NamedBit:NAME`, `Array:PREFIX`, `SDWASel:PREFIX`, or LLVM's method without `parse`. */
  readonly parse: string;
  readonly optional: boolean;
  /** The value of an optional immediate that is left out. */
  readonly fallback: number;
}

const TYPES: Readonly<Record<string, ValueType>> = {
  INT16: 'int16',
  INT32: 'int32',
  INT64: 'int64',
  FP16: 'fp16',
  BF16: 'bf16',
  FP32: 'fp32',
  FP64: 'fp64',
  V2INT16: 'v2int16',
  V2FP16: 'v2fp16',
  V2FP16_SPLAT: 'v2fp16splat',
  V2BF16: 'v2bf16',
  V2INT32: 'v2int32',
  V2FP32: 'v2fp32',
};

/** Immediates whose field is signed: branch and SOPK constants, SMEM offsets. FLAT offsets depend on the segment (`decode.ts`). */
const SIGNED = new Set(['s16imm', 'SOPPBrTarget', 'SMEMOffset', 'SMEMOffsetMod']);

const EXEC = [126, 127];
const NULL = 125;
const NO_DWORD_EXCLUSIONS: ReadonlySet<number> = new Set();
const registerClasses = new Map<string, RegisterClass>();

/** The register class of an LLVM record name, resolved for targets with aligned VGPR tuples. */
export function registerClass(record: string): RegisterClass {
  const known = registerClasses.get(record);
  if (known !== undefined) return known;
  const name = record
    .replace(/^AV_LdSt_32_Target$/, 'AV_32')
    .replace(/^AV_LdSt_(\d+)_(?:AlignTarget|Align2)$/, 'AV_$1_Align2')
    .replace(/_AlignTarget$/, '_Align2');
  const bits = /_(\d+)(?:_|$)/.exec(name)?.[1];
  const dwords = bits === undefined ? 1 : bits === '1' ? 2 : Number(bits) / 32;
  const excluded = new Set<number>();
  if (/XM0/.test(name)) excluded.add(124);
  if (/XEXEC_HI/.test(name)) excluded.add(127);
  else if (/XEXEC/.test(name)) for (const e of EXEC) excluded.add(e);
  if (/XNULL/.test(name)) excluded.add(NULL);
  const made: RegisterClass = {
    name,
    vgpr: /^(VGPR|VReg|AV|VS|VRegOrLds)_/.test(name),
    agpr: /^(AGPR|AReg|AV)_/.test(name),
    scalar: /^(SReg|SGPR|VS)_/.test(name),
    dwords,
    even: dwords > 1 && /_Align2$/.test(name),
    excluded: excluded.size === 0 ? NO_DWORD_EXCLUSIONS : excluded,
  };
  registerClasses.set(record, made);
  return made;
}

/** Whether a register belongs to a class. */
export function isMember(register: Register, cls: RegisterClass): boolean {
  if (register.dwords !== cls.dwords) return false;
  switch (register.file) {
    case 'v':
      return cls.vgpr && !(cls.even && register.index % 2 !== 0);
    case 'a':
      return cls.agpr && !(cls.even && register.index % 2 !== 0);
    default:
      if (register.encoding === 254) return /^(VRegOrLds|VS)_32$/.test(cls.name);
      return cls.scalar && !cls.excluded.has(register.encoding);
  }
}

function parseLine(line: string): OperandClass {
  const [name, operandType, decode, dwords, print, regClass, type, match, predicate, parse, optional, fallback] =
    line.split('\t') as [
      string,
      string,
      DecodeKind,
      string,
      string,
      string,
      string,
      string,
      string,
      string,
      string,
      string,
    ];
  const source = /^REG_(IMM|INLINE_C|INLINE_AC)_(.+)$/.exec(operandType);
  return {
    name,
    decode,
    dwords: Number(dwords),
    registers: regClass === '' ? undefined : registerClass(regClass),
    type: source === null ? 'none' : (TYPES[source[2] as string] ?? 'none'),
    inline: source !== null,
    literal: source !== null && source[1] === 'IMM',
    operandType,
    print,
    immediateType: type,
    signed: SIGNED.has(name),
    match,
    predicate,
    parse,
    optional: optional === '1',
    fallback: Number(fallback),
  };
}

let classes: ReadonlyMap<string, OperandClass> | undefined;

/** All operand classes by name. */
export function operandClasses(): ReadonlyMap<string, OperandClass> {
  classes ??= new Map(CLASSES.split('\n').map((line) => [line.slice(0, line.indexOf('\t')), parseLine(line)]));
  return classes;
}

/** The operand class of a name used in a row. */
export function operandClass(name: string): OperandClass {
  const found = operandClasses().get(name);
  if (found === undefined) throw new RangeError(`no operand class '${name}'`);
  return found;
}
