// Breakpoints at source lines: where debuggers that people know stop.
import { expect, test } from 'vitest';
import { hasLlvm } from '../../../../tests/support/build.ts';
import { debugSource } from '../../../../tests/support/debugged.ts';

const SOURCE = `
__attribute__((amdgpu_kernel)) void k(__attribute__((address_space(1))) int *out, int n) {
  int sum = 0;
  for (int j = 0; j < n; j++)
    sum += j;
  out[0] = sum;
}`;

test.skipIf(!hasLlvm())('a loop is stopped at once, its body in each round', async () => {
  const commands = ['break input.c:4', 'break input.c:5', ...Array<string>(5).fill('continue'), 'quit'];
  const { answers } = await debugSource(SOURCE, ['-O0'], [`input.c:3`], commands, { numbers: [3] });
  expect(answers[1]).toMatch(/^breakpoint 2 at 0x\w+ <k\+0x\w+> at \S+input\.c:4$/);
  expect(answers.slice(3).map((text) => /^breakpoint (\d)/.exec(text)?.[1])).toEqual(['2', '3', '3', '3', undefined]);
});

test.skipIf(!hasLlvm())('there is no line 0', async () => {
  const { answers } = await debugSource(SOURCE, ['-O0'], ['+0'], ['break input.c:0', 'quit'], { numbers: [3] });
  expect(answers[1]).toContain('No instruction was made from input.c:0.');
});
