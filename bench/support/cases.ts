// What benchmarks of dispatches time.
import type { DeviceKernel, SimDispatchRequest, SimDispatchResult } from '../../src/device/index.ts';

/** A dispatch that can be timed. */
export interface Case {
  readonly name: string;
  /** Opens a device, loads the code and makes the arguments. */
  readonly open: () => Promise<Opened>;
}

/** A case with its device. */
export interface Opened {
  readonly kernel: DeviceKernel;
  readonly object: Uint8Array;
  readonly dispatch: (mode: Partial<SimDispatchRequest>) => Promise<SimDispatchResult>;
  readonly close: () => void;
}
