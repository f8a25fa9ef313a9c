// What is watched in LDS is in one place for all waves: also where the wave that watches is in another function, has not begun or has ended.
import { expect, test } from 'vitest';
import { hasLlvm } from '../../../../tests/support/build.ts';
import { debugSource } from '../../../../tests/support/debugged.ts';

const SOURCE = `
__attribute__((noinline)) static int twice(int x) { return 2 * x; }
__attribute__((amdgpu_kernel)) void k(__attribute__((address_space(1))) int *out) {
  static __attribute__((address_space(3), loader_uninitialized)) int part[128];
  int i = __builtin_amdgcn_workitem_id_x();
  int wave = i / 64;
  part[i] = i + 1;
  if (wave == 0) return;
  __builtin_amdgcn_s_sleep(1);
  part[3] = twice(i) + 200;
  out[i] = part[i];
}`;
const run = (place: string, commands: readonly string[]) =>
  debugSource(SOURCE, ['-O0'], [place], [...commands, 'quit'], { waves: 2 });

test.skipIf(!hasLlvm())('a wave that has ended watches what another one writes', async () => {
  const { answers } = await run('input.c:8', ['delete', 'watch part[3]', 'continue']);
  expect(answers[3]).toMatch(/^part\[3\] changed: 4 → 454\nwatchpoint: workgroup 0,0,0 wave 1, /);
});

test.skipIf(!hasLlvm())('the condition of a watchpoint is read in the call that it was set in', async () => {
  const { answers } = await run('input.c:7', [
    'delete',
    'watch part[70] if wave > 0',
    'watch part[71] if part[70] == 71',
    'continue',
    'continue',
  ]);
  // The watching wave is the first one, whose call is over: the first condition cannot be read, and the second one can.
  expect(answers[4]).toContain('part[70] changed: 0 → 71');
  expect(answers[4]).toContain('part[71] changed: 0 → 72');
});

test.skipIf(!hasLlvm())('who finds what another wave wrote before this one began', async () => {
  const { answers } = await run('input.c:9', ['print part[3]', 'who part[3]', 'print part[3]', 'wave 1', 'print $pc']);
  expect(answers[1]).toBe('part[3] = 4');
  expect(answers[2]).toMatch(/^part\[3\] is about to be written: 0 → 4\nwritten: workgroup 0,0,0 wave 0, /);
  expect(answers[5]).toMatch(/^\$pc = 0x\w+ <k>$/);
});
