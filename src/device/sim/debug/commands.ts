// The commands of the debugger as a terminal types them, in gdb's words. Each looks at, or changes, the selected wave, and may let
// execution go on.
import { WavesmithError } from '../../../base/index.ts';
import {
  enable,
  ignore,
  refuseConstant,
  remove,
  setBreakpoint,
  setCondition,
  setWatchpoint,
  undisplay,
} from './breakpoint-commands.ts';
import {
  bad,
  type CommandEntry,
  type CommandLine,
  type CommandSession,
  count,
  MOST_STEPS,
  place,
  show,
  sourceLine,
} from './command.ts';
import { completionsOf } from './complete.ts';
import type { Debugger } from './debugger.ts';
import { examineCommand, memory } from './examine.ts';
import { parseExpression } from './expression.ts';
import { disassemble, listCommand } from './list-commands.ts';
import { backtrace, evaluate, operandOf, selectedWave, wavesText } from './look.ts';
import { backtraceCommand, INFO_TOPICS, info, lds, registers, selectLane, selectWave } from './look-commands.ts';
import { displayText, echo, printCommand, printf, refuseUnknownNames } from './print-commands.ts';
import { applyToWaves, beginCommands, REFUSED } from './script-commands.ts';
import { hasAssignment, set, variableToSet } from './set-command.ts';
import type { BackTarget, Resume } from './stop.ts';
import { typeOf, whatIs } from './type-commands.ts';

function step(
  session: CommandSession,
  { words }: CommandLine,
  unit: 'instruction' | 'line',
  over: boolean,
): Resume & { kind: 'step' } {
  const d = session.debugger;
  const byLine = unit === 'line' && d.selected !== undefined && d.lineAt(d.pc) !== undefined;
  return { kind: 'step', count: count(words[0], 1, MOST_STEPS, 'steps'), unit: byLine ? 'line' : 'instruction', over };
}

function requireHistory(d: Debugger): void {
  if (d.past.isKept) return;
  throw new WavesmithError('run/no-history', `There is no past to go back to: ${d.past.whyNotKept}.`);
}

/** `continue N` ignores the breakpoint of this stop N - 1 times. */
function goOn({ debugger: { breakpoints, lastHit }, print }: CommandSession, { words: [n] }: CommandLine): Resume {
  const passes = count(n, 1, MOST_STEPS, 'passes') - 1;
  const here = breakpoints.breakpoints.find((b) => b.id === lastHit[0]);
  if (n !== undefined && here === undefined) throw bad('This is no stop at a breakpoint, so there is none to pass.');
  if (here !== undefined && passes > 0) {
    here.ignoring = passes;
    print(`breakpoint ${here.id} is passed ${passes} times`);
  }
  return { kind: 'continue' };
}

function back(session: CommandSession, to: BackTarget, words: readonly string[] = []): Resume {
  const d = session.debugger;
  requireHistory(d);
  const byLine = d.selected !== undefined && d.lineAt(d.pc) !== undefined;
  const target = to === 'line' && !byLine ? 'instruction' : to === 'line over' && !byLine ? 'instruction over' : to;
  return { kind: 'back', to: target, count: count(words[0], 1, MOST_STEPS, 'steps') };
}

