// Scalar ALU operations: SOP1, SOP2, SOPK, SOPC and the control flow of SOPP.
// Source: AMD CDNA3 Instruction Set Architecture, chapters "SOP2 Instructions" to "SOPP Instructions".
import * as e from './expr.ts';
import { type Expr, i32, i64 } from './expr.ts';
import { at, define, scalar, structural, unreachable } from './registry.ts';

const WIDTHS = [
  { bits: 32, type: 'i32', constant: i32, suffix: 'b32' },
  { bits: 64, type: 'i64', constant: i64, suffix: 'b64' },
] as const;

const AND_OR: Record<string, (a: Expr, b: Expr) => Expr> = {
  and: e.and,
  or: e.or,
  xor: e.xor,
  andn2: (a, b) => e.and(a, e.not(b)),
  orn2: (a, b) => e.or(a, e.not(b)),
  nand: (a, b) => e.not(e.and(a, b)),
  nor: (a, b) => e.not(e.or(a, b)),
  xnor: (a, b) => e.not(e.xor(a, b)),
};

for (const [name, f] of Object.entries(AND_OR)) {
  for (const { type, suffix } of WIDTHS) {
    scalar(`s_${name}_${suffix}`, [type, type], type, (a, b) => ({ result: f(a, b), scc: 'nonzero' }));
  }
}
const SAVE_EXEC: typeof AND_OR = {
  ...AND_OR,
  andn1: (a, b) => e.and(e.not(a), b),
  orn1: (a, b) => e.or(e.not(a), b),
};
for (const [name, f] of Object.entries(SAVE_EXEC)) {
  scalar(`s_${name}_saveexec_b64`, ['i64'], 'i64', (a) => {
    const next = f(a, e.exec);
    return { result: e.exec, exec: next, scc: e.ne(next, i64(0)) };
  });
}
for (const name of ['andn1', 'andn2']) {
  const f = SAVE_EXEC[name] as (a: Expr, b: Expr) => Expr;
  scalar(`s_${name}_wrexec_b64`, ['i64'], 'i64', (a) => {
    const next = f(a, e.exec);
    return { result: next, exec: next, scc: e.ne(next, i64(0)) };
  });
}

