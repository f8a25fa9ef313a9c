import { describe, expect, it, test } from 'vitest';
import { placesOf } from '../../../../../tests/support/both-engines.ts';
import fc from '../../../../../tests/support/fast-check.ts';
import { kernelObject } from '../../../../../tests/support/kernel-source.ts';
import { strictFindings } from '../../../../../tests/support/strict.ts';
import { SimModule } from '../../module.ts';
import { DeviceMemory } from '../../state/memory.ts';
import { quietLoads } from './quiet-loads.ts';

const TARGETS = ['gfx90a', 'gfx942', 'gfx950'] as const;
type Target = (typeof TARGETS)[number];

/** Runs two workgroups of two wavefronts; v3 is the lane, v4 the work-item, s10 the wavefront. Returns `rule place` of each finding. */
async function findingsOf(target: Target, code: string, engine: 'compiled' | 'interpreter'): Promise<string[]> {
  const begin = `v_mbcnt_lo_u32_b32 v3, -1, 0
v_mbcnt_hi_u32_b32 v3, -1, v3
v_and_b32_e32 v4, 0x3ff, v0
s_nop 4
v_readfirstlane_b32 s10, v4
s_lshr_b32 s10, s10, 6
v_lshl_add_u32 v1, s2, 7, v4
v_lshlrev_b32_e32 v1, 2, v1
v_mov_b32_e32 v12, 0`;
  const findings = await strictFindings(`${begin}\n${code}\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v12, s[4:5]`, {
    target,
    descriptor: { next_free_vgpr: 16, accum_offset: 16 },
    grid: [2, 1, 1],
    block: [128, 1, 1],
    lds: 8192,
    bufferBytes: 4096,
    written: 0,
    engine,
  });
  return placesOf({ findings });
}

const WRITE = 'v_lshlrev_b32_e32 v5, 2, v4\nds_write_b32 v5, v4';
const READ = 'v_lshlrev_b32_e32 v5, 2, v4\nds_read_b32 v6, v5 offset:8';
const MEET = 's_waitcnt lgkmcnt(0)\ns_barrier';

describe('quietLoads', () => {
  /** How many of a kernel's loads are quiet. */
  const CODES: readonly (readonly [name: string, code: string, quiet: number])[] = [
    ['a tile that is filled before', `${WRITE}\n${MEET}\n${READ}\n${READ}`, 2],
    ['a store in the interval', `${MEET}\n${READ}\n${WRITE}\n${READ}`, 0],
    ['a store in one of two intervals', `${READ}\n${MEET}\n${READ}\n${MEET}\n${WRITE}\n${READ}`, 2],
    ['a loop without a barrier behind the loads', `.Lloop:\n${WRITE}\n${MEET}\n${READ}\ns_cbranch_scc1 .Lloop`, 0],
    ['a loop with both barriers', `.Lloop:\n${WRITE}\n${MEET}\n${READ}\n${MEET}\ns_cbranch_scc1 .Lloop`, 1],
    [
      'a store on another way',
      `${MEET}\ns_cbranch_scc1 .Lelse\n${READ}\ns_branch .Ljoin\n.Lelse:\n${WRITE}\n.Ljoin:`,
      0,
    ],
    ['a barrier before it has come back', `${WRITE}\n${MEET}\n${READ}\n${READ}\ns_barrier\n${WRITE}`, 0],
    [
      'a barrier before the last one may have come back',
      `${WRITE}\n${MEET}\n${READ}\ns_waitcnt lgkmcnt(1)\ns_barrier`,
      0,
    ],
    [
      'a way to a barrier without a wait',
      `${MEET}\n${READ}\ns_cbranch_scc1 .Lmeet\ns_waitcnt lgkmcnt(0)\n.Lmeet:\ns_barrier`,
      0,
    ],
    ['a wait in front of another load', `${MEET}\n${READ}\n${MEET}\n${READ}\ns_barrier`, 1],
    ['an atomic of LDS', `${MEET}\n${READ}\nds_add_u32 v5, v4`, 0],
    ['a flat store', `${MEET}\n${READ}\nflat_store_dword v[8:9], v4`, 0],
    ['a load from memory into LDS', `${MEET}\n${READ}\ns_mov_b32 m0, 0\nbuffer_load_dword off, s[8:11], 0 lds`, 0],
    ['an append', `${MEET}\n${READ}\nds_append v7`, 0],
    ['what only moves lanes', `${MEET}\n${READ}\nds_bpermute_b32 v7, v5, v4\nds_swizzle_b32 v7, v4 offset:0x401f`, 1],
    ['flat loads', `${MEET}\n${READ}\nflat_load_dword v7, v[8:9]`, 1],
    ['a jump to a computed address', `${MEET}\n${READ}\ns_getpc_b64 s[12:13]\ns_setpc_b64 s[12:13]`, 0],
  ];
  it.each(CODES)('should know of %s', (_, code, quiet) => {
    const object = kernelObject({
      target: 'gfx942',
      code,
      descriptor: { next_free_vgpr: 16, accum_offset: 16, next_free_sgpr: 32 },
    });
    const { loaded, kernels } = SimModule.load(new DeviceMemory(), 'gfx942', object);
    expect(quietLoads(loaded, kernels[0]?.entry as number).size).toBe(quiet);
  });
});

