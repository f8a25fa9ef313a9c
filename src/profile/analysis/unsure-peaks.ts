// Peaks that are of another extent than the work: those of a whole package, of which an agent is one partition, and those of one of several
// devices that were measured.
import { packageXccs, productArch } from '../arch/chips.ts';
import type { Recording } from '../recording.ts';
import type { Agent } from '../records.ts';

/** How far the HBM peaks of measured devices may be apart: those of one model differ by less. */
const ALIKE = 0.05;

/** Reports GPUs of which the HBM peak is not certain, among those that work ran on; `given` is one that the user told. */
export function reportUnsurePeaks(r: Recording, used: readonly (Agent | undefined)[], given: number | undefined): void {
  if (given !== undefined || r.simulated !== undefined) return;
  const measured = new Set(r.rooflines.map(({ agent }) => agent));
  const partitions = new Map<string, string[]>();
  for (const agent of used) {
    const xccs = packageXccs(agent?.name);
    if (agent?.xccCount === undefined || xccs === undefined || agent.xccCount >= xccs || measured.has(agent.key))
      continue;
    const what = `${agent.xccCount} of the ${xccs} XCCs of ${agent.name}`;
    partitions.set(what, [...(partitions.get(what) ?? []), agent.key]);
  }
  for (const [what, keys] of partitions) {
    const who = `${keys.join(', ')} ${keys.length > 1 ? 'are partitions' : 'is a partition'}`;
    r.report(
      'profile/unsure-peak',
      r.sources[0]?.path ?? '',
      `${who} with ${what}. The HBM peak is that of the package, which all partitions share: shares of it are too low for one of them.`,
    );
  }
  for (const key of measured) {
    const devices = r.rooflines.filter(({ agent }) => agent === key);
    const peaks = devices.flatMap(({ bandwidths }) => bandwidths.get('HBM') ?? []);
    const [least, most] = [Math.min(...peaks), Math.max(...peaks)];
    if (peaks.length < 2 || most - least <= ALIKE * most) continue;
    r.report(
      'profile/unsure-peak',
      r.sources[0]?.path ?? '',
      `${devices.length} devices were measured, and their HBM peaks go from ${least} to ${most} GB/s. Those of device ${devices[0].device} are used; which device ran the kernels, roofline.csv does not tell.`,
    );
  }
}

/** Reports GPUs whose product has another architecture than the one that is recorded: formulas follow one of the two, peaks the other. */
export function reportUnlikeProducts(r: Recording, used: readonly (Agent | undefined)[]): void {
  for (const agent of used) {
    const named = productArch(agent?.name);
    if (agent?.arch === undefined || named === undefined || named === agent.arch) continue;
    const what = `${agent.key} is called ${agent.name}, which is ${named}, and recorded as ${agent.arch}`;
    r.report(
      'profile/agent-conflict',
      r.sources[0]?.path ?? '',
      `${what}: bytes, FLOPs and peaks of ${agent.arch} are used, and clocks, CUs and recorded bandwidths may be those of another GPU.`,
    );
  }
}
