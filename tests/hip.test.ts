// HIP programs, compiled by clang and unmodified, on the virtual GPU: tests/hip/*.cpp. Each checks itself and prints `ok`.
// In `npm test` most programs run for one target each; `npm run hip` (WAVESMITH_HIP_TARGETS=all) runs every program for every target.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { TargetName } from '../src/isa/types.ts';
import { canCompileHip, compileHip, execHip, type HipProgram, nativeLibraries, root, run } from './support/hip.ts';

const ALL: readonly TargetName[] = ['gfx90a', 'gfx942', 'gfx950'];
const all = process.env.WAVESMITH_HIP_TARGETS === 'all';
/** Targets that cases run on in turn where one is enough. */
const TURNS: readonly TargetName[] = ['gfx90a', 'gfx942'];

interface Case {
  readonly name: string;
  readonly sources?: readonly string[];
  readonly flags?: readonly string[];
  /** The library it is linked with; 5 without. */
  readonly library?: 5 | 6 | 7;
  /** Targets it runs on, and is compiled for; without, one of TURNS, or all targets with WAVESMITH_HIP_TARGETS=all. */
  readonly targets?: readonly TargetName[];
  /** Arguments of the program. */
  readonly args?: (target: TargetName) => Promise<readonly string[]> | readonly string[];
}

const moduleKernels: HipProgram = { sources: ['module_kernels'], targets: ALL, deviceOnly: true };

const CASES: readonly Case[] = [
  { name: 'vector_add', targets: ALL },
  // They call functions of HIP 6.
  { name: 'answers', library: 6, targets: ['gfx942'] },
  { name: 'arguments', library: 6 },
  { name: 'at_exit', targets: ['gfx942'] },
  { name: 'atomics', targets: ALL },
  // Functions up to HIP 7.2, and its numbers of kinds of memory.
  { name: 'batches', library: 7, targets: ['gfx942'], flags: ['-DHOST_TYPE=1', '-DDEVICE_TYPE=2'] },
  // The grid's barrier of gfx942 is in memory, that of others is ds_gws_barrier.
  { name: 'cooperative', targets: ALL },
  { name: 'concurrent', targets: ['gfx942'] },
  { name: 'copies' },
  { name: 'devices' },
  { name: 'errors' },
  // The last error of HIP 7 is another than that of the versions before.
  { name: 'errors', library: 7, targets: ['gfx942'] },
  { name: 'events' },
  { name: 'far_words', targets: ['gfx942'] },
  { name: 'fills' },
  { name: 'graphs' },
  { name: 'graphs', library: 7, targets: ['gfx942'] },
  { name: 'half', targets: ALL },
  { name: 'heap' },
  { name: 'host_atomics', targets: ALL },
  { name: 'illegal' },
  { name: 'interop', library: 7, targets: ['gfx942'] },
  { name: 'ipc', targets: ['gfx942'] },
  { name: 'large_memory', targets: ALL },
  { name: 'lds', targets: ALL },
  { name: 'math' },
  { name: 'memory_kinds' },
  { name: 'modules', args: async () => [await compileHip(moduleKernels)] },
  { name: 'occupancy', targets: ALL, library: 6 },
  { name: 'per_thread', flags: ['-fgpu-default-stream=per-thread'] },
  { name: 'pointers', flags: ['-DHIP_MAJOR=5'] },
  { name: 'properties', targets: ALL, args: (target) => [target] },
  { name: 'rdc', sources: ['rdc', 'rdc_other'], flags: ['-fgpu-rdc'] },
  { name: 'registration', sources: ['registration', 'registration_other'] },
  {
    name: 'registration of compressed code',
    sources: ['registration', 'registration_other'],
    flags: ['--offload-compress'],
    targets: ALL,
  },
  { name: 'sizes' },
  { name: 'more_sizes', targets: ['gfx942'] },
  { name: 'most_memory', targets: ['gfx942'] },
  // The same sizes through the functions whose names end in _spt.
  ...['sizes', 'more_sizes'].map(
    (source): Case => ({
      name: `${source} per thread`,
      sources: [source],
      targets: ['gfx942'],
      flags: ['-fgpu-default-stream=per-thread'],
    }),
  ),
  { name: 'stream_values' },
  { name: 'streams' },
  { name: 'symbols' },
  // Older code objects find sizes and services elsewhere.
  { name: 'lds as code object version 4', sources: ['lds'], flags: ['-mcode-object-version=4'] },
  { name: 'heap as code object version 5', sources: ['heap'], flags: ['-mcode-object-version=5'] },
  { name: 'templates' },
  { name: 'textures' },
  { name: 'texture_references', flags: ['-Wno-deprecated-declarations'] },
  { name: 'threads' },
  { name: 'trap' },
  { name: 'virtual_memory', targets: ['gfx942'] },
  { name: 'wavefront', targets: ALL },
];

