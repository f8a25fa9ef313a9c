// From a recording to the profile document.

import { answerSection } from './analysis/answer.ts';
import { clockBack } from './analysis/clock-back.ts';
import { CounterTracks } from './analysis/counter-tracks.ts';
import { type CriticalPath, longestPath } from './analysis/critical-path.ts';
import { dependencySection } from './analysis/dependency-path.ts';
import { classOf } from './analysis/instruction-class.ts';
import { kernelEntries } from './analysis/kernel-entries.ts';
import { type MetricSum, MetricTable, reportUnknownAgents, withChipFacts } from './analysis/metrics.ts';
import { completeTurns } from './analysis/multiplexed.ts';
import { reportOddMachines } from './analysis/odd-machines.ts';
import { type PackedWork, packWork } from './analysis/packed-work.ts';
import { reportRepeated } from './analysis/repeated.ts';
import {
  ceilings,
  chipCeilings,
  type KernelRoofline,
  kernelRoofline,
  LEVELS,
  measuredCeilings,
  type RoofSources,
} from './analysis/roofline.ts';
import { copyLane, dispatchLanes, largest, pathSection, timedDomains } from './analysis/timeline.ts';
import { type TraceFeatures, traceFeatures } from './analysis/trace-features.ts';
import { reportUnlikeProducts, reportUnsurePeaks } from './analysis/unsure-peaks.ts';
import { reportUnnamedKernels } from './analysis/untold.ts';
import { WorkTable } from './analysis/work-table.ts';
import { reportZeroCounters } from './analysis/zero-counters.ts';
import type { CallEntry } from './calls.ts';
import {
  type CopyEntry,
  type DispatchSection,
  type FindingEntry,
  type KernelEntry,
  type OmittedSection,
  PROFILE_SCHEMA,
  PROFILE_VERSION,
  type ProfileDocument,
  type SampleEntry,
  type TraceSection,
} from './document.ts';
import { combine, isKnown, known, type Measure, unknown } from './measure.ts';
import { plainRecord } from './plain-record.ts';
import { type Recording, TIMING_REASONS, Timing } from './recording.ts';
import type { RecordingFinding } from './records.ts';

export interface AnalyseOptions {
  /** Architecture when the recording does not tell. */
  readonly arch?: string | undefined;
  /** HBM peak in GB/s when neither clocks nor product tell, or to replace them. */
  readonly hbmGbps?: number | undefined;
  /** Largest gap across queues that still counts as a dependency, in ns. */
  readonly maxGapNs?: number | undefined;
}

const MAX_SHOWN = 2000;
/** Dispatches that counter tracks show beside those. */
const MAX_TRACKED = 4000;
const MAX_SAMPLES = 2000;
/** Functions and markers that are listed one by one: those of most time. */
const MAX_CALLS = 2000;
/** Waves whose instructions are listed one by one, and how many of each. */
const EXECUTED_WAVES = 16;
const EXECUTED = 1000;
/** A GPU that a program leaves alone for an hour is more likely one of several runs. */
const APART_NS = 3600e9;
const APART = 'work lies hours apart, as that of several runs does';
const WENT_BACK = 'the clock of the dispatches went back';
const SERIALISED = 'collecting counters puts gaps between dispatches';

/** Analyses a recording. */
export function analyse(recording: Recording, options: AnalyseOptions = {}): ProfileDocument {
  return analysis(recording, options, () => {}).document;
}

/**
 * Analyses a recording; beside the document, whose lists are cut, all its work for the timeline of the page. `between` is called between the
 * stages, when what only the one before needed is garbage.
 */
export function analyseAll(
  recording: Recording,
  options: AnalyseOptions = {},
  between: () => void = () => {},
): { readonly document: ProfileDocument; readonly work: PackedWork | undefined } {
  const { document, onPath } = analysis(recording, options, between);
  between();
  return { document, work: packWork(recording, onPath) };
}

