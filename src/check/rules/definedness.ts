// Rules `control-flow/uninitialised` and `control-flow/maybe-uninitialised`: a register is read that nothing has written.
// Forward data flow: what some path has written, and what every path has. Sources: LLVM's AMDGPUUsage, "Initial Kernel Execution
// State"; CDNA3 ISA manual, "Kernel State".

import type { KernelDescriptor } from '../../codeobject/index.ts';
import { type Finding, finding } from '../../finding/index.ts';
import { immediateOf, operandNamed } from '../../isa/operand.ts';
import type { Instruction } from '../../isa/types.ts';
import {
  addSlots,
  type BasicBlock,
  type CodeInstruction,
  hasSlot,
  isZero,
  type Knowledge,
  type Program,
  type ProgramFunction,
  SLOT_WORDS,
  Slot,
  type SlotRange,
  slotNames,
  slotsOf,
  solveForward,
  valuesOf,
} from '../../program/index.ts';
import { placeAt } from '../place.ts';
import type { CheckContext, Rule } from '../types.ts';
import { KnownValues } from '../values.ts';

/** What has been written, as bit sets over slots: on some path, and on every path. */
export interface Written {
  readonly some: Uint32Array;
  readonly every: Uint32Array;
}

/** Hardware or the trap handler keeps these. */
const ALWAYS: readonly SlotRange[] = [
  { first: Slot.FLAT_SCRATCH, count: 4 },
  { first: Slot.TTMP0, count: 16 },
  { first: Slot.EXEC, count: 3 },
];

/** The registers that a wavefront of a kernel starts with. */
export function initialRegisters({ rsrc2, properties, preload }: KernelDescriptor): SlotRange[] {
  // LLVM's entry code reads the scratch offset wherever it gets a scratch descriptor, used or not.
  const hasScratchOffset =
    rsrc2.enablePrivateSegment | properties.enableSgprPrivateSegmentBuffer | properties.enableSgprFlatScratchInit;
  const system =
    rsrc2.enableSgprWorkgroupIdX +
    rsrc2.enableSgprWorkgroupIdY +
    rsrc2.enableSgprWorkgroupIdZ +
    rsrc2.enableSgprWorkgroupInfo +
    hasScratchOffset;
  const user = Math.max(rsrc2.userSgprCount, preload.length);
  // From gfx90a on v0 holds all three work-item ids.
  return [{ first: 0, count: user + system }, { first: Slot.VGPR0, count: 1 }, ...ALWAYS];
}

function entryState({ kernel }: ProgramFunction): Written {
  const some = new Uint32Array(SLOT_WORDS);
  if (kernel?.descriptor === undefined) some.fill(0xffffffff);
  else addSlots(some, initialRegisters(kernel.descriptor));
  return { some, every: some.slice() };
}

/** What has been written where a function's blocks begin, by block index. In a function that is called everything may have been. */
export function writtenAtBlocks(program: Program, subject: ProgramFunction): Map<number, Written> {
  return solveForward<Written>(program, subject, {
    entry: () => entryState(subject),
    copy: copyOf,
    transfer: (block, state) => {
      for (let i = block.first; i < block.end; i++) write(state, program.instructions[i] as CodeInstruction);
      if (block.exit !== 'call') return;
      state.some.fill(0xffffffff);
      state.every.fill(0xffffffff);
    },
    join,
  });
}

function write({ some, every }: Written, { effects, instruction }: CodeInstruction): void {
  addSlots(some, effects.defs);
  addSlots(every, effects.defs);
  addSlots(some, chosenByIndex(instruction));
}

/** The bit of s_set_gpr_idx that moves destinations. */
const MOVES_DESTINATION = 8;
const SGPRS = 102;
const VGPRS = 256;

/** Registers of which an index in M0 chooses those that are written, by an instruction or by those behind it. */
function chosenByIndex(instruction: Instruction): SlotRange[] {
  const { operation } = instruction.row;
  if (/^s_movreld_/.test(operation)) return [{ first: 0, count: SGPRS }];
  const field = operation === 's_set_gpr_idx_on' ? 'src1' : operation === 's_set_gpr_idx_mode' ? 'simm16' : undefined;
  const isMoved = field !== undefined && (immediateOf(instruction, field) & MOVES_DESTINATION) !== 0;
  return isMoved ? [{ first: Slot.VGPR0, count: VGPRS }] : [];
}

