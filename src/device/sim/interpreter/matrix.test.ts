// Matrix operations against the reference vectors (every dense MFMA of CDNA2 and CDNA3) and against plain matrix products.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, test } from 'vitest';
import { type CompiledMatrix, compileMatrix } from '../../../../tests/support/compiled-matrix.ts';
import { execute, f32, lanes, makeWave, parse } from '../../../../tests/support/one-instruction.ts';
import { sharedPath } from '../../../../tests/support/shared.ts';
import type { TargetName } from '../../../isa/types.ts';
import { enableRelaxedSimd } from '../../node/v8-flags.ts';
import type { Wave } from '../state/wave.ts';
import { type MatrixFeatures, matrixFeatures, PLAIN_SIMD } from '../wasm/features.ts';

enableRelaxedSimd();

interface Vector {
  target: TargetName;
  mnemonic: string;
  case: string;
  a: string[];
  b: string[];
  c: string[];
  d: string[];
}

/** Registers of an operand: word n of every lane. */
function words(operand: string[], first: number): Record<string, number[]> {
  const count = (operand[0] as string).length / 8;
  return Object.fromEntries(
    Array.from({ length: count }, (_, n) => [
      `v${first + n}`,
      operand.map((lane) => Number.parseInt(lane.slice(8 * n, 8 * n + 8), 16) | 0),
    ]),
  );
}
const range = (first: number, count: number): string =>
  count === 1 ? `v${first}` : `v[${first}:${first + count - 1}]`;

function isNaNBits(low: number, high: number, wide: boolean): boolean {
  if (!wide) return (low & 0x7fffffff) >>> 0 > 0x7f800000;
  const top = (high & 0x7fffffff) >>> 0;
  return top > 0x7ff00000 || (top === 0x7ff00000 && low !== 0);
}

type Engine = (target: TargetName, text: string, registers: Record<string, number[]>) => Wave;

const interpreted: Engine = (target, text, registers) => execute(target, text, registers);

/** Compiled code; what it leaves to the interpreter is counted. */
function compiledEngine(features: MatrixFeatures): Engine & { fallbacks: number; runs: number } {
  const known = new Map<string, CompiledMatrix>();
  const w = makeWave('gfx942');
  const engine = Object.assign(
    (target: TargetName, text: string, registers: Record<string, number[]>): Wave => {
      let compiled = known.get(target + text);
      if (compiled === undefined) {
        compiled = compileMatrix(w, target, parse(target, text), 'exact', features);
        if (compiled === undefined) return execute(target, text, registers);
        known.set(target + text, compiled);
      }
      for (const [name, values] of Object.entries(registers)) w.vgprs.set(values, Number(name.slice(1)) * 64);
      engine.fallbacks += compiled.run(w);
      engine.runs++;
      return w;
    },
    { fallbacks: 0, runs: 0 },
  );
  return engine;
}

/** Elements that differ from the vector; NaN payloads are free. */
function mismatches(v: Vector, engine: Engine): number {
  const sizes = [v.d, v.a, v.b, v.c].map((x) => (x[0] as string).length / 8) as [number, number, number, number];
  const [nd, na, nb, nc] = sizes;
  const even = (n: number): number => n + (n & 1);
  const a = even(nd);
  const b = a + even(na);
  const c = b + even(nb);
  const text = `${v.mnemonic} ${range(0, nd)}, ${range(a, na)}, ${range(b, nb)}, ${range(c, nc)}`;
  const w = engine(v.target, text, { ...words(v.a, a), ...words(v.b, b), ...words(v.c, c) });
  const got = Array.from({ length: nd }, (_, n) => lanes(w, n));
  const wide = v.mnemonic.includes('_f64_');
  let bad = 0;
  for (let lane = 0; lane < 64; lane++) {
    for (let n = 0; n < nd; n += wide ? 2 : 1) {
      const expected = [0, wide ? 1 : 0].map((k) =>
        Number.parseInt((v.d[lane] as string).slice(8 * (n + k), 8 * (n + k) + 8), 16),
      );
      const actual = [0, wide ? 1 : 0].map((k) => (got[n + k] as number[])[lane] as number);
      const [el, eh] = expected as [number, number];
      const [al, ah] = actual as [number, number];
      if (el === al && eh === ah) continue;
      const float = !v.mnemonic.includes('_i32_');
      if (float && isNaNBits(el, eh, wide) && isNaNBits(al, ah, wide)) continue;
      bad++;
    }
  }
  return bad;
}

