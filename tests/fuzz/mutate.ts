// The fuzzing loop: seeded byte mutations (flips, interesting integers, splices, truncation, duplication) of a target's seeds.
import { performance } from 'node:perf_hooks';
import { randomNumbers, WavesmithError } from '../../src/base/index.ts';

/** A parser of outside bytes under fuzz. `run` must return or throw WavesmithError within a second. */
export interface FuzzTarget {
  readonly name: string;
  seeds(): Uint8Array[];
  run(bytes: Uint8Array): void | Promise<void>;
}

export interface FuzzFailure {
  readonly input: Uint8Array;
  readonly reason: string;
}

export interface FuzzReport {
  runs: number;
  accepted: number;
  rejected: number;
  slowestMs: number;
  /** Bytes of heap more after the run than before it. */
  heapGrowth: number;
  failures: FuzzFailure[];
}

/** A typed error. Targets that are bundled on their own have their own copy of the class, so its identity does not count. */
function isTyped(error: unknown): boolean {
  return error instanceof WavesmithError || (error instanceof Error && 'code' in error && 'position' in error);
}

const SLOW_MS = 1000;
const INTERESTING = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff];

/** One mutant of `seed`: 1 to 8 edits, sometimes a splice with `other`, a cut or a repeated chunk. */
export function mutate(seed: Uint8Array, other: Uint8Array, next: () => number): Uint8Array {
  let bytes = seed.slice();
  const pick = (n: number) => Math.floor(next() * n);
  if (next() < 0.1) bytes = bytes.slice(0, pick(bytes.length + 1));
  if (next() < 0.1 && other.length > 0) {
    const cut = pick(bytes.length + 1);
    const from = pick(other.length);
    const joined = new Uint8Array(cut + (other.length - from));
    joined.set(bytes.subarray(0, cut));
    joined.set(other.subarray(from), cut);
    bytes = joined;
  }
  if (next() < 0.1 && bytes.length > 0 && bytes.length < 1 << 16) {
    const from = pick(bytes.length);
    const chunk = bytes.slice(from, from + 1 + pick(64));
    const at = pick(bytes.length);
    const longer = new Uint8Array(bytes.length + chunk.length);
    longer.set(bytes.subarray(0, at));
    longer.set(chunk, at);
    longer.set(bytes.subarray(at), at + chunk.length);
    bytes = longer;
  }
  if (bytes.length === 0) return bytes;
  const edits = 1 + pick(8);
  for (let i = 0; i < edits; i++) {
    const at = pick(bytes.length);
    const kind = next();
    if (kind < 0.4) bytes[at] ^= 1 << pick(8);
    else if (kind < 0.6) bytes[at] = pick(256);
    else {
      const width = [1, 2, 4, 8][pick(4)];
      const value = INTERESTING[pick(INTERESTING.length)];
      for (let b = 0; b < width && at + b < bytes.length; b++) bytes[at + b] = b < 4 ? (value >>> (8 * b)) & 0xff : 0;
    }
  }
  return bytes;
}

/** Runs `count` mutants of the target's seeds (and the seeds themselves first). */
export async function fuzz(
  target: FuzzTarget,
  count: number,
  seed: number,
  progress?: (done: number) => void,
): Promise<FuzzReport> {
  const next = randomNumbers(seed);
  const seeds = target.seeds();
  const report: FuzzReport = { runs: 0, accepted: 0, rejected: 0, slowestMs: 0, heapGrowth: 0, failures: [] };
  const heapBefore = process.memoryUsage().heapUsed;
  for (let i = 0; i < seeds.length + count; i++) {
    const base = seeds[i < seeds.length ? i : Math.floor(next() * seeds.length)];
    const other = seeds[Math.floor(next() * seeds.length)];
    const input = i < seeds.length ? base : mutate(base, other, next);
    const started = performance.now();
    const before = process.cpuUsage();
    try {
      await target.run(input);
      report.accepted++;
    } catch (error) {
      if (isTyped(error)) report.rejected++;
      else if (report.failures.length < 20) {
        report.failures.push({
          input,
          reason: error instanceof Error ? (error.stack ?? error.message) : String(error),
        });
      }
    }
    // Where the machine is busy with other things, the process's own time is what counts.
    const { user, system } = process.cpuUsage(before);
    const took = Math.min(performance.now() - started, (user + system) / 1000);
    if (took > SLOW_MS) report.failures.push({ input, reason: `took ${took.toFixed(0)} ms` });
    report.slowestMs = Math.max(report.slowestMs, took);
    report.runs++;
    if (progress !== undefined && i % 1000 === 0) progress(i);
  }
  report.heapGrowth = process.memoryUsage().heapUsed - heapBefore;
  return report;
}
