// rocprofv3 JSON (`<pid>_results.json`), streamed record by record. Source: rocprofiler-sdk source/lib/output/generateJSON.cpp.
import { RowsById } from '../columns.ts';
import { NO_PARTNER } from '../pairing.ts';
import { CONFIG_NUMBERS, type Recording, Timing } from '../recording.ts';
import type { Launch } from '../records.ts';
import { type ByteSource, dirName } from '../source.ts';
import { type AgentRow, distinctAgents, extent } from './agents.ts';
import { addCall } from './api-calls.ts';
import { processKey } from './file-process.ts';
import { readInOrder } from './json-order.ts';
import type { Json } from './json-stream.ts';
import { addSample } from './pc-samples.ts';
import { NOT_TRACED, reportNoSizes, reportSize, reportTiming, SIZES } from './row-problems.ts';
import { counterName, isCount, whole } from './values.ts';

const ROOT = '$.rocprofiler-sdk-tool';

/** A member of what JSON.parse made: names that every object has, like `constructor`, are none that a profiler writes. */
function member(value: Json, name: string): Json {
  return typeof value === 'object' && value !== null ? (value as Record<string, Json>)[name] : undefined;
}

function num(value: Json): number {
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'number' && Number.isFinite(value) ? value : -1;
}

/** A 64-bit mask in decimal; empty when it is none. */
function maskText(value: Json): string {
  const isMask = typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
  return isMask && value >= 0 ? BigInt.asUintN(64, BigInt(value)).toString() : '';
}

function str(value: Json): string {
  return typeof value === 'string' ? value : '';
}

function list(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/**
 * Members of the records of which there are a million. Each is read by its own name in the code, as V8 finds it in a few ns then, and `member`
 * needs thirty.
 */
interface Members {
  readonly [name: string]: Json;
  readonly handle?: Json;
  readonly x?: Json;
  readonly y?: Json;
  readonly z?: Json;
  readonly internal?: Json;
  readonly kind?: Json;
  readonly operation?: Json;
  readonly thread_id?: Json;
  readonly start_timestamp?: Json;
  readonly end_timestamp?: Json;
  readonly correlation_id?: Json;
  readonly stream_id?: Json;
  readonly dispatch_info?: Json;
  readonly kernel_id?: Json;
  readonly dispatch_id?: Json;
  readonly agent_id?: Json;
  readonly queue_id?: Json;
  readonly group_segment_size?: Json;
  readonly private_segment_size?: Json;
  readonly workgroup_size?: Json;
  readonly grid_size?: Json;
}

const NOTHING: Members = {};

/** A value as a record; one that is none has no members. */
function membersOf(value: Json): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : NOTHING;
}

/** The number of an object; those that are addresses may be larger than a double holds. */
function handle(value: Json): number | bigint {
  const inner = membersOf(value).handle;
  return typeof inner === 'bigint' ? inner : num(inner);
}

/** A launch, and whether its kernel is in the file. */
type NamedLaunch = { -readonly [K in keyof Launch]: Launch[K] } & { isNamed: boolean };

/** An agent's key and id, and the ids of its queues by what the file calls them. */
interface AgentIds {
  readonly key: string;
  readonly id: number;
  readonly queues: Map<number | bigint, number>;
}

/** The id of a number, which `make` gives it when it is new. */
function idOf(ids: Map<number | bigint, number>, of: number | bigint, make: (of: number | bigint) => number): number {
  const found = ids.get(of);
  if (found !== undefined) return found;
  const id = make(of);
  ids.set(of, id);
  return id;
}

