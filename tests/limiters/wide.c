// Forty kernels with a known limiter (wide.ts): streams of several widths, lists, tables, units one by one, switches, stragglers, tickets,
// long code, private arrays. One argument: the buffer. clang --target=amdgcn-amd-amdhsa -mcpu=TARGET -O3 -nogpulib.
#include "kernel.h"
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned long u64;
typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float16 __attribute__((ext_vector_type(16)));
typedef int int4 __attribute__((ext_vector_type(4)));
typedef double double4 __attribute__((ext_vector_type(4)));
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
#define CONSTANT __attribute__((address_space(4)))

KERNEL(256) void triad(GLOBAL float4 *p) {
  u32 i = G * 256 + T;
  p[i + 8 * MB] = p[i] + 3.0f * p[i + 4 * MB];
}
KERNEL(256) void copy_short(GLOBAL u16 *p) {
  u32 i = G * 2048 + T;
  for (int k = 0; k < 8; k++) p[i + 32 * MB + 256 * k] = p[i + 256 * k];
}
KERNEL(256) void stride_read(GLOBAL float *p) {
  u32 i = G * 256 + T;
  float s = 0;
  for (int k = 0; k < 4; k++) s += p[i * 32 + k * 16 * MB];
  p[i + 64 * MB] = s;
}
KERNEL(256) void fill_pattern(GLOBAL float2 *p) {
  u32 i = G * 1024 + T;
  for (int k = 0; k < 4; k++) p[i + 256 * k] = (float2){(float)i, 1.0f};
}
KERNEL(256) void row_norm(GLOBAL float4 *p) {
  float4 s = 0;
  NOUNROLL for (u32 k = 0; k < 16; k++) { float4 v = p[G * 4096 + k * 256 + T]; s += v * v; }
  p[8 * MB + G * 256 + T] = s;
}
KERNEL(256) void l2_reuse(GLOBAL float4 *p) {
  float4 s = 0;
  NOUNROLL for (u32 k = 0; k < 24; k++) {
    u32 at = (G * 1031 + k * 2048 + T) & (128 * 1024 - 1);
    s += p[at] + p[(at + 256) & (128 * 1024 - 1)] + p[(at + 512) & (128 * 1024 - 1)] + p[(at + 768) & (128 * 1024 - 1)];
  }
  p[256 * 1024 + G * 256 + T] = s;
}
KERNEL(256) void l1_reuse(GLOBAL float4 *p) {
  float4 s = 0;
  GLOBAL float4 *mine = p + (G & 63) * 1024;
  NOUNROLL for (u32 k = 0; k < 100; k++)
    for (int n = 0; n < 4; n++) s += ((volatile GLOBAL float4 *)mine)[T + 256 * n];
  p[256 * 1024 + G * 256 + T] = s;
}
KERNEL(256) void structs(GLOBAL float *p) {
  u32 i = G * 256 + T;
  float4 a = ((GLOBAL float4 *)p)[2 * i], b = ((GLOBAL float4 *)p)[2 * i + 1];
  GLOBAL float *q = p + 16 * MB;
  for (int k = 0; k < 4; k++) q[i + 2 * MB * k] = a[k], q[i + 2 * MB * (k + 4)] = b[k];
}
KERNEL(256) void chase_waves(GLOBAL u32 *p) {
  u32 at = hash(G * 256 + T) & (16 * MB - 1);
  NOUNROLL for (int k = 0; k < 20; k++) at = p[at] & (16 * MB - 1);
  p[G * 256 + T] = at;
}
KERNEL(64) void hash_probe(GLOBAL u32 *p) {
  u32 found = 0;
  NOUNROLL for (u32 k = 0; k < 24; k++) {
    u32 key = hash(G * 1536 + k * 64 + T);
    u32 slot = p[key & (4 * MB - 1)];
    found += p[4 * MB + (slot & (4 * MB - 1))];
    if (found & 1) found += p[8 * MB + (found & 0xffff)];
  }
  p[12 * MB + G * 64 + T] = found;
}
KERNEL(64) void page_walk(GLOBAL u32 *p) {
  u32 page = G & 127, n = 0;
  NOUNROLL for (int k = 0; k < 40; k++) {
    n = p[page * 524288 + ((k * 64 + G * 8) & 0x7fff)];
    page = (n + page * 5 + 17) & 127;
  }
  if (T == 0) p[G] = n;
}
KERNEL(128) void indirect(GLOBAL u32 *p) {
  u32 i = G * 128 + T, s = 0;
  NOUNROLL for (u32 k = 0; k < 8; k++) {
    u32 a = p[(i * 8 + k) & (8 * MB - 1)] & (8 * MB - 1);
    u32 b = p[8 * MB + a] & (8 * MB - 1);
    s += p[16 * MB + b];
  }
  p[24 * MB + i] = s;
}
KERNEL(256) void fma_eight(GLOBAL float *p) {
  float v[8];
  for (int k = 0; k < 8; k++) v[k] = p[T] + k;
  NOUNROLL for (int k = 0; k < 200; k++)
    for (int n = 0; n < 8; n++) v[n] = __builtin_fmaf(v[n], 1.0001f, 0.5f);
  float s = 0;
  for (int k = 0; k < 8; k++) s += v[k];
  p[G * 256 + T] = s;
}
KERNEL(256) void dmul(GLOBAL double *p) {
  double a = p[T], b = a + 1, c = a + 2, d = a + 3;
  NOUNROLL for (int k = 0; k < 200; k++) a *= 1.0001, b *= 0.999, c *= 1.0002, d *= 0.998, a *= b, c *= d;
  p[G * 256 + T] = a + b + c + d;
}
KERNEL(256) void imul(GLOBAL u32 *p) {
  u32 a = p[T], b = a + 1, c = a + 2, d = a + 3;
  NOUNROLL for (int k = 0; k < 200; k++) a = a * b + 1, b = b * c + 3, c = c * d + 5, d = d * a + 7;
  p[G * 256 + T] = a + b + c + d;
}
KERNEL(256) void trans(GLOBAL float *p) {
  float a = p[T] + 1, b = a + 1, c = a + 2, d = a + 3;
  NOUNROLL for (int k = 0; k < 100; k++) {
    a = __builtin_amdgcn_exp2f(a), b = __builtin_amdgcn_rcpf(b), c = __builtin_amdgcn_sqrtf(c), d = __builtin_amdgcn_logf(d);
    a = __builtin_amdgcn_sinf(a), b = __builtin_amdgcn_rsqf(b), c = __builtin_amdgcn_rcpf(c), d = __builtin_amdgcn_exp2f(d);
  }
  p[G * 256 + T] = a + b + c + d;
}
KERNEL(256) void mfma_half(GLOBAL float *p) {
  half4 a = {(_Float16)1, (_Float16)T, (_Float16)2, (_Float16)3}, b = a;
  float16 c0 = 0, c1 = 0;
  NOUNROLL for (int k = 0; k < 100; k++) {
    c0 = __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, c0, 0, 0, 0);
    c1 = __builtin_amdgcn_mfma_f32_32x32x8f16(b, a, c1, 0, 0, 0);
  }
  p[G * 256 + T] = c0[0] + c1[3];
}
KERNEL(256) void mfma_byte(GLOBAL int *p) {
  int4 c0 = 0, c1 = 0, c2 = 0, c3 = 0;
  int x = T;
  NOUNROLL for (int k = 0; k < 100; k++) {
#ifdef __gfx90a__
    c0 = __builtin_amdgcn_mfma_i32_16x16x16i8(x, x, c0, 0, 0, 0);
    c1 = __builtin_amdgcn_mfma_i32_16x16x16i8(x, x, c1, 0, 0, 0);
    c2 = __builtin_amdgcn_mfma_i32_16x16x16i8(x, x, c2, 0, 0, 0);
    c3 = __builtin_amdgcn_mfma_i32_16x16x16i8(x, x, c3, 0, 0, 0);
#else
    long y = x * 0x100010001l;
    c0 = __builtin_amdgcn_mfma_i32_16x16x32_i8(y, y, c0, 0, 0, 0);
    c1 = __builtin_amdgcn_mfma_i32_16x16x32_i8(y, y, c1, 0, 0, 0);
    c2 = __builtin_amdgcn_mfma_i32_16x16x32_i8(y, y, c2, 0, 0, 0);
    c3 = __builtin_amdgcn_mfma_i32_16x16x32_i8(y, y, c3, 0, 0, 0);
#endif
  }
  p[G * 256 + T] = c0[0] + c1[1] + c2[2] + c3[3];
}
KERNEL(256) void mfma_double(GLOBAL double *p) {
  double4 c0 = 0, c1 = 0;
  double x = p[T];
  NOUNROLL for (int k = 0; k < 100; k++) {
    c0 = __builtin_amdgcn_mfma_f64_16x16x4f64(x, x, c0, 0, 0, 0);
    c1 = __builtin_amdgcn_mfma_f64_16x16x4f64(x, x, c1, 0, 0, 0);
  }
  p[G * 256 + T] = c0[0] + c1[1];
}
KERNEL(256) void wide_ints(GLOBAL u64 *p) {
  u64 a = p[T], b = a + 1, c = a + 2, d = a + 3;
  NOUNROLL for (int k = 0; k < 150; k++) {
    a ^= a << 13, a ^= a >> 7, b ^= b << 17, b ^= b >> 9;
    c += a, c = (c << 24) | (c >> 40), d += b, d = (d << 16) | (d >> 48);
  }
  p[G * 256 + T] = a + b + c + d;
}
KERNEL(256) void bits(GLOBAL u32 *p) {
  u32 x = p[T] + G, n = 0, m = 0;
  NOUNROLL for (int k = 0; k < 150; k++) {
    n += __builtin_popcount(x), m ^= __builtin_bitreverse32(x), x = (x >> 3) | (m << 5), n += (x >> 7) & 31, m += __builtin_clz(x | 1);
  }
  p[G * 256 + T] = n + m;
}
static LOCAL float words[4096];
KERNEL(256) void lds_stride(GLOBAL float *p) {
  for (int k = 0; k < 16; k++) words[T + 256 * k] = k;
  barrier();
  float s = 0;
  NOUNROLL for (u32 k = 0; k < 60; k++)
    for (u32 n = 0; n < 4; n++) s += words[((T * 16) + k + n) & 4095];
  p[G * 256 + T] = s;
}
static LOCAL float4 quads[1024];
KERNEL(256) void lds_wide(GLOBAL float4 *p) {
  for (int k = 0; k < 4; k++) quads[T + 256 * k] = k;
  barrier();
  float4 s = 0;
  NOUNROLL for (u32 k = 0; k < 60; k++)
    for (u32 n = 0; n < 4; n++) s += quads[(T + k * 8 + n * 256) & 1023];
  p[G * 256 + T] = s;
}
static LOCAL u32 bins[64];
KERNEL(256) void lds_bins(GLOBAL u32 *p) {
  if (T < 64) bins[T] = 0;
  barrier();
  NOUNROLL for (u32 k = 0; k < 80; k++) __atomic_fetch_add(&bins[hash(T + k) & 15], 1, __ATOMIC_RELAXED);
  barrier();
  if (T < 64) p[G * 64 + T] = bins[T];
}
KERNEL(256) void switches(GLOBAL float *p) {
  float x = p[T], y = x + 1;
  NOUNROLL for (int k = 0; k < 20; k++) {
    switch ((T + k) & 15) {
#define W(n) case n: for (int j = 0; j < 12; j++) x = x * (1.0f + n * 0.01f) + y, y = y * (0.5f + n) - x; x = __builtin_fmaf(x, y, n); break;
      W(0) W(1) W(2) W(3) W(4) W(5) W(6) W(7) W(8) W(9) W(10) W(11) W(12) W(13) W(14) W(15)
    }
  }
  p[G * 256 + T] = x + y;
}
KERNEL(256) void few_lanes(GLOBAL float *p) {
  float x = p[T], y = 0, z = 1, w = 2;
  if ((T & 63) < 5)
    NOUNROLL for (int k = 0; k < 300; k++) x = x * 0.9f + y, y = y * 0.8f + z, z = z * 0.7f + w, w = w * 0.6f + x;
  p[G * 256 + T] = x + y + z + w;
}
KERNEL(64) void big_tile(GLOBAL float *p) {
  float acc[160];
  u32 at = hash(G * 64 + T) & (4 * MB - 1);
  for (int n = 0; n < 160; n++) acc[n] = n;
  NOUNROLL for (int k = 0; k < 24; k++) {
    float v = p[at];
    for (int n = 0; n < 160; n++) acc[n] = __builtin_fmaf(acc[n], v, 1.0f);
    at = (at * 5 + (u32)(v != 77.0f) * 4099) & (4 * MB - 1);
    asm volatile("" :: "v"(acc[0]), "v"(acc[159]));
  }
  float s = 0;
  for (int n = 0; n < 160; n++) s = s * 0.5f + acc[n];
  p[8 * MB + G * 64 + T] = s;
}
KERNEL(256) void few_groups(GLOBAL float4 *p) {
  float4 s = 0;
  NOUNROLL for (u32 k = 0; k < 64; k++) s += p[G * 16384 + k * 256 + T];
  p[2 * MB + G * 256 + T] = s;
}
KERNEL(256) void straggler(GLOBAL float *p) {
  float x = p[T], y = x + 1;
  u32 turns = G == 0 ? 6000 : 40;
  NOUNROLL for (u32 k = 0; k < turns; k++) x = x * 0.99f + y, y = y * 0.98f + x;
  p[G * 256 + T] = x + y;
}
KERNEL(512) void take_turns(GLOBAL float *p) {
  float x = p[T];
  NOUNROLL for (u32 k = 0; k < 32; k++) {
    if ((T >> 6) == (k & 7))
      NOUNROLL for (int n = 0; n < 60; n++) x = x * 0.99f + 0.1f;
    barrier();
  }
  p[G * 512 + T] = x;
}
KERNEL(64) void tiny_saxpy(GLOBAL float *p) {
  u32 i = G * 64 + T;
  p[i] = p[i] * 2.0f + p[i + 4096];
}
KERNEL(256) void small_steps(GLOBAL float *p) {
  u32 i = G * 256 + T;
  float x = p[i];
  for (int k = 0; k < 8; k++) x = x * 0.5f + 1.0f;
  p[i] = x;
}
KERNEL(64) void scalars(GLOBAL u32 *p) {
  u32 a = G, b = G * 3, n = 0;
  NOUNROLL for (u32 k = 0; k < 400; k++) {
    a = __builtin_amdgcn_readfirstlane(a);
    if (a & 1) a = a * 3 + 1, n += 2; else a = a >> 1, n += 1;
    b = (b << 3) ^ (b >> 5) ^ n, n ^= b & 15;
    a ^= b & 0xff;
  }
  if (T == 0) p[G] = a + n;
}
KERNEL(256) void one_counter(GLOBAL u32 *p) {
  NOUNROLL for (u32 k = 0; k < 6; k++)
    if ((T & 63) == (k & 63)) __atomic_fetch_add(p, k, __ATOMIC_RELAXED);
}
KERNEL(64) void cas_min(GLOBAL u32 *p) {
  NOUNROLL for (u32 k = 0; k < 3; k++) {
    u32 mine = hash(G * 64 + T + k * 7777) & 0xffffff, seen = p[(T & 7) * 32];
    NOUNROLL for (u32 tries = 0; tries < 10; tries++)
      if (__atomic_compare_exchange_n(p + (T & 7) * 32, &seen, seen + mine, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) break;
  }
}
KERNEL(256) void tickets(GLOBAL u32 *p) {
  u32 s = 0;
  NOUNROLL for (u32 k = 0; k < 6; k++) s += __atomic_fetch_add(p + (hash(G * 256 + T + k) & 255), 1, __ATOMIC_RELAXED);
  p[MB + G * 256 + T] = s;
}
#define D1(i) x = __builtin_fmaf(x, (i) * 0.0001f, y), y = __builtin_fmaf(y, (i) * 0.0002f, x);
#define D16(i) D1(i) D1(i+1) D1(i+2) D1(i+3) D1(i+4) D1(i+5) D1(i+6) D1(i+7) D1(i+8) D1(i+9) D1(i+10) D1(i+11) D1(i+12) D1(i+13) D1(i+14) D1(i+15)
#define D256(i) D16(i) D16(i+16) D16(i+32) D16(i+48) D16(i+64) D16(i+80) D16(i+96) D16(i+112) D16(i+128) D16(i+144) D16(i+160) D16(i+176) D16(i+192) D16(i+208) D16(i+224) D16(i+240)
KERNEL(64) void long_code(GLOBAL float *p) {
  float x = p[T], y = G;
  NOUNROLL for (int k = 0; k < 2; k++) { D256(1) D256(300) D256(600) D256(900) D256(1200) D256(1500) D256(1800) D256(2100) }
  p[G * 64 + T] = x + y;
}
KERNEL(256) void private_array(GLOBAL u32 *p) {
  volatile u32 own[96];
  u32 x = G * 256 + T;
  for (int k = 0; k < 96; k++) own[k] = x + k;
  u32 s = 0;
  NOUNROLL for (u32 k = 0; k < 40; k++) s += own[(k * 7) % 96], own[(k * 11) % 96] = s;
  p[x] = s;
}
KERNEL(64) void scalar_table(GLOBAL u32 *p) {
  const CONSTANT u32 *t = (const CONSTANT u32 *)(u64)p;
  u32 at = __builtin_amdgcn_readfirstlane(hash(G) & 0x3ffff);
  NOUNROLL for (int k = 0; k < 60; k++) at = __builtin_amdgcn_readfirstlane((t[at] ^ (at * 13 + k)) & 0x3ffff);
  if (T == 0) p[MB + G] = at;
}
KERNEL(64) void dependent(GLOBAL float *p) {
  float x = p[T];
  NOUNROLL for (int k = 0; k < 500; k++) x = __builtin_amdgcn_rcpf(x + 1.5f) * 0.7f + 0.1f;
  p[G * 64 + T] = x;
}
