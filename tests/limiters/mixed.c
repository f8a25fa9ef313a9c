// Twenty kernels with a known limiter (mixed.ts): sums, permutations, lists, products, columns, queues, pipelines. One argument: the buffer.
// clang --target=amdgcn-amd-amdhsa -mcpu=TARGET -O3 -nogpulib.
#include "kernel.h"
typedef unsigned short u16;
typedef unsigned long u64;
typedef float float2 __attribute__((ext_vector_type(2)));
typedef float f4 __attribute__((ext_vector_type(4)));
typedef double d4 __attribute__((ext_vector_type(4)));
typedef short s4 __attribute__((ext_vector_type(4)));
typedef _Float16 h2 __attribute__((ext_vector_type(2)));
// dot product of two arrays, atomics once a workgroup
static LOCAL float part[256];
KERNEL(256) void dot(GLOBAL f4 *p) {
  f4 s = 0;
  NOUNROLL for (u32 k = 0; k < 8; k++) s += p[(G * 8 + k) * 256 + T] * p[6 * MB + (G * 8 + k) * 256 + T];
  part[T] = s[0] + s[1] + s[2] + s[3];
  barrier();
  for (u32 d = 128; d; d >>= 1) { if (T < d) part[T] += part[T + d]; barrier(); }
  if (T == 0) __builtin_amdgcn_global_atomic_fadd_f32((GLOBAL float *)p + 60 * MB, part[0]);
}
// gather of rows by a permutation, 16 bytes a lane
KERNEL(256) void permute(GLOBAL f4 *p) { u32 i = G * 256 + T; p[8 * MB + i] = p[(hash(i >> 4) & 0x1ffff) * 16 + (i & 15)]; }
// interleaved halves
KERNEL(256) void deinterleave(GLOBAL h2 *p) { u32 i = G * 256 + T; h2 v = p[i]; GLOBAL _Float16 *q = (GLOBAL _Float16 *)p + 64 * MB; q[i] = v[0], q[i + 24 * MB] = v[1]; }
// four lists a wave of 16 lanes, in 96 MB
KERNEL(64) void four_lists(GLOBAL u32 *p) {
  u32 at = hash(G * 4 + (T >> 4)) % (24 * MB);
  NOUNROLL for (int k = 0; k < 40; k++) at = p[at] % (24 * MB);
  p[G * 64 + T] = at;
}
// a recurrence through memory: what was stored is loaded
KERNEL(64) void through_memory(GLOBAL u32 *p) {
  volatile GLOBAL u32 *q = p + G * 64 + T; u32 x = T;
  NOUNROLL for (int k = 0; k < 60; k++) { *q = x; x = *q + k; }
  p[4 * MB + G * 64 + T] = x;
}
// packed floats
KERNEL(256) void packed(GLOBAL float2 *p) {
  float2 a = p[T], b = a + 1.0f, c = a + 2.0f, d = a + 3.0f, m = {0.999f, 1.001f};
  NOUNROLL for (int k = 0; k < 200; k++) a = __builtin_elementwise_fma(a, m, b), b = __builtin_elementwise_fma(b, m, c), c = __builtin_elementwise_fma(c, m, d), d = __builtin_elementwise_fma(d, m, a);
  p[G * 256 + T] = a + b + c + d;
}
// matrix products of bfloat16
KERNEL(256) void mfma_bf16(GLOBAL float *p) {
  s4 a = {0x3f80, (short)T, 0x3f80, 0x3f80}; f4 c0 = 0, c1 = 0, c2 = 0, c3 = 0;
  NOUNROLL for (int k = 0; k < 120; k++) {
    c0 = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, a, c0, 0, 0, 0), c1 = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, a, c1, 0, 0, 0);
    c2 = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, a, c2, 0, 0, 0), c3 = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, a, c3, 0, 0, 0);
  }
  p[G * 256 + T] = c0[0] + c1[1] + c2[2] + c3[3];
}
// random numbers: products with high halves
KERNEL(256) void philox(GLOBAL u32 *p) {
  u32 a = T, b = G, c = 3, d = 4, k0 = 11;
  NOUNROLL for (int k = 0; k < 80; k++) {
    u64 x = (u64)a * 0xD2511F53u, y = (u64)c * 0xCD9E8D57u;
    a = (u32)(y >> 32) ^ b ^ k0, b = (u32)y, c = (u32)(x >> 32) ^ d ^ (k0 * 3), d = (u32)x, k0 += 0x9E3779B9u;
  }
  p[G * 256 + T] = a + b + c + d;
}
// columns of a matrix of 64 words in LDS
static LOCAL float square[64 * 64];
KERNEL(256) void lds_columns(GLOBAL float *p) {
  for (int k = 0; k < 16; k++) square[T + 256 * k] = k;
  barrier();
  float s = 0;
  NOUNROLL for (u32 k = 0; k < 64; k++) s += square[(T & 63) * 64 + k] + square[(T & 63) * 64 + (k ^ 32)] * 2.0f;
  p[G * 256 + T] = s;
}
// one bin for all lanes of a workgroup
static LOCAL u32 bin[2];
KERNEL(256) void lds_one_bin(GLOBAL u32 *p) {
  if (T < 2) bin[T] = 0;
  barrier();
  NOUNROLL for (u32 k = 0; k < 40; k++) __atomic_fetch_add(&bin[T & 1], T & 7, __ATOMIC_RELAXED);
  barrier();
  if (T < 2) p[G * 2 + T] = bin[T];
}
// half of the lanes leave early, then a quarter …
KERNEL(256) void fading(GLOBAL float *p) {
  float x = p[T], y = 1, z = 2; u32 l = T & 63, turns = 600 >> (l & 7);
  NOUNROLL for (u32 k = 0; k < turns; k++) x = x * 0.9f + y, y = y * 0.8f + z, z = z * 0.7f + x, x = x + y * z;
  p[G * 256 + T] = x + y + z;
}
// forty workgroups of sixteen waves
KERNEL(1024) void forty(GLOBAL float *p) {
  float s = 0;
  NOUNROLL for (u32 k = 0; k < 60; k++) s += p[(k * 40 + G) * 1024 + T];
  p[4 * MB + G * 1024 + T] = s;
}
// two waves a compute unit, long dependent roots
KERNEL(128) void roots(GLOBAL float *p) {
  float x = p[T] + 2;
  NOUNROLL for (int k = 0; k < 300; k++) x = __builtin_amdgcn_sqrtf(x * 3.0f + 1.0f) + 0.5f;
  p[G * 128 + T] = x;
}
// pipeline of two halves of a workgroup with a barrier each step
static LOCAL float hand[128];
KERNEL(512) void hand_over(GLOBAL float *p) {
  float x = p[T];
  NOUNROLL for (u32 k = 0; k < 40; k++) {
    if (T >= 448) { NOUNROLL for (int n = 0; n < 30; n++) x = __builtin_fmaf(x, 0.99f, 0.01f); hand[T & 63] = x; }
    barrier();
    if (T < 64) x += hand[T];
    barrier();
  }
  p[G * 512 + T] = x;
}
KERNEL(256) void eighty_small(GLOBAL f4 *p) { u32 i = G * 256 + T; p[i] = p[i] * 0.5f; }
// addresses and masks by scalars
KERNEL(64) void lfsr(GLOBAL u32 *p) {
  u32 x = G | 1, n = 0;
  NOUNROLL for (u32 k = 0; k < 500; k++) { u32 b = (x ^ (x >> 2) ^ (x >> 3) ^ (x >> 5)) & 1; x = (x >> 1) | (b << 15), n += x & 3; }
  if (T == 0) p[G] = x + n;
}
// minimum over sixteen words
KERNEL(256) void minimum(GLOBAL u32 *p) { for (u32 k = 0; k < 6; k++) __atomic_fetch_min(p + 32 * ((T + k) & 15), hash(G + k), __ATOMIC_RELAXED); }
// a ticket for each wave, then work
KERNEL(64) void work_queue(GLOBAL u32 *p) {
  u32 s = 0;
  NOUNROLL for (u32 k = 0; k < 8; k++) {
    u32 mine = 0; if (T == 0) mine = __atomic_fetch_add(p, 1, __ATOMIC_RELAXED);
    mine = __builtin_amdgcn_readfirstlane(mine); s += p[64 + ((mine & 4095) * 64) + T];
  }
  p[MB + G * 64 + T] = s;
}
#define P1(i) x = x * 1.0001f + (float)(i), y = y * x + (float)((i) * 3), z = z * y + x;
#define P16(i) P1(i) P1(i+1) P1(i+2) P1(i+3) P1(i+4) P1(i+5) P1(i+6) P1(i+7) P1(i+8) P1(i+9) P1(i+10) P1(i+11) P1(i+12) P1(i+13) P1(i+14) P1(i+15)
#define P256(i) P16(i) P16(i+16) P16(i+32) P16(i+48) P16(i+64) P16(i+80) P16(i+96) P16(i+112) P16(i+128) P16(i+144) P16(i+160) P16(i+176) P16(i+192) P16(i+208) P16(i+224) P16(i+240)
KERNEL(64) void phases(GLOBAL float *p) {
  float x = p[T], y = G, z = 1;
  NOUNROLL for (int k = 0; k < 2; k++) { P256(1) P256(301) P256(601) P256(901) P256(1201) P256(1501) }
  p[G * 64 + T] = x + y + z;
}
// blur of rows with a window of 9 from L1
KERNEL(256) void blur(GLOBAL float *p) {
  u32 i = G * 256 + T; float s = 0;
  for (int k = 0; k < 9; k++) s += p[i + k] * (0.1f * k);
  p[24 * MB + i] = s;
}
