// Streams, events, host functions, stream-ordered memory. Source: HIP API documentation, "Stream management", "Event management",
// "Stream Ordered Memory Allocator".
#include <chrono>
#include <cstring>

#include "hip/graph/model.h"

namespace wavesmith::hip {
namespace {

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

// A pool of stream-ordered memory: its attributes and what was allocated from it.
struct Pool {
  uint64_t release_threshold = 0;
  std::map<int, uint64_t> attributes;
};
Pool default_pool;
std::mutex pools_mutex;
std::set<Pool*> pools;

Pool* FindPool(hipMemPool_t handle) {
  auto* const pool = reinterpret_cast<Pool*>(handle);
  const std::lock_guard lock(pools_mutex);
  return pool == &default_pool || pools.contains(pool) ? pool : nullptr;
}

// Polls a word of memory in stream order.
template <typename T>
hipError_t WaitValue(hipStream_t handle, void* pointer, T value, unsigned flags, T mask) {
  hipError_t error;
  Stream* const stream = StreamOf(handle, &error);
  if (stream == nullptr) return error;
  if (pointer == nullptr || flags > 3) return hipErrorInvalidValue;
  return stream->Host([=] {
    for (;;) {
      const T now = __atomic_load_n(static_cast<const T*>(pointer), __ATOMIC_ACQUIRE) & mask;
      const bool reached = flags == hipStreamWaitValueGte   ? now >= value
                           : flags == hipStreamWaitValueEq  ? now == value
                           : flags == hipStreamWaitValueAnd ? (now & value) != 0
                                                            : static_cast<T>(~(now | value)) != 0;
      if (reached || DeviceError() != hipSuccess) return;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }, true);
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
  return Done(AddStream(flags, priority, stream));
}
hipError_t hipExtStreamCreateWithCUMask(hipStream_t* stream, uint32_t, const uint32_t*) {
  return Done(AddStream(hipStreamDefault, 0, stream));
}
hipError_t hipStreamDestroy(hipStream_t stream) { return Done(RemoveStream(stream)); }
hipError_t hipStreamSynchronize(hipStream_t handle) {
  if (IsCapturing(handle)) return Done(hipErrorStreamCaptureUnsupported_);
  hipError_t error;
  Stream* const stream = StreamOf(handle, &error);
  return Done(stream == nullptr ? error : stream->Synchronize());
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
  if (event == nullptr) return Done(hipErrorInvalidValue);
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
  auto* const event = reinterpret_cast<Event*>(handle);
  {
    const std::lock_guard lock(events_mutex);
    if (events.erase(event) == 0) return Done(hipErrorInvalidHandle);
  }
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

// Stream-ordered memory: allocation at once, freeing in stream order -----------------------------------------------------------------------------

hipError_t hipMallocAsync(void** pointer, size_t size, hipStream_t stream_handle) {
  hipError_t error;
  if (StreamOf(stream_handle, &error) == nullptr) return Done(error);
  return Done(AllocateMemory(size, MemoryKind::kDevice, 0, pointer));
}
hipError_t hipMallocFromPoolAsync(void** pointer, size_t size, hipMemPool_t pool, hipStream_t stream) {
  if (FindPool(pool) == nullptr) return Done(hipErrorInvalidValue);
  return hipMallocAsync(pointer, size, stream);
}
hipError_t hipFreeAsync(void* pointer, hipStream_t stream_handle) {
  hipError_t error;
  Stream* const stream = StreamOf(stream_handle, &error);
  if (stream == nullptr) return Done(error);
  if (pointer == nullptr) return hipSuccess;
  MemoryInfo info;
  if (!FindMemory(pointer, &info) || info.kind != MemoryKind::kDevice) return Done(hipErrorInvalidValue);
  return Done(stream->Host([=] { FreeNow(pointer); }));
}

hipError_t hipMemPoolCreate(hipMemPool_t* pool, const hipMemPoolProps* properties) {
  if (pool == nullptr || properties == nullptr) return Done(hipErrorInvalidValue);
  auto* const made = new Pool;
  const std::lock_guard lock(pools_mutex);
  pools.insert(made);
  *pool = reinterpret_cast<hipMemPool_t>(made);
  return hipSuccess;
}
hipError_t hipMemPoolDestroy(hipMemPool_t handle) {
  auto* const pool = reinterpret_cast<Pool*>(handle);
  const std::lock_guard lock(pools_mutex);
  if (pools.erase(pool) == 0) return Done(hipErrorInvalidValue);
  delete pool;
  return hipSuccess;
}
hipError_t hipMemPoolTrimTo(hipMemPool_t pool, size_t) {
  return Done(FindPool(pool) == nullptr ? hipErrorInvalidValue : hipSuccess);
}
hipError_t hipMemPoolSetAttribute(hipMemPool_t handle, hipMemPoolAttr attribute, void* value) {
  Pool* const pool = FindPool(handle);
  if (pool == nullptr || value == nullptr) return Done(hipErrorInvalidValue);
  uint64_t number = 0;
  std::memcpy(&number, value, attribute >= hipMemPoolAttrReleaseThreshold ? 8 : 4);
  pool->attributes[attribute] = number;
  return hipSuccess;
}
hipError_t hipMemPoolGetAttribute(hipMemPool_t handle, hipMemPoolAttr attribute, void* value) {
  Pool* const pool = FindPool(handle);
  if (pool == nullptr || value == nullptr) return Done(hipErrorInvalidValue);
  const uint64_t number = pool->attributes[attribute];
  std::memcpy(value, &number, attribute >= hipMemPoolAttrReleaseThreshold ? 8 : 4);
  return hipSuccess;
}
hipError_t hipMemPoolSetAccess(hipMemPool_t pool, const hipMemAccessDesc*, size_t) { return hipMemPoolTrimTo(pool, 0); }
hipError_t hipMemPoolGetAccess(hipMemAccessFlags* flags, hipMemPool_t pool, hipMemLocation*) {
  if (flags == nullptr || FindPool(pool) == nullptr) return Done(hipErrorInvalidValue);
  *flags = hipMemAccessFlagsProtReadWrite;
  return hipSuccess;
}
hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* pool, int number) {
  if (pool == nullptr || number != 0) return Done(hipErrorInvalidValue);
  *pool = reinterpret_cast<hipMemPool_t>(&default_pool);
  return hipSuccess;
}
hipError_t hipDeviceGetMemPool(hipMemPool_t* pool, int number) { return hipDeviceGetDefaultMemPool(pool, number); }
hipError_t hipDeviceSetMemPool(int number, hipMemPool_t pool) {
  return Done(number == 0 && FindPool(pool) != nullptr ? hipSuccess : hipErrorInvalidValue);
}

}  // extern "C"
