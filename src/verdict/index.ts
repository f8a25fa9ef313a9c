// Room `verdict`: are two results equal? compare.ts compares two arrays, memory.ts all memory of two runs, verdict.ts makes the one
// verdict of what they and others found, text.ts says it.
// Begin with `verdictOf` in verdict.ts.
export {
  type ComparedElement,
  type CompareOptions,
  type Comparison,
  type ComparisonVerdict,
  compareElements,
  comparisonVerdict,
} from './compare.ts';
export {
  type Allocation,
  compareMemory,
  type GapResult,
  gapsOf,
  type MemoryResult,
  type MemoryRun,
  makeContents,
  type PlaceResult,
  type Range,
  type TensorPlace,
  type UnwrittenReads,
  type WrittenBytes,
  worstOf,
} from './memory.ts';
export { comparisonLines, valueText } from './text.ts';
export { CHANGED_BY, CHANGED_SHARE, toleranceOf } from './tolerance.ts';
export {
  type Evidence,
  exitCodeOf,
  type Objection,
  type Verdict,
  type VerdictKind,
  verdictLine,
  verdictOf,
} from './verdict.ts';
