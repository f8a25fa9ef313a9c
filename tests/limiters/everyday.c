// Forty-eight kernels that people profile day by day: layers of networks, linear algebra, databases, images, graphs, finance. Written as
// tutorials and frameworks write them, before any was run. Their limiters, by making resources free, are in everyday.ts.
#include "kernel.h"
typedef _Float16 half;
typedef _Float16 half2 __attribute__((ext_vector_type(2)));
typedef _Float16 half8 __attribute__((ext_vector_type(8)));
typedef u32 uint4v __attribute__((ext_vector_type(4)));
typedef float float2 __attribute__((ext_vector_type(2)));
typedef unsigned char byte;
typedef unsigned long u64;
#define SHARED __attribute__((address_space(3)))
#define F(p) ((GLOBAL float *)(p))
#define H(p) ((GLOBAL half *)(p))
#define B(p) ((GLOBAL byte *)(p))
#define ADD(p, v, scope) __scoped_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_##scope)
#define EXP2 __builtin_amdgcn_exp2f
#define LOG2 __builtin_amdgcn_logf
#define SQRT __builtin_amdgcn_sqrtf
#define RCP __builtin_amdgcn_rcpf
#define RSQ __builtin_amdgcn_rsqf
static LOCAL float part[16];
static LOCAL float f[1088];
static LOCAL u32 w[512];
static LOCAL float tile[32 * 32];
static LOCAL float padded[32 * 33];

static inline float from_lane(float v, u32 lane) {
  return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(lane * 4, __builtin_bit_cast(int, v)));
}
static inline float wave_sum(float v) {
  u32 lane = T & 63;
  for (u32 d = 32; d > 0; d >>= 1) v += from_lane(v, lane ^ d);
  return v;
}
static inline float wave_max(float v) {
  u32 lane = T & 63;
  for (u32 d = 32; d > 0; d >>= 1) {
    float o = from_lane(v, lane ^ d);
    v = o > v ? o : v;
  }
  return v;
}
static inline float group_sum(float v, u32 waves) {
  v = wave_sum(v);
  barrier();
  if ((T & 63) == 0) part[T >> 6] = v;
  barrier();
  float s = 0;
  for (u32 k = 0; k < waves; k++) s += part[k];
  return s;
}
static inline float group_max(float v, u32 waves) {
  v = wave_max(v);
  barrier();
  if ((T & 63) == 0) part[T >> 6] = v;
  barrier();
  float s = part[0];
  for (u32 k = 1; k < waves; k++) s = part[k] > s ? part[k] : s;
  return s;
}

