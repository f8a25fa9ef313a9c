// Kernels of graphs, images, ciphers, physics, texts, sorting, sparse systems and learning, written here from what those do. What limits them, by
// making resources free, is in domains.ts.
#include "kernel.h"
typedef unsigned char byte;
#define F(p) ((GLOBAL float *)(p))
#define FADD(p, v) __scoped_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)
#define MIN(p, v) __scoped_atomic_fetch_min(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)
#define RCP __builtin_amdgcn_rcpf
#define SIN __builtin_amdgcn_sinf
#define COS __builtin_amdgcn_cosf
#define LOG2 __builtin_amdgcn_logf
static LOCAL u32 boxes[1024], keys[4096], row[256];
static LOCAL float alpha[512], part[256];

// Labels of a graph: the least of those of eight neighbours
KERNEL(256) void least_label(GLOBAL u32 *p) {
  u32 i = G * 256 + T, least = p[4 * MB + i];
  for (u32 k = 0; k < 8; k++) {
    u32 v = p[4 * MB + (p[i * 8 + k] & 524287)];
    least = v < least ? v : least;
  }
  p[6 * MB + i] = least;
}
// Triangles: how many of 16 neighbours of one end are neighbours of the other, both lists in order
KERNEL(256) void triangles(GLOBAL u32 *p) {
  u32 i = G * 256 + T, a = p[i] & 262143, b = p[MB + i] & 262143, x = 0, y = 0, n = 0;
  NOUNROLL for (u32 k = 0; k < 32 && x < 16 && y < 16; k++) {
    u32 u = p[2 * MB + a * 16 + x] & 4095, v = p[2 * MB + b * 16 + y] & 4095;
    n += u == v, x += u <= v, y += u >= v;
  }
  p[7 * MB + i] = n;
}
// Shortest ways: each edge makes the distance of its end smaller
KERNEL(256) void relax_edges(GLOBAL u32 *p) {
  u32 i = G * 256 + T, from = p[i] & 65535, to = p[MB + i] & 65535;
  u32 d = p[4 * MB + from] / 2 + (p[2 * MB + i] & 255);
  if (d < p[4 * MB + to]) MIN(&p[4 * MB + to], d);
}
// Ranks of pages: what an edge gives is added at its end
KERNEL(256) void push_ranks(GLOBAL u32 *p) {
  u32 i = G * 256 + T;
  FADD(&p[4 * MB + (p[MB + i] & 1048575)], p[2 * MB + (i >> 3)] >> 3);
}
static inline void order(float *a, float *b) {
  float low = __builtin_fminf(*a, *b), high = __builtin_fmaxf(*a, *b);
  *a = low, *b = high;
}
// The middle of nine pixels
KERNEL(256) void median_9(GLOBAL float *p) {
  u32 i = 4096 + G * 256 + T;
  float v[9];
  for (u32 k = 0; k < 9; k++) v[k] = p[i + (k / 3 - 1) * 2048 + k % 3 - 1];
  for (u32 n = 0; n < 9; n++)
    for (u32 k = n & 1; k < 8; k += 2) order(&v[k], &v[k + 1]);
  p[4 * MB + i] = v[4];
}
// Sums down the columns of an image, a thread a column
KERNEL(64) void column_sums(GLOBAL float *p) {
  u32 x = G * 64 + T;
  float s = 0;
  NOUNROLL for (u32 y = 0; y < 96; y++) {
    s += p[y * 32768 + x];
    p[4 * MB + y * 32768 + x] = s;
  }
}
// Errors of rounding that go on along a row, a thread a row: neighbours in a wave are rows apart
KERNEL(64) void error_rows(GLOBAL float *p) {
  u32 y = G * 64 + T;
  float e = 0;
  NOUNROLL for (u32 x = 0; x < 48; x++) {
    float v = p[y * 128 + x] + e, q = v > 0.5f ? 1 : 0;
    e = (v - q) * 0.5f;
    p[4 * MB + y * 128 + x] = q;
  }
}
// Pixels taken from where a map says
KERNEL(256) void remap(GLOBAL u32 *p) {
  u32 i = G * 256 + T, m = p[i];
  p[6 * MB + i] = p[2 * MB + ((i + (m & 63) + ((m >> 6 & 63) << 11)) & (2 * MB - 1))];
}
// Colours of three bytes to grey
KERNEL(256) void grey(GLOBAL byte *p) {
  u32 i = G * 256 + T;
  p[24 * MB + i] = (byte)((p[i * 3] * 77u + p[i * 3 + 1] * 151u + p[i * 3 + 2] * 28u) >> 8);
}
// Ten rounds of a cipher by four tables in LDS
KERNEL(256) void table_rounds(GLOBAL u32 *p) {
  for (u32 k = 0; k < 4; k++) boxes[k * 256 + T] = p[k * 256 + T];
  barrier();
  u32 i = G * 256 + T, a = p[4096 + i], b = a * 5, c = a ^ i, d = ~a;
  NOUNROLL for (u32 k = 0; k < 10; k++) {
    u32 e = boxes[a & 255] ^ boxes[256 + (b >> 8 & 255)] ^ boxes[512 + (c >> 16 & 255)] ^ boxes[768 + (d >> 24)];
    u32 f = boxes[b & 255] ^ boxes[256 + (c >> 8 & 255)] ^ boxes[512 + (d >> 16 & 255)] ^ boxes[768 + (a >> 24)];
    a = b + k, b = c, c = d ^ e, d = f;
  }
  p[2 * MB + i] = a ^ b ^ c ^ d;
}
// Products of long numbers: eight words by eight words
KERNEL(256) void long_product(GLOBAL u32 *p) {
  u32 i = G * 256 + T, a[8], r[8];
  for (u32 k = 0; k < 8; k++) a[k] = p[k * 262144 + (i & 262143)], r[k] = a[k] | 1;
  NOUNROLL for (u32 n = 0; n < 4; n++) {
    u32 out[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (u32 x = 0; x < 8; x++) {
      unsigned long long carry = 0;
      for (u32 y = 0; x + y < 8; y++) {
        carry += (unsigned long long)a[x] * r[y] + out[x + y];
        out[x + y] = (u32)carry, carry >>= 32;
      }
    }
    for (u32 k = 0; k < 8; k++) r[k] = out[k];
  }
  p[4 * MB + i] = r[7] ^ r[3];
}
// A key from memory: blocks of 64 bytes of a table, each named by the one before
KERNEL(64) void hard_memory(GLOBAL u32 *p) {
  u32 i = G * 64 + T, x = i;
  NOUNROLL for (u32 k = 0; k < 24; k++) {
    u32 at = (hash(x) & 262143) * 16;
    float4 a = *(GLOBAL float4 *)&p[at], b = *(GLOBAL float4 *)&p[at + 8];
    x += __builtin_bit_cast(u32, a.x) ^ __builtin_bit_cast(u32, b.w);
  }
  p[5 * MB + i] = x;
}
// Waves of a crystal: a sine and a cosine an atom
KERNEL(256) void structure(GLOBAL float *p) {
  u32 i = G * 256 + T;
  float k = p[i & 65535] * 1e-9f, re = 0, im = 0;
  NOUNROLL for (u32 n = 0; n < 64; n++) {
    float x = p[65536 + n] * k;
    re += COS(x), im += SIN(x);
  }
  p[2 * MB + i] = re * re + im * im;
}
// Springs: two places are loaded, two forces added
KERNEL(256) void springs(GLOBAL u32 *p) {
  u32 i = G * 256 + T, a = p[i] & 131071, b = (a + (p[MB + i] & 511)) & 131071;
  float d = F(p)[2 * MB + a] - F(p)[2 * MB + b];
  FADD((GLOBAL int *)&p[4 * MB + a], (int)d);
  FADD((GLOBAL int *)&p[4 * MB + b], -(int)d);
}
// Charges laid into a grid in LDS
KERNEL(256) void deposit(GLOBAL u32 *p) {
  for (u32 k = 0; k < 16; k++) keys[k * 256 + T] = 0;
  barrier();
  NOUNROLL for (u32 k = 0; k < 16; k++) {
    u32 v = p[(G * 16 + k) * 256 + T];
    for (u32 c = 0; c < 4; c++) __scoped_atomic_fetch_add(&keys[(v + (c & 1) + (c >> 1) * 64) & 4095], v >> 16, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  }
  barrier();
  for (u32 k = 0; k < 16; k++) p[4 * MB + (G & 255) * 4096 + k * 256 + T] = keys[k * 256 + T];
}
// Density at a particle: 24 others of the cells around it
KERNEL(256) void density(GLOBAL float4 *p) {
  u32 i = G * 256 + T;
  float4 x = p[i];
  float s = 0;
  NOUNROLL for (u32 k = 0; k < 24; k++) {
    float4 d = p[(i + (k / 8) * 1024 + k % 8) & 262143] - x;
    float r = 1 - (d.x * d.x + d.y * d.y + d.z * d.z);
    s += r > 0 ? d.w * r * r * r : 0;
  }
  F(p)[2 * MB + i] = s;
}
// Spins of a lattice, one colour of a board, a random number each
KERNEL(256) void spins(GLOBAL u32 *p) {
  u32 i = 2048 + (G * 256 + T) * 2;
  u32 n = (p[i - 1] & 1) + (p[i + 1] & 1) + (p[i - 1024] & 1) + (p[i + 1024] & 1);
  if ((hash(i ^ p[0]) >> 28) > n * 4) p[i] ^= 1;
}
// Distance of two texts by bits: 128 letters, a thread a pair, few pairs
KERNEL(64) void bit_distance(GLOBAL u32 *p) {
  u32 i = G * 64 + T, pv = ~0u, mv = 0, score = 32, pattern = p[i];
  NOUNROLL for (u32 k = 0; k < 128; k++) {
    u32 eq = pattern ^ (pattern << (k & 7)) ^ score;
    u32 xv = eq | mv, xh = (((eq & pv) + pv) ^ pv) | eq, ph = mv | ~(xh | pv), mh = pv & xh;
    score += ph >> 31, score -= mh >> 31;
    ph = ph << 1 | 1, mh <<= 1;
    pv = mh | ~(xv | ph), mv = ph & xv;
  }
  p[65536 + i] = score;
}
// Letters of a text counted by their first bytes, 64 bytes a thread
KERNEL(256) void count_letters(GLOBAL u32 *p) {
  u32 i = G * 256 + T, n = 0;
  for (u32 k = 0; k < 16; k++) {
    u32 v = p[i * 16 + k];
    n += __builtin_popcount(~((v >> 7) & ~(v >> 6)) & 0x01010101u);
  }
  p[8 * MB + i] = n;
}
// Sorting of 256 keys of a workgroup by exchange of neighbours
KERNEL(256) void exchange_sort(GLOBAL u32 *p) {
  row[T] = p[G * 256 + T];
  barrier();
  NOUNROLL for (u32 k = 0; k < 64; k++) {
    u32 at = 2 * (T & 127) + (k & 1);
    if (T < 128 && at < 255) {
      u32 a = row[at], b = row[at + 1];
      if (a > b) row[at] = b, row[at + 1] = a;
    }
    barrier();
  }
  p[2 * MB + G * 256 + T] = row[T];
}
// Sorting of 16 keys of a thread by insertion, the keys of a thread beside each other in LDS
KERNEL(256) void insertion_sort(GLOBAL u32 *p) {
  for (u32 k = 0; k < 16; k++) keys[T * 16 + k] = p[G * 4096 + k * 256 + T];
  NOUNROLL for (u32 k = 1; k < 16; k++) {
    u32 v = keys[T * 16 + k], at = k;
    for (; at > 0 && keys[T * 16 + at - 1] > v; at--) keys[T * 16 + at] = keys[T * 16 + at - 1];
    keys[T * 16 + at] = v;
  }
  for (u32 k = 0; k < 16; k++) p[4 * MB + (G & 511) * 4096 + k * 256 + T] = keys[T * 16 + k];
}
// Sparse rows of blocks of four by four, four threads a row of blocks
KERNEL(256) void block_rows(GLOBAL u32 *p) {
  u32 i = G * 256 + T, b = i >> 2;
  float s = 0;
  NOUNROLL for (u32 k = 0; k < 6; k++) {
    u32 c = p[k * 65536 + (b & 65535)] & 16383;
    float4 m = *(GLOBAL float4 *)&p[MB + (k * 262144 + (i & 262143)) * 4], x = *(GLOBAL float4 *)&p[524288 + c * 4];
    s += m.x * x.x + m.y * x.y + m.z * x.z + m.w * x.w;
  }
  F(p)[8 * MB + i] = s;
}
// A lower triangle solved level by level: a small launch a level
KERNEL(64) void one_level(GLOBAL u32 *p) {
  u32 i = G * 64 + T;
  float s = F(p)[i];
  for (u32 k = 0; k < 4; k++) s -= F(p)[65536 + i * 4 + k] * F(p)[i ^ (k + 1)];
  F(p)[131072 + i] = s;
}
// Norms of groups of 8192 numbers: mean and square, then once more through them
KERNEL(256) void group_norm(GLOBAL float *p) {
  float s = 0, q = 0;
  NOUNROLL for (u32 k = 0; k < 32; k++) {
    float v = p[G * 8192 + k * 256 + T];
    s += v, q += v * v;
  }
  part[T] = s + q;
  barrier();
  for (u32 d = 128; d > 0; d >>= 1) {
    if (T < d) part[T] += part[T + d];
    barrier();
  }
  float m = part[0] * 1e-4f;
  NOUNROLL for (u32 k = 0; k < 32; k++) p[4 * MB + G * 8192 + k * 256 + T] = (p[G * 8192 + k * 256 + T] - m) * 0.5f;
}
// A thin product: 16 columns of 1024 by rows, a thread a value
KERNEL(256) void thin_product(GLOBAL float *p) {
  u32 c = T & 15, r = G * 16 + (T >> 4);
  float s = 0;
  NOUNROLL for (u32 k = 0; k < 1024; k += 4)
    for (u32 j = 0; j < 4; j++) s += p[r * 1024 + k + j] * p[4 * MB + (k + j) * 16 + c];
  p[5 * MB + r * 16 + c] = s;
}
// Pages of a cache copied to where a table says
KERNEL(256) void copy_pages(GLOBAL u32 *p) {
  u32 page = p[G] & 1023;
  for (u32 k = 0; k < 4; k++)
    ((GLOBAL float4 *)p)[MB + G * 1024 + k * 256 + T] = ((GLOBAL float4 *)p)[4096 + (page & 511) * 1024 + k * 256 + T];
}
// Noise by logarithms, the greatest of 32 values of a thread
KERNEL(256) void gumbel(GLOBAL float *p) {
  u32 i = G * 256 + T;
  float best = -1e30f, base = p[i & 65535] * 1e-20f;
  NOUNROLL for (u32 k = 0; k < 32; k++) {
    float u = (float)(hash(i * 32 + k) >> 8) * 5.96e-8f + 1e-9f;
    best = __builtin_fmaxf(best, base - LOG2(-LOG2(u)));
  }
  p[MB + i] = best;
}
// Ways through a text of 256 letters, one after the other, a workgroup a text, few texts
KERNEL(256) void text_ways(GLOBAL float *p) {
  alpha[T] = p[G * 256 + T];
  barrier();
  NOUNROLL for (u32 k = 0; k < 64; k++) {
    float v = alpha[T] + alpha[(T - 1) & 255] + alpha[(T - 2) & 255];
    float e = p[65536 + ((G * 64 + k) * 256 + T & 1048575)];
    barrier();
    alpha[T] = v * e * 0.3f;
    barrier();
  }
  p[2 * MB + G * 256 + T] = alpha[T];
}
