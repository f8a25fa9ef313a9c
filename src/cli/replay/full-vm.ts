// Room `cli/replay`: the subcommands of `wavesmith replay`, one file each. Begin with this file.
//
// `wavesmith replay full-vm`: a captured dispatch again, at its own addresses, with a verdict.
import { WavesmithError } from '../../base/index.ts';
import { createDevice } from '../../device/index.ts';
import { nodeSimOptions } from '../../device/node/index.ts';
import { isTargetName } from '../../isa/index.ts';
import { openCapture, placeText, type ReplayResult, replayCapture } from '../../snapshot/index.ts';
import { comparisonLines, exitCodeOf, verdictLine } from '../../verdict/index.ts';
import { codeObjectBytes } from '../code-or-text.ts';
import { rocmOptionsFor } from '../rocm-options.ts';
import { parseCount } from '../run-common.ts';
import {
  addScheduleOptions,
  runSchedules,
  type ScheduleOptions,
  scheduleExitCode,
  schedulesOf,
  scheduleText,
} from '../run-schedules.ts';
import { newCommand, parseArguments, parseMatrixMode, printJson } from '../support.ts';
import { addTimingOptions, dispatchTiming, type TimingOptions, timedRecord, timingOf } from '../timing.ts';

interface Options extends TimingOptions, ScheduleOptions {
  iterations: string;
  recopy: boolean;
  device: string;
  against: string;
  code?: string;
  exact?: boolean;
  follow: boolean;
  budget?: string;
  workers?: string;
  mfma: string;
  json?: boolean;
}

/** Runs the command. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand('replay full-vm', 'Replay a capture at its addresses and compare the result.')
    .argument('<capture>', 'a .wscap')
    .option('--iterations <n>', 'dispatches, without building the address space again', '1')
    .option('--no-recopy', 'keep what an iteration left in memory for the next one')
    .option('--device <kind>', 'sim, or rocm[:N]: a GPU of this machine', 'sim')
    .option('--against <what>', 'post: the captured result; or another capture, whose result is expected', 'post')
    .option('--code <file>', 'run this code object, or assembler text, instead: same kernel name, same arguments')
    .option('--exact', 'only equal bits are equal, also where a tolerance is annotated')
    .option('--no-follow', 'do not follow the first run byte by byte')
    .option(
      '--budget <n>',
      'stop a dispatch after this many instructions (default: 20 times those captured, at least 10 million)',
    )
    .option('--workers <n>', 'threads of the virtual GPU (default: as many as this machine has)')
    .option('--mfma <mode>', 'matrix products: exact (as the silicon, where published) or fast (sums in f32)', 'exact')
    .option('--json', 'print JSON');
  addScheduleOptions(command);
  addTimingOptions(command).addHelpText(
    'after',
    `
The replay is strict: an address that the device cannot give ends it. The first run is followed byte by byte (on the virtual GPU): reads of
what the capture does not hold, writes that the captured dispatch does not make, and outputs that are left as they were fail it.
Times are those of further runs, on the host. --timing adds the modelled time of the first one (docs/timing.md).
Exit code 0: equal, or within an annotated tolerance. 1: not.`,
  );
  if (!parseArguments(command, argv)) return 0;
  const options = command.opts<Options>();
  schedulesOf(options);
  const iterations = parseCount(options.iterations, '--iterations') ?? 1;
  if (iterations < 1 || iterations > 10_000_000)
    throw new WavesmithError('cli/usage', '--iterations is from 1 to 10000000.');
  const capture = openCapture(command.args[0] ?? '');
  const processor = capture.manifest.code.target.split(':')[0] ?? '';
  if (!isTargetName(processor)) {
    throw new WavesmithError('device/unsupported-target', `No device runs code for ${processor}.`, {
      file: capture.path,
    });
  }
  const code =
    options.code === undefined
      ? undefined
      : codeObjectBytes('replay/assembly', options.code, undefined, capture.manifest.dispatch.kernel);
  const device = await createDevice(options.device, {
    target: processor,
    ...nodeSimOptions(),
    rocm: rocmOptionsFor(capture),
    run: {
      mfma: parseMatrixMode(options.mfma),
      workers: parseCount(options.workers, '--workers'),
      timing: timingOf(options, processor, { knowsPages: true }),
    },
  });
  const isSlow = process.stderr.isTTY === true;
  const started = performance.now();
  const ending = new AbortController();
  const interrupt = (): void => ending.abort();
  process.on('SIGINT', interrupt);
  try {
    const result = await replayCapture(device, capture, {
      iterations,
      recopy: options.recopy,
      code,
      against: options.against === 'post' ? undefined : openCapture(options.against),
      exact: options.exact,
      follow: options.follow,
      maxInstructions: parseCount(options.budget, '--budget'),
      signal: ending.signal,
      onProgress: (n, of) => {
        if (isSlow && performance.now() - started > 1000)
          process.stderr.write(`\r${n === of ? ' '.repeat(40) : `iteration ${n} of ${of}`}\r`);
      },
    });
    const place = (address: number): string => placeText(capture, address);
    const schedules = await runSchedules(options, {
      target: processor,
      mfma: options.mfma,
      launch: { capture, code },
    });
    if (options.json === true) printJson({ capture: capture.path, ...timedRecord(result), schedules });
    else process.stdout.write(replayText(result, place, options.timingListing) + scheduleText(schedules));
    return exitCodeOf(result) || scheduleExitCode(schedules);
  } finally {
    process.off('SIGINT', interrupt);
    device.close();
  }
}

const ms = (time: number): string => `${time < 10 ? time.toFixed(3) : time.toFixed(1)} ms`;

/** A replay as text. */
export function replayText(result: ReplayResult, place: (address: number) => string, listing = false): string {
  const { dispatch, times, iterations, buffers } = result;
  const lines = [
    `${result.kernel} on ${result.device}: ${iterations} iteration${iterations === 1 ? '' : 's'}${result.recopy ? '' : ', memory kept between them'}`,
  ];
  if (dispatch !== undefined) {
    const { instructions, wavefronts, workgroups } = dispatch;
    lines.push(
      `  ${workgroups} workgroups, ${wavefronts} wavefronts${instructions === undefined ? '' : `, ${instructions} instructions`}`,
    );
    const timing = dispatchTiming(dispatch, listing).trimEnd();
    if (timing !== '') lines.push(timing);
  }
  if (times !== undefined) {
    lines.push(
      `  dispatch ${times.clock === 'host' ? 'on the host' : 'by the clock of the GPU'}: average ${ms(times.average)}, median ${ms(times.median)}, least ${ms(times.least)}; all ${ms(times.wall)}, ${ms(times.overhead)} an iteration beside the dispatch`,
    );
  }
  for (const { label, comparison, first } of buffers) {
    if (comparison.different === 0 && comparison.trailing.different === 0) continue;
    lines.push(...comparisonLines(`  ${label}`, comparison));
    if (first !== null) lines.push(`    first at ${place(first)}`);
  }
  if (result.verdict === 'different') lines.push(...result.reasons.map((reason) => `  ${reason}`));
  if (result.stopped?.kind === 'budget') lines.push(`  hint: ${result.stopped.hint}`);
  lines.push(
    verdictLine(
      result,
      `${result.bytes} bytes of ${buffers.length} allocation${buffers.length === 1 ? '' : 's'} beside the capture`,
    ),
  );
  return `${lines.join('\n')}\n`;
}
