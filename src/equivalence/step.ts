// What the steps of one instruction share: the pool with its normal forms, and the state before the instruction.
import type { Instruction } from '../isa/types.ts';
import type { CodeInstruction } from '../program/index.ts';
import { Integers } from './integers.ts';
import { Masks } from './masks.ts';
import { Memories } from './memory.ts';
import type { State } from './state.ts';
import { type Term, Terms } from './terms.ts';

/** The pool and the normal forms of one comparison; both programs use the same. */
export class Algebra {
  readonly terms = new Terms();
  readonly integers = new Integers(this.terms);
  readonly masks = new Masks(this.integers);
  readonly memories = new Memories(this.integers);
  /** Address of the argument segment, when the kernel is given one. */
  argumentSegment: Term | undefined;

  /** Whether an address lies at a constant distance from the argument segment. */
  isArgument(address: Term): boolean {
    return this.argumentSegment !== undefined && this.integers.sub(address, this.argumentSegment).op === 'const';
  }
}

/** One instruction while it executes; `state` is changed in place. */
export interface Step {
  readonly algebra: Algebra;
  readonly code: CodeInstruction;
  readonly instruction: Instruction;
  readonly state: State;
  /** EXEC before the instruction. */
  readonly exec: Term;
  /**
   * Subtracted from addresses of the code object, so that both programs name their constants alike. Undefined when that cannot be,
   * because the constant data of the two files differ.
   */
  readonly imageShift: bigint | undefined;
  /** Told the term that an access of memory made, for the comparison of waits. */
  readonly onAccess: (code: CodeInstruction, term: Term) => void;
}

/** Where control goes after an instruction; undefined: to the next one. */
export type Outcome =
  | { readonly kind: 'branch'; readonly condition: Term }
  | { readonly kind: 'jump'; readonly target: Term }
  | { readonly kind: 'end'; readonly how: string }
  | undefined;
