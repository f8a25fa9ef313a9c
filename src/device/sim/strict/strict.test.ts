// Every finding of strict mode on a kernel that has exactly that mistake, and its mended twin on which strict mode is silent.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type StrictRun, shortFindings, strictFindings } from '../../../../tests/support/strict.ts';
import { type FailOn, RUN_RULES } from '../../../finding/index.ts';
import { FindingLog, formatRunFinding } from './findings.ts';

interface Case {
  readonly name: string;
  readonly wrong: string;
  readonly right: string;
  readonly finds: string | readonly string[];
  readonly options?: StrictRun;
  readonly rightOptions?: StrictRun;
}

const jumpTo = (jump: string): string => `v_mov_b32_e32 v4, s4
v_mov_b32_e32 v5, s5
s_getpc_b64 s[8:9]
.Lhere:
s_add_u32 s8, s8, .Lthere-.Lhere
s_addc_u32 s9, s9, 0
v_readfirstlane_b32 s12, v4
s_nop 4
v_readfirstlane_b32 s13, v5
${jump}
.Lthere:
global_load_dword v2, v1, s[12:13]
s_waitcnt vmcnt(0)`;

const LOAD = 'global_load_dword v2, v1, s[4:5]';
const STORE = (v: string) => `global_store_dword v1, ${v}, s[4:5]`;
const TWO_WAVES: StrictRun = { block: [128, 1, 1], lds: 1024 };
const LDS: StrictRun = { lds: 1024 };
const SCRATCH: StrictRun = {
  descriptor: { private_segment_fixed_size: 16, enable_private_segment: 1 },
  metadata: { '.private_segment_fixed_size': 16 },
};
/** A workgroup's four bytes of the buffer: s[6:7]. */
const OWN = 's_lshl_b32 s8, s2, 2\ns_add_u32 s6, s4, s8\ns_addc_u32 s7, s5, 0';

