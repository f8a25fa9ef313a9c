// The virtual GPU's instructions against AMD's pseudo-code, evaluated by itself: random and edge operands, every difference adjudicated.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { randomNumbers } from '../../src/base/index.ts';
import { type AccessText, compareAccess } from './accesses.ts';
import { ADJUDICATED, NOT_COMPARED } from './adjudicated.ts';
import { compareAtomic } from './atomics.ts';
import { Evaluator } from './evaluate.ts';
import { decode, encode, formatOf, fromNumber, toNumber } from './exact.ts';
import { page } from './page.ts';
import { compareAll, readTexts } from './suite.ts';

const root = join(import.meta.dirname, '../..');
const file = join(root, '../shared/isa/cdna-pseudocode.json');
if (!existsSync(file)) console.warn(`skipped: ${file} is not there (the texts of AMD's documents).`);

const lane = { literal: 0n, truthTable: 0n, lane: 5, vcc: 0n, exec: -1n, scc: false, ieee: true, destination: 0n };

describe('the evaluator', () => {
  it.each([
    ['D0.u32 = (((1U << S0[4 : 0].u32) - 1U) << S1[4 : 0].u32)', [8n, 4n], 0xff0n],
    ['D0.u32[31 : 0] = S0.u32[0 : 31]', [1n], 0x80000000n],
    ["D0.i32 = 32'I(S0.i24) * 32'I(S1.i24)", [0xffffffn, 5n], 0xfffffffbn],
    ['D0.f32 = fma(S0.f32, S1.f32, S2.f32)', [0x3eaaaaabn, 0x40400000n, 0xbf800000n], 0x33000000n],
    ["tmp = -1; for i in 0 : 31 do if S0.u32[i] == 1'1U then tmp = i; break endif endfor; D0.i32 = tmp", [0x40n], 6n],
    ['F = lambda(x, y) ( x > y ? x - y : y - x); D0.u32 = F(S0.u32, S1.u32)', [3n, 10n], 7n],
    ['if S0.f32 == -0.0F then D0.u32 = 1U else D0.u32 = 2U endif', [0n], 2n],
    ["{ D1.u1, D0.u64 } = 65'B(65'U(S0.u64) + 65'U(S1.u64))", [0xffffffffffffffffn, 2n], 1n],
  ] as const)('computes `%s`', (text, sources, expected) => {
    const evaluator = new Evaluator(new Map([['TEXT', text]]));
    expect(evaluator.run('TEXT', { ...lane, sources }).destination).toBe(expected);
  });

  it('says what it cannot read, and what has no text', () => {
    const run = (text: string) => () => new Evaluator(new Map([['TEXT', text]])).run('TEXT', { ...lane, sources: [] });
    expect(run('D0.u32 = = 3U')).toThrow("unexpected '='");
    expect(run('D0.u32 = mystery(3U)')).toThrow('mystery has no text');
  });

  it('rounds as the machine does', () => {
    for (const x of [0.1, 65519, 65520, 5.96e-8, 2.98e-8, 1 / 3, 3.4e38, -0, Infinity]) {
      expect(encode(fromNumber(x), formatOf(32), 'even')).toBe(
        BigInt(new Uint32Array(Float32Array.of(x).buffer)[0] ?? 0),
      );
      expect(toNumber(fromNumber(x))).toBe(x);
    }
    expect(encode(fromNumber(65519), formatOf(16), 'even')).toBe(0x7bffn);
    expect(encode(fromNumber(65520), formatOf(16), 'even')).toBe(0x7c00n);
    expect(encode(fromNumber(70000), formatOf(16), 'zero')).toBe(0x7bffn);
    expect(toNumber(decode(1n, formatOf(16)))).toBe(2 ** -24);
  });
});

describe.skipIf(!existsSync(file))("AMD's pseudo-code", () => {
  it.each(['gfx90a', 'gfx942', 'gfx950'] as const)('agrees with every operation of %s', (target) => {
    const report = compareAll(file, target, 2, 1);
    expect([...report.differing].map(([name, d]) => ({ name, ...d[0] }))).toEqual([]);
    expect(report.compared.size).toBeGreaterThan(690);
  });

  it('is compared in memory, too: a load with the text of another one differs', () => {
    const { accesses, texts } = readTexts(file);
    const [signed, unsigned] = ['DS_READ_I8', 'DS_READ_U8'].map((name) => accesses.get(name) as AccessText);
    const swapped = new Evaluator(new Map([...texts, ['DS_READ_I8', unsigned?.text ?? '']]));
    expect(compareAccess(swapped, signed as AccessText, 'gfx942', randomNumbers(1))?.length).toBeGreaterThan(16);
    const added = new Evaluator(new Map([...texts, ['DS_SUB_RTN_U32', texts.get('DS_ADD_RTN_U32') ?? '']]));
    expect(compareAtomic(added, 'DS_SUB_RTN_U32', 'gfx942', randomNumbers(1))?.length).toBeGreaterThan(16);
  });

  it('is adjudicated where it differs: no entry is without an operation, each changes what is compared', () => {
    const { all, texts } = readTexts(file);
    const names = new Set(all);
    for (const { operations } of ADJUDICATED) expect(operations.filter((o) => !names.has(o))).toEqual([]);
    for (const patterns of Object.values(NOT_COMPARED))
      for (const p of patterns) expect({ [String(p)]: all.some((n) => p.test(n)) }).toEqual({ [String(p)]: true });
    const { pcode } = JSON.parse(readFileSync(file, 'utf8')) as { pcode: Record<string, string> };
    for (const o of ADJUDICATED.flatMap((a) => a.operations))
      expect(Object.entries(pcode).some(([k, t]) => k.includes(`.${o}`) && t !== texts.get(o))).toBe(true);
  });
});

it('has its page', () => {
  expect(readFileSync(join(root, 'docs/pseudocode.md'), 'utf8')).toBe(page());
});
