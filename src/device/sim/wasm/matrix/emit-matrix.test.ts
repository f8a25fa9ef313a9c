// Compiled matrix instructions against the interpreter, bit for bit: random registers of all kinds, overlaps, constants, modifiers; and
// the error bounds of both modes as docs/virtual-gpu.md states them.

import { describe, expect, it } from 'vitest';
import { compileMatrix, matrixOperation } from '../../../../../tests/support/compiled-matrix.ts';
import { registerCounts, type Shape, shapeOf } from '../../../../../tests/support/matrix-reference.ts';
import { makeWave, parse } from '../../../../../tests/support/one-instruction.ts';
import { f16FromBits, f32FromBits } from '../../../../base/elements/formats.ts';
import { randomNumbers } from '../../../../base/index.ts';
import { tableFor, vgpr } from '../../../../isa/index.ts';
import { semanticsOf } from '../../../../isa/semantics/index.ts';
import type { Instruction, TargetName } from '../../../../isa/types.ts';
import { enableRelaxedSimd } from '../../../node/v8-flags.ts';
import { bindMatrix, type MatrixMode } from '../../interpreter/matrix.ts';
import { MATRIX_SCRATCH_BYTES } from '../../state/layout.ts';
import type { Wave } from '../../state/wave.ts';
import { matrixFeatures, PLAIN_SIMD } from '../features.ts';
import { SCRATCH_SIZE } from './scratch.ts';

enableRelaxedSimd();

class Random {
  private readonly next: () => number;
  constructor(seed: number) {
    this.next = randomNumbers(seed);
  }
  /** 32 random bits. */
  bits(): number {
    return Math.floor(this.next() * 2 ** 32);
  }
  below(n: number): number {
    return this.bits() % n;
  }
}

/** Exponents of a register word as an element format: bits of one element, exponent bits, fraction bits. */
const FIELDS: Readonly<Record<string, readonly [number, number, number]>> = {
  f64: [32, 11, 20],
  f32: [32, 8, 23],
  xf32: [32, 8, 23],
  f16: [16, 5, 10],
  bf16: [16, 8, 7],
  fp8: [8, 4, 3],
  bf8: [8, 5, 2],
};

/**
 * A word of elements whose exponents lie `spread` around the middle; every so often a zero, a denormal, and in `special` fills an
 * infinity or NaN.
 */
function word(r: Random, type: string, spread: number, special: boolean, shift = 0): number {
  const fields = FIELDS[type];
  if (fields === undefined) return r.bits();
  const [bits, exponentBits, fraction] = fields;
  const middle = (1 << (exponentBits - 1)) - 1 - shift;
  const top = (1 << exponentBits) - 1;
  let value = 0;
  for (let at = 0; at < 32; at += bits) {
    const kind = r.below(special ? 24 : 20);
    const offset = r.below(2 * spread + 1) - spread;
    const exponent = kind < 2 ? 0 : kind >= 20 ? top : Math.max(0, Math.min(top - 1, middle + offset));
    const mantissa = kind === 0 || kind === 20 ? 0 : r.bits() & ((1 << fraction) - 1);
    // The code of -0 is the NaN of FNUZ formats.
    const sign = exponent === 0 && mantissa === 0 ? 0 : r.below(2);
    const element = ((((sign << exponentBits) | exponent) << fraction) | mantissa) >>> 0;
    value |= element << at;
  }
  return value;
}

type Fill = 'near' | 'spread' | 'special' | 'raw' | 'tiny' | 'huge' | 'wide';

/** Fills all registers: those that hold C get its type, the others the operands'. */
function fill(w: Wave, r: Random, s: Shape, how: Fill, cRegisters: ReadonlySet<number>): void {
  const spread = how === 'near' ? 2 : how === 'spread' ? 20 : how === 'wide' ? 126 : 6;
  for (let register = 0; register < 512; register++) {
    if (register >= 160 && register < 256) continue;
    const type = cRegisters.has(register) ? s.d : s.a;
    for (let lane = 0; lane < 64; lane++) {
      w.vgprs[register * 64 + lane] =
        how === 'raw' || type === 'i8' || type === 'i32'
          ? r.bits()
          : how === 'tiny'
            ? // Products near f32's smallest numbers, with C of about their size.
              word(r, type, 3, false, cRegisters.has(register) ? 126 : 63)
            : how === 'huge'
              ? // Products on both sides of f32's largest number.
                word(r, type, 1, false, cRegisters.has(register) ? -120 : -63)
              : word(r, type, spread, how === 'special');
    }
  }
}

const range = (file: string, first: number, count: number): string =>
  count === 1 ? `${file}${first}` : `${file}[${first}:${first + count - 1}]`;

interface Arrangement {
  readonly text: string;
  readonly c: ReadonlySet<number>;
  /** Operands put at other VGPRs than the text says: assemblers refuse some overlaps that hardware does not. */
  readonly moved?: Readonly<Record<string, number>>;
}

