// Code that a launch's arguments leave out: it is not compiled before a wave reaches it, and results are the interpreter's all the same.
import { expect, it } from 'vitest';
import { kernelObject } from '../../../../tests/support/kernel-source.ts';
import { randomNumbers } from '../../../base/index.ts';
import { decoderFor, TARGET_NAMES } from '../../../isa/index.ts';
import { semanticsOf } from '../../../isa/semantics/index.ts';
import { effectsOf, Slot } from '../../../program/index.ts';
import { createDevice } from '../../index.ts';
import type { SimKernel } from '../module.ts';
import type { SimDevice } from '../sim-device.ts';
import { compiledSoFar, takeOverCompiled } from './engine.ts';
import { keyOf } from './place.ts';
import { changesScalars, ScalarValues } from './scalar-values.ts';
import { reachableBlocks } from './walk.ts';

/** Counts rounds; where the second argument is not 0 every round goes another way, and comes back. */
const object = kernelObject({
  target: 'gfx942',
  args: [
    [8, 'global_buffer'],
    [4, 'by_value'],
    [4, 'by_value'],
  ],
  code: `s_load_dwordx4 s[4:7], s[0:1], 0x0
v_lshlrev_b32_e32 v1, 2, v0
s_mov_b32 s8, 0
s_mov_b32 s9, 0
s_waitcnt lgkmcnt(0)
.Lround:
s_cmp_lg_u32 s6, 0
s_cbranch_scc1 .Lother
s_add_u32 s9, s9, 1
.Lback:
s_add_u32 s8, s8, 1
s_cmp_lt_u32 s8, s7
s_cbranch_scc1 .Lround
v_mov_b32_e32 v2, s9
global_store_dword v1, v2, s[4:5]
s_endpgm
.Lother:
s_add_u32 s9, s9, 3
s_branch .Lback`,
});

it('code beyond a branch whose way is known is left out', async () => {
  const device = await createDevice('sim', { target: 'gfx942' });
  const buffer = device.alloc(256, 'x');
  const kernel = device.load(object.bytes).kernel('k');
  const args = device.alloc(64, 'arguments');
  const words = new Int32Array(16);
  new BigUint64Array(words.buffer)[0] = BigInt(buffer.address);
  words[3] = 5;
  device.write(args, new Uint8Array(words.buffer));
  const sgprs = new Int32Array(128);
  new BigUint64Array(sgprs.buffer)[0] = BigInt(args.address);
  const { region } = kernel.module.loaded;
  const entry = { pc: kernel.entry - region.base, mode: 0 };
  const start = ScalarValues.of({ memory: device.memory, sgprs });
  const all = reachableBlocks('gfx942', region.bytes, entry);
  const known = reachableBlocks('gfx942', region.bytes, entry, { start });
  expect(all.leftOut).toEqual([]);
  expect(known.leftOut).toHaveLength(1);
  const places = [all, known].map(({ blocks }) => blocks.map(({ pc }) => pc));
  expect(places[0]).toContain(known.leftOut[0]?.pc);
  expect(places[1]).not.toContain(known.leftOut[0]?.pc);
  device.close();
});

/** Launches the kernel three times, the second one the other way in so many rounds; instructions, and what it has counted. */
async function launchedOn(device: SimDevice, kernel: SimKernel, rounds: number, engine: 'compiled' | 'interpreter') {
  const buffer = device.alloc(256, 'x');
  const seen: number[] = [];
  for (const [other, count] of [
    [0, 5],
    [1, rounds],
    [0, 7],
  ] as const) {
    const launch = { kernel, grid: [1, 1, 1], block: [64, 1, 1], args: [buffer, other, count], engine } as const;
    const { instructions } = await device.dispatch(launch);
    seen.push(instructions, new Int32Array(device.read(buffer).slice().buffer)[0] as number);
  }
  return seen;
}

it.each([
  ['often enough to compile both as one', 45_000, ['reached', 'strayed', 'gathered']],
  ['too seldom for that', 100, ['reached', 'strayed']],
])(
  'should agree on launches whose arguments lead other ways, %s, also where the code is taken over',
  async (_, rounds, origins) => {
    const [device, other, third] = (await Promise.all(
      [0, 1, 2].map(() => createDevice('sim', { target: 'gfx942' })),
    )) as [SimDevice, SimDevice, SimDevice];
    try {
      const [kernel, taken, interpreted] = [device, other, third].map((one) => one.load(object.bytes).kernel('k')) as [
        SimKernel,
        SimKernel,
        SimKernel,
      ];
      const expected = await launchedOn(third, interpreted, rounds, 'interpreter');
      expect(await launchedOn(device, kernel, rounds, 'compiled')).toEqual(expected);
      expect([expected[1], expected[3], expected[5]]).toEqual([5, 3 * rounds, 7]);
      const units = compiledSoFar(kernel.module.loaded, 'exact');
      expect(units.map(({ origin }) => origin)).toEqual(origins);
      const job = { loaded: taken.module.loaded, memory: other.memory, launch: { mfma: 'exact' } } as const;
      takeOverCompiled(job, units);
      expect(await launchedOn(other, taken, rounds, 'compiled')).toEqual(expected);
      expect(compiledSoFar(taken.module.loaded, 'exact')).toEqual(units);
    } finally {
      for (const one of [device, other, third]) one.close();
    }
  },
);

it('instructions that are passed over write no scalar register', () => {
  const random = randomNumbers(11);
  const bytes = new Uint8Array(16);
  const view = new DataView(bytes.buffer);
  const passed = new Set<string>();
  const wrong = new Set<string>();
  let followed = 0;
  for (let n = 0; n < 40_000; n++) {
    for (let at = 0; at < 16; at += 4) view.setUint32(at, (random() * 2 ** 32) >>> 0, true);
    const instruction = decoderFor(TARGET_NAMES[n % TARGET_NAMES.length] as 'gfx942').decode(bytes, 0);
    if (instruction === undefined) continue;
    const operation = semanticsOf(instruction.row.operation);
    if (changesScalars({ instruction, operation })) {
      followed++;
      continue;
    }
    passed.add(instruction.row.operation);
    const isScalar = ({ first }: { first: number }): boolean => first < Slot.MODE || first === Slot.SCC;
    if (effectsOf(instruction).defs.some(isScalar)) wrong.add(instruction.row.name);
  }
  expect([...wrong]).toEqual([]);
  expect(passed.size).toBeGreaterThan(250);
  expect(followed).toBeGreaterThan(1000);
});

it('keys of places differ, and are small where few modes have been met', () => {
  const modes = [0xf0, 0x3f0, 0x8000f0, 0x2f0, 0x10, 0x0, 0xf1];
  const places = modes.flatMap((mode) => [0, 4, 6, 2 ** 28 - 4].map((pc) => ({ pc, mode })));
  const keys = places.map(keyOf);
  expect(new Set(keys).size).toBe(places.length);
  // There are 2^13 modes; others of this process may have been met before.
  expect(Math.max(...keys)).toBeLessThan(2 ** 41);
  expect(places.reverse().map(keyOf)).toEqual(keys.reverse());
});
