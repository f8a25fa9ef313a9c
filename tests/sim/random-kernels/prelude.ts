// The fixed part of a random kernel's C source: types, operations without undefined behaviour, and the two ways to run it: as an
// AMDGPU kernel, and on the host phase by phase for all work-items in turn.

/** Work-items of a workgroup (one wave and a half), workgroups, words each work-item writes, input words. */
export const SHAPE = { block: 96, groups: 2, results: 16, inputs: 256, counters: 16 } as const;

export const PRELUDE = `
typedef unsigned u32; typedef int i32; typedef unsigned long long u64; typedef long long i64;
typedef unsigned short u16; typedef signed char i8; typedef float f32; typedef double f64;
#define BLOCK ${SHAPE.block}
#define GROUPS ${SHAPE.groups}
#define RESULTS ${SHAPE.results}
#define INPUTS ${SHAPE.inputs}
#define COUNTERS ${SHAPE.counters}
#pragma STDC FP_CONTRACT OFF
#ifdef __AMDGCN__
#define GLOBAL __attribute__((address_space(1)))
#define LDS __attribute__((address_space(3)))
#else
#define GLOBAL
#define LDS
#endif
struct State { u32 u0, u1, u2; i32 i0, i1, i2; u64 l0, l1; i64 q0, q1; f32 f0, f1, f2; f64 d0, d1; u32 tid, group; };
static inline u32 f2w(f32 x) { u32 r; __builtin_memcpy(&r, &x, 4); return x != x ? 0x7fc00000u : r; }
static inline f32 w2f(u32 x) { f32 r; __builtin_memcpy(&r, &x, 4); return r; }
static inline u64 d2w(f64 x) { u64 r; __builtin_memcpy(&r, &x, 8); return x != x ? 0x7ff8000000000000ull : r; }
static inline i32 f2i(f32 x) { return x > -2e9f && x < 2e9f ? (i32)x : 7; }
static inline i64 d2q(f64 x) { return x > -9e18 && x < 9e18 ? (i64)x : 9; }
static inline i32 div_i(i32 a, i32 b) { return b == 0 || (b == -1 && a == -2147483647 - 1) ? a : a / b; }
static inline i32 rem_i(i32 a, i32 b) { return b == 0 || b == -1 ? 0 : a % b; }
static inline i64 div_q(i64 a, i64 b) { return b == 0 || b == -1 ? (i64)(0 - (u64)a) : a / b; }
static inline u32 rotate(u32 a, u32 b) { return a << (b & 31) | a >> (-b & 31); }
#define ATOMIC(op, p, v) __atomic_fetch_##op(p, v, __ATOMIC_RELAXED)
`;

