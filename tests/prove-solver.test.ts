// Where normal forms differ z3 decides: bit tricks are proved, and what only looks like them is not.
import { afterAll, describe, expect, it } from 'vitest';
import { assembleAndLink } from '../src/asm/index.ts';
import { openSolver } from '../src/cli/prove/solver.ts';
import { readCodeObject } from '../src/codeobject/index.ts';
import { proveKernel, proveKernelWith } from '../src/equivalence/index.ts';
import { inequality } from '../src/equivalence/smt.ts';
import { Terms } from '../src/equivalence/terms.ts';
import { kernelSource } from './support/kernel-source.ts';

const solver = openSolver();
afterAll(() => solver?.close());

const START =
  's_load_dwordx2 s[4:5], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\nglobal_load_dword v2, v1, s[4:5]\ns_waitcnt vmcnt(0)';
const END = 'global_store_dword v1, v3, s[4:5]';
const build = (body: string) =>
  readCodeObject(
    assembleAndLink(
      kernelSource({
        code: `${START}\n${body.replace(/; */g, '\n')}\n${END}`,
        args: [[8, 'global_buffer']],
        descriptor: { next_free_vgpr: 8 },
      }),
    ),
  );

describe.skipIf(solver === undefined)('bit vectors', () => {
  it.each([
    [
      'a sign extension',
      'v_bfe_i32 v3, v2, 0, 8',
      'v_and_b32 v3, 0xff, v2; v_xor_b32 v3, 0x80, v3; v_subrev_u32 v3, 0x80, v3',
    ],
    [
      'an average',
      'v_and_b32 v3, v2, v1; v_lshlrev_b32 v3, 1, v3; v_xor_b32 v4, v2, v1; v_add_u32 v3, v3, v4',
      'v_add_u32 v3, v2, v1',
    ],
    [
      'a choice by masks',
      'v_cmp_eq_u32 vcc, 0, v2; s_nop 4; v_cndmask_b32 v3, 7, v1, vcc',
      'v_cmp_ne_u32 vcc, 0, v2; s_nop 4; v_cndmask_b32 v3, v1, 7, vcc',
    ],
    ['an and of a not', 'v_not_b32 v3, v1; v_and_b32 v3, v2, v3', 'v_or_b32 v3, v1, v2; v_xor_b32 v3, v3, v1'],
  ])('%s is proved', async (_name, a, b) => {
    const proof = await proveKernelWith(solver?.solve ?? never, build(a), build(b), 'k');
    expect(proof).toMatchObject({ verdict: 'proved', reason: undefined });
  });

  it.each([
    [
      'the sign of another width',
      'v_bfe_i32 v3, v2, 0, 8',
      'v_and_b32 v3, 0xff, v2; v_xor_b32 v3, 0x40, v3; v_subrev_u32 v3, 0x40, v3',
    ],
    ['a carry that is lost', 'v_xor_b32 v3, v2, v1', 'v_add_u32 v3, v2, v1'],
    ['another byte', 'v_and_b32 v3, 0xff, v2', 'v_bfe_u32 v3, v2, 8, 8'],
  ])('%s is not', async (_name, a, b) => {
    expect(await proveKernelWith(solver?.solve ?? never, build(a), build(b), 'k')).toMatchObject({
      verdict: 'not-proved',
    });
  });

  it('the first needs the solver', () => {
    const trick = 'v_and_b32 v3, 0xff, v2; v_xor_b32 v3, 0x80, v3; v_subrev_u32 v3, 0x80, v3';
    expect(proveKernel(build('v_bfe_i32 v3, v2, 0, 8'), build(trick), 'k').verdict).toBe('not-proved');
  });

  it('a script that is none is no proof', async () => {
    expect(await solver?.solve('(assert (= 1')).toBe(false);
    expect(await solver?.solve('(assert false)\n(check-sat)')).toBe(true);
  });
});

describe.skipIf(solver === undefined)('an operation means in a script what it means in the normal forms', () => {
  const terms = new Terms();
  const [x, y] = [0x8000_0123n, 0xffff_ff91n];
  const u = (value: bigint, bits = 32): bigint => BigInt.asUintN(bits, value);
  const s = (value: bigint): bigint => BigInt.asIntN(32, value);
  const bool = (value: boolean): bigint => (value ? 1n : 0n);
  it.each<[string, 'i32' | 'i64' | 'bool', bigint]>([
    ['mul', 'i32', u(x * y)],
    ['mulhi_s', 'i32', u((s(x) * s(y)) >> 32n)],
    ['mulhi_u', 'i32', (x * y) >> 32n],
    ['and', 'i32', x & y],
    ['or', 'i32', x | y],
    ['xor', 'i32', x ^ y],
    ['not', 'i32', u(~x)],
    ['shl', 'i32', u(x << (y & 31n))],
    ['shrU', 'i32', x >> (y & 31n)],
    ['shrS', 'i32', u(s(x) >> (y & 31n))],
    ['min_s', 'i32', x],
    ['min_u', 'i32', x],
    ['max_s', 'i32', y],
    ['max_u', 'i32', y],
    ['extU', 'i64', x],
    ['extS', 'i64', u(s(x), 64)],
    ['eq', 'bool', 0n],
    ['ltS', 'bool', bool(s(x) < s(y))],
    ['ltU', 'bool', bool(x < y)],
  ])('%s', async (op, kind, value) => {
    const args = /^(?:not|ext[US])$/.test(op) ? [x] : [x, y];
    const term = terms.make(
      op,
      kind,
      args.map((arg) => terms.constant('i32', arg)),
    );
    const ask = async (expected: bigint) =>
      solver?.solve(inequality(term, terms.constant(kind, expected), 2_000) ?? 'nothing');
    expect(await ask(value)).toBe(true);
    expect(await ask(value ^ 1n)).toBe(false);
  });

  it('shifts of 64 bits by a count of 32', async () => {
    const term = terms.make('shrS', 'i64', [terms.i64(0x8000_0000_0000_0000n), terms.i32(64 + 36)]);
    expect(await solver?.solve(inequality(term, terms.i64(0xffff_ffff_f800_0000n), 2_000) ?? '')).toBe(true);
  });
});

async function never(): Promise<boolean> {
  return false;
}
