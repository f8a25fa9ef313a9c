// The commands of the debugger as a terminal types them, in gdb's words. Each looks at, or changes, the selected wave, and may let
// execution go on. What they show is in look.ts.
import { elementType, WavesmithError } from '../../../base/index.ts';
import { Slot } from '../../../program/index.ts';
import { EXEC, VCC, type Wave } from '../state/wave.ts';
import { hex, hexWord } from '../tools/lanes.ts';
import { readRegisters, valueText as registerText, scalarValue, writeRegister } from '../tools/registers.ts';
import type { Debugger } from './debugger.ts';
import { parseExpression, valueType } from './expression.ts';
import {
  backtrace,
  disassembly,
  dump,
  evaluate,
  examine,
  placeText,
  selectedWave,
  valueText,
  wavesText,
  waveText,
} from './look.ts';
import { placesOf } from './places.ts';
import { addressNumber, loadBytes, storeBytes } from './scope.ts';
import type { BackTarget, Resume } from './stop.ts';

/** What a command works on. */
export interface CommandSession {
  readonly debugger: Debugger;
  readonly print: (text: string) => void;
  /** Expressions that are shown at each stop. */
  readonly displays: { readonly id: number; readonly text: string }[];
  stopsAtEnd: boolean;
}

/** A command line: its words, all after the first as one text, and what stands behind `/` in the first. */
interface CommandLine {
  readonly words: readonly string[];
  readonly rest: string;
  readonly format: string;
}

type Run = (session: CommandSession, line: CommandLine) => Resume | undefined;

interface CommandEntry {
  readonly names: readonly string[];
  readonly usage: string;
  readonly summary: string;
  readonly run: Run;
}

function bad(message: string, hint?: string): WavesmithError {
  return new WavesmithError('run/bad-command', message, { hint });
}

/** Most commands print at most this many lines, bytes or elements at once. */
const MOST = 4096;
const MOST_STEPS = 1_000_000_000;

function count(text: string | undefined, fallback: number, most: number, what: string): number {
  if (text === undefined) return fallback;
  const value = /^(0x[0-9a-f]{1,8}|\d{1,10})$/i.test(text) ? Number(text) : Number.NaN;
  if (!(value >= 1 && value <= most)) throw bad(`'${text}' is not a number of ${what} from 1 to ${most}.`);
  return value;
}

const show = (session: CommandSession, lines: readonly string[]): undefined => {
  session.print(lines.join('\n'));
  return undefined;
};

/** Addresses of a place; a bare number below the code is a line of the file where execution is. */
function places(d: Debugger, text: string | undefined): readonly number[] {
  if (text === undefined) throw bad('A place is missing: an address, a label, +N from the kernel start, or FILE:LINE.');
  return placesOf(d.options.symbols, d.options.lines, text, d.options.lines?.at(d.pc)?.file);
}

/** The first of them. */
function place(d: Debugger, text: string | undefined): number {
  return places(d, text)[0] as number;
}

/** `PLACE [if CONDITION]`. */
function setBreakpoint(session: CommandSession, { rest }: CommandLine, isTemporary: boolean): undefined {
  const d = session.debugger;
  const match = /^(.*?)(?:\s*\bif\b\s+(.+))?$/.exec(rest);
  const where = match?.[1]?.trim() ?? '';
  const found = where === '' ? [d.pc] : places(d, where);
  const made = d.breakpoints.add({ places: found, condition: match?.[2], isTemporary });
  return show(session, [`breakpoint ${made.id} at ${placesText(d, found)}`]);
}

/** Several addresses of one place. */
function placesText(d: Debugger, all: readonly number[]): string {
  return all.map((pc) => placeText(d, pc)).join(', ');
}

