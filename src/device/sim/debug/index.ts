// What others use of the debugger. Begin with debugger.ts.

export { UnknownName } from './arithmetic.ts';
export { setVariable, variableAt } from './assign.ts';
export { refuseUnknownIn } from './breakpoint-commands.ts';
export type { Breakpoint, BreakpointRequest, Watchpoint } from './breakpoints.ts';
export { bytesOf, registerBits, setBytes, setRegister } from './change.ts';
export type { CommandSession } from './command.ts';
export { beginsWithCommand, completions, debuggerHelp, executeCommand } from './commands.ts';
export { Debugger, DebuggerQuit, type DebugLeader } from './debugger.ts';
export { type Expression, isExpression, parseExpression } from './expression.ts';
export { formatted } from './format.ts';
export { kernelParameters } from './kernel-arguments.ts';
export {
  backtrace,
  type CodeLine,
  codeAround,
  evaluate,
  operandOf,
  stopText,
  waveText,
} from './look.ts';
export { type PlaceNames, placesOf, placesOfLine } from './places.ts';
export { activeLanes, loadBytes, storeBytes } from './scope.ts';
export { isUnnamed, partsOf, variablesOf } from './source-variables.ts';
export type {
  BackTarget,
  Call,
  DebugFront,
  DebuggedArgument,
  DebuggerOptions,
  LaterBreakpoint,
  Resume,
  Stop,
  StopReason,
} from './stop.ts';
export { type DebugTerminal, TerminalFront } from './terminal-front.ts';
export { codeAt, codeText } from './type-commands.ts';
export { flatAddress, type ShownVariable, scalarOf, spaceOfFlat } from './typed.ts';
export type { Value } from './value.ts';
export { operandText, variableText } from './variable-text.ts';
