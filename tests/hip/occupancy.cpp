// Function attributes and occupancy: bounded by wave slots, LDS, registers.
#include "check.h"

// HIP 6 has it; Debian's header does not.
extern "C" hipError_t hipGetFuncBySymbol(hipFunction_t* function, const void* host_function);

__global__ void light(int* p) { p[threadIdx.x] = 1; }
__global__ void with_lds(int* p) {
  __shared__ int words[8192];
  words[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = words[threadIdx.x ^ 1];
}
__global__ void __launch_bounds__(128) bounded(int* p) { p[threadIdx.x] = 2; }

int main() {
  hipFuncAttributes a;
  OK(hipFuncGetAttributes(&a, reinterpret_cast<const void*>(with_lds)));
  CHECK(a.sharedSizeBytes == 32768 && a.maxThreadsPerBlock >= 256 && a.numRegs > 0);
  OK(hipFuncGetAttributes(&a, reinterpret_cast<const void*>(bounded)));
  CHECK(a.maxThreadsPerBlock == 128);
  hipFunction_t f;
  OK(hipGetFuncBySymbol(&f, reinterpret_cast<const void*>(bounded)));
  int value = 0;
  OK(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
  CHECK(value == 128);

  hipDeviceProp_t properties;
  OK(hipGetDeviceProperties(&properties, 0));
  const int lds_groups = static_cast<int>(properties.sharedMemPerBlock / 32768);
  int blocks = 0;
  OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, light, 256, 0));
  CHECK(blocks == 8);
  OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, light, 1024, 0));
  CHECK(blocks == 2);
  OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, with_lds, 64, 0));
  CHECK(blocks == lds_groups);
  OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, light, 64, 32768));
  CHECK(blocks == lds_groups);
  OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 128, 0));
  CHECK(blocks == 16);
  OK(hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, reinterpret_cast<const void*>(light), 512, 0,
                                                           hipOccupancyDefault));
  CHECK(blocks == 4);
  int grid = 0, block = 0;
  OK(hipOccupancyMaxPotentialBlockSize(&grid, &block, bounded, 0, 0));
  CHECK(block == 128 || block == 64);
  CHECK(grid * block == 2048 * properties.multiProcessorCount);
  OK(hipOccupancyMaxPotentialBlockSize(&grid, &block, light, 0, 256));
  CHECK(block <= 256 && block % 64 == 0);
  OK(hipFuncSetAttribute(reinterpret_cast<const void*>(light), hipFuncAttributeMaxDynamicSharedMemorySize, 40000));
  OK(hipFuncSetCacheConfig(reinterpret_cast<const void*>(light), hipFuncCachePreferShared));
  GIVES(hipErrorInvalidDeviceFunction, hipFuncGetAttributes(&a, reinterpret_cast<const void*>(&main)));
  GIVES(hipErrorInvalidValue, hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, light, 0, 0));
  return Ok();
}
