// The debug adapter as an editor uses it: the public test client of the protocol against the built command.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DebugClient } from '@vscode/debugadapter-testsupport';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { assembleAndLink } from '../src/asm/index.ts';
import { compileC, hasLlvm, linkWithLld } from './support/build.ts';
import { sharedPath } from './support/shared.ts';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'wavesmith-dap-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = (name: string): string => join(folder, name);
writeFileSync(path('sums.co'), assembleAndLink(readFileSync(join(root, 'examples/debugging/sums.s'), 'utf8')));

const LAUNCH = { program: path('sums.co'), kernel: 'sums', grid: 1, block: [64], args: ['i32[64]'] };

let client: DebugClient;
beforeEach(async () => {
  client = new DebugClient(process.execPath, join(root, 'bin/wavesmith'), 'wavesmith', { env: process.env });
  client.defaultTimeout = 200_000;
  await startAdapter();
});
afterEach(() => client.stop());

/** The test client starts `node SCRIPT`; the command needs its name. */
async function startAdapter(): Promise<void> {
  writeFileSync(
    path('adapter.cjs'),
    `process.argv.splice(2, 0, 'dap');\nimport(${JSON.stringify(join(root, 'bin/wavesmith'))});\n`,
  );
  client = new DebugClient(process.execPath, path('adapter.cjs'), 'wavesmith', {});
  client.defaultTimeout = 200_000;
  await client.start();
}

const launch = (more: object = {}) =>
  Promise.all([client.initializeRequest(), client.launch({ ...LAUNCH, ...more } as never)]);
const done = () => client.configurationDoneRequest();
const stopped = async () =>
  (await client.waitForEvent('stopped')) as {
    body: { reason: string; threadId?: number; description?: string; hitBreakpointIds?: number[] };
  };
const frame = async (thread: number) => (await client.stackTraceRequest({ threadId: thread })).body.stackFrames[0];

