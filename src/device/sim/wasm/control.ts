// Program counter, hardware registers and the wave's states as WebAssembly: s_getpc, s_setpc, s_swappc, s_call, s_getreg, s_setreg,
// s_set_gpr_idx, s_setvskip. The interpreter's
// counterpart is interpreter/structural.ts. Source: AMD CDNA3 ISA, "SOP1", "SOPK"; LLVM AMDGPUUsage (hwreg ids).

import { immediateOf, requireOperand } from '../../../isa/operand.ts';
import type { StructuralOperation } from '../../../isa/semantics/index.ts';
import type { Instruction } from '../../../isa/types.ts';
import { registerOf } from '../interpreter/operands.ts';
import {
  FLAG_GPR_INDEXING,
  FLAG_VSKIP,
  WAVE_CODE_BASE,
  WAVE_FLAGS,
  WAVE_MODE,
  WAVE_PC,
  WAVE_SCC,
} from '../state/layout.ts';
import { EXEC, M0 } from '../state/wave.ts';
import type { FunctionContext } from './context.ts';
import { pushScalarOperand } from './scalar.ts';
import { hardwareField, modeChange } from './walk.ts';

const HW_MODE = 1;
const HW_STATUS = 2;
const SCALARS = 128;
/** Program counters below this are looked at as offsets in the image; the engine checks them against its size. */
const MAX_OFFSET = 2 ** 31;

/** Writes code for what changes or reads program counter and hardware registers; false: the interpreter does it. */
export function emitControl(
  context: FunctionContext,
  instruction: Instruction,
  name: StructuralOperation['name'],
  otherwise: () => void,
): boolean {
  switch (name) {
    case 'getpc':
    case 'call':
      if (!isPair(instruction)) return false;
      pushNext(context, instruction);
      setPair(context, instruction);
      return true;
    case 'setpc':
    case 'swappc':
      if (name === 'swappc' && !isPair(instruction)) return false;
      jump(context, instruction, name === 'swappc', otherwise);
      return true;
    case 'getreg':
      return getRegister(context, instruction);
    case 'setreg':
      return setMode(context, instruction);
    case 'setGprIndexOn':
      setIndex(context, instruction, 0xf0ff);
      setFlag(context, FLAG_GPR_INDEXING, () => void context.fn.i32(1));
      return true;
    case 'setGprIndexOff':
      setFlag(context, FLAG_GPR_INDEXING, () => void context.fn.i32(0));
      return true;
    case 'setGprIndexMode':
      setIndex(context, instruction, 0xf000);
      return true;
    case 'setGprIndex':
      setIndex(context, instruction, 0xff);
      return true;
    case 'setVskip':
      setFlag(context, FLAG_VSKIP, () => {
        pushScalarOperand(context, requireOperand(instruction, 'src0'), 'i32', 0);
        pushScalarOperand(context, requireOperand(instruction, 'src1'), 'i32', 0);
        context.fn.op('i32.shr_u').i32(1).op('i32.and');
      });
      return true;
    default:
      return false;
  }
}

/** Whether the scalar destination has both its words in the register file. */
const isPair = (instruction: Instruction): boolean => registerOf(instruction, 'sdst').encoding < SCALARS - 1;

/** Pushes the loaded address of the next instruction. */
function pushNext({ fn, wave, pc }: FunctionContext, instruction: Instruction): void {
  fn.get(wave).memory('i64.load', WAVE_CODE_BASE);
  fn.i64(BigInt(pc + instruction.size)).op('i64.add');
}

/** Pops 64 bits into the scalar destination. */
function setPair({ fn, wave }: FunctionContext, instruction: Instruction): void {
  const value = fn.local('i64');
  fn.set(value)
    .get(wave)
    .get(value)
    .memory('i64.store', 4 * registerOf(instruction, 'sdst').encoding);
  fn.release('i64', value);
}

