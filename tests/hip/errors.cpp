// Errors: names, texts, the last error of each thread, launches that cannot be.
#include <string>
#include <thread>

#include "check.h"

// Of HIP 5.5 and later; Debian's header does not have them.
extern "C" hipError_t hipDrvGetErrorName(hipError_t error, const char** text);
extern "C" hipError_t hipDrvGetErrorString(hipError_t error, const char** text);
extern "C" hipError_t hipConfigureCall(dim3 grid, dim3 block, size_t shared, hipStream_t stream);
extern "C" hipError_t hipSetupArgument(const void* argument, size_t size, size_t offset);

__global__ void store(int* out) { *out = 42; }
__global__ void nothing() {}
__global__ void __launch_bounds__(64) small() {}

int main() {
  CHECK(std::string(hipGetErrorName(hipErrorInvalidValue)) == "hipErrorInvalidValue");
  CHECK(std::string(hipGetErrorString(hipErrorOutOfMemory)) == "out of memory");
  CHECK(std::string(hipGetErrorString(hipSuccess)) == "no error");
  CHECK(std::string(hipGetErrorString(hipErrorNoBinaryForGpu)) ==
        "no kernel image is available for execution on the device");

  const char* text = nullptr;
  for (const hipError_t error : {hipErrorProfilerDisabled, hipErrorCooperativeLaunchTooLarge,
                                 hipErrorStreamCaptureWrongThread, hipErrorGraphExecUpdateFailure, hipErrorRuntimeOther}) {
    OK(hipDrvGetErrorName(error, &text));
    CHECK(std::string(text) != "hipErrorUnknown");
    OK(hipDrvGetErrorString(error, &text));
    CHECK(std::string(text) != "unknown error");
  }
  CHECK(std::string(hipGetErrorName(hipErrorTbd)) == "hipErrorTbd");
  OK(hipDrvGetErrorString(hipErrorUnknown, &text));
  GIVES(hipErrorInvalidValue, hipDrvGetErrorString(static_cast<hipError_t>(-1), &text));
  CHECK(std::string(text) == "unknown error");
  GIVES(hipErrorInvalidValue, hipDrvGetErrorName(hipSuccess, nullptr));

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

  // A launch in steps: its arguments are those of the configuration that was made last, however it was made.
  int* out;
  OK(hipMalloc(&out, sizeof *out));
  for (const bool pushed : {false, true}) {
    OK(hipMemset(out, 0, sizeof *out));
    OK(pushed ? __hipPushCallConfiguration(1, 1, 0, nullptr) : hipConfigureCall(1, 1, 0, nullptr));
    OK(hipSetupArgument(&out, sizeof out, 0));
    OK(hipLaunchByPtr(reinterpret_cast<const void*>(store)));
    CHECK(Download(out, 1)[0] == 42);
  }
  GIVES(hipErrorMissingConfiguration, hipSetupArgument(&out, sizeof out, 0));
  GIVES(hipErrorMissingConfiguration, hipLaunchByPtr(reinterpret_cast<const void*>(store)));

  // Attributes are looked at as AMD's runtime does; launches have the device's limit in any case.
  const void* const kernel = reinterpret_cast<const void*>(nothing);
  hipFuncAttributes a;
  OK(hipFuncSetAttribute(kernel, hipFuncAttributeMaxDynamicSharedMemorySize, 1024));
  OK(hipFuncGetAttributes(&a, kernel));
  CHECK(a.maxDynamicSharedSizeBytes == 1024);
  GIVES(hipErrorInvalidValue, hipFuncSetAttribute(kernel, hipFuncAttributeMaxDynamicSharedMemorySize, -1));
  GIVES(hipErrorInvalidValue, hipFuncSetAttribute(kernel, hipFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
  GIVES(hipErrorInvalidValue, hipFuncSetAttribute(kernel, hipFuncAttributePreferredSharedMemoryCarveout, 101));
  GIVES(hipErrorInvalidValue, hipFuncSetAttribute(kernel, static_cast<hipFuncAttribute>(-1), 50));
  GIVES(hipErrorInvalidDeviceFunction, hipFuncSetAttribute(nullptr, hipFuncAttributeMaxDynamicSharedMemorySize, 0));
  return Ok();
}
