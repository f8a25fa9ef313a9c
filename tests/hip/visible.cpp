// Prints the buses of the devices that the program sees, and uses each of them.
#include "check.h"

__global__ void Write(int* to, int value) { *to = value; }

int main() {
  int count = 0;
  const hipError_t error = hipGetDeviceCount(&count);
  CHECK(error == (count == 0 ? hipErrorNoDevice : hipSuccess));
  for (int n = 0; n < count; n++) {
    hipDeviceProp_t properties;
    OK(hipGetDeviceProperties(&properties, n));
    char place[16];
    OK(hipDeviceGetPCIBusId(place, sizeof place, n));
    int found = -1;
    OK(hipDeviceGetByPCIBusId(&found, place));
    CHECK(found == n && place[6] - '0' == properties.pciBusID);
    OK(hipSetDevice(n));
    int* memory;
    int got = 0;
    OK(hipMalloc(&memory, sizeof got));
    hipPointerAttribute_t attributes;
    OK(hipPointerGetAttributes(&attributes, memory));
    CHECK(attributes.device == n);
    Write<<<1, 1>>>(memory, n + 5);
    OK(hipMemcpy(&got, memory, sizeof got, hipMemcpyDeviceToHost));
    CHECK(got == n + 5);
    std::printf("%d\n", properties.pciBusID);
  }
  return Ok();
}
