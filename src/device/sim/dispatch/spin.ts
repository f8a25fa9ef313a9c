// Loops in which a wave waits for others: short ones that sleep, or read memory past the caches, and change nothing. And loops in which it
// may wait while it works: any that read memory past the caches. What is found out is kept for each loaded code, and can be told to other threads.
import { branchTarget } from '../../../isa/index.ts';
import { semanticsOf } from '../../../isa/semantics/index.ts';
import type { Instruction } from '../../../isa/types.ts';
import type { LoadedCode } from '../interpreter/loaded-code.ts';
import { type Reached, reachable } from './reachable.ts';

/** Longest loop, in bytes, that is taken for waiting. */
export const MAX_LOOP = 512;

/** From the first instruction of a loop to its last. */
type Span = readonly [from: number, to: number];

/** What has been found out about the waiting of loaded code. */
export interface WaitFacts {
  /** By place in the image, which maps are faster for than for addresses: whether the instruction there is in a loop that waits. */
  readonly spins: Map<number, boolean>;
  /** Loops that read memory past the caches, by the entry of a kernel. */
  readonly polled: Map<number, readonly Span[]>;
  /** Whether a kernel, by its entry, has code by which workgroups wait for others. */
  readonly waiting: Map<number, boolean>;
}

const facts = new WeakMap<LoadedCode, WaitFacts>();

/** What has been found out so far. */
export function waitFacts(loaded: LoadedCode): WaitFacts {
  let known = facts.get(loaded);
  if (known === undefined) {
    known = { spins: new Map(), polled: new Map(), waiting: new Map() };
    facts.set(loaded, known);
  }
  return known;
}

/** Takes over what another thread has found out about the same code. */
export function takeOverWaitFacts(loaded: LoadedCode, { spins, polled, waiting }: WaitFacts): void {
  const known = waitFacts(loaded);
  for (const [place, isSpin] of spins) known.spins.set(place, isSpin);
  for (const [entry, loops] of polled) known.polled.set(entry, loops);
  for (const [entry, waits] of waiting) known.waiting.set(entry, waits);
}

/** Whether the instruction at an address is in a loop that waits. */
export function isSpinLoop(loaded: LoadedCode, pc: number): boolean {
  const { spins } = waitFacts(loaded);
  const place = pc - loaded.region.base;
  let answer = spins.get(place);
  if (answer === undefined) {
    answer = findSpinLoop(loaded, pc);
    spins.set(place, answer);
  }
  return answer;
}

function findSpinLoop(loaded: LoadedCode, pc: number): boolean {
  return shortLoop(loaded, pc)?.some(({ instruction }) => sleepsOrPolls(instruction)) ?? false;
}

/**
 * The innermost loop around an address, from the target of the next backward branch over it to that branch. Undefined when there is
 * none, or it is long or changes memory.
 */
export function shortLoop(loaded: LoadedCode, pc: number): readonly Reached[] | undefined {
  const [first] = loopsAround(loaded, pc);
  if (first === undefined || first[1] - first[0] > MAX_LOOP) return undefined;
  const loop = quiet(loaded, ...first);
  return loop === undefined || changesElsewhere(loaded, loop) ? undefined : loop;
}

/** The loops around an address that change memory by atomics alone, and are short. */
export function quietLoops(loaded: LoadedCode, pc: number): (readonly Reached[])[] {
  return [...loopsAround(loaded, pc)].flatMap(([from, to]) => {
    const loop = to - from <= MAX_LOOP ? quiet(loaded, from, to) : undefined;
    return loop === undefined ? [] : [loop];
  });
}

/** From the targets of the backward branches over an address to these, by the places of the branches. */
function* loopsAround(loaded: LoadedCode, pc: number): Generator<Span> {
  for (let at = pc; at < pc + MAX_LOOP; ) {
    const instruction = loaded.instructionAt(at);
    if (instruction === undefined) return;
    const target = branchTarget(instruction, at);
    if (target !== undefined && target <= pc) yield [target, at];
    at += instruction.size;
  }
}

