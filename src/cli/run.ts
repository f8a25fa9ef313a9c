// `wavesmith run`: runs one kernel of a code object on a device with described arguments.
import { WavesmithError } from '../base/index.ts';
import {
  ARGUMENT_TYPES,
  type ArgumentValue,
  type BufferAfter,
  createDevice,
  type DispatchFields,
  type DispatchResult,
  type Execution,
  execute,
  firstElements,
  type Monitor,
  noTools,
  parseDimensions,
  parseLaunchArgument,
  planLaunch,
  SimDevice,
  type SimDispatchResult,
  writeNpy,
} from '../device/index.ts';
import { nodeSimOptions } from '../device/node/index.ts';
import { isTargetName } from '../isa/index.ts';
import { TARGET_LIST } from '../isa/table/targets.ts';
import { isCapturePath } from '../snapshot/index.ts';
import { exitCodeOf } from '../verdict/index.ts';
import {
  addCaptureOptions,
  type CaptureOptions,
  finishRecording,
  recorderOf,
  recordingText,
} from './capture-options.ts';
import { resultsLine } from './profile-output.ts';
import { rocmOptions } from './rocm-options.ts';
import { runCapture } from './run-capture.ts';
import {
  addCheckOptions,
  type CheckedResult,
  type CheckOptions,
  checkExitCode,
  checkRecord,
  checkReport,
  strictOptionsOf,
} from './run-check.ts';
import { imageReader, loadable, onlyKernel, parseCount, toolsReport, untilEnded } from './run-common.ts';
import {
  addExpectOptions,
  type ExpectOptions,
  expectReport,
  judgeExpectations,
  readExpectations,
} from './run-expect.ts';
import type { RunExtension } from './run-extension.ts';
import { profiledRun } from './run-profile.ts';
import { Progress } from './run-progress.ts';
import {
  addScheduleOptions,
  checkSchedules,
  runSchedules,
  type ScheduleOptions,
  scheduleExitCode,
  schedulesOf,
  scheduleText,
} from './run-schedules.ts';
import { addToolOptions, RunSession, type ToolOptions, withTraceFile } from './run-tools.ts';
import { selectCodeObject } from './select-code-object.ts';
import { newCommand, parseArguments, parseMatrixMode, printJson, readInput, writeOutput } from './support.ts';
import { writeThreadTrace } from './thread-trace.ts';
import { addTimingOptions, keepsWaves, type TimingOptions, timingLines, timingOf, timingRecord } from './timing.ts';

/** What the virtual GPU may add to a result. */
type SimFields = DispatchResult & Pick<SimDispatchResult, 'timing'>;

interface Options extends ToolOptions, ScheduleOptions, CheckOptions, ExpectOptions, CaptureOptions, TimingOptions {
  kernel?: string;
  grid?: string;
  block?: string;
  arg: string[];
  out: string[];
  target?: string;
  object?: string;
  device: string;
  lds?: string;
  budget?: string;
  workers?: string;
  mfma: string;
  report?: string;
  json?: boolean;
}

const collect = (value: string, all: string[]): string[] => [...all, value];

/** The counters of a report are compiled into the kernel, alone. */
function refuseReport(options: Options, strict: boolean): void {
  if (options.report === undefined) return;
  const tools = options.counters === true || options.profile === true || options.trace !== undefined;
  if (!strict && !tools && options.break.length === 0) return;
  throw new WavesmithError(
    'cli/usage',
    '--report cannot be combined with --check, --counters, --profile, --trace or --break.',
  );
}

/** What is recorded is followed byte by byte, alone. */
function refuseWithCapture(options: Options, isObserved: boolean): void {
  if (!isObserved && options.report === undefined) return;
  throw new WavesmithError(
    'cli/usage',
    '--capture cannot be combined with --check, --counters, --profile, --trace, --break or --report.',
    { hint: 'Record first; then run the capture with them: wavesmith run X.wscap --check.' },
  );
}

