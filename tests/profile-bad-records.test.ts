// Databases and JSON of rocprofv3 with records that cannot be, or that refer to nothing: each is said, and no number is made of it.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { analyse, loadProfile, type ProfileDocument } from '../src/profile/index.ts';
import { rocprofJson, writeDatabase, writeRocpd } from './profile-fixtures.ts';

const temporary = mkdtempSync(join(tmpdir(), 'wavesmith-bad-records-'));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));
const base = join(temporary, 'base.db');
let made = 0;
const folder = (): string => {
  const path = join(temporary, `f${made++}`);
  mkdirSync(path);
  return path;
};
const read = (path: string): ProfileDocument => analyse(loadProfile([path]).recording);
const codes = (document: ProfileDocument): string[] => [...new Set(document.findings.map((f) => f.code))].sort();
/** What a document says of the run, without its findings. */
const facts = ({ kernels, copies, calls, allocations, dispatches, agents }: ProfileDocument) => ({
  total: dispatches.total,
  kernels: kernels.map((k) => [k.name, k.agent, k.calls, k.totalNs, k.counters, k.launches]),
  copies,
  calls,
  allocations,
  agents,
});

beforeAll(() => {
  writeRocpd(base, 9, '_ab12');
  // As rocprofv3 writes them: the same number of instances for each dispatch.
  writeDatabase(base, [
    "UPDATE rocpd_info_pmc_ab12 SET name = 'SQ_BUSY_CYCLES'",
    'INSERT INTO rocpd_pmc_event_ab12 (event_id, pmc_id, value) VALUES (2,1,350), (2,1,350), (3,1,150), (3,1,150)',
    'CREATE TABLE rocpd_info_node_ab12 (id INTEGER PRIMARY KEY, machine_id TEXT, hostname TEXT)',
    "INSERT INTO rocpd_info_node_ab12 VALUES (1, 'm1', 'one')",
  ]);
});

const changed = (...statements: readonly string[]): string => {
  const path = join(folder(), '500_results.db');
  copyFileSync(base, path);
  writeDatabase(
    path,
    statements.map((statement) => statement.replaceAll('@', '_ab12')),
  );
  return path;
};
const dispatch = (change: string, where = 'id = 2') => `UPDATE rocpd_kernel_dispatch@ SET ${change} WHERE ${where}`;
const SECOND_AGENT =
  "INSERT INTO rocpd_info_agent@ (id, nid, type, absolute_index, name, extdata) VALUES (9, 1, 'GPU', 2, 'gfx942', '{}')";

