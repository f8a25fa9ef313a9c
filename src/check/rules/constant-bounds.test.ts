// Addresses that are known and lie outside: what is reported, and what only looks like it.
import { describe, expect, test } from 'vitest';
import { type KernelSource, kernelObject } from '../../../tests/support/kernel-source.ts';
import { checkCodeObject } from '../index.ts';

const LDS = { group_segment_fixed_size: 4096 };
const found = (code: string, more: Partial<KernelSource> = {}): string[] =>
  checkCodeObject(kernelObject({ code, descriptor: LDS, metadata: { '.group_segment_fixed_size': 4096 }, ...more }))
    .filter((f) => /^memory\/(?:lds-bounds|kernarg-bounds|empty-buffer)$/.test(f.rule))
    .map((f) => `${f.severity} ${f.rule.slice(7)}`);

describe('LDS', () => {
  const at = (address: number, access: string) =>
    `v_mov_b32 v1, 0x${address.toString(16)}\n${access}\ns_waitcnt lgkmcnt(0)`;
  test.each([
    ['the last dword', at(4092, 'ds_write_b32 v1, v0'), []],
    ['one byte too far', at(4093, 'ds_write_b32 v1, v0'), ['error lds-bounds']],
    ['by the offset', at(4088, 'ds_write_b32 v1, v0 offset:8'), ['error lds-bounds']],
    ['the last byte', at(4095, 'ds_write_b8 v1, v0'), []],
    ['a wide read', at(4088, 'ds_read_b128 v[2:5], v1'), ['error lds-bounds']],
    ['the second of two', at(0, 'ds_read2st64_b64 v[2:5], v1 offset0:0 offset1:8'), ['error lds-bounds']],
    ['the second of two, inside', at(0, 'ds_read2_b64 v[2:5], v1 offset0:0 offset1:255'), []],
    ['an atomic', at(4096, 'ds_add_u32 v1, v0'), ['error lds-bounds']],
    ['a permutation has no address', at(9000, 'ds_bpermute_b32 v2, v1, v0'), []],
    [
      'an offset behind what is not known',
      'ds_write_b32 v0, v0 offset:4096\ns_waitcnt lgkmcnt(0)',
      ['warning lds-bounds'],
    ],
    ['an offset inside', 'ds_write_b32 v0, v0 offset:4092\ns_waitcnt lgkmcnt(0)', []],
    [
      'an address of two paths, one inside',
      'v_mov_b32 v1, 0\ns_cbranch_scc0 .L1\nv_mov_b32 v1, 0x2000\n.L1:\nds_write_b32 v1, v0',
      [],
    ],
    ['no address is known once EXEC is wider', `v_mov_b32 v1, 0x2000\ns_mov_b64 exec, -1\nds_write_b32 v1, v0`, []],
  ])('%s', (_what, code, rules) => {
    expect(found(code)).toEqual(rules);
  });
  test('LDS that the launch adds has no bound', () => {
    const code = at(8192, 'ds_write_b32 v1, v0');
    expect(found(code, { descriptor: {}, metadata: {} })).toEqual([]);
    expect(
      found(code, {
        args: [
          [8, 'global_buffer'],
          [4, 'hidden_dynamic_lds_size'],
        ],
      }),
    ).toEqual([]);
  });
});

describe('arguments', () => {
  const args = [
    [8, 'global_buffer'],
    [8, 'global_buffer'],
    [4, 'by_value'],
  ] as const;
  test.each([
    ['the last, with the rest of 16 bytes', 's_load_dwordx4 s[4:7], s[0:1], 0x10', []],
    ['behind them', 's_load_dwordx2 s[4:5], s[0:1], 0x20', ['error kernarg-bounds']],
    ['partly behind them', 's_load_dwordx8 s[4:11], s[0:1], 0x10', ['error kernarg-bounds']],
    [
      'before them',
      's_sub_u32 s2, s0, 8\ns_subb_u32 s3, s1, 0\ns_load_dword s4, s[2:3], 0x0',
      ['error kernarg-bounds'],
    ],
    [
      'through a moved pointer',
      's_add_u32 s2, s0, 32\ns_addc_u32 s3, s1, 0\ns_load_dword s4, s[2:3], 0x0',
      ['error kernarg-bounds'],
    ],
    [
      'through another pointer',
      's_load_dwordx2 s[2:3], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_load_dword s4, s[2:3], 0x100',
      [],
    ],
  ])('%s', (_what, code, rules) => {
    expect(found(code, { args })).toEqual(rules);
  });
});

describe('buffers', () => {
  const resource = (records: string) => `s_mov_b32 s6, ${records}\ns_mov_b32 s7, 0x20000`;
  test.each([
    ['of no records', `${resource('0')}\nbuffer_load_dword v1, v0, s[4:7], 0 offen`, ['warning empty-buffer']],
    ['of some', `${resource('64')}\nbuffer_load_dword v1, v0, s[4:7], 0 offen`, []],
    [
      'of none on one path',
      `${resource('0')}\ns_cbranch_scc0 .L1\ns_mov_b32 s6, 4\n.L1:\nbuffer_load_dword v1, v0, s[4:7], 0 offen`,
      [],
    ],
  ])('%s', (_what, code, rules) => {
    expect(found(`s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n${code}\ns_waitcnt vmcnt(0)`)).toEqual(
      rules,
    );
  });
});
