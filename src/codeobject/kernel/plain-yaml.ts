// The YAML that compilers write: block maps and lists, scalars of one line, plain or in single quotes. A tenth of the time that
// the `yaml` package takes, which is half of what assembling a small kernel takes. Whatever else YAML has is not read here and
// goes to the package, as does everything that is wrong: plain-yaml.test.ts holds that both read the same.
import type { MsgPackMap, MsgPackValue } from './msgpack.ts';

/** Makes the value of a scalar from its text. */
type Typed = (text: string) => MsgPackValue;

/**
 * A line: spaces, dashes of list items, a key, a value. Keys and plain values have only characters without a meaning in YAML,
 * words stand one space apart, and a colon or dash is within a word.
 */
const KEY = '[\\w.][\\w.-]*';
const PLAIN = '[\\w./$][\\w./$+-]*(?::[\\w./$+-]+)*(?: [\\w./$][\\w./$+-]*(?::[\\w./$+-]+)*)*';
const QUOTED = "'(?:[ -&(-~]|'')*'";
const LINE = new RegExp(`( *)(- +)?(?:(${KEY}):(?: +(?=[^ ])|(?=\\n)))?(${PLAIN}|${QUOTED}|\\[\\]|\\{\\})?\\n`, 'y');

/** Keys longer than 1,024 characters are none, says YAML. */
const MAX_LINE = 1000;
const MAX_DEPTH = 60;

/** Thrown at what this file does not read. */
const UNUSUAL = Symbol('unusual');

class Reader {
  private readonly text: string;
  private readonly typed: Typed;
  private at = 0;
  /** Of the line at hand: the column of its content, behind the dash that was read; -1 at the end. */
  private indent = 0;
  /** Whether a list item begins here; its content is at `inner`. */
  private isItem = false;
  private inner = 0;
  private key: string | undefined;
  private value: string | undefined;

  constructor(text: string, typed: Typed) {
    this.text = text;
    this.typed = typed;
  }

  document(): MsgPackValue {
    if (this.text.startsWith('---\n')) this.at = 4;
    this.next();
    const value = this.container(0, 0);
    if (this.indent !== -1) throw UNUSUAL;
    return value;
  }

  /** Goes to the next line. */
  private next(): void {
    const { text, at } = this;
    if (at === text.length || (text.startsWith('...\n', at) && at + 4 === text.length)) {
      this.indent = -1;
      return;
    }
    LINE.lastIndex = at;
    const match = LINE.exec(text);
    if (match === null || match[0].length > MAX_LINE) throw UNUSUAL;
    const [line, spaces, dash, key, value] = match as unknown as [string, string, ...(string | undefined)[]];
    this.at = at + line.length;
    this.indent = spaces.length;
    this.isItem = dash !== undefined;
    this.inner = this.indent + (dash?.length ?? 0);
    this.key = key;
    this.value = value;
  }

  /** The map or list whose first line is at hand. */
  private container(indent: number, depth: number): MsgPackValue {
    if (this.indent !== indent || depth > MAX_DEPTH) throw UNUSUAL;
    return this.isItem ? this.list(indent, depth) : this.map(indent, depth);
  }

  private list(indent: number, depth: number): MsgPackValue[] {
    const list: MsgPackValue[] = [];
    while (this.isItem && this.indent === indent) {
      if (this.key === undefined) {
        list.push(this.scalar());
      } else {
        // The item's map goes on in the column of its first key.
        this.indent = this.inner;
        this.isItem = false;
        list.push(this.map(this.inner, depth + 1));
      }
    }
    if (this.indent > indent) throw UNUSUAL;
    return list;
  }

  private map(indent: number, depth: number): MsgPackMap {
    const map: MsgPackMap = new Map();
    while (this.indent === indent && !this.isItem) {
      if (this.key === undefined) throw UNUSUAL;
      const key = this.typed(this.key);
      if (map.has(key)) throw UNUSUAL;
      map.set(key, this.value === undefined ? this.nested(indent, depth) : this.scalar());
    }
    if (this.indent > indent) throw UNUSUAL;
    return map;
  }

  /** What stands below a key: deeper, or a list in the column of the key. */
  private nested(indent: number, depth: number): MsgPackValue {
    this.next();
    const isDeeper = this.indent > indent;
    if (!isDeeper && !(this.isItem && this.indent === indent)) throw UNUSUAL;
    return this.container(this.indent, depth + 1);
  }

  /** The scalar of the line at hand. */
  private scalar(): MsgPackValue {
    const { value, indent } = this;
    if (value === undefined) throw UNUSUAL;
    this.next();
    // A deeper line would continue it.
    if (this.indent > indent) throw UNUSUAL;
    if (value === '[]') return [];
    if (value === '{}') return new Map();
    return this.typed(value.startsWith("'") ? value.slice(1, -1).replaceAll("''", "'") : value);
  }
}

/** The value of a YAML text with nothing unusual in it; undefined for any other text, correct or not. */
export function readPlainYaml(text: string, typed: Typed): MsgPackValue | undefined {
  // The same keys and numbers come back for each kernel and argument.
  const known = new Map<string, MsgPackValue>();
  const remembered: Typed = (scalar) => {
    let value = known.get(scalar);
    if (value === undefined) {
      value = typed(scalar);
      known.set(scalar, value);
    }
    return value;
  };
  try {
    return new Reader(text, remembered).document();
  } catch (error) {
    if (error === UNUSUAL) return undefined;
    throw error;
  }
}
