import { describe, expect, it } from 'vitest';
import { parse } from '../../../../tests/support/one-instruction.ts';
import { allRows } from '../../../isa/index.ts';
import type { TargetName } from '../../../isa/types.ts';
import { LATENCY_FIELDS } from './chip-fields.ts';
import { defaultChip } from './chips/index.ts';
import { latencyClassOf, matrixPasses } from './latency-class.ts';

describe('latency classes', () => {
  it('should exist for every row of the instruction table', () => {
    const missing = allRows().flatMap((row) => {
      try {
        const { field } = latencyClassOf(row);
        return field === undefined || LATENCY_FIELDS.includes(field) ? [] : [row.name];
      } catch {
        return [row.name];
      }
    });
    expect(missing).toEqual([]);
    expect(allRows().length).toBeGreaterThan(3000);
  });

  // AMD's matrix instruction calculator and the CDNA4 ISA manual; 8-bit elements of f8f6f4 take the long form.
  it.each<[TargetName, string, number]>([
    ['gfx942', 'v_mfma_f32_4x4x4_16b_f16 a[0:3], v[0:1], v[2:3], a[0:3]', 2],
    ['gfx942', 'v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]', 4],
    ['gfx942', 'v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]', 8],
    ['gfx942', 'v_mfma_f32_32x32x2_f32 a[0:15], v0, v1, a[0:15]', 16],
    ['gfx942', 'v_mfma_f64_16x16x4_f64 a[0:7], v[0:1], v[2:3], a[0:7]', 8],
    ['gfx950', 'v_mfma_f64_16x16x4_f64 a[0:7], v[0:1], v[2:3], a[0:7]', 16],
    ['gfx950', 'v_mfma_f32_16x16x32_f16 a[0:3], v[0:3], v[4:7], a[0:3]', 4],
    ['gfx950', 'v_mfma_f32_16x16x128_f8f6f4 a[0:3], v[0:7], v[8:15], a[0:3]', 8],
    ['gfx950', 'v_mfma_f32_32x32x64_f8f6f4 a[0:15], v[0:3], v[8:11], a[0:15] cbsz:4 blgp:4', 8],
    ['gfx90a', 'v_mfma_f32_16x16x16f16 a[0:3], v[0:1], v[2:3], a[0:3]', 8],
    ['gfx90a', 'v_mfma_f32_32x32x8f16 a[0:15], v[0:1], v[2:3], a[0:15]', 16],
  ])('should know the passes of %s %s', (target, text, expected) => {
    expect(matrixPasses(parse(target, text), defaultChip(target).get('matrix.f64Passes'))).toBe(expected);
  });
});
