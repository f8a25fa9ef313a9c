// Errors that no code expected: one message that says whose fault it is, what to report, and where in the sources it happened.
import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };

/** Exit code of a defect, as EX_SOFTWARE of sysexits(3) and as compilers use it. */
export const INTERNAL_ERROR = 70;

/** What a report needs. JSON-able. */
export interface InternalError {
  readonly error: 'internal';
  readonly message: string;
  readonly version: string;
  readonly node: string;
  readonly platform: string;
  /** Frames with the place in the project's sources, where a source map tells it. */
  readonly stack: readonly string[];
}

/** Describes an unexpected exception. */
export function internalError(thrown: unknown): InternalError {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const maps = new Map<string, SourceMap | undefined>();
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return {
    error: 'internal',
    message: `${error.name}: ${error.message}`,
    version: manifest.version,
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    stack: frames.map((frame) => mappedFrame(frame.trim(), maps)),
  };
}

/** The description as text. */
export function internalErrorText({ message, version, node, platform, stack }: InternalError): string {
  return [
    `internal error: ${message}`,
    '  This is a defect of Wavesmith. Please report it, with the command, its input and the lines below:',
    `  ${manifest.bugs.url}`,
    `  wavesmith ${version}, node ${node}, ${platform}`,
    ...stack.map((frame) => `    ${frame}`),
    '',
  ].join('\n');
}

/** A frame of V8's with the file, line and column of the sources in the place of those of the bundle. */
function mappedFrame(frame: string, maps: Map<string, SourceMap | undefined>): string {
  const match = /(?:file:\/\/)?(\/[^():]+):(\d+):(\d+)/.exec(frame);
  if (match === null) return frame;
  const [whole, path = '', line, column] = match;
  const file = whole.startsWith('file://') ? fileURLToPath(`file://${path}`) : path;
  if (!maps.has(file)) maps.set(file, sourceMapOf(file));
  const entry = maps.get(file)?.findEntry(Number(line) - 1, Number(column) - 1);
  if (entry === undefined || !('originalSource' in entry)) return frame;
  const source = resolve(dirname(file), entry.originalSource);
  const place = `${relative(packageFolder(file), source)}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  return frame.replace(whole, place);
}

/** The map that esbuild writes beside a bundle. A damaged one must not hide the error that is being reported. */
function sourceMapOf(file: string): SourceMap | undefined {
  if (!existsSync(`${file}.map`)) return undefined;
  try {
    return new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** The folder above `dist/`. */
function packageFolder(file: string): string {
  const at = file.lastIndexOf('/dist/');
  return at < 0 ? dirname(file) : file.slice(0, at);
}
