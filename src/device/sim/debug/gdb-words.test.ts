// What somebody who knows gdb types in the first minutes: casts, arrays, printf, commands of breakpoints, abbreviations; and what is refused.
import { expect, test } from 'vitest';
import { runDebugged } from '../../../../tests/support/debugged.ts';

/** The answer to each command line, by its number from 0. */
async function answersTo(lines: readonly string[]): Promise<readonly string[]> {
  return (await runDebugged([...lines, 'quit'])).answers.slice(1);
}

test.each([
  ['p (char)0x1ff', "-1 '\\377'"],
  ['p (unsigned long long)-1', '18446744073709551615'],
  ['p (int)3.7', '3'],
  ['p (float)0.1', '0.1'],
  ['p sizeof(double) + sizeof(int*)', '16 (0x10)'],
  ['p 5 > 3 ? 10 : 20', '10 (0xa)'],
  ['p/c 65', "65 'A'"],
  ['p/o 8', '010'],
  ['p $v0[3].f > 1', 'error'],
  ['p $s6.f', '0'],
  ['p (void)1', 'error'],
  ['p *(v3+1)', 'error'],
  ['p v3@4', 'error'],
  ['p $9', 'error'],
  ['p sizeof(nothing)', 'error'],
])('%s', async (line, value) => {
  const [answer] = await answersTo([line]);
  if (value === 'error') expect(answer).toMatch(/^error\[run\/bad-(expression|command)\]: /);
  else expect(answer).toBe(`${line.replace(/^p(\/\w)? /, '')} = ${value}`);
});

test('memory through cast pointers is read and set, several elements too', async () => {
  const said = await answersTo([
    'set *(int*)arg0 = 77',
    'set ((int *)arg0)[1] = -2',
    'set *f32(arg0 + 8) 1.5',
    'p *(int *)arg0@2',
    'p *((int*)arg0 + 1)',
    'p {float} (arg0 + 8)',
    'p/x *(unsigned*)arg0@3',
    'set lds.u32(8) = 4',
    'p lds.u32(8)',
    'x/s arg0',
  ]);
  expect(said[3]).toBe('*(int *)arg0@2 = {77, -2}');
  expect(said[4]).toBe('*((int*)arg0 + 1) = -2');
  expect(said[5]).toBe('{float} (arg0 + 8) = 1.5');
  expect(said[6]).toBe('*(unsigned*)arg0@3 = {0x4d, 0xfffffffe, 0x3fc00000}');
  expect(said[8]).toBe('lds.u32(8) = 4');
  expect(said[9]).toMatch(/ {2}"M"$/);
});

test('printed values and variables of the session', async () => {
  const said = await answersTo(['p 40', 'p 2', 'p $1 + $', 'p $$2', 'set $i = 3', 'p $i * 2', 'p $nothing']);
  expect(said[2]).toBe('$1 + $ = 42 (0x2a)');
  expect(said[3]).toBe('$$2 = 40 (0x28)');
  expect(said[5]).toBe('$i * 2 = 6');
  expect(said[6]).toContain("'nothing' is no register, argument or variable here");
});

test('printf and echo', async () => {
  const said = await answersTo([
    'printf "%d|%5.2f|%04x|%-3u|%c%%\\n", -7, 1.5, 255, 3, 65',
    'printf "%d\\n"',
    'printf "%d\\n", 1, 2',
    'printf "%q", 1',
    'echo one\\ntwo\\n',
  ]);
  expect(said[0]).toBe('-7| 1.50|00ff|3  |A%');
  expect(said[1]).toContain("There is no value for '%d'.");
  expect(said[2]).toContain("'2' has no place in the format.");
  expect(said[3]).toContain('is no conversion');
  expect(said[4]).toBe('one\ntwo');
});

test('commands of a breakpoint run at each stop; silent ones say nothing; what goes on ends them', async () => {
  const { answers, out } = await runDebugged([
    'delete',
    'break again',
    'commands',
    'silent',
    'printf "left %d\\n", s6',
    'continue',
    'print 1',
    'end',
    'info breakpoints',
    'break helper',
    'continue',
    'quit',
  ]);
  expect(answers[9]).toMatch(/hit 0 times\n {5}silent\n {5}printf "left %d\\n", s6\n {5}continue\n {5}print 1$/);
  const rounds = Array.from({ length: 10 }, (_, i) => `left ${10 - i}`);
  expect((answers[11] as string).split('\n').slice(0, 10)).toEqual(rounds);
  expect(answers[11]).toContain('breakpoint 3: workgroup 0,0,0 wave 0');
  expect(out).not.toContain('1 = 1');
});

