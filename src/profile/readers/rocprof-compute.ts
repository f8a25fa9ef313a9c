// rocprof-compute workload folders: sysinfo.csv, pmc_perf.csv (one wide row per dispatch, per-channel columns), one file
// per SQ level counter, roofline.csv. Source: rocm-systems projects/rocprofiler-compute, src/utils/utils.py and parser.py.
import type { MeasuredRoofline, Recording } from '../recording.ts';
import { type ByteSource, baseName, dirName } from '../source.ts';
import { type Header, type RowHandler, readCsv } from './csv.ts';
import { badRow, reportEmpty, reportTiming } from './rocprofv3-csv.ts';
import { amount, count, isEmptyCell, kernelName, number } from './values.ts';

/** Process numbers of workload folders start here, away from those of rocprofv3 files. */
const COMPUTE_PROCESSES = 1 << 20;

/** Columns of wide files that describe the dispatch; everything else is a counter. */
const DESCRIBING = new Set(
  `dispatchid gpuid queueid queueindex pid tid gridsize workgroupsize ldsperworkgroup scratchperworkitem archvgpr accumvgpr
   sgpr wavesize kernelname starttimestamp endtimestamp correlationid sig obj dispatchns completens xccindex nodeid kernelid`
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
  readCsv(source, (header) => (cells) => {
    applySysinfo((name) => cells[header.at(name)] ?? '', agentKey(source.path), source.path, recording);
  });
}

