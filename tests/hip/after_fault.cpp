// HIP 7: after a fault of a kernel the program goes on, and every call gives the fault's error. The argument says which fault.
#include <string>

#include "check.h"

__global__ void stores(int* p) { p[threadIdx.x] = 1; }
__global__ void traps() { __builtin_trap(); }

int main(int, char** argv) {
  const std::string kind = argv[1];
  hipStream_t one, other;
  OK(hipStreamCreate(&one));
  OK(hipStreamCreate(&other));
  int* before;
  OK(hipMalloc(reinterpret_cast<void**>(&before), 64));
  hipEvent_t event;
  OK(hipEventCreate(&event));
  if (kind == "trap") {
    traps<<<1, 1, 0, one>>>();
  } else {
    // Nothing, and the aperture of LDS.
    stores<<<1, 16, 0, one>>>(reinterpret_cast<int*>(kind == "null" ? 0 : 0xFFFF000000000000ull));
  }
  OK(hipGetLastError());
  const hipError_t error = kind == "trap" ? hipErrorLaunchFailure : hipErrorIllegalAddress;
  GIVES(error, hipStreamSynchronize(one));
  GIVES(error, hipGetLastError());
  GIVES(error, hipGetLastError());
  GIVES(error, hipPeekAtLastError());
  GIVES(error, hipDeviceSynchronize());
  GIVES(error, hipStreamSynchronize(nullptr));
  stores<<<1, 1, 0, other>>>(before);
  GIVES(error, hipGetLastError());
  GIVES(error, hipStreamSynchronize(other));
  int* p = before;
  int count;
  GIVES(error, hipMalloc(reinterpret_cast<void**>(&p), 64));
  GIVES(error, hipMemset(before, 0, 64));
  GIVES(error, hipMemcpy(before, &count, sizeof count, hipMemcpyHostToDevice));
  GIVES(error, hipMemcpyAsync(before, &count, sizeof count, hipMemcpyHostToDevice, other));
  GIVES(error, hipEventRecord(event, one));
  GIVES(error, hipEventSynchronize(event));
  GIVES(error, hipGetDeviceCount(&count));
  GIVES(error, hipSetDevice(0));
  GIVES(error, hipStreamCreate(&other));
  GIVES(error, hipStreamDestroy(one));
  GIVES(error, hipFree(before));
  GIVES(error, hipDeviceReset());
  return Ok();
}