describe('rows of rocpd databases', () => {
  test('that are sound say nothing', () => expect(codes(read(base))).toEqual([]));

  test.each<[string, string[], string[]]>([
    ['an agent that is not there', [dispatch('agent_id = 55')], ['profile/bad-record']],
    ['a kernel that is not there', [dispatch('kernel_id = NULL')], ['profile/unnamed-kernel']],
    ['a process that is not there', [dispatch('pid = 55')], ['profile/bad-record']],
    [
      'a kernel without a name',
      ['UPDATE rocpd_info_kernel_symbol@ SET display_name = NULL, kernel_name = NULL'],
      ['profile/unnamed-kernel'],
    ],
    ['a negative grid', [dispatch('grid_size_x = -7')], ['profile/bad-record']],
    ['a workgroup of a fraction', [dispatch('workgroup_size_y = 2.5')], ['profile/bad-record']],
    ['LDS beyond 2^53', [dispatch('group_segment_size = 9223372036854775807')], ['profile/bad-record']],
    ['a dispatch without a number', [dispatch("dispatch_id = 'x'")], ['profile/bad-record']],
    ['two dispatches of one number', [dispatch('dispatch_id = 1')], ['profile/bad-record']],
    ['a GPU without architecture', ['UPDATE rocpd_info_agent@ SET name = NULL'], ['profile/bad-record']],
    ['an agent of no kind', ['UPDATE rocpd_info_agent@ SET type = NULL'], ['profile/bad-record']],
    ['an agent without number', ['UPDATE rocpd_info_agent@ SET absolute_index = NULL'], ['profile/bad-record']],
    ['an agent with -4 CUs', [`UPDATE rocpd_info_agent@ SET extdata = '{"cu_count":-4}'`], ['profile/bad-record']],
    ['extdata that is no JSON', ["UPDATE rocpd_info_agent@ SET extdata = '{bad'"], ['profile/bad-record']],
    ['agents that are gone', ['DELETE FROM rocpd_info_agent@'], ['profile/bad-record']],
    ['two agents of one number', [SECOND_AGENT, dispatch('agent_id = 9', 'id > 5')], ['profile/agent-conflict']],
    ['a counter without name', ["UPDATE rocpd_info_pmc@ SET name = ''"], ['rocpd/orphan-counters']],
    ['an instance that is lost', ['DELETE FROM rocpd_pmc_event@ WHERE id = 2'], ['profile/bad-record']],
    ['a copy of negative size', ['UPDATE rocpd_memory_copy@ SET size = -4'], ['profile/bad-record']],
    ['a copy of a name that is gone', ['UPDATE rocpd_memory_copy@ SET name_id = 99'], ['profile/bad-record']],
    [
      'copies twice',
      [
        'INSERT INTO rocpd_memory_copy@ (pid, start, "end", name_id, size) SELECT pid, start, "end", name_id, size FROM rocpd_memory_copy@',
      ],
      ['profile/repeated-rows'],
    ],
    [
      'calls twice',
      [
        'INSERT INTO rocpd_region@ (nid, pid, start, "end", name_id, event_id) SELECT nid, pid, start, "end", name_id, event_id FROM rocpd_region@',
      ],
      ['profile/repeated-rows'],
    ],
    ['a call of a name that is gone', ['UPDATE rocpd_region@ SET name_id = 99'], ['profile/bad-record']],
    ['a call of an event that is gone', ['UPDATE rocpd_region@ SET event_id = 99'], ['profile/bad-record']],
    ['an allocation of negative size', ['UPDATE rocpd_memory_allocate@ SET size = -5'], ['profile/bad-record']],
    ...['string', 'info_process', 'event', 'pmc_event', 'region', 'memory_copy', 'memory_allocate'].map(
      (table): [string, string[], string[]] => [`no ${table}`, [`DROP TABLE rocpd_${table}@`], ['rocpd/missing-table']],
    ),
  ])('%s', (_, statements, expected) => {
    const document = read(changed(...statements));
    expect(codes(document)).toEqual(expect.arrayContaining(expected));
    expect(JSON.stringify(document)).not.toMatch(/"(?:grid|workgroup)":\[[^\]]*(?:-7|2\.5)/);
  });

  test('launches have the resources of their kernels, also where their columns are the same', () => {
    const document = read(
      changed(
        'UPDATE rocpd_info_kernel_symbol@ SET arch_vgpr_count = 8 * id, group_segment_size = 512 * id',
        'UPDATE rocpd_kernel_dispatch@ SET group_segment_size = NULL, private_segment_size = 64 WHERE dispatch_id > 3',
      ),
    );
    const launches = document.kernels.map((kernel) => [kernel.name, ...kernel.launches]);
    const of = (name: string, id: number) => [
      name,
      expect.objectContaining({ calls: 2, vgpr: 8 * id, lds: 512 * id, scratch: 64 }),
      expect.objectContaining({ calls: 1, vgpr: 8 * id, lds: 0, scratch: 0 }),
    ];
    expect(launches.sort()).toEqual([
      of('copy_rows', 3),
      of('reduce(float const*, float*)', 2),
      of('void scale<float>(float*, int)', 1),
    ]);
  });

  test('two machines in one database are not joined', () => {
    const document = read(
      changed(
        "INSERT INTO rocpd_info_node@ VALUES (2, 'm2', 'two')",
        'INSERT INTO rocpd_info_process@ (id, nid, pid) VALUES (2, 2, 500)',
        "INSERT INTO rocpd_info_agent@ (id, nid, type, absolute_index, name, extdata) VALUES (9, 2, 'GPU', 2, 'gfx950', '{}')",
        dispatch('nid = 2, pid = 2, agent_id = 9', 'id > 5'),
      ),
    );
    expect(codes(document)).toEqual(['profile/agent-conflict', 'profile/several-recordings']);
    expect(new Set(document.kernels.map((kernel) => kernel.agent))).toEqual(new Set(['Agent 2', 'Agent 2 of two']));
  });

  test('tables of any suffix, and none, are read', () => {
    const tables = ['metadata', 'string', 'info_process', 'info_agent', 'info_pmc', 'info_kernel_symbol', 'event']
      .concat(['pmc_event', 'region', 'kernel_dispatch', 'memory_copy', 'memory_allocate'])
      .map((name) => `rocpd_${name}`);
    const sound = facts(read(base));
    for (const suffix of ['', '_NODE1-x', '_12']) {
      const path = changed(...tables.map((name) => `ALTER TABLE ${name}@ RENAME TO "${name}${suffix}"`));
      expect(facts(read(path))).toEqual(sound);
    }
  });

  test('a trace of rocmProfileData is told by its name', () => {
    const path = join(folder(), 'trace.rpd');
    writeDatabase(path, ['CREATE TABLE rocpd_op (id INTEGER)', 'CREATE TABLE rocpd_string (id INTEGER, string TEXT)']);
    expect(() => read(path)).toThrow(/rocmProfileData/);
  });

  test('what a write-ahead log does not have whole is said', () => {
    const path = join(folder(), '500_results.db');
    copyFileSync(base, path);
    const { Database } = createRequire(import.meta.url)('node-sqlite3-wasm') as typeof import('node-sqlite3-wasm');
    const db = new Database(path);
    db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0');
    db.exec('UPDATE rocpd_kernel_dispatch_ab12 SET "end" = "end" + 1000');
    const whole = join(folder(), '500_results.db');
    copyFileSync(path, whole);
    copyFileSync(`${path}-wal`, `${whole}-wal`);
    db.close();
    expect(statSync(`${whole}-wal`).size).toBeGreaterThan(4096);
    expect(existsSync(`${path}-wal`)).toBe(false);
    expect(codes(read(whole))).toEqual([]);
    expect(facts(read(whole))).not.toEqual(facts(read(base)));
    const log = readFileSync(`${whole}-wal`);
    writeFileSync(`${whole}-wal`, log.subarray(0, log.length >> 1));
    expect(codes(read(whole))).toContain('rocpd/open-log');
    rmSync(`${whole}-wal`);
    writeFileSync(`${whole}-shm`, '');
    expect(codes(read(whole))).toContain('rocpd/open-log');
  });
});

