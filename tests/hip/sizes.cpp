// Sizes that do not fit: every product and sum of what a program gives ends in an error, never in success or a fault.
#include <cstdint>

#include "check.h"

static bool fails(hipError_t error) {
  (void)hipGetLastError();
  return error == hipErrorInvalidValue || error == hipErrorOutOfMemory || error == hipErrorInvalidPitchValue;
}

int main() {
  const size_t huge[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 255, SIZE_MAX / 2 + 1, SIZE_MAX / 4 + 1, size_t{1} << 62, size_t{1} << 40};
  void* memory = nullptr;
  void* other = nullptr;
  OK(hipMalloc(&memory, 65536));
  OK(hipMalloc(&other, 65536));
  auto* const place = static_cast<uint32_t*>(memory);
  for (const size_t h : huge) {
    void* p = nullptr;
    size_t pitch = 0;
    hipPitchedPtr pitched{};
    CHECK(fails(hipMalloc(&p, h)) && p == nullptr);
    CHECK(fails(hipHostMalloc(&p, h, 0)) && p == nullptr);
    CHECK(fails(hipMallocManaged(&p, h)) && p == nullptr);
    CHECK(fails(hipMallocAsync(&p, h, nullptr)) && p == nullptr);
    CHECK(fails(hipMallocPitch(&p, &pitch, h, 1)) && p == nullptr);
    CHECK(fails(hipMallocPitch(&p, &pitch, 1, h)) && p == nullptr);
    CHECK(fails(hipMallocPitch(&p, &pitch, h, h)) && p == nullptr);
    CHECK(fails(hipMalloc3D(&pitched, hipExtent{h, 1, 1})) && pitched.ptr == nullptr);
    CHECK(fails(hipMalloc3D(&pitched, hipExtent{1, h, 2})) && pitched.ptr == nullptr);
    CHECK(fails(hipMalloc3D(&pitched, hipExtent{64, h, h})) && pitched.ptr == nullptr);

    CHECK(fails(hipMemset(memory, 1, h)));
    CHECK(fails(hipMemsetD8(place, 1, h)));
    CHECK(fails(hipMemsetD16(place, 1, h)));
    CHECK(fails(hipMemsetD32(place, 1, h)));
    CHECK(fails(hipMemsetD32Async(place + 8, 1, h, nullptr)));
    CHECK(fails(hipMemset2D(memory, h, 1, 16, 16)));
    CHECK(fails(hipMemset2D(memory, 16, 1, 16, h)));
    CHECK(fails(hipMemset2D(memory, h, 1, h, 2)));
    CHECK(fails(hipMemset3D(make_hipPitchedPtr(memory, h, 16, h), 1, hipExtent{16, 2, 2})));
    CHECK(fails(hipMemset3D(make_hipPitchedPtr(memory, 16, 16, 16), 1, hipExtent{16, 16, h})));

    CHECK(fails(hipMemcpy(memory, other, h, hipMemcpyDeviceToDevice)));
    CHECK(fails(hipMemcpyAsync(memory, other, h, hipMemcpyDeviceToDevice, nullptr)));
    CHECK(fails(hipMemcpy2D(memory, h, other, 16, 16, 16, hipMemcpyDeviceToDevice)));
    CHECK(fails(hipMemcpy2D(memory, 16, other, h, 16, 16, hipMemcpyDeviceToDevice)));
    CHECK(fails(hipMemcpy2D(memory, h, other, h, h, 2, hipMemcpyDeviceToDevice)));
    CHECK(fails(hipMemcpy2D(memory, 16, other, 16, 16, h, hipMemcpyDeviceToDevice)));
    hipMemcpy3DParms box{};
    box.srcPtr = make_hipPitchedPtr(other, 16, 16, 16);
    box.dstPtr = make_hipPitchedPtr(memory, 16, 16, 16);
    box.extent = hipExtent{16, 16, 4};
    box.kind = hipMemcpyDeviceToDevice;
    hipMemcpy3DParms wrong = box;
    wrong.dstPtr.pitch = h;
    CHECK(fails(hipMemcpy3D(&wrong)));
    wrong = box;
    wrong.srcPtr.ysize = h;
    CHECK(fails(hipMemcpy3D(&wrong)));
    wrong = box;
    wrong.srcPos.z = h;
    CHECK(fails(hipMemcpy3D(&wrong)));
    wrong = box;
    wrong.dstPos.y = h;
    CHECK(fails(hipMemcpy3D(&wrong)));
    wrong = box;
    wrong.extent.depth = h;
    CHECK(fails(hipMemcpy3D(&wrong)));
    OK(hipMemcpy3D(&box));
    hip_Memcpy2D plane{};
    plane.srcMemoryType = plane.dstMemoryType = hipMemoryTypeDevice;
    plane.srcDevice = other;
    plane.dstDevice = memory;
    plane.srcPitch = plane.dstPitch = 64;
    plane.WidthInBytes = 64;
    plane.Height = 4;
    hip_Memcpy2D bad = plane;
    bad.srcY = h;
    CHECK(fails(hipMemcpyParam2D(&bad)));
    bad = plane;
    bad.dstXInBytes = h;
    CHECK(fails(hipMemcpyParam2D(&bad)));
    bad = plane;
    bad.dstPitch = h;
    CHECK(fails(hipMemcpyParam2D(&bad)));
    OK(hipMemcpyParam2D(&plane));
  }
  OK(hipFree(memory));
  OK(hipFree(other));
  return Ok();
}