/** What a wavefront does: v5 is made of the work-item or the lane, and `who` has it: both wavefronts, or the first or second one alone. */
interface Step {
  readonly kind: keyof typeof TEXTS;
  readonly isShared: boolean;
  readonly more: number;
  readonly who: 'both' | 'first' | 'second';
}

/** v[14:15]: the flat address of what is in LDS at a register. */
const flat = (register: string): string =>
  `s_mov_b64 s[12:13], src_shared_base\nv_mov_b32_e32 v14, ${register}\nv_mov_b32_e32 v15, s13`;

const TEXTS = {
  write: 'ds_write_b32 v5, v4',
  'write wide': 'ds_write_b64 v5, v[4:5]',
  read: 'ds_read_b32 v6, v5\ns_waitcnt lgkmcnt(0)\nv_add_u32_e32 v12, v6, v12',
  'read without a wait': 'ds_read_b32 v6, v5',
  'read a pair without a wait': 'ds_read2_b32 v[6:7], v5 offset1:5',
  'read four without a wait': 'ds_read_b128 v[8:11], v5',
  'read wide': 'ds_read_b128 v[8:11], v5\ns_waitcnt lgkmcnt(0)\nv_add_u32_e32 v12, v11, v12',
  'read a byte': 'ds_read_u8 v6, v5 offset:1\ns_waitcnt lgkmcnt(0)\nv_add_u32_e32 v12, v6, v12',
  'read two bytes': 'ds_read_u16 v6, v5 offset:2\ns_waitcnt lgkmcnt(0)\nv_add_u32_e32 v12, v6, v12',
  // Lanes in no order, across dwords of which one may not be written.
  'read two bytes of two dwords':
    'v_bfrev_b32_e32 v7, v3\nv_lshrrev_b32_e32 v7, 24, v7\nv_lshlrev_b32_e32 v7, 4, v7\nds_read_u16 v6, v7 offset:3\ns_waitcnt lgkmcnt(0)\nv_add_u32_e32 v12, v6, v12',
  'read flat': `${flat('v5')}\nflat_load_dword v6, v[14:15]\ns_waitcnt vmcnt(0) lgkmcnt(0)\nv_add_u32_e32 v12, v6, v12`,
  'read flat without a wait': `${flat('v5')}\nflat_load_dword v6, v[14:15]`,
  'read four flat, and wait for LDS': `${flat('v5')}\nflat_load_dwordx4 v[8:11], v[14:15]\ns_waitcnt lgkmcnt(0)`,
  'read LDS or memory without a wait': `${flat('v5')}
s_mov_b32 vcc_lo, 0xf0f0
s_mov_b32 vcc_hi, 0
v_mov_b32_e32 v7, s4
v_cndmask_b32_e32 v14, v7, v14, vcc
v_mov_b32_e32 v7, s5
v_cndmask_b32_e32 v15, v7, v15, vcc
flat_load_dword v6, v[14:15]`,
  atomic: 'ds_add_u32 v5, v4',
  meet: 's_waitcnt lgkmcnt(0)\ns_barrier',
  'meet without a wait': 's_barrier',
  'wait but for the last': 's_waitcnt lgkmcnt(1)',
  'meet at two places':
    's_waitcnt lgkmcnt(0)\ns_cmp_eq_u32 s10, 0\ns_cbranch_scc1 .Lfirst@\ns_barrier\ns_branch .Lmet@\n.Lfirst@:\ns_barrier\n.Lmet@:',
  'read and write behind two barriers':
    's_waitcnt lgkmcnt(0)\ns_cmp_eq_u32 s10, 0\ns_cbranch_scc1 .Lreads@\ns_barrier\nds_write_b32 v5, v4\ns_branch .Lboth@\n.Lreads@:\ns_barrier\nds_read_b32 v6, v5\n.Lboth@:\ns_waitcnt lgkmcnt(0)\ns_barrier',
} as const;

