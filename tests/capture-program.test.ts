// `wavesmith capture -- PROGRAM`: dispatches of HIP and HSA programs are isolated by the tools library and replayed without the program.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Capture, openCapture, slimCapture } from '../src/snapshot/index.ts';
import { replayOnce } from './support/capture-subjects.ts';
import { canCompileHip, compileHip, type HipRun, run } from './support/hip.ts';
import { nativeTests } from './support/native.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-capture-program-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Captures what the options say; gives the captures in the order of their names. */
async function capture(
  name: string,
  options: readonly string[],
  program: readonly string[],
): Promise<HipRun & { captures: Capture[] }> {
  const output = join(folder, `${name}.wscap`);
  const command = ['bin/wavesmith', 'capture', ...options, '-o', output, '--', ...program];
  const result = await run(process.execPath, command);
  const captures = Array.from({ length: 200 }, (_, n) => (n === 0 ? `${name}.wscap` : `${name}.${n}.wscap`))
    .filter((file) => readdirSync(folder).includes(file))
    .map((file) => openCapture(join(folder, file)));
  return { ...result, captures };
}

const kernelsOf = (captures: readonly Capture[]): string[] => captures.map((c) => c.manifest.dispatch.kernel);

async function expectEqual(captures: readonly Capture[], iterations = 1): Promise<void> {
  for (const one of captures) {
    const result = await replayOnce(one, { iterations });
    expect(result, `${one.path} ${result.reasons.join(' ')}`).toMatchObject({ verdict: 'equal', reasons: [] });
    expect(result.bytes).toBeGreaterThan(0);
  }
}

const native = nativeTests();

