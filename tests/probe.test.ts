// Probes: counts are those of the virtual GPU, results are those of the original, and mistakes of a probe are told at its own line.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { isComplete, placementText } from '../src/cli/probe/print.ts';
import { type CodeObject, readCodeObject } from '../src/codeobject/index.ts';
import {
  defineProbe,
  type Instrumented,
  instrument,
  type ProbeDefinition,
  records,
  TOOLS,
  u64,
  u64PerSite,
} from '../src/instrument/index.ts';
import { AITER_KERNELS } from './sim/kernels/aiter-cases.ts';
import { changedRuns, hasCorpus } from './sim/kernels/support.ts';
import { TENSILE_KERNELS } from './sim/kernels/tensile-cases.ts';
import { hasLlvm } from './support/build.ts';
import { wavesmith } from './support/cli.ts';
import { runCode } from './support/probe-runs.ts';
import { reportSchemas } from './support/probe-schemas.ts';
import { sharedPath } from './support/shared.ts';
import { clangSubjects, type StrictSubject, tritonSubjects } from './support/strict-kernels.ts';

const tools = Object.values(TOOLS) as unknown as ProbeDefinition[];

const originals = new Map<StrictSubject, Awaited<ReturnType<typeof runCode>>>();

/** Runs a subject's kernel as it is and with a probe in it, and reads the probe's memory. */
async function probed(subject: StrictSubject, probe: ProbeDefinition, strict = false) {
  const result = instrument(readCodeObject(subject.codeObject), probe);
  const original =
    originals.get(subject) ?? (await runCode(subject, subject.codeObject, { address: 0, size: 0 }, false));
  originals.set(subject, original);
  const changed = await runCode(subject, result.codeObject.bytes, result.memory, strict);
  return { result, original, changed, report: result.report(changed.memory ?? new Uint8Array()) };
}

/** A part of the compiled kernels that has every target and every kind. */
const subjects = [...clangSubjects(), ...tritonSubjects()].filter((_, i) => i % 7 === 1);

describe.skipIf(subjects.length === 0).each(subjects.map((s) => [s.name, s] as const))('%s', (_name, subject) => {
  test('has exact counts, and no shipped probe changes a byte', async () => {
    for (const tool of tools) {
      const { result, original, changed, report } = await probed(subject, tool);
      expect(changed.contents, tool.name).toEqual(original.contents);
      expect(result.rejected, tool.name).toEqual([]);
      expect(result.findings, tool.name).toEqual([]);
      expect(reportSchemas.problems(tool.name, report), tool.name).toEqual([]);
      if (tool.name === 'instr-count' || tool.name === 'opcode-histogram') {
        expect(Number(report.instructions)).toBe(original.run.instructions);
      }
      if (tool.name === 'kernel-args') expect(report.kernels).toHaveLength(1);
    }
  });
});

test.skipIf(subjects.length === 0)('strict mode has nothing to say about a counted and traced kernel', async () => {
  for (const tool of [TOOLS['instr-count'], TOOLS['mem-trace']] as unknown as ProbeDefinition[]) {
    const { changed } = await probed(subjects[0] as StrictSubject, tool, true);
    expect(changed.run.diagnostics).toEqual([]);
  }
});

describe.skipIf(!hasLlvm())('sampling', () => {
  // Nine workgroups of 16 × 16 work-items: four waves each.
  const [transpose] = clangSubjects([['transpose', 'gfx942', 0]]) as [StrictSubject];
  test.each([
    [{ wave: 3 }, 1 / 4],
    [{ every: 2 }, 5 / 9],
    [{ every: 1 }, 1],
    [{ every: 3, wave: 0 }, 3 / 36],
    [{ every: 4, workgroup: [1, -1, -1] }, 0],
    [{ every: 3, workgroup: [1, 2, 0], wave: 2 }, 1 / 36],
    [{ wave: 4 }, 0],
  ] as const)('%j runs the probe in a part of the waves', async (sampling, share) => {
    const probe = defineProbe({
      name: 'waves',
      summary: '',
      state: { waves: u64() },
      instrument: ({ program, at }) => {
        for (const kernel of program.kernels) at.kernelEntry(kernel, (p) => p.atomicAdd('waves', 1));
      },
      report: ({ state }) => ({ waves: state.waves.value }),
    }) as unknown as ProbeDefinition;
    const result = instrument(readCodeObject(transpose.codeObject), probe, sampling);
    const { memory } = await runCode(transpose, result.codeObject.bytes, result.memory, false);
    expect(Number(result.report(memory ?? new Uint8Array()).waves)).toBe(Math.round(36 * share));
  });
});

