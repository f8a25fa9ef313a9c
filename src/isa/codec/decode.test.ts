import { describe, expect, test } from 'vitest';
import fc from '../../../tests/support/fast-check.ts';
import { operandIndex } from '../operand.ts';
import { printerFor } from '../print/print.ts';
import { tableFor } from '../table/table.ts';
import { TARGET_NAMES } from '../table/target-names.ts';
import type { Immediate, Literal, TargetName } from '../types.ts';
import { FAMILY_CASES, SPECIAL_CASES } from './decode.cases.ts';
import { decoderFor } from './decode.ts';

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function textOf(target: TargetName, bytes: Uint8Array): string {
  const instruction = decoderFor(target).decode(bytes, 0);
  return instruction === undefined ? '' : printerFor(target).print(instruction);
}

function decodeHex(target: TargetName, hex: string) {
  const instruction = decoderFor(target).decode(bytesOf(hex), 0);
  if (instruction === undefined) throw new Error(`${hex} does not decode`);
  const at = (name: string) => instruction.operands[operandIndex(instruction.row, name)];
  return { instruction, at };
}

describe('decode and print', () => {
  test.each(FAMILY_CASES)('%s %s %s is `%s`', (target, encoding, hex, text) => {
    const { instruction } = decodeHex(target, hex);
    expect(printerFor(target).print(instruction)).toBe(text);
    expect(instruction.row.encoding).toBe(encoding);
    expect(instruction.size).toBe(hex.length / 2);
  });

  test.each(SPECIAL_CASES)('%s %s: %s is `%s`', (target, _what, hex, text) => {
    expect(textOf(target, bytesOf(hex))).toBe(text);
  });

  test('every family of every target has a case', () => {
    for (const target of TARGET_NAMES) {
      const families = new Set(tableFor(target).rows.map((row) => row.encoding));
      const covered = new Set(FAMILY_CASES.filter(([t]) => t === target).map(([, encoding]) => encoding));
      expect([...families].filter((family) => !covered.has(family))).toEqual([]);
    }
  });
});

describe('truncated input', () => {
  test('an 8-byte instruction needs 8 bytes', () => {
    const bytes = bytesOf('000001d1f2020420');
    for (let end = 0; end < 8; end++) expect(decoderFor('gfx942').decode(bytes, 0, end)).toBeUndefined();
    expect(decoderFor('gfx942').decode(bytes, 0, 8)?.size).toBe(8);
  });

  test('a literal that is cut off makes no instruction', () => {
    expect(decoderFor('gfx942').decode(bytesOf('ff040a020000'), 0)).toBeUndefined();
    expect(decoderFor('gfx942').decode(bytesOf('ff040a0200000000'), 0)?.size).toBe(8);
  });

  test('a VOP3 literal exists only on gfx950, which looks at 16 bytes', () => {
    const bytes = bytesOf('000001d1ff02040078563412');
    expect(decoderFor('gfx950').decode(bytes, 0)?.size).toBe(12);
    expect(decoderFor('gfx942').decode(bytes, 0)).toBeUndefined();
  });

  test('decoding starts at the offset', () => {
    const bytes = bytesOf('000080bf000081bf');
    const second = decoderFor('gfx90a').decode(bytes, 4);
    expect(second?.row.mnemonic).toBe('s_endpgm');
  });
});

describe('operand values', () => {
  test('signed fields are signed', () => {
    expect((decodeHex('gfx942', 'ffff82bf').at('simm16') as Immediate).value).toBe(-1);
    expect((decodeHex('gfx942', 'ff9f50dc0200ff01').at('offset') as Immediate).value).toBe(-1);
  });

  test('op_sel mirrors the source modifiers, the destination in bit 3', () => {
    const { at } = decodeHex('gfx90a', '00b8f2d124018306');
    expect((at('op_sel') as Immediate).value).toBe(0b0111);
  });

  test('tied operands are the same register', () => {
    const { instruction, at } = decodeHex('gfx942', 'fa02027e021b00ff');
    expect(at('old')).toBe(instruction.operands[0]);
  });

  test('memory data follows vdst into the AGPR file', () => {
    const { at } = decodeHex('gfx90a', '609a1ddd8c00ff98');
    expect(at('vdata')).toMatchObject({ file: 'a', index: 0 });
  });

  test('an atomic that returns has glc in its cache policy', () => {
    const { at } = decodeHex('gfx90a', '6f0429dda45400c0');
    expect((at('cpol') as Immediate).value & 1).toBe(1);
  });

  test('a constant that LLVM shows wrongly keeps its value', () => {
    const constant = decodeHex('gfx942', 'ffb5962f80000000').at('imm') as Literal;
    expect(constant).toMatchObject({ bits: 0x80, shown: 0 });
  });

  test('dmask and d16 give the width of image data', () => {
    const wide = decodeHex('gfx90a', '000f00f008040200');
    expect(wide.at('vdata')).toMatchObject({ index: 4, dwords: 4 });
    expect(wide.instruction.row.name).toBe('IMAGE_LOAD_V4_V1_gfx90a');
  });

  test('cbsz and blgp pick the widths of F8F6F4 matrices', () => {
    const { instruction, at } = decodeHex('gfx950', '0004add304195284');
    expect(at('src0')).toMatchObject({ dwords: 4 });
    expect(at('src1')).toMatchObject({ dwords: 4 });
    expect(instruction.row.name).toContain('_f4_f4_');
  });
});

test.each(TARGET_NAMES)('%s: any bytes decode to an instruction that prints, or to nothing', (target) => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 0, maxLength: 20 }), (bytes) => {
      const instruction = decoderFor(target).decode(bytes, 0);
      if (instruction === undefined) return;
      expect(instruction.size).toBeLessThanOrEqual(bytes.length);
      expect(instruction.operands).toHaveLength(instruction.row.operands.length);
      expect(instruction.operands.every((operand) => operand !== undefined)).toBe(true);
      expect(printerFor(target).print(instruction).startsWith(instruction.row.mnemonic)).toBe(true);
    }),
    { numRuns: 5000 },
  );
});
