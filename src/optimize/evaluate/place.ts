// Places of memory that have the same name in every run of a capture, wherever they lie: bytes of an allocation, bytes of a variable.
import type { DeviceModule } from '../../device/index.ts';
import type { CaptureAllocation } from '../../snapshot/index.ts';
import type { PlacedCapture } from '../../snapshot/place.ts';
import type { PlacedChunk } from '../../snapshot/placed-chunk.ts';

/** Bytes that stand in memory before a run, other than the captured ones. */
export interface MemoryEdit {
  readonly address: number;
  readonly bytes: Uint8Array;
}

/** Memory that is no data of the program. */
export const FIXED: ReadonlySet<CaptureAllocation['kind']> = new Set(['kernarg', 'code', 'queue', 'packet', 'scratch']);

/** The name of a placed chunk. */
export function placeName({ capture, module }: PlacedCapture, { address, allocation }: PlacedChunk): string {
  if (allocation.kind === 'code') return variableName(module, address);
  const index = capture.manifest.memory.allocations.indexOf(allocation);
  return `${allocationName(allocation, index)} + 0x${(address - allocation.address).toString(16)}`;
}

/** The name of the nth allocation, which no other has. */
export function allocationName({ label }: CaptureAllocation, n: number): string {
  return label === '' ? `allocation ${n}` : `allocation ${n} ('${label}')`;
}

function variableName({ variables, address: base }: DeviceModule, address: number): string {
  const variable = variables.find((v) => address >= v.address && address < v.address + v.size);
  return variable === undefined
    ? `code object + 0x${(address - base).toString(16)}`
    : `variable '${variable.name}' + 0x${(address - variable.address).toString(16)}`;
}
