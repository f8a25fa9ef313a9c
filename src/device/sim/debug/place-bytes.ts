// The bytes of a variable where the debug information says they are, as a lane of a wave sees them.
import type { ComputedStep, DebugPlace, DebugRegister } from '../../../codeobject/index.ts';
import { WAVE_SCRATCH_BASE } from '../state/layout.ts';
import { AGPR_BASE, LANES, type Wave } from '../state/wave.ts';
import { computedValue } from './computed-value.ts';
import type { ScopeSource } from './scope-source.ts';
import type { Hole, ShownVariable } from './typed.ts';

/** What is read of a place. */
type Read = Pick<ShownVariable, 'bytes' | 'why' | 'holes'>;

/** So many bytes of a place, or why they cannot be read; parts of them where it has several pieces. */
export function readPlace(place: DebugPlace, size: number, w: Wave, lane: number, source: ScopeSource): Read {
  if (place.kind !== 'pieces') {
    const bytes = bytesAt(place, size, w, lane, source);
    return { bytes, why: whyNot(place, bytes !== undefined) };
  }
  const bytes = new Uint8Array(size);
  const holes: Hole[] = [];
  let from = 0;
  for (const piece of place.pieces) {
    const to = Math.min(size, from + piece.bytes);
    const found = readPlace(piece.place, to - from, w, lane, source);
    if (found.bytes === undefined) holes.push({ from, to, why: found.why });
    else bytes.set(found.bytes, from);
    from = to;
  }
  if (from < size) holes.push({ from, to: size, why: OPTIMIZED_OUT });
  const isRead = holes.reduce((sum, hole) => sum + hole.to - hole.from, 0) < size;
  if (!isRead) return { bytes: undefined, why: holes[0]?.why ?? OPTIMIZED_OUT };
  return { bytes, why: 'it is in several places', holes: holes.length === 0 ? undefined : holes };
}

const OPTIMIZED_OUT = 'optimized out';

/** Why there is no value, or why it cannot be set. */
function whyNot(place: DebugPlace, hasValue: boolean): string {
  if (place.kind === 'absent') return place.why;
  if (place.kind === 'computed')
    return hasValue
      ? 'its value is computed from registers'
      : 'its value depends on a sign that the debug information does not tell';
  return hasValue ? '' : 'its memory is not there';
}

/** What a part of a value has: its bytes, and what is missing of them. A number of which a byte is missing has none. */
export function readPart({ bytes, why, holes = [] }: Read, offset: number, size: number, isNumber: boolean): Read {
  const inside =
    bytes === undefined || offset + size > bytes.length ? undefined : bytes.subarray(offset, offset + size);
  const missing = holes
    .map((hole) => ({ ...hole, from: Math.max(0, hole.from - offset), to: Math.min(size, hole.to - offset) }))
    .filter(({ from, to }) => from < to);
  const [first] = missing;
  if (first === undefined) return { bytes: inside, why, holes: undefined };
  const isWhole = missing.reduce((sum, { from, to }) => sum + to - from, 0) >= size;
  if (isNumber || isWhole) return { bytes: undefined, why: first.why, holes: undefined };
  return { bytes: inside, why, holes: missing };
}

function computedBytes(
  steps: readonly ComputedStep[],
  size: number,
  word: (register: DebugRegister) => number,
): Uint8Array | undefined {
  const value = computedValue(steps, word, size);
  return value === undefined ? undefined : littleEndian(value, size);
}

/** The bytes of a place of one kind; undefined where they cannot be read. */
function bytesAt(place: DebugPlace, size: number, w: Wave, lane: number, source: ScopeSource): Uint8Array | undefined {
  switch (place.kind) {
    case 'constant':
      return littleEndian(place.value, size);
    case 'computed':
      return computedBytes(place.steps, size, (register) => word(register, w, lane, source));
    case 'registers': {
      const all = place.parts.flatMap(({ register, bytes }) => {
        const words = Array.from({ length: Math.ceil(bytes / 4) }, (_, i) =>
          word({ ...register, index: register.index + i }, w, lane, source),
        );
        return [...new Uint8Array(Int32Array.from(words).buffer)].slice(0, bytes);
      });
      return Uint8Array.from(all).slice(0, size);
    }
    case 'scratch':
      return scratchBytes(w, lane, scratchOffset(place.base, w, lane, source) + place.offset, size, source);
    case 'global': {
      const at = source.codeBase + place.address;
      const region = source.memory?.find(at, size);
      if (region !== undefined) source.wasRead?.(region.offset + at - region.base, size);
      return region?.bytes.slice(at - region.base, at - region.base + size);
    }
    case 'lds':
      source.wasRead?.(w.workgroup.lds.byteOffset + place.offset, size);
      return w.workgroup.lds.slice(place.offset, place.offset + size);
    default:
      return undefined;
  }
}

export function littleEndian(value: bigint, size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, i) => Number(BigInt.asUintN(8, value >> BigInt(8 * i))));
}

function word({ file, index }: DebugRegister, w: Wave, lane: number, source: ScopeSource): number {
  if (file === 's') return (source.selectedFrame?.(w)?.scalars ?? w.sgprs)[index] as number;
  return w.vgprs[(file === 'a' ? AGPR_BASE + index : index) * LANES + lane] as number;
}

/** The lane's offset that a stack register holds: where scratch is not architected it counts bytes of the whole wave. */
export function scratchOffset(base: DebugRegister | undefined, w: Wave, lane: number, source: ScopeSource): number {
  if (base === undefined) return 0;
  const value = word(base, w, lane, source) >>> 0;
  return base.file === 's' && !w.workgroup.dispatch.architectedScratch ? value / LANES : value;
}

function scratchBytes(
  w: Wave,
  lane: number,
  offset: number,
  size: number,
  source: ScopeSource,
): Uint8Array | undefined {
  const base = w.field(WAVE_SCRATCH_BASE);
  if (base === 0 || offset < 0 || offset + size > w.workgroup.dispatch.scratchPerLane) return undefined;
  // Scratch is swizzled: dword d of lane l is at d * 256 + l * 4.
  return Uint8Array.from({ length: size }, (_, i) => {
    const at = offset + i;
    const place = base + Math.floor(at / 4) * 4 * LANES + 4 * lane + (at & 3);
    source.wasRead?.(place, 1);
    return w.memory.bytesAt(place, 1)[0] as number;
  });
}