describe('records of JSON', () => {
  // biome-ignore lint/suspicious/noExplicitAny: any part of the file is changed
  const json = (change: (tool: any) => void): ProfileDocument => {
    const path = join(folder(), '500_results.json');
    const file = JSON.parse(rocprofJson(6));
    change(file['rocprofiler-sdk-tool'][0]);
    writeFileSync(path, JSON.stringify(file));
    return read(path);
  };
  // biome-ignore lint/suspicious/noExplicitAny: any part of the file is changed
  test.each<[string, (tool: any) => void, string]>([
    [
      'a copy of negative size',
      (t) => {
        t.buffer_records.memory_copy[0].bytes = -4;
      },
      'profile/bad-record',
    ],
    [
      'an operation without name',
      (t) => {
        t.buffer_records.hip_api[0].operation = 99;
      },
      'profile/bad-record',
    ],
    [
      'a kind without name',
      (t) => {
        t.buffer_records.memory_copy[0].kind = 99;
      },
      'profile/bad-record',
    ],
    [
      'an agent that is gone',
      (t) => {
        t.agents.pop();
      },
      'profile/bad-record',
    ],
    [
      'an agent described twice',
      (t) => {
        t.agents.push({ ...t.agents[1], name: 'gfx90a' });
      },
      'profile/agent-conflict',
    ],
    [
      'two agents of one number',
      (t) => {
        t.agents.push({ ...t.agents[1], id: { handle: 7 } });
      },
      'profile/agent-conflict',
    ],
    [
      'CUs as text',
      (t) => {
        t.agents[1].cu_count = '256';
      },
      'profile/bad-record',
    ],
    [
      'a negative grid',
      (t) => {
        t.buffer_records.kernel_dispatch[4].dispatch_info.grid_size.x = -7;
      },
      'profile/bad-record',
    ],
    [
      'copies twice',
      (t) => {
        t.buffer_records.memory_copy.push(t.buffer_records.memory_copy[0]);
      },
      'profile/repeated-rows',
    ],
  ])('%s', (_, change, expected) => {
    const document = json(change);
    expect(codes(document)).toContain(expected);
    expect(JSON.stringify(document)).not.toMatch(/-7|"value":-/);
  });

  test('of two machines are not joined', () => {
    const path = join(folder(), '500_results.json');
    const file = JSON.parse(rocprofJson(6));
    const [tool] = file['rocprofiler-sdk-tool'];
    tool.metadata.node = { hostname: 'one' };
    const other = structuredClone(tool);
    other.metadata = { ...tool.metadata, pid: 900, node: { hostname: 'two' } };
    for (const one of other.buffer_records.kernel_dispatch) one.start_timestamp--;
    file['rocprofiler-sdk-tool'].push(other);
    writeFileSync(path, JSON.stringify(file));
    expect(codes(read(path))).toContain('profile/agent-conflict');
  });
});
