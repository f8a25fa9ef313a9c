// Memory operations: DS, FLAT/GLOBAL/SCRATCH, MUBUF/MTBUF, SMEM. Atomics are update expressions over (memory, data, data2).
// Source: AMD CDNA3 Instruction Set Architecture, chapters "Data Share Operations", "Vector Memory", "Flat", "Scalar Memory".
import * as e from './expr.ts';
import { type Expr, i32, i64, source } from './expr.ts';
import type { AtomicOperation, MemorySpace } from './operation.ts';
import { define, structural, unreachable } from './registry.ts';

function load(
  name: string,
  space: MemorySpace,
  bytes: number,
  more: { signed?: boolean; half?: 'low' | 'high'; pairStride?: number; toLds?: boolean } = {},
): void {
  define(name, {
    kind: 'load',
    space,
    bytes,
    signed: more.signed ?? false,
    half: more.half,
    pairStride: more.pairStride,
    toLds: more.toLds ?? false,
  });
}
function store(
  name: string,
  space: MemorySpace,
  bytes: number,
  more: { half?: 'high'; pairStride?: number } = {},
): void {
  define(name, { kind: 'store', space, bytes, half: more.half, pairStride: more.pairStride });
}

// Loads and stores of vector memory share their names but for the prefix.
const VECTOR_SPACES = ['flat', 'global', 'scratch', 'buffer'] as const;
const DWORDS = [
  ['dword', 4],
  ['dwordx2', 8],
  ['dwordx3', 12],
  ['dwordx4', 16],
] as const;
for (const space of VECTOR_SPACES) {
  for (const [suffix, bytes] of DWORDS) {
    load(`${space}_load_${suffix}`, space, bytes);
    store(`${space}_store_${suffix}`, space, bytes);
  }
  load(`${space}_load_ubyte`, space, 1);
  load(`${space}_load_sbyte`, space, 1, { signed: true });
  load(`${space}_load_ushort`, space, 2);
  load(`${space}_load_sshort`, space, 2, { signed: true });
  for (const [suffix, half] of [
    ['', 'low'],
    ['_hi', 'high'],
  ] as const) {
    load(`${space}_load_ubyte_d16${suffix}`, space, 1, { half });
    load(`${space}_load_sbyte_d16${suffix}`, space, 1, { half, signed: true });
    load(`${space}_load_short_d16${suffix}`, space, 2, { half });
  }
  store(`${space}_store_byte`, space, 1);
  store(`${space}_store_short`, space, 2);
  store(`${space}_store_byte_d16_hi`, space, 1, { half: 'high' });
  store(`${space}_store_short_d16_hi`, space, 2, { half: 'high' });
}
for (const space of ['global', 'scratch'] as const) {
  const toLds = true;
  for (const [suffix, bytes] of DWORDS) {
    if (bytes !== 8 && (space === 'global' || bytes === 4))
      load(`${space}_load_lds_${suffix}`, space, bytes, { toLds });
  }
  load(`${space}_load_lds_ubyte`, space, 1, { toLds });
  load(`${space}_load_lds_sbyte`, space, 1, { toLds, signed: true });
  load(`${space}_load_lds_ushort`, space, 2, { toLds });
  load(`${space}_load_lds_sshort`, space, 2, { toLds, signed: true });
}
const FORMATS = ['x', 'xy', 'xyz', 'xyzw'];
for (const space of ['buffer', 'tbuffer'] as const) {
  for (const direction of ['load', 'store'] as const) {
    FORMATS.forEach((suffix, n) => {
      define(`${space}_${direction}_format_${suffix}`, {
        kind: 'format',
        direction,
        space,
        components: n + 1,
        d16: undefined,
      });
      define(`${space}_${direction}_format_d16_${suffix}`, {
        kind: 'format',
        direction,
        space,
        components: n + 1,
        d16: 'packed',
      });
    });
    if (space === 'buffer') {
      define(`buffer_${direction}_format_d16_hi_x`, { kind: 'format', direction, space, components: 1, d16: 'high' });
    }
  }
}
unreachable('buffer_store_lds_dword', 'compilers never emit it and its LDS addressing rules are not public for gfx90a');

