// Streams, host functions, waits for values. Source: HIP API documentation, "Stream management", "Stream Memory Operations".
#include <algorithm>
#include <chrono>
#include <cstring>

#include "hip/graph/model.h"

namespace wavesmith::hip {
namespace {

constexpr int kLowestPriority = 1;
constexpr int kHighestPriority = -1;
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
hipError_t hipExtStreamCreateWithCUMask(hipStream_t* handle, uint32_t words, const uint32_t* mask) {
  if (handle == nullptr || words == 0 || mask == nullptr) return Done(hipErrorInvalidValue);
  hipError_t error = AddStream(hipStreamDefault, 0, handle);
  if (error != hipSuccess) return Done(error);
  // A mask without any unit is none.
  if (std::any_of(mask, mask + words, [](uint32_t word) { return word != 0; })) {
    FindStream(*handle, &error)->cu_mask().assign(mask, mask + words);
  }
  return Done(hipSuccess);
}
hipError_t hipExtStreamGetCUMask(hipStream_t handle, uint32_t words, uint32_t* mask) {
  hipError_t error;
  const Device* const device = GetDevice(&error);
  if (device == nullptr) return Done(error);
  if (mask == nullptr || words < (device->compute_units + 31) / 32) return Done(hipErrorInvalidValue);
  Stream* const stream = FindStream(handle, &error);
  if (stream == nullptr) return Done(error);
  const std::vector<uint32_t>& given = stream->cu_mask();
  for (uint32_t word = 0; word < words; word++) {
    const uint32_t units = std::min(32U, device->compute_units - std::min(device->compute_units, word * 32));
    const uint32_t all = units == 32 ? UINT32_MAX : (1U << units) - 1;
    mask[word] = given.empty() ? all : word < given.size() ? given[word] & all : 0;
  }
  return Done(hipSuccess);
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
  return Done(IsIdle(stream) ? hipSuccess : hipErrorNotReady);
}
hipError_t hipStreamGetFlags(hipStream_t handle, unsigned* flags) {
  hipError_t error;
  if (handle == nullptr) return Done(hipErrorInvalidValue);
  const Stream* const stream = FindStream(handle, &error);
  if (stream == nullptr || flags == nullptr) return Done(stream == nullptr ? error : hipErrorInvalidValue);
  *flags = stream->flags();
  return Done(hipSuccess);
}
hipError_t hipStreamGetPriority(hipStream_t handle, int* priority) {
  hipError_t error;
  const Stream* const stream = FindStream(handle, &error);
  if (stream == nullptr || priority == nullptr) return Done(stream == nullptr ? error : hipErrorInvalidValue);
  *priority = stream->priority();
  return Done(hipSuccess);
}
hipError_t hipStreamGetDevice(hipStream_t handle, hipDevice_t* device) {
  hipError_t error;
  if (device == nullptr) return Done(hipErrorInvalidValue);
  const Stream* const stream = FindStream(handle, &error);
  if (stream == nullptr) return Done(error);
  *device = stream->device();
  return Done(hipSuccess);
}
int hipGetStreamDeviceId(hipStream_t handle) {
  hipError_t error;
  const Stream* const stream = FindStream(handle, &error);
  return stream == nullptr ? -1 : stream->device();
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

// Attributes ----------------------------------------------------------------------------------------------------------------------------------

hipError_t hipStreamGetId(hipStream_t handle, unsigned long long* id) {
  hipError_t error;
  if (id == nullptr) return Done(hipErrorInvalidValue);
  const Stream* const stream = FindStream(handle, &error);
  if (stream == nullptr) return Done(error);
  *id = stream->id();
  return Done(hipSuccess);
}

namespace {

// hipLaunchAttributeID that streams have: access window, synchronisation, priority, domains of memory synchronisation.
constexpr int kAccessWindow = 1;
constexpr int kSynchronisation = 3;
constexpr int kPriority = 8;
constexpr int kDomainMap = 9;
constexpr int kDomain = 10;
bool IsStreamAttribute(int id) {
  return id == kAccessWindow || id == kSynchronisation || id == kPriority || id == kDomainMap || id == kDomain;
}

}  // namespace

hipError_t hipStreamGetAttribute(hipStream_t handle, int id, void* value) {
  hipError_t error;
  if (value == nullptr || !IsStreamAttribute(id)) return Done(hipErrorInvalidValue);
  Stream* const stream = FindStream(handle, &error);
  if (stream == nullptr) return Done(error);
  std::memset(value, 0, 64);
  if (id == kPriority) {
    const int priority = stream->priority();
    std::memcpy(value, &priority, sizeof priority);
    return Done(hipSuccess);
  }
  const auto found = stream->attributes().find(id);
  if (found != stream->attributes().end()) std::memcpy(value, found->second.data(), found->second.size());
  return Done(hipSuccess);
}
// A stream's priority is given when it is made.
hipError_t hipStreamSetAttribute(hipStream_t handle, int id, const void* value) {
  hipError_t error;
  if (value == nullptr || !IsStreamAttribute(id) || id == kPriority) return Done(hipErrorInvalidValue);
  Stream* const stream = FindStream(handle, &error);
  if (stream == nullptr) return Done(error);
  std::memcpy(stream->attributes()[id].data(), value, 64);
  return Done(hipSuccess);
}
hipError_t hipStreamCopyAttributes(hipStream_t to_handle, hipStream_t from_handle) {
  hipError_t error;
  Stream* const to = FindStream(to_handle, &error);
  if (to == nullptr) return Done(error);
  Stream* const from = FindStream(from_handle, &error);
  if (from == nullptr) return Done(error);
  to->attributes() = std::map(from->attributes());
  return Done(hipSuccess);
}

}  // extern "C"
