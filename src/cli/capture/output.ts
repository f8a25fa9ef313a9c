// Options of commands that write a capture again.
import { statSync } from 'node:fs';
import type { Command } from 'commander';
import type { WriteOptions } from '../../snapshot/index.ts';

export interface OutputOptions {
  output?: string;
  zip?: boolean;
  force?: boolean;
}

/** Adds the flags. */
export function addOutputOptions(command: Command, what: string): void {
  command
    .option('-o, --output <file.wscap>', `where to write (${what})`)
    .option('--zip', 'one ZIP file (also when the name ends in .zip)')
    .option('--force', 'replace a capture of that name');
}

/** How to write: in the place of `source` it replaces it, in the same form. */
export function writeOptionsOf({ output, zip, force }: OutputOptions, source: string): WriteOptions {
  if (output === undefined) return { replace: true, zip: zip ?? statSync(source).isFile() };
  return { replace: force === true, zip: zip === true || output.endsWith('.zip') };
}
