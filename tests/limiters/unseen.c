// Kernels with a known limiter, written when the rules of the classifier were done (unseen.ts says why each is so): solvers, trees, sparse
// rows, state machines, rays, filters. One argument: the buffer. clang --target=amdgcn-amd-amdhsa -mcpu=TARGET -O3 -nogpulib.
#include "kernel.h"
typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float16 __attribute__((ext_vector_type(16)));
typedef _Float16 half4 __attribute__((ext_vector_type(4)));

// A step of a heat equation along rows: five neighbours, four of which were fetched before.
KERNEL(256) void heat_step(GLOBAL float *p) {
  u32 i = G * 1024 + T + 2;
  for (int k = 0; k < 4; k++) {
    u32 at = i + 256 * k;
    p[at + 16 * MB] = 0.1f * (p[at - 2] + p[at + 2]) + 0.2f * (p[at - 1] + p[at + 1]) + 0.4f * p[at];
  }
}

// Records of eight floats become eight arrays.
KERNEL(256) void records_to_arrays(GLOBAL float *p) {
  u32 i = G * 256 + T;
  float4 a = ((GLOBAL float4 *)p)[2 * i], b = ((GLOBAL float4 *)p)[2 * i + 1];
  GLOBAL float *out = p + 8 * MB;
  for (int k = 0; k < 4; k++) out[k * MB + i] = a[k], out[(k + 4) * MB + i] = b[k];
}

// A row of a matrix of 4,096 columns times a vector for each workgroup; the vector is in the caches.
KERNEL(256) void matrix_vector(GLOBAL float *p) {
  GLOBAL float4 *row = (GLOBAL float4 *)p + 1024 + G * 1024 + T, *x = (GLOBAL float4 *)p + T;
  float4 sum = 0;
  for (int k = 0; k < 4; k++) sum += row[256 * k] * x[256 * k];
  float s = sum[0] + sum[1] + sum[2] + sum[3];
  for (int n = 32; n > 0; n >>= 1)
    s += __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(4 * ((T & 63) ^ n), __builtin_bit_cast(int, s)));
  if ((T & 63) == 0) p[G * 4 + (T >> 6)] = s;
}

KERNEL(256) void clear(GLOBAL float *p) {
  GLOBAL float4 *out = (GLOBAL float4 *)p + G * 2048 + T;
  for (int k = 0; k < 8; k++) out[256 * k] = 0;
}

// Two images become one.
KERNEL(64) void blend(GLOBAL u32 *p) {
  u32 i = G * 512 + T;
  u32 a[8], b[8];
  for (int k = 0; k < 8; k++) a[k] = p[i + 64 * k], b[k] = p[i + 64 * k + 8 * MB];
  for (int k = 0; k < 8; k++) p[i + 64 * k + 16 * MB] = ((a[k] >> 1) & 0x7f7f7f7f) + ((b[k] >> 1) & 0x7f7f7f7f);
}

// Down a tree of 8 M nodes: the child is chosen by what the node holds.
KERNEL(64) void tree_walk(GLOBAL u32 *p) {
  u32 key = hash(G * 64 + T), at = 1;
  NOUNROLL for (int k = 0; k < 22; k++) at = 2 * at + ((p[at] ^ key) & 1);
  p[G * 64 + T] = at;
}

// Short rows of a sparse matrix, a lane each: start and end, then column, then value of the vector.
KERNEL(64) void sparse_rows(GLOBAL u32 *p) {
  u32 row = G * 64 + T, from = p[row * 61 & (MB - 1)] & (2 * MB - 1), sum = 0;
  NOUNROLL for (u32 k = 0; k < 12; k++) {
    u32 column = p[2 * MB + ((from + k * 977 + sum) & (2 * MB - 1))];
    sum += p[4 * MB + (column & (2 * MB - 1))];
  }
  p[row] = sum;
}

static LOCAL float4 bodies[256];
// Forces between bodies, tile by tile.
KERNEL(256) void gravity(GLOBAL float *p) {
  float4 own = ((GLOBAL float4 *)p)[T], force = 0;
  NOUNROLL for (int tile = 0; tile < 2; tile++) {
    bodies[T] = ((GLOBAL float4 *)p)[tile * 256 + T];
    barrier();
    _Pragma("clang loop unroll_count(8)") for (int k = 0; k < 256; k++) {
      float4 d = bodies[k] - own;
      float square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01f, inverse = __builtin_amdgcn_rsqf(square);
      force += d * (inverse * inverse * inverse);
    }
    barrier();
  }
  ((GLOBAL float4 *)p)[G * 256 + T] = force;
}