/** Whether a file starts like rocprofv3 JSON. */
export function isRocprofJson(start: string): boolean {
  return /^\s*\{\s*"rocprofiler-sdk-tool"\s*:/.test(start);
}

/** Reads rocprofv3 JSON into the recording. */
export function readRocprofJson(source: ByteSource, recording: Recording): void {
  const reader = new Reader(source.path, recording);
  readInOrder(source, ROOT, (section, kind, value) => reader.value(section, kind, value));
  reader.finish();
}

/** The kinds whose records each list has. */
const KINDS: Readonly<Record<string, RegExp>> = {
  kernel_dispatch: /^KERNEL_DISPATCH/,
  memory_copy: /^MEMORY_COPY/,
  memory_allocation: /^MEMORY_ALLOCATION/,
  scratch_memory: /^SCRATCH_MEMORY/,
  hip_api: /^HIP_/,
  hsa_api: /^HSA_/,
  marker_api: /^MARKER_/,
  rccl_api: /^RCCL_/,
  rocdecode_api: /^ROCDECODE_/,
  rocjpeg_api: /^ROCJPEG_/,
};

/** Functions whose calls carry a text of the program: they are called by it, as rocprofv3 calls them in its tables. */
const WITH_TEXT = /^roctx(?:Mark|RangePush|RangeStart)A?$/;

class Reader {
  private readonly file: string;
  private readonly r: Recording;
  private readonly agents = new Map<number | bigint, string>();
  private readonly counters = new Map<number | bigint, string>();
  private readonly symbols = new Map<number, { kernel: number; vgpr: number; agpr: number; sgpr: number }>();
  private readonly operations = new Map<number, { kind: string; names: readonly Json[] }>();
  private readonly described: AgentRow<number | bigint>[] = [];
  private host: string | undefined;
  private placed: number | undefined;
  private placedDomain = 0;
  /** The texts of markers by the numbers of their calls. */
  private readonly markerTexts = new Map<number, string>();
  private instructions: readonly Json[] = [];
  private comments: readonly Json[] = [];
  private readonly made: NamedLaunch = {
    process: 0,
    kernel: 0,
    agent: 0,
    queue: 0,
    stream: -1,
    config: 0,
    isNamed: false,
  };
  private readonly configNumbers = new Float64Array(CONFIG_NUMBERS);
  /** Of the part that is read, by their numbers in the file. */
  private readonly idsOfAgents = new Map<number | bigint, AgentIds>();
  private readonly streams = new Map<number | bigint, number>();
  private process = 0;
  private unnamed = 0;
  /** Kernel ids of the part that is read; each part is of a process of its own. */
  private readonly ownSymbols = new Set<number>();
  /** The first record of each kind, of each part: parts that begin alike are copies. */
  private readonly firstRecords = new Set<string>();
  private readonly ownKinds = new Set<string>();
  /** What this file is the first to tell of the process of the part that is read. */
  private readonly ownSections = new Set<string>();
  private isCopy = false;
  private parts = 0;
  /** The rows of the dispatches that the trace of the part has, by their numbers in the file, and how many of its own only counters told of so far. */
  private ownTraced = new RowsById();
  private madeByCounters = 0;
  private firstOfPart = 0;
  /** Rows from here on are of this file. */
  private readonly firstRow: number;
  /** The number that a dispatch has in the first pass. */
  private readonly numberOf: (id: number) => number;
  private readonly pendingSamples: { dispatch: number; sample: Parameters<typeof addSample>[1] }[] = [];

  constructor(file: string, r: Recording) {
    this.file = file;
    this.r = r;
    this.firstRow = r.dispatches.length;
    this.firstOfPart = this.firstRow;
    this.numberOf = r.passNumbers.ofFile(file);
  }

  value(section: string, kind: string, value: Json): void {
    switch (section) {
      case 'metadata':
        this.endPart();
        // A further process has agents and symbols of its own.
        this.idsOfAgents.clear();
        this.ownSymbols.clear();
        this.ownKinds.clear();
        this.ownSections.clear();
        this.isCopy = false;
        this.process = this.r.processOrdinal(dirName(this.file), this.processName(String(num(member(value, 'pid')))));
        this.agents.clear();
        this.described.length = 0;
        this.placed = undefined;
        this.host = str(member(member(value, 'node'), 'hostname')) || undefined;
        if (list(member(value, 'command')).length > 0) {
          this.r.info.set('command', list(member(value, 'command')).map(str).join(' '));
        }
        break;
      case 'agents':
        this.agent(value);
        break;
      case 'counters': {
        // One without a name has no values: each of them is reported.
        const name = counterName(str(member(value, 'name')));
        if (name !== '') this.counters.set(handle(member(value, 'id')), name);
        break;
      }
      case 'kernel_symbols':
        this.symbol(value);
        break;
      case 'strings':
        this.strings(value);
        break;
      case 'callback_records':
        if (kind === 'counter_collection') this.counterRecord(value);
        break;
      case 'buffer_records':
        this.bufferRecord(kind, value);
        break;
    }
  }

  /** The file's name tells the process of its first part; further parts are of other processes. */
  private processName(pid: string): string {
    const part = this.parts++;
    const name = processKey(this.file, pid);
    return part === 0 ? name : `${name} part ${part}`;
  }

  private isFirst(what: string): boolean {
    if (this.ownSections.has(what)) return true;
    const isFirst = this.r.isFirstSource(what, this.domain, this.process, this.file, this.file);
    if (isFirst) this.ownSections.add(what);
    return isFirst;
  }

  private agent(value: Json): void {
    const [logical, node] = ['logical_node_id', 'node_id'].map((field) => whole(member(value, field)));
    const GPU = 2;
    const isGpu = num(member(value, 'type')) === GPU;
    const name = str(member(value, 'name'));
    const size = (field: string, most?: number) => extent(this.r, this.file, field, member(value, field), most);
    const facts = {
      key: `Agent ${logical >= 0 ? logical : node}`,
      isGpu,
      name: str(member(value, 'product_name')) || name || undefined,
      arch: isGpu && /^gfx[0-9a-f]+$/.test(name) ? name : undefined,
      cuCount: size('cu_count'),
      simdPerCu: size('simd_per_cu'),
      xccCount: size('num_xcc'),
      wavesPerCu: size('max_waves_per_cu'),
      maxClockMhz: size('max_engine_clk_fcompute', 1e5),
    };
    this.described.push({ id: handle(member(value, 'id')), facts });
  }

  /** The machine of the file, once its agents are known: they come before all that refers to them. */
  private get machine(): number {
    if (this.placed !== undefined) return this.placed;
    const agents = distinctAgents(this.r, this.file, this.described);
    for (const [id, { key }] of agents) this.agents.set(id, key);
    this.placed = this.r.addAgents(dirName(this.file), this.file, [...agents.values()], this.host);
    this.placedDomain = this.r.machineDomain(this.placed);
    return this.placed;
  }

  /** The clock domain of that machine. */
  private get domain(): number {
    return this.placed === undefined ? this.r.machineDomain(this.machine) : this.placedDomain;
  }

  /** Reports a value that should be a whole number from 0 on, or refer to something in the file. */
  private bad(what: string): void {
    this.r.report('profile/bad-record', this.file, `${what}; it is left out.`);
  }

  private symbol(value: Json): void {
    const name = str(member(value, 'formatted_kernel_name')) || str(member(value, 'kernel_name'));
    if (name === '') return;
    const id = num(member(value, 'kernel_id'));
    const kernel = this.r.kernelId(name);
    if (this.ownSymbols.has(id) && this.symbols.get(id)?.kernel !== kernel) {
      this.r.report('profile/bad-record', this.file, `Two kernels have the number ${id}; the later name is used.`);
    }
    this.ownSymbols.add(id);
    for (const field of ['arch_vgpr_count', 'accum_vgpr_count', 'sgpr_count']) {
      const given = member(value, field);
      if (given !== undefined && whole(given) < 0) this.bad(`The ${field} of a kernel is no whole number from 0 on`);
    }
    this.symbols.set(id, {
      kernel,
      vgpr: whole(member(value, 'arch_vgpr_count')),
      agpr: whole(member(value, 'accum_vgpr_count')),
      sgpr: whole(member(value, 'sgpr_count')),
    });
  }

  private strings(value: Json): void {
    list(member(value, 'buffer_records')).forEach((entry, index) => {
      this.operations.set(index, { kind: str(member(entry, 'kind')), names: list(member(entry, 'operations')) });
    });
    this.markerTexts.clear();
    for (const entry of list(member(value, 'marker_api')))
      this.markerTexts.set(num(member(entry, 'key')), str(member(entry, 'value')));
    this.instructions = list(member(value, 'pc_sample_instructions'));
    this.comments = list(member(value, 'pc_sample_comments'));
  }

  private times(value: Json, what: string): { start: number; end: number; state: number } {
    const { start_timestamp, end_timestamp } = membersOf(value);
    const times = this.r.clock.interval(start_timestamp, end_timestamp);
    reportTiming(this.r, this.file, times.state, what);
    return times;
  }

  /** Adds the dispatch of a record that carries `dispatch_info`. */
  private dispatch(info: Json, record: Json): number {
    const d = this.r.dispatches;
    const { start, end, state } = this.times(record, 'dispatches');
    const { stream_id, correlation_id } = membersOf(record);
    const launch = this.launch(info, handle(stream_id));
    if (!launch.isNamed) this.unnamed++;
    return d.add(launch, {
      start,
      end,
      state,
      domain: this.domain,
      dispatchId: this.numberOf(num(membersOf(info).dispatch_id)),
      correlation: num(membersOf(correlation_id).internal),
    });
  }

  /**
   * What dispatches share, from numbers that each have an id already, as a rule. It is the same object for all dispatches: there may be as many
   * different launches as dispatches.
   */
  private launch(info: Json, stream: number | bigint): NamedLaunch {
    const of = membersOf(info);
    const [size, items, made, n] = [
      membersOf(of.workgroup_size),
      membersOf(of.grid_size),
      this.made,
      this.configNumbers,
    ];
    const symbol = this.symbols.get(num(of.kernel_id));
    n[0] = whole(size.x);
    n[1] = whole(size.y);
    n[2] = whole(size.z);
    n[3] = whole(items.x);
    n[4] = whole(items.y);
    n[5] = whole(items.z);
    n[6] = whole(of.group_segment_size);
    n[7] = whole(of.private_segment_size);
    n[8] = symbol?.vgpr ?? -1;
    n[9] = symbol?.agpr ?? -1;
    n[10] = symbol?.sgpr ?? -1;
    if (n[0] < 0 || n[1] < 0 || n[2] < 0 || n[3] < 0 || n[4] < 0 || n[5] < 0) {
      this.bad('The size of a grid or workgroup is no whole number from 0 on');
    }
    for (let i = 0; i < SIZES; i++) reportSize(this.r, this.file, n[i]);
    const isOdd = (value: Json, read: number): boolean => read < 0 && value !== undefined && value !== null;
    if (isOdd(of.group_segment_size, n[6]) || isOdd(of.private_segment_size, n[7])) {
      this.bad('The LDS or scratch size of a launch is no whole number from 0 on');
    }
    const agent = this.agentIds(handle(of.agent_id));
    made.isNamed = symbol !== undefined;
    made.process = this.process;
    made.kernel = symbol?.kernel ?? this.r.kernels.id(`kernel ${num(of.kernel_id)}`);
    made.agent = agent.id;
    made.queue = idOf(agent.queues, handle(of.queue_id), (queue) => this.r.queues.id(`${agent.key} queue ${queue}`));
    made.stream = stream < 0 ? -1 : idOf(this.streams, stream, (text) => this.r.streams.id(String(text)));
    made.config = this.r.configs.id(n);
    return made;
  }

  /** The ids of an agent and of its queues. */
  private agentIds(id: number | bigint): AgentIds {
    const { machine } = this;
    const found = this.idsOfAgents.get(id);
    if (found !== undefined) return found;
    const name = this.agents.get(id);
    if (name === undefined) this.bad('Dispatches ran on an agent that is not in the file');
    const key = this.r.machines.agentKey(machine, name ?? `agent ${id}`);
    const made = { key, id: this.r.agentKeys.id(key), queues: new Map() };
    this.idsOfAgents.set(id, made);
    return made;
  }

  /** Whether records of a dispatch are to be left out, because their part of the file is a copy of one before. */
  private isOfCopy(kind: string, info: Json, record: Json): boolean {
    const id = num(membersOf(info).dispatch_id);
    if (id < 0 || !Number.isSafeInteger(id)) {
      this.r.report(
        'profile/bad-record',
        this.file,
        'A dispatch has no number, or none that a profiler counts to: its times and its counters do not find each other.',
      );
    }
    if (this.ownKinds.has(kind)) return this.isCopy;
    this.ownKinds.add(kind);
    const [start, end] = ['start_timestamp', 'end_timestamp'].map((name) => String(member(record, name)));
    const key = [this.host, kind, id, num(member(info, 'kernel_id')), start, end].join();
    // Times of 0 are none: ranks of one program may begin alike without them.
    if (Number(end) > 0 && this.firstRecords.has(key) && !this.isCopy) {
      this.isCopy = true;
      this.r.report(
        'profile/duplicate-dispatch',
        this.file,
        `Part ${this.parts} of the file is a copy of one before; it is left out.`,
      );
    }
    this.firstRecords.add(key);
    return this.isCopy;
  }

  private isOfOtherKernel(id: number): boolean {
    return this.r.isOfOtherKernel(this.domain, this.process, id, this.firstRow, this.file);
  }

  private counterRecord(value: Json): void {
    const data = member(value, 'dispatch_data');
    const info = member(data, 'dispatch_info');
    if (info === undefined) {
      this.r.report('profile/bad-record', this.file, 'A counter record has no dispatch.');
      return;
    }
    if (this.isOfCopy('counters', info, data)) return;
    this.r.serialised.add(this.domain);
    this.r.indexAll();
    const symbol = this.symbols.get(num(member(info, 'kernel_id')));
    const id = this.numberOf(num(member(info, 'dispatch_id')));
    if (id === NO_PARTNER) return;
    const found = this.r.findDispatch(this.domain, this.process, id, symbol?.kernel ?? -1);
    if (found === undefined && this.isOfOtherKernel(id)) return;
    if (found !== undefined) {
      const { agent } = this.launch(info, handle(member(data, 'stream_id')));
      if (!this.r.isOnGpuOf(found, this.r.agentKeys.get(agent), this.file)) return;
    }
    if (found === undefined && id >= 0) this.madeByCounters++;
    const row = found ?? this.dispatch(info, data);
    const pass = this.passOf(row);
    for (const record of list(member(value, 'records'))) {
      const name = this.counters.get(handle(member(record, 'counter_id')));
      const value = member(record, 'value');
      // A sum beyond 2^53 is as exact as a sum of doubles can be.
      const amount = typeof value === 'bigint' ? Number(value) : value;
      if (name === undefined) {
        this.r.report('profile/bad-record', this.file, 'A counter value has no known counter.');
      } else if (!isCount(amount)) {
        this.r.report(
          'profile/unreadable-counter',
          this.file,
          `Counter ${name} has values that no counter can have; those dispatches have no value of it.`,
        );
      } else this.r.addCounter(name, row, amount, this.file, 'instances', pass);
    }
  }

  /** The name of the run of a dispatch that a record of counters is of: all instances of one run are in one record. */
  private passOf(row: number): string {
    if (row >= this.counted.length) {
      const bigger = new Uint16Array(2 * row + 64);
      bigger.set(this.counted);
      this.counted = bigger;
    }
    const before = this.counted[row]++;
    return before === 0 ? '' : ` pass ${before}`;
  }
  /** How many records of counters each dispatch had so far. */
  private counted = new Uint16Array(0);

  private bufferRecord(kind: string, value: Json): void {
    if (this.isCopy || !this.isOfList(kind, membersOf(value).kind)) return;
    if (kind === 'kernel_dispatch') {
      const info = membersOf(value).dispatch_info;
      if (info === undefined) {
        this.r.report('profile/bad-record', this.file, 'A dispatch record is incomplete.');
        return;
      }
      if (this.isOfCopy(kind, info, value)) return;
      this.r.indexAll();
      const { kernel_id, dispatch_id } = membersOf(info);
      const [symbol, id] = [this.symbols.get(num(kernel_id)), this.numberOf(num(dispatch_id))];
      if (id === NO_PARTNER) return;
      const found = this.r.findDispatch(this.domain, this.process, id, symbol?.kernel ?? -1);
      if (found !== undefined && found < this.firstRow) this.r.reportTwice(this.file, 'Dispatches');
      if (found === undefined && this.isOfOtherKernel(id)) return;
      const row = found ?? this.dispatch(info, value);
      if (id >= 0 && this.ownTraced.add(num(dispatch_id), row) !== undefined) return;
      // One without a number may be what counters tell of.
      if (id < 0 || (found !== undefined && found >= this.firstOfPart)) this.madeByCounters--;
    } else if (kind === 'memory_copy') this.copy(value);
    else if (kind === 'memory_allocation' || kind === 'scratch_memory') {
      const key = this.operation(value);
      const sum = this.r.allocations.get(key) ?? { count: 0, bytes: 0 };
      sum.count++;
      const bytes = whole(member(value, 'allocation_size'));
      if (member(value, 'allocation_size') === undefined) reportNoSizes(this.r, this.file);
      else if (bytes < 0) this.bad('The size of an allocation is no whole number from 0 on');
      sum.bytes += Math.max(0, bytes);
      this.r.allocations.set(key, sum);
    } else if (kind === 'pc_sample_host_trap' || kind === 'pc_sample_stochastic') this.sample(kind, value);
    else if (kind.endsWith('_api')) {
      if (!this.isFirst('API calls')) return;
      const { start_timestamp, end_timestamp, thread_id, correlation_id } = membersOf(value);
      const time = this.r.clock.interval(start_timestamp, end_timestamp);
      if (time.state !== Timing.EQUAL) reportTiming(this.r, this.file, time.state, 'API calls');
      const domain = this.operations.get(num(member(value, 'kind')))?.kind ?? kind;
      addCall(this.r, domain, this.markerText(domain, value) ?? this.operation(value), {
        ...time,
        clock: this.domain,
        process: this.process,
        thread: whole(thread_id),
        correlation: whole(membersOf(correlation_id).internal),
      });
    } else if (membersOf(value).dispatch_info !== undefined) {
      this.bad(`Records of the kind ${kind.slice(0, 40)}, which is not known, are of dispatches`);
    }
  }

  /** Whether a record is of a kind that its list has; one of another kind is reported. The file may not tell what its kinds are. */
  private isOfList(list: string, kind: Json): boolean {
    const name = this.operations.get(num(kind))?.kind ?? '';
    const isOf = name === '' || KINDS[list]?.test(name) !== false;
    if (!isOf) this.bad(`Records of the kind ${name.slice(0, 40)} are in the list ${list}, whose kind it is not`);
    return isOf;
  }

  /** What a program calls a marker; undefined for other calls, and for those of functions without a text. */
  private markerText(domain: string, value: Json): string | undefined {
    if (!domain.startsWith('MARKER_CORE')) return undefined;
    const { kind, operation, correlation_id } = membersOf(value);
    const name = str(this.operations.get(num(kind))?.names[num(operation)]);
    const hasText = domain === 'MARKER_CORE_RANGE_API' ? name !== 'roctxGetThreadId' : WITH_TEXT.test(name);
    return hasText ? this.markerTexts.get(num(membersOf(correlation_id).internal)) : undefined;
  }

  private operation(value: Json): string {
    const operation = num(member(value, 'operation'));
    const names = this.operations.get(num(member(value, 'kind')))?.names ?? [];
    const name = str(names[operation]);
    if (name === '') this.bad('The operation of a record has no name in the file');
    return name || `operation ${operation}`;
  }

  private copy(value: Json): void {
    if (!this.isFirst('Memory copies')) return;
    const { start, end, state } = this.times(value, 'memory copies');
    const c = this.r.copies;
    c.start.push(start);
    c.end.push(end);
    c.timing.push(state);
    c.direction.push(this.r.directions.id(this.operation(value).replace(/^MEMORY_COPY_/, '')));
    const stream = handle(member(value, 'stream_id'));
    c.stream.push(stream < 0 ? -1 : this.r.streams.id(String(stream)));
    const bytes = whole(member(value, 'bytes'));
    if (bytes < 0) this.bad('The size of a copy is no whole number from 0 on');
    c.bytes.push(bytes);
    c.correlation.push(num(member(member(value, 'correlation_id'), 'internal')));
    c.process.push(this.process);
    c.domain.push(this.domain);
  }

  private sample(kind: string, value: Json): void {
    const record = member(value, 'record');
    const index = num(member(value, 'inst_index'));
    // Samples of blit kernels carry -1: their code is not known to the profiler.
    if (index < 0) return;
    const stochastic = kind === 'pc_sample_stochastic';
    const issued = member(record, 'wave_issued');
    this.pendingSamples.push({
      dispatch: num(member(record, 'dispatch_id')),
      sample: {
        kernel: undefined,
        instruction: str(this.instructions[index]),
        source: str(this.comments[index]),
        execMask: maskText(member(record, 'exec_mask')),
        issued: stochastic ? issued === 1 || issued === true : undefined,
        stallReason: stochastic ? str(member(member(record, 'snapshot'), 'stall_reason')) : undefined,
        instructionType: stochastic ? str(member(record, 'inst_type')) : undefined,
      },
    });
    if (this.pendingSamples.length >= 65536) this.flushSamples();
  }

  private flushSamples(): void {
    for (const { dispatch, sample } of this.pendingSamples) {
      // PC sampling writes the dispatches of its run into a table beside the samples.
      const row = this.ownTraced.find(dispatch) ?? this.r.findTraced(this.domain, this.process, dispatch);
      const kernel = row === undefined ? undefined : this.r.kernels.get(this.r.dispatches.kernel.get(row));
      addSample(this.r, { ...sample, kernel });
    }
    this.pendingSamples.length = 0;
  }

  /** Says what the trace of a part lacks: dispatches that have counters, and numbers between those that are there. */
  private endPart(): void {
    this.flushSamples();
    const { least, most, count } = this.ownTraced.extent;
    if (count > 0) {
      if (this.madeByCounters > 0) this.r.report('profile/missing-rows', this.file, NOT_TRACED);
      this.r.reportGap(least, most, count, this.file);
    }
    this.ownTraced = new RowsById();
    this.madeByCounters = 0;
    this.firstOfPart = this.r.dispatches.length;
  }

  finish(): void {
    this.endPart();
    // What tables of the same run call by its agents is described here, too.
    if (this.described.length > 0) this.r.machineDomain(this.machine);
    this.r.reportUnevenInstances(this.file, this.firstRow);
    if (this.unnamed > 0) {
      this.r.report(
        'profile/unnamed-kernel',
        this.file,
        `${this.unnamed} dispatches name a kernel that is not in the file.`,
      );
    }
  }
}
