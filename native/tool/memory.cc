// The registry of memory. Sources: HSA Runtime Specification 1.2, section 2.7; hsa_ext_amd.h (pools, locking, virtual memory).
#include "tool/memory.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace wavesmith::tool {
namespace {

// Never destroyed: programs free in their own destructors.
struct State {
  std::mutex mutex;
  std::map<uint64_t, Memory> by_address;
  std::map<uint64_t, uint64_t> mapped;  // sizes of virtual memory that no agent may access yet
  uint64_t next = 1;
};
State& state() {
  static auto* const s = new State;
  return *s;
}

// What the runtime says about an allocation that was just made.
void AddAllocation(const void* pointer, uint64_t size, std::string_view origin) {
  hsa_amd_pointer_info_t info{};
  info.size = sizeof info;
  hsa_device_type_t type = HSA_DEVICE_TYPE_GPU;
  if (original.amd.hsa_amd_pointer_info_fn(pointer, &info, nullptr, nullptr, nullptr) == HSA_STATUS_SUCCESS) {
    original.core.hsa_agent_get_info_fn(info.agentOwner, HSA_AGENT_INFO_DEVICE, &type);
  }
  const uint32_t flags = info.global_flags;
  MemoryKind kind = MemoryKind::kCoarse;
  if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) {
    kind = MemoryKind::kKernarg;
  } else if (type == HSA_DEVICE_TYPE_CPU) {
    kind = MemoryKind::kHost;
  } else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED) {
    kind = MemoryKind::kFine;
  }
  AddMemory(reinterpret_cast<uint64_t>(pointer), size, kind, flags, origin);
}

void RemoveAt(uint64_t address) {
  const std::lock_guard lock(state().mutex);
  state().by_address.erase(address);
}

hsa_status_t PoolAllocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags, void** pointer) {
  const hsa_status_t status = original.amd.hsa_amd_memory_pool_allocate_fn(pool, size, flags, pointer);
  if (status == HSA_STATUS_SUCCESS) AddAllocation(*pointer, size, "hsa_amd_memory_pool_allocate");
  return status;
}
hsa_status_t PoolFree(void* pointer) {
  const std::shared_lock hold(FreeingMutex());
  // Before the call: afterwards another thread may have the address again.
  RemoveAt(reinterpret_cast<uint64_t>(pointer));
  return original.amd.hsa_amd_memory_pool_free_fn(pointer);
}
hsa_status_t RegionAllocate(hsa_region_t region, size_t size, void** pointer) {
  const hsa_status_t status = original.core.hsa_memory_allocate_fn(region, size, pointer);
  if (status == HSA_STATUS_SUCCESS) AddAllocation(*pointer, size, "hsa_memory_allocate");
  return status;
}
hsa_status_t RegionFree(void* pointer) {
  const std::shared_lock hold(FreeingMutex());
  RemoveAt(reinterpret_cast<uint64_t>(pointer));
  return original.core.hsa_memory_free_fn(pointer);
}

hsa_status_t Lock(void* host, size_t size, hsa_agent_t* agents, int count, void** agent_pointer) {
  const hsa_status_t status = original.amd.hsa_amd_memory_lock_fn(host, size, agents, count, agent_pointer);
  if (status == HSA_STATUS_SUCCESS) {
    AddMemory(reinterpret_cast<uint64_t>(*agent_pointer), size, MemoryKind::kLocked, 0, "hsa_amd_memory_lock");
  }
  return status;
}
hsa_status_t LockToPool(void* host, size_t size, hsa_agent_t* agents, int count, hsa_amd_memory_pool_t pool,
                        uint32_t flags, void** agent_pointer) {
  const hsa_status_t status =
      original.amd.hsa_amd_memory_lock_to_pool_fn(host, size, agents, count, pool, flags, agent_pointer);
  if (status == HSA_STATUS_SUCCESS) {
    AddMemory(reinterpret_cast<uint64_t>(*agent_pointer), size, MemoryKind::kLocked, 0, "hsa_amd_memory_lock_to_pool");
  }
  return status;
}
hsa_status_t Unlock(void* host) {
  const std::shared_lock hold(FreeingMutex());
  hsa_amd_pointer_info_t info{};
  info.size = sizeof info;
  const bool known =
      original.amd.hsa_amd_pointer_info_fn(host, &info, nullptr, nullptr, nullptr) == HSA_STATUS_SUCCESS &&
      info.agentBaseAddress != nullptr;
  const hsa_status_t status = original.amd.hsa_amd_memory_unlock_fn(host);
  // A range may be locked several times.
  hsa_amd_pointer_info_t after{};
  after.size = sizeof after;
  const bool stays =
      original.amd.hsa_amd_pointer_info_fn(host, &after, nullptr, nullptr, nullptr) == HSA_STATUS_SUCCESS &&
      after.type == HSA_EXT_POINTER_TYPE_LOCKED;
  if (status == HSA_STATUS_SUCCESS && !stays) {
    RemoveAt(reinterpret_cast<uint64_t>(known ? info.agentBaseAddress : host));
  }
  return status;
}

