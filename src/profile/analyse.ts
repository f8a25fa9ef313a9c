// From a recording to the profile document.

import { isTargetName, targetInfo } from '../isa/index.ts';
import { answerSection } from './analysis/answer.ts';
import { classify } from './analysis/bottleneck.ts';
import { CounterTracks } from './analysis/counter-tracks.ts';
import { type CriticalPath, longestPath } from './analysis/critical-path.ts';
import { dependencySection } from './analysis/dependency-path.ts';
import { type MetricSum, MetricTable } from './analysis/metrics.ts';
import { fitting, kernelOccupancy, launchedGroups } from './analysis/occupancy.ts';
import { type PackedWork, packWork } from './analysis/packed-work.ts';
import { impossibleValues } from './analysis/plausible.ts';
import { reportRepeated } from './analysis/repeated.ts';
import {
  ceilings,
  chipCeilings,
  kernelRoofline,
  LEVELS,
  measuredCeilings,
  type RoofSources,
} from './analysis/roofline.ts';
import { copyLane, dispatchLanes, largest, pathSection, timedDomains } from './analysis/timeline.ts';
import { classOf, type TraceFeatures, traceFeatures } from './analysis/trace-features.ts';
import { WorkTable } from './analysis/work-table.ts';
import {
  type CopyEntry,
  type DispatchSection,
  type FindingEntry,
  type KernelEntry,
  PROFILE_SCHEMA,
  PROFILE_VERSION,
  type ProfileDocument,
  type SampleEntry,
  type TraceSection,
} from './document.ts';
import type { LaunchEntry } from './launch.ts';
import { combine, isKnown, known, type Measure, ratio, unknown } from './measure.ts';
import { type Recording, type RecordingFinding, TIMING_REASONS, Timing } from './recording.ts';

export interface AnalyseOptions {
  /** Architecture when the recording does not tell. */
  readonly arch?: string | undefined;
  /** HBM peak in GB/s when neither clocks nor product tell, or to replace them. */
  readonly hbmGbps?: number | undefined;
  /** Largest gap across queues that still counts as a dependency, in ns. */
  readonly maxGapNs?: number | undefined;
}

const MAX_SHOWN = 2000;
const MAX_SAMPLES = 2000;
/** Waves whose instructions are listed one by one, and how many of each. */
const EXECUTED_WAVES = 16;
const EXECUTED = 1000;
/** A GPU that a program leaves alone for an hour is more likely one of several runs. */
const APART_NS = 3600e9;
const APART = 'work lies hours apart, as that of several runs does';
const SERIALISED = 'collecting counters puts gaps between dispatches';

/** Analyses a recording. */
export function analyse(recording: Recording, options: AnalyseOptions = {}): ProfileDocument {
  return analysis(recording, options).document;
}

/** Analyses a recording; beside the document, whose lists are cut, all its work for the timeline of the page. */
export function analyseAll(
  recording: Recording,
  options: AnalyseOptions = {},
): { readonly document: ProfileDocument; readonly work: PackedWork | undefined } {
  const { document, onPath } = analysis(recording, options);
  return { document, work: packWork(recording, onPath) };
}

function analysis(
  recording: Recording,
  options: AnalyseOptions,
): { readonly document: ProfileDocument; readonly onPath: Int32Array | undefined } {
  reportNoDispatches(recording);
  reportRepeated(recording);
  const table = new MetricTable(recording, options.arch);
  const domain = mainDomain(recording);
  const { work, streams } = workNodes(recording, table, domain);
  const path = work.length > 0 ? longestPath(work, { ...gapOption(options), streams }) : undefined;
  const noGap = whyNoGap(recording, path, domain);
  const features = recording.traces.map(traceFeatures);
  const kernels = kernelEntries(recording, table, path, features, options, noGap);
  const dispatches = dispatchSection(recording, table, kernels, options, domain);
  const criticalSection = pathSection(recording, work, path);
  const gapNs = noGap === undefined ? criticalSection.gapNs : unknown(noGap);
  const document: ProfileDocument = {
    schema: PROFILE_SCHEMA,
    version: PROFILE_VERSION,
    simulated: recording.simulated !== undefined,
    modelledChip: recording.simulated?.chip ?? null,
    answer: answerSection(recording, table.usedAgents(), kernels, criticalSection, gapNs),
    sources: recording.sources,
    info: plainRecord(recording.info),
    findings: recording.findings.map(findingEntry),
    agents: [...recording.agents.values()].map((agent) => ({
      key: agent.key,
      name: agent.name ?? null,
      arch: agent.arch ?? null,
      cuCount: agent.cuCount ?? null,
      xccCount: agent.xccCount ?? null,
      maxClockMhz: agent.maxClockMhz ?? null,
    })),
    kernels,
    dispatches,
    roofline: { ceilings: allCeilings(recording, table, options) },
    criticalPath: criticalSection,
    dependencyPath: dependencySection(recording),
    traces: recording.traces.map((trace, i) => traceSection(trace, features[i])),
    samples: sampleEntries(recording),
    calls: [...recording.calls.values()]
      .map((call) => ({ ...call, minNs: Number.isFinite(call.minNs) ? call.minNs : 0 }))
      .sort((a, b) => b.totalNs - a.totalNs),
    copies: copyEntries(recording),
    allocations: [...recording.allocations].map(([operation, sum]) => ({ operation, ...sum })),
  };
  // Of the path's columns, which are as long as the recording, only this one is kept.
  return { document, onPath: path?.path };
}

