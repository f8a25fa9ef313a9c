// `set`: writes registers, variables of the source program, memory, the pc and variables of the session.
import { hex } from '../tools/lanes.ts';
import { readRegisters, valueText as registerText } from '../tools/registers.ts';
import { setVariable, variableAt } from './assign.ts';
import { bytesOf, registerBits, setBytes, setRegister } from './change.ts';
import { bad, type CommandLine, type CommandSession, place, show } from './command.ts';
import { type Expression, parseExpression } from './expression.ts';
import { formatted } from './format.ts';
import { evaluate, placeText, selectedWave } from './look.ts';
import { addressNumber, scopeOf } from './scope.ts';
import { variableText } from './source-variables.ts';

/** Settings of gdb that have no meaning here. */
const SETTINGS =
  /^(?:pagination|confirm|height|width|print|listsize|logging|args|environment|history|style|disassembly-flavor|disassemble-next-line|scheduler-locking|non-stop|breakpoint|verbose|auto-load|debuginfod|startup-with-shell|follow-fork-mode|step-mode|can-use-hw-watchpoints)\b/;

/** `set REGISTER VALUE`, `set VARIABLE = VALUE`, `set pc PLACE`, `set *TYPE(ADDRESS) VALUE`, `set $NAME = VALUE`. */
export function set(session: CommandSession, { rest }: CommandLine): undefined {
  const d = session.debugger;
  const text = rest.replace(/^var(iable)?\s+/, '');
  if (text === rest && SETTINGS.test(text) && !text.includes('=')) {
    throw bad(`'set ${text.split(/\s+/)[0]}' is a setting of gdb that does not exist here; nothing needs it.`);
  }
  const match = assignment(text);
  if (match === undefined) throw bad('Write: set REGISTER VALUE, set pc PLACE, or set *f32(ADDRESS) VALUE.');
  const { left, value } = match;
  const own = /^\$([A-Za-z_]\w*)$/.exec(left)?.[1];
  const w = selectedWave(d);
  const name = left.replace(/^\$(?=[A-Za-z_])/, '');
  if (name === 'pc') {
    d.jump(w, place(d, value));
    return show(session, [`pc = ${placeText(d, d.pc)}`]);
  }
  const variable = variableAt(d, w, name);
  if (variable !== undefined) {
    setVariable(d, w, variable, value);
    return show(session, [`${name} = ${variableText(variable)}`]);
  }
  const memory = /[*({]|^(?:lds|scratch)\./i.test(left) ? parseExpression(left).memory : undefined;
  if (memory !== undefined) return setMemory(session, left, memory, value);
  if (own !== undefined && !isRegister(own)) {
    const made = evaluate(d, value);
    d.remembered.variables.set(own, made);
    return show(session, [`$${own} = ${formatted(made)}`]);
  }
  setRegister(d, w, name, registerBits(evaluate(d, value)));
  return show(session, readRegisters(w, name.replace(/^([va]\d+)\[\d+\]$/i, '$1'), 'few').map(registerText));
}

const isRegister = (name: string): boolean =>
  /^(?:[sva]\d+|ttmp\d+|(?:vcc|exec|flat_scratch)(?:_lo|_hi)?|m0|scc|mode|pc)$/i.test(name);

/** What is set and to what: `LEFT = VALUE`, or `LEFT VALUE` with a blank that is in no parentheses. */
function assignment(text: string): { readonly left: string; readonly value: string } | undefined {
  const equals = /^([^=<>!]+)=(?!=)(.+)$/s.exec(text);
  const first = (equals?.[1] ?? '').trim();
  const second = (equals?.[2] ?? '').trim();
  if (first !== '' && second !== '') return { left: first, value: second };
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

function setMemory(
  session: CommandSession,
  left: string,
  { space, type, address }: NonNullable<Expression['memory']>,
  text: string,
): undefined {
  const d = session.debugger;
  const where = addressNumber(address(scopeOf(d.selected, d.lane, d)));
  setBytes(d, selectedWave(d), space, where, bytesOf(evaluate(d, text), type));
  const at = space === 'global' ? `*${type.name}(${hex(where)})` : `${space}.${type.name}(${where})`;
  return show(session, [`${at} = ${formatted(evaluate(d, left))}`]);
}
