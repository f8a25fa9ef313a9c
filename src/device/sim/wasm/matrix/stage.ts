// Stages the A or B operand of a matrix instruction: every element of every lane becomes an f32 (and, for truncating sums, its
// exponent) in the scratch area, still ordered by lane. Sources: formats as in isa/semantics/formats.ts.
import type { WasmFunction } from '../emit.ts';
import type { FloatFormat } from './plan.ts';
import { BYTE_EXPONENT_ROW, type Constants, EXPONENT_ROW, emitLoop, ROW } from './scratch.ts';

/** Exponent field of a zero, so far below any other that a product with it never counts. */
export const ZERO_EXPONENT = -8192;

export interface StageOptions {
  readonly format: FloatFormat;
  /** Elements a lane holds. */
  readonly count: number;
  /** Address of the operand's first register (local). */
  readonly source: number;
  /** Address of the scratch area (local). */
  readonly scratch: number;
  /** Offset of the element array. */
  readonly target: number;
  /** Offset of the exponents, when wanted. */
  readonly exponents?: number;
  /** They are bytes: none is above 31. */
  readonly byteExponents?: boolean;
  /** Where the least exponent of the elements that are not zero goes, a byte a row or column; `width` of them. For byte exponents. */
  readonly least?: { readonly target: number; readonly width: number };
  /** v128 local that collects, lane by lane, all ones where an element is infinite or NaN; such elements are then left unfinished. */
  readonly specials?: number;
  /** v128 locals of the largest and the smallest non-zero exponent field. */
  readonly range?: { readonly largest: number; readonly smallest: number };
  /** Denormal elements become +0. */
  readonly flush?: boolean;
  /** The low 13 bits of an f32 are dropped (xf32). */
  readonly truncate?: boolean;
  /** Lane pattern of B (blgp). */
  readonly pattern?: number;
  /** Offset of a scale per lane for an element, when block-scaled. */
  readonly scale?: (element: number) => number;
}

/** Replaces a lane's byte offset (on the stack) by that of the lane B is read from under a blgp pattern. */
export function emitPattern(f: WasmFunction, pattern: number): void {
  if (pattern === 1) f.i32(127).op('i32.and');
  else if (pattern === 2) f.i32(127).op('i32.and').i32(128).op('i32.or');
  else if (pattern === 3) f.i32(64).op('i32.add').i32(255).op('i32.and');
  else if (pattern >= 4) {
    f.i32(63)
      .op('i32.and')
      .i32(64 * (pattern - 4))
      .op('i32.add');
  }
}

/** Shifts the vector on the stack: left for positive counts, right for negative ones. */
function shift(f: WasmFunction, count: number): void {
  if (count > 0) f.i32(count).op('i32x4.shl');
  else if (count < 0) f.i32(-count).op('i32x4.shr_u');
}

const SPECIAL_MAGNITUDE = (format: FloatFormat): number => {
  const exponentBits = format.bits - 1 - format.fraction;
  return ((1 << exponentBits) - 1) << 23;
};

/**
 * Pushes nothing; sets `value` (f32) and `magnitude` (format exponent at bit 23) from element `element` of the register words `words`.
 */
function emitDecode(
  f: WasmFunction,
  k: Constants,
  o: StageOptions,
  words: readonly number[],
  element: number,
  value: number,
  magnitude: number,
): void {
  const { format } = o;
  const { bits, fraction } = format;
  const position = element * bits;
  const at = position & 31;
  const word = words[position >> 5] as number;
  const sign = k.word(-0x80000000);
  if (format.bias === 127) {
    if (bits === 32) f.get(word);
    else if (at === 0) f.get(word).i32(16).op('i32x4.shl');
    else f.get(word).get(k.word(-0x10000)).op('v128.and');
    if (o.truncate) f.get(k.word(~0x1fff)).op('v128.and');
    f.tee(value).get(k.word(0x7fffffff)).op('v128.and').set(magnitude);
    return;
  }
  let from = word;
  let low = at;
  if (at + bits > 32) {
    // The element lies across two words: gather it in `value` first.
    f.get(word).i32(at).op('i32x4.shr_u');
    f.get(words[(position >> 5) + 1] as number)
      .i32(32 - at)
      .op('i32x4.shl')
      .op('v128.or')
      .set(value);
    from = value;
    low = 0;
  }
  f.get(from);
  shift(f, 23 - fraction - low);
  f.get(k.word(((1 << (bits - 1)) - 1) << (23 - fraction)))
    .op('v128.and')
    .set(magnitude);
  f.get(from);
  shift(f, 32 - bits - low);
  f.get(sign).op('v128.and');
  f.get(magnitude)
    .get(k.f32(2 ** (127 - format.bias)))
    .op('f32x4.mul')
    .op('v128.or')
    .set(value);
}

