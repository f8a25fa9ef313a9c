// Instructions by which a wavefront waits for another one of its workgroup: loads, and atomics that return a value, in a loop that
// changes nothing else, at an address that the loop does not change, whose value decides whether it is left.
import { branchTarget } from '../../../isa/index.ts';
import { semanticsOf } from '../../../isa/semantics/index.ts';
import type { Instruction } from '../../../isa/types.ts';
import { effectsOf, Slot, type SlotRange } from '../../../program/index.ts';
import type { Launch } from '../dispatch/launch.ts';
import { reachable } from '../dispatch/reachable.ts';
import { MAX_LOOP, shortLoop } from '../dispatch/spin.ts';
import type { LoadedCode } from '../interpreter/loaded-code.ts';

const knownPolls = new WeakMap<LoadedCode, Map<number, boolean>>();
const knownUpdates = new WeakMap<LoadedCode, Map<number, boolean>>();
const knownKernels = new WeakMap<LoadedCode, Map<number, boolean>>();

function remembered(all: typeof knownPolls, loaded: LoadedCode, pc: number, find: () => boolean): boolean {
  const answers = all.get(loaded) ?? new Map<number, boolean>();
  all.set(loaded, answers);
  const answer = answers.get(pc) ?? find();
  answers.set(pc, answer);
  return answer;
}

/** Whether the instruction at an address polls memory. */
export function polls(loaded: LoadedCode, pc: number): boolean {
  return remembered(knownPolls, loaded, pc, () => {
    const instruction = loaded.instructionAt(pc);
    return instruction !== undefined && returnsValue(instruction) && isPoll(loaded, pc, instruction);
  });
}

/** Whether an atomic on memory can be executed behind the instruction at an address. */
export function precedesAtomic(loaded: LoadedCode, pc: number): boolean {
  return remembered(knownUpdates, loaded, pc, () => {
    for (const { instruction } of reachable(loaded, pc)) {
      const op = semanticsOf(instruction.row.operation);
      if (op?.kind === 'atomic' && op.space !== 'lds') return true;
    }
    return false;
  });
}

/** Whether the kernel of a launch has code by which wavefronts of a workgroup can hand over data through LDS without a barrier. */
export function handsOver(loaded: LoadedCode, { entry, wavesPerGroup }: Launch): boolean {
  if (wavesPerGroup < 2) return false;
  return remembered(knownKernels, loaded, entry, () => {
    const reads: number[] = [];
    const loops: (readonly [number, number])[] = [];
    for (const { at, instruction } of reachable(loaded, entry)) {
      const target = branchTarget(instruction, at);
      if (target !== undefined && target <= at) loops.push([target, at]);
      if (!readsLds(instruction)) continue;
      if (semanticsOf(instruction.row.operation)?.kind === 'atomic') return true;
      reads.push(at);
    }
    const isInLoop = (pc: number): boolean =>
      loops.some(([from, to]) => to - from <= MAX_LOOP && from <= pc && pc <= to);
    return reads.some((pc) => isInLoop(pc) && polls(loaded, pc));
  });
}

/** A load, or an atomic that returns a value. */
function returnsValue({ row }: Instruction): boolean {
  const kind = semanticsOf(row.operation)?.kind;
  return (kind === 'load' || kind === 'atomic') && row.operands.some((o) => o.isOut);
}

function readsLds(instruction: Instruction): boolean {
  const op = semanticsOf(instruction.row.operation);
  if (op?.kind !== 'load' && op?.kind !== 'atomic') return false;
  return returnsValue(instruction) && (op.space === 'lds' || op.space === 'flat');
}

function isPoll(loaded: LoadedCode, pc: number, poll: Instruction): boolean {
  const loop = shortLoop(loaded, pc);
  if (loop === undefined) return false;
  const { uses, defs } = effectsOf(poll);
  if (semanticsOf(poll.row.operation)?.kind === 'load') {
    const addresses = slots(uses);
    for (const slot of [Slot.EXEC, Slot.EXEC + 1]) addresses.delete(slot);
    if (loop.some(({ instruction }) => touches(effectsOf(instruction).defs, addresses))) return false;
  }
  const values = slots(defs);
  // Twice around: a value may be looked at before it is read again.
  for (const { at, instruction } of [...loop, ...loop]) {
    const effects = effectsOf(instruction);
    const isValue = touches(effects.uses, values);
    if (isValue && instruction.row.flags.has('isBranch')) return true;
    if (at === pc) continue;
    for (const slot of slots(effects.defs)) {
      if (isValue) values.add(slot);
      else values.delete(slot);
    }
  }
  return false;
}

function touches(ranges: readonly SlotRange[], wanted: ReadonlySet<number>): boolean {
  return [...slots(ranges)].some((slot) => wanted.has(slot));
}

function slots(ranges: readonly SlotRange[]): Set<number> {
  return new Set(ranges.flatMap(({ first, count }) => Array.from({ length: count }, (_, n) => first + n)));
}
