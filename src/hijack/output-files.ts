// What a program writes, of two runs: its standard output and the files that a user names. Both runs begin with the same files.
import { existsSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readNpy } from '../device/npy.ts';
import { writeWhole } from '../iree/files.ts';
import { makeFolders } from '../snapshot/folders.ts';
import { type Comparison, compareElements } from '../verdict/index.ts';

/** A file that the program writes. */
export interface OutputFile {
  readonly path: string;
  /** What it holds; an `.npy` file says it itself, others are bytes. */
  readonly elementType?: string | undefined;
}

export interface OutputResult {
  /** `standard output`, or the path. */
  readonly name: string;
  /** Null when it cannot be compared: `problem` says why. */
  readonly comparison: Comparison | null;
  readonly problem: string | null;
}

type SideName = 'baseline' | 'modified';

/** Seconds since 1970 that a file which was there before gets, so that one which was not written is seen. */
const LONG_AGO = 1;

export class OutputFiles {
  private readonly files: readonly OutputFile[];
  private readonly save: string | undefined;
  /** Contents as they were found; null: there was no file. */
  private readonly found: (Uint8Array | null)[];
  private readonly results: Record<SideName, { files: (Uint8Array | null)[]; stdout: Uint8Array | undefined }>;

  constructor(files: readonly OutputFile[], save: string | undefined) {
    this.files = files;
    this.save = save;
    this.found = files.map(({ path }) => (existsSync(path) ? new Uint8Array(readFileSync(path)) : null));
    this.results = {
      baseline: { files: [], stdout: undefined },
      modified: { files: [], stdout: undefined },
    };
    if (save !== undefined) makeFolders(save);
  }

  /** Puts the files into the state in which they were found. */
  beforeRun(): void {
    this.putBack();
    for (const { path } of this.files) if (existsSync(path)) utimesSync(path, LONG_AGO, LONG_AGO);
  }

  /** Leaves the files as they were found. */
  putBack(): void {
    for (const [i, { path }] of this.files.entries()) {
      const before = this.found[i] ?? null;
      if (before === null) rmSync(path, { force: true });
      else writeWhole(path, before);
    }
  }

  /** Takes what a run wrote. */
  afterRun(side: SideName, stdout: Uint8Array | undefined): void {
    const files = this.files.map(({ path }) => {
      if (!existsSync(path) || statSync(path).mtimeMs === LONG_AGO * 1000) return null;
      return new Uint8Array(readFileSync(path));
    });
    this.results[side] = { files, stdout };
    if (this.save === undefined) return;
    if (stdout !== undefined) writeWhole(join(this.save, `${side}-stdout.txt`), stdout);
    for (const [i, content] of files.entries()) {
      const name = `${side}-${basename(this.files[i]?.path ?? '')}`;
      if (content !== null) writeWhole(join(this.save, name), content);
    }
  }

  /** Compares both runs. A file that a run did not write is a problem. */
  compare(how: {
    readonly tolerance?: number | undefined;
    readonly changedShare?: number | undefined;
  }): OutputResult[] {
    const { baseline, modified } = this.results;
    const results = this.files.map((file, i): OutputResult => {
      const [a, b] = [baseline.files[i] ?? null, modified.files[i] ?? null];
      if (a === null || b === null) {
        const who = a === null ? 'The program' : 'The modified program';
        return { name: file.path, comparison: null, problem: `${who} did not write '${file.path}'` };
      }
      return { name: file.path, comparison: compareFile(file, a, b, how), problem: null };
    });
    if (baseline.stdout === undefined || modified.stdout === undefined) return results;
    const stdout = compareElements(baseline.stdout, modified.stdout, 'u8', { bitwise: true });
    return [{ name: 'standard output', comparison: stdout, problem: null }, ...results];
  }
}

function compareFile(
  { path, elementType }: OutputFile,
  a: Uint8Array,
  b: Uint8Array,
  how: { readonly tolerance?: number | undefined; readonly changedShare?: number | undefined },
): Comparison {
  if (elementType !== undefined) return compareElements(a, b, elementType, how);
  if (!path.endsWith('.npy')) return compareElements(a, b, 'u8', { bitwise: true });
  const [x, y] = [readNpy(a, path), readNpy(b, path)];
  // Another type or shape is another result, whatever the bytes are.
  if (x.type !== y.type || x.shape.join() !== y.shape.join()) return compareElements(a, b, 'u8', { bitwise: true });
  return compareElements(x.bytes, y.bytes, x.type, { ...how, shape: x.shape });
}
