// Where a step by source lines ends. Calls that the compiler inlined are calls: `next` runs over them, `step` stops at them and goes in,
// `finish` runs out of them. Source: gdb's manual, "Inline Functions" and "Continuing and Stepping".
import { beginningAt, type SourceFacts, seenFrom } from './frames.ts';

/** Where a step began. */
export interface StepStart {
  readonly pc: number;
  /** Calls that had not returned. */
  readonly depth: number;
  /** The function as frames.ts names it, and the line where it stood, `file:line`. */
  readonly key: number | undefined;
  readonly line: string | undefined;
}

/** Where a step ends: how many functions that begin there are hidden, so that execution stands at their call. */
export interface StepEnd {
  readonly hidden: number;
}

/** Whether a step by lines ends before the instruction at `pc`, in so many calls. `over`: calls are run to their return. */
export function lineStepEnds(
  source: SourceFacts,
  start: StepStart,
  pc: number,
  depth: number,
  over: boolean,
): StepEnd | undefined {
  const plain = seenFrom(source, undefined, pc).line;
  if (depth !== start.depth) {
    if (depth > start.depth && over) return undefined;
    return plain === undefined ? undefined : { hidden: beginningAt(source.info, pc) };
  }
  const { inside, line, called } = seenFrom(source, start.key, pc);
  const isEntered = inside !== undefined && isBeginOf(source, start.key, pc);
  if (start.key === undefined) return plain !== undefined && plain !== start.line ? { hidden: 0 } : undefined;
  // The function has been left, or it is another round of the same inlined call.
  if (inside === undefined || isEntered) {
    return plain === undefined ? undefined : { hidden: beginningAt(source.info, pc) };
  }
  if (inside === 0) return line !== undefined && line !== start.line ? { hidden: 0 } : undefined;
  if (called?.begins === pc) {
    if (line !== start.line) return { hidden: inside };
    return over ? undefined : { hidden: inside - 1 };
  }
  return over || plain === undefined || plain === start.line ? undefined : { hidden: beginningAt(source.info, pc) };
}

function isBeginOf({ info }: SourceFacts, key: number | undefined, pc: number): boolean {
  const own = info?.frames(pc).find((f) => f.key === key);
  return own?.isInlined === true && own.begins === pc;
}

/** Whether going back by lines ends before the instruction at `pc`; `before` is the wave's instruction before that one. */
export function lineStepBackEnds(
  source: SourceFacts,
  start: StepStart,
  pc: number,
  before: number | undefined,
  depth: number,
  over: boolean,
): boolean {
  if (over && depth > start.depth) return false;
  const key = over && depth === start.depth ? start.key : undefined;
  const now = seenFrom(source, key, pc);
  if (now.line === undefined) return false;
  if (now.called !== undefined && now.called.begins !== pc) return false;
  return before === undefined || now.line !== seenFrom(source, key, before).line;
}

/** What `finish` leaves: a function that was called, or one that was inlined. */
export interface Left {
  /** Calls that had not returned, this one included. */
  readonly depth: number;
  /** Of an inlined function. */
  readonly key: number | undefined;
}

/** Whether a function has been left before the instruction at `pc`. */
export function isLeft({ info }: SourceFacts, { depth, key }: Left, pc: number, now: number): boolean {
  if (now !== depth || key === undefined) return now < depth;
  return info?.frames(pc).every((f) => f.key !== key) !== false;
}
