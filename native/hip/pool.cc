// Stream-ordered memory: pools whose freed blocks are used again. A block may be used again at once in the stream that freed it, elsewhere when
// that stream has come to the free. Source: HIP API documentation, "Stream Ordered Memory Allocator".
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "common/protocol.h"
#include "hip/graph/model.h"

namespace wavesmith::hip {
namespace {

enum Attribute : int {
  kFollowEvents = 1,
  kOpportunistic = 2,
  kInternalDependencies = 3,
  kReleaseThreshold = 4,
  kReservedCurrent = 5,
  kReservedHigh = 6,
  kUsedCurrent = 7,
  kUsedHigh = 8,
};

// What the descriptor of an exported pool holds.
constexpr char kPoolMagic[16] = "wavesmith-pool";

struct Block {
  void* pointer;
  size_t size;
  // Where and when it was freed; `moment` orders frees and records of events.
  hipStream_t stream = nullptr;
  SignalRef freed = nullptr;
  uint64_t moment = 0;
};
struct Pool {
  int reuse[4] = {0, 1, 1, 1};
  uint64_t threshold = 0;
  uint64_t reserved = 0;
  uint64_t reserved_high = 0;
  uint64_t used = 0;
  uint64_t used_high = 0;
  std::vector<Block> free;
  bool is_destroyed = false;
  // The most that it reserves; 0: no limit.
  size_t most = 0;
  // hipMemAllocationHandleType that it was made for.
  int handle_types = 0;
  int device = 0;
  // hipMemAccessFlags of other devices.
  std::map<int, hipMemAccessFlags> access;
  // Of another program: nothing is allocated from it here.
  bool is_imported = false;

  bool IsFree(const Block& block) const {
    return block.freed == nullptr || hsa_signal_load_scacquire(block.freed->signal) <= 0;
  }
  // Gives free memory back until no more than `keep` bytes are reserved.
  void Release(uint64_t keep) {
    std::erase_if(free, [&](const Block& block) {
      if (reserved <= keep || !IsFree(block)) return false;
      reserved -= block.size;
      FreeNow(block.pointer);
      return true;
    });
  }
};

// Whether no block is used again: the device then sees every allocation, and fills it.
bool AlwaysFresh() {
  static const bool fresh = [] {
    const char* const value = std::getenv(kFreshVariable);
    return value != nullptr && std::strcmp(value, "1") == 0;
  }();
  return fresh;
}

std::mutex mutex;
// Never destroyed: work that a stream still has ends after the destructors of a program's and of this library's objects.
auto& pools = *new std::map<Pool*, std::shared_ptr<Pool>>;
// By device: the pool that it has always, and the one that it uses now.
auto& default_pools = *new std::map<int, std::shared_ptr<Pool>>;
auto& current_pools = *new std::map<int, std::shared_ptr<Pool>>;
struct Owned {
  std::shared_ptr<Pool> pool;
  size_t size;
};
auto& allocated = *new std::map<void*, Owned>;

std::shared_ptr<Pool> Find(hipMemPool_t handle) {
  const auto found = pools.find(reinterpret_cast<Pool*>(handle));
  return found == pools.end() ? nullptr : found->second;
}

// Called with the lock held.
const std::shared_ptr<Pool>& DefaultPool(int device) {
  std::shared_ptr<Pool>& pool = default_pools[device];
  if (pool == nullptr) {
    pool = std::make_shared<Pool>();
    pool->device = device;
    pools[pool.get()] = pool;
  }
  return pool;
}
std::shared_ptr<Pool>& CurrentPool(int device) {
  std::shared_ptr<Pool>& pool = current_pools[device];
  if (pool == nullptr) pool = DefaultPool(device);
  return pool;
}

std::shared_ptr<Pool> PoolNow(int device) {
  const std::lock_guard lock(mutex);
  return CurrentPool(device);
}
std::shared_ptr<Pool> PoolOf(hipMemPool_t handle) {
  const std::lock_guard lock(mutex);
  return Find(handle);
}

hipError_t Allocate(const std::shared_ptr<Pool>& pool, void** pointer, size_t size, hipStream_t stream) {
  if (pool == nullptr || pointer == nullptr || pool->is_imported) return hipErrorInvalidValue;
  *pointer = nullptr;
  if (size == 0) return hipSuccess;
  // A captured allocation is the graph's, whose lock comes before the pools'.
  if (IsCapturing(stream)) return CaptureAlloc(stream, pool->device, size, pointer);
  const std::lock_guard lock(mutex);
  if (AlwaysFresh()) pool->Release(pool->used);
  auto best = pool->free.end();
  for (auto block = pool->free.begin(); block != pool->free.end(); ++block) {
    const bool usable = block->stream == stream || (pool->reuse[kOpportunistic] != 0 && pool->IsFree(*block)) ||
                        (pool->reuse[kFollowEvents] != 0 && HasSeen(stream, block->stream, block->moment));
    if (AlwaysFresh() || !usable || block->size < size || block->size / 2 > size) continue;
    if (best == pool->free.end() || block->size < best->size) best = block;
  }
  size_t reserved = size;
  // As AMD's pools count: what a pool has had at most, and what has to be added to it. What was given back stays counted.
  const bool is_new = best == pool->free.end();
  if (is_new && pool->most != 0 && pool->reserved_high + size > pool->most) return hipErrorOutOfMemory;
  if (!is_new) {
    *pointer = best->pointer;
    reserved = best->size;
    pool->free.erase(best);
  } else {
    const OnDevice there(pool->device);
    hipError_t error = AllocateMemory(size, MemoryKind::kDevice, 0, pointer);
    if (error == hipErrorOutOfMemory) {
      pool->Release(0);
      error = AllocateMemory(size, MemoryKind::kDevice, 0, pointer);
    }
    if (error != hipSuccess) return error;
    pool->reserved += size;
    pool->reserved_high = std::max(pool->reserved_high, pool->reserved);
  }
  pool->used += reserved;
  pool->used_high = std::max(pool->used_high, pool->used);
  allocated[*pointer] = {pool, reserved};
  return hipSuccess;
}

}  // namespace

void ReleasePools() {
  const std::lock_guard lock(mutex);
  for (const auto& [handle, pool] : pools) pool->Release(std::max(pool->threshold, pool->used));
}

bool ForgetPoolMemory(void* pointer) {
  const std::lock_guard lock(mutex);
  const auto found = allocated.find(pointer);
  if (found == allocated.end()) return false;
  found->second.pool->used -= found->second.size;
  found->second.pool->reserved -= found->second.size;
  allocated.erase(found);
  return true;
}

}  // namespace wavesmith::hip

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

