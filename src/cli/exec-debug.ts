// The debugger of `wavesmith exec`: its options, its terminal, and whom it leads.
import type { Command } from 'commander';
import { WavesmithError } from '../base/index.ts';
import { type Debugger, type DebugLeader, debuggerHelp, TerminalFront } from '../device/sim/debug/index.ts';
import { ProgramDebugging } from '../runtime/debugging.ts';
import { CommandTerminal } from './run-terminal.ts';

export interface ExecDebugOptions {
  break: string[];
  kernel?: string;
  commands?: string;
}

/** An editor in the place of the terminal. */
export interface EditorSide {
  readonly leader: DebugLeader;
  /** Gets what the program prints, and where it prints it. */
  readonly write: (text: string, stream?: 'stdout' | 'stderr') => void;
}

const collect = (value: string, all: string[]): string[] => [...all, value];

/** Adds the options of the debugger. */
export function addDebugOptions(command: Command): void {
  command
    .option('--break <place>', 'stop kernels there and ask for commands; repeatable', collect, [])
    .option('--kernel <name>', 'with --break: debug only kernels of this name')
    .option('--commands <file>', "read the debugger's commands from a file (default: standard input)")
    .addHelpText(
      'after',
      `
A PLACE is FILE:LINE (compile with -g), the name of a kernel or function, LABEL+N, +N from a kernel's start, or an address. The program
waits while its kernel is stopped; kernels run one after the other. Commands of --break:
${debuggerHelp()
  .map((line) => `  ${line}`)
  .join('\n')}`,
    );
}

/** The debugger of a program and what it takes from the terminal. */
export class ExecDebugging {
  readonly program: ProgramDebugging;
  /** Ends the program when the user leaves the debugger. */
  readonly quitting = new AbortController();
  /** Whether the program cannot have standard input. */
  readonly takesInput: boolean;
  private readonly terminal: CommandTerminal | undefined;

  private constructor(options: ExecDebugOptions, editor: EditorSide | undefined) {
    const { commands } = options;
    let led: Debugger | undefined;
    this.takesInput = editor !== undefined || commands === undefined || commands === '-';
    this.terminal =
      editor === undefined
        ? new CommandTerminal(commands, process.stderr, {
            interrupt: () => led?.interrupt(),
            beforeOutput: () => undefined,
          })
        : undefined;
    const leader: DebugLeader = editor?.leader ?? new TerminalFront(this.terminal as CommandTerminal);
    leader.quits?.addEventListener('abort', () => this.quitting.abort());
    this.program = new ProgramDebugging({
      leader: {
        stopped: (stop) => leader.stopped(stop),
        logged: (text) => leader.logged(text),
        stopsAtEntry: leader.stopsAtEntry,
        get stopsAtEnd() {
          return leader.stopsAtEnd;
        },
        lead: (one) => {
          led = one;
          leader.lead(one);
        },
      },
      breakpoints: options.break,
      setsBreakpoints: editor !== undefined,
      kernel: options.kernel,
      onDispatch: (sequence, { name }) => this.terminal?.print(`dispatch ${sequence}: kernel ${name}`),
      onQuit: () => this.quitting.abort(),
    });
  }

  /** The debugger that the options ask for, or an editor. */
  static create(options: ExecDebugOptions, editor: EditorSide | undefined): ExecDebugging | undefined {
    if (options.break.length > 0 || editor !== undefined) return new ExecDebugging(options, editor);
    for (const name of ['kernel', 'commands'] as const) {
      if (options[name] !== undefined) throw new WavesmithError('cli/usage', `--${name} needs --break.`);
    }
    return undefined;
  }

  /** Says which places nothing had. */
  report(): void {
    for (const place of this.program.unknownPlaces) {
      process.stderr.write(`wavesmith: no kernel that ran has a place '${place}'; nothing stopped there\n`);
    }
  }

  close(): void {
    this.terminal?.close();
  }
}
