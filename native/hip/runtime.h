// State of the HIP runtime in this process, on top of the HSA functions: one device, modules, streams, events, memory.
#pragma once
#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/size.h"
#include "hip/metadata.h"
#include "hsa/abi.h"

namespace wavesmith::hip {

// Error codes that Debian's header (HIP 5.2) does not have.
inline constexpr hipError_t hipErrorIllegalInstruction_ = static_cast<hipError_t>(715);
inline constexpr hipError_t hipErrorStreamCaptureUnsupported_ = static_cast<hipError_t>(900);
inline constexpr hipError_t hipErrorContextIsDestroyed_ = static_cast<hipError_t>(709);

// Version of HIP that the program was built for, by the library's soname, and the numbers of hipMemoryType in it.
int HipMajor();
// As HIP_VERSION of its last minor version: 60500000 is 6.5.
int HipVersion();
struct MemoryTypes {
  int host;
  int device;
  int managed;
  int array;
};
MemoryTypes MemoryTypesOfHip();

// Ends an API function: `return Done(…)`. Up to HIP 6 hipGetLastError gives what the last call of the thread gave; since HIP 7 the last
// error, whatever succeeded since then, and hipErrorNotReady is none.
hipError_t Done(hipError_t error, const char* function = __builtin_FUNCTION());
// A line of the log about a call that ended, if the log is to have it.
void Log(const char* function, hipError_t error);
// The last error; `clear` forgets it.
hipError_t TakeLastError(bool clear);
// What the last call gave, whatever the version, and forgets it.
hipError_t TakeLastCall();

// A device: HSA agents and pools. All are initialised by the first call that needs one.
struct Device {
  int number = 0;
  uint32_t bus = 0;  // among all GPUs, seen by the program or not
  hsa_agent_t cpu{};
  hsa_agent_t gpu{};
  hsa_amd_memory_pool_t coarse{};
  hsa_amd_memory_pool_t fine{};
  hsa_amd_memory_pool_t kernarg{};
  std::string target;  // gfx942
  std::string isa;     // amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-
  std::string name;
  uint32_t compute_units = 0;
  uint32_t lds_bytes = 0;
  uint64_t memory_bytes = 0;
};
// Devices that programs see; 0 when there is none.
int DeviceCount();
// The calling thread's device, or nullptr with `error` set (hipErrorNoDevice, hipErrorInsufficientDriver).
Device* GetDevice(hipError_t* error);
// The device of a number; hipErrorInvalidDevice when there is none.
Device* DeviceAt(int number, hipError_t* error);
inline bool IsDevice(int number) { return number >= 0 && number < DeviceCount(); }
// The calling thread's device (hipSetDevice).
int CurrentDevice();
void SetCurrentDevice(int number);

// Another device is the calling thread's for a while.
class OnDevice {
 public:
  explicit OnDevice(int device) : before_(CurrentDevice()) { SetCurrentDevice(device); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() { SetCurrentDevice(before_); }

 private:
  int before_;
};

// The only context of a device is its primary one.
inline hipCtx_t PrimaryContext(int device) {
  return reinterpret_cast<hipCtx_t>(uintptr_t{1} + static_cast<unsigned>(device));
}

// Modules --------------------------------------------------------------------------------------------------------------------------------

struct Function {
  std::string name;
  KernelInfo info;
  uint64_t kernel_object = 0;
  uint32_t group_segment = 0;
  uint32_t private_segment = 0;
  uint32_t kernarg_size = 0;
  // Set by hipFuncSetAttribute; changes what hipFuncGetAttributes says, launches have the device's limit.
  std::optional<int> max_dynamic_shared;
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
  // Memory of managed variables, when the module was not loaded for the program's own.
  std::vector<void*> managed;
  // Formats that kernels name by number when they print into a buffer.
  std::map<uint64_t, std::string> printf_formats;
  // The bundle that a compressed one held; its code object lies in it.
  std::vector<uint8_t> unpacked;
};

// The longest image that is looked at when HIP gives no length.
inline constexpr uint64_t kImageLimit = 1ull << 30;
// Loads a code object or offload bundle of at most `limit` bytes.
hipError_t LoadModule(const void* image, Module** module, uint64_t limit = kImageLimit);
// The same for a module that the program loads itself: its managed variables get their memory.
hipError_t LoadProgramModule(const void* image, Module** module, uint64_t limit);
hipError_t UnloadModule(Module* module);
// A handle that hipModuleGetFunction gave.
bool IsModule(const Module* module);
bool IsFunction(const Function* function);

// The kernel behind a host function of a program's fat binary, as loaded for the calling thread's device or for a stream's; nullptr with
// `error` when there is none.
Function* FunctionOf(const void* host_function, hipError_t* error);
Function* FunctionOf(const void* host_function, hipStream_t stream, hipError_t* error);
hipError_t VariableOf(const void* symbol, Variable* variable);
// Where a range of a variable is.
hipError_t SymbolRange(const void* symbol, size_t offset, size_t size, uint8_t** place);

// Streams ----------------------------------------------------------------------------------------------------------------------------------

// A place in a kernel's arguments that takes the address of another.
struct Relocation {
  static constexpr size_t kNone = SIZE_MAX;
  size_t at = kNone;
  size_t target = 0;
};

// A signal that becomes 0 when something is done. Everything that may still read it holds it.
struct SharedSignal {
  hsa_signal_t signal;

