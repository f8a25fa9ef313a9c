// The class `bounded`: annotated floats may differ by the rounding of a sum in another order. Everything else must be the same bits.
import { elementType } from '../../base/index.ts';
import type { Annotation } from '../../snapshot/index.ts';
import { compareElements, comparisonVerdict } from '../../verdict/index.ts';
import { toleranceOf } from '../../verdict/tolerance.ts';
import type { Answer } from './oracle.ts';
import { allocationName } from './place.ts';
import type { Outcome } from './run.ts';

/** Roundings beside those of the sum: of the products and of the result. */
const OTHER_ROUNDINGS = 4;

/**
 * The relative difference that a type and the terms of a sum allow: each rounding is half a unit in the last place. Never more than the
 * type's usual tolerance. A tolerance that the capture's annotation gives does not widen it.
 */
export function boundOf(type: string, reductionLength: number): number {
  const element = elementType(type);
  if (element.kind === 'integer') return 0;
  return Math.min(toleranceOf(element), (OTHER_ROUNDINGS + reductionLength) * 2 ** -(element.fraction + 1));
}

/** Why the result is not within the bound; undefined when it is. */
export function boundedDifference(
  answer: Answer,
  { after }: Outcome,
  annotations: readonly Annotation[],
  reductionLength: number,
): string | undefined {
  const { allocations } = answer.input.capture.manifest.memory;
  const rest = new Map([...after].map(([name, bytes]) => [name, bytes.slice()]));
  for (const { address, elementType: type, shape, name } of annotations) {
    const index = allocations.findIndex((a) => address >= a.address && address < a.address + a.size);
    const allocation = allocations[index];
    if (allocation === undefined) continue;
    const start = address - allocation.address;
    const label = allocationName(allocation, index);
    const want = joined(answer.after, label);
    const got = joined(after, label);
    const size = (elementType(type).bits / 8) * shape.reduce((a, b) => a * b, 1);
    const cut = (bytes: Uint8Array): Uint8Array => bytes.slice(start, start + size);
    const tolerance = boundOf(type, reductionLength);
    const comparison = compareElements(cut(want), cut(got), type, { shape, tolerance, changedShare: 0 });
    if (comparisonVerdict(comparison) === 'different') {
      return `${name}: ${comparison.outside + comparison.changed} elements are outside of ${tolerance.toPrecision(3)}, which ${type} and ${reductionLength} terms allow; the largest relative difference is ${comparison.maxRelative.toPrecision(3)}.`;
    }
    for (const [place, bytes] of rest) {
      const at = offsetOf(place, label);
      const known = answer.after.get(place);
      if (at === undefined || known === undefined) continue;
      const [from, to] = [Math.max(0, start - at), Math.min(bytes.length, start + size - at)];
      if (from < to) bytes.set(known.subarray(from, to), from);
    }
  }
  for (const [place, bytes] of rest) {
    const known = answer.after.get(place);
    if (known !== undefined && Buffer.compare(known, bytes) !== 0)
      return `${place} differs, and it is not annotated as floats.`;
  }
  return undefined;
}

/** The offset of a place in the allocation of this name. */
function offsetOf(place: string, label: string): number | undefined {
  const prefix = `${label} + 0x`;
  return place.startsWith(prefix) ? Number.parseInt(place.slice(prefix.length), 16) : undefined;
}

/** All of an allocation that is in memory; bytes that are not are zero. */
function joined(memory: ReadonlyMap<string, Uint8Array>, label: string): Uint8Array {
  const parts = [...memory].flatMap(([place, bytes]) => {
    const at = offsetOf(place, label);
    return at === undefined ? [] : [{ at, bytes }];
  });
  const out = new Uint8Array(Math.max(0, ...parts.map(({ at, bytes }) => at + bytes.length)));
  for (const { at, bytes } of parts) out.set(bytes, at);
  return out;
}
