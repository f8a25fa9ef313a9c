// `wavesmith optimize` on HIP projects: the examples with their conversations, what the guards refuse, bad projects, and that the user's folder stays
// as it was. One example runs here; WAVESMITH_EXAMPLES=all runs the others too.
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Ledger } from '../src/optimize/index.ts';
import { canCompileHip, nativeLibraries, root, run } from './support/hip.ts';
import { llvmTool } from './support/llvm.ts';
import { nativeTests } from './support/native.ts';
import { answerBody } from './support/optimize/provider-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-hip-test-'));
const project = join(folder, 'project');
const examples = join(root, 'examples', 'optimize');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ALL = ['transpose', 'reduction', 'matmul', 'softmax', 'stencil', 'histogram'];
const NAMES = process.env.WAVESMITH_EXAMPLES === 'all' ? ALL : ['histogram'];

const environment = {
  HIPFLAGS: `--rocm-path=/usr -D__AMDGCN_WAVEFRONT_SIZE=64 --rocm-device-lib-path=${join(root, '.wavesmith', 'hip-device-libs')}`,
  LDLIBS: `-L${nativeLibraries} -l:libamdhip64.so.5`,
  TMPDIR: folder,
};

/** The command line for an example. */
function commandOf(name: string, ...flags: string[]): string[] {
  const build = `make CXX=clang++ ${name}`;
  return [
    join(root, 'bin', 'wavesmith'),
    ...['optimize', '--project', project, '--source', `${name}.hip`, '--build', build, '--run', `./${name}`],
    ...flags,
  ];
}

const path = { PATH: `${join(llvmTool('clang++') ?? '', '..')}:${process.env.PATH}` };
const optimize = (name: string, ...flags: string[]) =>
  run(process.execPath, commandOf(name, ...flags), { ...environment, ...path }, 600);

/** A recording of a model that makes these proposals. */
function recordingOf(name: string, calls: readonly (readonly [tool: string, input: unknown])[]): string {
  const file = join(folder, `${name}.json`);
  const exchanges = calls.map(([tool, input], n) => ({
    status: 200,
    response: answerBody('openai-compatible', { tool, input }, n),
  }));
  const head = { format: 'wavesmith-conversation', version: 1, protocol: 'openai-compatible', model: 'scripted' };
  writeFileSync(file, JSON.stringify({ ...head, exchanges }));
  return `replay:${file}`;
}

const edit = (find: string, replace: string) =>
  ['propose_edits', { reason: 'Faster.', edits: [{ find, replace }] }] as const;
const contents = (): string[] =>
  readdirSync(project).map((f) => `${f}: ${f.endsWith('.hip') ? readFileSync(join(project, f), 'utf8') : ''}`);

beforeAll(() => {
  cpSync(examples, project, { recursive: true });
});

