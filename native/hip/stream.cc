// Streams as HSA queues: packets in order, host work between them, synchronisation. Source: HIP API documentation, "Stream management";
// HSA Runtime Specification 1.2, section 2.9 (packet headers).
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "hip/format.h"
#include "hip/runtime.h"
#include "hip/thread_value.h"

namespace wavesmith::hip {
namespace {

constexpr uint32_t kQueuePackets = 1024;
constexpr size_t kPacketBytes = 64;
constexpr uint64_t kKernargBytes = 1 << 20;
constexpr uint64_t kPrintfBytes = 4 << 20;
// Signals that are kept for packets which may still name them; with more, the stream is drained.
constexpr size_t kMaxKept = 1024;
// Where packets of all streams have the number of their order, under a tag of 16 bits (src/runtime/submit-order.ts): a device with a modelled
// clock runs what was sent first before what was sent later.
constexpr size_t kOrdinalAt = 48;
constexpr uint64_t kOrdinalTag = uint64_t{0x5753} << 48;
// A wait looks this often (ticks of 10 ns) whether the queue has faulted.
constexpr uint64_t kWaitSlice = 1'000'000;

constexpr uint16_t Header(hsa_packet_type_t type) {
  return static_cast<uint16_t>(type << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER |
                               HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                               HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
}

// Streams of the program's threads and the default stream are in `streams` like those it made.
std::recursive_mutex streams_mutex;
// Never destroyed: work that a stream still has ends after the destructors of a program's and of this library's objects.
auto& streams = *new std::set<Stream*>;
// By device.
auto& default_streams = *new std::map<int, Stream*>;
std::atomic<hipError_t> device_error{hipSuccess};
std::atomic<uint64_t> packets_sent{0};

}  // namespace

void DeviceFailed(hipError_t error) { device_error.store(error); }
hipError_t DeviceError() { return device_error.load(); }

void StreamFailed(hsa_status_t status, hsa_queue_t*, void* data) {
  const auto code = static_cast<uint32_t>(status);
  const bool is_illegal = code == static_cast<uint32_t>(HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION);
  // HIP 7 tells them apart no longer. Source: clr, ConvertCLErrorIntoHIPError; hip-tests, hipSkipAbortOnGpuError.cc.
  DeviceFailed(is_illegal && HipMajor() < 7 ? hipErrorIllegalInstruction_ : hipErrorLaunchFailure);
  static_cast<Stream*>(data)->failure_.store(status);
}

Stream* Stream::Create(unsigned flags, int priority, hipError_t* error) {
  Device* const device = GetDevice(error);
  if (device == nullptr) return nullptr;
  auto* const stream = new Stream;
  stream->device_ = device->number;
  stream->flags_ = flags;
  stream->priority_ = priority;
  static std::atomic<uint64_t> next_id{1};
  stream->id_ = next_id++;
  void* kernarg = nullptr;
  if (hsa_queue_create(device->gpu, kQueuePackets, HSA_QUEUE_TYPE_MULTI, StreamFailed, stream, UINT32_MAX, UINT32_MAX,
                       &stream->queue_) != HSA_STATUS_SUCCESS ||
      hsa_amd_memory_pool_allocate(device->kernarg, kKernargBytes, 0, &kernarg) != HSA_STATUS_SUCCESS) {
    delete stream;
    *error = hipErrorOutOfMemory;
    return nullptr;
  }
  stream->kernarg_ = static_cast<uint8_t*>(kernarg);
  return stream;
}

Stream::~Stream() {
  if (worker_.joinable()) {
    {
      const std::lock_guard lock(steps_mutex_);
      is_ending_ = true;
    }
    steps_changed_.notify_all();
    worker_.join();
  }
  if (queue_ != nullptr) hsa_queue_destroy(queue_);
  if (kernarg_ != nullptr) hsa_amd_memory_pool_free(kernarg_);
  if (printf_buffer_ != nullptr) hsa_amd_memory_pool_free(printf_buffer_);
}

hipError_t Stream::Failure() const {
  const bool has_failed = failure_.load() != HSA_STATUS_SUCCESS || HipMajor() >= 7;
  return has_failed ? DeviceError() : hipSuccess;
}

// Writes one packet behind the others. Called with the lock held.
hipError_t Stream::Submit(const void* packet, uint16_t header) {
  const uint64_t index = hsa_queue_add_write_index_screlease(queue_, 1);
  while (index - hsa_queue_load_read_index_scacquire(queue_) >= queue_->size) {
    if (Failure() != hipSuccess) return Failure();
    std::this_thread::yield();
  }
  auto* const slot = static_cast<uint8_t*>(queue_->base_address) + (index & (queue_->size - 1)) * kPacketBytes;
  std::memcpy(slot + 2, static_cast<const uint8_t*>(packet) + 2, kPacketBytes - 2);
  const uint64_t ordinal = kOrdinalTag | packets_sent++;
  std::memcpy(slot + kOrdinalAt, &ordinal, sizeof ordinal);
  __atomic_store_n(reinterpret_cast<uint16_t*>(slot), header, __ATOMIC_RELEASE);
  hsa_signal_store_screlease(queue_->doorbell_signal, static_cast<hsa_signal_value_t>(index));
  mark_.reset();
  is_clean_ = false;
  return hipSuccess;
}

// Everything before a completed packet has been read, because packets run in order.
hipError_t Stream::Keep(const SignalRef& signal, bool completes) {
  if (kept_.size() > kMaxKept) {
    const auto last = std::find_if(kept_.rbegin(), kept_.rend(), [](const auto& kept) {
      return kept.second && hsa_signal_load_scacquire(kept.first->signal) <= 0;
    });
    kept_.erase(kept_.begin(), last.base());
  }
  if (kept_.size() > kMaxKept) {
    const hipError_t error = DrainLocked();
    if (error != hipSuccess) return error;
  }
  kept_.emplace_back(signal, completes);
  return hipSuccess;
}

hipError_t Stream::Dispatch(hsa_kernel_dispatch_packet_t packet, const void* kernarg, size_t size,
                            Relocation relocation, SignalRef* completion) {
  const std::lock_guard lock(mutex_);
  if (Failure() != hipSuccess) return Failure();
  SignalRef signal = SharedSignal::Create();
  if (signal == nullptr) return hipErrorOutOfMemory;
  const hipError_t kept = Keep(signal, true);
  if (kept != hipSuccess) return kept;
  const size_t bytes = (size + 127) / 64 * 64;
  if (bytes > kKernargBytes) return hipErrorInvalidValue;
  if (kernarg_at_ + bytes > kKernargBytes) {
    const hipError_t error = DrainLocked();
    if (error != hipSuccess) return error;
    kernarg_at_ = 0;
  }
  uint8_t* const place = kernarg_ + kernarg_at_;
  kernarg_at_ += bytes;
  if (size != 0) std::memcpy(place, kernarg, size);
  if (relocation.at != Relocation::kNone) {
    const uint8_t* const target = place + relocation.target;
    std::memcpy(place + relocation.at, &target, sizeof target);
  }
  packet.kernarg_address = place;
  packet.completion_signal = signal->signal;
  const hipError_t error = Submit(&packet, Header(HSA_PACKET_TYPE_KERNEL_DISPATCH));
  if (error != hipSuccess) return error;
  if (completion != nullptr) *completion = signal;
  mark_ = std::move(signal);
  return hipSuccess;
}

uint64_t Stream::PrintfBuffer() {
  const std::lock_guard lock(mutex_);
  hipError_t error;
  Device* const device = GetDevice(&error);
  if (printf_buffer_ == nullptr) {
    if (hsa_amd_memory_pool_allocate(device->fine, kPrintfBytes, 0, &printf_buffer_) != HSA_STATUS_SUCCESS) return 0;
    *static_cast<PrintfBufferHead*>(printf_buffer_) = {0, static_cast<uint32_t>(kPrintfBytes)};
  }
  return reinterpret_cast<uint64_t>(printf_buffer_);
}

hipError_t Stream::Barrier(const SignalRef& dependency, const SignalRef& completion) {
  hsa_barrier_and_packet_t packet{};
  if (dependency != nullptr) packet.dep_signal[0] = dependency->signal;
  if (completion != nullptr) packet.completion_signal = completion->signal;
  for (const SignalRef& signal : {dependency, completion}) {
    const hipError_t error = signal == nullptr ? hipSuccess : Keep(signal, signal == completion);
    if (error != hipSuccess) return error;
  }
  return Submit(&packet, Header(HSA_PACKET_TYPE_BARRIER_AND));
}

hipError_t Stream::WaitFor(const SignalRef& signal) {
  const std::lock_guard lock(mutex_);
  if (Failure() != hipSuccess) return Failure();
  return Barrier(signal, nullptr);
}

hipError_t Stream::MarkLocked(SignalRef* signal) {
  if (Failure() != hipSuccess) return Failure();
  SignalRef made = SharedSignal::Create();
  if (made == nullptr) return hipErrorOutOfMemory;
  const hipError_t error = Barrier(nullptr, made);
  if (error != hipSuccess) return error;
  mark_ = made;
  *signal = std::move(made);
  return hipSuccess;
}
hipError_t Stream::Mark(SignalRef* signal) {
  const std::lock_guard lock(mutex_);
  return MarkLocked(signal);
}
hipError_t Stream::LastLocked(SignalRef* signal) {
  if (mark_ == nullptr) return MarkLocked(signal);
  if (Failure() != hipSuccess) return Failure();
  *signal = mark_;
  return hipSuccess;
}
hipError_t Stream::Last(SignalRef* signal) {
  const std::lock_guard lock(mutex_);
  return LastLocked(signal);
}

// The work of a stream that is idle and does not wait is done at once. Other work waits on a thread of the stream, between two barriers of the
// queue: the first says that everything before has ended, the second lets go what comes after.
hipError_t Stream::Host(std::function<void()> work, bool may_wait) {
  const std::lock_guard lock(mutex_);
  if (Failure() != hipSuccess) return Failure();
  if (!may_wait && IdleLocked()) {
    work();
    return hipSuccess;
  }
  Step step{std::move(work), SharedSignal::Create(), SharedSignal::Create()};
  if (step.reached == nullptr || step.done == nullptr) return hipErrorOutOfMemory;
  hipError_t error = Barrier(nullptr, step.reached);
  if (error == hipSuccess) error = Barrier(step.done, nullptr);
  if (error != hipSuccess) return error;
  {
    const std::lock_guard steps_lock(steps_mutex_);
    steps_.push_back(std::move(step));
    if (!worker_.joinable()) worker_ = std::thread([this] { RunSteps(); });
  }
  steps_changed_.notify_all();
  return hipSuccess;
}

void Stream::RunSteps() {
  for (;;) {
    Step step;
    {
      std::unique_lock lock(steps_mutex_);
      steps_changed_.wait(lock, [this] { return is_ending_ || !steps_.empty(); });
      if (steps_.empty()) return;
      step = std::move(steps_.front());
      steps_.pop_front();
    }
    // A queue that failed never gets there: its steps are dropped.
    if (step.reached->Wait() == hipSuccess) step.work();
    hsa_signal_store_screlease(step.done->signal, 0);
  }
}

bool Stream::IdleLocked() {
  if (is_clean_) return true;
  SignalRef mark = mark_;
  if (mark == nullptr && MarkLocked(&mark) != hipSuccess) return false;
  is_clean_ = hsa_signal_load_scacquire(mark->signal) <= 0;
  return is_clean_;
}
hipError_t Stream::Copied(CopyKind kind, const void* to, const void* from, uint64_t bytes) {
  static const bool is_told = [] {
    const char* const time = std::getenv("WAVESMITH_TIME");
    const char* const copies = std::getenv("WAVESMITH_COPIES");
    return (time != nullptr && std::strcmp(time, "model") == 0) || (copies != nullptr && std::strcmp(copies, "1") == 0);
  }();
  if (!is_told) return hipSuccess;
  // A vendor packet whose AMD format only our device process knows (src/runtime/aql-queue.ts).
  struct {
    uint16_t header;
    uint8_t format;
    uint8_t reserved;
    uint32_t kind;
    uint64_t to;
    uint64_t from;
    uint64_t bytes;
    uint64_t unused[4];
  } packet{
      0,     0x77, 0, static_cast<uint32_t>(kind), reinterpret_cast<uint64_t>(to), reinterpret_cast<uint64_t>(from),
      bytes, {}};
  static_assert(sizeof packet == kPacketBytes);
  const std::lock_guard lock(mutex_);
  if (Failure() != hipSuccess) return Failure();
  return Submit(&packet, Header(HSA_PACKET_TYPE_VENDOR_SPECIFIC));
}
bool Stream::Idle() {
  const std::lock_guard lock(mutex_);
  return IdleLocked();
}

hipError_t Stream::DrainLocked() {
  if (Failure() != hipSuccess) return Failure();
  if (!is_clean_) {
    // Made without Barrier(), which drains.
    SignalRef signal = SharedSignal::Create();
    if (signal == nullptr) return hipErrorOutOfMemory;
    hsa_barrier_and_packet_t packet{};
    packet.completion_signal = signal->signal;
    hipError_t error = Submit(&packet, Header(HSA_PACKET_TYPE_BARRIER_AND));
    if (error == hipSuccess) error = signal->Wait();
    // A failed queue never completes the signal.
    if (error != hipSuccess) return error;
  }
  is_clean_ = true;
  kept_.clear();
  kernarg_at_ = 0;
  return hipSuccess;
}
hipError_t Stream::Synchronize() {
  // Others may use the stream meanwhile: the wait is without the lock.
  SignalRef mark;
  {
    const std::lock_guard lock(mutex_);
    if (Failure() != hipSuccess) return Failure();
    if (is_clean_) return hipSuccess;
    const hipError_t error = LastLocked(&mark);
    if (error != hipSuccess) return error;
  }
  const hipError_t error = mark->Wait();
  if (error != hipSuccess) return error;
  const std::lock_guard lock(mutex_);
  if (mark_ != mark) return hipSuccess;
  // Nothing came meanwhile.
  is_clean_ = true;
  kept_.clear();
  kernarg_at_ = 0;
  return hipSuccess;
}

SignalRef SharedSignal::Create() {
  hsa_signal_t signal;
  if (hsa_signal_create(1, 0, nullptr, &signal) != HSA_STATUS_SUCCESS) return nullptr;
  return std::make_shared<SharedSignal>(signal);
}
SharedSignal::~SharedSignal() { hsa_signal_destroy(signal); }
hipError_t SharedSignal::Wait() const {
  while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, kWaitSlice, HSA_WAIT_STATE_BLOCKED) > 0) {
    if (DeviceError() != hipSuccess) return DeviceError();
  }
  return hipSuccess;
}

