// Every folder of tests/fixtures/profile: one per reader, input and expected.json side by side. Each is recognised by what is in its
// files, whatever they are called, and read to the expected facts. `UPDATE_FIXTURES=1` writes expected.json anew.
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, describe, expect, test } from 'vitest';
import { WavesmithError } from '../src/base/index.ts';
import {
  analyse,
  analysisDocument,
  dagDocument,
  detectFormat,
  findFiles,
  loadProfile,
  type ProfileDocument,
  rooflineDocument,
  SCHEMAS,
} from '../src/profile/index.ts';

const root = join(import.meta.dirname, 'fixtures', 'profile');
const temporary = mkdtempSync(join(tmpdir(), 'wavesmith-fixtures-'));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));

const folders = readdirSync(root).sort();
const inputOf = (folder: string): string => join(root, folder, 'input');

/** What a fixture is expected to say: everything a reader fills in, without the analysis' long lists. */
function facts(document: ProfileDocument): unknown {
  return {
    sources: document.sources.map((s) => s.format).sort(),
    findings: document.findings.map((f) => `${f.code}: ${f.message}`).sort(),
    info: document.info,
    agents: document.agents,
    measured: document.roofline.ceilings.filter((c) => c.kind === 'measured'),
    kernels: document.kernels.map((k) => ({
      name: k.name,
      arch: k.arch,
      calls: k.calls,
      timed: k.timed,
      totalNs: k.totalNs,
      launches: k.launches,
      counters: k.counters,
      flops: k.roofline.flops,
      bytes: Object.fromEntries(k.roofline.points.map((p) => [p.level, p.bytes])),
      reported: k.reported,
    })),
    dispatches: document.dispatches.shown.map((d) => [d.id, d.queue, d.startNs, d.durationNs]),
    traces: document.traces.map((t) => ({
      kind: t.kind,
      lines: t.lines.map((l) => [
        l.address,
        l.text,
        l.hits,
        l.latency,
        l.stall,
        l.idle,
        l.samples,
        l.source,
        l.sourceText,
      ]),
      waves: t.waves.map((w) => [w.shaderEngine, w.cu, w.simd, w.slot, w.begin, w.end, w.instructions]),
      states: t.waveStates,
      otherSimd: t.otherSimd,
      stallReasons: t.stallReasons,
    })),
    samples: document.samples,
    calls: document.calls,
    copies: document.copies,
    allocations: document.allocations,
  };
}
const read = (path: string) => JSON.parse(JSON.stringify(facts(analyse(loadProfile([path]).recording)))) as unknown;

/** A copy of a fixture in which names tell nothing; only what the formats themselves name by file keeps its name. */
function renamed(folder: string): string {
  const target = join(temporary, 'renamed', folder, 'input');
  let n = 0;
  const walk = (from: string, to: string): void => {
    mkdirSync(to, { recursive: true });
    for (const name of readdirSync(from)) {
      const path = join(from, name);
      const keep = /^(?:se\d+_|wstates|occupancy|filenames|snapshots|source_|SQ_LEVEL|pmc_perf)/.test(name);
      if (statSync(path).isDirectory()) walk(path, join(to, name));
      else copyFileSync(path, join(to, keep ? name : `file${n++}.bin`));
    }
  };
  walk(inputOf(folder), target);
  return target;
}

