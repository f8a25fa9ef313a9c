// Texture and surface objects: what kernels read through, as descriptors in memory. Source: hipamd/src/hip_texture.cpp, hip_surface.cpp of
// ROCm/clr.
#include <cstring>
#include <type_traits>

#include "hip/image/image.h"

namespace wavesmith::hip {
namespace {

struct Texture {
  hipResourceDesc resource;
  hipTextureDesc texture;
  hipResourceViewDesc view;
};
std::mutex mutex;
// Never destroyed: work that a stream still has ends after the destructors of a program's and of this library's objects.
auto& textures = *new std::map<hipTextureObject_t, Texture>;

bool IsAligned(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer) % kImageAlignment == 0; }

// hipResourceViewFormat: by format, each with 1, 2 and 4 channels.
TexelFormat FormatOfView(hipResourceViewFormat view) {
  constexpr hipArray_Format kFormats[] = {HIP_AD_FORMAT_UNSIGNED_INT8,  HIP_AD_FORMAT_SIGNED_INT8,
                                          HIP_AD_FORMAT_UNSIGNED_INT16, HIP_AD_FORMAT_SIGNED_INT16,
                                          HIP_AD_FORMAT_UNSIGNED_INT32, HIP_AD_FORMAT_SIGNED_INT32,
                                          HIP_AD_FORMAT_HALF,           HIP_AD_FORMAT_FLOAT};
  const int n = static_cast<int>(view) - 1;
  if (n < 0 || n >= 24) return {static_cast<hipArray_Format>(0), 0};
  return {kFormats[n / 3], 1u << (n % 3)};
}

hipError_t CheckResource(const hipResourceDesc& resource, const hipTextureDesc& texture) {
  switch (resource.resType) {
    case hipResourceTypeArray: {
      if (resource.res.array.array == nullptr) return hipErrorInvalidValue;
      const Array* const array = FindArray(resource.res.array.array);
      if (array == nullptr) return hipErrorInvalidHandle;
      // gfx90a does not filter between planes.
      const bool filters = array->depth > 0 && texture.filterMode == hipFilterModeLinear;
      return filters ? hipErrorNotSupported : hipSuccess;
    }
    case hipResourceTypeMipmappedArray: {
      const bool given = resource.res.mipmap.mipmap != nullptr && texture.normalizedCoords != 0;
      return given ? hipErrorNotSupported : hipErrorInvalidValue;
    }
    case hipResourceTypeLinear: {
      const auto& line = resource.res.linear;
      const TexelFormat texel = FormatOf(line.desc);
      if (line.devPtr == nullptr || !IsAligned(line.devPtr) || !IsFormat(texel)) return hipErrorInvalidValue;
      return line.sizeInBytes / texel.Bytes() >= UINT32_MAX ? hipErrorInvalidValue : hipSuccess;
    }
    case hipResourceTypePitch2D: {
      const auto& plane = resource.res.pitch2D;
      if (plane.devPtr == nullptr || !IsAligned(plane.devPtr) || !IsFormat(FormatOf(plane.desc)))
        return hipErrorInvalidValue;
      if (plane.width >= kMostTexels || plane.height >= kMostTexels || plane.width == 0 || plane.height == 0) {
        return hipErrorInvalidValue;
      }
      const size_t texel = FormatOf(plane.desc).Bytes();
      const bool pitched = plane.pitchInBytes % kImageAlignment == 0 && plane.pitchInBytes >= plane.width * texel &&
                           plane.pitchInBytes / texel <= kMostPitch;
      return pitched ? hipSuccess : hipErrorInvalidValue;
    }
    default:
      return hipErrorInvalidValue;
  }
}
// What AMD's runtime does not put into the sampler.
bool IsPlainSampler(const hipTextureDesc& t) {
  return t.maxAnisotropy == 0 && t.mipmapLevelBias == 0 && t.minMipmapLevelClamp == 0 && t.maxMipmapLevelClamp == 0;
}

hipError_t WriteResource(const hipResourceDesc& resource, const hipTextureDesc& texture,
                         const hipResourceViewDesc* view, uint32_t* words) {
  const auto as_read = [&](TexelFormat texel) {
    texel.normalized = texture.readMode == hipReadModeNormalizedFloat;
    texel.srgb = texture.sRGB == 1;
    return texel;
  };
  if (resource.resType == hipResourceTypeArray) {
    const Array& array = *FindArray(resource.res.array.array);
    const TexelFormat texel = as_read(view == nullptr ? array.Texel() : FormatOfView(view->format));
    if (!IsFormat(texel) || texel.Bytes() != array.element) return hipErrorInvalidValue;
    WriteImage(ShapeOf(array), texel, reinterpret_cast<uint64_t>(array.data), words);
    return hipSuccess;
  }
  MemoryInfo info;
  if (resource.resType == hipResourceTypeLinear) {
    const auto& line = resource.res.linear;
    const TexelFormat texel = as_read(FormatOf(line.desc));
    if (!IsFormat(texel) || !FindMemory(line.devPtr, &info) || !Fits(line.devPtr, line.sizeInBytes)) {
      return hipErrorInvalidValue;
    }
    WriteLine(line.sizeInBytes / texel.Bytes(), texel, reinterpret_cast<uint64_t>(line.devPtr), words);
    return hipSuccess;
  }
  const auto& plane = resource.res.pitch2D;
  const TexelFormat texel = as_read(FormatOf(plane.desc));
  const Size bytes = Size(plane.pitchInBytes) * (plane.height - 1) + plane.width * texel.Bytes();
  if (!IsFormat(texel) || !FindMemory(plane.devPtr, &info) || !Fits(plane.devPtr, bytes)) return hipErrorInvalidValue;
  const ImageShape shape{ImageShape::Kind::k2D, plane.width, plane.height, 1, plane.pitchInBytes / texel.Bytes()};
  WriteImage(shape, texel, reinterpret_cast<uint64_t>(plane.devPtr), words);
  return hipSuccess;
}

hipError_t CreateSurface(hipSurfaceObject_t* object, const hipResourceDesc* resource) {
  const hipError_t missing = NeedImages();
  if (missing != hipSuccess) return missing;
  if (object == nullptr || resource == nullptr || resource->resType != hipResourceTypeArray ||
      resource->res.array.array == nullptr) {
    return hipErrorInvalidValue;
  }
  const Array* const array = FindArray(resource->res.array.array);
  if (array == nullptr) return hipErrorInvalidHandle;
  if (array->made_flags != 0 && (array->made_flags & hipArraySurfaceLoadStore) == 0) return hipErrorInvalidValue;
  uint32_t words[kImageWords] = {};
  WriteImage(ShapeOf(*array), array->Texel(), reinterpret_cast<uint64_t>(array->data), words);
  void* place;
  if (AllocateMemory(sizeof words, MemoryKind::kHost, 0, &place) != hipSuccess) return hipErrorOutOfMemory;
  std::memcpy(place, words, sizeof words);
  *object = static_cast<hipSurfaceObject_t>(place);
  return hipSuccess;
}

}  // namespace

