// Turning text cells into numbers without losing what was wrong with them.
import { demangle } from '../../base/index.ts';

/** A decimal number, or undefined when the text is not exactly one. */
export function number(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const value = Number(text);
  if (!Number.isFinite(value)) return undefined;
  // Number() also takes spaces around and 0x in front; a profiler writes neither.
  const ok = text.charCodeAt(0) > 0x20 && text.charCodeAt(text.length - 1) > 0x20 && text.charCodeAt(1) < 0x58;
  return ok || text.length === 1 || (text.charCodeAt(1) | 0x20) === 0x65 ? value : undefined;
}

/** Counters of the hardware have 64 bits; above this is a negative difference. */
const MOST = 2 ** 63;

/** Whether a counter can have the value: none counts below zero. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value < MOST;
}

/**
 * The value of a counter, which spreadsheets may have given thousands separators ("131,086"). "131.086" may be 131 or 131 thousand: it is no
 * number of a counter of the hardware, which counts whole things; those that profilers derive have small letters in their names.
 */
export function amount(text: string | undefined, name: string): number | undefined {
  if (text === undefined || (/^[0-9]{1,3}\.[0-9]{3}$/.test(text) && !/[a-z]/.test(name.replace(/_sum$/, ''))))
    return undefined;
  const value = /^[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?$/.test(text) ? number(text.replaceAll(',', '')) : number(text);
  return isCount(value) ? value : undefined;
}

/** Counters of the hardware have the name of a block of the GPU in front. */
const HARDWARE =
  /^(?:SQC?|SPI|TA|TD|TCP|TCC|TCA|GRBM|CPC|CPF|CPG|GDS|GL1[AC]|GL2[AC]|GCEA|RLC)_[A-Z0-9_]+(?:\[[0-9]+\])?$/;
/** What pandas adds to the name of a column that there are two of. */
const PANDAS = /(?<=^[A-Z0-9_]+(?:_sum)?)(?:_[xy]|\.[0-9]+)$/i;
/** What the profiler makes of the instances of a counter; it writes this in small letters. */
const OVER_INSTANCES = /_(?:SUM|AVR|AVG|MIN|MAX)$/;

/** Whether the hardware counts what the name says, which makes whole numbers. Means have small letters at the end of their names. */
export function isHardwareCount(name: string): boolean {
  return HARDWARE.test(name.replace(/^[A-Z_]+:|_sum$/g, ''));
}

/** What pandas calls a column that has no name, as that of the numbers of rows. */
export const isUnnamed = (column: string): boolean => /^\s*(?:Unnamed:? *[0-9]*(?:\.[0-9]+)?)?\s*$/i.test(column);

/**
 * A counter's name as profilers write it. Scripts that handle tables write names of the hardware's counters in small letters, too, and with
 * spaces.
 */
export function counterName(text: string): string {
  const name = text.trim().replace(PANDAS, '');
  const upper = name.toUpperCase().replaceAll(' ', '_');
  if (!HARDWARE.test(upper)) return name;
  // There is TCP_UTCL1_STALL_INFLIGHT_MAX, too.
  return upper.replace(name === upper ? /_SUM$/ : OVER_INSTANCES, (found) => found.toLowerCase());
}

/** Whether a cell says that there is no value: empty, or what pandas writes. */
export function isEmptyCell(text: string | undefined): boolean {
  return text === undefined || /^(nan|)$/i.test(text);
}

/** Whether a text is what scripts and spreadsheets write for no value. */
export function isNoValue(text: string): boolean {
  return /^\s*(?:|-|nan|n\/a|#n\/a|<na>|none|null|nil|undefined|#(?:ref|value|name\?|div\/0)!?)\s*$/i.test(text);
}

/** A count or id: a whole number, also one that pandas wrote as 4.0; else -1. */
export function count(text: string | undefined): number {
  return whole(number(text));
}

/** A count or id as databases and JSON have it: a whole number from 0 on that a double holds, else -1. */
export function whole(value: unknown): number {
  const found = typeof value === 'bigint' ? Number(value) : value;
  return Number.isSafeInteger(found) && (found as number) >= 0 ? (found as number) : -1;
}

/**
 * A kernel's symbol or name without the descriptor suffixes that some tools keep. Omniperf 2 cuts `[clone .kd]` off in `pmc_perf.csv`, not the space
 * before it, and leaves both in `timestamps.csv`.
 */
export function kernelSymbol(text: string): string {
  const name = text.trim();
  return !/kd[\])]?$/.test(name.slice(-3)) ? name : name.replace(/\s*(?:\[clone \.kd\]|\(\.kd\)|\.kd)$/, '');
}

/** The kernel's name as it is shown: in C++, without suffixes. */
export function kernelName(text: string): string {
  return demangle(kernelSymbol(text));
}

/**
 * What rocprofv3 makes of a kernel's name with `--truncate-kernels`: the last identifier before the parameters, template arguments and
 * brackets at its end.
 */
export function truncatedName(name: string): string {
  const OPEN: Readonly<Record<string, string>> = { ')': '(', '>': '<', ']': '[' };
  let end = name.length;
  for (let last = name[end - 1]; end > 0; last = name[end - 1]) {
    const open = OPEN[last];
    if (last !== ' ' && open === undefined) break;
    end--;
    for (let depth = open === undefined ? 0 : 1; depth > 0 && end > 0; end--) {
      if (name[end - 1] === last) depth++;
      else if (name[end - 1] === open) depth--;
    }
  }
  const start = Math.max(name.lastIndexOf(' ', end - 1), name.lastIndexOf(':', end - 1)) + 1;
  return name.slice(start, end);
}