const COMMANDS: readonly CommandEntry[] = [
  {
    names: ['step', 's'],
    usage: 'step [N]',
    summary: 'run N source lines of this wave, or instructions where there is no debug information',
    run: (s, line) => step(s, line, 'line', false),
  },
  {
    names: ['stepi', 'si'],
    usage: 'stepi [N]',
    summary: 'run N instructions of this wave',
    run: (s, line) => step(s, line, 'instruction', false),
  },
  {
    names: ['next', 'n'],
    usage: 'next [N]',
    summary: 'like step, but over a call',
    run: (s, line) => step(s, line, 'line', true),
  },
  {
    names: ['nexti', 'ni'],
    usage: 'nexti [N]',
    summary: 'like stepi, but over a call',
    run: (s, line) => step(s, line, 'instruction', true),
  },
  {
    names: ['finish', 'fin'],
    usage: 'finish',
    summary: 'run until the function that is shown returns',
    run: (s) => {
      const d = s.debugger;
      const frames = backtrace(d, selectedWave(d));
      if (d.frame + 1 >= frames.length) throw bad('This is the kernel itself: nothing called it.');
      show(s, [`run till exit from ${frames[d.frame]?.text}`]);
      return { kind: 'finish' };
    },
  },
  {
    names: ['continue', 'c'],
    usage: 'continue [N]',
    summary: 'run to the next breakpoint; N: pass this one N - 1 times',
    run: goOn,
  },
  {
    names: ['run'],
    usage: 'run',
    summary: 'run to the first breakpoint; later: from the start of the dispatch again, without what was changed',
    run: (s) => {
      if (s.hasGoneOn !== true) return { kind: 'continue' };
      requireHistory(s.debugger);
      return { kind: 'restart' };
    },
  },
  {
    names: ['start', 'starti'],
    usage: 'start',
    summary: 'go to the first instruction of the dispatch',
    run: (s) => {
      requireHistory(s.debugger);
      return { kind: 'time', time: 0 };
    },
  },
  {
    names: ['advance', 'run-to'],
    usage: 'advance PLACE',
    summary: 'run until this wave is at a place',
    run: (s, { words: [where] }) => ({ kind: 'until', pc: place(s, where), wave: selectedWave(s.debugger) }),
  },
  {
    names: ['until', 'u'],
    usage: 'until [PLACE]',
    summary: 'run until this wave is at a place; alone: like next, but out of a loop',
    run: (s, line) => {
      if (line.words.length === 0) return { ...step(s, line, 'line', true), isForward: true };
      return { kind: 'until', pc: place(s, line.words[0]), wave: selectedWave(s.debugger) };
    },
  },
  {
    names: ['reverse-step', 'rs'],
    usage: 'reverse-step [N]',
    summary: 'go back a source line of this wave, or an instruction',
    run: (s, { words }) => back(s, 'line', words),
  },
  {
    names: ['reverse-stepi', 'rsi'],
    usage: 'reverse-stepi [N]',
    summary: 'go back N instructions of this wave',
    run: (s, { words }) => back(s, 'instruction', words),
  },
  {
    names: ['reverse-next', 'rn'],
    usage: 'reverse-next [N]',
    summary: 'like reverse-step, but over a call',
    run: (s, { words }) => back(s, 'line over', words),
  },
  {
    names: ['reverse-nexti', 'rni'],
    usage: 'reverse-nexti [N]',
    summary: 'like reverse-stepi, but over a call',
    run: (s, { words }) => back(s, 'instruction over', words),
  },
  {
    names: ['reverse-finish'],
    usage: 'reverse-finish',
    summary: 'go back to the call of this function',
    run: (s) => back(s, 'call'),
  },
  {
    names: ['reverse-continue', 'rc'],
    usage: 'reverse-continue',
    summary: 'go back to the last breakpoint or watched change',
    run: (s) => back(s, 'breakpoint'),
  },
  {
    names: ['who', 'origin'],
    usage: 'who EXPRESSION',
    summary: 'go back to the instruction that wrote this last: who v3[5], who *f32(x + 4)',
    run: (s, { rest }) => {
      refuseConstant(rest);
      // Structs and arrays have no number, and are written all the same.
      const operand = operandOf(s.debugger, rest);
      if (typeof operand === 'object' && operand.bytes === undefined) evaluate(s.debugger, rest);
      return back(s, { writer: rest });
    },
  },
  {
    names: ['goto-time', 'time'],
    usage: 'time [N]',
    summary: 'go to the moment before instruction N of the dispatch; without N: what it is now',
    run: (s, { words: [text] }) => {
      const d = s.debugger;
      if (text === undefined) return show(s, [`instruction ${d.time}`]);
      const time = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
      if (!(time >= 0)) throw bad(`'${text}' is not a number of instructions.`);
      if (time <= d.time) back(s, 'instruction');
      return { kind: 'time', time };
    },
  },
  {
    names: ['history'],
    usage: 'history',
    summary: "how far one can go back: 'info history'",
    run: (s, line) => info(s, { ...line, words: ['history'] }),
  },
  {
    names: ['break', 'b'],
    usage: 'break [PLACE] [if EXPRESSION]',
    summary: 'stop there; alone: here; vector registers: for any active lane',
    run: (s, line) => setBreakpoint(s, line, false),
  },
  {
    names: ['tbreak', 'tb'],
    usage: 'tbreak [PLACE] [if EXPRESSION]',
    summary: 'the same, once',
    run: (s, line) => setBreakpoint(s, line, true),
  },
  {
    names: ['watch'],
    usage: 'watch EXPRESSION [if EXPRESSION]',
    summary: 'stop when its value changes: watch v3, watch *u32(x + 4), watch lds.f32(64)',
    run: (s, line) => setWatchpoint(s, line),
  },
  {
    names: ['rwatch'],
    usage: 'rwatch EXPRESSION [if EXPRESSION]',
    summary: 'stop when an instruction has read it: rwatch out[3], rwatch lds.u32(64), rwatch s4',
    run: (s, line) => setWatchpoint(s, line, 'read'),
  },
  {
    names: ['awatch'],
    usage: 'awatch EXPRESSION [if EXPRESSION]',
    summary: 'the same, or written it',
    run: (s, line) => setWatchpoint(s, line, 'any'),
  },
  {
    names: ['condition'],
    usage: 'condition N [EXPRESSION]',
    summary: 'change or remove the condition of breakpoint N',
    run: setCondition,
  },
  { names: ['ignore'], usage: 'ignore N COUNT', summary: 'pass breakpoint N COUNT times', run: ignore },
  {
    names: ['commands'],
    usage: 'commands [N]',
    summary: "run the lines that follow, to 'end', whenever breakpoint N stops; 'silent' first: without saying so",
    run: beginCommands,
  },
  {
    names: ['catch'],
    usage: 'catch end',
    summary: 'stop when the kernel has ended: from there one can go back',
    run: (s, { words: [what] }) => {
      if (what !== 'end') throw bad(`'catch ${what ?? ''}' is not known: write catch end.`);
      s.stopsAtEnd = true;
      return undefined;
    },
  },
  {
    names: ['delete', 'd', 'clear'],
    usage: 'delete [N|PLACE…]',
    summary: 'remove breakpoints or watchpoints, or all',
    run: remove,
  },
  {
    names: ['disable'],
    usage: 'disable [N…]',
    summary: 'keep breakpoints without stopping at them',
    run: (s, line) => enable(s, line, false),
  },
  { names: ['enable'], usage: 'enable [N…]', summary: 'the opposite', run: (s, line) => enable(s, line, true) },
  {
    names: ['info', 'i'],
    usage: 'info TOPIC',
    summary: 'registers, breakpoints, waves, arguments, line, display, history',
    run: info,
  },
  {
    names: ['print', 'p', 'inspect', 'call', 'output'],
    usage: 'print[/x|d|u|t|f|o|c] EXPRESSION[@N]',
    summary: 'a value: v3 + 1, s[2:3], f32(v5), *f32(x + 4), lds.u32(64), v3[5]; @N: so many from there',
    run: printCommand,
  },
  {
    names: ['printf'],
    usage: 'printf "FORMAT", EXPRESSION, …',
    summary: 'values in a text, as in C',
    run: printf,
  },
  { names: ['echo'], usage: 'echo TEXT', summary: 'the text', run: echo },
  {
    names: ['memory', 'm'],
    usage: 'memory ADDRESS [BYTES]',
    summary: 'global memory: x, s[4:5], x+16',
    run: (s, { words }) => memory(s, words),
  },
  {
    names: ['x'],
    usage: 'x[/NFU] [ADDRESS]',
    summary:
      'N elements of memory, or of lds + 16, scratch + 8: F x d u f t o c a s i, U b h w g; alone: those that follow',
    run: examineCommand,
  },
  {
    names: ['registers', 'r'],
    usage: 'registers [NAME…]',
    summary: 's0 s[2:3] v0 v0-3 a0 vcc exec scc m0 mode; without names: scalars',
    run: (s, { words }) => registers(s, words),
  },
  {
    names: ['lds'],
    usage: 'lds [OFFSET [BYTES]]',
    summary: "the workgroup's LDS",
    run: (s, { words }) => lds(s, words),
  },
  {
    names: ['list', 'l'],
    usage: 'list [PLACE|FROM,TO|-]',
    summary: 'source lines where their file is there, else instructions; again: those that follow',
    run: listCommand,
  },
  {
    names: ['disassemble', 'dis', 'disas'],
    usage: 'disassemble[/rs] [PLACE|FROM,TO|FROM,+BYTES]',
    summary:
      'instructions of a function, around a place, or from one to before another; r: with bytes, s: with source lines',
    run: disassemble,
  },
  {
    names: ['ptype'],
    usage: 'ptype VARIABLE',
    summary: 'its type with members',
    run: typeOf,
  },
  {
    names: ['whatis'],
    usage: 'whatis VARIABLE',
    summary: "its type's name",
    run: whatIs,
  },
  {
    names: ['backtrace', 'bt', 'where'],
    usage: 'backtrace [full] [N|-N]',
    summary: 'the calls that led here; N: the innermost, -N: the outermost; full: with their variables',
    run: backtraceCommand,
  },
  {
    names: ['frame', 'f'],
    usage: 'frame [N]',
    summary: "the function whose variables are shown: 0 is the innermost, as in 'backtrace'",
    run: (s, { words: [n] }) =>
      selectFrame(s, n === undefined ? undefined : n === '0' ? 0 : count(n, 1, MOST_STEPS, 'calls')),
  },
  {
    names: ['up'],
    usage: 'up [N]',
    summary: 'the function that called it',
    run: (s, { words: [n] }) => selectFrame(s, s.debugger.frame + count(n, 1, MOST_STEPS, 'calls')),
  },
  {
    names: ['down', 'dow'],
    usage: 'down [N]',
    summary: 'the function that it called',
    run: (s, { words: [n] }) => selectFrame(s, s.debugger.frame - count(n, 1, MOST_STEPS, 'calls')),
  },
  {
    names: ['waves'],
    usage: 'waves',
    summary: 'the waves of this workgroup',
    run: (s) => show(s, wavesText(s.debugger, false)),
  },
  {
    names: ['wave', 'w', 'thread', 't'],
    usage: 'wave N|X,Y,Z/N',
    summary: "look at and step another wave; 'thread apply all COMMAND' looks at each",
    run: (s, line, runLine) => (line.words[0] === 'apply' ? applyToWaves(s, line, runLine) : selectWave(s, line.words)),
  },
  {
    names: ['lane'],
    usage: 'lane [N]',
    summary: 'the lane that expressions are about',
    run: (s, { words }) => selectLane(s, words),
  },
  {
    names: ['display'],
    usage: 'display[/F] [EXPRESSION]',
    summary: 'show a value at each stop',
    run: (s, { rest, format }) => {
      if (rest === '') return show(s, displayText(s));
      parseExpression(rest.replace(/@\s*\w+$/, ''));
      refuseUnknownNames(s.debugger, rest);
      const id = (s.displays.at(-1)?.id ?? 0) + 1;
      s.displays.push({ id, text: rest, format });
      return show(s, displayText(s).slice(-1));
    },
  },
  { names: ['undisplay'], usage: 'undisplay [N…]', summary: 'end that', run: (s, { words }) => undisplay(s, words) },
  {
    names: ['set'],
    usage: 'set REGISTER|pc|*TYPE(ADDRESS) VALUE',
    summary: 'write; v3[5] is one lane, v3 all active ones',
    run: set,
  },
  {
    names: ['jump', 'j'],
    usage: 'jump PLACE',
    summary: 'go on from another place',
    run: (s, { words }) => {
      const d = s.debugger;
      d.jump(selectedWave(d), place(s, words[0]));
      return { kind: 'continue' };
    },
  },
  { names: ['detach'], usage: 'detach', summary: 'run to the end without stopping', run: () => ({ kind: 'detach' }) },
  { names: ['quit', 'q', 'kill', 'k'], usage: 'quit', summary: 'end the run', run: () => ({ kind: 'quit' }) },
  {
    names: ['help', 'h', '?'],
    usage: 'help [COMMAND]',
    summary: 'this list, or what a command does',
    run: (s, { words: [name] }) => show(s, name === undefined ? debuggerHelp() : helpOf(commandOf(name))),
  },
];

