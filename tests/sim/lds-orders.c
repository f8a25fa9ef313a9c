// Right kernels whose wavefronts are put in order by LDS without barriers, for strict mode's tests: as tests/sim/orders.c.
#include "../../examples/kernel.h"

#define WORKGROUP __MEMORY_SCOPE_WRKGRP
#define LOAD(p, o) __scoped_atomic_load_n(p, __ATOMIC_##o, WORKGROUP)
#define STORE(p, v, o) __scoped_atomic_store_n(p, v, __ATOMIC_##o, WORKGROUP)
#define ADD(p, v, o) __scoped_atomic_fetch_add(p, v, __ATOMIC_##o, WORKGROUP)
#define ID \
  uint id = local_id(), lane = id & 63, wave = __builtin_amdgcn_readfirstlane(id >> 6)

/* Lock in LDS, one lane a wavefront. */
KERNEL void lds_lock(GLOBAL uint *out, GLOBAL uint *w) {
  SHARED uint lock, sum; ID;
  if (id == 0) { lock = 0; sum = 0; }
  barrier();
  if (lane == 0) {
    for (;;) { uint z = 0; if (__scoped_atomic_compare_exchange_n(&lock, &z, 1u, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, WORKGROUP)) break; __builtin_amdgcn_s_sleep(1); }
    sum = sum * 3 + wave;
    STORE(&lock, 0u, RELEASE);
  }
  barrier();
  out[group_id() * 256 + id] = sum;
}

KERNEL void lds_swap_lock(GLOBAL uint *out, GLOBAL uint *w) {
  SHARED uint lock, sum; ID;
  if (id == 0) { lock = 0; sum = 0; }
  barrier();
  if (lane == 0) for (int k = 0; k < 3; k++) {
    while (__scoped_atomic_exchange_n(&lock, 1u, __ATOMIC_ACQUIRE, WORKGROUP)) __builtin_amdgcn_s_sleep(1);
    sum = sum * 3 + wave;
    STORE(&lock, 0u, RELEASE);
  }
  barrier();
  out[group_id() * 256 + id] = sum;
}

KERNEL void lds_ticket(GLOBAL uint *out, GLOBAL uint *w) {
  SHARED uint next, serving, sum; ID;
  if (id == 0) { next = 0; serving = 0; sum = 0; }
  barrier();
  if (lane == 0) {
    uint my = ADD(&next, 1u, RELAXED);
    while (LOAD(&serving, ACQUIRE) != my) __builtin_amdgcn_s_sleep(1);
    sum = sum * 3 + wave;
    STORE(&serving, my + 1, RELEASE);
  }
  barrier();
  out[group_id() * 256 + id] = sum;
}

/* A barrier of the wavefronts' own, by sense. */
KERNEL void lds_sense(GLOBAL uint *out, GLOBAL uint *w) {
  SHARED uint count, sense; SHARED uint data[256]; ID;
  if (id == 0) { count = 0; sense = 0; }
  barrier();
  uint s = 0, sum = 0;
  for (int k = 0; k < 3; k++) {
    data[id] = id * k;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    s = 1 - s;
    if (lane == 0) {
      if (ADD(&count, 1u, ACQ_REL) == 3) { STORE(&count, 0u, RELAXED); STORE(&sense, s, RELEASE); }
      else while (LOAD(&sense, ACQUIRE) != s) __builtin_amdgcn_s_sleep(1);
    }
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    sum += data[255 - id];
    barrier();
  }
  out[group_id() * 256 + id] = sum;
}

/* Items are taken one by one. */
KERNEL void lds_queue(GLOBAL uint *out, GLOBAL uint *w) {
  SHARED uint next; ID;
  if (id == 0) next = 0;
  barrier();
  for (;;) {
    uint item = 0;
    if (lane == 0) item = ADD(&next, 1u, RELAXED);
    item = __builtin_amdgcn_readfirstlane(item);
    if (item >= 6) break;
    out[group_id() * 384 + item * 64 + lane] = item;
  }
}