// Scalar memory
for (const [suffix, bytes] of [...DWORDS, ['dwordx8', 32], ['dwordx16', 64]] as const) {
  if (bytes === 12) continue;
  load(`s_load_${suffix}`, 'scalar', bytes);
  load(`s_buffer_load_${suffix}`, 'scalarBuffer', bytes);
  if (bytes > 16) continue;
  store(`s_store_${suffix}`, 'scalar', bytes);
  store(`s_buffer_store_${suffix}`, 'scalarBuffer', bytes);
  load(`s_scratch_load_${suffix}`, 'scalarScratch', bytes);
  store(`s_scratch_store_${suffix}`, 'scalarScratch', bytes);
}
structural('s_memtime', 'memtime', 0);
structural('s_memrealtime', 'memtime', 1);
for (const name of [
  's_dcache_inv',
  's_dcache_inv_vol',
  's_dcache_wb',
  's_dcache_wb_vol',
  's_dcache_discard',
  's_dcache_discard_x2',
  's_atc_probe',
  's_atc_probe_buffer',
  'buffer_inv',
  'buffer_invl2',
  'buffer_wbinvl1',
  'buffer_wbinvl1_vol',
  'buffer_wbl2',
]) {
  structural(name, 'cacheControl');
}

// Atomics
type Update = (memory: Expr, data: Expr, data2: Expr) => Expr;
const INTEGER_UPDATES: Record<string, Update> = {
  swap: (_m, d) => d,
  add: (m, d) => e.add(m, d),
  sub: (m, d) => e.sub(m, d),
  rsub: (m, d) => e.sub(d, m),
  smin: (m, d) => e.minS(m, d),
  umin: (m, d) => e.minU(m, d),
  smax: (m, d) => e.maxS(m, d),
  umax: (m, d) => e.maxU(m, d),
  and: (m, d) => e.and(m, d),
  or: (m, d) => e.or(m, d),
  xor: (m, d) => e.xor(m, d),
  inc: (m, d) => e.select(e.geU(m, d), zero(m), e.add(m, oneOf(m))),
  dec: (m, d) => {
    const wraps = e.operate('or', 'bool', [e.eq(m, zero(m)), e.gtU(m, d)]);
    return e.select(wraps, d, e.sub(m, oneOf(m)));
  },
  mskor: (m, d, d2) => e.or(e.and(m, e.not(d)), d2),
  cmpswap: (m, next, expected) => e.select(e.eq(m, expected), next, m),
  wrap: (m, d, d2) => e.select(e.geU(m, d), e.sub(m, d), e.add(m, d2)),
};
const zero = (m: Expr): Expr => (m.type === 'i64' ? i64(0) : i32(0));
const oneOf = (m: Expr): Expr => (m.type === 'i64' ? i64(1) : i32(1));

