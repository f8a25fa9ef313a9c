// A language client for tests: starts `wavesmith lsp`, speaks LSP over its standard streams, keeps what the server publishes.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import {
  createMessageConnection,
  type MessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node';
import type { Diagnostic, InitializeResult, Position, Range } from 'vscode-languageserver';

// The checkout: of this file, or the working directory when a tool runs bundled elsewhere.
const here = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const root = existsSync(join(here, 'bin/wavesmith')) ? here : process.cwd();

interface Published {
  readonly uri: string;
  readonly version?: number;
  readonly diagnostics: readonly Diagnostic[];
}

export class LspClient {
  readonly connection: MessageConnection;
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  readonly published: Published[] = [];
  /** Messages of the server's log. */
  readonly log: string[] = [];
  readonly exit: Promise<number | null>;
  initialized: InitializeResult | undefined;
  private waiting: { accept: (p: Published) => boolean; done: (p: Published) => void }[] = [];

  constructor() {
    const command = [join(root, 'bin/wavesmith'), 'lsp', '--stdio'];
    this.child = spawn(process.execPath, command, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.exit = new Promise((done) => this.child.once('exit', done));
    const { stdin, stdout } = this.child;
    this.connection = createMessageConnection(new StreamMessageReader(stdout), new StreamMessageWriter(stdin));
    this.connection.onNotification('textDocument/publishDiagnostics', (params: Published) => {
      this.published.push(params);
      this.waiting = this.waiting.filter(({ accept, done }) => {
        if (!accept(params)) return true;
        done(params);
        return false;
      });
    });
    this.connection.onNotification('window/logMessage', (params: { message: string }) => {
      this.log.push(params.message);
    });
    this.connection.listen();
  }

  async start(initializationOptions?: unknown): Promise<InitializeResult> {
    const params = { processId: process.pid, rootUri: null, capabilities: {}, initializationOptions };
    this.initialized = await this.connection.sendRequest<InitializeResult>('initialize', params);
    await this.connection.sendNotification('initialized', {});
    return this.initialized;
  }

  /** Ends the server as a client does; the exit code. */
  async stop(): Promise<number | null> {
    await this.connection.sendRequest('shutdown');
    await this.connection.sendNotification('exit');
    const code = await this.exit;
    this.connection.dispose();
    return code;
  }

  open(uri: string, text: string, version = 1): Promise<void> {
    return this.connection.sendNotification('textDocument/didOpen', {
      textDocument: { uri, languageId: 'amdgpu', version, text },
    });
  }

  change(uri: string, version: number, ...contentChanges: { range?: Range; text: string }[]): Promise<void> {
    return this.connection.sendNotification('textDocument/didChange', {
      textDocument: { uri, version },
      contentChanges,
    });
  }

  close(uri: string): Promise<void> {
    return this.connection.sendNotification('textDocument/didClose', { textDocument: { uri } });
  }

  /** The diagnostics of a version, once they are published. */
  diagnostics(uri: string, version: number): Promise<readonly Diagnostic[]> {
    const accept = (p: Published): boolean => p.uri === uri && p.version === version;
    const known = this.published.find(accept);
    if (known !== undefined) return Promise.resolve(known.diagnostics);
    return new Promise((done) => this.waiting.push({ accept, done: (p) => done(p.diagnostics) }));
  }

  /** A request about a document, with a position when it needs one. */
  request<T>(method: string, uri: string, position?: Position, more: object = {}): Promise<T> {
    const params = { textDocument: { uri }, ...(position === undefined ? {} : { position }), ...more };
    return this.connection.sendRequest<T>(`textDocument/${method}`, params);
  }
}

/** The position of a mark `¦` in a text, and the text without it. */
export function marked(text: string): { readonly text: string; readonly position: Position } {
  const at = text.indexOf('¦');
  if (at < 0) throw new Error('the text has no mark');
  const before = text.slice(0, at).split('\n');
  const position = { line: before.length - 1, character: (before[before.length - 1] as string).length };
  return { text: before.join('\n') + text.slice(at + 1), position };
}

/** The position of the n-th occurrence of a word, `into` characters inside it. */
export function positionOf(text: string, word: string, nth = 0, into = 0): Position {
  let at = -1;
  for (let i = 0; i <= nth; i++) at = text.indexOf(word, at + 1);
  if (at < 0) throw new Error(`'${word}' is not in the text`);
  const before = text.slice(0, at + into).split('\n');
  return { line: before.length - 1, character: (before[before.length - 1] as string).length };
}
