// What readers fill in: dispatches, copies, counters, samples and thread traces of one profiling run, in columns.

import { finding, type ProfileRuleId } from '../finding/index.ts';
import { CallSums, CallTable } from './calls.ts';
import { Clock, Timing } from './clock.ts';
import { NumbersTable, RowsById, StringTable } from './columns.ts';
import { CounterStore } from './counters.ts';
import { type AgentFacts, Machines } from './machines.ts';
import { PassNumbers } from './pairing.ts';
import { isHardwareCount, kernelName, kernelSymbol, truncatedName } from './readers/values.ts';
import {
  type Agent,
  CopyTable,
  DispatchTable,
  type LaunchConfig,
  type MeasuredRoofline,
  type RecordingFinding,
  type ReportedMetric,
  type SampleLine,
  type SimulatedRun,
  type ThreadTrace,
} from './records.ts';

export { TIMING_REASONS, Timing } from './clock.ts';

/** A folder of one rank of several, as `mpirun rocprofv3 -d out/rank_%rank%` makes them. */
const RANK = /(?:^|[/_.-])((?:rank|mpi|process|proc|task|worker)[_.-]?[0-9]+)(?=\/|$)/i;
/** Ranks that are told apart. */
const MAX_RANKS = 1 << 12;

const OTHER_KERNEL =
  'Dispatches of another file have the numbers of some here and run other kernels: not every pass ran the same kernels in the same order. What is said of these here is left out.';
const SAME_NUMBER =
  'Several dispatches of a process have one number: counters of other files are taken for those of the first.';

const REPLAYED =
  'Kernels were replayed for each group of counters: the runs of a dispatch count once, with the times of the first and the counters of all.';

/** How many numbers a launch configuration has. */
export const CONFIG_NUMBERS = 11;

/** Everything read from the inputs. */
export class Recording {
  /** Called where much that was read is garbage. */
  readonly between: () => void;
  /** Set when the virtual GPU ran the program: counts are exact, times are modelled or unknown. */
  simulated: SimulatedRun | undefined;
  /** The origin of all timestamps. */
  readonly clock = new Clock();
  readonly sources: { readonly path: string; readonly format: string }[] = [];
  readonly findings: RecordingFinding[] = [];
  readonly agents = new Map<string, Agent>();
  /** Of the wide files of each workload folder: the number of the first dispatch, and the rows. */
  readonly wideFiles = new Map<string, { readonly first: number; readonly rows: number }[]>();
  /** The run (`GUID`) that the times of each workload folder are of. */
  readonly runsOfTimes = new Map<string, string>();
  readonly kernels = new StringTable();
  /** The symbols of kernels that files name by them, by the name that is shown. */
  readonly symbols = new Map<string, string>();
  readonly agentKeys = new StringTable();
  readonly queues = new StringTable();
  readonly streams = new StringTable();
  readonly directions = new StringTable();
  /** Clock domains by label; see `DispatchTable.domain`. */
  readonly domains = new StringTable();
  readonly machines = new Machines();
  readonly passNumbers = new PassNumbers();
  /** Clock domains whose times are of runs that collected counters: the profiler then puts gaps between dispatches. */
  readonly serialised = new Set<number>();
  /** Folders and names of processes (`processKey`), with a NUL between, of which there is a trace of dispatches. */
  readonly tracedRuns = new Set<string>();
  /** Whether the profiler says that it took sets of counters in turns. */
  isMultiplexed = false;
  /** Folders whose kernels were run several times each, once for each group of counters. */
  readonly replayed = new Set<string>();
  /** Launch configurations: three sizes of the workgroup, three of the grid, LDS, scratch, VGPRs, AGPRs, SGPRs. */
  readonly configs = new NumbersTable(CONFIG_NUMBERS);
  readonly dispatches = new DispatchTable();
  readonly copies = new CopyTable();
  readonly counters = new CounterStore();
  readonly calls = new CallSums();
  /** The calls one by one, for the timeline; names and lanes are in `callNames`. */
  readonly callSpans = new CallTable();
  readonly callNames = new StringTable();
  readonly allocations = new Map<string, { count: number; bytes: number }>();
  readonly samples = new Map<string, SampleLine>();
  readonly traces: ThreadTrace[] = [];
  readonly rooflines: MeasuredRoofline[] = [];
  readonly info = new Map<string, string>();
  /** Derived numbers of other tools, by kernel name, NUL, agent key. */
  readonly reported = new Map<string, ReportedMetric[]>();
  private readonly processes = new StringTable();
  private readonly findingIndex = new Map<string, RecordingFinding>();

