// What every command of the debugger is made of: its session, its line, numbers and places in it.
import { WavesmithError } from '../../../base/index.ts';
import type { DebugLine } from '../../../codeobject/index.ts';
import type { Breakpoint, Watchpoint } from './breakpoints.ts';
import type { Debugger } from './debugger.ts';
import { evaluate } from './look.ts';
import { placesOf } from './places.ts';
import type { Resume } from './stop.ts';

/** What a command works on. */
export interface CommandSession {
  readonly debugger: Debugger;
  readonly print: (text: string) => void;
  /** Expressions that are shown at each stop. */
  readonly displays: { readonly id: number; readonly text: string; readonly format: string; isOff?: boolean }[];
  stopsAtEnd: boolean;
  /** Lines of a source file as the debug information names it; undefined when it cannot be read. */
  readonly sources?: ((file: string) => readonly string[] | undefined) | undefined;
  /** A command may be followed by lines of its own. */
  readonly takesLines?: boolean;
  /** The breakpoint whose commands are being typed. */
  collecting?: { readonly breakpoint: Breakpoint | Watchpoint; readonly lines: string[] } | undefined;
  /** Where `x` without an address goes on, and the letters of its format. */
  examined?: { readonly place: string; readonly letters: string } | undefined;
  /** Whether execution has gone on since the session began. */
  hasGoneOn?: boolean;
  /** The source lines that were listed last since the stop. */
  listed?: { readonly file: string; readonly from: number; readonly to: number } | undefined;
}

/** A command line: its words, all after the first as one text, and what stands behind `/` in the first. */
export interface CommandLine {
  readonly words: readonly string[];
  readonly rest: string;
  readonly format: string;
}

/** Runs another command line. */
export type RunLine = (session: CommandSession, line: string) => Resume | undefined;

export type Run = (session: CommandSession, line: CommandLine, runLine: RunLine) => Resume | undefined;

export interface CommandEntry {
  readonly names: readonly string[];
  readonly usage: string;
  readonly summary: string;
  readonly run: Run;
}

export function bad(message: string, hint?: string): WavesmithError {
  return new WavesmithError('run/bad-command', message, { hint });
}

/** Most commands print at most this many lines, bytes or elements at once. */
export const MOST = 4096;
export const MOST_STEPS = 1_000_000_000;

export function count(text: string | undefined, fallback: number, most: number, what: string): number {
  if (text === undefined) return fallback;
  const value = /^(0x[0-9a-f]{1,8}|\d{1,10})$/i.test(text) ? Number(text) : Number.NaN;
  if (!(value >= 1 && value <= most)) throw bad(`'${text}' is not a number of ${what} from 1 to ${most}.`);
  return value;
}

export const show = (session: CommandSession, lines: readonly string[]): undefined => {
  session.print(lines.join('\n'));
  return undefined;
};

/** The file that a bare number is a line of: the one that was listed last since the stop, else that of the function that is shown. */
export function shownFile({ debugger: d, listed }: CommandSession): string | undefined {
  return listed?.file ?? d.shownFrame?.line?.file;
}

/** Addresses of a place; a bare number below the code is a line of the file that is shown. */
export function places(session: CommandSession, text: string | undefined): readonly number[] {
  const d = session.debugger;
  if (text === undefined) throw bad('A place is missing: an address, a label, +N from the kernel start, or FILE:LINE.');
  // Of gdb: `*ADDRESS`, `$pc`, `$pc + 8`, `($pc) + 8`.
  if (/^(?:[*($]|pc\b)/.test(text)) {
    const value = evaluate(d, text.replace(/^\*/, ''));
    const { symbols } = d.options;
    // What a pointer to a function holds is where the code was loaded.
    const isLoaded = value >= d.codeBase + symbols.first && value < d.codeBase + symbols.end;
    const address = isLoaded ? Number(value) - d.codeBase : value;
    return [symbols.resolveInstruction(`0x${address.toString(16)}`)];
  }
  return placesOf(d.options, text, shownFile(session));
}

/** The first of them. */
export function place(session: CommandSession, text: string | undefined): number {
  return places(session, text)[0] as number;
}

/** A line of a source file with its number, when the file can be read. */
export function sourceLine({ sources }: CommandSession, line: DebugLine | undefined): string | undefined {
  const text = line === undefined ? undefined : sources?.(line.file)?.[line.line - 1];
  return text === undefined ? undefined : `${line?.line}\t${text}`;
}