const CASES: readonly Case[] = [
  // Missing waits: registers ----------------------------------------------------------------------------------------------------
  {
    name: 'a loaded VGPR is read too early',
    wrong: `${LOAD}\nv_add_u32_e32 v3, v2, v1`,
    right: `${LOAD}\ns_waitcnt vmcnt(0)\nv_add_u32_e32 v3, v2, v1`,
    finds: 'waits/read-before-return v2 vmcnt(0)',
  },
  {
    name: 'the smallest count counts what was issued since',
    wrong: `${LOAD}\nglobal_load_dword v3, v1, s[4:5]\ns_waitcnt vmcnt(2)\nv_mov_b32_e32 v5, v2`,
    right: `${LOAD}\nglobal_load_dword v3, v1, s[4:5]\ns_waitcnt vmcnt(1)\nv_mov_b32_e32 v5, v2`,
    finds: 'waits/read-before-return v2 vmcnt(1)',
  },
  {
    name: 'a loaded VGPR is overwritten too early',
    wrong: `${LOAD}\nv_mov_b32_e32 v2, 0`,
    right: `${LOAD}\ns_waitcnt vmcnt(0)\nv_mov_b32_e32 v2, 0`,
    finds: 'waits/write-before-return v2 vmcnt(0)',
  },
  {
    name: 'scalar loads come back out of order',
    wrong: 's_load_dword s8, s[4:5], 0x0\ns_load_dword s9, s[4:5], 0x4\ns_waitcnt lgkmcnt(1)\ns_mov_b32 s10, s8',
    right: 's_load_dword s8, s[4:5], 0x0\ns_load_dword s9, s[4:5], 0x4\ns_waitcnt lgkmcnt(0)\ns_mov_b32 s10, s8',
    finds: 'waits/read-before-return s8 lgkmcnt(0)',
  },
  {
    name: 'LDS results are counted by lgkmcnt',
    wrong: 'ds_write_b32 v1, v0\nds_read_b32 v2, v1\ns_waitcnt lgkmcnt(1)\nv_mov_b32_e32 v3, v2',
    right: 'ds_write_b32 v1, v0\nds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\nv_mov_b32_e32 v3, v2',
    finds: 'waits/read-before-return v2 lgkmcnt(0)',
    options: LDS,
  },
  {
    name: 'flat loads need both counters',
    wrong: `v_mov_b32_e32 v4, s4\nv_mov_b32_e32 v5, s5\nflat_load_dword v2, v[4:5]\ns_waitcnt vmcnt(0)\nv_mov_b32_e32 v3, v2`,
    right: `v_mov_b32_e32 v4, s4\nv_mov_b32_e32 v5, s5\nflat_load_dword v2, v[4:5]\ns_waitcnt vmcnt(0) lgkmcnt(0)\nv_mov_b32_e32 v3, v2`,
    finds: 'waits/read-before-return v2 lgkmcnt(0)',
  },
  {
    name: 'an address register that is still loaded',
    wrong: `global_load_dword v2, v1, s[4:5]\nglobal_load_dword v3, v2, s[4:5]`,
    right: `global_load_dword v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\nv_and_b32_e32 v2, 4, v2\nglobal_load_dword v3, v2, s[4:5]`,
    finds: 'waits/read-before-return v2 vmcnt(0)',
    options: { isZeroed: true },
  },
  {
    name: 'a full counter stalls issue: 63 later loads prove one complete',
    wrong: `${LOAD}\n${'global_load_dword v3, v1, s[4:5]\n'.repeat(62)}v_mov_b32_e32 v5, v2`,
    right: `${LOAD}\n${'global_load_dword v3, v1, s[4:5]\n'.repeat(63)}v_mov_b32_e32 v5, v2`,
    finds: 'waits/read-before-return v2 vmcnt(62)',
  },
  // Missing waits: LDS ----------------------------------------------------------------------------------------------------------
  {
    name: 'LDS that a load into LDS is still to write',
    wrong: `s_mov_b32 m0, 0\nglobal_load_lds_dword v1, s[4:5]\nv_mbcnt_lo_u32_b32 v3, -1, 0\nds_read_b32 v2, v1\ns_waitcnt vmcnt(0) lgkmcnt(0)`,
    right: `s_mov_b32 m0, 0\nglobal_load_lds_dword v1, s[4:5]\ns_waitcnt vmcnt(0)\nds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)`,
    finds: 'waits/lds-before-return vmcnt(0)',
    options: LDS,
  },
  {
    name: 'a store into LDS that may not have happened when the barrier is passed',
    wrong: `ds_write_b32 v1, v0\ns_barrier\nv_xor_b32_e32 v2, 0x100, v1\nds_read_b32 v3, v2\ns_waitcnt lgkmcnt(0)`,
    right: `ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\ns_barrier\nv_xor_b32_e32 v2, 0x100, v1\nds_read_b32 v3, v2\ns_waitcnt lgkmcnt(0)`,
    finds: 'waits/barrier-before-write lgkmcnt(0)',
    options: TWO_WAVES,
  },
  {
    name: 'what another wavefront has stored into LDS before a barrier without a wait; its own it reads in order',
    wrong: `ds_write_b32 v1, v0\ns_barrier\nv_xor_b32_e32 v2, 0x100, v1\nds_read_b32 v3, v2\ns_waitcnt lgkmcnt(0)`,
    right: `ds_write_b32 v1, v0\ns_barrier\nds_write_b32 v1, v1\nv_xor_b32_e32 v2, 4, v1\nds_read_b32 v3, v2\ns_waitcnt lgkmcnt(0)`,
    finds: 'waits/barrier-before-write lgkmcnt(0)',
    options: TWO_WAVES,
  },
  {
    name: 'DPP leaves lanes as they were, which nothing has written',
    wrong: `s_nop 1\nv_mov_b32_dpp v2, v1 row_shr:1 row_mask:0xf bank_mask:0xf\n${STORE('v2')}`,
    right: `v_mov_b32_e32 v2, 0\ns_nop 1\nv_mov_b32_dpp v2, v1 row_shr:1 row_mask:0xf bank_mask:0xf\n${STORE('v2')}`,
    finds: 'registers/uninitialised v2',
  },
  {
    name: 'a packed sum adds to what nothing has written',
    wrong: `v_pk_fmac_f16 v2, v1, v1\n${STORE('v2')}`,
    right: `v_mov_b32_e32 v2, 0\nv_pk_fmac_f16 v2, v1, v1\n${STORE('v2')}`,
    finds: 'registers/uninitialised v2',
  },
  {
    name: 'DPP reads lanes that are not active, and writes none from them',
    wrong: `s_mov_b64 exec, 0xf0\ns_nop 4\nv_mov_b32_dpp v2, v1 row_shr:1 row_mask:0xf bank_mask:0xf\n${STORE('v2')}`,
    right: `s_mov_b64 exec, 0xf0\nv_mov_b32_e32 v2, 0\ns_nop 4\nv_mov_b32_dpp v2, v1 row_shr:1 row_mask:0xf bank_mask:0xf\n${STORE('v2')}`,
    finds: 'registers/uninitialised v2',
  },
  // Memory ----------------------------------------------------------------------------------------------------------------------
  {
    name: 'a store past the end of a buffer',
    wrong: `v_add_u32_e32 v1, 0x400, v1\n${STORE('v0')}`,
    right: STORE('v0'),
    finds: 'memory/out-of-bounds',
  },
  {
    name: 'a freed buffer',
    wrong: STORE('v0'),
    right: STORE('v0'),
    finds: 'memory/use-after-free',
    options: { isFreed: true },
    rightOptions: {},
  },
  {
    name: 'a store to code',
    wrong: `s_getpc_b64 s[6:7]\nv_mov_b32_e32 v2, 0\ns_mov_b64 exec, 1\nglobal_store_dword v2, v0, s[6:7]`,
    right: `s_mov_b64 s[6:7], s[4:5]\nv_mov_b32_e32 v2, 0\nglobal_store_dword v1, v0, s[6:7]`,
    finds: 'memory/read-only',
  },
  {
    name: 'LDS beyond the allocation',
    wrong: 'ds_write_b32 v1, v0 offset:1024',
    right: 'ds_write_b32 v1, v0 offset:512',
    finds: 'memory/lds-out-of-bounds',
    options: LDS,
  },
  {
    name: 'scratch beyond the allocation',
    wrong: 'scratch_store_dword off, v0, off offset:16',
    right: 'scratch_store_dword off, v0, off offset:12',
    finds: 'memory/scratch-out-of-bounds',
    options: SCRATCH,
  },
  {
    name: 'a misaligned atomic',
    wrong: `v_add_u32_e32 v1, 2, v1\nv_mov_b32_e32 v2, 1\ns_mov_b64 exec, 1\nglobal_atomic_add v1, v2, s[4:5]`,
    right: `v_mov_b32_e32 v2, 1\nglobal_atomic_add v1, v2, s[4:5]`,
    finds: 'memory/misaligned',
  },
  {
    name: 'a misaligned scalar load',
    wrong: `s_add_u32 s6, s4, 2\ns_addc_u32 s7, s5, 0\ns_load_dword s8, s[6:7], 0x0\ns_waitcnt lgkmcnt(0)`,
    right: `s_add_u32 s6, s4, 4\ns_addc_u32 s7, s5, 0\ns_load_dword s8, s[6:7], 0x0\ns_waitcnt lgkmcnt(0)`,
    finds: 'memory/misaligned',
  },
  {
    name: 'scratch behind a dword at an odd address',
    wrong:
      'scratch_store_dword off, v0, off offset:3\nscratch_load_ubyte v2, off, off offset:8\ns_waitcnt vmcnt(0)\nv_add_u32_e32 v3, 1, v2\nglobal_store_dword v1, v3, s[4:5]',
    right:
      'scratch_store_dword off, v0, off offset:3\nscratch_load_ubyte v2, off, off offset:6\ns_waitcnt vmcnt(0)\nv_add_u32_e32 v3, 1, v2\nglobal_store_dword v1, v3, s[4:5]',
    finds: 'memory/uninitialised v3',
    options: SCRATCH,
  },
  {
    name: 'global memory that nothing has written',
    wrong: `${LOAD}\ns_waitcnt vmcnt(0)\nv_add_u32_e32 v3, 1, v2\n${STORE('v3')}`,
    right: `${LOAD}\ns_waitcnt vmcnt(0)\nv_add_u32_e32 v3, 1, v2\n${STORE('v3')}`,
    finds: 'memory/uninitialised v3',
    options: { written: 128 },
    rightOptions: { written: 256 },
  },
  {
    name: 'LDS that nothing has written',
    wrong: 'ds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\nv_add_u32_e32 v3, 1, v2\nglobal_store_dword v1, v3, s[4:5]',
    right:
      'ds_write_b32 v1, v0\nds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)\nv_add_u32_e32 v3, 1, v2\nglobal_store_dword v1, v3, s[4:5]',
    finds: 'memory/uninitialised v3',
    options: LDS,
  },
  {
    name: 'scratch that nothing has written',
    wrong:
      'scratch_load_dword v2, off, off offset:4\ns_waitcnt vmcnt(0)\nv_add_u32_e32 v3, 1, v2\nglobal_store_dword v1, v3, s[4:5]',
    right:
      'scratch_store_dword off, v0, off offset:4\nscratch_load_dword v2, off, off offset:4\ns_waitcnt vmcnt(0)\nv_add_u32_e32 v3, 1, v2\nglobal_store_dword v1, v3, s[4:5]',
    finds: 'memory/uninitialised v3',
    options: SCRATCH,
  },
  {
    name: 'an LDS counter that nothing has initialised',
    wrong: 'v_mov_b32_e32 v2, 1\nds_add_u32 v1, v2\ns_waitcnt lgkmcnt(0)',
    right: 'v_mov_b32_e32 v2, 1\nds_write_b32 v1, v2\nds_add_u32 v1, v2\ns_waitcnt lgkmcnt(0)',
    finds: 'memory/uninitialised',
    options: LDS,
  },
  {
    name: 'arguments that are not there',
    wrong: 's_load_dword s8, s[0:1], 0x8\ns_waitcnt lgkmcnt(0)',
    right: 's_load_dword s8, s[0:1], 0x4\ns_waitcnt lgkmcnt(0)',
    finds: 'memory/kernarg-overrun',
  },
  {
    name: 'the rest of a wide argument load is used',
    wrong: 's_load_dwordx4 s[8:11], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_add_u32 s12, s10, 1',
    right: 's_load_dwordx4 s[8:11], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_add_u32 s12, s9, 1',
    finds: 'memory/kernarg-overrun s10',
  },
  // Registers -------------------------------------------------------------------------------------------------------------------
  {
    name: 'a VGPR that nothing has written',
    wrong: `v_add_u32_e32 v3, v2, v1\n${STORE('v3')}`,
    right: `v_mov_b32_e32 v2, 7\nv_add_u32_e32 v3, v2, v1\n${STORE('v3')}`,
    finds: 'registers/uninitialised v3',
  },
  {
    name: 'lanes that were off when the register was written',
    wrong:
      's_mov_b64 exec, 0xff\nv_mov_b32_e32 v2, 7\ns_mov_b64 exec, -1\nv_add_u32_e32 v3, v2, v1\nglobal_store_dword v1, v3, s[4:5]',
    right:
      'v_mov_b32_e32 v2, 9\ns_mov_b64 exec, 0xff\nv_mov_b32_e32 v2, 7\ns_mov_b64 exec, -1\nv_add_u32_e32 v3, v2, v1\nglobal_store_dword v1, v3, s[4:5]',
    finds: 'registers/uninitialised v3',
  },
  {
    name: 'an SGPR that nothing has written, carried along',
    wrong: 's_mov_b32 s10, s9\ns_add_u32 s11, s10, 1',
    right: 's_mov_b32 s9, 3\ns_mov_b32 s10, s9\ns_add_u32 s11, s10, 1',
    finds: 'registers/uninitialised s10',
  },
  {
    name: 'VCC that nothing has written',
    wrong: 's_cbranch_vccz .Lnext\n.Lnext:',
    right: 'v_cmp_eq_u32_e32 vcc, 0, v0\ns_cbranch_vccz .Lnext\n.Lnext:',
    finds: 'registers/uninitialised vcc_lo',
  },
  {
    name: 'half of a register',
    wrong:
      'v_add_u16_sdwa v2, v0, v0 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 src1_sel:WORD_0\ns_nop 0\nv_add_f16_e32 v3, v2, v0\nglobal_store_dword v1, v3, s[4:5]',
    right:
      'v_add_u16_sdwa v2, v0, v0 dst_sel:WORD_0 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 src1_sel:WORD_0\ns_nop 0\nv_add_f16_e32 v3, v2, v0\nglobal_store_dword v1, v3, s[4:5]',
    finds: 'registers/uninitialised v3',
  },
  {
    // A call takes longer than any wait.
    name: 'an address too soon behind a jump through a register',
    wrong: jumpTo('s_setpc_b64 s[8:9]'),
    right: jumpTo('s_swappc_b64 s[10:11], s[8:9]'),
    finds: 'hazards/wait-states s[12:13]',
  },
  {
    name: 'matrix operands in lanes that EXEC turns off',
    wrong:
      's_mov_b64 exec, 0xff\nv_mov_b32_e32 v4, 0\nv_mov_b32_e32 v5, 0\ns_mov_b64 exec, -1\nv_mfma_f32_4x4x1_16b_f32 v[8:11], v4, v0, 0\ns_nop 7',
    right: 'v_mov_b32_e32 v4, 0\ns_nop 1\nv_mfma_f32_4x4x1_16b_f32 v[8:11], v4, v0, 0\ns_nop 7',
    finds: 'registers/uninitialised v4',
  },
  {
    name: 'an undefined lane that is read',
    wrong: 's_mov_b64 exec, 1\nv_mov_b32_e32 v2, 7\ns_nop 4\nv_readlane_b32 s8, v2, 5\ns_add_u32 s9, s8, 1',
    right: 's_mov_b64 exec, 1\nv_mov_b32_e32 v2, 7\ns_nop 4\nv_readlane_b32 s8, v2, 0\ns_add_u32 s9, s8, 1',
    finds: 'registers/uninitialised s8',
  },
  {
    name: 'a VGPR beyond the descriptor',
    wrong: 'v_mov_b32_e32 v40, 0',
    right: 'v_mov_b32_e32 v31, 0',
    finds: 'registers/beyond-allocation v40',
  },
  {
    name: 'an AGPR beyond the descriptor',
    wrong: 'v_accvgpr_write_b32 a8, v0',
    right: 'v_accvgpr_write_b32 a7, v0',
    finds: 'registers/beyond-allocation a8',
  },
  // Races -----------------------------------------------------------------------------------------------------------------------
  {
    name: 'LDS written by one wavefront and read by another without a barrier',
    wrong:
      'ds_write_b32 v1, v0\nv_and_b32_e32 v2, 0xff, v1\ns_waitcnt lgkmcnt(0)\nds_read_b32 v3, v2\ns_waitcnt lgkmcnt(0)',
    right:
      'ds_write_b32 v1, v0\nv_and_b32_e32 v2, 0xff, v1\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v3, v2\ns_waitcnt lgkmcnt(0)',
    finds: 'races/lds',
    options: TWO_WAVES,
  },
  {
    name: 'LDS written by all wavefronts',
    wrong: 'v_mov_b32_e32 v2, 0\ns_mov_b64 exec, 1\nds_write_b32 v2, v0\ns_waitcnt lgkmcnt(0)',
    right:
      'v_mov_b32_e32 v2, 0\nv_mov_b32_e32 v3, 1\ns_mov_b64 exec, 1\nds_write_b32 v2, v2\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_add_u32 v2, v3\ns_waitcnt lgkmcnt(0)',
    finds: 'races/lds',
    options: TWO_WAVES,
  },
  {
    name: 'workgroups that write the same bytes',
    wrong: 'v_add_u32_e32 v2, s2, v0\nglobal_store_dword v1, v2, s[4:5]',
    right: `${OWN}\ns_mov_b64 exec, 1\nglobal_store_dword v1, v0, s[6:7]`,
    finds: 'races/global',
    options: { grid: [2, 1, 1] },
  },
  {
    name: 'a workgroup that reads what another one writes',
    wrong: `${OWN}\ns_mov_b64 exec, 1\nglobal_load_dword v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\nv_add_u32_e32 v2, s2, v2\nglobal_store_dword v1, v2, s[6:7]`,
    right: `${OWN}\ns_mov_b64 exec, 1\nglobal_load_dword v2, v1, s[6:7]\ns_waitcnt vmcnt(0)\nv_add_u32_e32 v2, s2, v2\nglobal_store_dword v1, v2, s[6:7]`,
    finds: 'races/global',
    options: { grid: [3, 1, 1] },
  },
  {
    name: 'workgroups that count without an atomic',
    wrong: `v_mov_b32_e32 v2, 0\ns_mov_b64 exec, 1\n${LOAD.replace('v1', 'v2').replace('v2,', 'v3,')}\ns_waitcnt vmcnt(0)\nv_add_u32_e32 v3, 1, v3\nglobal_store_dword v2, v3, s[4:5]`,
    right: 'v_mov_b32_e32 v2, 0\nv_mov_b32_e32 v3, 1\ns_mov_b64 exec, 1\nglobal_atomic_add v2, v3, s[4:5]',
    finds: ['races/global', 'races/global'],
    options: { grid: [2, 1, 1] },
  },
  // Barriers and loops ----------------------------------------------------------------------------------------------------------
  {
    name: 'wavefronts that pass different numbers of barriers',
    wrong: 'v_readfirstlane_b32 s8, v0\ns_cmp_eq_u32 s8, 0\ns_cbranch_scc1 .Lend2\ns_barrier\n.Lend2:',
    right:
      'v_readfirstlane_b32 s8, v0\ns_cmp_eq_u32 s8, 0\ns_cbranch_scc1 .Lother\ns_barrier\ns_branch .Lend2\n.Lother:\ns_barrier\n.Lend2:',
    finds: 'barriers/divergence',
    options: TWO_WAVES,
  },
  {
    name: 'a loop that never ends because nothing changes',
    wrong: 's_mov_b64 exec, 0\n.Lspin:\nv_cmp_eq_u32_e32 vcc, 0, v0\ns_cbranch_vccz .Lspin',
    right: 's_mov_b64 exec, 1\n.Lspin:\nv_cmp_eq_u32_e32 vcc, 0, v0\ns_cbranch_vccz .Lspin',
    finds: 'schedule/deadlock',
    options: { maxInstructions: 1_000_000 },
  },
  {
    name: 'a loop that never ends although it counts',
    wrong: 's_mov_b32 s8, 0\n.Lspin:\ns_add_u32 s8, s8, 1\ns_branch .Lspin',
    right: 's_mov_b32 s8, 0\n.Lspin:\ns_add_u32 s8, s8, 1\ns_cmp_lt_u32 s8, 100\ns_cbranch_scc1 .Lspin',
    finds: 'schedule/budget',
    options: { maxInstructions: 100_000 },
  },
];

