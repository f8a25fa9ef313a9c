// Typed errors: every failure a user can reach carries a stable code, one sentence, a position and what to do next.

/** Where an error is. All fields optional; lines and columns count from 1, offsets and pcs are byte counts from 0. */
export interface Position {
  file?: string | undefined;
  line?: number | undefined;
  column?: number | undefined;
  /** Byte offset in the outside file that was being read. */
  byteOffset?: number | undefined;
  /** Address of a GPU instruction (byte offset in its section, or its loaded address). */
  pc?: number | undefined;
}

export interface ErrorDetails extends Position {
  /** What the user can do next, one sentence. */
  hint?: string | undefined;
  cause?: unknown;
}

/** The one error class of the project. `code` is stable and documented (`elf/truncated`, `asm/unknown-directive`). */
export class WavesmithError extends Error {
  readonly code: string;
  readonly position: Position;
  readonly hint: string | undefined;

  constructor(code: string, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'WavesmithError';
    this.code = code;
    this.hint = details.hint;
    const { file, line, column, byteOffset, pc } = details;
    this.position = { file, line, column, byteOffset, pc };
  }

  /** `file:line:col: error[code]: message` and, on a second line, the hint. */
  format(): string {
    const text = `${formatPosition(this.position)}error[${this.code}]: ${this.message}`;
    return this.hint === undefined ? text : `${text}\n  hint: ${this.hint}`;
  }

  /** The JSON form that `--json` prints. */
  toJSON(): Record<string, unknown> {
    return { error: this.code, message: this.message, ...this.position, hint: this.hint };
  }
}

/** Reads a file: an error that does not say where it is gets the name of the file. */
export function inFile<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof WavesmithError) || error.position.file !== undefined) throw error;
    const { code, message, position, hint } = error;
    throw new WavesmithError(code, message, { ...position, file, hint, cause: error });
  }
}

function formatPosition(p: Position): string {
  let text = p.file ?? '';
  if (p.line !== undefined) text += `:${p.line}`;
  if (p.column !== undefined) text += `:${p.column}`;
  if (p.byteOffset !== undefined) text += `${text ? ' ' : ''}(byte 0x${p.byteOffset.toString(16)})`;
  if (p.pc !== undefined) text += `${text ? ' ' : ''}(pc ${p.pc < 0 ? '-' : ''}0x${Math.abs(p.pc).toString(16)})`;
  return text === '' ? '' : `${text}: `;
}
