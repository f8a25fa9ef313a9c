// Names of C++ functions as compilers write them into objects (`_Z5scalePffi`), read back as C++ (`scale(float*, float, int)`).
// Source: Itanium C++ ABI, section 5.1; what it prints is what llvm-cxxfilt prints. Names with expressions in them stay as they are.

/** A type around the name that it would declare: `void (*` and `)(int)`. */
interface Type {
  readonly left: string;
  readonly right: string;
  /** What a pack stands for; its parts are written one by one. */
  readonly pack?: readonly Type[];
}

/** What was read has no form here; the name stays mangled. */
class Unreadable extends Error {}

const BUILTIN: Readonly<Record<string, string>> = {
  v: 'void',
  w: 'wchar_t',
  b: 'bool',
  c: 'char',
  a: 'signed char',
  h: 'unsigned char',
  s: 'short',
  t: 'unsigned short',
  i: 'int',
  j: 'unsigned int',
  l: 'long',
  m: 'unsigned long',
  x: 'long long',
  y: 'unsigned long long',
  n: '__int128',
  o: 'unsigned __int128',
  f: 'float',
  d: 'double',
  e: 'long double',
  g: '__float128',
  z: '...',
};
/** Types of two letters, D before each. */
const BUILTIN_D: Readonly<Record<string, string>> = {
  h: 'half',
  i: 'char32_t',
  s: 'char16_t',
  u: 'char8_t',
  a: 'auto',
  c: 'decltype(auto)',
  n: 'std::nullptr_t',
};
const STANDARD: Readonly<Record<string, string>> = {
  a: 'std::allocator',
  b: 'std::basic_string',
  s: 'std::string',
  i: 'std::istream',
  o: 'std::ostream',
  d: 'std::iostream',
};
const OPERATORS: Readonly<Record<string, string>> = {
  ...{ nw: ' new', na: ' new[]', dl: ' delete', da: ' delete[]', aw: ' co_await', ps: '+', ng: '-', ad: '&', de: '*' },
  ...{ co: '~', pl: '+', mi: '-', ml: '*', dv: '/', rm: '%', an: '&', or: '|', eo: '^', aS: '=', pL: '+=', mI: '-=' },
  ...{ mL: '*=', dV: '/=', rM: '%=', aN: '&=', oR: '|=', eO: '^=', ls: '<<', rs: '>>', lS: '<<=', rS: '>>=', eq: '==' },
  ...{ ne: '!=', lt: '<', gt: '>', le: '<=', ge: '>=', ss: '<=>', nt: '!', aa: '&&', oo: '||', pp: '++', mm: '--' },
  ...{ cm: ',', pm: '->*', pt: '->', cl: '()', ix: '[]', qu: '?' },
};
/** How literals of a type are written: what follows the digits. */
const SUFFIX: Readonly<Record<string, string>> = { i: '', j: 'u', l: 'l', m: 'ul', x: 'll', y: 'ull' };
const DEEPEST = 256;

/** The C++ name of a symbol; the symbol itself when it is none of C++, or has a form that is not read. */
export function demangle(symbol: string): string {
  if (!symbol.startsWith('_Z')) return symbol;
  try {
    return new Reader(symbol).whole();
  } catch (error) {
    if (error instanceof Unreadable) return symbol;
    throw error;
  }
}

const plain = (left: string): Type => ({ left, right: '' });

/** Types as a list, packs opened. */
function listed(types: readonly Type[]): string {
  return types
    .flatMap((type) => type.pack ?? [type])
    .map(({ left, right }) => left + right)
    .join(', ');
}

class Reader {
  private readonly text: string;
  private at = 2;
  private depth = 0;
  private readonly known: Type[] = [];
  private templates: readonly Type[] = [];
  /** Facts of the name that was read last. */
  private isTemplate = false;
  private hasNoReturn = false;
  private qualifiers = '';

  constructor(text: string) {
    this.text = text;
  }

  whole(): string {
    const name = this.encoding();
    const rest = this.text.slice(this.at);
    if (rest === '') return name;
    if (!rest.startsWith('.')) throw new Unreadable();
    return `${name} (${rest})`;
  }

  private peek(text: string): boolean {
    return this.text.startsWith(text, this.at);
  }

  private take(text: string): boolean {
    if (!this.peek(text)) return false;
    this.at += text.length;
    return true;
  }

  private need(text: string): void {
    if (!this.take(text)) throw new Unreadable();
  }

  private number(): number {
    const digits = /^[0-9]{1,9}/.exec(this.text.slice(this.at, this.at + 9))?.[0];
    if (digits === undefined) throw new Unreadable();
    this.at += digits.length;
    return Number(digits);
  }

