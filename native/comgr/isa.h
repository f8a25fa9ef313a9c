// Names of instruction sets: `amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-`. Source: LLVM AMDGPUUsage, "Target ID".
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "comgr/metadata.h"

namespace wavesmith::comgr {

struct IsaName {
  std::string architecture, vendor, system, environment;
  std::string processor;
  std::vector<std::pair<std::string, bool>> features;  // those that the name states, and whether on

  // `gfx942:sramecc+:xnack-`, as clang's -mcpu takes it.
  std::string TargetId() const;
};

// Nothing when the text is not the name of one of this tool's targets.
std::optional<IsaName> ReadIsaName(const std::string& text);

// The targets' names without features.
const std::vector<std::string>& IsaNames();

// What is known of an instruction set: identity, features, limits.
Node IsaMetadata(const std::string& text, const IsaName& name);

}  // namespace wavesmith::comgr