/** The first and the last part of every kernel, and what kernels share. */
export const STAGES = `
#ifndef STAGE
#define STAGE
#endif
static STAGE void start(struct State *s, u32 *a, u32 tid, u32 group, GLOBAL const u32 *in, LDS u32 *to, LDS u32 *tally) {
#define IN(n) in[(n) % INPUTS]
  s->u0 = IN(tid * 7); s->u1 = IN(tid * 7 + 1); s->u2 = IN(tid * 7 + 2);
  s->i0 = (i32)IN(tid * 5 + group); s->i1 = (i32)IN(tid * 5 + 1 + group); s->i2 = (i32)IN(tid * 5 + 2 + group);
  s->f0 = w2f(IN(tid + 31)); s->f1 = (f32)(i32)IN(tid + 1) / 65536.0f; s->f2 = (f32)(i32)IN(tid + 2) / 65536.0f;
  s->l0 = (u64)s->u0 << 32 | s->u1; s->l1 = (u64)s->u1 << 32 | s->u2;
  s->q0 = s->i0 * 77777ll; s->q1 = s->i1 * 77777ll; s->d0 = s->i0 / 1024.0; s->d1 = s->i1 / 1024.0;
  for (u32 n = 0; n < 8; n++) a[n] = IN(tid * 3 + n);
  s->tid = tid; s->group = group; to[tid] = s->u0;
  if (tid < COUNTERS) tally[tid] = tid;
}
static STAGE void finish(struct State *s, u32 *a, GLOBAL u32 *out, LDS u32 *from, LDS u32 *tally) {
  GLOBAL u32 *o = out + (s->group * BLOCK + s->tid) * RESULTS;
#define WIDE(n, x) { u64 w = x; o[n] = (u32)w; o[n + 1] = (u32)(w >> 32); }
  o[0] = s->u0 ^ (u32)s->i0; o[1] = s->u1 ^ (u32)s->i1; o[2] = s->u2 ^ (u32)s->i2;
  o[3] = f2w(s->f0); o[4] = f2w(s->f1); o[5] = f2w(s->f2);
  WIDE(6, s->l0 ^ (u64)s->q0) WIDE(8, s->l1 ^ (u64)s->q1) WIDE(10, d2w(s->d0)) WIDE(12, d2w(s->d1))
  u32 mix = 0;
  for (u32 n = 0; n < 8; n++) mix = rotate(mix, 5) + a[n];
  o[14] = mix; o[15] = from[s->tid] ^ tally[s->tid % COUNTERS];
}
#ifdef __AMDGCN__
static LDS u32 shared[2][BLOCK] __attribute__((loader_uninitialized));
static LDS u32 tally[COUNTERS] __attribute__((loader_uninitialized));
static inline void sync(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
#endif
`;

/** How the phases of a kernel follow each other. */
const buffers = (n: number): string => `shared[${n & 1}], shared[${(n + 1) & 1}]`;

/** An AMDGPU kernel that runs \`phase0\` … of the random part, all names with a suffix; `attributes` begin with a comma. */
export function kernelText(phases: number, suffix: string, attributes: string): string {
  const calls = Array.from(
    { length: phases },
    (_, n) => `phase${n}${suffix}(&s, a, in, ${buffers(n)}, tally, counters); sync();`,
  );
  return `
#ifdef __AMDGCN__
__attribute__((amdgpu_kernel, visibility("protected"), amdgpu_flat_work_group_size(BLOCK, BLOCK)${attributes}))
void random_kernel${suffix}(GLOBAL const u32 *in, GLOBAL u32 *out, GLOBAL u32 *counters) {
  struct State s; u32 a[8];
  start(&s, a, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workgroup_id_x(), in, shared[0], tally); sync();
  ${calls.join('\n  ')}
  finish(&s, a, out, shared[${phases & 1}], tally);
}
#endif
`;
}

/** The host's program that does what the one kernel does. */
export function hostText(phases: number): string {
  const numbers = Array.from({ length: phases }, (_, n) => n);
  return `
#ifndef __AMDGCN__
#include <stdio.h>
static u32 in[INPUTS], out[GROUPS * BLOCK * RESULTS], counters[COUNTERS], shared[2][BLOCK], tally[COUNTERS];
static struct State states[BLOCK];
static u32 arrays[BLOCK][8];
int main(void) {
  if (fread(in, 4, INPUTS, stdin) != INPUTS) return 1;
  for (u32 g = 0; g < GROUPS; g++) {
    for (u32 t = 0; t < BLOCK; t++) start(&states[t], arrays[t], t, g, in, shared[0], tally);
    ${numbers.map((n) => `for (u32 t = 0; t < BLOCK; t++) phase${n}(&states[t], arrays[t], in, ${buffers(n)}, tally, counters);`).join('\n    ')}
    for (u32 t = 0; t < BLOCK; t++) finish(&states[t], arrays[t], out, shared[${phases & 1}], tally);
  }
  fwrite(out, 4, sizeof out / 4, stdout); fwrite(counters, 4, COUNTERS, stdout);
  return 0;
}
#endif
`;
}
