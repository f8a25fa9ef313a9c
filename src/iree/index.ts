// The IREE front door: make a hijack folder, build the modified module, run and compare; tools and compiler discovery.
export * from './asm-command.ts';
export * from './build.ts';
export * from './compare.ts';
export * from './compiler.ts';
export * from './dispatches.ts';
export * from './doctor.ts';
export * from './engine.ts';
export * from './facts.ts';
export * from './init.ts';
export * from './manifest.ts';
export * from './module.ts';
export * from './reassemble.ts';
export * from './report.ts';
export * from './run.ts';
export * from './run-module.ts';
export * from './tools.ts';
export * from './verify.ts';
