// Sums n floats: each workgroup of 256 reduces its part in LDS and adds it to the total with an atomic.
// clang -target amdgcn-amd-amdhsa -mcpu=gfx942 -nogpulib -O2 reduction.c -o reduction.co
#include "kernel.h"

KERNEL void reduce(GLOBAL float *total, const GLOBAL float *x, uint n) {
  SHARED float partial[256];
  uint id = local_id();
  float sum = 0.0f;
  for (uint i = global_id(); i < n; i += 4 * 256) sum += x[i];
  partial[id] = sum;
  barrier();
  for (uint half = 128; half > 0; half /= 2) {
    if (id < half) partial[id] += partial[id + half];
    barrier();
  }
  if (id == 0) __scoped_atomic_fetch_add((float *)total, partial[0], __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
