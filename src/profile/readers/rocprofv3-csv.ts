// rocprofv3 CSV files of every kind, columns resolved by name so that old and new versions read alike.
// Source: rocprofiler-sdk source/lib/output/generateCSV.cpp; ROCm 6.2 files lack some columns.
import { StringTable } from '../columns.ts';
import type { AgentFacts } from '../machines.ts';
import { NO_PARTNER } from '../pairing.ts';
import type { Recording } from '../recording.ts';
import { type ByteSource, dirName } from '../source.ts';
import { apiTrace, firstOf, stats } from './api-calls.ts';
import { type CellsHandler, type Header, type RowHandler, readCsv, readCsvRows } from './csv.ts';
import { CellIds, END, type TableRow } from './csv-row.ts';
import { FileProcesses, processKey } from './file-process.ts';
import { pcSampling } from './pc-samples.ts';
import {
  badRow,
  counterCell,
  NOT_TRACED,
  reportEmpty,
  reportNoSize,
  reportNoSizes,
  reportSize,
  reportTiming,
  SIZES,
  textProblems,
} from './row-problems.ts';
import { count, counterName, isEmptyCell, isHardwareCount, number } from './values.ts';

/** The kinds of CSV that are told apart by their columns. */
export type CsvKind =
  | 'kernel-trace'
  | 'counter-collection'
  | 'agent-info'
  | 'stats'
  | 'api-trace'
  | 'memory-copy'
  | 'memory-allocation'
  | 'scratch-memory'
  | 'pc-sampling'
  | 'streamed-counters'
  | 'att-stats'
  | 'compute-wide'
  | 'compute-long'
  | 'compute-native'
  | 'compute-dispatch-info'
  | 'compute-sysinfo'
  | 'compute-roofline';

/** What a CSV file is, judged by its columns only; undefined when it is none of the known kinds. */
export function csvKind(header: Header): CsvKind | undefined {
  if (header.has('Counter_Name', 'Counter_Value')) {
    // Samples of counters (SPM), which are many of a dispatch.
    if (header.has('Timestamp') && !header.has('Start_Timestamp')) return 'streamed-counters';
    if (!header.has('GPU_ID', 'LDS_Per_Workgroup')) return 'counter-collection';
    return header.has('Kernel_Name') ? 'compute-long' : 'compute-native';
  }
  if (header.has('Sample_Timestamp', 'Instruction')) return 'pc-sampling';
  if (header.has('Vaddr', 'Instruction', 'Latency')) return 'att-stats';
  if (header.has('Node_Id', 'Agent_Type')) return 'agent-info';
  // rocprof 2 writes what the GPU did beside API calls.
  if (header.has('Domain', 'Operation') && header.at(...END) >= 0) {
    return header.has('Kernel_Name') ? 'kernel-trace' : 'memory-copy';
  }
  const hasTimes = header.has('Kind', 'Kernel_Name', 'Start_Timestamp', 'End_Timestamp');
  if (hasTimes || header.has('Kernel_Name', 'Workgroup_Size_X')) return 'kernel-trace';
  if (header.at('gpu_arch', 'gpu_soc') >= 0 && header.at('workload_name', 'cu_per_gpu', 'numCU') >= 0) {
    return 'compute-sysinfo';
  }
  if (header.has('device', 'HBMBw')) return 'compute-roofline';
  if (header.has('Kernel_Name')) {
    const hasSizes = header.at('Grid_Size', 'grd') >= 0 && header.at('Workgroup_Size', 'wgr') >= 0;
    // Scripts leave columns out; what has counters is no mere list of dispatches.
    if (hasSizes || header.names.some((name) => isHardwareCount(counterName(name)))) return 'compute-wide';
  }
  if (header.has('Dispatch_ID', 'Kernel_Name', 'GPU_ID')) return 'compute-dispatch-info';
  if (header.has('Direction', 'Source_Agent_Id')) return 'memory-copy';
  if (header.has('Operation', 'Alloc_Flags')) return 'scratch-memory';
  if (header.has('Operation', 'Allocation_Size')) return 'memory-allocation';
  if (header.has('Domain', 'Function')) return 'api-trace';
  if (header.has('Name', 'Calls', 'TotalDurationNs')) return 'stats';
  return undefined;
}

