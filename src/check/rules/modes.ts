// Rule `modes/omod-ignored`: output modifiers that do nothing in the mode that the kernel's descriptor sets.
// Source: AMD CDNA3 Instruction Set Architecture, "Output Modifiers".
import { type Finding, finding } from '../../finding/index.ts';
import { hasOperand, immediateOf } from '../../isa/operand.ts';
import { ignoredModifier, semanticsOf } from '../../isa/semantics/index.ts';
import type { CodeInstruction } from '../../program/index.ts';
import { placeAt } from '../place.ts';
import type { CheckContext, Rule } from '../types.ts';

/** Modifiers of a kernel's own instructions; nothing is said where the code itself writes MODE. */
export const checkModes: Rule = ({ kernel, program, subject }: CheckContext) => {
  if (kernel?.descriptor === undefined) return [];
  const { rsrc1 } = kernel.descriptor;
  const mode = (rsrc1.floatDenormMode32 << 4) | (rsrc1.floatDenormMode16_64 << 6) | (Number(rsrc1.enableIeeeMode) << 9);
  const found: Finding[] = [];
  for (const index of subject.blocks) {
    const block = program.blocks[index];
    for (let i = block?.first ?? 0; i < (block?.end ?? 0); i++) {
      const { instruction, pc } = program.instructions[i] as CodeInstruction;
      const { operation } = instruction.row;
      if (operation.startsWith('s_setreg')) return [];
      if (!hasOperand(instruction.row, 'omod') || immediateOf(instruction, 'omod') === 0) continue;
      const op = semanticsOf(operation);
      const reason = ignoredModifier(mode, op?.kind === 'vector' ? op.resultType : undefined);
      if (reason === undefined) continue;
      found.push(
        finding({
          rule: 'modes/omod-ignored',
          kernel: subject.name,
          place: placeAt(program, pc),
          message: `The output modifier of '${program.text(pc)}' does nothing: ${reason}.`,
          advice:
            'Multiply the result with an instruction, or change the mode (.amdhsa_ieee_mode, .amdhsa_float_denorm_mode_32).',
        }),
      );
    }
  }
  return found;
};
