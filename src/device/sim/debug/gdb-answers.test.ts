// Answers that are gdb's, one table; and who wrote a value that was written again.
import { expect, test } from 'vitest';
import { hasLlvm } from '../../../../tests/support/build.ts';
import { debugSource, runDebugged } from '../../../../tests/support/debugged.ts';

/** The answer to each command line, by its number from 0. */
async function answersTo(lines: readonly string[]): Promise<readonly string[]> {
  return (await runDebugged([...lines, 'quit'])).answers.slice(1);
}

test.each([
  ['p "text"', /^"text" = "text"$/],
  ['p sizeof("text")', /= 5$/],
  ['p "a=b@c"', /= "a=b@c"$/],
  ['p "a" == "b"', /of type char\[2\] is no number/],
  ['p "text"[1]', /= 101 'e'$/],
  ['p/x 1.5', /= 0x1$/],
  ['p/d -1.9', /= -1$/],
  ['p/o 0', /= 0$/],
  ['p/c 10', /= 10 '\\n'$/],
  ['p/c 0', /= 0 '\\000'$/],
  ['x/2tb arg0', /0b00000000 {2}0b00000000$/],
  ['x/tw arg0', /0b0{32}$/],
  ['x/-2xw arg0 + 8', /^ *0x\w+000 {2}0x00000000 {2}0x00000000$/],
  ['x/-2i again', /s_mov_b32 s6, 10\n.*s_waitcnt lgkmcnt\(0\)$/],
  ['x/-2i +0', /No instruction stands before 0x/],
  ['x/-2s arg0', /Texts have no fixed size/],
  ['disassemble /r', /=>.* {2}00 01 06 c0 00 00 00 00 {2}s_load_dwordx2/],
  ['disas/s', /=>.* {2}s_load_dwordx2/],
  ['ignore 1', /How many times it is passed is missing\./],
  ['info breakpoints 99', /There is no breakpoint or watchpoint 99\./],
  ['info wavefronts', /^\* wave 0,0,0\/0: /],
  ['info lanes', /^lane 0 is selected\nactive: 0-63\n0 are off$/],
  ['history', /^instruction 0; back to 0$/],
  ['thread apply all -q p 1', /\n1 = 1$/],
  ['set language c', /is a setting of gdb that does not exist here/],
  ['who 5', /'5' is a constant/],
  ['p *(int *)0', /'\*\(int \*\)' has no value here: memory has no 4 accessible bytes at 0x0/],
  ['info functions k', /^ +0x\w+ {2}k$/],
  ['info functions nothing', /^No function has 'nothing' in its name\.$/],
])('%s', async (line, answer) => {
  expect((await answersTo([line]))[0]).toMatch(answer);
});

test('x without a format goes on behind what it showed', async () => {
  const [first, second] = await answersTo(['x arg0', 'x/xw']);
  const address = Number(/0x\w+/.exec(first ?? '')?.[0]);
  expect(Number(/0x\w+/.exec(second ?? '')?.[0])).toBe(address + 64);
});

test('what stands before a place that is far from any label', async () => {
  const code = `${'s_nop 1\n'.repeat(3000)}s_nop 2\ns_nop 3\ns_endpgm`;
  const { answers } = await runDebugged(['delete', 'break +12004', 'continue', 'x/-2i $pc', 'disassemble', 'quit'], {
    code,
  });
  expect(answers[4]).toMatch(/s_nop 1\n.*s_nop 2$/);
  expect(answers[5]).toMatch(/s_nop 1\n.*s_nop 2\n=>.*s_nop 3/);
});

test('a watchpoint that is refused takes no number', async () => {
  const said = await answersTo(['rwatch 5', 'watch s6 if 1 +', 'watch s6']);
  expect(said[2]).toMatch(/^watchpoint 2: /);
});

test('a wave that has not begun is at its first instruction, and when the kernel has ended there is no place to stop at', async () => {
  const said = await answersTo([
    'stepi 3',
    'wave 1',
    'p $pc',
    'disassemble',
    'wave 0',
    'delete',
    'catch end',
    'continue',
    'break',
    'tbreak',
  ]);
  expect(said[3]).toMatch(/^=>.*s_load_dwordx2/m);
  expect(said[2]).toMatch(/^\$pc = 0x\w+ <k>$/);
  for (const text of said.slice(8, 10)) expect(text).toContain('No wave is stopped.');
});

test('who finds an instruction that wrote the value that was there', async () => {
  const code = `
  v_mov_b32_e32 v2, 0
  s_mov_b32 s6, 5
  s_nop 0
  s_mov_b32 s6, 5
  s_mov_b32 s7, 0
last:
  s_endpgm`;
  const run = await runDebugged(['delete', 'break last', 'continue', 'who v2', 'continue', 'who s6', 'quit'], { code });
  const said = run.answers.slice(1);
  expect(said[3]).toMatch(/^v2 is about to be written: 0 → 0\nwritten: .* <k>$/);
  expect(said[5]).toMatch(
    /^s6 is about to be written: 0 → 5\nthe same value was written again later, last at 0x\w+: 'time 3' goes there\nwritten: .* <k\+0x4>$/,
  );
});

test('data in front of a label does not swallow its instruction', async () => {
  // The first word of an instruction of two.
  const code = `s_branch again
.long 0xbe8000ff
again:
s_nop 3
s_endpgm`;
  const { answers } = await runDebugged(['disassemble again', 'x/2i again', 'quit'], { code });
  for (const answer of answers.slice(1, 3)) expect(answer).toMatch(/again:\n.*s_nop 3\n.*s_endpgm/);
});

test.skipIf(!hasLlvm())('ptype says union of a union', async () => {
  const source = `
union mixed { unsigned bits; float number; };
__attribute__((amdgpu_kernel)) void k(__attribute__((address_space(1))) int *out) {
  union mixed m = {1};
  out[0] = m.bits;
}`;
  const { answers } = await debugSource(source, ['-O0'], ['input.c:5'], ['ptype m', 'ptype union mixed', 'quit']);
  for (const answer of answers.slice(1, 3)) expect(answer).toMatch(/^type = union mixed \{\n {4}unsigned int bits;/);
});
