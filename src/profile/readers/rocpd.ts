// rocpd databases (rocprofv3's default output since ROCm 7.0, schema version 3): tables carry a `_<uuid>` suffix, merged
// files hold several. Only real tables are read, never views, which a hostile file could define as an endless query.
// Source: rocprofiler-sdk source/share/rocprofiler-sdk-rocpd/rocpd_tables.sql.
import { WavesmithError } from '../../base/index.ts';
import type { AgentFacts } from '../machines.ts';
import { type Recording, Timing } from '../recording.ts';
import { baseName, dirName } from '../source.ts';
import { addCall, processKey, reportTiming } from './rocprofv3-csv.ts';
import { isCount, kernelName } from './values.ts';

export type SqlValue = number | bigint | string | Uint8Array | null;

/** Rows of a query, in order. */
export interface SqlDatabase {
  rows(sql: string): Iterable<readonly SqlValue[]>;
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

  /** Rows of one table; a table or column that is missing is reported and read as empty. */
  private *rows(table: TableName, columns: string, optional = true): Generator<readonly SqlValue[]> {
    if (!this.present.has(table)) {
      if (!optional) this.r.report('rocpd/missing-table', this.file, `The table rocpd_${table} is missing.`);
      return;
    }
    yield* this.db.rows(`SELECT ${columns} FROM "rocpd_${table}${this.suffix}" ORDER BY id`);
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
    const eventRows = this.dispatches();
    this.counters(eventRows);
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

  /** The events that a table refers to: only those are kept of the many there are. */
  private idsOf(table: 'pmc_event' | 'region'): Set<number> {
    const ids = new Set<number>();
    for (const [event] of this.rows(table, 'event_id')) ids.add(num(event));
    return ids;
  }

  /** Reads the dispatches; returns dispatch rows by event id when counters will be read. */
  private dispatches(): Map<number, number> {
    const byEvent = new Map<number, number>();
    const wanted = this.idsOf('pmc_event');
    const d = this.r.dispatches;
    const columns =
      'event_id, pid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start, "end", private_segment_size, ' +
      'group_segment_size, workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z';
    const queues = new Map<number, number>();
    const streams = new Map<number, number>();
    const cached = <K>(map: Map<K, number>, key: K, make: () => number): number => {
      let value = map.get(key);
      if (value === undefined) {
        value = make();
        map.set(key, value);
      }
      return value;
    };
    const configs = new Map<string, number>();
    const firstRow = d.length;
    for (const row of this.rows('kernel_dispatch', columns, false)) {
      const symbol = this.symbols.get(num(row[3]));
      const { start, end, state } = this.r.clock.interval(row[7], row[8]);
      const kernel = symbol?.kernel ?? this.r.kernels.id(`kernel ${num(row[3])}`);
      const process = this.processes.get(num(row[1])) ?? 0;
      const one = { domain: this.domain, process, dispatchId: num(row[4]), kernel, start, end, state };
      const before = this.r.tracedBefore(one, firstRow, this.file);
      if (before !== undefined) {
        if (wanted.has(num(row[0]))) byEvent.set(num(row[0]), before);
        continue;
      }
      reportTiming(this.r, this.file, state, 'dispatches');
      const agentId = num(row[2]);
      const agent = this.agentKeys.get(agentId) ?? `agent ${agentId}`;
      d.start.push(start);
      d.end.push(end);
      d.timing.push(state);
      d.kernel.push(kernel);
      d.agent.push(this.r.agentKeys.id(agent));
      d.queue.push(
        cached(queues, num(row[5]) + agentId * 2 ** 24, () => this.r.queues.id(`${agent} queue ${num(row[5])}`)),
      );
      d.stream.push(cached(streams, num(row[6]), () => this.r.streams.id(String(num(row[6])))));
      let key = `${num(row[3])}`;
      for (let i = 9; i < 17; i++) key += `,${num(row[i])}`;
      d.config.push(
        cached(configs, key, () =>
          this.r.configId({
            workgroup: [num(row[11]), num(row[12]), num(row[13])],
            grid: [num(row[14]), num(row[15]), num(row[16])],
            lds: num(row[10]) >= 0 ? num(row[10]) : (symbol?.lds ?? -1),
            scratch: num(row[9]) >= 0 ? num(row[9]) : (symbol?.scratch ?? -1),
            vgpr: symbol?.vgpr ?? -1,
            agpr: symbol?.agpr ?? -1,
            sgpr: symbol?.sgpr ?? -1,
          }),
        ),
      );
      d.process.push(process);
      d.domain.push(this.domain);
      const at = d.dispatchId.push(num(row[4]));
      d.correlation.push(-1);
      if (wanted.has(num(row[0]))) byEvent.set(num(row[0]), at);
    }
    return byEvent;
  }

  private counters(byEvent: ReadonlyMap<number, number>): void {
    const names = new Map<number, string>();
    for (const [id, name] of this.rows('info_pmc', 'id, name')) names.set(num(id), text(name));
    let orphans = 0;
    for (const [event, pmc, value] of this.rows('pmc_event', 'event_id, pmc_id, value')) {
      const row = byEvent.get(num(event));
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
    const categories = new Map<number, number>();
    const wanted = this.idsOf('region');
    if (wanted.size > 0) {
      for (const [id, category] of this.rows('event', 'id, category_id')) {
        if (wanted.has(num(id))) categories.set(num(id), num(category));
      }
    }
    for (const [name, event, begin, finish, pid] of this.rows('region', 'name_id, event_id, start, "end", pid')) {
      if (!this.isFirst('API calls', this.processes.get(num(pid)) ?? 0)) continue;
      const time = this.r.clock.interval(begin, finish);
      if (time.state !== Timing.EQUAL) reportTiming(this.r, this.file, time.state, 'API calls');
      const domain = this.strings.get(categories.get(num(event)) ?? -1) ?? 'region';
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
