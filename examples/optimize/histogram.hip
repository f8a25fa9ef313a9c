// A histogram in which every work-item has a bin and looks at all values.
#include "program.h"

__global__ void histogram(unsigned *bins, const unsigned char *in, int n) {
  unsigned count = 0;
  for (int i = 0; i < n; i++) count += in[i] == threadIdx.x;
  bins[threadIdx.x] = count;
}

int main() {
  const int n = 2048;
  const unsigned char *in = toGpu(numbers<unsigned char>(n, 256));
  unsigned *bins = toGpu(std::vector<unsigned>(256));
  histogram<<<1, 256>>>(bins, in, n);
  check(hipDeviceSynchronize());
  printSum(bins, 256);
}
