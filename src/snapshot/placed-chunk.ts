// A part of a capture that has its place on a device.
import type { DeviceBuffer } from '../device/index.ts';
import type { CaptureAllocation } from './manifest.ts';

/** A chunk, or a variable of edited code, in device memory. */
export interface PlacedChunk {
  readonly address: number;
  readonly length: number;
  readonly allocation: CaptureAllocation;
  readonly buffer: DeviceBuffer;
  /** Where it is in the buffer. */
  readonly offset: number;
  /** What is written before a run. */
  readonly initial: Uint8Array;
  /** One flag for each byte of `initial` that the capture knows; undefined for all, null for none. */
  readonly known: Uint8Array | undefined | null;
  readonly post: Uint8Array | undefined;
  /** One flag for each byte that the captured dispatch writes; undefined when nobody knows. */
  readonly writes: Uint8Array | undefined;
}
