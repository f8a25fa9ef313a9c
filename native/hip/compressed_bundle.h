// Compressed clang offload bundles (`--offload-compress`): CCOB, versions 1 to 3, by zlib or zstd.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace wavesmith::hip {

bool IsCompressedBundle(const uint8_t* image, uint64_t limit);

// The plain bundle that is in a compressed one of at most `limit` bytes. Empty when there is none: `why` says what is wrong.
std::vector<uint8_t> Decompress(const uint8_t* image, uint64_t limit, std::string* why);

}  // namespace wavesmith::hip
