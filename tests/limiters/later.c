// Fifteen kernels with a known limiter, written after the rules had been changed for unseen.c (later.ts says why each is so): filters,
// transposes, lists, scans, locks, queues. One argument: the buffer. clang --target=amdgcn-amd-amdhsa -mcpu=TARGET -O3 -nogpulib.
#include "kernel.h"
typedef unsigned char u8;
typedef float float2 __attribute__((ext_vector_type(2)));
#define CONSTANT __attribute__((address_space(4)))

// Edges of an image of 4,096 floats a row: rows come from the caches but once.
KERNEL(256) void edges(GLOBAL float *p) {
  u32 at = (G >> 4) * 4096 + (G & 15) * 256 + T + 4097;
  float x = p[at + 1] - p[at - 1] + p[at + 4097] - p[at + 4095] + p[at - 4095] - p[at - 4097];
  float y = p[at + 4096] - p[at - 4096] + p[at + 4097] + p[at + 4095] - p[at - 4095] - p[at - 4097];
  p[at + 16 * MB] = x * x + y * y;
}

// A matrix of 2,048 by 2,048 words: rows are read, columns written.
KERNEL(256) void transpose_rows(GLOBAL u32 *p) {
  u32 row = G >> 3, column = (G & 7) * 256 + T;
  p[8 * MB + column * 2048 + row] = p[row * 2048 + column];
}

// The same megabyte again and again: from L2, for it is too much for L1.
KERNEL(256) void from_l2(GLOBAL float4 *p) {
  float4 sum = 0;
  NOUNROLL for (int k = 0; k < 16; k++) {
    u32 at = (G * 97 + k * 4096) & 65535;
    for (int n = 0; n < 4; n++) sum += p[(at + 1024 * n + T) & 65535];
  }
  p[65536 + G * 256 + T] = sum;
}

// Every lane follows a list of its own; a node holds the place of the next.
KERNEL(64) void lists(GLOBAL u32 *p) {
  u32 at = hash(G * 64 + T) & (8 * MB - 1), n = 0;
  NOUNROLL for (int k = 0; k < 30; k++) {
    at = p[at] & (8 * MB - 1);
    n += at & 3;
  }
  p[G * 64 + T] = n;
}

// One list for the wave, followed by scalar loads.
KERNEL(64) void scalar_list(GLOBAL u32 *p) {
  const CONSTANT u32 *list = (const CONSTANT u32 *)(unsigned long)p;
  u32 at = __builtin_amdgcn_readfirstlane(hash(G) & (4 * MB - 1));
  NOUNROLL for (int k = 0; k < 40; k++) at = __builtin_amdgcn_readfirstlane(list[at] & (4 * MB - 1));
  p[4 * MB + G * 64 + T] = at;
}

// Points in a circle, four generators a lane.
KERNEL(256) void monte_carlo(GLOBAL u32 *p) {
  u32 a = G * 256 + T + 1, b = a * 7, c = a * 11, d = a * 13, hits = 0;
  NOUNROLL for (int k = 0; k < 60; k++) {
    a ^= a << 13, a ^= a >> 17, a ^= a << 5;
    b ^= b << 13, b ^= b >> 17, b ^= b << 5;
    c ^= c << 13, c ^= c >> 17, c ^= c << 5;
    d ^= d << 13, d ^= d >> 17, d ^= d << 5;
    float x = (float)(a >> 8) * 0x1p-24f, y = (float)(b >> 8) * 0x1p-24f, z = (float)(c >> 8) * 0x1p-24f, w = (float)(d >> 8) * 0x1p-24f;
    hits += (x * x + y * y < 1.0f) + (z * z + w * w < 1.0f);
  }
  p[G * 256 + T] = hits;
}

// Eight complex numbers in registers go through stages of butterflies.
KERNEL(256) void butterflies(GLOBAL float2 *p) {
  float2 v[8];
  for (int k = 0; k < 8; k++) v[k] = p[(G & 255) * 256 + T] + (float)k;
  NOUNROLL for (int stage = 0; stage < 60; stage++) {
    float c = 0.9f - 0.01f * stage, s = 0.1f + 0.01f * stage;
    for (int k = 0; k < 4; k++) {
      float2 a = v[k], b = v[k + 4];
      float2 t = {b[0] * c - b[1] * s, b[0] * s + b[1] * c};
      v[2 * k & 7] = a + t, v[(2 * k + 1) & 7] = a - t;
    }
  }
  float2 sum = 0;
  for (int k = 0; k < 8; k++) sum += v[k];
  p[65536 + G * 256 + T] = sum;
}

