// Sums of blocks, with work-items that are idle in every wave: of each step only those whose number divides take part.
#include "program.h"

__global__ void reduce(int *out, const int *in, int n) {
  __shared__ int sums[256];
  int t = threadIdx.x;
  int i = blockIdx.x * 256 + t;
  sums[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int step = 1; step < 256; step *= 2) {
    if (t % (2 * step) == 0) sums[t] += sums[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

int main() {
  const int blocks = 32, n = blocks * 256;
  const int *in = toGpu(numbers<int>(n, 1000));
  int *out = toGpu(std::vector<int>(blocks));
  reduce<<<blocks, 256>>>(out, in, n);
  check(hipDeviceSynchronize());
  printSum(out, blocks);
}