// A hash of each lane's own number, again and again.
KERNEL(256) void proof_of_work(GLOBAL u32 *p) {
  u32 x = p[T] + T, y = x + 1, z = x + 2, w = x + 3;
  NOUNROLL for (int k = 0; k < 60; k++) x = hash(x + k), y = hash(y + k), z = hash(z + k), w = hash(w + k);
  p[G * 256 + T] = x ^ y ^ z ^ w;
}

// Exponents, logarithms and roots.
KERNEL(256) void price_options(GLOBAL float *p) {
  float x = 1.0f + 0.001f * T, y = x + 0.5f, z = x + 0.25f;
  NOUNROLL for (int k = 0; k < 100; k++) {
    x = __builtin_amdgcn_exp2f(-x), y = __builtin_amdgcn_logf(y + 2.0f), z = __builtin_amdgcn_sqrtf(z + 1.0f);
    x += 0.5f * y, y += 0.5f * z, z += 0.5f * x;
  }
  p[G * 256 + T] = x + y + z;
}

KERNEL(256) void matrix_32(GLOBAL float *p) {
  half4 a = ((GLOBAL half4 *)p)[T], b = ((GLOBAL half4 *)p)[T + 256];
  float16 c = 0, d = 1;
  NOUNROLL for (int k = 0; k < 60; k++)
    for (int n = 0; n < 2; n++)
      c = __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, c, 0, 0, 0), d = __builtin_amdgcn_mfma_f32_32x32x8f16(b, a, d, 0, 0, 0);
  ((GLOBAL float16 *)p)[(G * 256 + T) & 16383] = c + d;
}

static LOCAL float pool[8192];
// Every lane of a half wave asks the same bank.
KERNEL(256) void column_sums(GLOBAL float *p) {
  float sum = 0;
  for (int k = 0; k < 32; k++) pool[T + 256 * k] = k + T;
  barrier();
  NOUNROLL for (int k = 0; k < 40; k++)
    for (int n = 0; n < 4; n++) sum += pool[((T & 255) * 32 + 4 * k + n) & 8191];
  p[G * 256 + T] = sum;
}

static LOCAL float4 table[1024];
// Sixteen bytes a lane from LDS without end, no conflicts, hardly any arithmetic.
KERNEL(256) void lookup_rows(GLOBAL float *p) {
  for (int k = 0; k < 4; k++) table[T + 256 * k] = (float)T;
  barrier();
  float4 sum = 0;
  NOUNROLL for (int k = 0; k < 60; k++)
    for (int n = 0; n < 8; n++) sum += table[(T + 64 * n + k) & 1023];
  p[G * 256 + T] = sum[0] + sum[1] + sum[2] + sum[3];
}

// Sixteen opcodes, a lane has one of its own: a wave goes through all.
KERNEL(256) void interpreter(GLOBAL float *p) {
  u32 i = G * 256 + T;
  float x = 0.5f + 0.001f * (i & 63);
  u32 code = hash(i);
  NOUNROLL for (int k = 0; k < 40; k++) {
    switch ((code >> (k & 7)) & 7) {
      case 0: NOUNROLL for (int n = 0; n < 8; n++) x = x * x - 0.5f; break;
      case 1: NOUNROLL for (int n = 0; n < 9; n++) x = x * 0.5f + 1.0f; break;
      case 2: NOUNROLL for (int n = 0; n < 7; n++) x = x - x * 0.25f; break;
      case 3: NOUNROLL for (int n = 0; n < 10; n++) x = x * 0.75f + x * x; break;
      case 4: NOUNROLL for (int n = 0; n < 8; n++) x = 1.0f - x * 0.1f; break;
      case 5: NOUNROLL for (int n = 0; n < 6; n++) x = x * x * 0.5f; break;
      case 6: NOUNROLL for (int n = 0; n < 8; n++) x = x * 0.3f - 2.0f; break;
      default: NOUNROLL for (int n = 0; n < 9; n++) x = x + 0.125f * x; break;
    }
  }
  p[i] = x;
}

