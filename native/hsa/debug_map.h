// The list of loaded code objects that a debugger reads.
#pragma once
#include <link.h>

#include <cstdint>
#include <string>

namespace wavesmith::hsa {

// A code object in the list: for as long as its executable lives. `delta` is what must be added to the addresses of its ELF file.
class DebugEntry {
 public:
  DebugEntry() = default;
  DebugEntry(const DebugEntry&) = delete;
  DebugEntry& operator=(const DebugEntry&) = delete;
  ~DebugEntry();
  void Publish(uint64_t delta, const std::string& uri);

 private:
  link_map map_{};
  std::string uri_;
};

}  // namespace wavesmith::hsa