  constructor(between: () => void = () => {}) {
    this.between = between;
  }

  /** Says what the numbers of traced dispatches show: some that no row has. Pauses of the profiler look so, too. */
  private reportGaps(): void {
    for (const rows of this.tracedRows.values()) {
      const { least, most, count } = rows.extent;
      this.reportGap(least, most, count, this.sources[0]?.path ?? '');
    }
  }

  /** The same of one process, whose traced dispatches have numbers from `least` to `most`, of which `count` are there. */
  reportGap(least: number, most: number, count: number, file: string): void {
    const missing = most - least + 1 - count;
    if (!(missing > 0)) return;
    this.report(
      'profile/missing-dispatches',
      file,
      `The dispatches of a process have the numbers ${least} to ${most}, and ${missing} of these are not in the trace: the profiler was paused or left kernels out, or rows are missing. Sums are of those that are there.`,
    );
  }

  /** Forgets what only readers need. */
  endReading(): void {
    this.reportGaps();
    for (const one of [this.idOfText, this.byId, this.sameIds, this.tracedRows, this.alike, this.firstSources])
      one.clear();
  }

  /** Whether nothing was recorded: at most what machine it was. */
  get isEmpty(): boolean {
    const kept = [this.dispatches, this.copies].some((table) => table.length > 0) || this.counters.size > 0;
    const summed = [this.calls, this.allocations, this.samples, this.reported].some((map) => map.size > 0);
    return !kept && !summed && this.traces.length === 0 && this.rooflines.length === 0;
  }

  /** Records something wrong or missing; repeated findings of one file are counted. */
  report(rule: ProfileRuleId, file: string, message: string, kernel?: string): void {
    const last = this.lastFinding;
    // Of a damaged file each row may have the same finding.
    if (last?.rule === rule && last.message === message && last.kernel === kernel && last.place.file === file) {
      last.count++;
      return;
    }
    const key = `${rule}\0${file}\0${message}\0${kernel ?? ''}`;
    const found = this.findingIndex.get(key);
    this.lastFinding = found;
    if (found !== undefined) {
      found.count++;
      return;
    }
    if (this.findings.length >= 1000) return;
    const made = { ...finding({ rule, message, kernel, place: { file } }), rule, count: 1 };
    this.findingIndex.set(key, made);
    this.findings.push(made);
  }
  private lastFinding: RecordingFinding | undefined;

  /** Records something wrong that a file has in many places: the message gives the first as an example, the others are counted. */
  reportAlike(rule: ProfileRuleId, file: string, message: string): void {
    const key = `${rule}\0${file}`;
    const first = this.examples.get(key) ?? message;
    this.examples.set(key, first);
    this.report(rule, file, first);
  }
  private readonly examples = new Map<string, string>();

  /** The agent with this key, created empty when new. */
  agent(key: string): Agent {
    let agent = this.agents.get(key);
    if (agent === undefined) {
      agent = {
        key,
        name: undefined,
        arch: undefined,
        isGpu: true,
        cuCount: undefined,
        simdPerCu: undefined,
        xccCount: undefined,
        wavesPerCu: undefined,
        maxClockMhz: undefined,
        memoryClockMhz: undefined,
        hbmChannels: undefined,
        hbmGbps: undefined,
        l2Channels: undefined,
      };
      this.agents.set(key, agent);
    }
    return agent;
  }

