// HSA types: Debian's public headers, and what ROCm up to 6.4 added to them (declared here from the public ABI: hsa_ext_amd.h,
// hsa_ven_amd_loader.h, hsa_ven_amd_pc_sampling.h, hsa_api_trace.h of ROCm 6.4).
#pragma once
#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ext_finalize.h>
#include <hsa/hsa_ext_image.h>

#include "hsa/api_list.h"

// hsa_access_permission_t as ROCm 6.2 has it: Debian's header begins at 1.
inline constexpr hsa_access_permission_t kAccessNone = static_cast<hsa_access_permission_t>(0);

inline constexpr hsa_status_t kStatusNotSupported = static_cast<hsa_status_t>(47);

// Kinds of hsa_system_get_info and hsa_agent_get_info that came later.
inline constexpr uint32_t kSystemInfoBuildVersion = 0x200;
inline constexpr uint32_t kSystemInfoSvmSupported = 0x201;
inline constexpr uint32_t kSystemInfoSvmAccessibleByDefault = 0x202;
inline constexpr uint32_t kSystemInfoMwaitx = 0x203;
inline constexpr uint32_t kSystemInfoDmabuf = 0x204;
inline constexpr uint32_t kSystemInfoVirtualMemory = 0x205;
inline constexpr uint32_t kSystemInfoXnack = 0x206;
inline constexpr uint32_t kSystemInfoExtensionMajor = 0x207;
inline constexpr uint32_t kSystemInfoExtensionMinor = 0x208;
inline constexpr uint32_t kAgentInfoMemoryAvailable = 0xA015;
inline constexpr uint32_t kAgentInfoTimestampFrequency = 0xA016;
inline constexpr uint32_t kAgentInfoAsicFamily = 0xA107;
inline constexpr uint32_t kAgentInfoUcodeVersion = 0xA108;
inline constexpr uint32_t kAgentInfoSdmaUcodeVersion = 0xA109;
inline constexpr uint32_t kAgentInfoSdmaEngines = 0xA10A;
inline constexpr uint32_t kAgentInfoXgmiSdmaEngines = 0xA10B;
inline constexpr uint32_t kAgentInfoIommu = 0xA110;
inline constexpr uint32_t kAgentInfoXcc = 0xA111;
inline constexpr uint32_t kAgentInfoDriverUid = 0xA112;
inline constexpr uint32_t kAgentInfoNearestCpu = 0xA113;
inline constexpr uint32_t kAgentInfoMemoryProperties = 0xA114;
inline constexpr uint32_t kAgentInfoScratchLimitMax = 0xA116;
inline constexpr uint32_t kAgentInfoScratchLimitCurrent = 0xA117;
inline constexpr uint32_t kAgentInfoClockCounters = 0xA118;
inline constexpr uint32_t kPoolInfoLocation = 17;
inline constexpr uint32_t kPoolInfoRecommendedGranule = 18;

