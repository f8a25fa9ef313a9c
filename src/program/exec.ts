// How instructions change EXEC: which lanes are active after them compared with before.
// Source: CDNA3 ISA manual, "SALU": operations with SAVEEXEC and WREXEC, EXEC as destination.
import { Slot, type SlotRange } from './slots.ts';
import type { CodeInstruction } from './types.ts';

/** `same`: EXEC is not written. `narrower`: lanes only leave. `all`: every lane is on. `other`: lanes may come back. */
export type ExecChange = 'same' | 'narrower' | 'all' | 'other';

/** The inline constant -1 as a scalar source. */
const MINUS_ONE = 193;

function writesExec(defs: readonly SlotRange[]): boolean {
  for (const { first, count } of defs) if (first <= Slot.EXEC + 1 && first + count > Slot.EXEC) return true;
  return false;
}

/** What an instruction does to EXEC. */
export function execChange({ instruction, effects }: CodeInstruction): ExecChange {
  if (!writesExec(effects.defs)) return 'same';
  const { row, operands } = instruction;
  if (row.operation === 's_and_saveexec_b64') return 'narrower';
  if (row.operation.startsWith('v_cmpx')) return 'narrower';
  const sources = row.operands.flatMap((o, i) => (o.isOut ? [] : [operands[i]]));
  const isExec = (i: number): boolean => {
    const operand = sources[i];
    return operand?.kind === 'reg' && operand.encoding === Slot.EXEC && operand.dwords === 2;
  };
  if (row.operation === 's_and_b64' && (isExec(0) || isExec(1))) return 'narrower';
  if (row.operation === 's_andn2_b64' && isExec(0)) return 'narrower';
  const [first] = sources;
  const isAll = first?.kind === 'inline' && first.encoding === MINUS_ONE;
  return row.operation === 's_mov_b64' && isAll ? 'all' : 'other';
}
