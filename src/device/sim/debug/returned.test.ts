// What `finish` says that functions have returned; calls of functions that call themselves.
import { expect, test } from 'vitest';
import { hasLlvm } from '../../../../tests/support/build.ts';
import { debugSource } from '../../../../tests/support/debugged.ts';

const FUNCTIONS = {
  matrix: ['struct M', '{m = {{1, 2}, {3, 5}}}', 'struct M r = {{{1, 2}, {3, i}}}; return r;'],
  mixed: ['struct X', "{c = 7 '\\a', d = 1.5, s = -2, l = 5}", 'struct X r = {7, 1.5, -2, i}; return r;'],
  large: ['struct L', undefined, 'struct L r = {{i}}; return r;'],
  bits: ['struct B', undefined, 'struct B r = {1, 2, i, 4}; return r;'],
  four: ['v4', '{1, 2, 3, 5}', 'v4 r = {1, 2, 3, i}; return r;'],
  halves: ['h4', '{1, 2, 3, 5}', 'h4 r = {1, 2, 3, i}; return r;'],
  united: ['union U', '{n = {1, 2, 5}, t = {x = 1, y = 2, z = 5}}', 'union U r = {{1, 2, i}}; return r;'],
  wide: ['__int128', '5902958103587056517120', 'return (__int128)i << 70;'],
  small: ['short', '-5', 'return -i;'],
  truth: ['_Bool', 'true', 'return i == 5;'],
} as const;
const SOURCE = `
struct M { float m[2][2]; };
struct X { char c; double d; short s; long l; };
struct L { int v[17]; };
struct B { unsigned a : 3, b : 29; int c, d; };
union U { int n[3]; struct { int x, y, z; } t; };
typedef float v4 __attribute__((ext_vector_type(4)));
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
${Object.entries(FUNCTIONS)
  .map(([name, [type, , body]]) => `static __attribute__((noinline)) ${type} ${name}(int i) { ${body} }`)
  .join('\n')}
static __attribute__((noinline)) int fact(int n) { return n <= 1 ? 1 : n * fact(n - 1); }
__attribute__((amdgpu_kernel)) void k(__attribute__((address_space(1))) int *out) {
  int i = __builtin_amdgcn_workitem_id_x();
${Object.keys(FUNCTIONS)
  .map((name) => `  ${name}(i);`)
  .join('\n')}
  out[i] = fact(5);
}`;

test.skipIf(!hasLlvm())('values that functions return', async () => {
  const names = Object.keys(FUNCTIONS) as (keyof typeof FUNCTIONS)[];
  const commands = names.flatMap((name) => [`tbreak ${name}`, 'continue', 'lane 5', 'finish']);
  const { answers } = await debugSource(SOURCE, ['-O0'], ['k'], [...commands, 'quit']);
  for (const [n, name] of names.entries()) {
    const said = answers[4 * n + 4]?.split('\n').find((line) => line.startsWith('value returned'));
    expect([name, said?.replace(/^.*?= /, '')]).toEqual([name, FUNCTIONS[name][1]]);
  }
});

test.skipIf(!hasLlvm())('a function that calls itself', async () => {
  const commands = ['delete', 'break fact if n == 2', 'continue', 'backtrace', 'up 2', 'print n', 'finish', 'print n'];
  const more = ['backtrace', 'reverse-finish', 'backtrace', 'delete', 'next', 'backtrace'];
  const { answers } = await debugSource(SOURCE, ['-O0'], ['k'], [...commands, ...more, 'quit']);
  const calls = (n: number): number | undefined => answers[n]?.match(/ in fact /g)?.length;
  expect(calls(4)).toBe(4);
  expect(answers[6]).toBe('n = 4');
  expect(answers[7]).toContain('value returned is $2 = 24');
  expect([answers[8], calls(9)]).toEqual(['n = 5', 1]);
  expect(calls(11)).toBeUndefined();
  // Over all its calls.
  expect(answers[14]).toMatch(/^#0 .* in k at /);
});
