// rocpd databases (rocprofv3's default output since ROCm 7.0, schema version 3): tables carry a `_<uuid>` suffix, merged
// files hold several. Only real tables are read, never views, which a hostile file could define as an endless query.
// Source: rocprofiler-sdk source/share/rocprofiler-sdk-rocpd/rocpd_tables.sql.
import { WavesmithError } from '../../base/index.ts';
import { NumbersTable, RowsById } from '../columns.ts';
import { NO_PARTNER } from '../pairing.ts';
import { type Recording, Timing } from '../recording.ts';
import type { Launch } from '../records.ts';
import { baseName, dirName } from '../source.ts';
import { type AgentRow, distinctAgents, extent } from './agents.ts';
import { addCall } from './api-calls.ts';
import { processKey } from './file-process.ts';
import { reportSize, reportTiming } from './row-problems.ts';
import { counterName, isCount, whole } from './values.ts';

export type SqlValue = number | bigint | string | Uint8Array | null;

export interface SqlDatabase {
  /** Rows of a query, in order. */
  rows(sql: string): Iterable<readonly SqlValue[]>;
  /** Hands the rows of a table of many over, in the order of its row ids: `own` columns differ from row to row, few rows differ in the `shared` ones. */
  keyed(table: string, own: readonly string[], shared: readonly string[], onRow: (row: KeyedRow) => void): void;
}

/** It is the same object for all rows. */
export interface KeyedRow {
  /** Used again for the next row. */
  readonly own: readonly SqlValue[];
  /** Rows with equal keys have equal shared values. */
  readonly key: string;
  shared(): readonly SqlValue[];
}

const TABLES = [
  'metadata',
  'string',
  'info_node',
  'info_process',
  'info_agent',
  'info_queue',
  'info_stream',
  'info_pmc',
  'info_kernel_symbol',
  'event',
  'pmc_event',
  'region',
  'kernel_dispatch',
  'memory_copy',
  'memory_allocate',
] as const;
type TableName = (typeof TABLES)[number];

/** A table's name, and the suffix that tells the process whose it is. */
const TABLE_NAME = new RegExp(`^rocpd_(${TABLES.join('|')})(_[0-9a-zA-Z_-]{1,64})?$`);

function num(value: SqlValue): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  return -1;
}

function text(value: SqlValue): string {
  return typeof value === 'string' ? value : value === null || value instanceof Uint8Array ? '' : String(value);
}

/** The physical tables by name and suffix. */
export function tablesOf(db: SqlDatabase, file: string): Map<string, Set<TableName>> {
  const suffixes = new Map<string, Set<TableName>>();
  for (const [name] of db.rows(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'",
  )) {
    if (text(name) === 'rocpd_op') {
      throw new WavesmithError(
        'rocpd/no-tables',
        `${file} is a trace of rocmProfileData (rpd), whose tables are others.`,
        {
          file,
          hint: "Record the program with 'rocprofv3 --kernel-trace', which writes rocpd databases of schema version 3.",
        },
      );
    }
    const match = TABLE_NAME.exec(text(name));
    if (match === null) continue;
    const suffix = match[2] ?? '';
    const set = suffixes.get(suffix) ?? new Set<TableName>();
    set.add(match[1] as TableName);
    suffixes.set(suffix, set);
  }
  if (suffixes.size === 0) {
    throw new WavesmithError('rocpd/no-tables', `${file} is a SQLite database without rocpd tables.`, {
      file,
      hint: 'Give a database that rocprofv3 wrote (schema version 3).',
    });
  }
  return suffixes;
}

/** The folder of the run that a database is of: rocprof-compute gives each process a folder of its own, `<pid>/<pid>.db`. */
export function runFolder(file: string): string {
  const folder = dirName(file);
  return baseName(folder) === baseName(file).split(/[._]/)[0] ? dirName(folder) : folder;
}

