// Room `optimize`: kernels made faster and nothing else. The ladder that every candidate climbs is evaluate/, the record of what was tried
// is ledger/. Begin with evaluate/ladder.ts.
export { Evaluator, type EvaluatorOptions, optionsHash, timeText } from './evaluate/ladder.ts';
export {
  CLASSES,
  type EquivalenceClass,
  type Evaluation,
  type EvaluationKey,
  LADDER_VERSION,
  LEAST_SPEEDUP,
  RUNGS,
  type Rung,
  type RungRecord,
  SMALL_SPEEDUP,
  type TimeComparison,
} from './evaluate/types.ts';
export { evaluationKey, Ledger, type Origin } from './ledger/ledger.ts';
export { movesOf } from './moves/moves.ts';
export { KernelView, MOVE_KINDS, type Move, type MoveKind } from './moves/view.ts';
export { searchMoves } from './search/search.ts';
export type { SearchOptions, SearchResult, Step } from './search/state.ts';
