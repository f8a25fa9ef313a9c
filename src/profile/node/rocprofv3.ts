// Drives rocprofv3: one run for the trace, one per counter pass, one for the thread trace when asked. Counters that fit into
// one pass share it (limits per hardware block). Source: rocprofv3 --help; rocprofiler-compute mi_gpu_spec.yaml.

import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { WavesmithError } from '../../base/index.ts';
import { DEFAULT_TARGET } from '../../isa/table/targets.ts';
import { counterPasses, METRICS } from '../arch/metrics.ts';
import { loadProfile } from './load.ts';

export interface DriveOptions {
  /** Where the raw output goes. */
  readonly folder: string;
  readonly program: readonly string[];
  /** Also record a thread trace. */
  readonly deep: boolean;
  /** Architecture; found from the trace when not given. */
  readonly arch?: string | undefined;
  /** Told before the counters are collected: the counters of every pass. */
  readonly onPasses?: (arch: string, passes: readonly (readonly string[])[]) => void;
  readonly onRun?: (command: readonly string[]) => void;
}

/** The command lines of a profile, in order; `arch` decides the counters. */
export function profileCommands(options: DriveOptions, arch: string): string[][] {
  const run = (name: string, flags: string[]) => [
    'rocprofv3',
    ...flags,
    '-d',
    join(options.folder, name),
    '--',
    ...options.program,
  ];
  const csv = ['--output-format', 'csv'];
  return [
    run('trace', ['--kernel-trace', '--memory-copy-trace', '--hip-runtime-trace', '--marker-trace', ...csv]),
    ...counterPasses(arch).map((names, i) => run(`pmc_${i + 1}`, ['--pmc', ...names, ...csv])),
    ...(options.deep ? [run('att', ['--att'])] : []),
  ];
}

/** A command line as a user would type it. */
export function shellLine(command: readonly string[]): string {
  return command.map((word) => (/^[\w./=:,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');
}

/** The path of a program in PATH, undefined when it is not there. */
export function findProgram(name: string): string | undefined {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    if (folder === '') continue;
    try {
      accessSync(join(folder, name), constants.X_OK);
      return join(folder, name);
    } catch {}
  }
  return undefined;
}

/** Runs rocprofv3 as often as needed; resolves to the folder with its output. */
export function driveRocprofv3(options: DriveOptions): string {
  const guess = options.arch ?? DEFAULT_TARGET;
  if (METRICS[guess] === undefined) {
    throw new WavesmithError('profile/unknown-arch', `There are no metric formulas for ${guess}.`, {
      hint: `Known: ${Object.keys(METRICS).join(', ')}.`,
    });
  }
  if (findProgram('rocprofv3') === undefined) {
    const lines = profileCommands(options, guess).map((command) => `    ${shellLine(command)}`);
    throw new WavesmithError('profile/no-rocprofv3', 'rocprofv3 is not installed here, so nothing was run.', {
      hint: `On the machine with the GPU run (counters for ${guess}${options.arch === undefined ? ', see --arch' : ''}):\n${lines.join('\n')}\n  and then: wavesmith profile ${options.folder}`,
    });
  }
  mkdirSync(options.folder, { recursive: true });
  const [trace] = profileCommands(options, guess);
  execute(trace, options);
  const arch = options.arch ?? recordedArch(join(options.folder, 'trace'));
  options.onPasses?.(arch, counterPasses(arch));
  for (const command of profileCommands(options, arch).slice(1)) execute(command, options);
  return options.folder;
}

function execute(command: readonly string[], options: DriveOptions): void {
  options.onRun?.(command);
  const { status, signal, error } = spawnSync(command[0], command.slice(1), { stdio: ['inherit', 2, 2] });
  if (error !== undefined || status !== 0) {
    const how = error?.message ?? (signal === null ? `exit code ${status}` : `signal ${signal}`);
    throw new WavesmithError('profile/rocprofv3-failed', `rocprofv3 failed (${how}).`, {
      hint: `The command was: ${shellLine(command)}`,
    });
  }
}

function recordedArch(folder: string): string {
  const { recording } = loadProfile([folder]);
  const known = [...recording.agents.values()].flatMap((agent) =>
    agent.isGpu && agent.arch !== undefined && METRICS[agent.arch] !== undefined ? [agent.arch] : [],
  );
  if (known.length === 0) {
    throw new WavesmithError('profile/unknown-arch', 'The trace does not name a GPU with known counters.', {
      hint: `Give --arch (${Object.keys(METRICS).join(', ')}).`,
    });
  }
  return known[0];
}
