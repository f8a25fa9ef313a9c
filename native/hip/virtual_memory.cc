// Virtual memory: memory without an address, addresses without memory, and what maps one to the other. Source: HIP API documentation,
// "Virtual Memory Management".
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "common/size.h"
#include "hip/runtime.h"

namespace wavesmith::hip {
namespace {

// hipMemGetAllocationGranularity: a page.
constexpr size_t kGranule = 4096;
constexpr int kPinned = 1;
// hipMemAllocationTypeUncached of HIP 7.
constexpr int kUncached = 0x40000000;
constexpr int kFileDescriptor = 1;

// hipMemAllocationProp as HIP 5.3 and later lay it out; HIP 5.2 had another order.
struct Properties {
  int type;
  int handle_type;
  hipMemLocation location;
  void* win32;
  unsigned char compression;
  unsigned char rdma;
  unsigned short usage;
};
static_assert(sizeof(Properties) == 32);

// Memory without an address.
struct Physical {
  hsa_amd_vmem_alloc_handle_t handle{};
  size_t size = 0;
  Properties properties{};
  // Handles that the program has, and mappings: it lives as long as there is either.
  unsigned handles = 1;
  unsigned mapped = 0;
};
struct Mapping {
  size_t size;
  Physical* physical;
  // hipMemAccessFlags by device.
  std::map<int, unsigned long long> access;
};

std::mutex mutex;
// Never destroyed: work that a stream still has ends after the destructors of a program's and of this library's objects.
auto& physicals = *new std::set<Physical*>;
auto& reservations = *new std::map<uint64_t, size_t>;
auto& mappings = *new std::map<uint64_t, Mapping>;

Physical* Find(hipMemGenericAllocationHandle_t handle) {
  auto* const physical = reinterpret_cast<Physical*>(handle);
  return physicals.contains(physical) && physical->handles > 0 ? physical : nullptr;
}
void DropUnused(Physical* physical) {
  if (physical->handles + physical->mapped > 0) return;
  physicals.erase(physical);
  hsa_amd_vmem_handle_release(physical->handle);
  delete physical;
}

bool IsLocation(const hipMemLocation& location) {
  return location.type == hipMemLocationTypeDevice && IsDevice(location.id);
}
bool IsValid(const Properties& p) { return (p.type == kPinned || p.type == kUncached) && IsLocation(p.location); }

// The mappings that a range consists of, without a gap; empty when it does not.
std::vector<std::map<uint64_t, Mapping>::iterator> Covering(uint64_t begin, size_t size) {
  std::vector<std::map<uint64_t, Mapping>::iterator> found;
  const Size end = Size(begin) + size;
  if (!end.ok()) return {};
  uint64_t at = begin;
  for (auto next = mappings.find(begin); at < end.value(); ++next) {
    if (next == mappings.end() || next->first != at) return {};
    found.push_back(next);
    at += next->second.size;
  }
  return at == end.value() ? found : std::vector<std::map<uint64_t, Mapping>::iterator>{};
}

hipError_t Create(Physical made, hipMemGenericAllocationHandle_t* handle) {
  auto* const physical = new Physical(made);
  const std::lock_guard lock(mutex);
  physicals.insert(physical);
  *handle = reinterpret_cast<hipMemGenericAllocationHandle_t>(physical);
  return hipSuccess;
}

}  // namespace
}  // namespace wavesmith::hip

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