// softmax of rows of 100, a wave a row
KERNEL(256) void softmax_100(GLOBAL float *p) {
  u32 row = G * 4 + (T >> 6), lane = T & 63;
  GLOBAL float *x = p + row * 100, *y = p + 4 * MB + row * 100;
  float a = x[lane], b = lane < 36 ? x[lane + 64] : -1e30f;
  float m = wave_max(a > b ? a : b);
  a = EXP2((a - m) * 1.4427f), b = EXP2((b - m) * 1.4427f);
  float s = RCP(wave_sum(a + b));
  y[lane] = a * s;
  if (lane < 36) y[lane + 64] = b * s;
}
// softmax of rows of 1,000, a workgroup a row, the row in registers
KERNEL(256) void softmax_1000(GLOBAL float *p) {
  GLOBAL float *x = p + G * 1000, *y = p + 4 * MB + G * 1000;
  float v[4], m = -1e30f, s = 0;
  for (u32 k = 0; k < 4; k++) {
    v[k] = T + k * 256 < 1000 ? x[T + k * 256] : -1e30f;
    m = v[k] > m ? v[k] : m;
  }
  m = group_max(m, 4);
  for (u32 k = 0; k < 4; k++) v[k] = EXP2((v[k] - m) * 1.4427f), s += v[k];
  s = RCP(group_sum(s, 4));
  for (u32 k = 0; k < 4; k++)
    if (T + k * 256 < 1000) y[T + k * 256] = v[k] * s;
}
// softmax of rows of 10,000, three passes over the row
KERNEL(512) void softmax_10000(GLOBAL float *p) {
  GLOBAL float *x = p + G * 10000, *y = p + 4 * MB + G * 10000;
  float m = -1e30f, s = 0;
  NOUNROLL for (u32 k = T; k < 10000; k += 512) m = x[k] > m ? x[k] : m;
  m = group_max(m, 8);
  NOUNROLL for (u32 k = T; k < 10000; k += 512) s += EXP2((x[k] - m) * 1.4427f);
  s = RCP(group_sum(s, 8));
  NOUNROLL for (u32 k = T; k < 10000; k += 512) y[k] = EXP2((x[k] - m) * 1.4427f) * s;
}
// layer norm of 768 numbers, a wave a row
KERNEL(256) void layernorm_768(GLOBAL float *p) {
  u32 row = G * 4 + (T >> 6), lane = T & 63;
  GLOBAL float4 *x = (GLOBAL float4 *)(p + row * 768), *y = (GLOBAL float4 *)(p + 8 * MB + row * 768);
  GLOBAL float4 *g = (GLOBAL float4 *)(p + 16 * MB), *b = g + 192;
  float4 v[3];
  float s = 0, q = 0;
  for (u32 k = 0; k < 3; k++) v[k] = x[lane + k * 64], s += v[k].x + v[k].y + v[k].z + v[k].w;
  float mean = wave_sum(s) * (1.0f / 768);
  for (u32 k = 0; k < 3; k++) {
    v[k] -= mean;
    q += v[k].x * v[k].x + v[k].y * v[k].y + v[k].z * v[k].z + v[k].w * v[k].w;
  }
  float r = RSQ(wave_sum(q) * (1.0f / 768) + 1e-5f);
  for (u32 k = 0; k < 3; k++) y[lane + k * 64] = v[k] * r * g[lane + k * 64] + b[lane + k * 64];
}
// RMS norm of halves and bytes with a scale, a workgroup a row of 4,096
KERNEL(256) void rmsnorm_int8(GLOBAL half *p) {
  GLOBAL half8 *x = (GLOBAL half8 *)(p + G * 4096), *g = (GLOBAL half8 *)(p + 8 * MB);
  half8 a = x[T], b = x[T + 256];
  float q = 0;
  for (u32 k = 0; k < 8; k++) q += (float)a[k] * (float)a[k] + (float)b[k] * (float)b[k];
  float r = RSQ(group_sum(q, 4) * (1.0f / 4096) + 1e-6f), m = 0;
  half8 u = g[T], v = g[T + 256];
  float n[16];
  for (u32 k = 0; k < 8; k++) n[k] = (float)a[k] * r * (float)u[k], n[k + 8] = (float)b[k] * r * (float)v[k];
  for (u32 k = 0; k < 16; k++) m = __builtin_fabsf(n[k]) > m ? __builtin_fabsf(n[k]) : m;
  m = group_max(m, 4);
  float s = 127 * RCP(m + 1e-6f);
  u32 o[4];
  for (u32 k = 0; k < 4; k++) {
    o[k] = 0;
    for (u32 j = 0; j < 4; j++) o[k] |= ((u32)(int)(n[k * 4 + j] * s) & 255) << (8 * j);
  }
  GLOBAL u32 *y = (GLOBAL u32 *)(p + 9 * MB) + G * 1024;
  y[T * 2] = o[0], y[T * 2 + 1] = o[1], y[512 + T * 2] = o[2], y[513 + T * 2] = o[3];
  if (T == 0) F(p)[15 * MB / 2 + G] = m;
}
// rows of a table of 768 halves by token
KERNEL(256) void embedding_768(GLOBAL u32 *p) {
  u32 at = G * 4 + (T >> 6), lane = T & 63, token = p[at] & 16383;
  GLOBAL u32 *row = p + MB + token * 384, *out = p + 8 * MB + at * 384;
  for (u32 k = 0; k < 6; k++) out[lane + k * 64] = row[lane + k * 64];
}
// the eight largest of 1,024 numbers, a wave a row, one after the other
KERNEL(256) void topk_8(GLOBAL float *p) {
  u32 row = G * 4 + (T >> 6), lane = T & 63;
  float v[16];
  for (u32 k = 0; k < 16; k++) v[k] = p[row * 1024 + lane + k * 64];
  NOUNROLL for (u32 n = 0; n < 8; n++) {
    float m = v[0];
    for (u32 k = 1; k < 16; k++) m = v[k] > m ? v[k] : m;
    m = wave_max(m);
    for (u32 k = 0; k < 16; k++) v[k] = v[k] == m ? -1e30f : v[k];
    if (lane == 0) p[4 * MB + row * 8 + n] = m;
  }
}
// exclusive scan of 512 numbers in LDS, up and down a tree, as in the book
KERNEL(256) void scan_tree(GLOBAL u32 *p) {
  u32 n = 1;
  w[2 * T] = p[G * 512 + 2 * T], w[2 * T + 1] = p[G * 512 + 2 * T + 1];
  NOUNROLL for (u32 d = 256; d > 0; d >>= 1) {
    barrier();
    if (T < d) w[n * (2 * T + 2) - 1] += w[n * (2 * T + 1) - 1];
    n *= 2;
  }
  if (T == 0) w[511] = 0;
  NOUNROLL for (u32 d = 1; d < 512; d *= 2) {
    n >>= 1;
    barrier();
    if (T < d) {
      u32 i = n * (2 * T + 1) - 1, j = n * (2 * T + 2) - 1, t = w[i];
      w[i] = w[j], w[j] += t;
    }
  }
  barrier();
  p[2 * MB + G * 512 + 2 * T] = w[2 * T], p[2 * MB + G * 512 + 2 * T + 1] = w[2 * T + 1];
}
// a radix sort pass: digits of four bits counted by ballot, ranks, keys to their places
KERNEL(256) void radix_pass(GLOBAL u32 *p) {
  u32 i = G * 256 + T, key = p[i], digit = key & 15, rank = 0, lane = T & 63, wave = T >> 6;
  if (T < 64) w[T] = 0;
  barrier();
  for (u32 d = 0; d < 16; d++) {
    u64 mask = __builtin_amdgcn_ballot_w64(digit == d);
    if (digit == d) rank = __builtin_amdgcn_mbcnt_hi(mask >> 32, __builtin_amdgcn_mbcnt_lo(mask, 0));
    if (lane == 0) w[d * 4 + wave] = __builtin_popcountll(mask);
  }
  barrier();
  u32 base = 0;
  NOUNROLL for (u32 k = 0; k < digit * 4 + wave; k++) base += w[k];
  p[2 * MB + G * 256 + base + rank] = key;
}
// histogram of bytes: a table in LDS, then added to the one in memory
KERNEL(256) void histogram_lds(GLOBAL u32 *p) {
  w[T] = 0;
  barrier();
  NOUNROLL for (u32 k = 0; k < 16; k++) {
    u32 v = p[(G * 16 + k) * 256 + T];
    ADD(w + (v & 255), 1, WRKGRP), ADD(w + (v >> 8 & 255), 1, WRKGRP);
    ADD(w + (v >> 16 & 255), 1, WRKGRP), ADD(w + (v >> 24), 1, WRKGRP);
  }
  barrier();
  ADD(p + 4 * MB + T, w[T], DEVICE);
}
// histogram of words straight in memory
KERNEL(256) void histogram_direct(GLOBAL u32 *p) {
  u32 v = p[G * 256 + T];
  ADD(p + MB + (v & 1023), 1, DEVICE);
}
// sparse matrix by rows, a thread a row, eight to twenty-three entries
KERNEL(256) void spmv_thread(GLOBAL u32 *p) {
  u32 row = G * 256 + T, from = row * 16 + (hash(row) & 7), to = row * 16 + 16 + (hash(row + 1) & 7);
  float s = 0;
  NOUNROLL for (u32 k = from; k < to; k++) s += F(p)[5 * MB + k] * F(p)[10 * MB + (p[k] & (MB / 4 - 1))];
  F(p)[11 * MB + row] = s;
}
// the same, a wave a row of 64 to 191 entries
KERNEL(256) void spmv_wave(GLOBAL u32 *p) {
  u32 row = G * 4 + (T >> 6), lane = T & 63, from = row * 128, to = from + 64 + (hash(row) & 127);
  float s = 0;
  NOUNROLL for (u32 k = from + lane; k < to; k += 64) s += F(p)[3 * MB + k] * F(p)[6 * MB + (p[k] & (MB / 4 - 1))];
  s = wave_sum(s);
  if (lane == 0) F(p)[7 * MB + row] = s;
}
// product of matrices of 512, a thread an element, nothing shared
KERNEL(256) void sgemm_naive(GLOBAL float *p) {
  u32 x = (G & 31) * 16 + (T & 15), y = (G >> 5) * 16 + (T >> 4);
  float s = 0;
  for (u32 k = 0; k < 512; k++) s += p[y * 512 + k] * p[MB / 4 + k * 512 + x];
  p[MB / 2 + y * 512 + x] = s;
}
// the same with tiles of 32 x 32 in LDS, a thread four elements
KERNEL(256) void sgemm_tiled(GLOBAL float *p) {
  u32 x = T & 31, y = T >> 5, row = (G >> 4) * 32, column = (G & 15) * 32;
  float s[4] = {0, 0, 0, 0};
  NOUNROLL for (u32 k = 0; k < 512; k += 32) {
    for (u32 j = 0; j < 4; j++) {
      tile[(y + 8 * j) * 32 + x] = p[(row + y + 8 * j) * 512 + k + x];
      f[(y + 8 * j) * 32 + x] = p[MB / 4 + (k + y + 8 * j) * 512 + column + x];
    }
    barrier();
    for (u32 i = 0; i < 32; i++)
      for (u32 j = 0; j < 4; j++) s[j] += tile[(y + 8 * j) * 32 + i] * f[i * 32 + x];
    barrier();
  }
  for (u32 j = 0; j < 4; j++) p[MB / 2 + (row + y + 8 * j) * 512 + column + x] = s[j];
}
// the same with 64 x 64 a workgroup and 4 x 4 a thread, 1,024 rows and columns by 512
KERNEL(256) void sgemm_registers(GLOBAL float *p) {
  u32 x = T & 15, y = T >> 4, row = (G >> 4) * 64, column = (G & 15) * 64;
  float4 s[4] = {0, 0, 0, 0};
  NOUNROLL for (u32 k = 0; k < 512; k += 16) {
    float4 a = *(GLOBAL float4 *)(p + (row + (T >> 2)) * 1024 + k + (T & 3) * 4);
    for (u32 j = 0; j < 4; j++) f[((T & 3) * 4 + j) * 68 + (T >> 2)] = a[j];
    *(SHARED float4 *)(tile + y * 64 + x * 4) = *(GLOBAL float4 *)(p + MB + (k + y) * 1024 + column + x * 4);
    barrier();
    for (u32 i = 0; i < 16; i++) {
      float4 u = *(SHARED float4 *)(f + i * 68 + y * 4), v = *(SHARED float4 *)(tile + i * 64 + x * 4);
      for (u32 j = 0; j < 4; j++) s[j] += u[j] * v;
    }
    barrier();
  }
  for (u32 j = 0; j < 4; j++) *(GLOBAL float4 *)(p + 2 * MB + (row + y * 4 + j) * 1024 + column + x * 4) = s[j];
}
// direct convolution 3 x 3 of sixteen channels, a thread a pixel of an output channel
KERNEL(256) void conv_3x3(GLOBAL float *p) {
  u32 x = (G & 15) * 16 + (T & 15), y = (G >> 4 & 15) * 16 + (T >> 4), c = G >> 8;
  float s = 0;
  NOUNROLL for (u32 k = 0; k < 16; k++) {
    GLOBAL float *in = p + k * 66564 + y * 258 + x, *weights = p + 2 * MB + (c * 16 + k) * 9;
    for (u32 j = 0; j < 3; j++)
      for (u32 i = 0; i < 3; i++) s += in[j * 258 + i] * weights[j * 3 + i];
  }
  p[3 * MB + c * 65536 + y * 256 + x] = s;
}
// transpose, read by rows and written by columns
KERNEL(256) void transpose_naive(GLOBAL float *p) {
  u32 x = (G & 127) * 16 + (T & 15), y = (G >> 7) * 16 + (T >> 4);
  p[4 * MB + x * 2048 + y] = p[y * 2048 + x];
}
// transpose with a padded tile
KERNEL(256) void transpose_tile(GLOBAL float *p) {
  u32 x = T & 31, y = T >> 5, bx = (G & 63) * 32, by = (G >> 6) * 32;
  for (u32 j = 0; j < 32; j += 8) padded[(y + j) * 33 + x] = p[(by + y + j) * 2048 + bx + x];
  barrier();
  for (u32 j = 0; j < 32; j += 8) p[4 * MB + (bx + y + j) * 2048 + by + x] = padded[x * 33 + y + j];
}
// sum with an atomic of each thread
KERNEL(256) void sum_atomic(GLOBAL float *p) { ADD((GLOBAL u32 *)p + 2 * MB + (T & 31), (u32)p[G * 256 + T], DEVICE); }
// sum by a tree in LDS with neighbours first, as the first version of the tutorial
KERNEL(256) void sum_tree(GLOBAL float *p) {
  f[T] = p[G * 256 + T];
  NOUNROLL for (u32 d = 1; d < 256; d *= 2) {
    barrier();
    if (T % (2 * d) == 0) f[T] += f[T + d];
  }
  if (T == 0) p[4 * MB + G] = f[0];
}
// sum with a stride over the grid, sixteen loads a thread
KERNEL(256) void sum_strided(GLOBAL float *p) {
  float s = 0;
  for (u32 k = 0; k < 16; k++) s += p[(k * 1024 + G) * 256 + T];
  s = group_sum(s, 4);
  if (T == 0) p[4 * MB + G] = s;
}
// bodies without LDS: every thread reads all 512
KERNEL(256) void nbody_plain(GLOBAL float4 *p) {
  u32 i = G * 256 + T;
  float4 me = p[i], a = 0;
  for (u32 k = 0; k < 512; k++) {
    float4 o = p[k];
    float x = o.x - me.x, y = o.y - me.y, z = o.z - me.z, r = RSQ(x * x + y * y + z * z + 0.01f), q = o.w * r * r * r;
    a.x += x * q, a.y += y * q, a.z += z * q;
  }
  p[MB / 2 + i] = me + a * 0.01f;
}
// the Mandelbrot set, up to 256 steps a pixel
KERNEL(256) void mandelbrot(GLOBAL u32 *p) {
  u32 i = G * 256 + T;
  float cx = (i & 511) * (3.0f / 512) - 2.1f, cy = (i >> 9) * (2.4f / 512) - 1.2f, x = 0, y = 0;
  u32 n = 0;
  while (n < 256 && x * x + y * y < 4) {
    float t = x * x - y * y + cx;
    y = 2 * x * y + cy, x = t, n++;
  }
  p[i] = n;
}
// Black and Scholes with polynomials of five terms
KERNEL(256) void black_scholes(GLOBAL float *p) {
  u32 i = G * 256 + T;
  float s = 5 + (p[i] != 0 ? 1 : 25), x = 1 + p[MB + i], t = 0.25f + p[2 * MB + i];
  float q = 0.3f * SQRT(t), d1 = (LOG2(s / x) * 0.6931f + 0.065f * t) / q, d2 = d1 - q, c[2];
  for (u32 k = 0; k < 2; k++) {
    float d = k ? d2 : d1, z = RCP(1 + 0.2316419f * __builtin_fabsf(d));
    float n = 0.39894228f * EXP2(-0.7213475f * d * d) * z *
              (0.31938153f + z * (-0.356563782f + z * (1.781477937f + z * (-1.821255978f + z * 1.330274429f))));
    c[k] = d > 0 ? 1 - n : n;
  }
  float e = x * EXP2(-0.02885f * t), call = s * c[0] - e * c[1];
  p[4 * MB + i] = call, p[5 * MB + i] = call + e - s;
}
// seven points of a volume of 128 x 128 x 128
KERNEL(256) void stencil_7(GLOBAL float *p) {
  u32 i = 16384 + G * 256 + T;
  p[3 * MB + i] = 0.5f * p[i] + 0.08f * (p[i - 1] + p[i + 1] + p[i - 128] + p[i + 128] + p[i - 16384] + p[i + 16384]);
}
// a level of breadth first search: vertices of the frontier look at eight neighbours
KERNEL(256) void bfs_level(GLOBAL u32 *p) {
  u32 vertex = G * 256 + T;
  if ((p[vertex] & 3) != 0) return;
  NOUNROLL for (u32 k = 0; k < 8; k++) {
    u32 other = p[MB + vertex * 8 + k] & (MB - 1);
    if (p[10 * MB + other] == 0) p[10 * MB + other] = 1, ADD(p + 11 * MB, 1, DEVICE);
  }
}
// a probe of a hash join: open addressing, then the payload
KERNEL(256) void join_probe(GLOBAL u32 *p) {
  u32 i = G * 256 + T, key = p[i] | 1, at = hash(key) & (MB - 1), found = 0;
  NOUNROLL for (u32 k = 0; k < 8; k++) {
    u32 there = p[MB + at];
    if (there == key) found = p[2 * MB + at];
    if (there == key || (there & 3) == 0) break;
    at = (at + 1) & (MB - 1);
  }
  p[3 * MB + i] = found;
}
// a pattern of eight bytes at every place of a text
KERNEL(256) void find_text(GLOBAL byte *p) {
  u32 i = G * 256 + T, k = 0;
  GLOBAL byte *pattern = p + 8 * MB;
  while (k < 8 && (p[i + k] & 7) == (pattern[k] & 7)) k++;
  if (k == 8) ADD((GLOBAL u32 *)(p + 9 * MB), 1, DEVICE);
}
// numbers that pass a test, next to each other: ballots and one atomic a wave
KERNEL(256) void compact(GLOBAL u32 *p) {
  u32 v = p[G * 256 + T], keep = v & 1, first = 0;
  u64 mask = __builtin_amdgcn_ballot_w64(keep);
  if ((T & 63) == 0) first = ADD(p + 8 * MB, (u32)__builtin_popcountll(mask), DEVICE);
  first = __builtin_amdgcn_readfirstlane(first);
  u32 at = first + __builtin_amdgcn_mbcnt_hi(mask >> 32, __builtin_amdgcn_mbcnt_lo(mask, 0));
  if (keep) p[4 * MB + (at & (2 * MB - 1))] = v;
}
// rotary positions: pairs turned by an angle of their place
KERNEL(256) void rope(GLOBAL half2 *p) {
  u32 i = G * 256 + T, pair = i & 63, place = i >> 11;
  float angle = place * EXP2(pair * -0.2076f) * 0.15915f, c = __builtin_amdgcn_cosf(angle), s = __builtin_amdgcn_sinf(angle);
  half2 v = p[i];
  float x = (float)v[0], y = (float)v[1];
  p[i] = (half2){(half)(x * c - y * s), (half)(x * s + y * c)};
}
// attention of one token over 512 others in pages of sixteen: a workgroup a head
KERNEL(128) void paged_decode(GLOBAL half *p) {
  GLOBAL u32 *pages = (GLOBAL u32 *)p + 4 * MB + (G & 63) * 32;
  GLOBAL half *keys = p + MB, *values = p + 5 * MB;
  half8 q = *(GLOBAL half8 *)(p + G * 128 + (T & 15) * 8);
  u32 piece = T & 15, token = T >> 4, lane = T & 63;
  float most = -1e30f, sum = 0;
  NOUNROLL for (u32 page = 0; page < 32; page++) {
    u32 at = (pages[page] & 1023) * 2048;
    for (u32 t = token; t < 16; t += 8) {
      half8 k = *(GLOBAL half8 *)(keys + at + t * 128 + piece * 8);
      float s = 0;
      for (u32 j = 0; j < 8; j++) s += (float)q[j] * (float)k[j];
      for (u32 d = 8; d > 0; d >>= 1) s += from_lane(s, lane ^ d);
      if (piece == 0) f[page * 16 + t] = s * 0.0884f;
    }
  }
  barrier();
  for (u32 k = T; k < 512; k += 128) most = f[k] > most ? f[k] : most;
  most = wave_max(most);
  if (lane == 0) part[T >> 6] = most;
  barrier();
  most = part[0] > part[1] ? part[0] : part[1];
  barrier();
  for (u32 k = T; k < 512; k += 128) f[k] = EXP2((f[k] - most) * 1.4427f), sum += f[k];
  sum = wave_sum(sum);
  if (lane == 0) part[T >> 6] = sum;
  barrier();
  sum = RCP(part[0] + part[1]);
  float o = 0;
  NOUNROLL for (u32 page = 0; page < 32; page++) {
    u32 at = (pages[page] & 1023) * 2048;
    for (u32 t = 0; t < 16; t++) o += f[page * 16 + t] * (float)values[at + t * 128 + T];
  }
  p[10 * MB + G * 128 + T] = (half)(o * sum);
}
// numbers of four bits with a scale of eight bits for each thirty-two, to halves
KERNEL(256) void mx_dequantise(GLOBAL u32 *p) {
  u32 i = G * 256 + T, v = p[i];
  float scale = __builtin_bit_cast(float, (u32)B(p)[8 * MB + (i >> 2)] << 23);
  half8 o;
  for (u32 k = 0; k < 8; k++) {
    u32 n = v >> (4 * k) & 15, e = n >> 1 & 3;
    float m = e == 0 ? (n & 1) * 0.5f : __builtin_bit_cast(float, (126 + e) << 23 | (n & 1) << 22);
    o[k] = (half)((n & 8 ? -m : m) * scale);
  }
  ((GLOBAL half8 *)p)[MB + i] = o;
}
// dropout by Philox: ten rounds for four numbers
KERNEL(256) void dropout(GLOBAL float4 *p) {
  u32 i = G * 256 + T, c0 = i, c1 = 0, c2 = 7, c3 = 0, k0 = 0x1234567, k1 = 0x89abcde;
  for (u32 r = 0; r < 10; r++) {
    u64 a = (u64)c0 * 0xd2511f53u, b = (u64)c2 * 0xcd9e8d57u;
    c0 = (u32)(b >> 32) ^ c1 ^ k0, c1 = (u32)b, c2 = (u32)(a >> 32) ^ c3 ^ k1, c3 = (u32)a;
    k0 += 0x9e3779b9u, k1 += 0xbb67ae85u;
  }
  float4 v = p[i];
  v.x = c0 >> 31 ? 0 : v.x * 2, v.y = c1 >> 31 ? 0 : v.y * 2, v.z = c2 >> 31 ? 0 : v.z * 2, v.w = c3 >> 31 ? 0 : v.w * 2;
  p[MB / 2 + i] = v;
}
// place of the largest of 4,096 numbers, a workgroup a row
KERNEL(256) void argmax_rows(GLOBAL float *p) {
  float best = -1e30f;
  u32 at = 0;
  for (u32 k = T; k < 4096; k += 256) {
    float v = p[G * 4096 + k];
    if (v > best) best = v, at = k;
  }
  f[T] = best, w[T] = at;
  for (u32 d = 128; d > 0; d >>= 1) {
    barrier();
    if (T < d && f[T + d] > f[T]) f[T] = f[T + d], w[T] = w[T + d];
  }
  if (T == 0) ((GLOBAL u32 *)p)[9 * MB + G] = w[0];
}
// running sums of rows of 256, a thread a row
KERNEL(64) void cumsum_thread(GLOBAL float *p) {
  GLOBAL float *x = p + (G * 64 + T) * 256;
  float s = 0;
  NOUNROLL for (u32 k = 0; k < 256; k++) s += x[k], x[k] = s;
}
// one step of a bitonic sort in memory
KERNEL(256) void bitonic_step(GLOBAL u32 *p) {
  u32 i = G * 256 + T, a = (i & ~1023u) * 2 | (i & 1023), b = a | 1024, x = p[a], y = p[b];
  if ((x > y) == ((a & 4096) == 0)) p[a] = y, p[b] = x;
}
// a pass of a Fourier transform, radix 4, with its twiddles computed
KERNEL(256) void fft_radix4(GLOBAL float2 *p) {
  u32 i = G * 256 + T, k = i & 255, n = MB / 2;
  float2 v[4];
  for (u32 j = 0; j < 4; j++) {
    float2 x = p[i + j * n];
    float c = __builtin_amdgcn_cosf(k * j * (1.0f / 1024)), s = -__builtin_amdgcn_sinf(k * j * (1.0f / 1024));
    v[j] = (float2){x.x * c - x.y * s, x.x * s + x.y * c};
  }
  float2 a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3], d = v[1] - v[3];
  GLOBAL float2 *o = p + 2 * MB + (i & ~255u) * 4 + k;
  o[0] = a + c, o[512] = a - c, o[256] = (float2){b.x + d.y, b.y - d.x}, o[768] = (float2){b.x - d.y, b.y + d.x};
}
// paths of a price, 64 steps of normal numbers by Box and Muller
KERNEL(256) void price_paths(GLOBAL float *p) {
  u32 x = hash(G * 256 + T) | 1;
  float s = 100;
  NOUNROLL for (u32 k = 0; k < 32; k++) {
    x = x * 1664525u + 1013904223u;
    float a = (x >> 8) * (1.0f / 16777216) + 1e-7f;
    x = x * 1664525u + 1013904223u;
    float b = (x >> 8) * (1.0f / 16777216), r = SQRT(-1.3863f * LOG2(a));
    s *= EXP2(0.001f + 0.02f * r * __builtin_amdgcn_cosf(b)), s *= EXP2(0.001f + 0.02f * r * __builtin_amdgcn_sinf(b));
  }
  p[G * 256 + T] = s > 100 ? s - 100 : 0;
}
// a gate: x * sigmoid(x) * y of halves
KERNEL(256) void swiglu(GLOBAL half8 *p) {
  u32 i = G * 256 + T;
  half8 x = p[i], y = p[MB / 2 + i], o;
  for (u32 k = 0; k < 8; k++) {
    float v = (float)x[k];
    o[k] = (half)(v * RCP(1 + EXP2(-1.4427f * v)) * (float)y[k]);
  }
  p[MB + i] = o;
}
// a step of Adam: four arrays read, three written
KERNEL(256) void adam(GLOBAL float *p) {
  u32 i = G * 256 + T;
  float g = p[i], m = 0.9f * p[2 * MB + i] + 0.1f * g, v = 0.999f * p[4 * MB + i] + 0.001f * g * g;
  p[2 * MB + i] = m, p[4 * MB + i] = v;
  p[6 * MB + i] -= 1e-3f * m * RCP(SQRT(v) + 1e-8f);
}
// the largest of 2 x 2 pixels
KERNEL(256) void max_pool(GLOBAL float *p) {
  u32 i = G * 256 + T, x = i & 1023, y = i >> 10;
  GLOBAL float *in = p + y * 4096 + x * 2;
  float a = in[0] > in[1] ? in[0] : in[1], b = in[2048] > in[2049] ? in[2048] : in[2049];
  p[4 * MB + i] = a > b ? a : b;
}
// an image made larger, between four pixels
KERNEL(256) void bilinear(GLOBAL float *p) {
  u32 i = G * 256 + T, ox = i & 2047, oy = i >> 11;
  float x = ox * 0.37f, y = oy * 0.61f;
  u32 ix = (u32)x, iy = (u32)y;
  float fx = x - ix, fy = y - iy;
  GLOBAL float *in = p + iy * 1024 + ix;
  float a = in[0] + fx * (in[1] - in[0]), b = in[1024] + fx * (in[1025] - in[1024]);
  p[2 * MB + i] = a + fy * (b - a);
}
// edges of a picture of bytes by Sobel
KERNEL(256) void sobel(GLOBAL byte *p) {
  u32 i = 4096 + G * 256 + T;
  GLOBAL byte *n = p + i - 2048, *c = p + i, *s = p + i + 2048;
  int gx = n[1] - n[-1] + 2 * (c[1] - c[-1]) + s[1] - s[-1], gy = s[-1] + 2 * s[0] + s[1] - n[-1] - 2 * n[0] - n[1];
  int m = (gx < 0 ? -gx : gx) + (gy < 0 ? -gy : gy);
  p[8 * MB + i] = m > 255 ? 255 : m;
}
// edit distance of words of sixteen letters, a pair a thread, a row in registers
KERNEL(256) void edit_distance(GLOBAL uint4v *p) {
  u32 i = G * 256 + T;
  uint4v a = p[i], b = p[MB / 4 + i];
  u32 row[17];
  for (u32 k = 0; k < 17; k++) row[k] = k;
  for (u32 y = 0; y < 16; y++) {
    u32 c = a[y >> 2] >> (8 * (y & 3)) & 255, corner = y, left = y + 1;
    for (u32 x = 0; x < 16; x++) {
      u32 d = b[x >> 2] >> (8 * (x & 3)) & 255, up = row[x + 1], v = corner + (c != d);
      v = up + 1 < v ? up + 1 : v, v = left + 1 < v ? left + 1 : v;
      row[x] = left, corner = up, left = v;
    }
    row[16] = left;
  }
  ((GLOBAL u32 *)p)[3 * MB + i] = row[16];
}
// nearest of 256 points of three numbers in LDS
KERNEL(256) void nearest(GLOBAL float *p) {
  u32 i = G * 256 + T;
  f[T * 3] = p[T * 3], f[T * 3 + 1] = p[T * 3 + 1], f[T * 3 + 2] = p[T * 3 + 2];
  float x = p[MB + i], y = p[2 * MB + i], z = p[3 * MB + i], best = 1e30f;
  u32 which = 0;
  barrier();
  for (u32 k = 0; k < 256; k++) {
    float a = f[k * 3] - x, b = f[k * 3 + 1] - y, c = f[k * 3 + 2] - z, d = a * a + b * b + c * c;
    if (d < best) best = d, which = k;
  }
  ((GLOBAL u32 *)p)[4 * MB + i] = which;
}
// a lattice of nine directions: gather, collide, store
KERNEL(256) void lattice(GLOBAL float *p) {
  u32 i = 1024 + G * 256 + T, n = MB;
  float v[9], r = 0;
  for (u32 k = 0; k < 9; k++) v[k] = p[k * n + i - ((int)(k % 3) - 1) - ((int)(k / 3) - 1) * 1024], r += v[k];
  float u = (v[2] + v[5] + v[8] - v[0] - v[3] - v[6]) * RCP(r + 1), q = (v[6] + v[7] + v[8] - v[0] - v[1] - v[2]) * RCP(r + 1);
  for (u32 k = 0; k < 9; k++) {
    float e = ((int)(k % 3) - 1) * u + ((int)(k / 3) - 1) * q;
    p[(9 + k) * n + i] = v[k] + 0.6f * (r * 0.11f * (1 + 3 * e + 4.5f * e * e) - v[k]);
  }
}
// a matrix of halves times a vector, a wave a row of 2,048
KERNEL(256) void gemv_half(GLOBAL half8 *p) {
  u32 row = G * 4 + (T >> 6), lane = T & 63;
  float s = 0;
  for (u32 k = 0; k < 4; k++) {
    half8 a = p[row * 256 + k * 64 + lane], x = p[2 * MB + k * 64 + lane];
    for (u32 j = 0; j < 8; j++) s += (float)a[j] * (float)x[j];
  }
  s = wave_sum(s);
  if (lane == 0) F(p)[9 * MB + row] = s;
}
