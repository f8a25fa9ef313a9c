// Memory: allocation of every kind, copies, fills, pointer attributes, symbols. All of it is one memory that host and device address alike,
// so a copy is memcpy at the right moment. Source: HIP API documentation, "Memory management".
#include <algorithm>
#include <cstring>

#include "hip/runtime.h"

namespace wavesmith::hip {
namespace {

std::mutex mutex;
std::map<uint64_t, MemoryInfo> allocations;

void Record(void* pointer, size_t size, MemoryKind kind, unsigned flags) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const std::lock_guard lock(mutex);
  allocations[address] = {address, size, kind, flags};
}

}  // namespace

hipError_t AllocateMemory(size_t size, MemoryKind kind, unsigned flags, void** pointer) {
  hipError_t error;
  Device* const device = GetDevice(&error);
  if (device == nullptr) return error;
  if (pointer == nullptr) return hipErrorInvalidValue;
  *pointer = nullptr;
  if (size == 0) return hipSuccess;
  const hsa_amd_memory_pool_t pool = kind == MemoryKind::kDevice ? device->coarse : device->fine;
  if (hsa_amd_memory_pool_allocate(pool, size, 0, pointer) != HSA_STATUS_SUCCESS) return hipErrorOutOfMemory;
  Record(*pointer, size, kind, flags);
  return hipSuccess;
}

hipError_t FreeMemory(void* pointer, MemoryKind kind) {
  if (pointer == nullptr) return hipSuccess;
  {
    const std::lock_guard lock(mutex);
    const auto found = allocations.find(reinterpret_cast<uint64_t>(pointer));
    if (found == allocations.end() || found->second.kind == MemoryKind::kRegistered) return hipErrorInvalidValue;
    const bool host = found->second.kind == MemoryKind::kHost;
    if (host != (kind == MemoryKind::kHost)) return hipErrorInvalidValue;
    allocations.erase(found);
  }
  // Kernels that still use it must end first.
  const hipError_t error = SynchronizeAll();
  hsa_amd_memory_pool_free(pointer);
  return error;
}

void FreeNow(void* pointer) {
  {
    const std::lock_guard lock(mutex);
    allocations.erase(reinterpret_cast<uint64_t>(pointer));
  }
  hsa_amd_memory_pool_free(pointer);
}

bool FindMemory(const void* pointer, MemoryInfo* info) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const std::lock_guard lock(mutex);
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin()) return false;
  --after;
  if (address - after->first >= after->second.size) return false;
  *info = after->second;
  return true;
}

namespace {

// A copy of `height` × `depth` rows.
struct Copy {
  uint8_t* to;
  const uint8_t* from;
  size_t width;
  size_t height = 1;
  size_t depth = 1;
  size_t to_pitch = 0;
  size_t from_pitch = 0;
  size_t to_slice = 0;
  size_t from_slice = 0;