for (const { bits, type, constant, suffix } of WIDTHS) {
  const one = constant(1);
  scalar(`s_mov_${suffix}`, [type], type, (a) => ({ result: a }));
  scalar(`s_cmov_${suffix}`, [type], type, (a) => ({ result: a, when: e.scc }));
  scalar(`s_not_${suffix}`, [type], type, (a) => ({ result: e.not(a), scc: 'nonzero' }));
  scalar(`s_brev_${suffix}`, [type], type, (a) => ({ result: e.bitrev(a) }));
  scalar(`s_cselect_${suffix}`, [type, type], type, (a, b) => ({ result: e.select(e.scc, a, b) }));
  scalar(`s_bcnt0_i32_${suffix}`, [type], 'i32', (a) => ({ result: e.popcnt(e.not(a)), scc: 'nonzero' }));
  scalar(`s_bcnt1_i32_${suffix}`, [type], 'i32', (a) => ({ result: e.popcnt(a), scc: 'nonzero' }));
  const first = (a: Expr): Expr => e.select(e.eq(a, constant(0)), i32(-1), e.ctz(a));
  scalar(`s_ff0_i32_${suffix}`, [type], 'i32', (a) => ({ result: first(e.not(a)) }));
  scalar(`s_ff1_i32_${suffix}`, [type], 'i32', (a) => ({ result: first(a) }));
  const leading = (a: Expr): Expr => e.select(e.eq(a, constant(0)), i32(-1), e.clz(a));
  scalar(`s_flbit_i32_${suffix}`, [type], 'i32', (a) => ({ result: leading(a) }));
  // Leading sign bits: bits that differ from the sign become ones.
  const differing = (a: Expr): Expr => e.xor(a, e.shrS(a, i32(bits - 1)));
  scalar(bits === 32 ? 's_flbit_i32' : 's_flbit_i32_i64', [type], 'i32', (a) => ({ result: leading(differing(a)) }));
  scalar(`s_bitset0_${suffix}`, ['i32', at('sdst', type)], type, (a, d) => ({
    result: e.and(d, e.not(e.shl(one, a))),
  }));
  scalar(`s_bitset1_${suffix}`, ['i32', at('sdst', type)], type, (a, d) => ({ result: e.or(d, e.shl(one, a)) }));
  scalar(`s_lshl_${suffix}`, [type, 'i32'], type, (a, b) => ({ result: e.shl(a, b), scc: 'nonzero' }));
  scalar(`s_lshr_${suffix}`, [type, 'i32'], type, (a, b) => ({ result: e.shrU(a, b), scc: 'nonzero' }));
  scalar(`s_ashr_i${bits}`, [type, 'i32'], type, (a, b) => ({ result: e.shrS(a, b), scc: 'nonzero' }));
  const mask = (width: Expr): Expr => e.sub(e.shl(one, width), one);
  scalar(`s_bfm_${suffix}`, ['i32', 'i32'], type, (a, b) => ({ result: e.shl(mask(a), b) }));
  const width = (b: Expr): Expr => e.field(b, 16, 7);
  const whole = (b: Expr): Expr => e.geU(width(b), i32(bits));
  scalar(`s_bfe_u${bits}`, [type, 'i32'], type, (a, b) => {
    const shifted = e.shrU(a, b);
    return { result: e.select(whole(b), shifted, e.and(shifted, mask(width(b)))), scc: 'nonzero' };
  });
  scalar(`s_bfe_i${bits}`, [type, 'i32'], type, (a, b) => {
    const shifted = e.shrS(a, b);
    const unused = e.sub(i32(bits), width(b));
    const extended = e.shrS(e.shl(shifted, unused), unused);
    const zero = e.eq(width(b), i32(0));
    return { result: e.select(zero, constant(0), e.select(whole(b), shifted, extended)), scc: 'nonzero' };
  });
  const bit = (a: Expr, b: Expr): Expr => e.ne(e.and(e.shrU(a, b), one), constant(0));
  scalar(`s_bitcmp0_${suffix}`, [type, 'i32'], undefined, (a, b) => ({ scc: e.operate('not', 'bool', [bit(a, b)]) }));
  scalar(`s_bitcmp1_${suffix}`, [type, 'i32'], undefined, (a, b) => ({ scc: bit(a, b) }));

  // Four-bit groups: OR the bits of a group into its lowest bit.
  const groups = bits === 32 ? i32(0x11111111) : i64(0x1111111111111111n);
  const any = (a: Expr): Expr => {
    const two = e.or(a, e.shrU(a, i32(1)));
    return e.and(e.or(two, e.shrU(two, i32(2))), groups);
  };
  scalar(`s_wqm_${suffix}`, [type], type, (a) => ({ result: e.mul(any(a), constant(15)), scc: 'nonzero' }));
  scalar(`s_quadmask_${suffix}`, [type], type, (a) => ({ result: gather4(any(a), type), scc: 'nonzero' }));
}

/** Packs bits 0, 4, 8, … together. */
function gather4(a: Expr, type: 'i32' | 'i64'): Expr {
  const c = (n: bigint): Expr => (type === 'i32' ? i32(Number(BigInt.asIntN(32, n))) : i64(n));
  let x = a;
  const steps: [number, bigint][] = [
    [3, 0x0303030303030303n],
    [6, 0x000f000f000f000fn],
    [12, 0x000000ff000000ffn],
    [24, 0x000000000000ffffn],
  ];
  for (const [shift, mask] of type === 'i32' ? steps.slice(0, 3) : steps) {
    x = e.and(e.or(x, e.shrU(x, i32(shift))), c(mask));
  }
  return x;
}

const carryOut = (wide: Expr): Expr => e.ne(e.shrU(wide, i32(32)), i64(0));
const wideAdd = (a: Expr, b: Expr): Expr => e.add(e.extendU(a), e.extendU(b));
const carryIn = e.extendU(e.boolToI32(e.scc));