extern "C" {

hipError_t hipMemGetAllocationGranularity(size_t* granularity, const hipMemAllocationProp* prop,
                                          hipMemAllocationGranularity_flags option) {
  if (granularity == nullptr || prop == nullptr) return Done(hipErrorInvalidValue);
  const bool known = option == hipMemAllocationGranularityMinimum || option == hipMemAllocationGranularityRecommended;
  if (!known || !IsValid(*reinterpret_cast<const Properties*>(prop))) return Done(hipErrorInvalidValue);
  *granularity = kGranule;
  return Done(hipSuccess);
}

hipError_t hipMemAddressReserve(void** pointer, size_t size, size_t alignment, void* wanted, unsigned long long flags) {
  hipError_t error;
  if (pointer == nullptr || flags != 0) return Done(hipErrorInvalidValue);
  if (GetDevice(&error) == nullptr) return Done(error);
  if (size == 0 || size % kGranule != 0 || (alignment & (alignment - 1)) != 0) return Done(hipErrorOutOfMemory);
  *pointer = nullptr;
  if (hsa_amd_vmem_address_reserve_align(pointer, size, reinterpret_cast<uint64_t>(wanted) & ~(kGranule - 1), alignment,
                                         0) != HSA_STATUS_SUCCESS) {
    return Done(hipErrorOutOfMemory);
  }
  const std::lock_guard lock(mutex);
  reservations[reinterpret_cast<uint64_t>(*pointer)] = size;
  return Done(hipSuccess);
}
hipError_t hipMemAddressFree(void* pointer, size_t size) {
  if (pointer == nullptr || size == 0) return Done(hipErrorInvalidValue);
  const std::lock_guard lock(mutex);
  const auto found = reservations.find(reinterpret_cast<uint64_t>(pointer));
  if (found == reservations.end() || found->second != size) return Done(hipErrorInvalidValue);
  if (hsa_amd_vmem_address_free(pointer, size) != HSA_STATUS_SUCCESS) return Done(hipErrorInvalidValue);
  reservations.erase(found);
  return Done(hipSuccess);
}

hipError_t hipMemCreate(hipMemGenericAllocationHandle_t* handle, size_t size, const hipMemAllocationProp* prop,
                        unsigned long long flags) {
  if (handle == nullptr || size == 0 || flags != 0 || prop == nullptr) return Done(hipErrorInvalidValue);
  Physical made;
  std::memcpy(&made.properties, prop, sizeof made.properties);
  if (!IsValid(made.properties)) return Done(hipErrorInvalidValue);
  // Windows' handles are of no use here.
  if ((made.properties.handle_type & ~kFileDescriptor) != 0) return Done(hipErrorNotSupported);
  if (size % kGranule != 0) return Done(hipErrorInvalidValue);
  hipError_t error;
  const Device* const device = GetDevice(&error);
  if (device == nullptr) return Done(error);
  made.size = size;
  if (hsa_amd_vmem_handle_create(device->coarse, size, hsa_amd_memory_type_t{1}, 0, &made.handle) !=
      HSA_STATUS_SUCCESS) {
    return Done(hipErrorOutOfMemory);
  }
  return Create(made, handle);
}
hipError_t hipMemRelease(hipMemGenericAllocationHandle_t handle) {
  const std::lock_guard lock(mutex);
  Physical* const physical = Find(handle);
  if (physical == nullptr) return Done(hipErrorInvalidValue);
  physical->handles--;
  DropUnused(physical);
  return Done(hipSuccess);
}
hipError_t hipMemRetainAllocationHandle(hipMemGenericAllocationHandle_t* handle, void* pointer) {
  if (handle == nullptr || pointer == nullptr) return Done(hipErrorInvalidValue);
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const std::lock_guard lock(mutex);
  const auto after = mappings.upper_bound(address);
  if (after == mappings.begin()) return Done(hipErrorInvalidValue);
  const auto& [begin, mapping] = *std::prev(after);
  if (address - begin >= mapping.size) return Done(hipErrorInvalidValue);
  mapping.physical->handles++;
  *handle = reinterpret_cast<hipMemGenericAllocationHandle_t>(mapping.physical);
  return Done(hipSuccess);
}
hipError_t hipMemGetAllocationPropertiesFromHandle(hipMemAllocationProp* prop, hipMemGenericAllocationHandle_t handle) {
  const std::lock_guard lock(mutex);
  const Physical* const physical = Find(handle);
  if (prop == nullptr || physical == nullptr) return Done(hipErrorInvalidValue);
  std::memcpy(static_cast<void*>(prop), &physical->properties, sizeof physical->properties);
  return Done(hipSuccess);
}

hipError_t hipMemMap(void* pointer, size_t size, size_t offset, hipMemGenericAllocationHandle_t handle,
                     unsigned long long flags) {
  // An offset into the memory is not possible, as HIP says.
  if (pointer == nullptr || size == 0 || offset != 0 || flags != 0) return Done(hipErrorInvalidValue);
  const std::lock_guard lock(mutex);
  Physical* const physical = Find(handle);
  if (physical == nullptr || size > physical->size) return Done(hipErrorInvalidValue);
  if (hsa_amd_vmem_map(pointer, size, 0, physical->handle, 0) != HSA_STATUS_SUCCESS) return Done(hipErrorInvalidValue);
  physical->mapped++;
  mappings[reinterpret_cast<uint64_t>(pointer)] = {size, physical, {}};
  RecordMemory(pointer, size, MemoryKind::kMapped, 0, physical->properties.location.id);
  return Done(hipSuccess);
}
hipError_t hipMemUnmap(void* pointer, size_t size) {
  if (pointer == nullptr || size == 0) return Done(hipErrorInvalidValue);
  {
    const std::lock_guard lock(mutex);
    if (Covering(reinterpret_cast<uint64_t>(pointer), size).empty()) return Done(hipErrorInvalidValue);
  }
  // Kernels that still use it must end first.
  const hipError_t error = SynchronizeAll();
  const std::lock_guard lock(mutex);
  for (const auto& at : Covering(reinterpret_cast<uint64_t>(pointer), size)) {
    auto* const begin = reinterpret_cast<void*>(at->first);
    ForgetMemory(begin);
    hsa_amd_vmem_unmap(begin, at->second.size);
    at->second.physical->mapped--;
    DropUnused(at->second.physical);
    mappings.erase(at);
  }
  return Done(error);
}

hipError_t hipMemSetAccess(void* pointer, size_t size, const hipMemAccessDesc* list, size_t count) {
  if (pointer == nullptr || size == 0 || list == nullptr || count == 0) return Done(hipErrorInvalidValue);
  const auto known = [](const hipMemAccessDesc& d) {
    const auto flags = static_cast<unsigned>(d.flags);
    return IsLocation(d.location) && (flags == hipMemAccessFlagsProtNone || flags == hipMemAccessFlagsProtRead ||
                                      flags == hipMemAccessFlagsProtReadWrite);
  };
  if (!std::all_of(list, list + count, known)) return Done(hipErrorInvalidValue);
  hipError_t error;
  const Device* const device = GetDevice(&error);
  if (device == nullptr) return Done(error);
  const std::lock_guard lock(mutex);
  const auto covering = Covering(reinterpret_cast<uint64_t>(pointer), size);
  if (covering.empty()) return Done(hipErrorInvalidValue);
  for (const auto& at : covering) {
    unsigned long long any = 0;
    for (size_t n = 0; n < count; n++) at->second.access[list[n].location.id] = list[n].flags;
    for (const auto& [id, flags] : at->second.access) any |= flags;
    const hsa_amd_memory_access_desc_t access{any == hipMemAccessFlagsProtReadWrite ? HSA_ACCESS_PERMISSION_RW
                                              : any == hipMemAccessFlagsProtRead    ? HSA_ACCESS_PERMISSION_RO
                                                                                    : kAccessNone,
                                              device->gpu};
    if (hsa_amd_vmem_set_access(reinterpret_cast<void*>(at->first), at->second.size, &access, 1) !=
        HSA_STATUS_SUCCESS) {
      return Done(hipErrorInvalidValue);
    }
  }
  return Done(hipSuccess);
}
hipError_t hipMemGetAccess(unsigned long long* flags, const hipMemLocation* location, void* pointer) {
  if (flags == nullptr || location == nullptr || pointer == nullptr || !IsLocation(*location)) {
    return Done(hipErrorInvalidValue);
  }
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const std::lock_guard lock(mutex);
  const auto after = mappings.upper_bound(address);
  if (after == mappings.begin()) return Done(hipErrorInvalidValue);
  const auto& [begin, mapping] = *std::prev(after);
  if (address - begin >= mapping.size) return Done(hipErrorInvalidValue);
  const auto found = mapping.access.find(location->id);
  *flags = found == mapping.access.end() ? static_cast<unsigned long long>(hipMemAccessFlagsProtNone) : found->second;
  return Done(hipSuccess);
}

hipError_t hipMemExportToShareableHandle(void* shareable, hipMemGenericAllocationHandle_t handle,
                                         hipMemAllocationHandleType type, unsigned long long flags) {
  const std::lock_guard lock(mutex);
  const Physical* const physical = Find(handle);
  if (shareable == nullptr || physical == nullptr || flags != 0) return Done(hipErrorInvalidValue);
  if (static_cast<int>(type) != kFileDescriptor || physical->properties.handle_type != kFileDescriptor) {
    return Done(hipErrorInvalidValue);
  }
  int descriptor;
  if (hsa_amd_vmem_export_shareable_handle(&descriptor, physical->handle, 0) != HSA_STATUS_SUCCESS) {
    return Done(hipErrorInvalidValue);
  }
  std::memcpy(shareable, &descriptor, sizeof descriptor);
  return Done(hipSuccess);
}
// The descriptor itself takes the place of the pointer, as in CUDA; a pointer to one is taken too, as in HIP before 7.
hipError_t hipMemImportFromShareableHandle(hipMemGenericAllocationHandle_t* handle, void* shareable,
                                           hipMemAllocationHandleType type) {
  if (handle == nullptr || shareable == nullptr || static_cast<int>(type) != kFileDescriptor) {
    return Done(hipErrorInvalidValue);
  }
  hipError_t error;
  if (GetDevice(&error) == nullptr) return Done(error);
  const auto word = reinterpret_cast<uintptr_t>(shareable);
  constexpr uintptr_t kLargestDescriptor = 1 << 20;
  const int descriptor = word <= kLargestDescriptor ? static_cast<int>(word) : *static_cast<const int*>(shareable);
  Physical made;
  if (hsa_amd_vmem_import_shareable_handle(descriptor, &made.handle) != HSA_STATUS_SUCCESS) {
    return Done(hipErrorInvalidValue);
  }
  made.size = static_cast<size_t>(lseek(descriptor, 0, SEEK_END));
  made.properties = {kPinned, kFileDescriptor, {hipMemLocationTypeDevice, 0}, nullptr, 0, 0, 0};
  return Create(made, handle);
}

hipError_t hipMemGetHandleForAddressRange(void* handle, hipDeviceptr_t pointer, size_t size, int type,
                                          unsigned long long flags) {
  constexpr int kDmaBuffer = 1;
  MemoryInfo info;
  if (handle == nullptr || pointer == nullptr || size == 0 || type != kDmaBuffer || flags != 0) {
    return Done(hipErrorInvalidValue);
  }
  if (!FindMemory(pointer, &info) || !Fits(pointer, size)) return Done(hipErrorInvalidValue);
  int descriptor;
  uint64_t offset;
  if (hsa_amd_portable_export_dmabuf(pointer, size, &descriptor, &offset) != HSA_STATUS_SUCCESS) {
    return Done(hipErrorNotSupported);
  }
  std::memcpy(handle, &descriptor, sizeof descriptor);
  return Done(hipSuccess);
}

}  // extern "C"
