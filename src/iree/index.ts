// Room `iree`: the hijack loop: make a folder of assembly from an IREE module, build the edited module, prove and compare.
// Begin with init.ts, build.ts and run-module.ts, the three steps of the loop; manifest.ts is what they share.
export * from './asm-command.ts';
export * from './build.ts';
export * from './compiler.ts';
export * from './dispatch-plan.ts';
export * from './dispatches.ts';
export * from './doctor.ts';
export * from './edits.ts';
export * from './engine.ts';
export * from './facts.ts';
export * from './init.ts';
export * from './manifest.ts';
export * from './module.ts';
export * from './reassemble.ts';
export * from './report.ts';
export * from './run.ts';
export * from './run-module.ts';
export * from './side.ts';
export * from './tools.ts';
export * from './verify.ts';
