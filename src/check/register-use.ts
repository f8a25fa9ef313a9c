// Which registers the instructions of some code name, and which instruction names the highest of each file.
// Source: CDNA3 ISA manual, "Kernel State" (VGPR, AGPR and SGPR files are allocated per wavefront by the descriptor).
import { decoderFor } from '../isa/codec/decode.ts';
import type { Instruction, Register, TargetName } from '../isa/types.ts';

/** An instruction and where it is. */
export interface PlacedInstruction {
  readonly pc: number;
  readonly instruction: Instruction;
}

/** A register and the instruction that names it. */
export interface RegisterMention extends PlacedInstruction {
  readonly register: Register;
}

/** Registers that instructions name: one more than the highest index of each file, and where that one is first named. */
export interface RegisterUse {
  readonly vgprs: number;
  readonly agprs: number;
  readonly sgprs: number;
  readonly highest: Readonly<Record<'v' | 'a' | 's', RegisterMention | undefined>>;
}

/** The registers that instructions name. */
export function registerUse(instructions: Iterable<PlacedInstruction>): RegisterUse {
  const use = { v: 0, a: 0, s: 0 };
  const highest: Record<'v' | 'a' | 's', RegisterMention | undefined> = { v: undefined, a: undefined, s: undefined };
  for (const { pc, instruction } of instructions) {
    for (const operand of instruction.operands) {
      if (operand.kind !== 'reg') continue;
      const { file, index, dwords } = operand;
      if (file !== 'v' && file !== 'a' && file !== 's') continue;
      if (index + dwords <= use[file]) continue;
      use[file] = index + dwords;
      highest[file] = { register: operand, instruction, pc };
    }
  }
  return { vgprs: use.v, agprs: use.a, sgprs: use.s, highest };
}

/** The instructions of some bytes, one after the other; words that are none are skipped. */
export function* instructionsIn(code: Uint8Array, target: TargetName): Generator<PlacedInstruction> {
  const decoder = decoderFor(target);
  for (let pc = 0; pc + 4 <= code.length; ) {
    const instruction = decoder.decode(code, pc);
    if (instruction !== undefined) yield { pc, instruction };
    pc += instruction?.size ?? 4;
  }
}
