// An independent model of matrix operations for known-answer tests: shapes read from the mnemonic, layouts as AMD's calculator and its
// matrix core blog state them, elements that are small integers, products summed in plain loops. Shares no code with the simulator.

import type { TargetName } from '../../src/isa/types.ts';

export type ElementName = 'f64' | 'f32' | 'xf32' | 'f16' | 'bf16' | 'i8' | 'fp8' | 'bf8' | 'fp6' | 'bf6' | 'fp4';

export interface Shape {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly blocks: number;
  readonly a: ElementName;
  readonly b: ElementName;
  readonly d: 'f32' | 'f64' | 'i32';
  readonly sparse: boolean;
  readonly scaled: boolean;
  readonly f8f6f4: boolean;
}

/** cbsz/blgp codes of f8f6f4. */
export const F8F6F4: readonly ElementName[] = ['fp8', 'bf8', 'fp6', 'bf6', 'fp4'];

export const BITS: Readonly<Record<ElementName, number>> = {
  f64: 64,
  f32: 32,
  xf32: 32,
  f16: 16,
  bf16: 16,
  i8: 8,
  fp8: 8,
  bf8: 8,
  fp6: 6,
  bf6: 6,
  fp4: 4,
};

/** Reads a mnemonic: `v_mfma_f32_32x32x4_2b_bf16`, `v_mfma_i32_4x4x4i8`, `v_smfmac_f32_16x16x64_fp8_bf8`. */
export function shapeOf(mnemonic: string, formats: readonly [number, number] = [0, 0]): Shape {
  const match = /^v_(mfma|smfmac)_(scale_)?(f32|f64|i32)_(\d+)x(\d+)x(\d+)_?(?:(\d+)b_)?([a-z0-9_]+)$/.exec(mnemonic);
  if (match === null) throw new Error(`not a matrix mnemonic: ${mnemonic}`);
  const [, kind, scale, d, m, n, k, , types] = match as unknown as string[];
  const f8f6f4 = types === 'f8f6f4';
  const [a, b] = f8f6f4
    ? formats.map((code) => F8F6F4[code] as ElementName)
    : /^(fp8|bf8)_(fp8|bf8)$/.test(types as string)
      ? (types as string).split('_')
      : [types?.replace('_1k', ''), types?.replace('_1k', '')];
  const rows = Number(m);
  const inner = Number(k);
  // Every MFMA fills all four SIMD result rows: the number of blocks follows from the small shapes.
  const small = inner <= 4 && !f8f6f4 && kind === 'mfma';
  const blocks = !small ? 1 : blocksOf(rows, inner, a as ElementName, mnemonic);
  return {
    m: rows,
    n: Number(n),
    k: inner,
    blocks,
    a: a as ElementName,
    b: b as ElementName,
    d: d as Shape['d'],
    sparse: kind === 'smfmac',
    scaled: scale !== undefined,
    f8f6f4,
  };
}

/** Blocks by AMD's tables: the shapes with few k have 2 (32×32), 4 (16×16) or 16 (4×4) blocks. */
function blocksOf(m: number, k: number, type: ElementName, mnemonic: string): number {
  const named = /_(\d+)b_/.exec(mnemonic);
  if (named !== null) return Number(named[1]);
  if (m === 4) return type === 'f64' ? 4 : 16;
  const perBlock: Record<string, number> = { f32: 1, f16: 4, bf16: mnemonic.endsWith('_1k') ? 4 : 2, i8: 4 };
  return k === perBlock[type] ? (m === 32 ? 2 : 4) : 1;
}

export interface Place {
  readonly lane: number;
  readonly bit: number;
}

/** Where A[i][k] (or B[k][i]) of a block is. */
export function inputPlace(s: Shape, element: ElementName, block: number, i: number, k: number): Place {
  const bits = BITS[element];
  if (s.f8f6f4) {
    const groups = 64 / s.m;
    if (bits === 8) {
      // Sixteen k for each group of lanes, then sixteen more.
      const sixteen = Math.floor(k / 16);
      return { lane: i + s.m * (sixteen % groups), bit: bits * (16 * Math.floor(sixteen / groups) + (k % 16)) };
    }
    return { lane: i + s.m * Math.floor(k / 32), bit: bits * (k % 32) };
  }
  const kl = s.a === 'f64' ? 1 : (s.m * s.k * s.blocks) / 64;
  return { lane: i + s.m * (block + s.blocks * Math.floor(k / kl)), bit: bits * (k % kl) };
}

