// Hostile inputs: every one ends in a typed error or in findings, in bounded time and memory, and in a safe page.
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { WavesmithError } from '../src/base/index.ts';
import {
  analyse,
  isKnown,
  loadProfile,
  type ProfileDocument,
  perfettoTrace,
  speedscopeFile,
} from '../src/profile/index.ts';
import { profilePage } from '../src/report/index.ts';
import {
  counterCsv,
  kernelTraceCsv,
  rocprofJson,
  sampleSqtt,
  writeAttFolder,
  writeDatabase,
  writeRocpd,
} from './profile-fixtures.ts';

const temporary = mkdtempSync(join(tmpdir(), 'wavesmith-hostile-'));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));
let made = 0;
const fileWith = (name: string, content: string | Uint8Array): string => {
  const folder = join(temporary, String(made++));
  mkdirSync(folder);
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};

/** Runs everything that a hostile file reaches; returns the document or the typed error's code. */
function outcome(path: string): ProfileDocument | string {
  try {
    const { recording } = loadProfile([path]);
    const document = analyse(recording, { arch: 'gfx950' });
    for (const _ of perfettoTrace(recording)) {
    }
    for (const _ of speedscopeFile(recording, 'x')) {
    }
    const html = profilePage(document);
    expect(html.match(/<script/g)).toHaveLength(3);
    return document;
  } catch (error) {
    if (error instanceof WavesmithError) return error.code;
    throw error;
  }
}

const codes = (result: ProfileDocument | string): string[] =>
  typeof result === 'string' ? [result] : result.findings.map((f) => f.code);

