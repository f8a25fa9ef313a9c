// A kernel whose name several code objects have, with a variable of the same name in each.
#include <hip/hip_runtime.h>

#ifndef FACTOR
#define FACTOR 2
#endif

__device__ int base = 10 * FACTOR;

extern "C" __global__ void same(float* out) { out[threadIdx.x] = threadIdx.x * FACTOR + base; }
