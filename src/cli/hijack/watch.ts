// `wavesmith hijack watch DIR`: on each save of the assembly build, check, run and compare, as `hijack build` and `hijack run` do.
import { existsSync, type FSWatcher, readdirSync, readFileSync, statSync, watch } from 'node:fs';
import { basename, join } from 'node:path';
import { WavesmithError } from '../../base/index.ts';
import { isCapturedFolder } from '../../iree/captured.ts';
import { readRawManifest } from '../../iree/manifest.ts';
import { run as buildFolder } from './build.ts';
import { run as runFolder } from './run.ts';

const USAGE = `Usage: wavesmith hijack watch DIR [OPTIONS]

Build, check, run and compare on each save of a file in DIR/asm, and once at the start. Ctrl-C ends it.

OPTIONS are those of 'wavesmith hijack run': --function, --input, --parameters, --dispatch, … ('wavesmith hijack run --help').
`;

/** Editors write a file in several steps; this long after the last one it is read. */
const SETTLE_MS = 60;

/** Names that editors give to files of their own: swap and backup files, locks, what is to take the name of the file when it is whole. */
const EDITORS_OWN = /^(?:[.#]|4913$)|(?:~|\.tmp|\.bak)$/;

/** Runs until it is interrupted; exit code 0. */
export async function run(argv: string[]): Promise<number> {
  const [folder, ...options] = argv;
  if (folder === '--help' || folder === '-h') {
    process.stdout.write(USAGE);
    return 0;
  }
  if (folder === undefined || folder.startsWith('-')) {
    throw new WavesmithError('cli/usage', 'hijack watch needs a folder first.', {
      hint: "'wavesmith hijack watch --help' shows the usage.",
    });
  }
  if (!isCapturedFolder(folder)) readRawManifest(folder);
  const saves = new Saves(join(folder, 'asm'));
  try {
    for (;;) {
      await cycle(folder, options);
      if (!(await saves.next())) return 0;
    }
  } finally {
    saves.close();
  }
}

async function cycle(folder: string, options: readonly string[]): Promise<void> {
  const started = performance.now();
  let status = 1;
  let state: string | undefined;
  try {
    status = await buildFolder([folder]);
    if (isUnedited(folder)) state = 'nothing is edited,';
    else if (status === 0) status = await runFolder([folder, ...options]);
  } catch (error) {
    // What stops a build or a run is a message; the next save may mend it. A wrong option is not mended by a save.
    if (!(error instanceof WavesmithError) || error.code.startsWith('cli/')) throw error;
    process.stdout.write(`${error.format()}\n`);
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(2);
  const clock = new Date().toLocaleTimeString('en-GB');
  state ??= status === 0 ? 'ok' : 'not ok';
  process.stdout.write(`── ${state} in ${seconds} s at ${clock}; waiting for the next save\n`);
}

/** Whether every text is as init made it. */
function isUnedited(folder: string): boolean {
  const [asm, baseline] = [join(folder, 'asm'), join(folder, 'baseline')];
  const filesOf = (path: string): string[] =>
    existsSync(path)
      ? readdirSync(path, { recursive: true, encoding: 'utf8' })
          .filter((name) => !EDITORS_OWN.test(basename(name)) && statSync(join(path, name)).isFile())
          .sort()
      : [];
  const names = filesOf(asm);
  return (
    names.length > 0 &&
    names.join('\n') === filesOf(baseline).join('\n') &&
    names.every((name) => readFileSync(join(asm, name)).equals(readFileSync(join(baseline, name))))
  );
}

/** Saves of files in a folder and below it, and the interrupt that ends the waiting. */
class Saves {
  private readonly watchers: readonly FSWatcher[];
  private readonly onInterrupt = (): void => this.end();
  private isChanged = false;
  private isOver = false;
  private wake: () => void = () => {};
  private timer: NodeJS.Timeout | undefined;

  constructor(folder: string) {
    const below = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    // Folders are watched, not files: editors replace a file, and a watch of the file would stay with the old one.
    this.watchers = [folder, ...below.map((entry) => join(folder, entry.name))].map((path) => {
      const watcher = watch(path, (_, name) => {
        if (name === null || !EDITORS_OWN.test(name)) this.noteChange();
      });
      watcher.on('error', () => this.end());
      return watcher;
    });
    process.on('SIGINT', this.onInterrupt);
    process.on('SIGTERM', this.onInterrupt);
  }

  private noteChange(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.isChanged = true;
      this.wake();
    }, SETTLE_MS);
  }

  /** Waits for a save since the last call; false when it is over. */
  async next(): Promise<boolean> {
    while (!this.isChanged && !this.isOver) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    this.isChanged = false;
    return !this.isOver;
  }

  private end(): void {
    this.isOver = true;
    this.wake();
  }

  close(): void {
    clearTimeout(this.timer);
    for (const watcher of this.watchers) watcher.close();
    process.off('SIGINT', this.onInterrupt);
    process.off('SIGTERM', this.onInterrupt);
  }
}
