// The rocMLIR front door: IREE as kernel generator for rocMLIR modules (gen, merge, export, compile, run).

export { Edits, moduleAttribute, removeModuleAttribute, setModuleAttribute } from '../mlir/edit.ts';
export { decodeModule, tokenize } from '../mlir/lex.ts';
export * from '../mlir/parse.ts';
export * from './compile.ts';
export * from './doctor.ts';
export * from './environment.ts';
export * from './export.ts';
export * from './gen.ts';
export * from './gpu-object.ts';
export { lowerModule, usesMigraphx } from './lower/lower.ts';
export * from './merge.ts';
export * from './run.ts';
