// rocprof-compute workload folders: sysinfo.csv, pmc_perf.csv (one wide row per dispatch, per-channel columns), one file
// per SQ level counter, roofline.csv. Source: rocm-systems projects/rocprofiler-compute, src/utils/utils.py and parser.py.
// Omniperf 1 and rocprof before version 3 write the same with other column names (`KernelName`, `grd`, `BeginNs`).
import { type Recording, Timing } from '../recording.ts';
import type { MeasuredRoofline } from '../records.ts';
import { type ByteSource, baseName, dirName } from '../source.ts';
import { type CellsHandler, type Header, readCsv } from './csv.ts';
import { RowNumbers } from './row-numbers.ts';
import {
  badRow,
  counterCell,
  reportEmpty,
  reportNoSize,
  reportSize,
  reportTiming,
  textProblems,
} from './row-problems.ts';
import { amount, count, counterName, isEmptyCell, isNoValue, isUnnamed, number } from './values.ts';

/** Why a row has no place among the dispatches of its file. */
const NO_POSITION =
  'another row has their dispatch number, they have none, or they are in no order, behind 16,384 rows with higher numbers (sort them by dispatch number)';

/** Process numbers of workload folders start here, away from those of rocprofv3 files. */
const COMPUTE_PROCESSES = 1 << 20;

/** Columns of wide files that describe the dispatch; everything else is a counter. */
const DESCRIBING = new Set(
  `dispatchid gpuid queueid queueindex pid tid gridsize workgroupsize ldsperworkgroup scratchperworkitem archvgpr accumvgpr
   sgpr wavesize kernelname starttimestamp endtimestamp correlationid sig obj dispatchns completens xccindex nodeid kernelid guid
   index grd wgr lds scr vgpr fbar beginns endns durationns`
    .split(/\s+/)
    .filter((name) => name !== ''),
);

/** Merged files repeat describing columns as `Wave_Size_3`. */
function isDescribing(name: string): boolean {
  const key = name.toLowerCase().replace(/[^a-z0-9_]/g, '');
  return DESCRIBING.has(key.replace(/_/g, '')) || DESCRIBING.has(key.replace(/_\d+$/, '').replace(/_/g, ''));
}

/** Reads sysinfo.csv: the machine the folder was recorded on. */
export function readSysinfo(source: ByteSource, recording: Recording): void {
  let first: string | undefined;
  readCsv(
    source,
    (header) => (cells) => {
      if (first !== undefined) {
        if (first !== cells.join())
          recording.report('profile/bad-sysinfo', source.path, 'There are several rows; the first one is used.');
        return;
      }
      first = cells.join();
      applySysinfo((name) => cells[header.at(name)] ?? '', agentKey(source.path), source.path, recording);
    },
    textProblems(source.path, recording),
  );
}

/** Values beyond which a field has another unit than its own: MHz and GB/s. */
const CLOCK = [100, 10_000] as const;
const BANDWIDTH = [100, 100_000] as const;
const ANY = [0, Number.POSITIVE_INFINITY] as const;

/** Facts of the run by their names in the document, and what the columns of today and of Omniperf 1 call them. */
const RUN_FACTS: readonly (readonly string[])[] = [
  ['workload_name'],
  ['command'],
  ['rocm_version', 'host_rocmver'],
  ['timestamp', 'date'],
  ['hostname', 'host_name'],
];

/**
 * Takes what sysinfo says about the machine; `text` gives a field, empty when it is not there. Columns have the names of rocprof-compute and
 * Omniperf 2 (`cu_per_gpu`), or those of Omniperf 1 (`numCU`).
 */
