// A stencil of 17 points: neighbours read the same values from memory again.
#include "program.h"

constexpr int RADIUS = 8;

__global__ void stencil(float *out, const float *in, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
#ifdef SHARED
  // Values come from memory once, SHARED of them for a work-item at a time (tune/stencil.yaml).
  __shared__ float near[256 + 2 * RADIUS];
  for (int k = threadIdx.x; k < 256 + 2 * RADIUS; k += 256 / SHARED) {
    int from = (int)blockIdx.x * 256 + k - RADIUS;
    if (threadIdx.x < 256 / SHARED) near[k] = from >= 0 && from < n ? in[from] : 0.0f;
  }
  __syncthreads();
  float total = 0;
  for (int k = 0; k <= 2 * RADIUS; k++) total += near[threadIdx.x + k];
  if (i < n) out[i] = total;
#else
  if (i >= n) return;
  float sum = 0;
  for (int d = -RADIUS; d <= RADIUS; d++) {
    int at = i + d;
    sum += at >= 0 && at < n ? in[at] : 0.0f;
  }
  out[i] = sum;
#endif
}

int main() {
  const int n = 32 * 256;
  const float *in = toGpu(numbers<float>(n, 1));
  float *out = toGpu(std::vector<float>(n));
  stencil<<<n / 256, 256>>>(out, in, n);
  check(hipDeviceSynchronize());
  printSum(out, n);
}