/** The processes of a database: their numbers, when they began and when they ended, 0 where that is not told. */
export function* rocpdProcesses(
  db: SqlDatabase,
  file: string,
): Generator<{ readonly pid: string; readonly from: number; readonly to: number }> {
  for (const [suffix, present] of tablesOf(db, file)) {
    if (!present.has('info_process')) continue;
    const table = `"rocpd_info_process${suffix}"`;
    const there = new Set([...db.rows(`PRAGMA table_info(${table})`)].map(([, name]) => text(name)));
    if (!['pid', 'init', 'fini'].every((name) => there.has(name))) continue;
    for (const [pid, from, to] of db.rows(`SELECT pid, init, fini FROM ${table}`))
      yield { pid: text(pid), from: num(from), to: num(to) };
  }
}

/** Reads a rocpd database into the recording. */
export function readRocpd(db: SqlDatabase, file: string, recording: Recording): void {
  const tables = tablesOf(db, file);
  for (const [suffix, present] of tables) new Reader(db, file, recording, suffix, present, tables.size > 1).read();
}

/** Launches that are kept: grids may differ from dispatch to dispatch, and 600,000 of them took 120 MB. */
const MOST_LAUNCHES = 1 << 14;

/** Kernels whose names are read twice and kept once. */
const MANY_SYMBOLS = 10_000;

/** Columns of a dispatch of its own, and those that it shares with others, also of other kernels. */
const OWN = ['event_id', 'dispatch_id', 'start', '"end"', 'kernel_id'];
/** Which run of a dispatch it is, where kernels are run once for each group of counters (schema 3.0.2). */
const REPLAY = 'replay_pass';
const SHARED = [
  ...['nid', 'pid', 'agent_id', 'queue_id', 'stream_id', 'private_segment_size', 'group_segment_size'],
  ...['workgroup_size_x', 'workgroup_size_y', 'workgroup_size_z', 'grid_size_x', 'grid_size_y', 'grid_size_z'],
];

/** Where a kernel keeps what: LDS, scratch, VGPRs, AGPRs, SGPRs; -1 where it is not told. */
const RESOURCES = ['lds', 'scratch', 'vgpr', 'agpr', 'sgpr'] as const;
type Resources = Readonly<Record<(typeof RESOURCES)[number], number>>;
const NO_RESOURCES: Resources = { lds: -1, scratch: -1, vgpr: -1, agpr: -1, sgpr: -1 };

/** What dispatches have in common, whichever kernel they run, and the clock of their node. */
interface Launching extends Omit<Launch, 'kernel' | 'config'> {
  readonly domain: number;
  readonly sizes: readonly number[];
  /** Undefined where the kernel tells. */
  readonly lds: number | undefined;
  readonly scratch: number | undefined;
  /** The launch configurations, by the number of the kernel's resources. */
  readonly configs: number[];
}

class Reader {
  private readonly db: SqlDatabase;
  private readonly file: string;
  private readonly r: Recording;
  private readonly suffix: string;
  private readonly present: ReadonlySet<TableName>;
  private readonly isMerged: boolean;
  private readonly strings = new Map<number, string>();
  private readonly processes = new Map<number, number>();
  private readonly agentKeys = new Map<number, string>();
  private readonly gpus = new Set<number>();
  /** Clock domains by the number of the node. */
  private readonly domains = new Map<number, number>();
  /** Columns that tables lack, as `table.column`: reported once, and not again for each row. */
  private readonly lacking = new Set<string>();
  /** Events of dispatches that no other pass has. */
  private readonly unpaired = new RowsById();
  /** Of the events of replays of dispatches, which run of the dispatch it was. */
  private readonly replays = new Map<number, number>();
  /** Kernels by their numbers, and which of `resources` they have. */
  private readonly symbols = new Map<number, { readonly kernel: number; readonly resources: number }>();
  /** The first is of kernels that the file does not have. */
  private readonly resources: Resources[] = [NO_RESOURCES];
  private readonly resourcesOf = new NumbersTable(RESOURCES.length);

