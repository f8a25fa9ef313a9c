// What an instruction is: tables per target, registers, decode, print, listing, text.
export * from './codec/decode.ts';
export * from './codec/encode.ts';
export * from './parse/parse.ts';
export * from './print/describe.ts';
export * from './print/immediates.ts';
export * from './print/listing.ts';
export * from './print/print.ts';
export * from './table/field-names.ts';
export * from './table/operand-classes.ts';
export * from './table/registers.ts';
export * from './table/table.ts';
export * from './table/targets.ts';
export { type Diagnostic as TextDiagnostic, Lexer, textFromBytes } from './text/lexer.ts';
export * from './types.ts';