/** Reads one rocprofv3 CSV of the given kind into the recording. */
export function readRocprofCsv(source: ByteSource, kind: CsvKind, recording: Recording): void {
  const make = HANDLERS[kind];
  if (make === undefined) return;
  const listed = kind === 'counter-collection' && listsInstances(source);
  const processes = new FileProcesses(recording, source.path);
  const rows = readCsvRows(
    source,
    (header) => make(header, source.path, recording, listed, processes),
    textProblems(source.path, recording),
  );
  if (listed) recording.reportUnevenInstances(source.path, 0);
  if (rows === 0) reportEmpty(recording, source.path);
}

/** `listed`: the file has a row for each instance of a counter. */
type MakeHandler = (
  header: Header,
  file: string,
  recording: Recording,
  listed: boolean,
  processes: FileProcesses,
) => RowHandler;

const HANDLERS: Partial<Record<CsvKind, MakeHandler>> = {
  'kernel-trace': kernelTrace,
  'counter-collection': counterCollection,
  stats: ofTexts(stats),
  'api-trace': apiTrace,
  'memory-copy': memoryCopy,
  'memory-allocation': ofTexts(memoryAllocation),
  'scratch-memory': ofTexts(memoryAllocation),
  'pc-sampling': ofTexts(pcSampling),
};

/** The handler of tables of which the texts of all cells are used. */
function ofTexts(make: (header: Header, file: string, recording: Recording) => CellsHandler): MakeHandler {
  return (header, file, recording) => {
    const handler = make(header, file, recording);
    return (row) => handler(row.texts());
  };
}

/** The same of a table with a row for each counter: rocprofv3 writes no row without a value. */
function listedCell(r: Recording, file: string, name: string, text: string | undefined): number | undefined {
  if (isEmptyCell(text)) {
    r.reportAlike(
      'profile/unreadable-counter',
      file,
      `Some rows, as one of ${name}, have no value of their counter; those dispatches have no value of it.`,
    );
  }
  return counterCell(r, file, name, text);
}

/** What ROCm 6.2 and before call columns of a trace. */
const OLDER: Readonly<Record<string, readonly string[]>> = {
  LDS_Block_Size: ['Group_Segment_Size'],
  Scratch_Size: ['Private_Segment_Size'],
};

