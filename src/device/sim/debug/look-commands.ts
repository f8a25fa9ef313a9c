// Commands that show and change registers and memory, and select waves and lanes.
import { demangle } from '../../../base/index.ts';
import type { DebugLine } from '../../../codeobject/index.ts';
import { Slot } from '../../../program/index.ts';
import { EXEC, VCC } from '../state/wave.ts';
import { hex, hexWord } from '../tools/lanes.ts';
import { readRegisters, valueText as registerText, scalarValue } from '../tools/registers.ts';
import { listBreakpoints } from './breakpoint-commands.ts';
import { bad, type CommandLine, type CommandSession, count, MOST, MOST_STEPS, place, places, show } from './command.ts';
import type { Debugger } from './debugger.ts';
import { addressIn } from './examine.ts';
import { lineText } from './frames.ts';
import { kernelParameters } from './kernel-arguments.ts';
import { backtrace, dump, placeText, selectedWave, wavesText, waveText } from './look.ts';
import { activeLanes, withoutVariables } from './scope.ts';
import { variablesOf } from './source-variables.ts';
import { addressOf, codeAt, codeText, symbolText, variableSymbol } from './type-commands.ts';
import type { VariableKind } from './typed.ts';
import { operandText } from './variable-text.ts';

export function registers(session: CommandSession, words: readonly string[]): undefined {
  const w = selectedWave(session.debugger);
  if (words.length > 0) {
    return show(
      session,
      words.flatMap((word) =>
        /^\$?pc$/i.test(word)
          ? [`pc=${placeText(session.debugger, session.debugger.pc)}`]
          : readRegisters(w, word.replace(/^\$/, ''), 'all').map(registerText),
      ),
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

export function selectWave(session: CommandSession, [text]: readonly string[]): undefined {
  const d = session.debugger;
  if (text === undefined && d.selected !== undefined) {
    return show(
      session,
      wavesText(d, false).filter((line) => line.startsWith('*')),
    );
  }
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

/** What `info` tells of. Of those that begin alike the first is meant. */
export const INFO_TOPICS = [
  ...([
    'registers',
    'breakpoints',
    'watchpoints',
    'waves',
    'wavefronts',
    'threads',
    'arguments',
    'args',
    'locals',
    'variables',
  ] as const),
  ...([
    'frame',
    'scope',
    'stack',
    'address',
    'symbol',
    'source',
    'functions',
    'line',
    'display',
    'history',
    'lanes',
  ] as const),
];

/** Functions of the file, or those whose names have a text in them. */
function functionsText(d: Debugger, part: string): string[] {
  const all = d.options.symbols.symbols.filter(({ size }) => size > 0);
  const found = all.flatMap(({ address, name }) => {
    const text = demangle(name);
    return text.includes(part) ? [`${hex(address).padStart(10)}  ${text}`] : [];
  });
  return found.length > 0 || part === '' ? found : [`No function has '${part}' in its name.`];
}

export function info(session: CommandSession, { words }: CommandLine): undefined {
  const [what = '', ...rest] = words;
  const d = session.debugger;
  const topics: Record<(typeof INFO_TOPICS)[number], () => undefined> = {
    registers: () => registers(session, rest),
    breakpoints: () => listBreakpoints(session, true, rest),
    watchpoints: () => listBreakpoints(session, false, rest),
    scope: () => show(session, scopeText(session, rest.join(' ') || undefined)),
    stack: () => backtraceCommand(session, { words: rest, rest: rest.join(' '), format: '' }),
    address: () => show(session, [addressText(session, rest.join(' '))]),
    waves: () => show(session, wavesText(d, true)),
    wavefronts: () => show(session, wavesText(d, true)),
    lanes: () => show(session, lanesText(d)),
    threads: () => show(session, wavesText(d, true)),
    arguments: () => show(session, argumentsText(d)),
    locals: () => show(session, variablesText(d, ['local'])),
    variables: () => show(session, variablesText(d, ['global'])),
    args: () => show(session, parametersText(d)),
    frame: () =>
      show(
        session,
        backtrace(d, selectedWave(d))
          .slice(d.frame, d.frame + 2)
          .map(({ text }, i) => (i === 0 ? text : `called by ${text}`)),
      ),
    symbol: () => show(session, [symbolIn(session, rest.join(' '))]),
    source: () => show(session, d.options.lines?.files() ?? ['no debug information: compile with -g']),
    functions: () => show(session, functionsText(d, rest.join(' '))),
    line: () => show(session, linesText(session, rest.join(' '))),
    display: () =>
      show(
        session,
        session.displays.length === 0
          ? ['no expression is displayed']
          : session.displays.map(
              ({ id, text, format, isOff }) =>
                `${id}  ${format === '' ? '' : `/${format} `}${text}${isOff === true ? ' (disabled)' : ''}`,
            ),
      ),
    history: () =>
      show(session, [
        d.past.isKept ? `instruction ${d.time}; back to ${d.past.start}` : `instruction ${d.time}; no history`,
      ]),
  };
  const asked = what === 'all-registers' ? 'registers' : what;
  const name = INFO_TOPICS.find((topic) => asked !== '' && topic.startsWith(asked));
  if (name === undefined) throw bad(`There is no information on '${what}'.`, `Topics: ${INFO_TOPICS.join(', ')}.`);
  return topics[name]();
}

/** Where the code of a place is, and its line; without a place, of the function that is shown. */
function linesText(session: CommandSession, asked: string): string[] {
  const d = session.debugger;
  const text = (pc: number, line: DebugLine | undefined): string =>
    `${placeText(d, pc)} ${lineText(line) ?? '(no source line)'}`;
  if (asked === '') return [text(d.shownFrame?.pc ?? d.pc, d.shownFrame?.line)];
  return places(session, asked).map((pc) => text(pc, d.lineOfPlace(pc, asked)));
}

/** Which lanes of the wave EXEC turns on, and which is selected. */
function lanesText(d: Debugger): string[] {
  const w = selectedWave(d);
  const lanes = activeLanes(w);
  const off = 64 - lanes.length;
  const ranges: string[] = [];
  for (let i = 0; i < lanes.length; ) {
    let end = i;
    while (lanes[end + 1] === (lanes[end] as number) + 1) end++;
    ranges.push(end === i ? String(lanes[i]) : `${lanes[i]}-${lanes[end]}`);
    i = end + 1;
  }
  return [
    `lane ${d.lane} is selected`,
    `active: ${ranges.join(', ') || 'none'}`,
    `${off} ${off === 1 ? 'is' : 'are'} off`,
  ];
}

function argumentsText(d: Debugger): string[] {
  const described = kernelParameters(d.selected, d.lane, d);
  return d.options.arguments().map(({ name, address, size, bytes }, i) => {
    const parameter = described?.[i];
    const label = parameter?.name || name || `arg${i}`;
    if (parameter !== undefined && address === undefined) return `${label} = ${operandText(parameter)}`;
    if (address !== undefined) return `${label} = ${hex(address)} (buffer of ${size} bytes)`;
    return `${label} = 0x${[...(bytes ?? [])]
      .reverse()
      .map((b) => b.toString(16).padStart(2, '0'))
      .join('')}`;
  });
}

/** `backtrace [full] [N|-N]`. */
export function backtraceCommand(session: CommandSession, { words }: CommandLine): undefined {
  const d = session.debugger;
  const isFull = words.some((word) => /^-?full$/.test(word));
  const number = words.find((word) => !/^-?full$/.test(word));
  const all = backtrace(d, selectedWave(d));
  const n = number === undefined ? all.length : count(number.replace(/^-/, ''), 1, MOST_STEPS, 'calls');
  const from = number?.startsWith('-') === true ? Math.max(0, all.length - n) : 0;
  const { frame } = d;
  const lines = all.slice(from, from + n).flatMap(({ text }, i) => {
    d.frame = from + i;
    return isFull ? [text, ...variablesText(d, ['parameter', 'local']).map((line) => `      ${line}`)] : [text];
  });
  d.frame = frame;
  if (from + n < all.length) lines.push(`(${all.length - from - n} more)`);
  return show(session, lines);
}

/** Variables in scope at a place, and where they are there. */
function scopeText(session: CommandSession, text: string | undefined): string[] {
  const d = session.debugger;
  if (d.info === undefined) return ['no debug information: compile with -g'];
  const pc = text === undefined ? d.pc : place(session, text);
  const all = d.info.variables(pc).filter((v) => !v.isGlobal);
  if (all.length === 0) return ['no variables'];
  return all.map((v) => {
    const at = v.place(pc, d.kernelAt);
    const where =
      at.kind === 'absent'
        ? at.why
        : {
            constant: 'a constant',
            computed: 'computed from registers',
            registers: 'in registers',
            scratch: 'in scratch',
            global: 'in memory',
            lds: 'in LDS',
            pieces: 'in several places',
          }[at.kind];
    return `${v.name}: ${v.type.name}, ${where}`;
  });
}

/** Where a function or a variable is. */
function addressText(session: CommandSession, text: string): string {
  const d = session.debugger;
  const code = codeAt(d, text);
  return code === undefined ? addressOf(session, text) : codeText(d, code);
}

/** What is at an address, or where a function or a variable of the whole program is. */
function symbolIn(session: CommandSession, text: string): string {
  const d = session.debugger;
  const variable = codeAt(d, text) === undefined ? variableSymbol(session, text) : undefined;
  return variable ?? symbolText(session, addressNamed(d, text) ?? place(session, text));
}

/** The address that a function's name or an expression with `$` is; undefined for other places. */
function addressNamed(d: Debugger, text: string): number | undefined {
  const code = codeAt(d, text);
  if (code !== undefined) return code.address;
  return /^(?:\$|0x|\*)/.test(text) ? Number(addressIn(d, text)) : undefined;
}

/** Variables of the source program: those of the function that is shown, or of the whole program. */
function variablesText(d: Debugger, kinds: readonly VariableKind[]): string[] {
  if (d.info === undefined) return ['no debug information: compile with -g'];
  const all = variablesOf(selectedWave(d), d.lane, d).filter((v) => kinds.includes(v.kind));
  return all.length === 0
    ? [withoutVariables(d) ?? 'no variables']
    : all.map((v) => `${v.name} = ${operandText(v, '', d.remembered)}`);
}

/** Parameters of the function that is shown; without debug information, arguments of the kernel. */
function parametersText(d: Debugger): string[] {
  const isKnown = d.shownFrame?.name !== undefined;
  // Of the kernel they are known without it, too.
  const why = isKnown && d.frame === d.framesOf(selectedWave(d)).length - 1 ? withoutVariables(d) : undefined;
  if (why !== undefined) return [why, ...argumentsText(d)];
  return isKnown ? variablesText(d, ['parameter']) : argumentsText(d);
}
