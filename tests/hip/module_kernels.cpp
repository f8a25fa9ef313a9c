// Kernels and variables that modules.cpp loads from a file and from memory.
#include <hip/hip_runtime.h>

extern "C" {
__device__ int offset = 5;
__constant__ float factors[3] = {1.5f, 2.5f, 3.5f};

__global__ void scale(float* data, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = data[i] * factor + static_cast<float>(offset);
}
__global__ void pick(float* out, short which, char add) { *out = factors[which] + static_cast<float>(add); }
}
