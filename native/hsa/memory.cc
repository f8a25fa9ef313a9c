// Memory: pools, copies and fills, pointer information, locked program memory.
// All GPU memory is the process's own memory too, so a copy is memcpy. Sources: HSA Runtime Specification 1.2, section 2.7; hsa_ext_amd.h.
#include <algorithm>
#include <cstring>
#include <thread>

#include "common/fill.h"
#include "common/size.h"
#include "hsa/pools.h"
#include "hsa/runtime.h"
#include "hsa/signal.h"

namespace wavesmith::hsa {
namespace {

bool IsGpuPool(uint64_t handle) { return HandleKind(handle) == kGpuCoarsePool || HandleKind(handle) == kGpuFinePool; }
bool IsPool(const Runtime& runtime, uint64_t handle) {
  if (IsGpuPool(handle)) return HandleDevice(handle) < runtime.device().hello.devices;
  return handle >= kCpuFinePool && handle <= kCpuKernargPool;
}
uint64_t AgentOf(uint64_t pool) { return IsGpuPool(pool) ? OfDevice(kGpuAgent, HandleDevice(pool)) : kCpuAgent; }
uint32_t FlagsOf(uint64_t pool) {
  switch (HandleKind(pool)) {
    case kCpuKernargPool:
      return HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED | HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT;
    case kCpuFinePool:
    case kGpuFinePool:
      return HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED;
    default:
      return HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED;
  }
}
using wavesmith::Size;

}  // namespace

hsa_status_t AllocateFromPool(Runtime& runtime, uint64_t pool, size_t size, void** pointer) {
  if (HandleKind(pool) == kGpuGroupPool) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  if (!IsPool(runtime, pool)) return static_cast<hsa_status_t>(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  if (pointer == nullptr || size == 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (size > runtime.device().hello.window_size) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  hsa_status_t status;
  const bool of_program = HandleKind(pool) != kCpuKernargPool;
  *pointer = reinterpret_cast<void*>(runtime.Allocate(size, kPage, pool, &status, of_program));
  return status;
}

namespace {

// Whether a range that begins in an allocation also ends in it; what begins in none is the program's own memory.
bool InAllocation(Runtime& runtime, const void* pointer, Size size) {
  Allocation found;
  if (!size.ok() || !(Size(reinterpret_cast<uintptr_t>(pointer)) + size).ok()) return false;
  if (!runtime.Find(reinterpret_cast<uint64_t>(pointer), &found)) return true;
  return size.value() <= found.size - (reinterpret_cast<uint64_t>(pointer) - found.address);
}

// Bytes from a pitched pointer to behind the last byte of a box; the box must lie in its rows and slices.
Size BoxEnd(const hsa_pitched_ptr_t& p, const hsa_dim3_t& offset, const hsa_dim3_t& range) {
  if (range.x == 0 || range.y == 0 || range.z == 0) return 0;
  return Size(p.slice) * (Size(offset.z) + (range.z - 1)) + Size(p.pitch) * (Size(offset.y) + (range.y - 1)) +
         (Size(offset.x) + range.x);
}

// Copies run one after the other on a thread, in the order their dependencies allow.
void RunAfter(Runtime& runtime, const std::vector<Signal*>& dependencies, Signal* completion,
              const std::function<void()>& work) {
  for (Signal* dependency : dependencies) {
    const Condition zero{dependency, HSA_SIGNAL_CONDITION_EQ, 0};
    WaitAny(&zero, 1, kForever, true);
  }
  const uint64_t start = NowTicks();
  work();
  if (completion == nullptr) return;
  __atomic_store_n(&completion->start_ticks, start, __ATOMIC_SEQ_CST);
  __atomic_store_n(&completion->end_ticks, NowTicks(), __ATOMIC_SEQ_CST);
  SubtractSignal(runtime, completion, 1);
}

}  // namespace

hsa_status_t Asynchronously(Runtime& runtime, uint32_t count, const hsa_signal_t* dependencies, hsa_signal_t completion,
                            std::function<void()> work) {
  if (count != 0 && dependencies == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  std::vector<Signal*> waits;
  bool ready = true;
  for (uint32_t n = 0; n < count; n++) {
    if (dependencies[n].handle == 0) continue;
    waits.push_back(SignalOf(dependencies[n]));
    ready = ready && LoadSignal(waits.back()) == 0;
  }
  Signal* const done = completion.handle == 0 ? nullptr : SignalOf(completion);
  if (ready) {
    RunAfter(runtime, {}, done, work);
  } else {
    std::thread([&runtime, waits = std::move(waits), done, work = std::move(work)] {
      RunAfter(runtime, waits, done, work);
    }).detach();
  }
  return HSA_STATUS_SUCCESS;
}

}  // namespace wavesmith::hsa

namespace impl {

using namespace wavesmith::hsa;  // NOLINT: the implementations are this namespace's face

// Pools and regions --------------------------------------------------------------------------------------------------------------------

hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t, void** pointer) {
  WAVESMITH_REQUIRE_INIT();
  return AllocateFromPool(*runtime, pool.handle, size, pointer);
}
hsa_status_t hsa_amd_memory_pool_free(void* pointer) {
  WAVESMITH_REQUIRE_INIT();
  if (pointer == nullptr) return HSA_STATUS_SUCCESS;
  return runtime->Free(reinterpret_cast<uint64_t>(pointer)) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}
hsa_status_t hsa_memory_allocate(hsa_region_t region, size_t size, void** pointer) {
  WAVESMITH_REQUIRE_INIT();
  const hsa_status_t status = AllocateFromPool(*runtime, region.handle, size, pointer);
  return status == static_cast<hsa_status_t>(HSA_STATUS_ERROR_INVALID_MEMORY_POOL) ? HSA_STATUS_ERROR_INVALID_REGION
                                                                                   : status;
}
hsa_status_t hsa_memory_free(void* pointer) { return impl::hsa_amd_memory_pool_free(pointer); }

// Program memory is shared with the device only when it is locked; registering is a hint.
hsa_status_t hsa_memory_register(void* pointer, size_t size) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(size == 0 || pointer != nullptr);
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_memory_deregister(void*, size_t) {
  WAVESMITH_REQUIRE_INIT();
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_memory_assign_agent(void* pointer, hsa_agent_t agent, hsa_access_permission_t) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(pointer != nullptr);
  return runtime->IsAgent(agent) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT;
}
hsa_status_t hsa_memory_copy(void* destination, const void* source, size_t size) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(destination != nullptr && source != nullptr);
  if (!InAllocation(*runtime, destination, size) || !InAllocation(*runtime, source, size)) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  std::memmove(destination, source, size);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_agents_allow_access(uint32_t count, const hsa_agent_t* agents, const uint32_t* flags,
                                         const void* pointer) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(count != 0 && agents != nullptr && flags == nullptr && pointer != nullptr);
  const bool known = std::all_of(agents, agents + count, [&](hsa_agent_t a) { return runtime->IsAgent(a); });
  return known ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT;
}
hsa_status_t hsa_amd_memory_pool_can_migrate(hsa_amd_memory_pool_t source, hsa_amd_memory_pool_t destination,
                                             bool* result) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(result != nullptr);
  *result = false;
  return IsPool(*runtime, source.handle) && IsPool(*runtime, destination.handle)
             ? HSA_STATUS_SUCCESS
             : static_cast<hsa_status_t>(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
}
hsa_status_t hsa_amd_memory_migrate(const void*, hsa_amd_memory_pool_t, uint32_t) { return kStatusNotSupported; }

// Copies -------------------------------------------------------------------------------------------------------------------------------

hsa_status_t hsa_amd_memory_async_copy(void* destination, hsa_agent_t destination_agent, const void* source,
                                       hsa_agent_t source_agent, size_t size, uint32_t count,
                                       const hsa_signal_t* dependencies, hsa_signal_t completion) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(destination != nullptr && source != nullptr);
  if (!runtime->IsAgent(destination_agent) || !runtime->IsAgent(source_agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!InAllocation(*runtime, destination, size) || !InAllocation(*runtime, source, size)) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return Asynchronously(*runtime, count, dependencies, completion, [=] { std::memmove(destination, source, size); });
}
hsa_status_t hsa_amd_memory_async_copy_on_engine(void* destination, hsa_agent_t destination_agent, const void* source,
                                                 hsa_agent_t source_agent, size_t size, uint32_t count,
                                                 const hsa_signal_t* dependencies, hsa_signal_t completion,
                                                 hsa_amd_sdma_engine_id_t, bool) {
  return impl::hsa_amd_memory_async_copy(destination, destination_agent, source, source_agent, size, count,
                                         dependencies, completion);
}
hsa_status_t hsa_amd_memory_copy_engine_status(hsa_agent_t, hsa_agent_t, uint32_t* mask) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(mask != nullptr);
  *mask = 1;
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_memory_async_copy_rect(const hsa_pitched_ptr_t* destination, const hsa_dim3_t* destination_offset,
                                            const hsa_pitched_ptr_t* source, const hsa_dim3_t* source_offset,
                                            const hsa_dim3_t* range, hsa_agent_t agent, hsa_amd_copy_direction_t,
                                            uint32_t count, const hsa_signal_t* dependencies, hsa_signal_t completion) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(destination != nullptr && destination_offset != nullptr && source != nullptr &&
                    source_offset != nullptr && range != nullptr);
  if (!runtime->IsAgent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  const hsa_pitched_ptr_t to = *destination;
  const hsa_pitched_ptr_t from = *source;
  const hsa_dim3_t to_offset = *destination_offset;
  const hsa_dim3_t from_offset = *source_offset;
  const hsa_dim3_t size = *range;
  if (!InAllocation(*runtime, to.base, BoxEnd(to, to_offset, size)) ||
      !InAllocation(*runtime, from.base, BoxEnd(from, from_offset, size))) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return Asynchronously(*runtime, count, dependencies, completion, [=] {
    const auto at = [](const hsa_pitched_ptr_t& p, const hsa_dim3_t& o, uint32_t y, uint32_t z) {
      return static_cast<uint8_t*>(p.base) + (o.z + z) * p.slice + (o.y + y) * p.pitch + o.x;
    };
    for (uint32_t z = 0; z < size.z; z++) {
      for (uint32_t y = 0; y < size.y; y++) std::memmove(at(to, to_offset, y, z), at(from, from_offset, y, z), size.x);
    }
  });
}

hsa_status_t hsa_amd_memory_fill(void* pointer, uint32_t value, size_t count) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(pointer != nullptr && reinterpret_cast<uintptr_t>(pointer) % 4 == 0);
  if (!InAllocation(*runtime, pointer, Size(count) * sizeof value)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (value != 0 && !wavesmith::HostHolds(pointer, count * sizeof value)) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  wavesmith::Fill(static_cast<uint32_t*>(pointer), count, value);
  return HSA_STATUS_SUCCESS;
}

// Times --------------------------------------------------------------------------------------------------------------------------------

hsa_status_t hsa_amd_profiling_async_copy_enable(bool) {
  WAVESMITH_REQUIRE_INIT();
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_profiling_get_dispatch_time(hsa_agent_t agent, hsa_signal_t signal,
                                                 hsa_amd_profiling_dispatch_time_t* time) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(time != nullptr && signal.handle != 0);
  if (!runtime->IsGpu(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  time->start = SignalOf(signal)->start_ticks;
  time->end = SignalOf(signal)->end_ticks;
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_profiling_get_async_copy_time(hsa_signal_t signal, hsa_amd_profiling_async_copy_time_t* time) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(time != nullptr && signal.handle != 0);
  time->start = SignalOf(signal)->start_ticks;
  time->end = SignalOf(signal)->end_ticks;
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_profiling_convert_tick_to_system_domain(hsa_agent_t agent, uint64_t tick, uint64_t* system_tick) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(system_tick != nullptr);
  *system_tick = tick;
  return runtime->IsGpu(agent) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT;
}

// Pointers -----------------------------------------------------------------------------------------------------------------------------

hsa_status_t hsa_amd_pointer_info(const void* pointer, hsa_amd_pointer_info_t* info, void* (*allocate)(size_t),
                                  uint32_t* accessible_count, hsa_agent_t** accessible) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(pointer != nullptr && info != nullptr);
  hsa_amd_pointer_info_t result{};
  result.size = static_cast<uint32_t>(std::min<size_t>(info->size, sizeof result));
  result.type = HSA_EXT_POINTER_TYPE_UNKNOWN;
  Allocation found;
  VirtualRange range;
  const bool known = runtime->Find(reinterpret_cast<uint64_t>(pointer), &found);
  std::vector<hsa_agent_t> agents;
  if (known) {
    agents.push_back({kCpuAgent});
    for (uint32_t n = 0; n < runtime->device().hello.devices; n++) agents.push_back({OfDevice(kGpuAgent, n)});
    result.type = found.type;
    result.agentBaseAddress = reinterpret_cast<void*>(found.address);
    result.hostBaseAddress = reinterpret_cast<void*>(found.host_address);
    result.sizeInBytes = found.size;
    result.userData = found.user_data;
    result.agentOwner = {AgentOf(found.pool)};
    result.global_flags = FlagsOf(found.pool);
  } else if (FindVirtual(reinterpret_cast<uint64_t>(pointer), &range)) {
    constexpr int kReserved = 5;
    constexpr int kMapped = 6;
    result.type = static_cast<hsa_amd_pointer_type_t>(range.is_mapped ? kMapped : kReserved);
    result.agentBaseAddress = result.hostBaseAddress = reinterpret_cast<void*>(range.begin);
    result.sizeInBytes = range.size;
    if (range.is_mapped) {
      result.agentOwner = {AgentOf(range.pool)};
      result.global_flags = FlagsOf(range.pool);
    }
    agents = range.agents;
  }
  std::memcpy(info, &result, result.size);
  if (result.type != HSA_EXT_POINTER_TYPE_UNKNOWN && allocate != nullptr && accessible_count != nullptr &&
      accessible != nullptr) {
    *accessible = static_cast<hsa_agent_t*>(allocate(std::max<size_t>(agents.size(), 1) * sizeof(hsa_agent_t)));
    if (*accessible == nullptr) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    std::copy(agents.begin(), agents.end(), *accessible);
    *accessible_count = static_cast<uint32_t>(agents.size());
  }
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_pointer_info_set_userdata(const void* pointer, void* data) {
  WAVESMITH_REQUIRE_INIT();
  const bool found = runtime->Change(reinterpret_cast<uint64_t>(pointer), [&](Allocation& a) { a.user_data = data; });
  return found ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}
hsa_status_t hsa_amd_register_deallocation_callback(void* pointer, hsa_amd_deallocation_callback_t callback,
                                                    void* data) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(pointer != nullptr && callback != nullptr);
  const bool found = runtime->Change(reinterpret_cast<uint64_t>(pointer),
                                     [&](Allocation& a) { a.on_free.push_back({pointer, callback, data}); });
  return found ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}
hsa_status_t hsa_amd_deregister_deallocation_callback(void* pointer, hsa_amd_deallocation_callback_t callback) {
  WAVESMITH_REQUIRE_INIT();
  bool removed = false;
  runtime->Change(reinterpret_cast<uint64_t>(pointer), [&](Allocation& a) {
    removed = std::erase_if(a.on_free, [&](const Allocation::Listener& entry) {
                return entry.pointer == pointer && entry.callback == callback;
              }) > 0;
  });
  return removed ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_amd_memory_lock(void* host, size_t size, hsa_agent_t*, int, void** agent_address) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(host != nullptr && size != 0 && agent_address != nullptr);
  if (runtime->client().InWindow(host)) {
    *agent_address = host;
    return HSA_STATUS_SUCCESS;
  }
  return runtime->Lock(host, size, agent_address);
}
hsa_status_t hsa_amd_memory_lock_to_pool(void* host, size_t size, hsa_agent_t* agents, int count, hsa_amd_memory_pool_t,
                                         uint32_t, void** agent_address) {
  return impl::hsa_amd_memory_lock(host, size, agents, count, agent_address);
}
hsa_status_t hsa_amd_memory_unlock(void* host) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(host != nullptr);
  return runtime->client().InWindow(host) ? HSA_STATUS_SUCCESS : runtime->Unlock(host);
}

hsa_status_t hsa_amd_image_create(hsa_agent_t, const hsa_ext_image_descriptor_t*, const hsa_amd_image_descriptor_t*,
                                  const void*, hsa_access_permission_t, hsa_ext_image_t*) {
  return kStatusNotSupported;
}
}  // namespace impl

// There are no image units: images have no extent. Not in the tables, as in ROCm.
extern "C" __attribute__((visibility("default"))) hsa_status_t
hsa_amd_image_get_info_max_dim(hsa_agent_t agent, hsa_agent_info_t attribute, void* value) {
  const auto* const runtime = wavesmith::hsa::Runtime::Get();
  if (runtime == nullptr) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  // Numbers by attribute, from HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS to HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS.
  constexpr uint32_t kFirst = 0x3000;
  constexpr uint8_t kNumbers[] = {1, 1, 1, 2, 2, 2, 2, 3, 1};
  const uint32_t kind = static_cast<uint32_t>(attribute) - kFirst;
  if (value == nullptr || kind >= sizeof kNumbers) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!runtime->IsAgent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  std::memset(value, 0, kNumbers[kind] * sizeof(uint32_t));
  return HSA_STATUS_SUCCESS;
}
