// Kernel arguments: structures by value, mixed sizes and alignments, 4 KiB of them, grids of three dimensions, partial blocks.
#include <hip/hip_ext.h>

#include "check.h"

// HIP 6 has it; Debian's header does not.
extern "C" hipError_t hipGetFuncBySymbol(hipFunction_t* function, const void* host_function);

struct Small {
  char c;
  short s;
  double d;
};
struct Large {
  int words[900];
};
__global__ void mixed(char a, double b, short c, Small small, float4 v, bool flag, double* out) {
  out[0] = a + b + c + small.c + small.s + small.d + v.x + v.w + (flag ? 1000 : 0);
}
__global__ void large(Large l, int* out) { out[threadIdx.x] = l.words[threadIdx.x * 14]; }
__global__ void ids(int* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  const int width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;
  out[(z * height + y) * width + x] = x + 100 * y + 10000 * z + 1000000 * static_cast<int>(blockDim.x);
}
__global__ void count(int* out) {
  atomicAdd(out, 1);
  if (threadIdx.x == 21) atomicAdd(out + 1, 1);
  if (threadIdx.x == 22) atomicAdd(out + 2, 1);
}

int main() {
  double* d;
  OK(hipMalloc(&d, sizeof(double)));
  mixed<<<1, 1>>>(1, 0.5, -2, Small{3, 4, 0.25}, make_float4(10, 0, 0, 20), true, d);
  CHECK(Download(d, 1)[0] == 1036.75);
  Large l;
  for (int i = 0; i < 900; i++) l.words[i] = i * i;
  int* out;
  OK(hipMalloc(&out, 10000 * sizeof(int)));
  large<<<1, 64>>>(l, out);
  const auto squares = Download(out, 64);
  for (int i = 0; i < 64; i++) CHECK(squares[i] == i * 14 * i * 14);
  // Many launches with different arguments before the first has ended.
  for (int k = 0; k < 500; k++) {
    l.words[14] = k;
    large<<<1, 64>>>(l, out + (k % 100) * 64);
  }
  for (int k = 400; k < 500; k++) CHECK(Download(out + (k % 100) * 64, 2)[1] == k);

  ids<<<dim3(3, 2, 2), dim3(5, 4, 3)>>>(out);
  const auto all = Download(out, 15 * 8 * 6);
  for (int z = 0; z < 6; z++) {
    for (int y = 0; y < 8; y++) {
      for (int x = 0; x < 15; x++) CHECK(all[(z * 8 + y) * 15 + x] == x + 100 * y + 10000 * z + 5000000);
    }
  }
  // A grid that is no multiple of the block (work-items, as hipExtModuleLaunchKernel counts).
  hipFunction_t f;
  OK(hipGetFuncBySymbol(&f, reinterpret_cast<const void*>(count)));
  OK(hipMemset(out, 0, 12));
  void* arguments[] = {&out};
  OK(hipExtModuleLaunchKernel(f, 150, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr, nullptr, nullptr, 0));
  const auto counted = Download(out, 3);
  CHECK(counted[0] == 150 && counted[1] == 3 && counted[2] == 2);
  return Ok();
}
