// What the system is: one CPU agent, one GPU agent (the virtual GPU), their memory pools.
// Sources: HSA Runtime Specification 1.2, sections 2.2, 2.3 and 2.13; hsa_ext_amd.h (AMD agent and pool attributes).
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <thread>

#include "hsa/attributes.h"
#include "hsa/loader.h"
#include "hsa/runtime.h"
#include "hsa/signal.h"
#include "hsa/visible.h"

namespace wavesmith::hsa {
namespace {

constexpr uint64_t kClockHz = 100'000'000;
constexpr uint32_t kMaxQueuePackets = 1u << 17;

// Device ids of the boards the targets stand for: MI210, MI300X, MI350X.
uint32_t ChipId(const std::string& target) {
  return target == "gfx90a" ? 0x740f : target == "gfx942" ? 0x74a1 : 0x75a0;
}

std::string CpuName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "CPU";
}

struct Pool {
  uint64_t handle;
  uint64_t agent;
  hsa_amd_segment_t segment;
  uint32_t flags;
};
constexpr Pool kPools[] = {
    {kCpuFinePool, kCpuAgent, HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED},
    {kCpuKernargPool, kCpuAgent, HSA_AMD_SEGMENT_GLOBAL,
     HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED | HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT},
    {kCpuCoarsePool, kCpuAgent, HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED},
    {kGpuCoarsePool, kGpuAgent, HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED},
    {kGpuFinePool, kGpuAgent, HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED},
    {kGpuGroupPool, kGpuAgent, HSA_AMD_SEGMENT_GROUP, 0},
};
const Pool* FindPool(const Runtime& runtime, uint64_t handle) {
  const auto* found =
      std::find_if(std::begin(kPools), std::end(kPools), [&](const Pool& p) { return p.handle == HandleKind(handle); });
  const bool known = found != std::end(kPools) &&
                     (HandleDevice(handle) == 0 ||
                      (found->agent == kGpuAgent && HandleDevice(handle) < runtime.device().hello.devices));
  return known ? found : nullptr;
}

uint64_t PoolSize(const Runtime& runtime, const Pool& pool) {
  const HelloReply& hello = const_cast<Runtime&>(runtime).device().hello;
  return pool.segment == HSA_AMD_SEGMENT_GROUP ? hello.lds_bytes : hello.window_size;
}

hsa_status_t GpuInfo(Runtime& runtime, uint64_t number, uint32_t attribute, void* value) {
  const DeviceInfo& device = runtime.device();
  const HelloReply& hello = device.hello;
  switch (attribute) {
    case HSA_AGENT_INFO_NAME:
      return PutText(value, device.target, 64);
    case HSA_AGENT_INFO_VENDOR_NAME:
      return PutText(value, "AMD", 64);
    case HSA_AGENT_INFO_FEATURE:
      return Put<uint32_t>(value, HSA_AGENT_FEATURE_KERNEL_DISPATCH);
    case HSA_AGENT_INFO_MACHINE_MODEL:
      return Put<uint32_t>(value, HSA_MACHINE_MODEL_LARGE);
    case HSA_AGENT_INFO_PROFILE:
      return Put<uint32_t>(value, HSA_PROFILE_BASE);
    case HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
    case HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES:
      return Put<uint32_t>(value, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR);
    case HSA_AGENT_INFO_FAST_F16_OPERATION:
      return Put<bool>(value, true);
    case HSA_AGENT_INFO_WAVEFRONT_SIZE:
      return Put<uint32_t>(value, hello.wavefront_size);
    case HSA_AGENT_INFO_WORKGROUP_MAX_DIM: {
      const uint16_t dimensions[3] = {static_cast<uint16_t>(hello.max_workgroup_size),
                                      static_cast<uint16_t>(hello.max_workgroup_size),
                                      static_cast<uint16_t>(hello.max_workgroup_size)};
      return Put(value, dimensions);
    }
    case HSA_AGENT_INFO_WORKGROUP_MAX_SIZE:
      return Put<uint32_t>(value, hello.max_workgroup_size);
    case HSA_AGENT_INFO_GRID_MAX_DIM:
      return Put(value, hsa_dim3_t{UINT32_MAX, UINT32_MAX, UINT32_MAX});
    case HSA_AGENT_INFO_GRID_MAX_SIZE:
      return Put<uint32_t>(value, UINT32_MAX);
    case HSA_AGENT_INFO_FBARRIER_MAX_SIZE:
      return Put<uint32_t>(value, 32);
    case HSA_AGENT_INFO_QUEUES_MAX:
      return Put<uint32_t>(value, 128);
    case HSA_AGENT_INFO_QUEUE_MIN_SIZE:
      return Put<uint32_t>(value, 64);
    case HSA_AGENT_INFO_QUEUE_MAX_SIZE:
      return Put<uint32_t>(value, kMaxQueuePackets);
    case HSA_AGENT_INFO_QUEUE_TYPE:
      return Put<uint32_t>(value, HSA_QUEUE_TYPE_MULTI);
    case HSA_AGENT_INFO_NODE:
    case HSA_AMD_AGENT_INFO_DRIVER_NODE_ID:
    case kAgentInfoDriverUid:
      return Put<uint32_t>(value, static_cast<uint32_t>(1 + number));
    case HSA_AMD_AGENT_INFO_BDFID:
      return Put<uint32_t>(value, static_cast<uint32_t>(number << 8));
    case HSA_AGENT_INFO_DEVICE:
      return Put<uint32_t>(value, HSA_DEVICE_TYPE_GPU);
    case HSA_AGENT_INFO_CACHE_SIZE: {
      const uint32_t sizes[4] = {device.target == "gfx90a" ? 16384u : 32768u,
                                 device.target == "gfx90a" ? 8u << 20 : 4u << 20, 0, 0};
      return Put(value, sizes);
    }
    case HSA_AGENT_INFO_ISA:
      return Put(value, hsa_isa_t{kGpuIsa});
    case HSA_AGENT_INFO_EXTENSIONS:
      std::memset(value, 0, 128);
      return HSA_STATUS_SUCCESS;
    case HSA_AGENT_INFO_VERSION_MAJOR:
    case HSA_AGENT_INFO_VERSION_MINOR:
      return Put<uint16_t>(value, 1);
    case HSA_AMD_AGENT_INFO_CHIP_ID:
      return Put<uint32_t>(value, ChipId(device.target));
    case HSA_AMD_AGENT_INFO_CACHELINE_SIZE:
      return Put<uint32_t>(value, device.target == "gfx90a" ? 64 : 128);
    case HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT:
    case HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT:
      return Put<uint32_t>(value, hello.compute_units);
    case HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY:
      return Put<uint32_t>(value, device.target == "gfx90a" ? 1700 : device.target == "gfx942" ? 2100 : 2200);
    case HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS:
      return Put<uint32_t>(value, 4);
    case HSA_AMD_AGENT_INFO_DOMAIN:
    case HSA_AMD_AGENT_INFO_ASIC_REVISION:
    case kAgentInfoAsicFamily:
    case kAgentInfoUcodeVersion:
    case kAgentInfoSdmaUcodeVersion:
    case kAgentInfoSdmaEngines:
    case kAgentInfoXgmiSdmaEngines:
      return Put<uint32_t>(value, 0);
    case HSA_AMD_AGENT_INFO_MEMORY_WIDTH:
      return Put<uint32_t>(value, device.target == "gfx90a" ? 4096 : 8192);
    case HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY:
      return Put<uint32_t>(value, device.target == "gfx90a" ? 1600 : device.target == "gfx942" ? 1300 : 2000);
    case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
      return PutText(value, device.name, 64);
    case HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU:
      return Put<uint32_t>(value, 32);
    case HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU:
      return Put<uint32_t>(value, 4);
    case HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES:
      return Put<uint32_t>(value, device.target == "gfx90a" ? 8 : 32);
    case HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE:
      return Put<uint32_t>(value, 1);
    case HSA_AMD_AGENT_INFO_HDP_FLUSH:
      std::memset(value, 0, sizeof(hsa_amd_hdp_flush_t));
      return HSA_STATUS_SUCCESS;
    case HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES:
    case HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS:
      return Put<bool>(value, true);
    case HSA_AMD_AGENT_INFO_UUID: {
      return PutText(value, UuidOf(static_cast<uint32_t>(number)).c_str(), 21);
    }
    case kAgentInfoMemoryAvailable:
      return Put<uint64_t>(value, hello.window_size - std::min(hello.window_size, runtime.UsedBytes()));
    case kAgentInfoMemoryProperties:
      // No bit: it is not an APU.
      return Put<uint64_t>(value, 0);
    case kAgentInfoScratchLimitMax:
    case kAgentInfoScratchLimitCurrent:
      // Every queue has the scratch that its kernels ask for.
      return Put<uint64_t>(value, hello.window_size);
    case kAgentInfoClockCounters: {
      // One clock counts for everything here.
      const uint64_t now = NowTicks();
      const uint64_t counters[4] = {now, now, now, kClockHz};
      std::memcpy(value, counters, sizeof counters);
      return HSA_STATUS_SUCCESS;
    }
    case kAgentInfoTimestampFrequency:
      return Put<uint64_t>(value, kClockHz);
    case kAgentInfoIommu:
      return Put<bool>(value, false);
    case kAgentInfoXcc:
      return Put<uint32_t>(value, device.target == "gfx90a" ? 1 : 8);
    case kAgentInfoNearestCpu:
      return Put(value, hsa_agent_t{kCpuAgent});
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t CpuInfo(uint32_t attribute, void* value) {
  switch (attribute) {
    case HSA_AGENT_INFO_NAME:
    case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
      return PutText(value, CpuName(), 64);
    case HSA_AGENT_INFO_VENDOR_NAME:
      return PutText(value, "CPU", 64);
    case HSA_AGENT_INFO_FEATURE:
    case HSA_AGENT_INFO_WAVEFRONT_SIZE:
    case HSA_AGENT_INFO_WORKGROUP_MAX_SIZE:
    case HSA_AGENT_INFO_GRID_MAX_SIZE:
    case HSA_AGENT_INFO_FBARRIER_MAX_SIZE:
    case HSA_AGENT_INFO_QUEUES_MAX:
    case HSA_AGENT_INFO_QUEUE_MIN_SIZE:
    case HSA_AGENT_INFO_QUEUE_MAX_SIZE:
    case HSA_AGENT_INFO_NODE:
    case HSA_AGENT_INFO_DEVICE:  // HSA_DEVICE_TYPE_CPU
    case HSA_AMD_AGENT_INFO_CHIP_ID:
    case HSA_AMD_AGENT_INFO_DRIVER_NODE_ID:
    case HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS:
    case HSA_AMD_AGENT_INFO_BDFID:
    case HSA_AMD_AGENT_INFO_MEMORY_WIDTH:
    case HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY:
    case HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY:
    case HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU:
    case HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU:
    case HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES:
    case HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE:
    case HSA_AMD_AGENT_INFO_DOMAIN:
    case HSA_AMD_AGENT_INFO_ASIC_REVISION:
    case kAgentInfoXcc:
    case kAgentInfoDriverUid:
    case HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
    case HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES:
      return Put<uint32_t>(value, 0);
    case HSA_AGENT_INFO_QUEUE_TYPE:
      return Put<uint32_t>(value, HSA_QUEUE_TYPE_MULTI);
    case HSA_AGENT_INFO_MACHINE_MODEL:
      return Put<uint32_t>(value, HSA_MACHINE_MODEL_LARGE);
    case HSA_AGENT_INFO_PROFILE:
      return Put<uint32_t>(value, HSA_PROFILE_FULL);
    case HSA_AGENT_INFO_FAST_F16_OPERATION:
    case HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES:
    case HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS:
    case kAgentInfoIommu:
      return Put<bool>(value, false);
    case HSA_AGENT_INFO_WORKGROUP_MAX_DIM:
      std::memset(value, 0, 3 * sizeof(uint16_t));
      return HSA_STATUS_SUCCESS;
    case HSA_AGENT_INFO_GRID_MAX_DIM:
      std::memset(value, 0, sizeof(hsa_dim3_t));
      return HSA_STATUS_SUCCESS;
    case HSA_AGENT_INFO_CACHE_SIZE: {
      const uint32_t sizes[4] = {static_cast<uint32_t>(std::max(0l, sysconf(_SC_LEVEL1_DCACHE_SIZE))), 0, 0, 0};
      return Put(value, sizes);
    }
    case HSA_AGENT_INFO_ISA:
      return Put(value, hsa_isa_t{0});
    case HSA_AGENT_INFO_EXTENSIONS:
      std::memset(value, 0, 128);
      return HSA_STATUS_SUCCESS;
    case HSA_AGENT_INFO_VERSION_MAJOR:
    case HSA_AGENT_INFO_VERSION_MINOR:
      return Put<uint16_t>(value, 1);
    case HSA_AMD_AGENT_INFO_CACHELINE_SIZE:
      return Put<uint32_t>(value, 64);
    case HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT:
      return Put<uint32_t>(value, std::thread::hardware_concurrency());
    case HSA_AMD_AGENT_INFO_UUID:
      return PutText(value, "CPU-XX", 21);
    case HSA_AMD_AGENT_INFO_HDP_FLUSH:
      std::memset(value, 0, sizeof(hsa_amd_hdp_flush_t));
      return HSA_STATUS_SUCCESS;
    case kAgentInfoTimestampFrequency:
      return Put<uint64_t>(value, kClockHz);
    case kAgentInfoNearestCpu:
      return Put(value, hsa_agent_t{kCpuAgent});
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

}  // namespace
}  // namespace wavesmith::hsa

namespace impl {

using namespace wavesmith::hsa;  // NOLINT: the implementations are this namespace's face

// System -------------------------------------------------------------------------------------------------------------------------------

hsa_status_t hsa_system_get_info(hsa_system_info_t attribute, void* value) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(value != nullptr);
  switch (static_cast<uint32_t>(attribute)) {
    case HSA_SYSTEM_INFO_VERSION_MAJOR:
      return Put<uint16_t>(value, 1);
    case HSA_SYSTEM_INFO_VERSION_MINOR:
      return Put<uint16_t>(value, 14);
    case HSA_SYSTEM_INFO_TIMESTAMP:
      return Put<uint64_t>(value, NowTicks());
    case HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY:
      return Put<uint64_t>(value, kClockHz);
    case HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT:
      return Put<uint64_t>(value, UINT64_MAX);
    case HSA_SYSTEM_INFO_ENDIANNESS:
      return Put<uint32_t>(value, HSA_ENDIANNESS_LITTLE);
    case HSA_SYSTEM_INFO_MACHINE_MODEL:
      return Put<uint32_t>(value, HSA_MACHINE_MODEL_LARGE);
    case HSA_SYSTEM_INFO_EXTENSIONS: {
      uint8_t bits[128] = {};
      bits[HSA_EXTENSION_AMD_LOADER / 8] |= static_cast<uint8_t>(1u << (HSA_EXTENSION_AMD_LOADER % 8));
      return Put(value, bits);
    }
    case kSystemInfoBuildVersion:
      return Put<const char*>(value, "wavesmith");
    case kSystemInfoExtensionMajor:
      return Put<uint16_t>(value, 1);
    case kSystemInfoExtensionMinor:
      return Put<uint16_t>(value, 7);
    case kSystemInfoSvmAccessibleByDefault:
    case kSystemInfoMwaitx:
    case kSystemInfoXnack:
      return Put<bool>(value, false);
    case kSystemInfoSvmSupported:
    case kSystemInfoDmabuf:
    case kSystemInfoVirtualMemory:
      return Put<bool>(value, true);
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t hsa_extension_get_name(uint16_t extension, const char** name) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(name != nullptr);
  switch (extension) {
    case HSA_EXTENSION_FINALIZER:
      *name = "HSA_EXTENSION_FINALIZER";
      return HSA_STATUS_SUCCESS;
    case HSA_EXTENSION_IMAGES:
      *name = "HSA_EXTENSION_IMAGES";
      return HSA_STATUS_SUCCESS;
    case HSA_EXTENSION_AMD_PROFILER:
      *name = "HSA_EXTENSION_AMD_PROFILER";
      return HSA_STATUS_SUCCESS;
    case HSA_EXTENSION_AMD_LOADER:
      *name = "HSA_EXTENSION_AMD_LOADER";
      return HSA_STATUS_SUCCESS;
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t hsa_system_extension_supported(uint16_t extension, uint16_t major, uint16_t, bool* result) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(result != nullptr);
  *result = extension == HSA_EXTENSION_AMD_LOADER && major == 1;
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_system_major_extension_supported(uint16_t extension, uint16_t major, uint16_t* minor, bool* result) {
  WAVESMITH_REQUIRE(minor != nullptr);
  *minor = 3;
  return impl::hsa_system_extension_supported(extension, major, 0, result);
}
hsa_status_t hsa_system_get_major_extension_table(uint16_t extension, uint16_t major, size_t size, void* table) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(table != nullptr && size != 0);
  if (extension != HSA_EXTENSION_AMD_LOADER || major != 1) return HSA_STATUS_ERROR;
  std::memcpy(table, &LoaderFunctions(), std::min(size, sizeof(LoaderTable)));
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_system_get_extension_table(uint16_t extension, uint16_t major, uint16_t minor, void* table) {
  // Version 1.00 of the loader table has 3 functions, 1.01 has 5, 1.02 6, 1.03 all.
  static constexpr size_t kFunctions[] = {3, 5, 6, 7};
  return impl::hsa_system_get_major_extension_table(extension, major,
                                                    kFunctions[std::min<size_t>(minor, 3)] * sizeof(void*), table);
}

// Agents -------------------------------------------------------------------------------------------------------------------------------

hsa_status_t hsa_iterate_agents(hsa_status_t (*callback)(hsa_agent_t, void*), void* data) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(callback != nullptr);
  hsa_status_t status = callback({kCpuAgent}, data);
  for (const uint32_t n : VisibleGpus(runtime->device().hello.devices)) {
    if (status != HSA_STATUS_SUCCESS) break;
    status = callback({OfDevice(kGpuAgent, n)}, data);
  }
  return status;
}

hsa_status_t hsa_agent_get_info(hsa_agent_t agent, hsa_agent_info_t attribute, void* value) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(value != nullptr);
  if (runtime->IsGpu(agent)) {
    return GpuInfo(*runtime, HandleDevice(agent.handle), attribute, value);
  }
  return agent.handle == kCpuAgent ? CpuInfo(attribute, value) : HSA_STATUS_ERROR_INVALID_AGENT;
}

hsa_status_t hsa_agent_get_exception_policies(hsa_agent_t agent, hsa_profile_t, uint16_t* mask) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(mask != nullptr);
  *mask = 0;
  return runtime->IsAgent(agent) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT;
}
hsa_status_t hsa_agent_extension_supported(uint16_t extension, hsa_agent_t agent, uint16_t, uint16_t, bool* result) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(result != nullptr);
  *result = runtime->IsGpu(agent) && extension == HSA_EXTENSION_AMD_LOADER;
  return runtime->IsAgent(agent) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT;
}
hsa_status_t hsa_agent_major_extension_supported(uint16_t extension, hsa_agent_t agent, uint16_t major, uint16_t* minor,
                                                 bool* result) {
  WAVESMITH_REQUIRE(minor != nullptr);
  *minor = 3;
  return impl::hsa_agent_extension_supported(extension, agent, major, 0, result);
}

hsa_status_t hsa_agent_iterate_caches(hsa_agent_t agent, hsa_status_t (*callback)(hsa_cache_t, void*), void* data) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(callback != nullptr);
  if (!runtime->IsAgent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!runtime->IsGpu(agent)) return HSA_STATUS_SUCCESS;
  for (uint64_t level = 1; level <= 2; level++) {
    const hsa_status_t status = callback({level}, data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_cache_get_info(hsa_cache_t cache, hsa_cache_info_t attribute, void* value) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(value != nullptr);
  if (cache.handle != 1 && cache.handle != 2) return HSA_STATUS_ERROR_INVALID_CACHE;
  static constexpr const char* kNames[] = {"L1", "L2"};
  const char* const name = kNames[cache.handle - 1];
  switch (attribute) {
    case HSA_CACHE_INFO_NAME_LENGTH:
      return Put<uint32_t>(value, 2);
    case HSA_CACHE_INFO_NAME:
      std::memcpy(value, name, 2);
      return HSA_STATUS_SUCCESS;
    case HSA_CACHE_INFO_LEVEL:
      return Put<uint8_t>(value, static_cast<uint8_t>(cache.handle));
    case HSA_CACHE_INFO_SIZE: {
      uint32_t sizes[4];
      GpuInfo(*runtime, 0, HSA_AGENT_INFO_CACHE_SIZE, sizes);
      return Put<uint32_t>(value, sizes[cache.handle - 1]);
    }
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

// Pools and regions --------------------------------------------------------------------------------------------------------------------

hsa_status_t hsa_amd_agent_iterate_memory_pools(hsa_agent_t agent,
                                                hsa_status_t (*callback)(hsa_amd_memory_pool_t, void*), void* data) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(callback != nullptr);
  if (!runtime->IsAgent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  for (const Pool& pool : kPools) {
    if (pool.agent != HandleKind(agent.handle)) continue;
    const hsa_status_t status = callback({OfDevice(pool.handle, HandleDevice(agent.handle))}, data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t handle, hsa_amd_memory_pool_info_t attribute,
                                          void* value) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(value != nullptr);
  const Pool* const pool = FindPool(*runtime, handle.handle);
  if (pool == nullptr) return static_cast<hsa_status_t>(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  const bool global = pool->segment == HSA_AMD_SEGMENT_GLOBAL;
  switch (static_cast<uint32_t>(attribute)) {
    case HSA_AMD_MEMORY_POOL_INFO_SEGMENT:
      return Put<uint32_t>(value, pool->segment);
    case HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS:
      return Put<uint32_t>(value, pool->flags);
    case HSA_AMD_MEMORY_POOL_INFO_SIZE:
    case HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE:
      return Put<uint64_t>(value, PoolSize(*runtime, *pool));
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED:
      return Put<bool>(value, global);
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE:
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT:
      return Put<uint64_t>(value, global ? 4096 : 0);
    case kPoolInfoRecommendedGranule:
      return Put<uint64_t>(value, global ? 2u << 20 : 0);
    case HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL:
      return Put<bool>(value, global && pool->agent == kCpuAgent);
    case kPoolInfoLocation:
      return Put<uint32_t>(value, pool->agent == kCpuAgent ? 0 : 1);
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t hsa_amd_agent_memory_pool_get_info(hsa_agent_t agent, hsa_amd_memory_pool_t handle,
                                                hsa_amd_agent_memory_pool_info_t attribute, void* value) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(value != nullptr);
  if (!runtime->IsAgent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  const Pool* const pool = FindPool(*runtime, handle.handle);
  if (pool == nullptr) return static_cast<hsa_status_t>(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  const bool own = pool->agent == HandleKind(agent.handle) && HandleDevice(handle.handle) == HandleDevice(agent.handle);
  switch (attribute) {
    case HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS:
      if (pool->segment != HSA_AMD_SEGMENT_GLOBAL) {
        return Put<uint32_t>(value, HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED);
      }
      return Put<uint32_t>(value, own || pool->agent == kCpuAgent ? HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT
                                                                  : HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT);
    case HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS:
      return Put<uint32_t>(value, own ? 0 : 1);
    case HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO: {
      if (own) return HSA_STATUS_SUCCESS;
      hsa_amd_memory_pool_link_info_t link{};
      const bool is_peer = pool->agent == kGpuAgent && runtime->IsGpu(agent);
      link.link_type = is_peer ? HSA_AMD_LINK_INFO_TYPE_XGMI : HSA_AMD_LINK_INFO_TYPE_PCIE;
      link.atomic_support_32bit = link.atomic_support_64bit = link.coherent_support = true;
      link.numa_distance = is_peer ? 15 : 20;
      return Put(value, link);
    }
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

// A region is a pool under its old name.
hsa_status_t hsa_agent_iterate_regions(hsa_agent_t agent, hsa_status_t (*callback)(hsa_region_t, void*), void* data) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(callback != nullptr);
  if (!runtime->IsAgent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  for (const Pool& pool : kPools) {
    // A GPU agent shows the system's kernarg region too.
    if (pool.agent != HandleKind(agent.handle) && pool.handle != kCpuKernargPool) continue;
    const uint64_t device = pool.agent == kGpuAgent ? HandleDevice(agent.handle) : 0;
    const hsa_status_t status = callback({OfDevice(pool.handle, device)}, data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_region_get_info(hsa_region_t region, hsa_region_info_t attribute, void* value) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(value != nullptr);
  const Pool* const pool = FindPool(*runtime, region.handle);
  if (pool == nullptr) return HSA_STATUS_ERROR_INVALID_REGION;
  switch (static_cast<uint32_t>(attribute)) {
    case HSA_REGION_INFO_SEGMENT:
      return Put<uint32_t>(
          value, pool->segment == HSA_AMD_SEGMENT_GROUP ? HSA_REGION_SEGMENT_GROUP : HSA_REGION_SEGMENT_GLOBAL);
    case HSA_REGION_INFO_GLOBAL_FLAGS: {
      uint32_t flags = 0;
      if (pool->flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) flags |= HSA_REGION_GLOBAL_FLAG_KERNARG;
      if (pool->flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED) flags |= HSA_REGION_GLOBAL_FLAG_FINE_GRAINED;
      if (pool->flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) flags |= HSA_REGION_GLOBAL_FLAG_COARSE_GRAINED;
      return Put(value, flags);
    }
    case HSA_REGION_INFO_SIZE:
    case HSA_REGION_INFO_ALLOC_MAX_SIZE:
      return Put<uint64_t>(value, PoolSize(*runtime, *pool));
    case HSA_REGION_INFO_RUNTIME_ALLOC_ALLOWED:
      return Put<bool>(value, pool->segment == HSA_AMD_SEGMENT_GLOBAL);
    case HSA_REGION_INFO_RUNTIME_ALLOC_GRANULE:
    case HSA_REGION_INFO_RUNTIME_ALLOC_ALIGNMENT:
      return Put<uint64_t>(value, pool->segment == HSA_AMD_SEGMENT_GLOBAL ? 4096 : 0);
    case HSA_AMD_REGION_INFO_HOST_ACCESSIBLE:
      return Put<bool>(value, pool->segment == HSA_AMD_SEGMENT_GLOBAL);
    case HSA_AMD_REGION_INFO_BASE:
      return Put<void*>(value, reinterpret_cast<void*>(runtime->device().hello.window_address));
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t hsa_amd_coherency_get_type(hsa_agent_t agent, hsa_amd_coherency_type_t* type) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(type != nullptr);
  *type = HSA_AMD_COHERENCY_TYPE_COHERENT;
  return runtime->IsGpu(agent) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT;
}
hsa_status_t hsa_amd_coherency_set_type(hsa_agent_t agent, hsa_amd_coherency_type_t) {
  WAVESMITH_REQUIRE_INIT();
  return runtime->IsGpu(agent) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT;
}
hsa_status_t hsa_amd_agent_set_async_scratch_limit(hsa_agent_t agent, size_t) {
  WAVESMITH_REQUIRE_INIT();
  return runtime->IsGpu(agent) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT;
}
hsa_status_t hsa_amd_spm_acquire(hsa_agent_t) { return kStatusNotSupported; }
hsa_status_t hsa_amd_spm_release(hsa_agent_t) { return kStatusNotSupported; }
hsa_status_t hsa_amd_spm_set_dest_buffer(hsa_agent_t, size_t, uint32_t*, uint32_t*, void*, bool*) {
  return kStatusNotSupported;
}
hsa_status_t hsa_amd_enable_logging(uint8_t*, void*) { return kStatusNotSupported; }

hsa_status_t hsa_status_string(hsa_status_t status, const char** text) {
  WAVESMITH_REQUIRE(text != nullptr);
  struct Entry {
    uint32_t status;
    const char* text;
  };
  static constexpr Entry kTexts[] = {
      {HSA_STATUS_SUCCESS, "HSA_STATUS_SUCCESS: The function has been executed successfully."},
      {HSA_STATUS_INFO_BREAK,
       "HSA_STATUS_INFO_BREAK: A traversal over a list of elements has been interrupted by the application before "
       "completing."},
      {HSA_STATUS_ERROR, "HSA_STATUS_ERROR: A generic error has occurred."},
      {HSA_STATUS_ERROR_INVALID_ARGUMENT,
       "HSA_STATUS_ERROR_INVALID_ARGUMENT: One of the actual arguments does not meet a precondition stated in the "
       "documentation of the corresponding formal argument."},
      {HSA_STATUS_ERROR_INVALID_QUEUE_CREATION,
       "HSA_STATUS_ERROR_INVALID_QUEUE_CREATION: The requested queue creation is not valid."},
      {HSA_STATUS_ERROR_INVALID_ALLOCATION,
       "HSA_STATUS_ERROR_INVALID_ALLOCATION: The requested allocation is not valid."},
      {HSA_STATUS_ERROR_INVALID_AGENT, "HSA_STATUS_ERROR_INVALID_AGENT: The agent is invalid."},
      {HSA_STATUS_ERROR_INVALID_REGION, "HSA_STATUS_ERROR_INVALID_REGION: The memory region is invalid."},
      {HSA_STATUS_ERROR_INVALID_SIGNAL, "HSA_STATUS_ERROR_INVALID_SIGNAL: The signal is invalid."},
      {HSA_STATUS_ERROR_INVALID_QUEUE, "HSA_STATUS_ERROR_INVALID_QUEUE: The queue is invalid."},
      {HSA_STATUS_ERROR_OUT_OF_RESOURCES,
       "HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources. This error may also "
       "occur when the core runtime library needs to spawn threads or create internal OS-specific events."},
      {HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, "HSA_STATUS_ERROR_INVALID_PACKET_FORMAT: The AQL packet is malformed."},
      {HSA_STATUS_ERROR_RESOURCE_FREE,
       "HSA_STATUS_ERROR_RESOURCE_FREE: An error has been detected while releasing a resource."},
      {HSA_STATUS_ERROR_NOT_INITIALIZED,
       "HSA_STATUS_ERROR_NOT_INITIALIZED: An API other than hsa_init has been invoked while the reference count of the "
       "HSA runtime is zero."},
      {HSA_STATUS_ERROR_REFCOUNT_OVERFLOW,
       "HSA_STATUS_ERROR_REFCOUNT_OVERFLOW: The maximum reference count for the object has been reached."},
      {HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS,
       "HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS: The arguments passed to a functions are not compatible."},
      {HSA_STATUS_ERROR_INVALID_INDEX, "HSA_STATUS_ERROR_INVALID_INDEX: The index is invalid."},
      {HSA_STATUS_ERROR_INVALID_ISA, "HSA_STATUS_ERROR_INVALID_ISA: The instruction set architecture is invalid."},
      {HSA_STATUS_ERROR_INVALID_ISA_NAME,
       "HSA_STATUS_ERROR_INVALID_ISA_NAME: The instruction set architecture name is invalid."},
      {HSA_STATUS_ERROR_INVALID_CODE_OBJECT, "HSA_STATUS_ERROR_INVALID_CODE_OBJECT: The code object is invalid."},
      {HSA_STATUS_ERROR_INVALID_EXECUTABLE, "HSA_STATUS_ERROR_INVALID_EXECUTABLE: The executable is invalid."},
      {HSA_STATUS_ERROR_FROZEN_EXECUTABLE, "HSA_STATUS_ERROR_FROZEN_EXECUTABLE: The executable is frozen."},
      {HSA_STATUS_ERROR_INVALID_SYMBOL_NAME,
       "HSA_STATUS_ERROR_INVALID_SYMBOL_NAME: There is no symbol with the given name."},
      {HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED,
       "HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED: The variable is already defined."},
      {HSA_STATUS_ERROR_VARIABLE_UNDEFINED, "HSA_STATUS_ERROR_VARIABLE_UNDEFINED: The variable is undefined."},
      {HSA_STATUS_ERROR_EXCEPTION, "HSA_STATUS_ERROR_EXCEPTION: An HSAIL operation resulted in a hardware exception."},
      {HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER,
       "HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER: The code object reader is invalid."},
      {HSA_STATUS_ERROR_INVALID_CACHE, "HSA_STATUS_ERROR_INVALID_CACHE: The cache is invalid."},
      {HSA_STATUS_ERROR_INVALID_WAVEFRONT, "HSA_STATUS_ERROR_INVALID_WAVEFRONT: The wavefront is invalid."},
      {HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP, "HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP: The signal group is invalid."},
      {HSA_STATUS_ERROR_INVALID_RUNTIME_STATE,
       "HSA_STATUS_ERROR_INVALID_RUNTIME_STATE: The HSA runtime is not in the configuration state."},
      {HSA_STATUS_ERROR_FATAL,
       "HSA_STATUS_ERROR_FATAL: The queue received an error that may require process termination."},
      {HSA_STATUS_ERROR_INVALID_MEMORY_POOL, "HSA_STATUS_ERROR_INVALID_MEMORY_POOL: The memory pool is invalid."},
      {HSA_STATUS_ERROR_MEMORY_FAULT,
       "HSA_STATUS_ERROR_MEMORY_FAULT: Agent attempted to access an inaccessible address."},
      {HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION,
       "HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION: The agent attempted to execute an illegal shader instruction."},
      {static_cast<uint32_t>(kStatusNotSupported),
       "HSA_STATUS_ERROR_NOT_SUPPORTED: The request is not supported by this system."},
  };
  for (const Entry& entry : kTexts) {
    if (entry.status == static_cast<uint32_t>(status)) {
      *text = entry.text;
      return HSA_STATUS_SUCCESS;
    }
  }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

}  // namespace impl
