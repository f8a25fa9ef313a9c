// Copies and fills. All memory is one memory that host and device address alike, so a copy is memcpy at the right moment.
// Source: HIP API documentation, "Memory management".
#include <algorithm>
#include <cstring>

#include "common/fill.h"
#include "common/size.h"
#include "hip/graph/model.h"

namespace wavesmith::hip {
namespace {

// hipDeviceAttributeMaxPitch.
constexpr size_t kMaxPitch = INT32_MAX;

// A copy of `height` × `depth` rows.
struct Copy {
  uint8_t* to = nullptr;
  const uint8_t* from = nullptr;
  size_t width = 0;
  size_t height = 1;
  size_t depth = 1;
  size_t to_pitch = 0;
  size_t from_pitch = 0;
  size_t to_slice = 0;
  size_t from_slice = 0;

  // Bytes from the first to behind the last.
  Size Extent(size_t pitch, size_t slice) const { return Size(depth - 1) * slice + Size(height - 1) * pitch + width; }
  void Run() const {
    for (size_t z = 0; z < depth; z++) {
      for (size_t y = 0; y < height; y++) {
        std::memmove(to + z * to_slice + y * to_pitch, from + z * from_slice + y * from_pitch, width);
      }
    }
  }
};

// hipMemcpyDeviceToDeviceNoCU (1024) is a copy like another here.
bool IsKind(hipMemcpyKind kind) {
  return static_cast<unsigned>(kind) <= hipMemcpyDefault || static_cast<int>(kind) == 1024;
}

hipError_t CheckCopy(const void* to, const void* from, size_t size, hipMemcpyKind kind) {
  if (!IsKind(kind)) return hipErrorInvalidMemcpyDirection;
  if (size == 0) return hipSuccess;
  return to == nullptr || from == nullptr ? hipErrorInvalidValue : hipSuccess;
}

bool IsPageable(const void* pointer);

// Copies of other forms than ranges, and fills of several rows, take no modelled time.
hipError_t Tell(Stream* stream, const NodeParams& node) {
  if (const auto* const copy = std::get_if<MemcpyNode>(&node)) {
    if (copy->form != MemcpyNode::Form::kRange) return hipSuccess;
    const bool is_host = IsPageable(copy->to) || IsPageable(copy->from);
    return stream->Copied(is_host ? Stream::CopyKind::kHost : Stream::CopyKind::kDevice, copy->to, copy->from,
                          copy->size);
  }
  if (const auto* const fill = std::get_if<MemsetNode>(&node)) {
    return stream->Copied(Stream::CopyKind::kFill, fill->params.dst, nullptr,
                          fill->params.width * fill->params.elementSize * fill->params.height);
  }
  return hipSuccess;
}

}  // namespace

hipError_t InStream(hipStream_t handle, bool wait, std::function<void()> work, NodeParams node) {
  if (IsCapturing(handle)) return wait ? hipErrorStreamCaptureUnsupported : CaptureNode(handle, std::move(node));
  hipError_t error;
  Stream* const stream = StreamOf(handle, &error);
  if (stream == nullptr) return error;
  if (!wait) {
    error = stream->Host(std::move(work));
    return error == hipSuccess ? Tell(stream, node) : error;
  }
  error = stream->Synchronize();
  if (error != hipSuccess) return error;
  work();
  return Tell(stream, node);
}

namespace {

// Memory that only the host uses may change or go as soon as an asynchronous copy's call returns.
bool IsPageable(const void* pointer) {
  MemoryInfo info;
  hsa_amd_pointer_info_t known{};
  known.size = sizeof known;
  if (FindMemory(pointer, &info)) return false;
  return hsa_amd_pointer_info(const_cast<void*>(pointer), &known, nullptr, nullptr, nullptr) != HSA_STATUS_SUCCESS ||
         known.type == HSA_EXT_POINTER_TYPE_UNKNOWN;
}

// Who has to wait for a copy.
struct Side {
  bool device = false;
  bool host = false;
  bool sync = false;
};
Side SideOf(const void* pointer) {
  MemoryInfo info;
  if (!FindMemory(pointer, &info)) return {false, IsPageable(pointer), false};
  return {info.kind == MemoryKind::kDevice, info.kind == MemoryKind::kHost || info.kind == MemoryKind::kRegistered,
          info.sync_operations};
}

hipError_t RunCopy(const Copy& copy, hipStream_t stream, bool wait, const MemcpyNode& node) {
  if (!Fits(copy.to, copy.Extent(copy.to_pitch, copy.to_slice))) return hipErrorInvalidValue;
  const Size from_size = copy.Extent(copy.from_pitch, copy.from_slice);
  if (!Fits(copy.from, from_size)) return hipErrorInvalidValue;
  const auto run = [=] { copy.Run(); };
  if (IsCapturing(stream)) return InStream(stream, wait, run, node);
  const Side to = SideOf(copy.to);
  const Side from = SideOf(copy.from);
  if (copy.height == 1 && copy.depth == 1) {
    // Within the device nobody on the host waits: what comes later in the stream finds it done. The host copies its own memory at once.
    if (to.device && from.device) wait = to.sync || from.sync;
    if (to.host && from.host) wait = true;
  }
  if (wait || IsPageable(copy.to)) return InStream(stream, true, run, node);
  if (!IsPageable(copy.from)) return InStream(stream, false, run, node);
  const auto content = std::make_shared<std::vector<uint8_t>>(copy.from, copy.from + from_size.value());
  Copy staged = copy;
  staged.from = content->data();
  return InStream(stream, false, [content, staged] { staged.Run(); }, node);
}

hipError_t CopyBytes(void* to, const void* from, size_t size, hipMemcpyKind kind, hipStream_t stream, bool wait) {
  const hipError_t error = CheckCopy(to, from, size, kind);
  if (error != hipSuccess || size == 0) return error;
  return RunCopy({static_cast<uint8_t*>(to), static_cast<const uint8_t*>(from), size}, stream, wait,
                 {MemcpyNode::Form::kRange, {}, to, from, size, kind});
}

template <typename T>
hipError_t Fill(void* to, T value, size_t count, hipStream_t stream, bool wait) {
  if (count == 0) return hipSuccess;
  if (to == nullptr || reinterpret_cast<uintptr_t>(to) % sizeof(T) != 0) return hipErrorInvalidValue;
  MemoryInfo info;
  if (!FindMemory(to, &info) || !Fits(to, Size(count) * sizeof(T))) return hipErrorInvalidValue;
  if (value != 0 && !wavesmith::HostHolds(to, count * sizeof(T))) return hipErrorOutOfMemory;
  return InStream(
      stream, wait && info.kind != MemoryKind::kDevice, [=] { wavesmith::Fill(static_cast<T*>(to), count, value); },
      MemsetNode{{to, sizeof(T), 1, count * sizeof(T), value, count}});
}

}  // namespace
}  // namespace wavesmith::hip

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow
using wavesmith::Size;

