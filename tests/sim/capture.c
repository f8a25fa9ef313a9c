// Kernels whose memory is hard to capture: pointers in memory, in structures and in variables, dynamic LDS, no arguments at all.
// clang -target amdgcn-amd-amdhsa -mcpu=gfx942 -nogpulib -O2 tests/sim/capture.c -o capture.co
#include "../../examples/kernel.h"

typedef struct Node {
  GLOBAL struct Node *next;
  uint value;
} Node;

// Sums a linked list; the last node gets the sum.
KERNEL void list(GLOBAL Node *head, GLOBAL uint *out) {
  if (global_id() != 0) return;
  uint sum = 0;
  GLOBAL Node *last = head;
  for (GLOBAL Node *n = head; n; n = n->next) {
    sum += n->value;
    last = n;
  }
  last->value = sum;
  *out = sum;
}

typedef struct {
  GLOBAL uint *in;
  uint factor;
  GLOBAL uint *out;
} Job;

// A structure by value holds the pointers.
KERNEL void by_value(Job job) {
  uint i = global_id();
  job.out[i] = job.in[i] * job.factor;
}

__attribute__((visibility("default"))) GLOBAL uint table[256] = {1, 2, 3};
__attribute__((visibility("default"))) GLOBAL uint *GLOBAL pointer = table + 1;
__attribute__((visibility("default"))) GLOBAL uint calls;

// A variable that points to another one.
KERNEL void variables(GLOBAL uint *out) {
  uint i = global_id();
  out[i] = pointer[i & 127];
  if (i == 0) {
    pointer[0] += 5;
    calls++;
  }
}

static const __attribute__((address_space(4))) uint primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};

// A table of constants in the code object.
KERNEL void constants(GLOBAL uint *out, const GLOBAL uint *in) {
  out[global_id()] = primes[in[global_id()] & 7];
}

// No argument.
KERNEL void nothing(void) {
  if (global_id() == 0) calls += 7;
}

extern __attribute__((address_space(3))) uint dynamic[];

// Reverses each workgroup's elements through dynamic LDS.
KERNEL void reverse(GLOBAL uint *out, const GLOBAL uint *in) {
  uint l = __builtin_amdgcn_workitem_id_x();
  dynamic[l] = in[global_id()];
  barrier();
  out[global_id()] = dynamic[63 - l];
}

// The order of workgroups is in the result.
KERNEL void order(GLOBAL uint *next, GLOBAL uint *out) {
  if (__builtin_amdgcn_workitem_id_x() == 0)
    out[__builtin_amdgcn_workgroup_id_x()] = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED);
}

// A histogram by atomics: the same in every order.
KERNEL void count(GLOBAL uint *bins, const GLOBAL uint *in) {
  __atomic_fetch_add(&bins[in[global_id()] & 15], 1, __ATOMIC_RELAXED);
}

// A sum of floats by atomics, as large and small ones come: its last bits depend on the order.
KERNEL void float_sum(GLOBAL float *sum, const GLOBAL float *in) {
  __builtin_amdgcn_global_atomic_fadd_f32(sum, in[global_id()]);
}

// Each workgroup waits for the one before it, and adds what that has stored: the same in every order.
KERNEL void chain(GLOBAL uint *sums, GLOBAL uint *flags, const GLOBAL uint *in) {
  uint group = __builtin_amdgcn_workgroup_id_x(), sum = in[global_id()];
  if (group > 0) {
    while (__scoped_atomic_load_n(&flags[group - 1], __ATOMIC_ACQUIRE, __MEMORY_SCOPE_DEVICE) == 0)
      __builtin_amdgcn_s_sleep(1);
    sum += sums[global_id() - 64];
  }
  sums[global_id()] = sum;
  __scoped_atomic_store_n(&flags[group], 1u, __ATOMIC_RELEASE, __MEMORY_SCOPE_DEVICE);
}
