// y = a·x + y over n elements, one work-item per element.
// clang -target amdgcn-amd-amdhsa -mcpu=gfx942 -nogpulib -O2 saxpy.c -o saxpy.co
#include "kernel.h"

KERNEL void saxpy(GLOBAL float *y, const GLOBAL float *x, float a, uint n) {
  uint i = global_id();
  if (i < n) y[i] = a * x[i] + y[i];
}
