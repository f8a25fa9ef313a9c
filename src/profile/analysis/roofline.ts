// The roofline of a chip and the place of kernels on it. Source of the model: Williams, Waterman, Patterson (CACM 2009);
// peaks measured by rocprof-compute where there are any, else from arch/chips.ts; both the one-operation and the packed FP32 roof are carried.
import { CHIPS, hbmPeak, productArch, productHbmPeak } from '../arch/chips.ts';
import { combine, isKnown, known, type Measure, numberOf, ratio, unknown } from '../measure.ts';
import type { Agent, MeasuredRoofline } from '../records.ts';
import { usedPeaks } from './measured-peaks.ts';
import { commonCover, type MetricSum } from './metrics.ts';

export const LEVELS = ['HBM', 'L2', 'L1', 'LDS'] as const;
/** On the virtual GPU: the bytes that instructions asked for, wherever they would come from. */
export const SIMULATED_LEVELS = ['Requested', ...LEVELS] as const;
export type Level = (typeof SIMULATED_LEVELS)[number];

/** A bandwidth ceiling in GB/s or a compute ceiling in GFLOP/s. */
export interface Roof {
  readonly id: string;
  readonly label: string;
  readonly peak: Measure;
  readonly source: string;
  /** Measured on the machine itself. */
  readonly isMeasured?: boolean;
}

export interface Ceilings {
  readonly bandwidths: readonly Roof[];
  readonly rates: readonly Roof[];
}

/** What roofs come from besides the agent's own clocks and the data sheet. */
export interface RoofSources {
  /** HBM bandwidth that the user gave, in GB/s. */
  readonly hbmGbps?: number | undefined;
  readonly measured?: readonly MeasuredRoofline[] | undefined;
  /** Bytes are those that instructions ask for, not those of counters. */
  readonly simulated?: boolean;
}

/**
 * The ceilings of an agent. Bandwidth that the user gave goes before what was measured on the agent's machine, that before recorded
 * clocks, those before the data sheet.
 */
export function ceilings(agent: Agent | undefined, sources: RoofSources = {}): Ceilings {
  const { hbmGbps, measured = [] } = sources;
  const sheet = chipCeilings(agent, sources);
  const found = measured.find((roofline) => roofline.agent === agent?.key);
  if (found === undefined) return sheet;
  const roofs = measuredCeilings(usedPeaks(found, peaksOf(sheet)));
  const over = (own: readonly Roof[], of: readonly Roof[], keep: (roof: Roof) => boolean): Roof[] =>
    own.map((roof) => {
      if (keep(roof)) return roof;
      const one = of.find(({ id }) => id === roof.id);
      const unused = one === undefined ? found.rates.get(roof.id) : undefined;
      if (one !== undefined || unused === undefined) return one ?? roof;
      return { ...roof, source: `${roof.source}; roofline.csv measured ${unused} GFLOP/s, which is no roof of it` };
    });
  return {
    bandwidths: over(sheet.bandwidths, roofs.bandwidths, ({ id }) => id === 'HBM' && hbmGbps !== undefined),
    rates: over(sheet.rates, packed(roofs.rates, sheet.rates), () => false),
  };
}

/** The known peaks by their ids. */
export function peaksOf({ bandwidths, rates }: Ceilings): ReadonlyMap<string, number> {
  return new Map(
    [...bandwidths, ...rates].flatMap(({ id, peak }) => (isKnown(peak) ? [[id, peak.value] as const] : [])),
  );
}

/** A measured FP32 rate above what one operation per lane can reach was measured with packed instructions. */
function packed(measured: readonly Roof[], sheet: readonly Roof[]): readonly Roof[] {
  const single = numberOf(sheet.find(({ id }) => id === 'fp32-valu')?.peak ?? unknown('no roof'));
  return measured.map((roof) => {
    const peak = numberOf(roof.peak);
    const isPacked = roof.id === 'fp32-valu' && single !== undefined && peak !== undefined && peak > single;
    return isPacked ? { ...roof, id: 'fp32-packed' } : roof;
  });
}

