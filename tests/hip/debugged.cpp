// Two kernels to be debugged: structs, templates, a function that is called, LDS (tests/exec-debug.test.ts).
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>
struct Point { float x, y; int tag[3]; };
template <typename T, int N> struct Box { T items[N]; __device__ T sum() const { T s = 0; for (int i = 0; i < N; i++) s += items[i]; return s; } };
__device__ __forceinline__ float weight(const Point &p, float k) {
  float w = p.x * k;
  return w + p.y;
}
template <typename T>
__device__ __noinline__ T twice(T value) {
  T doubled = value + value;
  return doubled;
}
__global__ void first(Point *points, float *out, int n) {
  __shared__ float tile[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Box<int, 4> box;
  for (int j = 0; j < 4; j++) box.items[j] = i + j;
  tile[threadIdx.x] = i < n ? weight(points[i], 2.0f) : 0;
  __syncthreads();
  float neighbour = tile[(threadIdx.x + 1) % 64];
  if (i < n) out[i] = twice(neighbour) + box.sum();
}
__global__ void second(float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += 1;
}
int main() {
  const int n = 100;
  std::vector<Point> p(n); for (int i = 0; i < n; i++) p[i] = {float(i), 0.5f, {i, 2 * i, 3 * i}};
  Point *dp; float *dout; 
  if (hipMalloc(&dp, n * sizeof(Point)) != hipSuccess) return 3;
  if (hipMalloc(&dout, n * 4) != hipSuccess) return 3;
  if (hipMemcpy(dp, p.data(), n * sizeof(Point), hipMemcpyHostToDevice) != hipSuccess) return 3;
  first<<<2, 64>>>(dp, dout, n);
  second<<<2, 64>>>(dout, n);
  second<<<2, 64>>>(dout, n);
  std::vector<float> o(n);
  if (hipMemcpy(o.data(), dout, n * 4, hipMemcpyDeviceToHost) != hipSuccess) return 3;
  printf("out[3] = %g\n", o[3]);
  return 0;
}
