// `disassemble` of a function shows it from its first instruction on, not from behind the prologue, and nothing of the one before.
import { expect, test } from 'vitest';
import { hasLlvm } from '../../../../tests/support/build.ts';
import { debugSource } from '../../../../tests/support/debugged.ts';

const SOURCE = `
static __attribute__((noinline)) int half(int n) {
  return n / 2;
}
static __attribute__((noinline)) int fact(int n) {
  return n <= 1 ? 1 : n * fact(n - 1);
}
__attribute__((amdgpu_kernel)) void k(__attribute__((address_space(1))) int *out) {
  out[0] = fact(out[1]) + half(3);
}`;

test.skipIf(!hasLlvm())('disassemble FUNCTION', async () => {
  const commands = [
    'x/2i fact',
    'disassemble fact',
    'disassemble fact,+8',
    'disassemble *fact,*fact+8',
    'info functions',
  ];
  const { answers } = await debugSource(SOURCE, ['-O0'], ['k'], [...commands, 'quit']);
  const [, first = '', whole = '', some = '', between] = answers;
  expect(whole.startsWith(first)).toBe(true);
  expect(some.split('\n').slice(0, 3)).toEqual(first.split('\n').slice(0, 3));
  expect(between).toBe(some);
  expect(whole).toMatch(/s_setpc_b64 s\[30:31\]$/);
  expect(whole.match(/^\w+:$/gm)).toEqual(['fact:']);
});