/** Of s_branch, and of what ends a wavefront. */
const JUMP_BYTES = 4;
/** Instructions behind the exits of a loop that are looked at for ways back into it. */
const MOST_OUTSIDE = 4000;
const outside = new WeakMap<LoadedCode, Map<string, boolean>>();

/**
 * Whether there is a way out of a loop and back into it, not by the instruction that it begins with, on which memory is changed: compilers put the body of a loop behind
 * it, code without optimisation mostly does.
 */
function changesElsewhere(loaded: LoadedCode, loop: readonly Reached[]): boolean {
  const [from, to] = [(loop[0] as Reached).at, (loop[loop.length - 1] as Reached).at];
  let answers = outside.get(loaded);
  if (answers === undefined) {
    answers = new Map();
    outside.set(loaded, answers);
  }
  const key = `${from} ${to}`;
  let answer = answers.get(key);
  if (answer === undefined) {
    const entries = entriesBehindChanges(loaded, loop, from, to);
    const [first, second] = [...entries];
    const others = entries.has(from) ? entries.size - 1 : entries.size;
    answer = others > 0 && (first === undefined || second !== undefined || !beginsAt(loaded, loop, first));
    answers.set(key, answer);
  }
  return answer;
}

/** Instructions of a loop to which ways lead that leave it and change memory. */
function entriesBehindChanges(loaded: LoadedCode, loop: readonly Reached[], from: number, to: number): Set<number> {
  const isInside = (at: number): boolean => at >= from && at <= to;
  const open: (readonly [at: number, hasChanged: boolean])[] = [];
  for (const { at, instruction } of loop) {
    for (const next of followers(instruction, at)) if (!isInside(next)) open.push([next, false]);
  }
  const entries = new Set<number>();
  /** What has been looked at: 1 before a change, 2 behind one. */
  const seen = new Map<number, number>();
  for (let step = open.pop(); step !== undefined && seen.size < MOST_OUTSIDE; step = open.pop()) {
    const [at, hadChanged] = step;
    if (isInside(at)) {
      if (hadChanged) entries.add(at);
      continue;
    }
    const instruction = loaded.instructionAt(at);
    if (instruction === undefined) continue;
    const hasChanged = hadChanged || changesMemory(instruction);
    const mark = hasChanged ? 2 : 1;
    const known = seen.get(at) ?? 0;
    if ((known & mark) !== 0) continue;
    seen.set(at, known | mark);
    for (const next of followers(instruction, at)) open.push([next, hasChanged]);
  }
  return entries;
}

/**
 * Whether a loop begins with an instruction that is not its first one: compilers put blocks of a loop before the one that is entered. Execution does not fall into its first
 * instruction then, and each time around it comes to the one with which it begins.
 */
function beginsAt(loaded: LoadedCode, loop: readonly Reached[], entry: number): boolean {
  const from = (loop[0] as Reached).at;
  const before = loaded.instructionAt(from - JUMP_BYTES);
  if (before?.size !== JUMP_BYTES || !before.row.flags.has('isBarrier')) return false;
  const instructions = new Map(loop.map(({ at, instruction }) => [at, instruction]));
  const state = new Map<number, 'open' | 'done'>([[entry, 'done']]);
  /** Whether no way from an instruction comes back to it but by the entry. */
  const ends = (at: number): boolean => {
    const instruction = instructions.get(at);
    if (instruction === undefined || state.get(at) === 'done') return true;
    if (state.get(at) === 'open') return false;
    state.set(at, 'open');
    const all = followers(instruction, at).every(ends);
    state.set(at, 'done');
    return all;
  };
  return loop.every(({ at }) => ends(at));
}

/** Where execution can go on behind an instruction at an address, jumps through registers left out. */
export function followers(instruction: Instruction, at: number): number[] {
  const target = branchTarget(instruction, at);
  const next = target === undefined ? [] : [target];
  // LLVM's name for what execution does not go on behind: jumps, returns, the end.
  if (!instruction.row.flags.has('isBarrier')) next.push(at + instruction.size);
  return next;
}

