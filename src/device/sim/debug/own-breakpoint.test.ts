// A breakpoint that the program has itself (`__builtin_debugtrap`) stops who debugs it, once each time that it is reached; stepping over it is a step.
import { expect, test } from 'vitest';
import { debuggedCode, runDebugged } from '../../../../tests/support/debugged.ts';

test('s_trap 3 stops, and the kernel goes on behind it', async () => {
  const code = debuggedCode(3).replace('s_barrier', 's_trap 3\ns_barrier');
  const { answers, words, error } = await runDebugged(
    ['delete', 'continue', 'x/i $pc', 'stepi', 'x/i $pc', 'reverse-stepi', 'continue', 'continue'],
    { code },
  );
  expect(answers[2]).toMatch(/own breakpoint \(s_trap 3\)\nbreakpoint: workgroup 0,0,0 wave 0/);
  expect(answers[3]).toContain('s_trap 3');
  expect(answers[5]).toContain('s_barrier');
  expect(error).toBeUndefined();
  const { words: plain } = await runDebugged(['delete', 'continue', 'continue'], { code: debuggedCode(3) });
  expect(words).toEqual(plain);
});
