// `set`: writes registers, variables of the source program, memory, the pc and variables of the session; how many elements are shown.
import { WavesmithError } from '../../../base/index.ts';
import { readRegisters, valueText as registerText } from '../tools/registers.ts';
import { setVariable, variableAt } from './assign.ts';
import { registerBits, setRegister } from './change.ts';
import { bad, type CommandLine, type CommandSession, count, MOST_STEPS, place, show } from './command.ts';
import type { Debugger } from './debugger.ts';
import { evaluate, operandOf, placeText, selectedWave } from './look.ts';
import type { ShownVariable } from './typed.ts';
import { operandText } from './variable-text.ts';

/** Settings of gdb that have no meaning here. */
const SETTINGS =
  /^(?:pagination|confirm|height|width|print|listsize|logging|args|environment|history|style|disassembly-flavor|disassemble-next-line|scheduler-locking|non-stop|breakpoint|verbose|auto-load|debuginfod|startup-with-shell|follow-fork-mode|step-mode|can-use-hw-watchpoints|language|radix|output-radix|input-radix|prompt|editing|cwd|sysroot|trace-commands|complaints|max-value-size|amdgpu|inferior-tty|backtrace|debug-file-directory|substitute-path)\b/;

/** What scripts of gdb begin with: it asks nothing and pages nothing here, whatever is set. */
const IS_SO = /^(?:(?:confirm|pagination)(?:\s+(?:on|off))?|(?:height|width)\s+(?:0|unlimited))$/;

/** `set REGISTER VALUE`, `set VARIABLE = VALUE`, `set pc PLACE`, `set *TYPE(ADDRESS) VALUE`, `set $NAME = VALUE`. */
export function set(session: CommandSession, { rest }: CommandLine): undefined {
  const d = session.debugger;
  const text = rest.replace(/^var(iable)?\s+/, '');
  const [, elements] = /^p(?:r(?:int)?)?\s+ele(?:ments)?\s+(\S+)$/.exec(text) ?? [];
  if (elements !== undefined) {
    const isAll = elements === '0' || elements === 'unlimited';
    d.remembered.elements = isAll ? Number.POSITIVE_INFINITY : count(elements, 1, MOST_STEPS, 'elements');
    return undefined;
  }
  const [, pretty] = /^p(?:r(?:int)?)?\s+pretty(?:\s+(on|off))?$/.exec(text) ?? [];
  if (/^p(?:r(?:int)?)?\s+pretty\b/.test(text)) {
    if (pretty === undefined && !/pretty$/.test(text)) throw bad('Write: set print pretty on, or off.');
    d.remembered.isPretty = pretty !== 'off';
    return undefined;
  }
  if (IS_SO.test(text)) return undefined;
  if (text === rest && SETTINGS.test(text) && !text.includes('=')) {
    throw bad(`'set ${text.split(/\s+/)[0]}' is a setting of gdb that does not exist here; nothing needs it.`);
  }
  const match = assignment(text);
  if (match === undefined) throw bad('Write: set REGISTER VALUE, set pc PLACE, or set *f32(ADDRESS) VALUE.');
  const { left, value } = match;
  const own = /^\$([A-Za-z_]\w*)$/.exec(left)?.[1];
  const w = selectedWave(d);
  const name = left.replace(/^\$(?=[A-Za-z_])/, '');
  if (own !== undefined && !isRegister(own)) {
    const made = operandOf(d, value);
    d.remembered.variables.set(own, made);
    return show(session, [`$${own} = ${operandText(made)}`]);
  }
  if (name === 'pc') {
    d.jump(w, place(session, value));
    return show(session, [`pc = ${placeText(d, d.pc)}`]);
  }
  const variable = left === name ? variableToSet(d, left) : undefined;
  if (variable !== undefined) {
    setVariable(d, w, variable, value, left);
    return show(session, [`${left} = ${operandText(operandOf(d, left))}`]);
  }
  setRegister(d, w, name, registerBits(evaluate(d, value)));
  return show(session, readRegisters(w, name.replace(/^([va]\d+)\[\d+\]$/i, '$1'), 'few').map(registerText));
}

const isRegister = (name: string): boolean =>
  /^(?:[sva]\d+|ttmp\d+|(?:vcc|exec|flat_scratch)(?:_lo|_hi)?|m0|scc|mode|pc)$/i.test(name);

/** What stands on the left; undefined for a register, and for what names nothing. */
export function variableToSet(d: Debugger, text: string): ShownVariable | undefined {
  try {
    return variableAt(d, text);
  } catch (error) {
    // Registers are named when there is no such variable.
    if (error instanceof WavesmithError && /^[A-Za-z_]\w*$/.test(text)) return undefined;
    throw error;
  }
}

/** Where `=` stands that sets something, and what is computed with the old value first: `+` of `+=`. */
function equalsIn(text: string): { readonly at: number; readonly end: number; readonly operator: string } | undefined {
  let depth = 0;
  let isQuoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i] as string;
    if (c === '"' && text[i - 1] !== '\\') isQuoted = !isQuoted;
    if (isQuoted) continue;
    if ('([{'.includes(c)) depth++;
    else if (')]}'.includes(c)) depth--;
    else if (c === '=' && depth === 0) {
      if (text[i + 1] === '=') i++;
      else {
        const [, operator = ''] = /(<<|>>|[-+*/%&|^])$/.exec(text.slice(0, i)) ?? [];
        if (operator !== '' || !/[<>!]$/.test(text.slice(0, i)))
          return { at: i - operator.length, end: i + 1, operator };
      }
    }
  }
  return undefined;
}

/** Whether an expression sets something: `a = 3`, `a += 3`, `a++`. */
export const hasAssignment = (text: string): boolean => equalsIn(text) !== undefined || STEP.test(text);

const STEP = /^(?:(\+\+|--)\s*(.+)|(.+?)\s*(\+\+|--))$/s;

/** What is set and to what: `LEFT = VALUE`, or `LEFT VALUE` with a blank that is in no parentheses. */
function assignment(text: string): { readonly left: string; readonly value: string } | undefined {
  const [, before, right, left, behind] = STEP.exec(text) ?? [];
  const stepped = right ?? left;
  if (stepped !== undefined) return { left: stepped, value: `(${stepped}) ${(before ?? behind)?.[0]} 1` };
  const equals = equalsIn(text);
  if (equals !== undefined) {
    const first = text.slice(0, equals.at).trim();
    const second = text.slice(equals.end).trim();
    if (first === '' || second === '') return undefined;
    return { left: first, value: equals.operator === '' ? second : `(${first}) ${equals.operator} (${second})` };
  }
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    if ('([{'.includes(text[i] as string)) depth++;
    else if (')]}'.includes(text[i] as string)) depth--;
    // A cast's `)` belongs to what follows it.
    else if (text[i] === ' ' && depth === 0 && !/^\*+\s*(?:\w+\s*)?$/.test(text.slice(0, i))) {
      const [left, value] = [text.slice(0, i).trim(), text.slice(i).trim()];
      if (left !== '' && value !== '' && !value.startsWith('(')) return { left, value };
    }
  }
  return undefined;
}
