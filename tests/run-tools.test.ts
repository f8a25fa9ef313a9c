// `wavesmith run` with traces, the debugger, counters, profiles, progress and Ctrl-C, as a user sees them.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assembleAndLink } from '../src/asm/index.ts';
import { compileC, hasLlvm, linkWithLld } from './support/build.ts';
import { kernelSource } from './support/kernel-source.ts';
import { llvmTool } from './support/llvm.ts';
import { sharedPath } from './support/shared.ts';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'wavesmith-run-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = (name: string): string => join(folder, name);

/** Two waves: each lane adds its id ten times, passes the sum through LDS, and the first 16 work-items store it. */
const LOOP = `
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  v_mov_b32_e32 v2, 0
  s_mov_b32 s6, 10
  s_waitcnt lgkmcnt(0)
again:
  v_add_u32_e32 v2, v2, v0
  s_sub_u32 s6, s6, 1
  s_cmp_lg_u32 s6, 0
  s_cbranch_scc1 again
  ds_write_b32 v1, v2
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read_b32 v3, v1
  v_cmp_gt_u32_e32 vcc, 16, v0
  s_waitcnt lgkmcnt(0)
  s_and_saveexec_b64 s[8:9], vcc
  s_cbranch_execz skip
  global_store_dword v1, v3, s[4:5]
skip:
`;
/** Runs for a long time: 2^24 turns of three instructions in each workgroup. */
const LONG = `
  s_mov_b32 s6, 0x1000000
turn:
  s_sub_u32 s6, s6, 1
  s_cmp_lg_u32 s6, 0
  s_cbranch_scc1 turn
`;

const LAUNCH = ['--kernel', 'k', '--grid', '2', '--block', '128', '--arg', 'i32[16]'];

beforeAll(() => {
  const lds = { group_segment_fixed_size: 512 };
  const options = { descriptor: lds, metadata: { '.group_segment_fixed_size': 512 } };
  mkdirSync(path('a-folder'));
  writeFileSync(path('loop.co'), assembleAndLink(kernelSource({ code: LOOP, ...options })));
  writeFileSync(path('long.co'), assembleAndLink(kernelSource({ code: LONG })));
});

function wavesmith(args: readonly string[], input?: string) {
  const run = spawnSync(process.execPath, [join(root, 'bin/wavesmith'), 'run', ...args], {
    encoding: 'utf8',
    cwd: folder,
    input: input ?? '',
    maxBuffer: 64 << 20,
  });
  return { status: run.status, out: run.stdout, err: run.stderr };
}
const loop = (args: readonly string[], input?: string) => wavesmith(['loop.co', ...LAUNCH, ...args], input);