/** Why time without work says nothing of the program; undefined where it does. Work that lies hours apart is reported. */
function whyNoGap(r: Recording, path: CriticalPath | undefined, domain: number): string | undefined {
  if (path !== undefined && path.longestGapNs >= APART_NS) {
    r.report(
      'profile/work-apart',
      r.sources[0]?.path ?? '',
      `Nothing ran for ${(path.longestGapNs / 3600e9).toFixed(1)} hours at a stretch, and all work takes ${(path.busyNs / 1e9).toPrecision(3)} s: the inputs may be of several runs. Span and idle time say nothing then.`,
    );
    return APART;
  }
  return r.serialised.has(domain) ? SERIALISED : undefined;
}

function findingEntry({ rule, severity, message, place, kernel, fix, count }: RecordingFinding): FindingEntry {
  return {
    code: rule,
    severity,
    message,
    file: place.file ?? '',
    kernel: kernel ?? null,
    fix: fix ?? null,
    count,
  };
}

function roofSources(r: Recording, options: AnalyseOptions): RoofSources {
  return { hbmGbps: options.hbmGbps, measured: r.rooflines, simulated: r.simulated !== undefined };
}

function gapOption(options: AnalyseOptions): { maxGapNs?: number } {
  return options.maxGapNs === undefined ? {} : { maxGapNs: options.maxGapNs };
}

/** An object whose keys come from outside: `__proto__` is a key like any other. */
function plainRecord<T>(entries: Iterable<readonly [string, T]>): Record<string, T> {
  return Object.fromEntries(entries);
}

/**
 * The clock domain whose work makes the timeline: that with most timed work. A finding names it when there are others: times of different
 * machines, and of runs apart, cannot be compared.
 */
function mainDomain(r: Recording): number {
  const domains = timedDomains(r);
  if (domains.length > 1) {
    const names = domains.map((domain) => r.domains.get(domain));
    r.report(
      'profile/several-recordings',
      r.sources[0]?.path ?? '',
      `Times of ${names.join(', ')} cannot be compared; the timeline and the critical path are those of ${names[0]}.`,
    );
  }
  return domains[0] ?? 0;
}

/** All work of one clock with known times, and the stream of each piece: -1 when not recorded or the default stream. */
function workNodes(r: Recording, table: MetricTable, domain: number): { work: WorkTable; streams: Int32Array } {
  const nodes = new WorkTable(r.dispatches.length + r.copies.length);
  const streams = new Int32Array(r.dispatches.length + r.copies.length).fill(-1);
  // Stream 0 also stands for work without a stream, so it orders nothing.
  const none = r.streams.find('0') ?? -1;
  const streamOf = (id: number, process: number) => (id < 0 || id === none ? -1 : process * r.streams.size + id);
  const d = r.dispatches;
  const laneOf = dispatchLanes(r);
  /** Groups by kernel and agent. */
  const groups = new Map<number, number>();
  const groupOf = (row: number): number => {
    const key = d.kernel.get(row) * (r.agentKeys.size + 1) + d.agent.get(row);
    let group = groups.get(key);
    if (group === undefined) {
      const symbol = r.kernels.get(d.kernel.get(row));
      group = nodes.groupId({ kind: 'dispatch', symbol, agent: table.agentKeyOf(row) });
      groups.set(key, group);
    }
    return group;
  };
  for (let row = 0; row < d.length; row++) {
    if (d.timing.get(row) !== Timing.KNOWN || d.domain.get(row) !== domain) continue;
    streams[nodes.length] = streamOf(d.stream.get(row), d.process.get(row));
    nodes.push(groupOf(row), nodes.lanes.id(laneOf(row)), d.start.get(row), d.end.get(row));
  }
  const c = r.copies;
  for (let row = 0; row < c.length; row++) {
    if (c.timing.get(row) !== Timing.KNOWN || c.domain.get(row) !== domain) continue;
    const symbol = r.directions.get(c.direction.get(row));
    streams[nodes.length] = streamOf(c.stream.get(row), c.process.get(row));
    const group = nodes.groupId({ kind: 'copy', symbol, agent: '' });
    nodes.push(group, nodes.lanes.id(copyLane(r, row)), c.start.get(row), c.end.get(row));
  }
  return { work: nodes, streams };
}

