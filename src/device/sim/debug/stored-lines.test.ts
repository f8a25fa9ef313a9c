// `who` of what is in memory runs only those stretches of the past again in which somebody stored to its lines: it finds what it found
// when it ran all of them.
import { expect, test } from 'vitest';
import { hasLlvm } from '../../../../tests/support/build.ts';
import { debugSource } from '../../../../tests/support/debugged.ts';
import { StoredLines } from './stored-lines.ts';

/** A round of the loop is about 100 instructions: 1,500 rounds are some ten checkpoints. */
const SOURCE = `
__attribute__((noinline)) static int step(int x) { int twice = 2 * x; return twice + 1; }
__attribute__((amdgpu_kernel)) void k(__attribute__((address_space(1))) int *out, int n) {
  int i = __builtin_amdgcn_workitem_id_x();
  int first = i * 3 + 1;
  int rare = 1;
  int back = 1;
  int never;
  int *p = &first;
  int sum = 0;
  for (int j = 0; j < n; j++) {
    sum += step(j);
    if (j == 500) rare = 2;
    if (j == 700) back = 5;
    if (j == 720) back = 1;
    if (j == 800) p = &rare;
    if (j == 900) *p = 9;
    if (j == 1000) out[1] = sum;
    if (j == 1100) __atomic_fetch_add(&out[2], 1, __ATOMIC_RELAXED);
  }
  out[0] = sum + first + rare + back + *p + never;
}`;
const ROUNDS = 1500;
const END = ['delete', 'break input.c:22', 'continue'];

async function answersOf(commands: readonly string[]): Promise<readonly string[]> {
  const { answers } = await debugSource(SOURCE, ['-O0'], ['input.c:4'], [...END, ...commands, 'quit'], {
    numbers: [ROUNDS],
  });
  return answers.slice(END.length + 1);
}

const said = (text = ''): string => /(?:changed|is about to be written): (.*)/.exec(text)?.[1] ?? text.trim();
const lineOf = (text = ''): string => /input\.c:(\d+)/.exec(text)?.[1] ?? '';

test.skipIf(!hasLlvm())(
  'the last store is found however long ago it was',
  async () => {
    const cases = [
      ['first', '1', '5'],
      ['rare', '2 → 9', '17'],
      ['back', '5 → 1', '15'],
      ['*p', '2 → 9', '17'],
      ['sum', '', '12'],
      ['out[1]', '0 → ', '18'],
      ['out[2]', '0 → ', '19'],
    ] as const;
    // `continue` goes to the end again.
    const answers = await answersOf([...cases.flatMap(([written]) => [`who ${written}`, 'continue']), 'who never']);
    for (const [n, [written, change, line]] of cases.entries()) {
      const answer = answers[2 * n];
      expect([written, said(answer)]).toEqual([written, expect.stringContaining(change)]);
      expect([written, lineOf(answer)]).toEqual([written, line]);
    }
    expect(answers[2 * cases.length]).toContain('start of history');
  },
  120_000,
);

test.skipIf(!hasLlvm())(
  'from the moment that was found on, and behind what the user has set',
  async () => {
    const twice = await answersOf(['who rare', 'who rare', 'who rare']);
    expect(twice.slice(0, 2).map(said)).toEqual(['2 → 9', '1 → 2']);
    expect(twice.slice(0, 2).map(lineOf)).toEqual(['17', '13']);
    expect(lineOf(twice[2])).toBe('6');
    // At a checkpoint, and between two.
    for (const time of [60_000, 61_234]) {
      const set = await answersOf([`time ${time}`, 'set var first = 77', 'continue', 'who first']);
      expect([time, set[3]]).toEqual([time, expect.stringContaining('was set here by a command: 1 → 77')]);
    }
  },
  120_000,
);

test('a set leaves out no line', () => {
  const [a, b] = [new StoredLines(), new StoredLines()];
  const lines = Array.from({ length: 1000 }, (_, n) => n * n * 97 + (n % 7) * 2 ** 36);
  for (const [n, line] of lines.entries()) (n % 2 === 0 ? a : b).add(line);
  expect(lines.filter((line, n) => !(n % 2 === 0 ? a : b).has(line))).toEqual([]);
  expect(Array.from({ length: 1000 }, (_, n) => 2 ** 30 + n).filter((line) => a.has(line)).length).toBeLessThan(20);
  a.join(b);
  expect(lines.filter((line) => !a.has(line))).toEqual([]);
  b.addAll();
  expect(b.has(12345)).toBe(true);
});