// Mapped memory counts from the moment that an agent may access it.
hsa_status_t VirtualMap(void* address, size_t size, size_t offset, hsa_amd_vmem_alloc_handle_t handle, uint64_t flags) {
  const hsa_status_t status = original.amd.hsa_amd_vmem_map_fn(address, size, offset, handle, flags);
  if (status == HSA_STATUS_SUCCESS) {
    const std::lock_guard lock(state().mutex);
    state().mapped[reinterpret_cast<uint64_t>(address)] = size;
  }
  return status;
}
hsa_status_t VirtualSetAccess(void* address, size_t size, const hsa_amd_memory_access_desc_t* access, size_t count) {
  const hsa_status_t status = original.amd.hsa_amd_vmem_set_access_fn(address, size, access, count);
  const auto begin = reinterpret_cast<uint64_t>(address);
  std::map<uint64_t, uint64_t> ready;
  if (status == HSA_STATUS_SUCCESS) {
    const std::lock_guard lock(state().mutex);
    auto& mapped = state().mapped;
    while (mapped.lower_bound(begin) != mapped.end() && mapped.lower_bound(begin)->first < begin + size) {
      ready.insert(mapped.extract(mapped.lower_bound(begin)));
    }
  }
  for (const auto& [from, bytes] : ready) AddMemory(from, bytes, MemoryKind::kVirtual, 0, "hsa_amd_vmem_map");
  return status;
}
hsa_status_t VirtualUnmap(void* address, size_t size) {
  const std::shared_lock hold(FreeingMutex());
  RemoveAt(reinterpret_cast<uint64_t>(address));
  {
    const std::lock_guard lock(state().mutex);
    state().mapped.erase(reinterpret_cast<uint64_t>(address));
  }
  return original.amd.hsa_amd_vmem_unmap_fn(address, size);
}

hsa_status_t IpcAttach(const hsa_amd_ipc_memory_t* handle, size_t size, uint32_t agents, const hsa_agent_t* mapping,
                       void** pointer) {
  const hsa_status_t status = original.amd.hsa_amd_ipc_memory_attach_fn(handle, size, agents, mapping, pointer);
  if (status == HSA_STATUS_SUCCESS) {
    AddAllocation(*pointer, size, "hsa_amd_ipc_memory_attach");
    Note(kNoDispatch, "ipc", "Memory of another process is attached: it may change while a dispatch is isolated.");
  }
  return status;
}
hsa_status_t IpcDetach(void* pointer) {
  const std::shared_lock hold(FreeingMutex());
  RemoveAt(reinterpret_cast<uint64_t>(pointer));
  return original.amd.hsa_amd_ipc_memory_detach_fn(pointer);
}
hsa_status_t SvmSet(void* pointer, size_t size, hsa_amd_svm_attribute_pair_t* list, size_t count) {
  const hsa_status_t status = original.amd.hsa_amd_svm_attributes_set_fn(pointer, size, list, count);
  if (status == HSA_STATUS_SUCCESS) {
    AddMemory(reinterpret_cast<uint64_t>(pointer), size, MemoryKind::kLocked, 0, "hsa_amd_svm_attributes_set");
  }
  return status;
}

template <typename F>
void Put(F*& slot, F* own) {
  if (slot != nullptr) slot = own;
}

}  // namespace

uint64_t AddMemory(uint64_t address, uint64_t size, MemoryKind kind, uint32_t flags, std::string_view origin) {
  const std::lock_guard lock(state().mutex);
  const uint64_t id = state().next++;
  state().by_address[address] = {{id, address, size, static_cast<uint32_t>(kind), flags}, std::string(origin)};
  return id;
}

void RemoveMemory(uint64_t id) {
  const std::lock_guard lock(state().mutex);
  std::erase_if(state().by_address, [&](const auto& entry) { return entry.second.record.id == id; });
}

std::shared_mutex& FreeingMutex() {
  static auto* const mutex = new std::shared_mutex;
  return *mutex;
}

bool IsLive(uint64_t id) {
  const std::lock_guard lock(state().mutex);
  return std::any_of(state().by_address.begin(), state().by_address.end(),
                     [&](const auto& entry) { return entry.second.record.id == id; });
}

std::vector<Memory> LiveMemory() {
  const std::lock_guard lock(state().mutex);
  std::vector<Memory> all;
  for (const auto& [address, memory] : state().by_address) all.push_back(memory);
  return all;
}

void InstallMemory(hsa::CoreTable& core, hsa::AmdTable& amd) {
  Put(core.hsa_memory_allocate_fn, RegionAllocate);
  Put(core.hsa_memory_free_fn, RegionFree);
  Put(amd.hsa_amd_memory_pool_allocate_fn, PoolAllocate);
  Put(amd.hsa_amd_memory_pool_free_fn, PoolFree);
  Put(amd.hsa_amd_memory_lock_fn, Lock);
  Put(amd.hsa_amd_memory_lock_to_pool_fn, LockToPool);
  Put(amd.hsa_amd_memory_unlock_fn, Unlock);
  Put(amd.hsa_amd_vmem_map_fn, VirtualMap);
  Put(amd.hsa_amd_vmem_set_access_fn, VirtualSetAccess);
  Put(amd.hsa_amd_vmem_unmap_fn, VirtualUnmap);
  Put(amd.hsa_amd_ipc_memory_attach_fn, IpcAttach);
  Put(amd.hsa_amd_ipc_memory_detach_fn, IpcDetach);
  Put(amd.hsa_amd_svm_attributes_set_fn, SvmSet);
}

}  // namespace wavesmith::tool
