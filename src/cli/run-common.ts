// What `wavesmith run` shares between its two targets: a kernel with described arguments, and a capture.

import { WavesmithError } from '../base/index.ts';
import { type CodeObject, link, readCodeObject, readObject } from '../codeobject/index.ts';
import {
  type Device,
  type DeviceKernel,
  DispatchAborted,
  type DispatchResult,
  noTools,
  SimDevice,
} from '../device/index.ts';
import { isRocmKernel } from '../device/rocm/module.ts';
import { DebuggerQuit } from '../device/sim/debug/index.ts';
import { isSimKernel } from '../device/sim/module.ts';
import { readCodeInput } from './read-code-input.ts';
import type { Progress } from './run-progress.ts';
import { countersText, profileText } from './run-report.ts';
import type { RunSession, ToolReport } from './run-tools.ts';
import { selectCodeObject } from './select-code-object.ts';

/** Object files are linked in memory, with the `further` ones, as `ld.lld -shared` links them. */
export function loadable(codeObject: CodeObject, file: string, further: readonly string[] = []): CodeObject {
  if (!codeObject.isRelocatable && further.length === 0) return codeObject;
  const others = further.map((path) => [selectCodeObject(readCodeInput(path), path, {}), path] as const);
  for (const [one, path] of [[codeObject, file] as const, ...others]) {
    if (one.isRelocatable) continue;
    throw new WavesmithError(
      'run/not-an-object',
      'The file is linked already; only object files are linked together.',
      {
        file: path,
        hint: 'Give one linked code object, or object files only.',
      },
    );
  }
  return readCodeObject(link([codeObject, ...others.map(([one]) => one)].map((one) => readObject(one.elf))), [file]);
}

/** The name of a code object's one kernel; none or several are `cli/usage`. */
export function onlyKernel({ kernels }: CodeObject, file: string): string {
  const [one, ...others] = kernels;
  if (one !== undefined && others.length === 0) return one.name;
  const names = kernels.slice(0, MAX_LISTED_KERNELS).map((k) => k.name);
  const more = kernels.length - names.length;
  throw new WavesmithError(
    'cli/usage',
    one === undefined ? `'${file}' has no kernel.` : `'${file}' has ${kernels.length} kernels; --kernel names the one.`,
    { file, hint: one && `There are: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}.` },
  );
}

const MAX_LISTED_KERNELS = 20;

/** Reads a loaded code object by the addresses of its file. */
export function imageReader(device: Device, kernel: DeviceKernel, codeObject: CodeObject) {
  return (address: number, size: number): Uint8Array => {
    if (isRocmKernel(kernel)) {
      const { address: start, size: all } = kernel.module;
      return device.read({ address: start, size: all, label: 'code object' }, address, size);
    }
    if (!(device instanceof SimDevice) || !isSimKernel(kernel)) throw noTools();
    const symbol = codeObject.kernels.find((k) => k.name === kernel.name)?.descriptorSymbol;
    const at = kernel.descriptorAddress - Number(symbol?.value ?? 0n) + address;
    const region = device.memory.find(at, size);
    if (region === undefined) throw new Error(`the image has no ${size} bytes at ${address}`);
    return region.bytes.slice(at - region.base, at - region.base + size);
  };
}

/** The number of an option; what is none is `cli/usage`. */
export function parseCount(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw new WavesmithError('cli/usage', `${option} ${text} is not a whole number.`);
  return Number(text);
}

/** Ctrl-C: the first one ends the run in order (with a debugger it stops and asks), one more ends it at once. */
function onInterrupt(ending: AbortController, session: RunSession | undefined): () => void {
  const led = session?.tools.debugger;
  const handler = (): void => {
    const asks = led !== undefined && !led.isOver;
    if (asks && !led.isInterrupted) led.interrupt();
    else if (!asks && !ending.signal.aborted) ending.abort();
    else process.exit(130);
  };
  process.on('SIGINT', handler);
  return () => process.off('SIGINT', handler);
}

/** A launch that the user can end: its result, or what was done until then (nothing when the debugger was left). */
export interface Ended<T> {
  readonly result: T | undefined;
  readonly partial: DispatchResult | undefined;
  readonly seconds: number;
}

/** Launches; Ctrl-C and the debugger can end it. Afterwards the progress line is gone and the session closed, whatever happened. */
export async function untilEnded<T>(
  ending: AbortController,
  session: RunSession | undefined,
  progress: Progress,
  launch: () => Promise<T>,
): Promise<Ended<T>> {
  const restore = onInterrupt(ending, session);
  const started = performance.now();
  const seconds = (): number => (performance.now() - started) / 1000;
  let isOver = false;
  try {
    const result = await launch();
    isOver = true;
    return { result, partial: undefined, seconds: seconds() };
  } catch (error) {
    if (!(error instanceof DispatchAborted) && !(error instanceof DebuggerQuit)) throw error;
    const partial = error instanceof DispatchAborted ? error.partial : undefined;
    isOver = true;
    return { result: undefined, partial, seconds: seconds() };
  } finally {
    restore();
    progress.clear();
    session?.close(isOver);
  }
}

/** Counters and profile as text. */
export function toolsReport(tools: ToolReport): string {
  const lines = [
    ...(tools.counters === undefined ? [] : countersText(tools)),
    ...(tools.profile === undefined ? [] : profileText(tools.profile)),
  ];
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}
