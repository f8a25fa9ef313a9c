// What a kernel's code says about running its workgroups in several threads: results must not depend on how many there are.
import { branchTarget } from '../../../isa/index.ts';
import { semanticsOf } from '../../../isa/semantics/index.ts';
import type { Instruction } from '../../../isa/types.ts';
import type { LoadedCode } from '../interpreter/loaded-code.ts';
import { isSpinLoop } from './spin.ts';

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
 * floats atomically, mixes kinds of atomics, or waits for other workgroups.
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
  private readonly seen = new Set<number>();
  private readonly pending: number[] = [];
  private hasComputedJump = false;
  /** The kind of the atomics seen so far. */
  private kind: string | undefined;

  constructor(loaded: LoadedCode) {
    this.loaded = loaded;
  }

  finds(entry: number): boolean {
    this.pending.push(entry);
    for (let from = this.pending.pop(); from !== undefined; from = this.pending.pop()) {
      if (this.follow(from, Number.POSITIVE_INFINITY)) return true;
    }
    if (!this.hasComputedJump) return false;
    // A computed jump can reach any code of the module.
    const { base } = this.loaded.region;
    return this.loaded.codeRanges.some(([start, end]) => this.sweep(base + start, base + end));
  }

  /** Looks at the code from an address on, to the next unconditional transfer. */
  private follow(from: number, end: number): boolean {
    for (let at = from; at < end && !this.seen.has(at); ) {
      this.seen.add(at);
      const instruction = this.loaded.instructionAt(at);
      if (instruction === undefined) return false;
      if (this.seen.size > LIMIT || this.isVisible(instruction, at)) return true;
      const { flags } = instruction.row;
      const target = branchTarget(instruction, at);
      if (target !== undefined) this.pending.push(target);
      else if (flags.has('isBranch') || flags.has('isCall') || flags.has('isReturn')) this.hasComputedJump = true;
      if (flags.has('isBarrier') || instruction.row.operation === 's_endpgm') return false;
      at += instruction.size;
    }
    return false;
  }

  /** Looks at all code of a range, whatever leads there. */
  private sweep(from: number, end: number): boolean {
    for (let at = from; at < end; ) {
      const instruction = this.loaded.instructionAt(at);
      if (instruction !== undefined && !this.seen.has(at) && this.isVisible(instruction, at)) return true;
      at += instruction?.size ?? 4;
    }
    return false;
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
