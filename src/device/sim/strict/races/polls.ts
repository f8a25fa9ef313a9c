// Instructions by which a wavefront waits for another one of its workgroup: loads, and atomics that return a value, in a loop that
// changes nothing else, at an address that is the same each time, whose value decides whether it is left; and the first such load,
// which compilers put before the loop.
import { branchTarget, targetInfo } from '../../../../isa/index.ts';
import { immediateOf, operandNamed } from '../../../../isa/operand.ts';
import { type AtomicOperation, semanticsOf } from '../../../../isa/semantics/index.ts';
import type { Instruction } from '../../../../isa/types.ts';
import { effectsOf, Slot, type SlotRange } from '../../../../program/index.ts';
import type { Launch } from '../../dispatch/launch.ts';
import { type Reached, reachable } from '../../dispatch/reachable.ts';
import { followers, MAX_LOOP, polledLoops, quietLoops, shortLoop } from '../../dispatch/spin.ts';
import type { LoadedCode } from '../../interpreter/loaded-code.ts';

const knownPolls = new WeakMap<LoadedCode, Map<number, boolean>>();
const knownUpdates = new WeakMap<LoadedCode, Map<number, boolean>>();
const knownTries = new WeakMap<LoadedCode, Map<number, boolean>>();
const knownLdsUpdates = new WeakMap<LoadedCode, Map<number, boolean>>();
const knownLearners = new WeakMap<LoadedCode, Map<number, boolean>>();
const knownGridBarriers = new WeakMap<LoadedCode, Map<number, boolean>>();
const knownAtomics = new WeakMap<LoadedCode, Map<number, boolean>>();
const knownKernels = new WeakMap<LoadedCode, Map<number, boolean>>();

/** What has been found out of the code at an address, found when it is asked for first. */
export function remembered(all: typeof knownPolls, loaded: LoadedCode, pc: number, find: () => boolean): boolean {
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
    if (instruction === undefined || !returnsValue(instruction)) return false;
    return isPoll(loaded, pc, instruction) || isFirstPoll(loaded, pc, instruction);
  });
}

/** Whether an atomic on memory can be executed behind the instruction at an address. */
export function precedesAtomic(loaded: LoadedCode, pc: number): boolean {
  return remembered(knownUpdates, loaded, pc, () => canReachAtomic(loaded, pc, (space) => space !== 'lds'));
}

/** Whether an atomic that may be on LDS can be executed behind the instruction at an address. */
export function precedesLdsAtomic(loaded: LoadedCode, pc: number): boolean {
  return remembered(knownLdsUpdates, loaded, pc, () => canReachAtomic(loaded, pc, isLdsOrFlat));
}

/**
 * Whether a load that polls LDS does so in a loop with an atomic of its address that may be on LDS: that is how an update begins that is tried again. Where some rounds do without the
 * atomic, a loop around has it. Readers that wait for flags, and count what they have read, have another address for that.
 */
export function pollsForUpdate(loaded: LoadedCode, pc: number): boolean {
  return remembered(knownTries, loaded, pc, () => {
    const poll = loaded.instructionAt(pc);
    if (poll === undefined) return false;
    const isUpdate = ({ instruction }: Reached): boolean =>
      isAtomicOf(instruction, isLdsOrFlat) && haveOneAddress(instruction, poll);
    return quietLoops(loaded, pc).some((loop) => loop.some(isUpdate));
  });
}

const ADDRESS_OPERANDS = ['addr', 'vaddr', 'saddr', 'offset'];

/** Whether the address of two instructions is written alike. */
function haveOneAddress(a: Instruction, b: Instruction): boolean {
  return ADDRESS_OPERANDS.every(
    (name) => JSON.stringify(operandNamed(a, name)) === JSON.stringify(operandNamed(b, name)),
  );
}

type AtomicSpace = AtomicOperation['space'];
const isLdsOrFlat = (space: AtomicSpace): boolean => space === 'lds' || space === 'flat';

