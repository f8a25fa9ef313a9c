// Kernels whose workgroups work on the same data: tables, trees, locks, queues, rings and sums.
#include "../examples/kernel.h"

#define DEVICE __MEMORY_SCOPE_DEVICE

static inline uint add(GLOBAL uint *p, uint n) { return __scoped_atomic_fetch_add(p, n, __ATOMIC_RELAXED, DEVICE); }
static inline uint peek(const GLOBAL uint *p) { return __scoped_atomic_load_n(p, __ATOMIC_RELAXED, DEVICE); }

/* All workgroups wait for each other. `count` is a multiple of their number when a dispatch begins. */
static void meet(GLOBAL uint *count, uint arrivals) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  barrier();
  if (local_id() == 0) {
    __scoped_atomic_fetch_add(count, 1u, __ATOMIC_ACQ_REL, DEVICE);
    while (__scoped_atomic_load_n(count, __ATOMIC_ACQUIRE, DEVICE) < arrivals) __builtin_amdgcn_s_sleep(1);
  }
  barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
}

/* Keys go into a hash table, from the second dispatch on they are there; a full table has no place for any. */
KERNEL void insert(GLOBAL uint *table, const GLOBAL uint *in, uint each, uint n) {
  for (uint k = 0; k < each; k++) {
    uint key = (in[(global_id() + k * 4096) & (n - 1)] & 2047) + 1, slot = (key * 2654435761u) >> 20;
    for (uint t = 0; t < 64; t++, slot = (slot + 1) & 4095) {
      uint was = 0;
      if (__scoped_atomic_compare_exchange_n(&table[slot], &was, key, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED, DEVICE) ||
          was == key)
        break;
    }
  }
}

/* Sets are united by their roots: `parent` is 0 for a root, and one more than the parent else. */
KERNEL void unite(GLOBAL uint *parent, const GLOBAL uint *in, uint each, uint n) {
  for (uint k = 0; k < each; k++) {
    uint i = global_id() * 2 + k * 512, a = in[i & (n - 1)] & 4095, b = in[(i + 1) & (n - 1)] & 4095;
    for (uint t = 0; t < 32; t++) {
      uint up;
      while ((up = peek(&parent[a])) != 0) a = up - 1;
      while ((up = peek(&parent[b])) != 0) b = up - 1;
      if (a == b) break;
      if (a < b) {
        uint other = a;
        a = b;
        b = other;
      }
      uint was = 0;
      if (__scoped_atomic_compare_exchange_n(&parent[a], &was, b + 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED, DEVICE))
        break;
    }
  }
}

/* Four workgroups make parts of a tile, the last one of them adds these. */
KERNEL void split_k(GLOBAL float *parts, GLOBAL float *out, GLOBAL uint *done, const GLOBAL float *in, uint each, uint n) {
  SHARED uint last;
  float sum = 0;
  for (uint k = 0; k < each; k++) sum += in[(global_id() + k * 64) & (n - 1)] * in[(k * 7 + local_id()) & (n - 1)];
  uint tile = group_id() & 3;
  parts[group_id() * 256 + local_id()] = sum;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  barrier();
  if (local_id() == 0) last = (__scoped_atomic_fetch_add(&done[tile * 64], 1u, __ATOMIC_ACQ_REL, DEVICE) & 3) == 3;
  barrier();
  if (!last) return;
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  sum = 0;
  for (uint g = 0; g < 4; g++) sum += parts[(g * 4 + tile) * 256 + local_id()];
  out[tile * 256 + local_id()] = sum;
}