export function applySysinfo(text: (name: string) => string, key: string, file: string, recording: Recording): void {
  const first = (names: readonly string[]) => names.find((name) => text(name) !== '');
  const textOf = (...names: string[]) => text(first(names) ?? names[0]);
  const positive = (...names: string[]) => within(ANY, ...names);
  const within = ([least, most]: readonly [number, number], ...names: string[]) => {
    const name = first(names);
    if (name === undefined) return undefined;
    const value = number(text(name));
    if (value !== undefined && value > 0 && value >= least && value <= most) return value;
    recording.report('profile/bad-sysinfo', file, `${name} is '${text(name)}'; numbers that need it are unknown.`);
    return undefined;
  };
  const agent = recording.agent(key);
  const arch = textOf('gpu_arch', 'gpu_soc');
  const target = /^(?:amdgcn-amd-amdhsa--)?(gfx[0-9a-f]+)(?=:|$)/i.exec(arch)?.[1];
  if (target === undefined && arch !== '')
    recording.report('profile/bad-sysinfo', file, `The architecture is '${arch}'; numbers that need it are unknown.`);
  recording.setArch(agent, target?.toLowerCase(), file);
  agent.name = textOf('gpu_model', 'gpu_name', 'name') || undefined;
  agent.cuCount = positive('cu_per_gpu', 'numCU');
  agent.simdPerCu = positive('simd_per_cu', 'numSIMD');
  agent.xccCount = positive('num_xcd');
  agent.wavesPerCu = positive('max_waves_per_cu', 'maxWavesPerCU');
  agent.maxClockMhz = within(CLOCK, 'max_sclk', 'sclk');
  agent.memoryClockMhz = within(CLOCK, 'max_mclk', 'mclk');
  agent.hbmChannels = positive('num_memory_channels', 'num_hbm_channels');
  agent.hbmGbps = within(BANDWIDTH, 'hbm_bw', 'hbmBW');
  agent.l2Channels = positive('total_l2_chan', 'totalL2Banks', 'L2Banks');
  for (const names of RUN_FACTS) {
    if (textOf(...names) !== '') recording.info.set(names[0], textOf(...names));
  }
}

const BANDWIDTHS: Readonly<Record<string, string>> = {
  HBM: 'HBMBw',
  L2: 'L2Bw',
  L1: 'L1Bw',
  LDS: 'LDSBw',
  MALL: 'MALLBw',
};
const RATES: Readonly<Record<string, readonly string[]>> = {
  'fp16-valu': ['FP16Flops'],
  'fp32-valu': ['FP32Flops'],
  'fp64-valu': ['FP64Flops'],
  'f16-mfma': ['MFMAF16Flops'],
  'bf16-mfma': ['MFMABF16Flops'],
  'f32-mfma': ['MFMAF32Flops'],
  'f64-mfma': ['MFMAF64Flops'],
  'f8-mfma': ['MFMAF8Flops'],
  'f6f4-mfma': ['MFMAF6F4Flops', 'MFMAF4Flops', 'MFMAF6Flops'],
  'i8-mfma': ['MFMAI8Ops'],
};

/** Peaks in GB/s and GFLOP/s (or GOP/s) measured on a machine; `value` gives a field by any of its names. */
export function measuredRoofline(
  agent: string,
  device: string,
  value: (names: readonly string[]) => number | undefined,
): MeasuredRoofline {
  const positive = (names: readonly string[]) => {
    const found = value(names);
    return found !== undefined && found > 0 ? found : undefined;
  };
  const bandwidths = new Map<string, number>();
  const rates = new Map<string, number>();
  for (const [level, name] of Object.entries(BANDWIDTHS)) {
    const found = positive([name]);
    if (found !== undefined) bandwidths.set(level, found);
  }
  for (const [rate, names] of Object.entries(RATES)) {
    const found = positive(names);
    if (found !== undefined) rates.set(rate, found);
  }
  return { agent, device, bandwidths, rates };
}

/** Reads roofline.csv. */
export function readMeasuredRoofline(source: ByteSource, recording: Recording): void {
  const file = source.path;
  const peak = (column: string | undefined, cell: string | undefined): number | undefined => {
    if (column === undefined || cell === undefined) return undefined;
    const text = cell.trim();
    // A peak is no counter: three digits behind a point are three digits.
    const value = amount(text, 'peak');
    if (value === undefined || !Number.isFinite(value)) {
      const what = `Peaks, as ${column} with '${cell.slice(0, 40)}', are no numbers`;
      recording.reportAlike('profile/bad-sysinfo', file, `${what}: those of the data sheet are used.`);
    }
    return value;
  };
  const rows = readCsv(
    source,
    (header) => (cells) => {
      recording.rooflines.push(
        measuredRoofline(agentKey(file), cells[header.at('device')] ?? '', (names) => {
          const at = header.at(...names);
          return peak(header.names[at], cells[at]);
        }),
      );
    },
    textProblems(file, recording),
  );
  if (rows === 0) reportEmpty(recording, file);
}

const WORKLOAD = 'rocprof-compute ';

/** Whether an agent is the GPU of a workload folder. */
export const isOfWorkload = (key: string): boolean => key.startsWith(WORKLOAD);

/** The agent of a workload folder; its rows name the GPU by `GPU_ID`, its sysinfo does not. Passes of rocprof 2 have folders within it. */
function agentKey(file: string): string {
  return `${WORKLOAD}${dirName(file).replace(/(?:^|\/)(?:pmc|pass)_[0-9]+$/, '') || '.'}`;
}

