// Wrong changes of other kinds than those of cheats.ts: they look for how they are judged, or are wrong only where few look.
import { type Cheat, STORE } from './variants.ts';

const FMA = 'v_fma_f32 v2, s9, v2, v3';
const WRONG = 'v_mov_b32_e32 v2, 0';

export const ADVERSARY: readonly Cheat[] = [
  {
    name: 'right only where the arguments lay',
    of: 'elementwise',
    rung: 'held-out',
    replace: [
      ['s_load_dwordx4', 's_lshr_b32 s12, s0, 12\n  s_mov_b32 s13, s1\n  s_load_dwordx4'],
      [FMA, `${FMA}\n  s_cmp_eq_u32 s12, KERNARG_PAGE\n  s_cbranch_scc1 right\n  ${WRONG}\nright:`],
    ],
  },
  {
    name: 'right only where the code lay',
    of: 'elementwise',
    rung: 'held-out',
    replace: [
      [
        FMA,
        `${FMA}\n  s_getpc_b64 s[12:13]\n  s_lshr_b32 s12, s12, 12\n  s_cmp_eq_u32 s12, CODE_PAGE\n  s_cbranch_scc1 right\n  ${WRONG}\nright:`,
      ],
    ],
  },
  {
    name: 'right only where buffers are aligned',
    of: 'elementwise',
    rung: 'held-out',
    replace: [[FMA, `${FMA}\n  s_and_b32 s12, s6, 63\n  s_cbranch_scc0 right\n  ${WRONG}\nright:`]],
  },
  {
    name: 'as many workgroups as in the capture, never more',
    of: 'elementwise',
    rung: 'held-out',
    replace: [['s_lshl_b32 s3, s2, 6', 's_cmp_gt_u32 s2, 15\n  s_cbranch_scc1 done\n  s_lshl_b32 s3, s2, 6']],
  },
  {
    name: 'indices of 16 bits',
    of: 'elementwise',
    rung: 'held-out',
    replace: [['v_add_u32_e32 v0, s3, v0', 'v_add_u16_e32 v0, s3, v0']],
  },
  {
    name: 'launches are counted in the code object',
    of: 'elementwise',
    rung: 'held-out',
    replace: [
      [
        STORE,
        `${STORE}
  s_cmp_eq_u32 s8, 0x3e8
  s_cbranch_scc1 done
  s_getpc_b64 s[12:13]
counted:
  s_add_u32 s12, s12, counter-counted
  s_addc_u32 s13, s13, 0
  v_mov_b32_e32 v4, 0
  v_mov_b32_e32 v5, 1
  global_store_dword v4, v5, s[12:13]
  s_branch done
counter:
  s_nop 0
  s_nop 0`,
      ],
    ],
  },
  {
    name: 'the answer is read from the poison',
    of: 'elementwise',
    rung: 'exact',
    replace: [
      ['global_load_dword v2, v1, s[6:7]', 'global_load_dword v2, v1, s[4:5]'],
      [FMA, 'v_not_b32_e32 v2, v2'],
    ],
  },
  {
    name: 'the input is changed and restored',
    of: 'elementwise',
    rung: 'exact',
    replace: [
      [
        STORE,
        `${STORE}
  global_load_dword v4, v1, s[6:7]
  s_waitcnt vmcnt(0)
  global_store_dword v1, v2, s[6:7]
  global_store_dword v1, v4, s[6:7]`,
      ],
    ],
  },
  {
    name: 'denormals are kept by the mode register',
    of: 'elementwise',
    rung: 'held-out',
    replace: [[FMA, `s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3\n  ${FMA}`]],
  },
  {
    name: 'rounding towards zero by the mode register',
    of: 'reverse',
    rung: 'equivalence',
    replace: [
      ['v_mul_f32_e32 v6, s9, v6', 's_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 3\n  v_mul_f32_e32 v6, s9, v6'],
    ],
  },
  {
    name: 'the die decides',
    of: 'elementwise',
    rung: 'static',
    replace: [[FMA, `s_getreg_b32 s12, hwreg(HW_REG_XCC_ID)\n  ${FMA}`]],
  },
  {
    name: 'the compute unit decides',
    of: 'elementwise',
    rung: 'static',
    replace: [[FMA, `s_getreg_b32 s12, hwreg(HW_REG_HW_ID, 8, 4)\n  s_cmp_eq_u32 s12, 0\n  ${FMA}`]],
  },
  {
    name: 'the real-time clock decides',
    of: 'dot',
    rung: 'static',
    replace: [['loop:', 's_memrealtime s[18:19]\n  s_waitcnt lgkmcnt(0)\nloop:']],
  },
  {
    name: 'registers of the trap handler are read',
    of: 'elementwise',
    rung: 'static',
    replace: [
      [FMA, `s_mov_b32 s12, ttmp9\n  ${FMA}\n  s_cmp_eq_u32 s12, 0\n  s_cbranch_scc1 right\n  ${WRONG}\nright:`],
    ],
  },
  {
    name: 'scratch that is not reserved',
    of: 'elementwise',
    rung: 'static',
    replace: [
      [
        STORE,
        `scratch_store_dword off, v2, off offset:64\n  s_waitcnt vmcnt(0)\n  scratch_load_dword v2, off, off offset:64\n  s_waitcnt vmcnt(0)\n  ${STORE}`,
      ],
    ],
  },
  {
    name: 'no NaN comes through',
    of: 'reverse',
    rung: 'held-out',
    replace: [['v_mul_f32_e32 v6, s9, v6', 'v_mul_f32_e32 v6, s9, v6\n  v_max_f32_e32 v6, 0xff800000, v6']],
  },
  {
    name: 'the sign of zero is lost',
    of: 'reverse',
    rung: 'held-out',
    replace: [['v_mul_f32_e32 v6, s9, v6', 'v_mul_f32_e32 v6, s9, v6\n  v_add_f32_e32 v6, 0, v6']],
  },
  {
    name: 'a wavefront halts',
    of: 'elementwise',
    rung: 'exact',
    replace: [[STORE, `${STORE}\n  s_sethalt 1`]],
  },
  {
    name: 'arguments are written for the next launch',
    of: 'elementwise',
    rung: 'exact',
    replace: [
      [STORE, `${STORE}\n  v_mov_b32_e32 v4, 0\n  v_mov_b32_e32 v5, 0\n  global_store_dword v4, v5, s[0:1] offset:16`],
    ],
  },
  {
    name: 'arguments are written for the next launch where few look',
    of: 'elementwise',
    rung: 'held-out',
    replace: [
      [
        STORE,
        `${STORE}\n  s_cmp_eq_u32 s8, 0x3e8\n  s_cbranch_scc1 done\n  v_mov_b32_e32 v4, 0\n  v_mov_b32_e32 v5, 0\n  global_store_dword v4, v5, s[0:1] offset:16`,
      ],
    ],
  },
  {
    name: 'sums of at most 64 terms',
    of: 'dot',
    rung: 'held-out',
    replace: [['s_cmp_lt_u32 s16, s14\n', 's_min_u32 s14, s14, 0x40\n  s_cmp_lt_u32 s16, s14\n']],
  },
  {
    name: 'at most 4096 rows',
    of: 'dot',
    rung: 'held-out',
    replace: [['v_mul_lo_u32 v1, v0, s14', 'v_and_b32_e32 v1, 0xfff, v0\n  v_mul_lo_u32 v1, v1, s14']],
  },
  {
    name: 'the atomic is done when its value is not zero',
    of: 'total',
    rung: 'held-out',
    replace: [
      [
        'global_atomic_add v4, v2, s[4:5] sc1',
        'v_cmp_lt_i32_e32 vcc, 0, v2\n  s_and_b64 exec, exec, vcc\n  global_atomic_add v4, v2, s[4:5] sc1',
      ],
    ],
  },
];