describe.each(['compiled', 'interpreter'] as const)('one mistake, one finding: %s', (engine) => {
  test.each(CASES)('$name', async ({ wrong, right, finds, options, rightOptions }) => {
    expect(shortFindings(await strictFindings(wrong, { ...options, engine }))).toEqual([finds].flat());
    expect(shortFindings(await strictFindings(right, { ...(rightOptions ?? options), engine }))).toEqual([]);
  });
});

describe('a finding', () => {
  test('says where it is, what was involved, and how to mend it', async () => {
    const [d] = await strictFindings(`${LOAD}\ns_mov_b64 exec, 0xf0\nv_add_u32_e32 v3, v2, v1`);
    expect(d).toMatchObject({
      rule: 'waits/read-before-return',
      severity: 'error',
      kernel: 'k',
      place: { instruction: 'v_add_u32_e32 v3, v2, v1' },
      workgroup: [0, 0, 0],
      wavefront: 0,
      lane: 4,
      registers: ['v2'],
      related: [{ role: 'writes the register', place: { instruction: 'global_load_dword v2, v1, s[4:5]' } }],
      count: 1,
    });
    expect(formatRunFinding(d as NonNullable<typeof d>, 'k.co')).toContain('fix: Insert s_waitcnt vmcnt(0)');
  });

  test('names the lane, the address and the nearest allocation of a fault', async () => {
    const [d] = await strictFindings(`v_add_u32_e32 v1, 0x384, v1\n${STORE('v0')}`);
    expect(d).toMatchObject({
      rule: 'memory/out-of-bounds',
      lane: 31,
      space: 'global',
      allocation: { label: 'x', size: 1024, distance: 0 },
    });
    expect((d?.address ?? 0) - (d?.allocation?.base ?? 0)).toBe(1024);
  });

  test('is counted by rule and pc', async () => {
    const [d, ...more] = await strictFindings(`v_add_u32_e32 v3, v2, v1\n${STORE('v3')}`, {
      block: [256, 1, 1],
      grid: [3, 1, 1],
    });
    expect(more).toEqual([]);
    expect(d?.count).toBe(12);
  });

  test('has the names of registers that several accesses share', async () => {
    const found = await strictFindings(
      'v_lshlrev_b32_e32 v4, 3, v0\nds_write_b64 v4, v[0:1]\nds_read_b64 v[2:3], v4\nv_add_u32_e32 v5, v2, v3',
      LDS,
    );
    expect(shortFindings(found)).toEqual(['waits/read-before-return v[2:3] lgkmcnt(0)']);
  });
});

