// Thirty-three kernels with a known limiter (library.ts) as libraries have them: norms, stencils, products, trees, hashes, transforms, locks,
// counting. One argument: the buffer. clang --target=amdgcn-amd-amdhsa -mcpu=TARGET -O3 -nogpulib.
#include "kernel.h"
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned long u64;
typedef float float2 __attribute__((ext_vector_type(2)));
typedef float f16v __attribute__((ext_vector_type(16)));
typedef double double2 __attribute__((ext_vector_type(2)));
typedef u32 uint4v __attribute__((ext_vector_type(4)));
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef _Float16 half8 __attribute__((ext_vector_type(8)));
#define CONSTANT __attribute__((address_space(4)))
static inline float shuffle(float x, u32 lane) { return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(lane * 4, __builtin_bit_cast(int, x))); }

// layernorm of rows of 1024 floats, one wave a row
KERNEL(256) void layernorm(GLOBAL float4 *p) {
  u32 row = G * 4 + (T >> 6), l = T & 63;
  float4 v[4]; float s = 0;
  for (int k = 0; k < 4; k++) { v[k] = p[row * 256 + k * 64 + l]; s += v[k][0] + v[k][1] + v[k][2] + v[k][3]; }
  for (u32 d = 32; d; d >>= 1) s += shuffle(s, l ^ d);
  for (int k = 0; k < 4; k++) p[16 * MB / 4 + row * 256 + k * 64 + l] = v[k] - s * (1.0f / 1024);
}
// embedding: rows of 512 bytes by random index
KERNEL(256) void embedding(GLOBAL float *p) {
  u32 token = G * 2 + (T >> 7), c = T & 127;
  u32 row = hash(token) & 0x3ffff;
  p[40 * MB + token * 128 + c] = p[row * 128 + c];
}
// 7-point stencil in 256^3
KERNEL(256) void stencil(GLOBAL float *p) {
  u32 z = G >> 8, y = G & 255, i = (z + 1) * 65536 + y * 256 + T;
  p[20 * MB + i] = 0.5f * p[i] + 0.1f * (p[i + 1] + p[i - 1] + p[i + 256] + p[i - 256] + p[i + 65536] + p[i - 65536]);
}
// matrix times vector, a row a wave
KERNEL(256) void matvec(GLOBAL float4 *p) {
  u32 row = G * 4 + (T >> 6), l = T & 63;
  float s = 0;
  NOUNROLL for (u32 k = 0; k < 16; k++) { float4 a = p[row * 1024 + k * 64 + l], x = p[12 * MB + k * 64 + l]; s += a[0] * x[0] + a[1] * x[1] + a[2] * x[2] + a[3] * x[3]; }
  for (u32 d = 32; d; d >>= 1) s += shuffle(s, l ^ d);
  if (l == 0) ((GLOBAL float *)p)[52 * MB + row] = s;
}
// memset of bytes
KERNEL(1024) void zero(GLOBAL uint4v *p) { p[G * 1024 + T] = 0; }
// quantize float to int8
KERNEL(256) void quantize(GLOBAL float4 *p) {
  u32 i = G * 256 + T; float4 v = p[i];
  ((GLOBAL u32 *)p)[40 * MB + i] = ((u32)(v[0] * 127) & 255) | ((u32)(v[1] * 127) & 255) << 8 | ((u32)(v[2] * 127) & 255) << 16 | (u32)(v[3] * 127) << 24;
}
// naive matrix product from L2/L1: each lane a column element
KERNEL(256) void naive_gemm(GLOBAL float *p) {
  u32 row = G >> 1, col = (G & 1) * 256 + T; float s = 0;
  NOUNROLL for (u32 k = 0; k < 512; k++) s += p[row * 512 + k] * p[MB + k * 512 + col];
  p[2 * MB + row * 512 + col] = s;
}
// linked lists: one lane a wave walks
KERNEL(64) void one_lane_list(GLOBAL u32 *p) {
  u32 at = hash(G) & (16 * MB - 1);
  if (T == 0) { NOUNROLL for (int k = 0; k < 48; k++) at = p[at] & (16 * MB - 1); p[G] = at; }
}
// tree descent in 64 MB, 2 waves a CU
KERNEL(64) void tree(GLOBAL u32 *p) {
  u32 node = 0, key = hash(G * 64 + (T >> 3));
  NOUNROLL for (int k = 0; k < 23; k++) node = 2 * node + 1 + ((p[node] ^ key) & 1), key >>= 1;
  p[16 * MB + G * 64 + T] = node;
}
// finite automaton: next state from table in L2 by state and input
KERNEL(64) void automaton(GLOBAL u32 *p) {
  u32 state = T;
  NOUNROLL for (u32 k = 0; k < 64; k++) { u32 sym = (G * 7 + k * 13 + (state >> 5)) & 255; state = p[((state & 1023) << 8) | sym] & 1023; }
  p[MB + G * 64 + T] = state;
}
// n-body from registers and scalars
KERNEL(256) void nbody(GLOBAL float *p) {
  float x = p[T], y = p[T + 256], z = p[T + 512], ax = 0, ay = 0, az = 0;
  NOUNROLL for (int k = 0; k < 128; k++) {
    float dx = k * 0.5f - x, dy = k * 0.25f - y, dz = k * 0.125f - z;
    float r = __builtin_amdgcn_rsqf(dx * dx + dy * dy + dz * dz + 0.01f), w = r * r * r;
    ax += dx * w, ay += dy * w, az += dz * w;
  }
  p[G * 256 + T] = ax + ay + az;
}
// sha-like rounds
KERNEL(256) void rounds(GLOBAL u32 *p) {
  u32 a = p[T], b = a * 3, c = a ^ 7, d = a + 9, e = a - 5;
  NOUNROLL for (int k = 0; k < 120; k++) {
    u32 s = ((e >> 6) | (e << 26)) ^ ((e >> 11) | (e << 21)), f = (e & d) ^ (~e & c), t = s + f + k * 0x9e37;
    e = d + t, d = c, c = b, b = a, a = t + (((a >> 2) | (a << 30)) ^ b);
  }
  p[G * 256 + T] = a + b + c + d + e;
}
// double precision horner with divisions
KERNEL(256) void ddiv(GLOBAL double *p) {
  double x = p[T] + 1.5, y = x + 1;
  NOUNROLL for (int k = 0; k < 24; k++) x = 1.0 / (x + 0.3) + 0.7, y = 2.0 / (y + x);
  p[G * 256 + T] = x + y;
}
// mfma f32
KERNEL(256) void mfma_f32(GLOBAL float *p) {
  float a = p[T]; f16v c0 = 0, c1 = 0;
  NOUNROLL for (int k = 0; k < 80; k++) c0 = __builtin_amdgcn_mfma_f32_32x32x2f32(a, a, c0, 0, 0, 0), c1 = __builtin_amdgcn_mfma_f32_32x32x2f32(a, 2.0f, c1, 0, 0, 0);
  p[G * 256 + T] = c0[0] + c1[1];
}
static LOCAL half8 tiles[1024];
// matrix units fed from LDS
KERNEL(256) void mfma_lds(GLOBAL float *p) {
  for (int k = 0; k < 4; k++) tiles[T + 256 * k] = (half8)(_Float16)1;
  barrier();
  f16v c0 = 0, c1 = 0, c2 = 0, c3 = 0;
  NOUNROLL for (u32 k = 0; k < 60; k++) {
    half8 a = tiles[(T + k) & 1023];
    half4 lo = __builtin_shufflevector(a, a, 0, 1, 2, 3), hi = __builtin_shufflevector(a, a, 4, 5, 6, 7);
    c0 = __builtin_amdgcn_mfma_f32_32x32x8f16(lo, hi, c0, 0, 0, 0), c1 = __builtin_amdgcn_mfma_f32_32x32x8f16(hi, lo, c1, 0, 0, 0);
    c2 = __builtin_amdgcn_mfma_f32_32x32x8f16(lo, lo, c2, 0, 0, 0), c3 = __builtin_amdgcn_mfma_f32_32x32x8f16(hi, hi, c3, 0, 0, 0);
  }
  p[G * 256 + T] = c0[0] + c1[1] + c2[2] + c3[3];
}
static LOCAL float fft[2048];
// passes over LDS with growing strides, power of two, no padding
KERNEL(256) void fft_passes(GLOBAL float *p) {
  for (int k = 0; k < 8; k++) fft[T + 256 * k] = T;
  barrier();
  float s = 0;
  NOUNROLL for (u32 r = 0; r < 40; r++) for (u32 n = 0; n < 4; n++) s += fft[(T * 32 + (T >> 6) + r + n * 8) & 2047];
  p[G * 256 + T] = s;
}
static LOCAL u32 table[1024];
// AES-like: lookups of random words in LDS
KERNEL(256) void lookups(GLOBAL u32 *p) {
  for (int k = 0; k < 4; k++) table[T + 256 * k] = hash(T + k);
  barrier();
  u32 a = T + G, b = a * 3, c = a * 5, d = a * 7;
  NOUNROLL for (u32 k = 0; k < 60; k++) a = table[a & 1023], b = table[b & 1023], c = table[c & 1023], d = table[d & 1023];
  p[G * 256 + T] = a + b + c + d;
}
static LOCAL u64 wide8[1024];
KERNEL(256) void lds_copy(GLOBAL u64 *p) {
  for (int k = 0; k < 4; k++) wide8[T + 256 * k] = T;
  barrier();
  NOUNROLL for (u32 k = 0; k < 100; k++) {
    u64 a = wide8[(T + k) & 1023], b = wide8[(T + 256 + k) & 1023];
    wide8[(T + 512) & 1023] = a, wide8[(T + 768) & 1023] = b;
  }
  barrier();
  p[G * 256 + T] = wide8[T];
}
// collatz: lanes end at different times
KERNEL(256) void collatz(GLOBAL u32 *p) {
  u32 x = hash(G * 256 + T) & 0xffff | 1, n = 0, most = (T & 15) == 3 ? 600 : 20;
  NOUNROLL while (n < most) { x = x & 1 ? 3 * x + 1 : x >> 1, x ^= n, n++; }
  p[G * 256 + T] = x;
}
// quadratic branches by lane
KERNEL(256) void branches(GLOBAL float *p) {
  float x = p[T], y = 1, z = 2;
  NOUNROLL for (u32 l = 0; l < 64; l++)
    if ((T & 63) == l) for (int k = 0; k < 40; k++) x = x * 0.9f + y, y = y * 0.8f + z, z = z * 0.7f + x;
  p[G * 256 + T] = x + y + z;
}
// two workgroups of one wave on 64 KB of LDS would fit one
static LOCAL float hoard[15000];
KERNEL(64) void hoarded(GLOBAL float *p) {
  float s = 0; u32 at = G * 64 + T;
  NOUNROLL for (u32 k = 0; k < 30; k++) { hoard[T + k * 64] = p[at + k * 65536]; s += hoard[(T ^ 1) + k * 64]; }
  p[4 * MB + at] = s;
}
// eight workgroups do it all
KERNEL(1024) void few_big(GLOBAL float *p) {
  float s = 0;
  NOUNROLL for (u32 k = 0; k < 100; k++) s += p[(G * 100 + k) * 1024 + T] * 0.5f;
  p[2 * MB + G * 1024 + T] = s;
}
// triangle: workgroup n does n turns
KERNEL(64) void triangle(GLOBAL float *p) {
  float x = p[T], y = 1;
  u32 turns = G > 1200 ? 8000 : 30;
  NOUNROLL for (u32 k = 0; k < turns; k++) x = x * 0.99f + y, y = x * 0.5f;
  p[G * 64 + T] = x;
}
// reduction tree in LDS with a barrier each step, many rounds
static LOCAL float tree_sums[1024];
KERNEL(1024) void reduce_tree(GLOBAL float *p) {
  float x = p[T];
  NOUNROLL for (u32 r = 0; r < 12; r++) {
    tree_sums[T] = x; barrier();
    NOUNROLL for (u32 d = 512; d; d >>= 1) { if (T < d) tree_sums[T] += tree_sums[T + d]; barrier(); }
    x += tree_sums[0]; barrier();
  }
  p[G * 1024 + T] = x;
}
// one lane prepares, all wait
static LOCAL float shared_x;
KERNEL(512) void leader(GLOBAL float *p) {
  float x = p[T];
  NOUNROLL for (u32 r = 0; r < 20; r++) {
    if (T < 64) { float y = x; NOUNROLL for (int k = 0; k < 80; k++) y = __builtin_amdgcn_rcpf(y + 1.1f); if (T == 0) shared_x = y; }
    barrier(); x += shared_x; barrier();
  }
  p[G * 512 + T] = x;
}
KERNEL(256) void tiny_add(GLOBAL float *p) { p[G * 256 + T] += 1.0f; }
KERNEL(64) void tiny_scalar(GLOBAL u32 *p) { if (T == 0) p[G] = p[G] * 5 + 1; }
// scalar address arithmetic and bit tricks
KERNEL(64) void crc(GLOBAL u32 *p) {
  u32 c = G, n = G * 17 + 1;
  NOUNROLL for (u32 k = 0; k < 300; k++) { c = (c >> 1) ^ (c & 1 ? 0xedb88320u : 0), n = n * 1103515245u + 12345u, c ^= n >> 24, n ^= c << 3; }
  if (T == 0) p[G] = c + n;
}
// float atomics on 64 words
KERNEL(256) void accumulate(GLOBAL float *p) {
  for (u32 k = 0; k < 4; k++) __builtin_amdgcn_global_atomic_fadd_f32(p + ((T * 5 + k) & 63), 1.0f);
}
// lock-free maximum by exchange loop on one word
KERNEL(64) void maximum(GLOBAL u32 *p) {
  u32 mine = hash(G * 64 + T) >> 3, seen = __atomic_load_n(p, __ATOMIC_RELAXED);
  NOUNROLL for (u32 tries = 0; tries < 12 && seen < mine; tries++)
    if (__atomic_compare_exchange_n(p, &seen, mine, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) break;
}
// counting sort: bins by returned atomic, then a store
KERNEL(256) void counting(GLOBAL u32 *p) {
  u32 i = G * 256 + T;
  for (u32 k = 0; k < 3; k++) { u32 v = p[MB + i], at = __atomic_fetch_add(p + 32 * ((v + k) & 15), 1, __ATOMIC_RELAXED); p[8 * MB + ((at * 64 + i) & 0xfffff)] = v; }
}
#define M1(i) a = a * 0x9e3779b1u + ((i) ^ b), b = (b ^ (a >> 7)) + (i) * 77u;
#define M16(i) M1(i) M1(i+1) M1(i+2) M1(i+3) M1(i+4) M1(i+5) M1(i+6) M1(i+7) M1(i+8) M1(i+9) M1(i+10) M1(i+11) M1(i+12) M1(i+13) M1(i+14) M1(i+15)
#define M256(i) M16(i) M16(i+16) M16(i+32) M16(i+48) M16(i+64) M16(i+80) M16(i+96) M16(i+112) M16(i+128) M16(i+144) M16(i+160) M16(i+176) M16(i+192) M16(i+208) M16(i+224) M16(i+240)
// straight code of 100 KB run once by a wave on each CU
KERNEL(64) void once(GLOBAL u32 *p) {
  u32 a = p[T], b = G;
  M256(1) M256(400) M256(800) M256(1200) M256(1600)
  p[G * 64 + T] = a + b;
}
// code that is larger than the cache, looped over
KERNEL(64) void big_loop(GLOBAL u32 *p) {
  u32 a = p[T], b = G;
  NOUNROLL for (int k = 0; k < 3; k++) { M256(1) M256(400) M256(800) M256(1200) M256(1600) M256(2000) M256(2400) }
  p[G * 64 + T] = a + b;
}
