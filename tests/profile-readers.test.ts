// Every reader: own fixtures always, real samples when the reference data is there. Detection never looks at the file name
// except for the parts of a trace folder.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  analyse,
  detectFormat,
  findFiles,
  isKnown,
  type KernelEntry,
  loadProfile,
  type Measure,
  type ProfileDocument,
} from '../src/profile/index.ts';
import {
  rocpdRows,
  rocprofJson,
  sampleCodeObject,
  sampleSqtt,
  writeAttFolder,
  writeComputeFolder,
  writeDatabase,
  writeRocpd,
  writeRocprofCsv,
} from './profile-fixtures.ts';
import { sharedPath } from './support/shared.ts';

const temporary = mkdtempSync(join(tmpdir(), 'wavesmith-profile-'));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));
const folder = (name: string): string => {
  const path = join(temporary, name);
  mkdirSync(path, { recursive: true });
  return path;
};

const value = (measure: Measure): number => {
  if (!isKnown(measure)) throw new Error(`unknown: ${measure.unknown}`);
  return measure.value;
};
const metric = (kernel: KernelEntry, id: string): number => value(kernel.metrics[id].value);
const read = (path: string, options = {}): ProfileDocument => analyse(loadProfile([path]).recording, options);

describe('rocprofv3 CSV', () => {
  const path = folder('csv');
  writeRocprofCsv(path);

  test('trace, agents, copies, calls and counters of another pass come together', () => {
    const document = read(path);
    expect(document.dispatches).toMatchObject({ total: 12, timed: 12 });
    expect(document.kernels.map((k) => k.calls)).toEqual([4, 4, 4]);
    expect(document.kernels[0]).toMatchObject({ arch: 'gfx942', agent: 'Agent 2' });
    expect(document.calls).toMatchObject([{ name: 'hipLaunchKernel', calls: 3, totalNs: 12000 }]);
    expect(document.copies).toMatchObject([{ direction: 'HOST_TO_DEVICE', count: 1, totalNs: { value: 9000 } }]);
    const kernel = document.kernels.find((k) => k.name.includes('scale'));
    if (kernel === undefined) throw new Error('no kernel');
    // 8192 reads of 128 bytes, 16384 writes of 64 bytes, 100 FP32 FMA instructions of 64 lanes.
    expect(metric(kernel, 'bytes.hbm.read')).toBe(1 << 20);
    expect(metric(kernel, 'bytes.hbm.write')).toBe(1 << 20);
    expect(value(kernel.roofline.flops)).toBe(100 * 64 * 2);
    expect(kernel.metrics['bytes.hbm.read'].dispatches).toBe(1);
    expect(metric(kernel, 'waves')).toBe(1024);
    // MI300X by its name: 5300 GB/s; the dispatch took 2000 ns in the trace, not the 9000 ns of the counter pass.
    const [hbm] = kernel.roofline.points;
    expect(value(hbm.bandwidth)).toBeCloseTo((2 << 20) / 2000, 6);
    expect(value(hbm.ofPeak)).toBeCloseTo((2 << 20) / 2000 / 5300, 6);
    expect(document.findings).toEqual([]);
  });

  test('one stream over two queues is an order that was recorded; stream 0 orders nothing', () => {
    const row = (id: number, queue: number, stream: number) =>
      `"KERNEL_DISPATCH","Agent 2",${queue},${stream},1,${id},1,"k",${id},${1000 * id},${1000 * id + 500},0,0,8,0,16,64,1,1,64,1,1`;
    const header = readFileSync(join(path, '500_kernel_trace.csv'), 'utf8').split('\n')[0];
    const edges = (stream: number) => {
      const file = join(folder(`stream-${stream}`), 't.csv');
      writeFileSync(file, `${[header, row(1, 1, stream), row(2, 2, stream), row(3, 1, stream)].join('\n')}\n`);
      return read(file).criticalPath.edges;
    };
    expect(edges(5)).toEqual({ queueOrder: 1, recorded: 2, inferred: 2 });
    expect(edges(0)).toEqual({ queueOrder: 1, recorded: 0, inferred: 2 });
  });

  test('files are recognised without their names', () => {
    const other = folder('csv-renamed');
    writeRocprofCsv(other);
    for (const [i, file] of findFiles([other]).entries()) renameSync(file.realPath, join(other, `file${i}.txt`));
    const formats = findFiles([other]).map((file) => detectFormat(file));
    expect([...formats].sort()).toEqual([
      'csv:agent-info',
      'csv:api-trace',
      'csv:counter-collection',
      'csv:kernel-trace',
      'csv:memory-copy',
    ]);
  });

  test('old headers without kernel ids, accumulation registers and times', () => {
    const old = folder('csv-old');
    writeFileSync(
      join(old, 'counters.csv'),
      '"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","SGPR_Count","Counter_Name","Counter_Value"\n' +
        '4,4,1,1,36,36,1048576,"k(float*)",64,0,0,12,16,"SQ_WAVES",16384\n',
    );
    const document = read(old, { arch: 'gfx90a' });
    expect(metric(document.kernels[0], 'waves')).toBe(16384);
    expect(document.kernels[0].totalNs).toEqual({ unknown: 'no timestamps were recorded' });
    expect(document.findings.map((f) => f.code)).toEqual(['profile/unusable-time']);
  });
});

