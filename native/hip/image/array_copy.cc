// Copies to and from arrays: other forms of copy.cc's boxes. Source: hipamd/src/hip_memory.cpp of ROCm/clr.
#include "hip/graph/model.h"
#include "hip/image/image.h"

namespace wavesmith::hip {
namespace {

// One side of a copy of rows. An array has no pitch of its own here, memory without one has rows that follow each other.
struct Rows {
  hipArray_const_t array = nullptr;
  const void* memory = nullptr;
  size_t pitch = 0;
  size_t x = 0;  // bytes
  size_t y = 0;
};

// Source and target of an array's copy have to be what the other side of its check says.
hipError_t CheckMemory(const void* memory, size_t pitch, size_t width) {
  if (memory == nullptr) return hipErrorInvalidValue;
  return pitch == 0 || pitch < width ? hipErrorInvalidPitchValue : hipSuccess;
}
hipError_t CheckArray(hipArray_const_t handle, size_t x, size_t y, size_t width, size_t height) {
  if (handle == nullptr) return hipErrorInvalidHandle;
  const Array* const array = FindArray(handle);
  if (array == nullptr) return hipErrorInvalidHandle;
  const bool inside =
      (Size(x) + width).Within(array->width * array->element) && (Size(y) + height).Within(array->rows());
  return inside ? hipSuccess : hipErrorInvalidValue;
}
hipError_t CheckKind(hipMemcpyKind kind) { return CheckDirection(nullptr, nullptr, kind); }

// Rows of `width` bytes between two sides, of which one at least is an array.
hipError_t CopyRows(const Rows& to, const Rows& from, size_t width, size_t height, hipMemcpyKind kind,
                    hipStream_t stream, bool wait) {
  if (width == 0 || height == 0) return hipSuccess;
  hipMemcpy3DParms box{};
  const Array* const target = FindArray(to.array);
  const Array* const source = FindArray(from.array);
  if ((to.array != nullptr && target == nullptr) || (from.array != nullptr && source == nullptr)) {
    return hipErrorInvalidHandle;
  }
  const size_t element = (target != nullptr ? target : source)->element;
  // An array's places and a copy's width are in texels.
  box.dstArray = const_cast<hipArray_t>(to.array);
  box.srcArray = const_cast<hipArray_t>(from.array);
  box.dstPos = {target == nullptr ? to.x : to.x / target->element, to.y, 0};
  box.srcPos = {source == nullptr ? from.x : from.x / source->element, from.y, 0};
  if (target == nullptr) box.dstPtr = {const_cast<void*>(to.memory), to.pitch, to.pitch, 0};
  if (source == nullptr) box.srcPtr = {const_cast<void*>(from.memory), from.pitch, from.pitch, 0};
  box.extent = {width / element, height, 1};
  box.kind = kind;
  return CopyBox(&box, stream, wait);
}

hipError_t ToArray(hipArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height,
                   hipMemcpyKind kind, hipStream_t stream, bool wait) {
  hipError_t error = CheckKind(kind);
  if (error == hipSuccess) error = CheckMemory(from, pitch, width);
  if (error == hipSuccess) error = CheckArray(to, x, y, width, height);
  if (error != hipSuccess) return error;
  return CopyRows({to, nullptr, 0, x, y}, {nullptr, from, pitch}, width, height, kind, stream, wait);
}
hipError_t FromArray(void* to, size_t pitch, hipArray_const_t from, size_t x, size_t y, size_t width, size_t height,
                     hipMemcpyKind kind, hipStream_t stream, bool wait) {
  hipError_t error = CheckKind(kind);
  if (error == hipSuccess) error = CheckArray(from, x, y, width, height);
  if (error == hipSuccess) error = CheckMemory(to, pitch, width);
  if (error != hipSuccess) return error;
  return CopyRows({nullptr, to, pitch}, {from, nullptr, 0, x, y}, width, height, kind, stream, wait);
}
// `bytes` from a place on, in whole rows of the array.
hipError_t RowsOf(hipArray_const_t handle, size_t bytes, size_t* width, size_t* height) {
  if (handle == nullptr) return hipErrorInvalidValue;
  const Array* const array = FindArray(handle);
  if (array == nullptr) return hipErrorInvalidHandle;
  *width = bytes / array->rows();
  *height = bytes / array->width / array->element;
  return hipSuccess;
}
hipError_t BytesFromArray(void* to, hipArray_const_t from, size_t x, size_t y, size_t bytes, hipMemcpyKind kind) {
  size_t width;
  size_t height;
  const hipError_t error = RowsOf(from, bytes, &width, &height);
  if (error != hipSuccess) return error;
  if (to == nullptr) return hipErrorInvalidValue;
  return CopyRows({nullptr, to, 0}, {from, nullptr, 0, x, y}, width, height, kind, nullptr, true);
}
// A part of an array's first row.
hipError_t RowToArray(hipArray_t to, size_t x, const void* from, size_t bytes, hipMemcpyKind kind, hipStream_t stream,
                      bool wait) {
  if (to == nullptr || from == nullptr) return hipErrorInvalidValue;
  return CopyRows({to, nullptr, 0, x, 0}, {nullptr, from, 0}, bytes, 1, kind, stream, wait);
}
hipError_t RowFromArray(void* to, hipArray_t from, size_t x, size_t bytes, hipMemcpyKind kind, hipStream_t stream,
                        bool wait) {
  if (to == nullptr || from == nullptr) return hipErrorInvalidValue;
  return CopyRows({nullptr, to, 0}, {from, nullptr, 0, x, 0}, bytes, 1, kind, stream, wait);
}
hipStream_t OfThread(hipStream_t stream) { return stream == nullptr ? hipStreamPerThread : stream; }

}  // namespace

bool ResolveArray(hipArray_const_t handle, const hipExtent& extent, hipPitchedPtr* memory, hipPos* at) {
  const Array* const array = FindArray(handle);
  if (array == nullptr || !(Size(at->x) + extent.width).Within(array->width)) return false;
  if (!(Size(at->y) + extent.height).Within(array->rows())) return false;
  if (!(Size(at->z) + extent.depth).Within(array->slices())) return false;
  *memory = {array->data, array->pitch, array->pitch, array->rows()};
  at->x *= array->element;
  return true;
}
size_t TexelBytes(hipArray_const_t handle) {
  const Array* const array = FindArray(handle);
  return array == nullptr ? 0 : array->element;
}

}  // namespace wavesmith::hip

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

