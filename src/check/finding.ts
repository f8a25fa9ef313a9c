// Makes findings: fills what a rule leaves out, so that a rule only says what is wrong, where and how to mend it.
import { printerFor } from '../isa/print/print.ts';
import type { Instruction, TargetName } from '../isa/types.ts';
import type { Finding } from './types.ts';

/** What a rule says; everything else of the finding is absent. */
export type FindingParts = Pick<Finding, 'rule' | 'severity' | 'message'> & Partial<Finding>;

/** A finding from its parts. */
export function finding(parts: FindingParts): Finding {
  return {
    rule: parts.rule,
    severity: parts.severity,
    kernel: parts.kernel,
    pc: parts.pc,
    instruction: parts.instruction,
    other: parts.other,
    registers: parts.registers ?? [],
    message: parts.message,
    fix: parts.fix,
    reference: parts.reference,
  };
}

/** An instruction as the disassembler prints it. */
export function instructionText(instruction: Instruction, target: TargetName): string {
  return printerFor(target).print(instruction);
}