/** The ceilings that no program can exceed: of the clocks, the data sheet or the user. */
export function chipCeilings(agent: Agent | undefined, { hbmGbps, simulated = false }: RoofSources = {}): Ceilings {
  const chip = agent?.arch === undefined ? undefined : CHIPS[agent.arch];
  if (agent === undefined || chip === undefined) {
    const why = unknown(
      agent?.arch === undefined ? 'the architecture is not recorded' : `${agent.arch} is not a known chip`,
    );
    return {
      bandwidths: LEVELS.map((level) => ({ id: level, label: level, peak: why, source: '' })),
      rates: [],
    };
  }
  const clock: Measure =
    agent.maxClockMhz === undefined ? unknown('the engine clock is not recorded') : known(agent.maxClockMhz);
  const cus: Measure = agent.cuCount === undefined ? unknown('the CU count is not recorded') : known(agent.cuCount);
  const channels: Measure =
    agent.l2Channels === undefined ? unknown('the L2 channel count is not recorded') : known(agent.l2Channels);
  const bandwidths: Roof[] = [hbmRoof(agent, hbmGbps)];
  for (const level of chip.levels) {
    const units = level.unit === 'cu' ? cus : channels;
    const bytes = simulated ? (level.requestedBytes ?? level.bytes) : level.bytes;
    bandwidths.push({
      id: level.level,
      label: level.level,
      peak: combine([clock, units], (mhz, n) => (mhz * n * bytes) / 1000),
      source: `${bytes} bytes per ${level.unit} and clock; ${level.source}`,
    });
  }
  return {
    bandwidths,
    rates: chip.rates.map((rate) => ({
      id: rate.id,
      label: rate.label,
      peak: combine([clock, cus], (mhz, n) => (mhz * n * rate.perCuClock) / 1000),
      source: `${rate.perCuClock} per CU and clock; ${rate.source}`,
    })),
  };
}

function hbmRoof(agent: Agent, given: number | undefined): Roof {
  if (given !== undefined) return { id: 'HBM', label: 'HBM', peak: known(given), source: 'given by the user' };
  if (agent.memoryClockMhz !== undefined && agent.hbmChannels !== undefined) {
    const source = `32 bytes per channel and memory clock (${agent.hbmChannels} channels, ${agent.memoryClockMhz} MHz)`;
    return { id: 'HBM', label: 'HBM', peak: known(hbmPeak(agent.memoryClockMhz, agent.hbmChannels)), source };
  }
  if (agent.hbmGbps !== undefined) {
    return { id: 'HBM', label: 'HBM', peak: known(agent.hbmGbps), source: 'recorded by the profiler (sysinfo.csv)' };
  }
  const named = productArch(agent.name);
  // A name of a GPU of another architecture tells nothing of this one.
  const sheet =
    named !== undefined && agent.arch !== undefined && named !== agent.arch ? undefined : productHbmPeak(agent.name);
  if (sheet !== undefined)
    return { id: 'HBM', label: 'HBM', peak: known(sheet), source: `AMD data sheet of ${agent.name}` };
  return { id: 'HBM', label: 'HBM', peak: unknown('memory clock and channel count are not recorded'), source: '' };
}

/** Ceilings measured by rocprof-compute's microbenchmarks. */
export function measuredCeilings(measured: MeasuredRoofline): Ceilings {
  const roof = (id: string, value: number): Roof => ({
    id,
    label: id,
    peak: known(value),
    isMeasured: true,
    source: `measured on device ${measured.device} (roofline.csv)`,
  });
  return {
    bandwidths: [...measured.bandwidths].map(([id, value]) => roof(id, value)),
    rates: [...measured.rates].map(([id, value]) => roof(id, value)),
  };
}

/** A kernel on the roofline, for one memory level. */
export interface RooflinePoint {
  readonly level: Level;
  readonly bytes: Measure;
  /** FLOP per byte, over the dispatches that have the counters of both. */
  readonly intensity: Measure;
  /** How many dispatches those are. */
  readonly dispatches: number;
  /** GB/s. */
  readonly bandwidth: Measure;
  /** Achieved share of the level's peak. */
  readonly ofPeak: Measure;
  /** The peak was measured on the machine, and is not that of the data sheet. */
  readonly isMeasured: boolean;
}

export interface KernelRoofline {
  readonly flops: Measure;
  readonly valuFlops: Measure;
  readonly mfmaFlops: Measure;
  /** GFLOP/s. */
  readonly gflops: Measure;
  /** Achieved share of the compute ceiling of the FLOP mix. */
  readonly computeOfPeak: Measure;
  /** Integer matrix operations, and their share of the ceiling of integer matrix operations. */
  readonly integerOps: Measure;
  readonly integerOfPeak: Measure;
  readonly points: readonly RooflinePoint[];
  /** Time in ns that no run of this work can be shorter than: the longest that one roof needs for the FLOPs or bytes of all dispatches. */
  readonly leastNs: Measure;
  /** The roof that needs it. */
  readonly leastBy: string | undefined;
  readonly boundBy: string | undefined;
  /** 1 - least time / measured time. */
  readonly headroom: Measure;
}

