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
struct State { u32 u[3]; i32 i[3]; u64 l[2]; i64 q[2]; f32 f[3]; f64 d[2]; u32 tid, group; };
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

/** Runs \`phase0\` … of the random part; \`phases\` is their number. */
export function driver(phases: number): string {
  const numbers = Array.from({ length: phases }, (_, n) => n);
  const buffers = (n: number): string => `shared[${n & 1}], shared[${(n + 1) & 1}]`;
  return `
static void start(struct State *s, u32 *a, u32 tid, u32 group, GLOBAL const u32 *in, LDS u32 *to, LDS u32 *tally) {
  for (u32 n = 0; n < 3; n++) { s->u[n] = in[(tid * 7 + n) % INPUTS]; s->i[n] = (i32)in[(tid * 5 + n + group) % INPUTS]; }
  for (u32 n = 0; n < 3; n++) s->f[n] = n == 0 ? w2f(in[(tid + 31) % INPUTS]) : (f32)(i32)in[(tid + n) % INPUTS] / 65536.0f;
  for (u32 n = 0; n < 2; n++) { s->l[n] = (u64)s->u[n] << 32 | s->u[n + 1]; s->q[n] = s->i[n] * 77777ll; s->d[n] = s->i[n] / 1024.0; }
  for (u32 n = 0; n < 8; n++) a[n] = in[(tid * 3 + n) % INPUTS];
  s->tid = tid; s->group = group; to[tid] = s->u[0];
  if (tid < COUNTERS) tally[tid] = tid;
}
static void finish(struct State *s, u32 *a, GLOBAL u32 *out, LDS u32 *from, LDS u32 *tally) {
  GLOBAL u32 *o = out + (s->group * BLOCK + s->tid) * RESULTS;
  for (u32 n = 0; n < 3; n++) { o[n] = s->u[n] ^ (u32)s->i[n]; o[3 + n] = f2w(s->f[n]); }
  for (u32 n = 0; n < 2; n++) {
    u64 x = s->l[n] ^ (u64)s->q[n], y = d2w(s->d[n]);
    o[6 + 2 * n] = (u32)x; o[7 + 2 * n] = (u32)(x >> 32); o[10 + 2 * n] = (u32)y; o[11 + 2 * n] = (u32)(y >> 32);
  }
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
__attribute__((amdgpu_kernel, visibility("protected"), amdgpu_flat_work_group_size(BLOCK, BLOCK)))
void random_kernel(GLOBAL const u32 *in, GLOBAL u32 *out, GLOBAL u32 *counters) {
  struct State s; u32 a[8];
  start(&s, a, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workgroup_id_x(), in, shared[0], tally); sync();
  ${numbers.map((n) => `phase${n}(&s, a, in, ${buffers(n)}, tally, counters); sync();`).join('\n  ')}
  finish(&s, a, out, shared[${phases & 1}], tally);
}
#else
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
