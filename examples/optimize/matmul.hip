// A product of matrices that reads every element from memory for every result.
#include "program.h"

__global__ void matmul(float *c, const float *a, const float *b, int n) {
  int x = blockIdx.x * 16 + threadIdx.x;
  int y = blockIdx.y * 16 + threadIdx.y;
  if (x >= n || y >= n) return;
  float sum = 0;
  for (int k = 0; k < n; k++) sum = fmaf(a[y * n + k], b[k * n + x], sum);
  c[y * n + x] = sum;
}

int main() {
  const int n = 64;
  const float *a = toGpu(numbers<float>(n * n, 1));
  const float *b = toGpu(numbers<float>(n * n, 2));
  float *c = toGpu(std::vector<float>(n * n));
  matmul<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(c, a, b, n);
  check(hipDeviceSynchronize());
  printSum(c, n * n);
}
