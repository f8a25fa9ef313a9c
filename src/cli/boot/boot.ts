// Room `cli/boot`: how the built command line gets into memory, and its threads. Begin with this file; modules.ts runs what is built,
// code-cache.ts is what it remembers, sim-thread.ts is how a thread of the virtual GPU begins.
//
// Half of what a short command costs is V8 compiling Wavesmith. The built modules are therefore run as scripts, whose
// compiled code can be kept from one run to the next; Node 20 keeps none of its own. scripts/commonjs.mjs writes them.
import { CodeCache, codeCacheFolder } from './code-cache.ts';
import { entryScript, Modules } from './modules.ts';

/** What dist/cli.cjs exports. */
interface Cli {
  main(argv: string[]): Promise<number>;
  withOwnFlags<T>(work: () => T): T;
  isShortCommand(): boolean;
  isAllWritten(): boolean;
}

/** Runs a command line with the modules of the folder `dist`; returns the exit code. */
export async function start(dist: string, argv: string[]): Promise<number> {
  const { source, build } = entryScript(dist, 'cli');
  const cache = new CodeCache(codeCacheFolder(), build, argv[0] ?? '');
  const modules = new Modules(dist, cache);
  const { main, withOwnFlags, isShortCommand, isAllWritten } = modules.load('cli', source) as Cli;
  modules.compile = withOwnFlags;
  process.once('exit', (code) => {
    // 0 and 1 are the codes of a command that exists and did its work.
    if (code > 1 || !cache.isWorthWriting) return;
    withOwnFlags(() => cache.write());
  });
  const code = await main(argv);
  // Taking the heap apart at the end of a process takes 4 ms, which short commands leave out.
  if (isShortCommand() && isAllWritten()) process.exit(code);
  return code;
}
