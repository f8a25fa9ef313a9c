// Streams, events, host functions. Source: HIP API documentation, "Stream management", "Event management".
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>

#include "hip/graph/model.h"

namespace wavesmith::hip {
namespace {

constexpr int kLowestPriority = 1;
constexpr int kHighestPriority = -1;
constexpr unsigned kDisableSystemFence = 0x20000000;

// An event: the signal of its last record.
struct Event {
  unsigned flags = 0;
  std::mutex mutex;
  SignalRef signal;  // nullptr: never recorded
};

std::mutex events_mutex;
std::set<Event*> events;

Event* Find(hipEvent_t handle) {
  auto* const event = reinterpret_cast<Event*>(handle);
  const std::lock_guard lock(events_mutex);
  return events.contains(event) ? event : nullptr;
}

}  // namespace

bool IsEvent(hipEvent_t event) { return Find(event) != nullptr; }

namespace {

// Times are recorded unless the flag forbids it.
uint64_t EndTime(const SignalRef& signal) {
  hsa_amd_profiling_dispatch_time_t time{};
  hipError_t error;
  hsa_amd_profiling_get_dispatch_time(GetDevice(&error)->gpu, signal->signal, &time);
  return time.end;
}

SignalRef SignalOf(Event& event) {
  const std::lock_guard lock(event.mutex);
  return event.signal;
}
bool IsDone(const SignalRef& signal) { return signal == nullptr || hsa_signal_load_scacquire(signal->signal) <= 0; }

// Waits until a record has completed or the device has failed.
hipError_t WaitEvent(Event& event) {
  const SignalRef signal = SignalOf(event);
  return signal == nullptr ? hipSuccess : signal->Wait();
}

// Polls a word of memory in stream order.
template <typename T>
hipError_t WaitValue(hipStream_t handle, void* pointer, T value, unsigned flags, T mask) {
  hipError_t error;
  Stream* const stream = StreamOf(handle, &error);
  if (stream == nullptr) return error;
  if (pointer == nullptr || flags > 3) return hipErrorInvalidValue;
  return stream->Host(
      [=] {
        for (;;) {
          const T now = __atomic_load_n(static_cast<const T*>(pointer), __ATOMIC_ACQUIRE) & mask;
          const bool reached = flags == hipStreamWaitValueGte   ? now >= value
                               : flags == hipStreamWaitValueEq  ? now == value
                               : flags == hipStreamWaitValueAnd ? (now & value) != 0
                                                                : static_cast<T>(~(now | value)) != 0;
          if (reached || DeviceError() != hipSuccess) return;
          std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
      },
      true);
}
template <typename T>
hipError_t WriteValue(hipStream_t handle, void* pointer, T value) {
  hipError_t error;
  Stream* const stream = StreamOf(handle, &error);
  if (stream == nullptr) return error;
  if (pointer == nullptr) return hipErrorInvalidValue;
  return stream->Host([=] { __atomic_store_n(static_cast<T*>(pointer), value, __ATOMIC_RELEASE); });
}

}  // namespace
}  // namespace wavesmith::hip

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

extern "C" {

// Streams --------------------------------------------------------------------------------------------------------------------------------------

hipError_t hipStreamCreate(hipStream_t* stream) { return Done(AddStream(hipStreamDefault, 0, stream)); }
hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) { return Done(AddStream(flags, 0, stream)); }
hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned flags, int priority) {
  return Done(AddStream(flags, std::clamp(priority, kHighestPriority, kLowestPriority), stream));
}
hipError_t hipExtStreamCreateWithCUMask(hipStream_t* stream, uint32_t, const uint32_t*) {
  return Done(AddStream(hipStreamDefault, 0, stream));
}
hipError_t hipStreamDestroy(hipStream_t stream) { return Done(RemoveStream(stream)); }
hipError_t hipStreamSynchronize(hipStream_t handle) {
  if (IsCapturing(handle)) return Done(hipErrorStreamCaptureUnsupported_);
  hipError_t error;
  Stream* const stream = StreamOf(handle, &error);
  if (stream == nullptr) return Done(error);
  error = stream->Synchronize();
  ReleasePools();
  return Done(error);
}
hipError_t hipStreamQuery(hipStream_t handle) {
  if (IsCapturing(handle)) return Done(hipErrorStreamCaptureUnsupported_);
  hipError_t error;
  Stream* const stream = FindStream(handle, &error);
  if (stream == nullptr) return Done(error);
  if (DeviceError() != hipSuccess) return Done(DeviceError());
  return stream->Idle() ? hipSuccess : Remember(hipErrorNotReady);
}
hipError_t hipStreamGetFlags(hipStream_t handle, unsigned* flags) {
  hipError_t error;
  if (handle == nullptr) return Done(hipErrorInvalidValue);
  const Stream* const stream = FindStream(handle, &error);
  if (stream == nullptr || flags == nullptr) return Done(stream == nullptr ? error : hipErrorInvalidValue);
  *flags = stream->flags();
  return hipSuccess;
}
hipError_t hipStreamGetPriority(hipStream_t handle, int* priority) {
  hipError_t error;
  const Stream* const stream = FindStream(handle, &error);
  if (stream == nullptr || priority == nullptr) return Done(stream == nullptr ? error : hipErrorInvalidValue);
  *priority = stream->priority();
  return hipSuccess;
}
hipError_t hipStreamGetDevice(hipStream_t handle, hipDevice_t* device) {
  hipError_t error;
  if (device == nullptr) return Done(hipErrorInvalidValue);
  if (FindStream(handle, &error) == nullptr) return Done(error);
  *device = 0;
  return hipSuccess;
}
int hipGetStreamDeviceId(hipStream_t handle) {
  hipError_t error;
  return FindStream(handle, &error) == nullptr ? -1 : 0;
}
hipError_t hipStreamAddCallback(hipStream_t handle, hipStreamCallback_t callback, void* data, unsigned flags) {
  if (callback == nullptr || flags != 0) return Done(hipErrorInvalidValue);
  if (IsCapturing(handle)) return Done(hipErrorStreamCaptureUnsupported_);
  hipError_t error;
  Stream* const stream = StreamOf(handle, &error);
  return Done(stream == nullptr ? error : stream->Host([=] { callback(handle, DeviceError(), data); }, true));
}
hipError_t hipLaunchHostFunc(hipStream_t handle, hipHostFn_t function, void* data) {
  if (function == nullptr) return Done(hipErrorInvalidValue);
  if (IsCapturing(handle)) return Done(CaptureNode(handle, HostNode{{function, data}}));
  hipError_t error;
  Stream* const stream = StreamOf(handle, &error);
  return Done(stream == nullptr ? error : stream->Host([=] { function(data); }, true));
}