function atomic(
  name: string,
  space: MemorySpace,
  type: AtomicOperation['type'],
  update: Update,
  data: AtomicOperation['data'] = 'one',
  pairStride?: number,
): void {
  const value = type === 'f16x2' ? 'f16' : type === 'bf16x2' ? 'bf16' : type;
  const parts = type === 'f16x2' || type === 'bf16x2' ? [0, 1] : [0];
  define(name, {
    kind: 'atomic',
    space,
    type,
    update: parts.map((p) => update(source(value, 0, p), source(value, 1, p), source(value, 2, p))),
    data,
    pairStride,
  });
}
const GLOBAL_INTEGER = ['swap', 'add', 'sub', 'smin', 'umin', 'smax', 'umax', 'and', 'or', 'xor', 'inc', 'dec'];
for (const [prefix, space] of [
  ['flat', 'flat'],
  ['global', 'global'],
  ['buffer', 'buffer'],
  ['s', 'scalar'],
  ['s_buffer', 'scalarBuffer'],
] as const) {
  for (const [suffix, type] of [
    ['', 'i32'],
    ['_x2', 'i64'],
  ] as const) {
    for (const op of GLOBAL_INTEGER)
      atomic(`${prefix}_atomic_${op}${suffix}`, space, type, INTEGER_UPDATES[op] as Update);
    atomic(`${prefix}_atomic_cmpswap${suffix}`, space, type, INTEGER_UPDATES.cmpswap as Update, 'newThenCompare');
  }
  if (space === 'scalar' || space === 'scalarBuffer') continue;
  atomic(`${prefix}_atomic_add_f32`, space, 'f32', e.add);
  atomic(`${prefix}_atomic_add_f64`, space, 'f64', e.add);
  atomic(`${prefix}_atomic_min_f64`, space, 'f64', e.fmin);
  atomic(`${prefix}_atomic_max_f64`, space, 'f64', e.fmax);
  atomic(`${prefix}_atomic_pk_add_f16`, space, 'f16x2', e.add);
  atomic(`${prefix}_atomic_pk_add_bf16`, space, 'bf16x2', e.add);
}

// DS
for (const [suffix, bytes] of [
  ['b32', 4],
  ['b64', 8],
  ['b96', 12],
  ['b128', 16],
] as const) {
  load(`ds_read_${suffix}`, 'lds', bytes);
  store(`ds_write_${suffix}`, 'lds', bytes);
  if (bytes > 8) continue;
  load(`ds_read2_${suffix}`, 'lds', bytes, { pairStride: bytes });
  load(`ds_read2st64_${suffix}`, 'lds', bytes, { pairStride: 64 * bytes });
  store(`ds_write2_${suffix}`, 'lds', bytes, { pairStride: bytes });
  store(`ds_write2st64_${suffix}`, 'lds', bytes, { pairStride: 64 * bytes });
  const type = bytes === 4 ? 'i32' : 'i64';
  const swap = INTEGER_UPDATES.swap as Update;
  atomic(`ds_wrxchg_rtn_${suffix}`, 'lds', type, swap);
  atomic(`ds_wrxchg2_rtn_${suffix}`, 'lds', type, swap, 'twoOperands', bytes);
  atomic(`ds_wrxchg2st64_rtn_${suffix}`, 'lds', type, swap, 'twoOperands', 64 * bytes);
}
load('ds_read_u8', 'lds', 1);
load('ds_read_i8', 'lds', 1, { signed: true });
load('ds_read_u16', 'lds', 2);
load('ds_read_i16', 'lds', 2, { signed: true });
for (const [suffix, half] of [
  ['', 'low'],
  ['_hi', 'high'],
] as const) {
  load(`ds_read_u8_d16${suffix}`, 'lds', 1, { half });
  load(`ds_read_i8_d16${suffix}`, 'lds', 1, { half, signed: true });
  load(`ds_read_u16_d16${suffix}`, 'lds', 2, { half });
}
store('ds_write_b8', 'lds', 1);
store('ds_write_b16', 'lds', 2);
store('ds_write_b8_d16_hi', 'lds', 1, { half: 'high' });
store('ds_write_b16_d16_hi', 'lds', 2, { half: 'high' });