scalar('s_add_u32', ['i32', 'i32'], 'i32', (a, b) => ({ result: e.add(a, b), scc: carryOut(wideAdd(a, b)) }));
scalar('s_sub_u32', ['i32', 'i32'], 'i32', (a, b) => ({ result: e.sub(a, b), scc: e.ltU(a, b) }));
scalar('s_addc_u32', ['i32', 'i32'], 'i32', (a, b) => {
  const sum = e.add(wideAdd(a, b), carryIn);
  return { result: e.wrap(sum), scc: carryOut(sum) };
});
scalar('s_subb_u32', ['i32', 'i32'], 'i32', (a, b) => ({
  result: e.sub(e.sub(a, b), e.boolToI32(e.scc)),
  scc: e.ltU(e.extendU(a), e.add(e.extendU(b), carryIn)),
}));
const overflows = (a: Expr, b: Expr, sum: Expr): Expr => e.ltS(e.and(e.xor(a, sum), e.xor(b, sum)), i32(0));
scalar('s_add_i32', ['i32', 'i32'], 'i32', (a, b) => ({ result: e.add(a, b), scc: overflows(a, b, e.add(a, b)) }));
scalar('s_sub_i32', ['i32', 'i32'], 'i32', (a, b) => ({
  result: e.sub(a, b),
  scc: e.ltS(e.and(e.xor(a, b), e.xor(a, e.sub(a, b))), i32(0)),
}));
scalar('s_min_i32', ['i32', 'i32'], 'i32', (a, b) => ({ result: e.minS(a, b), scc: e.ltS(a, b) }));
scalar('s_min_u32', ['i32', 'i32'], 'i32', (a, b) => ({ result: e.minU(a, b), scc: e.ltU(a, b) }));
scalar('s_max_i32', ['i32', 'i32'], 'i32', (a, b) => ({ result: e.maxS(a, b), scc: e.geS(a, b) }));
scalar('s_max_u32', ['i32', 'i32'], 'i32', (a, b) => ({ result: e.maxU(a, b), scc: e.geU(a, b) }));
scalar('s_mul_i32', ['i32', 'i32'], 'i32', (a, b) => ({ result: e.mul(a, b) }));
scalar('s_mul_hi_u32', ['i32', 'i32'], 'i32', (a, b) => ({ result: e.mulhiU(a, b) }));
scalar('s_mul_hi_i32', ['i32', 'i32'], 'i32', (a, b) => ({ result: e.mulhiS(a, b) }));
scalar('s_absdiff_i32', ['i32', 'i32'], 'i32', (a, b) => ({ result: e.abs(e.sub(a, b)), scc: 'nonzero' }));
scalar('s_abs_i32', ['i32'], 'i32', (a) => ({ result: e.abs(a), scc: 'nonzero' }));
for (const shift of [1, 2, 3, 4]) {
  scalar(`s_lshl${shift}_add_u32`, ['i32', 'i32'], 'i32', (a, b) => {
    const sum = e.add(e.shl(e.extendU(a), i32(shift)), e.extendU(b));
    return { result: e.wrap(sum), scc: carryOut(sum) };
  });
}
scalar('s_pack_ll_b32_b16', ['i32', 'i32'], 'i32', (a, b) => ({ result: e.pack16(a, b) }));
scalar('s_pack_lh_b32_b16', ['i32', 'i32'], 'i32', (a, b) => ({ result: e.pack16(a, e.shrU(b, i32(16))) }));
scalar('s_pack_hh_b32_b16', ['i32', 'i32'], 'i32', (a, b) => ({
  result: e.pack16(e.shrU(a, i32(16)), e.shrU(b, i32(16))),
}));
scalar('s_sext_i32_i8', ['i32'], 'i32', (a) => ({ result: e.fieldS(a, 0, 8) }));
scalar('s_sext_i32_i16', ['i32'], 'i32', (a) => ({ result: e.fieldS(a, 0, 16) }));
scalar('s_bitreplicate_b64_b32', ['i32'], 'i64', (a) => {
  let x = e.extendU(a);
  for (const [shift, mask] of [
    [16, 0x0000ffff0000ffffn],
    [8, 0x00ff00ff00ff00ffn],
    [4, 0x0f0f0f0f0f0f0f0fn],
    [2, 0x3333333333333333n],
    [1, 0x5555555555555555n],
  ] as const) {
    x = e.and(e.or(x, e.shl(x, i32(shift))), i64(mask));
  }
  return { result: e.or(x, e.shl(x, i32(1))) };
});

const COMPARES: Record<string, [(a: Expr, b: Expr) => Expr, (a: Expr, b: Expr) => Expr]> = {
  eq: [e.eq, e.eq],
  lg: [e.ne, e.ne],
  gt: [e.gtS, e.gtU],
  ge: [e.geS, e.geU],
  lt: [e.ltS, e.ltU],
  le: [e.leS, e.leU],
};
const k = at('simm16', 'i32');
const signedK = (x: Expr): Expr => e.fieldS(x, 0, 16);
const unsignedK = (x: Expr): Expr => e.field(x, 0, 16);
for (const [name, [signed, unsigned]] of Object.entries(COMPARES)) {
  scalar(`s_cmp_${name}_i32`, ['i32', 'i32'], undefined, (a, b) => ({ scc: signed(a, b) }));
  scalar(`s_cmp_${name}_u32`, ['i32', 'i32'], undefined, (a, b) => ({ scc: unsigned(a, b) }));
  scalar(`s_cmpk_${name}_i32`, [at('sdst', 'i32'), k], undefined, (a, b) => ({ scc: signed(a, signedK(b)) }));
  scalar(`s_cmpk_${name}_u32`, [at('sdst', 'i32'), k], undefined, (a, b) => ({ scc: unsigned(a, unsignedK(b)) }));
}
scalar('s_cmp_eq_u64', ['i64', 'i64'], undefined, (a, b) => ({ scc: e.eq(a, b) }));
scalar('s_cmp_lg_u64', ['i64', 'i64'], undefined, (a, b) => ({ scc: e.ne(a, b) }));

