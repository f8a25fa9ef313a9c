// Breakpoints where functions that were inlined begin: the function that the place means is shown, and its names are known.
import { expect, test } from 'vitest';
import { hasLlvm } from '../../../../tests/support/build.ts';
import { debugSource } from '../../../../tests/support/debugged.ts';

const SOURCE = `
static inline __attribute__((always_inline)) int lane(int shift) {
  return __builtin_amdgcn_workitem_id_x() << shift;
}
__attribute__((amdgpu_kernel)) void k(__attribute__((address_space(1))) int *out, int n) {
  int i =
    lane(2);
  out[i] = n;
}`;
const run = (place: string, commands: readonly string[]) =>
  debugSource(SOURCE, ['-O1'], [place], [...commands, 'quit'], { numbers: [5] });

test.skipIf(!hasLlvm()).each([
  ['k', 'k', 7],
  ['k+0', 'lane, inlined', 3],
  ['lane', 'lane, inlined', 3],
  ['input.c:3', 'lane, inlined', 3],
])('%s means %s', async (place, shown, line) => {
  const { answers } = await run(place, ['backtrace', 'info breakpoints']);
  expect(answers[0]).toMatch(new RegExp(`^breakpoint 1: .* at \\S+input\\.c:${line}$`));
  expect(answers[1]?.split('\n')[0]).toMatch(
    new RegExp(`^#0 {2}0x\\w+ <k(?:\\+0x\\w+)?> in ${shown} at \\S+input\\.c:${line}$`),
  );
  expect(answers[2]).toMatch(new RegExp(` at \\S+input\\.c:${line}, hit 1 times$`));
});

test.skipIf(!hasLlvm())('conditions know the variables of the function that is meant', async () => {
  const commands = ['delete', 'break k if n == 5', 'break k if shift == 2', 'break lane if shift == 2', 'run'];
  const { answers } = await run('+0', commands);
  expect(answers[2]).toMatch(/^breakpoint 2 at /);
  expect(answers[3]).toContain("'shift' is no register, argument or variable here");
  expect(answers[4]).toMatch(/^breakpoint 3 at /);
});