/** Goes to the address in a scalar pair: into the program counter when it is in the image's range, else as the interpreter does. */
function jump(context: FunctionContext, instruction: Instruction, links: boolean, otherwise: () => void): void {
  const { fn, wave } = context;
  const offset = fn.local('i64');
  pushScalarOperand(context, registerOf(instruction, 'src0'), 'i64', 'both');
  fn.i64(-4n).op('i64.and').get(wave).memory('i64.load', WAVE_CODE_BASE).op('i64.sub').tee(offset);
  fn.i64(BigInt(MAX_OFFSET)).op('i64.lt_u').if();
  if (links) {
    pushNext(context, instruction);
    setPair(context, instruction);
  }
  fn.get(wave).get(offset).op('i32.wrap_i64').memory('i32.store', WAVE_PC);
  fn.else();
  otherwise();
  fn.end();
  fn.release('i64', offset);
}

function getRegister({ fn, wave }: FunctionContext, instruction: Instruction): boolean {
  const { id, offset, size } = hardwareField(instruction);
  if ((id !== HW_MODE && id !== HW_STATUS) || registerOf(instruction, 'sdst').encoding >= SCALARS) return false;
  fn.get(wave);
  if (id === HW_MODE) fn.get(wave).memory('i32.load', WAVE_MODE);
  else {
    fn.get(wave).memory('i32.load', WAVE_SCC).i32(0).op('i32.ne');
    fn.get(wave)
      .memory('i64.load', 4 * EXEC)
      .op('i64.eqz')
      .i32(9)
      .op('i32.shl')
      .op('i32.or');
    fn.i32(1 << 16).op('i32.or');
  }
  fn.i32(offset).op('i32.shr_u');
  if (size < 32) fn.i32((1 << size) - 1).op('i32.and');
  fn.memory('i32.store', 4 * registerOf(instruction, 'sdst').encoding);
  return true;
}

/** Writes index (M0[7:0]) and operands (M0[15:12]) of GPR indexing: the bits of `mask`. */
function setIndex(context: FunctionContext, instruction: Instruction, mask: number): void {
  const { fn, wave } = context;
  fn.get(wave);
  if ((mask & 0xff) === 0) fn.i32(0);
  else {
    pushScalarOperand(context, requireOperand(instruction, 'src0'), 'i32', 0);
    fn.i32(0xff).op('i32.and');
  }
  if ((mask & 0xf000) !== 0) {
    const operands = immediateOf(instruction, (mask & 0xff) === 0 ? 'simm16' : 'src1') & 15;
    fn.i32(operands << 12).op('i32.or');
  }
  fn.get(wave)
    .memory('i32.load', 4 * M0)
    .i32(~mask)
    .op('i32.and')
    .op('i32.or');
  fn.memory('i32.store', 4 * M0);
}

/** Sets a flag of the wave to the 0 or 1 that `push` leaves. */
function setFlag({ fn, wave }: FunctionContext, flag: number, push: () => void): void {
  fn.get(wave);
  push();
  fn.i32(Math.log2(flag)).op('i32.shl');
  fn.get(wave).memory('i32.load', WAVE_FLAGS).i32(~flag).op('i32.and').op('i32.or').memory('i32.store', WAVE_FLAGS);
}

/** A change of MODE. With a value that is not known the next block is found by the engine. */
function setMode(context: FunctionContext, instruction: Instruction): boolean {
  const { fn, wave, pc } = context;
  const { mask, value } = modeChange(instruction);
  if (mask === 0) return false;
  fn.get(wave).get(wave).memory('i32.load', WAVE_MODE).i32(~mask).op('i32.and');
  if (value !== undefined) fn.i32(value);
  else {
    pushScalarOperand(context, requireOperand(instruction, 'sdst'), 'i32', 0);
    fn.i32(hardwareField(instruction).offset).op('i32.shl').i32(mask).op('i32.and');
  }
  fn.op('i32.or').memory('i32.store', WAVE_MODE);
  if (value === undefined)
    fn.get(wave)
      .i32(pc + instruction.size)
      .memory('i32.store', WAVE_PC);
  return true;
}
