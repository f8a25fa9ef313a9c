// Several translation units with fat binaries of their own: kernels and variables of the same name are different ones.
#include "check.h"

namespace {
__device__ int value = 3;
__global__ void store(int* out) { *out = value; }
}  // namespace
int StoreOfOther(int* out);

int main() {
  int* out;
  OK(hipMalloc(&out, sizeof(int)));
  store<<<1, 1>>>(out);
  CHECK(Download(out, 1)[0] == 3);
  CHECK(StoreOfOther(out) == 4);
  const int changed = 7;
  OK(hipMemcpyToSymbol(HIP_SYMBOL(value), &changed, sizeof changed));
  store<<<1, 1>>>(out);
  CHECK(Download(out, 1)[0] == 7);
  CHECK(StoreOfOther(out) == 4);
  // A function that no fat binary registered.
  GIVES(hipErrorInvalidDeviceFunction, hipLaunchKernel(reinterpret_cast<const void*>(&main), 1, 1, nullptr, 0, nullptr));
  return Ok();
}
