// Every operation that a probe's body has, on the three targets, against values computed here: whole numbers and floats, for the wave and by
// lane, ballots, loops, lanes that are narrowed, counters, tables, the data of memory accesses.
import { expect, test } from 'vitest';
import { assembleAndLink } from '../src/asm/index.ts';
import { readCodeObject } from '../src/codeobject/index.ts';
import { createDevice } from '../src/device/index.ts';
import {
  type Body,
  defineProbe,
  instrument,
  type ProbeDefinition,
  type ProbeInstruction,
  records,
  u64,
  u64PerSite,
  u64Table,
  type Value,
} from '../src/instrument/index.ts';
import type { TargetName } from '../src/isa/index.ts';
import { kernelSource } from './support/kernel-source.ts';

const TARGETS = ['gfx90a', 'gfx942', 'gfx950'] as const;
const LANES = Array.from({ length: 64 }, (_, n) => n);
const ACTIVE = 0xfffffff0_0ffffff6n;
const isActive = (lane: number): boolean => ((ACTIVE >> BigInt(lane)) & 1n) === 1n;

/** v1 = 3 lane + 7, v[2:3] = lane << 33 | 5 lane, v4 = lane as a float, s6 = 13, s[8:9] = 2^32 + 5; then a store, a load of it, the end. */
const CODE = `
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mul_u32_u24_e32 v1, 3, v0
  v_add_u32_e32 v1, 7, v1
  v_mul_u32_u24_e32 v2, 5, v0
  v_lshlrev_b32_e32 v3, 1, v0
  v_cvt_f32_u32_e32 v4, v0
  v_lshlrev_b32_e32 v5, 3, v0
  s_mov_b32 s6, 13
  s_mov_b32 s8, 5
  s_mov_b32 s9, 1
  s_waitcnt lgkmcnt(0)
  s_mov_b32 exec_lo, ${Number(ACTIVE & 0xffffffffn)}
  s_mov_b32 exec_hi, ${Number(ACTIVE >> 32n)}
  global_store_dwordx2 v5, v[2:3], s[4:5]
  s_waitcnt vmcnt(0)
  global_load_dwordx2 v[6:7], v5, s[4:5]
  s_waitcnt vmcnt(0)
  s_nop 0
`;

const STATE = {
  total: u64(),
  sites: u64PerSite(),
  table: u64Table(10),
  rows: records({ id: 'u32', wave: 'u64', lanes: 'lane64' }, { capacity: 100 }),
};
type P = Body<typeof STATE>;
type Narrow = {
  total: bigint;
  sites: bigint[];
  table: bigint[];
  rows: { id: number; wave: bigint; lanes: BigUint64Array }[];
};

/** Runs the kernel with code at the first instruction that begins with a text. */
async function found(
  target: TargetName,
  text: string,
  side: 'before' | 'after',
  write: (p: P) => void,
): Promise<Narrow> {
  const probe = defineProbe({
    name: 'values',
    summary: 'computes values',
    state: STATE,
    instrument({ program, at }) {
      at[side](program.instructions().find((i) => i.text.startsWith(text)) as ProbeInstruction, write);
    },
    report: ({ state }) => ({
      total: state.total.value,
      sites: state.sites.sites.map((s) => s.value),
      table: state.table.values,
      rows: state.rows.records,
    }),
  });
  const code = readCodeObject(assembleAndLink(kernelSource({ code: CODE, target })));
  const result = instrument(code, probe as unknown as ProbeDefinition);
  expect(result.rejected).toEqual([]);
  const device = await createDevice('sim', { target });
  try {
    const buffer = device.alloc(512);
    const module = device.load(result.codeObject.bytes);
    const kernel = module.kernel('k');
    await device.dispatch({ kernel, grid: [1, 1, 1], block: [64, 1, 1], args: [buffer] });
    const symbol = result.codeObject.kernels[0]?.descriptorSymbol;
    const at = kernel.descriptorAddress - Number(symbol?.value) + result.memory.address;
    const region = device.memory.find(at, result.memory.size);
    const from = at - (region?.base ?? 0);
    return result.report(region?.bytes.slice(from, from + result.memory.size) as Uint8Array) as unknown as Narrow;
  } finally {
    device.close();
  }
}

const M32 = 0xffffffffn;
const M64 = (1n << 64n) - 1n;
const v1 = (n: number): bigint => BigInt(3 * n + 7);
const v23 = (n: number): bigint => (BigInt(2 * n) << 32n) | BigInt(5 * n);
const s89 = (1n << 32n) + 5n;
const ones = (x: bigint): bigint => BigInt([...x.toString(2)].filter((c) => c === '1').length);
const bits = (x: number): bigint => BigInt(new Uint32Array(Float32Array.of(x).buffer)[0] as number);
const bits64 = (x: number): bigint => new BigUint64Array(Float64Array.of(x).buffer)[0] as bigint;

