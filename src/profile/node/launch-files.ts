// All launches that a file of dispatches tells: their numbers, kernels and sizes, without the counters.
import { WavesmithError } from '../../base/index.ts';
import { StringTable } from '../columns.ts';
import { Launches, type LaunchShape } from '../pairing.ts';
import { readCsvRows } from '../readers/csv.ts';
import { CellIds } from '../readers/csv-row.ts';
import { type Json, streamJson } from '../readers/json-stream.ts';
import { type SqlDatabase, tablesOf } from '../readers/rocpd.ts';
import { kernelName, whole } from '../readers/values.ts';
import type { ByteSource } from '../source.ts';
import type { DiskFile } from './files.ts';
import { withDatabase } from './sqlite.ts';

/** What a file says of the launches of one process. */
export interface FileLaunches {
  readonly launches: Launches;
  /** The number of the process; undefined where the file does not tell it. */
  readonly pid: string | undefined;
  /** The machine's name, where the file tells it. */
  readonly host: string | undefined;
}

/** The launches of a file; undefined when it cannot be read, or has those of several processes. */
export function launchesOf({
  file,
  format,
}: {
  readonly file: DiskFile;
  readonly format: string;
}): FileLaunches | undefined {
  try {
    if (format === 'rocpd') return withDatabase(file, (db) => ofDatabase(db, file.path));
    return file.open((source) => (format === 'rocprofv3-json' ? ofJson(source) : ofTable(source)));
  } catch (error) {
    // Its reader says what is wrong with it.
    if (!(error instanceof WavesmithError)) throw error;
    return undefined;
  }
}

/** The launches of several files of one process. */
export function launchesOfAll(entries: readonly Parameters<typeof launchesOf>[0][]): Launches {
  const all = new Launches();
  for (const entry of entries) {
    const found = launchesOf(entry);
    if (found !== undefined) all.addAll(found.launches);
  }
  return all;
}

/** The name of an agent as ROCm 6.2 writes it and later versions do. */
const agentName = (text: string): string => text.replace(/^Agent /, '');

function ofTable(source: ByteSource): FileLaunches | undefined {
  const launches = new Launches();
  const [kernels, agents, pids] = [new StringTable(), new StringTable(), new StringTable()];
  let parts = 0;
  readCsvRows(source, (h) => {
    parts++;
    const [id, kernel, agent, pid] = [
      h.at('Dispatch_Id'),
      h.at('Kernel_Name'),
      h.at('Agent_Id', 'GPU_ID'),
      h.at('Process_Id', 'Pid'),
    ];
    const columns = (name: string): number[] => {
      const whole = h.at(name);
      return whole >= 0 ? [whole] : ['X', 'Y', 'Z'].map((axis) => h.at(`${name}_${axis}`));
    };
    const [grid, workgroup] = [columns('Grid_Size'), columns('Workgroup_Size')];
    const kernelIds = new CellIds((text) => kernels.id(kernelName(text ?? '')));
    const agentIds = new CellIds((text) => agents.id(agentName(text ?? '')));
    const pidIds = new CellIds((text) => pids.id(text ?? ''));
    let before = -1;
    return (row) => {
      if (row.length !== h.names.length) return;
      parts = Math.max(parts, row.part + 1);
      row.id(pidIds, pid);
      const dispatch = row.count(id);
      // A table of counters has a row for each of them.
      if (dispatch === before) return;
      before = dispatch;
      const product = (of: readonly number[]): number => {
        const sizes = of.map((index) => row.count(index));
        return sizes.some((size) => size < 0) ? -1 : sizes.reduce((a, b) => a * b);
      };
      launches.add(dispatch, {
        kernel: kernels.get(row.id(kernelIds, kernel)),
        agent: agents.get(row.id(agentIds, agent)),
        grid: product(grid),
        workgroup: product(workgroup),
      });
    };
  });
  if (parts > 1 || pids.size > 1) return undefined;
  return { launches, pid: pids.get(0) || undefined, host: undefined };
}

/** The text of a cell of SQLite; '' for none. */
const textOf = (value: unknown): string => (value === null || value === undefined ? '' : String(value));

