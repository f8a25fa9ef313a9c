// Everything strict mode keeps about one wavefront.
import { LANES, WAVE_SHADOW } from '../state/layout.ts';
import type { Wave } from '../state/wave.ts';
import type { LdsShadow } from './lds.ts';
import type { StrictPlan } from './plan.ts';
import { RegisterShadow, SHADOW_BYTES } from './registers.ts';
import type { Acquisition, CompleteStores } from './synchronisation.ts';
import type { Executed } from './wait-states.ts';
import { WaitQueue } from './waits.ts';

/** Wavefronts that a workgroup can have. */
const STORE_WAVES = 16;
const NO_STORES: CompleteStores = new Uint32Array(STORE_WAVES);

export class WaveShadow {
  readonly registers: RegisterShadow;
  private readonly waits: WaitQueue;
  wave: Wave;
  /** Instructions that were interpreted one behind the other, and the wave's count of instructions behind the last. */
  interpreted: Executed[] = [];
  interpretedUntil = -1;

  /** Told when a value has come back that was read from an address where workgroups synchronise. */
  acquired: ((acquisition: Acquisition) => void) | undefined;
  private lds: LdsShadow | undefined;
  private planAt: (pc: number) => StrictPlan = () => {
    throw new Error('the wavefront has not begun');
  };
  /** By wavefront: stores known to be complete since the last barrier, and stores issued before it. */
  private known = NO_STORES;
  private issuedBefore = NO_STORES;
  private complete = NO_STORES;

  /** Of the registers' shadow in wasm memory. */
  readonly bytes: Uint8Array;

  constructor(wave: Wave) {
    this.wave = wave;
    this.bytes = wave.memory.reserve(SHADOW_BYTES, 'strict mode');
    this.registers = new RegisterShadow(this.bytes.buffer, this.bytes.byteOffset);
    this.waits = new WaitQueue(this.registers.pending, this.registers.outstanding, (operation) => {
      if (operation.lds !== undefined) this.lds?.complete(operation);
      for (const one of operation.acquires ?? []) this.acquired?.(one);
    });
  }

  /** The operations that no wait has proved complete, those included that compiled code has issued. */
  get queue(): WaitQueue {
    if (this.registers.logged > 0) this.takeLog();
    return this.waits;
  }

  private takeLog(): void {
    const { registers, waits, wave } = this;
    const { epoch, isShared } = this.lds as LdsShadow;
    for (const { pc, lds } of registers.takeLog()) {
      const plan = this.planAt(pc);
      if (plan.role.kind === undefined) throw new Error(`the instruction at ${pc} is not waited for`);
      const operation = waits.add(plan.role.kind, pc, plan, wave.index, epoch);
      if (isShared && lds.length > 0 && plan.operation?.kind === 'store') {
        const { bytes } = plan.operation;
        operation.lds = lds.map(({ addresses, isRun }) => ({
          addresses,
          count: addresses.length,
          bytes: isRun ? LANES * bytes : bytes,
        }));
      }
    }
  }

  /** A new workgroup begins. `planAt` gives the plans of instructions. */
  reset(
    wave: Wave,
    lds: LdsShadow,
    scalars: readonly number[],
    exec: readonly [number, number],
    acquired: (acquisition: Acquisition) => void,
    planAt: (pc: number) => StrictPlan,
  ): void {
    this.wave = wave;
    wave.setField(WAVE_SHADOW, this.bytes.byteOffset);
    this.registers.clear();
    this.waits.clear();
    this.planAt = planAt;
    this.lds = lds;
    this.acquired = acquired;
    this.known = NO_STORES;
    this.issuedBefore = NO_STORES;
    this.complete = NO_STORES;
    this.interpreted = [];
    this.interpretedUntil = -1;
    for (const slot of scalars) this.registers.setScalar(slot, true);
    // The work-item ids, packed into v0.
    this.registers.define(0, 3, exec[0], exec[1]);
  }

  /** The stores of the workgroup that this wavefront knows to be complete. The same array as long as nothing has changed. */
  completeStores(): CompleteStores {
    const { index } = this.wave;
    const { storesComplete } = this.waits;
    if (this.complete[index] !== storesComplete || this.complete === this.known) {
      const complete = new Uint32Array(STORE_WAVES);
      complete.set(this.known);
      complete[index] = storesComplete;
      this.complete = complete;
    }
    return this.complete;
  }

  /** The caches are written back: what other wavefronts had stored before the last barrier is on its way before this. */
  writeBack(): void {
    this.learn(this.issuedBefore);
  }

  private learn(stores: CompleteStores): void {
    const known = new Uint32Array(STORE_WAVES);
    for (let i = 0; i < STORE_WAVES; i++) known[i] = Math.max(this.known[i] as number, stores[i] as number);
    this.known = known;
    this.complete = known;
  }

  /**
   * The wavefronts of a workgroup have met at a barrier. `inOrder`: the caches of a compute unit keep the order of what its wavefronts
   * store, so that a wait of any of them speaks for all.
   */
  static meet(waves: readonly WaveShadow[], inOrder: boolean): void {
    if (waves.every(({ waits }) => waits.storesIssued === 0)) return;
    const issued = new Uint32Array(STORE_WAVES);
    const complete = new Uint32Array(STORE_WAVES);
    for (const shadow of waves) {
      issued[shadow.wave.index] = shadow.waits.storesIssued;
      shadow.completeStores().forEach((count, i) => {
        complete[i] = Math.max(complete[i] as number, count);
      });
    }
    for (const shadow of waves) {
      shadow.issuedBefore = issued;
      shadow.learn(inOrder ? issued : complete);
    }
  }
}
