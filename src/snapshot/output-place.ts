// Where an output file is written first, and how it gets its name: regular files appear whole or not at all; devices and pipes are
// written where they are.

import { lstatSync, readlinkSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** A file that is being written. */
export class OutputPlace {
  /** The path to write to. */
  readonly temporary: string;
  private readonly path: string;

  /**
   * `path` as the user gave it. What is there already decides: a device, a pipe or a socket (`/dev/null`, `/dev/stdout`) is written in
   * place, for a rename would put a file where it was; behind a symbolic link the file that it names is replaced or made, and the link stays.
   */
  constructor(path: string) {
    const stat = statSync(path, { throwIfNoEntry: false });
    const isInPlace = stat !== undefined && !stat.isFile() && !stat.isDirectory();
    this.path = isInPlace ? path : behindLinks(path);
    this.temporary = isInPlace ? path : `${this.path}.tmp-${process.pid}`;
  }

  /** What is written is complete: it gets its name. */
  finish(): void {
    if (this.temporary !== this.path) renameSync(this.temporary, this.path);
  }

  /** Removes what a failed write left; where there was no folder to write to, nothing is left. */
  discard(): void {
    if (this.temporary === this.path) return;
    try {
      rmSync(this.temporary, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTDIR') throw error;
    }
  }
}

/** What a path names when symbolic links are followed, be it there or not; circles of them do not come here. */
function behindLinks(path: string): string {
  let at = path;
  while (lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink()) at = resolve(dirname(at), readlinkSync(at));
  return at;
}
