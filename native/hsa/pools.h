// Allocation from pools, for every part of the runtime that gives out memory.
#pragma once
#include "hsa/runtime.h"

namespace wavesmith::hsa {

inline constexpr uint64_t kPage = 4096;

hsa_status_t AllocateFromPool(Runtime& runtime, uint64_t pool, size_t size, void** pointer);

}  // namespace wavesmith::hsa
