// Program counter and hardware registers as WebAssembly: s_getpc, s_setpc, s_swappc, s_call, s_getreg, s_setreg. The interpreter's
// counterpart is interpreter/structural.ts. Source: AMD CDNA3 ISA, "SOP1", "SOPK"; LLVM AMDGPUUsage (hwreg ids).

import { requireOperand } from '../../../isa/operand.ts';
import type { StructuralOperation } from '../../../isa/semantics/index.ts';
import type { Instruction } from '../../../isa/types.ts';
import { registerOf } from '../interpreter/operands.ts';
import { WAVE_CODE_BASE, WAVE_MODE, WAVE_PC, WAVE_SCC } from '../state/layout.ts';
import { EXEC } from '../state/wave.ts';
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
