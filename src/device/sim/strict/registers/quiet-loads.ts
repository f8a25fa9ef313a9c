// Loads of LDS in barrier intervals in which no code writes LDS, and that have come back before the next barrier: nobody can race with them, and nobody needs to know
// who has read. Kernels that fill a tile or a table, and read it behind a barrier, have only such loads.
import { branchTarget } from '../../../../isa/index.ts';
import { semanticsOf } from '../../../../isa/semantics/index.ts';
import type { Instruction } from '../../../../isa/types.ts';
import { waitCounts } from '../../../../program/index.ts';
import { reachable } from '../../dispatch/reachable.ts';
import type { LoadedCode } from '../../interpreter/loaded-code.ts';

/** Of the loads of LDS of a kernel, addresses; `late` is undefined where any of them may be. */
interface LdsLoads {
  readonly quiet: ReadonlySet<number>;
  readonly late: ReadonlySet<number> | undefined;
}

const known = new WeakMap<LoadedCode, Map<number, LdsLoads>>();
const UNKNOWN: LdsLoads = { quiet: new Set(), late: undefined };

/**
 * Addresses of the loads of LDS that lie in quiet intervals only, and on no way to the next s_barrier without a wait for all of LDS, of the kernel that begins at `entry`.
 * Intervals begin there and behind each s_barrier, and end at the next ones. It holds for wavefronts that have come from the same s_barrier. None where jumps go to computed addresses.
 */
export function quietLoads(loaded: LoadedCode, entry: number): ReadonlySet<number> {
  return ldsLoads(loaded, entry).quiet;
}

/** Whether the load of LDS, or the flat one, at an address is on a way to an s_barrier without a wait for all of LDS: it may be outstanding there. Any is where jumps go to computed addresses. */
export function isLateLoad(loaded: LoadedCode, entry: number, at: number): boolean {
  return ldsLoads(loaded, entry).late?.has(at) ?? true;
}

/** Whether it depends on the kernel what is said of loads: some are said to be quiet, or late. */
export function hasLdsLoads(loaded: LoadedCode, entry: number): boolean {
  const { quiet, late } = ldsLoads(loaded, entry);
  return quiet.size > 0 || late === undefined || late.size > 0;
}

function ldsLoads(loaded: LoadedCode, entry: number): LdsLoads {
  const answers = known.get(loaded) ?? new Map<number, LdsLoads>();
  known.set(loaded, answers);
  const answer = answers.get(entry) ?? findLdsLoads(loaded, entry);
  answers.set(entry, answer);
  return answer;
}

function findLdsLoads(loaded: LoadedCode, entry: number): LdsLoads {
  /** Where each instruction goes, and where those come from that are no barriers. */
  const next = new Map<number, readonly number[]>();
  const before = new Map<number, number[]>();
  /** The same of those that a load can still be outstanding behind. */
  const leaving = new Map<number, number[]>();
  const [writers, loads, flat, begins, ends]: [number[], number[], number[], number[], number[]] = [
    [],
    [],
    [],
    [entry],
    [],
  ];
  for (const { at, instruction } of reachable(loaded, entry)) {
    const { flags, operation } = instruction.row;
    const target = branchTarget(instruction, at);
    const isComputed = target === undefined && (flags.has('isBranch') || flags.has('isCall') || flags.has('isReturn'));
    if (isComputed && operation !== 's_endpgm') return UNKNOWN;
    const isEnd = operation === 's_endpgm' || flags.has('isBarrier');
    const to = [...(target === undefined ? [] : [target]), ...(isEnd ? [] : [at + instruction.size])];
    if (operation === 's_barrier') {
      begins.push(...to);
      ends.push(at);
      continue;
    }
    next.set(at, to);
    const drains = operation === 's_waitcnt' && waitCounts(instruction).lgkm === 0;
    for (const one of to) {
      before.set(one, [...(before.get(one) ?? []), at]);
      if (!drains) leaving.set(one, [...(leaving.get(one) ?? []), at]);
    }
    const kind = kindOf(instruction);
    if (kind === 'writes') writers.push(at);
    if (kind === 'reads') loads.push(at);
    if (kind === 'may read') flat.push(at);
  }
  const leadsToWriter = closure(writers, before);
  const isLoud = closure(
    begins.filter((at) => leadsToWriter.has(at)),
    next,
  );
  const isLate = closure(ends, leaving);
  return {
    quiet: new Set(loads.filter((at) => !isLoud.has(at) && !isLate.has(at))),
    late: new Set([...loads, ...flat].filter((at) => isLate.has(at))),
  };
}

/** All that can be reached from some addresses, themselves included. */
function closure(from: readonly number[], to: ReadonlyMap<number, readonly number[]>): Set<number> {
  const seen = new Set(from);
  const pending = [...from];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    for (const one of to.get(at) ?? []) {
      if (seen.has(one)) continue;
      seen.add(one);
      pending.push(one);
    }
  }
  return seen;
}

/** Instructions of LDS hardware that have nothing to do with its memory. */
const MOVES = /^ds_(?:permute|bpermute|swizzle)_/;

/** What an instruction may do to LDS; what is not known to leave it alone may write it. */
function kindOf(instruction: Instruction): 'reads' | 'may read' | 'writes' | 'nothing' {
  const { operation, template } = instruction.row;
  const op = semanticsOf(operation);
  if (/ lds$/.test(template)) return 'writes';
  switch (op?.kind) {
    case 'load':
      if (op.toLds) return 'writes';
      return op.space === 'lds' ? 'reads' : op.space === 'flat' ? 'may read' : 'nothing';
    case 'store':
    case 'atomic':
      return op.space === 'lds' || op.space === 'flat' ? 'writes' : 'nothing';
    default:
      return operation.startsWith('ds_') && !MOVES.test(operation) ? 'writes' : 'nothing';
  }
}