/**
 * `SQ_LEVEL_WAVES.csv` holds an accumulator that has the same name in every such pass, and what it is divided by. rocprof-compute 3 derives
 * `SQ_LEVEL_WAVES_ACCUM` and fills the pass, `results_pmc_perf_SQ_LEVEL_WAVES_ACCUM.csv`, with counters that no other one has.
 */
function passPrefix(file: string): string {
  const name = baseName(file)
    .replace(/^results_|\.csv$/g, '')
    .replace(/^pmc_perf_(?=SQ)/, '');
  return /^(SQ_LEVEL|SQ_INST_LEVEL|SQ_IFETCH_LEVEL|SQC_DCACHE_INFLIGHT_LEVEL|SQC_ICACHE_INFLIGHT_LEVEL)(?!.*_ACCUM$)/.test(
    name,
  )
    ? `${name}:`
    : '';
}

/** Adds the dispatches of one file of a folder: rows of all its files that describe one dispatch are one. Undefined for
 * one that ran on another GPU there. */
function dispatchRows(
  h: Header,
  file: string,
  r: Recording,
): (cells: string[], position: number) => number | undefined {
  const at = {
    name: h.at('Kernel_Name'),
    gpu: h.at('GPU_ID'),
    start: h.at('Start_Timestamp', 'BeginNs'),
    end: h.at('End_Timestamp', 'EndNs'),
    queue: h.at('Queue_Id'),
    grid: h.at('Grid_Size', 'grd'),
    workgroup: h.at('Workgroup_Size', 'wgr'),
    lds: h.at('LDS_Per_Workgroup', 'lds'),
    scratch: h.at('Scratch_Per_Workitem', 'scr'),
    vgpr: h.at('Arch_VGPR', 'vgpr'),
    agpr: h.at('Accum_VGPR'),
    sgpr: h.at('SGPR'),
    run: h.at('GUID'),
  };
  // Folders are runs of their own: dispatch 0 of one is not dispatch 0 of another.
  const process = COMPUTE_PROCESSES + r.processOrdinal('rocprof-compute', agentKey(file));
  const agent = agentKey(file);
  const domain = r.domains.id(agent);
  r.serialised.add(domain);
  const d = r.dispatches;
  const firstRow = d.length;
  const read = (cells: string[], index: number) => (index < 0 ? undefined : cells[index]);
  const size = (cells: string[], index: number): number => {
    const found = count(read(cells, index));
    if (found < 0) reportNoSize(r, file, h.names[index], read(cells, index));
    return found;
  };
  const first = { gpu: undefined as string | undefined };
  /** What a row calls its GPU; undefined, with a finding, where it does not say. */
  const gpuOfRow = (cells: string[]): string | undefined => {
    const text = read(cells, at.gpu)?.trim();
    if (text === undefined) return undefined;
    const id = count(text);
    if (id >= 0) return String(id);
    if (!isNoValue(text)) return text;
    r.report(
      'profile/bad-record',
      file,
      'Rows do not say which GPU they are of; they are taken for those of the first.',
    );
    return undefined;
  };
  /** The agent of a row: sysinfo describes the GPUs of a folder once for all. */
  const agentOf = (gpu: string | undefined): string => {
    if (gpu === undefined) return agent;
    first.gpu ??= gpu;
    if (gpu === first.gpu) return agent;
    const key = `${agent} GPU ${gpu}`;
    if (!r.agents.has(key)) Object.assign(r.agent(key), { ...r.agent(agent), key });
    return key;
  };
  const gpuOf = new Map<string, string>();
  /** Whether a GPU of this file is that of a row of a file before: each name is one GPU, whatever another file calls it. */
  const isNamedAlike = (gpu: string | undefined, row: number): boolean => {
    if (gpu === undefined) return true;
    const before = r.agentKeys.get(d.agent.get(row));
    const known = gpuOf.get(gpu);
    if (known === undefined && ![...gpuOf.values()].includes(before)) {
      gpuOf.set(gpu, before);
      return true;
    }
    return known === before || r.isOnGpuOf(row, known ?? `GPU ${gpu}`, file);
  };
  /** Passes of rocprof-compute 3 are runs of the program, seconds apart: what only a later one has is not between the dispatches of the first. */
  const isOtherRun = (run: string | undefined): boolean => {
    if (run === undefined || run === '') return false;
    const before = r.runsOfTimes.get(agent);
    if (before === undefined) r.runsOfTimes.set(agent, run);
    return before !== undefined && before !== run;
  };
  return (cells, position) => {
    r.indexAll();
    const kernel = r.kernelId(read(cells, at.name) ?? '');
    const found = r.findDispatch(domain, process, position, kernel);
    if (found !== undefined) {
      const isSame = isNamedAlike(gpuOfRow(cells), found) && r.isOfSizeOf(found, count(read(cells, at.grid)), file);
      return isSame ? found : undefined;
    }
    if (r.isOfOtherKernel(domain, process, position, firstRow, file)) return undefined;
    const { start, end, state: told } = r.clock.interval(read(cells, at.start), read(cells, at.end));
    const state = told === Timing.KNOWN && isOtherRun(read(cells, at.run)) ? Timing.OTHER_PASS : told;
    reportTiming(r, file, state, 'dispatches');
    const own = agentOf(gpuOfRow(cells));
    const row = d.start.push(start);
    d.end.push(end);
    d.timing.push(state);
    d.kernel.push(kernel);
    d.agent.push(r.agentKeys.id(own));
    d.queue.push(r.queues.id(`${own} queue ${read(cells, at.queue) ?? '?'}`));
    d.stream.push(-1);
    d.config.push(
      r.configId({
        workgroup: [reportSize(r, file, size(cells, at.workgroup)), -1, -1],
        grid: [reportSize(r, file, size(cells, at.grid)), -1, -1],
        lds: size(cells, at.lds),
        scratch: size(cells, at.scratch),
        vgpr: size(cells, at.vgpr),
        agpr: size(cells, at.agpr),
        sgpr: size(cells, at.sgpr),
      }),
    );
    d.process.push(process);
    d.domain.push(domain);
    d.dispatchId.push(position);
    d.correlation.push(-1);
    return row;
  };
}

