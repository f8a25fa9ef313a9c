// The program and a kernel add to one word at the same time: nothing is lost.
#include <atomic>
#include <thread>

#include "check.h"

__global__ void Add(int* to, int times) {
  for (int i = 0; i < times; i++) atomicAdd_system(to, 1);
}

int main() {
  int* sum;
  OK(hipHostMalloc(reinterpret_cast<void**>(&sum), sizeof *sum, hipHostMallocCoherent));
  constexpr unsigned kWaves = 4, kTimes = 4000, kRounds = 6;
  *sum = 0;
  std::atomic<bool> has_ended{false};
  unsigned added = 0;
  std::thread program([&] {
    for (; !has_ended; added++) __atomic_fetch_add(sum, 1, __ATOMIC_RELAXED);
  });
  for (unsigned round = 0; round < kRounds; round++) {
    Add<<<kWaves, 64>>>(sum, kTimes);
    OK(hipDeviceSynchronize());
  }
  has_ended = true;
  program.join();
  CHECK(static_cast<unsigned>(*sum) == added + kRounds * kWaves * 64 * kTimes);
  OK(hipHostFree(sum));
  return Ok();
}
