// Accesses that are looked at and moved in one go leave what they leave without strict mode. Where the look stops at some lane, TypeScript
// looks and the instruction is executed again: loads may have overwritten their addresses, and lanes of stores may have one address.
import { expect, test } from 'vitest';
import { countedBytes } from '../../../../../tests/support/both-engines.ts';
import fc from '../../../../../tests/support/fast-check.ts';
import { engineRun } from '../../../../../tests/support/strict.ts';

interface Load {
  readonly text: string;
  /** The last register that is written. */
  readonly last: 5 | 7;
  /** Makes of the offset in v5 what the load takes. */
  readonly before?: string;
}

/** v[4:5]: the address of the input plus the offset. */
const WIDE = `v_add_co_u32_e32 v4, vcc, s4, v5
v_mov_b32_e32 v7, s5
v_addc_co_u32_e32 v5, vcc, 0, v7, vcc`;
/** s[8:11]: the input as a buffer, of which the last bytes are out of range. */
const BUFFER = 's_mov_b32 s8, s4\ns_mov_b32 s9, s5\ns_movk_i32 s10, 0x258\ns_mov_b32 s11, 0x27000';
/** The same in elements of 16 bytes, and their numbers in v5. */
const ELEMENTS = `${BUFFER}\ns_or_b32 s9, s9, 0x100000\ns_movk_i32 s10, 38\nv_lshrrev_b32_e32 v5, 4, v5`;

/** Loads of v5, or of what begins or ends there, from addresses in v5 or v[4:5]. */
const LOADS: readonly Load[] = [
  { text: 'ds_read_b32 v5, v5', last: 5 },
  { text: 'ds_read_b64 v[4:5], v5', last: 5 },
  { text: 'ds_read_b128 v[4:7], v5', last: 7 },
  { text: 'ds_read_u16 v5, v5', last: 5 },
  { text: 'ds_read2_b32 v[4:5], v5 offset1:3', last: 5 },
  { text: 'ds_read2_b32 v[4:5], v5 offset1:1', last: 5 },
  { text: 'ds_read2_b64 v[4:7], v5 offset1:3', last: 7 },
  { text: 'global_load_dword v5, v5, s[4:5]', last: 5 },
  { text: 'global_load_dwordx2 v[4:5], v5, s[4:5]', last: 5 },
  { text: 'global_load_dwordx4 v[4:7], v5, s[4:5]', last: 7 },
  { text: 'global_load_ubyte v5, v5, s[4:5]', last: 5 },
  { text: 'global_load_short_d16_hi v5, v5, s[4:5]', last: 5 },
  { text: 'global_load_dword v4, v[4:5], off', last: 5, before: WIDE },
  { text: 'global_load_dword v5, v[4:5], off', last: 5, before: WIDE },
  { text: 'global_load_dwordx2 v[4:5], v[4:5], off', last: 5, before: WIDE },
  { text: 'global_load_dwordx3 v[4:6], v[4:5], off', last: 5, before: WIDE },
  { text: 'flat_load_dword v5, v[4:5]', last: 5, before: WIDE },
  { text: 'buffer_load_dword v5, v5, s[8:11], 0 offen', last: 5, before: BUFFER },
  { text: 'buffer_load_dwordx2 v[4:5], v5, s[8:11], 0 offen', last: 5, before: BUFFER },
  { text: 'buffer_load_dwordx4 v[4:7], v5, s[8:11], 0 offen', last: 7, before: BUFFER },
  { text: 'buffer_load_ushort v5, v5, s[8:11], 0 offen', last: 5, before: BUFFER },
  { text: 'buffer_load_dword v5, v5, s[8:11], 0 idxen', last: 5, before: ELEMENTS },
  { text: 'buffer_load_dwordx2 v[4:5], v[4:5], s[8:11], 0 idxen offen', last: 5, before: BUFFER },
];

const TARGETS = ['gfx90a', 'gfx942', 'gfx950'] as const;
type Target = (typeof TARGETS)[number];

const INPUT_BYTES = 1024;

/** What a kernel stores behind the input, of which the first bytes are written, and the rules that are found by `strict`, an engine. */
async function outputOf(
  target: Target,
  code: string,
  written: number,
  strict: 'compiled' | 'interpreter' | undefined,
  workgroups = 1,
): Promise<[Uint8Array, string[]]> {
  const { findings, bytes } = await engineRun(`s_add_u32 s6, s4, ${INPUT_BYTES}\ns_addc_u32 s7, s5, 0\n${code}`, {
    target,
    grid: [workgroups, 1, 1],
    lds: 2 * INPUT_BYTES,
    bufferBytes: 2 * INPUT_BYTES,
    input: [[0, countedBytes(written)]],
    ...(strict === undefined ? { isPlain: true } : { engine: strict }),
  });
  return [bytes.slice(INPUT_BYTES), findings.map(({ rule }) => rule)];
}

