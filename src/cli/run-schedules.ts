// `--schedules N`: the launch again in N seeded schedules, each from the same memory; what differs is not determined by the kernel.
import type { Command } from 'commander';
import { WavesmithError } from '../base/index.ts';
import {
  createDevice,
  type ExecutedAt,
  exploreSchedules,
  type LaunchPlan,
  placePlan,
  type ScheduledRun,
  type ScheduleReport,
  type SimDevice,
  type SimDispatchRequest,
} from '../device/index.ts';
import { nodeSimOptions } from '../device/node/index.ts';
import type { TargetName } from '../isa/index.ts';
import { type Capture, placeCapture } from '../snapshot/index.ts';
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
  const isShown = process.stderr.isTTY === true;
  const open = async (): Promise<Placed> => {
    const run = { mfma: parseMatrixMode(mfma), workers: 1 };
    const device = await createDevice('sim', { target, ...nodeSimOptions(), run });
    return 'plan' in launch ? planned(device, launch) : captured(device, launch);
  };
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
      onProgress: (done, total) => {
        if (isShown) process.stderr.write(done === total ? `\r${' '.repeat(40)}\r` : `\rschedule ${done} of ${total}`);
      },
    });
  } finally {
    placed.device.close();
  }
}

/** A launch whose memory is on a device. */
interface Placed {
  readonly device: SimDevice;
  readonly run: (fields: Partial<SimDispatchRequest>) => ReturnType<ScheduledRun>;
}

function planned(device: SimDevice, launch: { code: Uint8Array; kernel: string; plan: LaunchPlan }): Placed {
  const { plan } = launch;
  const kernel = device.load(launch.code).kernel(launch.kernel);
  const placed = placePlan(device, plan);
  return {
    device,
    run: async (fields) => {
      placed.restore();
      const { instructions } = await device.dispatch({ ...placed.request, ...fields, kernel });
      const memory = placed.buffers.map((buffer) => {
        return { label: buffer.label, address: buffer.address, bytes: device.read(buffer) };
      });
      return { instructions, memory };
    },
  };
}

function captured(device: SimDevice, { capture, code }: { capture: Capture; code?: Uint8Array | undefined }): Placed {
  const placed = placeCapture(device, capture, { code });
  return {
    device,
    run: async (fields) => {
      placed.restore();
      const { instructions } = await device.dispatch({ ...placed.request, ...fields } as SimDispatchRequest);
      const memory = placed.chunks
        .filter(({ allocation }) => allocation.kind !== 'code')
        .map(({ address, buffer, offset, length, allocation }) => {
          const label = `${allocation.label}+0x${(address - allocation.address).toString(16)}`;
          return { label, address, bytes: device.read(buffer, offset, length) };
        });
      return { instructions, memory };
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