describe('matrix operations match the reference vectors', () => {
  for (const target of ['gfx90a', 'gfx942'] as const) {
    const path = sharedPath('isa', 'mfma-vectors', `${target}.jsonl.gz`);
    test.skipIf(path === undefined)(`bit for bit on ${target}`, () => {
      const lines = gunzipSync(readFileSync(path as string))
        .toString()
        .trim()
        .split('\n');
      const vectors = lines.map((line) => JSON.parse(line) as Vector);
      const failures = (engine: Engine): string[] =>
        vectors.filter((v) => mismatches(v, engine) > 0).map((v) => `${v.mnemonic} ${v.case}`);
      expect(failures(interpreted)).toEqual([]);
      for (const features of [matrixFeatures(), PLAIN_SIMD]) {
        const compiled = compiledEngine(features);
        expect(failures(compiled)).toEqual([]);
        // Infinities and NaNs under CDNA3's rules, and products beyond f32: cases `special` and `wide`.
        expect(compiled.runs).toBeGreaterThan(60);
        expect(compiled.fallbacks).toBeLessThanOrEqual(vectors.filter((v) => /special|wide/.test(v.case)).length);
      }
      expect(lines.length).toBeGreaterThan(50);
    });
  }
});

describe('layouts', () => {
  // A holds one 1 in row i, column k; B is a ramp: row i of D is row k of B. Layouts per AMD's matrix instruction calculator.
  it('should put A[i][k]·B[k][j] of v_mfma_f32_16x16x4_f32 in D[i][j]', () => {
    const i = 5;
    const k = 2;
    const a = Array.from({ length: 64 }, (_, lane) => (lane === i + 16 * k ? f32(1) : 0));
    const b = Array.from({ length: 64 }, (_, lane) => f32(lane));
    const w = execute('gfx942', 'v_mfma_f32_16x16x4_f32 v[0:3], v4, v5, 0', { v4: a, v5: b });
    const row = lanes(w, i & 3).slice(16 * (i >> 2), 16 * (i >> 2) + 16);
    expect(row).toEqual(Array.from({ length: 16 }, (_, j) => f32(16 * k + j)));
    expect(lanes(w, 0).every((x) => x === 0)).toBe(true);
  });
  it('should broadcast block abid of A under cbsz', () => {
    // 16 blocks of 4x4x1: lane = 4·block + i. cbsz 4 broadcasts one block to all.
    const a = Array.from({ length: 64 }, (_, lane) => f32(lane >> 2));
    const w = execute('gfx942', 'v_mfma_f32_4x4x1_16b_f32 v[0:3], v4, v5, 0 cbsz:4 abid:7', { v4: a, v5: f32(1) });
    expect(new Set(lanes(w, 0))).toEqual(new Set([f32(7)]));
  });
  it('should take the sparse indices of v_smfmac_f32_16x16x32_f16', () => {
    // Row 0: the first stored element sits at k = 3 (index bits 11), the second at k = 1 is zero.
    const one = 0x3c00;
    const w = execute('gfx942', 'v_smfmac_f32_16x16x32_f16 v[0:3], v[4:5], v[6:9], v10', {
      v4: Array.from({ length: 64 }, (_, lane) => (lane === 0 ? one : 0)),
      // B[k][j] for lanes 0–15 holds k = 0…7: register k div 2, half k mod 2.
      v6: 0,
      v7: 0x40000000,
      v10: 0b0111,
    });
    expect(lanes(w, 0).slice(0, 16)).toEqual(Array.from({ length: 16 }, () => f32(2)));
  });
  it('should scale blocks of f8f6f4 operands', () => {
    // FP4 ones (code 2) everywhere, scale 2^1 for A: 128 products of 2.
    const w = execute(
      'gfx950',
      'v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:7], v[8:11], 0, v12, v13 cbsz:4 blgp:4',
      {
        ...Object.fromEntries([4, 5, 6, 7, 8, 9, 10, 11].map((n) => [`v${n}`, 0x22222222])),
        v12: 128,
        v13: 127,
      },
    );
    expect(new Set(lanes(w, 0))).toEqual(new Set([f32(256)]));
  });
  it('should find 8-bit elements in two runs of 16 and scales by blocks of 32', () => {
    // One FP8 1.0 (code 0x38) in lane 0, register 4: k = 32, so its block scale is lane 32's.
    const registers = Array.from({ length: 8 }, (_, n) => [`v${40 + n}`, 0x38383838] as const);
    const w = execute('gfx950', 'v_mfma_scale_f32_32x32x64_f8f6f4 v[0:15], v[32:39], v[40:47], 0, v48, v49', {
      ...Object.fromEntries(registers),
      v36: Array.from({ length: 64 }, (_, lane) => (lane === 0 ? 0x38 : 0)),
      v48: Array.from({ length: 64 }, (_, lane) => (lane === 32 ? 130 : 127)),
      v49: 127,
    });
    expect(lanes(w, 0).slice(0, 32)).toEqual(Array.from({ length: 32 }, () => f32(8)));
  });
});
