// Rows of loads into LDS: when a wavefront's turn ends before them, in compiled code and in the interpreter.
import { describe, expect, it } from 'vitest';
import { kernelObject } from '../../../../tests/support/kernel-source.ts';
import { createDevice } from '../../index.ts';
import { keyOf } from './place.ts';
import { type Block, leavesInRow } from './walk.ts';

const LOAD = 'global_load_lds_dword v1, s[4:5]';
/** What the workgroup's clock, which counts instructions of all its wavefronts, gains from before to after the code. */
const timed = (code: string): string => `s_load_dwordx2 s[4:5], s[0:1], 0x0
v_lshlrev_b32_e32 v1, 2, v0
v_lshrrev_b32_e32 v2, 6, v0
v_readfirstlane_b32 s8, v2
s_mov_b32 m0, 0
s_mov_b32 s9, 0
s_waitcnt lgkmcnt(0)
s_memtime s[12:13]
s_waitcnt lgkmcnt(0)
${code}
s_memtime s[14:15]
s_waitcnt vmcnt(0) lgkmcnt(0)
s_sub_u32 s16, s14, s12
v_mov_b32_e32 v3, s16
global_store_dword v1, v3, s[4:5] offset:1024
s_waitcnt vmcnt(0)`;

/** The gain of each of two wavefronts. */
async function gains(code: string, engine: 'compiled' | 'interpreter'): Promise<number[]> {
  const object = kernelObject({
    target: 'gfx942',
    code: timed(code),
    descriptor: { next_free_vgpr: 40, accum_offset: 32, next_free_sgpr: 32 },
  });
  const device = await createDevice('sim', { target: 'gfx942' });
  try {
    const buffer = device.alloc(2048, 'x');
    const kernel = device.load(object.bytes).kernel('k');
    await device.dispatch({ kernel, grid: [1, 1, 1], block: [128, 1, 1], args: [buffer], dynamicLds: 1024, engine });
    const words = new Int32Array(device.read(buffer).slice().buffer);
    return [words[256], words[256 + 64]] as number[];
  } finally {
    device.close();
  }
}

const COMPUTES = ['s_add_u32 m0, m0, 256', 'v_add_u32_e32 v5, 4, v1', 'v_readfirstlane_b32 s10, v1', 's_nop 0'];

describe('rows of loads into LDS', () => {
  it.each([
    ['one load', LOAD],
    ['a row', [LOAD, ...COMPUTES, LOAD, LOAD].join('\n')],
    ['a wait', [LOAD, 's_waitcnt vmcnt(0)', LOAD].join('\n')],
    ['a read of LDS', [LOAD, 'ds_read_b32 v6, v1', LOAD].join('\n')],
    ['a barrier', [LOAD, 's_barrier', LOAD].join('\n')],
    [
      'a loop that a row leads into',
      `${LOAD}\n.Lloop:\n${LOAD}\ns_add_u32 s9, s9, 1\n${LOAD}\ns_cmp_lt_u32 s9, 5\ns_cbranch_scc1 .Lloop\n${LOAD}`,
    ],
    [
      'a row over a place that a branch goes to',
      `${LOAD}\n.Lhere:\nv_mov_b32_e32 v7, v1\n${LOAD}\ns_add_u32 s9, s9, 1\ns_cmp_lt_u32 s9, 0\ns_cbranch_scc1 .Lhere`,
    ],
    [
      'a row that ends after a place that a branch goes to',
      `${LOAD}\n.Lwait:\ns_waitcnt vmcnt(0)\ns_add_u32 s9, s9, 1\ns_cmp_lt_u32 s9, 3\ns_cbranch_scc1 .Lwait\nv_mov_b32_e32 v7, v1\n${LOAD}`,
    ],
    [
      'a branch into a row',
      `${LOAD}\ns_waitcnt vmcnt(0)\ns_cmp_eq_u32 s8, 0\ns_cbranch_scc1 .Lhere\n${LOAD}\ns_nop 0\n.Lhere:\nv_mov_b32_e32 v7, v1\n${LOAD}\n${LOAD}`,
    ],
    [
      // A unit of compiled code has about 6,000 instructions: one of them is arithmetic alone.
      'a row that is longer than a unit of compiled code',
      `${LOAD}\n${'v_add_u32_e32 v5, 4, v5\n'.repeat(13_000)}${LOAD}\ns_nop 0\n${LOAD}`,
    ],
  ])('%s: compiled code and the interpreter give the wavefronts the same turns', async (_, code) => {
    expect(await gains(code, 'compiled')).toEqual(await gains(code, 'interpreter'));
  });

  it('nobody else runs between two loads of a row, but where there is a wait between them', async () => {
    const [[one], [row], [waits]] = (await Promise.all(
      [[LOAD], [LOAD, ...COMPUTES, LOAD, LOAD], [LOAD, 's_waitcnt vmcnt(0)', LOAD]].map((lines) =>
        gains(lines.join('\n'), 'compiled'),
      ),
    )) as [[number], [number], [number]];
    expect(row - one).toBe(COMPUTES.length + 2);
    expect(waits - one).toBeGreaterThan(2);
  });
});

it('should find which blocks leave their unit in a row, each once, also where they go round', () => {
  let asked = 0;
  /** A block of arithmetic, which goes to another one. */
  const block = (pc: number, to: number): Block => ({
    pc,
    mode: 0,
    late: false,
    get items() {
      asked++;
      return [];
    },
    ending: { kind: 'goto', to: { pc: to, mode: 0 } },
  });
  const chain = Array.from({ length: 100 }, (_, n) => block(4 * n, 4 * (n + 1)));
  const round = [block(800, 804), block(804, 808), block(808, 800), block(812, 804)];
  const blocks = new Map([...chain, ...round].map((b) => [keyOf(b), b]));
  const known = new Map<Block, boolean>();
  expect(chain.map((b) => leavesInRow(b, blocks, known))).toEqual(chain.map(() => true));
  expect(round.map((b) => leavesInRow(b, blocks, known))).toEqual(round.map(() => false));
  expect(asked).toBe(blocks.size);
});
