// The commands `profile`, `profile diff` and `trace` from files to outputs, and rocprofv3 driven through a stand-in program.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { run as runProfile } from '../src/cli/profile.ts';
import { run as runTrace } from '../src/cli/trace.ts';
import {
  analyse,
  dagDocument,
  diffProfiles,
  loadProfile,
  type ProfileDocument,
  SCHEMAS,
} from '../src/profile/index.ts';
import {
  counterCsv,
  kernelTraceCsv,
  rocprofJson,
  sampleCodeObject,
  sampleSqtt,
  writeAttFolder,
  writeComputeFolder,
  writeRocpd,
  writeRocprofCsv,
} from './profile-fixtures.ts';
import { sharedPath } from './support/shared.ts';

const temporary = mkdtempSync(join(tmpdir(), 'wavesmith-profile-cli-'));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));
afterEach(() => vi.restoreAllMocks());

/** Runs a command; returns exit code and what it printed. */
async function capture(
  run: (argv: string[]) => Promise<number>,
  ...argv: string[]
): Promise<{ code: number; out: string }> {
  let out = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += String(text);
    return true;
  });
  const code = await run(argv);
  vi.restoreAllMocks();
  return { code, out };
}

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const schema = JSON.parse(readFileSync(join(root, 'src/profile/schema/profile-1.schema.json'), 'utf8')) as object;
/** What the schema of a document says against one. */
function problems(name: string, value: unknown): unknown[] {
  const check = new Ajv2020({ allErrors: true, strictTuples: false }).compile(SCHEMAS[name] as object);
  return check(value) ? [] : (check.errors ?? []).slice(0, 3);
}
const validate = new Ajv2020({ allErrors: true, strictTuples: false }).compile(schema);
const json = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

function inputs(): string[] {
  const made = join(temporary, 'inputs');
  if (!existsSync(made)) {
    writeRocprofCsv(join(made, 'csv'));
    writeComputeFolder(join(made, 'compute'));
    mkdirSync(join(made, 'json'));
    writeFileSync(join(made, 'json', 'results.json'), rocprofJson(9));
    writeRocpd(join(made, 'results.db'), 30);
    writeAttFolder(join(made, 'att'), 13);
    mkdirSync(join(made, 'sqtt'));
    writeFileSync(join(made, 'sqtt', 'a.att'), sampleSqtt(0x10000, 3));
    writeFileSync(join(made, 'sqtt', 'a.out'), sampleCodeObject());
  }
  const real = [
    'rocprof-compute/vcopy-MI300X',
    'rocprof-compute/vcopy-MI200',
    'rocprofv3-csv',
    'att',
    'sqtt/profile_gemm_run_0',
  ]
    .map((name) => sharedPath('profiles', ...name.split('/')))
    .filter((path) => path !== undefined);
  return [...readdirSync(made).map((name) => join(made, name)), ...real];
}

