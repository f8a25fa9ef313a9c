// The HSA API tables and the exported functions: each export jumps through its table slot, so that what a tool puts there is what every caller
// reaches. Source: ROCm's hsa_api_trace.h and hsa_table_interface.cpp.
#include "hsa/tables.h"

#include <cstddef>
#include <cstdint>

#include "hsa/abi.h"

namespace wavesmith::hsa {
namespace {

// An extension function that does not exist here.
template <typename F>
struct Unsupported;
template <typename... A>
struct Unsupported<hsa_status_t(A...)> {
  static hsa_status_t Call(A...) { return kStatusNotSupported; }
};

template <typename T>
constexpr TableVersion Version(uint32_t major, uint32_t step) {
  return {major, static_cast<uint32_t>(sizeof(T)), step, 0};
}

}  // namespace

// The versions are those of ROCm 6.4.
#define WAVESMITH_IMPLEMENTED(name) impl::name,
#define WAVESMITH_UNSUPPORTED(name) Unsupported<decltype(::name)>::Call,
extern "C" {
CoreTable wavesmith_core_table = {Version<CoreTable>(2, 0), WAVESMITH_CORE_API(WAVESMITH_IMPLEMENTED)};
AmdTable wavesmith_amd_table = {Version<AmdTable>(2, 5), WAVESMITH_AMD_API(WAVESMITH_IMPLEMENTED)};
FinalizerTable wavesmith_finalizer_table = {Version<FinalizerTable>(2, 0),
                                            WAVESMITH_FINALIZER_API(WAVESMITH_UNSUPPORTED)};
ImageTable wavesmith_image_table = {Version<ImageTable>(2, 1), WAVESMITH_IMAGE_API(WAVESMITH_UNSUPPORTED)};
// No tool may think that there are samples: the major version is 0.
SamplingTable wavesmith_sampling_table = {{0, sizeof(SamplingTable), 0, 0},
                                          WAVESMITH_SAMPLING_API(WAVESMITH_UNSUPPORTED)};
}

namespace {
ToolsTable tools_table = {{0, sizeof(ToolsTable), 0, 0}, {}};
ApiTable api_table = {Version<ApiTable>(3, 1),    &wavesmith_core_table,  &wavesmith_amd_table,
                      &wavesmith_finalizer_table, &wavesmith_image_table, &tools_table,
                      &wavesmith_sampling_table};
}  // namespace

ApiTable& Tables() { return api_table; }

void ResetTables() {
  wavesmith_core_table = {Version<CoreTable>(2, 0), WAVESMITH_CORE_API(WAVESMITH_IMPLEMENTED)};
  wavesmith_amd_table = {Version<AmdTable>(2, 5), WAVESMITH_AMD_API(WAVESMITH_IMPLEMENTED)};
}

}  // namespace wavesmith::hsa

// Exports: `jmp *slot`. The arguments stay where they are.
#define WAVESMITH_JUMP(symbol, table, type, slot)                                                                   \
  extern "C" __attribute__((naked, visibility("default"), used)) void wavesmith_export_##symbol() __asm__(#symbol); \
  void wavesmith_export_##symbol() {                                                                                \
    __asm__("jmp *" #table "+%c0(%%rip)" : : "i"(offsetof(wavesmith::hsa::type, slot##_fn)));                       \
  }
#define WAVESMITH_CORE_EXPORT(name) WAVESMITH_JUMP(name, wavesmith_core_table, CoreTable, name)
#define WAVESMITH_AMD_EXPORT(name) WAVESMITH_JUMP(name, wavesmith_amd_table, AmdTable, name)
#define WAVESMITH_FINALIZER_EXPORT(name) WAVESMITH_JUMP(name, wavesmith_finalizer_table, FinalizerTable, name)
#define WAVESMITH_IMAGE_EXPORT(name) WAVESMITH_JUMP(name, wavesmith_image_table, ImageTable, name)
#define WAVESMITH_SAMPLING_EXPORT(name) WAVESMITH_JUMP(name, wavesmith_sampling_table, SamplingTable, name)
#define WAVESMITH_ALIAS_EXPORT(old_name, name) WAVESMITH_JUMP(old_name, wavesmith_core_table, CoreTable, name)

WAVESMITH_CORE_API(WAVESMITH_CORE_EXPORT)
WAVESMITH_AMD_API(WAVESMITH_AMD_EXPORT)
WAVESMITH_FINALIZER_API(WAVESMITH_FINALIZER_EXPORT)
WAVESMITH_IMAGE_API(WAVESMITH_IMAGE_EXPORT)
WAVESMITH_SAMPLING_API(WAVESMITH_SAMPLING_EXPORT)
WAVESMITH_ALIASES(WAVESMITH_ALIAS_EXPORT)
