// The program layer: a code object as functions, blocks and instructions with the registers they read and write.
export * from './block-queue.ts';
export * from './effects.ts';
export * from './exec.ts';
export * from './lift.ts';
export * from './liveness.ts';
export * from './postdominators.ts';
export * from './slots.ts';
export * from './types.ts';
export * from './wait-roles.ts';
