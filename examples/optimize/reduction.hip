// Sums of blocks, with work-items that are idle in every wave: of each step only those whose number divides take part.
#include "program.h"

__global__ void reduce(int *out, const int *in, int n) {
  __shared__ int sums[256];
  int t = threadIdx.x;
  int i = blockIdx.x * 256 + t;
  sums[t] = i < n ? in[i] : 0;
  __syncthreads();
#ifdef SHUFFLED
  // Neighbours add, and the last so many of them by shuffles in one wave (tune/reduction.yaml).
  for (int half = 128; half >= SHUFFLED; half /= 2) {
    if (t < half) sums[t] = sums[t] + sums[t + half];
    __syncthreads();
  }
  if (t < 64) {
    int sum = sums[t];
    for (int half = SHUFFLED / 2; half > 0; half /= 2) sum += __shfl_down(sum, half);
    sums[t] = sum;
  }
#else
  for (int step = 1; step < 256; step *= 2) {
    if (t % (2 * step) == 0) sums[t] += sums[t + step];
    __syncthreads();
  }
#endif
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