  constructor(
    db: SqlDatabase,
    file: string,
    r: Recording,
    suffix: string,
    present: ReadonlySet<TableName>,
    isMerged: boolean,
  ) {
    this.isMerged = isMerged;
    this.db = db;
    this.file = file;
    this.r = r;
    this.suffix = suffix;
    this.present = present;
  }

  /** Rows of one table; a table that is missing is reported and read as empty. */
  private *rows(table: TableName, columns: string): Generator<readonly SqlValue[]> {
    if (!this.has(table)) return;
    const there = this.columns(table, columns.split(', '));
    yield* this.db.rows(`SELECT ${there.join(', ')} FROM "rocpd_${table}${this.suffix}" ORDER BY rowid`);
  }

  private has(table: TableName): boolean {
    const found = this.present.has(table);
    if (!found) this.r.report('rocpd/missing-table', this.file, `The table rocpd_${table} is missing.`);
    return found;
  }

  /** The columns as they are asked for: those that the table lacks are reported, and have no values. */
  private columns(table: TableName, columns: readonly string[]): string[] {
    const there = this.columnsOf(table);
    return columns.map((column) => {
      if (there.has(column.replaceAll('"', ''))) return column;
      this.r.report('rocpd/missing-table', this.file, `The column ${column} of rocpd_${table} is missing.`);
      this.lacking.add(`${table}.${column}`);
      return `NULL AS ${column}`;
    });
  }

  private columnsOf(table: TableName): ReadonlySet<string> {
    const there = new Set<string>();
    for (const [, name] of this.db.rows(`PRAGMA table_info("rocpd_${table}${this.suffix}")`)) there.add(text(name));
    return there;
  }

  /** A value that each row of a table has: a whole number from 0 on. Others are reported, and -1. */
  private whole(table: TableName, column: string, value: SqlValue): number {
    const found = whole(value);
    if (found < 0 && !this.lacking.has(`${table}.${column}`)) {
      const what = `Values of the column ${column} of rocpd_${table} are no whole numbers from 0 on`;
      this.r.report('profile/bad-record', this.file, `${what}; they are left out.`);
    }
    return found;
  }

  /** What the row of another table says; a row that is not there is reported. */
  private referred<T>(rows: ReadonlyMap<number, T>, id: SqlValue, from: TableName, to: TableName): T | undefined {
    const found = rows.get(num(id));
    if (found === undefined && this.present.has(to)) {
      const what = `Rows of rocpd_${from} refer to rows of rocpd_${to} that are not in the file`;
      this.r.report('profile/bad-record', this.file, `${what}; they are read without.`);
    }
    return found;
  }

  /** The process of a row. */
  private processOf(pid: SqlValue, from: TableName): number {
    return this.referred(this.processes, pid, from, 'info_process') ?? 0;
  }

  /** The clock domain of a row's node; that of the first node where it is not told. */
  private domainOf(nid: SqlValue): number {
    const found = this.domains.get(num(nid));
    if (found === undefined && this.agentKeys.size > 0 && nid !== null) {
      this.r.report('profile/bad-record', this.file, 'Rows are of a node that has no agents in the file.');
    }
    return found ?? this.domains.values().next().value ?? this.r.machineDomain(0);
  }

  read(): void {
    for (const [tag, value] of this.rows('metadata', 'tag, value')) {
      if (text(tag) === 'schema_version' && text(value) !== '3') {
        this.r.report('rocpd/schema-version', this.file, `The schema version is ${text(value)}; version 3 is known.`);
      }
    }
    for (const [id, value] of this.rows('string', 'id, string'))
      if (text(value) !== '') this.strings.set(num(id), text(value));
    const known: [number, string][] = [];
    for (const [id, pid, command] of this.rows('info_process', 'id, pid, command')) {
      known.push([num(id), text(pid)]);
      if (text(command) !== '') this.r.info.set('command', text(command));
    }
    // A merged database has the tables of several runs, whose processes may have one number in different containers.
    for (const [id, pid] of known) {
      const name = this.isMerged ? `${pid}${this.suffix}` : known.length > 1 ? pid : processKey(this.file, pid);
      this.processes.set(id, this.r.processOrdinal(runFolder(this.file), name));
    }
    this.agents();
    this.kernelSymbols();
    if (this.symbols.size > MANY_SYMBOLS) this.r.between();
    const firstRow = this.r.dispatches.length;
    const byEvent = this.dispatches();
    this.counters(byEvent, firstRow);
    const copiesByEvent = this.copies();
    if (this.regions()) this.correlations(byEvent, copiesByEvent);
    this.allocations();
  }

