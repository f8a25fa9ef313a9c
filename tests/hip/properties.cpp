// Device properties (the structures of HIP 5 and of HIP 6), attributes, names, identity, limits, versions.
#include <dlfcn.h>

#include <string>

#include "check.h"

static int Attribute(hipDeviceAttribute_t attribute) {
  int value = -1;
  OK(hipDeviceGetAttribute(&value, attribute, 0));
  return value;
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  const std::string target = argv[1];
  int count = 0, version = 0;
  OK(hipInit(0));
  OK(hipGetDeviceCount(&count));
  CHECK(count == 1);
  OK(hipRuntimeGetVersion(&version));
  CHECK(version >= 50000000);
  hipDeviceProp_t p;
  OK(hipGetDeviceProperties(&p, 0));
  CHECK(std::string(p.gcnArchName).rfind(target, 0) == 0);
  CHECK(std::strlen(p.name) > 0 && p.warpSize == 64 && p.maxThreadsPerBlock == 1024);
  CHECK(p.major == 9 && p.minor == (target == "gfx90a" ? 0 : target == "gfx942" ? 4 : 5));
  CHECK(p.sharedMemPerBlock == (target == "gfx950" ? 163840u : 65536u));
  CHECK(p.multiProcessorCount == (target == "gfx90a" ? 104 : target == "gfx942" ? 304 : 256));
  CHECK(p.totalGlobalMem > (1u << 30) && p.regsPerBlock == 65536 && p.canMapHostMemory == 1);
  CHECK(p.arch.hasDoubles && p.arch.hasWarpBallot && p.managedMemory);

  CHECK(Attribute(hipDeviceAttributeWarpSize) == p.warpSize);
  CHECK(Attribute(hipDeviceAttributeMaxThreadsPerBlock) == 1024);
  CHECK(Attribute(hipDeviceAttributeMultiprocessorCount) == p.multiProcessorCount);
  CHECK(Attribute(hipDeviceAttributeMaxSharedMemoryPerBlock) == static_cast<int>(p.sharedMemPerBlock));
  CHECK(Attribute(hipDeviceAttributeComputeCapabilityMinor) == p.minor);
  CHECK(Attribute(hipDeviceAttributeCooperativeLaunch) == 1);
  CHECK(Attribute(hipDeviceAttributeManagedMemory) == 1);
  CHECK(Attribute(hipDeviceAttributeIntegrated) == 0);
  int value;
  GIVES(hipErrorInvalidValue, hipDeviceGetAttribute(&value, static_cast<hipDeviceAttribute_t>(123456), 0));

  // HIP 6 renamed the function with its structure: name at 0, uuid at 256, gcnArchName at 1160.
  using GetR0600 = hipError_t (*)(void*, int);
  const auto get = reinterpret_cast<GetR0600>(dlsym(RTLD_DEFAULT, "hipGetDevicePropertiesR0600"));
  CHECK(get != nullptr);
  std::vector<char> r0600(4096, 0x77);
  OK(get(r0600.data(), 0));
  CHECK(std::string(r0600.data()) == p.name && std::string(r0600.data() + 1160) == p.gcnArchName);
  size_t memory;
  std::memcpy(&memory, r0600.data() + 288, sizeof memory);
  CHECK(memory == p.totalGlobalMem);
  CHECK(r0600[1472] == 0x77);

  char name[256];
  OK(hipDeviceGetName(name, sizeof name, 0));
  CHECK(std::string(name) == p.name);
  int major, minor;
  OK(hipDeviceComputeCapability(&major, &minor, 0));
  CHECK(major == p.major && minor == p.minor);
  char bus[32];
  int device = 7;
  OK(hipDeviceGetPCIBusId(bus, sizeof bus, 0));
  OK(hipDeviceGetByPCIBusId(&device, bus));
  CHECK(device == 0);
  size_t total = 0;
  OK(hipDeviceTotalMem(&total, 0));
  CHECK(total == p.totalGlobalMem);
  size_t limit = 0;
  OK(hipDeviceGetLimit(&limit, hipLimitMallocHeapSize));
  CHECK(limit > 0);
  unsigned flags = 9;
  OK(hipSetDeviceFlags(hipDeviceScheduleSpin));
  OK(hipGetDeviceFlags(&flags));
  CHECK(flags == hipDeviceScheduleSpin);
  std::printf("%s, %s\n", p.name, p.gcnArchName);
  return Ok();
}
