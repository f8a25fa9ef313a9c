// Whether a kernel is the same function wherever its code is put: it reads the program counter only to jump within itself.
// Compilers and Tensile reach far blocks so: s_getpc_b64, a distance added, s_setpc_b64.
import { kernelCode } from '../check/code.ts';
import type { CodeObject, Kernel } from '../codeobject/index.ts';
import type { Instruction } from '../isa/index.ts';
import {
  type BasicBlock,
  type CodeInstruction,
  liftCodeObject,
  type Program,
  type ProgramFunction,
  Slot,
  type SlotRange,
  slotsOf,
  solveForward,
} from '../program/index.ts';

const answers = new WeakMap<Kernel, boolean>();

/**
 * Whether a kernel's code does the same at every address. False also when that was not found out: with calls, with jumps to addresses
 * that came in, with code outside of the kernel's symbol, and with an address of code that is used for anything but a jump.
 */
export function isPositionIndependent(codeObject: CodeObject, kernel: Kernel): boolean {
  let answer = answers.get(kernel);
  if (answer === undefined) {
    answer = findOut(liftCodeObject(codeObject, { kernels: new Set([kernel.name]) }), kernel);
    answers.set(kernel, answer);
  }
  return answer;
}

/** How blocks end that have no other code behind them. */
const EXITS: ReadonlySet<BasicBlock['exit']> = new Set(['fallthrough', 'branch', 'jump', 'indirect', 'end', 'invalid']);

function findOut(program: Program, kernel: Kernel): boolean {
  const [own] = program.functions;
  if (own === undefined || own.kernel !== kernel || program.functions.length !== 1) return false;
  const end = own.entry + (kernelCode(program.codeObject, kernel)?.length ?? 0);
  return (
    program.instructions.every(({ pc }) => pc >= own.entry && pc < end) &&
    own.blocks.every((index) => EXITS.has((program.blocks[index] as BasicBlock).exit)) &&
    !placesEscape(program, own)
  );
}

/** Slots that hold an address of code, a half of one, or the carry between the halves. */
type Places = Set<number>;

/** Whether an address of code is used for anything but a jump, or a jump uses another. */
function placesEscape(program: Program, own: ProgramFunction): boolean {
  let hasEscaped = false;
  const starts = solveForward<Places>(program, own, {
    entry: () => new Set(),
    copy: (places) => new Set(places),
    transfer: (block, places) => {
      for (let i = block.first; i < block.end; i++) {
        if (!step(program.instructions[i] as CodeInstruction, places)) hasEscaped = true;
      }
    },
    join: (places, other) => {
      const before = places.size;
      for (const slot of other) places.add(slot);
      return places.size !== before;
    },
  });
  return hasEscaped || starts.size === 0;
}

const isOf = (places: Places, { first, count }: SlotRange): boolean => {
  for (let slot = first; slot < first + count; slot++) if (places.has(slot)) return true;
  return false;
};

/** Takes `places` through an instruction; false when it does with an address what depends on the address. */
function step({ instruction, effects }: CodeInstruction, places: Places): boolean {
  const { operation } = instruction.row;
  const isRead = [...effects.uses, ...effects.keeps].some((range) => isOf(places, range));
  const isJump = operation === 's_setpc_b64';
  const isRight = isJump ? isRead : !isRead || isSum(instruction, places);
  const makesPlace = isRead || operation === 's_getpc_b64';
  for (const { first, count } of effects.defs) {
    for (let slot = first; slot < first + count; slot++) {
      if (makesPlace) places.add(slot);
      else places.delete(slot);
    }
  }
  return isRight;
}

/** A half of an address and a distance: the carry may be one of an address, and one operand, of a difference the first. */
function isSum({ row: { operation, operands: roles }, operands }: Instruction, places: Places): boolean {
  const sum = /^s_(?:(add|addc)|sub|subb)_u32$/.exec(operation);
  if (sum === null) return false;
  const [x, y] = operands
    .filter(
      (operand, i) => roles[i]?.isOut === false && !(operand.kind === 'reg' && slotsOf(operand)?.first === Slot.SCC),
    )
    .map((operand) => {
      const range = operand.kind === 'reg' ? slotsOf(operand) : undefined;
      return range !== undefined && isOf(places, range);
    });
  return !(x && y) && (sum[1] !== undefined || !y);
}
