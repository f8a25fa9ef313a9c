// What the debugger shows: code around a place, bytes of memory, values, waves, calls. Text and data; nothing here changes anything.
import { type ElementType, WavesmithError } from '../../../base/index.ts';
import { decoderFor, type Instruction } from '../../../isa/index.ts';
import { EXEC, type Wave } from '../state/wave.ts';
import { hex, hexWord, popcount } from '../tools/lanes.ts';
import type { Debugger } from './debugger.ts';
import { parseExpression } from './expression.ts';
import { formatted } from './format.ts';
import { type Frame, lineText } from './frames.ts';
import { scopeOf } from './scope.ts';
import type { Stop } from './stop.ts';
import { isSameOperand, type Operand, type SpaceName } from './typed.ts';
import { bitsOf, fromBits, type Value } from './value.ts';
import { operandText } from './variable-text.ts';

/** The wave that commands are about. */
export function selectedWave(d: Debugger): Wave {
  if (d.selected !== undefined) return d.selected;
  throw new WavesmithError('run/bad-command', 'No wave is stopped.', { hint: "'waves' lists them." });
}

/** `0x1804 <k+0x4>`. */
export function placeText(d: Debugger, pc: number): string {
  const name = d.options.symbols.nameOf(pc);
  return `0x${pc.toString(16)}${name === undefined ? '' : ` <${name}>`}`;
}

/** `0,0,0/1`. */
export const waveText = (w: Wave): string => `${w.workgroup.id.join(',')}/${w.index}`;

/** One line: why execution stopped, and where. */
export function stopText(d: Debugger, stop: Stop): string {
  const { reason, wave, pc, changes = [], hit, fault, note, returned } = stop;
  const lines: string[] = [];
  for (const { text, before, after, access } of changes) {
    const verb = access ?? (reason === 'written' ? 'is about to be written' : 'changed');
    const isSame = access !== undefined && isSameOperand(before, after);
    lines.push(`${text} ${verb}: ${isSame ? '' : `${operandText(before)} → `}${operandText(after)}`);
  }
  if (fault !== undefined) lines.push(fault.message);
  if (note !== undefined) lines.push(note);
  const number = reason === 'breakpoint' && hit !== undefined ? ` ${hit.join(', ')}` : '';
  if (wave === undefined)
    lines.push(`${reason === 'ended' ? 'the kernel has ended' : reason}, ${stop.time} instructions`);
  else {
    const source = d.lineOfWave(wave);
    const isOfLane = (hit !== undefined && reason === 'breakpoint') || fault?.fault.lane !== undefined;
    const lane = isOfLane && d.lane > 0 ? `, lane ${d.lane}` : '';
    lines.push(
      `${reason}${number}: workgroup ${wave.workgroup.id.join(',')} wave ${wave.index}${lane}, ${placeText(d, pc)}${source === undefined ? '' : ` at ${source}`}`,
    );
  }
  if (returned !== undefined) lines.push(`value returned is $${returned.number} = ${operandText(returned.value)}`);
  return lines.join('\n');
}

/** What an expression is for the selected wave and lane, structs and arrays too. */
export function operandOf(d: Debugger, text: string): Operand {
  return parseExpression(text).operand(scopeOf(d.selected, d.lane, d));
}

/** An expression's value for the selected wave and lane; without a wave, for the dispatch. */
export function evaluate(d: Debugger, text: string): Value {
  return parseExpression(text).evaluate(scopeOf(d.selected, d.lane, d));
}

const MOST_INSTRUCTION_BYTES = 16;
/** Instructions are one or more of them. */
const WORD = 4;

/** An instruction of a listing. */
export interface CodeLine {
  readonly address: number;
  readonly size: number;
  readonly bytes: Uint8Array;
  readonly text: string;
  readonly label: string | undefined;
}

/** Instructions around an address: up to `before` before it, `after` behind it. */
export function codeAround(d: Debugger, pc: number, before: number, after: number): CodeLine[] {
  const { code, target, symbols } = d.options;
  const decoder = decoderFor(target);
  const starts: { readonly at: number; readonly size: number; readonly instruction: Instruction | undefined }[] = [];
  // Instructions have no fixed size: decoding goes forward from a label, far enough away to show what comes before.
  const far = pc - before * MOST_INSTRUCTION_BYTES;
  const first = (symbols.symbols.findLast((s) => s.address <= far) ?? symbols.symbols[0])?.address ?? pc;
  const labels = new Set(symbols.symbols.map(({ address }) => address));
  let behind = 0;
  for (let at = Math.min(first, pc); at < Math.min(code.size, symbols.end) && behind <= after; ) {
    const decoded = decoder.decode(code.bytes, at);
    // What would reach over a label, or the address, is data in front of it.
    const next = at + WORD;
    const isData = (decoded?.size ?? 0) > WORD && (next === pc || labels.has(next));
    const instruction = isData ? undefined : decoded;
    const size = instruction?.size ?? WORD;
    starts.push({ at, size, instruction });
    if (at >= pc) behind++;
    at += size;
  }
  const found = starts.findIndex(({ at }) => at >= pc);
  const here = found < 0 ? starts.length : found;
  return starts.slice(Math.max(0, here - before), here + after).map(({ at, size, instruction }) => {
    const text = instruction === undefined ? '(not an instruction)' : symbols.textOf(target, instruction, at);
    return { address: at, size, bytes: code.bytes.subarray(at, at + size), text, label: symbols.labelAt(at) };
  });
}

