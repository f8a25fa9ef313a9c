// hipPointerGetAttributes and its relatives for every kind of memory.
#include "check.h"

// HIP 6 gave hipMemoryType other numbers than Debian's header has.
#if HIP_MAJOR == 6
constexpr int kUnregistered = 0, kHost = 1, kDevice = 2, kManaged = 3;
#else
constexpr int kHost = hipMemoryTypeHost, kDevice = hipMemoryTypeDevice, kManaged = hipMemoryTypeUnified;
#endif

static hipPointerAttribute_t Attributes(const void* p) {
  hipPointerAttribute_t a;
  OK(hipPointerGetAttributes(&a, p));
  return a;
}

// Memory that HIP does not know: from HIP 6 on it has a type of its own, before that it is an error.
static void CheckUnknown(const void* p) {
  hipPointerAttribute_t none;
#if HIP_MAJOR == 6
  OK(hipPointerGetAttributes(&none, p));
  CHECK(none.memoryType == kUnregistered && none.devicePointer == nullptr && none.hostPointer == nullptr);
#else
  GIVES(hipErrorInvalidValue, hipPointerGetAttributes(&none, p));
#endif
}

int main() {
  char *device, *host, *managed;
  OK(hipMalloc(&device, 1000));
  OK(hipHostMalloc(reinterpret_cast<void**>(&host), 1000, hipHostMallocPortable));
  OK(hipMallocManaged(reinterpret_cast<void**>(&managed), 1000));
  std::vector<char> own(10000);
  OK(hipHostRegister(own.data(), own.size(), 0));

  auto a = Attributes(device + 10);
  CHECK(a.memoryType == kDevice && a.devicePointer == device + 10 && a.hostPointer == nullptr);
  CHECK(a.isManaged == 0 && a.device == 0);
  a = Attributes(host + 3);
  CHECK(a.memoryType == kHost && a.hostPointer == host + 3 && a.devicePointer == host + 3);
  CHECK(a.allocationFlags == hipHostMallocPortable);
  a = Attributes(managed);
  CHECK(a.memoryType == kManaged && a.isManaged == 1 && a.devicePointer == managed && a.hostPointer == managed);
  a = Attributes(own.data() + 5);
  CHECK(a.memoryType == kHost && a.hostPointer == own.data() + 5);
  int local;
  CheckUnknown(&local);
  CheckUnknown(device + 100000000);
  GIVES(hipErrorInvalidValue, hipPointerGetAttributes(nullptr, device));

  size_t size = 0;
  hipDeviceptr_t base, found;
  OK(hipMemGetAddressRange(&base, &size, device + 500));
  CHECK(base == device && size == 1000);
  OK(hipPointerGetAttribute(&found, HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR, device + 1));
  CHECK(found == device);
  OK(hipPointerGetAttribute(&size, HIP_POINTER_ATTRIBUTE_RANGE_SIZE, host + 1));
  CHECK(size == 1000);
  bool is_managed = true;
  OK(hipPointerGetAttribute(&is_managed, HIP_POINTER_ATTRIBUTE_IS_MANAGED, device));
  CHECK(!is_managed);
  OK(hipHostUnregister(own.data()));
  CheckUnknown(own.data());
  int version = 0;
  OK(hipRuntimeGetVersion(&version));
  CHECK(version / 10000000 == HIP_MAJOR);
  return Ok();
}
