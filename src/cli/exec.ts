// `wavesmith exec`: runs an unmodified HIP or HSA program on the virtual GPU.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { WavesmithError } from '../base/index.ts';
import { formatRunFinding } from '../device/index.ts';
import { packageRoot } from '../iree/index.ts';
import { isTargetName, TARGET_NAMES } from '../isa/index.ts';
import { DEFAULT_TARGET } from '../isa/table/targets.ts';
import type { TargetName } from '../isa/types.ts';
import { type DeviceProcess, runProgram, startDeviceProcess } from '../runtime/exec.ts';
import { ModelClock } from '../runtime/model-clock.ts';
import { monotonicOffset } from '../runtime/shared-memory.ts';
import { TIMED_BYTES } from '../runtime/sim-runtime.ts';
import { addDebugOptions, type EditorSide, ExecDebugging, type ExecDebugOptions } from './exec-debug.ts';
import { addCheckOptions, type CheckOptions, checkExitCode, strictOptionsOf } from './run-check.ts';
import { newCommand, parseArguments } from './support.ts';
import { CHIP_NAMES, TimeLog, timingOf } from './timing.ts';

interface Options extends CheckOptions, ExecDebugOptions {
  device: string;
  devices: string;
  memory?: string;
  mfma: string;
  workers?: string;
  budget?: string;
  env?: boolean;
  timing?: boolean;
  timingJson?: string;
  timingOnly?: boolean;
  chip?: string;
  time?: string;
  clock: string;
  serve?: string;
}

/** As many as one machine of AMD's has at most. */
const MAX_DEVICES = 16;

/** Addresses of the memory end well before those of programs. */
const MAX_MEMORY_GIB = 1024;

/** The target of `--device sim:TARGET`. */
export function parseDevice(text: string): TargetName {
  const [kind, target = DEFAULT_TARGET] = text.split(':');
  if (kind !== 'sim' || !isTargetName(target)) {
    throw new WavesmithError('cli/bad-option', `'${text}' is not a device.`, {
      hint: `Use sim:TARGET with one of ${TARGET_NAMES.join(', ')}.`,
    });
  }
  return target;
}

function parseCount(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) {
    throw new WavesmithError('cli/bad-option', `${option} takes a whole number from 1, not '${text}'.`);
  }
  return value;
}

/** Runs the command. */
export function run(argv: string[]): Promise<number> {
  return execProgram(argv);
}

