// Kernels of textbooks on algorithms, written here from what those do: strings, lists, trees, grids, sparse systems, tables, sums. What limits
// them, by making resources free, is in lessons.ts.
#include "kernel.h"
typedef unsigned char byte;
#define F(p) ((GLOBAL float *)(p))
#define ADD(p, v) __scoped_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)
#define MAX(p, v) __scoped_atomic_fetch_max(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)
#define RCP __builtin_amdgcn_rcpf
#define EXP2 __builtin_amdgcn_exp2f
static LOCAL float few[512], many[12288], thousand[1024];
static LOCAL u32 table[256], bins[256];

// A checksum by a table in LDS, a message of 16 words a thread
KERNEL(256) void checksum(GLOBAL u32 *p) {
  table[T] = p[T];
  barrier();
  u32 c = ~0u;
  NOUNROLL for (u32 k = 0; k < 16; k++) {
    u32 v = p[MB + (k * 1024 + G) * 256 + T];
    for (u32 b = 0; b < 32; b += 8) c = table[(c ^ v >> b) & 255] ^ c >> 8;
  }
  p[G * 256 + T + 8 * MB] = c;
}
// Search of a word of eight letters at every place of a text
KERNEL(256) void find_word(GLOBAL byte *p) {
  u32 i = G * 256 + T, n = 0;
  for (; n < 8; n++)
    if ((p[i + n] & 3) != (n & 3)) break;
  if (n == 8) p[16 * MB + i] = 1;
}
// Ranks of a list by jumping over what has been jumped
KERNEL(256) void jump(GLOBAL u32 *p) {
  u32 i = G * 256 + T, next = p[i] & (MB - 1);
  p[4 * MB + i] = p[2 * MB + i] + p[2 * MB + next];
  p[6 * MB + i] = p[next];
}
// Roots of a forest, up the tree to the end
KERNEL(64) void roots(GLOBAL u32 *p) {
  u32 i = G * 64 + T, at = i;
  NOUNROLL for (u32 k = 0; k < 12; k++) at = p[at] & (4 * MB - 1);
  p[5 * MB + i] = at;
}
// The same with a launch of a wave a compute unit
KERNEL(64) void roots_one_wave(GLOBAL u32 *p) {
  u32 i = G * 64 + T, at = i;
  NOUNROLL for (u32 k = 0; k < 64; k++) at = (p[at & (MB - 1)] >> 3) + i;
  p[2 * MB + i] = at;
}
// Sum of rows by one wave each, eight loads at once
KERNEL(64) void row_sums(GLOBAL float *p) {
  float s[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  NOUNROLL for (u32 k = 0; k < 32; k++)
    for (u32 j = 0; j < 8; j++) s[j] += p[G * 16384 + k * 512 + j * 64 + T];
  p[8 * MB + G * 64 + T] = s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7];
}
// Convolution with 33 weights, straight from memory
KERNEL(256) void taps(GLOBAL float *p) {
  u32 i = G * 256 + T;
  float s = 0;
  for (u32 k = 0; k < 33; k++) s += p[i + k] * p[8 * MB + k];
  p[4 * MB + i] = s;
}
// A filter that keeps edges: five by five, an exponential each
KERNEL(256) void bilateral(GLOBAL float *p) {
  u32 i = 8192 + G * 256 + T;
  float c = p[i], s = 0, w = 0;
  for (u32 y = 0; y < 5; y++)
    for (u32 x = 0; x < 5; x++) {
      float v = p[i + (y - 2) * 2048 + x - 2], e = EXP2(-(v - c) * (v - c) - (float)(x * x + y * y));
      s += e * v, w += e;
    }
  p[4 * MB + i] = s * RCP(w);
}
// Rounds of a cipher: add, rotate, exclusive or
KERNEL(256) void rounds(GLOBAL u32 *p) {
  u32 i = G * 256 + T, a = p[i], b = a ^ i, c = b * 3, d = ~a;
  NOUNROLL for (u32 k = 0; k < 40; k++) {
    a += b, d ^= a, d = d << 16 | d >> 16, c += d, b ^= c, b = b << 12 | b >> 20;
    a += b, d ^= a, d = d << 8 | d >> 24, c += d, b ^= c, b = b << 7 | b >> 25;
  }
  p[MB + i] = a ^ b ^ c ^ d;
}
// Sparse rows of equal length, by column, a thread a row
KERNEL(256) void ell_rows(GLOBAL u32 *p) {
  u32 i = G * 256 + T;
  float s = 0;
  NOUNROLL for (u32 k = 0; k < 8; k++) {
    u32 c = p[k * 262144 + i] & 65535;
    s += F(p)[2 * MB + k * 262144 + i] * F(p)[4 * MB + c];
  }
  F(p)[5 * MB + i] = s;
}
// Sparse rows, a wave a row of 64 entries
KERNEL(64) void csr_wave(GLOBAL u32 *p) {
  u32 c = p[G * 64 + T] & 65535;
  few[T] = F(p)[2 * MB + G * 64 + T] * F(p)[4 * MB + c];
  barrier();
  for (u32 k = 32; k > 0; k >>= 1) {
    if (T < k) few[T] += few[T + k];
    barrier();
  }
  if (T == 0) F(p)[5 * MB + G] = few[0];
}
// Seven points of three dimensions
KERNEL(256) void seven_points(GLOBAL float *p) {
  u32 i = 16384 + G * 256 + T;
  p[4 * MB + i] = 0.4f * p[i] + 0.1f * (p[i - 1] + p[i + 1] + p[i - 128] + p[i + 128] + p[i - 16384] + p[i + 16384]);
}
// Product of matrices of 512 x 512 without tiles
KERNEL(256) void plain_product(GLOBAL float *p) {
  u32 x = (G & 31) * 16 + (T & 15), y = (G >> 5) * 16 + (T >> 4);
  float s = 0;
  NOUNROLL for (u32 k = 0; k < 512; k++) s += p[y * 512 + k] * p[MB + k * 512 + x];
  p[2 * MB + y * 512 + x] = s;
}
// Transposition, straight
KERNEL(256) void turn(GLOBAL float *p) {
  u32 i = G * 256 + T, x = i & 1023, y = i >> 10;
  p[4 * MB + x * 1024 + y] = p[i];
}
// Life on bits: 32 cells a word
KERNEL(256) void life(GLOBAL u32 *p) {
  u32 i = 256 + G * 256 + T, one = 0, two = 0, four = 0;
  for (u32 r = 0; r < 3; r++) {
    u32 v = p[i + (r - 1) * 256];
    for (u32 s = 0; s < 3; s++) {
      u32 w = s == 0 ? v << 1 : s == 1 ? v >> 1 : r == 1 ? 0 : v;
      u32 carry = one & w, next = two & carry;
      one ^= w, two ^= carry, four |= next;
    }
  }
  p[4 * MB + i] = two & ~four & (one | p[i]);
}
// A join: keys looked up in a hash table with open addresses
KERNEL(256) void join(GLOBAL u32 *p) {
  u32 i = G * 256 + T, key = p[i], at = hash(key) & (2 * MB - 1);
  for (u32 k = 0; k < 8; k++, at = (at + 1) & (2 * MB - 1))
    if ((p[2 * MB + at] & 3) == 0) break;
  p[5 * MB + i] = at;
}
// Nearest of 64 centres in four dimensions; the centres are the same for all
KERNEL(256) void nearest_centre(GLOBAL float4 *p) {
  u32 i = G * 256 + T, best = 0;
  float4 v = p[i];
  float least = 1e30f;
  NOUNROLL for (u32 k = 0; k < 64; k++) {
    float4 d = v - p[MB + k];
    float s = d.x * d.x + d.y * d.y + d.z * d.z + d.w * d.w;
    if (s < least) least = s, best = k;
  }
  ((GLOBAL u32 *)p)[6 * MB + i] = best;
}
// Tridiagonal systems, one a thread, stored by equation
KERNEL(64) void tridiagonal(GLOBAL float *p) {
  u32 i = G * 64 + T;
  float c = 0, d = 0;
  NOUNROLL for (u32 k = 0; k < 64; k++) {
    float m = RCP(p[k * 16384 + i] - c * 0.5f);
    c = 0.5f * m, d = (p[2 * MB + k * 16384 + i] - d * 0.5f) * m;
    p[4 * MB + k * 16384 + i] = d;
  }
}
// A large tile in LDS: 48 KB for 256 threads, read, averaged, written
KERNEL(256) void large_tile(GLOBAL float *p) {
  for (u32 k = 0; k < 48; k++) many[k * 256 + T] = p[(G & 127) * 12288 + k * 256 + T];
  barrier();
  NOUNROLL for (u32 k = 1; k < 47; k++) {
    float v = many[k * 256 + T] + many[k * 256 - 256 + T] + many[k * 256 + 256 + T];
    p[2 * MB + (G & 127) * 12288 + k * 256 + T] = v;
  }
}
// Largest of each of 64 keys
KERNEL(256) void best_of_keys(GLOBAL u32 *p) {
  u32 v = p[G * 256 + T];
  MAX(&p[4 * MB + (v & 63) * 16], v >> 6);
}
// Counts of 256 letters in LDS, added to memory at the end
KERNEL(256) void letters(GLOBAL u32 *p) {
  bins[T] = 0;
  barrier();
  NOUNROLL for (u32 k = 0; k < 16; k++) {
    u32 v = p[(G * 16 + k) * 256 + T];
    for (u32 b = 0; b < 32; b += 8) __scoped_atomic_fetch_add(&bins[v >> b & 255], 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  }
  barrier();
  ADD(&p[8 * MB + T], bins[T]);
}
// Sums of all before, 1024 of a workgroup, step by step
KERNEL(1024) void sums_before(GLOBAL float *p) {
  u32 i = G * 1024 + T;
  thousand[T] = p[i];
  barrier();
  NOUNROLL for (u32 d = 1; d < 1024; d *= 2) {
    float v = T >= d ? thousand[T - d] : 0;
    barrier();
    thousand[T] += v;
    barrier();
  }
  p[4 * MB + i] = thousand[T];
}
// Where two sorted lists meet on a diagonal: halves of halves
KERNEL(256) void diagonals(GLOBAL u32 *p) {
  u32 i = G * 256 + T, low = 0, high = i;
  NOUNROLL for (u32 k = 0; k < 16; k++) {
    u32 at = (low + high) / 2;
    if ((p[at] & 1023) + at < (p[MB + i - at] & 1023) + i - at) low = at + 1;
    else high = at;
  }
  p[3 * MB + i] = low;
}
// A series at a place, a thread a place, few places
KERNEL(64) void series(GLOBAL float *p) {
  u32 i = G * 64 + T;
  float x = p[i] * 1e-9f, t = 1, s = 1;
  NOUNROLL for (u32 k = 1; k < 200; k++) t *= x * RCP((float)k), s += t;
  p[65536 + i] = s;
}
// Elimination of one column, a small launch a column
KERNEL(64) void column_step(GLOBAL float *p) {
  u32 i = G * 64 + T;
  p[i] -= p[i & 63] * 0.25f;
}
