// Kernels of several fields; their limiters, by making resources cheaper, are in fields.ts.
#include "kernel.h"
typedef _Float16 half8 __attribute__((ext_vector_type(8)));
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef float float16 __attribute__((ext_vector_type(16)));
#define F(p) ((GLOBAL float *)(p))

// audio: gain of halves, 32 MB in, 32 MB out
KERNEL(256) void gain_half(GLOBAL half8 *p) {
  u32 i = G * 256 + T;
  p[2 * MB + i] = p[i] * (_Float16)0.7f;
}
// heat: five points of a plane of 2048 x 2048 floats
KERNEL(256) void heat_plane(GLOBAL float *p) {
  u32 x = (G & 7) * 256 + T, y = G >> 3, i = y * 2048 + x, w = i - 1, e = i + 1, n = i - 2048, s = i + 2048;
  u32 m = 4 * MB - 1;
  p[4 * MB + i] = 0.2f * (p[i] + p[w & m] + p[e & m] + p[n & m] + p[s & m]);
}
static LOCAL float centres[32 * 4];
// clustering: the nearest of 32 centres in LDS
KERNEL(256) void nearest_centre(GLOBAL float4 *p) {
  if (T < 128) centres[T] = F(p)[T];
  barrier();
  float4 a = p[64 + G * 256 + T];
  float best = 1e30f;
  u32 which = 0;
  for (u32 c = 0; c < 32; c++) {
    float x = a.x - centres[4 * c], y = a.y - centres[4 * c + 1], z = a.z - centres[4 * c + 2], w = a.w - centres[4 * c + 3];
    float d = x * x + y * y + z * z + w * w;
    if (d < best) best = d, which = c;
  }
  ((GLOBAL u32 *)p)[8 * MB + G * 256 + T] = which;
}
// recommendation: sum of eight rows of 64 floats of a table of 64 MB, a wave for each
KERNEL(256) void embedding_bag(GLOBAL float *p) {
  u32 bag = G * 4 + (T >> 6);
  float s = 0;
  for (u32 k = 0; k < 8; k++) s += p[(hash(bag * 8 + k) & 0x3ffff) * 64 + (T & 63)];
  p[16 * MB + bag * 64 + (T & 63)] = s;
}
// database: hash join, a lane for each key, chains in 16 MB
KERNEL(256) void hash_join(GLOBAL u32 *p) {
  u32 i = G * 256 + T, at = hash(i) & (4 * MB - 1), found = 0;
  NOUNROLL for (u32 k = 0; k < 6; k++) {
    u32 next = p[at];
    found += next & 1;
    at = (next ^ at) & (4 * MB - 1);
  }
  p[4 * MB + i] = found;
}
// rendering: each ray against 24 spheres of constant memory
KERNEL(256) void ray_spheres(GLOBAL float4 *p) {
  u32 i = G * 256 + T;
  float dx = (i & 255) * 0.01f - 1, dy = ((i >> 8) & 255) * 0.01f - 1, dz = 1, best = 1e9f;
  float norm = __builtin_amdgcn_rsqf(dx * dx + dy * dy + dz * dz);
  dx *= norm, dy *= norm, dz *= norm;
  NOUNROLL for (u32 k = 0; k < 24; k++) {
    float4 s = p[k];
    float b = dx * s.x + dy * s.y + dz * s.z, c = s.x * s.x + s.y * s.y + s.z * s.z - s.w * s.w, d = b * b - c;
    float t = b - __builtin_amdgcn_sqrtf(__builtin_fabsf(d));
    best = d > 0 && t > 0 && t < best ? t : best;
  }
  F(p)[MB + i] = best;
}
// signal: a filter of 32 taps, 16 samples a lane
KERNEL(256) void fir_registers(GLOBAL float *p) {
  u32 i = (G * 256 + T);
  float acc[4] = {0, 0, 0, 0}, x = p[i & 0xffff];
  NOUNROLL for (u32 k = 0; k < 32; k++) {
    float tap = p[MB + k];
    for (u32 j = 0; j < 4; j++) acc[j] = __builtin_fmaf(x, tap, acc[j]), x = x * 0.99f + acc[j];
  }
  p[2 * MB + i] = acc[0] + acc[1] + acc[2] + acc[3];
}
// graphics: 4 x 4 matrices times vectors, both from memory
KERNEL(256) void matrix_vectors(GLOBAL float4 *p) {
  u32 i = G * 256 + T;
  float4 a = p[i * 4], b = p[i * 4 + 1], c = p[i * 4 + 2], d = p[i * 4 + 3], v = p[4 * MB + i];
  p[5 * MB + i] = a * v.x + b * v.y + c * v.z + d * v.w;
}
// Monte Carlo: ten rounds of multiplications for each four numbers that are stored
KERNEL(256) void philox_store(GLOBAL u32 *p) {
  u32 i = G * 256 + T, a = i, b = 0, c = 7, d = 11, k = 0x9e3779b9u, l = 0xbb67ae85u;
  for (u32 r = 0; r < 10; r++) {
    unsigned long long x = 0xd2511f53ull * a, y = 0xcd9e8d57ull * c;
    a = (u32)(y >> 32) ^ b ^ k, b = (u32)y, c = (u32)(x >> 32) ^ d ^ l, d = (u32)x;
    k += 0x9e3779b9u, l += 0xbb67ae85u;
  }
  p[i] = a ^ b ^ c ^ d;
}
static LOCAL u32 shared_words[4096];
// LU: rows one after the other, a barrier for each, one wave works longer
KERNEL(512) void pivot_rows(GLOBAL u32 *p) {
  u32 v = T;
  NOUNROLL for (u32 k = 0; k < 24; k++) {
    if ((T >> 6) == (k & 7)) for (u32 n = 0; n < 24; n++) v = v * 1664525u + 1013904223u;
    if (T == ((k & 7) << 6)) shared_words[k] = v;
    barrier();
    v += shared_words[k];
  }
  p[G * 512 + T] = v;
}
// statistics: column sums of a tile of 64 x 64 without padding
KERNEL(64) void column_sums(GLOBAL u32 *p) {
  u32 s = 0;
  for (u32 k = 0; k < 64; k++) shared_words[k * 64 + T] = k ^ T;
  barrier();
  NOUNROLL for (u32 r = 0; r < 4; r++) for (u32 k = 0; k < 64; k++) s += shared_words[T * 64 + ((k + r) & 63)];
  p[G * 64 + T] = s;
}
// sort: counts of four bits in LDS, 32 keys a lane
KERNEL(256) void radix_count(GLOBAL u32 *p) {
  if (T < 16) shared_words[T] = 0;
  barrier();
  u32 key = hash(G * 256 + T);
  NOUNROLL for (u32 k = 0; k < 16; k++) {
    __scoped_atomic_fetch_add(&shared_words[(key >> 3) & 15], 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
    key = key * 1664525u + 1013904223u;
  }
  barrier();
  if (T < 16) p[G * 16 + T] = shared_words[T];
}
// search: the largest of all, an atomic of each lane that beats what it saw
KERNEL(256) void global_best(GLOBAL u32 *p) {
  u32 i = G * 256 + T, v = hash(i);
  NOUNROLL for (u32 k = 0; k < 4; k++) {
    __scoped_atomic_fetch_max(p + (v & 15), v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    v = hash(v);
  }
}
// particles: append to a list, a ticket for each lane whose result is awaited
KERNEL(256) void append_list(GLOBAL u32 *p) {
  u32 i = G * 256 + T;
  NOUNROLL for (u32 k = 0; k < 4; k++) {
    u32 at = __scoped_atomic_fetch_add(p + (T & 7) * 64, 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    p[1024 + ((at * 8 + (T & 7)) & (MB - 1))] = i;
  }
}
// numerics: a sum of 4 M floats in one workgroup
KERNEL(256) void single_group(GLOBAL float4 *p) {
  float4 s = 0;
  NOUNROLL for (u32 k = 0; k < 256; k++) s += p[k * 256 + T];
  p[MB + T] = s;
}
// attention: one matrix product after the other, each with the last one's result
KERNEL(64) void chained_products(GLOBAL float *p) {
  half4 a = (half4)(_Float16)0.01f, b = (half4)(_Float16)0.02f;
  float16 c = 0;
  NOUNROLL for (u32 k = 0; k < 32; k++) {
    c = __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, c, 0, 0, 0);
    c = __builtin_amdgcn_mfma_f32_32x32x8f16(b, a, c, 0, 0, 0);
  }
  p[G * 64 + T] = c[0] + c[5] + c[15];
}
// control: a small step of 64 K floats, launched again and again
KERNEL(256) void small_step(GLOBAL float *p) {
  u32 i = G * 256 + T;
  p[i] = p[i] * 0.5f + 1;
}
// parsing: a state machine of each lane, its table in LDS
KERNEL(256) void lexer(GLOBAL u32 *p) {
  for (u32 k = T; k < 1024; k += 256) shared_words[k] = hash(k) & 1023;
  barrier();
  u32 state = T;
  NOUNROLL for (u32 k = 0; k < 64; k++) state = shared_words[(state + k) & 1023];
  p[G * 256 + T] = state;
}
// chemistry: a lane in eight has a collision to work out
KERNEL(256) void collisions(GLOBAL float *p) {
  u32 i = G * 256 + T;
  float v = (hash(i) & 0xffff) * 1e-4f;
  NOUNROLL for (u32 k = 0; k < 4; k++)
    if ((hash(i + k) & 31) == 0)
      NOUNROLL for (u32 n = 0; n < 48; n++) v = __builtin_fmaf(v, 0.999f, __builtin_amdgcn_rsqf(v * v + 1));
  p[i] = v;
}
#define R1 v = v * 0x85ebca6bu ^ (v >> 13); w = w * 0xc2b2ae35u + v; v ^= __builtin_rotateleft32(w, 9);
#define R8 R1 R1 R1 R1 R1 R1 R1 R1
#define R64 R8 R8 R8 R8 R8 R8 R8 R8
// cipher: 512 rounds without a loop
KERNEL(64) void unrolled_rounds(GLOBAL u32 *p) {
  u32 v = G * 64 + T, w = ~v;
  R64 R64 R64 R64 R64 R64 R64 R64
  p[G * 64 + T] = v;
}
// imaging: a look-up of 64 bytes apart for each lane in 256 KB, the value chooses the next
KERNEL(256) void lut_walk(GLOBAL u32 *p) {
  u32 at = hash(G * 256 + T) & 4095;
  NOUNROLL for (u32 k = 0; k < 12; k++) at = (p[at * 16] + at) & 4095;
  p[MB + G * 256 + T] = at;
}
