// Runs a program with the virtual GPU as its GPU: the device process is this one; the program ends with it, and it with the program.
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter } from 'node:path';
import { type Addon, addonFile, findNativeBuild, loadAddon, type NativeBuild } from './addon.ts';
import type { WrittenMemory } from './fresh-memory.ts';
import { FRESH_VARIABLE, SOCKET_VARIABLE } from './generated/messages.ts';
import { watchHostMemory } from './host-memory.ts';
import { RuntimeServer } from './server.ts';
import { SimRuntime, type SimRuntimeOptions } from './sim-runtime.ts';

export interface DeviceProcessOptions extends SimRuntimeOptions {
  /** Folder of package.json: the native build is beside it. */
  readonly root: string;
  /** One line for each refused or misbehaving peer. */
  readonly report: (text: string) => void;
}

/** Tells the libraries of programs that the device has a modelled clock (native/hip/stream.cc). */
export const TIME_VARIABLE = 'WAVESMITH_TIME';

/** Tells them that the device wants to hear of every copy and fill. */
const COPIES_VARIABLE = 'WAVESMITH_COPIES';

/** A listening device. */
export interface DeviceProcess {
  readonly server: RuntimeServer;
  readonly addon: Addon;
  readonly build: NativeBuild;
  readonly report: (text: string) => void;
  /** Environment a program needs, over `base`. */
  environment(base: NodeJS.ProcessEnv): NodeJS.ProcessEnv;
  /** With `fresh`: what programs have written in memory that they have given back; complete after `close`. */
  readonly writtenMemory: readonly WrittenMemory[];
  close(): Promise<void>;
}

/** Why a program was stopped that runs many more kernels than before an edit. */
export const tooManyKernels = (most: number): string =>
  `It was stopped after ${most} kernels: before the edit it ran less than a twentieth of that, or less than a thousand.`;

/** Starts a device that programs of this user can connect to. */
export async function startDeviceProcess(options: DeviceProcessOptions): Promise<DeviceProcess> {
  const build = findNativeBuild(options.root);
  const addon = loadAddon(build);
  const device = new SimRuntime(options, addon, addonFile(build));
  const server = new RuntimeServer(device, addon, device.hello(), options.report);
  await server.listen();
  const watch = watchHostMemory(device.memoryDescriptor, (error) => server.endPrograms(error));
  return {
    server,
    addon,
    build,
    report: options.report,
    environment: (base) => ({
      ...base,
      [SOCKET_VARIABLE]: server.address,
      ...(options.fresh === undefined ? {} : { [FRESH_VARIABLE]: '1' }),
      ...(options.strict !== undefined ? { [COPIES_VARIABLE]: '1' } : {}),
      ...(options.clock !== undefined ? { [TIME_VARIABLE]: 'model' } : {}),
      LD_LIBRARY_PATH: [build.libraries, base.LD_LIBRARY_PATH ?? ''].filter((part) => part !== '').join(delimiter),
    }),
    get writtenMemory() {
      return device.writtenMemory;
    },
    close: async () => {
      watch.stop();
      await server.close();
      device.close();
    },
  };
}

/** What a program has in the place of this process's streams. */
export interface ProgramOptions {
  readonly input?: 'none' | undefined;
  /** Gets what it prints. */
  readonly output?: ((text: string, stream: 'stdout' | 'stderr') => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

const FORWARDED = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const;

/**
 * Runs a program to its end with the device as its GPU. Gives its exit status as a shell shows it: 128 + n for signal n, 127 when it is not found.
 * Ctrl-C reaches the program through its terminal; other signals are passed on. `input` 'none': it reads nothing, the terminal is someone
 * else's. When `signal` is aborted the program is killed.
 */
export async function runProgram(
  device: DeviceProcess,
  program: readonly string[],
  { input, output, signal: ending }: ProgramOptions = {},
): Promise<number> {
  const child = spawn(device.build.launcher, [String(process.pid), ...program], {
    stdio: [
      input === 'none' ? 'ignore' : 'inherit',
      output === undefined ? 'inherit' : 'pipe',
      output === undefined ? 'inherit' : 'pipe',
    ],
    env: device.environment(process.env),
  });
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => output?.(text, name));
  }
  const kill = (): void => void child.kill('SIGKILL');
  ending?.addEventListener('abort', kill);
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore);
  const forward = (signal: NodeJS.Signals): void => {
    child.kill(signal);
  };
  for (const signal of FORWARDED) process.on(signal, forward);
  try {
    const { code, signal } = await ended(child);
    if (ending?.aborted === true) return 128 + constants.signals.SIGKILL;
    if (signal === null) return code ?? 1;
    device.report(`${program[0]} was ended by ${signal}`);
    return 128 + constants.signals[signal];
  } finally {
    ending?.removeEventListener('abort', kill);
    process.off('SIGINT', ignore);
    for (const signal of FORWARDED) process.off(signal, forward);
  }
}

function ended(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
}