function kernelTrace(h: Header, file: string, r: Recording, _: boolean, processes: FileProcesses): RowHandler {
  const at = {
    name: h.at('Kernel_Name'),
    start: h.at('Start_Timestamp'),
    end: h.at(...END),
    agent: h.at('Agent_Id', 'GPU_ID'),
    queue: h.at('Queue_Id'),
    stream: h.at('Stream_Id'),
    dispatch: h.at('Dispatch_Id'),
    correlation: h.at('Correlation_Id'),
    pid: h.at('Process_Id', 'Pid', 'Guid'),
  };
  // In the order of `configNumbers`.
  const config = ['Workgroup_Size_X', 'Workgroup_Size_Y', 'Workgroup_Size_Z', 'Grid_Size_X', 'Grid_Size_Y']
    .concat(['Grid_Size_Z', 'LDS_Block_Size', 'Scratch_Size', 'VGPR_Count', 'Accum_VGPR_Count', 'SGPR_Count'])
    .map((name) => h.at(name, ...(OLDER[name] ?? [])));
  const folder = dirName(file);
  const machine = r.machines.ofFolder(folder);
  const domain = r.machineDomain(machine);
  const numbers = new Float64Array(config.length);
  const numberOf = r.passNumbers.ofFile(file);
  const width = h.names.length;
  const d = r.dispatches;
  const firstRow = d.length;
  r.tracedRuns.add(`${folder}\0${processKey(file, '')}`);
  const pids = new CellIds((pid) => processes.idOf(pid));
  const kernels = new CellIds((name) => r.kernelId(name ?? ''));
  const agents = new CellIds((agent) => r.agentKeys.id(r.machines.agentKey(machine, agent ?? '')));
  const queues = queueIds(r);
  const streams = new CellIds((stream) => (stream === undefined ? -1 : r.streams.id(stream)));
  // Among the operations of rocprof 2 are copies.
  const copies = h.at('Operation') < 0 ? undefined : memoryCopy(h, file, r);
  const isDispatch = ofKind(h, file, r, /KERNEL_DISPATCH$/i);
  const isReplayed = r.replayed.has(folder);
  return (row) => {
    if (row.length !== width) return badRow(r, file, 'the number of cells differs from the header');
    if (!isDispatch(row)) return;
    if (copies !== undefined && row.isEmptyAt(at.name)) return copies(row);
    if (row.isEmptyAt(at.name))
      r.report('profile/unnamed-kernel', file, 'The kernels of some dispatches have no name.');
    const { start, end, state } = r.clock.interval(row.value(at.start), row.value(at.end));
    const dispatchId = numberOf(row.count(at.dispatch));
    if (dispatchId === NO_PARTNER) return;
    const kernel = row.id(kernels, at.name);
    const pid = row.id(pids, at.pid);
    const process =
      processes.of(pid, row.part) ??
      processes.choose(pid, (one) => r.isTracedOtherwise(domain, one, dispatchId, start, end));
    const agent = row.id(agents, at.agent);
    const queue = queues(agent, row, at.queue);
    const stream = row.id(streams, at.stream);
    for (let i = 0; i < config.length; i++) {
      numbers[i] = row.count(config[i]);
      if (numbers[i] < 0 && config[i] >= 0) reportNoSize(r, file, h.names[config[i]], row.text(config[i]));
    }
    for (let i = 0; i < SIZES; i++) reportSize(r, file, numbers[i]);
    const launch = { process, kernel, agent, queue, stream, config: r.configs.id(numbers) };
    const replayed = isReplayed ? r.findTraced(domain, process, dispatchId) : undefined;
    if (replayed !== undefined && replayed >= firstRow && d.kernel.get(replayed) === kernel)
      return r.reportReplays(file);
    if (dispatchId < 0 && at.dispatch >= 0) {
      r.report(
        'profile/bad-record',
        file,
        'The number of a dispatch is none that a profiler counts to; counters of other files do not find it.',
      );
    }
    const before = r.tracedBefore({ domain, process, dispatchId, kernel, start, end, state }, firstRow, file);
    if (before !== undefined) return;
    reportTiming(r, file, state, 'dispatches');
    d.add(launch, { start, end, state, domain, dispatchId, correlation: row.count(at.correlation) });
  };
}

/** Whether a cell of the column `Kind` names one of the kinds; where nothing is named, the table tells the kind. */
const isOfKinds = (cell: string | undefined, kinds: RegExp): boolean => !cell || kinds.test(cell);

function otherKind(r: Recording, file: string, kind: string | undefined): void {
  badRow(r, file, `they are of the kind ${(kind ?? '').slice(0, 40)}, which is none of this table`);
}

/** Whether a row is of one of the kinds; one of another kind is reported. */
function ofKind(h: Header, file: string, r: Recording, kinds: RegExp): (row: TableRow) => boolean {
  const at = h.at('Kind');
  const known = new CellIds((text) => Number(isOfKinds(text, kinds)));
  return (row) => {
    const found = row.id(known, at) === 1;
    if (!found) otherKind(r, file, row.text(at));
    return found;
  };
}

/** The ids of queues, each of an agent, by the cells of their column. */
function queueIds(r: Recording): (agent: number, row: TableRow, column: number) => number {
  const names = new StringTable();
  const numbers = new CellIds((queue) => names.id(queue ?? '?'));
  const ids: number[][] = [];
  return (agent, row, column) => {
    const number = row.id(numbers, column);
    ids[agent] ??= [];
    ids[agent][number] ??= r.queues.id(`${r.agentKeys.get(agent)} queue ${names.get(number)}`);
    return ids[agent][number];
  };
}

/** Where kernels are replayed: which run of a dispatch counted. */
export const REPLAY = 'Replay_Pass';

