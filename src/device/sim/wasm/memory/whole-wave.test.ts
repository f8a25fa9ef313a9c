// Paths of all 64 lanes at once, compared with the interpreter: lanes all over memory of many pages, with holes and ends; all lanes on one element,
// with and without others at the memory; parts of dwords in scratch.
import { describe, expect, it } from 'vitest';
import {
  CompiledInstructions,
  compareOnce,
  type Machine,
  makeMachine,
  Random,
  randomize,
} from '../../../../../tests/support/compiled-memory.ts';
import { DEFAULT_MODE, parse } from '../../../../../tests/support/one-instruction.ts';
import { CONTROL_SHARED, WAVE_TEMPORARY } from '../../state/layout.ts';
import { EXEC, FLAT_SCRATCH, LANES } from '../../state/wave.ts';

const PAGE = 4096;
/** Bytes of the memory that lanes are first in. */
const FIRST = 24 * PAGE;
const LOADS = ['ubyte', 'sbyte_d16_hi', 'ushort', 'short_d16', 'dword', 'dwordx2', 'dwordx3', 'dwordx4'];
const STORES = ['byte', 'short', 'short_d16_hi', 'dword', 'dwordx2', 'dwordx3', 'dwordx4'];
const DATA: Readonly<Record<string, string>> = { x2: 'v[8:9]', x3: 'v[8:10]', x4: 'v[8:11]' };
const dataOf = (suffix: string): string => DATA[suffix.slice(-2)] ?? 'v8';

/** A machine with memory of many pages, one of which is missing and one of which cannot be written. */
function largeMachine(): { m: Machine; base: number; holeAt: number; constantAt: number; tail: number } {
  const small = makeMachine('gfx942');
  const { memory } = small.w;
  const first = memory.alloc(FIRST, 'first');
  const hole = memory.alloc(PAGE, 'hole');
  const second = memory.alloc(24 * PAGE, 'second');
  const constants = memory.alloc(PAGE, 'constant page', true);
  const third = memory.alloc(5 * PAGE - 100, 'third');
  memory.free(hole.base);
  const m = { ...small, regions: [...small.regions, first, second, constants, third] };
  return {
    m,
    base: first.base,
    holeAt: hole.base - first.base,
    constantAt: constants.base - first.base,
    tail: third.base + third.size - first.base,
  };
}

/** Sets the lanes' offsets from a base, as the instruction takes addresses; the constant is what it adds itself. */
function setLanes(m: Machine, text: string, base: number, offsets: readonly number[], constant = 0): void {
  const { w } = m;
  const isWide = /v\[2:3\]/.test(text);
  w.setS64(4, BigInt(base - constant));
  w.setS64(8, BigInt(base - constant));
  w.sgprs[10] = -1;
  w.sgprs[11] = 0;
  offsets.forEach((offset, lane) => {
    const address = isWide ? base + offset - constant : offset;
    w.vgprs[2 * LANES + lane] = (address % 2 ** 32) | 0;
    if (isWide) w.vgprs[3 * LANES + lane] = Math.floor(address / 2 ** 32);
  });
}

/** Runs an instruction both ways from a random state that `set` makes special. */
function check(m: Machine, text: string, cases: readonly ((m: Machine, random: Random) => void)[]): number {
  const instruction = parse(m.target, text);
  const compiled = new CompiledInstructions(m, [instruction]);
  expect(compiled.covered).toEqual([true]);
  cases.forEach((set, n) => {
    const random = new Random(n + 1);
    randomize(m, instruction, random);
    m.w.setMode(DEFAULT_MODE);
    m.w.setS64(EXEC, 0xffffffffffffffffn);
    set(m, random);
    expect({ text, case: n, difference: compareOnce(m, compiled, 0) }).toEqual({
      text,
      case: n,
      difference: undefined,
    });
  });
  return compiled.resumed;
}

const lanes = (offset: (lane: number) => number): number[] => Array.from({ length: LANES }, (_, lane) => offset(lane));

