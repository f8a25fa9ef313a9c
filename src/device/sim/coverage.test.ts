// Every row of every target's table executes on the simulator, or is refused with a documented reason.
import { describe, expect, it } from 'vitest';
import { makeWave } from '../../../tests/support/one-instruction.ts';
import { decoderFor, tableFor } from '../../isa/index.ts';
import { semanticsOf } from '../../isa/semantics/index.ts';
import type { Instruction, InstructionRow, TargetName } from '../../isa/types.ts';
import { bindInstruction } from './program.ts';
import { KernelStop } from './structural.ts';

/** The row with register fields 8, 16, 24 … (aligned, in range of every class), or undefined when it does not decode. */
function sample(target: TargetName, row: InstructionRow): Instruction | undefined {
  const words = [...row.fixedBits, 0];
  let register = 8;
  for (const f of row.fields) {
    const name = row.operands[f.operand]?.name ?? '';
    const isRegister =
      /^(v|s)?(dst|data|addr|src|base|offset|rsrc)|^(data|src|idx|scale|addr)/.test(name) && f.shift === 0;
    if (!isRegister || f.width < 5) continue;
    const scalar = (row.operands[f.operand]?.cls ?? '').startsWith('SC');
    const code = scalar
      ? 128
      : f.width === 9
        ? 256 + register
        : f.width === 5
          ? register / 4
          : f.width === 6
            ? register / 2
            : register;
    const word = f.at >> 5;
    words[word] = ((words[word] as number) | (code << (f.at & 31))) >>> 0;
    register = register >= 64 ? 8 : register + 8;
  }
  const bytes = new Uint8Array(Uint32Array.from(words).buffer);
  const instruction = decoderFor(target).decode(bytes, 0);
  if (instruction === undefined || instruction.operands.length !== row.operands.length) return undefined;
  // Aliases decode as another row with the same operands (v_mul_lo_i32 as v_mul_lo_u32).
  return { ...instruction, row };
}

/** Why the simulator refuses an instruction, undefined when it runs it. */
function refusal(target: TargetName, instruction: Instruction): string | undefined {
  const w = makeWave(target);
  w.sgprs.fill(0, 0, 96);
  try {
    bindInstruction(instruction, target)(w);
  } catch (error) {
    if (error instanceof KernelStop && error.code === 'sim/unsupported-instruction') return error.message;
    if (!(error instanceof KernelStop) && !(error instanceof Error && error.constructor.name === 'MemoryFault'))
      throw error;
  }
  return undefined;
}

describe.each(['gfx90a', 'gfx942', 'gfx950'] as const)('%s', (target) => {
  it('should have semantics for every operation', () => {
    const missing = new Set(
      tableFor(target)
        .rows.map((r) => r.operation)
        .filter((o) => semanticsOf(o) === undefined),
    );
    expect([...missing]).toEqual([]);
  });

  it('should execute every operation but the documented unreachable ones', () => {
    const executed = new Set<string>();
    const refused = new Map<string, string>();
    for (const row of tableFor(target).rows) {
      const instruction = sample(target, row);
      if (instruction === undefined) continue;
      const reason = refusal(target, instruction);
      if (reason === undefined) executed.add(row.operation);
      else refused.set(row.operation, reason);
    }
    const operations = new Set(tableFor(target).rows.map((r) => r.operation));
    const unexplained = [...refused].filter(([operation]) => {
      const op = semanticsOf(operation);
      return op?.kind !== 'unreachable' && !(op?.kind === 'structural' && op.name === 'matrixLoadScale');
    });
    expect(unexplained).toEqual([]);
    const neither = [...operations].filter((o) => !executed.has(o) && !refused.has(o));
    expect(neither).toEqual([]);
    console.info(`${target}: ${executed.size} of ${operations.size} operations executed, ${refused.size} refused`);
  });
});
