// What a probe may select and write besides values: edges and loops, registers that instructions read and write, work-items, counters that
// gather otherwise than by adding, assembly text.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { assembleAndLink } from '../src/asm/index.ts';
import { readCodeObject } from '../src/codeobject/index.ts';
import { createDevice } from '../src/device/index.ts';
import {
  type Body,
  defineProbe,
  instrument,
  type Points,
  type ProbeDefinition,
  type ProbeProgram,
  records,
  u64,
  u64PerSite,
  u64Table,
} from '../src/instrument/index.ts';
import type { TargetName } from '../src/isa/index.ts';
import { kernelSource } from './support/kernel-source.ts';
import { llvmTool } from './support/llvm.ts';

const TARGETS = ['gfx90a', 'gfx942', 'gfx950'] as const;

/** Two loops, one in the other, of 5 and 3 turns; every second turn of the outer one leaves the inner one after its first. */
const CODE = `
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_and_b32_e32 v1, 0x3ff, v0
  v_bfe_u32 v2, v0, 10, 10
  v_bfe_u32 v3, v0, 20, 10
  v_lshlrev_b32_e32 v4, 8, v2
  v_or_b32_e32 v1, v1, v4
  v_lshlrev_b32_e32 v4, 16, v3
  v_or_b32_e32 v1, v1, v4
  s_mov_b32 s6, 0
.Louter:
  s_mov_b32 s7, 0
.Linner:
  s_add_u32 s7, s7, 1
  s_bitcmp1_b32 s6, 0
  s_cbranch_scc1 .Lnext
  s_cmp_lt_u32 s7, 3
  s_cbranch_scc1 .Linner
.Lnext:
  s_add_u32 s6, s6, 1
  s_cmp_lt_u32 s6, 5
  s_cbranch_scc1 .Louter
  v_mov_b32_e32 v5, 0
  s_waitcnt lgkmcnt(0)
  global_atomic_add v5, v1, s[4:5]
  s_nop 0
`;
const code = (target: TargetName) =>
  readCodeObject(
    assembleAndLink(
      kernelSource({
        code: CODE,
        target,
        metadata: { '.max_flat_workgroup_size': 1024 },
        descriptor: {
          system_vgpr_workitem_id: 2,
          system_sgpr_workgroup_id_y: 1,
          next_free_vgpr: 12,
          accum_offset: 12,
        },
      }),
    ),
  );

const STATE = {
  total: u64(),
  sites: u64PerSite(),
  most: u64({ by: 'max' }),
  least: u64({ by: 'min' }),
  none: u64({ by: 'min' }),
  some: u64({ by: 'or' }),
  all: u64({ by: 'and' }),
  parity: u64({ by: 'xor' }),
  mosts: u64Table(4, { by: 'max' }),
  leasts: u64PerSite({ by: 'min' }),
  rows: records({ id: 'u32', wave: 'u64', lanes: 'lane64' }, { capacity: 200 }),
};
type P = Body<typeof STATE>;
type Found = {
  -readonly [K in 'total' | 'most' | 'least' | 'none' | 'some' | 'all' | 'parity']: bigint;
} & {
  sites: bigint[];
  mosts: bigint[];
  leasts: bigint[];
  rows: { id: number; wave: bigint; lanes: BigUint64Array }[];
  stored: Uint8Array;
};

interface Launch {
  readonly grid: readonly [number, number, number];
  readonly block: readonly [number, number, number];
  readonly workItems?: readonly [number, number, number];
}
const ONE: Launch = { grid: [1, 1, 1], block: [64, 1, 1] };

