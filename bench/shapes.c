// Kernels of many shapes, for benchmarks of checks and tools: what programs do between loads, LDS, atomics and barriers.
#include "../examples/kernel.h"

static inline void add_local(__attribute__((address_space(3))) uint *p, uint n) {
  __scoped_atomic_fetch_add((uint *)p, n, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
}

/* Bins in LDS by atomics, one global atomic a bin at the end. */
KERNEL void histogram(GLOBAL uint *bins, const GLOBAL uint *data, uint each) {
  SHARED uint local[256];
  for (uint i = local_id(); i < 256; i += local_size()) local[i] = 0;
  barrier();
  for (uint k = 0; k < each; k++) add_local(&local[data[(group_id() * each + k) * local_size() + local_id()] & 255], 1u);
  barrier();
  for (uint i = local_id(); i < 256; i += local_size())
    __scoped_atomic_fetch_add((uint *)&bins[i], local[i], __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

/* A row a workgroup: maximum and sum by trees in LDS. */
KERNEL void softmax(GLOBAL float *out, const GLOBAL float *in, uint columns) {
  SHARED float part[256];
  uint id = local_id();
  const GLOBAL float *row = in + group_id() * columns;
  float most = -1e30f;
  for (uint i = id; i < columns; i += 256) most = __builtin_fmaxf(most, row[i]);
  part[id] = most;
  barrier();
  for (uint half = 128; half > 0; half /= 2) {
    if (id < half) part[id] = __builtin_fmaxf(part[id], part[id + half]);
    barrier();
  }
  most = part[0];
  barrier();
  float sum = 0.0f;
  for (uint i = id; i < columns; i += 256) sum += __builtin_amdgcn_exp2f((row[i] - most) * 1.442695f);
  part[id] = sum;
  barrier();
  for (uint half = 128; half > 0; half /= 2) {
    if (id < half) part[id] += part[id + half];
    barrier();
  }
  float scale = 1.0f / part[0];
  for (uint i = id; i < columns; i += 256)
    out[group_id() * columns + i] = __builtin_amdgcn_exp2f((row[i] - most) * 1.442695f) * scale;
}

/* 32 × 32 tiles through LDS, 256 work-items. */
KERNEL void transpose(GLOBAL uint *out, const GLOBAL uint *in, uint n) {
  SHARED uint tile[32][33];
  uint x = local_id() & 31, y = local_id() >> 5, tiles = n / 32, bx = group_id() % tiles, by = group_id() / tiles;
  for (uint k = 0; k < 32; k += 8) tile[y + k][x] = in[(by * 32 + y + k) * n + bx * 32 + x];
  barrier();
  for (uint k = 0; k < 32; k += 8) out[(bx * 32 + y + k) * n + by * 32 + x] = tile[x][y + k];
}

/* Every work-item reads where an index says, and writes where another says (no two to one place). */
KERNEL void scatter(GLOBAL uint *out, const GLOBAL uint *in, uint each, uint n) {
  for (uint k = 0; k < each; k++) {
    uint i = (group_id() * each + k) * local_size() + local_id();
    out[i * 2654435761u & (n - 1)] = in[(i * 40503u + 7) & (n - 1)] + i;
  }
}

/* Rows of different lengths, one work-item each. */
KERNEL void rows(GLOBAL float *out, const GLOBAL float *values, const GLOBAL uint *columns, uint n) {
  uint row = global_id();
  float sum = 0.0f;
  for (uint k = 0; k < 4 + row % 61; k++) sum += values[(row * 64 + k) & (n - 1)] * values[columns[(row * 64 + k) & (n - 1)] & (n - 1)];
  out[row] = sum;
}

/* A bitonic sort in LDS: many barriers, half of the lanes at a time. */
KERNEL void sort(GLOBAL uint *data) {
  SHARED uint keys[512];
  uint id = local_id();
  for (uint i = id; i < 512; i += 256) keys[i] = data[group_id() * 512 + i] * 2654435761u;
  barrier();
  for (uint size = 2; size <= 512; size *= 2) {
    for (uint stride = size / 2; stride > 0; stride /= 2) {
      uint a = 2 * id - (id & (stride - 1)), b = a + stride;
      uint x = keys[a], y = keys[b];
      if ((x > y) == ((a & size) == 0)) {
        keys[a] = y;
        keys[b] = x;
      }
      barrier();
    }
  }
  for (uint i = id; i < 512; i += 256) data[group_id() * 512 + i] = keys[i];
}

/* A product of matrices without matrix instructions: 16 × 16 tiles of both in LDS. */
KERNEL void product(GLOBAL float *c, const GLOBAL float *a, const GLOBAL float *b, uint n) {
  SHARED float left[16][16];
  SHARED float right[16][17];
  uint x = local_id() & 15, y = local_id() >> 4, tiles = n / 16;
  uint row = group_id() / tiles * 16 + y, column = group_id() % tiles * 16 + x;
  float sum = 0.0f;
  for (uint k = 0; k < n; k += 16) {
    left[y][x] = a[row * n + k + x];
    right[y][x] = b[(k + y) * n + column];
    barrier();
    for (uint i = 0; i < 16; i++) sum += left[y][i] * right[i][x];
    barrier();
  }
  c[row * n + column] = sum;
}

/* Branches on values: the lanes part and meet, and the wavefronts run long. */
KERNEL void collatz(GLOBAL uint *out, uint n) {
  uint x = global_id() * 2654435761u + 12345u, steps = 0;
  while (steps < n && x != 1) {
    if (x & 1) x = x * 3 + 1;
    else if (x & 2) x = (x >> 1) ^ (x << 3);
    else x >>= 2;
    steps++;
  }
  out[global_id()] = steps;
}

/* The same for all lanes: scalar loads and branches. */
KERNEL void scalars(GLOBAL uint *out, const GLOBAL uint *table, uint n) {
  uint at = group_id(), sum = 0;
  for (uint k = 0; k < n; k++) {
    uint entry = table[at & 1023];
    if (entry & 1) sum += entry;
    else if (entry & 2) sum ^= entry << 3;
    else sum = sum * 5 + 1;
    at = at * 5 + entry + 1;
  }
  out[global_id()] = sum;
}

/* Bytes: loads and stores of parts of a dword. */
KERNEL void bytes(GLOBAL unsigned char *out, const GLOBAL unsigned char *in, uint each) {
  for (uint k = 0; k < each; k++) {
    uint i = (group_id() * each + k) * local_size() + local_id();
    out[i] = (unsigned char)(in[i] * 3 + in[i ^ 1]);
  }
}

/* A private array that values index: scratch. */
KERNEL void scratch(GLOBAL uint *out, const GLOBAL uint *in, uint rounds) {
  uint values[16], sum = 0;
  for (uint k = 0; k < 16; k++) values[k] = in[global_id() * 16 + k];
  for (uint n = 0; n < rounds; n++)
    for (uint k = 0; k < 16; k++) {
      sum = sum * 3 + values[(sum + k) & 15];
      values[(sum >> 4) & 15] ^= sum;
    }
  out[global_id()] = sum;
}

/* Where values say, again and again: a table that all read. */
KERNEL void gather(GLOBAL uint *out, const GLOBAL uint *table, uint rounds, uint n) {
  uint at = global_id() * 2654435761u, sum = 0;
  for (uint k = 0; k < rounds; k++) sum += table[(at = at * 1664525u + 1013904223u) >> 8 & (n - 1)];
  out[global_id()] = sum;
}

/* The same of 16 bytes at a time. */
KERNEL void gather_wide(GLOBAL float *out, const GLOBAL float *table, uint rounds, uint n) {
  typedef float four __attribute__((ext_vector_type(4)));
  uint at = global_id() * 2654435761u;
  four sum = 0.0f;
  for (uint k = 0; k < rounds; k++) sum += ((const GLOBAL four *)table)[(at = at * 1664525u + 1013904223u) >> 8 & (n - 1)];
  out[global_id()] = sum.x + sum.y + sum.z + sum.w;
}

/* A table of bytes, as quantised weights and byte classes have it. */
KERNEL void lookup(GLOBAL unsigned char *out, const GLOBAL unsigned char *in, const GLOBAL unsigned char *table, uint each) {
  for (uint k = 0; k < each; k++) {
    uint i = (group_id() * each + k) * local_size() + local_id();
    out[i] = table[in[i]];
  }
}

/* Structures of three words, a member at a time. */
KERNEL void members(GLOBAL float *out, const GLOBAL float *in, uint each) {
  for (uint k = 0; k < each; k++) {
    uint i = (group_id() * each + k) * local_size() + local_id();
    float x = in[3 * i], y = in[3 * i + 1], z = in[3 * i + 2];
    out[3 * i] = y;
    out[3 * i + 1] = z;
    out[3 * i + 2] = x;
  }
}

/* Bytes to where a number says: several wavefronts have bytes of one dword. */
KERNEL void scatter_bytes(GLOBAL unsigned char *out, const GLOBAL unsigned char *in, uint each, uint n) {
  for (uint k = 0; k < each; k++) {
    uint i = (group_id() * each + k) * local_size() + local_id();
    out[i * 2654435761u & (n - 1)] = in[i];
  }
}

/* Words are changed where they are, in no order. */
KERNEL void in_place(GLOBAL uint *data, uint each, uint n) {
  for (uint k = 0; k < each; k++) {
    uint i = ((group_id() * each + k) * local_size() + local_id()) * 2654435761u & (n - 1);
    data[i] = data[i] * 3 + 1;
  }
}

/* Bins in global memory by atomics, without LDS. */
KERNEL void bins(GLOBAL uint *out, const GLOBAL uint *data, uint each) {
  for (uint k = 0; k < each; k++) {
    uint value = data[(group_id() * each + k) * local_size() + local_id()] * 2654435761u;
    __scoped_atomic_fetch_add((uint *)&out[value >> 20], 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  }
}

/* A table in LDS that all wavefronts read where values say. */
KERNEL void lds_gather(GLOBAL uint *out, const GLOBAL uint *in, uint rounds) {
  SHARED uint table[2048];
  for (uint i = local_id(); i < 2048; i += local_size()) table[i] = in[i];
  barrier();
  uint at = global_id() * 2654435761u, sum = 0;
  for (uint k = 0; k < rounds; k++) sum += table[(at = at * 1664525u + 1013904223u) >> 21];
  out[global_id()] = sum;
}

/* Places in bins of LDS: atomics that return them. */
KERNEL void lds_places(GLOBAL uint *out, const GLOBAL uint *in, uint rounds) {
  SHARED uint bins[64];
  uint id = local_id(), sum = 0;
  if (id < 64) bins[id] = 0;
  barrier();
  for (uint k = 0; k < rounds; k++)
    sum += __scoped_atomic_fetch_add(&bins[in[(id + k * 256) & 16383] & 63], 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  out[global_id()] = sum;
}

/* The same in memory. */
KERNEL void places(GLOBAL uint *out, GLOBAL uint *bins, uint rounds) {
  uint sum = 0;
  for (uint k = 0; k < rounds; k++)
    sum += __scoped_atomic_fetch_add(bins + ((global_id() * 2654435761u + k * 40503u) >> 20), 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  out[global_id()] = sum;
}

/* Sums by compare-and-swap loops. */
KERNEL void swaps(GLOBAL uint *bins, uint rounds) {
  for (uint k = 0; k < rounds; k++) {
    GLOBAL uint *bin = bins + ((global_id() * 2654435761u + k * 40503u) >> 20);
    uint old = *bin, next;
    do next = old * 3 + 1;
    while (!__scoped_atomic_compare_exchange_n(bin, &old, next, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE));
  }
}

/* Workgroups that live long take items from a queue. */
KERNEL void queue(GLOBAL uint *out, const GLOBAL uint *in, GLOBAL uint *next, uint rounds) {
  SHARED uint item;
  for (uint k = 0; k < rounds; k++) {
    barrier();
    if (local_id() == 0) item = __scoped_atomic_fetch_add(next, 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE) & 255;
    barrier();
    uint x = in[item * 64 + (local_id() & 63)];
    for (uint i = 0; i < 50; i++) x = x * 1664525u + 1013904223u;
    out[global_id()] = x;
  }
}

/* Counters of a workgroup's own in memory: set to zero, and counted behind a barrier. */
KERNEL void own_counters(GLOBAL uint *out, const GLOBAL uint *in, uint rounds) {
  GLOBAL uint *counters = out + group_id() * 256;
  for (uint turn = 0; turn < 4; turn++) {
    counters[local_id()] = 0;
    barrier();
    for (uint k = 0; k < rounds; k++)
      __scoped_atomic_fetch_add(counters + (in[(local_id() * 17 + k * 256) & 16383] & 255), 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    barrier();
  }
}

/* Counters of a wavefront's own in LDS. */
KERNEL void wave_counters(GLOBAL uint *out, uint rounds) {
  SHARED uint counters[256];
  uint id = local_id(), sum = 0;
  for (uint k = 0; k < rounds; k++) {
    counters[id] = 0;
    __builtin_amdgcn_wave_barrier();
    __scoped_atomic_fetch_add(&counters[(id & ~63u) + ((id * 5 + k) & 63)], id, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
    __builtin_amdgcn_wave_barrier();
    sum += counters[id];
  }
  out[global_id()] = sum;
}

/* Neighbours in memory change places in turn, with barriers. */
KERNEL void odd_even(GLOBAL uint *out, const GLOBAL uint *in, uint rounds) {
  GLOBAL uint *row = out + group_id() * 512;
  uint id = local_id();
  row[id] = in[id];
  row[id + 256] = in[id + 256];
  barrier();
  for (uint k = 0; k < rounds; k++) {
    uint i = 2 * id + (k & 1);
    if (i + 1 < 512 && row[i] > row[i + 1]) {
      uint first = row[i];
      row[i] = row[i + 1];
      row[i + 1] = first;
    }
    barrier();
  }
}

/* Words of 64 bits sorted in LDS. */
KERNEL void sort_wide(GLOBAL unsigned long *out, const GLOBAL uint *in) {
  SHARED unsigned long keys[512];
  uint id = local_id();
  keys[id] = in[id] * 7919ul;
  keys[id + 256] = in[id + 256] * 104729ul;
  barrier();
  for (uint k = 2; k <= 512; k <<= 1)
    for (uint j = k >> 1; j > 0; j >>= 1) {
      uint a = 2 * id - (id & (j - 1)), b = a + j;
      unsigned long x = keys[a], y = keys[b];
      if ((x > y) == ((a & k) == 0)) {
        keys[a] = y;
        keys[b] = x;
      }
      barrier();
    }
  out[group_id() * 512 + id] = keys[id];
  out[group_id() * 512 + 256 + id] = keys[id + 256];
}

/* A table of 16-bit values in LDS. */
KERNEL void lds_shorts(GLOBAL uint *out, const GLOBAL unsigned short *in, uint rounds) {
  SHARED unsigned short table[1024];
  for (uint i = local_id(); i < 1024; i += local_size()) table[i] = in[i];
  barrier();
  uint at = local_id();
  for (uint k = 0; k < rounds; k++) at = at * 5 + table[(at >> 3) & 1023];
  out[global_id()] = at;
}

/* Pointers that may go to LDS or to memory. */
KERNEL void generic(GLOBAL uint *out, const GLOBAL uint *in, uint rounds, uint n) {
  SHARED uint part[256];
  part[local_id()] = in[global_id()];
  barrier();
  uint sum = 0;
  for (uint k = 0; k < rounds; k++) {
    const uint *p = k & 1 ? (const uint *)in : (const uint *)part;
    uint at = k & 1 ? (global_id() + k * 64) & (n - 1) : (local_id() + k) & 255;
    sum += p[at];
  }
  out[global_id()] = sum;
}

typedef struct { uint kind; float x, y; } item;
static __attribute__((noinline)) float area(const item *it) { return it->kind & 1 ? it->x * it->y : it->x + it->y; }

/* Structures on the stack that a function takes by pointer. */
KERNEL void items(GLOBAL float *out, const GLOBAL float *in, uint rounds, uint n) {
  float sum = 0;
  for (uint k = 0; k < rounds; k++) {
    item it = {k, in[(global_id() + k) & (n - 1)], in[(global_id() * 3 + k) & (n - 1)]};
    sum += area(&it);
  }
  out[global_id()] = sum;
}

/* Lanes of one load that go to LDS and to memory. */
KERNEL void mixed(GLOBAL uint *out, const GLOBAL uint *in, uint rounds) {
  SHARED uint part[256];
  part[local_id()] = in[global_id()];
  barrier();
  uint sum = 0;
  for (uint k = 0; k < rounds; k++) {
    const uint *p = (local_id() + k) & 1 ? (const uint *)in : (const uint *)part;
    sum += p[(local_id() + k) & 255];
  }
  out[global_id()] = sum;
}

static __attribute__((noinline)) uint deep(uint x, uint depth) {
  volatile uint kept[4];
  kept[depth & 3] = x;
  return depth == 0 ? x : deep(x * 3 + 1, depth - 1) + kept[depth & 3];
}

/* Calls that save registers, which nothing may have written, to scratch. */
KERNEL void recursion(GLOBAL uint *out, const GLOBAL uint *in, uint depth) {
  out[global_id()] = deep(in[global_id()], depth);
}

/* Bytes of pixels, three beside each other. */
KERNEL void pixels(GLOBAL unsigned char *out, const GLOBAL unsigned char *in, uint rounds, uint n) {
  for (uint k = 0; k < rounds; k++) {
    uint i = (global_id() + k * 4096) & (n - 1);
    uint sum = in[i] + in[(i + 1) & (n - 1)] + in[(i + 64) & (n - 1)];
    out[3 * i] = sum / 3;
    out[3 * i + 1] = sum & 255;
    out[3 * i + 2] = sum >> 2;
  }
}

/* All workgroups wait for each other, and read what their neighbours have stored. `count` is a multiple of their number. */
KERNEL void heat(GLOBAL float *a, GLOBAL float *b, GLOBAL uint *count, uint groups, uint steps, uint n) {
  uint first = __scoped_atomic_load_n(count, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE) / groups * groups;
  for (uint s = 0; s < steps; s++) {
    GLOBAL float *from = s & 1 ? b : a, *to = s & 1 ? a : b;
    for (uint i = global_id(); i < n; i += groups * 256)
      to[i] = 0.25f * from[(i - 1) & (n - 1)] + 0.5f * from[i] + 0.25f * from[(i + 1) & (n - 1)];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    barrier();
    if (local_id() == 0) {
      __scoped_atomic_fetch_add(count, 1u, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_DEVICE);
      while (__scoped_atomic_load_n(count, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_DEVICE) < first + (s + 1) * groups)
        __builtin_amdgcn_s_sleep(1);
    }
    barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  }
}

/* Every lane adds its value to one sum, and keeps what it finds: compilers go over the lanes one by one. */
KERNEL void one_sum(GLOBAL uint *out, GLOBAL uint *sum, const GLOBAL uint *in, uint rounds, uint n) {
  uint found = 0;
  for (uint k = 0; k < rounds; k++)
    found += __scoped_atomic_fetch_add(sum, in[(global_id() + k * 64) & (n - 1)], __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  out[global_id()] = found;
}

/* Stores of some lanes. */
KERNEL void some(GLOBAL uint *out, const GLOBAL uint *in, uint rounds, uint n) {
  for (uint k = 0; k < rounds; k++) {
    uint v = in[(global_id() + k * 64) & (n - 1)];
    if (v & 3) out[global_id() + (k & 3) * 8192] = v;
  }
}

/* A row of registers of which an index that all lanes share chooses one: s_set_gpr_idx. */
KERNEL void indexed(GLOBAL uint *out, const GLOBAL uint *in, uint rounds, uint n) {
  uint row[16], sum = 0;
#pragma unroll
  for (uint i = 0; i < 16; i++) row[i] = in[(global_id() + i * 64) & (n - 1)];
  for (uint k = 0; k < rounds; k++) row[(k * 5) & 15] += row[k & 15];
#pragma unroll
  for (uint i = 0; i < 16; i++) sum = sum * 31 + row[i];
  out[global_id()] = sum;
}
