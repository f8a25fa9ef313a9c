// Where and why it stops, as somebody who knows gdb expects: several watchpoints at one stop, a breakpoint behind what is watched, counts
// of what is passed again after going back, `run` in the middle of a session, `continue N`.
import { expect, test } from 'vitest';
import { runDebugged } from '../../../../tests/support/debugged.ts';

const answersTo = async (lines: readonly string[]): Promise<readonly string[]> =>
  (await runDebugged([...lines, 'quit'])).answers.slice(1);

test('all watched values that one instruction changed are said, forwards and backwards', async () => {
  const said = await answersTo([
    'stepi 6',
    'watch s6',
    'watch s6 & 1',
    'awatch s6',
    'continue',
    'info watchpoints',
    'continue', // s_cmp reads it
    'reverse-continue',
    'reverse-continue',
  ]);
  expect(said[4]).toMatch(
    /^s6 changed: 10 .*→ 9\ns6 & 1 changed: 0 → 1\ns6 was read and written: 10 .*→ 9\nwatchpoint: workgroup 0,0,0 wave 0/,
  );
  expect(said[5]?.match(/hit 1 times/g)).toHaveLength(3);
  expect(said[6]).toMatch(/^s6 was read: 9\n/);
  expect(said[7]).toMatch(/^s6 is about to be read: 9/);
  expect(said[8]).toMatch(/^s6 (?:changed|is about to be read and written): 10/);
});

test('a breakpoint at the instruction behind the one that changed what is watched is hit, too', async () => {
  const { answers, out } = await runDebugged([
    'delete',
    'watch s6',
    'break again', // the instruction behind s_mov_b32 s6 and its wait
    'break +24', // that wait
    'commands',
    'echo behind',
    'end',
    'continue',
    'info breakpoints',
    'quit',
  ]);
  expect(answers[8]).toMatch(/^s6 changed: \d+.* → 10/);
  expect(answers[9]).toMatch(/^3 .*, hit 0 times\n4 .*, hit 1 times\n {5}echo behind\n2 {2}watch s6 .*, hit 1 times/);
  expect(out).toContain('\nbehind');
});

test('in the past breakpoints count, those for once are removed, and those that are passed stop in the end', async () => {
  const said = await answersTo([
    'delete',
    'catch end',
    'continue',
    'time 0',
    'tbreak again',
    'break again',
    'continue', // round 1
    'info breakpoints',
    'ignore 3 2',
    'continue', // rounds 2 and 3 are passed
    'print s6',
    'info breakpoints',
    'continue 4',
    'print s6',
  ]);
  expect(said[6]).toMatch(/^breakpoint 2, 3: workgroup 0,0,0 wave 0/);
  expect(said[7]).toMatch(/^3 .*, hit 1 times$/);
  expect(said[10]).toBe('s6 = 7');
  expect(said[11]).toMatch(/^3 .*, hit 4 times$/);
  expect(said[12]).toMatch(/^breakpoint 3 is passed 3 times\nbreakpoint 3: /);
  expect(said[13]).toBe('s6 = 3');
});

test('run goes on at first; later it begins again: without what was changed, counting anew', async () => {
  const said = await answersTo([
    'break again',
    'run',
    'set s6 = 2',
    'continue',
    'set v2 = 77',
    'stepi 30',
    'run',
    'info breakpoints',
    'continue',
    'print s6',
    'print v2',
    'start',
    'print $pc',
  ]);
  expect(said[1]).toMatch(/^breakpoint 2: workgroup 0,0,0 wave 0/);
  expect(said[6]).toMatch(/^breakpoint 1: workgroup 0,0,0 wave 0, 0x1500 <k>/);
  expect(said[7]).toBe('1  0x1500 <k>, hit 1 times\n2  0x151c <again>, hit 0 times');
  expect(said[9]).toBe('s6 = 10 (0xa)');
  expect(said[10]).toBe('v2 = 0');
  expect(said[11]).toMatch(/^reached: workgroup 0,0,0 wave 0, 0x1500 <k>/);
  expect(said[12]).toBe('$pc = 0x1500 <k>');
});

test('the lane that was looked at stays selected while its wave stops', async () => {
  const said = await answersTo(['lane 5', 'break again', 'continue', 'print lane', 'wave 1', 'continue', 'print lane']);
  expect(said[3]).toBe('lane = 5');
});

