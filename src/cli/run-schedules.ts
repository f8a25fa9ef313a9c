// `--schedules N`: the launch again in N seeded schedules, each from the same memory; what differs is not determined by the kernel.
import type { Command } from 'commander';
import { WavesmithError } from '../base/index.ts';
import {
  createDevice,
  type ExecutedAt,
  exploreSchedules,
  type LaunchPlan,
  placePlan,
  type RunFinding,
  type ScheduledRun,
  type ScheduleReport,
  type SimDevice,
  type SimDispatchRequest,
  type StrictOptions,
} from '../device/index.ts';
import { nodeSimOptions } from '../device/node/index.ts';
import type { TargetName } from '../isa/index.ts';
import { type Capture, placeCapture } from '../snapshot/index.ts';
import type { CheckedResult } from './run-check.ts';
import { parseCount } from './run-common.ts';
import { parseMatrixMode } from './support.ts';

export interface ScheduleOptions {
  readonly schedules?: string;
  readonly seed?: string;
}

/** Schedules of one command line. */
const MOST_SCHEDULES = 100_000;

/** Adds the flags. */
export function addScheduleOptions(command: Command): void {
  command
    .option(
      '--schedules <n>',
      'run it again in N seeded orders of workgroups and wavefronts, with late loads; exit code 1 when memory differs',
    )
    .option('--seed <n>', 'the seed of the first of them (default: 1)');
}

/** How many schedules are wanted; undefined for none. */
export function schedulesOf({ schedules, seed }: ScheduleOptions): { count: number; seed: number } | undefined {
  const count = parseCount(schedules, '--schedules');
  const first = parseCount(seed, '--seed');
  if (count === undefined && first !== undefined) {
    throw new WavesmithError('cli/usage', '--seed is of --schedules.', { hint: 'Add --schedules N.' });
  }
  if (count === undefined) return undefined;
  if (count < 1 || count > MOST_SCHEDULES) {
    throw new WavesmithError('cli/usage', `--schedules is from 1 to ${MOST_SCHEDULES}.`);
  }
  return { count, seed: first ?? 1 };
}

/** What is run, on a device of its own: in one thread and without the tools of the first run. */
export interface ScheduledLaunch {
  readonly target: TargetName;
  readonly mfma: string;
  readonly launch:
    | { readonly code: Uint8Array; readonly kernel: string; readonly plan: LaunchPlan }
    | { readonly capture: Capture; readonly code?: Uint8Array | undefined };
}

/** Runs the schedules that a command line asks for; undefined when it asks for none. */
export async function runSchedules(
  options: ScheduleOptions,
  { target, mfma, launch }: ScheduledLaunch,
): Promise<ScheduleReport | undefined> {
  const wanted = schedulesOf(options);
  if (wanted === undefined) return undefined;
  const open = (): Promise<Placed> => openLaunch({ target, mfma, launch });
  const placed = await open();
  const run: ScheduledRun = async ({ isCompared, ...fields }) => {
    if (!isCompared) return await placed.run(fields);
    // What a device chooses itself is the same on every new one.
    const fresh = await open();
    try {
      return await fresh.run(fields);
    } finally {
      fresh.device.close();
    }
  };
  try {
    return await exploreSchedules(run, {
      ...wanted,
      onProgress: (done, total) => showProgress('schedule', done, total),
    });
  } finally {
    placed.device.close();
  }
}

function showProgress(what: string, done: number, total: number): void {
  if (process.stderr.isTTY !== true) return;
  process.stderr.write(done === total ? `\r${' '.repeat(40)}\r` : `\r${what} ${done} of ${total}`);
}

/**
 * The findings of a strict run, with those of its schedules behind them that it has not itself: which accesses meet depends on the order. The same as long as
 * either is not asked for.
 */
export async function checkSchedules<R extends CheckedResult>(
  options: ScheduleOptions,
  launch: ScheduledLaunch,
  strict: StrictOptions | undefined,
  checked: R,
): Promise<R> {
  const wanted = schedulesOf(options);
  if (wanted === undefined || strict === undefined || checked.findings === undefined) return checked;
  const findings = [...checked.findings];
  const keyOf = ({ rule, place }: RunFinding): string => `${rule} ${place.pc}`;
  const known = new Set(findings.map(keyOf));
  const placed = await openLaunch(launch, true);
  try {
    for (let n = 0; n < wanted.count; n++) {
      const seed = wanted.seed + n;
      const ended = await placed.run({ order: { seed }, strict });
      for (const one of ended.findings ?? []) {
        if (known.has(keyOf(one))) continue;
        known.add(keyOf(one));
        findings.push({ ...one, message: `${one.message} Found with --schedules 1 --seed ${seed}.` });
      }
      showProgress('strict schedule', n + 1, wanted.count);
    }
  } finally {
    placed.device.close();
  }
  return { ...checked, findings };
}

