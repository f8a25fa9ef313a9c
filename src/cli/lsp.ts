// `wavesmith lsp`: the language server on standard input and output.
import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createConnection } from 'vscode-languageserver/node';
import { serve } from '../lsp/index.ts';
import { rulePageFile } from './rule-pages.ts';
import { newCommand, parseArguments } from './support.ts';
import { version } from './version.ts';

/** The folder of a source; undefined when it is no file. */
function folderOf(uri: string): string | undefined {
  try {
    return dirname(fileURLToPath(uri));
  } catch {
    return undefined;
  }
}

/** Files that a source may include have to be this small. */
const MAX_INCLUDE_BYTES = 1 << 26;

/** A file beside a source; undefined when it cannot be read. */
function readBeside(uri: string, name: string): Uint8Array | undefined {
  const folder = folderOf(uri);
  if (folder === undefined) return undefined;
  const path = resolve(folder, name);
  try {
    const found = statSync(path);
    return found.isFile() && found.size <= MAX_INCLUDE_BYTES ? readFileSync(path) : undefined;
  } catch {
    return undefined;
  }
}

/** Runs the command: it ends when the client does. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand('lsp', 'A language server for AMDGPU assembly, on standard input and output.')
    .option('--stdio', 'the only transport, and the default')
    .option('--clientProcessId <pid>', 'end when this process does');
  if (!parseArguments(command, argv)) return 0;
  const connection = createConnection(process.stdin, process.stdout);
  serve(connection, {
    version: version(),
    readFile: readBeside,
    rulePage: (rule) => {
      const page = rulePageFile(rule);
      return page === undefined ? undefined : pathToFileURL(page).href;
    },
  });
  return new Promise(() => {});
}
