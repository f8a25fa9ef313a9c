// Values of optimized code: where the debug information gives one, it is that of the same program without optimization.
import { expect, test } from 'vitest';
import { hasLlvm } from '../../../../tests/support/build.ts';
import { debugSource } from '../../../../tests/support/debugged.ts';
import { randomNumbers } from '../../../base/index.ts';

const TYPES = ['int', 'unsigned', 'long', 'unsigned long', 'short', 'unsigned char', 'signed char', 'unsigned short'];
const NUMBERS = [1, 2, 3, 5, 7, -3, 100, 0x7fff, -1, 1000003];
const VARIABLES = 14;

/** A kernel of variables that nothing uses, each made from others: LLVM removes them and describes how they are computed. */
function kernel(seed: number): string {
  const random = randomNumbers(seed);
  const one = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const names = ['i', 'n'];
  const lines = Array.from({ length: VARIABLES }, (_, k) => {
    const [a, b, c] = [one(names), one(names), one(NUMBERS)];
    const shift = one([0, 1, 3, 8]);
    const value = one([
      ...['+', '*', '/', '%', '&', '^', '<', '>', '=='].map((operator) => `${a} ${operator} ${c}`),
      ...['-', '|', '>'].map((operator) => `${a} ${operator} ${b}`),
      ...[`${a} << ${shift}`, `${a} >> ${shift}`, `-${a}`, `~${a}`, `(short)${a}`, `(unsigned char)${a}`],
      `(long)${a} * ${c}`,
    ]);
    names.push(`d${k}`);
    return `  ${one(TYPES)} d${k} = ${value};`;
  });
  return `__attribute__((amdgpu_kernel)) void k(__attribute__((address_space(1))) int *out, int n) {
  int i = __builtin_amdgcn_workitem_id_x() - 20;
${lines.join('\n')}
  unsigned char letter = 200;
  double half = 0.5;
  long large = 0x123456789abcdef1;
  unsigned long larger = 0xf123456789abcdef;
  __builtin_amdgcn_s_sleep(1);
  out[i + 20] = i;
}`;
}

const COMMANDS = [0, 5, 21, 40].flatMap((lane) => [`lane ${lane}`, 'info locals']);

async function locals(source: string, level: string): Promise<(readonly [name: string, value: string])[]> {
  const line = source.split('\n').findIndex((text) => text.includes('s_sleep')) + 1;
  const { answers } = await debugSource(source, [level], [`input.c:${line}`], [...COMMANDS, 'quit'], {
    numbers: [12345],
  });
  return answers.flatMap((answer, n) =>
    answer.split('\n').flatMap((text) => {
      const [, name, value] = /^(\w+) = (.*)$/.exec(text) ?? [];
      return name === undefined || value === undefined ? [] : [[`${n} ${name}`, value] as const];
    }),
  );
}

test.skipIf(!hasLlvm()).each([1, 2, 3, 4, 8, 13, 18])('kernel %i', async (seed) => {
  const source = kernel(seed);
  const plain = new Map(await locals(source, '-O0'));
  for (const level of ['-O1', '-O2']) {
    const known = (await locals(source, level)).filter(([, value]) => !value.startsWith('('));
    expect(known.length).toBeGreaterThan(20);
    for (const [name, value] of known) expect([level, name, value]).toEqual([level, name, plain.get(name)]);
  }
});

test.skipIf(!hasLlvm())(
  'parameters of the kernel that are kept nowhere have the value that they were given',
  async () => {
    const source = `
struct pair { int a; float b; };
static inline __attribute__((always_inline)) int more(int n) { return n + 1; }
__attribute__((amdgpu_kernel)) void k(__attribute__((address_space(1))) int *out, int n, float f, struct pair p) {
  int local[3] = {n, 2, 3};
  out[0] = more(n) + local[1];
  __builtin_amdgcn_s_sleep(1);
}`;
    const asked = [
      'info args',
      'print n + 1',
      'print f',
      'print &n',
      'set n = 3',
      'watch n',
      'break 7 if n == 5',
      'info arguments',
      'print local',
    ];
    const { answers } = await debugSource(source, ['-O2'], ['input.c:7'], [...asked, 'quit'], {
      numbers: [12345],
      bytes: [new Uint8Array(Float32Array.of(1.5).buffer), Uint8Array.of(7, 0, 0, 0, 0, 0, 0x20, 0x40)],
    });
    const [, args, more, float, address, set, watch, condition, given, local] = answers;
    expect(args).toMatch(/^out = 0x\w+ \(as the kernel was called\)\nn = 12345 \(as the kernel was called\)\n/);
    expect(args).toContain('\nf = 1.5 (as the kernel was called)\np = {a = 7, b = 2.5} (as the kernel was called)');
    expect([more, float]).toEqual(['n + 1 = 12346', 'f = 1.5 (as the kernel was called)']);
    for (const refused of [address, set, watch]) expect(refused).toContain('the compiler keeps it nowhere here');
    expect(condition).toMatch(/^breakpoint 2 at /);
    expect(given).toMatch(/^out = 0x\w+ \(buffer of 4096 bytes\)\nn = 12345\nf = 1.5\np = \{a = 7, b = 2.5\}$/);
    // Only what may be in LDS is said to be there, perhaps.
    expect(local).toBe('local = (optimized out)');
  },
);

test.skipIf(!hasLlvm())(
  'what the optimizer has left nothing of in an inlined function is still known there',
  async () => {
    const source = `
static inline __attribute__((always_inline)) int square(int v) {
  int w = v + 1;
  return w * w;
}
__attribute__((amdgpu_kernel)) void k(__attribute__((address_space(1))) int *out, int n) {
  int v = 7;
  for (int r = 0; r < n; r++) out[0] ^= square(r);
}`;
    const asked = ['break square if v == 3', 'continue', 'info args', 'info locals', 'up', 'print v'];
    const { answers } = await debugSource(source, ['-O2'], ['k+0'], [...asked, 'quit'], { numbers: [5] });
    expect(answers[1]).toMatch(/^breakpoint 2 at /);
    expect(answers[2]).toContain("condition of breakpoint 2: 'v' has no value here: optimized out");
    expect(answers.slice(3, 5)).toEqual(['v = (optimized out)', 'w = (optimized out)']);
    expect(answers[6]).toBe('v = 7');
  },
);

test.skipIf(!hasLlvm())('the frame of an optimized kernel, which no register holds, begins with scratch', async () => {
  const source = `
struct pair { int a; float b[2]; };
__attribute__((noinline)) void fill(struct pair *p, int i) { p->a = i; p->b[1] = 0.5f * i; }
__attribute__((amdgpu_kernel)) void k(__attribute__((address_space(1))) int *out, int n) {
  struct pair first, second;
  int i = __builtin_amdgcn_workitem_id_x();
  fill(&first, i + n);
  fill(&second, 3 * i);
  out[i] = first.a + (int)second.b[1];
}`;
  const asked = [
    'lane 5',
    'print first',
    'print second.b[1]',
    'print (&second)->a',
    'set first.a = 1',
    'print first.a',
  ];
  const { answers } = await debugSource(source, ['-O2'], ['input.c:9'], [...asked, 'quit'], { numbers: [100] });
  expect(answers.slice(2, 7)).toEqual([
    expect.stringMatching(/^first = \{a = 105, b = \{.*, 52\.5\}\}$/),
    'second.b[1] = 7.5',
    '(&second)->a = 15',
    'first.a = 1',
    'first.a = 1',
  ]);
});
