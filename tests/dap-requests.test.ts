// The debug adapter under requests that are wrong, late or odd: each is answered, nothing crashes, and the process ends with its editor.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { assembleAndLink } from '../src/asm/index.ts';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'wavesmith-dap-requests-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const program = join(folder, 'sums.co');
writeFileSync(program, assembleAndLink(readFileSync(join(root, 'examples/debugging/sums.s'), 'utf8')));
const LAUNCH = { program, kernel: 'sums', grid: 1, block: [64], args: ['i32[64]'] };

interface Answer {
  readonly success: boolean;
  readonly message?: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of the protocol.
  readonly body: any;
}

/** A client that keeps its end of the pipe open, as an editor does. */
class Editor {
  readonly process: ChildProcessWithoutNullStreams = spawn(process.execPath, [join(root, 'bin/wavesmith'), 'dap']);
  readonly code = new Promise<number | null>((resolve) => this.process.on('exit', resolve));
  private readonly waiting = new Map<number, (answer: Answer) => void>();
  private readonly heard: { readonly event: string; readonly body: unknown }[] = [];
  private listener: () => void = () => {};
  private left = Buffer.alloc(0);
  private next = 1;

  constructor() {
    this.process.stdout.on('data', (chunk: Buffer) => {
      this.left = Buffer.concat([this.left, chunk]);
      for (;;) {
        const head = /^Content-Length: (\d+)\r\n\r\n/.exec(this.left.toString('latin1'));
        const from = head?.[0].length ?? 0;
        const end = from + Number(head?.[1]);
        if (head === null || this.left.length < end) return;
        const message = JSON.parse(this.left.subarray(from, end).toString());
        this.left = this.left.subarray(end);
        if (message.type === 'response') this.waiting.get(message.request_seq)?.(message);
        else this.heard.push(message);
        this.listener();
      }
    });
  }

  answer(seq: number): Promise<Answer> {
    return new Promise((resolve) => this.waiting.set(seq, resolve));
  }

  ask(command: string, args?: object | null): Promise<Answer> {
    return this.askInText(command, JSON.stringify(args));
  }

  /** With arguments as JSON. */
  askInText(command: string, args?: string): Promise<Answer> {
    const seq = this.next++;
    const text = `{"seq":${seq},"type":"request","command":"${command}"${args === undefined ? '' : `,"arguments":${args}`}}`;
    this.process.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
    return this.answer(seq);
  }

  /** The next event of a name that nobody has waited for. */
  async event(name: string): Promise<unknown> {
    for (;;) {
      const at = this.heard.findIndex(({ event }) => event === name);
      if (at >= 0) return this.heard.splice(at, 1)[0]?.body;
      await new Promise<void>((resolve) => {
        this.listener = resolve;
      });
    }
  }
}

const editors: Editor[] = [];
afterEach(() => {
  for (const { process } of editors.splice(0)) process.kill('SIGKILL');
});

async function editor(more: object = {}): Promise<Editor> {
  const made = new Editor();
  editors.push(made);
  await made.ask('initialize', { adapterID: 'wavesmith', ...more });
  return made;
}

async function stopped(more: object = {}): Promise<Editor> {
  const made = await editor(more);
  expect((await made.ask('launch', { ...LAUNCH, stopOnEntry: true })).success).toBe(true);
  await made.ask('configurationDone');
  await made.event('stopped');
  return made;
}

test('the process ends when the editor disconnects, though its pipe stays open', async () => {
  const endless = join(folder, 'endless.co');
  const source = readFileSync(join(root, 'examples/debugging/sums.s'), 'utf8');
  writeFileSync(endless, assembleAndLink(source.replace('s_cmp_lt_u32 s6, 64', 's_cmp_lg_u32 s6, 0')));
  const running = await editor();
  await running.ask('launch', { ...LAUNCH, program: endless });
  await running.ask('configurationDone');
  for (const made of [await editor(), await stopped(), running]) {
    await made.ask('disconnect');
    expect(await made.code).toBe(0);
  }
});

test('a folder that is not there fails the launch; a second launch is refused', async () => {
  const made = await editor();
  const { message } = await made.ask('launch', { ...LAUNCH, cwd: join(folder, 'nowhere') });
  expect(message).toContain("'cwd' of the launch configuration");
  const other = await stopped();
  expect((await other.ask('launch', LAUNCH)).message).toContain('has launched something already');
});