  // Bytes from the first to behind the last.
  size_t Extent(size_t pitch, size_t slice) const { return (depth - 1) * slice + (height - 1) * pitch + width; }
  void Run() const {
    for (size_t z = 0; z < depth; z++) {
      for (size_t y = 0; y < height; y++) {
        std::memmove(to + z * to_slice + y * to_pitch, from + z * from_slice + y * from_pitch, width);
      }
    }
  }
};

// Whether a range that begins in an allocation also ends in it. What is in none is the program's own memory.
bool Fits(const void* pointer, size_t size) {
  MemoryInfo info;
  if (!FindMemory(pointer, &info)) return true;
  return size <= info.size - (reinterpret_cast<uint64_t>(pointer) - info.address);
}

hipError_t CheckCopy(const void* to, const void* from, size_t size, hipMemcpyKind kind) {
  if (static_cast<unsigned>(kind) > hipMemcpyDefault) return hipErrorInvalidMemcpyDirection;
  if (size == 0) return hipSuccess;
  return to == nullptr || from == nullptr ? hipErrorInvalidValue : hipSuccess;
}

// In stream order. A copy that HIP makes synchronous (`wait`) is done on return.
hipError_t InStream(hipStream_t handle, bool wait, std::function<void()> work) {
  if (IsCapturing(handle)) {
    if (wait) return hipErrorStreamCaptureUnsupported_;
    return Capture(handle, hipGraphNodeTypeMemcpy,
                   [work = std::move(work)](hipStream_t stream) { return InStream(stream, false, work); });
  }
  hipError_t error;
  Stream* const stream = StreamOf(handle, &error);
  if (stream == nullptr) return error;
  if (!wait) return stream->Host(std::move(work));
  error = stream->Synchronize();
  if (error != hipSuccess) return error;
  work();
  return hipSuccess;
}

// Memory that only the host uses may change or go as soon as an asynchronous copy's call returns.
bool IsPageable(const void* pointer) {
  MemoryInfo info;
  hsa_amd_pointer_info_t known{};
  known.size = sizeof known;
  if (FindMemory(pointer, &info)) return false;
  return hsa_amd_pointer_info(const_cast<void*>(pointer), &known, nullptr, nullptr, nullptr) != HSA_STATUS_SUCCESS ||
         known.type == HSA_EXT_POINTER_TYPE_UNKNOWN;
}

hipError_t RunCopy(const Copy& copy, hipStream_t stream, bool wait) {
  if (!Fits(copy.to, copy.Extent(copy.to_pitch, copy.to_slice))) return hipErrorInvalidValue;
  const size_t from_size = copy.Extent(copy.from_pitch, copy.from_slice);
  if (!Fits(copy.from, from_size)) return hipErrorInvalidValue;
  if (IsCapturing(stream)) return InStream(stream, wait, [=] { copy.Run(); });
  if (wait || IsPageable(copy.to)) return InStream(stream, true, [=] { copy.Run(); });
  if (!IsPageable(copy.from)) return InStream(stream, false, [=] { copy.Run(); });
  const auto content = std::make_shared<std::vector<uint8_t>>(copy.from, copy.from + from_size);
  Copy staged = copy;
  staged.from = content->data();
  return InStream(stream, false, [content, staged] { staged.Run(); });
}

hipError_t CopyBytes(void* to, const void* from, size_t size, hipMemcpyKind kind, hipStream_t stream, bool wait) {
  const hipError_t error = CheckCopy(to, from, size, kind);
  if (error != hipSuccess || size == 0) return error;
  return RunCopy({static_cast<uint8_t*>(to), static_cast<const uint8_t*>(from), size}, stream, wait);
}

template <typename T>
hipError_t Fill(void* to, T value, size_t count, hipStream_t stream, bool wait) {
  if (count == 0) return hipSuccess;
  if (to == nullptr || reinterpret_cast<uintptr_t>(to) % sizeof(T) != 0) return hipErrorInvalidValue;
  MemoryInfo info;
  if (!FindMemory(to, &info)) return hipErrorInvalidValue;
  if (reinterpret_cast<uint64_t>(to) + count * sizeof(T) > info.address + info.size) return hipErrorInvalidValue;
  return InStream(stream, wait, [=] { std::fill_n(static_cast<T*>(to), count, value); });
}

}  // namespace
}  // namespace wavesmith::hip

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

