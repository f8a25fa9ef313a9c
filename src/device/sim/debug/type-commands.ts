// Commands that show what variables of the source program are: their types, members and places.
import { WavesmithError } from '../../../base/index.ts';
import { type DebugMember, type DebugType, declaration } from '../../../codeobject/index.ts';
import { variableAt } from './assign.ts';
import { bad, type CommandLine, type CommandSession, show } from './command.ts';
import type { Debugger } from './debugger.ts';
import { typeOfText } from './expression.ts';
import { operandOf, placeText } from './look.ts';
import { scopeOf } from './scope.ts';
import { variablesOf } from './source-variables.ts';
import { flatAddress, isFunctionPointer, numberOf, type Operand, scalarOf, VOID } from './typed.ts';

/** A place in the code, with the type of the function that begins there. */
interface CodePlace {
  readonly address: number;
  readonly signature: string | undefined;
}

/** The function or label that a text names, `&` or `*` before it too, or what a pointer to a function points to, or `$pc`; undefined for all else. */
export function codeAt(d: Debugger, text: string): CodePlace | undefined {
  const name = text.trim().replace(/^[&*]\s*/, '');
  if (/^\$?pc$/.test(name)) {
    return d.selected && { address: d.pcOf(d.selected), signature: undefined };
  }
  const address = /^[A-Za-z_][\w:]*$/.test(name) ? d.codeNamed(name) : undefined;
  // A variable or an argument of the name is meant before it.
  if (address !== undefined && operandOf(d, name) === BigInt(address)) return placeInCode(d, address);
  const pointed = text.trim().startsWith('&') ? undefined : codePointedTo(d, name);
  if (pointed === undefined) return undefined;
  return text.trim().startsWith('*') ? placeInCode(d, pointed) : { address: pointed, signature: undefined };
}

function placeInCode(d: Debugger, address: number): CodePlace {
  const own = d.info?.frames(address).find((f) => !f.isInlined);
  return { address, signature: own?.begins === address ? own.signature() : undefined };
}

/** What a text is as an expression; undefined when it is none. */
function operandIfAny(d: Debugger, text: string): Operand | undefined {
  try {
    return operandOf(d, text);
  } catch (error) {
    if (error instanceof WavesmithError) return undefined;
    throw error;
  }
}

/** The address in the file that a pointer to a function holds. */
function codePointedTo(d: Debugger, text: string): number | undefined {
  const operand = operandIfAny(d, text);
  if (operand === undefined || !isFunctionPointer(operand) || operand.bytes === undefined) return undefined;
  const address = Number(numberOf(operand)) - d.codeBase;
  const { first, end } = d.options.symbols;
  return address >= first && address < end ? address : undefined;
}

/** `0x7b2c <_Z4facti>`, with the type where it is known. */
export function codeText(d: Debugger, { address, signature }: CodePlace): string {
  return `${signature === undefined ? '' : `{${signature}} `}${placeText(d, address)}`;
}

/** The type of an expression, or the one that a text names. */
function typeAt({ debugger: d }: CommandSession, text: string): DebugType {
  if (text === '') throw bad('An expression or a type is missing.', 'For example: whatis p->next, ptype struct Point.');
  const named = typeOfText(text, scopeOf(d.selected, d.lane, d));
  const code = named === undefined ? codeAt(d, text) : undefined;
  if (code?.signature !== undefined) return { ...VOID, name: code.signature };
  const variable = named === undefined ? variableAt(d, text) : undefined;
  const type = named ?? variable?.reference ?? variable?.type;
  if (type !== undefined) return type;
  throw bad(`'${text}' is a number of the machine: it has no type of the source program.`);
}

/** `whatis EXPRESSION`: the name of its type. */
export function whatIs(session: CommandSession, { rest }: CommandLine): undefined {
  return show(session, [`type = ${typeAt(session, rest).name}`]);
}

