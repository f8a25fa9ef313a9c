// rocpd databases (rocprofv3's default output since ROCm 7.0, schema version 3): tables carry a `_<uuid>` suffix, merged
// files hold several. Only real tables are read, never views, which a hostile file could define as an endless query.
// Source: rocprofiler-sdk source/share/rocprofiler-sdk-rocpd/rocpd_tables.sql.
import { WavesmithError } from '../../base/index.ts';
import { RowsById } from '../columns.ts';
import type { AgentFacts } from '../machines.ts';
import { type Launch, type Recording, Timing } from '../recording.ts';
import { baseName, dirName } from '../source.ts';
import { addCall, processKey, reportTiming } from './rocprofv3-csv.ts';
import { isCount, kernelName } from './values.ts';

export type SqlValue = number | bigint | string | Uint8Array | null;

export interface SqlDatabase {
  /** Rows of a query, in order. */
  rows(sql: string): Iterable<readonly SqlValue[]>;
  /** Rows of a table of many, in the order of its row ids: `own` columns differ from row to row, few rows differ in the `shared` ones. */
  keyed(table: string, own: readonly string[], shared: readonly string[]): Iterable<KeyedRow>;
}

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

function num(value: SqlValue): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  return -1;
}

function text(value: SqlValue): string {
  return typeof value === 'string' ? value : value === null || value instanceof Uint8Array ? '' : String(value);
}

