// The built modules of dist/ as scripts, by their name below it, without extension: `cli`, `chunks/…`.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Script } from 'node:vm';
import type { CodeCache } from './code-cache.ts';

type Require = (id: string) => unknown;

/** A script whose first line ends with a comment with the digest of all modules. */
export function entryScript(dist: string, name: string): { readonly source: string; readonly build: string } {
  const source = readFileSync(join(dist, `${name}.cjs`), 'latin1');
  return { source, build: source.slice(source.indexOf('//') + 2, source.indexOf('\n')).trim() };
}

export class Modules {
  /** Commands change flags of V8 and load more modules later, whose compiled code is of V8's own flags as well. */
  compile: <T>(work: () => T) => T = (work) => work();
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
  private read(file: string): string {
    return readFileSync(join(this.folder, file), 'latin1');
  }
}
