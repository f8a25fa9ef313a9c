// What in a program's code depends on where it stands: direct branches, and address computations from s_getpc_b64.
// Source: LLVM's SIInstrInfo.cpp (SI_PC_ADD_REL_OFFSET: getpc, s_add_u32 low, s_addc_u32 high) and Tensile's long branches (getpc,
// `s_add_i32 t, label, 4`, s_add_u32 low with t, s_addc_u32 high with 0).
import { WavesmithError } from '../base/index.ts';
import { branchTarget, type Instruction, type Operand } from '../isa/index.ts';
import { operandNamed } from '../isa/operand.ts';
import { type CodeInstruction, hasSlot, type JumpTable, livenessOf, type Program, slotsOf } from '../program/index.ts';

/** A direct branch or call. */
export interface BranchReference {
  readonly pc: number;
  readonly target: number;
}

/** Address fields of instructions that make `target` from the result of the `s_getpc_b64` at `getPc`. */
export interface AddressReference {
  readonly getPc: number;
  readonly target: number;
  /** The instruction with the literal of the low half (or of the whole distance). */
  readonly low: number;
  /** Subtracted from the distance to the target: Tensile's form adds 4 itself. */
  readonly bias: number;
  /** The instruction that adds the high half; undefined for a distance of 32 bits that counts forward. */
  readonly high: { readonly pc: number; readonly isLiteral: boolean } | undefined;
  /** The jump that an index is added to the address for. */
  readonly jump?: PlacesJump | undefined;
}

/** A jump to an address that an index was added to. */
export type PlacesJump = Extract<JumpTable, { readonly kind: 'places' }>;

export interface CodeReferences {
  readonly branches: readonly BranchReference[];
  readonly addresses: readonly AddressReference[];
}

const GET_PC = 's_getpc_b64';
const ZERO = 128;
const FOUR = 132;
const MINUS_ONE = 193;
/** How far behind s_getpc_b64 its sum may be finished; compilers and Tensile finish it at once. */
const WINDOW = 24;

/**
 * All position-dependent code of a program, but for instructions that stay where they are. Errors: `rewrite/pc-value` for a pc whose use
 * cannot be followed.
 */
export function codeReferences(program: Program, stays: (pc: number) => boolean = () => false): CodeReferences {
  const branches: BranchReference[] = [];
  const addresses: AddressReference[] = [];
  const { jumps, sums } = jumpSums(program);
  for (const code of program.instructions) {
    if (stays(code.pc)) continue;
    const { row } = code.instruction;
    const target = branchTarget(code.instruction, code.pc);
    if (target !== undefined) branches.push({ pc: code.pc, target });
    else if (row.operation === GET_PC) addresses.push(...referencesOf(program, code, jumps, sums));
  }
  return { branches, addresses };
}

/** Why the code at addresses that `s_getpc_b64` takes cannot be moved, by the instruction's address. */
export function unfollowedAddresses(program: Program): ReadonlyMap<number, string> {
  const out = new Map<number, string>();
  const { jumps, sums } = jumpSums(program);
  for (const code of program.instructions) {
    if (code.instruction.row.operation !== GET_PC) continue;
    try {
      referencesOf(program, code, jumps, sums);
    } catch (error) {
      if (!(error instanceof WavesmithError) || error.code !== 'rewrite/pc-value') throw error;
      out.set(code.pc, error.message);
    }
  }
  return out;
}

function referencesOf(
  program: Program,
  code: CodeInstruction,
  jumps: ReadonlyMap<number, PlacesJump>,
  sums: ReadonlySet<number>,
): readonly AddressReference[] {
  const jump = jumps.get(code.pc);
  return jump === undefined ? addressesOf(program, code, sums) : [jumpAddress(program, code, jump)];
}

/** Jumps that an index is added for, by their `s_getpc_b64`, and instructions that add a distance from a table to its result. */
function jumpSums({ jumpTables }: Program): { jumps: Map<number, PlacesJump>; sums: Set<number> } {
  const jumps = new Map<number, PlacesJump>();
  const sums = new Set<number>();
  for (const table of jumpTables) {
    if (table.kind === 'places') jumps.set(table.from.getPc, table);
    else if (table.kind === 'distances' && table.from.sums.length === 0) sums.add(table.sum);
  }
  return { jumps, sums };
}

