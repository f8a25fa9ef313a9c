// What `wavesmith isa` knows: layouts cover the encoding, operands and counters follow from the rows.
import { expect, test } from 'vitest';
import { describeInstruction, listOperations, similarOperations } from './describe.ts';

test('every bit of an encoding belongs to one field at most, and operands keep their order', () => {
  for (const name of listOperations('gfx950')) {
    for (const encoding of describeInstruction(name, 'gfx950')!.encodings) {
      let next = 0;
      for (const field of encoding.fields) {
        expect(field.low, `${encoding.record} bit ${field.low}`).toBeGreaterThanOrEqual(next);
        next = field.high + 1;
      }
      expect(next).toBeLessThanOrEqual(encoding.bytes * 8);
    }
  }
});

test('a matrix instruction: passes, register widths, meaning', () => {
  const description = describeInstruction('v_mfma_f32_32x32x8_f16', 'gfx942')!;
  expect(description.meaning[0]).toContain('m 32, n 32, k 8');
  const [first] = description.encodings;
  expect(first).toMatchObject({ encoding: 'VOP3P-MAI', bytes: 8, matrixPasses: 8 });
  expect(first?.operands[0]).toMatchObject({ name: 'vdst', direction: 'out', accepts: 'AGPR ×16 (even)' });
});

test.each<[string, string[]]>([
  ['buffer_load_dword', ['vmcnt']],
  ['ds_read_b32', ['lgkmcnt']],
  ['s_load_dword', ['lgkmcnt']],
  ['flat_load_dword', ['vmcnt', 'lgkmcnt']],
  ['v_add_f32', []],
])('%s increments %j', (name, counters) => {
  expect(describeInstruction(name, 'gfx942')!.encodings[0]?.waitCounters).toEqual(counters);
});

test('an unknown mnemonic has close matches', () => {
  expect(describeInstruction('v_add_f23', 'gfx942')).toBeUndefined();
  expect(similarOperations('v_add_f23', 'gfx942')).toContain('v_add_f32');
  expect(similarOperations('swizzle', 'gfx942')).toEqual(['ds_swizzle_b32']);
});
