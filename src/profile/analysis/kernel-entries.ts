// What the document says of each kernel: launches, times, counters, metrics, roofline, occupancy and what limits it.
import { isTargetName, targetInfo } from '../../isa/index.ts';
import type { KernelEntry, OmittedSection } from '../document.ts';
import type { LaunchEntry } from '../launch.ts';
import { isKnown, known, type Measure, numberOf, ratio, unknown } from '../measure.ts';
import { plainRecord } from '../plain-record.ts';
import type { Recording } from '../recording.ts';
import type { SampleLine } from '../records.ts';
import { classify } from './bottleneck.ts';
import type { CriticalPath, SymbolShare } from './critical-path.ts';
import { cyclesTime } from './cycles-time.ts';
import { kernelMetrics } from './kernel-metrics.ts';
import { launchedWaves, oddGrid } from './launched-waves.ts';
import type { MetricTable } from './metrics.ts';
import { fitting, impossibleLaunch, kernelOccupancy, launchedGroups } from './occupancy.ts';
import { overlongDispatches } from './overlong.ts';
import { impossibleValues } from './plausible.ts';
import { contradictingRows } from './plausible-rows.ts';
import type { RoofSources } from './roofline.ts';
import { RowGroups } from './row-groups.ts';
import { largest } from './timeline.ts';
import type { TraceFeatures } from './trace-features.ts';

/** Kernels that are described one by one: those that took most time. 35 kB of the document are of each. */
const MAX_KERNELS = 1000;

/** The launch configurations of a kernel, those of most dispatches first. `counts` has a zero for each of the recording, before and after. */
function launches(r: Recording, configs: Int32Array, counts: Int32Array): LaunchEntry[] {
  const used: number[] = [];
  for (let i = 0; i < configs.length; i++) if (counts[configs[i]]++ === 0) used.push(configs[i]);
  const entries = used
    .map((config) => [config, counts[config]] as const)
    .sort((a, b) => b[1] - a[1])
    .slice(0, 50)
    .map(([config, calls]) => ({ ...r.config(config), calls }));
  for (const config of used) counts[config] = 0;
  return entries;
}

/** What entries of kernels are made of. */
interface KernelContext {
  readonly table: MetricTable;
  readonly path: CriticalPath | undefined;
  /** Of the recording's thread traces. */
  readonly features: readonly TraceFeatures[];
  readonly roofs: RoofSources;
  /** Why time without work says nothing of the program; undefined where it does. */
  readonly noGap: string | undefined;
}

