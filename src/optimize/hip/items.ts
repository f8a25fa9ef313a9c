// The declarations of a preprocessed HIP source: those that the host compiles, and what only the device has.
import { sha256 } from '../hash.ts';

/** What a source holds. */
export interface SourceItems {
  /** Declarations for the host, in order, and what is included. */
  readonly host: readonly string[];
  /** Names of declarations that only the device has. */
  readonly device: ReadonlySet<string>;
  /** Pragmas within those. */
  readonly pragmas: ReadonlySet<string>;
  /** A hash of all text that is of other files. */
  readonly included: string;
}

const MARKER = /^# \d+ "([^"]*)"([ \d]*)$/;

/** Declarations of the source's own lines, and files that it includes itself. `preprocessed`: as `clang -E` prints it for the host. */
export function sourceItems(preprocessed: string, source: string): SourceItems {
  const isSource = (file: string): boolean => file === source || file.endsWith(`/${source}`);
  const own: string[] = [];
  const files: string[] = [];
  const others: string[] = [];
  let file = '';
  for (const line of preprocessed.split('\n')) {
    const [, name, flags = ''] = MARKER.exec(line) ?? [];
    if (name === undefined) {
      if (isSource(file)) own.push(line);
      else if (line.trim() !== '') others.push(line);
      continue;
    }
    if (isSource(file) && flags.includes('1')) files.push(`#include ${name}`);
    file = name;
  }
  const host = [...files];
  const device = new Set<string>();
  const pragmas = new Set<string>();
  for (const item of itemsOf(own.join('\n'))) {
    const head = headOf(item);
    if (!isDevice(head)) {
      host.push(item);
      continue;
    }
    const name = /(\w+)\s*$/.exec(head.words)?.[1];
    if (name !== undefined) device.add(name);
    for (const [, words = ''] of item.matchAll(/#\s*pragma\s+(\w+(?:\s+\w+)?)/g)) pragmas.add(words);
  }
  return { host, device, pragmas, included: sha256(others.join('\n')) };
}

const SCOPE = /(?:^|\s)(?:(?:inline\s+)?namespace\b[^;(){}]*|extern\s*"C(?:\+\+)?"\s*)$/;
const LITERAL = /^(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')/;

/** Declarations of a text, one by one, those in namespaces too. */
function itemsOf(text: string): string[] {
  const items: string[] = [];
  let start = 0;
  const push = (end: number): void => {
    const item = text.slice(start, end).replace(/\s+/g, ' ').trim();
    if (item !== '') items.push(item);
    start = end;
  };
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const c = text[at] as string;
    if (c === '"' || c === "'") {
      at += (LITERAL.exec(text.slice(at, at + 65536))?.[0].length ?? 1) - 1;
    } else if (c === '#' && depth === 0 && text.slice(start, at).trim() === '') {
      const end = text.indexOf('\n', at);
      at = end < 0 ? text.length : end;
      push(at);
    } else if (c === '(' || c === '[') depth++;
    else if (c === ')' || c === ']') depth--;
    else if (c === '{') {
      if (depth === 0 && SCOPE.test(text.slice(start, at))) push(at + 1);
      else depth++;
    } else if (c === '}') {
      if (depth > 0) depth--;
      if (depth > 0) continue;
      // The end of a function or scope; of a type or an initializer the semicolon follows.
      const rest = /^\s*[;=,*&\w]/.exec(text.slice(at + 1, at + 200))?.[0].trim();
      const isType = /^[^(]*\b(?:struct|class|union|enum)\b[^(]*\{/.test(text.slice(start, at)) || rest === ';';
      if (!isType) push(at + 1);
    } else if (c === ';' && depth === 0) push(at + 1);
  }
  push(text.length);
  return items;
}

/** What stands before the parameters, the initializer or the body of a declaration. */
interface Head {
  /** Without attributes. */
  readonly words: string;
  readonly attributes: ReadonlySet<string>;
  /** What ends it. */
  readonly end: string;
}

/** Attributes, and what may hold parentheses before the name: of a template its parameters. */
const PREFIX =
  /^\s*(?:__attribute__\s*\(\(((?:[^()]|\([^()]*\))*)\)\)|\[\[([^\]]*)\]\]|template\s*<[^<>(){};"']*>|extern\s*"C(?:\+\+)?")/;

function headOf(item: string): Head {
  const attributes = new Set<string>();
  let words = '';
  for (let rest = item; rest !== ''; ) {
    const found = PREFIX.exec(rest);
    if (found !== null) {
      for (const [name] of `${found[1] ?? ''} ${found[2] ?? ''}`.matchAll(/\w+/g))
        attributes.add(name.replace(/^__|__$/g, ''));
      words += ' ';
      rest = rest.slice(found[0].length);
      continue;
    }
    const c = rest[0] as string;
    if (/[(){}[\];=,"'#]/.test(c)) return { words, attributes, end: c };
    words += c;
    rest = rest.slice(1);
  }
  return { words, attributes, end: '' };
}

const DEVICE = ['global', 'device', 'shared', 'constant', 'managed'];

/** Whether only the device has a declaration. A type, a scope and an alias are nobody's alone, whatever attribute they bear. */
function isDevice({ words, attributes, end }: Head): boolean {
  if (/\b(?:namespace|typedef|using|friend|asm|__asm__)\b/.test(words)) return false;
  if (/\b(?:struct|class|union|enum)\b/.test(words) && /[{;]/.test(end)) return false;
  return DEVICE.some((name) => attributes.has(name)) && !attributes.has('host');
}