describe('an assembly kernel', () => {
  test('stop on entry, steps forwards and back, registers, lanes, setting', async () => {
    await launch({ stopOnEntry: true });
    const entry = stopped();
    await done();
    expect((await entry).body.reason).toBe('entry');
    const { threads } = (await client.threadsRequest()).body;
    expect(threads.map((t) => t.name)).toEqual(['workgroup 0,0,0 wave 0']);
    const thread = threads[0]?.id as number;
    expect((await frame(thread))?.name).toBe('sums');
    for (let n = 0; n < 3; n++) {
      const next = stopped();
      await client.nextRequest({ threadId: thread });
      expect((await next).body.reason).toBe('step');
    }
    const at = await frame(thread);
    expect(at?.name).toBe('sums+0x10');
    const listing = await client.sourceRequest({ sourceReference: at?.source?.sourceReference as number });
    expect(listing.body.content.split('\n')[(at?.line as number) - 1]).toContain('v_add_u32_e32 v3, 1, v0');
    const back = stopped();
    await client.send('stepBack', { threadId: thread });
    expect((await back).body.reason).toBe('step');
    const here = await frame(thread);
    expect(here?.name).toBe('sums+0xc');
    await expect(frame(99)).rejects.toThrow('There is no thread 99 now.');
    await expect(client.continueRequest({ threadId: 99 })).rejects.toThrow('There is no thread 99 now.');
    await expect(client.scopesRequest({ frameId: 99 })).rejects.toThrow('There is no stack frame 99 now.');
    const { scopes } = (await client.scopesRequest({ frameId: here?.id as number })).body;
    expect(scopes.map((s) => s.name)).toEqual(['Arguments', 'Wave', 'Scalar registers', 'Vector registers (lane 0)']);
    const inScope = async (name: string) => {
      const reference = scopes.find((s) => s.name.startsWith(name))?.variablesReference as number;
      return {
        reference,
        variables: (await client.variablesRequest({ variablesReference: reference })).body.variables,
      };
    };
    expect((await inScope('Arguments')).variables[0]).toMatchObject({
      name: 'out',
      value: expect.stringMatching(/^0x\w+ \(256 bytes\)$/),
    });
    const vectors = await inScope('Vector');
    const v0 = vectors.variables.find((v) => v.name === 'v0');
    const lanes = (await client.variablesRequest({ variablesReference: v0?.variablesReference as number })).body
      .variables;
    expect(lanes).toHaveLength(64);
    expect(lanes[5]?.value).toMatch(/^0x5 /);
    const set = await client.setVariableRequest({
      variablesReference: v0?.variablesReference as number,
      name: '[5]',
      value: '41',
    });
    expect(set.body.value).toMatch(/^0x29 /);
    const evaluated = async (expression: string, context: 'watch' | 'repl' = 'watch') =>
      (await client.evaluateRequest({ expression, context, frameId: here?.id as number })).body.result;
    expect(await evaluated('v0[5] + 1')).toBe('42 (0x2a)');
    expect(await evaluated('lane 5', 'repl')).toBe('lane 5');
    expect(await evaluated('x/2i $pc', 'repl')).toMatch(/v_mov_b32_e32 v2, 0\n.*v_add_u32_e32 v3, 1, v0$/);
    expect(await evaluated('x', 'repl')).toMatch(/s_mov_b32 s6, 0$/);
    expect(await evaluated('v0')).toBe('41 (0x29)');
    await expect(evaluated('nothing')).rejects.toThrow(/no register, argument or variable/);
    const ended = client.waitForEvent('terminated');
    await client.continueRequest({ threadId: thread });
    await ended;
  });

  test('breakpoints in the listing, by function, by instruction; conditions, hits, log points', async () => {
    await launch();
    const source = { name: 'disassembly.s', sourceReference: 1 };
    const text = (await client.sourceRequest({ sourceReference: 1 })).body.content.split('\n');
    const line = text.findIndex((l) => l.includes('v_cmp_gt_u32')) + 1;
    const set = await client.setBreakpointsRequest({
      source,
      breakpoints: [
        { line, condition: 'v2 == 3 && lane == 40' },
        { line: line + 1, logMessage: 'round {s6}, lane 2 has {v2[2]}', hitCondition: '> 2' },
        { line: 100_000 },
        { line, condition: '1 +' },
      ],
    });
    expect(set.body.breakpoints.map((b) => b.verified)).toEqual([true, true, false, false]);
    const label = text.indexOf('again:') + 1;
    const locations = await client.send('breakpointLocations', { source, line: label - 1, endLine: label + 1 });
    expect(locations.body.breakpoints).toEqual([{ line: label - 1 }, { line: label + 1 }]);
    expect(set.body.breakpoints[3]?.message).toContain('a value is missing');
    const elsewhere = await client.setBreakpointsRequest({
      source: { path: '/nowhere/sums.s' },
      breakpoints: [{ line: 3 }],
    });
    expect(elsewhere.body.breakpoints[0]?.message).toContain('no debug information');
    const first = stopped();
    await done();
    const { body } = await first;
    expect(body.reason).toBe('breakpoint');
    expect(body.hitBreakpointIds).toEqual([set.body.breakpoints[0]?.id]);
    expect(body.description).toContain('lane 40');
    await client.setBreakpointsRequest({ source, breakpoints: [] });
    await client.setFunctionBreakpointsRequest({ breakpoints: [{ name: 'again' }] });
    const second = stopped();
    await client.continueRequest({ threadId: body.threadId as number });
    await second;
    const at = await frame(body.threadId as number);
    expect(at?.name).toBe('again');
    const code = await client.send('disassemble', {
      memoryReference: at?.instructionPointerReference,
      instructionOffset: -2,
      instructionCount: 5,
    });
    expect(code.body.instructions.map((i: { instruction: string }) => i.instruction.split(' ')[0])).toEqual([
      's_mov_b32',
      's_waitcnt',
      's_add_u32',
      'v_cmp_gt_u32_e32',
      'v_add_u32_e32',
    ]);
    await client.setFunctionBreakpointsRequest({ breakpoints: [] });
    const store = text.find((l) => l.includes('global_store_dword'));
    const address = `0x${/\/\/ 0*([0-9a-f]+)$/.exec(store as string)?.[1]}`;
    const wrong = { memoryReference: 'here', instructionCount: 2 };
    await expect(client.send('disassemble', wrong)).rejects.toThrow('no address of code');
    const much = { memoryReference: at?.instructionPointerReference, instructionCount: 1e9 };
    await expect(client.send('disassemble', much)).rejects.toThrow('At most 100000 instructions');
    const header = await client.send('disassemble', { memoryReference: '0x0', instructionCount: 1 });
    expect(header.body.instructions[0]).toMatchObject({ instruction: '', presentationHint: 'invalid' });
    await client.send('setInstructionBreakpoints', { breakpoints: [{ instructionReference: address }] });
    const third = stopped();
    await client.continueRequest({ threadId: body.threadId as number });
    expect((await third).body.reason).toBe('breakpoint');
    await client.send('setInstructionBreakpoints', { breakpoints: [] });
    const data = await client.send('dataBreakpointInfo', { name: '*u32(out + 8)' });
    await client.send('setDataBreakpoints', { breakpoints: [{ dataId: data.body.dataId }] });
    const fourth = stopped();
    await client.continueRequest({ threadId: body.threadId as number });
    expect((await fourth).body).toMatchObject({
      reason: 'data breakpoint',
      description: expect.stringContaining('0 → 3'),
    });
    const memory = await client.send('readMemory', {
      memoryReference: (await client.evaluateRequest({ expression: 'out' })).body.result.match(/0x\w+/)?.[0],
      count: 300,
    });
    const words = new Int32Array(new Uint8Array(Buffer.from(memory.body.data, 'base64')).buffer);
    expect([...words.slice(0, 4)]).toEqual([1, 3, 3, 6]);
    expect(memory.body.unreadableBytes).toBe(44);
    const reverse = stopped();
    await client.send('reverseContinue', { threadId: body.threadId });
    expect((await reverse).body.reason).toBe('data breakpoint');
    const counted = await client.send('setDataBreakpoints', { breakpoints: [{ dataId: 's6', hitCondition: '3' }] });
    expect(counted.body.breakpoints[0]).toMatchObject({
      verified: false,
      message: expect.stringContaining('have no count'),
    });
    const reads = { dataId: 's6', accessType: 'read', condition: 's6 == 40' };
    await client.send('setDataBreakpoints', { breakpoints: [reads] });
    const read = stopped();
    await client.send('reverseContinue', { threadId: body.threadId });
    expect((await read).body).toMatchObject({
      reason: 'data breakpoint',
      description: expect.stringContaining('s6 is about to be read and written: 40'),
    });
    const ended = client.waitForEvent('terminated');
    await client.terminateRequest();
    await ended;
  });

  test('a launch that is wrong fails with what is wrong', async () => {
    await expect(launch({ kernel: 'other' })).rejects.toThrow(/no kernel .*other|'other'/);
    await client.stop();
    await startAdapter();
    await expect(launch({ grid: 'x' })).rejects.toThrow(/grid/);
    await client.stop();
    await startAdapter();
    await expect(launch({ args: 7 })).rejects.toThrow(/'args' of the launch configuration/);
  });

  test('a fault is an exception; the end can be stopped at and gone back from', async () => {
    await launch({ args: ['i32[2]'], stopAtEnd: true });
    const fault = stopped();
    await done();
    const { body } = await fault;
    expect(body.reason).toBe('exception');
    const info = await client.send('exceptionInfo', { threadId: body.threadId });
    expect(info.body.exceptionId).toBe('sim/memory-fault');
    const back = stopped();
    await client.evaluateRequest({ expression: 'who v2[2]', context: 'repl' });
    expect((await back).body.reason).toBe('data breakpoint');
  });

  test('a fault ends as the command line does: with exit code 1', async () => {
    await launch({ args: ['i32[2]'] });
    const fault = stopped();
    await done();
    const exited = client.waitForEvent('exited');
    await client.continueRequest({ threadId: (await fault).body.threadId ?? 1 });
    expect((await exited).body).toEqual({ exitCode: 1 });
  });

  test('pausing a kernel that runs, and ending it', async () => {
    const endless = `${readFileSync(join(root, 'examples/debugging/sums.s'), 'utf8')}`.replace(
      's_cmp_lt_u32 s6, 64',
      's_cmp_lg_u32 s6, 0',
    );
    writeFileSync(path('endless.co'), assembleAndLink(endless));
    await launch({ program: path('endless.co') });
    await done();
    await new Promise((resolve) => setTimeout(resolve, 300));
    const pause = stopped();
    await client.pauseRequest({ threadId: 1 });
    expect((await pause).body.reason).toBe('pause');
    const ended = client.waitForEvent('terminated');
    await client.terminateRequest();
    await ended;
  });
});