/** Runs the kernel with the points that a function asks for. */
async function found(
  target: TargetName,
  put: (program: ProbeProgram, at: Points<typeof STATE>) => void,
  launch: Launch = ONE,
): Promise<Found> {
  const probe = defineProbe({
    name: 'api',
    summary: 'asks for points',
    state: STATE,
    instrument: ({ program, at }) => put(program, at),
    report: ({ state }) => ({
      ...Object.fromEntries(
        (['total', 'most', 'least', 'none', 'some', 'all', 'parity'] as const).map((name) => [name, state[name].value]),
      ),
      sites: state.sites.sites.map((s) => s.value),
      leasts: state.leasts.sites.map((s) => s.value),
      mosts: state.mosts.values,
      rows: state.rows.records,
    }),
  });
  const result = instrument(code(target), probe as unknown as ProbeDefinition);
  expect(result.rejected).toEqual([]);
  const device = await createDevice('sim', { target });
  try {
    const buffer = device.alloc(64);
    const kernel = device.load(result.codeObject.bytes).kernel('k');
    await device.dispatch({ kernel, args: [buffer], ...launch } as never);
    const symbol = result.codeObject.kernels[0]?.descriptorSymbol;
    const at = kernel.descriptorAddress - Number(symbol?.value) + result.memory.address;
    const region = device.memory.find(at, result.memory.size);
    const from = at - (region?.base ?? 0);
    const report = result.report(region?.bytes.slice(from, from + result.memory.size) as Uint8Array);
    return { ...report, stored: device.read(buffer) } as unknown as Found;
  } finally {
    device.close();
  }
}

/** Code at the last instruction but one. */
const atEnd =
  (write: (p: P) => void) =>
  (program: ProbeProgram, at: Points<typeof STATE>): void => {
    const last = program.instructions().find((one) => one.text === 's_nop 0');
    if (last !== undefined) at.before(last, write);
  };

test.each(TARGETS)('edges and loops on %s', async (target) => {
  const seen: string[] = [];
  const { sites, total } = await found(target, (program, at) => {
    for (const edge of program.edges()) {
      seen.push(`${edge.kind}${edge.isBack ? ' back' : ''}`);
      at.edge(edge, (p) => p.atomicAdd('sites', 1));
    }
    const loops = program.loops();
    expect(
      loops.map(({ depth, blocks, back, exits, entries }) => [
        depth,
        blocks.length,
        back.length,
        exits.length,
        entries.length,
      ]),
    ).toEqual([
      [1, 4, 1, 1, 1],
      [2, 2, 1, 2, 1],
    ]);
    for (const [i, { header }] of loops.entries()) at.entry(header, (p) => p.atomicAdd('total', 1000 ** i));
  });
  // Outer turns 0, 2, 4 have three inner turns, 1 and 3 have one.
  expect(total).toBe(5n + 1000n * 11n);
  expect(seen).toEqual(['next', 'next', 'next', 'taken', 'next', 'taken back', 'next', 'taken back']);
  const counts = Object.fromEntries(seen.map((kind, i) => [`${i} ${kind}`, Number(sites[i])]));
  expect(Object.values(counts)).toHaveLength(8);
  expect([...sites].map(Number).sort((a, b) => a - b)).toEqual([1, 1, 2, 3, 4, 5, 6, 9]);
});

test('instructions by the registers that they read and write', async () => {
  await found('gfx942', (program, at) => {
    const texts = (choose: (one: ReturnType<typeof program.instructions>[number]) => boolean): string[] =>
      program
        .instructions()
        .filter(choose)
        .map((one) => one.text);
    expect(texts((one) => one.writes('s[6:7]'))).toEqual([
      's_mov_b32 s6, 0',
      's_mov_b32 s7, 0',
      's_add_u32 s7, s7, 1',
      's_add_u32 s6, s6, 1',
    ]);
    expect(texts((one) => one.reads('s5'))).toEqual(['global_atomic_add v5, v1, s[4:5]']);
    expect(texts((one) => one.reads('scc'))).toHaveLength(3);
    expect(texts((one) => one.reads('v[3:4]'))).toEqual([
      'v_or_b32_e32 v1, v1, v4',
      'v_lshlrev_b32_e32 v4, 16, v3',
      'v_or_b32_e32 v1, v1, v4',
    ]);
    expect(texts((one) => one.accessSize === 4)).toEqual(['global_atomic_add v5, v1, s[4:5]']);
    expect(() => program.instructions()[0]?.reads('x7')).toThrow(/no register/);
    at.kernelExit(program.kernels[0] as never, (p) => p.atomicAdd('total', 1));
  });
});

