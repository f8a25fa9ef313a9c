// What the host's WebAssembly compiler must be told before it compiles what the virtual GPU writes: the platform's part of the device says it here.

let prepare = (): void => {};

/** `tell` is called before each module is written and compiled. */
export function beforeCompiling(tell: () => void): void {
  prepare = tell;
}

/** Has the host's compiler ready for a module. */
export function prepareCompiler(): void {
  prepare();
}
