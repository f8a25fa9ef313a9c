// Instructions that are no expression, on terms: control flow through registers, barriers, lanes of other lanes, hardware registers.
import { branchTarget } from '../isa/index.ts';
import { hasOperand, immediateOf, operandNamed } from '../isa/operand.ts';
import type { StructuralOperation } from '../isa/semantics/index.ts';
import type { Operand, Register } from '../isa/types.ts';
import { Slot, slotsOf } from '../program/index.ts';
import { NotFollowed } from './errors.ts';
import { laneNumber } from './expressions.ts';
import type { Place } from './memory.ts';
import { staysInLds } from './memory-step.ts';
import {
  isVectorRegister,
  readPair,
  readRegisterWord,
  readWord,
  registerAt,
  writeLanes,
  writePair,
  writeScalar,
} from './operands.ts';
import { orderedEffect, orderedState } from './scopes.ts';
import { Control, Memory } from './state.ts';
import type { Outcome, Step } from './step.ts';
import { isConstant, type Term } from './terms.ts';

const HW_MODE = 1;
const HW_STATUS = 2;
const HW_TRAPSTS = 3;
/** Registers and LDS of the wavefront. */
const HW_ALLOCATIONS: ReadonlySet<number> = new Set([5, 6]);
/** What LLVM's trap handler ends the wavefront for; after others a wavefront goes on. Source: LLVM's AMDGPUUsage, "Trap Handler ABI". */
const TRAP_END = 2;
/** GPR_IDX_EN and VSKIP of MODE. Source: CDNA3 ISA manual, "Mode Register". */
const MODE_CONTROLS = 0x1800_0000n;

function required(step: Step, name: string): Operand {
  const operand = operandNamed(step.instruction, name);
  if (operand === undefined) throw new NotFollowed(`'${step.instruction.row.mnemonic}' has no operand ${name}`);
  return operand;
}

function requiredRegister(step: Step, name: string): Register {
  const operand = required(step, name);
  if (operand.kind !== 'reg') throw new NotFollowed(`'${step.instruction.row.mnemonic}' has no register ${name}`);
  return operand;
}

/** An address in the code object: a constant distance from where it is loaded. */
export function imageAddress({ algebra, imageShift }: Step, pc: number): Term {
  if (imageShift === undefined) throw new NotFollowed('the constant data of the two files differ');
  const image = algebra.terms.symbol('image', 'i64');
  return algebra.integers.add(image, algebra.terms.i64(BigInt(pc) - imageShift));
}

/** Where a call leaves the address behind it. */
function writeReturnAddress(step: Step): void {
  const pc = step.code.pc + step.instruction.size;
  writePair(step, requiredRegister(step, 'sdst'), step.places?.behindCalls.get(pc) ?? imageAddress(step, pc));
}

/** Everything before is done to a memory before anything after. */
function fence({ algebra, state, code, watcher }: Step, what: string, memories: readonly number[]): void {
  const { terms } = algebra;
  const all = terms.make(
    'fence',
    'effect',
    memories.map((m) => state[m] as Term),
    { attr: what },
  );
  watcher.access(code, all);
  for (const memory of memories) state[memory] = terms.make('part', 'effect', [all], { attr: String(memory) });
}

function parameterText(step: Step): string {
  const { row, operands } = step.instruction;
  const fields = row.operands.flatMap((o, i) => {
    const operand = operands[i];
    return operand?.kind === 'imm' ? [`${o.name}=${operand.value}`] : [];
  });
  return [row.operation, ...fields].join(' ');
}

/** A value that no register determines: time, hardware state. Reads of it keep their order. */
function readClock(step: Step, register: Register, words: number, on: readonly Term[] = []): void {
  const { algebra, state } = step;
  const { terms } = algebra;
  const tick = terms.make('tick', 'effect', [state[Memory.CLOCK] as Term, ...on], { attr: parameterText(step) });
  state[Memory.CLOCK] = tick;
  for (let n = 0; n < words; n++) {
    writeScalar(step, register, n, terms.make('result', 'i32', [tick], { attr: String(n), isUniform: true }));
  }
}

