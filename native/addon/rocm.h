// The HSA runtime of this machine for `device/rocm`: functions of the addon.
#pragma once
#include <node_api.h>

namespace wavesmith {

// Adds the functions to the addon's exports.
void ExportRocm(napi_env env, napi_value exports);

}  // namespace wavesmith
