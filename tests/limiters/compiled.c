// Kernels with a known limiter as a compiler makes them: tiles, persistent workgroups, phases, tails, gathers (compiled.ts says why each is so).
// One argument: the buffer. clang --target=amdgcn-amd-amdhsa -mcpu=TARGET -O3 -nogpulib.
#include "kernel.h"
typedef _Float16 half2 __attribute__((ext_vector_type(2)));
typedef _Float16 half4 __attribute__((ext_vector_type(4)));

// A tile of 4,096 floats for a program, with a mask, as Triton lays it out.
KERNEL(256) void tile_add(GLOBAL float *p) {
  GLOBAL float4 *in = (GLOBAL float4 *)p + G * 1024 + T, *out = in + 4 * MB / 4 * 4;
  float4 v[4];
  for (int k = 0; k < 4; k++)
    if (G * 4096 + 1024 * k + 4 * T < 16 * MB) v[k] = in[256 * k];
  for (int k = 0; k < 4; k++)
    if (G * 4096 + 1024 * k + 4 * T < 16 * MB) out[256 * k] = v[k] + 1.0f;
}

static LOCAL float partial[4];
// A row of 4,096 for a workgroup: maximum, exponents, sum, quotient.
KERNEL(256) void softmax(GLOBAL float *p) {
  GLOBAL float4 *row = (GLOBAL float4 *)p + G * 1024 + T;
  float4 v[4];
  float most = -1e30f, sum = 0;
  for (int k = 0; k < 4; k++) v[k] = row[256 * k];
  for (int k = 0; k < 4; k++)
    for (int c = 0; c < 4; c++) most = most > v[k][c] ? most : v[k][c];
  for (int n = 32; n > 0; n >>= 1) {
    float other = __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(4 * ((T & 63) ^ n), __builtin_bit_cast(int, most)));
    most = most > other ? most : other;
  }
  if ((T & 63) == 0) partial[T >> 6] = most;
  barrier();
  for (int k = 0; k < 4; k++) most = most > partial[k] ? most : partial[k];
  for (int k = 0; k < 4; k++)
    for (int c = 0; c < 4; c++) sum += v[k][c] = __builtin_amdgcn_exp2f((v[k][c] - most) * 1.442695f);
  for (int n = 32; n > 0; n >>= 1)
    sum += __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(4 * ((T & 63) ^ n), __builtin_bit_cast(int, sum)));
  barrier();
  if ((T & 63) == 0) partial[T >> 6] = sum;
  barrier();
  sum = 1.0f / (partial[0] + partial[1] + partial[2] + partial[3]);
  for (int k = 0; k < 4; k++) row[256 * k] = v[k] * sum;
}

// As many workgroups as there are compute units walk through two arrays.
KERNEL(1024) void persistent_axpy(GLOBAL float *p) {
  GLOBAL float4 *x = (GLOBAL float4 *)p, *y = x + 2 * MB;
  NOUNROLL for (u32 i = G * 1024 + T; i < 2 * MB; i += 4 * 304 * 1024) {
    float4 a[4], b[4];
    for (int k = 0; k < 4; k++) {
      u32 at = i + k * 304 * 1024;
      if (at < 2 * MB) a[k] = x[at], b[k] = y[at];
    }
    for (int k = 0; k < 4; k++) {
      u32 at = i + k * 304 * 1024;
      if (at < 2 * MB) y[at] = a[k] * 3.0f + b[k];
    }
  }
}

// Each lane fetches eight words from eight lines all over 256 MB, at once.
KERNEL(256) void gather(GLOBAL u32 *p) {
  u32 i = G * 256 + T, sum = 0, v[8];
  for (int k = 0; k < 8; k++) v[k] = p[hash(8 * i + k) & (64 * MB - 1)];
  for (int k = 0; k < 8; k++) sum += v[k];
  if (sum == 12345) p[i] = sum;
}

// Words go to places all over 64 MB.
KERNEL(256) void scatter(GLOBAL u32 *p) {
  u32 i = G * 256 + T;
  for (int k = 0; k < 8; k++) p[hash(8 * i + k) & (16 * MB - 1)] = i;
}

// Probes of an open hash table: where to look next is what was found.
KERNEL(64) void probe_chain(GLOBAL u32 *p) {
  u32 at = hash(G * 64 + T) & (8 * MB - 1);
  NOUNROLL for (int k = 0; k < 40; k++) at = (p[at] + hash(at + k)) & (8 * MB - 1);
  p[G * 64 + T] = at;
}

