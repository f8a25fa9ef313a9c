// Comparing two arrays. Integers: by bits. Floats: an element may differ by rounding, measured against itself or its neighbourhood,
// and few elements may change beyond rounding at all. What does not fill an element is compared as bytes.
import { type ElementType, elementType } from '../base/index.ts';
import { type Blocks, blocksOf, medianMagnitude } from './neighbourhood.ts';
import { CHANGED_BY, CHANGED_SHARE, quantumOf, toleranceOf } from './tolerance.ts';

export interface CompareOptions {
  /** Dimensions as they lie in memory, the last one contiguous; null for an unknown one. */
  readonly shape?: readonly (number | null)[] | undefined;
  /** Replaces the tolerance of a float type. Integers have none. */
  readonly tolerance?: number | undefined;
  /** Replaces the share of float elements that may change by more than half; 1 allows all. */
  readonly changedShare?: number | undefined;
  /** Every different bit counts, also of floats: for memory that nobody may write. */
  readonly bitwise?: boolean | undefined;
}

/** An element, its values without loss; both parts of a complex one. */
export interface ComparedElement {
  readonly index: number;
  readonly baseline: number | bigint | readonly [number, number];
  readonly modified: number | bigint | readonly [number, number];
}

/** Result of comparing one array. */
export interface Comparison {
  readonly elementType: string;
  /** Whole elements that both sides have. */
  readonly elements: number;
  /** Elements that are not the same bits. */
  readonly different: number;
  /** Elements outside the tolerance. Of integers, all different ones. */
  readonly outside: number;
  /** Float elements that changed by more than half of the larger value, and how many may. */
  readonly changed: number;
  readonly changedLimit: number;
  /** Bytes beyond the whole elements: how many there are (of the longer side), how many differ. */
  readonly trailing: { readonly bytes: number; readonly different: number };
  readonly tolerance: number;
  /** What the tolerance is relative to, in words; null where only bits count. */
  readonly scale: string | null;
  /** Elements that are NaN on both sides. */
  readonly nans: number;
  /** Largest |baseline − modified|, and that relative to the tolerance's scale. Infinite for NaN against a number. */
  readonly maxAbsolute: number;
  readonly maxRelative: number;
  /** The first element outside the tolerance, else the first changed one, else the first different one. */
  readonly first: ComparedElement | null;
}

export type ComparisonVerdict = 'equal' | 'within-tolerance' | 'different';

/** What a comparison says of its array. */
export function comparisonVerdict(c: Comparison): ComparisonVerdict {
  if (c.outside > 0 || c.changed > c.changedLimit || c.trailing.different > 0) return 'different';
  return c.different > 0 ? 'within-tolerance' : 'equal';
}

/**
 * Compares arrays of elements called `name`. NaN equals NaN whatever its payload, +0 equals −0, infinities equal by sign; all of
 * these count as different bits. An element is outside when it differs by more than the tolerance times the larger of its own
 * magnitude and its neighbourhood's median magnitude in the baseline, and by more than two of the type's smallest steps. Different
 * lengths are different. An unknown name is `elements/unknown-type`.
 */
export function compareElements(
  baseline: Uint8Array,
  modified: Uint8Array,
  name: string,
  options: CompareOptions = {},
): Comparison {
  const type = elementType(name);
  const shared = Math.min(baseline.length, modified.length);
  const elements = elementsIn(shared, type, options.shape);
  const tally = new Tally(baseline, modified, type, elements, options);
  tally.run();
  return tally.result(name, trailing(baseline, modified, elements * type.storageBits));
}

/** Whole elements in `bytes` bytes; not more than a known shape has. */
function elementsIn(bytes: number, type: ElementType, shape: CompareOptions['shape']): number {
  const most = Math.floor((8 * bytes) / type.storageBits);
  let product = 1;
  for (const size of shape ?? [null]) {
    if (size === null) return most;
    product *= size;
  }
  return Math.min(most, product);
}

/** What lies behind the first `used` bits. */
function trailing(a: Uint8Array, b: Uint8Array, used: number): { bytes: number; different: number } {
  const length = Math.max(a.length, b.length);
  const from = Math.floor(used / 8);
  let different = 0;
  for (let at = from; at < length; at++) {
    const isShared = at === from && used % 8 !== 0;
    if (isShared ? ((a[at] ?? 0) ^ (b[at] ?? 0)) >> (used % 8) !== 0 : a[at] !== b[at]) different++;
  }
  return { bytes: length - from, different };
}

/** Counts over one pair of arrays. */
class Tally {
  private readonly a: Uint8Array;
  private readonly b: Uint8Array;
  private readonly viewA: DataView;
  private readonly viewB: DataView;
  private readonly type: ElementType;
  private readonly elements: number;
  private readonly byBits: boolean;
  private readonly tolerance: number;
  private readonly floor: number;
  private readonly changedLimit: number;
  private readonly blocks: Blocks;
  private different = 0;
  private outside = 0;
  private changed = 0;
  private nans = 0;
  private maxAbsolute = 0;
  private maxRelative = 0;
  private firstDifferent = -1;
  private firstChanged = -1;
  private firstOutside = -1;

