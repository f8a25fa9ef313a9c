// What an instruction is: tables per target, registers, decode, print, listing, text.
export * from './decode.ts';
export * from './describe.ts';
export * from './encode.ts';
export * from './fields.ts';
export * from './listing.ts';
export * from './names.ts';
export * from './operands.ts';
export * from './parse.ts';
export * from './print.ts';
export * from './registers.ts';
export * from './table.ts';
export * from './targets.ts';
export { type Diagnostic as TextDiagnostic, Lexer, textFromBytes } from './text/lexer.ts';
export * from './types.ts';
