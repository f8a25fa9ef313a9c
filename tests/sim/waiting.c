// Kernels whose wavefronts and workgroups wait for each other without barriers, for strict mode's tests: none has a mistake.
#include "../../examples/kernel.h"

#define DEVICE __MEMORY_SCOPE_DEVICE
#define WORKGROUP __MEMORY_SCOPE_WRKGRP

/* A workgroup hands data to another one by a flag. */
KERNEL void handover(GLOBAL uint *out, GLOBAL uint *data, GLOBAL uint *flag) {
  uint id = local_id();
  if (group_id() == 0) {
    data[id] = id * 7;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    barrier();
    if (id == 0) __scoped_atomic_store_n(flag, 1u, __ATOMIC_RELEASE, DEVICE);
  } else {
    if (id == 0) {
      while (__scoped_atomic_load_n(flag, __ATOMIC_RELAXED, DEVICE) == 0) __builtin_amdgcn_s_sleep(2);
    }
    barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
    out[id] = data[id ^ 1];
  }
}

static void grid_barrier(GLOBAL uint *count, uint arrivals) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  barrier();
  if (local_id() == 0) {
    __scoped_atomic_fetch_add(count, 1u, __ATOMIC_ACQ_REL, DEVICE);
    while (__scoped_atomic_load_n(count, __ATOMIC_ACQUIRE, DEVICE) < arrivals) __builtin_amdgcn_s_sleep(1);
  }
  barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
}

/* All workgroups wait for each other, three times. */
KERNEL void grid(GLOBAL uint *out, GLOBAL uint *data, GLOBAL uint *count, uint groups) {
  uint i = global_id(), n = groups * 128;
  data[i] = i;
  grid_barrier(count, groups);
  uint value = data[n - 1 - i];
  grid_barrier(count, 2 * groups);
  data[i] = value + 1;
  grid_barrier(count, 3 * groups);
  out[i] = data[(i + 64) % n];
}

/* One lane of each workgroup changes what a lock protects. */
KERNEL void locked(GLOBAL uint *out, GLOBAL uint *mutex) {
  if (local_id() != 0) return;
  for (;;) {
    uint zero = 0;
    if (__scoped_atomic_compare_exchange_n(mutex, &zero, 1u, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, DEVICE)) break;
    __builtin_amdgcn_s_sleep(1);
  }
  out[0] = out[0] * 2 + 1;
  out[1] += group_id();
  __scoped_atomic_store_n(mutex, 0u, __ATOMIC_RELEASE, DEVICE);
}

/* One wavefront loads, another one computes: a ring of two slots in LDS. Compilers put the first load of a flag before its loop. */
KERNEL void ring(GLOBAL uint *out, GLOBAL uint *in) {
  SHARED uint slots[2][64];
  SHARED uint full[2];
  uint id = local_id(), lane = id & 63, wave = __builtin_amdgcn_readfirstlane(id >> 6);
  if (id < 2) full[id] = 0;
  barrier();
  uint sum = 0;
  for (uint k = 0; k < 6; k++) {
    uint b = k & 1, wanted = wave == 0 ? 0 : 1;
    while (__scoped_atomic_load_n(&full[b], __ATOMIC_ACQUIRE, WORKGROUP) != wanted) __builtin_amdgcn_s_sleep(1);
    if (wave == 0) slots[b][lane] = in[k * 64 + lane];
    else sum = sum * 3 + slots[b][63 - lane];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    if (lane == 0) __scoped_atomic_store_n(&full[b], 1 - wanted, __ATOMIC_RELEASE, WORKGROUP);
  }
  if (wave == 1) out[lane] = sum;
}

/* A scan in one pass: workgroups look back at what those before them have published. Words of a flag and a value. */
KERNEL void look_back(GLOBAL uint *out, GLOBAL uint *in, GLOBAL unsigned long *states, GLOBAL uint *ticket) {
  SHARED uint part[2];
  uint id = local_id();
  if (id == 0) part[0] = __scoped_atomic_fetch_add(ticket, 1u, __ATOMIC_RELAXED, DEVICE);
  barrier();
  uint group = part[0], sum = 0;
  for (uint k = 0; k < 64; k++) sum += k < id + 1 ? in[group * 64 + k] : 0;
  if (id == 63) {
    __scoped_atomic_store_n(states + group, (1ul << 32) | sum, __ATOMIC_RELAXED, DEVICE);
    uint before = 0;
    for (uint k = group; k > 0;) {
      unsigned long seen = __scoped_atomic_load_n(states + k - 1, __ATOMIC_RELAXED, DEVICE);
      if (seen >> 32 == 0) continue;
      before += (uint)seen;
      if (seen >> 32 == 2) break;
      k--;
    }
    __scoped_atomic_store_n(states + group, (2ul << 32) | (uint)(before + sum), __ATOMIC_RELAXED, DEVICE);
    part[1] = before;
  }
  barrier();
  out[group * 64 + id] = sum + part[1];
}

/* The workgroup that comes last adds up the parts of all. */
KERNEL void parts(GLOBAL uint *out, GLOBAL uint *sums, GLOBAL uint *count, uint groups) {
  SHARED uint last;
  uint id = local_id();
  sums[group_id() * 128 + id] = id * group_id();
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  barrier();
  if (id == 0) last = __scoped_atomic_fetch_add(count, 1u, __ATOMIC_RELAXED, DEVICE) == groups - 1;
  barrier();
  if (!last) return;
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  uint sum = 0;
  for (uint k = 0; k < groups; k++) sum += sums[k * 128 + (id ^ 64)];
  out[id] = sum;
  if (id == 0) __scoped_atomic_store_n(count, 0u, __ATOMIC_RELAXED, DEVICE);
}

/* Workgroups take slots by a compare-and-swap, fill them, and give them back by a store. */
KERNEL void slots(GLOBAL uint *out, GLOBAL uint *owner, GLOBAL uint *data) {
  SHARED uint mine;
  uint id = local_id();
  if (id == 0) {
    for (uint k = group_id() & 1;; k ^= 1) {
      uint zero = 0;
      if (__scoped_atomic_compare_exchange_n(owner + k, &zero, group_id() + 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, DEVICE)) {
        mine = k;
        break;
      }
      __builtin_amdgcn_s_sleep(1);
    }
  }
  barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  data[mine * 64 + id] += group_id() + id;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  barrier();
  if (id == 0) __scoped_atomic_store_n(owner + mine, 0u, __ATOMIC_RELEASE, DEVICE);
  out[group_id() * 64 + id] = id;
}

/* The lock again, by pointers of which the compiler does not know the address space. */
KERNEL void locked_flat(GLOBAL uint *out, GLOBAL uint *mutex, uint far) {
  SHARED uint near[3];
  if (local_id() != 0) return;
  uint *data = far ? (uint *)out : (uint *)near;
  uint *lock = far ? (uint *)mutex : (uint *)(near + 2);
  for (;;) {
    uint zero = 0;
    if (__scoped_atomic_compare_exchange_n(lock, &zero, 1u, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, DEVICE)) break;
    __builtin_amdgcn_s_sleep(1);
  }
  data[0] = data[0] * 2 + 1;
  data[1] += group_id();
  __scoped_atomic_store_n(lock, 0u, __ATOMIC_RELEASE, DEVICE);
}