extern "C" {

// Allocation ---------------------------------------------------------------------------------------------------------------------------------

hipError_t hipMalloc(void** pointer, size_t size) {
  return Done(AllocateMemory(size, MemoryKind::kDevice, 0, pointer));
}
hipError_t hipExtMallocWithFlags(void** pointer, size_t size, unsigned flags) {
  return Done(AllocateMemory(size, MemoryKind::kDevice, flags, pointer));
}
hipError_t hipMallocManaged(void** pointer, size_t size, unsigned flags) {
  if (size == 0) return Done(hipErrorInvalidValue);
  return Done(AllocateMemory(size, MemoryKind::kManaged, flags, pointer));
}
hipError_t hipHostMalloc(void** pointer, size_t size, unsigned flags) {
  constexpr unsigned kKnown = hipHostMallocPortable | hipHostMallocMapped | hipHostMallocWriteCombined |
                              hipHostMallocNumaUser | hipHostMallocCoherent | hipHostMallocNonCoherent;
  constexpr unsigned kCoherence = hipHostMallocCoherent | hipHostMallocNonCoherent;
  if ((flags & ~kKnown) != 0 || (flags & kCoherence) == kCoherence) return Done(hipErrorInvalidValue);
  return Done(AllocateMemory(size, MemoryKind::kHost, flags, pointer));
}
hipError_t hipMallocHost(void** pointer, size_t size) { return hipHostMalloc(pointer, size, 0); }
hipError_t hipMemAllocHost(void** pointer, size_t size) { return hipHostMalloc(pointer, size, 0); }
hipError_t hipHostAlloc(void** pointer, size_t size, unsigned flags) { return hipHostMalloc(pointer, size, flags); }
hipError_t hipFree(void* pointer) { return Done(FreeMemory(pointer, MemoryKind::kDevice)); }
hipError_t hipHostFree(void* pointer) { return Done(FreeMemory(pointer, MemoryKind::kHost)); }
hipError_t hipFreeHost(void* pointer) { return hipHostFree(pointer); }

hipError_t hipMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  if (pitch == nullptr) return Done(hipErrorInvalidValue);
  *pitch = (width + 255) / 256 * 256;
  return hipMalloc(pointer, *pitch * height);
}
hipError_t hipMemAllocPitch(hipDeviceptr_t* pointer, size_t* pitch, size_t width, size_t height, unsigned element) {
  if (element != 4 && element != 8 && element != 16) return Done(hipErrorInvalidValue);
  return hipMallocPitch(pointer, pitch, width, height);
}
hipError_t hipMalloc3D(hipPitchedPtr* pointer, hipExtent extent) {
  if (pointer == nullptr) return Done(hipErrorInvalidValue);
  size_t pitch;
  const hipError_t error = hipMallocPitch(&pointer->ptr, &pitch, extent.width, extent.height * extent.depth);
  pointer->pitch = pitch;
  pointer->xsize = extent.width;
  pointer->ysize = extent.height;
  return error;
}

hipError_t hipMemGetInfo(size_t* free, size_t* total) {
  hipError_t error;
  const Device* const device = GetDevice(&error);
  if (device == nullptr) return Done(error);
  size_t used = 0;
  {
    const std::lock_guard lock(mutex);
    for (const auto& [address, info] : allocations) {
      if (info.kind != MemoryKind::kRegistered) used += info.size;
    }
  }
  if (free != nullptr) *free = device->memory_bytes - std::min<size_t>(used, device->memory_bytes);
  if (total != nullptr) *total = device->memory_bytes;
  return hipSuccess;
}

// Host memory ----------------------------------------------------------------------------------------------------------------------------------

hipError_t hipHostRegister(void* pointer, size_t size, unsigned flags) {
  if (pointer == nullptr || size == 0) return Done(hipErrorInvalidValue);
  hipError_t error;
  if (GetDevice(&error) == nullptr) return Done(error);
  MemoryInfo known;
  if (FindMemory(pointer, &known)) return Done(hipErrorHostMemoryAlreadyRegistered);
  void* device_pointer;
  if (hsa_amd_memory_lock(pointer, size, nullptr, 0, &device_pointer) != HSA_STATUS_SUCCESS) {
    return Done(hipErrorOutOfMemory);
  }
  Record(pointer, size, MemoryKind::kRegistered, flags);
  return hipSuccess;
}
hipError_t hipHostUnregister(void* pointer) {
  {
    const std::lock_guard lock(mutex);
    const auto found = allocations.find(reinterpret_cast<uint64_t>(pointer));
    if (found == allocations.end() || found->second.kind != MemoryKind::kRegistered) {
      return Done(hipErrorHostMemoryNotRegistered);
    }
    allocations.erase(found);
  }
  const hipError_t error = SynchronizeAll();
  hsa_amd_memory_unlock(pointer);
  return Done(error);
}
hipError_t hipHostGetDevicePointer(void** device_pointer, void* host_pointer, unsigned flags) {
  MemoryInfo info;
  if (device_pointer == nullptr || flags != 0 || !FindMemory(host_pointer, &info)) return Done(hipErrorInvalidValue);
  *device_pointer = host_pointer;
  return hipSuccess;
}
hipError_t hipHostGetFlags(unsigned* flags, void* pointer) {
  MemoryInfo info;
  if (flags == nullptr || !FindMemory(pointer, &info) || info.kind == MemoryKind::kDevice) {
    return Done(hipErrorInvalidValue);
  }
  *flags = info.flags;
  return hipSuccess;
}

// Copies -----------------------------------------------------------------------------------------------------------------------------------------

