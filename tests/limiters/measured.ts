// What `--what-if` says of kernels of the sets that were labelled before it was there, with waves that were cut, or without classes that are worth as much: the label of a chip is the measured one.
// Each entry has the gains; the label that the kernel was written with stays where nothing was measured.
import type { BottleneckClass } from '../../src/profile/analysis/bottleneck-types.ts';
import type { Labels } from './kernels.ts';

/** What was measured of a kernel on a chip. */
export interface Measured {
  /** What it gains most from. */
  readonly gains: string;
  /** Its limiter by that, where it is not the written one. */
  readonly limiter?: BottleneckClass;
  /** Classes worth as much. */
  readonly equals?: readonly BottleneckClass[];
  /** Nothing stands out. */
  readonly balanced?: true;
}

/** The kernels with the labels of `chip` that were measured, by name; every name must be one of a kernel. */
export function measured<T extends Labels>(
  kernels: readonly T[],
  chip: string,
  table: Readonly<Record<string, Measured>>,
): readonly T[] {
  for (const name of Object.keys(table))
    if (!kernels.some((kernel) => kernel.name === name)) throw new Error(`no kernel is called ${name}`);
  return kernels.map((kernel) => {
    const found = table[kernel.name];
    if (found === undefined) return kernel;
    return {
      ...kernel,
      ...(found.limiter && { elsewhere: { ...kernel.elsewhere, [chip]: found.limiter } }),
      ...(found.equals && { equals: { ...kernel.equals, [chip]: found.equals } }),
      ...(found.balanced && { balanced: [...(kernel.balanced ?? []), chip] }),
    };
  });
}