/** Which compute roof a FLOP metric runs against. The packed roof serves VALU F16 and F32: beyond it nothing can go. */
const ROOF_OF: Readonly<Record<string, string>> = {
  'flops.valu.f16': 'fp32-packed',
  'flops.valu.f32': 'fp32-packed',
  'flops.valu.f64': 'fp64-valu',
  'flops.mfma.f16': 'f16-mfma',
  'flops.mfma.bf16': 'bf16-mfma',
  'flops.mfma.f32': 'f32-mfma',
  'flops.mfma.f64': 'f64-mfma',
  'flops.mfma.f8': 'f8-mfma',
  'flops.mfma.f6f4': 'f6f4-mfma',
  'flops.mfma.i8': 'i8-mfma',
};

const BYTES_OF: Readonly<Record<Level, readonly string[]>> = {
  Requested: ['bytes.requested.read', 'bytes.requested.write'],
  HBM: ['bytes.hbm.read', 'bytes.hbm.write'],
  L2: ['bytes.l2'],
  L1: ['bytes.l1'],
  LDS: ['bytes.lds'],
};

const SIMULATED_LDS = ['bytes.requested.lds'];

/** Bytes of these levels pass through the roof of a level. What instructions ask for comes from L1 at best, however small it is. */
const ROOF_OF_LEVEL: Readonly<Record<Level, string>> = { Requested: 'L1', HBM: 'HBM', L2: 'L2', L1: 'L1', LDS: 'LDS' };

/** What the roofs alone say about the time of a kernel's work: FLOPs of one unit follow each other, units and levels overlap. */
function leastTime(
  units: Readonly<Record<string, readonly string[]>>,
  total: (ids: readonly string[], pick: (sum: MetricSum) => Measure) => Measure,
  points: readonly RooflinePoint[],
  roofs: Ceilings,
): { readonly leastNs: Measure; readonly leastBy: string | undefined } {
  const ofUnit = (ids: readonly string[]): Measure =>
    total(ids, ({ metric, value }) => {
      if (!isKnown(value) || value.value === 0) return value;
      const peak = roofs.rates.find(({ id }) => id === ROOF_OF[metric.id])?.peak;
      return peak === undefined ? unknown(`the peak for ${metric.label} is unknown`) : ratio(value, peak, 'the peak');
    });
  const parts = [
    ...Object.entries(units).map(([unit, ids]) => ({ by: unit, ns: ofUnit(ids) })),
    ...points.map(({ level, bytes }) => {
      const roof = roofs.bandwidths.find(({ id }) => id === ROOF_OF_LEVEL[level]);
      const name =
        roof === undefined ? 'an unknown' : `${roof.id === level ? '' : 'bytes asked for at the '}${roof.id}`;
      return { by: `${name} bandwidth`, ns: ratio(bytes, roof?.peak ?? unknown('the peak is unknown'), 'the peak') };
    }),
  ];
  let most: { readonly by: string; readonly ns: number } | undefined;
  for (const { by, ns } of parts) {
    if (isKnown(ns) && ns.value > (most?.ns ?? 0)) most = { by, ns: ns.value };
  }
  if (most === undefined) return { leastNs: unknown('neither FLOPs nor bytes are known'), leastBy: undefined };
  return { leastNs: known(most.ns), leastBy: most.by };
}

/** Places a kernel on the roofline from its metric sums. */
/** How many dispatches all of some metrics cover. */
function coveredBy(sums: readonly MetricSum[]): number {
  const common = commonCover(sums);
  const [first] = sums;
  return first?.covered === common ? first.dispatches : common.reduce((n, one) => n + one, 0);
}

