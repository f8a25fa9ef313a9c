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

const LIKE_REGISTERS = `
static __attribute__((noinline)) int sum(int a) {
  int r = 0;
  for (int i = 0; i < a; i++)
    r += i * a;
  return r;
}
__attribute__((amdgpu_kernel)) void k(__attribute__((address_space(1))) int *out) {
  int v0 = 7, v1 = 8, v2 = 9, v3 = 10, v4 = 11, v5 = 12;
  out[1] = v0 + v1 + v2 + v3 + v4 + v5;
  {
    int s6 = 78;
    out[2] = s6;
  }
  out[0] = sum(out[1]);
}`;

test.skipIf(!hasLlvm())('what is looked for stays a register where the caller has a variable of its name', async () => {
  const who = async (name: string) => {
    const { answers } = await debugSource(LIKE_REGISTERS, ['-O0'], ['sum+0'], [`who ${name}`, 'time', 'quit']);
    return answers.slice(1, 3).map((text) => text.replaceAll('$', '').replace(/ at \S+input/, ' at input'));
  };
  const asked = await who('$v0[3]');
  expect(asked[0]).toContain('is about to be written');
  expect(await who('v0[3]')).toEqual(asked);
});

test.skipIf(!hasLlvm())('a watched variable is no register of its name where it is not in scope', async () => {
  const commands = ['delete', 'watch s6', 'continue', 'quit'];
  const { answers } = await debugSource(LIKE_REGISTERS, ['-O0'], ['input.c:13'], commands);
  expect(answers[2]).toBe('watchpoint 2: s6 = 78');
  expect(answers[3]).not.toContain('s6 changed');
});
