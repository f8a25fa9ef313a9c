// The commands of the stepper: each looks at, or changes, the selected wave, and may let execution go on.
import { WavesmithError } from '../../../base/index.ts';
import { decoderFor } from '../../../isa/index.ts';
import { Slot } from '../../../program/index.ts';
import type { BoundInstruction } from '../interpreter/loaded-code.ts';
import { EXEC, VCC, type Wave } from '../state/wave.ts';
import { hex, hexWord, popcount } from './lanes.ts';
import { readRegisters, scalarValue, valueText, writeRegister } from './registers.ts';
import type { Resume, StepperState } from './stepper-state.ts';

type Command = (stepper: StepperState, words: readonly string[], bound: BoundInstruction) => Resume | undefined;

interface CommandEntry {
  readonly names: readonly string[];
  readonly usage: string;
  readonly summary: string;
  readonly run: Command;
}

function bad(message: string, hint?: string): WavesmithError {
  return new WavesmithError('run/bad-command', message, { hint });
}

/** Most commands print at most this many lines, bytes or steps at once. */
const MOST = 4096;
const MOST_STEPS = 1_000_000_000;

function count(text: string | undefined, fallback: number, most: number, what: string): number {
  if (text === undefined) return fallback;
  const value = /^(0x[0-9a-f]{1,8}|\d{1,10})$/i.test(text) ? Number(text) : Number.NaN;
  if (!(value >= 1 && value <= most)) throw bad(`'${text}' is not a number of ${what} from 1 to ${most}.`);
  return value;
}

function wave(stepper: StepperState): Wave {
  if (stepper.selected === undefined) throw bad('No wave is stopped.');
  return stepper.selected;
}

const show = (stepper: StepperState, lines: readonly string[]): undefined => {
  stepper.options.terminal.print(lines.join('\n'));
  return undefined;
};

function place(stepper: StepperState, text: string | undefined): number {
  if (text === undefined) throw bad('A place is missing: an address, a label, or +N from the kernel start.');
  return stepper.options.symbols.resolveInstruction(text);
}

/** Lines of code around an address, the current one marked. */
function disassembly(stepper: StepperState, pc: number, before: number, after: number): string[] {
  const { code, target, symbols, sourceOf } = stepper.options;
  const decoder = decoderFor(target);
  const starts: number[] = [];
  // Instructions have no fixed size: decoding goes forward from a label, far enough away to show what comes before.
  const from = symbols.symbols.find((s) => s.address <= pc && pc - s.address <= MOST)?.address ?? pc;
  let at = from;
  while (at < Math.min(code.size, symbols.end) && starts.filter((s) => s > pc).length < after) {
    starts.push(at);
    at += decoder.decode(code.bytes, at)?.size ?? 4;
  }
  const here = Math.max(0, starts.indexOf(pc));
  let source = '';
  return starts.slice(Math.max(0, here - before), here + after + 1).flatMap((address) => {
    const lines: string[] = [];
    const found = sourceOf?.(address);
    const text = found === undefined ? '' : `${found.file}:${found.line}`;
    if (text !== '' && text !== source) lines.push(`       ${text}`);
    source = text;
    const label = symbols.labelAt(address);
    if (label !== undefined) lines.push(`${label}:`);
    const instruction = decoder.decode(code.bytes, address);
    const words = instruction === undefined ? '(not an instruction)' : symbols.textOf(target, instruction, address);
    const mark = stepper.breakpoints.has(address) ? '*' : ' ';
    lines.push(`${address === pc ? '=>' : '  '}${mark} ${hex(address).padStart(8)}  ${words}`);
    return lines;
  });
}

/** Bytes as lines of four words. */
function dump(view: DataView, start: number, bytes: number, shown: number): string[] {
  const lines: string[] = [];
  for (let at = 0; at < bytes; at += 16) {
    const words: string[] = [];
    const size = Math.min(16, bytes - at);
    for (let n = 0; n + 4 <= size; n += 4) words.push(hexWord(view.getUint32(start + at + n, true)));
    for (let n = size & ~3; n < size; n++) {
      words.push(
        view
          .getUint8(start + at + n)
          .toString(16)
          .padStart(2, '0'),
      );
    }
    lines.push(`${hex(shown + at).padStart(16)}  ${words.join(' ')}`);
  }
  return lines;
}

const lds: Command = (stepper, [from = '0', bytes]) => {
  const { ldsView } = wave(stepper).workgroup;
  const start = /^(0x[0-9a-f]{1,8}|\d{1,8})$/i.test(from) ? Number(from) : Number.NaN;
  if (!(start >= 0 && start < ldsView.byteLength)) {
    throw bad(`'${from}' is not in the workgroup's LDS of ${ldsView.byteLength} bytes.`);
  }
  const size = Math.min(count(bytes, 64, MOST, 'bytes'), ldsView.byteLength - start);
  return show(stepper, dump(ldsView, start, size, start));
};