function textOf({ kind, isShared, more, who }: Step, n: number): string {
  const text = TEXTS[kind].replaceAll('@', `${n}`);
  if (/^meet|^wait/.test(kind)) return text;
  const place = `v_add_u32_e32 v5, ${more}, ${isShared ? 'v3' : 'v4'}\nv_lshlrev_b32_e32 v5, 4, v5`;
  if (who === 'both' || kind === 'read and write behind two barriers') return `${place}\n${text}`;
  return `s_cmp_eq_u32 s10, ${who === 'first' ? 1 : 0}\ns_cbranch_scc1 .Lnot${n}\n${place}\n${text}\n.Lnot${n}:`;
}

/** Writes all that the steps can reach. */
const FILL = `v_lshlrev_b32_e32 v5, 4, v4
${[8, 9, 10, 11].map((n) => `v_mov_b32_e32 v${n}, v4`).join('\n')}
ds_write_b128 v5, v[8:11]
ds_write_b128 v5, v[8:11] offset:2048
${MEET}`;

describe('a load that is outstanding at a barrier', () => {
  const AT = (first: string) => `v_lshlrev_b32_e32 v5, 2, ${first}`;
  /** Of the first wavefront alone, and the second one. */
  const only = (who: 0 | 1, n: number, text: string): string =>
    `s_cmp_eq_u32 s10, ${1 - who}\ns_cbranch_scc1 .Lnot${n}\n${text}\n.Lnot${n}:`;
  const OVERWRITE = only(1, 9, `${AT('v3')}\nds_write_b32 v5, v4`);
  it.each([
    [
      'of what the wavefront has read before',
      `${only(0, 1, `${AT('v3')}\nds_read_b32 v6, v5\ns_waitcnt lgkmcnt(0)\nds_read_b32 v7, v5`)}\ns_barrier\n${OVERWRITE}`,
      true,
    ],
    [
      'of what another one has read before, and one has waited for',
      `${AT('v3')}\nds_read_b32 v6, v5\ns_waitcnt lgkmcnt(0)\n${only(0, 1, 'ds_read_b32 v7, v5')}\ns_barrier\n${OVERWRITE}`,
      true,
    ],
    [
      'of what another one reads behind it, and waits for',
      `${only(0, 1, `${AT('v3')}\nds_read_b32 v7, v5`)}\ns_nop 0\n${only(1, 2, `${AT('v3')}\nds_read_b32 v6, v5\ns_waitcnt lgkmcnt(0)`)}\ns_barrier\n${OVERWRITE}`,
      true,
    ],
    [
      'of the half that is not overwritten, by an instruction that has read the other one before',
      `${only(0, 1, `${AT('v3')}\ns_mov_b32 s11, 0\n.Lagain:\nds_read_b32 v6, v5\nv_add_u32_e32 v5, 0x100, v5\ns_add_u32 s11, s11, 1\ns_cmp_lt_u32 s11, 2\ns_cbranch_scc1 .Lagain\ns_waitcnt lgkmcnt(1)`)}\ns_barrier\n${OVERWRITE}`,
      false,
    ],
    [
      'of the half that is overwritten, by an instruction that has read the other one before',
      `${only(0, 1, `${AT('v3')}\nv_add_u32_e32 v5, 0x100, v5\ns_mov_b32 s11, 0\n.Lagain:\nds_read_b32 v6, v5\nv_subrev_u32_e32 v5, 0x100, v5\ns_add_u32 s11, s11, 1\ns_cmp_lt_u32 s11, 2\ns_cbranch_scc1 .Lagain\ns_waitcnt lgkmcnt(1)`)}\ns_barrier\n${OVERWRITE}`,
      true,
    ],
    [
      'of pairs, the second of which is overwritten',
      `${only(0, 1, `${AT('v3')}\nds_read2_b32 v[6:7], v5 offset1:1`)}\ns_barrier\n${OVERWRITE}`,
      true,
    ],
    [
      'that is flat',
      `${only(0, 1, `${AT('v3')}\n${flat('v5')}\nflat_load_dword v7, v[14:15]`)}\ns_barrier\n${OVERWRITE}`,
      true,
    ],
    [
      'that is flat, of what the wavefront has read before',
      `${only(0, 1, `${AT('v3')}\n${flat('v5')}\nds_read_b32 v6, v5\ns_waitcnt lgkmcnt(0)\nflat_load_dword v7, v[14:15]`)}\ns_barrier\n${OVERWRITE}`,
      true,
    ],
    [
      'that is flat, of what it has read so before',
      `${only(0, 1, `${AT('v3')}\n${flat('v5')}\ns_mov_b32 s11, 0\n.Lagain:\ns_waitcnt vmcnt(0) lgkmcnt(0)\nflat_load_dword v6, v[14:15]\ns_add_u32 s11, s11, 1\ns_cmp_lt_u32 s11, 2\ns_cbranch_scc1 .Lagain`)}\ns_barrier\n${OVERWRITE}`,
      true,
    ],
    [
      'that is flat, of the half that is not overwritten, by an instruction that has read the other one before',
      `${only(0, 1, `${AT('v3')}\n${flat('v5')}\ns_mov_b32 s11, 0\n.Lagain:\ns_waitcnt vmcnt(0) lgkmcnt(0)\nflat_load_dword v6, v[14:15]\nv_add_u32_e32 v14, 0x100, v14\ns_add_u32 s11, s11, 1\ns_cmp_lt_u32 s11, 2\ns_cbranch_scc1 .Lagain`)}\ns_barrier\n${OVERWRITE}`,
      false,
    ],
    [
      'that is flat, and LDS has answered',
      `${only(0, 1, `${AT('v3')}\n${flat('v5')}\nds_read_b32 v6, v5\nflat_load_dword v7, v[14:15]\ns_waitcnt lgkmcnt(0)`)}\ns_barrier\n${OVERWRITE}`,
      false,
    ],
    [
      'that is flat, and memory has answered',
      `${only(0, 1, `${AT('v3')}\n${flat('v5')}\nds_read_b32 v6, v5\nflat_load_dword v7, v[14:15]\ns_waitcnt vmcnt(0)`)}\ns_barrier\n${OVERWRITE}`,
      true,
    ],
    ['and has come back', `${AT('v3')}\nds_read_b32 v6, v5\n${MEET}\n${OVERWRITE}`, false],
  ] as const)('%s', async (_, code, isRace) => {
    for (const target of TARGETS) {
      const text = `${FILL}\n${code}`;
      const found = await findingsOf(target, text, 'compiled');
      expect(found.map((one) => one.split(' ')[0])).toEqual(isRace ? ['races/lds'] : []);
      expect(found).toEqual(await findingsOf(target, text, 'interpreter'));
    }
  });
});