/** What a kernel needs to be launched. */
function required({ grid, block }: Options): { grid: string; block: string } {
  for (const [name, value] of Object.entries({ grid, block })) {
    if (value !== undefined) continue;
    throw new WavesmithError('cli/usage', `Required option '--${name}' is not given.`, {
      hint: "'wavesmith run --help' shows the usage.",
    });
  }
  return { grid, block } as { grid: string; block: string };
}

/** A capture says itself what a launch is made of. */
function forCapture(options: Options): Options {
  const { kernel, grid, block, arg, out, expect, lds, capture, target, object } = options;
  const given = Object.entries({ kernel, grid, block, lds, capture, target, object })
    .filter(([, value]) => value !== undefined)
    .map(([name]) => name);
  if (arg.length > 0) given.push('arg');
  if (out.length > 0) given.push('out');
  if (expect.length > 0) given.push('expect');
  if (given.length === 0) return options;
  throw new WavesmithError('cli/usage', `--${given[0]} means nothing for a capture: it holds the whole launch.`, {
    hint: "'wavesmith replay full-vm' compares, with --code also edited code.",
  });
}

/** Runs the command. */
export function run(argv: string[]): Promise<number> {
  return runKernel(argv);
}

/** Runs a kernel as the command line says, with another command's part in it. */
export async function runKernel(argv: string[], extension?: RunExtension): Promise<number> {
  const command = newCommand('run', 'Run one kernel of a code object on the virtual GPU.')
    .argument(
      '<file...>',
      'code object (linked, or object files, which are linked together), offload bundle, binary with a fat binary, IREE module, or capture (.wscap)',
    )
    .option('--kernel <name>', 'the kernel; not needed when there is one only')
    .option('--grid <x,y,z>', 'grid in WORKGROUPS (not work-items) per dimension')
    .option('--block <x,y,z>', 'work-items of a workgroup per dimension')
    .option('--arg <argument>', 'next explicit argument, see below; repeat in order', collect, [])
    .option('--out <n=file>', 'write buffer argument N (from 0) to a .npy file afterwards; repeatable', collect, [])
    .option('--target <name>', `which code object of a file with several (${TARGET_LIST})`)
    .option('--object <n|target>', 'which code object of a file with several, by number from 0 or target')
    .option('--device <kind>', 'sim, or rocm[:N]: a GPU of this machine', 'sim')
    .option('--lds <bytes>', 'dynamic LDS in bytes')
    .option('--budget <n>', 'stop after this many instructions')
    .option('--workers <n>', 'threads of the virtual GPU (default: as many as this machine has)')
    .option('--mfma <mode>', 'matrix products: exact (as the silicon, where published) or fast (sums in f32)', 'exact')
    .option(
      '--report <dir>',
      'count everything and write a profile: profile.json … and report.html, as wavesmith profile',
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Arguments:
  f32[1024]=random:7     buffer of 1024 f32, seeded random in [-1, 1)
  f16[128,64]=@in.npy    buffer from a .npy file (type and count must agree)
  @in.npy                buffer with the file's own type and shape
  i32[16]=iota           0, 1, 2, …; also =zeros (the default) and =NUMBER
  i32=5                  scalar
Types: ${ARGUMENT_TYPES.join(' ')}`,
    );
  addToolOptions(command);
  addCheckOptions(command);
  addExpectOptions(command);
  addCaptureOptions(command);
  addTimingOptions(command);
  addScheduleOptions(command);
  if (!parseArguments(command, withTraceFile(argv))) return 0;
  const options = command.opts<Options>();
  const [file = '', ...further] = command.args;
  const write = extension?.write ?? ((text: string) => process.stdout.write(text));
  if (extension?.replace !== undefined && options.capture !== undefined) {
    throw new WavesmithError('cli/usage', 'A dispatch is not recorded while it is probed.', {
      hint: 'Record it first: the capture can be probed.',
    });
  }
  if (isCapturePath(file) && further.length === 0) {
    return await runCapture(file, forCapture(options), extension);
  }
  const { grid: gridText, block: blockText } = required(options);
  const args = options.arg.map(parseLaunchArgument);
  const outputs = options.out.map((text) => parseOutput(text, args.length));
  const expectations = readExpectations(options, args.length);
  const selected = selectCodeObject(readInput(file), file, {
    object: options.object ?? options.target,
    kernel: options.kernel,
  });
  const asked = loadable(selected, file, further);
  const kernelName = options.kernel ?? onlyKernel(asked, file);
  const codeObject = extension?.replace?.(asked, kernelName) ?? asked;
  const { processor } = codeObject.target;
  if (!isTargetName(processor)) {
    throw new WavesmithError('device/unsupported-target', `No device runs code for ${processor}.`, { file });
  }
  const mfma = parseMatrixMode(options.mfma);
  const strict = strictOptionsOf(options);
  const clock = timingOf(options, processor, { keepsWaves: keepsWaves(options) });
  const device = await createDevice(options.device, {
    rocm: rocmOptions(),
    target: processor,
    ...nodeSimOptions(),
    run: { mfma, strict, workers: parseCount(options.workers, '--workers'), timing: clock },
  });
  const kernel = device.load(codeObject.bytes).kernel(kernelName);
  const grid = parseDimensions(gridText, 'grid');
  const block = parseDimensions(blockText, 'block');
  const dynamicLds = parseCount(options.lds, '--lds');
  const maxInstructions = parseCount(options.budget, '--budget');
  const json = options.json === true;
  schedulesOf(options);
  refuseReport(options, strict !== undefined);
  const { plan, buffersAfter } = planLaunch({ grid, block, dynamicLds }, args, readInput);
  const ending = new AbortController();
  const progress = new Progress(process.stderr);
  const session = RunSession.create(options, json, kernel, codeObject, progress, extension?.leader);
  const recorder = recorderOf(options, kernel, codeObject);
  if (recorder !== undefined) refuseWithCapture(options, strict !== undefined || session !== undefined);
  let partial: readonly BufferAfter[] = [];
  const ended = await untilEnded<Execution>(ending, session, progress, async () => {
    const fields: DispatchFields = {
      maxInstructions,
      signal: ending.signal,
      onProgress: (done, total) => progress.update(done, total),
    };
    const onFailure = (contents: readonly Uint8Array[]): void => {
      partial = buffersAfter(contents);
    };
    const observed = (monitors: readonly Monitor[]) => {
      if (!(device instanceof SimDevice)) throw noTools();
      const onPlaced = (values: readonly ArgumentValue[]): void => session?.tools.setArguments(values);
      return execute(device, kernel, plan, { fields: { ...fields, monitors }, onPlaced, onFailure });
    };
    if (options.report !== undefined) return await profiledRun(options.report, kernel, plan, observed, clock?.chip);
    if (recorder !== undefined) return await observed([recorder.monitor]);
    if (session !== undefined) return await observed(session.tools.monitors);
    return await execute(device, kernel, plan, { fields, onFailure });
  });
  const { result, partial: done, seconds } = ended;
  if (result !== undefined) extension?.ended?.(imageReader(device, kernel, codeObject), result.contents);
  device.close();
  const tools = session?.report() ?? {};
  const facts = { file, kernel: kernel.name, target: processor, device: device.kind, mfma, grid, block, seconds };
  if (result === undefined) {
    const interrupted = { done: progress.done, total: progress.total };
    if (json) {
      printJson({ ...facts, interrupted, ...done, buffers: partial.map(summary), ...tools });
    } else {
      write(partialReport(facts, progress, done, partial) + toolsReport(tools));
    }
    return 130;
  }
  const launch = { code: codeObject.bytes, kernel: kernelName, plan };
  const scheduled = { target: processor, mfma: options.mfma, launch };
  const schedules = await runSchedules(options, scheduled);
  const checked = await checkSchedules(options, scheduled, strict, result.dispatch);
  const recording =
    recorder === undefined ? undefined : await finishRecording(recorder, options, result.dispatch.instructions);
  const buffers = buffersAfter(result.contents);
  for (const { argument, path } of outputs) {
    const buffer = buffers.find((b) => b.argument === argument);
    if (buffer === undefined) {
      throw new WavesmithError('cli/usage', `--out ${argument}=${path}: argument ${argument} is a scalar.`);
    }
    writeOutput(path, writeNpy(buffer.array));
  }
  const dispatch = withPlaces(checked, extension);
  const { findings = [] }: CheckedResult = dispatch;
  const { timing }: SimFields = dispatch;
  const timed = timingRecord(timing);
  if (options.att !== undefined && timing !== undefined) writeThreadTrace(options.att, timing, kernel);
  const judged = judgeExpectations(expectations, buffers, findings, options);
  const record = {
    ...facts,
    ...checkRecord(dispatch),
    buffers: buffers.map(summary),
    ...tools,
    ...timed,
    ...judged,
    schedules,
    capture: recording,
  };
  const text = (): string =>
    report(facts, dispatch, buffers) +
    toolsReport(tools) +
    (options.report === undefined ? '' : `${resultsLine(options.report)}\n`) +
    timingLines(timed, options.timingListing === true) +
    checkReport(dispatch, file, options.notes) +
    scheduleText(schedules) +
    expectReport(judged) +
    (recording === undefined ? '' : recordingText(recording));
  if (extension?.print !== undefined) extension.print(record, text);
  else if (json) printJson(record);
  else write(text());
  return (
    checkExitCode(options, dispatch) || scheduleExitCode(schedules) || (judged === undefined ? 0 : exitCodeOf(judged))
  );
}

/** A result whose findings are where another command wants them to be. */
function withPlaces<R extends CheckedResult>(result: R, extension: RunExtension | undefined): R {
  const { findings } = result;
  if (findings === undefined || extension?.place === undefined) return result;
  const place = extension.place.bind(extension);
  return {
    ...result,
    findings: findings.map((one) => ({
      ...one,
      place: place(one.place),
      related: one.related.map((other) => ({ ...other, place: place(other.place) })),
    })),
  };
}

function parseOutput(text: string, count: number): { argument: number; path: string } {
  const match = /^(\d{1,4})=(.+)$/.exec(text);
  const argument = Number(match?.[1]);
  if (match === null || argument >= count) {
    throw new WavesmithError('cli/usage', `--out ${text} is not N=FILE with N from 0 to ${count - 1}.`);
  }
  return { argument, path: match[2] as string };
}

function summary(buffer: BufferAfter) {
  const { argument, array, changed } = buffer;
  return { argument, type: array.type, shape: array.shape, changed, first: firstElements(array, 8) };
}

interface Facts {
  readonly kernel: string;
  readonly target: string;
  readonly grid: readonly number[];
  readonly block: readonly number[];
  readonly seconds: number;
}

function bufferLines(buffers: readonly BufferAfter[]): string[] {
  return buffers.map(({ argument, array, changed }) => {
    const first = firstElements(array, 6).map(String).join(', ');
    return `  argument ${argument}: ${array.type}[${array.shape.join(',')}], ${changed} elements changed: ${first}, …`;
  });
}

/** What a run that was ended early did. */
function partialReport(
  facts: Facts,
  progress: Progress,
  dispatch: DispatchResult | undefined,
  buffers: readonly BufferAfter[],
): string {
  const { done, total } = progress;
  const instructions = dispatch === undefined ? '' : `, ${dispatch.instructions} instructions`;
  return `${[
    `${facts.kernel} on ${facts.target}: interrupted after ${facts.seconds.toFixed(3)} s with ${done} of ${total} workgroups done${instructions}`,
    ...bufferLines(buffers),
  ].join('\n')}\n`;
}

function report(facts: Facts, dispatch: DispatchResult, buffers: readonly BufferAfter[]): string {
  const { instructions } = dispatch;
  const rate = (instructions ?? 0) / Math.max(facts.seconds, 1e-6);
  const lines = [
    `${facts.kernel} on ${facts.target}: ${facts.grid.join('×')} workgroups of ${facts.block.join('×')}, ${dispatch.wavefronts} wavefronts`,
    instructions === undefined
      ? `in ${facts.seconds.toFixed(3)} s`
      : `${instructions} instructions in ${facts.seconds.toFixed(3)} s (${Math.round(rate / 1000)} k/s)`,
  ];
  lines.push(...bufferLines(buffers));
  return `${lines.join('\n')}\n`;
}
