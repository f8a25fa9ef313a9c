// Operands of an instruction by the names of the table's rows (`src0`, `vdata`, `offset`).
import type { Instruction, InstructionRow, Operand } from './types.ts';

/** By number of the shape, whose rows share their operands, and name: the search is done once, since it is asked often. */
const indexes: (Map<string, number> | undefined)[] = [];

/** Position of a named operand among those of a row; the first of several of one name, -1 when there is none. */
export function operandIndex(row: InstructionRow, name: string): number {
  let known = indexes[row.shape];
  if (known === undefined) {
    known = new Map();
    for (const [index, operand] of row.operands.entries()) if (!known.has(operand.name)) known.set(operand.name, index);
    indexes[row.shape] = known;
  }
  return known.get(name) ?? -1;
}

/** Whether a row has an operand of this name. */
export function hasOperand(row: InstructionRow, name: string): boolean {
  return operandIndex(row, name) >= 0;
}

/** The operand of a name; undefined when the row has none. */
export function operandNamed(instruction: Pick<Instruction, 'row' | 'operands'>, name: string): Operand | undefined {
  return instruction.operands[operandIndex(instruction.row, name)];
}

/** The operand of a name that the row must have. Its absence is a bug of the caller, not of the input. */
export function requireOperand(instruction: Instruction, name: string): Operand {
  const operand = operandNamed(instruction, name);
  if (operand === undefined) throw new Error(`${instruction.row.name} has no operand ${name}`);
  return operand;
}

/** The lane mask that an instruction reads as its last source (VOP3); undefined for rows without one, whose short forms read VCC. */
export function maskSource({ row, operands }: Pick<Instruction, 'row' | 'operands'>): Operand | undefined {
  const index = operandIndex(row, 'src2');
  return row.operands[index]?.cls === 'SSrc_i1' ? operands[index] : undefined;
}

/** The value of an immediate or literal operand; 0 when the row has none of this name, or when it holds something else. */
export function immediateOf(instruction: Instruction, name: string): number {
  const operand = operandNamed(instruction, name);
  if (operand === undefined) return 0;
  return operand.kind === 'imm' ? operand.value : operand.kind === 'literal' ? operand.bits : 0;
}