hipError_t hipStreamWaitValue32(hipStream_t stream, void* pointer, uint32_t value, unsigned flags, uint32_t mask) {
  return Done(WaitValue<uint32_t>(stream, pointer, value, flags, mask));
}
hipError_t hipStreamWaitValue64(hipStream_t stream, void* pointer, uint64_t value, unsigned flags, uint64_t mask) {
  return Done(WaitValue<uint64_t>(stream, pointer, value, flags, mask));
}
hipError_t hipStreamWriteValue32(hipStream_t stream, void* pointer, uint32_t value, unsigned) {
  return Done(WriteValue(stream, pointer, value));
}
hipError_t hipStreamWriteValue64(hipStream_t stream, void* pointer, uint64_t value, unsigned) {
  return Done(WriteValue(stream, pointer, value));
}

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
  if (GetDevice(&error) == nullptr) return Done(error);
  auto* const made = new Event;
  made->flags = flags;
  const std::lock_guard lock(events_mutex);
  events.insert(made);
  *event = reinterpret_cast<hipEvent_t>(made);
  return hipSuccess;
}
hipError_t hipEventCreate(hipEvent_t* event) { return hipEventCreateWithFlags(event, 0); }
hipError_t hipEventDestroy(hipEvent_t handle) {
  if (handle == nullptr) return Done(hipErrorInvalidResourceHandle);
  auto* const event = reinterpret_cast<Event*>(handle);
  {
    const std::lock_guard lock(events_mutex);
    if (events.erase(event) == 0) return Done(hipErrorContextIsDestroyed_);
  }
  ForgetCapturedEvent(handle);
  delete event;
  return hipSuccess;
}
hipError_t hipEventRecord(hipEvent_t handle, hipStream_t stream_handle) {
  Event* const event = Find(handle);
  if (event == nullptr) return Done(hipErrorInvalidHandle);
  if (IsCapturing(stream_handle)) return Done(CaptureRecord(handle, stream_handle));
  ForgetCapturedEvent(handle);
  hipError_t error;
  Stream* const stream = StreamOf(stream_handle, &error);
  if (stream == nullptr) return Done(error);
  SignalRef signal;
  error = stream->Mark(&signal);
  if (error != hipSuccess) return Done(error);
  const std::lock_guard lock(event->mutex);
  event->signal = std::move(signal);
  return hipSuccess;
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
  Event* const event = Find(handle);
  if (event == nullptr) return Done(hipErrorInvalidHandle);
  if (IsCapturedEvent(handle)) return Done(hipErrorCapturedEvent);
  if (DeviceError() != hipSuccess) return Done(DeviceError());
  return IsDone(SignalOf(*event)) ? hipSuccess : Remember(hipErrorNotReady);
}
hipError_t hipEventSynchronize(hipEvent_t handle) {
  Event* const event = Find(handle);
  if (event != nullptr && IsCapturedEvent(handle)) return Done(hipErrorCapturedEvent);
  return Done(event == nullptr ? hipErrorInvalidHandle : WaitEvent(*event));
}
hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start_handle, hipEvent_t stop_handle) {
  Event* const start = Find(start_handle);
  Event* const stop = Find(stop_handle);
  if (milliseconds == nullptr) return Done(hipErrorInvalidValue);
  if (start == nullptr || stop == nullptr) return Done(hipErrorInvalidHandle);
  const SignalRef begin = SignalOf(*start);
  const SignalRef end = SignalOf(*stop);
  if (begin == nullptr || end == nullptr) return Done(hipErrorInvalidHandle);
  if ((start->flags | stop->flags) & hipEventDisableTiming) return Done(hipErrorInvalidHandle);
  if (!IsDone(begin) || !IsDone(end)) return Done(hipErrorNotReady);
  const auto ticks = static_cast<int64_t>(EndTime(end) - EndTime(begin));
  *milliseconds = static_cast<float>(ticks) / 1e5f;
  return hipSuccess;
}
hipError_t hipStreamWaitEvent(hipStream_t stream_handle, hipEvent_t handle, unsigned) {
  Event* const event = Find(handle);
  if (event == nullptr) return Done(hipErrorInvalidHandle);
  if (CaptureWait(stream_handle, handle)) return hipSuccess;
  hipError_t error;
  Stream* const stream = StreamOf(stream_handle, &error);
  if (stream == nullptr) return Done(error);
  const SignalRef signal = SignalOf(*event);
  return IsDone(signal) ? hipSuccess : Done(stream->WaitFor(signal));
}

}  // extern "C"