  /** Sets the numbers by which dispatches and copies find the API calls that launched them: those of their events. */
  private correlations(byEvent: RowsById, copiesByEvent: RowsById): void {
    if (!this.present.has('event') || !this.columnsOf('event').has('stack_id')) return;
    const [ofDispatches, ofCopies] = [this.r.dispatches.correlation, this.r.copies.correlation];
    this.db.keyed(`rocpd_event${this.suffix}`, ['id', 'stack_id'], [], ({ own }) => {
      const event = num(own[0]);
      const [row, copy] = [byEvent.find(event), copiesByEvent.find(event)];
      const correlation = whole(own[1]);
      if (row !== undefined) ofDispatches.set(row, correlation);
      if (copy !== undefined) ofCopies.set(copy, correlation);
    });
  }

  private isFirst(what: string, domain: number, process: number): boolean {
    return this.r.isFirstSource(what, domain, process, this.file + this.suffix, this.file);
  }

  private agents(): void {
    const hosts = new Map<number, string>();
    // A database without names of machines is of one.
    const nodes = this.present.has('info_node') ? this.rows('info_node', 'id, machine_id, hostname') : [];
    for (const [id, machine, host] of nodes) {
      const name = text(host) || text(machine);
      if (name !== '') hosts.set(num(id), name);
    }
    const columns = 'id, nid, type, absolute_index, name, product_name, model_name, extdata';
    const ofNode = new Map<number, AgentRow[]>();
    for (const [id, nid, type, index, name, product, model, extdata] of this.rows('info_agent', columns)) {
      const data = this.extdata(text(extdata));
      const size = (field: string, most?: number) => extent(this.r, this.file, field, data.get(field), most);
      const isGpu = text(type) === 'GPU';
      const facts = {
        key: `Agent ${this.whole('info_agent', 'absolute_index', index) < 0 ? `id ${text(id)}` : text(index)}`,
        isGpu,
        name: text(product) || text(model) || text(name) || undefined,
        arch: isGpu && /^gfx[0-9a-f]+$/.test(text(name)) ? text(name) : undefined,
        cuCount: size('cu_count'),
        simdPerCu: size('simd_per_cu'),
        xccCount: size('num_xcc'),
        wavesPerCu: size('max_waves_per_cu'),
        maxClockMhz: size('max_engine_clk_fcompute', 1e5),
      };
      const node = ofNode.get(num(nid)) ?? [];
      node.push({ id: num(id), facts });
      ofNode.set(num(nid), node);
    }
    if (ofNode.size === 0) ofNode.set(1, []);
    for (const [nid, rows] of ofNode) {
      const agents = distinctAgents(this.r, this.file, rows);
      const all = [...agents.values()];
      const machine = this.r.addAgents(dirName(this.file), this.file, all, hosts.get(nid));
      this.domains.set(nid, this.r.machineDomain(machine));
      for (const [id, facts] of agents) {
        this.agentKeys.set(id, this.r.machines.agentKey(machine, facts.key));
        if (facts.isGpu) this.gpus.add(id);
      }
    }
  }

  /** What rocprofv3 says of an agent beside the columns. */
  private extdata(json: string): ReadonlyMap<string, unknown> {
    const data = parseObject(json);
    if (data === undefined) {
      this.r.report('profile/bad-record', this.file, 'The extdata of an agent is no JSON object; it is left out.');
    }
    return data ?? new Map();
  }

