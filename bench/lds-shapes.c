// Kernels whose wavefronts work together through LDS: places that atomics give out, tables, locks, flags.
#include "../examples/kernel.h"

#define WORKGROUP __MEMORY_SCOPE_WRKGRP
#define LDS __attribute__((address_space(3)))

static inline uint add(LDS uint *p, uint n) {
  return __scoped_atomic_fetch_add((uint *)p, n, __ATOMIC_RELAXED, WORKGROUP);
}

/* Rows of 256 sorted by 6 bits: an atomic counts, and gives each its place in its bin. */
KERNEL void counting_sort(GLOBAL uint *out, const GLOBAL uint *in, uint rounds, uint n) {
  SHARED uint count[64], start[64];
  for (uint k = 0; k < rounds; k++) {
    if (local_id() < 64) count[local_id()] = 0;
    barrier();
    uint v = in[(global_id() + k * 64) & (n - 1)], bin = (v >> 4) & 63, at = add(&count[bin], 1);
    barrier();
    if (local_id() == 0)
      for (uint i = 0, sum = 0; i < 64; i++) {
        start[i] = sum;
        sum += count[i];
      }
    barrier();
    out[group_id() * 256 + start[bin] + at] = v;
    barrier();
  }
}

/* What a workgroup finds goes into a list in LDS, and from there to where one atomic of memory says. */
KERNEL void frontier(GLOBAL uint *out, GLOBAL uint *count, const GLOBAL uint *in, uint rounds, uint n) {
  SHARED uint length, base, list[256];
  for (uint k = 0; k < rounds; k++) {
    if (local_id() == 0) length = 0;
    barrier();
    uint v = in[(global_id() + k * 64) & (n - 1)];
    if (v & 1) list[add(&length, 1)] = v;
    barrier();
    if (local_id() == 0)
      base = __scoped_atomic_fetch_add(count, length, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    barrier();
    for (uint i = local_id(); i < length; i += 256) out[(base + i) & 32767] = list[i];
    barrier();
  }
}

/* Two wavefronts fill rings that two others empty: they wait for each other by flags. */
KERNEL void lds_ring(GLOBAL uint *out, const GLOBAL uint *in, uint rounds, uint n) {
  SHARED uint ring[2][4][64], full[2], empty[2];
  uint wave = local_id() >> 6, lane = local_id() & 63, pair = wave & 1, sum = 0;
  if (local_id() < 2) {
    full[local_id()] = 0;
    empty[local_id()] = 0;
  }
  barrier();
  for (uint k = 0; k < rounds; k++)
    if (wave < 2) {
      while (k - __scoped_atomic_load_n((uint *)&empty[pair], __ATOMIC_ACQUIRE, WORKGROUP) >= 4)
        __builtin_amdgcn_s_sleep(1);
      ring[pair][k & 3][lane] = in[(global_id() + k * 64) & (n - 1)];
      __scoped_atomic_store_n((uint *)&full[pair], k + 1, __ATOMIC_RELEASE, WORKGROUP);
    } else {
      while (__scoped_atomic_load_n((uint *)&full[pair], __ATOMIC_ACQUIRE, WORKGROUP) <= k) __builtin_amdgcn_s_sleep(1);
      sum += ring[pair][k & 3][lane ^ 1];
      __scoped_atomic_store_n((uint *)&empty[pair], k + 1, __ATOMIC_RELEASE, WORKGROUP);
    }
  if (wave >= 2) out[global_id()] = sum;
}

/* Each wavefront loads its part of a tile into LDS, and a counter there says when all of it has come. */
KERNEL void lds_arrivals(GLOBAL uint *out, const GLOBAL uint *in, uint rounds, uint n) {
  SHARED uint tile[16][256], arrived;
  uint sum = 0;
  if (local_id() == 0) arrived = 0;
  barrier();
  for (uint k = 0; k < rounds; k++) {
    uint to = __builtin_amdgcn_readfirstlane((uint)(LDS uint *)&tile[k & 15][local_id() & 192]);
    const GLOBAL uint *from = &in[(global_id() + k * 64) & (n - 1)];
    __asm volatile("s_mov_b32 m0, %1\n\ts_nop 0\n\tglobal_load_lds_dword %0, off\n\ts_waitcnt vmcnt(0)"
                   :: "v"(from), "s"(to) : "memory");
    if ((local_id() & 63) == 0) __scoped_atomic_fetch_add((uint *)&arrived, 1, __ATOMIC_RELEASE, WORKGROUP);
    while (__scoped_atomic_load_n((uint *)&arrived, __ATOMIC_ACQUIRE, WORKGROUP) < 4 * (k + 1)) __builtin_amdgcn_s_sleep(1);
    sum += tile[k & 15][255 - local_id()];
  }
  out[global_id()] = sum;
}

/* A table of keys by compare-and-swap, and how often each comes. */
KERNEL void lds_table(GLOBAL uint *out, const GLOBAL uint *in, uint rounds, uint n) {
  SHARED uint keys[512], counts[512];
  for (uint i = local_id(); i < 512; i += 256) keys[i] = counts[i] = 0;
  barrier();
  for (uint k = 0; k < rounds; k++) {
    uint key = ((in[(global_id() + k * 64) & (n - 1)] >> 4) & 127) + 1, at = (key * 2654435761u) >> 23;
    for (;;) {
      uint was = 0;
      __scoped_atomic_compare_exchange_n((uint *)&keys[at], &was, key, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED, WORKGROUP);
      if (was == 0 || was == key) break;
      at = (at + 1) & 511;
    }
    add(&counts[at], 1);
  }
  barrier();
  for (uint i = local_id(); i < 512; i += 256) out[group_id() * 512 + i] = counts[i];
}

/* One lane of each wavefront adds to four sums under a lock. */
KERNEL void lds_lock(GLOBAL uint *out, const GLOBAL uint *in, uint rounds, uint n) {
  SHARED uint lock, sums[4];
  if (local_id() == 0) lock = 0;
  if (local_id() < 4) sums[local_id()] = 0;
  barrier();
  for (uint k = 0; k < rounds; k++) {
    uint v = in[(global_id() + k * 64) & (n - 1)], was = 0;
    if ((local_id() & 63) != 0) continue;
    while (!__scoped_atomic_compare_exchange_n((uint *)&lock, &was, 1u, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, WORKGROUP))
      was = 0;
    for (uint i = 0; i < 4; i++) sums[i] += v >> i;
    __scoped_atomic_store_n((uint *)&lock, 0u, __ATOMIC_RELEASE, WORKGROUP);
  }
  barrier();
  if (local_id() < 4) out[group_id() * 4 + local_id()] = sums[local_id()];
}

/* The largest of a row: compilers go over the lanes one by one. */
KERNEL void lds_largest(GLOBAL unsigned long *out, const GLOBAL uint *in, uint rounds, uint n) {
  SHARED unsigned long best;
  for (uint k = 0; k < rounds; k++) {
    if (local_id() == 0) best = 0;
    barrier();
    unsigned long v = (unsigned long)in[(global_id() + k * 64) & (n - 1)] << 32 | local_id();
    __scoped_atomic_fetch_max((unsigned long *)&best, v, __ATOMIC_RELAXED, WORKGROUP);
    barrier();
    if (local_id() == 0) out[group_id()] = best;
    barrier();
  }
}

/* Which of 1024 values a workgroup has, and whether any is odd: all who find one say so. */
KERNEL void lds_marks(GLOBAL uint *out, const GLOBAL uint *in, uint each, uint n) {
  SHARED unsigned char has[1024];
  SHARED uint isAny;
  uint sum = 0;
  for (uint k = 0; k < each; k++) {
    ((LDS uint *)has)[local_id()] = 0;
    if (local_id() == 0) isAny = 0;
    barrier();
    for (uint i = 0; i < 4; i++) {
      uint v = in[(global_id() + k * 64 + i * 256) & (n - 1)];
      has[v & 1023] = 1;
      if (v & 1024) isAny = 1;
    }
    barrier();
    sum += has[local_id() * 4] + isAny;
    barrier();
  }
  out[global_id()] = sum;
}

/* Tiles that are stored by columns and read by rows. */
KERNEL void columns(GLOBAL uint *out, const GLOBAL uint *in, uint each, uint n) {
  SHARED uint tile[32 * 33];
  uint x = local_id() & 31, y = local_id() >> 5, g = group_id() * 1024;
  for (uint k = 0; k < each; k++) {
    for (uint j = 0; j < 32; j += 8) tile[x * 33 + y + j] = in[(g + (y + j) * 32 + x + k * 64) & (n - 1)];
    barrier();
    for (uint j = 0; j < 32; j += 8) out[g + (y + j) * 32 + x] = tile[(y + j) * 33 + x];
    barrier();
  }
}
