// The tools library: what its parts share. It is loaded into a program by the HSA runtime (HSA_TOOLS_LIB) or by rocprofiler-sdk
// (rocprofiler_configure), replaces functions in the HSA API tables, and tells Wavesmith what it sees. It uses the public tools API only and does not
// know whose runtime it runs under. Begin with tool.cc.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/channel.h"
#include "common/tool_protocol.h"
#include "hsa/abi.h"
#include "hsa/loader.h"

namespace wavesmith::tool {

// The runtime's own functions, as they were before this library came. A function that the runtime lacks is nullptr.
struct Originals {
  hsa::CoreTable core;
  hsa::AmdTable amd;
};
extern Originals original;

// The loader extension; a function that the runtime lacks is nullptr.
const hsa::LoaderTable& Loader();

// Wavesmith at the other end. nullptr after a failed greeting.
Channel* Wavesmith();
const ToolWelcome& Welcome();

inline void Tell(ToolMessage type, std::initializer_list<Part> parts) {
  Wavesmith()->Notify(static_cast<uint32_t>(type), parts);
}
inline void Tell(ToolMessage type, const Bytes& payload) { Tell(type, {{payload.data(), payload.size()}}); }

inline constexpr uint64_t kNoDispatch = UINT64_MAX;
// Says what could not be seen or done; once for each code and dispatch.
void Note(uint64_t sequence, std::string_view code, std::string_view text);

// Sum of flags.
inline bool Has(uint32_t flags, RuleFlag flag) { return (flags & static_cast<uint32_t>(flag)) != 0; }

}  // namespace wavesmith::tool
