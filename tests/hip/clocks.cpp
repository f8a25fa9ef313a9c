// Workgroups that wait for a time wait together: when the first one ends, the last one has begun.
#include <algorithm>

#include "check.h"

__global__ void waits(unsigned long long* begins, unsigned long long* ends, unsigned long long ticks) {
  const unsigned long long begin = __builtin_readcyclecounter();
  unsigned long long now = begin;
  while (now / 7 - begin / 7 < ticks / 7) now = __builtin_readcyclecounter();
  begins[blockIdx.x] = begin;
  ends[blockIdx.x] = now;
}

int main() {
  constexpr int kGroups = 16;
  unsigned long long *begins, *ends;
  OK(hipHostMalloc(reinterpret_cast<void**>(&begins), kGroups * sizeof *begins, 0));
  OK(hipHostMalloc(reinterpret_cast<void**>(&ends), kGroups * sizeof *ends, 0));
  int khz = 0;
  OK(hipDeviceGetAttribute(&khz, hipDeviceAttributeClockRate, 0));
  // The first run compiles the kernel.
  for (const unsigned long long milliseconds : {1, 2000}) {
    waits<<<kGroups, 64>>>(begins, ends, milliseconds * static_cast<unsigned>(khz));
    OK(hipDeviceSynchronize());
  }
  CHECK(*std::max_element(begins, begins + kGroups) < *std::min_element(ends, ends + kGroups));
  std::printf("ok\n");
  return 0;
}