static LOCAL u32 sums[1024];
// A scan over 1,024 numbers, ten steps, two barriers each, done eight times.
KERNEL(1024) void scan(GLOBAL u32 *p) {
  u32 x = p[G * 1024 + T];
  NOUNROLL for (int round = 0; round < 8; round++) {
    sums[T] = x;
    barrier();
    NOUNROLL for (u32 n = 1; n < 1024; n *= 2) {
      u32 y = T >= n ? sums[T - n] : 0;
      barrier();
      sums[T] = x += y;
      barrier();
    }
  }
  p[G * 1024 + T] = x;
}

// The largest number of all, by compare and swap.
KERNEL(64) void compare_and_swap(GLOBAL u32 *p) {
  GLOBAL u32 *largest = p + 16 * (T & 3);
  NOUNROLL for (int k = 0; k < 4; k++) {
    u32 mine = hash(G * 64 + T + k) >> 4, seen = __atomic_load_n(largest, __ATOMIC_RELAXED);
    NOUNROLL for (int tries = 0; tries < 8 && seen < mine; tries++)
      if (__atomic_compare_exchange_n(largest, &seen, mine, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) break;
  }
}

// Every lane that finds something puts it into one of eight queues.
KERNEL(256) void queues(GLOBAL u32 *p) {
  u32 i = G * 256 + T;
  NOUNROLL for (int k = 0; k < 6; k++) {
    u32 item = hash(i * 6 + k), queue = item & 7;
    if (item & 0x100) p[64 * 1024 * (1 + queue) + (__atomic_fetch_add(p + 64 * queue, 1, __ATOMIC_RELAXED) & 0xffff)] = item;
  }
}

// Workgroups of sixteen lanes where waves have 64.
KERNEL(16) void quarter_waves(GLOBAL float *p) {
  float x = 0.001f * T, y = x + 0.5f, z = x + 0.25f, w = x + 0.125f;
  NOUNROLL for (int k = 0; k < 250; k++)
    for (int n = 0; n < 4; n++) x = x * 0.9f + y, y = y * 0.8f + z, z = z * 0.7f + w, w = w * 0.6f + 0.1f;
  p[G * 16 + T] = x + y + z + w;
}

// One long chain a lane, one wave a compute unit.
KERNEL(64) void recurrence(GLOBAL float *p) {
  float x = p[T];
  NOUNROLL for (int k = 0; k < 400; k++)
    for (int n = 0; n < 8; n++) x = __builtin_fmaf(x, 0.99f, 0.01f * n);
  p[G * 64 + T] = x;
}

// A pass over 2,048 numbers.
KERNEL(128) void short_pass(GLOBAL u32 *p) {
  u32 i = G * 128 + T;
  p[i] = hash(p[i] + i);
}

#define C1(i) x = (x ^ ((i) * 0x9e3779b1u)) + (y ^ ((i) * 0x85ebca6bu));
#define C16(i) C1(i) C1(i + 1) C1(i + 2) C1(i + 3) C1(i + 4) C1(i + 5) C1(i + 6) C1(i + 7) C1(i + 8) C1(i + 9) C1(i + 10) C1(i + 11) C1(i + 12) C1(i + 13) C1(i + 14) C1(i + 15)
#define C256(i) C16(i) C16(i + 16) C16(i + 32) C16(i + 48) C16(i + 64) C16(i + 80) C16(i + 96) C16(i + 112) C16(i + 128) C16(i + 144) C16(i + 160) C16(i + 176) C16(i + 192) C16(i + 208) C16(i + 224) C16(i + 240)
#define CASE(n) case n: C256(n * 2000 + 1) C256(n * 2000 + 300) C256(n * 2000 + 600) C256(n * 2000 + 900) break;
// Each workgroup runs the code of its number, eight pieces of 20 KB.
KERNEL(64) void opcodes(GLOBAL u32 *p) {
  u32 x = p[T], y = T;
  NOUNROLL for (u32 k = 0; k < 6; k++) {
    switch ((G + k * 3) & 7) {
      CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7)
    }
  }
  p[G * 64 + T] = x;
}

static LOCAL float2 pairs[2048];
// Pairs in a tile without padding, read along columns.
KERNEL(256) void columns(GLOBAL float *p) {
  float2 sum = 0;
  for (int k = 0; k < 8; k++) pairs[T + 256 * k] = (float)(T + k);
  barrier();
  NOUNROLL for (int k = 0; k < 64; k++)
    for (int n = 0; n < 2; n++) sum += pairs[((T & 31) * 64 + (T >> 5) + 2 * k + n) & 2047];
  p[G * 256 + T] = sum[0] + sum[1];
}
