export * from './bytes.ts';
export * from './elements/index.ts';
export * from './error.ts';
