// The descriptors that image instructions of gfx90a read, as ROCr writes them. Sources: ROCR's image_manager_ai.cpp and resource_gfx9.h,
// Mesa's gfx9.json (SQ_IMG_RSRC, SQ_IMG_SAMP, SQ_BUF_RSRC).
#include <bit>

#include "hip/image/image.h"

namespace wavesmith::hip {
namespace {

unsigned BitsOf(hipArray_Format format) {
  switch (format) {
    case HIP_AD_FORMAT_UNSIGNED_INT8:
    case HIP_AD_FORMAT_SIGNED_INT8:
      return 8;
    case HIP_AD_FORMAT_UNSIGNED_INT16:
    case HIP_AD_FORMAT_SIGNED_INT16:
    case HIP_AD_FORMAT_HALF:
      return 16;
    case HIP_AD_FORMAT_UNSIGNED_INT32:
    case HIP_AD_FORMAT_SIGNED_INT32:
    case HIP_AD_FORMAT_FLOAT:
      return 32;
    default:
      return 0;
  }
}
bool IsFloat(hipArray_Format format) { return format == HIP_AD_FORMAT_HALF || format == HIP_AD_FORMAT_FLOAT; }
bool IsSigned(hipArray_Format format) {
  return format == HIP_AD_FORMAT_SIGNED_INT8 || format == HIP_AD_FORMAT_SIGNED_INT16 ||
         format == HIP_AD_FORMAT_SIGNED_INT32;
}

// The DATA_FORMAT field, by width and channels 1, 2, 4.
uint32_t DataFormat(const TexelFormat& texel) {
  constexpr uint32_t kFormats[3][3] = {{1, 3, 10}, {2, 5, 12}, {4, 11, 14}};
  const unsigned bits = BitsOf(texel.format);
  return kFormats[std::countr_zero(bits) - 3][std::countr_zero(texel.channels)];
}
uint32_t NumberFormat(const TexelFormat& texel) {
  constexpr uint32_t kUnorm = 0;
  constexpr uint32_t kSnorm = 1;
  constexpr uint32_t kUint = 4;
  constexpr uint32_t kSint = 5;
  constexpr uint32_t kFloat = 7;
  constexpr uint32_t kSrgb = 9;
  if (IsFloat(texel.format)) return kFloat;
  const bool normalized = texel.normalized && !texel.IsInteger32();
  if (!normalized) return IsSigned(texel.format) ? kSint : kUint;
  if (texel.srgb) return kSrgb;
  return IsSigned(texel.format) ? kSnorm : kUnorm;
}
// Where the four components come from: 4 to 7 are memory's, 0 and 1 are themselves.
uint32_t Select(unsigned channels) {
  const uint32_t x = 4;
  const uint32_t y = channels > 1 ? 5 : 0;
  const uint32_t z = channels > 2 ? 6 : 0;
  const uint32_t w = channels > 3 ? 7 : 1;
  return x | y << 3 | z << 6 | w << 9;
}
// hsa_ext_image_channel_type_t, which kernels look at to know a texel's size.
uint32_t ChannelType(const TexelFormat& texel) {
  const uint32_t width = static_cast<uint32_t>(std::countr_zero(BitsOf(texel.format))) - 3;
  if (IsFloat(texel.format)) return 13 + width;
  const bool normalized = texel.normalized && !texel.IsInteger32();
  if (normalized) return (IsSigned(texel.format) ? 0 : 2) + width;
  return (IsSigned(texel.format) ? 8 : 11) + width;
}
// hsa_ext_image_channel_order_t: R, RG, RGBA, SRGBA.
uint32_t ChannelOrder(const TexelFormat& texel) {
  if (texel.channels == 1) return 1;
  if (texel.channels == 2) return 3;
  return texel.srgb ? 14 : 8;
}
void WriteNames(const TexelFormat& texel, size_t width, uint32_t* words) {
  words[8] = ChannelType(texel);
  words[9] = ChannelOrder(texel);
  words[10] = static_cast<uint32_t>(width);
}

}  // namespace

size_t TexelFormat::Bytes() const { return size_t{BitsOf(format) / 8} * channels; }
bool TexelFormat::IsInteger32() const {
  return format == HIP_AD_FORMAT_SIGNED_INT32 || format == HIP_AD_FORMAT_UNSIGNED_INT32;
}
bool IsFormat(const TexelFormat& texel) {
  if (BitsOf(texel.format) == 0 || (texel.channels != 1 && texel.channels != 2 && texel.channels != 4)) return false;
  // sRGB is of four normalized bytes.
  return !texel.srgb || texel.channels != 4 || (texel.normalized && texel.format == HIP_AD_FORMAT_UNSIGNED_INT8);
}

TexelFormat FormatOf(const hipChannelFormatDesc& desc) {
  const auto channels = static_cast<unsigned>((desc.x != 0) + (desc.y != 0) + (desc.z != 0) + (desc.w != 0));
  const int width = desc.x == 8 ? 0 : desc.x == 16 ? 1 : desc.x == 32 ? 2 : -1;
  constexpr int kUnsigned[] = {HIP_AD_FORMAT_UNSIGNED_INT8, HIP_AD_FORMAT_UNSIGNED_INT16, HIP_AD_FORMAT_UNSIGNED_INT32};
  constexpr int kSigned[] = {HIP_AD_FORMAT_SIGNED_INT8, HIP_AD_FORMAT_SIGNED_INT16, HIP_AD_FORMAT_SIGNED_INT32};
  constexpr int kFloat[] = {0, HIP_AD_FORMAT_HALF, HIP_AD_FORMAT_FLOAT};
  int format = 0;
  if (width >= 0 && desc.f == hipChannelFormatKindUnsigned) format = kUnsigned[width];
  if (width >= 0 && desc.f == hipChannelFormatKindSigned) format = kSigned[width];
  if (width >= 0 && desc.f == hipChannelFormatKindFloat) format = kFloat[width];
  return {static_cast<hipArray_Format>(format), channels};
}
hipChannelFormatDesc DescOf(const TexelFormat& texel) {
  const int bits = static_cast<int>(BitsOf(texel.format));
  const hipChannelFormatKind kind = IsFloat(texel.format)    ? hipChannelFormatKindFloat
                                    : IsSigned(texel.format) ? hipChannelFormatKindSigned
                                                             : hipChannelFormatKindUnsigned;
  return {bits, texel.channels > 1 ? bits : 0, texel.channels > 2 ? bits : 0, texel.channels > 3 ? bits : 0, kind};
}
bool IsChannelDesc(const hipChannelFormatDesc& desc) {
  if (desc.x == 0) return false;
  for (const int other : {desc.y, desc.z, desc.w}) {
    if (other != 0 && other != desc.x) return false;
  }
  if (desc.y == 0) return desc.z <= 0 && desc.w <= 0;
  return desc.z != 0 || desc.w <= 0;
}

ImageShape ShapeOf(const Array& array) {
  using Kind = ImageShape::Kind;
  const bool layered = array.IsLayered();
  const Kind flat = array.height == 0 ? (layered ? Kind::k1DArray : Kind::k1D) : (layered ? Kind::k2DArray : Kind::k2D);
  const Kind kind = !layered && array.depth != 0 ? Kind::k3D : flat;
  return {kind, array.width, array.rows(), array.slices(), array.pitch / array.element};
}
void WriteImage(const ImageShape& shape, const TexelFormat& texel, uint64_t address, uint32_t* words) {
  const auto less = [](size_t n) { return static_cast<uint32_t>(n - 1); };
  words[0] = static_cast<uint32_t>(address >> 8);
  words[1] = static_cast<uint32_t>(address >> 40) & 0xff;
  words[1] |= DataFormat(texel) << 20 | NumberFormat(texel) << 26;
  words[2] = less(shape.width) | less(shape.height) << 14;
  words[3] = Select(texel.channels) | static_cast<uint32_t>(shape.kind) << 28;
  words[4] = less(shape.depth) | less(shape.pitch_texels) << 13;
  words[5] = words[6] = words[7] = 0;
  WriteNames(texel, shape.width, words);
}
void WriteLine(size_t texels, const TexelFormat& texel, uint64_t address, uint32_t* words) {
  words[0] = static_cast<uint32_t>(address);
  words[1] = (static_cast<uint32_t>(address >> 32) & 0xffff) | static_cast<uint32_t>(texel.Bytes()) << 16;
  words[2] = static_cast<uint32_t>(texels);
  words[3] = Select(texel.channels) | NumberFormat(texel) << 12 | DataFormat(texel) << 15;
  for (size_t n = 4; n < 8; n++) words[n] = 0;
  WriteNames(texel, texels, words);
}

void WriteSampler(const hipTextureDesc& texture, uint32_t* words) {
  // CLAMP_X: wrap, mirror, last texel, border.
  constexpr uint32_t kWrap = 0;
  constexpr uint32_t kMirror = 1;
  constexpr uint32_t kLast = 2;
  constexpr uint32_t kBorder = 6;
  const bool normalized = texture.normalizedCoords != 0;
  uint32_t clamp = kLast;
  // All dimensions have the first one's mode, as in AMD's runtime. Coordinates in texels do not repeat.
  if (texture.addressMode[0] == hipAddressModeBorder) clamp = kBorder;
  if (normalized && texture.addressMode[0] == hipAddressModeWrap) clamp = kWrap;
  if (normalized && texture.addressMode[0] == hipAddressModeMirror) clamp = kMirror;
  const uint32_t linear = texture.filterMode == hipFilterModeLinear ? 1 : 0;
  for (size_t n = 0; n < kSamplerWords; n++) words[n] = 0;
  words[0] = clamp | clamp << 3 | clamp << 6 | (normalized ? 0u : 1u) << 15;
  words[1] = 4095u << 12;
  words[2] = linear << 20 | linear << 22;
}

}  // namespace wavesmith::hip
