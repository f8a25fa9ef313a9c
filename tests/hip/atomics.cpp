// Atomics: int, long, float, double; memory and LDS; every operation; compare-and-swap loops; with the host (system scope).
#include "check.h"

__global__ void sums(int* i, unsigned long long* l, float* f, double* d) {
  atomicAdd(&i[0], 1);
  atomicSub(&i[1], 2);
  atomicMax(&i[2], static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x));
  atomicMin(&i[3], -static_cast<int>(threadIdx.x));
  atomicAnd(&i[4], ~(1 << (threadIdx.x % 20)));
  atomicOr(&i[5], 1 << (threadIdx.x % 30));
  atomicXor(&i[6], 3);
  // atomicInc and atomicDec of Debian's header name intrinsics that LLVM 22 no longer has.
  __builtin_amdgcn_atomic_inc32(reinterpret_cast<unsigned*>(&i[7]), 9, __ATOMIC_RELAXED, "agent");
  __builtin_amdgcn_atomic_dec32(reinterpret_cast<unsigned*>(&i[8]), 9, __ATOMIC_RELAXED, "agent");
  atomicAdd(l, 1ull << 33);
  atomicMax(l + 1, static_cast<unsigned long long>(threadIdx.x) << 40);
  atomicAdd(f, 0.5f);
  atomicAdd(d, 0.25);
  unsafeAtomicAdd(f + 1, 1.0f);
  unsafeAtomicAdd(d + 1, 2.0);
}
__global__ void locks(unsigned long long* value, float* largest) {
  unsigned long long old = *value, seen;
  do {
    seen = old;
    old = atomicCAS(value, seen, seen + 3);
  } while (old != seen);
  atomicMax(largest, static_cast<float>(threadIdx.x));
}
__global__ void histogram(const unsigned char* in, int n, int* out) {
  __shared__ int counts[256];
  counts[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&counts[in[i]], 1);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], counts[threadIdx.x]);
}
__global__ void with_host(int* shared) {
  if (threadIdx.x == 0) atomicAdd_system(shared, 5);
  while (__hip_atomic_load(shared, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) < 100) __builtin_amdgcn_s_sleep(1);
  if (threadIdx.x == 0) __hip_atomic_store(shared + 1, 7, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

int main() {
  const int threads = 4 * 128;
  int* i = Upload(std::vector<int>{0, 0, 0, 0, -1, 0, 0, 0, 0});
  auto* l = Upload(std::vector<unsigned long long>(2, 0));
  float* f = Upload(std::vector<float>(2, 0));
  double* d = Upload(std::vector<double>(2, 0));
  sums<<<4, 128>>>(i, l, f, d);
  const auto is = Download(i, 9);
  CHECK(is[0] == threads && is[1] == -2 * threads && is[2] == threads - 1 && is[3] == -127);
  CHECK(is[4] == ~0xfffff && is[5] == 0x3fffffff && is[6] == 0 && is[7] == threads % 10);
  CHECK(is[8] == (10 - threads % 10) % 10);
  CHECK(Download(l, 2)[0] == static_cast<unsigned long long>(threads) << 33 && Download(l, 2)[1] == 127ull << 40);
  CHECK(Download(f, 2)[0] == 0.5f * threads && Download(d, 2)[0] == 0.25 * threads);
  CHECK(Download(f, 2)[1] == 1.0f * threads && Download(d, 2)[1] == 2.0 * threads);

  OK(hipMemset(l, 0, 16));
  OK(hipMemset(f, 0, 8));
  locks<<<3, 100>>>(l, f);
  CHECK(Download(l, 1)[0] == 900 && Download(f, 1)[0] == 99.0f);

  std::vector<unsigned char> bytes(20000);
  std::vector<int> expected(256);
  for (size_t k = 0; k < bytes.size(); k++) expected[bytes[k] = static_cast<unsigned char>(k * k / 7)]++;
  const auto* in = Upload(bytes);
  int* counts = Upload(std::vector<int>(256, 0));
  histogram<<<5, 256>>>(in, static_cast<int>(bytes.size()), counts);
  CHECK(Download(counts, 256) == expected);

  // The kernel waits for the host, and the host for the kernel.
  int* shared;
  OK(hipHostMalloc(reinterpret_cast<void**>(&shared), 64, hipHostMallocCoherent));
  shared[0] = shared[1] = 0;
  with_host<<<1, 64>>>(shared);
  while (__atomic_load_n(shared, __ATOMIC_ACQUIRE) != 5) {}
  __atomic_fetch_add(shared, 95, __ATOMIC_ACQ_REL);
  OK(hipDeviceSynchronize());
  CHECK(shared[0] == 100 && shared[1] == 7);
  return Ok();
}
