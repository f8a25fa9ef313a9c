// The program layer: a code object as functions, blocks and instructions with the registers they read and write.
export * from './effects.ts';
export * from './lift.ts';
export * from './slots.ts';
export * from './types.ts';
export * from './wait-roles.ts';
