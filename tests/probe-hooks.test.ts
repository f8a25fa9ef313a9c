// Hooks: compiled device functions at every instruction count what the virtual GPU counts and change nothing; bad ones are refused with a reason.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { wavesmith } from './support/cli.ts';
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

describe.skipIf(triton === undefined || llvmTool('clang++') === undefined)('hooks', { timeout: 60_000 }, () => {
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
  ])('are refused with a reason: %s', async (source, reason) => {
    const { code, err } = await hook(source);
    expect(code).toBe(1);
    expect(err).toContain(reason);
  });
});