function isAtomicOf({ row }: Instruction, isOf: (space: AtomicSpace) => boolean): boolean {
  const op = semanticsOf(row.operation);
  return op?.kind === 'atomic' && isOf(op.space);
}

function canReachAtomic(loaded: LoadedCode, pc: number, isOf: (space: AtomicSpace) => boolean): boolean {
  return [...reachable(loaded, pc)].some(({ instruction }) => isAtomicOf(instruction, isOf));
}

/** Says of the instruction at a place in the image whether it is an atomic. */
export function atomicsOf(loaded: LoadedCode): (pc: number) => boolean {
  const { base } = loaded.region;
  return (pc) =>
    remembered(knownAtomics, loaded, base + pc, () => {
      const instruction = loaded.instructionAt(base + pc);
      return instruction !== undefined && semanticsOf(instruction.row.operation)?.kind === 'atomic';
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

/**
 * Whether the kernel of a launch has code by which a wavefront can learn what others have done, other than at barriers: atomics of memory that
 * return values, loads past the caches, and loads that wait in loops. Where cache policies have no scope, any load behind an invalidation of the caches
 * is like those.
 */
export function learns(loaded: LoadedCode, { entry, target }: Launch): boolean {
  const { scopedCachePolicy } = targetInfo(target);
  return remembered(knownLearners, loaded, entry, () => {
    for (const { at, instruction } of reachable(loaded, entry)) {
      if (!scopedCachePolicy && INVALIDATIONS.test(instruction.row.operation)) return true;
      const op = semanticsOf(instruction.row.operation);
      if ((op?.kind !== 'load' && op?.kind !== 'atomic') || op.space === 'lds' || !returnsValue(instruction)) continue;
      if (op.kind === 'atomic' || (immediateOf(instruction, 'cpol') & PAST_CACHES) !== 0) return true;
      if (polls(loaded, at)) return true;
    }
    return false;
  });
}

/** Whose stores may tell others something (announcements.ts): those of one lane, or of any where lanes wait in loops for others. */
export type Announcing = 'nobody' | 'one lane' | 'all lanes';

export function announcing(loaded: LoadedCode, launch: Launch): Announcing {
  const { target, entry, workgroups, wavesPerGroup } = launch;
  if (targetInfo(target).scopedCachePolicy || workgroups * wavesPerGroup === 1 || !learns(loaded, launch))
    return 'nobody';
  if (polledLoops(loaded, entry).length > 0) return 'all lanes';
  return workgroups > 1 ? 'one lane' : 'nobody';
}

/**
 * Whether the records of who has read dwords may stay as they are once several workgroups have: nothing puts workgroups in order, and no atomic asks
 * who has read last.
 */
export function readersStay(loaded: LoadedCode, launch: Launch): boolean {
  return !learns(loaded, launch) && !precedesAtomic(loaded, launch.entry) && !hasGridBarrier(loaded, launch.entry);
}

function hasGridBarrier(loaded: LoadedCode, entry: number): boolean {
  return remembered(knownGridBarriers, loaded, entry, () => {
    for (const { instruction } of reachable(loaded, entry)) {
      const op = semanticsOf(instruction.row.operation);
      if (op?.kind === 'structural' && op.name === 'gridBarrier') return true;
    }
    return false;
  });
}

/** Of the vector caches, and of the scalar cache. */
const INVALIDATIONS = /^(?:buffer_wbinvl1|s_dcache_inv)/;

/** Bits of a cache policy that ask past a cache: sc0 (glc of scalar loads) and sc1. */
const PAST_CACHES = 1 | 16;

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
    const at = loop.findIndex((one) => one.at === pc);
    if (![...slots(uses)].every((slot) => isInvariant(loop, at, slot, MOST_STEPS))) return false;
  }
  const values = slots(defs);
  // Twice around: a value may be looked at before it is read again.
  for (const { at, instruction } of [...loop, ...loop]) {
    const effects = effectsOf(instruction);
    const isValue = touches(effects.uses, values);
    if (isValue && instruction.row.flags.has('isBranch')) return true;
    for (const slot of slots(effects.defs)) {
      if (isValue || at === pc) values.add(slot);
      else values.delete(slot);
    }
  }
  return false;
}

/** Instructions by which an address may be made anew in a loop: code without optimisation reads it from scratch. */
const MOST_STEPS = 12;

/**
 * Whether a slot has the same value each time that a loop, which changes no memory, comes to one of its instructions: nothing sets it, or what sets it computes with
 * such slots, or reads memory where these say.
 */
function isInvariant(loop: readonly Reached[], index: number, slot: number, steps: number): boolean {
  if (slot === Slot.EXEC || slot === Slot.EXEC + 1) return true;
  for (let back = 1; back <= loop.length; back++) {
    const at = (index - back + loop.length) % loop.length;
    const { instruction } = loop[at] as Reached;
    const { uses, defs } = effectsOf(instruction);
    if (!slots(defs).has(slot)) continue;
    const kind = semanticsOf(instruction.row.operation)?.kind;
    if (steps === 0 || (kind !== 'vector' && kind !== 'scalar' && kind !== 'load')) return false;
    return [...slots(uses)].every((source) => isInvariant(loop, at, source, steps - 1));
  }
  return true;
}

/** Instructions behind a load within which its value decides whether a loop with its like is entered, and from there to that. */
const TO_BRANCH = 32;
const TO_LOOP = 12;

/** Whether a load is the first one of a loop that compilers have put before it: its value decides whether a loop of the same loads begins. */
function isFirstPoll(loaded: LoadedCode, pc: number, poll: Instruction): boolean {
  interface Step {
    readonly at: number;
    readonly values: ReadonlySet<number>;
    readonly left: number;
  }
  const { defs } = effectsOf(poll);
  const open: Step[] = [{ at: pc + poll.size, values: slots(defs), left: TO_BRANCH }];
  const seen = new Set<number>([pc]);
  for (let step = open.pop(); step !== undefined; step = open.pop()) {
    const { at, values, left } = step;
    const instruction = loaded.instructionAt(at);
    if (instruction === undefined || left === 0 || seen.has(at)) continue;
    seen.add(at);
    const effects = effectsOf(instruction);
    const isValue = touches(effects.uses, values);
    const next = followers(instruction, at);
    if (instruction.row.flags.has('isBranch') && isValue) {
      if (next.some((from) => entersPoll(loaded, from, poll))) return true;
      continue;
    }
    const changed = new Set(values);
    for (const slot of slots(effects.defs)) {
      if (isValue) changed.add(slot);
      else changed.delete(slot);
    }
    for (const to of next) open.push({ at: to, values: changed, left: left - 1 });
  }
  return false;
}

/** Whether a loop that polls by instructions like this one begins at an address, or a few instructions behind. */
function entersPoll(loaded: LoadedCode, from: number, poll: Instruction): boolean {
  const open: (readonly [at: number, left: number])[] = [[from, TO_LOOP]];
  const seen = new Set<number>();
  for (let step = open.pop(); step !== undefined; step = open.pop()) {
    const [at, left] = step;
    const instruction = loaded.instructionAt(at);
    if (instruction === undefined || left === 0 || seen.has(at)) continue;
    seen.add(at);
    if (instruction.row.operation === poll.row.operation && isPoll(loaded, at, instruction)) return true;
    for (const to of followers(instruction, at)) open.push([to, left - 1]);
  }
  return false;
}

function touches(ranges: readonly SlotRange[], wanted: ReadonlySet<number>): boolean {
  return [...slots(ranges)].some((slot) => wanted.has(slot));
}

function slots(ranges: readonly SlotRange[]): Set<number> {
  return new Set(ranges.flatMap(({ first, count }) => Array.from({ length: count }, (_, n) => first + n)));
}