describe.each(['compiled', 'interpreter'] as const)('what is no mistake: %s', (engine) => {
  const SILENT: readonly [string, string, StrictRun?][] = [
    ['store data may be overwritten at once', `${STORE('v0')}\nv_mov_b32_e32 v0, 0`],
    ['a later load to the same register', `${LOAD}\n${LOAD}\ns_waitcnt vmcnt(0)\nv_mov_b32_e32 v3, v2`],
    [
      'spilled registers that were never written',
      'scratch_store_dword off, v9, off\nscratch_load_dword v9, off, off\ns_waitcnt vmcnt(0)',
      SCRATCH,
    ],
    [
      'undefined values that are only moved',
      'v_mov_b32_e32 v3, v2\nv_accvgpr_write_b32 a0, v3\ns_nop 4\nv_accvgpr_read_b32 v4, a0',
    ],
    [
      'the lanes that a select does not take',
      's_mov_b64 vcc, -1\nv_cndmask_b32_e32 v3, v9, v0, vcc\nv_add_u32_e32 v4, 1, v3',
    ],
    [
      'the same value written by several workgroups',
      'v_mov_b32_e32 v2, 5\nglobal_store_dword v1, v2, s[4:5]',
      { grid: [4, 1, 1] },
    ],
    [
      'neighbouring bytes written by several workgroups',
      's_add_u32 s6, s4, s2\ns_addc_u32 s7, s5, 0\ns_mov_b64 exec, 1\nglobal_store_byte v1, v0, s[6:7]',
      { grid: [8, 1, 1] },
    ],
    [
      'one wavefront alone with LDS',
      'ds_write_b32 v1, v0\nv_xor_b32_e32 v2, 4, v1\nds_read_b32 v3, v2\ns_waitcnt lgkmcnt(0)',
      LDS,
    ],
    [
      'a buffer load out of range gives zero',
      's_mov_b32 s6, 16\ns_mov_b32 s7, 0x27000\nbuffer_load_dword v2, v1, s[4:7], 0 offen\ns_waitcnt vmcnt(0)\nv_add_u32_e32 v3, 1, v2',
    ],
    [
      'results that an atomic hands to the last workgroup',
      `${OWN}\nv_mov_b32_e32 v2, 0\nv_mov_b32_e32 v3, 1\ns_mov_b64 exec, 1\nglobal_store_dword v1, v3, s[6:7] offset:64\nbuffer_wbl2 sc1\ns_waitcnt vmcnt(0)\nglobal_atomic_add v4, v2, v3, s[4:5] sc0\ns_waitcnt vmcnt(0)\nbuffer_inv sc1\nglobal_load_dword v5, v2, s[4:5] offset:64\ns_waitcnt vmcnt(0)\nv_add_u32_e32 v5, 1, v5`,
      { grid: [4, 1, 1] },
    ],
    [
      'a flag in memory between wavefronts of a workgroup',
      'v_readfirstlane_b32 s8, v0\nv_mov_b32_e32 v2, 0\nv_mov_b32_e32 v3, 1\nv_and_b32_e32 v7, 0xff, v1\ns_cmp_eq_u32 s8, 0\ns_cbranch_scc0 .Lconsumer\nglobal_store_dword v1, v0, s[4:5] offset:256\ns_waitcnt vmcnt(0)\nglobal_store_dword v2, v3, s[4:5] sc0\ns_branch .Lover\n.Lconsumer:\nglobal_load_dword v4, v2, s[4:5] sc0\ns_waitcnt vmcnt(0)\nv_readfirstlane_b32 s9, v4\ns_cmp_eq_u32 s9, 1\ns_cbranch_scc0 .Lconsumer\nglobal_load_dword v6, v7, s[4:5] offset:256\ns_waitcnt vmcnt(0)\nglobal_store_dword v1, v6, s[4:5] offset:512\n.Lover:',
      TWO_WAVES,
    ],
  ];
  test.each(SILENT)('%s', async (_name, code, options) => {
    const found = await strictFindings(code, { ...options, engine });
    expect(shortFindings(found.filter(({ severity }) => severity !== 'note'))).toEqual([]);
  });
});

test('every code has a row with its severity in the documentation', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', '..', '..', 'docs', 'virtual-gpu.md'), 'utf8');
  const missing = Object.entries(RUN_RULES).filter(
    ([rule, { severity }]) => !page.includes(`| \`${rule}\` | ${severity} |`),
  );
  expect(missing).toEqual([]);
});

test.each([
  [['nonsense'], 'nonsense'],
  [['waits', ''], ''],
  // A rule of the checker alone: no run can find it.
  [['control-flow/no-end'], 'control-flow/no-end'],
  ['errors', 'errors'],
])('failOn %j names no rule of strict mode', (failOn, name) => {
  const log = () => new FindingLog({ failOn: failOn as FailOn });
  expect(log).toThrow(`'${name}' is no rule and no area of rules.`);
  expect(() => new FindingLog({ failOn: ['waits', 'races/lds'] })).not.toThrow();
});
