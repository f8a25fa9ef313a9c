// What the waves of a workgroup share: LDS, ids, scratch, the dispatch.
import type { TargetName } from '../../../isa/types.ts';
import type { ModelledClock, WorkgroupReadings } from './modelled-clock.ts';
import { MemoryFault } from './region.ts';

/** Facts of the running dispatch that every wave may ask for. */
export interface DispatchContext {
  readonly target: TargetName;
  readonly kernelName: string;
  /** Scratch bytes of one lane; scratch is swizzled: dword d of lane l is at base + d·256 + l·4. */
  readonly scratchPerLane: number;
  /** Architected flat scratch: FLAT_SCRATCH is set up by hardware. */
  readonly architectedScratch: boolean;
  /** What the clocks of kernels show; undefined: instructions. */
  readonly hostClock?: HostClock | undefined;
  /** The same, of a launch that is timed and whose wavefronts read clocks. */
  readonly modelledClock?: ModelledClock | undefined;
}

/** The host's time for the clocks of kernels: s_memrealtime has its ticks, s_memtime the cycles that a chip would have done in it. */
export class HostClock {
  private readonly originMs: number;
  private readonly cyclesPerMs: number;

  /** `offsetMs`: what the clock is ahead of the calendar (`performance.timeOrigin` + `performance.now()`), the same in every thread. */
  constructor(offsetMs: number, clockMhz: number) {
    this.originMs = performance.timeOrigin + offsetMs;
    this.cyclesPerMs = clockMhz * 1000;
  }
  ticks(): number {
    return Math.floor((this.originMs + performance.now()) * REAL_TIME_KHZ);
  }
  cycles(): number {
    return Math.floor((this.originMs + performance.now()) * this.cyclesPerMs);
  }
}

/** s_memrealtime counts at 100 MHz. Source: AMD CDNA3 ISA, S_MEMREALTIME ("64-bit real time clock"); hipDeviceAttributeWallClockRate of MI200 and MI300. */
const REAL_TIME_KHZ = 100_000;

/** Reads of the cycle counter by one workgroup after which it is taken to wait. */
const WAITING_READS = 16384;

/** What of a workgroup is in no memory: its clock. */
export interface WorkgroupClock {
  readonly clock: number;
  readonly reads: number;
  readonly waited: number;
}

export class Workgroup {
  readonly dispatch: DispatchContext;
  /** In wasm memory; `lds.byteOffset` is what compiled code adds to LDS addresses. */
  readonly lds: Uint8Array;
  private view: DataView | undefined;
  readonly id: readonly [number, number, number];
  /** What stands for the time: instructions executed so far by the workgroup. The same for any number of threads. */
  clock = 0;
  /** Reads of the cycle counter so far, and what they have added to it. */
  private reads = 0;
  waited = 0;
  private readings: WorkgroupReadings | undefined;
  /** Whether it has read a clock; whoever looks sets it back. */
  hasReadClock = false;

  constructor(dispatch: DispatchContext, lds: Uint8Array, id: readonly [number, number, number]) {
    this.dispatch = dispatch;
    this.lds = lds;
    this.id = id;
  }

  /** Its LDS; most kernels do not need it, and making it takes a tenth of the time of an empty workgroup. */
  get ldsView(): DataView {
    this.view ??= new DataView(this.lds.buffer, this.lds.byteOffset, this.lds.byteLength);
    return this.view;
  }

  /** Throws unless `bytes` bytes of LDS exist at `offset`. */
  checkLds(offset: number, bytes: number, isWrite: boolean): void {
    if (!(offset >= 0 && offset + bytes <= this.lds.byteLength)) throw new MemoryFault('lds', offset, bytes, isWrite);
  }

  /** The value of the `lds_direct` source: the dword at M0[15:0]. */
  ldsDirect(m0: number): number {
    const offset = m0 & 0xffff;
    this.checkLds(offset, 4, false);
    return this.ldsView.getInt32(offset, true);
  }

  /**
   * What s_memtime gives a wavefront that has executed so many instructions: the clock, and time that goes by while wavefronts do little but read it. Kernels that wait for a number of cycles
   * (500 ms are 10^9 of them) end after some 25,000 reads; a kernel that measures itself reads far fewer.
   */
  cycles(wave: number, executed: number): number {
    const { hostClock, modelledClock } = this.dispatch;
    this.hasReadClock = true;
    if (hostClock !== undefined) return hostClock.cycles();
    if (++this.reads > WAITING_READS) this.waited += (this.reads - WAITING_READS) * 32;
    return (modelledClock === undefined ? this.clock : this.modelled(modelledClock, wave, executed)) + this.waited;
  }

  /** What s_memrealtime gives a wavefront. */
  realTime(wave: number, executed: number): number {
    const { hostClock, modelledClock } = this.dispatch;
    this.hasReadClock = true;
    if (hostClock !== undefined) return hostClock.ticks();
    if (modelledClock === undefined) return this.clock;
    return Math.floor((this.modelled(modelledClock, wave, executed) * REAL_TIME_KHZ) / (modelledClock.clockMhz * 1000));
  }

  private modelled(clock: ModelledClock, wave: number, executed: number): number {
    this.readings ??= clock.of(this.id);
    return this.readings.cycles(wave, executed);
  }

  saveClock(): WorkgroupClock {
    const { clock, reads, waited } = this;
    return { clock, reads, waited };
  }
  restoreClock({ clock, reads, waited }: WorkgroupClock): void {
    this.clock = clock;
    this.reads = reads;
    this.waited = waited;
  }
}
