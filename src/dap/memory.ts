// Memory references of the protocol: an address of global memory (`0x…`) or an offset of the selected workgroup's LDS (`lds:N`).
import { WavesmithError } from '../base/index.ts';
import type { Debugger } from '../device/sim/debug/index.ts';

/** Bytes that one request may read. */
const MOST = 1 << 20;

/** The space and address of a reference; what is none is `run/bad-address`. */
export function writeTarget(reference: string, offset: number): { space: 'global' | 'lds'; address: number } {
  const match = /^(lds:)?(0x[0-9a-f]{1,13}|\d{1,15})$/i.exec(reference);
  if (match === null) throw new WavesmithError('run/bad-address', `'${reference}' is no memory reference.`);
  return { space: match[1] === undefined ? 'global' : 'lds', address: Number(match[2]) + offset };
}

/** The bytes of a write that fit: from a reference on, to the end of what is allocated. None where nothing is. */
export function writePart(led: Debugger, reference: string, offset: number, bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, readMemory(led, reference, offset, bytes.length).bytes.length);
}

/** Bytes from a reference on; fewer where the allocation ends, none where nothing is allocated. */
export function readMemory(
  led: Debugger,
  reference: string,
  offset: number,
  count: number,
): { address: number; bytes: Uint8Array } {
  const { space, address } = writeTarget(reference, offset);
  const size = Math.min(Math.max(0, count), MOST);
  if (space === 'lds') {
    const lds = led.selected?.workgroup.lds;
    return { address, bytes: lds === undefined || address < 0 ? new Uint8Array() : lds.slice(address, address + size) };
  }
  const region = led.memory?.find(address, 1);
  if (region === undefined) return { address, bytes: new Uint8Array() };
  const at = address - region.base;
  return { address, bytes: region.bytes.slice(at, Math.min(region.size, at + size)) };
}
