// Texture references, and copies from array to array, in graphs and while a stream is captured; what chips without image units say.
#include "check.h"

#if defined(__HIP_DEVICE_COMPILE__) && !defined(__gfx90a__)
#define ON_IMAGES(...)
#else
#define ON_IMAGES(...) __VA_ARGS__
#endif

texture<float, 2, hipReadModeElementType> plane;
texture<float, 1, hipReadModeElementType> line;

namespace {

constexpr int kWidth = 16;
constexpr int kHeight = 8;
constexpr size_t kTexels = kWidth * kHeight;
constexpr size_t kBytes = kTexels * sizeof(float);

__global__ void ReadPlane(float* out) {
  ON_IMAGES(out[threadIdx.x] =
                tex2D(plane, static_cast<float>(threadIdx.x % kWidth), static_cast<float>(threadIdx.x / kWidth));)
}
__global__ void ReadLine(float* out) { ON_IMAGES(out[threadIdx.x] = tex1Dfetch(line, static_cast<int>(threadIdx.x));) }

void CheckRefusals(float* memory, const hipChannelFormatDesc& format) {
  size_t offset;
  const textureReference* reference = nullptr;
  GIVES(hipErrorNotSupported, hipBindTexture(&offset, &line, memory, &format, kBytes));
  GIVES(hipErrorNotSupported, hipGetTextureReference(&reference, &plane));
  GIVES(hipErrorNotSupported, hipUnbindTexture(&line));
  GIVES(hipErrorNotSupported, hipTexRefSetFilterMode(&plane, hipFilterModePoint));
  GIVES(hipErrorInvalidValue, hipTexRefSetFilterMode(nullptr, hipFilterModePoint));
  hipArray* array;
  HIP_ARRAY_DESCRIPTOR descriptor{16, 16, HIP_AD_FORMAT_FLOAT, 1};
  GIVES(hipErrorNotSupported, hipArrayCreate(&array, &descriptor));
  descriptor.NumChannels = 3;
  GIVES(hipErrorInvalidValue, hipArrayCreate(&array, &descriptor));
  const auto texture = reinterpret_cast<hipTextureObject_t>(memory);
  GIVES(hipErrorNotSupported, hipDestroyTextureObject(texture));
  GIVES(hipErrorInvalidValue, hipGetTextureObjectResourceDesc(nullptr, texture));
}

void CheckReferences(float* memory, const std::vector<float>& texels, const hipChannelFormatDesc& format) {
  float* out;
  OK(hipMalloc(&out, kBytes));
  size_t offset = 9;
  OK(hipBindTexture(&offset, &line, memory, &format, kBytes));
  CHECK(offset == 0);
  ReadLine<<<1, kTexels>>>(out);
  CHECK(Download(out, kTexels) == texels);
  OK(hipUnbindTexture(&line));

  hipArray* array;
  OK(hipMallocArray(&array, &format, kWidth, kHeight, 0));
  OK(hipMemcpyToArray(array, 0, 0, texels.data(), kBytes, hipMemcpyHostToDevice));
  plane.normalized = 0;
  plane.filterMode = hipFilterModePoint;
  plane.addressMode[0] = plane.addressMode[1] = hipAddressModeClamp;
  OK(hipBindTextureToArray(plane, array));
  ReadPlane<<<1, kTexels>>>(out);
  CHECK(Download(out, kTexels) == texels);
  OK(hipUnbindTexture(plane));
  OK(hipFreeArray(array));
  OK(hipFree(out));
}

void CheckCopies(std::vector<float> texels, const hipChannelFormatDesc& format) {
  hipArray* array;
  OK(hipMallocArray(&array, &format, kWidth, kHeight, 0));
  hipMemcpy3DParms copy{};
  copy.srcPtr = {texels.data(), kWidth * 4, kWidth, kHeight};
  copy.dstArray = array;
  copy.extent = {kWidth, kHeight, 1};
  copy.kind = hipMemcpyHostToDevice;
  hipGraph_t graph;
  hipGraphNode_t node;
  hipGraphExec_t executable;
  OK(hipGraphCreate(&graph, 0));
  OK(hipGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy));
  OK(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  OK(hipGraphLaunch(executable, nullptr));
  OK(hipDeviceSynchronize());
  std::vector<float> back(kTexels);
  OK(hipMemcpyFromArray(back.data(), array, 0, 0, kBytes, hipMemcpyDeviceToHost));
  CHECK(back == texels);
  GIVES(hipErrorInvalidValue, hipMemcpyAtoH(back.data(), array, 60, 16));

  hipStream_t stream;
  hipGraph_t captured;
  hipArray* other;
  OK(hipStreamCreate(&stream));
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  GIVES(static_cast<hipError_t>(900), hipMallocArray(&other, &format, 4, 4, 0));
  (void)hipStreamEndCapture(stream, &captured);

  const hipChannelFormatDesc odd = {12, 0, 0, 0, hipChannelFormatKindUnsigned};
  const hipChannelFormatDesc three = {8, 8, 8, 0, hipChannelFormatKindUnsigned};
  GIVES(hipErrorInvalidValue, hipMallocArray(&other, &odd, 4, 4, 0));
  GIVES(hipErrorInvalidValue, hipMallocArray(&other, &three, 4, 4, 0));
  GIVES(hipErrorInvalidValue, hipMallocArray(&other, &format, 20000, 4, 0));
  GIVES(hipErrorInvalidValue, hipMallocArray(&other, &format, 4, 4, 0x100));
  OK(hipFreeArray(array));
}

}  // namespace

int main() {
  int images = 0;
  OK(hipDeviceGetAttribute(&images, hipDeviceAttributeImageSupport, 0));
  std::vector<float> texels(kTexels);
  for (size_t i = 0; i < kTexels; i++) texels[i] = static_cast<float>(i) + 0.5f;
  float* const memory = Upload(texels);
  const hipChannelFormatDesc format = {32, 0, 0, 0, hipChannelFormatKindFloat};
  size_t offset;
  // No variable of the program.
  GIVES(hipErrorInvalidSymbol,
        hipBindTexture(&offset, reinterpret_cast<textureReference*>(&images), memory, &format, 64));
  if (images == 0) {
    CheckRefusals(memory, format);
  } else {
    CheckReferences(memory, texels, format);
    CheckCopies(texels, format);
  }
  return Ok();
}
