// Everything strict mode keeps about one wavefront.
import { WAVE_SHADOW } from '../state/layout.ts';
import type { Wave } from '../state/wave.ts';
import type { LdsShadow } from './lds.ts';
import { RegisterShadow, SHADOW_BYTES } from './registers.ts';
import { WaitQueue } from './waits.ts';

export class WaveShadow {
  readonly registers: RegisterShadow;
  readonly queue: WaitQueue;
  /** s_barrier instructions executed, and the last one's address. */
  barriers = 0;
  lastBarrier = -1;
  wave: Wave;

  private lds: LdsShadow | undefined;

  /** Of the registers' shadow in wasm memory. */
  readonly bytes: Uint8Array;

  constructor(wave: Wave) {
    this.wave = wave;
    this.bytes = wave.memory.reserve(SHADOW_BYTES, 'strict mode');
    this.registers = new RegisterShadow(this.bytes.buffer, this.bytes.byteOffset);
    this.queue = new WaitQueue(this.registers.pending, this.registers.outstanding, (operation) =>
      this.lds?.complete(operation),
    );
  }

  /** A new workgroup begins. */
  reset(wave: Wave, lds: LdsShadow, scalars: readonly number[], low: number, high: number): void {
    this.wave = wave;
    wave.setField(WAVE_SHADOW, this.bytes.byteOffset);
    this.registers.clear();
    this.queue.clear();
    this.lds = lds;
    this.barriers = 0;
    this.lastBarrier = -1;
    for (const slot of scalars) this.registers.setScalar(slot, true);
    // The work-item ids, packed into v0.
    this.registers.define(0, 3, low, high);
  }
}
