// rocprof-compute's analysis database (`rocprof-compute analyze --output-format db`), schema 1.x and 2.x: machine, kernels,
// dispatches, derived metrics, measured peaks, PC samples. Counters are not in it. Only real tables are read, never its views.
// Source: rocprofiler-compute src/utils/analysis_orm.py. The meaning of its roofline rows changed between versions (totals, later
// GFLOP/s and intensities in the same columns), so they are shown as reported and enter no formula.
import { WavesmithError } from '../../base/index.ts';
import { type Recording, Timing } from '../recording.ts';
import type { SampleLine } from '../records.ts';
import { dirName } from '../source.ts';
import type { SqlDatabase, SqlValue } from './rocpd.ts';
import { applySysinfo, measuredRoofline } from './rocprof-compute.ts';
import { reportTiming } from './row-problems.ts';
import { kernelName } from './values.ts';

/** Processes of analysis databases start here, away from those of other formats. */
const DATABASE_PROCESSES = 1 << 21;
const MAX_REPORTED = 200_000;

/** Whether a database is of this kind. */
export function isAnalysisDatabase(db: SqlDatabase): boolean {
  for (const [name] of db.rows("SELECT name FROM sqlite_master WHERE type = 'table'")) {
    if (name === 'compute_workload') return true;
  }
  return false;
}

function text(value: SqlValue | undefined): string {
  return typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'bigint'
      ? String(value)
      : '';
}

function num(value: SqlValue | undefined): number | undefined {
  const n = typeof value === 'bigint' ? Number(value) : value;
  return typeof n === 'number' && Number.isFinite(n) ? n : undefined;
}

/** Reads an analysis database. */
export function readAnalysisDatabase(db: SqlDatabase, file: string, recording: Recording): void {
  new Reader(db, file, recording).read();
}

class Reader {
  private readonly db: SqlDatabase;
  private readonly file: string;
  private readonly r: Recording;
  private readonly columns = new Map<string, ReadonlySet<string>>();
  private readonly workloads = new Map<number, string>();
  private readonly kernels = new Map<number, { readonly name: string; readonly workload: number }>();
  private reported = 0;

  constructor(db: SqlDatabase, file: string, r: Recording) {
    this.db = db;
    this.file = file;
    this.r = r;
    for (const [name] of db.rows(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'",
    )) {
      const table = text(name);
      if (!/^compute_[a-z_]{1,60}$/.test(table)) continue;
      const columns = [...db.rows(`SELECT name FROM pragma_table_info('${table}')`)].map(([column]) => text(column));
      this.columns.set(table, new Set(columns));
    }
  }

  private has(table: string, ...names: readonly string[]): boolean {
    const columns = this.columns.get(table);
    return columns !== undefined && names.every((name) => columns.has(name));
  }

  /** Rows of a table in order of its key; columns that are not there read as null. */
  private *rows(table: string, names: readonly string[]): Generator<readonly SqlValue[]> {
    const columns = this.columns.get(table);
    const present = names.filter((name) => columns?.has(name));
    if (present.length === 0) return;
    for (const row of this.db.rows(
      `SELECT ${present.map((n) => `"${n}"`).join(', ')} FROM "${table}" ORDER BY rowid`,
    )) {
      const values = new Map(present.map((name, i) => [name, row[i]]));
      yield names.map((name) => values.get(name) ?? null);
    }
  }

  read(): void {
    if (!this.has('compute_kernel', 'kernel_uuid', 'kernel_name') || !this.has('compute_dispatch', 'kernel_uuid')) {
      throw new WavesmithError('compute-db/schema', `${this.file} lacks the tables of a rocprof-compute database.`, {
        file: this.file,
        hint: "Make it with 'rocprof-compute analyze --output-format db' of ROCm 7.1 or newer.",
      });
    }
    for (const [version] of this.rows('compute_metadata', ['schema_version'])) {
      const major = Number(text(version).split('.')[0]);
      if (major !== 1 && major !== 2) {
        this.r.report(
          'compute-db/version',
          this.file,
          `The schema version is ${text(version)}; 1.x and 2.x are known.`,
        );
      }
    }
    this.readWorkloads();
    for (const [id, name, workload] of this.rows('compute_kernel', ['kernel_uuid', 'kernel_name', 'workload_id'])) {
      this.kernels.set(num(id) ?? -1, { name: kernelName(text(name)), workload: num(workload) ?? -1 });
    }
    this.readDispatches();
    this.readMetrics();
    this.readRoofline();
    this.readSamples();
    this.r.report('compute-db/no-counters', this.file, 'It holds metrics that rocprof-compute derived, not counters.');
  }

