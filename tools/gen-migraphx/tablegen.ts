// The operations that a TableGen file defines: mnemonic, operands and attributes, through classes with parameters. As much of the
// language as rocMLIR's MIGraphX.td uses; what is not understood is an error with its place.
// Source: LLVM's TableGen Programmer's Reference; MLIR's "Operation Definition Specification".

/** One operand. */
export interface TdOperand {
  readonly name: string;
  readonly count: 'one' | 'optional' | 'variadic';
  /** The constraint, with parameters and `defvar` replaced: `MIXRShapedOf<[F32, I32]>`. */
  readonly type: string;
}

export interface TdAttribute {
  readonly name: string;
  readonly type: string;
  readonly optional: boolean;
}

export interface TdOperation {
  /** Without its dialect. */
  readonly name: string;
  readonly operands: readonly TdOperand[];
  readonly attributes: readonly TdAttribute[];
}

interface Class {
  readonly parameters: readonly { readonly name: string; readonly fallback: string }[];
  readonly bases: readonly { readonly name: string; readonly arguments: readonly string[] }[];
  /** Text behind `ins`, without the parentheses; undefined when this class says nothing. */
  readonly inputs: string | undefined;
}

const CLOSES: Readonly<Record<string, string>> = { '<': '>', '(': ')', '[': ']', '{': '}' };

