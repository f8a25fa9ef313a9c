// Code objects: what was loaded is shown to Wavesmith, and what it sends instead is loaded beside it.
#pragma once
#include "tool/tool.h"

namespace wavesmith::tool {

// What to do with dispatches of a kernel.
struct Rule {
  uint64_t code = 0;  // handle of the code object
  uint32_t flags = 0;
  uint64_t replacement = 0;  // kernel object; 0: none was loaded
  uint32_t private_segment = 0;
  uint32_t group_segment = 0;
  uint32_t replacement_group = 0;
  uint32_t kernarg_size = 0;
};

// The rule of the kernel whose descriptor is at an address. False when Wavesmith has none.
bool FindRule(uint64_t kernel_object, Rule* rule);
// Whether any rule isolates dispatches.
bool AnyIsolated();

// Puts this part's functions into the tables.
void InstallCode(hsa::CoreTable& core);

}  // namespace wavesmith::tool