function counterCollection(
  h: Header,
  file: string,
  r: Recording,
  listed: boolean,
  processes: FileProcesses,
): RowHandler {
  const at = {
    name: h.at('Kernel_Name'),
    start: h.at('Start_Timestamp'),
    end: h.at('End_Timestamp'),
    agent: h.at('Agent_Id'),
    queue: h.at('Queue_Id'),
    dispatch: h.at('Dispatch_Id'),
    correlation: h.at('Correlation_Id'),
    pid: h.at('Process_Id'),
    grid: h.at('Grid_Size'),
    workgroup: h.at('Workgroup_Size'),
    lds: h.at('LDS_Block_Size'),
    scratch: h.at('Scratch_Size'),
    vgpr: h.at('VGPR_Count'),
    agpr: h.at('Accum_VGPR_Count'),
    sgpr: h.at('SGPR_Count'),
    counter: h.at('Counter_Name'),
    value: h.at('Counter_Value'),
    replay: h.at(REPLAY),
  };
  const folder = dirName(file);
  const machine = r.machines.ofFolder(folder);
  const domain = r.machineDomain(machine);
  const numberOf = r.passNumbers.ofFile(file);
  const d = r.dispatches;
  const firstRow = d.length;
  if (listed) {
    r.report(
      'profile/counter-instances',
      file,
      'Counters have several rows with different values in a dispatch. They are taken for instances and added up.',
    );
  }
  /** The last dispatch whose size was compared: most rows are of the one before. */
  let sized = { row: -1, grid: -1, fits: true };
  const pids = new CellIds((pid) => processes.idOf(pid));
  const isTraced = r.tracedRuns.has(`${folder}\0${processKey(file, '')}`);
  const kernels = new CellIds((name) => r.kernelId(name ?? ''));
  const agentNames = new StringTable();
  const agents = new CellIds((agent) => agentNames.id(r.machines.agentKey(machine, agent ?? '')));
  const queues = queueIds(r);
  const counterNames = new StringTable();
  const counters = new CellIds((counter) => counterNames.id(counterName(counter ?? '')));
  const size = (row: TableRow, column: number): number => {
    const found = row.count(column);
    if (found < 0 && column >= 0) reportNoSize(r, file, h.names[column], row.text(column));
    return found;
  };
  const sizeOf = (row: TableRow, column: number): number => reportSize(r, file, size(row, column));
  if (at.name < 0) {
    r.report(
      'profile/unnamed-kernel',
      file,
      'The file has no column Kernel_Name; its dispatches are shown as one kernel.',
    );
  }
  return (row) => {
    if (row.length !== h.names.length) return badRow(r, file, 'the number of cells differs from the header');
    const told = row.count(at.dispatch);
    if (told < 0) return badRow(r, file, 'the dispatch id is not a number');
    const dispatchId = numberOf(told);
    if (dispatchId === NO_PARTNER) return;
    const counter = counterNames.get(row.id(counters, at.counter));
    if (counter === '') return badRow(r, file, 'the counter has no name');
    const digits = row.digits(at.value);
    const value = digits >= 0 ? digits : listedCell(r, file, counter, row.text(at.value));
    r.indexAll();
    const kernel = row.id(kernels, at.name);
    const pid = row.id(pids, at.pid);
    const pass = at.replay < 0 ? '' : ` pass ${row.text(at.replay)}`;
    const isCounted = (one: number) => {
      const found = r.findDispatch(domain, one, dispatchId, kernel);
      return found !== undefined && r.counters.isOfFile(counter, found, file + pass);
    };
    // Passes of one process that were joined have headers between them, too.
    const process = processes.of(pid, 0) ?? processes.choose(pid, isCounted);
    const agent = agentNames.get(row.id(agents, at.agent));
    let known =
      r.findDispatch(domain, process, dispatchId, kernel) ??
      r.findUnnumbered(domain, process, row.count(at.correlation), kernel, dispatchId);
    if (known !== undefined && !r.isOnGpuOf(known, agent, file)) return;
    if (known !== undefined && known < firstRow) {
      const grid = row.count(at.grid);
      if (known !== sized.row || grid !== sized.grid)
        sized = { row: known, grid, fits: r.isOfSizeOf(known, grid, file) };
      if (!sized.fits) return;
    }
    if (known === undefined && r.isOfOtherKernel(domain, process, dispatchId, firstRow, file)) return;
    if (isTraced) r.serialised.add(domain);
    if (known === undefined) {
      if (r.isTraced(domain, process)) r.report('profile/missing-rows', file, NOT_TRACED);
      r.serialised.add(domain);
      const { start, end, state } = r.clock.interval(row.value(at.start), row.value(at.end));
      reportTiming(r, file, state, 'dispatches');
      const agentId = r.agentKeys.id(agent);
      const launch = {
        process,
        kernel,
        agent: agentId,
        queue: queues(agentId, row, at.queue),
        stream: -1,
        config: r.configId({
          workgroup: [sizeOf(row, at.workgroup), -1, -1],
          grid: [sizeOf(row, at.grid), -1, -1],
          lds: size(row, at.lds),
          scratch: size(row, at.scratch),
          vgpr: size(row, at.vgpr),
          agpr: size(row, at.agpr),
          sgpr: size(row, at.sgpr),
        }),
      };
      known = d.add(launch, { start, end, state, domain, dispatchId, correlation: row.count(at.correlation) });
    }
    // rocprofv3 has added up the instances, but for files that list them. What it derives (small letters) is no count.
    const isInstance = listed && !/[a-z]/.test(counter.replace(/_sum$/, ''));
    if (value !== undefined) r.addCounter(counter, known, value, file, isInstance ? 'instances' : 'sums', pass);
  };
}