describe('profile PATH', () => {
  test.each(inputs())('%s: five files, the document as the schema says', async (path) => {
    const out = join(temporary, 'out', path.replace(/\W+/g, '_'));
    const { code, out: text } = await capture(runProfile, path, '-o', out);
    expect(code).toBe(0);
    expect(text).toContain('Results in');
    expect(readdirSync(out).sort()).toEqual([
      'analysis.json',
      'dag.json',
      'profile.json',
      'report.html',
      'roofline.json',
    ]);
    const document = json(join(out, 'profile.json')) as ProfileDocument;
    expect(validate(document), JSON.stringify(validate.errors?.slice(0, 3))).toBe(true);
    expect(json(join(out, 'dag.json'))).toMatchObject({ schema: 'wavesmith.dag', nodes: document.criticalPath.nodes });
    for (const name of ['roofline', 'dag', 'analysis'])
      expect(problems(name, json(join(out, `${name}.json`)))).toEqual([]);
    if (document.traces.length > 0) {
      const trace = await capture(runTrace, path, '--json');
      expect(problems('trace', JSON.parse(trace.out))).toEqual([]);
    }
  });

  test('the schema refuses a document with a number where a measure belongs', () => {
    const document = analyse(loadProfile([join(temporary, 'inputs', 'csv')]).recording);
    expect(validate(structuredClone(document))).toBe(true);
    expect(validate({ ...document, criticalPath: { ...document.criticalPath, spanNs: 5 } })).toBe(false);
    expect(validate({ ...document, extra: 1 })).toBe(false);
  });

  test('--schema prints the published schema', async () => {
    const { out } = await capture(runProfile, '--schema');
    expect(JSON.parse(out)).toEqual(schema);
  });

  test('--schema of any document, and no other', async () => {
    for (const name of Object.keys(SCHEMAS)) {
      expect(JSON.parse((await capture(runProfile, '--schema', name)).out)).toEqual(SCHEMAS[name]);
    }
    await expect(runProfile(['--schema', 'constructor'])).rejects.toMatchObject({ code: 'cli/usage' });
  });

  test('the schemas refuse documents with a part missing, too many or of another kind', () => {
    const document = analyse(loadProfile([join(temporary, 'inputs', 'csv')]).recording);
    const dag = structuredClone(dagDocument(document)) as Record<string, unknown>;
    expect(problems('dag', dag)).toEqual([]);
    expect(problems('dag', { ...dag, nodes: 'many' })).not.toEqual([]);
    expect(problems('dag', { ...dag, extra: 1 })).not.toEqual([]);
    expect(problems('dag', Object.fromEntries(Object.entries(dag).filter(([name]) => name !== 'edges')))).not.toEqual(
      [],
    );
    expect(problems('roofline', dag)).not.toEqual([]);
  });

  test('the answer comes first: command, GPU, where the time went, what to change', async () => {
    const { out } = await capture(runProfile, join(temporary, 'inputs', 'compute'), '-o', join(temporary, 'answer1'));
    expect(out.split('\n')[0]).toBe('./copy on MI300X (gfx942, 304 CUs)');
    const csv = await capture(runProfile, join(temporary, 'inputs', 'csv'), '-o', join(temporary, 'answer2'));
    expect(csv.out.split('\n').slice(0, 3)).toEqual([
      'an unrecorded command on AMD Instinct MI300X (gfx942, 304 CUs)',
      expect.stringMatching(/^time: \d+\.\d% /),
      'change 1: Overlap copies with kernels, or avoid them; worth at most 9.00 µs (19.0%); copies are 19.0% of the span on the critical path',
    ]);
  });

  test('--json prints the document', async () => {
    const { out } = await capture(runProfile, join(temporary, 'inputs', 'csv'), '-o', join(temporary, 'o2'), '--json');
    expect(JSON.parse(out)).toMatchObject({ schema: 'wavesmith.profile', version: '1.7' });
  });

  test('no data and no arguments are typed errors', async () => {
    const empty = join(temporary, 'empty');
    mkdirSync(empty, { recursive: true });
    await expect(runProfile([empty, '-o', join(temporary, 'o3')])).rejects.toMatchObject({
      code: 'profile/nothing-found',
    });
    await expect(runProfile([])).rejects.toMatchObject({ code: 'cli/usage' });
    await expect(runProfile([empty, '--hbm', 'fast'])).rejects.toMatchObject({
      code: expect.stringMatching(/cli|profile/),
    });
    await expect(runProfile([join(temporary, 'not-there')])).rejects.toMatchObject({ code: 'io/read' });
    expect(existsSync(join(temporary, 'o3'))).toBe(false);
  });
});

