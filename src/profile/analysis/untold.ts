// What an input does not tell and everything else needs: which architecture counters are of, and what kernels are called.

import { METRICS } from '../arch/metrics.ts';
import type { KernelEntry } from '../document.ts';
import { isKnown } from '../measure.ts';
import { isNoValue } from '../readers/values.ts';
import type { Recording } from '../recording.ts';
import type { Agent } from '../records.ts';

const UNCOLLECTED = 'not collected';
/** What scripts write for no value is not longer. */
const LONGEST = 12;

/** Why nothing can be said of what to change, in words; `used` are the GPUs that work ran on, and the kernels are those of most time first. */
export function whyNoChange(
  r: Recording,
  used: readonly (Agent | undefined)[],
  kernels: readonly KernelEntry[],
): string {
  const hasEvidence = r.counters.size > 0 || r.samples.size > 0 || r.traces.length > 0;
  if (kernels.length === 0) return 'unknown, as nothing is known of kernels';
  if (!hasEvidence) {
    return 'unknown, as no counters were recorded, which tell what limits a kernel: `wavesmith profile -- PROGRAM` collects them';
  }
  const archs = new Set(used.map((agent) => agent?.arch));
  if ([...archs].some((arch) => METRICS[arch ?? ''] !== undefined)) {
    const { totalNs } = kernels[0];
    if (!isKnown(totalNs)) return `unknown, as the times of kernels are: ${totalNs.unknown}`;
    const missing = kernels[0].bottleneck.undecided.find(({ reason }) => reason.startsWith(UNCOLLECTED));
    if (missing === undefined) return 'nothing, as far as the evidence goes';
    return `unknown, as far as the evidence goes: what would tell ${missing.class} of ${kernels[0].name} was ${missing.reason}`;
  }
  const known = [...archs].filter((arch) => arch !== undefined);
  if (known.length === 0) return 'unknown, as the architecture of the GPU is not recorded: give it, as --arch gfx942';
  return `unknown, as there are no formulas for the counters of ${known.join(', ')}`;
}

/** Reports kernels whose name is what scripts write for none: those of several kernels may be shown as one. */
export function reportUnnamedKernels(r: Recording): void {
  if (r.findings.some(({ rule }) => rule === 'profile/unnamed-kernel')) return;
  for (const name of r.kernels.values) {
    if (name.length > LONGEST || !isNoValue(name)) continue;
    const called = name === '' ? 'have no name' : `are called '${name}', which is no name`;
    r.report(
      'profile/unnamed-kernel',
      r.sources[0]?.path ?? '',
      `The kernels of some dispatches ${called}: several may be shown as one.`,
    );
  }
}