/** Bytes at the beginning of a file that tell whether it lists instances. */
const INSTANCE_SAMPLE = 1 << 16;

/** Columns that tell where on the GPU a counter is: rocprofiler-sdk calls its dimensions so. */
const DIMENSION = /^(?:DIMENSION_?)?(?:XCC|AID|SHADER_ENGINE|SHADER_ARRAY|WGP|INSTANCE|CHANNEL)(?:_?(?:ID|INDEX))?$/i;

/**
 * Whether a file has a row for each instance of a counter: rows that follow each other are of one counter and dispatch, and their values
 * or their places differ. Rows that are there twice have the same value and place.
 */
function listsInstances(source: ByteSource): boolean {
  const bytes = source.read(0, INSTANCE_SAMPLE).slice();
  const whole = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
  const head = { path: source.path, size: whole.length, read: (at: number, n: number) => whole.subarray(at, at + n) };
  let found = false;
  readCsv(head, (h) => {
    const at = ['Process_Id', 'Agent_Id', 'Dispatch_Id', REPLAY, 'Counter_Name'].map((name) => h.at(name));
    const valueAt = h.at('Counter_Value');
    const dimensions = h.names.flatMap((name, index) => (DIMENSION.test(name) ? [index] : []));
    let [before, value, place] = ['', '', ''];
    return (cells) => {
      const key = at.map((index) => cells[index] ?? '').join();
      const here = dimensions.map((index) => cells[index] ?? '').join();
      if (key === before && (number(cells[valueAt]) !== number(value) || here !== place)) found = true;
      [before, value, place] = [key, cells[valueAt] ?? '', here];
    };
  });
  return found;
}

/** Reads agent_info.csv: the GPUs and CPUs of a machine. */
export function readAgentInfo(source: ByteSource, recording: Recording): void {
  const agents = new Map<string, AgentFacts>();
  const nodes = new Map<string, string>();
  const ofKind = { gpus: 0, others: 0 };
  readCsv(
    source,
    (h) => {
      const get = (cells: string[], name: string) => {
        const value = number(cells[h.at(name)]);
        return value === undefined || value <= 0 ? undefined : value;
      };
      return (cells) => {
        const isGpu = cells[h.at('Agent_Type')]?.toUpperCase().includes('GPU') ?? false;
        const absolute = nodeOf(cells[h.at('Node_Id')]);
        const node = nodeOf(cells[h.at('Logical_Node_Id')]) ?? absolute ?? '';
        const arch = cells[h.at('Name')];
        const target = /^(?:amdgcn-amd-amdhsa--)?(gfx[0-9a-f]+)(?=:|$)/.exec(arch ?? '')?.[1];
        if (isGpu && target === undefined) {
          const which = `Agent ${node} is a GPU whose architecture the file does not tell`;
          recording.report('profile/bad-record', source.path, `${which}: its name is '${(arch ?? '').slice(0, 40)}'.`);
        }
        const facts = {
          key: `Agent ${node}`,
          isGpu,
          name: cells[h.at('Product_Name')] || arch || undefined,
          arch: isGpu ? target : undefined,
          cuCount: get(cells, 'Cu_Count'),
          simdPerCu: get(cells, 'Simd_Per_Cu'),
          xccCount: get(cells, 'Num_Xcc'),
          wavesPerCu: get(cells, 'Max_Waves_Per_Cu'),
          maxClockMhz: get(cells, 'Max_Engine_Clk_Fcompute'),
        };
        const before = agents.get(facts.key);
        if (before !== undefined) return reportOtherAgent(recording, source.path, before, facts);
        const other = nodes.get(absolute ?? node);
        if (other !== undefined) {
          const what = `${other} and ${facts.key} are both node ${absolute ?? node}`;
          recording.report(
            'profile/agent-conflict',
            source.path,
            `${what}: work of one may be shown as that of the other.`,
          );
        }
        nodes.set(absolute ?? node, facts.key);
        const place = isGpu ? ofKind.gpus++ : ofKind.others++;
        const aliases = [`${isGpu ? 'GPU' : 'CPU'} ${place}`, `Agent ${absolute ?? node}`];
        agents.set(facts.key, { ...facts, aliases });
      };
    },
    textProblems(source.path, recording),
  );
  recording.addAgents(dirName(source.path), source.path, [...agents.values()]);
}

