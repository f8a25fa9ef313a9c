// Times of a recording: exact differences of timestamps of any size, and why a time cannot be used.
import { isEmptyCell, number } from './readers/values.ts';

/** Why a dispatch's times cannot be used; index = value of the `timing` column. */
export const TIMING_REASONS = [
  '',
  'timestamps are rounded to too few digits',
  'a timestamp is zero',
  'the end timestamp is before the start',
  'no timestamps were recorded',
  'timestamps are outside the range that can be represented exactly',
  'start and end timestamps are equal',
  'simulated; how long the simulator took says nothing about a GPU',
  'timestamps are no whole nanoseconds, so their unit is another one',
  'a timestamp is no number',
  'timestamps are of another pass than those of the dispatches beside them',
] as const;

export const Timing = {
  KNOWN: 0,
  ROUNDED: 1,
  ZERO: 2,
  NEGATIVE: 3,
  ABSENT: 4,
  RANGE: 5,
  EQUAL: 6,
  SIMULATED: 7,
  FRACTION: 8,
  UNREADABLE: 9,
  OTHER_PASS: 10,
} as const;

/** A timestamp: nanoseconds after the recording's origin, and whether digits were lost ("8.1097E+14"). */
interface Timestamp {
  readonly value: number;
  readonly state: number;
}

const SCIENTIFIC = /^([0-9])(?:\.([0-9]+))?[eE]\+?([0-9]+)$/;
/** From here on, times are kept relative to an origin: a host that is up for 52 days has them. */
const FAR = 2 ** 52;
/** How far before the first timestamp the origin is: 13 days. */
const ROOM = 1n << 50n;
const ABSENT: Timestamp = { value: 0, state: Timing.ABSENT };
const RANGE: Timestamp = { value: 0, state: Timing.RANGE };
const UNREADABLE: Timestamp = { value: 0, state: Timing.UNREADABLE };

/** Profilers write 64-bit times; all ones is what is written for none. */
const NONE = (1n << 64n) - 1n;
/** An interval longer than a day does not choose the origin: one of its times may be damaged. */
const DAY = 86_400n * 10n ** 9n;

/**
 * Makes timestamps of any size numbers that are subtracted exactly. The first interval of at most a day chooses the origin: 0, or for times
 * near 2^53 ns and beyond one a little before it. Times more than 2^53 ns from the origin are `Timing.RANGE`. A zero says that there is no
 * time, and stays a zero.
 */
export class Clock {
  private origin: bigint | undefined;

  /** Start and end of something from the cells of a file: text, numbers, bigints; anything else is no time. */
  interval(from: unknown, to: unknown): { readonly start: number; readonly end: number; readonly state: number } {
    const a = cell(from);
    const b = cell(to);
    // Nearly all intervals of nearly all recordings; the rest says what is wrong with the others.
    if (
      this.origin === 0n &&
      typeof a.time === 'number' &&
      typeof b.time === 'number' &&
      a.state + b.state === Timing.KNOWN
    ) {
      if (a.time > 0 && b.time > a.time && b.time < FAR) return { start: a.time, end: b.time, state: Timing.KNOWN };
    }
    if (this.origin === undefined && a.time !== undefined && b.time !== undefined) {
      const [first, last] = [BigInt(a.time), BigInt(b.time)];
      if (first > 0n && last >= first && last - first <= DAY && last < NONE)
        this.origin = first < FAR ? 0n : first - ROOM;
    }
    const [start, end] = [this.place(a), this.place(b)];
    const state = stateOf(start, end);
    const known = state !== Timing.ABSENT && state !== Timing.RANGE && state !== Timing.UNREADABLE;
    return known ? { start: start.value, end: end.value, state } : { start: 0, end: 0, state };
  }

  private place({ time, state }: Cell): Timestamp {
    if (time === undefined) return state === Timing.UNREADABLE ? UNREADABLE : ABSENT;
    if (time < 0 || time >= NONE) return RANGE;
    const origin = this.origin ?? 0n;
    const exact = typeof time === 'number' && (origin === 0n || time === 0);
    const value = exact ? time : time === 0n ? 0 : Number(BigInt(time) - origin);
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return RANGE;
    return { value, state };
  }
}

/** A timestamp as a file has it: an integer, in a number where that is exact; KNOWN, ROUNDED, FRACTION or UNREADABLE. */
interface Cell {
  readonly time: number | bigint | undefined;
  readonly state: number;
}

function cell(value: unknown): Cell {
  if (typeof value === 'string') return textCell(value);
  if (typeof value === 'bigint') return { time: value, state: Timing.KNOWN };
  return typeof value === 'number' && Number.isFinite(value) ? whole(value) : { time: undefined, state: Timing.KNOWN };
}

/** A timestamp with a fraction is in seconds or microseconds. */
function whole(value: number): Cell {
  const time = Math.floor(value);
  return { time, state: time === value ? Timing.KNOWN : Timing.FRACTION };
}

function textCell(text: string): Cell {
  const value = number(text);
  if (value === undefined) return { time: undefined, state: isEmptyCell(text) ? Timing.KNOWN : Timing.UNREADABLE };
  if (/[eE]/.test(text)) {
    const scientific = text.length < 24 ? SCIENTIFIC.exec(text) : null;
    const rounded = scientific !== null && (scientific[2]?.length ?? 0) < Number(scientific[3]);
    return { time: Math.floor(value), state: rounded ? Timing.ROUNDED : Timing.KNOWN };
  }
  if (value >= FAR && /^[0-9]+$/.test(text)) return { time: BigInt(text), state: Timing.KNOWN };
  // A fraction shows that something kept the time in a double, which has no single nanoseconds there.
  return value > Number.MAX_SAFE_INTEGER ? { time: Math.floor(value), state: Timing.ROUNDED } : whole(value);
}

/** The combined state of an interval. */
function stateOf(start: Timestamp, end: Timestamp): number {
  if (start.state !== Timing.KNOWN) return start.state;
  if (end.state !== Timing.KNOWN) return end.state;
  if (start.value === 0 || end.value === 0) return Timing.ZERO;
  if (end.value < start.value) return Timing.NEGATIVE;
  return end.value === start.value ? Timing.EQUAL : Timing.KNOWN;
}