const triton = sharedPath('corpus', 'triton', 'softmax_f32.gfx942.hsaco');
test.skipIf(triton === undefined)(
  'a Triton kernel: lines and inlined functions, and that no variable is described',
  async () => {
    const buffers = ['f32[4096]', 'f32[4096]', 'i32=64', 'i32=64', 'i32=64', 'u32[16]', 'u32[16]'];
    await launch({ program: triton, kernel: 'softmax_kernel', block: [256], args: buffers });
    const source = { path: '/src/examples/pytriton/triton/language/standard.py' };
    const set = await client.setBreakpointsRequest({ source, breakpoints: [{ line: 1 }] });
    expect(set.body.breakpoints[0]).toMatchObject({ verified: true, line: expect.any(Number) });
    const first = stopped();
    await done();
    const thread = (await first).body.threadId as number;
    const { stackFrames } = (await client.stackTraceRequest({ threadId: thread })).body;
    expect(stackFrames.at(-1)?.name).toBe('softmax_kernel');
    expect(stackFrames.length).toBeGreaterThan(1);
    const ask = (expression: string, context: 'repl' | 'hover') =>
      client.evaluateRequest({ expression, context, frameId: stackFrames[0]?.id as number });
    expect((await ask('info locals', 'repl')).body.result).toMatch(/of triton .*describes no variables/);
    const last = stackFrames.at(-1)?.id as number;
    const args = await client.evaluateRequest({ expression: 'info args', context: 'repl', frameId: last });
    expect(args.body.result).toMatch(/describes no variables.*\n.* = 0x\w+ \(buffer of 16384 bytes\)/);
    await expect(ask('row', 'hover')).rejects.toThrow(/no register, argument or variable here. The debug information/);
    expect((await ask('threadIdx.x + 1', 'hover')).body.result).toMatch(/^\d+$/);
    await client.terminateRequest();
  },
);