/** Register (32-bit) and lane of C and D [i][j]. */
export function outputPlace(s: Shape, block: number, i: number, j: number): { register: number; lane: number } {
  if (s.d === 'f64') {
    if (s.m === 4) return { register: 0, lane: 16 * i + 4 * block + j };
    return { register: 2 * Math.floor(i / 4), lane: 16 * (i % 4) + j };
  }
  if (s.m === 32) {
    return { register: 16 * block + 4 * Math.floor(i / 8) + (i % 4), lane: 32 * (Math.floor(i / 4) % 2) + j };
  }
  if (s.m === 16) return { register: 4 * block + (i % 4), lane: 16 * Math.floor(i / 4) + j };
  return { register: i, lane: 4 * block + j };
}

/** Exponent bits, fraction bits, bias. */
function fields(element: ElementName, target: TargetName): [number, number, number] {
  const ocp = target === 'gfx950';
  switch (element) {
    case 'f64':
      return [11, 52, 1023];
    case 'f32':
    case 'xf32':
      return [8, 23, 127];
    case 'f16':
      return [5, 10, 15];
    case 'bf16':
      return [8, 7, 127];
    case 'fp8':
      return [4, 3, ocp ? 7 : 8];
    case 'bf8':
      return [5, 2, ocp ? 15 : 16];
    case 'fp6':
      return [2, 3, 1];
    case 'bf6':
      return [3, 2, 3];
    case 'fp4':
      return [2, 1, 1];
    case 'i8':
      return [0, 8, 0];
  }
}

/** The code of a small integer in an element format. */
export function encodeInteger(value: number, element: ElementName, target: TargetName): bigint {
  if (element === 'i8') return BigInt(value & 255);
  if (value === 0) return 0n;
  const [exponentBits, fraction, bias] = fields(element, target);
  const size = Math.abs(value);
  const exponent = Math.floor(Math.log2(size));
  const mantissa = (BigInt(size) * 2n ** BigInt(fraction)) / 2n ** BigInt(exponent) - 2n ** BigInt(fraction);
  const sign = value < 0 ? 1n : 0n;
  return (((sign << BigInt(exponentBits)) | BigInt(exponent + bias)) << BigInt(fraction)) | mantissa;
}

/** Registers of an operand: 64 lanes a register. */
export class Registers {
  readonly words: Uint32Array;
  constructor(count: number) {
    this.words = new Uint32Array(64 * count);
  }
  put(place: Place, bits: number, code: bigint): void {
    for (let b = 0; b < bits; b++) {
      if (((code >> BigInt(b)) & 1n) === 0n) continue;
      const at = place.bit + b;
      const index = 64 * (at >> 5) + place.lane;
      this.words[index] = ((this.words[index] as number) | (1 << (at & 31))) >>> 0;
    }
  }
}

/** Registers of A, B and D. */
export function registerCounts(s: Shape): { a: number; b: number; d: number } {
  const perLane = (s.m * s.k * s.blocks) / 64;
  return {
    a: Math.max(1, ((s.sparse ? perLane / 2 : perLane) * BITS[s.a]) / 32),
    b: Math.max(1, (perLane * BITS[s.b]) / 32),
    d: ((s.m * s.n * s.blocks) / 64) * (s.d === 'f64' ? 2 : 1),
  };
}

export interface KnownAnswer {
  readonly a: Uint32Array;
  readonly b: Uint32Array;
  readonly c: Uint32Array;
  readonly d: Uint32Array;
  /** Sparse indices, or scales of A. */
  readonly x: Uint32Array;
  /** Scales of B. */
  readonly y: Uint32Array;
}