// Handles ----------------------------------------------------------------------------------------------------------------------------------

namespace {

// The stream of a thread (hipStreamPerThread): made when first used, gone with the thread.
struct ThreadStreams {
  std::map<int, Stream*> by_device;
  ~ThreadStreams() {
    for (const auto& [device, stream] : by_device) {
      {
        const std::lock_guard lock(streams_mutex);
        streams.erase(stream);
      }
      (void)stream->Synchronize();
      delete stream;
    }
  }
};

bool IsDefault(hipStream_t stream) { return stream == nullptr || stream == reinterpret_cast<hipStream_t>(1); }

// The default stream of a device; nullptr before it is first used.
Stream* DefaultOf(int device) {
  const auto found = default_streams.find(device);
  return found == default_streams.end() ? nullptr : found->second;
}
bool IsOrdered(const Stream& stream, const Stream& other) {
  return stream.device() == other.device() && (other.flags() & hipStreamNonBlocking) == 0;
}

// The default stream waits for the others of its device, and they for it, unless they were made non-blocking.
void OrderWithDefault(Stream* stream) {
  if (stream->flags() & hipStreamNonBlocking) return;
  const auto wait = [](Stream* waiting, Stream* other) {
    SignalRef mark;
    if (other == waiting || other->Idle() || other->Last(&mark) != hipSuccess) return;
    (void)waiting->WaitFor(mark);
  };
  Stream* const default_stream = DefaultOf(stream->device());
  if (stream != default_stream) {
    if (default_stream != nullptr) wait(stream, default_stream);
    return;
  }
  for (Stream* const other : streams) {
    if (IsOrdered(*stream, *other)) wait(stream, other);
  }
}

// The calling thread's device's stream in `place`, made when there is none.
Stream* Own(std::map<int, Stream*>& place, hipError_t* error) {
  const auto found = place.find(CurrentDevice());
  if (found != place.end()) return found->second;
  Stream* const made = Stream::Create(hipStreamDefault, 0, error);
  if (made == nullptr) return nullptr;
  place[CurrentDevice()] = made;
  streams.insert(made);
  return made;
}

}  // namespace

