// What `wavesmith isa` knows: layouts cover the encoding, operands and counters follow from the rows.
import { expect, test } from 'vitest';
import { describeBytes, describeInstruction, listOperations, similarOperations } from './describe.ts';

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
  expect(similarOperations('load 16 dwords', 'gfx942')).toEqual(['s_buffer_load_dwordx16', 's_load_dwordx16']);
  expect(similarOperations('wait for the barrier of a workgroup', 'gfx942')).toContain('s_barrier');
});

test.each([
  ['mfma f64 16x16', ['v_mfma_f64_16x16x4_f64']],
  ['v_mfma*64x4*f64*', []],
  ['s_*prio', ['s_setprio']],
  ['lds swizzle', ['ds_swizzle_b32']],
  ['V_SWAP_B23', ['v_swap_b32']],
  ['', []],
  ['***', []],
])('near matches of %j', (query, names) => {
  expect(similarOperations(query, 'gfx942')).toEqual(names);
});

test.each([
  ['v_add_f32', 'result = src0 + src1  (f32; src0 as f32, src1 as f32)'],
  ['v_cndmask_b32', 'result = carry ? src1 : src0  (i32; src0 as i32, src1 as i32)'],
  ['s_movrels_b32', 'Reads the SGPR at the source’s number plus M0.'],
  [
    'ds_add_rtn_u32',
    'At once, in LDS: memory = memory + data (i32). The old value is returned where the instruction returns one.',
  ],
  ['global_load_ubyte', 'Loads 1 byte from global memory, zero extended to a dword.'],
])('%s in sentences', (name, line) => {
  expect(describeInstruction(name, 'gfx942')?.prose).toContain(line);
});

test('every operation of every target says what it does, without words of the implementation', () => {
  const silent: string[] = [];
  for (const target of ['gfx90a', 'gfx942', 'gfx950'] as const) {
    for (const name of listOperations(target)) {
      const text = describeInstruction(name, target)?.prose.join(' ') ?? '';
      if (text === '' || /structural|undefined|\bparameter\b|\[object/.test(text)) silent.push(`${target} ${name}`);
    }
  }
  expect(silent).toEqual([]);
});

test.each([
  ['v_readfirstlane_b32', 'gfx942', 'e32', '5 wait states before a vector memory instruction reads the SGPRs written.'],
  ['v_exp_f32', 'gfx942', 'e32', '1 wait state before another vector instruction reads the result.'],
  ['buffer_store_dwordx4', 'gfx90a', '', '1 wait state before a vector instruction overwrites the data.'],
  ['s_load_dword', 'gfx942', '', 'only lgkmcnt(0) is sure'],
  ['s_movrels_b32', 'gfx950', '', '1 wait state behind the scalar instruction that writes M0.'],
] as const)('%s on %s brings its waits', (name, target, _form, note) => {
  const hazards = describeInstruction(name, target)?.encodings.flatMap((e) => e.hazards) ?? [];
  expect(
    hazards.some((one) => one.includes(note)),
    hazards.join('\n'),
  ).toBe(true);
});

test('bytes: the instruction, its one encoding, its size; nothing for what is no instruction', () => {
  const dwords = (...words: number[]) => new Uint8Array(Uint32Array.from(words).buffer);
  const found = describeBytes(dwords(0xd1fe0000, 0x04120701, 0), 'gfx942');
  expect(found).toMatchObject({ text: 'v_add_lshl_u32 v0, v1, v3, v4', size: 8 });
  expect(found?.description.encodings.map((e) => e.record)).toEqual(['V_ADD_LSHL_U32_vi']);
  expect(describeBytes(dwords(0xffffffff), 'gfx942')).toBeUndefined();
  expect(describeBytes(dwords(0xd1fe0000), 'gfx942')).toBeUndefined();
});