  /**
   * Takes the agents of a file; those that contradict the ones before, or are of a `host` of another name, are of another machine. Returns the
   * machine's number.
   */
  addAgents(folder: string, file: string, agents: readonly AgentFacts[], host?: string): number {
    const { machine, clash, hosts } = this.machines.place(folder, folder || file, agents, host);
    if (hosts !== undefined) {
      const [here, there] = hosts;
      const what = `The inputs are of different machines, ${here} and ${there}`;
      this.report('profile/agent-conflict', file, `${what}: their clocks and their GPUs are not joined.`);
    }
    if (clash !== undefined) {
      const [here, there] = clash;
      const text = (agent: AgentFacts) =>
        `${agent.arch ?? 'no GPU'} with ${agent.cuCount ?? 'an unknown number of'} CUs`;
      this.report(
        'profile/agent-conflict',
        file,
        `${here.key} is ${text(here)} here and ${text(there)} elsewhere: the inputs are of different machines and are not joined.`,
      );
    }
    for (const facts of agents) {
      const agent = this.agent(this.machines.agentKey(machine, facts.key));
      agent.isGpu = facts.isGpu;
      agent.name ??= facts.name;
      agent.arch ??= facts.arch;
      agent.cuCount ??= facts.cuCount;
      agent.simdPerCu ??= facts.simdPerCu;
      agent.xccCount ??= facts.xccCount;
      agent.wavesPerCu ??= facts.wavesPerCu;
      agent.maxClockMhz ??= facts.maxClockMhz;
    }
    return machine;
  }

  /** The clock domain of a machine. */
  machineDomain(machine: number): number {
    return this.domains.id(this.machines.nameOf(machine) ?? `machine ${machine}`);
  }

  /** Sets an agent's architecture; another one under the same key means that the inputs are of different machines. */
  setArch(agent: Agent, arch: string | undefined, file: string): void {
    if (agent.arch !== undefined && arch !== undefined && agent.arch !== arch) {
      this.report(
        'profile/agent-conflict',
        file,
        `${agent.key} is ${arch} here and ${agent.arch} elsewhere; the inputs are of different machines, analyse them apart.`,
      );
    }
    agent.arch ??= arch;
  }

  /**
   * Adds a value of a counter to a dispatch, and reports one that is left out. `instances` as in `CounterStore.add`; `pass` names the replay of
   * the dispatch where one file has several. Returns whether the value is used.
   */
  addCounter(
    name: string,
    row: number,
    value: number,
    file: string,
    instances: 'instances' | 'sums',
    pass = '',
  ): boolean {
    if (!Number.isInteger(value) && isHardwareCount(name)) {
      const what = `Some counters, as ${name} with ${value}, have fractions, and the hardware counts whole things`;
      this.reportAlike('profile/fractional-counter', file, `${what}: they may be means, or of other units.`);
    }
    const added = this.counters.add(name, row, value, file + pass, instances);
    if (added === 'conflict') {
      this.report(
        'profile/counter-conflict',
        file,
        `Counter ${name} has values that differ by more than 1%; the first is used.`,
      );
    } else if (added === 'twice') {
      this.reportTwice(file, 'Counters of dispatches');
    }
    return added === 'stored';
  }

  /** Reports counters of which a file lists unlike numbers of instances for the dispatches from `firstRow` on: some may be missing, or be there twice. */
  reportUnevenInstances(file: string, firstRow: number): void {
    for (const { name, least, most } of this.counters.uneven(firstRow, (row) => this.dispatches.agent.get(row))) {
      const what = `Counter ${name} has ${least} values in some dispatches and ${most} in others`;
      this.report('profile/bad-record', file, `${what}, which are added up: values are missing, or are there twice.`);
    }
  }

  /** The id of a kernel that a file names by its symbol or its name. */
  kernelId(text: string): number {
    const known = this.idOfText.get(text);
    if (known !== undefined) return known;
    const [symbol, name] = [kernelSymbol(text), kernelName(text)];
    if (symbol !== name && !this.symbols.has(name)) this.symbols.set(name, symbol);
    const id = this.kernels.id(name);
    this.idOfText.set(text, id);
    return id;
  }
  private readonly idOfText = new Map<string, number>();

