// The functions on a wave's stack: those that wait for one that they called, and those that the compiler put into others (inlined).
// One place in the code has a function that it belongs to and those inlined there, the innermost first. Where an inlined function begins
// it may be hidden, as debuggers do: execution then stands at its call.
import type { DebugFrame, DebugInfo, DebugLine, DebugLines } from '../../../codeobject/index.ts';

/** What is known of the source of a code object. */
export interface SourceFacts {
  readonly lines: DebugLines | undefined;
  readonly info: DebugInfo | undefined;
}

/** A function on a wave's stack. */
export interface Frame {
  /** Address of its next instruction, or of the call that it waits for, in the file. */
  readonly pc: number;
  /** Its name in the source; undefined without debug information. */
  readonly name: string | undefined;
  /** The same function, and the same inlined call of it, wherever it is met. */
  readonly key: number | undefined;
  readonly isInlined: boolean;
  /** Where it is; of a function that others are inlined into: the line of their call. */
  readonly line: DebugLine | undefined;
  /** Calls outwards from the innermost function that was really called. */
  readonly level: number;
  /** Functions at `pc` that are inlined further inside. */
  readonly inlined: number;
}

/** The functions at an address, the innermost first; one without a name where there is no debug information. `hidden` ones are left out. */
export function framesAt({ lines, info }: SourceFacts, pc: number, level: number, hidden: number): Frame[] {
  const chain = info?.frames(pc) ?? [];
  const own = lines?.at(pc);
  if (chain.length === 0) {
    return [{ pc, name: undefined, key: undefined, isInlined: false, line: own, level, inlined: 0 }];
  }
  const all = chain.map(({ name, key, isInlined }, inlined): Frame => {
    const call = chain[inlined - 1]?.call;
    const line = inlined === 0 ? own : call === undefined ? undefined : lines?.lineOf(call);
    return { pc, name: name === '' ? undefined : name, key, isInlined, line, level, inlined };
  });
  return all.slice(Math.min(hidden, all.length - 1));
}

/** How many inlined functions begin at an address, from the innermost outwards. */
export function beginningAt(info: DebugInfo | undefined, pc: number): number {
  const chain = info?.frames(pc) ?? [];
  const other = chain.findIndex((f) => !f.isInlined || f.begins !== pc);
  return other < 0 ? chain.length : other;
}

/**
 * How many inlined functions that begin at an address are not meant by a place, as it was written: of a line those inside the function that it is of, of a
 * function those inside it. An address means the innermost one. Source: gdb, stopped_by_user_bp_inline_frame.
 */
export function hiddenAt(facts: SourceFacts, pc: number, meant: string | undefined): number {
  const begin = meant === undefined || /^\s*\*|^\s*0x|\+(?:0x)?\d+\s*$/i.test(meant) ? 0 : beginningAt(facts.info, pc);
  if (meant === undefined || begin === 0) return 0;
  const frames = framesAt(facts, pc, 0, 0).slice(0, begin + 1);
  const line = /(?:^|:)\s*(\d+)\s*$/.exec(meant)?.[1];
  if (line !== undefined)
    return Math.max(
      0,
      frames.findIndex((frame) => frame.line?.line === Number(line)),
    );
  const name = lastName(meant);
  const found = frames.findIndex((frame) => lastName(frame.name ?? '') === name);
  return found < 0 ? begin : found;
}

/** The name of a function without what is around it, arguments and parameters. */
const lastName = (text: string): string => text.replace(/(?:<.*>)?(?:\([^()]*\).*)?$/, '').replace(/^.*[:\s]/, '');

/** `file:line`. */
export const lineText = (line: DebugLine | undefined): string | undefined =>
  line === undefined ? undefined : `${line.file}:${line.line}`;

/** An address as a function sees it. */
export interface SeenPlace {
  /** Functions between it and the innermost one there: 0 when it is the innermost; undefined when it is not there. */
  readonly inside: number | undefined;
  /** Its line; of the call, when another function is inlined there. */
  readonly line: string | undefined;
  /** The function that it calls, when another one is inlined there. */
  readonly called: DebugFrame | undefined;
}

/** How the function of a key sees an address; an unknown function sees what the line table says. */
export function seenFrom({ lines, info }: SourceFacts, key: number | undefined, pc: number): SeenPlace {
  const chain = key === undefined ? [] : (info?.frames(pc) ?? []);
  const inside = chain.findIndex((f) => f.key === key);
  if (inside <= 0) return { inside: inside < 0 ? undefined : 0, line: lineText(lines?.at(pc)), called: undefined };
  const called = chain[inside - 1];
  const line = called?.call === undefined ? undefined : lines?.lineOf(called.call);
  return { inside, line: lineText(line), called };
}