/** The number of a node as the rows of other tables have it; undefined for a cell without one. */
function nodeOf(cell: string | undefined): string | undefined {
  const found = count(cell?.trim());
  return found < 0 ? undefined : String(found);
}

/** Reports an agent of which one file says two things. */
function reportOtherAgent(r: Recording, file: string, { aliases: _, ...before }: AgentFacts, now: AgentFacts): void {
  if (JSON.stringify(before) === JSON.stringify(now)) return;
  r.report('profile/agent-conflict', file, `${now.key} is described twice, not alike; the first counts.`);
}

function memoryCopy(h: Header, file: string, r: Recording): RowHandler {
  const at = [['Direction', 'Operation'], ['Stream_Id'], ['Correlation_Id'], ['Start_Timestamp'], END].map((n) =>
    h.at(...n),
  );
  const bytes = h.at('Bytes', 'Size', 'Copy_Bytes');
  const pid = h.at('Process_Id', 'Guid');
  const domain = r.machineDomain(r.machines.ofFolder(dirName(file)));
  const processes = firstOf(r, file, 'Memory copies', file);
  const directions = new CellIds((text) => r.directions.id((text ?? '').replace(/^MEMORY_COPY_/, '')));
  const streams = new CellIds((stream) => (stream === undefined ? -1 : r.streams.id(stream)));
  const c = r.copies;
  const isCopy = ofKind(h, file, r, /MEMORY_COPY$/i);
  return (row) => {
    if (row.length !== h.names.length) return badRow(r, file, 'the number of cells differs from the header');
    if (!isCopy(row)) return;
    const process = row.id(processes, pid);
    if (process < 0) return;
    const { start, end, state } = r.clock.interval(row.value(at[3]), row.value(at[4]));
    reportTiming(r, file, state, 'memory copies');
    c.start.push(start);
    c.end.push(end);
    c.timing.push(state);
    c.direction.push(row.id(directions, at[0]));
    c.stream.push(row.id(streams, at[1]));
    c.bytes.push(row.count(bytes));
    c.correlation.push(row.count(at[2]));
    c.process.push(process);
    c.domain.push(domain);
  };
}

function memoryAllocation(h: Header, file: string, r: Recording): CellsHandler {
  const operation = h.at('Operation');
  const size = h.at('Allocation_Size');
  const kind = h.at('Kind');
  return (cells) => {
    if (cells.length !== h.names.length) return badRow(r, file, 'the number of cells differs from the header');
    if (!isOfKinds(cells[kind], /(?:MEMORY_ALLOCATION|SCRATCH_MEMORY)$/i)) return otherKind(r, file, cells[kind]);
    if (isEmptyCell(cells[size])) reportNoSizes(r, file);
    const key = cells[operation] ?? '';
    const sum = r.allocations.get(key) ?? { count: 0, bytes: 0 };
    sum.count++;
    sum.bytes += size < 0 ? 0 : Math.max(0, count(cells[size]));
    r.allocations.set(key, sum);
  };
}