describe.skipIf(native === undefined || !canCompileHip())('a HIP program', () => {
  let program: string;
  let kinds: string;
  let tools: string;
  let waits: string;
  beforeAll(async () => {
    program = await compileHip({ sources: ['isolate'], targets: ['gfx942'] });
    kinds = await compileHip({ sources: ['capture', 'capture_other'], targets: ['gfx942'] });
    tools = await compileHip({ sources: ['tools'], targets: ['gfx942'] });
    waits = await compileHip({ sources: ['waits'], targets: ['gfx942'] });
  });

  test('is isolated and replayed: minimal and pointer-chase', async () => {
    const options = ['--kernel', '^(minimal|chase)$', '--dispatch', '0-1'];
    const { status, stdout, stderr, captures } = await capture('two', options, [program]);
    expect(stderr.match(/proved complete/g)).toHaveLength(2);
    expect(status).toBe(0);
    expect(stdout).toBe('1000 136 315\n');
    expect(kernelsOf(captures)).toEqual(['minimal', 'chase']);
    await expectEqual(captures, 3);
    // Allocations are those of the program, with the calls that made them.
    const { allocations } = (captures[1] as Capture).manifest.memory;
    expect(allocations.filter((a) => a.provenance === 'hsa_amd_memory_pool_allocate').length).toBeGreaterThan(2);
    expect(allocations.some((a) => a.kind === 'coarse' && a.flags.includes('coarse-grained'))).toBe(true);
  });

  test('gives the dispatches that are asked for, each as it was', async () => {
    const options = ['--kernel', 'step', '--no-orders', '--dispatch'];
    const range = await capture('step', [...options, '1-3'], [program]);
    expect(range.status).toBe(0);
    expect(range.captures.map((c) => c.manifest.dispatch.sequence)).toEqual([3, 4, 5]);
    await expectEqual(range.captures);
    const every = await capture('every', [...options, 'every:2'], [program]);
    expect(every.captures.map((c) => c.manifest.dispatch.sequence)).toEqual([2, 4, 6]);
  });

  test('without such a dispatch is told what there is', async () => {
    const { status, stderr } = await capture('none', ['--kernel', 'nothing'], [program]);
    expect(status).toBe(1);
    expect(stderr).toMatch(/capture\/no-dispatch/);
    expect(stderr).toMatch(/minimal \(1\)/);
  });

  test.each([
    ['ends before it dispatches', ['true'], 1, /was one to record\.\n {2}hint: The program dispatched nothing/],
    ['fails before it dispatches', ['bash', '-c', 'exit 3'], 3, /It ended with status 3\./],
    ['is killed', ['bash', '-c', 'kill -9 $$'], 137, /It ended with status 137\./],
    ['does not exist', ['/no/such/program'], 127, /cannot run '\/no\/such\/program'/],
  ] as const)('that %s', async (_what, command, expected, message) => {
    const { status, stderr, captures } = await capture('no-dispatch', [], [...command]);
    expect([status, captures.length]).toEqual([expected, 0]);
    expect(stderr).toMatch(message);
  });

  test('that is killed after its dispatches: they are captured', async () => {
    const { status, captures } = await capture('killed', ['--no-orders'], ['bash', '-c', `${program}; kill -9 $$`]);
    expect(status).toBe(137);
    await expectEqual(captures);
  });

  const KINDS = [
    'by_value',
    'through_variables',
    'no_arguments',
    'by_function',
    'list',
    'far',
    'far',
    'no_arguments_of_other',
    'far',
    'by_function_of_other',
  ];

  test.each(['touched', 'reachable', 'full'])('whose memory is hard to find: %s', async (memory) => {
    const made = memory === 'touched' ? KINDS : KINDS.slice(0, 3);
    const options = ['--dispatch', `0-${made.length - 1}`, '--no-orders', '--memory', memory];
    const { status, stderr, stdout, captures } = await capture(memory, options, [kinds]);
    expect(stderr.match(/proved complete/g), stderr).toHaveLength(made.length);
    expect([status, stdout]).toEqual([0, '102 7\n']);
    expect(kernelsOf(captures)).toEqual(made);
    expect(captures.every((c) => c.manifest.memory.mode === memory && c.manifest.memory.proved)).toBe(true);
    await expectEqual(captures);
    if (memory === 'touched') return;
    // What is slimmed is what the virtual GPU would have recorded.
    const big = captures[1] as Capture;
    const { before, after } = await slimCapture(big, join(folder, `slim-${memory}.wscap`), { orders: false });
    expect(after.chunks).toBeLessThan(before.chunks);
    await expectEqual([openCapture(join(folder, `slim-${memory}.wscap`))]);
  });

  test('that forks has captures of both processes', async () => {
    const options = ['--kernel', '^list$', '--no-orders'];
    const { status, captures } = await capture('fork', options, [kinds, 'fork']);
    expect(status).toBe(0);
    expect(kernelsOf(captures)).toEqual(['list', 'list']);
    await expectEqual(captures);
  });

  test('that launches a graph, and dynamic LDS', async () => {
    const graph = await capture('graph', ['--dispatch', '0-9', '--kernel', 'step', '--no-orders'], [tools, 'graph']);
    expect(graph.captures.map((c) => c.manifest.dispatch.block[0])).toEqual([64, 128, 64, 128]);
    await expectEqual(graph.captures);
    const lds = await capture('lds', ['--kernel', 'turn', '--no-orders'], [tools, 'dynamic']);
    expect(lds.captures.map((c) => c.manifest.dispatch.dynamicLds)).toEqual([512]);
    await expectEqual(lds.captures);
  });

  test.each([
    ['host', '42 42 42\n', ['waits'], ''],
    ['kernel', '42 42 42\n', ['waits'], 'dispatch 1 of sets was not captured: .*\\(beside-waiting\\)'],
    ['behind', '0 1 63\n', ['plain'], ''],
    ['sync', '42 42 42\n', ['waits'], 'dispatch 1 of plain was not captured: .*\\(beside-waiting\\)'],
    ['back', '4 0 0\n', [], 'dispatch 0 of talks was not captured: .*\\(capture/waits-for-others\\)'],
  ])(
    'whose kernel waits for what comes after its launch ends as without capture: %s',
    async (mode, said, made, told) => {
      const options = ['--dispatch', '0-1', '--no-orders'];
      const { status, stdout, stderr, captures } = await capture(`waits-${mode}`, options, [waits, mode]);
      expect([stdout, status], stderr).toEqual([said, told === '' ? 0 : 1]);
      expect(stderr).toMatch(new RegExp(told));
      expect(kernelsOf(captures)).toEqual(made);
      const records = captures.flatMap((c) => c.manifest.unsupported.map(({ what }) => what));
      expect(records).toEqual(made.includes('waits') ? ['others-wrote'] : []);
      await expectEqual(captures);
    },
  );

  test('whose kernel waits is told of it in copies of memory', async () => {
    const { status, stdout, stderr } = await capture('waits-full', ['--memory', 'full'], [waits, 'host']);
    expect([stdout, status], stderr).toEqual(['42 42 42\n', 1]);
    expect(stderr).toMatch(/capture\/waits-for-others/);
  });

  test('with a dispatch that runs while another waits has it', async () => {
    const { status, captures } = await capture('beside', ['--kernel', '^plain$', '--no-orders'], [waits, 'sync']);
    expect([status, kernelsOf(captures)]).toEqual([0, ['plain']]);
    await expectEqual(captures);
  });

  test('that calls the host from a kernel is told that no replay can answer', async () => {
    const { stderr, stdout, status } = await capture('talk', ['--kernel', 'talk'], [kinds, 'talk']);
    expect(stdout).toMatch(/lane 0\nlane 1\nlane 2\nlane 3\n/);
    expect(stderr).toMatch(/talk was not captured: /);
    expect(status).toBe(1);
  });

  test('with a kernel of one name in two code objects has both', async () => {
    const first = await compileHip({ sources: ['same_kernel'], targets: ['gfx942'], deviceOnly: true });
    const second = await compileHip({
      sources: ['same_kernel'],
      targets: ['gfx942'],
      deviceOnly: true,
      flags: ['-DFACTOR=3'],
    });
    const command = [tools, 'modules', first, 'same', second, 'same'];
    const { captures } = await capture('same', ['--kernel', '^same$', '--dispatch', '0-9', '--no-orders'], command);
    expect(kernelsOf(captures)).toEqual(['same', 'same']);
    expect(new Set(captures.map((c) => c.manifest.code.sha256)).size).toBe(2);
    await expectEqual(captures);
  });
});

