// Rows of memory instructions: loads, stores and atomics of every kind of address and width, and moves through LDS. Lanes are side by side,
// or all over the data. A dword of a lane is an operation, and so is each half of a packed atomic.
import type { TargetName } from '../../../src/isa/types.ts';
import { OWN, RESULTS, THIRD } from './forms.ts';
import { DATA_BYTES, type Row, rowOf } from './timing.ts';

const many = (n: number, dwords: number): string => (dwords === 1 ? `v${n}` : `v[${n}:${n + dwords - 1}]`);

/** Lanes at random places, the same in every run. */
const scattered = (bytes: number) => (lane: number) => ((lane * 37) % 64) * bytes * 3;
/** The same, but every fifth one is behind the data. */
const partlyBeyond = (bytes: number) => (lane: number) =>
  lane % 5 === 0 ? DATA_BYTES + 4 * lane : scattered(bytes)(lane);
const sideBySide = (bytes: number) => (lane: number) => lane * bytes;

function row(
  section: string,
  name: string,
  line: (n: number) => string,
  operations: number,
  bytes: number,
  more: Partial<Row> = {},
): Row {
  return rowOf(section, name, line, { offset: sideBySide(bytes), operations, ...more });
}

/** Suffix of loads and stores, dwords of the register and bytes. */
const LOADS = [
  ['ubyte', 1, 1],
  ['sbyte', 1, 1],
  ['ushort', 1, 2],
  ['sshort', 1, 2],
  ['ubyte_d16', 1, 1],
  ['ubyte_d16_hi', 1, 1],
  ['sbyte_d16', 1, 1],
  ['short_d16', 1, 2],
  ['short_d16_hi', 1, 2],
  ['dword', 1, 4],
  ['dwordx2', 2, 8],
  ['dwordx3', 3, 12],
  ['dwordx4', 4, 16],
] as const;
const STORES = [
  ['byte', 1, 1],
  ['byte_d16_hi', 1, 1],
  ['short', 1, 2],
  ['short_d16_hi', 1, 2],
  ['dword', 1, 4],
  ['dwordx2', 2, 8],
  ['dwordx3', 3, 12],
  ['dwordx4', 4, 16],
] as const;

/** Kinds of addresses: the instruction's begin, and its operands from those of the data. Scratch has 512 bytes for each lane. */
const ADDRESSES: Readonly<Record<string, { load(data: string): string; store(data: string): string }>> = {
  global: { load: (d) => `${d}, v48, s[12:13]`, store: (d) => `v48, ${d}, s[12:13]` },
  flat: { load: (d) => `${d}, v[50:51]`, store: (d) => `v[50:51], ${d}` },
  buffer: { load: (d) => `${d}, v48, s[16:19], 0 offen`, store: (d) => `${d}, v48, s[16:19], 0 offen` },
  scratch: { load: (d) => `${d}, off, s20`, store: (d) => `off, ${d}, s20` },
};

/** The row of an access of scratch where each lane has an offset of its own, as a local array with an index has it. */
const indexed = (name: string, line: (n: number) => string, dwords: number, bytes: number): Row =>
  row('memory', `${name}, scattered`, line, dwords, bytes, { offset: (lane) => ((lane * 37) % 31) * 16 });

function transfers(): Row[] {
  return Object.entries(ADDRESSES).flatMap(([kind, { load, store }]) => [
    ...LOADS.flatMap(([suffix, dwords, bytes]) => {
      const name = `${kind}_load_${suffix}`;
      const line = (n: number): string => `${name} ${load(many(RESULTS + 2 * n, dwords))}`;
      const rows = [row('memory', name, line, dwords, bytes)];
      if (kind !== 'scratch' && bytes >= 2)
        rows.push(row('memory', `${name}, scattered`, line, dwords, bytes, { offset: scattered(bytes) }));
      if (kind === 'buffer')
        rows.push(row('memory', `${name}, some out of range`, line, dwords, bytes, { offset: partlyBeyond(bytes) }));
      if (kind === 'scratch')
        rows.push(indexed(name, (n) => `${name} ${many(RESULTS + 2 * n, dwords)}, v48, s20`, dwords, bytes));
      return rows;
    }),
    ...STORES.flatMap(([suffix, dwords, bytes]) => {
      const name = `${kind}_store_${suffix}`;
      const line = (n: number): string => `${name} ${store(many(OWN + 2 * n, dwords))}`;
      const rows = [row('memory', name, line, dwords, bytes)];
      if (kind !== 'scratch' && bytes >= 2)
        rows.push(row('memory', `${name}, scattered`, line, dwords, bytes, { offset: scattered(bytes) }));
      if (kind === 'buffer')
        rows.push(row('memory', `${name}, some out of range`, line, dwords, bytes, { offset: partlyBeyond(bytes) }));
      if (kind === 'scratch')
        rows.push(indexed(name, (n) => `${name} v48, ${many(OWN + 2 * n, dwords)}, s20`, dwords, bytes));
      return rows;
    }),
  ]);
}