/** The same; with an editor its kernels are debugged from there. */
export async function execProgram(argv: string[], editor?: EditorSide): Promise<number> {
  const command = newCommand('exec', 'Run an unmodified HIP or HSA program with the virtual GPU as its GPU.')
    .argument('[program...]', 'the program and its arguments, after --')
    .option('--device <device>', 'sim:gfx90a, sim:gfx942 or sim:gfx950', `sim:${DEFAULT_TARGET}`)
    .option('--devices <n>', `GPUs that the program sees, at most ${MAX_DEVICES}`, '1')
    .option('--memory <gib>', "GiB of device memory (default: the board's)")
    .option('--mfma <mode>', 'matrix numerics: exact (as silicon) or fast', 'exact')
    .option('--workers <n>', 'threads that run workgroups')
    .option('--budget <n>', 'stop a kernel after this many instructions')
    .option('--timing', 'model the time of every kernel; events carry it (see --time)')
    .option('--timing-json <file>', 'the same, and write every dispatch to a file')
    .option('--timing-only', 'the same, and run only the workgroups that are sampled: results are incomplete')
    .option('--chip <name|file>', `the chip to model: ${CHIP_NAMES.join(', ')}, or a chip file`)
    .option('--time <clock>', 'what events and signals carry: model (with --timing) or wall')
    .option(
      '--clock <kind>',
      'what kernels read as time: instructions (the same in every run; with --timing modelled time), or host',
      'instructions',
    )
    .option('--env', 'start a device that lives as long as this shell, and print what to eval')
    .addHelpText(
      'after',
      `
Examples:
  wavesmith exec -- ./vector_add
  wavesmith exec --device sim:gfx90a --check -- ./app --size 64
  eval "$(wavesmith exec --env)"; gdb ./app

The exit status is the program's (128 + n when signal n ended it); with --check it is 1 when the program's is 0 and there are findings.`,
    );
  addCheckOptions(command);
  addDebugOptions(command);
  command.addOption(command.createOption('--serve <pid>', 'serve until that process has ended').hideHelp());
  if (!parseArguments(command, argv)) return 0;
  const options = command.opts<Options>();
  const target = parseDevice(options.device);
  if (options.mfma !== 'exact' && options.mfma !== 'fast') {
    throw new WavesmithError('cli/bad-option', `--mfma is exact or fast, not '${options.mfma}'.`);
  }
  if (options.clock !== 'instructions' && options.clock !== 'host') {
    throw new WavesmithError('cli/bad-option', `--clock is instructions or host, not '${options.clock}'.`);
  }
  if (options.env === true) return startForShell(argv);
  const { mfma } = options;
  const devices = parseCount(options.devices, '--devices') ?? 1;
  if (devices > MAX_DEVICES) {
    throw new WavesmithError('cli/bad-option', `--devices takes at most ${MAX_DEVICES}, not ${devices}.`);
  }
  const memory = parseCount(options.memory, '--memory');
  if (memory !== undefined && (memory < 4 || memory > MAX_MEMORY_GIB)) {
    throw new WavesmithError('cli/bad-option', `--memory takes 4 to ${MAX_MEMORY_GIB} GiB, not ${memory}.`);
  }
  const timing = timingOf(options, target);
  if (timing !== undefined && memory !== undefined && memory * 2 ** 30 > TIMED_BYTES) {
    throw new WavesmithError(
      'cli/bad-option',
      `With --timing --memory takes at most ${TIMED_BYTES / 2 ** 30} GiB, not ${memory}.`,
    );
  }
  const debugging = ExecDebugging.create(options, editor);
  if (debugging !== undefined && (timing !== undefined || strictOptionsOf(options) !== undefined)) {
    debugging.close();
    throw new WavesmithError('cli/usage', '--break goes neither with --check nor with --timing.');
  }
  const times: TimeLog = new TimeLog();
  let hasFindings = false;
  const device = await startDeviceProcess({
    root: packageRoot() ?? '.',
    target,
    devices,
    memoryBytes: memory === undefined ? undefined : memory * 2 ** 30,
    mfma,
    workers: parseCount(options.workers, '--workers'),
    maxInstructions: parseCount(options.budget, '--budget'),
    strict: strictOptionsOf(options),
    hostClockOffset: options.clock === 'host' ? monotonicOffset() : undefined,
    timing,
    sampleOnly: options.timingOnly === true,
    observe: debugging?.program.observe,
    isSerial: debugging !== undefined,
    clock: timing === undefined || options.time === 'wall' ? undefined : new ModelClock(timing.chip),
    onFinding: (found) => {
      process.stderr.write(formatRunFinding(found, command.args[0] ?? 'program'));
      hasFindings ||= checkExitCode(options, { findings: [found] }) !== 0;
    },
    onDispatch: (kernel, result) => {
      if (result.timing !== undefined) times.add(result.timing);
      for (const d of result.findings ?? []) process.stderr.write(formatRunFinding(d, kernel));
      hasFindings ||= checkExitCode(options, result) !== 0;
    },
    report: (text) => process.stderr.write(`wavesmith: ${text}\n`),
  });
  try {
    if (options.serve !== undefined) return await serve(device, Number(options.serve));
    if (command.args.length === 0) {
      throw new WavesmithError('cli/missing-argument', 'No program was given.', {
        hint: 'Write it after two dashes: wavesmith exec -- PROGRAM ARGS.',
      });
    }
    const status = await runProgram(device, command.args, {
      input: debugging?.takesInput === true ? 'none' : undefined,
      output: editor?.write,
      signal: debugging?.quitting.signal,
    });
    debugging?.report();
    if (options.timingJson !== undefined) times.write(options.timingJson);
    else if (timing !== undefined) process.stderr.write(times.summary());
    return status === 0 && hasFindings ? 1 : status;
  } finally {
    debugging?.close();
    await device.close();
  }
}

/** Starts the device in a process of its own and prints the environment for the shell that asked. */
async function startForShell(argv: readonly string[]): Promise<number> {
  const own = argv.filter((a) => a !== '--env');
  const child = spawn(process.execPath, [process.argv[1] ?? '', 'exec', ...own, '--serve', String(process.ppid)], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const text = await new Promise<string>((resolve, reject) => {
    let seen = '';
    child.once('error', reject);
    child.once('exit', (code) => reject(new WavesmithError('runtime/no-device', `The device ended (status ${code}).`)));
    child.stdout.on('data', (chunk: Buffer) => {
      seen += chunk.toString();
      if (seen.endsWith('\n\n')) resolve(seen.trimEnd());
    });
  });
  process.stdout.write(`${text}\n`);
  child.stdout.destroy();
  child.unref();
  return 0;
}

/** Serves until the shell that asked has ended. */
async function serve(device: DeviceProcess, shell: number): Promise<number> {
  const born = startTime(shell);
  const { WAVESMITH_SOCKET, LD_LIBRARY_PATH } = device.environment(process.env);
  process.stdout.write(
    `export WAVESMITH_SOCKET='${WAVESMITH_SOCKET}'\nexport LD_LIBRARY_PATH='${LD_LIBRARY_PATH}'\n\n`,
  );
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      if (born !== undefined && startTime(shell) === born) return;
      clearInterval(timer);
      resolve();
    }, 500);
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
  return 0;
}

/** When a process started (clock ticks since boot), so that another process with its number is not taken for it. */
function startTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')')).split(' ')[20];
  } catch {
    return undefined;
  }
}