function listBreakpoints(session: CommandSession): undefined {
  const { breakpoints } = session.debugger;
  const lines = breakpoints.breakpoints.map((b) => {
    const only = b.wave === undefined ? '' : ` wave ${b.wave.workgroup.join(',')}/${b.wave.wave}`;
    const condition = b.condition === undefined ? '' : ` if ${b.condition}`;
    const ignoring = b.ignoring > 0 ? `, ignored ${b.ignoring} times more` : '';
    return `${b.id}  ${placesText(session.debugger, b.places)}${only}${condition}${b.isEnabled ? '' : ' (disabled)'}, hit ${b.hits} times${ignoring}`;
  });
  for (const w of breakpoints.watchpoints) {
    const at = w.wave === undefined ? '' : ` of wave ${w.wave.workgroup.join(',')}/${w.wave.wave}`;
    lines.push(
      `${w.id}  watch ${w.expression.text}${at}${w.isEnabled ? '' : ' (disabled)'}, hit ${w.hits} times, now ${valueText(w.last)}`,
    );
  }
  return show(session, lines.length === 0 ? ['no breakpoints'] : lines);
}

const ids = (words: readonly string[]): number[] => words.map((word) => count(word, 0, 1_000_000, 'a breakpoint'));

function enable(session: CommandSession, { words }: CommandLine, isEnabled: boolean): undefined {
  const { breakpoints } = session.debugger;
  const some =
    words.length === 0
      ? [...breakpoints.breakpoints, ...breakpoints.watchpoints]
      : ids(words).map((id) => breakpoints.find(id));
  for (const one of some) one.isEnabled = isEnabled;
  return undefined;
}

/** By number, by place, or all. */
function remove(session: CommandSession, { words }: CommandLine): undefined {
  const d = session.debugger;
  if (words.length === 0) d.breakpoints.clear();
  for (const word of words) {
    if (
      /^\d{1,6}$/.test(word) &&
      [...d.breakpoints.breakpoints, ...d.breakpoints.watchpoints].some((b) => b.id === Number(word))
    ) {
      d.breakpoints.remove(Number(word));
      continue;
    }
    const pc = place(d, word);
    const there = d.breakpoints.breakpoints.filter((b) => b.places.includes(pc));
    if (there.length === 0) throw bad(`There is no breakpoint at ${word}.`);
    for (const b of there) d.breakpoints.remove(b.id);
  }
  return undefined;
}

function registers(session: CommandSession, words: readonly string[]): undefined {
  const w = selectedWave(session.debugger);
  if (words.length > 0) {
    return show(
      session,
      words.flatMap((word) => readRegisters(w, word, 'all').map(registerText)),
    );
  }
  const specials = [
    scalarValue(w, { first: VCC, count: 2 }),
    scalarValue(w, { first: EXEC, count: 2 }),
    scalarValue(w, { first: Slot.SCC, count: 1 }),
    scalarValue(w, { first: Slot.M0, count: 1 }),
    scalarValue(w, { first: Slot.MODE, count: 1 }),
  ].map(registerText);
  const lines = [specials.join('  ')];
  for (let row = 0; row < 104; row += 8) {
    const values = Array.from({ length: Math.min(8, 102 - row) }, (_, i) => w.sgprs[row + i] as number);
    if (values.some((value) => value !== 0)) lines.push(`s${row}`.padEnd(5) + values.map(hexWord).join(' '));
  }
  return show(session, lines);
}

function lds(session: CommandSession, [from = '0', bytes]: readonly string[]): undefined {
  const w = selectedWave(session.debugger);
  const size = w.workgroup.lds.byteLength;
  const start = /^(0x[0-9a-f]{1,8}|\d{1,8})$/i.test(from) ? Number(from) : Number.NaN;
  if (!(start >= 0 && start < size)) throw bad(`'${from}' is not in the workgroup's LDS of ${size} bytes.`);
  const shown = Math.min(count(bytes, 64, MOST, 'bytes'), size - start);
  return show(session, dump(w.workgroup.lds.subarray(start, start + shown), start));
}

