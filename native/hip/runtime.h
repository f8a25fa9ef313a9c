// State of the HIP runtime in this process, on top of the HSA functions: one device, modules, streams, events, memory.
#pragma once
#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "hip/metadata.h"
#include "hsa/abi.h"

namespace wavesmith::hip {

// Error codes that Debian's header (HIP 5.2) does not have.
inline constexpr hipError_t hipErrorIllegalInstruction_ = static_cast<hipError_t>(715);
inline constexpr hipError_t hipErrorContextIsDestroyed_ = static_cast<hipError_t>(709);

// The last error of this thread, as hipGetLastError gives it.
hipError_t Remember(hipError_t error);
// The last error; `clear` forgets it.
hipError_t TakeLastError(bool clear);
// Ends an API function: `return Done(…)`.
inline hipError_t Done(hipError_t error) { return error == hipSuccess ? error : Remember(error); }

// The device: HSA agents and pools. Initialised by the first call that needs it.
struct Device {
  hsa_agent_t cpu{};
  hsa_agent_t gpu{};
  hsa_amd_memory_pool_t coarse{};
  hsa_amd_memory_pool_t fine{};
  hsa_amd_memory_pool_t kernarg{};
  std::string target;   // gfx942
  std::string isa;      // amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-
  std::string name;
  uint32_t compute_units = 0;
  uint32_t lds_bytes = 0;
  uint64_t memory_bytes = 0;
};
// The device, or nullptr with `error` set (hipErrorNoDevice, hipErrorInsufficientDriver).
Device* GetDevice(hipError_t* error);

// Modules --------------------------------------------------------------------------------------------------------------------------------

struct Function {
  std::string name;
  KernelInfo info;
  uint64_t kernel_object = 0;
  uint32_t group_segment = 0;
  uint32_t private_segment = 0;
  uint32_t kernarg_size = 0;
  // Set by hipFuncSetAttribute.
  int max_dynamic_shared = 0;
  struct Module* module = nullptr;
};
struct Variable {
  uint64_t address;
  uint64_t size;
};
struct Module {
  hsa_executable_t executable{};
  hsa_code_object_reader_t reader{};
  std::map<std::string, std::unique_ptr<Function>> functions;
  std::map<std::string, Variable> variables;
};

// Loads a code object or offload bundle (without a length, as HIP passes images).
hipError_t LoadModule(const void* image, Module** module);
hipError_t UnloadModule(Module* module);
// A handle that hipModuleGetFunction gave.
bool IsModule(const Module* module);
bool IsFunction(const Function* function);

// The kernel behind a host function of a program's fat binary; nullptr with `error` when there is none.
Function* FunctionOf(const void* host_function, hipError_t* error);
hipError_t VariableOf(const void* symbol, Variable* variable);

// Streams ----------------------------------------------------------------------------------------------------------------------------------

// A stream is an HSA queue. Every command of a stream carries a completion signal; the next waits for it by the queue's order.
class Stream {
 public:
  static Stream* Create(unsigned flags, int priority, hipError_t* error);
  ~Stream();

  // Writes a kernel dispatch packet; the argument bytes are copied.
  hipError_t Dispatch(hsa_kernel_dispatch_packet_t packet, const void* kernarg, size_t size);
  // Runs `work` on the host when everything before it is done, before anything after it starts.
  hipError_t Host(std::function<void()> work);
  // Everything after waits for a signal to become 0.
  hipError_t WaitFor(hsa_signal_t signal);
  // The same; the stream destroys the signal when it is drained.
  hipError_t WaitForOwned(hsa_signal_t signal);
  // A signal that becomes 0 when everything before it is done. The caller destroys it.
  hipError_t Mark(hsa_signal_t* signal);
  hipError_t Synchronize();
  bool Idle();

  unsigned flags() const { return flags_; }
  int priority() const { return priority_; }

 private:
  Stream() = default;
  hipError_t Submit(const void* packet, uint16_t header);
  hipError_t Barrier(hsa_signal_t dependency, hsa_signal_t completion);
  hipError_t DrainLocked();
  hipError_t Failure() const;
  bool IdleLocked() const;

  hsa_queue_t* queue_ = nullptr;
  unsigned flags_ = 0;
  int priority_ = 0;
  std::mutex mutex_;
  // Arguments of kernels that may still run; starts again from 0 when the stream is drained.
  uint8_t* kernarg_ = nullptr;
  size_t kernarg_at_ = 0;
  std::vector<hsa_signal_t> done_signals_;
  std::atomic<int> host_steps_{0};
  std::atomic<hsa_status_t> failure_{HSA_STATUS_SUCCESS};
  friend void StreamFailed(hsa_status_t, hsa_queue_t*, void*);
};

// The stream of a handle: the default stream for nullptr and hipStreamLegacy; nullptr with `error` for a handle that is none.
Stream* StreamOf(hipStream_t stream, hipError_t* error);
hipError_t AddStream(unsigned flags, int priority, hipStream_t* stream);
hipError_t RemoveStream(hipStream_t stream);
// Waits for every stream of the process.
hipError_t SynchronizeAll();
// The error a faulted queue left, sticky as in HIP.
hipError_t DeviceError();

// Launches ---------------------------------------------------------------------------------------------------------------------------------

struct LaunchRequest {
  Function* function;
  uint32_t grid[3];   // work-items
  uint32_t block[3];
  uint32_t dynamic_shared;
  hipStream_t stream;
  void** parameters;  // one pointer for each explicit argument, or nullptr
  void** extra;       // HIP_LAUNCH_PARAM_*, or nullptr
};
hipError_t Launch(const LaunchRequest& request);
// Device addresses for kernels that print or call the host; made when first asked for.
uint64_t HostcallBuffer();
uint64_t PrintfBuffer();

// Memory -----------------------------------------------------------------------------------------------------------------------------------

enum class MemoryKind { kDevice, kHost, kManaged, kRegistered };
struct MemoryInfo {
  uint64_t address = 0;
  uint64_t size = 0;
  MemoryKind kind = MemoryKind::kDevice;
  unsigned flags = 0;
};
hipError_t AllocateMemory(size_t size, MemoryKind kind, unsigned flags, void** pointer);
hipError_t FreeMemory(void* pointer, MemoryKind kind);
// Frees device memory that nothing uses any more.
void FreeNow(void* pointer);
// The allocation an address is in.
bool FindMemory(const void* pointer, MemoryInfo* info);

}  // namespace wavesmith::hip
