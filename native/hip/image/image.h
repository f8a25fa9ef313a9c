// Arrays, textures and surfaces: memory that image instructions read through descriptors. Chips without image units (gfx942, gfx950) refuse
// to make them where AMD's runtime does, after the same looks at the arguments. Source: hipamd/src/hip_texture.cpp, hip_memory.cpp,
// hip_surface.cpp of ROCm/clr.
#pragma once
#include "hip/runtime.h"

namespace wavesmith::hip {

// Whether kernels of a device can use images: MI300 and later have no image instructions.
inline bool HasImages(const Device& device) { return device.target == "gfx90a"; }
// hipErrorNotSupported when the calling thread's device has none.
hipError_t NeedImages();

inline constexpr size_t kMostTexels = 16384;
inline constexpr size_t kMostLayers = 8192;
inline constexpr size_t kMostPitch = 65536;  // texels; the descriptor has 16 bits for it
// Alignment of an image's first byte and of its rows.
inline constexpr size_t kImageAlignment = 256;

// What one texel is, and how kernels see it.
struct TexelFormat {
  hipArray_Format format;
  unsigned channels;
  bool normalized = false;
  bool srgb = false;

  // Bytes of a texel; 0 for a format that there is not.
  size_t Bytes() const;
  bool IsInteger32() const;
};
bool IsFormat(const TexelFormat& texel);
TexelFormat FormatOf(const hipChannelFormatDesc& desc);
hipChannelFormatDesc DescOf(const TexelFormat& texel);
// Channels of one width, without a gap.
bool IsChannelDesc(const hipChannelFormatDesc& desc);

// An array: rows of texels that begin at multiples of 256 bytes. HIP 5's programs may look at the first part.
struct Array : hipArray {
  unsigned made_flags = 0;
  size_t pitch = 0;
  size_t element = 0;

  TexelFormat Texel() const { return {Format, NumChannels}; }
  bool IsLayered() const { return (made_flags & hipArrayLayered) != 0; }
  size_t rows() const { return height == 0 ? 1 : height; }
  size_t slices() const { return depth == 0 ? 1 : depth; }
  size_t slice() const { return pitch * rows(); }
};
// nullptr for a handle that is none.
Array* FindArray(hipArray_const_t handle);

// Words of descriptors in a texture or surface object. Source: HIP_IMAGE_OBJECT_SIZE_DWORD, HIP_SAMPLER_OBJECT_SIZE_DWORD.
inline constexpr size_t kImageWords = 12;
inline constexpr size_t kSamplerWords = 8;
// Pixels of an image in memory.
struct ImageShape {
  // Values of the descriptor's TYPE field.
  enum class Kind : uint32_t { k1D = 8, k2D = 9, k3D = 10, k1DArray = 12, k2DArray = 13 };
  Kind kind;
  size_t width;
  size_t height;
  size_t depth;
  size_t pitch_texels;
};
ImageShape ShapeOf(const Array& array);
void WriteImage(const ImageShape& shape, const TexelFormat& texel, uint64_t address, uint32_t* words);
// The descriptor of a line of texels that tex1Dfetch reads: one of a buffer.
void WriteLine(size_t texels, const TexelFormat& texel, uint64_t address, uint32_t* words);
void WriteSampler(const hipTextureDesc& texture, uint32_t* words);

// How levels of detail are sampled has the same names in each of HIP's descriptions of sampling.
template <typename To, typename From>
void CopyLevels(To& to, const From& from) {
  to.maxAnisotropy = from.maxAnisotropy;
  to.mipmapFilterMode = static_cast<decltype(to.mipmapFilterMode)>(from.mipmapFilterMode);
  to.mipmapLevelBias = from.mipmapLevelBias;
  to.minMipmapLevelClamp = from.minMipmapLevelClamp;
  to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
}

hipError_t CreateTexture(hipTextureObject_t* object, const hipResourceDesc* resource, const hipTextureDesc* texture,
                         const hipResourceViewDesc* view);
hipError_t DestroyTexture(hipTextureObject_t object);
// What a texture object was made of; false for a handle that is none.
bool FindTexture(hipTextureObject_t object, hipResourceDesc* resource, hipTextureDesc* texture,
                 hipResourceViewDesc* view);

}  // namespace wavesmith::hip