describe('lanes all over memory', () => {
  const forms = [
    ...LOADS.flatMap((s) => [
      `global_load_${s} ${dataOf(s)}, v2, s[4:5]`,
      `flat_load_${s} ${dataOf(s)}, v[2:3]`,
      `buffer_load_${s} ${dataOf(s)}, v2, s[8:11], 0 offen`,
    ]),
    ...STORES.flatMap((s) => [
      `global_store_${s} v[2:3], ${dataOf(s)}, off offset:-16`,
      `global_store_${s} v2, ${dataOf(s)}, s[4:5]`,
      `buffer_store_${s} ${dataOf(s)}, v2, s[8:11], 0 offen offset:16`,
    ]),
    // Results over addresses.
    'global_load_dwordx4 v[2:5], v[2:3], off',
    'global_load_dwordx4 v[0:3], v2, s[4:5]',
  ];

  it.each(forms)('%s', (text) => {
    const { m, base, holeAt, constantAt, tail } = largeMachine();
    const constant = Number(/offset:(-?\d+)/.exec(text)?.[1] ?? 0);
    const scattered = (offset: (lane: number, random: Random) => number) => (machine: Machine, random: Random) =>
      setLanes(
        machine,
        text,
        base,
        lanes((lane) => offset(lane, random)),
        constant,
      );
    const inside = FIRST - 16;
    const resumed = check(m, text, [
      scattered((lane) => ((lane * 37) % 64) * 48 + 16),
      scattered((lane) => ((lane * 37) % 64) * 1500 + 16),
      scattered((_, random) => 16 + random.below(inside - 16)),
      // Several lanes at one place: the last one's is what stays.
      scattered((lane) => 16 + (lane % 7) * 40),
      // To the last byte of a page that ends the memory.
      scattered((lane) => FIRST - 16 - ((lane * 29) % 64) * 20),
    ]);
    expect(resumed).toBe(0);
    check(m, text, [
      // A hole, memory that cannot be written, and a partial last page between the first lane and the last one.
      scattered((_, random) => 16 + 4 * random.below((2 * holeAt) / 4)),
      scattered((lane) => (lane === 40 ? holeAt + 64 : 16 + ((lane * 37) % 64) * 1500)),
      scattered((_, random) => holeAt + PAGE + 4 * random.below((constantAt - holeAt) / 4)),
      scattered((_, random) => constantAt - PAGE + 4 * random.below((tail - constantAt + PAGE) / 4)),
      scattered((_, random) => tail - 2000 + random.below(2000)),
      // Further than the table is looked at, and beyond 4 GiB.
      scattered((lane) => ((lane * 37) % 64) * 2 ** 20),
      scattered((lane) => (lane === 9 ? 2 ** 32 - 64 : ((lane * 37) % 64) * 48)),
      scattered((_, random) => random.word()),
    ]);
  });

  it.each([
    ...LOADS.flatMap((s) => [
      `buffer_load_${s} ${dataOf(s)}, v2, s[8:11], 0 offen`,
      `buffer_load_${s} ${dataOf(s)}, v2, s[8:11], s1 offen offset:8`,
    ]),
    ...STORES.flatMap((s) => [
      `buffer_store_${s} ${dataOf(s)}, v2, s[8:11], 0 offen`,
      `buffer_store_${s} ${dataOf(s)}, v2, s[8:11], s1 offen offset:8`,
    ]),
    // A result over its addresses.
    'buffer_load_dwordx4 v[0:3], v2, s[8:11], 0 offen',
  ])('%s with lanes out of range', (text) => {
    const { m, base, holeAt } = largeMachine();
    const masked =
      (records: number, offset: (lane: number, random: Random) => number, scalar = 0, exec = 0xffffffffffffffffn) =>
      (machine: Machine, random: Random) => {
        setLanes(
          machine,
          text,
          base,
          lanes((lane) => offset(lane, random)),
        );
        machine.w.sgprs[10] = records;
        machine.w.sgprs[1] = scalar;
        machine.w.setS64(EXEC, exec);
        const { vgprs, pointer } = machine.w;
        new Uint8Array(vgprs.buffer, pointer + WAVE_TEMPORARY, 64).fill(0xa5);
      };
    const scattered = (lane: number): number => ((lane * 37) % 64) * 48;
    const beyond = (lane: number): number => (lane % 5 === 0 ? -0x80000000 : scattered(lane));
    const resumed = check(m, text, [
      masked(FIRST, beyond),
      masked(FIRST, (lane) => (lane >= 48 ? -1 : scattered(lane))),
      masked(1000, (lane) => ((lane * 37) % 64) * 16),
      masked(64 * 48 + 8, scattered, 64),
      masked(0, (lane) => ((lane * 37) % 64) * 16),
      masked(7, (lane) => ((lane * 37) % 64) * 16),
      masked(FIRST, (_, random) => random.below(FIRST + 64), 32),
      // Several lanes at one place among those out of range, and lanes that are partly in range.
      masked(1000, (lane) => ((lane * 37) % 9) * 160),
      masked(1000, (_, random) => 960 + random.below(64)),
      masked(1000, (lane) => 4 * ((lane * 37) % 64) + 760),
      masked(FIRST, beyond, 0, 0x8f0ff1ff0ff7f00fn),
      masked(1000, (_, random) => 900 + random.below(200), 16, 0x7ffffffffffffffen),
    ]);
    expect(resumed).toBe(0);
    check(m, text, [
      masked(-1, (lane) => (lane === 63 ? -64 : scattered(lane))),
      // A hole, what cannot be written, and places beyond the window's end among the lanes in range.
      masked(3 * holeAt, (lane) => (lane % 3 === 0 ? 4 * holeAt : lane === 40 ? holeAt + 64 : scattered(lane))),
      masked(2 ** 22, (lane) => (lane % 2 === 0 ? 2 ** 23 : scattered(lane) * 100)),
      masked(-0x100, (lane) => (lane % 2 === 0 ? -0x40 : lane === 31 ? -0x1000 : scattered(lane))),
      (machine, random) => {
        masked(-0x100, (lane) => (lane % 2 === 0 ? -0x40 : -0x4000 + 16 * lane))(machine, random);
        machine.w.setS64(8, BigInt(base + FIRST / 2));
      },
      masked(2 ** 21, (_, random) => random.word()),
    ]);
  });

  it.each([
    'ds_read_u8_d16_hi v8, v2',
    'ds_read_b32 v8, v2 offset:64',
    'ds_read_b96 v[8:10], v2',
    'ds_read2_b32 v[8:9], v2 offset0:3 offset1:1',
    'ds_read2st64_b64 v[8:11], v2 offset1:1',
    'ds_write_b16 v2, v8',
    'ds_write_b64 v2, v[8:9] offset:8',
    'ds_write2_b32 v2, v8, v9 offset0:5 offset1:2',
  ])('%s', (text) => {
    const m = makeMachine('gfx942');
    const size = m.lds.length;
    const scattered = (offset: (lane: number, random: Random) => number) => (machine: Machine, random: Random) =>
      machine.w.vgprs.set(
        lanes((lane) => offset(lane, random)),
        2 * LANES,
      );
    const resumed = check(m, text, [
      scattered((lane) => ((lane * 37) % 64) * 48 + 256),
      scattered((_, random) => random.below(size - 1100)),
      scattered((lane) => 64 * (lane & 3) + 256),
    ]);
    expect(resumed).toBe(0);
    check(m, text, [
      scattered((lane) => size - 64 + ((lane * 37) % 64)),
      scattered((lane) => ((lane * 37) % 64) * 48 - 64),
      scattered((lane) => (lane === 17 ? -1 : ((lane * 37) % 64) * 48)),
      scattered((_, random) => random.word()),
    ]);
  });
});

