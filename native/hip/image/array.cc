// Arrays: making, asking and freeing them. Source: hipamd/src/hip_memory.cpp of ROCm/clr.
#include <algorithm>

#include "hip/image/image.h"

namespace wavesmith::hip {
namespace {

std::mutex mutex;
// Never destroyed: work that a stream still has ends after the destructors of a program's and of this library's objects.
auto& arrays = *new std::set<const hipArray*>;

// Whether an extent is of one of the forms there are: a line, a plane, a box, layers of lines or planes.
bool IsExtent(const HIP_ARRAY3D_DESCRIPTOR& d) {
  const bool layered = (d.Flags & hipArrayLayered) != 0;
  if (d.Width == 0 || (layered && d.Depth == 0)) return false;
  return layered || d.Height != 0 || d.Depth == 0;
}
bool IsWithin(const HIP_ARRAY3D_DESCRIPTOR& d) {
  return d.Width <= kMostTexels && d.Height <= kMostTexels && d.Depth <= kMostLayers;
}

hipError_t CreateArray(hipArray_t* handle, const HIP_ARRAY3D_DESCRIPTOR& d) {
  constexpr unsigned kFlags = hipArrayLayered | hipArraySurfaceLoadStore | hipArrayTextureGather;
  const TexelFormat texel{d.Format, d.NumChannels};
  if (handle == nullptr || (d.Flags & ~kFlags) != 0) return hipErrorInvalidValue;
  // A gather is of planes.
  const bool plane = d.Width != 0 && d.Height != 0 && d.Depth == 0;
  if ((d.Flags & hipArrayTextureGather) != 0 && !plane) return hipErrorInvalidValue;
  if (!IsFormat(texel) || !IsExtent(d)) return hipErrorInvalidValue;
  const hipError_t missing = NeedImages();
  if (missing != hipSuccess) return missing;
  if (!IsWithin(d)) return hipErrorInvalidValue;
  auto made = std::make_unique<Array>();
  made->desc = DescOf(texel);
  made->width = static_cast<unsigned>(d.Width);
  made->height = static_cast<unsigned>(d.Height);
  made->depth = static_cast<unsigned>(d.Depth);
  made->Format = d.Format;
  made->NumChannels = d.NumChannels;
  made->made_flags = d.Flags;
  made->element = texel.Bytes();
  made->pitch = Size(made->width * made->element).RoundedUp(kImageAlignment).value();
  const Size bytes = Size(made->pitch) * made->rows() * made->slices();
  if (!bytes.ok()) return hipErrorOutOfMemory;
  const hipError_t error = AllocateMemory(bytes.value(), MemoryKind::kDevice, 0, &made->data);
  if (error != hipSuccess) return error;
  const std::lock_guard lock(mutex);
  *handle = made.release();
  arrays.insert(*handle);
  return hipSuccess;
}
hipError_t CreateFromDesc(hipArray_t* handle, const hipChannelFormatDesc* desc, const hipExtent& e, unsigned flags) {
  if (handle == nullptr || desc == nullptr || !IsChannelDesc(*desc)) return hipErrorInvalidValue;
  const TexelFormat texel = FormatOf(*desc);
  return CreateArray(handle, {e.width, e.height, e.depth, texel.format, texel.channels, flags});
}

hipError_t Destroy(hipArray_t handle) {
  if (handle == nullptr) return hipErrorInvalidValue;
  {
    const std::lock_guard lock(mutex);
    if (arrays.erase(handle) == 0) return hipErrorContextIsDestroyed_;
  }
  const std::unique_ptr<Array> array(static_cast<Array*>(handle));
  return FreeMemory(array->data, MemoryKind::kDevice);
}

hipError_t Describe(hipArray_t handle, HIP_ARRAY3D_DESCRIPTOR* d) {
  const Array* const array = FindArray(handle);
  if (array == nullptr) return hipErrorInvalidHandle;
  *d = {array->width, array->height, array->depth, array->Format, array->NumChannels, array->made_flags};
  return hipSuccess;
}

}  // namespace

hipError_t NeedImages() {
  hipError_t error;
  const Device* const device = GetDevice(&error);
  if (device == nullptr) return error;
  return HasImages(*device) ? hipSuccess : hipErrorNotSupported;
}
Array* FindArray(hipArray_const_t handle) {
  const std::lock_guard lock(mutex);
  return arrays.contains(handle) ? static_cast<Array*>(const_cast<hipArray*>(handle)) : nullptr;
}

}  // namespace wavesmith::hip

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

