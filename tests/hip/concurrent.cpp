// Kernels of different streams: one that waits for another ends, and a long one does not hold up a short one.
#include "check.h"

__global__ void waits(int* flag, int* out) {
  while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) == 0) __builtin_amdgcn_s_sleep(1);
  *out = 42;
}
__global__ void sets(int* flag) { __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM); }
__global__ void adds(float* out, int n) {
  float x = static_cast<float>(threadIdx.x);
  for (int i = 0; i < n; i++) x = x * 0.5f + 1.0f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

int main() {
  int* flag;
  int* out;
  float* sums;
  constexpr int kItems = 16 * 256;
  OK(hipMalloc(&flag, 4));
  OK(hipMalloc(&sums, kItems * sizeof(float)));
  OK(hipHostMalloc(reinterpret_cast<void**>(&out), 4, 0));
  OK(hipMemset(flag, 0, 4));
  *out = 0;
  hipStream_t streams[3];
  for (hipStream_t& s : streams) OK(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
  waits<<<1, 64, 0, streams[0]>>>(flag, out);
  adds<<<16, 256, 0, streams[1]>>>(sums, 2000);
  OK(hipStreamSynchronize(streams[1]));
  CHECK(*out == 0);
  GIVES(hipErrorNotReady, hipStreamQuery(streams[0]));
  sets<<<1, 1, 0, streams[2]>>>(flag);
  OK(hipStreamSynchronize(streams[2]));
  OK(hipStreamSynchronize(streams[0]));
  CHECK(*out == 42);
  std::vector<float> got(kItems);
  OK(hipMemcpy(got.data(), sums, kItems * sizeof(float), hipMemcpyDeviceToHost));
  for (const float x : got) CHECK(x == 2.0f);
  std::printf("ok\n");
  return 0;
}