/* Every second workgroup hands rows to the next one, which says when it has read them; `flags` has 64 for a pair. */
KERNEL void ring(GLOBAL uint *data, GLOBAL uint *out, GLOBAL uint *flags, const GLOBAL uint *in, uint each) {
  SHARED uint before;
  uint pair = group_id() >> 1, isReader = group_id() & 1;
  GLOBAL uint *flag = flags + pair * 64, *row = data + pair * 256;
  if (local_id() == 0) before = peek(flag + 32 + isReader);
  barrier();
  uint first = before;
  for (uint k = 1; k <= each; k++) {
    uint wanted = isReader ? first + k : first + k - 1;
    if (local_id() == 0 && (isReader || k > 1))
      while (__scoped_atomic_load_n(flag + !isReader, __ATOMIC_ACQUIRE, DEVICE) < wanted) __builtin_amdgcn_s_sleep(1);
    barrier();
    if (isReader) out[pair * 256 + local_id()] = row[local_id()];
    else row[local_id()] = in[local_id() + k];
    barrier();
    if (local_id() == 0) __scoped_atomic_store_n(flag + isReader, first + k, __ATOMIC_RELEASE, DEVICE);
  }
  barrier();
  if (local_id() == 0) __scoped_atomic_store_n(flag + 32 + isReader, first + each, __ATOMIC_RELAXED, DEVICE);
}

/* One lane of each workgroup adds to 8 counters, under one lock of 16 after the other. */
KERNEL void locks(GLOBAL uint *data, const GLOBAL uint *in, uint each) {
  if (local_id() != 0) return;
  for (uint k = 0; k < each; k++) {
    GLOBAL uint *lock = data + 64 * ((group_id() + k) & 15);
    uint was = 0;
    while (!__scoped_atomic_compare_exchange_n(lock, &was, 1u, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, DEVICE)) was = 0;
    for (uint q = 1; q < 9; q++) lock[q] += in[q + k];
    __scoped_atomic_store_n(lock, 0u, __ATOMIC_RELEASE, DEVICE);
  }
}

/* Levels of a search: what one puts into a queue, all read behind a barrier of the grid. */
KERNEL void levels(GLOBAL uint *queues, GLOBAL uint *out, GLOBAL uint *counts, const GLOBAL uint *in, uint n) {
  uint first = peek(counts) / 16 * 16;
  for (uint s = 0; s < 3; s++) {
    uint v = in[(global_id() + s * 4096) & (n - 1)];
    if (v & 1) queues[s * 8192 + (add(counts + 64 + s, 1) & 8191)] = v;
    meet(counts, first + (s + 1) * 16);
    uint had = peek(counts + 64 + s), sum = 0;
    for (uint i = global_id(); i < (had < 8192 ? had : 8192); i += 4096) sum += queues[s * 8192 + i];
    out[global_id()] = sum;
  }
}

/* Sums of clusters by atomics of floats, and a barrier of the grid before they are read. */
KERNEL void means(GLOBAL float *sums, GLOBAL float *out, GLOBAL uint *count, const GLOBAL uint *in, uint n) {
  uint first = peek(count) / 16 * 16;
  float x = in[global_id() & (n - 1)] & 1023;
  for (uint s = 0; s < 3; s++) {
    GLOBAL float *sum = sums + s * 64 + ((uint)x & 31);
    __scoped_atomic_fetch_add(sum, x, __ATOMIC_RELAXED, DEVICE);
    __scoped_atomic_fetch_add(sum + 32, 1.0f, __ATOMIC_RELAXED, DEVICE);
    meet(count, first + (s + 1) * 16);
    x += sum[0] / sum[32] * 0.001f;
  }
  out[global_id()] = x;
}

/* Elements of 16 bits. */
KERNEL void halves(GLOBAL _Float16 *out, const GLOBAL _Float16 *in, uint each, uint n) {
  for (uint k = 0; k < each; k++) {
    uint i = (global_id() + k * 4096) & (n - 1);
    out[i] = in[i] * (_Float16)3.0f + in[(i + 1) & (n - 1)];
  }
}

typedef struct {
  unsigned short a;
  unsigned char b, c;
  float d;
} record;

