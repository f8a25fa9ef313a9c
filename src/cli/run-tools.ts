// The tools of `wavesmith run`: their options, the trace's output, and what Ctrl-C does.
import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import type { Command } from 'commander';
import { WavesmithError } from '../base/index.ts';
import type { CodeObject } from '../codeobject/index.ts';
import type { DeviceKernel } from '../device/index.ts';
import { type DebugLeader, debuggerHelp, TerminalFront } from '../device/sim/debug/index.ts';
import { type CountersReport, type Profile, RunTools, type TraceSink } from '../device/sim/tools/index.ts';
import { OutputPlace } from '../snapshot/output-place.ts';
import type { Progress } from './run-progress.ts';
import { CommandTerminal } from './run-terminal.ts';

/** Options of the tools, as commander gives them. */
export interface ToolOptions {
  trace?: string;
  traceFormat: string;
  traceWorkgroup?: string;
  traceWave?: string;
  tracePc?: string;
  traceLanes?: boolean;
  traceLimit?: string;
  break: string[];
  commands?: string;
  counters?: boolean;
  profile?: boolean;
}

const collect = (value: string, all: string[]): string[] => [...all, value];

/** `--trace` alone means standard output; commander would take the next word for the file. */
export function withTraceFile(argv: readonly string[]): string[] {
  const end = argv.indexOf('--');
  return argv.map((word, i) => (word === '--trace' && (end < 0 || i < end) ? '--trace=-' : word));
}

/** Adds the options of the tools. */
export function addToolOptions(command: Command): Command {
  return command
    .option('--trace <[=file]>', 'write every executed instruction (to standard output without =FILE)')
    .option('--trace-format <kind>', 'text, or jsonl: one JSON object a line', 'text')
    .option('--trace-workgroup <x,y,z>', 'only these workgroups: each N, FIRST-LAST or *')
    .option('--trace-wave <n>', 'only this wave of each workgroup, or FIRST-LAST')
    .option('--trace-pc <place>', 'only this place (label of a function, FILE:LINE), or PLACE..PLACE')
    .option('--trace-lanes', 'give vector registers and addresses for every active lane')
    .option('--trace-limit <n>', 'end the trace after N instructions')
    .option('--break <place>', 'stop there and ask for commands; repeatable', collect, [])
    .option('--commands <file>', "read the debugger's commands from a file (default: standard input)")
    .option('--counters', 'print the hardware counters that execution determines')
    .option('--profile', 'print how often each instruction ran, with how many lanes, and where lanes part')
    .addHelpText(
      'after',
      `
A PLACE is an address (as 'disasm --listing' prints it), a label, LABEL+N, +N from the kernel's start, or FILE:LINE.
Commands of --break:
${debuggerHelp()
  .map((line) => `  ${line}`)
  .join('\n')}
Ctrl-C ends the run and reports what was done (exit code 130); with --break it stops and asks.`,
    );
}

/** Whether any tool was asked for. */
function wantsTools(options: ToolOptions): boolean {
  const { trace, counters, profile } = options;
  return trace !== undefined || counters === true || profile === true || options.break.length > 0;
}

function usage(message: string): WavesmithError {
  return new WavesmithError('cli/usage', message, { hint: "'wavesmith run --help' shows the usage." });
}

/** Refuses options that mean nothing without each other. */
function check(options: ToolOptions, json: boolean): void {
  const { trace, traceFormat, traceWorkgroup, traceWave, tracePc, traceLanes, traceLimit, commands } = options;
  if (traceFormat !== 'text' && traceFormat !== 'jsonl') {
    throw usage(`--trace-format ${traceFormat} is neither text nor jsonl.`);
  }
  const filters = [traceWorkgroup, traceWave, tracePc, traceLanes, traceLimit];
  if (trace === undefined && filters.some((value) => value !== undefined)) {
    throw usage('The --trace-… options need --trace.');
  }
  if (traceLimit !== undefined && !/^\d{1,15}$/.test(traceLimit)) {
    throw usage(`--trace-limit ${traceLimit} is not a whole number.`);
  }
  if (trace === '-' && json) throw usage('--trace needs a file (--trace=FILE) with --json.');
  if (commands !== undefined && options.break.length === 0) throw usage('--commands needs --break.');
}

/** Reports of the tools that were asked for. */
export type ToolReport = Partial<CountersReport> & { readonly profile?: Profile };

/** The tools of a run; undefined when none was asked for. */
export class RunSession {
  readonly tools: RunTools;
  private readonly writer: TraceWriter | undefined;
  private readonly terminal: CommandTerminal | undefined;

  private readonly options: ToolOptions;

  private constructor(
    options: ToolOptions,
    tools: RunTools,
    writer: TraceWriter | undefined,
    terminal: CommandTerminal | undefined,
  ) {
    this.options = options;
    this.tools = tools;
    this.writer = writer;
    this.terminal = terminal;
  }

