// Kernels whose code is byte for byte the same, and which nothing else of the two files can make different.
import { kernelCode } from '../check/code.ts';
import type { CodeObject, Kernel } from '../codeobject/index.ts';
import { PRELOAD_STUB } from '../program/index.ts';
import { dataShift, hasSameCodeSections, isSameBytes } from './image.ts';
import { isPositionIndependent } from './position.ts';

/**
 * Whether a kernel of two linked code objects of one target has the same bytes, descriptor and metadata, and can neither find other
 * code nor other data. Its code may have moved when it does the same at every address. Only the baseline is lifted, once.
 */
export function isIdenticalKernel(baseline: CodeObject, edited: CodeObject, before: Kernel, after: Kernel): boolean {
  const [x, y] = [kernelCode(baseline, before), kernelCode(edited, after)];
  if (x === undefined || y === undefined || !isSameBytes(x, y)) return false;
  if (descriptorText(before) !== descriptorText(after) || asText(before.metadata) !== asText(after.metadata))
    return false;
  const shift = dataShift(baseline, edited);
  if (shift === undefined) return false;
  const isInPlace = shift === 0n && before.entry === after.entry && hasSameCodeSections(baseline, edited);
  return isInPlace || (isAligned(after) && isPositionIndependent(baseline, before));
}

/** Whether hardware can begin at a kernel's entry. */
const isAligned = ({ entry }: Kernel): boolean => entry !== undefined && entry % PRELOAD_STUB === 0;

/** A descriptor without where its code begins. */
const descriptorText = ({ descriptor }: Kernel): string => asText({ ...descriptor, kernelCodeEntryByteOffset: 0 });

/** A value with the maps and wide numbers in it, to compare. */
const asText = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) => {
    if (part instanceof Map) return [...part];
    return typeof part === 'bigint' ? `${part}n` : part;
  });
