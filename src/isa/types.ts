// The vocabulary of the instruction codec: rows of the generated tables, registers, operands, decoded instructions.
// Shapes follow LLVM's MCInst (llvm/MC/MCInst.h): operands are listed outs first, then ins, in the record's order.

/** The targets with tables. A target is data: adding one must not change code outside the tables. */
export type TargetName = 'gfx90a' | 'gfx942' | 'gfx950';

/** Register files. `special` holds everything addressed by a scalar source encoding that is not an SGPR or TTMP. */
export type RegisterFile = 'v' | 'a' | 's' | 'ttmp' | 'special';

/** A register tuple. Interned: the same tuple is always the same object, so `===` compares. */
export interface Register {
  readonly kind: 'reg';
  readonly file: RegisterFile;
  /** First register within the file; for `special` the scalar source encoding (vcc_lo 106, m0 124, exec_lo 126, …). */
  readonly index: number;
  /** Width in 32-bit registers. */
  readonly dwords: number;
  /** Source-operand encoding: SGPR 0–101, specials 102–127 and 235–254, VGPR and AGPR 256 + index. */
  readonly encoding: number;
  /** LLVM's text: `v0`, `s[4:5]`, `a[0:3]`, `vcc`, `exec_lo`, `ttmp[4:7]`. */
  readonly text: string;
  /** Dense number in order of first use, for side tables. Not stable between runs. */
  readonly id: number;
}

/** An inline constant of a source operand, by its encoding (128–208 integers, 240–248 floats). Interned. */
export interface InlineConstant {
  readonly kind: 'inline';
  readonly encoding: number;
  /** Written as a float in an int16 operand: prints as that float, while a decoded one prints as half-precision bits. */
  readonly written?: true;
}

/** A 32-bit literal that follows the instruction, as an unsigned bit pattern. */
export interface Literal {
  readonly kind: 'literal';
  readonly bits: number;
  /**
   * What LLVM's disassembler prints instead: it takes a V_MADMK-like constant that equals a source code of an inline constant
   * (128–208, 240–248) for that constant. Only the decoder sets it; the value is always `bits`.
   */
  readonly shown?: number;
  /** Written as `lit(…)` and printed so. */
  readonly written?: true;
}

/** The value of a plain field: offsets, modifiers, selectors, `simm16`; signed where the field is signed. */
export interface Immediate {
  readonly kind: 'imm';
  readonly value: number;
  /** A branch distance written as a negative number and printed so; decoded ones print as 16 bits. */
  readonly written?: true;
}

export type Operand = Register | InlineConstant | Literal | Immediate;

/** One operand of a row. */
export interface OperandDef {
  /** LLVM's field name: `vdst`, `src0`, `src0_modifiers`, `offset`, `cpol`, … */
  readonly name: string;
  /** The operand class, a key of the operand class table: decode, print and parse behaviour and the register class. */
  readonly cls: string;
  readonly isOut: boolean;
  /** Index of the operand this one must equal (`$vdst = $src2`), or -1. */
  readonly tiedTo: number;
}

/** Bits of the encoding that hold bits of an operand. */
export interface EncodedField {
  /** Index of the operand in the row. */
  readonly operand: number;
  /** Lowest bit in the encoding; bit 32 is bit 0 of the second dword. */
  readonly at: number;
  readonly width: number;
  /** The operand's bit that the lowest bit holds. */
  readonly shift: number;
}

/** One encoding of one operation: the single description that decodes, encodes, prints, parses, executes, documents. */
export interface InstructionRow {
  /** Index in the table. */
  readonly id: number;
  /** Number of the shape. Rows of one shape differ in id, name, mnemonic, operation and fixed bits, and in nothing else. */
  readonly shape: number;
  /** LLVM's record name: `V_ADD_F32_e64_vi`. */
  readonly name: string;
  /** Printed mnemonic, suffix included: `v_add_f32_e64`. */
  readonly mnemonic: string;
  /** The operation whatever its encoding: `v_add_f32`. The key of the semantics table. */
  readonly operation: string;
  /**
   * Encoding family as the ISA manual names it: `SOP1/2/C/K/P`, `SMEM`, `VOP1/2/C`, `VOP3`, `VOP3P`, `VOP3P-MAI`, `VOP3PX2` (16 bytes),
   * `SDWA`, `DPP`, `DS`, `FLAT`, `GLOBAL`, `SCRATCH`, `MUBUF`, `MTBUF`, `MIMG`.
   */
  readonly encoding: string;
  /** Size in bytes without a literal: 4, 8 or 16. */
  readonly size: number;
  readonly targets: readonly TargetName[];
  readonly operands: readonly OperandDef[];
  /** Implicit registers read and written: `EXEC`, `SCC`, `VCC`, `M0`, `MODE`, `FLAT_SCR`. */
  readonly uses: readonly string[];
  readonly defs: readonly string[];
  /**
   * LLVM's property flags (`VALU`, `mayLoad`, `isBranch`, `TRANS`, `VM_CNT`, …) and those the generator derives: `MAI`, `VOP3_OPSEL`
   * (op_sel with a destination bit), `IsPacked`, `FlatGlobal`, `FlatScratch`, `LDSDMA` (memory to LDS, no VGPR data).
   */
  readonly flags: ReadonlySet<string>;
  /** LLVM's assembly template after the mnemonic: ` $vdst, $src0_modifiers$clamp$omod`. */
  readonly template: string;
  /** Fixed bits, one unsigned 32-bit number per dword of `size`; bits outside the mask and the fields are written 0, read ignored. */
  readonly fixedMask: readonly number[];
  readonly fixedBits: readonly number[];
  readonly fields: readonly EncodedField[];
  /** LLVM's decoder table: `GFX8`, `GFX9`, `GFX90A`, `GFX940`, `GFX950`, `GFX9_DL`. */
  readonly namespace: string;
  /** The row is for the assembler only; the decoder never yields it by itself. */
  readonly asmOnly: boolean;
  /** The row is for the compiler only; neither assembler nor decoder yields it. */
  readonly codeGenOnly: boolean;
  /** LLVM's operand constraints, verbatim: `$vdst = $src2`, `@earlyclobber $vdst`. */
  readonly constraints: string;
  /** LLVM's predicates, verbatim; already applied to `targets`. */
  readonly predicates: readonly string[];
  /** LLVM's asm-match converter (`cvtVOP3`, `cvtDPP`, …), empty for the default. */
  readonly conversion: string;
  /** LLVM's scheduling classes (`Write32Bit`, `WriteVMEM`, …); `Write8PassMAI`: 8 passes (of 4 cycles) of the matrix unit. */
  readonly schedule: readonly string[];
}

/** A decoded or parsed instruction. `operands[i]` belongs to `row.operands[i]`. */
export interface Instruction {
  readonly row: InstructionRow;
  readonly operands: readonly Operand[];
  /** Size in bytes, literal included. */
  readonly size: number;
}
