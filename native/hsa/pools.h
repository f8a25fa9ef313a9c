// Allocation from pools, for every part of the runtime that gives out memory.
#pragma once
#include "hsa/runtime.h"

namespace wavesmith::hsa {

inline constexpr uint64_t kPage = 4096;

hsa_status_t AllocateFromPool(Runtime& runtime, uint64_t pool, size_t size, void** pointer);

// Does work when its dependencies have become 0, and then subtracts 1 from the completion signal.
hsa_status_t Asynchronously(Runtime& runtime, uint32_t count, const hsa_signal_t* dependencies, hsa_signal_t completion,
                            std::function<void()> work);

// A reserved range of addresses, or the mapping in it.
struct VirtualRange {
  uint64_t begin = 0;
  uint64_t size = 0;
  bool is_mapped = false;
  // Of a mapping.
  uint64_t pool = 0;
  std::vector<hsa_agent_t> agents;
};
bool FindVirtual(uint64_t address, VirtualRange* range);

// The attributes of shared virtual memory in a range that is given back.
void ForgetSvm(Runtime& runtime, uint64_t begin, uint64_t size);

}  // namespace wavesmith::hsa
