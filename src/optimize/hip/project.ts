// Room `optimize/hip`: kernels in the sources of a HIP program. Begin with this file: a copy of the project, which is built and run; the user's own
// folder is read and never written. Then guard.ts (what a change of the source must leave as it was) and hip-workshop.ts (the work of a model).
import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { delimiter, isAbsolute, join, relative, resolve } from 'node:path';
import { WavesmithError } from '../../base/index.ts';
import { type CommandPlace, type CommandResult, type ProgramRun, recordProgram, runCommand } from '../command.ts';
import { newScratch } from '../scratch.ts';
import { copyTree } from './copy-tree.ts';

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

/** How a compiler was called. */
export interface CompilerCall {
  readonly folder: string;
  readonly program: string;
  readonly args: readonly string[];
}

const COMPILERS = ['hipcc', 'amdclang++', 'clang++', 'clang++-22', 'clang', 'clang-22'];

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
    const scratch = newScratch();
    const project = new Project(options, scratch, source);
    try {
      for (const built of copyTree(folder, project.tree)) project.leaveOut(built);
    } catch (error) {
      project.close();
      throw error;
    }
    project.makeShims();
    return project;
  }

  private leaveOut(built: string): void {
    if (built === '') {
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
  capture(kernel: string, dispatches: string): Promise<ProgramRun> {
    const { wavesmith, device, run } = this.options;
    const file = join(this.scratch, `run${this.runs++}.wscap`);
    const program = ['sh', '-c', run];
    return recordProgram({ wavesmith, device, program, file, dispatches, flags: ['--kernel', kernel] }, this.place());
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
    return runCommand(argv, this.place(folder));
  }

  private place(folder = this.tree): CommandPlace {
    const { timeout, signal } = this.options;
    const env = {
      ...process.env,
      // The copy of a worktree or submodule has the repository of the user, which no command shall write.
      GIT_OPTIONAL_LOCKS: '0',
      PATH: `${join(this.scratch, 'bin')}${delimiter}${process.env.PATH ?? ''}`,
    };
    return { folder, timeout, env, signal };
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