describe('all lanes on one element', () => {
  const CONSTANTS = [0, 0x80000000, 1, 0x80000001, 0x7fffff, 0x807fffff, 0x800000, 0x80800000, 0x7f800000, 0xff800000];
  const NANS = [0x7fc00000, 0xffc12345, 0x7f800001, 0xffa00000];
  /** A float of no great size, of which sums lose places. */
  const small = (random: Random): number => (random.word() & 0x80ffffff) | (random.below(16) << 24) | 0x3a000000 | 0;

  it.each([
    'global_atomic_add_f32 v2, v8, s[4:5]',
    'global_atomic_add_f32 v8, v2, v8, s[4:5] sc0',
    'flat_atomic_add_f32 v[2:3], v8',
    'buffer_atomic_add_f32 v8, v2, s[8:11], 0 offen',
    'buffer_atomic_add_f32 v8, off, s[8:11], 0',
    'ds_add_f32 v2, v8',
    'ds_add_rtn_f32 v9, v2, v8',
    'global_atomic_add_f64 v2, v[8:9], s[4:5]',
    'global_atomic_add_f64 v[8:9], v2, v[8:9], s[4:5] sc0',
    'flat_atomic_max_f64 v[2:3], v[8:9]',
    'global_atomic_pk_add_f16 v2, v8, s[4:5]',
    'global_atomic_pk_add_bf16 v9, v2, v8, s[4:5] sc0',
    'ds_pk_add_rtn_f16 v8, v2, v8',
    'ds_max_rtn_f32 v8, v2, v8',
    'global_atomic_add v2, v8, s[4:5]',
    'global_atomic_add v8, v2, v8, s[4:5] sc0',
    'global_atomic_add v8, v2, v8, s[4:5] sc0 sc1',
    'global_atomic_umax_x2 v[10:11], v2, v[8:9], s[4:5] sc0',
    'global_atomic_dec v2, v8, s[4:5]',
    'flat_atomic_inc_x2 v[8:9], v[2:3], v[8:9] sc0',
    'global_atomic_swap v8, v2, v8, s[4:5] sc0',
    'global_atomic_cmpswap v8, v2, v[8:9], s[4:5] sc0',
    'buffer_atomic_cmpswap v[8:9], v2, s[8:11], 0 offen sc0',
    'buffer_atomic_smin v8, v2, s[8:11], 0 offen sc0',
    'ds_cmpst_rtn_b32 v10, v2, v8, v9',
    'ds_wrxchg_rtn_b64 v[8:9], v2, v[8:9]',
    'ds_sub_rtn_u32 v8, v2, v8',
    'ds_inc_u64 v2, v[8:9]',
  ])('%s', (text) => {
    const m = makeMachine('gfx942');
    const main = m.regions[0] as Machine['regions'][0];
    const shared = new Int32Array(m.w.memory.wasm.buffer, CONTROL_SHARED, 1);
    const isLds = text.startsWith('ds_');
    const bytes = isLds ? m.lds : main.bytes;
    const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
    const at = 0x140;
    const cases = [true, false].flatMap((others) =>
      [0x3f0, 0x3c0, 0x3d0].flatMap((mode) =>
        ['random', 'small', 'sums', 'denormals', 'constants', 'none', 'few'].map(
          (kind) => (machine: Machine, random: Random) => {
            const { w } = machine;
            const word = (): number => {
              if (kind === 'random') return random.word() | 0;
              if (kind === 'few') return random.below(3);
              if (kind === 'small') return small(random);
              if (kind === 'sums') return random.pick([0x00800001, 0x80800000, 0x00900000, 0x80900001]) | 0;
              if (kind === 'denormals') return random.chance(0.1) ? random.word() & 0x807fffff : small(random);
              return random.pick(kind === 'none' && random.chance(0.2) ? NANS : CONSTANTS) | 0;
            };
            shared[0] = others ? 1 : 0;
            w.setMode(mode);
            for (const register of [8, 9]) w.vgprs.set(lanes(word), register * LANES);
            words[at / 4] = word();
            words[at / 4 + 1] = word();
            if (isLds) w.vgprs.fill(at, 2 * LANES, 3 * LANES);
            else {
              setLanes(
                machine,
                text,
                main.base + (/ off, s/.test(text) ? at : 0),
                lanes(() => at),
              );
            }
          },
        ),
      ),
    );
    check(m, text, cases);
    // An address that is not the element's own.
    check(m, text, [
      (machine) => {
        if (isLds) machine.w.vgprs.fill(at + 2, 2 * LANES, 3 * LANES);
        else if (!/ off, s/.test(text))
          setLanes(
            machine,
            text,
            main.base,
            lanes(() => at + 2),
          );
      },
    ]);
    shared[0] = 0;
  });
});

