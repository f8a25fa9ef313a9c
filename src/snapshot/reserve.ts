// Whether a process could have a capture's addresses: each range beside what is mapped, from /proc/PID/maps (proc(5)). No GPU is touched.
import { readFileSync } from 'node:fs';
import { WavesmithError } from '../base/index.ts';
import type { Capture } from './capture.ts';
import { labelOf } from './compare.ts';

/** A line of /proc/PID/maps. */
export interface Mapping {
  readonly start: number;
  readonly end: number;
  readonly permissions: string;
  /** File, `[heap]`, `[stack]`; empty for anonymous memory. */
  readonly name: string;
}

export interface ReservedRange {
  readonly label: string;
  readonly address: number;
  readonly size: number;
  /** Why the range cannot be had; undefined when it is free. */
  readonly reason?: string | undefined;
  readonly mapping?: Mapping | undefined;
}

export interface ReserveResult {
  readonly ok: boolean;
  readonly ranges: readonly ReservedRange[];
}

/** User addresses end here with 4-level page tables (Linux, x86-64). */
const USER_END = 2 ** 47;
const PAGE = 4096;

/** Reads the text of /proc/PID/maps; lines that are none are left out. */
export function parseMaps(text: string): Mapping[] {
  return text.split('\n').flatMap((line): Mapping[] => {
    const match = /^([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ \S+ *(.*)$/.exec(line);
    if (match === null) return [];
    const [, start = '', end = '', permissions = '', name = ''] = match;
    return [{ start: Number.parseInt(start, 16), end: Number.parseInt(end, 16), permissions, name }];
  });
}

/** The mappings of a process; `self` is this one. */
export function mappingsOf(pid: number | 'self'): Mapping[] {
  const path = `/proc/${pid}/maps`;
  try {
    return parseMaps(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new WavesmithError('io/read', `Cannot read '${path}': ${(error as Error).message}.`, {
      file: path,
      hint: 'reserve-check needs Linux, and a process of the same user.',
    });
  }
}

/** The address below which nobody may map memory (`vm.mmap_min_addr`). */
function lowestAddress(): number {
  try {
    return Number(readFileSync('/proc/sys/vm/mmap_min_addr', 'utf8'));
  } catch {
    // Where it cannot be asked, Linux's own default holds.
    return 65536;
  }
}

/** Checks the whole of every allocation, and the code object, against mappings. Ranges are whole pages. */
export function checkReserve(capture: Capture, mappings: readonly Mapping[]): ReserveResult {
  const least = lowestAddress();
  const ranges = capture.manifest.memory.allocations.map((allocation): ReservedRange => {
    const address = Math.floor(allocation.address / PAGE) * PAGE;
    const end = Math.ceil((allocation.address + Math.max(allocation.size, 1)) / PAGE) * PAGE;
    const range = { label: labelOf(allocation), address, size: end - address };
    if (address < least) return { ...range, reason: `lies below vm.mmap_min_addr (${least})` };
    if (end > USER_END) return { ...range, reason: 'lies beyond the addresses of user programs (2^47)' };
    const mapping = mappings.find((m) => m.start < end && m.end > address);
    return mapping === undefined ? range : { ...range, reason: 'is in use', mapping };
  });
  return { ok: ranges.every((r) => r.reason === undefined), ranges };
}