function ofDatabase(db: SqlDatabase, file: string): FileLaunches | undefined {
  const [first, ...more] = tablesOf(db, file);
  if (more.length > 0) return undefined;
  const [suffix, present] = first;
  if (
    !['kernel_dispatch', 'info_kernel_symbol', 'info_agent', 'info_process'].every((name) => present.has(name as never))
  )
    return undefined;
  const table = (name: string): string => `"rocpd_${name}${suffix}"`;
  const processes = [...db.rows(`SELECT pid FROM ${table('info_process')}`)];
  if (processes.length > 1) return undefined;
  const [node] = present.has('info_node') ? [...db.rows(`SELECT hostname FROM ${table('info_node')}`)] : [];
  const names = new Map<unknown, string>();
  for (const [id, display, name] of db.rows(`SELECT id, display_name, kernel_name FROM ${table('info_kernel_symbol')}`))
    names.set(id, kernelName(textOf(display) || textOf(name)));
  const agents = new Map<unknown, string>();
  for (const [id, index] of db.rows(`SELECT id, absolute_index FROM ${table('info_agent')}`))
    agents.set(id, textOf(index));
  const launches = new Launches();
  const sizes = ['workgroup_size', 'grid_size'].flatMap((name) => ['x', 'y', 'z'].map((axis) => `${name}_${axis}`));
  for (const [id, kernel, agent, wx, wy, wz, gx, gy, gz] of db.rows(
    `SELECT dispatch_id, kernel_id, agent_id, ${sizes.join(', ')} FROM ${table('kernel_dispatch')}`,
  )) {
    launches.add(whole(id), {
      kernel: names.get(kernel) ?? '',
      agent: agents.get(agent) ?? '',
      grid: product([gx, gy, gz]),
      workgroup: product([wx, wy, wz]),
    });
  }
  return { launches, pid: textOf(processes[0]?.[0]) || undefined, host: textOf(node?.[0]) || undefined };
}

function product(values: readonly unknown[]): number {
  const sizes = values.map(whole);
  return sizes.some((size) => size < 0) ? -1 : sizes.reduce((a, b) => a * b);
}

/** A member of nested records; undefined where there is none. */
function at(value: Json, ...path: string[]): Json {
  return path.reduce<Json>(
    (inner, name) => (typeof inner === 'object' && inner !== null ? (inner as Record<string, Json>)[name] : undefined),
    value,
  );
}

function ofJson(source: ByteSource): FileLaunches | undefined {
  const ROOT = '$.rocprofiler-sdk-tool.*';
  const sections = [
    'metadata',
    'agents.*',
    'kernel_symbols.*',
    'callback_records.counter_collection.*',
    'buffer_records.kernel_dispatch.*',
  ];
  const launches = new Launches();
  const [names, agents] = [new Map<number, string>(), new Map<string, string>()];
  const handle = (value: Json, ...path: string[]): string => String(at(value, ...path, 'handle'));
  let [parts, pid, host] = [0, '', ''];
  const add = (info: Json): void => {
    const sizes = (name: string): Json[] => ['x', 'y', 'z'].map((axis) => at(info, name, axis));
    const shape: LaunchShape = {
      kernel: names.get(whole(at(info, 'kernel_id'))) ?? '',
      agent: agents.get(handle(info, 'agent_id')) ?? '',
      grid: product(sizes('grid_size')),
      workgroup: product(sizes('workgroup_size')),
    };
    launches.add(whole(at(info, 'dispatch_id')), shape);
  };
  streamJson(
    source,
    sections.map((section) => `${ROOT}.${section}`),
    ([, , , section], value) => {
      if (section === 'metadata') {
        parts++;
        pid = String(at(value, 'pid') ?? '');
        host = String(at(value, 'node', 'hostname') ?? '');
      } else if (section === 'agents') {
        agents.set(handle(value, 'id'), String(at(value, 'logical_node_id') ?? at(value, 'node_id')));
      } else if (section === 'kernel_symbols') {
        const name = at(value, 'formatted_kernel_name') || at(value, 'kernel_name');
        names.set(whole(at(value, 'kernel_id')), kernelName(String(name)));
      } else
        add(section === 'buffer_records' ? at(value, 'dispatch_info') : at(value, 'dispatch_data', 'dispatch_info'));
    },
  );
  return parts > 1 ? undefined : { launches, pid: pid || undefined, host: host || undefined };
}