/** Executes a structural operation. */
export function stepStructural(step: Step, op: StructuralOperation): Outcome {
  switch (op.name) {
    case 'nop':
      if (step.instruction.row.operation === 's_setkill' && immediateOf(step.instruction, 'simm16') !== 0)
        throw new NotFollowed("'s_setkill' ends the wavefront at once");
      return undefined;
    case 'sethalt':
      throw new NotFollowed("'s_sethalt' stops the wavefront until a debugger lets it go on");
    case 'waitcnt':
    case 'sleep':
      return undefined;
    case 'endpgm':
      return { kind: 'end', how: 'endpgm' };
    case 'trap':
      return trap(step);
    case 'barrier':
      fence(step, 'barrier', [Memory.GLOBAL, Memory.LDS]);
      return undefined;
    case 'cacheControl':
      fence(step, parameterText(step), [Memory.GLOBAL]);
      return undefined;
    case 'sendmsg':
      return sendMessage(step, op);
    case 'getpc':
      writePair(step, requiredRegister(step, 'sdst'), imageAddress(step, step.code.pc + step.instruction.size));
      return undefined;
    case 'setpc':
      return { kind: 'jump', target: readPair(step, required(step, 'src0')) };
    case 'swappc': {
      const target = readPair(step, required(step, 'src0'));
      writeReturnAddress(step);
      return { kind: 'jump', target };
    }
    case 'call':
      return call(step);
    case 'getreg':
      getreg(step);
      return undefined;
    case 'setreg':
      setreg(step);
      return undefined;
    case 'memtime':
      readClock(step, requiredRegister(step, 'sdst'), 2);
      return undefined;
    case 'setGprIndexOn':
      setIndex(step, readWord(step, required(step, 'src0'), 0, 'i32'), immediateOf(step.instruction, 'src1') & 15);
      return undefined;
    case 'setGprIndexOff':
      step.state[Control.INDEXING] = step.algebra.terms.i32(0);
      return undefined;
    case 'setVskip':
      setSkip(step);
      return undefined;
    default:
      acrossLanes(step, op);
      return undefined;
  }
}

/** Chooses the index and the operands that it is added to; both are in M0. */
function setIndex({ algebra, state }: Step, index: Term, operands: number): void {
  const { integers, terms } = algebra;
  const kept = integers.and(state[Slot.M0] as Term, terms.i32(~0xf0ff));
  const chosen = integers.or(integers.and(index, terms.i32(0xff)), terms.i32(operands << 12));
  const m0 = integers.or(kept, chosen);
  state[Slot.M0] = m0;
  state[Control.INDEX_M0] = m0;
  state[Control.INDEXING] = terms.i32(16 + operands);
}

function setSkip(step: Step): void {
  const { integers, terms } = step.algebra;
  const [value, bit] = ['src0', 'src1'].map((name) => readWord(step, required(step, name), 0, 'i32')) as [Term, Term];
  const chosen = integers.and(integers.shrU(value, integers.and(bit, terms.i32(31))), terms.i32(1));
  step.state[Control.SKIP] = integers.not(integers.eq(chosen, terms.i32(0)));
}

function sendMessage(step: Step, op: StructuralOperation): Outcome {
  const { algebra, state } = step;
  const message = algebra.terms.make('message', 'effect', [state[Memory.GLOBAL] as Term, state[Slot.M0] as Term], {
    attr: parameterText(step),
  });
  step.watcher.access(step.code, message);
  state[Memory.GLOBAL] = message;
  return op.parameter === 1 ? { kind: 'end', how: 'sendmsghalt' } : undefined;
}

function trap(step: Step): Outcome {
  const id = immediateOf(step.instruction, 'simm16') & 0xff;
  if (id === TRAP_END) return { kind: 'end', how: `trap ${id}` };
  fence(step, `trap ${id}`, [Memory.GLOBAL, Memory.LDS]);
  return undefined;
}

function call(step: Step): Outcome {
  const target = branchTarget(step.instruction, step.code.pc);
  if (target === undefined) throw new NotFollowed('a call without a target');
  writeReturnAddress(step);
  return { kind: 'jump', target: imageAddress(step, target) };
}

function hardwareField(step: Step): { id: number; offset: number; size: number } {
  const value = immediateOf(step.instruction, 'simm16') & 0xffff;
  return { id: value & 63, offset: (value >> 6) & 31, size: ((value >> 11) & 31) + 1 };
}

