// Which bytes of a loaded code object are memory. A kernel changes variables, and a program may change constants (hipMemcpyToSymbol of a
// `__constant__` variable) between loading and a dispatch; instructions stay as they are.
import { readCodeObject, SegmentType } from '../codeobject/index.ts';

/** PF_X and PF_W of a segment. */
const EXECUTABLE = 1;
const WRITABLE = 2;

/** Starts and ends of the instructions, as addresses of a code object whose virtual address 0 is at `base`. */
export function instructionRanges(codeObject: Uint8Array, base: number): (readonly [number, number])[] {
  return readCodeObject(codeObject)
    .elf.segments.filter((s) => s.type === SegmentType.LOAD && (s.flags & EXECUTABLE) !== 0)
    .map((s) => [base + s.virtualAddress, base + s.virtualAddress + s.memorySize] as const);
}

/** What of an address range lies outside of all of these, ascending. */
export function outsideOf(
  ranges: readonly (readonly [number, number])[],
  from: number,
  to: number,
): (readonly [number, number])[] {
  let parts: (readonly [number, number])[] = [[from, to]];
  for (const [start, end] of ranges) {
    parts = parts.flatMap(([a, b]): (readonly [number, number])[] =>
      end <= a || start >= b
        ? [[a, b]]
        : [...(a < start ? [[a, start] as const] : []), ...(end < b ? [[end, b] as const] : [])],
    );
  }
  return parts;
}

/** A part of a code object that no kernel changes. */
export interface Constants {
  readonly from: number;
  readonly to: number;
  /** As the file has them. */
  readonly bytes: Uint8Array;
}

/** The parts without PF_W, instructions included, as addresses of a code object whose virtual address 0 is at `base`. */
export function constantsOf(codeObject: Uint8Array, base: number): Constants[] {
  return readCodeObject(codeObject)
    .elf.segments.filter((s) => s.type === SegmentType.LOAD && (s.flags & WRITABLE) === 0)
    .map((s) => ({
      from: base + s.virtualAddress,
      to: base + s.virtualAddress + s.memorySize,
      bytes: codeObject.subarray(s.offset, s.offset + s.fileSize),
    }));
}