describe('fixture folders', () => {
  test('there is one for every reader', () => {
    expect(folders).toEqual([
      'analysis-db',
      'att',
      'att-13-columns',
      'att-stats',
      'pc-sampling',
      'rocpd',
      'rocprof-compute',
      'rocprof-v1',
      'rocprofv3-csv',
      'rocprofv3-csv-6.2',
      'rocprofv3-json',
      'sqtt',
    ]);
  });

  test.each(folders)('%s', (folder) => {
    const file = join(root, folder, 'expected.json');
    const actual = read(inputOf(folder));
    if (process.env.UPDATE_FIXTURES !== undefined) writeFileSync(file, `${JSON.stringify(actual, null, 2)}\n`);
    expect(actual).toEqual(JSON.parse(readFileSync(file, 'utf8')));
  });

  test.each(folders)('%s under names that tell nothing', (folder) => {
    const expected = JSON.parse(readFileSync(join(root, folder, 'expected.json'), 'utf8')) as object;
    expect(read(renamed(folder))).toEqual(expected);
  });

  const validators = Object.fromEntries(
    Object.entries(SCHEMAS).map(([name, schema]) => [
      name,
      new Ajv2020({ allErrors: true, strictTuples: false }).compile(schema),
    ]),
  );
  test.each(folders)('%s: each document is as its schema says', (folder) => {
    const document = analyse(loadProfile([inputOf(folder)]).recording);
    for (const [name, value] of [
      ['profile', document],
      ['roofline', rooflineDocument(document)],
      ['dag', dagDocument(document)],
      ['analysis', analysisDocument(document)],
    ] as const) {
      const check = validators[name];
      const isValid = check?.(JSON.parse(JSON.stringify(value)));
      expect([name, isValid, check?.errors?.slice(0, 3) ?? null]).toEqual([name, true, null]);
    }
  });

  test('they are small', () => {
    const sizes = findFiles([root]).map((file) => file.size);
    expect(sizes.reduce((a, b) => a + b)).toBeLessThan(400_000);
  });
});

describe('near misses', () => {
  const formatOf = (name: string, content: string | Uint8Array): string | undefined => {
    const path = join(temporary, 'near', name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    const [file] = findFiles([path]);
    return detectFormat(file);
  };
  const csvOf = (...names: string[]): string => `${names.map((n) => `"${n}"`).join(',')}\n`;

  test.each([
    ['text without commas', 'kernel_trace.csv', 'Kernel_Name\nfoo\n'],
    ['a table of something else', 'kernel_trace.csv', csvOf('Kernel_Name', 'Price', 'Start')],
    ['a kernel trace without its end', 'a.csv', csvOf('Kind', 'Kernel_Name', 'Dispatch_Id', 'Start_Timestamp')],
    ['an empty file', 'code.json', ''],
    ['a text file that starts like SQLite', 'a.db', 'SQLite format 4\0 and more'],
    ['bytes of an image', 'a.att', Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13)],
    ['an ELF magic cut short', 'a.out', Uint8Array.of(0x7f, 0x45, 0x4c)],
    [
      'a thread trace of gfx11',
      'a.att',
      Uint8Array.of(0x06, 0x00, 0x09, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xfe, 0x00, 0x01),
    ],
  ])('%s is nothing', (_what, name, content) => {
    expect(formatOf(name, content)).toBeUndefined();
  });

  test('JSON of other tools is no trace code', () => {
    expect(formatOf('x.json', '{"code": [{"a": 1}]}')).toBe('att-part');
    expect(formatOf('x.json', '{"version": "1.0", "header": ["Name", "Price"]}')).toBe('att-part');
    expect(formatOf('x.json', '{"rocprofiler-sdk": []}')).toBe('att-part');
    expect(formatOf('x.json', '{"rocprofiler-sdk-tool": []}')).toBe('rocprofv3-json');
    expect(formatOf('x.json', '{"code": null, "header": "ISA"}')).toBe('att-code');
    expect(formatOf('x.json', '{"version": "3", "header": "ISA, _"}')).toBe('att-code');
  });

  test('folders of near misses only are refused', () => {
    const folder = join(temporary, 'nothing');
    mkdirSync(folder);
    writeFileSync(join(folder, 'a.json'), '{"code": [{"a": 1}]}');
    writeFileSync(join(folder, 'b.csv'), csvOf('Kernel_Name', 'Price'));
    expect(() => loadProfile([folder])).toThrow(WavesmithError);
    expect(relative(temporary, folder)).toBe('nothing');
  });
});
