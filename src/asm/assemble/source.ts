// Source buffers, positions and diagnostics of the assembler, printed as LLVM's SourceMgr prints them
// (llvm/lib/Support/SourceMgr.cpp). Text is held as one character per byte (Latin-1) so that offsets are byte offsets.
import { textFromBytes } from '../../isa/text/lexer.ts';

const utf8 = new TextDecoder();
const utf8Encoder = new TextEncoder();

/** A piece of text being assembled: the main file, an included file or a macro instantiation. */
export interface SourceBuffer {
  readonly name: string;
  /** One character per byte. */
  readonly text: string;
  /** Where an `.include` pulled this buffer in. */
  readonly includedFrom?: Location | undefined;
}

/** A byte position in a buffer. */
export interface Location {
  readonly buffer: SourceBuffer;
  readonly offset: number;
}

/** A line of a source file, counted from 1. */
export interface SourceLine {
  readonly file: string;
  readonly line: number;
}

export type Severity = 'error' | 'warning' | 'note';

/** A message about the source. `notes` are printed after it ("while in macro instantiation"). */
export interface Diagnostic {
  readonly severity: Severity;
  readonly message: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Length of the marked range, at least 1. */
  readonly length: number;
  /** The text of the line. */
  readonly sourceLine: string;
  /** Lines "Included from FILE:LINE:" that come before the message. */
  readonly includeStack: readonly string[];
  readonly notes: readonly Diagnostic[];
}

/** Turns text into the assembler's one-character-per-byte form. */
export function toByteText(source: string | Uint8Array): string {
  if (typeof source === 'string') {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is exactly the characters that need no change.
    if (/^[\x00-\x7f]*$/.test(source)) return source;
    return toByteText(utf8Encoder.encode(source));
  }
  return textFromBytes(source);
}

/** The bytes of text in one-character-per-byte form. */
export function byteTextBytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** Readable text again: the bytes decoded as UTF-8. */
export function fromByteText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is exactly the characters that need no change.
  return /^[\x00-\x7f]*$/.test(text) ? text : utf8.decode(byteTextBytes(text));
}

const lineStarts = new WeakMap<SourceBuffer, number[]>();

function startsOfLines(buffer: SourceBuffer): number[] {
  let starts = lineStarts.get(buffer);
  if (starts === undefined) {
    starts = [0];
    for (let at = buffer.text.indexOf('\n'); at >= 0; at = buffer.text.indexOf('\n', at + 1)) starts.push(at + 1);
    lineStarts.set(buffer, starts);
  }
  return starts;
}

/** Line and column, both from 1. */
export function lineAndColumn(location: Location): { line: number; column: number } {
  const starts = startsOfLines(location.buffer);
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= location.offset) low = middle;
    else high = middle - 1;
  }
  return { line: low + 1, column: location.offset - (starts[low] ?? 0) + 1 };
}

/** Builds a diagnostic at a position. */
export function makeDiagnostic(
  severity: Severity,
  message: string,
  location: Location,
  notes: readonly Diagnostic[] = [],
  length = 1,
): Diagnostic {
  const { line, column } = lineAndColumn(location);
  const start = startsOfLines(location.buffer)[line - 1] ?? 0;
  let end = location.buffer.text.indexOf('\n', start);
  if (end < 0) end = location.buffer.text.length;
  if (end > start && location.buffer.text[end - 1] === '\r') end--;
  const includeStack: string[] = [];
  for (let from = location.buffer.includedFrom; from !== undefined; from = from.buffer.includedFrom) {
    includeStack.unshift(`Included from ${from.buffer.name}:${lineAndColumn(from).line}:`);
  }
  const sourceLine = location.buffer.text.slice(start, Math.min(end, start + 4096));
  return {
    severity,
    message: fromByteText(message),
    file: location.buffer.name,
    line,
    column,
    length,
    sourceLine: fromByteText(sourceLine),
    includeStack,
    notes,
  };
}

/** `file:line:col: error: message`, the source line and a caret, then the notes, as LLVM prints them. */
export function formatDiagnostic(diagnostic: Diagnostic): string {
  const { severity, message, file, line, column, length, sourceLine, includeStack, notes } = diagnostic;
  const lines = [...includeStack, `${file}:${line}:${column}: ${severity}: ${message}`];
  let shown = '';
  let caret = '';
  for (let i = 0; i < sourceLine.length; i++) {
    const isTab = sourceLine[i] === '\t';
    const width = isTab ? 8 - (shown.length % 8) : 1;
    shown += isTab ? ' '.repeat(width) : sourceLine[i];
    if (i < column - 1) caret += ' '.repeat(width);
  }
  caret += ' '.repeat(Math.max(0, column - 1 - sourceLine.length));
  lines.push(shown, `${caret}^${'~'.repeat(length - 1)}`);
  for (const note of notes) lines.push(formatDiagnostic(note).replace(/\n$/, ''));
  return `${lines.join('\n')}\n`;
}
