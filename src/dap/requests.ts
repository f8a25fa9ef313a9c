// What is wrong with a request before anybody answers it: it is of a kind that this adapter has not said it knows, or lacks a field.
import type { DebugProtocol } from '@vscode/debugprotocol';
import { WavesmithError } from '../base/index.ts';

/** Requests that the library would answer as done. */
const UNKNOWN = new Set([
  ...['attach', 'restart', 'restartFrame', 'terminateThreads', 'stepInTargets', 'breakpointLocations', 'cancel'],
]);

/** Fields that a request cannot be without, by their type. */
const NEEDED: Readonly<Record<string, Readonly<Record<string, 'object' | 'string' | 'number'>>>> = {
  setBreakpoints: { source: 'object' },
  setFunctionBreakpoints: { breakpoints: 'object' },
  setInstructionBreakpoints: { breakpoints: 'object' },
  setDataBreakpoints: { breakpoints: 'object' },
  dataBreakpointInfo: { name: 'string' },
  stackTrace: { threadId: 'number' },
  scopes: { frameId: 'number' },
  variables: { variablesReference: 'number' },
  setVariable: { variablesReference: 'number', name: 'string', value: 'string' },
  setExpression: { expression: 'string', value: 'string' },
  evaluate: { expression: 'string' },
  completions: { text: 'string', column: 'number' },
  gotoTargets: { source: 'object', line: 'number' },
  goto: { threadId: 'number', targetId: 'number' },
  disassemble: { memoryReference: 'string', instructionCount: 'number' },
  readMemory: { memoryReference: 'string', count: 'number' },
  writeMemory: { memoryReference: 'string', data: 'string' },
  continue: { threadId: 'number' },
  next: { threadId: 'number' },
  stepIn: { threadId: 'number' },
  stepOut: { threadId: 'number' },
  stepBack: { threadId: 'number' },
  reverseContinue: { threadId: 'number' },
};

const isOf = (value: unknown, type: string): boolean => typeof value === type && value !== null;

/** Why a request cannot be answered; undefined when it can. */
export function refusal({ command, arguments: given }: DebugProtocol.Request): WavesmithError | undefined {
  if (UNKNOWN.has(command)) return bad(`There is no request '${command}' here: 'initialize' says which there are.`);
  const fields: Record<string, unknown> = given ?? {};
  for (const [name, type] of Object.entries(NEEDED[command] ?? {})) {
    if (!isOf(fields[name], type)) return bad(`'${command}' needs '${name}', of type ${type}.`);
  }
  return undefined;
}

const bad = (message: string): WavesmithError => new WavesmithError('dap/bad-request', message);
