// LLVM and IREE discovery for commands; the search rules live with the compiler front doors.
export * from '../iree/tools.ts';
