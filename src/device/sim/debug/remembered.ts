// What a session remembers: values that were printed, its variables (`$1`, `$$`, `$i`), settings of how values are shown.
import { ELEMENTS, type Operand } from './typed.ts';

/** What values that were printed and variables of the session are called: `$1`, `$$2`, `$`, `$i`. */
export class Remembered {
  private readonly printed: Operand[] = [];
  readonly variables = new Map<string, Operand>();
  /** Elements of arrays that a value shows: `set print elements`. */
  elements = ELEMENTS;
  /** Members of structs are shown on lines of their own: `set print pretty`. */
  isPretty = false;

  /** Keeps a printed value; the result is its number. */
  keep(value: Operand): number {
    return this.printed.push(value);
  }

  /** `$N` the value of that number, `$` the last one, `$$` the one before, `$$N` the one N before; else a variable of the session. */
  value(name: string): Operand | undefined {
    const [, back = '', digits = ''] = /^(\$\$?)(\d{0,9})$/.exec(name) ?? [];
    if (back === '') return this.variables.get(name.replace(/^\$/, ''));
    const last = this.printed.length - 1;
    if (back === '$$') return this.printed[last - (digits === '' ? 1 : Number(digits))];
    return this.printed[digits === '' ? last : Number(digits) - 1];
  }
}