describe('--trace', () => {
  test('to standard output, one wave of one workgroup', () => {
    const { status, out } = loop(['--trace', '--trace-workgroup', '1', '--trace-wave', '0']);
    expect(status).toBe(0);
    const lines = out.split('\n').filter((line) => line.startsWith('1,0,0/0'));
    expect(lines).toHaveLength(5 + 10 * 4 + 10);
    expect(lines[0]).toMatch(
      /^1,0,0\/0 +0x\w+ k: s_load_dwordx2 s\[4:5\], s\[0:1\], 0x0 +; s\[4:5\]=0x\w+; load global 0x\w+ 8B$/,
    );
    expect(lines[5]).toMatch(/again: v_add_u32_e32 v2, v2, v0 +; v2=\[0x0 0x1 0x2 0x3 …\]$/);
    expect(lines.filter((line) => line.includes('→'))).toHaveLength(9);
    expect(lines.some((line) => /ds_write_b32 v1, v2 +; store lds 0x0 \+4 64×4B$/.test(line))).toBe(true);
    expect(lines.some((line) => line.includes('global_store_dword') && line.includes('16×4B'))).toBe(true);
    // The report follows, and nothing of other waves is there.
    expect(out).toContain('15 elements changed: 0, 10, 20, 30, 40, 50');
    expect(out.split('\n').filter((line) => /^\d,\d,\d\//.test(line))).toHaveLength(lines.length);
  });

  test('to a file as JSON lines, a range of places, all lanes', () => {
    const args = ['--trace=trace.jsonl', '--trace-format', 'jsonl', '--trace-pc', 'skip', '--trace-lanes', '--json'];
    const { status, out } = loop(args);
    expect(status).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ kernel: 'k', wavefronts: 4 });
    const events = readFileSync(path('trace.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.map((e) => [e.workgroup, e.wave, e.text])).toEqual(
      [0, 1].flatMap((group) => [0, 1].map((wave) => [[group, 0, 0], wave, 's_endpgm'])),
    );
    loop([
      '--trace=range.jsonl',
      '--trace-format',
      'jsonl',
      '--trace-pc',
      'again..again+4',
      '--trace-lanes',
      '--trace-limit',
      '3',
    ]);
    const some = readFileSync(path('range.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(some.map((e) => e.text)).toEqual([
      'v_add_u32_e32 v2, v2, v0',
      's_sub_u32 s6, s6, 1',
      'v_add_u32_e32 v2, v2, v0',
    ]);
    expect(some[2].writes[0].lanes).toHaveLength(64);
    expect(some[2].writes[0].lanes[63]).toBe('0x7e');
  });

  test('streams: a trace far larger than the heap that is allowed', () => {
    const args = [
      'loop.co',
      '--kernel',
      'k',
      '--grid',
      '1000',
      '--block',
      '128',
      '--arg',
      'i32[16]',
      '--trace=big.txt',
      '--trace-format',
      'jsonl',
      '--trace-lanes',
    ];
    const run = spawnSync(process.execPath, ['--max-old-space-size=24', join(root, 'bin/wavesmith'), 'run', ...args], {
      encoding: 'utf8',
      cwd: folder,
    });
    expect(run.status).toBe(0);
    const text = readFileSync(path('big.txt'), 'utf8');
    expect(text.length).toBeGreaterThan(30 << 20);
    expect(text.split('\n').length - 1).toBe(Number(/(\d+) instructions/.exec(run.stdout)?.[1]));
  });

  test.each([
    [['--trace-wave', '1'], 2, 'The --trace-… options need --trace.'],
    [['--trace', '--json'], 2, '--trace needs a file'],
    [['--trace', '--trace-format', 'xml'], 2, '--trace-format xml is neither text nor jsonl.'],
    [['--trace', '--trace-workgroup', '1,2,3,4'], 1, 'run/bad-filter'],
    [['--trace', '--trace-wave', 'x'], 1, 'run/bad-filter'],
    [['--trace', '--trace-pc', 'nowhere'], 1, 'run/no-such-place'],
    [['--trace', '--trace-limit', '-1'], 2, 'not a whole number'],
    [['--trace=missing/folder/trace.txt'], 1, 'io/write'],
    [['--trace=a-folder'], 1, "Cannot write 'a-folder': it is a folder."],
    [['--trace=none.txt', '--trace-workgroup', '2-3'], 1, 'The grid of 2×1×1 workgroups has none with x = 2.'],
    [['--trace=none.txt', '--trace-wave', '2'], 1, 'A workgroup has 2 waves, and none is 2.'],
    [['--trace', '--trace-pc', 'loop.s:3'], 1, 'No instruction was made from loop.s:3.'],
    [['--commands', 'x'], 2, '--commands needs --break.'],
    [['--break', 'nowhere'], 1, 'run/no-such-place'],
    [['--break', 'again', '--commands', 'missing.txt'], 1, 'io/read'],
  ])('%j is refused', (args, status, message) => {
    const run = loop(args);
    expect(run.status).toBe(status);
    expect(run.err).toContain(message);
    expect(readdirSync(folder).filter((name) => /\.tmp-|^none/.test(name))).toEqual([]);
  });

  test.skipIf(!hasLlvm())('instructions of a line of the source', () => {
    const source = `__attribute__((amdgpu_kernel)) void k(__attribute__((address_space(1))) int *out) {
  int i = __builtin_amdgcn_workitem_id_x();
  out[i] = 7 * i;
  out[i + 64] = 5;
}`;
    writeFileSync(path('lines.co'), linkWithLld([compileC(source, 'gfx942', ['-O1', '-g'])]));
    const launch = ['--grid', '1', '--block', '64', '--arg', 'i32[128]', '--trace=lines.jsonl'];
    const traced = (place: string): string[] => {
      const { err } = wavesmith(['lines.co', ...launch, '--trace-format', 'jsonl', '--trace-pc', place]);
      expect(err).toBe('');
      const lines = readFileSync(path('lines.jsonl'), 'utf8').trim().split('\n');
      return lines.map((line) => JSON.parse(line).text);
    };
    expect(traced('input.c:3').filter((text) => text.startsWith('global_store'))).toHaveLength(1);
    expect(traced('input.c:3..input.c:5').filter((text) => text.startsWith('global_store'))).toHaveLength(2);
    expect(traced('input.c:5')).toEqual(['s_endpgm']);
  });
});

describe('--break', () => {
  const script = (lines: readonly string[], more: readonly string[] = []) => {
    writeFileSync(path('commands.txt'), `${lines.join('\n')}\n`);
    return loop(['--break', 'again', '--commands', 'commands.txt', ...more]);
  };
  const answers = (out: string): string[] => out.split('\n(wavesmith) ').slice(1);

  test('steps, registers, setting, breakpoints', () => {
    const { status, out } = script([
      'registers s6 v2',
      'step',
      'r v2',
      'step 3',
      'set s6 1',
      'delete',
      'until skip',
      'r scc exec s6',
      'continue',
    ]);
    expect(status).toBe(0);
    expect(out).toMatch(/^breakpoint 1: workgroup 0,0,0 wave 0, 0x\w+ <again>/);
    const told = answers(out);
    expect(told[0]).toBe('registers s6 v2\ns6=0xa\nv2=0x0');
    expect(told[1]).toMatch(/^step\nstep: workgroup 0,0,0 wave 0, 0x\w+ <again\+0x4>$/);
    expect(told[2]).toBe(
      'r v2\nv2=[0x0 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8 0x9 0xa 0xb 0xc 0xd 0xe 0xf 0x10 0x11 0x12 0x13 0x14 0x15 0x16 0x17 0x18 0x19 0x1a 0x1b 0x1c 0x1d 0x1e 0x1f 0x20 0x21 0x22 0x23 0x24 0x25 0x26 0x27 0x28 0x29 0x2a 0x2b 0x2c 0x2d 0x2e 0x2f 0x30 0x31 0x32 0x33 0x34 0x35 0x36 0x37 0x38 0x39 0x3a 0x3b 0x3c 0x3d 0x3e 0x3f]',
    );
    expect(told[3]).toMatch(/^step 3\nbreakpoint 1: .* <again>$/);
    expect(told[4]).toBe('set s6 1\ns6=0x1');
    expect(told[6]).toMatch(/^until skip\nreached: workgroup 0,0,0 wave 0, 0x\w+ <skip>$/);
    expect(told[7]).toBe('r scc exec s6\nscc=0x1\nexec=0xffff\ns6=0x0');
    // Two turns of the loop in the first workgroup, which the second one overwrote with ten.
    expect(out).toContain('15 elements changed: 0, 10, 20, 30, 40, 50');
  });

  test('memory by argument, LDS, listing, waves, switching', () => {
    const { out } = script([
      'break skip',
      'delete again',
      'continue',
      'lds 4 8',
      'memory arg0+4 16',
      'memory s[4:5] 4',
      'list',
      'waves',
      'wave 1',
      'step',
      'registers',
      'detach',
    ]);
    const told = answers(out);
    expect(told[3]).toBe('lds 4 8\n             0x4  0000000a 00000014');
    expect(told[4]).toMatch(/^memory arg0\+4 16\nargument 0\+4\n +0x\w+ {2}0000000a 00000014 0000001e 00000028$/);
    expect(told[5]).toMatch(/^memory s\[4:5\] 4\nargument 0\+0\n +0x\w+ {2}00000000$/);
    expect(told[6]).toMatch(/global_store_dword v1, v3, s\[4:5\]\nskip:\n=>\* +0x\w+ {2}s_endpgm/);
    expect(told[7]).toMatch(/^waves\n\* wave 0: 0x\w+ skip, 16 lanes\n {2}wave 1: 0x\w+ .*, 64 lanes$/);
    expect(told[8]).toMatch(/\n\* wave 1: /);
    expect(told[9]).toMatch(/^step\n(step|breakpoint 2): workgroup 0,0,0 wave 1, /);
    expect(told[10]).toMatch(/^registers\nvcc=/);
    expect(out).toContain('15 elements changed');
  });

  test('mistakes are answered, and the run goes on', () => {
    const wrong = [
      'fly',
      'step x',
      'registers q9',
      'until nobody',
      'break 0x3',
      'memory 0x10',
      'memory nobody',
      'lds 9999',
      'wave 7',
      'set s6',
      'set s6 abc',
      'delete skip',
    ];
    const { status, out } = script(wrong);
    expect(status).toBe(0);
    const told = answers(out).slice(0, wrong.length);
    for (const answer of told) expect(answer).toMatch(/\n(?:\(pc .*)?error\[run\//);
    expect(out).toContain('end of the commands: running on to the end');
    expect(out).toContain('15 elements changed: 0, 10, 20, 30, 40, 50');
  });

  test('commands on standard input; an empty line repeats; the end of input runs on', () => {
    const { status, out } = loop(['--break', 'again'], 'step\n\n\nr s6\n');
    expect(status).toBe(0);
    const told = answers(out);
    expect(told.slice(0, 3).map((text) => /<(.*)>/.exec(text)?.[1])).toEqual(['again+0x4', 'again+0x8', 'again+0xc']);
    expect(told[3]).toMatch(/^r s6\ns6=0x9\nend of the commands/);
  });

  test('quit ends the run with a partial report; with --json only JSON is on standard output', () => {
    const { status, out, err } = script(['delete', 'break skip', 'continue', 'quit'], ['--json']);
    expect(status).toBe(130);
    expect(JSON.parse(out)).toMatchObject({ kernel: 'k', interrupted: { done: 0, total: 2 } });
    expect(JSON.parse(out).buffers[0]).toMatchObject({ argument: 0, changed: 15 });
    expect(err).toContain('(wavesmith) quit');
  });
});

describe('--counters and --profile', () => {
  test('as JSON', () => {
    const { out } = loop(['--counters', '--profile', '--json']);
    const { counters, bytes, ldsBankModel, profile, instructions } = JSON.parse(out);
    expect(counters).toMatchObject({
      SQ_WAVES: { value: 4 },
      SQ_ITEMS: { value: 256 },
      SQ_INSTS: { value: instructions },
      SQ_INSTS_BRANCH: { value: 4 * 11 },
      SQ_INSTS_LDS: { value: 8 },
      SQ_INSTS_VMEM_WR: { value: 2 },
      SQ_INSTS_SMEM: { value: 4 },
      SQ_INSTS_SENDMSG: { value: 4 },
    });
    expect(bytes).toEqual({
      scalar: { load: 4 * 8, store: 0, atomic: 0 },
      lds: { load: 1024, store: 1024, atomic: 0 },
      global: { load: 0, store: 2 * 16 * 4, atomic: 0 },
    });
    expect(ldsBankModel).toEqual({ instructions: 8, notModelled: 0, phases: 16, conflictCycles: 0 });
    expect(profile.instructions).toBe(instructions);
    expect(profile.hottest[0]).toMatchObject({ label: 'again', hits: 40 });
    expect(profile.branches).toEqual([
      expect.objectContaining({ hits: 40, taken: 36, target: 'again' }),
      expect.objectContaining({ hits: 4, taken: 2, target: 'skip' }),
    ]);
    expect(profile.divergence).toEqual([
      expect.objectContaining({
        text: 's_and_saveexec_b64 s[8:9], vcc',
        hits: 4,
        split: 2,
        lanesBefore: 64,
        lanesAfter: 8,
      }),
    ]);
  });

  test('as text', () => {
    const { out } = loop(['--counters', '--profile']);
    expect(out).toMatch(/SQ_WAVES +4\n/);
    expect(out).toMatch(/lds +1024 +1024 +0\n/);
    expect(out).toMatch(/again:\n +40 +\d+\.\d% +100\.0% +0x\w+ {2}v_add_u32_e32 v2, v2, v0\n/);
    expect(out).toMatch(/s_and_saveexec_b64 s\[8:9\], vcc +2 of 4 split, lanes 64\.0 → 8\.0/);
  });

  const clang = llvmTool('clang-22');
  test.skipIf(clang === undefined)('source lines where there is debug information', () => {
    const source = join(root, 'examples', 'saxpy.c');
    spawnSync(clang as string, [
      '-target',
      'amdgcn-amd-amdhsa',
      '-mcpu=gfx942',
      '-nogpulib',
      '-O1',
      '-g',
      source,
      '-o',
      path('saxpy.co'),
    ]);
    const launch = [
      '--kernel',
      'saxpy',
      '--grid',
      '4',
      '--block',
      '64',
      '--arg',
      'f32[256]',
      '--arg',
      'f32[256]=1',
      '--arg',
      'f32=2',
      '--arg',
      'u32=256',
    ];
    const { profile } = JSON.parse(wavesmith(['saxpy.co', ...launch, '--profile', '--json']).out);
    const lines = profile.sourceLines.filter((l: { file: string }) => l.file.endsWith('saxpy.c'));
    expect(lines.length).toBeGreaterThan(0);
    const text = readFileSync(source, 'utf8').split('\n');
    expect(lines.some((l: { line: number }) => /y\[/.test(text[l.line - 1] as string))).toBe(true);
  });

  /** Counters of rocprofiler-compute's sample kernel `vecCopy`, measured by AMD's tool on MI210 and MI300X, per wavefront. */
  const measured = sharedPath('profiles', 'rocprof-compute');
  test.skipIf(clang === undefined || measured === undefined).each([
    ['gfx90a', 'vcopy-MI200'],
    ['gfx942', 'vcopy-MI300X'],
  ])('%s: the counters that hardware gave for the same kernel', (target, name) => {
    const pointer = '__attribute__((address_space(1))) double *';
    const id =
      '__builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x()';
    writeFileSync(
      path('vcopy.c'),
      `__attribute__((amdgpu_kernel)) void vecCopy(${pointer}a, ${pointer}b, ${pointer}c, int n, int stride) { int id = ${id}; if (id < n) c[id] = a[id]; }\n`,
    );
    spawnSync(clang as string, [
      '-target',
      'amdgcn-amd-amdhsa',
      `-mcpu=${target}`,
      '-nogpulib',
      '-O3',
      path('vcopy.c'),
      '-o',
      path('vcopy.co'),
    ]);
    const launch = [
      '--kernel',
      'vecCopy',
      '--grid',
      '4',
      '--block',
      '256',
      '--arg',
      'f64[1024]',
      '--arg',
      'f64[1024]',
      '--arg',
      'f64[1024]',
      '--arg',
      'i32=1024',
      '--arg',
      'i32=1',
    ];
    const { counters } = JSON.parse(wavesmith(['vcopy.co', ...launch, '--counters', '--json']).out);
    const [head, row] = readFileSync(join(measured as string, name, 'pmc_perf.csv'), 'utf8')
      .split('\n')
      .map((line) => line.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/));
    const hardware = new Map(head?.map((column, i) => [column.trim(), Number(row?.[i])]));
    const waves = hardware.get('SQ_WAVES') as number;
    let compared = 0;
    for (const [counter, value] of Object.entries(counters as Record<string, { value?: number }>)) {
      const theirs = hardware.get(counter);
      if (theirs === undefined || Number.isNaN(theirs)) continue;
      expect([counter, (value.value as number) / 16]).toEqual([counter, theirs / waves]);
      compared++;
    }
    expect(compared).toBeGreaterThan(40);
  });
});

describe('long runs', () => {
  const start = (args: readonly string[]) => {
    const child = spawn(
      process.execPath,
      [
        join(root, 'bin/wavesmith'),
        'run',
        'long.co',
        '--kernel',
        'k',
        '--grid',
        '100000',
        '--block',
        '64',
        '--arg',
        'i32[4]',
        ...args,
      ],
      { cwd: folder },
    );
    const out = { text: '', errors: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out.text += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      out.errors += text;
    });
    const ended = new Promise<number | null>((resolve) => child.once('close', (status) => resolve(status)));
    const until = async (condition: () => boolean): Promise<void> => {
      for (let i = 0; i < 2000 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 50));
      expect(condition()).toBe(true);
    };
    return { child, out, ended, until };
  };

  test('progress after a second, Ctrl-C leaves a partial report and exit code 130', async () => {
    const { child, out, ended, until } = start([]);
    await until(() => out.errors.includes('workgroups'));
    expect(out.errors).toMatch(/^\d+ of 100000 workgroups \(0 %\) in \d+ s/);
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    expect(out.text).toMatch(
      /^k on gfx942: interrupted after \d+\.\d+ s with \d+ of 100000 workgroups done, \d+ instructions\n {2}argument 0: i32\[4\], 0 elements changed/,
    );
  });

  test('the result does not depend on a reader of the messages', async () => {
    const text = '.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n.warning "odd"\ns_endpgm\n';
    const child = spawn(process.execPath, [join(root, 'bin/wavesmith'), 'asm', '-', '-o', 'odd.co'], { cwd: folder });
    const ended = new Promise<number | null>((resolve) => child.once('close', (status) => resolve(status)));
    child.stderr.destroy();
    child.stdin.end(text);
    expect(await ended).toBe(0);
  });

  test('with the debugger Ctrl-C stops the kernel and asks', async () => {
    const { child, out, ended, until } = start(['--break', '+0']);
    child.stdin.write('delete\ncontinue\n');
    await until(() => out.text.includes('(wavesmith) continue'));
    child.kill('SIGINT');
    await until(() => out.text.includes('interrupted: workgroup 0,0,0 wave 0'));
    child.stdin.write('quit\n');
    expect(await ended).toBe(130);
    expect(out.text).toContain('with 0 of 100000 workgroups done');
  });
});
