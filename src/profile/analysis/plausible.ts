// Numbers that no hardware can show: bandwidths and rates above the peaks, more waves than fit, less traffic near the CUs than far from
// them, shares above one. They come from counters and times of different dispatches, of another architecture, or of a damaged file.
import { isKnown, type Measure, numberOf } from '../measure.ts';
import type { LaunchedWaves } from './launched-waves.ts';
import type { MetricSum } from './metrics.ts';
import type { KernelRoofline } from './roofline.ts';

/** How far above a limit a number may be: clocks boost, and counters of several passes differ by a few percent. */
const SLACK = 1.05;
/** Below this traffic in bytes, caches of a size like it make levels incomparable. */
const SMALL = 1 << 20;
/** What HBM moves comes from L2 or goes there; write-backs of kernels before, and instructions, are the little that does not. */
const LEAST_L2_SHARE = 0.9;

/** How far above a peak that a benchmark reached on the machine a kernel may be. */
const MEASURED_SLACK = 1.25;
/** Counted waves over launched ones: a few may be those of a restore after preemption. */
const LEAST_WAVES = 0.9;
const MOST_WAVES = 1.5;

/** No GPU ends a dispatch in less: the packet processor alone takes longer. */
const SHORTEST_NS = 50;

/** How far above the whole the parts may be where they are seldom of one pass: hits of caches vary from run to run, and so do cycles. */
const OF_RUNS = 1.5;
const OF_CYCLES = 3;

/** Metrics that are shares of a whole, and how far above it they may be. Fractions that are none: conflicts per access, branches per instruction. */
const SHARES: readonly (readonly [id: RegExp, slack: number])[] = [
  [/^(?:l[12]\.hit|dcache\.hit|icache\.miss|wait\.any|mfma\.busy|share\.salu|issue\..*)$/, SLACK],
  [/^(?:l1\.miss|wait\.issue|sq\.busy)$/, OF_RUNS],
  [/^(?:l2\.busy|lds\.busy|limit\..*)$/, OF_CYCLES],
];

/** Counters that count a part of what another one counts, and how far above it they may be. Several parts of one whole exclude each other. */
export const PARTS: readonly (readonly [parts: readonly string[], whole: string, slack?: number])[] = [
  [['TCC_EA_RDREQ_32B'], 'TCC_EA_RDREQ'],
  [['TCC_EA_WRREQ_64B'], 'TCC_EA_WRREQ'],
  [['TCC_EA0_RDREQ_32B', 'TCC_BUBBLE'], 'TCC_EA0_RDREQ'],
  [['TCC_EA0_WRREQ_64B'], 'TCC_EA0_WRREQ'],
  [
    [
      ...['ADD', 'MUL', 'FMA', 'TRANS'].flatMap((kind) =>
        ['F16', 'F32', 'F64'].map((type) => `SQ_INSTS_VALU_${kind}_${type}`),
      ),
      ...['SQ_INSTS_VALU_INT32', 'SQ_INSTS_VALU_INT64', 'SQ_INSTS_VALU_CVT'],
    ],
    'SQ_INSTS_VALU',
  ],
  [['SQ_INSTS_VALU', 'SQ_INSTS_SALU', 'SQ_INSTS_SMEM'], 'SQ_INSTS'],
  ...['VMEM', 'FLAT', 'LDS', 'BRANCH'].map((kind) => [[`SQ_INSTS_${kind}`], 'SQ_INSTS'] as const),
  [['SQ_WAVES_EQ_64', 'SQ_WAVES_LT_64'], 'SQ_WAVES'],
  [['SQ_LDS_BANK_CONFLICT'], 'SQ_LDS_IDX_ACTIVE', OF_RUNS],
  [['SQ_WAIT_ANY'], 'SQ_WAVE_CYCLES', OF_RUNS],
  [['SQ_WAIT_INST_ANY'], 'SQ_WAVE_CYCLES', OF_RUNS],
  [['SQ_BUSY_CYCLES'], 'SQ_CYCLES', OF_RUNS],
  [['SQC_ICACHE_HITS', 'SQC_ICACHE_MISSES'], 'SQC_ICACHE_REQ', OF_RUNS],
  [['SQC_DCACHE_HITS', 'SQC_DCACHE_MISSES'], 'SQC_DCACHE_REQ', OF_RUNS],
  // An instruction is in flight for a cycle at least.
  [['SQ_INST_LEVEL_VMEM:SQ_INSTS_VMEM'], 'SQ_INST_LEVEL_VMEM:SQ_ACCUM_PREV_HIRES'],
  [['TCC_HIT', 'TCC_MISS'], 'TCC_REQ', OF_RUNS],
  [['GRBM_GUI_ACTIVE'], 'GRBM_COUNT', OF_CYCLES],
  [['SQ_LEVEL_WAVES:GRBM_GUI_ACTIVE'], 'SQ_LEVEL_WAVES:GRBM_COUNT'],
];