/** Random small-integer matrices in their registers and the exact product: nothing is rounded anywhere. */
export function knownAnswer(s: Shape, target: TargetName, random: () => number): KnownAnswer {
  const small = (limit: number): number => Math.floor(random() * (2 * limit + 1)) - limit;
  const counts = registerCounts(s);
  const [a, b, c, d] = [counts.a, counts.b, counts.d, counts.d].map((n) => new Registers(n)) as [
    Registers,
    Registers,
    Registers,
    Registers,
  ];
  const x = new Uint32Array(64);
  const y = new Uint32Array(64);
  const scaleBlocks = s.k / 32;
  const powers = (into: Uint32Array): ((row: number, k: number) => number) => {
    if (!s.scaled) return () => 0;
    const table = Array.from({ length: 64 }, () => small(2));
    for (const [lane, power] of table.entries()) into[lane] = 127 + power;
    // Row i, block kb: lane i + rows·kb.
    return (row, k) => table[row + s.m * Math.floor(k / (s.k / scaleBlocks))] as number;
  };
  const powerA = powers(x);
  const powerB = powers(y);
  const number = (value: number): bigint => encodeInteger(value, s.d === 'f64' ? 'f64' : 'f32', target);
  for (let block = 0; block < s.blocks; block++) {
    const rowsA = Array.from({ length: s.m }, (_, i) => rowOfA(s, a, x, block, i, target, small));
    const rowsB = Array.from({ length: s.n }, (_, j) =>
      Array.from({ length: s.k }, (_x, k) => {
        const value = small(4);
        b.put(inputPlace(s, s.b, block, j, k), BITS[s.b], encodeInteger(value, s.b, target));
        return value;
      }),
    );
    for (let i = 0; i < s.m; i++) {
      for (let j = 0; j < s.n; j++) {
        const start = small(100);
        let sum = start;
        for (let k = 0; k < s.k; k++) {
          sum += (rowsA[i]?.[k] as number) * (rowsB[j]?.[k] as number) * 2 ** (powerA(i, k) + powerB(j, k));
        }
        const { register, lane } = outputPlace(s, block, i, j);
        const place = { lane, bit: 32 * register };
        if (s.d === 'i32') {
          c.put(place, 32, BigInt.asUintN(32, BigInt(start)));
          d.put(place, 32, BigInt.asUintN(32, BigInt(sum)));
        } else {
          const width = s.d === 'f64' ? 64 : 32;
          c.put(place, width, number(start));
          d.put(place, width, s.scaled ? scaledNumber(sum) : number(sum));
        }
      }
    }
  }
  return { a: a.words, b: b.words, c: c.words, d: d.words, x, y };
}

/** The f32 of a multiple of 1/16. */
function scaledNumber(value: number): bigint {
  return BigInt(new Uint32Array(Float32Array.of(value).buffer)[0] as number);
}

/** Row i of A, dense or with two of every four elements present. */
function rowOfA(
  s: Shape,
  a: Registers,
  indices: Uint32Array,
  block: number,
  i: number,
  target: TargetName,
  small: (limit: number) => number,
): number[] {
  const row = new Array<number>(s.k).fill(0);
  if (!s.sparse) {
    for (let k = 0; k < s.k; k++) {
      row[k] = small(4);
      a.put(inputPlace(s, s.a, block, i, k), BITS[s.a], encodeInteger(row[k] as number, s.a, target));
    }
    return row;
  }
  const perLane = (s.m * s.k) / 64;
  for (let quad = 0; quad < s.k / 4; quad++) {
    const lane = i + s.m * Math.floor((4 * quad) / perLane);
    const within = quad % (perLane / 4);
    const first = Math.abs(small(2));
    const second = first + 1 + Math.abs(small(2 - first));
    for (const [n, at] of [first, second].entries()) {
      const value = small(4);
      row[4 * quad + at] = value;
      const stored = 2 * within + n;
      a.put({ lane, bit: BITS[s.a] * stored }, BITS[s.a], encodeInteger(value, s.a, target));
      indices[lane] = ((indices[lane] as number) | (at << (4 * within + 2 * n))) >>> 0;
    }
  }
  return row;
}
