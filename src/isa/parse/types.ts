// The contract between the instruction parser and its users (the assembler, `wavesmith mc`): context in, instruction out.
import type { Expr } from '../text/expr-tree.ts';
import type { Instruction, TargetName } from '../types.ts';

/** What the instruction parser needs to know from the assembler around it. */
export interface ParseContext {
  readonly target: TargetName;
  /** Whether the target id has xnack on (`xnack_mask` is a register then). */
  readonly xnack: boolean;
  /** Wavefronts of 32 lanes: instructions for 64 lanes only are refused, and so are those with lane masks. */
  readonly wave32?: boolean | undefined;
  /** Value of a symbol that is a constant now (`.set`), undefined for labels and unknown symbols. */
  constant(name: string): bigint | undefined;
  /** The name of a label placed at the current address, for `.`. */
  here(): string;
  /** The symbol a numeric label (`1b`, `1f`) means here; undefined when `1b` has no label before it. */
  numericLabel(label: bigint, direction: 'b' | 'f'): string | undefined;
  /** Value of an expression that the assembler can compute now (label differences); undefined if it cannot. */
  evaluate?(expr: Expr): bigint | undefined;
  /** A warning at an offset of the text: the instruction is assembled all the same. */
  warn?(offset: number, message: string): void;
  /** Called for every VGPR, AGPR and SGPR tuple read, with its last index: keeps `.amdgcn.next_free_vgpr` and friends. */
  usesRegister?(file: 'v' | 'a' | 's', lastIndex: number): void;
}

/**
 * What the assembler has to fill in when symbols are placed.
 * - `branch16`: 16 bits at offset 0 of a SOPP/SOPK word, (target - (address + 4)) / 4.
 * - `literal32`: the 32-bit literal; a plain symbol is pc-relative (R_AMDGPU_REL32), specifiers choose the relocation.
 * - `simm16`: an absolute 16-bit value known only later.
 */
export type FixupKind = 'branch16' | 'literal32' | 'simm16';

export interface Fixup {
  /** Index in `instruction.operands`; the operand there is an immediate or literal 0. */
  readonly operandIndex: number;
  readonly kind: FixupKind;
  /** Offset of the field from the start of the instruction. */
  readonly byteOffset: number;
  readonly expr: Expr;
}

export interface ParsedInstruction {
  readonly instruction: Instruction;
  /** Empty for nearly every instruction (one shared array). */
  readonly fixups: readonly Fixup[];
  /** Offset in the text of each of the instruction's operands that the text gives; undefined for others. */
  readonly starts: readonly (number | undefined)[];
}
