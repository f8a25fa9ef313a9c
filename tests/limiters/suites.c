// Kernels of the kinds that published benchmark suites have (Rodinia, SHOC, Parboil, RAJAPerf, BabelStream, HeCBench), written here from their
// descriptions. Their limiters, by making resources free, are in suites.ts.
#include "kernel.h"
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef double double4 __attribute__((ext_vector_type(4)));
typedef unsigned char byte;
#define SHARED __attribute__((address_space(3)))
#define F(p) ((GLOBAL float *)(p))
#define ADD(p, v, scope) __scoped_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_##scope)
static LOCAL u32 words[8192];
static LOCAL float reals[8192];
static LOCAL float tile[16 * 17 * 16];
static LOCAL _Float16 halves[8192];
static LOCAL u32 table[15360];

static inline u32 step(u32 x) {
  x ^= x << 13, x ^= x >> 17;
  return x ^ (x << 5);
}
// heat of a chip: a tile of 16 x 16 with its border, two steps between loads
KERNEL(256) void hot_tile(GLOBAL float *p) {
  u32 x = T & 15, y = T >> 4, i = (G >> 5) * 16384 + (G & 31) * 16 + y * 1024 + x;
  reals[y * 18 + x + 19] = p[i];
  if (T < 72) reals[(T & 3) * 80 + T] = p[i + 512];
  barrier();
  NOUNROLL for (u32 s = 0; s < 2; s++) {
    u32 at = y * 18 + x + 19;
    float v = reals[at] + 0.2f * (reals[at - 1] + reals[at + 1] + reals[at - 18] + reals[at + 18] - 4 * reals[at]);
    barrier();
    reals[at] = v;
    barrier();
  }
  p[2 * MB + i] = reals[y * 18 + x + 19];
}
// sparse matrix in ELLPACK: sixteen columns a row, rows beside each other, a vector of 64 KB
KERNEL(256) void ell_rows(GLOBAL u32 *p) {
  u32 row = G * 256 + T;
  float s = 0;
  NOUNROLL for (u32 k = 0; k < 16; k++) {
    u32 column = p[k * MB / 2 + row];
    s += F(p)[8 * MB + (column & 16383)] * F(p)[9 * MB + k * MB / 2 + row];
  }
  F(p)[18 * MB + row] = s;
}
// breadth first search: nodes of the frontier, up to fifteen neighbours each
KERNEL(256) void frontier(GLOBAL u32 *p) {
  u32 node = G * 256 + T, from = p[node], count = from & 15;
  NOUNROLL for (u32 k = 0; k < count; k++) {
    u32 other = p[MB + ((from + k) & (4 * MB - 1))] & (2 * MB - 1);
    if (p[6 * MB + other] == 0) p[6 * MB + other] = 1;
  }
}
// nearest of sixteen centres for points of four numbers
KERNEL(256) void assign(GLOBAL float4 *p) {
  float4 v = p[G * 256 + T];
  float best = 1e30f;
  u32 which = 0;
  for (u32 k = 0; k < 16; k++) {
    float4 d = v - p[MB + k];
    float s = d.x * d.x + d.y * d.y + d.z * d.z + d.w * d.w;
    if (s < best) best = s, which = k;
  }
  F(p)[8 * MB + G * 256 + T] = which;
}
// alignment of sequences: diagonals of a block of 16 x 16, one after the other
KERNEL(64) void diagonals(GLOBAL u32 *p) {
  for (u32 k = T; k < 289; k += 64) words[k] = p[G * 512 + k];
  barrier();
  NOUNROLL for (u32 d = 0; d < 31; d++) {
    u32 y = d - T;
    if (T < 16 && y < 16) {
      u32 at = (y + 1) * 17 + T + 1, a = words[at - 18] + (words[at] & 7), b = words[at - 1] - 1, c = words[at - 17] - 1;
      words[at] = a > b ? (a > c ? a : c) : (b > c ? b : c);
    }
    barrier();
  }
  for (u32 k = T; k < 289; k += 64) p[2 * MB + G * 512 + k] = words[k];
}
// factors of a small matrix on the diagonal: a workgroup of one wave, launched again and again
KERNEL(64) void diagonal_block(GLOBAL float *p) {
  reals[T] = p[T];
  NOUNROLL for (u32 k = 0; k < 7; k++) {
    barrier();
    if (T > k * 9) reals[T] -= reals[T & 56 | k] * reals[k * 8 + (T & 7)];
  }
  p[T] = reals[T];
}
// speckles of an ultrasound image: differences, divisions, exponentials
KERNEL(256) void speckle(GLOBAL float *p) {
  u32 i = G * 256 + T;
  float c = p[i + 1024], n = p[i] - c, s = p[i + 2048] - c, w = p[i + 1023] - c, e = p[i + 1025] - c;
  float g = (n * n + s * s + w * w + e * e) / (c * c + 1), l = (n + s + w + e) / (c + 1);
  float q = (0.5f * g - 0.0625f * l * l) / ((1 + 0.25f * l) * (1 + 0.25f * l));
  float d = 1 / (1 + (q - 0.05f) / (0.05f * 1.05f));
  p[4 * MB + i] = d < 0 ? 0 : d > 1 ? 1 : d;
  p[8 * MB + i] = c + 0.125f * d * (n + s + w + e);
}
// molecules in boxes: partners of neighbouring boxes from LDS, an exponential each
KERNEL(128) void boxes(GLOBAL float4 *p) {
  float4 me = p[G * 128 + T], sum = 0;
  NOUNROLL for (u32 box = 0; box < 4; box++) {
    float4 o = p[((G + box * 37) & 1023) * 128 + T];
    reals[T * 4] = o.x, reals[T * 4 + 1] = o.y, reals[T * 4 + 2] = o.z, reals[T * 4 + 3] = o.w;
    barrier();
    NOUNROLL for (u32 k = 0; k < 64; k++) {
      float x = me.x - reals[k * 4], y = me.y - reals[k * 4 + 1], z = me.z - reals[k * 4 + 2];
      float w = __builtin_amdgcn_exp2f(-(x * x + y * y + z * z)) * reals[k * 4 + 3];
      sum.x += x * w, sum.y += y * w, sum.z += z * w, sum.w += w;
    }
    barrier();
  }
  p[MB + G * 128 + T] = sum;
}
// a digest of a block: rounds of additions, choices and rotations, unrolled
KERNEL(256) void digest(GLOBAL u32 *p) {
  u32 i = G * 256 + T, a = i, b = ~i, c = i * 77, d = 5;
  NOUNROLL for (u32 k = 0; k < 4; k++) {
#pragma clang loop unroll(full)
    for (u32 r = 0; r < 64; r++) {
      u32 f = r & 1 ? (b & c) | (~b & d) : b ^ c ^ d;
      u32 t = a + f + 0x5a827999u * (r + k) + (i ^ r);
      a = d, d = c, c = b, b = b + __builtin_rotateleft32(t, 7 + (r & 3) * 5);
    }
  }
  p[i] = a ^ b ^ c ^ d;
}
// prices of options: logarithms, exponentials, roots
KERNEL(256) void options(GLOBAL float *p) {
  u32 i = G * 256 + T;
  float s = p[i] * 1e-3f + 20, x = p[MB + i] * 1e-3f + 30, t = p[2 * MB + i] * 1e-3f + 1;
  float r = __builtin_amdgcn_sqrtf(t), d = (__builtin_amdgcn_logf(s / x) + 0.06f * t) / (0.3f * r), e = d - 0.3f * r;
  float k = 1 / (1 + 0.2316419f * __builtin_fabsf(d)), l = 1 / (1 + 0.2316419f * __builtin_fabsf(e));
  float n = 1 - 0.4f * __builtin_amdgcn_exp2f(-0.72f * d * d) * k * (0.32f + k * (-0.36f + k * (1.78f - k * 1.82f)));
  float m = 1 - 0.4f * __builtin_amdgcn_exp2f(-0.72f * e * e) * l * (0.32f + l * (-0.36f + l * (1.78f - l * 1.82f)));
  float z = __builtin_amdgcn_exp2f(-0.03f * t);
  p[3 * MB + i] = s * n - x * z * m, p[4 * MB + i] = x * z * (1 - m) - s * (1 - n);
}
// area by darts: a generator and a comparison
KERNEL(256) void darts(GLOBAL u32 *p) {
  u32 x = hash(G * 256 + T) | 1, hits = 0;
  NOUNROLL for (u32 k = 0; k < 256; k++) {
    x = step(x);
    float a = (float)(x & 65535) * 1.5e-5f, b = (float)(x >> 16) * 1.5e-5f;
    hits += a * a + b * b < 1;
  }
  p[G * 256 + T] = hits;
}
// orbits until they leave, lanes leave at any time
KERNEL(256) void orbits(GLOBAL float *p) {
  u32 i = G * 256 + T, k = 0;
  u32 most = 8 + (hash(i) & 63) * ((hash(i) & 63) < 4 ? 12 : 1);
  float x = (float)(i & 1023) * 1e-3f, y = 0.2f, a = x, b = y;
  NOUNROLL for (; k < most; k++) {
    float t = x * x - y * y + a;
    y = 0.9f * x * y + b, x = t * 0.5f;
  }
  p[i] = x + y + k;
}
// bodies, partners through LDS, all of a tile unrolled
KERNEL(256) void bodies(GLOBAL float4 *p) {
  float4 me = p[G * 256 + T], sum = 0;
  NOUNROLL for (u32 t = 0; t < 2; t++) {
    *(SHARED float4 *)(reals + T * 4) = p[t * 256 + T];
    barrier();
#pragma clang loop unroll_count(8)
    for (u32 k = 0; k < 256; k++) {
      float4 o = *(SHARED float4 *)(reals + k * 4), d = o - me;
      float r = __builtin_amdgcn_rsqf(d.x * d.x + d.y * d.y + d.z * d.z + 0.01f);
      sum += d * (o.w * r * r * r);
    }
    barrier();
  }
  p[MB + G * 256 + T] = sum;
}
// transform of eight points in registers
KERNEL(256) void butterflies(GLOBAL float *p) {
  float x[8];
  u32 i = G * 2048 + T;
  for (u32 k = 0; k < 8; k++) x[k] = p[i + k * 256];
  for (u32 s = 1; s < 8; s <<= 1)
    for (u32 k = 0; k < 8; k++)
      if ((k & s) == 0) {
        float a = x[k], b = x[k + s];
        x[k] = a + b, x[k + s] = (a - b) * 0.7f;
      }
  for (u32 k = 0; k < 8; k++) p[8 * MB + i + k * 256] = x[k];
}
// a step of a sort of all keys: pairs far from each other
KERNEL(256) void exchange(GLOBAL u32 *p) {
  u32 i = G * 256 + T, a = ((i & ~4095u) << 1) | (i & 4095), b = a + 4096, x = p[a], y = p[b];
  if (x > y) p[a] = y, p[b] = x;
}
// digits of a radix sort to their places: a few of the places of a workgroup are beside each other
KERNEL(256) void to_places(GLOBAL u32 *p) {
  u32 i = G * 256 + T, key = p[i], digit = hash(key) & 15;
  words[T] = 0;
  barrier();
  u32 rank = ADD(&words[digit], 1, WRKGRP);
  barrier();
  p[MB + digit * (MB / 8) + (G * 32 + rank) % (MB / 8)] = key;
}
// sums of 64 lanes by permutation, no LDS memory
KERNEL(256) void wave_scan(GLOBAL u32 *p) {
  u32 i = G * 256 + T, lane = T & 63, v = p[i];
  for (u32 k = 1; k < 64; k <<= 1) {
    u32 o = __builtin_amdgcn_ds_bpermute((lane - k) << 2, v);
    v += lane >= k ? o : 0;
  }
  p[4 * MB + i] = v;
}
// a tree of sums through LDS, 8 values a lane
KERNEL(512) void tree(GLOBAL float *p) {
  float s = 0;
  for (u32 k = 0; k < 8; k++) s += p[(G * 8 + k) * 512 + T];
  reals[T] = s;
  barrier();
  NOUNROLL for (u32 k = 256; k > 0; k >>= 1) {
    if (T < k) reals[T] += reals[T + k];
    barrier();
  }
  if (T == 0) p[16 * MB + G] = reals[0];
}
// transpose without a tile: a row in, a column out
KERNEL(256) void columns_out(GLOBAL float *p) {
  u32 x = (G & 7) * 256 + T, y = G >> 3;
  p[8 * MB + x * 2048 + y] = p[y * 2048 + x];
}
// transpose of blocks of 16 x 16 x 16
KERNEL(256) void blocks_turned(GLOBAL float *p) {
  u32 x = T & 15, y = T >> 4;
  for (u32 z = 0; z < 16; z++) tile[z * 272 + y * 17 + x] = p[G * 4096 + z * 256 + T];
  barrier();
  for (u32 z = 0; z < 16; z++) p[8 * MB + G * 4096 + z * 256 + T] = tile[x * 272 + z * 17 + y];
}
// product of matrices, a result a lane, all from memory
KERNEL(256) void plain_gemm(GLOBAL float *p) {
  u32 x = (G & 31) * 16 + (T & 15), y = (G >> 5) * 16 + (T >> 4);
  float s = 0;
#pragma clang loop unroll_count(4)
  for (u32 k = 0; k < 128; k++) s += p[y * 512 + k] * p[MB + k * 512 + x];
  p[2 * MB + y * 512 + x] = s;
}
// product of halves by matrix operations, tiles through LDS
KERNEL(256) void half_gemm(GLOBAL _Float16 *p) {
  float4 acc[4] = {};
  NOUNROLL for (u32 k = 0; k < 8; k++) {
    for (u32 j = 0; j < 2; j++)
      *(SHARED float4 *)(halves + (j * 256 + T) * 8) = *(GLOBAL float4 *)(p + ((G * 8 + k) & 255) * 4096 + (j * 256 + T) * 8);
    barrier();
    for (u32 i = 0; i < 4; i++) {
      half4 a = *(SHARED half4 *)(halves + (T & 63) * 4 + i * 256), b = *(SHARED half4 *)(halves + 2048 + (T & 63) * 4 + i * 256);
      for (u32 j = 0; j < 4; j++) acc[j] = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, acc[j], 0, 0, 0);
    }
    barrier();
  }
  for (u32 j = 0; j < 4; j++) *(GLOBAL float4 *)(p + 4 * MB + ((G * 4 + j) * 256 + T) * 8) = acc[j];
}
// product of doubles by matrix operations, operands in registers
KERNEL(256) void double_gemm(GLOBAL double *p) {
  double4 acc[4] = {};
  double a = p[T], b = p[256 + T];
  NOUNROLL for (u32 k = 0; k < 48; k++)
    for (u32 j = 0; j < 4; j++) acc[j] = __builtin_amdgcn_mfma_f64_16x16x4f64(a, b, acc[j], 0, 0, 0);
  for (u32 j = 0; j < 4; j++) p[MB / 2 + (G * 4 + j) * 256 + T] = acc[j].x + acc[j].w;
}
// one token's attention: keys of 64 numbers, a wave for each, a sum of lanes each
KERNEL(256) void one_token(GLOBAL float *p) {
  u32 lane = T & 63, wave = T >> 6;
  float q = p[lane], best = -1e30f;
  NOUNROLL for (u32 k = 0; k < 16; k++) {
    float s = q * p[MB + ((G * 4 + wave) * 16 + k) * 64 + lane];
    for (u32 m = 32; m > 0; m >>= 1) s += __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((lane ^ m) << 2, __builtin_bit_cast(int, s)));
    best = s > best ? s : best;
  }
  if (lane == 0) p[8 * MB + G * 4 + wave] = best;
}
// norm of a row, launched for every layer
KERNEL(256) void layer_norm(GLOBAL float *p) {
  float v = p[G * 256 + T];
  reals[T] = v * v;
  barrier();
  for (u32 k = 128; k > 0; k >>= 1) {
    if (T < k) reals[T] += reals[T + k];
    barrier();
  }
  p[G * 256 + T] = v * __builtin_amdgcn_rsqf(reals[0] + 1);
}
// probes of a table of 1 MB, two for each key
KERNEL(256) void probes(GLOBAL u32 *p) {
  u32 i = G * 256 + T, key = p[i], found = 0;
  for (u32 k = 0; k < 2; k++) found += p[4 * MB + (hash(key + k) & (MB / 4 - 1))] == key;
  p[2 * MB + i] = found;
}
// 1024 bins in LDS, evenly filled
KERNEL(256) void even_bins(GLOBAL u32 *p) {
  for (u32 k = T; k < 1024; k += 256) words[k] = 0;
  barrier();
  u32 x = hash(G * 256 + T) | 1;
  NOUNROLL for (u32 k = 0; k < 64; k++) x = step(x), ADD(&words[x & 1023], 1, WRKGRP);
  barrier();
  for (u32 k = T; k < 1024; k += 256) p[G * 1024 + k] = words[k];
}
// sums to places of their own, without an answer
KERNEL(256) void own_places(GLOBAL u32 *p) {
  u32 i = G * 256 + T;
  for (u32 k = 0; k < 4; k++) ADD(p + k * MB / 2 + i, i, DEVICE);
}
// tickets of one queue, and a store to the place
KERNEL(256) void tickets(GLOBAL u32 *p) {
  NOUNROLL for (u32 k = 0; k < 4; k++) {
    u32 at = 0;
    if ((T & 63) == 0) at = ADD(p, 64, DEVICE);
    at = __builtin_amdgcn_readfirstlane(at);
    p[64 + ((at + (T & 63)) & (MB - 1))] = T;
  }
}
// copies: of bytes, of every other word, of words of 16 bytes that begin anywhere, of rows of 64 bytes in any order
KERNEL(256) void copy_bytes(GLOBAL byte *p) {
  u32 i = G * 256 + T;
  p[8 * MB + i] = p[i];
}
KERNEL(256) void copy_every_other(GLOBAL float *p) {
  u32 i = G * 256 + T;
  p[4 * MB + 2 * i] = p[2 * i];
}
KERNEL(256) void copy_unaligned(GLOBAL byte *p) {
  u32 i = (G * 256 + T) * 16;
  typedef float4 __attribute__((aligned(4))) loose;
  *(GLOBAL loose *)(p + 32 * MB + i) = *(GLOBAL loose *)(p + i + 4);
}
KERNEL(256) void copy_rows(GLOBAL float *p) {
  u32 row = G * 16 + (T >> 4);
  p[8 * MB + row * 16 + (T & 15)] = p[(hash(row) & (MB / 2 - 1)) * 16 + (T & 15)];
}
// ninety-six numbers of state a lane
KERNEL(256) void much_state(GLOBAL float *p) {
  float s[96];
  u32 i = G * 256 + T;
  for (u32 k = 0; k < 96; k++) s[k] = p[(i + k * 4099) & (4 * MB - 1)];
  NOUNROLL for (u32 r = 0; r < 6; r++)
    for (u32 k = 0; k < 96; k++) s[k] = s[k] * 0.99f + s[(k * 7 + 5) % 96] * 0.01f;
  float t = 0;
  for (u32 k = 0; k < 96; k++) t += s[k] * k;
  p[4 * MB + i] = t;
}
// a walk through 60 KB of LDS
KERNEL(64) void walk_lds(GLOBAL u32 *p) {
  for (u32 k = T; k < 15360; k += 64) table[k] = hash(k) % 15360;
  barrier();
  u32 at = T;
  NOUNROLL for (u32 k = 0; k < 256; k++) at = table[at];
  p[G * 64 + T] = at;
}
// eight workgroups that calculate for long
KERNEL(256) void eight_groups(GLOBAL float *p) {
  float x = T, y = G;
  NOUNROLL for (u32 k = 0; k < 1024; k++) x = __builtin_fmaf(x, 0.99f, y), y = __builtin_fmaf(y, 1.01f, -x);
  p[G * 256 + T] = x + y;
}
// phases: one wave of four works four times as long as the others, then all meet
KERNEL(256) void phases(GLOBAL float *p) {
  float x = T;
  NOUNROLL for (u32 s = 0; s < 12; s++) {
    u32 n = (T >> 6) == (s & 3) ? 64 : 16;
    n = __builtin_amdgcn_readfirstlane(n);
    NOUNROLL for (u32 k = 0; k < n; k++) x = __builtin_fmaf(x, 0.99f, 0.5f);
    barrier();
  }
  p[G * 256 + T] = x;
}
// an interpreter whose operations fill more code than the cache has
#define OP(n) x = __builtin_rotateleft32(x * (0x9e3779b1u + 2 * n) ^ (x >> (n & 15)), 3) + n * 77777u;
#define OPS4(n) OP(n) OP(n + 1) OP(n + 2) OP(n + 3)
#define OPS16(n) OPS4(n) OPS4(n + 4) OPS4(n + 8) OPS4(n + 12)
#define OPS64(n) OPS16(n) OPS16(n + 16) OPS16(n + 32) OPS16(n + 48)
#define OPS256(n) OPS64(n) OPS64(n + 64) OPS64(n + 128) OPS64(n + 192)
#define OPS1024(n) OPS256(n) OPS256(n + 256) OPS256(n + 512) OPS256(n + 768)
KERNEL(128) void long_program(GLOBAL u32 *p) {
  u32 x = G * 128 + T;
  NOUNROLL for (u32 k = 0; k < 2; k++) { OPS1024(0) OPS1024(1024) }
  p[G * 128 + T] = x;
}
// a sequence of numbers that all lanes share
KERNEL(64) void shared_sequence(GLOBAL u32 *p) {
  u32 x = G | 1, n = 0;
  NOUNROLL for (u32 k = 0; k < 400; k++) {
    x = x & 1 ? 3 * x + 1 : x >> 1;
    n += x > 1000 ? 3 : 1;
  }
  p[G * 64 + T] = x + n;
}
// twenty-seven points of a volume
KERNEL(256) void cube_points(GLOBAL float *p) {
  u32 i = G * 256 + T + 70000;
  float s = 0;
  for (int z = -1; z <= 1; z++)
    for (int y = -1; y <= 1; y++)
      for (int x = -1; x <= 1; x++) s += p[i + z * 65536 + y * 256 + x] * (0.1f + z + 2 * y + 3 * x);
  p[8 * MB + i] = s;
}
// eight neighbours' ranks, of 2 MB
KERNEL(256) void ranks(GLOBAL u32 *p) {
  u32 i = G * 256 + T;
  float s = 0;
  for (u32 k = 0; k < 8; k++) s += F(p)[8 * MB + (p[i * 8 + k] & (MB / 2 - 1))];
  F(p)[9 * MB + i] = s;
}
// bytes of an image: edges
KERNEL(256) void edges(GLOBAL byte *p) {
  u32 i = G * 256 + T;
  int a = p[i], b = p[i + 1], c = p[i + 2], d = p[i + 2048], f = p[i + 2050], g = p[i + 4096], h = p[i + 4097], k = p[i + 4098];
  int x = c + 2 * f + k - a - 2 * d - g, y = g + 2 * h + k - a - 2 * b - c, s = (x < 0 ? -x : x) + (y < 0 ? -y : y);
  p[8 * MB + i] = s > 255 ? 255 : s;
}
// a matrix of bytes times a vector of bytes
KERNEL(256) void byte_rows(GLOBAL u32 *p) {
  u32 row = G * 4 + (T >> 6), lane = T & 63;
  int s = 0;
  for (u32 k = 0; k < 16; k++) s = __builtin_amdgcn_sdot4(p[row * 1024 + k * 64 + lane], p[8 * MB + k * 64 + lane], s, 0);
  for (u32 m = 32; m > 0; m >>= 1) s += __builtin_amdgcn_ds_bpermute((lane ^ m) << 2, s);
  if (lane == 0) p[9 * MB + row] = s;
}
// a cipher by tables in LDS, four lookups a round
KERNEL(256) void cipher(GLOBAL u32 *p) {
  for (u32 k = T; k < 1024; k += 256) words[k] = hash(k);
  barrier();
  u32 i = G * 256 + T, a = p[i], b = p[MB + i];
  NOUNROLL for (u32 r = 0; r < 14; r++) {
    u32 t = words[a & 255] ^ words[256 + (b >> 8 & 255)] ^ words[512 + (a >> 16 & 255)] ^ words[768 + (b >> 24)];
    a = b ^ r, b = t;
  }
  p[2 * MB + i] = a ^ b;
}
// a filter of 5 x 5 over a tile in LDS
KERNEL(256) void filter5(GLOBAL float *p) {
  u32 x = T & 31, y = T >> 5;
  for (u32 k = T; k < 36 * 12; k += 256) reals[k] = p[(G * 512 + k) & (4 * MB - 1)];
  barrier();
  float s = 0;
  for (u32 j = 0; j < 5; j++)
    for (u32 i = 0; i < 5; i++) s += reals[(y + j) * 36 + x + i] * (0.1f * i + j);
  p[4 * MB + G * 256 + T] = s;
}
// systems of 64 unknowns, a wave each, one unknown after the other
KERNEL(64) void back_substitution(GLOBAL float *p) {
  float x = p[G * 64 + T];
  NOUNROLL for (u32 k = 63; k > 0; k--) {
    float pivot = __builtin_bit_cast(float, __builtin_amdgcn_readlane(__builtin_bit_cast(int, x), k));
    if (T < k) x -= pivot * p[MB + ((G & 63) * 64 + k) * 64 + T];
  }
  p[2 * MB + G * 64 + T] = x;
}
