// The HSA runtime library on the virtual GPU: the programs of tests/native under `wavesmith exec`.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exec, nativeTests } from './support/native.ts';

const native = nativeTests();

describe.skipIf(native === undefined)('libhsa-runtime64', () => {
  const { file, kernels } = native ?? { file: String, kernels: String };

  for (const part of ['signals', 'queues', 'memory', 'virtual-memory', 'copies', 'executables', 'errors']) {
    it(`passes its tests of ${part}`, async () => {
      const run = await exec([file('hsa-tests'), kernels('gfx942'), kernels('gfx90a'), part]);
      expect(run, run.stderr).toMatchObject({ status: 0, stdout: `ok ${part}\n` });
    });
  }

  it('shows the agents, the instruction set and shared memory', async () => {
    const run = await exec([file('hsa-agents')], { options: ['--device', 'sim:gfx90a'] });
    expect(run.status, run.stderr).toBe(0);
    expect(run.stdout).toMatch(/^agent GPU gfx90a$/m);
    expect(run.stdout).toMatch(/^agent CPU /m);
    expect(run.stdout).toContain('isa amdgcn-amd-amdhsa--gfx90a');
    expect(run.stdout).toContain('memory shared');
  });

  for (const target of ['gfx90a', 'gfx942', 'gfx950']) {
    it(`dispatches AQL packets on ${target}`, async () => {
      const run = await exec([file('hsa-dispatch'), kernels(target)], { options: ['--device', `sim:${target}`] });
      expect(run.status, run.stderr).toBe(0);
      expect(run.stdout).toMatch(/^ok, launch to completion/);
    });
  }

  it('ends a program whose kernel touches memory nobody owns, as the driver does', async () => {
    const run = await exec([file('hsa-dispatch'), kernels('gfx942'), '--fault']);
    expect(run.status).toBe(128 + 6);
    expect(run.stderr).toMatch(
      /Memory access fault by GPU node-1 \(Agent handle: 0x[0-9a-f]+\) on address 0x123456789000/,
    );
    expect(run.stderr).toMatch(/error\[sim\/memory-fault\]: .*'scale'/);
  });

  it('stops a kernel at its budget', async () => {
    const run = await exec([file('hsa-dispatch'), kernels('gfx942')], { options: ['--budget', '20'] });
    expect(run.status).toBe(128 + 6);
    expect(run.stderr).toContain('sim/budget');
  });

  it('refuses code objects of another target and says which it is', async () => {
    const run = await exec([file('hsa-dispatch'), kernels('gfx90a')]);
    expect(run.status).toBe(2);
    expect(run.stderr).toContain('The code object is for gfx90a, the device is gfx942.');
  });

  it('checks every kernel of the program strictly, and reports what it finds', async () => {
    const clean = await exec([file('hsa-dispatch'), kernels('gfx942')], { options: ['--check'] });
    expect(clean.status, clean.stderr).toBe(0);
    expect(clean.stderr).toBe('');
    // The same kernel without the wait for its load.
    const code = readFileSync(kernels('gfx942'));
    const wait = Buffer.from([0x70, 0x0f, 0x8c, 0xbf]);
    const nop = Buffer.from([0x00, 0x00, 0x80, 0xbf]);
    for (let at = code.indexOf(wait); at >= 0; at = code.indexOf(wait)) nop.copy(code, at);
    const broken = join(mkdtempSync(join(tmpdir(), 'wavesmith-check-')), 'broken.co');
    writeFileSync(broken, code);
    const found = await exec([file('hsa-dispatch'), broken], { options: ['--check'] });
    expect(found.status).toBe(1);
    expect(found.stdout).toContain('ok, launch');
    expect(found.stderr).toMatch(/^scale \(pc 0x[0-9a-f]+\): error\[waits\/read-before-return\]: /m);
    const none = await exec([file('hsa-dispatch'), broken], { options: ['--check', '--fail-on', 'none'] });
    rmSync(dirname(broken), { recursive: true });
    expect(none.status).toBe(0);
  });

  it('refuses options that make no sense', async () => {
    for (const [options, message] of [
      [['--device', 'sim:gfx803'], "'sim:gfx803' is not a device."],
      [['--mfma', 'rough'], "--mfma is exact or fast, not 'rough'."],
      [['--workers', '0'], "--workers takes a whole number from 1, not '0'."],
      [['--budget', 'much'], "--budget takes a whole number from 1, not 'much'."],
    ] as const) {
      const run = await exec(['true'], { options });
      expect(run.status).not.toBe(0);
      expect(run.stderr).toContain(message);
    }
  });

  it('gives the exit status of the program', async () => {
    expect((await exec(['sh', '-c', 'exit 7'])).status).toBe(7);
    expect((await exec(['sh', '-c', 'kill -SEGV $$'])).status).toBe(128 + 11);
    expect((await exec(['./no-such-program'])).status).toBe(127);
  });
});

describe.skipIf(native === undefined)('a tool of HSA_TOOLS_LIB', () => {
  const { file, kernels } = native ?? { file: String, kernels: String };
  const env = { HSA_TOOLS_LIB: file('libhsa-tool.so') };

  it('sees code objects, kernels, allocations and packets, and is unloaded', async () => {
    const run = await exec([file('hsa-dispatch'), kernels('gfx942')], { env });
    expect(run.status, run.stderr).toBe(0);
    expect(run.stderr).toMatch(/^tool: loaded, table version \d+, 0 failed before$/m);
    expect(run.stderr).toMatch(/^tool: code object of \d{4,} bytes$/m);
    for (const kernel of ['scale.kd', 'triple_plus_one.kd', 'burn.kd']) {
      expect(run.stderr).toContain(`tool: kernel ${kernel}\n`);
    }
    expect(run.stderr).toContain('tool: allocation of 4000 bytes\n');
    expect(run.stderr.match(/tool: dispatch of scale.kd, 1000 work-items/g)).toHaveLength(201);
    expect(run.stderr.trimEnd().endsWith('tool: unloaded')).toBe(true);
  });

  it('replaces the kernel of a packet', async () => {
    const run = await exec([file('hsa-dispatch'), kernels('gfx942')], {
      env: { ...env, TOOL_REPLACE: 'triple_plus_one.kd' },
    });
    expect(run.status).toBe(1);
    expect(run.stderr).toContain('element 0 is 1\n');
  });

  it('is reported when it cannot be loaded, and the next one is told', async () => {
    const run = await exec([file('hsa-dispatch'), kernels('gfx942')], {
      env: { HSA_TOOLS_LIB: `no-such-tool.so ${env.HSA_TOOLS_LIB}`, HSA_TOOLS_REPORT_LOAD_FAILURE: '1' },
    });
    expect(run.status, run.stderr).toBe(0);
    expect(run.stderr).toMatch(/Tool lib "no-such-tool.so" failed to load/);
    expect(run.stderr).toMatch(/^tool: loaded, table version \d+, 1 failed before$/m);
  });
});
