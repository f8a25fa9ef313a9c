// Virtual memory: reserved addresses, handles of memory, mappings; memory of other programs of the device. Sources: hsa_ext_amd.h.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <set>

#include "common/size.h"
#include "hsa/pools.h"

namespace wavesmith::hsa {
namespace {

struct Handle {
  uint64_t address;  // of the allocation behind it
  uint64_t size;
  uint64_t pool;
  uint32_t type;
  // What the program has of it, and mappings: it lives as long as there is either.
  uint32_t handles;
  uint32_t mapped;
};
struct Mapping {
  uint64_t size;
  Handle* handle;
  // By agent; none where there is no entry.
  std::map<uint64_t, hsa_access_permission_t> access;
};
std::mutex vmem_mutex;
// Never destroyed: tools are unloaded, and the runtime is shut down, after the destructors of a program's and of these libraries' objects.
auto& handles = *new std::set<Handle*>;
auto& reservations = *new std::map<uint64_t, uint64_t>;
auto& mappings = *new std::map<uint64_t, Mapping>;

Handle* HandleOf(hsa_amd_vmem_alloc_handle_t handle) {
  auto* const pointer = reinterpret_cast<Handle*>(handle.handle);
  return handles.contains(pointer) && pointer->handles > 0 ? pointer : nullptr;
}

void DropUnused(Runtime& runtime, Handle* handle) {
  if (handle->handles + handle->mapped > 0) return;
  handles.erase(handle);
  runtime.Free(handle->address);
  delete handle;
}

// What an exported handle's descriptor holds, and what the handle of shared memory is: where an allocation is on which device.
constexpr uint32_t kSharedMagic = 0x4d56'5357;
struct SharedMemory {
  uint32_t magic;
  uint32_t device_pid;
  uint64_t address;
  uint64_t size;
  uint32_t pool;
  uint32_t type;
};
static_assert(sizeof(SharedMemory) == sizeof(hsa_amd_ipc_memory_t));

SharedMemory Describe(Runtime& runtime, uint64_t address, uint64_t size, uint64_t pool, uint32_t type) {
  return {kSharedMagic, runtime.device().hello.device_pid, address, size, static_cast<uint32_t>(pool), type};
}
// Bits of a page's number in the position of an exported descriptor: 4 TiB.
constexpr int kPageBits = 30;

bool IsOfDevice(Runtime& runtime, const SharedMemory& memory) {
  return memory.magic == kSharedMagic && memory.device_pid == runtime.device().hello.device_pid;
}

}  // namespace

bool FindVirtual(uint64_t address, VirtualRange* range) {
  const auto holding = [&](const auto& ranges, const auto& size_of) {
    const auto after = ranges.upper_bound(address);
    if (after == ranges.begin()) return ranges.end();
    const auto found = std::prev(after);
    return address - found->first < size_of(found->second) ? found : ranges.end();
  };
  const std::lock_guard lock(vmem_mutex);
  if (const auto m = holding(mappings, [](const Mapping& x) { return x.size; }); m != mappings.end()) {
    *range = {m->first, m->second.size, true, m->second.handle->pool, {}};
    for (const auto& [agent, permission] : m->second.access) {
      if (permission != kAccessNone) range->agents.push_back({agent});
    }
    return true;
  }
  const auto reserved = holding(reservations, [](uint64_t size) { return size; });
  if (reserved == reservations.end()) return false;
  *range = {reserved->first, reserved->second, false, 0, {}};
  return true;
}

}  // namespace wavesmith::hsa