/** By name: a value for the wave, and what it is. */
const WAVE: Readonly<Record<string, readonly [(p: P) => Value, bigint]>> = {
  add: [(p) => p.add(p.readReg('s[8:9]'), p.readReg('s6')), s89 + 13n],
  sub: [(p) => p.sub(p.readReg('s6'), p.readReg('s[8:9]')), (13n - s89) & M64],
  mul: [(p) => p.mul(p.readReg('s6'), 1000), 13000n],
  and: [(p) => p.and(p.readReg('s[8:9]'), 0x1_0000_0004n), 0x1_0000_0004n],
  or: [(p) => p.or(p.readReg('s[8:9]'), 0x70_0000_0000n), 0x71_0000_0005n],
  xor: [(p) => p.xor(p.readReg('s[8:9]'), M64), s89 ^ M64],
  shl: [(p) => p.shl(p.readReg('s6'), 33), 26n],
  'shl wide': [(p) => p.shl(p.readReg('s[8:9]'), 20), (s89 << 20n) & M64],
  'shr wide': [(p) => p.shr(p.readReg('s[8:9]'), p.readReg('s8')), s89 >> 5n],
  min: [(p) => p.min(p.readReg('s6'), 0x80000000), 13n],
  max: [(p) => p.max(p.readReg('s6'), 0x80000000), 0x80000000n],
  rem: [(p) => p.rem(p.readReg('s6'), 5), 3n],
  equal: [(p) => p.equal(p.readReg('s[8:9]'), s89), 1n],
  'equal, high half': [(p) => p.equal(p.readReg('s[8:9]'), 5), 0n],
  less: [(p) => p.less(p.readReg('s6'), 14), 1n],
  'less of constants': [(p) => p.less(0x12345678, 0x12345677), 0n],
  'less wide': [(p) => p.less(p.readReg('s6'), p.readReg('s[8:9]')), 1n],
  'less wide, no': [(p) => p.less(p.readReg('s[8:9]'), p.readReg('s6')), 0n],
  'less without sign': [(p) => p.less(1, 0xffffffff), 1n],
  select: [(p) => p.select(p.readReg('s6'), p.readReg('s[8:9]'), 0x12345678), s89],
  'select, high half': [(p) => p.select(p.shl(p.readReg('s[8:9]'), 32), 0x11111111, 0x22222222), 0x11111111n],
  'select, no': [(p) => p.select(p.isZero(p.readReg('s6')), 0x11111111, 0x22222222), 0x22222222n],
  popcount: [(p) => p.popcount(p.exec), ones(ACTIVE)],
  ballot: [
    (p) => p.ballot(p.and(p.laneId, 1)),
    LANES.reduce((m, n) => (isActive(n) && n % 2 === 1 ? m | (1n << BigInt(n)) : m), 0n),
  ],
  'ballot wide': [(p) => p.ballot(p.readReg('v[2:3]')), ACTIVE],
  first: [(p) => p.first(p.readReg('v[2:3]')), v23(1)],
  readLane: [(p) => p.readLane(p.readReg('v1'), p.readReg('s6')), v1(13)],
  'readLane, a constant': [(p) => p.readLane(p.readReg('v[2:3]'), 38), v23(38)],
  'f32.add': [(p) => p.f32.add(p.f32.fromU32(p.readReg('s6')), Number(bits(0.5))), bits(13.5)],
  'f32.mul': [(p) => p.f32.mul(p.f32.fromU32(3), Number(bits(0.1))), bits(Math.fround(3 * Math.fround(0.1)))],
  'f32.min': [(p) => p.f32.min(Number(bits(-2)), Number(bits(1))), bits(-2)],
  'f32.max': [(p) => p.f32.max(Number(bits(-2)), Number(bits(1))), bits(1)],
  'f32.less': [(p) => p.f32.less(Number(bits(-2)), Number(bits(1))), 1n],
  'f32.toU32': [(p) => p.f32.toU32(Number(bits(77.9))), 77n],
  'f64.add': [(p) => p.f64.add(p.f64.fromF32(Number(bits(0.5))), bits64(0.1)), bits64(0.6)],
  'f64.mul': [(p) => p.f64.mul(bits64(3), bits64(0.1)), bits64(3 * 0.1)],
};

