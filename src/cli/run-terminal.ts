// The debugger's terminal: lines from standard input or a file of commands, with editing and history where there is a tty.
import { createReadStream, existsSync, openSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { WavesmithError } from '../base/index.ts';
import type { DebugTerminal } from '../device/sim/debug/index.ts';

function readFailure(file: string, error: Error): WavesmithError {
  return new WavesmithError('io/read', `Cannot read '${file}': ${error.message}.`, { file });
}

function openCommands(file: string): number {
  try {
    return openSync(file, 'r');
  } catch (error) {
    throw readFailure(file, error as Error);
  }
}

export interface TerminalEvents {
  /** Ctrl-C while the kernel runs. */
  interrupt(): void;
  /** Something else may stand on the line. */
  beforeOutput(): void;
}

/** Reads command lines one by one and prints answers. */
export class CommandTerminal implements DebugTerminal {
  private readonly lines: Interface;
  private readonly waiting: ((line: string | undefined) => void)[] = [];
  private readonly ready: string[] = [];
  private readonly output: NodeJS.WritableStream;
  private readonly isTty: boolean;
  private readonly events: TerminalEvents;
  private ended = false;
  private readonly read = new Map<string, readonly string[] | undefined>();
  complete: DebugTerminal['complete'];
  private failure: WavesmithError | undefined;

  /** `file`: commands to read instead of standard input. */
  constructor(file: string | undefined, output: NodeJS.WritableStream, events: TerminalEvents) {
    this.events = events;
    this.output = output;
    const isScript = file !== undefined && file !== '-';
    this.isTty = !isScript && process.stdin.isTTY === true;
    const input: NodeJS.ReadableStream = isScript ? createReadStream(file, { fd: openCommands(file) }) : process.stdin;
    const completer = (line: string): [string[], string] => {
      const [words, replaced] = this.complete?.(line) ?? [[], ''];
      return [[...words], replaced];
    };
    const shown = this.isTty ? output : undefined;
    this.lines = createInterface({ input, output: shown, terminal: this.isTty, completer });
    this.lines.on('error', (error: Error) => {
      this.failure = readFailure(file ?? '-', error);
      this.end();
    });
    this.lines.on('line', (line) => {
      const take = this.waiting.shift();
      if (take === undefined) this.ready.push(line);
      else take(line);
    });
    this.lines.on('close', () => this.end());
    this.lines.on('SIGINT', () => {
      if (this.waiting.length === 0) {
        events.interrupt();
        return;
      }
      // What has been typed is dropped, as in gdb.
      this.output.write(this.lines.line === '' ? "^C\n(type 'quit' to end the run)\n" : '^C\n');
      Object.assign(this.lines, { line: '', cursor: 0 });
      this.lines.prompt();
    });
  }

  private end(): void {
    this.ended = true;
    for (const take of this.waiting.splice(0)) take(undefined);
  }

  async ask(prompt: string): Promise<string | undefined> {
    if (this.isTty) {
      this.lines.setPrompt(prompt);
      this.lines.prompt();
    }
    const line = await this.next();
    if (this.failure !== undefined) throw this.failure;
    // A script's commands stand in its output as if they had been typed.
    if (!this.isTty && line !== undefined) this.output.write(`${prompt}${line}\n`);
    return line;
  }

  private next(): Promise<string | undefined> {
    const line = this.ready.shift();
    if (line !== undefined || this.ended) return Promise.resolve(line);
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  print(text: string): void {
    this.events.beforeOutput();
    this.output.write(`${text}\n`);
  }

  /** A source file where the debug information says it is, or below the current folder. */
  readSource(file: string): readonly string[] | undefined {
    if (!this.read.has(file)) {
      const path = [file, basename(file)].find((one) => existsSync(one));
      let lines: readonly string[] | undefined;
      try {
        lines = path === undefined ? undefined : readFileSync(path, 'utf8').split(/\r?\n/);
      } catch {
        // A folder, or a file that may not be read: instructions are shown.
        lines = undefined;
      }
      this.read.set(file, lines);
    }
    return this.read.get(file);
  }

  /** Ends waiting for input, so that the process can end. */
  close(): void {
    this.lines.close();
    if (!this.isTty) process.stdin.pause();
  }
}
