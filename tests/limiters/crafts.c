// Kernels of many trades, each in the form in which programs have them; their limiters, by making resources free, are in crafts.ts.
#include "kernel.h"
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef int int4v __attribute__((ext_vector_type(4)));
#define SHARED __attribute__((address_space(3)))
#define F(p) ((GLOBAL float *)(p))
static LOCAL u32 words[4096];
static LOCAL float reals[8192];

// sum of 64 MB, a grid that goes round eight times
KERNEL(256) void grid_sum(GLOBAL float4 *p) {
  float4 s = 0;
  for (u32 k = 0; k < 8; k++) s += p[(k * 2048 + G) * 256 + T];
  F(p)[16 * MB + G * 256 + T] = s.x + s.y + s.z + s.w;
}
// seven points of a volume of 256 x 256 x 64 floats
KERNEL(256) void volume_step(GLOBAL float *p) {
  u32 y = G & 255, z = G >> 8, i = (z * 256 + y) * 256 + T, m = 4 * MB - 1;
  float s = p[(i - 1) & m] + p[(i + 1) & m] + p[(i - 256) & m] + p[(i + 256) & m] + p[(i - 65536) & m] + p[(i + 65536) & m];
  p[4 * MB + i] = p[i] * 0.4f + 0.1f * s;
}
// sort of 512 keys in LDS by 256 lanes
KERNEL(256) void sort_tile(GLOBAL u32 *p) {
  words[T] = p[G * 512 + T], words[T + 256] = p[G * 512 + 256 + T];
  barrier();
  for (u32 size = 2; size <= 512; size <<= 1)
    for (u32 step = size >> 1; step > 0; step >>= 1) {
      u32 a = 2 * T - (T & (step - 1)), b = a + step;
      u32 x = words[a], y = words[b];
      if ((x > y) == ((a & size) == 0)) words[a] = y, words[b] = x;
      barrier();
    }
  p[G * 512 + T] = words[T], p[G * 512 + 256 + T] = words[T + 256];
}
// single precision product, 6 x 4 results a lane, both tiles in LDS
KERNEL(256) void odd_gemm(GLOBAL float *p) {
  float acc[6][4] = {};
  NOUNROLL for (u32 t = 0; t < 6; t++) {
    for (u32 k = T; k < 2560; k += 256) reals[k] = p[(t * 2560 + k + G * 64) & (MB - 1)];
    barrier();
    NOUNROLL for (u32 k = 0; k < 16; k++) {
      float a[6], b[4];
      for (u32 i = 0; i < 6; i++) a[i] = reals[k * 96 + (T >> 4) * 6 + i];
      for (u32 j = 0; j < 4; j++) b[j] = reals[1536 + k * 64 + (T & 15) * 4 + j];
      for (u32 i = 0; i < 6; i++) for (u32 j = 0; j < 4; j++) acc[i][j] = __builtin_fmaf(a[i], b[j], acc[i][j]);
    }
    barrier();
  }
  for (u32 i = 0; i < 6; i++) for (u32 j = 0; j < 4; j++) p[MB + ((G * 24 + i * 4 + j) * 256 + T)] = acc[i][j];
}
// one head of attention in single precision: a query a lane, keys from LDS, exponentials
KERNEL(256) void attend(GLOBAL float *p) {
  float q[16], o[16] = {}, m = -1e30f, l = 0;
  for (u32 d = 0; d < 16; d++) q[d] = p[(G * 256 + T) * 16 + d];
  for (u32 k = T; k < 2048; k += 256) reals[k] = p[8 * MB + k] * 1e-3f;
  barrier();
  NOUNROLL for (u32 k = 0; k < 64; k++) {
    float s = 0;
    for (u32 d = 0; d < 16; d++) s = __builtin_fmaf(q[d], reals[k * 32 + d], s);
    float n = s > m ? s : m, e = __builtin_amdgcn_exp2f(s - n), c = __builtin_amdgcn_exp2f(m - n);
    l = l * c + e, m = n;
    for (u32 d = 0; d < 16; d++) o[d] = o[d] * c + e * reals[k * 32 + 16 + d];
  }
  for (u32 d = 0; d < 16; d++) p[(G * 256 + T) * 16 + d] = o[d] / l;
}
// 256 bins in LDS, values that crowd in a few of them
KERNEL(256) void image_bins(GLOBAL u32 *p) {
  words[T] = 0;
  barrier();
  NOUNROLL for (u32 k = 0; k < 32; k++) {
    u32 v = p[(G * 32 + k) * 256 + T];
    __scoped_atomic_fetch_add(&words[(v >> 4) & 3], 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  }
  barrier();
  p[4 * MB + G * 256 + T] = words[T];
}
// each lane adds to a line of its own kind: 64 counters on 64 lines
KERNEL(256) void line_counters(GLOBAL u32 *p) {
  NOUNROLL for (u32 k = 0; k < 6; k++)
    __scoped_atomic_fetch_add(p + (T & 63) * 32, k, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
// scatter by atomics to places that hardly meet, 16 MB of them
KERNEL(256) void scatter_add(GLOBAL float *p) {
  u32 i = G * 256 + T;
  NOUNROLL for (u32 k = 0; k < 4; k++)
    __scoped_atomic_fetch_add((GLOBAL u32 *)p + (hash(i * 4 + k) & (4 * MB - 1)), 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
// sparse rows of eight, a lane for each, columns from anywhere in 8 MB
KERNEL(256) void sparse_rows(GLOBAL float *p) {
  u32 row = G * 256 + T;
  float s = 0;
  for (u32 k = 0; k < 8; k++) s += p[8 * MB + k * MB + row] * p[hash(row * 8 + k) & (2 * MB - 1)];
  p[4 * MB + row] = s;
}
// transform of 1024 points by 256 lanes, four each; exchanges with strides through LDS
KERNEL(256) void spectrum(GLOBAL float *p) {
  float x[4], y[4];
  for (u32 k = 0; k < 4; k++) x[k] = p[G * 1024 + k * 256 + T], y[k] = 0;
  NOUNROLL for (u32 stage = 0; stage < 5; stage++) {
    float a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = x[1] - x[3];
    float e = y[0] + y[2], f = y[0] - y[2], g = y[1] + y[3], h = y[1] - y[3];
    x[0] = a + c, x[1] = b + h, x[2] = a - c, x[3] = b - h;
    y[0] = e + g, y[1] = f - d, y[2] = e - g, y[3] = f + d;
    for (u32 k = 1; k < 4; k++) {
      float w = __builtin_amdgcn_cosf(0.001f * T * k), v = __builtin_amdgcn_sinf(0.001f * T * k), r = x[k] * w - y[k] * v;
      y[k] = x[k] * v + y[k] * w, x[k] = r;
    }
    for (u32 k = 0; k < 4; k++) reals[T * 4 + k] = x[k], reals[1024 + T * 4 + k] = y[k];
    barrier();
    for (u32 k = 0; k < 4; k++) x[k] = reals[k * 256 + T], y[k] = reals[1024 + k * 256 + T];
    barrier();
  }
  for (u32 k = 0; k < 4; k++) p[MB * 2 + G * 1024 + k * 256 + T] = x[k] + y[k];
}
// prefix sums of a workgroup, step by step through LDS
KERNEL(1024) void prefix(GLOBAL u32 *p) {
  u32 v = p[G * 1024 + T];
  words[T] = v;
  barrier();
  NOUNROLL for (u32 step = 1; step < 1024; step <<= 1) {
    u32 other = T >= step ? words[T - step] : 0;
    barrier();
    v += other;
    words[T] = v;
    barrier();
  }
  p[2 * MB + G * 1024 + T] = v;
}
// insertion into a hash table of 4 MB: compare and swap until a place is free
KERNEL(256) void hash_insert(GLOBAL u32 *p) {
  u32 key = hash(G * 256 + T) | 1, at = key & (MB - 1);
  NOUNROLL for (u32 k = 0; k < 16; k++) {
    u32 expected = 0;
    if (__scoped_atomic_compare_exchange_n(p + at, &expected, key, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)) break;
    at = (at + 1) & (MB - 1);
  }
}
// chess: bits of boards
KERNEL(256) void boards(GLOBAL u32 *p) {
  u32 a = hash(G * 256 + T), b = ~a, n = 0;
  NOUNROLL for (u32 k = 0; k < 96; k++) {
    u32 m = (a << 1) ^ (b >> 7) ^ (a & 0x7e7e7e7eu);
    n += __builtin_popcount(m) + __builtin_ctz(m | 1);
    b = __builtin_rotateleft32(a ^ m, 5), a = m * 3 + k;
  }
  p[G * 256 + T] = n ^ a;
}
// bodies in double precision, partners from LDS
KERNEL(256) void bodies64(GLOBAL double *p) {
  double x = p[G * 256 + T], a = 0;
  GLOBAL double *q = p + 2 * MB;
  for (u32 k = T; k < 128; k += 256) ((SHARED double *)words)[k] = q[k] + k;
  barrier();
  NOUNROLL for (u32 k = 0; k < 128; k++) {
    double d = ((SHARED double *)words)[k] - x, r = d * d + 0.01;
    double i = __builtin_amdgcn_rsq(r);
    i = i * (1.5 - 0.5 * r * i * i);
    a += d * i * i * i;
  }
  p[G * 256 + T] = a;
}
// integer matrix products of a quantised layer, operands in registers
KERNEL(256) void quantised(GLOBAL int *p) {
  int4v c0 = 0, c1 = 0, c2 = 0, c3 = 0;
  int a = p[T], b = p[256 + T];
  NOUNROLL for (u32 k = 0; k < 64; k++) {
#if defined(__gfx90a__)
    c0 = __builtin_amdgcn_mfma_i32_16x16x16i8(a, b, c0, 0, 0, 0), c1 = __builtin_amdgcn_mfma_i32_16x16x16i8(b, a, c1, 0, 0, 0);
    c2 = __builtin_amdgcn_mfma_i32_16x16x16i8(a, a, c2, 0, 0, 0), c3 = __builtin_amdgcn_mfma_i32_16x16x16i8(b, b, c3, 0, 0, 0);
#else
    long u = ((long)a << 32) | (u32)b, v = ((long)b << 32) | (u32)a;
    c0 = __builtin_amdgcn_mfma_i32_16x16x32_i8(u, v, c0, 0, 0, 0), c1 = __builtin_amdgcn_mfma_i32_16x16x32_i8(v, u, c1, 0, 0, 0);
    c2 = __builtin_amdgcn_mfma_i32_16x16x32_i8(u, u, c2, 0, 0, 0), c3 = __builtin_amdgcn_mfma_i32_16x16x32_i8(v, v, c3, 0, 0, 0);
#endif
  }
  p[MB + G * 256 + T] = c0[0] + c1[1] + c2[2] + c3[3];
}
// a matrix product of halves, tiles through LDS, four products a step
KERNEL(256) void half_tiles(GLOBAL half4 *p) {
  SHARED half4 *tile = (SHARED half4 *)reals;
  float4 acc[4] = {};
  NOUNROLL for (u32 t = 0; t < 16; t++) {
    tile[T] = p[(t * 4096 + G * 256 + T) & (MB - 1)], tile[256 + T] = p[MB + ((t * 512 + T) & 65535)];
    barrier();
    for (u32 k = 0; k < 4; k++) {
      half4 a = tile[k * 64 + (T & 63)], b = tile[256 + k * 64 + (T & 63)];
      acc[k] = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, acc[k], 0, 0, 0);
    }
    barrier();
  }
  float4 s = acc[0] + acc[1] + acc[2] + acc[3];
  F(p)[4 * MB + G * 256 + T] = s.x + s.y + s.z + s.w;
}
#define S1 a = a * 0x9e3779b1u + b, b = __builtin_rotateleft32(b ^ a, 7), c = c + (a >> 3) * 5u;
#define S8 S1 S1 S1 S1 S1 S1 S1 S1
#define S64 S8 S8 S8 S8 S8 S8 S8 S8
#define S512 S64 S64 S64 S64 S64 S64 S64 S64
// an interpreter's case that is straight code of more than the cache of two compute units, gone through by several waves
KERNEL(64) void straight(GLOBAL u32 *p) {
  u32 a = G * 64 + T, b = ~a, c = a ^ 77;
  NOUNROLL for (u32 k = 0; k < 2; k++) {
    S512 S512 S512 S512
  }
  p[G * 64 + T] = a ^ b ^ c;
}
// training: a bias of 4096 words, a launch for each layer
KERNEL(256) void bias(GLOBAL float *p) { p[G * 256 + T] += 0.5f; }
// transposition of a tile of 64 x 64 through LDS, read by columns
KERNEL(256) void turned(GLOBAL float *p) {
  for (u32 k = 0; k < 16; k++) reals[k * 256 + T] = p[G * 4096 + k * 256 + T];
  barrier();
  for (u32 k = 0; k < 16; k++) {
    u32 i = k * 256 + T;
    p[8 * MB + G * 4096 + i] = reals[(i & 63) * 64 + (i >> 6)];
  }
}
// a lane keeps 160 running values, each step of a load from far away
KERNEL(256) void wide_state(GLOBAL float *p) {
  float s[160];
  u32 i = G * 256 + T;
  for (u32 k = 0; k < 160; k++) s[k] = k * 0.25f + T;
  NOUNROLL for (u32 n = 0; n < 12; n++) {
    float v = p[(i + n * 524288u) & (4 * MB - 1)];
    i += (v > 1e30f);
    for (u32 k = 0; k < 160; k++) s[k] = s[k] * 0.5f + v;
  }
  float r = 0;
  for (u32 k = 0; k < 160; k++) r += s[k];
  p[4 * MB + (G * 256 + T)] = r;
}
// one wave makes what the other seven take
KERNEL(512) void producer(GLOBAL u32 *p) {
  u32 v = G, s = 0;
  NOUNROLL for (u32 k = 0; k < 16; k++) {
    if (T < 64) {
      for (u32 n = 0; n < 40; n++) v = v * 1664525u + 1013904223u + (v >> 9);
      words[T] = v;
    }
    barrier();
    s += words[T & 63];
    barrier();
  }
  p[G * 512 + T] = s;
}
// lists of a graph: one wave, each lane follows its own
KERNEL(64) void lists(GLOBAL u32 *p) {
  u32 at = (hash(G * 64 + T) & (MB - 1));
  NOUNROLL for (u32 k = 0; k < 40; k++) at = (p[at * 4] ^ at) & (MB - 1);
  p[4 * MB + G * 64 + T] = at;
}
// fractal: lanes leave the loop at different times
KERNEL(256) void fractal(GLOBAL u32 *p) {
  u32 i = G * 256 + T, n = 0, most = (hash(i) & 15) == 0 ? 200 : 4;
  float cr = (i & 511) * 0.004f - 1.5f, ci = (i >> 9) * 0.003f - 1, x = 0, y = 0;
  NOUNROLL while (n < most) {
    float t = x * x - y * y + cr;
    y = 2 * x * y + ci, x = t * 0.5f, n++;
  }
  p[i] = n + (x > 0);
}
// uniform arithmetic: a counter that all lanes share
KERNEL(256) void uniform(GLOBAL u32 *p) {
  u32 a = G * 7 + 1, b = G ^ 0x55, c = 3;
  NOUNROLL for (u32 k = 0; k < 128; k++) {
    a = a * 13 + (b >> 3), b ^= a << 2, c += (a & b) + k, a ^= c, b += c << 1, c ^= b & 0xff;
  }
  p[G * 256 + T] = a ^ b ^ c;
}
// columns of a matrix of 4096 floats a row, a lane a row
KERNEL(256) void columns(GLOBAL float *p) {
  float s = 0;
  for (u32 k = 0; k < 8; k++) s += p[((G * 256 + T) & 4095) * 4096 + (G >> 4) * 256 + k * 32];
  p[16 * MB + G * 256 + T] = s;
}
static LOCAL u32 table[12288];
// decoder: 48 KB of tables in LDS, and words from memory between them
KERNEL(256) void decoder(GLOBAL u32 *p) {
  for (u32 k = T; k < 12288; k += 256) table[k] = k * 7;
  barrier();
  u32 at = G * 256 + T;
  NOUNROLL for (u32 k = 0; k < 16; k++) {
    u32 v = p[(at + k * 65536u) & (2 * MB - 1)];
    at += table[(v + T + k) % 12288] & 1;
  }
  p[2 * MB + G * 256 + T] = at;
}
