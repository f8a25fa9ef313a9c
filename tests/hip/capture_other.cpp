// The second translation unit of capture.cpp: a code object of its own.
#include <hip/hip_runtime.h>

static __device__ int elsewhere[64];
extern "C" __global__ void by_function_of_other(int* out, int which) { out[threadIdx.x] = elsewhere[threadIdx.x] + which; }
extern "C" __global__ void no_arguments_of_other() { elsewhere[threadIdx.x] = threadIdx.x + 100; }

int* VariableOfOther() {
  no_arguments_of_other<<<1, 64>>>();
  void* address = nullptr;
  if (hipGetSymbolAddress(&address, HIP_SYMBOL(elsewhere)) != hipSuccess) return nullptr;
  return static_cast<int*>(address);
}
void RunOther(int* out) { by_function_of_other<<<1, 64>>>(out, 1); }
