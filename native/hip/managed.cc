// Hints for managed memory and questions about them. There is one memory, so a hint is only kept, for each page it was given for.
// Source: HIP API documentation, "Managed memory".
#include <algorithm>
#include <cstring>

#include "hip/runtime.h"

namespace wavesmith::hip {
namespace {

constexpr uint64_t kPage = 4096;
constexpr int kCpu = -1;
constexpr int kNowhere = -2;
enum Advice : int {
  kSetReadMostly = 1,
  kUnsetReadMostly = 2,
  kSetPreferred = 3,
  kUnsetPreferred = 4,
  kSetAccessedBy = 5,
  kUnsetAccessedBy = 6,
  kSetCoarse = 100,
  kUnsetCoarse = 101,
};
enum Attribute : int { kReadMostly = 1, kPreferred = 2, kAccessedBy = 3, kLastPrefetch = 4, kCoherency = 100 };

enum Coherency : int { kFine = 0, kCoarse = 1, kIndeterminate = 2 };

struct Hints {
  bool read_mostly = false;
  int preferred = kNowhere;
  std::set<int> accessed_by;
  int prefetched = kNowhere;
  bool coarse = false;
};
std::mutex mutex;
// Never destroyed: work that a stream still has ends after the destructors of a program's and of this library's objects.
auto& pages = *new std::map<uint64_t, Hints>;

template <typename F>
void EachPage(const void* pointer, size_t size, F change) {
  const auto begin = reinterpret_cast<uint64_t>(pointer);
  for (uint64_t page = begin / kPage * kPage; page < begin + size; page += kPage) change(pages[page]);
}
bool IsPlace(int device) { return device == kCpu || IsDevice(device); }

// Managed (or other) memory that holds the whole range.
hipError_t CheckRange(const void* pointer, size_t size) {
  MemoryInfo info;
  return pointer == nullptr || size == 0 || !FindMemory(pointer, &info) || !Fits(pointer, size) ? hipErrorInvalidValue
                                                                                                : hipSuccess;
}

// What all pages of a range have in common, or `otherwise`.
template <typename F>
int Common(const void* pointer, size_t size, int otherwise, F value_of) {
  bool first = true;
  int common = otherwise;
  EachPage(pointer, size, [&](const Hints& hints) {
    const int value = value_of(hints);
    common = first || common == value ? value : otherwise;
    first = false;
  });
  return common;
}

// Whether kernels' caches may keep memory that is not managed until they end.
bool IsCoarse(const MemoryInfo& info) {
  constexpr unsigned kNonCoherent = 0x80000000;  // hipHostMallocNonCoherent
  const bool is_host = info.kind == MemoryKind::kHost || info.kind == MemoryKind::kRegistered;
  return is_host ? (info.flags & kNonCoherent) != 0 : info.flags == hipDeviceMallocDefault;
}

hipError_t Answer(void* data, size_t data_size, int attribute, const void* pointer, size_t size) {
  auto* const words = static_cast<int*>(data);
  if (attribute != kAccessedBy && data_size != sizeof(int)) return hipErrorInvalidValue;
  if (data_size == 0 || data_size % sizeof(int) != 0) return hipErrorInvalidValue;
  switch (attribute) {
    case kReadMostly:
      *words = Common(pointer, size, 0, [](const Hints& h) { return h.read_mostly ? 1 : 0; });
      return hipSuccess;
    case kPreferred:
      *words = Common(pointer, size, kNowhere, [](const Hints& h) { return h.preferred; });
      return hipSuccess;
    case kLastPrefetch:
      *words = Common(pointer, size, kNowhere, [](const Hints& h) { return h.prefetched; });
      return hipSuccess;
    case kCoherency:
      *words = Common(pointer, size, kIndeterminate, [](const Hints& h) { return h.coarse ? kCoarse : kFine; });
      return hipSuccess;
    case kAccessedBy: {
      std::set<int> common{kCpu};
      for (int device = 0; device < DeviceCount(); device++) common.insert(device);
      EachPage(pointer, size, [&](const Hints& h) {
        std::erase_if(common, [&](int device) { return !h.accessed_by.contains(device); });
      });
      std::fill_n(words, data_size / sizeof(int), kNowhere);
      std::copy_n(common.rbegin(), std::min(common.size(), data_size / sizeof(int)), words);
      return hipSuccess;
    }
    default:
      return hipErrorInvalidValue;
  }
}

}  // namespace

void ForgetHints(uint64_t address, uint64_t size) {
  const std::lock_guard lock(mutex);
  pages.erase(pages.lower_bound(address), pages.lower_bound(address + size));
}

}  // namespace wavesmith::hip

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