test('continue with a count needs a breakpoint to pass', async () => {
  const said = await answersTo(['stepi', 'continue 3', 'continue x']);
  expect(said[1]).toContain('This is no stop at a breakpoint');
  expect(said[2]).toContain("'x' is not a number of passes");
});

test('a condition with a name that means nothing at its place is refused, and so is one that is changed to it', async () => {
  const said = await answersTo([
    'break again if nosuch == 1',
    'break again if s6 == 9',
    'condition 2 nosuch',
    'condition 2 v0 == 70 && arg0 > 1',
    'info breakpoints',
  ]);
  expect(said[0]).toContain("'nosuch' is no register, argument or variable here");
  expect(said[2]).toContain("'nosuch' is no register, argument or variable here");
  expect(said[4]).toMatch(/\n2 {2}0x\w+ <again> if v0 == 70 && arg0 > 1, hit 0 times$/);
});

test('who names a value that was set by hand as that, and before it the instruction', async () => {
  const said = await answersTo(['stepi 9', 'set v2[3] = 99', 'set s6 = 5', 'stepi', 'who v2[3]', 'who s6', 'who s6']);
  expect(said[4]).toMatch(/^v2\[3\] was set here by a command: 3 → 99 .*\nwritten: workgroup 0,0,0 wave 0, 0x1528 /);
  expect(said[5]).toMatch(/^s6 is about to be written: 10 .* → 9\nwritten: workgroup 0,0,0 wave 0, 0x1520 /);
  expect(said[6]).toMatch(/^s6 is about to be written: 0 → 10 .*\nwritten: workgroup 0,0,0 wave 0, 0x1514 /);
});

test('set pc takes an expression', async () => {
  const said = await answersTo(['set $pc += 8', 'x/i $pc', 'set $pc = ($pc) + 4', 'p $pc', 'break *(again + 4)']);
  expect(said[0]).toBe('pc = 0x1508 <k+0x8>');
  expect(said[3]).toBe('$pc = 0x150c <k+0xc>');
  expect(said[4]).toMatch(/^breakpoint 2 at 0x1520 <again\+0x4>/);
});

test('memory and text at each stop; displays that are off for a while; what stands in code', async () => {
  const said = await answersTo([
    'display/2xw arg0',
    'display/s arg0',
    'display/x $exec',
    'set *(int *)arg0 = 0x4241',
    'disable display 1 3',
    'info display',
    'stepi',
    'enable display',
    'display',
    'disable display 9',
    'x/2xw $pc',
    'x/xw helper',
    'x/2xw 0',
    'print/u -1',
    'print/x -1',
    'print',
  ]);
  expect(said[0]).toMatch(/^1: \/2xw arg0:\n +0x[0-9a-f]+ {2}0x00000000 {2}0x00000000$/);
  expect(said[5]).toBe('1  /2xw arg0 (disabled)\n2  /s arg0\n3  /x $exec (disabled)');
  expect(said[6]).toMatch(/^step: .*\n2: \/s arg0:\n +0x[0-9a-f]+ {2}"AB"$/);
  expect(said[8]).toMatch(
    /^1: \/2xw arg0:\n +0x[0-9a-f]+ {2}0x00004241 {2}0x00000000\n2: .*\n.*"AB"\n3: \/x \$exec = 0x/,
  );
  expect(said[9]).toContain("There is no display '9'.");
  expect(said[10]).toMatch(/^ +0x1508 {2}0x[0-9a-f]{8} {2}0x[0-9a-f]{8}$/);
  expect(said[11]).toMatch(/^ +0x[0-9a-f]+ {2}0x680404?[0-9a-f]+$/);
  expect(said[12]).toContain('error[run/bad-address]');
  expect(said[13]).toBe('-1 = 4294967295');
  expect(said[15]).toBe('$ = -1');
});

test('who of what nothing has written says so at the start', async () => {
  const said = await answersTo(['stepi 9', 'who s20', 'stepi', 'reverse-continue']);
  expect(said[1]).toMatch(
    /^nothing has written s20 since the dispatch began\nstart of history: workgroup 0,0,0 wave 0/,
  );
  expect(said[3]).not.toContain('nothing has written');
});