/** An address: a number, `s[4:5]`, an argument by name or number, each with an optional `+N`. */
function memoryAddress(stepper: StepperState, text: string): number {
  const match = /^(.+?)(?:\+(0x[0-9a-f]{1,12}|\d{1,12}))?$/i.exec(text);
  const name = match?.[1] ?? '';
  const offset = Number(match?.[2] ?? 0);
  if (/^(0x[0-9a-f]{1,13}|\d{1,15})$/i.test(name)) return Number(name) + offset;
  const index = /^arg(\d{1,3})$/.exec(name)?.[1];
  const all = stepper.options.arguments();
  const argument = all.find((a) => a.name === name) ?? (index === undefined ? undefined : all[Number(index)]);
  if (argument !== undefined) {
    if (argument.address === undefined) throw bad(`Argument ${name} is not a buffer.`);
    return argument.address + offset;
  }
  if (/^s\[/.test(name)) {
    const [value] = readRegisters(wave(stepper), name, 'few');
    return Number(BigInt(value?.value ?? '0x0') & 0xffffffffffffn) + offset;
  }
  const names = all.map((a, i) => (a.name === '' ? `arg${i}` : a.name));
  throw bad(`'${name}' is neither an address nor an argument.`, `Arguments: ${names.join(', ')}; registers: s[0:1].`);
}

const memory: Command = (stepper, [where, bytes]) => {
  if (where === undefined) throw bad('An address is missing.');
  const address = memoryAddress(stepper, where);
  const region = wave(stepper).memory.find(address, 1);
  if (region === undefined) throw bad(`Nothing is allocated at ${hex(address)}.`);
  const offset = address - region.base;
  const size = Math.min(count(bytes, 64, MOST, 'bytes'), region.size - offset);
  return show(stepper, [`${region.label}+${offset}`, ...dump(region.view, offset, size, address)]);
};

const registers: Command = (stepper, words) => {
  const w = wave(stepper);
  if (words.length > 0) {
    return show(
      stepper,
      words.flatMap((word) => readRegisters(w, word, 'all').map(valueText)),
    );
  }
  const specials = [
    scalarValue(w, { first: VCC, count: 2 }),
    scalarValue(w, { first: EXEC, count: 2 }),
    scalarValue(w, { first: Slot.SCC, count: 1 }),
    scalarValue(w, { first: Slot.M0, count: 1 }),
    scalarValue(w, { first: Slot.MODE, count: 1 }),
  ].map(valueText);
  const lines = [specials.join('  ')];
  for (let row = 0; row < 104; row += 8) {
    const values = Array.from({ length: Math.min(8, 102 - row) }, (_, i) => w.sgprs[row + i] as number);
    if (values.some((value) => value !== 0)) lines.push(`s${row}`.padEnd(5) + values.map(hexWord).join(' '));
  }
  return show(stepper, lines);
};

function showWaves(stepper: StepperState): undefined {
  const lines = stepper.waves.map((w) => {
    const pc = stepper.pcOf(w);
    const lanes = popcount(w.sgprs[EXEC] as number) + popcount(w.sgprs[EXEC + 1] as number);
    const at = pc === undefined ? 'not started' : `${hex(pc)} ${stepper.options.symbols.nameOf(pc) ?? ''}`.trim();
    const state = w.state === 'running' ? at : w.state === 'barrier' ? `${at}, at a barrier` : 'ended';
    return `${w === stepper.selected ? '*' : ' '} wave ${w.index}: ${state}, ${lanes} lanes`;
  });
  return show(stepper, lines);
}

const selectWave: Command = (stepper, [text]) => {
  const found = stepper.waves.find((w) => String(w.index) === text);
  if (found === undefined) {
    throw bad(`'${text ?? ''}' is not a wave of this workgroup (0 to ${stepper.waves.length - 1}).`);
  }
  stepper.selected = found;
  return showWaves(stepper);
};

const set: Command = (stepper, words) => {
  const [register, text] = words.filter((word) => word !== '=');
  if (register === undefined || text === undefined) throw bad('Write: set REGISTER VALUE.');
  writeRegister(wave(stepper), register, parseValue(text));
  return show(
    stepper,
    readRegisters(wave(stepper), register.replace(/^([va]\d+)\[\d+\]$/i, '$1'), 'few').map(valueText),
  );
};

function parseValue(text: string): bigint {
  if (/^-?(\d{1,20}|0x[0-9a-f]{1,16})$/i.test(text)) {
    const magnitude = BigInt(text.replace('-', ''));
    return text.startsWith('-') ? -magnitude : magnitude;
  }
  if (/^-?\d{0,30}\.\d{0,30}(e[-+]?\d{1,3})?f?$/i.test(text)) {
    return BigInt(new Uint32Array(Float32Array.of(Number.parseFloat(text)).buffer)[0] as number);
  }
  throw new WavesmithError('run/bad-value', `'${text}' is not a value: an integer, hexadecimal, or a float like 1.5.`);
}

const next: Command = (stepper, [times], bound) => {
  const n = count(times, 1, MOST_STEPS, 'steps');
  const w = wave(stepper);
  if (n === 1 && stepper.isHeld(w) && bound.instruction.row.flags.has('isCall')) {
    return { kind: 'until', pc: stepper.pc + bound.size, wave: w };
  }
  return { kind: 'step', count: n };
};

const COMMANDS: readonly CommandEntry[] = [
  {
    names: ['step', 's'],
    usage: 'step [N]',
    summary: 'run N instructions of this wave',
    run: (_s, [n]) => ({ kind: 'step', count: count(n, 1, MOST_STEPS, 'steps') }),
  },
  { names: ['next', 'n'], usage: 'next [N]', summary: 'like step, but over a call', run: next },
  {
    names: ['continue', 'c'],
    usage: 'continue',
    summary: 'run to the next breakpoint',
    run: () => ({ kind: 'continue' }),
  },
  {
    names: ['until', 'u', 'run-to'],
    usage: 'until PLACE',
    summary: 'run until this wave is at a place',
    run: (s, [where]) => ({ kind: 'until', pc: place(s, where), wave: wave(s) }),
  },
  {
    names: ['break', 'b'],
    usage: 'break [PLACE]',
    summary: 'stop there; without a place: list',
    run: (s, [where]) => {
      if (where !== undefined) s.breakpoints.add(place(s, where));
      const list = [...s.breakpoints].sort((a, b) => a - b);
      return show(
        s,
        list.length === 0 ? ['no breakpoints'] : list.map((pc) => `${hex(pc)} ${s.options.symbols.nameOf(pc) ?? ''}`),
      );
    },
  },
  {
    names: ['delete', 'd'],
    usage: 'delete [PLACE]',
    summary: 'remove a breakpoint, or all',
    run: (s, [where]) => {
      if (where === undefined) s.breakpoints.clear();
      else if (!s.breakpoints.delete(place(s, where))) throw bad(`There is no breakpoint at ${where}.`);
      return undefined;
    },
  },
  {
    names: ['registers', 'r'],
    usage: 'registers [NAME…]',
    summary: 's0 s[2:3] v0 v0-3 a0 vcc exec scc m0 mode; without names: scalars',
    run: registers,
  },
  { names: ['lds'], usage: 'lds [OFFSET [BYTES]]', summary: "the workgroup's LDS", run: lds },
  {
    names: ['memory', 'm', 'x'],
    usage: 'memory ADDRESS|ARGUMENT|s[N:M][+N] [BYTES]',
    summary: 'global memory',
    run: memory,
  },
  {
    names: ['list', 'l', 'dis'],
    usage: 'list [PLACE]',
    summary: 'disassembly around the instruction',
    run: (s, [where]) => show(s, disassembly(s, where === undefined ? s.pc : place(s, where), 5, 8)),
  },
  { names: ['waves'], usage: 'waves', summary: 'the waves of this workgroup', run: showWaves },
  { names: ['wave', 'w'], usage: 'wave N', summary: 'look at and step another wave', run: selectWave },
  {
    names: ['set'],
    usage: 'set REGISTER VALUE',
    summary: 'write a register; v3[5] is one lane, v3 all active ones',
    run: set,
  },
  {
    names: ['detach'],
    usage: 'detach',
    summary: 'run to the end without stopping',
    run: () => ({ kind: 'detach' }),
  },
  { names: ['quit', 'q'], usage: 'quit', summary: 'end the run', run: () => ({ kind: 'quit' }) },
  {
    names: ['help', 'h', '?'],
    usage: 'help',
    summary: 'this list',
    run: (s) =>
      show(
        s,
        COMMANDS.map((c) => `${c.usage.padEnd(42)} ${c.summary}`),
      ),
  },
];

const byName = new Map(COMMANDS.flatMap((c) => c.names.map((name): [string, CommandEntry] => [name, c])));

/** Runs one command line; the result says how execution goes on, or is undefined to ask for the next command. */
export function runCommand(stepper: StepperState, line: string, bound: BoundInstruction): Resume | undefined {
  const [name = '', ...words] = line.split(/\s+/);
  const command = byName.get(name.toLowerCase());
  try {
    if (command === undefined) throw bad(`There is no command '${name}'.`, "'help' lists the commands.");
    return command.run(stepper, words, bound);
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    stepper.options.terminal.print(error.format());
    return undefined;
  }
}

/** The commands as lines of help text. */
export function stepperHelp(): string[] {
  return COMMANDS.map((c) => `${c.usage.padEnd(42)} ${c.summary}`);
}
