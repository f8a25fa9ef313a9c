// The wait rules on small sources: each order and counter rule once where it is safe and once where it is not.
import { describe, expect, test } from 'vitest';
import { checkBody } from '../../../tests/support/program.ts';
import { checkWaits } from './waits.ts';

/** `severity rule registers [fix]` of each finding. */
function found(body: string): string[] {
  return checkBody(checkWaits, `${body}\ns_endpgm`).map(
    (f) =>
      `${f.severity} ${f.rule.replace('waits/', '')} ${f.registers.join(',')} ${/s_waitcnt ([^b]*) before/.exec(f.fix ?? '')?.[1] ?? ''}`,
  );
}

const LOAD = (v: number) => `global_load_dword v${v}, v[0:1], off\n`;

describe('vector memory', () => {
  test('a result is read only after vmcnt has come down', () => {
    expect(found(`${LOAD(2)} v_mov_b32 v9, v2`)).toEqual(['error read-before-return v2 vmcnt(0)']);
    expect(found(`${LOAD(2)} s_waitcnt vmcnt(0)\n v_mov_b32 v9, v2`)).toEqual([]);
    expect(found(`${LOAD(2)} s_waitcnt lgkmcnt(0)\n v_mov_b32 v9, v2`)).toHaveLength(1);
  });

  test('loads and stores return in order', () => {
    const three = `${LOAD(2)}${LOAD(3)}global_store_dword v[0:1], v7, off\n`;
    expect(found(`${three} s_waitcnt vmcnt(2)\n v_mov_b32 v9, v2`)).toEqual([]);
    expect(found(`${three} s_waitcnt vmcnt(2)\n v_mov_b32 v9, v3`)).toEqual(['error read-before-return v3 vmcnt(1)']);
  });

  test('an outstanding result is not overwritten, but by a later load', () => {
    expect(found(`${LOAD(2)} v_mov_b32 v2, 0`)).toEqual(['error write-before-return v2 vmcnt(0)']);
    expect(found(`${LOAD(2)}${LOAD(2)} s_waitcnt vmcnt(0)\n v_mov_b32 v9, v2`)).toEqual([]);
    expect(found(`${LOAD(2)} ds_read_b32 v2, v5`)).toEqual(['error write-before-return v2 vmcnt(0)']);
  });

  test('store data may be overwritten at once', () => {
    expect(found('global_store_dword v[0:1], v7, off\n v_mov_b32 v7, 0')).toEqual([]);
  });

  test('addresses and part of a tuple count as reads', () => {
    expect(found('global_load_dwordx2 v[2:3], v[0:1], off\n global_load_dword v8, v[2:3], off')).toEqual([
      'error read-before-return v[2:3] vmcnt(0)',
    ]);
    expect(found('global_load_dwordx4 v[4:7], v[0:1], off\n v_mov_b32 v9, v6')).toEqual([
      'error read-before-return v6 vmcnt(0)',
    ]);
    expect(found('global_load_dword a4, v[0:1], off\n v_accvgpr_read_b32 v9, a4')).toHaveLength(1);
    expect(found('global_load_dword a4, v[0:1], off\n v_mov_b32 v9, v4')).toEqual([]);
  });

  test('halves of a register are loaded in order', () => {
    const halves = 'global_load_short_d16 v2, v[0:1], off\n global_load_short_d16_hi v2, v[0:1], off\n';
    expect(found(`${halves} s_waitcnt vmcnt(0)\n v_mov_b32 v9, v2`)).toEqual([]);
    expect(found(`${halves} s_waitcnt vmcnt(1)\n v_mov_b32 v9, v2`)).toHaveLength(1);
  });

  test('a full counter stalls issue: 63 later operations prove a load complete', () => {
    const stores = (n: number) => 'global_store_dword v[0:1], v7, off\n'.repeat(n);
    expect(found(`${LOAD(2)}${stores(63)} v_mov_b32 v9, v2`)).toEqual([]);
    expect(found(`${LOAD(2)}${stores(62)} v_mov_b32 v9, v2`)).toEqual(['error read-before-return v2 vmcnt(62)']);
    expect(found(`${LOAD(2)}${stores(62)} s_waitcnt vmcnt(63)\n v_mov_b32 v9, v2`)).toHaveLength(1);
  });

  test('a load into LDS writes no register', () => {
    expect(found('s_mov_b32 m0, 0\n buffer_load_dword v4, s[8:11], 0 offen lds\n v_mov_b32 v4, 0')).toEqual([]);
  });
});

