// What the host must be told while the virtual GPU compiles: the platform's part of the device says it here.

let around = <T>(compile: () => T): T => compile();

/** `tell` is called in place of each compilation of a module, and calls it. */
export function aroundCompiling(tell: <T>(compile: () => T) => T): void {
  around = tell;
}

/** Writes and compiles a module as the host has to be told. */
export function compileOnHost<T>(compile: () => T): T {
  return around(compile);
}
