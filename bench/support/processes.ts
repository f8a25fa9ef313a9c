// Whole processes, timed as their user meets them: start-up, reading, work, writing to a file and exit all count.
// The two sides of a comparison run in turn (A B A B …), so that a machine whose speed drifts slows both.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** The checkout: scripts/run-ts.mjs bundles a bench elsewhere, but keeps its path in argv. */
export const root = dirname(dirname(resolve(process.argv[1] ?? '.')));

/** `bin/wavesmith` of this checkout; it builds itself when a source is newer. */
export const wavesmith = join(root, 'bin', 'wavesmith');

const LLVM = process.env.WAVESMITH_LLVM ?? '/usr/lib/llvm-22/bin';

/** The path of an LLVM 22 program. */
export function llvm(tool: string): string {
  return join(LLVM, tool);
}

/** Runs `work` with the path of a temporary folder that is removed afterwards. */
export function withFolder(work: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-bench-'));
  try {
    work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A shell command; `$1` is the file that its standard output goes to, the arguments follow. */
export interface Command {
  readonly script: string;
  readonly args: readonly string[];
  /** Exit codes that count as done; 0 when not given. */
  readonly statuses?: readonly number[];
}

/** A program with its arguments, standard output into a file. */
export function program(path: string, ...args: string[]): Command {
  return { script: '"$@"', args: [path, ...args] };
}

/** Seconds of one run: processor time (user and system, all threads) and wall clock. */
export interface Seconds {
  readonly cpu: number;
  readonly wall: number;
}

/** bash's own `time` reads the kernel's account of the finished processes, in milliseconds. */
const TIMED = 'TIMEFORMAT="%R %U %S"; out=$1; err=$2; shift 2; time { SCRIPT ; } >"$out" 2>"$err"';

/** Runs a command once. Its output is in `out`, its messages in `out`.err. */
export function runOnce(command: Command, out: string): Seconds {
  const script = TIMED.replace('SCRIPT', () => command.script);
  const result = spawnSync('bash', ['-c', script, 'bash', out, `${out}.err`, ...command.args], { encoding: 'utf8' });
  if (result.error !== undefined) throw result.error;
  const done = command.statuses ?? [0];
  if (!done.includes(result.status ?? -1)) {
    const message = readFileSync(`${out}.err`, 'utf8').split('\n')[0];
    throw new Error(`${command.args.join(' ')} ended with ${result.signal ?? result.status}: ${message}`);
  }
  const [wall, user, system] = result.stderr.trim().split(' ').map(Number) as [number, number, number];
  return { cpu: user + system, wall };
}

/** Smallest and median of a list. */
function spread(values: readonly number[]): { min: number; median: number } {
  const sorted = [...values].sort((a, b) => a - b);
  return { min: sorted[0] as number, median: sorted[sorted.length >> 1] as number };
}

function cell(values: readonly number[]): string {
  const { min, median } = spread(values);
  return `${min.toFixed(2).padStart(7)}${median.toFixed(2).padStart(7)}`;
}

/** Prints the header of the rows that `compare` and `report` print. */
export function printHeader(): void {
  const columns = ['wavesmith CPU s', 'wall s', 'other CPU s', 'wall s', 'ratio CPU', 'wall', 'goal'];
  const widths = [16, 14, 14, 14, 11, 7, 8];
  console.log(`${''.padEnd(58)}${columns.map((c, i) => c.padStart(widths[i] as number)).join('')}`);
  console.log(
    `${''.padEnd(58)}${'  min median'.padStart(16)}${['', '', ''].map(() => '  min median'.padStart(14)).join('')}`,
  );
}

/** Times both commands in turn and prints a row; the ratio is the median of the ratios pair by pair. */
export function compare(name: string, ours: Command, theirs: Command, out: string, goal: number, rounds: number): void {
  const a: Seconds[] = [];
  const b: Seconds[] = [];
  runOnce(ours, `${out}.a`);
  runOnce(theirs, `${out}.b`);
  for (let round = 0; round < rounds; round++) {
    a.push(runOnce(ours, `${out}.a`));
    b.push(runOnce(theirs, `${out}.b`));
  }
  const ratio = (pick: (s: Seconds) => number): number =>
    spread(a.map((s, i) => pick(s) / pick(b[i] as Seconds))).median;
  const of = (list: readonly Seconds[], pick: (s: Seconds) => number): string => cell(list.map(pick));
  const cpu = (s: Seconds): number => s.cpu;
  const wall = (s: Seconds): number => s.wall;
  console.log(
    `${name.padEnd(58)}${of(a, cpu).padStart(16)}${of(a, wall)}${of(b, cpu)}${of(b, wall)}` +
      `${ratio(cpu).toFixed(2).padStart(11)}${ratio(wall).toFixed(2).padStart(7)}${`≤ ${goal}`.padStart(8)}`,
  );
}

/** Times one command that has no counterpart and prints a row. `before` is called with the number of each run, untimed. */
export function report(
  name: string,
  ours: Command,
  out: string,
  rounds: number,
  before: (round: number) => void = () => {},
): void {
  const runs: Seconds[] = [];
  for (let round = 0; round < rounds; round++) {
    before(round);
    runs.push(runOnce(ours, out));
  }
  console.log(`${name.padEnd(58)}${cell(runs.map((s) => s.cpu)).padStart(16)}${cell(runs.map((s) => s.wall))}`);
}