function join(input: Written, { some, every }: Written): boolean {
  let changed = false;
  for (let w = 0; w < SLOT_WORDS; w++) {
    const more = ((input.some[w] as number) | (some[w] as number)) >>> 0;
    const fewer = ((input.every[w] as number) & (every[w] as number)) >>> 0;
    if (more !== input.some[w] || fewer !== input.every[w]) changed = true;
    input.some[w] = more;
    input.every[w] = fewer;
  }
  return changed;
}

/** Moves and stores pass on what they get: compilers use them on values that nobody looks at. */
const PASSES_ON =
  /^(?:[sv]_mov_|v_accvgpr_|v_pk_mov_|v_cndmask_|v_(?:read|readfirst|write)lane_|v_swap_|v_permlane|v_perm_|s_cselect_|v_xor_|s_xor_|v_sub_|v_mbcnt)/;

/** Whether the result of an instruction is EXEC, which every vector instruction behind it looks at. */
function changesExec({ row, operands }: Instruction): boolean {
  if (row.defs.includes('EXEC')) return true;
  return row.operands.some((definition, i) => {
    const operand = operands[i];
    const range = definition.isOut && operand?.kind === 'reg' ? slotsOf(operand) : undefined;
    return range !== undefined && range.first < Slot.EXEC + 2 && range.first + range.count > Slot.EXEC;
  });
}

/** An exclusive or of a register with itself is zero, whatever it holds. */
function isZeroed(instruction: Instruction): boolean {
  const [a, b] = ['src0', 'src1'].map((name) => operandNamed(instruction, name));
  if (!/^s_xor_b/.test(instruction.row.operation) || a?.kind !== 'reg' || b?.kind !== 'reg') return false;
  return slotsOf(a)?.first === slotsOf(b)?.first;
}

/** Compilers use 64-bit operations for 32-bit results and leave the high half of such sources undefined. */
const HIGH_PARTS: Readonly<Record<string, readonly string[]>> = {
  v_mad_u64_u32: ['src2'],
  v_mad_i64_i32: ['src2'],
  v_lshlrev_b64: ['src1'],
  v_lshl_add_u64: ['src0', 'src2'],
};

/** Compilers use these for one 32-bit result, too, and leave what the high one looks at undefined. */
const PACKED_FLOATS = /^v_pk_(?:add|mul|fma)_f32$/;
/** The bit of a source's modifiers that has the low result look at its second register. */
const OP_SEL_LOW = 4;

/** The operands whose value an instruction looks at. */
export function valueReads(instruction: Instruction): SlotRange[] {
  const { row } = instruction;
  if (PASSES_ON.test(row.operation) && (!changesExec(instruction) || isZeroed(instruction))) return [];
  const out: SlotRange[] = [];
  row.operands.forEach((definition, i) => {
    const operand = instruction.operands[i];
    if (definition.isOut || operand?.kind !== 'reg' || definition.tiedTo >= 0) return;
    if (/^(?:vdata|data0|data1|sdata|old|vdst_in)$/.test(definition.name)) return;
    const range = slotsOf(operand);
    // What the high half holds does not change the low half of the result.
    if (range === undefined) return;
    const isPacked = range.count === 2 && PACKED_FLOATS.test(row.operation);
    const low = isPacked && (immediateOf(instruction, `${definition.name}_modifiers`) & OP_SEL_LOW) !== 0 ? 1 : 0;
    const count = isPacked || HIGH_PARTS[row.operation]?.includes(definition.name) ? 1 : range.count;
    out.push({ first: range.first + low, count });
  });
  if (row.uses.includes('VCC')) out.push({ first: Slot.VCC, count: 2 });
  if (row.uses.includes('SCC')) out.push({ first: Slot.SCC, count: 1 });
  return out;
}

/** Products and masks: with a zero on one side the result does not depend on the other. Both sides are `src0` and `src1`. */
const PRODUCT =
  /^(?:s_mul_(?:hi_)?[iu]32|s_and_b32|v_and_b32|v_mul_(?:lo|hi)_[iu]32|v_mul_(?:hi_)?[iu]32_[iu]24|v_mad_[iu]32_[iu]24)$/;

