// Rows of a table of a database, many of which one step of a statement joins to a text.
import type { SqlValue } from '../readers/rocpd.ts';

/** Rows that one step joins: a value that crosses into JavaScript costs more than one that SQLite writes. Longer texts are large objects, which V8
 * collects late. */
export const JOINED = 1024;
/** Row ids of a block that a thread makes. */
export const BLOCK_ROWS = 8 * JOINED;

/** A part of a table: columns of rows of their own first, then those that few rows differ in. */
export interface KeyedTable {
  readonly table: string;
  readonly own: readonly string[];
  readonly shared: readonly string[];
}

/** A statement whose rows are the joined ones of `where`, in the order of their row ids, and the last of those. */
export function joinedSql({ table, own, shared }: KeyedTable, where: string): string {
  // Absent columns are asked for as `NULL AS name`.
  const values = [...own, ...shared].map((column) => column.replace(/ AS .*/, '')).join(', ');
  const some = `SELECT json_array(rowid, ${values}) AS line, rowid AS id FROM "${table}" WHERE ${where} ORDER BY rowid LIMIT ${JOINED}`;
  return `SELECT group_concat(line, char(10)) AS text, max(id) AS last FROM (${some})`;
}

/** What such a statement gives; undefined when a value is bytes, which JSON cannot hold. */
export function joined(get: () => unknown): { readonly text: string | null; readonly last: SqlValue } | undefined {
  try {
    return get() as { readonly text: string | null; readonly last: SqlValue };
  } catch (error) {
    if (error instanceof Error && error.message.includes('BLOB')) return undefined;
    throw error;
  }
}

const [COMMA, ZERO, LOWER_N, CLOSE] = [0x2c, 0x30, 0x6e, 0x5d];

/** Rows of a text with one JSON list on a line: row id, values of their own, the others. */
export class JoinedRows {
  /** The values of the row; those of the row before where it is not plain. */
  readonly own: (number | bigint | null)[];
  /** Whether the row id is a whole number from 0 on, and each of the own values is one or null. */
  isPlain = false;
  private readonly text: string;
  private line = 0;
  private behind = 0;
  /** Where the others begin. */
  private at = 0;

  constructor(text: string, count: number) {
    this.text = text;
    this.own = new Array<number | bigint | null>(count).fill(0);
  }

  /** Goes to the next row; false behind the last one. */
  next(): boolean {
    const { text, own } = this;
    this.line = this.behind;
    if (this.line >= text.length) return false;
    let at = this.line;
    let isPlain = true;
    // The row id is field -1.
    for (let field = -1; field < own.length && isPlain; field++) {
      const from = ++at;
      let value = 0;
      let digit = text.charCodeAt(at) - ZERO;
      while (digit >= 0 && digit <= 9) {
        value = value * 10 + digit;
        digit = text.charCodeAt(++at) - ZERO;
      }
      const isNull = field >= 0 && text.charCodeAt(at) === LOWER_N;
      if (isNull) at += 'null'.length;
      const end = text.charCodeAt(at);
      isPlain = at > from && (end === COMMA || (end === CLOSE && field === own.length - 1));
      if (field >= 0) {
        own[field] = isNull ? null : value <= Number.MAX_SAFE_INTEGER ? value : BigInt(text.slice(from, at));
      }
    }
    const newline = text.indexOf('\n', at);
    this.behind = newline < 0 ? text.length + 1 : newline + 1;
    this.at = at + 1;
    this.isPlain = isPlain;
    return true;
  }

  /** The text of the other values of a plain row. */
  get key(): string {
    return this.text.slice(this.at, this.behind - 2);
  }

  get rowid(): string {
    return /-?[0-9]+/.exec(this.text.slice(this.line, this.line + 24))?.[0] ?? '';
  }
}
