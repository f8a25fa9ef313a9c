// What a search is asked for, what it gives, and what it has while it runs.
import type { Evaluation } from '../evaluate/types.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { KernelView, Move, MoveKind } from '../moves/view.ts';
import type { Elsewhere } from './judge.ts';

export interface SearchOptions {
  /** First looks that may be made. */
  readonly budget: number;
  /** Candidates that a round goes on with. */
  readonly beam: number;
  /** `mcts`: Monte-Carlo tree search over sequences of moves, drawn with `seed`; a beam by default. */
  readonly method?: 'beam' | 'mcts' | undefined;
  readonly seed?: number | undefined;
  /** Kinds of moves; all by default. */
  readonly kinds?: readonly MoveKind[] | undefined;
  readonly ledger?: Ledger | undefined;
  readonly onLook?: ((done: number, budget: number, best: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Who evaluates; this thread by default. */
  readonly elsewhere?: Elsewhere | undefined;
}

/** A move that was kept. */
export interface Step {
  readonly moves: readonly { readonly kind: MoveKind; readonly pc: number; readonly text: string }[];
  /** What a language model said of its change. */
  readonly reason?: string | undefined;
  readonly hash: string;
  /** Modelled nanoseconds of the captured launch behind it. */
  readonly nanoseconds: number;
  /** Unified diff to the step before. */
  readonly diff: string;
  /** What the ladder said of it. */
  readonly verdict: Evaluation['verdict'];
  readonly reached: Evaluation['reached'];
}

export interface SearchResult {
  /** The best candidate's climb of the whole ladder; undefined when no move was worth anything. */
  readonly evaluation: Evaluation | undefined;
  readonly code: Uint8Array | undefined;
  readonly steps: readonly Step[];
  /** Modelled nanoseconds before and after. */
  readonly nanoseconds: readonly [before: number, after: number];
  readonly looks: number;
  readonly climbs: number;
  /** Candidates by what became of them: `faster`, `no gain`, or the rung that rejected. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly isBudgetUsed: boolean;
}

/** A candidate on the beam. */
export interface State {
  readonly code: Uint8Array;
  readonly nanoseconds: number;
  /** Cycles that waves stand at each instruction, by its offset; where most is to be gained. */
  readonly stalls: ReadonlyMap<number, number>;
  readonly steps: readonly Step[];
  readonly evaluation: Evaluation | undefined;
}

export interface Tried {
  readonly from: State;
  readonly moves: readonly Move[];
  readonly code: Uint8Array;
  readonly nanoseconds: number;
}

/** A search as its methods see it. */
export interface Surroundings {
  /** The budget is used up, or somebody wants it to end. */
  readonly isSpent: boolean;
  /** The moves of a state, those at the longest stalls first. */
  movesAt(state: State): { readonly view: KernelView; readonly moves: readonly Move[] };
  /** First looks at a state with each of several sets of moves; those that are worth something. */
  look(from: State, view: KernelView, sets: readonly (readonly Move[])[], best: State): Promise<Tried[]>;
  /** The best of some that are right, at most so many: they climb the whole ladder. */
  keep(tried: readonly Tried[], places: number): Promise<State[]>;
}
