// Counts bytes: each workgroup keeps 256 bins in LDS with atomics, then adds them to the global bins,
// which the host sets to zero before the dispatch.
// clang -target amdgcn-amd-amdhsa -mcpu=gfx942 -nogpulib -O2 histogram.c -o histogram.co
#include "kernel.h"

KERNEL void histogram(GLOBAL uint *bins, const GLOBAL unsigned char *data, uint n) {
  SHARED uint local[256];
  for (uint i = local_id(); i < 256; i += local_size()) local[i] = 0;
  barrier();
  for (uint i = global_id(); i < n; i += 4 * local_size()) {
    __scoped_atomic_fetch_add((uint *)&local[data[i]], 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  }
  barrier();
  for (uint i = local_id(); i < 256; i += local_size()) {
    __scoped_atomic_fetch_add((uint *)&bins[i], local[i], __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  }
}