  // nullptr when memory is short.
  static std::shared_ptr<SharedSignal> Create();
  explicit SharedSignal(hsa_signal_t s) : signal(s) {}
  SharedSignal(const SharedSignal&) = delete;
  SharedSignal& operator=(const SharedSignal&) = delete;
  ~SharedSignal();
  // Waits until it is 0 or the device has failed.
  hipError_t Wait() const;
};
using SignalRef = std::shared_ptr<SharedSignal>;

// A stream is an HSA queue: its packets run in order. Work of the host is in that order too.
class Stream {
 public:
  static Stream* Create(unsigned flags, int priority, hipError_t* error);
  ~Stream();

  // Writes a kernel dispatch packet; the argument bytes are copied. `completion` gets the kernel's signal, which has its times.
  hipError_t Dispatch(hsa_kernel_dispatch_packet_t packet, const void* kernarg, size_t size, Relocation relocation,
                      SignalRef* completion);
  // The buffer that kernels of this stream print into when they were compiled so (-mprintf-kind=buffered); 0 when memory is short.
  uint64_t PrintfBuffer();
  // Runs `work` on the host when everything before it is done, before anything after it starts; at once when the stream is idle, unless the
  // work may wait for something.
  hipError_t Host(std::function<void()> work, bool may_wait = false);
  // Everything after waits for a signal to become 0.
  hipError_t WaitFor(const SignalRef& signal);
  // A signal that becomes 0 when everything before it is done; its time is that of this place in the stream.
  hipError_t Mark(SignalRef* signal);
  // The same without a place of its own: the signal of the last work may do.
  hipError_t Last(SignalRef* signal);
  hipError_t Synchronize();
  bool Idle();
  // Tells a device that wants to know (WAVESMITH_TIME=model, WAVESMITH_COPIES=1) that memory was copied or filled here; `kind` as CopyKind.
  enum class CopyKind : uint32_t { kHost, kDevice, kFill };
  hipError_t Copied(CopyKind kind, const void* to, const void* from, uint64_t bytes);

  int device() const { return device_; }
  unsigned flags() const { return flags_; }
  int priority() const { return priority_; }
  // Counts streams of the process.
  uint64_t id() const { return id_; }
  // What hipStreamSetAttribute was given, by attribute: 64 bytes each.
  std::map<int, std::array<uint8_t, 64>>& attributes() { return attributes_; }
  // The compute units that it was made for; empty: all. Kept, not enforced.
  std::vector<uint32_t>& cu_mask() { return cu_mask_; }

 private:
  // Work of the host between two barriers of the queue.
  struct Step {
    std::function<void()> work;
    SignalRef reached;
    SignalRef done;
  };