/** Pushes a mask of the infinite and NaN elements. */
function emitIsSpecial(f: WasmFunction, k: Constants, format: FloatFormat, value: number, magnitude: number): void {
  if (format.specials === 'fnuz') f.get(value).get(k.word(-0x80000000)).op('i32x4.eq');
  else if (format.specials === 'fn') {
    f.get(magnitude)
      .get(k.word(((1 << (format.bits - 1)) - 1) << (23 - format.fraction)))
      .op('i32x4.eq');
  } else {
    f.get(magnitude)
      .get(k.word(SPECIAL_MAGNITUDE(format) - 1))
      .op('i32x4.gt_s');
  }
}

/** Stages all elements of an operand. */
export function emitStage(f: WasmFunction, k: Constants, o: StageOptions): void {
  const { format, count } = o;
  const wordCount = Math.ceil((count * format.bits) / 32);
  const hasSpecials = format.specials !== 'finite';
  const native = format.bias === 127;
  // Constants that the loop body uses are set before it.
  k.word(-0x80000000);
  k.word(0x7fffffff);
  k.word(-0x10000);
  k.word(~0x1fff);
  if (!native) {
    k.word(((1 << (format.bits - 1)) - 1) << (23 - format.fraction));
    k.f32(2 ** (127 - format.bias));
  }
  const canonicalSpecial = k.word(format.specials === 'ieee' ? 0x7f800000 : 0x7fc00000);
  k.word(SPECIAL_MAGNITUDE(format) - 1);
  const one = k.word(1);
  const zeroExponent = k.word(ZERO_EXPONENT);
  const zero = k.word(0);
  const normal = k.word(0x7fffff);
  const huge = k.word(0x7fff);
  const vectors = o.exponents === undefined ? 1 : 2;
  const words = Array.from({ length: wordCount * vectors }, () => f.local('v128'));
  const value = f.local('v128');
  const magnitude = f.local('v128');
  const field = f.local('v128');
  const firstField = f.local('v128');
  const least = o.least === undefined ? [] : [f.local('v128'), f.local('v128')];
  const noExponent = o.least === undefined ? zero : k.word(0x7fff);
  const at = f.local('i32');
  const from = f.local('i32');
  emitLoop(f, ROW, 16 * vectors, (counter) => {
    f.get(counter);
    emitPattern(f, o.pattern ?? 0);
    f.get(o.source).op('i32.add').set(from);
    f.get(o.scratch).get(counter).op('i32.add').set(at);
    for (let v = 0; v < vectors; v++) {
      for (let w = 0; w < wordCount; w++) {
        f.get(from)
          .memory('v128.load', w * ROW + 16 * v)
          .set(words[v * wordCount + w] as number);
      }
    }
    for (const local of least) f.get(noExponent).set(local);
    for (let element = 0; element < count; element++) {
      for (let v = 0; v < vectors; v++) {
        emitDecode(f, k, o, words.slice(v * wordCount, (v + 1) * wordCount), element, value, magnitude);
        if (hasSpecials && o.specials !== undefined) {
          emitIsSpecial(f, k, format, value, magnitude);
          f.get(o.specials).op('v128.or').set(o.specials);
        } else if (hasSpecials && !native) {
          f.get(value);
          emitIsSpecial(f, k, format, value, magnitude);
          f.get(canonicalSpecial).op('v128.and').op('v128.or').set(value);
        }
        if (o.flush) f.get(value).get(magnitude).get(normal).op('i32x4.gt_s').op('v128.and').set(value);
        if (o.scale !== undefined) {
          f.get(value).get(at).memory('v128.load', o.scale(element)).op('f32x4.mul').set(value);
        }
        f.get(at)
          .get(value)
          .memory('v128.store', o.target + element * ROW + 16 * v);
        if (o.exponents === undefined) continue;
        f.get(magnitude).i32(23).op('i32x4.shr_u').get(one).op('i32x4.max_s');
        if (o.range !== undefined) {
          // A zero does not count: it is moved beyond the other end.
          f.set(field);
          f.get(magnitude).get(zero).op('i32x4.eq').set(value);
          f.get(field).get(value).op('v128.andnot').get(o.range.largest).op('i32x4.max_s').set(o.range.largest);
          f.get(field).get(value).get(huge).op('v128.and').op('v128.or');
          f.get(o.range.smallest).op('i32x4.min_s').set(o.range.smallest);
          f.get(field);
        }
        f.get(magnitude).get(zero).op('i32x4.eq').get(zeroExponent).op('v128.and').op('i32x4.add');
        f.set(v === 0 ? firstField : field);
        const lowest = least[v];
        // That of a zero is the largest of all unsigned numbers.
        if (lowest !== undefined) {
          f.get(v === 0 ? firstField : field)
            .get(lowest)
            .op('i32x4.min_u')
            .set(lowest);
        }
      }
      if (o.exponents === undefined) continue;
      if (o.byteExponents === true) {
        storeBytes(f, o.scratch, counter, firstField, field, o.exponents + element * BYTE_EXPONENT_ROW);
        continue;
      }
      f.get(o.scratch).get(counter).i32(1).op('i32.shr_u').op('i32.add');
      f.get(firstField).get(field).op('i16x8.narrow_i32x4_s');
      f.memory('v128.store', o.exponents + element * EXPONENT_ROW);
    }
    if (o.least !== undefined) {
      storeBytes(f, o.scratch, counter, least[0] as number, least[1] as number, o.least.target);
    }
  });
  if (o.least !== undefined) reduceBytes(f, o.scratch, o.least);
  for (const local of [...words, value, magnitude, field, firstField, ...least]) f.release('v128', local);
  f.release('i32', at);
  f.release('i32', from);
}