/** What the hardware accumulates of `SQ_LEVEL_WAVES` in a pass over the cycles of waves of that pass: within 2% in AMD's folders of MI100, MI200 and MI300X. */
const LEVEL = [0.75, 1.25] as const;
/** A counter that a pass of a level counter has again is the same of every run, if it counts work. */
const COUNTED_AGAIN = /^SQ_[A-Z_]+:(SQ_(?:WAVES|INSTS_[A-Z_]+))$/;
/** The same instructions in another pass: a kernel that waits in a loop executes a few more. */
const AGAIN = 1.25;
/** No memory answers a vector instruction in fewer cycles. */
const SOONEST = 20;
/** No instruction is in flight for longer than a dispatch takes; cycles of passes differ by a factor of five in AMD's folder of MI300X. */
const LONGEST = 10;
/** How far above what fits the waves may be that cycles of one pass and those of another make. */
const OF_PASSES = 2;

type Counters = ReadonlyMap<string, { readonly sum: number; readonly dispatches: number }>;

export interface PlausibleInput {
  readonly counters: Counters;
  readonly waves: LaunchedWaves | undefined;
  /** What single dispatches contradict, as `contradictingRows` says it. */
  readonly rows: readonly string[];
  /** Mean duration of the dispatches, where it is known. */
  readonly meanNs: number | undefined;
  /** The kernel below the ceilings that were measured, where they were. */
  readonly measured: KernelRoofline;
  readonly sums: readonly MetricSum[];
  /** The kernel below the ceilings that nothing exceeds: those of clocks and data sheet, not the measured ones. */
  readonly roofline: KernelRoofline;
  /** Resident waves per CU, and how many fit. */
  readonly resident: Measure;
  readonly maxWavesPerCu: number | undefined;
}

/** One sentence for each number that cannot be. */
export function impossibleValues(input: PlausibleInput): string[] {
  const { sums, roofline, resident, maxWavesPerCu } = input;
  const found = [...contradictingCounters(input.counters), ...contradictingWaves(input.waves)];
  // What all of them contradict together was said.
  if (found.length === 0) found.push(...input.rows);
  if (input.meanNs !== undefined && input.meanNs < SHORTEST_NS) {
    const mean = Number(input.meanNs.toPrecision(3));
    found.push(`a dispatch takes ${mean} ns on average, which no GPU can do: the times may be of another unit`);
  }
  for (const { level, ofPeak, isMeasured } of input.measured.points) {
    if (level !== 'HBM' || !isMeasured || !isKnown(ofPeak) || ofPeak.value <= MEASURED_SLACK) continue;
    found.push(`the HBM bandwidth is ${percent(ofPeak.value)} of the peak that was measured (roofline.csv)`);
  }
  for (const { level, ofPeak } of roofline.points) {
    if (isKnown(ofPeak) && ofPeak.value > SLACK) {
      found.push(
        `the ${level} bandwidth is ${percent(ofPeak.value)} of the peak, so the time is shorter than the bytes need`,
      );
    }
  }
  for (const [what, share] of [
    ['FLOP rate', roofline.computeOfPeak],
    ['rate of integer matrix operations', roofline.integerOfPeak],
  ] as const) {
    if (isKnown(share) && share.value > SLACK) {
      found.push(`the ${what} is ${percent(share.value)} of the peak, so the time is shorter than the operations need`);
    }
  }
  const bytes = (level: string) => numberOf(roofline.points.find((p) => p.level === level)?.bytes ?? { unknown: '' });
  const [hbm, l2] = [bytes('HBM'), bytes('L2')];
  if (hbm !== undefined && l2 !== undefined && hbm > SMALL && l2 < LEAST_L2_SHARE * hbm) {
    found.push(`L2 moved ${l2.toPrecision(4)} bytes and HBM ${hbm.toPrecision(4)}, although HBM is behind L2`);
  }
  if (isKnown(resident) && maxWavesPerCu !== undefined && resident.value > SLACK * maxWavesPerCu) {
    found.push(`${resident.value.toFixed(1)} waves are resident per CU, and ${maxWavesPerCu} fit`);
  }
  for (const { metric, value } of sums) {
    if (!isKnown(value)) continue;
    const slack = SHARES.find(([id]) => id.test(metric.id))?.[1] ?? Number.POSITIVE_INFINITY;
    const isBelow = value.value < (slack === SLACK ? 1 - SLACK : 0);
    if (value.value > slack || isBelow)
      found.push(`${metric.label} is ${metric.unit === 'fraction' ? percent(value.value) : value.value}`);
    if (metric.id === 'lanes.active' && value.value > 64 * SLACK)
      found.push(`${metric.label} is ${value.value.toFixed(1)}`);
    if (metric.id === 'waves.resident.cycles' && value.value > OF_PASSES * (maxWavesPerCu ?? Number.POSITIVE_INFINITY))
      found.push(
        `the cycles of waves are those of ${value.value.toPrecision(3)} waves per CU, and ${maxWavesPerCu} fit`,
      );
    if (metric.id === 'vmem.latency' && (value.value < SOONEST || value.value > LONGEST * cyclesOf(input.counters)))
      found.push(`a vector memory instruction takes ${Number(value.value.toPrecision(3))} cycles on average`);
  }
  return found;
}

