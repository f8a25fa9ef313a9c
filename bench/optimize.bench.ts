// `npm run bench optimize [-- --rate] [-- --ladder] [-- --table [--budget N] [--only RE] [--write]]`: evaluations that a core makes in a minute and
// how they scale over workers; what the ladder lets through; what moves are worth on kernels of several origins (all three by default). Rates are
// of CPU time, so they stand on a busy machine. `--write` makes docs/optimize-kernels.md of the table.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chipNamed, defaultChip } from '../src/device/sim/timing/chips/index.ts';
import { isTargetName } from '../src/isa/index.ts';
import { Blobs } from '../src/optimize/evaluators/blobs.ts';
import { frameOf, type Task } from '../src/optimize/evaluators/task.ts';
import { ThreadEvaluators } from '../src/optimize/evaluators/threads.ts';
import { Evaluator, MOVE_KINDS, type MoveKind, searchMoves } from '../src/optimize/index.ts';
import { type Capture, openCapture } from '../src/snapshot/index.ts';
import { captureSubjects, recordFirst } from '../tests/support/capture-subjects.ts';
import { record } from '../tests/support/captures.ts';
import { ADVERSARY } from '../tests/support/optimize/adversary.ts';
import { CHEATS } from '../tests/support/optimize/cheats.ts';
import { doubleBuffered } from '../tests/support/optimize/double-buffered.ts';
import { FRAUDS } from '../tests/support/optimize/frauds.ts';
import { GAINS } from '../tests/support/optimize/gains.ts';
import { HONEST } from '../tests/support/optimize/honest.ts';
import { IMPROVEMENTS } from '../tests/support/optimize/improvements.ts';
import { objectOf, SUBJECTS, type SubjectName } from '../tests/support/optimize/subjects.ts';
import { SURROUNDINGS } from '../tests/support/optimize/surroundings.ts';
import { TRICKS } from '../tests/support/optimize/tricks.ts';
import { TRIGGERS } from '../tests/support/optimize/triggers.ts';
import { variantObject } from '../tests/support/optimize/variants.ts';
import { makespan, type TableRow, tablePage, tableText } from './support/optimize-report.ts';

const { values } = parseArgs({
  options: {
    rate: { type: 'boolean', default: false },
    ladder: { type: 'boolean', default: false },
    table: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    budget: { type: 'string', default: '60' },
    only: { type: 'string', default: '.' },
  },
});
const isAll = !values.rate && !values.ladder && !values.table;
const WRONG = [...CHEATS, ...ADVERSARY, ...TRICKS, ...FRAUDS, ...TRIGGERS, ...SURROUNDINGS];
const RIGHT = [...HONEST, ...IMPROVEMENTS, ...GAINS];
/** Wave instructions of a captured launch beyond which a kernel is left out of the table: its baseline alone would take minutes. */
const MOST_INSTRUCTIONS = 3_000_000;

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
    } else if (rung !== cheat.rung) {
      elsewhere++;
      console.log(`  ${cheat.name}: at ${rung}, not at ${cheat.rung}`);
    }
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

/** Launches of about 10^6 wave instructions: a row of a matrix each (26 MB are read), and a polynomial of each element (1 MB). */
const LONG = {
  dot: {
    code: () => objectOf('dot'),
    args: ['f32[12800]=7', `f32[${12800 * 512}]=random:3`, 'f32[512]=random:4', 'i32=512', 'i32=12800'],
    groups: 200,
  },
  polynomial: {
    code: () =>
      variantObject({
        name: 'polynomial',
        of: 'elementwise',
        replace: [
          [
            'v_fma_f32 v2, s9, v2, v3',
            `s_mov_b32 s12, 0
loop:
  v_fma_f32 v2, s9, v2, v3
  v_fma_f32 v2, s9, v2, v3
  v_fma_f32 v2, s9, v2, v3
  v_fma_f32 v2, s9, v2, v3
  s_add_u32 s12, s12, 1
  s_cmp_lt_u32 s12, 64
  s_cbranch_scc1 loop`,
          ],
        ],
      }),
    args: ['f32[131072]=7', 'f32[131072]=random:3', 'i32=131000', 'f32=0.5'],
    groups: 2048,
  },
} as const;

