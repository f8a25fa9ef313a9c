// Adds two vectors with <<<>>>, checks every element.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <vector>

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  constexpr int n = 10000;
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; i++) {
    a[i] = static_cast<float>(i);
    b[i] = static_cast<float>(2 * i);
  }
  float *da, *db, *dc;
  if (hipMalloc(&da, n * sizeof(float)) != hipSuccess) return 2;
  if (hipMalloc(&db, n * sizeof(float)) != hipSuccess) return 2;
  if (hipMalloc(&dc, n * sizeof(float)) != hipSuccess) return 2;
  if (hipMemcpy(da, a.data(), n * sizeof(float), hipMemcpyHostToDevice) != hipSuccess) return 2;
  if (hipMemcpy(db, b.data(), n * sizeof(float), hipMemcpyHostToDevice) != hipSuccess) return 2;
  add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
  if (hipGetLastError() != hipSuccess) return 3;
  if (hipMemcpy(c.data(), dc, n * sizeof(float), hipMemcpyDeviceToHost) != hipSuccess) return 2;
  for (int i = 0; i < n; i++) {
    if (c[i] == a[i] + b[i]) continue;
    std::printf("element %d is %g\n", i, c[i]);
    return 1;
  }
  std::printf("ok\n");
  return 0;
}