  private kernelSymbols(): void {
    const columns =
      'id, kernel_name, display_name, group_segment_size, private_segment_size, arch_vgpr_count, accum_vgpr_count, sgpr_count';
    for (const [id, name, display, lds, scratch, vgpr, agpr, sgpr] of this.rows('info_kernel_symbol', columns)) {
      const title = text(display) || text(name);
      if (title === '') {
        this.r.report('profile/unnamed-kernel', this.file, `The kernel with the number ${num(id)} has no name.`);
      }
      const made = {
        lds: whole(lds),
        scratch: whole(scratch),
        vgpr: this.whole('info_kernel_symbol', 'arch_vgpr_count', vgpr),
        agpr: this.whole('info_kernel_symbol', 'accum_vgpr_count', agpr),
        sgpr: this.whole('info_kernel_symbol', 'sgpr_count', sgpr),
      };
      const resources = 1 + this.resourcesOf.id(RESOURCES.map((name) => made[name]));
      this.resources[resources] ??= made;
      this.symbols.set(num(id), { kernel: this.r.kernelId(title || `kernel ${num(id)}`), resources });
    }
  }

  /** What dispatches share, from the columns `SHARED`. */
  private launching(row: readonly SqlValue[]): Launching {
    const TABLE = 'kernel_dispatch';
    const [nid, pid, agentId, queueId, streamId, scratch, lds] = row;
    const sizes = row.slice(7).map((size, i) => reportSize(this.r, this.file, this.whole(TABLE, SHARED[7 + i], size)));
    const agent = this.referred(this.agentKeys, agentId, TABLE, 'info_agent') ?? `agent ${num(agentId)}`;
    if (this.agentKeys.has(num(agentId)) && !this.gpus.has(num(agentId))) {
      this.r.report('profile/bad-record', this.file, `Dispatches ran on ${agent}, which the file does not call a GPU.`);
    }
    const queue = this.whole(TABLE, 'queue_id', queueId);
    const stream = this.whole(TABLE, 'stream_id', streamId);
    return {
      domain: this.domainOf(nid),
      process: this.processOf(pid, TABLE),
      agent: this.r.agentKeys.id(agent),
      queue: this.r.queues.id(`${agent} queue ${queue < 0 ? '?' : queue}`),
      stream: stream < 0 ? -1 : this.r.streams.id(String(stream)),
      sizes,
      lds: lds === null ? undefined : this.whole(TABLE, 'group_segment_size', lds),
      scratch: scratch === null ? undefined : this.whole(TABLE, 'private_segment_size', scratch),
      configs: [],
    };
  }

  /** The launch configuration of a kernel with the resources. */
  private configOf({ sizes, lds, scratch, configs }: Launching, resources: number): number {
    const of = this.resources[resources];
    configs[resources] ??= this.r.configId({
      ...{ ...of, lds: lds ?? of.lds, scratch: scratch ?? of.scratch },
      workgroup: [sizes[0], sizes[1], sizes[2]],
      grid: [sizes[3], sizes[4], sizes[5]],
    });
    return configs[resources];
  }