  constructor(a: Uint8Array, b: Uint8Array, type: ElementType, elements: number, options: CompareOptions) {
    this.a = a;
    this.b = b;
    this.viewA = new DataView(a.buffer, a.byteOffset, a.byteLength);
    this.viewB = new DataView(b.buffer, b.byteOffset, b.byteLength);
    this.type = type;
    this.elements = elements;
    this.byBits = options.bitwise === true || type.kind === 'integer' || toleranceOf(type) === 0;
    this.tolerance = this.byBits ? 0 : (options.tolerance ?? toleranceOf(type));
    this.floor = this.tolerance === 0 ? 0 : 2 * quantumOf(type);
    this.changedLimit = this.byBits ? 0 : Math.floor(elements * (options.changedShare ?? CHANGED_SHARE));
    this.blocks = blocksOf(elements, options.shape);
  }

  run(): void {
    const { storageBits, kind } = this.type;
    for (const [from, to] of this.blocks.ranges()) {
      if (kind !== 'integer') this.countNans(from, to);
      const start = Math.floor((from * storageBits) / 8);
      if (sameRange(this.a, this.b, start, Math.ceil((to * storageBits) / 8))) continue;
      let scale: number | undefined;
      for (let i = from; i < to; i++) {
        if (this.isSame(i)) continue;
        this.different++;
        if (this.firstDifferent < 0) this.firstDifferent = i;
        if (!this.byBits) scale ??= medianMagnitude((at) => this.magnitude(this.viewA, at), from, to);
        this.judge(i, scale ?? 0);
      }
    }
  }

  private countNans(from: number, to: number): void {
    for (let i = from; i < to; i++) {
      if (Number.isNaN(this.magnitude(this.viewA, i)) && Number.isNaN(this.magnitude(this.viewB, i))) this.nans++;
    }
  }

  private isSame(i: number): boolean {
    const { storageBits } = this.type;
    if (storageBits < 8) return Object.is(this.type.exact(this.viewA, i), this.type.exact(this.viewB, i));
    const size = storageBits / 8;
    return sameRange(this.a, this.b, i * size, (i + 1) * size);
  }

  /** |x|, of a complex element its modulus. */
  private magnitude(view: DataView, i: number): number {
    if (this.type.numbers === 1) return Math.abs(this.type.read(view, i));
    return Math.hypot(this.type.read(view, 2 * i), this.type.read(view, 2 * i + 1));
  }

  private judge(i: number, scale: number): void {
    const distance = this.distance(i);
    if (distance === 0 && !this.byBits) return;
    const [x, y] = [this.magnitude(this.viewA, i), this.magnitude(this.viewB, i)];
    const beside = Math.max(x, scale);
    const relative = beside > 0 && Number.isFinite(beside) && Number.isFinite(distance) ? distance / beside : Infinity;
    this.maxAbsolute = Math.max(this.maxAbsolute, distance);
    this.maxRelative = Math.max(this.maxRelative, distance === 0 ? 0 : relative);
    if (!this.byBits && !(distance <= CHANGED_BY * Math.max(x, y) && distance < Infinity)) {
      this.changed++;
      if (this.firstChanged < 0) this.firstChanged = i;
    }
    if (!this.byBits && (relative <= this.tolerance || distance <= this.floor)) return;
    this.outside++;
    if (this.firstOutside < 0) this.firstOutside = i;
  }

  /** |x − y|: 0 for equal infinities and for NaN against NaN, infinite for NaN or infinity against anything else. */
  private distance(i: number): number {
    if (this.type.kind === 'integer') {
      const [x, y] = [this.type.exact(this.viewA, i), this.type.exact(this.viewB, i)];
      return Math.abs(Number(BigInt(x) - BigInt(y)));
    }
    const n = this.type.numbers;
    let sum = 0;
    for (let part = 0; part < n; part++) {
      const [x, y] = [this.type.read(this.viewA, n * i + part), this.type.read(this.viewB, n * i + part)];
      if (x === y || (Number.isNaN(x) && Number.isNaN(y))) continue;
      const d = Math.abs(x - y);
      sum = Math.hypot(sum, Number.isNaN(d) ? Infinity : d);
    }
    return sum;
  }

  result(name: string, rest: Comparison['trailing']): Comparison {
    const index =
      this.firstOutside >= 0 ? this.firstOutside : this.firstChanged >= 0 ? this.firstChanged : this.firstDifferent;
    const { elements, different, outside, changed, changedLimit, tolerance, nans, maxAbsolute, maxRelative } = this;
    return {
      elementType: name,
      elements,
      different,
      outside,
      changed,
      changedLimit,
      trailing: rest,
      tolerance,
      scale: this.byBits ? null : `median magnitude of ${this.blocks.text}`,
      nans,
      maxAbsolute,
      maxRelative,
      first:
        index < 0 ? null : { index, baseline: this.exact(this.viewA, index), modified: this.exact(this.viewB, index) },
    };
  }

  private exact(view: DataView, i: number): ComparedElement['baseline'] {
    if (this.type.numbers === 1) return this.type.exact(view, i);
    return [this.type.read(view, 2 * i), this.type.read(view, 2 * i + 1)];
  }
}

function sameRange(a: Uint8Array, b: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (a[at] !== b[at]) return false;
  return true;
}