describe('exports', () => {
  test('Perfetto: one complete event per piece of work, lanes named', async () => {
    const file = join(temporary, 'trace.json');
    await capture(runProfile, join(temporary, 'inputs', 'csv'), '-o', join(temporary, 'o4'), '--perfetto', file);
    const { traceEvents } = json(file) as {
      traceEvents: { ph: string; cat?: string; dur?: number; name: string; tid: number }[];
    };
    const work = traceEvents.filter((e) => e.ph === 'X');
    expect(work.filter((e) => e.cat === 'dispatch')).toHaveLength(12);
    expect(work.filter((e) => e.cat === 'copy')).toHaveLength(1);
    expect(work.every((e) => (e.dur ?? 0) > 0)).toBe(true);
    const named = new Set(traceEvents.filter((e) => e.ph === 'M').map((e) => e.tid));
    for (const event of work) expect(named.has(event.tid)).toBe(true);
  });

  test('speedscope: events nest and come in order, frames exist', async () => {
    const file = join(temporary, 'speedscope.json');
    await capture(runTrace, join(temporary, 'inputs', 'sqtt'), '--speedscope', file);
    await capture(
      runProfile,
      join(temporary, 'inputs', 'csv'),
      '-o',
      join(temporary, 'o5'),
      '--speedscope',
      `${file}.2`,
    );
    type File = {
      profiles: {
        type: string;
        events?: { type: string; at: number; frame: number }[];
        samples?: number[][];
        weights?: number[];
      }[];
      shared: { frames: { name: string }[] };
    };
    const traced = json(file) as File;
    expect(traced.profiles[0].samples).toHaveLength(6);
    expect(traced.profiles[0].weights?.every((w) => w > 0)).toBe(true);
    const queues = json(`${file}.2`) as File;
    expect(queues.profiles).toHaveLength(2);
    for (const profile of queues.profiles) {
      let at = 0;
      profile.events?.forEach((event, i) => {
        expect(event.type).toBe(i % 2 === 0 ? 'O' : 'C');
        expect(event.at).toBeGreaterThanOrEqual(at);
        expect(queues.shared.frames[event.frame].name).not.toBe('');
        at = event.at;
      });
    }
  });

  test('a wave timeline goes to Perfetto with its instructions', async () => {
    const file = join(temporary, 'waves.json');
    await capture(runTrace, join(temporary, 'inputs', 'sqtt'), '--perfetto', file);
    const { traceEvents } = json(file) as { traceEvents: { cat?: string; name: string }[] };
    expect(traceEvents.filter((e) => e.cat === 'wave')).toHaveLength(3);
    expect(traceEvents.filter((e) => e.name.startsWith('v_add_f32'))).toHaveLength(6);
  });
});

describe('trace', () => {
  test('lists instructions with counts, latency, stall and idle', async () => {
    const { out } = await capture(runTrace, join(temporary, 'inputs', 'sqtt'), '--waves');
    expect(out).toContain('33 of 33 instructions matched');
    expect(out).toMatch(/10c +6 +\d+ +48 +\d+ {2}v_add_f32_e32 v1, s0, v2/);
    expect(out).toMatch(/wave SE 1 CU 3 SIMD 0 slot 0/);
  });

  test('code object and base given by hand', async () => {
    const [att, code] = ['a.att', 'a.out'].map((name) => join(temporary, 'inputs', 'sqtt', name));
    const { out } = await capture(runTrace, att, '--code-object', code, '--base', '0x10000', '--json');
    expect(JSON.parse(out)).toMatchObject({ raw: [{ base: 0x10000, stitched: { matched: 33, total: 33 } }] });
    const wrong = await capture(runTrace, att, '--code-object', code, '--base', '0x20000', '--json');
    expect(JSON.parse(wrong.out)).toMatchObject({ raw: [{ stitched: { matched: 0 } }] });
    await expect(runTrace([att, '--base', 'here'])).rejects.toMatchObject({ code: 'cli/usage' });
  });

  test('nothing to list', async () => {
    await expect(runTrace([join(temporary, 'inputs', 'csv')])).rejects.toMatchObject({ code: 'trace/none' });
  });
});

describe('profile diff', () => {
  const twice = (csv: string) =>
    csv.replace(
      /,(155\d{13}),(155\d{13}),/g,
      (_, a: string, b: string) => `,${a},${Number(a) + (Number(b) - Number(a)) * 2},`,
    );

  test('finds the slower kernel and says whether it is noise', async () => {
    const [a, b] = ['a.csv', 'b.csv'].map((name) => join(temporary, name));
    writeFileSync(a, kernelTraceCsv(60));
    writeFileSync(b, twice(kernelTraceCsv(60)));
    const [left, right] = [a, b].map((path) => analyse(loadProfile([path]).recording));
    const diff = diffProfiles(left, right);
    expect(diff.kernels).toHaveLength(3);
    for (const kernel of diff.kernels) {
      expect(kernel).toMatchObject({ status: 'both', calls: [20, 20], significant: true, meanRatio: { value: 2 } });
    }
    expect(diffProfiles(left, left).kernels.every((k) => k.significant === false && k.metrics.length === 0)).toBe(true);
    const { code, out } = await capture(runProfile, 'diff', a, b);
    expect(code).toBe(0);
    expect(out).toContain('x2.000, significant');
    expect(diff.kernels.map((k) => k.changeNs)).toEqual(left.kernels.map((k) => k.totalNs));
    const page = join(temporary, 'diff.html');
    expect((await capture(runProfile, 'diff', a, b, '--html', page)).code).toBe(0);
    expect(readFileSync(page, 'utf8')).toContain('"names":');
    await expect(runProfile(['diff', a, b, '--html', join(a, 'no', 'folder.html')])).rejects.toMatchObject({
      code: 'io/write',
    });
  });

  test('takes profile.json files and refuses other versions', async () => {
    const out = join(temporary, 'diff-out');
    await capture(runProfile, join(temporary, 'inputs', 'csv'), '-o', out);
    const saved = join(out, 'profile.json');
    const result = await capture(runProfile, 'diff', saved, saved, '--json');
    expect(JSON.parse(result.out)).toMatchObject({ totalRatio: { value: 1 } });
    expect(await capture(runProfile, 'diff', out, out, '--json')).toEqual(result);
    const future = join(temporary, 'future.json');
    writeFileSync(future, JSON.stringify({ ...(json(saved) as object), version: '2.0' }));
    await expect(runProfile(['diff', saved, future])).rejects.toMatchObject({ code: 'profile/schema-version' });
  });
});