namespace impl {

using namespace wavesmith::hsa;  // NOLINT: the implementations are this namespace's face
using wavesmith::Size;

hsa_status_t hsa_amd_vmem_address_reserve_align(void** address, size_t size, uint64_t wanted, uint64_t alignment,
                                                uint64_t) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(address != nullptr && size != 0 && size % kPage == 0);
  WAVESMITH_REQUIRE((alignment & (alignment - 1)) == 0 && wanted % kPage == 0);
  const uint64_t extra = alignment > kPage ? alignment : 0;
  if (!(Size(size) + extra).ok() || !(Size(wanted) + size).ok()) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  const auto reserve = [&](uint64_t at, uint64_t bytes) {
    void* const p = mmap(reinterpret_cast<void*>(at), bytes, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at != 0 ? MAP_FIXED_NOREPLACE : 0), -1, 0);
    if (p != MAP_FAILED && at != 0 && p != reinterpret_cast<void*>(at)) {
      munmap(p, bytes);
      return MAP_FAILED;
    }
    return p;
  };
  // The wanted address is a wish: another is given when it is taken.
  void* reserved = wanted != 0 && (extra == 0 || wanted % extra == 0) ? reserve(wanted, size) : MAP_FAILED;
  if (reserved == MAP_FAILED) {
    reserved = reserve(0, size + extra);
    if (reserved == MAP_FAILED) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    if (extra != 0) {
      const uint64_t begin = reinterpret_cast<uint64_t>(reserved);
      const uint64_t aligned = Size(begin).RoundedUp(extra).value();
      if (aligned != begin) munmap(reserved, aligned - begin);
      const uint64_t end = begin + size + extra;
      if (aligned + size != end) munmap(reinterpret_cast<void*>(aligned + size), end - aligned - size);
      reserved = reinterpret_cast<void*>(aligned);
    }
  }
  *address = reserved;
  const std::lock_guard lock(vmem_mutex);
  reservations[reinterpret_cast<uint64_t>(reserved)] = size;
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_vmem_address_reserve(void** address, size_t size, uint64_t wanted, uint64_t flags) {
  return impl::hsa_amd_vmem_address_reserve_align(address, size, wanted, 0, flags);
}
hsa_status_t hsa_amd_vmem_address_free(void* address, size_t size) {
  WAVESMITH_REQUIRE_INIT();
  const std::lock_guard lock(vmem_mutex);
  const uint64_t begin = reinterpret_cast<uint64_t>(address);
  const auto found = reservations.find(begin);
  if (found == reservations.end() || found->second != size) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  const auto mapped = mappings.lower_bound(begin);
  if (mapped != mappings.end() && mapped->first < begin + size) return HSA_STATUS_ERROR_RESOURCE_FREE;
  ForgetSvm(*runtime, begin, size);
  reservations.erase(found);
  munmap(address, size);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_vmem_handle_create(hsa_amd_memory_pool_t pool, size_t size, hsa_amd_memory_type_t type, uint64_t,
                                        hsa_amd_vmem_alloc_handle_t* handle) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(handle != nullptr && size != 0 && size % kPage == 0);
  void* memory;
  const hsa_status_t status = AllocateFromPool(*runtime, pool.handle, size, &memory);
  if (status != HSA_STATUS_SUCCESS) return status;
  auto* const made = new Handle{reinterpret_cast<uint64_t>(memory), size, pool.handle, type, 1, 0};
  const std::lock_guard lock(vmem_mutex);
  handles.insert(made);
  handle->handle = reinterpret_cast<uint64_t>(made);
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_vmem_handle_release(hsa_amd_vmem_alloc_handle_t handle) {
  WAVESMITH_REQUIRE_INIT();
  const std::lock_guard lock(vmem_mutex);
  Handle* const found = HandleOf(handle);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  found->handles--;
  DropUnused(*runtime, found);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_vmem_map(void* address, size_t size, size_t offset, hsa_amd_vmem_alloc_handle_t handle, uint64_t) {
  WAVESMITH_REQUIRE_INIT();
  const uint64_t begin = reinterpret_cast<uint64_t>(address);
  WAVESMITH_REQUIRE(begin != 0 && begin % kPage == 0 && size != 0 && size % kPage == 0 && offset % kPage == 0);
  WAVESMITH_REQUIRE((Size(begin) + size).ok());
  const std::lock_guard lock(vmem_mutex);
  Handle* const found = HandleOf(handle);
  if (found == nullptr || !(Size(offset) + size).Within(found->size)) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  auto reserved = reservations.upper_bound(begin);
  if (reserved == reservations.begin()) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  --reserved;
  if (begin + size > reserved->first + reserved->second) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  auto next = mappings.upper_bound(begin);
  if (next != mappings.end() && next->first < begin + size) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (next != mappings.begin() && std::prev(next)->first + std::prev(next)->second.size > begin) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  const uint64_t source = found->address + offset;
  const wavesmith::MapRequest request{begin, size, source, 3};
  const wavesmith::Answer answer =
      runtime->client().Request(wavesmith::MessageType::kMap, wavesmith::Writer().Put(request).bytes());
  if (!answer.ok) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  const uint64_t at = source - runtime->device().hello.window_address;
  // Nobody may touch it before hsa_amd_vmem_set_access.
  if (mmap(address, size, PROT_NONE, MAP_SHARED | MAP_FIXED, runtime->client().memory_fd(), static_cast<off_t>(at)) ==
      MAP_FAILED) {
    runtime->client().Request(wavesmith::MessageType::kUnmap, wavesmith::Writer().Put(begin).bytes());
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  found->mapped++;
  mappings[begin] = {size, found, {}};
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_vmem_unmap(void* address, size_t size) {
  WAVESMITH_REQUIRE_INIT();
  const std::lock_guard lock(vmem_mutex);
  const uint64_t begin = reinterpret_cast<uint64_t>(address);
  const auto found = mappings.find(begin);
  if (found == mappings.end() || found->second.size != size) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  runtime->client().Request(wavesmith::MessageType::kUnmap, wavesmith::Writer().Put(begin).bytes());
  constexpr int kReserved = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (mmap(address, size, PROT_NONE, kReserved, -1, 0) == MAP_FAILED) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  Handle* const handle = found->second.handle;
  mappings.erase(found);
  handle->mapped--;
  DropUnused(*runtime, handle);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_vmem_set_access(void* address, size_t size, const hsa_amd_memory_access_desc_t* descriptors,
                                     size_t count) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(descriptors != nullptr && count != 0);
  const std::lock_guard lock(vmem_mutex);
  const auto found = mappings.find(reinterpret_cast<uint64_t>(address));
  if (found == mappings.end() || found->second.size != size) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  for (size_t n = 0; n < count; n++) {
    if (!runtime->IsAgent(descriptors[n].agent_handle)) return HSA_STATUS_ERROR_INVALID_AGENT;
    found->second.access[descriptors[n].agent_handle.handle] = descriptors[n].permissions;
  }
  const auto protection = [](hsa_access_permission_t p) {
    return p == HSA_ACCESS_PERMISSION_RW   ? PROT_READ | PROT_WRITE
           : p == HSA_ACCESS_PERMISSION_RO ? PROT_READ
           : p == HSA_ACCESS_PERMISSION_WO ? PROT_WRITE
                                           : PROT_NONE;
  };
  // The host reaches what any agent may: the libraries copy through host pointers on the GPU's behalf.
  int all = PROT_NONE;
  for (const auto& [agent, permission] : found->second.access) all |= protection(permission);
  mprotect(address, size, all);
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_vmem_get_access(void* address, hsa_access_permission_t* permission, hsa_agent_t agent) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(permission != nullptr);
  if (!runtime->IsAgent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  const std::lock_guard lock(vmem_mutex);
  const auto found = mappings.find(reinterpret_cast<uint64_t>(address));
  if (found == mappings.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  const auto entry = found->second.access.find(agent.handle);
  *permission = entry == found->second.access.end() ? kAccessNone : entry->second;
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_vmem_retain_alloc_handle(hsa_amd_vmem_alloc_handle_t* handle, void* address) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(handle != nullptr);
  const std::lock_guard lock(vmem_mutex);
  const auto found = mappings.find(reinterpret_cast<uint64_t>(address));
  if (found == mappings.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  found->second.handle->handles++;
  handle->handle = reinterpret_cast<uint64_t>(found->second.handle);
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_vmem_get_alloc_properties_from_handle(hsa_amd_vmem_alloc_handle_t handle,
                                                           hsa_amd_memory_pool_t* pool, hsa_amd_memory_type_t* type) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(pool != nullptr && type != nullptr);
  const std::lock_guard lock(vmem_mutex);
  const Handle* const found = HandleOf(handle);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  pool->handle = found->pool;
  *type = found->type;
  return HSA_STATUS_SUCCESS;
}

// Memory of other programs ---------------------------------------------------------------------------------------------------------------

hsa_status_t hsa_amd_vmem_export_shareable_handle(int* descriptor, hsa_amd_vmem_alloc_handle_t handle, uint64_t flags) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(descriptor != nullptr && flags == 0);
  SharedMemory shared;
  {
    const std::lock_guard lock(vmem_mutex);
    const Handle* const found = HandleOf(handle);
    if (found == nullptr) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    shared = Describe(*runtime, found->address, found->size, found->pool, found->type);
  }
  const int made = memfd_create("wavesmith-memory", MFD_CLOEXEC);
  if (made < 0) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  // The file is as long as the memory, which is how its size is asked for.
  if (write(made, &shared, sizeof shared) != static_cast<ssize_t>(sizeof shared) ||
      ftruncate(made, static_cast<off_t>(shared.size)) != 0) {
    close(made);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  *descriptor = made;
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_vmem_import_shareable_handle(int descriptor, hsa_amd_vmem_alloc_handle_t* handle) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(handle != nullptr);
  SharedMemory shared{};
  if (pread(descriptor, &shared, sizeof shared, 0) != static_cast<ssize_t>(sizeof shared) ||
      !IsOfDevice(*runtime, shared)) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  const hsa_status_t status = runtime->Share(shared.address, shared.size, shared.pool);
  if (status != HSA_STATUS_SUCCESS) return status;
  auto* const made = new Handle{shared.address, shared.size, shared.pool, shared.type, 1, 0};
  const std::lock_guard lock(vmem_mutex);
  handles.insert(made);
  handle->handle = reinterpret_cast<uint64_t>(made);
  return HSA_STATUS_SUCCESS;
}

// All memory is one file, which a driver or program that has the descriptor maps at the offset. The descriptor's position says which
// allocation it stands for: the page where it begins, and above that how many it has.
hsa_status_t hsa_amd_portable_export_dmabuf(const void* pointer, size_t size, int* descriptor, uint64_t* offset) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(pointer != nullptr && size != 0 && descriptor != nullptr && offset != nullptr);
  Allocation found;
  const auto address = reinterpret_cast<uint64_t>(pointer);
  if (!runtime->Find(address, &found) || found.type != HSA_EXT_POINTER_TYPE_HSA ||
      !(Size(address - found.address) + size).Within(found.size)) {
    return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  }
  const uint64_t window = runtime->device().hello.window_address;
  const uint64_t page = (found.address - window) / kPage;
  const uint64_t pages = Size(found.size).RoundedUp(kPage).value() / kPage;
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", runtime->client().memory_fd());
  // A description of its own, because of the position.
  const int opened = open(path, O_RDWR | O_CLOEXEC);
  if (opened < 0) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  if (page >> kPageBits != 0 || lseek(opened, static_cast<off_t>(pages << kPageBits | page), SEEK_SET) < 0) {
    close(opened);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  *descriptor = opened;
  *offset = address - window;
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_portable_close_dmabuf(int descriptor) {
  WAVESMITH_REQUIRE_INIT();
  return close(descriptor) == 0 ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

// Buffers of other drivers do not exist on this device: what can be mapped is what hsa_amd_portable_export_dmabuf gave.
hsa_status_t hsa_amd_interop_map_buffer(uint32_t count, hsa_agent_t* agents, int descriptor, uint32_t flags,
                                        size_t* size, void** pointer, size_t* metadata_size, const void** metadata) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(agents != nullptr && size != nullptr && pointer != nullptr && flags == 0 && count != 0);
  if (!std::all_of(agents, agents + count, [&](hsa_agent_t a) { return runtime->IsAgent(a); }))
    return HSA_STATUS_ERROR_INVALID_AGENT;
  struct stat theirs{};
  struct stat ours{};
  if (fstat(descriptor, &theirs) != 0 || fstat(runtime->client().memory_fd(), &ours) != 0 ||
      theirs.st_dev != ours.st_dev || theirs.st_ino != ours.st_ino) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  const off_t position = lseek(descriptor, 0, SEEK_CUR);
  if (position <= 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const uint64_t bytes = (static_cast<uint64_t>(position) >> kPageBits) * kPage;
  const uint64_t page = static_cast<uint64_t>(position) & ((uint64_t{1} << kPageBits) - 1);
  const uint64_t address = runtime->device().hello.window_address + page * kPage;
  Allocation found;
  const uint64_t pool = runtime->Find(address, &found) ? found.pool : 0;
  const hsa_status_t status = runtime->Share(address, std::min(bytes, found.size == 0 ? bytes : found.size), pool);
  if (status != HSA_STATUS_SUCCESS) return status;
  *size = bytes;
  *pointer = reinterpret_cast<void*>(address);
  if (metadata_size != nullptr) *metadata_size = 0;
  if (metadata != nullptr) *metadata = nullptr;
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_interop_unmap_buffer(void* pointer) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(pointer != nullptr);
  return runtime->Free(reinterpret_cast<uint64_t>(pointer)) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_amd_ipc_memory_create(void* pointer, size_t size, hsa_amd_ipc_memory_t* handle) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(pointer != nullptr && size != 0 && handle != nullptr);
  Allocation found;
  const bool known = runtime->Find(reinterpret_cast<uint64_t>(pointer), &found);
  if (!known || found.type != HSA_EXT_POINTER_TYPE_HSA || found.address != reinterpret_cast<uint64_t>(pointer) ||
      size > Size(found.size).RoundedUp(kPage).value()) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  const SharedMemory shared = Describe(*runtime, found.address, found.size, found.pool, 0);
  std::memcpy(handle, &shared, sizeof shared);
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_ipc_memory_attach(const hsa_amd_ipc_memory_t* handle, size_t size, uint32_t count,
                                       const hsa_agent_t* agents, void** pointer) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(handle != nullptr && pointer != nullptr && size != 0 && (count == 0 || agents != nullptr));
  if (!std::all_of(agents, agents + count, [&](hsa_agent_t a) { return runtime->IsAgent(a); }))
    return HSA_STATUS_ERROR_INVALID_AGENT;
  SharedMemory shared;
  std::memcpy(&shared, handle, sizeof shared);
  if (!IsOfDevice(*runtime, shared) || size > Size(shared.size).RoundedUp(kPage).value()) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  const hsa_status_t status = runtime->Share(shared.address, shared.size, shared.pool);
  if (status == HSA_STATUS_SUCCESS) *pointer = reinterpret_cast<void*>(shared.address);
  return status;
}
hsa_status_t hsa_amd_ipc_memory_detach(void* pointer) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(pointer != nullptr);
  return runtime->Free(reinterpret_cast<uint64_t>(pointer)) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

}  // namespace impl
