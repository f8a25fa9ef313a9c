import { expect, it } from 'vitest';
import { hostMemoryError } from './host-memory.ts';

const GIB = 2 ** 30;

it('is an error when little is left of the host because of the device', () => {
  const error = hostMemoryError(20 * GIB, 2 ** 20);
  expect(error?.code).toBe('runtime/host-memory');
  expect(error?.message).toBe('Programs have written 20.0 GiB of device memory, and this machine has 0.0 GiB left.');
});

it('is none while there is room, or while others take it', () => {
  expect(hostMemoryError(20 * GIB, 4 * GIB)).toBeUndefined();
  expect(hostMemoryError(GIB / 2, 2 ** 20)).toBeUndefined();
});