hipError_t CreateTexture(hipTextureObject_t* object, const hipResourceDesc* resource, const hipTextureDesc* texture,
                         const hipResourceViewDesc* view) {
  hipError_t error = NeedImages();
  if (error != hipSuccess) return error;
  if (object == nullptr || resource == nullptr || texture == nullptr) return hipErrorInvalidValue;
  const bool of_array = resource->resType == hipResourceTypeArray || resource->resType == hipResourceTypeMipmappedArray;
  if (view != nullptr && !of_array) return hipErrorInvalidValue;
  error = CheckResource(*resource, *texture);
  if (error != hipSuccess) return error;
  if (!IsPlainSampler(*texture)) return hipErrorNotSupported;
  uint32_t words[kImageWords + kSamplerWords] = {};
  error = WriteResource(*resource, *texture, view, words);
  if (error != hipSuccess) return error;
  WriteSampler(*texture, words + kImageWords);
  void* place;
  if (AllocateMemory(sizeof words, MemoryKind::kHost, 0, &place) != hipSuccess) return hipErrorOutOfMemory;
  std::memcpy(place, words, sizeof words);
  const std::lock_guard lock(mutex);
  *object = static_cast<hipTextureObject_t>(place);
  textures[*object] = {*resource, *texture, view == nullptr ? hipResourceViewDesc{} : *view};
  return hipSuccess;
}
hipError_t DestroyTexture(hipTextureObject_t object) {
  if (object == nullptr) return hipSuccess;
  const hipError_t missing = NeedImages();
  if (missing != hipSuccess) return missing;
  {
    const std::lock_guard lock(mutex);
    if (textures.erase(object) == 0) return hipErrorInvalidValue;
  }
  return FreeMemory(object, MemoryKind::kDevice);
}
bool FindTexture(hipTextureObject_t object, hipResourceDesc* resource, hipTextureDesc* texture,
                 hipResourceViewDesc* view) {
  const std::lock_guard lock(mutex);
  const auto found = textures.find(object);
  if (found == textures.end()) return false;
  if (resource != nullptr) *resource = found->second.resource;
  if (texture != nullptr) *texture = found->second.texture;
  if (view != nullptr) *view = found->second.view;
  return true;
}

