// Shares of what the chip can give that no single metric is: what stores alone can have of the memory, and what a wave takes of the dispatcher.
import { dispatcherOf } from '../arch/chips.ts';
import { isKnown, known, type Measure, unknown } from '../measure.ts';
import type { ClassifierInput } from './bottleneck-types.ts';
import { metricOf } from './metrics.ts';

/**
 * Parts of the data sheet's HBM peak that loads and stores can have, by architecture. Sources: MI300X copies 2.5 to 2.8 TB/s each way of
 * 5.3 TB/s at 64 and 128 MB, MI350 4.9 TB/s in all of 8.0 TB/s, an MI200 die 1.39 of 1.64 TB/s (rocprofiler-compute); what reads and writes
 * share of that is as in src/device/sim/timing/chips.
 */
const READABLE: Readonly<Record<string, number>> = { gfx942: 0.62, gfx950: 0.41 };
const WRITABLE: Readonly<Record<string, number>> = { gfx942: 0.49, gfx950: 0.33 };
export const readable = (arch: string | undefined): number => READABLE[arch ?? ''] ?? 0.85;
export const writable = (arch: string | undefined): number => WRITABLE[arch ?? ''] ?? 0.76;

/** Part of the HBM peak that a kernel reaches which only stores, where it is not what stores have beside loads. */
const STORE_PART: Readonly<Record<string, number>> = { gfx942: 0.55, gfx950: 0.55 };
export const STORE_SOURCE =
  'MI300X: copies of 128 MB move 2.3 TB/s each way, of 1 GB 4.0 TB/s, of 5.3 TB/s (src/device/sim/timing/chips/mi300x.ts); AMD, Omniperf TCC/mi100 and SQ/mi200: a fill of 268 MB has 0.67 of the data sheet on MI100, 0.69 on an MI200 die';

/** What stores alone can have of the HBM peak; one that was measured is what loads and stores reach, not that of the data sheet. */
export function storePart(arch: string | undefined, isMeasured: boolean): number {
  return STORE_PART[arch ?? ''] ?? (isMeasured ? writable(arch) / readable(arch) : writable(arch));
}

/** Of a kernel that mostly stores: its bytes over what stores can have. */
export function storeShare({ metrics, arch, roofline }: ClassifierInput, hbm: Measure): Measure {
  const bytes = (id: string): Measure => metricOf(metrics, id);
  const [read, written] = [bytes('bytes.hbm.read'), bytes('bytes.hbm.write')];
  if (!isKnown(read) || !isKnown(written)) return unknown('the bytes of HBM are not known');
  const part = written.value / Math.max(1, read.value + written.value);
  if (part < 2 / 3) return unknown('the kernel does not mostly store');
  const isMeasured = roofline.points.find(({ level }) => level === 'HBM')?.isMeasured === true;
  return isKnown(hbm) ? known((hbm.value * part) / storePart(arch, isMeasured)) : hbm;
}

/** A share that only a faster dispatcher has, not a kernel whose first cycles are not counted. */
const FASTER = 1.1;

/**
 * Share of the cycles in which the dispatcher of an XCC starts waves; of hardware whose rate was never measured it is unknown. A chip that starts more
 * has a dispatcher of another rate: unknown then.
 */
export function dispatcherShare(
  { xccs = 1, wavesPerGroup, arch, isModelled = false }: ClassifierInput,
  started: Measure,
): Measure {
  if (!isKnown(started)) return started;
  const { wave, workgroup, isMeasured } = dispatcherOf(arch, xccs);
  if (!isMeasured && !isModelled) return unknown(`how many waves the dispatcher of ${arch} starts was not measured`);
  const group = isKnown(wavesPerGroup) ? workgroup / Math.max(1, wavesPerGroup.value) : 0;
  const share = started.value * Math.max(wave, group);
  return share > FASTER
    ? unknown('waves are started faster than this dispatcher is known to')
    : known(Math.min(1, share));
}
