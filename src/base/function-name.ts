// Whether a text means a function: as gdb takes them, with or without namespaces, arguments of templates and parameters.
import { demangle } from './demangle.ts';

/** Whether the symbol of a C++ function is what a text names: `scale`, `geo::Box::size`, `geo::Box<double>::size() const`, `add(int, int)`. */
export function isFunctionNamed(symbol: string, text: string): boolean {
  const whole = demangle(symbol);
  if (whole === symbol) return symbol === text;
  const wanted = plain(text);
  const own = plain(withoutResult(whole));
  const hasParameters = wanted.includes('(') && !/operator\(\)$/.test(wanted);
  const name = hasParameters ? own : withoutParameters(own);
  return [name, withoutGroups(name, '<', '>')].some((one) => one === wanted || one.endsWith(`::${wanted}`));
}

/** Without spaces that mean nothing. */
const plain = (text: string): string => text.trim().replace(/\s*([^\w\s])\s*/g, '$1');

/** Where groups that are nested in brackets are left out: `Box<double>::size`, `Box::size`. */
function withoutGroups(text: string, open: string, close: string): string {
  // Brackets of an operator are none of a group.
  if (/operator[<>-]/.test(text)) return text;
  let depth = 0;
  let out = '';
  for (const letter of text) {
    if (letter === open) depth++;
    if (depth === 0) out += letter;
    if (letter === close) depth--;
  }
  return out;
}

/** What a template returns stands before its name. */
function withoutResult(text: string): string {
  if (/\boperator\b/.test(text)) return text;
  let depth = 0;
  let begin = 0;
  for (const [at, letter] of [...text].entries()) {
    if (letter === '(' && depth === 0) return text.slice(begin);
    if (letter === ' ' && depth === 0) begin = at + 1;
    if ('<('.includes(letter)) depth++;
    else if ('>)'.includes(letter)) depth--;
  }
  return text;
}

function withoutParameters(text: string): string {
  let depth = 0;
  for (let at = text.length - 1; at >= 0; at--) {
    if (text[at] === ')') depth++;
    if (text[at] === '(' && --depth === 0) return text.slice(0, at);
  }
  return text;
}