function getreg(step: Step): void {
  const { id, offset, size } = hardwareField(step);
  const target = requiredRegister(step, 'sdst');
  if (id === HW_TRAPSTS) throw new NotFollowed('the exceptions of the past are read through hwreg(HW_REG_TRAPSTS)');
  if (HW_ALLOCATIONS.has(id) && !step.algebra.isSameAllocation)
    throw new NotFollowed('the kernels read how many registers or how much LDS they have, which differs');
  if (id !== HW_MODE) {
    const shown = [Slot.SCC, Slot.VCC, Slot.VCC + 1, Slot.EXEC, Slot.EXEC + 1, Control.SKIP];
    readClock(step, target, 1, id === HW_STATUS ? shown.map((slot) => step.state[slot] as Term) : []);
    return;
  }
  const { integers, terms } = step.algebra;
  const controls = [Control.INDEXING, Control.SKIP].map((slot) => step.state[slot] as Term);
  if (offset + size > 27 && !controls.every((c) => isConstant(c, 0n)))
    throw new NotFollowed('the index or skip mode is read through hwreg(HW_REG_MODE)');
  const shifted = integers.shrU(step.state[Slot.MODE] as Term, terms.i32(offset));
  const mask = size === 32 ? -1 : 2 ** size - 1;
  writeScalar(step, target, 0, integers.and(shifted, terms.i32(mask)));
}

function setreg(step: Step): void {
  const { id, offset, size } = hardwareField(step);
  const { algebra, instruction, state } = step;
  const { integers, terms } = algebra;
  const isLiteral = hasOperand(instruction.row, 'imm');
  const value = readWord(step, required(step, isLiteral ? 'imm' : 'sdst'), 0, 'i32');
  if (id !== HW_MODE) {
    const before = [Memory.CLOCK, Memory.GLOBAL].map((m) => state[m] as Term);
    const effect = terms.make('setreg', 'effect', [...before, value], { attr: parameterText(step) });
    for (const memory of [Memory.CLOCK, Memory.GLOBAL])
      state[memory] = terms.make('part', 'effect', [effect], { attr: String(memory) });
    return;
  }
  const mask = size === 32 ? 0xffff_ffff : (2 ** size - 1) * 2 ** offset;
  // These bits are Control.INDEXING and Control.SKIP.
  const isControl = (BigInt(mask) & MODE_CONTROLS) !== 0n;
  const isOff = [Control.INDEXING, Control.SKIP].every((slot) => isConstant(state[slot] as Term, 0n));
  if (isControl && (!isOff || (value.zeros & (MODE_CONTROLS >> BigInt(offset))) !== MODE_CONTROLS >> BigInt(offset)))
    throw new NotFollowed('the index or skip mode is set through hwreg(HW_REG_MODE)');
  const placed = integers.and(integers.shl(value, terms.i32(offset)), terms.i32(mask));
  const kept = integers.and(state[Slot.MODE] as Term, integers.not(terms.i32(mask)));
  state[Slot.MODE] = integers.or(placed, kept);
}

/** Whole registers as they are: what lanes that are off hold can be read. */
function rawWord(step: Step, operand: Operand): Term {
  return operand.kind === 'reg' ? readRegisterWord(step, operand, 0) : readWord(step, operand, 0, 'i32');
}

