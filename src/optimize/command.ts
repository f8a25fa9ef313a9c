// Programs of others, run to their end: in a folder, for so long at most, and with their whole process group when they are to end.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Capture, openCapture } from '../snapshot/index.ts';

export interface CommandResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Where and for how long a command runs. */
export interface CommandPlace {
  readonly folder: string;
  /** Seconds. */
  readonly timeout: number;
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly signal?: AbortSignal | undefined;
}

const TAIL = 4000;

/** The end of what a command said. */
export const tailOf = ({ stdout, stderr }: CommandResult): string => `${stdout}${stderr}`.trim().slice(-TAIL);

/** Runs a command to its end. */
export function runCommand(argv: readonly string[], place: CommandPlace): Promise<CommandResult> {
  const { folder, timeout, env = process.env, signal } = place;
  const [program = '', ...args] = argv;
  return new Promise((done, fail) => {
    const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    // The whole group: a shell does not hand a signal on.
    const end = (): void => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    };
    const timer = setTimeout(end, timeout * 1000);
    signal?.addEventListener('abort', end, { once: true });
    const text = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (chunk: string) => {
        text[name] += chunk;
      });
    }
    child.once('error', fail);
    child.once('close', (status) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      done({ status, ...text });
    });
  });
}

/** What is recorded of a program. */
export interface Recording {
  /** How this command line is started. */
  readonly wavesmith: readonly string[];
  readonly device: string;
  readonly program: readonly string[];
  /** The first capture; the nth is `FILE.n.wscap`. */
  readonly file: string;
  /** Which dispatches, as `wavesmith capture --dispatch` takes them. */
  readonly dispatches: string;
  /** More flags of `wavesmith capture`. */
  readonly flags?: readonly string[] | undefined;
}

/** What a run left. */
export interface ProgramRun extends CommandResult {
  /** In the order of the dispatches. */
  readonly captures: readonly Capture[];
}

/** Runs a program on the virtual GPU and records dispatches. */
export async function recordProgram(recording: Recording, place: CommandPlace): Promise<ProgramRun> {
  const { wavesmith, device, program, file, dispatches, flags = [] } = recording;
  const own = ['--device', device, '--dispatch', dispatches, '-o', file, ...flags];
  const result = await runCommand([...wavesmith, 'capture', ...own, '--', ...program], place);
  const stem = basename(file, '.wscap');
  const number = (name: string): number => Number(/\.(\d+)\.wscap$/.exec(name)?.[1] ?? 0);
  const captures = readdirSync(dirname(file))
    .filter((name) => name.startsWith(`${stem}.`) && name.endsWith('.wscap'))
    .sort((a, b) => number(a) - number(b))
    .map((name) => openCapture(join(dirname(file), name)));
  return { ...result, captures };
}
