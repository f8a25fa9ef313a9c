// One run of a program with the tools library in it: on the virtual GPU, or on the GPU and runtime that the machine has.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { WavesmithError } from '../base/index.ts';
import type { SimDispatchResult } from '../device/index.ts';
import { packageRoot } from '../iree/tools.ts';
import type { TargetName } from '../isa/types.ts';
import { findNativeBuild, loadAddon } from '../runtime/addon.ts';
import { type DeviceProcess, startDeviceProcess, tooManyKernels } from '../runtime/exec.ts';
import type { DispatchPacket } from '../runtime/runtime-device.ts';
import type { RunOptions, SimRuntimeOptions } from '../runtime/sim-runtime.ts';
import { type ToolListener, ToolServer, type ToolServerOptions } from '../runtime/tool-server.ts';

/** Where programs find their GPU. */
export type ProgramDevice =
  | { readonly kind: 'sim'; readonly target: TargetName; readonly run: RunOptions }
  /** The HSA and HIP libraries that the program finds by itself; with an index it sees that one of its GPUs alone. */
  | { readonly kind: 'rocm'; readonly index: number | undefined };

export interface ProgramRunOptions extends Omit<ToolServerOptions, 'report'> {
  readonly device: ProgramDevice;
  readonly command: readonly string[];
  /**
   * What its standard output is: shown, shown on this process's standard error, or neither. It is kept in any case. `inherit`: it has this
   * process's own input and output, which are not kept, and it may live on after a fault.
   */
  readonly show: 'stdout' | 'stderr' | 'none' | 'inherit';
  /** Milliseconds after which it is killed. */
  readonly timeout?: number | undefined;
  /** A program that runs more kernels on the virtual GPU is stopped. */
  readonly maxKernels?: number | undefined;
  /** Every kernel that ran to its end on the virtual GPU. */
  readonly onKernel?: ((kernel: string, result: SimDispatchResult, packet: DispatchPacket) => void) | undefined;
  /** Asked about every dispatch of the virtual GPU; see `SimRuntimeOptions`. */
  readonly observe?: SimRuntimeOptions['observe'];
  /** How a fault of a kernel is told; see `RuntimeServer.explain`. */
  readonly explain?: ((error: unknown) => unknown) | undefined;
  readonly report: (text: string) => void;
}

export interface ProgramRun {
  /** As a shell shows it: 128 + n for signal n. */
  readonly status: number;
  readonly stdout: Uint8Array;
  readonly seconds: number;
  /** What the virtual GPU said of the first kernel that failed. */
  readonly fault: string | undefined;
  readonly timedOut: boolean;
}

/** Time for a program to end by itself after a fault; it may wait for ever for a kernel that failed. */
const GRACE_MS = 1000;

/** Answers to calls of a kernel to the host come sooner. */
const WAITING_MS = 50;

/** Calls on when it is called for `WAITING_MS` without a pause of that length, and each time so long after that. */
function sustained(call: () => void): () => void {
  let began = Number.NEGATIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now - last > WAITING_MS) began = now;
    last = now;
    if (now - began < WAITING_MS) return;
    began = now;
    call();
  };
}

/** The environment of a program on a GPU of the machine. `ROCR_VISIBLE_DEVICES` may name GPUs already: the index counts among these. */
function visible(device: ProgramDevice): NodeJS.ProcessEnv {
  if (device.kind === 'sim' || device.index === undefined) return process.env;
  const { HIP_VISIBLE_DEVICES, CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES: list, ...rest } = process.env;
  return {
    ...rest,
    ROCR_VISIBLE_DEVICES: list === undefined ? String(device.index) : (list.split(',')[device.index] ?? ''),
  };
}

/** The tools library of this installation. */
export function toolsLibrary(): string {
  const library = join(findNativeBuild(packageRoot() ?? '.').libraries, 'libwavesmith-tool.so');
  if (existsSync(library)) return library;
  throw new WavesmithError('runtime/not-built', `The tools library is not built: there is no ${library}.`, {
    hint: "Run 'wavesmith doctor --build-native'; in a checkout 'npm run setup'.",
  });
}

/** Runs a program to its end. */
export async function runProgram(listener: ToolListener, options: ProgramRunOptions): Promise<ProgramRun> {
  const { device, report, command, show } = options;
  const isInherited = show === 'inherit';
  const library = toolsLibrary();
  const root = packageRoot() ?? '.';
  const build = findNativeBuild(root);
  const { maxKernels = Number.POSITIVE_INFINITY } = options;
  let kernels = 0;
  const onDispatch = (kernel: string, result: SimDispatchResult, packet: DispatchPacket): void => {
    options.onKernel?.(kernel, result, packet);
    if (++kernels > maxKernels) gpu?.server.onFault(tooManyKernels(maxKernels));
  };
  const gpu: DeviceProcess | undefined =
    device.kind === 'rocm'
      ? undefined
      : await startDeviceProcess({
          root,
          target: device.target,
          ...device.run,
          onDispatch,
          observe: options.observe,
          onWaiting: sustained(() => tools.release()),
          report,
        });
  const tools: ToolServer = new ToolServer(gpu?.addon ?? loadAddon(build), listener, options);
  await tools.listen();
  const started = performance.now();
  let fault: string | undefined;
  let timedOut = false;
  try {
    const child = spawn(build.launcher, [String(process.pid), ...command], {
      stdio: isInherited ? 'inherit' : ['ignore', 'pipe', 'inherit'],
      env: tools.environment(gpu?.environment(process.env) ?? visible(device), library),
    });
    const timers: NodeJS.Timeout[] = [];
    const killAfter = (ms: number, before: () => void): void => {
      timers.push(
        setTimeout(() => {
          before();
          child.kill('SIGKILL');
        }, ms),
      );
    };
    if (options.timeout !== undefined) {
      killAfter(options.timeout, () => {
        timedOut = true;
      });
    }
    if (gpu !== undefined) {
      if (options.explain !== undefined) gpu.server.explain = options.explain;
      gpu.server.onFault = (text) => {
        if (fault === undefined && !isInherited) killAfter(GRACE_MS, () => {});
        fault ??= text;
      };
    }
    const chunks: Uint8Array[] = [];
    child.stdout?.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (show === 'stdout' || show === 'stderr') process[show].write(chunk);
    });
    const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
    for (const signal of signals) process.on(signal, forward);
    try {
      const status = await new Promise<number>((resolve, reject) => {
        child.once('error', reject);
        child.once('close', (code, signal) => resolve(signal === null ? (code ?? 1) : 128 + constants.signals[signal]));
      });
      const seconds = (performance.now() - started) / 1000;
      return { status, stdout: new Uint8Array(Buffer.concat(chunks)), seconds, fault, timedOut };
    } finally {
      for (const timer of timers) clearTimeout(timer);
      for (const signal of signals) process.off(signal, forward);
    }
  } finally {
    await tools.settle();
    tools.close();
    await gpu?.close();
  }
}
