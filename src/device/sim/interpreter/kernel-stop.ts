// What ends a kernel that is no fault of memory: traps, instructions that are none, and what the virtual GPU does not simulate.

/** Thrown by a step that stops the kernel; the interpreter adds position and kernel. */
export class KernelStop extends Error {
  readonly code: string;
  readonly hint: string | undefined;

  constructor(code: string, message: string, hint?: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/** The stop for an instruction that the hardware would take and the virtual GPU does not, or that no hardware executes. */
export function notSimulated(reason: string): KernelStop {
  return new KernelStop('sim/unsupported-instruction', `This instruction is not simulated: ${reason}.`);
}
