// Turning text cells into numbers without losing what was wrong with them.
import { Timing } from '../recording.ts';

/** A decimal number, or undefined when the text is not exactly one. */
export function number(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const value = Number(text);
  if (!Number.isFinite(value)) return undefined;
  // Number() also takes spaces around and 0x in front; a profiler writes neither.
  const ok = text.charCodeAt(0) > 0x20 && text.charCodeAt(text.length - 1) > 0x20 && text.charCodeAt(1) < 0x58;
  return ok || text.length === 1 || (text.charCodeAt(1) | 0x20) === 0x65 ? value : undefined;
}

/** A count or id: a number, else -1. */
export function count(text: string | undefined): number {
  const value = number(text);
  return value === undefined || value < 0 || value > Number.MAX_SAFE_INTEGER ? -1 : value;
}

/** A timestamp cell: its value in nanoseconds and whether digits were lost ("8.1097E+14"). */
export interface Timestamp {
  readonly value: number;
  readonly state: number;
}

const SCIENTIFIC = /^([0-9])(?:\.([0-9]+))?[eE]\+?([0-9]+)$/;

/** Parses a timestamp; `state` is a `Timing` value. */
export function timestamp(text: string | undefined): Timestamp {
  const value = number(text);
  if (text === undefined || value === undefined) return { value: 0, state: Timing.ABSENT };
  if (value < 0 || value > Number.MAX_SAFE_INTEGER) return { value: 0, state: Timing.RANGE };
  const scientific = text.length < 24 && /[eE]/.test(text) ? SCIENTIFIC.exec(text) : null;
  if (scientific !== null && (scientific[2]?.length ?? 0) < Number(scientific[3]))
    return { value, state: Timing.ROUNDED };
  return { value, state: Timing.KNOWN };
}

/** The combined state of an interval. */
export function interval(start: Timestamp, end: Timestamp): number {
  if (start.state !== Timing.KNOWN) return start.state;
  if (end.state !== Timing.KNOWN) return end.state;
  if (start.value === 0 && end.value === 0) return Timing.ZERO;
  if (end.value < start.value) return Timing.NEGATIVE;
  return end.value === start.value ? Timing.EQUAL : Timing.KNOWN;
}

/** The kernel's name without the descriptor suffixes that some tools keep. */
export function kernelName(text: string): string {
  return text.replace(/(?: \[clone \.kd\]| \(\.kd\)|\.kd)$/, '');
}