describe.skipIf(!hasLlvm())('a kernel with debug information', () => {
  const SOURCE = `
__attribute__((noinline)) static int twice(int x) {
  int y = x * 2;
  return y;
}
__attribute__((amdgpu_kernel)) void k(int *p, int n) {
  int i = __builtin_amdgcn_workitem_id_x();
  int sum = 0;
  for (int r = 0; r < n; r++)
    sum += twice(i);
  p[i] = sum;
}`;

  test('lines are breakpoints, steps are lines, calls are frames', async () => {
    writeFileSync(path('input.c'), SOURCE);
    writeFileSync(path('k.co'), linkWithLld([compileC(SOURCE, 'gfx942', ['-O0', '-g'])]));
    await launch({ program: path('k.co'), kernel: 'k', args: ['i32[64]', 'i32=3'] });
    const set = await client.setBreakpointsRequest({ source: { path: path('input.c') }, breakpoints: [{ line: 3 }] });
    expect(set.body.breakpoints[0]).toMatchObject({ verified: true, line: 3 });
    const first = stopped();
    await done();
    const thread = (await first).body.threadId as number;
    const { stackFrames } = (await client.stackTraceRequest({ threadId: thread })).body;
    expect(stackFrames.map((f) => f.line)).toEqual([3, 10]);
    expect(stackFrames.map((f) => f.name.split('+')[0])).toEqual(['twice', 'k']);
    const { scopes } = (await client.scopesRequest({ frameId: stackFrames[0]?.id as number })).body;
    expect(scopes[0]?.name).toBe('Locals');
    // The function that waits for this one.
    const outer = { expression: 'sum', frameId: stackFrames[1]?.id as number };
    expect((await client.send('setExpression', { ...outer, value: '0' })).body.value).toBe('0');
    expect((await client.send('dataBreakpointInfo', { ...outer, name: 'sum' })).body.dataId).toBe('sum');
    await client.evaluateRequest({ expression: 'lane 9', context: 'repl', frameId: stackFrames[0]?.id as number });
    const locals = await client.variablesRequest({ variablesReference: scopes[0]?.variablesReference as number });
    expect(locals.body.variables.find((v) => v.name === 'x')).toMatchObject({ value: '9', type: 'int' });
    const locals9 = scopes[0]?.variablesReference as number;
    const setX = await client.setVariableRequest({ variablesReference: locals9, name: 'x', value: '100 + 1' });
    expect(setX.body.value).toBe('101');
    const after = await client.variablesRequest({ variablesReference: locals9 });
    expect(after.body.variables.find((v) => v.name === 'x')?.value).toBe('101');
    await expect(
      client.setVariableRequest({ variablesReference: locals9, name: 'x', value: 'nothing' }),
    ).rejects.toThrow(/no register, argument or variable/);
    const lines: number[] = [];
    const step = async (request: () => Promise<unknown>): Promise<void> => {
      const next = stopped();
      await request();
      await next;
      lines.push((await frame(thread))?.line as number);
    };
    await step(() => client.nextRequest({ threadId: thread }));
    await step(() => client.stepOutRequest({ threadId: thread }));
    await step(() => client.nextRequest({ threadId: thread }));
    await step(() => client.send('stepBack', { threadId: thread }));
    expect(lines).toEqual([4, 10, 9, 10]);
    // The step back was to the start of the line, before the call. What was set counts again: 2 · 101 for lane 9.
    await client.setBreakpointsRequest({ source: { path: path('input.c') }, breakpoints: [] });
    await step(() => client.nextRequest({ threadId: thread }));
    const repl = (expression: string) => client.evaluateRequest({ expression, context: 'repl' });
    expect((await repl('print sum')).body.result).toContain('sum = 202');
    expect((await repl('set sum = 7')).body.result).toBe('sum = 7');
    expect((await repl('set *p = 9')).body.result).toBe('*p = 9');
    expect((await repl('print *p')).body.result).toContain('= 9');
    await client.terminateRequest();
  });

  test('a struct is shown and unfolded where the mouse is, its members are set and watched; sources and words are listed', async () => {
    const text = `
struct pair { int a; float b[2]; };
__attribute__((amdgpu_kernel)) void k(struct pair *p, int n) {
  int i = __builtin_amdgcn_workitem_id_x();
  struct pair own = {i, {1.5f, 2.5f}};
  own.a += n;
  p[i] = own;
}`;
    writeFileSync(path('input.c'), text);
    writeFileSync(path('pair.co'), linkWithLld([compileC(text, 'gfx942', ['-O0', '-g'])]));
    await launch({ program: path('pair.co'), kernel: 'k', args: ['u32[256]', 'i32=3'] });
    const source = { path: path('input.c') };
    const locations = async (line: number, endLine?: number) =>
      (await client.send('breakpointLocations', { source, line, endLine })).body.breakpoints;
    expect(await locations(1, 100)).toEqual([3, 4, 5, 6, 7, 8].map((line) => ({ line })));
    expect(await locations(5, 6)).toEqual([{ line: 5 }, { line: 6 }]);
    expect([await locations(4), await locations(2), await locations(9, 3)]).toEqual([[{ line: 4 }], [], []]);
    const other = await client.send('breakpointLocations', { source: { path: '/nowhere/other.c' }, line: 4 });
    expect(other.body.breakpoints).toEqual([]);
    await client.setBreakpointsRequest({ source, breakpoints: [{ line: 6 }] });
    const first = stopped();
    await done();
    const thread = (await first).body.threadId as number;
    const frameId = (await frame(thread))?.id as number;
    const hover = async (expression: string) =>
      (await client.evaluateRequest({ expression, context: 'hover', frameId })).body;
    const own = await hover('own');
    expect((await hover('p')).memoryReference).toMatch(/^0x\w+$/);
    expect((await hover('own.b')).indexedVariables).toBe(2);
    expect(own).toMatchObject({ result: '{a = 0, b = {1.5, 2.5}}', type: 'pair' });
    const members = (await client.variablesRequest({ variablesReference: own.variablesReference })).body.variables;
    expect(members.map((v) => [v.name, v.value])).toEqual([
      ['a', '0'],
      ['b', '{1.5, 2.5}'],
    ]);
    const set = await client.send('setExpression', { expression: 'own.b[1]', value: '7', frameId });
    expect(set.body).toMatchObject({ value: '7', type: 'float' });
    expect((await hover('own.b')).result).toBe('{1.5, 7}');
    await expect(client.send('setExpression', { expression: 'own', value: '7', frameId })).rejects.toThrow(
      /as a whole/,
    );
    await expect(client.send('setExpression', { expression: 'v0', value: 'nothing', frameId })).rejects.toThrow();
    expect((await client.send('setExpression', { expression: 's40', value: '9', frameId })).body.value).toBe('9');
    const info = await client.send('dataBreakpointInfo', { variablesReference: own.variablesReference, name: 'a' });
    expect(info.body.dataId).toBe('own.a');
    expect((await client.send('dataBreakpointInfo', { name: 'nothing' })).body).toEqual({
      dataId: null,
      description: expect.stringMatching(/no register, argument/),
    });
    const { sources } = (await client.send('loadedSources', {})).body as { sources: { name: string }[] };
    expect(sources.map((s) => s.name)).toEqual(['input.c', 'disassembly.s']);
    const { targets } = (await client.send('completions', { text: 'print ow', column: 9 })).body;
    expect(targets).toEqual([{ label: 'own', start: 7, length: 2 }]);
    await client.send('setDataBreakpoints', { breakpoints: [{ dataId: info.body.dataId }] });
    const changed = stopped();
    await client.continueRequest({ threadId: thread });
    expect((await changed).body).toMatchObject({ reason: 'data breakpoint' });
    await client.terminateRequest();
  });

  test('registers are shown and set beside variables of their names; members are completed, functions have an address', async () => {
    const text = `
typedef float float2 __attribute__((ext_vector_type(2)));
struct pair { int first; union { int bits; float number; }; float2 both; };
__attribute__((noinline)) static int twice(int a) { return a + a; }
__attribute__((amdgpu_kernel)) void k(int *p, int n) {
  int s4 = 111, vcc = 222, m0 = 333;
  float2 v2 = {1.5f, 2.5f};
  struct pair own = {1, {2}, v2};
  struct pair *there = &own;
  p[0] = twice(s4 + vcc + m0 + there->first) + (int)(v2.x + own.both.y);
}`;
    writeFileSync(path('input.c'), text);
    writeFileSync(path('named.co'), linkWithLld([compileC(text, 'gfx942', ['-O0', '-g'])]));
    await launch({ program: path('named.co'), kernel: 'k', args: ['u32[256]', 'i32=3'] });
    await client.setBreakpointsRequest({ source: { path: path('input.c') }, breakpoints: [{ line: 10 }] });
    const first = stopped();
    await done();
    const frameId = (await frame((await first).body.threadId as number))?.id as number;
    const result = async (expression: string) =>
      (await client.evaluateRequest({ expression, frameId })).body.result as string;
    const { scopes } = (await client.scopesRequest({ frameId })).body;
    const group = (name: string) => scopes.find((one) => one.name.startsWith(name))?.variablesReference as number;
    const all = async (variablesReference: number) =>
      (await client.variablesRequest({ variablesReference })).body.variables;
    for (const [scope, name, value] of [
      ['Scalar registers', 's4', '111'],
      ['Vector registers', 'v2', '{1.5, 2.5}'],
      ['Wave', 'vcc', '222'],
      ['Wave', 'm0', '333'],
    ] as const) {
      const before = (await all(group(scope))).find((one) => one.name === name);
      expect(await result(name)).toContain(value);
      expect(before?.evaluateName).toBe(`$${name}`);
      await client.send('setVariable', { variablesReference: group(scope), name, value: '77' });
      const after = (await all(group(scope))).find((one) => one.name === name);
      expect(after?.value).toMatch(/^0x4d\b/);
      expect(await result(`$${name}`)).toBe('77 (0x4d)');
      expect(await result(name)).toContain(value);
      const info = await client.send('dataBreakpointInfo', { variablesReference: group(scope), name });
      expect(info.body.dataId).toBe(`$${name}`);
    }
    const locals = group('Locals');
    const set = (name: string, value: string) =>
      client.send('setVariable', { variablesReference: locals, name, value });
    expect((await set('v2', '{7, n + 0.5}')).body.value).toBe('{7, 3.5}');
    expect(await result('v2')).toBe('{7, 3.5}');
    await expect(set('v2', '{7}')).rejects.toThrow("'v2' has 2 elements, and 1 are listed.");
    await expect(set('own', '{1, {2}, v2}')).rejects.toThrow("'own' of type pair cannot be set as a whole.");
    const typed = async (expression: string) =>
      (await client.evaluateRequest({ expression, frameId, context: 'repl' })).body.result;
    expect(await typed('n = 4')).toBe('n = 4');
    expect(await result('n')).toContain('4');
    await expect(typed('n == 4')).rejects.toThrow('is not a number of steps');
    const completed = async (line: string) =>
      (await client.send('completions', { text: line, column: line.length + 1 })).body.targets.map(
        ({ label, start = 1, length = 0 }) => line.slice(0, start - 1) + label + line.slice(start - 1 + length),
      );
    expect(await completed('print own.')).toEqual(['bits', 'both', 'first', 'number'].map((m) => `print own.${m}`));
    expect(await completed('print there->f')).toEqual(['print there->first']);
    expect(await completed('p n + own.both.')).toEqual(['p n + own.both.x', 'p n + own.both.y']);
    expect(await completed('print nothing.')).toEqual([]);
    expect(await completed('print workgroup.')).toEqual(['x', 'y', 'z'].map((m) => `print workgroup.${m}`));
    expect(await result('twice')).toMatch(/^\{int \(int\)\} 0x\w+ <twice>$/);
    await client.terminateRequest();
  });

  test('all that is unfolded can be written as an expression, and is in memory that can be read: bases, LDS, scratch, long arrays', async () => {
    const text = `
struct base { int a; int same; };
struct whole : base { union { int bits; float number; }; int same; int list[6]; };
static __attribute__((address_space(1), used)) int large[5000];
extern "C" __attribute__((amdgpu_kernel)) void k(__attribute__((address_space(1))) int *out, float f, int n) {
  static __attribute__((address_space(3), loader_uninitialized)) int part[64];
  int i = __builtin_amdgcn_workitem_id_x();
  whole w;
  w.a = i; w.base::same = 1; w.bits = 0x3f800000; w.same = 2; w.list[5] = n;
  int *null = 0;
  part[i] = 3 * i;
  large[4500] = 45;
  out[i] = w.a + part[i] + n;
}`;
    writeFileSync(path('input.c'), text);
    writeFileSync(path('whole.co'), linkWithLld([compileC(text, 'gfx942', ['-O0', '-g', '-xc++'])]));
    await launch({ program: path('whole.co'), kernel: 'k', args: ['i32[64]', 'f32=1.5', 'i32=7'] });
    await client.setBreakpointsRequest({
      source: { path: path('input.c') },
      breakpoints: [{ line: 13, condition: 'i == 5' }],
    });
    const first = stopped();
    await done();
    const frameId = (await frame((await first).body.threadId as number))?.id as number;
    const { scopes } = (await client.scopesRequest({ frameId })).body;
    const variables = async (variablesReference: number, more: object = {}) =>
      (await client.variablesRequest({ variablesReference, ...more } as never)).body.variables;
    const scope = (name: string) => variables(scopes.find((one) => one.name === name)?.variablesReference as number);
    const [locals, given, globals] = [await scope('Locals'), await scope('Arguments'), await scope('Globals')];
    const seen: string[] = [];
    const check = async (all: Awaited<ReturnType<typeof variables>>): Promise<void> => {
      for (const { name, value, evaluateName, variablesReference } of all) {
        seen.push(`${name}${evaluateName === undefined ? ' -' : ''}`);
        if (evaluateName !== undefined) {
          const { result } = (await client.evaluateRequest({ expression: evaluateName, frameId })).body;
          expect([evaluateName, result]).toEqual([evaluateName, value]);
        }
        if (variablesReference > 0 && name !== 'large') await check(await variables(variablesReference));
      }
    };
    await check([...locals, ...globals]);
    expect(seen).toEqual(
      expect.arrayContaining(['(base base) -', 'a', 'same -', 'same', '(anonymous) -', 'bits', '[63]']),
    );
    expect(locals.find((v) => v.name === 'null')?.variablesReference).toBe(0);
    expect(given.map((v) => [v.name, v.type, v.value])).toEqual([
      ['out', 'int *', expect.stringMatching(/^0x/)],
      ['f', 'float', '1.5'],
      ['n', 'int', '7'],
    ]);
    const words = async (memoryReference: string | undefined, count: number) => {
      const { body } = await client.send('readMemory', { memoryReference, count: 4 * count });
      return [...new Int32Array(new Uint8Array(Buffer.from(body.data, 'base64')).buffer)];
    };
    const reference = (name: string) => locals.find((v) => v.name === name)?.memoryReference;
    expect(await words(reference('part'), 3)).toEqual([0, 3, 6]);
    expect(await words(reference('w'), 4)).toEqual([5, 1, 0x3f800000, 2]);
    const data = Buffer.from(Int32Array.of(77).buffer).toString('base64');
    await client.send('writeMemory', { memoryReference: reference('w'), offset: 4, data });
    expect((await client.evaluateRequest({ expression: 'w', frameId })).body.result).toContain('{a = 5, same = 77}');
    const large = globals.find((v) => v.name === 'large');
    expect(large?.indexedVariables).toBe(5000);
    const part = { start: 4499, count: 2, filter: 'indexed' };
    expect((await variables(large?.variablesReference as number, part)).map((v) => [v.name, v.value])).toEqual([
      ['[4499]', '0'],
      ['[4500]', '45'],
    ]);
    await client.terminateRequest();
  });
});