/* Producers and a consumer, flag by wavefront. */
KERNEL void lds_gather(GLOBAL uint *out, GLOBAL uint *w) {
  SHARED uint ready[4]; SHARED uint data[256]; ID;
  if (id < 4) ready[id] = 0;
  barrier();
  data[id] = id * 3;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  if (lane == 0) STORE(&ready[wave], 1u, RELEASE);
  if (wave == 0) {
    uint sum = 0;
    for (uint k = 1; k < 4; k++) {
      while (LOAD(&ready[k], ACQUIRE) == 0) __builtin_amdgcn_s_sleep(1);
      sum += data[k * 64 + lane];
    }
    out[group_id() * 64 + lane] = sum;
  }
}

/* Data in global memory, flags in LDS. */
KERNEL void lds_flag_global(GLOBAL uint *out, GLOBAL uint *w) {
  SHARED uint flag; ID;
  if (id == 0) flag = 0;
  barrier();
  if (wave == 1) {
    w[group_id() * 64 + lane] = lane;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    if (lane == 0) STORE(&flag, 1u, RELEASE);
  }
  if (wave == 2) {
    while (LOAD(&flag, ACQUIRE) == 0) __builtin_amdgcn_s_sleep(1);
    out[group_id() * 64 + lane] = w[group_id() * 64 + (63 - lane)];
  }
}

/* Histogram in LDS, zeroed by one wavefront, counted by all, twice. */
KERNEL void lds_histogram(GLOBAL uint *out, GLOBAL uint *w) {
  SHARED uint h[64]; ID;
  for (int k = 0; k < 2; k++) {
    if (wave == 0) h[lane] = 0;
    barrier();
    ADD(&h[(id * 7) & 63], 1u, RELAXED);
    barrier();
    out[group_id() * 256 + id] = h[lane];
    barrier();
  }
}

/* Reduction by atomics with a last wavefront. */
KERNEL void lds_last(GLOBAL uint *out, GLOBAL uint *w) {
  SHARED uint sum, count; ID;
  if (id == 0) { sum = 0; count = 0; }
  barrier();
  ADD(&sum, id, RELAXED);
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup");
  uint n = 0;
  if (lane == 0) n = ADD(&count, 1u, ACQ_REL);
  n = __builtin_amdgcn_readfirstlane(n);
  if (n == 3) out[group_id()] = LOAD(&sum, RELAXED);
}

KERNEL void lds_last_plain(GLOBAL uint *out, GLOBAL uint *w) {
  SHARED uint count; SHARED uint part[256]; ID;
  if (id == 0) count = 0;
  barrier();
  part[id] = id;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  uint n = 0;
  if (lane == 0) n = ADD(&count, 1u, ACQ_REL);
  n = __builtin_amdgcn_readfirstlane(n);
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  if (n == 3) out[group_id() * 64 + lane] = part[lane] + part[lane + 64] + part[lane + 128] + part[lane + 192];
}

/* Max by compare and swap of floats. */
KERNEL void lds_cas(GLOBAL uint *out, GLOBAL uint *w) {
  SHARED uint m; ID;
  if (id == 0) m = 0;
  barrier();
  uint old = m, v = (id * 37) & 1023;
  while (old < v && !__scoped_atomic_compare_exchange_n(&m, &old, v, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED, WORKGROUP)) ;
  barrier();
  out[group_id() * 256 + id] = m;
}

/* Wave 0 sets a value, others wait by polling an atomic. */
KERNEL void lds_poll_atomic(GLOBAL uint *out, GLOBAL uint *w) {
  SHARED uint flag, value; ID;
  if (id == 0) flag = 0;
  barrier();
  if (wave == 0) {
    if (lane == 0) { value = 42; STORE(&flag, 1u, RELEASE); }
  } else {
    if (lane == 0) while (ADD(&flag, 0u, ACQUIRE) == 0) __builtin_amdgcn_s_sleep(1);
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    out[group_id() * 256 + id] = value;
  }
}