Stream* FindStream(hipStream_t handle, hipError_t* error) {
  const std::lock_guard lock(streams_mutex);
  *error = hipSuccess;
  if (IsDefault(handle)) return Own(default_streams, error);
  if (handle == hipStreamPerThread) return Own(OfThread<ThreadStreams>().by_device, error);
  auto* const stream = reinterpret_cast<Stream*>(handle);
  if (streams.contains(stream)) return stream;
  *error = hipErrorContextIsDestroyed_;
  return nullptr;
}

Stream* StreamOf(hipStream_t handle, hipError_t* error) {
  const std::lock_guard lock(streams_mutex);
  Stream* const stream = FindStream(handle, error);
  if (stream != nullptr) OrderWithDefault(stream);
  return stream;
}

namespace {
std::atomic<uint64_t> moments{0};
// By stream: the last moment of each other that it has waited for.
auto& seen = *new std::map<hipStream_t, std::map<hipStream_t, uint64_t>>;
}  // namespace

uint64_t NextMoment() { return ++moments; }
void Saw(hipStream_t stream, hipStream_t other, uint64_t moment) {
  const std::lock_guard lock(streams_mutex);
  uint64_t& last = seen[stream][other];
  last = std::max(last, moment);
}
bool HasSeen(hipStream_t stream, hipStream_t other, uint64_t moment) {
  const std::lock_guard lock(streams_mutex);
  const auto mine = seen.find(stream);
  if (mine == seen.end()) return false;
  const auto found = mine->second.find(other);
  return found != mine->second.end() && found->second > moment;
}