hipError_t hipMemcpy(void* to, const void* from, size_t size, hipMemcpyKind kind) {
  return Done(CopyBytes(to, from, size, kind, nullptr, true));
}
hipError_t hipMemcpyAsync(void* to, const void* from, size_t size, hipMemcpyKind kind, hipStream_t stream) {
  return Done(CopyBytes(to, from, size, kind, stream, false));
}
hipError_t hipMemcpyWithStream(void* to, const void* from, size_t size, hipMemcpyKind kind, hipStream_t stream) {
  return Done(CopyBytes(to, from, size, kind, stream, true));
}
hipError_t hipMemcpyHtoD(hipDeviceptr_t to, void* from, size_t size) {
  return hipMemcpy(to, from, size, hipMemcpyHostToDevice);
}
hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from, size_t size) {
  return hipMemcpy(to, from, size, hipMemcpyDeviceToHost);
}
hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t size) {
  return hipMemcpy(to, from, size, hipMemcpyDeviceToDevice);
}
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, void* from, size_t size, hipStream_t stream) {
  return hipMemcpyAsync(to, from, size, hipMemcpyHostToDevice, stream);
}
hipError_t hipMemcpyDtoHAsync(void* to, hipDeviceptr_t from, size_t size, hipStream_t stream) {
  return hipMemcpyAsync(to, from, size, hipMemcpyDeviceToHost, stream);
}
hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t size, hipStream_t stream) {
  return hipMemcpyAsync(to, from, size, hipMemcpyDeviceToDevice, stream);
}
hipError_t hipMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t size) {
  if (to_device != 0 || from_device != 0) return Done(hipErrorInvalidDevice);
  return hipMemcpy(to, from, size, hipMemcpyDeviceToDevice);
}
hipError_t hipMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t size,
                              hipStream_t stream) {
  if (to_device != 0 || from_device != 0) return Done(hipErrorInvalidDevice);
  return hipMemcpyAsync(to, from, size, hipMemcpyDeviceToDevice, stream);
}

namespace {

hipError_t Copy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                  hipMemcpyKind kind, hipStream_t stream, bool wait) {
  const hipError_t error = CheckCopy(to, from, width * height, kind);
  if (error != hipSuccess || width * height == 0) return error;
  if (width > to_pitch || width > from_pitch) return hipErrorInvalidPitchValue;
  const Copy copy{static_cast<uint8_t*>(to), static_cast<const uint8_t*>(from), width, height, 1, to_pitch, from_pitch};
  return RunCopy(copy, stream, wait);
}

hipError_t Copy3D(const hipMemcpy3DParms* p, hipStream_t stream, bool wait) {
  if (p == nullptr) return hipErrorInvalidValue;
  if (p->srcArray != nullptr || p->dstArray != nullptr) return hipErrorNotSupported;
  const hipExtent e = p->extent;
  const hipError_t error = CheckCopy(p->dstPtr.ptr, p->srcPtr.ptr, e.width * e.height * e.depth, p->kind);
  if (error != hipSuccess || e.width * e.height * e.depth == 0) return error;
  const auto place = [](const hipPitchedPtr& q, const hipPos& at) {
    return static_cast<uint8_t*>(q.ptr) + at.z * q.pitch * q.ysize + at.y * q.pitch + at.x;
  };
  if (e.width > p->dstPtr.pitch || e.width > p->srcPtr.pitch) return hipErrorInvalidPitchValue;
  const Copy copy{place(p->dstPtr, p->dstPos), place(p->srcPtr, p->srcPos), e.width,
                  e.height,                    e.depth,                     p->dstPtr.pitch,
                  p->srcPtr.pitch,             p->dstPtr.pitch * p->dstPtr.ysize,
                  p->srcPtr.pitch * p->srcPtr.ysize};
  return RunCopy(copy, stream, wait);
}

}  // namespace

hipError_t hipMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                       hipMemcpyKind kind) {
  return Done(Copy2D(to, to_pitch, from, from_pitch, width, height, kind, nullptr, true));
}
hipError_t hipMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                            hipMemcpyKind kind, hipStream_t stream) {
  return Done(Copy2D(to, to_pitch, from, from_pitch, width, height, kind, stream, false));
}