/** The kernels that took most time, one by one, and the sum of the others. */
export function kernelEntries(
  r: Recording,
  { table, path, features, roofs, noGap }: KernelContext,
): { readonly kernels: KernelEntry[]; readonly others: Pick<OmittedSection, 'kernels' | 'dispatches' | 'kernelNs'> } {
  const gapShare: Measure =
    path === undefined || path.spanNs === 0
      ? unknown('no work has known times')
      : noGap !== undefined
        ? unknown(noGap)
        : known(path.gapNs / path.spanNs);
  const noPath = unknown('no dispatch of this kernel has known times');
  const entries: KernelEntry[] = [];
  const counterColumns = r.counters.names.flatMap((name) => r.counters.column(name) ?? []);
  const groups = new RowGroups(r, table);
  const metricsOf = kernelMetrics(r, table, roofs);
  const { chosen, allNs, others } = mostOf(r, groups);
  const names = new Set(Array.from(chosen, (group) => r.kernels.get(r.dispatches.kernel.get(groups.of(group)[0]))));
  const onPath = new Map<string, SymbolShare>();
  for (const share of path?.symbols.dispatches(({ symbol }) => names.has(symbol)) ?? []) {
    onPath.set(`${share.agent}\0${share.symbol}`, share);
  }
  const configCounts = new Int32Array(r.configs.size);
  const samples = samplesByKernel(r);
  const overlong = r.simulated === undefined ? overlongDispatches(r) : [];
  const oddGrids: string[] = [];
  for (const group of chosen) {
    const rows = groups.of(group);
    const name = r.kernels.get(r.dispatches.kernel.get(rows[0]));
    const agent = table.agentOf(rows[0]);
    const agentKey = table.agentKeyOf(rows[0]);
    const times = groups.durations(group);
    const metrics = metricsOf(rows, agent);
    const { sums, roofline, resident } = metrics;
    const simulated = r.simulated !== undefined;
    /** Which dispatches have a counter, as a hash of them. */
    const sets = new Set<number>();
    const counted = counterColumns.flatMap((column) => {
      let sum = 0;
      let n = 0;
      let set = 0;
      for (const row of rows) {
        const value = row < column.sum.length ? column.sum[row] : Number.NaN;
        if (Number.isNaN(value)) continue;
        sum += value;
        n++;
        set = Math.imul(set ^ row, 0x01000193);
      }
      if (n > 0) sets.add(set);
      return n === 0 ? [] : [[column.name, { sum, dispatches: n }] as const];
    });
    const covers = [...sums, ...counted.map(([, sum]) => sum)].map(({ dispatches }) => dispatches);
    reportUneven(r, name, rows.length, covers, sets.size);
    const launched = launches(r, groups.configsOf(group), configCounts);
    const target = agent?.arch !== undefined && isTargetName(agent.arch) ? targetInfo(agent.arch) : undefined;
    const occupancy = kernelOccupancy(launched[0], agent?.arch);
    const maxWavesPerCu = target === undefined ? agent?.wavesPerCu : target.simdsPerCu * target.maxWavesPerSimd;
    const waves = target === undefined ? undefined : launchedWaves(r, rows);
    // Waves that were counted tell whether a grid is what it says.
    const isUnsure = !simulated && waves === undefined;
    const below = isUnsure ? oddGrid(launched, 'below') : undefined;
    const odd = isUnsure && below === undefined ? oddGrid(launched, 'no multiple') : undefined;
    if (odd !== undefined) oddGrids.push(odd);
    const impossible = simulated
      ? []
      : [
          ...overlong.filter(({ row }) => rows.includes(row)).map(({ what }) => what),
          ...launched.flatMap((launch) => impossibleLaunch(launch, agent?.arch) ?? []).slice(0, 1),
          ...(below === undefined ? [] : [`${below}: grids may be in workgroups here, and not in work-items`]),
          ...impossibleValues({
            sums,
            counters: new Map(counted),
            waves,
            rows: contradictingRows(r, rows, agent),
            meanNs: numberOf(times.meanNs),
            roofline: metrics.ofChip,
            measured: roofline,
            resident,
            maxWavesPerCu,
          }),
        ];
    for (const what of impossible) {
      r.report('profile/impossible-value', r.sources[0]?.path ?? '', `Of ${name}, ${what}.`, name);
    }
    if (times.timed > 0 && times.timed < rows.length) {
      r.report(
        'profile/untimed-calls',
        r.sources[0]?.path ?? '',
        `${times.timed} of ${rows.length} calls of ${name} have times; its total is that of those.`,
        name,
      );
    }
    const symbol = onPath.get(`${agentKey}\0${name}`);
    const traceIndex = r.traces.findIndex((trace) => trace.lines.some((line) => line.kernel === name && line.hits > 0));
    const trace = traceIndex >= 0 ? features[traceIndex] : r.kernels.size === 1 ? features[0] : undefined;
    entries.push({
      id: entries.length,
      name,
      symbol: r.symbols.get(name) ?? null,
      agent: agentKey,
      arch: agent?.arch ?? null,
      calls: rows.length,
      ...times,
      cyclesNs: cyclesTime(r, rows, agent, times.timed),
      share: unknown('filled below'),
      launches: launched,
      counters: plainRecord(counted),
      metrics: metrics.entries,
      roofline: {
        flops: roofline.flops,
        valuFlops: roofline.valuFlops,
        mfmaFlops: roofline.mfmaFlops,
        gflops: roofline.gflops,
        computeOfPeak: roofline.computeOfPeak,
        integerOps: roofline.integerOps,
        integerOfPeak: roofline.integerOfPeak,
        points: roofline.points,
        boundBy: roofline.boundBy ?? null,
        headroom: roofline.headroom,
        leastNs: roofline.leastNs,
        leastBy: roofline.leastBy ?? null,
      },
      occupancy: { ...occupancy, resident },
      critical: {
        onPath: symbol?.onPath ?? 0,
        criticalNs: symbol === undefined ? noPath : known(symbol.criticalNs),
        minSlackNs: symbol === undefined ? noPath : known(symbol.minSlackNs),
        gainIfTwiceAsFastNs: symbol === undefined ? noPath : known(symbol.gainIfTwiceAsFastNs),
      },
      bottleneck: classify({
        metrics: sums,
        roofline,
        trace,
        sampledStalls: sampledStalls(samples.get(name) ?? []),
        meanNs: times.meanNs,
        gapShare,
        occupancy:
          maxWavesPerCu === undefined
            ? unknown('the architecture is not known')
            : ratio(resident, known(maxWavesPerCu), 'the wave limit'),
        fits: fitting(occupancy, launched[0]),
        ...launchedGroups(launched[0], agent?.cuCount),
        launches: launched.length,
        isModelled: r.simulated !== undefined,
        arch: agent?.arch,
        xccs: agent?.xccCount,
        impossible,
      }),
      reported: r.reported.get(`${name}\0${agent?.key ?? ''}`) ?? [],
    });
  }
  reportOddGrids(r, oddGrids);
  const order = (entry: KernelEntry) => (isKnown(entry.totalNs) ? entry.totalNs.value : -1);
  const work = (entry: KernelEntry) => entry.counters.SQ_INSTS?.sum ?? 0;
  const kernels = entries
    .sort((a, b) => order(b) - order(a) || work(b) - work(a) || b.calls - a.calls || (a.name < b.name ? -1 : 1))
    .map((entry, id) => ({ ...entry, id, share: ratio(entry.totalNs, known(allNs), 'the time of all kernels') }));
  return { kernels, others };
}