/** What is shown beside instructions: their bytes, the text of source lines. */
export interface DisassemblyOptions {
  readonly hasBytes?: boolean;
  readonly sources?: ((file: string) => readonly string[] | undefined) | undefined;
}

/** Lines of code around an address, the next instruction and breakpoints marked. */
export function disassembly(
  d: Debugger,
  pc: number,
  before: number,
  after: number,
  { hasBytes = false, sources }: DisassemblyOptions = {},
): string[] {
  let source = '';
  return codeAround(d, pc, before, after).flatMap(({ address, text, label, bytes }) => {
    const lines: string[] = [];
    const found = d.lineAt(address) ?? '';
    if (found !== '' && found !== source) {
      lines.push(`       ${found}`);
      const at = d.options.lines?.at(address);
      const written = at === undefined ? undefined : sources?.(at.file)?.[at.line - 1];
      if (written !== undefined) lines.push(`${at?.line}\t${written}`);
    }
    source = found;
    if (label !== undefined) lines.push(`${label}:`);
    const mark = d.breakpoints.isAt(address) ? '*' : ' ';
    const raw = hasBytes ? `${[...bytes].map((b) => b.toString(16).padStart(2, '0')).join(' ')}  ` : '';
    lines.push(`${address === d.pc ? '=>' : '  '}${mark} ${hex(address).padStart(8)}  ${raw}${text}`);
    return lines;
  });
}

/** Bytes as lines of four words. */
export function dump(bytes: Uint8Array, shown: number): string[] {
  const lines: string[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length; at += 16) {
    const words: string[] = [];
    const size = Math.min(16, bytes.length - at);
    for (let n = 0; n + 4 <= size; n += 4) words.push(hexWord(view.getUint32(at + n, true)));
    for (let n = size & ~3; n < size; n++) words.push((bytes[at + n] as number).toString(16).padStart(2, '0'));
    lines.push(`${hex(shown + at).padStart(16)}  ${words.join(' ')}`);
  }
  return lines;
}

/** Bytes of code by an address in the file, as `$pc` and functions have one; memory that the device has there goes before. */
function codeBytes(d: Debugger, space: SpaceName, address: bigint, size: number): Uint8Array | undefined {
  const { symbols, code } = d.options;
  const at = Number(address);
  const isCode = space === 'flat' && at >= symbols.first && at + size <= symbols.end;
  return isCode && d.memory?.find(at, size) === undefined ? code.bytes.subarray(at, at + size) : undefined;
}

/** Memory as gdb's x shows it: so many elements of a type, several a line. */
export function examine(
  d: Debugger,
  space: SpaceName,
  address: bigint,
  count: number,
  type: ElementType,
  format: string,
): string[] {
  const size = type.storageBits / 8;
  const bytes =
    codeBytes(d, space, address, count * size) ??
    scopeOf(d.selected, d.lane, d).load(space, address, count * size, d.lane);
  const at = Number(address);
  const row = Math.max(1, 16 / size);
  const lines: string[] = [];
  for (let n = 0; n < count; n += row) {
    const values: string[] = [];
    for (let i = n; i < Math.min(n + row, count); i++) {
      const bits = bitsOf(bytes.subarray(i * size, (i + 1) * size));
      const value = fromBits(bits, type);
      if (format === 'x') values.push(`0x${bits.toString(16).padStart(2 * size, '0')}`);
      else if (format === 't') values.push(`0b${bits.toString(2).padStart(8 * size, '0')}`);
      else if (format === 'a') values.push(addressText(d, bits));
      // A number of its type is as it reads.
      else values.push(format === '' ? String(value) : formatted(value, format));
    }
    lines.push(`${hex(at + n * size).padStart(16)}  ${values.join('  ')}`);
  }
  return lines;
}

/** An address, with the label when it is one of the code. */
const addressText = (d: Debugger, bits: bigint): string => {
  const { symbols } = d.options;
  const isCode = bits >= BigInt(symbols.symbols[0]?.address ?? 0) && bits < BigInt(symbols.end);
  return isCode && symbols.symbols.length > 0 ? placeText(d, Number(bits)) : `0x${bits.toString(16)}`;
};

/** The waves of the selected wave's workgroup, or of all that run. */
export function wavesText(d: Debugger, all: boolean): string[] {
  return (all ? d.allWaves : d.waves).map((w) => {
    const pc = d.pcOf(w);
    const lanes = popcount(w.sgprs[EXEC] as number) + popcount(w.sgprs[EXEC + 1] as number);
    const at = d.calls.hasBegun(w) ? `${hex(pc)} ${d.options.symbols.nameOf(pc) ?? ''}`.trim() : 'not started';
    const state = w.state === 'running' ? at : w.state === 'ended' ? 'ended' : `${at}, at a ${w.state}`;
    return `${w === d.selected ? '*' : ' '} wave ${all ? waveText(w) : w.index}: ${state}, ${lanes} lanes`;
  });
}

/** Where a wave is and through which calls it came there, inlined ones too; the innermost function first. */
export function backtrace(d: Debugger, w: Wave): { readonly frame: Frame; readonly text: string }[] {
  return d.framesOf(w).map((frame, i) => {
    const { pc, name, isInlined } = frame;
    const source = lineText(frame.line);
    const called = name === undefined ? '' : ` in ${name}${isInlined ? ', inlined' : ''}`;
    return { frame, text: `#${i}  ${placeText(d, pc)}${called}${source === undefined ? '' : ` at ${source}`}` };
  });
}
