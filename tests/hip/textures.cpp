// Arrays, textures and surfaces. gfx90a has image units; gfx942 and gfx950 refuse as AMD's runtime does, and their kernels cannot be compiled.
#include "check.h"

namespace {

constexpr int kWidth = 20;
constexpr int kHeight = 6;
constexpr int kDepth = 3;
constexpr size_t kPitch = 256;

// What a program without image units is told.
void CheckRefusals() {
  hipArray* array = nullptr;
  const hipChannelFormatDesc format = {32, 0, 0, 0, hipChannelFormatKindFloat};
  const hipChannelFormatDesc gap = {32, 0, 32, 0, hipChannelFormatKindFloat};
  GIVES(hipErrorNotSupported, hipMallocArray(&array, &format, 16, 16, 0));
  GIVES(hipErrorNotSupported, hipGetLastError());
  GIVES(hipErrorInvalidValue, hipMallocArray(&array, &gap, 16, 16, 0));
  GIVES(hipErrorInvalidValue, hipMallocArray(&array, &format, 0, 16, 0));
  hipTextureObject_t texture;
  hipResourceDesc resource{};
  hipTextureDesc description{};
  GIVES(hipErrorNotSupported, hipCreateTextureObject(&texture, &resource, &description, nullptr));
  GIVES(hipErrorNotSupported, hipCreateTextureObject(nullptr, nullptr, nullptr, nullptr));
  hipSurfaceObject_t surface;
  GIVES(hipErrorNotSupported, hipCreateSurfaceObject(&surface, &resource));
  int support = 9;
  OK(hipDeviceGetAttribute(&support, hipDeviceAttributeMaxTexture2DWidth, 0));
  CHECK(support == 0);
}

// What every chip answers.
void CheckEverywhere() {
  const hipChannelFormatDesc format = {32, 0, 0, 0, hipChannelFormatKindFloat};
  GIVES(hipErrorInvalidValue, hipMallocArray(nullptr, &format, 16, 16, 0));
  GIVES(hipErrorInvalidValue, hipFreeArray(nullptr));
  OK(hipDestroyTextureObject(nullptr));
  OK(hipDestroySurfaceObject(nullptr));
  int* p;
  OK(hipMalloc(&p, 4));
  hipMipmappedArray_t levels;
  GIVES(hipErrorNotSupported, hipMallocMipmappedArray(&levels, &format, {16, 16, 0}, 1, 0));
  GIVES(hipErrorInvalidValue, hipFreeMipmappedArray(nullptr));
  GIVES(hipErrorInvalidHandle, hipMemcpy2DToArray(nullptr, 0, 0, p, 4, 4, 1, hipMemcpyDeviceToDevice));
  GIVES(hipErrorInvalidPitchValue, hipMemcpy2DToArray(nullptr, 0, 0, p, 1, 4, 1, hipMemcpyDeviceToDevice));
  // The device still works.
  OK(hipMemset(p, 1, 4));
  CHECK(Download(p, 1)[0] == 0x01010101);
  OK(hipFree(p));
}

// Kernels of chips without image units have no bodies: they could not be compiled.
#if defined(__HIP_DEVICE_COMPILE__) && !defined(__gfx90a__)
#define ON_IMAGES(...)
#else
#define ON_IMAGES(...) __VA_ARGS__
#endif
__global__ void Fetch(hipTextureObject_t t, float* out) {
  ON_IMAGES(out[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x);)
}
__global__ void Line(hipTextureObject_t t, float4* out, float scale) {
  ON_IMAGES(out[threadIdx.x] = tex1D<float4>(t, threadIdx.x * scale);)
}
__global__ void Plane(hipTextureObject_t t, float* out, float dx, float dy, int width) {
  ON_IMAGES(const int x = threadIdx.x % width; const int y = threadIdx.x / width;
            out[threadIdx.x] = tex2D<float>(t, x * dx, y * dy);)
}
__global__ void Bytes(hipTextureObject_t t, uchar4* out) {
  ON_IMAGES(out[threadIdx.x] = tex2D<uchar4>(t, threadIdx.x, 1);)
}
__global__ void Box(hipTextureObject_t t, float* out) {
  ON_IMAGES(out[threadIdx.x] = tex3D<float>(t, threadIdx.x % kWidth, 2, threadIdx.x / kWidth);)
}
__global__ void Layers(hipTextureObject_t t, float* out) {
  ON_IMAGES(out[threadIdx.x] = tex2DLayered<float>(t, threadIdx.x % kWidth, 2, threadIdx.x / kWidth);)
}
__global__ void AddOne(hipSurfaceObject_t s) {
  ON_IMAGES(float v; surf2Dread(&v, s, threadIdx.x * 4, blockIdx.x);
            surf2Dwrite(v + 1, s, threadIdx.x * 4, blockIdx.x);)
}
__global__ void WritePairs(hipSurfaceObject_t s) {
  ON_IMAGES(surf2Dwrite(make_float2(threadIdx.x, -static_cast<float>(blockIdx.x)), s, threadIdx.x * 8, blockIdx.x);)
}

hipTextureDesc Sampling(hipTextureFilterMode filter, hipTextureAddressMode mode, bool normalized,
                        hipTextureReadMode read = hipReadModeElementType) {
  hipTextureDesc t{};
  t.addressMode[0] = t.addressMode[1] = t.addressMode[2] = mode;
  t.filterMode = filter;
  t.readMode = read;
  t.normalizedCoords = normalized;
  return t;
}
hipResourceDesc Of(hipArray_t array) {
  hipResourceDesc r{};
  r.resType = hipResourceTypeArray;
  r.res.array.array = array;
  return r;
}
std::vector<float> Ramp(size_t n) {
  std::vector<float> v(n);
  for (size_t i = 0; i < n; i++) v[i] = static_cast<float>(i) + 0.25f;
  return v;
}
int Wrap(int n, int size) { return ((n % size) + size) % size; }
int Mirror(int n, int size) {
  const int at = Wrap(n, 2 * size);
  return at < size ? at : 2 * size - 1 - at;
}
int Clamp(int n, int size) { return n < 0 ? 0 : n >= size ? size - 1 : n; }

void CheckLinear() {
  const auto texels = Ramp(64);
  float* const memory = Upload(texels);
  float* out;
  OK(hipMalloc(&out, 64 * sizeof(float)));
  hipResourceDesc r{};
  r.resType = hipResourceTypeLinear;
  r.res.linear.devPtr = memory;
  r.res.linear.desc = {32, 0, 0, 0, hipChannelFormatKindFloat};
  r.res.linear.sizeInBytes = 60 * sizeof(float);
  const hipTextureDesc t = Sampling(hipFilterModePoint, hipAddressModeClamp, false);
  hipTextureObject_t object;
  OK(hipCreateTextureObject(&object, &r, &t, nullptr));
  Fetch<<<1, 64>>>(object, out);
  const auto got = Download(out, 64);
  for (size_t i = 0; i < 64; i++) CHECK(got[i] == (i < 60 ? texels[i] : 0));
  hipResourceDesc back;
  OK(hipGetTextureObjectResourceDesc(&back, object));
  CHECK(back.resType == hipResourceTypeLinear && back.res.linear.devPtr == memory);
  r.res.linear.devPtr = memory + 1;
  GIVES(hipErrorInvalidValue, hipCreateTextureObject(&object, &r, &t, nullptr));
  OK(hipDestroyTextureObject(object));
  GIVES(hipErrorInvalidValue, hipDestroyTextureObject(object));
  OK(hipFree(memory));
  OK(hipFree(out));
}

void CheckPlane() {
  const auto texels = Ramp(kWidth * kHeight);
  const hipChannelFormatDesc format = {32, 0, 0, 0, hipChannelFormatKindFloat};
  hipArray* array;
  OK(hipMallocArray(&array, &format, kWidth, kHeight, 0));
  OK(hipMemcpy2DToArray(array, 0, 0, texels.data(), kWidth * 4, kWidth * 4, kHeight, hipMemcpyHostToDevice));
  GIVES(hipErrorInvalidValue,
        hipMemcpy2DToArray(array, 4, 0, texels.data(), kWidth * 4, kWidth * 4, kHeight, hipMemcpyHostToDevice));
  std::vector<float> back(kWidth * kHeight);
  OK(hipMemcpy2DFromArray(back.data(), kWidth * 4, array, 0, 0, kWidth * 4, kHeight, hipMemcpyDeviceToHost));
  CHECK(back == texels);
  std::vector<float> row(3);
  OK(hipMemcpyAtoH(row.data(), array, 8, 12));
  CHECK(row[0] == texels[2] && row[2] == texels[4]);

  float* out;
  constexpr int kThreads = 512;
  OK(hipMalloc(&out, kThreads * sizeof(float)));
  const hipResourceDesc r = Of(array);
  hipTextureObject_t object;
  const auto at = [&](int x, int y) { return texels[static_cast<size_t>(y * kWidth + x)]; };
  // Places in texels, beyond the edges too.
  for (const bool border : {false, true}) {
    const hipTextureDesc t = Sampling(hipFilterModePoint, border ? hipAddressModeBorder : hipAddressModeClamp, false);
    OK(hipCreateTextureObject(&object, &r, &t, nullptr));
    Plane<<<1, kThreads>>>(object, out, 1, 0.5f, 32);
    const auto got = Download(out, kThreads);
    for (int i = 0; i < kThreads; i++) {
      const int x = i % 32;
      const int y = i / 32 / 2;
      const bool inside = x < kWidth && y < kHeight;
      CHECK(got[static_cast<size_t>(i)] == (border && !inside ? 0 : at(Clamp(x, kWidth), Clamp(y, kHeight))));
    }
    OK(hipDestroyTextureObject(object));
  }
  // Places from 0 to 1 and beyond.
  for (const bool mirror : {false, true}) {
    const hipTextureDesc t = Sampling(hipFilterModePoint, mirror ? hipAddressModeMirror : hipAddressModeWrap, true);
    OK(hipCreateTextureObject(&object, &r, &t, nullptr));
    Plane<<<1, kThreads>>>(object, out, 1.0f / 8, 1.0f / 4, 32);
    const auto got = Download(out, kThreads);
    for (int i = 0; i < kThreads; i++) {
      const int x = static_cast<int>(std::floor(static_cast<float>(i % 32) / 8 * kWidth));
      const int y = static_cast<int>(std::floor(static_cast<float>(i / 32) / 4 * kHeight));
      const int tx = mirror ? Mirror(x, kWidth) : Wrap(x, kWidth);
      const int ty = mirror ? Mirror(y, kHeight) : Wrap(y, kHeight);
      CHECK(got[static_cast<size_t>(i)] == at(tx, ty));
    }
    OK(hipDestroyTextureObject(object));
  }
  // Between texels: weights of eight bits.
  const hipTextureDesc t = Sampling(hipFilterModeLinear, hipAddressModeClamp, false);
  OK(hipCreateTextureObject(&object, &r, &t, nullptr));
  Plane<<<1, kThreads>>>(object, out, 0.75f, 0.375f, 32);
  const auto got = Download(out, kThreads);
  for (int i = 0; i < kThreads; i++) {
    const float x = static_cast<float>(i % 32) * 0.75f - 0.5f;
    const float y = static_cast<float>(i / 32) * 0.375f - 0.5f;
    const int x0 = static_cast<int>(std::floor(x));
    const int y0 = static_cast<int>(std::floor(y));
    const float a = x - static_cast<float>(x0);
    const float b = y - static_cast<float>(y0);
    const auto texel = [&](int dx, int dy) { return at(Clamp(x0 + dx, kWidth), Clamp(y0 + dy, kHeight)); };
    const float want =
        (1 - b) * ((1 - a) * texel(0, 0) + a * texel(1, 0)) + b * ((1 - a) * texel(0, 1) + a * texel(1, 1));
    CHECK(std::fabs(got[static_cast<size_t>(i)] - want) < 1e-3f);
  }
  OK(hipDestroyTextureObject(object));
  OK(hipFreeArray(array));
  GIVES(static_cast<hipError_t>(709), hipFreeArray(array));
  OK(hipFree(out));
}

void CheckFormats() {
  // Four bytes of a texel, as they are and as numbers from 0 to 1; two channels of which the others are 0, 0, 1.
  std::vector<uchar4> texels(kWidth * 2);
  for (size_t i = 0; i < texels.size(); i++) {
    texels[i] = {static_cast<unsigned char>(i), static_cast<unsigned char>(2 * i), static_cast<unsigned char>(255 - i),
                 51};
  }
  const hipChannelFormatDesc bytes = {8, 8, 8, 8, hipChannelFormatKindUnsigned};
  hipArray* array;
  OK(hipMallocArray(&array, &bytes, kWidth, 2, 0));
  OK(hipMemcpy2DToArray(array, 0, 0, texels.data(), kWidth * 4, kWidth * 4, 2, hipMemcpyHostToDevice));
  const hipResourceDesc r = Of(array);
  const hipTextureDesc plain = Sampling(hipFilterModePoint, hipAddressModeClamp, false);
  hipTextureObject_t object;
  uchar4* out;
  OK(hipMalloc(&out, kWidth * sizeof(float4)));
  OK(hipCreateTextureObject(&object, &r, &plain, nullptr));
  Bytes<<<1, kWidth>>>(object, out);
  const auto got = Download(out, kWidth);
  for (size_t i = 0; i < kWidth; i++) {
    const uchar4 want = texels[i + kWidth];
    CHECK(got[i].x == want.x && got[i].y == want.y && got[i].z == want.z && got[i].w == want.w);
  }
  OK(hipDestroyTextureObject(object));
  OK(hipFreeArray(array));

  const std::vector<short> shorts = {32767, -32768, 16384, 0, -1, 7, 1, 2};
  const hipChannelFormatDesc two = {16, 16, 0, 0, hipChannelFormatKindSigned};
  OK(hipMallocArray(&array, &two, 4, 0, 0));
  OK(hipMemcpyHtoA(array, 0, shorts.data(), 16));
  const hipResourceDesc line = Of(array);
  const hipTextureDesc unit = Sampling(hipFilterModePoint, hipAddressModeClamp, false, hipReadModeNormalizedFloat);
  OK(hipCreateTextureObject(&object, &line, &unit, nullptr));
  auto* const floats = reinterpret_cast<float4*>(out);
  Line<<<1, 4>>>(object, floats, 1);
  const auto read = Download(floats, 4);
  CHECK(read[0].x == 1 && read[0].y == -1 && read[0].z == 0 && read[0].w == 1);
  CHECK(read[1].x == 16384.0f / 32767 && read[2].x == -1.0f / 32767 && read[3].y == 2.0f / 32767);
  OK(hipDestroyTextureObject(object));
  OK(hipFreeArray(array));
  OK(hipFree(out));
}

void CheckBoxes() {
  const auto texels = Ramp(kWidth * kHeight * kDepth);
  const hipChannelFormatDesc format = {32, 0, 0, 0, hipChannelFormatKindFloat};
  for (const unsigned flags : {hipArrayDefault, hipArrayLayered}) {
    hipArray* array;
    OK(hipMalloc3DArray(&array, &format, {kWidth, kHeight, kDepth}, flags));
    hipMemcpy3DParms copy{};
    copy.srcPtr = {const_cast<float*>(texels.data()), kWidth * 4, kWidth, kHeight};
    copy.dstArray = array;
    copy.extent = {kWidth, kHeight, kDepth};
    copy.kind = hipMemcpyHostToDevice;
    OK(hipMemcpy3D(&copy));
    hipMemcpy3DParms part{};
    std::vector<float> box(2 * 2 * 2);
    part.srcArray = array;
    part.srcPos = {3, 1, 1};
    part.dstPtr = {box.data(), 8, 2, 2};
    part.extent = {2, 2, 2};
    part.kind = hipMemcpyDeviceToHost;
    OK(hipMemcpy3D(&part));
    const auto at = [&](size_t x, size_t y, size_t z) { return texels[(z * kHeight + y) * kWidth + x]; };
    CHECK(box[0] == at(3, 1, 1) && box[1] == at(4, 1, 1) && box[2] == at(3, 2, 1) && box[7] == at(4, 2, 2));
    part.srcPos.z = 2;
    GIVES(hipErrorInvalidValue, hipMemcpy3D(&part));

    float* out;
    OK(hipMalloc(&out, kWidth * kDepth * 4));
    const hipResourceDesc r = Of(array);
    const hipTextureDesc t = Sampling(hipFilterModePoint, hipAddressModeClamp, false);
    hipTextureObject_t object;
    OK(hipCreateTextureObject(&object, &r, &t, nullptr));
    if (flags == hipArrayLayered) {
      Layers<<<1, kWidth * kDepth>>>(object, out);
    } else {
      Box<<<1, kWidth * kDepth>>>(object, out);
    }
    const auto got = Download(out, kWidth * kDepth);
    for (size_t i = 0; i < kWidth * kDepth; i++) CHECK(got[i] == at(i % kWidth, 2, i / kWidth));
    OK(hipDestroyTextureObject(object));
    OK(hipFreeArray(array));
    OK(hipFree(out));
  }
}

// Texels of floats: the headers of HIP 5 make floats of all that a surface is given.
void CheckSurfaces() {
  const auto texels = Ramp(kWidth * kHeight);
  const hipChannelFormatDesc format = {32, 0, 0, 0, hipChannelFormatKindFloat};
  hipArray* array;
  OK(hipMallocArray(&array, &format, kWidth, kHeight, hipArraySurfaceLoadStore));
  OK(hipMemcpy2DToArray(array, 0, 0, texels.data(), kWidth * 4, kWidth * 4, kHeight, hipMemcpyHostToDevice));
  hipResourceDesc r = Of(array);
  hipSurfaceObject_t object;
  OK(hipCreateSurfaceObject(&object, &r));
  AddOne<<<kHeight, kWidth>>>(object);
  std::vector<float> back(texels.size());
  OK(hipMemcpy2DFromArray(back.data(), kWidth * 4, array, 0, 0, kWidth * 4, kHeight, hipMemcpyDeviceToHost));
  for (size_t i = 0; i < texels.size(); i++) CHECK(back[i] == texels[i] + 1);
  OK(hipDestroySurfaceObject(object));
  OK(hipFreeArray(array));

  // An array that only a kernel has written, and not beyond its edge.
  const hipChannelFormatDesc two = {32, 32, 0, 0, hipChannelFormatKindFloat};
  OK(hipMallocArray(&array, &two, kWidth, kHeight, hipArraySurfaceLoadStore));
  r = Of(array);
  OK(hipCreateSurfaceObject(&object, &r));
  WritePairs<<<kHeight + 1, kWidth + 1>>>(object);
  std::vector<float2> pairs(kWidth * kHeight);
  OK(hipMemcpy2DFromArray(pairs.data(), kWidth * 8, array, 0, 0, kWidth * 8, kHeight, hipMemcpyDeviceToHost));
  for (int i = 0; i < kWidth * kHeight; i++) {
    const float2 p = pairs[static_cast<size_t>(i)];
    CHECK(p.x == static_cast<float>(i % kWidth) && p.y == -static_cast<float>(i / kWidth));
  }
  OK(hipDestroySurfaceObject(object));
  OK(hipFreeArray(array));
}

void CheckPitched() {
  const auto texels = Ramp(kWidth * kHeight);
  float* memory;
  OK(hipMalloc(&memory, kPitch * kHeight));
  OK(hipMemcpy2D(memory, kPitch, texels.data(), kWidth * 4, kWidth * 4, kHeight, hipMemcpyHostToDevice));
  hipResourceDesc r{};
  r.resType = hipResourceTypePitch2D;
  r.res.pitch2D.devPtr = memory;
  r.res.pitch2D.desc = {32, 0, 0, 0, hipChannelFormatKindFloat};
  r.res.pitch2D.width = kWidth;
  r.res.pitch2D.height = kHeight;
  r.res.pitch2D.pitchInBytes = kPitch;
  const hipTextureDesc t = Sampling(hipFilterModePoint, hipAddressModeClamp, false);
  hipTextureObject_t object;
  float* out;
  OK(hipMalloc(&out, kWidth * kHeight * 4));
  OK(hipCreateTextureObject(&object, &r, &t, nullptr));
  Plane<<<1, kWidth * kHeight>>>(object, out, 1, 1, kWidth);
  CHECK(Download(out, kWidth * kHeight) == texels);
  OK(hipDestroyTextureObject(object));
  r.res.pitch2D.pitchInBytes = 100;
  GIVES(hipErrorInvalidValue, hipCreateTextureObject(&object, &r, &t, nullptr));
  // A descriptor holds pitches up to 65,536 texels.
  r.res.pitch2D.height = 1;
  r.res.pitch2D.pitchInBytes = size_t{65536} * 4;
  OK(hipCreateTextureObject(&object, &r, &t, nullptr));
  OK(hipDestroyTextureObject(object));
  r.res.pitch2D.pitchInBytes += 256;
  GIVES(hipErrorInvalidValue, hipCreateTextureObject(&object, &r, &t, nullptr));
  OK(hipFree(memory));
  OK(hipFree(out));
}
}  // namespace

int main() {
  int images = 9;
  OK(hipDeviceGetAttribute(&images, hipDeviceAttributeImageSupport, 0));
  CheckEverywhere();
  if (images == 0) {
    CheckRefusals();
    return Ok();
  }
  CheckLinear();
  CheckPlane();
  CheckFormats();
  CheckBoxes();
  CheckSurfaces();
  CheckPitched();
  return Ok();
}