/* Records of several small members. */
KERNEL void records(GLOBAL record *out, const GLOBAL record *in, uint each, uint n) {
  for (uint k = 0; k < each; k++) {
    uint i = (global_id() + k * 4096) & (n - 1);
    record r = in[i];
    r.a += r.b;
    r.c ^= (unsigned char)k;
    r.d += 1.0f;
    out[i] = r;
  }
}

/* A round of a search: what is reached is marked, in bytes and in words, and a flag says that something was. */
KERNEL void marks(GLOBAL unsigned char *seen, GLOBAL uint *level, GLOBAL uint *changed, const GLOBAL uint *in, uint each, uint n) {
  for (uint k = 0; k < each; k++) {
    uint v = in[(global_id() + k * 64) & (n - 1)];
    seen[v & 4095] = 1;
    level[(v >> 12) & 4095] = 7;
    if (v & 1) *changed = 1;
  }
}

static inline uint groups(void) { return __builtin_amdgcn_grid_size_x() / local_size(); }

/* Rows that workgroups smooth, with those of their neighbours, between barriers of the grid. */
KERNEL void smooth(GLOBAL float *a, GLOBAL float *b, GLOBAL uint *count) {
  uint all = groups(), total = all * local_size(), i = global_id(), first = peek(count) / all * all;
  for (uint s = 0; s < 4; s++) {
    GLOBAL float *from = s & 1 ? b : a, *to = s & 1 ? a : b;
    to[i] = 0.5f * from[i] + 0.25f * (from[(i + 1) % total] + from[(i + total - 1) % total]);
    meet(count, first + (s + 1) * all);
  }
}

/* The same where the last workgroup that comes to a barrier lets the others go on. */
KERNEL void smooth_by_flag(GLOBAL float *a, GLOBAL float *b, GLOBAL uint *count, GLOBAL uint *flag) {
  uint all = groups(), total = all * local_size(), i = global_id();
  for (uint s = 0; s < 4; s++) {
    GLOBAL float *from = s & 1 ? b : a, *to = s & 1 ? a : b;
    to[i] = 0.5f * from[i] + 0.25f * (from[(i + 1) % total] + from[(i + total - 1) % total]);
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    barrier();
    if (local_id() == 0) {
      uint was = peek(flag);
      if (__scoped_atomic_fetch_add(count, 1u, __ATOMIC_ACQ_REL, DEVICE) == all - 1) {
        __scoped_atomic_store_n(count, 0u, __ATOMIC_RELAXED, DEVICE);
        __scoped_atomic_fetch_add(flag, 1u, __ATOMIC_RELEASE, DEVICE);
      } else while (__scoped_atomic_load_n(flag, __ATOMIC_ACQUIRE, DEVICE) == was) __builtin_amdgcn_s_sleep(1);
    }
    barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  }
}

/* Workgroups in a row hand theirs on, and wait until it has been taken; all lanes look at the flags. */
KERNEL void hand_on(GLOBAL uint *row, GLOBAL uint *flag, uint each) {
  GLOBAL uint *full = flag + group_id() * 32, *taken = full + 16;
  uint first = peek(full), last = groups() - 1, g = group_id();
  for (uint k = 1; k <= each; k++) {
    uint x = k;
    if (g > 0) {
      while (__scoped_atomic_load_n(full - 32, __ATOMIC_ACQUIRE, DEVICE) < first + k) __builtin_amdgcn_s_sleep(1);
      x = row[(g - 1) * 256 + local_id()] * 3 + k;
      barrier();
      if (local_id() == 0) __scoped_atomic_store_n(taken - 32, first + k, __ATOMIC_RELEASE, DEVICE);
    }
    row[g * 256 + local_id()] = x;
    barrier();
    if (local_id() == 0) __scoped_atomic_store_n(full, first + k, __ATOMIC_RELEASE, DEVICE);
    if (g < last) while (__scoped_atomic_load_n(taken, __ATOMIC_ACQUIRE, DEVICE) < first + k) __builtin_amdgcn_s_sleep(1);
  }
}