/** The operands whose value an instruction looks at, as far as what is known of the others leaves them a say. */
function neededReads(instruction: Instruction, known: Knowledge): SlotRange[] {
  const reads = valueReads(instruction);
  const { row } = instruction;
  if (!PRODUCT.test(row.operation) || reads.length === 0) return reads;
  const factors = ['src0', 'src1'].map((name) => operandNamed(instruction, name));
  const zero = factors.findIndex((factor) => isZero(valuesOf(factor, known)));
  const other = factors[1 - zero];
  const ignored = zero < 0 || other?.kind !== 'reg' ? undefined : slotsOf(other);
  const sum = operandNamed(instruction, 'src2');
  const isSum = sum?.kind === 'reg' && slotsOf(sum)?.first === ignored?.first;
  return ignored === undefined || isSum ? reads : reads.filter((r) => r.first !== ignored.first);
}

/** Whether every register of the ranges is in a set. */
function hasAll(set: Uint32Array, ranges: readonly SlotRange[]): boolean {
  for (const { first, count } of ranges) {
    for (let slot = first; slot < first + count; slot++) if (!hasSlot(set, slot)) return false;
  }
  return true;
}

/** Whether everything that an instruction reads is written on every path. */
const isDefined = ({ every }: Written, { effects: { uses, keeps } }: CodeInstruction): boolean =>
  hasAll(every, uses) && hasAll(every, keeps);

const copyOf = ({ some, every }: Written): Written => ({ some: some.slice(), every: every.slice() });

/** The blocks with an instruction that reads what some path leaves unwritten. */
function openBlocks(
  program: Program,
  subject: ProgramFunction,
  inputs: ReadonlyMap<number, Written>,
): (readonly [BasicBlock, Written])[] {
  const out: (readonly [BasicBlock, Written])[] = [];
  for (const index of subject.blocks) {
    const input = inputs.get(index);
    if (input === undefined) continue;
    const block = program.blocks[index] as BasicBlock;
    const state = copyOf(input);
    for (let i = block.first; i < block.end; i++) {
      const code = program.instructions[i] as CodeInstruction;
      if (!isDefined(state, code)) {
        out.push([block, input]);
        break;
      }
      write(state, code);
    }
  }
  return out;
}

/** Registers that are read although nothing on any path, or on some path, has written them. Each register is reported once. */
export const checkDefinedness: Rule = ({ program, subject }: CheckContext) => {
  if (subject.kernel?.descriptor === undefined) return [];
  const open = openBlocks(program, subject, writtenAtBlocks(program, subject));
  if (open.length === 0) return [];
  const factors = open.flatMap(([{ first, end }]) =>
    program.instructions
      .slice(first, end)
      .flatMap(({ instruction }) => (PRODUCT.test(instruction.row.operation) ? valueReads(instruction) : [])),
  );
  const values = new KnownValues(program, subject, factors);
  const findings: Finding[] = [];
  const told = new Uint32Array(SLOT_WORDS);
  for (const [block, input] of open) {
    const state = copyOf(input);
    values.stepThrough(block, (code, known) => {
      if (isDefined(state, code)) {
        write(state, code);
        return;
      }
      const never: number[] = [];
      const sometimes: number[] = [];
      for (const { first, count } of neededReads(code.instruction, known)) {
        for (let slot = first; slot < first + count; slot++) {
          if (hasSlot(state.every, slot) || hasSlot(told, slot)) continue;
          (hasSlot(state.some, slot) ? sometimes : never).push(slot);
        }
      }
      if (never.length > 0) findings.push(report(program, subject, code, never, true));
      if (sometimes.length > 0) findings.push(report(program, subject, code, sometimes, false));
      for (const slot of [...never, ...sometimes]) addSlots(told, [{ first: slot, count: 1 }]);
      write(state, code);
    });
  }
  return findings;
};

function report(
  program: Program,
  subject: ProgramFunction,
  code: CodeInstruction,
  slots: readonly number[],
  isNever: boolean,
): Finding {
  const registers = slotNames(slots);
  const names = registers.join(', ');
  const instruction = program.text(code.pc);
  return finding({
    rule: isNever ? 'control-flow/uninitialised' : 'control-flow/maybe-uninitialised',
    severity: isNever ? 'error' : 'note',
    kernel: subject.name,
    place: placeAt(program, code.pc),
    registers,
    message: isNever
      ? `'${instruction}' reads ${names}, which no instruction before it writes and the wavefront does not start with.`
      : `'${instruction}' reads ${names}, which is written on some paths to it only.`,
    advice: `Write ${names} before '${instruction}'.`,
  });
}
