// The instructions that a kernel can reach: all ways from its entry, and all code of the module once a jump goes where only registers say.
import { branchTarget } from '../../../isa/index.ts';
import { operandNamed } from '../../../isa/operand.ts';
import type { Instruction, Operand } from '../../../isa/types.ts';
import { effectsOf, slotsOf } from '../../../program/index.ts';
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
 * two words, behind each other. Code without optimisation keeps them in lanes of vector registers for further calls.
 */
class CodeAddresses {
  /** By the first register of a pair. */
  private readonly known = new Map<number, CodeAddress>();
  /** Words of whole addresses, by their registers, and by vector register and lane. */
  private readonly words = new Map<number, number>();
  private readonly lanes = new Map<number, Map<number, number>>();

  /** Where a jump or a call through registers goes, as far as that is known. */
  targetOf(instruction: Instruction): number | undefined {
    if (this.words.size === 0 || !/^s_(?:swap|set)pc_b64$/.test(instruction.row.operation)) return undefined;
    const pair = firstOf(instruction, 'src0');
    const [low, high] = [this.words.get(pair), this.words.get(pair + 1)];
    return low === undefined || high === undefined ? undefined : high * WORD + low;
  }

  /** An instruction has been executed. */
  follow(instruction: Instruction, at: number): void {
    const { known, lanes } = this;
    const { operation } = instruction.row;
    const to = firstOf(instruction, 'sdst');
    if (operation === 's_getpc_b64') {
      const next = at + instruction.size;
      this.forget(instruction);
      known.set(to, { low: next % WORD, high: Math.floor(next / WORD), carry: undefined });
      return;
    }
    if (known.size + this.words.size + lanes.size === 0) return;
    // Functions leave to their callers the lanes in which these keep their own, and no scalar registers that hold addresses of code.
    if (operation === 's_swappc_b64') {
      known.clear();
      this.words.clear();
      return;
    }
    const word = firstOf(instruction, 'src0') === to ? wordOf(operandNamed(instruction, 'src1')) : undefined;
    const [lower, upper] = [known.get(to), known.get(to - 1)];
    if (operation === 's_add_u32' && word !== undefined && lower !== undefined && lower.carry === undefined) {
      const sum = lower.low + word;
      this.forget(instruction);
      known.set(to, { low: sum % WORD, high: lower.high, carry: sum >= WORD ? 1 : 0 });
      return;
    }
    if (operation === 's_addc_u32' && word !== undefined && upper?.carry !== undefined) {
      this.forget(instruction);
      this.words.set(to - 1, upper.low);
      this.words.set(to, (upper.high + word + upper.carry) % WORD);
      return;
    }
    if (!this.moveLane(instruction)) this.forget(instruction);
  }

  /** A word goes into a lane of a vector register, or comes back from there. */
  private moveLane(instruction: Instruction): boolean {
    const { words, lanes } = this;
    const { operation } = instruction.row;
    const lane = wordOf(operandNamed(instruction, 'src1'));
    if (operation === 'v_writelane_b32' && lane !== undefined) {
      const register = slotOf(instruction, 'vdst');
      const word = words.get(firstOf(instruction, 'src0'));
      const of = lanes.get(register) ?? new Map<number, number>();
      lanes.set(register, of);
      if (word === undefined) of.delete(lane);
      else of.set(lane, word);
      return true;
    }
    if (operation !== 'v_readlane_b32' || lane === undefined) return false;
    const word = lanes.get(slotOf(instruction, 'src0'))?.get(lane);
    this.forget(instruction);
    if (word !== undefined) words.set(firstOf(instruction, 'vdst'), word);
    return true;
  }

  /** An instruction has written its registers. */
  private forget(instruction: Instruction): void {
    for (const { first, count } of effectsOf(instruction).defs) {
      for (let slot = first - 1; slot < first + count; slot++) {
        this.known.delete(slot);
        if (slot < first) continue;
        this.words.delete(slot);
        this.lanes.delete(slot);
      }
    }
  }
}

/** The slot of the register of an operand; -1 when it is none. */
function slotOf(instruction: Instruction, name: string): number {
  const operand = operandNamed(instruction, name);
  return operand?.kind === 'reg' ? (slotsOf(operand)?.first ?? -1) : -1;
}