  /** Wrong options, filters and places throw here. */
  static create(
    options: ToolOptions,
    json: boolean,
    kernel: DeviceKernel,
    codeObject: CodeObject,
    progress: Progress,
    leader?: DebugLeader,
  ): RunSession | undefined {
    check(options, json);
    if (!wantsTools(options) && leader === undefined) return undefined;
    const writer = options.trace === undefined ? undefined : new TraceWriter(options.trace, options);
    let session: RunSession | undefined;
    const terminal =
      options.break.length === 0
        ? undefined
        : new CommandTerminal(options.commands, json ? process.stderr : process.stdout, {
            interrupt: () => session?.tools.debugger?.interrupt(),
            beforeOutput: () => progress.clear(),
          });
    const own = terminal === undefined ? undefined : new TerminalFront(terminal);
    const front = leader ?? own;
    try {
      const tools = new RunTools(kernel, codeObject, {
        counters: options.counters,
        profile: options.profile,
        debug: front === undefined ? undefined : { front, breakpoints: options.break },
        trace:
          writer === undefined
            ? undefined
            : {
                workgroup: options.traceWorkgroup,
                wave: options.traceWave,
                pc: options.tracePc,
                lanes: options.traceLanes === true ? 'all' : 'few',
                limit: options.traceLimit === undefined ? undefined : Number(options.traceLimit),
                sink: writer.sink,
              },
      });
      if (tools.debugger !== undefined) front?.lead(tools.debugger);
      session = new RunSession(options, tools, writer, terminal);
      return session;
    } catch (error) {
      terminal?.close();
      writer?.discard();
      throw error;
    }
  }

  /** What the tools have counted; the fields stand beside those of the run. */
  report(): ToolReport {
    const { tools } = this;
    return {
      ...(this.options.counters === true ? tools.counters() : {}),
      ...(this.options.profile === true ? { profile: tools.profile() as Profile } : {}),
    };
  }

  /** Ends input and output of the tools. The trace of a run that failed is kept: it says what led there. One that never began leaves none. */
  close(isOver: boolean): void {
    this.terminal?.close();
    if (isOver || this.writer?.hasWritten === true) this.writer?.finish();
    else this.writer?.discard();
  }
}

const CHUNK = 1 << 16;

/** Writes a trace as it comes, in pieces of bounded size, through a temporary name for files. */
class TraceWriter {
  private readonly path: string;
  private readonly place: OutputPlace | undefined;
  private readonly descriptor: number;
  /** Nothing waits: the debugger's answers stand between the right lines. */
  private readonly immediate: boolean;
  private pending: Uint8Array[] = [];
  hasWritten = false;
  private bytes = 0;
  /** Takes the trace. */
  readonly sink: TraceSink;

  constructor(path: string, options: ToolOptions) {
    this.path = path;
    this.sink =
      options.traceFormat === 'jsonl'
        ? (event) => this.write(Buffer.from(`${JSON.stringify(event)}\n`))
        : { lines: (bytes) => this.write(bytes) };
    this.immediate = path === '-' && options.break.length > 0;
    if (path === '-') this.descriptor = 1;
    else {
      try {
        if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) throw new Error('it is a folder');
        this.place = new OutputPlace(path);
        this.descriptor = openSync(this.place.temporary, 'w');
      } catch (error) {
        throw new WavesmithError('io/write', `Cannot write '${path}': ${(error as Error).message}.`, { file: path });
      }
    }
  }

  private write(bytes: Uint8Array): void {
    this.hasWritten = true;
    this.pending.push(bytes);
    this.bytes += bytes.length;
    if (this.immediate || this.bytes >= CHUNK) this.flush();
  }

  private flush(): void {
    let bytes = Buffer.concat(this.pending);
    this.pending = [];
    this.bytes = 0;
    while (bytes.length > 0) {
      try {
        bytes = bytes.subarray(writeSync(this.descriptor, bytes));
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        // A pipe whose reader is slow.
        if (code === 'EAGAIN') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
        // A reader that has seen enough (`| head`) ends the run quietly, as it ends the classic tools.
        else if (code === 'EPIPE' && this.path === '-') process.exit(0);
        else throw new WavesmithError('io/write', `Cannot write '${this.path}': ${message}.`, { file: this.path });
      }
    }
  }

  finish(): void {
    this.flush();
    if (this.path === '-') return;
    closeSync(this.descriptor);
    try {
      this.place?.finish();
    } catch (error) {
      this.place?.discard();
      throw new WavesmithError('io/write', `Cannot write '${this.path}': ${(error as Error).message}.`, {
        file: this.path,
      });
    }
  }

  discard(): void {
    if (this.path === '-') return;
    closeSync(this.descriptor);
    this.place?.discard();
  }
}