/** Shows the variables of another frame, and which one it is. */
function selectFrame(s: CommandSession, wanted: number | undefined): undefined {
  const d = s.debugger;
  const frames = backtrace(d, selectedWave(d));
  const frame = wanted ?? d.frame;
  if (frame < 0 || frame >= frames.length) {
    const end =
      wanted === undefined || Math.abs(frame - d.frame) !== 1
        ? `There is no frame ${frame}.`
        : frame < 0
          ? 'This is the innermost frame: it has called nothing.'
          : 'This is the outermost frame: nothing called it.';
    throw bad(end, `'backtrace' lists them: 0 to ${frames.length - 1}.`);
  }
  d.frame = frame;
  s.listed = undefined;
  const source = sourceLine(s, frames[frame]?.frame.line);
  return show(s, [frames[frame]?.text as string, ...(source === undefined ? [] : [source])]);
}

const byName = entriesByName(COMMANDS);
const refused = entriesByName(REFUSED);

function entriesByName(all: readonly CommandEntry[]): ReadonlyMap<string, CommandEntry> {
  return new Map(all.flatMap((c) => c.names.map((name): [string, CommandEntry] => [name, c])));
}

const ofName = (name: string): CommandEntry | undefined =>
  byName.get(name.toLowerCase()) ?? refused.get(name.toLowerCase());

