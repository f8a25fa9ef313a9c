// What this device does not have (textures, arrays) says so; nothing crashes.
#include "check.h"

int main() {
  hipArray* array = nullptr;
  const hipChannelFormatDesc format = {32, 0, 0, 0, hipChannelFormatKindFloat};
  GIVES(hipErrorNotSupported, hipMallocArray(&array, &format, 16, 16, 0));
  GIVES(hipErrorNotSupported, hipGetLastError());
  hipTextureObject_t texture;
  hipResourceDesc resource{};
  hipTextureDesc description{};
  GIVES(hipErrorNotSupported, hipCreateTextureObject(&texture, &resource, &description, nullptr));
  GIVES(hipErrorInvalidValue, hipMallocArray(nullptr, &format, 16, 16, 0));
  GIVES(hipErrorInvalidValue, hipFreeArray(nullptr));
  int* p;
  OK(hipMalloc(&p, 4));
  int support = 9;
  OK(hipDeviceGetAttribute(&support, hipDeviceAttributeMaxTexture2DWidth, 0));
  CHECK(support == 0);
  // The device still works.
  OK(hipMemset(p, 1, 4));
  CHECK(Download(p, 1)[0] == 0x01010101);
  return Ok();
}