/** Takes what sysinfo says about the machine; `text` gives a field, empty when it is not there. */
export function applySysinfo(text: (name: string) => string, key: string, file: string, recording: Recording): void {
  const positive = (name: string) => {
    const value = number(text(name));
    if (value !== undefined && value > 0) return value;
    if (text(name) !== '') {
      recording.report('profile/bad-sysinfo', file, `${name} is '${text(name)}'; numbers that need it are unknown.`);
    }
    return undefined;
  };
  const agent = recording.agent(key);
  const arch = text('gpu_arch') || text('gpu_soc');
  recording.setArch(agent, /^gfx[0-9a-f]+$/.test(arch) ? arch : undefined, file);
  agent.name = text('gpu_model') || text('gpu_name') || undefined;
  agent.cuCount = positive('cu_per_gpu');
  agent.simdPerCu = positive('simd_per_cu');
  agent.xccCount = positive('num_xcd');
  agent.wavesPerCu = positive('max_waves_per_cu');
  agent.maxClockMhz = positive('max_sclk');
  agent.memoryClockMhz = positive('max_mclk');
  agent.hbmChannels = positive('num_hbm_channels');
  agent.l2Channels = positive('total_l2_chan');
  for (const name of ['workload_name', 'command', 'rocm_version', 'timestamp', 'hostname']) {
    if (text(name) !== '') recording.info.set(name, text(name));
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
  readCsv(source, (header) => (cells) => {
    recording.rooflines.push(
      measuredRoofline(agentKey(source.path), cells[header.at('device')] ?? '', (names) =>
        number(cells[header.at(...names)]),
      ),
    );
  });
}

/** The agent of a workload folder; its rows name the GPU by `GPU_ID`, its sysinfo does not. */
function agentKey(file: string): string {
  return `rocprof-compute ${dirName(file) || '.'}`;
}

/** `SQ_LEVEL_WAVES.csv` holds accumulators that belong to its own pass only. */
function passPrefix(file: string): string {
  const name = baseName(file).replace(/\.csv$/, '');
  return /^(SQ_LEVEL|SQ_INST_LEVEL|SQ_IFETCH_LEVEL|SQC_DCACHE_INFLIGHT_LEVEL|SQC_ICACHE_INFLIGHT_LEVEL)/.test(name)
    ? `${name}:`
    : '';
}

/** Reads one wide file: pmc_perf*.csv, timestamps.csv or an SQ level file. Rows of all files match by position. */
export function readWide(source: ByteSource, recording: Recording): void {
  const rows = readCsv(source, (header) => wideHandler(header, source.path, recording));
  if (rows === 0) reportEmpty(recording, source.path);
}

function wideHandler(h: Header, file: string, r: Recording): RowHandler {
  const at = {
    name: h.at('Kernel_Name'),
    gpu: h.at('GPU_ID'),
    start: h.at('Start_Timestamp'),
    end: h.at('End_Timestamp'),
    queue: h.at('Queue_Id'),
    dispatch: h.at('Dispatch_ID'),
    correlation: h.at('Correlation_ID'),
    grid: h.at('Grid_Size'),
    workgroup: h.at('Workgroup_Size'),
    lds: h.at('LDS_Per_Workgroup'),
    scratch: h.at('Scratch_Per_Workitem'),
    vgpr: h.at('Arch_VGPR'),
    agpr: h.at('Accum_VGPR'),
    sgpr: h.at('SGPR'),
  };
  const prefix = passPrefix(file);
  const scalars: { index: number; name: string }[] = [];
  const channels = new Map<string, number[]>();
  h.names.forEach((name, index) => {
    const channel = /^(.+)\[\d+\]$/.exec(name);
    if (channel !== null) {
      const list = channels.get(channel[1]) ?? [];
      list.push(index);
      channels.set(channel[1], list);
    } else if (!isDescribing(name)) scalars.push({ index, name: prefix + name });
  });
  // Folders are runs of their own: dispatch 0 of one is not dispatch 0 of another.
  const process = COMPUTE_PROCESSES + r.processOrdinal('rocprof-compute', agentKey(file));
  const agent = agentKey(file);
  const domain = r.domains.id(agent);
  r.serialised.add(domain);
  const d = r.dispatches;
  const read = (cells: string[], index: number) => (index < 0 ? undefined : cells[index]);
  const first = { gpu: undefined as string | undefined };
  /** The agent of a row: sysinfo describes the GPUs of a folder once for all. */
  const agentOf = (gpu: string | undefined): string => {
    first.gpu ??= gpu;
    if (gpu === first.gpu) return agent;
    const key = `${agent} GPU ${gpu}`;
    if (!r.agents.has(key)) Object.assign(r.agent(key), { ...r.agent(agent), key });
    return key;
  };
  let position = 0;
  return (cells) => {
    if (cells.length !== h.names.length) return badRow(r, file, 'the number of cells differs from the header');
    r.indexAll();
    const kernel = r.kernels.id(kernelName(cells[at.name]));
    let row = r.findDispatch(domain, process, position, kernel);
    if (row === undefined) {
      const { start, end, state } = r.clock.interval(read(cells, at.start), read(cells, at.end));
      reportTiming(r, file, state, 'dispatches');
      const own = agentOf(read(cells, at.gpu));
      row = d.start.push(start);
      d.end.push(end);
      d.timing.push(state);
      d.kernel.push(kernel);
      d.agent.push(r.agentKeys.id(own));
      d.queue.push(r.queues.id(`${own} queue ${read(cells, at.queue) ?? '?'}`));
      d.stream.push(-1);
      d.config.push(
        r.configId({
          workgroup: [count(cells[at.workgroup]), -1, -1],
          grid: [count(cells[at.grid]), -1, -1],
          lds: count(read(cells, at.lds)),
          scratch: count(read(cells, at.scratch)),
          vgpr: count(read(cells, at.vgpr)),
          agpr: count(read(cells, at.agpr)),
          sgpr: count(read(cells, at.sgpr)),
        }),
      );
      d.process.push(process);
      d.domain.push(domain);
      d.dispatchId.push(position);
      d.correlation.push(-1);
    }
    position++;
    const add = (name: string, value: number) => {
      if (r.counters.add(name, row, value, file) === 'conflict') {
        r.report(
          'profile/counter-conflict',
          file,
          `Counter ${name} differs between passes by more than 1%; the first is used.`,
        );
      }
    };
    const cellOf = (name: string, index: number): number | undefined => {
      const value = amount(cells[index]);
      if (value === undefined && !isEmptyCell(cells[index])) {
        r.report(
          'profile/unreadable-counter',
          file,
          `Counter ${name} is '${(cells[index] as string).slice(0, 40)}' in some rows, which is no number; those dispatches have no value of it.`,
        );
      }
      return value;
    };
    for (const { index, name } of scalars) {
      const value = cellOf(name, index);
      if (value !== undefined) add(name, value);
    }
    for (const [name, indexes] of channels) {
      let sum = 0;
      for (const index of indexes) sum += cellOf(name, index) ?? Number.NaN;
      if (Number.isNaN(sum)) continue;
      if (name === 'TCC_REQ') {
        const most = Math.max(...indexes.map((index) => amount(cells[index]) ?? 0));
        add(`${prefix}TCC_REQ:BUSIEST`, most * indexes.length);
      }
      if (h.at(`${name}_sum`) < 0) add(`${prefix}${name}_sum`, sum);
      else {
        const total = amount(cells[h.at(`${name}_sum`)]);
        if (total !== undefined && Math.abs(total - sum) > 0.01 * Math.max(total, sum)) {
          r.report(
            'profile/channel-sum',
            file,
            `The channels of ${name} do not add up to ${name}_sum (they come from different passes).`,
          );
        }
      }
    }
  };
}
