// Ends of a dispatch that a kernel brings about, with what is known about them as data. Every device reports them in these classes.
import { type ErrorDetails, WavesmithError } from '../base/index.ts';
import type { DeviceAddress, Dim3, DispatchResult } from './device.ts';

/**
 * What ended a kernel. `memory`: an access outside live memory, LDS or scratch. `instruction`: what is no instruction, or one that the
 * device does not execute. `trap`: s_trap, s_sethalt. `budget`: more instructions (or time) than the dispatch may take.
 */
export type FaultKind = 'memory' | 'instruction' | 'trap' | 'budget';

/** A faulting access. */
export interface FaultingAccess {
  /** GPU address in global memory; byte offset in the workgroup's LDS or the lane's scratch. */
  readonly address: DeviceAddress;
  /** Bytes of the access; undefined when the device knows the page only. */
  readonly size: number | undefined;
  readonly isWrite: boolean | undefined;
  readonly space: 'global' | 'lds' | 'scratch';
}

/** A fault as data. What a device cannot tell is undefined. The instruction's address in the code object is the error's `position.pc`. */
export interface Fault {
  readonly kind: FaultKind;
  readonly kernel: string;
  readonly workgroup?: Dim3 | undefined;
  /** Number of the wavefront in its workgroup. */
  readonly wavefront?: number | undefined;
  readonly lane?: number | undefined;
  /** Of faults of the kind `memory`. */
  readonly access?: FaultingAccess | undefined;
}

/** A kernel did what it must not do. The device stays usable. */
export class DeviceFault extends WavesmithError {
  readonly fault: Fault;

  constructor(code: string, message: string, fault: Fault, details: ErrorDetails = {}) {
    super(code, message, details);
    this.fault = fault;
  }

  override toJSON(): Record<string, unknown> {
    return { ...super.toJSON(), fault: this.fault };
  }
}

/** A dispatch that was ended by its signal, with what it had done. */
export class DispatchAborted<R extends DispatchResult = DispatchResult> extends WavesmithError {
  readonly partial: R;

  constructor(kernelName: string, partial: R, total: number) {
    const instructions = partial.instructions === undefined ? '' : ` and ${partial.instructions} instructions`;
    super(
      'sim/aborted',
      `Kernel '${kernelName}' was ended after ${partial.workgroups} of ${total} workgroups${instructions}.`,
    );
    this.partial = partial;
  }
}
