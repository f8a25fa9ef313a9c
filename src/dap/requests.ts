// What is wrong with a request before anybody answers it: it is of a kind that this adapter has not said it knows, lacks a field, or has one of another
// type.
import type { DebugProtocol } from '@vscode/debugprotocol';
import { WavesmithError } from '../base/index.ts';

/** Requests that the library would answer as done. */
const UNKNOWN = new Set('attach restart restartFrame terminateThreads stepInTargets cancel'.split(' '));

type FieldType = 'object' | 'array' | 'string' | 'number';
type Fields = Readonly<Record<string, FieldType>>;

const THREAD: Fields = { threadId: 'number' };
const LINE: Fields = { source: 'object', line: 'number' };
const ELEMENTS: Fields = { breakpoints: 'array' };

/** Fields that a request cannot be without, by their type. */
const NEEDED: Readonly<Record<string, Fields>> = {
  setBreakpoints: { source: 'object' },
  setFunctionBreakpoints: ELEMENTS,
  setInstructionBreakpoints: ELEMENTS,
  setDataBreakpoints: ELEMENTS,
  dataBreakpointInfo: { name: 'string' },
  stackTrace: THREAD,
  scopes: { frameId: 'number' },
  variables: { variablesReference: 'number' },
  setVariable: { variablesReference: 'number', name: 'string', value: 'string' },
  setExpression: { expression: 'string', value: 'string' },
  evaluate: { expression: 'string' },
  completions: { text: 'string', column: 'number' },
  gotoTargets: LINE,
  breakpointLocations: LINE,
  goto: { ...THREAD, targetId: 'number' },
  source: { sourceReference: 'number' },
  disassemble: { memoryReference: 'string', instructionCount: 'number' },
  readMemory: { memoryReference: 'string', count: 'number' },
  writeMemory: { memoryReference: 'string', data: 'string' },
  continue: THREAD,
  next: THREAD,
  stepIn: THREAD,
  stepOut: THREAD,
  stepBack: THREAD,
  reverseContinue: THREAD,
};

const FRAME: Fields = { frameId: 'number' };

/** Fields that a request may be without, by their type. */
const OPTIONAL: Readonly<Record<string, Fields>> = {
  dataBreakpointInfo: { ...FRAME, variablesReference: 'number' },
  stackTrace: { startFrame: 'number', levels: 'number' },
  variables: { start: 'number', count: 'number' },
  setExpression: FRAME,
  evaluate: FRAME,
  completions: { ...FRAME, line: 'number' },
  breakpointLocations: { endLine: 'number' },
  source: { source: 'object' },
  disassemble: { offset: 'number', instructionOffset: 'number' },
  readMemory: { offset: 'number' },
  writeMemory: { offset: 'number' },
};

/** What each element of `breakpoints` cannot be without, by the request. */
const BREAKPOINT: Readonly<Record<string, Fields>> = {
  setBreakpoints: { line: 'number' },
  setFunctionBreakpoints: { name: 'string' },
  setInstructionBreakpoints: { instructionReference: 'string' },
  setDataBreakpoints: { dataId: 'string' },
};

/** What it may be without. */
const BREAKPOINT_OPTIONAL: Fields = {
  condition: 'string',
  hitCondition: 'string',
  logMessage: 'string',
  offset: 'number',
  accessType: 'string',
};

const isOf = (value: unknown, type: FieldType): boolean =>
  type === 'array' ? Array.isArray(value) : typeof value === type && value !== null;

/** Why a request cannot be answered; undefined when it can. */
export function refusal({ command, arguments: given }: DebugProtocol.Request): WavesmithError | undefined {
  if (UNKNOWN.has(command)) return bad(`There is no request '${command}' here: 'initialize' says which there are.`);
  const fields: Record<string, unknown> = given ?? {};
  const wrong = lacks(fields, NEEDED[command]);
  if (wrong !== undefined) return bad(`'${command}' needs ${wrong}.`);
  const odd = lacks(fields, OPTIONAL[command], true);
  if (odd !== undefined) return bad(`'${command}' takes ${odd}.`);
  const needed = BREAKPOINT[command];
  const { breakpoints = [] } = fields;
  if (needed === undefined) return undefined;
  if (!Array.isArray(breakpoints)) return bad(`'breakpoints' of '${command}' is no array.`);
  for (const one of breakpoints) {
    const given: Record<string, unknown> = one ?? {};
    const missing = lacks(given, needed);
    if (missing !== undefined) return bad(`A breakpoint of '${command}' needs ${missing}.`);
    const odd = lacks(given, BREAKPOINT_OPTIONAL, true);
    if (odd !== undefined) return bad(`A breakpoint of '${command}' takes ${odd}.`);
  }
  return undefined;
}

/** The first field that is of another type, or missing where it must be there, as text. */
function lacks(given: Record<string, unknown>, fields: Fields = {}, mayLack = false): string | undefined {
  const found = Object.entries(fields).find(
    ([name, type]) => !isOf(given[name], type) && !(mayLack && given[name] === undefined),
  );
  return found && `'${found[0]}', of type ${found[1]}`;
}

/** Levels of arguments that requests have fields at: breakpoints in an array, with fields of their own. */
const LEVELS = 4;

/** Arguments without the fields that are null, which some clients send for those that are not there. */
export function withoutNulls(value: unknown, levels = LEVELS): unknown {
  if (levels === 0 || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => withoutNulls(one, levels - 1));
  const given = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(given.map(([name, field]) => [name, withoutNulls(field, levels - 1)]));
}

const bad = (message: string): WavesmithError => new WavesmithError('dap/bad-request', message);
