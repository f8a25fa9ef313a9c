// `wavesmith run X.wscap`: a captured dispatch as the target of everything that `run` does: trace, debugger, counters, profile, strict mode.
import { WavesmithError } from '../base/index.ts';
import { readCodeObject } from '../codeobject/index.ts';
import { type ArgumentValue, createDevice, type Monitor, type SimDispatchResult } from '../device/index.ts';
import { nodeSimOptions } from '../device/node/index.ts';
import { isTargetName } from '../isa/index.ts';
import { type Capture, judgePlaced, openCapture, placeCapture } from '../snapshot/index.ts';
import { verdictLine } from '../verdict/index.ts';
import { resultsLine } from './profile-output.ts';
import { type CheckOptions, checkExitCode, checkRecord, checkReport, strictOptionsOf } from './run-check.ts';
import { imageReader, parseCount, toolsReport, untilEnded } from './run-common.ts';
import type { RunExtension } from './run-extension.ts';
import { profiledRun } from './run-profile.ts';
import { Progress } from './run-progress.ts';
import {
  checkSchedules,
  runSchedules,
  type ScheduleOptions,
  scheduleExitCode,
  schedulesOf,
  scheduleText,
} from './run-schedules.ts';
import { RunSession, type ToolOptions } from './run-tools.ts';
import { parseMatrixMode, printJson } from './support.ts';
import { writeThreadTrace } from './thread-trace.ts';
import { dispatchTiming, keepsWaves, type TimingOptions, timingOf, timingRecord } from './timing.ts';

export interface RunCaptureOptions extends ToolOptions, ScheduleOptions, CheckOptions, TimingOptions {
  device: string;
  budget?: string;
  workers?: string;
  mfma: string;
  report?: string;
  json?: boolean;
}

/** Runs the captured dispatch once with the tools that were asked for, and compares its result with the captured one. */
export async function runCapture(path: string, options: RunCaptureOptions, extension?: RunExtension): Promise<number> {
  const write = extension?.write ?? ((text: string) => process.stdout.write(text));
  const capture = openCapture(path);
  const { manifest } = capture;
  const codeObject = readCodeObject(capture.codeObject(), [path]);
  const { processor } = codeObject.target;
  if (!isTargetName(processor)) {
    throw new WavesmithError('device/unsupported-target', `No device runs code for ${processor}.`, { file: path });
  }
  if (options.device !== 'sim') {
    throw new WavesmithError('cli/usage', `A capture runs here on the virtual GPU, not on '${options.device}'.`, {
      file: path,
      hint: `On a GPU: wavesmith replay full-vm ${path} --device ${options.device}.`,
    });
  }
  const strict = strictOptionsOf(options);
  schedulesOf(options);
  const mfma = parseMatrixMode(options.mfma);
  const clock = timingOf(options, processor, { keepsWaves: keepsWaves(options), knowsPages: true });
  const device = await createDevice('sim', {
    target: processor,
    ...nodeSimOptions(),
    run: { mfma, strict, workers: parseCount(options.workers, '--workers'), timing: clock },
  });
  const json = options.json === true;
  const progress = new Progress(process.stderr);
  const ending = new AbortController();
  const running = extension?.replace?.(codeObject, manifest.dispatch.kernel) ?? codeObject;
  const code = running === codeObject ? undefined : running.bytes;
  // The strict mode tells bytes that nobody wrote from others, so what nobody knows stays unwritten.
  const placed = placeCapture(device, capture, { poison: strict === undefined, code });
  const session = RunSession.create(options, json, placed.kernel, running, progress, extension?.leader);
  session?.tools.setArguments(argumentsOf(capture));
  const dispatch = (monitors: readonly Monitor[] | undefined): Promise<SimDispatchResult> =>
    device.dispatch({
      ...placed.request,
      maxInstructions: parseCount(options.budget, '--budget'),
      signal: ending.signal,
      onProgress: (done, total) => progress.update(done, total),
      monitors,
    });
  const { result, partial, seconds } = await untilEnded(ending, session, progress, async () => {
    placed.restore();
    if (options.report === undefined) return await dispatch(session?.tools.monitors);
    const { grid, block, dynamicLds } = placed.request;
    const plan = { grid, block, dynamicLds, allocations: [], arguments: [] };
    const done = await profiledRun(
      options.report,
      placed.kernel,
      plan,
      async (monitors) => {
        const begun = performance.now();
        const counted = await dispatch(monitors);
        return { dispatch: counted, contents: [], seconds: (performance.now() - begun) / 1000 };
      },
      clock?.chip,
    );
    return done.dispatch as SimDispatchResult;
  });
  const tools = session?.report() ?? {};
  const { gridWorkItems, block, kernel } = manifest.dispatch;
  const facts = { file: path, kernel, target: processor, device: device.kind, mfma, gridWorkItems, block, seconds };
  if (result === undefined) {
    device.close();
    const { done, total } = progress;
    if (json) printJson({ ...facts, interrupted: { done, total }, ...partial, ...tools });
    else
      write(`${kernel} on ${processor}: interrupted with ${done} of ${total} workgroups done\n${toolsReport(tools)}`);
    return 130;
  }
  const { timing } = result;
  if (options.att !== undefined && timing !== undefined) writeThreadTrace(options.att, timing, placed.kernel);
  const verdict = judgePlaced(device, placed);
  if (extension?.ended !== undefined) {
    const memory = placed.chunks.filter(({ allocation }) => allocation.kind !== 'code');
    const contents = memory.map(({ buffer, offset, length }) => device.read(buffer, offset, length));
    extension.ended(imageReader(device, placed.kernel, running), contents);
  }
  device.close();
  const scheduled = { target: processor, mfma: options.mfma, launch: { capture, code } };
  const schedules = await runSchedules(options, scheduled);
  const checked = await checkSchedules(options, scheduled, strict, result);
  const record = { ...facts, ...checkRecord(checked), ...timingRecord(result.timing), ...tools, ...verdict, schedules };
  const text = (): string => {
    const rate = Math.round(result.instructions / Math.max(seconds, 1e-6) / 1000);
    return [
      `${kernel} on ${processor}: ${gridWorkItems.join('×')} work-items in workgroups of ${block.join('×')}, ${result.wavefronts} wavefronts\n`,
      `${result.instructions} instructions in ${seconds.toFixed(3)} s (${rate} k/s)\n`,
      dispatchTiming(result, options.timingListing === true),
      toolsReport(tools),
      checkReport(checked, path, options.notes),
      scheduleText(schedules),
      options.report === undefined ? '' : `${resultsLine(options.report)}\n`,
      `${verdictLine(verdict, `${verdict.bytes} bytes beside the captured result`)}\n`,
    ].join('');
  };
  if (extension?.print !== undefined) extension.print(record, text);
  else if (json) printJson(record);
  else write(text());
  return checkExitCode(options, checked) || scheduleExitCode(schedules) || (verdict.verdict === 'different' ? 1 : 0);
}

/** The explicit arguments, for the debugger. */
function argumentsOf({ manifest }: Capture): ArgumentValue[] {
  const { slots } = manifest.dispatch.kernarg;
  return slots
    .filter((slot) => !slot.kind.startsWith('hidden_') && slot.kind !== 'dynamic_shared_pointer')
    .map(({ points, bytes }): ArgumentValue => {
      const target = points === undefined ? undefined : manifest.memory.allocations[points.allocation];
      if (points === undefined || target === undefined) return bytes;
      return { address: target.address + points.offset, size: target.size - points.offset, label: target.label };
    });
}
