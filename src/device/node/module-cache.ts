// Modules of the virtual GPU's compiler on disk: one file per module, named by the hash of what it was written from. Writers of several
// processes rename finished files into place; damaged files are removed; the oldest go when there are too many bytes.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ModuleCache } from '../sim/state/module-cache.ts';

const MAX_BYTES = 2 ** 28;
/** Left after the oldest have gone. */
const KEEP_BYTES = 0.8 * MAX_BYTES;
/** Modules written between two looks at the folder's size. */
const LOOK_EVERY = 64;
/** Age, ms, from which use is noted again, and from which an unfinished file is nobody's. */
const HOUR_MS = 3_600_000;
const SUM_BYTES = 32;

const NAME = /^[0-9a-f]{64}$/;

/** `$WAVESMITH_CACHE`, else the XDG cache folder. */
export function moduleCacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const own = environment.WAVESMITH_CACHE;
  const base = own || join(environment.XDG_CACHE_HOME || join(homedir(), '.cache'), 'wavesmith');
  return join(base, 'sim-modules');
}

const sum = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

function removeIfThere(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Its folder is none, or cannot be changed.
  }
}

interface CacheFile {
  readonly path: string;
  readonly size: number;
  readonly time: number;
  readonly isModule: boolean;
}

function filesOf(folder: string): CacheFile[] {
  let names: string[] = [];
  try {
    names = readdirSync(folder);
  } catch {
    return [];
  }
  return names.flatMap((name): CacheFile[] => {
    const path = join(folder, name);
    // Another process may have removed it meanwhile.
    const facts = statSync(path, { throwIfNoEntry: false });
    return facts?.isFile() ? [{ path, size: facts.size, time: facts.mtimeMs, isModule: NAME.test(name) }] : [];
  });
}

export interface ModuleCacheFacts {
  readonly folder: string;
  readonly modules: number;
  readonly bytes: number;
  readonly maxBytes: number;
}

/** What the cache holds. */
export function moduleCacheFacts(folder = moduleCacheFolder()): ModuleCacheFacts {
  const files = filesOf(folder).filter((f) => f.isModule);
  const bytes = files.reduce((total, f) => total + f.size, 0);
  return { folder, modules: files.length, bytes, maxBytes: MAX_BYTES };
}

/** Removes everything in the cache. */
export function clearModuleCache(folder = moduleCacheFolder()): void {
  for (const { path } of filesOf(folder)) rmSync(path, { force: true });
}

/**
 * A cache for modules that one build of the compiler has written. It only saves time: when the folder cannot be read or written,
 * modules are written anew.
 */
export class DiskModuleCache implements ModuleCache {
  private readonly build: string;
  private readonly folder: string;
  private readonly maxBytes: number;
  private writes = 0;

  constructor(build: string, folder = moduleCacheFolder(), maxBytes = MAX_BYTES) {
    this.build = build;
    this.folder = folder;
    this.maxBytes = maxBytes;
  }

  private pathOf(key: Uint8Array): string {
    return join(this.folder, createHash('sha256').update(`${this.build}\n`).update(key).digest('hex'));
  }

  get(key: Uint8Array): Uint8Array | undefined {
    const path = this.pathOf(key);
    let file: Buffer;
    try {
      file = readFileSync(path);
    } catch {
      return undefined;
    }
    const bytes = file.subarray(SUM_BYTES);
    try {
      if (file.length < SUM_BYTES || !sum(bytes).equals(file.subarray(0, SUM_BYTES))) {
        rmSync(path, { force: true });
        return undefined;
      }
      const now = Date.now();
      if (now - statSync(path).mtimeMs > HOUR_MS) utimesSync(path, now / 1000, now / 1000);
    } catch {
      // A read-only folder, or a file that another process has just removed: what was read is good.
    }
    return bytes;
  }

  put(key: Uint8Array, bytes: Uint8Array): void {
    const path = this.pathOf(key);
    const unfinished = `${path}.${process.pid}.${this.writes}.tmp`;
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 });
      writeFileSync(unfinished, Buffer.concat([sum(bytes), bytes]), { mode: 0o600, flag: 'wx' });
      renameSync(unfinished, path);
      if (this.writes++ % LOOK_EVERY === 0) this.trim();
    } catch {
      removeIfThere(unfinished);
    }
  }

  private trim(): void {
    const files = filesOf(this.folder);
    const now = Date.now();
    for (const f of files) if (!f.isModule && now - f.time > HOUR_MS) rmSync(f.path, { force: true });
    const modules = files.filter((f) => f.isModule).sort((a, b) => a.time - b.time);
    let bytes = modules.reduce((total, f) => total + f.size, 0);
    if (bytes <= this.maxBytes) return;
    for (const f of modules) {
      if (bytes <= (KEEP_BYTES / MAX_BYTES) * this.maxBytes) return;
      rmSync(f.path, { force: true });
      bytes -= f.size;
    }
  }
}