/** Rows of every kernel and agent. */
function groupRows(r: Recording): Map<string, Int32Array> {
  const d = r.dispatches;
  const counts = new Map<number, number>();
  const stride = r.agentKeys.size + 1;
  for (let row = 0; row < d.length; row++) {
    const key = d.kernel.get(row) * stride + d.agent.get(row);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const groups = new Map<number, { rows: Int32Array; used: number }>();
  for (const [key, n] of counts) groups.set(key, { rows: new Int32Array(n), used: 0 });
  for (let row = 0; row < d.length; row++) {
    const group = groups.get(d.kernel.get(row) * stride + d.agent.get(row));
    if (group !== undefined) group.rows[group.used++] = row;
  }
  return new Map([...groups].map(([key, group]) => [`${Math.floor(key / stride)},${key % stride}`, group.rows]));
}

interface Durations {
  readonly timed: number;
  readonly totalNs: Measure;
  readonly meanNs: Measure;
  readonly minNs: Measure;
  readonly maxNs: Measure;
  readonly variation: Measure;
}

function durations(r: Recording, rows: Int32Array): Durations {
  const d = r.dispatches;
  const [start, end, timing] = [d.start.view(), d.end.view(), d.timing.view()];
  let [timed, total, squares, min, max, state] = [0, 0, 0, Number.POSITIVE_INFINITY, 0, Timing.ABSENT as number];
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    if (timing[row] !== Timing.KNOWN) {
      state = timing[row];
      continue;
    }
    const ns = end[row] - start[row];
    timed++;
    total += ns;
    squares += ns * ns;
    min = Math.min(min, ns);
    max = Math.max(max, ns);
  }
  if (timed === 0) {
    const why = unknown(TIMING_REASONS[state] ?? 'no timestamps');
    return { timed, totalNs: why, meanNs: why, minNs: why, maxNs: why, variation: why };
  }
  const mean = total / timed;
  const spread = Math.sqrt(Math.max(0, squares / timed - mean * mean));
  return {
    timed,
    totalNs: known(total),
    meanNs: known(mean),
    minNs: known(min),
    maxNs: known(max),
    variation: mean > 0 ? known(spread / mean) : unknown('the mean duration is zero'),
  };
}

function launches(r: Recording, rows: Int32Array): LaunchEntry[] {
  const counts = new Map<number, number>();
  for (let i = 0; i < rows.length; i++) {
    const config = r.dispatches.config.get(rows[i]);
    counts.set(config, (counts.get(config) ?? 0) + 1);
  }
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 50)
    .map(([config, calls]) => ({ ...r.configs[config], calls }));
}