test('watchpoints have conditions; a condition that changes keeps number, hits and commands', async () => {
  const said = await answersTo([
    'stepi 6',
    'watch s6 if s6 < 5',
    'continue',
    'condition 2 s6 < 3',
    'continue',
    'disable 1',
    'condition 1 v0 == 3',
    'ignore 1 2',
    'info breakpoints',
  ]);
  expect(said[2]).toContain('s6 changed: 5 → 4');
  expect(said[4]).toContain('s6 changed: 3 → 2');
  expect(said[8]).toMatch(
    /^1 {2}0x1500 <k> if v0 == 3 \(disabled\), hit 1 times, ignored 2 times more\n2 {2}watch s6 .* if s6 < 3, hit 2 times/,
  );
});

test('reads stop behind the instruction, and before it on the way back: memory, LDS, registers', async () => {
  const said = await answersTo([
    'delete',
    'rwatch lds.u32(4)',
    'continue',
    'delete',
    'awatch *(int *)(arg0)',
    'continue', // the atomic
    'info watchpoints',
    'delete',
    'rwatch s6 if s6 < 3',
    'reverse-continue',
    'x/i $pc',
    'continue',
    'delete',
    'rwatch v1[70]',
    'rwatch 1 + 2',
    'awatch v2',
    'reverse-continue',
    'x/i $pc',
  ]);
  expect(said[1]).toBe('read watchpoint 2: lds.u32(4) = 0');
  expect(said[2]).toMatch(/^lds\.u32\(4\) was read: \d+.*\nwatchpoint: workgroup 0,0,0 wave \d, 0x\w+ <back/);
  expect(said[5]).toMatch(/^\*\(int \*\)\(arg0\) was read and written: 0 → 64\nwatchpoint: workgroup 0,0,0 wave /);
  expect(said[6]).toMatch(/^3 {2}access watch .*, hit 1 times, now 64$/);
  expect(said[9]).toMatch(/^s6 is about to be read: \d/);
  expect(said[10]).toMatch(/s_(?:sub_u32|cmp_lg_u32) .*s6/);
  expect(said[11]).toMatch(/^s6 was read/);
  expect(said[13]).toMatch(/^error\[run\/bad-expression\]: .*no lane/);
  expect(said[14]).toMatch(/^error\[run\/bad-expression\]: .*stands in no memory or register/);
  expect(said[16]).toMatch(/^v2 is about to be (?:written|read and written)/);
  expect(said[17]).toContain('v2');
});

test('reads of registers that M0 chooses stop, too', async () => {
  const code = `
  s_mov_b32 s12, 7
  s_mov_b32 m0, 2
  v_mov_b32_e32 v2, 5
  s_mov_b32 s6, 2
  s_movrels_b32 s7, s10
  s_movreld_b32 s8, s7
  s_set_gpr_idx_on s6, 1
  v_mov_b32_e32 v3, v0
  s_set_gpr_idx_off
  s_endpgm`;
  const lines = [
    'delete',
    'rwatch s12',
    'awatch s10',
    'rwatch v2',
    'rwatch v0',
    'continue', // s_movrels reads s12
    'continue', // s_movreld writes s10
    'continue', // v_mov reads v2, not v0
    'reverse-continue',
    'reverse-continue',
    'reverse-continue',
    'quit',
  ];
  const said = (await runDebugged(lines, { code })).answers.slice(1);
  expect(said[5]).toMatch(/^s12 was read: 7/);
  expect(said[6]).toMatch(/^s10 was written: \d+.* → 7/);
  expect(said[7]).toMatch(/^v2 was read: 5/);
  expect(said[8]).toMatch(/^v2 is about to be read: 5/);
  expect(said[9]).toMatch(/^s10 is about to be written/);
  expect(said[10]).toMatch(/^s12 is about to be read: 7/);
});

test('all waves at once, breakpoints of one wave, displays in formats', async () => {
  const said = await answersTo([
    'delete',
    'break helper wave 1',
    'continue',
    'thread apply all print wave',
    'thread apply 0-1 continue',
    'display/i $pc',
    'display/x s6',
    'stepi',
    'undisplay 9',
    'delete 2-2',
    'info breakpoints',
    'thread',
  ]);
  expect(said[2]).toContain('breakpoint 2: workgroup 0,0,0 wave 1');
  expect(said[3]).toMatch(/^wave 0,0,0\/0:\nwave = 0\nwave 0,0,0\/1:\nwave = 1/);
  expect(said[4]).toContain("'continue' lets execution go on");
  expect(said[7]).toMatch(/\n1: \/i \$pc:\n=> .*s_setpc_b64 s\[10:11\]\n2: \/x s6 = 0x0$/);
  expect(said[8]).toContain("There is no display '9'.");
  expect(said[10]).toBe('no breakpoints');
  expect(said[11]).toMatch(/^\* wave 1: .*, 64 lanes$/);
});

