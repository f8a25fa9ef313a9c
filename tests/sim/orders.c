// Right kernels whose workgroups and wavefronts are put in order by other means than barriers alone, for strict mode's tests. Each runs with four workgroups
// of 256 work-items, `out` of 8 KB and `w` of 4 KB, all zeros.
#include "../../examples/kernel.h"

#define DEVICE __MEMORY_SCOPE_DEVICE
#define WORKGROUP __MEMORY_SCOPE_WRKGRP
#define LOAD(p, o) __scoped_atomic_load_n(p, __ATOMIC_##o, DEVICE)
#define STORE(p, v, o) __scoped_atomic_store_n(p, v, __ATOMIC_##o, DEVICE)
#define ADD(p, v, o) __scoped_atomic_fetch_add(p, v, __ATOMIC_##o, DEVICE)

/* Block 0 initialises, hands over by a flag, all count. */
KERNEL void init_flag(GLOBAL uint *out, GLOBAL uint *w) {
  if (group_id() == 0) {
    if (local_id() == 0) { w[0] = 7; STORE(w + 1, 1u, RELEASE); }
    barrier();
  } else {
    if (local_id() == 0) while (LOAD(w + 1, ACQUIRE) == 0) __builtin_amdgcn_s_sleep(1);
    barrier();
  }
  ADD(w, 1u, RELAXED);
}

/* The same; the first one counts before the flag, too. */
KERNEL void init_flag2(GLOBAL uint *out, GLOBAL uint *w) {
  if (group_id() == 0) {
    if (local_id() == 0) { w[0] = 7; ADD(w, 1u, RELAXED); STORE(w + 1, 1u, RELEASE); }
  } else if (local_id() == 0) {
    while (LOAD(w + 1, ACQUIRE) == 0) __builtin_amdgcn_s_sleep(1);
    ADD(w, 1u, RELAXED);
  }
}

/* Zero, grid barrier, count, grid barrier, read. */
static void grid_barrier(GLOBAL uint *count, uint arrivals) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  barrier();
  if (local_id() == 0) {
    ADD(count, 1u, ACQ_REL);
    while (LOAD(count, ACQUIRE) < arrivals) __builtin_amdgcn_s_sleep(1);
  }
  barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
}

KERNEL void zero_count(GLOBAL uint *out, GLOBAL uint *w) {
  if (group_id() == 0) w[64 + local_id()] = 0;
  grid_barrier(w, 4);
  ADD(w + 64 + (local_id() * 7 & 63), 1u, RELAXED);
  grid_barrier(w, 8);
  out[global_id()] = w[64 + local_id()];
}

/* Sense barrier: the last one resets the count. */
KERNEL void sense(GLOBAL uint *out, GLOBAL uint *w) {
  uint s = 0;
  for (int k = 0; k < 3; k++) {
    out[global_id()] = k + out[global_id()];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    barrier();
    if (local_id() == 0) {
      s = 1 - s;
      if (ADD(w, 1u, ACQ_REL) == 3) { STORE(w, 0u, RELAXED); STORE(w + 1, s, RELEASE); }
      else while (LOAD(w + 1, ACQUIRE) != s) __builtin_amdgcn_s_sleep(1);
    }
    barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  }
}

KERNEL void ticket(GLOBAL uint *out, GLOBAL uint *w) {
  if (local_id() != 0) return;
  for (int k = 0; k < 2; k++) {
    uint my = ADD(w, 1u, RELAXED);
    while (LOAD(w + 1, ACQUIRE) != my) __builtin_amdgcn_s_sleep(1);
    out[0] = out[0] * 3 + my;
    STORE(w + 1, my + 1, RELEASE);
  }
}

KERNEL void swap_lock(GLOBAL uint *out, GLOBAL uint *w) {
  if (local_id() != 0) return;
  for (int k = 0; k < 3; k++) {
    while (__scoped_atomic_exchange_n(w, 1u, __ATOMIC_ACQUIRE, DEVICE)) __builtin_amdgcn_s_sleep(1);
    out[0] = out[0] * 3 + group_id();
    STORE(w, 0u, RELEASE);
  }
}

KERNEL void or_lock(GLOBAL uint *out, GLOBAL uint *w) {
  if (local_id() != 0) return;
  for (int k = 0; k < 2; k++) {
    while (__scoped_atomic_fetch_or(w, 1u, __ATOMIC_ACQUIRE, DEVICE) & 1) __builtin_amdgcn_s_sleep(1);
    out[0] = out[0] * 3 + group_id();
    __scoped_atomic_fetch_and(w, ~1u, __ATOMIC_RELEASE, DEVICE);
  }
}