  /** `_` is 0, `0_` is 1, `A_` is 11 in base 36. */
  private sequence(base: 10 | 36): number {
    if (this.take('_')) return 0;
    const digits = (base === 10 ? /^[0-9]{1,6}_/ : /^[0-9A-Z]{1,6}_/).exec(this.text.slice(this.at, this.at + 7))?.[0];
    if (digits === undefined) throw new Unreadable();
    this.at += digits.length;
    return Number.parseInt(digits, base) + 1;
  }

  /** A function with its parameters, or the name of something else. */
  private encoding(): string {
    if (++this.depth > DEEPEST) throw new Unreadable();
    if (/^(?:T[VTISchv]|G[VRA])/.test(this.text.slice(this.at, this.at + 2))) throw new Unreadable();
    const name = this.name();
    const { isTemplate, hasNoReturn, qualifiers } = this;
    this.depth--;
    if (this.at >= this.text.length || this.peek('E') || this.peek('.')) return name;
    const returned = isTemplate && !hasNoReturn ? this.type() : undefined;
    const parameters = this.parameters();
    if (returned === undefined) return `${name}(${parameters})${qualifiers}`;
    const gap = returned.right === '' ? ' ' : '';
    return `${returned.left}${gap}${name}(${parameters})${qualifiers}${returned.right}`;
  }

  private parameters(): string {
    const types: Type[] = [];
    while (this.at < this.text.length && !this.peek('E') && !this.peek('.')) types.push(this.type());
    if (types.length === 0) throw new Unreadable();
    return types.length === 1 && types[0].left === 'void' && types[0].right === '' ? '' : listed(types);
  }

  private name(): string {
    this.isTemplate = false;
    this.hasNoReturn = false;
    this.qualifiers = '';
    if (this.peek('N')) return this.nested();
    if (this.peek('Z')) return this.local();
    let name: string;
    if (this.peek('S') && !this.peek('St')) {
      name = this.substitution().left;
      if (!this.peek('I')) throw new Unreadable();
    } else {
      name = (this.take('St') ? 'std::' : '') + this.unqualified('');
      if (!this.peek('I')) return name;
      this.known.push(plain(name));
    }
    const [text, types] = this.templateArguments();
    this.templates = types;
    this.isTemplate = true;
    return name + text;
  }

