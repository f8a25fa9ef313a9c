// Pairs of kernels that differ in a few instructions: before them registers are loaded, so that nothing is known of their values, and v2 is
// stored behind them. v[2:5], v[8:11] and s[12:13] hold numbers.
import { all, STORE } from '../prove-kernel.ts';
import type { Pair } from './pair.ts';

/** Instructions in one text, with semicolons between them. */
export const split = (text: string): string[] => text.split('; ');

export const DATA = [
  'global_load_dwordx4 v[2:5], v1, s[4:5]',
  'global_load_dwordx4 v[8:11], v1, s[4:5] offset:1024',
  'global_load_dwordx4 v[12:15], v1, s[4:5] offset:2048',
  's_load_dwordx2 s[12:13], s[4:5], 0x0',
  's_waitcnt vmcnt(0) lgkmcnt(0)',
  's_nop 7',
];

/** Makes pairs for a target: what they differ in, the two texts, and what stands behind both. */
export const on =
  (target: string) =>
  (name: string, x: string, y: string, behind = ''): Pair => {
    const make = (text: string) => ({ target, body: all(...DATA, ...split(text), ...split(behind), STORE) });
    return [`${target}: ${name}`, make(x), make(y)];
  };

/** Sets bits of MODE. */
export const mode = (bits: string, value: number): string => `s_setreg_imm32_b32 hwreg(HW_REG_MODE, ${bits}), ${value}`;
/** Some lanes stay on, s[14:15] keeps those before; and all of them come back. */
export const SOME = 'v_cmp_gt_u32_e32 vcc, 7, v8; s_and_saveexec_b64 s[14:15], vcc';
export const BACK = 's_mov_b64 exec, s[14:15]';
/** All counters. */
export const W = 's_waitcnt vmcnt(0) lgkmcnt(0)';

/** Calls a function by its distance from here; s[30:31] hold where to return to. */
export const CALL = (fn: string): string =>
  all(
    's_getpc_b64 s[16:17]',
    `s_add_u32 s16, s16, ${fn}@rel32@lo+4`,
    `s_addc_u32 s17, s17, ${fn}@rel32@hi+12`,
    's_swappc_b64 s[30:31], s[16:17]',
  );
