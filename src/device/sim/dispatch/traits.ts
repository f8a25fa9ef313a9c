// What a kernel's code says about running its workgroups in several threads: results must not depend on how many there are.
import { branchTarget } from '../../../isa/index.ts';
import { semanticsOf } from '../../../isa/semantics/index.ts';
import type { Instruction } from '../../../isa/types.ts';
import type { LoadedCode } from '../interpreter/loaded-code.ts';
import { reachable } from './reachable.ts';
import { isSpinLoop, polledLoops } from './spin.ts';

/** Instructions looked at; a kernel with more counts as one whose order can be seen. */
const LIMIT = 200_000;
/**
 * Atomics that give the same memory in any order, as long as they return nothing and no other kind meets them: integer sums, extremes
 * and bit operations. An addition and a maximum on one address do not commute; nor do words and their pairs.
 */
const COMMUTATIVE = /^[a-z]+_atomic_(add|sub|smin|smax|umin|umax|and|or|xor)(_x2)?$/;

const known = new WeakMap<LoadedCode, Map<number, boolean>>();

/**
 * Whether the order of workgroups can be seen in the results of the kernel at an entry: it uses what global atomics return, swaps, adds
 * floats atomically, mixes kinds of atomics, or waits for other workgroups, or may do so.
 */
export function isOrderVisible(loaded: LoadedCode, entry: number): boolean {
  let answers = known.get(loaded);
  if (answers === undefined) {
    answers = new Map();
    known.set(loaded, answers);
  }
  let answer = answers.get(entry);
  if (answer === undefined) {
    answer = new Search(loaded).finds(entry);
    answers.set(entry, answer);
  }
  return answer;
}

class Search {
  private readonly loaded: LoadedCode;
  /** The kind of the atomics seen so far. */
  private kind: string | undefined;

  constructor(loaded: LoadedCode) {
    this.loaded = loaded;
  }

  finds(entry: number): boolean {
    let count = 0;
    for (const { at, instruction } of reachable(this.loaded, entry)) {
      if (++count > LIMIT || this.isVisible(instruction, at)) return true;
    }
    return polledLoops(this.loaded, entry).length > 0;
  }

  private isVisible(instruction: Instruction, at: number): boolean {
    const { row } = instruction;
    const op = semanticsOf(row.operation);
    if (op?.kind === 'atomic' && op.space !== 'lds') {
      const [, name = '', wide = ''] = COMMUTATIVE.exec(row.operation) ?? [];
      if (name === '' || row.operands.some((o) => o.isOut)) return true;
      const kind = `${name === 'sub' ? 'add' : name}${wide}`;
      this.kind ??= kind;
      return kind !== this.kind;
    }
    if (op?.kind === 'structural' && op.name === 'gridBarrier') return true;
    const target = branchTarget(instruction, at);
    return target !== undefined && target <= at && isSpinLoop(this.loaded, target);
  }
}