// A search in a sorted array of 32 MB: 23 loads, each after the one before.
KERNEL(256) void binary_search(GLOBAL u32 *p) {
  u32 key = hash(G * 256 + T) & (8 * MB - 1), low = 0, high = 8 * MB;
  NOUNROLL while (high - low > 1) {
    u32 middle = (low + high) >> 1;
    if (p[middle] <= key) low = middle;
    else high = middle;
  }
  p[8 * MB + G * 256 + T] = low;
}

KERNEL(256) void horner_double(GLOBAL double *p) {
  double x = p[T], a[4] = {x, x + 1, x + 2, x + 3};
  NOUNROLL for (int k = 0; k < 60; k++)
    for (int n = 0; n < 8; n++)
      for (int c = 0; c < 4; c++) a[c] = __builtin_fma(a[c], x, 0.5);
  p[G * 256 + T] = a[0] + a[1] + a[2] + a[3];
}

KERNEL(256) void dot_int8(GLOBAL int *p) {
  int a = p[T], b = p[T + 256], s[4] = {0, 1, 2, 3};
  NOUNROLL for (int k = 0; k < 100; k++)
    for (int n = 0; n < 8; n++)
      for (int c = 0; c < 4; c++) s[c] = __builtin_amdgcn_sdot4(a, b, s[c], 0);
  p[G * 256 + T] = s[0] ^ s[1] ^ s[2] ^ s[3];
}

KERNEL(256) void half_chain(GLOBAL half2 *p) {
  half2 x = p[T], a[8];
  for (int c = 0; c < 8; c++) a[c] = x + (half2)(_Float16)c;
  NOUNROLL for (int k = 0; k < 100; k++)
    for (int n = 0; n < 4; n++)
      for (int c = 0; c < 8; c++) a[c] = __builtin_elementwise_fma(a[c], x, (half2)(_Float16)0.5);
  half2 sum = 0;
  for (int c = 0; c < 8; c++) sum += a[c];
  p[G * 256 + T] = sum;
}

// Few lanes of each wave need many turns.
KERNEL(256) void escape_time(GLOBAL float *p) {
  u32 i = G * 256 + T;
  float x = 0.001f * (i & 63);
  int turns = (hash(i) & 15) == 0 ? 2000 : 20;
  NOUNROLL for (int k = 0; k < turns; k++) x = __builtin_fmaf(x, x, -0.7f);
  p[i] = x;
}

static LOCAL u32 bins[64];
KERNEL(256) void lds_histogram(GLOBAL u32 *p) {
  if (T < 64) bins[T] = 0;
  barrier();
  u32 x = G * 256 + T;
  NOUNROLL for (int k = 0; k < 60; k++) {
    x = x * 1664525u + 1013904223u;
    __atomic_fetch_add(&bins[(x >> 24) & 7], 1, __ATOMIC_RELAXED);
  }
  barrier();
  if (T < 64) p[G * 64 + T] = bins[T];
}

static LOCAL float tile[64 * 64];
// A tile of 64 by 64 without padding: rows are written, columns read.
KERNEL(256) void transpose_in_lds(GLOBAL float *p) {
  u32 x = T & 63, y = T >> 6;
  float v = p[T], sum = 0;
  NOUNROLL for (int k = 0; k < 12; k++) {
    for (int n = 0; n < 16; n++) tile[(y + 4 * n) * 64 + x] = v + n;
    barrier();
    for (int n = 0; n < 16; n++) sum += tile[x * 64 + y + 4 * n];
    barrier();
  }
  p[G * 256 + T] = sum;
}

KERNEL(256) void global_histogram(GLOBAL u32 *p) {
  u32 i = G * 256 + T;
  for (int k = 0; k < 8; k++) __atomic_fetch_add(&p[hash(8 * i + k) & 127], 1, __ATOMIC_RELAXED);
}

static LOCAL float sums[16];
// One workgroup adds up 4 MB.
KERNEL(1024) void one_group_sum(GLOBAL float *p) {
  GLOBAL float4 *in = (GLOBAL float4 *)p;
  float4 sum = 0;
  NOUNROLL for (u32 i = T; i < MB / 4; i += 1024) sum += in[i];
  float s = sum[0] + sum[1] + sum[2] + sum[3];
  for (int n = 32; n > 0; n >>= 1)
    s += __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(4 * ((T & 63) ^ n), __builtin_bit_cast(int, s)));
  if ((T & 63) == 0) sums[T >> 6] = s;
  barrier();
  if (T == 0) {
    for (int k = 1; k < 16; k++) s += sums[k];
    p[MB] = s;
  }
}

// A tail: a few waves of a launch work twenty times as long as the others.
KERNEL(64) void long_tail(GLOBAL float *p) {
  float x = p[T];
  int turns = (G & 127) == 5 ? 4000 : 100;
  NOUNROLL for (int k = 0; k < turns; k++) x = __builtin_fmaf(x, x, 0.25f);
  p[G * 64 + T] = x;
}