function kernelEntries(
  r: Recording,
  table: MetricTable,
  path: CriticalPath | undefined,
  features: readonly TraceFeatures[],
  options: AnalyseOptions,
  noGap: string | undefined,
): KernelEntry[] {
  const gapShare: Measure =
    path === undefined || path.spanNs === 0
      ? unknown('no work has known times')
      : noGap !== undefined
        ? unknown(noGap)
        : known(path.gapNs / path.spanNs);
  const noPath = unknown('no dispatch of this kernel has known times');
  const entries: KernelEntry[] = [];
  let allNs = 0;
  const counterColumns = r.counters.names.map((name) => r.counters.column(name));
  for (const [key, rows] of groupRows(r)) {
    const kernelId = Number(key.slice(0, key.indexOf(',')));
    const name = r.kernels.get(kernelId);
    const agent = table.agentOf(rows[0]);
    const agentKey = table.agentKeyOf(rows[0]);
    const times = durations(r, rows);
    if (isKnown(times.totalNs)) allNs += times.totalNs.value;
    const sums = agent?.arch === undefined ? [] : table.sum(agent.arch, rows);
    const simulated = r.simulated !== undefined;
    const roofline = kernelRoofline(sums, ceilings(agent, roofSources(r, options)), simulated);
    reportUneven(r, name, rows.length, sums);
    const launched = launches(r, rows);
    const target = agent?.arch !== undefined && isTargetName(agent.arch) ? targetInfo(agent.arch) : undefined;
    const occupancy = kernelOccupancy(launched[0], agent?.arch);
    const resident = residentWaves(sums);
    const maxWavesPerCu = target === undefined ? agent?.wavesPerCu : target.simdsPerCu * target.maxWavesPerSimd;
    const impossible = simulated
      ? []
      : impossibleValues({
          sums,
          roofline: kernelRoofline(sums, chipCeilings(agent, { hbmGbps: options.hbmGbps })),
          resident,
          maxWavesPerCu,
        });
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
    const symbol = path?.symbols.find((s) => s.kind === 'dispatch' && s.symbol === name && s.agent === agentKey);
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
      share: unknown('filled below'),
      launches: launched,
      counters: plainRecord(
        counterColumns.flatMap((column) => {
          if (column === undefined) return [];
          let sum = 0;
          let n = 0;
          for (const row of rows) {
            const value = row < column.sum.length ? column.sum[row] : Number.NaN;
            if (Number.isNaN(value)) continue;
            sum += value;
            n++;
          }
          return n === 0 ? [] : [[column.name, { sum, dispatches: n }] as const];
        }),
      ),
      metrics: plainRecord(
        sums.map(
          ({ metric, value, dispatches }) =>
            [
              metric.id,
              {
                label: metric.label,
                unit: metric.unit,
                value,
                formula: metric.over === undefined ? metric.formula : `(${metric.formula}) / (${metric.over})`,
                source: metric.source,
                dispatches,
              },
            ] as const,
        ),
      ),
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
        sampledStalls: sampledStalls(r, name),
        meanNs: times.meanNs,
        gapShare,
        occupancy:
          maxWavesPerCu === undefined
            ? unknown('the architecture is not known')
            : ratio(resident, known(maxWavesPerCu), 'the wave limit'),
        fits: fitting(occupancy, launched[0]),
        ...launchedGroups(launched[0], agent?.cuCount),
        arch: agent?.arch,
        xccs: agent?.xccCount,
        impossible,
      }),
      reported: r.reported.get(`${name}\0${agent?.key ?? ''}`) ?? [],
    });
  }
  const order = (entry: KernelEntry) => (isKnown(entry.totalNs) ? entry.totalNs.value : -1);
  const work = (entry: KernelEntry) => entry.counters.SQ_INSTS?.sum ?? 0;
  return entries
    .sort((a, b) => order(b) - order(a) || work(b) - work(a) || b.calls - a.calls || (a.name < b.name ? -1 : 1))
    .map((entry, id) => ({ ...entry, id, share: ratio(entry.totalNs, known(allNs), 'the time of all kernels') }));
}

/** Resident waves per CU: accumulated by the hardware where that was collected, else from the cycles of waves. */
function residentWaves(sums: readonly MetricSum[]): Measure {
  const values = ['waves.resident', 'waves.resident.derived', 'waves.resident.cycles'].flatMap(
    (id) => sums.find((sum) => sum.metric.id === id)?.value ?? [],
  );
  return values.find(isKnown) ?? values[0] ?? unknown('there is no formula without an architecture');
}

/** Says when what was read has nothing about kernels. */
function reportNoDispatches(r: Recording): void {
  const isAboutKernels = r.dispatches.length > 0 || r.traces.length > 0 || r.samples.size > 0 || r.reported.size > 0;
  if (isAboutKernels) return;
  const calls = [...r.calls.values()].reduce((sum, call) => sum + call.calls, 0);
  r.report(
    'profile/no-dispatches',
    r.sources[0]?.path ?? '',
    `Of kernels nothing was read: API calls and markers ${calls}, copies ${r.copies.length}, dispatches 0.`,
  );
}