describe.skipIf(nativeTests() === undefined || !canCompileHip())('HIP projects', { timeout: 600_000 }, () => {
  test.each(NAMES)('%s is made faster by its conversation', async (name) => {
    const before = contents();
    const patch = join(folder, `${name}.patch`);
    const provider = `replay:${join(examples, 'conversations', `${name}.json`)}`;
    const { status, stdout, stderr } = await optimize(name, '--provider', provider, '-o', patch, '--json');
    expect([status, stderr]).toEqual([0, '']);
    const result = JSON.parse(stdout);
    expect(result.evaluation).toMatchObject({ verdict: 'accepted' });
    expect(result.comparesOutput).toBe(true);
    expect(readFileSync(patch, 'utf8')).toBe(result.patch);
    expect(result.patch).toMatch(new RegExp(`^--- a/${name}\\.hip`, 'm'));
    expect(contents()).toEqual(before);
  });

  test('the configuration that is faster is found, and what changes the host is refused', async () => {
    const tune = join(folder, 'tune.yaml');
    const flags = [
      'source: ahead.hip',
      'run: ./ahead',
      'parameters: { flags: ["-DAHEAD=1", "-DAHEAD=16 -O3", "-Dmain=start"] }',
    ];
    writeFileSync(tune, [...flags, 'build: make CXX=clang++ ahead HIPFLAGS="$HIPFLAGS {flags}"'].join('\n'));
    const command = ['optimize', '--project', project, '--tune', tune, '-o', join(folder, 'best.yaml'), '--json'];
    const before = contents();
    const { status, stdout, stderr } = await run(process.execPath, [join(root, 'bin', 'wavesmith'), ...command], {
      ...environment,
      ...path,
    });
    expect([status, stderr]).toEqual([0, '']);
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({ configuration: { flags: '-DAHEAD=16 -O3' }, isExhaustive: true });
    expect(result.evaluation.verdict).toBe('accepted');
    expect(result.tried.filter((t: { isKept: boolean }) => !t.isKept)).toEqual([
      expect.objectContaining({ words: expect.stringMatching(/^(?:It does not build|Refused)/) }),
    ]);
    expect(readFileSync(join(folder, 'best.yaml'), 'utf8')).toContain('AHEAD=16');
    expect(contents()).toEqual(before);
  });

  test('what is no change of the kernel is refused, and what is wrong is rejected', async () => {
    const calls = [
      edit('const int n = 2048;', 'const int n = 16;'),
      edit('unsigned *bins, const unsigned char *in, int n)', 'unsigned *bins, const unsigned char *in, long n)'),
      edit('count += in[i]', 'count += nonsense[i]'),
      edit('bins[threadIdx.x] = count;', 'bins[threadIdx.x] = 0;'),
      edit('i < n; i++', 'i < 2048; i++'),
    ] as const;
    const before = contents();
    const { status, stdout } = await optimize('histogram', '--provider', recordingOf('wrong', calls), '--json');
    const { talk, steps } = JSON.parse(stdout);
    expect(steps).toEqual([]);
    expect(talk.judgements.map((j: { words: string }) => j.words)).toEqual([
      expect.stringContaining('Code of the host was changed'),
      expect.stringMatching(/^(?:Refused|It does not compile)/),
      expect.stringContaining("use of undeclared identifier 'nonsense'"),
      expect.stringContaining('prints something else'),
      expect.stringMatching(/not faster|held-out|exact/),
    ]);
    // The recording has ended, which is a provider that fails.
    expect(status).toBe(1);
    expect(contents()).toEqual(before);
  });

  test('are baselines of evaluate: a source or its patch climbs once', async () => {
    const before = contents();
    const text = readFileSync(join(project, 'histogram.hip'), 'utf8');
    const evaluate = (name: string, content: string) => {
      const file = join(folder, name);
      writeFileSync(file, content);
      const flags = ['--source', 'histogram.hip', '--build', 'make CXX=clang++ histogram', '--run', './histogram'];
      const command = [join(root, 'bin', 'wavesmith'), 'evaluate', project, file, ...flags, '--json'];
      return run(process.execPath, command, { ...environment, ...path }, 600);
    };
    const slower = text.replace('bins[threadIdx.x] = count;', 'bins[threadIdx.x] = count + 0;');
    const patch = createTwoFilesPatch('a/histogram.hip', 'b/histogram.hip', text, slower);
    for (const [name, content, status, found] of [
      ['same.patch', patch, 3, { verdict: 'not-faster', reached: 'proved' }],
      ['host.hip', text.replace('const int n = 2048;', 'const int n = 16;'), 1, { rung: 'contract' }],
      ['wrong.hip', text.replace('= count;', '= 0;'), 1, { rung: 'exact' }],
    ] as const) {
      const { status: got, stdout, stderr } = await evaluate(name, content);
      expect([got, stderr]).toEqual([status, '']);
      expect(JSON.parse(stdout)).toMatchObject(found);
    }
    const { status, stderr } = await evaluate('none.patch', patch.replaceAll('count', 'nothing'));
    expect([status, stderr]).toEqual([1, expect.stringContaining('evaluate/patch')]);
    expect(contents()).toEqual(before);
  });

  test('that do not build, run, or hold the kernel', async () => {
    const provider = recordingOf('none', []);
    const flags = (build: string, program: string) => ['--provider', provider, '--build', build, '--run', program];
    for (const [build, program, source, code] of [
      ['exit 3', 'true', 'histogram.hip', 'optimize/build'],
      ['true', 'true', 'histogram.hip', 'optimize/no-compiler'],
      ['make CXX=clang++ histogram', 'exit 4', 'histogram.hip', 'optimize/run'],
    ] as const) {
      const ledger = join(folder, `${code.replace('/', '-')}.db`);
      const flag = ['--ledger', ledger];
      const command = [join(root, 'bin', 'wavesmith'), 'optimize', '--project', project, '--source', source, ...flag];
      const { status, stderr } = await run(process.execPath, [...command, ...flags(build, program)], {
        ...environment,
        ...path,
      });
      expect([status, stderr]).toEqual([1, expect.stringContaining(code)]);
      const opened = Ledger.open(ledger);
      expect(opened.faults.map((f) => f.code)).toEqual([code]);
      opened.close();
    }
  });

  test('a process that is killed leaves the project as it was, and its copy goes with the next one', async () => {
    const before = contents();
    const args = [...commandOf('histogram', '--provider', recordingOf('none', [])), '--build', 'sleep 60'];
    const child = spawn(process.execPath, args, { stdio: 'ignore', env: { ...process.env, ...environment, ...path } });
    const copies = (): string[] => readdirSync(folder).filter((f) => f.startsWith('wavesmith-optimize-'));
    while (!copies().some((c) => existsSync(join(folder, c, 'bin')))) await new Promise((done) => setTimeout(done, 50));
    const ended = new Promise((done) => child.on('exit', done));
    child.kill('SIGKILL');
    await ended;
    expect(contents()).toEqual(before);
    expect(copies()).toHaveLength(1);
    await optimize('histogram', '--provider', recordingOf('none', []), '--build', 'exit 3');
    expect(copies()).toEqual([]);
  });
});

test.each([
  [['--build', 'make'], 'needs --build, --run and --source'],
  [['--build', 'make', '--run', './a', '--source', 'a.hip'], 'needs --provider'],
  [['x.wscap', '--build', 'make'], 'Give a capture'],
  [[], 'Give a capture'],
] as const)('%j is a wrong use', async (flags, words) => {
  const { status, stderr } = await run(process.execPath, [join(root, 'bin', 'wavesmith'), 'optimize', ...flags]);
  expect([status, stderr]).toEqual([2, expect.stringContaining(words)]);
});
