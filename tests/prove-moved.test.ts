// A kernel whose bytes are the same and whose code lies elsewhere is identical when it does the same at every address.
import { describe, expect, it } from 'vitest';
import { proveKernel } from '../src/equivalence/index.ts';
import { all, build, LGKM, LOAD, STORE, type Variant } from './support/prove-kernel.ts';

/** Puts other code before the kernel. */
const moved = (variant: Variant): Variant => ({
  ...variant,
  change: (t) => (variant.change ?? ((x) => x))(t).replace('\t.globl\tk', '\t.fill 300, 4, 0xbf800000\n\t.globl\tk'),
});

const place = (label: string): string =>
  `s_getpc_b64 s[14:15]\n1: s_add_u32 s14, s14, ${label}-1b\ns_addc_u32 s15, s15, 0`;

const isIdentical = (variant: Variant): boolean => {
  const [a, b] = [build(variant), build(moved(variant))];
  expect(a.kernels[0]?.entry).not.toBe(b.kernels[0]?.entry);
  return proveKernel(a, b, 'k').isIdentical;
};

const FAR = all(
  LOAD,
  's_cmp_eq_u32 s10, 0\ns_cbranch_scc1 .Lnear',
  `${place('.Lfar')}\ns_setpc_b64 s[14:15]`,
  '.Lnear: v_add_u32_e32 v2, 1, v2',
  '.Lfar: v_add_u32_e32 v2, 2, v2',
  STORE,
);

describe('a kernel that moved', () => {
  it('is identical without its address', () => expect(isIdentical({ body: all(LOAD, STORE) })).toBe(true));

  it('is identical when it jumps far within itself', () => expect(isIdentical({ body: FAR })).toBe(true));

  it('is identical when it jumps back over a distance', () => {
    const back = FAR.replace('.Lfar-1b', '1b-.Lfar')
      .replace(/s_add_u32/, 's_sub_u32')
      .replace(/s_addc_u32/, 's_subb_u32');
    expect(isIdentical({ body: back })).toBe(true);
  });

  it.each([
    ['stores its address', all(LOAD, `${place('.Lend')}`, 'v_mov_b32_e32 v2, s14', STORE)],
    [
      'compares its address',
      all(LOAD, place('.Lend'), 's_cmp_eq_u32 s14, s10\ns_cselect_b32 s16, 1, 0', 'v_mov_b32_e32 v2, s16', STORE),
    ],
    [
      'loads from its code',
      all(LOAD, place('.Lend'), 's_load_dword s16, s[14:15], 0x0', LGKM, 'v_mov_b32_e32 v2, s16', STORE),
    ],
    [
      'adds its address to itself',
      all(LOAD, 's_getpc_b64 s[14:15]\ns_add_u32 s16, s14, s14\nv_mov_b32_e32 v2, s16', STORE),
    ],
    [
      'takes its address from a number',
      all(LOAD, 's_getpc_b64 s[14:15]\ns_sub_u32 s16, 0, s14\nv_mov_b32_e32 v2, s16', STORE),
    ],
    [
      'uses the carry of its address',
      all(LOAD, 's_getpc_b64 s[14:15]\ns_add_u32 s16, s14, s10\ns_cselect_b32 s17, 1, 0\nv_mov_b32_e32 v2, s17', STORE),
    ],
  ])('is not called identical when it %s', (_what, body) => expect(isIdentical({ body })).toBe(false));

  it('is not called identical when it calls a function', () => {
    const body = all(LOAD, `${place('f')}\ns_swappc_b64 s[18:19], s[14:15]`, STORE);
    expect(isIdentical({ body, after: 'f: v_add_u32_e32 v2, 1, v2\ns_setpc_b64 s[18:19]' })).toBe(false);
  });

  it('is not called identical when its code ends behind its symbol', () => {
    const change = (t: string): string => t.replace('.size k, .Lend-k', '.size k, 16');
    expect(isIdentical({ body: all(LOAD, STORE), change })).toBe(false);
  });
});