  Stream() = default;
  hipError_t Submit(const void* packet, uint16_t header);
  hipError_t Barrier(const SignalRef& dependency, const SignalRef& completion);
  hipError_t MarkLocked(SignalRef* signal);
  hipError_t LastLocked(SignalRef* signal);
  hipError_t DrainLocked();
  hipError_t Keep(const SignalRef& signal, bool completes);
  hipError_t Failure() const;
  bool IdleLocked();
  void RunSteps();

  hsa_queue_t* queue_ = nullptr;
  int device_ = 0;
  unsigned flags_ = 0;
  int priority_ = 0;
  uint64_t id_ = 0;
  std::map<int, std::array<uint8_t, 64>> attributes_;
  std::vector<uint32_t> cu_mask_;
  std::mutex mutex_;
  // Arguments of kernels that may still run; starts again from 0 when the stream is drained.
  uint8_t* kernarg_ = nullptr;
  size_t kernarg_at_ = 0;
  void* printf_buffer_ = nullptr;
  // Signals of packets that may still be read, in the order of the packets; whether one completes with its packet.
  std::vector<std::pair<SignalRef, bool>> kept_;
  // Completes with the last packet, when that has a signal.
  SignalRef mark_;
  // Everything submitted has ended.
  bool is_clean_ = true;
  std::atomic<hsa_status_t> failure_{HSA_STATUS_SUCCESS};

