// A device-side assertion that fails: its message on stderr, and an error that stays.
#include <cassert>

#include "check.h"

__global__ void fails(int limit) { assert(static_cast<int>(threadIdx.x) < limit); }

int main(int argc, char**) {
  fails<<<1, 64>>>(64);
  OK(hipDeviceSynchronize());
  if (argc > 1) return Ok();
  fails<<<1, 64>>>(63);
  GIVES(hipErrorLaunchFailure, hipDeviceSynchronize());
  GIVES(hipErrorLaunchFailure, hipDeviceSynchronize());
  return 3;
}
