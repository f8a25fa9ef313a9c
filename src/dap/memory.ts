// Memory references of the protocol: an address as pointers have it (`0x…`), in global memory, the selected workgroup's LDS or the selected lane's
// scratch, or an offset of LDS (`lds:N`).
import { WavesmithError } from '../base/index.ts';
import { type Debugger, loadBytes, spaceOfFlat } from '../device/sim/debug/index.ts';

/** Bytes that one request may read. */
const MOST = 1 << 20;

type MemorySpace = 'global' | 'lds' | 'scratch';

/** The space and address of a reference; what is none is `run/bad-address`. An address is one of a pointer, which may be of LDS or scratch. */
export function writeTarget(reference: string, offset: number): { space: MemorySpace; address: number } {
  const match = /^(lds:)?(0x[0-9a-f]{1,13}|\d{1,15})$/i.exec(reference);
  if (match === null) throw new WavesmithError('run/bad-address', `'${reference}' is no memory reference.`);
  const given = Number(match[2]);
  if (match[1] !== undefined) return { space: 'lds', address: given + offset };
  const { space, at } = spaceOfFlat(given);
  return { space, address: at + offset };
}

/** The bytes of a write that fit: from a reference on, to the end of what is allocated. None where nothing is. */
export function writePart(led: Debugger, reference: string, offset: number, bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, readMemory(led, reference, offset, bytes.length).bytes.length);
}

/** Bytes that are sent as base64 (RFC 4648), with or without the signs that fill up the end; what is none is `dap/bad-request`. */
export function bytesOfBase64(text: string): Uint8Array {
  const digits = text.replace(/={1,2}$/, '');
  const isFilled = digits.length === text.length || text.length % 4 === 0;
  if (!/[^A-Za-z0-9+/]/.test(digits) && digits.length % 4 !== 1 && isFilled)
    return new Uint8Array(Buffer.from(text, 'base64'));
  throw new WavesmithError('dap/bad-request', `'${text.slice(0, 40)}' is not base64.`);
}

/** Bytes from a reference on, and their address as pointers have it; fewer where the allocation ends, none where nothing is allocated. */
export function readMemory(
  led: Debugger,
  reference: string,
  offset: number,
  count: number,
): { address: number; bytes: Uint8Array } {
  const { space, address: at } = writeTarget(reference, offset);
  const address = Math.max(0, reference.startsWith('lds') ? at : Number(reference) + offset);
  const size = Math.min(Math.max(0, Math.trunc(count)), MOST);
  return { address, bytes: at < 0 ? new Uint8Array() : bytesIn(led, space, at, size) };
}

function bytesIn(led: Debugger, space: MemorySpace, at: number, size: number): Uint8Array {
  const { selected: w } = led;
  if (space === 'lds') return w?.workgroup.lds.slice(at, at + size) ?? new Uint8Array();
  if (space === 'scratch') {
    const there = w === undefined ? 0 : Math.min(size, w.workgroup.dispatch.scratchPerLane - at);
    return w === undefined || there <= 0 ? new Uint8Array() : loadBytes(w, space, at, there, led.lane);
  }
  const region = led.memory?.find(at, 1);
  const from = at - (region?.base ?? 0);
  return region?.bytes.slice(from, Math.min(region.size, from + size)) ?? new Uint8Array();
}
