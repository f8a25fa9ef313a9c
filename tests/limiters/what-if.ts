// What a kernel gains when one resource of the chip costs half: the check that a kernel has the limiter it was written to have.
import type { Chip, ChipNumbers } from '../../src/device/sim/timing/chip.ts';
import { makeChip } from '../../src/device/sim/timing/chip.ts';
import { chipFile } from '../../src/device/sim/timing/chips/index.ts';
import { isKnown } from '../../src/profile/measure.ts';
import { limiterProfileOn } from './classify.ts';
import type { CompiledKernel } from './compiled.ts';
import type { LimitedKernel } from './kernels.ts';

const twice = (value: number): number => 2 * value;
const half = (value: number): number => value / 2;
const atLeastOne = (value: number): number => Math.max(1, value / 2);

/** Fields of a chip that belong to a limiter, and how each changes. */
const RESOURCES: Readonly<Record<string, readonly (readonly [RegExp, (value: number) => number])[]>> = {
  'memory-bandwidth': [
    [/^(hbm|mall)\.(read|write)Gbps$|^l2\.(channelRate|writeRate)$|^vl1d\.(fill|rate|tags)$/, twice],
  ],
  'memory-latency': [[/^(hbm|mall|l2|vl1d|sl1d)\.latency$|^l2\.storeAck$|^tlb\.(miss|refill)$/, half]],
  compute: [
    [/^class\..*\.issue$/, atLeastOne],
    [/^matrix\.pass$/, half],
  ],
  lds: [
    [/^lds\.rate$/, twice],
    [/^lds\.(extraPass|latency)$/, half],
  ],
  atomics: [[/^l2\.atomicInterval$/, half]],
  'instruction-fetch': [[/^l1i\.miss$/, half]],
  launch: [[/^launch\.|^dispatch\./, half]],
};

function changed(name: string, resource: string): Chip {
  const file = chipFile(name);
  const numbers: ChipNumbers = Object.fromEntries(
    Object.entries(file.numbers).map(([field, [value, source]]) => {
      const change = RESOURCES[resource]?.find(([pattern]) => pattern.test(field))?.[1];
      return [field, [change === undefined ? value : change(value), source]];
    }),
  );
  return makeChip({ ...file, numbers });
}

/** The share of the kernel's time that goes away when a resource costs half, by limiter; most first. Of occupancy it is what a workgroup takes less when there are twice as many. */
export async function whatIf(
  kernel: LimitedKernel | CompiledKernel,
  chip: string,
  compiled?: Uint8Array,
): Promise<readonly (readonly [limiter: string, gain: number])[]> {
  const time = async (on: Chip, launched = kernel): Promise<number> => {
    // From the first start to the last end: what lies between launches is theirs.
    const { spanNs } = (await limiterProfileOn(launched, on, compiled)).criticalPath;
    if (!isKnown(spanNs)) throw new Error(`${kernel.name} has no modelled time`);
    return spanNs.value;
  };
  const base = await time(makeChip(chipFile(chip)));
  const gains: (readonly [string, number])[] = [];
  // Waves are too few where twice as many workgroups do not take twice as long.
  const larger = { ...kernel, groups: 2 * kernel.groups, bytes: 2 * kernel.bytes };
  gains.push(['under-occupied', 1 - (await time(makeChip(chipFile(chip)), larger)) / (2 * base)]);
  for (const name of Object.keys(RESOURCES)) gains.push([name, 1 - (await time(changed(chip, name))) / base]);
  return gains.sort((a, b) => b[1] - a[1]);
}
