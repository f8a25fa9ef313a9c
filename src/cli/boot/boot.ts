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
  restoreV8Flags(): void;
}

/** The modules of dist/ by their name below it, without extension: `cli`, `chunks/…`. */
class Modules {
  private readonly folder: string;
  private readonly cache: CodeCache;
  private readonly loaded = new Map<string, unknown>();

  constructor(folder: string, cache: CodeCache) {
    this.folder = folder;
    this.cache = cache;
  }

  /** The exports of a module, which runs the first time it is asked for. `source` is its text, where it was read already. */
  load(name: string, source = this.read(name)): unknown {
    if (this.loaded.has(name)) return this.loaded.get(name);
    // Stack traces name the module that the script was made from: it has the same lines and a source map.
    const filename = join(this.folder, `${name}.js`);
    const script = new Script(`(function (require, module, __filename) { ${source}\n})`, {
      filename,
      cachedData: this.cache.get(name),
    });
    this.cache.add(name, script);
    const module = { exports: {} };
    const ofNode = createRequire(filename);
    const require = (id: string): unknown => (id.startsWith('dist:') ? this.load(id.slice(5)) : ofNode(id));
    script.runInThisContext()(require, module, filename);
    this.loaded.set(name, module.exports);
    return module.exports;
  }

  /** All of them are ASCII, which is read faster than UTF-8. */
  read(name: string): string {
    return readFileSync(join(this.folder, `${name}.cjs`), 'latin1');
  }
}

/** Runs a command line with the modules of the folder `dist`; returns the exit code. */
export async function start(dist: string, argv: string[]): Promise<number> {
  const entry = readFileSync(join(dist, 'cli.cjs'), 'latin1');
  // Its first line is a comment with the digest of all modules.
  const build = entry.slice(2, entry.indexOf('\n')).trim();
  const cache = new CodeCache(codeCacheFolder(), build, argv[0] ?? '');
  const { main, restoreV8Flags } = new Modules(dist, cache).load('cli', entry) as Cli;
  process.once('exit', (code) => {
    // 0 and 1 are the codes of a command that exists and did its work.
    if (code > 1 || !cache.isWorthWriting) return;
    restoreV8Flags();
    cache.write();
  });
  return main(argv);
}