/** How the lanes' elements lie: one after the other, apart, or anywhere. */
const FACTORS = [1, 2, 5, 33] as const;

test('a load that is executed again reads the same addresses', async () => {
  let stopped = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        target: fc.constantFrom(...TARGETS),
        load: fc.constantFrom(...LOADS),
        factor: fc.constantFrom(...FACTORS),
        // So many lanes, as a power of two, have one element.
        shared: fc.constantFrom(0, 0, 2, 3),
        exec: fc.tuple(fc.constantFrom(-1, 0x7ffffffe, 0x0f0ff0f1), fc.constantFrom(-1, 0x3fffffff)),
        // Elements from here on have not been written.
        written: fc.nat(63),
      }),
      async ({ target, load, factor, shared, exec, written }) => {
        const code = `v_mbcnt_lo_u32_b32 v4, -1, 0
v_mbcnt_hi_u32_b32 v4, -1, v4
v_lshlrev_b32_e32 v6, 4, v4
v_mul_u32_u24_e32 v8, 0x10203, v4
v_mov_b32_e32 v9, v8
v_add_u32_e32 v10, 7, v8
v_add_u32_e32 v11, 9, v8
v_cmp_gt_u32_e32 vcc, ${written}, v4
s_and_b64 exec, exec, vcc
s_nop 4
ds_write_b128 v6, v[8:11]
s_mov_b64 exec, -1
s_waitcnt lgkmcnt(0)
v_mov_b32_e32 v7, 0
v_mov_b32_e32 v12, v4
v_lshrrev_b32_e32 v5, ${shared}, v4
v_mul_u32_u24_e32 v5, ${factor}, v5
v_and_b32_e32 v5, 63, v5
v_lshlrev_b32_e32 v5, 4, v5
${load.before ?? ''}
s_mov_b32 exec_lo, ${exec[0]}
s_mov_b32 exec_hi, ${exec[1]}
s_nop 4
${load.text}
s_mov_b64 exec, -1
s_waitcnt vmcnt(0) lgkmcnt(0)
v_lshlrev_b32_e32 v12, 4, v12
v_mov_b32_e32 v13, 0
${load.last === 7 ? 'global_store_dwordx4 v12, v[4:7], s[6:7]' : 'global_store_dwordx2 v12, v[4:5], s[6:7]'}`;
        const [[strict, rules], [plain], [interpreted]] = [
          await outputOf(target, code, 16 * written, 'compiled'),
          await outputOf(target, code, 16 * written, undefined),
          await outputOf(target, code, 16 * written, 'interpreter'),
        ];
        expect(strict).toEqual(plain);
        expect(plain).toEqual(interpreted);
        stopped += rules.length;
      },
    ),
    { numRuns: 150 },
  );
  expect(stopped).toBeGreaterThan(0);
});

const STORES = [
  'ds_write_b32 v5, v8',
  'ds_write2_b32 v5, v8, v9 offset1:1',
  'ds_write2_b32 v5, v8, v9 offset1:7',
  'ds_write2st64_b32 v5, v8, v9 offset1:2',
] as const;

test('stores to LDS leave what they leave without strict mode', async () => {
  let stopped = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        target: fc.constantFrom(...TARGETS),
        stores: fc.array(fc.constantFrom(...STORES), { minLength: 1, maxLength: 3 }),
        factor: fc.constantFrom(0, 1, 1, 2, 33, 63),
        // Elements are moved on, or their places exchanged.
        more: fc.nat(40),
        flip: fc.constantFrom(0, 0, 1, 31, 32),
        exec: fc.tuple(fc.constantFrom(-1, 0x7ffffffe, 0x0f0ff0f1), fc.constantFrom(-1, 0, 0x3fffffff)),
      }),
      async ({ target, stores, factor, more, flip, exec }) => {
        const code = `v_mbcnt_lo_u32_b32 v4, -1, 0
v_mbcnt_hi_u32_b32 v4, -1, v4
v_lshlrev_b32_e32 v6, 4, v4
v_mov_b32_e32 v8, v4
v_mov_b32_e32 v9, v4
v_mov_b32_e32 v10, v4
v_mov_b32_e32 v11, v4
ds_write_b128 v6, v[8:11]
ds_write_b128 v6, v[8:11] offset:1024
s_waitcnt lgkmcnt(0)
v_mul_u32_u24_e32 v8, 0x10203, v4
v_add_u32_e32 v9, 7, v8
v_mul_u32_u24_e32 v5, ${factor}, v4
v_add_u32_e32 v5, ${more}, v5
v_xor_b32_e32 v5, ${flip}, v5
v_and_b32_e32 v5, 0x7f, v5
v_lshlrev_b32_e32 v5, 2, v5
s_mov_b32 exec_lo, ${exec[0]}
s_mov_b32 exec_hi, ${exec[1]}
s_nop 4
${stores.join('\n')}
s_mov_b64 exec, -1
s_waitcnt lgkmcnt(0)
ds_read_b128 v[8:11], v6
s_waitcnt lgkmcnt(0)
global_store_dwordx4 v6, v[8:11], s[6:7]`;
        const [[strict, rules], [plain]] = [
          await outputOf(target, code, INPUT_BYTES, 'compiled'),
          await outputOf(target, code, INPUT_BYTES, undefined),
        ];
        expect(strict).toEqual(plain);
        stopped += rules.length;
      },
    ),
    { numRuns: 60 },
  );
  expect(stopped).toBeGreaterThan(0);
});

