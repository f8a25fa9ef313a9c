// From a launch configuration of an editor to the command line of `wavesmith run`: the same words mean the same.
import { WavesmithError } from '../base/index.ts';

/** What an editor's `launch.json` holds. All but `program` may also stand in `runArguments` as on the command line. */
export interface LaunchConfiguration {
  /** A program of the host and its arguments, whose kernels are debugged, in the place of `program`. */
  readonly command?: unknown;
  /** Code object, bundle, module, or capture (`.wscap`). */
  readonly program?: unknown;
  readonly kernel?: unknown;
  /** Workgroups, and work-items of a workgroup: `[2, 1, 1]`, `2`, or `"2,1,1"`. */
  readonly grid?: unknown;
  readonly block?: unknown;
  /** Arguments of the kernel in order, as `--arg` takes them. */
  readonly args?: unknown;
  readonly target?: unknown;
  /** Bytes of dynamic LDS. */
  readonly lds?: unknown;
  /** Further options of `wavesmith run`. */
  readonly runArguments?: unknown;
  /** Where relative paths begin. */
  readonly cwd?: unknown;
  readonly stopOnEntry?: unknown;
  /** Stop when the kernel has ended, to go back from there. */
  readonly stopAtEnd?: unknown;
}

function wrong(field: string, expected: string): WavesmithError {
  return new WavesmithError('dap/bad-launch', `'${field}' of the launch configuration is not ${expected}.`, {
    hint: 'docs/debugging.md has a launch.json.',
  });
}

function text(value: unknown, field: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw wrong(field, 'a text');
}

function texts(value: unknown, field: string): string[] {
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value;
  throw wrong(field, 'a list of texts');
}

function dimensions(value: unknown, field: string): string {
  if (typeof value === 'number' || typeof value === 'string') return String(value);
  if (Array.isArray(value) && value.length > 0 && value.length <= 3 && value.every((n) => typeof n === 'number')) {
    return value.join(',');
  }
  throw wrong(field, 'one to three numbers');
}

/** What a configuration launches: a command of Wavesmith and its arguments. */
export interface LaunchLine {
  readonly command: 'run' | 'exec';
  readonly words: readonly string[];
}

/** The command line for a configuration; a wrong field is `dap/bad-launch`. */
export function launchLine(launch: LaunchConfiguration): LaunchLine {
  if (launch.command === undefined) return { command: 'run', words: runArguments(launch) };
  const { kernel, target, command } = launch;
  for (const field of ['program', 'grid', 'block', 'args', 'lds'] as const) {
    if (launch[field] !== undefined) throw wrong(field, `for a program: 'command' says what is launched`);
  }
  const program = texts(command, 'command');
  if (program.length === 0) throw wrong('command', 'a program and its arguments');
  const words: string[] = [];
  if (kernel !== undefined) words.push('--kernel', text(kernel, 'kernel'));
  if (target !== undefined) words.push('--device', `sim:${text(target, 'target')}`);
  if (launch.runArguments !== undefined) words.push(...texts(launch.runArguments, 'runArguments'));
  return { command: 'exec', words: [...words, '--', ...program] };
}

/** The arguments of `wavesmith run`. */
function runArguments(launch: LaunchConfiguration): string[] {
  const { program, kernel, grid, block, args, target, lds } = launch;
  const line = [text(program, 'program')];
  if (kernel !== undefined) line.push('--kernel', text(kernel, 'kernel'));
  if (grid !== undefined) line.push('--grid', dimensions(grid, 'grid'));
  if (block !== undefined) line.push('--block', dimensions(block, 'block'));
  for (const argument of args === undefined ? [] : texts(args, 'args')) line.push('--arg', argument);
  if (target !== undefined) line.push('--target', text(target, 'target'));
  if (lds !== undefined) line.push('--lds', dimensions(lds, 'lds'));
  return launch.runArguments === undefined ? line : [...line, ...texts(launch.runArguments, 'runArguments')];
}