describe('profile -- PROGRAM', () => {
  const path = process.env.PATH;
  afterEach(() => {
    process.env.PATH = path;
  });

  test('without rocprofv3: a typed error with the commands to run by hand', async () => {
    process.env.PATH = join(temporary, 'nowhere');
    const out = join(temporary, 'driven-0');
    const error = await runProfile(['--deep', '--arch', 'gfx950', '-o', out, '--', './my app', '-x']).catch(
      (e: unknown) => e,
    );
    expect(error).toMatchObject({ code: 'profile/no-rocprofv3' });
    const { hint } = error as { hint: string };
    expect(hint).toContain('rocprofv3 --kernel-trace --memory-copy-trace');
    expect(hint).toContain('TCC_EA0_RDREQ_128B_sum');
    expect(hint).toContain('rocprofv3 --att -d');
    expect(hint).toContain("-- './my app' -x");
    expect(existsSync(out)).toBe(false);
  });

  test('with rocprofv3: trace first, then the counters of the GPU it found, pass by pass', async () => {
    const bin = join(temporary, 'bin');
    const data = join(temporary, 'driven-data');
    mkdirSync(bin, { recursive: true });
    writeRocprofCsv(data, 6);
    writeFileSync(join(data, 'counters.csv'), counterCsv());
    // A stand-in that logs its command line and puts recorded output where rocprofv3 would.
    writeFileSync(
      join(bin, 'rocprofv3'),
      `#!/bin/sh
echo "$@" >> "${temporary}/log"
while [ "$1" != "-d" ]; do mode="$mode $1"; shift; done
mkdir -p "$2"
case "$mode" in
  *--kernel-trace*) cp "${data}"/500_kernel_trace.csv "${data}"/500_agent_info.csv "$2";;
  *TCC_BUBBLE*) cp "${data}/counters.csv" "$2/1_counter_collection.csv";;
  *fail*) exit 3;;
esac
`,
    );
    chmodSync(join(bin, 'rocprofv3'), 0o755);
    process.env.PATH = `${bin}:${path}`;
    const out = join(temporary, 'driven-1');
    vi.spyOn(process.stderr, 'write').mockImplementation(() => true);
    const { code } = await capture(runProfile, '-o', out, '--', './app');
    expect(code).toBe(0);
    const log = readFileSync(join(temporary, 'log'), 'utf8').trim().split('\n');
    expect(log[0]).toContain('--kernel-trace');
    expect(log.length).toBeGreaterThan(3);
    expect(log.slice(1).every((line) => line.startsWith('--pmc ') && line.endsWith('-- ./app'))).toBe(true);
    const document = json(join(out, 'profile.json')) as ProfileDocument;
    expect(document.kernels[0].arch).toBe('gfx942');
    expect(document.kernels.some((k) => 'value' in k.metrics['bytes.hbm.read'].value)).toBe(true);
    writeFileSync(join(bin, 'rocprofv3'), '#!/bin/sh\nexit 3\n');
    await expect(runProfile(['-o', out, '--', './app'])).rejects.toMatchObject({ code: 'profile/rocprofv3-failed' });
  });
});