function instructionOf(target: TargetName, { text, moved }: Arrangement): Instruction {
  const parsed = parse(target, text);
  const operands = parsed.operands.map((operand, i) => {
    const to = moved?.[parsed.row.operands[i]?.name ?? ''];
    return to === undefined || operand.kind !== 'reg' ? operand : (vgpr(to, operand.dwords) ?? operand);
  });
  return { ...parsed, operands };
}

/** Operand placements: apart, in place in AGPRs, constant C, D over part of C, D over A and B. */
function arrangements(mnemonic: string, s: Shape, modifiers: readonly string[]): Arrangement[] {
  const n = registerCounts(s);
  const registers = (first: number): ReadonlySet<number> => new Set(Array.from({ length: n.d }, (_, i) => first + i));
  const scales = s.scaled ? ', v150, v151' : '';
  const make = (d: string, a: string, b: string, c: string, set: ReadonlySet<number>, i: number): Arrangement => ({
    text: s.sparse
      ? `${mnemonic} ${d}, ${a}, ${b}, v152${modifiers[i % modifiers.length]}`
      : `${mnemonic} ${d}, ${a}, ${b}, ${c}${scales}${modifiers[i % modifiers.length]}`,
    c: set,
  });
  const a = range('v', 64, n.a);
  const b = range('v', 80, n.b);
  const list = [
    make(range('v', 0, n.d), a, b, range('v', 100, n.d), registers(s.sparse ? 0 : 100), 0),
    make(range('a', 0, n.d), range('a', 64, n.a), b, range('a', 0, n.d), registers(256), 1),
  ];
  if (s.sparse) {
    list.push(make(range('v', 0, n.d), a, b, '', registers(0), 2));
    list.push(make(range('v', 64, n.d), a, b, '', registers(64), 3));
    return list;
  }
  const constant = s.d === 'i32' ? '5' : '1.0';
  list.push(make(range('v', 0, n.d), a, range('v', 64, n.b), constant, new Set(), 2));
  const apart = make(range('v', 4, n.d), a, b, range('v', 100, n.d), registers(2), 3);
  list.push({ ...apart, moved: { src2: 2 } });
  list.push({
    ...make(range('v', 0, n.d), a, b, range('v', 100, n.d), registers(100), 4),
    moved: { vdst: 64, src1: 66 },
  });
  return list;
}

/** Modifiers that mean something for a shape. */
function modifiersOf(s: Shape, target: TargetName): string[] {
  if (s.f8f6f4) return [' cbsz:0 blgp:1', ' cbsz:1 blgp:0', ' cbsz:1 blgp:1'];
  if (s.sparse) return ['', ' cbsz:1 abid:1', ' abid:1', ' abid:3'];
  if (s.d === 'f64') {
    return target === 'gfx90a'
      ? ['', ' blgp:1', ' blgp:2', ' blgp:4', ' blgp:7']
      : ['', ' neg:[1,0,0]', ' neg:[0,1,0]', ' neg:[0,0,1]', ' neg:[1,1,1]'];
  }
  const broadcast = s.blocks > 1 ? [' cbsz:1 abid:1', s.blocks === 16 ? ' cbsz:4 abid:7' : ' cbsz:1'] : [];
  const patterns = s.d === 'f32' && s.a !== 'xf32' ? [' blgp:1', ' blgp:2', ' blgp:3', ' blgp:4', ' blgp:7'] : [];
  return ['', ...broadcast, ...patterns];
}

function mnemonics(target: TargetName): string[] {
  const rows = tableFor(target).rows.filter((x) => semanticsOf(x.operation)?.kind === 'matrix');
  return [...new Set(rows.map((x) => x.operation))];
}