bool IsIdle(Stream* stream) {
  const std::lock_guard lock(streams_mutex);
  if (stream != DefaultOf(stream->device())) return stream->Idle();
  return std::all_of(streams.begin(), streams.end(),
                     [&](Stream* other) { return !IsOrdered(*stream, *other) || other->Idle(); });
}

hipError_t AddStream(unsigned flags, int priority, hipStream_t* handle) {
  if (handle == nullptr || (flags & ~static_cast<unsigned>(hipStreamNonBlocking)) != 0) return hipErrorInvalidValue;
  hipError_t error;
  Stream* const stream = Stream::Create(flags, priority, &error);
  if (stream == nullptr) return error;
  const std::lock_guard lock(streams_mutex);
  streams.insert(stream);
  *handle = reinterpret_cast<hipStream_t>(stream);
  return hipSuccess;
}

hipError_t RemoveStream(hipStream_t handle) {
  if (IsDefault(handle) || handle == hipStreamPerThread) return hipErrorInvalidResourceHandle;
  auto* const stream = reinterpret_cast<Stream*>(handle);
  {
    const std::lock_guard lock(streams_mutex);
    if (streams.erase(stream) == 0) return hipErrorContextIsDestroyed_;
    // Another stream may get its handle.
    seen.erase(handle);
    for (auto& [other, last] : seen) last.erase(handle);
  }
  DropCapture(handle);
  const hipError_t error = stream->Synchronize();
  delete stream;
  return error;
}

hipError_t SynchronizeAll(int device) {
  // Marks instead of waits under the lock: a stream may be destroyed by another thread meanwhile.
  std::vector<SignalRef> marks;
  hipError_t result = device_error.load();
  {
    const std::lock_guard lock(streams_mutex);
    for (Stream* const stream : streams) {
      SignalRef mark;
      if ((device != kAllDevices && stream->device() != device) || stream->Idle()) continue;
      const hipError_t error = stream->Last(&mark);
      if (error == hipSuccess) marks.push_back(std::move(mark));
      if (result == hipSuccess) result = error;
    }
  }
  for (const SignalRef& mark : marks) {
    const hipError_t error = mark->Wait();
    if (result == hipSuccess) result = error;
  }
  return result;
}

}  // namespace wavesmith::hip
