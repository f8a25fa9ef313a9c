// Copies in the driver's words (HIP_MEMCPY3D), between devices, and fills of pitched memory by element: other forms of copy.cc's functions.
// Source: HIP API documentation, "Memory management", "Graph management".
#include <algorithm>

#include "common/fill.h"
#include "common/size.h"
#include "hip/graph/model.h"

namespace wavesmith::hip {
namespace {

// HIP_MEMCPY3D of HIP 6 and later: sizes and places in bytes. HIP 5's had 32-bit sizes.
struct DriverSide {
  size_t x;
  size_t y;
  size_t z;
  size_t level;
  int type;
  void* host;
  void* device;
  void* array;
  size_t pitch;
  size_t height;
};
struct DriverCopy {
  DriverSide from;
  DriverSide to;
  size_t width;
  size_t height;
  size_t depth;
};
static_assert(sizeof(DriverCopy) == 184);

// What a program gives, in the layout of its HIP version.
const DriverCopy* Wide(const HIP_MEMCPY3D* p, DriverCopy* wide) {
  if (p == nullptr || HipMajor() >= 6) return reinterpret_cast<const DriverCopy*>(p);
  *wide = {{p->srcXInBytes, p->srcY, p->srcZ, p->srcLOD, static_cast<int>(p->srcMemoryType),
            const_cast<void*>(p->srcHost), p->srcDevice, p->srcArray, p->srcPitch, p->srcHeight},
           {p->dstXInBytes, p->dstY, p->dstZ, p->dstLOD, static_cast<int>(p->dstMemoryType), p->dstHost, p->dstDevice,
            p->dstArray, p->dstPitch, p->dstHeight},
           p->WidthInBytes,
           p->Height,
           p->Depth};
  return wide;
}

// hipMemcpy3DPeerParms.
struct PeerCopy {
  void* from_array;
  hipPos from_at;
  hipPitchedPtr from;
  int from_device;
  void* to_array;
  hipPos to_at;
  hipPitchedPtr to;
  int to_device;
  hipExtent extent;
};

hipError_t Side(const DriverSide& side, const DriverCopy& copy, hipArray_t* array, hipPitchedPtr* memory, hipPos* at) {
  const MemoryTypes types = MemoryTypesOfHip();
  if (side.type == types.array) {
    *array = static_cast<hipArray_t>(side.array);
    const size_t texel = TexelBytes(*array);
    if (*array == nullptr) return hipErrorInvalidValue;
    if (texel == 0) return hipErrorInvalidHandle;
    *at = {side.x / texel, side.y, side.z};
    return hipSuccess;
  }
  // Unified memory has its own number in every version; it may be given as either side's pointer.
  void* const pointer = side.type == types.host ? side.host : side.device;
  if (pointer == nullptr) return hipErrorInvalidValue;
  const Size row = Size(side.x) + copy.width;
  const Size rows = Size(side.y) + copy.height;
  if (!row.ok() || !rows.ok()) return hipErrorInvalidValue;
  const size_t pitch = side.pitch == 0 ? row.value() : side.pitch;
  if (!row.Within(pitch)) return hipErrorInvalidValue;
  *memory = {pointer, pitch, pitch, side.height == 0 ? rows.value() : side.height};
  *at = {side.x, side.y, side.z};
  return hipSuccess;
}
hipMemcpyKind KindOf(const DriverCopy& copy) {
  const int host = MemoryTypesOfHip().host;
  if (copy.from.type == host) return copy.to.type == host ? hipMemcpyHostToHost : hipMemcpyHostToDevice;
  return copy.to.type == host ? hipMemcpyDeviceToHost : hipMemcpyDeviceToDevice;
}
hipError_t ToBox(const DriverCopy* copy, hipMemcpy3DParms* box) {
  if (copy == nullptr) return hipErrorInvalidValue;
  *box = {};
  hipError_t error = Side(copy->from, *copy, &box->srcArray, &box->srcPtr, &box->srcPos);
  if (error == hipSuccess) error = Side(copy->to, *copy, &box->dstArray, &box->dstPtr, &box->dstPos);
  // Where an array takes part the extent is in its texels.
  const hipArray_t array = box->srcArray != nullptr ? box->srcArray : box->dstArray;
  const size_t texel = array == nullptr || error != hipSuccess ? 1 : TexelBytes(array);
  box->extent = {copy->width / texel, copy->height, copy->depth};
  box->kind = KindOf(*copy);
  return error;
}
DriverSide SideOf(hipArray_t array, const hipPitchedPtr& memory, const hipPos& at, bool is_host) {
  const MemoryTypes types = MemoryTypesOfHip();
  if (array != nullptr) {
    return {at.x * TexelBytes(array), at.y, at.z, 0, types.array, nullptr, nullptr, array, 0, 0};
  }
  return {at.x,
          at.y,
          at.z,
          0,
          is_host ? types.host : types.device,
          is_host ? memory.ptr : nullptr,
          is_host ? nullptr : memory.ptr,
          nullptr,
          memory.pitch,
          memory.ysize};
}
DriverCopy FromBox(const hipMemcpy3DParms& box) {
  const bool from_host = box.kind == hipMemcpyHostToDevice || box.kind == hipMemcpyHostToHost;
  const bool to_host = box.kind == hipMemcpyDeviceToHost || box.kind == hipMemcpyHostToHost;
  const hipArray_t array = box.srcArray != nullptr ? box.srcArray : box.dstArray;
  return {SideOf(box.srcArray, box.srcPtr, box.srcPos, from_host),
          SideOf(box.dstArray, box.dstPtr, box.dstPos, to_host),
          box.extent.width * (array == nullptr ? 1 : TexelBytes(array)), box.extent.height, box.extent.depth};
}

}  // namespace

hipError_t ToBox(const hip_Memcpy2D& p, hipMemcpy3DParms* box) {
  const DriverSide from{
      p.srcXInBytes, p.srcY,     0,          0, static_cast<int>(p.srcMemoryType), const_cast<void*>(p.srcHost),
      p.srcDevice,   p.srcArray, p.srcPitch, 0};
  const DriverSide to{p.dstXInBytes, p.dstY,      0,          0,          static_cast<int>(p.dstMemoryType),
                      p.dstHost,     p.dstDevice, p.dstArray, p.dstPitch, 0};
  const DriverCopy copy{from, to, p.WidthInBytes, p.Height, 1};
  return ToBox(&copy, box);
}

namespace {

// Fills rows of a plane with elements of T, in stream order.
template <typename T>
hipError_t FillPlane(void* to, size_t pitch, T value, size_t width, size_t height, hipStream_t stream, bool wait) {
  if (width == 0 || height == 0) return hipSuccess;
  const Size row = Size(width) * sizeof(T);
  if (to == nullptr || reinterpret_cast<uintptr_t>(to) % sizeof(T) != 0 || !row.ok()) return hipErrorInvalidValue;
  if (height > 1 && (!row.Within(pitch) || pitch % sizeof(T) != 0)) return hipErrorInvalidValue;
  MemoryInfo info;
  const Size extent = Size(pitch) * (height - 1) + row;
  if (!FindMemory(to, &info) || !Fits(to, extent)) return hipErrorInvalidValue;
  if (value != 0 && !wavesmith::HostHolds(to, extent.value())) return hipErrorOutOfMemory;
  const auto fill = [=] {
    if (width * sizeof(T) == pitch) return wavesmith::Fill(static_cast<T*>(to), width * height, value);
    for (size_t y = 0; y < height; y++) {
      std::fill_n(reinterpret_cast<T*>(static_cast<uint8_t*>(to) + y * pitch), width, value);
    }
  };
  return InStream(stream, wait && info.kind != MemoryKind::kDevice, fill,
                  MemsetNode{{to, sizeof(T), height, pitch, value, width}});
}

}  // namespace
}  // namespace wavesmith::hip

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

