// The debugger under `wavesmith exec`: a HIP program waits while its kernel is stopped, in the terminal and from an editor.
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DebugClient } from '@vscode/debugadapter-testsupport';
import { afterAll, describe, expect, test } from 'vitest';
import { canCompileHip, compileHip, execHip, root } from './support/hip.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-exec-debug-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const script = (name: string, lines: readonly string[]): string => {
  const path = join(folder, name);
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
};

describe.skipIf(!canCompileHip())('a HIP program with two streams', () => {
  const program = compileHip({ sources: ['debugged-streams'], targets: ['gfx942'], flags: ['-O0', '-g'] });
  const PRINTED = 'stream 0: 30 1311\nstream 1: 63 2926\n';

  test.each([
    ['nothing but stops', ['continue', 'continue', 'continue']],
    ['a step back', ['continue', 'continue', 'next', 'reverse-stepi', 'delete', 'continue']],
    ['to the start and forwards again', ['continue', 'continue', 'continue', 'next', 'run', 'continue']],
    ['who wrote it', ['continue', 'continue', 'next', 'next', 'who v', 'who i', 'delete', 'continue']],
    [
      'values that are set and passed again',
      ['continue', 'next', 'set v = 5', 'reverse-stepi', 'reverse-step', 'next'],
    ],
  ])('each of its packets runs once, whatever the debugger did: %s', async (_, lines) => {
    const options = ['--break', 'add', '--commands', script('streams', lines)];
    const { status, stdout } = await execHip('gfx942', await program, [], options);
    expect([status, stdout]).toEqual([3, PRINTED]);
  });
});

describe.skipIf(!canCompileHip())('a HIP program whose editor leaves at a breakpoint', () => {
  const program = compileHip({ sources: ['debugged-streams'], targets: ['gfx942'], flags: ['-O0', '-g'] });

  test.each([
    ['runs on', false, '3\n'],
    ['ends', true, undefined],
    ['ends', undefined, undefined],
  ] as const)('%s with terminateDebuggee %s', async (_, terminateDebuggee, written) => {
    const adapter = join(folder, 'adapter.cjs');
    writeFileSync(
      adapter,
      `process.argv.splice(2, 0, 'dap');\nimport(${JSON.stringify(join(root, 'bin/wavesmith'))});\n`,
    );
    const result = join(folder, `result-${terminateDebuggee}`);
    const client = new DebugClient(process.execPath, adapter, 'wavesmith', {});
    client.defaultTimeout = 200_000;
    await client.start();
    const command = ['/bin/sh', '-c', `"${await program}"; echo $? > "${result}"`];
    const ready = client.waitForEvent('initialized');
    await client.initializeRequest();
    const launched = client.launch({ command, target: 'gfx942' } as never);
    await ready;
    await client.setFunctionBreakpointsRequest({ breakpoints: [{ name: 'weight' }, { name: 'add' }] });
    const stopped = client.waitForEvent('stopped');
    await Promise.all([client.configurationDoneRequest(), launched]);
    expect((await stopped).body.reason).toBe('breakpoint');
    const { _adapterProcess: adapting } = client as unknown as { _adapterProcess: ChildProcessWithoutNullStreams };
    const exited = new Promise((resolve) => adapting.once('exit', resolve));
    await client.disconnectRequest(terminateDebuggee === undefined ? undefined : { terminateDebuggee });
    // As an editor that is closed.
    adapting.stdin.end();
    adapting.stdout.destroy();
    expect(await exited).toBe(0);
    expect(existsSync(result) ? readFileSync(result, 'utf8') : undefined).toBe(written);
  });
});

