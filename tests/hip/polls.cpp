// Workgroups that wait for a word which somebody else sets long after the launch: the host in pinned and in managed memory, a copy and another
// stream's kernel in device memory. With the argument `lock` a lane holds a lock that its wavefront waits for.
#include <chrono>
#include <string>
#include <thread>

#include "check.h"

__global__ void waits(int* word, int* out) {
  if (threadIdx.x == 0) {
    while (__hip_atomic_load(word, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) == 0) {
    }
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

__global__ void sets(int* word) { __hip_atomic_store(word, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM); }

__global__ void locks(int* word, int* out) {
  if (threadIdx.x == 0) atomicExch(word, 1);
  while (atomicCAS(word, 0, static_cast<int>(threadIdx.x) + 2) != 0) {
  }
  *out = 1;
}

namespace {
constexpr int kBlocks = 3;
constexpr int kThreads = 128;

void SetByHost(int* word) { __atomic_store_n(word, 1, __ATOMIC_RELEASE); }

template <typename Set>
void Wait(hipStream_t stream, int* word, int* out, const Set& set) {
  waits<<<kBlocks, kThreads, 0, stream>>>(word, out);
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  set(word);
  OK(hipDeviceSynchronize());
}
}  // namespace

int main(int argc, char** argv) {
  int* pinned;
  int* managed;
  OK(hipHostMalloc(reinterpret_cast<void**>(&pinned), sizeof(int), 0));
  OK(hipMallocManaged(reinterpret_cast<void**>(&managed), sizeof(int)));
  *pinned = *managed = 0;
  int* words = Upload(std::vector<int>(2));
  int* out = Upload(std::vector<int>(kBlocks * kThreads));
  hipStream_t one, other;
  OK(hipStreamCreateWithFlags(&one, hipStreamNonBlocking));
  OK(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
  if (argc > 1 && std::string(argv[1]) == "lock") {
    locks<<<1, 64, 0, one>>>(words, out);
    return hipDeviceSynchronize() == hipSuccess ? 0 : 1;
  }
  Wait(one, pinned, out, SetByHost);
  Wait(one, managed, out, SetByHost);
  Wait(one, words, out, [&](int* word) {
    const int set = 1;
    OK(hipMemcpyAsync(word, &set, sizeof set, hipMemcpyHostToDevice, other));
  });
  Wait(one, words + 1, out, [&](int* word) { sets<<<1, 1, 0, other>>>(word); });
  for (const int value : Download(out, kBlocks * kThreads)) CHECK(value == 4);
  return Ok();
}
