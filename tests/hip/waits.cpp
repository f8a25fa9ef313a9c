// Kernels that wait for what happens after their launch, one way for each word: host (a flag that the host sets), kernel (one of another stream), back (the
// host answers twice through the same word), behind (a stream that waits for a value, with a kernel behind it), beside (a kernel of another stream
// waits while `plain` runs), sync (the same, and `plain` is waited for first).
#include <string>

#include "check.h"

__device__ int Read(int* word) { return __hip_atomic_load(word, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM); }
__device__ void Write(int* word, int value) {
  __hip_atomic_store(word, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

extern "C" __global__ void waits(int* flag, int* out) {
  while (Read(flag) == 0) __builtin_amdgcn_s_sleep(1);
  out[threadIdx.x] = 40 + Read(flag);
}
extern "C" __global__ void sets(int* flag) { Write(flag, 2); }
extern "C" __global__ void talks(int* word, int* out) {
  for (int n = 1; n < 5; n += 2) {
    Write(word, n);
    while (Read(word) == n) __builtin_amdgcn_s_sleep(1);
  }
  *out = Read(word);
}
extern "C" __global__ void plain(int* out) { out[threadIdx.x] = threadIdx.x; }

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "host";
  int* flag;
  int* out;
  OK(hipHostMalloc(reinterpret_cast<void**>(&flag), 64, 0));
  OK(hipMalloc(&out, 256));
  OK(hipMemset(out, 0, 256));
  OK(hipDeviceSynchronize());
  hipStream_t a, b;
  OK(hipStreamCreateWithFlags(&a, hipStreamNonBlocking));
  OK(hipStreamCreateWithFlags(&b, hipStreamNonBlocking));
  *flag = 0;
  const auto set = [&](int value) { __atomic_store_n(flag, value, __ATOMIC_SEQ_CST); };
  if (mode == "host") {
    waits<<<1, 64, 0, a>>>(flag, out);
    set(2);
  } else if (mode == "kernel") {
    waits<<<1, 64, 0, a>>>(flag, out);
    sets<<<1, 1, 0, b>>>(flag);
  } else if (mode == "back") {
    talks<<<1, 1, 0, a>>>(flag, out);
    for (int n = 1; n < 5; n += 2) {
      while (__atomic_load_n(flag, __ATOMIC_SEQ_CST) != n) {
      }
      set(n + 1);
    }
  } else if (mode == "behind") {
    OK(hipStreamWaitValue32(a, flag, 2, hipStreamWaitValueGte, ~0u));
    plain<<<1, 64, 0, a>>>(out);
    set(2);
  } else {
    waits<<<1, 64, 0, b>>>(flag, out);
    plain<<<1, 32, 0, a>>>(out + 32);
    if (mode == "sync") OK(hipStreamSynchronize(a));
    set(2);
  }
  OK(hipDeviceSynchronize());
  const std::vector<int> got = Download(out, 64);
  std::printf("%d %d %d\n", got[0], got[1], got[63]);
  return 0;
}
