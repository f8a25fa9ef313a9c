// Commands that show what variables of the source program are: their types, members and places.
import type { DebugType } from '../../../codeobject/index.ts';
import { variableAt } from './assign.ts';
import { bad, type CommandLine, type CommandSession, show } from './command.ts';
import { placeText, selectedWave } from './look.ts';
import type { ShownVariable } from './source-variables.ts';

function variableNamed({ debugger: d }: CommandSession, text: string): ShownVariable {
  if (d.info === undefined) throw bad('There is no debug information: compile with -g.');
  const found = variableAt(d, selectedWave(d), text);
  if (found !== undefined) return found;
  throw bad(`There is no variable '${text}' here.`, "'info locals' lists them.");
}

/** `whatis VARIABLE`: the name of its type. */
export function whatIs(session: CommandSession, { rest }: CommandLine): undefined {
  return show(session, [`type = ${variableNamed(session, rest).type.name}`]);
}

/** `ptype VARIABLE`: its type with members, enumerators, or what it points to. */
export function typeOf(session: CommandSession, { rest }: CommandLine): undefined {
  const { type } = variableNamed(session, rest);
  return show(session, typeLines(type));
}

function typeLines(type: DebugType): string[] {
  const target = type.kind === 'pointer' || type.kind === 'array' ? type.of?.() : undefined;
  const shown = target?.kind === 'struct' || target?.kind === 'enum' ? target : type;
  const suffix = shown === type ? '' : type.kind === 'pointer' ? ' *' : ` [${type.count}]`;
  if (shown.kind === 'struct') {
    const members = shown.members.map((m) => `    ${m.type().name} ${m.name};  // byte ${m.offset}`);
    return [`type = struct ${shown.name} {`, ...members, `}${suffix}  // ${shown.bytes} bytes`];
  }
  if (shown.kind === 'enum') {
    const names = [...shown.names].map(([value, name]) => `${name} = ${value}`);
    return [`type = enum ${shown.name} {${names.join(', ')}}${suffix}`];
  }
  return [`type = ${type.name}`];
}

/** `&VARIABLE`: where it is. */
export function addressOf(session: CommandSession, text: string): string {
  const variable = variableNamed(session, text);
  const { home, why } = variable;
  if (home === undefined) throw bad(`'${text}' has no place: ${why || 'it is a constant'}.`);
  if (home.kind === 'registers') return `(in ${home.names.join(', ')})`;
  const { space, address } = home;
  const where = space === 'scratch' ? ` (scratch of lane ${variable.lane})` : space === 'lds' ? ' (LDS)' : '';
  return `0x${address.toString(16)}${where}`;
}

/** `info symbol ADDRESS`, or the place of a function. */
export function symbolText({ debugger: d }: CommandSession, address: number): string {
  const line = d.lineAt(address);
  return `${placeText(d, address)}${line === undefined ? '' : ` at ${line}`}`;
}