describe('damaged SQLite', () => {
  const good = join(temporary, 'good.db');
  writeRocpd(good, 400);
  const bytes = readFileSync(good);

  test.each([0.1, 0.3, 0.5, 0.9])('truncated to %f of its length', (share) => {
    const result = outcome(fileWith('r.db', bytes.subarray(0, Math.floor(bytes.length * share))));
    if (typeof result === 'string') expect(result).toBe('sqlite/damaged');
    else expect(result.dispatches.total).toBeLessThan(400);
  });

  test('only the magic, and pages of noise', () => {
    expect(outcome(fileWith('r.db', bytes.subarray(0, 16)))).toMatch(/^(sqlite|rocpd)\//);
    const noise = Uint8Array.from(bytes);
    for (let i = 200; i < noise.length; i++) noise[i] = (i * 2654435761) >>> 24;
    expect(outcome(fileWith('r.db', noise))).toMatch(/^(sqlite|rocpd)\//);
  });

  test('locked by another program, with a write-ahead log, compressed: read all the same, and nothing is left beside it', () => {
    const folder = mkdtempSync(join(temporary, 'held-'));
    const path = join(folder, 'r.db');
    writeFileSync(path, bytes);
    mkdirSync(`${path}.lock`);
    expect(outcome(path)).toMatchObject({ dispatches: { total: 400 } });
    const log = Uint8Array.from(bytes);
    // The file format versions of write-ahead logging, in bytes 18 and 19 of the header.
    log.set([2, 2], 18);
    writeFileSync(join(folder, 'wal.db'), log);
    expect(outcome(join(folder, 'wal.db'))).toMatchObject({ dispatches: { total: 400 } });
    writeFileSync(join(folder, 'r.db.gz'), gzipSync(bytes));
    expect(outcome(join(folder, 'r.db.gz'))).toMatchObject({ dispatches: { total: 400 } });
    expect(readdirSync(folder).sort()).toEqual(['r.db', 'r.db.gz', 'r.db.lock', 'wal.db']);
  });

  test('columns that are not there are findings, and have no values', () => {
    const path = join(temporary, 'columns.db');
    writeRocpd(path, 6, '_abcd');
    writeDatabase(
      path,
      ['stream_id', 'grid_size_z'].map((name) => `ALTER TABLE rocpd_kernel_dispatch_abcd DROP COLUMN ${name}`),
    );
    const result = outcome(path);
    expect(result).toMatchObject({ dispatches: { total: 6, timed: 6 } });
    expect(codes(result)).toEqual(['rocpd/missing-table', 'rocpd/missing-table']);
  });

  test('endless views and virtual tables under rocpd names are not run', () => {
    const path = join(temporary, 'views.db');
    writeRocpd(path, 3);
    const endless = 'WITH RECURSIVE c(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM c) SELECT id FROM c';
    writeDatabase(path, [`CREATE VIEW rocpd_string AS ${endless}`, `CREATE VIEW rocpd_event AS ${endless}`]);
    expect(outcome(path)).toMatchObject({ dispatches: { total: 3 } });
  });

  test('text and blobs where numbers belong, integers beyond 2^53, ends before starts', () => {
    const path = join(temporary, 'types.db');
    writeRocpd(path, 6, '_abcd');
    const set = (id: number, change: string) => `UPDATE rocpd_kernel_dispatch_abcd SET ${change} WHERE id = ${id}`;
    writeDatabase(path, [
      set(1, "start = 'soon'"),
      set(2, '"end" = x\'00ff\''),
      set(3, 'start = 9223372036854775800, "end" = 9223372036854775807'),
      set(4, '"end" = start - 5'),
      set(5, 'start = 0, "end" = 0, kernel_id = 99, workgroup_size_x = -7'),
    ]);
    const result = outcome(path);
    expect(result).toMatchObject({ dispatches: { total: 6, timed: 1 } });
    expect(new Set(codes(result))).toEqual(
      new Set([
        ...['profile/unusable-time', 'profile/untimed-calls', 'profile/unnamed-kernel', 'profile/bad-record'],
        // One takes 7 ns.
        'profile/impossible-value',
      ]),
    );
  });
});

describe('hostile analysis databases', () => {
  const fixture = join(import.meta.dirname, 'fixtures/profile/analysis-db/input/rocprof_compute.db');
  const bytes = readFileSync(fixture);
  const changed = (...statements: string[]): string => {
    const path = fileWith('a.db', bytes);
    writeDatabase(path, statements);
    return path;
  };

  test.each([0.05, 0.3, 0.6, 0.95])('truncated to %f of its length', (share) => {
    const result = outcome(fileWith('a.db', bytes.subarray(0, Math.floor(bytes.length * share))));
    if (typeof result === 'string') expect(result).toMatch(/^(sqlite\/damaged|rocpd\/no-tables|compute-db\/schema)$/);
  });

  test('without the tables that carry it', () => {
    expect(outcome(changed('DROP TABLE compute_kernel'))).toBe('compute-db/schema');
    expect(outcome(changed('ALTER TABLE compute_dispatch RENAME COLUMN kernel_uuid TO x'))).toBe('compute-db/schema');
  });

  test('views in place of tables, other versions, damaged JSON, types that do not belong', () => {
    const endless = 'WITH RECURSIVE c(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM c) SELECT a AS kernel_uuid FROM c';
    const result = outcome(
      changed(
        'DROP TABLE compute_kernel_metric_value',
        `CREATE VIEW compute_kernel_metric_value AS ${endless}`,
        "UPDATE compute_metadata SET schema_version = '9.1'",
        "UPDATE compute_workload SET sys_info_extdata = '{\"gpu_arch\": [', roofline_bench_extdata = '7'",
        "UPDATE compute_dispatch SET start_timestamp = 'soon' WHERE dispatch_uuid = 1",
        'UPDATE compute_dispatch SET end_timestamp = 9223372036854775807 WHERE dispatch_uuid = 2',
        "UPDATE compute_kernel SET kernel_name = '<script>__proto__</script>' WHERE kernel_uuid = 2",
        "UPDATE compute_pc_sample_state SET total_count = x'ff'",
      ),
    );
    expect(result).toMatchObject({ dispatches: { total: 4, timed: 1 } });
    for (const code of ['compute-db/version', 'compute-db/bad-json', 'profile/unusable-time']) {
      expect(codes(result)).toContain(code);
    }
  });
});

describe('hostile CSV', () => {
  const header = kernelTraceCsv(1).split('\n')[0];

  test('10 GB sparse file: refused at once, with and without a header', () => {
    for (const start of ['', `${header}\n`]) {
      const path = fileWith('kernel_trace.csv', start);
      const fd = openSync(path, 'r+');
      ftruncateSync(fd, 10 * 2 ** 30);
      closeSync(fd);
      const before = process.memoryUsage().rss;
      const started = process.cpuUsage();
      expect(outcome(path)).toMatch(/^profile\/(not-csv|nothing-found)$/);
      expect(process.cpuUsage(started).user).toBeLessThan(5e6);
      expect(process.memoryUsage().rss - before).toBeLessThan(200e6);
    }
  });

  test('a row without an end', () => {
    const path = fileWith('kernel_trace.csv', `${header}\n"`);
    const fd = openSync(path, 'a');
    for (let i = 0; i < 12; i++) writeSync(fd, 'A'.repeat(1 << 20));
    closeSync(fd);
    expect(outcome(path)).toBe('profile/not-csv');
  });

  test('absurd timestamps make durations unknown, never wrong', () => {
    const row = kernelTraceCsv(1).split('\n')[1].split(',');
    const at = header.split(',').indexOf('"Start_Timestamp"') + 3; // the kernel name has three commas inside its quotes
    const rows = [
      ['18446744073709551615', '18446744073709551616'],
      ['-5', '10'],
      ['1e300', '1e301'],
      ['NaN', '5'],
      ['0x10', '0x20'],
      ['8.1097E+14', '8.1098E+14'],
      ['100', '100'],
      ['200', '100'],
      ['', ''],
    ].map(([start, end]) =>
      row.map((cell, i) => (cell === row[9 + 1] && i === 10 ? start : i === 11 ? end : cell)).join(','),
    );
    expect(at).toBeGreaterThan(9);
    const result = outcome(fileWith('kernel_trace.csv', `${header}\n${rows.join('\n')}\n`));
    if (typeof result === 'string') throw new Error(result);
    expect(result.dispatches).toMatchObject({ total: rows.length, timed: 0 });
    expect(isKnown(result.kernels[0].totalNs)).toBe(false);
    expect(isKnown(result.criticalPath.spanNs)).toBe(false);
  });

  test('names that are object keys or markup', () => {
    const names = [
      '__proto__',
      'constructor',
      'hasOwnProperty',
      '<script>alert(1)</script>',
      '\u202Eevil',
      'a\u2028b',
      '',
    ];
    const rows = names.map((name) =>
      kernelTraceCsv(1)
        .split('\n')[1]
        .replace(/"void scale[^"]*"/, `"${name}"`),
    );
    const result = outcome(fileWith('t.csv', `${header}\n${rows.join('\n')}\n`));
    if (typeof result === 'string') throw new Error(result);
    expect(new Set(result.kernels.map((k) => k.name))).toEqual(new Set(names));
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('counter names that are object keys', () => {
    const csv = counterCsv().replaceAll('"SQ_WAVES"', '"__proto__"');
    const result = outcome(fileWith('c.csv', csv));
    if (typeof result === 'string') throw new Error(result);
    const counters = JSON.parse(JSON.stringify(result.kernels[0].counters)) as Record<string, unknown>;
    expect(Object.keys(counters)).toContain('__proto__');
    expect(({} as Record<string, unknown>).sum).toBeUndefined();
  });

  test('cut rows, extra cells, letters in counters', () => {
    const [, row] = kernelTraceCsv(1).split('\n');
    const cut = outcome(fileWith('t.csv', `${header}\n${row}\n${row.slice(0, 40)}\n${row},1,2\n`));
    expect(cut).toMatchObject({ dispatches: { total: 1 } });
    expect(codes(cut)).toEqual(['profile/bad-row']);
    const letters = outcome(fileWith('c.csv', counterCsv().replace('1024.000000', 'many')));
    expect(codes(letters)).toContain('profile/unreadable-counter');
  });

  test('a hundred thousand columns', () => {
    expect(outcome(fileWith('t.csv', `${header}${',x'.repeat(120_000)}\n`))).toMatch(/^profile\//);
  });
});

describe('hostile JSON', () => {
  const good = rocprofJson(20);

  test.each([0.2, 0.5, 0.95])('cut at %f', (share) => {
    expect(outcome(fileWith('r.json', good.slice(0, Math.floor(good.length * share))))).toBe('profile/bad-json');
  });

  test('wrong types everywhere, prototype keys, deep nesting', () => {
    const wrong = good
      .replaceAll('"dispatch_id":3', '"dispatch_id":{"__proto__":{"polluted":1}}')
      .replaceAll('"kernel_id":11', '"kernel_id":"eleven"')
      .replaceAll('"start_timestamp":1000000', '"start_timestamp":1e400')
      .replaceAll('"x":256', '"x":[]')
      .replace('"metadata":', '"__proto__":{"polluted":1},"metadata":');
    const result = outcome(fileWith('r.json', wrong));
    expect(result).toMatchObject({ dispatches: { total: 20 } });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    const deep = `{"rocprofiler-sdk-tool":[{"x":${'['.repeat(200_000)}${']'.repeat(200_000)}}]}`;
    const started = process.cpuUsage();
    expect(outcome(fileWith('r.json', deep))).toBe('profile/bad-json');
    expect(process.cpuUsage(started).user).toBeLessThan(10e6);
    expect(codes(outcome(fileWith('r.json', '{"rocprofiler-sdk-tool":5}')))[0] ?? 'ok').toMatch(/^(ok|profile\/)/);
  });
});

describe('hostile traces', () => {
  test('code.json with wrong rows, missing columns, or no code', () => {
    const folder = join(temporary, 'att');
    writeAttFolder(folder, 13);
    const set = (value: unknown) => writeFileSync(join(folder, 'code.json'), JSON.stringify(value));
    const header = 'ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle';
    set({ code: null, header, version: '3' });
    expect(outcome(folder)).toMatchObject({ traces: [{ hits: 0 }] });
    set({ code: [5, null, {}, ['x'], [null, 0, 'a', 0, 0, 0, '1', {}, [], null]], header, version: '3' });
    expect(outcome(folder)).toMatchObject({ traces: [{ hits: 0, latency: 0 }] });
    set({ code: [], version: '3' });
    expect(outcome(folder)).toBe('att/bad-code');
    writeFileSync(join(folder, 'code.json'), '{"code":[');
    expect(outcome(folder)).toBe('profile/bad-json');
  });

  test('parts of a trace folder: wrong types, no ends, deep nesting, copies outside the folder', () => {
    const folder = join(temporary, 'att-parts');
    writeAttFolder(folder, 10);
    const put = (name: string, value: unknown) => writeFileSync(join(folder, name), JSON.stringify(value));
    put('wstates2.json', { name: 5, time: [0, 'x', null], state: [1] });
    put('occupancy.json', { 0: [5, null, ['x']], __proto__: [[1, 2, 3, 4, 1]], dispatches: { 1: 'k' } });
    put('se0_sm0_sl0_wv7.json', { wave: { instructions: 'none', timeline: [[9, 'x']], cu: '1' } });
    put('other.json', { type: 'OTHER_SIMD_INSTRUCTIONS', instructions: [[], null, [1, 'x', 99]] });
    put('snapshots.json', { '/': { src: { 'app.hip': '../../../../etc/passwd', 'b.h': 7 } }, __proto__: { x: 'y' } });
    const result = outcome(folder);
    expect(codes(result)).toContain('att/bad-states');
    expect(JSON.stringify(result)).not.toContain('root:');
    writeFileSync(join(folder, 'wstates2.json'), '{"time":[0,1');
    expect(outcome(folder)).toBe('profile/bad-json');
    writeFileSync(join(folder, 'wstates2.json'), `{"time":${'['.repeat(100_000)}`);
    expect(outcome(folder)).toBe('profile/bad-json');
    rmSync(join(folder, 'wstates2.json'));
    writeFileSync(join(folder, 'snapshots.json'), '{"/":');
    expect(codes(outcome(folder))).toContain('att/bad-snapshots');
  });

  test('a wave with more instructions than are kept: the rest is left out and said', () => {
    const folder = join(temporary, 'att-long');
    writeAttFolder(folder, 10);
    const rows = '[100,6,0,4,1],'.repeat(600_000);
    writeFileSync(
      join(folder, 'se0_sm0_sl0_wv0.json'),
      `{"wave":{"cu":1,"instructions":[${rows}[1,1,1,1,1]],"timeline":[]}}`,
    );
    const { recording } = loadProfile([folder]);
    expect(recording.findings.map((f) => f.rule)).toContain('att/cut');
    expect(recording.traces[0].waves[0].instructions).toHaveLength(1 << 19);
  });

  test('SQTT of noise ends, keeps bounds, and reports', () => {
    const good = sampleSqtt(0x10000, 50);
    const noise = Uint8Array.from({ length: 1 << 20 }, (_, i) =>
      i < 8 ? good[i] : (Math.imul(i, 2654435761) >>> 13) & 0xff,
    );
    const result = outcome(fileWith('a.att', noise));
    expect(typeof result === 'string' ? [] : codes(result)).toContain('sqtt/stray');
    expect(outcome(fileWith('a.att', good.subarray(0, 9)))).toMatchObject({ traces: [{ kind: 'sqtt' }] });
  });

  test('only time resets: linear, not quadratic', () => {
    const good = sampleSqtt(0x10000, 1);
    const resets = new Uint8Array(8 + (4 << 20));
    resets.set(good.subarray(0, 8));
    for (let i = 8; i < resets.length; i += 2) resets[i + 1] = 0x20;
    // CPU time of the process: 2 s, and an hour if each reset looked for its stamp to the end.
    const started = process.cpuUsage();
    outcome(fileWith('a.att', resets));
    expect(process.cpuUsage(started).user).toBeLessThan(60e6);
  });
});

test('folders with link loops and files of other kinds', () => {
  const folder = join(temporary, 'loop');
  mkdirSync(join(folder, 'a'), { recursive: true });
  symlinkSync(folder, join(folder, 'a', 'again'));
  writeFileSync(join(folder, 'notes.txt'), 'hello, world\n');
  expect(outcome(folder)).toBe('profile/nothing-found');
});
