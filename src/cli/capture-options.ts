// Options of commands that record a dispatch, and what they print about the capture.
import type { Command } from 'commander';
import { WavesmithError } from '../base/index.ts';
import type { CodeObject } from '../codeobject/index.ts';
import { type DeviceKernel, noTools } from '../device/index.ts';
import { isSimKernel } from '../device/sim/module.ts';
import type { DispatchRecorder } from '../iree/side.ts';
import { Recorder, type RecordSummary } from '../snapshot/index.ts';
import { version } from './version.ts';

export interface CaptureOptions {
  capture?: string;
  captureMemory?: string;
  proof?: boolean;
  orders?: boolean;
  zip?: boolean;
  force?: boolean;
}

/** Adds the flags. */
export function addCaptureOptions(command: Command): void {
  command
    .option('--capture <file.wscap>', 'record the dispatch: code, arguments and memory before and after')
    .option('--capture-memory <mode>', 'touched: what the dispatch touches; full: all allocations', 'touched')
    .option('--no-proof', 'do not replay the capture to prove that nothing is missing')
    .option('--no-orders', 'do not replay it in other orders of workgroups and waves')
    .option('--zip', 'write the capture as one ZIP file (also when its name ends in .zip)')
    .option('--force', 'replace a capture of that name');
}

/** The recorder of a dispatch; undefined when none is to be recorded. */
export function recorderOf(options: CaptureOptions, kernel: DeviceKernel, code: CodeObject): Recorder | undefined {
  const { capture, captureMemory: memory = 'touched' } = options;
  if (capture === undefined) return undefined;
  if (memory !== 'touched' && memory !== 'full') {
    throw new WavesmithError('cli/usage', `--capture-memory is touched or full, not '${memory}'.`);
  }
  if (!isSimKernel(kernel)) throw noTools();
  return new Recorder({ kernel, codeObject: code.bytes, memory, producer: producer('sim') });
}

/** The value of `--kernel`; everything when it is not given. */
export function parseKernel(text: string | undefined): RegExp {
  try {
    return new RegExp(text ?? '');
  } catch (error) {
    throw new WavesmithError(
      'cli/usage',
      `--kernel '${text}' is not a regular expression: ${(error as Error).message}.`,
    );
  }
}

/** Who writes a capture. */
export const producer = (device: string) => ({ name: 'wavesmith', version: version(), device });

/** Writes the recorded dispatch; says on a terminal what takes long. */
export async function finishRecording(
  recorder: Recorder,
  options: CaptureOptions,
  instructions?: number,
): Promise<RecordSummary> {
  const path = options.capture as string;
  const steps = stepPrinter(process.stderr);
  const summary = await recorder.finish(path, {
    replace: options.force === true,
    zip: options.zip === true || path.endsWith('.zip'),
    prove: options.proof !== false,
    orders: options.orders !== false,
    instructions,
    onStep: steps.say,
  });
  steps.end();
  return summary;
}

const STEP_COLUMNS = 60;

/** Shows on a terminal what is being done, in one line that is gone afterwards. */
export function stepPrinter(stream: NodeJS.WriteStream): { say(text: string): void; end(): void } {
  const show = (text: string, end: string): void => {
    if (stream.isTTY === true) stream.write(`\r${text.padEnd(STEP_COLUMNS)}${end}`);
  };
  return { say: (text) => show(text, ''), end: () => show('', '\r') };
}

/** The nth name: `x.wscap`, `x.1.wscap`, … */
export function numbered(path: string, n: number): string {
  return n === 0 ? path : path.replace(/(\.wscap(?:\.zip)?)?$/, (ending) => `.${n}${ending}`);
}

/** Records dispatches one after the other: `x.wscap`, `x.1.wscap`, … What was written goes to standard error. */
export function dispatchRecorder(path: string): DispatchRecorder {
  let count = 0;
  return (kernel, codeObject) => {
    if (!isSimKernel(kernel)) throw noTools();
    const sequence = count++;
    const name = numbered(path, sequence);
    const recorder = new Recorder({ kernel, codeObject, sequence, producer: producer('sim') });
    const finish = async (): Promise<void> => {
      process.stderr.write(recordingText(await finishRecording(recorder, { capture: name })));
    };
    return { monitor: recorder.monitor, finish };
  };
}

const kib = (bytes: number): string => (bytes < 10240 ? `${bytes} bytes` : `${(bytes / 1024).toFixed(0)} KiB`);

/** The capture in one or two lines. */
export function recordingText(s: RecordSummary): string {
  const proof = s.proved ? 'proved complete' : 'not proved';
  const lines = [
    `captured in ${s.path}: ${s.chunks} chunks of ${s.allocations} allocations, ${kib(s.bytes)} of memory in ${kib(s.stored)}, ${proof}`,
  ];
  const others = s.determinism?.runs.filter((r) => r.outcome !== 'same') ?? [];
  if (others.length > 0) {
    lines.push(`  nondeterministic: ${others.map((r) => `order ${r.order}: ${r.outcome}`).join('; ')}`);
  }
  return `${lines.join('\n')}\n`;
}