describe.skipIf(!hasCorpus)('hand-written kernels', () => {
  const all = [...Object.values(AITER_KERNELS).flat(), ...TENSILE_KERNELS];
  // Registers addressed through M0; all vector registers taken; a compatibility block that is full.
  test.each(['gfx942 4x128x4', 'gfx950 f16, fp8 cache, high precision', 'f64, beta 0, mapping 8'])(
    '%s is counted exactly',
    async (name) => {
      const found = all.find(([one]) => one === name);
      let counted = false;
      changedRuns.change = (bytes) => {
        const result: Instrumented = instrument(
          readCodeObject(bytes),
          TOOLS['instr-count'] as unknown as ProbeDefinition,
          { settings: { level: 'wave' } },
        );
        expect(result.rejected).toEqual([]);
        return {
          bytes: result.codeObject.bytes,
          compare: ({ device, kernel, original, changed }) => {
            const symbol = result.codeObject.kernels.find((k) => k.name === kernel.name)?.descriptorSymbol;
            const { address, size } = result.memory;
            const at = kernel.descriptorAddress - Number(symbol?.value) + address;
            const region = device.memory.find(at, size);
            const report = result.report(
              region?.bytes.slice(at - region.base, at - region.base + size) ?? new Uint8Array(),
            );
            expect(Number(report.instructions)).toBe(original.instructions);
            expect(changed.instructions).toBeLessThan(2 * original.instructions);
            counted = true;
          },
        };
      };
      try {
        await found?.[2]();
        expect(counted).toBe(true);
      } finally {
        changedRuns.change = undefined;
      }
    },
  );
});

const triton = sharedPath('corpus', 'triton', 'add_f32.gfx950.hsaco');
const line = [
  ...['run', triton ?? '', '--kernel', 'add_kernel', '--grid', '2', '--block', '256', '--arg', 'f32[2000]=random'],
  ...['--arg', 'f32[2000]=iota', '--arg', 'f32[2000]', '--arg', 'i32=2000', '--arg', 'i64[8]', '--arg', 'i64[8]'],
];

describe.skipIf(triton === undefined)('wavesmith probe', () => {
  const folder = mkdtempSync(join(tmpdir(), 'probe-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('reports the instructions that run reports', async () => {
    const plain = JSON.parse((await wavesmith(...line, '--json')).out);
    const { code, out } = await wavesmith('probe', '--tool', 'instr-count', '--json', '--', ...line);
    const report = JSON.parse(out);
    expect(code).toBe(0);
    expect(report.instructions).toBe(plain.instructions);
    expect(report.run.buffers).toEqual(plain.buffers);
    expect(report.placement.rejected).toEqual([]);
    expect(report.complete).toBe(true);
  });

  test('writes a page with the instructions and what it says of each', async () => {
    const page = join(folder, 'page.html');
    const { code } = await wavesmith('probe', '--tool', 'instr-count', '--html', page, '--', ...line);
    expect(code).toBe(0);
    const html = readFileSync(page, 'utf8');
    expect(html).toMatch(
      /<tr><td><meter[^>]*>8<\/meter><\/td><td class="number">8<\/td><td class="number">500<\/td>.*global_store_dwordx4/,
    );
    expect(html).not.toContain('<script');
    const file = await wavesmith(
      'probe',
      '--tool',
      'instr-count',
      '--html',
      page,
      triton as string,
      '-o',
      `${page}.co`,
    );
    expect(file.code).toBe(2);
  });

  test('prints a listing, and checks itself', async () => {
    const { out, err } = await wavesmith('probe', '--tool', 'instr-count', '--listing', '--self-check', '--', ...line);
    expect(out).toMatch(/8 +500 +1760 {2}global_store_dwordx4/);
    expect(err).toContain('self-check: every buffer is as the original leaves it');
  });

  test('tells a fault at the place of the original', async () => {
    const short = line.map((word) => (word === 'f32[2000]=iota' ? 'f32[100]=iota' : word));
    const plain = await wavesmith(...short);
    const { code, err } = await wavesmith('probe', '--tool', 'instr-count', '--', ...short);
    expect(code).toBe(1);
    expect(plain.err).toContain('(pc 0x1744)');
    expect(err).toContain('(pc 0x1744)');
  });

  test('tells findings of strict mode at the place of the original', async () => {
    const short = [...line.map((word) => (word === 'f32[2000]=iota' ? 'f32[1990]=iota' : word)), '--check', '--json'];
    type Run = { diagnostics: { rule: string; place: { pc: number; instruction: string } }[] };
    const told = ({ diagnostics }: Run) => diagnostics.map(({ rule, place }) => [rule, place.pc, place.instruction]);
    const plain = told(JSON.parse((await wavesmith(...short)).out));
    expect(plain.length).toBeGreaterThan(0);
    const { out } = await wavesmith('probe', '--tool', 'mem-trace', '--json', '--', ...short);
    expect(told(JSON.parse(out).run)).toEqual(plain);
  });

  test('reads the launch from inside the kernel', async () => {
    const { out } = await wavesmith('probe', '--tool', 'kernel-args', '--json', '--', ...line);
    const [kernel] = JSON.parse(out).kernels;
    expect(kernel).toMatchObject({ workItems: [512, 1, 1], blockDim: [256, 1, 1], gridDim: [2, 1, 1] });
    expect(kernel.arguments[3]).toMatchObject({ size: 4, value: '0x7d0' });
  });

  test('starts a probe, runs it, and names the line of a mistake', async () => {
    const file = join(folder, 'mine.ts');
    expect((await wavesmith('probe', '--new', file)).code).toBe(0);
    const { out } = await wavesmith('probe', '--tool', file, '--json', '--', ...line);
    expect(JSON.parse(out).stores).toEqual([expect.objectContaining({ pc: 0x1760, runs: 8, lanes: 500 })]);
    const wrong = join(folder, 'wrong.ts');
    writeFileSync(
      wrong,
      `import { defineProbe, u64 } from 'wavesmith/instrument';
export default defineProbe({
  name: 'wrong', summary: '', state: { n: u64() },
  instrument({ program, at }) {
    at.entry(program.blocks()[0]!, (p) => {
      p.if(p.laneId, () => {});
    });
  },
  report: () => ({}),
});
`,
    );
    const failed = await wavesmith('probe', '--tool', wrong, '--', ...line);
    expect(failed.code).toBe(1);
    expect(failed.err).toContain('wrong.ts:6:');
    expect(failed.err).toContain('probe/type');
    writeFileSync(wrong, 'export default {{');
    expect((await wavesmith('probe', '--tool', wrong, '--', ...line)).err).toContain('probe/source');
    writeFileSync(wrong, 'export default 5;');
    expect((await wavesmith('probe', '--tool', wrong, '--', ...line)).err).toContain('probe/definition');
    expect((await wavesmith('probe', '--tool', 'nope', '--', ...line)).err).toContain('probe/unknown');
    expect((await wavesmith('probe', '--tool', 'instr-count', '--dispatch', '1', '--', ...line)).code).toBe(2);
    const unrun = ['--self-check', triton as string, '-o', `${wrong}.co`];
    expect((await wavesmith('probe', '--tool', 'instr-count', ...unrun)).code).toBe(2);
    expect((await wavesmith('probe', '--tool', 'instr-count')).code).toBe(2);
  });

  test('writes a code object that the checker has nothing to say about', async () => {
    const out = join(folder, 'probed.co');
    expect((await wavesmith('probe', '--tool', 'mem-trace', triton as string, '-o', out)).code).toBe(0);
    expect((await wavesmith('check', out)).code).toBe(0);
  });
});

