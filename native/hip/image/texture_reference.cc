// Texture references: a program's variable and its twin in device memory, which kernels read the texture object from. Deprecated in HIP, and
// gone from the headers of HIP 7. Source: hipamd/src/hip_texture.cpp of ROCm/clr.
#include <cstring>

#include "hip/image/image.h"

namespace wavesmith::hip {
namespace {

std::mutex mutex;
// The device's twins of references that hipModuleGetTexRef gave, which live there too.
// Never destroyed: work that a stream still has ends after the destructors of a program's and of this library's objects.
struct ModuleReference {
  std::unique_ptr<textureReference> reference;
  Variable twin;
};
auto& references = *new std::map<std::pair<const Module*, std::string>, ModuleReference>;

hipTextureDesc SamplingOf(const textureReference& r) {
  hipTextureDesc t{};
  std::memcpy(t.addressMode, r.addressMode, sizeof t.addressMode);
  t.filterMode = r.filterMode;
  t.readMode = r.readMode;
  t.sRGB = r.sRGB;
  t.normalizedCoords = r.normalized;
  CopyLevels(t, r);
  return t;
}

// Where a reference of a loaded module is on the device.
hipError_t TwinOf(const textureReference* reference, Variable* twin) {
  const std::lock_guard lock(mutex);
  for (const auto& [name, entry] : references) {
    if (entry.reference.get() != reference) continue;
    *twin = entry.twin;
    return hipSuccess;
  }
  return hipErrorNotFound;
}

// Bytes from the last aligned place to a pointer. One that is not aligned needs `offset`.
hipError_t AlignmentOf(size_t* offset, const void* pointer) {
  const hipError_t missing = NeedImages();
  if (missing != hipSuccess) return missing;
  const size_t past = reinterpret_cast<uintptr_t>(pointer) % kImageAlignment;
  if (past != 0 && offset == nullptr) return hipErrorInvalidValue;
  if (offset != nullptr) *offset = past;
  return hipSuccess;
}
void* Aligned(const void* pointer) {
  return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(pointer) & ~(kImageAlignment - 1));
}

// The reference reads a resource from now on; its twin is told.
hipError_t Bind(const textureReference* given, const Variable& twin, const hipResourceDesc& resource,
                const hipResourceViewDesc* view) {
  auto* const reference = const_cast<textureReference*>(given);
  hipError_t error = DestroyTexture(reference->textureObject);
  if (error != hipSuccess) return error;
  reference->textureObject = nullptr;
  const hipTextureDesc texture = SamplingOf(*reference);
  error = CreateTexture(&reference->textureObject, &resource, &texture, view);
  if (error != hipSuccess) return error;
  return hipMemcpy(reinterpret_cast<void*>(twin.address), reference, sizeof *reference, hipMemcpyHostToDevice);
}

hipError_t BindLine(const textureReference* reference, const Variable& twin, size_t* offset, const void* pointer,
                    const hipChannelFormatDesc& desc, size_t bytes) {
  size_t past = 0;
  const hipError_t error = AlignmentOf(offset, pointer);
  if (error != hipSuccess) return error;
  if (offset != nullptr) past = *offset;
  hipResourceDesc resource{};
  resource.resType = hipResourceTypeLinear;
  resource.res.linear = {Aligned(pointer), desc, bytes + past};
  return Bind(reference, twin, resource, nullptr);
}
hipError_t BindPlane(const textureReference* reference, const Variable& twin, const void* pointer,
                     const hipChannelFormatDesc& desc, size_t width, size_t height, size_t pitch) {
  hipResourceDesc resource{};
  resource.resType = hipResourceTypePitch2D;
  resource.res.pitch2D = {Aligned(pointer), desc, width, height, pitch};
  return Bind(reference, twin, resource, nullptr);
}
hipError_t BindArray(const textureReference* reference, const Variable& twin, hipArray_const_t array) {
  hipResourceDesc resource{};
  resource.resType = hipResourceTypeArray;
  resource.res.array.array = const_cast<hipArray_t>(array);
  return Bind(reference, twin, resource, nullptr);
}

// What every question about a reference looks at first.
template <typename... Places>
hipError_t Check(const Places*... places) {
  if ((... || (places == nullptr))) return hipErrorInvalidValue;
  return NeedImages();
}

// Sets a field of a reference.
template <typename Field, typename Value>
hipError_t Set(textureReference* reference, Field textureReference::* field, Value value) {
  const hipError_t error = Check(reference);
  if (error == hipSuccess) reference->*field = value;
  return Done(error);
}
template <typename Field, typename Place>
hipError_t Get(Place* place, const textureReference* reference, Field textureReference::* field) {
  const hipError_t error = Check(place, reference);
  if (error == hipSuccess) *place = static_cast<Place>(reference->*field);
  return Done(error);
}

// The resource behind a reference.
hipError_t ResourceOf(const textureReference* reference, hipResourceDesc* resource) {
  if (reference->textureObject == nullptr) return hipErrorInvalidValue;
  const hipError_t missing = NeedImages();
  if (missing != hipSuccess) return missing;
  return FindTexture(reference->textureObject, resource, nullptr, nullptr) ? hipSuccess : hipErrorInvalidValue;
}

}  // namespace
}  // namespace wavesmith::hip

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