function slotOf(operand: Operand | undefined): number | undefined {
  return operand?.kind === 'reg' ? slotsOf(operand)?.first : undefined;
}

function isInline(operand: Operand | undefined, encoding: number): boolean {
  return operand?.kind === 'inline' && operand.encoding === encoding;
}

/** The two sources of a scalar sum, the one in `slot` first; undefined when neither is. */
function addends(instruction: Instruction, slot: number): Operand | undefined {
  const [a, b] = [operandNamed(instruction, 'src0'), operandNamed(instruction, 'src1')];
  if (slotOf(a) === slot) return b;
  return slotOf(b) === slot ? a : undefined;
}

function reads(code: CodeInstruction, slot: number): boolean {
  return code.effects.uses.some((r) => r.first <= slot && slot < r.first + r.count);
}

function writes(code: CodeInstruction, slot: number): boolean {
  return code.effects.defs.some((r) => r.first <= slot && slot < r.first + r.count);
}

/**
 * Follows the result of s_getpc_b64 to the sums it becomes; none when only its high half is used, or nothing of it. `tableSums`:
 * instructions that add what a table holds, which changes with the code.
 */
function addressesOf(
  program: Program,
  getPc: CodeInstruction,
  tableSums: ReadonlySet<number>,
): readonly AddressReference[] {
  const low = slotOf(operandNamed(getPc.instruction, 'sdst'));
  const block = program.blockAt(getPc.pc);
  if (low === undefined || block === undefined) throw unknown(program, getPc);
  const distances = new Map<number, CodeInstruction>();
  const found: AddressReference[] = [];
  let isFollowed = false;
  for (let i = getPc.index + 1; i < block.end && (isFollowed || i <= getPc.index + WINDOW); i++) {
    const code = program.instructions[i] as CodeInstruction;
    const { operation } = code.instruction.row;
    const out = slotOf(operandNamed(code.instruction, 'sdst'));
    if (tableSums.has(code.pc)) isFollowed = true;
    else if (reads(code, low)) {
      found.push(sumOf(program, getPc, code, block.end, low, distances));
      isFollowed = true;
    } else if (operation === 's_add_i32' && out !== undefined && literalOf(code.instruction) !== undefined) {
      const [a, b] = [operandNamed(code.instruction, 'src0'), operandNamed(code.instruction, 'src1')];
      if (isInline(a, FOUR) || isInline(b, FOUR)) {
        distances.set(out, code);
        continue;
      }
    }
    for (const [slot, from] of distances) if (from !== code && writes(code, slot)) distances.delete(slot);
    if (writes(code, low)) return found;
  }
  if (!isFollowed || isLiveBehind(program, block.index, low)) throw unknown(program, getPc);
  return found;
}

/** The address that an instruction makes of the result of s_getpc_b64. */
function sumOf(
  program: Program,
  getPc: CodeInstruction,
  code: CodeInstruction,
  end: number,
  low: number,
  distances: ReadonlyMap<number, CodeInstruction>,
): AddressReference {
  const base = getPc.pc + getPc.instruction.size;
  const out = slotOf(operandNamed(code.instruction, 'sdst'));
  const other =
    code.instruction.row.operation === 's_add_u32' && out !== undefined ? addends(code.instruction, low) : undefined;
  const temporary = slotOf(other);
  const distance = temporary === undefined ? undefined : distances.get(temporary);
  if (out === undefined || (other?.kind !== 'literal' && distance === undefined)) throw unknown(program, getPc);
  const high = highOf(program, code.index, end, low + 1, out + 1);
  if (high === undefined) throw unknown(program, getPc);
  if (other?.kind === 'literal') {
    const { pc, operand } = high;
    return {
      getPc: getPc.pc,
      target: base + upperOf(operand) * 2 ** 32 + other.bits,
      low: code.pc,
      bias: 0,
      high: { pc, isLiteral: operand.kind === 'literal' },
    };
  }
  if (!isInline(high.operand, ZERO)) throw unknown(program, getPc);
  const add = distance as CodeInstruction;
  const literal = literalOf(add.instruction) as number;
  return { getPc: getPc.pc, target: base + 4 + (literal | 0), low: add.pc, bias: 4, high: undefined };
}

function upperOf(operand: Operand): number {
  return operand.kind === 'literal' ? operand.bits | 0 : isInline(operand, ZERO) ? 0 : -1;
}

