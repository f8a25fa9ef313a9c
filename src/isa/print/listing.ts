// A .text section as lines, with the text llvm-objdump prints (`-d -z`). Undecodable words become `.long`, a tail `.byte`.
// Source: AMDGCNPrettyPrinter of llvm-objdump; branch symbols as AMDGPUSymbolizer resolves them.
import { decoderFor } from '../codec/decode.ts';
import type { Immediate, Instruction, TargetName } from '../types.ts';
import { type Printer, printerFor } from './print.ts';

/** One line of a listing. */
export interface ListingLine {
  readonly address: number;
  /** Bytes covered: the instruction's size, 4 for an undecodable word, 1–3 for a tail. */
  readonly size: number;
  /** Mnemonic and operands; `.long 0x…` or `.byte 0x…, 0x…` where there is no instruction. */
  readonly text: string;
  /** The bytes as little-endian dwords; the single bytes of a tail. */
  readonly words: readonly number[];
  /** The decoded instruction; undefined for `.long` and `.byte`. */
  readonly instruction: Instruction | undefined;
}

export interface ListingOptions {
  /**
   * Names by address that branch targets print as. llvm-objdump takes the section's symbols without a type (STT_NOTYPE); a
   * target without a name prints as the encoded number. `labelsByAddress` picks among symbols of one address as llvm-objdump does.
   */
  readonly labels?: ReadonlyMap<number, string> | undefined;
}

/**
 * Labels for `ListingOptions` from a section's untyped symbols. Where several share an address, llvm-objdump takes the first by
 * name (byte order).
 */
export function labelsByAddress(symbols: Iterable<{ address: number; name: string }>): Map<number, string> {
  const labels = new Map<number, string>();
  for (const { address, name } of symbols) {
    const known = labels.get(address);
    if (known === undefined || name < known) labels.set(address, name);
  }
  return labels;
}

/** A symbol's name as LLVM prints it in an operand: quoted when it has unusual characters. */
export function symbolText(name: string): string {
  if (/^[\w$.@]+$/.test(name)) return name;
  return `"${name.replaceAll('\n', '\\n').replaceAll('"', '\\"')}"`;
}

/** The address a branch goes to, or undefined when the instruction is no direct branch. */
export function branchTarget(instruction: Instruction, address: number): number | undefined {
  const { row, operands } = instruction;
  if (!row.flags.has('isBranch') && !row.flags.has('isCall')) return undefined;
  const index = row.operands.findIndex((o) => o.cls === 'SOPPBrTarget');
  return index < 0 ? undefined : address + 4 + (operands[index] as Immediate).value * 4;
}

function dataText(bytes: Uint8Array, offset: number, size: number): string {
  if (size === 4) {
    const word = new DataView(bytes.buffer, bytes.byteOffset + offset, 4).getUint32(0, true);
    return `.long 0x${word.toString(16).padStart(8, '0')}`;
  }
  const parts = Array.from(bytes.subarray(offset, offset + size), (b) => `0x${b.toString(16).padStart(2, '0')}`);
  return `.byte ${parts.join(', ')}`;
}

function wordsOf(bytes: Uint8Array, offset: number, size: number): number[] {
  if (size < 4) return Array.from(bytes.subarray(offset, offset + size));
  const words: number[] = [];
  for (let at = offset; at < offset + size; at += 4) {
    words.push(
      ((bytes[at] as number) |
        ((bytes[at + 1] as number) << 8) |
        ((bytes[at + 2] as number) << 16) |
        ((bytes[at + 3] as number) << 24)) >>>
        0,
    );
  }
  return words;
}

function textOf(
  instruction: Instruction,
  address: number,
  printer: Printer,
  labels: ReadonlyMap<number, string> | undefined,
): string {
  const text = printer.print(instruction);
  if (labels === undefined || labels.size === 0) return text;
  const target = branchTarget(instruction, address);
  const label = target === undefined ? undefined : labels.get(target);
  return label === undefined ? text : text.replace(/\d+$/, () => symbolText(label));
}

/** A line over the section's bytes; its words are only made when asked for. */
class Line implements ListingLine {
  readonly address: number;
  readonly size: number;
  readonly text: string;
  readonly instruction: Instruction | undefined;
  private readonly bytes: Uint8Array;
  private readonly offset: number;

  constructor(
    address: number,
    size: number,
    text: string,
    instruction: Instruction | undefined,
    bytes: Uint8Array,
    offset: number,
  ) {
    this.address = address;
    this.size = size;
    this.text = text;
    this.instruction = instruction;
    this.bytes = bytes;
    this.offset = offset;
  }
  get words(): readonly number[] {
    return wordsOf(this.bytes, this.offset, this.size);
  }
}

/** The lines of a section's bytes, the first at `baseAddress`. */
export function* listing(
  bytes: Uint8Array,
  baseAddress: number,
  target: TargetName,
  options: ListingOptions = {},
): IterableIterator<ListingLine> {
  const decoder = decoderFor(target);
  const printer = printerFor(target);
  for (let offset = 0; offset < bytes.length; ) {
    const address = baseAddress + offset;
    const instruction = decoder.decode(bytes, offset);
    const size = instruction === undefined ? Math.min(4, bytes.length - offset) : instruction.size;
    const text =
      instruction === undefined ? dataText(bytes, offset, size) : textOf(instruction, address, printer, options.labels);
    yield new Line(address, size, text, instruction, bytes, offset);
    offset += size;
  }
}