describe('scalar memory, LDS and flat', () => {
  test('scalar loads return out of order: only lgkmcnt(0) helps', () => {
    const two = 's_load_dword s4, s[0:1], 0x0\n s_load_dword s5, s[0:1], 0x4\n';
    expect(found(`${two} s_waitcnt lgkmcnt(1)\n s_mov_b32 s9, s4`)).toEqual(['error read-before-return s4 lgkmcnt(0)']);
    expect(found(`${two} s_waitcnt lgkmcnt(0)\n s_mov_b32 s9, s4`)).toEqual([]);
    expect(found('s_load_dwordx2 vcc, s[0:1], 0x0\n s_cbranch_vccz L\nL:')).toHaveLength(1);
    expect(found('s_memtime s[4:5]\n s_mov_b32 s9, s5')).toHaveLength(1);
  });

  test('LDS returns in order, whatever else uses lgkmcnt', () => {
    const reads = 'ds_read_b32 v2, v8\n ds_read_b32 v3, v8\n';
    expect(found(`${reads} s_waitcnt lgkmcnt(1)\n v_mov_b32 v9, v2`)).toEqual([]);
    expect(found(`${reads} s_waitcnt lgkmcnt(1)\n v_mov_b32 v9, v3`)).toEqual([
      'error read-before-return v3 lgkmcnt(0)',
    ]);
    const mixed = 'ds_read_b32 v2, v8\n s_load_dword s4, s[0:1], 0x0\n';
    expect(found(`${mixed} s_waitcnt lgkmcnt(1)\n v_mov_b32 v9, v2`)).toEqual([
      'error read-before-return v2 lgkmcnt(0)',
    ]);
    expect(found(`${mixed} s_waitcnt lgkmcnt(0)\n v_mov_b32 v9, v2\n s_mov_b32 s9, s4`)).toEqual([]);
  });

  test('lgkmcnt(15) does not wait', () => {
    const reads = `ds_read_b32 v2, v8\n${'ds_write_b32 v8, v9\n'.repeat(14)}`;
    expect(found(`${reads} s_waitcnt lgkmcnt(15)\n v_mov_b32 v9, v2`)).toEqual([
      'error read-before-return v2 lgkmcnt(14)',
    ]);
    expect(found(`${reads} s_waitcnt lgkmcnt(14)\n v_mov_b32 v9, v2`)).toEqual([]);
  });

  test('flat loads need both counters at zero', () => {
    const flat = 'flat_load_dword v2, v[0:1]\n';
    expect(found(`${flat} s_waitcnt vmcnt(0)\n v_mov_b32 v9, v2`)).toEqual(['error read-before-return v2 lgkmcnt(0)']);
    expect(found(`${flat} s_waitcnt lgkmcnt(0)\n v_mov_b32 v9, v2`)).toEqual(['error read-before-return v2 vmcnt(0)']);
    expect(found(`${flat} s_waitcnt vmcnt(0) lgkmcnt(0)\n v_mov_b32 v9, v2`)).toEqual([]);
    expect(found(`${LOAD(3)}${flat} s_waitcnt vmcnt(1)\n v_mov_b32 v9, v3`)).toEqual([
      'error read-before-return v3 vmcnt(0)',
    ]);
  });

  test('LDS is written before a barrier is passed', () => {
    const late = ['warning barrier-before-write  lgkmcnt(0)'];
    const read = 'ds_read_b32 v10, v9\n s_waitcnt lgkmcnt(0)';
    expect(found(`ds_write_b32 v8, v9\n s_barrier\n ${read}`)).toEqual(late);
    expect(found('ds_write_b32 v8, v9\n s_barrier\n ds_add_u32 v8, v9')).toEqual(late);
    expect(found(`again:\n ${read}\n ds_write_b32 v8, v9\n s_barrier\n s_cbranch_scc1 again`)).toEqual(late);
    // Nobody reads before the next barrier, ahead of which it is waited for.
    expect(found('ds_write_b32 v8, v9\n s_barrier')).toEqual([]);
    expect(found(`ds_write_b32 v8, v9\n s_barrier\n s_waitcnt lgkmcnt(0)\n s_barrier\n ${read}`)).toEqual([]);
    expect(found('ds_write_b32 v8, v9\n s_barrier\n ds_swizzle_b32 v10, v9 offset:0x1f')).toEqual([]);
    expect(found('ds_write_b32 v8, v9\n s_waitcnt lgkmcnt(0)\n s_barrier')).toEqual([]);
    expect(found('ds_read_b32 v8, v9\n s_barrier')).toEqual([]);
  });
});