describe('unusual cells', () => {
  test('counters of unequal sets of dispatches and thousands separators', () => {
    const path = folder('uneven');
    writeRocprofCsv(path);
    const file = join(path, 'pmc_1', readdirSync(join(path, 'pmc_1'))[0]);
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    const before = read(path).kernels.map((k) => k.counters.TCC_EA0_RDREQ_sum);
    writeFileSync(file, lines.join('\n').replace(/,8192\.000000,/g, ',"8,192",'));
    expect(read(path).kernels.map((k) => k.counters.TCC_EA0_RDREQ_sum)).toEqual(before);
    // A second set of dispatches of the first kernel has only the requests.
    const more = lines
      .filter((line) => line.startsWith('1,1,') && /RDREQ|BUBBLE/.test(line))
      .map((line) => line.replace('1,1,', '4,4,'));
    writeFileSync(file, [...lines, ...more].join('\n'));
    expect(read(path).findings.map((f) => f.code)).toContain('profile/uneven-counters');
  });

  test('a counter that is no number is a finding', () => {
    const path = folder('unreadable');
    writeComputeFolder(path);
    const file = readdirSync(path)
      .map((name) => join(path, name))
      .find((p) => p.endsWith('.csv') && readFileSync(p, 'utf8').includes('Kernel_Name')) as string;
    const [header, row, ...rest] = readFileSync(file, 'utf8').trim().split('\n');
    const at = header.split(',').findIndex((name) => /^"?(SQ|TCC)_/.test(name));
    const cells = row.split(',');
    cells[at] = 'N/A';
    writeFileSync(file, [header, cells.join(','), ...rest].join('\n'));
    expect(
      read(path)
        .findings.map((f) => f.message)
        .join(),
    ).toContain("'N/A' of");
  });
});

describe('rocprof-compute folders', () => {
  test('per-channel columns, CRLF, a zero clock and rounded times', () => {
    const path = folder('compute');
    writeComputeFolder(path);
    const document = read(path);
    const [kernel] = document.kernels;
    expect(kernel.name).toBe('copy(double*, double*)');
    expect(metric(kernel, 'bytes.hbm.read')).toBe(1 << 20);
    expect(metric(kernel, 'bytes.hbm.write')).toBe(1 << 20);
    // 304000 wave cycles over 1000 cycles per XCC on 304 CUs.
    expect(metric(kernel, 'waves.resident')).toBe(1);
    expect(kernel.totalNs).toEqual({ unknown: 'timestamps are rounded to too few digits' });
    const [{ bandwidths, rates }] = document.roofline.ceilings;
    expect(value(bandwidths[0].peak)).toBeCloseTo(5324.8, 6);
    expect(rates.every((rate) => !isKnown(rate.peak))).toBe(true);
    expect(document.findings.map((f) => f.code)).toContain('profile/bad-sysinfo');
    expect(kernel.roofline.flops).toMatchObject({ unknown: expect.stringContaining('not collected') });
  });

  test('two folders are two runs', () => {
    const both = folder('compute-two');
    writeComputeFolder(join(both, 'a'));
    writeComputeFolder(join(both, 'b'));
    expect(read(both).dispatches.total).toBe(2);
  });
});

describe('rocprofv3 JSON', () => {
  test('records are read one by one and mean the same as in CSV', () => {
    const path = join(folder('json'), 'results.json');
    writeFileSync(path, rocprofJson(50));
    const document = read(path);
    expect(document.dispatches).toMatchObject({ total: 50, timed: 50 });
    expect(document.kernels).toHaveLength(3);
    expect(document.kernels[0]).toMatchObject({ arch: 'gfx950', launches: [{ workgroup: [256, 1, 1], vgpr: 24 }] });
    expect(document.calls).toMatchObject([{ domain: 'HIP_RUNTIME_API', name: 'hipLaunchKernel', calls: 1 }]);
    expect(document.copies).toMatchObject([{ direction: 'HOST_TO_DEVICE', bytes: { value: 4096 } }]);
    expect(document.samples).toMatchObject([
      {
        instruction: 's_waitcnt vmcnt(0)',
        source: '/src/app.hip:12',
        issued: 0,
        meanLanes: 8,
        stallReasons: { WAITCNT: 1 },
      },
      { instruction: 'v_add_f32_e32 v0, v1, v2', issued: 1, kernel: 'void scale<float>(float*, int)' },
    ]);
    expect(document.kernels.flatMap((k) => Object.keys(k.counters))).toEqual(['SQ_WAVES']);
  });
});

describe('rocpd', () => {
  test('suffixed tables, views ignored, instances of a counter added up', () => {
    const path = join(folder('rocpd'), 'results.db');
    writeRocpd(path, 300);
    writeDatabase(path, [
      'CREATE VIEW rocpd_kernel_dispatch AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT * FROM c',
    ]);
    const document = read(path);
    expect(document.dispatches).toMatchObject({ total: 300, timed: 300 });
    expect(document.kernels.map((k) => k.calls)).toEqual([100, 100, 100]);
    expect(document.agents).toMatchObject([{ arch: 'gfx950', cuCount: 256, xccCount: 8, maxClockMhz: 2200 }]);
    expect(document.kernels.flatMap((k) => Object.entries(k.counters))).toEqual([
      ['SQ_WAVES', { sum: 1024, dispatches: 1 }],
    ]);
    expect(document.calls).toMatchObject([{ domain: 'HIP_RUNTIME_API', name: 'hipLaunchKernel', totalNs: 4000 }]);
    expect(document.info.command).toBe('./app');
    expect(document.findings).toEqual([]);
  });

  test('a database of something else', () => {
    const path = join(folder('rocpd-other'), 'x.db');
    writeDatabase(path, ['CREATE TABLE t (a)', 'INSERT INTO t VALUES (1)']);
    expect(() => read(path)).toThrow(/without rocpd tables/);
  });
});

test('inputs of two machines under one agent key are told apart in a finding', () => {
  const path = folder('two-machines');
  writeRocprofCsv(path);
  writeFileSync(join(path, 'results.json'), rocprofJson(1));
  expect(read(path).findings.map((f) => f.code)).toContain('profile/agent-conflict');
});

describe('timestamps of a host that is up for months', () => {
  // Odd, so that a double would round it; the sums pass 2^53, 2^60 and come near 2^64.
  test.each([2n ** 53n - 1_550_000_000_010_001n, 2n ** 53n + 12_345n, 2n ** 60n + 1n, 2n ** 63n + 77n])(
    'mean the same in every format, %d ns later',
    (later) => {
      const name = `late-${later}`;
      const moved = (text: string): string =>
        text.replace(/\b15[45]\d{13}\b|(?<=_timestamp":)\d+/g, (time) => String(BigInt(time) + later));
      const expected = (path: string): unknown => comparable(read(path));
      const csv = folder(`${name}-csv`);
      writeRocprofCsv(csv);
      const before = expected(csv);
      for (const entry of readdirSync(csv, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile()) continue;
        const path = join(entry.parentPath, entry.name);
        writeFileSync(path, moved(readFileSync(path, 'utf8')));
      }
      expect(expected(csv)).toEqual(before);
      const json = join(folder(`${name}-json`), 'results.json');
      writeFileSync(json, rocprofJson(20));
      const inJson = expected(json);
      writeFileSync(json, moved(rocprofJson(20)));
      expect(expected(json)).toEqual(inJson);
      if (later >= 2n ** 63n) return;
      const database = join(folder(`${name}-rocpd`), 'results.db');
      writeRocpd(database, 30);
      const inDatabase = expected(database);
      const suffix = '_0000ddb5_8903_7903_b269_cd8d3745bb8a';
      writeDatabase(
        database,
        ['kernel_dispatch', 'region', 'memory_copy'].map(
          (table) => `UPDATE "rocpd_${table}${suffix}" SET start = start + ${later}, "end" = "end" + ${later}`,
        ),
      );
      expect(expected(database)).toEqual(inDatabase);
    },
  );

  test('too far apart is a finding, not a time', () => {
    const path = folder('far-apart');
    writeRocprofCsv(path);
    const file = join(path, '500_kernel_trace.csv');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/\b155\d{13}\b/, '18446744073709551614'));
    const document = read(path);
    expect(document.dispatches.timed).toBe(11);
    expect(document.findings.map((f) => f.message).join()).toContain('outside the range');
  });
});

/** What must not change when all times move. */
function comparable({ dispatches, kernels, calls, copies, findings, criticalPath }: ProfileDocument): unknown {
  return { dispatches, kernels, calls, copies, findings, criticalPath };
}

describe('thread traces', () => {
  test.each([10, 13] as const)('decoded folder with %i columns', (columns) => {
    const path = join(folder('att'), `ui_output_agent_1_dispatch_${columns}`);
    writeAttFolder(path, columns);
    const { traces } = read(path);
    expect(traces).toHaveLength(1);
    const [trace] = traces;
    expect(trace).toMatchObject({ kind: 'att', hits: 10, latency: 864, stall: 804, idle: 8 });
    // Latency contains the stall: the share is of the latency, and never above 1.
    expect(value(trace.stallShare)).toBeCloseTo(804 / 864, 9);
    expect(trace.classes.map((c) => c.class)).toEqual(['MFMA', 'VMEM', 'branch', 'wait', 'message']);
    expect(value(trace.loadToUse)).toBe(404);
    expect(trace.residency).toEqual([
      [100, 1],
      [1000, 0],
    ]);
    expect(trace.lines[0]).toMatchObject({ kernel: 'void scale<float>(float*, int)', source: '/src/app.hip:12' });
    expect(trace.stallReasons).toEqual(columns === 13 ? [{ reason: 'WAITCNT', samples: 3 }] : []);
  });

  test('waves whose times contradict each other are left out, instructions without code are told', () => {
    const damaged = (file: string, from: string, to: string) => {
      const path = join(folder('att-damaged'), 'ui_output_agent_1_dispatch_1');
      writeAttFolder(path, 13);
      const name = readdirSync(path).find((n) => n.includes(file)) ?? '';
      const text = readFileSync(join(path, name), 'utf8');
      expect(text).toContain(from);
      writeFileSync(join(path, name), text.replace(from, to));
      const { traces, findings } = read(path);
      return { waves: traces[0].waves.length, codes: findings.map((f) => f.code) };
    };
    expect(damaged('_wv', '"end":1000', '"end":1000')).toEqual({ waves: 1, codes: [] });
    expect(damaged('_wv', '"end":1000', '"end":95')).toEqual({ waves: 0, codes: ['att/bad-wave'] });
    // Bit 16 of a time: behind the end; bit 6: before the instruction before.
    expect(damaged('_wv', '[120,', '[65656,')).toEqual({ waves: 0, codes: ['att/bad-wave'] });
    expect(damaged('_wv', '[120,', '[56,')).toEqual({ waves: 0, codes: ['att/bad-wave'] });
    expect(damaged('_wv', ',396,400,', ',396,16,')).toEqual({ waves: 1, codes: ['att/bad-cycles'] });
    expect(damaged('_wv', ',400,2]', ',400,2002]')).toEqual({ waves: 1, codes: ['att/unknown-lines'] });
  });

  test('stats CSV', () => {
    const path = join(folder('att-stats'), 'stats_ui_output_agent_1_dispatch_1.csv');
    writeFileSync(
      path,
      'CodeObj,Vaddr,Instruction,Hitcount,Latency,Stall,Idle,Source\n1,4096,"s_nop 0",4,16,0,8,"/src/a.hip:3"\n1,4100,"s_endpgm",4,16,20,0,""\n',
    );
    const document = read(path);
    expect(document.traces[0]).toMatchObject({ kind: 'att-stats', hits: 8, latency: 32 });
    expect(document.findings.map((f) => f.code)).toEqual(['att/bad-cycles']);
  });

  test('raw trace beside its code object', () => {
    const path = folder('sqtt');
    writeFileSync(join(path, 'shader_engine_1.att'), sampleSqtt(0x10000, 2));
    writeFileSync(join(path, 'code_object_id_1.out'), sampleCodeObject());
    const { recording, sqtt } = loadProfile([path]);
    expect(sqtt[0].stitched).toEqual({ waves: 2, matched: 22, total: 22, ended: 2 });
    expect(analyse(recording).traces[0].classes.map((c) => c.class)).toEqual([
      'VALU',
      'SMEM',
      'branch',
      'wait',
      'barrier',
      'message',
    ]);
  });
});

const compute = sharedPath('profiles', 'rocprof-compute');
describe.skipIf(compute === undefined)(
  'the vcopy workload on hardware: 8 MiB read, 8 MiB written, no FLOPs, 16384 waves',
  () => {
    const BYTES = 16 * 1024 * 1024;
    const near = (measured: number, truth: number) => Math.abs(measured - truth) / truth;

    test('MI300X', () => {
      const document = read(join(compute ?? '', 'vcopy-MI300X'));
      const [kernel] = document.kernels;
      expect(kernel.calls).toBe(3);
      expect(near(value(kernel.roofline.points[0].bytes), 3 * BYTES)).toBeLessThan(0.01);
      expect(near(metric(kernel, 'bytes.hbm.read'), (3 * BYTES) / 2)).toBeLessThan(0.01);
      expect(metric(kernel, 'bytes.hbm.write')).toBe((3 * BYTES) / 2);
      expect(value(kernel.roofline.flops)).toBe(0);
      expect(metric(kernel, 'waves')).toBe(3 * 16384);
      expect(metric(kernel, 'insts.valu')).toBe(3 * 98304);
      expect(kernel.totalNs).toEqual({ unknown: 'timestamps are rounded to too few digits' });
      expect(isKnown(kernel.roofline.points[0].bandwidth)).toBe(false);
    });

    test('MI200: reads of every dispatch and all of the first; later ones leave dirty lines in the 8 MiB L2', () => {
      const { recording } = loadProfile([join(compute ?? '', 'vcopy-MI200')]);
      const [kernel] = analyse(recording).kernels;
      expect(near(metric(kernel, 'bytes.hbm.read'), (3 * BYTES) / 2)).toBeLessThan(0.01);
      expect(value(kernel.roofline.flops)).toBe(0);
      expect(metric(kernel, 'waves')).toBe(3 * 16384);
      expect(value(kernel.totalNs)).toBe(52320);
      const column = (name: string) => recording.counters.column(name)?.sum ?? new Float64Array();
      const total = (row: number) => 64 * (column('TCC_EA_RDREQ_sum')[row] + column('TCC_EA_WRREQ_64B_sum')[row]);
      expect(near(total(0), BYTES)).toBeLessThan(0.01);
      // The counters say that fewer bytes were written in these dispatches; the answer is theirs, not the expected one.
      expect(metric(kernel, 'bytes.hbm.write')).toBe(64 * (131072 + 91072 + 91113));
      // Counters of other units agree: every dispatch writes 8 MiB into L2, but only the first ends with a write-back of what is
      // still dirty there; the lines that L2 wrote back are the bytes the memory interface saw.
      expect(metric(kernel, 'bytes.l2.write')).toBe((3 * BYTES) / 2);
      expect([0, 1, 2].map((row) => column('TCC_ALL_TC_OP_WB_WRITEBACK_sum')[row])).toEqual([19489, 0, 0]);
      for (const row of [0, 1, 2]) {
        const lines = column('TCC_NORMAL_WRITEBACK_sum')[row] + column('TCC_ALL_TC_OP_WB_WRITEBACK_sum')[row];
        expect(near(128 * lines, 64 * column('TCC_EA_WRREQ_sum')[row])).toBeLessThan(0.002);
      }
    });
  },
);

const csv = sharedPath('profiles', 'rocprofv3-csv');
describe.skipIf(csv === undefined)('real rocprofv3 CSV samples', () => {
  const files = csv === undefined ? [] : readdirSync(csv).filter((file) => file.endsWith('.csv'));
  test.each(files)('%s', (file) => {
    const path = join(csv ?? '', file);
    const { recording } = loadProfile([path]);
    const rows = readFileSync(path, 'utf8').trim().split('\n').length - 1;
    const calls = recording.calls.total;
    const samples = [...recording.samples.values()].reduce((sum, line) => sum + line.samples, 0);
    const allocations = [...recording.allocations.values()].reduce((sum, a) => sum + a.count, 0);
    const seen = recording.dispatches.length + recording.copies.length + calls + samples + allocations;
    expect(seen).toBeGreaterThanOrEqual(rows);
    const found = recording.findings.map(({ rule }) => rule).filter((rule) => rule !== 'profile/unusable-time');
    const isOpen = !readFileSync(path, 'utf8').endsWith('\n');
    // The sample of AMD's documentation has the dispatches 1 to 6 and 11 to 13.
    const hasGap = file === 'kernel_trace.csv';
    // Nor has it sizes of scratch memory.
    const hasNoSizes = file === 'scratch_memory_trace.csv';
    expect(found.sort()).toEqual([
      ...(hasGap ? ['profile/missing-dispatches'] : []),
      ...(hasNoSizes ? ['profile/no-sizes'] : []),
      ...(isOpen ? ['profile/open-end'] : []),
    ]);
  });
});

const att = sharedPath('profiles', 'att');
test.skipIf(att === undefined)('the 13-column code.json with its array header', () => {
  const [trace] = read(att ?? '').traces;
  expect(trace.kind).toBe('pc-sampling');
  expect(trace.lines).toHaveLength(1634);
  expect(trace.lines.reduce((sum, line) => sum + (line.samples ?? 0), 0)).toBe(1306 + 3384);
  expect(trace.stallShare).toMatchObject({ unknown: expect.any(String) });
  expect(trace.stallReasons.length).toBeGreaterThan(3);
});

const schema = sharedPath('profiles', 'rocpd-schema');
test.skipIf(schema === undefined)('a database built from the schema of rocprofv3', () => {
  const path = join(folder('rocpd-schema'), 'results.db');
  const uuid = '_0000ddb5_8903_7903_b269_cd8d3745bb8a';
  const sql = (name: string) =>
    readFileSync(join(schema ?? '', name), 'utf8')
      .replaceAll('{{uuid}}', uuid)
      .replaceAll('{{guid}}', '0000ddb5-8903-7903-b269-cd8d3745bb8a')
      .replace('PRAGMA foreign_keys = ON;', '')
      // The WebAssembly build takes string literals in single quotes only.
      .replaceAll(/"((?:[0-9a-f-]{36}|schema_version|uuid|guid|3|\{\}|_0000[0-9a-f_]+))"/g, "'$1'");
  writeDatabase(path, [
    sql('rocpd_tables.sql'),
    sql('rocpd_views.sql'),
    `INSERT INTO "rocpd_info_node${uuid}" (id, hash, machine_id) VALUES (1, 1, 'm')`,
    `INSERT INTO "rocpd_info_process${uuid}" (id, nid, pid, command) VALUES (1, 1, 500, './app')`,
    ...rocpdRows(uuid, 90),
  ]);
  const document = read(path);
  expect(document.dispatches).toMatchObject({ total: 90, timed: 90 });
  expect(document.agents[0].arch).toBe('gfx950');
  expect(document.kernels.map((k) => k.calls)).toEqual([30, 30, 30]);
  expect(document.copies).toMatchObject([{ bytes: { value: 4096 } }]);
  expect(document.allocations).toEqual([{ operation: 'REAL ALLOC', count: 1, bytes: 4096 }]);
});