/** By name: a value by lane, and what lane n has. */
const LANE: Readonly<Record<string, readonly [(p: P) => Value, (n: number) => bigint]>> = {
  add: [(p) => p.add(p.readReg('v1'), 0xffffffff), (n) => (v1(n) + M32) & M32],
  'add wide': [(p) => p.add(p.readReg('v[2:3]'), 0xfffffff0), (n) => v23(n) + 0xfffffff0n],
  sub: [(p) => p.sub(p.readReg('s6'), p.readReg('v1')), (n) => (13n - v1(n)) & M32],
  'sub wide': [(p) => p.sub(p.readReg('v1'), p.readReg('v[2:3]')), (n) => (v1(n) - v23(n)) & M64],
  mul: [(p) => p.mul(p.readReg('v1'), p.readReg('v2')), (n) => v1(n) * BigInt(5 * n)],
  min: [(p) => p.min(p.readReg('v1'), 100), (n) => BigInt(Math.min(3 * n + 7, 100))],
  max: [(p) => p.max(100, p.readReg('v1')), (n) => BigInt(Math.max(3 * n + 7, 100))],
  and: [(p) => p.and(p.readReg('v1'), p.laneId), (n) => v1(n) & BigInt(n)],
  or: [(p) => p.or(p.readReg('v[2:3]'), p.readReg('s[8:9]')), (n) => v23(n) | s89],
  xor: [(p) => p.xor(p.readReg('v[2:3]'), M64), (n) => v23(n) ^ M64],
  shl: [(p) => p.shl(1, p.laneId), (n) => (1n << BigInt(n % 32)) & M32],
  'shl wide': [(p) => p.shl(p.readReg('v[2:3]'), p.laneId), (n) => (v23(n) << BigInt(n)) & M64],
  'shr wide': [(p) => p.shr(p.readReg('v[2:3]'), 31), (n) => v23(n) >> 31n],
  equal: [(p) => p.equal(p.readReg('v1'), 37), (n) => (n === 10 ? 1n : 0n)],
  'less wide': [(p) => p.less(p.readReg('v[2:3]'), 10n << 33n), (n) => (n < 10 ? 1n : 0n)],
  isZero: [(p) => p.isZero(p.and(p.laneId, 3)), (n) => (n % 4 === 0 ? 1n : 0n)],
  select: [
    (p) => p.select(p.and(p.laneId, 1), p.readReg('v[2:3]'), p.readReg('s6')),
    (n) => (n % 2 === 1 ? v23(n) : 13n),
  ],
  popcount: [(p) => p.popcount(p.readReg('v[2:3]')), (n) => ones(v23(n))],
  'f32.add': [(p) => p.f32.add(p.readReg('v4'), Number(bits(0.25))), (n) => bits(n + 0.25)],
  'f32.mul': [(p) => p.f32.mul(p.readReg('v4'), Number(bits(0.1))), (n) => bits(Math.fround(n * Math.fround(0.1)))],
  'f32.min': [(p) => p.f32.min(p.readReg('v4'), Number(bits(9))), (n) => bits(Math.min(n, 9))],
  'f32.less': [(p) => p.f32.less(p.readReg('v4'), Number(bits(9))), (n) => (n < 9 ? 1n : 0n)],
  'f32.toU32': [(p) => p.f32.toU32(p.f32.mul(p.readReg('v4'), Number(bits(1.5)))), (n) => BigInt(Math.floor(1.5 * n))],
  'f64.mul': [(p) => p.f64.mul(p.f64.fromF32(p.readReg('v4')), bits64(0.1)), (n) => bits64(n * 0.1)],
};

test.each(TARGETS)('values on %s are those computed here', async (target) => {
  const [waves, lanes] = [Object.entries(WAVE), Object.entries(LANE)];
  const { rows } = await found(target, 's_nop', 'before', (p) => {
    for (const [id, [, [make]]] of waves.entries()) p.append('rows', { id, wave: make(p), lanes: p.laneId });
    for (const [id, [, [make]]] of lanes.entries()) p.append('rows', { id: 1000 + id, wave: 0, lanes: make(p) });
  });
  const seen = new Map(rows.map((row) => [row.id, row]));
  expect(seen.size).toBe(waves.length + lanes.length);
  for (const [id, [name, [, value]]] of waves.entries()) expect([name, seen.get(id)?.wave]).toEqual([name, value]);
  for (const [id, [name, [, value]]] of lanes.entries()) {
    const wanted = LANES.map((n) => (isActive(n) ? value(n) : 0n));
    expect([name, ...(seen.get(1000 + id)?.lanes ?? [])]).toEqual([name, ...wanted]);
  }
});

