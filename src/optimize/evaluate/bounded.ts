// The class `bounded`: floats may be as far from the result in f64 as rounding can take them, whatever the order of sums. Everything else must be the
// same bits. What is a float, and how far it may be, comes from the baseline's own operations, run again in f64 (device/sim/reference).
import { bf16FromBits, f16FromBits, f32FromBits, f64FromWords } from '../../base/elements/formats.ts';
import { elementType } from '../../base/index.ts';
import type { KeptNumbers } from '../../device/sim/reference/float-reference.ts';
import { errorOf, mayOverflow, type Real, unitOf } from '../../device/sim/reference/real.ts';
import type { Annotation } from '../../snapshot/index.ts';
import { compareElements, comparisonVerdict } from '../../verdict/index.ts';
import { toleranceOf } from '../../verdict/tolerance.ts';
import type { Memory } from './compare.ts';
import type { Answer } from './oracle.ts';
import { allocationName } from './place.ts';

/** Roundings beside those of the sum: of the products and of the result. */
const OTHER_ROUNDINGS = 4;
/**
 * How far from the f64 result a candidate may be on average: so many times as far as the baseline, and in any case some half units of the sum of
 * magnitudes, of which a sum of n random roundings has less than √n / 2.
 */
const LESS_ACCURATE = 4;
const HALF_UNITS = 4;

/**
 * The relative difference that a type and the terms of a sum allow: each rounding is half a unit in the last place. Never more than the
 * type's usual tolerance. A tolerance that the capture's annotation gives does not widen it.
 */
export function boundOf(type: string, reductionLength: number): number {
  const element = elementType(type);
  if (element.kind === 'integer') return 0;
  return Math.min(toleranceOf(element), (OTHER_ROUNDINGS + reductionLength) * 2 ** -(element.fraction + 1));
}

/** How far a number may be from its value in f64: by its roundings, and never by more than the tolerance of its type. */
const allowed = (real: Real): number =>
  Math.min(errorOf(real), toleranceOf(elementType(real.type)) * Math.max(real.magnitude, Math.abs(real.value)));

/** Bytes of a place that differ and what they are compared with. */
interface Piece {
  readonly place: string;
  readonly address: number;
  readonly want: Uint8Array;
  readonly got: Uint8Array;
}

/** One element that differs. */
interface Element {
  readonly real: Real;
  readonly want: number;
  readonly got: number;
}

/** Judges the elements that differ. */
class Judge {
  private candidate = 0;
  private baseline = 0;
  private random = 0;
  private count = 0;
  /** The largest bound beside its number: what is taken where there is no number. */
  widest = 0;

  /** Why an element is not what it may be. */
  element({ real, want, got }: Element): string | undefined {
    if (got === want || (Number.isNaN(got) && Number.isNaN(want))) return undefined;
    // Another order may overflow, or not.
    if (mayOverflow(real) && !Number.isNaN(real.value)) return undefined;
    if (!Number.isFinite(want) || !Number.isFinite(got)) return `${want} from the baseline, ${got} from the candidate`;
    const off = Math.abs(got - real.value);
    const own = Math.abs(want - real.value);
    // What is a cut of bits was not what the operations say.
    const bound = Math.max(allowed(real), own);
    if (off > bound)
      return `${got} is ${off.toPrecision(3)} from ${real.value}, its value in f64; ${real.type} and ${real.roundings} roundings allow ${bound.toPrecision(3)}`;
    this.count++;
    // In half units of its terms: a few large elements do not hide the others.
    const unit = unitOf(real.type) * Math.max(real.magnitude, Math.abs(real.value));
    if (unit > 0) {
      this.candidate += off / unit;
      this.baseline += own / unit;
      this.random += Math.sqrt(real.roundings) / 2;
    }
    if (real.value !== 0) this.widest = Math.max(this.widest, bound / Math.abs(real.value));
    return undefined;
  }

  /** Why all of them together are less exact than the baseline's. */
  all(): string | undefined {
    const { candidate, baseline, random, count } = this;
    if (candidate <= LESS_ACCURATE * baseline + HALF_UNITS * count + random) return undefined;
    const [is, was] = [candidate, baseline].map((sum) => (sum / count).toPrecision(3));
    return `${count} elements are ${is} half units from their values in f64 on average, the baseline's ${was}: numbers of fewer bits were used`;
  }
}

/** What a result may be judged by. */
export interface Bounds {
  /** The baseline in f64, by address. */
  readonly numbers: KeptNumbers;
  /** The numbers are of a part of the launch; the rest is judged by the widest bound of that part. */
  readonly isPart: boolean;
  readonly annotations: readonly Annotation[];
  readonly reductionLength: number;
}

/**
 * Why the result is not within the bound; undefined when it is. `only`: flags of the bytes that are looked at, by place; all others are not.
 */
export function boundedDifference(answer: Answer, after: Memory, bounds: Bounds, only?: Memory): string | undefined {
  const { numbers, isPart } = bounds;
  const judge = new Judge();
  const rest: { readonly piece: Piece; readonly words: number[] }[] = [];
  for (const piece of piecesOf(answer, after)) {
    const flags = only?.get(piece.place);
    if (only !== undefined && flags === undefined) continue;
    const words: number[] = [];
    for (let at = 0; at + 4 <= piece.want.length; at += 4) {
      const isLooked = flags === undefined || flags.subarray(at, at + 4).includes(1);
      if (!isLooked || !differs(piece, at, 4)) continue;
      const elements = elementsAt(piece, at, numbers);
      if (elements === undefined) words.push(at);
      for (const element of elements ?? []) {
        const problem = judge.element(element);
        if (problem !== undefined) return `${piece.place}, byte 0x${at.toString(16)}: ${problem}.`;
      }
    }
    if (words.length > 0) rest.push({ piece, words });
  }
  const less = judge.all();
  if (less !== undefined) return `${less}.`;
  if (rest.length === 0) return undefined;
  if (isPart && judge.widest > 0) return outsideOf(rest, judge.widest);
  return annotatedDifference(answer, rest, bounds);
}