const ATOMICS = [
  ...['add', 'sub', 'smin', 'umin', 'smax', 'umax', 'and', 'or', 'xor', 'inc', 'dec', 'swap'].flatMap(
    (name): [string, number][] => [
      [name, 1],
      [`${name}_x2`, 2],
    ],
  ),
  ...(['add_f32', 'pk_add_f16'] as const).map((name): [string, number] => [name, 1]),
  ...(['add_f64', 'min_f64', 'max_f64'] as const).map((name): [string, number] => [name, 2]),
] as const;

function atomics(): Row[] {
  const rows: Row[] = [];
  for (const kind of ['global', 'flat', 'buffer']) {
    const address = ADDRESSES[kind] as (typeof ADDRESSES)[string];
    for (const [suffix, dwords] of [...ATOMICS, ['pk_add_bf16', 1] as const, ['cmpswap', 1] as const]) {
      // Buffers have no pk_add_bf16 on gfx942.
      if (kind === 'buffer' && suffix === 'pk_add_bf16') continue;
      const name = `${kind}_atomic_${suffix}`;
      const words = suffix === 'cmpswap' ? 2 : dwords;
      const operations = suffix.startsWith('pk_') ? 2 : dwords;
      const line = (n: number): string => `${name} ${address.store(many(OWN + 2 * n, words))}`;
      rows.push(row('atomics', name, line, operations, 4 * dwords));
      const returned = (n: number): string => {
        const [result, data] = [many(RESULTS + 2 * n, dwords), many(OWN + 2 * n, words)];
        // A buffer's result comes into the data's registers.
        return kind === 'buffer'
          ? `${name} ${address.store(data)} sc0`
          : `${name} ${result}, ${address.store(data)} sc0`;
      };
      rows.push(row('atomics', `${name} sc0`, returned, operations, 4 * dwords));
      if (suffix === 'add' || suffix === 'add_f32') {
        rows.push(row('atomics', `${name}, one address`, line, 1, 4, { offset: () => 0 }));
      }
    }
  }
  return rows;
}

const LDS_LOADS = [
  ...['u8', 'i8', 'u8_d16', 'u8_d16_hi', 'i8_d16'].map((s) => [s, 1, 1] as const),
  ...['u16', 'i16', 'u16_d16', 'u16_d16_hi'].map((s) => [s, 1, 2] as const),
  ['b32', 1, 4],
  ['b64', 2, 8],
  ['b96', 3, 16],
  ['b128', 4, 16],
] as const;
const LDS_STORES = [
  ['b8', 1, 1],
  ['b8_d16_hi', 1, 1],
  ['b16', 1, 2],
  ['b16_d16_hi', 1, 2],
  ['b32', 1, 4],
  ['b64', 2, 8],
  ['b96', 3, 16],
  ['b128', 4, 16],
] as const;
const LDS_ATOMICS = [
  ...['add', 'sub', 'min', 'max', 'inc', 'dec'].flatMap((s) => [[`${s}_u32`, 1] as const, [`${s}_u64`, 2] as const]),
  ...['and', 'or', 'xor'].flatMap((s) => [[`${s}_b32`, 1] as const, [`${s}_b64`, 2] as const]),
  ...['min_i32', 'max_i32', 'add_f32', 'min_f32', 'max_f32', 'pk_add_f16', 'pk_add_bf16'].map((s) => [s, 1] as const),
  ...['add_f64', 'min_f64', 'max_f64'].map((s) => [s, 2] as const),
] as const;

