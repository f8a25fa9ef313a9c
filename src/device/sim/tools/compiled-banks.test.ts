// Bank conflicts of compiled code are those of the interpreter: random addresses of all kinds, all sizes of access, parts of the lanes.
import { describe, expect, test } from 'vitest';
import { compareCounts } from '../../../../tests/support/counted.ts';
import { kernelSource } from '../../../../tests/support/kernel-source.ts';
import { assembleAndLink } from '../../../asm/index.ts';
import { enableRelaxedSimd } from '../../node/v8-flags.ts';
import { SimDevice } from '../sim-device.ts';

enableRelaxedSimd();

/** Every size, kind and order of phases; what the model leaves out; what touches no bank. v1 is the address. */
const ACCESSES = [
  'ds_read_u8 v4, v1',
  'ds_read_u16 v4, v1 offset:1',
  'ds_read_b32 v4, v1',
  'ds_read_b32 v4, v1 offset:2044',
  'ds_read_b64 v[4:5], v1',
  'ds_read_b128 v[4:7], v1',
  'ds_read2_b32 v[4:5], v1 offset0:1 offset1:33',
  'ds_read2st64_b64 v[4:7], v1 offset0:1 offset1:2',
  'ds_write_b8 v1, v0',
  'ds_write_b16 v1, v0',
  'ds_write_b32 v1, v0',
  'ds_write_b64 v1, v[2:3]',
  'ds_write_b128 v1, v[4:7]',
  'ds_write2_b32 v1, v0, v2 offset1:7',
  'ds_add_u32 v1, v0',
  'ds_add_rtn_u32 v4, v1, v0 offset:4',
  'ds_add_u64 v1, v[2:3]',
  'ds_cmpst_b32 v1, v0, v2',
  'ds_read_b96 v[4:6], v1',
  'ds_bpermute_b32 v4, v1, v0',
  'ds_swizzle_b32 v4, v0 offset:0x041f',
];

/** Each round has other addresses and EXEC; the accesses are `times` times in a round. */
const kernelOf = (times: number): string => `s_load_dwordx2 s[4:5], s[0:1], 0x0
v_lshlrev_b32_e32 v8, 2, v0
v_mov_b32_e32 v2, 1
v_mov_b32_e32 v3, 0
s_movk_i32 s6, ROUNDS
s_waitcnt lgkmcnt(0)
.Lagain:
global_load_dword v1, v8, s[4:5]
s_load_dwordx2 s[8:9], s[4:5], 0x200
s_waitcnt vmcnt(0) lgkmcnt(0)
s_mov_b64 exec, s[8:9]
${`${ACCESSES.join('\n')}\ns_waitcnt lgkmcnt(0)\n`.repeat(times)}
s_mov_b64 exec, -1
s_add_u32 s4, s4, 0x208
s_addc_u32 s5, s5, 0
s_sub_u32 s6, s6, 1
s_cmp_lg_u32 s6, 0
s_cbranch_scc1 .Lagain`;

/** A sequence of 32-bit numbers (xorshift) that a seed decides. */
function numbers(seed: number): (below: number) => number {
  let x = seed | 1;
  return (below) => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (x >>> 0) % below;
  };
}

type Addresses = (random: (below: number) => number) => (lane: number) => number;

const KINDS: Readonly<Record<string, Addresses>> = {
  'anywhere, in steps of 16': (random) => () => 16 * random(3968),
  'anywhere in dwords': (random) => () => 4 * random(15872),
  'few dwords, so that lanes meet': (random) => () => 4 * random(24),
  'a distance from lane to lane': (random) => {
    const [first, step] = [4 * random(64), [0, 1, 2, 4, 8, 12, 16, 64, 128, 132, 256][random(11)] as number];
    return (lane) => first + step * lane;
  },
  'odd addresses': (random) => () => random(4096),
  'the last bytes': (random) => () => 65536 - 2048 - 4 * random(16),
  'one dword for all, or one for each part': (random) => {
    const [first, part, step] = [4 * random(4096), [1, 2, 4, 8, 16, 32, 64][random(7)] as number, 4 * random(64)];
    return (lane) => first + step * Math.floor(lane / part);
  },
  'rows that are 64 apart, in few banks': (random) => {
    const banks = 1 + random(4);
    return () => 8192 * random(7) + 4 * random(banks) + 128 * random(2);
  },
  'a table anywhere, of about 20 rows': (random) => {
    const [first, dwords] = [4 * random(15000), 32 * (18 + random(4))];
    return () => first + 4 * random(dwords);
  },
  'halves of a table of 16 rows': (random) => () => 2 * random(1024),
  'different dwords but for one': (random) => {
    const [first, odd, same] = [4 * random(64), random(64), random(64)];
    const step = [4, 128, 132, 256][random(4)] as number;
    return (lane) => first + step * (lane === odd ? same : lane);
  },
};

describe('LDS banks of compiled code', () => {
  const kinds = Object.keys(KINDS);
  test.each([...kinds.map((kind) => [kind, 2, 24] as const), ...kinds.map((kind) => [kind, 1, 90] as const)])(
    '%s, %d times, %d rounds',
    async (kind, times, rounds) => {
      const device = new SimDevice('gfx942');
      const lds = { group_segment_fixed_size: 65536 };
      const object = assembleAndLink(
        kernelSource({
          code: kernelOf(times).replace('ROUNDS', String(rounds)),
          descriptor: { next_free_vgpr: 16, accum_offset: 16, next_free_sgpr: 32, ...lds },
          metadata: { '.group_segment_fixed_size': 65536 },
        }),
      );
      const random = numbers(kind.length * 7919 + times);
      const data = new DataView(new ArrayBuffer(0x208 * rounds + 256));
      for (let round = 0; round < rounds; round++) {
        const address = (KINDS[kind] as Addresses)(random);
        for (let lane = 0; lane < 128; lane++) data.setUint32(round * 0x208 + 4 * lane, address(lane % 64), true);
        const isPart = times === 1 ? random(8) === 0 : round % 3 > 0;
        for (const word of [0, 4]) {
          const part = round % 3 === 1 ? random(2 ** 32) : random(2 ** 32) & random(2 ** 32) & random(2 ** 32);
          data.setUint32(round * 0x208 + 0x200 + word, isPart ? part : -1, true);
        }
      }
      const args = [device.alloc(data.byteLength, 'addresses')] as const;
      device.write(args[0], new Uint8Array(data.buffer));
      const kernel = device.load(object).kernel('k');
      const [one] = await compareCounts((mode) =>
        device.dispatch({ kernel, grid: [1, 1, 1], block: [128, 1, 1], args, ...mode }),
      );
      expect(one?.banks?.instructions).toBe(18 * times * 2 * rounds);
      expect(one?.banks?.notModelled).toBe(times * 2 * rounds);
      expect(one?.banks?.phases).toBeGreaterThan(1000);
      device.close();
    },
  );
});