extern "C" {

hipError_t hipMallocAsync(void** pointer, size_t size, hipStream_t stream) {
  hipError_t error;
  const Stream* const found = FindStream(stream, &error);
  if (found == nullptr) return Done(error);
  return Done(Allocate(PoolNow(found->device()), pointer, size, stream));
}
hipError_t hipMallocFromPoolAsync(void** pointer, size_t size, hipMemPool_t handle, hipStream_t stream) {
  hipError_t error;
  if (FindStream(stream, &error) == nullptr) return Done(error);
  return Done(Allocate(PoolOf(handle), pointer, size, stream));
}
hipError_t hipFreeAsync(void* pointer, hipStream_t handle) {
  hipError_t error;
  if (pointer == nullptr) return Done(hipErrorInvalidValue);
  if (IsCapturing(handle)) return Done(CaptureNode(handle, FreeNode{pointer}));
  Stream* const stream = StreamOf(handle, &error);
  if (stream == nullptr) return Done(error);
  const std::lock_guard lock(mutex);
  const auto found = allocated.find(pointer);
  if (found == allocated.end()) {
    MemoryInfo info;
    if (!FindMemory(pointer, &info) || info.kind != MemoryKind::kDevice) return Done(hipErrorInvalidValue);
    return Done(stream->Host([=] { FreeNow(pointer); }));
  }
  Block block{pointer, found->second.size, handle, nullptr, NextMoment()};
  if (!stream->Idle()) error = stream->Mark(&block.freed);
  if (error != hipSuccess) return Done(error);
  Pool& pool = *found->second.pool;
  pool.used -= block.size;
  pool.free.push_back(std::move(block));
  if (pool.is_destroyed) pool.Release(pool.used);
  allocated.erase(found);
  return Done(hipSuccess);
}

hipError_t hipMemPoolCreate(hipMemPool_t* handle, const hipMemPoolProps* p) {
  if (handle == nullptr || p == nullptr || p->allocType != hipMemAllocationTypePinned)
    return Done(hipErrorInvalidValue);
  if (p->location.type != hipMemLocationTypeDevice || !IsDevice(p->location.id)) return Done(hipErrorInvalidValue);
  auto made = std::make_shared<Pool>();
  made->device = p->location.id;
  made->handle_types = static_cast<int>(p->handleTypes);
  // hipMemPoolProps::maxSize, the first of what was reserved before HIP 6.
  if (HipMajor() >= 6) std::memcpy(&made->most, p->reserved, sizeof made->most);
  const std::lock_guard lock(mutex);
  *handle = reinterpret_cast<hipMemPool_t>(made.get());
  pools[made.get()] = std::move(made);
  return Done(hipSuccess);
}
hipError_t hipMemPoolDestroy(hipMemPool_t handle) {
  const std::lock_guard lock(mutex);
  const std::shared_ptr<Pool> pool = Find(handle);
  if (pool == nullptr || pool == DefaultPool(pool->device)) return Done(hipErrorInvalidValue);
  for (auto& [device, current] : current_pools) {
    if (current == pool) current = DefaultPool(device);
  }
  pool->is_destroyed = true;
  pool->Release(pool->used);
  pools.erase(pool.get());
  return Done(hipSuccess);
}
hipError_t hipMemPoolTrimTo(hipMemPool_t handle, size_t keep) {
  const std::lock_guard lock(mutex);
  const std::shared_ptr<Pool> pool = Find(handle);
  if (pool == nullptr) return Done(hipErrorInvalidValue);
  pool->Release(std::max<uint64_t>(keep, pool->used));
  return Done(hipSuccess);
}

hipError_t hipMemPoolSetAttribute(hipMemPool_t handle, hipMemPoolAttr attribute, void* value) {
  const std::lock_guard lock(mutex);
  const std::shared_ptr<Pool> pool = Find(handle);
  if (pool == nullptr || value == nullptr) return Done(hipErrorInvalidValue);
  int word;
  uint64_t bytes;
  switch (static_cast<int>(attribute)) {
    case kFollowEvents:
    case kOpportunistic:
    case kInternalDependencies:
      std::memcpy(&word, value, sizeof word);
      pool->reuse[attribute] = word;
      return Done(hipSuccess);
    case kReleaseThreshold:
      std::memcpy(&pool->threshold, value, sizeof pool->threshold);
      return Done(hipSuccess);
    case kReservedHigh:
    case kUsedHigh:
      // Only setting back to 0 is possible.
      std::memcpy(&bytes, value, sizeof bytes);
      if (bytes != 0) return Done(hipErrorInvalidValue);
      (static_cast<int>(attribute) == kUsedHigh ? pool->used_high : pool->reserved_high) = 0;
      return Done(hipSuccess);
    default:
      return Done(hipErrorInvalidValue);
  }
}
hipError_t hipMemPoolGetAttribute(hipMemPool_t handle, hipMemPoolAttr attribute, void* value) {
  const std::lock_guard lock(mutex);
  const std::shared_ptr<Pool> pool = Find(handle);
  if (pool == nullptr || value == nullptr) return Done(hipErrorInvalidValue);
  const auto put = [&](const auto& number) {
    std::memcpy(value, &number, sizeof number);
    return Done(hipSuccess);
  };
  switch (static_cast<int>(attribute)) {
    case kFollowEvents:
    case kOpportunistic:
    case kInternalDependencies:
      return put(pool->reuse[attribute]);
    case kReleaseThreshold:
      return put(pool->threshold);
    case kReservedCurrent:
      return put(pool->reserved);
    case kReservedHigh:
      return put(pool->reserved_high);
    case kUsedCurrent:
      return put(pool->used);
    case kUsedHigh:
      return put(pool->used_high);
    default:
      return Done(hipErrorInvalidValue);
  }
}

hipError_t hipMemPoolSetAccess(hipMemPool_t handle, const hipMemAccessDesc* list, size_t count) {
  const std::lock_guard lock(mutex);
  const std::shared_ptr<Pool> pool = Find(handle);
  if (pool == nullptr || (list == nullptr && count != 0)) return Done(hipErrorInvalidValue);
  if (count > static_cast<size_t>(DeviceCount())) return Done(hipErrorInvalidDevice);
  for (size_t n = 0; n < count; n++) {
    if (list[n].location.type != hipMemLocationTypeDevice) return Done(hipErrorInvalidValue);
    if (!IsDevice(list[n].location.id)) return Done(hipErrorInvalidDevice);
    const auto flags = static_cast<unsigned>(list[n].flags);
    if (flags != hipMemAccessFlagsProtNone && flags != hipMemAccessFlagsProtRead &&
        flags != hipMemAccessFlagsProtReadWrite) {
      return Done(hipErrorInvalidValue);
    }
    // The device itself always has access.
    if (list[n].location.id == pool->device && list[n].flags == hipMemAccessFlagsProtNone) {
      return Done(hipErrorInvalidDevice);
    }
  }
  for (size_t n = 0; n < count; n++) pool->access[list[n].location.id] = list[n].flags;
  return Done(hipSuccess);
}
hipError_t hipMemPoolGetAccess(hipMemAccessFlags* flags, hipMemPool_t handle, hipMemLocation* location) {
  const std::lock_guard lock(mutex);
  const std::shared_ptr<Pool> pool = Find(handle);
  if (flags == nullptr || location == nullptr || pool == nullptr) return Done(hipErrorInvalidValue);
  if (location->type != hipMemLocationTypeDevice || !IsDevice(location->id)) return Done(hipErrorInvalidValue);
  const auto found = pool->access.find(location->id);
  const bool own = location->id == pool->device;
  *flags = own                           ? hipMemAccessFlagsProtReadWrite
           : found == pool->access.end() ? hipMemAccessFlagsProtNone
                                         : found->second;
  return Done(hipSuccess);
}

// Sharing with other programs ----------------------------------------------------------------------------------------------------------------

namespace {

constexpr int kFileDescriptor = 1;
// hipMemPoolPtrExportData.
struct ExportedPointer {
  hsa_amd_ipc_memory_t memory;
  uint64_t offset;
  uint64_t size;
};
static_assert(sizeof(ExportedPointer) <= 64);

}  // namespace

// The descriptor of a pool says no more than what it is: its pointers are shared one by one.
hipError_t hipMemPoolExportToShareableHandle(void* shareable, hipMemPool_t handle, hipMemAllocationHandleType type,
                                             unsigned flags) {
  const std::lock_guard lock(mutex);
  const std::shared_ptr<Pool> pool = Find(handle);
  if (shareable == nullptr || pool == nullptr || flags != 0) return Done(hipErrorInvalidValue);
  if (static_cast<int>(type) != kFileDescriptor || pool->handle_types != kFileDescriptor) {
    return Done(hipErrorInvalidValue);
  }
  const int descriptor = memfd_create("wavesmith-pool", MFD_CLOEXEC);
  if (descriptor < 0) return Done(hipErrorOutOfMemory);
  if (write(descriptor, kPoolMagic, sizeof kPoolMagic) != static_cast<ssize_t>(sizeof kPoolMagic)) {
    close(descriptor);
    return Done(hipErrorOutOfMemory);
  }
  std::memcpy(shareable, &descriptor, sizeof descriptor);
  return Done(hipSuccess);
}
hipError_t hipMemPoolImportFromShareableHandle(hipMemPool_t* handle, void* shareable, hipMemAllocationHandleType type,
                                               unsigned flags) {
  if (handle == nullptr || shareable == nullptr || static_cast<int>(type) != kFileDescriptor || flags != 0) {
    return Done(hipErrorInvalidValue);
  }
  char magic[sizeof kPoolMagic] = {};
  const auto descriptor = static_cast<int>(reinterpret_cast<uintptr_t>(shareable));
  if (pread(descriptor, magic, sizeof magic, 0) != static_cast<ssize_t>(sizeof magic) ||
      std::memcmp(magic, kPoolMagic, sizeof magic) != 0) {
    return Done(hipErrorInvalidValue);
  }
  auto made = std::make_shared<Pool>();
  made->is_imported = true;
  const std::lock_guard lock(mutex);
  *handle = reinterpret_cast<hipMemPool_t>(made.get());
  pools[made.get()] = std::move(made);
  return Done(hipSuccess);
}
hipError_t hipMemPoolExportPointer(hipMemPoolPtrExportData* data, void* pointer) {
  MemoryInfo info;
  const std::lock_guard lock(mutex);
  if (data == nullptr || pointer == nullptr || !allocated.contains(pointer) || !FindMemory(pointer, &info)) {
    return Done(hipErrorInvalidValue);
  }
  ExportedPointer made{{}, 0, info.size};
  if (hsa_amd_ipc_memory_create(pointer, info.size, &made.memory) != HSA_STATUS_SUCCESS) {
    return Done(hipErrorInvalidValue);
  }
  std::memset(static_cast<void*>(data), 0, sizeof *data);
  std::memcpy(static_cast<void*>(data), &made, sizeof made);
  return Done(hipSuccess);
}
hipError_t hipMemPoolImportPointer(void** pointer, hipMemPool_t handle, hipMemPoolPtrExportData* data) {
  hipError_t error;
  const Device* const device = GetDevice(&error);
  if (device == nullptr) return Done(error);
  const std::lock_guard lock(mutex);
  const std::shared_ptr<Pool> pool = Find(handle);
  if (pointer == nullptr || pool == nullptr || !pool->is_imported || data == nullptr) return Done(hipErrorInvalidValue);
  ExportedPointer given;
  std::memcpy(&given, data, sizeof given);
  void* base;
  if (hsa_amd_ipc_memory_attach(&given.memory, given.size, 1, &device->gpu, &base) != HSA_STATUS_SUCCESS) {
    return Done(hipErrorInvalidValue);
  }
  // In the program that exported it, it is known already.
  MemoryInfo info;
  if (!FindMemory(base, &info)) RecordMemory(base, given.size, MemoryKind::kDevice, 0, pool->device);
  *pointer = base;
  return Done(hipSuccess);
}

hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* handle, int number) {
  if (handle == nullptr) return Done(hipErrorInvalidValue);
  if (!IsDevice(number)) return Done(hipErrorInvalidDevice);
  const std::lock_guard lock(mutex);
  *handle = reinterpret_cast<hipMemPool_t>(DefaultPool(number).get());
  return Done(hipSuccess);
}
hipError_t hipDeviceGetMemPool(hipMemPool_t* handle, int number) {
  if (handle == nullptr) return Done(hipErrorInvalidValue);
  if (!IsDevice(number)) return Done(hipErrorInvalidValue);
  const std::lock_guard lock(mutex);
  *handle = reinterpret_cast<hipMemPool_t>(CurrentPool(number).get());
  return Done(hipSuccess);
}
hipError_t hipDeviceSetMemPool(int number, hipMemPool_t handle) {
  if (!IsDevice(number)) return Done(hipErrorInvalidValue);
  const std::lock_guard lock(mutex);
  const std::shared_ptr<Pool> pool = Find(handle);
  if (pool == nullptr) return Done(hipErrorInvalidValue);
  if (pool->device != number) return Done(hipErrorInvalidDevice);
  CurrentPool(number) = pool;
  return Done(hipSuccess);
}

// From HIP 7 on a pool is asked for by location and kind of memory: there is one for devices.
hipError_t hipMemGetMemPool(hipMemPool_t* handle, hipMemLocation* location, hipMemAllocationType type) {
  if (location == nullptr || location->type != hipMemLocationTypeDevice || type != hipMemAllocationTypePinned) {
    return Done(hipErrorInvalidValue);
  }
  return hipDeviceGetMemPool(handle, location->id);
}
hipError_t hipMemSetMemPool(hipMemLocation* location, hipMemAllocationType type, hipMemPool_t handle) {
  if (location == nullptr || location->type != hipMemLocationTypeDevice || type != hipMemAllocationTypePinned) {
    return Done(hipErrorInvalidValue);
  }
  return hipDeviceSetMemPool(location->id, handle);
}

}  // extern "C"
