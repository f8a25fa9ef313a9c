// The first dispatches of a JSON file or database, and which counters were collected: enough to tell what run it is of.
import { WavesmithError } from '../../base/index.ts';
import type { ByteSource } from '../source.ts';
import { type Json, streamJson } from './json-stream.ts';
import { type SqlDatabase, tablesOf } from './rocpd.ts';

/** A dispatch as far as runs are told apart by it; times are near enough for that. */
export interface SampledDispatch {
  readonly id: number;
  readonly kernel: string;
  readonly from: number;
  readonly to: number;
}

/** What was looked at. */
export interface Sample {
  readonly dispatches: readonly SampledDispatch[];
  readonly counters: ReadonlySet<string>;
}

/** The first `most` dispatches of a rocpd database, and the counters of its first values. */
export function rocpdSample(db: SqlDatabase, file: string, most: number): Sample {
  const dispatches: SampledDispatch[] = [];
  const counters = new Set<string>();
  for (const [suffix, present] of tablesOf(db, file)) {
    const table = (name: string) => `"rocpd_${name}${suffix}"`;
    if (present.has('kernel_dispatch') && present.has('info_kernel_symbol')) {
      const rows = db.rows(
        `SELECT d.dispatch_id, d.start, d."end", coalesce(s.display_name, s.kernel_name) FROM (SELECT dispatch_id, start, "end", kernel_id FROM ${table('kernel_dispatch')} LIMIT ${most}) d JOIN ${table('info_kernel_symbol')} s ON s.id = d.kernel_id`,
      );
      for (const [id, from, to, kernel] of rows) {
        dispatches.push({ id: Number(id), kernel: String(kernel), from: Number(from), to: Number(to) });
      }
    }
    if (!present.has('pmc_event') || !present.has('info_pmc')) continue;
    const names = db.rows(
      `SELECT name FROM ${table('info_pmc')} WHERE id IN (SELECT pmc_id FROM ${table('pmc_event')} LIMIT ${16 * most})`,
    );
    for (const [name] of names) counters.add(String(name));
  }
  return { dispatches, counters };
}

/** The same of the beginning of a rocprofv3 JSON file, which may be cut. */
export function jsonSample(source: ByteSource, most: number): Sample {
  const ROOT = '$.rocprofiler-sdk-tool.*';
  const sections = [
    'counters',
    'kernel_symbols',
    'callback_records.counter_collection',
    'buffer_records.kernel_dispatch',
  ];
  const names = { counters: new Map<number, string>(), kernel_symbols: new Map<number, string>() };
  const dispatches: SampledDispatch[] = [];
  const counters = new Set<string>();
  const done = new Error('enough was read');
  const number = (value: Json, ...path: string[]): number => Number(at(value, ...path) ?? Number.NaN);
  const add = (record: Json): void => {
    const [id, kernel] = ['dispatch_id', 'kernel_id'].map((name) => number(record, 'dispatch_info', name));
    const [from, to] = ['start_timestamp', 'end_timestamp'].map((name) => number(record, name));
    dispatches.push({ id, kernel: names.kernel_symbols.get(kernel) ?? String(kernel), from, to });
    if (dispatches.length >= most) throw done;
  };
  try {
    streamJson(
      source,
      sections.map((section) => `${ROOT}.${section}.*`),
      ([, , , section], value) => {
        if (section === 'counters') names.counters.set(number(value, 'id', 'handle'), String(at(value, 'name')));
        else if (section === 'kernel_symbols') {
          const name = at(value, 'formatted_kernel_name') || at(value, 'kernel_name');
          names.kernel_symbols.set(number(value, 'kernel_id'), String(name));
        } else if (section === 'buffer_records') add(value);
        else {
          const records = at(value, 'records');
          for (const one of Array.isArray(records) ? records : []) {
            counters.add(names.counters.get(number(one, 'counter_id', 'handle')) ?? '');
          }
          add(at(value, 'dispatch_data'));
        }
      },
    );
  } catch (error) {
    // Where the file is cut or damaged, what was read before is the sample; its reader says what is wrong.
    if (error !== done && !(error instanceof WavesmithError)) throw error;
  }
  return { dispatches, counters };
}

/** A member of nested records; undefined where there is none. */
function at(value: Json, ...path: string[]): Json {
  return path.reduce<Json>(
    (inner, name) => (typeof inner === 'object' && inner !== null ? (inner as Record<string, Json>)[name] : undefined),
    value,
  );
}