  private agentKey(workload: number): string {
    return this.workloads.get(workload) ?? `rocprof-compute ${dirName(this.file) || '.'} ${workload}`;
  }

  /** A JSON column as fields; what is not an object is reported. */
  private fields(value: SqlValue, what: string): ReadonlyMap<string, unknown> {
    const none = new Map<string, unknown>();
    if (value === null) return none;
    let parsed: unknown;
    try {
      parsed = JSON.parse(text(value));
    } catch {
      this.r.report('compute-db/bad-json', this.file, `${what} is not JSON.`);
      return none;
    }
    if (parsed === null) return none;
    if (typeof parsed !== 'object') {
      this.r.report('compute-db/bad-json', this.file, `${what} is not an object.`);
      return none;
    }
    return new Map(Object.entries(parsed));
  }

  private readWorkloads(): void {
    for (const [id, name, sub, system, bench] of this.rows('compute_workload', [
      'workload_id',
      'name',
      'sub_name',
      'sys_info_extdata',
      'roofline_bench_extdata',
    ])) {
      const key = `rocprof-compute ${text(name)}/${text(sub)}`;
      this.workloads.set(num(id) ?? -1, key);
      const info = this.fields(system, 'sys_info_extdata');
      const field = (fieldName: string): string => {
        const value = info.get(fieldName);
        return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
      };
      applySysinfo(field, key, this.file, this.r);
      const peaks = this.fields(bench, 'roofline_bench_extdata');
      const roof = measuredRoofline(key, key, (names) => {
        for (const one of names) {
          const value = peaks.get(one);
          if (typeof value === 'number') return value;
        }
        return undefined;
      });
      if (roof.bandwidths.size + roof.rates.size > 0) this.r.rooflines.push(roof);
    }
  }

  private readDispatches(): void {
    const d = this.r.dispatches;
    const process = DATABASE_PROCESSES + this.r.processOrdinal('analysis-db', this.file);
    const config = this.r.configId({
      workgroup: [-1, -1, -1],
      grid: [-1, -1, -1],
      lds: -1,
      scratch: -1,
      vgpr: -1,
      agpr: -1,
      sgpr: -1,
    });
    for (const [uuid, id, gpu, start, end] of this.rows('compute_dispatch', [
      'kernel_uuid',
      'dispatch_id',
      'gpu_id',
      'start_timestamp',
      'end_timestamp',
    ])) {
      const kernel = this.kernels.get(num(uuid) ?? -1);
      if (kernel === undefined) {
        this.r.report('compute-db/bad-row', this.file, 'Rows of compute_dispatch without their kernel were left out.');
        continue;
      }
      const times = this.r.clock.interval(start, end);
      const { state } = times;
      reportTiming(this.r, this.file, state, 'dispatches');
      const agent = this.agentKey(kernel.workload);
      d.start.push(state === Timing.KNOWN ? times.start : 0);
      d.end.push(state === Timing.KNOWN ? times.end : 0);
      d.timing.push(state);
      d.kernel.push(this.r.kernels.id(kernel.name));
      d.agent.push(this.r.agentKeys.id(agent));
      // Queues are not in the database; one per GPU keeps what ran there in order.
      d.queue.push(this.r.queues.id(`${agent} GPU ${num(gpu) ?? '?'}`));
      d.stream.push(-1);
      d.config.push(config);
      d.process.push(process);
      d.domain.push(this.r.domains.id(agent));
      d.dispatchId.push(num(id) ?? -1);
      d.correlation.push(-1);
    }
  }

  private addReported(
    kernel: number,
    table: string,
    id: string,
    metric: string,
    unit: string,
    of: string,
    value: number,
  ) {
    const found = this.kernels.get(kernel);
    if (found === undefined) return;
    if (this.reported++ >= MAX_REPORTED) {
      this.r.report('compute-db/cut', this.file, `Only ${MAX_REPORTED} metric values were read.`);
      return;
    }
    const key = `${found.name}\0${this.agentKey(found.workload)}`;
    const list = this.r.reported.get(key) ?? [];
    list.push({ table, id, metric, unit, statistic: of, value });
    this.r.reported.set(key, list);
  }

