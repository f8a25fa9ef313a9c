// Memory: allocation of every kind, registered memory of the program. All of it is one memory that host and device address alike. Source: HIP API documentation, "Memory management".
#include <algorithm>
#include <cstring>

#include "common/size.h"
#include "hip/runtime.h"

namespace wavesmith::hip {
namespace {

// Rows of hipMallocPitch begin at multiples of this.
constexpr size_t kPitchGranule = 256;

std::mutex mutex;
// Never destroyed: work that a stream still has ends after the destructors of a program's and of this library's objects.
auto& allocations = *new std::map<uint64_t, MemoryInfo>;

// What AllocateMemory gave.
bool IsAllocated(MemoryKind kind) {
  return kind == MemoryKind::kDevice || kind == MemoryKind::kHost || kind == MemoryKind::kManaged;
}

}  // namespace

void RecordMemory(void* pointer, size_t size, MemoryKind kind, unsigned flags, int device) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const std::lock_guard lock(mutex);
  static uint64_t next_id = 1;
  allocations[address] = {address, size, kind, flags, next_id++, device, false};
}
void ForgetMemory(void* pointer) {
  const std::lock_guard lock(mutex);
  allocations.erase(reinterpret_cast<uint64_t>(pointer));
}

hipError_t AllocateMemory(size_t size, MemoryKind kind, unsigned flags, void** pointer) {
  hipError_t error;
  Device* const device = GetDevice(&error);
  if (device == nullptr) return error;
  if (pointer == nullptr) return hipErrorInvalidValue;
  *pointer = nullptr;
  if (size == 0) return hipSuccess;
  const hsa_amd_memory_pool_t pool = kind == MemoryKind::kDevice ? device->coarse : device->fine;
  if (hsa_amd_memory_pool_allocate(pool, size, 0, pointer) != HSA_STATUS_SUCCESS) return hipErrorOutOfMemory;
  RecordMemory(*pointer, size, kind, flags, device->number);
  return hipSuccess;
}

hipError_t FreeMemory(void* pointer, MemoryKind kind) {
  if (pointer == nullptr) return hipSuccess;
  if (kind != MemoryKind::kHost && ReleaseGraphMemory(pointer)) return SynchronizeAll();
  {
    const std::lock_guard lock(mutex);
    const auto found = allocations.find(reinterpret_cast<uint64_t>(pointer));
    const MemoryKind known = found == allocations.end() ? MemoryKind::kRegistered : found->second.kind;
    // What was registered, mapped or opened ends in other ways.
    if (!IsAllocated(known)) return hipErrorInvalidValue;
    // hipFree frees memory of the host too; hipHostFree frees nothing else.
    if (kind == MemoryKind::kHost && known != kind) return hipErrorInvalidValue;
    ForgetHints(found->second.address, found->second.size);
    allocations.erase(found);
  }
  ForgetPoolMemory(pointer);
  // Kernels that still use it must end first.
  const hipError_t error = SynchronizeAll();
  hsa_amd_memory_pool_free(pointer);
  return error;
}

void FreeNow(void* pointer) {
  ForgetMemory(pointer);
  hsa_amd_memory_pool_free(pointer);
}

namespace {

// Called with the lock held; nullptr for memory that HIP does not know.
MemoryInfo* InfoOf(const void* pointer) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin()) return nullptr;
  --after;
  return address - after->first < after->second.size ? &after->second : nullptr;
}

}  // namespace

bool FindMemory(const void* pointer, MemoryInfo* info) {
  const std::lock_guard lock(mutex);
  const MemoryInfo* const found = InfoOf(pointer);
  if (found != nullptr) *info = *found;
  return found != nullptr;
}
bool SetSyncOperations(const void* pointer, bool sync) {
  const std::lock_guard lock(mutex);
  MemoryInfo* const found = InfoOf(pointer);
  if (found != nullptr) found->sync_operations = sync;
  return found != nullptr;
}