  /** Dense id of a launch configuration. */
  configId({ workgroup, grid, lds, scratch, vgpr, agpr, sgpr }: LaunchConfig): number {
    this.configNumbers.set(workgroup);
    this.configNumbers.set(grid, 3);
    this.configNumbers.set([lds, scratch, vgpr, agpr, sgpr], 6);
    return this.configs.id(this.configNumbers);
  }
  private readonly configNumbers = new Float64Array(CONFIG_NUMBERS);

  /** The launch configuration that has the id. */
  config(id: number): LaunchConfig {
    const [wx, wy, wz, gx, gy, gz, lds, scratch, vgpr, agpr, sgpr] = this.configs.get(id);
    return { workgroup: [wx, wy, wz], grid: [gx, gy, gz], lds, scratch, vgpr, agpr, sgpr };
  }

  /**
   * Process ids differ between counter passes; within a folder they are numbered in order of appearance. An empty id is of a file that does
   * not tell; the first process that does is the same one, unless it `isOther`: a further one of that file. Folders of ranks are of processes of
   * their own.
   */
  processOrdinal(folder: string, pid: string, isOther = false): number {
    const joined = this.joined.get(`${folder}\0${pid}`);
    if (joined !== undefined) return this.processOrdinal(folder, joined);
    const key = `${folder}\0${pid}`;
    const known = this.processes.find(key);
    if (known !== undefined) return this.ordinals[known];
    const id = this.processes.id(key);
    const unnamed = this.unnamedProcess.get(folder);
    const rank = RANK.exec(folder)?.[1] ?? this.rankOf.get(folder);
    const first = rank === undefined ? 0 : this.ranks.id(rank) % MAX_RANKS;
    const before = this.processesOf.get(folder) ?? 0;
    const count = first + before * (rank === undefined ? 1 : MAX_RANKS);
    if (pid === '') this.unnamedProcess.set(folder, count);
    else if (unnamed !== undefined && !isOther) {
      this.unnamedProcess.delete(folder);
      this.ordinals[id] = unnamed;
      return unnamed;
    }
    this.processesOf.set(folder, before + 1);
    this.ordinals[id] = count;
    const host = this.hostOf.get(folder);
    if (host !== undefined) this.hosts.set(count, host);
    return count;
  }

  /** Makes a process of a folder, whose key is `of`, a further pass of another one. */
  joinProcess(folder: string, of: string, first: string): void {
    this.joined.set(`${folder}\0${of}`, first);
  }
  private readonly joined = new Map<string, string>();

  /** Makes the processes of a folder others than those of folders of other ranks. */
  setRank(folder: string, rank: string): void {
    this.rankOf.set(folder, rank);
  }
  private readonly rankOf = new Map<string, string>();

  /** Makes the processes of a folder those of a host. */
  setHost(folder: string, host: string): void {
    this.hostOf.set(folder, host);
  }
  private readonly hostOf = new Map<string, string>();
  /** The hosts of processes, where there may be several. */
  readonly hosts = new Map<number, string>();

  /**
   * Whether `source` is the first that tells what a process did (its memory copies, its API calls). Passes of one program, and files of one
   * run in several formats, tell it again: those count once.
   */
  isFirstSource(what: string, domain: number, process: number, source: string, file: string): boolean {
    const key = `${what}\0${domain},${process}`;
    const first = this.firstSources.get(key);
    if (first === undefined) this.firstSources.set(key, source);
    if (first === undefined || first === source) return true;
    this.reportTwice(file, what);
    return false;
  }
  private readonly firstSources = new Map<string, string>();
  private readonly unnamedProcess = new Map<string, number>();
  private readonly ranks = new StringTable();
  private readonly ordinals: number[] = [];
  private readonly processesOf = new Map<string, number>();

