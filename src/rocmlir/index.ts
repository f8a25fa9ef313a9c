// Room `rocmlir`: IREE as a generator of kernels for rocMLIR modules: generate, merge, export, compile, run.
// Begin with gen.ts and merge.ts, which do the jobs of rocMLIR's two passes; lower/lower.ts makes of MIGraphX what IREE reads.
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