bool Fits(const void* pointer, Size size) {
  if (!size.ok()) return false;
  MemoryInfo info;
  if (!FindMemory(pointer, &info)) return true;
  const uint64_t begin = reinterpret_cast<uint64_t>(pointer);
  if (info.kind != MemoryKind::kMapped) return size.value() <= info.size - (begin - info.address);
  // Mappings that follow each other are one range.
  uint64_t end = info.address + info.size;
  while (end - begin < size.value()) {
    if (!FindMemory(reinterpret_cast<const void*>(end), &info) || info.kind != MemoryKind::kMapped) return false;
    end = info.address + info.size;
  }
  return true;
}

}  // namespace wavesmith::hip

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow
using wavesmith::Size;

extern "C" {

// Allocation ---------------------------------------------------------------------------------------------------------------------------------

hipError_t hipMalloc(void** pointer, size_t size) {
  return Done(AllocateMemory(size, MemoryKind::kDevice, 0, pointer));
}
hipError_t hipExtMallocWithFlags(void** pointer, size_t size, unsigned flags) {
  // Default, fine-grained, a signal, and from HIP 6 on uncached and contiguous.
  constexpr unsigned kSignal = 0x2;
  constexpr unsigned kLastFlags = 0x4;
  constexpr size_t kSignalBytes = 8;
  if (flags > kLastFlags || (flags == kSignal && size != kSignalBytes)) return Done(hipErrorInvalidValue);
  return Done(AllocateMemory(size, MemoryKind::kDevice, flags, pointer));
}
hipError_t hipMallocManaged(void** pointer, size_t size, unsigned flags) {
  if (size == 0) return Done(hipErrorInvalidValue);
  return Done(AllocateMemory(size, MemoryKind::kManaged, flags, pointer));
}
hipError_t hipHostMalloc(void** pointer, size_t size, unsigned flags) {
  constexpr unsigned kKnown = hipHostMallocPortable | hipHostMallocMapped | hipHostMallocWriteCombined |
                              hipHostMallocNumaUser | hipHostMallocCoherent | hipHostMallocNonCoherent;
  constexpr unsigned kCoherence = hipHostMallocCoherent | hipHostMallocNonCoherent;
  if ((flags & ~kKnown) != 0 || (flags & kCoherence) == kCoherence) return Done(hipErrorInvalidValue);
  return Done(AllocateMemory(size, MemoryKind::kHost, flags, pointer));
}
// What hipHostMalloc is called from HIP 6.3 on.
hipError_t hipExtHostAlloc(void** pointer, size_t size, unsigned flags) { return hipHostMalloc(pointer, size, flags); }
hipError_t hipMallocHost(void** pointer, size_t size) { return hipHostMalloc(pointer, size, 0); }
hipError_t hipMemAllocHost(void** pointer, size_t size) { return hipHostMalloc(pointer, size, 0); }
hipError_t hipHostAlloc(void** pointer, size_t size, unsigned flags) { return hipHostMalloc(pointer, size, flags); }
hipError_t hipFree(void* pointer) { return Done(FreeMemory(pointer, MemoryKind::kDevice)); }
hipError_t hipHostFree(void* pointer) { return Done(FreeMemory(pointer, MemoryKind::kHost)); }
hipError_t hipFreeHost(void* pointer) { return hipHostFree(pointer); }

hipError_t hipMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  if (pointer == nullptr || pitch == nullptr) return Done(hipErrorInvalidValue);
  const Size row = Size(width).RoundedUp(kPitchGranule);
  if (!row.ok()) return Done(hipErrorInvalidValue);
  const Size size = row * height;
  if (!size.ok()) return Done(hipErrorOutOfMemory);
  *pitch = row.value();
  return hipMalloc(pointer, size.value());
}
hipError_t hipMemAllocPitch(hipDeviceptr_t* pointer, size_t* pitch, size_t width, size_t height, unsigned element) {
  if (width == 0 || height == 0) return Done(hipErrorInvalidValue);
  if (element != 4 && element != 8 && element != 16) return Done(hipErrorInvalidValue);
  return hipMallocPitch(pointer, pitch, width, height);
}
hipError_t hipMalloc3D(hipPitchedPtr* pointer, hipExtent extent) {
  if (pointer == nullptr) return Done(hipErrorInvalidValue);
  const Size rows = Size(extent.height) * extent.depth;
  if (!Size(extent.width).RoundedUp(kPitchGranule).ok()) return Done(hipErrorInvalidValue);
  if (!rows.ok()) return Done(hipErrorOutOfMemory);
  size_t pitch = 0;
  const hipError_t error = hipMallocPitch(&pointer->ptr, &pitch, extent.width, rows.value());
  if (error != hipSuccess) return Done(error);
  pointer->pitch = pitch;
  pointer->xsize = extent.width;
  pointer->ysize = extent.height;
  return Done(hipSuccess);
}

