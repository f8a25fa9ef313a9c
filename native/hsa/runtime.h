// State of the HSA runtime in this process: the connection, agents, pools, what is allocated.
#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/client.h"
#include "hsa/abi.h"

namespace wavesmith::hsa {

// Handles. Agents and pools are constants, of the nth GPU with n above bit 16; everything else is the address of an object.
inline constexpr uint64_t kCpuAgent = 0x1001;
inline constexpr uint64_t kGpuAgent = 0x1002;
inline constexpr uint64_t kGpuIsa = 0x2001;
inline constexpr uint64_t kWavefront64 = 0x2101;
enum PoolHandle : uint64_t {
  kCpuFinePool = 0x3001,
  kCpuCoarsePool = 0x3002,
  kCpuKernargPool = 0x3003,
  kGpuCoarsePool = 0x3004,
  kGpuFinePool = 0x3005,
  kGpuGroupPool = 0x3006,
};

constexpr uint64_t kDeviceShift = 16;
constexpr uint64_t HandleKind(uint64_t handle) { return handle & ((1u << kDeviceShift) - 1); }
constexpr uint64_t HandleDevice(uint64_t handle) { return handle >> kDeviceShift; }
constexpr uint64_t OfDevice(uint64_t handle, uint64_t device) { return handle | device << kDeviceShift; }

// An allocation, a locked range of program memory or a mapping, as hsa_amd_pointer_info shows it.
struct Allocation {
  uint64_t address = 0;
  uint64_t size = 0;
  uint64_t host_address = 0;
  hsa_amd_pointer_type_t type = HSA_EXT_POINTER_TYPE_HSA;
  uint64_t pool = 0;
  // How often the process has it beyond the first time: memory of another program may be opened again.
  uint32_t shares = 0;
  void* user_data = nullptr;
  // What hsa_amd_register_deallocation_callback was called with.
  struct Listener {
    void* pointer;
    hsa_amd_deallocation_callback_t callback;
    void* data;
  };
  std::vector<Listener> on_free;
};

class Runtime {
 public:
  // The running runtime, or nullptr before hsa_init and after the last hsa_shut_down.
  static Runtime* Get();
  static hsa_status_t Acquire();
  static hsa_status_t Release();

  Client& client() { return *client_; }
  const DeviceInfo& device() const { return client_->info(); }
  bool IsGpu(hsa_agent_t agent) const {
    return HandleKind(agent.handle) == kGpuAgent && HandleDevice(agent.handle) < device().hello.devices;
  }
  bool IsAgent(hsa_agent_t agent) const { return agent.handle == kCpuAgent || IsGpu(agent); }

  // Memory of the device process; 0 when there is none left.
  uint64_t Allocate(uint64_t size, uint64_t alignment, uint64_t pool, hsa_status_t* status, bool of_program = false);
  // Memory that another program of the device has allocated, or this one.
  hsa_status_t Share(uint64_t address, uint64_t size, uint64_t pool);
  // Frees an allocation of Allocate or Share. False when none begins there.
  bool Free(uint64_t address);
  // Program pages become device memory at their own address. Ranges may share pages and may be locked several times.
  hsa_status_t Lock(void* host, uint64_t size, void** agent_address);
  hsa_status_t Unlock(void* host);

  // The allocation that holds an address, copied.
  bool Find(uint64_t address, Allocation* found);
  // Bytes of all allocations, in whole pages.
  uint64_t UsedBytes();
  // Calls `change` on the allocation that holds an address.
  bool Change(uint64_t address, const std::function<void(Allocation&)>& change);

  void OnSystemEvent(hsa_amd_system_event_callback_t callback, void* data);
  void Fault(const wavesmith::Fault& fault);
  void DeviceDied();

 private:
  Runtime() = default;
  void LoadTools();
  void UnloadTools();
  hsa_status_t Adopt(uint64_t begin, uint64_t end);
  void Disown(uint64_t begin, uint64_t end);

  std::unique_ptr<Client> client_;
  int owner_ = 0;  // process
  std::mutex mutex_;
  std::map<uint64_t, Allocation> allocations_;
  // Runs of program pages that are device memory now, by address: the locks that need each.
  struct Adopted {
    uint64_t end;
    uint32_t locks;
  };
  std::mutex lock_mutex_;
  std::map<uint64_t, Adopted> adopted_;
  std::multimap<uint64_t, uint64_t> locks_;
  std::vector<std::pair<hsa_amd_system_event_callback_t, void*>> event_handlers_;
  std::vector<void*> tools_;
};

// A queue's side of a fault: puts the queue into error and calls its callback. False when no queue has that handle.
bool QueueFault(uint64_t queue, hsa_status_t status);
// Stops the thread of asynchronous signal handlers.
void StopSignalThread();
// Frees all executables and readers.
void DropExecutables();
// Forgets the memory of signals: the next runtime has its own.
void DropSignals();

#define WAVESMITH_REQUIRE_INIT()                          \
  auto* const runtime = ::wavesmith::hsa::Runtime::Get(); \
  if (runtime == nullptr) return HSA_STATUS_ERROR_NOT_INITIALIZED
#define WAVESMITH_REQUIRE(condition) \
  if (!(condition)) return HSA_STATUS_ERROR_INVALID_ARGUMENT

}  // namespace wavesmith::hsa