export function kernelRoofline(sums: readonly MetricSum[], roofs: Ceilings, simulated = false): KernelRoofline {
  const byId = new Map(sums.map((sum) => [sum.metric.id, sum]));
  /** The metrics of these ids over the dispatches that have every counter of all of them: sums over different sets are no sum. */
  const together = (ids: readonly string[]): ReadonlyMap<string, MetricSum> => {
    const found = ids.flatMap((id) => byId.get(id) ?? []);
    const common = commonCover(found);
    return new Map(
      found.map((sum) => {
        const same = sum.covered === common || sum.covered.every((one, i) => one === common[i]);
        return [sum.metric.id, same ? sum : sum.within(common)];
      }),
    );
  };
  const total = (
    ids: readonly string[],
    pick: (sum: MetricSum) => Measure,
    among: readonly string[] = ids,
  ): Measure => {
    if (sums.length === 0) return unknown('the architecture is not recorded or has no formulas');
    // A metric that no dispatch has is unknown with its own reason.
    const uncollected = among.map((id) => byId.get(id)).find((sum) => sum !== undefined && sum.dispatches === 0);
    if (uncollected !== undefined && !isKnown(uncollected.value)) return uncollected.value;
    if (ids.length === 0) return unknown('this architecture has no counters of FLOPs by type');
    const common = together(among);
    const parts = ids.map((id) => {
      const sum = common.get(id);
      if (sum === undefined) return unknown(`there is no formula for ${id} on this architecture`);
      if (sum.dispatches === 0) return unknown(`no dispatch has the counters of all of ${among.join(', ')}`);
      return pick(sum);
    });
    return combine(parts, (...values) => values.reduce((a, b) => a + b, 0));
  };
  const value = (sum: MetricSum) => sum.value;
  const rate = (sum: MetricSum): Measure => {
    if (!isKnown(sum.value)) return sum.value;
    return sum.timedNs > 0
      ? known(sum.timedValue / sum.timedNs)
      : unknown(simulated ? 'simulated; times are unknown' : 'no dispatch with these counters has a known duration');
  };
  const has = (id: string) => byId.has(id);
  const valu = Object.keys(ROOF_OF).filter((id) => id.startsWith('flops.valu') && has(id));
  const mfma = Object.keys(ROOF_OF).filter((id) => id.startsWith('flops.mfma') && id !== 'flops.mfma.i8' && has(id));
  const flopIds = [...valu, ...mfma];
  const flops = total(flopIds, value);
  const gflops = total(flopIds, rate);
  const points = (simulated ? SIMULATED_LEVELS : LEVELS).map((level): RooflinePoint => {
    const ids = simulated && level === 'LDS' ? SIMULATED_LDS : BYTES_OF[level];
    const both = [...flopIds, ...ids];
    const bytes = total(ids, value);
    const bandwidth = total(ids, rate);
    const none = level === 'Requested' ? 'caches serve part of the bytes asked for' : `the ${level} peak is unknown`;
    const peak = roofs.bandwidths.find((roof) => roof.id === level)?.peak ?? unknown(none);
    return {
      level,
      bytes,
      intensity: ratio(total(flopIds, value, both), total(ids, value, both), `${level} traffic`),
      dispatches: coveredBy(both.flatMap((id) => byId.get(id) ?? [])),
      bandwidth,
      ofPeak: ratio(bandwidth, peak, `the ${level} peak`),
      isMeasured: roofs.bandwidths.find((roof) => roof.id === level)?.isMeasured === true,
    };
  });
  const compute = total(flopIds, (sum) => {
    const r = rate(sum);
    if (isKnown(r) && r.value === 0) return known(0);
    const peak = roofs.rates.find((roof) => roof.id === ROOF_OF[sum.metric.id])?.peak;
    return peak === undefined
      ? unknown(`the peak for ${sum.metric.label} is unknown`)
      : ratio(r, peak, 'the compute peak');
  });
  const integer = ['flops.mfma.i8'].filter(has);
  const integerOfPeak = total(integer, (sum) => {
    const peak =
      roofs.rates.find((roof) => roof.id === 'i8-mfma')?.peak ?? unknown('the integer matrix peak is unknown');
    return ratio(rate(sum), peak, 'the integer matrix peak');
  });
  const shares = [
    { name: 'compute', share: numberOf(compute) },
    { name: 'integer matrix', share: numberOf(integerOfPeak) },
    ...points.map((point) => ({ name: `${point.level} bandwidth`, share: numberOf(point.ofPeak) })),
  ].filter((s): s is { name: string; share: number } => s.share !== undefined);
  const highest = shares.reduce<{ name: string; share: number } | undefined>(
    (best, s) => (best === undefined || s.share > best.share ? s : best),
    undefined,
  );
  const share: Measure =
    highest === undefined ? unknown('no roof has both a peak and an achieved rate') : known(Math.min(1, highest.share));
  return {
    flops,
    valuFlops: total(valu, value),
    mfmaFlops: total(mfma, value),
    gflops,
    computeOfPeak: compute,
    integerOps: total(integer, value),
    integerOfPeak,
    points,
    ...leastTime({ VALU: valu, 'matrix units': mfma, 'integer matrix units': integer }, total, points, roofs),
    boundBy: highest?.name,
    headroom: combine([share], (s) => 1 - s),
  };
}