scalar('s_movk_i32', [k], 'i32', (x) => ({ result: signedK(x) }));
scalar('s_cmovk_i32', [k], 'i32', (x) => ({ result: signedK(x), when: e.scc }));
scalar('s_addk_i32', [at('sdst', 'i32'), k], 'i32', (d, x) => {
  const sum = e.add(d, signedK(x));
  return { result: sum, scc: overflows(d, signedK(x), sum) };
});
scalar('s_mulk_i32', [at('sdst', 'i32'), k], 'i32', (d, x) => ({ result: e.mul(d, signedK(x)) }));

const notB = (a: Expr): Expr => e.operate('not', 'bool', [a]);
const BRANCHES: Record<string, Expr | undefined> = {
  s_branch: undefined,
  s_cbranch_scc0: notB(e.scc),
  s_cbranch_scc1: e.scc,
  s_cbranch_vccz: e.vccz,
  s_cbranch_vccnz: notB(e.vccz),
  s_cbranch_execz: e.execz,
  s_cbranch_execnz: notB(e.execz),
};
for (const [name, condition] of Object.entries(BRANCHES)) {
  define(name, { kind: 'branch', condition });
  define(`${name}_pad_s_nop`, { kind: 'branch', condition });
}
// The debugger's condition bits are never set here, so these fall through, as on hardware without a debugger.
const never = e.ne(i32(0), i32(0));
for (const name of ['cdbgsys', 'cdbguser', 'cdbgsys_or_user', 'cdbgsys_and_user']) {
  define(`s_cbranch_${name}`, { kind: 'branch', condition: never });
  define(`s_cbranch_${name}_pad_s_nop`, { kind: 'branch', condition: never });
}

structural('s_getpc_b64', 'getpc');
structural('s_setpc_b64', 'setpc');
structural('s_swappc_b64', 'swappc');
structural('s_call_b64', 'call');
structural('s_getreg_b32', 'getreg');
structural('s_setreg_b32', 'setreg');
structural('s_setreg_imm32_b32', 'setreg');
structural('s_movrels_b32', 'movrels', 1);
structural('s_movrels_b64', 'movrels', 2);
structural('s_movreld_b32', 'movreld', 1);
structural('s_movreld_b64', 'movreld', 2);
structural('s_set_gpr_idx_on', 'setGprIndexOn');
structural('s_set_gpr_idx_off', 'setGprIndexOff');
structural('s_set_gpr_idx_mode', 'setGprIndexMode');
structural('s_set_gpr_idx_idx', 'setGprIndex');
structural('s_waitcnt', 'waitcnt');
structural('s_endpgm', 'endpgm');
structural('s_endpgm_saved', 'endpgm');
structural('s_endpgm_ordered_ps_done', 'endpgm');
structural('s_barrier', 'barrier');
structural('s_sleep', 'sleep');
structural('s_sendmsg', 'sendmsg');
structural('s_sendmsghalt', 'sendmsg', 1);
structural('s_trap', 'trap');
structural('s_sethalt', 'sethalt');
for (const name of [
  's_nop',
  's_setprio',
  's_setkill',
  's_wakeup',
  's_incperflevel',
  's_decperflevel',
  's_ttracedata',
]) {
  structural(name, 'nop');
}
structural('s_icache_inv', 'cacheControl');

const FORKS = 'the fork stack is a graphics-era feature no compute compiler emits';
for (const name of ['s_cbranch_g_fork', 's_cbranch_i_fork', 's_cbranch_join']) unreachable(name, FORKS);
const PRIVILEGED = 'it returns from a trap handler, which compute kernels do not contain';
for (const name of ['s_rfe_b64', 's_rfe_restore_b64']) unreachable(name, PRIVILEGED);
structural('s_setvskip', 'setVskip');
