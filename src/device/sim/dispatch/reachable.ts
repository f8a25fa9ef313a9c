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
  /** What was come to with addresses of code in registers: who comes there by a jump has others. */
  const informed = new Set<number>();
  /** From where such code has been gone through again, without them. */
  const again = new Set<number>();
  for (let from = pending.pop(); from !== undefined; from = pending.pop()) {
    const addresses = new CodeAddresses();
    if (seen.has(from)) {
      if (!informed.has(from) || again.has(from)) continue;
      again.add(from);
    }
    const isAgain = again.has(from);
    for (let at = from; isAgain ? informed.has(at) : !seen.has(at); ) {
      const instruction = loaded.instructionAt(at);
      if (instruction === undefined) break;
      if (addresses.isAny) informed.add(at);
      if (!seen.has(at)) {
        seen.add(at);
        yield { at, instruction };
      }
      const { flags, operation } = instruction.row;
      if (operation === 's_endpgm') break;
      const target = branchTarget(instruction, at) ?? addresses.targetOf(instruction);
      if (operation === 's_swappc_b64') returns.add(firstOf(instruction, 'sdst'));
      if (target !== undefined) pending.push(target);
      else if (operation === 's_setpc_b64' && returns.has(firstOf(instruction, 'src0'))) break;
      else if (flags.has('isBranch') || flags.has('isCall') || flags.has('isReturn')) hasComputedJump = true;
      if (flags.has('isBarrier')) break;
      if (operation === 's_swappc_b64') addresses.call(target === undefined ? undefined : slotsWritten(loaded, target));
      else addresses.follow(instruction, at);
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

/** Instructions of a function that are looked at for what it writes. */
const MOST_OF_FUNCTION = 2000;

/** The slots that a function writes, which has its code in one piece and calls no other; undefined where that is not so. */
function slotsWritten(loaded: LoadedCode, entry: number): ReadonlySet<number> | undefined {
  const slots = new Set<number>();
  let last = entry;
  for (let at = entry, n = 0; n < MOST_OF_FUNCTION; n++) {
    const instruction = loaded.instructionAt(at);
    if (instruction === undefined || instruction.row.flags.has('isCall')) return undefined;
    const target = branchTarget(instruction, at);
    if (target !== undefined && target < entry) return undefined;
    last = Math.max(last, target ?? entry);
    for (const { first, count } of effectsOf(instruction).defs) {
      for (let slot = first; slot < first + count; slot++) slots.add(slot);
    }
    if (instruction.row.operation === 's_setpc_b64' && at >= last) return slots;
    at += instruction.size;
  }
  return undefined;
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

  /** Whether any is known. */
  get isAny(): boolean {
    return this.known.size + this.words.size + this.lanes.size > 0;
  }

  /** Where a jump or a call through registers goes, as far as that is known. */
  targetOf(instruction: Instruction): number | undefined {
    if (this.words.size === 0 || !/^s_(?:swap|set)pc_b64$/.test(instruction.row.operation)) return undefined;
    const pair = firstOf(instruction, 'src0');
    const [low, high] = [this.words.get(pair), this.words.get(pair + 1)];
    return low === undefined || high === undefined ? undefined : high * WORD + low;
  }

  /** A function has been called that writes these slots; any for undefined. Lanes of vector registers are left to callers that keep something there. */
  call(slots: ReadonlySet<number> | undefined): void {
    this.known.clear();
    if (slots === undefined) this.words.clear();
    else for (const slot of slots) this.words.delete(slot);
  }

  /** An instruction has been executed. */
  follow(instruction: Instruction, at: number): void {
    const { known } = this;
    const { operation } = instruction.row;
    const to = firstOf(instruction, 'sdst');
    if (operation === 's_getpc_b64') {
      const next = at + instruction.size;
      this.forget(instruction);
      known.set(to, { low: next % WORD, high: Math.floor(next / WORD), carry: undefined });
      return;
    }
    if (!this.isAny) return;
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
