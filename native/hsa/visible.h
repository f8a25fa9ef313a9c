// Which GPUs a program sees.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace wavesmith::hsa {

// What HSA_AMD_AGENT_INFO_UUID says of a GPU: "GPU-", "wavesim" in hexadecimal digits, the number.
std::string UuidOf(uint32_t number);

// Numbers of the GPUs that ROCR_VISIBLE_DEVICES names, in its order; all when it is not set, none when it is empty.
std::vector<uint32_t> VisibleGpus(uint32_t devices);

}  // namespace wavesmith::hsa
