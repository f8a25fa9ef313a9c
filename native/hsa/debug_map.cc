// `_amdgpu_r_debug`: what ROCgdb reads to find code objects, as a debugger of the host reads `_r_debug`. Source: ROCR-Runtime,
// loader/executable.cpp.
#include "hsa/debug_map.h"

#include <mutex>

namespace {

// A debugger sets a breakpoint here: the list changes before and after.
[[gnu::noinline]] void ListChanges() { __asm__ volatile("" ::: "memory"); }

std::mutex mutex;

}  // namespace

// The version is that of the runtime's trap handler in ROCm 6.4.
extern "C" {
__attribute__((visibility("default"))) r_debug _amdgpu_r_debug = {
    10, nullptr, reinterpret_cast<ElfW(Addr)>(&ListChanges), r_debug::RT_CONSISTENT, 0};
}

namespace wavesmith::hsa {

void DebugEntry::Publish(uint64_t delta, const std::string& uri) {
  uri_ = uri;
  map_.l_addr = delta;
  map_.l_name = uri_.data();
  const std::lock_guard lock(mutex);
  _amdgpu_r_debug.r_state = r_debug::RT_ADD;
  ListChanges();
  link_map** end = &_amdgpu_r_debug.r_map;
  for (; *end != nullptr; end = &(*end)->l_next) map_.l_prev = *end;
  *end = &map_;
  _amdgpu_r_debug.r_state = r_debug::RT_CONSISTENT;
  ListChanges();
}

DebugEntry::~DebugEntry() {
  if (map_.l_name == nullptr) return;
  const std::lock_guard lock(mutex);
  _amdgpu_r_debug.r_state = r_debug::RT_DELETE;
  ListChanges();
  (map_.l_prev == nullptr ? _amdgpu_r_debug.r_map : map_.l_prev->l_next) = map_.l_next;
  if (map_.l_next != nullptr) map_.l_next->l_prev = map_.l_prev;
  _amdgpu_r_debug.r_state = r_debug::RT_CONSISTENT;
  ListChanges();
}

}  // namespace wavesmith::hsa
