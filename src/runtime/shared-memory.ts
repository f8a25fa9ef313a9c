// Views of the shared GPU memory for the device process: words of queues and signals, changed with the atomics other processes use too.
import { WavesmithError } from '../base/index.ts';
import type { Addon } from './addon.ts';
import { SIGNAL } from './generated/messages.ts';
import type { RuntimeDevice } from './runtime-device.ts';

/** The clock of signals and kernels: ticks per second of s_memrealtime. */
export const CLOCK_KHZ = 100_000;

/** Now, in ticks of the clock. CLOCK_MONOTONIC, as the libraries read it. */
export function nowTicks(): bigint {
  return process.hrtime.bigint() / 10n;
}

/** What CLOCK_MONOTONIC is ahead of the calendar, ms: kernels read the clock that signals carry. */
export function monotonicOffset(): number {
  return Number(process.hrtime.bigint()) / 1e6 - performance.timeOrigin - performance.now();
}

export class SharedMemory {
  readonly bytes: Uint8Array;
  private readonly halves: Uint16Array;
  private readonly words: Int32Array;
  private readonly longs: BigInt64Array;
  private readonly view: DataView;
  /** Waits of the device by signal. */
  private readonly deviceWaits = new Map<number, number>();
  private readonly device: RuntimeDevice;
  private readonly addon: Addon;

  constructor(device: RuntimeDevice, addon: Addon) {
    this.device = device;
    this.addon = addon;
    this.bytes = new Uint8Array(device.buffer);
    this.halves = new Uint16Array(device.buffer);
    this.words = new Int32Array(device.buffer);
    this.longs = new BigInt64Array(device.buffer);
    this.view = new DataView(device.buffer);
  }

  /** Offset of live memory of the window, aligned; a bad address is `runtime/bad-address`. */
  offset(address: number, size: number, alignment: number, what: string): number {
    const offset = address % alignment === 0 ? this.device.offsetOf(address, size) : undefined;
    if (offset === undefined || offset >= this.bytes.length) {
      throw new WavesmithError(
        'runtime/bad-address',
        `The ${what} at 0x${address.toString(16)} (${size} bytes) is not live, aligned device memory.`,
      );
    }
    return offset;
  }

  /** GPU address of an offset. */
  addressOf(offset: number): number {
    return this.device.windowAddress + offset;
  }

  u16(offset: number): number {
    return Atomics.load(this.halves, offset >>> 1);
  }
  setU16(offset: number, value: number): void {
    Atomics.store(this.halves, offset >>> 1, value);
  }
  u32(offset: number): number {
    return this.view.getUint32(offset, true);
  }
  setU32(offset: number, value: number): void {
    Atomics.store(this.words, offset / 4, value);
  }
  u64(offset: number): bigint {
    return BigInt.asUintN(64, Atomics.load(this.longs, offset / 8));
  }
  setU64(offset: number, value: bigint): void {
    Atomics.store(this.longs, offset / 8, BigInt.asIntN(64, value));
  }
  /** A 64-bit address; one that no GPU has (above 2^53) reads as 0. */
  address(offset: number): number {
    const value = this.u64(offset);
    return value > BigInt(Number.MAX_SAFE_INTEGER) ? 0 : Number(value);
  }

  /** Value of the signal at an offset. */
  signalValue(signal: number): bigint {
    return Atomics.load(this.longs, (signal + SIGNAL.value) / 8);
  }
  /**
   * One more (`1`) or less (`-1`) wait of the device for the signal: while there is one, programs tell the device of changes. The count is kept
   * here: a program may make a new signal of a place that is still waited for.
   */
  countDeviceWait(signal: number, change: 1 | -1): void {
    const count = (this.deviceWaits.get(signal) ?? 0) + change;
    if (count === 0) this.deviceWaits.delete(signal);
    else this.deviceWaits.set(signal, count);
    Atomics.store(this.words, (signal + SIGNAL.deviceWaits) / 4, count);
  }
  /** Completes a signal: times, value − 1, and whoever sleeps on it wakes. */
  complete(signal: number, startTicks: bigint, endTicks: bigint): void {
    this.setU64(signal + SIGNAL.startTicks, startTicks);
    this.setU64(signal + SIGNAL.endTicks, endTicks);
    Atomics.sub(this.longs, (signal + SIGNAL.value) / 8, 1n);
    const futex = signal + SIGNAL.futex;
    Atomics.add(this.words, futex / 4, 1);
    if (Atomics.load(this.words, (signal + SIGNAL.sleepers) / 4) !== 0) {
      this.addon.wake(this.bytes.subarray(futex, futex + 4));
    }
  }
}