  std::mutex steps_mutex_;
  std::condition_variable steps_changed_;
  std::deque<Step> steps_;
  std::thread worker_;
  bool is_ending_ = false;
  friend void StreamFailed(hsa_status_t, hsa_queue_t*, void*);
};

// The stream of a handle: the default stream for nullptr and hipStreamLegacy, the thread's for hipStreamPerThread; nullptr with `error` for a
// handle that is none. Work that follows in the stream waits for what the default stream's rules say.
Stream* StreamOf(hipStream_t stream, hipError_t* error);
// The same without waiting: for questions about a stream.
Stream* FindStream(hipStream_t stream, hipError_t* error);
// What streams know of each other through events: numbers of moments of the process, in order.
uint64_t NextMoment();
// A stream waits for an event that another recorded at a moment.
void Saw(hipStream_t stream, hipStream_t other, uint64_t moment);
bool HasSeen(hipStream_t stream, hipStream_t other, uint64_t moment);
// The default stream is idle when all that it waits for are.
bool IsIdle(Stream* stream);
hipError_t AddStream(unsigned flags, int priority, hipStream_t* stream);
hipError_t RemoveStream(hipStream_t stream);
// Waits for every stream of the process, or of one device.
inline constexpr int kAllDevices = -1;
hipError_t SynchronizeAll(int device = kAllDevices);
// The error that a faulted queue or a memory fault left, sticky as in HIP.
void DeviceFailed(hipError_t error);
hipError_t DeviceError();

// Launches ---------------------------------------------------------------------------------------------------------------------------------

struct LaunchRequest {
  Function* function;
  uint32_t grid[3];  // work-items
  uint32_t block[3];
  uint32_t dynamic_shared;
  hipStream_t stream;
  void** parameters;                // one pointer for each explicit argument, or nullptr
  void** extra;                     // HIP_LAUNCH_PARAM_*, or nullptr
  bool cooperative = false;         // all workgroups are resident, and may synchronise
  SignalRef* completion = nullptr;  // gets the kernel's signal
};
hipError_t Launch(const LaunchRequest& request);

// A launch that was configured and not begun. Its arguments are what hipSetupArgument gave.
struct Configuration {
  dim3 grid;
  dim3 block;
  size_t shared;
  hipStream_t stream;
  std::vector<uint8_t> arguments;
};
// The calling thread's last one, or nullptr.
Configuration* LastConfiguration();
// Workgroups of a kernel that one compute unit holds at a time.
int ResidentBlocks(const Function& function, int block, size_t dynamic_shared, const Device& device);

// What kernels ask of the host. Made when first asked for; 0 when memory is short.
uint64_t HostcallBuffer();
// Ends the thread that serves it.
void StopHostcallService();
// State of the heap of device malloc.
uint64_t DeviceHeapState();

// Graphs -----------------------------------------------------------------------------------------------------------------------------------

// The arguments of a launch, copied; what Launch() would refuse is refused.
hipError_t KeepArguments(const LaunchRequest& request, std::vector<uint8_t>* bytes);

// A capturing stream's work becomes a node (hip/graph/).
bool IsCapturing(hipStream_t stream);
hipError_t CaptureLaunch(const LaunchRequest& request);
hipError_t CaptureRecord(hipEvent_t event, hipStream_t stream);
// The stream goes on from an event of a capture. False when the event is of none.
bool CaptureWait(hipStream_t stream, hipEvent_t event);
// A stream that goes takes its capture with it.
void DropCapture(hipStream_t stream);
// An event that a capture recorded is no event to wait for or ask.
bool IsCapturedEvent(hipEvent_t event);
void ForgetCapturedEvent(hipEvent_t event);
// hipErrorStreamCaptureImplicit when using the default stream would make a capturing stream wait.
hipError_t CheckImplicit(hipStream_t stream);
// hipErrorStreamCaptureUnsupported when a capture forbids this thread calls that may wait.
hipError_t CheckUnsafe();
// False when the pointer is no memory that a graph allocated and uses.
bool ReleaseGraphMemory(void* pointer);
bool IsEvent(hipEvent_t event);
// A launch between two events (either may be nullptr): they get the times of its kernel.
hipError_t LaunchTimed(LaunchRequest request, hipEvent_t start, hipEvent_t stop);

// Memory -----------------------------------------------------------------------------------------------------------------------------------

// Mapped: an address of hipMemMap. Opened: memory of another program. Variable: of loaded code.
enum class MemoryKind { kDevice, kHost, kManaged, kRegistered, kMapped, kOpened, kVariable };
struct MemoryInfo {
  uint64_t address = 0;
  uint64_t size = 0;
  MemoryKind kind = MemoryKind::kDevice;
  unsigned flags = 0;
  // Counts allocations of the process.
  uint64_t id = 0;
  int device = 0;
  // Copies and fills are done when they return (HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS).
  bool sync_operations = false;
};
// False for memory that HIP does not know.
bool SetSyncOperations(const void* pointer, bool sync);
// Makes memory that is allocated elsewhere known, and forgets it.
void RecordMemory(void* pointer, size_t size, MemoryKind kind, unsigned flags, int device);
void ForgetMemory(void* pointer);
// Memory of a pool that is freed as other memory is: the pool does not have it any more. False when it is of none.
bool ForgetPoolMemory(void* pointer);
// Pools give back what they keep beyond their threshold.
void ReleasePools();
// Hints for a range that is freed.
void ForgetHints(uint64_t address, uint64_t size);
hipError_t AllocateMemory(size_t size, MemoryKind kind, unsigned flags, void** pointer);
hipError_t FreeMemory(void* pointer, MemoryKind kind);
// Frees device memory that nothing uses any more.
void FreeNow(void* pointer);
// The allocation an address is in.
bool FindMemory(const void* pointer, MemoryInfo* info);
// What copies ask of their arguments.
hipError_t CheckDirection(const void* to, const void* from, hipMemcpyKind kind);
hipError_t CheckCopy3D(const hipMemcpy3DParms* p);
// Bytes of a texel of an array; 0 for a handle that is none.
size_t TexelBytes(hipArray_const_t array);
// A box of an array as rows of memory: `at` is in texels before and in bytes after. False when it is not within the array.
bool ResolveArray(hipArray_const_t array, const hipExtent& extent, hipPitchedPtr* memory, hipPos* at);
// Whether a range that begins in an allocation also ends in it. What is in none is the program's own memory.
bool Fits(const void* pointer, Size size);

}  // namespace wavesmith::hip
