// Runs a program under the clock of `wavesmith exec --timing` and keeps what the clock saw: launches, copies and marks. From that the
// program's time can be modelled again with other numbers of the chip, without running it.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { totalmem } from 'node:os';
import { deserialize, serialize } from 'node:v8';
import type { Chip } from '../../src/device/sim/timing/chip.ts';
import { FIELDS } from '../../src/device/sim/timing/chip-fields.ts';
import {
  type LaunchTime,
  type RecordedLaunch,
  type ReplayedLaunch,
  TimingModel,
} from '../../src/device/sim/timing/model.ts';
import { timingReport } from '../../src/device/sim/timing/report.ts';
import type { Regions } from '../../src/device/sim/timing/residency.ts';
import { type DeviceProcess, startDeviceProcess } from '../../src/runtime/exec.ts';
import { ModelClock } from '../../src/runtime/model-clock.ts';
import type { CopyKind, PacketTimes } from '../../src/runtime/packet-times.ts';

interface KernelEvent {
  readonly kind: 'kernel';
  readonly recorded: RecordedLaunch;
  readonly instructions: number;
  /** Time on the chip that it was recorded with. */
  nanoseconds: number;
  dirtyBytes: number;
}
type Event =
  | KernelEvent
  | { readonly kind: 'copy'; readonly copy: CopyKind; readonly bytes: number; readonly regions: Regions }
  | { readonly kind: 'mark'; readonly nanoseconds: number };

/** The events of a program up to the end of one timed iteration. */
export interface TimedRun {
  readonly events: readonly Event[];
  /** Events before which the iteration starts and ends. */
  readonly from: number;
  readonly to: number;
}

/** A row that the program printed. */
export interface ModelledRow {
  readonly key: string;
  readonly ms: number;
  readonly run: TimedRun;
  /** Class of the launches that took most of the time; copies have none. */
  readonly kind: string;
}

export interface Collected {
  readonly rows: readonly ModelledRow[];
  readonly seconds: number;
  /** Why there is no row. */
  readonly failure: string | undefined;
}

class LoggedModel extends TimingModel {
  readonly events: Event[] = [];
  readonly times = new Map<Event, LaunchTime>();
  regions: Regions = new Map();

  override time(replayed: ReplayedLaunch, instructions: number, waited: number): LaunchTime {
    const time = super.time(replayed, instructions, waited);
    const { recorded } = replayed;
    const { nanoseconds, dirtyBytes } = time;
    const event: Event = { kind: 'kernel', recorded: portable(recorded), instructions, nanoseconds, dirtyBytes };
    this.events.push(event);
    this.times.set(event, time);
    return time;
  }
  override copied(regions: Regions): number {
    this.regions = regions;
    return super.copied(regions);
  }
}

class LoggedClock extends ModelClock {
  private readonly model: LoggedModel;
  constructor(model: LoggedModel) {
    super(model.chip);
    this.model = model;
  }
  override copy(copy: CopyKind, bytes: number, resident: number): PacketTimes {
    this.model.events.push({ kind: 'copy', copy, bytes, regions: this.model.regions });
    return super.copy(copy, bytes, resident);
  }
  override mark(): PacketTimes {
    const times = super.mark();
    this.model.events.push({ kind: 'mark', nanoseconds: Number(times.end) * 10 });
    return times;
  }
}

/** A recording that can be written to a file: without what only listings need. */
function portable(recorded: RecordedLaunch): RecordedLaunch {
  const { launch, code } = recorded;
  const { kernelName, entry, grid, workgroups, wavesPerGroup } = launch;
  // The replay asks only whether there is a plan.
  const list = code.list.map((c) => ({ ...c, instruction: undefined, plan: c.plan === undefined ? undefined : {} }));
  return {
    ...recorded,
    launch: { kernelName, entry, grid, workgroups, wavesPerGroup } as RecordedLaunch['launch'],
    code: { list: list as unknown as RecordedLaunch['code']['list'] },
  };
}

/** Memory of the device, in bytes: the host holds what the program writes there beside the program's own copy of it. */
const MEMORY_BYTES = 2 ** 30 * Math.min(16, Math.floor((totalmem() / 2 ** 30) * 0.7));

