// The instructions that a kernel can reach: all ways from its entry, and all code of the module once a jump goes where only registers say.
import { branchTarget } from '../../../isa/index.ts';
import { operandNamed } from '../../../isa/operand.ts';
import type { Instruction, Operand } from '../../../isa/types.ts';
import { effectsOf } from '../../../program/index.ts';
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
  /** First registers of the pairs in which functions that are called find where to return to. */
  const returns = new Set<number>();
  let hasComputedJump = false;
  for (let from = pending.pop(); from !== undefined; from = pending.pop()) {
    const addresses = new CodeAddresses();
    for (let at = from; !seen.has(at); ) {
      const instruction = loaded.instructionAt(at);
      if (instruction === undefined) break;
      seen.add(at);
      yield { at, instruction };
      const { flags, operation } = instruction.row;
      if (operation === 's_endpgm') break;
      const target = branchTarget(instruction, at) ?? addresses.targetOf(instruction);
      if (operation === 's_swappc_b64') returns.add(firstOf(instruction, 'sdst'));
      if (target !== undefined) pending.push(target);
      else if (operation === 's_setpc_b64' && returns.has(firstOf(instruction, 'src0'))) break;
      else if (flags.has('isBranch') || flags.has('isCall') || flags.has('isReturn')) hasComputedJump = true;
      if (flags.has('isBarrier')) break;
      addresses.follow(instruction, at);
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

const WORD = 4294967296;

/** The first SGPR of an operand; -1 when it is none. */
function firstOf(instruction: Instruction, name: string): number {
  const operand = operandNamed(instruction, name);
  return operand?.kind === 'reg' && operand.file === 's' ? operand.index : -1;
}

/** The word of a literal, or of an inline constant that is an integer (CDNA3 ISA manual, "Scalar ALU Operands": 128 is 0, 192 is 64, 193 is -1). */
function wordOf(operand: Operand | undefined): number | undefined {
  if (operand?.kind === 'literal') return operand.bits >>> 0;
  if (operand?.kind !== 'inline' || operand.encoding > 208) return undefined;
  return (operand.encoding <= 192 ? operand.encoding - 128 : 192 - operand.encoding) >>> 0;
}

/** An address in a pair of SGPRs. */
interface CodeAddress {
  readonly low: number;
  readonly high: number;
  /** What the sum of the lower words carries, to be added with the upper ones. */
  readonly carry: 0 | 1 | undefined;
}

/**
 * Addresses of code in pairs of SGPRs, as compilers make them for calls and long jumps: s_getpc_b64, then s_add_u32 and s_addc_u32 of literals to its
 * two words, behind each other.
 */
class CodeAddresses {
  /** By the first register of a pair. */
  private readonly known = new Map<number, CodeAddress>();

  /** Where a jump or a call through registers goes, as far as that is known. */
  targetOf(instruction: Instruction): number | undefined {
    if (this.known.size === 0 || !/^s_(?:swap|set)pc_b64$/.test(instruction.row.operation)) return undefined;
    const pair = this.known.get(firstOf(instruction, 'src0'));
    return pair === undefined || pair.carry !== undefined ? undefined : pair.high * WORD + pair.low;
  }

  /** An instruction has been executed. */
  follow(instruction: Instruction, at: number): void {
    const { known } = this;
    const { operation } = instruction.row;
    const to = firstOf(instruction, 'sdst');
    if (operation === 's_getpc_b64') {
      const next = at + instruction.size;
      known.set(to, { low: next % WORD, high: Math.floor(next / WORD), carry: undefined });
      return;
    }
    if (known.size === 0) return;
    const word = firstOf(instruction, 'src0') === to ? wordOf(operandNamed(instruction, 'src1')) : undefined;
    const [lower, upper] = [known.get(to), known.get(to - 1)];
    if (operation === 's_add_u32' && word !== undefined && lower !== undefined && lower.carry === undefined) {
      const sum = lower.low + word;
      known.set(to, { low: sum % WORD, high: lower.high, carry: sum >= WORD ? 1 : 0 });
      return;
    }
    if (operation === 's_addc_u32' && word !== undefined && upper?.carry !== undefined) {
      known.set(to - 1, { low: upper.low, high: (upper.high + word + upper.carry) % WORD, carry: undefined });
      return;
    }
    for (const { first, count } of effectsOf(instruction).defs) {
      for (let slot = first - 1; slot < first + count; slot++) known.delete(slot);
    }
  }
}