describe('packed halves side by side', () => {
  const SPECIAL = [0, 0x8000, 1, 0x8001, 0x3ff, 0x83ff, 0x400, 0x8400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfd01];

  it.each([
    'global_atomic_pk_add_f16 v2, v8, s[4:5]',
    'flat_atomic_pk_add_f16 v8, v[2:3], v8 sc0',
    'buffer_atomic_pk_add_f16 v8, v2, s[8:11], 0 offen sc0',
    'ds_pk_add_rtn_f16 v9, v2, v8',
  ])('%s', (text) => {
    const m = makeMachine('gfx942');
    const main = m.regions[0] as Machine['regions'][0];
    const bytes = text.startsWith('ds_') ? m.lds : main.bytes;
    const memory = new Int32Array(bytes.buffer, bytes.byteOffset, LANES);
    // In one of a hundred halves and in every other one: chunks without, with one and with many.
    const cases = [0, 0.01, 0.5].flatMap((chance) =>
      Array.from({ length: 4 }, () => (machine: Machine, random: Random) => {
        const half = (): number =>
          random.chance(chance) ? random.pick(SPECIAL) : (random.word() & 0x83ff) | ((1 + random.below(29)) << 10);
        const word = (): number => half() | (half() << 16);
        machine.w.vgprs.set(lanes(word), 8 * LANES);
        memory.set(lanes(word));
        setLanes(
          machine,
          text,
          text.startsWith('ds_') ? 0 : main.base,
          lanes((lane) => 4 * lane),
        );
      }),
    );
    expect(check(m, text, cases)).toBe(0);
  });
});

