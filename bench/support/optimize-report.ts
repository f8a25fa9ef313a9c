// What `npm run bench optimize` prints and writes: rows of the table of kernels, its page, and workers that take tasks in turn.

export interface TableRow {
  readonly name: string;
  readonly instructions: number;
  readonly nanoseconds: readonly [before: number, after: number];
  /** 1 when nothing was accepted. */
  readonly speedup: number;
  readonly interval: readonly [low: number, high: number];
  /** The best that was right, accepted or not. */
  readonly best: number;
  readonly reached: string | undefined;
  readonly moves: readonly string[];
  readonly looks: number;
  readonly climbs: number;
}

const factor = (n: number): string => `×${n.toFixed(3)}`;
const microseconds = (n: number): string => (n / 1000).toPrecision(4);

/** A row as a line, as it is done. */
export function tableText(row: TableRow, seconds: number): string {
  const { name, instructions, nanoseconds, speedup, interval, best, reached, moves, looks, climbs } = row;
  const gain =
    reached === undefined
      ? `nothing accepted (best ${factor(best)})`
      : `${microseconds(nanoseconds[0])} to ${microseconds(nanoseconds[1])} µs, ${factor(speedup)} (${interval.map((n) => n.toFixed(3)).join(' to ')}), ${reached}`;
  return `${name}: ${instructions} instructions, ${gain}; ${moves.join(' ')}; ${looks} looks, ${climbs} climbs, ${seconds.toFixed(0)} s CPU`;
}

/** The page, and its last line. */
export function tablePage(
  rows: readonly TableRow[],
  budget: number,
): { readonly page: string; readonly summary: string } {
  const faster = rows.filter((r) => r.reached !== undefined);
  const mean = (of: readonly TableRow[], value: (r: TableRow) => number): number =>
    Math.exp(of.reduce((sum, r) => sum + Math.log(value(r)), 0) / Math.max(1, of.length));
  const proved = faster.filter((r) => r.reached === 'proved').length;
  const summary =
    `${rows.length} kernels: ${faster.length} accepted as faster by more than 2% (${proved} proved for all inputs, ${faster.length - proved} bit-identical on all inputs), ` +
    `geometric mean ${factor(mean(rows, (r) => r.speedup))} over all, ${factor(mean(faster, (r) => r.speedup))} over those; ` +
    `${rows.filter((r) => r.best > 1).length} have some gain, most below 2%`;
  const lines = rows.map((r) =>
    [
      r.name,
      String(r.instructions),
      r.reached === undefined ? '–' : r.nanoseconds.map(microseconds).join(' → '),
      r.reached === undefined
        ? `– (${factor(r.best)})`
        : `${factor(r.speedup)} (${r.interval.map((n) => n.toFixed(3)).join(' to ')})`,
      r.reached ?? '–',
      r.moves.join(', ') || '–',
    ].join(' | '),
  );
  const page = `<!-- Written by npm run bench optimize -- --table --write. -->
# What moves are worth

${summary}.

Every kernel is one that a compiler or a person made: clang 22 (\`-O0\` to \`-O3\`), Triton, hipBLASLt, AITER, IREE. Each was captured in a small launch, and
searched with \`--budget ${budget} --beam 1\`. \`reached\` says how an accepted kernel was shown to be right: \`proved\` for all inputs, or \`bit\`, every
byte as the baseline left it on the captured launch, all held-out inputs and all orders. A gain in brackets behind a dash was right and not enough: the ladder
accepts from 2%. Times are [modelled](timing.md) microseconds; the interval is what sampling leaves open (of small launches nothing is sampled).
The first row is the published case of a barrier that is not needed.

| kernel | wave instructions | µs | speedup | reached | moves |
|---|---|---|---|---|---|
${lines.map((line) => `| ${line} |`).join('\n')}
`;
  return { page, summary };
}

/** Seconds until the last of several workers is done who take tasks in turn. */
export function makespan(tasks: readonly number[], workers: number): number {
  const free = new Array<number>(workers).fill(0);
  for (const seconds of tasks) {
    const first = free.indexOf(Math.min(...free));
    free[first] = (free[first] as number) + seconds;
  }
  return Math.max(...free);
}
