// Commands that show and change registers and memory, and select waves and lanes.
import { elementType } from '../../../base/index.ts';
import { Slot } from '../../../program/index.ts';
import { EXEC, VCC, type Wave } from '../state/wave.ts';
import { hex, hexWord } from '../tools/lanes.ts';
import { readRegisters, valueText as registerText, scalarValue } from '../tools/registers.ts';
import { setVariable, variableAt } from './assign.ts';
import { listBreakpoints } from './breakpoint-commands.ts';
import { bytesOf, registerBits, setBytes, setRegister } from './change.ts';
import { bad, type CommandLine, type CommandSession, count, MOST, place, show } from './command.ts';
import type { Debugger } from './debugger.ts';
import { valueType } from './expression.ts';
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
import { addressNumber } from './scope.ts';
import { findVariable, partAt, type VariableKind, variablesOf, variableText } from './source-variables.ts';
import { addressOf, symbolText } from './type-commands.ts';

export function registers(session: CommandSession, words: readonly string[]): undefined {
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

export function lds(session: CommandSession, [from = '0', bytes]: readonly string[]): undefined {
  const w = selectedWave(session.debugger);
  const size = w.workgroup.lds.byteLength;
  const start = /^(0x[0-9a-f]{1,8}|\d{1,8})$/i.test(from) ? Number(from) : Number.NaN;
  if (!(start >= 0 && start < size)) throw bad(`'${from}' is not in the workgroup's LDS of ${size} bytes.`);
  const shown = Math.min(count(bytes, 64, MOST, 'bytes'), size - start);
  return show(session, dump(w.workgroup.lds.subarray(start, start + shown), start));
}

export function memory(session: CommandSession, [where, bytes]: readonly string[]): undefined {
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

/** The space that `lds + 16` or `scratch` names, and the rest as an offset in it; an argument of that name is meant by it. */
function spaceNamed(
  d: Debugger,
  text: string,
): { readonly space: 'lds' | 'scratch'; readonly offset: string } | undefined {
  const [, name, offset = ''] = /^\s*(lds|scratch)\s*(?:\+\s*(.+)|$)/i.exec(text) ?? [];
  if (name === undefined || d.options.arguments().some((a) => a.name === name)) return undefined;
  return { space: name.toLowerCase() as 'lds' | 'scratch', offset: offset === '' ? '0' : offset };
}

/** `x/NFU EXPRESSION`: N elements; F of x d u f i; U of b h w g. Without a format: `memory`. */
export function examineCommand(session: CommandSession, { words, rest, format }: CommandLine): undefined {
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
  const { space, offset } = spaceNamed(d, rest) ?? { space: 'global', offset: rest };
  const value = evaluate(d, offset);
  if (typeof value === 'number') throw bad(`'${offset}' is a float, not an address.`);
  return show(session, examine(d, space, value, n, type, isHex ? 'x' : ''));
}

export function printCommand(session: CommandSession, { rest, format }: CommandLine): undefined {
  const d = session.debugger;
  if (rest === '') throw bad('An expression is missing.', 'For example: print v3 + 1, print/f v3, print *f32(x + 4).');
  // As in gdb: an assignment is made, and &NAME is where a variable is.
  if (/^[^=<>!]+=(?!=)/.test(rest)) return set(session, { words: [], rest, format: '' });
  if (/^&\s*[A-Za-z_]/.test(rest)) return show(session, [`${rest} = ${addressOf(session, rest.slice(1).trim())}`]);
  return show(session, [`${rest} = ${variableNamed(d, rest, format) ?? valueText(evaluate(d, rest), format)}`]);
}

/** A whole variable of the source program as C would write it. */
function variableNamed(d: Debugger, text: string, format: string): string | undefined {
  if (format !== '' || d.selected === undefined || !/^[A-Za-z_]\w*(\.[A-Za-z_]\w*|\[\d{1,9}\])*$/.test(text))
    return undefined;
  const [name = '', ...path] = text
    .split(/[.[]/)
    .map((step) => (step.endsWith(']') ? Number.parseInt(step, 10) : step));
  if (typeof name !== 'string') return undefined;
  const found = findVariable(d.selected, d.lane, d, name);
  return found === undefined ? undefined : variableText(partAt(found, path));
}

export function selectWave(session: CommandSession, [text]: readonly string[]): undefined {
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

export function selectLane(session: CommandSession, [text]: readonly string[]): undefined {
  const d = session.debugger;
  const w = selectedWave(d);
  if (text === undefined) return show(session, [`lane ${d.lane}`]);
  if (!/^\d{1,2}$/.test(text) || Number(text) > 63) throw bad(`'${text}' is not a lane from 0 to 63.`);
  d.lane = Number(text);
  return show(session, [`lane ${d.lane}${w.isActive(d.lane) ? '' : ' (not active)'}`]);
}

/** `set REGISTER VALUE`, `set VARIABLE = VALUE`, `set pc PLACE`, `set *TYPE(ADDRESS) VALUE`. */
export function set(session: CommandSession, { rest }: CommandLine): undefined {
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
  const variable = variableAt(d, w, register);
  if (variable !== undefined) {
    setVariable(d, w, variable, value);
    return show(session, [`${register} = ${variableText(variable)}`]);
  }
  setRegister(d, w, register, registerBits(evaluate(d, value)));
  return show(session, readRegisters(w, register.replace(/^([va]\d+)\[\d+\]$/i, '$1'), 'few').map(registerText));
}

function setMemory(session: CommandSession, w: Wave, typeName: string, address: string, text: string): undefined {
  const d = session.debugger;
  const type = valueType(typeName);
  if (type === undefined) throw bad(`'${typeName}' is not a type: f32, u32, i16, …`);
  const at = evaluate(d, address);
  const value = evaluate(d, text);
  if (typeof at === 'number') throw bad(`'${address}' is a float, not an address.`);
  const where = addressNumber(at);
  setBytes(d, w, 'global', where, bytesOf(value, type));
  return show(session, [`*${typeName}(${hex(where)}) = ${valueText(evaluate(d, `*${typeName}(${where})`))}`]);
}

/** What `info` tells of. Of those that begin alike the first is meant. */
export const INFO_TOPICS = [
  ...([
    'registers',
    'breakpoints',
    'watchpoints',
    'waves',
    'threads',
    'arguments',
    'args',
    'locals',
    'variables',
  ] as const),
  ...(['frame', 'symbol', 'source', 'functions', 'line', 'display', 'history'] as const),
];

export function info(session: CommandSession, { words }: CommandLine): undefined {
  const [what = '', ...rest] = words;
  const d = session.debugger;
  const topics: Record<(typeof INFO_TOPICS)[number], () => undefined> = {
    registers: () => registers(session, rest),
    breakpoints: () => listBreakpoints(session, true),
    watchpoints: () => listBreakpoints(session, false),
    waves: () => show(session, wavesText(d, true)),
    threads: () => show(session, wavesText(d, true)),
    arguments: () => show(session, argumentsText(d)),
    locals: () => show(session, variablesText(d, ['parameter', 'local'])),
    variables: () => show(session, variablesText(d, ['global'])),
    args: () => show(session, parametersText(d)),
    frame: () =>
      show(
        session,
        backtrace(d, selectedWave(d))
          .slice(d.frame, d.frame + 2)
          .map(({ text }, i) => (i === 0 ? text : `called by ${text}`)),
      ),
    symbol: () => show(session, [symbolText(session, place(d, rest.join(' ') || undefined))]),
    source: () => show(session, d.options.lines?.files() ?? ['no debug information: compile with -g']),
    functions: () =>
      show(
        session,
        d.options.symbols.symbols.filter((s) => s.size > 0).map((s) => `${hex(s.address).padStart(10)}  ${s.name}`),
      ),
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
  const asked = what === 'all-registers' ? 'registers' : what;
  const name = INFO_TOPICS.find((topic) => asked !== '' && topic.startsWith(asked));
  if (name === undefined) throw bad(`There is no information on '${what}'.`, `Topics: ${INFO_TOPICS.join(', ')}.`);
  return topics[name]();
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

/** Variables of the source program: those of the function that is shown, or of the whole program. */
function variablesText(d: Debugger, kinds: readonly VariableKind[]): string[] {
  if (d.info === undefined) return ['no debug information: compile with -g'];
  const all = variablesOf(selectedWave(d), d.lane, d).filter((v) => kinds.includes(v.kind));
  return all.length === 0 ? ['no variables'] : all.map((v) => `${v.name} = ${variableText(v)}`);
}

/** Parameters of the function that is shown; without debug information, arguments of the kernel. */
function parametersText(d: Debugger): string[] {
  const isKnown = d.selected !== undefined && d.framesOf(d.selected)[d.frame]?.name !== undefined;
  return isKnown ? variablesText(d, ['parameter']) : argumentsText(d);
}
