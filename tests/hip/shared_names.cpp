// A kernel with `__shared__` variables of its own, of a function that it calls, and of the launch, to be debugged (tests/exec-debug.test.ts).
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>
struct Cell { char kind; double weight; };
extern __shared__ float scratch[];
template <typename T> __device__ T blockSum(T v) {
  __shared__ T parts[4];
  if (threadIdx.x % 16 == 0) parts[threadIdx.x / 16] = v;
  __syncthreads();
  return parts[0] + parts[1] + parts[2] + parts[3];
}
__global__ void sums(float *out) {
  __shared__ Cell cells[3];
  __shared__ float tile[8][9];
  int i = threadIdx.x;
  if (i < 3) cells[i] = {char('a' + i), i + 0.5};
  tile[i / 8][i % 8] = i;
  scratch[i] = 64 - i;
  __syncthreads();
  float s = blockSum(tile[i % 8][i / 8] + scratch[i]);
  out[i] = s;
}
int main() {
  float *out;
  if (hipMalloc(&out, 64 * 4) != hipSuccess) return 3;
  sums<<<1, 64, 64 * 4>>>(out);
  std::vector<float> o(64);
  if (hipMemcpy(o.data(), out, 64 * 4, hipMemcpyDeviceToHost) != hipSuccess) return 3;
  printf("%g\n", o[0]);
}
