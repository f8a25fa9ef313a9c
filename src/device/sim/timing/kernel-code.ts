// What the timing model knows of each instruction of a kernel, worked out once: unit, cycles, registers, how it waits.
import { immediateOf, operandNamed } from '../../../isa/operand.ts';
import { semanticsOf } from '../../../isa/semantics/index.ts';
import type { Instruction } from '../../../isa/types.ts';
import { effectsOf, Slot, waitCounts, waitRole } from '../../../program/index.ts';
import { type AccessPlan, accessPlan } from '../interpreter/access-plan.ts';
import type { BoundInstruction, LoadedCode } from '../interpreter/loaded-code.ts';
import type { Chip } from './chip.ts';
import { latencyClassOf, matrixPasses, type Unit } from './latency-class.ts';

/** Cycles from the last pass of a matrix instruction to a dependent one. Source: 16x16x32 f16 of gfx950: 18 cycles dependent, 17 not. */
const MATRIX_TAIL = 2;
const SLEEP_UNIT = 64;
/** The slots in use end behind the last AGPR. */
const SLOTS = 768;

/** One instruction as the model sees it. Cycles are of the engine clock. */
export interface CodeInstruction {
  /** Number in order of first execution. */
  readonly id: number;
  /** Byte offset in the loaded image. */
  readonly offset: number;
  readonly size: number;
  readonly instruction: Instruction;
  readonly unit: Unit;
  readonly issue: number;
  readonly latency: number;
  /** Registers read and written, as slots; only what a long-running result can hold up. */
  readonly uses: Int16Array;
  readonly defs: Int16Array;
  readonly isWait: boolean;
  /** Operations that may still be outstanding after the wait. */
  readonly waitVm: number;
  readonly waitLgkm: number;
  readonly isBarrier: boolean;
  readonly isEnd: boolean;
  /** Reads s_memtime's or s_memrealtime's clock. */
  readonly readsClock: boolean;
  /** Cycles the wave does nothing. */
  readonly idle: number;
  readonly plan: AccessPlan | undefined;
  /** Dwords of a lane. */
  readonly dwords: number;
  readonly stores: boolean;
  readonly isAtomic: boolean;
  /** An atomic whose old value goes to a register. */
  readonly returns: boolean;
  /** Raises vmcnt; else, of memory instructions, lgkmcnt. */
  readonly countsVm: boolean;
  /** Of the encodings that `SQ_ACTIVE_INST_FLAT` counts: FLAT, GLOBAL and SCRATCH. */
  readonly isFlat: boolean;
  /** Does not execute while paths are recorded: its result is no address in practice and it is slow to compute. */
  readonly isSkipped: boolean;
}

function slots(ranges: readonly { readonly first: number; readonly count: number }[]): Int16Array {
  const out: number[] = [];
  for (const { first, count } of ranges) {
    for (let slot = first; slot < first + count; slot++) {
      if (slot < SLOTS && slot !== Slot.MODE && slot !== Slot.EXEC && slot !== Slot.EXEC + 1) out.push(slot);
    }
  }
  return Int16Array.from(out);
}

/** Bytes of a lane's access. */
function laneBytes(plan: AccessPlan | undefined, instruction: Instruction): number {
  const op = semanticsOf(instruction.row.operation);
  if (op?.kind === 'load' || op?.kind === 'store') return op.bytes * (op.pairStride === undefined ? 1 : 2);
  if (op?.kind === 'atomic') return /64|x2/.test(op.type) && !op.type.startsWith('f16') ? 8 : 4;
  return plan === undefined ? 0 : 4;
}

/** Cycles of `s_nop` and `s_sleep`. */
function idleCycles(instruction: Instruction, interval: number): number {
  const { operation } = instruction.row;
  if (operation === 's_nop') return interval * ((immediateOf(instruction, 'simm16') & 15) + 1);
  if (operation === 's_sleep') return Math.max(interval, SLEEP_UNIT * (immediateOf(instruction, 'simm16') & 127));
  return interval;
}

/** The instructions of a loaded program, by address. */
export class KernelCode {
  readonly chip: Chip;
  readonly loaded: LoadedCode;
  readonly list: CodeInstruction[] = [];
  private readonly byOffset: (CodeInstruction | undefined)[] = [];

  constructor(chip: Chip, loaded: LoadedCode) {
    this.chip = chip;
    this.loaded = loaded;
  }

  at(pc: number, bound: BoundInstruction): CodeInstruction {
    const offset = pc - this.loaded.region.base;
    return this.byOffset[offset >>> 2] ?? this.make(offset, bound);
  }

  private make(offset: number, { instruction, size }: BoundInstruction): CodeInstruction {
    const code = codeInstruction(this.chip, this.list.length, offset, instruction, size);
    this.list.push(code);
    this.byOffset[offset >>> 2] = code;
    return code;
  }
}

/** What the model knows of an instruction on a chip. */
export function codeInstruction(
  chip: Chip,
  id: number,
  offset: number,
  instruction: Instruction,
  size: number,
): CodeInstruction {
  const { row } = instruction;
  const { unit, field } = latencyClassOf(row);
  const op = semanticsOf(row.operation);
  const effects = effectsOf(instruction);
  const plan = accessPlan(instruction, op);
  const role = waitRole(row);
  const counts = role.isWait ? waitCounts(instruction) : undefined;
  const interval = chip.get('issue.interval');
  let issue = interval;
  let latency = interval;
  if (field !== undefined) ({ issue, latency } = chip.latencyClass(field));
  else if (unit === 'matrix') {
    issue = chip.get('matrix.pass') * matrixPasses(instruction, chip.get('matrix.f64Passes'));
    latency = issue + MATRIX_TAIL;
  }
  return {
    id,
    offset,
    size,
    instruction,
    unit,
    issue,
    latency,
    uses: slots(effects.uses),
    defs: slots(effects.defs),
    isWait: role.isWait && row.operation === 's_waitcnt',
    waitVm: counts?.vm ?? 63,
    waitLgkm: counts?.lgkm ?? 15,
    isBarrier: role.isBarrier,
    isEnd: op?.kind === 'structural' && op.name === 'endpgm',
    readsClock: op?.kind === 'structural' && op.name === 'memtime',
    idle: idleCycles(instruction, interval),
    plan,
    dwords: Math.max(1, Math.ceil(laneBytes(plan, instruction) / 4)),
    stores: role.stores,
    isAtomic: op?.kind === 'atomic',
    returns: row.flags.has('IsAtomicRet'),
    countsVm: role.kind === 'vm' || role.kind === 'flat',
    isFlat: ['FLAT', 'GLOBAL', 'SCRATCH'].includes(row.encoding),
    isSkipped: op?.kind === 'matrix' || op?.kind === 'scaleConvert',
  };
}

/** Whether an LDS instruction touches no bank: permutations of lanes. */
export function isPermutation(instruction: Instruction): boolean {
  const op = semanticsOf(instruction.row.operation);
  return op?.kind === 'structural' && ['permute', 'bpermute', 'swizzle', 'nop'].includes(op.name);
}

/** Whether an LDS access is a read. */
export function isLdsRead(instruction: Instruction): boolean {
  const op = semanticsOf(instruction.row.operation);
  return op?.kind === 'load' || (op?.kind === 'structural' && operandNamed(instruction, 'vdst') !== undefined);
}
