// Everything strict mode keeps about one wavefront.
import type { Wave } from '../wave.ts';
import { RegisterShadow, SHADOW_BYTES } from './registers.ts';
import { type IssuedOperation, WaitQueue } from './waits.ts';

export class WaveShadow {
  readonly registers: RegisterShadow;
  readonly queue: WaitQueue;
  /** s_barrier instructions executed, and the last one's address. */
  barriers = 0;
  lastBarrier = -1;
  wave: Wave;

  constructor(wave: Wave, completed: (operation: IssuedOperation) => void) {
    this.wave = wave;
    this.registers = new RegisterShadow(new ArrayBuffer(SHADOW_BYTES), 0);
    this.queue = new WaitQueue(this.registers.pending, completed);
  }

  /** A new workgroup begins. */
  reset(wave: Wave, scalars: readonly number[], low: number, high: number): void {
    this.wave = wave;
    this.registers.clear();
    this.queue.clear();
    this.barriers = 0;
    this.lastBarrier = -1;
    for (const slot of scalars) this.registers.setScalar(slot, true);
    // The work-item ids, packed into v0.
    this.registers.define(0, 3, low, high);
  }
}
