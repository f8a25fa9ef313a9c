// What is wrong with a request before anybody answers it: it is of a kind that this adapter has not said it knows, or lacks a field.
import type { DebugProtocol } from '@vscode/debugprotocol';
import { WavesmithError } from '../base/index.ts';

/** Requests that the library would answer as done. */
const UNKNOWN = new Set(
  'attach restart restartFrame terminateThreads stepInTargets breakpointLocations cancel'.split(' '),
);

type FieldType = 'object' | 'array' | 'string' | 'number';
type Fields = Readonly<Record<string, FieldType>>;

const THREAD: Fields = { threadId: 'number' };
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
  gotoTargets: { source: 'object', line: 'number' },
  goto: { ...THREAD, targetId: 'number' },
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

/** What each element of `breakpoints` cannot be without, by the request. */
const BREAKPOINT: Readonly<Record<string, Fields>> = {
  setBreakpoints: { line: 'number' },
  setFunctionBreakpoints: { name: 'string' },
  setInstructionBreakpoints: { instructionReference: 'string' },
  setDataBreakpoints: { dataId: 'string' },
};

const isOf = (value: unknown, type: FieldType): boolean =>
  type === 'array' ? Array.isArray(value) : typeof value === type && value !== null;

/** Why a request cannot be answered; undefined when it can. */
export function refusal({ command, arguments: given }: DebugProtocol.Request): WavesmithError | undefined {
  if (UNKNOWN.has(command)) return bad(`There is no request '${command}' here: 'initialize' says which there are.`);
  const fields: Record<string, unknown> = given ?? {};
  const wrong = lacks(fields, NEEDED[command]);
  if (wrong !== undefined) return bad(`'${command}' needs ${wrong}.`);
  const needed = BREAKPOINT[command];
  const { breakpoints = [] } = fields;
  if (needed === undefined) return undefined;
  if (!Array.isArray(breakpoints)) return bad(`'breakpoints' of '${command}' is no array.`);
  for (const one of breakpoints) {
    const missing = lacks((one ?? {}) as Record<string, unknown>, needed);
    if (missing !== undefined) return bad(`A breakpoint of '${command}' needs ${missing}.`);
  }
  return undefined;
}

/** The first field that is missing or of another type, as text. */
function lacks(given: Record<string, unknown>, needed: Fields = {}): string | undefined {
  const found = Object.entries(needed).find(([name, type]) => !isOf(given[name], type));
  return found && `'${found[0]}', of type ${found[1]}`;
}

const bad = (message: string): WavesmithError => new WavesmithError('dap/bad-request', message);
