// Copies: every direction and shape, in and out of stream order, with host memory that changes afterwards.
#include "check.h"

int main() {
  const size_t n = 4096;
  std::vector<unsigned char> from(n), to(n);
  for (size_t i = 0; i < n; i++) from[i] = static_cast<unsigned char>(i * 7);
  unsigned char *a, *b;
  OK(hipMalloc(&a, n));
  OK(hipMalloc(&b, n));
  OK(hipMemcpy(a, from.data(), n, hipMemcpyDefault));
  OK(hipMemcpy(b, a, n, hipMemcpyDeviceToDevice));
  OK(hipMemcpy(to.data(), b, n, hipMemcpyDeviceToHost));
  CHECK(to == from);
  OK(hipMemcpyDtoD(b, a + 1, n - 1));
  OK(hipMemcpyDtoH(to.data(), b, n - 1));
  CHECK(std::memcmp(to.data(), from.data() + 1, n - 1) == 0);
  OK(hipMemcpyPeer(b, 0, a, 0, n));
  GIVES(hipErrorInvalidDevice, hipMemcpyPeer(b, 1, a, 0, n));

  hipStream_t s;
  OK(hipStreamCreate(&s));
  // Pageable host memory has been read when the call returns.
  std::vector<unsigned char> pageable = from;
  OK(hipLaunchHostFunc(
      s, [](void*) { for (volatile int i = 0; i < 3000000; i++) {} }, nullptr));
  OK(hipMemcpyAsync(b, pageable.data(), n, hipMemcpyHostToDevice, s));
  std::fill(pageable.begin(), pageable.end(), 0);
  OK(hipMemcpyAsync(to.data(), b, n, hipMemcpyDeviceToHost, s));
  OK(hipStreamSynchronize(s));
  CHECK(to == from);
  OK(hipMemcpyWithStream(a, from.data(), n, hipMemcpyHostToDevice, s));
  OK(hipMemcpyHtoDAsync(a, from.data(), n, s));
  OK(hipMemcpyDtoDAsync(b, a, n, s));
  OK(hipMemcpyDtoHAsync(to.data(), b, n, s));
  OK(hipStreamSynchronize(s));
  CHECK(to == from);

  // Two dimensions: 30 columns of 20 rows between pitches of 40 and 64.
  OK(hipMemset(a, 0, n));
  OK(hipMemcpy2D(a, 64, from.data(), 40, 30, 20, hipMemcpyHostToDevice));
  OK(hipMemcpy(to.data(), a, n, hipMemcpyDeviceToHost));
  for (size_t y = 0; y < 20; y++) {
    for (size_t x = 0; x < 64; x++) CHECK(to[y * 64 + x] == (x < 30 ? from[y * 40 + x] : 0));
  }
  GIVES(hipErrorInvalidPitchValue, hipMemcpy2D(a, 16, from.data(), 40, 30, 20, hipMemcpyHostToDevice));
  OK(hipMemcpy2DAsync(b, 32, a, 64, 30, 20, hipMemcpyDeviceToDevice, s));
  OK(hipStreamSynchronize(s));
  OK(hipMemcpy(to.data(), b, 640, hipMemcpyDeviceToHost));
  CHECK(to[31 * 0 + 5] == from[5] && to[19 * 32 + 29] == from[19 * 40 + 29]);

  hip_Memcpy2D p2{};
  p2.srcMemoryType = hipMemoryTypeHost;
  p2.srcHost = from.data();
  p2.srcPitch = 40;
  p2.srcXInBytes = 2;
  p2.srcY = 1;
  p2.dstMemoryType = hipMemoryTypeDevice;
  p2.dstDevice = a;
  p2.dstPitch = 64;
  p2.dstXInBytes = 4;
  p2.WidthInBytes = 10;
  p2.Height = 3;
  OK(hipMemset(a, 0, n));
  OK(hipMemcpyParam2D(&p2));
  OK(hipMemcpy(to.data(), a, n, hipMemcpyDeviceToHost));
  CHECK(to[4] == from[42] && to[2 * 64 + 13] == from[3 * 40 + 11] && to[3] == 0 && to[14] == 0);

  // Three dimensions: a box of 8 × 4 × 3 out of 16 × 8 × 4, with offsets on both sides.
  hipPitchedPtr box;
  OK(hipMalloc3D(&box, make_hipExtent(16, 8, 4)));
  OK(hipMemset3D(box, 0, make_hipExtent(16, 8, 4)));
  hipMemcpy3DParms p{};
  p.srcPtr = make_hipPitchedPtr(from.data(), 16, 16, 8);
  p.srcPos = make_hipPos(1, 2, 1);
  p.dstPtr = box;
  p.dstPos = make_hipPos(4, 3, 0);
  p.extent = make_hipExtent(8, 4, 3);
  p.kind = hipMemcpyHostToDevice;
  OK(hipMemcpy3D(&p));
  hipMemcpy3DParms back{};
  back.srcPtr = box;
  back.dstPtr = make_hipPitchedPtr(to.data(), 16, 16, 8);
  back.extent = make_hipExtent(16, 8, 4);
  back.kind = hipMemcpyDeviceToHost;
  OK(hipMemcpy3DAsync(&back, s));
  OK(hipStreamSynchronize(s));
  for (size_t z = 0; z < 4; z++) {
    for (size_t y = 0; y < 8; y++) {
      for (size_t x = 0; x < 16; x++) {
        const bool inside = x >= 4 && x < 12 && y >= 3 && y < 7 && z < 3;
        CHECK(to[(z * 8 + y) * 16 + x] == (inside ? from[((z + 1) * 8 + y - 1) * 16 + x - 3] : 0));
      }
    }
  }

  OK(hipMemcpy(a, from.data(), 0, hipMemcpyHostToDevice));
  GIVES(hipErrorInvalidValue, hipMemcpy(nullptr, from.data(), 4, hipMemcpyHostToDevice));
  GIVES(hipErrorInvalidValue, hipMemcpy(a, nullptr, 4, hipMemcpyHostToDevice));
  GIVES(hipErrorInvalidMemcpyDirection, hipMemcpy(a, from.data(), 4, static_cast<hipMemcpyKind>(9)));
  // Beyond the end of the allocation.
  GIVES(hipErrorInvalidValue, hipMemcpy(a, from.data(), n + 4096, hipMemcpyHostToDevice));
  return Ok();
}
