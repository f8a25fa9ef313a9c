// What strict mode finds in kernels that ship, and the argument from their code why it is right. Addresses are those of the ELF files.

/** The findings of one kernel. */
export interface KernelException {
  readonly argument: string;
  /** Code, address and instruction. */
  readonly findings: readonly string[];
}

/** By family and name of the case. */
export const EXCEPTIONS: Readonly<Record<string, KernelException>> = {
  'attention forward: gfx950 head 192/128': {
    argument:
      'The loads at 0x4114 to 0x4344 fill the tiles that `ds_read_b128` at 0x3f78 to 0x4214 read between the ' +
      'same two barriers: a wavefront that is ahead requests the next tile while others still read the old one. ' +
      'Its bytes come from global memory, hundreds of cycles later; the reads of the slowest wavefront are that ' +
      'much earlier only because the barrier before them was recent.',
    findings: [
      'races/lds-in-flight 0x4114 buffer_load_dwordx4 v7, s[12:15], s56 offen lds',
      'races/lds-in-flight 0x4134 buffer_load_dwordx4 v8, s[12:15], s56 offen lds',
      'races/lds-in-flight 0x4154 buffer_load_dwordx4 v9, s[12:15], s56 offen lds',
      'races/lds-in-flight 0x4174 buffer_load_dwordx4 v10, s[12:15], s56 offen lds',
      'races/lds-in-flight 0x4194 buffer_load_dwordx4 v11, s[12:15], s56 offen lds',
      'races/lds-in-flight 0x41b4 buffer_load_dwordx4 v12, s[12:15], s56 offen lds',
      'races/lds-in-flight 0x42a4 buffer_load_dwordx4 v13, s[12:15], s56 offen lds',
      'races/lds-in-flight 0x42c4 buffer_load_dwordx4 v14, s[12:15], s56 offen lds',
      'races/lds-in-flight 0x42e4 buffer_load_dwordx4 v15, s[12:15], s56 offen lds',
      'races/lds-in-flight 0x4304 buffer_load_dwordx4 v16, s[12:15], s56 offen lds',
      'races/lds-in-flight 0x4324 buffer_load_dwordx4 v17, s[12:15], s56 offen lds',
      'races/lds-in-flight 0x4344 buffer_load_dwordx4 v18, s[12:15], s56 offen lds',
    ],
  },
  'paged attention: gfx942 bf16, two queries': {
    argument:
      'v17 is loaded at 0x7784 (0x8d74); 23 loads follow, so 24 are outstanding at `s_waitcnt vmcnt(24)`, which ' +
      'waits for nothing: vmcnt(23) is meant. docs/check/shipped-kernels.md has the same.',
    findings: [
      'waits/read-before-return 0x80a8 v_mov_b32_dpp v39, v17 row_newbcast:0 row_mask:0xf bank_mask:0xf',
      'waits/read-before-return 0x96a0 v_mov_b32_dpp v39, v17 row_newbcast:0 row_mask:0xf bank_mask:0xf',
    ],
  },
  'paged attention: gfx942 f16, fp8 cache': {
    argument:
      'No instruction of the kernel writes s89 or s91, and s90 is only written by adding s91 to it (0x6148); ' +
      'the wavefront does not start with them. They bound and step a loop over the mask (0x5f7c): the kernel ' +
      'relies on what the SGPRs hold. docs/check/shipped-kernels.md has the same.',
    findings: [
      'registers/uninitialised 0x5f7c s_cmp_le_i32 s90, s89',
      'registers/uninitialised 0x6148 s_add_u32 s90, s91, s90',
    ],
  },
  'paged attention: gfx950 bf16, int8 cache': {
    argument:
      'No instruction of the kernel writes s89 or s91, and s90 is only written by adding s91 to it (0x6498); ' +
      'the wavefront does not start with them. They bound and step a loop over the mask (0x62cc): the kernel ' +
      'relies on what the SGPRs hold. docs/check/shipped-kernels.md has the same.',
    findings: [
      'registers/uninitialised 0x62cc s_cmp_le_i32 s90, s89',
      'registers/uninitialised 0x6498 s_add_u32 s90, s91, s90',
    ],
  },
  'latent attention (MLA): gfx942 decode stage 1': {
    argument:
      'v11 is loaded at 0x2738; 18 loads into LDS follow, so 19 operations are outstanding at `s_waitcnt ' +
      'vmcnt(19)` (0x2860), which proves nothing of it, and on the path through 0x2a30 (19 further loads, two ' +
      'barriers) no vmcnt follows until v11 is read. 290 instructions, 72 of them matrix instructions, lie ' +
      'between.',
    findings: [
      'waits/read-before-return 0x2fc4 v_mul_u32_u24_dpp v18, v11, v9 row_newbcast:0 row_mask:0xf bank_mask:0xf',
      'waits/read-before-return 0x51b4 v_mul_u32_u24_dpp v18, v11, v9 row_newbcast:0 row_mask:0xf bank_mask:0xf',
    ],
  },
  'latent attention (MLA): gfx950 decode stage 1': {
    argument:
      'v11 is loaded at 0x2738; 18 loads into LDS follow, so 19 operations are outstanding at `s_waitcnt ' +
      'vmcnt(19)` (0x2860), which proves nothing of it, and on the path through 0x2a30 (19 further loads, two ' +
      'barriers) no vmcnt follows until v11 is read. 290 instructions, 72 of them matrix instructions, lie ' +
      'between.',
    findings: [
      'waits/read-before-return 0x2fc4 v_mul_u32_u24_dpp v18, v11, v9 row_newbcast:0 row_mask:0xf bank_mask:0xf',
      'waits/read-before-return 0x51b4 v_mul_u32_u24_dpp v18, v11, v9 row_newbcast:0 row_mask:0xf bank_mask:0xf',
    ],
  },
  'fused MoE: gfx942 stage 1, int8': {
    argument:
      'The epilogue transposes through LDS 0 to 8703, which the main loop used for its tiles, without a barrier ' +
      'after the loop. Reads: the last iteration prefetches a[0:7] for one that never comes; other wavefronts ' +
      'may overwrite these bytes first, but nothing reads a[0:7] on the way out: harmless. Loads: the last two ' +
      'loads into LDS (0x3344 and 0x47f4, v32 and v33) fetch a tile nobody uses into 2176 to 4351, and no vmcnt ' +
      'proves them complete before the epilogue writes there and reads it back. A late one would damage the ' +
      'result; 400 instructions with dependent matrix instructions lie between. s_waitcnt vmcnt(0) and ' +
      's_barrier behind the loop are missing.',
    findings: [
      'races/lds 0x338c ds_read_b128 a[0:3], v2',
      'races/lds 0x3394 ds_read_b128 a[4:7], v2 offset:64',
      'races/lds 0x3ce8 ds_write_b64 v20, v[40:41]',
      'races/lds 0x4834 ds_read_b128 a[0:3], v2',
      'races/lds 0x483c ds_read_b128 a[4:7], v2 offset:64',
      'races/lds 0x5198 ds_write_b64 v20, v[40:41]',
      'waits/barrier-before-write 0x3e10 ds_read_b32 v42, v21 offset:2176',
      'waits/barrier-before-write 0x3e18 ds_read_b32 v43, v21 offset:2240',
      'waits/barrier-before-write 0x52c0 ds_read_b32 v42, v21 offset:2176',
      'waits/barrier-before-write 0x52c8 ds_read_b32 v43, v21 offset:2240',
      'waits/lds-before-return 0x3cf0 ds_write_b64 v20, v[42:43] offset:2176',
      'waits/lds-before-return 0x3e10 ds_read_b32 v42, v21 offset:2176',
      'waits/lds-before-return 0x3e18 ds_read_b32 v43, v21 offset:2240',
      'waits/lds-before-return 0x51a0 ds_write_b64 v20, v[42:43] offset:2176',
      'waits/lds-before-return 0x52c0 ds_read_b32 v42, v21 offset:2176',
      'waits/lds-before-return 0x52c8 ds_read_b32 v43, v21 offset:2240',
    ],
  },
  'fused MoE: gfx950 stage 1, fp8': {
    argument:
      'As the first half of the int8 kernel: prefetches of a[0:7] behind the last iteration (0x3128, 0x3ac8) ' +
      "race with the epilogue's `ds_write_b64` (0x339c, 0x3d4c) of other wavefronts into the same LDS. Nothing " +
      'reads a[0:7] from there on: harmless.',
    findings: [
      'races/lds 0x3128 ds_read_b128 a[0:3], v2',
      'races/lds 0x3130 ds_read_b128 a[4:7], v2 offset:64',
      'races/lds 0x339c ds_write_b64 v20, v[36:37]',
      'races/lds 0x3ac8 ds_read_b128 a[0:3], v2',
      'races/lds 0x3ad0 ds_read_b128 a[4:7], v2 offset:64',
      'races/lds 0x3d4c ds_write_b64 v20, v[36:37]',
    ],
  },
  'fused MoE: gfx950 whole layer, fp8, SiLU, weights first': {
    argument:
      'v42 is loaded at 0x3148, the value is never read, and v42 is written 43 instructions later with no vmcnt ' +
      'between: a late return overwrites the new value. docs/check/shipped-kernels.md has the same.',
    findings: ['waits/write-before-return 0x324c v_lshrrev_b32_e32 v42, 4, v0'],
  },
};