  private nested(): string {
    this.need('N');
    let qualifiers = '';
    const order = { r: ' restrict', V: ' volatile', K: ' const' };
    for (const [letter, text] of Object.entries(order)) if (this.take(letter)) qualifiers = text + qualifiers;
    if (this.take('R')) qualifiers += ' &';
    else if (this.take('O')) qualifiers += ' &&';
    let name = '';
    let last = '';
    let isTemplate = false;
    let hasNoReturn = false;
    while (!this.take('E')) {
      if (this.peek('S') && !this.peek('St')) {
        if (name !== '') throw new Unreadable();
        // As the class of a constructor, std::string is written out.
        const isString = /^S[siod]/.test(this.text.slice(this.at, this.at + 2));
        name = this.substitution().left;
        if (isString && /^(?:C[1-5]|D[0-5])/.test(this.text.slice(this.at, this.at + 2))) throw new Unreadable();
        last = /([A-Za-z_0-9]*)(?:<.*)?$/s.exec(name)?.[1] ?? '';
        continue;
      }
      if (this.peek('T')) {
        if (name !== '') throw new Unreadable();
        name = this.templateParameter().left;
        this.known.push(plain(name));
        continue;
      }
      if (this.peek('I')) {
        if (name === '' || isTemplate) throw new Unreadable();
        const [text, types] = this.templateArguments();
        this.templates = types;
        name += text;
        isTemplate = true;
      } else {
        const prefix = this.take('St') ? 'std::' : '';
        const isStructor = /^(?:C[1-5I]|D[0-5])/.test(this.text.slice(this.at, this.at + 2));
        hasNoReturn = isStructor || this.peek('cv');
        const part = this.unqualified(last);
        if (!isStructor) last = part.replace(/\[abi:.*/, '');
        name += (name === '' ? '' : '::') + prefix + part;
        isTemplate = false;
      }
      this.known.push(plain(name));
      while (this.take('M'));
    }
    if (name === '') throw new Unreadable();
    // The whole name is no prefix of itself; as a type it is kept by who asked for it.
    if (this.known.length > 0 && this.known[this.known.length - 1].left === name) this.known.pop();
    this.isTemplate = isTemplate;
    this.hasNoReturn = hasNoReturn;
    this.qualifiers = qualifiers;
    return name;
  }

  private local(): string {
    this.need('Z');
    const outer = this.templates;
    const scope = this.encoding();
    this.need('E');
    if (this.take('s')) {
      this.discriminator();
      return `${scope}::string literal`;
    }
    if (this.take('d')) {
      if (!this.peek('_')) this.number();
      this.need('_');
    }
    const name = this.name();
    const { isTemplate, hasNoReturn, qualifiers } = this;
    this.discriminator();
    if (!isTemplate && this.templates.length === 0) this.templates = outer;
    this.isTemplate = isTemplate;
    this.hasNoReturn = hasNoReturn;
    this.qualifiers = qualifiers;
    return `${scope}::${name}`;
  }

  private discriminator(): void {
    const found = /^(?:__[0-9]+_|_[0-9])/.exec(this.text.slice(this.at, this.at + 16))?.[0];
    this.at += found?.length ?? 0;
  }

  private unqualified(last: string): string {
    this.take('L');
    let name: string;
    const two = this.text.slice(this.at, this.at + 2);
    if (/^[0-9]/.test(two)) name = this.sourceName();
    else if (two === 'Ul') {
      this.at += 2;
      const parameters = this.parameters();
      this.need('E');
      name = `'lambda${this.closureNumber()}'(${parameters})`;
    } else if (two === 'Ut') {
      this.at += 2;
      name = `'unnamed${this.closureNumber()}'`;
    } else if (/^C[1-5]/.test(two)) {
      this.at += 2;
      name = last;
    } else if (/^D[0-5]/.test(two)) {
      this.at += 2;
      name = `~${last}`;
    } else if (two === 'cv') {
      this.at += 2;
      const { left, right } = this.type();
      name = `operator ${left}${right}`;
    } else if (two === 'li') {
      this.at += 2;
      name = `operator"" ${this.sourceName()}`;
    } else {
      const operator = Object.hasOwn(OPERATORS, two) ? OPERATORS[two] : undefined;
      if (operator === undefined) throw new Unreadable();
      this.at += 2;
      name = `operator${operator}`;
    }
    while (this.take('B')) name += `[abi:${this.sourceName()}]`;
    return name;
  }

  private closureNumber(): string {
    const number = this.sequence(10);
    return number === 0 ? '' : String(number - 1);
  }

  private sourceName(): string {
    const length = this.number();
    const name = this.text.slice(this.at, this.at + length);
    if (length === 0 || name.length < length) throw new Unreadable();
    this.at += length;
    return name.startsWith('_GLOBAL__N') ? '(anonymous namespace)' : name;
  }

  private substitution(): Type {
    this.need('S');
    const letter = this.text[this.at];
    if (letter !== undefined && Object.hasOwn(STANDARD, letter)) {
      this.at++;
      return plain(STANDARD[letter]);
    }
    const found = this.known[this.sequence(36)];
    if (found === undefined) throw new Unreadable();
    return found;
  }

  private templateParameter(): Type {
    this.need('T');
    const found = this.templates[this.sequence(10)];
    if (found === undefined) throw new Unreadable();
    return found;
  }

  private templateArguments(): [string, readonly Type[]] {
    this.need('I');
    // Arguments may have templates in them, whose parameters are not the ones that follow.
    const outer = this.templates;
    const types: Type[] = [];
    while (!this.take('E')) types.push(this.argument());
    this.templates = outer;
    return [`<${listed(types)}>`, types];
  }

  private argument(): Type {
    if (this.take('XadL_Z')) {
      const name = this.encoding();
      this.need('EE');
      return plain(`&${name}`);
    }
    if (this.peek('X')) throw new Unreadable();
    if (this.take('J')) {
      const pack: Type[] = [];
      while (!this.take('E')) pack.push(this.argument());
      return { left: '', right: '', pack };
    }
    return this.peek('L') ? this.literal() : this.type();
  }

  private literal(): Type {
    this.need('L');
    if (this.take('_Z')) {
      const name = this.encoding();
      this.need('E');
      return plain(name);
    }
    const code = this.text[this.at];
    if ('fde'.includes(code)) throw new Unreadable();
    const { left, right } = this.type();
    const digits = /^n?[0-9]*/.exec(this.text.slice(this.at))?.[0] ?? '';
    this.at += digits.length;
    this.need('E');
    const value = digits.replace('n', '-');
    if (code === 'b') return plain(value === '0' ? 'false' : 'true');
    if (left === 'std::nullptr_t') return plain('nullptr');
    if (value === '') throw new Unreadable();
    const suffix = Object.hasOwn(SUFFIX, code) ? SUFFIX[code] : undefined;
    return plain(suffix === undefined ? `(${left}${right})${value}` : value + suffix);
  }

  private type(): Type {
    if (++this.depth > DEEPEST) throw new Unreadable();
    const type = this.typeOf();
    this.depth--;
    return type;
  }

  /** A type; all but those of one or two letters can be referred to later on. */
  private typeOf(): Type {
    const code = this.text[this.at];
    if (code === undefined) throw new Unreadable();
    if (Object.hasOwn(BUILTIN, code)) {
      this.at++;
      return plain(BUILTIN[code]);
    }
    if (code === 'S' && !this.peek('St')) {
      const found = this.substitution();
      if (!this.peek('I')) return found;
      const [text] = this.templateArguments();
      return this.keep(plain(found.left + text));
    }
    switch (code) {
      case 'r':
      case 'V':
      case 'K':
        return this.qualified();
      case 'P':
        return this.pointer('*');
      case 'R':
        return this.pointer('&');
      case 'O':
        return this.pointer('&&');
      case 'F':
        return this.keep(this.functionType());
      case 'A':
        return this.array();
      case 'M':
        return this.memberPointer();
      case 'T': {
        if (/^T[sue]/.test(this.text.slice(this.at, this.at + 2))) throw new Unreadable();
        const parameter = this.keep(this.templateParameter());
        if (!this.peek('I')) return parameter;
        const [text] = this.templateArguments();
        return this.keep(plain(parameter.left + text));
      }
      case 'U': {
        this.at++;
        const qualifier = this.sourceName();
        const { left, right } = this.type();
        return this.keep({ left: `${left} ${qualifier}`, right });
      }
      case 'u':
        this.at++;
        return this.keep(plain(this.sourceName()));
      case 'D':
        return this.typeOfD();
    }
    const { templates } = this;
    const name = this.name();
    this.templates = templates;
    return this.keep(plain(name));
  }

  private keep(type: Type): Type {
    this.known.push(type);
    return type;
  }

  private qualified(): Type {
    let text = '';
    for (const [letter, word] of [
      ['r', ' restrict'],
      ['V', ' volatile'],
      ['K', ' const'],
    ]) {
      if (this.take(letter)) text = word + text;
    }
    // Of a function it is what follows the parameters.
    if (this.peek('F')) {
      const { left, right } = this.functionType();
      return this.keep({ left, right: right + text });
    }
    const type = this.type();
    const of = ({ left, right }: Type): Type => ({
      // The space before the brackets of an array stays there.
      left: left.endsWith(' ') ? `${left.trimEnd()}${text} ` : left + text,
      right,
    });
    return this.keep(type.pack === undefined ? of(type) : { left: '', right: '', pack: type.pack.map(of) });
  }

  private pointer(mark: string): Type {
    this.at++;
    const { left, right, pack } = this.type();
    if (pack !== undefined) return this.keep({ left: '', right: '', pack: pack.map((one) => pointed(one, mark)) });
    return this.keep(pointed({ left, right }, mark));
  }

  private functionType(): Type {
    this.need('F');
    this.take('Y');
    const returned = this.type();
    const parameters = this.parameters();
    const reference = this.take('RE') ? ' &' : this.take('OE') ? ' &&' : undefined;
    if (reference === undefined) this.need('E');
    return { left: `${returned.left} `, right: `(${parameters})${reference ?? ''}${returned.right}` };
  }

  private array(): Type {
    this.need('A');
    const size = this.peek('_') ? '' : String(this.number());
    this.need('_');
    const { left, right } = this.type();
    return this.keep({ left: `${left} `, right: `[${size}]${right}` });
  }

  private memberPointer(): Type {
    this.need('M');
    const owner = this.type();
    const { left, right } = this.type();
    const of = `${owner.left}${owner.right}::*`;
    return this.keep(right === '' ? plain(`${left} ${of}`) : { left: `${left}(${of}`, right: `)${right}` });
  }

  private typeOfD(): Type {
    const letter = this.text[this.at + 1];
    if (letter === 'p') {
      this.at += 2;
      return this.keep(this.type());
    }
    if (letter === 'v') {
      this.at += 2;
      const size = this.number();
      this.need('_');
      const { left, right } = this.type();
      return this.keep(plain(`${left}${right} vector[${size}]`));
    }
    if (letter === 'F') {
      this.at += 2;
      const bits = this.number();
      if (this.take('b')) return plain('std::bfloat16_t');
      this.need('_');
      return plain(`_Float${bits}`);
    }
    if (letter === 'o') throw new Unreadable();
    if (letter !== undefined && Object.hasOwn(BUILTIN_D, letter)) {
      this.at += 2;
      return plain(BUILTIN_D[letter]);
    }
    throw new Unreadable();
  }
}

/** A pointer or reference to a type; a reference to a reference is one. */
function pointed({ left, right }: Type, mark: string): Type {
  const reference = /&&?$/.exec(left)?.[0];
  if (mark !== '*' && reference !== undefined && (right === '' || right.startsWith(')'))) {
    return { left: mark === '&' && reference === '&&' ? left.slice(0, -1) : left, right };
  }
  if (right === '') return plain(left + mark);
  // Inside of a pointer to a function or an array there are more marks.
  if (right.startsWith(')')) return { left: left + mark, right };
  return { left: `${left}(${mark}`, right: `)${right.startsWith('[') ? ' ' : ''}${right}` };
}