test('the only command that begins so is meant; several are named', async () => {
  const said = await answersTo([
    'disas',
    'reverse-s',
    'wha',
    'p*u32(arg0)',
    'x/2i$pc',
    'info line helper',
    'bt 1',
    'bt x',
    'help x',
  ]);
  expect(said[0]).toContain('s_load_dwordx2');
  expect(said[1]).toContain("'reverse-s' may be reverse-step, reverse-stepi");
  expect(said[2]).toContain('error[run/bad-command]');
  expect(said[3]).toBe('*u32(arg0) = 0');
  expect(said[4]).toMatch(/^k:\n=>\* .*\n.*s_mov_b32/);
  expect(said[5]).toBe('0x158c <helper> (no source line)');
  expect(said[6]).toMatch(/^#0 /);
  expect(said[7]).toContain("'x' is not a number of calls");
  expect(said[8]).toMatch(/^x\[\/NFU\] \[ADDRESS\]/);
});

test.each([
  'file x',
  'record',
  'source x',
  'layout asm',
  'shell ls',
  'return',
  'show version',
  'handle SIGINT',
  'set listsize 20',
  'set height 40',
  'hbreak k',
])('%s is refused in a sentence', async (line) => {
  const [answer] = await answersTo([line]);
  expect(answer).toMatch(/^error\[run\/bad-command\]: .*\.(\n {2}hint: .*)?$/);
  expect(answer).not.toContain('There is no command');
});

test.each([
  'set confirm off',
  'set confirm on',
  'set pagination off',
  'set pagination on',
  'set height 0',
  'set width 0',
  'set height unlimited',
])('%s is as it is here', async (line) => {
  expect((await answersTo([line]))[0]).toBe('');
});

test('thread apply says which waves are not there', async () => {
  const [some, all, none] = await answersTo([
    'thread apply 1 5 7-8 print wave',
    'thread apply all print wave',
    'thread apply 5 print wave',
  ]);
  expect(some).toBe('no wave of this workgroup that runs is 5, 7, 8\nwave 0,0,0/1:\nwave = 1');
  expect(all).not.toContain('no wave');
  expect(none).toContain('No wave of this workgroup that runs is one of 5.');
});

test.each(['k', '+0', '0x1500', '+8'])(
  'a kernel whose arguments are preloaded stops where hardware begins: %s',
  async (place) => {
    // Hardware that preloads begins 256 bytes behind the entry; the code there is for hardware that does not.
    const code = `s_load_dwordx2 s[2:3], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n.fill 61, 4, 0xbf800000\n${'s_nop 0\n'.repeat(2)}s_endpgm`;
    const { answers } = await runDebugged(['info breakpoints', 'print s2 == (u32(arg0))', 'quit'], {
      code,
      preloads: 2,
      breakpoints: [place],
    });
    expect(answers[0]).toMatch(/^breakpoint 1: workgroup 0,0,0 wave 0, 0x1600 <k\+0x100>/);
    expect(answers[1]).toBe('1  0x1600 <k+0x100>, hit 1 times');
    expect(answers[2]).toMatch(/ = 1$/);
  },
);

test('x alone goes on where the last x ended, in its format', async () => {
  const said = await answersTo([
    'x',
    'set *(int*)arg0 = 7',
    'set *(int*)(arg0 + 8) = 9',
    'x/2dw arg0',
    'x',
    'x/2',
    'x/2i again',
    'x',
    'x/q arg0',
    'x/c arg0',
    'x/t arg0',
    'x/a arg0',
  ]);
  const values = (text: string | undefined): string[] => (text ?? '').trim().split(/\s+/).slice(1);
  expect(said[0]).toContain('An address is missing.');
  expect([3, 4, 5].map((n) => values(said[n]))).toEqual([['7', '0'], ['9'], ['0', '0']]);
  expect(said[6]).toContain('s_sub_u32 s6, s6, 1');
  expect(said[7]).toContain('s_cmp_lg_u32 s6, 0');
  expect(said[8]).toContain("'q' is neither a format nor a size.");
  expect([9, 10, 11].map((n) => values(said[n]))).toEqual([
    ['7', "'\\a'"],
    ['0b00000000000000000000000000000111'],
    ['0x7'],
  ]);
});

test.each([
  ['info registers pc', /^pc=0x[0-9a-f]+ </],
  ['advance', /A place is missing/],
  ['condition', /A breakpoint's number is missing\./],
  ['ignore', /A breakpoint's number is missing\./],
  ['delete 99', /There is no breakpoint or watchpoint 99\./],
  ['enable once 1', /'enable once' is not known here\./],
  ['watch 5', /'5' is a constant: it never changes\./],
  ['down', /This is the innermost frame/],
  ['up', /This is the outermost frame/],
  ['display nothing', /'nothing' is no register, argument or variable here/],
  ['disassemble/q', /'disassemble\/q' is not known here/],
  ['disassemble again,again', /There is no instruction from again to before again\./],
])('%s', async (line, answer) => {
  expect((await answersTo([line]))[0]).toMatch(answer);
});

test('what is shown at each stop has names that mean something; a value may come later', async () => {
  const said = await answersTo(['display nothing', 'display *u32(4)', 'info display']);
  expect(said[1]).toContain('has no value here');
  expect(said[2]).toBe('1  *u32(4)');
});

test('code from one place to before another; breakpoints say what else is there', async () => {
  const said = await answersTo(['disassemble again,+8', 'break again', 'tbreak again']);
  expect(said[0]?.split('\n').map((line) => line.trim().replace(/^0x[0-9a-f]+ +/, ''))).toEqual([
    'again:',
    'v_add_u32_e32 v2, v2, v0',
    's_sub_u32 s6, s6, 1',
  ]);
  expect(said[2]).toMatch(/^temporary breakpoint 3 at 0x[0-9a-f]+ <again>, where 2 is, too$/);
});

test('what x has shown last has a name, and so has the code', async () => {
  const said = await answersTo([
    'set *(int*)(arg0 + 4) = 9',
    'x/2dw arg0',
    'p $__ + 1',
    'p $_ == (u32(arg0) * 0 + arg0 + 4)',
    'p *$_',
    'set *(char*)(arg0 + 8) = 65',
    'x/s arg0 + 8',
    'x/2s',
    'p $__',
    'x/2i helper',
    'p $_ - helper',
    'p helper',
    'p &helper',
    'p/x helper + 4',
    'p $pc',
    'info symbol helper',
    'info address helper',
    'info display',
  ]);
  expect(said[2]).toBe('$__ + 1 = 10 (0xa)');
  expect(said[3]).toMatch(/ = 1$/);
  expect(said[4]).toBe('*$_ = 9');
  expect(said[6]).toMatch(/ {2}"A"$/);
  expect(said[7]).toMatch(/^ *0x\w+ {2}""\n *0x\w+ {2}""$/);
  expect(said[8]).toContain("'$__'");
  expect(said[10]).toBe('$_ - helper = 4');
  expect(said[11]).toMatch(/^helper = 0x[0-9a-f]+ <helper>$/);
  expect(said[12]).toBe(said[11]?.replace('helper', '&helper'));
  expect(said[13]).toMatch(/^helper \+ 4 = 0x[0-9a-f]+$/);
  expect(said[14]).toBe('$pc = 0x1500 <k>');
  expect(said[15]).toMatch(/^0x[0-9a-f]+ <helper>$/);
  expect(said[16]).toMatch(/^0x[0-9a-f]+ <helper>$/);
  expect(said[17]).toBe('no expression is displayed');
});

test('x shows numbers with the sign of their format', async () => {
  const said = await answersTo([
    'set *(int *)arg0 = -2',
    'set *(int *)(arg0 + 4) = -1',
    'x/2dw arg0',
    'x/2uw arg0',
    'x/dg arg0',
    'x/4dh arg0',
    'x/2db arg0',
    'printf "%s %d %u\\n", *(int *)arg0, *(int *)arg0, *(unsigned *)arg0',
  ]);
  const values = said.map((text) => text.trim().split(/\s+/).slice(1).join(' '));
  expect(values.slice(2, 7)).toEqual(['-2 -1', '4294967294 4294967295', '-2', '-2 -1 -1 -1', '-2 -1']);
  expect(said[7]).toBe('-2 -2 4294967294');
});

test('an empty line after x shows what follows', async () => {
  const said = await answersTo(['set *(int*)(arg0 + 8) = 9', 'x/2dw arg0', '', '']);
  expect(said.slice(1, 4).map((text) => text?.trim().split(/\s+/).slice(1).join(' '))).toEqual(['0 0', '9 0', '0 0']);
});
