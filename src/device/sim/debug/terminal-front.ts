// The debugger led by command lines: from a terminal, or from a script.
import type { CommandSession } from './command.ts';
import { completions, runCommand } from './commands.ts';
import type { Debugger, DebugLeader } from './debugger.ts';
import { stoppedLine } from './list-commands.ts';
import { stopText } from './look.ts';
import { displayText } from './print-commands.ts';
import { collect } from './script-commands.ts';
import type { Resume, Stop } from './stop.ts';

/** The user's side: a terminal, or a script. */
export interface DebugTerminal {
  /** The next command line, or undefined when there are no more. */
  ask(prompt: string): Promise<string | undefined>;
  print(text: string): void;
  /** Lines of a source file as the debug information names it; undefined when it cannot be read. */
  readSource?(file: string): readonly string[] | undefined;
  /** Asked for the words that may stand where a line ends, and the part that they would replace. */
  complete?: ((line: string) => readonly [readonly string[], string]) | undefined;
}

/** Asks a terminal for commands at every stop. */
export class TerminalFront implements DebugLeader {
  readonly stopsAtEntry = false;
  private readonly terminal: DebugTerminal;
  private session: CommandSession | undefined;
  private last = '';

  constructor(terminal: DebugTerminal) {
    this.terminal = terminal;
  }

  /** Joins front and debugger, before each dispatch; what is displayed stays. */
  lead(led: Debugger): void {
    const print = (text: string): void => this.terminal.print(text);
    const { displays = [], stopsAtEnd = false, hasGoneOn = false } = this.session ?? {};
    if (this.session !== undefined) led.remembered = this.session.debugger.remembered;
    const sources = (file: string): readonly string[] | undefined => this.terminal.readSource?.(file);
    const session: CommandSession = {
      debugger: led,
      print,
      displays,
      stopsAtEnd,
      hasGoneOn,
      sources,
      takesLines: true,
    };
    this.session = session;
    this.terminal.complete = (line) => completions(session, line);
  }

  get stopsAtEnd(): boolean {
    return this.session?.stopsAtEnd === true;
  }

  logged = (text: string): void => this.terminal.print(text);

  async stopped(stop: Stop): Promise<Resume> {
    const { session } = this;
    if (session === undefined) throw new Error('nobody is led');
    const next = await this.ask(session, stop);
    session.hasGoneOn = true;
    return next;
  }

  private async ask(session: CommandSession, stop: Stop): Promise<Resume> {
    const { terminal } = this;
    const { debugger: led } = session;
    session.listed = undefined;
    const commands = stop.commands ?? [];
    if (commands[0] !== 'silent') this.showStop(session, stop);
    // Several breakpoints may have been hit, each with its own.
    const own = commands.filter((line) => line !== 'silent');
    for (let line = own.shift(); line !== undefined; line = own.shift()) {
      const next = runCommand(session, line);
      // As in gdb, what stands behind a command that goes on is not run.
      if (next !== undefined) return next;
    }
    for (;;) {
      const line = await terminal.ask(session.collecting === undefined ? '(wavesmith) ' : '>');
      if (line === undefined) {
        terminal.print('end of the commands: running on to the end');
        led.isOver = true;
        return { kind: 'detach' };
      }
      if (session.collecting !== undefined) {
        collect(session, line);
        continue;
      }
      // An empty line repeats the last command, as debuggers do.
      const command = line.trim() === '' ? repeated(session, this.last) : line.trim();
      if (command === '') continue;
      this.last = command;
      const next = runCommand(session, command);
      if (next !== undefined) return next;
    }
  }

  /** Why it stopped, where, and what is displayed. */
  private showStop(session: CommandSession, stop: Stop): void {
    const { terminal } = this;
    terminal.print(stopText(session.debugger, stop));
    const source = stoppedLine(session);
    if (source !== undefined) terminal.print(source);
    if (stop.wave !== undefined && session.displays.length > 0) terminal.print(displayText(session).join('\n'));
  }
}

/** The last command again: `x` and `list` go on behind what they have shown. */
function repeated(session: CommandSession, last: string): string {
  if (session.listed !== undefined && /^l(?:ist)?\s+[^-\s]/.test(last)) return 'list';
  return /^(x\/\w+)\s/.exec(last)?.[1] ?? last;
}
