// Events, those of other programs among them. Source: HIP API documentation, "Event management".
#include <unistd.h>

#include <bit>
#include <chrono>
#include <cstring>

#include "hip/graph/model.h"

namespace wavesmith::hip {
namespace {

constexpr unsigned kDisableSystemFence = 0x20000000;

// What programs that share an event know of it, in memory of the device. Records count up; one is done when all up to it are.
struct SharedRecord {
  std::atomic<uint64_t> recorded;
  std::atomic<uint64_t> done;
  // Process that made it.
  int64_t owner;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// An event: the signal of its last record, or the counts that it shares.
struct Event {
  unsigned flags = 0;
  std::mutex mutex;
  SignalRef signal;       // nullptr: never recorded
  bool is_begin = false;  // of the signal's kernel
  hipStream_t stream = nullptr;
  uint64_t moment = 0;
  SharedRecord* shared = nullptr;
  bool is_opened = false;
  int device = 0;

  ~Event() {
    if (shared != nullptr) is_opened ? hsa_amd_ipc_memory_detach(shared) : hsa_amd_memory_pool_free(shared);
  }
};
// hipIpcEventHandle_t.
struct EventHandle {
  hsa_amd_ipc_memory_t memory;
  unsigned flags;
};
static_assert(sizeof(EventHandle) <= sizeof(hipIpcEventHandle_t));

std::mutex events_mutex;
// Never destroyed: work that a stream still has ends after the destructors of a program's and of this library's objects.
auto& events = *new std::map<Event*, std::shared_ptr<Event>>;

std::shared_ptr<Event> Find(hipEvent_t handle) {
  const std::lock_guard lock(events_mutex);
  const auto found = events.find(reinterpret_cast<Event*>(handle));
  return found == events.end() ? nullptr : found->second;
}
void Keep(std::shared_ptr<Event> made, hipEvent_t* handle) {
  const std::lock_guard lock(events_mutex);
  *handle = reinterpret_cast<hipEvent_t>(made.get());
  events[made.get()] = std::move(made);
}

}  // namespace

bool IsEvent(hipEvent_t event) { return Find(event) != nullptr; }

namespace {

// Times are recorded unless the flag forbids it.
uint64_t TimeOf(const SignalRef& signal, bool is_begin) {
  hsa_amd_profiling_dispatch_time_t time{};
  hipError_t error;
  hsa_amd_profiling_get_dispatch_time(GetDevice(&error)->gpu, signal->signal, &time);
  return is_begin ? time.start : time.end;
}

SignalRef SignalOf(Event& event) {
  const std::lock_guard lock(event.mutex);
  return event.signal;
}
bool IsDone(const SignalRef& signal) { return signal == nullptr || hsa_signal_load_scacquire(signal->signal) <= 0; }
bool IsDone(Event& event) {
  return event.shared == nullptr ? IsDone(SignalOf(event)) : event.shared->done >= event.shared->recorded;
}

// Polls, because a record may be another program's.
hipError_t WaitShared(const SharedRecord& shared, uint64_t record) {
  while (shared.done < record) {
    if (DeviceError() != hipSuccess) return DeviceError();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return hipSuccess;
}

// Waits until a record has completed or the device has failed.
hipError_t WaitEvent(Event& event) {
  if (event.shared != nullptr) return WaitShared(*event.shared, event.shared->recorded);
  const SignalRef signal = SignalOf(event);
  return signal == nullptr ? hipSuccess : signal->Wait();
}

void Set(Event& event, SignalRef signal, hipStream_t stream, bool is_begin) {
  const std::lock_guard lock(event.mutex);
  event.signal = std::move(signal);
  event.is_begin = is_begin;
  event.stream = stream;
  event.moment = NextMoment();
}

hipError_t RecordShared(const std::shared_ptr<Event>& event, Stream& stream) {
  const uint64_t record = ++event->shared->recorded;
  return stream.Host([event, record] {
    uint64_t done = event->shared->done;
    while (done < record && !event->shared->done.compare_exchange_weak(done, record)) {
    }
  });
}

}  // namespace

hipError_t LaunchTimed(LaunchRequest request, hipEvent_t start_handle, hipEvent_t stop_handle) {
  const std::shared_ptr<Event> start = Find(start_handle);
  const std::shared_ptr<Event> stop = Find(stop_handle);
  if ((start_handle != nullptr && start == nullptr) || (stop_handle != nullptr && stop == nullptr)) {
    return hipErrorInvalidValue;
  }
  const auto is_plain = [](const std::shared_ptr<Event>& event) {
    return event == nullptr || event->shared == nullptr;
  };
  if ((start == nullptr && stop == nullptr) || IsCapturing(request.stream) || !is_plain(start) || !is_plain(stop)) {
    hipError_t error = start == nullptr ? hipSuccess : hipEventRecord(start_handle, request.stream);
    if (error == hipSuccess) error = Launch(request);
    return error == hipSuccess && stop != nullptr ? hipEventRecord(stop_handle, request.stream) : error;
  }
  SignalRef signal;
  request.completion = &signal;
  const hipError_t error = Launch(request);
  if (error != hipSuccess) return error;
  ForgetCapturedEvent(start_handle);
  ForgetCapturedEvent(stop_handle);
  if (start != nullptr) Set(*start, signal, request.stream, true);
  if (stop != nullptr) Set(*stop, signal, request.stream, false);
  return hipSuccess;
}

}  // namespace wavesmith::hip

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

extern "C" {

// Events -----------------------------------------------------------------------------------------------------------------------------------------

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
  // Blocking and timing, and AMD's: release to device or system, no system fence.
  constexpr unsigned kKnown = hipEventBlockingSync | hipEventDisableTiming | hipEventReleaseToDevice |
                              hipEventReleaseToSystem | hipEventInterprocess | kDisableSystemFence;
  constexpr unsigned kRelease = hipEventReleaseToDevice | hipEventReleaseToSystem | kDisableSystemFence;
  if (event == nullptr || (flags & ~kKnown) != 0 || std::popcount(flags & kRelease) > 1)
    return Done(hipErrorInvalidValue);
  // An event for other processes has no times.
  if ((flags & hipEventInterprocess) != 0 && flags != (hipEventInterprocess | hipEventDisableTiming)) {
    return Done(hipErrorInvalidValue);
  }
  hipError_t error;
  const Device* const device = GetDevice(&error);
  if (device == nullptr) return Done(error);
  auto made = std::make_shared<Event>();
  made->flags = flags;
  made->device = device->number;
  if ((flags & hipEventInterprocess) != 0) {
    void* memory;
    if (hsa_amd_memory_pool_allocate(device->fine, sizeof(SharedRecord), 0, &memory) != HSA_STATUS_SUCCESS) {
      return Done(hipErrorOutOfMemory);
    }
    made->shared = new (memory) SharedRecord{{0}, {0}, getpid()};
  }
  Keep(std::move(made), event);
  return Done(hipSuccess);
}
hipError_t hipEventCreate(hipEvent_t* event) { return hipEventCreateWithFlags(event, 0); }
hipError_t hipEventDestroy(hipEvent_t handle) {
  if (handle == nullptr) return Done(hipErrorInvalidResourceHandle);
  const std::shared_ptr<Event> event = Find(handle);
  if (event == nullptr) return Done(hipErrorContextIsDestroyed_);
  {
    const std::lock_guard lock(events_mutex);
    events.erase(event.get());
  }
  ForgetCapturedEvent(handle);
  return Done(hipSuccess);
}
hipError_t hipEventRecord(hipEvent_t handle, hipStream_t stream_handle) {
  const std::shared_ptr<Event> event = Find(handle);
  if (event == nullptr) return Done(hipErrorInvalidHandle);
  if (IsCapturing(stream_handle)) return Done(CaptureRecord(handle, stream_handle));
  ForgetCapturedEvent(handle);
  hipError_t error;
  Stream* const stream = StreamOf(stream_handle, &error);
  if (stream == nullptr) return Done(error);
  if (event->device != stream->device()) return Done(hipErrorInvalidHandle);
  if (event->shared != nullptr) return Done(RecordShared(event, *stream));
  SignalRef signal;
  error = stream->Mark(&signal);
  if (error != hipSuccess) return Done(error);
  Set(*event, std::move(signal), stream_handle, false);
  return Done(hipSuccess);
}
hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned flags) {
  // External recording (1) differs in captures only, where it makes a node.
  if (flags > 1) return Done(hipErrorInvalidValue);
  if (flags == 1 && IsCapturing(stream)) {
    return Done(IsEvent(event) ? CaptureNode(stream, EventRecordNode{event}) : hipErrorInvalidHandle);
  }
  return hipEventRecord(event, stream);
}
hipError_t hipEventQuery(hipEvent_t handle) {
  const std::shared_ptr<Event> event = Find(handle);
  if (event == nullptr) return Done(hipErrorInvalidHandle);
  if (IsCapturedEvent(handle)) return Done(hipErrorCapturedEvent);
  if (DeviceError() != hipSuccess) return Done(DeviceError());
  return Done(IsDone(*event) ? hipSuccess : hipErrorNotReady);
}
hipError_t hipEventSynchronize(hipEvent_t handle) {
  const std::shared_ptr<Event> event = Find(handle);
  if (event != nullptr && IsCapturedEvent(handle)) return Done(hipErrorCapturedEvent);
  return Done(event == nullptr ? hipErrorInvalidHandle : WaitEvent(*event));
}
hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start_handle, hipEvent_t stop_handle) {
  const std::shared_ptr<Event> start = Find(start_handle);
  const std::shared_ptr<Event> stop = Find(stop_handle);
  if (milliseconds == nullptr) return Done(hipErrorInvalidValue);
  if (start == nullptr || stop == nullptr) return Done(hipErrorInvalidHandle);
  if (start->device != stop->device) return Done(hipErrorInvalidHandle);
  const SignalRef begin = SignalOf(*start);
  const SignalRef end = SignalOf(*stop);
  if (begin == nullptr || end == nullptr) return Done(hipErrorInvalidHandle);
  if ((start->flags | stop->flags) & hipEventDisableTiming) return Done(hipErrorInvalidHandle);
  if (!IsDone(begin) || !IsDone(end)) return Done(hipErrorNotReady);
  const auto ticks = static_cast<int64_t>(TimeOf(end, stop->is_begin) - TimeOf(begin, start->is_begin));
  *milliseconds = static_cast<float>(ticks) / 1e5f;
  return Done(hipSuccess);
}
hipError_t hipStreamWaitEvent(hipStream_t stream_handle, hipEvent_t handle, unsigned flags) {
  const std::shared_ptr<Event> event = Find(handle);
  if (event == nullptr) return Done(hipErrorInvalidHandle);
  // Waiting for an external event (1) differs in captures only.
  if (flags > 1) return Done(hipErrorInvalidValue);
  if (CaptureWait(stream_handle, handle)) return Done(hipSuccess);
  hipError_t error;
  Stream* const stream = StreamOf(stream_handle, &error);
  if (stream == nullptr) return Done(hipErrorInvalidHandle);
  if (event->shared != nullptr) {
    const uint64_t record = event->shared->recorded;
    if (event->shared->done >= record) return Done(hipSuccess);
    return Done(stream->Host([event, record] { (void)WaitShared(*event->shared, record); }, true));
  }
  const SignalRef signal = SignalOf(*event);
  if (signal != nullptr) Saw(stream_handle, event->stream, event->moment);
  return IsDone(signal) ? hipSuccess : Done(stream->WaitFor(signal));
}