describe.skipIf(!canCompileHip())('a HIP program at -O0', () => {
  const program = compileHip({ sources: ['debugged'], targets: ['gfx942'], flags: ['-O0', '-g'] });

  test('stops in its kernels, shows outer functions, and takes what is set', async () => {
    const commands = script('commands', [
      'print value',
      'lane 3',
      'up',
      'print points[3]',
      'info locals',
      'print tile[3]',
      'print tile',
      'print &tile[3]',
      'print sizeof tile',
      'set tile[4] = 9.25',
      'print tile[4]',
      'down',
      'frame 4',
      'next',
      'set doubled = 40',
      'delete 1',
      'continue',
      'print n',
      'reverse-stepi',
      'continue',
    ]);
    const options = ['--break', 'twice', '--break', 'second', '--break', 'nowhere', '--commands', commands];
    const { status, stdout, stderr } = await execHip('gfx942', await program, [], options);
    expect(stdout).toBe('out[3] = 60\n');
    expect(status).toBe(0);
    const lines = stderr.split('\n');
    expect(lines).toContain('value = 2.5');
    expect(stderr).toMatch(/#1 {2}0x\w+ <_Z5first\w+\+0x\w+> in first at .*debugged.cpp:\d+/);
    expect(lines).toContain('points[3] = {x = 3, y = 0.5, tag = {3, 6, 9}}');
    expect(lines).toContain('box = {items = {3, 4, 5, 6}}');
    expect(lines).toContain('tile[3] = 6.5');
    expect(stderr).toMatch(/^tile = \{0\.5, 2\.5, 4\.5, .*, 126\.5\}$/m);
    expect(lines).toContain('tile[4] = 9.25');
    expect(stderr).toContain('There is no frame 4.');
    expect(lines).toContain('n = 100');
    const announced = lines.filter((line) => line.startsWith('dispatch')).map((line) => line.replace(/P.*/, ''));
    expect(announced).toEqual(['dispatch 1: kernel _Z5first', 'dispatch 2: kernel _Z6second']);
    expect(stderr).toContain("no kernel that ran has a place 'nowhere'");
  });

  test('what a function returned, functions and their types, variables of an outer one by its name', async () => {
    const lines = [
      'finish',
      'print $1 * 2',
      'print twice',
      'ptype second',
      'whatis weight',
      'delete',
      'break twice if first::i == 71',
      'continue',
      'print first::i',
      'print first::neighbour - value',
      'print second::n',
      'watch doubled',
      'delete 2',
      'run',
    ];
    const options = ['--break', 'twice', '--commands', script('returned', [...lines, 'quit'])];
    const { stderr } = await execHip('gfx942', await program, [], options);
    const said = stderr.split(/^\(wavesmith\) .*\n/m).map((text) => text.trim());
    expect(said[1]).toMatch(/^run till exit from #0 .* in twice<float> at /);
    expect(said[1]).toMatch(/^step: .*debugged\.cpp:\d+\nvalue returned is \$1 = 5$/m);
    expect(said[2]).toBe('$1 * 2 = 10');
    expect(said[3]).toMatch(/^twice = \{float \(float\)\} 0x[0-9a-f]+ <_Z5twiceIfET_S0_>$/);
    expect(said[4]).toBe('type = void (float *, int)');
    expect(said[5]).toContain("'weight' is no register, argument or variable here");
    expect(said[8]).toMatch(/^breakpoint 2: .*, lane 7, /);
    expect(said[9]).toBe('first::i = 71');
    expect(said[10]).toBe('first::neighbour - value = 0');
    expect(said[11]).toContain("'second::n' is no register, argument or variable here");
    // That the variable has a value again where its function has its frame is no change.
    expect(said[14]).toMatch(/^doubled changed: [^(]* → /);
  });

  test("values as gdb shows them: arrays, structs behind pointers, formats, sizes, frames' variables", async () => {
    const lines = [
      'up',
      'print points[3]',
      'print *points',
      'print points->tag',
      'print/x points[3].tag',
      'print points[1].x@2',
      'print *points@2',
      'print sizeof(points[0]) + sizeof(float)',
      'print (int)(points[3].y * 5)',
      'backtrace full 1',
      'info scope second',
      'print points[3].nothing',
    ];
    const options = ['--break', 'twice', '--commands', script('values', [...lines, 'quit'])];
    const { stderr } = await execHip('gfx942', await program, [], options);
    const said = stderr.split(/^\(wavesmith\) .*\n/m).map((text) => text.trim());
    expect(said.slice(2, 10)).toEqual([
      'points[3] = {x = 3, y = 0.5, tag = {3, 6, 9}}',
      '*points = {x = 0, y = 0.5, tag = {0, 0, 0}}',
      'points->tag = {0, 0, 0}',
      'points[3].tag = {0x3, 0x6, 0x9}',
      'points[1].x@2 = {1, 0.5}',
      '*points@2 = {{x = 0, y = 0.5, tag = {0, 0, 0}}, {x = 1, y = 0.5, tag = {1, 2, 3}}}',
      'sizeof(points[0]) + sizeof(float) = 24 (0x18)',
      '(int)(points[3].y * 5) = 2',
    ]);
    expect(said[10]).toMatch(/^#0 .* in twice.*\n {6}value = .*\n {6}doubled = .*\n\(1 more\)$/);
    expect(said[11]).toMatch(/^out: .*\nn: int, in \w+\ni: int, in \w+$/);
    expect(said[12]).toContain("has no member 'nothing'");
  });

  test('ends when the debugger is left', async () => {
    const options = ['--break', 'second', '--commands', script('quit', ['quit'])];
    const { status, stdout } = await execHip('gfx942', await program, [], options);
    expect([status, stdout]).toEqual([137, '']);
  });

  test('debugs only the kernel that is named', async () => {
    const options = ['--break', '+0', '--kernel', 'second', '--commands', script('none', ['delete', 'continue'])];
    const { status, stdout, stderr } = await execHip('gfx942', await program, [], options);
    expect([status, stdout]).toEqual([0, 'out[3] = 37\n']);
    expect(stderr).not.toContain('first');
  });

  test('from an editor: what a program prints, and where; its exit code', async () => {
    writeFileSync(
      join(folder, 'adapter.cjs'),
      `process.argv.splice(2, 0, 'dap');\nimport(${JSON.stringify(join(root, 'bin/wavesmith'))});\n`,
    );
    const client = new DebugClient(process.execPath, join(folder, 'adapter.cjs'), 'wavesmith', {});
    client.defaultTimeout = 200_000;
    await client.start();
    try {
      const outputs: [category: string, output: string][] = [];
      client.on('output', ({ body }: { body: { output: string; category: string } }) =>
        outputs.push([body.category, body.output]),
      );
      const exited = client.waitForEvent('exited');
      const command = ['/bin/sh', '-c', 'echo one; echo two >&2; exit 3'];
      await Promise.all([client.initializeRequest(), client.launch({ command, target: 'gfx942' } as never)]);
      expect((await exited).body).toEqual({ exitCode: 3 });
      expect(outputs).toEqual(
        expect.arrayContaining([
          ['stdout', 'one\n'],
          ['stderr', 'two\n'],
        ]),
      );
    } finally {
      await client.stop();
    }
  });

  test('from an editor: breakpoints hold over dispatches, frames have variables', async () => {
    writeFileSync(
      join(folder, 'adapter.cjs'),
      `process.argv.splice(2, 0, 'dap');\nimport(${JSON.stringify(join(root, 'bin/wavesmith'))});\n`,
    );
    const client = new DebugClient(process.execPath, join(folder, 'adapter.cjs'), 'wavesmith', {});
    client.defaultTimeout = 200_000;
    await client.start();
    try {
      type Stopped = { body: { reason: string; threadId: number; hitBreakpointIds: number[] } };
      const stopped = () => client.waitForEvent('stopped') as Promise<Stopped>;
      const outputs: string[] = [];
      const changed: unknown[] = [];
      client.on('breakpoint', ({ body }: { body: { breakpoint: unknown } }) => changed.push(body.breakpoint));
      client.on('output', (event: { body: { output: string; category: string } }) => outputs.push(event.body.output));
      const launched = client.launch({ command: [await program], target: 'gfx942' } as never);
      await Promise.all([client.initializeRequest(), launched, client.waitForEvent('initialized')]);
      const set = await client.setFunctionBreakpointsRequest({ breakpoints: [{ name: 'twice' }, { name: 'second' }] });
      expect(set.body.breakpoints.map((b) => b.verified)).toEqual([true, true]);
      const first = stopped();
      await client.configurationDoneRequest();
      const { reason, threadId } = (await first).body;
      expect(reason).toBe('breakpoint');
      const { stackFrames } = (await client.stackTraceRequest({ threadId })).body;
      expect(stackFrames.map(({ name }) => name)).toEqual(['twice<float>', 'first']);
      const localsOf = async (frame: number) => {
        const { scopes } = (await client.scopesRequest({ frameId: stackFrames[frame]?.id as number })).body;
        const { variables } = (
          await client.variablesRequest({ variablesReference: scopes[0]?.variablesReference as number })
        ).body;
        return new Map(variables.map(({ name, value }) => [name, value]));
      };
      expect((await localsOf(1)).get('box')).toBe('{items = {0, 1, 2, 3}}');
      expect((await localsOf(0)).get('value')).toBe('2.5');
      const [second] = (await client.setFunctionBreakpointsRequest({ breakpoints: [{ name: 'second' }] })).body
        .breakpoints;
      const [watched] = (await client.send('setDataBreakpoints', { breakpoints: [{ dataId: 's100' }] })).body
        .breakpoints;
      for (let wave = 0; wave < 4; wave++) {
        const next = stopped();
        await client.continueRequest({ threadId });
        expect((await next).body).toMatchObject({ reason: 'breakpoint', hitBreakpointIds: [second?.id] });
      }
      expect(changed).toEqual([
        { id: watched.id, verified: false, message: expect.stringContaining('data is of one dispatch') },
      ]);
      const ended = client.waitForEvent('terminated');
      await client.setFunctionBreakpointsRequest({ breakpoints: [] });
      await client.continueRequest({ threadId });
      await ended;
      expect(outputs.join('')).toContain('out[3] = 37');
    } finally {
      await client.stop();
    }
  });
});

test.skipIf(!canCompileHip())(
  'expressions follow C: pointers, arrays, references, bit fields, conversions, setting',
  async () => {
    const program = compileHip({ sources: ['types'], targets: ['gfx942'], flags: ['-O0', '-g'] });
    const asked: readonly (readonly [string, string | RegExp])[] = [
      ['delete 1', ''],
      ['break 33 if threadIdx.x == 5 && blockIdx.x == 1', /^breakpoint 2 at/],
      ['continue', /breakpoint 2: workgroup 1,0,0 wave 0, lane 5/],
      ['p *(p+1)', /= \{value = 4900, next = 0x\w+\}$/],
      ['p p - nodes', '69'],
      ['p p->next->next->value', '5041'],
      ['p (*p).value == 69 * 69', '1'],
      ['p *p@n-126', /= \{\{value = 4761, next = 0x\w+\}, \{value = 4900, next = 0x\w+\}\}$/],
      ['p *(&grid[1][1])', '5'],
      ['p *grid[1] + grid[0][i - 67]', '7'],
      ['p n - 129', '4294967295'],
      ['p i - 70', '-1'],
      ['p -1 < n', '0'],
      ['p small + 100', '300'],
      ['p (char)small', "-56 '\\310'"],
      ['p half + brain', '4'],
      ['p item', /= \{\(base Base\) = \{kind = 7\}, .*, low = 5, high = 17, color = red, label = "wave"\}$/],
      ['p item.kind + item.low', '12'],
      ['p item.part', '1'],
      ['p item.color == red', '1'],
      ['p ((struct Item *)q)->high', '17'],
      ['p sizeof(Item) + sizeof *p', '40 (0x28)'],
      ['p title', / = 0x\w+ "wave"$/],
      ['p nodes[127].next->value', /no 16 accessible bytes at 0x0/],
      ['p grid[2]', /has no element 2/],
      ['p *i', /has no type to point to/],
      ['whatis p->next', 'Node *'],
      ['ptype struct Node', /^type = struct Node \{\n {4}int value; .*\n {4}Node \*next;/],
      ['set item.high = 3', '3'],
      ['p item.low += 1', '6'],
      ['p item.high', '3'],
      ['set *(p+1) = *p', /= \{value = 4761,/],
      ['p p[1].value == $.value', /has no member/],
      ['p *p', /= \{value = 4761,/],
      ['p $.value + 1', '4762'],
      ['set x.y = 3', /'x' is no register, argument or variable here/],
      ['break operator() if x == 4 && factor > 0.4', /^breakpoint 3 at/],
      ['continue', /breakpoint 3: workgroup 1,0,0 wave 0, 0x\w+ <_ZNK5ScaleclERKf/],
      ['p x * 2', '8'],
      ['p this->factor == factor', '1'],
      ['up', /^#1 .* in kernel /],
      ['p x', /'x' is no register, argument or variable here/],
      ['watch y if y > 10', /= 0$/],
      ['continue', /^y changed: 2 → 4877\n/],
      ['who y', /^y is about to be written: 2 → 4877\n/],
    ];
    const commands = script('types', [...asked.map(([line]) => line), 'quit']);
    const options = ['--break', 'kernel', '--commands', commands];
    const { stderr } = await execHip('gfx942', await program, [], options);
    const said = stderr.split(/^\(wavesmith\) .*\n/m).map((text) => text.trim());
    for (const [i, [line, answer]] of asked.entries()) {
      const own = said[i + 1] as string;
      if (typeof answer === 'string') expect(own.replace(/^.* = (?=[^=]*$)/, ''), line).toBe(answer);
      else expect(own, line).toMatch(answer);
    }
  },
);

test.skipIf(!canCompileHip())(
  'a breakpoint waits for code that is loaded later, and numbers stay as they are',
  async () => {
    const program = await compileHip({ sources: ['capture', 'capture_other'], targets: ['gfx942'] });
    const commands = script('later', [
      'break by_function_of_other if v0 == 3',
      'tbreak nowhere_at_all',
      'break 99',
      'break no_arguments',
      'continue', // no_arguments
      'info breakpoints',
      'delete 1 3',
      'info breakpoints',
      'continue', // by_function_of_other, of the other code object
      'print v0',
      'detach',
    ]);
    const { status, stderr } = await execHip('gfx942', program, [], ['--break', 'by_value', '--commands', commands]);
    expect(status).toBe(0);
    const said = stderr.split(/^\(wavesmith\) .*\n/m).map((text) => text.trim());
    expect(said[1]).toContain('breakpoint 2 pending at by_function_of_other');
    expect(said[2]).toContain('breakpoint 3 pending at nowhere_at_all');
    expect(said[3]).toMatch(/^error\[run\/no-such-place\]/);
    expect(said[5]).toMatch(/breakpoint 4: .*<no_arguments>/);
    expect(said[6]).toMatch(/^1 {2}0x\w+ <by_value>, .*\n4 {2}0x\w+ <no_arguments>, .*$/m);
    expect(said[6]).toContain('\n2  by_function_of_other if v0 == 3, pending: ');
    expect(said[6]).toContain('\n3  nowhere_at_all, once, pending: ');
    expect(said[8]).toMatch(/^4 {2}0x.*\n2 {2}by_function_of_other.*$/);
    expect(said[9]).toMatch(/breakpoint 2: .*, lane 3, 0x\w+ <by_function_of_other>/);
    expect(said[10]).toBe('v0 = 3');
    expect(stderr).not.toContain("no kernel that ran has a place 'nowhere_at_all'");
    expect(stderr).not.toContain("no kernel that ran has a place 'by_function_of_other'");
  },
);

test.skipIf(!canCompileHip())(
  'shared variables: of the kernel, of a function that it calls, of the launch',
  async () => {
    const program = await compileHip({ sources: ['shared_names'], targets: ['gfx942'], flags: ['-O0', '-g'] });
    const commands = script('shared', [
      'print parts',
      'finish',
      'print cells[1]',
      'print tile[3]',
      'print &tile[3][2]',
      'set tile[3][2] = 77',
      'print tile[3][2] + 1',
      'print scratch[2]',
      'info scope sums',
    ]);
    const options = ['--break', 'blockSum', '--commands', commands];
    const { status, stderr } = await execHip('gfx942', program, [], options);
    expect(status).toBe(0);
    const said = stderr.split(/^\(wavesmith\) .*\n/m).map((text) => text.trim());
    expect(said[1]).toBe('parts = {0, 0, 0, 0}');
    expect(said[3]).toBe("cells[1] = {kind = 98 'b', weight = 1.5}");
    expect(said[4]).toBe('tile[3] = {24, 25, 26, 27, 28, 29, 30, 31, 0}');
    expect(said[5]).toMatch(/^&tile\[3\]\[2\] = 0x[0-9a-f]+ \(LDS\)$/);
    expect(said[7]).toBe('tile[3][2] + 1 = 78');
    expect(said[8]).toMatch(
      /'extern __shared__' arrays are not in the debug information: theirs are .* from \d+ to \d+,/,
    );
    expect(said[9]).toMatch(/^tile: float\[8\]\[9\], in LDS$/m);
    expect(said[9]).toMatch(/^s: float, in scratch$/m);
  },
);
