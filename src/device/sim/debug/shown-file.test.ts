// Line numbers without a file are of the file that is shown: of the function that is selected, not of what was inlined there.
import { expect, test } from 'vitest';
import { hasLlvm } from '../../../../tests/support/build.ts';
import { debugSource } from '../../../../tests/support/debugged.ts';

const SOURCE = `
#line 101 "helper.h"
static inline __attribute__((always_inline)) int lane(int shift) {
  return __builtin_amdgcn_workitem_id_x() << shift;
}
static __attribute__((noinline)) int twice(int n) {
  return 2 * n;
}
#line 1 "kernel.c"
__attribute__((amdgpu_kernel)) void k(__attribute__((address_space(1))) int *out, int n) {
  int i = lane(2);
  out[i] = n;
  out[1] = twice(n);
}`;
const run = (flags: readonly string[], place: string, commands: readonly string[]) =>
  debugSource(SOURCE, flags, [place], [...commands, 'quit'], { numbers: [5] });

test.skipIf(!hasLlvm())(
  'where an inlined function begins and its call is shown, lines are of the file of the call',
  async () => {
    const { answers } = await run(['-O1'], 'k', ['info line', 'break 3', 'info line 3', 'info line k', 'until 3']);
    expect(answers[0]).toMatch(/ at kernel\.c:2$/);
    expect(answers[1]).toMatch(/ kernel\.c:2$/);
    expect(answers[2]).toMatch(/^breakpoint 2 at .* at kernel\.c:3$/);
    expect(answers[3]).toMatch(/ kernel\.c:3$/);
    expect(answers[4]).toMatch(/ kernel\.c:2$/);
    expect(answers[5]).toMatch(/ at kernel\.c:3$/);
  },
);

test.skipIf(!hasLlvm())('behind up and frame, lines are of the file of the function that is selected', async () => {
  const commands = ['info line', 'up', 'info line', 'break 3', 'frame 0', 'info line 105'];
  const { answers } = await run(['-O0'], 'twice', commands);
  expect(answers[1]).toMatch(/ helper\.h:105$/);
  expect(answers[3]).toMatch(/ kernel\.c:4$/);
  expect(answers[4]).toMatch(/^breakpoint 2 at .* at kernel\.c:3$/);
  expect(answers[6]).toMatch(/ helper\.h:105$/);
});
