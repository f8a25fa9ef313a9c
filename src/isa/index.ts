// What an instruction is: tables per target, registers, decode, print, listing, text.
export * from './decode.ts';
export * from './fields.ts';
export * from './listing.ts';
export * from './names.ts';
export * from './operands.ts';
export * from './print.ts';
export * from './registers.ts';
export * from './table.ts';
export * from './targets.ts';
export * from './types.ts';