describe.each(['gfx90a', 'gfx942', 'gfx950'] as const)('%s', (target) => {
  it('should leave the same registers compiled as interpreted', () => {
    const failures: string[] = [];
    const r = new Random(20261121);
    const fills: readonly Fill[] = ['near', 'spread', 'special', 'raw', 'tiny', 'huge', 'wide'];
    let runs = 0;
    const fallbacks: Record<Fill, number> = { near: 0, spread: 0, special: 0, raw: 0, tiny: 0, huge: 0, wide: 0 };
    const w = makeWave(target);
    for (const mnemonic of mnemonics(target)) {
      const s = shapeOf(mnemonic, [1, 1]);
      for (const [i, arrangement] of arrangements(mnemonic, s, modifiersOf(s, target)).entries()) {
        const { text, c } = arrangement;
        const instruction = instructionOf(target, arrangement);
        const op = matrixOperation(instruction);
        const mode: MatrixMode = i % 2 === 0 ? 'exact' : 'fast';
        for (const [n, features] of [matrixFeatures(), PLAIN_SIMD].entries()) {
          for (const m of n === 0 ? (['exact', 'fast'] as const) : [mode]) {
            const compiled = compileMatrix(w, target, instruction, m, features);
            if (compiled === undefined) continue;
            const how = fills[runs % fills.length] as Fill;
            fill(w, r, s, how, c);
            if (s.scaled) {
              // Block scales: ordinary ones, and in raw fills any, NaN included.
              for (const register of [150, 151]) {
                for (let lane = 0; lane < 64; lane++) {
                  w.vgprs[register * 64 + lane] =
                    how === 'raw' ? r.bits() : how === 'huge' ? 174 + r.below(4) : 120 + r.below(15);
                }
              }
            }
            const before = w.vgprs.slice();
            bindMatrix(instruction, op, target, m)(w);
            const expected = w.vgprs.slice();
            w.vgprs.set(before);
            fallbacks[how] += compiled.run(w);
            runs++;
            if (Buffer.compare(Buffer.from(w.vgprs.slice().buffer), Buffer.from(expected.buffer)) !== 0) {
              const at = expected.findIndex((x, k) => x !== w.vgprs[k]);
              failures.push(
                `${m} ${text} (${how}, ${JSON.stringify(arrangement.moved)}): register ${at >> 6} lane ${at & 63}`,
              );
            }
          }
        }
      }
    }
    expect(failures).toEqual([]);
    expect(runs).toBeGreaterThan(250);
    // Ordinary values, zeros and denormals included, are never left to the interpreter.
    expect(fallbacks.near).toBe(0);
  });
});

describe('operands of many binades', () => {
  // Rows 1 and up of A and columns 1 and up of B lie `span` binades below row 0 and column 0, C near their products.
  it.each([
    ['gfx942', 'v_mfma_f32_16x16x16_bf16'],
    ['gfx942', 'v_mfma_f32_16x16x8_xf32'],
  ] as const)('should give the same bits at every span on %s %s', (target, mnemonic) => {
    const s = shapeOf(mnemonic);
    const n = registerCounts(s);
    const text = `${mnemonic} v[0:3], ${range('v', 64, n.a)}, ${range('v', 80, n.b)}, v[100:103]`;
    const instruction = parse(target, text);
    const w = makeWave(target);
    const compiled = compileMatrix(w, target, instruction, 'exact');
    if (compiled === undefined) throw new Error('not compiled');
    const step = bindMatrix(instruction, matrixOperation(instruction), target, 'exact');
    const r = new Random(7);
    const element = (field: number): number => {
      const of = (bits: number): number => ((r.below(2) << 8) | Math.max(1, field)) * 2 ** bits + r.below(2 ** bits);
      return s.a === 'bf16' ? (of(7) * 65536 + of(7)) | 0 : of(23) | 0;
    };
    let fallbacks = 0;
    let runs = 0;
    for (const top of [127 + 40, 127 + 100]) {
      for (let span = 0; span <= top; span += 3) {
        for (const spanB of [0, span >> 1, Math.min(span, 130)]) {
          const low = Math.max(1, top - span);
          const lowB = Math.max(1, 137 - spanB);
          for (let lane = 0; lane < 64; lane++) {
            const edge = lane % 16 === 0;
            for (let i = 0; i < n.a; i++) w.vgprs[(64 + i) * 64 + lane] = element(edge ? top : low);
            for (let i = 0; i < n.b; i++) w.vgprs[(80 + i) * 64 + lane] = element(edge ? 137 : lowB);
            for (let i = 0; i < 4; i++) {
              const field = Math.max(0, Math.min(254, low + lowB - 127 + r.below(9) - 4));
              w.vgprs[(100 + i) * 64 + lane] = (((r.below(2) << 8) | field) << 23) | r.below(2 ** 23);
            }
          }
          step(w);
          const expected = w.vgprs.slice(0, 256);
          w.vgprs.fill(0, 0, 256);
          fallbacks += compiled.run(w);
          runs++;
          expect(w.vgprs.slice(0, 256), `${mnemonic} top ${top} span ${span}, ${spanB}`).toEqual(expected);
        }
      }
    }
    // Both ways of doing it are met.
    expect(fallbacks).toBeGreaterThan(0);
    expect(fallbacks).toBeLessThan(runs / 2);
  });
});

