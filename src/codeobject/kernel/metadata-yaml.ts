// The YAML text of code object metadata, as `.amdgpu_metadata` carries it: LLVM's scalar typing and LLVM's layout.
// Source: LLVM's lib/BinaryFormat/MsgPackDocumentYAML.cpp and include/llvm/Support/YAMLTraits.h.
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { WavesmithError } from '../../base/index.ts';
import { type MsgPackMap, type MsgPackValue, sortedEntries } from './msgpack.ts';
import { readPlainYaml } from './plain-yaml.ts';

type Scalar = null | boolean | bigint | number | string;

/** Where the YAML text starts in its file, for the position of errors. */
export interface YamlOrigin {
  file?: string | undefined;
  /** Line of the text's first line, from 1. */
  line?: number | undefined;
}

/** Reads YAML text into a MessagePack document, typing each scalar as LLVM does (quotes do not make a string). */
export function metadataFromYaml(text: string, origin: YamlOrigin = {}): MsgPackValue {
  return readPlainYaml(text, (scalar) => scalarFromText(scalar, '')) ?? metadataFromAnyYaml(text, origin);
}

/** The same for any YAML: what `readPlainYaml` does not read, and everything that is wrong. */
export function metadataFromAnyYaml(text: string, origin: YamlOrigin = {}): MsgPackValue {
  const lines = new LineCounter();
  const firstLine = origin.line ?? 1;
  const fail = (message: string, offset: number) => {
    const { line, col } = lines.linePos(offset);
    return new WavesmithError('metadata/bad-yaml', `The metadata YAML is wrong: ${message}.`, {
      file: origin.file,
      line: line === 0 ? firstLine : firstLine + line - 1,
      column: line === 0 ? 1 : col,
    });
  };
  const document = parseDocument(text, {
    schema: 'failsafe',
    lineCounter: lines,
    logLevel: 'silent',
    prettyErrors: false,
    stringKeys: false,
  });
  if (document.errors.length > 0) {
    const error = document.errors[0];
    throw fail(error.message.replace(/\.$/, ''), error.pos[0]);
  }
  const convert = (node: Node | null | undefined, depth: number): MsgPackValue => {
    if (node === null || node === undefined) return scalarFromText('', '');
    const offset = node.range?.[0] ?? 0;
    if (depth > 64) throw fail('it nests too deeply', offset);
    if (isMap(node)) {
      const map: MsgPackMap = new Map();
      for (const { key, value } of node.items) {
        if (!isScalar(key)) throw fail('a key is not a scalar', offset);
        const typed = scalarFromText(String(key.value ?? ''), '');
        if (map.has(typed)) throw fail(`the key '${String(typed)}' is given twice`, key.range?.[0] ?? offset);
        map.set(typed, convert(value as Node | null, depth + 1));
      }
      return map;
    }
    if (isSeq(node)) return node.items.map((item) => convert(item as Node | null, depth + 1));
    if (!isScalar(node)) throw fail('aliases are not supported', offset);
    const value = scalarFromText(String(node.value ?? ''), node.tag ?? '');
    if (value === undefined) throw fail(`'${String(node.value)}' does not fit its tag ${node.tag}`, offset);
    return value;
  };
  return convert(document.contents as Node | null, 0);
}

const INTEGER = /^(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0o([0-7]+)|0([0-7]+)|(0|[1-9][0-9]*))$/;
const FLOAT = /^\s*[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|inf(?:inity)?|nan)$/i;
const HEX_FLOAT = /^\s*([-+]?)0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)(?:[pP]([-+]?[0-9]+))?$/;

function parseUnsigned(text: string): bigint | undefined {
  const m = INTEGER.exec(text);
  if (m === null) return undefined;
  if (m[1] !== undefined) return BigInt(`0x${m[1]}`);
  if (m[2] !== undefined) return BigInt(`0b${m[2]}`);
  const octal = m[3] ?? m[4];
  return octal === undefined ? BigInt(m[5]) : BigInt(`0o${octal}`);
}

function parseInteger(text: string): bigint | undefined {
  const negative = text.startsWith('-');
  const magnitude = parseUnsigned(negative ? text.slice(1) : text);
  if (magnitude === undefined) return undefined;
  if (negative) return magnitude <= 1n << 63n ? -magnitude : undefined;
  return magnitude < 1n << 64n ? magnitude : undefined;
}

function parseFloatLikeC(text: string): number | undefined {
  if (text === '') return 0;
  if (FLOAT.test(text)) {
    const plain = text.trim().toLowerCase();
    if (plain.includes('nan')) return Number.NaN;
    if (plain.includes('inf')) return plain.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    return Number(plain);
  }
  const hex = HEX_FLOAT.exec(text);
  if (hex === null || (hex[2] === '' && hex[3] === '')) return undefined;
  const digits = Number(BigInt(`0x${hex[2]}${hex[3]}`));
  const value = digits * 2 ** (Number(hex[4] ?? 0) - 4 * hex[3].length);
  return hex[1] === '-' ? -value : value;
}

function parseBoolean(text: string): boolean | undefined {
  return text === 'true' ? true : text === 'false' ? false : undefined;
}

