// What every command shares: a commander command with uniform usage errors, and output helpers.
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { Command, CommanderError } from 'commander';
import { TextOutput, WavesmithError } from '../base/index.ts';
import { makeFolders } from '../snapshot/folders.ts';
import { OutputPlace } from '../snapshot/output-place.ts';
import { readWholeFile } from '../snapshot/whole-file.ts';
import { isStdoutFile, writeStdoutFile } from './stdout.ts';

/** A commander command that never exits the process: usage errors become `cli/usage`, `--help` ends the run. */
export function newCommand(name: string, description: string): Command {
  return new Command(`wavesmith ${name}`)
    .description(description)
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .showHelpAfterError(false);
}

/** Parses `argv`; returns false when help was printed and the command is done. */
export function parseArguments(command: Command, argv: string[]): boolean {
  try {
    command.parse(argv, { from: 'user' });
    return true;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.helpDisplayed' || error.code === 'commander.version') return false;
    throw new WavesmithError('cli/usage', sentence(error.message), {
      hint: `'${command.name()} --help' shows the usage.`,
    });
  }
}

function sentence(message: string): string {
  const text = message.replace(/^error: /, '');
  return text.endsWith('.') ? text : `${text}.`;
}

/**
 * Prints JSON as `--json` does: two-space indent; bigints as numbers when safe, else as hex strings; NaN and infinities as strings,
 * since JSON has no number for them.
 */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, jsonValue, 2)}\n`);
}

/** How `--json` writes values that JSON has not: whole numbers of any size, NaN and infinities. */
export function jsonValue(_key: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (typeof value !== 'bigint') return value;
  if (BigInt(Number(value)) === value && Number.isSafeInteger(Number(value))) return Number(value);
  return value < 0n ? `-0x${(-value).toString(16)}` : `0x${value.toString(16)}`;
}

/** Reads a whole input file, or `-` for standard input; a missing or unreadable file, or one that does not end, is `io/read`. */
export function readInput(path: string): Uint8Array {
  try {
    return readWholeFile(path === '-' ? 0 : path);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'no such file' : (error as Error).message;
    throw new WavesmithError('io/read', `Cannot read '${path}': ${reason}.`, { file: path, hint: 'Check the path.' });
  }
}

/** Makes an output folder, and those above it. */
export function makeFolder(path: string): void {
  try {
    makeFolders(path);
  } catch (error) {
    throw new WavesmithError('io/write', `Cannot make the folder '${path}': ${(error as Error).message}.`, {
      file: path,
    });
  }
}

/** Writes a whole output file through a temporary name in the same folder, so a failure leaves nothing half-written. */
export function writeOutput(path: string, bytes: Uint8Array | string): void {
  let place: OutputPlace | undefined;
  try {
    makeFolders(dirname(path));
    place = new OutputPlace(path);
    writeFileSync(place.temporary, bytes);
    place.finish();
  } catch (error) {
    place?.discard();
    throw new WavesmithError('io/write', `Cannot write '${path}': ${(error as Error).message}.`, { file: path });
  }
}

/**
 * Writes a text while `work` makes it: to standard output, or to a file that gets its name when the text is complete. An
 * error of `work` leaves no file.
 */
export function writeText(path: string | undefined, work: (out: TextOutput) => void): void {
  if (path === undefined) {
    const out = new TextOutput(isStdoutFile() ? writeStdoutFile : (chunk) => process.stdout.write(Buffer.from(chunk)));
    work(out);
    out.finish();
    return;
  }
  let file: number | undefined;
  let place: OutputPlace | undefined;
  const writing = <T>(step: () => T): T => {
    try {
      return step();
    } catch (error) {
      throw new WavesmithError('io/write', `Cannot write '${path}': ${(error as Error).message}.`, { file: path });
    }
  };
  try {
    writing(() => makeFolders(dirname(path)));
    const own = writing(() => new OutputPlace(path));
    place = own;
    const opened = writing(() => openSync(own.temporary, 'w'));
    file = opened;
    const out = new TextOutput((chunk) => {
      for (let at = 0; at < chunk.length; ) at += writing(() => writeSync(opened, chunk, at));
    });
    work(out);
    out.finish();
    file = undefined;
    writing(() => closeSync(opened));
    writing(() => own.finish());
  } catch (error) {
    if (file !== undefined) closeSync(file);
    place?.discard();
    throw error;
  }
}

/** The value of `--mfma`. */
export function parseMatrixMode(text: string): 'exact' | 'fast' {
  if (text === 'exact' || text === 'fast') return text;
  throw new WavesmithError('cli/usage', `--mfma is exact or fast, not '${text}'.`);
}

/** A command of commands: its help, and the modules that do the work. */
export interface SubcommandGroup {
  readonly name: string;
  readonly help: () => string;
  readonly subcommands: Readonly<
    Record<string, { readonly load: () => Promise<{ run(argv: string[]): Promise<number> }> }>
  >;
}

/** Runs the subcommand that `argv` begins with; an unknown one is `cli/usage` naming those that exist. */
export async function runSubcommand(group: SubcommandGroup, argv: string[]): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    (name === undefined ? process.stderr : process.stdout).write(group.help());
    return name === undefined ? 2 : 0;
  }
  const entry = Object.hasOwn(group.subcommands, name) ? group.subcommands[name] : undefined;
  if (entry === undefined) {
    throw new WavesmithError('cli/usage', `${group.name} has no subcommand '${name}'.`, {
      hint: `There are ${Object.keys(group.subcommands).join(', ')}.`,
    });
  }
  return (await entry.load()).run(rest);
}
