// Probes in unmodified HIP programs: what they read is what was launched, the programs' output stays, and the counts are the virtual GPU's.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { probeProgram } from '../src/hijack/probe-program.ts';
import { runProgram } from '../src/hijack/program-host.ts';
import { type ProbeDefinition, TOOLS } from '../src/instrument/index.ts';
import { wavesmith } from './support/cli.ts';
import { canCompileHip, compileHip, root } from './support/hip.ts';
import { nativeTests } from './support/native.ts';

const hasHip = nativeTests() !== undefined && canCompileHip();
const device = { kind: 'sim', target: 'gfx942', run: {} } as const;
const count = TOOLS['instr-count'] as unknown as ProbeDefinition;
const common = { device, show: 'none', report: () => {} } as const;

type Triple = [number, number, number];

interface Record {
  status: number;
  complete: boolean;
  codeObjects: {
    problem: string | null;
    instructions: number;
    launches: { kernel: string; dispatches: number; probed: number }[];
    variables: unknown;
    kernels: { kernel: string; workItems: number[]; blockDim: number[]; gridDim: number[] }[];
  }[];
}

async function probe(...args: string[]): Promise<Record & { readonly printed: string }> {
  const { out, err } = await wavesmith('probe', '--json', ...args);
  expect(out, err).toMatch(/^\{/);
  return { ...JSON.parse(out), printed: err };
}

describe.skipIf(!hasHip)('gridDim, read from inside the kernel', () => {
  // What was launched: work-items, workgroup, and the number of workgroups that the kernel must see.
  it.each<[string, Triple, Triple, Triple]>([
    ['affine', [512, 512, 1], [16, 16, 1], [32, 32, 1]],
    ['asta', [1024, 1, 1], [64, 1, 1], [16, 1, 1]],
    ['complex', [10000128, 1, 1], [256, 1, 1], [39063, 1, 1]],
  ])('%s', async (name, workItems, blockDim, gridDim) => {
    const program = await compileHip({ sources: [name], targets: ['gfx942'] });
    const { codeObjects, status, complete, printed } = await probe('--tool', 'kernel-args', '--', program);
    expect({ status, complete }, printed).toEqual({ status: 0, complete: true });
    const kernels = codeObjects.flatMap((code) => code.kernels);
    expect(kernels.length).toBeGreaterThan(0);
    for (const kernel of kernels) expect(kernel).toMatchObject({ workItems, blockDim, gridDim });
    const hooked = await probe('--tool', join(root, 'examples', 'grid.hip'), '--', program);
    expect(hooked.status).toBe(0);
    const [{ variables, launches }] = hooked.codeObjects as [Record['codeObjects'][number]];
    const waves = (launches.length * gridDim[0] * gridDim[1] * blockDim[0] * blockDim[1]) / 64;
    expect(variables).toEqual({ grid: gridDim, block: blockDim, waves });
  });
});

describe.skipIf(!hasHip)('a counted program', () => {
  it.each(['plain', 'streams', 'graph', 'fork', 'dynamic'])(
    '%s prints what it prints, and its counts are exact',
    async (mode) => {
      const program = await compileHip({ sources: ['tools'], targets: ['gfx942'] });
      let instructions = 0;
      const plain = await runProgram(
        { plan: () => ({ kernels: [] }) },
        { ...common, command: [program, mode], onKernel: (_, result) => (instructions += result.instructions) },
      );
      const probed = await probeProgram(count, [program, mode], common);
      expect(probed.run.stdout).toEqual(plain.stdout);
      expect(probed.isClosed).toBe(true);
      expect(probed.codes.reduce((sum, { found }) => sum + Number(found?.instructions), 0)).toBe(instructions);
    },
  );

  it('tells a fault where the program has it', async () => {
    const program = await compileHip({ sources: ['fault'], targets: ['gfx942'] });
    const places: (string | undefined)[] = [];
    const [plain, probed] = [
      await runProgram({ plan: () => ({ kernels: [] }) }, { ...common, command: [program, 'far'] }),
      (await probeProgram(TOOLS['mem-trace'] as unknown as ProbeDefinition, [program, 'far'], common)).run,
    ];
    for (const { fault } of [plain, probed]) places.push(/\(pc 0x[\da-f]+\)/.exec(fault ?? '')?.[0]);
    expect(places[0]).toBeDefined();
    expect(places[1]).toBe(places[0]);
  });

  it('checks itself: each dispatch runs the original too, on the same memory', async () => {
    const program = await compileHip({ sources: ['tools'], targets: ['gfx942'] });
    const { code, err } = await wavesmith('probe', '--tool', 'mem-trace', '--self-check', '--', program, 'plain');
    expect(err).toMatch(/self-check: the memory of [1-9]\d* dispatch\(es\) is as the original leaves it/);
    expect(code).toBe(0);
    const folder = mkdtempSync(join(tmpdir(), 'wavesmith-probe-'));
    try {
      const file = join(folder, 'forgetful.ts');
      writeFileSync(
        file,
        `import { defineProbe, u64 } from 'wavesmith/instrument';
        export default defineProbe({
          name: 'forgetful', summary: '', state: { n: u64() },
          instrument({ program, at }) {
            const stores = program.instructions().filter((one) => one.memory === 'global' && one.isStore);
            for (const one of program.instructions().slice(0, 3)) at.before(one, (p) => p.atomicAdd('n', 1));
            for (const one of stores) at.remove(one);
          },
          report: () => ({}),
        });`,
      );
      const bad = await wavesmith('probe', '--tool', file, '--kernel', 'step', '--self-check', '--', program, 'plain');
      expect(bad.code).toBe(1);
      expect(bad.err).toMatch(
        /error\[probe\/self-check\]: Kernel '_Z4stepPfi''s results change with point 3 of the probe at 0x[0-9a-f]+ \(global_store_dword .*\)\./,
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('runs the probe in chosen dispatches', async () => {
    const program = await compileHip({ sources: ['tools'], targets: ['gfx942'] });
    const args = ['--tool', 'instr-count', '--kernel', 'step', '--dispatch', '1-2', '--', program, 'plain'];
    const [code] = (await probe(...args)).codeObjects;
    expect(code?.launches).toEqual([{ kernel: '_Z4stepPfi', dispatches: 3, probed: 2 }]);
    expect((await wavesmith('probe', ...args.slice(0, 4), '--dispatch', 'some', '--', program)).code).toBe(2);
  });

  it('lets a program end whose main thread has waited: what is probed last is told by exit handlers', async () => {
    const program = await compileHip({ sources: ['graphs'], targets: ['gfx942'] });
    const { status, complete, codeObjects, printed } = await probe('--tool', 'instr-count', '--', program);
    expect({ status, complete }, printed).toEqual({ status: 0, complete: true });
    expect(codeObjects.flatMap(({ launches }) => launches).length).toBeGreaterThan(1);
  });

  it('leaves nothing behind when the tool itself is killed', async () => {
    const program = await compileHip({ sources: ['tools'], targets: ['gfx942'] });
    const folder = mkdtempSync(join(tmpdir(), 'wavesmith-killed-'));
    try {
      // The shell of the program says where it is, and goes on for as long as it is let.
      const pid = join(folder, 'pid');
      const line = `echo $$ > '${pid}'; while '${program}' plain > /dev/null; do :; done`;
      const tool = join(root, 'bin', 'wavesmith');
      const child = spawn(tool, ['probe', '--tool', 'instr-count', '--', 'sh', '-c', line], {
        env: { ...process.env, TMPDIR: folder },
        stdio: 'ignore',
      });
      const ended = new Promise((resolve) => child.on('exit', resolve));
      while (!existsSync(pid) || readFileSync(pid, 'utf8').trim() === '') await setTimeout(50);
      await setTimeout(1000);
      child.kill('SIGKILL');
      await ended;
      const shell = Number(readFileSync(pid, 'utf8'));
      const isAlive = (): boolean => existsSync(`/proc/${shell}/exe`) && existsSync(`/proc/${shell}/cwd`);
      for (let n = 0; n < 600 && isAlive(); n++) await setTimeout(100);
      expect(isAlive()).toBe(false);
      expect(readdirSync(folder)).toEqual(['pid']);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('says that numbers may be missing when the program was killed, and keeps those so far', async () => {
    const program = await compileHip({ sources: ['tools'], targets: ['gfx942'] });
    const { code, out } = await wavesmith('probe', '--tool', 'instr-count', '--', program, 'kill');
    expect(code).toBe(137);
    expect(out).toContain('INCOMPLETE: a process was killed');
    expect(out).toMatch(/^instructions: [1-9]/m);
    const nothing = await wavesmith('probe', '--tool', 'instr-count', '--require-all', '--', '/bin/true');
    expect(nothing.code).toBe(1);
    expect(nothing.out).toContain('NOTHING PROBED');
    expect((await wavesmith('probe', '--tool', 'instr-count', '--', join('/', 'no', 'such'))).code).not.toBe(0);
  });
});