function memory(session: CommandSession, [where, bytes]: readonly string[]): undefined {
  if (where === undefined) throw bad('An address is missing.');
  const d = session.debugger;
  const value = evaluate(d, where);
  if (typeof value === 'number') throw bad(`'${where}' is a float, not an address.`);
  const address = addressNumber(value);
  const argument = d.options
    .arguments()
    .find((a) => a.name === where || `arg${d.options.arguments().indexOf(a)}` === where);
  if (argument !== undefined && argument.address === undefined) throw bad(`Argument ${where} is not a buffer.`);
  const region = d.memory?.find(address, 1);
  if (region === undefined)
    throw bad(`Nothing is allocated at ${hex(address)}.`, "'info arguments' shows the buffers.");
  const offset = address - region.base;
  const size = Math.min(count(bytes, 64, MOST, 'bytes'), region.size - offset);
  return show(session, [`${region.label}+${offset}`, ...dump(region.bytes.subarray(offset, offset + size), address)]);
}

const UNITS: Readonly<Record<string, number>> = { b: 8, h: 16, w: 32, g: 64 };

/** `x/NFU EXPRESSION`: N elements; F of x d u f i; U of b h w g. Without a format: `memory`. */
function examineCommand(session: CommandSession, { words, rest, format }: CommandLine): undefined {
  if (format === '') return memory(session, words);
  const d = session.debugger;
  const match = /^(\d{0,5})([a-z]*)$/i.exec(format);
  if (match === null || rest === '')
    throw bad('Write x/16xw ADDRESS: a count, a format (x d u f i), a size (b h w g).');
  const letters = (match[2] ?? '').toLowerCase();
  const n = count(match[1] === '' ? undefined : match[1], 1, MOST, 'elements');
  if (letters.includes('i')) return show(session, disassembly(d, place(d, rest.trim()), 0, n));
  const bits = UNITS[[...letters].find((c) => c in UNITS) ?? 'w'] as number;
  const kind = letters.includes('f') ? 'f' : letters.includes('d') ? 'i' : 'u';
  const type = valueType(`${kind}${kind === 'f' ? Math.max(16, bits) : bits}`) ?? elementType('u32');
  const isHex = !/[duf]/.test(letters);
  const value = evaluate(d, rest);
  if (typeof value === 'number') throw bad(`'${rest}' is a float, not an address.`);
  return show(session, examine(d, 'global', value, n, type, isHex ? 'x' : ''));
}

function printCommand(session: CommandSession, { rest, format }: CommandLine): undefined {
  const d = session.debugger;
  if (rest === '') throw bad('An expression is missing.', 'For example: print v3 + 1, print/f v3, print *f32(x + 4).');
  return show(session, [`${rest} = ${valueText(evaluate(d, rest), format)}`]);
}

function selectWave(session: CommandSession, [text]: readonly string[]): undefined {
  const d = session.debugger;
  const all = text?.includes('/') === true;
  const found = (all ? d.allWaves : d.waves).find((w) => (all ? waveText(w) : String(w.index)) === text);
  if (found === undefined) {
    throw bad(
      `'${text ?? ''}' is not a wave of this workgroup (0 to ${d.waves.length - 1}).`,
      "'info waves' lists those of all workgroups; select one as 1,0,0/0.",
    );
  }
  d.select(found);
  return show(session, wavesText(d, all));
}

function selectLane(session: CommandSession, [text]: readonly string[]): undefined {
  const d = session.debugger;
  const w = selectedWave(d);
  if (text === undefined) return show(session, [`lane ${d.lane}`]);
  if (!/^\d{1,2}$/.test(text) || Number(text) > 63) throw bad(`'${text}' is not a lane from 0 to 63.`);
  d.lane = Number(text);
  return show(session, [`lane ${d.lane}${w.isActive(d.lane) ? '' : ' (not active)'}`]);
}

/** The integer bits of a value that is written: an expression, or a float that becomes f32. */
function parseValue(d: Debugger, text: string): bigint {
  const value = evaluate(d, text);
  return typeof value === 'bigint' ? value : BigInt(new Uint32Array(Float32Array.of(value).buffer)[0] as number);
}

