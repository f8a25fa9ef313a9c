// V8's compiled code of the built modules on disk: one file for each command, with the functions that the command used.
// It only saves time. A file that is damaged, unreadable, or of another build, Node or processor is not used, and where the
// folder cannot be written nothing is kept. NODE_DISABLE_COMPILE_CACHE=1 turns it off, as it does Node's own.
//
// A file: the sum of all words behind it, the length of the header, the header (JSON), the data, each at a multiple of 8.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Script } from 'node:vm';

/** Runs that write the file anew: another run of the same command may have used more functions. */
const LEARNING_RUNS = 3;
/** Builds whose folders are kept. */
const KEPT_BUILDS = 4;
const PREFIX_BYTES = 8;

interface Header {
  /** Runs that have written the file. */
  readonly runs: number;
  /** Names of the modules and the bytes of their data, in the order of the data. */
  readonly scripts: readonly (readonly [string, number])[];
}

/** The folder of the caches of all builds: in `$WAVESMITH_CACHE`, else in the XDG cache folder; undefined when turned off. */
export function codeCacheFolder(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  if (environment.NODE_DISABLE_COMPILE_CACHE) return undefined;
  const base =
    environment.WAVESMITH_CACHE || join(environment.XDG_CACHE_HOME || join(homedir(), '.cache'), 'wavesmith');
  return join(base, 'code');
}

function aligned(size: number): number {
  return (size + 7) & ~7;
}

/** A sum that depends on the place of each word. V8 itself does not look whether data is damaged, and ends the process. */
function sumOf(bytes: Uint8Array): number {
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + 4, (bytes.length - 4) >> 2);
  let sum = 0;
  for (let i = 0; i < words.length; i++) sum = (Math.imul(sum, 31) + (words[i] as number)) | 0;
  return sum;
}

/** The compiled code of one command of one build. */
export class CodeCache {
  private readonly folder: string | undefined;
  private readonly builds: string | undefined;
  private readonly command: string;
  private readonly data = new Map<string, Uint8Array>();
  private readonly scripts = new Map<string, Script>();
  private runs = 0;
  private isComplete = true;

  /** `builds` is the folder of all builds; undefined keeps nothing. */
  constructor(builds: string | undefined, build: string, command: string) {
    this.command = command;
    this.builds = /^[a-z]+$/.test(command) ? builds : undefined;
    if (this.builds === undefined) return;
    this.folder = join(this.builds, `${build}-${process.version}-${process.arch}`);
    this.read(join(this.folder, command));
  }

  private read(path: string): void {
    let file: Uint8Array;
    try {
      file = readFileSync(path);
    } catch {
      return;
    }
    if (file.length < PREFIX_BYTES || file.length % 8 !== 0 || file.byteOffset % 8 !== 0) return;
    const [sum, headerLength] = new Int32Array(file.buffer, file.byteOffset, 2);
    if (sum !== sumOf(file)) return;
    const header: Header = JSON.parse(Buffer.from(file.buffer, file.byteOffset + 8, headerLength).toString());
    this.runs = header.runs;
    let at = aligned(PREFIX_BYTES + (headerLength as number));
    for (const [name, size] of header.scripts) {
      this.data.set(name, file.subarray(at, at + size));
      at += aligned(size);
    }
  }

  /** The data of a module; undefined when there is none. */
  get(name: string): Buffer | undefined {
    const data = this.data.get(name);
    return data === undefined ? undefined : Buffer.from(data.buffer, data.byteOffset, data.length);
  }

  /** Notes a module that this run has loaded. */
  add(name: string, script: Script): void {
    this.scripts.set(name, script);
    if (script.cachedDataRejected !== false) this.isComplete = false;
  }

  /** Whether this run knows more than the file. */
  get isWorthWriting(): boolean {
    return this.folder !== undefined && (!this.isComplete || this.runs < LEARNING_RUNS);
  }

  /** Writes what V8 has compiled, and what the file had of modules that this run did not load. */
  write(): void {
    if (this.folder === undefined || this.builds === undefined) return;
    const data = new Map(this.data);
    for (const [name, script] of this.scripts) data.set(name, script.createCachedData());
    const header: Header = { runs: this.runs + 1, scripts: [...data].map(([name, { length }]) => [name, length]) };
    const headerBytes = Buffer.from(JSON.stringify(header));
    let at = aligned(PREFIX_BYTES + headerBytes.length);
    const file = new Uint8Array([...data.values()].reduce((size, { length }) => size + aligned(length), at));
    file.set(headerBytes, PREFIX_BYTES);
    for (const bytes of data.values()) {
      file.set(bytes, at);
      at += aligned(bytes.length);
    }
    const prefix = new Int32Array(file.buffer, 0, 2);
    prefix[1] = headerBytes.length;
    prefix[0] = sumOf(file);
    const path = join(this.folder, this.command);
    let isUnfinished = false;
    const unfinished = `${path}.${process.pid}.tmp`;
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 });
      isUnfinished = true;
      writeFileSync(unfinished, file, { mode: 0o600, flag: 'wx' });
      renameSync(unfinished, path);
      isUnfinished = false;
      if (this.runs === 0) removeOldBuilds(this.builds);
    } catch {
      // The folder cannot be made, is full or read-only: nothing is kept.
      if (isUnfinished) rmSync(unfinished, { force: true });
    }
  }
}

/** Removes the folders of all builds but the latest. */
function removeOldBuilds(builds: string): void {
  const folders = readdirSync(builds).map((name) => join(builds, name));
  const time = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const old = folders.map((path) => ({ path, time: time(path) })).sort((a, b) => b.time - a.time);
  for (const { path } of old.slice(KEPT_BUILDS)) rmSync(path, { recursive: true, force: true });
}
