// The flags of V8 that Wavesmith changes, and how to take the changes back.
import { setFlagsFromString } from 'node:v8';

/** The version that ships relaxed SIMD. Measured: 11.3 (Node 20.20) needs the flag, 12.4 (Node 22) needs none and has none. */
const SHIPS_RELAXED_SIMD = [11, 4] as const;

/** The flags that this thread has set, each with the flag of V8's own value. */
const changes: { readonly flag: string; readonly back: string }[] = [];

/** Whether the command is one of those that `optimizeLess` is for. */
let isShort = false;

/** Whether the command ends within a second or two, in one thread, and leaves nothing behind that must still run. */
export function isShortCommand(): boolean {
  return isShort;
}

/** Sets a flag, once; `back` is the flag of V8's own value. Code that is compiled from here on obeys it. */
function setFlag(flag: string, back: string): void {
  if (changes.some((change) => change.flag === flag)) return;
  setFlagsFromString(flag);
  changes.push({ flag, back });
}

/** Whether V8 has the flags of Node 20, which later versions do not know and complain about. */
function hasOldFlags(): boolean {
  const [major = 0, minor = 0] = process.versions.v8.split('.').map(Number);
  const [first, second] = SHIPS_RELAXED_SIMD;
  return major < first || (major === first && minor < second);
}

const RELAXED_SIMD = { flag: '--experimental-wasm-relaxed-simd', back: '--no-experimental-wasm-relaxed-simd' };

/** Turns relaxed SIMD on where it is behind a flag (Node 20). It must be on whenever a module that uses it is compiled. */
export function enableRelaxedSimd(): void {
  if (hasOldFlags()) setFlag(RELAXED_SIMD.flag, RELAXED_SIMD.back);
}

/** Sets a flag back to V8's own value, if this thread has set it. */
function takeBack(flag: string): void {
  const at = changes.findIndex((change) => change.flag === flag);
  if (at < 0) return;
  setFlagsFromString((changes[at] as { back: string }).back);
  changes.splice(at, 1);
}

/**
 * Takes that back, for the whole process: a thread that begins takes Node's own compiled code only then, and is there after 25 ms instead of 50.
 * Only for a process in which no other thread compiles meanwhile.
 */
export function disableRelaxedSimd(): void {
  takeBack(RELAXED_SIMD.flag);
}

/** V8 optimizes a function after so many units of work in it; its own value is that of V8 11.3. */
const OPTIMIZES_LATER = { flag: '--interrupt-budget=260000', back: '--interrupt-budget=67584' };

/**
 * Does something that takes a part of a second while V8 waits longer before it optimizes functions; where that is not the case already. V8 reads this flag in the
 * thread that runs the function. Measured on Node 20: the first dispatch of a kernel of 256 ifs takes 190 ms of its own thread with or without, and all threads
 * together 380 instead of 560.
 */
function optimizingLater<T>(work: () => T): T {
  if (!hasOldFlags() || changes.some(({ flag }) => flag === OPTIMIZES_LATER.flag)) return work();
  setFlag(OPTIMIZES_LATER.flag, OPTIMIZES_LATER.back);
  try {
    return work();
  } finally {
    takeBack(OPTIMIZES_LATER.flag);
  }
}

/** Has V8 take and compile what the virtual GPU writes: for `aroundCompiling`. */
export function compileSimCode<T>(compile: () => T): T {
  enableRelaxedSimd();
  return optimizingLater(compile);
}

/**
 * Asks V8 to inline less and to optimize later, for commands that end within a second or two: they spend a third of their
 * processor time in the optimizing compiler, most of it on code inlined into code. Measured on Node 20 (V8 11.3) with a code object of 119,000
 * instructions: `asm` and `disasm --listing` take 1/4 less processor time, `disasm` 1/6 less; `asm` of 900,000 lines is as
 * fast as before. V8's own limit is 920 bytes of bytecode, of all functions inlined into one. The limit of one function must not be lowered: V8's compiling
 * thread ends the process when a function exceeds it that did not a moment before. A lower one saved 0 to 1.3% more. Asking for optimization after 260,000
 * instead of 67,584 units of work saves another 5 to 10 percent of the same commands. Both together save 17% of `check` and
 * `hijack build`, 24% of `diff` and 29% of `hijack init` on the largest inputs there are, and 40% of instrumenting the largest kernel. Collecting garbage in one go instead of
 * step by step beside the work saves another 5% of `disasm --listing`; nobody waits for a step. Call it before
 * the work begins.
 */
export function optimizeLess(): void {
  isShort = true;
  setFlag('--no-incremental-marking', '--incremental-marking');
  setFlag('--max-inlined-bytecode-size-cumulative=120', '--max-inlined-bytecode-size-cumulative=920');
  if (hasOldFlags()) setFlag(OPTIMIZES_LATER.flag, OPTIMIZES_LATER.back);
}

/**
 * Does something while every flag has V8's own value: V8 takes compiled code from a cache only when the flags are those of its
 * making.
 */
export function withOwnFlags<T>(work: () => T): T {
  for (const { back } of changes) setFlagsFromString(back);
  try {
    return work();
  } finally {
    for (const { flag } of changes) setFlagsFromString(flag);
  }
}
