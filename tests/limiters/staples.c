// Kernels of inference servers, sparse algebra, codecs, ciphers, cameras, physics codes and tables, written here from what those do, of kinds that no
// other set has. What limits them, by making resources free, is in staples.ts.
#include "kernel.h"
typedef unsigned long long u64;
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef u32 u32x4 __attribute__((ext_vector_type(4)));
#define ADD(p, v) __scoped_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)
#define ADD_NEAR(p, v) __scoped_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP)
#define RCP __builtin_amdgcn_rcpf
#define EXP2 __builtin_amdgcn_exp2f
#define LOG2 __builtin_amdgcn_logf
#define SQRT __builtin_amdgcn_sqrtf
#define SIN __builtin_amdgcn_sinf
#define COS __builtin_amdgcn_cosf
static LOCAL u32 keys[1024], sbox[1024], scratch[256];
static LOCAL float column[64 * 33], line[2048], norms[4];
static LOCAL float4 splats[256];

// Inference: a selective scan over 128 tokens, a channel a thread, 8 states each
KERNEL(64) void state_scan(GLOBAL float *p) {
  u32 i = G * 64 + T;
  float h[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  NOUNROLL for (u32 t = 0; t < 128; t++) {
    float x = p[t * 32768 + i], d = p[4 * MB + t * 32768 + i], y = 0;
    for (u32 k = 0; k < 8; k++) {
      h[k] = h[k] * EXP2(-d * (float)(k + 1)) + d * x * p[8 * MB + t * 8 + k];
      y += h[k] * p[8 * MB + 2048 + t * 8 + k];
    }
    p[9 * MB + t * 32768 + i] = y;
  }
}
// Inference: rows of 1024 numbers brought to their experts' places, a workgroup a token
KERNEL(256) void to_experts(GLOBAL u32x4 *p) {
  u32 token = G, place = hash(token) & 4095;
  p[MB + place * 256 + T] = p[token * 256 + T];
}
// Inference: gates of a recurrent cell, four sums and four sigmoids a cell
KERNEL(256) void gates(GLOBAL float *p) {
  u32 i = G * 256 + T;
  float a = p[i] * 1e-9f, b = p[2 * MB + i] * 1e-9f, c = p[4 * MB + i] * 1e-9f, d = p[6 * MB + i] * 1e-9f, old = p[8 * MB + i];
  float in = RCP(1 + EXP2(-a)), keep = RCP(1 + EXP2(-b)), out = RCP(1 + EXP2(-c)), now = 1 - 2 * RCP(1 + EXP2(d));
  float cell = keep * old + in * now;
  p[8 * MB + i] = cell;
  p[10 * MB + i] = out * (1 - 2 * RCP(1 + EXP2(cell)));
}
// Inference: a new key of each of 512 sequences put into pages of its cache
KERNEL(64) void cache_append(GLOBAL u32 *p) {
  u32 page = p[G], at = p[512 + G] & 15;
  p[MB + ((page & 8191) * 16 + at) * 64 + T] = p[4096 + G * 64 + T];
}
// Sparse: dots of 64 numbers at the places of a pattern, a wave four of them
KERNEL(256) void sampled_dots(GLOBAL float *p) {
  u32 wave = G * 4 + (T >> 6), lane = T & 63;
  for (u32 n = 0; n < 4; n++) {
    u32 h = hash(wave * 4 + n), row = h & 16383, col = h >> 14 & 16383;
    float s = p[row * 64 + lane] * p[MB + col * 64 + lane];
    for (u32 d = 32; d > 0; d >>= 1) s += __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((T ^ d) * 4, __builtin_bit_cast(int, s)));
    if (lane == 0) p[2 * MB + wave * 4 + n] = s;
  }
}
// Sparse: products of rows gathered in a hash table in LDS, by compare and swap
KERNEL(256) void hashed_rows(GLOBAL u32 *p) {
  for (u32 k = 0; k < 4; k++) keys[k * 256 + T] = 0;
  barrier();
  NOUNROLL for (u32 k = 0; k < 3; k++) {
    u32 key = p[(hash(G * 3 + k) & 2047) * 256 + T] | 1, at = hash(key) & 1023;
    NOUNROLL for (u32 n = 0; n < 16; n++) {
      u32 old = 0;
      if (__scoped_atomic_compare_exchange_n(&keys[at], &old, key, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP) || old == key) break;
      at = (at + 1) & 1023;
    }
  }
  barrier();
  for (u32 k = 0; k < 4; k++) p[2 * MB + G * 1024 + k * 256 + T] = keys[k * 256 + T];
}
// Sparse: blocks of 16 x 16 of a matrix times 16 columns by matrix instructions, 24 blocks a row at places from an index
KERNEL(64) void block_rows_16(GLOBAL half4 *p) {
  float4 c = {0, 0, 0, 0};
  NOUNROLL for (u32 k = 0; k < 24; k++) {
    u32 col = ((GLOBAL u32 *)p)[20 * MB + G * 24 + k] & 4095;
    c = __builtin_amdgcn_mfma_f32_16x16x16f16(p[(G * 24 + k) * 64 + T], p[8 * MB + col * 64 + T], c, 0, 0, 0);
  }
  ((GLOBAL float4 *)p)[6 * MB + G * 64 + T] = c;
}
// Sparse: a level of a triangular solve: 2048 rows, what they need is known
KERNEL(64) void solve_level(GLOBAL float *p) {
  u32 row = G * 64 + T;
  float s = p[row];
  NOUNROLL for (u32 k = 0; k < 12; k++) s -= p[MB + k * 4096 + row] * p[65536 + (((GLOBAL u32 *)p)[2 * MB + k * 4096 + row] & 524287)];
  p[4 * MB + row] = s;
}
// Algebra: a panel of 64 x 32 made triangular by reflections, a wave a panel
KERNEL(64) void reflect_panel(GLOBAL float *p) {
  for (u32 c = 0; c < 32; c++) column[T * 33 + c] = (float)(hash(G * 64 + T + c * 999) & 255) * 0.01f + 0.5f;
  NOUNROLL for (u32 c = 0; c < 32; c++) {
    float v = T >= c ? column[T * 33 + c] : 0, s = v * v;
    for (u32 d = 32; d > 0; d >>= 1) s += __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((T ^ d) * 4, __builtin_bit_cast(int, s)));
    float by = 2 * RCP(s + 1e-9f);
    NOUNROLL for (u32 j = c + 1; j < 32; j++) {
      float w = v * column[T * 33 + j];
      for (u32 d = 32; d > 0; d >>= 1) w += __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((T ^ d) * 4, __builtin_bit_cast(int, w)));
      column[T * 33 + j] -= by * w * v;
    }
  }
  for (u32 c = 0; c < 32; c++) p[G * 2048 + c * 64 + T] = column[T * 33 + c];
}
// Algebra: sums and differences of 1024 numbers, ten steps: four in registers, six between lanes
KERNEL(256) void hadamard(GLOBAL float *p) {
  u32 wave = G * 4 + (T >> 6);
  float v[16];
  for (u32 k = 0; k < 16; k++) v[k] = p[wave * 1024 + k * 64 + (T & 63)];
  for (u32 d = 1; d < 16; d <<= 1)
    for (u32 k = 0; k < 16; k++)
      if ((k & d) == 0) { float a = v[k], b = v[k | d]; v[k] = a + b, v[k | d] = a - b; }
  for (u32 d = 1; d < 64; d <<= 1)
    for (u32 k = 0; k < 16; k++) {
      float other = __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((T ^ d) * 4, __builtin_bit_cast(int, v[k])));
      v[k] = T & d ? other - v[k] : v[k] + other;
    }
  for (u32 k = 0; k < 16; k++) p[8 * MB + wave * 1024 + k * 64 + (T & 63)] = v[k];
}
// Algebra: a matrix plus the product of a column and a row
KERNEL(256) void rank_one(GLOBAL float *p) {
  u32 i = G * 256 + T;
  p[i] += p[8 * MB + (i >> 11)] * p[8 * MB + 8192 + (i & 2047)];
}
// Algebra: values of symmetric 3 x 3 matrices by their angle, a matrix a thread
KERNEL(256) void values_3(GLOBAL float *p) {
  u32 i = G * 256 + T;
  float a = p[i] * 1e-9f, b = p[2 * MB + i] * 1e-9f, c = p[4 * MB + i] * 1e-9f, d = 0.1f * a, e = 0.2f * b, f = 0.3f * c;
  for (u32 n = 0; n < 6; n++) {
    float q = (a + b + c) * 0.333333f, s = (a - q) * (a - q) + (b - q) * (b - q) + (c - q) * (c - q) + 2 * (d * d + e * e + f * f);
    float r = SQRT(s * 0.166667f) + 1e-9f, angle = SIN((a * b * c + 2 * d * e * f - a * f * f - b * e * e - c * d * d) * RCP(r * r * r));
    a = q + 2 * r * COS(angle), b = q + 2 * r * COS(angle + 0.333f), c = 3 * q - a - b;
  }
  p[8 * MB + i] = a, p[10 * MB + i] = b, p[12 * MB + i] = c;
}
// Ciphers: a stream by additions, exclusive ors and turns, 20 rounds, 64 bytes a thread
KERNEL(256) void stream_cipher(GLOBAL u32 *p) {
  u32 i = G * 256 + T, x[16];
  for (u32 k = 0; k < 16; k++) x[k] = k * 0x61707865 + (k == 12 ? i : 7);
#define TURN(v, n) __builtin_amdgcn_alignbit(v, v, 32 - n)
#define QUARTER(a, b, c, d) a += b, d = TURN(d ^ a, 16), c += d, b = TURN(b ^ c, 12), a += b, d = TURN(d ^ a, 8), c += d, b = TURN(b ^ c, 7)
  NOUNROLL for (u32 n = 0; n < 10; n++) {
    QUARTER(x[0], x[4], x[8], x[12]), QUARTER(x[1], x[5], x[9], x[13]), QUARTER(x[2], x[6], x[10], x[14]), QUARTER(x[3], x[7], x[11], x[15]);
    QUARTER(x[0], x[5], x[10], x[15]), QUARTER(x[1], x[6], x[11], x[12]), QUARTER(x[2], x[7], x[8], x[13]), QUARTER(x[3], x[4], x[9], x[14]);
  }
  for (u32 k = 0; k < 16; k++) p[k * 524288 + i] ^= x[k];
}
// Ciphers: ten rounds by tables of 256 words in LDS, a block of 16 bytes a thread
KERNEL(256) void table_cipher(GLOBAL u32 *p) {
  for (u32 k = 0; k < 4; k++) sbox[k * 256 + T] = hash(k * 256 + T);
  barrier();
  u32 i = G * 256 + T, a = p[i], b = p[MB + i], c = p[2 * MB + i], d = p[3 * MB + i];
  NOUNROLL for (u32 n = 0; n < 10; n++) {
    u32 w = sbox[a & 255] ^ sbox[256 + (b >> 8 & 255)] ^ sbox[512 + (c >> 16 & 255)] ^ sbox[768 + (d >> 24)];
    u32 x = sbox[b & 255] ^ sbox[256 + (c >> 8 & 255)] ^ sbox[512 + (d >> 16 & 255)] ^ sbox[768 + (a >> 24)];
    u32 y = sbox[c & 255] ^ sbox[256 + (d >> 8 & 255)] ^ sbox[512 + (a >> 16 & 255)] ^ sbox[768 + (b >> 24)];
    u32 z = sbox[d & 255] ^ sbox[256 + (a >> 8 & 255)] ^ sbox[512 + (b >> 16 & 255)] ^ sbox[768 + (c >> 24)];
    a = w ^ n, b = x, c = y, d = z;
  }
  p[i] = a, p[MB + i] = b, p[2 * MB + i] = c, p[3 * MB + i] = d;
}
// Proofs: a step of a transform of numbers modulo a prime, two numbers a thread
KERNEL(256) void prime_butterfly(GLOBAL u32 *p) {
  u32 i = G * 256 + T, at = (i >> 9 << 10) | (i & 511), a = p[at], b = p[at + 512], w = p[8 * MB + (i & 511)];
  u64 product = (u64)b * w;
  u32 q = (u32)product * 0x7effffffu, t = (u32)((product + (u64)q * 0x7f000001u) >> 32);
  u32 s = a + t, d = a + 0x7f000001u - t;
  p[at] = s >= 0x7f000001u ? s - 0x7f000001u : s;
  p[at + 512] = d >= 0x7f000001u ? d - 0x7f000001u : d;
}
// Codecs: three bytes to four letters, a word of letters a thread
KERNEL(256) void to_letters(GLOBAL u32 *p) {
  u32 i = G * 256 + T, bit = i * 24, low = p[bit >> 5], high = p[(bit >> 5) + 1], out = 0;
  u32 three = __builtin_amdgcn_alignbit(high, low, bit & 31);
  for (u32 k = 0; k < 4; k++) {
    u32 v = three >> (6 * k) & 63;
    u32 letter = v < 26 ? 65 + v : v < 52 ? 71 + v : v < 62 ? v - 4 : v == 62 ? 43 : 47;
    out |= letter << (8 * k);
  }
  p[4 * MB + i] = out;
}
// Codecs: runs written out: which run a place is in, by halving, then its value
KERNEL(256) void write_runs(GLOBAL u32 *p) {
  u32 i = G * 256 + T, low = 0, high = 131072;
  NOUNROLL while (high - low > 1) {
    u32 middle = (low + high) >> 1;
    if (p[middle] <= i) low = middle; else high = middle;
  }
  p[4 * MB + i] = p[MB + low];
}
// Codecs: places of quotes and commas of a text as bits of words, and how many
KERNEL(256) void marks_of_text(GLOBAL u32 *p) {
  u32 wave = G * 4 + (T >> 6), n = 0;
  for (u32 k = 0; k < 4; k++) {
    u32 v = p[(wave * 4 + k) * 64 + (T & 63)];
    for (u32 b = 0; b < 4; b++) {
      u32 c = v >> (8 * b) & 255;
      u64 mask = __builtin_amdgcn_ballot_w64(c == 34 || c == 44);
      n += __builtin_popcountll(mask);
      if ((T & 63) == b) p[8 * MB + (wave * 4 + k) * 8 + b * 2] = (u32)mask, p[8 * MB + (wave * 4 + k) * 8 + b * 2 + 1] = (u32)(mask >> 32);
    }
  }
  if ((T & 63) == 0) p[10 * MB + wave] = n;
}
// Cameras: colours of a mosaic from five points each, a pixel a thread
KERNEL(256) void mosaic(GLOBAL float *p) {
  u32 i = G * 256 + T + 4096, x = i & 1, y = i >> 11 & 1;
  float c = p[i], across = (p[i - 1] + p[i + 1]) * 0.5f, down = (p[i - 2048] + p[i + 2048]) * 0.5f;
  float corners = (p[i - 2049] + p[i - 2047] + p[i + 2047] + p[i + 2049]) * 0.25f;
  p[4 * MB + i] = x == y ? across : c, p[8 * MB + i] = x ? c : corners, p[12 * MB + i] = y ? down : corners;
}
// Cameras: patches of 3 x 3 compared with those of 49 places around, weights by exponentials
KERNEL(64) void by_patches(GLOBAL float *p) {
  u32 i = G * 64 + T + 8192;
  float own[9], sum = 0, all = 0;
  for (u32 k = 0; k < 9; k++) own[k] = p[i + (k / 3) * 1024 + k % 3];
  NOUNROLL for (u32 n = 0; n < 49; n++) {
    u32 at = i + (n / 7) * 1024 + n % 7;
    float d = 0;
    for (u32 k = 0; k < 9; k++) { float e = p[at + (k / 3) * 1024 + k % 3] - own[k]; d += e * e; }
    float w = EXP2(-d * 1e-9f);
    sum += w * p[at + 1025], all += w;
  }
  p[MB + i] = sum * RCP(all);
}
// Cameras: votes of edge points for 64 directions of lines
KERNEL(64) void line_votes(GLOBAL u32 *p) {
  float angle = (float)T * 0.0078f, c = COS(angle), s = SIN(angle);
  NOUNROLL for (u32 k = 0; k < 16; k++) {
    u32 point = __builtin_amdgcn_readfirstlane(p[G * 16 + k]);
    float r = (float)(point & 1023) * c + (float)(point >> 10 & 1023) * s;
    ADD(&p[MB + T * 2048 + ((u32)(int)(r + 1024.0f) & 2047)], 1);
  }
}
// Pictures: nearest of triangles' points by an atomic minimum of 64 bits
KERNEL(256) void nearest_depth(GLOBAL u64 *p) {
  u32 i = G * 256 + T, h = hash(i);
  u64 key = (u64)(h >> 8) << 32 | i;
  __scoped_atomic_fetch_min(&p[MB + (h & 262143)], key, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
// Pictures: 256 soft points laid over a tile of 16 x 16 from front to back
KERNEL(256) void soft_points(GLOBAL float *p) {
  u32 x = T & 15, y = T >> 4;
  float light = 1, colour = 0;
  NOUNROLL for (u32 n = 0; n < 4; n++) {
    barrier();
    splats[T] = ((GLOBAL float4 *)p)[(G & 255) * 1024 + n * 256 + T];
    barrier();
    NOUNROLL for (u32 k = 0; k < 128; k++) {
      float4 s = splats[k];
      float dx = s.x - (float)x, dy = s.y - (float)y, a = s.w * EXP2(-(dx * dx + dy * dy));
      colour += light * a * s.z, light *= 1 - a;
    }
  }
  p[4 * MB + G * 256 + T] = colour;
}
// Pictures: a ray goes on by the distance to a scene of spheres until it is near
KERNEL(256) void march(GLOBAL float *p) {
  u32 i = G * 256 + T, h = hash(i);
  float x = (float)(h & 255) * 0.03f, y = (float)(h >> 8 & 255) * 0.03f, z = 0, near = 1 + (float)(h >> 16 & 63);
  u32 steps = 1 + ((h >> 24 & 7) == 0 ? 48 : (h >> 27));
  NOUNROLL for (u32 k = 0; k < steps; k++) {
    float a = SQRT(x * x + y * y + z * z + 1), b = SQRT((x - 2) * (x - 2) + y * y + (z - near) * (z - near) + 1);
    z += (a < b ? a : b) * 0.1f;
  }
  p[i] = z;
}
// Reactors: five numbers of materials at an energy, by halving of a grid of 65536, then six gathers
KERNEL(256) void cross_sections(GLOBAL float *p) {
  u32 i = G * 256 + T, h = hash(i), low = 0, high = 65536;
  NOUNROLL while (high - low > 1) {
    u32 middle = (low + high) >> 1;
    if (((GLOBAL u32 *)p)[middle] > h) high = middle; else low = middle;
  }
  float s = 0;
  for (u32 k = 0; k < 6; k++) {
    u32 at = 65536 + ((low * 8 + (hash(h + k) & 63) * 65536) & 4194303);
    for (u32 j = 0; j < 5; j++) s += p[at + j];
  }
  p[5 * MB + i] = s;
}
// Electrons: splines of three dimensions: 64 numbers of four for a point, points in no order, a wave a point
KERNEL(64) void splines(GLOBAL float *p) {
  u32 h = hash(G);
  float s = 0, wx = (float)(h & 15) * 0.06f;
  for (u32 k = 0; k < 64; k++) {
    u32 at = ((h & 4095) + (k & 3) + (k >> 2 & 3) * 64 + (k >> 4) * 4096) & 32767;
    s += wx * p[at * 64 + T];
    wx = wx * 0.99f + 0.01f;
  }
  p[4 * MB + G * 64 + T] = s;
}
// Oceans: a grid made coarser: the mean of eight cells of doubles
KERNEL(256) void coarser(GLOBAL double *p) {
  u32 i = G * 256 + T, x = i & 127, y = i >> 7 & 127, z = i >> 14;
  double s = 0;
  for (u32 k = 0; k < 8; k++) s += p[((z * 2 + (k >> 2)) * 256 + y * 2 + (k >> 1 & 1)) * 256 + x * 2 + (k & 1)];
  p[8 * MB + i] = s * 0.125;
}
// Speech: the likeliest path through 64 states and 48 sounds, a state a lane, sums before from other lanes
KERNEL(64) void likely_path(GLOBAL float *p) {
  float best = p[G * 64 + T] * 1e-9f;
  NOUNROLL for (u32 t = 0; t < 48; t++) {
    float most = -1e30f;
    for (u32 k = 0; k < 8; k++) {
      float from = __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(((T + k * 5) & 63) * 4, __builtin_bit_cast(int, best)));
      most = __builtin_fmaxf(most, from + (float)k * 0.01f);
    }
    best = most + p[65536 + t * 64 + T];
  }
  p[MB + G * 64 + T] = best;
}
// Radio: parity checks of a code, 128 sums in LDS changed in turn, eight rounds
KERNEL(128) void parity(GLOBAL float *p) {
  for (u32 k = 0; k < 4; k++) line[k * 128 + T] = p[G * 512 + k * 128 + T];
  barrier();
  NOUNROLL for (u32 n = 0; n < 8; n++) {
    float v[6], low = 1e30f;
    for (u32 k = 0; k < 6; k++) v[k] = line[(T * 4 + k * 77 + n) & 511], low = __builtin_fminf(low, __builtin_fabsf(v[k]));
    barrier();
    for (u32 k = 0; k < 6; k++) line[(T * 4 + k * 77 + n) & 511] = v[k] + (v[k] < 0 ? -low : low) * 0.5f;
    barrier();
  }
  for (u32 k = 0; k < 4; k++) p[2 * MB + G * 512 + k * 128 + T] = line[k * 128 + T];
}
// Tables: keys thrown out of their nests by others, at most eight times
KERNEL(256) void nests(GLOBAL u32 *p) {
  u32 key = hash(G * 256 + T) | 1;
  NOUNROLL for (u32 k = 0; k < 8 && key != 0; k++)
    key = __scoped_atomic_exchange_n(&p[MB + (hash(key + k) & 4194303)], key, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  if (key != 0) p[G * 256 + T] = key;
}
// Tables: bits of a filter set by atomics, a bit of a word of few words
KERNEL(256) void set_bits(GLOBAL u32 *p) {
  u32 key = p[G * 256 + T], h = hash(key);
  __scoped_atomic_fetch_or(&p[MB + (h & 2047)], 1u << (h >> 27), __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  h = hash(h + 1);
  __scoped_atomic_fetch_or(&p[MB + (h & 2047)], 1u << (h >> 27), __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
// Tables: least hashes of sets of 64 words for 16 signatures, a set a thread
KERNEL(64) void signatures(GLOBAL u32 *p) {
  u32 i = G * 64 + T, least[16];
  for (u32 k = 0; k < 16; k++) least[k] = ~0u;
  NOUNROLL for (u32 n = 0; n < 64; n++) {
    u32 word = p[n * 131072 + i];
    for (u32 k = 0; k < 16; k++) {
      u32 h = word * (2 * k * 0x9e3779b1u + 1) + k;
      least[k] = h < least[k] ? h : least[k];
    }
  }
  for (u32 k = 0; k < 16; k++) p[8 * MB + k * 131072 + i] = least[k];
}
// Tracking: filters of four states, 24 measurements each, products of matrices in registers, 64 workgroups
KERNEL(64) void tracks(GLOBAL float *p) {
  u32 i = G * 64 + T;
  float x[4] = {0, 0, 0, 0}, c[16];
  for (u32 k = 0; k < 16; k++) c[k] = k % 5 == 0 ? 1.0f : 0.1f;
  NOUNROLL for (u32 t = 0; t < 24; t++) {
    float m[16];
    for (u32 r = 0; r < 4; r++)
      for (u32 k = 0; k < 4; k++) m[r * 4 + k] = c[r * 4 + k] + 0.1f * c[((r + 2) & 3) * 4 + k] + 0.05f * c[r * 4 + ((k + 2) & 3)];
    float by = RCP(m[0] + 1.0f), off = p[t * 8192 + i] * 1e-9f - x[0];
    for (u32 r = 0; r < 4; r++) {
      x[r] += 0.1f * x[(r + 2) & 3] + m[r * 4] * by * off;
      for (u32 k = 0; k < 4; k++) c[r * 4 + k] = m[r * 4 + k] - m[r * 4] * by * m[k];
    }
  }
  for (u32 k = 0; k < 4; k++) p[MB + k * 8192 + i] = x[k];
}