function lds(): Row[] {
  const section = 'LDS';
  return [
    ...LDS_LOADS.map(([suffix, dwords, bytes]) =>
      row(
        section,
        `ds_read_${suffix}`,
        (n) => `ds_read_${suffix} ${many(RESULTS + 2 * n, dwords)}, v48`,
        dwords,
        bytes,
      ),
    ),
    row(section, 'ds_read_b32, scattered', (n) => `ds_read_b32 v${RESULTS + 2 * n}, v48`, 1, 4, {
      offset: scattered(4),
    }),
    ...LDS_STORES.map(([suffix, dwords, bytes]) =>
      row(section, `ds_write_${suffix}`, (n) => `ds_write_${suffix} v48, ${many(OWN + 2 * n, dwords)}`, dwords, bytes),
    ),
    row(section, 'ds_write_b32, scattered', (n) => `ds_write_b32 v48, v${OWN + 2 * n}`, 1, 4, { offset: scattered(4) }),
    ...(['', 'st64'] as const).flatMap((stride) =>
      (['b32', 'b64'] as const).flatMap((width) => {
        const dwords = width === 'b32' ? 1 : 2;
        const [read, write] = [`ds_read2${stride}_${width}`, `ds_write2${stride}_${width}`];
        return [
          row(
            section,
            read,
            (n) => `${read} ${many(RESULTS + 2 * n, 2 * dwords)}, v48 offset1:1`,
            2 * dwords,
            8 * dwords,
          ),
          row(
            section,
            write,
            (n) => `${write} v48, ${many(OWN + 2 * n, dwords)}, ${many(THIRD, dwords)} offset1:1`,
            2 * dwords,
            8 * dwords,
          ),
        ];
      }),
    ),
    ...LDS_ATOMICS.flatMap(([suffix, dwords]) => {
      const returned = `ds_${suffix.replace(/_(?=[a-z]+\d+$)/, '_rtn_')}`;
      const operations = suffix.startsWith('pk_') ? 2 : dwords;
      return [
        row(section, `ds_${suffix}`, (n) => `ds_${suffix} v48, ${many(OWN + 2 * n, dwords)}`, operations, 4 * dwords),
        row(
          section,
          returned,
          (n) => `${returned} ${many(RESULTS + 2 * n, dwords)}, v48, ${many(OWN + 2 * n, dwords)}`,
          operations,
          4 * dwords,
        ),
      ];
    }),
    ...(['ds_add_u32', 'ds_add_f32'] as const).map((name) =>
      row(section, `${name}, one address`, (n) => `${name} v48, v${OWN + 2 * n}`, 1, 4, { offset: () => 0 }),
    ),
    row(
      section,
      'ds_cmpst_rtn_b32',
      (n) => `ds_cmpst_rtn_b32 v${RESULTS + 2 * n}, v48, v${OWN + 2 * n}, v${THIRD}`,
      1,
      4,
    ),
    row(section, 'ds_wrxchg_rtn_b32', (n) => `ds_wrxchg_rtn_b32 v${RESULTS + 2 * n}, v48, v${OWN + 2 * n}`, 1, 4),
    ...(['ds_bpermute_b32', 'ds_permute_b32'] as const).map((name) =>
      row(section, name, (n) => `${name} v${RESULTS + 2 * n}, v48, v${OWN + 2 * n}`, 1, 4, { offset: scattered(4) }),
    ),
    ...['QUAD_PERM, 1, 0, 3, 2', 'BITMASK_PERM, "00p11"', 'SWAP, 16', 'BROADCAST, 8, 3', 'REVERSE, 16'].map((how) =>
      row(
        section,
        `ds_swizzle_b32 ${how}`,
        (n) => `ds_swizzle_b32 v${RESULTS + 2 * n}, v${OWN + 2 * n} offset:swizzle(${how})`,
        1,
        4,
      ),
    ),
    ...(
      [
        ['ds_read_b64_tr_b16', 2],
        ['ds_read_b64_tr_b8', 2],
        ['ds_read_b64_tr_b4', 2],
        ['ds_read_b96_tr_b6', 3],
      ] as const
    ).map(([name, dwords]) =>
      row(
        section,
        `${name} gfx950`,
        (n) => `${name} ${many(RESULTS + 2 * n, dwords)}, v48`,
        dwords,
        dwords === 3 ? 16 : 8,
        {
          target: 'gfx950',
        },
      ),
    ),
  ];
}

function loadsIntoLds(): Row[] {
  const section = 'loads into LDS';
  const widths: readonly (readonly [string, number, number, TargetName])[] = [
    ['ubyte', 1, 1, 'gfx942'],
    ['ushort', 1, 2, 'gfx942'],
    ['dword', 1, 4, 'gfx942'],
    ['dwordx3', 3, 12, 'gfx950'],
    ['dwordx4', 4, 16, 'gfx950'],
  ];
  const before = 's_mov_b32 m0, 0';
  return widths.flatMap(([suffix, dwords, bytes, target]) => {
    const global = `global_load_lds_${suffix}`;
    const buffer = `buffer_load_${suffix}`;
    const other = target === 'gfx942' ? '' : ` ${target}`;
    return [
      row(section, `${global}${other}`, () => `${global} v48, s[12:13]`, dwords, bytes, { target, before }),
      row(section, `${buffer} lds${other}`, () => `${buffer} v48, s[16:19], 0 offen lds`, dwords, bytes, {
        target,
        before,
      }),
    ];
  });
}

/** Transfers, atomics, LDS and loads into it. */
export function memory(): Row[] {
  return [...transfers(), ...atomics(), ...lds(), ...loadsIntoLds()];
}