/** `set REGISTER VALUE`, `set pc PLACE`, `set *TYPE(ADDRESS) VALUE`. */
function set(session: CommandSession, { rest }: CommandLine): undefined {
  const d = session.debugger;
  const w = selectedWave(d);
  const text = rest.replace(/^var(iable)?\s+/, '');
  const memoryPlace = /^\*(\w+)\s*(\(.*\))\s*=?\s*([^()=]+)$/.exec(text);
  if (memoryPlace !== null)
    return setMemory(session, w, memoryPlace[1] ?? '', memoryPlace[2] ?? '', memoryPlace[3] ?? '');
  const match = /^\$?(\S+?)\s*(?:=|\s)\s*(.+)$/.exec(text);
  if (match === null) throw bad('Write: set REGISTER VALUE, set pc PLACE, or set *f32(ADDRESS) VALUE.');
  const [, register = '', value = ''] = match;
  if (register === 'pc') {
    d.jump(w, place(d, value.trim()));
    return show(session, [`pc = ${placeText(d, d.pc)}`]);
  }
  const bits = parseValue(d, value);
  // A register that does not exist, or a value that does not fit, throws before anything is remembered.
  writeRegister(w, register, bits);
  const key = { group: w.workgroup.id.join(), index: w.index };
  d.change(() => {
    const now = d.allWaves.find((one) => one.workgroup.id.join() === key.group && one.index === key.index) ?? w;
    writeRegister(now, register, bits);
  });
  return show(session, readRegisters(w, register.replace(/^([va]\d+)\[\d+\]$/i, '$1'), 'few').map(registerText));
}

function setMemory(session: CommandSession, w: Wave, typeName: string, address: string, text: string): undefined {
  const d = session.debugger;
  const type = valueType(typeName);
  if (type === undefined) throw bad(`'${typeName}' is not a type: f32, u32, i16, …`);
  const at = evaluate(d, address);
  const value = evaluate(d, text);
  if (typeof at === 'number') throw bad(`'${address}' is a float, not an address.`);
  const bytes = new Uint8Array(type.storageBits / 8);
  type.write(new DataView(bytes.buffer), 0, value);
  const where = addressNumber(at);
  loadBytes(w, 'global', where, bytes.length, d.lane);
  d.change(() => storeBytes(w, 'global', where, bytes, 0));
  return show(session, [`*${typeName}(${hex(where)}) = ${valueText(evaluate(d, `*${typeName}(${where})`))}`]);
}

function step(session: CommandSession, { words }: CommandLine, unit: 'instruction' | 'line', over: boolean): Resume {
  const d = session.debugger;
  const byLine = unit === 'line' && d.selected !== undefined && d.lineAt(d.pc) !== undefined;
  return { kind: 'step', count: count(words[0], 1, MOST_STEPS, 'steps'), unit: byLine ? 'line' : 'instruction', over };
}

function back(session: CommandSession, to: BackTarget, words: readonly string[] = []): Resume {
  const d = session.debugger;
  if (!d.hasHistory) {
    throw new WavesmithError('run/no-history', 'There is no past to go back to: other tools observe this run too.', {
      hint: 'Leave out --trace, --counters and --profile.',
    });
  }
  const byLine = d.selected !== undefined && d.lineAt(d.pc) !== undefined;
  const target = to === 'line' && !byLine ? 'instruction' : to === 'line over' && !byLine ? 'instruction over' : to;
  return { kind: 'back', to: target, count: count(words[0], 1, MOST_STEPS, 'steps') };
}