  /** Reads the dispatches; returns their rows by event id. */
  private dispatches(): RowsById {
    const byEvent = new RowsById();
    const d = this.r.dispatches;
    const launches = new Map<string, Launching>();
    /** The same object for all rows. */
    const launch = { process: 0, kernel: 0, agent: 0, queue: 0, stream: 0, config: 0 };
    const firstRow = d.length;
    const numberOf = this.r.passNumbers.ofFile(this.file);
    if (!this.has('kernel_dispatch')) return byEvent;
    const hasReplays = this.columnsOf('kernel_dispatch').has(REPLAY);
    const own = this.columns('kernel_dispatch', [...OWN, ...(hasReplays ? [REPLAY] : [])]);
    const shared = this.columns('kernel_dispatch', SHARED);
    this.db.keyed(`rocpd_kernel_dispatch${this.suffix}`, own, shared, (row) => {
      let launching = launches.get(row.key);
      if (launching === undefined) {
        launching = this.launching(row.shared());
        // A part of a text keeps the whole of it in memory; this one is its own.
        if (launches.size < MOST_LAUNCHES) launches.set(row.key.split('').join(''), launching);
      }
      const { start, end, state } = this.r.clock.interval(row.own[2], row.own[3]);
      const { process, domain } = launching;
      const symbol = this.symbols.get(num(row.own[4]));
      if (symbol === undefined) {
        this.r.report('profile/unnamed-kernel', this.file, 'Dispatches name a kernel that is not in the file.');
      }
      const kernel = symbol?.kernel ?? this.r.kernels.id(`kernel ${num(row.own[4])}`);
      const dispatchId = numberOf(this.whole('kernel_dispatch', 'dispatch_id', row.own[1]));
      if (dispatchId === NO_PARTNER) {
        this.unpaired.add(num(row.own[0]), 0);
        return;
      }
      const event = num(row.own[0]);
      const replay = hasReplays ? num(row.own[OWN.length]) : 0;
      const replayed = replay > 0 ? this.r.findTraced(domain, process, dispatchId) : undefined;
      if (replayed !== undefined && replayed >= firstRow) {
        this.r.reportReplays(this.file);
        byEvent.add(event, replayed);
        this.replays.set(event, replay);
        return;
      }
      const one = { domain, process, dispatchId, kernel, start, end, state };
      const before = this.r.tracedBefore(one, firstRow, this.file);
      if (before !== undefined) {
        if (before >= 0 && this.r.isOnGpuOf(before, this.r.agentKeys.get(launching.agent), this.file))
          byEvent.add(event, before);
        return;
      }
      reportTiming(this.r, this.file, state, 'dispatches');
      launch.process = process;
      launch.kernel = kernel;
      launch.agent = launching.agent;
      launch.queue = launching.queue;
      launch.stream = launching.stream;
      launch.config = this.configOf(launching, symbol?.resources ?? 0);
      const at = d.add(launch, { start, end, state, domain, dispatchId, correlation: -1 });
      byEvent.add(event, at);
    });
    return byEvent;
  }

  private counters(byEvent: RowsById, firstRow: number): void {
    const names = new Map<number, string>();
    for (const [id, name] of this.rows('info_pmc', 'id, name'))
      if (text(name) !== '') names.set(num(id), counterName(text(name)));
    let orphans = 0;
    // Streamed samples of a counter are no parts of its value.
    const isStreamed = this.present.has('pmc_event') && this.columnsOf('pmc_event').has('sample_id');
    const columns = `event_id, pmc_id, value${isStreamed ? ', sample_id' : ''}`;
    for (const [event, pmc, value, sample = null] of this.rows('pmc_event', columns)) {
      if (sample !== null) continue;
      const row = byEvent.find(num(event));
      const name = names.get(num(pmc));
      if (row === undefined && this.unpaired.find(num(event)) !== undefined) continue;
      if (row !== undefined) this.r.serialised.add(this.r.dispatches.domain.get(row));
      if (row === undefined || name === undefined || !isCount(value)) {
        orphans++;
        continue;
      }
      const replay = this.replays.get(num(event));
      const pass = replay === undefined ? '' : ` pass ${replay}`;
      this.r.addCounter(name, row, value, this.file + this.suffix, 'instances', pass);
    }
    this.r.reportUnevenInstances(this.file, firstRow);
    if (orphans > 0) {
      this.r.report(
        'rocpd/orphan-counters',
        this.file,
        `${orphans} counter values belong to no dispatch or counter, or are none that a counter can have.`,
      );
    }
  }