extern "C" {

hipError_t hipMemPrefetchAsync(const void* pointer, size_t size, int device, hipStream_t handle) {
  hipError_t error = CheckRange(pointer, size);
  if (error != hipSuccess) return Done(error);
  if (!IsPlace(device)) return Done(hipErrorInvalidDevice);
  Stream* const stream = StreamOf(handle, &error);
  if (stream == nullptr) return Done(error);
  const std::lock_guard lock(mutex);
  EachPage(pointer, size, [=](Hints& hints) { hints.prefetched = device; });
  return Done(hipSuccess);
}
hipError_t hipMemAdvise(const void* pointer, size_t size, hipMemoryAdvise advice, int device) {
  const hipError_t error = CheckRange(pointer, size);
  if (error != hipSuccess) return Done(error);
  // Memory that has its place does not move: AMD's driver has no hints for it.
  MemoryInfo info;
  FindMemory(pointer, &info);
  if (info.kind == MemoryKind::kDevice || info.kind == MemoryKind::kHost) return Done(hipErrorInvalidValue);
  const auto kind = static_cast<int>(advice);
  if (kind != kSetReadMostly && kind != kUnsetReadMostly && kind != kUnsetPreferred && !IsPlace(device)) {
    return Done(hipErrorInvalidDevice);
  }
  const std::lock_guard lock(mutex);
  bool known = true;
  EachPage(pointer, size, [&](Hints& hints) {
    switch (kind) {
      case kSetReadMostly:
      case kUnsetReadMostly:
        hints.read_mostly = kind == kSetReadMostly;
        break;
      case kSetPreferred:
      case kUnsetPreferred:
        hints.preferred = kind == kSetPreferred ? device : kNowhere;
        break;
      case kSetAccessedBy:
        hints.accessed_by.insert(device);
        break;
      case kUnsetAccessedBy:
        hints.accessed_by.erase(device);
        break;
      case kSetCoarse:
      case kUnsetCoarse:
        hints.coarse = kind == kSetCoarse;
        break;
      default:
        known = false;
    }
  });
  return Done(known ? hipSuccess : hipErrorInvalidValue);
}

// From HIP 7 on a place is a location: a device, or the host in three forms.
namespace {

struct Location {
  int type;
  int id;
};
constexpr int kDeviceLocation = 1;
constexpr int kLastHostLocation = 4;
// hipInvalidDeviceId for what is no location.
int DeviceOf(const Location& location) {
  if (location.type == kDeviceLocation) return location.id < 0 ? kNowhere : location.id;
  return location.type > kDeviceLocation && location.type <= kLastHostLocation ? kCpu : kNowhere;
}

}  // namespace

hipError_t hipMemPrefetchAsync_v2(const void* pointer, size_t size, Location location, unsigned flags,
                                  hipStream_t stream) {
  return flags != 0 ? Done(hipErrorInvalidValue) : hipMemPrefetchAsync(pointer, size, DeviceOf(location), stream);
}
hipError_t hipMemAdvise_v2(const void* pointer, size_t size, hipMemoryAdvise advice, Location location) {
  return hipMemAdvise(pointer, size, advice, DeviceOf(location));
}
hipError_t hipMemPrefetchBatchAsync(void** pointers, size_t* sizes, size_t count, Location* locations, size_t* indices,
                                    size_t location_count, unsigned long long flags, hipStream_t stream) {
  const bool given = pointers != nullptr && sizes != nullptr && locations != nullptr && indices != nullptr;
  if (!given || count == 0 || location_count == 0 || location_count > count || flags != 0 || indices[0] != 0) {
    return Done(hipErrorInvalidValue);
  }
  // A location counts from its index up to the next one's.
  size_t at = 0;
  for (size_t n = 0; n < count; n++) {
    if (at + 1 < location_count && indices[at + 1] <= n) at++;
    const hipError_t error = hipMemPrefetchAsync(pointers[n], sizes[n], DeviceOf(locations[at]), stream);
    if (error != hipSuccess) return Done(error);
  }
  return Done(hipSuccess);
}

hipError_t hipMemRangeGetAttribute(void* data, size_t data_size, hipMemRangeAttribute attribute, const void* pointer,
                                   size_t size) {
  const hipError_t error = data == nullptr ? hipErrorInvalidValue : CheckRange(pointer, size);
  if (error != hipSuccess) return Done(error);
  MemoryInfo info;
  FindMemory(pointer, &info);
  const bool has_hints = info.kind == MemoryKind::kManaged;
  // Of other memory, AMD's driver knows only how it is kept coherent.
  if (!has_hints && static_cast<int>(attribute) != kCoherency) return Done(hipErrorInvalidValue);
  const std::lock_guard lock(mutex);
  if (has_hints || data_size != sizeof(int)) return Done(Answer(data, data_size, attribute, pointer, size));
  *static_cast<int*>(data) = IsCoarse(info) ? kCoarse : kFine;
  return Done(hipSuccess);
}
hipError_t hipMemRangeGetAttributes(void** data, size_t* data_sizes, hipMemRangeAttribute* attributes, size_t count,
                                    const void* pointer, size_t size) {
  if (data == nullptr || data_sizes == nullptr || attributes == nullptr || count == 0)
    return Done(hipErrorInvalidValue);
  for (size_t n = 0; n < count; n++) {
    const hipError_t error = hipMemRangeGetAttribute(data[n], data_sizes[n], attributes[n], pointer, size);
    if (error != hipSuccess) return Done(error);
  }
  return Done(hipSuccess);
}
hipError_t hipStreamAttachMemAsync(hipStream_t handle, void* pointer, size_t size, unsigned flags) {
  hipError_t error;
  MemoryInfo info;
  if (FindStream(handle, &error) == nullptr) return Done(error);
  constexpr unsigned kGlobal = 1;
  constexpr unsigned kHost = 2;
  constexpr unsigned kSingle = 4;
  const bool known = flags == kGlobal || flags == kHost || (flags == kSingle && handle != nullptr);
  if (!known || !FindMemory(pointer, &info) || info.kind != MemoryKind::kManaged) return Done(hipErrorInvalidValue);
  return Done(size == 0 || size == info.size ? hipSuccess : hipErrorInvalidValue);
}

}  // extern "C"
