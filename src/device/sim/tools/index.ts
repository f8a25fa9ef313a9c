// Room `device/sim/tools`: what looks at a dispatch while it runs: trace, stepper, counters, profile.
// Begin with session.ts, which puts the asked tools together; each tool has a file of its name.
export * from './compiled-counts.ts';
export * from './counters.ts';
export * from './counts.ts';
export * from './filter.ts';
export * from './lds-banks.ts';
export * from './profile.ts';
export * from './registers.ts';
export * from './session.ts';
export * from './stepper.ts';
export { stepperHelp } from './stepper-commands.ts';
export * from './stepper-state.ts';
export * from './symbols.ts';
export * from './trace.ts';
export * from './traffic.ts';
