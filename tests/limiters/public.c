// Kernels of public programs, written here from what those do: llm.c (layer norm backward, GELU, attention, cross entropy, AdamW), llama.cpp
// (blocks of 4 and 8 bits, products of a matrix and a vector), rocPRIM (sums, ranks, runs, selection), and the stencils, transforms, graphs and
// bodies that courses and proxy applications have. What limits them, by making resources free, is in public.ts.
#include "kernel.h"
typedef unsigned char byte;
typedef unsigned long long u64;
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
#define SHARED __attribute__((address_space(3)))
#define F(p) ((GLOBAL float *)(p))
#define ADD(p, v) __scoped_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)
#define EXP2 __builtin_amdgcn_exp2f
#define RCP __builtin_amdgcn_rcpf
#define RSQ __builtin_amdgcn_rsqf
#define LOG2 __builtin_amdgcn_logf
#define SIN __builtin_amdgcn_sinf
#define COS __builtin_amdgcn_cosf
static LOCAL float reals[8192];
static LOCAL u32 words[4096];
static LOCAL _Float16 halves[4096];

static inline float swap(float v, u32 by) {
  return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((int)(((T & 63) ^ by) << 2), __builtin_bit_cast(int, v)));
}
static inline float wave_sum(float v) {
  for (u32 k = 32; k > 0; k >>= 1) v += swap(v, k);
  return v;
}
static inline float wave_max(float v) {
  for (u32 k = 32; k > 0; k >>= 1) {
    float o = swap(v, k);
    v = o > v ? o : v;
  }
  return v;
}