test.each([
  'Content-Length: many\r\n\r\n{}',
  'Content-Length:5\r\n\r\n{}   ',
  'GET / HTTP/1.1\r\nHost: here\r\n\r\n',
  'Content-Length: 5\r\n\r\n{"a":',
  'Content-Length: 2\r\n\r\n[]',
  'Content-Length: 0\r\n\r\n',
  'x'.repeat(5000),
])('no message: %#', async (text) => {
  const made = await editor();
  let said = '';
  made.process.stderr.on('data', (part: Buffer) => {
    said += part;
  });
  made.process.stdin.write(text);
  expect(await made.code).not.toBe(0);
  expect(said).toContain('error[dap/bad-frame]');
});

test('messages in pieces, and several at once', async () => {
  const made = await editor();
  const [first, second] = [100, 101].map((seq) => {
    const text = JSON.stringify({ seq, type: 'request', command: 'threads' });
    return `Content-Length: ${text.length}\r\n\r\n${text}`;
  }) as [string, string];
  const answers = [100, 101].map((seq) => made.answer(seq));
  for (const part of [first.slice(0, 7), first.slice(7, 25), first.slice(25) + second.slice(0, 18), second.slice(18)]) {
    made.process.stdin.write(part);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(await Promise.all(answers)).toHaveLength(2);
});

test.each([
  ['setBreakpoints', { source: {}, breakpoints: {} }],
  ['setBreakpoints', { source: {}, breakpoints: [{}] }],
  ['setFunctionBreakpoints', { breakpoints: {} }],
  ['setFunctionBreakpoints', { breakpoints: [null] }],
  ['setInstructionBreakpoints', { breakpoints: [{ instructionReference: 4 }] }],
  ['setDataBreakpoints', { breakpoints: [{}] }],
])('%s with %j is refused', async (command, args) => {
  const made = await stopped();
  const { success, message } = await made.ask(command, args);
  expect([success, message]).toEqual([false, expect.stringContaining('breakpoint')]);
});

test.each([
  ['attach', {}],
  ['restart', {}],
  ['restartFrame', { frameId: 1 }],
])('%s is no request of this adapter', async (command, args) => {
  const made = await stopped();
  expect(await made.ask(command, args)).toMatchObject({
    success: false,
    message: expect.stringContaining(`There is no request '${command}' here`),
  });
});

test('fields that are missing are named, and no answer shows a stack of ours', async () => {
  const made = await stopped();
  const all = ['setBreakpoints', 'evaluate', 'completions', 'gotoTargets', 'goto', 'setVariable', 'disassemble'];
  for (const command of all) expect((await made.ask(command, {})).message).toMatch(`'${command}' needs '`);
  const { body } = await made.ask('stackTrace', { threadId: 1 });
  const { scopes } = (await made.ask('scopes', { frameId: body.stackFrames[0].id })).body;
  const wave = scopes.find((s: { name: string }) => s.name === 'Wave').variablesReference;
  expect((await made.ask('dataBreakpointInfo', { variablesReference: wave, name: 'workgroup' })).body.dataId).toBe(
    null,
  );
  const set = await made.ask('setVariable', { variablesReference: wave, name: 'pc', value: 'again' });
  expect((await made.ask('evaluate', { expression: '$pc' })).body.result).toBe(`${set.body.value} <again>`);
  expect((await made.ask('setVariable', { variablesReference: wave, name: 'pc', value: '1' })).success).toBe(false);
  expect((await made.ask('variables', { variablesReference: 99_999 })).message).toContain(
    'no group of variables 99999',
  );
  expect((await made.ask('goto', { threadId: 1, targetId: 123 })).success).toBe(false);
});

test.each([
  ['readMemory', { memoryReference: '0x10', offset: 'lid', count: 4 }, "'offset', of type number"],
  ['disassemble', { memoryReference: '0x10', instructionOffset: '1', instructionCount: 4 }, "'instructionOffset'"],
  ['evaluate', { expression: 's4', frameId: {} }, "'frameId', of type number"],
  ['setFunctionBreakpoints', { breakpoints: [{ name: 'again', hitCondition: 3 }] }, "'hitCondition', of type string"],
  ['setDataBreakpoints', { breakpoints: [{ dataId: 's6', accessType: 'constructor' }] }, undefined],
  ['breakpointLocations', { source: {}, line: 1, endLine: '2' }, "'endLine', of type number"],
  ['breakpointLocations', { line: 1 }, "'source', of type object"],
  ['source', { source: { path: program } }, "'sourceReference', of type number"],
])('%s with %j is refused by what is wrong with it', async (command, args, wrong) => {
  const made = await stopped();
  const { success, message, body } = await made.ask(command, args);
  if (wrong === undefined) expect(body.breakpoints[0]).toMatchObject({ verified: false, message: expect.any(String) });
  else expect([success, message]).toEqual([false, expect.stringContaining(wrong)]);
});

test('fields that are null are as those that are not there', async () => {
  const made = await stopped();
  expect((await made.ask('initialize', null)).success).toBe(true);
  const asked = { name: 'again', condition: null, hitCondition: null };
  expect((await made.ask('setFunctionBreakpoints', { breakpoints: [asked] })).body.breakpoints[0].verified).toBe(true);
  const { body } = await made.ask('stackTrace', { threadId: 1, startFrame: null, levels: null });
  expect(body.stackFrames).toHaveLength(1);
  const { result } = (await made.ask('evaluate', { expression: 'out', frameId: null })).body;
  const memoryReference = /0x\w+/.exec(result)?.[0];
  const read = await made.ask('readMemory', { memoryReference, offset: null, count: 4 });
  expect(read.body).toMatchObject({ address: memoryReference, data: 'AAAAAA==' });
});

test('arguments of any depth are answered', async () => {
  const made = await stopped();
  const deep = `{"x":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
  expect((await made.askInText('threads', deep)).success).toBe(true);
});

test('parts of a group of variables: from the start that is asked for, of the kind that is asked for', async () => {
  const made = await stopped();
  const { body } = await made.ask('stackTrace', { threadId: 1, startFrame: -1 });
  const { scopes } = (await made.ask('scopes', { frameId: body.stackFrames[0].id })).body;
  const vectors = scopes.find((s: { name: string }) => s.name.startsWith('Vector')).variablesReference;
  const names = async (variablesReference: number, more: object): Promise<string[]> =>
    (await made.ask('variables', { variablesReference, ...more })).body.variables.map((v: { name: string }) => v.name);
  const all = await names(vectors, {});
  expect(await names(vectors, { start: 2 })).toEqual(all.slice(2));
  expect(await names(vectors, { start: -3, count: 1 })).toEqual(['v0']);
  expect(await names(vectors, { filter: 'indexed' })).toEqual([]);
  const [v0] = (await made.ask('variables', { variablesReference: vectors })).body.variables;
  expect(await names(v0.variablesReference, { filter: 'indexed', start: 62, count: 9 })).toEqual(['[62]', '[63]']);
  expect(await names(v0.variablesReference, { filter: 'named' })).toEqual([]);
});

test('lines and columns that begin at 0', async () => {
  const [from0, from1] = [await stopped({ linesStartAt1: false, columnsStartAt1: false }), await stopped()];
  const source = { sourceReference: 1 };
  const set = async (made: Editor, line: number) =>
    (await made.ask('setBreakpoints', { source, breakpoints: [{ line }] })).body.breakpoints[0];
  const [zero, one] = [await set(from0, 4), await set(from1, 5)];
  expect([zero.line, zero.instructionReference]).toEqual([4, one.instructionReference]);
  const frame = async (made: Editor) => (await made.ask('stackTrace', { threadId: 1 })).body.stackFrames[0];
  const [a, b] = [await frame(from0), await frame(from1)];
  expect([a.line, a.column]).toEqual([b.line - 1, 0]);
});

test('a pause of what is stopped already does not stop it again', async () => {
  const made = await stopped();
  await made.ask('pause', { threadId: 1 });
  await made.ask('continue', { threadId: 1 });
  await made.event('terminated');
});

test('a step while nothing is stopped is refused', async () => {
  const made = await stopped();
  await made.ask('continue', { threadId: 1 });
  await made.event('terminated');
  for (const command of ['next', 'continue', 'stepBack']) {
    expect((await made.ask(command, { threadId: 1 })).message).toContain('Nothing is stopped');
  }
});

test('a write of which a part fits', async () => {
  const made = await stopped();
  const { result } = (await made.ask('evaluate', { expression: 'out' })).body;
  const memoryReference = /0x\w+/.exec(result)?.[0] as string;
  const data = Buffer.from([1, 2, 3, 4]).toString('base64');
  const at = { memoryReference, offset: 254, data };
  expect((await made.ask('writeMemory', at)).success).toBe(false);
  expect((await made.ask('writeMemory', { ...at, allowPartial: true })).body).toEqual({ bytesWritten: 2 });
});

test('a launch without debugging stops nowhere', async () => {
  const made = await editor();
  await made.ask('launch', { ...LAUNCH, noDebug: true, stopOnEntry: true, stopAtEnd: true });
  await made.ask('setFunctionBreakpoints', { breakpoints: [{ name: 'again' }] });
  await made.ask('configurationDone');
  const first = await Promise.race([
    made.event('stopped').then(() => 'stopped'),
    made.event('terminated').then(() => 'terminated'),
  ]);
  expect(first).toBe('terminated');
});

test('there is one source that is no file', async () => {
  const made = await stopped();
  expect((await made.ask('source', { sourceReference: 1 })).body.content).toContain('s_endpgm');
  expect((await made.ask('source', { sourceReference: 7 })).message).toContain('There is no source 7 now.');
});

test('a condition with a name that means nothing is refused', async () => {
  const made = await stopped();
  const { body } = await made.ask('setFunctionBreakpoints', {
    breakpoints: [{ name: 'again', condition: 'nosuch == 1' }],
  });
  expect(body.breakpoints[0]).toMatchObject({
    verified: false,
    message: expect.stringContaining("'nosuch' is no register"),
  });
});

test('the console evaluates what begins with no command; what is wrong there fails', async () => {
  const made = await stopped();
  const typed = (expression: string) => made.ask('evaluate', { expression, context: 'repl' });
  expect((await typed('v0[3] + 1')).body.result).toBe('4');
  // An argument goes before `output` cut short.
  expect((await typed('out')).body.result).toMatch(/^\d+ \(0x\w+\)$/);
  expect((await typed('print v0[3]')).body.result).toBe('v0[3] = 3');
  expect((await typed('inf line')).body.result).toContain('<sums>');
  expect((await typed('nosuch')).message).toContain("There is no command 'nosuch'");
  expect((await typed('lane 77')).message).toContain("'77' is not a lane");
  expect((await typed('1 / 0')).message).toContain('division by zero');
});

test('a write of what is no base64 fails', async () => {
  const made = await stopped();
  const { result } = (await made.ask('evaluate', { expression: 'out' })).body;
  const memoryReference = /0x\w+/.exec(result)?.[0] as string;
  const write = (data: string) => made.ask('writeMemory', { memoryReference, data });
  for (const data of ['!!!', 'A', 'AQI=A', 'AQID=']) expect((await write(data)).message).toContain('is not base64');
  for (const data of ['AQI=', 'AQI']) expect((await write(data)).body).toEqual({ bytesWritten: 2 });
});

test('a wavefront that has ended has no stack', async () => {
  const wide = join(folder, 'wide.co');
  const source = readFileSync(join(root, 'examples/debugging/sums.s'), 'utf8');
  writeFileSync(wide, assembleAndLink(source.replace('max_flat_workgroup_size: 64', 'max_flat_workgroup_size: 128')));
  const made = await editor();
  await made.ask('launch', { ...LAUNCH, program: wide, block: [128], args: ['i32[128]'] });
  await made.ask('setInstructionBreakpoints', { breakpoints: [{ instructionReference: await lastInstruction(made) }] });
  await made.ask('configurationDone');
  await made.event('stopped');
  await made.ask('continue', { threadId: 1 });
  await made.event('stopped');
  const { threads } = (await made.ask('threads')).body;
  const depths = new Map<boolean, number>();
  for (const { id, name } of threads) {
    const { totalFrames } = (await made.ask('stackTrace', { threadId: id })).body;
    depths.set(name.endsWith('(ended)'), totalFrames);
  }
  expect([depths.get(true), depths.get(false)]).toEqual([0, 1]);
});

/** The address of `s_endpgm`. */
async function lastInstruction(made: Editor): Promise<string> {
  const { content } = (await made.ask('source', { sourceReference: 1 })).body;
  return `0x${/s_endpgm.*\/\/ 0*(\w+)/.exec(content)?.[1]}`;
}