function info(session: CommandSession, { words }: CommandLine): undefined {
  const [what = '', ...rest] = words;
  const d = session.debugger;
  const topics: Record<string, () => undefined> = {
    registers: () => registers(session, rest),
    breakpoints: () => listBreakpoints(session),
    watchpoints: () => listBreakpoints(session),
    waves: () => show(session, wavesText(d, true)),
    threads: () => show(session, wavesText(d, true)),
    arguments: () => show(session, argumentsText(d)),
    args: () => show(session, argumentsText(d)),
    line: () => show(session, [`${placeText(d, d.pc)} ${d.lineAt(d.pc) ?? '(no source line)'}`]),
    display: () =>
      show(
        session,
        session.displays.map(({ id, text }) => `${id}  ${text}`),
      ),
    history: () =>
      show(session, [
        d.hasHistory ? `instruction ${d.time}; back to ${d.startOfHistory}` : `instruction ${d.time}; no history`,
      ]),
  };
  const name = Object.keys(topics).find((topic) => what !== '' && topic.startsWith(what));
  if (name === undefined)
    throw bad(`There is no information on '${what}'.`, `Topics: ${Object.keys(topics).join(', ')}.`);
  return topics[name]?.();
}

function argumentsText(d: Debugger): string[] {
  return d.options.arguments().map(({ name, address, size, bytes }, i) => {
    const label = name === '' ? `arg${i}` : name;
    if (address !== undefined) return `${label} = ${hex(address)} (buffer of ${size} bytes)`;
    return `${label} = 0x${[...(bytes ?? [])]
      .reverse()
      .map((b) => b.toString(16).padStart(2, '0'))
      .join('')}`;
  });
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
    summary: 'run until the function returns',
    run: (s) => {
      if (s.debugger.callsOf(selectedWave(s.debugger)).length === 0)
        throw bad('This is the kernel itself: nothing called it.');
      return { kind: 'finish' };
    },
  },
  {
    names: ['continue', 'c', 'run'],
    usage: 'continue',
    summary: 'run to the next breakpoint',
    run: () => ({ kind: 'continue' }),
  },
  {
    names: ['until', 'u', 'advance', 'run-to'],
    usage: 'until PLACE',
    summary: 'run until this wave is at a place',
    run: (s, { words }) => ({ kind: 'until', pc: place(s.debugger, words[0]), wave: selectedWave(s.debugger) }),
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
      evaluate(s.debugger, rest);
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
    usage: 'watch EXPRESSION',
    summary: 'stop when its value changes: watch v3, watch *u32(x + 4), watch lds.f32(64)',
    run: (s, { rest }) => {
      const d = s.debugger;
      const made = d.breakpoints.watch(rest, d.selected, d.lane);
      return show(s, [`watchpoint ${made.id}: ${made.expression.text} = ${valueText(made.last)}`]);
    },
  },
  {
    names: ['condition'],
    usage: 'condition N [EXPRESSION]',
    summary: 'change or remove the condition of breakpoint N',
    run: (s, { words: [id = ''], rest }) => {
      const found = s.debugger.breakpoints.breakpoints.find((b) => b.id === Number(id));
      if (found === undefined) throw bad(`There is no breakpoint '${id}'.`);
      const text = rest.replace(/^\S+\s*/, '');
      const expression = text === '' ? undefined : parseExpression(text);
      s.debugger.breakpoints.remove(found.id);
      const made = s.debugger.breakpoints.add({ ...found, condition: expression?.text });
      return show(s, [`breakpoint ${made.id} at ${placesText(s.debugger, made.places)}`]);
    },
  },
  {
    names: ['ignore'],
    usage: 'ignore N COUNT',
    summary: 'pass breakpoint N COUNT times',
    run: (s, { words: [id = '', times] }) => {
      const found = s.debugger.breakpoints.breakpoints.find((b) => b.id === Number(id));
      if (found === undefined) throw bad(`There is no breakpoint '${id}'.`);
      found.ignoring = count(times, 1, MOST_STEPS, 'passes');
      return undefined;
    },
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
    names: ['delete', 'd'],
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
    names: ['print', 'p', 'inspect'],
    usage: 'print[/x|d|u|t|f] EXPRESSION',
    summary: 'a value: v3 + 1, s[2:3], f32(v5), *f32(x + 4), lds.u32(64), v3[5]',
    run: printCommand,
  },
  {
    names: ['memory', 'm'],
    usage: 'memory ADDRESS [BYTES]',
    summary: 'global memory: x, s[4:5], x+16',
    run: (s, { words }) => memory(s, words),
  },
  {
    names: ['x'],
    usage: 'x[/NFU] ADDRESS',
    summary: 'N elements of memory: F x d u f i, U b h w g',
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
    names: ['list', 'l', 'dis', 'disassemble'],
    usage: 'list [PLACE]',
    summary: 'disassembly around the instruction',
    run: (s, { words: [where] }) =>
      show(s, disassembly(s.debugger, where === undefined ? s.debugger.pc : place(s.debugger, where), 5, 8)),
  },
  {
    names: ['backtrace', 'bt', 'where'],
    usage: 'backtrace',
    summary: 'the calls that led here',
    run: (s) =>
      show(
        s,
        backtrace(s.debugger, selectedWave(s.debugger)).map(({ text }) => text),
      ),
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
    summary: 'look at and step another wave',
    run: (s, { words }) => selectWave(s, words),
  },
  {
    names: ['lane'],
    usage: 'lane [N]',
    summary: 'the lane that expressions are about',
    run: (s, { words }) => selectLane(s, words),
  },
  {
    names: ['display'],
    usage: 'display [EXPRESSION]',
    summary: 'show a value at each stop',
    run: (s, { rest }) => {
      if (rest === '') return info(s, { words: ['display'], rest: 'display', format: '' });
      parseExpression(rest);
      const id = (s.displays.at(-1)?.id ?? 0) + 1;
      s.displays.push({ id, text: rest });
      return show(s, displayText(s));
    },
  },
  {
    names: ['undisplay'],
    usage: 'undisplay [N]',
    summary: 'end that',
    run: (s, { words: [id] }) => {
      if (id === undefined) s.displays.length = 0;
      const at = s.displays.findIndex((one) => String(one.id) === id);
      if (at >= 0) s.displays.splice(at, 1);
      return undefined;
    },
  },
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
      d.jump(selectedWave(d), place(d, words[0]));
      return { kind: 'continue' };
    },
  },
  { names: ['detach'], usage: 'detach', summary: 'run to the end without stopping', run: () => ({ kind: 'detach' }) },
  { names: ['quit', 'q', 'kill', 'k'], usage: 'quit', summary: 'end the run', run: () => ({ kind: 'quit' }) },
  { names: ['help', 'h', '?'], usage: 'help', summary: 'this list', run: (s) => show(s, debuggerHelp()) },
];