/**
 * The address that an index is added to before a jump: the literal of the one sum of a constant can be changed. The address must be made
 * in the jump's own block, and be gone behind the jump.
 */
function jumpAddress(program: Program, getPc: CodeInstruction, jump: PlacesJump): AddressReference {
  const block = program.blockAt(getPc.pc);
  const [sum] = jump.from.sums;
  const code = program.at(sum ?? -1);
  const last = program.instructions[(block?.end ?? 0) - 1];
  const out = slotOf(code && operandNamed(code.instruction, 'sdst'));
  const address = slotOf(last && operandNamed(last.instruction, 'src0'));
  const literal = code && literalOf(code.instruction);
  const isOwn = jump.from.sums.length === 1 && last?.pc === jump.pc && (code?.pc ?? -1) > getPc.pc;
  if (block === undefined || code === undefined || !isOwn || literal === undefined) throw unknown(program, getPc);
  if (out === undefined || address === undefined) throw unknown(program, getPc);
  // All that is read of the address on the way is its sums.
  const parts = new Set([slotOf(operandNamed(getPc.instruction, 'sdst'))]);
  for (let i = getPc.index + 1; i < block.end - 1; i++) {
    const one = program.instructions[i] as CodeInstruction;
    if (![...parts].some((slot) => slot !== undefined && reads(one, slot))) continue;
    if (one.instruction.row.operation !== 's_add_u32') throw unknown(program, getPc);
    parts.add(slotOf(operandNamed(one.instruction, 'sdst')));
  }
  const isGone = [...parts].every((slot) => slot !== undefined && !isLiveBehind(program, block.index, slot));
  const source = addressSource(code, parts);
  const high = source === undefined ? undefined : highOf(program, code.index, block.end, source + 1, out + 1);
  if (!isGone || high === undefined) throw unknown(program, getPc);
  const base = getPc.pc + getPc.instruction.size;
  return {
    getPc: getPc.pc,
    target: base + upperOf(high.operand) * 2 ** 32 + literal,
    low: code.pc,
    bias: 0,
    high: { pc: high.pc, isLiteral: high.operand.kind === 'literal' },
    jump,
  };
}

/** The source of a sum that is the low half of an address. */
function addressSource({ instruction }: CodeInstruction, parts: ReadonlySet<number | undefined>): number | undefined {
  return ['src0', 'src1'].map((name) => slotOf(operandNamed(instruction, name))).find((slot) => parts.has(slot));
}

/** Whether a slot may be read behind a block. */
function isLiveBehind(program: Program, index: number, slot: number): boolean {
  const block = program.blocks[index];
  const last = program.instructions[(block?.end ?? 0) - 1];
  return (
    last !== undefined &&
    program.functions.some(
      (subject) => subject.blocks.includes(index) && hasSlot(livenessOf(program, subject).after(last), slot),
    )
  );
}

function literalOf(instruction: Instruction): number | undefined {
  for (const name of ['src0', 'src1']) {
    const operand = operandNamed(instruction, name);
    if (operand?.kind === 'literal') return operand.bits;
  }
  return undefined;
}

/** The `s_addc_u32` that adds the carry to the high half, and what else it adds. */
function highOf(
  program: Program,
  from: number,
  end: number,
  source: number,
  out: number,
): { readonly pc: number; readonly operand: Operand } | undefined {
  for (let i = from + 1; i < end; i++) {
    const code = program.instructions[i] as CodeInstruction;
    const { instruction } = code;
    if (instruction.row.operation === 's_addc_u32' && slotOf(operandNamed(instruction, 'sdst')) === out) {
      const operand = addends(instruction, source);
      const isKnown = operand?.kind === 'literal' || isInline(operand, ZERO) || isInline(operand, MINUS_ONE);
      return isKnown && operand !== undefined ? { pc: code.pc, operand } : undefined;
    }
    if (reads(code, source) || writes(code, source) || instruction.row.defs.includes('SCC')) return undefined;
  }
  return undefined;
}

function unknown(program: Program, code: CodeInstruction): WavesmithError {
  const at = `0x${code.pc.toString(16)}`;
  return new WavesmithError(
    'rewrite/pc-value',
    `What becomes of the address that '${program.text(code.pc)}' at ${at} takes cannot be followed, so this code cannot be moved.`,
    { hint: 'Followed are the sums that compilers and Tensile make: s_getpc_b64, s_add_u32, s_addc_u32.' },
  );
}
