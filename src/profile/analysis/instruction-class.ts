// The classes of instructions that traces are summed by.
import type { InstructionRow } from '../../isa/index.ts';
import { lineCategory, rowOf } from '../sqtt/code.ts';

export const CLASSES = [
  'VALU',
  'MFMA',
  'transcendental',
  'SALU',
  'VMEM',
  'SMEM',
  'LDS',
  'FLAT',
  'branch',
  'wait',
  'barrier',
  'message',
  'other',
] as const;
export type InstructionClass = (typeof CLASSES)[number];

/** The class of an instruction by its text; unknown mnemonics are `other`. */
export function classOf(text: string): InstructionClass {
  const row = rowOf(text);
  return row === undefined ? 'other' : classOfRow(row);
}

function classOfRow(row: InstructionRow): InstructionClass {
  if (row.flags.has('MAI')) return 'MFMA';
  if (row.flags.has('TRANS')) return 'transcendental';
  const category = lineCategory(row);
  switch (category) {
    case 'branch':
    case 'jump':
      return 'branch';
    case 'end':
      return 'message';
    case 'immediate': {
      const operand = row.operands[0]?.cls ?? '';
      if (/wait/i.test(operand)) return 'wait';
      return /sendmsg/i.test(operand) ? 'message' : 'other';
    }
    default:
      return category;
  }
}
