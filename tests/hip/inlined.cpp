// A kernel whose functions are inlined, one of them twice and one inside another, and one that is really called (tests/exec-debug.test.ts).
#include <hip/hip_runtime.h>
#include <cstdio>

static __device__ __forceinline__ int square(int x) {
  int y = x * x;
  return y;
}

static __device__ __forceinline__ int shifted(int value, int by) {
  int moved = value + by;
  int squared = square(moved);
  return squared - by;
}

static __device__ __noinline__ int called(int c) {
  int inside = square(c + 1);
  return inside * 3;
}

__global__ void work(int *out, const int *in, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  int a = in[i];
  int b = shifted(a, 5);
  int c = square(b & 255);
  int d = called(c);
  out[i] = a + b + c + d;
}

int main() {
  int *in, *out;
  int host[64];
  for (int i = 0; i < 64; i++) host[i] = i;
  if (hipMalloc(&in, 256) != hipSuccess || hipMalloc(&out, 256) != hipSuccess) return 3;
  if (hipMemcpy(in, host, 256, hipMemcpyHostToDevice) != hipSuccess) return 3;
  work<<<1, 64>>>(out, in, 64);
  work<<<1, 64>>>(out, in, 32);
  if (hipMemcpy(host, out, 256, hipMemcpyDeviceToHost) != hipSuccess) return 3;
  printf("out[3] = %d\n", host[3]);
  return 0;
}
