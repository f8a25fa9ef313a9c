// Room `optimize/hip`: kernels in the sources of a HIP program. Begin with this file: a copy of the project, which is built and run; the user's own
// folder is read and never written. Then guard.ts (what a change of the source must leave as it was) and hip-workshop.ts (the work of a model).
import { spawn } from 'node:child_process';
import {
  accessSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, isAbsolute, join, relative, resolve } from 'node:path';
import { WavesmithError } from '../../base/index.ts';
import { type Capture, openCapture } from '../../snapshot/index.ts';

export interface ProjectOptions {
  /** The folder that is copied. */
  readonly folder: string;
  /** The source that may be changed, in that folder. */
  readonly source: string;
  /** Shell commands, run in the folder. */
  readonly build: string;
  readonly run: string;
  /** How this command line is started. */
  readonly wavesmith: readonly string[];
  readonly device: string;
  /** Seconds that a build or a run may take. */
  readonly timeout: number;
  readonly signal?: AbortSignal | undefined;
}

export interface CommandResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** How a compiler was called. */
export interface CompilerCall {
  readonly folder: string;
  readonly program: string;
  readonly args: readonly string[];
}

/** What a run left. */
export interface ProjectRun {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly captures: readonly Capture[];
}

const PREFIX = 'wavesmith-optimize-';
const OWNER = 'owner';
const COMPILERS = ['hipcc', 'amdclang++', 'clang++', 'clang++-22', 'clang', 'clang-22'];
const MAX_BYTES = 2 ** 31;
/** What cmake and meson leave in a folder that they configured. Its build files lead to that place by absolute paths. */
const CONFIGURED = ['CMakeCache.txt', 'meson-private'];
const TAIL = 4000;

export class Project {
  readonly source: string;
  /** Folders of the project that are not in the copy, since a build in them would write to the user's own. */
  readonly leftOut: string[] = [];
  private readonly options: ProjectOptions;
  private readonly scratch: string;
  private readonly tree: string;
  private runs = 0;

  private constructor(options: ProjectOptions, scratch: string, source: string) {
    this.options = options;
    this.scratch = scratch;
    this.tree = join(scratch, 'tree');
    this.source = source;
  }

  /** Copies a project. Copies that were left by processes that are gone are removed. */
  static open(options: ProjectOptions): Project {
    const folder = resolve(options.folder);
    const source = relative(folder, resolve(folder, options.source));
    if (source.startsWith('..') || isAbsolute(source) || !existsSync(join(folder, source))) {
      throw new WavesmithError('io/read', `'${options.source}' is no file of '${folder}'.`, { file: options.source });
    }
    removeLeftovers();
    const scratch = mkdtempSync(join(tmpdir(), PREFIX));
    writeFileSync(join(scratch, OWNER), String(process.pid));
    const project = new Project(options, scratch, source);
    let bytes = 0;
    cpSync(folder, project.tree, {
      recursive: true,
      verbatimSymlinks: true,
      mode: constants.COPYFILE_FICLONE,
      filter: (path) => {
        const found = statSync(path, { throwIfNoEntry: false });
        if (found?.isDirectory() === true && CONFIGURED.some((name) => existsSync(join(path, name)))) {
          project.leaveOut(relative(folder, path));
          return false;
        }
        if (found?.isFile() === true) bytes += found.size;
        if (bytes > MAX_BYTES) {
          project.close();
          throw new WavesmithError('optimize/too-large', `'${folder}' has more than 2 GiB.`, {
            file: folder,
            hint: 'Start in the folder of the program, or name it with --project.',
          });
        }
        return found === undefined || found.isFile() || found.isDirectory();
      },
    });
    project.makeShims();
    return project;
  }

  private leaveOut(built: string): void {
    if (built === '') {
      this.close();
      throw new WavesmithError('optimize/configured', 'The project is configured in its own folder.', {
        file: this.options.folder,
        hint: 'A build of a copy would write there: configure in a folder of its own, and remove what was configured in place.',
      });
    }
    this.leftOut.push(built);
  }