extern "C" {

hipError_t hipDrvMemcpy3D(const HIP_MEMCPY3D* given) {
  DriverCopy wide;
  const DriverCopy* const copy = Wide(given, &wide);
  hipMemcpy3DParms box;
  const hipError_t error = ToBox(copy, &box);
  return error == hipSuccess ? hipMemcpy3D(&box) : Done(error);
}
hipError_t hipDrvMemcpy3DAsync(const HIP_MEMCPY3D* given, hipStream_t stream) {
  DriverCopy wide;
  const DriverCopy* const copy = Wide(given, &wide);
  hipMemcpy3DParms box;
  const hipError_t error = ToBox(copy, &box);
  return error == hipSuccess ? hipMemcpy3DAsync(&box, stream) : Done(error);
}
hipError_t hipDrvMemcpy2DUnaligned(const hip_Memcpy2D* copy) { return hipMemcpyParam2D(copy); }

hipError_t hipMemcpy3DPeerAsync(const PeerCopy* copy, hipStream_t stream) {
  if (copy == nullptr) return Done(hipErrorInvalidValue);
  if (!IsDevice(copy->from_device) || !IsDevice(copy->to_device)) return Done(hipErrorInvalidDevice);
  hipMemcpy3DParms box{};
  box.srcArray = static_cast<hipArray_t>(copy->from_array);
  box.dstArray = static_cast<hipArray_t>(copy->to_array);
  box.srcPtr = copy->from;
  box.srcPos = copy->from_at;
  box.dstPtr = copy->to;
  box.dstPos = copy->to_at;
  box.extent = copy->extent;
  box.kind = hipMemcpyDeviceToDevice;
  return hipMemcpy3DAsync(&box, stream);
}
hipError_t hipMemcpy3DPeer(const PeerCopy* copy) {
  const hipError_t error = hipMemcpy3DPeerAsync(copy, nullptr);
  return error == hipSuccess ? hipStreamSynchronize(nullptr) : error;
}

hipError_t hipDrvGraphAddMemcpyNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                    size_t count, const DriverCopy* copy, hipCtx_t) {
  hipMemcpy3DParms box;
  const hipError_t error = ToBox(copy, &box);
  return error == hipSuccess ? hipGraphAddMemcpyNode(node, graph, dependencies, count, &box) : Done(error);
}
hipError_t hipDrvGraphMemcpyNodeGetParams(hipGraphNode_t node, DriverCopy* copy) {
  hipMemcpy3DParms box;
  if (copy == nullptr) return Done(hipErrorInvalidValue);
  const hipError_t error = hipGraphMemcpyNodeGetParams(node, &box);
  if (error == hipSuccess) *copy = FromBox(box);
  return Done(error);
}
hipError_t hipDrvGraphMemcpyNodeSetParams(hipGraphNode_t node, const DriverCopy* copy) {
  hipMemcpy3DParms box;
  const hipError_t error = ToBox(copy, &box);
  return error == hipSuccess ? hipGraphMemcpyNodeSetParams(node, &box) : Done(error);
}
hipError_t hipDrvGraphExecMemcpyNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const DriverCopy* copy,
                                              hipCtx_t) {
  hipMemcpy3DParms box;
  const hipError_t error = ToBox(copy, &box);
  return error == hipSuccess ? hipGraphExecMemcpyNodeSetParams(exec, node, &box) : Done(error);
}