test('with quiet loads compiled code finds what the interpreter finds', async () => {
  const found = new Map<string, number>();
  let quiet = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...TARGETS),
      fc.constantFrom(true, true, true, false),
      fc.array(
        fc.record({
          kind: fc.constantFrom(...(Object.keys(TEXTS) as Step['kind'][]), 'read', 'read', 'write', 'meet', 'meet'),
          isShared: fc.boolean(),
          more: fc.constantFrom(0, 0, 1, 64),
          who: fc.constantFrom('both', 'both', 'first', 'second'),
        }) as fc.Arbitrary<Step>,
        { minLength: 3, maxLength: 9 },
      ),
      async (target, isFilled, steps) => {
        const code = [...(isFilled ? [FILL] : []), ...steps.map(textOf)].join('\n');
        const compiled = await findingsOf(target, code, 'compiled');
        expect(compiled).toEqual(await findingsOf(target, code, 'interpreter'));
        for (const rule of new Set(compiled.map((one) => one.split(' ')[0] as string)))
          found.set(rule, (found.get(rule) ?? 0) + 1);
        if (compiled.length === 0) quiet++;
      },
    ),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 150) },
  );
  expect(quiet).toBeGreaterThan(0);
  expect([...found.keys()]).toEqual(
    expect.arrayContaining(['memory/uninitialised', 'races/lds', 'waits/barrier-before-write']),
  );
});
