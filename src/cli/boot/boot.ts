// Room `cli/boot`: how the built command line gets into memory. Begin with this file; code-cache.ts is what it remembers.
//
// Half of what a short command costs is V8 compiling Wavesmith. The built modules are therefore run as scripts, whose
// compiled code can be kept from one run to the next; Node 20 keeps none of its own. scripts/commonjs.mjs writes them.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { CodeCache, codeCacheFolder } from './code-cache.ts';

/** What dist/cli.cjs exports. */
interface Cli {
  main(argv: string[]): Promise<number>;
  withOwnFlags<T>(work: () => T): T;
  isShortCommand(): boolean;
  isAllWritten(): boolean;
}

type Require = (id: string) => unknown;

/** The modules of dist/ by their name below it, without extension: `cli`, `chunks/…`. */
class Modules {
  /** Commands change flags of V8 and load more modules later, whose compiled code is of V8's own flags as well. */
  compile: Cli['withOwnFlags'] = (work) => work();
  private readonly folder: string;
  private readonly cache: CodeCache;
  private readonly loaded = new Map<string, unknown>();
  private readonly require: Require;

  constructor(folder: string, cache: CodeCache) {
    this.folder = folder;
    this.cache = cache;
    const ofNode = createRequire(join(folder, 'cli.js'));
    this.require = (id) => {
      if (id.startsWith('dist:')) return this.load(id.slice(5));
      return id.startsWith('text:') ? this.read(`${id.slice(5)}.txt`) : ofNode(id);
    };
  }

  /** The exports of a module, which runs the first time it is asked for. `source` is its text, where it was read already. */
  load(name: string, source = this.read(`${name}.cjs`)): unknown {
    if (this.loaded.has(name)) return this.loaded.get(name);
    // Stack traces name the module that the script was made from: it has the same lines and a source map.
    const filename = join(this.folder, `${name}.js`);
    const script = this.compile(() => new Script(source, { filename, cachedData: this.cache.get(name) }));
    this.cache.add(name, script);
    const module = { exports: {} };
    script.runInThisContext()(this.require, module, filename);
    this.loaded.set(name, module.exports);
    return module.exports;
  }

  /** All of them are ASCII, which is read faster than UTF-8. */
  read(file: string): string {
    return readFileSync(join(this.folder, file), 'latin1');
  }
}

/** Runs a command line with the modules of the folder `dist`; returns the exit code. */
export async function start(dist: string, argv: string[]): Promise<number> {
  const entry = readFileSync(join(dist, 'cli.cjs'), 'latin1');
  // Its first line ends with a comment with the digest of all modules.
  const build = entry.slice(entry.indexOf('//') + 2, entry.indexOf('\n')).trim();
  const cache = new CodeCache(codeCacheFolder(), build, argv[0] ?? '');
  const modules = new Modules(dist, cache);
  const { main, withOwnFlags, isShortCommand, isAllWritten } = modules.load('cli', entry) as Cli;
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
