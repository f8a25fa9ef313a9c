// Reads JSON of unknown origin field by field: every wrong type, missing field and number out of range is a typed error with the path of the
// field, `capture/bad-manifest` unless the document is another.
import { WavesmithError } from '../base/index.ts';

/** The largest address: a number holds it exactly. */
const MAX_ADDRESS = Number.MAX_SAFE_INTEGER;

/** What a document that is wrong is called. */
export interface DocumentKind {
  readonly code: string;
  readonly hint: string;
  readonly file?: string | undefined;
}

const CAPTURE: DocumentKind = {
  code: 'capture/bad-manifest',
  hint: 'The capture is damaged, or was not written by this version of the format.',
};

/** A value with its place in the document, `memory.chunks[3].pre`. */
export class Field {
  readonly value: unknown;
  readonly path: string;
  private readonly document: DocumentKind;

  constructor(value: unknown, path: string, document = CAPTURE) {
    this.value = value;
    this.path = path;
    this.document = document;
  }

  bad(message: string): WavesmithError {
    const { code, hint, file } = this.document;
    return new WavesmithError(code, `${this.path === '' ? 'The document' : `'${this.path}'`} ${message}.`, {
      hint,
      file,
    });
  }

  /** A member of an object. */
  at(name: string): Field {
    const { value } = this;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw this.bad('is not an object');
    const path = this.path === '' ? name : `${this.path}.${name}`;
    return new Field(
      Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined,
      path,
      this.document,
    );
  }

  get isAbsent(): boolean {
    return this.value === undefined || this.value === null;
  }

  optional<T>(read: (field: Field) => T): T | undefined {
    return this.isAbsent ? undefined : read(this);
  }

  list<T>(most: number, read: (field: Field) => T): T[] {
    const { value } = this;
    if (!Array.isArray(value)) throw this.bad('is not a list');
    if (value.length > most) throw this.bad(`has ${value.length} entries, more than ${most}`);
    return value.map((one, i) => read(new Field(one, `${this.path}[${i}]`, this.document)));
  }

  text(most = 65536): string {
    const { value } = this;
    if (typeof value !== 'string') throw this.bad('is not a string');
    if (value.length > most) throw this.bad(`is longer than ${most} characters`);
    return value;
  }

  oneOf<T extends string>(all: readonly T[]): T {
    const text = this.text();
    const found = all.find((one) => one === text);
    if (found === undefined) throw this.bad(`is '${text.slice(0, 40)}', not one of ${all.join(', ')}`);
    return found;
  }

  matching(pattern: RegExp, what: string): string {
    const text = this.text();
    if (!pattern.test(text)) throw this.bad(`is not ${what}`);
    return text;
  }

  whole(most = Number.MAX_SAFE_INTEGER, least = 0): number {
    const { value } = this;
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw this.bad('is not a whole number');
    if (value < least || value > most) throw this.bad(`is ${value}, not from ${least} to ${most}`);
    return value;
  }

  number(): number {
    const { value } = this;
    if (typeof value !== 'number' || !Number.isFinite(value)) throw this.bad('is not a number');
    return value;
  }

  flag(): boolean {
    const { value } = this;
    if (typeof value !== 'boolean') throw this.bad('is neither true nor false');
    return value;
  }

  /** `0x…`. */
  address(): number {
    const value = Number(this.matching(/^0x[0-9a-f]{1,14}$/, 'an address (0x…)'));
    if (value > MAX_ADDRESS) throw this.bad('is beyond 2^53');
    return value;
  }

  sha256(): string {
    return this.matching(/^[0-9a-f]{64}$/, 'a SHA-256');
  }

  triple(most: number): [number, number, number] {
    const all = this.list(3, (one) => one.whole(most, 1));
    if (all.length !== 3) throw this.bad('does not have three entries');
    return all as [number, number, number];
  }

  bytes(most: number): Uint8Array {
    const text = this.matching(/^([0-9a-f]{2})*$/, 'bytes in hexadecimal');
    if (text.length > 2 * most) throw this.bad(`has more than ${most} bytes`);
    return new Uint8Array(Buffer.from(text, 'hex'));
  }
}

/** The text of an address. */
export const hex = (address: number): string => `0x${address.toString(16)}`;

/** Bytes as text. */
export const hexBytes = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');