describe.skipIf(triton === undefined)('values', () => {
  const subject = tritonSubjects().find((s) => s.name.includes('add_f32.gfx950')) as StrictSubject;

  test('of registers, memory, lanes and the launch are those of the kernel', async () => {
    const probe = defineProbe({
      name: 'values',
      summary: '',
      state: {
        total: u64(),
        sites: u64PerSite(),
        seen: records(
          { x: 'u32', exec: 'u64', lane: 'lane32', address: 'lane64', loaded: 'lane32', size: 'u32', sum: 'u64' },
          { capacity: 6 },
        ),
      },
      instrument({ program, at }) {
        const load = program.instructions().find((one) => one.memory === 'global' && one.isLoad);
        if (load === undefined) throw new Error('no load');
        at.after(load, (p) => {
          p.append('seen', {
            x: p.workgroupId.x,
            exec: p.exec,
            lane: p.laneId,
            address: p.laneId,
            loaded: p.readReg('v0'),
            size: p.workgroupSize.x,
            sum: p.add(p.argument(3), 0x1_0000_0000n),
          });
          p.atomicAdd('total', p.shl(p.mul(3, p.sub(5, 3)), 4));
        });
        at.before(load, (p) => p.if(p.isZero(p.workgroupId.x), () => p.atomicAdd('sites', p.popcount(p.exec))));
      },
      report: ({ state }) => ({
        total: state.total.value,
        sites: state.sites.sites.map((s) => s.value),
        dropped: state.seen.dropped,
        records: state.seen.records,
      }),
    });
    const { original, changed, report } = await probed(subject, probe as unknown as ProbeDefinition);
    expect(changed.contents).toEqual(original.contents);
    expect(report.total).toBe(BigInt(8 * 96));
    expect(report.sites).toEqual([256n]);
    expect(report.dropped).toBe(2);
    type Seen = { x: number; exec: bigint; lane: Uint32Array; loaded: Uint32Array; size: number; sum: bigint };
    const input = new Uint32Array((original.contents[0] as Uint8Array).slice().buffer);
    for (const seen of report.records as Seen[]) {
      expect([0, 1]).toContain(seen.x);
      expect(seen.size).toBe(256);
      expect(seen.sum).toBe(0x1_0000_0000n + 2000n);
      expect([...seen.lane]).toEqual(Array.from({ length: 64 }, (_, i) => ((seen.exec >> BigInt(i)) & 1n ? i : 0)));
      // v0 has the first of the four floats of each lane.
      const first = input.indexOf(seen.loaded[0] as number);
      expect(first).toBeGreaterThanOrEqual(0);
    }
  });

  test('that do not fit are refused', () => {
    const codeObject: CodeObject = readCodeObject(subject.codeObject);
    const attempt =
      (write: (p: never) => void): (() => unknown) =>
      () =>
        instrument(
          codeObject,
          defineProbe({
            name: 'bad',
            summary: '',
            state: { n: u64(), r: records({ a: 'u32' }, { capacity: 4 }) },
            instrument: ({ program, at }) => at.entry(program.blocks()[0] as never, write as never),
            report: () => ({}),
          }) as unknown as ProbeDefinition,
        );
    const code = (name: string) => expect.objectContaining({ code: name });
    type Any = Record<string, (...args: unknown[]) => unknown> & { laneId: unknown; address: unknown; exec: unknown };
    const write = (call: (p: Any) => unknown) => attempt(((p: Any) => call(p)) as never);
    expect(write((p) => p.readReg?.('v300'))).toThrowError(code('probe/register'));
    expect(write((p) => p.readReg?.('flux'))).toThrowError(code('probe/register'));
    // XCC_ID is new in gfx942.
    const isOld = codeObject.target.processor === 'gfx90a';
    expect(write((p) => p.hardware?.(isOld ? 'HW_REG_XCC_ID' : 'HW_REG_NOTHING'))).toThrowError(code('probe/register'));
    expect(write((p) => p.atomicAdd?.('n', p.nothing))).toThrowError(code('probe/type'));
    expect(write((p) => p.address)).toThrowError(code('probe/no-address'));
    expect(write((p) => p.argument?.('nothing'))).toThrowError(code('probe/no-argument'));
    expect(write((p) => p.atomicAdd?.('r', 1))).toThrowError(code('probe/no-state'));
    expect(write((p) => p.append?.('r', { a: p.laneId }))).toThrowError(code('probe/type'));
    expect(write((p) => p.append?.('r', { a: p.exec }))).toThrowError(code('probe/type'));
    expect(() => records({ a: 'u32' }, { capacity: 1e9 })).toThrowError(code('probe/records'));
  });
});

