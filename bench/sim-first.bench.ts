// First and second launch of the hand-written kernels of AITER that the tests run, and of long code with many branches (bench/first-kernels.c): what it costs to meet a kernel for the first time.
// Run: npm run bench sim-first [WORD]; only cases with WORD in their name. Each case is a process of its own, without a cache of compiled
// modules; a launch is timed from the call to the result, and beside it is the time its thread had a processor, which other processes change
// little. Goal: the first and the second together take at most 1.5 times the second and 0.3 s.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { createDevice } from '../src/device/index.ts';
import { prepareV8 } from '../src/device/node/host.ts';
import { AITER_KERNELS } from '../tests/sim/kernels/aiter-cases.ts';
import { type LaunchTime, timedRuns, timeLaunch } from '../tests/sim/kernels/support.ts';
import { compileExample, hasLlvm } from '../tests/support/build.ts';
import { sharedPath } from '../tests/support/shared.ts';
import { buffer, root, subject, u32 } from '../tests/support/strict-kernels.ts';

const CHILD = '--case';
/** The family of the kernels of bench/first-kernels.c. */
const OWN = 'long code gfx942';
const OWN_KERNELS = ['branches', 'branches_once'] as const;
const file = process.argv[1] as string;
const [word, family, name] = process.argv.slice(2);

if (word === CHILD) {
  prepareV8();
  const times = family === OWN ? await timeOwn(name as string) : await timeAiter(family as string, name as string);
  console.log(JSON.stringify(times));
} else if (sharedPath('corpus') === undefined) console.log('the reference corpus is absent');
else {
  const columns = `${'first'.padStart(8)}${'second'.padStart(8)}${'goal for the sum'.padStart(18)}`;
  console.log(`${'ms, one process each'.padEnd(58)}${columns}   busy: first  second`);
  const aiter = Object.entries(AITER_KERNELS).flatMap(([f, list]) => list.map(([n]) => [f, n] as const));
  const cases = [...aiter, ...(hasLlvm() ? OWN_KERNELS : []).map((n) => [OWN, n] as const)];
  const over = { wall: 0, busy: 0 };
  let count = 0;
  for (const [f, n] of cases) {
    if (word !== undefined && !`${f} ${n}`.includes(word)) continue;
    const runner = join(dirname(dirname(file)), 'scripts', 'run-ts.mjs');
    const child = spawnSync(process.execPath, [runner, file, CHILD, f, n], { encoding: 'utf8' });
    if (child.status !== 0) throw new Error(`${f} ${n}: ${child.stderr}`);
    const [first, second] = JSON.parse(child.stdout) as [LaunchTime, LaunchTime];
    count++;
    for (const clock of ['wall', 'busy'] as const) {
      if (first[clock] + second[clock] > 1.5 * second[clock] + 300) over[clock]++;
    }
    const cell = (ms: number, width: number): string => ms.toFixed(0).padStart(width);
    const wall = cell(first.wall, 8) + cell(second.wall, 8) + cell(1.5 * second.wall + 300, 18);
    console.log(`${`${f} ${n}`.padEnd(58)}${wall}${cell(first.busy, 14)}${cell(second.busy, 8)}`);
  }
  console.log(
    `${over.wall} of ${count} kernels are over the goal, ${over.busy} by the time their thread had a processor`,
  );
}

async function timeAiter(family: string, name: string): Promise<LaunchTime[]> {
  const found = AITER_KERNELS[family]?.find(([n]) => n === name);
  if (found === undefined) throw new Error(`no case ${family} ${name}`);
  const times: LaunchTime[] = [];
  timedRuns.times = times;
  const { worst, largest } = await found[2]();
  if (!(worst <= found[1] * largest)) throw new Error(`${family} ${name}: error ${worst} of ${largest}`);
  return times;
}

async function timeOwn(kernel: string): Promise<LaunchTime[]> {
  const codeObject = compileExample(join(root(), 'bench', 'first-kernels.c'), 'gfx942', 2);
  const args = [buffer(65536), buffer(65536), u32(8), u32(16384)];
  const { prepare } = subject(kernel, 'gfx942', codeObject, { kernel, grid: [16, 1, 1], block: [256, 1, 1], args });
  const device = await createDevice('sim', { target: 'gfx942' });
  const request = { ...prepare(device, codeObject), workers: 1, engine: 'compiled' } as const;
  const times: LaunchTime[] = [];
  for (let round = 0; round < 2; round++) times.push(await timeLaunch(() => device.dispatch(request)));
  return times;
}