extern "C" {

hipError_t hipMemcpy2DToArray(hipArray* to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                              size_t height, hipMemcpyKind kind) {
  return Done(ToArray(to, x, y, from, pitch, width, height, kind, nullptr, true));
}
hipError_t hipMemcpy2DToArray_spt(hipArray* to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                  size_t height, hipMemcpyKind kind) {
  return Done(ToArray(to, x, y, from, pitch, width, height, kind, hipStreamPerThread, true));
}
hipError_t hipMemcpy2DToArrayAsync(hipArray* to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                   size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return Done(ToArray(to, x, y, from, pitch, width, height, kind, stream, false));
}
hipError_t hipMemcpy2DToArrayAsync_spt(hipArray* to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                       size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return hipMemcpy2DToArrayAsync(to, x, y, from, pitch, width, height, kind, OfThread(stream));
}
hipError_t hipMemcpy2DFromArray(void* to, size_t pitch, hipArray_const_t from, size_t x, size_t y, size_t width,
                                size_t height, hipMemcpyKind kind) {
  return Done(FromArray(to, pitch, from, x, y, width, height, kind, nullptr, true));
}
hipError_t hipMemcpy2DFromArray_spt(void* to, size_t pitch, hipArray_const_t from, size_t x, size_t y, size_t width,
                                    size_t height, hipMemcpyKind kind) {
  return Done(FromArray(to, pitch, from, x, y, width, height, kind, hipStreamPerThread, true));
}
hipError_t hipMemcpy2DFromArrayAsync(void* to, size_t pitch, hipArray_const_t from, size_t x, size_t y, size_t width,
                                     size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return Done(FromArray(to, pitch, from, x, y, width, height, kind, stream, false));
}
hipError_t hipMemcpy2DFromArrayAsync_spt(void* to, size_t pitch, hipArray_const_t from, size_t x, size_t y,
                                         size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return hipMemcpy2DFromArrayAsync(to, pitch, from, x, y, width, height, kind, OfThread(stream));
}
hipError_t hipMemcpy2DArrayToArray(hipArray_t to, size_t to_x, size_t to_y, hipArray_const_t from, size_t from_x,
                                   size_t from_y, size_t width, size_t height, hipMemcpyKind kind) {
  hipError_t error = CheckKind(kind);
  if (error == hipSuccess) error = CheckArray(from, from_x, from_y, width, height);
  if (error == hipSuccess) error = CheckArray(to, to_x, to_y, width, height);
  if (error != hipSuccess) return Done(error);
  return Done(
      CopyRows({to, nullptr, 0, to_x, to_y}, {from, nullptr, 0, from_x, from_y}, width, height, kind, nullptr, true));
}

hipError_t hipMemcpyToArray(hipArray* to, size_t x, size_t y, const void* from, size_t bytes, hipMemcpyKind kind) {
  size_t width;
  size_t height;
  const hipError_t error = RowsOf(to, bytes, &width, &height);
  if (error != hipSuccess) return Done(error);
  if (from == nullptr) return Done(hipErrorInvalidValue);
  return Done(CopyRows({to, nullptr, 0, x, y}, {nullptr, from, 0}, width, height, kind, nullptr, true));
}
hipError_t hipMemcpyFromArray(void* to, hipArray_const_t from, size_t x, size_t y, size_t bytes, hipMemcpyKind kind) {
  return Done(BytesFromArray(to, from, x, y, bytes, kind));
}
hipError_t hipMemcpyFromArray_spt(void* to, hipArray_const_t from, size_t x, size_t y, size_t bytes,
                                  hipMemcpyKind kind) {
  return Done(BytesFromArray(to, from, x, y, bytes, kind));
}

hipError_t hipMemcpyAtoA(hipArray_t to, size_t to_x, hipArray_t from, size_t from_x, size_t bytes) {
  if (to == nullptr || from == nullptr) return Done(hipErrorInvalidValue);
  return Done(CopyRows({to, nullptr, 0, to_x, 0}, {from, nullptr, 0, from_x, 0}, bytes, 1, hipMemcpyDeviceToDevice,
                       nullptr, true));
}
hipError_t hipMemcpyAtoD(hipDeviceptr_t to, hipArray_t from, size_t x, size_t bytes) {
  return Done(RowFromArray(to, from, x, bytes, hipMemcpyDeviceToDevice, nullptr, true));
}
hipError_t hipMemcpyDtoA(hipArray_t to, size_t x, hipDeviceptr_t from, size_t bytes) {
  return Done(RowToArray(to, x, from, bytes, hipMemcpyDeviceToDevice, nullptr, true));
}
hipError_t hipMemcpyAtoH(void* to, hipArray* from, size_t x, size_t bytes) {
  return Done(RowFromArray(to, from, x, bytes, hipMemcpyDeviceToHost, nullptr, true));
}
hipError_t hipMemcpyHtoA(hipArray* to, size_t x, const void* from, size_t bytes) {
  return Done(RowToArray(to, x, from, bytes, hipMemcpyHostToDevice, nullptr, true));
}
hipError_t hipMemcpyAtoHAsync(void* to, hipArray_t from, size_t x, size_t bytes, hipStream_t stream) {
  return Done(RowFromArray(to, from, x, bytes, hipMemcpyDeviceToHost, stream, false));
}
hipError_t hipMemcpyHtoAAsync(hipArray_t to, size_t x, const void* from, size_t bytes, hipStream_t stream) {
  return Done(RowToArray(to, x, from, bytes, hipMemcpyHostToDevice, stream, false));
}

}  // extern "C"