namespace {

hipError_t CopyParam2D(const hip_Memcpy2D* p, hipStream_t stream, bool wait) {
  if (p == nullptr) return hipErrorInvalidValue;
  const MemoryTypes types = MemoryTypesOfHip();
  if (p->srcMemoryType == types.array || p->dstMemoryType == types.array) return hipErrorNotSupported;
  const void* const from = p->srcMemoryType == types.host ? p->srcHost : p->srcDevice;
  void* const to = p->dstMemoryType == types.host ? p->dstHost : p->dstDevice;
  if (from == nullptr || to == nullptr) return hipErrorInvalidValue;
  const size_t from_pitch = p->srcPitch == 0 ? p->srcXInBytes + p->WidthInBytes : p->srcPitch;
  const size_t to_pitch = p->dstPitch == 0 ? p->dstXInBytes + p->WidthInBytes : p->dstPitch;
  return Copy2D(static_cast<uint8_t*>(to) + p->dstY * to_pitch + p->dstXInBytes, to_pitch,
                static_cast<const uint8_t*>(from) + p->srcY * from_pitch + p->srcXInBytes, from_pitch, p->WidthInBytes,
                p->Height, hipMemcpyDefault, stream, wait);
}

}  // namespace

hipError_t hipMemcpyParam2D(const hip_Memcpy2D* p) { return Done(CopyParam2D(p, nullptr, true)); }
hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D* p, hipStream_t stream) {
  return Done(CopyParam2D(p, stream, false));
}
hipError_t hipMemcpy3D(const hipMemcpy3DParms* p) { return Done(Copy3D(p, nullptr, true)); }
hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms* p, hipStream_t stream) { return Done(Copy3D(p, stream, false)); }

// Fills ------------------------------------------------------------------------------------------------------------------------------------------

hipError_t hipMemset(void* to, int value, size_t size) {
  return Done(Fill(to, static_cast<uint8_t>(value), size, nullptr, true));
}
hipError_t hipMemsetAsync(void* to, int value, size_t size, hipStream_t stream) {
  return Done(Fill(to, static_cast<uint8_t>(value), size, stream, false));
}
hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, size_t count) {
  return Done(Fill<uint8_t>(to, value, count, nullptr, true));
}
hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, size_t count) {
  return Done(Fill<uint16_t>(to, value, count, nullptr, true));
}
hipError_t hipMemsetD32(hipDeviceptr_t to, int value, size_t count) {
  return Done(Fill<uint32_t>(to, static_cast<uint32_t>(value), count, nullptr, true));
}
hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, size_t count, hipStream_t stream) {
  return Done(Fill<uint8_t>(to, value, count, stream, false));
}
hipError_t hipMemsetD16Async(hipDeviceptr_t to, unsigned short value, size_t count, hipStream_t stream) {
  return Done(Fill<uint16_t>(to, value, count, stream, false));
}
hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, size_t count, hipStream_t stream) {
  return Done(Fill<uint32_t>(to, static_cast<uint32_t>(value), count, stream, false));
}

namespace {

hipError_t FillBox(void* to, size_t pitch, size_t slice, int value, size_t width, size_t height, size_t depth,
                   hipStream_t stream, bool wait) {
  if (width * height * depth == 0) return hipSuccess;
  if (to == nullptr || width > pitch) return hipErrorInvalidValue;
  MemoryInfo info;
  if (!FindMemory(to, &info) || !Fits(to, (depth - 1) * slice + (height - 1) * pitch + width)) {
    return hipErrorInvalidValue;
  }
  return InStream(stream, wait, [=] {
    for (size_t z = 0; z < depth; z++) {
      for (size_t y = 0; y < height; y++) std::memset(static_cast<uint8_t*>(to) + z * slice + y * pitch, value, width);
    }
  });
}

}  // namespace

hipError_t hipMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return Done(FillBox(to, pitch, 0, value, width, height, 1, nullptr, true));
}
hipError_t hipMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height, hipStream_t stream) {
  return Done(FillBox(to, pitch, 0, value, width, height, 1, stream, false));
}
hipError_t hipMemset3D(hipPitchedPtr to, int value, hipExtent extent) {
  return Done(FillBox(to.ptr, to.pitch, to.pitch * to.ysize, value, extent.width, extent.height, extent.depth, nullptr,
                      true));
}
hipError_t hipMemset3DAsync(hipPitchedPtr to, int value, hipExtent extent, hipStream_t stream) {
  return Done(FillBox(to.ptr, to.pitch, to.pitch * to.ysize, value, extent.width, extent.height, extent.depth, stream,
                      false));
}

}  // extern "C"
