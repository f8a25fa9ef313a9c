// Vector instructions whose registers s_set_gpr_idx moves, with values in some lanes and loads under way: what compiled code finds is what the interpreter finds.
import { expect, test } from 'vitest';
import fc from '../../../../../tests/support/fast-check.ts';
import { engineRun } from '../../../../../tests/support/strict.ts';

/** Of v8 to v15, which M0 moves by up to eight; sources may be the same, or what is written, too. */
const MOVED = [
  'v_mov_b32_e32 v8, v9',
  'v_mov_b32_e32 v9, v9',
  'v_mov_b32_e32 v8, 1.0',
  'v_mov_b32_e32 v8, s8',
  'v_mov_b64_e32 v[8:9], v[10:11]',
  'v_mov_b32_sdwa v8, v9 dst_sel:WORD_0 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1',
  'v_mov_b32_dpp v8, v9 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf',
  'v_add_u32_e32 v8, v9, v10',
  'v_add_u32_e32 v9, v9, v9',
  'v_add_f16_e32 v8, v9, v10',
  'v_pk_add_f16 v8, v9, v10',
  'v_fma_f32 v8, v9, v10, v11',
  'v_fmac_f32_e32 v8, v9, v10',
  'v_fmac_f32_e32 v9, v9, v10',
  'v_pk_fmac_f16 v9, v9, v10',
  'v_lshlrev_b64 v[8:9], 3, v[10:11]',
  'v_cndmask_b32_e32 v8, v9, v10, vcc',
  'v_addc_co_u32_e32 v8, vcc, v9, v10, vcc',
  'v_cmp_eq_u32_e32 vcc, v8, v9',
  'v_cmp_lt_f32_e64 s[10:11], v8, v9',
  'v_swap_b32 v8, v9',
  'v_readlane_b32 s8, v9, 3',
  'v_writelane_b32 v8, s8, 5',
  'v_readfirstlane_b32 s8, v9',
  'v_accvgpr_write_b32 a0, v9',
  'v_accvgpr_read_b32 v8, a0',
] as const;

type Step =
  | { readonly kind: 'define'; readonly register: number; readonly exec: readonly [number, number] }
  | { readonly kind: 'load'; readonly register: number }
  | { readonly kind: 'wait' }
  | { readonly kind: 'exec'; readonly exec: readonly [number, number] }
  | { readonly kind: 'moved'; readonly by: number; readonly operands: number; readonly list: readonly string[] };

const exec = fc.oneof(
  { weight: 3, arbitrary: fc.constant([-1, -1] as const) },
  fc.tuple(fc.constantFrom(-1, 0xff, 1, 0), fc.constantFrom(-1, 0, 0xf0)),
);
const register = fc.integer({ min: 8, max: 24 });
const moved = fc.record({
  kind: fc.constant('moved' as const),
  by: fc.constantFrom(0, 1, 1, 2, 2, 3, 4, 5, 8, 8, 15, 16, 250),
  operands: fc.integer({ min: 0, max: 15 }),
  list: fc.array(fc.constantFrom(...MOVED), { minLength: 1, maxLength: 3 }),
});
const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('define' as const), register, exec }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('load' as const), register }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('exec' as const), exec }) },
    { weight: 5, arbitrary: moved },
  ),
  { minLength: 2, maxLength: 10 },
);

/** What is written is read, too, where M0 moves it: a register without a value. */
const SUM = { kind: 'moved' as const, by: 4 as const, operands: 8, list: ['v_pk_fmac_f16 v9, v9, v10' as const] };

const setExec = ([low, high]: readonly [number, number]): string =>
  `s_mov_b32 exec_lo, ${low}\ns_mov_b32 exec_hi, ${high}\ns_nop 4`;

function textOf(step: Step): string {
  switch (step.kind) {
    case 'define':
      return `${setExec(step.exec)}\nv_mov_b32_e32 v${step.register}, ${step.register}\ns_mov_b64 exec, -1`;
    case 'load':
      return `global_load_dword v${step.register}, v1, s[4:5]`;
    case 'wait':
      return 's_waitcnt vmcnt(0)';
    case 'exec':
      return setExec(step.exec);
    case 'moved':
      return `s_movk_i32 s6, ${step.by}\ns_set_gpr_idx_on s6, ${step.operands}\ns_nop 4\n${step.list.join('\ns_nop 4\n')}\ns_set_gpr_idx_off\ns_nop 4`;
  }
}

/** Some registers have values. */
const BEGIN = `s_mov_b32 s8, 7
s_mov_b64 vcc, 5
${[8, 9, 10, 11, 16, 17].map((v) => `v_mov_b32_e32 v${v}, ${v}`).join('\n')}`;
/** All are looked at, in some lanes first. */
const END = `s_mov_b64 exec, -1
s_waitcnt vmcnt(0)
${[0xff, -1].map((lanes) => `s_mov_b64 exec, ${lanes}\n${Array.from({ length: 20 }, (_, n) => `global_store_dword v1, v${8 + n}, s[4:5]`).join('\n')}`).join('\n')}
s_waitcnt vmcnt(0)`;

test('registers that s_set_gpr_idx moves are found to be wrong as on the interpreter', async () => {
  const found = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const code = [BEGIN, ...list.map(textOf), END].join('\n');
      const runs = await Promise.all(
        (['interpreter', 'compiled'] as const).map((engine) =>
          engineRun(code, {
            engine,
            bufferBytes: 2048,
            descriptor: { next_free_vgpr: 264, accum_offset: 256 },
          }),
        ),
      );
      const [expected, other] = runs.map(({ findings, bytes }) => ({
        findings: findings.map(({ rule, place, registers }) => ({ rule, pc: place.pc, registers })),
        bytes,
      }));
      expect(other).toEqual(expected);
      for (const { rule } of expected?.findings ?? []) found.set(rule, (found.get(rule) ?? 0) + 1);
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 300), examples: [[[SUM]]] },
  );
  expect(found.get('registers/uninitialised') ?? 0).toBeGreaterThan(20);
  expect(found.get('waits/read-before-return') ?? 0).toBeGreaterThan(2);
});