const DS_INTEGER: [string, string, 'b' | 'u' | 'i'][] = [
  ['add', 'add', 'u'],
  ['sub', 'sub', 'u'],
  ['rsub', 'rsub', 'u'],
  ['inc', 'inc', 'u'],
  ['dec', 'dec', 'u'],
  ['min', 'smin', 'i'],
  ['min', 'umin', 'u'],
  ['max', 'smax', 'i'],
  ['max', 'umax', 'u'],
  ['and', 'and', 'b'],
  ['or', 'or', 'b'],
  ['xor', 'xor', 'b'],
];
for (const rtn of ['', '_rtn']) {
  for (const [bits, type] of [
    [32, 'i32'],
    [64, 'i64'],
  ] as const) {
    for (const [name, update, letter] of DS_INTEGER) {
      atomic(`ds_${name}${rtn}_${letter}${bits}`, 'lds', type, INTEGER_UPDATES[update] as Update);
    }
    atomic(`ds_mskor${rtn}_b${bits}`, 'lds', type, INTEGER_UPDATES.mskor as Update, 'twoOperands');
    atomic(`ds_cmpst${rtn}_b${bits}`, 'lds', type, INTEGER_UPDATES.cmpswap as Update, 'compareThenNew');
    const float = bits === 32 ? 'f32' : 'f64';
    // Compared as floats, and moved or left bit by bit.
    const isSame = e.eq(source(float, 0), source(float, 2));
    define(`ds_cmpst${rtn}_f${bits}`, {
      kind: 'atomic',
      space: 'lds',
      type: float,
      update: [e.select(isSame, source(type, 1), source(type, 0))],
      data: 'compareThenNew',
      pairStride: undefined,
    });
    atomic(`ds_add${rtn}_f${bits}`, 'lds', float, e.add);
    atomic(`ds_min${rtn}_f${bits}`, 'lds', float, e.fmin);
    atomic(`ds_max${rtn}_f${bits}`, 'lds', float, e.fmax);
  }
  atomic(`ds_pk_add${rtn}_f16`, 'lds', 'f16x2', e.add);
  atomic(`ds_pk_add${rtn}_bf16`, 'lds', 'bf16x2', e.add);
}
atomic('ds_wrap_rtn_b32', 'lds', 'i32', INTEGER_UPDATES.wrap as Update, 'twoOperands');
structural('ds_condxchg32_rtn_b64', 'condxchg');
structural('ds_permute_b32', 'permute');
structural('ds_bpermute_b32', 'bpermute');
structural('ds_swizzle_b32', 'swizzle');
structural('ds_append', 'append', 1);
structural('ds_consume', 'append', -1);
structural('ds_read_addtid_b32', 'addtid', 0, 'load');
structural('ds_write_addtid_b32', 'addtid', 0, 'store');
structural('ds_nop', 'nop');
structural('ds_read_b64_tr_b4', 'readTransposed', 4);
structural('ds_read_b64_tr_b8', 'readTransposed', 8);
structural('ds_read_b64_tr_b16', 'readTransposed', 16);
structural('ds_read_b96_tr_b6', 'readTransposed', 6);
// The barrier is set up by a cooperative launch, for one wavefront of every workgroup.
const GWS = 'global wave sync needs a resource the driver allocates across workgroups';
structural('ds_gws_barrier', 'gridBarrier');
for (const name of ['init', 'sema_v', 'sema_p', 'sema_br', 'sema_release_all']) {
  unreachable(`ds_gws_${name}`, GWS);
}

// Images: gfx90a has them, later chips do not.
for (const [name, action] of [
  ['image_load', 'load'],
  ['image_store', 'store'],
] as const) {
  define(name, { kind: 'image', action, mip: false });
  define(`${name}_mip`, { kind: 'image', action, mip: true });
}
define('image_sample', { kind: 'image', action: 'sample', mip: false });
define('image_get_resinfo', { kind: 'image', action: 'size', mip: false });
const PACKED_IMAGES = 'no compiler of HIP makes packed or atomic accesses to images';
for (const op of [...GLOBAL_INTEGER, 'cmpswap']) unreachable(`image_atomic_${op}`, PACKED_IMAGES);
for (const op of ['load_mip_pck', 'load_mip_pck_sgn', 'load_pck', 'load_pck_sgn', 'store_mip_pck', 'store_pck']) {
  unreachable(`image_${op}`, PACKED_IMAGES);
}
