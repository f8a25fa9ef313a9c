// A stencil of 17 points: neighbours read the same values from memory again.
#include "program.h"

constexpr int RADIUS = 8;

__global__ void stencil(float *out, const float *in, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int d = -RADIUS; d <= RADIUS; d++) {
    int at = i + d;
    sum += at >= 0 && at < n ? in[at] : 0.0f;
  }
  out[i] = sum;
}

int main() {
  const int n = 32 * 256;
  const float *in = toGpu(numbers<float>(n, 1));
  float *out = toGpu(std::vector<float>(n));
  stencil<<<n / 256, 256>>>(out, in, n);
  check(hipDeviceSynchronize());
  printSum(out, n);
}
