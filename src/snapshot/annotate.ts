// What a person adds to a capture: name, element type, shape and tolerance of a buffer, so that comparisons and exports speak of elements.
import { elementType, WavesmithError } from '../base/index.ts';
import type { Capture } from './capture.ts';
import { annotationBytes } from './compare.ts';
import { hex } from './fields.ts';
import type { Annotation } from './manifest.ts';

const USAGE =
  'Write PLACE=TYPE[N,…], with PLACE an argument’s number or name, an address, or ADDRESS+OFFSET; then optionally ,name=NAME,tolerance=T.';

function bad(text: string, message: string): WavesmithError {
  return new WavesmithError('capture/bad-annotation', `'${text}': ${message}`, { hint: USAGE });
}

/** Reads `0=f32[1024],name=y,tolerance=1e-5` for a capture. */
export function parseAnnotation(text: string, capture: Capture): Annotation {
  const match = /^([^=]+)=([A-Za-z0-9<>]+)\[([0-9, ]*)\]((?:,(?:name|tolerance)=[^,]+)*)$/.exec(text);
  if (match === null) throw bad(text, 'it is not of the form PLACE=TYPE[SHAPE].');
  const [, place = '', type = '', dimensions = '', more = ''] = match;
  elementType(type);
  const shape = dimensions.split(',').map((part) => {
    if (!/^\s*\d{1,12}\s*$/.test(part)) throw bad(text, `'${part}' is not a size.`);
    return Number(part);
  });
  const options = Object.fromEntries(
    more
      .split(',')
      .filter((part) => part !== '')
      .map((part) => part.split('=') as [string, string]),
  );
  const tolerance = options.tolerance === undefined ? undefined : Number(options.tolerance);
  if (tolerance !== undefined && !(tolerance >= 0)) throw bad(text, `'${options.tolerance}' is not a tolerance.`);
  const { address, name } = placeOf(place, text, capture);
  const annotation: Annotation = { address, elementType: type, shape, name: options.name ?? name, tolerance };
  checkPlace(annotation, capture, text);
  return annotation;
}

function placeOf(place: string, text: string, { manifest }: Capture): { address: number; name: string } {
  const at = /^(0x[0-9a-f]+)(?:\+(\d+|0x[0-9a-f]+))?$/i.exec(place);
  if (at !== null) return { address: Number(at[1]) + Number(at[2] ?? 0), name: place };
  const { slots } = manifest.dispatch.kernarg;
  const slot = /^\d+$/.test(place) ? slots[Number(place)] : slots.find((s) => s.name === place);
  const allocation = slot?.points === undefined ? undefined : manifest.memory.allocations[slot.points.allocation];
  if (slot === undefined) throw bad(text, `the kernel has no argument '${place}'.`);
  if (slot.points === undefined || allocation === undefined)
    throw bad(text, `argument '${place}' points to no captured allocation.`);
  return { address: allocation.address + slot.points.offset, name: slot.name || `argument ${place}` };
}

/** A buffer lies in one allocation. */
function checkPlace(annotation: Annotation, { manifest }: Capture, text: string): void {
  const { address } = annotation;
  const bytes = annotationBytes(annotation);
  const { allocations } = manifest.memory;
  const inside = allocations.find((a) => address >= a.address && address < a.address + a.size);
  if (inside === undefined) throw bad(text, `${hex(address)} is in no captured allocation.`);
  if (address + bytes <= inside.address + inside.size) return;
  throw bad(
    text,
    `${bytes} bytes do not fit: ${inside.address + inside.size - address} are left of the allocation there.`,
  );
}

/** The annotations of a capture with these; one at the same address replaces the older. */
export function withAnnotations(capture: Capture, added: readonly Annotation[]): Annotation[] {
  const all = new Map(capture.manifest.annotations.map((a) => [a.address, a]));
  for (const annotation of added) all.set(annotation.address, annotation);
  return [...all.values()].sort((a, b) => a.address - b.address);
}