const CHANNEL = /^(.+)\[(\d+)\]$/;

/** What the channels of a counter add up to for one dispatch. */
interface Channels {
  readonly sum: number;
  readonly most: number;
  readonly count: number;
}

/** Reports counters with fewer channels than the L2 of the GPU has: what they add up to is of a part of it. */
function reportChannels(r: Recording, file: string, channels: ReadonlyMap<string, readonly number[]>): void {
  const most = r.agents.get(agentKey(file))?.l2Channels;
  for (const [name, columns] of channels) {
    if (most === undefined || !name.startsWith('TCC_') || columns.length >= most) continue;
    r.report(
      'profile/uneven-counters',
      file,
      `${name} has ${columns.length} channels here, and the L2 of the GPU has ${most}: what they add up to is of a part of it.`,
    );
  }
}

function channelsOf(values: readonly number[]): Channels {
  return { sum: values.reduce((a, b) => a + b), most: Math.max(...values), count: values.length };
}

/** Adds the sum of a counter's channels, or compares it with the sum that the file has; whether it is used. */
function addChannels(
  r: Recording,
  file: string,
  name: string,
  row: number,
  of: Channels,
  total: number | undefined,
): boolean {
  if (Number.isNaN(of.sum)) return false;
  if (/(^|:)TCC_REQ$/.test(name)) r.addCounter(`${name}:BUSIEST`, row, of.most * of.count, file, 'sums');
  if (total === undefined) return r.addCounter(`${name}_sum`, row, of.sum, file, 'sums');
  if (Math.abs(total - of.sum) > 0.01 * Math.max(total, of.sum)) {
    r.report(
      'profile/channel-sum',
      file,
      `The channels of ${name} do not add up to ${name}_sum (they come from different passes).`,
    );
  }
  return false;
}

/** Reads one wide file: pmc_perf*.csv, timestamps.csv or an SQ level file. Rows of all files match by position. */
export function readWide(source: ByteSource, recording: Recording): void {
  let numbers: RowNumbers | undefined;
  const rows = readCsv(
    source,
    (header) => {
      const of = new RowNumbers(
        header,
        wideHandler(header, source.path, recording, (cells) => of.next(cells)),
      );
      numbers = of;
      return (cells) => of.row(cells);
    },
    textProblems(source.path, recording),
  );
  numbers?.end(recording, source.path, agentKey(source.path));
  if (rows === 0) reportEmpty(recording, source.path);
}

/** What tells the dispatch of a row apart from others of its file: id, process, kernel and time, or, in files without times, all cells. */
function identityOf(h: Header): (cells: string[]) => string | undefined {
  const identity = [['Dispatch_ID', 'Index'], ['PID'], ['GPU_ID'], ['Kernel_Name'], ['Start_Timestamp', 'BeginNs']];
  const at = identity.map((names) => h.at(...names));
  return (cells) => (at[0] < 0 ? undefined : (at[4] < 0 ? cells : at.map((index) => cells[index] ?? '')).join('\0'));
}

