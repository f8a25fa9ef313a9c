// The loader extension HSA_EXTENSION_AMD_LOADER 1.03 (hsa_ven_amd_loader.h): tools find code objects and their addresses through it.
#pragma once
#include "hsa/abi.h"

namespace wavesmith::hsa {

struct LoadedCodeObjectHandle {
  uint64_t handle;
};
struct SegmentDescriptor {
  hsa_agent_t agent;
  hsa_executable_t executable;
  uint32_t storage_type;  // 0 none, 1 file, 2 memory
  const void* storage_base;
  size_t storage_size;
  size_t storage_offset;
  const void* segment_base;
  size_t segment_size;
};
struct LoaderTable {
  hsa_status_t (*query_host_address)(const void*, const void**);
  hsa_status_t (*query_segment_descriptors)(SegmentDescriptor*, size_t*);
  hsa_status_t (*query_executable)(const void*, hsa_executable_t*);
  hsa_status_t (*executable_iterate_loaded_code_objects)(
      hsa_executable_t, hsa_status_t (*)(hsa_executable_t, LoadedCodeObjectHandle, void*), void*);
  hsa_status_t (*loaded_code_object_get_info)(LoadedCodeObjectHandle, uint32_t, void*);
  hsa_status_t (*code_object_reader_create_from_file_with_offset_size)(int, size_t, size_t, hsa_code_object_reader_t*);
  hsa_status_t (*iterate_executables)(hsa_status_t (*)(hsa_executable_t, void*), void*);
};
const LoaderTable& LoaderFunctions();

}  // namespace wavesmith::hsa
