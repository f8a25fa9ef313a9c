// Names that stand for several things: variables of inner blocks hide outer ones, variables of the session are none of the program, and parameters of the kernel are known when
// it has ended.
import { expect, test } from 'vitest';
import { hasLlvm } from '../../../../tests/support/build.ts';
import { debugSource } from '../../../../tests/support/debugged.ts';

const SOURCE = `
__attribute__((amdgpu_kernel)) void k(__attribute__((address_space(1))) int *out) {
  int x = 5;
  out[0] = x;
  {
    int x = 77;
    out[1] = x;
  }
  x = 6;
  out[2] = x;
}`;

test.skipIf(!hasLlvm())('a watched variable is the one that was meant, not one of an inner block', async () => {
  const { answers } = await debugSource(SOURCE, ['-O0'], ['input.c:4'], ['delete', 'watch x', 'continue', 'quit']);
  expect(answers[3]).toMatch(/^x changed: 5 → 6\n/);
});

test.skipIf(!hasLlvm())('variables of the session have a $', async () => {
  const { answers } = await debugSource(SOURCE, ['-O0'], ['input.c:4'], ['set $n = 77', 'print n', 'print $n', 'quit']);
  expect(answers[2]).toContain("'n' is no register, argument or variable here");
  expect(answers[3]).toBe('$n = 77 (0x4d)');
});

test.skipIf(!hasLlvm())('the kernel has ended: its parameters are those of the dispatch', async () => {
  const commands = ['delete', 'catch end', 'continue', 'print out[1]', 'who out[2]', 'quit'];
  const { answers } = await debugSource(SOURCE, ['-O0'], ['input.c:4'], commands);
  expect(answers[4]).toBe('out[1] = 77');
  expect(answers[5]).toMatch(/^out\[2\] is about to be written: 0 → 6\n/);
});
