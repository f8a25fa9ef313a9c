// What is watched in memory is asked behind stores alone: nothing that changes is missed, whatever the expression reads.
import { expect, test } from 'vitest';
import { hasLlvm } from '../../../../tests/support/build.ts';
import { debugSource } from '../../../../tests/support/debugged.ts';
import { allRows } from '../../../isa/index.ts';
import { semanticsOf } from '../../../isa/semantics/index.ts';

const SOURCE = `
struct st { int hits; int tab[4]; };
__attribute__((noinline)) static int step(int x) { int twice = 2 * x; return twice + 1; }
__attribute__((amdgpu_kernel)) void k(__attribute__((address_space(1))) int *out, int n) {
  int i = __builtin_amdgcn_workitem_id_x();
  struct st s = {0, {0}};
  int *p = &s.tab[0];
  for (int j = 0; j < n; j++) {
    s.hits = step(s.hits);
    s.tab[j] = s.hits;
    p = &s.tab[j];
    out[j] = s.hits;
  }
  out[0] = s.hits + *p;
}`;

test.skipIf(!hasLlvm())(
  'changes of variables, through pointers, of sums, of registers, of device memory, forwards and back',
  async () => {
    const changes = async (watched: string): Promise<string[]> => {
      const commands = ['delete', `watch ${watched}`, ...Array<string>(5).fill('continue'), 'quit'];
      const { answers } = await debugSource(SOURCE, ['-O0'], ['input.c:8'], commands, { numbers: [3] });
      return answers.flatMap((text) => / changed: (.*)/.exec(text)?.[1] ?? []);
    };
    expect(await changes('s.hits')).toEqual(['0 → 1', '1 → 3', '3 → 7']);
    expect(await changes('*p')).toEqual(['0 → 1', '1 → 3', '3 → 7']);
    expect(await changes('s.hits + s.tab[1]')).toEqual(['0 → 1', '1 → 3', '3 → 6', '6 → 10']);
    expect(await changes('out[1]')).toEqual(['0 → 3']);
    expect((await changes('$s33')).length).toBeGreaterThan(1);
    const reverse = Array<string>(3).fill('reverse-continue');
    const { answers } = await debugSource(
      SOURCE,
      ['-O0'],
      ['input.c:8'],
      ['delete', 'break input.c:14', 'continue', 'watch *p', ...reverse, 'who s.hits', 'quit'],
      { numbers: [3] },
    );
    const said = answers.flatMap((text) => / (?:changed|is about to be written): (.*)/.exec(text)?.[1] ?? []);
    expect(said).toEqual(['3 → 7', '1 → 3', '0 → 1', '0 → 1']);
  },
);

test('what stores is known to', () => {
  for (const row of allRows()) {
    const kind = semanticsOf(row.operation)?.kind;
    if (kind !== 'store' && kind !== 'atomic') continue;
    expect([row.operation, row.flags.has('mayStore')]).toEqual([row.operation, true]);
  }
});
