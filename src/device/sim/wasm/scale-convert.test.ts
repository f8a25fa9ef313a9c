// Block-scaled conversions on both engines: every code of the small formats, numbers of all sizes, all scales.
import { expect, test } from 'vitest';
import { engineCase } from '../../../../tests/support/engine-compare.ts';
import { expectAgreement, LANES } from '../../../../tests/support/lane-engines.ts';
import { DEFAULT_MODE, parse } from '../../../../tests/support/one-instruction.ts';
import { randomNumbers } from '../../../base/index.ts';
import { encode } from '../../../isa/index.ts';
import { enableRelaxedSimd } from '../../node/v8-flags.ts';
import { compile } from './compile.ts';

enableRelaxedSimd();

const random = randomNumbers(23);
const bits = (): number => Math.floor(random() * 2 ** 32);
const HALVES = [0x3c003c00, 0x7c00fc00, 0x7e01fe01, 0x80000000, 0x00010001, 0x7bff0400];
const WORDS = [0, -0x80000000, 0x7f800000, 0xff800000, 0x7fc00001, 0x7f800001, 1, 0x80000001, 0x43e00000, 0x477fe000];

/** Three words: sources of any bits, of f32 near the small formats, of f16 and special ones; a scale of any exponent. */
function operands(): Uint8Array {
  const words = new Uint32Array(3 * LANES);
  const near = (): number => (((bits() & 1) << 31) | ((112 + (bits() % 32)) << 23) | (bits() & 0x7fffff)) >>> 0;
  const pick = (from: readonly number[]): number => (from[bits() % from.length] as number) >>> 0;
  for (let i = 0; i < LANES; i++) {
    const kind = i % 5;
    for (const n of [0, 1]) {
      words[3 * i + n] = kind < 2 ? bits() : kind === 2 ? near() : kind === 3 ? pick(HALVES) : pick(WORDS);
    }
    words[3 * i + 2] = i % 3 === 0 ? bits() : (((120 + (bits() % 16)) << 23) | (bits() & 0x7fffff)) >>> 0;
  }
  return new Uint8Array(words.buffer);
}

const SMALL = ['fp8', 'bf8', 'fp4'];
const WIDE = ['f32', 'f16', 'bf16'];
const OPERATIONS = [
  ...SMALL.flatMap((small) =>
    WIDE.flatMap((wide) => {
      const width = wide === 'f32' ? 'v[2:3]' : 'v2';
      return [
        `v_cvt_scalef32_pk_${wide}_${small} ${width}, v4, SCALE`,
        wide === 'f32'
          ? `v_cvt_scalef32_pk_${small}_f32 v2, v4, v5, SCALE`
          : `v_cvt_scalef32_pk_${small}_${wide} v2, v4, SCALE`,
      ];
    }),
  ),
  'v_cvt_scalef32_f32_fp8 v2, v4, SCALE',
  'v_cvt_scalef32_f32_bf8 v2, v4, SCALE op_sel:[1,0,0]',
  'v_cvt_scalef32_f16_fp8 v2, v4, SCALE op_sel:[0,1,0,1]',
  'v_cvt_scalef32_f16_bf8 v2, v4, SCALE',
  'v_cvt_scalef32_pk_bf16_fp8 v2, v4, SCALE op_sel:[1,0,0]',
  'v_cvt_scalef32_pk_fp8_f16 v2, v4, SCALE op_sel:[0,0,1]',
  'v_cvt_scalef32_pk_fp4_f32 v2, v4, v5, SCALE op_sel:[0,0,1,1]',
];

test.each(OPERATIONS)('%s', async (operation) => {
  const input = operands();
  for (const scale of ['v6', 's4', '2.0', '1']) {
    const code = `s_mov_b32 s4, 0x40490fdb\n${operation.replace('SCALE', scale)}`;
    await expectAgreement(code, { words: 3, input }, 'gfx950');
  }
});

/** Of 32 elements, of 6 bits, and with seeds. */
const LONG = [
  ...['fp6', 'bf6'].flatMap((six) => [
    `v_cvt_scalef32_2xpk16_${six}_f32 v[40:45], v[4:19], v[20:35], SCALE`,
    ...WIDE.flatMap((wide) => {
      const [source, result] = wide === 'f32' ? ['v[64:95]', 'v[96:127]'] : ['v[64:79]', 'v[96:111]'];
      const plain = wide === 'f32' ? [] : [`v_cvt_scalef32_pk32_${six}_${wide} v[40:45], ${source}, SCALE`];
      return [
        ...plain,
        `v_cvt_scalef32_sr_pk32_${six}_${wide} v[40:45], ${source}, v8, SCALE`,
        `v_cvt_scalef32_pk32_${wide}_${six} ${result}, v[4:9], SCALE`,
      ];
    }),
  ]),
  ...WIDE.flatMap((wide) => [
    `v_cvt_scalef32_sr_pk_fp4_${wide} v2, ${wide === 'f32' ? 'v[4:5]' : 'v4'}, v5, SCALE`,
    `v_cvt_scalef32_sr_fp8_${wide} v2, v4, v5, SCALE`,
    `v_cvt_scalef32_sr_bf8_${wide} v2, v4, v5, SCALE`,
  ]),
];

test.each(['sr_', 'pk32_', '2xpk16_', 'pk_'])('v_cvt_scalef32_%s… on random registers', (prefix) => {
  const only = new RegExp(`^v_cvt_scalef32_${prefix}`);
  let compiled = 0;
  for (let seed = 400_001; seed <= 400_120; seed++) {
    const options = { only, length: 2, mode: DEFAULT_MODE, branches: false };
    const { text, differences, interpreted } = engineCase('gfx950', seed, options);
    expect({ text, differences }).toEqual({ text, differences: [] });
    if (interpreted === 0) compiled++;
  }
  // The others have operands that no assembler takes.
  expect(compiled).toBeGreaterThan(15);
});

test.each([...OPERATIONS, ...LONG])('%s has code of its own', (operation) => {
  const instruction = encode(parse('gfx950', operation.replace('SCALE', 'v6')));
  const image = Uint8Array.from([...instruction, 0, 0, 0x81, 0xbf]);
  const { interpreted } = compile(
    image,
    { pc: 0, mode: DEFAULT_MODE },
    { target: 'gfx950', mfma: 'exact', shared: true },
  );
  expect(interpreted.flat()).toEqual([]);
});