const programOf = ({ name, sources, flags, library, targets }: Case): HipProgram => ({
  sources: sources ?? [name],
  targets: targets ?? ALL,
  ...(flags === undefined ? {} : { flags }),
  ...(library === undefined ? {} : { library }),
});

/** A program for gfx942. */
const usual = (name: string, flags?: readonly string[]): Promise<string> =>
  compileHip({ sources: [name], targets: ['gfx942'], ...(flags === undefined ? {} : { flags }) });

const PRINTED = `before
integers -1    42|42   |+7 4000000000 ff FF 10 0x10 z
long -1234567890123 18446744073709551615 10000000000 -5 -6
floating 1.500000 3.14 1.235e+04 0.0001 0x1p-1
strings 'of the host' '     right' 'left  ' 'tru' 100%
stars     12 2.72
pointer 1
no arguments
a rather long line of text that does not fit into one packet of fifty-six bytes: 1 2 3 4 5 6 7 8 9
between
`;

describe.skipIf(!canCompileHip())('HIP programs', { concurrent: true }, () => {
  for (const [n, entry] of CASES.entries()) {
    const targets = entry.targets ?? (all ? ALL : TURNS.slice(n % TURNS.length).slice(0, 1));
    for (const target of targets) {
      test(`${entry.name} on ${target}`, async () => {
        const path = await compileHip(programOf({ ...entry, targets }));
        const args = (await entry.args?.(target)) ?? [];
        const { status, stdout, stderr } = await execHip(target, path, args);
        expect({ status, last: stdout.trimEnd().split('\n').at(-1), stderr }).toMatchObject({ status: 0, last: 'ok' });
      });
    }
  }

  // With host calls each line is printed when its kernel asks; through the buffer, when the kernel has ended.
  for (const [kind, flags] of [
    ['host calls', undefined],
    ['a buffer', ['-mprintf-kind=buffered']],
    ['host calls of code object version 4', ['-mcode-object-version=4']],
  ] as const) {
    test(`printf through ${kind}`, async () => {
      const path = await usual('printf', flags);
      const { status, stdout } = await execHip('gfx942', path);
      expect(status).toBe(0);
      expect(stdout.slice(0, PRINTED.length)).toBe(PRINTED);
      const lines = stdout.slice(PRINTED.length).trimEnd().split('\n');
      expect(lines.slice(-2)).toEqual(['after', 'ok']);
      const expected = [0, 1].flatMap((block) =>
        Array.from({ length: 70 }, (_, thread) => [
          `thread ${thread} of block ${block}`,
          ...(thread % 2 === 1 ? [`odd ${thread}`] : []),
        ]).flat(),
      );
      expect(lines.slice(0, -2).sort()).toEqual(expected.sort());
    });
  }

  test('clocks: workgroups that wait for a time of the host wait together', async () => {
    const path = await compileHip({ sources: ['clocks'], targets: ['gfx942'] });
    expect(await execHip('gfx942', path, [], ['--clock', 'host'])).toEqual({ status: 0, stdout: 'ok\n', stderr: '' });
  });

  test('a program sees as many devices as it is given', async () => {
    const program = await usual('several_devices');
    const ran = await execHip('gfx942', program, [], ['--devices', '3']);
    expect(ran).toEqual({ status: 0, stdout: 'ok\n', stderr: '' });
  });

  test.each([
    [{ HIP_VISIBLE_DEVICES: '3,1' }, [3, 1]],
    [{ CUDA_VISIBLE_DEVICES: '2' }, [2]],
    // What is none ends a list; HIP overlooks what is named twice, HSA ends its list there.
    [{ HIP_VISIBLE_DEVICES: '1,1,2,x,0' }, [1, 2]],
    [{ ROCR_VISIBLE_DEVICES: '1,1,2' }, [1]],
    [{ ROCR_VISIBLE_DEVICES: '-1' }, []],
    [{ ROCR_VISIBLE_DEVICES: '' }, []],
    [{ ROCR_VISIBLE_DEVICES: 'gpu-7761766573696d02, 0' }, [2, 0]],
    [{ ROCR_VISIBLE_DEVICES: '3,1,2', HIP_VISIBLE_DEVICES: '2,0' }, [2, 3]],
  ])('%j shows devices %j of four', async (environment, buses) => {
    const ran = await execHip('gfx942', await usual('visible'), [], ['--devices', '4'], environment);
    expect(ran).toEqual({ status: 0, stdout: [...buses.map((bus) => `${bus}\n`), 'ok\n'].join(''), stderr: '' });
  });

  test('programs of HIP 6 get its memory types', async () => {
    const path = await compileHip({ sources: ['pointers'], targets: ['gfx942'], flags: ['-DHIP_MAJOR=6'], library: 6 });
    expect(await execHip('gfx942', path)).toEqual({ status: 0, stdout: 'ok\n', stderr: '' });
  });

  test('an assertion that fails says where, and the error stays', async () => {
    const { status, stderr } = await execHip('gfx942', await usual('assert'));
    expect(stderr).toMatch(/assert\.cpp:6: void fails\(int\): Device-side assertion `.*< limit' failed\./);
    expect(stderr).toContain('error[sim/trap]');
    expect(status).toBe(3);
  });

  for (const [kind, what] of [
    ['far', 'store of 4 bytes at 0x'],
    ['null', 'load of 4 bytes at 0x0 '],
    ['freed', 'store of 4 bytes at 0x'],
    ['pageable', 'load of 4 bytes at 0x'],
  ] as const) {
    test(`a memory fault (${kind}) ends the program with address and kernel`, async () => {
      const { status, stdout, stderr } = await execHip('gfx942', await usual('fault'), [kind]);
      expect(stderr).toContain(what);
      expect(stderr).toMatch(/In kernel '_Z\d+(out_of_bounds|null_pointer)/);
      expect(stderr).toMatch(/Memory access fault by GPU node-1 \(Agent handle: 0x[0-9a-f]+\) on address 0x[0-9a-f]+/);
      expect(stdout).not.toContain('still here');
      expect(status).toBe(134);
    });
  }

  test.each(['null', 'aperture', 'trap'])('HIP 7: after a fault (%s) every call gives its error', async (kind) => {
    const path = await compileHip(programOf({ name: 'after_fault', library: 7, targets: ['gfx942'] }));
    const { status, stdout, stderr } = await execHip('gfx942', path, [kind]);
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'ok\n' });
    expect(stderr).toMatch(/In kernel '_Z\d+(stores|traps)/);
    if (kind === 'trap') return;
    const aborted = await execHip('gfx942', path, [kind], [], { HIP_SKIP_ABORT_ON_GPU_ERROR: '0' });
    expect([aborted.status, aborted.stdout]).toEqual([134, '']);
  });

  test('small allocations lie as ROCm places them: what goes over the end of one runs, and --check names it', async () => {
    for (const options of [[], ['--timing']]) {
      expect((await execHip('gfx942', await usual('fault'), ['near'], options)).stdout).toBe('still here\n');
    }
    const { status, stderr } = await execHip('gfx942', await usual('fault'), ['near'], ['--check']);
    expect([status, stderr]).toEqual([1, expect.stringContaining('memory/out-of-bounds')]);
  });

  test("a program without code for the device gets HIP's error, and is told what it carries", async () => {
    const path = await compileHip({
      sources: ['vector_add'],
      targets: ['gfx90a:xnack+', 'gfx950'],
    });
    const { status, stderr } = await execHip('gfx942', path);
    expect(stderr).toContain('the program carries code for gfx90a:xnack+, gfx950; the device is gfx942');
    expect(status).toBe(3);
  });

  test('AMD_LOG_LEVEL logs calls: at 1 those that fail, at 3 all', async () => {
    const program = await usual('errors');
    const loggedAt = async (level: string): Promise<string[]> =>
      (await execHip('gfx942', program, [], [], { AMD_LOG_LEVEL: level })).stderr
        .split('\n')
        .flatMap(
          (line) => /^:[13]:wavesmith: \d+ us: \[pid:\d+ tid:\d+\] (hip\w+: Returned \w+)$/.exec(line)?.[1] ?? [],
        );
    const failed = await loggedAt('1');
    expect(failed).toContain('hipMalloc: Returned hipErrorInvalidValue');
    expect(failed.some((line) => line.endsWith('hipSuccess'))).toBe(false);
    const all = await loggedAt('3');
    expect(all.filter((line) => !line.endsWith('hipSuccess'))).toEqual(failed);
    expect(all.length).toBeGreaterThan(failed.length);
  });

  test('without a device there is none', async () => {
    const path = await compileHip(programOf({ name: 'vector_add', targets: ALL }));
    const environment = { LD_LIBRARY_PATH: nativeLibraries, WAVESMITH_SOCKET: '@wavesmith-absent' };
    const { status, stderr } = await run(path, [], environment);
    expect(stderr).toContain('no process of Wavesmith answers at @wavesmith-absent');
    expect(status).toBe(2);
  });

  test('--check finds bytes that are copied to the host and that nothing has written', async () => {
    const { status, stdout, stderr } = await execHip('gfx942', await usual('unwritten'), [], ['--check']);
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'ok\n' });
    expect(stderr).toContain('warning[memory/uninitialised-copy]: 16 of 256 bytes');
    expect(stderr.match(/warning\[/g)).toHaveLength(1);
  });

  test('--check: a failed assertion is the one finding, and the program hears of it', async () => {
    const path = await compileHip(programOf({ name: 'assert', targets: ALL }));
    for (const target of ['gfx942', 'gfx90a'] as const) {
      const { status, stderr } = await execHip(target, path, [], ['--check']);
      expect({ target, status }).toEqual({ target, status: 3 });
      expect(stderr.match(/error\[(?!sim\/trap)[a-z-]+\/[a-z-]+\]/g)).toEqual(['error[run/stopped]']);
    }
  });

  describe('--check and bugs of published programs', () => {
    const program = (flags: readonly string[] = []): Promise<string> =>
      compileHip({ sources: ['published_bugs'], targets: ['gfx942'], flags: ['-g', ...flags] });
    const source = readFileSync(join(root, 'tests/hip/published_bugs.cpp'), 'utf8').split('\n');
    /** The line of the source that says so, from 1. */
    const lineOf = (name: string): number => source.findIndex((line) => line.endsWith(`// line: ${name}`)) + 1;

    test('LDS of a reduction that is used again without a barrier', async () => {
      const { status, stderr } = await execHip('gfx942', await program(), ['reduction'], ['--check']);
      expect(status).toBe(1);
      expect(stderr).toMatch(new RegExp(`published_bugs\\.cpp:${lineOf('reduction')} \\(pc .*error\\[races/lds\\]`));
      expect(stderr).toMatch(new RegExp(`inlined at .*published_bugs\\.cpp:${lineOf('second sum')}`));
    });

    test('a histogram that writes one element too far', async () => {
      const { status, stderr } = await execHip('gfx942', await program(), ['histogram'], ['--check']);
      expect(status).toBe(1);
      expect(stderr).toContain('error[memory/out-of-bounds]: The atomic of 4 bytes');
      expect(stderr).toMatch(new RegExp(`inlined at .*published_bugs\\.cpp:${lineOf('histogram')}\\n`));
    });

    test('a result that is copied without being written', async () => {
      const { stderr } = await execHip('gfx942', await program(), ['result'], ['--check']);
      expect(stderr).toContain('warning[memory/uninitialised-copy]: 4 of 400 bytes');
    });

    test('nothing in the same programs without them', async () => {
      for (const which of ['reduction', 'histogram', 'result']) {
        const { status, stdout, stderr } = await execHip('gfx942', await program(['-DRIGHT']), [which], ['--check']);
        expect({ which, status, stdout, stderr }).toEqual({ which, status: 0, stdout: 'ok\n', stderr: '' });
      }
    });
  });

  test('--check finds a lock that a wavefront holds against itself in memory of the device', async () => {
    const path = await compileHip(programOf({ name: 'polls', targets: ALL }));
    const { status, stderr } = await execHip('gfx942', path, ['lock'], ['--check']);
    expect(status).not.toBe(0);
    expect(stderr).toMatch(/error\[schedule\/deadlock\]: Wavefront 0 repeats the same loop/);
  });

  test('--check finds the fence that is missing before an announcement', async () => {
    const path = await compileHip({ sources: ['announcements'], targets: ALL, flags: ['-DWRONG'] });
    for (const target of ['gfx942', 'gfx90a'] as const) {
      const { stderr } = await execHip(target, path, [], ['--check']);
      for (const kernel of ['stages', 'ring', 'chain']) {
        expect(stderr).toMatch(
          new RegExp(`error\\[races/(global|unreleased)\\].*\n(?:    .*\n)+  in kernel '_Z\\d+${kernel}`),
        );
      }
    }
  });

  const LATER = all ? TURNS : TURNS.slice(1);
  // Words that others set, grids that wait for all of them, device malloc, packets for the host, votes of a partial wavefront, packed floats with an undefined half.
  test.each([
    ['vector_add', [], TURNS],
    ['cooperative', [], TURNS],
    ['heap', [], LATER],
    ['printf', [], LATER],
    ['lds', [], LATER],
    ['complex', ['3000'], LATER],
    ['polls', [], TURNS],
    ['announcements', [], TURNS],
  ] as const)('--check finds nothing in a program that is right: %s', async (name, args, targets) => {
    const path = await compileHip(programOf({ name, targets: ALL }));
    for (const target of targets) {
      const { status, stdout, stderr } = await execHip(target, path, args, ['--check']);
      expect({ target, status, stderr }).toEqual({ target, status: 0, stderr: '' });
      expect(stdout).toMatch(/^ok$/m);
    }
  });
});