function quiet(loaded: LoadedCode, from: number, to: number): readonly Reached[] | undefined {
  const loop: Reached[] = [];
  for (let at = from; at <= to; ) {
    const instruction = loaded.instructionAt(at);
    if (instruction === undefined || changesMemory(instruction)) return undefined;
    loop.push({ at, instruction });
    at += instruction.size;
  }
  return loop;
}

function changesMemory({ row }: Instruction): boolean {
  const op = semanticsOf(row.operation);
  return (
    op?.kind === 'store' ||
    op?.kind === 'matrix' ||
    (op?.kind === 'structural' && (op.name === 'barrier' || op.name === 'gridBarrier')) ||
    ((op?.kind === 'format' || op?.kind === 'image') && row.flags.has('mayStore'))
  );
}

/** Instructions looked at for loops that read past the caches. */
const LIMIT = 200_000;

/**
 * Loops of the kernel at an entry in which a load of memory goes past the caches (volatile variables, atomic loads): graph algorithms work
 * so on what other workgroups have got so far, until all of it is there.
 */
export function polledLoops(loaded: LoadedCode, entry: number): readonly Span[] {
  const { polled } = waitFacts(loaded);
  let loops = polled.get(entry);
  if (loops === undefined) {
    loops = findPolledLoops(loaded, entry);
    polled.set(entry, loops);
  }
  return loops;
}

function findPolledLoops(loaded: LoadedCode, entry: number): Span[] {
  const loads: number[] = [];
  const loops: Span[] = [];
  let count = 0;
  for (const { at, instruction } of reachable(loaded, entry)) {
    if (++count > LIMIT) break;
    if (isPollingLoad(instruction)) loads.push(at);
    const target = branchTarget(instruction, at);
    if (target !== undefined && target <= at) loops.push([target, at]);
  }
  return loops.filter(([from, to]) => loads.some((at) => from <= at && at <= to));
}

/** Whether an address is in a loop of the kernel at `entry` that reads memory past the caches. */
export function isPolledLoop(loaded: LoadedCode, entry: number, pc: number): boolean {
  return polledLoops(loaded, entry).some(([from, to]) => from <= pc && pc <= to);
}

/** Whether a kernel has code by which workgroups wait for others. Loops that do so are not always found: some are long, or call functions. */
export function mayWait(loaded: LoadedCode, entry: number): boolean {
  const { waiting } = waitFacts(loaded);
  let answer = waiting.get(entry);
  if (answer === undefined) {
    answer = reaches(loaded, entry, sleepsOrPolls);
    waiting.set(entry, answer);
  }
  return answer;
}

function reaches(loaded: LoadedCode, entry: number, isWanted: (instruction: Instruction) => boolean): boolean {
  let count = 0;
  for (const { instruction } of reachable(loaded, entry)) {
    if (++count > LIMIT || isWanted(instruction)) return true;
  }
  return false;
}

/** s_sleep, a cache invalidation, an atomic that returns a value, or a load that bypasses caches. */
function sleepsOrPolls(instruction: Instruction): boolean {
  const { row } = instruction;
  const op = semanticsOf(row.operation);
  if (op?.kind === 'structural') return op.name === 'sleep' || op.name === 'cacheControl';
  if (op?.kind === 'atomic') return op.space !== 'lds' && row.operands.some((o) => o.isOut);
  return isPollingLoad(instruction);
}

/** Bits of a cache policy that let a load go past caches that others do not see: sc0 (glc) and sc1. The non-temporal bit does not. */
const PAST_CACHES = 0b10001;

/** A load of memory past the caches. */
function isPollingLoad(instruction: Instruction): boolean {
  const { row } = instruction;
  const op = semanticsOf(row.operation);
  if (op?.kind !== 'load' || op.space === 'lds') return false;
  return row.operands.some((o, i) => {
    const value = instruction.operands[i];
    return o.name === 'cpol' && value?.kind === 'imm' && (value.value & PAST_CACHES) !== 0;
  });
}