describe.skipIf(native === undefined)('a HSA program', () => {
  const { file, kernels } = native ?? { file: String, kernels: String };
  const program = (...args: string[]): string[] => [file('hsa-capture'), kernels('gfx942'), ...args];

  test('that writes several packets before one doorbell', async () => {
    const { status, stdout, captures } = await capture('batch', ['--dispatch', '0-9', '--no-orders'], program('batch'));
    expect([status, stdout]).toEqual([0, '10 0\n']);
    expect(captures.map((c) => c.manifest.dispatch.kernarg.slots[1]?.bytes[0])).toEqual([1, 2, 3, 4]);
    await expectEqual(captures);
  });

  test('that starts the runtime again after it was shut down', async () => {
    const { status, stdout, stderr, captures } = await capture(
      'lives',
      ['--dispatch', '0-9', '--no-orders'],
      program('lives'),
    );
    expect([status, stdout], stderr).toEqual([0, '2 4 6 \n']);
    expect(captures.map((c) => c.manifest.dispatch.kernarg.slots[1]?.bytes[0])).toEqual([1, 1, 2, 2, 3, 3]);
    await expectEqual(captures);
  });

  test('with 30 GiB of addresses of which 4 MiB are touched makes a small capture', async () => {
    const { status, stderr, captures } = await capture('large', ['--no-orders'], program('large'));
    expect(status, stderr).toBe(0);
    const [made] = captures as [Capture];
    const files = readdirSync(made.path, { recursive: true, encoding: 'utf8' }).map((name) => join(made.path, name));
    const bytes = files.reduce((sum, name) => sum + (statSync(name).isFile() ? statSync(name).size : 0), 0);
    expect(bytes).toBeLessThan(5_000_000);
    expect(made.manifest.memory.allocations.filter((a) => a.kind === 'vmem').map((a) => a.size)).toEqual([
      2 ** 21,
      2 ** 21,
    ]);
    await expectEqual(captures);
  });
});