hipError_t hipMemGetInfo(size_t* free, size_t* total) {
  hipError_t error;
  const Device* const device = GetDevice(&error);
  if (device == nullptr) return Done(error);
  size_t used = 0;
  {
    const std::lock_guard lock(mutex);
    for (const auto& [address, info] : allocations) {
      if (IsAllocated(info.kind)) used += info.size;
    }
  }
  if (free != nullptr) *free = device->memory_bytes - std::min<size_t>(used, device->memory_bytes);
  if (total != nullptr) *total = device->memory_bytes;
  return Done(hipSuccess);
}

// Host memory ----------------------------------------------------------------------------------------------------------------------------------

hipError_t hipHostRegister(void* pointer, size_t size, unsigned flags) {
  // Portable, mapped, I/O memory, read-only; AMD's uncached.
  constexpr unsigned kKnown = 0x1 | 0x2 | 0x4 | 0x8 | 0x80000000;
  if (pointer == nullptr || size == 0 || (flags & ~kKnown) != 0) return Done(hipErrorInvalidValue);
  hipError_t error;
  const Device* const device = GetDevice(&error);
  if (device == nullptr) return Done(error);
  if (size >= device->memory_bytes) return Done(hipErrorInvalidValue);
  MemoryInfo known;
  if (FindMemory(pointer, &known)) {
    // The same range once more: the program may have freed what it had registered there, and got the address again.
    const bool same = known.kind == MemoryKind::kRegistered && known.address == reinterpret_cast<uint64_t>(pointer) &&
                      known.size == size;
    if (!same) return Done(hipErrorHostMemoryAlreadyRegistered);
    RecordMemory(pointer, size, MemoryKind::kRegistered, flags, CurrentDevice());
    return Done(hipSuccess);
  }
  void* device_pointer;
  if (hsa_amd_memory_lock(pointer, size, nullptr, 0, &device_pointer) != HSA_STATUS_SUCCESS) {
    return Done(hipErrorOutOfMemory);
  }
  RecordMemory(pointer, size, MemoryKind::kRegistered, flags, CurrentDevice());
  return Done(hipSuccess);
}
hipError_t hipHostUnregister(void* pointer) {
  if (pointer == nullptr) return Done(hipErrorInvalidValue);
  {
    const std::lock_guard lock(mutex);
    const auto found = allocations.find(reinterpret_cast<uint64_t>(pointer));
    if (found == allocations.end() || found->second.kind != MemoryKind::kRegistered) {
      return Done(hipErrorHostMemoryNotRegistered);
    }
    allocations.erase(found);
  }
  const hipError_t error = SynchronizeAll();
  hsa_amd_memory_unlock(pointer);
  return Done(error);
}
hipError_t hipHostGetDevicePointer(void** device_pointer, void* host_pointer, unsigned flags) {
  MemoryInfo info;
  if (device_pointer == nullptr || flags != 0 || !FindMemory(host_pointer, &info)) return Done(hipErrorInvalidValue);
  *device_pointer = host_pointer;
  return Done(hipSuccess);
}
hipError_t hipHostGetFlags(unsigned* flags, void* pointer) {
  MemoryInfo info;
  if (flags == nullptr || !FindMemory(pointer, &info) || info.kind == MemoryKind::kDevice) {
    return Done(hipErrorInvalidValue);
  }
  *flags = info.flags;
  return Done(hipSuccess);
}

}  // extern "C"