namespace {

// A question about a texture object: `place` is where the answer goes.
hipError_t CheckQuestion(const void* place, hipTextureObject_t object) {
  if (place == nullptr || object == nullptr) return hipErrorInvalidValue;
  return NeedImages();
}

// The driver's structures hold the same in other words: a format and a number of channels where the runtime's have a channel's widths.
hipResourceDesc FromDriver(const HIP_RESOURCE_DESC& d) {
  hipResourceDesc r{};
  r.resType = static_cast<hipResourceType>(d.resType);
  const auto& line = d.res.linear;
  const auto& plane = d.res.pitch2D;
  switch (r.resType) {
    case hipResourceTypeArray:
      r.res.array.array = d.res.array.hArray;
      break;
    case hipResourceTypeMipmappedArray:
      r.res.mipmap.mipmap = d.res.mipmap.hMipmappedArray;
      break;
    case hipResourceTypeLinear:
      r.res.linear = {line.devPtr, DescOf({line.format, line.numChannels}), line.sizeInBytes};
      break;
    case hipResourceTypePitch2D:
      r.res.pitch2D = {plane.devPtr, DescOf({plane.format, plane.numChannels}), plane.width, plane.height,
                       plane.pitchInBytes};
      break;
  }
  return r;
}
HIP_RESOURCE_DESC ToDriver(const hipResourceDesc& r) {
  HIP_RESOURCE_DESC d{};
  d.resType = static_cast<HIPresourcetype>(r.resType);
  const auto put = [](const auto& from, auto* to) {
    const TexelFormat texel = FormatOf(from.desc);
    to->devPtr = from.devPtr;
    to->format = texel.format;
    to->numChannels = texel.channels;
  };
  switch (r.resType) {
    case hipResourceTypeArray:
      d.res.array.hArray = r.res.array.array;
      break;
    case hipResourceTypeMipmappedArray:
      d.res.mipmap.hMipmappedArray = r.res.mipmap.mipmap;
      break;
    case hipResourceTypeLinear:
      put(r.res.linear, &d.res.linear);
      d.res.linear.sizeInBytes = r.res.linear.sizeInBytes;
      break;
    case hipResourceTypePitch2D:
      put(r.res.pitch2D, &d.res.pitch2D);
      d.res.pitch2D.width = r.res.pitch2D.width;
      d.res.pitch2D.height = r.res.pitch2D.height;
      d.res.pitch2D.pitchInBytes = r.res.pitch2D.pitchInBytes;
      break;
  }
  return d;
}
// What has one name in both descriptions of sampling.
template <typename To, typename From>
To SamplingOf(const From& from) {
  To to{};
  for (size_t n = 0; n < 3; n++) {
    to.addressMode[n] = static_cast<std::remove_reference_t<decltype(to.addressMode[n])>>(from.addressMode[n]);
  }
  to.filterMode = static_cast<decltype(to.filterMode)>(from.filterMode);
  std::memcpy(to.borderColor, from.borderColor, sizeof to.borderColor);
  CopyLevels(to, from);
  return to;
}
hipTextureDesc FromDriver(const HIP_TEXTURE_DESC& d) {
  auto t = SamplingOf<hipTextureDesc>(d);
  t.readMode = (d.flags & HIP_TRSF_READ_AS_INTEGER) != 0 ? hipReadModeElementType : hipReadModeNormalizedFloat;
  t.normalizedCoords = (d.flags & HIP_TRSF_NORMALIZED_COORDINATES) != 0 ? 1 : 0;
  t.sRGB = (d.flags & HIP_TRSF_SRGB) != 0 ? 1 : 0;
  return t;
}
HIP_TEXTURE_DESC ToDriver(const hipTextureDesc& t) {
  auto d = SamplingOf<HIP_TEXTURE_DESC>(t);
  if (t.readMode == hipReadModeElementType) d.flags |= HIP_TRSF_READ_AS_INTEGER;
  if (t.normalizedCoords == 1) d.flags |= HIP_TRSF_NORMALIZED_COORDINATES;
  if (t.sRGB == 1) d.flags |= HIP_TRSF_SRGB;
  return d;
}
template <typename To, typename From>
To ViewOf(const From& v) {
  return {static_cast<decltype(To::format)>(v.format),
          v.width,
          v.height,
          v.depth,
          v.firstMipmapLevel,
          v.lastMipmapLevel,
          v.firstLayer,
          v.lastLayer};
}

}  // namespace
}  // namespace wavesmith::hip

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

