export * from './bytes.ts';
export * from './error.ts';