KERNEL(64) void next_step(GLOBAL float *p) { p[T] = p[T] * 0.5f + 1.0f; }

// A short phase of streaming, a long one of arithmetic.
KERNEL(256) void load_then_work(GLOBAL float *p) {
  float4 v = ((GLOBAL float4 *)p)[G * 256 + T], w = v + 1.0f;
  NOUNROLL for (int k = 0; k < 60; k++)
    for (int n = 0; n < 8; n++)
      for (int c = 0; c < 4; c++) v[c] = __builtin_fmaf(v[c], 0.75f, 0.1f), w[c] = __builtin_fmaf(w[c], 0.5f, 0.2f);
  ((GLOBAL float4 *)p)[G * 256 + T] = v + w;
}

// A long phase of streaming, a little arithmetic between.
KERNEL(256) void stream_then_reduce(GLOBAL float *p) {
  GLOBAL float4 *in = (GLOBAL float4 *)p + G * 4096 + T;
  float4 sum = 0;
  for (int k = 0; k < 16; k++) sum += in[256 * k];
  float s = sum[0] + sum[1] + sum[2] + sum[3];
  for (int n = 32; n > 0; n >>= 1)
    s += __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(4 * ((T & 63) ^ n), __builtin_bit_cast(int, s)));
  if (T == 0) p[G] = s;
}

static LOCAL float shared[256];
// The wave whose turn it is works, the others wait for it.
KERNEL(256) void relay(GLOBAL float *p) {
  float x = p[T];
  NOUNROLL for (int k = 0; k < 16; k++) {
    if (__builtin_amdgcn_readfirstlane(T >> 6) == (k & 3)) {
      NOUNROLL for (int n = 0; n < 200; n++) x = __builtin_fmaf(x, x, 0.25f);
      shared[T] = x;
    }
    barrier();
    x += shared[(T + 64) & 255];
    barrier();
  }
  p[G * 256 + T] = x;
}

static LOCAL u32 whole[15 * 1024];
// 60 KB of LDS for one wave, which waits for what it loads.
KERNEL(64) void hoarder(GLOBAL u32 *p) {
  for (int k = 0; k < 16; k++) whole[(T + 64 * k) % (15 * 1024)] = k;
  u32 at = (G * 64 + T) * 997;
  NOUNROLL for (int k = 0; k < 30; k++) at = p[at & (8 * MB - 1)] + whole[at & 8191] + at * 1664525u;
  p[G * 64 + T] = at;
}

KERNEL(256) void matrix_tiles(GLOBAL float *p) {
  GLOBAL half4 *in = (GLOBAL half4 *)p;
  half4 a = in[T], b = in[T + 256];
  float4 c[4] = {0, 1, 2, 3};
  NOUNROLL for (int k = 0; k < 100; k++)
    for (int n = 0; n < 4; n++) c[n] = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c[n], 0, 0, 0);
  ((GLOBAL float4 *)p)[G * 256 + T] = c[0] + c[1] + c[2] + c[3];
}

// A hash of numbers that all lanes have in common.
KERNEL(64) void uniform_hash(GLOBAL u32 *p) {
  u32 x = G, y = G + 1;
  NOUNROLL for (int k = 0; k < 400; k++) {
    x = (x ^ (x >> 15)) * 0x85ebca6bu + k;
    y = (y ^ (y >> 13)) * 0xc2b2ae35u + x;
  }
  p[G * 64 + T] = x ^ y;
}

#define S1(i) x = __builtin_fmaf(x, y, (float)(i) * 0.0371f);
#define S8(i) S1(i) S1(i + 1) S1(i + 2) S1(i + 3) S1(i + 4) S1(i + 5) S1(i + 6) S1(i + 7)
#define S64(i) S8(i) S8(i + 8) S8(i + 16) S8(i + 24) S8(i + 32) S8(i + 40) S8(i + 48) S8(i + 56)
#define S512(i) S64(i) S64(i + 64) S64(i + 128) S64(i + 192) S64(i + 256) S64(i + 320) S64(i + 384) S64(i + 448)
#define S4096(i) S512(i) S512(i + 512) S512(i + 1024) S512(i + 1536) S512(i + 2048) S512(i + 2560) S512(i + 3072) S512(i + 3584)
// 12,288 instructions with a constant each, one after the other, by few waves.
KERNEL(64) void unrolled(GLOBAL float *p) {
  float x = p[T], y = p[T + 64];
  S4096(1) S4096(5000) S4096(10000)
  p[G * 64 + T] = x;
}