/** The f32 results of one instruction in a mode, on compiled code, with their exact sums and magnitude sums. */
function errors(target: TargetName, mnemonic: string, mode: MatrixMode, seed: number): number {
  const s = shapeOf(mnemonic);
  const n = registerCounts(s);
  const text = `${mnemonic} ${range('v', 0, n.d)}, ${range('v', 64, n.a)}, ${range('v', 80, n.b)}, ${range('v', 100, n.d)}`;
  const instruction = parse(target, text);
  const w = makeWave(target);
  const r = new Random(seed);
  fill(w, r, s, 'near', new Set(Array.from({ length: n.d }, (_, i) => 100 + i)));
  // No denormals: the bounds are of normal operands.
  for (let i = 64 * 64; i < 100 * 64; i++) {
    const x = w.vgprs[i] as number;
    if (s.a === 'f16') w.vgprs[i] = (x & 0x83ff83ff) | ((13 + r.below(4)) << 10) | ((13 + r.below(4)) << 26);
  }
  const read = (base: number, lane: number, bit: number): number =>
    f16FromBits(((w.vgprs[(base + (bit >> 5)) * 64 + lane] as number) >>> (bit & 31)) & 0xffff);
  const c = w.vgprs.slice(100 * 64, (100 + n.d) * 64);
  const compiled = compileMatrix(w, target, instruction, mode);
  if (compiled === undefined) throw new Error('not compiled');
  compiled.run(w);
  let worst = 0;
  const kl = (s.m * s.k) / 64;
  for (let i = 0; i < s.m; i++) {
    for (let j = 0; j < s.n; j++) {
      const [register, lane] =
        s.m === 32 ? [4 * (i >> 3) + (i & 3), 32 * ((i >> 2) & 1) + j] : [i & 3, 16 * (i >> 2) + j];
      const start = f32FromBits(c[register * 64 + lane] as number);
      let sum = start;
      let magnitude = Math.abs(start);
      for (let k = 0; k < s.k; k++) {
        const group = Math.floor(k / kl);
        const product = read(64, i + s.m * group, 16 * (k % kl)) * read(80, j + s.m * group, 16 * (k % kl));
        sum += product;
        magnitude += Math.abs(product);
      }
      const got = f32FromBits(w.vgprs[register * 64 + lane] as number);
      if (magnitude > 0) worst = Math.max(worst, Math.abs(got - sum) / magnitude);
    }
  }
  return worst;
}

it.each([
  ['this host', matrixFeatures()],
  ['plain SIMD', PLAIN_SIMD],
])('should give the same bits for block scales up to the edges of f32 on %s', (_name, features) => {
  const text = 'v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[64:71], v[80:87], 0, v150, v151 cbsz:1 blgp:1';
  const instruction = parse('gfx950', text);
  const w = makeWave('gfx950');
  const compiled = compileMatrix(w, 'gfx950', instruction, 'exact', features);
  if (compiled === undefined) throw new Error('not compiled');
  const step = bindMatrix(instruction, matrixOperation(instruction), 'gfx950', 'exact');
  const r = new Random(3);
  let fallbacks = 0;
  let runs = 0;
  for (let power = -190; power <= 130; power += 10) {
    // Finite BF8 elements of all sizes.
    for (let i = 64 * 64; i < 96 * 64; i++) w.vgprs[i] = r.bits() & 0xfbfbfbfb;
    w.vgprs.fill(127 + (power >> 1), 150 * 64, 151 * 64);
    w.vgprs.fill(127 + power - (power >> 1), 151 * 64, 152 * 64);
    step(w);
    const expected = w.vgprs.slice(0, 256);
    w.vgprs.fill(0, 0, 256);
    fallbacks += compiled.run(w);
    runs++;
    expect(w.vgprs.slice(0, 256), `scales of 2^${power}`).toEqual(expected);
  }
  expect(fallbacks).toBeGreaterThan(0);
  expect(fallbacks).toBeLessThan(runs / 2);
});

it('should fit its operands into the scratch area of a wave', () => {
  expect(SCRATCH_SIZE).toBeLessThanOrEqual(MATRIX_SCRATCH_BYTES);
});

describe('error bounds', () => {
  const u = 2 ** -24;
  it.each([
    ['gfx942', 'v_mfma_f32_16x16x16_f16'],
    ['gfx942', 'v_mfma_f32_32x32x8_f16'],
    ['gfx950', 'v_mfma_f32_16x16x32_f16'],
  ] as const)('should hold for %s %s', (target, mnemonic) => {
    const { k } = shapeOf(mnemonic);
    for (let seed = 1; seed <= 20; seed++) {
      // f64 sums of the reference are exact to 2^-47 here.
      expect(errors(target, mnemonic, 'fast', seed)).toBeLessThanOrEqual((k * u) / (1 - k * u) + 2 ** -47);
      expect(errors(target, mnemonic, 'exact', seed)).toBeLessThanOrEqual((k + (4 * k) / 8) * u * (1 + 2 ** -10));
    }
  });

  it('should hold for pairwise sums', () => {
    const bound = (16 / 4 + 3) * u;
    for (let seed = 1; seed <= 20; seed++) {
      expect(errors('gfx90a', 'v_mfma_f32_16x16x16f16', 'exact', seed)).toBeLessThanOrEqual(bound / (1 - bound));
    }
  });
});