extern "C" {

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
  if (!IsDevice(to_device) || !IsDevice(from_device)) return Done(hipErrorInvalidDevice);
  return hipMemcpy(to, from, size, hipMemcpyDeviceToDevice);
}
hipError_t hipMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t size,
                              hipStream_t stream) {
  if (!IsDevice(to_device) || !IsDevice(from_device)) return Done(hipErrorInvalidDevice);
  return hipMemcpyAsync(to, from, size, hipMemcpyDeviceToDevice, stream);
}

namespace {

hipError_t Copy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                  hipMemcpyKind kind, hipStream_t stream, bool wait) {
  const bool empty = width == 0 || height == 0;
  const hipError_t error = CheckCopy(to, from, empty ? 0 : 1, kind);
  if (error != hipSuccess || empty) return Done(error);
  if (width > to_pitch || width > from_pitch) return hipErrorInvalidPitchValue;
  if (to_pitch > kMaxPitch || from_pitch > kMaxPitch) return hipErrorInvalidValue;
  const Copy copy{static_cast<uint8_t*>(to), static_cast<const uint8_t*>(from), width, height, 1, to_pitch, from_pitch};
  MemcpyNode node;
  node.box.dstPtr = {to, to_pitch, width, height};
  node.box.srcPtr = {const_cast<void*>(from), from_pitch, width, height};
  node.box.extent = {width, height, 1};
  node.box.kind = kind;
  return RunCopy(copy, stream, wait, node);
}