/** The physical tables by name and suffix. */
function tablesOf(db: SqlDatabase, file: string): Map<string, Set<TableName>> {
  const suffixes = new Map<string, Set<TableName>>();
  for (const [name] of db.rows(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'",
  )) {
    const match =
      /^rocpd_(metadata|string|info_[a-z_]+?|event|pmc_event|region|kernel_dispatch|memory_copy|memory_allocate)(_[0-9a-fA-F_-]{4,64})?$/.exec(
        text(name),
      );
    if (match === null || !(TABLES as readonly string[]).includes(match[1])) continue;
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

/** Reads a rocpd database into the recording. */
export function readRocpd(db: SqlDatabase, file: string, recording: Recording): void {
  const tables = tablesOf(db, file);
  for (const [suffix, present] of tables) new Reader(db, file, recording, suffix, present, tables.size > 1).read();
}

/** Columns of a dispatch of its own, and those that it shares with others. */
const OWN = ['event_id', 'dispatch_id', 'start', '"end"'];
const SHARED = [
  ...['pid', 'agent_id', 'kernel_id', 'queue_id', 'stream_id', 'private_segment_size', 'group_segment_size'],
  ...['workgroup_size_x', 'workgroup_size_y', 'workgroup_size_z', 'grid_size_x', 'grid_size_y', 'grid_size_z'],
];

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
  private domain = 0;
  private readonly symbols = new Map<
    number,
    { kernel: number; lds: number; scratch: number; vgpr: number; agpr: number; sgpr: number }
  >();

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

  /** Rows of one table; a table that is missing is reported, unless it is optional, and read as empty. */
  private *rows(table: TableName, columns: string, optional = true): Generator<readonly SqlValue[]> {
    if (!this.has(table, optional)) return;
    const there = this.columns(table, columns.split(', '));
    yield* this.db.rows(`SELECT ${there.join(', ')} FROM "rocpd_${table}${this.suffix}" ORDER BY rowid`);
  }

  private has(table: TableName, optional: boolean): boolean {
    const found = this.present.has(table);
    if (!found && !optional) this.r.report('rocpd/missing-table', this.file, `The table rocpd_${table} is missing.`);
    return found;
  }

  /** The columns as they are asked for: those that the table lacks are reported, and have no values. */
  private columns(table: TableName, columns: readonly string[]): string[] {
    const there = new Set<string>();
    for (const [, name] of this.db.rows(`PRAGMA table_info("rocpd_${table}${this.suffix}")`)) there.add(text(name));
    return columns.map((column) => {
      if (there.has(column.replaceAll('"', ''))) return column;
      this.r.report('rocpd/missing-table', this.file, `The column ${column} of rocpd_${table} is missing.`);
      return `NULL AS ${column}`;
    });
  }

  read(): void {
    for (const [tag, value] of this.rows('metadata', 'tag, value')) {
      if (text(tag) === 'schema_version' && text(value) !== '3') {
        this.r.report('rocpd/schema-version', this.file, `The schema version is ${text(value)}; version 3 is known.`);
      }
    }
    for (const [id, value] of this.rows('string', 'id, string')) this.strings.set(num(id), text(value));
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
    this.counters(this.dispatches());
    this.copies();
    this.regions();
    this.allocations();
  }

  private isFirst(what: string, process: number): boolean {
    return this.r.isFirstSource(what, this.domain, process, this.file + this.suffix, this.file);
  }

  private agents(): void {
    const columns = 'id, type, absolute_index, name, product_name, model_name, extdata';
    const described: { readonly id: number; readonly facts: AgentFacts }[] = [];
    for (const [id, type, index, name, product, model, extdata] of this.rows('info_agent', columns, false)) {
      const data = parseObject(text(extdata));
      const positive = (field: string) => {
        const value = data.get(field);
        return typeof value === 'number' && value > 0 ? value : undefined;
      };
      const isGpu = text(type) === 'GPU';
      const facts = {
        key: `Agent ${text(index)}`,
        isGpu,
        name: text(product) || text(model) || text(name) || undefined,
        arch: isGpu && /^gfx[0-9a-f]+$/.test(text(name)) ? text(name) : undefined,
        cuCount: positive('cu_count'),
        simdPerCu: positive('simd_per_cu'),
        xccCount: positive('num_xcc'),
        wavesPerCu: positive('max_waves_per_cu'),
        maxClockMhz: positive('max_engine_clk_fcompute'),
      };
      described.push({ id: num(id), facts });
    }
    const machine = this.r.addAgents(
      dirName(this.file),
      this.file,
      described.map(({ facts }) => facts),
    );
    this.domain = this.r.machineDomain(machine);
    for (const { id, facts } of described) this.agentKeys.set(id, this.r.machines.agentKey(machine, facts.key));
  }

  private kernelSymbols(): void {
    const columns =
      'id, kernel_name, display_name, group_segment_size, private_segment_size, arch_vgpr_count, accum_vgpr_count, sgpr_count';
    for (const [id, name, display, lds, scratch, vgpr, agpr, sgpr] of this.rows('info_kernel_symbol', columns, false)) {
      this.symbols.set(num(id), {
        kernel: this.r.kernels.id(kernelName(text(display) || text(name))),
        lds: num(lds),
        scratch: num(scratch),
        vgpr: num(vgpr),
        agpr: num(agpr),
        sgpr: num(sgpr),
      });
    }
  }

  /** What dispatches share, from the columns `SHARED`. */
  private launch(row: readonly SqlValue[]): Launch {
    const [pid, agentId, kernelId, queue, stream, scratch, lds, ...sizes] = row.map(num);
    const symbol = this.symbols.get(kernelId);
    const agent = this.agentKeys.get(agentId) ?? `agent ${agentId}`;
    return {
      process: this.processes.get(pid) ?? 0,
      kernel: symbol?.kernel ?? this.r.kernels.id(`kernel ${kernelId}`),
      agent: this.r.agentKeys.id(agent),
      queue: this.r.queues.id(`${agent} queue ${queue}`),
      stream: this.r.streams.id(String(stream)),
      config: this.r.configId({
        workgroup: [sizes[0], sizes[1], sizes[2]],
        grid: [sizes[3], sizes[4], sizes[5]],
        lds: lds >= 0 ? lds : (symbol?.lds ?? -1),
        scratch: scratch >= 0 ? scratch : (symbol?.scratch ?? -1),
        vgpr: symbol?.vgpr ?? -1,
        agpr: symbol?.agpr ?? -1,
        sgpr: symbol?.sgpr ?? -1,
      }),
    };
  }

  /** Reads the dispatches; returns their rows by event id. */
  private dispatches(): RowsById {
    const byEvent = new RowsById();
    const d = this.r.dispatches;
    const launches = new Map<string, Launch>();
    const firstRow = d.length;
    if (!this.has('kernel_dispatch', false)) return byEvent;
    const [own, shared] = [this.columns('kernel_dispatch', OWN), this.columns('kernel_dispatch', SHARED)];
    for (const row of this.db.keyed(`rocpd_kernel_dispatch${this.suffix}`, own, shared)) {
      let launch = launches.get(row.key);
      if (launch === undefined) {
        launch = this.launch(row.shared());
        // A part of a text keeps the whole of it in memory; this one is its own.
        launches.set(row.key.split('').join(''), launch);
      }
      const { start, end, state } = this.r.clock.interval(row.own[2], row.own[3]);
      const { kernel, process } = launch;
      const dispatchId = num(row.own[1]);
      const one = { domain: this.domain, process, dispatchId, kernel, start, end, state };
      const before = this.r.tracedBefore(one, firstRow, this.file);
      const event = num(row.own[0]);
      if (before !== undefined) {
        if (this.r.isOnGpuOf(before, this.r.agentKeys.get(launch.agent), this.file)) byEvent.add(event, before);
        continue;
      }
      reportTiming(this.r, this.file, state, 'dispatches');
      const at = d.add(launch, { start, end, state, domain: this.domain, dispatchId, correlation: -1 });
      byEvent.add(event, at);
    }
    return byEvent;
  }

  private counters(byEvent: RowsById): void {
    const names = new Map<number, string>();
    for (const [id, name] of this.rows('info_pmc', 'id, name')) names.set(num(id), text(name));
    let orphans = 0;
    for (const [event, pmc, value] of this.rows('pmc_event', 'event_id, pmc_id, value')) {
      const row = byEvent.find(num(event));
      const name = names.get(num(pmc));
      if (row !== undefined) this.r.serialised.add(this.domain);
      if (row === undefined || name === undefined || !isCount(value)) {
        orphans++;
        continue;
      }
      this.r.addCounter(name, row, value, this.file + this.suffix, 'instances');
    }
    if (orphans > 0) {
      this.r.report(
        'rocpd/orphan-counters',
        this.file,
        `${orphans} counter values belong to no dispatch or counter, or are none that a counter can have.`,
      );
    }
  }

  private copies(): void {
    const c = this.r.copies;
    for (const [pid, name, size, stream, begin, finish] of this.rows(
      'memory_copy',
      'pid, name_id, size, stream_id, start, "end"',
    )) {
      const process = this.processes.get(num(pid)) ?? 0;
      if (!this.isFirst('Memory copies', process)) continue;
      const { start, end, state } = this.r.clock.interval(begin, finish);
      reportTiming(this.r, this.file, state, 'memory copies');
      c.start.push(start);
      c.end.push(end);
      c.timing.push(state);
      c.direction.push(this.r.directions.id((this.strings.get(num(name)) ?? 'copy').replace(/^MEMORY_COPY_/, '')));
      c.stream.push(stream === null ? -1 : this.r.streams.id(String(num(stream))));
      c.bytes.push(num(size));
      c.correlation.push(-1);
      c.process.push(process);
      c.domain.push(this.domain);
    }
  }

  private regions(): void {
    if (!this.present.has('region')) return;
    const columns = this.columns('region', ['name_id', 'event_id', 'start', '"end"', 'pid']);
    // Most events are of dispatches, so those of regions are looked up one by one.
    const category = this.present.has('event')
      ? `(SELECT category_id FROM "rocpd_event${this.suffix}" AS e WHERE e.id = event_id)`
      : 'NULL';
    for (const [name, , begin, finish, pid, kind] of this.db.rows(
      `SELECT ${columns.join(', ')}, ${category} AS category FROM "rocpd_region${this.suffix}" ORDER BY rowid`,
    )) {
      if (!this.isFirst('API calls', this.processes.get(num(pid)) ?? 0)) continue;
      const time = this.r.clock.interval(begin, finish);
      if (time.state !== Timing.EQUAL) reportTiming(this.r, this.file, time.state, 'API calls');
      const domain = this.strings.get(num(kind)) ?? 'region';
      const text = this.strings.get(num(name)) ?? `string ${num(name)}`;
      addCall(this.r, domain, text, { ...time, clock: this.domain });
    }
  }

  private allocations(): void {
    for (const [type, level, size] of this.rows('memory_allocate', 'type, level, size')) {
      const key = `${text(level)} ${text(type)}`.trim();
      const sum = this.r.allocations.get(key) ?? { count: 0, bytes: 0 };
      sum.count++;
      sum.bytes += Math.max(0, num(size));
      this.r.allocations.set(key, sum);
    }
  }
}

/** The members of a JSON object as a map, so that keys like `__proto__` are plain keys; empty when it is not one. */
export function parseObject(json: string): Map<string, unknown> {
  if (json.length === 0 || json.length > 1 << 20) return new Map();
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : new Map();
  } catch {
    return new Map();
  }
}
