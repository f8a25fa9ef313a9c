// Kernels of genes, weather, earthquakes, films, packing, money, robots, recommendation and secret keys, written here from what those do. What limits
// them, by making resources free, is in trades.ts.
#include "kernel.h"
typedef unsigned char byte;
typedef unsigned long long u64;
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef u32 u32x4 __attribute__((ext_vector_type(4)));
#define F(p) ((GLOBAL float *)(p))
#define ADD(p, v) __scoped_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)
#define ADD_NEAR(p, v) __scoped_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP)
#define RCP __builtin_amdgcn_rcpf
#define SIN __builtin_amdgcn_sinf
#define EXP2 __builtin_amdgcn_exp2f
#define LOG2 __builtin_amdgcn_logf
#define SQRT __builtin_amdgcn_sqrtf
static LOCAL u32 counts[512], runs[64], wide_table[8192];
static LOCAL float block[256 * 9], sides[1024], tile[64 * 65];
static LOCAL half4 pieces[2048];

// Genes: two sequences aligned by diagonals, a wave a pair, a letter a lane
KERNEL(64) void align_pair(GLOBAL u32 *p) {
  u32 mine = p[G * 64 + T] & 3, best = 0;
  int up = 0, left = 0, corner = 0;
  NOUNROLL for (u32 k = 0; k < 96; k++) {
    u32 other = __builtin_amdgcn_readfirstlane(p[524288 + G * 96 + k]) & 3;
    int from = __builtin_amdgcn_ds_bpermute((T - 1) * 4, up);
    int here = corner + (mine == other ? 2 : -1);
    here = from - 1 > here ? from - 1 : here;
    here = left - 1 > here ? left - 1 : here;
    here = here > 0 ? here : 0;
    corner = from, left = here, up = here;
    best = (u32)here > best ? (u32)here : best;
  }
  p[2 * MB + G * 64 + T] = best;
}
// Genes: words of eleven letters counted in a table
KERNEL(256) void count_words(GLOBAL u32 *p) {
  u32 i = G * 256 + T, a = p[i], b = p[i + 1];
  for (u32 k = 0; k < 4; k++) {
    u32 word = __builtin_amdgcn_alignbit(b, a, k * 2) & 0x3fffff;
    ADD(&p[2 * MB + (hash(word) & 4194303)], 1);
  }
}
// Genes: a word looked for in an index of a genome, a letter a step, the range from counts before a place
KERNEL(256) void index_search(GLOBAL u32 *p) {
  u32 i = G * 256 + T, word = hash(i), low = 0, high = 4194303;
  NOUNROLL for (u32 k = 0; k < 12; k++) {
    u32 letter = word >> (2 * k) & 3;
    low = (p[(low & 4194303) | letter] + __builtin_popcount(p[(low + 1) & 4194303])) & 4194303;
    high = (p[(high & 4194303) | letter] + __builtin_popcount(p[(high + 1) & 4194303])) & 4194303;
  }
  p[4 * MB + i] = high - low;
}
// Earthquakes: a star of 25 points of a volume of 256 x 128, going down its depth
KERNEL(256) void star_25(GLOBAL float *p) {
  u32 x = T, y = G & 127, z = 4 + (G >> 7), at = (z * 128 + y) * 256 + x;
  float s = p[at] * -3.0f;
  for (u32 k = 1; k <= 4; k++)
    s += (p[at - k] + p[at + k] + p[at - k * 256] + p[at + k * 256] + p[at - k * 32768] + p[at + k * 32768]) * (0.5f / k);
  p[4 * MB + at] = s;
}
// Weather: a flux by weights of five points, smooth parts more, along rows
KERNEL(256) void weighted_flux(GLOBAL float *p) {
  u32 i = G * 256 + T + 4;
  float a = p[i - 2], b = p[i - 1], c = p[i], d = p[i + 1], e = p[i + 2];
  float s0 = (a - 2 * b + c) * (a - 2 * b + c) * 1.0833f + (a - 4 * b + 3 * c) * (a - 4 * b + 3 * c) * 0.25f;
  float s1 = (b - 2 * c + d) * (b - 2 * c + d) * 1.0833f + (b - d) * (b - d) * 0.25f;
  float s2 = (c - 2 * d + e) * (c - 2 * d + e) * 1.0833f + (3 * c - 4 * d + e) * (3 * c - 4 * d + e) * 0.25f;
  float w0 = 0.1f * RCP((s0 + 1e-6f) * (s0 + 1e-6f)), w1 = 0.6f * RCP((s1 + 1e-6f) * (s1 + 1e-6f));
  float w2 = 0.3f * RCP((s2 + 1e-6f) * (s2 + 1e-6f));
  float f = w0 * (2 * a - 7 * b + 11 * c) + w1 * (5 * c - b + 2 * d) + w2 * (2 * c + 5 * d - e);
  p[4 * MB + i] = f * RCP(6 * (w0 + w1 + w2));
}
// Weather: light through the layers of air of a column, a thread a column
KERNEL(64) void air_column(GLOBAL float *p) {
  u32 i = G * 64 + T;
  float down = 1, all = 0;
  NOUNROLL for (u32 k = 0; k < 60; k++) {
    float water = p[k * 32768 + i] * 1e-6f, warm = p[2 * MB + k * 32768 + i] * 1e-6f;
    float through = EXP2(-water * (1 + 0.1f * warm)), own = SQRT(SQRT(warm * warm + 1));
    down = down * through + own * (1 - through);
    all += down;
  }
  p[4 * MB + i] = all;
}
// Maps: how near 128 wells are, by an exponential of the distance; wells by scalar loads
KERNEL(256) void wells(GLOBAL float *p) {
  u32 i = G * 256 + T;
  float x = (float)(i & 1023), y = (float)(i >> 10), s = 0;
  NOUNROLL for (u32 k = 0; k < 128; k++) {
    float dx = p[k * 4] - x, dy = p[k * 4 + 1] - y;
    s += p[k * 4 + 2] * EXP2(-SQRT(dx * dx + dy * dy));
  }
  p[65536 + i] = s;
}
// Films: blocks of 8 x 8 turned back from frequencies, rows then columns, through LDS
KERNEL(256) void back_to_pixels(GLOBAL float *p) {
  float v[8];
  GLOBAL float4 *in = (GLOBAL float4 *)p + (G * 256 + T) * 2;
  float4 a = in[0], b = in[1];
  v[0] = a.x, v[1] = a.y, v[2] = a.z, v[3] = a.w, v[4] = b.x, v[5] = b.y, v[6] = b.z, v[7] = b.w;
  for (u32 pass = 0; pass < 2; pass++) {
    float e0 = v[0] + v[4], e1 = v[0] - v[4], e2 = v[2] * 0.4142f - v[6], e3 = v[2] + v[6] * 0.4142f;
    float o0 = v[1] + v[7] * 0.1989f, o1 = v[3] + v[5] * 0.6682f, o2 = v[3] * 0.6682f - v[5], o3 = v[1] * 0.1989f - v[7];
    v[0] = e0 + e3 + o0 + o1, v[7] = e0 + e3 - o0 - o1, v[1] = e1 + e2 + o0 - o1, v[6] = e1 + e2 - o0 + o1;
    v[2] = e1 - e2 + o3 - o2, v[5] = e1 - e2 - o3 + o2, v[3] = e0 - e3 + o3 + o2, v[4] = e0 - e3 - o3 - o2;
    if (pass == 1) break;
    for (u32 k = 0; k < 8; k++) block[T * 9 + k] = v[k];
    barrier();
    for (u32 k = 0; k < 8; k++) v[k] = block[((T & ~7u) + k) * 9 + (T & 7)];
  }
  for (u32 k = 0; k < 8; k++) p[4 * MB + (G * 8 + k) * 256 + T] = v[k];
}
// Films: where a block of 16 bytes by 8 rows has been before, 25 places a thread
KERNEL(64) void block_moved(GLOBAL u32 *p) {
  u32 x = (G & 63) * 64 + T, y = (G >> 6) * 8, best = ~0u;
  NOUNROLL for (u32 k = 0; k < 25; k++) {
    u32 sum = 0;
    for (u32 r = 0; r < 8; r++)
      sum = __builtin_amdgcn_sad_u8(p[(y + r) * 4096 + x], p[MB + (y + r + k / 5) * 4096 + ((x + k % 5) & 4095)], sum);
    best = sum < best ? sum : best;
  }
  p[3 * MB + G * 64 + T] = best;
}
// Films: a picture of bytes made half as large, a word a thread
KERNEL(256) void smaller(GLOBAL u32 *p) {
  u32 i = G * 256 + T, x = i & 511, y = i >> 9, out = 0;
  for (u32 k = 0; k < 2; k++) {
    u32 a = p[y * 2048 + x * 2 + k], b = p[y * 2048 + 1024 + x * 2 + k];
    u32 s = __builtin_amdgcn_lerp(a, b, 0x01010101u);
    out |= (((s & 255) + (s >> 8 & 255)) >> 1 | ((s >> 16 & 255) + (s >> 24)) >> 1 << 8) << (16 * k);
  }
  p[4 * MB + i] = out;
}
// Pictures: counts of brightness of a tile, made even, and used for the tile
KERNEL(256) void even_light(GLOBAL u32 *p) {
  counts[T] = 0;
  barrier();
  u32 v[8];
  for (u32 k = 0; k < 8; k++) {
    v[k] = p[G * 2048 + k * 256 + T];
    ADD_NEAR(&counts[v[k] & 255], 1), ADD_NEAR(&counts[v[k] >> 8 & 255], 1);
  }
  barrier();
  for (u32 d = 1; d < 256; d <<= 1) {
    u32 before = T >= d ? counts[T - d] : 0;
    barrier();
    counts[T] += before;
    barrier();
  }
  for (u32 k = 0; k < 8; k++) p[2 * MB + G * 2048 + k * 256 + T] = counts[v[k] & 255] | counts[v[k] >> 8 & 255] << 16;
}
// Packing: codes of 2 to 9 bits undone by a table in LDS, a stream a thread
KERNEL(64) void decode_codes(GLOBAL u32 *p) {
  for (u32 k = 0; k < 8; k++) counts[k * 64 + T] = 2 + (hash(k * 64 + T) & 7) | (k * 64 + T) << 8;
  barrier();
  u32 i = G * 64 + T, at = 0, sum = 0;
  u64 bits = (u64)p[i * 32 + 1] << 32 | p[i * 32];
  u32 have = 64, next = 2;
  NOUNROLL while (at < 160) {
    u32 entry = counts[bits & 511], n = entry & 255;
    sum += entry >> 8, bits >>= n, have -= n, at++;
    if (have < 32) bits |= (u64)p[i * 32 + (next++ & 31)] << have, have += 32;
  }
  p[4 * MB + i] = sum;
}
// Packing: the longest match of eight letters among four places that a table names
KERNEL(256) void find_match(GLOBAL u32 *p) {
  u32 i = G * 256 + T, here = p[i], best = 0;
  u32 place = p[2 * MB + (hash(here & 0xffffff) & 65535)];
  NOUNROLL for (u32 k = 0; k < 4; k++) {
    u32 there = p[place & 1048575];
    u32 same = __builtin_ctz((here ^ there) | 1u << 31);
    best = same > best ? same : best;
    place = p[4 * MB + (place & 1048575)];
  }
  p[6 * MB + i] = best;
}
// Tables: numbers of 13 bits unpacked, compared and counted
KERNEL(256) void unpack_13(GLOBAL u32 *p) {
  u32 i = G * 256 + T, n = 0;
  for (u32 k = 0; k < 8; k++) {
    u32 bit = (i * 8 + k) * 13, low = p[bit >> 5], high = p[(bit >> 5) + 1];
    n += (__builtin_amdgcn_alignbit(high, low, bit & 31) & 8191) < 1000;
  }
  p[4 * MB + i] = n;
}
// Tables: keys to 64 parts: places by counts in LDS, then to memory
KERNEL(256) void to_parts(GLOBAL u32 *p) {
  if (T < 64) runs[T] = 0;
  barrier();
  u32 v[8], at[8];
  for (u32 k = 0; k < 8; k++) {
    v[k] = p[G * 2048 + k * 256 + T];
    at[k] = ADD_NEAR(&runs[hash(v[k]) & 63], 1);
  }
  barrier();
  if (T < 64) runs[T] = ADD(&p[4 * MB - 64 + T], runs[T]);
  barrier();
  for (u32 k = 0; k < 8; k++) p[4 * MB + (hash(v[k]) & 63) * 65536 + ((runs[hash(v[k]) & 63] + at[k]) & 65535)] = v[k];
}
// Tables: sums by group, groups of very different size
KERNEL(256) void group_sums(GLOBAL u32 *p) {
  u32 i = G * 256 + T, v = p[i], key = (v & 65535) >> (v >> 28);
  ADD(&p[4 * MB + key], v >> 16);
}
// Tables: a filter of bits asked at four places
KERNEL(256) void bit_filter(GLOBAL u32 *p) {
  u32 i = G * 256 + T, key = p[i], found = 1;
  for (u32 k = 0; k < 4; k++) {
    u32 h = hash(key + k * 0x9e3779b9u);
    found &= p[MB + (h >> 5 & 4194303)] >> (h & 31);
  }
  p[6 * MB + i] = found & 1;
}
// Networks: tiles of 4 x 4 before a product, sums and differences of rows and columns
KERNEL(256) void wino_input(GLOBAL float *p) {
  u32 i = G * 256 + T, x = (i & 255) * 2, y = (i >> 8 & 255) * 2, c = i >> 16;
  float d[16], t[16];
  for (u32 k = 0; k < 16; k++) d[k] = p[c * 264196 + (y + k / 4) * 514 + x + k % 4];
  for (u32 k = 0; k < 4; k++)
    t[k] = d[k] - d[8 + k], t[4 + k] = d[4 + k] + d[8 + k], t[8 + k] = d[8 + k] - d[4 + k], t[12 + k] = d[4 + k] - d[12 + k];
  for (u32 k = 0; k < 4; k++) {
    GLOBAL float *out = p + 2 * MB + i;
    out[(k * 4) * 262144] = t[k * 4] - t[k * 4 + 2], out[(k * 4 + 1) * 262144] = t[k * 4 + 1] + t[k * 4 + 2];
    out[(k * 4 + 2) * 262144] = t[k * 4 + 2] - t[k * 4 + 1], out[(k * 4 + 3) * 262144] = t[k * 4 + 1] - t[k * 4 + 3];
  }
}
// Networks: one question to 1024 keys in parts, a workgroup a part of 64 keys, few parts
KERNEL(64) void part_of_answer(GLOBAL float *p) {
  float q = p[G * 64 + T], most = -1e30f, sum = 0, out = 0;
  NOUNROLL for (u32 k = 0; k < 64; k++) {
    float s = q * p[65536 + (G * 64 + k) * 64 + T];
    for (u32 d = 32; d > 0; d >>= 1) s += __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((T ^ d) * 4, __builtin_bit_cast(int, s)));
    float now = s > most ? s : most, keep = EXP2(most - now), w = EXP2(s - now);
    sum = sum * keep + w, out = out * keep + w * p[4 * MB + (G * 64 + k) * 64 + T], most = now;
  }
  p[8 * MB + G * 64 + T] = out * RCP(sum);
}
// Networks: the two best of 64 experts and their weights, a token a thread, scores by expert
KERNEL(256) void two_experts(GLOBAL float *p) {
  u32 i = G * 256 + T, first = 0, second = 0;
  float a = -1e30f, b = -1e30f;
  NOUNROLL for (u32 k = 0; k < 64; k++) {
    float s = p[k * 65536 + i];
    if (s > a) b = a, second = first, a = s, first = k;
    else if (s > b) b = s, second = k;
  }
  p[4 * MB + i * 2] = RCP(1 + EXP2(b - a)), p[4 * MB + i * 2 + 1] = (float)(first | second << 8);
}
// Recommendation: rows of 16 numbers added, as many as a bag has, a bag a quarter of a wave
KERNEL(256) void bags(GLOBAL u32 *p) {
  u32 i = G * 256 + T, bag = i >> 4, n = 1 + (hash(bag) & 31);
  float s = 0;
  NOUNROLL for (u32 k = 0; k < n; k++) s += F(p)[MB + (p[(bag * 32 + k) & 1048575] & 262143) * 16 + (i & 15)];
  F(p)[6 * MB + i] = s;
}
// Networks: bytes of a row times bytes of a vector, a thread a row, rows beside each other
KERNEL(256) void byte_rows(GLOBAL u32 *p) {
  u32 i = G * 256 + T;
  int s = 0;
  NOUNROLL for (u32 k = 0; k < 64; k++) {
    u32 a = p[k * 131072 + i], b = p[8 * MB + k];
    for (u32 j = 0; j < 4; j++) s += (int)(signed char)(a >> 8 * j) * (int)(signed char)(b >> 8 * j);
  }
  p[8 * MB + 65536 + i] = s;
}
// Networks: products of halves, tiles of 64 x 32 in LDS, two buffers
KERNEL(256) void half_product(GLOBAL half4 *p) {
  float4 c[4] = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}};
  pieces[T] = p[(G & 63) * 256 + T], pieces[512 + T] = p[65536 + (G >> 6) * 256 + T];
  barrier();
  NOUNROLL for (u32 n = 0; n < 24; n++) {
    u32 now = n & 1, next = now ^ 1;
    half4 a = p[((n + 1) * 64 + (G & 63)) * 256 + T & 524287], b = p[524288 + (((n + 1) * 64 + (G >> 6)) * 256 + T & 524287)];
    for (u32 k = 0; k < 4; k++) {
      half4 x = pieces[now * 256 + (T & ~63u) + (T & 63)], y = pieces[512 + now * 256 + k * 64 + (T & 63)];
      c[k] = __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, c[k], 0, 0, 0);
    }
    pieces[next * 256 + T] = a, pieces[512 + next * 256 + T] = b;
    barrier();
  }
  for (u32 k = 0; k < 4; k++) ((GLOBAL float4 *)p)[524288 + (G * 4 + k) * 256 + T] = c[k];
}
// Matter: a lattice of 3 x 3 complex numbers times vectors at four places
KERNEL(64) void colour_vectors(GLOBAL float *p) {
  u32 i = G * 64 + T;
  float re[3] = {0, 0, 0}, im[3] = {0, 0, 0};
  NOUNROLL for (u32 d = 0; d < 4; d++) {
    u32 n = (i + (1u << (d * 4))) & 65535;
    float vr[3], vi[3];
    for (u32 k = 0; k < 3; k++) vr[k] = p[k * 65536 + n], vi[k] = p[(3 + k) * 65536 + n];
    for (u32 r = 0; r < 3; r++)
      for (u32 k = 0; k < 3; k++) {
        float ur = p[(8 + d * 18 + r * 6 + k * 2) * 65536 + (i & 65535)], ui = p[(9 + d * 18 + r * 6 + k * 2) * 65536 + (i & 65535)];
        re[r] += ur * vr[k] - ui * vi[k], im[r] += ur * vi[k] + ui * vr[k];
      }
  }
  for (u32 r = 0; r < 3; r++) p[(80 + r) * 65536 + i] = re[r] + im[r];
}
// Plasma: fields of eight corners at a particle, particles in no order
KERNEL(256) void corners(GLOBAL float *p) {
  u32 i = G * 256 + T, h = hash(i), at = h & 1048575;
  float x = (float)(h >> 20 & 15) * 0.0625f, y = (float)(h >> 24 & 15) * 0.0625f, z = (float)(h >> 28) * 0.0625f;
  float s = 0;
  for (u32 k = 0; k < 8; k++)
    s += p[at + (k & 1) + (k >> 1 & 1) * 128 + (k >> 2) * 16384] * (k & 1 ? x : 1 - x) * (k >> 1 & 1 ? y : 1 - y) * (k >> 2 ? z : 1 - z);
  p[4 * MB + i] = s;
}
// Heat: systems of 512 unknowns in LDS, every second equation removed, a workgroup a system
KERNEL(256) void halve_equations(GLOBAL float *p) {
  for (u32 k = 0; k < 2; k++) sides[k * 256 + T] = p[G * 512 + k * 256 + T];
  barrier();
  NOUNROLL for (u32 d = 1; d < 256; d <<= 1) {
    u32 at = (T + 1) * 2 * d - 1;
    if (at < 512) sides[at] -= 0.3f * sides[at - d] + 0.2f * sides[(at + d) & 511];
    barrier();
  }
  NOUNROLL for (u32 d = 128; d > 0; d >>= 1) {
    u32 at = (T + 1) * 2 * d - 1;
    if (at < 512) sides[at] = (sides[at] - 0.1f * sides[at - d]) * 0.7f;
    barrier();
  }
  for (u32 k = 0; k < 2; k++) p[4 * MB + G * 512 + k * 256 + T] = sides[k * 256 + T];
}
// Robots: matrices of 6 x 6 taken apart, one a thread, few of them
KERNEL(64) void six_by_six(GLOBAL float *p) {
  u32 i = G * 64 + T;
  float a[36];
  for (u32 k = 0; k < 36; k++) a[k] = p[k * 32768 + i] * 1e-9f + (k % 7 == 0 ? 9.0f : 0.1f);
  for (u32 c = 0; c < 6; c++) {
    float d = __builtin_amdgcn_rsqf(a[c * 7]);
    for (u32 r = c; r < 6; r++) a[r * 6 + c] *= d;
    for (u32 j = c + 1; j < 6; j++)
      for (u32 r = j; r < 6; r++) a[r * 6 + j] -= a[r * 6 + c] * a[j * 6 + c];
  }
  for (u32 k = 0; k < 36; k++) p[2 * MB + k * 32768 + i] = a[k];
}
// Secrets: a sponge of 25 words of 64 bits, 12 rounds
KERNEL(64) void sponge(GLOBAL u32 *p) {
  u32 i = G * 64 + T;
  u64 a[25];
  for (u32 k = 0; k < 25; k++) a[k] = p[(i + k * 64) & 262143] * 0x9e3779b97f4a7c15ull;
  NOUNROLL for (u32 n = 0; n < 12; n++) {
    u64 c[5], b[25];
    for (u32 x = 0; x < 5; x++) c[x] = a[x] ^ a[5 + x] ^ a[10 + x] ^ a[15 + x] ^ a[20 + x];
    for (u32 k = 0; k < 25; k++) a[k] ^= c[(k + 4) % 5] ^ (c[(k + 1) % 5] << 1 | c[(k + 1) % 5] >> 63);
    for (u32 k = 0; k < 25; k++) {
      u32 by = (k * 7 + 3) % 63 + 1;
      b[(k * 11) % 25] = a[k] << by | a[k] >> (64 - by);
    }
    for (u32 k = 0; k < 25; k++) a[k] = b[k] ^ (~b[k / 5 * 5 + (k + 1) % 5] & b[k / 5 * 5 + (k + 2) % 5]);
    a[0] ^= n;
  }
  p[MB + i] = (u32)(a[0] ^ a[7] ^ a[24]);
}
// Money: paths of interest, 40 steps, numbers by shifts, a normal by logarithm and sine, few workgroups
KERNEL(128) void interest(GLOBAL float *p) {
  u32 i = G * 128 + T, s = hash(i) | 1;
  float rate = 0.03f, sum = 0;
  NOUNROLL for (u32 k = 0; k < 40; k++) {
    s ^= s << 13, s ^= s >> 17, s ^= s << 5;
    float u = (float)(s >> 8) * 5.96e-8f + 1e-9f, v = (float)(s & 0xffff) * 1.5e-5f;
    rate += 0.1f * (0.05f - rate) + 0.01f * SQRT(rate * rate + 1e-6f) * SQRT(-1.386f * LOG2(u)) * SIN(v);
    sum += rate;
  }
  p[i] = EXP2(-sum);
}
// Money: prices of a tree of 255 steps in LDS, a workgroup an option, a barrier a step
KERNEL(256) void price_tree(GLOBAL float *p) {
  sides[T] = p[G * 256 + T] * 1e-9f;
  barrier();
  NOUNROLL for (u32 k = 255; k > 191; k--) {
    float v = 0.49f * sides[T] + 0.5f * sides[(T + 1) & 255];
    barrier();
    if (T < k) sides[T] = v;
    barrier();
  }
  p[MB + G * 256 + T] = sides[T];
}
// Control: a filter's small step for 4096 states, thirty launches
KERNEL(64) void filter_step(GLOBAL float *p) {
  u32 i = G * 64 + T;
  p[i] = p[i] * 0.9f + p[65536 + i] * 0.1f;
}
// Flames: rates of 64 reactions with an exponential each, without a loop
KERNEL(64) void reactions(GLOBAL float *p) {
  u32 i = G * 64 + T;
  float t = p[i & 65535] * 1e-9f + 1.0f, r = RCP(t), l = LOG2(t), s[8];
  for (u32 k = 0; k < 8; k++) s[k] = p[(k + 1) * 65536 + (i & 65535)] * 1e-9f;
#pragma clang loop unroll(full)
  for (u32 k = 0; k < 96; k++) {
    float rate = EXP2((float)(k * 37 % 101) * 0.013f - (float)(k * 53 % 89) * 0.17f * r + (float)(k % 7) * 0.31f * l);
    float flow = rate * s[k % 8] * s[(k * 3 + 1) % 8];
    s[(k * 5 + 2) % 8] += flow, s[k % 8] -= flow * 0.5f;
  }
  float all = 0;
  for (u32 k = 0; k < 8; k++) all += s[k];
  p[MB + i] = all;
}
// Light: paths that end by chance, a bounce a turn, three numbers of the scene each
KERNEL(256) void light_paths(GLOBAL float *p) {
  u32 i = G * 256 + T, s = hash(i);
  float light = 1, sum = 0;
  NOUNROLL for (u32 k = 0; k < 32; k++) {
    u32 at = s & 4095;
    float a = p[at], b = p[4096 + at], c = p[8192 + at];
    light *= 0.9f + 1e-12f * a, sum += light * SQRT(b * b + c * c + 1);
    s = hash(s + k);
    if ((s & 7) == 0) break;
  }
  p[65536 + i] = sum;
}
// Language: letters to pieces: a tree of a vocabulary followed from each place, at most eight letters
KERNEL(256) void pieces_of_text(GLOBAL u32 *p) {
  u32 i = G * 256 + T, node = 0, length = 0;
  NOUNROLL for (u32 k = 0; k < 8; k++) {
    u32 letter = (p[(i + k) >> 2] >> (((i + k) & 3) * 8)) & 63;
    u32 child = p[MB + ((node * 64 + letter) & 2097151)];
    if ((child & 15) < 3) break;
    node = child >> 4 & 32767, length++;
  }
  p[4 * MB + i] = node << 4 | length;
}
// A matrix turned through LDS with rows of 65, 32 numbers of 64 bits of products between
KERNEL(256) void turn_and_scale(GLOBAL float *p) {
  u32 bx = G & 31, by = G >> 5;
  for (u32 k = 0; k < 16; k++) tile[(k * 4 + (T >> 6)) * 65 + (T & 63)] = p[(by * 64 + k * 4 + (T >> 6)) * 2048 + bx * 64 + (T & 63)];
  barrier();
  for (u32 k = 0; k < 16; k++)
    p[4 * MB + (bx * 64 + k * 4 + (T >> 6)) * 2048 + by * 64 + (T & 63)] = tile[(T & 63) * 65 + k * 4 + (T >> 6)] * 1.5f;
}
// Search: a page of 32 KB of LDS a wave, words looked up at places that follow from words
KERNEL(64) void page_walk(GLOBAL u32 *p) {
  for (u32 k = 0; k < 128; k++) wide_table[k * 64 + T] = p[k * 64 + T + G];
  barrier();
  u32 x = T, y = T * 77;
  NOUNROLL for (u32 k = 0; k < 200; k++) x = wide_table[x & 8191] + k, y = wide_table[(y ^ x) & 8191];
  p[65536 + G * 64 + T] = x ^ y;
}
