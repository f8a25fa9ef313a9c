// What a recording says of a GPU and no GPU of its kind has: units of clocks, CUs of a part of it, peaks of another one.
import { CHIPS, hbmPeak, packageXccs, productArch, productCus, productHbmPeak } from '../arch/chips.ts';
import type { Recording } from '../recording.ts';
import type { Agent } from '../records.ts';
import { oddMeasuredPeaks } from './measured-peaks.ts';
import { chipCeilings, peaksOf } from './roofline.ts';

/** Engine clocks in MHz: those of data sheets go from 1,500 to 2,400. */
const CLOCK = [300, 4000] as const;
/** Waves of 32 or 64 lanes that a CU holds: 32 or 40 on CDNA, 64 at most on RDNA. */
const WAVES = [8, 64] as const;
/** A recorded HBM peak over that of the data sheet; memory clocks and channels make up to 13% less or more of it. */
const RECORDED = [0.75, 1.25] as const;
/** A measured HBM peak over that of the data sheet: AMD's published ones are 0.75 to 0.85 of it. */
const MEASURED = [0.5, 1.1] as const;

/** Reports GPUs that work ran on whose numbers are none of their architecture or product. */
export function reportOddMachines(r: Recording, used: readonly (Agent | undefined)[]): void {
  if (r.simulated !== undefined) return;
  for (const agent of used) {
    const named = productArch(agent?.name);
    // A product of another architecture is a finding of its own.
    if (agent === undefined || (named !== undefined && named !== agent.arch)) continue;
    const wrong = [...oddShape(agent), ...oddPeaks(r, agent)].map((what) => `${what}: what needs it is wrong`);
    for (const what of [...wrong, ...oddMeasured(r, agent)]) {
      r.report('profile/odd-machine', r.sources[0]?.path ?? '', `${agent.key} ${what}.`);
    }
  }
}

const isOutside = (value: number | undefined, [least, most]: readonly [number, number]): value is number =>
  value !== undefined && value > 0 && (value < least || value > most);

function oddShape(agent: Agent): string[] {
  const chip = CHIPS[agent.arch ?? ''];
  if (chip === undefined) return [];
  const found: string[] = [];
  const { maxClockMhz, cuCount, l2Channels, name, wavesPerCu } = agent;
  const xccs = agent.xccCount ?? chip.xccs;
  if (isOutside(maxClockMhz, CLOCK)) found.push(`has an engine clock of ${maxClockMhz} MHz`);
  if (isOutside(wavesPerCu, WAVES)) found.push(`has ${wavesPerCu} waves per CU`);
  const most = chip.xccs ?? packageXccs(name) ?? 8;
  if (xccs !== undefined && xccs > most) return [...found, `has ${xccs} XCCs, and ${chip.name} at most ${most}`];
  if (xccs === undefined) return found;
  if (cuCount !== undefined) {
    const cus = cuCount / xccs;
    const known = productCus(name);
    const isOf = known === undefined ? Number.isInteger(cus) && cus <= chip.cusPerXcc : known.includes(cus);
    if (!isOf) {
      const has = known === undefined ? `at most ${chip.cusPerXcc}` : known.join(' or ');
      found.push(`has ${cuCount} CUs in ${xccs} XCCs, and an XCC of ${known === undefined ? chip.name : name} ${has}`);
    }
  }
  if (l2Channels !== undefined && l2Channels !== xccs * chip.l2PerXcc)
    found.push(`has ${l2Channels} L2 channels in ${xccs} XCCs, and ${chip.name} ${chip.l2PerXcc} in each`);
  return found;
}

/** Measured peaks that are not used. */
function oddMeasured(r: Recording, agent: Agent): string[] {
  const measured = r.rooflines.find((roofline) => roofline.agent === agent.key);
  if (measured === undefined) return [];
  const digits = (value: number): number => Number(value.toPrecision(4));
  return oddMeasuredPeaks(measured, peaksOf(chipCeilings(agent))).map(
    ({ id, measured: value, sheet, unit }) =>
      `has ${digits(value)} ${unit} of ${id} as measured (roofline.csv), and by its clocks ${digits(sheet)}; the measured peak is not used`,
  );
}

function oddPeaks(r: Recording, agent: Agent): string[] {
  const sheet = productHbmPeak(agent.name);
  const whole = packageXccs(agent.name);
  // The peak of a partition may be that of its part of the memory.
  if (sheet === undefined || (whole !== undefined && (agent.xccCount ?? whole) < whole)) return [];
  const found: string[] = [];
  const say = (what: string, gbps: number | undefined, [least, most]: readonly [number, number]): void => {
    if (isOutside(gbps, [least * sheet, most * sheet]))
      found.push(`has an HBM peak of ${Number(gbps.toPrecision(4))} GB/s ${what}, and ${agent.name} ${sheet} GB/s`);
  };
  const { memoryClockMhz, hbmChannels } = agent;
  say('as recorded', agent.hbmGbps, RECORDED);
  if (memoryClockMhz !== undefined && hbmChannels !== undefined)
    say(`by its memory clock and ${hbmChannels} channels`, hbmPeak(memoryClockMhz, hbmChannels), RECORDED);
  const measured = r.rooflines.find((roofline) => roofline.agent === agent.key);
  say('as measured (roofline.csv)', measured?.bandwidths.get('HBM'), MEASURED);
  return found;
}
