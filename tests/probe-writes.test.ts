// Probes that change what a kernel does: registers, EXEC and SCC that are written, instructions that are replaced and left out.
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
  u64,
} from '../src/instrument/index.ts';
import { kernelSource } from './support/kernel-source.ts';

const STATE = { count: u64() };
type Write = (p: Body<typeof STATE>) => void;
type Side = 'before' | 'after' | 'replace' | 'remove';

/** Each lane stores v1 = 5 + s6 when SCC says that s6 is 3, and 1 otherwise. */
const CODE = `
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32_e32 v2, 2, v0
  s_mov_b32 s6, 3
  v_mov_b32_e32 v1, 5
  s_cmp_eq_u32 s6, 3
  s_cbranch_scc1 .Ladd
  v_mov_b32_e32 v1, 1
  s_branch .Lstore
.Ladd:
  v_add_u32_e32 v1, s6, v1
.Lstore:
  s_waitcnt lgkmcnt(0)
  global_store_dword v2, v1, s[4:5]
`;
const code = readCodeObject(assembleAndLink(kernelSource({ code: CODE })));

/** Runs the kernel with code at the instruction that has a text; what the lanes stored. */
async function stored(text: string, side: Side, write: Write = () => {}) {
  const probe = defineProbe({
    name: 'writing',
    summary: 'writes registers',
    state: STATE,
    instrument({ program, at }) {
      const one = program.instructions().find((i) => i.text.startsWith(text)) as ProbeInstruction;
      if (side === 'remove') at.remove(one);
      else at[side](one, write);
    },
    report: () => ({}),
  }) as unknown as ProbeDefinition;
  const result = instrument(code, probe);
  const device = await createDevice('sim', { target: 'gfx942' });
  const buffer = device.alloc(256);
  device.write(buffer, new Uint8Array(256).fill(0xff));
  const kernel = device.load(result.codeObject.bytes).kernel('k');
  await device.dispatch({ kernel, grid: [1, 1, 1], block: [64, 1, 1], args: [buffer] });
  const lanes = [...new Int32Array(device.read(buffer).buffer)];
  device.close();
  return { lanes, result };
}

const every = (value: number): number[] => Array.from({ length: 64 }, () => value);

test('registers that a probe writes are what the kernel goes on with', async () => {
  expect((await stored('s_mov_b32 s6', 'after', (p) => p.atomicAdd('count', 1))).lanes).toEqual(every(8));
  expect((await stored('v_mov_b32_e32 v1, 5', 'after', (p) => p.writeReg('v1', 40))).lanes).toEqual(every(43));
  expect((await stored('v_add_u32', 'before', (p) => p.writeReg('v1', p.laneId))).lanes).toEqual(
    every(0).map((_, i) => i + 3),
  );
  expect((await stored('v_add_u32', 'before', (p) => p.writeReg('s6', p.mul(p.readReg('s6'), 100)))).lanes).toEqual(
    every(305),
  );
  // Moved down by one: the low half is written before the high one is read.
  const shift: Write = (p) => {
    p.writeReg('s[7:8]', 2 ** 33 + 9);
    p.writeReg('s[6:7]', p.readReg('s[7:8]'));
    p.if(p.isZero(p.sub(p.readReg('s7'), 2)), () => p.writeReg('v1', 1000));
  };
  expect((await stored('v_add_u32', 'before', shift)).lanes).toEqual(every(1009));
});

test('SCC and EXEC that a probe writes are the kernel’s', async () => {
  expect((await stored('s_cbranch_scc1', 'before', (p) => p.writeReg('scc', 0))).lanes).toEqual(every(1));
  expect((await stored('s_cbranch_scc1', 'before', (p) => p.writeReg('scc', 6))).lanes).toEqual(every(8));
  const half: Write = (p) => {
    p.writeExec(0xffffffff);
    p.atomicAdd('count', p.popcount(p.exec));
  };
  expect((await stored('global_store', 'before', half)).lanes).toEqual([...every(8).slice(32), ...every(-1).slice(32)]);
  expect((await stored('global_store', 'before', (p) => p.writeExec(p.and(p.exec, 1)))).lanes).toEqual([
    8,
    ...every(-1).slice(1),
  ]);
});

test('instructions are replaced and left out', async () => {
  const doubled = await stored('v_add_u32', 'replace', (p) => p.writeReg('v1', p.readReg('v2')));
  expect(doubled.lanes).toEqual(every(0).map((_, i) => 4 * i));
  expect((await stored('v_add_u32', 'remove')).lanes).toEqual(every(5));
  expect((await stored('global_store', 'remove')).lanes).toEqual(every(-1));
  // The comparison does not happen: SCC is what it was.
  expect((await stored('s_cmp_eq_u32', 'replace', (p) => p.writeReg('scc', 0))).lanes).toEqual(every(1));
  const branch = await stored('s_cbranch_scc1', 'remove');
  expect(branch.lanes).toEqual(every(8));
  expect(branch.result.rejected[0]?.reason).toContain('cannot be replaced');
});

test('writes that do not fit are errors', async () => {
  const at = (write: Write) => stored('v_add_u32', 'before', write);
  await expect(at((p) => p.writeReg('s6', p.laneId))).rejects.toThrow('one for the wave');
  await expect(at((p) => p.writeReg('s6', p.exec))).rejects.toThrow('has 32 bits');
  await expect(at((p) => p.writeReg('v300', 1))).rejects.toThrow('no register');
  await expect(at((p) => p.writeExec(p.laneId))).rejects.toThrow('one for the wave');
});
