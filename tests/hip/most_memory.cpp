// A program that takes most of the device's memory: zeros over it cost the host nothing, and a fill that the host cannot hold is refused.
#include <hip/hip_runtime.h>
#include <unistd.h>

#include <algorithm>

#include "check.h"

__global__ void AddOne(char* p, size_t apart) { p[(blockIdx.x * size_t{64} + threadIdx.x) * apart] += 1; }

int main() {
  size_t available = 0, total = 0;
  OK(hipMemGetInfo(&available, &total));
  const size_t most = available / 10 * 8;
  char* p = nullptr;
  OK(hipMalloc(&p, most));
  // Off the pages at both ends: what lies beside the range stays.
  const size_t zeros = most - 200;
  OK(hipMemset(p, 7, 4096));
  OK(hipMemset(p + zeros, 7, 200));
  OK(hipMemset(p + 100, 0, zeros - 100));
  AddOne<<<16, 64>>>(p, most / 1024);
  char ends[200], middle = 0;
  OK(hipMemcpy(ends, p, 200, hipMemcpyDeviceToHost));
  CHECK(ends[0] == 8 && ends[1] == 7 && ends[99] == 7 && ends[100] == 0);
  OK(hipMemcpy(ends, p + zeros, 200, hipMemcpyDeviceToHost));
  CHECK(std::all_of(ends, ends + 200, [](char c) { return c == 7; }));
  OK(hipMemcpy(&middle, p + most / 1024 * 700, 1, hipMemcpyDeviceToHost));
  CHECK(middle == 1);
  OK(hipMemset2D(p, 1 << 20, 0, 1 << 20, 4096));
  OK(hipMemsetD32(p, 0, most / 4));
  OK(hipMemcpy(&middle, p + most / 1024 * 700, 1, hipMemcpyDeviceToHost));
  CHECK(middle == 0);
  const size_t host = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * 4096;
  if (most > host) {
    GIVES(hipErrorOutOfMemory, hipMemset(p, 1, most));
    GIVES(hipErrorOutOfMemory, hipMemsetD32(p, 1, most / 4));
    GIVES(hipErrorOutOfMemory, hipMemset2D(p, 1 << 20, 1, 1 << 20, most >> 20));
  }
  OK(hipFree(p));
  return Ok();
}