// Where a box begins in pitched memory. False when it does not lie in its rows, or the sizes do not fit.
struct Place {
  uint8_t* first;
  size_t slice;
};
bool PlaceOf(const hipPitchedPtr& memory, const hipPos& at, const hipExtent& extent, Place* place) {
  if (memory.pitch > kMaxPitch || !(Size(at.x) + extent.width).Within(memory.pitch)) return false;
  const size_t rows = memory.ysize == 0 ? (Size(at.y) + extent.height).value() : memory.ysize;
  if (extent.depth > 1 && !(Size(at.y) + extent.height).Within(rows)) return false;
  const Size slice = Size(memory.pitch) * rows;
  const Size offset = slice * at.z + Size(memory.pitch) * at.y + at.x;
  const Size end = offset + slice * (extent.depth - 1) + Size(memory.pitch) * (extent.height - 1) + extent.width;
  if (!Fits(memory.ptr, end) || !(Size(reinterpret_cast<uintptr_t>(memory.ptr)) + end).ok()) return false;
  *place = {static_cast<uint8_t*>(memory.ptr) + offset.value(), slice.value()};
  return true;
}

// One side of a box as memory: an array's rows, or the pointer's. Without a pitch rows follow each other.
hipError_t MemorySide(hipArray_t array, const hipExtent& texels, size_t width, hipPitchedPtr* memory, hipPos* at) {
  if ((array != nullptr) == (memory->ptr != nullptr)) return hipErrorInvalidValue;
  if (array != nullptr) return ResolveArray(array, texels, memory, at) ? hipSuccess : hipErrorInvalidValue;
  if (memory->pitch == 0) memory->pitch = at->x + width;
  return memory->pitch < width ? hipErrorInvalidPitchValue : hipSuccess;
}

// The copy that a box means; nothing to copy is an empty one.
hipError_t Plan3D(const hipMemcpy3DParms* p, Copy* copy) {
  *copy = {};
  if (p == nullptr) return hipErrorInvalidValue;
  if (!IsKind(p->kind)) return hipErrorInvalidMemcpyDirection;
  hipExtent e = p->extent;
  if (e.width == 0 || e.height == 0 || e.depth == 0) return Done(hipSuccess);
  // Where an array takes part the extent is in its texels.
  const hipArray_t array = p->srcArray != nullptr ? p->srcArray : p->dstArray;
  if (array != nullptr) {
    const size_t texel = TexelBytes(array);
    if (texel == 0) return hipErrorInvalidHandle;
    if (p->srcArray != nullptr && p->dstArray != nullptr && TexelBytes(p->dstArray) != texel) {
      return hipErrorInvalidValue;
    }
    const Size width = Size(e.width) * texel;
    if (!width.ok()) return hipErrorInvalidValue;
    e.width = width.value();
  }
  hipPitchedPtr to_memory = p->dstPtr;
  hipPitchedPtr from_memory = p->srcPtr;
  hipPos to_at = p->dstPos;
  hipPos from_at = p->srcPos;
  hipError_t error = MemorySide(p->dstArray, p->extent, e.width, &to_memory, &to_at);
  if (error == hipSuccess) error = MemorySide(p->srcArray, p->extent, e.width, &from_memory, &from_at);
  if (error != hipSuccess) return error;
  Place to{};
  Place from{};
  if (!PlaceOf(to_memory, to_at, e, &to) || !PlaceOf(from_memory, from_at, e, &from)) return hipErrorInvalidValue;
  *copy = {to.first, from.first, e.width, e.height, e.depth, to_memory.pitch, from_memory.pitch, to.slice, from.slice};
  return Done(hipSuccess);
}

hipError_t Copy3D(const hipMemcpy3DParms* p, hipStream_t stream, bool wait) {
  Copy copy;
  const hipError_t error = Plan3D(p, &copy);
  if (error != hipSuccess || copy.to == nullptr) return Done(error);
  return RunCopy(copy, stream, wait, {MemcpyNode::Form::kBox, *p});
}

}  // namespace
}  // extern "C"

namespace wavesmith::hip {

hipError_t CheckCopy3D(const hipMemcpy3DParms* p) {
  Copy copy;
  return Plan3D(p, &copy);
}
hipError_t CopyBox(const hipMemcpy3DParms* p, hipStream_t stream, bool wait) { return Copy3D(p, stream, wait); }
hipError_t CheckDirection(const void*, const void*, hipMemcpyKind kind) {
  return IsKind(kind) ? hipSuccess : hipErrorInvalidMemcpyDirection;
}

}  // namespace wavesmith::hip