  private readMetrics(): void {
    const names = ['metric_uuid', 'name', 'metric_id', 'table_name', 'sub_table_name', 'unit', 'kernel_uuid'];
    const table = this.columns.has('compute_metric_definition') ? 'compute_metric_definition' : 'compute_metric';
    const metrics = new Map<number, { id: string; name: string; table: string; unit: string; kernel: number }>();
    for (const [uuid, name, id, first, second, unit, kernel] of this.rows(table, names)) {
      const title = [text(first), text(second)].filter((part) => part !== '').join(' / ');
      metrics.set(num(uuid) ?? -1, {
        id: text(id),
        name: text(name),
        table: title,
        unit: text(unit),
        kernel: num(kernel) ?? -1,
      });
    }
    const values = this.columns.has('compute_kernel_metric_value') ? 'compute_kernel_metric_value' : 'compute_value';
    for (const [uuid, kernel, of, value] of this.rows(values, ['metric_uuid', 'kernel_uuid', 'value_name', 'value'])) {
      const metric = metrics.get(num(uuid) ?? -1);
      const n = num(value);
      if (metric === undefined || n === undefined) continue;
      this.addReported(num(kernel) ?? metric.kernel, metric.table, metric.id, metric.name, metric.unit, text(of), n);
    }
  }

  private readRoofline(): void {
    const columns = [
      'total_flops',
      'l0_cache_data',
      'l1_cache_data',
      'l2_cache_data',
      'hbm_cache_data',
      'lds_cache_data',
    ];
    for (const [kernel, ...values] of this.rows('compute_kernel_roofline_data', ['kernel_uuid', ...columns])) {
      columns.forEach((name, i) => {
        const n = num(values[i]);
        if (n !== undefined) this.addReported(num(kernel) ?? -1, 'Roofline data', '', name, '', '', n);
      });
    }
  }

  private readSamples(): void {
    const lines = new Map<number, SampleLine>();
    for (const [id, kernel, comment, instruction] of this.rows('compute_instruction_line', [
      'instruction_uuid',
      'kernel_uuid',
      'comment',
      'instruction',
    ])) {
      const line = this.sampleLine(this.kernels.get(num(kernel) ?? -1)?.name, text(instruction), text(comment));
      lines.set(num(id) ?? -1, line);
    }
    const states = new Map<number, SampleLine>();
    for (const [id, instruction, total, issued] of this.rows('compute_pc_sample_state', [
      'pc_sample_state_uuid',
      'instruction_uuid',
      'total_count',
      'issue_count',
    ])) {
      const line = lines.get(num(instruction) ?? -1);
      if (line === undefined) continue;
      line.samples += num(total) ?? 0;
      line.issued += num(issued) ?? 0;
      states.set(num(id) ?? -1, line);
    }
    this.readCounts(states, 'stall_reason', (line) => line.stallReasons);
    for (const [key, line] of this.r.samples) if (line.samples <= 0) this.r.samples.delete(key);
  }

  private readCounts(
    states: ReadonlyMap<number, SampleLine>,
    kind: string,
    of: (l: SampleLine) => Map<string, number>,
  ) {
    const type = `pc_sample_${kind}_type_uuid`;
    const names = new Map<number, string>();
    for (const [id, name] of this.rows(`compute_pc_sample_${kind}_type`, [type, 'text'])) {
      names.set(num(id) ?? -1, text(name));
    }
    const columns = ['pc_sample_state_uuid', type, 'count'];
    for (const [state, id, count] of this.rows(`compute_pc_sample_${kind}`, columns)) {
      const line = states.get(num(state) ?? -1);
      const name = names.get(num(id) ?? -1);
      if (line === undefined || name === undefined) continue;
      of(line).set(name, (of(line).get(name) ?? 0) + (num(count) ?? 0));
    }
  }

  private sampleLine(kernel: string | undefined, instruction: string, source: string): SampleLine {
    const key = `${kernel ?? ''}\0${instruction}\0${source}`;
    let line = this.r.samples.get(key);
    if (line === undefined) {
      const counts = { samples: 0, issued: 0, lanes: Number.NaN };
      line = { kernel, instruction, source, ...counts, stallReasons: new Map(), instructionTypes: new Map() };
      this.r.samples.set(key, line);
    }
    return line;
  }
}