/** `positionOf` tells which dispatch of its run a row is of; undefined for one that is not known. */
function wideHandler(
  h: Header,
  file: string,
  r: Recording,
  positionOf: (cells: readonly string[]) => number | undefined,
): CellsHandler {
  const prefix = passPrefix(file);
  const scalars: { index: number; name: string }[] = [];
  const channels = new Map<string, number[]>();
  h.names.forEach((cell, index) => {
    const name = counterName(cell);
    const channel = CHANNEL.exec(name);
    if (channel !== null) {
      const list = channels.get(channel[1]) ?? [];
      list.push(index);
      channels.set(channel[1], list);
    } else if (!isDescribing(name) && !isUnnamed(name)) scalars.push({ index, name: prefix + name });
  });
  reportChannels(r, file, channels);
  const dispatchRow = dispatchRows(h, file, r);
  const identity = identityOf(h);
  /** The rows of dispatches by what tells them apart, undefined for those that are left out. */
  const seen = new Map<string, number | undefined>();
  /** Adds the counters of a row to a dispatch; whether any of them is used. */
  const add = (cells: string[], row: number): boolean => {
    let isUsed = false;
    for (const { index, name } of scalars) {
      const value = counterCell(r, file, name, cells[index]);
      if (value !== undefined && r.addCounter(name, row, value, file, 'sums')) isUsed = true;
    }
    for (const [name, indexes] of channels) {
      const values = indexes.map((index) => counterCell(r, file, name, cells[index]) ?? Number.NaN);
      const of = channelsOf(values);
      const at = h.at(`${name}_sum`);
      const total = isEmptyCell(cells[at]) ? undefined : (amount(cells[at], name) ?? Number.NaN);
      if (addChannels(r, file, prefix + name, row, of, total)) isUsed = true;
    }
    return isUsed;
  };
  return (cells) => {
    if (cells.length !== h.names.length) return badRow(r, file, 'the number of cells differs from the header');
    const key = identity(cells);
    if (key !== undefined && seen.has(key)) {
      // Rows of one dispatch may have counters of passes of their own.
      const before = seen.get(key);
      if (before !== undefined && !add(cells, before)) r.reportTwice(file, 'Dispatches');
      return;
    }
    const position = positionOf(cells);
    if (position === undefined) return badRow(r, file, NO_POSITION);
    const row = dispatchRow(cells, position);
    if (key !== undefined) seen.set(key, row);
    if (row !== undefined) add(cells, row);
  };
}

/** Reads one long file, as rocprof-compute 3 writes them: one row for each counter, or channel of one, of each dispatch. */
export function readLong(source: ByteSource, recording: Recording): void {
  const file = source.path;
  const prefix = passPrefix(file);
  const channels = new Map<string, Map<number, Map<string, number>>>();
  const rows = readCsv(
    source,
    (h) => {
      const [counter, value, dispatch] = ['Counter_Name', 'Counter_Value', 'Dispatch_ID'].map((name) => h.at(name));
      const dispatchRow = dispatchRows(h, file, recording);
      return (cells) => {
        if (cells.length !== h.names.length) {
          return badRow(recording, file, 'the number of cells differs from the header');
        }
        const id = count(cells[dispatch]);
        if (id < 0) return badRow(recording, file, 'the dispatch id is not a number');
        const row = dispatchRow(cells, id);
        if (row === undefined) return;
        const name = counterName(cells[counter] ?? '');
        if (name === '') return badRow(recording, file, 'the counter has no name');
        const amount = counterCell(recording, file, name, cells[value]);
        const channel = CHANNEL.exec(name);
        if (channel === null) {
          if (amount !== undefined) recording.addCounter(prefix + name, row, amount, file, 'sums');
          return;
        }
        const ofRow = channels.get(channel[1]) ?? new Map<number, Map<string, number>>();
        channels.set(channel[1], ofRow);
        const values = ofRow.get(row) ?? new Map<string, number>();
        ofRow.set(row, values);
        if (values.has(channel[2])) recording.reportTwice(file, 'Counters of dispatches');
        else values.set(channel[2], amount ?? Number.NaN);
      };
    },
    textProblems(file, recording),
  );
  for (const [name, ofRow] of channels) {
    for (const [row, values] of ofRow) {
      const of = channelsOf([...values.values()]);
      const total = recording.counters.column(`${prefix}${name}_sum`)?.sum[row];
      addChannels(recording, file, prefix + name, row, of, Number.isNaN(total) ? undefined : total);
    }
  }
  if (rows === 0) reportEmpty(recording, file);
}