const clang = llvmTool('clang-22');
test.skipIf(clang === undefined)('instructions by the line of their source', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-lines-'));
  try {
    const [source, object] = [join(folder, 'lines.c'), join(folder, 'lines.co')];
    writeFileSync(
      source,
      `__attribute__((amdgpu_kernel)) void k(unsigned *out, unsigned n) {
  unsigned x = __builtin_amdgcn_workitem_id_x();
  for (unsigned i = 0; i < n; i++)
    x = x * 1664525u + 1013904223u;
  out[__builtin_amdgcn_workitem_id_x()] = x;
}
`,
    );
    const flags = ['-target', 'amdgcn-amd-amdhsa', '-mcpu=gfx942', '-nogpulib', '-O1', '-fno-unroll-loops', '-g'];
    const { status, stderr } = spawnSync(clang as string, [...flags, source, '-o', object], { encoding: 'utf8' });
    expect(status, stderr).toBe(0);
    const codeObject = readCodeObject(readFileSync(object));
    const lines = new Map<number, string[]>();
    const probe = defineProbe({
      name: 'lines',
      summary: 'runs of the first instruction of two lines',
      state: { turns: u64(), stores: u64() },
      instrument({ program, at }) {
        for (const one of program.instructions()) {
          const { line = 0, file } = one.source ?? {};
          if (line > 0) expect(file).toMatch(/lines\.c$/);
          const list = lines.get(line) ?? [];
          lines.set(line, list);
          list.push(one.operation);
          if (line === 4 && list.length === 1) at.before(one, (p) => p.atomicAdd('turns', 1));
          if (line === 5 && one.isStore) at.before(one, (p) => p.atomicAdd('stores', 1));
        }
      },
      report: ({ state }) => ({ turns: state.turns.value, stores: state.stores.value }),
    });
    const result = instrument(codeObject, probe as unknown as ProbeDefinition);
    expect(result.rejected).toEqual([]);
    expect(lines.get(5)).toContain('global_store_dword');
    expect(lines.has(4)).toBe(true);
    const device = await createDevice('sim', { target: 'gfx942' });
    const kernel = device.load(result.codeObject.bytes).kernel('k');
    await device.dispatch({ kernel, grid: [1, 1, 1], block: [64, 1, 1], args: [device.alloc(256), 9] });
    const symbol = result.codeObject.kernels[0]?.descriptorSymbol;
    const at = kernel.descriptorAddress - Number(symbol?.value) + result.memory.address;
    const region = device.memory.find(at, result.memory.size);
    const from = at - (region?.base ?? 0);
    const memory = region?.bytes.slice(from, from + result.memory.size) ?? new Uint8Array();
    device.close();
    expect(result.report(memory)).toEqual({ turns: 9n, stores: 1n });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test.each(TARGETS)('positions of work-items on %s, in groups that are not whole too', async (target) => {
  const launches = [
    { grid: [2, 2, 1], block: [13, 10, 2], workItems: [20, 17, 2] },
    { grid: [1, 1, 1], block: [1, 512, 2] },
    { grid: [1, 1, 1], block: [1024, 1, 1] },
    { grid: [1, 1, 1], block: [7, 5, 3] },
  ] as const;
  for (const launch of target === 'gfx942' ? launches : launches.slice(0, 1)) {
    const { rows, total } = await found(
      target,
      atEnd((p) => {
        const { x, y, z } = p.workItemId;
        const own = p.or(x, p.or(p.shl(y, 8), p.shl(z, 16)));
        p.atomicAdd('total', p.popcount(p.ballot(p.xor(own, p.readReg('v1')))));
        p.append('rows', { id: p.workgroupId.x, wave: p.waveId, lanes: own });
      }),
      launch,
    );
    expect([launch, total]).toEqual([launch, 0n]);
    expect(rows.length).toBeGreaterThan(0);
  }
});

test.each(TARGETS)('counters on %s gather by what they declare', async (target) => {
  const { most, least, none, some, all, parity, mosts, leasts } = await found(
    target,
    (program, at) => {
      atEnd((p) => {
        p.atomic('most', p.mul(p.laneId, 3));
        p.atomic('most', p.add(p.workgroupId.x, 100));
        p.atomic('least', p.add(p.readReg('v1'), 77));
        p.atomic('some', p.shl(1, p.and(p.laneId, 15)));
        p.atomic('all', p.or(p.laneId, 0xf00));
        p.atomic('parity', p.readReg('v1'));
        p.atomic('leasts', p.add(p.workgroupId.x, 5));
        p.atomicAt('mosts', p.and(p.laneId, 3), p.laneId);
      })(program, at);
    },
    { grid: [3, 1, 1], block: [64, 1, 1] },
  );
  expect({ most, least, none, some, all, parity }).toEqual({
    most: 189n,
    least: 77n,
    none: 2n ** 64n - 1n,
    some: 0xffffn,
    all: 0xf00n,
    parity: 0n,
  });
  expect([mosts, leasts]).toEqual([[60n, 61n, 62n, 63n], [5n]]);
});

test.each(TARGETS)('assembly text on %s gets and gives values, and what it overwrites is put back', async (target) => {
  const { rows, total, stored } = await found(target, (program, at) => {
    const write = (p: P): void => {
      const { sum, odd } = p.asm(
        `v_mad_u32_u24 %sum, %a, 3, %b      ; three times and some
         s_mov_b32 s6, %n.lo                // the kernel counts with it
         s_mov_b64 vcc, 0
         v_mov_b32 v1, 0
       again:
         s_add_u32 vcc_lo, vcc_lo, 2
         s_sub_u32 s6, s6, 1
         s_cmp_lg_u32 s6, 0
         s_cbranch_scc1 again
         s_mov_b64 %odd, vcc
         s_mov_b64 exec, 1`,
        {
          inputs: { a: p.laneId, b: p.add(p.laneId, 1000), n: 0x100000007n },
          outputs: { sum: 'lane32', odd: 'u64' },
          clobbers: ['s6', 'vcc', 'v1'],
        },
      );
      p.append('rows', { id: 1, wave: odd, lanes: sum });
    };
    for (const one of program.instructions()) at.before(one, write);
    atEnd((p) => p.atomicAdd('total', p.asm('s_bcnt1_i32_b64 %ones, exec', { outputs: { ones: 'u32' } }).ones))(
      program,
      at,
    );
  });
  expect(rows.length).toBeGreaterThan(60);
  for (const { wave, lanes } of rows) {
    expect(wave).toBe(14n);
    expect([...lanes]).toEqual(Array.from({ length: 64 }, (_, n) => BigInt(4 * n + 1000)));
  }
  expect(total).toBe(64n);
  expect(new DataView(stored.buffer).getUint32(0, true)).toBe((63 * 64) / 2);
});

test.each([
  ['names %x', {}, /neither an input nor an output/],
  ['v_mov_b32 v3, 0', {}, /writes v3 in .* neither an output nor a clobber/],
  ['s_mov_b64 vcc, 0', {}, /writes vcc_lo/],
  ['s_endpgm', {}, /leaves it/],
  ['s_branch nowhere', {}, /no label/],
  ['s_addc_u32 s6, s6, 0', { clobbers: ['s6'] }, /reads SCC/],
  ['v_frob_b32 v3, 0', { clobbers: ['v3'] }, /no instruction of gfx942/],
  ['s_nop 0', { clobbers: ['ttmp3'] }, /cannot be put back|no register/],
  ['s_nop 0', { inputs: { a: 1 }, outputs: { a: 'u32' as const } }, /an input and an output/],
])('the text %s is refused', async (text, operands, message) => {
  await expect(
    found(
      'gfx942',
      atEnd((p) => void p.asm(text, operands)),
    ),
  ).rejects.toThrow(message);
});

test('a counter that does not add is not added to', async () => {
  await expect(
    found(
      'gfx942',
      atEnd((p) => p.atomicAdd('most', 1)),
    ),
  ).rejects.toThrow(/gathers by max/);
  expect(() => u64({ by: 'avg' as never })).toThrow(/gathers by add/);
});
