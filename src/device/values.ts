// What programs hand to a device, looked at while it runs: JavaScript gives anything for anything, and a typed array of other elements would
// be cut to bytes without a word.
import { WavesmithError } from '../base/index.ts';
import type { DeviceBuffer } from './device.ts';

/** Whether a value is a device's buffer. */
export function isBuffer(value: unknown): value is DeviceBuffer {
  return typeof value === 'object' && value !== null && 'address' in value && Number.isSafeInteger(value.address);
}

/** A value that is none of those that were expected, for a message. */
export function valueText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? `'${value}'` : String(value);
  return `an object of type ${value.constructor?.name ?? 'unknown'}`;
}

/** How to give what a value that is no bytes holds; undefined when it holds none. */
export function bytesHint(value: unknown): string | undefined {
  return ArrayBuffer.isView(value)
    ? 'Give its bytes: new Uint8Array(array.buffer, array.byteOffset, array.byteLength).'
    : undefined;
}

/** Checks that `what` was given bytes; anything else is `device/arguments`. */
export function requireBytes(value: unknown, what: string): void {
  // Those of other realms (a page's frames) are no instances of this one's class.
  if (Object.prototype.toString.call(value) === '[object Uint8Array]') return;
  throw new WavesmithError('device/arguments', `${what} takes a Uint8Array, not ${valueText(value)}.`, {
    hint: bytesHint(value),
  });
}