extern "C" {

// References of the program ----------------------------------------------------------------------------------------------------------------

hipError_t hipBindTexture(size_t* offset, const textureReference* reference, const void* pointer,
                          const hipChannelFormatDesc* desc, size_t bytes) {
  Variable twin;
  const hipError_t error = VariableOf(reference, &twin);
  if (error != hipSuccess) return Done(error);
  if (pointer == nullptr || desc == nullptr) return Done(hipErrorInvalidValue);
  return Done(BindLine(reference, twin, offset, pointer, *desc, bytes));
}
hipError_t hipBindTexture2D(size_t* offset, const textureReference* reference, const void* pointer,
                            const hipChannelFormatDesc* desc, size_t width, size_t height, size_t pitch) {
  Variable twin;
  hipError_t error = VariableOf(reference, &twin);
  if (error != hipSuccess) return Done(error);
  if (pointer == nullptr || desc == nullptr) return Done(hipErrorInvalidValue);
  error = AlignmentOf(offset, pointer);
  return Done(error == hipSuccess ? BindPlane(reference, twin, pointer, *desc, width, height, pitch) : error);
}
hipError_t hipBindTextureToArray(const textureReference* reference, hipArray_const_t array,
                                 const hipChannelFormatDesc* desc) {
  Variable twin;
  const hipError_t error = VariableOf(reference, &twin);
  if (error != hipSuccess) return Done(error);
  return Done(array == nullptr || desc == nullptr ? hipErrorInvalidValue : BindArray(reference, twin, array));
}
// No handle is an array of levels (array.cc).
hipError_t hipBindTextureToMipmappedArray(const textureReference* reference, hipMipmappedArray_const_t array,
                                          const hipChannelFormatDesc* desc) {
  Variable twin;
  const hipError_t error = VariableOf(reference, &twin);
  if (error != hipSuccess) return Done(error);
  return Done(array == nullptr || desc == nullptr ? hipErrorInvalidValue : hipErrorNotSupported);
}
hipError_t hipUnbindTexture(const textureReference* reference) {
  const hipError_t missing = Check(reference);
  if (missing != hipSuccess) return Done(missing);
  const hipError_t error = DestroyTexture(reference->textureObject);
  if (error == hipSuccess) const_cast<textureReference*>(reference)->textureObject = nullptr;
  return Done(error);
}
hipError_t hipGetTextureAlignmentOffset(size_t* offset, const textureReference* reference) {
  const hipError_t error = Check(offset, reference);
  if (error == hipSuccess) *offset = 0;
  return Done(error);
}
hipError_t hipGetTextureReference(const textureReference** reference, const void* symbol) {
  const hipError_t error = Check(reference);
  if (error == hipSuccess) *reference = static_cast<const textureReference*>(symbol);
  return Done(error);
}

// References of modules --------------------------------------------------------------------------------------------------------------------

hipError_t hipModuleGetTexRef(textureReference** reference, hipModule_t handle, const char* name) {
  if (reference == nullptr || handle == nullptr || name == nullptr) return Done(hipErrorInvalidValue);
  const hipError_t missing = NeedImages();
  if (missing != hipSuccess) return Done(missing);
  const auto* const module = reinterpret_cast<const Module*>(handle);
  if (!IsModule(module)) return Done(hipErrorInvalidResourceHandle);
  const auto found = module->variables.find(name);
  if (found == module->variables.end() || found->second.size < sizeof(textureReference)) return Done(hipErrorNotFound);
  const std::lock_guard lock(mutex);
  ModuleReference& entry = references[{module, name}];
  if (entry.reference == nullptr || entry.twin.address != found->second.address) {
    entry = {std::make_unique<textureReference>(), found->second};
    std::memcpy(entry.reference.get(), reinterpret_cast<const void*>(entry.twin.address), sizeof(textureReference));
  }
  *reference = entry.reference.get();
  return Done(hipSuccess);
}
hipError_t hipTexRefSetArray(textureReference* reference, hipArray_const_t array, unsigned flags) {
  if (reference == nullptr || array == nullptr || flags != HIP_TRSA_OVERRIDE_FORMAT) return Done(hipErrorInvalidValue);
  Variable twin;
  const hipError_t error = TwinOf(reference, &twin);
  return Done(error == hipSuccess ? BindArray(reference, twin, array) : error);
}
hipError_t hipTexRefSetAddress(size_t* offset, textureReference* reference, hipDeviceptr_t pointer, size_t bytes) {
  Variable twin;
  if (reference == nullptr) return Done(hipErrorInvalidValue);
  const hipError_t error = TwinOf(reference, &twin);
  if (error != hipSuccess) return Done(error);
  const TexelFormat texel{reference->format, static_cast<unsigned>(reference->numChannels)};
  return Done(BindLine(reference, twin, offset, pointer, DescOf(texel), bytes));
}
hipError_t hipTexRefSetAddress2D(textureReference* reference, const HIP_ARRAY_DESCRIPTOR* desc, hipDeviceptr_t pointer,
                                 size_t pitch) {
  Variable twin;
  if (reference == nullptr || desc == nullptr) return Done(hipErrorInvalidValue);
  const hipError_t error = TwinOf(reference, &twin);
  if (error != hipSuccess) return Done(error);
  const hipChannelFormatDesc channels = DescOf({desc->Format, desc->NumChannels});
  return Done(BindPlane(reference, twin, pointer, channels, desc->Width, desc->Height, pitch));
}
hipError_t hipTexRefSetMipmappedArray(textureReference* reference, hipMipmappedArray* array, unsigned flags) {
  if (reference == nullptr || array == nullptr || flags != HIP_TRSA_OVERRIDE_FORMAT) return Done(hipErrorInvalidValue);
  Variable twin;
  const hipError_t error = TwinOf(reference, &twin);
  return Done(error == hipSuccess ? hipErrorNotSupported : error);
}

hipError_t hipTexRefGetArray(hipArray_t* array, const textureReference* reference) {
  if (array == nullptr || reference == nullptr) return Done(hipErrorInvalidValue);
  hipResourceDesc resource;
  const hipError_t error = ResourceOf(reference, &resource);
  if (error != hipSuccess) return Done(error);
  if (resource.resType != hipResourceTypeArray) return Done(hipErrorInvalidValue);
  *array = resource.res.array.array;
  return Done(hipSuccess);
}
hipError_t hipTexRefGetAddress(hipDeviceptr_t* pointer, const textureReference* reference) {
  if (pointer == nullptr || reference == nullptr) return Done(hipErrorInvalidValue);
  hipResourceDesc resource;
  const hipError_t error = ResourceOf(reference, &resource);
  if (error != hipSuccess) return Done(error);
  if (resource.resType == hipResourceTypeLinear) {
    *pointer = resource.res.linear.devPtr;
  } else if (resource.resType == hipResourceTypePitch2D) {
    *pointer = resource.res.pitch2D.devPtr;
  } else {
    return Done(hipErrorInvalidValue);
  }
  return Done(hipSuccess);
}
hipError_t hipTexRefGetMipMappedArray(hipMipmappedArray_t* array, const textureReference* reference) {
  const hipError_t error = Check(array, reference);
  // None is bound to one.
  return Done(error == hipSuccess ? hipErrorInvalidValue : error);
}

// Fields -----------------------------------------------------------------------------------------------------------------------------------

hipError_t hipTexRefSetFormat(textureReference* reference, hipArray_Format format, int channels) {
  const hipError_t error = Set(reference, &textureReference::format, format);
  return error == hipSuccess ? Set(reference, &textureReference::numChannels, channels) : error;
}
hipError_t hipTexRefGetFormat(hipArray_Format* format, int* channels, const textureReference* reference) {
  const hipError_t error = Check(format, channels, reference);
  if (error != hipSuccess) return Done(error);
  *format = reference->format;
  *channels = reference->numChannels;
  return Done(hipSuccess);
}
hipError_t hipTexRefSetFlags(textureReference* reference, unsigned flags) {
  const hipError_t error = Check(reference);
  if (error != hipSuccess) return Done(error);
  reference->readMode = (flags & HIP_TRSF_READ_AS_INTEGER) != 0 ? hipReadModeElementType : hipReadModeNormalizedFloat;
  reference->normalized = (flags & HIP_TRSF_NORMALIZED_COORDINATES) != 0 ? 1 : 0;
  reference->sRGB = (flags & HIP_TRSF_SRGB) != 0 ? 1 : 0;
  return Done(hipSuccess);
}
hipError_t hipTexRefGetFlags(unsigned* flags, const textureReference* reference) {
  const hipError_t error = Check(flags, reference);
  if (error != hipSuccess) return Done(error);
  *flags = 0;
  if (reference->readMode == hipReadModeElementType) *flags |= HIP_TRSF_READ_AS_INTEGER;
  if (reference->normalized == 1) *flags |= HIP_TRSF_NORMALIZED_COORDINATES;
  if (reference->sRGB == 1) *flags |= HIP_TRSF_SRGB;
  return Done(hipSuccess);
}
hipError_t hipTexRefSetAddressMode(textureReference* reference, int dimension, hipTextureAddressMode mode) {
  if (reference == nullptr || dimension < 0 || dimension > 2) return Done(hipErrorInvalidValue);
  const hipError_t error = Check(reference);
  if (error == hipSuccess) reference->addressMode[dimension] = mode;
  return Done(error);
}
hipError_t hipTexRefGetAddressMode(hipTextureAddressMode* mode, const textureReference* reference, int dimension) {
  const hipError_t error = Check(mode, reference);
  if (error != hipSuccess) return Done(error);
  if (dimension != 0 && dimension != 1) return Done(hipErrorInvalidValue);
  *mode = reference->addressMode[dimension];
  return Done(hipSuccess);
}
hipError_t hipTexRefSetFilterMode(textureReference* reference, hipTextureFilterMode mode) {
  return Set(reference, &textureReference::filterMode, mode);
}
hipError_t hipTexRefGetFilterMode(hipTextureFilterMode* mode, const textureReference* reference) {
  return Get(mode, reference, &textureReference::filterMode);
}
hipError_t hipTexRefSetMaxAnisotropy(textureReference* reference, unsigned most) {
  return Set(reference, &textureReference::maxAnisotropy, most);
}
hipError_t hipTexRefSetMipmapFilterMode(textureReference* reference, hipTextureFilterMode mode) {
  return Set(reference, &textureReference::mipmapFilterMode, mode);
}
hipError_t hipTexRefSetMipmapLevelBias(textureReference* reference, float bias) {
  return Set(reference, &textureReference::mipmapLevelBias, bias);
}
hipError_t hipTexRefSetMipmapLevelClamp(textureReference* reference, float least, float most) {
  const hipError_t error = Set(reference, &textureReference::minMipmapLevelClamp, least);
  return error == hipSuccess ? Set(reference, &textureReference::maxMipmapLevelClamp, most) : error;
}
// These four give what was set, and hipErrorInvalidValue all the same, as AMD's runtime does.
hipError_t hipTexRefGetMaxAnisotropy(int* most, const textureReference* reference) {
  const hipError_t error = Get(most, reference, &textureReference::maxAnisotropy);
  return error == hipSuccess ? Done(hipErrorInvalidValue) : error;
}
hipError_t hipTexRefGetMipmapFilterMode(hipTextureFilterMode* mode, const textureReference* reference) {
  const hipError_t error = Get(mode, reference, &textureReference::mipmapFilterMode);
  return error == hipSuccess ? Done(hipErrorInvalidValue) : error;
}
hipError_t hipTexRefGetMipmapLevelBias(float* bias, const textureReference* reference) {
  const hipError_t error = Get(bias, reference, &textureReference::mipmapLevelBias);
  return error == hipSuccess ? Done(hipErrorInvalidValue) : error;
}
hipError_t hipTexRefGetMipmapLevelClamp(float* least, float* most, const textureReference* reference) {
  const hipError_t error = Check(least, most, reference);
  if (error != hipSuccess) return Done(error);
  *least = reference->minMipmapLevelClamp;
  *most = reference->maxMipmapLevelClamp;
  return Done(hipErrorInvalidValue);
}
// A reference has no place for a colour: AMD's runtime says yes and keeps nothing.
hipError_t hipTexRefSetBorderColor(textureReference* reference, float* color) { return Done(Check(reference, color)); }
hipError_t hipTexRefGetBorderColor(float* color, const textureReference* reference) {
  return Done(Check(color, reference));
}

}  // extern "C"
