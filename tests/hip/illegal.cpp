// Illegal states and handles: each is an error, none a crash.
#include "check.h"

__global__ void nothing() {}

int main() {
  auto* const bad = reinterpret_cast<hipStream_t>(0x1234);
  auto* const bad_event = reinterpret_cast<hipEvent_t>(0x1234);
  CHECK(hipStreamSynchronize(bad) != hipSuccess);
  CHECK(hipStreamQuery(bad) != hipSuccess);
  CHECK(hipEventRecord(bad_event, nullptr) != hipSuccess);
  CHECK(hipEventSynchronize(bad_event) != hipSuccess);
  float ms;
  CHECK(hipEventElapsedTime(&ms, bad_event, bad_event) != hipSuccess);
  CHECK(hipStreamWaitEvent(nullptr, bad_event, 0) != hipSuccess);
  CHECK(hipModuleLaunchKernel(reinterpret_cast<hipFunction_t>(0x1234), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) !=
        hipSuccess);
  hipFunction_t f;
  CHECK(hipModuleGetFunction(&f, reinterpret_cast<hipModule_t>(0x1234), "x") != hipSuccess);
  nothing<<<1, 1, 0, bad>>>();
  CHECK(hipGetLastError() != hipSuccess);
  GIVES(hipErrorInvalidValue, hipHostFree(reinterpret_cast<void*>(0x1234)));
  GIVES(hipErrorInvalidValue, hipFree(reinterpret_cast<void*>(0x1234)));
  GIVES(hipErrorInvalidValue, hipFreeAsync(reinterpret_cast<void*>(0x1234), nullptr));
  GIVES(hipErrorInvalidValue, hipGetDeviceCount(nullptr));
  GIVES(hipErrorInvalidValue, hipGetDevice(nullptr));
  GIVES(hipErrorInvalidValue, hipStreamCreate(nullptr));
  GIVES(hipErrorInvalidValue, hipStreamAddCallback(nullptr, nullptr, nullptr, 0));
  GIVES(hipErrorInvalidValue, hipLaunchHostFunc(nullptr, nullptr, nullptr));
  CHECK(hipGraphLaunch(reinterpret_cast<hipGraphExec_t>(0x1234), nullptr) != hipSuccess);
  CHECK(hipMemPoolDestroy(reinterpret_cast<hipMemPool_t>(0x1234)) != hipSuccess);
  (void)hipGetLastError();
  nothing<<<1, 1>>>();
  OK(hipGetLastError());
  OK(hipDeviceSynchronize());
  OK(hipDeviceReset());
  return Ok();
}
