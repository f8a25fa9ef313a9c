// What memory kernels can reach: every allocation of the program, and copies of all of it.
#pragma once
#include <memory>
#include <shared_mutex>
#include <vector>

#include "tool/tool.h"

namespace wavesmith::tool {

struct Memory {
  AllocationRecord record;  // `id`, place, kind
  std::string origin;
};

// Adds a range to what the program has, and takes it away again. Returns its id.
uint64_t AddMemory(uint64_t address, uint64_t size, MemoryKind kind, uint32_t flags, std::string_view origin);
void RemoveMemory(uint64_t id);

// Held while memory is copied: frees wait.
std::shared_mutex& FreeingMutex();
// Whether memory with an id is still live.
bool IsLive(uint64_t id);

// All live memory in the order of addresses.
std::vector<Memory> LiveMemory();

// Puts this part's functions into the tables.
void InstallMemory(hsa::CoreTable& core, hsa::AmdTable& amd);

}  // namespace wavesmith::tool