/** The command of a name, or the only one whose name begins so. */
function commandOf(typed: string): CommandEntry {
  const name = typed.toLowerCase();
  const known = ofName(name);
  if (known !== undefined) return known;
  const all = name === '' ? [] : [...byName].filter(([one]) => one.startsWith(name));
  const meant = new Set(all.map(([, entry]) => entry));
  const [only] = meant;
  if (meant.size === 1 && only !== undefined) return only;
  if (meant.size > 1) throw bad(`'${typed}' may be ${all.map(([one]) => one).join(', ')}.`);
  throw bad(`There is no command '${typed}'.`, "'help' lists the commands.");
}

/** Runs one command line; the result says how execution goes on, or is undefined to ask for the next command. What is wrong is printed. */
export function runCommand(session: CommandSession, line: string): Resume | undefined {
  try {
    return executeCommand(session, line);
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    session.print(error.format());
    return undefined;
  }
}

// `p*x` and `x/4i$pc` are understood as gdb does.
const COMMAND = /^\s*([a-z][\w-]*|\?|!|[^\s/]*)(?:\/(-?\w*|\S*))?\s*(.*)$/is;

/** Whether a line begins with the name of a command, in full, or of one of gdb's that is refused. */
export function beginsWithCommand(line: string): boolean {
  return ofName(COMMAND.exec(line)?.[1] ?? '') !== undefined;
}