  /**
   * The row of a dispatch that was traced before: in another file, or in this one with the same times; -1 for one of another kernel there, to
   * be left out. Undefined for a new one, for which the next row is remembered. `firstRow` is the table's length before the file.
   */
  tracedBefore(
    one: {
      domain: number;
      process: number;
      dispatchId: number;
      kernel: number;
      start: number;
      end: number;
      state: number;
    },
    firstRow: number,
    file: string,
  ): number | undefined {
    if (one.domain !== this.tracedDomain || one.process !== this.tracedProcess) {
      [this.tracedDomain, this.tracedProcess] = [one.domain, one.process];
      const key = `${one.domain},${one.process}`;
      this.tracedNow = this.tracedRows.get(key) ?? new RowsById();
      this.tracedRows.set(key, this.tracedNow);
    }
    if (one.dispatchId < 0) return undefined;
    const d = this.dispatches;
    const before = this.tracedNow.add(one.dispatchId, d.length);
    if (before === undefined) return undefined;
    if (!this.isSameKernel(d.kernel.get(before), one.kernel)) {
      if (before < firstRow) {
        this.report('profile/other-kernel', file, OTHER_KERNEL);
        return -1;
      }
      this.report('profile/bad-record', file, SAME_NUMBER);
      return undefined;
    }
    const isSame = one.state === Timing.KNOWN && d.start.get(before) === one.start && d.end.get(before) === one.end;
    if (!isSame && before >= firstRow) {
      this.report('profile/bad-record', file, SAME_NUMBER);
      return undefined;
    }
    this.reportTwice(file, 'Dispatches');
    return before;
  }

  /** The row of a dispatch of the number that was traced. */
  findTraced(domain: number, process: number, dispatchId: number): number | undefined {
    return dispatchId < 0 ? undefined : this.tracedRows.get(`${domain},${process}`)?.find(dispatchId);
  }

  /** Whether a dispatch of the number was traced at another time. */
  isTracedOtherwise(domain: number, process: number, dispatchId: number, start: number, end: number): boolean {
    const d = this.dispatches;
    const before = this.findTraced(domain, process, dispatchId);
    return before !== undefined && (d.start.get(before) !== start || d.end.get(before) !== end);
  }

  /** Reports that a file has several runs of its dispatches. */
  reportReplays(file: string): void {
    this.report('profile/joined-passes', file, REPLAYED);
  }

  /** Reports something that was described before. */
  reportTwice(file: string, what: string): void {
    this.report(
      'profile/duplicate-dispatch',
      file,
      `${what} are described more than once; the first description counts.`,
    );
  }
  private tracedDomain = -1;
  private tracedProcess = -1;
  private tracedNow = new RowsById();
  private readonly tracedRows = new Map<string, RowsById>();

  /**
   * Whether a dispatch that is described again ran on the GPU of its row; reports when it did not. What was counted there is not of this
   * dispatch.
   */
  isOnGpuOf(row: number, agent: string, file: string): boolean {
    const before = this.agentKeys.get(this.dispatches.agent.get(row));
    // ROCm 6.2 writes `4` where later versions write `Agent 4`.
    const number = (key: string): string => key.replace(/^Agent /, '');
    if (before === '' || agent === '' || number(before) === number(agent)) return true;
    this.report(
      'profile/other-gpu',
      file,
      `Dispatches ran on ${agent} here and on ${before} in another pass; counters of the other pass are left out.`,
    );
    return false;
  }

  /** The row of a dispatch seen before under this identity. */
  findDispatch(domain: number, process: number, dispatchId: number, kernel: number): number | undefined {
    if (dispatchId < 0) return undefined;
    const found = this.rowsOf(domain, process).find(dispatchId);
    if (found === undefined || this.isSameKernel(this.dispatches.kernel.get(found), kernel)) return found;
    return this.sameIds.get(`${domain},${process},${dispatchId},${kernel}`);
  }