/** Runs a program of the benchmark with one iteration behind the first. */
export async function collect(
  root: string,
  chip: Chip,
  program: string,
  args: readonly string[],
  seconds: number,
): Promise<Collected> {
  const model = new LoggedModel(chip);
  const started = performance.now();
  const device = await startDeviceProcess({
    root,
    target: chip.target,
    memoryBytes: MEMORY_BYTES,
    mfma: 'exact',
    timing: model,
    sampleOnly: true,
    clock: new LoggedClock(model),
    report: () => undefined,
  });
  try {
    const { status, out } = await runProgram(device, [program, ...args, '--iterations', '1'], seconds);
    const took = (performance.now() - started) / 1000;
    if (status !== 0) {
      const failure =
        took >= seconds ? `more than ${seconds} s` : (out.trim().split('\n').at(-1) ?? `status ${status}`);
      return { rows: [], seconds: took, failure };
    }
    return { rows: rowsOf(model, out), seconds: took, failure: undefined };
  } finally {
    await device.close();
  }
}

function runProgram(device: DeviceProcess, command: readonly string[], seconds: number) {
  const child = spawn(device.build.launcher, [String(process.pid), ...command], {
    env: device.environment(process.env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return new Promise<{ readonly status: number; readonly out: string }>((resolve, reject) => {
    let out = '';
    const timer = setTimeout(() => child.kill('SIGKILL'), 1000 * seconds);
    const add = (chunk: Buffer): void => {
      out += chunk.toString();
    };
    child.stdout.on('data', add);
    child.stderr.on('data', add);
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ status: code ?? 1, out });
    });
  });
}

/** The printed rows with their iterations: the marks between which what was printed has passed, the last row's last. */
function rowsOf(model: LoggedModel, out: string): ModelledRow[] {
  const { events } = model;
  const rows: ModelledRow[] = [];
  let end = events.length;
  const printed = out
    .trim()
    .split('\n')
    .filter((line) => /^\w+,[^,]+,\d+,/.test(line));
  for (const line of printed.reverse()) {
    const [kernel, size, , , least] = line.split(',');
    const window = findWindow(events, end, Number(least));
    if (window === undefined) throw new Error(`no two marks are ${least} ms apart: ${line}`);
    const [from, to] = window;
    end = from + 1;
    const kept = events.slice(0, to + 1).map((e, n) => (e.kind === 'kernel' && n < from ? withoutTraces(e) : e));
    rows.push({
      key: `${kernel},${size}`,
      ms: Number(least),
      run: { events: kept, from, to },
      kind: kindOf(model, from, to),
    });
  }
  return rows.reverse();
}

function withoutTraces(event: Event & { kind: 'kernel' }): Event {
  return { ...event, recorded: { ...event.recorded, traces: [] } };
}

function findWindow(events: readonly Event[], end: number, ms: number): readonly [number, number] | undefined {
  const marks = events.flatMap((e, n) => (e.kind === 'mark' && n < end ? [{ n, at: e.nanoseconds }] : []));
  for (let last = marks.length - 1; last > 0; last--) {
    for (let first = last - 1; first >= Math.max(0, last - 4); first--) {
      const a = marks[first] as { n: number; at: number };
      const b = marks[last] as { n: number; at: number };
      if (Math.abs((b.at - a.at) / 1e6 - ms) <= 1.1e-4 && b.n > a.n + 1) return [a.n, b.n];
    }
  }
  return undefined;
}

function kindOf({ events, times }: LoggedModel, from: number, to: number): string {
  const sums = new Map<string, number>();
  for (const e of events.slice(from, to)) {
    const time = times.get(e);
    if (time === undefined) continue;
    const { class: kind, microseconds } = timingReport(time);
    sums.set(kind, (sums.get(kind) ?? 0) + microseconds);
  }
  return [...sums].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 'copy';
}

/** Wave instructions that the machine replays in a second of processor time, over all launches that the rows keep. */
export function replaySpeed(rows: readonly ModelledRow[], chip: Chip): number {
  const kernels = rows.flatMap(({ run }) => run.events.filter((e): e is KernelEvent => e.kind === 'kernel'));
  const before = process.cpuUsage();
  let instructions = 0;
  for (const { recorded } of kernels) {
    if (recorded.traces.length > 0) instructions += new TimingModel(chip).replay(recorded).replay.issued;
  }
  const { user, system } = process.cpuUsage(before);
  return (instructions * 1e6) / (user + system);
}

