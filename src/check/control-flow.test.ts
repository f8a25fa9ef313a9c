// Control flow that leaves the code.
import { describe, expect, test } from 'vitest';
import { checkBody } from '../../tests/support/program.ts';
import { checkControlFlow } from './rules/control-flow.ts';

const rules = (body: string) => checkBody(checkControlFlow, body).map((f) => `${f.rule} ${f.place.instruction}`);

describe('control flow', () => {
  test('code that ends properly', () => {
    expect(rules('s_cbranch_scc0 L\n s_nop 0\nL: s_endpgm')).toEqual([]);
    expect(rules('s_branch L\n .long 0xffffffff\nL: s_endpgm')).toEqual([]);
    expect(rules('s_setpc_b64 s[30:31]')).toEqual([]);
  });

  test('a branch out of the code', () => {
    expect(rules('s_cbranch_scc0 4000\n s_endpgm')).toEqual(['control-flow/branch-target s_cbranch_scc0 4000']);
  });

  test('a branch into an instruction', () => {
    const body = 's_cbranch_scc0 1\n s_mov_b32 s4, 0x12345678\n s_endpgm';
    expect(checkBody(checkControlFlow, body).map((f) => f.message)).toEqual([
      expect.stringContaining('into the middle of an instruction'),
    ]);
  });

  test('no s_endpgm', () => {
    expect(rules('s_nop 0\n .long 0xffffffff')).toEqual(['control-flow/no-end s_nop 0']);
    expect(rules('s_nop 3')).toEqual(['control-flow/no-end s_nop 3']);
    expect(rules('L: s_branch L')).toEqual([]);
    expect(rules('s_trap 2\n s_nop 0')).toEqual([]);
  });
});