KERNEL void or_lock_store(GLOBAL uint *out, GLOBAL uint *w) {
  if (local_id() != 0) return;
  for (int k = 0; k < 2; k++) {
    while (__scoped_atomic_fetch_or(w, 1u, __ATOMIC_ACQUIRE, DEVICE) & 1) __builtin_amdgcn_s_sleep(1);
    out[0] = out[0] * 3 + group_id();
    STORE(w, 0u, RELEASE);
  }
}

KERNEL void cas_lock(GLOBAL uint *out, GLOBAL uint *w) {
  if (local_id() != 0) return;
  for (int k = 0; k < 3; k++) {
    for (;;) { uint z = 0; if (__scoped_atomic_compare_exchange_n(w, &z, 1u, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, DEVICE)) break; __builtin_amdgcn_s_sleep(1); }
    out[0] = out[0] * 3 + group_id();
    STORE(w, 0u, RELEASE);
  }
}

/* Test-and-test-and-set by wavefronts of several groups. */
KERNEL void ttas(GLOBAL uint *out, GLOBAL uint *w) {
  if ((local_id() & 63) != 0) return;
  for (;;) {
    while (LOAD(w, RELAXED)) __builtin_amdgcn_s_sleep(1);
    if (!__scoped_atomic_exchange_n(w, 1u, __ATOMIC_ACQUIRE, DEVICE)) break;
  }
  out[0] = out[0] * 3 + group_id();
  STORE(w, 0u, RELEASE);
}

/* Stack of nodes: push. */
KERNEL void push(GLOBAL uint *out, GLOBAL uint *w) {
  uint node = global_id() + 1;
  if (local_id() >= 4) return;
  uint head = LOAD(w, RELAXED);
  for (;;) {
    out[node] = head;
    if (__scoped_atomic_compare_exchange_n(w, &head, node, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED, DEVICE)) break;
  }
}

/* Float atomic max by compare and swap, cells set in the same group before a barrier. */
KERNEL void own_cells(GLOBAL uint *out, GLOBAL uint *w) {
  GLOBAL uint *cells = w + 64 * group_id();
  if (local_id() < 64) cells[local_id()] = 0;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  barrier();
  ADD(cells + (local_id() * 5 & 63), local_id(), RELAXED);
  barrier();
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
  out[global_id()] = LOAD(cells + (local_id() & 63), RELAXED);
}

/* Mailboxes: one group sends to the next by exchange polling. */
KERNEL void mail(GLOBAL uint *out, GLOBAL uint *w) {
  if (local_id() != 0) return;
  uint g = group_id(), v = 1;
  if (g > 0) while ((v = __scoped_atomic_exchange_n(w + g, 0u, __ATOMIC_ACQUIRE, DEVICE)) == 0) __builtin_amdgcn_s_sleep(1);
  if (g > 0) v += out[g - 1];
  out[g] = v;
  STORE(w + g + 1, v, RELEASE);
}

/* Work queue: take items until none is left; the last group resets. */
KERNEL void queue(GLOBAL uint *out, GLOBAL uint *w) {
  SHARED uint item;
  for (;;) {
    barrier();
    if (local_id() == 0) item = ADD(w, 1u, RELAXED);
    barrier();
    if (item >= 12) break;
    out[item * 64 + (local_id() & 63)] = item;
  }
  if (local_id() == 0 && ADD(w + 1, 1u, ACQ_REL) == 3) { STORE(w, 0u, RELAXED); STORE(w + 1, 0u, RELAXED); }
}

/* LDS histogram, zeroed, counted, private to each wavefront, then added up. */
KERNEL void lds_private(GLOBAL uint *out, GLOBAL uint *w) {
  SHARED uint h[4][64];
  uint id = local_id(), lane = id & 63, wave = id >> 6;
  h[wave][lane] = 0;
  __builtin_amdgcn_wave_barrier();
  __scoped_atomic_fetch_add(&h[wave][(lane * 3) & 31], 1u, __ATOMIC_RELAXED, WORKGROUP);
  barrier();
  if (id < 64) ADD(out + id, h[0][id] + h[1][id] + h[2][id] + h[3][id], RELAXED);
}

/* Counter zeroed by the group that uses it, single wavefront, twice. */
KERNEL void reuse(GLOBAL uint *out, GLOBAL uint *w) {
  GLOBAL uint *c = w + group_id();
  for (int k = 0; k < 3; k++) {
    if (local_id() == 0) *c = 0;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent"); barrier();
    ADD(c, 1u, RELAXED);
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); barrier();
    uint v = LOAD(c, RELAXED);
    out[global_id()] = v;
    barrier();
  }
}