/** Says when counters were collected over different dispatches of a kernel: their sums do not belong together. */
function reportUneven(r: Recording, name: string, calls: number, sums: readonly MetricSum[]): void {
  const covers = [...new Set(sums.map((sum) => sum.dispatches).filter((n) => n > 0))].sort((a, b) => a - b);
  if (covers.length < 2) return;
  r.report(
    'profile/uneven-counters',
    r.sources[0]?.path ?? '',
    `Counters of ${name} cover ${covers[0]} to ${covers.at(-1)} of its ${calls} dispatches; ratios use only the dispatches that have all their terms.`,
  );
}

/** Shares of PC samples of one kernel by stall reason; undefined when no sample has one. */
function sampledStalls(r: Recording, kernel: string): ReadonlyMap<string, number> | undefined {
  const reasons = new Map<string, number>();
  let samples = 0;
  for (const line of r.samples.values()) {
    if (line.kernel !== kernel && !(line.kernel === undefined && r.kernels.size === 1)) continue;
    samples += line.samples;
    for (const [reason, n] of line.stallReasons) reasons.set(reason, (reasons.get(reason) ?? 0) + n);
  }
  if (reasons.size === 0) return undefined;
  return new Map([...reasons].map(([reason, n]) => [reason, n / samples]));
}

function dispatchSection(
  r: Recording,
  table: MetricTable,
  kernels: readonly KernelEntry[],
  options: AnalyseOptions,
  domain: number,
): DispatchSection {
  const entries = new Map(kernels.map((entry) => [`${entry.name}\0${entry.agent}`, entry.id]));
  const entryOf = (row: number): number => {
    return entries.get(`${r.kernels.get(r.dispatches.kernel.get(row))}\0${table.agentKeyOf(row)}`) ?? -1;
  };
  const run = r.simulated;
  const d = r.dispatches;
  const total = d.length;
  const timing = d.timing.view();
  let timed = 0;
  for (const state of timing) if (state === Timing.KNOWN) timed++;
  const length = (row: number) => (timing[row] === Timing.KNOWN ? d.end.get(row) - d.start.get(row) : -1);
  const rows = largest(total, MAX_SHOWN, length);
  let first = Number.POSITIVE_INFINITY;
  for (let row = 0; row < total; row++) if (timing[row] === Timing.KNOWN) first = Math.min(first, d.start.get(row));
  const origin = firstStart(r, domain);
  const tracked = new CounterTracks();
  const shown = Array.from(rows, (row) => {
    const known1 = timing[row] === Timing.KNOWN;
    const why = unknown(TIMING_REASONS[timing[row]] ?? 'no timestamps');
    const agent = table.agentOf(row);
    const sums = r.counters.size > 0 && agent?.arch !== undefined ? table.sum(agent.arch, Int32Array.of(row)) : [];
    const roofline =
      sums.length > 0 ? kernelRoofline(sums, ceilings(agent, roofSources(r, options)), run !== undefined) : undefined;
    if (roofline !== undefined && known1 && d.domain.get(row) === domain) {
      const [start, end] = [d.start.get(row) - origin, d.end.get(row) - origin];
      tracked.add({ start, end, roofline, sums });
    }
    return {
      row,
      id: d.dispatchId.get(row),
      kernel: entryOf(row),
      queue: r.queues.get(d.queue.get(row)),
      startNs: known1 ? known(d.start.get(row) - first) : why,
      durationNs: known1 ? known(d.end.get(row) - d.start.get(row)) : why,
      points: (roofline?.points ?? [])
        .filter((point) => isKnown(point.intensity) && point.intensity.value > 0)
        .map((point) => ({ level: point.level, intensity: point.intensity, gflops: roofline?.gflops ?? unknown('') })),
      simulated:
        run === undefined
          ? null
          : {
              instructions: run.instructions[row] ?? 0,
              wavefronts: run.wavefronts[row] ?? 0,
              hostStartMs: (run.host[row]?.[0] ?? 0) - (run.host[0]?.[0] ?? 0),
              hostMs: run.host[row]?.[1] ?? 0,
            },
    };
  });
  return { total, timed, shown, tracks: tracked.tracks() };
}

/** The first start of timed work of a clock, from which the timeline counts. */
function firstStart(r: Recording, domain: number): number {
  let first = Number.POSITIVE_INFINITY;
  for (const table of [r.dispatches, r.copies]) {
    for (let row = 0; row < table.length; row++) {
      if (table.timing.get(row) !== Timing.KNOWN || table.domain.get(row) !== domain) continue;
      first = Math.min(first, table.start.get(row));
    }
  }
  return first;
}

