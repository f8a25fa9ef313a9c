// Rules that compare an edit with its baseline: what an inserted instruction overwrites, what the order of memory has lost.
import { describe, expect, test } from 'vitest';
import { kernelObject } from '../../tests/support/kernel-source.ts';
import { checkCodeObject } from './index.ts';

function build(code: string, vgprs = 32) {
  const descriptor = { next_free_vgpr: vgprs, accum_offset: vgprs };
  return kernelObject({ code, target: 'gfx942:xnack-', descriptor, metadata: { '.vgpr_count': vgprs } });
}

function found(edit: string, baseline: string, vgprs?: number): string[] {
  return checkCodeObject(build(edit, vgprs), { against: build(baseline) })
    .filter((f) => (f.severity !== 'note' || f.rule === 'resources/occupancy') && !/^hazards|initialised$/.test(f.rule))
    .map((f) => `${f.severity} ${f.rule} ${f.registers.join(',')}`.trim());
}

describe('what an inserted instruction overwrites', () => {
  const code = (inserted: string) =>
    `v_mov_b32 v3, v0\nv_mov_b32 v4, v0\ns_cmp_eq_u32 s0, 0\n${inserted}s_cselect_b32 s4, 1, 2\nv_add_u32 v5, v3, v4`;
  test.each([
    ['SCC', 's_add_u32 s6, s0, 1\n', ['error control-flow/clobbered scc']],
    ['a vector register', 'v_mov_b32 v3, 0\n', ['warning control-flow/clobbered v3']],
    ['nothing that is read', 's_mov_b32 s6, 0\nv_mov_b32 v9, 0\n', []],
    ['a value that it changes on purpose', 'v_add_u32 v3, v3, v3\n', []],
  ])('%s', (_what, inserted, expected) => {
    expect(found(code(inserted), code(''))).toEqual(expected);
  });

  test('a definition that was replaced is no clobber', () => {
    expect(found('v_mov_b32 v3, 7\nv_add_u32 v5, v3, v3', 'v_mov_b32 v3, v0\nv_add_u32 v5, v3, v3')).toEqual([]);
  });

  test('instructions that changed places', () => {
    const code = (...lines: string[]) => ['v_mov_b32 v3, v0', ...lines, 'v_add_u32 v9, v5, v6'].join('\n');
    const [write, read] = ['v_add_u32 v5, v3, v0', 'v_sub_u32 v6, v5, v3'];
    expect(found(code(write, read), code(write, read))).toEqual([]);
    expect(found(code(read, write), code(write, read))).toContain('error control-flow/reordered v5');
    expect(found(code(write, read), code(read, write))).toContain('error control-flow/reordered v5');
    const other = 'v_sub_u32 v7, v0, v0';
    expect(found(code(other, write, read), code(write, other, read))).toEqual([]);
  });

  test('VCC between a carry and its use', () => {
    const carry = (inserted: string) => `v_add_co_u32 v3, vcc, v0, v0\n${inserted}v_addc_co_u32 v4, vcc, v0, v0, vcc`;
    expect(found(carry('v_cmp_eq_u32 vcc, 1, v0\n'), carry(''))).toEqual([
      'error control-flow/clobbered vcc_lo,vcc_hi',
    ]);
    expect(found(carry('v_cmp_eq_u32 s[6:7], 1, v0\n'), carry(''))).toEqual([]);
  });
});

describe('the order of memory', () => {
  const stores = 'v_mov_b32 v1, v0\nglobal_store_dword v0, v1, s[0:1]\n';
  test('a store before a barrier', () => {
    const code = (wait: string) => `${stores}${wait}s_barrier`;
    expect(found(code('s_waitcnt vmcnt(1)\n'), code('s_waitcnt vmcnt(0)\n'))).toEqual(['error waits/order-lost']);
    expect(found(code(''), code('s_waitcnt vmcnt(0)\n'))).toEqual(['error waits/order-lost']);
    expect(found(code('s_nop 0\ns_waitcnt vmcnt(0)\n'), code('s_waitcnt vmcnt(0)\n'))).toEqual([]);
  });

  test('an LDS read before a barrier behind which others write', () => {
    const code = (wait: string) => `ds_read_b32 v3, v0\n${wait}s_barrier\ns_waitcnt lgkmcnt(0)\nv_add_u32 v4, v3, v3`;
    expect(found(code(''), code('s_waitcnt lgkmcnt(0)\n'))).toEqual(['error waits/order-lost']);
  });

  test('a cache operation', () => {
    const code = (operation: string) => `${stores}${operation}s_waitcnt vmcnt(0)\nglobal_atomic_add v0, v1, s[0:1] sc1`;
    expect(found(code(''), code('buffer_wbl2 sc1\n'))).toEqual(['error memory/cache-operation-lost']);
    expect(found(code('buffer_wbl2 sc1\ns_nop 0\n'), code('buffer_wbl2 sc1\n'))).toEqual([]);
  });
});

test('occupancy that falls', () => {
  expect(found('s_nop 0', 's_nop 0', 256)).toEqual(['warning resources/occupancy']);
  expect(found('s_nop 0', 's_nop 0', 32)).toEqual([]);
});
