// The second translation unit of rdc.cpp.
#include <hip/hip_runtime.h>

__device__ int shared_table[4] = {10, 11, 12, 13};
__device__ int Twice(int x) { return 2 * x; }