// Surfaces are the only functions of C++.
hipError_t hipCreateSurfaceObject(hipSurfaceObject_t* object, const hipResourceDesc* resource) {
  return Done(CreateSurface(object, resource));
}
hipError_t hipDestroySurfaceObject(hipSurfaceObject_t object) {
  return Done(object == nullptr ? hipSuccess : FreeMemory(object, MemoryKind::kDevice));
}

extern "C" {

hipError_t hipCreateTextureObject(hipTextureObject_t* object, const hipResourceDesc* resource,
                                  const hipTextureDesc* texture, const hipResourceViewDesc* view) {
  return Done(CreateTexture(object, resource, texture, view));
}
hipError_t hipDestroyTextureObject(hipTextureObject_t object) { return Done(DestroyTexture(object)); }
hipError_t hipGetTextureObjectResourceDesc(hipResourceDesc* resource, hipTextureObject_t object) {
  const hipError_t error = CheckQuestion(resource, object);
  if (error != hipSuccess) return Done(error);
  return Done(FindTexture(object, resource, nullptr, nullptr) ? hipSuccess : hipErrorInvalidValue);
}
hipError_t hipGetTextureObjectTextureDesc(hipTextureDesc* texture, hipTextureObject_t object) {
  const hipError_t error = CheckQuestion(texture, object);
  if (error != hipSuccess) return Done(error);
  return Done(FindTexture(object, nullptr, texture, nullptr) ? hipSuccess : hipErrorInvalidValue);
}
hipError_t hipGetTextureObjectResourceViewDesc(hipResourceViewDesc* view, hipTextureObject_t object) {
  const hipError_t error = CheckQuestion(view, object);
  if (error != hipSuccess) return Done(error);
  return Done(FindTexture(object, nullptr, nullptr, view) ? hipSuccess : hipErrorInvalidValue);
}

hipError_t hipTexObjectCreate(hipTextureObject_t* object, const HIP_RESOURCE_DESC* resource,
                              const HIP_TEXTURE_DESC* texture, const HIP_RESOURCE_VIEW_DESC* view) {
  if (object == nullptr || resource == nullptr || texture == nullptr) return Done(hipErrorInvalidValue);
  const hipResourceDesc made = FromDriver(*resource);
  const hipTextureDesc sampled = FromDriver(*texture);
  if (view == nullptr) return Done(CreateTexture(object, &made, &sampled, nullptr));
  const auto seen = ViewOf<hipResourceViewDesc>(*view);
  return Done(CreateTexture(object, &made, &sampled, &seen));
}
hipError_t hipTexObjectDestroy(hipTextureObject_t object) { return Done(DestroyTexture(object)); }
hipError_t hipTexObjectGetResourceDesc(HIP_RESOURCE_DESC* resource, hipTextureObject_t object) {
  const hipError_t error = CheckQuestion(resource, object);
  hipResourceDesc known;
  if (error != hipSuccess) return Done(error);
  if (!FindTexture(object, &known, nullptr, nullptr)) return Done(hipErrorInvalidValue);
  *resource = ToDriver(known);
  return Done(hipSuccess);
}
hipError_t hipTexObjectGetTextureDesc(HIP_TEXTURE_DESC* texture, hipTextureObject_t object) {
  const hipError_t error = CheckQuestion(texture, object);
  hipTextureDesc known;
  if (error != hipSuccess) return Done(error);
  if (!FindTexture(object, nullptr, &known, nullptr)) return Done(hipErrorInvalidValue);
  *texture = ToDriver(known);
  return Done(hipSuccess);
}
hipError_t hipTexObjectGetResourceViewDesc(HIP_RESOURCE_VIEW_DESC* view, hipTextureObject_t object) {
  const hipError_t error = CheckQuestion(view, object);
  hipResourceViewDesc known;
  if (error != hipSuccess) return Done(error);
  if (!FindTexture(object, nullptr, nullptr, &known)) return Done(hipErrorInvalidValue);
  *view = ViewOf<HIP_RESOURCE_VIEW_DESC>(known);
  return Done(hipSuccess);
}

}  // extern "C"
