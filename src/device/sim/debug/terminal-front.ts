// The debugger led by command lines: from a terminal, or from a script.
import type { CommandSession } from './command.ts';
import { displayText, runCommand } from './commands.ts';
import type { Debugger, DebugLeader } from './debugger.ts';
import { stopText } from './look.ts';
import type { Resume, Stop } from './stop.ts';

/** The user's side: a terminal, or a script. */
export interface DebugTerminal {
  /** The next command line, or undefined when there are no more. */
  ask(prompt: string): Promise<string | undefined>;
  print(text: string): void;
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
    const { displays = [], stopsAtEnd = false } = this.session ?? {};
    this.session = { debugger: led, print, displays, stopsAtEnd };
  }

  get stopsAtEnd(): boolean {
    return this.session?.stopsAtEnd === true;
  }

  logged = (text: string): void => this.terminal.print(text);

  async stopped(stop: Stop): Promise<Resume> {
    const { session, terminal } = this;
    if (session === undefined) throw new Error('nobody is led');
    const { debugger: led } = session;
    terminal.print(stopText(led, stop));
    if (stop.wave !== undefined && session.displays.length > 0) terminal.print(displayText(session).join('\n'));
    for (;;) {
      const line = await terminal.ask('(wavesmith) ');
      if (line === undefined) {
        terminal.print('end of the commands: running on to the end');
        led.isOver = true;
        return { kind: 'detach' };
      }
      // An empty line repeats the last command, as debuggers do.
      const command = line.trim() === '' ? this.last : line.trim();
      if (command === '') continue;
      this.last = command;
      const next = runCommand(session, command);
      if (next !== undefined) return next;
    }
  }
}