/** Launches of an iteration that are replayed again; the times of the others change as those of the one before. */
const REPLAYED = 6;

type Again = Pick<LaunchTime, 'nanoseconds' | 'dirtyBytes'>;

/** Replays of a launch by the numbers of the chip that they depend on. */
const replayed = new WeakMap<Event, Map<string, Again>>();
/** Numbers that only the clock uses. */
const CLOCK_ONLY = /^(?:launch|copy|fill)\./;

/** The launch's time on a chip, from memory where only the clock's numbers have changed. */
function timeAgain(model: TimingModel, event: KernelEvent, key: string): Again {
  let known = replayed.get(event);
  if (known === undefined) {
    known = new Map();
    replayed.set(event, known);
  }
  let time = known.get(key);
  if (time !== undefined) model.pass(event.recorded);
  else {
    const { nanoseconds, dirtyBytes } = model.time(model.replay(event.recorded), event.instructions);
    time = { nanoseconds, dirtyBytes };
    known.set(key, time);
  }
  return time;
}

/** Milliseconds of a timed iteration on a chip that differs from the recorded one in what only replays use. */
export function modelAgain({ events, from, to }: TimedRun, chip: Chip): number {
  const key = Object.keys(FIELDS)
    .filter((field) => !CLOCK_ONLY.test(field))
    .map((field) => chip.get(field))
    .join();
  const model = new TimingModel(chip);
  const clock = new ModelClock(chip);
  let start = 0n;
  const kernels = events.slice(from, to).filter((e) => e.kind === 'kernel').length;
  const step = Math.ceil(kernels / REPLAYED);
  /** Of the last replay of each kernel: its time now, and what it leaves changed in L2, over those of the recording. */
  const ratios = new Map<number, Again>();
  let kernel = 0;
  for (let n = 0; n <= to; n++) {
    const e = events[n] as Event;
    if (e.kind === 'kernel') {
      const { entry } = e.recorded.launch;
      const ratio = ratios.get(entry);
      if (n < from) model.pass(e.recorded);
      else if (kernel++ % step === 0 || ratio === undefined) {
        const { nanoseconds, dirtyBytes } = timeAgain(model, e, key);
        ratios.set(entry, {
          nanoseconds: nanoseconds / e.nanoseconds,
          dirtyBytes: e.dirtyBytes === 0 ? 0 : dirtyBytes / e.dirtyBytes,
        });
        clock.kernel(nanoseconds, dirtyBytes);
      } else {
        model.pass(e.recorded);
        clock.kernel(e.nanoseconds * ratio.nanoseconds, e.dirtyBytes * ratio.dirtyBytes);
      }
    } else if (e.kind === 'copy') clock.copy(e.copy, e.bytes, model.copied(e.regions));
    else {
      const { end } = clock.mark();
      if (n === from) start = end;
      if (n === to) return Number(end - start) / 1e5;
    }
  }
  throw new Error('the iteration has no end');
}

/** What one command left. */
export interface Recording {
  readonly command: string;
  readonly result: Collected;
}

/** Adds a recording to a file of V8's serialisation, one length and value after the other. */
export function addRecording(path: string, recording: Recording): void {
  const bytes = serialize(recording);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(bytes.length));
  const file = openSync(path, 'a');
  writeSync(file, length);
  writeSync(file, bytes);
  closeSync(file);
}

/** Reads what `addRecording` wrote, by command. */
export function loadRecordings(path: string): Map<string, Collected> {
  const out = new Map<string, Collected>();
  const file = openSync(path, 'r');
  const length = Buffer.alloc(8);
  while (readSync(file, length, 0, 8, null) === 8) {
    const bytes = Buffer.alloc(Number(length.readBigUInt64LE()));
    readSync(file, bytes, 0, bytes.length, null);
    const { command, result } = deserialize(bytes) as Recording;
    out.set(command, result);
  }
  closeSync(file);
  return out;
}