test('points that could not be placed make the numbers incomplete, and that is said', () => {
  const one = { kernel: 'k', pc: 4, reason: 'no register is free', tag: undefined } as const;
  const result = { placed: 3, rejected: [one], costs: [], drains: 0 } as unknown as Instrumented;
  expect(isComplete(result)).toBe(false);
  expect(placementText(result)).toEqual([
    'INCOMPLETE: the numbers leave out what happens at points that could not be placed',
    '3 of 4 points placed',
    '  1 left out: no register is free',
  ]);
});

test('--kernel that fits nothing is an error, and a self-check names the instruction of the guilty point', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-probe-'));
  try {
    const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'adding-a-probe.md'), 'utf8');
    const [source, object, guilty] = ['double.s', 'double.co', 'guilty.ts'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(source, /```asm\n([\s\S]*?)```/.exec(page)?.[1] ?? '');
    writeFileSync(
      guilty,
      `import { defineProbe, u64 } from 'wavesmith/instrument';
export default defineProbe({ name: 'guilty', summary: 's', state: { n: u64() },
  instrument({ program, at }) {
    for (const one of program.instructions()) at.before(one, (p) => {
      p.atomicAdd('n', 1);
      if (one.text.startsWith('v_add_f32')) p.writeReg('v2', 7);
    });
  },
  report: ({ state }) => ({ n: state.n.value }) });`,
    );
    expect((await wavesmith('asm', source, '-o', object)).code).toBe(0);
    const run = ['--', 'run', object, '--kernel', 'double', '--grid', '1', '--block', '64', '--arg', 'f32[64]=random'];
    const none = await wavesmith('probe', '--tool', 'instr-count', '--kernel', 'zzz', ...run);
    expect([none.code, none.err]).toEqual([1, expect.stringContaining('It has: double.')]);
    const output = join(folder, 'out.co');
    const file = await wavesmith('probe', '--tool', 'instr-count', '--kernel', 'zzz', object, '-o', output);
    expect([file.code, file.err, existsSync(output)]).toEqual([1, expect.stringContaining('probe/no-kernel'), false]);
    const checked = await wavesmith('probe', '--tool', guilty, '--self-check', ...run);
    expect([checked.code, checked.err]).toEqual([1, expect.stringContaining('(v_add_f32_e32 v2, v2, v2)')]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