/** LLVM's DocNode::fromString: unsigned, signed, boolean, float, else string; a tag picks one. */
function scalarFromText(text: string, tag: string): Scalar;
function scalarFromText(text: string, tag: string): Scalar | undefined {
  switch (tag) {
    case '':
    case '!':
    case 'tag:yaml.org,2002:str':
      return parseInteger(text) ?? parseBoolean(text) ?? parseFloatLikeC(text) ?? text;
    case '!int':
      return parseInteger(text);
    case '!nil':
      return null;
    case '!bool':
      return parseBoolean(text);
    case '!float':
      return parseFloatLikeC(text);
    case '!str':
      return text;
    default:
      return undefined;
  }
}

/** The YAML text of a document, `---` and `...` lines included, as LLVM prints it. */
export function metadataToYaml(document: MsgPackValue): string {
  const out: string[] = ['---\n'];
  if (document instanceof Map || Array.isArray(document)) writeContainer(out, document, 0, false);
  else out.push(`${scalarToText(document)}\n`);
  out.push('...\n');
  return out.join('');
}

const KEY_WIDTH = 16;

function isEmpty(value: MsgPackValue): boolean {
  return (Array.isArray(value) && value.length === 0) || (value instanceof Map && value.size === 0);
}

/** Writes a map or list; `inline` means that the first entry continues the current line. */
function writeContainer(out: string[], value: MsgPackMap | MsgPackValue[], indent: number, inline: boolean): void {
  if (isEmpty(value)) {
    out.push(Array.isArray(value) ? '[]\n' : '{}\n');
    return;
  }
  let first = inline;
  const lead = () => {
    if (!first) out.push(' '.repeat(indent));
    first = false;
  };
  if (Array.isArray(value)) {
    for (const item of value) {
      lead();
      out.push('- ');
      if (item instanceof Map || Array.isArray(item)) writeContainer(out, item, indent + 2, true);
      else out.push(`${scalarToText(item)}\n`);
    }
    return;
  }
  for (const [key, item] of sortedEntries(value)) {
    lead();
    const plain = plainText(key);
    const padding = plain.length < KEY_WIDTH ? ' '.repeat(KEY_WIDTH - plain.length) : ' ';
    out.push(`${quote(plain, false)}:`);
    const isContainer = item instanceof Map || Array.isArray(item);
    if (isContainer && !isEmpty(item)) {
      out.push('\n');
      writeContainer(out, item, indent + 2, false);
    } else {
      out.push(padding, isContainer ? (Array.isArray(item) ? '[]' : '{}') : scalarToText(item), '\n');
    }
  }
}

/** LLVM's DocNode::toString. */
function plainText(value: MsgPackValue): string {
  if (typeof value === 'number') return formatExponent(value);
  if (value === null) return '';
  if (typeof value === 'object') {
    throw new WavesmithError('metadata/binary', 'Binary values and extensions have no YAML form.', {
      hint: 'LLVM cannot print this metadata either.',
    });
  }
  return String(value);
}

/** C's `%e`. */
function formatExponent(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value < 0 ? '-INF' : 'INF';
  const [mantissa, exponent] = value.toExponential(6).split('e');
  const sign = exponent[0] === '-' ? '-' : '+';
  return `${Object.is(value, -0) ? '-' : ''}${mantissa}e${sign}${exponent.replace(/^[-+]/, '').padStart(2, '0')}`;
}

function kindOf(value: Scalar): string {
  return value === null ? 'nil' : typeof value;
}

function scalarToText(value: MsgPackValue): string {
  const text = plainText(value);
  if (value === null) return "!nil ''";
  const tag = kindOf(scalarFromText(text, '')) === kindOf(value as Scalar) ? '' : `!${TAGS[typeof value]} `;
  return tag + (typeof value === 'string' ? quote(text, true) : text);
}

const TAGS: Record<string, string> = { string: 'str', bigint: 'int', number: 'float', boolean: 'bool' };
const NUMERIC =
  /^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
const RESERVED = new Set(['null', 'Null', 'NULL', '~', 'true', 'True', 'TRUE', 'false', 'False', 'FALSE']);

/** LLVM's yaml::needsQuotes and the quoting itself. */
function quote(text: string, preserve: boolean): string {
  if (text === '') return "''";
  let single = /^[\s]|[\s]$/.test(text) || (preserve && (RESERVED.has(text) || NUMERIC.test(text)));
  single ||= '-?:\\,[]{}#&*!|>\'"%@`'.includes(text[0]);
  for (const char of text) {
    const code = char.codePointAt(0)!;
    if (/[A-Za-z0-9_\-^., \t]/.test(char)) continue;
    if (code < 0x20 || code >= 0x7f) return `"${escapeText(text)}"`;
    single = true;
  }
  return single ? `'${text.replaceAll("'", "''")}'` : text;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '"': '\\"',
  '\0': '\\0',
  '\x07': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '\x1b': '\\e',
  '\x85': '\\N',
  '\xa0': '\\_',
  '\u2028': '\\L',
  '\u2029': '\\P',
};

function escapeText(text: string): string {
  let out = '';
  for (const char of text) {
    const code = char.codePointAt(0)!;
    if (ESCAPES[char] !== undefined) out += ESCAPES[char];
    else if (code < 0x20) out += `\\x${code.toString(16).toUpperCase().padStart(2, '0')}`;
    else out += char;
  }
  return out;
}
