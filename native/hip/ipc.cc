// Memory of other programs: handles of allocations. Source: HIP API documentation, "Memory management", inter-process functions.
#include <unistd.h>

#include <cstring>

#include "hip/runtime.h"

namespace wavesmith::hip {
namespace {

// hipIpcMemHandle_t.
struct MemoryHandle {
  hsa_amd_ipc_memory_t memory;
  uint64_t offset;
  uint64_t size;
  uint64_t id;
  int64_t owner;
};
static_assert(sizeof(MemoryHandle) == sizeof(hipIpcMemHandle_t));

struct Opened {
  void* base;
  unsigned times;
};
std::mutex mutex;
// By the address that hipIpcOpenMemHandle gave.
// Never destroyed: work that a stream still has ends after the destructors of a program's and of this library's objects.
auto& opened = *new std::map<void*, Opened>;

}  // namespace
}  // namespace wavesmith::hip

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

extern "C" {

hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t* handle, void* pointer) {
  MemoryInfo info;
  if (handle == nullptr || pointer == nullptr || !FindMemory(pointer, &info)) return Done(hipErrorInvalidValue);
  if (info.kind != MemoryKind::kDevice) return Done(hipErrorInvalidValue);
  MemoryHandle made{{}, reinterpret_cast<uint64_t>(pointer) - info.address, info.size, info.id, getpid()};
  if (hsa_amd_ipc_memory_create(reinterpret_cast<void*>(info.address), info.size, &made.memory) != HSA_STATUS_SUCCESS) {
    return Done(hipErrorInvalidValue);
  }
  std::memcpy(static_cast<void*>(handle), &made, sizeof made);
  return Done(hipSuccess);
}
hipError_t hipIpcOpenMemHandle(void** pointer, hipIpcMemHandle_t handle, unsigned flags) {
  hipError_t error;
  // hipIpcMemLazyEnablePeerAccess is 0 in HIP 5 and 1 from HIP 6 on.
  if (pointer == nullptr || flags > 1) return Done(hipErrorInvalidValue);
  const Device* const device = GetDevice(&error);
  if (device == nullptr) return Done(error);
  MemoryHandle given;
  std::memcpy(&given, &handle, sizeof given);
  // A program opens memory of others only.
  if (given.owner == getpid()) return Done(hipErrorInvalidContext);
  if (given.offset >= given.size) return Done(hipErrorInvalidValue);
  void* base;
  if (hsa_amd_ipc_memory_attach(&given.memory, given.size, 1, &device->gpu, &base) != HSA_STATUS_SUCCESS) {
    return Done(hipErrorInvalidValue);
  }
  *pointer = static_cast<uint8_t*>(base) + given.offset;
  const std::lock_guard lock(mutex);
  Opened& entry = opened.try_emplace(*pointer, Opened{base, 0}).first->second;
  if (++entry.times == 1) RecordMemory(base, given.size, MemoryKind::kOpened, 0, CurrentDevice());
  return Done(hipSuccess);
}
hipError_t hipIpcCloseMemHandle(void* pointer) {
  if (pointer == nullptr) return Done(hipErrorInvalidValue);
  void* base;
  {
    const std::lock_guard lock(mutex);
    const auto found = opened.find(pointer);
    if (found == opened.end()) return Done(hipErrorInvalidValue);
    base = found->second.base;
    if (--found->second.times == 0) {
      opened.erase(found);
      ForgetMemory(base);
    }
  }
  const hipError_t error = SynchronizeAll();
  hsa_amd_ipc_memory_detach(base);
  return Done(error);
}

}  // extern "C"
