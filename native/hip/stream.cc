// Streams as HSA queues: packets in order, host work between them, synchronisation. Source: HIP API documentation, "Stream management";
// HSA Runtime Specification 1.2, section 2.9 (packet headers).
#include <algorithm>
#include <cstring>

#include "hip/runtime.h"

namespace wavesmith::hip {
namespace {

constexpr uint32_t kQueuePackets = 1024;
constexpr size_t kPacketBytes = 64;
constexpr uint64_t kKernargBytes = 1 << 20;
// A wait looks this often (ticks of 10 ns) whether the queue has faulted.
constexpr uint64_t kWaitSlice = 1'000'000;

constexpr uint16_t Header(hsa_packet_type_t type) {
  return static_cast<uint16_t>(type << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER |
                               HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                               HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
}

std::recursive_mutex streams_mutex;
std::set<Stream*> streams;
Stream* default_stream = nullptr;
std::atomic<hipError_t> device_error{hipSuccess};

}  // namespace

void StreamFailed(hsa_status_t status, hsa_queue_t*, void* data) {
  const auto code = static_cast<uint32_t>(status);
  device_error.store(code == static_cast<uint32_t>(HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION) ? hipErrorIllegalInstruction_
                                                                                         : hipErrorLaunchFailure);
  static_cast<Stream*>(data)->failure_.store(status);
}

hipError_t DeviceError() { return device_error.load(); }

Stream* Stream::Create(unsigned flags, int priority, hipError_t* error) {
  Device* const device = GetDevice(error);
  if (device == nullptr) return nullptr;
  auto* const stream = new Stream;
  stream->flags_ = flags;
  stream->priority_ = priority;
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
  if (queue_ != nullptr) hsa_queue_destroy(queue_);
  if (kernarg_ != nullptr) hsa_amd_memory_pool_free(kernarg_);
}

hipError_t Stream::Failure() const {
  return failure_.load() == HSA_STATUS_SUCCESS ? hipSuccess : device_error.load();
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
  __atomic_store_n(reinterpret_cast<uint16_t*>(slot), header, __ATOMIC_RELEASE);
  hsa_signal_store_screlease(queue_->doorbell_signal, static_cast<hsa_signal_value_t>(index));
  return hipSuccess;
}

hipError_t Stream::Dispatch(hsa_kernel_dispatch_packet_t packet, const void* kernarg, size_t size) {
  const std::lock_guard lock(mutex_);
  if (Failure() != hipSuccess) return Failure();
  const size_t bytes = (size + 127) / 64 * 64;
  if (bytes > kKernargBytes) return hipErrorInvalidValue;
  if (kernarg_at_ + bytes > kKernargBytes) {
    const hipError_t error = DrainLocked();
    if (error != hipSuccess) return error;
    kernarg_at_ = 0;
  }
  uint8_t* const place = kernarg_ + kernarg_at_;
  kernarg_at_ += bytes;
  std::memcpy(place, kernarg, size);
  packet.kernarg_address = place;
  return Submit(&packet, Header(HSA_PACKET_TYPE_KERNEL_DISPATCH));
}

hipError_t Stream::Barrier(hsa_signal_t dependency, hsa_signal_t completion) {
  hsa_barrier_and_packet_t packet{};
  packet.dep_signal[0] = dependency;
  packet.completion_signal = completion;
  return Submit(&packet, Header(HSA_PACKET_TYPE_BARRIER_AND));
}

hipError_t Stream::WaitFor(hsa_signal_t signal) {
  const std::lock_guard lock(mutex_);
  return Barrier(signal, {0});
}

hipError_t Stream::Mark(hsa_signal_t* signal) {
  const std::lock_guard lock(mutex_);
  if (Failure() != hipSuccess) return Failure();
  if (hsa_signal_create(1, 0, nullptr, signal) != HSA_STATUS_SUCCESS) return hipErrorOutOfMemory;
  return Barrier({0}, *signal);
}

hipError_t Stream::Host(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  if (Failure() != hipSuccess) return Failure();
  if (IdleLocked()) {
    work();
    return hipSuccess;
  }
  struct Step {
    std::function<void()> work;
    hsa_signal_t reached;
    hsa_signal_t done;
    std::atomic<int>* pending;
  };
  auto* const step = new Step{std::move(work), {}, {}, &host_steps_};
  if (hsa_signal_create(1, 0, nullptr, &step->reached) != HSA_STATUS_SUCCESS ||
      hsa_signal_create(1, 0, nullptr, &step->done) != HSA_STATUS_SUCCESS) {
    delete step;
    return hipErrorOutOfMemory;
  }
  host_steps_.fetch_add(1);
  const hipError_t error = Barrier({0}, step->reached);
  if (error != hipSuccess) return error;
  hsa_amd_signal_async_handler(
      step->reached, HSA_SIGNAL_CONDITION_EQ, 0,
      [](hsa_signal_value_t, void* data) {
        auto* const s = static_cast<Step*>(data);
        s->work();
        s->pending->fetch_sub(1);
        hsa_signal_store_screlease(s->done, 0);
        hsa_signal_destroy(s->reached);
        delete s;
        return false;
      },
      step);
  // The signal `done` stays: the queue's barrier reads it.
  done_signals_.push_back(step->done);
  return Barrier(step->done, {0});
}

bool Stream::IdleLocked() const {
  return host_steps_.load() == 0 &&
         hsa_queue_load_read_index_scacquire(queue_) == hsa_queue_load_write_index_scacquire(queue_);
}
bool Stream::Idle() {
  const std::lock_guard lock(mutex_);
  return IdleLocked();
}

hipError_t Stream::DrainLocked() {
  if (Failure() != hipSuccess) return Failure();
  if (!IdleLocked()) {
    hsa_signal_t signal;
    if (hsa_signal_create(1, 0, nullptr, &signal) != HSA_STATUS_SUCCESS) return hipErrorOutOfMemory;
    hipError_t error = Barrier({0}, signal);
    while (error == hipSuccess &&
           hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, kWaitSlice, HSA_WAIT_STATE_BLOCKED) > 0) {
      error = Failure();
    }
    // A failed queue never completes the signal, and its packet still names it.
    if (error != hipSuccess) return error;
    hsa_signal_destroy(signal);
  }
  for (const hsa_signal_t signal : done_signals_) hsa_signal_destroy(signal);
  done_signals_.clear();
  kernarg_at_ = 0;
  return hipSuccess;
}
hipError_t Stream::Synchronize() {
  const std::lock_guard lock(mutex_);
  return DrainLocked();
}

// Handles ----------------------------------------------------------------------------------------------------------------------------------

namespace {

bool IsDefault(hipStream_t stream) {
  // nullptr, hipStreamLegacy; hipStreamPerThread is a stream of its own in HIP, and the same as the default one here.
  const auto value = reinterpret_cast<uintptr_t>(stream);
  return value <= 2;
}

// The default stream waits for the others, and they for it, unless they were made non-blocking.
void OrderWithDefault(Stream* stream) {
  if (stream->flags() & hipStreamNonBlocking) return;
  const auto wait = [](Stream* waiting, Stream* other) {
    if (other == waiting || other->Idle()) return;
    hsa_signal_t mark;
    if (other->Mark(&mark) != hipSuccess) return;
    if (waiting->WaitForOwned(mark) != hipSuccess) hsa_signal_destroy(mark);
  };
  if (stream != default_stream) {
    if (default_stream != nullptr) wait(stream, default_stream);
    return;
  }
  for (Stream* const other : streams) {
    if (!(other->flags() & hipStreamNonBlocking)) wait(stream, other);
  }
}

}  // namespace

hipError_t Stream::WaitForOwned(hsa_signal_t signal) {
  const std::lock_guard lock(mutex_);
  done_signals_.push_back(signal);
  return Barrier(signal, {0});
}

Stream* StreamOf(hipStream_t handle, hipError_t* error) {
  const std::lock_guard lock(streams_mutex);
  *error = hipSuccess;
  if (IsDefault(handle)) {
    if (default_stream == nullptr) default_stream = Stream::Create(hipStreamDefault, 0, error);
    if (default_stream != nullptr) OrderWithDefault(default_stream);
    return default_stream;
  }
  auto* const stream = reinterpret_cast<Stream*>(handle);
  if (!streams.contains(stream)) {
    *error = hipErrorContextIsDestroyed_;
    return nullptr;
  }
  OrderWithDefault(stream);
  return stream;
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
  if (IsDefault(handle)) return hipErrorInvalidResourceHandle;
  auto* const stream = reinterpret_cast<Stream*>(handle);
  {
    const std::lock_guard lock(streams_mutex);
    if (streams.erase(stream) == 0) return hipErrorContextIsDestroyed_;
  }
  const hipError_t error = stream->Synchronize();
  delete stream;
  return error;
}

hipError_t SynchronizeAll() {
  std::vector<Stream*> all;
  {
    const std::lock_guard lock(streams_mutex);
    all.assign(streams.begin(), streams.end());
    if (default_stream != nullptr) all.push_back(default_stream);
  }
  hipError_t result = device_error.load();
  for (Stream* const stream : all) {
    const hipError_t error = stream->Synchronize();
    if (result == hipSuccess) result = error;
  }
  return result;
}

}  // namespace wavesmith::hip
