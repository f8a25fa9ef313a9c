// Completion of command lines: names of commands, topics, places, registers, arguments and variables.

import { WavesmithError } from '../../../base/index.ts';
import type { DebugType } from '../../../codeobject/index.ts';
import { sourceName } from '../tools/symbols.ts';
import type { Debugger } from './debugger.ts';
import { operandOf } from './look.ts';
import { isUnnamed, variablesOf } from './source-variables.ts';

const REGISTERS = [
  'vcc',
  'exec',
  'scc',
  'm0',
  'mode',
  'pc',
  'lane',
  'wave',
  'workgroup.x',
  'workgroup.y',
  'workgroup.z',
];
const TAKES_PLACE = /^(?:b|break|tb|tbreak|until|u|advance|jump|j|list|l|dis|disas|disassemble|clear|delete|d)$/;
const TAKES_VALUE =
  /^(?:p|print|inspect|watch|display|x|set|who|origin|ptype|whatis|call|output|memory|m|condition|registers|r)$/;

/** Words that may stand where a line ends, and the part of the line that they would replace. */
export function completionsOf(
  d: Debugger,
  line: string,
  commands: readonly string[],
  topics: readonly string[],
): readonly [words: readonly string[], replaced: string] {
  const parts = /^\s*(\S*)$/.exec(line);
  if (parts !== null) return [starting(commands, parts[1] as string), parts[1] as string];
  const [, first = '', rest = ''] = /^\s*([^\s/]+)(?:\/\S*)?\s+(.*)$/.exec(line) ?? [];
  const isPlace = TAKES_PLACE.test(first);
  const last = (isPlace ? /\S*$/ : /[\w.:]*$/).exec(rest)?.[0] ?? '';
  if (first === 'info' || first === 'i') {
    const [topic = '', ...behind] = rest.split(/\s+/);
    if (behind.length === 0) return [starting(topics, last), last];
    return [starting(/^(?:line|symbol|scope)$/.test(topic) ? placeNames(d) : valueNames(d), last), last];
  }
  if (first === 'set' && /^\s*print\s/.test(rest)) return [starting(['elements', 'pretty'], last), last];
  if (isPlace && !/\bif\b/.test(rest)) return [starting(placeNames(d), last), last];
  if (isPlace || TAKES_VALUE.test(first)) return valuesAt(d, rest, last);
  return [[], last];
}

/** Names of values; of members behind `.` and `->`. */
function valuesAt(d: Debugger, text: string, last: string): readonly [words: readonly string[], replaced: string] {
  const [, whole = '', begin = ''] = /([\w:$.>[\]-]*)(?:\.|->)(\w*)$/.exec(text) ?? [];
  const members = whole === '' ? [] : membersOf(d, whole);
  return members.length > 0 ? [starting(members, begin), begin] : [starting(valueNames(d), last), last];
}

/** The members of what a text means, or of what that points to; none where it means nothing. */
function membersOf(d: Debugger, text: string): string[] {
  try {
    const operand = operandOf(d, text);
    const type = typeof operand === 'object' ? operand.type : undefined;
    return type === undefined ? [] : memberNames(type.kind === 'pointer' ? type.of?.() : type);
  } catch (error) {
    if (error instanceof WavesmithError) return [];
    throw error;
  }
}

function memberNames(type: DebugType | undefined): string[] {
  if (type?.isVector === true) return ['x', 'y', 'z', 'w'].slice(0, type.count);
  return (type?.members ?? []).flatMap(({ name, type: of }) => (isUnnamed(name) ? memberNames(of()) : [name]));
}

const starting = (words: readonly string[], begin: string): string[] =>
  [...new Set(words)].filter((word) => word.startsWith(begin)).sort();

function placeNames(d: Debugger): string[] {
  const { symbols, lines } = d.options;
  const names = symbols.symbols.flatMap(({ name }) => [name, sourceName(name)]);
  const inlined = d.selected === undefined ? [] : d.framesOf(d.selected).flatMap((f) => f.name ?? []);
  return [...names, ...inlined, ...(lines?.files() ?? []).map((file) => `${file.replace(/^.*\//, '')}:`)];
}

function valueNames(d: Debugger): string[] {
  const { selected } = d;
  const variables = selected === undefined ? [] : variablesOf(selected, d.lane, d).map((v) => v.name);
  const own = d.options.arguments().map(({ name }, i) => (name === '' ? `arg${i}` : name));
  return [...variables, ...own, ...REGISTERS];
}
