// The debugger on functions that the compiler has inlined: they are calls as in gdb, in the terminal and from an editor.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DebugClient } from '@vscode/debugadapter-testsupport';
import { afterAll, describe, expect, test } from 'vitest';
import { canCompileHip, compileHip, execHip, root } from './support/hip.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-exec-frames-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const source = readFileSync(join(root, 'tests/hip/inlined.cpp'), 'utf8').split('\n');
/** The number of the first line that holds a text. */
const lineOf = (text: string): number => source.findIndex((line) => line.includes(text)) + 1;
const CALL_SHIFTED = lineOf('int b = shifted');
const CALL_SQUARE = lineOf('int c = square');
const CALL_CALLED = lineOf('int d = called');
const SUM = lineOf('out[i] = a');
const INSIDE_SHIFTED = lineOf('int squared = square');
const IN_SQUARE = lineOf('int y = x * x');

describe.skipIf(!canCompileHip())('inlined functions', () => {
  /** Answers to the commands, one for each, after the stop at a place. */
  async function answers(flags: readonly string[], place: string, commands: readonly string[]): Promise<string[]> {
    const program = await compileHip({ sources: ['inlined'], targets: ['gfx942'], flags: ['-g', ...flags] });
    const script = join(folder, 'commands');
    writeFileSync(script, `${[...commands, 'quit'].join('\n')}\n`);
    const { stderr } = await execHip('gfx942', program, [], ['--break', place, '--commands', script]);
    return stderr.split(/^\(wavesmith\) .*\n/m).map((text) => text.trim());
  }
  /** Where a stop or a frame is: the line of inlined.cpp. `finish` says before what it leaves. */
  const at = (text: string | undefined): number =>
    Number([...(text ?? '').matchAll(/inlined\.cpp:(\d+)$/gm)].at(-1)?.[1]);
  /** `function:line` of each frame. */
  const stack = (text: string | undefined): string[] =>
    (text ?? '')
      .split('\n')
      .filter((line) => line.startsWith('#'))
      .map((line) => `${/ in (\w+)/.exec(line)?.[1] ?? '?'}:${at(line)}`);

  test.each([['-gdwarf-5'], ['-gdwarf-4']])(
    'next runs over them, step goes in, finish out of them, up shows the caller (%s)',
    async (dwarf) => {
      const said = await answers(['-O0', dwarf], `inlined.cpp:${CALL_SHIFTED}`, [
        'next', // 1
        'step',
        'bt',
        'info args',
        'info locals',
        'up', // 6
        'print b',
        'info args',
        'finish', // of the kernel
        'down',
        'finish', // 11
        'bt',
        'next',
        'step',
        'bt', // 15: the function that is really called
        'print c',
        'finish',
        'next',
      ]);
      expect(at(said[1])).toBe(CALL_SQUARE);
      expect(at(said[2])).toBe(IN_SQUARE);
      expect(stack(said[3])).toEqual([`square:${IN_SQUARE}`, `work:${CALL_SQUARE}`]);
      expect(said[3]).toMatch(/^#0 .* in square, inlined at /);
      expect(said[4]).toBe('x = 20');
      expect(said[5]).toBe('y = 0');
      expect(stack(said[6])).toEqual([`work:${CALL_SQUARE}`]);
      expect(said[7]).toBe('b = 20');
      expect(said[8]).toMatch(/^out = 0x\w+\nin = 0x\w+\nn = 64$/);
      expect(said[9]).toContain('This is the kernel itself: nothing called it.');
      expect(at(said[11])).toBe(CALL_SQUARE);
      expect(stack(said[12])).toEqual([`work:${CALL_SQUARE}`]);
      expect(at(said[13])).toBe(CALL_CALLED);
      expect(stack(said[15])).toEqual([`called:${lineOf('int inside')}`, `work:${CALL_CALLED}`]);
      expect(said[16]).toBe('c = 400');
      expect(at(said[17])).toBe(CALL_CALLED);
      expect(at(said[18])).toBe(SUM);
    },
  );

  test('a function that is inlined has breakpoints wherever it is, and is stepped back over', async () => {
    const said = await answers(['-O0'], 'square', [
      'bt',
      'print x',
      'frame 1',
      'print by',
      'frame 2',
      'print a',
      'finish', // 7: of the kernel
      'up',
      'down', // of frame 1
      'finish', // 10
      'delete',
      `until inlined.cpp:${SUM}`,
      'reverse-next',
      'reverse-next',
      'reverse-next', // 15
      'reverse-step',
    ]);
    expect(stack(said[1])).toEqual([`square:${IN_SQUARE}`, `shifted:${INSIDE_SHIFTED}`, `work:${CALL_SHIFTED}`]);
    expect(said[2]).toBe('x = 5');
    expect(said[4]).toBe('by = 5');
    expect(said[6]).toBe('a = 0');
    expect(said[7]).toContain('nothing called it');
    expect(stack(said[9])).toEqual([`shifted:${INSIDE_SHIFTED}`]);
    expect(at(said[10])).toBe(CALL_SHIFTED);
    expect([12, 13, 14, 15].map((n) => at(said[n]))).toEqual([SUM, CALL_CALLED, CALL_SQUARE, CALL_SHIFTED]);
  });

  test.each([['-gdwarf-5'], ['-gdwarf-4']])(
    'optimized: a call without code of its own is a line to stop at (%s)',
    async (dwarf) => {
      const said = await answers(['-O3', dwarf], `inlined.cpp:${lineOf('int a = in')}`, [
        'next',
        'bt',
        'step',
        'bt',
        'info args',
        'reverse-continue',
      ]);
      // The stop is at the call: the function that begins there is hidden until it is stepped into.
      const [called] = stack(said[2]);
      expect(stack(said[2])).toHaveLength(1);
      expect(stack(said[4]).length).toBeGreaterThan(1);
      expect(stack(said[4]).at(-1)).toBe(called);
      expect(said[5]).toMatch(/ = -?\d+$/m);
      expect(said[5]).not.toContain('location list');
    },
  );

  test('a watched variable is the one of its function; source lines, types and places of gdb', async () => {
    const said = await answers(['-O0'], `inlined.cpp:${CALL_SQUARE}`, [
      'watch d',
      'tbreak called',
      'info breakpoints',
      'continue', // 4: called has variables of its own
      'ptype in',
      'continue',
      'print a = 9',
      'print a',
      'list',
      'list 5,6',
      'x/1i $pc', // 11
      'break *$pc',
      'print &a',
      'info symbol square',
      'whatis threadIdx.y.z',
      'ptype nothing',
      'condition 4 a == 77', // 17
      'continue',
      'info breakpoints',
    ]);
    expect(said[3]).toMatch(/^3 {2}0x\w+ <_ZL6calledi\+0x\w+> at \S+:\d+, once, hit 0 times$/m);
    expect(said[4]).toMatch(/^breakpoint 3: .* at .*inlined\.cpp:\d+\n\d+\t {2}int inside = square/);
    expect(said[5]).toContain("'in' is no register, argument or variable here.");
    expect(said[6]).toMatch(/^d changed: 0 → \d+\nwatchpoint: .*inlined\.cpp:\d+\n\d+\t {2}out\[i\] = a/);
    expect([said[7], said[8]]).toEqual(['a = 9', 'a = 9']);
    expect(said[9]).toMatch(new RegExp(`^=> +${SUM}    out\\[i\\] = a`, 'm'));
    expect(said[10]).toBe(`5  ${source[4]}\n       6  ${source[5]}`);
    expect(said[11]).toMatch(/^=> +0x\w+ {2}\w+/m);
    expect(said[12]).toMatch(/^breakpoint 4 at 0x/);
    expect(said[13]).toMatch(/^&a = 0x\w+ \(scratch of lane 0\)$/);
    expect(said[14]).toMatch(/^0x\w+ <\w+(\+0x\w+)?> at .*inlined\.cpp:/);
    expect(said[15]).toContain('error[');
    expect(said[16]).toContain("'nothing' is no register, argument or variable here.");
    // The second dispatch: numbers stay.
    expect(said[18]).toMatch(/^dispatch 2.*\nbreakpoint 1:/);
    expect(said[19]).toMatch(/^1 .*hit 1 times\n4 {2}0x\w+ .* if a == 77/);
  });

  test('an editor sees them as stack frames', async () => {
    writeFileSync(
      join(folder, 'adapter.cjs'),
      `process.argv.splice(2, 0, 'dap');\nimport(${JSON.stringify(join(root, 'bin/wavesmith'))});\n`,
    );
    const program = await compileHip({ sources: ['inlined'], targets: ['gfx942'], flags: ['-O0', '-g'] });
    const client = new DebugClient(process.execPath, join(folder, 'adapter.cjs'), 'wavesmith', {});
    client.defaultTimeout = 200_000;
    await client.start();
    try {
      const stopped = async (): Promise<number> => {
        const { threadId } = ((await client.waitForEvent('stopped')) as { body: { threadId: number } }).body;
        return threadId;
      };
      const launched = client.launch({ command: [program], target: 'gfx942', cwd: root } as never);
      await Promise.all([client.initializeRequest(), launched, client.waitForEvent('initialized')]);
      await client.setBreakpointsRequest({
        source: { path: join(root, 'tests/hip/inlined.cpp') },
        breakpoints: [{ line: INSIDE_SHIFTED }],
      });
      const first = stopped();
      await client.configurationDoneRequest();
      const threadId = await first;
      const framesNow = async () => (await client.stackTraceRequest({ threadId })).body.stackFrames;
      const text = (frames: { name: string; line: number }[]) => frames.map(({ name, line }) => `${name}:${line}`);
      const after = async (go: () => Promise<unknown>): Promise<string[]> => {
        const next = stopped();
        await go();
        await next;
        return text(await framesNow());
      };
      expect(text(await framesNow())).toEqual([`shifted:${INSIDE_SHIFTED}`, `work:${CALL_SHIFTED}`]);
      expect(await after(() => client.stepInRequest({ threadId }))).toEqual([
        `square:${IN_SQUARE}`,
        `shifted:${INSIDE_SHIFTED}`,
        `work:${CALL_SHIFTED}`,
      ]);
      const frames = await framesNow();
      const evaluated = async (frame: number, expression: string) =>
        (await client.evaluateRequest({ expression, frameId: frames[frame]?.id as number, context: 'watch' })).body
          .result;
      expect([await evaluated(0, 'x'), await evaluated(1, 'by'), await evaluated(2, 'a')]).toEqual(['5', '5', '0']);
      const scopes = (await client.scopesRequest({ frameId: frames[1]?.id as number })).body.scopes;
      const reference = scopes.find(({ name }) => name === 'Locals')?.variablesReference as number;
      const { variables } = (await client.variablesRequest({ variablesReference: reference })).body;
      expect(variables.map(({ name }) => name)).toEqual(['value', 'by', 'moved', 'squared']);
      const set = await client.setVariableRequest({ variablesReference: reference, name: 'by', value: '7' });
      expect(set.body.value).toBe('7');
      expect(await after(() => client.stepOutRequest({ threadId }))).toEqual([
        `shifted:${INSIDE_SHIFTED}`,
        `work:${CALL_SHIFTED}`,
      ]);
      expect(await after(() => client.stepOutRequest({ threadId }))).toEqual([`work:${CALL_SHIFTED}`]);
      expect(await after(() => client.nextRequest({ threadId }))).toEqual([`work:${CALL_SQUARE}`]);
      expect(await after(() => client.nextRequest({ threadId }))).toEqual([`work:${CALL_CALLED}`]);
      expect(await after(() => client.stepBackRequest({ threadId }))).toEqual([`work:${CALL_SQUARE}`]);
    } finally {
      await client.stop();
    }
  });

  test('an editor ends a program that runs no kernel', async () => {
    writeFileSync(
      join(folder, 'adapter.cjs'),
      `process.argv.splice(2, 0, 'dap');\nimport(${JSON.stringify(join(root, 'bin/wavesmith'))});\n`,
    );
    const client = new DebugClient(process.execPath, join(folder, 'adapter.cjs'), 'wavesmith', {});
    client.defaultTimeout = 60_000;
    await client.start();
    try {
      await client.initializeRequest();
      void client
        .launch({ command: ['/bin/sleep', '600'], target: 'gfx942', cwd: root } as never)
        .catch(() => undefined);
      const ended = client.waitForEvent('terminated');
      await new Promise((resolve) => setTimeout(resolve, 500));
      await client.send('terminate', {});
      await ended;
    } finally {
      await client.stop();
    }
  });
});