hipError_t hipIpcGetEventHandle(hipIpcEventHandle_t* handle, hipEvent_t event_handle) {
  const std::shared_ptr<Event> event = Find(event_handle);
  if (handle == nullptr || event == nullptr) return Done(hipErrorInvalidValue);
  if (event->shared == nullptr) return Done(hipErrorInvalidConfiguration);
  if (event->is_opened) return Done(hipErrorInvalidValue);
  EventHandle made{{}, event->flags};
  if (hsa_amd_ipc_memory_create(event->shared, sizeof(SharedRecord), &made.memory) != HSA_STATUS_SUCCESS) {
    return Done(hipErrorInvalidValue);
  }
  std::memset(static_cast<void*>(handle), 0, sizeof *handle);
  std::memcpy(static_cast<void*>(handle), &made, sizeof made);
  return Done(hipSuccess);
}
hipError_t hipIpcOpenEventHandle(hipEvent_t* event, hipIpcEventHandle_t handle) {
  hipError_t error;
  if (event == nullptr) return Done(hipErrorInvalidValue);
  const Device* const device = GetDevice(&error);
  if (device == nullptr) return Done(error);
  // As in AMD's runtime the program has an event to destroy even when the handle is not one to open. Source: clr, hip_event_ipc.cpp.
  auto made = std::make_shared<Event>();
  made->flags = hipEventDisableTiming | hipEventInterprocess;
  Keep(made, event);
  EventHandle given;
  std::memcpy(&given, &handle, sizeof given);
  void* memory;
  if (hsa_amd_ipc_memory_attach(&given.memory, sizeof(SharedRecord), 1, &device->gpu, &memory) != HSA_STATUS_SUCCESS) {
    return Done(hipErrorInvalidValue);
  }
  auto* const shared = static_cast<SharedRecord*>(memory);
  // A program opens events of others only.
  if (shared->owner == getpid()) {
    hsa_amd_ipc_memory_detach(memory);
    return Done(hipErrorInvalidContext);
  }
  made->flags = given.flags;
  made->is_opened = true;
  made->shared = shared;
  return Done(hipSuccess);
}

}  // extern "C"