/** Stores eight i32 as bytes, saturated, at a quarter of the loop's counter. */
function storeBytes(
  f: WasmFunction,
  scratch: number,
  counter: number,
  low: number,
  high: number,
  target: number,
): void {
  f.get(scratch).get(counter).i32(2).op('i32.shr_u').op('i32.add');
  f.get(low).get(high).op('i16x8.narrow_i32x4_s').get(low).op('i8x16.narrow_i16x8_s');
  f.memoryLane('v128.store64_lane', 0, target);
}

/** The least byte of all lanes that hold elements of a row, `width` lanes apart. */
function reduceBytes(f: WasmFunction, scratch: number, { target, width }: { target: number; width: number }): void {
  for (let at = 0; at < width && width < 64; at += 16) {
    f.get(scratch);
    for (let lane = at; lane < 64; lane += width) {
      f.get(scratch).memory('v128.load', target + lane);
      if (lane > at) f.op('i8x16.min_s');
    }
    f.memory('v128.store', target + at);
  }
}

/** Stages 8-bit integers as pairs of i16 (elements 0 and 2, 1 and 3 of each register), for i32x4.dot_i16x8_s. */
export function emitStagePairs(
  f: WasmFunction,
  o: Pick<StageOptions, 'source' | 'scratch' | 'target' | 'pattern'> & { readonly registers: number },
): void {
  const word = f.local('v128');
  const at = f.local('i32');
  const from = f.local('i32');
  emitLoop(f, ROW, 16, (counter) => {
    f.get(counter);
    emitPattern(f, o.pattern ?? 0);
    f.get(o.source).op('i32.add').set(from);
    f.get(o.scratch).get(counter).op('i32.add').set(at);
    for (let w = 0; w < o.registers; w++) {
      f.get(from)
        .memory('v128.load', w * ROW)
        .set(word);
      f.get(at).get(word).i32(8).op('i16x8.shl').i32(8).op('i16x8.shr_s');
      f.memory('v128.store', o.target + 2 * w * ROW);
      f.get(at)
        .get(word)
        .i32(8)
        .op('i16x8.shr_s')
        .memory('v128.store', o.target + (2 * w + 1) * ROW);
    }
  });
  f.release('v128', word);
  f.release('i32', at);
  f.release('i32', from);
}

/** Stages 8-bit integers as i32, one element after the other. */
export function emitStageIntegers(
  f: WasmFunction,
  o: Pick<StageOptions, 'source' | 'scratch' | 'target'> & { readonly registers: number },
): void {
  emitLoop(f, ROW, 16, (counter) => {
    for (let element = 0; element < 4 * o.registers; element++) {
      f.get(o.scratch).get(counter).op('i32.add');
      f.get(o.source)
        .get(counter)
        .op('i32.add')
        .memory('v128.load', (element >> 2) * ROW);
      f.i32(24 - 8 * (element & 3))
        .op('i32x4.shl')
        .i32(24)
        .op('i32x4.shr_s');
      f.memory('v128.store', o.target + element * ROW);
    }
  });
}
