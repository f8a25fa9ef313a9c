// The second translation unit of registration.cpp.
#include "check.h"

namespace {
__device__ int value = 4;
__global__ void store(int* out) { *out = value; }
}  // namespace

int StoreOfOther(int* out) {
  store<<<1, 1>>>(out);
  return Download(out, 1)[0];
}