  /**
   * The row of a dispatch of a trace without dispatch numbers, as ROCm 6.2 writes it, by the number of the call that launched it; undefined where
   * several dispatches have that, as those of a graph. It has the dispatch number from then on.
   */
  findUnnumbered(
    domain: number,
    process: number,
    correlation: number,
    kernel: number,
    dispatchId: number,
  ): number | undefined {
    const d = this.dispatches;
    if (this.unnumbered === undefined) {
      this.unnumbered = new Map();
      for (let row = 0; row < d.length; row++) {
        const number = d.correlation.get(row);
        if (d.dispatchId.get(row) >= 0 || number < 0) continue;
        const key = `${d.domain.get(row)},${d.process.get(row)},${number}`;
        this.unnumbered.set(key, this.unnumbered.has(key) ? -1 : row);
      }
    }
    const row = this.unnumbered.get(`${domain},${process},${correlation}`) ?? -1;
    if (row < 0 || !this.isSameKernel(d.kernel.get(row), kernel)) return undefined;
    d.dispatchId.set(row, dispatchId);
    this.rowsOf(domain, process).add(dispatchId, row);
    return row;
  }
  private unnumbered: Map<string, number> | undefined;

  /** Whether two kernels are one, of which one name may be truncated. */
  private isSameKernel(a: number, b: number): boolean {
    if (a === b) return true;
    const key = a * 2 ** 26 + b;
    let found = this.alike.get(key);
    if (found === undefined) {
      const [x, y] = [this.kernels.get(a), this.kernels.get(b)];
      found = truncatedName(x) === y || truncatedName(y) === x;
      this.alike.set(key, found);
    }
    return found;
  }
  private readonly alike = new Map<number, boolean>();

  /**
   * Whether the number of a dispatch that was not found is that of a dispatch of another kernel in a file before: what is said of it is left
   * out, which is reported. `firstRow` is the table's length before the file.
   */
  isOfOtherKernel(domain: number, process: number, dispatchId: number, firstRow: number, file: string): boolean {
    const taken = dispatchId < 0 ? undefined : this.rowsOf(domain, process).find(dispatchId);
    if (taken === undefined || taken >= firstRow) return false;
    this.report('profile/other-kernel', file, OTHER_KERNEL);
    return true;
  }

  /** Whether a dispatch that is described again has the size of its row; reports when it has not. `grid` is its work-items in all. */
  isOfSizeOf(row: number, grid: number, file: string): boolean {
    const [, , , x, y, z] = this.configs.get(this.dispatches.config.get(row));
    const before = x * (y < 0 ? 1 : y) * (z < 0 ? 1 : z);
    if (grid <= 0 || before <= 0 || grid === before) return true;
    this.report(
      'profile/other-kernel',
      file,
      `Dispatches have ${grid} work-items here and ${before} in another pass; counters of the other pass are left out.`,
    );
    return false;
  }

  /** Whether a trace of dispatches of a process was read. */
  isTraced(domain: number, process: number): boolean {
    return this.tracedRows.has(`${domain},${process}`);
  }

  /** Indexes all rows that are not yet; only recordings with counters need this. */
  indexAll(): void {
    const d = this.dispatches;
    for (; this.indexed < d.length; this.indexed++) {
      const [domain, process] = [d.domain.get(this.indexed), d.process.get(this.indexed)];
      const [id, kernel] = [d.dispatchId.get(this.indexed), d.kernel.get(this.indexed)];
      if (id < 0) continue;
      const before = this.rowsOf(domain, process).add(id, this.indexed);
      if (before === undefined || d.kernel.get(before) === kernel) continue;
      this.sameIds.set(`${domain},${process},${id},${kernel}`, this.indexed);
    }
  }
  private indexed = 0;
  /** Rows by dispatch id for each clock domain and process; dispatches of other kernels under a number that is taken are in `sameIds`. */
  private readonly byId = new Map<number, Map<number, RowsById>>();
  private readonly sameIds = new Map<string, number>();

  private rowsOf(domain: number, process: number): RowsById {
    let processes = this.byId.get(domain);
    if (processes === undefined) {
      processes = new Map();
      this.byId.set(domain, processes);
    }
    let rows = processes.get(process);
    if (rows === undefined) {
      rows = new RowsById();
      processes.set(process, rows);
    }
    return rows;
  }
}