extern "C" {
typedef struct {
  uint64_t handle;
} hsa_amd_vmem_alloc_handle_t;
typedef struct {
  hsa_access_permission_t permissions;
  hsa_agent_t agent_handle;
} hsa_amd_memory_access_desc_t;
typedef uint32_t hsa_amd_memory_type_t;
typedef uint32_t hsa_amd_queue_info_attribute_t;
typedef uint32_t hsa_amd_sdma_engine_id_t;

typedef void (*hsa_amd_queue_intercept_packet_writer)(const void* packets, uint64_t count);
typedef void (*hsa_amd_queue_intercept_handler)(const void* packets, uint64_t count, uint64_t user_index, void* data,
                                                hsa_amd_queue_intercept_packet_writer writer);
typedef void (*hsa_amd_runtime_queue_notifier)(const hsa_queue_t* queue, hsa_agent_t agent, void* data);
hsa_status_t hsa_amd_queue_intercept_register(hsa_queue_t*, hsa_amd_queue_intercept_handler, void*);
hsa_status_t hsa_amd_queue_intercept_create(hsa_agent_t, uint32_t, hsa_queue_type32_t,
                                            void (*)(hsa_status_t, hsa_queue_t*, void*), void*, uint32_t, uint32_t,
                                            hsa_queue_t**);
hsa_status_t hsa_amd_runtime_queue_create_register(hsa_amd_runtime_queue_notifier, void*);

hsa_status_t hsa_amd_memory_async_copy_on_engine(void*, hsa_agent_t, const void*, hsa_agent_t, size_t, uint32_t,
                                                 const hsa_signal_t*, hsa_signal_t, hsa_amd_sdma_engine_id_t, bool);
hsa_status_t hsa_amd_memory_copy_engine_status(hsa_agent_t, hsa_agent_t, uint32_t*);
hsa_status_t hsa_amd_spm_acquire(hsa_agent_t);
hsa_status_t hsa_amd_spm_release(hsa_agent_t);
hsa_status_t hsa_amd_spm_set_dest_buffer(hsa_agent_t, size_t, uint32_t*, uint32_t*, void*, bool*);
hsa_status_t hsa_amd_portable_export_dmabuf(const void*, size_t, int*, uint64_t*);
hsa_status_t hsa_amd_portable_close_dmabuf(int);
hsa_status_t hsa_amd_vmem_address_reserve(void**, size_t, uint64_t, uint64_t);
hsa_status_t hsa_amd_vmem_address_reserve_align(void**, size_t, uint64_t, uint64_t, uint64_t);
hsa_status_t hsa_amd_vmem_address_free(void*, size_t);
hsa_status_t hsa_amd_vmem_handle_create(hsa_amd_memory_pool_t, size_t, hsa_amd_memory_type_t, uint64_t,
                                        hsa_amd_vmem_alloc_handle_t*);
hsa_status_t hsa_amd_vmem_handle_release(hsa_amd_vmem_alloc_handle_t);
hsa_status_t hsa_amd_vmem_map(void*, size_t, size_t, hsa_amd_vmem_alloc_handle_t, uint64_t);
hsa_status_t hsa_amd_vmem_unmap(void*, size_t);
hsa_status_t hsa_amd_vmem_set_access(void*, size_t, const hsa_amd_memory_access_desc_t*, size_t);
hsa_status_t hsa_amd_vmem_get_access(void*, hsa_access_permission_t*, hsa_agent_t);
hsa_status_t hsa_amd_vmem_export_shareable_handle(int*, hsa_amd_vmem_alloc_handle_t, uint64_t);
hsa_status_t hsa_amd_vmem_import_shareable_handle(int, hsa_amd_vmem_alloc_handle_t*);
hsa_status_t hsa_amd_vmem_retain_alloc_handle(hsa_amd_vmem_alloc_handle_t*, void*);
hsa_status_t hsa_amd_vmem_get_alloc_properties_from_handle(hsa_amd_vmem_alloc_handle_t, hsa_amd_memory_pool_t*,
                                                           hsa_amd_memory_type_t*);
hsa_status_t hsa_amd_agent_set_async_scratch_limit(hsa_agent_t, size_t);
hsa_status_t hsa_amd_queue_get_info(hsa_queue_t*, hsa_amd_queue_info_attribute_t, void*);
hsa_status_t hsa_amd_enable_logging(uint8_t*, void*);
uint32_t hsa_amd_signal_wait_all(uint32_t, hsa_signal_t*, hsa_signal_condition_t*, hsa_signal_value_t*, uint64_t,
                                 hsa_wait_state_t, hsa_signal_value_t*);
hsa_status_t hsa_ext_sampler_create_v2(hsa_agent_t, const void* descriptor, hsa_ext_sampler_t*);

// Sampling of program counters (hsa_ven_amd_pc_sampling.h): none of these works, so their arguments have no types of their own here.
hsa_status_t hsa_ven_amd_pcs_iterate_configuration(hsa_agent_t, void* callback, void* data);
hsa_status_t hsa_ven_amd_pcs_create(hsa_agent_t, uint32_t method, uint32_t units, size_t interval, size_t latency,
                                    size_t buffer, void* callback, void* data, uint64_t* sampling);
hsa_status_t hsa_ven_amd_pcs_create_from_id(uint32_t id, hsa_agent_t, uint32_t method, uint32_t units, size_t interval,
                                            size_t latency, size_t buffer, void* callback, void* data,
                                            uint64_t* sampling);
hsa_status_t hsa_ven_amd_pcs_destroy(uint64_t sampling);
hsa_status_t hsa_ven_amd_pcs_start(uint64_t sampling);
hsa_status_t hsa_ven_amd_pcs_stop(uint64_t sampling);
hsa_status_t hsa_ven_amd_pcs_flush(uint64_t sampling);
}

namespace wavesmith::hsa {

// Head of every table; `minor_id` is the table's size in bytes.
struct TableVersion {
  uint32_t major_id;
  uint32_t minor_id;
  uint32_t step_id;
  uint32_t reserved;
};

#define WAVESMITH_SLOT(name) decltype(::name)* name##_fn;
struct CoreTable {
  TableVersion version;
  WAVESMITH_CORE_API(WAVESMITH_SLOT)
};
struct AmdTable {
  TableVersion version;
  WAVESMITH_AMD_API(WAVESMITH_SLOT)
};
struct FinalizerTable {
  TableVersion version;
  WAVESMITH_FINALIZER_API(WAVESMITH_SLOT)
};
struct ImageTable {
  TableVersion version;
  WAVESMITH_IMAGE_API(WAVESMITH_SLOT)
};
struct SamplingTable {
  TableVersion version;
  WAVESMITH_SAMPLING_API(WAVESMITH_SLOT)
};
#undef WAVESMITH_SLOT

// Events for tools only. Nothing of them exists here: their major version is 0.
struct ToolsTable {
  TableVersion version;
  void* reserved[6];
};

// What a tool's OnLoad gets.
struct ApiTable {
  TableVersion version;
  CoreTable* core;
  AmdTable* amd_ext;
  FinalizerTable* finalizer_ext;
  ImageTable* image_ext;
  ToolsTable* tools;
  SamplingTable* pc_sampling;
};

static_assert(sizeof(CoreTable) == 1016 && sizeof(AmdTable) == 592);
static_assert(sizeof(FinalizerTable) == 64 && sizeof(ImageTable) == 128 && sizeof(SamplingTable) == 72);

}  // namespace wavesmith::hsa

// The implementations, under the functions' own names.
namespace impl {
#define WAVESMITH_DECLARE(name) extern decltype(::name) name;  // NOLINT(bugprone-macro-parentheses): it is declared
WAVESMITH_CORE_API(WAVESMITH_DECLARE)
WAVESMITH_AMD_API(WAVESMITH_DECLARE)
#undef WAVESMITH_DECLARE
}  // namespace impl