describe('parts of dwords in scratch', () => {
  it.each([
    ...LOADS.slice(0, 4).map((s) => `scratch_load_${s} v8, off, s20`),
    ...['sbyte', 'sshort', 'short_d16_hi', 'ubyte_d16'].map((s) => `scratch_load_${s} v8, v2, s20`),
    ...['byte', 'byte_d16_hi', 'short', 'short_d16_hi'].flatMap((s) => [
      `scratch_store_${s} off, v8, s20`,
      `scratch_store_${s} v2, v8, s20`,
    ]),
  ])('%s', (text) => {
    const m = makeMachine('gfx942');
    const size = m.scratch.size / LANES;
    const main = m.regions[0] as Machine['regions'][0];
    const bytes = /byte/.test(text) ? 1 : 2;
    const at =
      (scalar: number, offset: (lane: number, random: Random) => number = () => 0, base = m.scratch.base) =>
      (machine: Machine, random: Random) => {
        const { w } = machine;
        w.setS64(FLAT_SCRATCH, BigInt(base));
        w.sgprs[20] = scalar;
        w.vgprs.set(
          lanes((lane) => offset(lane, random)),
          2 * LANES,
        );
      };
    const within = Array.from({ length: size }, (_, n) => n).filter((n) => (n & 3) + bytes <= 4);
    expect(
      check(
        m,
        text,
        within.map((n) => at(n)),
      ),
    ).toBe(0);
    check(m, text, [
      at(size - 1),
      at(size),
      at(3),
      at(-1),
      at(8, () => 5),
      at(4, (lane) => lane & 3),
      at(4, (_, random) => random.below(size)),
      at(4, () => 2, main.base + 2),
      // Memory ends within a row.
      at(4, () => 2, main.base + main.size - 400),
      at(8, () => 0, main.base + main.size - 4 * 256 + 2),
      at(4, () => 1, 0x1000),
    ]);
  });
});

describe('elements of scratch at offsets of their own', () => {
  it.each(
    ['ubyte', 'sshort', 'short_d16_hi', 'dword', 'dwordx2', 'dwordx3', 'dwordx4'].flatMap((s) => [
      `scratch_load_${s} ${registersOf(s)}, v2, s20`,
      `scratch_store_${s.replace(/^[us](?=byte|short)/, '')} v2, ${registersOf(s)}, s20`,
    ]),
  )('%s', (text) => {
    const m = makeMachine('gfx942');
    const size = m.scratch.size / LANES;
    const main = m.regions[0] as Machine['regions'][0];
    const bytes = /byte/.test(text) ? 1 : /short/.test(text) ? 2 : 4 * Number(/x(\d)/.exec(text)?.[1] ?? 1);
    const unit = Math.min(4, bytes);
    const at =
      (offset: (lane: number, random: Random) => number, { scalar = 4, base = m.scratch.base, exec = -1n } = {}) =>
      (machine: Machine, random: Random) => {
        const { w } = machine;
        w.setS64(FLAT_SCRATCH, BigInt(base));
        w.setS64(EXEC, exec);
        w.sgprs[20] = scalar;
        w.vgprs.set(
          lanes((lane) => offset(lane, random)),
          2 * LANES,
        );
      };
    const aligned = (_: number, random: Random): number => random.below((size - bytes - 4) / unit) * unit;
    expect(
      check(m, text, [at(aligned), at(aligned), at(aligned, { exec: 0x0f3f5ff0n }), at((lane) => 8 * (lane & 3))]),
    ).toBe(0);
    check(m, text, [
      at((_, random) => random.below(size + 8)),
      at((lane) => (lane === 17 ? size : 4 * (lane & 3))),
      at((lane) => (lane === 17 ? -8 : 4 * (lane & 3)), { scalar: 0 }),
      at((lane) => (lane === 17 ? 3 : 4 * (lane & 3))),
      // Memory ends within a row of some lanes.
      at((lane) => 4 * (lane & 3), { base: main.base + main.size - 700 }),
      at((lane) => 4 * (lane & 3), { base: 0x1000 }),
    ]);
  });
});

function registersOf(suffix: string): string {
  const dwords = Number(/x(\d)/.exec(suffix)?.[1] ?? 1);
  return dwords === 1 ? 'v8' : `v[8:${7 + dwords}]`;
}
