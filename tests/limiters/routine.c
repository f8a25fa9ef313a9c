// Kernels of everyday programs; their limiters are in routine.ts.
#include "kernel.h"
#define UNROLL _Pragma("clang loop unroll(full)")
typedef unsigned long long u64;
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef float float16 __attribute__((ext_vector_type(16)));
typedef double double4 __attribute__((ext_vector_type(4)));

static inline float across(float v) {
  for (u32 d = 32; d; d >>= 1) v += __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(((T ^ d) & 63) << 2, __builtin_bit_cast(int, v)));
  return v;
}
// RMS norm, a wave for each row of 1024 floats; 64 MB in, 64 MB out
KERNEL(256) void rms_norm(GLOBAL float4 *p) {
  u32 lane = T & 63, row = G * 4 + (T >> 6);
  GLOBAL float4 *in = p + row * 256 + lane, *out = in + 4 * MB;
  float4 a = in[0], b = in[64], c = in[128], d = in[192], q = a * a + b * b + c * c + d * d;
  float r = __builtin_amdgcn_rsqf(across(q.x + q.y + q.z + q.w) * (1.0f / 1024) + 1e-5f);
  out[0] = a * r, out[64] = b * r, out[128] = c * r, out[192] = d * r;
}
// y = A x, a wave for each row of 4096 floats, A of 128 MB
KERNEL(256) void gemv_rows(GLOBAL float4 *p) {
  u32 lane = T & 63, row = G * 4 + (T >> 6);
  GLOBAL float4 *a = p + 1024 + row * 1024 + lane;
  float4 s = 0;
  for (u32 k = 0; k < 16; k++) s += a[64 * k] * p[64 * k + lane];
  float sum = across(s.x + s.y + s.z + s.w);
  if (lane == 0) ((GLOBAL float *)p)[33 * MB + MB + row] = sum;
}
static LOCAL float block32[32 * 33];
// transpose of 4096 x 4096 floats by tiles of 32 with a padded row
KERNEL(256) void transpose_pad(GLOBAL float *p) {
  u32 x = T & 31, y = T >> 5, bx = (G & 127) * 32, by = (G >> 7) * 32;
  for (u32 k = 0; k < 32; k += 8) block32[(y + k) * 33 + x] = p[(by + y + k) * 4096 + bx + x];
  barrier();
  for (u32 k = 0; k < 32; k += 8) p[16 * MB + (bx + y + k) * 4096 + by + x] = block32[x * 33 + y + k];
}
// structures of twelve floats to twelve arrays
KERNEL(256) void aos_soa(GLOBAL float *p) {
  u32 i = G * 256 + T;
  for (u32 f = 0; f < 12; f++) p[16 * MB + f * MB + i] = p[i * 12 + f];
}
// CSR, a lane for each row of sixteen products, columns anywhere in 4 MB
KERNEL(256) void csr_rows(GLOBAL u32 *p) {
  u32 row = G * 256 + T;
  float s = 0;
  for (u32 k = 0; k < 16; k++) {
    u32 at = 2 * MB + row * 16 + k;
    s += ((GLOBAL float *)p)[p[at] & (MB - 1)] * 0.5f;
  }
  ((GLOBAL float *)p)[MB + row] = s;
}
// lower bound in 16 M sorted words
KERNEL(64) void lower_bound(GLOBAL u32 *p) {
  u32 found = 0;
  NOUNROLL for (u32 q = 0; q < 3; q++) {
    u32 key = hash(G * 64 + T + q) & (16 * MB - 1), low = 0, n = 16 * MB;
    NOUNROLL while (n > 1) { u32 h = n >> 1; if (p[low + h] <= key) low += h; n -= h; }
    found += low;
  }
  p[16 * MB + G * 64 + T] = found;
}
// B-tree of nodes of 64 keys, a wave for each query; the child is where the hash of the node's keys says
KERNEL(64) void btree(GLOBAL u32 *p) {
  u32 node = hash(G);
  NOUNROLL for (u32 q = 0; q < 40; q++) {
    u32 key = p[(node & 0x3ffff) * 64 + T];
    u64 below = __builtin_amdgcn_uicmp(key, hash(q), 36);
    node = hash(node * 64 + __builtin_popcountll(below));
  }
  p[16 * MB + G * 64 + T] = node;
}
// merge path of two sorted arrays of 2 M words: a lane searches its diagonal, then merges eight
KERNEL(256) void merge_path(GLOBAL u32 *p) {
  u32 diagonal = (G * 256 + T) * 8, low = diagonal > MB ? diagonal - MB : 0, high = diagonal < MB ? diagonal : MB;
  GLOBAL u32 *a = p, *b = p + MB, *out = p + 2 * MB;
  NOUNROLL while (low < high) { u32 m = (low + high) >> 1; if (a[m] <= b[diagonal - 1 - m]) low = m + 1; else high = m; }
  u32 i = low, j = diagonal - low;
  NOUNROLL for (u32 k = 0; k < 8; k++) {
    u32 x = a[i & (MB - 1)], y = b[j & (MB - 1)];
    int first = j >= MB || (i < MB && x <= y);
    out[diagonal + k] = first ? x : y;
    i += first, j += !first;
  }
}
// Mandelbrot at random points: one in eight lanes goes to the end, the others leave soon
KERNEL(256) void mandel_samples(GLOBAL u32 *p) {
  u32 i = G * 256 + T, h = hash(i), n = 0;
  float cx = (h & 0xffff) * (4.0f / 65536) - 2, cy = (h >> 16) * (4.0f / 65536) - 2, x = 0, y = 0;
  NOUNROLL while (n < 96 && x * x + y * y < 4) { float t = x * x - y * y + cx; y = 2 * x * y + cy, x = t, n++; }
  p[i] = n;
}
// a shader for each lane's material
KERNEL(256) void materials(GLOBAL float *p) {
  u32 i = G * 256 + T, m = hash(i) & 7;
  float v = i * 1e-6f, w = 1;
  NOUNROLL for (u32 k = 0; k < 12; k++) {
    switch (m) {
      case 0: for (int n = 0; n < 12; n++) v = v * 1.01f + w, w = w * 0.5f + v; break;
      case 1: for (int n = 0; n < 8; n++) v = __builtin_amdgcn_rsqf(v * v + 1) + w; break;
      case 2: for (int n = 0; n < 12; n++) w = __builtin_fmaf(w, v, 0.25f), v -= w; break;
      case 3: for (int n = 0; n < 8; n++) v = __builtin_amdgcn_sinf(v) + 0.5f * w; break;
      case 4: for (int n = 0; n < 12; n++) v = __builtin_fabsf(v - 0.5f) * 1.7f, w += v; break;
      case 5: for (int n = 0; n < 12; n++) w = __builtin_fmaxf(v, w) * 0.9f, v = v * 0.8f + w; break;
      case 6: for (int n = 0; n < 8; n++) v = __builtin_amdgcn_exp2f(-v) + w; break;
      default: for (int n = 0; n < 12; n++) v = v * v * 0.3f + 0.1f, w -= v;
    }
    m = (m * 5 + 1 + k) & 7;
  }
  p[i] = v + w;
}
#define ROT(x, n) __builtin_rotateleft32(x, n)
// rounds of SHA-256 on registers
KERNEL(256) void sha_rounds(GLOBAL u32 *p) {
  u32 a = G, b = T, c = a ^ b, d = a + b, e = ~a, f = ~b, g = a * 3, h = b * 5;
  NOUNROLL for (u32 k = 0; k < 16; k++)
    for (u32 n = 0; n < 4; n++) {
      u32 t1 = h + (ROT(e, 26) ^ ROT(e, 21) ^ ROT(e, 7)) + ((e & f) ^ (~e & g)) + 0x428a2f98u + k;
      u32 t2 = (ROT(a, 30) ^ ROT(a, 19) ^ ROT(a, 10)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
  p[G * 256 + T] = a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
}
static LOCAL half4 keys[1024];
// Q K^T of attention: four products of matrices for each fragment of K from LDS
KERNEL(256) void attention_qk(GLOBAL float *p) {
  for (int k = 0; k < 4; k++) keys[T + 256 * k] = (half4)(_Float16)0.5f;
  barrier();
  float16 c0 = 0, c1 = 0;
  half4 q0 = (_Float16)1, q1 = (_Float16)2;
  NOUNROLL for (u32 k = 0; k < 32; k++) {
    half4 b = keys[((k & 15) << 6) + (T & 63)];
    c0 = __builtin_amdgcn_mfma_f32_32x32x8f16(q0, b, c0, 0, 0, 0);
    c1 = __builtin_amdgcn_mfma_f32_32x32x8f16(q1, b, c1, 0, 0, 0);
    c0 = __builtin_amdgcn_mfma_f32_32x32x8f16(q1, b, c0, 0, 0, 0);
    c1 = __builtin_amdgcn_mfma_f32_32x32x8f16(q0, b, c1, 0, 0, 0);
  }
  p[G * 256 + T] = c0[0] + c1[3];
}
// products of matrices of doubles
KERNEL(256) void dgemm_tile(GLOBAL double *p) {
  double4 c0 = 0, c1 = 0, c2 = 0, c3 = 0;
  double a = T, b = G;
  NOUNROLL for (u32 k = 0; k < 32; k++) {
    c0 = __builtin_amdgcn_mfma_f64_16x16x4f64(a, b, c0, 0, 0, 0), c1 = __builtin_amdgcn_mfma_f64_16x16x4f64(b, b, c1, 0, 0, 0);
    c2 = __builtin_amdgcn_mfma_f64_16x16x4f64(a, a, c2, 0, 0, 0), c3 = __builtin_amdgcn_mfma_f64_16x16x4f64(b, a, c3, 0, 0, 0);
  }
  p[G * 256 + T] = c0[0] + c1[1] + c2[2] + c3[3];
}
static LOCAL u32 sorted[2048];
// bitonic sort of 2048 words of LDS by 256 lanes
KERNEL(256) void bitonic(GLOBAL u32 *p) {
  for (u32 k = 0; k < 8; k++) sorted[T + 256 * k] = hash(G * 2048 + T + 256 * k);
  NOUNROLL for (u32 size = 2; size <= 2048; size *= 2)
    NOUNROLL for (u32 stride = size / 2; stride; stride /= 2) {
      barrier();
      for (u32 k = 0; k < 4; k++) {
        u32 n = T + 256 * k, at = 2 * n - (n & (stride - 1)), a = sorted[at], b = sorted[at + stride], up = !(at & size);
        if ((a > b) == up) sorted[at] = b, sorted[at + stride] = a;
      }
    }
  barrier();
  p[G * 256 + T] = sorted[T * 8];
}
static LOCAL float square[64 * 64];
// a tile of LDS whose columns are read without padding: products of a matrix with its transpose
KERNEL(256) void column_tile(GLOBAL float *p) {
  for (u32 k = 0; k < 16; k++) square[T + 256 * k] = T;
  barrier();
  float s = 0;
  u32 x = T & 63, y = T >> 6;
  NOUNROLL for (u32 k = 0; k < 64; k += 4)
    for (u32 n = 0; n < 4; n++) s += square[x * 64 + k + n] * square[y * 64 + k + n];
  p[G * 256 + T] = s;
}
static LOCAL u32 bins[16];
// histogram of sixteen bins in LDS
KERNEL(256) void local_bins(GLOBAL u32 *p) {
  if (T < 16) bins[T] = 0;
  barrier();
  u32 v = hash(G * 256 + T);
  NOUNROLL for (u32 k = 0; k < 24; k++) { __atomic_fetch_add(&bins[v & 15], 1, __ATOMIC_RELAXED); v = v * 1664525 + 1013904223 + (v >> 16); }
  barrier();
  if (T < 16) p[G * 16 + T] = bins[T];
}
// histogram in memory of a picture whose colours are mostly dark
KERNEL(256) void dark_picture(GLOBAL u32 *p) {
  u32 i = G * 256 + T;
  for (u32 k = 0; k < 4; k++) { u32 h = hash(i * 4 + k), c = h & 255 & (h >> 8) & (h >> 16); __atomic_fetch_add(p + c, 1, __ATOMIC_RELAXED); }
}
// scatter with sums: an edge adds to a node of 4096
KERNEL(256) void scatter_add(GLOBAL float *p) {
  u32 i = G * 256 + T;
  for (u32 k = 0; k < 4; k++) __builtin_amdgcn_global_atomic_fadd_f32(p + (hash(i * 4 + k) & 4095), 1.0f);
}
static LOCAL float wideTile[15 * 1024];
// a tile of 60 KB for a workgroup of four waves, each element loaded where the last one says and used once
KERNEL(256) void halo_tile(GLOBAL float *p) {
  float s = 0;
  NOUNROLL for (u32 k = 0; k < 12; k++) {
    wideTile[T + 256 * k] = p[(G * 12 + k) * 256 + T];
    barrier();
    s += wideTile[((T + 1) & 255) + 256 * k] + wideTile[((T + 255) & 255) + 256 * k];
  }
  p[16 * MB + G * 256 + T] = s;
}
// particles: 240 values of state in registers for each lane, while it follows the list of its neighbours
KERNEL(64) void particle_state(GLOBAL u32 *p) {
  u32 s[240], at = G * 64 + T;
  UNROLL for (u32 k = 0; k < 240; k++) s[k] = at * (2 * k + 3);
  NOUNROLL for (u32 n = 0; n < 6; n++) {
    at = p[(at * 16 + n) & (2 * MB - 1)];
    UNROLL for (u32 k = 0; k < 240; k++) { s[k] += at; asm volatile("" : "+v"(s[k])); }
  }
  u32 r = 0;
  UNROLL for (u32 k = 0; k < 240; k++) r ^= s[k];
  p[4 * MB + G * 64 + T] = r;
}
static LOCAL u32 sums[1024];
// inclusive scan of 1024 words by the steps of Hillis and Steele
KERNEL(1024) void scan_steps(GLOBAL u32 *p) {
  u32 v = T;
  NOUNROLL for (u32 r = 0; r < 4; r++) {
    sums[T] = v;
    NOUNROLL for (u32 d = 1; d < 1024; d *= 2) {
      barrier();
      u32 w = T >= d ? sums[T - d] : 0;
      barrier();
      sums[T] = v += w;
    }
    barrier();
  }
  p[G * 1024 + T] = v;
}
// a norm of 256 floats, launched once for each of 64 rows
KERNEL(64) void tiny_norm(GLOBAL float4 *p) {
  float4 v = p[T];
  p[4096 + T] = v * __builtin_amdgcn_rsqf(across(v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w));
}
#define STEP(n) r = ROT(r * (0x9e3779b1u + (n)), 7) ^ (0x85ebca6bu + 13 * (n)), q = q * (0xc2b2ae35u - (n)) + (r ^ (0x27d4eb2fu * (n)));
#define STEPS(n) STEP(n) STEP(n + 1) STEP(n + 2) STEP(n + 3) STEP(n + 4) STEP(n + 5) STEP(n + 6) STEP(n + 7)
#define OPCODE(n) case n: STEPS(64 * n) STEPS(64 * n + 8) asm volatile("; %0" : "+v"(q)); break;
#define OPCODES(n) OPCODE(n) OPCODE(n + 1) OPCODE(n + 2) OPCODE(n + 3) OPCODE(n + 4) OPCODE(n + 5) OPCODE(n + 6) OPCODE(n + 7)
// an interpreter of 128 opcodes of some 800 bytes of code; every wave has a program of its own
KERNEL(64) void interpreter(GLOBAL u32 *p) {
  u32 r = T, q = G, pc = hash(G);
  NOUNROLL for (u32 k = 0; k < 48; k++) {
    switch (__builtin_amdgcn_readfirstlane(pc >> 9 & 127)) {
      OPCODES(0) OPCODES(8) OPCODES(16) OPCODES(24) OPCODES(32) OPCODES(40) OPCODES(48) OPCODES(56)
      OPCODES(64) OPCODES(72) OPCODES(80) OPCODES(88) OPCODES(96) OPCODES(104) OPCODES(112) OPCODES(120)
    }
    pc = pc * 1664525 + 1013904223;
  }
  p[G * 64 + T] = r + q;
}
