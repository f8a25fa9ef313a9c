// What an instruction is: tables per target, registers, decode, print, listing.
export * from './operands.ts';
export * from './registers.ts';
export * from './table.ts';
export * from './types.ts';