  /** Reads the copies; returns their rows by event id. */
  private copies(): RowsById {
    const byEvent = new RowsById();
    const c = this.r.copies;
    const TABLE = 'memory_copy';
    // Only for arrows from calls to copies.
    const hasEvents = this.present.has(TABLE) && this.columnsOf(TABLE).has('event_id');
    const columns = `nid, pid, name_id, size, stream_id, start, "end"${hasEvents ? ', event_id' : ''}`;
    for (const [nid, pid, nameId, size, stream, begin, finish, event] of this.rows(TABLE, columns)) {
      const process = this.processOf(pid, TABLE);
      const domain = this.domainOf(nid);
      if (!this.isFirst('Memory copies', domain, process)) continue;
      const { start, end, state } = this.r.clock.interval(begin, finish);
      reportTiming(this.r, this.file, state, 'memory copies');
      const name = this.referred(this.strings, nameId, TABLE, 'string') ?? 'copy';
      if (event !== undefined && event !== null) byEvent.add(num(event), c.length);
      c.start.push(start);
      c.end.push(end);
      c.timing.push(state);
      c.direction.push(this.r.directions.id(name.replace(/^MEMORY_COPY_/, '') || 'copy'));
      c.stream.push(stream === null ? -1 : this.r.streams.id(String(num(stream))));
      c.bytes.push(this.whole(TABLE, 'size', size));
      c.correlation.push(-1);
      c.process.push(process);
      c.domain.push(domain);
    }
    return byEvent;
  }

  /** Reads API calls and markers; whether there are any. */
  private regions(): boolean {
    const TABLE = 'region';
    if (!this.has(TABLE)) return false;
    let found = false;
    const columns = this.columns(TABLE, ['nid', 'pid', 'tid', 'name_id', 'event_id', 'start', '"end"']);
    // Most events are of dispatches, so those of regions are looked up one by one.
    const there = this.has('event') ? this.columnsOf('event') : new Set();
    const ofEvent = (column: string): string =>
      there.has(column) ? `(SELECT ${column} FROM "rocpd_event${this.suffix}" AS e WHERE e.id = event_id)` : 'NULL';
    const hasMarkers = [...this.strings.values()].some((name) => name.startsWith('MARKER_'));
    for (const [nid, pid, tid, nameId, event, begin, finish, kind, correlation, data] of this.db.rows(
      `SELECT ${columns.join(', ')}, ${ofEvent('category_id')} AS category, ${ofEvent('stack_id')} AS stack, ${hasMarkers ? ofEvent('extdata') : 'NULL'} AS data FROM "rocpd_region${this.suffix}" ORDER BY rowid`,
    )) {
      const domain = this.domainOf(nid);
      const process = this.processOf(pid, TABLE);
      if (!this.isFirst('API calls', domain, process)) continue;
      found = true;
      const time = this.r.clock.interval(begin, finish);
      if (time.state !== Timing.EQUAL) reportTiming(this.r, this.file, time.state, 'API calls');
      const kindName = event === null ? undefined : this.referred(this.strings, kind, 'event', 'string');
      const marker = kindName?.startsWith('MARKER_') ? parseObject(text(data))?.get('message') : undefined;
      const called = this.referred(this.strings, nameId, TABLE, 'string') || `string ${num(nameId)}`;
      const name = typeof marker === 'string' && marker !== '' ? marker : called;
      const call = { ...time, clock: domain, process, thread: whole(tid), correlation: whole(correlation) };
      addCall(this.r, kindName || 'region', name, call);
    }
    return found;
  }

  private allocations(): void {
    for (const [type, level, size] of this.rows('memory_allocate', 'type, level, size')) {
      const key = `${text(level)} ${text(type)}`.trim() || 'allocation';
      const sum = this.r.allocations.get(key) ?? { count: 0, bytes: 0 };
      sum.count++;
      sum.bytes += Math.max(0, this.whole('memory_allocate', 'size', size));
      this.r.allocations.set(key, sum);
    }
  }
}

/** The members of a JSON object as a map, so that keys like `__proto__` are plain keys; empty for an empty text, undefined for other texts. */
export function parseObject(json: string): ReadonlyMap<string, unknown> | undefined {
  if (json.length === 0) return new Map();
  if (json.length > 1 << 20) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : undefined;
  } catch {
    return undefined;
  }
}