test.each(TARGETS)('statements on %s run as often, and in the lanes, that they say', async (target) => {
  const { total, sites, table, rows } = await found(target, 's_nop', 'before', (p) => {
    p.atomicAdd('total', 1);
    p.atomicAdd('sites', p.readReg('v1'));
    p.atomicAddAt('table', p.shr(p.laneId, 3), 1);
    p.atomicAddAt('table', 9, p.readReg('s[8:9]'));
    p.atomicAddAt('table', p.add(p.laneId, 60), p.readReg('v[2:3]'));
    p.loop(p.readReg('s6'), (turn) => {
      p.if(p.and(turn, 1), () => p.atomicAdd('total', p.shl(turn, 8)));
      p.loop(2, (inner) => p.atomicAdd('total', p.shl(inner, 20)));
    });
    p.loop(0, () => p.atomicAdd('total', 1n << 60n));
    p.where(p.less(p.laneId, 20), () => {
      p.atomicAdd('total', p.shl(p.shl(p.popcount(p.exec), 12), 13));
      p.where(p.and(p.laneId, 1), () => p.append('rows', { id: 1, wave: p.exec, lanes: p.readReg('v1') }));
      p.append('rows', { id: 2, wave: p.exec, lanes: p.readReg('v1') });
    });
    p.where(p.equal(p.laneId, 0), () => p.atomicAdd('total', 1n << 61n));
    p.append('rows', { id: 3, wave: p.exec, lanes: p.readReg('v1') });
  });
  const sum = (which: (n: number) => boolean, value: (n: number) => bigint): bigint =>
    LANES.reduce((all, n) => (isActive(n) && which(n) ? all + value(n) : all), 0n);
  const all = (): boolean => true;
  expect(sites).toEqual([sum(all, v1)]);
  expect(table).toEqual([
    ...Array.from({ length: 8 }, (_, i) =>
      sum(
        (n) => n >> 3 === i,
        () => 1n,
      ),
    ),
    0n,
    s89 + sum(all, v23),
  ]);
  const below20 = ones(ACTIVE & 0xfffffn);
  expect(total).toBe(1n + 256n * (1n + 3n + 5n + 7n + 9n + 11n) + (13n << 20n) + (below20 << 25n));
  const odd = LANES.reduce((m, n) => (n % 2 === 1 ? m | (1n << BigInt(n)) : m), 0n);
  const masks = [ACTIVE & 0xfffffn & odd, ACTIVE & 0xfffffn, ACTIVE];
  expect(rows.map((row) => [row.id, row.wave])).toEqual(masks.map((mask, i) => [i + 1, mask]));
  for (const [i, row] of rows.entries())
    expect([...row.lanes]).toEqual(LANES.map((n) => (((masks[i] as bigint) >> BigInt(n)) & 1n ? v1(n) : 0n)));
});

test.each(TARGETS)('data of memory accesses on %s, and the queue', async (target) => {
  const store = await found(target, 'global_store', 'before', (p) =>
    p.append('rows', { id: 0, wave: p.queuePtr, lanes: p.data() }),
  );
  const load = await found(target, 'global_load', 'after', (p) =>
    p.append('rows', { id: 0, wave: 0, lanes: p.data(1) }),
  );
  const wanted = (value: (n: number) => bigint): bigint[] => LANES.map((n) => (isActive(n) ? value(n) : 0n));
  expect([...(store.rows[0]?.lanes ?? [])]).toEqual(wanted(v23));
  expect([...(load.rows[0]?.lanes ?? [])]).toEqual(wanted((n) => BigInt(2 * n)));
  await expect(found(target, 'global_load', 'before', (p) => p.atomicAdd('total', p.data()))).rejects.toThrow(
    /has not returned/,
  );
  await expect(found(target, 's_nop', 'before', (p) => p.atomicAdd('total', p.data()))).rejects.toThrow(/no data 0/);
});

test.each([
  ['a float of 64 bits among those of 32', (p: P) => p.f32.add(p.readReg('s[8:9]'), 1), /takes values of 32 bits/],
  ['a shift by 64 bits', (p: P) => p.shl(1, p.readReg('s[8:9]')), /shifts by a value of 32 bits/],
  ['a ballot of the wave', (p: P) => p.ballot(p.exec), /works on a value by lane/],
  ['a product of 64 bits', (p: P) => p.mul(p.readReg('v[2:3]'), 2), /works on 32 bits/],
  ['a condition by lane', (p: P) => p.if(p.laneId, () => {}), /'where' is for one by lane/],
  ['a condition for the wave', (p: P) => p.where(p.exec, () => {}), /'if' is for one/],
  ['turns by lane', (p: P) => p.loop(p.laneId, () => {}), /one for the wave/],
  ['a register written for some lanes', (p: P) => p.where(p.laneId, () => p.writeReg('v1', 1)), /cannot be written/],
])('%s is refused', async (_, write, message) => {
  await expect(found('gfx942', 's_nop', 'before', (p) => void write(p))).rejects.toThrow(message);
});
