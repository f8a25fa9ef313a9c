// Errors: names, texts, the last error of each thread, launches that cannot be.
#include <string>
#include <thread>

#include "check.h"

__global__ void nothing() {}
__global__ void __launch_bounds__(64) small() {}

int main() {
  CHECK(std::string(hipGetErrorName(hipErrorInvalidValue)) == "hipErrorInvalidValue");
  CHECK(std::string(hipGetErrorString(hipErrorOutOfMemory)) == "out of memory");
  CHECK(std::string(hipGetErrorString(hipSuccess)) == "no error");
  CHECK(std::string(hipGetErrorString(hipErrorNoBinaryForGpu)) ==
        "no kernel image is available for execution on the device");

  GIVES(hipErrorInvalidValue, hipMalloc(static_cast<void**>(nullptr), 4));
  GIVES(hipErrorInvalidValue, hipPeekAtLastError());
  std::thread([] { GIVES(hipSuccess, hipGetLastError()); }).join();
  GIVES(hipErrorInvalidValue, hipGetLastError());
  GIVES(hipSuccess, hipGetLastError());

  nothing<<<1, 2048>>>();
  GIVES(hipErrorInvalidConfiguration, hipGetLastError());
  nothing<<<0, 64>>>();
  GIVES(hipErrorInvalidConfiguration, hipGetLastError());
  nothing<<<1, dim3(64, 64)>>>();
  GIVES(hipErrorInvalidConfiguration, hipGetLastError());
  nothing<<<1, 64, 1 << 20>>>();
  CHECK(hipGetLastError() != hipSuccess);
  small<<<1, 128>>>();
  CHECK(hipGetLastError() != hipSuccess);
  // The device still works.
  nothing<<<1, 64>>>();
  OK(hipDeviceSynchronize());
  OK(hipGetLastError());
  // Up to HIP 6 the last call counts, since HIP 7 the last error; a query that says "not ready" is an error up to HIP 6 only.
  int version = 0;
  OK(hipRuntimeGetVersion(&version));
  const bool keeps = version >= 70'000'000;
  GIVES(hipErrorInvalidValue, hipMalloc(static_cast<void**>(nullptr), 4));
  OK(hipDeviceSynchronize());
  GIVES(keeps ? hipErrorInvalidValue : hipSuccess, hipPeekAtLastError());
  GIVES(keeps ? hipErrorInvalidValue : hipSuccess, hipGetLastError());
  GIVES(hipSuccess, hipGetLastError());
  return Ok();
}