function allCeilings(
  r: Recording,
  table: MetricTable,
  options: AnalyseOptions,
): ProfileDocument['roofline']['ceilings'] {
  const seen = new Map<string, ProfileDocument['roofline']['ceilings'][number]>();
  const agents = new Set<number>();
  const d = r.dispatches;
  for (let row = 0; row < d.length; row++) {
    const id = d.agent.get(row);
    if (agents.has(id)) continue;
    agents.add(id);
    const agent = table.agentOf(row);
    const key = agent?.key ?? r.agentKeys.get(id);
    seen.set(key, { agent: key, kind: 'chip', ...chipCeilings(agent, roofSources(r, options)) });
  }
  const first = new Map(r.rooflines.map((roofline) => [roofline.agent, roofline] as const).reverse());
  const measured = [...first.values()].map((roofline) => ({
    agent: roofline.agent,
    kind: 'measured' as const,
    ...measuredCeilings(roofline),
  }));
  return [...seen.values(), ...measured];
}

function traceSection(trace: Recording['traces'][number], features: TraceFeatures): TraceSection {
  const { hottest, residency, classes, stallReasons, hits, latency, stall, idle } = features;
  return {
    source: trace.source,
    kind: trace.kind,
    hits,
    latency,
    stall,
    idle,
    stallShare: features.stallShare,
    idleShare: features.idleShare,
    issueUtilisation: features.issueUtilisation,
    loadToUse: features.loadToUse,
    classes,
    stallReasons,
    lines: trace.lines.map((line) => ({
      text: line.text,
      class: classOf(line.text),
      address: line.address,
      source: line.source,
      kernel: line.kernel ?? null,
      hits: line.hits,
      meanLanes: line.lanes === undefined || line.hits === 0 ? null : line.lanes / line.hits,
      latency: line.latency,
      stall: line.stall,
      idle: line.idle,
      samples: line.pcIssued === undefined ? null : line.pcIssued + (line.pcStalled ?? 0),
      sourceText: line.sourceText ?? null,
    })),
    hottest,
    residency,
    waves: trace.waves.slice(0, 64).map((wave, n) => ({
      shaderEngine: wave.shaderEngine,
      cu: wave.cu,
      simd: wave.simd,
      slot: wave.slot,
      begin: wave.begin,
      end: wave.end,
      instructions: wave.instructions.length,
      timeline: wave.timeline.slice(0, 2000),
      executed: wave.instructions
        .slice(0, n < EXECUTED_WAVES ? EXECUTED : 0)
        .map(({ time, stall, duration, line }) => [time, stall, duration, line] as const),
    })),
    omittedWaves: trace.omittedWaves + Math.max(0, trace.waves.length - 64),
    waveStates: trace.waveStates ?? [],
    otherSimd: trace.otherSimd ?? [],
  };
}

function sampleEntries(r: Recording): SampleEntry[] {
  return [...r.samples.values()]
    .sort((a, b) => b.samples - a.samples)
    .slice(0, MAX_SAMPLES)
    .map((line) => ({
      kernel: line.kernel ?? null,
      instruction: line.instruction,
      source: line.source,
      samples: line.samples,
      issued: line.issued,
      meanLanes: Number.isNaN(line.lanes) ? null : line.lanes / line.samples,
      stallReasons: plainRecord(line.stallReasons),
    }));
}

function copyEntries(r: Recording): CopyEntry[] {
  const c = r.copies;
  const sums = new Map<string, { count: number; ns: Measure; bytes: Measure }>();
  for (let row = 0; row < c.length; row++) {
    const direction = r.directions.get(c.direction.get(row));
    const sum = sums.get(direction) ?? { count: 0, ns: known(0), bytes: known(0) };
    sum.count++;
    const ns: Measure =
      c.timing.get(row) === Timing.KNOWN
        ? known(c.end.get(row) - c.start.get(row))
        : unknown(TIMING_REASONS[c.timing.get(row)] ?? 'no timestamps');
    const bytes: Measure =
      c.bytes.get(row) < 0 ? unknown('the size of copies is not recorded') : known(c.bytes.get(row));
    sum.ns = combine([sum.ns, ns], (a, b) => a + b);
    sum.bytes = combine([sum.bytes, bytes], (a, b) => a + b);
    sums.set(direction, sum);
  }
  return [...sums].map(([direction, sum]) => ({ direction, count: sum.count, totalNs: sum.ns, bytes: sum.bytes }));
}

/** The memory levels of roofline points, in order from far to near. */
export const ROOFLINE_LEVELS = LEVELS;
