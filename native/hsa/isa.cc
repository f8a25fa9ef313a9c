// The instruction set of the virtual GPU.
// Source: HSA Runtime Specification 1.2, section 2.8.
#include <cstring>
#include <string>

#include "hsa/attributes.h"
#include "hsa/loader.h"
#include "hsa/runtime.h"

namespace wavesmith::hsa {
namespace {

std::string IsaName(Runtime& runtime) {
  const std::string& target = runtime.device().target;
  return "amdgcn-amd-amdhsa--" + target + ":sramecc+:xnack-";
}

}  // namespace
}  // namespace wavesmith::hsa

namespace impl {

using namespace wavesmith::hsa;  // NOLINT: the implementations are this namespace's face

hsa_status_t hsa_agent_iterate_isas(hsa_agent_t agent, hsa_status_t (*callback)(hsa_isa_t, void*), void* data) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(callback != nullptr);
  if (!runtime->IsAgent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  return runtime->IsGpu(agent) ? callback({kGpuIsa}, data) : HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_isa_from_name(const char* name, hsa_isa_t* isa) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(name != nullptr && isa != nullptr);
  // Features that the name leaves out are any.
  const std::string full = IsaName(*runtime);
  const std::string text = name;
  if (text != full && text != full.substr(0, full.find(':'))) return HSA_STATUS_ERROR_INVALID_ISA_NAME;
  isa->handle = kGpuIsa;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_isa_get_info_alt(hsa_isa_t isa, hsa_isa_info_t attribute, void* value) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(value != nullptr);
  if (isa.handle != kGpuIsa) return HSA_STATUS_ERROR_INVALID_ISA;
  const std::string name = IsaName(*runtime);
  switch (static_cast<uint32_t>(attribute)) {
    case HSA_ISA_INFO_NAME_LENGTH:
      return Put<uint32_t>(value, static_cast<uint32_t>(name.size() + 1));
    case HSA_ISA_INFO_NAME:
      std::memcpy(value, name.c_str(), name.size() + 1);
      return HSA_STATUS_SUCCESS;
    case HSA_ISA_INFO_CALL_CONVENTION_COUNT:
      return Put<uint32_t>(value, 1);
    case HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE:
      return Put<uint32_t>(value, 64);
    case HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONTS_PER_COMPUTE_UNIT:
      return Put<uint32_t>(value, 32);
    case HSA_ISA_INFO_MACHINE_MODELS: {
      const bool models[2] = {false, true};
      return Put(value, models);
    }
    case HSA_ISA_INFO_PROFILES: {
      const bool profiles[2] = {true, false};
      return Put(value, profiles);
    }
    case HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES:
    case HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES: {
      const bool modes[3] = {false, false, true};
      return Put(value, modes);
    }
    case HSA_ISA_INFO_FAST_F16_OPERATION:
      return Put<bool>(value, true);
    case HSA_ISA_INFO_WORKGROUP_MAX_DIM: {
      const uint16_t size = static_cast<uint16_t>(runtime->device().hello.max_workgroup_size);
      const uint16_t dimensions[3] = {size, size, size};
      return Put(value, dimensions);
    }
    case HSA_ISA_INFO_WORKGROUP_MAX_SIZE:
      return Put<uint32_t>(value, runtime->device().hello.max_workgroup_size);
    case HSA_ISA_INFO_GRID_MAX_DIM:
      return Put(value, hsa_dim3_t{UINT32_MAX, UINT32_MAX, UINT32_MAX});
    case HSA_ISA_INFO_GRID_MAX_SIZE:
      return Put<uint64_t>(value, UINT64_MAX);
    case HSA_ISA_INFO_FBARRIER_MAX_SIZE:
      return Put<uint32_t>(value, 32);
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}
hsa_status_t hsa_isa_get_info(hsa_isa_t isa, hsa_isa_info_t attribute, uint32_t index, void* value) {
  return index == 0 ? impl::hsa_isa_get_info_alt(isa, attribute, value) : HSA_STATUS_ERROR_INVALID_INDEX;
}
hsa_status_t hsa_isa_get_exception_policies(hsa_isa_t isa, hsa_profile_t, uint16_t* mask) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(mask != nullptr);
  *mask = 0;
  return isa.handle == kGpuIsa ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ISA;
}
hsa_status_t hsa_isa_get_round_method(hsa_isa_t isa, hsa_fp_type_t, hsa_flush_mode_t, hsa_round_method_t* method) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(method != nullptr);
  *method = HSA_ROUND_METHOD_SINGLE;
  return isa.handle == kGpuIsa ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ISA;
}
hsa_status_t hsa_isa_iterate_wavefronts(hsa_isa_t isa, hsa_status_t (*callback)(hsa_wavefront_t, void*), void* data) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(callback != nullptr);
  return isa.handle == kGpuIsa ? callback({kWavefront64}, data) : HSA_STATUS_ERROR_INVALID_ISA;
}
hsa_status_t hsa_wavefront_get_info(hsa_wavefront_t wavefront, hsa_wavefront_info_t attribute, void* value) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(value != nullptr && attribute == HSA_WAVEFRONT_INFO_SIZE);
  if (wavefront.handle != kWavefront64) return HSA_STATUS_ERROR_INVALID_WAVEFRONT;
  return Put<uint32_t>(value, 64);
}
hsa_status_t hsa_isa_compatible(hsa_isa_t code_object, hsa_isa_t agent, bool* result) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(result != nullptr);
  *result = code_object.handle == agent.handle;
  return agent.handle == kGpuIsa ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ISA;
}

}  // namespace impl