const byName = new Map(COMMANDS.flatMap((c) => c.names.map((name): [string, CommandEntry] => [name, c])));

/** Runs one command line; the result says how execution goes on, or is undefined to ask for the next command. */
export function runCommand(session: CommandSession, line: string): Resume | undefined {
  const match = /^\s*([^\s/]*)(?:\/(\S*))?\s*(.*)$/s.exec(line);
  const name = match?.[1] ?? '';
  const rest = (match?.[3] ?? '').trim();
  const command = byName.get(name.toLowerCase());
  try {
    if (command === undefined) throw bad(`There is no command '${name}'.`, "'help' lists the commands.");
    return command.run(session, { words: rest === '' ? [] : rest.split(/\s+/), rest, format: match?.[2] ?? '' });
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    session.print(error.format());
    return undefined;
  }
}

/** Values that are shown at each stop. */
export function displayText(session: CommandSession): string[] {
  return session.displays.map(({ id, text }) => {
    try {
      return `${id}: ${text} = ${valueText(evaluate(session.debugger, text))}`;
    } catch (error) {
      if (!(error instanceof WavesmithError)) throw error;
      return `${id}: ${text} = (${error.message})`;
    }
  });
}

/** The commands as lines of help text. */
export function debuggerHelp(): string[] {
  return COMMANDS.map((c) => `${c.usage.padEnd(42)} ${c.summary}`);
}