async function rates(): Promise<void> {
  for (const [name, { code, args, groups }] of Object.entries(LONG)) {
    const path = join(folder, `long-${name}.wscap`);
    const launch = { code: code(), args: [...args], grid: [groups, 1, 1], block: [64, 1, 1] } as const;
    await record(folder, `long-${name}.wscap`, launch);
    const capture = openCapture(path);
    const [evaluator, open] = await timed(() => Evaluator.open(capture, { chip: chipNamed('mi300x') }));
    const { instructions } = evaluator.oracle.timed;
    let inside = 0;
    let count = 0;
    const counted =
      <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
      async (...given: A): Promise<R> => {
        const [value, seconds] = await timed(() => work(...given));
        inside += seconds;
        count++;
        return value;
      };
    await evaluator.evaluate(evaluator.oracle.code);
    const [, climb] = await timed(() => evaluator.evaluate(evaluator.oracle.code));
    const [, look] = await timed(() => evaluator.look(evaluator.oracle.code));
    evaluator.look = counted(evaluator.look.bind(evaluator));
    evaluator.evaluate = counted(evaluator.evaluate.bind(evaluator));
    const [result, all] = await timed(() => searchMoves(evaluator, { budget: 40, beam: 1 }));
    console.log(
      `${name}: ${instructions} wave instructions; a first look ${look.toFixed(2)} s CPU, a climb of the whole ladder ${climb.toFixed(2)} s (${(60 / climb).toFixed(0)} a minute); ` +
        `a search of ${result.looks} looks and ${result.climbs} climbs: ${((60 * count) / all).toFixed(0)} evaluations a minute and core, ${(100 * (1 - inside / all)).toFixed(1)}% of the time outside of them; the baseline on all inputs ${open.toFixed(1)} s, once`,
    );
  }
  await scaling();
}

/** Tasks of the simulated queue for each look that was timed. */
const TASKS_PER_LOOK = 16;

/** The same looks by 1, 2 and 4 threads, and what their times give on up to 64 workers. */
async function scaling(): Promise<void> {
  const { grid, block } = SUBJECTS.dot;
  const rows = 2560;
  const launch = {
    code: objectOf('dot'),
    args: [`f32[${rows}]=7`, `f32[${rows * 128}]=random:3`, 'f32[128]=random:4', 'i32=128', `i32=${rows}`],
    grid: [rows / 64, grid[1], grid[2]],
    block,
  } as const;
  await record(folder, 'scaling.wscap', launch);
  const capture = openCapture(join(folder, 'scaling.wscap'));
  const options = { chip: chipNamed('mi300x') };
  const evaluator = await Evaluator.open(capture, options);
  const blobs = new Blobs(join(folder, 'blobs'));
  const frame = frameOf(blobs.putCapture(capture), options);
  const candidates = Array.from({ length: 48 }, (_, n) =>
    variantObject({
      name: `nops ${n}`,
      of: 'dot',
      replace: [['loop:', `s_nop ${n % 16}\n${'  s_nop 0\n'.repeat(n >> 4)}loop:`]],
    }),
  );
  const seconds: number[] = [];
  for (const code of candidates) seconds.push((await timed(() => evaluator.look(code)))[1]);
  const sum = seconds.reduce((a, b) => a + b, 0);
  for (const threads of [1, 2, 4]) {
    const evaluators = new ThreadEvaluators(blobs.folder, threads);
    const tasks = (codes: readonly Uint8Array[]): Task[] =>
      codes.map((code) => ({ ...frame, kind: 'look', candidate: blobs.put(code) }));
    // Every thread consults the baseline first, once.
    for await (const _ of evaluators.submit(tasks(candidates.slice(0, 4))));
    const started = performance.now();
    const [answers, cpu] = await timed(async () => {
      let n = 0;
      for await (const verdict of evaluators.submit(tasks(candidates.slice(4)))) if (verdict.result !== undefined) n++;
      return n;
    });
    const wall = (performance.now() - started) / 1000;
    console.log(
      `${threads} threads: ${answers} looks in ${wall.toFixed(1)} s, ${cpu.toFixed(1)} s CPU (${((60 * answers) / wall).toFixed(0)} a minute; ${cpus().length} cores, load ${(loadavg()[0] ?? 0).toFixed(1)})`,
    );
    await evaluators.close();
  }
  // A search of many workers has more tasks than they are.
  const many = Array.from({ length: TASKS_PER_LOOK }, () => seconds).flat();
  const all = sum * TASKS_PER_LOOK;
  const simulated = [1, 2, 4, 8, 16, 32, 64].map(
    (workers) => `${workers}: ×${(all / makespan(many, workers)).toFixed(1)}`,
  );
  console.log(
    `simulated from the CPU times of ${seconds.length} looks, ${many.length} tasks taken in turn by workers: ${simulated.join(', ')}`,
  );
}

