// A trap stops the queue: every later call gives the same error, and the error text says what happened.
#include <string>

#include "check.h"

__global__ void traps(int when) {
  if (static_cast<int>(threadIdx.x) == when) __builtin_trap();
}

int main() {
  int* p;
  OK(hipMalloc(&p, 64));
  traps<<<1, 64>>>(-1);
  OK(hipDeviceSynchronize());
  traps<<<1, 64>>>(5);
  GIVES(hipErrorLaunchFailure, hipDeviceSynchronize());
  GIVES(hipErrorLaunchFailure, hipGetLastError());
  traps<<<1, 64>>>(-1);
  GIVES(hipErrorLaunchFailure, hipGetLastError());
  int value;
  GIVES(hipErrorLaunchFailure, hipMemcpy(&value, p, sizeof value, hipMemcpyDeviceToHost));
  GIVES(hipErrorLaunchFailure, hipStreamSynchronize(nullptr));
  CHECK(std::string(hipGetErrorString(hipErrorLaunchFailure)) == "unspecified launch failure");
  return Ok();
}