extern "C" {

hipError_t hipMallocArray(hipArray_t* array, const hipChannelFormatDesc* desc, size_t width, size_t height,
                          unsigned flags) {
  const hipError_t unsafe = CheckUnsafe();
  return Done(unsafe == hipSuccess ? CreateFromDesc(array, desc, {width, height, 0}, flags) : unsafe);
}
hipError_t hipMalloc3DArray(hipArray_t* array, const hipChannelFormatDesc* desc, hipExtent extent, unsigned flags) {
  const hipError_t unsafe = CheckUnsafe();
  return Done(unsafe == hipSuccess ? CreateFromDesc(array, desc, extent, flags) : unsafe);
}
hipError_t hipArrayCreate(hipArray_t* array, const HIP_ARRAY_DESCRIPTOR* d) {
  if (d == nullptr) return Done(hipErrorInvalidValue);
  const hipError_t unsafe = CheckUnsafe();
  if (unsafe != hipSuccess) return Done(unsafe);
  return Done(CreateArray(array, {d->Width, d->Height, 0, d->Format, d->NumChannels, hipArrayDefault}));
}
hipError_t hipArray3DCreate(hipArray_t* array, const HIP_ARRAY3D_DESCRIPTOR* d) {
  const hipError_t unsafe = CheckUnsafe();
  if (unsafe != hipSuccess) return Done(unsafe);
  return Done(d == nullptr ? hipErrorInvalidValue : CreateArray(array, *d));
}
hipError_t hipFreeArray(hipArray_t array) {
  const hipError_t unsafe = CheckUnsafe();
  return Done(unsafe == hipSuccess ? Destroy(array) : unsafe);
}
hipError_t hipArrayDestroy(hipArray_t array) { return hipFreeArray(array); }

hipError_t hipArray3DGetDescriptor(HIP_ARRAY3D_DESCRIPTOR* d, hipArray_t array) {
  if (array == nullptr) return Done(hipErrorInvalidHandle);
  return Done(d == nullptr ? hipErrorInvalidValue : Describe(array, d));
}
hipError_t hipArrayGetDescriptor(HIP_ARRAY_DESCRIPTOR* d, hipArray_t array) {
  if (array == nullptr) return Done(hipErrorInvalidHandle);
  if (d == nullptr) return Done(hipErrorInvalidValue);
  HIP_ARRAY3D_DESCRIPTOR all;
  const hipError_t error = Describe(array, &all);
  if (error == hipSuccess) *d = {all.Width, all.Height, all.Format, all.NumChannels};
  return Done(error);
}
hipError_t hipArrayGetInfo(hipChannelFormatDesc* desc, hipExtent* extent, unsigned* flags, hipArray_t array) {
  if (array == nullptr) return Done(hipErrorInvalidHandle);
  if (desc == nullptr && extent == nullptr && flags == nullptr) return Done(hipSuccess);
  HIP_ARRAY3D_DESCRIPTOR all;
  const hipError_t error = Describe(array, &all);
  if (error != hipSuccess) return Done(error);
  if (desc != nullptr) *desc = DescOf({all.Format, all.NumChannels});
  if (extent != nullptr) *extent = {all.Width, all.Height, all.Depth};
  if (flags != nullptr) *flags = all.Flags;
  return Done(hipSuccess);
}
hipError_t hipGetChannelDesc(hipChannelFormatDesc* desc, hipArray_const_t handle) {
  if (desc == nullptr || handle == nullptr) return Done(hipErrorInvalidValue);
  const hipError_t missing = NeedImages();
  if (missing != hipSuccess) return Done(missing);
  const Array* const array = FindArray(handle);
  if (array == nullptr) return Done(hipErrorInvalidHandle);
  *desc = array->desc;
  return Done(hipSuccess);
}
hipError_t hipDeviceGetTexture1DLinearMaxWidth(size_t* texels, const hipChannelFormatDesc* desc, int number) {
  if (texels == nullptr || desc == nullptr) return Done(hipErrorInvalidValue);
  hipError_t error;
  const Device* const device = DeviceAt(number, &error);
  if (device == nullptr) return Done(error);
  const int64_t bits = int64_t{desc->x} + desc->y + desc->z + desc->w;
  if (bits < 8) return Done(hipErrorInvalidValue);
  *texels = (HasImages(*device) ? INT32_MAX : 0) / (static_cast<size_t>(bits) / 8);
  return Done(hipSuccess);
}

// AMD's runtime has no mipmaps on Linux, on any chip: an array of levels cannot be made, so no handle is one.
hipError_t hipMallocMipmappedArray(hipMipmappedArray_t* array, const hipChannelFormatDesc* desc, hipExtent, unsigned,
                                   unsigned) {
  if (array == nullptr || desc == nullptr || !IsChannelDesc(*desc)) return Done(hipErrorInvalidValue);
  return Done(hipErrorNotSupported);
}
hipError_t hipMipmappedArrayCreate(hipMipmappedArray_t*, HIP_ARRAY3D_DESCRIPTOR*, unsigned) {
  return Done(hipErrorNotSupported);
}
hipError_t hipFreeMipmappedArray(hipMipmappedArray_t) { return Done(hipErrorInvalidValue); }
hipError_t hipMipmappedArrayDestroy(hipMipmappedArray_t) { return Done(hipErrorInvalidValue); }
hipError_t hipGetMipmappedArrayLevel(hipArray_t* level, hipMipmappedArray_const_t array, unsigned) {
  return Done(level != nullptr && array == nullptr ? hipErrorInvalidHandle : hipErrorInvalidValue);
}
hipError_t hipMipmappedArrayGetLevel(hipArray_t* level, hipMipmappedArray_t array, unsigned number) {
  return hipGetMipmappedArrayLevel(level, array, number);
}
hipError_t hipMipmappedArrayGetMemoryRequirements(void* requirements, hipMipmappedArray_t array, hipDevice_t) {
  return Done(requirements != nullptr && array == nullptr ? hipErrorInvalidHandle : hipErrorInvalidValue);
}
// Sparse arrays: AMD's runtime has none.
hipError_t hipMemMapArrayAsync(hipArrayMapInfo* list, unsigned count, hipStream_t) {
  return Done(list == nullptr || count == 0 ? hipErrorInvalidValue : hipErrorNotSupported);
}

}  // extern "C"