extern "C" {

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
  if (p->srcMemoryType == types.array || p->dstMemoryType == types.array) {
    hipMemcpy3DParms box;
    const hipError_t error = ToBox(*p, &box);
    return error == hipSuccess ? Copy3D(&box, stream, wait) : error;
  }
  const void* const from = p->srcMemoryType == types.host ? p->srcHost : p->srcDevice;
  void* const to = p->dstMemoryType == types.host ? p->dstHost : p->dstDevice;
  if (from == nullptr || to == nullptr) return hipErrorInvalidValue;
  const Size from_row = Size(p->srcXInBytes) + p->WidthInBytes;
  const Size to_row = Size(p->dstXInBytes) + p->WidthInBytes;
  const Size from_pitch = p->srcPitch == 0 ? from_row : p->srcPitch;
  const Size to_pitch = p->dstPitch == 0 ? to_row : p->dstPitch;
  const Size from_offset = from_pitch * p->srcY + p->srcXInBytes;
  const Size to_offset = to_pitch * p->dstY + p->dstXInBytes;
  // An offset may not lead out of the allocation that the pointer is in.
  if (!Fits(from, from_offset) || !Fits(to, to_offset)) return hipErrorInvalidValue;
  if (!from_row.Within(from_pitch.value()) || !to_row.Within(to_pitch.value())) return hipErrorInvalidValue;
  return Copy2D(static_cast<uint8_t*>(to) + to_offset.value(), to_pitch.value(),
                static_cast<const uint8_t*>(from) + from_offset.value(), from_pitch.value(), p->WidthInBytes, p->Height,
                hipMemcpyDefault, stream, wait);
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

// `rows` of `pitch` bytes lie between two slices.
hipError_t FillBox(void* to, size_t pitch, size_t rows, int value, size_t width, size_t height, size_t depth,
                   hipStream_t stream, bool wait) {
  if (width == 0 || height == 0 || depth == 0) return Done(hipSuccess);
  if (to == nullptr || width > pitch || (depth > 1 && height > rows)) return hipErrorInvalidValue;
  MemoryInfo info;
  const Size extent = Size(pitch) * rows * (depth - 1) + Size(pitch) * (height - 1) + width;
  if (!FindMemory(to, &info) || !Fits(to, extent)) return hipErrorInvalidValue;
  if (value != 0 && !wavesmith::HostHolds(to, extent.value())) return hipErrorOutOfMemory;
  const size_t slice = pitch * rows;
  const auto fill = [=] {
    if (width == pitch && (depth == 1 || rows == height)) {
      return wavesmith::Fill(static_cast<uint8_t*>(to), width * height * depth, static_cast<uint8_t>(value));
    }
    for (size_t z = 0; z < depth; z++) {
      for (size_t y = 0; y < height; y++) std::memset(static_cast<uint8_t*>(to) + z * slice + y * pitch, value, width);
    }
  };
  // A node fills one slice, or slices that follow each other without a gap.
  const bool plane = depth == 1 || rows == height;
  const hipMemsetParams params{to, 1, height * depth, pitch, static_cast<uint8_t>(value), width};
  NodeParams node =
      WorkNode{[=](hipStream_t s) { return FillBox(to, pitch, rows, value, width, height, depth, s, false); }};
  if (plane) node = MemsetNode{params};
  return InStream(stream, wait && info.kind != MemoryKind::kDevice, fill, std::move(node));
}

}  // namespace

hipError_t hipMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return Done(FillBox(to, pitch, 0, value, width, height, 1, nullptr, true));
}
hipError_t hipMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height, hipStream_t stream) {
  return Done(FillBox(to, pitch, 0, value, width, height, 1, stream, false));
}
hipError_t hipMemset3D(hipPitchedPtr to, int value, hipExtent extent) {
  return Done(FillBox(to.ptr, to.pitch, to.ysize, value, extent.width, extent.height, extent.depth, nullptr, true));
}
hipError_t hipMemset3DAsync(hipPitchedPtr to, int value, hipExtent extent, hipStream_t stream) {
  return Done(FillBox(to.ptr, to.pitch, to.ysize, value, extent.width, extent.height, extent.depth, stream, false));
}

}  // extern "C"