function* piecesOf(answer: Answer, after: Memory): Generator<Piece> {
  const { allocations } = answer.input.capture.manifest.memory;
  for (const [i, allocation] of allocations.entries()) {
    const label = `${allocationName(allocation, i)} + 0x`;
    for (const [place, want] of answer.after) {
      if (!place.startsWith(label)) continue;
      const got = after.get(place);
      if (got === undefined || got === want || Buffer.compare(want, got) === 0) continue;
      yield { place, address: allocation.address + Number.parseInt(place.slice(label.length), 16), want, got };
    }
  }
}

const differs = ({ want, got }: Piece, at: number, size: number): boolean =>
  Buffer.compare(want.subarray(at, at + size), got.subarray(at, at + size)) !== 0;

const wordOf = (bytes: Uint8Array, at: number): number =>
  new DataView(bytes.buffer, bytes.byteOffset).getInt32(at, true);

/** The elements of the four bytes at an offset that differ; undefined when there are bytes among them that are of no number. */
function elementsAt(piece: Piece, at: number, numbers: KeptNumbers): Element[] | undefined {
  const { address, want, got } = piece;
  const numberAt = (offset: number, bits: number): Real | undefined => {
    const kept = numbers.get(address + offset);
    // Somebody else may have written there since.
    return kept?.bits === bits ? kept.real : undefined;
  };
  const word = wordOf(want, at);
  const single = numberAt(at, word);
  if (single?.type === 'f32') return [{ real: single, want: f32FromBits(word), got: f32FromBits(wordOf(got, at)) }];
  for (const first of [at, at - 4]) {
    if (first < 0 || first + 8 > want.length) continue;
    const double = numberAt(first, wordOf(want, first));
    if (double?.type !== 'f64') continue;
    const value = (bytes: Uint8Array): number => f64FromWords(wordOf(bytes, first), wordOf(bytes, first + 4));
    return [{ real: double, want: value(want), got: value(got) }];
  }
  const found: Element[] = [];
  for (const half of [0, 16]) {
    const offset = at + half / 8;
    if (!differs(piece, offset, 2)) continue;
    const real = numberAt(offset, (word >>> half) & 0xffff);
    if (real === undefined || (real.type !== 'f16' && real.type !== 'bf16')) return undefined;
    const decode = real.type === 'f16' ? f16FromBits : bf16FromBits;
    const value = (bytes: Uint8Array): number => decode((wordOf(bytes, at) >>> half) & 0xffff);
    found.push({ real, want: value(want), got: value(got) });
  }
  return found;
}

/** Words beyond the part that was run in f64, as f32 beside the baseline's. */
function outsideOf(
  rest: readonly { readonly piece: Piece; readonly words: readonly number[] }[],
  widest: number,
): string | undefined {
  const tolerance = Math.min(2 * widest, toleranceOf(elementType('f32')));
  for (const { piece, words } of rest) {
    const [want, got] = [piece.want, piece.got].map((bytes) =>
      Uint8Array.from(words.flatMap((at) => [...bytes.subarray(at, at + 4)])),
    ) as [Uint8Array, Uint8Array];
    const comparison = compareElements(want, got, 'f32', { tolerance, changedShare: 0 });
    if (comparisonVerdict(comparison) === 'different')
      return `${piece.place}: ${comparison.outside + comparison.changed} elements are outside of ${tolerance.toPrecision(3)}, the widest bound of the part that was run in f64.`;
  }
  return undefined;
}

/** What no float operation made that was followed, in buffers that are annotated as floats: as near to the baseline's as a sum may be. */
function annotatedDifference(
  answer: Answer,
  rest: readonly { readonly piece: Piece; readonly words: readonly number[] }[],
  { annotations, reductionLength }: Bounds,
): string | undefined {
  for (const { piece, words } of rest) {
    const first = piece.address + (words[0] as number);
    const found = annotations.find(({ address, elementType: type, shape }) => {
      const size = (elementType(type).bits / 8) * shape.reduce((a, b) => a * b, 1);
      return first >= address && first < address + size;
    });
    if (found === undefined)
      return `${piece.place}, byte 0x${(words[0] as number).toString(16)} differs, and no float operation that was followed made it.`;
    const { elementType: type, address, shape, name } = found;
    const length = reductionLength * answer.input.growth;
    const tolerance = boundOf(type, length);
    const size = (elementType(type).bits / 8) * shape.reduce((a, b) => a * b, 1);
    const [from, to] = [
      Math.max(0, address - piece.address),
      Math.min(piece.want.length, address + size - piece.address),
    ];
    const outside = words.find((at) => at < from || at >= to);
    if (outside !== undefined)
      return `${piece.place}, byte 0x${outside.toString(16)} differs, and it is not annotated as floats.`;
    const comparison = compareElements(piece.want.subarray(from, to), piece.got.subarray(from, to), type, {
      tolerance,
      changedShare: 0,
    });
    if (comparisonVerdict(comparison) === 'different') {
      return `${name}: ${comparison.outside + comparison.changed} elements are outside of ${tolerance.toPrecision(3)}, which ${type} and ${length} terms allow; the largest relative difference is ${comparison.maxRelative.toPrecision(3)}.`;
    }
  }
  return undefined;
}
