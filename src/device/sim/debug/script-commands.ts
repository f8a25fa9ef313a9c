// Commands that run other commands: `commands` at a breakpoint, `thread apply`; and those of gdb that do not exist here.
import {
  bad,
  type CommandEntry,
  type CommandLine,
  type CommandSession,
  count,
  MOST_STEPS,
  type RunLine,
  show,
} from './command.ts';
import { waveText } from './look.ts';

/** `commands [N]`: the lines that follow, to `end`, run whenever breakpoint N stops; alone: the last one that was set. */
export function beginCommands(session: CommandSession, { words: [id] }: CommandLine): undefined {
  if (session.takesLines !== true) {
    throw bad(
      'Commands of a breakpoint need a terminal.',
      'An editor has log points: {expression} is replaced by its value.',
    );
  }
  const { breakpoints } = session.debugger;
  const last = Math.max(0, ...[...breakpoints.breakpoints, ...breakpoints.watchpoints].map((b) => b.id));
  const found = breakpoints.find(id === undefined ? last : count(id, 0, MOST_STEPS, 'a breakpoint'));
  session.collecting = { breakpoint: found, lines: [] };
  return show(session, [`commands of ${found.id}, one a line, then 'end'`]);
}

/** Takes a line that belongs to `commands`. */
export function collect(session: CommandSession, line: string): void {
  const { collecting } = session;
  if (collecting === undefined) return;
  const text = line.trim();
  if (text !== 'end') {
    if (text !== '') collecting.lines.push(text);
    return;
  }
  collecting.breakpoint.commands = collecting.lines.length === 0 ? undefined : collecting.lines;
  session.collecting = undefined;
}

/** Numbers of waves that are said not to be there at most. */
const MOST_NAMED = 8;

/** The numbers of a range; none of what is no range. */
function numbersOf([from = -1, to = from]: readonly number[]): number[] {
  return from >= 0 && to >= from ? Array.from({ length: to - from + 1 }, (_, i) => from + i) : [];
}

/** `thread apply all|N… COMMAND`: looks at each of the waves; what would go on is refused. */
export function applyToWaves(session: CommandSession, { rest }: CommandLine, runLine: RunLine): undefined {
  const d = session.debugger;
  const [, which = '', command = ''] =
    /^apply\s+((?:all|\d{1,4}(?:-\d{1,4})?)(?:\s+\d{1,4}(?:-\d{1,4})?)*)(?:\s+-[qcs]+)*\s+([^\d\s-].*)$/s.exec(rest) ??
    [];
  if (command === '') throw bad('Write: thread apply all COMMAND, or thread apply 0 2-3 COMMAND.');
  const ranges = which.split(/\s+/).map((word) => word.split('-').map(Number));
  const isMeant = (index: number): boolean => ranges.some(([from = -1, to = from]) => index >= from && index <= to);
  const waves = (which === 'all' ? d.allWaves : d.waves.filter((w) => isMeant(w.index))).filter(
    (w) => w.state !== 'ended',
  );
  if (waves.length === 0) throw bad(`No wave of this workgroup that runs is one of ${which}.`);
  const missing = ranges.flatMap(numbersOf).filter((index) => !waves.some((w) => w.index === index));
  if (missing.length > 0) {
    const named = missing.slice(0, MOST_NAMED).join(', ');
    session.print(`no wave of this workgroup that runs is ${named}${missing.length > MOST_NAMED ? ', …' : ''}`);
  }
  const { selected, lane, frame } = d;
  try {
    for (const w of waves) {
      d.select(w);
      session.print(`wave ${waveText(w)}:`);
      if (runLine(session, command) !== undefined) {
        throw bad(`'${command}' lets execution go on, which concerns all waves.`, 'Type it alone.');
      }
    }
  } finally {
    if (selected !== undefined) d.select(selected);
    d.lane = lane;
    d.frame = frame;
  }
  return undefined;
}

/** What gdb has and this debugger has not, and what to do instead. */
const ELSEWHERE: readonly (readonly [names: readonly string[], why: string, instead: string])[] = [
  [
    ['file', 'exec-file', 'attach', 'core-file', 'target', 'symbol-file', 'load'],
    'The kernel was chosen when the debugger was started.',
    "Leave with 'quit' and start again with other arguments; 'time 0' goes back to the start.",
  ],
  [
    ['record', 'checkpoint', 'restart'],
    'The past is always kept.',
    "'reverse-continue', 'reverse-step' and 'time N' go back.",
  ],
  [
    ['source', 'define', 'document', 'python', 'python-interactive', 'guile', 'while', 'if', 'alias'],
    'There are no programs of commands.',
    "Start with --commands FILE to read commands from a file; 'commands N' attaches some to a breakpoint.",
  ],
  [
    ['layout', 'tui', 'focus', 'refresh', 'winheight'],
    'There are no windows.',
    "'list' and 'disassemble' show code, 'display EXPRESSION' shows values at each stop.",
  ],
  [['shell', '!', 'make', 'cd', 'pwd', 'edit'], 'Other programs are not started from here.', 'Use another terminal.'],
  [
    ['return'],
    'A function cannot be left before its end.',
    "'finish' runs to its return; 'jump PLACE' sends the wave elsewhere.",
  ],
  [['handle', 'signal', 'stepping'], 'Kernels have no signals.', 'They stop where they fault.'],
  [['show'], 'There are no settings.', "'info TOPIC' shows what there is."],
  [
    ['hbreak', 'thbreak', 'rbreak', 'strace', 'trace', 'dprintf'],
    'There is one kind of breakpoint.',
    "Write: break PLACE, or tbreak PLACE; 'commands' prints at it.",
  ],
  [
    ['dump', 'restore', 'generate-core-file', 'gcore', 'save'],
    'Nothing is written to files.',
    "'x/64xw ADDRESS' shows memory; 'wavesmith run --out' writes buffers.",
  ],
  [
    ['search', 'forward-search', 'find', 'macro', 'directory', 'skip', 'explore', 'compile'],
    'There is no such command.',
    "'help' lists the commands.",
  ],
];

/** Refuses what gdb has and this debugger has not. */
export const REFUSED: readonly CommandEntry[] = ELSEWHERE.map(([names, why, instead]) => ({
  names,
  usage: '',
  summary: '',
  run: () => {
    throw bad(why, instead);
  },
}));