/* The last group adds up and resets its counter plainly. */
KERNEL void retire(GLOBAL uint *out, GLOBAL uint *w) {
  SHARED uint last;
  uint id = local_id();
  out[group_id() * 256 + id] = id;
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
  barrier();
  if (id == 0) last = ADD(w, 1u, RELAXED) == 3;
  barrier();
  if (last) {
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
    uint s = 0;
    for (uint k = 0; k < 4; k++) s += out[k * 256 + id];
    w[64 + id] = s;
    if (id == 0) w[0] = 0;
  }
}

/* Histogram by atomics, the last group reads it. */
KERNEL void last_histogram(GLOBAL uint *out, GLOBAL uint *w) {
  SHARED uint last;
  uint id = local_id();
  ADD(w + 64 + (id * 5 & 63), 1u, RELAXED);
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
  barrier();
  if (id == 0) last = ADD(w, 1u, RELAXED) == 3;
  barrier();
  if (last) {
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
    out[id] = w[64 + (id & 63)];
  }
}

/* Many polls of siblings while the lock is held. */
KERNEL void long_lock(GLOBAL uint *out, GLOBAL uint *w) {
  if ((local_id() & 63) != 0) return;
  for (int k = 0; k < 2; k++) {
    for (;;) { uint z = 0; if (__scoped_atomic_compare_exchange_n(w, &z, 1u, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, DEVICE)) break; }
    for (int j = 0; j < 40; j++) out[j] = out[j] * 3 + group_id();
    STORE(w, 0u, RELEASE);
  }
}

/* Float sums by compare and swap of what block 0 has set, behind a grid barrier. */
KERNEL void cas_sum(GLOBAL uint *out, GLOBAL uint *w) {
  if (group_id() == 1 && local_id() < 8) w[64 + local_id()] = 0;
  grid_barrier(w, 4);
  GLOBAL uint *p = w + 64 + (local_id() & 7);
  uint old = *p, seen;
  do { seen = old; __scoped_atomic_compare_exchange_n(p, &old, seen + 3, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED, DEVICE); } while (old != seen);
  grid_barrier(w, 8);
  out[global_id()] = *p;
}

/* Pipeline: each group hands its own part to the next. */
KERNEL void pipeline(GLOBAL uint *out, GLOBAL uint *w) {
  uint id = local_id(), g = group_id();
  for (uint k = 0; k < 3; k++) {
    if (id == 0 && g > 0) while (LOAD(w + g * 16, RELAXED) <= k) __builtin_amdgcn_s_sleep(1);
    barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
    out[(g + 1) * 256 + id] = (g ? out[g * 256 + id] : 0) + k;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    barrier();
    if (id == 0) ADD(w + (g + 1) * 16, 1u, RELAXED);
    /* the next one must have read it */
    if (id == 0 && g < 3) while (LOAD(w + 512 + (g + 1) * 16, RELAXED) <= k) __builtin_amdgcn_s_sleep(1);
    if (id == 0 && g > 0) { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent"); ADD(w + 512 + g * 16, 1u, RELAXED); }
    barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  }
}

/* Semaphore of two places. */
KERNEL void semaphore(GLOBAL uint *out, GLOBAL uint *w) {
  if (local_id() != 0) return;
  if (group_id() == 0) { w[0] = 2; STORE(w + 1, 1u, RELEASE); }
  else while (LOAD(w + 1, ACQUIRE) == 0) __builtin_amdgcn_s_sleep(1);
  for (;;) {
    uint have = LOAD(w, RELAXED);
    if (have > 0 && __scoped_atomic_compare_exchange_n(w, &have, have - 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, DEVICE)) break;
    __builtin_amdgcn_s_sleep(1);
  }
  ADD(out, 1u, RELAXED);
  ADD(w, 1u, RELEASE);
}

/* Minimum by atomics of memory the group has set itself, read behind a barrier. */
KERNEL void group_min(GLOBAL uint *out, GLOBAL uint *w) {
  GLOBAL uint *m = w + group_id() * 16;
  if (local_id() == 0) *m = ~0u;
  barrier();
  __scoped_atomic_fetch_min(m, (local_id() * 37) & 255, __ATOMIC_RELAXED, WORKGROUP);
  barrier();
  out[global_id()] = __scoped_atomic_load_n(m, __ATOMIC_RELAXED, WORKGROUP);
}