/** Cycles of a dispatch on average, of all XCCs together. */
function cyclesOf(counters: Counters): number {
  const active = counters.get('GRBM_GUI_ACTIVE');
  return active === undefined ? Number.POSITIVE_INFINITY : active.sum / active.dispatches;
}

const percent = (share: number) => `${(100 * share).toFixed(0)}%`;

function contradictingCounters(counters: Counters): string[] {
  const of = (name: string) => counters.get(`${name}_sum`) ?? counters.get(name);
  const ofParts = PARTS.flatMap(([names, wholeName, slack = SLACK]) => {
    const whole = of(wholeName);
    const parts = names.map(of).filter((part) => part !== undefined);
    if (whole === undefined || parts.some(({ dispatches }) => dispatches !== whole.dispatches)) return [];
    const sum = parts.reduce((total, part) => total + part.sum, 0);
    if (sum <= slack * whole.sum) return [];
    const what = names.length > 2 ? 'counters of kinds of it' : names.join(' and ');
    return [`${what} count ${sum}, which is part of the ${whole.sum} of ${wholeName}`];
  });
  return [...ofParts, ...contradictingLevels(counters)];
}

/** What the passes of level counters say again, and what two of their counters say together. */
function contradictingLevels(counters: Counters): string[] {
  const again = [...counters].flatMap(([name, here]) => {
    const own = COUNTED_AGAIN.exec(name)?.[1];
    const there = own === undefined ? undefined : counters.get(own);
    if (there === undefined || there.dispatches !== here.dispatches) return [];
    const [least, most] = [here.sum, there.sum].sort((a, b) => a - b);
    return most <= AGAIN * least
      ? []
      : [`${own} is ${here.sum} in the pass of ${name.replace(/:.*/, '')} and ${there.sum} in another`];
  });
  const [level, cycles] = ['SQ_ACCUM_PREV_HIRES', 'SQ_WAVE_CYCLES'].map((name) =>
    counters.get(`SQ_LEVEL_WAVES:${name}`),
  );
  if (level === undefined || cycles === undefined || level.dispatches !== cycles.dispatches) return again;
  const waves = 4 * cycles.sum;
  return level.sum >= LEVEL[0] * waves && level.sum <= LEVEL[1] * waves
    ? again
    : [...again, `SQ_ACCUM_PREV_HIRES of SQ_LEVEL_WAVES is ${level.sum}, and its waves lived ${waves} cycles`];
}

function contradictingWaves(waves: LaunchedWaves | undefined): string[] {
  if (waves === undefined) return [];
  const { counted, launched, ofGroups } = waves;
  const fits = (n: number): boolean => counted >= LEAST_WAVES * n && counted <= MOST_WAVES * n;
  if (fits(launched)) return [];
  const why = fits(ofGroups)
    ? 'that is as if the grids were in workgroups, and not in work-items'
    : 'the counters are of nothing, of a part of the GPU, or of other work';
  return [`${counted} waves were counted and ${launched} launched: ${why}`];
}
