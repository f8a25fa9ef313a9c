// Hooks: compiled device functions at every instruction count what the virtual GPU counts and change nothing; bad ones are refused with a reason.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { wavesmith } from './support/cli.ts';
import { kernelSource } from './support/kernel-source.ts';
import { llvmTool } from './support/llvm.ts';
import { sharedPath } from './support/shared.ts';

const triton = sharedPath('corpus', 'triton', 'add_f32.gfx950.hsaco');
const folder = mkdtempSync(join(tmpdir(), 'probe-hooks-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const line = [
  ...['run', triton ?? '', '--kernel', 'add_kernel', '--grid', '2', '--block', '256', '--arg', 'f32[2000]=random'],
  ...['--arg', 'f32[2000]=iota', '--arg', 'f32[2000]', '--arg', 'i32=2000', '--arg', 'i64[8]', '--arg', 'i64[8]'],
];

async function hook(source: string, ...more: string[]) {
  const file = join(folder, 'hook.hip');
  writeFileSync(file, `#include <wavesmith/hook.h>\n${source}`);
  return wavesmith('probe', '--tool', file, '--json', ...more, '--', ...line);
}

describe.skipIf(triton === undefined || llvmTool('clang++') === undefined)('hooks', () => {
  test('before every instruction count what the virtual GPU executes, and change nothing', async () => {
    const plain = JSON.parse((await wavesmith(...line, '--json')).out);
    const { out, err } = await hook(
      `WAVESMITH_VARIABLE unsigned long long count, lanes; WAVESMITH_VARIABLE unsigned last;
       WAVESMITH_HOOK("before every") void counted() {
         const unsigned long long on = wavesmith::exec();
         const unsigned lane = wavesmith::laneId();
         if (lane == __builtin_ctzll(on)) { wavesmith::atomicAdd(&count, 1); wavesmith::atomicAdd(&lanes, __builtin_popcountll(on)); }
         last = wavesmith::pc();
       }`,
      '--self-check',
    );
    const report = JSON.parse(out);
    expect(err).toContain('self-check: every buffer is as the original leaves it');
    expect(report.complete).toBe(true);
    expect(report.run.buffers).toEqual(plain.buffers);
    const counted = JSON.parse((await wavesmith('probe', '--tool', 'instr-count', '--json', '--', ...line)).out);
    expect(counted.instructions).toBe(plain.instructions);
    // A hook runs for active lanes: instructions that no lane runs add nothing.
    expect(report.variables.lanes).toBe(counted.threadInstructions);
    expect(report.variables.count).toBeLessThanOrEqual(plain.instructions);
    expect(report.variables.last).toBeGreaterThan(0x1700);
  });

  test('once for the wave count every instruction, and may call functions that are not inline', async () => {
    const plain = JSON.parse((await wavesmith(...line, '--json')).out);
    const { out } = await hook(
      `WAVESMITH_VARIABLE unsigned long long count, lanes, odd;
       __attribute__((noinline)) static unsigned once(unsigned x) { return x & 1; }
       __attribute__((noinline)) unsigned twice(unsigned x) { return once(x) + once(x + 1); }
       WAVESMITH_WAVE_HOOK("before every") void counted() {
         wavesmith::atomicAdd(&count, 1);
         wavesmith::atomicAdd(&lanes, __builtin_popcountll(wavesmith::exec()));
         wavesmith::atomicAdd(&odd, twice(wavesmith::pc()));
       }`,
    );
    const { variables, run, complete } = JSON.parse(out);
    expect(complete).toBe(true);
    expect(run.buffers).toEqual(plain.buffers);
    expect(variables).toMatchObject({ count: plain.instructions, odd: plain.instructions });
    const counted = JSON.parse((await wavesmith('probe', '--tool', 'instr-count', '--json', '--', ...line)).out);
    expect(variables.lanes).toBe(counted.threadInstructions);
  });

  /** Compiles hooks as anybody would, functions stay functions. */
  const objectOf = (source: string, target: string, name: string): string => {
    const [file, object] = [join(folder, `${name}.cpp`), join(folder, `${name}.o`)];
    writeFileSync(file, `#include <wavesmith/hook.h>\n${source}`);
    const args = ['-w', '-x', 'c++', '-std=c++17', '--target=amdgcn-amd-amdhsa', `-mcpu=${target}`, '-nogpulib', '-O2'];
    const include = join(import.meta.dirname, '..', 'native', 'hook');
    const clang = llvmTool('clang++') as string;
    const { status, stderr } = spawnSync(clang, [...args, '-ffreestanding', '-I', include, '-c', file, '-o', object]);
    expect(String(stderr)).toBe('');
    expect(status).toBe(0);
    return object;
  };

  test('in an object file call functions, with what those keep on the stack', async () => {
    const plain = JSON.parse((await wavesmith(...line, '--json')).out);
    const object = objectOf(
      `WAVESMITH_VARIABLE unsigned long long count, sum, lanes;
       __attribute__((noinline)) static unsigned leaf(unsigned x) { return x * 2 + 1; }
       __attribute__((noinline)) unsigned loop(unsigned x, unsigned y) {
         unsigned s = 0;
         for (unsigned i = 0; i < x; i++) s += leaf(x + i) * y + leaf(y);
         return s;
       }
       __attribute__((noinline)) void add(unsigned long long x) { wavesmith::atomicAdd(&sum, x); }
       WAVESMITH_WAVE_HOOK("before every") void counted() {
         wavesmith::atomicAdd(&count, 1);
         add(loop(3, leaf(2)));
       }
       WAVESMITH_HOOK("before store(v0)") void stored(unsigned v) {
         if (wavesmith::laneId() < 7) wavesmith::atomicAdd(&lanes, leaf(wavesmith::laneId()));
       }`,
      'gfx950',
      'calls',
    );
    const { out, err, code } = await wavesmith('probe', '--tool', object, '--json', '--self-check', '--', ...line);
    expect(err).toContain('self-check: every buffer is as the original leaves it');
    expect(code).toBe(0);
    const { variables, run, complete } = JSON.parse(out);
    expect(complete).toBe(true);
    expect(run.buffers).toEqual(plain.buffers);
    // leaf(2) is 5; the turns are (7 + 9 + 11) · 5 + 3 · leaf(5).
    expect(variables.count).toBe(plain.instructions);
    expect(variables.sum).toBe(plain.instructions * (27 * 5 + 3 * 11));
    expect(variables.lanes % (1 + 3 + 5 + 7 + 9 + 11 + 13)).toBe(0);
    expect(variables.lanes).toBeGreaterThan(0);
  });

  test.each([
    [
      'gfx950',
      'unsigned other(unsigned); WAVESMITH_HOOK("block") void f() { n = other(n); }',
      /'_Z5otherj'.*not in the file/,
    ],
    [
      'gfx950',
      'WAVESMITH_HOOK("block") void f() { unsigned m = n & 7; unsigned *a = (unsigned *)__builtin_alloca(4 * m + 4); for (unsigned i = 0; i <= m; i++) a[i] = i * m; n = a[m >> 1]; }',
      /'f' cannot be used: it needs stack memory of a size that is not known/,
    ],
    [
      'gfx950',
      'unsigned g(unsigned x) { return x < 3 ? x : g(x - 1) + g(x - 2); } WAVESMITH_HOOK("block") void f() { n = g(n); }',
      /it calls '_Z1gj', which calls itself/,
    ],
    ['gfx90a', 'WAVESMITH_HOOK("block") void f() { n++; }', /are compiled for gfx90a, not for gfx950/],
    ['gfx1100', 'WAVESMITH_HOOK("block") void f() { n++; }', /compiled for another processor/],
  ])('in an object file are refused with what is wrong (%s): %s', async (target, source, reason) => {
    const object = objectOf(`WAVESMITH_VARIABLE unsigned n; ${source}`, target, 'refused');
    const { code, err } = await wavesmith('probe', '--tool', object, '--', ...line);
    expect(code).toBe(1);
    expect(err).toMatch(reason);
  });

  test('write registers of the kernel and choose the lanes that run them', async () => {
    const plain = JSON.parse((await wavesmith(...line, '--json')).out);
    const { out } = await hook(
      `WAVESMITH_VARIABLE unsigned long long lanes, seen;
       WAVESMITH_HOOK("before =global_store") void changed() {
         wavesmith::writeExec(wavesmith::exec() & 0xff);
         wavesmith::writeReg<wavesmith::v(0)>(wavesmith::pc());
         wavesmith::writeSgpr<3>(wavesmith::laneId() + 77);
       }
       WAVESMITH_WAVE_HOOK("kernel-exit") void counted() {
         wavesmith::atomicAdd(&lanes, __builtin_popcountll(wavesmith::exec()));
         wavesmith::atomicAdd(&seen, wavesmith::readReg<wavesmith::s(3)>());
       }`,
    );
    const { variables, run } = JSON.parse(out);
    expect(run.buffers).not.toEqual(plain.buffers);
    // 8 waves; eight lanes of each.
    expect(variables).toMatchObject({ lanes: 64, seen: 8 * 77 });
  });

  test('and other probes run in one workgroup only when asked to', async () => {
    const counts: number[] = [];
    for (const more of [[], ['--workgroup', '0'], ['--workgroup', '1,0,0'], ['--workgroup', '2']]) {
      const { out } = await wavesmith('probe', '--tool', 'instr-count', '--json', ...more, '--', ...line);
      counts.push(JSON.parse(out).instructions);
    }
    const [all = 0, first = 0, second = 0, none] = counts;
    expect(first).toBeGreaterThan(0);
    expect(first + second).toBe(all);
    expect(none).toBe(0);
    const wrong = await wavesmith('probe', '--tool', 'instr-count', '--workgroup', '1,x', '--', ...line);
    expect(wrong.err).toContain('is no position');
  });

  test('keep VCC and M0 of the kernel where they write them', async () => {
    const plain = JSON.parse((await wavesmith(...line, '--json')).out);
    const { out } = await hook(
      `WAVESMITH_VARIABLE unsigned set;
       WAVESMITH_WAVE_HOOK("kernel-entry") void first() { wavesmith::writeReg<wavesmith::vcc_lo>(41); wavesmith::writeReg<wavesmith::m0>(500); }
       WAVESMITH_HOOK("before =s_endpgm") void last() {
         asm volatile("s_mov_b64 vcc, 0\\n s_mov_b32 m0, 0" ::: "vcc", "m0");
         set = wavesmith::readReg<wavesmith::m0>();
       }`,
    );
    const { variables, run, complete } = JSON.parse(out);
    expect(complete).toBe(true);
    expect(run.buffers).toEqual(plain.buffers);
    expect(variables.set).toBe(500);
  });

  test('get what their points say as arguments', async () => {
    const { out } = await hook(
      `using namespace wavesmith;
       WAVESMITH_VARIABLE u64 addresses, sizes, ones, masks, wave; WAVESMITH_VARIABLE u32 different, largest;
       WAVESMITH_HOOK("before global(address, size, 7, exec)") void access(u64 address, u32 size, u32 seven, u64 mask) {
         atomicAdd(&sizes, size);
         atomicAdd(&ones, seven);
         if (mask != exec()) atomicAdd(&different, 1);
         atomicAdd(&addresses, address & 0xfff);
         atomicMax(&largest, laneId());
       }
       WAVESMITH_HOOK("after =global_load|(data, pc, v4)") void loaded(u32 data, u32 at, u32 v4) {
         if (at != pc() || v4 != readReg<v(4)>()) atomicAdd(&different, 1);
         atomicAdd(&masks, data != 0);
       }
       WAVESMITH_WAVE_HOOK("before =s_endpgm|(exec, s6, s[2:3])") void ended(u64 mask, u32 s6, u64 pair) {
         if (s6 != readReg<s(6)>() || pair != readSgpr<2>() + (u64(readSgpr<3>()) << 32)) atomicAdd(&different, 1);
         atomicAdd(&wave, __builtin_popcountll(mask));
       }`,
      '--self-check',
    );
    const { variables, complete } = JSON.parse(out);
    const traced = JSON.parse((await wavesmith('probe', '--tool', 'mem-trace', '--json', '--', ...line)).out);
    const accesses = traced.accesses as { bytes: number; addresses: string[] }[];
    const lanes = accesses.reduce((sum, { addresses }) => sum + addresses.length, 0);
    expect(complete).toBe(true);
    expect(variables).toMatchObject({
      different: 0,
      ones: 7 * lanes,
      sizes: accesses.reduce((sum, { bytes, addresses }) => sum + bytes * addresses.length, 0),
      addresses: accesses.reduce(
        (sum, { addresses }) => addresses.reduce((all, a) => all + Number(BigInt(a) & 0xfffn), sum),
        0,
      ),
      largest: 63,
      // The last waves are not whole.
      wave: 500,
    });
    // Two loads of 500 lanes; the first number of one is zero.
    expect(variables.masks).toBe(999);
  });

  test('use every function of the header', async () => {
    const source = join(folder, 'every.s');
    writeFileSync(
      source,
      kernelSource({
        code: `v_mov_b32_e32 v1, 21
          v_accvgpr_write_b32 a0, v1
          s_mov_b32 s6, 9
          s_mov_b64 vcc, 5
          s_mov_b32 m0, 3
          s_nop 0
          s_nop 1
          v_accvgpr_read_b32 v2, a0
          s_add_u32 s6, s6, m0
          v_add_u32_e32 v2, s6, v2
          v_add_u32_e32 v2, vcc_lo, v2
          s_load_dwordx2 s[4:5], s[0:1], 0x0
          v_mov_b32_e32 v3, 0
          s_waitcnt lgkmcnt(0)
          global_store_dword v3, v2, s[4:5]`,
        args: [
          [8, 'global_buffer'],
          [4, 'hidden_block_count_x'],
          [4, 'hidden_block_count_y'],
        ],
        descriptor: { system_vgpr_workitem_id: 2, next_free_vgpr: 12, accum_offset: 8 },
        metadata: { '.agpr_count': 4, '.vgpr_count': 12 },
      }),
    );
    const object = join(folder, 'every.co');
    expect((await wavesmith('asm', source, '-o', object)).err).toBe('');
    const file = join(folder, 'every.hip');
    writeFileSync(
      file,
      `#include <wavesmith/hook.h>
       using namespace wavesmith;
       WAVESMITH_VARIABLE u32 grid[3], block[3], size[3], group[3], wrong, sum, least, most, ands, ors, xors;
       WAVESMITH_HOOK("before =s_nop 1|(workItemX, workItemY, workItemZ, waveId, a0)")
       void seen(u32 x, u32 y, u32 z, u32 wave, u32 a0) {
         const Dim3 g = gridDim(), b = blockDim(), all = gridSize(), w = workgroupId();
         grid[0] = g.x, grid[1] = g.y, grid[2] = g.z;
         block[0] = b.x, block[1] = b.y, block[2] = b.z;
         size[0] = all.x, size[1] = all.y, size[2] = all.z;
         group[0] = w.x, group[1] = w.y, group[2] = w.z;
         auto* const hidden = reinterpret_cast<Constant32*>(implicitArgPtr());
         auto* const packet = reinterpret_cast<Constant32*>(dispatchPtr());
         if (implicitArgPtr() != kernargPtr() + 8 || hidden[0] != g.x || hidden[1] != g.y || packet[1] >> 16 != b.y) atomicAdd(&wrong, 1);
         if (x + b.x * (y + b.y * z) != 64 * wave + laneId()) atomicAdd(&wrong, 0x100);
         if (a0 != 21 || readAgpr<0>() != 21 || readReg<a(0)>() != 21 || readVgpr<1>() != 21 || readReg<v(1)>() != 21) atomicAdd(&wrong, 0x10000);
         if (readSgpr<6>() != 9 || readReg<s(6)>() != 9 || readReg<vcc_lo>() != 5 || readReg<vcc_hi>() != 0 || readReg<m0>() != 3) atomicAdd(&wrong, 0x1000000);
         if (startTime() == 0 || exec() != ~0ull || pc() == 0) atomicAdd(&wrong, 0x2000000);
         atomicSub(&sum, 1);
         atomicMax(&most, laneId() + 5);
         atomicMin(&least, 3);
         atomicOr(&ors, 1u << (laneId() & 7));
         atomicAnd(&ands, 1);
         atomicXor(&xors, laneId());
       }
       WAVESMITH_HOOK("after =s_nop 0") void changed() {
         writeReg<v(1)>(readVgpr<1>());
       }
       WAVESMITH_HOOK("after =s_nop 1") void written() {
         writeAgpr<0>(readAgpr<0>() + 100);
         writeSgpr<6>(1000);
         writeReg<m0>(10000);
         writeReg<vcc_lo>(100000);
         writeExec(1);
       }`,
    );
    const launch = ['run', object, '--kernel', 'k', '--grid', '3,2', '--block', '16,8,2', '--arg', 'u32[1]'];
    const { out, err } = await wavesmith(
      'probe',
      '--tool',
      file,
      '--json',
      '--',
      ...launch,
      '--out',
      `0=${folder}/out.npy`,
    );
    expect(err).not.toContain('error');
    const { variables, complete } = JSON.parse(out);
    expect(complete).toBe(true);
    expect(variables).toMatchObject({ grid: [3, 2, 1], block: [16, 8, 2], size: [48, 16, 2], wrong: 0 });
    expect(variables).toMatchObject({ sum: 2 ** 32 - 6 * 256, most: 68, least: 0, ands: 0, ors: 255, xors: 0 });
    expect(readFileSync(join(folder, 'out.npy')).readUInt32LE(128)).toBe(111_121);
  });

  test('read registers of the kernel and its arguments', async () => {
    const { out } = await hook(
      `WAVESMITH_VARIABLE unsigned value, argument, x;
       WAVESMITH_HOOK("after =global_load") void seen() {
         if (wavesmith::laneId() == 3) {
           value = wavesmith::readVgpr<0>();
           argument = reinterpret_cast<wavesmith::Constant32*>(wavesmith::kernargPtr())[6];
           x = wavesmith::workgroupId().x;
         }
       }`,
    );
    const { variables, complete } = JSON.parse(out);
    expect(complete).toBe(true);
    expect(variables.argument).toBe(2000);
    expect([0, 1]).toContain(variables.x);
  });

  test.each([
    ['', 'has no hook'],
    ['WAVESMITH_HOOK("nowhere") void f() {}', "is at 'nowhere', which is no point"],
    ['WAVESMITH_VARIABLE unsigned n = 5; WAVESMITH_HOOK("block") void f() { n++; }', 'does not begin as zeros'],
    ['WAVESMITH_VARIABLE unsigned n; WAVESMITH_HOOK("block") void f(unsigned a) { n = a; }', 'which it does not write'],
    [
      'WAVESMITH_VARIABLE unsigned n; unsigned g(unsigned x) { return x < 3 ? x : g(x - 1) + g(x - 2); } WAVESMITH_HOOK("block") void f() { n = g(n); }',
      "'f' cannot be used",
    ],
    ['WAVESMITH_HOOK("block") void f() { nothing(); }', 'probe/source'],
    [
      'WAVESMITH_VARIABLE unsigned n; WAVESMITH_HOOK("block(address)") void f(unsigned long long a) { n = a; }',
      'probe/no-address',
    ],
    ['WAVESMITH_VARIABLE unsigned n; WAVESMITH_HOOK("block(v999)") void f(unsigned a) { n = a; }', 'probe/register'],
    ['WAVESMITH_VARIABLE unsigned n; WAVESMITH_WAVE_HOOK("block(v1)") void f(unsigned a) { n = a; }', 'by lane'],
  ])('are refused with a reason: %s', async (source, reason) => {
    const { code, err } = await hook(source);
    expect(code).toBe(1);
    expect(err).toContain(reason);
  });
});