/** `ptype EXPRESSION`, `ptype struct NAME`: its type with members, enumerators, or what it points to. */
export function typeOf(session: CommandSession, { rest }: CommandLine): undefined {
  return show(session, typeLines(typeAt(session, rest)));
}

function typeLines(type: DebugType): string[] {
  const target = type.kind === 'pointer' || type.kind === 'array' ? type.of?.() : undefined;
  const shown = target?.kind === 'struct' || target?.kind === 'enum' ? target : type;
  const suffix =
    shown === type ? '' : type.kind === 'pointer' ? ` ${type.isReference === true ? '&' : '*'}` : ` [${type.count}]`;
  if (shown.kind === 'struct') {
    const isBase = ({ name }: DebugMember): boolean => name.startsWith('(base ');
    const bases = shown.members.filter(isBase).map((m) => m.type().name);
    const from = bases.length === 0 ? '' : ` : ${bases.join(', ')}`;
    const members = shown.members.filter((m) => !isBase(m)).flatMap((m) => memberLines(m, '    '));
    return [
      `type = ${shown.isUnion === true ? 'union' : 'struct'} ${shown.name}${from} {`,
      ...members,
      `}${suffix}  // ${shown.bytes} bytes`,
    ];
  }
  if (shown.kind === 'enum') {
    const names = [...shown.names].map(([value, name]) => `${name} = ${value}`);
    return [`type = enum ${shown.name} {${names.join(', ')}}${suffix}`];
  }
  return [`type = ${type.name}`];
}

/** A member; one without a name with its own members. */
function memberLines({ name, type, offset, bits }: DebugMember, indent: string): string[] {
  const of = type();
  const at = `  // byte ${bits === undefined ? offset : bits.first >> 3}`;
  if (name !== '(anonymous)')
    return [`${indent}${declaration(of, name)}${bits === undefined ? '' : ` : ${bits.count}`};${at}`];
  return [
    `${indent}${of.isUnion === true ? 'union' : 'struct'} {${at}`,
    ...of.members.flatMap((m) => memberLines(m, `${indent}    `)),
    `${indent}};`,
  ];
}

/** `&VARIABLE`: where it is. */
export function addressOf(session: CommandSession, text: string): string {
  const variable = variableAt(session.debugger, text);
  if (variable === undefined) throw bad(`'${text}' is not in memory: it is a register or an argument.`);
  const { home, why } = variable;
  if (home === undefined) throw bad(`'${text}' has no place: ${why || 'it is no variable'}.`);
  if (home.kind === 'registers') return `(in ${home.names.join(', ')})`;
  const { space, address } = home;
  const where = space === 'scratch' ? ` (scratch of lane ${session.debugger.lane})` : space === 'lds' ? ' (LDS)' : '';
  return `0x${address.toString(16)}${where}`;
}

/** `info symbol` of a variable of the whole program, or of an address in one; undefined for all else. */
export function variableSymbol({ debugger: d }: CommandSession, text: string): string | undefined {
  const { selected: w } = d;
  const operand = operandIfAny(d, text);
  if (w === undefined || operand === undefined) return undefined;
  const isPlace = typeof operand === 'object' && operand.type.kind !== 'pointer' && operand.home?.kind === 'memory';
  const value = isPlace ? flatAddress(operand) : typeof operand === 'object' ? scalarOf(operand) : operand;
  const address = Number(value);
  for (const variable of variablesOf(w, d.lane, d)) {
    const from = variable.kind === 'global' ? flatAddress(variable) : undefined;
    if (from === undefined || !(address >= from && address < from + variable.type.bytes)) continue;
    const behind = address === from ? '' : `+0x${(address - from).toString(16)}`;
    return `0x${address.toString(16)} <${variable.name}${behind}>`;
  }
  return undefined;
}

/** `info symbol ADDRESS`, or the place of a function. */
export function symbolText({ debugger: d }: CommandSession, address: number): string {
  const line = d.lineAt(address);
  return `${placeText(d, address)}${line === undefined ? '' : ` at ${line}`}`;
}