function acrossLanes(step: Step, op: StructuralOperation): void {
  const { algebra, exec, state } = step;
  const { terms, masks } = algebra;
  const make = (args: readonly Term[], isUniform: boolean, attr = ''): Term =>
    terms.make(op.name, 'i32', args, { attr: `${parameterText(step)} ${attr}`, isUniform });
  switch (op.name) {
    case 'readfirstlane': {
      const operand = required(step, 'src0');
      const value = isVectorRegister(operand) ? masks.view(exec, rawWord(step, operand)) : rawWord(step, operand);
      step.watcher.risk(step.code, { kind: 'firstLane', lanes: exec });
      writeScalar(step, requiredRegister(step, 'vdst'), 0, value.isUniform ? value : make([exec, value], true));
      return;
    }
    case 'readlane': {
      const value = rawWord(step, required(step, 'src0'));
      const lane = readWord(step, required(step, 'src1'), 0, 'i32');
      writeScalar(step, requiredRegister(step, 'vdst'), 0, readLane(step, value, lane));
      return;
    }
    case 'writelane': {
      const target = requiredRegister(step, 'vdst');
      const slot = slotsOf(target)?.first as number;
      const value = readWord(step, required(step, 'src0'), 0, 'i32');
      const lane = readWord(step, required(step, 'src1'), 0, 'i32');
      state[slot] = terms.make('writelane', 'i32', [state[slot] as Term, lane, value], { isUniform: false });
      return;
    }
    case 'swap': {
      const [a, b] = [requiredRegister(step, 'vdst'), requiredRegister(step, 'src0')];
      const [x, y] = [a, b].map((r) => masks.view(exec, readRegisterWord(step, r, 0))) as [Term, Term];
      writeLanes(step, a, 0, y);
      writeLanes(step, b, 0, x);
      return;
    }
    case 'permlaneSwap': {
      const [a, b] = [requiredRegister(step, 'vdst'), requiredRegister(step, 'src0')];
      const words = [a, b].map((r) => readRegisterWord(step, r, 0));
      for (const [n, r] of [a, b].entries()) {
        state[slotsOf(r)?.first as number] = make([exec, ...words], false, String(n));
      }
      return;
    }
    case 'permute':
    case 'bpermute': {
      const parts = ['addr', 'data0'].map((name) => masks.view(exec, rawWord(step, required(step, name))));
      const value = make([exec, ...parts], false, String(immediateOf(step.instruction, 'offset')));
      writeLanes(step, requiredRegister(step, 'vdst'), 0, value);
      return;
    }
    case 'swizzle': {
      const value = masks.view(exec, rawWord(step, required(step, 'addr')));
      const moved = make([exec, value], false, String(immediateOf(step.instruction, 'offset')));
      writeLanes(step, requiredRegister(step, 'vdst'), 0, moved);
      return;
    }
    case 'append':
    case 'condxchg':
    case 'readTransposed':
    case 'addtid':
      throughLds(step, op);
      return;
    default:
      throw new NotFollowed(
        /movrel/.test(step.instruction.row.operation)
          ? `'${step.instruction.row.mnemonic}' chooses registers at run time`
          : `'${step.instruction.row.mnemonic}' is not followed`,
      );
  }
}

/** The lane's value of a register that single lanes were written to. */
function readLane({ algebra }: Step, register: Term, lane: Term): Term {
  let value = register;
  while (value.op === 'writelane' && lane.op === 'const') {
    const [below, at, written] = value.args as readonly [Term, Term, Term];
    if (at === lane) return written;
    if (at.op !== 'const' || (at.value & 63n) === (lane.value & 63n)) break;
    value = below;
  }
  return algebra.terms.make('readlane', 'i32', [value, lane], { isUniform: true });
}

/** LDS instructions with an addressing of their own: whole and in order. */
function throughLds(step: Step, op: StructuralOperation): void {
  const { algebra, exec, state, instruction, code } = step;
  const { terms, masks, integers, memories } = algebra;
  const offset = immediateOf(instruction, 'offset');
  if (op.name === 'addtid') {
    const start = integers.and(state[Slot.M0] as Term, terms.i32(0xffff));
    const address = integers.add(integers.addConstant(start, offset), integers.scale(laneNumber(integers), 4n));
    const place: Place = { base: undefined, offset: address, bytes: 4, isPrivate: false };
    staysInLds(step, place);
    if (op.direction === 'load') {
      const value = memories.load(state[Memory.LDS] as Term, place, 'lds 4 ', false, exec);
      step.watcher.access(code, value);
      writeLanes(step, requiredRegister(step, 'vdst'), 0, value);
    } else {
      const value = masks.view(exec, readRegisterWord(step, requiredRegister(step, 'data0'), 0));
      state[Memory.LDS] = memories.store(state[Memory.LDS] as Term, exec, place, value, 'lds 4 ');
      step.watcher.access(code, value);
    }
    return;
  }
  if (algebra.ldsBytes !== undefined)
    throw new NotFollowed(`LDS has another size, which '${instruction.row.mnemonic}' may tell`);
  const isAtomic = op.name !== 'readTransposed';
  const memory = isAtomic ? orderedState(step, 'lds') : (state[Memory.LDS] as Term);
  const args: Term[] = [memory, exec, state[Slot.M0] as Term];
  for (const name of ['addr', 'data0']) {
    const register = registerAt(instruction, name);
    for (let n = 0; register !== undefined && n < register.dwords; n++) {
      args.push(masks.view(exec, readRegisterWord(step, register, n)));
    }
  }
  const effect = terms.make(op.name, 'effect', args, { attr: parameterText(step) });
  step.watcher.access(code, effect);
  if (isAtomic) orderedEffect(step, 'lds', effect);
  const target = requiredRegister(step, 'vdst');
  for (let n = 0; n < target.dwords; n++) {
    writeLanes(step, target, n, terms.make('result', 'i32', [effect], { attr: String(n), isUniform: false }));
  }
}