function analysis(
  recording: Recording,
  options: AnalyseOptions,
  between: () => void,
): { readonly document: ProfileDocument; readonly onPath: Int32Array | undefined } {
  reportNoDispatches(recording);
  reportRepeated(recording);
  reportUnknownAgents(recording);
  completeTurns(recording);
  for (const agent of recording.agents.values()) withChipFacts(agent);
  const table = new MetricTable(recording, options.arch);
  reportUnsurePeaks(recording, table.usedAgents(), options.hbmGbps);
  reportUnlikeProducts(recording, table.usedAgents());
  reportOddMachines(recording, table.usedAgents());
  reportUnnamedKernels(recording);
  reportZeroCounters(recording);
  const domain = mainDomain(recording);
  const { work, streams } = workNodes(recording, table, domain);
  const path = work.length > 0 ? longestPath(work, { ...gapOption(options), streams }) : undefined;
  between();
  const noGap = whyNoGap(recording, path, domain);
  const features = recording.traces.map(traceFeatures);
  const roofs = roofSources(recording, options);
  const { kernels, others } = kernelEntries(recording, { table, path, features, roofs, noGap });
  reportOmitted(recording, others.kernels, others.kernelNs);
  const calls = callEntries(recording);
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
    calls: calls.entries,
    copies: copyEntries(recording),
    allocations: [...recording.allocations].map(([operation, sum]) => ({ operation, ...sum })),
    omitted: { ...others, ...calls.others },
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
  const back = r.simulated === undefined ? clockBack(r, domain) : 0;
  if (back > 0) {
    r.report(
      'profile/clock-back',
      r.sources[0]?.path ?? '',
      `Dispatches of a queue began up to ${(back / 1e9).toPrecision(3)} s before others with lower numbers. Span and idle time say nothing then; the order on the timeline is that of the times.`,
    );
    return WENT_BACK;
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
  const ids = new Map<number, number>();
  const streamOf = (id: number, process: number): number => {
    if (id < 0 || id === none) return -1;
    // They count up from 0, so that what is kept of each is an array.
    const key = process * r.streams.size + id;
    const found = ids.get(key) ?? ids.size;
    if (found === ids.size) ids.set(key, found);
    return found;
  };
  const d = r.dispatches;
  const laneOf = dispatchLanes(r, (name) => nodes.lanes.id(name));
  const agents = table.agentIds();
  /** Groups of each agent by kernel. */
  const groups = Array.from(agents, () => [] as number[]);
  const groupOf = (row: number): number => {
    const kernel = d.kernel.get(row);
    const ofAgent = groups[agents[d.agent.get(row)]];
    ofAgent[kernel] ??= nodes.addGroup({
      kind: 'dispatch',
      symbol: r.kernels.get(kernel),
      agent: table.agentKeyOf(row),
    });
    return ofAgent[kernel];
  };
  for (let row = 0; row < d.length; row++) {
    if (d.timing.get(row) !== Timing.KNOWN || d.domain.get(row) !== domain) continue;
    streams[nodes.length] = streamOf(d.stream.get(row), d.process.get(row));
    nodes.push(groupOf(row), laneOf(row), d.start.get(row), d.end.get(row));
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

/** Says when what was read has nothing about kernels. */
function reportNoDispatches(r: Recording): void {
  const isAboutKernels = r.dispatches.length > 0 || r.traces.length > 0 || r.samples.size > 0 || r.reported.size > 0;
  if (isAboutKernels) return;
  const sums = r.calls.sumsOfWork;
  const only =
    sums === 0
      ? ''
      : ` The statistics files have sums of work, ${sums} times in all, and nothing of single dispatches.`;
  const calls = r.calls.total - sums;
  r.report(
    'profile/no-dispatches',
    r.sources[0]?.path ?? '',
    `Of kernels nothing was read: API calls and markers ${calls}, copies ${r.copies.length}, dispatches 0.${only}`,
  );
}

/** Dispatches with counters; where they are many, some at even distances. */
function countedRows(r: Recording): number[] {
  const columns = r.counters.names.flatMap((name) => r.counters.column(name)?.sum ?? []);
  const rows: number[] = [];
  if (columns.length === 0) return rows;
  for (let row = 0; row < r.dispatches.length; row++) {
    if (columns.some((sum) => row < sum.length && !Number.isNaN(sum[row]))) rows.push(row);
  }
  const step = Math.max(1, rows.length / MAX_TRACKED);
  return Array.from({ length: Math.min(MAX_TRACKED, rows.length) }, (_, i) => rows[Math.floor(i * step)]);
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
  const track = (row: number, roofline: KernelRoofline, sums: readonly MetricSum[]): void => {
    if (timing[row] !== Timing.KNOWN || d.domain.get(row) !== domain) return;
    tracked.add({ start: d.start.get(row) - origin, end: d.end.get(row) - origin, roofline, sums });
  };
  const sumsOf = (row: number): readonly MetricSum[] => {
    const arch = table.agentOf(row)?.arch;
    return r.counters.size > 0 && arch !== undefined ? table.sum(arch, Int32Array.of(row)) : [];
  };
  const rooflineOf = (row: number, sums: readonly MetricSum[]): KernelRoofline | undefined =>
    sums.length > 0
      ? kernelRoofline(sums, ceilings(table.agentOf(row), roofSources(r, options)), run !== undefined)
      : undefined;
  const shown = Array.from(rows, (row) => {
    const known1 = timing[row] === Timing.KNOWN;
    const why = unknown(TIMING_REASONS[timing[row]] ?? 'no timestamps');
    const sums = sumsOf(row);
    const roofline = rooflineOf(row, sums);
    if (roofline !== undefined) track(row, roofline, sums);
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
  // The longest are not all that have counters: tracks of them alone would leave out what short ones reach.
  const isShown = new Set(rows);
  for (const row of countedRows(r)) {
    if (isShown.has(row)) continue;
    const sums = sumsOf(row);
    const roofline = rooflineOf(row, sums);
    if (roofline !== undefined) track(row, roofline, sums);
  }
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

/** The functions and markers of most time, and the sum of the others. */
function callEntries(r: Recording): {
  readonly entries: CallEntry[];
  readonly others: Pick<OmittedSection, 'functions' | 'calls' | 'callNs'>;
} {
  const chosen = largest(r.calls.size, MAX_CALLS, (id) => r.calls.timeOf(id));
  const entries = Array.from(chosen, (id) => r.calls.get(id));
  const sum = (of: (call: CallEntry) => number) => entries.reduce((all, call) => all + of(call), 0);
  return {
    entries: entries.sort((a, b) => b.totalNs - a.totalNs),
    others: {
      functions: r.calls.size - entries.length,
      calls: r.calls.total - sum((call) => call.calls),
      callNs: entries.length === r.calls.size ? 0 : r.calls.totalNs - sum((call) => call.totalNs),
    },
  };
}

/** Says when there are more kernels than are described one by one. */
function reportOmitted(r: Recording, kernels: number, ns: number): void {
  if (kernels === 0) return;
  r.report(
    'profile/many-kernels',
    r.sources[0]?.path ?? '',
    `The kernels of least time, ${kernels} of them with ${(ns / 1e6).toPrecision(3)} ms in all, are only part of the sums.`,
  );
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