hipError_t hipMemsetD2D8(hipDeviceptr_t to, size_t pitch, unsigned char value, size_t width, size_t height) {
  return Done(FillPlane<uint8_t>(to, pitch, value, width, height, nullptr, true));
}
hipError_t hipMemsetD2D8Async(hipDeviceptr_t to, size_t pitch, unsigned char value, size_t width, size_t height,
                              hipStream_t stream) {
  return Done(FillPlane<uint8_t>(to, pitch, value, width, height, stream, false));
}
hipError_t hipMemsetD2D16(hipDeviceptr_t to, size_t pitch, unsigned short value, size_t width, size_t height) {
  return Done(FillPlane<uint16_t>(to, pitch, value, width, height, nullptr, true));
}
hipError_t hipMemsetD2D16Async(hipDeviceptr_t to, size_t pitch, unsigned short value, size_t width, size_t height,
                               hipStream_t stream) {
  return Done(FillPlane<uint16_t>(to, pitch, value, width, height, stream, false));
}
hipError_t hipMemsetD2D32(hipDeviceptr_t to, size_t pitch, unsigned value, size_t width, size_t height) {
  return Done(FillPlane<uint32_t>(to, pitch, value, width, height, nullptr, true));
}
hipError_t hipMemsetD2D32Async(hipDeviceptr_t to, size_t pitch, unsigned value, size_t width, size_t height,
                               hipStream_t stream) {
  return Done(FillPlane<uint32_t>(to, pitch, value, width, height, stream, false));
}

}  // extern "C"