/** What sets the variable that it begins with: `n = 4`, `n <<= 1`, `n++`, and, without a blank, `n[2] = 4`, `n.x = 4`, `n->x = 4`. */
const SETS_NAME = /^\s*([a-z_]\w*)(?:\s*(?:<<|>>|[-+*/%&|^])?=(?!=)|\s*(?:\+\+|--)\s*$|\.|\[|->)/i;

/** Whether a line sets a variable of the source program. It goes before a command of its name: no command has an `=` there. */
function setsVariable({ debugger: d }: CommandSession, line: string): boolean {
  const name = SETS_NAME.exec(line)?.[1];
  return name !== undefined && hasAssignment(line) && variableToSet(d, name) !== undefined;
}

/** The same; what is wrong is thrown. */
export function executeCommand(session: CommandSession, line: string): Resume | undefined {
  if (setsVariable(session, line)) return set(session, { words: [], rest: `variable ${line.trim()}`, format: '' });
  const match = COMMAND.exec(line);
  const rest = (match?.[3] ?? '').trim();
  const words = rest === '' ? [] : rest.split(/\s+/);
  return commandOf(match?.[1] ?? '').run(session, { words, rest, format: match?.[2] ?? '' }, runCommand);
}

/** What may be typed where a line ends, for a terminal's completion. */
export function completions(session: CommandSession, line: string): readonly [readonly string[], string] {
  return completionsOf(session.debugger, line, [...byName.keys()], INFO_TOPICS);
}

/** The commands as lines of help text. */
export function debuggerHelp(): string[] {
  return COMMANDS.flatMap(helpOf);
}

const helpOf = (c: CommandEntry): string[] =>
  c.usage === '' ? ['no command here'] : [`${c.usage.padEnd(42)} ${c.summary}`];