  close(): void {
    rmSync(this.scratch, { recursive: true, force: true });
  }

  text(): string {
    return readFileSync(join(this.tree, this.source), 'utf8');
  }

  /** Writes the source, in the copy. Its time is now, so that a build sees it. */
  write(text: string): void {
    const path = join(this.tree, this.source);
    writeFileSync(path, text);
    utimesSync(path, new Date(), new Date());
  }

  /** Builds by the project's command, or by another one. */
  build(command = this.options.build): Promise<CommandResult> {
    return this.command(['sh', '-c', command]);
  }

  /** Runs the program without recording. */
  exec(): Promise<CommandResult> {
    const { wavesmith, device, run } = this.options;
    return this.command([...wavesmith, 'exec', '--device', device, '--', 'sh', '-c', run]);
  }

  /** Runs the program and records the first dispatches of kernels. */
  async capture(kernel: string, dispatches: string): Promise<ProjectRun> {
    const { wavesmith, device, run } = this.options;
    const name = `run${this.runs++}`;
    const flags = [
      '--device',
      device,
      '--kernel',
      kernel,
      '--dispatch',
      dispatches,
      '-o',
      join(this.scratch, `${name}.wscap`),
    ];
    const result = await this.command([...wavesmith, 'capture', ...flags, '--', 'sh', '-c', run]);
    const number = (file: string): number => Number(/\.(\d+)\.wscap$/.exec(file)?.[1] ?? 0);
    const captures = readdirSync(this.scratch)
      .filter((file) => file.startsWith(`${name}.`) && file.endsWith('.wscap'))
      .sort((a, b) => number(a) - number(b))
      .map((file) => openCapture(join(this.scratch, file)));
    return { ...result, captures };
  }

  /** How the source was compiled in the last build; undefined when no compiler was called by name. */
  compilerCall(): CompilerCall | undefined {
    const log = join(this.scratch, 'calls');
    const records = existsSync(log) ? readFileSync(log, 'utf8').split('\x1e').slice(0, -1) : [];
    const wanted = join(this.tree, this.source);
    const calls = records.map((record): CompilerCall => {
      const [folder = '', program = '', ...args] = record.split('\0').slice(0, -1);
      return { folder, program, args };
    });
    return calls.findLast(({ folder, args }) => args.some((arg) => resolve(folder, arg) === wanted));
  }

  /** Runs a command in the copy, to its end. */
  command(argv: readonly string[], folder = this.tree): Promise<CommandResult> {
    const { timeout, signal } = this.options;
    const [program = '', ...args] = argv;
    return new Promise((done, fail) => {
      const child = spawn(program, args, {
        cwd: folder,
        env: { ...process.env, PATH: `${join(this.scratch, 'bin')}${delimiter}${process.env.PATH ?? ''}` },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      });
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

  /** Compilers that say how they are called, in the place of those that the build would find. */
  private makeShims(): void {
    const bin = join(this.scratch, 'bin');
    mkdirSync(bin);
    for (const name of COMPILERS) {
      const real = onPath(name);
      if (real === undefined) continue;
      const log = `{ printf '%s\\0' "$PWD" '${real}' "$@"; printf '\\036'; } >> '${join(this.scratch, 'calls')}'`;
      writeFileSync(join(bin, name), `#!/bin/sh\n${log}\nexec '${real}' "$@"\n`, { mode: 0o755 });
    }
  }
}

/** The end of what a command said. */
export const tailOf = ({ stdout, stderr }: CommandResult): string => `${stdout}${stderr}`.trim().slice(-TAIL);

function onPath(name: string): string | undefined {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // The next folder.
    }
  }
  return undefined;
}

function removeLeftovers(): void {
  for (const name of readdirSync(tmpdir()).filter((n) => n.startsWith(PREFIX))) {
    const owner = join(tmpdir(), name, OWNER);
    if (!existsSync(owner)) continue;
    const pid = Number(readFileSync(owner, 'utf8'));
    if (pid > 0 && !existsSync(`/proc/${pid}`)) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
}