function chipOf({ manifest }: Capture) {
  const processor = manifest.code.target.split(':')[0] ?? '';
  if (!isTargetName(processor)) throw new Error(`${processor} is no target`);
  return defaultChip(processor);
}

/** A barrier that is not needed, as it was published. */
const barrierCase = {
  name: 'published: a barrier too many in a double-buffered loop',
  run: async (path: string): Promise<void> => {
    const { args, grid, block } = SUBJECTS.reverse;
    await record(folder, path, { code: doubleBuffered(), args, grid, block });
  },
};

async function table(budget: number, only: RegExp): Promise<void> {
  const rows: TableRow[] = [];
  const subjects = [
    barrierCase,
    ...captureSubjects().map(({ name, run }) => ({
      name,
      run: async (path: string): Promise<void> => {
        await recordFirst(run, join(folder, path), { orders: false, replace: true });
      },
    })),
  ];
  for (const { name, run } of subjects.filter((s) => only.test(s.name))) {
    const path = `${name.replace(/\W/g, '_').slice(0, 60)}.wscap`;
    await run(path);
    const capture = openCapture(join(folder, path));
    const [row, seconds] = await timed(async (): Promise<TableRow> => {
      const evaluator = await Evaluator.open(capture, { chip: chipOf(capture) });
      const { instructions } = evaluator.oracle.timed;
      if (instructions > MOST_INSTRUCTIONS) throw new Error(`${name} has ${instructions} instructions`);
      const result = await searchMoves(evaluator, { budget, beam: 1 });
      const { evaluation } = result;
      const isAccepted = evaluation?.verdict === 'accepted';
      return {
        name,
        instructions,
        nanoseconds: isAccepted ? result.nanoseconds : [result.nanoseconds[0], result.nanoseconds[0]],
        speedup: isAccepted ? (evaluation.time?.speedup ?? 1) : 1,
        interval: isAccepted ? (evaluation.time?.interval ?? [1, 1]) : [1, 1],
        best: evaluation?.time?.speedup ?? 1,
        reached: isAccepted ? evaluation.reached : undefined,
        moves: MOVE_KINDS.filter((kind: MoveKind) => result.steps.some((s) => s.moves.some((m) => m.kind === kind))),
        looks: result.looks,
        climbs: result.climbs,
      };
    });
    rows.push(row);
    console.log(tableText(row, seconds));
    // Captures of large models fill a disk.
    rmSync(join(folder, path), { recursive: true, force: true });
  }
  const { page, summary } = tablePage(rows, budget);
  console.log(summary);
  if (values.write) writeFileSync(join(process.cwd(), 'docs', 'optimize-kernels.md'), page);
}

if (isAll || values.rate) await rates();
if (isAll || values.ladder) await ladder();
if (isAll || values.table) await table(Number(values.budget), new RegExp(values.only));