/** The groups of most time, or of most work where times are unknown; the time of all; and what the other groups sum to. */
function mostOf(
  r: Recording,
  groups: RowGroups,
): {
  readonly chosen: Int32Array;
  readonly allNs: number;
  readonly others: Pick<OmittedSection, 'kernels' | 'dispatches' | 'kernelNs'>;
} {
  const instructions = r.counters.column('SQ_INSTS')?.sum;
  const times = new Float64Array(groups.length);
  const work = new Float64Array(groups.length);
  for (let group = 0; group < groups.length; group++) {
    times[group] = groups.totalNs(group);
    if (instructions !== undefined) work[group] = groups.sum(group, (row) => instructions[row] || 0);
  }
  // Any known time goes before any amount of work, and that before any number of calls.
  const rank = (group: number) =>
    times[group] >= 0 ? 2e100 * (1 + times[group]) : work[group] > 0 ? 1e50 * work[group] : groups.size(group);
  const chosen = largest(groups.length, MAX_KERNELS, rank);
  const isChosen = new Uint8Array(groups.length);
  for (const group of chosen) isChosen[group] = 1;
  const others = { kernels: 0, dispatches: 0, kernelNs: 0 };
  let allNs = 0;
  for (let group = 0; group < groups.length; group++) {
    const ns = Math.max(0, times[group]);
    allNs += ns;
    if (isChosen[group] === 1) continue;
    others.kernels++;
    others.dispatches += groups.size(group);
    others.kernelNs += ns;
  }
  return { chosen, allNs, others };
}

/**
 * Says when counters were collected over different dispatches of a kernel: their sums do not belong together. `dispatches` are how many of
 * them the counters cover, `sets` how many different sets of them.
 */
function reportUneven(r: Recording, name: string, calls: number, dispatches: readonly number[], sets: number): void {
  const covers = [...new Set(dispatches.filter((n) => n > 0))].sort((a, b) => a - b);
  if (covers.length < 2 && sets < 2) return;
  const cover = covers.length < 2 ? `different ${covers[0]}` : `${covers[0]} to ${covers.at(-1)}`;
  r.report(
    'profile/uneven-counters',
    r.sources[0]?.path ?? '',
    `Counters of ${name} cover ${cover} of its ${calls} dispatches; ratios use only the dispatches that have all their terms.`,
  );
}

/** Says of how many kernels the grids are no multiples of the workgroups; `examples` has one of each. */
function reportOddGrids(r: Recording, examples: readonly string[]): void {
  if (examples.length === 0) return;
  r.report(
    'profile/odd-grid',
    r.sources[0]?.path ?? '',
    `Of ${examples.length} kernels grids are no multiples of workgroups, as ${examples[0]}. They may be in workgroups, and not in work-items: then waves, workgroups and what is said of occupancy are wrong.`,
  );
}

/** PC samples by kernel; those of unknown kernels are of the only one, where there is one. */
function samplesByKernel(r: Recording): Map<string, SampleLine[]> {
  const byKernel = new Map<string, SampleLine[]>();
  const only = r.kernels.size === 1 ? r.kernels.get(0) : undefined;
  for (const line of r.samples.values()) {
    const kernel = line.kernel ?? only;
    if (kernel === undefined) continue;
    const lines = byKernel.get(kernel) ?? [];
    byKernel.set(kernel, lines);
    lines.push(line);
  }
  return byKernel;
}

/** Shares of PC samples of one kernel by stall reason; undefined when no sample has one. */
function sampledStalls(lines: readonly SampleLine[]): ReadonlyMap<string, number> | undefined {
  const reasons = new Map<string, number>();
  let samples = 0;
  for (const line of lines) {
    samples += line.samples;
    for (const [reason, n] of line.stallReasons) reasons.set(reason, (reasons.get(reason) ?? 0) + n);
  }
  if (reasons.size === 0) return undefined;
  return new Map([...reasons].map(([reason, n]) => [reason, n / samples]));
}
