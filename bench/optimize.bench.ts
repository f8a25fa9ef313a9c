// `npm run bench optimize [-- --budget N --only RE]`: what the ladder lets through, how many evaluations a core makes in a minute, and what moves are
// worth on kernels of several origins. CPU time, one thread: the figures stand on a busy machine.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chipNamed, defaultChip } from '../src/device/sim/timing/chips/index.ts';
import { isTargetName } from '../src/isa/index.ts';
import { Evaluator, searchMoves } from '../src/optimize/index.ts';
import { type Capture, openCapture } from '../src/snapshot/index.ts';
import { captureSubjects, recordFirst } from '../tests/support/capture-subjects.ts';
import { record } from '../tests/support/captures.ts';
import { ADVERSARY } from '../tests/support/optimize/adversary.ts';
import { CHEATS } from '../tests/support/optimize/cheats.ts';
import { HONEST } from '../tests/support/optimize/honest.ts';
import { IMPROVEMENTS } from '../tests/support/optimize/improvements.ts';
import { objectOf, SUBJECTS, type SubjectName } from '../tests/support/optimize/subjects.ts';
import { variantObject } from '../tests/support/optimize/variants.ts';

const { values } = parseArgs({
  options: { budget: { type: 'string', default: '80' }, only: { type: 'string', default: '.' } },
});
const WRONG = [...CHEATS, ...ADVERSARY];
const RIGHT = [...HONEST, ...IMPROVEMENTS];

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-bench-optimize-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** Seconds of CPU time that a piece of work takes, and what it gives. */
async function timed<T>(work: () => Promise<T>): Promise<[T, number]> {
  const before = process.cpuUsage();
  const value = await work();
  const { user, system } = process.cpuUsage(before);
  return [value, (user + system) / 1e6];
}

async function ladder(): Promise<void> {
  const evaluators = new Map<SubjectName, Evaluator>();
  for (const [name, { args, grid, block }] of Object.entries(SUBJECTS) as [
    SubjectName,
    (typeof SUBJECTS)[SubjectName],
  ][]) {
    const path = `${name}.wscap`;
    await record(folder, path, { code: objectOf(name), args, grid, block });
    evaluators.set(name, await Evaluator.open(openCapture(join(folder, path)), { chip: chipNamed('mi300x') }));
  }
  let [accepted, elsewhere, refused] = [0, 0, 0];
  for (const cheat of WRONG) {
    const evaluator = evaluators.get(cheat.of) as Evaluator;
    const { verdict, rung } = await evaluator.evaluate(variantObject(cheat, evaluator.oracle.capture));
    if (verdict !== 'rejected') {
      accepted++;
      console.log(`  NOT REJECTED: ${cheat.name}`);
    } else if (rung !== cheat.rung) elsewhere++;
  }
  for (const honest of RIGHT) {
    const { verdict, rungs } = await (evaluators.get(honest.of) as Evaluator).evaluate(variantObject(honest));
    if (verdict !== 'rejected') continue;
    refused++;
    console.log(`  REFUSED: ${honest.name}: ${rungs.at(-1)?.evidence[0]}`);
  }
  console.log(`wrong changes: ${WRONG.length}, not rejected ${accepted}, rejected at another rung ${elsewhere}`);
  console.log(`right changes: ${RIGHT.length}, refused ${refused}`);
  if (accepted + elsewhere + refused > 0) process.exitCode = 1;
}

function chipOf({ manifest }: Capture) {
  const processor = manifest.code.target.split(':')[0] ?? '';
  if (!isTargetName(processor)) throw new Error(`${processor} is no target`);
  return defaultChip(processor);
}

async function searches(budget: number, only: RegExp): Promise<void> {
  const gains: number[] = [];
  let accepted = 0;
  console.log(
    'kernel: instructions, microseconds before and after, speedup (interval), steps; CPU seconds of a look and of a climb',
  );
  for (const { name, run } of captureSubjects().filter((s) => only.test(s.name))) {
    const path = join(folder, `${name.replace(/\W/g, '_').slice(0, 60)}.wscap`);
    await recordFirst(run, path, { orders: false, replace: true });
    const capture = openCapture(path);
    const evaluator = await Evaluator.open(capture, { chip: chipOf(capture) });
    const code = capture.codeObject();
    const [, look] = await timed(() => evaluator.look(code));
    const [, climb] = await timed(() => evaluator.evaluate(code));
    const result = await searchMoves(evaluator, { budget, beam: 1 });
    const [before, after] = result.nanoseconds;
    const time = result.evaluation?.time;
    const speedup = time?.speedup ?? 1;
    const range = time === undefined ? '' : ` (${time.interval.map((n) => n.toFixed(3)).join(' to ')})`;
    gains.push(speedup);
    if (result.evaluation?.verdict === 'accepted') accepted++;
    const kinds = [...new Set(result.steps.flatMap((s) => s.moves.map((m) => m.kind)))].join(' ');
    console.log(
      `${name}: ${evaluator.oracle.timed.instructions}, ${(before / 1000).toFixed(3)} ${(after / 1000).toFixed(3)}, ×${speedup.toFixed(3)}${range}, ${result.steps.map((s) => s.reached).join(' ')} ${kinds}; ${look.toFixed(2)} ${climb.toFixed(2)}`,
    );
  }
  const mean = Math.exp(gains.reduce((sum, g) => sum + Math.log(g), 0) / Math.max(1, gains.length));
  const improved = gains.filter((g) => g > 1).length;
  console.log(`${gains.length} kernels: ${improved} faster, ${accepted} accepted, geometric mean ×${mean.toFixed(4)}`);
}

await ladder();
await searches(Number(values.budget), new RegExp(values.only));
