// Kernels of benchmark suites, written here from what those do: Rodinia, Parboil, SHOC, PolyBench, HeCBench, mixbench, and the inner loops of
// attention and of products of sparse matrices. What limits them, by making resources free, is in classics.ts.
#include "kernel.h"
typedef unsigned char byte;
typedef unsigned long long u64;
#define F(p) ((GLOBAL float *)(p))
#define ADD(p, v) __scoped_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)
#define EXP2 __builtin_amdgcn_exp2f
#define RCP __builtin_amdgcn_rcpf
#define SHARED __attribute__((address_space(3)))
#define SQRT __builtin_amdgcn_sqrtf
#define SIN __builtin_amdgcn_sinf
#define COS __builtin_amdgcn_cosf
static LOCAL float few[512], thousand[1024], two_thousand[2048], square[4096];
static LOCAL u32 words[768], table[2048];
static LOCAL int scores[4160];

// Rodinia needleman-wunsch: a tile of 64 x 64 in LDS by its diagonals, one wave
KERNEL(64) void needleman_tile(GLOBAL int *p) {
  for (u32 r = 0; r < 64; r++) scores[r * 65 + T] = p[G * 4096 + r * 64 + T];
  barrier();
  NOUNROLL for (u32 d = 2; d < 128; d++) {
    u32 c = T + 1, r = d - c;
    if (r >= 1 && r < 64 && c < 64) {
      int a = scores[(r - 1) * 65 + c - 1] + scores[r * 65 + c], b = scores[(r - 1) * 65 + c] - 10, e = scores[r * 65 + c - 1] - 10;
      a = a > b ? a : b;
      scores[r * 65 + c] = a > e ? a : e;
    }
    barrier();
  }
  for (u32 r = 0; r < 64; r++) p[2 * MB + G * 4096 + r * 64 + T] = scores[r * 65 + T];
}
// Rodinia hotspot: a tile in LDS, four steps in it, temperatures and power
KERNEL(256) void hotspot_steps(GLOBAL float *p) {
  u32 i = G * 256 + T, x = T & 15, y = T >> 4;
  float power = p[4 * MB + i], t = p[i];
  NOUNROLL for (u32 k = 0; k < 4; k++) {
    few[T] = t;
    barrier();
    float n = few[y ? T - 16 : T], s = few[y < 15 ? T + 16 : T], w = few[x ? T - 1 : T], e = few[x < 15 ? T + 1 : T];
    t += 0.1f * (power + (n + s - 2 * t) * 0.3f + (w + e - 2 * t) * 0.2f + (80 - t) * 0.01f);
    barrier();
  }
  p[8 * MB + i] = t;
}
// Rodinia srad: gradients, Laplacian and the coefficient of a pixel
KERNEL(256) void srad_coefficient(GLOBAL float *p) {
  u32 i = 2048 + G * 256 + T;
  float c = p[i], n = p[i - 2048] - c, s = p[i + 2048] - c, w = p[i - 1] - c, e = p[i + 1] - c;
  float r = RCP(c), g = (n * n + s * s + w * w + e * e) * r * r, l = (n + s + w + e) * r;
  float den = 1 + 0.25f * l, q = (0.5f * g - l * l * 0.0625f) * RCP(den * den);
  den = (q - 0.05f) * RCP(0.05f * 1.05f);
  p[4 * MB + i] = RCP(1 + den);
  p[6 * MB + i] = n, p[8 * MB + i] = s;
}
// Rodinia streamcluster: distance of points in 32 dimensions, stored by dimension, to one centre
KERNEL(256) void cluster_gain(GLOBAL float *p) {
  u32 i = G * 256 + T;
  float d = 0;
  for (u32 k = 0; k < 32; k++) {
    float x = p[k * 262144 + i] - p[9 * MB + k];
    d += x * x;
  }
  float now = p[8 * MB + i];
  p[8 * MB + i] = d < now ? d : now;
}
// Rodinia b+tree: a workgroup of 256 keys a node goes down six levels, the key that matches says where
KERNEL(256) void btree_range(GLOBAL u32 *p) {
  u32 node = G, key = hash(G);
  NOUNROLL for (u32 level = 0; level < 6; level++) {
    u32 at = (node & 16383) * 256, k = p[at + T];
    if (T == 0) words[0] = 0;
    barrier();
    if (k <= key && (k ^ T) & 1) words[0] = T;
    barrier();
    node = p[4 * MB + ((at + words[0]) & (MB - 1))];
    barrier();
  }
  if (T == 0) p[6 * MB + G] = node;
}
// Rodinia lavaMD: particles of a box with those of eight neighbours in LDS
KERNEL(128) void lava_boxes(GLOBAL float4 *p) {
  float4 me = p[G * 128 + T], sum = {0, 0, 0, 0};
  SHARED float4 *other = (SHARED float4 *)few;
  NOUNROLL for (u32 box = 0; box < 8; box++) {
    barrier();
    other[T] = p[(G * 7 + box * 13 & 255) * 128 + T];
    barrier();
    for (u32 k = 0; k < 128; k++) {
      float4 o = other[k];
      float r = me.w + o.w - (me.x * o.x + me.y * o.y + me.z * o.z), v = EXP2(-0.7f * r), f = 2 * v;
      sum.w += v, sum.x += f * (me.x - o.x), sum.y += f * (me.y - o.y), sum.z += f * (me.z - o.z);
    }
  }
  p[65536 + G * 128 + T] = sum;
}
// Rodinia nn: distance of each record to a place
KERNEL(256) void near_records(GLOBAL float *p) {
  u32 i = G * 256 + T;
  float x = p[2 * i] - 30, y = p[2 * i + 1] - 90;
  p[6 * MB + i] = SQRT(x * x + y * y);
}
// Rodinia particlefilter: each particle looks for its place in a cumulative sum from the start
KERNEL(128) void filter_index(GLOBAL float *p) {
  u32 i = G * 128 + T, at = 0;
  float u = (float)(hash(i) & 1023);
  NOUNROLL while (at < 1023 && (float)(at + ((__builtin_bit_cast(u32, p[at]) & 1))) < u) at++;
  p[MB + i] = p[2 * MB + at];
}
// mummer: each thread follows a suffix link a letter at a time
KERNEL(256) void suffix_links(GLOBAL u32 *p) {
  u32 i = G * 256 + T, node = hash(i) & (4 * MB - 1), length = 0;
  GLOBAL byte *text = (GLOBAL byte *)(p + 4 * MB);
  NOUNROLL for (u32 k = 0; k < 24; k++) {
    u32 letter = text[i * 32 + k] & 3;
    u32 next = p[(node & ~3u) + letter];
    if ((next & 15) == 0) break;
    node = next >> 3 & (4 * MB - 1), length++;
  }
  p[8 * MB + i] = length + node;
}
// Rodinia myocyte: a cell a thread, many equations with exponentials, two workgroups
KERNEL(64) void heart_cells(GLOBAL float *p) {
  u32 i = G * 64 + T;
  float v = p[i], m = p[4096 + i], h = p[8192 + i], j = p[12288 + i], d = p[16384 + i];
  NOUNROLL for (u32 k = 0; k < 400; k++) {
    float am = 0.32f * (v + 47.13f) * RCP(1 - EXP2(-0.1f * (v + 47.13f))), bm = 0.08f * EXP2(-v * 0.09f);
    float ah = 0.135f * EXP2((80 + v) * -0.147f), bh = 3.56f * EXP2(0.079f * v) + 3.1f * EXP2(0.35f * v);
    m += 0.01f * (am * (1 - m) - bm * m), h += 0.01f * (ah * (1 - h) - bh * h);
    j += 0.01f * (ah * (1 - j) - bm * j), d += 0.01f * (bh * (1 - d) - am * d);
    v -= 0.01f * (23 * m * m * m * h * j * (v - 54) + d * (v + 77));
  }
  p[20480 + i] = v + m + h + j + d;
}
// Rodinia lud: the last part, a tile of 16 x 16 less the product of two, in LDS
KERNEL(256) void lud_internal(GLOBAL float *p) {
  u32 x = T & 15, y = T >> 4, row = G >> 6, column = G & 63;
  few[T] = p[(row * 16 + y) * 1024 + x], few[256 + T] = p[y * 1024 + column * 16 + x];
  barrier();
  float s = 0;
  for (u32 k = 0; k < 16; k++) s += few[y * 16 + k] * few[256 + k * 16 + x];
  p[(row * 16 + y) * 1024 + column * 16 + x] -= s;
}
// Rodinia lud: the first part, a triangle of 64 x 64 by one workgroup
KERNEL(64) void lud_diagonal(GLOBAL float *p) {
  for (u32 k = 0; k < 64; k++) square[k * 64 + T] = p[k * 1024 + T];
  barrier();
  NOUNROLL for (u32 k = 0; k < 63; k++) {
    if (T > k) {
      float f = square[T * 64 + k] * RCP(square[k * 64 + k]);
      square[T * 64 + k] = f;
      NOUNROLL for (u32 c = k + 1; c < 64; c++) square[T * 64 + c] -= f * square[k * 64 + c];
    }
    barrier();
  }
  for (u32 k = 0; k < 64; k++) p[k * 1024 + T] = square[k * 64 + T];
}
// Rodinia backprop: a layer forward: products, a sum over sixteen in LDS, a barrier a step
KERNEL(256) void layer_forward(GLOBAL float *p) {
  u32 x = T & 15, y = T >> 4;
  few[T] = p[6 * MB + (G & 4095) * 16 + y] * p[G * 256 + T];
  barrier();
  for (u32 k = 1; k <= 8; k *= 2) {
    if ((y & (2 * k - 1)) == 0) few[T] += few[T + k * 16];
    barrier();
  }
  p[2 * MB + G * 256 + T] = few[T];
  if (y == 0) p[7 * MB + G * 16 + x] = few[x];
}
// Rodinia pathfinder: rows of a dynamic programme in a zone that shrinks, in LDS
KERNEL(256) void path_zone(GLOBAL u32 *p) {
  u32 best = p[G * 192 + T];
  NOUNROLL for (u32 row = 1; row < 20; row++) {
    words[T] = best;
    barrier();
    u32 l = words[T ? T - 1 : 0], r = words[T < 255 ? T + 1 : 255];
    best = best < l ? best : l, best = best < r ? best : r;
    best += p[row * 262144 + G * 192 + T] & 15;
    barrier();
  }
  p[6 * MB + G * 256 + T] = best;
}
// Rodinia cfd: fluxes of an element with its four neighbours, by index
KERNEL(192) void euler_flux(GLOBAL u32 *p) {
  u32 i = G * 192 + T, n = 262144;
  GLOBAL float *v = F(p + 2 * MB);
  float d = v[i], x = v[n + i], y = v[2 * n + i], z = v[3 * n + i], e = v[4 * n + i], flux = 0;
  for (u32 k = 0; k < 4; k++) {
    u32 o = (i + (p[k * n + i] & 4095)) & (n - 1);
    float od = v[o], ox = v[n + o], oy = v[2 * n + o], oz = v[3 * n + o], oe = v[4 * n + o], r = RCP(od);
    float speed = (ox * ox + oy * oy + oz * oz) * r * r, pressure = 0.4f * (oe - 0.5f * od * speed), c = SQRT(1.4f * pressure * r);
    flux += (SQRT(speed) + c) * (d - od) + (x - ox) * r + (y - oy) + (z - oz) * c + (e - oe) * pressure;
  }
  v[5 * n + i] = flux;
}
// Rodinia gaussian: a column of multipliers times a row, from the matrix
KERNEL(256) void gauss_fan(GLOBAL float *p) {
  u32 row = G >> 3, column = (G & 7) * 256 + T;
  p[(row + 1) * 2048 + column] -= p[4 * MB + row] * p[column];
}
// Rodinia dwt2d: Haar steps of a row of 2048 in LDS
KERNEL(256) void haar_rows(GLOBAL float *p) {
  for (u32 k = 0; k < 8; k++) two_thousand[k * 256 + T] = p[G * 2048 + k * 256 + T];
  barrier();
  NOUNROLL for (u32 half = 1024; half >= 64; half >>= 1) {
    float a[4], b[4];
    for (u32 n = 0; n < 4; n++) {
      u32 k = n * 256 + T;
      if (k < half) a[n] = two_thousand[2 * k] + two_thousand[2 * k + 1], b[n] = two_thousand[2 * k] - two_thousand[2 * k + 1];
    }
    barrier();
    for (u32 n = 0; n < 4; n++) {
      u32 k = n * 256 + T;
      if (k < half) two_thousand[k] = a[n], two_thousand[half + k] = b[n];
    }
    barrier();
  }
  for (u32 k = 0; k < 8; k++) p[4 * MB + G * 2048 + k * 256 + T] = two_thousand[k * 256 + T];
}
// A product of sparse matrices: a workgroup adds the products of its row into a hash table in LDS
KERNEL(256) void sparse_product(GLOBAL u32 *p) {
  for (u32 k = 0; k < 8; k++) table[k * 256 + T] = 0;
  barrier();
  NOUNROLL for (u32 k = 0; k < 8; k++) {
    u32 row = p[G * 2048 + k * 256 + T] & 65535;
    for (u32 c = 0; c < 4; c++) {
      u32 column = p[4 * MB + row * 16 + c];
      __scoped_atomic_fetch_add(&table[hash(column) & 2047], column & 7, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
    }
  }
  barrier();
  for (u32 k = 0; k < 8; k++) p[6 * MB + (G & 511) * 2048 + k * 256 + T] = table[k * 256 + T];
}
// A search from the far side: vertices that are not reached look for a reached neighbour in a bitmap
KERNEL(256) void bottom_up(GLOBAL u32 *p) {
  u32 v = G * 256 + T, parent = ~0u;
  NOUNROLL for (u32 k = 0; k < 16; k++) {
    u32 o = p[v * 16 + k] & (8 * MB - 1);
    if (p[16 * MB / 2 + (o >> 5)] >> (o & 31) & 1 && (o & 7) == 0) {
      parent = o;
      break;
    }
  }
  p[9 * MB + v] = parent;
}
// Parboil mri-q: phases of all samples for a voxel, sines and cosines, samples by scalar loads
KERNEL(256) void phase_sums(GLOBAL float *p) {
  u32 i = G * 256 + T;
  float x = p[i], y = p[MB / 2 + i], z = p[MB + i], re = 0, im = 0;
  NOUNROLL for (u32 k = 0; k < 256; k++) {
    GLOBAL float *s = p + 3 * MB / 2 + k * 4;
    float a = x * s[0] + y * s[1] + z * s[2];
    re += s[3] * COS(a), im += s[3] * SIN(a);
  }
  p[2 * MB + i] = re, p[5 * MB / 2 + i] = im;
}
// Parboil cutcp: a lattice point and the atoms of its box, those beyond a distance left out
KERNEL(128) void cutoff_charges(GLOBAL float4 *p) {
  u32 i = G * 128 + T;
  float x = (float)(i & 63), y = (float)(i >> 6 & 63), z = (float)(i >> 12), e = 0;
  NOUNROLL for (u32 k = 0; k < 128; k++) {
    float4 a = p[(G & 255) * 128 + k];
    float dx = x - (float)(__builtin_bit_cast(u32, a.x) & 63), dy = y - (float)(__builtin_bit_cast(u32, a.y) & 63), dz = z - (float)(__builtin_bit_cast(u32, a.z) & 63);
    float r = dx * dx + dy * dy + dz * dz;
    if (r < 400) {
      float s = 1 - r * 0.0025f;
      e += SQRT(RCP(r + 1)) * s * s;
    }
  }
  ((GLOBAL float *)(p + 131072))[i] = e;
}
// Parboil sad: sums of absolute differences of 4 x 4 blocks at 33 places
KERNEL(64) void block_differences(GLOBAL u32 *p) {
  u32 i = G * 64 + T, a[4];
  for (u32 k = 0; k < 4; k++) a[k] = p[i + k * 65536];
  NOUNROLL for (u32 at = 0; at < 33; at++) {
    u32 s = 0;
    for (u32 k = 0; k < 4; k++) s = __builtin_amdgcn_sad_u8(a[k], p[MB + i + k * 65536 + at], s);
    p[2 * MB + at * 65536 + i] = s;
  }
}
// Parboil stencil: a column of a cube, the planes before and after in registers
KERNEL(256) void column_planes(GLOBAL float *p) {
  u32 i = 16384 + G * 256 + T;
  float under = p[i - 16384], here = p[i];
  NOUNROLL for (u32 k = 0; k < 62; k++) {
    u32 at = i + k * 16384;
    float over = p[at + 16384];
    p[2 * MB + at] = 0.16f * (under + over + p[at - 1] + p[at + 1] + p[at - 128] + p[at + 128]) - here;
    under = here, here = over;
  }
}
// SHOC md: forces of the neighbours in a list
KERNEL(256) void lennard_jones(GLOBAL u32 *p) {
  u32 i = G * 256 + T;
  GLOBAL float4 *place = (GLOBAL float4 *)(p + 8 * MB);
  float4 me = place[i & 65535], f = {0, 0, 0, 0};
  NOUNROLL for (u32 k = 0; k < 32; k++) {
    float4 o = place[(i + (p[k * 131072 + i] & 1023)) & 65535];
    float4 d = me - o;
    float r = RCP(d.x * d.x + d.y * d.y + d.z * d.z), s = r * r * r;
    f += d * (r * s * (1.5f * s - 2));
  }
  ((GLOBAL float4 *)(p + 10 * MB))[i] = f;
}
// PolyBench atax: the transposed product, a thread a column, and few columns
KERNEL(256) void transposed_product(GLOBAL float *p) {
  u32 i = G * 256 + T;
  float s = 0;
  NOUNROLL for (u32 r = 0; r < 256; r++) s += p[r * 16384 + i] * p[8 * MB + r];
  p[7 * MB + i] = s;
}
// PolyBench adi: a thread a row, a recurrence along it
KERNEL(64) void row_recurrence(GLOBAL float *p) {
  u32 i = (G * 64 + T) * 256;
  float v = 0, q = 0;
  NOUNROLL for (u32 k = 0; k < 128; k++) {
    float b = RCP(0.3f * q + 2.1f);
    q = -0.5f * b, v = (p[i + k] + 0.4f * v) * b;
    p[i + k] = v + q;
  }
}
// PolyBench fdtd: fields of the next step
KERNEL(256) void fields_step(GLOBAL float *p) {
  u32 i = 2048 + G * 256 + T;
  float h = p[6 * MB + i];
  p[i] -= 0.5f * (h - p[6 * MB + i - 1]);
  p[3 * MB + i] -= 0.5f * (h - p[6 * MB + i - 2048]);
}
// PolyBench correlation: a row by all rows before it, one workgroup a pair
KERNEL(64) void correlate(GLOBAL float *p) {
  u32 a = G >> 6, b = G & 63;
  float s = 0;
  for (u32 k = 0; k < 16; k++) s += p[a * 1024 + k * 64 + T] * p[b * 1024 + k * 64 + T];
  few[T] = s;
  barrier();
  for (u32 k = 32; k > 0; k >>= 1) {
    if (T < k) few[T] += few[T + k];
    barrier();
  }
  if (T == 0) p[MB + G] = few[0];
}
// HeCBench minibude: a pose a thread, atoms of protein by scalar loads
KERNEL(64) void docking(GLOBAL float *p) {
  u32 i = G * 64 + T;
  float x[4], y[4], e = 0;
  for (u32 k = 0; k < 4; k++) x[k] = p[65536 + k * 65536 + i], y[k] = p[327680 + k * 65536 + i];
  NOUNROLL for (u32 a = 0; a < 128; a++) {
    float px = p[a * 4], py = p[a * 4 + 1], r = p[a * 4 + 2], q = p[a * 4 + 3];
    for (u32 k = 0; k < 4; k++) {
      float dx = x[k] - px, dy = y[k] - py, d = SQRT(dx * dx + dy * dy), o = d - r;
      e += (o < 0 ? 38 * o : 0) + (d < 4 ? q * (1 - d * 0.25f) : 0);
    }
  }
  p[655360 + i] = e;
}
// HeCBench floyd-warshall: all pairs through one vertex
KERNEL(256) void all_pairs(GLOBAL u32 *p) {
  u32 row = G >> 2, column = (G & 3) * 256 + T;
  u32 through = (p[row * 1024 + 7] & 65535) + (p[7 * 1024 + column] & 65535), now = p[row * 1024 + column];
  if (through < now) p[row * 1024 + column] = through;
}
// HeCBench ising: a colour of a checkerboard, random numbers by hash, spins in bytes
KERNEL(256) void checkerboard(GLOBAL u32 *p) {
  GLOBAL byte *spin = (GLOBAL byte *)p;
  u32 i = 4096 + G * 256 + T;
  int sum = spin[i - 4096] + spin[i + 4096] + spin[i] + spin[i + 1];
  float accept = EXP2(-0.88f * (float)(2 * (sum & 7) - 4));
  if ((float)hash(i) * 2.3283064e-10f < accept) spin[8 * MB + i] ^= 1;
}
// HeCBench sobol: a dimension a row of workgroups, 32 directions in LDS
KERNEL(64) void sobol(GLOBAL u32 *p) {
  if (T < 32) words[T] = p[(G & 63) * 32 + T];
  barrier();
  NOUNROLL for (u32 k = 0; k < 16; k++) {
    u32 i = (G >> 6) * 1024 + k * 64 + T, gray = i ^ i >> 1, v = 0;
    NOUNROLL for (u32 b = 0; b < 32; b++)
      if (gray >> b & 1) v ^= words[b];
    p[4 * MB + (G & 63) * 16384 + (i & 16383)] = v;
  }
}
// mixbench: sixteen products a word
KERNEL(256) void mix_16(GLOBAL float4 *p) {
  u32 i = G * 256 + T;
  float4 v = p[i], w = v;
  for (u32 k = 0; k < 16; k++) v = v * v + w;
  p[2 * MB + i] = v;
}
// mixbench: 256 products a word
KERNEL(256) void mix_256(GLOBAL float *p) {
  u32 i = G * 256 + T;
  float v = p[i], w = v;
  for (u32 k = 0; k < 256; k++) v = v * v + w;
  p[2 * MB + i] = v;
}
// Attention in tiles: keys in LDS, a query a thread, running maximum and sum
KERNEL(64) void attention_tiles(GLOBAL float4 *p) {
  u32 i = G * 64 + T;
  SHARED float4 *keys = (SHARED float4 *)thousand;
  float4 q[4], out[4];
  for (u32 k = 0; k < 4; k++) q[k] = p[i * 4 + k], out[k] = (float4){0, 0, 0, 0};
  float best = -1e30f, sum = 0;
  NOUNROLL for (u32 tile = 0; tile < 4; tile++) {
    barrier();
    for (u32 k = 0; k < 4; k++) keys[k * 64 + T] = p[524288 + (tile * 64 + T) * 4 + k];
    barrier();
    NOUNROLL for (u32 j = 0; j < 64; j++) {
      float4 a = q[0] * keys[j] + q[1] * keys[64 + j] + q[2] * keys[128 + j] + q[3] * keys[192 + j];
      float s = a.x + a.y + a.z + a.w, m = s > best ? s : best, c = EXP2(best - m), e = EXP2(s - m);
      best = m, sum = sum * c + e;
      for (u32 k = 0; k < 4; k++) out[k] = out[k] * c + e * keys[k * 64 + j];
    }
  }
  for (u32 k = 0; k < 4; k++) p[1048576 + i * 4 + k] = out[k] * RCP(sum);
}
// Rodinia huffman: codes of varying length, placed by a sum of a workgroup, joined by atomics in LDS
KERNEL(256) void pack_codes(GLOBAL u32 *p) {
  u32 v = p[G * 256 + T], length = 1 + (v & 15);
  words[T] = length, words[512 + T] = 0;
  barrier();
  for (u32 k = 1; k < 256; k *= 2) {
    u32 o = T >= k ? words[T - k] : 0;
    barrier();
    words[T] += o;
    barrier();
  }
  u32 at = words[T] - length;
  __scoped_atomic_fetch_or(&words[512 + (at >> 5)], (v >> 16) << (at & 31), __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  barrier();
  p[4 * MB + G * 256 + T] = words[512 + T];
}
