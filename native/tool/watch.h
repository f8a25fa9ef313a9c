// Watched memory: what the code of a replacement writes for Wavesmith to read. Changes are told while the program runs.
#pragma once
#include "tool/tool.h"

namespace wavesmith::tool {

// From now on changes of `size` bytes at an address are told; they are zeros now. `code` is a handle of a code object.
void AddWatch(uint64_t code, uint64_t address, uint64_t size);
// Tells the last changes of a code object's memory. Call before the memory is freed.
void RemoveWatch(uint64_t code);
// Tells the last changes of all. Afterwards nothing is watched.
void RemoveAllWatches();

// Puts this part's functions into the tables.
void InstallWatch(hsa::CoreTable& core);

}  // namespace wavesmith::tool
