// A tool for HSA_TOOLS_LIB: prints code objects, allocations and dispatches it sees; with TOOL_REPLACE=NAME it gives every packet of kernel
// `scale` the kernel object of NAME instead. The table layout is that of ROCm 6.2 (hsa_api_trace.h).
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "hsa/abi.h"

using wavesmith::hsa::AmdTable;
using wavesmith::hsa::ApiTable;
using wavesmith::hsa::CoreTable;

static CoreTable original_core;
static AmdTable original_amd;
static std::map<std::string, uint64_t> kernels;
static std::map<uint64_t, std::string> names;

static hsa_status_t ReaderFromMemory(const void* code, size_t size, hsa_code_object_reader_t* reader) {
  std::fprintf(stderr, "tool: code object of %zu bytes\n", size);
  return original_core.hsa_code_object_reader_create_from_memory_fn(code, size, reader);
}

static hsa_status_t Freeze(hsa_executable_t executable, const char* options) {
  const hsa_status_t status = original_core.hsa_executable_freeze_fn(executable, options);
  hsa_agent_t gpu{};
  original_core.hsa_iterate_agents_fn(
      [](hsa_agent_t agent, void* data) {
        hsa_device_type_t type;
        original_core.hsa_agent_get_info_fn(agent, HSA_AGENT_INFO_DEVICE, &type);
        if (type == HSA_DEVICE_TYPE_GPU) *static_cast<hsa_agent_t*>(data) = agent;
        return HSA_STATUS_SUCCESS;
      },
      &gpu);
  original_core.hsa_executable_iterate_agent_symbols_fn(
      executable, gpu,
      [](hsa_executable_t, hsa_agent_t, hsa_executable_symbol_t symbol, void*) {
        hsa_symbol_kind_t kind;
        const auto info = original_core.hsa_executable_symbol_get_info_fn;
        info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind);
        if (kind != HSA_SYMBOL_KIND_KERNEL) return HSA_STATUS_SUCCESS;
        uint32_t length;
        uint64_t object;
        info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &length);
        std::string name(length, '\0');
        info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name.data());
        info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object);
        kernels[name] = object;
        names[object] = name;
        std::fprintf(stderr, "tool: kernel %s\n", name.c_str());
        return HSA_STATUS_SUCCESS;
      },
      nullptr);
  return status;
}

static hsa_status_t PoolAllocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags, void** pointer) {
  const hsa_status_t status = original_amd.hsa_amd_memory_pool_allocate_fn(pool, size, flags, pointer);
  std::fprintf(stderr, "tool: allocation of %zu bytes\n", size);
  return status;
}

static void OnPackets(const void* packets, uint64_t count, uint64_t, void*,
                      hsa_amd_queue_intercept_packet_writer writer) {
  for (uint64_t n = 0; n < count; n++) {
    hsa_kernel_dispatch_packet_t packet = static_cast<const hsa_kernel_dispatch_packet_t*>(packets)[n];
    const unsigned type = (packet.header >> HSA_PACKET_HEADER_TYPE) & 0xff;
    if (type == HSA_PACKET_TYPE_KERNEL_DISPATCH) {
      const std::string name = names[packet.kernel_object];
      std::fprintf(stderr, "tool: dispatch of %s, %u work-items\n", name.c_str(), packet.grid_size_x);
      const char* const replacement = std::getenv("TOOL_REPLACE");
      if (replacement != nullptr && name == "scale.kd") packet.kernel_object = kernels.at(replacement);
    }
    writer(&packet, 1);
  }
}

static hsa_status_t QueueCreate(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                void (*callback)(hsa_status_t, hsa_queue_t*, void*), void* data, uint32_t scratch,
                                uint32_t group, hsa_queue_t** queue) {
  const hsa_status_t status =
      original_amd.hsa_amd_queue_intercept_create_fn(agent, size, type, callback, data, scratch, group, queue);
  if (status != HSA_STATUS_SUCCESS) return status;
  return original_amd.hsa_amd_queue_intercept_register_fn(*queue, OnPackets, nullptr);
}

extern "C" __attribute__((visibility("default"))) bool OnLoad(ApiTable* table, uint64_t version, uint64_t failed,
                                                              const char* const*) {
  std::fprintf(stderr, "tool: loaded, table version %llu, %llu failed before\n",
               static_cast<unsigned long long>(version), static_cast<unsigned long long>(failed));
  if (table->core->version.minor_id < sizeof original_core || table->amd_ext->version.minor_id < sizeof original_amd) {
    return false;
  }
  original_core = *table->core;
  original_amd = *table->amd_ext;
  table->core->hsa_code_object_reader_create_from_memory_fn = ReaderFromMemory;
  table->core->hsa_executable_freeze_fn = Freeze;
  table->core->hsa_queue_create_fn = QueueCreate;
  table->amd_ext->hsa_amd_memory_pool_allocate_fn = PoolAllocate;
  return true;
}

extern "C" __attribute__((visibility("default"))) void OnUnload() { std::fprintf(stderr, "tool: unloaded\n"); }
