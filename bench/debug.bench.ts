// `npm run bench debug`: the debugger on a kernel of four waves and 1.6 million instructions, in this process, after one run to warm up.
// Timed: from the start of the dispatch to its end with nobody looking (interpreter), under a debugger that never stops, and the wall time
// from asking for a moment of the past to holding there. Each figure is the median of five rounds that take turns. The last row is C at -O0:
// from the end of 3 million instructions back to the store to a local variable before them.
import { debugSource, runDebugged } from '../tests/support/debugged.ts';

const ROUNDS = 100_000;
const REPEATS = 5;
/** Not a multiple of what is run between two checkpoints: those moments are restored, not run to. */
const BACK = 1_012_345;

/** Milliseconds from one answer of the terminal to the next, by command. */
async function timed(
  commands: readonly string[],
): Promise<{ readonly times: readonly number[]; readonly instructions: number | undefined }> {
  const marks: number[] = [];
  const { instructions } = await runDebugged(
    [...commands, 'detach'].map((command) => () => {
      marks.push(performance.now());
      return command;
    }),
    { rounds: ROUNDS },
  );
  return { times: marks.slice(1).map((mark, i) => mark - (marks[i] as number)), instructions };
}

/** Each round of the loop is 174 instructions. */
const LOCAL_ROUNDS = 17_500;
const LOCAL = `
__attribute__((noinline)) static int step(int x) { int twice = 2 * x; return twice + 1; }
__attribute__((amdgpu_kernel)) void k(__attribute__((address_space(1))) int *out, int n) {
  int first = 3 * __builtin_amdgcn_workitem_id_x() + 1;
  int sum = 0;
  for (int j = 0; j < n; j++) sum += step(j);
  out[0] = sum + first;
}`;

/** Milliseconds of `who` of the local variable. */
async function whoLocal(): Promise<number> {
  const marks: number[] = [];
  const commands = ['delete', 'break input.c:7', 'continue', 'who first', 'quit'].map((command) => () => {
    marks.push(performance.now());
    return command;
  });
  await debugSource(LOCAL, ['-O0'], ['input.c:4'], commands, { numbers: [LOCAL_ROUNDS] });
  return (marks[4] as number) - (marks[3] as number);
}

const end = ['delete', 'catch end', 'continue'];
const backwards = [`time ${ROUNDS * 16 - BACK}`, 'who v2[3]', 'reverse-stepi', 'reverse-stepi 1000'];
const rows = new Map<string, number[]>();
const add = (name: string, ms: number): void => {
  rows.set(name, [...(rows.get(name) ?? []), ms]);
};
const median = (all: readonly number[]): number => [...all].sort((a, b) => a - b)[all.length >> 1] as number;
let total = 0;
await timed(end);
for (let n = 0; n < REPEATS; n++) {
  const { times, instructions = 0 } = await timed([...end, ...backwards]);
  total = instructions;
  add('forward to the end, keeping checkpoints', times[2] as number);
  backwards.forEach((command, i) => {
    add(command, times[3 + i] as number);
  });
  add('who of a local, 3 million back', await whoLocal());
  const started = performance.now();
  await runDebugged(['delete', 'detach'], { rounds: ROUNDS });
  add('forward to the end, detached', performance.now() - started);
}
console.log(
  'Timed: wall clock inside one process, its start not included, after one run; one kernel, so its code is warm.',
);
console.log(`${total} instructions; the row 'time' goes a million back`);
for (const [name, all] of rows) console.log(`${name.padEnd(44)} ${median(all).toFixed(0).padStart(7)} ms`);