const WIDE_STORE = `v_add_co_u32_e32 v10, vcc, s6, v5
v_mov_b32_e32 v7, s7
v_addc_co_u32_e32 v11, vcc, 0, v7, vcc`;
const BUFFER_STORE = 's_mov_b32 s8, s6\ns_mov_b32 s9, s7\ns_movk_i32 s10, 0x258\ns_mov_b32 s11, 0x27000';
/** Stores of v8 to the offsets in v5 from s[6:7]. */
const GLOBAL_STORES: readonly { readonly text: string; readonly before: string }[] = [
  { text: 'global_store_dword v5, v8, s[6:7]', before: '' },
  { text: 'global_store_dword v[10:11], v8, off', before: WIDE_STORE },
  { text: 'flat_store_dword v[10:11], v8', before: WIDE_STORE },
  { text: 'buffer_store_dword v8, v5, s[8:11], 0 offen', before: BUFFER_STORE },
];

test('stores to global memory leave what they leave without strict mode, and are found to be wrong as on the interpreter', async () => {
  const rulesOf = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        target: fc.constantFrom(...TARGETS),
        stores: fc.array(fc.constantFrom(...GLOBAL_STORES), { minLength: 1, maxLength: 2 }),
        factor: fc.constantFrom(0, 1, 1, 5, 31, 33, 64),
        more: fc.nat(40),
        flip: fc.constantFrom(0, 0, 1, 31, 32),
        exec: fc.tuple(fc.constantFrom(-1, 0x7ffffffe, 0x0f0ff0f1), fc.constantFrom(-1, 0, 0x3fffffff)),
        // Workgroups have every other dword, or each what follows that of the one before, or the same.
        spread: fc.constantFrom('v_lshl_add_u32 v5, v5, 1, s2', 'v_lshl_add_u32 v5, s2, 6, v5', 's_nop 0'),
        isWritten: fc.boolean(),
      }),
      async ({ target, stores, factor, more, flip, exec, spread, isWritten }) => {
        const code = `v_mbcnt_lo_u32_b32 v4, -1, 0
v_mbcnt_hi_u32_b32 v4, -1, v4
v_mul_u32_u24_e32 v8, 0x10203, v4
v_mul_u32_u24_e32 v5, ${factor}, v4
v_add_u32_e32 v5, ${more}, v5
v_xor_b32_e32 v5, ${flip}, v5
v_and_b32_e32 v5, 63, v5
${spread}
v_lshlrev_b32_e32 v5, 2, v5
s_mov_b32 exec_lo, ${exec[0]}
s_mov_b32 exec_hi, ${exec[1]}
s_nop 4
${stores.map(({ before, text }) => `${before}\n${text}\nv_add_u32_e32 v8, 1, v8`).join('\n')}`;
        const run = (engine?: 'compiled' | 'interpreter') =>
          outputOf(target, code, isWritten ? 2 * INPUT_BYTES : 0, engine, 2);
        const [strict, rules] = await run('compiled');
        const [interpreted, expected] = await run('interpreter');
        const [plain] = await run();
        expect(strict).toEqual(plain);
        expect(interpreted).toEqual(plain);
        for (const rule of rules) expect(expected).toContain(rule);
        for (const rule of expected) rulesOf.set(rule, (rulesOf.get(rule) ?? 0) + (rules.includes(rule) ? 0 : 1));
      },
    ),
    { numRuns: 80 },
  );
  // Lanes whose addresses share a slot of the table can hide each other (compiled/lanes.ts).
  expect([...rulesOf.keys()].sort()).toEqual(['races/global', 'races/lanes']);
  for (const missed of rulesOf.values()) expect(missed).toBeLessThan(5);
});
