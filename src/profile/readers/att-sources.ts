// Source lines of a thread trace from the copies that rocprofv3 puts into its folder: `snapshots.json` is a tree of folder names with
// the names of the copies as leaves. Source: rocprofiler-sdk source/lib/att-tool/code.cpp.
import { WavesmithError } from '../../base/index.ts';
import type { Recording } from '../recording.ts';
import type { TraceLine } from '../records.ts';
import { baseName, type ProfileFile, readWhole } from '../source.ts';

const MAX_TREE = 4 << 20;
const MAX_SOURCE = 8 << 20;
const MAX_SOURCES = 500;
const MAX_LINE = 300;
const MAX_DEPTH = 100;

/** Path in the program's tree → name of its copy. */
function copies(tree: unknown): Map<string, string> {
  const found = new Map<string, string>();
  const walk = (node: unknown, path: string, depth: number): void => {
    if (typeof node === 'string') found.set(path, node);
    else if (typeof node === 'object' && node !== null && depth < MAX_DEPTH && found.size < MAX_SOURCES) {
      for (const [name, child] of Object.entries(node)) {
        walk(child, path === '' || path.endsWith('/') ? `${path}${name}` : `${path}/${name}`, depth + 1);
      }
    }
  };
  walk(tree, '', 0);
  return found;
}

/** `a//b/../c` and `a/c` are one file. */
function normalised(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}

/** The lines with the text of their source line, where a copy is there. */
export function readSourceCopies(lines: TraceLine[], files: readonly ProfileFile[], recording: Recording): TraceLine[] {
  const index = files.find((file) => baseName(file.path) === 'snapshots.json');
  if (index === undefined) return lines;
  const read = (file: ProfileFile, limit: number): string =>
    new TextDecoder().decode(file.open((source) => readWhole(source, limit)));
  let tree: unknown;
  try {
    tree = JSON.parse(read(index, MAX_TREE));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    recording.report('att/bad-snapshots', index.path, `The list of source copies cannot be read: ${why}.`);
    return lines;
  }
  const names = new Map([...copies(tree)].map(([path, name]) => [normalised(path), name]));
  const texts = new Map<string, readonly string[]>();
  const textOf = (path: string): readonly string[] => {
    let text = texts.get(path);
    if (text !== undefined) return text;
    const name = names.get(path);
    const file = name === undefined ? undefined : files.find((one) => baseName(one.path) === name);
    try {
      text = file === undefined ? [] : read(file, MAX_SOURCE).split('\n');
    } catch (error) {
      if (!(error instanceof WavesmithError)) throw error;
      recording.report('profile/bad-source', file?.path ?? index.path, `${error.message} (${error.code})`);
      text = [];
    }
    texts.set(path, text);
    return text;
  };
  return lines.map((line) => {
    const at = /^(.+?):(\d+)(?: |$)/.exec(line.source);
    if (at === null) return line;
    const text = textOf(normalised(at[1]))[Number(at[2]) - 1];
    return text === undefined ? line : { ...line, sourceText: text.trim().slice(0, MAX_LINE) };
  });
}