describe('paths', () => {
  test('a wait on one of two paths is a warning', () => {
    const body = `${LOAD(2)} s_cbranch_scc0 L\n s_waitcnt vmcnt(0)\nL: v_mov_b32 v9, v2`;
    expect(found(body)).toEqual(['warning read-before-return v2 vmcnt(0)']);
  });

  test('both paths without a wait, and a load on one of two paths, are errors', () => {
    expect(found(`${LOAD(2)} s_cbranch_scc0 L\n s_nop 0\nL: v_mov_b32 v9, v2`)).toEqual([
      'error read-before-return v2 vmcnt(0)',
    ]);
    expect(found(`s_cbranch_scc0 L\n ${LOAD(2)}L: v_mov_b32 v9, v2`)).toEqual(['error read-before-return v2 vmcnt(0)']);
  });

  test('the path with the fewest later operations decides', () => {
    const join = `${LOAD(2)} s_cbranch_scc0 L\n ${LOAD(3)}L: s_waitcnt vmcnt(1)\n v_mov_b32 v9, v2`;
    expect(found(join)).toEqual(['warning read-before-return v2 vmcnt(0)']);
    expect(found(join.replace('vmcnt(1)', 'vmcnt(0)'))).toEqual([]);
  });

  test('around a loop', () => {
    const loop = (wait: string) => `${LOAD(2)}L: ${wait}\n v_mov_b32 v9, v2\n ${LOAD(2)} s_cbranch_scc0 L`;
    expect(found(loop('s_waitcnt vmcnt(0)'))).toEqual([]);
    expect(found(loop('s_nop 0')).length).toBeGreaterThan(1);
    const carried = `v_mov_b32 v2, 0\nL: v_mov_b32 v9, v2\n ${LOAD(2)} s_cbranch_scc0 L`;
    expect(found(carried)).toEqual(['error read-before-return v2 vmcnt(0)']);
  });

  test('each operation is reported where it is first used, with both instructions', () => {
    const findings = checkBody(checkWaits, `${LOAD(2)} v_mov_b32 v9, v2\n v_mov_b32 v8, v2\n s_endpgm`);
    expect(findings).toHaveLength(1);
    expect(findings[0]).toMatchObject({
      place: { instruction: 'v_mov_b32_e32 v9, v2' },
      related: [{ place: { instruction: 'global_load_dword v2, v[0:1], off' } }],
      kernel: 'main',
      registers: ['v2'],
    });
  });

  test('a call is taken to wait', () => {
    const call = 's_getpc_b64 s[4:5]\n s_add_u32 s4, s4, f@rel32@lo+4\n s_addc_u32 s5, s5, f@rel32@hi+12\n';
    const body = `${LOAD(2)}${call} s_swappc_b64 s[30:31], s[4:5]\n v_mov_b32 v9, v2\n s_endpgm\nf: s_setpc_b64 s[30:31]`;
    expect(found(body)).toEqual([]);
  });
});