async function openLaunch({ target, mfma, launch }: ScheduledLaunch, isStrict = false): Promise<Placed> {
  const run = { mfma: parseMatrixMode(mfma), workers: 1 };
  const device = await createDevice('sim', { target, ...nodeSimOptions(), run });
  return 'plan' in launch ? planned(device, launch) : captured(device, launch, isStrict);
}

/** A launch whose memory is on a device. */
interface Placed {
  readonly device: SimDevice;
  readonly run: (fields: Partial<SimDispatchRequest>) => Promise<PlacedRun>;
}

interface PlacedRun extends Awaited<ReturnType<ScheduledRun>> {
  /** Of a strict run. */
  readonly findings: readonly RunFinding[] | undefined;
}

function planned(device: SimDevice, launch: { code: Uint8Array; kernel: string; plan: LaunchPlan }): Placed {
  const { plan } = launch;
  const kernel = device.load(launch.code).kernel(launch.kernel);
  const placed = placePlan(device, plan);
  return {
    device,
    run: async (fields) => {
      placed.restore();
      const { instructions, findings } = await device.dispatch({ ...placed.request, ...fields, kernel });
      const memory = placed.buffers.map((buffer) => {
        return { label: buffer.label, address: buffer.address, bytes: device.read(buffer) };
      });
      return { instructions, memory, findings };
    },
  };
}

/** Strict mode tells bytes that nobody has written from others: there they stay so. */
function captured(
  device: SimDevice,
  { capture, code }: { capture: Capture; code?: Uint8Array | undefined },
  isStrict: boolean,
): Placed {
  const placed = placeCapture(device, capture, { code, poison: !isStrict });
  return {
    device,
    run: async (fields) => {
      placed.restore();
      const { instructions, findings } = await device.dispatch({ ...placed.request, ...fields } as SimDispatchRequest);
      const memory = placed.chunks
        .filter(({ allocation }) => allocation.kind !== 'code')
        .map(({ address, buffer, offset, length, allocation }) => {
          const label = `${allocation.label}+0x${(address - allocation.address).toString(16)}`;
          return { label, address, bytes: device.read(buffer, offset, length) };
        });
      return { instructions, memory, findings };
    },
  };
}

/** The report as text, empty without one. */
export function scheduleText(report: ScheduleReport | undefined): string {
  if (report === undefined) return '';
  const { schedules, seed, lateLoads, difference } = report;
  const seeds = `seed${schedules === 1 ? '' : 's'} ${seed}${schedules === 1 ? '' : ` to ${seed + schedules - 1}`}`;
  if (difference === undefined) {
    return `schedules: ${schedules} (${seeds}, ${lateLoads} with late loads) leave the same memory, bit for bit\n`;
  }
  const { at, failure, instruction, store, lateLoads: isLate } = difference;
  const what =
    at === undefined
      ? `failed: ${failure}`
      : `left other memory: ${at.bytes} byte${at.bytes === 1 ? '' : 's'} of '${at.label}', the first at offset ${at.offset}`;
  const lines = [`schedules: seed ${difference.seed}${isLate ? ' with late loads' : ''} ${what}`];
  if (instruction !== undefined) lines.push(`  first other result: ${placeText(instruction)}`);
  if (store !== undefined) lines.push(`  the byte was stored by: ${placeText(store)}`);
  lines.push(`  again: --schedules ${schedules} --seed ${seed}`);
  return `${lines.join('\n')}\n`;
}

function placeText({ pc, instruction, workgroup, wavefront }: ExecutedAt): string {
  return `0x${pc.toString(16)} ${instruction} (workgroup ${workgroup.join(',')}, wavefront ${wavefront})`;
}

/** 1 when the memory depends on the schedule. */
export function scheduleExitCode(report: ScheduleReport | undefined): number {
  return report?.difference === undefined ? 0 : 1;
}
