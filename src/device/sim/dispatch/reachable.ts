// The instructions that a kernel can reach: all ways from its entry, and all code of the module once a jump through a register is seen.
import { branchTarget } from '../../../isa/index.ts';
import type { Instruction } from '../../../isa/types.ts';
import type { LoadedCode } from '../interpreter/loaded-code.ts';

/** An instruction and the address where it is loaded. */
export interface Reached {
  readonly at: number;
  readonly instruction: Instruction;
}

/** Each instruction once, those of one way behind each other. */
export function* reachable(loaded: LoadedCode, entry: number): IterableIterator<Reached> {
  const seen = new Set<number>();
  const pending = [entry];
  let hasComputedJump = false;
  for (let from = pending.pop(); from !== undefined; from = pending.pop()) {
    for (let at = from; !seen.has(at); ) {
      const instruction = loaded.instructionAt(at);
      if (instruction === undefined) break;
      seen.add(at);
      yield { at, instruction };
      const { flags, operation } = instruction.row;
      if (operation === 's_endpgm') break;
      const target = branchTarget(instruction, at);
      if (target !== undefined) pending.push(target);
      else if (flags.has('isBranch') || flags.has('isCall') || flags.has('isReturn')) hasComputedJump = true;
      if (flags.has('isBarrier')) break;
      at += instruction.size;
    }
  }
  if (!hasComputedJump) return;
  const { base } = loaded.region;
  for (const [start, end] of loaded.codeRanges) {
    for (let at = base + start; at < base + end; ) {
      const instruction = loaded.instructionAt(at);
      if (instruction !== undefined && !seen.has(at)) yield { at, instruction };
      at += instruction?.size ?? 4;
    }
  }
}
