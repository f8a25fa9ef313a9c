import { describe, expect, it, test } from 'vitest';
import {
  BF6,
  BF8_FNUZ,
  BF8_OCP,
  BF16,
  decodeSmall,
  encodeSmall,
  F16,
  FP4,
  FP6,
  FP8_FNUZ,
  FP8_OCP,
  largestOf,
} from './formats.ts';

const FORMATS = { F16, BF16, FP8_FNUZ, BF8_FNUZ, FP8_OCP, BF8_OCP, FP6, BF6, FP4 };

describe.each(Object.entries(FORMATS))('%s', (_name, format) => {
  it('should encode every code it decodes', () => {
    for (let code = 0; code < 1 << format.bits; code++) {
      const value = decodeSmall(format, code);
      if (!Number.isNaN(value)) expect(encodeSmall(format, value)).toBe(code);
    }
  });
  it('should round to the nearest code, ties to the even one', () => {
    const codes = Array.from({ length: 1 << (format.bits - 1) }, (_, code) => code).filter((code) =>
      Number.isFinite(decodeSmall(format, code)),
    );
    for (let n = 0; n + 1 < Math.min(codes.length, 3000); n++) {
      const [low, high] = [codes[n], codes[n + 1]] as [number, number];
      const [a, b] = [decodeSmall(format, low), decodeSmall(format, high)];
      expect(encodeSmall(format, (a + b) / 2)).toBe(low % 2 === 0 ? low : high);
      expect(encodeSmall(format, a + (b - a) * 0.4375)).toBe(low);
      expect(encodeSmall(format, a + (b - a) * 0.5625)).toBe(high);
      expect(encodeSmall(format, a + (b - a) * 0.9, 3)).toBe(low);
    }
  });
  it('should saturate on request', () => {
    expect(decodeSmall(format, encodeSmall(format, largestOf(format) * 4, 0, true))).toBe(largestOf(format));
  });
});

test.each([
  ['F16 65504', F16, 0x7bff, 65504],
  ['F16 smallest', F16, 1, 2 ** -24],
  ['BF16 1', BF16, 0x3f80, 1],
  ['FP8 FNUZ 240', FP8_FNUZ, 0x7f, 240],
  ['BF8 FNUZ 57344', BF8_FNUZ, 0x7f, 57344],
  ['FP8 OCP 448', FP8_OCP, 0x7e, 448],
  ['BF8 OCP 57344', BF8_OCP, 0x7b, 57344],
  ['FP6 7.5', FP6, 0x1f, 7.5],
  ['BF6 28', BF6, 0x1f, 28],
  ['FP4 6', FP4, 7, 6],
  ['FNUZ NaN', FP8_FNUZ, 0x80, Number.NaN],
  ['OCP NaN', FP8_OCP, 0x7f, Number.NaN],
])('%s', (_name, format, code, value) => {
  expect(decodeSmall(format, code)).toBe(value);
});