/** Without comments, preprocessor lines and code blocks; strings stay. */
function strip(text: string): string {
  return text
    .replaceAll(/"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|\[\{[\s\S]*?\}\]/g, (match) =>
      match.startsWith('"') ? match : match.startsWith('[{') ? '""' : ' ',
    )
    .replaceAll(/^#.*$/gm, '')
    .replaceAll(/^include .*$/gm, '');
}

/** The position behind the bracket that closes the one at `open`. */
function closing(text: string, open: number): number {
  const stack: string[] = [];
  for (let at = open; at < text.length; at++) {
    if (text[at] === '"') {
      at = text.indexOf('"', at + 1);
      if (at < 0) break;
      continue;
    }
    const close = CLOSES[text[at]];
    if (close !== undefined) stack.push(close);
    else if (text[at] === stack.at(-1)) {
      stack.pop();
      if (stack.length === 0) return at + 1;
    }
  }
  throw new Error(`'${text.slice(open, open + 40)}' is never closed`);
}

/** Parts between commas outside brackets and strings, trimmed. */
export function splitList(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') at = Math.max(at, text.indexOf('"', at + 1));
    else if (text[at] in CLOSES) at = closing(text, at) - 1;
    else if (text[at] === ',') {
      parts.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  return [...parts, text.slice(start).trim()].filter((part) => part !== '');
}

/** `Name<a, b>` as name and arguments. */
function application(text: string): { name: string; arguments: string[] } {
  const open = text.indexOf('<');
  if (open < 0) return { name: text.trim(), arguments: [] };
  return { name: text.slice(0, open).trim(), arguments: splitList(text.slice(open + 1, closing(text, open) - 1)) };
}

/** `(ins …)` of a text, without `ins`. */
function insOf(text: string): string | undefined {
  const at = text.search(/\(\s*ins\b/);
  return at < 0
    ? undefined
    : text
        .slice(at, closing(text, at))
        .replace(/^\(\s*ins\b/, '')
        .slice(0, -1);
}

/** All operations of a file, in order. */
export function readOperations(source: string): TdOperation[] {
  const text = strip(source);
  const variables = new Map<string, string>();
  const classes = new Map<string, Class>();
  const operations: TdOperation[] = [];
  for (const match of text.matchAll(/^(class|def|defvar)\s+(\w+)/gm)) {
    const [, kind, name] = match;
    let at = match.index + match[0].length;
    if (kind === 'defvar') {
      variables.set(name, text.slice(text.indexOf('=', at) + 1, text.indexOf(';', at)).trim());
      continue;
    }
    const skip = (): void => {
      while (/\s/.test(text[at] ?? '')) at++;
    };
    skip();
    let parameters: Class['parameters'] = [];
    if (text[at] === '<') {
      const end = closing(text, at);
      parameters = splitList(text.slice(at + 1, end - 1)).map((parameter) => {
        const [declared, fallback = ''] = parameter.split(/=(.*)/s).map((part) => part.trim());
        return { name: declared.split(/\s+/).at(-1) ?? '', fallback };
      });
      at = end;
      skip();
    }
    // Up to the body or the semicolon, outside of brackets.
    let end = at;
    while (end < text.length && text[end] !== '{' && text[end] !== ';') {
      if (text[end] === '"') end = text.indexOf('"', end + 1) + 1;
      else end = text[end] in CLOSES ? closing(text, end) : end + 1;
    }
    const bases = splitList(text.slice(at, end).replace(/^:/, '')).map(application);
    const body = text[end] === '{' ? text.slice(end, closing(text, end)) : '';
    const assigned = /\blet\s+arguments\s*=\s*/.exec(body);
    const listed = bases.find((base) => base.name === 'Arguments')?.arguments[0];
    const inputs = assigned === null ? insOf(listed ?? '') : insOf(body.slice(assigned.index));
    const entry = { parameters, bases, inputs };
    if (kind === 'class') classes.set(name, entry);
    else {
      const operation = resolve(entry, classes, variables);
      if (operation !== undefined) operations.push(operation);
    }
  }
  return operations;
}

/** What a definition inherits; undefined when it is no operation. */
function resolve(
  definition: Class,
  classes: ReadonlyMap<string, Class>,
  variables: ReadonlyMap<string, string>,
): TdOperation | undefined {
  let bindings: ReadonlyMap<string, string> = new Map(variables);
  let inputs: string | undefined;
  let current: Class | undefined = definition;
  while (current !== undefined) {
    const bound = bindings;
    const replace = (value: string): string =>
      value.replaceAll(/"[^"]*"|\b[A-Za-z_]\w*\b/g, (word) => bound.get(word) ?? word);
    if (inputs === undefined && current.inputs !== undefined) inputs = replace(current.inputs);
    const base: Class['bases'][number] | undefined = current.bases[0];
    if (base?.name === 'Op') {
      const name = /^"([^"]+)"$/.exec(replace(base.arguments[1] ?? ''))?.[1];
      return name === undefined ? undefined : { name, ...sorted(inputs ?? '') };
    }
    const next: Class | undefined = base === undefined ? undefined : classes.get(base.name);
    if (next !== undefined) {
      const values = base.arguments.map(replace);
      bindings = new Map([
        ...variables,
        ...next.parameters.map(({ name, fallback }, i): [string, string] => [name, values[i] ?? fallback]),
      ]);
    }
    current = next;
  }
  return undefined;
}

/** Operands and attributes of `ins`: what is an attribute says so in its type's name. */
function sorted(inputs: string): Pick<TdOperation, 'operands' | 'attributes'> {
  const operands: TdOperand[] = [];
  const attributes: TdAttribute[] = [];
  for (const item of splitList(inputs)) {
    const match = /^([\s\S]*?):\s*\$(\w+)$/.exec(item);
    if (match === null) throw new Error(`'${item}' is no named argument`);
    const [, text, name] = match;
    const type = text.replaceAll(/\s+/g, ' ').trim();
    const outer = application(type);
    if (/Attr$/.test(outer.name)) {
      const optional = outer.name === 'OptionalAttr' || /^DefaultValued(?:Optional)?Attr$/.test(outer.name);
      attributes.push({ name, type: optional ? (outer.arguments[0] ?? type) : type, optional });
      continue;
    }
    const count = outer.name === 'Optional' ? 'optional' : outer.name === 'Variadic' ? 'variadic' : 'one';
    operands.push({ name, count, type: count === 'one' ? type : (outer.arguments[0] ?? type) });
  }
  return { operands, attributes };
}
