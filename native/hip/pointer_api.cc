// What is known about a pointer, hints for managed memory. Source: HIP API documentation, "Memory management", "Managed memory".
#include <algorithm>
#include <cstring>

#include "hip/runtime.h"

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

extern "C" {

namespace {
bool IsHostMemory(const MemoryInfo& info) {
  return info.kind == MemoryKind::kHost || info.kind == MemoryKind::kManaged || info.kind == MemoryKind::kRegistered;
}
int MemoryTypeOf(const MemoryInfo& info) {
  const MemoryTypes types = MemoryTypesOfHip();
  if (!IsHostMemory(info)) return types.device;
  return info.kind == MemoryKind::kManaged ? types.managed : types.host;
}
}  // namespace

hipError_t hipPointerGetAttributes(hipPointerAttribute_t* a, const void* pointer) {
  MemoryInfo info;
  if (a == nullptr || pointer == nullptr) return Done(hipErrorInvalidValue);
  const bool known = FindMemory(pointer, &info);
  // From HIP 6 on, memory that is the program's own has a type too (hipMemoryTypeUnregistered, 0).
  if (!known && HipMajor() < 6) return Done(hipErrorInvalidValue);
  std::memset(static_cast<void*>(a), 0, sizeof *a);
  if (!known) {
    a->device = -2;
    return Done(hipSuccess);
  }
  a->memoryType = static_cast<hipMemoryType>(MemoryTypeOf(info));
  a->devicePointer = const_cast<void*>(pointer);
  a->hostPointer = IsHostMemory(info) ? const_cast<void*>(pointer) : nullptr;
  a->device = info.device;
  a->isManaged = info.kind == MemoryKind::kManaged;
  a->allocationFlags = info.flags;
  return Done(hipSuccess);
}
hipError_t hipPointerGetAttribute(void* value, hipPointer_attribute attribute, hipDeviceptr_t pointer) {
  MemoryInfo info;
  if (value == nullptr || !FindMemory(pointer, &info)) return Done(hipErrorInvalidValue);
  // Numbers that HIP 5.2's header does not name: capabilities for RDMA (15) and the pool (17).
  constexpr int kLastAttribute = 17;
  const auto put = [&]<typename T>(const T& v) {
    std::memcpy(value, &v, sizeof(T));
    return Done(hipSuccess);
  };
  switch (attribute) {
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put(MemoryTypeOf(info));
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return put(pointer);
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
      // Memory of the device has no address for the host, as on hardware.
      if (IsHostMemory(info)) return put(pointer);
      (void)put(static_cast<void*>(nullptr));
      return Done(hipErrorInvalidValue);
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED:
      return put(info.kind == MemoryKind::kManaged);
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put(info.device);
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return put(info.address);
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE:
      // 32 bits, as AMD's runtime writes and its tests read.
      return put(static_cast<uint32_t>(info.size));
    case HIP_POINTER_ATTRIBUTE_MAPPED:
      return put(true);
    case HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return put(static_cast<unsigned>(info.sync_operations));
    case HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return put(static_cast<unsigned>(hipMemAccessFlagsProtReadWrite));
    case HIP_POINTER_ATTRIBUTE_BUFFER_ID:
      // Unlike addresses, numbers are not used again.
      return put(static_cast<unsigned>(info.id));
    default:
      // Context, tokens, handle types: AMD's runtime does not support them either.
      return Done(attribute > 0 && static_cast<int>(attribute) <= kLastAttribute ? hipErrorNotSupported
                                                                                 : hipErrorInvalidValue);
  }
}
hipError_t hipDrvPointerGetAttributes(unsigned count, hipPointer_attribute* attributes, void** data,
                                      hipDeviceptr_t pointer) {
  if (count == 0 || attributes == nullptr || data == nullptr || pointer == nullptr) return Done(hipErrorInvalidValue);
  MemoryInfo info;
  const bool known = FindMemory(pointer, &info);
  for (unsigned n = 0; n < count; n++) {
    if (data[n] == nullptr) return Done(hipErrorInvalidValue);
    // What is asked about memory that HIP does not know is 0.
    if (!known) {
      std::memset(data[n], 0, sizeof(int));
      continue;
    }
    if (attributes[n] == HIP_POINTER_ATTRIBUTE_HOST_POINTER && !IsHostMemory(info)) {
      std::memset(data[n], 0, sizeof(void*));
      continue;
    }
    const hipError_t error = hipPointerGetAttribute(data[n], attributes[n], pointer);
    if (error != hipSuccess) return Done(error);
  }
  return Done(hipSuccess);
}
hipError_t hipMemPtrGetInfo(void* pointer, size_t* size) {
  MemoryInfo info;
  if (size == nullptr) return Done(hipErrorInvalidValue);
  if (pointer == nullptr) {
    *size = 0;
    return Done(hipSuccess);
  }
  if (!FindMemory(pointer, &info) || info.address != reinterpret_cast<uint64_t>(pointer))
    return Done(hipErrorInvalidValue);
  *size = info.size;
  return Done(hipSuccess);
}
hipError_t hipPointerSetAttribute(const void* value, hipPointer_attribute attribute, hipDeviceptr_t pointer) {
  // HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS: copies and fills of this memory are then done when they return.
  constexpr int kSyncMemops = 6;
  if (value == nullptr || pointer == nullptr || static_cast<int>(attribute) != kSyncMemops) {
    return Done(hipErrorInvalidValue);
  }
  int word;
  std::memcpy(&word, value, sizeof word);
  return Done(SetSyncOperations(pointer, word != 0) ? hipSuccess : hipErrorInvalidDevicePointer);
}
hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, size_t* size, hipDeviceptr_t pointer) {
  MemoryInfo info;
  if (!FindMemory(pointer, &info)) return Done(hipErrorNotFound);
  if (base != nullptr) *base = reinterpret_cast<hipDeviceptr_t>(info.address);
  if (size != nullptr) *size = info.size;
  return Done(hipSuccess);
}

}  // extern "C"