// llm.c: layer norm backward, a wave a row of 768, sums of the weights' gradients by atomics
KERNEL(256) void norm_backward(GLOBAL float *p) {
  u32 row = G * 4 + (T >> 6), lane = T & 63;
  GLOBAL float *x = p + row * 768, *dy = p + 2 * MB + row * 768, *dx = p + 4 * MB + row * 768;
  float mean = p[6 * MB + row], scale = p[6 * MB + 65536 + row], a = 0, b = 0;
  for (u32 k = 0; k < 12; k++) {
    float g = dy[lane + 64 * k], n = (x[lane + 64 * k] - mean) * scale;
    a += g, b += g * n;
  }
  a = wave_sum(a) / 768, b = wave_sum(b) / 768;
  for (u32 k = 0; k < 12; k++) {
    float g = dy[lane + 64 * k], n = (x[lane + 64 * k] - mean) * scale;
    ADD((GLOBAL u32 *)p + 7 * MB + lane + 64 * k, (u32)(g * n));
    dx[lane + 64 * k] = (g - a - n * b) * scale;
  }
}
// llm.c: GELU forward
KERNEL(256) void gelu(GLOBAL float *p) {
  u32 i = G * 256 + T;
  float x = p[i], u = 0.797884f * (x + 0.044715f * x * x * x);
  float e = EXP2(2.885390f * u);
  p[4 * MB + i] = 0.5f * x * (1 + (e - 1) * RCP(e + 1));
}
// llm.c: attention by rows: scores of one query with all keys before it, soft maximum, one workgroup a query
KERNEL(256) void causal_scores(GLOBAL float *p) {
  u32 last = 64 + (G & 255) * 2;
  float q[8], best = -1e30f;
  for (u32 k = 0; k < 8; k++) q[k] = p[G * 64 + k * 8];
  NOUNROLL for (u32 key = T; key < last; key += 256) {
    float s = 0;
    for (u32 k = 0; k < 8; k++) s += q[k] * p[MB + key * 64 + k];
    reals[key] = s;
    best = s > best ? s : best;
  }
  best = wave_max(best);
  barrier();
  NOUNROLL for (u32 key = T; key < last; key += 256) p[2 * MB + G * 1024 + key] = EXP2(reals[key] - best);
}
// llm.c: cross entropy: one logit of a row of 50257
KERNEL(256) void cross_entropy(GLOBAL u32 *p) {
  u32 i = G * 256 + T;
  F(p)[MB + i] = -LOG2(F(p)[2 * MB + i * 977u % (8 * MB)] + (float)(p[i] & 7));
}
// llm.c: embedding backward: tokens add to their row
KERNEL(256) void token_backward(GLOBAL u32 *p) {
  u32 i = G * 256 + T, token = p[i >> 6] & 511;
  ADD(p + 2 * MB + token * 64 + (i & 63), p[4 * MB + i]);
}
// llama.cpp: blocks of 32 values in 4 bits and a scale, to floats
KERNEL(256) void blocks_of_4_bits(GLOBAL u32 *p) {
  u32 i = G * 256 + T;
  u32 q = p[i];
  float scale = F(p)[2 * MB + (i >> 2)];
  GLOBAL float4 *to = (GLOBAL float4 *)(p + 3 * MB) + i * 2;
  float4 a = {q & 15, q >> 4 & 15, q >> 8 & 15, q >> 12 & 15}, b = {q >> 16 & 15, q >> 20 & 15, q >> 24 & 15, q >> 28};
  to[0] = (a - 8) * scale, to[1] = (b - 8) * scale;
}
// llama.cpp: a row of 4096 values in 8 bits times a vector, a wave a row
KERNEL(256) void row_times_vector(GLOBAL u32 *p) {
  u32 row = G * 4 + (T >> 6), lane = T & 63;
  float sum = 0;
  NOUNROLL for (u32 k = 0; k < 16; k++) {
    u32 q = p[row * 1024 + k * 64 + lane];
    float4 x = ((GLOBAL float4 *)(p + 8 * MB))[k * 64 + lane];
    sum += (float)(q & 255) * x.x + (float)(q >> 8 & 255) * x.y + (float)(q >> 16 & 255) * x.z + (float)(q >> 24) * x.w;
  }
  sum = wave_sum(sum);
  if (lane == 0) F(p)[9 * MB + row] = sum;
}
// rocPRIM: sum of blocks of 4096
KERNEL(256) void block_sum(GLOBAL float *p) {
  float s = 0;
  for (u32 k = 0; k < 4; k++) {
    float4 v = ((GLOBAL float4 *)p)[G * 1024 + k * 256 + T];
    s += v.x + v.y + v.z + v.w;
  }
  s = wave_sum(s);
  if ((T & 63) == 0) reals[T >> 6] = s;
  barrier();
  if (T == 0) p[8 * MB + G] = reals[0] + reals[1] + reals[2] + reals[3];
}
// rocPRIM: ranks of digits in a block: sixteen counters a thread in LDS, a scan over them
KERNEL(256) void digit_ranks(GLOBAL u32 *p) {
  for (u32 k = 0; k < 16; k++) words[k * 256 + T] = 0;
  for (u32 k = 0; k < 8; k++) {
    u32 d = p[G * 2048 + k * 256 + T] >> 8 & 15;
    words[d * 256 + T]++;
  }
  barrier();
  u32 s = 0;
  for (u32 k = 0; k < 16; k++) {
    u32 v = words[T * 16 + k];
    words[T * 16 + k] = s, s += v;
  }
  barrier();
  for (u32 k = 0; k < 8; k++) p[4 * MB + G * 2048 + k * 256 + T] = words[k * 512 + T];
}
// rocPRIM: select: flags, a scan of a wave, places by one atomic a wave
KERNEL(256) void select_if(GLOBAL u32 *p) {
  u32 v = p[G * 256 + T];
  u64 mask = __builtin_amdgcn_ballot_w64((v & 3) == 0);
  u32 base = 0;
  if ((T & 63) == 0) base = ADD(p + 8 * MB, (u32)__builtin_popcountll(mask));
  base = __builtin_amdgcn_readfirstlane(base);
  u32 before = __builtin_amdgcn_mbcnt_hi((u32)(mask >> 32), __builtin_amdgcn_mbcnt_lo((u32)mask, 0));
  if ((v & 3) == 0) p[4 * MB + ((base + before) & (2 * MB - 1))] = v;
}
// rocPRIM: merge of two sorted runs: a thread searches its diagonal, then takes eight
KERNEL(256) void merge_runs(GLOBAL u32 *p) {
  u32 i = G * 256 + T, low = 0, high = 1024;
  GLOBAL u32 *a = p + (i >> 7) * 1024, *b = a + 4 * MB;
  NOUNROLL while (low < high) {
    u32 mid = (low + high) >> 1;
    if (a[mid & 1023] <= b[(i * 8 - mid) & 1023]) low = mid + 1;
    else high = mid;
  }
  u32 x = low, y = i * 8 - low;
  for (u32 k = 0; k < 8; k++) {
    u32 l = a[x & 1023], r = b[y & 1023];
    p[8 * MB + i * 8 + k] = l < r ? l : r;
    if (l < r) x++;
    else y++;
  }
}
// Jacobi in two dimensions, rows of 2048
KERNEL(256) void jacobi(GLOBAL float *p) {
  u32 i = 2048 + G * 256 + T;
  p[4 * MB + i] = 0.25f * (p[i - 1] + p[i + 1] + p[i - 2048] + p[i + 2048]);
}
// a butterfly of eight with its turns, values of a transform of 2^20
KERNEL(256) void radix_8(GLOBAL float *p) {
  u32 i = G * 256 + T;
  float r[8], m[8];
  for (u32 k = 0; k < 8; k++) {
    float a = (float)(i * k & 1023) * (1.0f / 1024), c = COS(a), s = SIN(a);
    float x = p[k * 131072 + i], y = p[2 * MB + k * 131072 + i];
    r[k] = x * c - y * s, m[k] = x * s + y * c;
  }
  for (u32 h = 4; h > 0; h >>= 1)
    for (u32 k = 0; k < 8; k++)
      if ((k & h) == 0) {
        float x = r[k], y = m[k];
        r[k] = x + r[k + h], m[k] = y + m[k + h], r[k + h] = x - r[k + h], m[k + h] = y - m[k + h];
      }
  for (u32 k = 0; k < 8; k++) p[4 * MB + i * 8 + k] = r[k], p[6 * MB + i * 8 + k] = m[k];
}
// bodies: all of 4096, 256 at a time in LDS
KERNEL(256) void bodies_in_tiles(GLOBAL float *p) {
  GLOBAL float4 *body = (GLOBAL float4 *)p;
  float4 me = body[G * 256 + T], f = 0;
  SHARED float4 *tile = (SHARED float4 *)reals;
  NOUNROLL for (u32 t = 0; t < 16; t++) {
    tile[T] = body[t * 256 + T];
    barrier();
    for (u32 k = 0; k < 256; k++) {
      float4 d = tile[k] - me;
      float r = RSQ(d.x * d.x + d.y * d.y + d.z * d.z + 0.01f);
      f += d * (tile[k].w * r * r * r);
    }
    barrier();
  }
  body[65536 + G * 256 + T] = f;
}
// the same, few bodies, read by all from memory
KERNEL(64) void bodies_few(GLOBAL float *p) {
  GLOBAL float4 *body = (GLOBAL float4 *)p;
  float4 me = body[G * 64 + T], f = 0;
  NOUNROLL for (u32 k = 0; k < 512; k++) {
    float4 d = body[k] - me;
    float r = RSQ(d.x * d.x + d.y * d.y + d.z * d.z + 0.01f);
    f += d * (r * r * r);
  }
  body[65536 + G * 64 + T] = f;
}
// Black-Scholes with the polynomial of the normal distribution, call and put, 8 years a thread
KERNEL(256) void call_and_put(GLOBAL float *p) {
  u32 i = G * 256 + T;
  float s = p[i], x = p[MB + i], call = 0, put = 0;
  NOUNROLL for (u32 year = 1; year <= 8; year++) {
    float t = (float)year, root = t * RSQ(t), d = (LOG2(s * RCP(x)) + 0.06f * t) * RCP(0.3f * root), e = d - 0.3f * root;
    float k = RCP(1 + 0.2316419f * d), l = RCP(1 + 0.2316419f * e);
    float n = EXP2(-0.72f * d * d) * k * (0.319f + k * (-0.356f + k * (1.781f + k * (-1.821f + k * 1.33f))));
    float o = EXP2(-0.72f * e * e) * l * (0.319f + l * (-0.356f + l * (1.781f + l * (-1.821f + l * 1.33f))));
    call += s * (1 - n) - x * EXP2(-0.03f * t) * (1 - o), put += x * EXP2(-0.03f * t) * o - s * n;
  }
  p[2 * MB + i] = call, p[3 * MB + i] = put;
}
// breadth first: vertices of the frontier, eight neighbours each, marked without atomics
KERNEL(256) void frontier_marks(GLOBAL u32 *p) {
  u32 v = p[G * 256 + T] & (MB - 1);
  NOUNROLL for (u32 k = 0; k < 8; k++) {
    u32 to = p[MB + ((v * 8 + k) & (4 * MB - 1))] & (MB - 1);
    if (p[6 * MB + to] == 0) p[6 * MB + to] = G + 1;
  }
}
// a direct convolution of 16 channels, a filter of 5 in scalar registers
KERNEL(256) void convolve_5(GLOBAL float *p) {
  u32 i = G * 256 + T;
  float s = 0;
  NOUNROLL for (u32 c = 0; c < 16; c++)
    for (u32 k = 0; k < 5; k++) s += p[c * 131072 + i + k] * p[4 * MB + c * 5 + k];
  p[5 * MB + i] = s;
}
// depthwise convolution 3 x 3 of bytes
KERNEL(256) void depthwise_bytes(GLOBAL byte *p) {
  u32 i = 1025 + G * 256 + T, s = 0;
  for (u32 y = 0; y < 3; y++)
    for (u32 x = 0; x < 3; x++) s += p[i + y * 1024 + x - 1025] * (x + 2 * y);
  p[4 * MB + i] = (byte)(s >> 5);
}
// the eight largest of a row of 2048, sorted lists in registers, one thread a row
KERNEL(64) void top_8_a_thread(GLOBAL u32 *p) {
  u32 row = G * 64 + T, best[8] = {0};
  NOUNROLL for (u32 k = 0; k < 256; k++) {
    u32 v = p[row * 256 + k];
    for (u32 n = 0; n < 8; n++) {
      u32 high = v > best[n] ? v : best[n];
      v = v > best[n] ? best[n] : v, best[n] = high;
    }
  }
  for (u32 n = 0; n < 8; n++) p[8 * MB + n * 65536 + row] = best[n];
}
// sorting 512 in LDS, bitonic
KERNEL(256) void sort_512(GLOBAL u32 *p) {
  words[T] = p[G * 512 + T], words[T + 256] = p[G * 512 + 256 + T];
  NOUNROLL for (u32 size = 2; size <= 512; size <<= 1)
    NOUNROLL for (u32 by = size >> 1; by > 0; by >>= 1) {
      barrier();
      u32 i = 2 * T - (T & (by - 1)), a = words[i], b = words[i + by];
      if ((a > b) == ((i & size) == 0)) words[i] = b, words[i + by] = a;
    }
  barrier();
  p[4 * MB + G * 512 + T] = words[T], p[4 * MB + G * 512 + 256 + T] = words[T + 256];
}
// SHA-like rounds on blocks of 64 bytes, a thread a message
KERNEL(256) void digest_rounds(GLOBAL u32 *p) {
  u32 i = G * 256 + T, w[16], a = 1, b = 2, c = 3, d = i;
  for (u32 k = 0; k < 16; k++) w[k] = p[k * 65536 + (i & 65535)];
  NOUNROLL for (u32 r = 0; r < 8; r++)
    for (u32 k = 0; k < 16; k++) {
      u32 t = d + ((b & c) ^ (~b & a)) + w[k] + (a >> 6 | a << 26);
      d = c, c = b, b = a, a = t + (t >> 11 | t << 21), w[k] += w[(k + 1) & 15];
    }
  p[2 * MB + i] = a ^ b ^ c ^ d;
}
// dynamic programming: a row of a path finder, tiles in LDS, twenty steps with barriers
KERNEL(256) void path_rows(GLOBAL u32 *p) {
  words[T] = p[G * 256 + T];
  NOUNROLL for (u32 row = 1; row < 20; row++) {
    barrier();
    u32 l = words[T == 0 ? 0 : T - 1], m = words[T], r = words[T == 255 ? 255 : T + 1];
    u32 low = l < m ? l : m;
    low = low < r ? low : r;
    u32 cost = p[row * 131072 + ((G * 256 + T) & 131071)];
    barrier();
    words[T] = low + cost;
  }
  p[4 * MB + G * 256 + T] = words[T];
}
// a list that each lane follows through a table of 16 MB
KERNEL(64) void follow(GLOBAL u32 *p) {
  u32 at = (G * 64 + T) * 977 & (4 * MB - 1);
  NOUNROLL for (u32 k = 0; k < 24; k++) at = p[at] & (4 * MB - 1);
  p[5 * MB + G * 64 + T] = at;
}
// a step of a small simulation, launched over and over
KERNEL(256) void small_update(GLOBAL float *p) {
  u32 i = G * 256 + T;
  p[i] = p[i] * 0.99f + p[MB + i];
}
// products of 16 x 16 in half precision by the matrix unit, tiles from LDS, 64 steps
KERNEL(256) void matrix_tiles(GLOBAL float *p) {
  float4 sum = 0;
  SHARED half4 *tile = (SHARED half4 *)halves;
  NOUNROLL for (u32 k = 0; k < 64; k++) {
    tile[T] = ((GLOBAL half4 *)p)[(G * 64 + k) * 256 % (MB / 2) + T];
    barrier();
    for (u32 n = 0; n < 4; n++)
      sum = __builtin_amdgcn_mfma_f32_16x16x16f16(tile[(T & 63) + 64 * n], tile[(T + 64 * n) & 255], sum, 0, 0, 0);
    barrier();
  }
  ((GLOBAL float4 *)(p + 4 * MB))[G * 256 + T] = sum;
}
// colours of a Julia set: lanes stop at different steps
KERNEL(256) void julia(GLOBAL u32 *p) {
  u32 i = G * 256 + T, h = hash(i), n = 0;
  float x = (float)(h & 1023) * 0.002f - 1, y = (float)(h >> 10 & 1023) * 0.002f - 1;
  NOUNROLL while (n < 200 && x * x + y * y < 4) {
    float t = x * x - y * y - 0.4f;
    y = 2 * x * y + 0.6f, x = t, n++;
  }
  p[i] = n;
}