// Rays that end after a few steps, and some that need hundreds.
KERNEL(256) void rays(GLOBAL u32 *p) {
  u32 i = G * 256 + T, x = hash(i) | 1, steps = 0;
  NOUNROLL while ((x & 63) != 0 && steps < 300) {
    x = hash(x);
    steps++;
  }
  p[i] = steps;
}

// Every lane takes a number from one counter.
KERNEL(256) void tickets(GLOBAL u32 *p) {
  u32 i = G * 256 + T;
  NOUNROLL for (int k = 0; k < 4; k++) p[1024 + 4 * i + k] = __atomic_fetch_add(p + (T & 1), 1, __ATOMIC_RELAXED);
}

// Sums of floats by key: sixteen keys.
KERNEL(256) void group_by(GLOBAL float *p) {
  u32 i = G * 256 + T;
  NOUNROLL for (int k = 0; k < 8; k++)
    __builtin_amdgcn_global_atomic_fadd_f32(p + 16 * (hash(i + k) & 15), 1.0f);
}

// Sixteen workgroups where 304 would run.
KERNEL(256) void few_groups(GLOBAL float *p) {
  float x = p[T], y = x + 1.0f;
  NOUNROLL for (int k = 0; k < 2000; k++) x = __builtin_fmaf(x, y, 0.25f), y = __builtin_fmaf(y, x, 0.5f);
  p[G * 256 + T] = x + y;
}

static LOCAL u32 scratchpad[12 * 1024];
// 48 KB of LDS for one wave, which reads where it is told to.
KERNEL(64) void private_tables(GLOBAL u32 *p) {
  for (int k = 0; k < 8; k++) scratchpad[T + 64 * k] = k * T;
  u32 at = hash(G * 64 + T), sum = 0;
  NOUNROLL for (int k = 0; k < 40; k++) {
    at = hash(p[at & (4 * MB - 1)] + k);
    sum += scratchpad[at & 511];
    scratchpad[(at >> 9) & 4095] = sum;
  }
  p[G * 64 + T] = sum;
}

static LOCAL float pivot[2];
// One lane eliminates, the others wait for its pivot.
KERNEL(256) void eliminate(GLOBAL float *p) {
  float x = p[T] + 1.0f;
  NOUNROLL for (int k = 0; k < 40; k++) {
    if (T == 0) {
      float y = x;
      NOUNROLL for (int n = 0; n < 60; n++) y = y * 0.99f + 0.01f;
      pivot[0] = y;
    }
    barrier();
    x -= pivot[0] * 0.001f;
    barrier();
  }
  p[G * 256 + T] = x;
}

// A machine of states, one for the wave.
KERNEL(64) void automaton(GLOBAL u32 *p) {
  u32 state = G * 7 + 3, seen = 0;
  NOUNROLL for (int k = 0; k < 500; k++) {
    state = state & 1 ? 3 * state + 1 : state >> 1;
    seen += state & 0xff;
    state ^= seen << 3;
  }
  p[G * 64 + T] = seen;
}

#define S1(i) x = __builtin_fmaf(y, x, (float)(i) * 0.0173f);
#define S8(i) S1(i) S1(i + 1) S1(i + 2) S1(i + 3) S1(i + 4) S1(i + 5) S1(i + 6) S1(i + 7)
#define S64(i) S8(i) S8(i + 8) S8(i + 16) S8(i + 24) S8(i + 32) S8(i + 40) S8(i + 48) S8(i + 56)
#define S512(i) S64(i) S64(i + 64) S64(i + 128) S64(i + 192) S64(i + 256) S64(i + 320) S64(i + 384) S64(i + 448)
#define S4096(i) S512(i) S512(i + 512) S512(i + 1024) S512(i + 1536) S512(i + 2048) S512(i + 2560) S512(i + 3072) S512(i + 3584)
// 16,384 steps of generated code, each with a number of its own.
KERNEL(64) void generated(GLOBAL float *p) {
  float x = p[T], y = p[T + 64];
  S4096(1) S4096(5001) S4096(10001) S4096(15001)
  p[G * 64 + T] = x;
}

// A step of a simulation of 1,024 particles.
KERNEL(256) void small_step(GLOBAL float *p) {
  float x = p[G * 256 + T];
  for (int k = 0; k < 8; k++) x = x * 0.99f + 0.01f;
  p[G * 256 + T] = x;
}
